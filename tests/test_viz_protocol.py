"""viz needs the graph protocol and nothing else: an engine of 70 lines that speaks it can be drawn, traced and stepped."""

from __future__ import annotations

import re

import numpy as np
import pytest

import viz
from notebooks.exercises import tiny_engine
from viz.show.payload import payload


class Handle:
    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        self.hooks.remove(self.hook)


class Node:
    def __init__(self, name, inputs, rules):
        self._name, self.rules_, self.before, self.after = name, rules, [], []
        self.next_functions = tuple((edge(x), 0) for x in inputs)

    def name(self):
        return self._name

    def register_prehook(self, hook):
        return Handle(self.before, hook)

    def register_hook(self, hook):
        return Handle(self.after, hook)

    def run(self, grad):
        return tuple(rule(grad) for rule in self.rules_)


class Accumulate(Node):
    def __init__(self, variable):
        super().__init__("AccumulateGrad", (), ())
        self.variable = variable

    def run(self, grad):
        self.variable.grad = grad if self.variable.grad is None else self.variable.grad + grad
        return ()


class Number:
    """A learner's tensor: one number and the node that made it."""

    def __init__(self, value, grad_fn=None, requires_grad=False):
        self.value, self.grad_fn, self.requires_grad = value, grad_fn, requires_grad or grad_fn is not None
        self.grad, self.shape, self.dtype, self.accumulator = None, (), "float64", None

    def detach(self):
        return self

    def numpy(self):
        return np.asarray(self.value, dtype=np.float64)

    def __mul__(self, other):
        node = Node("MulBackward", (self, other), (lambda g: g * other.value, lambda g: g * self.value))
        return Number(self.value * other.value, node)

    def __add__(self, other):
        return Number(
            self.value + other.value, Node("AddBackward", (self, other), (lambda g: g, lambda g: g))
        )

    def backward(self):
        waiting, order = {}, []
        stack = [self.grad_fn]
        while stack:
            node = stack.pop()
            if node not in order:
                order.append(node)
                stack += [n for n, _ in node.next_functions if n]
        for node in order:
            for n, _ in node.next_functions:
                waiting[n] = waiting.get(n, 0) + 1
        grads, ready = {self.grad_fn: 1.0}, [self.grad_fn]
        while ready:
            node = ready.pop()
            grad = grads.pop(node)
            for hook in list(node.before):
                hook((Number(grad),))
            sent = node.run(grad)
            for hook in list(node.after):
                hook(tuple(Number(s) for s in sent), (Number(grad),))
            for (n, _), s in zip(node.next_functions, sent, strict=True):
                if n is not None:
                    grads[n] = grads.get(n, 0.0) + s
                    waiting[n] -= 1
                    if not waiting[n]:
                        ready.append(n)


def edge(x):
    if x.grad_fn is not None or not x.requires_grad:
        return x.grad_fn
    if x.accumulator is None:
        x.accumulator = Accumulate(x)
    return x.accumulator


def diamond():
    x = Number(2.0, requires_grad=True)
    y = x * x
    return x, y + y * Number(3.0)


def test_an_engine_of_ones_own_is_drawn_with_the_callers_names():
    x, z = diamond()
    drawing = viz.draw(z)
    assert repr(drawing) == "Drawing(z: 4 nodes, 6 edges, lanes view)"
    assert [i.name for i in drawing.picture.items if i.kind == "leaf"] == ["x", "x"]
    assert x.grad is None


def test_an_engine_of_ones_own_is_traced():
    x, z = diamond()
    trace = viz.trace(z)
    assert [s.name for s in trace] == ["AddBackward", "MulBackward", "MulBackward", "AccumulateGrad"]
    assert trace[2].total.array.item() == 4.0
    assert len(trace[2].parts) == 2
    assert x.grad == trace.leaves["x"].array.item() == 16.0


def test_the_payload_of_an_engine_of_ones_own_is_complete():
    _, z = diamond()
    data = payload(z, view="cards")
    assert [step["total"]["values"] for step in data["steps"]] == [[1.0], [1.0], [4.0], [16.0]]


def test_the_same_hooks_are_gone_afterwards():
    _, z = diamond()
    viz.trace(z)
    nodes, stack = [], [z.grad_fn]
    while stack:
        nodes.append(stack.pop())
        stack += [n for n, _ in nodes[-1].next_functions if n]
    assert not any(n.before or n.after for n in nodes)


def test_an_engine_without_hooks_can_be_drawn_and_says_what_a_trace_needs(monkeypatch):
    monkeypatch.delattr(Node, "register_prehook")
    _, z = diamond()
    assert viz.draw(z).svg
    message = r"has no register_prehook\. A node needs .* register_hook\(fn\(grad_inputs, grad_outputs\)\)"
    with pytest.raises(TypeError, match=message):
        viz.trace(z)


