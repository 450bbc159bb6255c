"""Rare corners of Functions, hooks, saved tensors, edges and modes: what is refused, and what is given in its place."""

# sessions at the prompt, not a module: names are defined again, values shown, imports stand anywhere
# ruff: noqa
# fmt: off
import torch

# %% a Function's saved tensors written to before its backward
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, keep):
        y = x * x
        ctx.save_for_backward(y if keep == "output" else x, None)
        return y
    @staticmethod
    def backward(ctx, grad):
        kept, nothing = ctx.saved_tensors
        print(nothing)
        return grad * 2 * kept, None
x = torch.tensor([1.0, 2.0], requires_grad=True)
a = x * 1
y = Square.apply(a, "input")
a.add_(1)
y.sum().backward()  # raises
b = Square.apply(x, "output")
b.mul_(2)
b.sum().backward()  # raises
c = Square.apply(x, "input")
c.sum().backward()

# %% Functions that are refused
class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
    @staticmethod
    def vjp(ctx, grad):
        return grad * 2
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Both.apply(x)
y.sum().backward()  # raises
Both()(x)  # raises
torch.autograd.Function.setup_context(None, (), None)  # raises
torch.autograd.Function.vmap(None, (), None)  # raises
repr(y.grad_fn).split(" at ")[0]

# %% mark_dirty without recording, and of what is no input
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, other=None):
        out = x.mul_(2) if other is None else other
        ctx.mark_dirty(out)
        return out
    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None
x = torch.tensor([1.0, 2.0])
y = Doubled.apply(x)
y is x, x, x._version
z = Doubled.apply(x.clone().requires_grad_(), torch.zeros(2))

# %% a Function in anomaly mode
class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sqrt()
    @staticmethod
    def backward(ctx, grad):
        return grad * float("nan")
x = torch.tensor([4.0], requires_grad=True)
with torch.autograd.detect_anomaly():
    y = Root.apply(x)
    "traceback_" in y.grad_fn.metadata
    y.sum().backward()  # raises

# %% a once-differentiable backward that gives None
from torch.autograd.function import once_differentiable
class First(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y.detach()
    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad * 3, None
x = torch.tensor([4.0], requires_grad=True)
y = torch.tensor([3.0], requires_grad=True)
g = torch.autograd.grad(First.apply(x, y).sum() * x.sum(), [x, y], create_graph=True, allow_unused=True)
g[0].sum().backward()  # raises

# %% ctx.saved_variables
class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_variables[0] * grad
x = torch.tensor([4.0], requires_grad=True)
Old.apply(x).sum().backward()
x.grad

# %% edges that are refused
x = torch.ones(2)
torch.autograd.graph.get_gradient_edge(x)  # raises
y = torch.ones(2, requires_grad=True)
torch.autograd.grad((y * 2).sum(), [3.0])  # raises
torch.autograd.backward([(y * 2).sum()], inputs=[3.0])  # raises
torch.autograd.backward([3.0], [torch.ones(2)])  # raises
torch.autograd.grad(3.0, [y])  # raises
e = torch.autograd.graph.get_gradient_edge(y)
torch.autograd.grad((y * 2).sum(), [y, e], materialize_grads=True)
z = torch.ones(2, requires_grad=True)
torch.autograd.grad((y * 2).sum(), torch.autograd.graph.get_gradient_edge(z), materialize_grads=True)  # raises
torch.autograd.grad((y * 2).sum(), [y], only_inputs=False)
torch.autograd.backward([(y * 2).sum()], inputs=[e])
y.grad

# %% what a hook may not return
class Shorter:
    def __call__(self, grad):
        return grad[:1]
x = torch.ones(2, requires_grad=True)
y = x * 2
h = y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0], gi[0]))
y.sum().backward()  # raises
h.remove()
y = x * 2
y.register_hook(lambda g: g.double())
y.sum().backward()  # raises
y = x * 2
y.register_hook(Shorter())
y.sum().backward()  # raises
y = x * 2
y.grad_fn.register_prehook(lambda go: (go[0], go[0]))
y.sum().backward()  # raises
torch.ones(2).register_post_accumulate_grad_hook(lambda p: None)  # raises
a = x.register_post_accumulate_grad_hook(lambda p: print("first", p.grad))
b = x.register_post_accumulate_grad_hook(lambda p: print("second"))
(x * 3).sum().backward()
torch.autograd.graph.register_multi_grad_hook([x], print, mode="some")  # raises

# %% versions raised by hand
x = torch.ones(2, requires_grad=True)
a = x * 1
y = a * a
torch.autograd.graph.increment_version(a)
a._version
y.sum().backward()  # raises
b, c = torch.ones(2), torch.ones(3)
torch.autograd.graph.increment_version([b, c])
b._version, c._version

