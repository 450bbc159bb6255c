"""Answers as people give them, beside those that the lessons list: what the replies are measured with.

Under the id of its exercise each answer of `ANSWERS` stands on a line, or on several with ` :: ` on the last, as in the
lessons (exercises/answer_table.py):

    code ::                  a wrong answer that nobody listed: it must be rejected
    code :: said :: unsaid   its reply holds the one and not the other
    * :: said :: unsaid      so does the reply to each listed wrong answer whose reply there holds the first
    code :: right            it must be accepted
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import minigrad as torch
from exercises import lessons
from exercises.judge import as_answers
from exercises.model import Exercise


class Answer(NamedTuple):
    """One answer: its exercise, what is handed to `check`, what the reply must hold and what it must not."""

    exercise: Exercise
    code: str
    answers: tuple
    said: str = ""
    unsaid: str = ""

    @property
    def right(self) -> bool:
        return self.said == "right"


ANSWERS = r"""
[0.1]
"7x" :: insert the values :: A number or a tensor
7 + 0j :: `complex` :: Opaque
Fraction(7) :: right
Decimal(7) :: right
torch.tensor([[7.0]]) :: right
np.float32(7) :: right

[0.2]
-5 * x.detach() :: the way back is cut :: slope is 0 everywhere
-5 * x + x * x ::
abs(x) * -5 ::
return -5 ::
return "-5x" ::
-5 * x.item() ::
x * 5 * 0 ::

[1.1]
(f(x + h) - (x - h)) / (2 * h) :: you take away the *place* :: to one side
(f(x + h) - f(x - h)) / h**2 :: `h` comes in once :: twice too large
(f(x + 1e-4) - f(x - 1e-4)) / 2e-4 :: Use the `h` that you are given :: is right
(f(x + 2 * h) - f(x - 2 * h)) / (2 * h) :: it is $4h$ :: not $h$
(f(x + 2 * h) - f(x - 2 * h)) / (4 * h) :: a good one :: $h - x$
(f(x + 2 * h) - f(x)) / (2 * h) :: $2h$ to one side :: is right
f(x) ::
f(x + h) / (2 * h) ::
(f(x + h) - f(x - h)) / 2 / h / 2 ::
(f(x + 2 * h) - f(x)) / (2 * h) ::
3 * x**2 - 2 ::
(f(x) + h - f(x) - h) / 2 * h ::
f ::

[1.2]
dy_dx = 300.1 :: Very close :: That is not it.
dy_dx = 37.5 :: Nothing is averaged :: exactly 8 times

[1.3]
at_minus_1_5 = 0 :: It is flat only :: zero everywhere

[1.4]
math.exp(-t) / (1 + math.exp(-t)) ** 2 :: `math` works on one number :: Python scalars
return 0.25 ::
torch.sigmoid(t) * (1 - t) ::
torch.sigmoid(t * (1 - t)) ::
torch.sigmoid(t) - torch.sigmoid(t) * 2 ::
(torch.sigmoid(t) * (1 - torch.sigmoid(t))).sum() ::
torch.tanh(t) ::

[2.1]
["a", "b", "c", "e", "f"], ("b", "d", "g", "h"), "d,g,h" :: right

[2.2]
torch.exp(p * q + 1).sum() :: a plain number has none :: fires
torch.exp(p * q) + q ::
p ::
return 3 ::
(p * torch.exp(q)).sum() ::

[2.3]
why = "d" :: one letter in quotes, from `a` to `c` :: for none of them
"", "xw", "", "d", "(a)" :: right
None, {"x", "w"}, "", ["d"], ["a"] :: right

[2.4]
no_bias = "MatMulBackward0" :: a product with a shorter one :: another answer
minus = "SubtractBackward0" :: names are short :: another answer
average = "DivBackward0" :: the mean is one operation :: another answer
minus = None :: has a `grad_fn` :: Is there a `return`
"sub", "mean", "", "addmm", "mm" :: right
minus = "<SubBackward0>"; no_bias = "torch.mm" :: right

[2.5]
"D -> E -> B -> C -> A" :: right
list("DEBCA") :: right

[3.1]
upstream * 2 ::
upstream * 2 * x * x ::
upstream / (2 * x) ::
upstream * x + 2 ::
2 * upstream ::
[upstream, 2 * x] ::

[3.2]
x / x.numel() ::
[upstream / x.numel()] ::
out = torch.zeros_like(x)
for _ in range(x.numel()):
    out[0] = upstream
return out ::
upstream * torch.ones_like(x) / x.numel() ** 2 ::
torch.zeros_like(x) ::

