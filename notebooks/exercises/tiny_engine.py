"""The engine that lesson 07 builds: the reference for its exercises, and four engines that go wrong.

NumPy only. What the lesson provides (Tensor, Node, edge, record, ...) is the same here; what it asks for
(MulBackward0, tanh, unbroadcast, AccumulateGrad, count_consumers, run, choose, train_step) is the solution that a
learner sees. (Only a repr without an address is added.) It speaks the graph protocol, so `viz` draws and steps it.
"""

from __future__ import annotations

from itertools import count

import numpy as np


class Tensor:
    def __init__(self, data, requires_grad=False, grad_fn=None):
        self.data = np.asarray(data, dtype=float)
        self.shape, self.dtype = self.data.shape, self.data.dtype
        self.requires_grad, self.grad_fn = requires_grad, grad_fn
        self.grad = None
        self.accumulator = None

    def numpy(self):
        return self.data

    def backward(self):
        run(self.grad_fn, np.ones(self.shape))


class Handle:
    def __init__(self, listeners, listener):
        self.listeners, self.listener = listeners, listener
        listeners.append(listener)

    def remove(self):
        self.listeners.remove(self.listener)


clock = count()


class Node:
    def __init__(self, inputs, saved):
        self.next_functions = tuple((edge(t), 0) for t in inputs)
        self.shapes = [t.shape for t in inputs]
        for name, value in saved.items():
            setattr(self, "_saved_" + name, value)
        self.sequence = next(clock)
        self.before, self.after = [], []

    def __call__(self, grad):
        for listener in list(self.before):
            listener((grad,))
        grads = self.backward(grad)
        grads = tuple(unbroadcast(g, s) for g, s in zip(grads, self.shapes, strict=True))
        for listener in list(self.after):
            listener(grads, (grad,))
        return grads

    def name(self):
        return type(self).__name__

    def __repr__(self):
        return f"<{self.name()}>"

    def _sequence_nr(self):
        return self.sequence

    def register_prehook(self, listener):
        return Handle(self.before, listener)

    def register_hook(self, listener):
        return Handle(self.after, listener)


def edge(tensor):
    if not tensor.requires_grad:
        return None
    if tensor.grad_fn is not None:
        return tensor.grad_fn
    if tensor.accumulator is None:
        tensor.accumulator = AccumulateGrad(tensor)
    return tensor.accumulator


def record(data, kind, inputs, saved):
    if not any(t.requires_grad for t in inputs):
        return Tensor(data)
    return Tensor(data, requires_grad=True, grad_fn=kind(inputs, saved))


def as_tensor(value):
    return value if hasattr(value, "grad_fn") else Tensor(value)


class AddBackward0(Node):
    def backward(self, grad):
        return grad, grad


def add(a, b):
    a, b = as_tensor(a), as_tensor(b)
    return record(a.data + b.data, AddBackward0, [a, b], {})


class MulBackward0(Node):
    def backward(self, grad):
        return grad * self._saved_other, grad * self._saved_self


def mul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    saved = {"self": a.data, "other": b.data}
    return record(a.data * b.data, MulBackward0, [a, b], saved)


Tensor.__add__ = add
Tensor.__mul__ = mul


class TanhBackward0(Node):
    def backward(self, grad):
        return (grad * (1 - self._saved_result**2),)


def tanh(x):
    result = np.tanh(x.data)
    return record(result, TanhBackward0, [x], {"result": result})


def unbroadcast(grad, shape):
    while np.ndim(grad) > len(shape):
        grad = grad.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


class AccumulateGrad(Node):
    def __init__(self, variable):
        super().__init__([], {})
        self.variable = variable
        self.sequence = float("inf")

    def backward(self, grad):
        if self.variable.grad is None:
            self.variable.grad = grad.copy()
        else:
            self.variable.grad += grad
        return ()


def count_consumers(root):
    waiting = {root: 0}
    todo = [root]
    while todo:
        node = todo.pop()
        for parent, _ in node.next_functions:
            if parent is None:
                continue
            if parent not in waiting:
                waiting[parent] = 0
                todo.append(parent)
            waiting[parent] += 1
    return waiting


def choose(ready):
    node = max(ready, key=lambda node: node.sequence)
    ready.remove(node)
    return node


def run(root, grad):
    waiting = count_consumers(root)
    arrived = {root: grad}
    ready = [root]
    while ready:
        node = choose(ready)
        grads = node(arrived.pop(node))
        for (parent, _), part in zip(node.next_functions, grads, strict=True):
            if parent is None:
                continue
            if parent in arrived:
                arrived[parent] = arrived[parent] + part
            else:
                arrived[parent] = part
            waiting[parent] -= 1
            if waiting[parent] == 0:
                ready.append(parent)


def train_step(loss_of, parameters, lr):
    for p in parameters:
        p.grad = None
    loss = loss_of()
    loss.backward()
    for p in parameters:
        p.data -= lr * p.grad
    return loss.data.item()


# engines that go wrong, each by a well-known mistake


def diamond():
    """The tensors of lesson 4's diamond, by name: x.grad should be 12."""
    x = Tensor(2.0, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    return {"x": x, "y": y, "a": a, "b": b, "c": a + b}


def parts_of(node, grad):
    """Fire `node`; return its parents, each with the gradient sent to it."""
    grads = node(grad)
    return [(p, g) for (p, _), g in zip(node.next_functions, grads, strict=True) if p is not None]


def follows_paths(root, grad):
    """Passes on each gradient as soon as it arrives: right numbers, but one firing for each path."""
    for parent, part in parts_of(root, grad):
        follows_paths(parent, part)


def fires_again(root, grad, totals=None):
    """Adds up what has arrived, and passes on the total at every arrival."""
    totals = {} if totals is None else totals
    for parent, part in parts_of(root, grad):
        if not parent.next_functions:
            parent(part)
            continue
        totals[parent] = totals.get(parent, 0) + part
        fires_again(parent, totals[parent], totals)


def overwrites(root, grad):
    """Waits, but keeps only the last gradient that arrived."""
    waiting, arrived, ready = count_consumers(root), {root: grad}, [root]
    while ready:
        node = ready.pop()
        for parent, part in parts_of(node, arrived[node]):
            arrived[parent] = part
            waiting[parent] -= 1
            if waiting[parent] == 0:
                ready.append(parent)


def fires_too_early(root, grad):
    """Goes down to the leaves first, in the order in which the nodes are met; what comes later is lost."""
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        if node not in order:
            order.append(node)
            stack += [p for p, _ in reversed(node.next_functions) if p is not None]
    arrived = {root: grad}
    for node in order:
        for parent, part in parts_of(node, arrived[node]):
            arrived[parent] = arrived.get(parent, 0) + part


def random_graph(seed, leaf, tanh):
    """A graph of up to 17 operations on three leaves made by `leaf(number)`: (its result, the leaves).

    The same seed gives the same graph, whatever makes the leaves. Results are reused many times, so that paths meet.
    """
    rng = np.random.default_rng(seed)
    leaves = [leaf(value) for value in rng.uniform(-1.5, 1.5, size=3).round(2)]
    values = list(leaves)
    for _ in range(rng.integers(4, 12)):
        a, b = (values[i] for i in rng.integers(0, len(values), size=2))
        values.append([a + b, a * b, tanh(a)][rng.integers(3)])
    result = values[-1]
    for used in leaves:
        result = result + used * values[rng.integers(3, len(values))]
    return result, leaves
