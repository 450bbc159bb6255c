"""Transforms as interpreters: each wraps values at its own level and says what an operation does to the wrapped ones.

`local.interpreter` is the innermost active one. Every operation comes to it through one door, `process`; it unwraps
what is its own, does its part with the operations of the level `below`, and wraps the result. So transforms nest in any
order. Wrapped tensors carry a graph of their own (their *face*), for gradients that are taken inside the transform.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..tensor import Tensor, new_object
from .grad_mode import local

if TYPE_CHECKING:
    from ..ops.table import Op


class Wrapper(Tensor):
    """A tensor that belongs to one interpreter, its `level`."""

    __slots__ = ("level",)

    @classmethod
    def around(cls, level: Interpreter, array: object) -> Wrapper:
        """A new wrapper without face history; `array` tells shape and dtype."""
        out = new_object(cls)
        out._array, out._requires_grad, out._grad_fn, out._output_nr = array, False, None, 0
        out._counter = out._meta = None
        out.level = level
        return out

    def face(self) -> Wrapper:
        """The same value with a face of its own: no history at this level, all history below."""
        raise NotImplementedError

    def detach(self) -> Wrapper:
        raise NotImplementedError

    def outside(self) -> Tensor:
        raise RuntimeError(
            "A tensor from inside vmap is used after the transform has ended. Return it from the function that is mapped."
        )

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() inside of a function being transformed by a functorch "
            "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, "
            "jacfwd, hessian) or call requires_grad_() outside of a function being transformed instead."
        )


class Interpreter:
    """One level of the stack of transforms."""

    below: Interpreter | None = None
    active = False

    def __enter__(self) -> Interpreter:
        self.below, self.active = local.interpreter, True
        local.update(interpreter=self)
        return self

    def __exit__(self, *exc: object) -> None:
        self.active = False
        local.update(interpreter=self.below)

    @contextmanager
    def lowered(self) -> Iterator[None]:
        """Inside, operations go to the level below."""
        enter(self.below)
        try:
            yield
        finally:
            enter(self)

    def owns(self, t: object) -> bool:
        return isinstance(t, Wrapper) and t.level is self

    def lift(self, t: Tensor) -> Tensor:
        """`t` as a tensor of this level: itself if it is one, else a wrapped constant."""
        raise NotImplementedError

    def process(self, op: Op, inputs: Sequence[Tensor], params: tuple):
        """Do one operation on tensors of which some belong to this level."""
        raise NotImplementedError

    def process_inplace(self, op: Op, inputs: Sequence[Tensor], params: tuple) -> Tensor:
        """Do one operation and put the result into the first input."""
        raise NotImplementedError

    def process_function(self, cls: type, args: tuple) -> object:
        """Call a custom Function."""
        raise NotImplementedError


def enter(interpreter: Interpreter | None) -> None:
    """Make this the active interpreter. Quicker than `local.update`, for inside a transform."""
    local.interpreter = interpreter
    local.ordinary = interpreter is None and not (local.inference or local.saved_hooks)
    local.recording = local.grad if local.ordinary else None


def become(target: Tensor, new: Tensor) -> None:
    """Make `target` all that `new`, a tensor of the same kind, is: what reshaping in place does."""
    for cls in type(new).__mro__:
        for slot in cls.__dict__.get("__slots__", ()):
            if slot not in ("__dict__", "__weakref__", "_meta", "_counter"):
                setattr(target, slot, getattr(new, slot))


def innermost(t: Tensor) -> Tensor:
    """The tensor inside all wrappers."""
    while isinstance(t, Wrapper):
        t = t.held()
    return t