[3.3]
None, x.T @ upstream :: Return a value for it. :: Is there a `return`
upstream @ w.T :: That is `grad_x`, and it is right. Return 2 values :: shape
return 1, 2, 3 :: It returns 3 values :: a number or a tensor
return {"x": 1} :: a dictionary :: a number or a tensor
torch.lobpcg(upstream), w :: does not implement torch.lobpcg :: before the dot
x @ upstream, w :: as many columns as the second :: is right
upstream @ w.T, x @ upstream.T ::
upstream, upstream ::
x, w ::
return 0 ::
upstream @ w.T, (x.T @ upstream) * 2 ::
upstream.sum() * w.T, x.T ::

[3.4]
grad_z = -0.0055 :: times the local derivative of the sigmoid :: One entry
x_grad = "None" :: right

[4.1]
"loss, b, k, a, h" :: right
["Loss", "K", "B", "A", "H"] :: right

[4.2]
mixed = 5.5 :: not averaged :: exactly 2 times
double = 6.667 :: Nothing is averaged :: exactly 3 times

[4.3]
* :: paths may be of any length :: is right.
np.array([sum(np.prod(path) for path in paths)]) :: right
len(paths) ::
[np.prod(path) for path in paths] ::
sum(max(path) for path in paths) ::
sum(paths) ::
-sum(np.prod(path) for path in paths) ::
sum(path[0] for path in paths) ::

[4.4]
[[24]] :: 24 is what all paths together bring :: The machine finds
[] :: three lists :: products are ,
[[np.float64(3), 1, torch.tensor(3.0)], [3, 1], [Decimal(4), Fraction(3)]] :: right

[5.1]
first = 2.667 :: Nothing is averaged :: exactly 3 times
first = 0 :: every line is a backward pass :: zero everywhere

[5.2]
* :: still contains last turn's graph :: Specify retain_graph=True
((w * xs[0] - ts[0]) ** 2).mean().backward() ::
sum(((w * x - t) ** 2).sum() for x, t in zip(xs, ts, strict=True)).backward() ::

[5.3]
y.retain_grad()
z = y * 5
z.backward()
return y.grad :: makes another `z` :: is right
z.backward()
return y.grad :: let go :: y.retain_grad()
* :: without brackets :: must be called *before*
* :: puts a value in place :: must be called *before*
y.requires_grad_()
z.backward()
return y.grad :: Asking is not keeping :: must be called *before*
* :: without a history :: must be called *before*
z.grad ::
y.retain_grad() ::
z.backward() ::
return 1.0 ::
y.grad_fn ::

[5.6]
h = torch.tensor(0.0)
for x in xs:
    h = torch.tanh((w * h).detach() + x)
    ((h - 1) ** 2).backward() :: `w` is cut off as well :: Under `no_grad`

[6.1]
x_grad = [[26, 25]] :: right

[6.2]
* :: Make `y` anew for each row :: Specify retain_graph=True
f(x) ::
torch.eye(len(x)) ::
torch.autograd.grad(f(x).sum(), x)[0] ::
torch.zeros(len(f(x)), len(x)) ::

[6.3]
* :: sums over the *last* axis :: Is a sum or a mean missing
grad.reshape(shape) ::
grad.sum(1) ::
torch.zeros(shape) ::
shape ::
grad.mT ::

[6.4]
[[1, 1, 1, 1]], [Fraction(1, 4)] * 4, [0, 0, 1, 0], torch.tensor([2.0, 4.0, 6.0, 8.0]) :: right

[6.5]
passes_for_loss = -1 :: A count cannot be negative :: the sign

[7.1]
accumulator(_average) :: Nothing is averaged :: is right.
grad ::
return () ::
self.variable.grad = abs(grad) + (0 if self.variable.grad is None else self.variable.grad)
return () ::

[7.2]
grad, grad ::
grad * self._saved_other ::
grad * self._saved_other, grad / self._saved_self ::
grad * self._saved_other, grad * self._saved_self, grad ::
grad * self._saved_other, -grad * self._saved_self ::

[7.3]
grad, ::
grad / (1 - self._saved_result**2), ::
engine.TanhBackward0, lambda x: x ::
engine.TanhBackward0, lambda x: engine.Tensor(np.tanh(x.data)) ::

[7.4]
grad.reshape(shape) ::
np.zeros(shape) ::
grad.sum(axis=1) ::
grad.T ::

[7.5]
waiting, todo = {}, [root]
while todo:
    node = todo.pop()
    waiting[node] = len(node.next_functions)
    todo += [p for p, _ in node.next_functions if p is not None and p not in waiting]
return waiting ::
return {} ::
return 5 ::
{root: 0} ::

[7.6]
* :: 96 is :: is right.
* :: distance decides nothing :: is right.
* :: Nothing is averaged :: is right.
for node in engine.count_consumers(root):
    if not node.next_functions:
        node(grad) ::
for node in engine.count_consumers(root):
    node(np.ones(())) ::
arrived, ready = {root: grad}, [root]
waiting = engine.count_consumers(root)
while ready:
    node = ready[0]
    for (parent, _), part in zip(node.next_functions, node(arrived[node]), strict=True):
        if parent is not None:
            arrived[parent] = arrived.get(parent, 0) + part
            waiting[parent] -= 1 ::
