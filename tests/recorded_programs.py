"""Programs for a recording to observe: they must do the same with viz.record() around them as without."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
from typing import Any

import viz


def class_and_instance(t: Any) -> Any:
    class Net(t.nn.Module):
        def __init__(self):
            half = self  # a name for an object whose __init__ has not run yet
            super().__init__()
            self.inner = t.nn.Linear(2, 1)
            assert half is self

        def forward(self, x):
            return self.inner(x).sum()

    t.manual_seed(0)
    net = Net()
    loss = net(t.ones(1, 2))
    loss.backward()
    return loss, net.inner.weight.grad


def raises_in_a_module(t: Any) -> Any:
    class Net(t.nn.Module):
        def forward(self, x):
            y = x * 2
            raise KeyError(f"not here {float(y)}")

    return Net()(t.tensor(3.0, requires_grad=True))


def raises_in_a_property(t: Any) -> Any:
    class Odd:
        def __getattr__(self, name):
            raise ValueError(f"no {name} today")

        @property
        def __dict__(self):
            raise ValueError("closed")

    odd = Odd()
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    assert odd is not None
    return y


def raises(t: Any) -> Any:
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x @ t.ones(3)
    return y


def func_grad(t: Any) -> Any:
    f = __import__(f"{t.__name__}.func", fromlist=["grad"])

    def cube(x):
        y = x * x
        return (y * x).sum()

    x = t.tensor([1.0, 2.0])
    return f.grad(cube)(x), f.jacrev(lambda x: x * x)(x), f.hessian(cube)(x)


def func_jvp(t: Any) -> Any:
    f = __import__(f"{t.__name__}.func", fromlist=["jvp"])
    x = t.tensor([1.0, 2.0])
    return f.jvp(lambda x: (x * x).sin(), (x,), (x,)), f.vmap(lambda row: row * row.sum())(t.ones(3, 2))


def func_in_a_graph(t: Any) -> Any:
    f = __import__(f"{t.__name__}.func", fromlist=["vmap"])
    w = t.tensor([1.0, 2.0], requires_grad=True)
    rows = t.ones(3, 2)
    out = f.vmap(lambda row: (row * w).tanh().sum())(rows)
    return out.sum()


def threads(t: Any) -> Any:
    found: dict = {}

    def work(k):
        x = t.tensor(float(k), requires_grad=True)
        y = (x * x).sin()
        y.backward()
        found[k] = x.grad

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    for worker in workers:
        worker.join()
    return y, [found[k] for k in range(4)]


def recordings_in_threads(t: Any) -> Any:
    """Two blocks in two threads, of which the one that began first ends first."""
    begun, other, ended = (threading.Event() for _ in range(3))
    found = []

    def first():
        with viz.record():
            x = t.tensor(2.0, requires_grad=True)
            found.append(x * x)
            begun.set()
            other.wait(60)

    def second():
        begun.wait(60)
        with viz.record():
            x = t.tensor(3.0, requires_grad=True)
            y = x * x
            other.set()
            ended.wait(60)
            found.append(y.sin())

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    threads[0].join()
    ended.set()
    threads[1].join()
    return found


def func_vjp(t: Any) -> Any:
    x, f = t.tensor([1.0, 2.0]), t.func
    out, back = f.vjp(lambda x: (x * x).sin(), x)
    rows = f.vmap(f.grad(lambda row: (row * row).sum()))(t.ones(3, 2))
    return out, back(t.ones(2))[0], rows, f.jacfwd(lambda x: x.sin() * x)(x)


def func_of_a_module(t: Any) -> Any:
    t.manual_seed(0)
    net = t.nn.Linear(2, 2)

    def loss(parameters):
        y = t.func.functional_call(net, parameters, (t.ones(1, 2),))
        return (y * y).sum()

    return [
        g for _, g in sorted(t.func.grad(loss)({k: v.detach() for k, v in net.named_parameters()}).items())
    ]


def refuses_to_be_read(t: Any) -> Any:
    class Shy(t.nn.Module):
        def named_modules(self, *args, **kwargs):
            raise RuntimeError("no modules today")

        def forward(self, x):
            return x * 2

    return Shy()(t.ones(2, requires_grad=True)).sum()


def generator(t: Any) -> Any:
    x = t.tensor(2.0, requires_grad=True)

    def powers():
        y = x
        while True:
            y = y * x
            yield y

    return sum(y for y, _ in zip(powers(), range(3), strict=False))


def scripted(t: Any) -> Any:
    def f(x):
        y = x * 2
        return y.sin()

    x = t.ones(2, requires_grad=True)
    return t.jit.trace(f, (t.ones(2),))(x).sum()


def compiled(t: Any) -> Any:
    def f(x):
        y = x * 2
        return y.sin().sum()

    x = t.ones(2, requires_grad=True)
    loss = t.compile(f, backend="eager", fullgraph=True)(x)
    loss.backward()
    return loss, x.grad


def compiled_module(t: Any) -> Any:
    t.manual_seed(0)
    net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Tanh())
    fast = t.compile(net, backend="eager", fullgraph=True)
    loss = fast(t.ones(1, 2)).sum()
    loss.backward()
    return loss, net[0].weight.grad


def copied(t: Any) -> Any:
    t.manual_seed(0)
    net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Tanh())
    twin = copy.deepcopy(net)
    third = pickle.loads(pickle.dumps(net))
    return twin(t.ones(1, 2)).sum() + third(t.ones(1, 2)).sum()


def exported(t: Any) -> Any:
    class Net(t.nn.Module):
        def forward(self, x):
            y = x * 2
            return y.sin()

    x = t.ones(2)
    net = Net()
    return t.export.export(net, (x,)).module()(x), t.fx.symbolic_trace(net)(x)


def traced_by_fx(t: Any) -> Any:
    """A tracer must record what the program does, and no operation of viz."""
    from torch.fx.experimental.proxy_tensor import make_fx

    made = make_fx(lambda x: (x * 2).sin())(t.ones(2))
    return made(t.ones(2)), made.code


def scripted_module(t: Any) -> Any:
    t.manual_seed(0)
    return t.jit.trace(t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Tanh()), t.ones(1, 2))(t.ones(1, 2)).sum()


def compiled_backward(t: Any) -> Any:
    x = t.ones(2, requires_grad=True)
    loss = t.compile(lambda x: (x * 2).sin().sum(), backend="aot_eager")(x)
    loss.backward()
    return loss, x.grad


def dispatched(t: Any) -> Any:
    """A mode that sees every operation must see only the program's own."""
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        x = t.ones(2)
        y = x * 2
        z = y.sin() + x
    return z, seen


