"""What backward() does: the graph that it walks, the order, what accumulates, what is freed."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import torch

# %% recording needs a tensor that requires grad [A03 A37 A38 B08 B12 B13 C07 D02]
a = torch.tensor([1.0, 2.0])
w = torch.tensor([3.0, 4.0], requires_grad=True)
a.requires_grad, a.grad_fn, a.is_leaf
b = a * 2
b.requires_grad, b.grad_fn, b.is_leaf
c = b * w
c.requires_grad, c.grad_fn, c.is_leaf
c.grad_fn.name(), type(c.grad_fn).__name__

# %% what is not differentiable has no grad_fn, what is flat has one [A17]
x = torch.tensor([1.5, -2.5], requires_grad=True)
positive = x > 0
best = x.argmax()
whole = x.long()
ones = torch.ones_like(x)
rounded = x.round()
signs = x.sign()
floors = x.floor()
(rounded + signs + floors).sum().backward()
x.grad

# %% the node is the backward of the operation [A18 A19 B14 B16 B17 D06]
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0], requires_grad=True)
add = (x + y).grad_fn
mul = (x * y).grad_fn
add._saved_alpha
hasattr(add, "_saved_self"), hasattr(add, "_saved_other")
mul._saved_self is x, mul._saved_other is y
scaled = (x * 3).grad_fn
scaled._saved_self
scaled._saved_other

# %% a number beside a tensor is saved as it was given, and never packed
x = torch.tensor([1.0, 2.0], requires_grad=True)
for number in (3, 2.5, True, 0):
    print((x * number).grad_fn._saved_other, (number * x).grad_fn._saved_other, (x / number).grad_fn._saved_other)

with torch.autograd.graph.saved_tensors_hooks(lambda t: (print("packed", t), t)[1], lambda t: t):
    y = (x * 3 / 2).exp()

y.sum().backward()
x.grad

# %% losses and attention record products with numbers under another name
import torch.nn.functional as F
x = torch.tensor([[0.1, 0.5, -0.3], [1.0, 2.0, 0.5]], requires_grad=True)
p = torch.tensor([[0.1, 0.5, 0.4], [0.2, 0.2, 0.6]], requires_grad=True)
classes = F.cross_entropy(x, torch.tensor([0, 2]), label_smoothing=0.2)
weighted = F.cross_entropy(x, torch.tensor([0, -100]), weight=p[0].detach(), label_smoothing=0.2)
probabilities = F.cross_entropy(x, p, label_smoothing=0.2)
probabilities.grad_fn._saved_other
(classes + weighted + probabilities).backward()
q = torch.arange(24.0).reshape(2, 4, 3).sin().requires_grad_()
blind = torch.ones(4, 4).bool()
blind[1] = False
attended = F.scaled_dot_product_attention(q, q, q, attn_mask=blind)
attended.pow(2).sum().backward()
F.scaled_dot_product_attention(q, q, q, scale=-2.0)

# %% mixed dtypes: a zero-dimensional tensor counts for less, in the gradients too
x = torch.tensor([0.3, -1.7], requires_grad=True)
y = torch.tensor(1.9, dtype=torch.float64, requires_grad=True)
for f in (torch.atan2, torch.hypot, torch.copysign, torch.mul, torch.div, torch.logaddexp):
    print(*torch.autograd.grad(f(x, y).sum(), (x, y)))
    print(*torch.autograd.grad(f(y, x).sum(), (x, y)))

(x.exp() ** torch.tensor([True, False])).sum().backward()  # raises
torch.logaddexp(x, torch.tensor([True, False])).sum().backward()  # raises

# %% a matrix product saves only what a gradient will need [A19 A25 A27]
x = torch.tensor([[1.0, 2.0, 3.0]])
w = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
y = x @ w
y.grad_fn._saved_self
y.grad_fn._saved_mat2
y.grad_fn.next_functions[0]
y.backward()
w.grad, x.grad

# %% edges of the first example [A20 A21 A23 A24 A30]
w = torch.ones(5, 3, requires_grad=True)
x = torch.arange(5.0).reshape(1, 5)
y = x @ w
z = y.mean()
z.grad_fn.next_functions
y.grad_fn.next_functions
w.requires_grad, w.is_leaf, w.grad_fn
accumulate = y.grad_fn.next_functions[1][0]
accumulate.name()
accumulate.variable is w
accumulate is (w * 2).grad_fn.next_functions[0][0]
y.retain_grad()
z.backward()
y.grad
torch.allclose(w.grad, (x.T / 3) @ torch.ones(1, 3))

# %% products of every rank have their own nodes [A20 D08]
v = torch.ones(3, requires_grad=True)
m = torch.ones(2, 3, requires_grad=True)
t = torch.ones(2, 2, 3, requires_grad=True)
dot, mv, mm, batched = v @ v, m @ v, m @ m.t(), t @ m.t()

# %% the graph is acyclic and shared [A22 B06 C05 C13]
x = torch.tensor(2.0, requires_grad=True)
y = x * x
a, b = y + 1, y * 3
c = a * b
c.grad_fn.next_functions[0][0].next_functions[0][0] is c.grad_fn.next_functions[1][0].next_functions[0][0]
y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[1][0]
c.backward()

# %% a tensor of one element needs no gradient [A10 A15 C11]
for shape in [(), (1,), (1, 1)]:
    x = torch.full(shape, 3.0, requires_grad=True)
    (x * x).backward()
    print(x.grad)

# %% a non-scalar needs one, of its own shape [A11 B18 B26 D13]
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.backward()  # raises
y.backward(torch.ones(3))  # raises
y.backward(gradient=torch.tensor([1.0, 10.0]))
x.grad

# %% backward(gradient=v) is the row vector v times the Jacobian [A12 A13 A14 A16 C06 D13]
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
f = torch.stack([x[0] * x[1], x[1] * x[2]])
v = torch.tensor([1.0, 10.0])
f.backward(v, retain_graph=True)
x.grad
J = torch.stack([torch.autograd.grad(f, x, row, retain_graph=True)[0] for row in torch.eye(2)])
v @ J

# %% later operations run first, leaves as soon as they can [A28 C12]
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
h = x * 2
k = h * 5
p = k * w
loss = p.sum()
loss.backward()
_sequence = [n._sequence_nr() for n in (loss.grad_fn, p.grad_fn, k.grad_fn, h.grad_fn)]
[a - b for a, b in zip(_sequence, _sequence[1:])]
w.grad, x.grad

# %% a node waits for every gradient [C19 C20]
x = torch.tensor([2.0], requires_grad=True)
y = x * x
a = y + 1
b = y * 2
c = a + b
for t in (y, a, b):
    t.retain_grad()
c.backward()
y.grad, a.grad, b.grad, x.grad

# %% the same tensor on both sides [C09]
x = torch.tensor([3.0], requires_grad=True)
y = x * x
y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[1][0]
calls = []
handle = y.grad_fn.next_functions[0][0].register_prehook(lambda grads: calls.append(grads[0].item()))
y.backward()
calls

# %% gradients accumulate [A31 A32 C25 C26 D12 D14 B22]
x = torch.tensor([1.0, 1.0], requires_grad=True)
x.grad
(3 * x).sum().backward()
first = x.grad
x.grad
(3 * x).sum().backward()
x.grad
first is x.grad
first

# %% the first gradient is not the caller's own tensor [A32]
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([1.0, 2.0], requires_grad=True)
g = torch.tensor([5.0, 6.0])
(x + y).backward(g)
x.grad.add_(1)
y.grad, g

# %% descent with and without zeroing [A33 B25 C27 D15]
w = torch.tensor(5.0, requires_grad=True)
steps = []
for _ in range(6):
    w.grad = None
    (w * w).backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
    steps.append(w.item())
steps
w = torch.tensor(5.0, requires_grad=True)
steps = []
for _ in range(6):
    (w * w).backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
    steps.append(w.item())
steps

# %% micro-batches add up to the batch when each is divided [A36]
w = torch.tensor([0.5, -0.25], requires_grad=True)
x = torch.arange(16.0).reshape(8, 2) / 10
y = torch.arange(8.0) / 4
((x @ w - y) ** 2).mean().backward()
full, w.grad = w.grad, None
for i in range(4):
    part = slice(2 * i, 2 * i + 2)
    (((x[part] @ w - y[part]) ** 2).mean() / 4).backward()
torch.allclose(full, w.grad)
w.grad = None
for i in range(4):
    ((x[2 * i : 2 * i + 2] @ w - y[2 * i : 2 * i + 2]) ** 2).mean().backward()
w.grad / full

# %% a second backward raises once something was saved [B24 C31 D09 D50]
x = torch.tensor([2.0], requires_grad=True)
y = x * x
y.backward()
y.backward()  # raises
x.grad
z = x * x
z.backward(retain_graph=True)
z.backward()
x.grad

# %% a second backward through sums is allowed [B24]
x = torch.tensor([2.0], requires_grad=True)
y = torch.tensor([3.0], requires_grad=True)
z = x + y
z.backward()
z.backward()
x.grad

# %% what backward frees [B37 D09 C16]
x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x.exp()
z = y * x
z.grad_fn._saved_self
y.grad_fn._saved_result
z.sum().backward()
z.grad_fn._saved_self  # raises
y.grad_fn._saved_result  # raises
z.grad_fn.next_functions
y.grad

# %% retain_grad is a method, not an argument [C15 B11]
x = torch.tensor([2.0], requires_grad=True)
y = x * x
z = y + 3
z.backward(retain_grad=True)  # raises
y.retain_grad()
y.retains_grad, x.retains_grad
x.retain_grad()
z.backward()
y.grad, x.grad
torch.ones(2).retain_grad()  # raises

# %% y.backward first leaves y.grad empty and doubles x.grad [C17]
x = torch.tensor([2.0], requires_grad=True)
y = x * x
z = y + 3
y.backward(retain_graph=True)
y.grad
z.backward()
x.grad

# %% reading the gradient of a non-leaf warns [B32 C14]
x = torch.tensor([2.0], requires_grad=True)
y = x * 2
y.grad
y.retain_grad()
y.grad
(y * 1).grad_fn

# %% None is skipped by an optimizer, zero is not [D16 D17 D19 A34]
w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.1)
(w * w).sum().backward()
optimizer.step()
optimizer.zero_grad()
w.grad
before = w.detach().clone()
optimizer.step()
w.detach() - before
(w * w).sum().backward()
optimizer.zero_grad(set_to_none=False)
w.grad
optimizer.step()
w.detach() - before

# %% code that reads a gradient must take None [D18]
a = torch.tensor([1.0], requires_grad=True)
b = torch.tensor([1.0], requires_grad=True)
(a * 2).backward()
[None if p.grad is None else p.grad.norm().item() for p in (a, b)]

# %% control flow decides the graph [A04 B36 C02 C03]
def f(x):
    return (x**2 if x.sum() > 0 else 3 * x).sum()
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([-1.0, -2.0], requires_grad=True)
fa, fb = f(a), f(b)
fa.backward()
fb.backward()
a.grad, b.grad

# %% one unrolled network, one weight, every power [A45 B36 D50]
for start in (0.5, 1.0, 1.5):
    w = torch.tensor(start, requires_grad=True)
    h = torch.tensor(1.0, requires_grad=True)
    y = h
    for _ in range(20):
        y = y * w
    y.backward()
    print(h.grad.item(), w.grad.item())

# %% truncated backpropagation through time [D27 D50]
w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)
for _ in range(5):
    h = w * h
h.backward()
w.grad
w.grad = None
h = torch.tensor(1.0)
for t in range(5):
    h = w * (h.detach() if t == 3 else h)
h.backward()
w.grad

# %% keeping the old state makes the second backward fail
w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)
h = w * h * w
h.backward()
h = w * h * w
h.backward()  # raises

# %% several roots at once
x = torch.tensor([1.0, 2.0], requires_grad=True)
a = (x * 2).sum()
b = x**3
torch.autograd.backward([a, b], [None, torch.tensor([1.0, 10.0])])
x.grad
torch.autograd.backward([(x * 2).sum(), x * 3])  # raises
torch.autograd.backward([(x * 2).sum(), (x * x).sum()])
x.grad

# %% only the inputs that are asked for
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0], requires_grad=True)
h = x * y
z = (h * x).sum()
z.backward(inputs=[y], retain_graph=True)
x.grad, y.grad
z.backward(inputs=[h, x])
x.grad, y.grad, h.grad
z.backward(inputs=[])  # raises

# %% multi-output nodes share a node [C13]
x = torch.arange(6.0, requires_grad=True)
a, b, c = x.chunk(3)
p, q = x.reshape(2, 3).unbind()
a.grad_fn is b.grad_fn, a.output_nr, b.output_nr, c.output_nr
(a * c).sum().backward()
x.grad
(b.sum() + q.sum() * 2).backward()
x.grad

# %% broadcasting leaves no node behind
a = torch.ones(3, 1, requires_grad=True)
b = torch.ones(4, requires_grad=True)
z = (a + b).sum()
z.backward()
a.grad, b.grad

# %% a scalar broadcasts both ways
s = torch.tensor(2.0, requires_grad=True)
m = torch.arange(6.0).reshape(2, 3).requires_grad_()
(s * m - m / s).sum().backward()
s.grad, m.grad

# %% dtypes mix and gradients keep their own
x = torch.tensor([1.0, 2.0], requires_grad=True)
d = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
i = torch.tensor([1, 2])
y = x * d + i
y.sum().backward()
x.grad, d.grad
(x * 2.5).dtype, (i * 2.5).dtype, (i / 2).dtype, (i // 2).dtype, (i * True).dtype
y.backward(torch.ones(2))  # raises

# %% backward on what has no graph
torch.tensor([1.0]).backward()  # raises
torch.tensor(1.0).sum().backward()  # raises
torch.tensor(1).backward()  # raises

# %% the leaves of a long chain
x = torch.tensor(1.0, requires_grad=True)
y = x
for _ in range(1000):
    y = y + 1
y.backward()
x.grad

# %% grad may be assigned, if it fits
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.grad = torch.tensor([1.0, 1.0])
(x * 2).sum().backward()
x.grad
x.grad = torch.ones(3)  # raises
x.grad = torch.ones(2, dtype=torch.float64)  # raises
x.grad = 1.0  # raises
del x.grad
x.grad

# %% a gradient with a graph of its own [D23 C32]
x = torch.tensor([1.0, 2.0], requires_grad=True)
(g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
g
(second,) = torch.autograd.grad(g.sum(), x)
second

# %% the Hessian, row by row [D23]
x = torch.tensor([1.0, 2.0], requires_grad=True)
f = (x**3).sum() + x[0] * x[1]
(g,) = torch.autograd.grad(f, x, create_graph=True)
H = torch.stack([torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(2)])
H

# %% a Hessian times a vector, without the Hessian
x = torch.tensor([1.0, 2.0], requires_grad=True)
f = x[0] ** 2 * x[1] + torch.sin(x[1])
(g,) = torch.autograd.grad(f, x, create_graph=True)
(hv,) = torch.autograd.grad((g * torch.tensor([1.0, -1.0])).sum(), x)
hv

# %% backward(create_graph=True) warns of a cycle [D23]
x = torch.tensor([2.0], requires_grad=True)
y = x**3
y.backward(create_graph=True)
x.grad
g = x.grad
x.grad = None
g.backward()
x.grad

# %% autograd.grad leaves .grad alone [D20 D22]
x = torch.tensor([1.0, 2.0], requires_grad=True)
unused = torch.tensor([1.0], requires_grad=True)
y = (x * x).sum()
torch.autograd.grad(y, x, retain_graph=True)
x.grad
torch.autograd.grad(y, [x, unused], retain_graph=True)  # raises
torch.autograd.grad(y, [x, unused], retain_graph=True, allow_unused=True)
torch.autograd.grad(y, [x, unused], retain_graph=True, materialize_grads=True)
torch.autograd.grad(y, x)
torch.autograd.grad(y, x)  # raises

# %% autograd.grad with respect to intermediates
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x.exp()
k = h * 2
y = (k * h).sum()
torch.autograd.grad(y, [h, k, x])

# %% autograd.grad of several outputs
x = torch.tensor([1.0, 2.0], requires_grad=True)
torch.autograd.grad([x * 2, (x * x).sum()], x, [torch.tensor([1.0, 10.0]), None])
torch.autograd.grad(x * 2, x)  # raises
torch.autograd.grad((x * 2).sum(), torch.ones(2))  # raises
torch.autograd.grad((x * 2).sum(), [x], grad_outputs=[torch.tensor(3.0)])

# %% batched gradients
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * x
torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)

# %% third and fourth derivatives
x = torch.tensor(0.5, requires_grad=True)
y = torch.sin(x) * torch.exp(x)
values = []
for _ in range(4):
    (y,) = torch.autograd.grad(y, x, create_graph=True)
    values.append(y.item())
values

# %% to an edge of the graph
from torch.autograd.graph import GradientEdge, get_gradient_edge
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
_edge = get_gradient_edge(h)
y = (h * h).sum()
torch.autograd.grad(y, _edge, retain_graph=True)
torch.autograd.grad(y, [GradientEdge(h.grad_fn, 0), get_gradient_edge(x)])

# %% the inputs of backward may be results; edges stand for tensors
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
seen = []
y.register_hook(lambda g: seen.append(("tensor", g.tolist())))
y.grad_fn.register_prehook(lambda g: seen.append(("before", g[0].tolist())))
y.grad_fn.register_hook(lambda gi, go: seen.append(("after", go[0].tolist())))
z = y.sum()
z.backward(inputs=[y], retain_graph=True)
seen, y.grad, x.grad
z.backward(inputs=[x])
z.backward(inputs=[y])  # raises
edge = torch.autograd.graph.get_gradient_edge((x * 3).sum())
edge.output_nr, edge.ownership_token
torch.autograd.grad(edge, x, retain_graph=True)
torch.autograd.backward(edge)
torch.autograd.backward(edge)  # raises
wide = torch.autograd.graph.get_gradient_edge(x * 3)
torch.autograd.grad(wide, x)  # raises
torch.autograd.grad(wide, x, torch.ones(3))  # raises
torch.autograd.grad(wide, x, torch.ones(2))