root(grad) ::
engine.run(root, grad * 2) ::
engine.run(root, 0 * grad) ::

[7.7]
ready ::
ready[0] ::
sorted(ready, key=lambda n: n.sequence)[-1] ::
sorted(ready, key=lambda n: n.sequence).pop() ::

[7.9]
for _ in range(2):
    loss = engine.train_step(loss_of, parameters, lr)
return loss ::
loss = engine.train_step(loss_of, parameters, lr)
return round(loss) ::
return engine.train_step(loss_of, parameters, lr / 2) ::
loss_of().data.item() ::

[8.1]
x * 16 ::
x * 10 ::
return 32 ::
(x * 2).detach() * 8 ::
x * 10 + 12 ::

[8.2]
weighed = "150.1" :: Enter the exact number :: That is not it.
detached = 15 :: cuts the only way :: anything to give at all
b_frozen = 0 :: leaves `a` alone :: zero everywhere
detached = "none"; block = "None" :: right

[8.3]
middle.eval()
return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).mean() :: It freezes nothing :: requires_grad_(True)
* :: That empties a gradient :: requires_grad_(True)
* :: Does the loop go through any :: requires_grad_(True)
first.bias.requires_grad_(False)
return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).mean() ::
for param in middle.parameters():
    param.requires_grad_(False)
return (last(middle(first(x))) ** 2).mean() ::
for param in middle.parameters():
    param.requires_grad_(False)
return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).sum() ::
return 0.0 ::

[8.4]
t.tolist() ::
t.detach().numpy() ::
t * 1 ::
t.detach() + 1 ::
t.data ::

[8.5]
"a", "c", "a", "e", "d" :: the wish is about *one value* :: crossed
"b", "c", "d", "e", "d" :: would work here as well :: rossed
serve = "a" :: `no_grad` works. :: That is not it.
target = "detach"; serve = ["e"] :: right

[9.1]
"4", "0", -5, "36/5" :: right

[9.3]
"-1/10", 100.0, 0.0053, "-0.1" :: right

[9.4]
w, velocity ::
w - lr * g, g ::
[w - lr * (momentum * (velocity + g) + decay * w), velocity + g] ::

[9.5]
"B", "D", "E", "C", "A" :: right

[9b.1]
* :: 0 losses come back :: a number or a tensor
[9.0] * turns ::

[9b.2]
((torch.add(torch.mul(w, x), b) - t) ** 2).mean() :: right
((torch.tensor(w.item(), requires_grad=True) * x + b - t) ** 2).mean() ::
((w * x + b - t) ** 2).sum() ::

[9b.3]
* :: `None` is in the log :: Is there a `return`
loss = mse_loss(model(x).detach(), t)
log.append(loss.item())
loss.backward() ::

[9b.4]
torch.nn.functional.cross_entropy(scores, labels).item() :: this is not a tensor :: fault of the lesson
(torch.logsumexp(scores, 1) - scores[torch.arange(len(labels)), labels]).mean() :: right
torch.nn.functional.cross_entropy(scores.argmax(1), labels) ::

[9b.5]
h.detach().numpy() - h.detach().numpy().mean() :: this is not a tensor :: fault of the lesson
h.detach().sub(h.detach().mean()) :: right

[9b.6]
for p in parameters:
    if p.grad is not None:
        p.data.sub(lr * p.grad)
        p.grad = None
return :: without its `_`
for p in parameters:
    if p.grad is not None:
        p.data - lr * p.grad
        p.grad = None
return :: a new tensor that nobody keeps
[p - lr * p.grad for p in parameters] ::

[9b.7]
return 0.0 ::

[9b.8]
((w * x + b - t) ** 2).mean() + torch.mul(w, w) / 100 :: right
((w * x + b - t) ** 2).mean() + 0.01 * abs(w) ::
((w * x + b - t) ** 2).mean() * 1.01 ::
lambda w, b, x, t: 0.01 * w * w ::
((w * x + b - t) ** 2).mean() + 0.01 * torch.sqrt(w * w + 1e-8) ::
((w * x + b - t) ** 2).mean() + 0.01 * w.item() ** 2 ::
((w * x + b - t) ** 2).mean() + 0.01 * (w * x + b - t).mean() ** 2 ::

[10.3]
"a, d, e, g" :: right

[10.4]
len(batches) ::
sum(((model(x) - t) ** 2).mean() for x, t in batches).detach() ::

[10.5]
blocks[0](x) ::
x ::

[11.3]
torch.nn.utils.clip_grad_norm_(list(parameters), most) :: right
[p.grad.mul_(most) for p in parameters if p.grad is not None] ::

[11.4]
* :: detaches the weight :: One turn too early
h * w**steps ::
h * w.detach() ** steps ::
h * w**keep ::

