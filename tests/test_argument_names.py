"""Functions take their arguments by all the names that PyTorch gives them, and can be pickled by their own."""

from __future__ import annotations

import inspect
import pickle
from types import FunctionType

import pytest

import minigrad

X = minigrad.tensor([[1.0, -2.0], [3.0, 4.0]])


def test_numpys_names_mean_what_pytorchs_do():
    assert X.sum(axis=0).equal(X.sum(dim=0))
    assert X.mean(axis=1, keepdims=True).equal(X.mean(1, True))
    assert minigrad.cat([X, X], axis=1).equal(minigrad.cat([X, X], dim=1))
    assert X.max(axis=1).values.equal(X.max(dim=1).values)


BAD = {
    "a name that it does not have": lambda t: t.exp(t.ones(2), colour=1),
    "a name that a method does not have": lambda t: t.ones(2).softmax(0, colour=1),
    "the same argument twice": lambda t: t.ones(2).cumsum(0, axis=0),
    "the same argument twice, of an operation": lambda t: t.exp(t.ones(2), input=t.ones(2)),
    "an argument that is left out": lambda t: t.maximum(other=t.ones(2)),
    "an argument of a comparison that is left out": lambda t: t.logical_and(other=t.ones(2)),
    "no dimension": lambda t: t.ones(2).unsqueeze(),
    "no index": lambda t: t.gather(input=t.ones(2), dim=0),
}


@pytest.mark.parametrize("name", BAD)
def test_other_names_are_refused_as_in_torch(torch, name):
    for module in (torch, minigrad):
        with pytest.raises(TypeError):
            BAD[name](module)


PUBLIC = {
    f"{module.__name__}.{name}": value
    for module in (minigrad, minigrad.linalg, minigrad.special, minigrad.nn.functional)
    for name in dir(module)
    if isinstance(value := getattr(module, name), FunctionType) and name[0] != "_"
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_function_can_be_pickled_and_told_about(name):
    """A module that keeps `activation=torch.tanh` can be saved; `help()` shows a signature and says what it does."""
    function = PUBLIC[name]
    assert pickle.loads(pickle.dumps(function)) is function
    assert inspect.signature(function)
