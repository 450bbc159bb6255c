"""Printed forms and random numbers: PyTorch's, character for character and number for number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigrad

# ---------------------------------------------------------------- printed forms

PRINTED = {
    "tensor(14., grad_fn=<SumBackward0>)": "(torch.arange(4.0, requires_grad=True) ** 2).sum()",
    "tensor([6., 8.], grad_fn=<AddBackward0>)": "torch.tensor([5.0, 7.0], requires_grad=True) + 1",
    "tensor([0.0013])": "torch.tensor([0.0013])",
    "tensor([[3.3333e-01, 1.0000e+05]])": "torch.tensor([[1 / 3, 1e5]])",
    "tensor([1.5000], dtype=torch.float64, requires_grad=True)": "torch.tensor([1.5]).double().requires_grad_()",
    "tensor([nan, 1., inf])": "torch.tensor([float('nan'), 1.0, float('inf')])",
    "tensor([[  1],\n        [-20]])": "torch.tensor([[1], [-20]])",
    "tensor(3, dtype=torch.int32)": "torch.tensor(3, dtype=torch.int32)",
    "tensor([ True, False])": "torch.tensor([True, False])",
    "tensor([])": "torch.tensor([])",
    "tensor([], size=(0, 3), dtype=torch.int64)": "torch.zeros(0, 3, dtype=torch.int64)",
    "tensor([   0,    1,    2,  ...,  998,  999, 1000])": "torch.arange(1001)",
    "tensor([[[0.]],\n\n        [[0.]]])": "torch.zeros(2, 1, 1)",
    "Parameter containing:\ntensor([1.], requires_grad=True)": "torch.nn.Parameter(torch.ones(1))",
    "tensor([0.6667])": "torch.tensor([2 / 3])",
    "torch.Size([2, 3])": "torch.ones(2, 3).shape",
}
SPECIAL = [
    0.0,
    -0.0,
    np.nan,
    np.inf,
    -np.inf,
    5e-324,
    1e-45,
    1e-8,
    9.99995,
    0.99999,
    1e8,
    1e8 + 1,
    123456789.0,
]


@pytest.mark.parametrize("printed", PRINTED)
def test_a_tensor_is_printed_like_this(printed):
    assert repr(eval(PRINTED[printed], {"torch": minigrad})) == printed


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays as people print them: any shape and dtype, values near one magnitude or far apart, whole or not."""
    dtype = np.dtype(draw(st.sampled_from(["f4", "f8", "f4", "u1", "i1", "i4", "i8", "?"])))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
    if draw(st.booleans()):  # long enough to be summarised and to run over the line
        shape = draw(st.sampled_from([(7,), (30,), (1200,), (40, 30), (3, 500), (8, 9, 20), (2, 1, 600)]))
    if dtype.kind != "f":
        return draw(hnp.arrays(dtype, shape))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = 10.0 ** rng.integers(0, draw(st.integers(1, 6)), shape)
    values = np.asarray(rng.standard_normal(shape) * 10.0 ** draw(st.integers(-46, 40)) * spread)
    values = np.round(values) if draw(st.booleans()) else values
    share = draw(st.sampled_from([0.0, 0.2, 1.0]))
    with np.errstate(over="ignore"):
        return np.where(rng.random(shape) < share, rng.choice(SPECIAL, shape), values).astype(dtype)


@settings(max_examples=300)
@given(array=arrays(), requires_grad=st.booleans())
def test_every_tensor_is_printed_as_in_pytorch(torch, array, requires_grad):
    requires_grad = requires_grad and array.dtype.kind == "f"
    texts = [repr(m.from_numpy(array.copy()).requires_grad_(requires_grad)) for m in (torch, minigrad)]
    assert texts[1] == texts[0]


# ---------------------------------------------------------------- random numbers

DRAWS = {
    "uniform": lambda torch, n: torch.rand(n),
    "uniform, double": lambda torch, n: torch.rand(n, dtype=torch.float64),
    "uniform in bounds": lambda torch, n: torch.nn.init.uniform_(torch.empty(n), -0.3, 0.7),
    "normal": lambda torch, n: torch.randn(n),
    "normal, double": lambda torch, n: torch.randn(n, dtype=torch.float64),
    "normal with mean": lambda torch, n: torch.nn.init.normal_(torch.empty(n), 1, 0.5),
    "integers": lambda torch, n: torch.randint(-3, 10, (n,)),
    "large integers": lambda torch, n: torch.randint(0, 2**50, (n,)),
    "permutation": lambda torch, n: torch.randperm(n),
    "one of several": lambda torch, n: torch.multinomial(torch.linspace(0.1, 1, n + 2), 1),
    "several different ones": lambda torch, n: torch.multinomial(torch.linspace(0.1, 1, n + 2), 2),
    "dropout": lambda torch, n: torch.nn.functional.dropout(torch.ones(n), 0.4),
    "the weights of a layer": lambda torch, n: torch.nn.Linear(n + 1, 3).weight.detach(),
}
SIZES = st.integers(0, 70) | st.sampled_from([256, 1000])


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**63 - 1),
    draws=st.lists(st.tuples(st.sampled_from(sorted(DRAWS)), SIZES), min_size=1, max_size=6),
)
def test_any_sequence_of_draws_is_pytorchs(torch, seed, draws):
    torch.manual_seed(seed)
    minigrad.manual_seed(seed)
    for kind, size in draws:
        expected, got = (DRAWS[kind](engine, size).numpy() for engine in (torch, minigrad))
        assert expected.dtype == got.dtype
        # for sixteen or more normal float32 numbers, PyTorch's sine and logarithm are a rounding or two off
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 if "normal" in kind else 0)


def test_the_first_numbers_of_seed_0():
    minigrad.manual_seed(0)
    assert minigrad.randn(4).tolist() == pytest.approx([1.5410, -0.2934, -2.1788, 0.5684], abs=5e-5)
    minigrad.manual_seed(0)
    assert minigrad.rand(3).tolist() == pytest.approx([0.4963, 0.7682, 0.0885], abs=5e-5)
    minigrad.manual_seed(0)
    assert minigrad.randperm(5).tolist() == [4, 0, 1, 3, 2]


def test_a_generator_has_a_stream_of_its_own():
    minigrad.manual_seed(3)
    first = minigrad.randn(3).tolist(), minigrad.rand(2).tolist()
    minigrad.manual_seed(3)
    half = minigrad.randn(3).tolist()  # leaves the second half of a pair unused
    minigrad.rand(5, generator=minigrad.Generator().manual_seed(5))
    assert (half, minigrad.rand(2).tolist()) == first