def test_an_engine_that_never_calls_a_prehook_is_reported(monkeypatch):
    monkeypatch.setattr(Node, "register_prehook", lambda self, hook: Handle([], hook))
    _, z = diamond()
    with pytest.raises(TypeError, match="did not first call the hook given to its register_prehook"):
        viz.trace(z)
    assert not z.grad_fn.after


def test_an_engine_that_fires_a_node_twice_is_shown_as_it_is():
    """A learner's wrong engine must not be hidden: firing y at once, without waiting, gives the classic wrong numbers."""
    x, z = diamond()

    def hasty(root):
        stack = [(root.grad_fn, 1.0)]
        while stack:
            node, grad = stack.pop()
            for hook in list(node.before):
                hook((Number(grad),))
            sent = node.run(grad)
            for hook in list(node.after):
                hook(tuple(Number(s) for s in sent), (Number(grad),))
            stack += [(n, s) for (n, _), s in zip(node.next_functions, sent, strict=True) if n is not None]

    Number.backward, right = hasty, Number.backward
    try:
        trace = viz.trace(z)
    finally:
        Number.backward = right
    assert [s.name for s in trace].count("AccumulateGrad") > 1
    assert trace.steps[-1].accumulate.after.array.item() == x.grad


# -- faulty engines are shown as they are, not as if a hook had changed a gradient


def by_engine(run, monkeypatch):
    """The sentences of a pass through the diamond 3 * x * x + 1, x = 2, whose correct gradient is 12, executed by `run`."""
    monkeypatch.setattr(tiny_engine.Tensor, "backward", lambda self: run(self.grad_fn, np.ones(self.shape)))
    x = tiny_engine.Tensor(2.0, requires_grad=True)
    x.grad = np.array(100.0)
    y = x * x
    a, b = y + tiny_engine.Tensor(1.0), y * tiny_engine.Tensor(2.0)
    trace = viz.trace(a + b, names={"x": x, "y": y, "a": a, "b": b})
    return trace, " ".join(s.sentence for s in trace)


def test_an_engine_that_is_right_gets_no_complaint(monkeypatch):
    trace, _ = by_engine(tiny_engine.run, monkeypatch)
    assert not any(s.wrong or s.early or s.again or any(x.lost for x in s.sent) for s in trace)
    assert trace.leaves["x"].array == 112.0


def test_an_engine_that_overwrites_is_reported(monkeypatch):
    trace, message = by_engine(tiny_engine.overwrites, monkeypatch)
    wrong = trace.of("y").wrong
    assert wrong.startswith("2 contributions, 2 and 1, were sent, but 1 arrived") and "overwrote" in wrong
    assert "hook" not in message


def test_an_engine_that_fires_too_early_loses_a_part(monkeypatch):
    trace, message = by_engine(tiny_engine.fires_too_early, monkeypatch)
    assert [f.outputs[0].name for f in trace.of("y").early] == ["b"]
    assert "It fires too early: b has not sent y a part yet." in message
    assert "y has fired already: this part is lost." in message


def test_an_engine_that_passes_totals_on_again_and_again_is_reported(monkeypatch):
    trace, message = by_engine(tiny_engine.fires_again, monkeypatch)
    assert re.search(r"2 was sent, but 3 arrived: .*counted again", message)
    assert [s.again for s in trace if s.tensor == "x"] == [0, 1, 2, 3]


def test_an_engine_that_follows_every_path_fires_often_but_adds_right(monkeypatch):
    trace, _ = by_engine(tiny_engine.follows_paths, monkeypatch)
    assert not any(s.wrong for s in trace)
    assert [s.again for s in trace if s.tensor == "y"] == [0, 1]
    assert trace.leaves["x"].array == 112.0


def test_an_accumulator_that_overwrites_grad_is_reported(monkeypatch):
    def overwrite(self, grad):
        self.variable.grad = grad
        return ()

    monkeypatch.setattr(tiny_engine.AccumulateGrad, "backward", overwrite)
    trace, message = by_engine(tiny_engine.run, monkeypatch)
    assert trace.of("x").accumulate.wrong.startswith("12 overwrote 100 in x.grad")
    assert "AccumulateGrad receives 12 for x, but 12 overwrote 100" in message
    x = tiny_engine.Tensor(2.0, requires_grad=True)
    x.grad = np.array(100.0)
    stored = payload(x * x * tiny_engine.Tensor(3.0))["steps"][-1]["accumulate"]
    assert stored["wrong"].startswith("12 overwrote 100")
