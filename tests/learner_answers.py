"""Answers as people give them, beside those that the lessons list: what the replies are measured with.

Under the id of its exercise each answer of `ANSWERS` has a line, or several with ` :: ` on the last, as in the lessons
(exercises/answer_table.py). No sentence is repeated here, so that one can be improved where it is written:

    code ::                   a wrong answer that nobody listed: it must be rejected
    code :: as other code     its reply is the one that the other answer gets
    code :: no return         it holds the sentence of exercises/replies.py with this key
    code :: told              it is one that the lesson has for this very mistake
    code :: right             it must be accepted
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
    """One answer: its exercise, what is handed to `check`, and what must be said to it."""

    exercise: Exercise
    code: str
    answers: tuple
    said: str = ""

    @property
    def right(self) -> bool:
        return self.said == "right"


ANSWERS = r"""
[0.1]
"7x" :: unread
7 + 0j :: enter
Fraction(7) :: right
Decimal(7) :: right
torch.tensor([[7.0]]) :: right
np.float32(7) :: right

[0.2]
-5 * x + x * x ::
abs(x) * -5 ::
return -5 ::
return "-5x" ::
-5 * x.item() ::
x * 5 * 0 ::

[1.1]
(f(x + 1e-4) - f(x - 1e-4)) / 2e-4 :: told
f(x) ::
f(x + h) / (2 * h) ::
(f(x + h) - f(x - h)) / 2 / h / 2 ::
(f(x + 2 * h) - f(x)) / (2 * h) ::
3 * x**2 - 2 ::
(f(x) + h - f(x) - h) / 2 * h ::
f ::

[1.2]
dy_dx = 300.1 :: near

[1.3]

[1.4]
math.exp(-t) / (1 + math.exp(-t)) ** 2 :: one element
return 0.25 ::
torch.sigmoid(t) * (1 - t) ::
torch.sigmoid(t * (1 - t)) ::
torch.sigmoid(t) - torch.sigmoid(t) * 2 ::
(torch.sigmoid(t) * (1 - torch.sigmoid(t))).sum() ::
torch.tanh(t) ::

[2.1]
["a", "b", "c", "e", "f"], ("b", "d", "g", "h"), "d,g,h" :: right

[2.2]
torch.exp(p * q + 1).sum() :: as torch.exp(p * q + p.detach()).sum()
torch.exp(p * q) + q ::
p ::
return 3 ::
(p * torch.exp(q)).sum() ::

[2.3]
why = "d" :: told
"", "xw", "", "d", "(a)" :: right
None, {"x", "w"}, "", ["d"], ["a"] :: right

[2.4]
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
None, x.T @ upstream :: as (None, x.T @ upstream)
return 1, 2, 3 :: as (upstream, upstream @ w.T, x.T @ upstream)
return {"x": 1} :: returns one
torch.lobpcg(upstream), w :: told
x @ upstream, w :: matmul
upstream @ w.T, x @ upstream.T ::
upstream, upstream ::
x, w ::
return 0 ::
upstream @ w.T, (x.T @ upstream) * 2 ::
upstream.sum() * w.T, x.T ::

[3.4]
grad_z = -0.0055 :: no
x_grad = "None" :: right

[4.1]
"loss, b, k, a, h" :: right
["Loss", "K", "B", "A", "H"] :: right

[4.2]
double = 6.667 :: as double = 20 / 3

[4.3]
np.array([sum(np.prod(path) for path in paths)]) :: right
len(paths) ::
[np.prod(path) for path in paths] ::
sum(max(path) for path in paths) ::
sum(paths) ::
-sum(np.prod(path) for path in paths) ::
sum(path[0] for path in paths) ::

[4.4]
[] :: told
[[np.float64(3), 1, torch.tensor(3.0)], [3, 1], [Decimal(4), Fraction(3)]] :: right

[5.1]
first = 2.667 :: as first = 8 / 3
first = 0 :: as first = 0.0

[5.2]
((w * xs[0] - ts[0]) ** 2).mean().backward() ::
sum(((w * x - t) ** 2).sum() for x, t in zip(xs, ts, strict=True)).backward() ::

[5.3]
y.retain_grad()
z = y * 5
z.backward()
return y.grad :: as z.backward => y.backward
z.backward()
return y.grad :: as y.retain_grad() =>
y.requires_grad_()
z.backward()
return y.grad :: as retain_grad() => requires_grad_(True)
z.grad ::
y.retain_grad() ::
z.backward() ::
return 1.0 ::
y.grad_fn ::

[5.6]
h = torch.tensor(0.0)
for x in xs:
    h = torch.tanh((w * h).detach() + x)
    ((h - 1) ** 2).backward() ::

