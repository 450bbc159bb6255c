"""Exercises of lesson 07, Build the engine: nodes and their rules, unbroadcast, +=, the ready queue.

The solutions are the pieces of tiny_engine.py. Each piece is judged by what it does: a rule by the gradients that it returns;
an engine by its gradients and firings on a diamond, on a chain of doublings and on twenty random graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import tiny_engine as engine
from .bytecode import has_blank
from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .tiny_engine import Tensor, diamond
from .values import describe

MANY = 20_000  # firings, on graphs of at most 11 nodes
TOO_MANY = (
    "Your engine was stopped after 20,000 firings, but the graph has fewer than a dozen nodes. Take each node *out* of `ready` when it is fired "
    "(`choose` does), and put it in once: when its count is 0."
)
DEEP = 3000  # operations in a row: more than Python's recursion limit
TOO_DEEP = (
    "Your function calls itself, once for each node on the way. On a chain of 3000 operations Python gives up, and a network "
    "that reads a long text makes a longer chain. Keep a list of what is still to be done, and use a `while` loop."
)


# the graphs that the probes use


def has_a_rule(kind: type, name: str) -> None:
    if not hasattr(kind, "backward"):
        raise Complaint(f"The class `{name}` has no method `backward`. That is where its rule belongs.")


def handed_on(node: Any, grad: Any, inputs: int, complaint: str | None = None) -> tuple:
    """The result of the node's rule: a tuple with an entry for each input."""
    grads = unwritten(lambda: node.backward(grad), complaint or READ_ONLY)
    if grads is None:
        empty = "an empty tuple, `return ()`: there is nothing behind a leaf"
        missing = "a tuple with an entry for each input" if inputs else empty
        raise Complaint(f"`backward` returns nothing. Is there a `return`? The engine needs {missing}.")
    if not isinstance(grads, tuple | list):
        comma = " For a single entry, write a comma after it: `return (something,)`." if inputs == 1 else ""
        raise Complaint(f"`backward` must return a tuple with an entry for each input, here {inputs}.{comma}")
    if len(grads) != inputs:
        if inputs == 0:
            raise Complaint("There is nothing behind a leaf: `backward` returns an empty tuple, `return ()`.")
        raise Complaint(f"`backward` must return one gradient per input: {inputs} here, not {len(grads)}.")
    if any(part is None for part in grads):
        raise Complaint(
            "`None` is for an input that did not ask, and `edge` already takes care of that. A rule gives each input its gradient."
        )
    return tuple(grads)


READ_ONLY = (
    "That line writes into the array that arrived (`*=`, `+=` and `out=` do). The array belongs to the engine: an addition passes *the same* "
    "array to both of its inputs, and the other one would get your changed numbers. Make a new array."
)


def arriving(*values: float) -> np.ndarray:
    """A gradient as the engine passes it on: an array that another node may hold, so it must not be written into."""
    grad = np.array(values if len(values) != 1 else values[0])
    grad.setflags(write=False)
    return grad


def unwritten(call: Callable[[], Any], complaint: str) -> Any:
    """The result of `call`; a Complaint if it writes into an array that arrived."""
    try:
        return call()
    except ValueError as error:
        if "read-only" in str(error):
            raise Complaint(complaint) from None
        raise


def walk(root: Any, grad: np.ndarray) -> None:
    """The reference engine, for the learner's nodes, which cannot be called yet: the lesson comes to that later."""
    waiting, arrived, ready = engine.count_consumers(root), {root: grad}, [root]
    while ready:
        node = ready.pop()
        grads = handed_on(node, arrived.pop(node), len(node.next_functions))
        for (parent, _), part, shape in zip(node.next_functions, grads, node.shapes, strict=True):
            if parent is not None:
                part = engine.unbroadcast(part, shape)
                arrived[parent] = arrived[parent] + part if parent in arrived else part
                waiting[parent] -= 1
                if waiting[parent] == 0:
                    ready.append(parent)


SHARED = "On `z = tanh(x) + tanh(y)`, where one array goes to two nodes"


def tried_in_an_engine(
    tanh: Callable = engine.tanh, accumulator: type = engine.AccumulateGrad
) -> Iterator[tuple[str, Any]]:
    """Run the learner's piece in place of the reference's: what arrives at the leaves of graphs in which arrays are shared."""

    def own_leaf(value: Any) -> Tensor:
        made = leaf(value)
        made.accumulator = accumulator(made)
        return made

    x, y = own_leaf([0.3, -1.0]), own_leaf([0.5, 2.0])
    walk((tanh(x) + tanh(y)).grad_fn, arriving(1.0, 1.0))
    yield f"{SHARED}: the gradients of x and y", [x.grad, y.grad]
    for seed in range(5):
        result, leaves = engine.random_graph(seed, own_leaf, tanh)
        walk(result.grad_fn, np.ones(()))
        case = f"In an engine, on random graph {seed}: the gradients of its three leaves"
        yield case, [t.grad for t in leaves]


def leaf(value: Any) -> Tensor:
    return Tensor(value, requires_grad=True)


def mul_probe(kind: Any) -> Iterator[tuple[str, Any]]:
    has_a_rule(kind, "MulBackward0")
    square = [[1.0, 2.0], [3.0, -4.0]]
    for a, b, grad in (
        (3.0, 5.0, 1.0),
        (-3.0, -5.0, 10.0),
        ([1.0, -2.0], [-4.0, 0.5], [1.0, -100.0]),
        (square, [[2.0, 0.5], [-1.0, 3.0]], [[1.0, 10.0], [-1.0, 2.0]]),
    ):
        a, b, grad = leaf(a), leaf(b), arriving(grad)
        node = kind([a, b], {"self": a.data, "other": b.data})
        product = f"{describe(a.data)} * {describe(b.data)}, with {describe(grad)} arriving"
        for name, part in zip(("first", "second"), handed_on(node, grad, 2), strict=True):
            yield f"What goes to the {name} factor of `{product}`", part