# %% saved tensors that may be written to
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    with torch.autograd.graph.allow_mutation_on_saved_tensors():  # raises
        pass
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    a = x * 1
    b = x * 2
    y = a * a + b.exp()
    a.sin_()
    y.sum().backward()
x.grad
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    a = x * 1
    y = a * a
y.sum().backward()  # raises
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    a = x * 1
    y = a * a
    ctx.clear()
    y.sum().backward()  # raises

# %% anomaly mode without a forward pass to show
x = torch.zeros(1, requires_grad=True)
y = x.sqrt() * 0
with torch.autograd.detect_anomaly():
    y.backward()  # raises
torch.is_anomaly_check_nan_enabled()
class Raising(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        raise ValueError("mine")
with torch.autograd.detect_anomaly():
    Raising.apply(x).backward()  # raises

# %% a leaf that stops to require grad, and what cannot be its gradient
x = torch.ones(2, requires_grad=True)
y = x * 2
x.requires_grad_(False)
y.sum().backward()
x.grad
w = torch.ones(2, requires_grad=True)
w.grad = w  # raises
del w.grad
w.grad
w.data = [1.0]  # raises
w.is_set_to(w.detach()), w.is_set_to(w[:1]), w.itemsize, w.is_complex()

# %% dual numbers that are refused
import torch.autograd.forward_ad as fwAD
x = torch.ones(2)
with fwAD.dual_level():
    fwAD.unpack_dual(3.0)  # raises
    d = fwAD.make_dual(x, torch.ones(2))
    d.requires_grad = True
    d.requires_grad
fwAD.enter_dual_level()
fwAD.exit_dual_level()
fwAD.exit_dual_level()  # raises

# %% a Function in forward mode that does not materialize
import torch.autograd.forward_ad as fwAD
class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x + y
    @staticmethod
    def jvp(ctx, tx, ty):
        print(tx, ty)
        return tx
class New(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x + y
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def jvp(ctx, tx, ty):
        print(tx, ty)
        return tx
with fwAD.dual_level():
    d = fwAD.make_dual(torch.ones(2), torch.ones(2))
    fwAD.unpack_dual(Add.apply(d, torch.ones(2)))
    fwAD.unpack_dual(New.apply(d, torch.ones(2)))

# %% a generator in a grad mode: sent to, thrown into, closed
@torch.no_grad()
def numbers():
    try:
        got = yield torch.is_grad_enabled()
        print(got, torch.is_grad_enabled())
        try:
            yield 2
        except ValueError as error:
            print(error, torch.is_grad_enabled())
        yield 3
    finally:
        print("closed", torch.is_grad_enabled())
g = numbers()
next(g), torch.is_grad_enabled()
g.send("sent")
g.throw(ValueError("thrown"))
g.close()

# %% products with a vector that does not fit
import torch.autograd.functional as F
x = torch.ones(2)
F.vhp(lambda x: (x ** 2).sum(), x, (x, x))  # raises
F.vjp(lambda x: (x, x), x, (x, x, x))  # raises

# %% a saved tensor, raw
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.grad_fn._raw_saved_result
type(y.grad_fn._raw_saved_result).__name__

# %% a Function under vmap has a node of its own name
class Twice(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
x = torch.ones(2, requires_grad=True)
y = torch.vmap(lambda x: Twice.apply(x))(x)
y.grad_fn.name(), y.grad_fn.next_functions[0][0].name()
y.sum().backward()
x.grad

# %% hooks on one saved tensor leave the version check on the other
x = torch.ones(2, requires_grad=True)
a, b = x * 2, x * 3
y = a * b
y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
b.add_(1)
y.sum().backward()  # raises
y.grad_fn._saved_self
y.grad_fn._saved_other  # raises
a, b = x * 2, x * 3
y = a ** b
y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t)
y.mul_(1)
y.sum().backward()
x.grad

# %% a result that hooks have packed, written in place
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
    y = x * 1
    y.exp_()
    w = x.exp()
    w.sigmoid_()
    z = x * 1
    z[:1].exp_()
(y + w + z).sum().backward()
x.grad

# %% indices that are made inside a transform
x = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
torch.vmap(lambda x: torch.func.jvp(lambda y: y[y.argsort()], (x,), (x,)))(x)
torch.vmap(lambda x: torch.func.jvp(lambda y: torch.zeros(2).index_put((y.argsort(),), y), (x,), (x,)))(x)
torch.func.jvp(lambda y: torch.vmap(lambda y: y[y.argsort()])(y), (x,), (x,))
torch.vmap(lambda x: torch.func.jvp(lambda y: y[y > 0], (x,), (x,)))(x)  # raises
torch.vmap(lambda x: torch.func.jvp(lambda y: y.nonzero() * y.sum(), (x,), (x,)))(x)  # raises

# %% a dual number is copied without its tangent
import copy
import torch.autograd.forward_ad as fwAD
with fwAD.dual_level():
    d = fwAD.make_dual(torch.ones(2), torch.ones(2))
    fwAD.unpack_dual(copy.deepcopy(d))

# %% a node called by hand, and what one may note on it
x = torch.ones(2, requires_grad=True)
y = x * 2
y.grad_fn(torch.ones(2))
y.grad_fn.metadata["note"] = 1
y.grad_fn.metadata

# %% hooks put on a tensor that was written to
def show(t):
    print(t, t.grad_fn is None, t.requires_grad)
    return t
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad
x = torch.ones(2, requires_grad=True)
a = x * 2
y = Square.apply(a)
z = a * a
a.add_(1)
y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t * 3, show)
y.sum().backward()
x.grad
z.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
z.sum().backward()  # raises
a = x * 2
y = Square.apply(a)
y.grad_fn._raw_saved_tensors[0].register_hooks(show, show)
z = a * 2.5
z.grad_fn._raw_saved_other.register_hooks(show, show)
w = a.exp()
w.grad_fn._raw_saved_result.register_hooks(show, show)
(y + z + w).sum().backward()
x.grad

# %% a saved tensor, raw: its data, what it stands for, its name
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Square.apply(x)
first, none = y.grad_fn._raw_saved_tensors
first.data, first.unpack(), repr(first).split(" at ")[0]
none.register_hooks(lambda t: t, lambda t: t)  # raises
first.register_hooks(lambda t: t.tolist(), torch.tensor)
first.register_hooks(lambda t: t, lambda t: t)  # raises
first.data, first.unpack()
y.sum().backward()
y.grad_fn.saved_tensors  # raises
y.grad_fn._raw_saved_tensors  # raises

# %% what ctx refuses
class Marks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, how):
        how(ctx)
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None
x = torch.ones(2, requires_grad=True)
Marks.apply(x, lambda ctx: ctx.save_for_forward(3))  # raises
Marks.apply(x, lambda ctx: ctx.save_for_backward(3))  # raises
Marks.apply(x, how=lambda ctx: None, more=1)  # raises