[6.1]
x_grad = [[26, 25]] :: right

[6.2]
f(x) ::
torch.eye(len(x)) ::
torch.autograd.grad(f(x).sum(), x)[0] ::
torch.zeros(len(f(x)), len(x)) ::

[6.3]
grad.reshape(shape) ::
grad.sum(1) ::
torch.zeros(shape) ::
shape ::
grad.mT ::

[6.4]
[[1, 1, 1, 1]], [Fraction(1, 4)] * 4, [0, 0, 1, 0], torch.tensor([2.0, 4.0, 6.0, 8.0]) :: right

[6.5]
passes_for_loss = -1 :: negative count

[7.1]
grad ::
return () ::
self.variable.grad = abs(grad) + (0 if self.variable.grad is None else self.variable.grad)
return () ::

[7.2]
return grad * self._saved_other, grad * self._saved_self => return grad, grad ::
return grad * self._saved_other, grad * self._saved_self => return grad * self._saved_other ::
return grad * self._saved_other, grad * self._saved_self => return grad * self._saved_other, grad / self._saved_self ::
return grad * self._saved_other, grad * self._saved_self => return grad * self._saved_other, grad * self._saved_self, grad ::
return grad * self._saved_other, grad * self._saved_self => return grad * self._saved_other, -grad * self._saved_self ::

[7.3]
return (grad * (1 - self._saved_result**2),) => return grad, ::
return (grad * (1 - self._saved_result**2),) => return grad / (1 - self._saved_result**2), ::
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
weighted = "150.1" :: near
detached = "none"; block = "None" :: right

[8.3]
middle.eval()
return (last(torch.tanh(middle(torch.tanh(first(x))))) ** 2).mean() ::
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
[9.0] * steps ::

[9b.2]
((torch.add(torch.mul(w, x), b) - t) ** 2).mean() :: right
((torch.tensor(w.item(), requires_grad=True) * x + b - t) ** 2).mean() ::
((w * x + b - t) ** 2).sum() ::

[9b.3]
loss = mse_loss(model(x).detach(), t)
log.append(loss.item())
loss.backward() ::

[9b.4]
torch.nn.functional.cross_entropy(scores, labels).item() :: not a tensor
(torch.logsumexp(scores, 1) - scores[torch.arange(len(labels)), labels]).mean() :: right
torch.nn.functional.cross_entropy(scores.argmax(1), labels) ::

[9b.5]
h.detach().numpy() - h.detach().numpy().mean() :: not a tensor
h.detach().sub(h.detach().mean()) :: right

[9b.6]
for p in parameters:
    if p.grad is not None:
        p.data.sub(lr * p.grad)
        p.grad = None
return ::
for p in parameters:
    if p.grad is not None:
        p.data - lr * p.grad
        p.grad = None
return ::
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
h * w**steps ::
h * w.detach() ** steps ::
h * w**keep ::

[11.5]
torch.tensor(h.tolist()) :: right
[0.0 for piece in pieces] ::
w ::

[12.1]
positive * upstream * ctx.alpha, None => upstream * ctx.alpha * torch.sigmoid(x), None ::
positive * upstream * ctx.alpha, None => [upstream * ctx.alpha * (x > 0), None] ::
positive * upstream * ctx.alpha, None => upstream + ctx.alpha * (x > 0), None ::
return None ::

[12.2]
torch.roll(upstream * x, 1) => torch.roll(upstream, -1) * torch.roll(x, 1) ::
upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1) => upstream * torch.roll(x, 1) + torch.roll(upstream * x, 1) ::
upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1) => upstream * torch.roll(x, -1) + x ::

[12.3]
"B", "C", "E", "D" :: right

[12b.2]
return torch.from_numpy(np.sinh(x.numpy())) => return np.sinh(x.numpy()) :: told
torch.sinh :: not a class
upstream * torch.from_numpy(np.cosh(x.numpy())) => upstream * x ::
upstream * torch.from_numpy(np.cosh(x.numpy())) => upstream * torch.exp(x) ::
torch.sinh ::
return torch.from_numpy(np.sinh(x.numpy())) => return None ::
return torch.from_numpy(np.sinh(x.numpy())) => return np.sinh(x.numpy()) ::

[12b.1]
upstream * torch.sigmoid(x) => upstream * torch.tanh(x) ::
upstream * torch.sigmoid(x) => upstream * torch.sigmoid(upstream) ::
torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => x ::

[12b.3]
upstream * (abs(x) <= 1).to(upstream.dtype) => upstream * torch.relu(1 - abs(x)) ::
upstream * (abs(x) <= 1).to(upstream.dtype) => upstream * (1 - torch.tanh(x) ** 2) ::
torch.sign(x) => torch.round(x) ::

