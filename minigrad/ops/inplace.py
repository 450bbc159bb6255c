"""Writing into tensors: `x.add_(y)`, `x[i] = v`, and what that does to the graph.

An in-place operation on a result re-bases it: its grad_fn becomes the node of the operation. On a view the base's
grad_fn becomes a `CopySlices`, which hands the gradient of the written part to the operation and the rest on to the
old history; the view's own grad_fn is then made anew (`AsStridedBackward0`) when somebody asks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..autograd import node as nodes
from ..autograd.grad_mode import anomaly, local, state
from ..autograd.node import Node, edge, next_sequence
from ..tensor import Tensor, address, new_object, plain_types, wrap
from .dispatch import as_tensors, forward, operand, record
from .table import define, function, method

ndarray = np.ndarray

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."


# ---------------------------------------------------------------- strides


def strided(array: ndarray, size: tuple, stride: tuple, storage_offset: int) -> ndarray:
    """A window on the memory of a contiguous array, with size, strides and offset counted in elements."""
    flat = array.reshape(-1)[storage_offset:]
    return np.lib.stride_tricks.as_strided(flat, size, tuple(s * array.itemsize for s in stride))


def _as_strided_back(grad, self_sym_sizes, size, stride, storage_offset):
    if isinstance(grad, Tensor):
        return as_strided_scatter(grad, self_sym_sizes, size, stride, storage_offset)
    out = np.zeros(self_sym_sizes, grad.dtype)
    if any(
        s == 0 and n > 1 for s, n in zip(stride, size, strict=True)
    ):  # one element is shown several times: add
        index = strided(np.arange(out.size).reshape(self_sym_sizes), size, stride, storage_offset)
        np.add.at(out.reshape(-1), index, grad)
    else:
        strided(out, size, stride, storage_offset)[...] = grad
    return out


_as_strided = define(
    "as_strided", strided, kind="linear", view=True, node="AsStridedBackward0",
    self=_as_strided_back,
)  # fmt: skip
as_strided_scatter = define(
    "as_strided_scatter",
    lambda self, sizes, size, stride, storage_offset: _as_strided_back(self, sizes, size, stride, storage_offset),
    kind="linear",
    self=lambda grad, size, stride, storage_offset: as_strided(grad, size, stride, storage_offset),
)  # fmt: skip


@method()
def as_strided(input: Tensor, size: tuple, stride: tuple, storage_offset: int = 0) -> Tensor:
    """A view with any size, strides and offset (in elements) on the memory of a contiguous tensor."""
    if not isinstance(input, Tensor):
        return strided(input, size, stride, storage_offset)
    return _as_strided(input, tuple(size), tuple(stride), storage_offset)


def geometry(view: Tensor) -> tuple[tuple, tuple, int]:
    """(size, strides, offset) of a view in its base's memory, in elements."""
    array, base = view._array, view._meta.base._array
    size = array.itemsize
    return array.shape, tuple(s // size for s in array.strides), (address(array) - address(base)) // size


def refresh_view(t: Tensor) -> None:
    """Make the grad_fn of a view whose base was written to: a read of its part of the base as it is now."""
    meta, base = t._meta, t._meta.base
    meta.seen_version = t._counter.version
    if base._requires_grad:
        node = new_object(_as_strided.op.node_class)
        node.edges, node.input_nrs = (edge(base),), (base._output_nr,) if base._output_nr else None
        node.sequence, node.hooks, node.meta = next_sequence(), None, None
        node.saved = saved_geometry(base._array.shape, *geometry(t))
        t._requires_grad, t._grad_fn, t._output_nr = True, node, 0


def saved_geometry(sizes: tuple, size: tuple, stride: tuple, offset: int) -> tuple:
    named = {"self_sym_sizes": sizes, "size": size, "stride": stride, "storage_offset": offset}
    return tuple(named[n] for n in _as_strided.op.saves)


nodes.refresh_view = refresh_view


class CopySlices(Node):
    """The node of a base of which a view was written to: `inner` is the node of what was written."""

    __slots__ = ("inner", "window")
    frees = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def vjp(self, grad, recorded: bool) -> tuple:
        inner = self.inner
        if inner is None:
            raise RuntimeError(nodes.FREED)
        if recorded:
            rest = grad.clone()
            part = rest.as_strided(*self.window)
            first, *others = inner.vjp(part.clone(), True)
            part.zero_() if first is None else part.copy_(first)
        else:
            rest = np.array(grad, order="C")
            part = strided(rest, *self.window)
            first, *others = inner.vjp(part.copy(), False)
            part[...] = 0 if first is None else first
        return (rest if self.edges[0] is not None else None, *others)

    def release(self) -> None:
        self.inner.release()


# ---------------------------------------------------------------- in-place operations


def check_writable(t: Tensor, *, recording: bool) -> None:
    """Raise PyTorch's error if `t` must not be written to in place now."""
    if t.is_inference() and not local.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
            "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    if not recording:
        return
    meta = t._meta
    base = None if meta is None else meta.base
    if base is None:
        if t._requires_grad and t._grad_fn is None:
            raise RuntimeError(LEAF)
        return
    if base._requires_grad and base._grad_fn is None:
        raise RuntimeError(VIEW_OF_LEAF)
    if meta.made_in == "no_grad":
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use "
            "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
            "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if "
            "you want the inplace to be tracked)."
        )
    if meta.made_in == "multi_output":
        maker = "" if t._grad_fn is None else t._grad_fn.name().split("Backward")[0]
        raise RuntimeError(
            f"Output {t._output_nr} of {maker} is a view and is being modified inplace. This view is the output of a function "
            "that returns multiple views. Such functions do not allow the output views to be modified inplace. You should "
            "replace the inplace operation by an out-of-place one."
        )