def tanh_probe(kind: Any, tanh: Any) -> Iterator[tuple[str, Any]]:
    has_a_rule(kind, "TanhBackward0")
    for value, grad in ((0.5, 1.0), (0.5, 10.0), ([0.0, -1.0, 2.0], [1.0, 1.0, 5.0])):
        x = leaf(value)
        y = tanh(x)
        if y is None:
            raise Complaint("`tanh` returns nothing. Is there a `return`?")
        if not hasattr(y, "grad_fn"):
            raise Complaint(f"`tanh` should return what `record` makes, but it returns {describe(y, 40)}.")
        yield f"The value of `tanh({describe(x.data)})`", y.data
        if y.grad_fn is None:
            raise Complaint("The result has no node, so no gradient can come back. `record` makes one.")
        yield "The node's name", y.grad_fn.name()
        if x.accumulator is None or y.grad_fn.next_functions != ((x.accumulator, 0),):
            raise Complaint("The node should lead to the input `x` alone: `[x]` is the list of inputs.")
        (part,) = handed_on(y.grad_fn, arriving(*np.atleast_1d(grad)), 1)
        yield (
            f"What goes to x for `tanh({describe(x.data)})`, with {describe(np.asarray(grad))} arriving",
            part,
        )
    yield "A node, if no input asks for a gradient", tanh(Tensor(0.5)).grad_fn
    yield from tried_in_an_engine(tanh=tanh)


ALIASED = (
    "The array that arrived first was kept, and now it is written into. It is the engine's array: another leaf may have got "
    "*the same* one, and would change as well. Keep `grad.copy()`."
)


def accumulate_probe(kind: Any) -> Iterator[tuple[str, Any]]:
    has_a_rule(kind, "AccumulateGrad")
    x, twin = leaf([7.0, 8.0]), leaf([7.0, 8.0])
    first = arriving(1.0, 2.0)
    nodes = kind(x), kind(twin)
    for node in nodes:
        handed_on(node, first, 0)
    if not nodes[0].sequence == float("inf"):
        raise Complaint("`sequence` must stay infinite: a leaf that is ready goes before all other nodes.")
    if callable(x.grad) or getattr(getattr(x.grad, "dtype", None), "hasobject", False):
        raise Complaint("`grad.copy` without brackets only names the method. Call it: `grad.copy()`.")
    yield "`x.grad` after `[1, 2]` has arrived", None if x.grad is None else np.array(x.grad)
    kept_itself = x.grad is not None and np.shares_memory(x.grad, first)
    handed_on(nodes[0], arriving(10.0, 20.0), 0, complaint=ALIASED if kept_itself else None)
    yield "`x.grad` after `[10, 20]` has arrived as well", np.array(x.grad)
    yield (
        "Another leaf had received the same array `[1, 2]`, and nothing since. Its `.grad`",
        np.array(twin.grad),
    )
    handed_on(nodes[0], arriving(-30.0, 1.0), 0)
    yield "`x.grad` after a third, `[-30, 1]`", np.array(x.grad)
    yield from tried_in_an_engine(accumulator=kind)


def doublings(times: int) -> tuple[Tensor, Tensor]:
    x = y = leaf(1.0)
    for _ in range(times):
        y = y + y
    return x, y


def row(times: int) -> tuple[Tensor, Tensor]:
    x = y = leaf(1.0)
    for _ in range(times):
        y = y + 1
    return x, y


def listen(root: Any) -> list:
    """The nodes behind `root`, each noted in the returned list when it fires."""
    fired: list = []

    def note(node: Any) -> Callable:
        def listener(*_: Any) -> None:
            fired.append(node)
            if len(fired) > MANY:
                raise Complaint(TOO_MANY)

        return listener

    for node in engine.count_consumers(root):
        node.register_prehook(note(node))
    return fired


def count_probe(count_consumers: Any) -> Iterator[tuple[str, Any]]:
    tensors, at_x = diamond(), "what AccumulateGrad of x waits for"
    waiting = _counted(count_consumers, tensors["c"].grad_fn)
    nodes = {name: tensors[name].grad_fn or tensors[name].accumulator for name in "cabyx"}
    there = [name for name, node in nodes.items() if node in waiting]
    yield "On the diamond: whose nodes are in `waiting`", ", ".join(there)
    for name in there:
        yield f"On the diamond: what {nodes[name].name()} of {name} waits for", waiting[nodes[name]]
    yield "On the diamond: how many nodes there are", float(len(waiting))
    x = leaf(2.0)
    waiting = _counted(count_consumers, (Tensor(3.0) * x + x * x).grad_fn)
    yield f"On 3 * x + x * x, where the constant comes first: {at_x}", waiting[x.accumulator]
    x, y = doublings(10)
    waiting = _counted(count_consumers, y.grad_fn)
    yield f"x doubled 10 times: {at_x}", waiting[x.accumulator]
    try:
        waiting = _counted(count_consumers, row(DEEP)[1].grad_fn)
    except RecursionError:
        raise Complaint(TOO_DEEP) from None
    yield f"{DEEP} additions in a row: how many nodes there are", float(len(waiting))


def _counted(count_consumers: Callable, root: Any) -> dict:
    waiting = count_consumers(root)
    if not isinstance(waiting, dict):
        raise Complaint(f"Return `waiting`, a dictionary. Your function returns {describe(waiting, 40)}.")
    return waiting