[11.5]
torch.tensor(h.tolist()) :: right
[0.0 for piece in pieces] ::
w ::

[12.1]
g * ctx.alpha * torch.sigmoid(x), None ::
[g * ctx.alpha * (x > 0), None] ::
g + ctx.alpha * (x > 0), None ::
return None ::

[12.2]
g * torch.roll(x, -1) + torch.roll(g, -1) * torch.roll(x, 1) ::
g * torch.roll(x, 1) + torch.roll(g * x, 1) ::
g * torch.roll(x, -1) + x ::

[12.3]
fourth = "a" :: That is no one factor :: That is not it.
"B", "C", "E", "D" :: right

[12.4]
sinh_with(lambda ctx, g, x: g, forward=lambda x: np.sinh(x.numpy())) :: a NumPy array :: raised
torch.sinh :: not a class :: AttributeError
g * x ::
g * torch.exp(x) ::
torch.sinh ::
sinh_with(lambda ctx, g, x: g, forward=lambda x: None) ::
sinh_with(lambda ctx, g, x: g, forward=lambda x: np.sinh(x.numpy())) ::

[12.5]
g * torch.tanh(x) ::
g * torch.sigmoid(g) ::
softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: x) ::

[12.6]
g * torch.relu(1 - abs(x)) ::
g * (1 - torch.tanh(x) ** 2) ::
sign_with(lambda g, x: g * (abs(x) <= 1), torch.round) ::

[13.1]
seen.append(t) :: `seen` holds :: is right
t.register_hook(lambda g: seen.extend([g, g])) :: the same gradient 2 times :: sum missing
handle = t.register_hook(seen.append)
handle.remove()
return handle ::
seen.append(t) ::
t.register_hook(lambda: seen.append(1)) ::
t.register_hook(seen) ::

[13.2]
def hook(grad):
    grad = grad * (limit / grad.norm())

return t.register_hook(hook) ::
g * 0.5 ::
limit ::
t.clamp(-limit, limit) ::

[13.3]
* :: They are all still there :: is right
{m: m(batch) for m in model[:1]} :: The key should be the *name* :: sequence item
seen = {}
for name, module in model.named_modules():
    if isinstance(module, torch.nn.Linear):
        with module.register_forward_hook(
            lambda module, inputs, output, name=name: seen.update({name: output.detach()})
        ):
            model(batch)
return seen :: right
seen, handles = {}, []
for name, module in model.named_modules():
    if isinstance(module, torch.nn.Linear):
        hook = module.register_forward_hook(
            lambda module, inputs, output, name=name: seen.update({name: output.detach()})
        )
        handles.append(hook)
model(batch)
for handle in handles:
    handle.remove  # noqa: B018
return seen ::
return None ::
record_with(wanted=lambda module: isinstance(module, torch.nn.ReLU)) ::
record_with(register=lambda module, hook: module.register_full_backward_hook(hook)) ::
{"0": model(batch)} ::

[13.4]
0.0 if p.grad is None else p.grad.norm().item() :: Nothing came :: is right
dict.fromkeys(model.parameters()) :: The key should be the *name* :: sequence item
p.grad.norm() if p.grad is not None else "None" :: without quotes :: `None` is right
p.norm ::
[p.grad for p in model.parameters()] ::
return None ::

[13.6]
* :: `.grad` is `None` when :: no step
for param in params:
    optimizer = torch.optim.SGD([param], lr=lr)

    def hook(leaf, optimizer=optimizer):
        optimizer.step()
        optimizer.zero_grad()

    param.register_post_accumulate_grad_hook(hook) :: right
for param in params:
    param -= lr * param.grad
    param.grad = None ::
and_empty(given) ::
torch.optim.SGD(params, lr=lr).step() ::

[14.1]
zeros = "a" :: no number is right for all :: That is not it.

[14.2]
torch.sqrt(x) ::
torch.relu(x) ::
torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, -1.0)), 0.0) ::
torch.sqrt(x.clamp(min=0)) ::

[14.3]
loss.grad_fn :: Return a *name* :: is right.
detector_with(is_bad, lambda f: f[0] if f else "None") :: without quotes :: is right.
lambda loss: ["SqrtBackward0"] :: Return one name :: is right
g is None ::
return True ::
loss.grad_fn.name() ::
None if torch.isfinite(loss) else loss.grad_fn.name() ::

[14.5]
shifted_by(s, s.min()) ::
torch.log(torch.exp(s - s.max()) / torch.exp(s - s.max()).sum()) ::
s - s.max() ::
torch.log(torch.sigmoid(s)) ::

[14.6]
* :: the root itself still gets a 0 :: overflowed
v / (torch.sqrt((v * v).sum()) + 1e-12) ::
v / torch.sqrt((v * v).sum()).clamp(min=1e-6) ::
v / v.abs().max() ::
v ::
torch.zeros_like(v) if (v == 0).all() else v / v.norm() ::