def counted(t: Any) -> Any:
    """The same with a second mode that sees every function, during a forward and a backward pass."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    class Operations(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    t.manual_seed(0)
    net = t.nn.Linear(2, 1)
    with Functions(), Operations():
        loss = net(t.ones(1, 2)).tanh().sum()
        (grad,) = t.autograd.grad(loss, net.weight)
    return loss, grad, seen


def nested(t: Any) -> Any:
    rows = t.nested.nested_tensor([t.ones(2), t.ones(3)], requires_grad=True)
    y = rows * 2
    return [row.detach() for row in y.unbind()]


def opaque(t: Any) -> Any:
    class Opaque(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if getattr(func, "__name__", "") in ("data_ptr", "detach", "numpy"):
                raise ValueError("opaque")
            return super().__torch_function__(func, types, args, kwargs or {})

    x = t.ones(2).as_subclass(Opaque)
    y = x * 2
    return type(y).__name__


def meta(t: Any) -> Any:
    x = t.ones(2, 3, device="meta", requires_grad=True)
    y = x * 2
    z = (y @ y.t()).sum()
    return tuple(z.shape), tuple(y.shape)


def sparse(t: Any) -> Any:
    s = t.eye(3).to_sparse()
    w = t.ones(3, 2, requires_grad=True)
    y = t.sparse.mm(s, w)
    z = (s * 2).to_dense().sum() + y.sum()
    e = t.nn.Embedding(4, 2, sparse=True)
    with t.no_grad():
        e.weight.fill_(0.5)
    loss = e(t.tensor([1, 2])).sum() * z
    loss.backward()
    return loss, w.grad, e.weight.grad.to_dense()


def sparse_leaf(t: Any) -> Any:
    s = t.eye(3).to_sparse().requires_grad_(True)
    y = t.sparse.sum(s * 2)
    return y.to_dense() if y.is_sparse else y


def fake(t: Any) -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = t.ones(2, 2, requires_grad=True)
        y = x * 2
        z = y.sum()
    return tuple(y.shape), tuple(z.shape)


def half_and_complex(t: Any) -> Any:
    x = t.ones(2, dtype=t.float16, requires_grad=True)
    b = t.ones(2, dtype=t.bfloat16, requires_grad=True)
    c = t.ones(2, dtype=t.complex64, requires_grad=True)
    y = (x * 2).sum()
    z = (b * 3).sum()
    q = (c * (1 + 2j)).abs().sum()
    q.backward()
    return y, z, q, c.grad


def subclass(t: Any) -> Any:
    class Mine(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    x = t.ones(2).as_subclass(Mine).requires_grad_(True)
    y = (x * 2).sum()
    return y.detach().as_subclass(t.Tensor), type(x * 2).__name__


def made_of_elements(t: Any) -> Any:
    x = t.ones(2, 2)
    return t.tensor([x[0, 0], x[0, 1]])


def operands_of_subclasses(t: Any) -> Any:
    """Python asks a subclass first if it overrides the reflected method: a Parameter on the right must stay on the right."""
    p = t.nn.Parameter(t.tensor([1.0, 2.0]))
    x = t.ones(2, requires_grad=True) * 2
    made = [x * p, x - p, x / p, x**p, x @ p, p - x]
    return made, [(y.grad_fn.name(), [fn.name() for fn, _ in y.grad_fn.next_functions]) for y in made]


def checkpointed(t: Any) -> Any:
    from torch.utils.checkpoint import checkpoint

    x = t.ones(2, requires_grad=True)
    y = checkpoint(lambda x: (x * 2).sin(), x, use_reentrant=False).sum()
    y.backward()
    return y, x.grad


def under_modes(t: Any) -> Any:
    with t.inference_mode() if hasattr(t, "inference_mode") else contextlib.nullcontext():
        a = t.ones(2) * 2
    with t.no_grad():
        b = t.ones(2) * 3
    x = t.ones(2, requires_grad=True)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s * 1, lambda s: s):
        y = (x * x).sum()
    y.backward()
    return a, b, y, x.grad


def grads(t: Any, module: Any, loss: Any, *more: Any) -> Any:
    loss.backward()
    return loss, *(p.grad for p in module.parameters()), *(x.grad for x in more)


def small(t: Any) -> Any:
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 1))


def composed(t: Any) -> Any:
    """Nested transforms, also of a module and inside a larger graph; and several modules stacked into one."""
    net, func = small(t), t.func
    jacobian = func.jacrev(lambda p: func.functional_call(net, p, (t.ones(2, 3),)).sum())(
        dict(net.named_parameters())
    )
    several = [small(t), small(t)]
    stacked, _ = func.stack_module_state(several)
    made = func.vmap(lambda p: func.functional_call(net, p, (t.ones(2, 3),)))(stacked).sum()
    (made + func.vmap(func.grad(lambda x: (x.sin() * x).sum()))(t.ones(2, 3)).sum()).backward()
    return grads(t, net, sum((j**2).sum() for j in jacobian.values())), *(p.grad for p in stacked.values())


def parametrized(t: Any) -> Any:
    t.manual_seed(0)
    kinds = (t.nn.utils.parametrizations.weight_norm, t.nn.utils.parametrizations.spectral_norm)
    net = t.nn.Sequential(
        *(kind(t.nn.Linear(3, 3)) for kind in (*kinds, t.nn.utils.parametrizations.orthogonal))
    )
    return grads(t, net, (net(t.ones(2, 3)) ** 2).sum())


def two_outputs(t: Any) -> Any:
    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b, a + b

        @staticmethod
        def backward(ctx, g, h):
            a, b = ctx.saved_tensors
            return g * b + h, g * a + h

    a, b = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    product, total = Two.apply(a, b)
    total.sum().backward()  # the other output is not used
    return product, total, a.grad, b.grad


def packed(t: Any) -> Any:
    t.manual_seed(0)
    rnn, x = t.nn.LSTM(3, 2, bidirectional=True, batch_first=True), t.ones(2, 4, 3, requires_grad=True)
    pack = t.nn.utils.rnn.pack_padded_sequence(x, t.tensor([4, 2]), batch_first=True)
    out, (h, _) = rnn(pack)
    return grads(t, rnn, t.nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0].sum() + h.sum(), x)


def jagged(t: Any) -> Any:
    t.manual_seed(0)
    rows = t.nested.nested_tensor([t.ones(2, 3), t.ones(4, 3)], layout=t.jagged, requires_grad=True)
    layer = t.nn.Linear(3, 2)
    return grads(t, layer, (layer(rows).values() ** 2).sum()), rows.grad.values()


def autocast(t: Any) -> Any:
    net = small(t)
    with t.autocast("cpu", t.bfloat16):
        loss = net(t.ones(2, 3)).sum()
    return grads(t, net, loss)


def reentrant(t: Any) -> Any:
    from torch.utils.checkpoint import checkpoint

    net, x = small(t), t.ones(2, 3, requires_grad=True)
    return grads(t, net, checkpoint(net, x, use_reentrant=True).sum(), x)


def hooked(t: Any) -> Any:
    net, seen = small(t), []
    for p in net.parameters():
        p.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    net[1].register_forward_hook(lambda module, given, made: made * 2)
    net[0].register_full_backward_hook(lambda module, sent, received: seen.append(received[0]))
    return grads(t, net, net(t.ones(2, 3)).sum()), seen


BOTH = """class_and_instance raises_in_a_module raises_in_a_property raises func_grad func_jvp func_in_a_graph threads generator
    under_modes copied recordings_in_threads func_vjp func_of_a_module refuses_to_be_read operands_of_subclasses
    made_of_elements"""
TORCH = """scripted compiled compiled_module exported meta sparse sparse_leaf fake half_and_complex subclass checkpointed
    traced_by_fx scripted_module compiled_backward dispatched counted nested opaque composed parametrized two_outputs packed
    jagged autocast reentrant hooked"""
PROGRAMS = {name: globals()[name] for name in f"{BOTH} {TORCH}".split()}
