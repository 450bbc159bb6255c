"""Every operation of tests/ops.py has PyTorch's value, dtype, gradients, node and errors, and the right derivatives."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest

import minigrad
from tests import oracle
from tests.ops import ELEMENTWISE_OPS, IMPORT_F, OPS, UNDIFFERENTIABLE_OPS, Op
from tests.oracle import Program, case, run

DTYPES = (np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_)
TRIALS = 4


def pull_back(module):
    """A function for programs: backward from the outputs that require grad, with fixed weights."""

    def backward(out):
        outputs = out if isinstance(out, tuple | list) else (out,)
        outputs = [o for o in outputs if isinstance(o, module.Tensor) and o.requires_grad]
        if outputs:
            weights = [
                module.tensor(np.cos(np.arange(o.numel()) + 1.0).reshape(o.shape)).to(o.dtype)
                for o in outputs
            ]
            module.autograd.backward(outputs, weights)

    return backward


def compare(torch, op: Op, arrays: dict[str, np.ndarray]) -> None:
    """Run the operation and its backward under both engines."""
    shown = ", ".join(f"{name}: {a.dtype}{list(a.shape)}" for name, a in arrays.items())
    preamble = IMPORT_F if "F." in op.expression else ""
    program = Program(op.name, f"{preamble}out = {op.expression}\nbackward(out)  # {shown}\n")

    def transcript(module):
        inputs = {n: module.tensor(a, requires_grad=a.dtype.kind == "f") for n, a in arrays.items()}
        return run(module, program, **inputs, backward=pull_back(module))

    oracle.assert_same(program, transcript(torch), transcript(minigrad))


@pytest.mark.parametrize("op", [case(op.name, op) for op in OPS])
def test_value_gradient_and_graph_are_torchs(torch, op):
    for trial in range(TRIALS):
        dtype = (np.float32, np.float64)[trial % 2]
        compare(torch, op, {name: a.astype(dtype) for name, a in op.inputs(trial).items()})


@pytest.mark.parametrize("op", [case(op.name, op) for op in UNDIFFERENTIABLE_OPS])
def test_value_without_gradient_is_torchs(torch, op):
    for trial in range(TRIALS):
        compare(torch, op, {name: a.astype(np.float32) for name, a in op.inputs(trial).items()})


@pytest.mark.parametrize(
    "op", [case(f"dtypes/{op.name}", op) for op in ELEMENTWISE_OPS + UNDIFFERENTIABLE_OPS]
)
def test_dtypes_mix_as_in_torch(torch, op):
    """Every pair of dtypes, tensors and zero-dimensional tensors, which count for less in a mixture."""
    rng = np.random.default_rng(zlib.crc32(op.expression.encode()))
    names = [name for name, _ in op.shapes]
    pairs = [(d,) for d in DTYPES] if len(names) == 1 else list(itertools.product(DTYPES, DTYPES))
    for dtypes in pairs:
        arrays = {}
        for name, dtype in zip(names, (*dtypes, dtypes[-1]), strict=False):
            values = (
                op.inputs(0)[name].ravel()[:1].tolist() + [1.0] if np.dtype(dtype).kind == "f" else [1, 3]
            )
            shape = (2,) if rng.random() < 0.7 else ()
            arrays[name] = np.asarray(np.resize(np.array(values), shape)).astype(dtype)
        compare(torch, op, arrays)


# ----------------------------------------------------------------------------------------------- finite differences
# What backward rightly does not follow, or double precision is lost in, a difference would.
NO_DIFFERENCES = ("detach()", "float()", "float32", "padding_idx", "torch.linalg.cholesky(x)")
SMOOTH_OPS = [
    op for op in OPS if not any(part in op.expression for part in NO_DIFFERENCES) and "(0, 3)" not in op.name
]
STEP = 1e-6


class Scalar:
    """A weighted sum of an operation's outputs, as a function of its inputs in double precision."""

    def __init__(self, op: Op, trial: int) -> None:
        self.op = op
        self.arrays = op.inputs(trial)
        self.rng = np.random.default_rng([zlib.crc32(op.expression.encode()), 100 + trial])

    def direction(self) -> dict[str, np.ndarray]:
        return {name: self.rng.standard_normal(a.shape) for name, a in self.arrays.items()}

    def moved(self, by: float, direction: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: a + by * direction[name] for name, a in self.arrays.items()}

    def value(self, arrays: dict[str, np.ndarray]):
        """The sum, a tensor, and the inputs it was computed from."""
        inputs = {name: minigrad.tensor(a, requires_grad=True) for name, a in arrays.items()}
        scope = oracle.names(minigrad) | inputs
        if "F." in self.op.expression:
            exec(IMPORT_F, scope)
        out = eval(self.op.expression, scope)
        total = minigrad.tensor(0.0, dtype=minigrad.float64)
        for output in out if isinstance(out, tuple | list) else (out,):
            if output.requires_grad:
                weights = np.cos(np.arange(output.numel()) + 1.0).reshape(output.shape)
                total = total + (output * minigrad.tensor(weights)).sum()
        return total, list(inputs.values())

    def slope(self, arrays: dict[str, np.ndarray], direction: dict[str, np.ndarray], create_graph: bool):
        """The derivative along `direction`, by backward."""
        total, inputs = self.value(arrays)
        if not total.requires_grad:
            return total * 0, inputs
        gradients = minigrad.autograd.grad(total, inputs, create_graph=create_graph, allow_unused=True)
        slope = minigrad.tensor(0.0, dtype=minigrad.float64)
        for gradient, d in zip(gradients, direction.values(), strict=True):
            if gradient is not None:
                slope = slope + (gradient * minigrad.tensor(d)).sum()
        return slope, inputs


def near(measured: float, computed: float) -> bool:
    return measured == pytest.approx(computed, rel=2e-5, abs=2e-6) or (
        np.isnan(measured) and np.isnan(computed)
    )


@pytest.mark.parametrize("op", [case(f"first/{op.name}", op) for op in SMOOTH_OPS])
def test_first_derivative_by_finite_differences(op):
    for trial in range(2):
        f = Scalar(op, trial)
        along = f.direction()
        ahead, behind = (f.value(f.moved(by, along))[0].item() for by in (STEP, -STEP))
        computed = f.slope(f.arrays, along, create_graph=False)[0].item()
        assert near((ahead - behind) / (2 * STEP), computed), f"inputs {f.arrays}"


@pytest.mark.parametrize("op", [case(f"second/{op.name}", op) for op in SMOOTH_OPS])
def test_second_derivative_by_finite_differences(op):
    f = Scalar(op, 1)
    first, second = f.direction(), f.direction()
    ahead, behind = (
        f.slope(f.moved(by, second), first, create_graph=False)[0].item() for by in (STEP, -STEP)
    )
    slope, inputs = f.slope(f.arrays, first, create_graph=True)
    computed = 0.0
    if slope.requires_grad:
        gradients = minigrad.autograd.grad(slope, inputs, allow_unused=True)
        pairs = zip(gradients, second.values(), strict=True)
        computed = sum((g * minigrad.tensor(d)).sum().item() for g, d in pairs if g is not None)
    assert near((ahead - behind) / (2 * STEP), computed), f"inputs {f.arrays}"
