"""Views of tensors that belong to a transform, and writing into them.

One example inside vmap has no memory of its own, so strides cannot tell which part of its base a view shows. A view that
belongs to a transform remembers the operations that lead to it from its base, its `steps`. Done on the numbers
0, 1, 2, ... they tell the *places* of its elements in the base; with these a write into the view is a write into the
base's history and tangent. The values themselves are written at the level below, where memory is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..autograd.grad_mode import local
from ..autograd.interpreter import Interpreter, Wrapper
from ..autograd.node import Node, edge, next_sequence
from ..tensor import Tensor, new_object
from .dispatch import make_view
from .history import CopySlices, check_writable, rebase, resave_result, written
from .inplace import check_result, is_recorded, write_in_general
from .strides import add_places, in_elements, place_of, read_places, window_places, write_places

if TYPE_CHECKING:
    from .table import Op


def base_of(t: Tensor) -> Tensor:
    return t if t._base is None else t._base


def made_views(level: Interpreter, op: Op, params: tuple, source: Tensor, outs: Sequence[Wrapper]) -> None:
    """Tell the results of a view operation that they are views, if they share memory at the level below."""
    if not level.owns(source):
        return
    memory, several = base_of(source.value), len(op.outputs) != 1
    for number, out in enumerate(outs):
        if base_of(out.value) is memory:
            make_view(out, source, several)
            out.steps = (*source.steps, (op, params, number))
            out.seen = out._counter.version


def replayed(view: Wrapper, t: Tensor) -> Tensor:
    """What `view` shows of its base, of another tensor of the base's shape."""
    for op, params, number in view.steps:
        found = op.call(t, *params)
        t = found[number] if isinstance(found, tuple) else found
    return t


def with_part(view: Wrapper, t: Tensor, part: Tensor) -> Tensor:
    """A copy of `t`, of the shape of the base, with `part` where `view` looks."""
    return write_places(t, part, places(view))


def places(view: Wrapper) -> np.ndarray:
    """Where the elements of a view are in its base, whose elements are counted in row-major order."""
    shape = view._base._array.shape
    numbers = np.arange(view._base._array.size).reshape(shape)
    for op, params, number in view.steps:
        found = op.forward(numbers, *params)
        numbers = found[number] if isinstance(found, (tuple, list)) else found
    return numbers


def window(dual: Wrapper, t: Tensor) -> Wrapper:
    """The view of a dual that stands for a view `t` of what the dual stands for."""
    where = window_places(*in_elements(place_of(t)))
    out = type(dual).of(dual.level, t, None)
    make_view(out, dual)
    out.steps, out.seen = ((read_places.op, (where,), 0),), -1
    return out


class WrittenPlaces(CopySlices):
    """The node of a base that belongs to a transform and of which a view was written to."""

    __slots__ = ("places",)

    def where(self) -> np.ndarray:
        return self.places


def written_places(view: Wrapper) -> WrittenPlaces:
    """The node of a write into a view, without its edges."""
    node = new_object(WrittenPlaces)
    node.places = places(view)
    return node


class ReadPlaces(Node):
    """The history of a view that belongs to a transform after its base was written to: a read of what is there now."""

    __slots__ = ("places", "shape")

    def name(self) -> str:
        return "AsStridedBackward0"

    def _vjp(self, grad, recorded: bool) -> tuple:
        return (add_places(grad, self.shape, self.places),)


ReadPlaces.__name__ = "AsStridedBackward0"


def read_again(view: Wrapper) -> Node:
    """The node of reading a view from its base as it is now."""
    base, node = view._base, new_object(ReadPlaces)
    node._edges, node._input_nrs = (edge(base),), (base._output_nr,) if base._output_nr else None
    node._sequence, node._hooks, node._meta, node._kept = next_sequence(), None, None, ()
    node.places, node.shape = places(view), base._array.shape
    return node


def write(level: Interpreter, op: Op, inputs: Sequence[Tensor], params: tuple) -> Tensor:
    """Do one operation and write the result into the first input, at every level."""
    original, *others = inputs
    target = level.known(original)
    if not level.owns(target):
        values = [*map(level.known, others), *tensors_in(params)]
        own_values = any(map(level.owns, values))
        level.refuse_write(op, target, values if own_values else [])
        if not (own_values and level.user):
            with level.lowered():
                return write_in_general(op, tuple(inputs), params)
        target = level.adopt(original)
    inputs = (target, *others)
    recording = is_recorded(op, inputs)
    if recording:
        check_writable(target)
    sources = list(inputs)
    if "self" in op.saves:
        sources[0] = before_write(level, target)  # the rules need the value from before the write
    new = level.process(op, sources, params)
    check_result(op, new._array, target._array)
    level.store(target, new)
    node = new._grad_fn if recording else None
    if recording and node is None:  # a comparison, whose truth values have no history
        node = op.record([level.lift(t) for t in sources], params, [new])
    written(target, node)
    if node is not None and op.saved_results:
        resave_result(node, target)
    return original


def tensors_in(params: tuple) -> list[Tensor]:
    """The index tensors among an operation's parameters."""
    return [t for p in params if isinstance(p, tuple) for t in p if isinstance(t, Tensor)]


def before_write(level: Interpreter, t: Wrapper) -> Wrapper:
    """A copy of `t`, with its place in the graph, from before it is written to."""
    node = edge(t)
    with level.lowered():
        before = t.copied()
    before._requires_grad, before._grad_fn, before._output_nr = t._requires_grad, node, t._output_nr
    return before


def reshape_in_place(level: Interpreter, op: Op, t: Tensor, params: tuple) -> Tensor:
    """`t_`, `squeeze_` and their like: the tensor becomes a view of what it was."""
    if not level.owns(t):
        with level.lowered():
            return getattr(t, op.name)(*params)
    recording = local.grad and t._requires_grad
    if recording:
        check_writable(t)
    new = getattr(t, op.name.removesuffix("_"))(*params)
    t.become(new)
    if t._base is not None:
        t.steps = new.steps
    t._own_counter().version += 1
    t.seen = t._counter.version
    if recording:
        rebase(t, new._grad_fn)
    if t._meta is not None:
        t._meta.seen_version = t._counter.version
    return t


Interpreter.write, Interpreter.reshape_in_place, Interpreter.made_views = write, reshape_in_place, made_views
Wrapper.written_places, Wrapper.read_again, Wrapper.replayed = written_places, read_again, replayed
Wrapper.with_part, Wrapper.window = with_part, window