def apply_inplace(op, inputs: tuple, params: tuple = ()) -> Tensor:
    """Run an operation and write the result into its first input. Returns that input."""
    self = inputs[0]
    if not params and written_directly(op, inputs):
        return self
    inputs = as_tensors(op, inputs)
    if local.interpreter is not None:
        return local.interpreter.process_inplace(op, inputs, params)
    recording = local.grad and any(inputs[i]._requires_grad for i in op.differentiable)
    check_writable(self, recording=recording)
    result = np.asarray(forward(op, inputs, params))
    if result.shape != self._array.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    if not can_cast(result.dtype, self._array.dtype):
        raise cast_error(result.dtype, self._array.dtype)
    node = None
    if recording:
        sources = list(inputs)
        if "self" in op.saves or any(t is self for t in inputs[1:]):
            before = old_value(self)  # the rules need the value from before the write
            sources = [before if t is self else t for t in inputs]
        node = record(op, sources, params, [wrap(result)])
    if local.before_write is not None:
        local.before_write(self)
    self._array[...] = result
    written(self, node)
    if node is not None and op.saved_results:
        resave_result(node, self)
    return self


def written_directly(op, inputs: tuple) -> bool:
    """The fast path, for optimizers: if nothing is to be recorded or cast, let NumPy write into the array."""
    if type(op.forward) is not np.ufunc or (state.special and (not local.ordinary or anomaly.on)):
        return False
    self, arrays = inputs[0], []
    for t in inputs:
        if type(t) not in plain_types or (t._requires_grad and local.grad):
            return False
        arrays.append(t._array)
    target = arrays[0]
    if target.dtype.kind != "f" or any(a.dtype != target.dtype for a in arrays):
        return False
    if any(a.ndim and a.shape != target.shape for a in arrays):
        return False  # it may broadcast, or be an error
    op.forward(*arrays, out=target)
    self.counter().version += 1
    return True


def cast_error(source: np.dtype, target: np.dtype) -> RuntimeError:
    return RuntimeError(
        f"result type {dtypes.word(source)} can't be cast to the desired output type {dtypes.word(target)}"
    )


def can_cast(source: np.dtype, target: np.dtype) -> bool:
    """May a result of this type be written into a tensor of that type? Not from a higher category into a lower."""
    rank = {"b": 0, "i": 1, "u": 1, "f": 2}
    return rank[source.kind] <= rank[target.kind]


def old_value(t: Tensor) -> Tensor:
    """A copy of `t`, with its place in the graph, from before it is written to."""
    node = edge(t)
    before = wrap(t._array.copy(), t._requires_grad)
    before._grad_fn, before._output_nr = node, t._output_nr
    return before


def resave_result(node: Node, t: Tensor) -> None:
    """The result that a node saved is now the tensor that was written to: share its memory and version."""
    saved = list(node.saved)
    for i in node.op.saved_results:
        if type(saved[i]) is ndarray:
            saved[i] = t._array
    node.saved, node.counter = tuple(saved), t.counter()
    node.version = nodes.version_of(t) + sum(
        nodes.version_of(node.saved[i]) for i in node.op.saved_inputs if node.saved[i] is not None
    )