def on_the_diamond(run: Callable) -> str:
    """x.grad after `run`, and the first node that receives the wrong gradient, in words."""
    tensors = diamond()
    due = {"c": "1", "b": "1", "a": "1", "y": "3", "x": "12"}
    received: list[tuple[str, str]] = []

    def note(name: str) -> Callable:
        def listener(arrived: tuple) -> None:
            received.append((name, describe(arrived[0], 20)))
            if len(received) > MANY:
                raise Complaint(TOO_MANY)

        return listener

    for name in due:
        (tensors[name].grad_fn or tensors[name].accumulator).register_prehook(note(name))
    run(tensors["c"].grad_fn, np.ones(()))
    fired = {name: [value for other, value in received if other == name] for name in due}
    wrong = next((name for name, _ in received if fired[name] != [due[name]]), None)
    wrong = wrong or next((name for name in due if not fired[name]), None)
    if wrong is None:
        finding = "each node fires once"
    elif not fired[wrong]:
        finding = f"{wrong} never fires"
    else:
        times = "once" if len(fired[wrong]) == 1 else f"{len(fired[wrong])} times"
        finding = f"{wrong} fires {times}, with {', then '.join(fired[wrong][:4])}"
    return f"x.grad is {describe(tensors['x'].grad, 20)}, and {finding}"


def pieces_beside(run: Any) -> tuple[Callable, Callable]:
    """The learner's own way to make a leaf, and their own tanh, if they are next to `run`; otherwise the reference's."""
    beside = getattr(run, "__globals__", {})
    own = [
        beside.get(name) for name in ("Tensor", "tanh", "AccumulateGrad", "MulBackward0", "record", "edge")
    ]
    if all(map(callable, own)) and not any(map(has_blank, own)):
        return lambda value: own[0](value, requires_grad=True), own[1]
    return leaf, engine.tanh


def run_probe(run: Any) -> Iterator[tuple[str, Any]]:
    yield "On the diamond", on_the_diamond(run)
    x = leaf(3.0)
    y = x * x
    fired = listen(y.grad_fn)
    run(y.grad_fn, np.ones(()))
    yield "`x.grad` for y = x * x at 3", x.grad
    yield "For y = x * x: how many times AccumulateGrad fires", float(fired.count(x.accumulator))
    x, y = doublings(10)
    fired = listen(y.grad_fn)
    run(y.grad_fn, np.ones(()))
    yield "x doubled 10 times, a graph of 11 nodes: how many firings", float(len(fired))
    once = len(fired) == 11
    x = leaf([1.0, 1.0])
    u, v = x * 2, x * 3
    w = u + v + u
    run(w.grad_fn, np.ones(2))
    three_x = leaf(2.0)
    run((Tensor(3.0) * three_x).grad_fn, np.ones(()))
    yield "`x.grad` for 3 * x, where the constant comes first", three_x.grad
    x_of_ten = leaf(2.0)
    run((x_of_ten * x_of_ten).grad_fn, np.array(10.0))
    yield "`x.grad` for y = x * x at 2, with 10 arriving at y", x_of_ten.grad
    yield "`x.grad` for `u, v = x * 2, x * 3; w = u + v + u`, with two numbers in x", x.grad
    for seed in range(20):
        result, leaves = engine.random_graph(seed, leaf, engine.tanh)
        run(result.grad_fn, np.ones(()))
        yield f"Random graph {seed}: the gradients of its three leaves", [t.grad for t in leaves]
    if not once:  # the reply is already about a more important mistake
        return
    for seed in range(3):
        result, leaves = engine.random_graph(seed, *pieces_beside(run))
        run(result.grad_fn, np.ones(()))
        case = f"Random graph {seed}, with the pieces of your notebook: the gradients of its three leaves"
        yield case, [t.grad for t in leaves]
    x, y = row(DEEP)
    try:
        run(y.grad_fn, np.ones(()))
    except RecursionError:
        raise Complaint(TOO_DEEP) from None
    yield f"`x.grad` after {DEEP} additions in a row", x.grad


# wrong answers that take more than a line


def count_recursively(root, waiting=None):
    waiting = {root: 0} if waiting is None else waiting
    for parent, _ in root.next_functions:
        if parent is None:
            continue
        new = parent not in waiting
        waiting[parent] = waiting.get(parent, 0) + 1
        if new:
            count_recursively(parent, waiting)
    return waiting


# shapes for unbroadcast


def _unbroadcast_cases() -> list[tuple]:
    six = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    return [
        (six, (3,)),
        (six, (2, 1)),
        (six, (1, 3)),
        (six, (2, 3)),
        (six, ()),
        (np.arange(12.0).reshape(2, 3, 2), (3, 1)),
        (np.arange(4.0).reshape(2, 2), (2,)),
    ]


def _paths(times: int) -> int:
    _, y = doublings(10)
    fired = listen(y.grad_fn)
    engine.follows_paths(y.grad_fn, np.ones(()))
    assert sum(not node.next_functions for node in fired) == 2**10
    return 2**times


