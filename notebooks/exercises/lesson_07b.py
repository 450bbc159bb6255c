"""Exercises of lesson 07b, Put the engine to work: the order of ready nodes, and a step of training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import tiny_engine as engine
from .bytecode import uses
from .lesson_07 import diamond, leaf
from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .side_effects import unchanged
from .tiny_engine import Node, Tensor
from .values import describe, same


class Standing:
    """A stand-in for a node in a ready list: it has a sequence number."""

    def __init__(self, sequence: float):
        self.sequence = sequence

    def __repr__(self) -> str:
        return f"the node number {self.sequence}"


def choose_probe(choose: Any) -> Iterator[tuple[str, Any]]:
    if {"id", "hash"} & uses(choose).keys():
        raise Complaint(
            "`id` and `hash` say where a node is in memory, not when it was made. `node.sequence` says that."
        )
    for numbers in ([3, 8, 5], [4], [9, 2, 10], [1, float("inf"), 12]):
        ready = [Standing(number) for number in numbers]
        node = choose(ready)
        if node is None:
            raise Complaint("`choose` returns nothing. Is there a `return`?")
        if not isinstance(node, Standing):
            raise Complaint(f"`choose` should return a node from `ready`, but returns {describe(node, 40)}.")
        case = f"Out of nodes with the numbers {numbers}"
        yield f"{case}: the one that was chosen", str(node.sequence)
        yield f"{case}: what stays in `ready`", str(sorted(n.sequence for n in ready))


def train_probe(train_step: Any) -> Iterator[tuple[str, Any]]:
    """One parameter, then two that are multiplied: their values, the returned value, how many times the loss is computed."""
    w = leaf(5.0)
    runs: list[int] = []

    def square() -> Tensor:
        runs.append(1)
        return w * w

    for step in (1, 2, 3):
        runs.clear()
        returned = train_step(square, [w], 0.3)
        yield f"w after step {step} on the loss w * w, from 5 with lr 0.3", w.data
        yield f"The loss that step {step} returns", returned
        yield f"In step {step} the loss was computed this many times:", float(len(runs))
    for lr, turned in ((0.1, False), (0.25, True)):
        v, b = leaf(-2.0), leaf([1.0, -3.0])
        runs.clear()

        def both(v: Tensor = v, b: Tensor = b) -> Tensor:
            runs.append(1)
            return engine.record(
                (b.data * b.data).sum() * v.data, _Coupled, [v, b], {"v": v.data, "b": b.data}
            )

        v.grad, b.grad = np.array(50.0), np.array([7.0, 7.0])  # left there by an earlier pass
        parameters = [b, v] if turned else [v, b]
        with unchanged(parameters=parameters):
            returned = train_step(both, parameters, lr)
        case = f"on the loss v * (b * b).sum(), with lr {lr:g} and parameters {'b, v' if turned else 'v, b'}"
        yield f"v after a step from -2 {case}", v.data
        yield f"b after a step from [1, -3] {case}", b.data
        yield f"The loss that comes back {case}", returned
        yield f"The loss was computed this many times {case}:", float(len(runs))


def runs_of_the_loss(seen: dict[str, Any]) -> str:
    """What is wrong with a step that matches no listed answer, if the number of times the loss was computed shows it."""
    if same(seen.get("w after step 1 on the loss w * w, from 5 with lr 0.3"), np.array(5.0), 0.0):
        return "Nothing has moved: after the step the parameter is the same as before. Change its numbers, `p.data`."
    counts = [int(value) for label, value in seen.items() if "computed" in label]
    if counts and max(counts) > 1:
        return (
            f"In one step the loss is computed {max(counts)} times. Once is enough: clear all gradients, one `loss_of()`, one "
            "`backward()`, and then move all parameters."
        )
    never = "`loss_of()` is never called: without a loss there is no graph to go back through."
    return never if 0 in counts else ""


class _Coupled(Node):
    def backward(self, grad):
        b = self._saved_b
        return grad * (b * b).sum(), grad * 2 * b * self._saved_v


def _second_pass() -> float:
    tensors = diamond()
    tensors["c"].backward()
    tensors["c"].backward()
    return float(tensors["x"].grad)


QUESTIONS: list[Question] = [
    question(r"""
        7b.a x.grad after a second c.backward() with this engine
        truth: _second_pass()
        found: Yes: 12 and 12 again. Our nodes free nothing, so the second pass runs, and `AccumulateGrad` adds.
        missed: The second pass brings 12 once more, and `AccumulateGrad` adds it to the 12 that is already there: 24.

        12.0  :: 12 is what each pass brings. `AccumulateGrad` adds the second one to the first: 24.
        None  :: PyTorch raises an error here, because the multiplications freed what they had kept. Our nodes free nothing.
        144.0 :: Nothing is multiplied: the second 12 is *added* to the first.
        36.0  :: The second pass begins with a 1 again, and brings 12, not 24. So `x` gets $12 + 12$.
        """),
    question(r"""
        7b.b when a leaf near the loss gets its gradient
        truth: "b"
        found: Yes: once the product has fired, `w` has everything it will ever get, and `AccumulateGrad` goes before everything else that is ready.
        missed: It is **b**: `w` is ready once the product has fired, and is then first in the queue.

        "a" :: Many pictures show it that way. But `w` has nothing to wait for once the product has fired, and its number is the highest of all.
        "c" :: It goes before all other nodes that are *ready*. But it is not ready until the product has sent its part.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        7b.1 the newest first
        solution: engine.choose
        probe: choose_probe
        why: `max` with a `key` compares the sequence numbers and returns the node. `remove` takes that node out of the list.
        shows: Newest first, and AccumulateGrad, whose number is infinite, before everything else: this is PyTorch's order.
        hint: Two things: find the node, and take it out of the list.
        hint: `max(ready, key=lambda node: ...)` finds the node for which something is largest. What should that be?
        hint: It is `node.sequence`. Then take the node out of the list: `ready.remove(node)`, and return it.

        ready.remove(node) => ready.pop() :: `pop()` removes the last node in the list, whichever one was chosen. Remove the chosen one: `ready.remove(node)`.
        ready.pop()                                :: That is the one that was put into the list last. Take the one that was *made* last: the largest `node.sequence`.
        ready.pop(0)                               :: That is the one that has waited longest. Take the largest `node.sequence`.
        max => min :: That is the oldest: `min` takes the smallest number, `max` the largest.
        max(ready, key=lambda node: node.sequence) :: That is the right node, but it is still in `ready`, and would fire for ever. Take it out: `ready.remove(node)`.
        max(node.sequence for node in ready)       :: `choose` should return a node
        max(ready)                                 :: Two nodes cannot be compared directly. Say what to compare: `max(ready, key=lambda node: node.sequence)`.
        max(ready, key=lambda node: node.sequence) => max(ready, key=lambda n: n.sequence) ;; remove(node) => clear() :: That is the right node, but all the others are gone from `ready` as well, and would never fire. Remove only that one: `ready.remove(node)`.
        ready[0] :: That is the one that has waited longest, and it stays in `ready`. Take the one with the largest `node.sequence`, and take it *out*.
        """),
    exercise(r"""
        7b.2 a step of training
        solution: engine.train_step
        probe: train_probe
        diagnose: runs_of_the_loss
        why: Clear, forward, backward, update. The gradient points uphill, so each parameter goes a little way against it.
        shows: Clear, forward, backward, step: with your engine below it, this is a whole training loop.
        look: Four things, once each: clear, forward, backward, and one move of `lr` times the gradient.
        hint: Four things, in this order: clear each `p.grad`, compute the loss, go backward, move each parameter.
        hint: Clear: `p.grad = None`. Then `loss = loss_of()` and `loss.backward()`.
        hint: Move: `p.data -= lr * p.grad`, for each `p`. And return `loss.data.item()`.

        p.grad = None => pass                         :: In the second step the gradient of the first is still in `.grad`. Set each `p.grad` to `None` before you begin.
        p.data -= lr * p.grad => p.data += lr * p.grad                            :: Your step went uphill. The gradient says where the loss *grows*: go against it.
        p.data -= lr * p.grad => p.data = lr * p.grad                    :: The parameter was replaced by the step. It should *move* by it: `p.data -= lr * p.grad`.
        p.data -= lr * p.grad => p.data -= p.grad                      :: The whole gradient was used as the step. Multiply it by `lr`.
        p.data -= lr * p.grad => p.data - lr * p.grad                    :: Nothing has moved. Change the numbers of each parameter, `p.data`: `p.data -= lr * p.grad`. (`p = p - ...` makes a new `p` and forgets the old one.)
        p.grad = None => pass ;; p.data -= lr * p.grad => p.data -= lr * p.grad; p.grad = None :: You clear *after* the step. So what an earlier pass left in `.grad` is added to the first gradient. Clear at the beginning.
        loss.backward() =>                           :: `p.grad` is `None` when you use it. Did you forget `loss.backward()`, or clear the gradients after it?
        loss = loss_of() => ;; loss.backward() => loss_of.backward() :: `loss_of` is a function. The loss is what it returns: `loss = loss_of()`.
        return loss.data.item() => return loss :: Return the loss as a plain number: `loss.data.item()`.
        p.data -= lr * p.grad => p -= lr * p.grad :: `p` is a Tensor, and our Tensors have no minus. Its numbers are in `p.data`: `p.data -= lr * p.grad`.
        p.data -= lr * p.grad => p.data = p.data * (1 - lr * p.grad)                     :: The parameter was *multiplied*. A step subtracts `lr` times the gradient.
        p.data -= lr * p.grad => p.data -= lr * np.sign(p.grad)                       :: Your step has the length `lr`, however steep the loss is. It should be `lr` *times* the gradient.
        return loss.data.item() => return loss_of().data.item() :: That is the loss *after* the step: you called `loss_of()` once more. Return the loss on which you called `backward()`.

        for p in parameters:
            p.grad = None
            loss = loss_of()
            loss.backward()
            p.data = p.data - lr * p.grad
            return loss.data.item() :: Only the first parameter has moved. Is the `return` inside the `for`?

        for p in parameters:
            p.grad = None
            loss = loss_of()
            loss.backward()
            p.data -= lr * p.grad
        return loss.data.item() :: Everything is inside one loop, so each parameter has its own loss and its own pass, after others have already moved. Do four separate things: clear *all*; one `loss_of()`; one `backward()`; move *all*.
        loss.backward() => ;; p.data -= lr * p.grad => loss.backward(); p.data -= lr * p.grad :: `backward()` is inside the loop over the parameters: with two of them there are two passes, and their gradients add up. One pass computes all the gradients.
        lr * p => 0.3 * p                            :: 0.3 is the learning rate of one call. Use `lr`, whatever it is.
        p.grad = None => parameters[0].grad = None :: Only the first parameter's gradient is cleared. Clear all of them before the pass.
        lr * p.grad => lr * abs(p.grad)              :: `abs` removes the sign, so every parameter moves down. Where the gradient is negative it has to move *up*.
        loss = loss_of() => ;; loss.backward() => for _ in parameters: loss = loss_of(); loss.backward() :: There is one pass for each parameter, and their gradients add up. One pass computes all the gradients.
        lr * p.grad => lr / 2 * p.grad               :: The step is half as long as it should be. Use `lr` times the gradient, nothing else.
        lr * p.grad => lr / len(parameters) * p.grad :: You divide the step among the parameters. Each moves by `lr` times its own gradient.
        return round(engine.train_step(loss_of, parameters, lr)) :: The loss is rounded. Return it as it is.
        """),
    exercise(r"""
        7b.3 does the order matter?
        solution:
            answer = "b"
        why: In each of these orders, a node fires only when everything it should receive has been added up. So it receives the same sum, and passes on the same gradients. The order changes only *when* it fires, and with that the order of the hooks and what is in memory at any one time.
        shows: Waiting makes the numbers right, up to rounding. The order among ready nodes is a matter of taste, and of memory.
        hint: Try it: change the body of `choose` to `return ready.pop(0)`, and run the comparison again.
        hint: When a node becomes ready, what has been added up for it? Does that depend on which node fired first?

        "a" :: The engine of lesson 7 passed twenty random graphs in exercise 7.6 while it took its nodes with `ready.pop()`. The numbers did not depend on that order.
        "c" :: The orders do differ: the comparison above shows it. The gradients are still the same. Why?
        "d" :: `x` is used twice here, in `x * x`, and got 12 in both orders. What two edges bring is added up, whichever comes first.
        """),
]
