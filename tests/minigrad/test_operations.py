"""Properties of every operation in operations.py: value, derivatives of both kinds and orders, batches, writes, dtypes.

Without PyTorch derivatives are compared with finite differences, the rest with each other, and values with what PyTorch
gave when `python -m tests.minigrad.record` was run. With PyTorch all of it is compared live, and at unusual numbers, too.
"""

from __future__ import annotations

import ast
import itertools
import re
import warnings
import zlib
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

import minigrad
from minigrad import func
from tests.minigrad import oracle
from tests.minigrad.differences import OTHERWISE, WITH_AVX512
from tests.minigrad.operations import CONSTANTS, OPERATIONS, Operation
from tests.minigrad.oracle import Program
from tests.minigrad.record import digest, recorded
from tests.minigrad.samples import roughly

# Operations whose finite differences do not test backward: they see through detach(), or lose digits in single precision.
NO_DIFFERENCES = re.compile(r"\(0, 3\)|detach\(\)|float\(\)|float32|padding_idx|argsort|argmax")
# Operations that draw random numbers, and those computed in single precision whatever the input.
ROUGH = re.compile(r"dropout|bernoulli|float32")
# Results whose shape depends on the values of the input, and results that are Python values.
DYNAMIC = re.compile(
    r"x\[x >|x\[x\[|masked_select|nonzero|unique|bincount|list\(x\)|allclose|equal\(|\.item\(|tolist"
)


def each(operations: list[Operation], unlike: re.Pattern | None = None) -> pytest.MarkDecorator:
    chosen = [op for op in operations if unlike is None or not unlike.search(op.name)]
    return pytest.mark.parametrize("op", chosen, ids=[op.name for op in chosen])


def flat(result: object) -> list:
    """The tensors of a result, whatever holds them."""
    if hasattr(result, "requires_grad"):
        return [result]
    return [t for part in result for t in flat(part)] if isinstance(result, (tuple, list)) else []


def tensors(torch: ModuleType, arrays: dict[str, np.ndarray], grad: bool = True) -> dict[str, object]:
    return {n: torch.tensor(a, requires_grad=grad and a.dtype.kind == "f") for n, a in arrays.items()}


def weighted(torch: ModuleType, result: object) -> object | None:
    """The sum of all differentiable outputs, each element with its own weight; None if there are none."""
    total = None
    for out in flat(result):
        if out.requires_grad:
            weights = torch.tensor(
                np.cos(np.arange(out.numel()) + 1.0).reshape(tuple(out.shape)), dtype=out.dtype
            )
            part = (out * weights).sum()
            total = part if total is None else total + part
    return total


@pytest.fixture(autouse=True)
def quiet():
    """Batches that run in a loop and empty reductions warn; that is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ---------------------------------------------------------------- without PyTorch


@each(OPERATIONS + CONSTANTS)
def test_the_value_is_what_pytorch_gave(op):
    expected, got = recorded("operations")[op.name], digest(minigrad, op)
    assert expected[:-1] == got[:-1]
    rtol = 1e-5 if "float32" in str(expected[1]) else 1e-9
    assert oracle.close(expected[-1], got[-1], rtol), f"expected {expected}, got {got}"


class Slopes:
    """The weighted sum of an operation's outputs as a function of its inputs, and its derivatives along directions."""

    def __init__(self, op: Operation, trial: int):
        self.op, self.arrays = op, op.inputs(trial)
        rng = np.random.default_rng([zlib.crc32(op.expression.encode()), 100 + trial])
        self.along, self.then = (
            {n: rng.standard_normal(a.shape) for n, a in self.arrays.items()} for _ in range(2)
        )

    def at(self, step: float = 0.0, along: dict[str, np.ndarray] | None = None) -> tuple[object, list]:
        moved = {n: a + step * along[n] if along else a for n, a in self.arrays.items()}
        inputs = tensors(minigrad, moved)
        return weighted(minigrad, self.op.on(minigrad, inputs)), list(inputs.values())

    def slope(self, total: object, inputs: list, along: dict, create_graph: bool = False) -> object:
        """The derivative of `total` along a direction, by a backward pass."""
        if total is None or not total.requires_grad:
            return minigrad.tensor(0.0)
        grads = minigrad.autograd.grad(total, inputs, create_graph=create_graph, allow_unused=True)
        pairs = zip(grads, along.values(), strict=True)
        return sum(((g * minigrad.tensor(d)).sum() for g, d in pairs if g is not None), minigrad.tensor(0.0))

    @staticmethod
    def difference(f: Callable, step: float = 1e-6) -> float:
        ahead, behind = (f(by) for by in (step, -step))
        return 0.0 if ahead is None else (ahead.item() - behind.item()) / (2 * step)


def near(measured: float, computed: float) -> bool:
    return measured == pytest.approx(computed, rel=2e-5, abs=2e-6, nan_ok=True)