QUESTIONS: list[Question] = [
    question(r"""
        7.a how many times the leaf is reached if every path is followed, after 20 doublings
        truth: _paths(20)
        counts: True
        found: Yes. Each doubling doubles the number of paths, so there are $2^{20}$, more than a million, in a graph of 21 nodes.
        missed: After one doubling there are 2 paths, after two 4, after three 8. After twenty: $2^{20} = 1\,048\,576$.

        40.0  :: 40 is the number of *edges*: two per doubling. A path takes one of the two at each doubling, so the choices multiply: $2^{20}$.
        20.0  :: 20 is the number of operations. At each of them a path can go on in two ways: $2 \cdot 2 \cdots 2 = 2^{20}$.
        21.0  :: 21 is the number of nodes, and that many firings are enough. But there are $2^{20}$ paths.
        400.0 :: $20^2$: but each doubling *doubles* the paths. Two, four, eight, ..., $2^{20}$.
        1.0   :: Once is right for a good engine. An engine that follows paths visits `x` once on each of the $2^{20}$ paths.
        2.0   :: Two paths after the first doubling, four after the second, and so on up to $2^{20}$.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        7.1 plus-equals
        solution: engine.AccumulateGrad
        probe: accumulate_probe
        why: The first gradient is copied, because the engine may hand the same array to several leaves. All later ones are added. With `=` instead of `+=`, a leaf that is used in two passes would keep only the gradient of the last one.
        shows: None, then a copy, then plus-equals. PyTorch's `AccumulateGrad` does the same, and avoids the copy where nothing else refers to the array.
        hint: If nothing is there yet, `self.variable.grad` becomes what arrives.
        hint: If something is there, what arrives is *added*: `+=`.
        hint: An addition passes the same array to both of its inputs. If both leaves keep that one array, `+=` on one changes the other: keep a copy, `grad.copy()`.

        grad.copy() => grad                       :: The array that arrived first was kept, and now it is written into.
        grad.copy() => np.zeros_like(grad)        :: The first gradient got lost: you begin with zeros, and never add it.
        copy => clone                             :: What arrives is an array. Copy it with `grad.copy()`; `clone` is for tensors.
        return () =>                              :: `backward` returns nothing. Is there a `return`?
        self.variable.grad += grad => grad += self.variable.grad; self.variable.grad = grad :: That line writes into the array that arrived
        else: => ;; self.variable.grad += grad => :: Only the first gradient is kept. What comes later has to be added.
        self.variable.grad += grad => self.variable.grad = (self.variable.grad + grad) / 2 :: That is the mean of what arrived. Nothing is averaged at a leaf: each pass, and each path, *adds* its part.
        self.variable.grad += grad => self.variable.grad = grad :: The second gradient has replaced the first. This is the `=` instead of `+=` of lesson 4: gradients *add up*.
        self.variable.grad = grad.copy() => self.variable.grad = np.ones_like(grad) + grad :: The sum begins at 1. Begin with what arrives, or with zeros and add.
        self.variable.grad = grad.copy() => self.variable.grad = grad.copy() + grad :: The first gradient was counted twice: you put it into `.grad`, and then add it as well.
        return () => return (grad,) :: There is nothing behind a leaf: `backward` returns an empty tuple
        grad.copy() => grad.copy :: `grad.copy` without brackets only names the method.
        grad.copy() => self.variable.data ;; self.variable.grad += grad => self.variable.grad = self.variable.grad + grad :: That is the value of the leaf, `data`. Its `.grad` begins with what *arrives*.
        self.variable.grad += grad => self.variable.grad -= grad :: What arrives is *added* to what is there, not subtracted.
        self.variable.grad += grad => self.variable.grad *= grad :: At a leaf nothing is multiplied: the multiplying was done along the paths. Here their parts are *added*.
        self.variable.grad += grad => self.variable.grad += 2 * grad :: You add the second gradient twice. Add each one once.
        self.variable.grad += grad => self.variable.grad = np.maximum(self.variable.grad, grad) :: You keep only the larger gradient. Whatever arrives is added.
        self.variable.grad = grad.copy() => self.grad = grad.copy() :: You put the gradient somewhere else. It belongs in the leaf: `self.variable.grad`.
        self.variable.grad = grad.copy() => self.variable.grad = abs(grad) ;; self.variable.grad += grad => self.variable.grad += abs(grad) :: `abs` does not belong here: a gradient has a sign, and keeps it when it is added.
        """),
    exercise(r"""
        7.2 the rule of a product
        solution: engine.MulBackward0
        probe: mul_probe
        why: In $a \cdot b$ each factor gets what arrives times *the other factor*. The node kept both: `_saved_self` is the first, `_saved_other` the second.
        shows: Each factor gets what arrived times the other one. This is the node that PyTorch has under the same name.
        look: What is each factor multiplied by in the product? Multiply what arrives by that.
        hint: The first entry is already there: what arrives, times the second factor. What does the second factor get?
        hint: The first factor was kept under the name `self._saved_self`.
        hint: Fill in `grad * self._saved_self`.

        grad * self._saved_other, grad * self._saved_self => grad + self._saved_other, grad + self._saved_self :: That adds. What arrives is *multiplied* by the local derivative, which is the other factor.
        return grad * self._saved_other, grad * self._saved_self => first = grad * self._saved_other; grad *= self._saved_self; return first, grad :: That line writes into the array that arrived
        instead of grad * self._saved_other, grad * self._saved_self:
        grad * self._saved_other, grad * self._saved_other :: That is the second factor times what arrived: the gradient of the *first* factor. Swap the roles: what was the second factor multiplied by?
        grad * self._saved_other, self._saved_self   :: That is the local derivative alone, right only when 1 arrives. Multiply it by `grad`.
        grad * self._saved_other, grad               :: An *addition* passes on what arrives as it is. In a product it is multiplied by the other factor.
        grad * self._saved_other, grad * self        :: `self` alone is the node. The first factor, which it kept, is `self._saved_self`.
        grad * self._saved_other, grad * _saved_self :: What a node keeps belongs to the node: `self._saved_self`.
        grad * self._saved_other, grad / self._saved_self :: You divide. What arrives is *multiplied* by the other factor, for both factors.
        grad * self._saved_other, -grad * self._saved_self :: There is no minus: when the second factor rises by 1, the product rises by the first.
        grad * self._saved_other, grad * self._saved_self**2 :: Multiply by the other factor itself, not by its square.
        grad * self._saved_other, grad * self._saved_input :: The node keeps what `mul` passes to `record`, under the names `_saved_self` and `_saved_other`.
        grad * self._saved_other, None               :: `None` is for an input that did not ask
        grad * self._saved_other,                    :: `backward` must return one gradient per input: 2 here, not 1.
        grad * self._saved_other, grad + self._saved_self :: That adds. What arrives is *multiplied* by the local derivative, which is the other factor.
        grad * self._saved_other, grad * (self._saved_self + self._saved_other) / 2 :: That is the mean of the two factors. Nothing is averaged: the second factor gets what arrives times the whole first one.
        grad * self._saved_other / 2, grad * self._saved_self / 2 :: What arrives is not divided between the two factors. Each gets all of it, times the other factor.
        grad * self._saved_self, grad * self._saved_other :: The two are the wrong way round. Each factor gets what arrives times the *other* one.
        grad * self._saved_other, grad * self._saved_self * self._saved_other :: That multiplies by the product. The slope of $a \cdot b$ with respect to $b$ is $a$ alone.
        grad, grad                                   :: That is the rule of an *addition*: it passes on what arrives as it is. In a product each factor gets that times the other one.
        grad * self._saved_other, grad * self._saved_self.T :: A product with `*` works entry by entry: nothing is transposed.
        grad * self._saved_other, grad * abs(self._saved_self) :: `abs` does not belong here: the other factor keeps its sign.
        self._saved_other, self._saved_self          :: Those are the local derivatives alone, right only when 1 arrives. Multiply each by `grad`.
        """),
    exercise(r"""
        7.3 a node of your own
        solution: (engine.TanhBackward0, engine.tanh)
        probe: tanh_probe
        why: The derivative of $\tanh$ is $1 - \tanh^2$: it can be written with the result alone. So the result is what the node keeps, and the input can be forgotten.
        shows: A forward, a rule, and what the rule needs: that is all that an operation is to an engine.
        look: The value is `np.tanh(x.data)`; the rule passes on what arrives times $1 - \tanh^2$.
        hint: Look at `add` and `AddBackward0`: a class with the rule, a function that calls `record`. NumPy's function is `np.tanh`.
        hint: $\tanh' = 1 - \tanh^2$. So keep the result: `{"result": result}`. The rule finds it as `self._saved_result`.
        hint: The rule: `return (grad * (1 - self._saved_result**2),)`. Mind the comma: a tuple with one entry.
        hint: The function: `result = np.tanh(x.data)`, then `return record(result, TanhBackward0, [x], {"result": result})`.

        return (grad * (1 - self._saved_result**2),) => grad *= 1 - self._saved_result**2; return (grad,) :: That line writes into the array that arrived
        {"result": result} => {"result": x}        :: What is kept is an array, such as `result`. `x` is the whole Tensor.
        return record(result, TanhBackward0, [x], {"result": result}) => return Tensor(result, True, TanhBackward0([x], {"result": result})) :: If no input asks for a gradient, there should be no node. `record` takes care of that: pass it the result, the class of the node, `[x]` and what to keep.
        np.tanh(x.data) => np.tanh(x)              :: `x` is a Tensor, and NumPy cannot work with it. Its array is `x.data`.
        [x] => x                                   :: `record` takes a *list* of inputs, even for one: `[x]`.
        TanhBackward0, [x] => TanhBackward0(), [x] :: Pass the class itself, `TanhBackward0`, without brackets: `record` makes the node, if one is needed.
        {"result": result} => result               :: What is kept needs a name, so that the rule can find it: `{"result": result}`.
        {"result": result} => {}                   :: The node kept nothing under that name. Tell `record` what to keep: `{"result": result}`.
        {"result": result} => {"result": x.data}   :: The rule is right, but what was kept is the *input*. Keep `result`, or take the $\tanh$ of the input in the rule.
        instead of (grad * (1 - self._saved_result**2),):
        grad * (1 - self._saved_result**2)             :: For a single entry, write a comma after it
        None,                                          :: `None` is for an input that did not ask
        grad + (1 - self._saved_result**2),            :: That adds. What arrives is *multiplied* by the local derivative.
        grad * (1 + self._saved_result**2),            :: It should be a minus: $\tanh' = 1 - \tanh^2$. The curve gets flatter on both sides, not steeper.
        grad * (self._saved_result**2 - 1),            :: The sign is flipped: $1 - \tanh^2$. The curve rises everywhere.
        grad * (1 - np.tanh(self._saved_result) ** 2), :: The $\tanh$ is taken twice: what the node kept is already the *result*. Square it as it is.
        grad * 1 - self._saved_result**2,              :: Python multiplies before it subtracts. Use brackets: `grad * (1 - ...)`.
        grad / (1 - self._saved_result**2),            :: You divide. What arrives is *multiplied* by the local derivative.
        grad * (1 - 2 * self._saved_result),           :: $\tanh^2$ is a square, not twice the value.
        grad * (1 - self.result**2),                   :: What was kept as `result` is found under the name `self._saved_result`.
        1 - self._saved_result**2,                     :: That is the local derivative alone. Multiply it by what arrives, `grad`.
        grad * (1 - self._saved_result),               :: The result has to be squared: $\tanh' = 1 - \tanh^2$.
        grad * self._saved_result * (1 - self._saved_result), :: That is the rule of the *sigmoid*. For $\tanh$ it is $1 - \tanh^2$.
        grad * self._saved_result,                     :: That multiplies by the value of $\tanh$. You need its slope, $1 - \tanh^2$.
        grad,                                          :: That passes on what arrives as it is. The local derivative is missing: multiply by $1 - \tanh^2$.
        grad * (1 - self._saved_result) ** 2,          :: That squares the difference. It should be $1 - \tanh^2$: square the result alone.
        """),
    exercise(r"""
        7.4 undo the broadcast
        solution: engine.unbroadcast
        cases: _unbroadcast_cases
        strict: True
        gives: (np.ndarray, np.generic)
        why: What broadcasting copied was used several times, and where something is used several times, its gradients are added. Axes that were put in front are summed away; an axis that was stretched from 1 is summed back to 1.
        shows: What fans out on the way forward is summed on the way back. It is the plus of the diamond again.
        look: Print `grad.shape` and `shape` next to each other: which axes are extra, and which were stretched from 1?
        hint: It is the `unbroadcast` of lesson 6, this time for NumPy arrays. First the extra axes, then the axes of size 1.
        hint: As long as `grad.ndim` is larger than `len(shape)`, sum over axis 0, in a `while` loop.
        hint: Then, for each axis where `shape` says 1: `grad = grad.sum(axis=axis, keepdims=True)`.

        engine.unbroadcast(grad, shape).tolist()      :: Return an `ndarray`: the caller computes with the result.
        axis=0 => axis=-1 :: That sums over the *last* axis. New axes are put in front, so it is axis 0 that has to go.
        grad.sum()                                    :: Everything was added up into one number. Only what was copied is summed: the result has the shape `shape`.
        grad                                          :: That is what arrived. A row that was added to two rows gets two gradients, and they have to be added.
        grad[0] if len(shape) < 2 and shape else grad :: That keeps the gradient of the first copy and loses those of the others. *Add* them.
        grad.mean(axis=tuple(range(grad.ndim - len(shape)))) :: A mean makes the gradient smaller. Each copy counts in full: *add* them.
        grad.sum(axis=0) if grad.ndim > len(shape) else grad :: The axes in front are done. Now the axes that have size 1 in `shape`: they were stretched, so sum them with `keepdims=True`.
        grad.sum(axis=tuple(range(grad.ndim - len(shape)))).sum(axis=tuple(i for i, n in enumerate(shape) if n == 1)) :: The sums are right, but the axes of size 1 are gone. `keepdims=True` keeps them.
        grad.sum(axis=0)                              :: Axis 0 is always summed. It should be summed only as long as there are more axes than `shape` has.
        np.ndim(grad) => grad.dim() :: These are arrays, and they have `grad.ndim` instead of `grad.dim()`, and `keepdims` instead of `keepdim`.
        np.ndim(grad) => grad.ndim ;; keepdims => keepdim :: NumPy writes it with an s: `keepdims=True`.
        engine.unbroadcast(grad, shape) / (grad.size / np.ones(shape).size if grad.size else 1) :: That is the mean of the copies. Each counts in full: *add* them, with `sum`.

        while grad.ndim > len(shape):
            grad = grad[0]
        return grad[tuple(slice(size) for size in shape)] :: That keeps the first of the copies and loses the others. Each brings a gradient: *add* them.

        np.resize(grad, shape)                        :: That cuts a piece out of the gradient. Nothing may get lost: what was copied is added up.
        np.ndim(grad) => grad.ndim ;; grad.sum(axis=0) => grad[0] :: `grad[0]` keeps the first of the parts and drops the others. They are added up: `grad.sum(axis=0)`.
        np.ndim(grad) => grad.ndim ;; axis, keepdims => 0, keepdims :: You always sum axis 0. Sum the axis that was stretched: `grad.sum(axis=axis, keepdims=True)`.
        """),
    exercise(r"""
        7.5 how many to wait for
        solution: engine.count_consumers
        probe: count_probe
        why: Each node is put on the list once, when the walk first reaches it. Each *edge* counts: `x * x` sends two gradients to `x`, so `x` waits for two.
        shows: Now every node knows how many gradients it will receive. It must not fire before that many have arrived.
        look: Count, on paper, how many arrows lead *to* each node of the diamond. The root has none.
        hint: For each parent of a node: one gradient will come from this node, so its count goes up by 1.
        hint: A parent that you meet for the first time starts at 0 and goes on the list `todo`; one that you have met before does not.
        hint: `if parent not in waiting:` then `waiting[parent] = 0` and `todo.append(parent)`. Then, in any case, `waiting[parent] += 1`.

        if parent not in waiting: => if True: ;; waiting[parent] = 0 => waiting.setdefault(parent, 0) :: The consumers of a node were counted once for each path that leads there. Put a node on the list only when you meet it for the *first* time.
        for parent, _ in node.next_functions => for parent, _ in dict(node.next_functions).items() :: `x * x` is one node that sends `x` *two* gradients. Count the edges, not the nodes.
        waiting[parent] = 0 => waiting[parent] = 1 ;; waiting[parent] += 1 => pass :: A node that you have met before gets another gradient from this one: its count goes up by 1 at every edge.
        todo.append(parent) => todo.append(parent); continue                    :: The counts are one too low: the edge by which you first reach a node counts as well.
        waiting[parent] = 0 => waiting[parent] = 1                     :: The counts are one too high: the first edge that leads to a node is counted twice. Begin at 0, and add 1 for each edge.
        waiting[parent] = 0 => :: A node that you meet for the first time has no count yet. Give it one: `waiting[parent] = 0`.
        todo.append(parent) => :: Only the root and its parents are in `waiting`. Each new parent goes on the list `todo`, so that its own parents are visited.
        waiting = engine.count_consumers(root); waiting[root] += 1; return waiting :: The root waits for nothing: its gradient, the 1, is there from the start. Its count should be 0.
        waiting[parent] += 1 => waiting[parent] += waiting[node] :: Every count stays 0: nothing is added, or only the count of `node`, which begins at 0. Each arrow that leads to a node adds 1.
        todo.append(parent) => todo.append(node) :: `node` has been visited. `parent` is the new one, with parents of its own: put it on the list.
        todo = [root] => todo = [] :: The loop never runs, because `todo` is empty. Begin with the root in it.
        waiting[parent] += 1 => waiting[parent] = len(parent.next_functions) :: That is how many gradients a node *sends*. The count is how many it receives: one for each arrow that leads *to* it.
        waiting = {root: 0} => waiting = {} :: The root is missing. It waits for nothing, but it is one of the nodes: begin with `{root: 0}`.
        waiting[parent] += 1 => waiting[node] += 1 :: You counted at `node`, which sends. `parent` is the one that will receive one more gradient.
        count_recursively                  :: Your function calls itself, once for each node on the way. On a chain of 3000 operations Python gives up, and a network that reads a long text makes a longer chain. Keep a list of what is still to be done, and use a `while` loop.
        waiting = {root: 0} => waiting, todo = {root: 0}, [root] ;; todo = [root] => ;; continue => return waiting :: `return` at a `None` ends the whole function. An input that did not ask is skipped: `continue`.
        waiting = {root: 0} => waiting, todo = {root: 0}, [root] ;; todo = [root] => ;; continue => break :: `break` at a `None` leaves out the inputs after it. Only that one should be skipped: `continue`.

        waiting, todo = {}, [root]
        while todo:
            node = todo.pop()
            waiting[node] = len(node.next_functions)
            todo += [p for p, _ in node.next_functions if p is not None and p not in waiting]
        return waiting :: That counts what a node *sends*, its arrows to the inputs. Count what it will *receive*: the arrows that lead to it.
        """),
    exercise(r"""
        7.6 the ready queue
        solution: engine.run
        probe: run_probe
        why: A node goes into `ready` at the moment when its count reaches 0, and that happens once. By then everything it should receive has been added up. So each node fires once, with the whole sum.
        shows: Your engine finds 12 on the diamond, fires each node once on a graph with 1024 paths, and handles twenty random graphs and 3000 operations in a row. This is the algorithm of PyTorch's engine, on one thread.
        hint: Begin with the outer loop: it is folded into the text above the cell. Then four steps remain for each parent.
        hint: Adding: if something has arrived at `parent` already, `arrived[parent] = arrived[parent] + part`; if not, `arrived[parent] = part`.
        hint: `waiting[parent] -= 1`, and then `if waiting[parent] == 0: ready.append(parent)`. Both belong inside the `for`.

        engine.fires_again                           :: 16 is 4 + 12: `y` fired when 1 had arrived, and again with the total of 3. So the first 1 was passed on twice. Fire once, when everything has arrived.
        engine.fires_too_early                       :: 4 is $1 \cdot 2 \cdot 2$: `y` fired with the 1 from `a`, and the 2 from `b` came too late. It has to wait for both.
        arrived[parent] = arrived[parent] + part => arrived[parent] = part :: Your engine finds 2: of several parts only the one that came last is left, at `y` and again at `x`. Either it has replaced the others (`=`), or parts are added only once the count is 0. Add at *every* arrival: `arrived[parent] + part`.
        engine.overwrites                            :: Your engine finds 2: of several parts only the one that came last is left, at `y` and again at `x`. Either it has replaced the others (`=`), or parts are added only once the count is 0. Add at *every* arrival: `arrived[parent] + part`.

        arrived, ready = {root: grad}, [root]
        while ready:
            node = ready.pop(0)
            for parent, part in engine.parts_of(node, arrived[node]):
                arrived[parent] = arrived.get(parent, 0) + part
                ready.append(parent) :: 96 is $4 \cdot 24$: each node goes into the list at every arrival, and fires with the total at that moment, in the order of the list. Count, and fire once: when everything has arrived.

        # All nodes at distance 1, then all at distance 2, ...; each once, by its shortest way to the root.
        distance, todo = {root: 0}, [root]
        while todo:
            node = todo.pop(0)
            for parent, _ in node.next_functions:
                if parent is not None and parent not in distance:
                    distance[parent] = distance[node] + 1
                    todo.append(parent)
        arrived = {root: grad}
        for node in sorted(distance, key=distance.get):
            for parent, part in engine.parts_of(node, arrived[node]):
                arrived[parent] = arrived.get(parent, 0) + part :: On the diamond this order works, because all its paths are equally long. Where a short path and a long one meet, taking the *nearest* node first, or the one reached first, fires a node too early: a more distant node that uses it has not sent its part yet. Ready means that the count is 0; distance does not matter.
        arrived[parent] = arrived[parent] + part => arrived[parent] = arrived[parent] + here ;; arrived[parent] = part => arrived[parent] = here ;; grads = node(arrived.pop(node)) => here = arrived.pop(node); grads = node(here) :: 4 is the number of paths to `x`: each parent got what had *arrived* at the node. It should get its `part`, which the rule computed from that.
        engine.run(root, np.ones_like(grad)); return :: Your engine begins with ones, whatever is passed to it. What arrives at the root is `grad`.
        waiting, parts, ready = engine.count_consumers(root), {root: [grad]}, [root]
        while ready:
            node = ready.pop()
            for parent, part in engine.parts_of(node, sum(parts[node]) / len(parts[node])):
                parts.setdefault(parent, []).append(part)
                waiting[parent] -= 1
                if waiting[parent] == 0:
                    ready.append(parent) :: 3 is $1.5 \cdot 2$: the parts were averaged, at `y` and again at `x`. Nothing is averaged where paths meet: each brings its part, and they are *added*.
        arrived[parent] + part => np.maximum(arrived[parent], part) :: You keep only the larger part. `c` moves with both, so what comes back along both is added: `arrived[parent] + part`.
        engine.follows_paths                         :: Each part is passed on separately as it arrives. The sums come out right, but a node fires once for every path: $2^{10} = 1024$ after ten doublings. Wait, add up, then fire once.

        arrived, ready, seen = {root: grad}, [root], {root}
        while ready:
            node = ready.pop()
            for parent, part in engine.parts_of(node, arrived.pop(node)):
                arrived[parent] = arrived.get(parent, 0) + part
                if parent not in seen:
                    seen.add(parent)
                    ready.append(parent) :: 8 is $2 \cdot 2 \cdot 2$: `y` fired with the 2 from `b`, and the 1 from `a` came too late. A node is ready when its count is 0, not when it is first reached.

        arrived = {root: grad}

        def visit(node):
            for parent, part in engine.parts_of(node, arrived[node]):
                arrived[parent] = arrived.get(parent, 0) + part
                visit(parent)

        visit(root) :: Each node, and the leaf too, fires with its total whenever a part arrives. What came first is counted again each time. Fire once, when everything has arrived.

        arrived, seen = {root: grad}, set()

        def visit(node):
            seen.add(node)
            for parent, part in engine.parts_of(node, arrived[node]):
                arrived[parent] = arrived.get(parent, 0) + part
                if parent not in seen:
                    visit(parent)

        visit(root) :: Each node fires once, but as soon as it is reached: `y` with the 1 from `a` alone, and `x` with the first of its two parts. What comes later is lost. Wait until the count is 0.

        arrived, ready = {root: grad}, [root]
        while ready:
            node = ready.pop()
            for parent, part in engine.parts_of(node, arrived[node]):
                arrived[parent] = arrived.get(parent, 0) + part
                ready.append(parent) :: A node goes into `ready` at *every* arrival, and fires with the total at that moment. Put it in once: when its count is 0.
        node(arrived.pop(node)) => node(grad) :: Every node was fired with `grad`, the 1 that arrives at the root. What counts is what has arrived *for it*: `node(arrived.pop(node))`.
        arrived[parent] = arrived[parent] + part => arrived[parent] = arrived[parent] * part :: The parts were multiplied. Along a path the nodes multiply. Where paths meet, the parts are *added*: `+ part`.
        node(arrived.pop(node)) => node.backward(arrived.pop(node)) :: The number is right. But `node.backward(...)` is the bare rule: no listener is called, and no broadcast is undone. Fire a node by calling it, `node(...)`.
        engine.count_consumers(root)                 :: Nothing was fired. `ready` begins as `[root]`, and `while ready:` goes on as long as something is in it. A node is fired by calling it: `node(...)`.
        for (parent, _), part in => for parent, part in :: The keys of the dictionaries are nodes, but your `parent` is a pair: `next_functions` holds `(parent, place)`. Take it apart: `for (parent, _), part in zip(...)`.
        arrived[parent] = arrived[parent] + part => arrived[parent] += part                                :: `+=` changes an array in place, and an addition had passed *the same* array to another node, which now has too much. Make a new one: `arrived[parent] = arrived[parent] + part`.
        continue => pass :: Some parents are `None`: inputs that did not ask, such as the 2 in `y * 2`. Skip these and go on with the next one, as `count_consumers` does.
        continue => break                               :: `break` leaves the loop, and the inputs after the `None` get nothing. `continue` goes on with the next.
        continue => return                              :: At the first `None` everything stops: `return` leaves the whole function. `continue` goes on with the next one.
        arrived[parent] = arrived[parent] + part => arrived[parent] += part ;; if parent in arrived: => if True: :: One of the dictionaries holds nothing for that node. If the line *counts*: `waiting`, as `count_consumers` returns it, has every node from the start. If the line *adds*: begin with `part` itself; `arrived.get(parent, 0) + part` does both. If the line *takes something out*: nothing has arrived for that node; or it was taken out earlier, and the node is still in `ready`. `arrived` begins as `{root: grad}`, and it is `parent` that becomes ready.
        waiting[parent] == 0 => True :: A node came out of `ready`, but nothing had arrived for it: it was put in too early, or twice. At the start `ready` holds only the root. Put a node in once: when its count is 0.
        arrived, ready = {root: grad}, [root]
        while ready:
            node = ready.pop()
            for parent, part in engine.parts_of(node, arrived.pop(node)):
                arrived[parent] = arrived.get(parent, 0) + part
                if parent not in ready:
                    ready.append(parent) :: `y` fires with the 2 that came first, and again when the 1 arrives. The sums are right, but the number of firings doubles wherever paths meet. Wait until the count is 0.
        waiting[parent] -= 1 => :: Only the root fired. Does `waiting[parent]` go down by 1 with each part? Does `parent` go into `ready` when it is 0? And does `while ready:` go on after the first node?
        waiting, arrived, ready = engine.count_consumers(root), {root: grad}, [root]
        while ready:
            node = ready.pop()
            for parent, part in engine.parts_of(node, arrived.pop(node)):
                arrived[parent] = arrived.get(parent, 0) + part
                waiting[parent] -= 1
                if waiting[parent] <= 0:
                    ready.append(parent)
                elif waiting[parent] == 1:
                    waiting[parent] = 99
                    ready.append(parent) :: A node fires while one of its gradients is still missing. That one comes too late, or makes the node fire a second time. Ready means that the count is 0.
        order, seen = [], set()

        def visit(node):
            seen.add(node)
            for parent, _ in node.next_functions:
                if parent is not None and parent not in seen:
                    visit(parent)
            order.append(node)

        visit(root)
        arrived = {root: grad}
        for node in reversed(order):
            for parent, part in engine.parts_of(node, arrived[node]):
                arrived[parent] = arrived.get(parent, 0) + part :: Your function calls itself, once for each node on the way. On a chain of 3000 operations Python gives up, and a network that reads a long text makes a longer chain. Keep a list of what is still to be done, and use a `while` loop.
        """),
]
