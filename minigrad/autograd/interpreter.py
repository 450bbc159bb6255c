"""Transforms as interpreters: each wraps values at its own level and says what an operation does to the wrapped ones.

`local.interpreter` is the innermost active one. Every operation comes to it through one door, `process`; it unwraps
what is its own, does its part with the operations of the level `below`, and wraps the result. So transforms nest in any
order. Wrapped tensors carry a graph of their own (their *face*), for gradients that are taken inside the transform.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from numpy import ndarray

from ..clock import clock
from ..tensor import Tensor, new_object
from .captured import age
from .grad_mode import local, special

if TYPE_CHECKING:
    from ..ops.table import Op


# operations whose first parameter is a sequence of tensors, or None
TENSOR_PARAMETERS = ("index", "index_put")


class Wrapper(Tensor):
    """A tensor that belongs to one interpreter, its `level`: a `value` of the level below and what this level adds to it.

    `extra` is what it adds: a tangent, or which dimension counts the examples. `steps` are the operations by which a view
    was made from its base, `seen` is the version of the base when its value was last looked at; see ops/wrapped.py, which
    adds what concerns views and writing.
    """

    __slots__ = ("level", "seen", "steps", "value")
    extra: object

    @classmethod
    def of(cls, level: Interpreter, value: Tensor, extra: object = None) -> Wrapper:
        """A new wrapper, without history at this level."""
        out = new_object(cls)
        out._array, out._requires_grad, out._grad_fn = cls.shown(value._array, extra), False, None
        out._output_nr, out._counter, out._meta = 0, None, None
        out.level, out.value, out.extra, out.steps, out.seen = level, value, extra, (), 0
        out._born = clock.now
        return out

    @staticmethod
    def shown(array: ndarray, extra: object) -> ndarray:
        """From the value's array one of the shape and dtype that this level shows."""
        return array

    def face(self) -> Wrapper:
        """The same value with a face of its own: no history at this level, all history below."""
        return self.of(self.level, self.value, self.extra)

    def copied(self) -> Wrapper:
        """A copy of the value, without history at this level. To be called at the level below."""
        return self.of(self.level, self.value.clone(), self.extra)

    def become(self, other: Wrapper) -> None:
        """Take over the value of another wrapper of this level."""
        self._array, self.value, self.extra = other._array, other.value, other.extra

    def detach(self) -> Wrapper:
        out = self.of(self.level, self.value.detach(), self.extra)
        out._counter = self._own_counter()
        if clock.running:
            out._born = age(self)
        return out

    def item(self) -> float | int | bool:
        return self.value.item()

    def tolist(self) -> list:
        return self.value.tolist()

    def numpy(self, *, force: bool = False) -> ndarray:
        return self.value.numpy(force=force) if force or not self._requires_grad else super().numpy()

    def __deepcopy__(self, memo: dict) -> Tensor:
        """Of a dual number, at a dual level, its value; refused inside a transform."""
        if self.level.user:
            return self.value.__deepcopy__(memo)
        raise NotImplementedError("Cannot access storage of a tensor inside a transform; clone() it instead.")

    def _dynamic(self, name: str) -> None:
        self.value._dynamic(name)

    def _outside(self) -> Tensor:
        raise RuntimeError(
            "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
            "https://pytorch.org/functorch/stable/ux_limitations.html): a tensor from inside vmap is used after the transform "
            "has ended. Return it from the function that is mapped."
        )

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Only at a dual level, not inside a transform."""
        if self.level.user:
            return super().requires_grad_(requires_grad)
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of "
            "a function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
            "transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
            "transformed instead."
        )


class Interpreter:
    """One level of the stack of transforms."""

    below: Interpreter | None = None
    active = False
    user = False  # is it forward mode's dual_level, and not a transform?
    wrapper: type[Wrapper]  # what its tensors are

    def __enter__(self) -> Interpreter:
        self.below, self.active = local.interpreter, True
        local.update(interpreter=self)
        return self

    def __exit__(self, *exc: object) -> None:
        self.active = False
        local.update(interpreter=self.below)

    def lowered(self) -> Lowered:
        """Inside this context operations go to the level below."""
        return Lowered(self.below)

    def owns(self, t: object) -> bool:
        return isinstance(t, Wrapper) and t.level is self

    def known(self, t: Tensor) -> Tensor:
        """What stands for `t` at this level: `t` itself, but for tensors that a dual level has adopted."""
        return t

    def lift(self, t: Tensor) -> Tensor:
        """`t` as a tensor of this level: itself if it is one, else a wrapped constant."""
        return t if self.owns(t) or t._array is None else self.wrapper.of(self, t)

    def unwrap(self, t: Tensor) -> tuple[Tensor, object]:
        """(value, extra) of a tensor of this level; (t, None) for any other."""
        t = self.known(t)
        return (t.value, t.extra) if self.owns(t) else (t, None)

    def process(self, op: Op, inputs: Sequence[Tensor], params: tuple):
        """Do one operation on tensors of which some belong to this level."""
        wrapper, values, extras, owned, recorded = self.wrapper, [], [], False, False
        for t in inputs:
            if type(t) is wrapper and t.level is self:
                owned, recorded = True, recorded or t._requires_grad
                values.append(t.value)
                extras.append(t.extra)
            else:
                values.append(t)
                extras.append(None)
        enter(self.below)
        try:
            result, added = self.compute(op, values, extras, params, owned)
        finally:
            enter(self)
        if added is None:
            return result
        several = isinstance(result, tuple)
        outs = [wrapper.of(self, r, e) for r, e in zip(result if several else (result,), added, strict=True)]
        if op.view:
            self.made_views(op, params, inputs[0], outs)
        if recorded and local.grad:
            op.record([self.lift(t) for t in inputs], params, outs)
        return tuple(outs) if several else outs[0]

    def compute(self, op: Op, values: list[Tensor], extras: list, params: tuple, owned: bool) -> tuple:
        """(result, what this level adds to each of its tensors), by operations of the level below.

        The latter is None if the result belongs to the level below. owned: is an input of this level?
        """
        raise NotImplementedError

    def created(self, t: Tensor, like: Tensor | None) -> Tensor:
        """A tensor that is made inside, from nothing, as a tensor of this level."""
        raise NotImplementedError

    def random(self, draw: Callable, args: tuple, kwargs: dict) -> Tensor:
        """A random tensor that is made inside: `draw` is to be called at the level below."""
        raise NotImplementedError

    def refuse_random_write(self, t: Tensor) -> None:
        """Raise PyTorch's error if `t` cannot take random numbers in place."""

    def created_below(self, t: Tensor, like: Tensor | None) -> Tensor:
        return t if self.below is None else self.below.created(t, like)

    def store(self, target: Wrapper, new: Tensor) -> None:
        """Write the value of `new` into the memory of `target`."""
        raise NotImplementedError

    def refuse_write(self, op: Op, target: Tensor, values: Sequence[Tensor]) -> None:
        """Raise PyTorch's error if a tensor that is not of this level must not be written to.

        values: what is to be written, if some of it is of this level.
        """
        raise NotImplementedError

    def process_function(self, cls: type, args: tuple) -> object:
        """Call a custom Function."""
        raise NotImplementedError


class Lowered:
    """A context in which another interpreter is the active one."""

    __slots__ = ("before", "level")

    def __init__(self, level: Interpreter | None):
        self.level = level

    def __enter__(self) -> None:
        self.before = local.interpreter
        enter(self.level)

    def __exit__(self, *exc: object) -> None:
        enter(self.before)


def enter(interpreter: Interpreter | None) -> None:
    """Make this the active interpreter. Quicker than `local.update`, for inside a transform."""
    local.interpreter = interpreter
    local.ordinary = interpreter is None and not (local.inference or local.saved_hooks)
    local.recording = local.grad if local.ordinary else None
    if interpreter is not None:
        special.add(local.key)  # a mode that was changed at the level below may have taken it away


def innermost(t: Tensor) -> Tensor:
    """The tensor inside all wrappers."""
    while isinstance(t, Wrapper):
        t = t.value
    return t