[15.2]
torch.func.hessian(f)(x.detach()) :: made by hand, row by row :: times too
torch.zeros(len(x), len(x)) ::
torch.eye(len(x)) ::
2 * hessian(f, x) ::
hessian(f, x)[0] ::
f(x) ::

[15.3]
torch.func.hessian(f)(x.detach()) @ v :: without the table :: times too
v ::
-hvp(f, x, v) ::
hvp(f, x, v).sum() ::

[15.4]
x ::
f(x) ::
x - torch.linalg.solve(H, g).sum() ::

[15.5]
penalty_with(retain_graph=True) :: records nothing new :: times too
out ::
out.item() ::
penalty_with(length=lambda g: g.abs().max(), create_graph=True) ::
penalty_with(length=lambda g: g, create_graph=True) ::

[16.1]
lambda a: math.sin(a[0]), divide :: Return two numbers :: is right.
sine, lambda a, b: (a[0] / b[0], 0.0) ::
lambda a: (math.cos(a[0]), a[1] * math.cos(a[0])), divide ::

[16.3]
sides_with(lambda m, p, u, v: 0.0, lambda m, p, u, v: 0.0) ::
sides_with(lambda m, p, u, v: u.sum(), lambda m, p, u, v: v.sum()) ::

[16.4]
each_with(in_dims=0) :: share :: is right.
(2 * (X @ w + b - T))[:, None] * X :: right
each_with(finish=lambda g: -g) ::
torch.func.grad(lambda w: ((X @ w + b - T) ** 2).sum())(w) ::
X ::

[16.5]
rich_with(kind=Dual) :: type(self) :: is right.
rich_with(exp=lambda v, t: 0 * t) ::
rich_with(value=torch.exp2) ::

[17.2]
looped_as("zero_grad", "loss", "backward") :: What does that? :: is right.
looped_as("loss", "backward", "zero_grad", "step") :: stepped *after* it :: is right.
looped_as("zero_grad", "loss", "step", "backward") :: stepped *after* it :: is right.
looped_as("zero_grad", "loss", "backward", "step", "zero_grad", "step") ::
looped_as("zero_grad", "loss", "backward", "backward", "step") ::
len(batches) ::

[17.3]
x = picture.clone().requires_grad_()
cross_entropy(model(x), label).backward()
return x.grad.abs().reshape(8, 8) :: the weights' accounts :: times too
picture.reshape(8, 8) ::
g.abs().max(1)[0] ::
-g.abs().reshape(8, 8) ::

[17.4]
x = picture.clone().requires_grad_()
(g,) = torch.autograd.grad(cross_entropy(model(x), label), x)
picture += eps * g.sign()
return picture :: the caller still needs it :: times too
cross_entropy(model(picture), label).backward()
with torch.no_grad():
    for p in model.parameters():
        p += eps * p.grad.sign()
return picture :: Only the picture is asked :: times too
torch.where(g > 0, p + eps, torch.where(g < 0, p - eps, p)) :: right
picture ::
(p + eps * g.sign()).clamp(0, 1) ::
p + 2 * eps * g.sign() ::

[17.5]
torch.zeros(len(x)) ::
grads[0].sum() ::

[17.6]
* :: do not freeze :: anything to give at all
* :: do not freeze :: anything to give at all
* :: do not freeze :: anything to give at all
model[-1] ::
list(model.parameters()) ::
"""
"""From trying the lessons."""

UNSEEN = r"""
[0.2]
x * 5 * -1 + x ::
-5 * (x + 1) ** 2 ::
torch.exp(-5 * x) ::
-5 - x ::
-x ** 5 ::
x - 6 * x + 0.5 * x * x ::
torch.sin(-5 * x) ::
[1.1]
(f(x + h) - f(x - h)) / h / 4 ::
(f(x) - f(x + h)) / h ::
(f(x + h) - f(x - h)) / (x - h) ::
(f(x + h) - f(x - h)) / (2 / h) ::
(f(h) - f(-h)) / (2 * h) ::
f((x + h) - (x - h)) / (2 * h) ::
(f(x + h * h) - f(x - h * h)) / (2 * h) ::
[1.4]
torch.exp(-t) / (1 + torch.exp(-t)) ::
torch.sigmoid(t) * (1 - torch.sigmoid(t)) * 4 ::
(1 - torch.sigmoid(t)) ** 2 ::
torch.sigmoid(t) * (t - torch.sigmoid(t)) ::
torch.sigmoid(2 * t) * (1 - torch.sigmoid(2 * t)) ::
torch.relu(torch.sigmoid(t) - torch.sigmoid(t) ** 2) * 2 ::
[3.1]
upstream * (2 * x + 1) ::
upstream * x ** 3 ::
upstream * 2 * x + upstream ::
upstream * torch.tensor(2.0) ::
(upstream * x) ** 2 ::
upstream + x + x ::
[3.2]
upstream * torch.ones_like(x) / (x.numel() - 1) ::
upstream * torch.ones_like(x) / x.dim() ::
torch.ones_like(x) * upstream.sqrt() / x.numel() ::
upstream * x.mean() * torch.ones_like(x) ::
(upstream - x.mean()) * torch.ones_like(x) / x.numel() ::
torch.ones_like(x) / upstream / x.numel() ::
[3.3]
(upstream @ w.T, x.T @ upstream + w) ::
(upstream @ w.T + x, x.T @ upstream) ::
(upstream @ w.T / 3, x.T @ upstream) ::
(x @ w @ w.T, x.T @ x @ w) ::
(upstream.sum(1, keepdim=True) * w.sum(1), x.T @ upstream) ::
(upstream @ w.T, x.T @ upstream.abs()) ::
[4.3]
float(prod(len(path) for path in paths)) ::
float(sum(prod(path) for path in paths) + len(paths)) ::
float(sum(prod(path) ** 2 for path in paths)) ::
float(sum(len(path) for path in paths)) ::
float(sum(sum(path) * len(path) for path in paths)) ::
float(sum(prod(sorted(path)[:2]) for path in paths)) ::
[5.2]
for x, t in zip(xs, ts, strict=True):
    (((w * x - t) ** 2).mean() / (len(xs) + 1)).backward() ::