def written(t: Tensor, node: Node | None) -> None:
    """Count the write; if it was recorded, `node` is now the history of what was written."""
    counter = t.counter()
    counter.version += 1
    if node is None:
        return
    base = t._base
    if base is None:
        rebase(t, node)
        set_views_tracked(t)
        return
    slices = new_object(CopySlices)
    slices.inner, slices.window = node, geometry(t)
    slices.edges = (edge(base), *node.edges[1:])
    slices.input_nrs = (base._output_nr, *(node.input_nrs or (0,) * len(node.edges))[1:])
    slices.sequence, slices.hooks = next_sequence(), None
    rebase(base, slices)
    set_views_tracked(base)
    t._requires_grad = True


def rebase(t: Tensor, node: Node) -> None:
    """Make `node` the history of `t`; a retained gradient moves with it."""
    old = t._grad_fn
    if t._meta is not None and t._meta.retains_grad and old is not None and old.hooks is not None:
        ref = old.hooks.retain.pop(t._output_nr, None)
        if ref is not None:
            node.all_hooks().retain[0] = ref
    t._requires_grad, t._grad_fn, t._output_nr = True, node, 0


def set_views_tracked(base: Tensor) -> None:
    """The living views of a base that has just become part of a graph are part of it too."""
    if base._counter.views:
        for ref in base._counter.views:
            view = ref()
            if view is not None:
                view._requires_grad = True
        base._counter.views = None


def define_inplace(call: Callable, *names: str) -> None:
    """Attach the in-place form of an operation to Tensor: `add_`, `__iadd__`."""
    op = call.op

    def inplace(self: Tensor, *args):
        args = tuple(operand(a, self) for a in args[: len(op.inputs) - 1]) + args[len(op.inputs) - 1 :]
        return apply_inplace(op, (self, *args[: len(op.inputs) - 1]), args[len(op.inputs) - 1 :])

    inplace.__name__, inplace.__doc__ = names[0], f"`{op.name}`, written into this tensor. Returns it."
    function(inplace, *names)


def in_both_forms(*names: str) -> Callable:
    """Decorator that turns `choose(input, ...)`, which returns (primitive, *its arguments), into a public function.

    The function runs the primitive. It is attached to Tensor under `names` (its own, if none is given), and under
    `<name>_` the form that writes the result into its first argument.
    """

    def decorate(choose: Callable) -> Callable:
        @functools.wraps(choose)
        def out_of_place(*args, **kwargs):
            call, *rest = choose(*args, **kwargs)
            return call(*rest)

        @functools.wraps(choose)
        def in_place(self, *args, **kwargs):
            call, *rest = choose(self, *args, **kwargs)
            if rest[0] is not self:  # it had to be cast to hold the result
                raise cast_error(rest[0]._array.dtype, self._array.dtype)
            count = len(call.op.inputs)
            return apply_inplace(call.op, tuple(rest[:count]), tuple(rest[count:]))

        for name in names or (choose.__name__,):
            function(out_of_place, name)
            function(in_place, name + "_")
        out_of_place.in_place = in_place
        return out_of_place

    return decorate


_copy = define(
    "copy", lambda self, src: np.broadcast_to(src, self.shape).astype(self.dtype), node="CopyBackwards",
    self=lambda grad: None,
    src=lambda grad: grad,
)  # fmt: skip
_fill = define(
    "fill", lambda self, value: np.full_like(self, value), node="FillBackward0", self=lambda grad: grad * 0.0
)
_zero = define("zero", lambda self: np.zeros_like(self), node="ZeroBackward0", self=lambda grad: grad * 0.0)


@method()
def copy_(self: Tensor, src: Tensor) -> Tensor:
    """Overwrite this tensor with `src`, broadcast and cast. Returns it."""
    apply_inplace(_copy.op, (self, src))
    return self


@method()
def fill_(self: Tensor, value: float) -> Tensor:
    """Overwrite every element with one number. Returns this tensor."""
    return apply_inplace(_fill.op, (self,), (value.item() if isinstance(value, Tensor) else value,))


@method()
def zero_(self: Tensor) -> Tensor:
    """Overwrite every element with zero. Returns this tensor."""
    return apply_inplace(_zero.op, (self,))


def setitem(self: Tensor, key: object, value: Tensor | float) -> None:
    """`x[key] = value`: write into the view that `key` selects."""
    target = self[key]
    if not isinstance(value, Tensor):
        value = wrap(np.asarray(value, self._array.dtype))
    target.copy_(value)


function(setitem, "__setitem__")

__all__ = ["as_strided"]
