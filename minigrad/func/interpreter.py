"""Transforms as interpreters: each wraps values at its own level and says what an operation does to them.

`local.interpreter` is the innermost active one. Every operation reaches it through one method, `process` (`write`, if it is
in place); it unwraps the tensors of its own level, does its part with operations of the level `below`, and wraps the result. So
transforms nest in any order. Each wrapped tensor has its own graph (its *face*), for gradients taken inside the transform. The
value of a view of a wrapped tensor is a view at the level below, so all of them see a write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .. import messages
from ..autograd.grad_mode import Context
from ..autograd.modes import Modes, local, settle
from ..autograd.views import make_view
from ..ops import inplace
from ..ops.general import record
from ..ops.op import Op
from ..tensor import Tensor, wrap


class Wrapper(Tensor):
    """A tensor that belongs to one interpreter, its `level`: a `value` of the level below and what this level adds to it.

    `extra` is what it adds: a tangent, or which dimension runs over the examples. `_array` has the shape and the dtype that
    this level shows, and its memory gives a view's position in its base; the values are those of `value`.
    """

    __slots__ = ()
    seen = 0  # for a view: the version of its base when its value was last read

    @classmethod
    def of(cls, level: Interpreter, value: Tensor, extra: object = None) -> Wrapper:
        """A new wrapper, without history at this level."""
        out = wrap(cls.shown(value._array, extra))
        out.__class__, out.level, out.value, out.extra = cls, level, value, extra
        return out

    @staticmethod
    def shown(array: np.ndarray, extra: object) -> np.ndarray:
        """The value's array in the shape and dtype that this level shows."""
        return array

    def rewrapped(self) -> Wrapper:
        """The same value as a new tensor: without history at this level, with all history below."""
        return self.of(self.level, *self.level.unwrap(self))

    def detach(self) -> Wrapper:
        out = self.of(self.level, self.value.detach(), self.extra)
        out._counter = self._own_counter()
        return out

    def item(self) -> float | int | bool:
        return self.value.item()

    def tolist(self) -> list:
        return self.value.tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        return self.value.numpy(force=force) if force or not self._requires_grad else super().numpy()

    data = property(lambda self: self.value.data)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        raise RuntimeError(messages.FLAG_IN_TRANSFORM)


class Interpreter(Context):
    """One level of the stack of transforms. Each kind of transform defines:

    wrapper: the class of its tensors.
    compute(op, values, extras, params): returns (result, what this level adds to each of its tensors, or None), using
        operations of the level below.
    admit(op, target, values): called before `values` are written into a tensor, which need not be of this level.
    store(target, new): writes the value of `new` into the memory of `target`, using operations below.
    process_function(cls, args): calls a custom Function.
    """

    below: Interpreter | None = None
    active = False
    user = False  # whether it is forward mode's dual_level, not a transform

    def __enter__(self) -> Interpreter:
        self.below, self.active = local.interpreter, True
        super().__enter__()
        return self

    def inside(self) -> Modes:
        return local.modes._replace(interpreter=self)

    def outside(self, before: Modes) -> Modes:
        self.active = False
        return super().outside(before)

    def owns(self, t: object) -> bool:
        return type(t) is self.wrapper and t.level is self

    def lift(self, t: Tensor | None) -> Tensor | None:
        """`t` as a tensor of this level: itself if it is one, else a wrapped constant."""
        return t if t is None or self.owns(t) else self.wrapper.of(self, t)

    def unwrap(self, t: object) -> tuple[object, object]:
        """(value, extra) of a tensor of this level; (t, None) for anything else."""
        return (t.value, t.extra) if self.owns(t) else (t, None)

    def lower(self, values: tuple) -> tuple:
        """The inputs, or the parameters, of an operation, with tensors of this level replaced by their values."""
        return tuple(self.lower(v) if isinstance(v, tuple) else self.unwrap(v)[0] for v in values)

    def process(self, op: Op, inputs: Sequence[Tensor | None], params: tuple) -> Tensor | tuple[Tensor, ...]:
        """Do one operation on tensors, some of which may belong to this level."""
        values, extras = zip(*map(self.unwrap, inputs), strict=True) if inputs else ((), ())
        result, added = at(self.below, self.compute, op, values, extras, params)
        own = [t for t in inputs if self.owns(t)]
        if not own and added is None:
            return result
        results = results_of(result)
        outs = [self.wrapper.of(self, *p) for p in zip(results, added or (None,) * len(results), strict=True)]
        if op.view and self.owns(inputs[0]):
            for out in outs:
                if out.value._counter is inputs[0].value._own_counter():  # else the value had to be copied
                    make_view(out, inputs[0], several=results is result)
                    out.seen = out._counter.version
        if op.rules and local.records and any(t._requires_grad for t in own):
            record(op, [self.lift(t) for t in inputs], params, outs)
        return op.as_result(outs) if results is result else outs[0]

    def write(self, op: Op, inputs: tuple, params: tuple) -> Tensor:
        """Do one operation and write the result into the first input, at this level and those below."""
        target = inputs[0]
        self.admit(op, target, [*inputs[1:], *tensors_in(params)])
        if not self.owns(target):
            return at(self.below, inplace.write, op, self.lower(inputs), self.lower(params))
        steps = (lambda given: self.process(op, given, params)), self.store, self.old_value
        return inplace.overwrite(op, inputs, *steps, needs_old=True)

    def old_value(self, t: Wrapper) -> Wrapper:
        """A copy of `t`, with its place in the graph, from before it is written to."""
        return inplace.old_value(t, t.of(self, at(self.below, t.value.clone), self.unwrap(t)[1]))

    def created(self, t: Tensor, like: Tensor | None) -> Tensor:
        """A tensor made inside the transform, perhaps modelled on `like`; wrapped for this level if necessary."""
        return t if self.below is None else self.below.created(t, self.unwrap(like)[0])

    def source(self, generator: object) -> object:
        """The source of random numbers drawn inside; raises where that is refused."""
        return generator if self.below is None else self.below.source(generator)


def at(level: Interpreter | None, run: Callable, *args: object) -> object:
    """`run(*args)`, whose operations go to `level`."""
    before = local.update(interpreter=level)
    try:
        return run(*args)
    finally:
        local.modes = before
        settle()


def results_of(result: object) -> tuple:
    """The results of an operation as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def each(result: object, f: Callable) -> object:
    """`f` of a result, or of each of several."""
    return tuple(map(f, result)) if isinstance(result, tuple) else f(result)


def tensors_in(params: tuple) -> list[Tensor]:
    """The index tensors among an operation's parameters."""
    return [t for p in params if isinstance(p, tuple) for t in p if isinstance(t, Tensor)]