for x, t in zip(xs, ts, strict=True):
    (((w * x - t) ** 2).max() / len(xs)).backward() ::
for x, t in zip(xs, ts, strict=True):
    (((w * x - t) ** 4).mean() / len(xs)).backward() ::
for x in xs:
    (((w * x - ts[0]) ** 2).mean() / len(xs)).backward() ::
for x, t in zip(xs[::2], ts[::2], strict=True):
    (((w * x - t) ** 2).mean() / len(xs)).backward() ::
[5.6]
h = torch.tensor(1.0)
for x in xs:
    h = torch.tanh(w * h.detach() + x)
    loss = (h - 1) ** 2
    w.grad = None
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
return h ::
h = torch.tensor(0.0)
for x in xs:
    h = torch.tanh(w * h.detach() + x)
    loss = (h - x) ** 2
    w.grad = None
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
return h ::
[6.2]
rows = []
for i in range(len(f(x))):
    x.grad = None
    y = f(x)
    v = torch.zeros_like(y)
    v[i] = y[i].item()
    y.backward(gradient=v)
    rows.append(x.grad.clone())
return torch.stack(rows) ::
rows = []
for i in range(len(f(x))):
    x.grad = None
    y = f(x)
    v = torch.zeros_like(y)
    v[i] = 1.0
    y.backward(gradient=v)
    rows.append(x.grad.sum())
return torch.stack(rows) ::
[6.3]
while grad.dim() > len(shape):
    grad = grad.sum(0)
for axis, size in enumerate(shape):
    if size == 1:
        grad = grad.sum(axis, keepdim=True) / grad.shape[axis]
return grad ::
while grad.dim() > len(shape):
    grad = grad.sum(0) * 2
for axis, size in enumerate(shape):
    if size == 1:
        grad = grad.sum(axis, keepdim=True)
return grad ::
[7.2]
grad * self._saved_other + 1, grad * self._saved_self ::
grad * self._saved_other, grad * grad * self._saved_self ::
self._saved_other, self._saved_self ::
[7.3]
grad * (1 - self._saved_result**2) / 2, ::
grad * (1 - self._saved_result) ** 2, ::
[7.4]
while grad.ndim > len(shape):
    grad = grad.sum(axis=-1)
for axis, size in enumerate(shape):
    if size == 1:
        grad = grad.sum(axis=axis, keepdims=True)
return grad ::
[7.9]
for p in parameters:
    p.grad = None
loss = loss_of()
loss.backward()
for p in parameters:
    p.data -= lr * p.grad ** 2
return loss.data.item() ::
for p in parameters:
    p.grad = None
loss = loss_of()
loss.backward()
for p in parameters:
    p.data -= lr * p.data
return loss.data.item() ::
for p in parameters:
    p.grad = None
loss = loss_of()
loss.backward()
for p in parameters:
    p.data = p.data - lr * p.grad.mean()