# %% post-accumulate hooks that return something
x = torch.ones(2, requires_grad=True)
h = x.register_post_accumulate_grad_hook(lambda p: p)
(x * 2).sum().backward()
x.grad
h.remove()
x.register_post_accumulate_grad_hook(lambda p: p * 2)
(x * 2).sum().backward()  # raises
y = torch.ones(2, requires_grad=True)
y.register_post_accumulate_grad_hook(lambda p: 3)
(y * 2).sum().backward()  # raises
z = y * 2
z.grad_fn.register_hook(lambda gi, go: gi[0])
z.sum().backward()  # raises

# %% saved-tensor hooks where there may be none
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    with torch.autograd.graph.disable_saved_tensors_hooks("not now"):  # raises
        pass
with torch.autograd.graph.disable_saved_tensors_hooks("not now"):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):  # raises
        pass
torch.autograd.graph.register_multi_grad_hook([torch.ones(2), torch.ones(2, requires_grad=True)], print)  # raises

# %% the old name of grad_tensors
x = torch.ones(2, requires_grad=True)
torch.autograd.backward((x * 2), grad_variables=torch.ones(2))
x.grad
torch.autograd.backward((x * 2), torch.ones(2), grad_variables=torch.ones(2))  # raises
torch.autograd.grad(x * 2, x, torch.ones(3, 2), is_grads_batched=True)

# %% a node called with what it does not take
import pickle
x = torch.ones(2, requires_grad=True)
y = x * 2
y.grad_fn(torch.ones(2), torch.ones(2))  # raises
y.grad_fn(3.0)  # raises
y.grad_fn(None)
pickle.dumps(y.grad_fn)  # raises

# %% copies of leaves, and types that cannot require grad
import copy
x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
a, b = copy.deepcopy([x, x])
a is b, a.grad, a.grad is x.grad
x.register_hook(lambda g: g)
c = copy.deepcopy(x)
with torch.inference_mode():
    i = torch.ones(2)
    i.data.is_inference()
x.data = torch.ones(2).long()  # raises
d = torch.ones(2).long()
d.requires_grad = True  # raises
torch.ones(2).is_complex()

# %% a Function that records inside or hands on
class Inside(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        with torch.enable_grad():
            y = w * 2
        return y, x
    @staticmethod
    def backward(ctx, g, h):
        return h, g
x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
a, b = Inside.apply(x, w)
a, b, a.grad_fn is b.grad_fn
(a * 3 + b).sum().backward()
x.grad, w.grad
with torch.no_grad():
    c, d = Inside.apply(x, w)
c, d
