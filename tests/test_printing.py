"""The printed form of tensors is PyTorch's, character for character."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from minigrad import printing
from minigrad.printing import tensor_repr

FLOATS = (np.float16, np.float32, np.float64)
INTEGERS = (np.uint8, np.int8, np.int16, np.int32, np.int64)
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


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays as people print them: any shape and dtype, values near one magnitude or far apart, whole or not."""
    dtype = np.dtype(draw(st.sampled_from([*FLOATS, np.float32, *INTEGERS, np.bool_])))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
    if draw(st.booleans()):  # long enough to be summarised and to run over the line
        shape = draw(st.sampled_from([(7,), (30,), (1200,), (40, 30), (3, 500), (8, 9, 20), (2, 1, 600)]))
    if dtype.kind != "f":
        return draw(hnp.arrays(dtype, shape))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = 10.0 ** draw(st.integers(-46, 40))
    values = np.asarray(
        rng.standard_normal(shape) * scale * 10.0 ** rng.integers(0, draw(st.integers(1, 6)), shape)
    )
    if draw(st.booleans()):
        values = np.round(values)
    share = draw(st.sampled_from([0.0, 0.2, 1.0]))
    with np.errstate(over="ignore"):
        return np.where(rng.random(shape) < share, rng.choice(SPECIAL, shape), values).astype(dtype)


@st.composite
def options(draw: st.DrawFn) -> dict[str, object]:
    if draw(st.booleans()):
        return {"profile": draw(st.sampled_from(["default", "short", "full"]))}
    return {
        "precision": draw(st.integers(0, 8)),
        "threshold": draw(st.integers(0, 1500)),
        "edgeitems": draw(st.integers(0, 5)),
        "linewidth": draw(st.integers(1, 120)),
        "sci_mode": draw(st.sampled_from([None, True, False])),
    }


@pytest.fixture(autouse=True)
def default_options():
    printing.set_printoptions(profile="default")
    yield
    printing.set_printoptions(profile="default")


@settings(max_examples=300, deadline=None)
@given(array=arrays(), chosen=options(), requires_grad=st.booleans())
def test_prints_as_torch(torch, array, chosen, requires_grad):
    requires_grad = requires_grad and array.dtype.kind == "f"
    try:
        torch.set_printoptions(**chosen)
        printing.set_printoptions(**chosen)
        expected = repr(torch.from_numpy(array.copy()).requires_grad_(requires_grad))
        assert tensor_repr(array, requires_grad=requires_grad) == expected
    finally:
        torch.set_printoptions(profile="default")
        printing.set_printoptions(profile="default")


@settings(max_examples=100, deadline=None)
@given(array=hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=9), elements=st.integers(-9, 9)))
def test_suffixes_wrap_at_the_line_width_as_in_torch(torch, array):
    x = torch.from_numpy(array.copy()).requires_grad_()
    for result in (
        x * 1.5,
        torch.special.entr(x.abs() + 1),
        torch.nn.functional.binary_cross_entropy_with_logits(x, x),
    ):
        name = type(result.grad_fn).__name__
        assert tensor_repr(result.detach().numpy(), grad_fn_name=name) == repr(result)


def test_options_are_those_of_torch(torch):
    from torch._tensor_str import get_printoptions

    for chosen in (
        {"profile": "short"},
        {"precision": 7, "sci_mode": True},
        {"linewidth": 50},
        {"profile": "default"},
    ):
        torch.set_printoptions(**chosen)
        printing.set_printoptions(**chosen)
        assert printing.get_printoptions() == get_printoptions()


FACTS = [
    (np.float32(14), {"grad_fn_name": "SumBackward0"}, "tensor(14., grad_fn=<SumBackward0>)"),
    (np.float32([6, 8]), {"grad_fn_name": "AddBackward0"}, "tensor([6., 8.], grad_fn=<AddBackward0>)"),
    (np.float32([0.0013]), {}, "tensor([0.0013])"),
    (np.float32([[1 / 3, 1e5]]), {}, "tensor([[3.3333e-01, 1.0000e+05]])"),
    (np.float64([1.5]), {"requires_grad": True}, "tensor([1.5000], dtype=torch.float64, requires_grad=True)"),
    (np.float32([np.nan, 1, np.inf]), {}, "tensor([nan, 1., inf])"),
    (np.int64([[1], [-20]]), {}, "tensor([[  1],\n        [-20]])"),
    (np.int32(3), {}, "tensor(3, dtype=torch.int32)"),
    (np.array([True, False]), {}, "tensor([ True, False])"),
    (np.float32([]), {}, "tensor([])"),
    (np.zeros((0, 3), np.int64), {}, "tensor([], size=(0, 3), dtype=torch.int64)"),
    (np.arange(1001), {}, "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (np.zeros((2, 1, 1)), {"default_dtype": np.float64}, "tensor([[[0.]],\n\n        [[0.]]])"),
    (np.float32([2]), {"tangent": "1.0"}, "tensor([2.], tangent=1.0)"),
]


@pytest.mark.parametrize(("array", "parts", "printed"), FACTS, ids=[text for *_, text in FACTS])
def test_printed_forms(array, parts, printed):
    assert tensor_repr(np.asarray(array), **parts) == printed


def test_printoptions_hold_inside_the_block_only():
    array = np.float32([2 / 3])
    with printing.printoptions(precision=2):
        assert tensor_repr(array) == "tensor([0.67])"
    assert tensor_repr(array) == "tensor([0.6667])"


def test_an_unknown_profile_is_refused():
    with pytest.raises(ValueError, match="profile must be one of default, short, full, got 'wide'"):
        printing.set_printoptions(profile="wide")