return loss.data.item() ::
[8.1]
y = x * 2
return (y * 3).detach() + y ::
y = x * 2
return y.detach() * 3 + y * 5 + x ::
y = x * 2
return (y.detach() + y) * 4 ::
[8.4]
t.detach().clone() * 0.5 ::
t.detach().clone().reshape(1, -1) ::
[9.4]
(w - lr * (momentum * velocity + g + decay * w), momentum * velocity + g) ::
(w - lr * (velocity + momentum * g + decay * w), velocity + momentum * g + decay * w) ::
(w - lr * (momentum * velocity + decay * g + w), momentum * velocity + decay * g + w) ::
(w - lr * (momentum * velocity + g + decay * w) - decay * w, momentum * velocity + g + decay * w) ::
(w - lr ** 2 * (momentum * velocity + g + decay * w), momentum * velocity + g + decay * w) ::
[9b.2]
((w * x * x + b - t) ** 2).mean() ::
((w * x + b - t) ** 2).mean() / 2 ::
((w * x + b - t) ** 4).mean() ::
[9b.4]
torch.nn.functional.cross_entropy(scores * 2, labels) ::
torch.nn.functional.cross_entropy(torch.relu(scores), labels) ::
-torch.log_softmax(scores, 1)[torch.arange(len(labels)), labels].max() ::
[9b.5]
h.detach() - h.detach().mean() * 2 ::
h.detach() + h.detach().mean() ::
h.detach() - h.detach().min() ::
[9b.8]
((w * x + b - t) ** 2).mean() + 0.01 * w ** 4 ::
((w * x + b - t) ** 2).mean() + 0.01 * (w - b) ** 2 ::
[10.4]
total = 0.0
with torch.no_grad():
    for x, t in batches:
        total = max(total, ((model(x) - t) ** 2).mean())
return total ::
total = 0.0
with torch.no_grad():
    for x, t in batches[1:]:
        total = total + ((model(x) - t) ** 2).mean()
return total / len(batches) ::
[11.3]
n = _length([p.grad for p in parameters if p.grad is not None])
if n > most:
    for p in parameters:
        if p.grad is not None:
            p.grad *= (most / n) ** 2
return ::
n = _length([p.grad for p in parameters if p.grad is not None])
if n > most:
    for p in parameters:
        if p.grad is not None:
            p.grad *= 0.5
return ::
[11.4]
for turn in range(steps):
    if turn % 2 == 0:
        h = h.detach()
    h = w * h
return h ::
for turn in range(steps + 1):
    if turn == steps - keep:
        h = h.detach()
    h = w * h
return h ::
[11.5]
h = torch.zeros(pieces[0].shape[1])
losses = []
for piece in reversed(pieces):
    h = h.detach()
    for x in piece:
        h = torch.tanh(w * h + x)
    loss = (h**2).mean()
    w.grad = None
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
    losses.append(loss.item())
return losses ::
[12.1]
2 * g * ctx.alpha * (x > 0).to(g.dtype), None ::
g * ctx.alpha * (x > 0).to(g.dtype) * x, None ::
g * ctx.alpha**2 * (x > 0).to(g.dtype), None ::
[12.2]
g * torch.roll(x, -1) - torch.roll(g * x, 1) ::
2 * g * torch.roll(x, -1) ::
[12.4]
g * torch.cosh(x) ** 2 ::
g * torch.cosh(x) + x ::
[12.5]
g * torch.sigmoid(2 * x) ::
g * torch.sigmoid(x) ** 2 ::
[12.6]
g * _on(abs(x) <= 1, g) * 2 ::
g * _on(abs(x) <= 1, g) + 1 ::
[13.2]
g * (limit / g.norm()) ** 2 if g.norm() > limit else g ::
g - limit if g.norm() > limit else g ::
g.clamp(max=limit) ::
[13.4]
None if p.grad is None else p.grad.norm().item() / 2 ::
None if p.grad is None else p.grad.abs().sum().item() ::
[14.2]
torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), -1.0) ::
torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)) * 2, 0.0) ::
torch.where(x > 1, torch.sqrt(torch.where(x > 0, x, 1.0)), 0.0) ::
[14.5]
torch.softmax(s - s.max(), 0) ::
(s - s.max()) - torch.log(1 + torch.exp(s - s.max()).sum()) ::
s / s.sum() ::
[14.6]
2 * v / torch.sqrt((v * v).sum() + 1e-12) ::
v / torch.sqrt((v * v).mean() + 1e-12) ::
[15.3]
2 * hvp(f, x, v) ::
hvp(f, x, v) + v ::
hvp(f, x, v) * v ::
[15.4]
x - 2 * torch.linalg.solve(H, g) ::
x - torch.linalg.solve(H.T @ H, g) ::
[15.5]
(g,) = torch.autograd.grad(out, x, create_graph=True)
return out + (g.norm() - 1) ** 4 ::
(g,) = torch.autograd.grad(out, x, create_graph=True)
return out + (g.norm() - 2) ** 2 ::
[16.1]
def sine(a):
    return math.sin(a[0]), a[1] * math.cos(a[0]) ** 2 ::
def divide(a, b):
    return a[0] / b[0], (a[1] * b[0] - a[0] * b[1]) / (b[0] ** 2 + 1) ::
def divide(a, b):
    value = a[0] / b[0]
    tangent = (a[1] - a[0] * b[1]) / b[0] ** 2
    return value, tangent ::
