"""Reverse-mode transforms (grad, vjp) while they run, and what is *captured*: the tensors that they find already there.

The function that is transformed may not write to those in place: the result would lead out of the transform. Tensors
that belong to a transform in reverse mode are ordinary ones, so their age tells them apart. A tensor with history is as
old as its node; one without notes when it is made how many transforms had begun by then (`clock`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..clock import clock
from ..tensor import Tensor
from .grad_mode import local
from .node import next_sequence

if TYPE_CHECKING:
    from .interpreter import Interpreter

beginning = threading.Lock()


class Running(threading.local):
    """The transforms that are running in this thread: the innermost, each of which knows the next."""

    innermost: Reverse | None = None


running = Running()


class Reverse:
    """A transform in reverse mode, as a context while the function that is transformed runs.

    inputs: gives the tensors among its arguments, which may be written to although they are from outside.
    """

    def __init__(self, inputs: Callable[[], Sequence[Tensor]] = tuple):
        self.inputs = inputs

    def __enter__(self) -> Reverse:
        with beginning:
            clock.now += 1
            self.number = clock.now
        self.sequence = next_sequence()
        self.interpreter: Interpreter | None = local.interpreter
        self.outer, running.innermost = running.innermost, self
        clock.running.add(self)
        return self

    def __exit__(self, *exc: object) -> None:
        running.innermost = self.outer
        clock.running.discard(self)

    def captures(self, t: Tensor) -> bool:
        """Is `t` older than this transform, and its memory not that of an argument?"""
        if age(t) >= self.number:
            return False
        counter = t._own_counter()
        return all(t is not i and counter is not i._counter for i in self.inputs())


def age(t: Tensor) -> int:
    """What the clock showed when the memory of `t` came about, as far as the running transforms have to know."""
    base = t if t._base is None else t._base
    node, transform = base._grad_fn, running.innermost
    if node is None:
        return getattr(base, "_born", clock.now)  # it is not noted if it had a history then
    while transform is not None and node._sequence < transform.sequence:
        transform = transform.outer
    return 0 if transform is None else transform.number


def refuse_captured(name: str, t: Tensor) -> None:
    """Raise PyTorch's error if `t`, which is to be written to by the operation `name`, is captured by a transform."""
    interpreter = local.interpreter
    while True:
        transform = running.innermost
        while transform is not None:
            if transform.interpreter is interpreter and transform.captures(t):
                raise mutation(name)
            transform = transform.outer
        if interpreter is None or getattr(t, "level", None) is not interpreter:
            return
        t, interpreter = t.value, interpreter.below


def mutation(name: str) -> RuntimeError:
    """PyTorch's error for a write to a captured tensor."""
    return RuntimeError(
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
        f"(aten::{name.removesuffix('_')}_) that would mutate a captured Tensor. This is not supported; please rewrite the "
        "function being transformed to explicitly accept the mutated Tensor(s) as inputs."
    )
