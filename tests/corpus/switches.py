"""Turning recording on and off: requires_grad, no_grad, enable_grad, set_grad_enabled, inference_mode, detach."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import numpy as np
import torch

# %% the four states of a tensor [B10 A38]
data = torch.tensor([1.0])
weight = torch.tensor([1.0], requires_grad=True)
made_of_data = data * 2
made_of_weight = weight * 2
[(t.is_leaf, t.requires_grad, t.grad_fn is None) for t in (data, weight, made_of_data, made_of_weight)]
made_of_data.requires_grad_().is_leaf

# %% requires_grad_ changes the tensor itself, if it may [A40 B33]
x = torch.tensor([1.0, 2.0])
x.requires_grad_() is x, x.requires_grad
y = x * 2
y.requires_grad_(False)  # raises
y.requires_grad = False  # raises
x.requires_grad_(False).requires_grad
torch.tensor([1, 2]).requires_grad_()  # raises
torch.tensor([1, 2], requires_grad=True)  # raises
torch.tensor([True]).requires_grad_(False).requires_grad
y.grad_fn

# %% no_grad records nothing [A41 D28]
w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    y = w * 2
    made = torch.zeros(2, requires_grad=True)
    parameter = torch.nn.Parameter(torch.ones(1))
    view = w[0]
y.requires_grad, y.grad_fn, y.is_leaf
made.requires_grad, parameter.requires_grad, view.requires_grad
w.requires_grad

# %% enable_grad inside no_grad [A43]
w = torch.tensor([3.0], requires_grad=True)
with torch.no_grad():
    a = w * 2
    with torch.enable_grad():
        b = w * 2
    c = w * 2
a.requires_grad, b.requires_grad, c.requires_grad
b.backward()
w.grad

# %% set_grad_enabled as context and as function [D32 D25]
w = torch.tensor([3.0], requires_grad=True)
for is_train in (True, False):
    with torch.set_grad_enabled(is_train):
        print((w * 2).requires_grad)
torch.set_grad_enabled(False)
(w * 2).requires_grad
torch.is_grad_enabled()
torch.set_grad_enabled(True)
(w * 2).requires_grad

# %% grad modes belong to a thread [D32]
import threading
seen = []
with torch.no_grad():
    thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
    thread.start()
    thread.join()
    seen.append(torch.is_grad_enabled())
seen

# %% grad modes as decorators, also of generators
w = torch.tensor([3.0], requires_grad=True)
@torch.no_grad()
def f():
    return (w * 2).requires_grad
@torch.no_grad()
def g():
    yield (w * 2).requires_grad
    yield torch.is_grad_enabled()
@torch.enable_grad()
def h():
    return (w * 2).requires_grad
@torch.set_grad_enabled(False)
def k():
    return (w * 2).requires_grad
f(), [(value, torch.is_grad_enabled()) for value in g()]
torch.is_grad_enabled()
with torch.no_grad():
    print(h(), f())
torch.set_grad_enabled(True)
k(), torch.is_grad_enabled()
f.__name__

# %% an exception restores the mode
try:
    with torch.no_grad():
        raise KeyError("x")
except KeyError:
    print(torch.is_grad_enabled())

# %% backward runs under no_grad too
w = torch.tensor([3.0], requires_grad=True)
y = w * w
with torch.no_grad():
    y.backward()
w.grad, w.grad.requires_grad

# %% inference mode [D33]
w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.inference_mode():
    y = w * 2
    torch.is_inference_mode_enabled()
    inside = torch.is_grad_enabled()
inside
y.is_inference(), y.requires_grad, y.is_leaf
w * y  # raises
y.add_(1)  # raises
y.requires_grad_()  # raises
y.requires_grad_(False).requires_grad
y._version  # raises
y.clone().is_inference()
(w + y).requires_grad
with torch.inference_mode():
    y.add_(1)
y
with torch.inference_mode(False):
    print((w * 2).requires_grad, torch.is_inference_mode_enabled())
@torch.inference_mode()
def f(x):
    return x * 2
f(w).is_inference()

# %% a write to an inference tensor is refused, but done
with torch.inference_mode():
    y = torch.tensor([1.0, -2.0])
    m = torch.ones(2, 3)

y[0] = 7  # raises
y
y.relu_()  # raises
y
m.t_()  # raises
m.shape
w = torch.ones(2, requires_grad=True)
y.mul_(w + 2)  # raises
y

# %% detach shares the storage and forgets the history [A44 D26 B30]
w = torch.tensor([1.0, 2.0], requires_grad=True)
y = w * 2
d = y.detach()
d.requires_grad, d.grad_fn, d.is_leaf
d[0] = 100
y
(y * d).sum().backward()
w.grad

# %% writing to a detached tensor spoils what was saved [A44 D26]
w = torch.tensor([1.0, 2.0], requires_grad=True)
y = w.exp()
y.detach().mul_(0)
y.sum().backward()  # raises

# %% .data goes unnoticed and gives wrong gradients
w = torch.tensor([1.0, 2.0], requires_grad=True)
y = w.sigmoid()
y.data.mul_(0)
y._version, y.data.requires_grad
y.sum().backward()
w.grad
w.data = torch.tensor([5.0, 6.0])
w

# %% only the attached path counts [B31]
x = torch.tensor([2.0], requires_grad=True)
y = x * 2
w = y * 3 + y.detach() * 5
w.backward()
x.grad

# %% detach_ makes a leaf of the tensor itself
x = torch.tensor([2.0], requires_grad=True)
y = x * 2
y.detach_() is y
y.requires_grad, y.grad_fn, y.is_leaf
view = (x * 1)[0]
view.detach_()  # raises

# %% cutting a path is not freezing a parameter [B28 D61 D31]
def layers():
    torch.manual_seed(1)
    return [torch.nn.Linear(2, 2) for _ in range(3)]
def grads(ls):
    return [None if l.weight.grad is None else l.weight.grad.clone() for l in ls]
data = torch.tensor([[1.0, -1.0]])
a, b, c = ls = layers()
c(b(a(data))).sum().backward()
grads(ls)
a, b, c = ls = layers()
h = a(data)
with torch.no_grad():
    h = b(h)
c(h).sum().backward()
grads(ls)
a, b, c = ls = layers()
b.requires_grad_(False)
c(b(a(data))).sum().backward()
grads(ls)
a, b, c = ls = layers()
c(b(a(data)).detach()).sum().backward()
grads(ls)
[l.weight.grad for l in ls[:2]]

# %% eval does not stop recording [D31]
model = torch.nn.Linear(2, 1)
model.eval()
model(torch.ones(1, 2)).requires_grad

# %% parameters require grad [A39]
model = torch.nn.Linear(3, 2)
[(name, p.requires_grad, p.is_leaf, tuple(p.shape)) for name, p in model.named_parameters()]
torch.nn.Parameter(torch.ones(2)).requires_grad
torch.nn.Parameter(torch.ones(2), requires_grad=False)
print(torch.nn.Parameter(torch.ones(2)))

# %% a non-differentiable input passes nothing on [A27]
x = torch.tensor([1.0, 2.0])
w = torch.tensor([3.0, 4.0], requires_grad=True)
y = (x * w).sum()
y.grad_fn.next_functions[0][0].next_functions
y.backward()
x.grad, w.grad

# %% NumPy is refused where gradients would be lost
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.numpy()  # raises
(x * 2).numpy()  # raises
np.asarray(x)  # raises
x.detach().numpy()
x.item()  # raises
x.sum().item(), x.tolist()
bool(x)  # raises
float(x[0]), int(x[1]), len(x)
list(x)
torch.tensor(x)