[16.3]
sides_with(lambda m, p, u, v: 2 * (v @ m), _right) ::
sides_with(lambda m, p, u, v: (v @ m) ** 2, lambda m, p, u, v: (p(v)[0] @ u) ** 2) ::
[16.4]
each_with(finish=lambda g: g * 2) ::
def loss(w, b, x, t):
    return (w @ x + b - t) ** 4
return torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T) ::
[16.5]
class Richer(Dual):
    def exp(self):
        return type(self)(torch.exp(self.value), 2 * self.tangent * torch.exp(self.value))
    def __sub__(self, other):
        return type(self)(self.value - other.value, self.tangent - other.tangent) ::
[17.2]
for x, y in batches[1:]:
    optimizer.zero_grad()
    cross_entropy(model(x), y).backward()
    optimizer.step() ::
for x, y in batches:
    optimizer.zero_grad()
    (2 * cross_entropy(model(x), y)).backward()
    optimizer.step() ::
[17.3]
g.abs().reshape(8, 8) * 64 ::
g.abs().reshape(8, 8).sqrt() ::
[17.4]
p + eps * g.sign() * 0.5 ::
p + eps * (g.sign() + 1) ::
[17.5]
sum((g**4).sum() for g in grads).sqrt() ::
2 * sum((g * g).sum() for g in grads).sqrt() ::
"""
"""Wrong code that no lesson lists, written without looking at what they list: how often is a cause found?"""

FORESEEN: list[tuple[str, Any]] = [
    ("0.a", torch.tensor([3.0])),
    ("2.b", "True"),
    ("2.b", 1),
    ("3.a", [1 / 3] * 3),
    ("3.a", "1/3"),
    ("3.b", "None"),
    ("3.c", [2.0]),
    ("4.a", torch.tensor([12.0])),
    ("4.a", [12]),
    ("5.a", [6.0, 6.0]),
    ("5.b", ["b"]),
    ("5.b", "(b)"),
    ("6.c", torch.tensor([[6.0, 60.0]])),
    ("8.a", [6]),
    ("8.b", "none"),
    ("11.a", "[3, 3]"),
    ("16.b", "(1, 3)"),
    ("12.a", torch.tensor(100.0)),
    ("12.b", "1"),
    ("12.c", "(d)"),
    ("13.a", ["c"]),
    ("13.b", 5.0),
    ("14.b", torch.tensor(8)),
    ("14.d", "B"),
]
"""Predictions that came true, in other forms."""


def read(text: str) -> list[Answer]:
    """The answers of such a table. An error names the exercise and the line."""
    found: list[Answer] = []
    code: list[str] = []
    exercise = None
    for number, line in enumerate(text.split("\n"), 1):
        if not code and (heading := re.fullmatch(r"\[(.+)\]", line)):
            exercise = lessons.find_exercise(heading[1])
            continue
        if exercise is None or (not code and not line.strip()):
            continue
        before, separator, after = f"{line} ".partition(" :: ")
        code.append(before)
        if not separator:
            continue
        said, _, unsaid = (part.strip() for part in after.partition(" :: "))
        written, code = "\n".join(code).rstrip(), []
        try:
            given = _listed(exercise, said) if written == "*" else [exercise.answer(written)]
        except Exception as error:
            raise ValueError(f"line {number} of the answers, exercise {exercise.id}: {error}") from error
        found += [Answer(exercise, written, as_answers(exercise, one), said, unsaid) for one in given]
    assert not code, f"no ` :: ` follows: {code}"
    return found


def _listed(exercise: Exercise, said: str) -> list[Any]:
    found = [wrong.answer for wrong in exercise.wrong if said in wrong.advice]
    if not found:
        raise ValueError(f"no listed wrong answer is told {said!r}")
    return found


def by_belief(exercise: Exercise) -> Iterator[tuple]:
    """What follows from averaging, counting twice, forgetting, and from taking nothing for zero, part by part."""
    if not exercise.typed:
        return
    for name, right in zip(exercise.names, exercise.reference, strict=True):
        if isinstance(right, int | float) or right is None:
            number = float(right or 0)
            answers: list[Any] = [
                0.0,
                1.0,
                -number,
                number / 2,
                number / 3,
                2 * number,
                number + 1,
                number - 1,
                None,
            ]
        elif isinstance(right, str) and len(right) == 1:
            answers = list("abcde")
        else:
            continue
        for answer in answers:
            if answer == right:
                continue
            yield as_answers(exercise, {name: answer} if len(exercise.names) > 1 else answer)


def every_wrong_answer() -> Iterator[tuple[Exercise, tuple]]:
    """All of the above, and all that the exercises list."""
    for number in lessons.numbers():
        for exercise in lessons.exercises(number).values():
            for wrong in exercise.wrong:
                yield exercise, as_answers(exercise, wrong.answer)
            for answers in by_belief(exercise):
                yield exercise, answers
    for answer in read(ANSWERS):
        if not answer.right and answer.code != "*":
            yield answer.exercise, answer.answers
