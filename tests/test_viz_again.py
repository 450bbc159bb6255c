"""Running a stepper's cell again shows the recorded pass again, and one line says so."""

from __future__ import annotations

import gc
import weakref

import pytest

import viz


def diamond(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    return x, (y + 1) + y * 2


@pytest.mark.parametrize("view", [None, "cards", "functions"])
def test_the_recorded_pass_is_shown_again(t, view):
    x, c = diamond(t)
    first = viz.step(c)
    second = viz.step(c, view=view, ask="gradients")
    assert [s["sentence"] for s in second.data["steps"]] == [s["sentence"] for s in first.data["steps"]]
    assert second.data["steps"] == first.data["steps"]
    assert (
        "recorded pass is shown" in second.data["notes"][0]
        and "recorded pass is shown" in second.data["start"]["sentence"]
    )
    assert not any("recorded pass is shown" in note for note in first.data["notes"])
    assert float(x.grad) == 12.0  # nothing ran a second time
    assert second.data["questions"]


def test_a_pass_that_viz_did_not_see_cannot_be_shown_again(t):
    _, c = diamond(t)
    c.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        viz.step(c)


def test_another_root_of_the_same_graph_is_another_pass(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    c = y * y
    viz.step(c)
    with pytest.raises(RuntimeError, match="a second time"):
        viz.step(y)


def test_with_retain_graph_it_runs_again_as_backward_does(t):
    x, c = diamond(t)
    viz.step(c, retain_graph=True)
    again = viz.step(c)
    assert float(x.grad) == 24.0
    assert not any("recorded pass is shown" in note for note in again.data["notes"])


def test_the_recording_goes_with_the_graph(t):
    def stepped():
        x, c = diamond(t)
        viz.step(c)
        return weakref.ref(x)

    kept = stepped()
    gc.collect()
    assert kept() is None


def test_an_option_that_does_not_exist_is_answered_with_those_that_do(t):
    _, c = diamond(t)
    with pytest.raises(
        TypeError, match=r"viz\.step has no option foo=\. It takes view, direction, fold, names, "
    ):
        viz.step(c, foo=1)