[13.1]
t.register_hook(lambda g: seen.extend([g, g])) :: told
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
grad * (limit / norm) if norm > limit else grad => grad * 0.5 ::
grad * (limit / norm) if norm > limit else grad => limit ::
t.clamp(-limit, limit) ::

[13.3]
{m: m(batch) for m in model[:1]} :: told
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
torch.nn.Linear => torch.nn.ReLU ::
register_forward_hook => register_full_backward_hook ::
{"0": model(batch)} ::

[13.4]
dict.fromkeys(model.parameters()) :: told
None if param.grad is None else param.grad => "None" if param.grad is None else param.grad :: None in quotes
None if param.grad is None else param.grad.norm().item() => param.norm ::
[p.grad for p in model.parameters()] ::
return None ::

[13.6]
for param in params:
    optimizer = torch.optim.SGD([param], lr=lr)

    def hook(leaf, optimizer=optimizer):
        optimizer.step()
        optimizer.zero_grad()

    param.register_post_accumulate_grad_hook(hook) :: right
for param in params:
    param -= lr * param.grad
    param.grad = None ::
torch.optim.SGD(params, lr=lr).step() ::

[14.1]

[14.2]
torch.sqrt(x) ::
torch.relu(x) ::
torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, -1.0)), 0.0) ::
torch.sqrt(x.clamp(min=0)) ::

[14.3]
loss.grad_fn :: told
found[0] if found else None => found[0] if found else "None" :: told
g is not None and not torch.isfinite(g).all() => g is None ::
return True ::
loss.grad_fn.name() ::
None if torch.isfinite(loss) else loss.grad_fn.name() ::

[14.5]
s - s.max() => s - s.min() ::
torch.log(torch.exp(s - s.max()) / torch.exp(s - s.max()).sum()) ::
s - s.max() ::
torch.log(torch.sigmoid(s)) ::

[14.6]
v / (torch.sqrt((v * v).sum()) + 1e-12) ::
v / torch.sqrt((v * v).sum()).clamp(min=1e-6) ::
v / v.abs().max() ::
v ::
torch.zeros_like(v) if (v == 0).all() else v / v.norm() ::

[15.2]
torch.func.hessian(f)(x.detach()) :: told
torch.zeros(len(x), len(x)) ::
torch.eye(len(x)) ::
2 * hessian(f, x) ::
hessian(f, x)[0] ::
f(x) ::

[15.3]
torch.func.hessian(f)(x.detach()) @ v :: told
v ::
-hvp(f, x, v) ::
hvp(f, x, v).sum() ::

[15.4]
x ::
f(x) ::
x - torch.linalg.solve(H, g).sum() ::

[15.5]
out ::
out.item() ::
g.norm() => g.abs().max() ::
g.norm() => g ::

[16.1]
lambda a: math.sin(a[0]), divide :: told
sine, lambda a, b: (a[0] / b[0], 0.0) ::
lambda a: (math.cos(a[0]), a[1] * math.cos(a[0])), divide ::

[16.3]
(v * moved).sum() => 0.0 ;; (pull_back(v)[0] * u).sum() => 0.0 ::
(v * moved).sum() => u.sum() ;; (pull_back(v)[0] * u).sum() => v.sum() ::

[16.4]
(2 * (X @ w + b - T))[:, None] * X :: right
return torch.func.vmap => return -torch.func.vmap ::
torch.func.grad(lambda w: ((X @ w + b - T) ** 2).sum())(w) ::
X ::

