"""Options and edge cases of the transforms, as in PyTorch: has_aux, out_dims, chunk_size, randomness, empty inputs."""

from __future__ import annotations

from types import ModuleType

import pytest

import minigrad

START = """
func = torch.func
x, y, n = torch.tensor([1.0, 2.0]), torch.tensor(3.0), torch.arange(6.0).view(2, 3)
aux = lambda x: (x.sin().sum(), {"doubled": x * 2, "label": [x.cos()]})
both = lambda x: ((x * x, x.sum()), x.exp())
torch.manual_seed(3)
"""
# Each gives the same result under both, or an error of the same type with the same first line.
ALIKE = """
func.grad(aux, has_aux=True)(x)
func.grad_and_value(aux, has_aux=True)(x)
func.grad(lambda x, y: (x.sum() * y, (x, y)), argnums=(0, 1), has_aux=True)(x, y)
[f(x) if callable(f) else f for f in func.vjp(lambda x: (x * x, x.exp()), x, has_aux=True)]
func.vjp(both, x, has_aux=True)[1]((x, y))
func.jvp(both, (x,), (x + 1,), has_aux=True)
func.jacrev(both, has_aux=True)(x)
func.jacfwd(both, has_aux=True)(x)
func.grad(lambda x: func.grad(aux, has_aux=True)(x)[1]["doubled"].sum())(x)
func.grad(lambda x: func.jacfwd(both, has_aux=True)(x)[1].sum())(x)
func.vmap(func.grad(aux, has_aux=True))(n)
func.vmap(lambda a, b: (a * b, a + b), out_dims=(1, 0))(n, n)
func.vmap(lambda a: a.view(3, 1) * a, out_dims=-1)(n)
func.vmap(lambda a: {"p": a * 2, "q": (a.sum(), a)}, out_dims={"p": 1, "q": 0})(n)
func.vmap(lambda a: (a, y), out_dims=(0, None))(n)
func.vmap(lambda a: (a, 7), out_dims=(0, None))(n)
func.vmap(lambda d, a: d["w"] * a + d["b"], in_dims=({"w": 0, "b": None}, 1))({"w": x, "b": y}, n.t())
func.vmap(lambda p, a: p[0] * a, in_dims=((0, None), None))((x, y), y)
func.vmap(lambda a: a * 2, chunk_size=1)(n)
func.vmap(lambda a: (a.sum(), a), out_dims=(0, 1), chunk_size=2)(torch.arange(15.0).view(5, 3))
func.vmap(func.vmap(lambda a, b: a * b, in_dims=(0, None), chunk_size=2), in_dims=(1, 0))(n, torch.arange(3.0))
func.jacrev(lambda x: x ** 3, chunk_size=1)(x)
func.vmap(lambda a: a + torch.randn(2), randomness="same")(torch.zeros(3, 2))
func.vmap(lambda a: a + torch.randn(2), randomness="different")(torch.zeros(3, 2))
func.vmap(lambda a: a + torch.rand(()), randomness="different")(torch.zeros(3))
func.vmap(lambda a: torch.randint(0, 9, (2,)), randomness="different")(torch.zeros(3))
func.vmap(lambda a: func.vmap(lambda b: b + torch.randn(()), randomness="different")(a), randomness="same")(torch.zeros(2, 3))
func.vmap(lambda a: func.vmap(lambda b: b + torch.randn(()), randomness="same")(a), randomness="different")(torch.zeros(2, 3))
func.vmap(func.vmap(lambda b: b + torch.randn(2), randomness="different"), randomness="different")(torch.zeros(2, 3, 1))
func.vmap(lambda a: a + torch.randn(2))(torch.zeros(3, 2))
func.vmap(lambda a: a, randomness="maybe")(x)
func.vmap(lambda a: a, chunk_size=0)(x)
func.jacrev(lambda a: a, chunk_size=0)(x)
func.vmap(lambda a: a, out_dims=(0, 0))(x)[0]
func.vmap(lambda a: a, out_dims=None)(x)
func.vmap(lambda: x)()
func.vmap(lambda a: a, in_dims=None)(x)
func.vmap(lambda a, b: a)(x, n.t())
func.vmap(lambda a: 3.0)(x)
func.grad(lambda x: x.sum(), has_aux=True)(x)
func.vjp(lambda x: x, x, has_aux=True)
func.jvp(lambda x: x, (x,), (x,), has_aux=True)
func.jacrev(lambda x: x * x, argnums=())(x)
func.jacfwd(lambda x: x * x, argnums=())(x)
func.hessian(lambda x: x.sum(), argnums=())(x)
func.grad(lambda x: x.sum(), argnums=())(x)
func.grad(lambda x: x.sum(), argnums="x")(x)
func.grad(lambda x: x.sum(), argnums=(0, 0))(x)
func.grad(lambda x: x.sum(), argnums=2)(x)
func.jacrev(lambda x: ())(x)
func.jacfwd(lambda x: ())(x)
func.vjp(lambda x: (), x)
func.jvp(lambda x: (), (x,), (x,))
func.jacrev(lambda x: None)(x)
func.jvp(lambda: x, (), ())
func.jacrev(lambda x: x.argmax())(x)
func.jacfwd(lambda x: x.argmax())(x)
func.hessian(lambda x: (x * x).sum())(torch.zeros(0))
func.jacrev(lambda x: x * x)(torch.zeros(0, 2))
func.jacfwd(lambda x: x * x)(torch.zeros(2, 0))
func.jacrev(lambda x: x[:0])(x)
func.jacfwd(lambda x: x[:0])(x)
func.grad(lambda x: torch.tensor(1.0))(x)
func.jacrev(lambda x: torch.tensor(1.0))(x)
func.vmap(lambda t: func.jvp(lambda a: a * a, (t,), (t,)))(x)
"""
ALIKE = [line for line in ALIKE.strip().splitlines() if line]