@each(OPERATIONS, unlike=NO_DIFFERENCES)
def test_first_and_second_derivatives_are_those_of_finite_differences(op):
    f = Slopes(op, 1)
    total, inputs = f.at()
    slope = f.slope(total, inputs, f.along, create_graph=True)
    assert near(f.difference(lambda by: f.at(by, f.along)[0]), slope.item())
    again = f.slope(slope, inputs, f.then).item() if slope.requires_grad else 0.0
    assert near(f.difference(lambda by: f.slope(*f.at(by, f.then), f.along)), again)


def as_function(op: Operation, names: list[str]) -> Callable:
    """The operation as a function of tensors, which returns its floating results."""

    def run(*inputs):
        return tuple(t for t in flat(op.on(minigrad, dict(zip(names, inputs, strict=True)))))

    return run


@each(OPERATIONS, unlike=re.compile(f"{ROUGH.pattern}|padding_idx|\\(0, 3\\)"))
def test_forward_mode_is_the_transpose_of_reverse_mode(op):
    arrays = op.inputs(2)
    rng = np.random.default_rng(zlib.crc32(op.expression.encode()))
    primals = tuple(tensors(minigrad, arrays, grad=False).values())
    tangents = tuple(minigrad.tensor(rng.standard_normal(a.shape)) for a in arrays.values())
    run = as_function(op, list(arrays))

    def floating(*inputs):
        return tuple(t for t in run(*inputs) if t.is_floating_point())

    if not floating(*primals):
        return
    outs, pushed = func.jvp(floating, primals, tangents)
    weights = tuple(
        minigrad.tensor(np.cos(np.arange(o.numel())).reshape(o.shape), dtype=o.dtype) for o in outs
    )
    pulled = func.vjp(floating, *primals)[1](weights)
    forward = sum((p * w).sum().item() for p, w in zip(pushed, weights, strict=True))
    reverse = sum((p * t).sum().item() for p, t in zip(pulled, tangents, strict=True))
    assert near(forward, reverse)


@each(OPERATIONS, unlike=re.compile(f"{ROUGH.pattern}|{DYNAMIC.pattern}"))
def test_vmap_is_the_loop(op):
    arrays = op.inputs(0)
    run = as_function(op, list(arrays))
    examples = [tuple(minigrad.tensor(a * by) for a in arrays.values()) for by in (1.0, 1.03)]
    got = func.vmap(run)(*map(minigrad.stack, zip(*examples, strict=True)))
    for whole, *rows in zip(got, *(run(*inputs) for inputs in examples), strict=True):
        assert whole.dtype == rows[0].dtype
        np.testing.assert_allclose(whole.numpy(), [row.numpy() for row in rows], rtol=1e-7, atol=1e-9)


SYMBOLS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**"}


def in_place(expression: str) -> str | None:
    """The statement that writes the result into a tensor `t`, which takes the place of the first x."""
    node = ast.parse(expression, mode="eval").body
    if isinstance(node, ast.BinOp) and ast.unparse(node.left) == "x" and type(node.op).__name__ in SYMBOLS:
        return f"t {SYMBOLS[type(node.op).__name__]}= {ast.unparse(node.right)}"
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    name, args, start = node.func.attr + "_", node.args, ast.unparse(node.func.value)
    if start != "x":
        start, args = ast.unparse(args[0]) if args else "", args[1:]
    if start != "x" or not hasattr(minigrad.Tensor, name) or name in ("t_", "transpose_", "unsqueeze_"):
        return None
    return f"t.{name}({', '.join(map(ast.unparse, [*args, *node.keywords]))})"


@each([op for op in OPERATIONS if in_place(op.expression)])
def test_in_place_it_gives_the_same_or_leaves_the_tensor_as_it_was(op):
    inputs = tensors(minigrad, op.inputs(0))
    expected = op.on(minigrad, inputs)
    t = inputs["x"] * 1
    before, scope = t.detach().clone(), {"torch": minigrad, "F": minigrad.nn.functional, "t": t, **inputs}
    if expected.shape != t.shape:  # it was broadcast, or is of another shape
        with pytest.raises(RuntimeError):
            exec(in_place(op.expression), scope)
        assert t._version == 0 and np.array_equal(t.detach().numpy(), before.numpy())
        return
    exec(in_place(op.expression), scope)
    assert scope["t"] is t and t._version >= 1
    np.testing.assert_array_equal(t.detach().numpy(), expected.detach().numpy())
    leaves = list(inputs.values())
    slopes = [
        minigrad.autograd.grad(weighted(minigrad, y), leaves, materialize_grads=True) for y in (expected, t)
    ]
    for one, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(other.numpy(), one.numpy(), rtol=1e-12, atol=1e-12)


@each([op for op in OPERATIONS if "float64" not in op.expression and "double" not in op.expression])
def test_single_precision_stays_single(op):
    arrays = op.inputs(3)
    double = op.on(minigrad, tensors(minigrad, arrays))
    inputs = tensors(minigrad, {n: a.astype(np.float32) for n, a in arrays.items()})
    single = op.on(minigrad, inputs)
    for a, b in zip(flat(double), flat(single), strict=True):
        assert b.dtype is (minigrad.float32 if a.dtype is minigrad.float64 else a.dtype)
        if b.dtype is minigrad.float32:
            np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=2e-3, atol=2e-4)
    total = weighted(minigrad, single)
    if total is not None:
        grads = minigrad.autograd.grad(total, list(inputs.values()), allow_unused=True)
        assert {g.dtype for g in grads if g is not None} <= {minigrad.float32}


