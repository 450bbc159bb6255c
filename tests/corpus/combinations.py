"""Features of autograd met by each other: custom Functions, hooks, views, writes in place, grad modes, saved tensors, passes."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import numpy as np
import torch

# %% multi output in-place on one part refused
x = torch.arange(6.0).reshape(2, 3).requires_grad_()
y = x * 2
a, b = y.unbind()
a.mul_(2)  # raises
y.mul_(3)
print(a.grad_fn, b.grad_fn)  # raises
a.sum().backward()  # raises
x.grad

# %% copyslices and hooks on base before and after
x = torch.ones(4, requires_grad=True)
y = x * 2
log = []
y.register_hook(lambda g: log.append(("y1", g.tolist())))
y.retain_grad()
v = y[1:3]
v.register_hook(lambda g: log.append(("v1", g.tolist())))
v.retain_grad()
v.mul_(3)
y.register_hook(lambda g: log.append(("y2", g.tolist())))
v.register_hook(lambda g: log.append(("v2", g.tolist())))
z = (y * y).sum() + v.sum()
z.backward()
print(log)
y.grad
v.grad
x.grad

# %% copyslices with saved hooks
x = torch.ones(4, requires_grad=True)
log = []
def pack(t):
    log.append(("pack", tuple(t.shape), t.grad_fn is None, t.requires_grad))
    return t.clone()
def unpack(t):
    log.append(("unpack", tuple(t.shape)))
    return t
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x * 2
    v = y[1:3]
    v.mul_(y[:2].exp())
    y[0] = v.sum() * y[3]
    z = (y * y).sum()
z.backward(retain_graph=True)
print(log)
x.grad
g, = torch.autograd.grad(z, x, create_graph=True)
g.sum().backward()
x.grad

# %% retain grad then in place
x = torch.ones(3, requires_grad=True)
y = x * 2
y.retain_grad()
y.mul_(3)
y.retain_grad()
w = y * 1
y.add_(1)
(w.sum() + y.sum()).backward()
y.grad
y.retains_grad

# %% tensor hooks then in place
x = torch.ones(3, requires_grad=True)
y = x * 2
h = y.register_hook(lambda g: print("first", g))
old = y.grad_fn
y.mul_(3)
y.register_hook(lambda g: print("second", g))
h.remove()
y.sum().backward()

# %% GradientEdge of multi-output nodes
x = torch.arange(6.0).reshape(2, 3).requires_grad_()
a, b = (x * 2).unbind()
e = torch.autograd.graph.get_gradient_edge(b)
e.output_nr
e
torch.autograd.grad(a.sum() + (b * b).sum(), (e, x))
torch.autograd.backward([e], [torch.ones(3)], retain_graph=True)  # raises
torch.autograd.backward(torch.autograd.graph.get_gradient_edge(a))  # raises
torch.autograd.backward(torch.autograd.graph.get_gradient_edge(a), torch.ones(2))  # raises
x.grad

# %% inputs= with views and multi outputs
x = torch.arange(6.0).reshape(2, 3).requires_grad_()
y = x * 2
a, b = y.unbind()
s = (a * b).sum()
s.backward(inputs=[a, y], retain_graph=True)
a.grad; y.grad; x.grad; b.grad
a.retains_grad
s.backward(inputs=b, retain_graph=True)
b.grad
s.backward(inputs=[x, x, x], retain_graph=True)
x.grad
s.backward(inputs=[s])
s.grad

# %% inputs that do not require grad
x = torch.ones(2, requires_grad=True)
c = torch.ones(2)
y = (x * c).sum()
y.backward(inputs=[c])  # raises
y.backward(inputs=[x, c])  # raises
y.backward(inputs=[])  # raises
y.backward(inputs=())  # raises
y.backward(inputs="x")  # raises
y.backward(inputs=[1])  # raises
y.backward(inputs={x})
torch.autograd.grad(y, c)  # raises
torch.autograd.grad(y, [x, 1])  # raises
torch.autograd.grad(y, [])  # raises
torch.autograd.grad(y, x, "a")  # raises
torch.autograd.grad([y, 1], x)  # raises
torch.autograd.grad(1, x)  # raises
torch.autograd.backward(1)  # raises
torch.autograd.backward([y, 2])  # raises
torch.autograd.backward("ab")  # raises
torch.autograd.backward([])
torch.autograd.grad([], x)  # raises

# %% grad with duplicates and outputs as inputs
x = torch.ones(2, requires_grad=True)
y = x * 3
z = (y * y).sum()
torch.autograd.grad(z, [x, x, y, z, z], retain_graph=True)
torch.autograd.grad([z, z], [z, x], retain_graph=True)
torch.autograd.grad([z, y.sum()], [y, z], retain_graph=True)
torch.autograd.grad(x.sum(), x)
torch.autograd.grad([x], [x], torch.ones(2))
torch.autograd.grad([x, x], [x], [torch.ones(2), torch.full((2,), 3.0)])
torch.autograd.grad(y, y, torch.ones(2), retain_graph=True)
torch.autograd.grad(y, [y, x], torch.ones(2), create_graph=True)

# %% views as inputs
x = torch.ones(2, 3, requires_grad=True)
y = x * 3
v = y[0]
w = y.t()
z = (y * y).sum() + (v * 2).sum()
torch.autograd.grad(z, [v, w, y], allow_unused=True, retain_graph=True)
torch.autograd.grad(z, [v, w, y], materialize_grads=True, retain_graph=True)
torch.autograd.grad(z, [w], retain_graph=True)  # raises
torch.autograd.grad(z, [v], materialize_grads=True, allow_unused=False)  # raises
y.mul_(2)
torch.autograd.grad(y.sum(), [v, w], allow_unused=True)
torch.autograd.grad(v.sum(), [v])
torch.autograd.grad(v.sum(), [y])

# %% materialize with create_graph
x = torch.ones(2, requires_grad=True)
c = torch.ones(3, requires_grad=True)
z = (x * x).sum()
torch.autograd.grad(z, [x, c], materialize_grads=True, create_graph=True)
a, b = torch.autograd.grad(z, [x, c], materialize_grads=True, create_graph=True)
b.requires_grad, b.is_leaf

# %% is_grads_batched
x = torch.arange(3.0).requires_grad_()
c = torch.ones(3, requires_grad=True)
y = x.exp() * 2
torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
torch.autograd.grad(y, x, (torch.eye(3),), is_grads_batched=True, retain_graph=True, create_graph=True)
torch.autograd.grad(y, x, None, is_grads_batched=True, retain_graph=True)  # raises
torch.autograd.grad(y.sum(), x, torch.ones(4), is_grads_batched=True, retain_graph=True)
torch.autograd.grad([y, y.sum()], [x], [torch.eye(3), torch.ones(3)], is_grads_batched=True, retain_graph=True)
torch.autograd.grad([y, y.sum()], [x], [torch.eye(3), torch.ones(2)], is_grads_batched=True, retain_graph=True)  # raises
torch.autograd.grad(y, [x, c], torch.eye(3), is_grads_batched=True, retain_graph=True, allow_unused=True)
torch.autograd.grad(y, [x, c], torch.eye(3), is_grads_batched=True, retain_graph=True)  # raises
torch.autograd.grad(y, [x, c], torch.eye(3), is_grads_batched=True, retain_graph=True, materialize_grads=True)
v = y[1:]
v.mul_(x[:2])
torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)

# %% batched with hooks
x = torch.arange(3.0).requires_grad_()
y = x.exp() * 2
x.register_hook(lambda g: g * 2)
y.register_hook(lambda g: print(g.shape))
torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)

# %% wrong gradients
x = torch.ones(2, requires_grad=True)
y = x * 2
y.backward(torch.ones(3))  # raises
y.backward(torch.ones(2, dtype=torch.float64))
x.grad
y.backward(torch.ones(2, dtype=torch.int64))  # raises
x.grad
y.backward(torch.ones(1))  # raises
y.backward(torch.tensor(1.0))  # raises
y.backward(1.0)  # raises
y.backward([1.0, 2.0])  # raises
y.backward((torch.ones(2),))  # raises
y.backward([torch.ones(2)])  # raises
y.backward(np.ones(2))  # raises
y.backward(torch.ones(2, requires_grad=True))  # raises
x.grad
y.backward(torch.ones(2, requires_grad=True), create_graph=True)  # raises
x.grad
torch.autograd.backward([y, y], [torch.ones(2)])  # raises
torch.autograd.backward([y, y.sum()], [torch.ones(2), None])  # raises
torch.autograd.backward([y, y], [torch.ones(2), None])  # raises
torch.autograd.backward((y, torch.ones(2)), (torch.ones(2), torch.ones(2)))  # raises
torch.autograd.backward((torch.tensor(1.0), y.sum()))  # raises
torch.autograd.backward((y.sum(), torch.tensor(1.0)))  # raises
torch.autograd.backward((torch.ones(2), y.sum()))  # raises
torch.autograd.backward(y, grad_tensors=torch.ones(2), grad_variables=torch.ones(2))  # raises
torch.autograd.backward(y, grad_variables=torch.ones(2))  # raises
(torch.tensor([1, 2])).backward()  # raises
torch.tensor(1.0).backward()  # raises
torch.tensor(1).sum().backward()  # raises

# %% roots that are leaves
x = torch.tensor(2.0, requires_grad=True)
x.backward()
x.grad
x.backward(torch.tensor(3.0))
x.grad
torch.autograd.backward([x, x * 2])
x.grad
x.backward(inputs=[x])
x.grad
g = torch.tensor(5.0)
y = torch.tensor(2.0, requires_grad=True)
y.backward(g)
y.grad is g
g.add_(1)
y.grad

# %% forward saves output and intermediate, double backward
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        z = y * x
        ctx.save_for_backward(x, y, z)
        return z
    @staticmethod
    def backward(ctx, g):
        x, y, z = ctx.saved_tensors
        print(x.requires_grad, y.requires_grad, z.requires_grad, z.grad_fn is ctx, torch.is_grad_enabled())
        return g * (y + z)

x = torch.tensor([1.0, 2.0], requires_grad=True)
z = F.apply(x)
z.grad_fn
z.grad_fn.saved_tensors
z.grad_fn.next_functions
g, = torch.autograd.grad(z.sum(), x, create_graph=True)
g
g2, = torch.autograd.grad(g.sum(), x)
z.grad_fn.saved_tensors  # raises
z.grad_fn.needs_input_grad
z.grad_fn.name()

# %% two outputs one unused with materialize and not
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, flag):
        ctx.set_materialize_grads(flag)
        ctx.flag = flag
        return x * 2, x * 3, "text", 5
    @staticmethod
    def backward(ctx, a, b, c, d):
        print(a, b, c, d)
        return (a if a is not None else 0 * b) * 2, None

x = torch.ones(2, requires_grad=True)
a, b, c, d = F.apply(x, True)
c, d
a.sum().backward()
x.grad
a, b, c, d = F.apply(x, False)
b.sum().backward()
x.grad
a.grad_fn is b.grad_fn
a.output_nr, b.output_nr
a.grad_fn.metadata

# %% non differentiable outputs
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        i = x.argmax()
        y = x * 2
        z = x + 1
        ctx.mark_non_differentiable(i, z)
        ctx.save_for_backward(i)
        return y, i, z
    @staticmethod
    def backward(ctx, g, gi, gz):
        print(g, gi, gz)
        return g * 2
x = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
y, i, z = F.apply(x)
y, i, z
y.sum().backward()
z.sum().backward()  # raises
x.grad

# %% mark dirty with input returned, chain
class Inc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.add_(1)
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 10
x = torch.ones(3, requires_grad=True)
Inc.apply(x)  # raises
y = x * 2
z = Inc.apply(y)
z is y
y.grad_fn
y._version
v = y[1:]
w = Inc.apply(v)
w is v
w, v.grad_fn, y.grad_fn
y.grad_fn.next_functions
(y * y).sum().backward()
x.grad

# %% mark dirty with no grad required
class Inc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.mark_dirty(x)
        x.add_(w)
        return x
    @staticmethod
    def backward(ctx, g):
        print(ctx.needs_input_grad)
        return g, g
x = torch.ones(3)
w = torch.ones(3, requires_grad=True)
y = Inc.apply(x, w)
y is x
x.requires_grad, x.is_leaf
x.sum().backward()
w.grad
b = torch.zeros(4)
v = b[1:]
u = Inc.apply(v, w)
b
(b * 2).sum().backward()
w.grad

# %% dirty but not returned, dirty twice, dirty non-input
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mode):
        if mode == 0:
            ctx.mark_dirty(x)
            x.add_(1)
            return x * 2
        if mode == 1:
            ctx.mark_dirty(x, x)
            return x.add_(1)
        if mode == 2:
            y = x * 2
            ctx.mark_dirty(y)
            return y
        if mode == 3:
            ctx.mark_dirty(x)
            return x.add_(1), x
        if mode == 4:
            ctx.mark_dirty(x)
            return x.add_(1), x[0]
        if mode == 5:
            return x.add_(1)
        if mode == 6:
            ctx.mark_dirty(x)
            return x
        if mode == 7:
            ctx.mark_dirty([x])
            return x
        if mode == 8:
            ctx.mark_non_differentiable(x)
            return x
        if mode == 9:
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            return x.add_(1)
    @staticmethod
    def backward(ctx, *g):
        print(len(g))
        return g[0], None
x = torch.ones(3, requires_grad=True)
F.apply(x * 2, 0)  # raises
F.apply(x * 2, 1)
F.apply(x * 2, 2)
F.apply(x * 2, 3)
F.apply(x * 2, 4)
F.apply(x * 2, 5)
F.apply(x * 2, 6)
F.apply(x * 2, 8)
F.apply(x * 2, 9)
y = x * 2
z = F.apply(y, 6)
y._version
z = F.apply(y, 5)
y._version
z.sum().backward()

# %% returned input as is, under no_grad and grad
class Id(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x, y, x
    @staticmethod
    def backward(ctx, a, b, c):
        print(a, b, c)
        return a + c, b
x = torch.ones(2, requires_grad=True)
y = torch.ones(2)
a, b, c = Id.apply(x, y)
a is x, b is y, c is a
a._is_view(), a._base is x, b._is_view()
a, b, c
(a * 2 + b * 3 + c * 5).sum().backward()
x.grad
a.add_(1)  # raises
with torch.no_grad():
    d, e, f = Id.apply(x, y)
d is x, d._is_view(), d.requires_grad
d, e
h, i, j = Id.apply(y, y)
h is y, h._is_view(), h
h.add_(1)

# %% view returned, then in place
class V(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[1:]
    @staticmethod
    def backward(ctx, g):
        return torch.cat([torch.zeros(1), g])
x = torch.ones(3, requires_grad=True)
y = x * 2
v = V.apply(y)
v._is_view(), v._base is y
v
y.mul_(2)
v.grad_fn  # raises
v.sum()  # raises
y = x * 2
v = V.apply(y)
v.mul_(2)  # raises
v.sum().backward()
with torch.no_grad():
    w = V.apply(x)
w._is_view(), w.requires_grad
w.add_(1)  # raises

# %% several views returned
class V(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[1:], x[:1]
    @staticmethod
    def backward(ctx, g, h):
        return torch.cat([h, g])
x = torch.ones(3, requires_grad=True)
y = x * 2
a, b = V.apply(y)
a, b
a.add_(1)  # raises
(a.sum() + b.sum() * 2).backward()
x.grad

# %% non tensor arguments and containers
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lst, d, k=3, *, s=2):
        ctx.k = k
        return x * k + lst[0]
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None, None, None
x = torch.ones(2, requires_grad=True)
F.apply(x, [x], {"a": x})
F.apply(x, [x], {"a": x}, 4)
F.apply(x, [x], {"a": x}, k=4)
y = F.apply(x, [x * 2], {}, 4)
y.sum().backward()
x.grad
F.apply(x, [x], {}, s=5)  # raises

# %% no tensors at all
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        print(ctx.needs_input_grad)
        return torch.ones(2) * a
    @staticmethod
    def backward(ctx, g):
        return None
F.apply(3)
F.apply(torch.ones(2))
class G(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return None
    @staticmethod
    def backward(ctx, g):
        return None
G.apply(torch.ones(1, requires_grad=True))
class H(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2, None, [a]
    @staticmethod
    def backward(ctx, g, h, i):
        print(g, h, i)
        return g
x = torch.ones(1, requires_grad=True)
y, n, l = H.apply(x)
y, n, l
y.backward()
class I(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return [a * 2]
    @staticmethod
    def backward(ctx, g):
        return g
I.apply(x)

# %% ctx used wrongly
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g
x = torch.ones(2, requires_grad=True)
F.apply(x)  # raises
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2, None)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        print(ctx.saved_tensors)
        return g
F.apply(x).sum().backward()
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(ctx.saved_tensors)
        ctx.save_for_backward(x)
        print(ctx.saved_tensors)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        ctx.save_for_backward(g)
        ctx.mark_dirty(g)
        print(ctx.saved_tensors)
        return g
F.apply(x).sum().backward()
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_non_differentiable(3)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g
F()(x)  # raises
F.forward(x)  # raises

# %% backward returns wrong things
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, mode):
        ctx.mode = mode
        return x * y
    @staticmethod
    def backward(ctx, g):
        m = ctx.mode
        if m == 0: return g
        if m == 1: return g, g
        if m == 2: return g, g, g
        if m == 3: return g, g, None, None
        if m == 4: return g, g, None, g
        if m == 5: return g, 3, None
        if m == 6: return torch.ones(5), g, None
        if m == 7: return g.double(), g, None
        if m == 8: return g[0], g, None
        if m == 9: return None, None, None
        if m == 10: return [g, g, None]
        if m == 11: return g.expand(4, 2), g, None
        if m == 12: return None
        if m == 13: return g.long(), g, None
        if m == 14: return g, "a", None
        if m == 15: return torch.ones(2, 1), g, None
        raise ValueError("no such mode")
x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
for m in range(17):
    x.grad = y.grad = None
    try:
        F.apply(x, y, m).sum().backward()
        print(m, x.grad, y.grad)
    except Exception as e:
        print(m, type(e).__name__, str(e).splitlines()[0])

# %% once differentiable in combinations
from torch.autograd.function import once_differentiable
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y
    @staticmethod
    @once_differentiable
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        print(torch.is_grad_enabled(), g.requires_grad)
        return g * y + h, None
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0], requires_grad=True)
a, b = F.apply(x, y)
g, = torch.autograd.grad((a * a + b).sum(), x, create_graph=True)
g
g.sum().backward()  # raises
g, = torch.autograd.grad(a.sum(), x, create_graph=True)
g, g.requires_grad
g.sum().backward()  # raises

# %% setup_context form with kwargs
class F(torch.autograd.Function):
    @staticmethod
    def forward(x, y=2.0, z=None):
        return x * y, x.sum()
    @staticmethod
    def setup_context(ctx, inputs, output):
        print(inputs, type(output), len(output), ctx.needs_input_grad)
        x, y, z = inputs
        ctx.save_for_backward(x, output[0])
        ctx.y = y
    @staticmethod
    def backward(ctx, g, h):
        x, o = ctx.saved_tensors
        print(o)
        return g * ctx.y + h, None, None
x = torch.ones(2, requires_grad=True)
a, b = F.apply(x)
a, b = F.apply(x, 3.0)
a, b = F.apply(x, 3.0, x)
a, b = F.apply(x, z=x)
a, b = F.apply(x=x)
(a.sum() + b).backward()
x.grad
F.apply()  # raises
F.apply(x, 1, 2, 3)  # raises
F.apply(x, w=1)  # raises

# %% function and anomaly mode
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * float("nan")
x = torch.ones(2, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    y = F.apply(x)
    sorted(y.grad_fn.metadata)
    try:
        y.sum().backward()
    except RuntimeError as e:
        print(e)
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    y = F.apply(x)
    y.sum().backward()
    x.grad

# %% function raises in backward leaves modes
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        torch.set_grad_enabled(True)
        raise KeyError("boo")
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    with torch.enable_grad():
        y = F.apply(x)
    try:
        y.sum().backward()
    except KeyError as e:
        print(repr(e))  # raises
y.sum().backward()  # raises
torch.is_grad_enabled()
y.sum().backward()  # raises

# %% grad mode inside forward and enable_grad inside
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(torch.is_grad_enabled())
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            y = (z * z).sum()
            w = x * 2
            print(w.requires_grad)
        g, = torch.autograd.grad(y, z)
        ctx.save_for_backward(g, w)
        return y
    @staticmethod
    def backward(ctx, g):
        h, w = ctx.saved_tensors
        print(w, h)
        return g * h
x = torch.ones(2, requires_grad=True)
y = F.apply(x)
y
y.backward()
x.grad
class G(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 7
y = G.apply(x)
y
y.sum().backward()
x.grad
torch.no_grad()(G.apply)(x)

# %% nested functions
class A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return B.apply(x) * 2
    @staticmethod
    def backward(ctx, g):
        return B.apply(g) * 2
class B(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x.cos()
x = torch.ones(2, requires_grad=True)
y = A.apply(x)
y
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
g
y2 = A.apply(B.apply(x))
y2.sum().backward()
x.grad

# %% function with hooks on its node and on its outputs, in place afterwards
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h):
        print("backward", g, h)
        return g * 2 + h * 3
x = torch.ones(3, requires_grad=True)
a, b = F.apply(x)
a.register_hook(lambda g: g * 10)
a.grad_fn.register_prehook(lambda gs: print("pre", gs))
a.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
b.mul_(2)
b
v = a[1:]
v.mul_(2)
a
a.retain_grad(); b.retain_grad()
(a.sum() + b.sum()).backward()
a.grad, b.grad, x.grad

# %% saved tensors hooks and functions
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        y = x * w
        ctx.save_for_backward(x, w, y, None)
        return y
    @staticmethod
    def backward(ctx, g):
        x, w, y, n = ctx.saved_tensors
        print(y.requires_grad, n)
        return g * w, g * x
x = torch.ones(3, requires_grad=True)
w = torch.full((3,), 2.0)
def pack(t):
    print("pack", t)
    return t.detach().clone()
def unpack(t):
    print("unpack", t)
    return t * 2
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = F.apply(x, w)
y.sum().backward()
x.grad
y.grad_fn.saved_tensors  # raises

# %% raw saved tensors of functions
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        ctx.extra = 3
        return y
    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g * y
x = torch.ones(2, requires_grad=True)
y = F.apply(x)
r = y.grad_fn._raw_saved_tensors
len(r)
r[0].register_hooks(lambda t: t * 2, lambda t: t * 3)
y.grad_fn.saved_tensors
y.sum().backward()
x.grad
y.grad_fn.extra
y.grad_fn.saved_tensors  # raises
y.grad_fn._raw_saved_tensors  # raises

# %% the version check of functions
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        y = x * w
        ctx.save_for_backward(x, w, y)
        return y
    @staticmethod
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        return g * w, g * x
x = torch.ones(3, requires_grad=True)
w = torch.full((3,), 2.0)
y = F.apply(x, w)
w.add_(1)
y.sum().backward()  # raises
y = F.apply(x, w)
y.add_(1)
y.sum().backward()  # raises
y = F.apply(x * 2, w)
with torch.no_grad():
    y.zero_()
y.sum().backward()  # raises

# %% jvp and forward ad
import torch.autograd.forward_ad as fwAD
class F(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y, x + y
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)
    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h
    @staticmethod
    def jvp(ctx, a, b):
        x, y = ctx.saved_tensors
        print(a, b)
        a = torch.zeros(2) if a is None else a
        b = torch.zeros(2) if b is None else b
        return a * y + x * b, a + b
x = torch.ones(2, requires_grad=True)
y = torch.full((2,), 3.0)
with fwAD.dual_level():
    d = fwAD.make_dual(x, torch.ones(2))
    p, q = F.apply(d, y)
    fwAD.unpack_dual(p)
    fwAD.unpack_dual(q)
    p
p, q = F.apply(x, y)
torch.func.grad(lambda x: F.apply(x, y)[0].sum())(x)
torch.func.vmap(F.apply)(x, y)  # raises

# %% vmap staticmethod and generate_vmap_rule
class F(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x
    @staticmethod
    def vmap(info, in_dims, x, y):
        print(info, in_dims)
        return F.apply(x, y.unsqueeze(-1) if in_dims[1] is None else y), 0
class G(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x.sin(), x.sum()
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g, h):
        x, = ctx.saved_tensors
        print(type(x).__name__, x.shape)
        return g * x.cos() + h
x = torch.arange(6.0).reshape(3, 2).requires_grad_()
y = torch.ones(3, 2)
o = torch.func.vmap(F.apply)(x, y)
o
o.sum().backward()
x.grad
a, b = torch.func.vmap(G.apply)(x)
a, b
x.grad
class H(G):
    @staticmethod
    def vmap(info, in_dims, x):
        return x, 0
torch.func.vmap(H.apply)(x)  # raises
class I(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
torch.func.vmap(I.apply)(x)  # raises

# %% hooks that remove themselves and add hooks
x = torch.ones(2, requires_grad=True)
y = x * 2
log = []
def selfremoving(g):
    log.append("self"); h.remove()
h = y.register_hook(selfremoving)
def adding(g):
    log.append("adding")
    y.register_hook(lambda g: log.append("added"))
y.register_hook(adding)
y.sum().backward(retain_graph=True)
y.sum().backward()
print(log)
log.clear()
def leafhook(g):
    log.append("leaf")
    x.register_hook(lambda g: log.append("leaf added"))
h2 = x.register_hook(leafhook)
(x * 2).sum().backward()
h2.remove()
(x * 2).sum().backward()
print(log)
log.clear()
def later(g):
    log.append("first")
    hb.remove()
ha = x.register_hook(later)
hb = x.register_hook(lambda g: log.append("removed before it ran"))
(x * 2).sum().backward()
print(log)

# %% node hooks that remove and add
x = torch.ones(2, requires_grad=True)
y = x * 2
n = y.grad_fn
log = []
def pre(gs):
    log.append("pre"); hp.remove()
    n.register_prehook(lambda gs: log.append("pre2"))
hp = n.register_prehook(pre)
def post(gi, go):
    log.append("post"); hq.remove()
    n.register_hook(lambda gi, go: log.append("post2"))
hq = n.register_hook(post)
y.sum().backward(retain_graph=True)
y.sum().backward()
print(log)

# %% hooks that return wrong things
x = torch.ones(2, requires_grad=True)
def trial(make):
    y = x * 2
    make(y)
    x.grad = None
    try:
        y.sum().backward()
        print(x.grad)
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
trial(lambda y: y.register_hook(lambda g: 3))
trial(lambda y: y.register_hook(lambda g: g.double()))
trial(lambda y: y.register_hook(lambda g: g[:1]))
trial(lambda y: y.register_hook(lambda g: (g,)))
trial(lambda y: y.register_hook(lambda g: [g]))
trial(lambda y: y.register_hook(lambda g: g.numpy()))
trial(lambda y: y.register_hook(lambda: None))
trial(lambda y: y.register_hook(3))
trial(lambda y: y.register_hook(None))
trial(lambda y: y.register_hook(lambda g: 1 / 0))
trial(lambda y: y.register_hook(lambda g: False))
trial(lambda y: y.register_hook(lambda g: g.requires_grad_()))
trial(lambda y: y.register_hook(lambda g: g.expand(3, 2)))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: 3))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: gs[0]))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: (gs[0], gs[0])))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: (None,)))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: ()))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: (gs[0].double(),)))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: [gs[0] * 5]))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: (gs[0] * 5,)))
trial(lambda y: y.grad_fn.register_prehook(lambda gs: (torch.ones(3),)))
trial(lambda y: y.grad_fn.register_prehook(None))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: 3))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: gi[0] * 3))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: gi))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: (gi[0] * 3, None)))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: (gi[0] * 3,)))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: (gi[0] * 3, gi[0])))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: (None, None)))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: (gi[0].double(), None)))
trial(lambda y: y.grad_fn.register_hook(lambda gi: None))
trial(lambda y: y.grad_fn.register_hook(lambda gi, go: print(gi, go)))
trial(lambda y: y.grad_fn.register_hook(3))
trial(lambda y: x.register_post_accumulate_grad_hook(3).remove())
trial(lambda y: y.register_post_accumulate_grad_hook(lambda t: None))  # raises

# %% accumulategrad hooks
x = torch.ones(2, requires_grad=True)
y = x * 2
acc = y.grad_fn.next_functions[0][0]
log = []
acc.register_prehook(lambda gs: log.append(("pre", gs)))
acc.register_hook(lambda gi, go: log.append(("post", gi, go)))
x.register_hook(lambda g: log.append(("tensor", g)))
x.register_post_accumulate_grad_hook(lambda t: log.append(("acc", t.grad.clone())))
y.sum().backward()
print(log)
log.clear()
(x * 3).sum().backward()
print(log)
acc.register_prehook(lambda gs: (gs[0] * 10,))
(x * 3).sum().backward()
x.grad
acc.variable is x
acc
acc.next_functions
acc.metadata
acc._sequence_nr() > 10**9

# %% accumulategrad prehooks live only as long as the node
x = torch.ones(2, requires_grad=True)
y = x * 2
h = y.grad_fn.next_functions[0][0].register_prehook(lambda gs: print("pre"))
y.sum().backward()
del y
z = (x * 2).sum()
z.backward()

# %% post accumulate hooks
x = torch.ones(2, requires_grad=True)
def none(t):
    t.grad = None
h = x.register_post_accumulate_grad_hook(none)
(x * 2).sum().backward()
x.grad
h.remove()
def add(t):
    print("hook", t.grad, torch.is_grad_enabled(), t is x)
    with torch.no_grad():
        t -= 0.1 * t.grad
    return 5
x.register_post_accumulate_grad_hook(add)
(x * 2).sum().backward()  # raises
x
(x * x).sum().backward()  # raises
x
torch.autograd.grad((x * x).sum(), x)
(x * x).sum().backward(create_graph=True)  # raises
x.grad.requires_grad
def raising(t): raise ValueError("stop")
x.register_post_accumulate_grad_hook(raising)
(x * x).sum().backward()  # raises
x.grad
torch.ones(2).register_post_accumulate_grad_hook(add)  # raises
(x * 2).register_post_accumulate_grad_hook(add)  # raises

# %% multi grad hooks
x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
a = x * 2
b = y * 3
c = a * b
log = []
h = torch.autograd.graph.register_multi_grad_hook((a, b, x), lambda gs: log.append([None if g is None else g.tolist() for g in gs]))
k = torch.autograd.graph.register_multi_grad_hook((a, b, x), lambda g: log.append(("any", g.tolist())), mode="any")
c.sum().backward(retain_graph=True)
print(log); log.clear()
a.sum().backward(retain_graph=True)
print(log); log.clear()
torch.autograd.grad(c.sum(), y, retain_graph=True)
print(log); log.clear()
torch.autograd.grad(c.sum(), a, retain_graph=True)
print(log); log.clear()
h.remove()
c.sum().backward(inputs=[x], retain_graph=True)
print(log); log.clear()
k.remove()
c.sum().backward()
print(log)
torch.autograd.graph.register_multi_grad_hook((a, torch.ones(2)), lambda gs: print(gs))  # raises
torch.autograd.graph.register_multi_grad_hook((a, torch.ones(2)), lambda gs: print(gs), mode="any")
torch.autograd.graph.register_multi_grad_hook((), lambda gs: print(gs))
torch.autograd.graph.register_multi_grad_hook((), lambda gs: print(gs), mode="any")
torch.autograd.graph.register_multi_grad_hook((a,), lambda gs: print(gs), mode="some")  # raises
(x * 2 + y).sum().backward()

# %% multi grad hook raising, then again
x = torch.ones(2, requires_grad=True)
a = x * 2
b = x * 3
n = [0]
def fn(gs):
    n[0] += 1
    if n[0] == 1: raise ValueError("first time")
    print("ok", gs)
h = torch.autograd.graph.register_multi_grad_hook((a, b), fn)
h
(a * b).sum().backward(retain_graph=True)  # raises
(a * b).sum().backward(retain_graph=True)

# %% hooks and retain_grad order
x = torch.ones(2, requires_grad=True)
y = x * 2
y.retain_grad()
y.register_hook(lambda g: g * 3)
y.grad_fn.register_prehook(lambda gs: (gs[0] * 5,))
y.sum().backward(retain_graph=True)
y.grad, x.grad
torch.autograd.grad(y.sum(), [y, x], retain_graph=True)
y.sum().backward(inputs=[y], retain_graph=True)
y.grad
y.sum().backward(inputs=[y, x], retain_graph=True)
y.grad, x.grad
x.register_hook(lambda g: g * 7)
torch.autograd.grad(y.sum(), [y, x], retain_graph=True)
torch.autograd.grad(y.sum(), [x], retain_graph=True)
h = y.grad_fn.next_functions[0][0].register_prehook(lambda gs: (gs[0] * 11,))
torch.autograd.grad(y.sum(), [x], retain_graph=True)
x.grad = None
y.sum().backward(inputs=[x], retain_graph=True)
x.grad

# %% hooks under create_graph
x = torch.ones(2, requires_grad=True)
y = x * x
log = []
y.register_hook(lambda g: log.append((g.requires_grad, torch.is_grad_enabled())))
y.register_hook(lambda g: g * x)
y.grad_fn.register_hook(lambda gi, go: log.append([None if t is None else t.requires_grad for t in (*gi, *go)]))
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
print(log)
g.sum().backward()
x.grad
print(log)

# %% hooks on views and base
x = torch.ones(2, 2, requires_grad=True)
y = x * 2
v = y[0]
v.register_hook(lambda g: g * 10)
y.register_hook(lambda g: print("y", g))
(v.sum() + y.sum()).backward(retain_graph=True)
v.grad_fn.register_prehook(lambda gs: print("pre", gs))
y[1].mul_(2)
y.register_hook(lambda g: print("new y", g))
(v.sum() + y.sum()).backward()
x.grad

# %% hooks registered on a leaf before and after use, requires_grad off
x = torch.ones(2, requires_grad=True)
y = x * 2
x.register_hook(lambda g: print("late", g))
y.sum().backward()
y = x * 2
x.requires_grad_(False)
x.register_hook(lambda g: None)  # raises
y.sum().backward()
x.grad
x.requires_grad_(True)
(x * 2).sum().backward()
x.grad
torch.ones(2).register_hook(lambda g: None)  # raises
torch.ones(2).retain_grad()  # raises
x.retain_grad()
x.retains_grad
with torch.no_grad():
    z = x * 2
    z.register_hook(lambda g: 1)  # raises

# %% handles
x = torch.ones(2, requires_grad=True)
with x.register_hook(lambda g: print("in")) as h:
    (x * 2).sum().backward()
(x * 2).sum().backward()
h.remove()
h.id >= 0
type(h).__name__
x._backward_hooks
y = x * 2
y._backward_hooks
h = y.grad_fn.register_hook(lambda a, b: None)
type(h).__name__
h.remove(); h.remove()

# %% hook raises at different places: state
x = torch.ones(2, requires_grad=True)
y = x * 2
y.register_hook(lambda g: 1 / 0)
(y * y).sum().backward()  # raises
(y * y).sum().backward()  # raises
x.grad
torch.is_grad_enabled()
z = (y * y).sum()
z.backward()  # raises
z.backward()  # raises

# %% node identity and weak references
import weakref
x = torch.ones(2, requires_grad=True)
y = x * 2
y.grad_fn is y.grad_fn
n = y.grad_fn
y.grad_fn.next_functions[0][0] is (x * 3).grad_fn.next_functions[0][0]
r() is n  # raises
del n
r() is y.grad_fn  # raises
z = y + 1
z.grad_fn.next_functions[0][0] is y.grad_fn
n = z.grad_fn
n2 = n.next_functions[0][0]
del y, z
n2
n2.metadata["a"] = 1
n.next_functions[0][0].metadata
hash(n) == hash(n)
n == n2, n != n2
isinstance(n, torch.autograd.graph.Node)
n.name(), n2.name()
v = torch.ones(2, 2, requires_grad=True)
w = (v * 2)[0]
w.grad_fn is w.grad_fn
n.foo = 3  # raises
n.foo  # raises

# %% calling nodes by hand
x = torch.arange(3.0).requires_grad_()
y = x * x
y.grad_fn(torch.ones(3))
y.grad_fn(None)
y.grad_fn()  # raises
y.grad_fn(torch.ones(3), torch.ones(3))  # raises
y.grad_fn(torch.ones(2))  # raises
y.grad_fn(3)  # raises
a, b = x.reshape(3, 1).expand(3, 2).unbind(1)
a.grad_fn(torch.ones(3), None)
a.grad_fn(torch.ones(3), torch.ones(3))
acc = y.grad_fn.next_functions[0][0]
acc(torch.ones(3))
x.grad
v = (x * 2)
v[0].add_(5)
v.grad_fn(torch.ones(3))
y.sum().backward()
y.grad_fn(torch.ones(3))  # raises
m, i = torch.max(x.reshape(1, 3), 1)
m.grad_fn(torch.ones(1), None)  # raises
m.grad_fn(torch.ones(1))

# %% saved attributes of nodes in all kinds
x = torch.ones(2, 3, requires_grad=True)
y = x.sum(1, keepdim=True)
y.grad_fn._saved_dim, y.grad_fn._saved_keepdim, y.grad_fn._saved_self_sym_sizes
y = (x * 2).pow(3)
y.grad_fn._saved_exponent, y.grad_fn._saved_self
y.grad_fn._raw_saved_self
y.sum().backward()
y.grad_fn._saved_self  # raises
y.grad_fn._raw_saved_self
y.grad_fn._saved_nothing  # raises
z = x.exp()
z.grad_fn._saved_result is z
z.grad_fn._saved_result
z.add_(1)
z.grad_fn._saved_result  # raises
z = x.exp()
v = z.view(6)
v.add_(1)
z.grad_fn.next_functions
z.sum().backward()  # raises

# %% grad assignment
x = torch.ones(2, requires_grad=True)
x.grad = torch.ones(3)  # raises
x.grad = torch.ones(2, dtype=torch.float64)  # raises
x.grad = 3  # raises
x.grad = x  # raises
x.grad = torch.ones(2, requires_grad=True) * 2
x.grad
(x * 2).sum().backward()
x.grad
x.grad = None
y = x * 2
y.grad = torch.ones(2)
y.grad
y.sum().backward()
y.grad
del x.grad
x.grad
x.grad = torch.ones(2)
x.grad.requires_grad_()
x.grad.grad = torch.ones(2)
x.grad
(x * 2).sum().backward()
x.grad
c = torch.ones(2)
c.grad = torch.ones(2)
c.grad
i = torch.tensor([1, 2])
i.grad = torch.tensor([1, 2])
i.grad
i.requires_grad = True  # raises
i.requires_grad_()  # raises
y.requires_grad = False  # raises
y.requires_grad_(False)  # raises
y.requires_grad_()
x.requires_grad = 3  # raises
x.requires_grad = None  # raises
x.requires_grad_("a")  # raises

# %% decorated generator send throw close
def gen():
    print("start", torch.is_grad_enabled())
    try:
        while True:
            try:
                got = yield torch.is_grad_enabled()
                print("got", got, torch.is_grad_enabled())
            except ValueError as e:
                print("caught", e, torch.is_grad_enabled())
                yield "recovered"
    finally:
        print("closing", torch.is_grad_enabled())
g = torch.no_grad()(gen)()
next(g)
g.send(5)
torch.is_grad_enabled()
g.throw(ValueError("x"))
g.throw(ValueError, "y")  # raises
g.close()
g = torch.no_grad()(gen)()
next(g)
g.throw(KeyError("z"))  # raises
next(g)  # raises
@torch.enable_grad()
def inner():
    x = yield from outer()
    return x
@torch.no_grad()
def outer():
    yield torch.is_grad_enabled()
    return torch.is_grad_enabled()
def drive(g):
    while True:
        try: print(next(g), torch.is_grad_enabled())
        except StopIteration as s:
            return s.value
drive(inner())
@torch.no_grad()
def empty():
    return 3
    yield
drive(empty())
@torch.inference_mode()
def gi():
    yield torch.is_inference_mode_enabled(), torch.ones(1).is_inference()
drive(gi())
@torch.set_grad_enabled(False)
def gs():
    yield torch.is_grad_enabled()
drive(gs())
torch.is_grad_enabled()

# %% decorated classes coroutines lambdas methods
@torch.no_grad()
class A:
    def __init__(self):
        self.mode = torch.is_grad_enabled()
A().mode
@torch.no_grad
def f(a, b=2):
    "doc"
    return torch.is_grad_enabled()
f(1), f.__name__, f.__doc__
f.__wrapped__(1)
class B:
    @torch.no_grad()
    def m(self): return torch.is_grad_enabled()
    @staticmethod
    @torch.no_grad()
    def s(): return torch.is_grad_enabled()
    @classmethod
    @torch.no_grad()
    def c(cls): return torch.is_grad_enabled()
    @property
    @torch.no_grad()
    def p(self): return torch.is_grad_enabled()
B().m(), B.s(), B.c(), B().p
import asyncio
@torch.no_grad()
async def co():
    a = torch.is_grad_enabled()
    await asyncio.sleep(0)
    return a, torch.is_grad_enabled()
asyncio.run(co())
@torch.no_grad()
async def ag():
    yield torch.is_grad_enabled()
async def use():
    return [x async for x in ag()]
asyncio.run(use())
torch.no_grad()(lambda: torch.is_grad_enabled())()
torch.no_grad()(3)
torch.no_grad(3)
torch.no_grad()(print)("x")
import functools
torch.no_grad()(functools.partial(f, 1))()
@torch.inference_mode
def h(): return torch.is_inference_mode_enabled()
h()
@torch.inference_mode(False)
def k(): return torch.is_inference_mode_enabled(), torch.is_grad_enabled()
k()
@torch.enable_grad
def e(): return torch.is_grad_enabled()
with torch.no_grad(): e()
with torch.no_grad(): print(e(), torch.is_grad_enabled())

# %% grad modes as objects
m = torch.no_grad()
with m:
    with m:
        print(torch.is_grad_enabled())
    print(torch.is_grad_enabled())
s = torch.set_grad_enabled(False)
torch.is_grad_enabled()
with torch.set_grad_enabled(True):
    print(torch.is_grad_enabled())
torch.is_grad_enabled()
with s: print(torch.is_grad_enabled())
torch.set_grad_enabled(True)
torch.set_grad_enabled(3)  # raises
torch.set_grad_enabled("a")  # raises
torch.set_grad_enabled(None)  # raises
torch.set_grad_enabled()  # raises
repr(torch.set_grad_enabled(True))
torch.set_grad_enabled(mode=True)
i = torch.inference_mode()
with i:
    print(torch.is_inference_mode_enabled(), torch.is_grad_enabled())
    with torch.enable_grad():
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        print(torch.is_grad_enabled(), y.requires_grad, x.requires_grad)
    with torch.inference_mode(False):
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        print(torch.is_grad_enabled(), y.requires_grad, torch.is_inference_mode_enabled())
    print(torch.is_inference_mode_enabled(), torch.is_grad_enabled())
torch.inference_mode(3)
torch.inference_mode(None)
no = torch.no_grad()
no.__enter__()
torch.is_grad_enabled()
no.__exit__(None, None, None)
torch.is_grad_enabled()
no.clone()
type(torch.no_grad().clone()).__name__

# %% inference tensors
x = torch.ones(3, requires_grad=True)
c = torch.ones(3)
with torch.inference_mode():
    a = torch.ones(3)
    b = x * 2
    v = c[1:]
    w = x.view(3)
    a.add_(1)
    a[0] = 5
    va = a[1:]
    va.mul_(2)
    c.add_(1)
    d = torch.ones(2, requires_grad=True)
    e = x.detach()
    k = c.clone()
a.is_inference(), b.is_inference(), v.is_inference(), w.is_inference(), d.is_inference(), e.is_inference(), k.is_inference()
b.requires_grad, v.requires_grad, w.requires_grad, d.requires_grad
a, b, v, w
c._version
a._version  # raises
a.add_(1)  # raises
a[0] = 1  # raises
x * a  # raises
(x + a).sum().backward()
x * a.clone()
a * 2
(a * 2).is_inference()
a[1:].is_inference()
v.add_(1)
w.add_(1)  # raises
w.mul_(x)  # raises
a.mul_(x)  # raises
a.requires_grad_()  # raises
a.requires_grad = True  # raises
d.sum().backward()  # raises
d * 2
(d * 2).sum().backward()
torch.stack([a, x])
torch.cat([a, x]).sum().backward()
a.detach().is_inference()
a.view(3).is_inference()
x.data = a
a.numpy()
a.copy_(torch.ones(3))  # raises
c.copy_(a)
y = x * 2
y.copy_(a)
y.add_(a)
y.mul_(a)  # raises
y[0] = a[0]
torch.func.grad(lambda t: (t * a).sum())(x)
a.backward()  # raises
a.retain_grad()  # raises
a.register_hook(lambda g: g)  # raises
a.grad
a.grad_fn
a.is_leaf
torch.nn.Parameter(a)  # raises

# %% inference mode and in-place on outside graph
x = torch.ones(3, requires_grad=True)
y = x * 2
z = y.exp()
with torch.inference_mode():
    y.add_(1)
    z.mul_(2)
    v = y[1:]
    v.mul_(3)
y._version, z._version
y.grad_fn
z.sum().backward()  # raises
y.sum().backward()
x.grad
v.add_(1)  # raises
with torch.inference_mode():
    x.add_(1)
    x.grad.zero_()
    (x * 2).sum().backward()  # raises
x.grad
with torch.inference_mode():
    torch.autograd.grad(y.sum(), x)  # raises
with torch.inference_mode():
    with torch.enable_grad():
        (x * 2).sum().backward()  # raises

# %% detach_ on results, views, hooked tensors
x = torch.ones(3, requires_grad=True)
y = x * 2
z = y * 3
y.detach_()
y
z.sum().backward()
x.grad
v = (x * 2)[1:]
v.detach_()  # raises
x.detach_()
w = torch.ones(3, requires_grad=True)
u = w * 2
u.retain_grad()
u.register_hook(lambda g: print(g))
u.detach_()
u.retains_grad
u.requires_grad_()
(u * 2).sum().backward()
u.grad
b = torch.ones(2, 2, requires_grad=True) * 1
r = b[0]
b.detach_()
r.grad_fn, r.requires_grad
r.mul_(2)  # raises
b
a1, a2 = (w * 2)[:2].unbind()
a1.detach_()  # raises
e = (w * 2).detach()
e.mul_(2)
e._version, e._is_view()
with torch.no_grad():
    q = w[1:]
q.detach_()  # raises

# %% data assigned and written
x = torch.ones(3, requires_grad=True)
y = x * 2
d = x.data
d.add_(1)
x, x._version, d._version
x.data = torch.zeros(2)
x
x.data = torch.zeros(3, dtype=torch.float64)
x.dtype
y.sum().backward()
x.data = torch.tensor([1, 2])  # raises
x.data = 3  # raises
w = torch.ones(3, requires_grad=True)
z = w.exp()
z.data.zero_()
z.sum().backward()
w.grad
z.data = torch.ones(3)
z
w.data[0] = 7
w
w.data.requires_grad, w.data.is_leaf
v = (w * 2)[1:]
v.data = torch.zeros(5)
v
p = torch.nn.Parameter(torch.ones(2))
p.data = torch.zeros(3)
p
type(p.data).__name__
w.grad = torch.ones(3)
w.data = torch.ones(2)
w.grad

# %% set_ takes another tensor's memory
x = torch.ones(3, requires_grad=True)
c = torch.ones(2)
c.set_(torch.zeros(3))
c
x.set_(torch.zeros(3))  # raises
with torch.no_grad(): x.set_(torch.zeros(2))
x
c._version

# %% requires_grad_ on views and bases
c = torch.ones(3)
v = c[1:]
v.requires_grad_()
v.is_leaf, c.requires_grad
c.add_(1)
v
(v * 2).sum().backward()
v.grad
c.mul_(v[0])  # raises
c
b = torch.ones(3)
w = b[1:]
b.requires_grad_()
w.requires_grad, w
w.mul_(2)  # raises
b.mul_(2)  # raises
with torch.no_grad(): b.mul_(2)
w
t = torch.ones(3, requires_grad=True)
u = t[1:]
t.requires_grad_(False)
u.requires_grad, u
t.add_(1)
u
u.sum().backward()
t.grad
u.grad_fn.next_functions

# %% views with no_grad inside out
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    v = x[1:]
v.requires_grad, v.is_leaf
v.mul_(2)  # raises
with torch.no_grad():
    v.mul_(2)
x, v
y = x * 2
with torch.no_grad():
    w = y[1:]
    u = w[:1]
y.mul_(2)
w
w.mul_(2)  # raises
u.mul_(2)  # raises
with torch.no_grad():
    w.mul_(2)
y
y.sum().backward()
x.grad
with torch.enable_grad():
    with torch.no_grad():
        k = y.view(3)
    k.sum()

# %% NumPy's functions and operators on tensors
x = torch.ones(3, requires_grad=True)
c = torch.arange(3.0)
np.asarray(x)  # raises
np.asarray(c)
np.shares_memory(np.asarray(c), c.numpy())
np.array(c, dtype=np.float64)
x.numpy()  # raises
x.numpy(force=True)
x.detach().numpy()
np.sin(c)
np.sin(x)  # raises
np.add(c, c)
np.add(c, np.ones(3))
np.add(np.ones(3, dtype=np.float32), c)
c * np.ones(3)
np.ones(3) @ c  # raises
c @ np.ones(3)
np.float64(2) * c
c * np.float64(2)
np.float32(2) * x
np.int64(2) * x
x * np.int64(2)
np.ones(3) == c
c == np.ones(3)
c += np.ones(3, dtype=np.float32)
a = np.ones(3)
a
a[0] = c[1]
a[1] = x[1]
np.concatenate([c, c])
np.stack([c, c])
np.dot(c, c)
float(c[1]), int(c[1]), bool(c[1])
float(x[1])
n = np.arange(4.0)
t = torch.from_numpy(n)
n[0] = 9
t
t.add_(1)
n, t._version
t.requires_grad_()
t.mul_(2)  # raises
torch.from_numpy(n[::2])
torch.from_numpy(n[::-1])  # raises
torch.from_numpy(np.array("a"))  # raises
torch.from_numpy([1])  # raises
torch.as_tensor(n) is t
torch.tensor(n), torch.tensor(x), torch.as_tensor(x) is x
torch.tensor([c[0], c[1]]), torch.tensor([x[0], 1])
np.float32(3) + torch.tensor(1)
torch.tensor(1) + np.float32(3)
list(map(float, c))
np.allclose(c, [2, 3, 4])
len(c), np.shape(c), np.ndim(c), np.size(c)
c.__array_priority__ > 0
np.multiply.outer(c, c)
np.add.reduce(c)
np.add(c, c, out=c)  # raises
np.sqrt(c, out=np.zeros(3))
np.where(c > 2, c, 0)
np.ones(2)[torch.tensor([0, 1])]
c[np.array([0, 1])]
c[np.array([True, False, True])]
np.testing.assert_allclose(c, c)

# %% a leaf made in inference_mode
with torch.inference_mode():
    d = torch.ones(2, requires_grad=True)
d.requires_grad, d.is_leaf, d.is_inference()
s = d.sum()
s.requires_grad, s.grad_fn, s.is_inference()
s = d * 2
s.requires_grad, s.grad_fn, s.is_inference()
x = torch.ones(2, requires_grad=True)
d + x
d.sum().backward()  # raises
(d + x).sum().backward()
d.grad
d.exp()
d * d
with torch.inference_mode():
    d * 2
    e = d * 2
    (d * 2).sum().backward()  # raises
e.requires_grad
f = e + x

# %% hooks on accumulation return nothing
x = torch.ones(2, requires_grad=True)
h = x.register_post_accumulate_grad_hook(lambda t: t * 2)
(x * 2).sum().backward()  # raises
x, x.grad
h.remove()
h = x.register_post_accumulate_grad_hook(lambda t: torch.ones(5))
(x * 2).sum().backward()  # raises
x, x.grad
h2 = x.register_post_accumulate_grad_hook(lambda t: print("x", t))
(x * 2).sum().backward()  # raises
h.remove()
h = x.register_post_accumulate_grad_hook(lambda t: "abc")
h3 = x.register_post_accumulate_grad_hook(lambda t: print("z", t))
(x * 2).sum().backward()  # raises

# %% accumulate into a grad with a graph
x = torch.ones(2, requires_grad=True)
(x * x * x).sum().backward(create_graph=True)
g = x.grad
g.sum().backward()
g is x.grad

# %% anomaly mode: metadata, NaN, first and second order
x = torch.ones(2, requires_grad=True)
with torch.autograd.detect_anomaly():
    y = (x - 1).sqrt() * 0
    y.sum().backward()  # raises
with torch.autograd.detect_anomaly():
    y = (x - 1).sqrt() * 0
    torch.autograd.grad(y.sum(), x, create_graph=True)  # raises
torch.autograd.set_detect_anomaly(True)
torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
y = x.log()
"parent_" in y.grad_fn.metadata
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
v = (x * 2)
v[0].mul_(2)
sorted(v.grad_fn.metadata)
torch.autograd.set_detect_anomaly(False)

# %% anomaly mode: what is said of errors
x = torch.ones(2, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    y = x.exp()
    z = y * 2
    y.add_(1)
    z.sum().backward()
    y.sum().backward()  # raises
with torch.autograd.set_detect_anomaly(True):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x * 2
        @staticmethod
        def backward(ctx, g): raise ValueError("in backward")
    F.apply(x).sum().backward()  # raises
with torch.autograd.set_detect_anomaly(True):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x * 2
        @staticmethod
        def backward(ctx, g): return g, g
    F.apply(x).sum().backward()  # raises

# %% saved tensors that may be written to
x = torch.ones(3, requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    y = x.exp()
    y.add_(1)
    v = y[1:]
    v.mul_(3)
    y.sum().backward()
x.grad
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    y = x.exp()
    z = y * y
    y.sin_()
    y.zero_()
    (y + z).sum().backward()
    x.grad
    ctx.clear()
x.grad
y.sum().backward()  # raises
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        pass  # raises
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    a = x * 2
    b = a.sin()
    a.copy_(torch.zeros(3))
    g, = torch.autograd.grad(b.sum(), x, create_graph=True)
    g.sum().backward()
x.grad
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    a = x * 2
    b = a.sin()
    a += 1
b.sum().backward()  # raises
torch.ones(3).mul_(2)

# %% hooks on saved tensors: errors, nesting, what is packed
x = torch.ones(3, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
    y = x.exp()  # raises
with torch.autograd.graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
    y = x.exp()  # raises
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
    y = x.exp()
y.sum().backward()  # raises
y.grad_fn._saved_result  # raises
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t[:2]):
    y = x.exp()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t.double()):
    y = x.exp()
y.sum().backward()
x.grad
with torch.autograd.graph.saved_tensors_hooks(lambda t: 1, lambda t: 1 / 0):
    y = x.exp()
y.sum().backward()  # raises
torch.autograd.graph.saved_tensors_hooks(3)  # raises
with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    x.exp()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass  # raises
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
        pass  # raises
log = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("o") or t, lambda t: t):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("i") or t, lambda t: t):
        x.exp()
    x.exp()
    with torch.no_grad(): x.exp()
    x * 2
    x * x
    x[0]
    x.relu()
    x.max(0)
    x.view(3, 1)
    x.clone().add_(1)
    x.clone().mul_(x)
    x.clone()[1:].mul_(x[1:])
    torch.where(x > 0, x, x)
    x.pow(2)
    x.prod()
    x.sum().sqrt()
    torch.nn.functional.softmax(x, 0)
print(log)
with torch.autograd.graph.save_on_cpu():
    y = x.exp() * x
    y.grad_fn._saved_self
y.sum().backward()
with torch.autograd.graph.save_on_cpu(pin_memory=False):
    y = x.exp() * x
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
g.sum().backward()
x.grad

# %% pickling and deep copies: leaves, results, shared memory, hooks
import copy, pickle
x = torch.ones(2, requires_grad=True)
x.grad = torch.ones(2)
x.foo = 3
c = copy.deepcopy(x)
c, c.grad, c.foo, c is x
d = copy.copy(x)
d, d.grad, d is x
d.data_ptr() == x.data_ptr()
p = pickle.loads(pickle.dumps(x))
p, p.grad
p.foo
y = x * 2
copy.deepcopy(y)  # raises
pickle.dumps(y)
copy.copy(y)
copy.deepcopy(y.detach())
copy.deepcopy(x[0])  # raises
copy.deepcopy([x, x])[0] is copy.deepcopy([x, x])[1]
l = copy.deepcopy([x, x, x.detach()])
l[0] is l[1], l[0].data_ptr() == l[2].data_ptr()
x.register_hook(lambda g: g)
copy.deepcopy(x)._backward_hooks
pickle.dumps(x)
w = torch.nn.Parameter(torch.ones(2))
copy.deepcopy(w)
pickle.loads(pickle.dumps(w))
def hk(g): return g * 2
w.register_hook(hk)
q = copy.deepcopy(w)
(q * 1).sum().backward()
q.grad
pickle.loads(pickle.dumps(w))
m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
m[1].weight = m[0].weight
n = copy.deepcopy(m)
n[0].weight is n[1].weight
n = pickle.loads(pickle.dumps(m))
n[0].weight is n[1].weight
copy.deepcopy(torch.ones(3)[1:])
b = torch.arange(4.0)
v = b[1:3]
e = copy.deepcopy((b, v))
e[1].add_(10)
e
v2 = pickle.loads(pickle.dumps((b, v)))
v2[1].add_(10)
v2
with torch.inference_mode(): i = torch.ones(2)
copy.deepcopy(i).is_inference()
pickle.loads(pickle.dumps(i)).is_inference()
copy.deepcopy(y.grad_fn)  # raises
pickle.dumps(y.grad_fn)  # raises
copy.deepcopy(torch.float32), pickle.loads(pickle.dumps(torch.float32)) is torch.float32
copy.deepcopy(torch.Size([1, 2])), pickle.loads(pickle.dumps(torch.Size([1])))
copy.copy(torch.Generator())

# %% a saved gradient is accumulated into
x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
z = (w * x.grad).sum()
(x * 2).sum().backward()
z.backward()  # raises
x.grad._version

# %% nodes called by hand: outputs, hooks, modes
x = torch.arange(3.0).requires_grad_()
y = x * 2
y.grad_fn(torch.ones(3))
acc = y.grad_fn.next_functions[0][0]
acc(None)
acc(torch.ones(3))
x.grad
acc()  # raises
acc(torch.ones(3), torch.ones(3))  # raises
a, b = (x * 2).split([1, 2])
a.grad_fn(torch.ones(1), torch.ones(2))
a.grad_fn(None, torch.ones(2))
a.grad_fn(None, None)
y.grad_fn.register_hook(lambda gi, go: print("hook", gi, go))
y.grad_fn.register_prehook(lambda go: print("pre", go))
y.register_hook(lambda g: g * 2)
y.grad_fn(torch.ones(3))
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h): return g * 2
p, q = F.apply(x)
with torch.no_grad(): print(y.grad_fn(torch.ones(3)))
z = x.exp()
with torch.no_grad(): print(z.grad_fn(torch.ones(3)))
z.grad_fn(torch.ones(3))
z.grad_fn(torch.ones(3, requires_grad=True))
z.sum().backward()
z.grad_fn(torch.ones(3))  # raises

# %% marks that are no tensors
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, m):
        if m == 0: ctx.mark_non_differentiable(3)
        if m == 1: ctx.mark_non_differentiable(x, None)
        if m == 2: ctx.mark_dirty(3)
        if m == 3: ctx.mark_dirty(None)
        if m == 4: ctx.mark_non_differentiable([x])
        if m == 5: ctx.save_for_backward([x])
        if m == 6: ctx.save_for_backward(np.ones(3))
        if m == 7: ctx.save_for_forward(3)
        if m == 8: ctx.set_materialize_grads(3)
        if m == 9: ctx.mark_dirty(x, 3)
        if m == 10: ctx.materialize_grads = False
        if m == 11: ctx.needs_input_grad = 4
        if m == 12: ctx.saved_tensors = 4
        if m == 13: ctx.to_save = 4
        if m == 14: ctx.save_for_backward(3); ctx.save_for_backward(x)
        if m == 15: ctx.mark_non_differentiable(torch.ones(2))
        if m == 16: ctx.save_for_backward()
        if m == 17: ctx.set_materialize_grads()
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g, None
x = torch.ones(2, requires_grad=True)
def t(m):
    try: print(m, F.apply(x, m))
    except Exception as e: print(m, type(e).__name__, str(e).splitlines()[0])

# %% dirty views, retained and hooks
class Inc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, two=False):
        x.add_(1)
        ctx.mark_dirty(x)
        if two == 1:
            return x, 5
        if two == 2:
            z = torch.zeros(3)
            ctx.mark_non_differentiable(z)
            return x, z
        return x
    @staticmethod
    def backward(ctx, g, *h):
        print("inc", g)
        return g * 10, None
x = torch.ones(3, requires_grad=True)
y = x * 2
y.retain_grad()
y.register_hook(lambda g: print("old", g))
y.grad = torch.full((3,), 7.0)
Inc.apply(y)
y.register_hook(lambda g: print("new", g))
y.retains_grad
y.grad
y.sum().backward()
y.grad
y = x * 2
Inc.apply(y[1:], 1)  # raises
Inc.apply(y[1:], 2)  # raises
y = x * 2
y.retain_grad()
v = y[1:]
v.retain_grad()
v.register_hook(lambda g: print("v old", g))
Inc.apply(v)
v.register_hook(lambda g: print("v new", g))
(y.sum() + v.sum()).backward()
y.grad, v.grad, x.grad

# %% retained view whose base is written
x = torch.ones(4, requires_grad=True)
y = x * 2
v = y[:2]
v.retain_grad()
w = v * 3
y.mul_(2)
(w.sum() + y.sum()).backward(retain_graph=True)
v.grad
v.grad = None
(w.sum() + y.sum() + v.sum()).backward(retain_graph=True)
v.grad
y[2:].add_(1)
y.retain_grad()
(y * 2).sum().backward()
v.grad, y.grad

# %% recording inside inference mode
x = torch.ones(3, requires_grad=True)
y = x * 2
with torch.inference_mode():
    with torch.enable_grad():
        a = x * 2
        b = x.exp()
        c = x.view(3)
        d = y.view(3)
        y.mul_(3)
        e = torch.cat([x, x])
        f, g = x.unsqueeze(0).max(0)
        h = torch.zeros(3)
        h.add_(x)
        x[0] = 5
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return x * 2
            @staticmethod
            def backward(ctx, g): return g
        i = F.apply(x)
        j = F.apply(y)
        k = torch.nn.functional.relu(x)
        l = x.detach()
        m = x[1:]
[t.requires_grad for t in (a, b, c, d, y, e, f, g, h, i, j, k, l, m)]
[t.is_inference() for t in (a, b, c, d, y, e, f, g, h, i, j, k, l, m)]
y
c
a
m.add_(1)  # raises
y.sum().backward()
x.grad

# %% gradcheck: arguments
x = torch.ones(2, dtype=torch.float64, requires_grad=True)
from torch.autograd import gradcheck, gradgradcheck
gradcheck(lambda t: t * 2, x)
gradcheck(lambda t: t * 2, (x,))
gradcheck(lambda t: t * 2, [x])
gradcheck(lambda t: t.float(), x)  # raises
gradcheck(lambda t: t.detach(), x)  # raises
gradcheck(lambda t: t.detach(), x, raise_exception=False)
gradcheck(lambda t: (t * 2, t.detach()), x)
gradcheck(lambda t: None, x)  # raises
gradcheck(lambda t: 3, x)  # raises
gradcheck(lambda t: [t * 2, t], x)
gradcheck(lambda t: t * 2, torch.ones(2, requires_grad=True))  # raises
gradcheck(lambda t: t * 2, torch.ones(2, dtype=torch.float64))  # raises
gradcheck(lambda t: t * 2, (3,))  # raises
gradcheck(lambda t, n: t * n, (x, 3))
gradcheck(lambda t: t * 2, x, fast_mode=True)
gradcheck(lambda t: t * 2, x, check_forward_ad=True)
gradcheck(lambda t: t * 2, x, check_backward_ad=False)  # raises
gradcheck(lambda t: t * 2, x, check_backward_ad=False, check_forward_ad=True)
gradcheck(lambda t: t * 2, x, check_batched_grad=True)
gradcheck(lambda t: t * 2, x, check_batched_grad=True, fast_mode=True)
gradcheck(lambda t: t * 2, x, check_batched_forward_grad=True)  # raises
gradcheck(lambda t: t * 2, x, check_forward_ad=True, check_batched_forward_grad=True)
gradcheck(lambda t: t * 2, x, check_undefined_grad=False)
gradcheck(lambda t: t * 2, x, check_grad_dtypes=True)
gradcheck(lambda t: t * 2, x, nondet_tol=1.0, eps=1e-5, atol=1e-4, rtol=1e-2)
gradcheck(lambda t: t * 2, x, masked=True)
gradcheck(lambda t: t * 2, x, nothing=True)  # raises
gradgradcheck(lambda t: t * t, x)
gradgradcheck(lambda t: t * t, x, torch.ones(2, dtype=torch.float64))
gradgradcheck(lambda t: t * t, x, torch.ones(2, dtype=torch.float64, requires_grad=True))
gradgradcheck(lambda t: t * t, x, gen_non_contig_grad_outputs=True)
gradgradcheck(lambda t: t * t, x, check_fwd_over_rev=True, check_rev_over_rev=False)  # raises
gradgradcheck(lambda t: t * t, x, check_fwd_over_rev=True)
gradgradcheck(lambda t: t * t, x, check_rev_over_rev=False)  # raises
gradgradcheck(lambda t: t * t, x, fast_mode=True)
gradgradcheck(lambda t: t * 2, x)
gradgradcheck(lambda t: t.abs(), x)
x.grad
gradcheck(lambda t: t * 2, torch.ones(2, dtype=torch.float64).expand(3, 2).requires_grad_())  # raises
gradcheck(lambda t: t.add_(1) * t, x * 1)  # raises
gradcheck(lambda t: t.clone().add_(1), x)
gradcheck(lambda t: t, x)
gradcheck(lambda t: t.view(2), x)
gradcheck(lambda t: t.unbind(), x)
gradcheck(lambda t: t.argmax(), x)

# %% gradcheck: what it finds
from torch.autograd import gradcheck, gradgradcheck
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
gradcheck(Wrong.apply, x)  # raises
gradcheck(Wrong.apply, x, fast_mode=True)  # raises
gradcheck(Wrong.apply, x, raise_exception=False)
gradgradcheck(Wrong.apply, x)
gradcheck(Wrong.apply, x, check_forward_ad=True)  # raises
gradcheck(Wrong.apply, x, check_forward_ad=True, check_backward_ad=False)  # raises
class NonDet(torch.autograd.Function):
    n = 0
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        NonDet.n += 1
        return g * 2 + 1e-9 * NonDet.n
gradcheck(NonDet.apply, x)  # raises
gradcheck(NonDet.apply, x, nondet_tol=1e-3)  # raises
class NoUndef(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 3
gradcheck(NoUndef.apply, x)  # raises
gradcheck(NoUndef.apply, x, check_undefined_grad=False)  # raises
gradcheck(NoUndef.apply, x, check_undefined_grad=False, fast_mode=True)  # raises
class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2
gradcheck(Once.apply, x)
gradgradcheck(Once.apply, x)  # raises
class WrongDtype(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return (g * 2).float()
gradcheck(WrongDtype.apply, x)
gradcheck(WrongDtype.apply, x, check_grad_dtypes=True)
class NoneGrad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return None
gradcheck(NoneGrad.apply, x)  # raises
class Raises(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        raise ValueError("no")
gradcheck(Raises.apply, x)  # raises
gradcheck(Raises.apply, x, raise_exception=False)  # raises

# %% autograd.functional: options, errors
from torch.autograd.functional import jacobian, hessian, vjp, jvp, hvp, vhp
x = torch.tensor([1.0, 2.0])
y = torch.tensor([3.0, 4.0], requires_grad=True)
f = lambda a, b: (a * b, (a ** 2).sum())
jacobian(f, (x, y))
jacobian(f, (x, y), vectorize=True)
jacobian(f, (x, y), create_graph=True)
jacobian(f, (x, y), strict=True)  # raises
jacobian(lambda a: torch.ones(2), x)
jacobian(lambda a: torch.ones(2), x, strict=True)  # raises
jacobian(lambda a: torch.ones(2), x, vectorize=True)
jacobian(lambda a: torch.ones(2), x, vectorize=True, strategy="forward-mode")
jacobian(lambda a: a * 2, x, strict=True, create_graph=True)  # raises
jacobian(lambda a: a * 2, [x])  # raises
jacobian(lambda a: [a * 2], x)  # raises
jacobian(lambda a: 3, x)  # raises
jacobian(lambda a: a.sum(), 3)  # raises
jacobian(lambda a: a.sum(), (x, 3))  # raises
jacobian(lambda a: a.sum(), x, strategy="no")  # raises
jacobian(lambda a: a.sum(), x, strategy="forward-mode")  # raises
jacobian(lambda a: a.long(), x)
jacobian(lambda a: a * 2, torch.tensor([1, 2]))  # raises
jacobian(lambda a: a.sum(), x[:0])
jacobian(lambda a: a.sum(), x).requires_grad
jacobian(lambda a: a.sum(), y).requires_grad
jacobian(lambda a: a * a, y, create_graph=True)
hessian(lambda a: (a ** 3).sum(), x)
hessian(lambda a: (a ** 3).sum(), x, vectorize=True)
hessian(lambda a, b: (a * b).sum(), (x, y))
hessian(lambda a, b: (a * b).sum(), (x, y), strict=True)  # raises
hessian(lambda a, b: (a * a).sum(), (x, y))
hessian(lambda a: a * 2, x)  # raises
hessian(lambda a: (a ** 2)[:1], x)
hessian(lambda a: (a * 2).sum(), x, strict=True)  # raises
hessian(lambda a: (a ** 3).sum(), y, create_graph=True)
vjp(f, (x, y), (torch.ones(2), torch.tensor(1.0)))
vjp(f, (x, y))  # raises
vjp(lambda a: a.sum(), x)
vjp(lambda a: a * 2, x, torch.ones(3))  # raises
vjp(lambda a: a * 2, x, (torch.ones(2),))
vjp(lambda a: a * 2, x, torch.ones(2), strict=True)
vjp(lambda a: a * y, x, torch.ones(2), create_graph=True)
jvp(f, (x, y), (torch.ones(2), torch.ones(2)))
jvp(f, (x, y), torch.ones(2))  # raises
jvp(lambda a: a * 2, x, torch.ones(2), strict=True)
jvp(lambda a: a * a, y, torch.ones(2), create_graph=True)
jvp(lambda a: torch.ones(2), x, torch.ones(2))
hvp(lambda a: (a ** 3).sum(), x, torch.ones(2))
vhp(lambda a: (a ** 3).sum(), x, torch.ones(2))
vhp(lambda a, b: (a * b).sum(), (x, y), (torch.ones(2), torch.ones(2)))
hvp(lambda a, b: (a * b).sum(), (x, y), (torch.ones(2), torch.ones(2)))
hvp(lambda a, b: (a * b).sum(), (x, y), (torch.ones(2), torch.ones(2)), strict=True)
hvp(lambda a: (a * 2).sum(), x, torch.ones(2), strict=True)  # raises
vhp(lambda a: (a * 2).sum(), x, torch.ones(2), strict=True)  # raises
vhp(lambda a: a * 2, x, torch.ones(2))  # raises
vhp(lambda a: (a * a).sum(), x)  # raises
x.grad, y.grad, x.requires_grad
with torch.no_grad(): print(jacobian(lambda a: a * a, x), hessian(lambda a: (a * a).sum(), x))

# %% threads: modes, hooks, one leaf
import threading
x = torch.ones(3, requires_grad=True)
seen = []
def work():
    seen.append(torch.is_grad_enabled())
    with torch.no_grad():
        seen.append(torch.is_grad_enabled())
with torch.no_grad():
    t = threading.Thread(target=work); t.start(); t.join()
print(seen)
hooks = []
x.register_hook(lambda g: hooks.append(threading.current_thread() is not None))
def back():
    for _ in range(50):
        (x * 2).sum().backward()
ts = [threading.Thread(target=back) for _ in range(4)]
for t in ts: t.start()
for t in ts: t.join()
x.grad
len(hooks)
y = (x * x).sum()
errors = []
def once():
    try: y.backward()
    except RuntimeError as e: errors.append(str(e)[:40])
ts = [threading.Thread(target=once) for _ in range(1)]
for t in ts: t.start(); t.join()
once()
errors
s = []
def im():
    s.append(torch.is_inference_mode_enabled())
with torch.inference_mode():
    t = threading.Thread(target=im); t.start(); t.join()
s
with torch.autograd.graph.saved_tensors_hooks(lambda t: s.append("packed") or t, lambda t: t):
    t = threading.Thread(target=lambda: x.exp()); t.start(); t.join()
s
with torch.autograd.set_detect_anomaly(True):
    t = threading.Thread(target=lambda: s.append(torch.is_anomaly_enabled())); t.start(); t.join()
s

# %% a chain of writes through views
x = torch.ones(2, requires_grad=True)
y = x * 1
for _ in range(100):
    y[0] += 0.001
y.sum().backward()
x.grad

# %% reentrant backward
x = torch.ones(2, requires_grad=True)
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            (z * z).sum().backward()
        return g * z.grad
F.apply(x).sum().backward()
x.grad
y = x * 2
y.register_hook(lambda g: (x * 5).sum().backward())
y.sum().backward()  # raises
x.grad
y.register_hook(lambda g: torch.autograd.grad((x * 7).sum(), x)[0])
y.sum().backward()  # raises
x.grad
x.register_hook(lambda g: g + 1)
y.sum().backward()  # raises
x.grad

# %% backward inside no_grad and grad enabled inside hooks
x = torch.ones(2, requires_grad=True)
y = x * x
y.register_hook(lambda g: print(torch.is_grad_enabled()))
with torch.no_grad():
    y.sum()
    y.backward(torch.ones(2), retain_graph=True)
    torch.autograd.grad(y, x, torch.ones(2), create_graph=True)
    g, = torch.autograd.grad(y, x, torch.ones(2), create_graph=True)
g
g.sum().backward()
x.grad

# %% gradcheck: batched modes
from torch.autograd import gradcheck, gradgradcheck
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
y = torch.tensor([1.5, 2.0], dtype=torch.float64, requires_grad=True)
gradcheck(lambda t, s: (t * s, t.sin(), s.cumsum(0)), (x, y), check_forward_ad=True, check_batched_forward_grad=True, check_batched_grad=True)
gradcheck(lambda t, s: (t * s, t.sin(), torch.ones(2)), (x, y), check_forward_ad=True, check_batched_forward_grad=True)
gradcheck(lambda t, s: (t * s), (x, y), check_batched_grad=True, check_backward_ad=False)  # raises
gradgradcheck(lambda t, s: (t * s), (x, y), check_batched_grad=True, check_fwd_over_rev=True, fast_mode=True)
gradgradcheck(lambda t, s: (t * s), (x, y), check_batched_grad=True, check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False)  # raises

# %% a saved output that is detached in place
x = torch.ones(3, requires_grad=True)
y = x * 2
z = y * y
w = y.exp()
y.detach_()
w.sum().backward()
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1]
a = x * 2
b = F.apply(a)
c = b * 2
b.detach_()
c.sum().backward()
a.detach_()
c.sum().backward()  # raises

# %% outputs that are saved and then written to
x = torch.ones(3, requires_grad=True)
class T(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        a, b = x + 1, x + 2
        ctx.save_for_backward(a, b, x)
        return a, b
    @staticmethod
    def backward(ctx, g, h):
        ctx.saved_tensors
        return g + h
y = x * 1
a, b = T.apply(y)
b.add_(1)
a.sum().backward()  # raises
a, b = T.apply(y)
y.add_(1)
a.sum().backward()  # raises
a, b = T.apply(b)
b.mul_(2)
a.sum().backward()  # raises

# %% saved inputs count as output 0 in messages
x = torch.ones(2, 3, requires_grad=True)
a, b = (x * 1).sort(0)[0].clone().chunk(2)
a, b = torch.linalg.slogdet((x @ x.T + torch.eye(2)))
z = b * b
with torch.no_grad(): b.mul_(2)
z.sum().backward()  # raises
a, b = torch.std_mean(x)
z = b * b
with torch.no_grad(): b.mul_(2)
z.sum().backward()  # raises
z = b.exp()
b.mul_(2)
z = b * b
with torch.no_grad(): b.mul_(2)
z.sum().backward()  # raises
a, b = torch.std_mean(x)
z = a * b
b.mul_(2)
z.backward()  # raises
a, b = torch.std_mean(x)
w = a.exp()
z = b * b
b.mul_(2)
z.backward()  # raises

# %% second order through a view
v0 = torch.tensor([1.5, 2.0, 1.0], requires_grad=True)
v5 = v0 * 3
v9 = v5[:2]
v9.exp_()
g, = torch.autograd.grad(v9.sum(), v0, create_graph=True)
torch.autograd.grad(g.sum(), [v9, v5], allow_unused=True, retain_graph=True)
g, = torch.autograd.grad(v5.sum(), v0, create_graph=True)
torch.autograd.grad(g.sum(), [v9, v5], allow_unused=True, retain_graph=True)
del v9
g, = torch.autograd.grad(v5.sum(), v0, create_graph=True)
torch.autograd.grad(g.sum(), [v5], allow_unused=True, retain_graph=True)

# %% several gradients of which a pass computes some
v0 = torch.tensor(1.5, requires_grad=True)
v2 = v0 + v0
v3 = v0.clone()
v4 = v0 * v0
h5 = torch.autograd.graph.register_multi_grad_hook([v4, v2], lambda gs: print(gs))
torch.autograd.grad(v2.sum() + v3.sum(), [v2, v4], allow_unused=True, retain_graph=True)
torch.autograd.grad(v2.sum() + v3.sum(), [v4, v2], allow_unused=True, retain_graph=True)
torch.autograd.grad(v2.sum() + v3.sum(), [v2, v0], allow_unused=True, retain_graph=True)
torch.autograd.grad(v2.sum() + v3.sum(), [v4, v0], allow_unused=True, retain_graph=True)

# %% a saved input that is detached in place
x = torch.ones(3, requires_grad=True)
y = x * 2
z = y * y
y.detach_()
torch.autograd.grad(z.sum(), x, create_graph=True)  # raises

# %% order of hooks of outputs
x = torch.ones(3, requires_grad=True)
a, b, c = x.unbind()
log = []
b.register_hook(lambda g: log.append("b"))
c.retain_grad()
a.register_hook(lambda g: log.append("a"))
b.register_hook(lambda g: log.append("b2"))
c.register_hook(lambda g: log.append("c"))
(a * b * c).backward()
log
c.grad

# %% a hook that puts a hook on another output
x = torch.ones(3, requires_grad=True)
a, b, c = x.unbind()
log = []
def adding(g):
    log.append("a")
    b.register_hook(lambda g: log.append("b"))
a.register_hook(adding)
(a * b * c).backward(retain_graph=True)
log
(a * b * c).backward()
log

# %% checkpoint in all forms
from torch.utils.checkpoint import checkpoint
x = torch.ones(3, requires_grad=True)
w = torch.full((3,), 2.0, requires_grad=True)
calls = []
def f(a, k=2):
    calls.append(torch.is_grad_enabled())
    return (a * w).exp() * k
y = checkpoint(f, x, use_reentrant=False)
y
y.sum().backward()
calls, x.grad, w.grad
calls.clear()
y = checkpoint(f, x, use_reentrant=True)
y
y.sum().backward()
calls
checkpoint(f, x, k=3, use_reentrant=False)
checkpoint(f, x, k=3, use_reentrant=True)  # raises
checkpoint(f, x)
checkpoint(f, torch.ones(3), use_reentrant=True)
y = checkpoint(f, x, use_reentrant=False)
torch.autograd.grad(y.sum(), x, retain_graph=True)
torch.autograd.grad(y.sum(), x)
torch.autograd.grad(y.sum(), x)  # raises
y = checkpoint(f, x, use_reentrant=True)
torch.autograd.grad(y.sum(), x)  # raises
y = checkpoint(f, x, use_reentrant=False)
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
g.sum().backward()
x.grad
with torch.no_grad(): checkpoint(f, x, use_reentrant=False)
n = [0]
def changing(a):
    n[0] += 1
    return a.exp() if n[0] == 1 else a.exp().sin()
y = checkpoint(changing, x, use_reentrant=False)
y.sum().backward()
def shape(a):
    n[0] += 1
    return (a[:2] if n[0] % 2 else a).exp()
y = checkpoint(shape, x, use_reentrant=False)
y.sum().backward()  # raises
def inplace(a):
    b = a * 2
    b.mul_(3)
    b[0] = 1.0
    return b.exp(), b
y, b = checkpoint(inplace, x, use_reentrant=False)
x.grad = None
(y.sum() + b.sum()).backward()
x.grad
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x * 2
y = checkpoint(F.apply, x, use_reentrant=False)
y.sum().backward()
x.grad

# %% forward mode with functions, views, in place
import torch.autograd.forward_ad as fwAD
x = torch.arange(3.0)
t = torch.ones(3)
with fwAD.dual_level():
    d = fwAD.make_dual(x, t)
    y = d * 2
    v = y[1:]
    v.mul_(3)
    fwAD.unpack_dual(y)
    fwAD.unpack_dual(v)
    y[0] = 5
    fwAD.unpack_dual(y)
    z = torch.zeros(3)
    z[1:] = d[:2]
    fwAD.unpack_dual(z)
    d.detach(), fwAD.unpack_dual(d.detach())
    fwAD.unpack_dual(d.clone())
    e = d.exp()
    e.add_(1)
    fwAD.unpack_dual(e)
    with torch.no_grad():
        print(fwAD.unpack_dual(d * 2))
    d.unbind()
    fwAD.make_dual(d, t)
    fwAD.make_dual(x, torch.ones(2))
    fwAD.make_dual(x, torch.ones(3, dtype=torch.float64))
    fwAD.make_dual(torch.tensor([1]), torch.tensor([1]))
    fwAD.make_dual(x, 3)
    with fwAD.dual_level():
        pass  # raises
fwAD.make_dual(x, t)  # raises
fwAD.unpack_dual(x)
fwAD.enter_dual_level()
fwAD.exit_dual_level()
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2
with fwAD.dual_level():
    F.apply(fwAD.make_dual(x, t))  # raises
class G(F):
    @staticmethod
    def jvp(ctx, t): return t * 2
with fwAD.dual_level():
    fwAD.unpack_dual(G.apply(fwAD.make_dual(x, t)))
class H(F):
    @staticmethod
    def jvp(ctx, t): return t[:2]
with fwAD.dual_level():
    H.apply(fwAD.make_dual(x, t))  # raises
class V(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.view(-1)
    @staticmethod
    def backward(ctx, g): return g
    @staticmethod
    def jvp(ctx, t): return t.view(-1)
with fwAD.dual_level():
    fwAD.unpack_dual(V.apply(fwAD.make_dual(x, t)))

# %% module hooks and autograd
m = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
for p in m.parameters(): p.data.fill_(0.5)
log = []
m[0].register_forward_pre_hook(lambda m, i: log.append("fpre"))
m[0].register_forward_hook(lambda m, i, o: log.append("f") or o * 2)
m[2].register_full_backward_hook(lambda m, gi, go: log.append(("b", [None if g is None else tuple(g.shape) for g in (*gi, *go)])))
m[0].register_full_backward_hook(lambda m, gi, go: log.append(("b0", gi)))
m[1].register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
x = torch.ones(4, 2)
y = m(x)
y.sum().backward()
log
[p.grad for p in m.parameters()]
x.requires_grad_()
m(x).sum().backward()
x.grad
m[2].register_full_backward_hook(lambda m, gi, go: 3)
m(x).sum().backward()  # raises
y = m[0](x)
y += 1  # raises

# %% printing of everything
x = torch.ones(2, requires_grad=True)
y = x * 2
print(y, y.grad_fn, y.grad_fn.next_functions)
print(torch.no_grad(), torch.enable_grad())
print(torch.autograd.graph.get_gradient_edge(y))
print([x, y], {"a": y}, (x.grad,))
str(y), repr(y), f"{y}", "%s" % y
f"{x[0]}", f"{x[0].item():.2f}"
f"{x[0]:.2f}"
f"{y.sum().detach():.3f}"
print(x.data, x.detach())
print(torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2), requires_grad=False))
v = y[0]
with torch.no_grad(): w = y[1:]
print(v, w)
y.mul_(2)
print(v, w)
print(y.grad_fn.metadata, x.is_leaf)
print(torch.tensor([1e-10, 1e10], requires_grad=True) * 1)
print(torch.tensor([float("nan"), float("inf")], requires_grad=True))
print(torch.empty(0, requires_grad=True), torch.empty(0, 2) )
print((torch.ones(2, 0, requires_grad=True) * 2))
x.register_hook(print)
(x * 3).sum().backward()
torch.set_printoptions(precision=2)
print(x * 1.2345, x.grad)

# %% double backward through copyslices, functions and hooks
class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]
x = torch.arange(1.0, 5.0).requires_grad_()
y = Sq.apply(x) * 1
y[1:3] = Sq.apply(y[:2]) * x[2]
v = y.view(2, 2)
v[0].mul_(x[:2])
v.t()[1].add_(y[0])
h = y.register_hook(lambda g: g * x)
g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)  # raises
g  # raises
h2, = torch.autograd.grad((g * g).sum(), x, create_graph=True)  # raises
h2  # raises
h3, = torch.autograd.grad(h2.sum(), x)  # raises
h3  # raises

# %% inputs= with functions and edges of accumulators
x = torch.ones(3, requires_grad=True)
y = x * 2
e = torch.autograd.graph.get_gradient_edge(x)
e.node.name(), e.output_nr
torch.autograd.grad(y.sum(), e, retain_graph=True)
y.sum().backward(inputs=[e], retain_graph=True)
x.grad
y.sum().backward(inputs=[torch.autograd.graph.get_gradient_edge(y)], retain_graph=True)
y.grad
y.sum().backward(inputs=(e, y), retain_graph=True)
x.grad, y.grad
torch.autograd.backward([torch.autograd.graph.GradientEdge(y.grad_fn, 0)], [torch.ones(3)], retain_graph=True)
x.grad
torch.autograd.grad(torch.autograd.graph.GradientEdge(y.grad_fn, 0), x, torch.ones(3), retain_graph=True)
torch.autograd.graph.get_gradient_edge(torch.ones(2))  # raises
torch.autograd.graph.get_gradient_edge(3)  # raises
torch.autograd.grad(y.sum(), [e, x, e], retain_graph=True)
torch.autograd.grad(y.sum(), e, materialize_grads=True, retain_graph=True)
c = torch.ones(2, requires_grad=True)
torch.autograd.grad(y.sum(), torch.autograd.graph.get_gradient_edge(c), materialize_grads=True, retain_graph=True)  # raises
torch.autograd.grad(y.sum(), torch.autograd.graph.get_gradient_edge(c), allow_unused=True, retain_graph=True)
torch.autograd.grad(y.sum(), torch.autograd.graph.get_gradient_edge(c), retain_graph=True)  # raises

# %% versions raised by hand
x = torch.ones(3, requires_grad=True)
y = x.exp()
torch.autograd.graph.increment_version(y)
y.sum().backward()  # raises
y._version
torch.autograd.graph.increment_version([y, x])
y._version, x._version
torch.autograd.graph.increment_version(3)  # raises
with torch.inference_mode(): i = torch.ones(2)
torch.autograd.graph.increment_version(i)
y._version
z = x.exp()
z.sum().backward()
x.grad

# %% saved hooks nested with functions and errors
x = torch.ones(3, requires_grad=True)
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        ctx.w = w
        return x * w
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        print(x is ctx.w, w is ctx.w, w.requires_grad)
        return g * w, g * x
w = torch.ones(3, requires_grad=True)
y = F.apply(x, w); y.sum().backward()
y = F.apply(x * 1, w * 1); y.sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    y = F.apply(x, w)
y.sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), lambda t: torch.from_numpy(t)):
    y = F.apply(x, w)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy(), lambda t: torch.from_numpy(t)):
    y = F.apply(x, w)
y.sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda t: (t.detach(), 3), lambda p: p[0] * 2):
    y = F.apply(x, w)
    z = x.exp()
y.grad_fn.saved_tensors
z.grad_fn._saved_result
g, = torch.autograd.grad(y.sum() + z.sum(), x, create_graph=True)
g
g.sum().backward()
w.grad

# %% what pack sees
x = torch.ones(3, requires_grad=True)
w = torch.ones(3)
def pack(t):
    print(t is x, t is w, t.requires_grad, t.is_leaf, t.grad_fn, t._version, t._is_view())
    return t
y = x * 2
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        z = x * w
        ctx.save_for_backward(x, w, z)
        return z
    @staticmethod
    def backward(ctx, g):
        x, w, z = ctx.saved_tensors
        print(x.requires_grad, x.is_leaf, x.grad_fn, z.grad_fn)
        return g * w, g * x
d.sum().backward()  # raises
e.sum().backward()  # raises
a.grad_fn._saved_self is x  # raises
a.grad_fn._saved_self.is_leaf  # raises
b.grad_fn._saved_result is b  # raises
d = F.apply(x, w)
r = d.grad_fn._raw_saved_tensors
r[0].register_hooks(pack, lambda t: t)
r[2].register_hooks(pack, lambda t: t)
a = x * y
a.grad_fn._raw_saved_self.register_hooks(pack, lambda t: t)
a.grad_fn._raw_saved_other.register_hooks(pack, lambda t: t)

# %% a dual of a leaf
import torch.autograd.forward_ad as fwAD
t = torch.ones(3)
w = torch.ones(3, requires_grad=True)
with fwAD.dual_level():
    d = fwAD.make_dual(w, t)
    print(w.grad_fn, w.is_leaf)
    o = (d * d).sum()
    print(w.grad_fn, w.is_leaf)
    o.backward()
    print(w.grad_fn, w.is_leaf)
    fwAD.unpack_dual(o).tangent.backward()
print(w.grad_fn, w.is_leaf)
w.grad

# %% numpy() where nothing is recorded
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    a = x.numpy()
    b = np.asarray(x)
    c = np.sin(x)
    d = x.tolist()
a, b, c
a[0] = 5
x
with torch.inference_mode(): print(x.numpy())
y = x * 2
with torch.no_grad(): print(y.numpy(), np.mean(y.numpy()))
x.register_hook(lambda g: print(g.numpy()))
(x * 2).sum().backward()
(x * x).sum().backward(create_graph=True)  # raises
with torch.no_grad(): print(float(x[0]), f"{x[0]:.1f}")
y.numpy()  # raises

# %% numpy force and copies
x = torch.ones(3, requires_grad=True)
x.numpy(force=True)
np.asarray(x.detach(), dtype=np.float64)
np.array(x.detach())
c = torch.arange(6.0).reshape(2, 3)
c.t().numpy().flags["C_CONTIGUOUS"]
c.numpy().base is None
c.expand(2, 2, 3).numpy().strides
n = c.numpy()
n += 1
c, c._version
del c
n

# %% a hook after a node reads what the node saved
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.grad_fn.register_hook(lambda gi, go: print(y.grad_fn._saved_result))
y.sum().backward()
y.grad_fn._saved_result  # raises
z = (x * x)
z.grad_fn.register_hook(lambda gi, go: 1 / 0)
z.sum().backward()  # raises
z.sum().backward()  # raises
x.grad

# %% anomaly mode: errors and NaN in hooks
x = torch.ones(2, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    y.sum().backward()  # raises
with torch.autograd.set_detect_anomaly(True):
    y = x * 2
    y.grad_fn.register_hook(lambda a, b: 1 / 0)
    y.sum().backward()  # raises
with torch.autograd.set_detect_anomaly(True):
    y = x * 2
    y.grad_fn.register_prehook(lambda a: (a[0], a[0]))
    y.sum().backward()  # raises
with torch.autograd.set_detect_anomaly(True):
    y = x * 2
    y.grad_fn.register_hook(lambda a, b: (a[0] * float("nan"), None))
    y.sum().backward()  # raises
with torch.autograd.set_detect_anomaly(True):
    y = x * 2
    y.register_hook(lambda a: a * float("nan"))
    y.sum().backward()  # raises