def plain(value: object) -> object:
    """Tensors as nested lists, functions left out."""
    if hasattr(value, "tolist"):
        return "tensor", tuple(value.shape), value.detach().tolist(), value.requires_grad
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return "function" if callable(value) else value


def outcome(engine: ModuleType, line: str, more: str = "") -> object:
    space = {"torch": engine}
    exec(START + more, space)
    try:
        return plain(eval(line, space))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}".replace("minigrad.", "torch.")


def nearly(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-5, abs=1e-6)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(nearly(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(nearly, a, b))
    return a == b


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", ALIKE)
def test_it_goes_as_in_pytorch(torch, line: str) -> None:
    expected, got = outcome(torch, line), outcome(minigrad, line)
    if isinstance(expected, str) and "structure" in expected:  # how trees are written is each library's own
        expected, got = (str(text).partition(" has structure")[0] for text in (expected, got))
    assert nearly(expected, got), f"PyTorch  {expected}\nminigrad {got}"


def test_dropout_under_vmap_draws_for_each_example_or_for_all() -> None:
    drop = minigrad.nn.functional.dropout
    for randomness, kinds in (("same", 1), ("different", 8)):
        rows = minigrad.func.vmap(drop, randomness=randomness)(minigrad.ones(8, 64))
        assert len({tuple(row.tolist()) for row in rows}) == kinds


def test_jacobians_of_nothing_are_empty() -> None:
    functional = minigrad.autograd.functional
    assert functional.hessian(lambda x: x.sum(), minigrad.zeros(0)).shape == (0, 0)
    assert functional.jacobian(lambda x: x[:0], minigrad.ones(2)).shape == (0, 2)


# ---------------------------------------------------------------- custom Functions

FUNCTIONS = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x ** 3
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2
    @staticmethod
    def vmap(info, in_dims, x):
        return Cube.apply(x.movedim(in_dims[0], -1)), x.dim() - 1
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def vjp(ctx, g):
        return g * 5
class Both(Doubled):
    @staticmethod
    def backward(ctx, g):
        return g
class Plain(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 1
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
w = torch.tensor([1.0, 2.0], requires_grad=True)
"""
WITH_FUNCTIONS = """
func.vmap(Cube.apply)(n)
func.vmap(Cube.apply, in_dims=1)(n)
func.vmap(func.grad(Cube.apply))(x)
func.grad(lambda t: func.vmap(Cube.apply)(t).sum())(x)
func.vmap(func.vmap(Cube.apply))(n)
func.jacrev(Cube.apply)(x)
func.vmap(lambda t: Cube.apply(y) * t)(x)
torch.autograd.grad(Doubled.apply(w).sum(), w)
torch.autograd.grad(Both.apply(w).sum(), w)
func.vmap(Plain.apply)(x)
func.vmap(Doubled.apply)(x)
torch.autograd.grad(Plain.apply(w).sum(), w)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", WITH_FUNCTIONS.strip().splitlines())
def test_functions_go_as_in_pytorch(torch, line: str) -> None:
    expected, got = outcome(torch, line, FUNCTIONS), outcome(minigrad, line, FUNCTIONS)
    assert nearly(expected, got), f"PyTorch  {expected}\nminigrad {got}"


# ---------------------------------------------------------------- gradcheck


def wrong(tangent: bool) -> type[minigrad.autograd.Function]:
    """A Function of which either the gradient or the tangent is wrong."""

    class Square(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * (2 if tangent else 3) * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, t):
            return t * (3 if tangent else 2) * ctx.saved_tensors[0]

    return Square


def test_gradcheck_finds_what_is_wrong_in_either_mode() -> None:
    x = minigrad.tensor([[1.0, 2.0, -0.5]], dtype=minigrad.float64, requires_grad=True)
    check = minigrad.autograd.gradcheck
    assert check(lambda t: (t.sin() * t, t.sum(1)), x, check_forward_ad=True)
    assert check(wrong(tangent=True).apply, x)
    assert check(wrong(tangent=False).apply, x, check_forward_ad=True, check_backward_ad=False)
    with pytest.raises(
        RuntimeError, match="computed with forward mode mismatch for output 0 with respect to input 0"
    ):
        check(wrong(tangent=True).apply, x, check_forward_ad=True)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        check(wrong(tangent=False).apply, x, check_forward_ad=True)
    with pytest.raises(AssertionError, match="at least one of"):
        check(lambda t: t * 2, x, check_backward_ad=False)