[16.5]
self.tangent * torch.exp(self.value) => 0 * self.tangent ::
type(self)(torch.exp(self.value), => type(self)(torch.exp2(self.value), ::

[17.2]
optimizer.step() => :: told
optimizer.zero_grad() => ;; loss.backward() => loss.backward(); optimizer.zero_grad() :: told
loss.backward() => optimizer.step() ;; optimizer.step() => loss.backward() :: told
optimizer.step() => optimizer.step(); optimizer.zero_grad(); optimizer.step() ::
loss.backward() => loss.backward(); loss.backward() ::
len(batches) ::

[17.3]
x = picture.clone().requires_grad_()
cross_entropy(model(x), label).backward()
return x.grad.abs().reshape(8, 8) :: told
picture.reshape(8, 8) ::
g.abs().reshape(8, 8) => g.abs().max(1)[0] ::
g.abs().reshape(8, 8) => -g.abs().reshape(8, 8) ::

[17.4]
eps * g.sign() => torch.where(g > 0, eps, torch.where(g < 0, -eps, 0.0)) :: right
(picture + eps * g.sign()).clamp(0, 1) => picture + eps * g.sign() :: told
picture ::
(picture + eps * g.sign()).clamp(0, 1) => (picture + 3 * eps * g.sign()).clamp(0, 1) ::

[17.5]
torch.zeros(len(x)) ::
sum((g * g).sum() for g in grads).sqrt() => grads[0].sum() ::

[17.6]
picture ::
x = (x - eps * g.sign()).clamp(0, 1) => x = (x - eps * g.sign()).clamp(0, 1) * 0.5 ::
range(steps): => range(1, steps): ::
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
return grad * self._saved_other, grad * self._saved_self => return grad * self._saved_other + 1, grad * self._saved_self ::
return grad * self._saved_other, grad * self._saved_self => return grad * self._saved_other, grad * grad * self._saved_self ::
return grad * self._saved_other, grad * self._saved_self => return self._saved_other, self._saved_self ::
[7.3]
return (grad * (1 - self._saved_result**2),) => return grad * (1 - self._saved_result**2) / 2, ::
return (grad * (1 - self._saved_result**2),) => return grad * (1 - self._saved_result) ** 2, ::
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
n = sum((p.grad**2).sum() for p in parameters if p.grad is not None) ** 0.5
if n > most:
    for p in parameters:
        if p.grad is not None:
            p.grad *= (most / n) ** 2
return ::
n = sum((p.grad**2).sum() for p in parameters if p.grad is not None) ** 0.5
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
positive * upstream * ctx.alpha, None => 2 * upstream * ctx.alpha * (x > 0).to(upstream.dtype), None ::
positive * upstream * ctx.alpha, None => upstream * ctx.alpha * (x > 0).to(upstream.dtype) * x, None ::
positive * upstream * ctx.alpha, None => upstream * ctx.alpha**2 * (x > 0).to(upstream.dtype), None ::
[12.2]
upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1) => upstream * torch.roll(x, -1) - torch.roll(upstream * x, 1) ::
upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1) => 2 * upstream * torch.roll(x, -1) ::
[12b.2]
upstream * torch.from_numpy(np.cosh(x.numpy())) => upstream * torch.cosh(x) ** 2 ::
upstream * torch.from_numpy(np.cosh(x.numpy())) => upstream * torch.cosh(x) + x ::
[12b.1]
upstream * torch.sigmoid(x) => upstream * torch.sigmoid(2 * x) ::
upstream * torch.sigmoid(x) => upstream * torch.sigmoid(x) ** 2 ::
[12b.3]
upstream * (abs(x) <= 1) => 2 * upstream * (abs(x) <= 1) ::
(abs(x) <= 1).to(upstream.dtype) => (abs(x) <= 1).to(upstream.dtype) + 1 ::
[13.2]
grad * (limit / norm) if norm > limit else grad => grad * (limit / grad.norm()) ** 2 if grad.norm() > limit else grad ::
grad * (limit / norm) if norm > limit else grad => grad - limit if grad.norm() > limit else grad ::
grad * (limit / norm) if norm > limit else grad => grad.clamp(max=limit) ::
[13.4]
None if param.grad is None else param.grad.norm().item() => None if param.grad is None else param.grad.norm().item() / 2 ::
None if param.grad is None else param.grad.norm().item() => None if param.grad is None else param.grad.abs().sum().item() ::
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
(v * moved).sum() => 2 * (v * moved).sum() ::
(v * moved).sum() => (v * moved).sum() ** 2 ;; (pull_back(v)[0] * u).sum() => (pull_back(v)[0] * u).sum() ** 2 ::
[16.4]
return torch.func.vmap => return 2 * torch.func.vmap ::
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
g.abs().reshape(8, 8) => g.abs().reshape(8, 8) * 64 ::
g.abs().reshape(8, 8) => g.abs().reshape(8, 8).sqrt() ::
[17.4]
(picture + eps * g.sign()).clamp(0, 1) => (picture + eps * g.sign() * 0.5).clamp(0, 1) ::
(picture + eps * g.sign()).clamp(0, 1) => (picture + eps * (g.sign() + 1)).clamp(0, 1) ::
[17.5]
sum((g * g).sum() for g in grads).sqrt() => sum((g**4).sum() for g in grads).sqrt() ::
sum((g * g).sum() for g in grads).sqrt() => 2 * sum((g * g).sum() for g in grads).sqrt() ::
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
    ("12b.a", "(d)"),
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
        written, code = "\n".join(line.rstrip() for line in code), []
        try:
            given = as_answers(exercise, exercise.answer(written))
        except Exception as error:
            raise ValueError(f"line {number} of the answers, exercise {exercise.id}: {error}") from error
        found.append(Answer(exercise, written, given, after.strip()))
    assert not code, f"no ` :: ` follows: {code}"
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
        if not answer.right:
            yield answer.exercise, answer.answers
