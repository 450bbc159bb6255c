"""Custom Functions, hooks, saved-tensor hooks, anomaly mode, gradcheck."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import numpy as np
import torch

# %% a Function in two static methods [D36 D37]
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Cube.apply(x)
y.grad_fn.name(), type(y.grad_fn).__name__
y.sum().backward()
x.grad
(g,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
torch.autograd.grad(g.sum(), x)
Cube.apply(torch.ones(2)).grad_fn

# %% a Function with setup_context
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(x, factor):
        return x * factor, x + factor
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]
        ctx.save_for_backward(inputs[0], output[1])
    @staticmethod
    def backward(ctx, g1, g2):
        x, shifted = ctx.saved_tensors
        print(ctx.needs_input_grad, x, shifted)
        return g1 * ctx.factor + g2, None
x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = Scale.apply(x, 3.0)
a.grad_fn is b.grad_fn, a.output_nr, b.output_nr
(a * b).sum().backward()
x.grad

# %% which inputs need a gradient [D36]
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b
    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        print(ctx.needs_input_grad)
        return grad * b, grad * a
x = torch.tensor([1.0, 2.0], requires_grad=True)
c = torch.tensor([3.0, 4.0])
Product.apply(x, c).sum().backward()
x.grad, c.grad
Product.apply(c, x).grad_fn.next_functions

# %% what a Function gets wrong is named [D36]
class WrongCount(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b
    @staticmethod
    def backward(ctx, grad):
        return grad
class WrongShape(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1
    @staticmethod
    def backward(ctx, grad):
        return torch.ones(3)
class SavesNumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a, 3)
        return a * 1
class NoBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1
class GradForNumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, n):
        return a * n
    @staticmethod
    def backward(ctx, grad):
        return grad, grad
class ReturnsNumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1
    @staticmethod
    def backward(ctx, grad):
        return 3.0
class NoForward(torch.autograd.Function):
    pass
x = torch.tensor([1.0, 2.0], requires_grad=True)
WrongCount.apply(x, x).sum().backward()  # raises
WrongShape.apply(x).sum().backward()  # raises
SavesNumber.apply(x)  # raises
NoBackward.apply(x).sum().backward()  # raises
GradForNumber.apply(x, 2.0).sum().backward()  # raises
ReturnsNumber.apply(x).sum().backward()  # raises
NoForward.apply(x)  # raises

# %% a Function that returns None and an unused output
class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2, a * 3
    @staticmethod
    def backward(ctx, g1, g2):
        print(g1, g2)
        return g1 + g2
class Strict(Two):
    @staticmethod
    def forward(ctx, a):
        ctx.set_materialize_grads(False)
        return a * 2, a * 3
    @staticmethod
    def backward(ctx, g1, g2):
        print(g1, g2)
        return g1
class Silent(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    def backward(ctx, g):
        return None
x = torch.tensor([1.0, 2.0], requires_grad=True)
Two.apply(x)[0].sum().backward()
x.grad
Strict.apply(x)[0].sum().backward()
x.grad
x.grad = None
Silent.apply(x).sum().backward()
x.grad

# %% mark_dirty and mark_non_differentiable
class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        a.add_(1)
        return a
    @staticmethod
    def backward(ctx, g):
        return g
class Sorted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        values, order = a.sort()
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        return values, order
    @staticmethod
    def backward(ctx, g, _):
        (order,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(0, order, g)
x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
y = x * 1
z = AddOne.apply(y)
z is y, y._version, y.grad_fn.name()
AddOne.apply(x)  # raises
values, order = Sorted.apply(z)
order.requires_grad, values.requires_grad
(values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
x.grad

# %% an input that is returned, a view that is returned
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 5
class Flat(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
    @staticmethod
    def backward(ctx, g):
        return g.view(2, 1)
x = torch.tensor([[1.0], [2.0]], requires_grad=True)
y = x * 2
same, flat = Same.apply(y), Flat.apply(y)
same is y, same._is_view(), flat._is_view(), same.grad_fn.next_functions
same.add_(1)  # raises
flat.add_(1)  # raises
(same.sum() + flat.sum()).backward()
x.grad
y.add_(1)
same + 1  # raises
plain = torch.ones(2)
Same.apply(plain) is plain, Same.apply(plain)._base is plain

# %% mark_dirty: on a view, on what is not returned, on one of several outputs
class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, returned=1):
        x.add_(1)
        ctx.mark_dirty(x)
        return {0: x * 2, 1: x, 2: (x, x * 2)}[returned]
    @staticmethod
    def backward(ctx, g, *more):
        return g * 5, None
leaf = torch.tensor([1.0, 2.0], requires_grad=True)
base = leaf * 1
part = Add.apply(base[:1])
part.grad_fn, base.grad_fn
base.sum().backward()
leaf.grad
Add.apply(leaf * 1, 0)  # raises
Add.apply((leaf * 1)[:1], 2)  # raises
Add.apply(leaf * 1, 2)
Add.apply(leaf)  # raises
leaf._version

# %% arguments by name, outputs that are no tensors
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n=1, y=None):
        ctx.n = n
        print(ctx.needs_input_grad)
        return x * n, n
    @staticmethod
    def backward(ctx, g, none):
        print(g, none)
        return g * ctx.n, None, None
class Other(Scale):
    @staticmethod
    def forward(x, n=1):
        return [x, n]
    @staticmethod
    def setup_context(ctx, inputs, output):
        print(inputs, output)
x = torch.tensor([1.0, 2.0], requires_grad=True)
out, n = Scale.apply(x, y=x, n=3)
out.sum().backward()
Scale.apply(x=x)
Scale.apply(x, q=3)  # raises
Other.apply(x)
Other.apply(x, q=3)  # raises
torch.autograd.Function.apply(x)  # raises

# %% differentiable once [D63]
from torch.autograd.function import once_differentiable
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x
x = torch.tensor([3.0], requires_grad=True)
Square.apply(x).backward()
x.grad
(g,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
g
g.backward()  # raises

# %% a NumPy black box passes the check [D38]
class Sinh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sinh(x.detach().numpy()))
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.from_numpy(np.cosh(x.detach().numpy()))
x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(Sinh.apply, (x,))
y = Sinh.apply(x)

# %% a stable gradient for log(1 + exp(x)) [D38]
x = torch.tensor([0.0, 88.0, 89.0, 100.0, 1000.0], requires_grad=True)
y = torch.log1p(torch.exp(x))
y.sum().backward()
x.grad
x.grad = None
torch.nn.functional.softplus(x).sum().backward()
x.grad

# %% a replaced relu under gradcheck, on and off its kink [D35]
class ScaledReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return alpha * torch.relu(x)
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.alpha * (x > 0).to(grad_output.dtype), None
x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(ScaledReLU.apply, (x, 2.0))
torch.autograd.gradgradcheck(ScaledReLU.apply, (x, 2.0))
kink = torch.tensor([0.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(ScaledReLU.apply, (kink, 2.0))  # raises
torch.autograd.gradcheck(ScaledReLU.apply, (kink, 2.0), raise_exception=False)

# %% gradcheck finds a wrong gradient [D57]
class WrongSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(WrongSquare.apply, (x,))  # raises
try:
    torch.autograd.gradcheck(WrongSquare.apply, (x,))
except Exception as error:
    print(type(error).__name__, error)
torch.autograd.gradcheck(lambda a: a * a, (torch.tensor([1.0, 2.0], requires_grad=True),))  # raises
torch.autograd.gradcheck(lambda a: (a * a, a.exp()), (x,))
torch.autograd.gradcheck(lambda a: a * a, (x.detach(),))  # raises
torch.autograd.gradcheck(lambda a, b: a @ b, (x, x), eps=1e-6, atol=1e-5, rtol=1e-3)

# %% a tensor hook sees the total, once [D45]
x = torch.tensor([3.0], requires_grad=True)
y = x * 1
seen = []
handle = y.register_hook(lambda g: seen.append(g.item()))
(y * 1 + y * 4).backward()
seen, x.grad

# %% a tensor hook may replace the gradient [D45 D46]
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x.register_hook(lambda g: g * 10)
(x * 3).sum().backward()
x.grad
h.remove()
(x * 3).sum().backward()
x.grad
torch.tensor([1.0]).register_hook(print)  # raises
z = x * 2
z.register_hook(lambda g: "no")
z.sum().backward()  # raises
y = x * 2
y.register_hook(lambda g: torch.ones(5))
y.sum().backward()  # raises

# %% clipping one intermediate [D46]
x = torch.tensor([100.0, 2.0], requires_grad=True)
y = x**2
y.register_hook(lambda g: g.clamp(-1, 1))
(y * 5).sum().backward()
x.grad

# %% hooks run in order
x = torch.tensor([1.0], requires_grad=True)
y = x * 2
log = []
y.register_hook(lambda g: log.append("y1"))
y.register_hook(lambda g: log.append("y2"))
y.retain_grad()
y.register_hook(lambda g: g * 3)
y.grad_fn.register_prehook(lambda gs: log.append(("pre", gs[0].item())))
y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi[0].item(), go[0].item())))
x.register_hook(lambda g: log.append("x"))
x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", p.grad.item())))
(y * 5).backward()
log
y.grad, x.grad

# %% node hooks may replace gradients [D43]
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
a = y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
b = y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, None))
y.sum().backward()
x.grad
a.remove(), b.remove()

# %% post-accumulate hooks belong to leaves [D43]
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x.register_post_accumulate_grad_hook(lambda p: print("got", p.grad))
(x * 2).sum().backward()
(x * 2).sum().backward()
h.remove()
(x * 2).sum().backward()
(x * 2).register_post_accumulate_grad_hook(print)  # raises

# %% a hook on several tensors
from torch.autograd.graph import register_multi_grad_hook
a, b, c = (torch.tensor([float(i)], requires_grad=True) for i in range(1, 4))
h = register_multi_grad_hook((a, b, c), lambda gs: print("all", gs))
(a * b).backward()
first = register_multi_grad_hook((a, b, c), lambda g: print("any", g), mode="any")
(a * b * c).backward()
h.remove(), first.remove()

# %% handles are removed, and may be used as contexts [D44 D49]
x = torch.tensor([1.0], requires_grad=True)
for _ in range(3):
    x.register_hook(lambda g: print("left behind"))
(x * 1).backward()
h = x.register_hook(lambda g: print("removed"))
h.remove()
h.remove()
(x * 2).backward()
with x.register_hook(lambda g: print("inside")):
    (x * 3).backward()

# %% module hooks [D43]
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
log = []
model[0].register_forward_pre_hook(lambda m, i: log.append("pre"))
model[0].register_forward_hook(lambda m, i, o: log.append("forward"))
model[0].register_full_backward_pre_hook(lambda m, go: log.append("backward pre"))
model[0].register_full_backward_hook(lambda m, gi, go: log.append(("backward", len(gi), tuple(go[0].shape))))
model(torch.ones(1, 2, requires_grad=True)).sum().backward()
log

# %% the norm of the first layer's gradient [D60 D58]
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
)
data = torch.randn(5, 4)
norms = []
model[0].register_full_backward_hook(lambda m, gi, go: norms.append(go[0].norm().item()))
loss = (model(data) ** 2).mean()
loss.backward()
norms

# %% a starved layer's hook does not fire [D61 D62]
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
fired = []
model[0].register_full_backward_hook(lambda m, gi, go: fired.append("first"))
model[2].register_full_backward_hook(lambda m, gi, go: fired.append("last"))
data = torch.ones(2, 4, requires_grad=True)
model[2](model[1](model[0](data)).detach().requires_grad_()).sum().backward()
fired, model[0].weight.grad, model[1].weight.grad

# %% a kept output keeps its graph, a detached one does not [D48]
import weakref
class Big:
    pass
x = torch.tensor([1.0, 2.0], requires_grad=True)
def f():
    y = x.exp()
    mark = Big()
    y.grad_fn.metadata["mark"] = mark
    return y * 2, weakref.ref(mark)
kept, mark = f()
mark() is None
kept = kept.detach()
mark() is None

# %% saved tensors through hooks [D29 D24]
def count(f):
    saved = []
    def pack(t):
        saved.append(t.numel() * t.element_size())
        return t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f()
    return sum(saved)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
data = torch.randn(8, 4)
count(lambda: model(data)) > 0
def without():
    with torch.no_grad():
        model(data)
count(without)

# %% packing and unpacking [D59]
log = []
def pack(t):
    log.append(("pack", tuple(t.shape)))
    return t.detach().numpy().copy()
def unpack(a):
    log.append(("unpack", a.shape))
    return torch.from_numpy(a)
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = (x * x).exp()
log
y.sum().backward()
log
x.grad
with torch.autograd.graph.save_on_cpu():
    z = x * x
z.sum().backward()
x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: "no"):
    z = x * x
z.sum().backward()  # raises
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):  # raises
        pass

# %% what hooks on saved tensors get to see, and in which order
def pack(t):
    print("pack", t, t.requires_grad, t.is_leaf)
    return t
def unpack(t):
    print("unpack", t)
    return t
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return 2 * x * g
x = torch.tensor([[1.0, 2.0], [0.0, 3.0]], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    a = x.exp()
    largest, which = (a * x).max(1)
    y = Square.apply(a) + x.softmax(1) + torch.maximum(x, a) + x.std() + x[0] * 3 @ x
(largest.sum() + y.sum()).backward()
def change(t):
    return t.add_(1)
with torch.autograd.graph.saved_tensors_hooks(change, unpack):
    x.exp()  # raises

# %% hooks on one saved tensor
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
def unpack(t):
    print("unpack", t)
    return t
raw = y.grad_fn._raw_saved_self
raw.register_hooks(lambda t: t * 2, unpack)
raw.register_hooks(lambda t: t, unpack)  # raises
y.grad_fn._saved_self, y.grad_fn._saved_other
raw.data
y.sum().backward()
x.grad
y.grad_fn._raw_saved_other.register_hooks(lambda t: t, unpack)  # raises
z = x * torch.ones(2)
z.grad_fn._raw_saved_self.register_hooks(lambda t: t, unpack)  # raises
e = x.exp()
e.grad_fn._raw_saved_result.register_hooks(lambda t: t.detach(), unpack)
torch.autograd.grad(e.sum(), x, create_graph=True)

# %% changing saved tensors, allowed on request
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    y = x * 1
    z = y.sin()
    y.mul_(0)
    z.sum().backward()
x.grad

# %% anomaly mode names the node [D51]
x = torch.tensor([0.0], requires_grad=True)
with torch.autograd.detect_anomaly():
    y = torch.sqrt(x) * 0
    y.backward()  # raises
torch.is_anomaly_enabled()

# %% anomaly mode does not report inf [D51]
x = torch.tensor([0.0], requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    torch.sqrt(x).backward()
x.grad
with torch.autograd.detect_anomaly(check_nan=False):
    (torch.sqrt(x) * 0).backward()
x.grad

# %% anomaly mode is costly because every node remembers where it was made [D52]
x = torch.tensor([1.0], requires_grad=True)
with torch.autograd.detect_anomaly():
    y = x * 2
"traceback_" in y.grad_fn.metadata
"traceback_" in (x * 2).grad_fn.metadata
torch.autograd.set_detect_anomaly(True)
torch.is_anomaly_enabled()
torch.autograd.set_detect_anomaly(False)
torch.is_anomaly_enabled()

# %% forward mode: a dual number carries its derivative [B05]
import torch.autograd.forward_ad as fwAD
with fwAD.dual_level():
    x = fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))
    y = x**3
    primal, tangent = fwAD.unpack_dual(y)
    print(y)
primal, tangent
fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))  # raises

# %% jvp and vjp are two ways through the same product [B05]
from torch.func import jvp, vjp
def f(x):
    return torch.stack([x[0] * x[1], x[1].sin(), x[2] ** 2])
x = torch.tensor([1.0, 2.0, 3.0])
v, u = torch.tensor([1.0, -1.0, 0.5]), torch.tensor([0.5, 2.0, 1.0])
value, pushed = jvp(f, (x,), (v,))
value2, pull = vjp(f, x)
(pulled,) = pull(u)
pushed, pulled
(u @ pushed).item(), (pulled @ v).item()

# %% transforms compose
from torch.func import grad, hessian, jacfwd, jacrev, vmap
x = torch.tensor([1.0, 2.0, 3.0])
f = lambda x: (x**3).sum()
grad(f)(x), hessian(f)(x)
jacrev(torch.sin)(x), jacfwd(torch.sin)(x)
vmap(grad(f))(torch.arange(6.0).reshape(2, 3))
grad(lambda x: grad(f)(x).sum())(x)

# %% per-sample gradients add up to the batch's
from torch.func import grad, vmap
params, X, y = torch.randn(4, 3), torch.randn(8, 3), torch.randn(8, 4)
loss = lambda params, x, y: ((params @ x - y) ** 2).sum()
each = vmap(grad(loss), in_dims=(None, 0, 0))(params, X, y)
each.shape
whole = params.clone().requires_grad_()
sum(loss(whole, a, b) for a, b in zip(X, y)).backward()
torch.allclose(each.sum(0), whole.grad, atol=1e-5)

# %% autograd.functional
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
x = torch.tensor([1.0, 2.0])
f = lambda x: torch.stack([x[0] * x[1], x[0] ** 2, x[1].exp()])
s = lambda x: x[0] ** 2 * x[1] + torch.sin(x[1])
v = torch.tensor([1.0, -1.0])
jacobian(f, x)
hessian(s, x)
hvp(s, x, v)
vhp(s, x, v)
vjp(f, x, torch.tensor([1.0, 2.0, 3.0]))
jvp(f, x, v)

# %% checkpoints: the same gradients from fewer saved values [D59]
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
x = torch.randn(2, 4, requires_grad=True)
layer(layer(x)).sum().backward()
plain, x.grad = x.grad, None
expected, layer[0].weight.grad = layer[0].weight.grad, None
calls = []
def block(h):
    calls.append(torch.is_grad_enabled())
    return layer(h)
checkpoint(block, checkpoint(block, x, use_reentrant=False), use_reentrant=False).sum().backward()
len(calls)
torch.equal(plain, x.grad), torch.equal(expected, layer[0].weight.grad)

# %% each node: the loss's gradient for the inputs from that for the output [B20 B21]
x = torch.tensor([2.0], requires_grad=True)
y = x * x
loss = y * 5
loss.grad_fn(torch.tensor([1.0]))
y.grad_fn(torch.tensor([5.0]))

# %% pickling and copying
import copy, pickle
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = copy.deepcopy(x)
y is x, y.requires_grad
z = pickle.loads(pickle.dumps(x))
z
copy.deepcopy(x * 2)  # raises
