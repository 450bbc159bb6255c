"""There are no complex tensors: whoever asks for one is told so, and what to do instead. Nothing is silently made real."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import minigrad
from minigrad.linalg import eig

NAMES = ("complex", "complex32", "complex64", "complex128", "cfloat", "cdouble", "polar", "view_as_complex", "fft", "stft",
         "istft", "ComplexFloatTensor")  # fmt: skip
CALLS: dict[str, Callable] = {
    "tensor": lambda x: minigrad.tensor(1j),
    "tensor of a list": lambda x: minigrad.tensor([1j, 2]),
    "tensor of an array": lambda x: minigrad.tensor(np.ones(2, complex)),
    "tensor of a number of NumPy's": lambda x: minigrad.tensor(np.complex64(1j)),
    "from_numpy": lambda x: minigrad.from_numpy(np.ones(2, np.complex64)),
    "as_tensor": lambda x: minigrad.as_tensor(np.ones(2, complex)),
    "dtype=complex": lambda x: minigrad.zeros(2, dtype=complex),
    "NumPy's dtype": lambda x: minigrad.randn(2, dtype=np.complex64),
    "sum in complex": lambda x: x.sum(dtype=complex),
    "a layer": lambda x: minigrad.nn.Linear(2, 2, dtype=complex),
    "1j * x": lambda x: 1j * x,
    "x * 1j": lambda x: x * 1j,
    "x + 1j": lambda x: x + 1j,
    "1j - x": lambda x: 1j - x,
    "x / 1j": lambda x: x / 1j,
    "x ** 1j": lambda x: x**1j,
    "1j ** x": lambda x: 1j**x,
    "x += 1j": lambda x: x.__iadd__(1j),
    "x == 1j": lambda x: x == 1j,
    "an array beside x": lambda x: np.ones(2, complex) * x,
    "x beside a number of NumPy's": lambda x: x * np.complex64(1j),
    "where": lambda x: minigrad.where(x > 0, 1j, 0.0),
    "maximum": lambda x: minigrad.maximum(x, 1j),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_complex_number_is_refused_and_a_way_told(name):
    with pytest.raises(
        TypeError, match=r"no complex tensors. Keep the real and the imaginary part in two tensors"
    ):
        CALLS[name](minigrad.ones(2))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_speaks_of_complex_numbers_says_why_it_is_not_there(name):
    with pytest.raises(
        AttributeError, match="there are no complex tensors; keep the real and the imaginary part in two"
    ):
        getattr(minigrad, name)


# What takes numbers of one kind says which, as for anything else that is none.
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.add_(1j),
        lambda x: x.fill_(1j),
        lambda x: x.__setitem__(0, 1j),
        lambda x: minigrad.full((2,), 1j),
        lambda x: minigrad.arange(1j),
        lambda x: minigrad.linspace(0, 1j, 3),
        lambda x: x.clamp(1j),
        lambda x: x.masked_fill(x > 0, 1j),
        lambda x: x.remainder(1j),
        lambda x: minigrad.lerp(x, x, 1j),
    ],
)
def test_no_other_call_takes_one(call):
    with pytest.raises((TypeError, RuntimeError), match=r"complex|overflow"):
        call(minigrad.ones(2))


def test_eigenvalues_that_are_not_real_are_refused_with_the_reason():
    with pytest.raises(
        RuntimeError, match=r"no complex numbers. Symmetric matrices have real ones: see linalg.eigh"
    ):
        eig(minigrad.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    assert sorted(eig(minigrad.tensor([[2.0, 0.0], [0.0, 3.0]]))[0].tolist()) == [2.0, 3.0]