# ---------------------------------------------------------------- with PyTorch

DTYPES = (np.float32, np.float64, np.int64, np.uint8, np.bool_)
PROGRAM = """
out = EXPRESSION
total = weighted(torch, out)
grads = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True) if total is not None else ()
again = weighted(torch, [g for g in grads if g is not None and g.requires_grad])
twice = torch.autograd.grad(again, leaves, allow_unused=True) if again is not None else ()
"""
ONCE = "out = EXPRESSION\ntotal = weighted(torch, out)\nif total is not None: total.backward()\n"


def transcripts(torch: ModuleType, op: Operation, arrays: dict[str, np.ndarray], source: str) -> list[dict]:
    """What both engines do when they run this with the operation at these inputs."""
    program = Program(op.name, source.strip().replace("EXPRESSION", op.expression) + "\n")
    found = []
    for engine in (torch, minigrad):
        inputs = tensors(engine, arrays)
        leaves = [t for t in inputs.values() if t.requires_grad]
        given = {
            "F": engine.nn.functional,
            "inf": float("inf"),
            "weighted": weighted,
            "leaves": leaves,
            **inputs,
        }
        found.append(oracle.run(engine, program, **given))
    return found


@each(OPERATIONS + CONSTANTS)
def test_values_gradients_and_graphs_are_pytorchs(torch, op):
    for trial, dtype in enumerate((np.float32, np.float64)):
        arrays = {n: a.astype(dtype) for n, a in op.inputs(trial).items()}
        for source in (ONCE, PROGRAM) if dtype is np.float64 else (ONCE,):
            assert not oracle.differences(*transcripts(torch, op, arrays, source), noise=True)


@each([op for op in OPERATIONS + CONSTANTS if op.elementwise])
def test_dtypes_mix_as_in_pytorch(torch, op):
    """Every pair of dtypes that PyTorch accepts, for tensors and for 0-d tensors, which count for less in a mixture."""
    rng, names, found = (
        np.random.default_rng(zlib.crc32(op.expression.encode())),
        [n for n, _ in op.shapes],
        [],
    )
    for dtypes in [(d,) for d in DTYPES] if len(names) == 1 else itertools.product(DTYPES, DTYPES):
        arrays = {}
        for name, dtype in zip(names, (*dtypes, dtypes[-1]), strict=False):
            floating = np.dtype(dtype).kind == "f"
            values = [*op.inputs(0)[name].ravel()[:1], 1.0] if floating else [1, 3]
            arrays[name] = np.resize(np.array(values), (2,) if rng.random() < 0.7 else ()).astype(dtype)
        expected, got = transcripts(torch, op, arrays, ONCE)
        if not any("error" in statement for statement in expected["statements"]):
            found += [f"{arrays}: {text}" for text in oracle.differences(roughly(expected, 1e-6), got)]
    assert not found, "\n".join(found[:6])


# NaN, infinities, zeros of both signs, huge, denormal and ordinary numbers: as many as PyTorch computes at once.
ODD = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1e30,
    -1e30,
    1e-40,
    -1e-40,
    100.0,
    -100.0,
    20.5,
    -20.5,
    0.3,
    -0.7,
    1.0,
]
ODD += [-1.0, 2.5, -2.5, 3.0, -3.0, 0.5, -0.5, 6.0, 1e-4, 0.1, -0.1, 10.0, -10.0, 1.5, -1.5, 2.0]


@each([op for op in OPERATIONS if op.elementwise and "float32" not in op.name])
def test_at_odd_numbers_it_is_pytorchs(torch, op):
    numbers, names = np.array(ODD), [name for name, _ in op.shapes]
    grid = [numbers] if len(names) == 1 else [np.repeat(numbers, len(ODD)), np.tile(numbers, len(ODD))]
    found = []
    for dtype, rtol in ((np.float32, 2e-4), (np.float64, 1e-9)):
        given = dict(zip(names, [a.astype(dtype) for a in (*grid, grid[0])], strict=False))
        results = []
        for engine in (torch, minigrad):
            inputs = tensors(engine, given)
            y = op.on(engine, inputs)
            grads = engine.autograd.grad(
                y, list(inputs.values()), engine.ones_like(y), materialize_grads=True
            )
            results.append([t.detach().numpy(force=True) for t in (y, *grads)])
        for part, (expected, got) in enumerate(zip(*results, strict=True)):
            near = np.isclose(got, expected, rtol, 1e-40 if part == 0 else 1e-12, equal_nan=True)
            at = [tuple(float(a[i]) for a in given.values()) for i in np.flatnonzero(~near)]
            found += [
                f"{dtype.__name__} part {part} at {p}: {g}, not {e}"
                for p, g, e in zip(at, got[~near], expected[~near], strict=True)
            ]
    here = OTHERWISE.keys() - (() if torch.backends.cpu.get_cpu_capability() == "AVX512" else WITH_AVX512)
    assert bool(found) == (op.expression in here), "\n".join(found[:12])
