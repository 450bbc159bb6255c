"""Wrong calls of the public functions of viz: each gets an error that says what to do."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
import viz

W = mg.tensor([1.0, 2.0], requires_grad=True)
PLAIN = mg.ones(2)
NET = mg.nn.Linear(2, 1)


def loss() -> Any:
    return (W * W).sum()


def square(x: Any) -> Any:
    return x * x


def explored() -> Any:
    return viz.explore(square, x=mg.tensor(2.0))


CALLS = {
    lambda: viz.draw(viz.trace(loss())): "Pass the tensor itself, not what viz made from it",
    lambda: viz.costs(viz.step(loss())): "Pass the tensor itself, not what viz made from it",
    lambda: viz.step(loss(), inputs=PLAIN): "inputs= takes tensors that require grad",
    lambda: viz.step(loss(), ask="order", given="x"): "must be a whole number, 0 or more, got 'x'",
    lambda: viz.step(
        loss(), insist=True
    ): "insist= applies only to questions: it needs ask='gradients' or 'order'",
    lambda: viz.step(loss(), insist="x"): "insist= must be True or False",
    lambda: setattr(viz.step(loss()), "step", "a"): "step must be a whole number between 0 and 3",
    lambda: viz.step(loss()).save(3): "save needs the name of a file",
    lambda: viz.beside(loss(), viz.film()): "either films only or passes only, but one argument is Tensor",
    lambda: viz.beside(
        viz.film(), viz.film(), view="graph"
    ): "takes labels= for films; view= is for two passes",
    lambda: viz.beside(loss(), loss()).save("z.gif"): r"The name must end in \.html",
    lambda: viz.explore(): r"missing a required argument: 'f': it is called as viz\.explore\(f, leaves=None",
    lambda: viz.explore(loss()): r"needs a function, as in explore\(f, x=2\.0\), not Tensor",
    lambda: viz.explore(
        square, {"x": None}
    ): "leaf 'x' must be a number, a list of numbers or a tensor: it is None",
    lambda: explored().set(x="a"): "leaf 'x' must be a number, a list of numbers or a tensor",
    lambda: viz.film(loss()): r"Call film = viz\.film\(\) first, then film\.backward\(loss\)",
    lambda: viz.film(steps=3): r"viz\.film has no option steps=\. It takes every, keep, names, title",
    lambda: viz.record(loss()): r"too many positional arguments: it is called as viz\.record\(\)",
    lambda: viz.failure(loss()): r"it is called as viz\.failure\(\)",
    lambda: viz.widgets(off=True): r"viz\.widgets has no option off=\. It takes on",
    lambda: viz.explore(square, x=2.0, veiw="cards"): "leaf 'veiw' must be a number",
    lambda: viz.explore(square, y=2.0): "unexpected keyword argument 'y'",
    lambda: viz.draw(
        NET(W[None]).sum(), fold="Conv2d"
    ): "fold='Conv2d' matches none of the modules here: 1 Linear",
    lambda: viz.step(
        NET(W[None]).sum(), fold=mg.nn.Tanh
    ): "fold='Tanh' matches none of the modules here: 1 Linear",
    lambda: viz.draw(NET): "A module has no graph until it is called",
}


@pytest.mark.parametrize("call", CALLS, ids=[f"{k}" for k in range(len(CALLS))])
def test_a_wrong_call_is_answered_in_words(call: Any):
    with pytest.raises((TypeError, ValueError), match=CALLS[call]):
        call()
