"""Programs with transforms, modes, checkpoints, compilers, nested and sparse tensors: each number that the stepper shows is
the one that the framework's own hooks saw."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

import viz
from tests.hook_oracle import assert_shown, seen_by_hooks
from viz.show.payload import payload

Program = tuple[Any, dict[str, Any]]  # a result and the leaves


def leaf(t: Any, *shape: int) -> Any:
    return (t.arange(float(max(1, int(t.ones(*shape).sum())))).reshape(*shape) / 4 - 0.5).requires_grad_(True)


def small(t: Any) -> Any:
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 1))


def of_module(t: Any, net: Any, loss: Any, **leaves: Any) -> Program:
    return loss, dict(net.named_parameters()) | leaves


def mapped(t: Any) -> Program:
    w, rows = leaf(t, 2), leaf(t, 3, 2)
    out = t.func.vmap(lambda row: (row * w).tanh().sum(), in_dims=1)(rows.t())
    return (out * t.arange(3.0)).sum(), {"w": w, "rows": rows}


def gradients_in_a_map(t: Any) -> Program:
    w, rows = leaf(t, 2), leaf(t, 3, 2)
    made = t.func.vmap(t.func.grad(lambda row: (row * w).sin().sum()))(rows)
    return (made**2).sum(), {"w": w, "rows": rows}


def jacobian(t: Any) -> Program:
    x, w = leaf(t, 3), leaf(t, 3, 3)
    return (t.func.jacrev(lambda v: (w @ v).tanh())(x) ** 2).sum(), {"x": x, "w": w}


def dual(t: Any) -> Program:
    x, w = leaf(t, 3), leaf(t, 3)
    value, tangent = t.func.jvp(lambda v: (v * w).sin(), (x,), (t.ones(3),))
    return (value * tangent).sum(), {"x": x, "w": w}


def checkpointed(t: Any) -> Program:
    checkpoint = importlib.import_module(f"{t.__name__}.utils.checkpoint").checkpoint
    net, x = small(t), leaf(t, 2, 3)
    return of_module(t, net, checkpoint(net, x, use_reentrant=False).sum() + x.mean(), x=x)


def checkpointed_anew(t: Any) -> Program:
    net, x = small(t), leaf(t, 2, 3)
    return of_module(t, net, t.utils.checkpoint.checkpoint(net, x * 2, use_reentrant=True).sum(), x=x)


def packs_what_is_saved(t: Any) -> Program:
    x = leaf(t, 3)
    with t.autograd.graph.saved_tensors_hooks(lambda saved: saved * 2, lambda packed: packed / 2):
        loss = (x * x).sin().sum()
    return loss, {"x": x}


def kept_elsewhere(t: Any) -> Program:
    net, x = small(t), leaf(t, 2, 3)
    with t.autograd.graph.save_on_cpu():
        loss = net(x).sum()
    return of_module(t, net, loss, x=x)


def two_outputs(t: Any) -> Program:
    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b, a + b

        @staticmethod
        def backward(ctx, g, h):
            return g.mul_(ctx.saved_tensors[1]) + h, None

    a, b = leaf(t, 2), leaf(t, 2)
    product, total = Two.apply(a, b)
    return (product * 3).sum() + total.sum(), {"a": a, "b": b}


def operators_of_a_parameter(t: Any) -> Program:
    p, x = t.nn.Parameter(t.ones(2)), leaf(t, 2)
    return ((x - p) / (p + 2) * (x * p) ** 2).sum(), {"p": p, "x": x}


def unused_output(t: Any) -> Program:
    x = leaf(t, 3, 2)
    first, _, third = x.sin().unbind(0)
    return (first * third).sum(), {"x": x}


def not_finite(t: Any) -> Program:
    x, none = t.tensor([0.0, -1.0, float("inf")], requires_grad=True), t.zeros(0, requires_grad=True)
    return (x.log() * x).sum() + x.sqrt().sum() * (x - x * 3).mean() + (none * 2).mean(), {
        "x": x,
        "none": none,
    }


def second_order(t: Any) -> Program:
    x = leaf(t, 3)
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    return (g * g).sum(), {"x": x}


def hooked(t: Any) -> Program:
    def double(p: Any) -> None:
        p.grad.mul_(2)

    net, x = small(t), leaf(t, 2, 3)
    for p in net.parameters():
        p.register_post_accumulate_grad_hook(double)
    net[1].register_forward_hook(lambda module, given, made: made * 2)
    net[0].register_full_backward_hook(lambda module, sent, received: tuple(3 * g for g in sent))
    net[2].register_full_backward_pre_hook(lambda module, received: tuple(2 * g for g in received))
    y = net(x)
    y.register_hook(lambda g: g + 1)
    y.grad_fn.register_prehook(lambda received: tuple(3 * g for g in received))
    y.grad_fn.register_hook(lambda sent, received: tuple(None if g is None else 2 * g for g in sent))
    return of_module(t, net, y.sum(), x=x)


def written_into(t: Any) -> Program:
    x, y = leaf(t, 3, 2), leaf(t, 2)
    h = x * 2
    h[1] = y.sin()
    h[:, 0].mul_(3)
    h[2].add_(y)
    return (h**2).sum(), {"x": x, "y": y}


def as_many_modules(t: Any) -> Program:
    stacked, _ = t.func.stack_module_state([small(t), small(t)])
    net = small(t)
    made = t.func.vmap(lambda p: t.func.functional_call(net, p, (t.ones(2, 3),)))(stacked)
    return (made**2).sum(), stacked


def parametrized(t: Any) -> Program:
    t.manual_seed(0)
    kinds = (t.nn.utils.parametrizations.weight_norm, t.nn.utils.parametrizations.spectral_norm)
    net = t.nn.Sequential(*(kind(t.nn.Linear(3, 3)) for kind in kinds))
    return of_module(t, net, (net(t.ones(2, 3)) ** 2).sum())


def packed(t: Any) -> Program:
    t.manual_seed(0)
    rnn, x = t.nn.LSTM(3, 2, bidirectional=True, batch_first=True), leaf(t, 2, 4, 3)
    pack = t.nn.utils.rnn.pack_padded_sequence(x, t.tensor([4, 2]), batch_first=True)
    out, (h, _) = rnn(pack)
    padded, _ = t.nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
    return of_module(t, rnn, padded.sum() + (h * h).sum(), x=x)


def jagged(t: Any) -> Program:
    t.manual_seed(0)
    rows = t.nested.nested_tensor([t.ones(2, 3), t.ones(4, 3)], layout=t.jagged, requires_grad=True)
    layer = t.nn.Linear(3, 2)
    return of_module(t, layer, (layer(rows * 2).values() ** 2).sum(), rows=rows)


def attention_on_jagged(t: Any) -> Program:
    t.manual_seed(0)
    rows = t.nested.nested_tensor([t.rand(2, 8), t.rand(3, 8)], layout=t.jagged, requires_grad=True)
    heads = (rows * 2).unflatten(-1, [2, 4]).transpose(1, 2)
    made = t.nn.functional.scaled_dot_product_attention(heads, heads, heads)
    return made.transpose(1, 2).flatten(-2).values().sum(), {"rows": rows}


def strided(t: Any) -> Program:
    rows = t.nested.nested_tensor([t.ones(2, 3), t.ones(4, 3)], requires_grad=True)
    return ((rows * rows).to_padded_tensor(0.0) ** 2).sum(), {"rows": rows}


def sparse(t: Any) -> Program:
    t.manual_seed(0)
    w, words = leaf(t, 3, 2), t.nn.Embedding(4, 2, sparse=True)
    made = t.sparse.mm(t.eye(3).to_sparse(), w) * 3
    return made.sum() * words(t.tensor([1, 2, 1])).tanh().sum(), {"w": w, "words": words.weight}


def autocast(t: Any) -> Program:
    net, x = small(t), leaf(t, 2, 3)
    with t.autocast("cpu", t.bfloat16):
        loss = net(x).sum()
    return of_module(t, net, loss, x=x)


def complex_numbers(t: Any) -> Program:
    z = t.tensor([1 + 2j, -0.5j], requires_grad=True)
    return ((z * (2 - 1j)).exp() * z.conj()).abs().sum(), {"z": z}


def compiled(t: Any) -> Program:
    x, w = leaf(t, 3), leaf(t, 3)
    made = t.compile(lambda x, w: (x * w).sin() + w, backend="aot_eager")(x, w * 2)
    return (made**2).sum(), {"x": x, "w": w}


def compiled_module(t: Any) -> Program:
    net, x = small(t), leaf(t, 2, 3)
    return of_module(t, net, t.compile(net, backend="aot_eager")(x * 2).tanh().sum(), x=x)


def checkpointed_in_parts(t: Any) -> Program:
    net, x = small(t), leaf(t, 2, 3)
    made = t.utils.checkpoint.checkpoint(net, x * 1, use_reentrant=False)
    return of_module(t, net, made.sum(), x=x)


def mapped_function(t: Any) -> Program:
    class Square(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    x = leaf(t, 3, 2)
    return t.func.vmap(Square.apply)(x).sum(), {"x": x}


def scripted(t: Any) -> Program:
    x = leaf(t, 3)
    return t.jit.trace(lambda x: (x * 2).sin(), (t.ones(3),))(x).sum(), {"x": x}


def dispatched(t: Any) -> Program:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = leaf(t, 3)
    with Mode():
        y = x * 2
        z = (y.sin() + x).sum()
    return z, {"x": x}


def subclass(t: Any) -> Program:
    class Mine(t.Tensor):
        pass

    x = leaf(t, 3)
    return (x.as_subclass(Mine) * 2).tanh().sum(), {"x": x}


BOTH = "mapped gradients_in_a_map jacobian dual checkpointed packs_what_is_saved kept_elsewhere two_outputs unused_output "
BOTH += "not_finite operators_of_a_parameter second_order hooked written_into as_many_modules"
TORCH = "checkpointed_anew parametrized packed jagged strided sparse autocast complex_numbers compiled scripted dispatched "
TORCH += "subclass attention_on_jagged compiled_module checkpointed_in_parts mapped_function"
PROGRAMS = [(name, "minigrad") for name in BOTH.split()] + [
    (name, "torch") for name in f"{BOTH} {TORCH}".split()
]


@pytest.mark.filterwarnings(
    "error", "ignore::UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
@pytest.mark.parametrize(("name", "framework"), PROGRAMS)
def test_each_number_is_what_the_hooks_saw(request, name, framework, recorded):
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module("minigrad")
    program: Callable[[Any], Program] = globals()[name]
    true = seen_by_hooks(*program(t))
    if recorded:
        with viz.record():
            result, leaves = program(t)
    else:
        result, leaves = program(t)
    data = payload(result, names=leaves)
    assert_shown(data, true)
