"""A graph after its pass: it draws as before, and stepping or tracing it raises an error that says it was freed."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest

import minigrad
import viz
from tests.minigrad.operations import OPERATIONS, Operation
from tests.minigrad.test_operations import tensors, weighted
from tests.test_viz_random_modules import program
from viz.read.graph import behind, is_tensor

VERBS = (viz.trace, viz.step)


def shown(drawing: viz.Drawing) -> list[tuple]:
    return [(f.name, [e.target and e.target.index for e in f.edges]) for f in drawing.graph.functions]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("framework", ["minigrad", "torch"])
def test_a_random_graph_is_drawn_again_after_its_pass(request, framework, seed):
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module("minigrad")
    result, leaves = program(t, seed)
    before = viz.draw(result, names=leaves)
    known = {f.outputs[0].name: f.outputs[0].shape for f in before.graph.functions if f.outputs[0].named}
    result.backward()
    after = viz.draw(result, names=leaves)
    assert shown(after) == shown(before) and after.svg
    assert {
        f.outputs[0].name: f.outputs[0].shape for f in after.graph.functions if f.outputs[0].named
    } == known
    assert any(s.state == "freed" for f in after.graph.functions for s in f.saved)
    for verb in VERBS:
        with pytest.raises(
            RuntimeError, match=f"viz.{verb.__name__} cannot go backward .* a second time: .* has already"
        ):
            verb(result)


def test_a_pass_that_kept_its_graph_is_stepped_again():
    x = minigrad.tensor([[1.0, 3.0], [4.0, 2.0]], requires_grad=True)
    z = x.exp().max(1)[0].sum()
    z.backward(retain_graph=True)
    assert [step.name for step in viz.trace(z, retain_graph=True)] == [step.name for step in viz.trace(z)]


def test_an_engine_whose_nodes_raise_when_they_are_looked_at_is_drawn():
    """An exception that a custom node raises when its saved values are read must not get through."""
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    z = (x * 2).sum()

    class Strange:
        next_functions = ((z.grad_fn, 0),)

        def name(self) -> str:
            return "StrangeBackward0"

        def __dir__(self) -> list[str]:
            return [*super().__dir__(), "_saved_self_sym_sizes", "_saved_self"]

        def __getattr__(self, name: str) -> Any:
            raise (KeyError if name.startswith("_saved") else AttributeError)(name)

    class Root:
        grad_fn, requires_grad, grad, shape, dtype = Strange(), True, None, (2,), "float32"

        def detach(self) -> Any:
            return x.detach()

    drawing = viz.draw(Root())
    assert [f.name for f in drawing.graph.functions][-1] == "StrangeBackward0"


def readable(t: ModuleType, op: Operation) -> dict[tuple[int, str, str], Any]:
    """What an operation's nodes still let us read after the pass: (position, node, attribute) -> value."""
    result = weighted(t, op.on(t, tensors(t, op.inputs(0))))
    if result is None:
        return {}
    result.backward()
    found: dict[tuple[int, str, str], Any] = {}
    for i, fn in enumerate(behind([result.grad_fn], lambda fn: True)):
        for name in (a for a in dir(fn) if a.startswith("_saved_")):
            try:
                value = getattr(fn, name)
            except RuntimeError as error:
                value = "freed" if "a second time" in str(error) else str(error)
            found[i, fn.name(), name] = "a tensor" if is_tensor(value) else value
    return found


def test_a_freed_node_keeps_what_pytorchs_keeps_readable(torch):
    """Numbers and sizes are not tensors: they stay readable, and a picture of a freed graph needs them."""
    found: dict[str, list[str]] = {}
    for op in OPERATIONS:
        mine, right = readable(minigrad, op), readable(torch, op)
        for key in mine.keys() & right.keys():
            if right[key] is not None and (mine[key] == "freed") != (right[key] == "freed"):
                found.setdefault(f"{key[1]}.{key[2]}", []).append(op.name)
    assert not found, "\n".join(f"{name}: {', '.join(ops[:3])}" for name, ops in sorted(found.items()))
