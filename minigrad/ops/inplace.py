"""Writing into tensors: `x.add_(y)`, `x[i] = v`, and what that does to the graph.

An in-place operation on a result re-bases it: its grad_fn becomes the node of the operation. On a view the base's
grad_fn becomes a `CopySlices`, which hands the gradient of the written part to the operation and the rest on to the
old history; the view's own grad_fn is then made anew (`AsStridedBackward0`) when somebody asks.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..autograd import node as nodes
from ..autograd.grad_mode import anomaly, local, special
from ..autograd.interpreter import Wrapper
from ..autograd.node import Node, edge, next_sequence
from ..tensor import Counter, Tensor, address, check_dim, new_object, plain_types, wrap
from .arguments import explain, explain_operands
from .dispatch import as_tensors, forward, operand, record, versions
from .shape import broadcast_array, broadcast_pair, refuse_repeated, squeezed
from .strides import (
    geometry,
    laid_out_as,
    layout,
    on_memory,
    read_places,
    refresh_view,
    refusal,
    span,
    window_node,
    window_places,
    write_places,
)
from .table import define, function, is_array, method

ndarray = np.ndarray

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."


class CopySlices(Node):
    """The node of a base of which a view was written to: `inner` is the node of what was written."""

    __slots__ = ("inner", "layout", "window")
    frees = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def vjp(self, grad, recorded: bool) -> tuple:
        inner = self.inner
        if inner is None:
            raise RuntimeError(nodes.FREED)
        if recorded and local.interpreter is not None:  # nothing is written in place, see wrapped.py
            where = self.where()
            first, *others = inner.vjp(read_places(grad, where), True)
            first = wrap(np.zeros((), grad._array.dtype)) if first is None else first
            rest = None if self.edges[0] is None else write_places(grad, first, where)
            return (rest, *others)
        if recorded:
            rest = laid_out_as(grad, self.layout[1])
            part = rest.as_strided(*self.window)
            first, *others = inner.vjp(part.clone(), True)
            part.zero_() if first is None else part.copy_(first)
        else:
            size, stride = self.layout
            if grad.flags.c_contiguous and layout(grad) == stride:
                rest = grad.copy()
                part = on_memory(rest, *self.window)
            else:
                memory = np.empty(max(span(size, stride), 1), grad.dtype)
                rest, part = on_memory(memory, size, stride, 0), on_memory(memory, *self.window)
                rest[...] = grad
            first, *others = inner.vjp(part.copy(), False)
            if first is not None and is_stretched(part):
                refuse_stretched("copy")
            part[...] = 0 if first is None else first
        return (rest if self.edges[0] is not None else None, *others)

    def where(self) -> ndarray:
        """The places in the base that were written to."""
        return window_places(*self.layout, self.window)

    def release(self) -> None:
        self.inner = None


# ---------------------------------------------------------------- in-place operations


def check_writable(t: Tensor, *, recording: bool) -> None:
    """Raise PyTorch's error if `t` must not be written to in place now."""
    if not recording:
        return
    meta = t._meta
    base = None if meta is None else meta.base
    if base is None:
        if t._requires_grad and (t._grad_fn is None or (meta is not None and meta.argument)):
            raise RuntimeError(LEAF)
        return
    if meta.made_in is not None:
        raise RuntimeError(refusal(t, "is being"))
    if t._requires_grad and (base._grad_fn is None or (base._meta is not None and base._meta.argument)):
        raise RuntimeError(VIEW_OF_LEAF)
    # Its base became part of a graph after it was made, and nobody has asked since.
    if t._requires_grad and t._grad_fn is None:
        raise RuntimeError(LEAF)


def is_stretched(array: ndarray) -> bool:
    """Does it show one element several times, as an expanded tensor does?"""
    if 0 not in array.strides or not array.size:
        return False
    return any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True))


# What PyTorch still allows on expanded tensors, with a warning; `fill` and `zero` without one.
DEPRECATED = {
    "index_put": "indices] = tensor",
    "index_fill": "mask] = scalar",
    "masked_fill": "mask] = scalar",
}


def refuse_stretched(name: str) -> None:
    """Raise PyTorch's error (or warn) that this operation writes to a tensor that shows one element several times."""
    if name in DEPRECATED:
        warnings.warn(
            f"Use of {name}_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
            f"This also applies to advanced indexing e.g. tensor[{DEPRECATED[name]}",
            UserWarning,
            stacklevel=4,
        )
    elif name not in ("fill", "zero"):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def refuse_overlap(target: ndarray, source: ndarray) -> None:
    """Raise PyTorch's error if both fill stretches of memory that overlap, unless they are one and the same."""
    a, b = ((address(x), address(x) + x.nbytes) for x in (target, source))
    if (
        is_dense(target)
        and is_dense(source)
        and a[0] < b[1]
        and b[0] < a[1]
        and not (a == b and target.strides == source.strides)
    ):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def is_dense(array: ndarray) -> bool:
    """Do the elements fill a stretch of memory without gaps?"""
    return span(array.shape, layout(array)) == array.size


def apply_inplace(op, inputs: tuple, params: tuple = (), *, kept: bool = True) -> Tensor:
    """Run an operation and write the result into its first input. Returns that input.

    kept: may somebody still ask for the history of a first input that is a view?
    """
    self = inputs[0]
    if not params and written_directly(op, inputs):
        return self
    inputs = as_tensors(op, inputs)
    if local.interpreter is not None:
        return local.interpreter.write(op, inputs, params)
    recording = False
    for t in inputs:
        if isinstance(t, Wrapper):  # from a transform that has ended
            return apply_inplace(op, tuple(t.outside() for t in inputs), params)
    if local.grad:
        for i in op.differentiable:
            recording = recording or inputs[i]._requires_grad
    check_writable(self, recording=recording)
    stretched = is_stretched(self._array)
    if stretched:
        refuse_stretched(op.name)
    for t in inputs[1:]:
        if t._counter is not None and t._counter is self._counter:
            if recording:
                edge(t)  # a view takes its new place in the graph even if what follows is refused
            refuse_overlap(self._array, t._array)
    result = forward(op, inputs, params)
    if type(result) is not ndarray:
        result = np.asarray(result)
    if result.shape != self._array.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    if result.dtype is not self._array.dtype and not can_cast(result.dtype, self._array.dtype):
        raise cast_error(result.dtype, self._array.dtype)
    node = None
    if recording:
        sources = list(inputs)
        if "self" in op.saves:
            sources[0] = old_value(self)  # the rules need the value from before the write
        node = record(op, sources, params, [wrap(result)])
    if local.before_write is not None:
        local.before_write(self)
    if stretched:  # an element that is there several times takes the value written to it, not the old one
        changed = result != self._array
        self._array[changed] = result[changed]
    else:
        self._array[...] = result
    written(self, node, kept)
    if node is not None and op.saved_results:
        resave_result(node, self)
    return self


def written_directly(op, inputs: tuple) -> bool:
    """The fast path, for optimizers: if nothing is to be recorded or cast, let NumPy write into the array."""
    if type(op.forward) is not np.ufunc or (special and (not local.ordinary or anomaly.on)):
        return False
    self, arrays = inputs[0], []
    target = self._array
    for t in inputs:
        if type(t) not in plain_types or (t._requires_grad and local.grad):
            return False
        array = t._array
        if array.dtype is not target.dtype or (array.shape != target.shape and array.ndim):
            return False  # it is to be cast, may broadcast, or be an error
        arrays.append(array)
    if target.dtype.kind != "f":
        return False
    if 0 in target.strides or any(t._counter is not None and t._counter is self._counter for t in inputs[1:]):
        return False  # memory may overlap
    op.forward(*arrays, out=target)
    self.counter().version += 1
    return True


def cast_error(source: np.dtype, target: np.dtype) -> RuntimeError:
    return RuntimeError(
        f"result type {dtypes.word(source)} can't be cast to the desired output type {dtypes.word(target)}"
    )


CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2}


def can_cast(source: np.dtype, target: np.dtype) -> bool:
    """May a result of this type be written into a tensor of that type? Not from a higher category into a lower."""
    return source is target or CATEGORY[source.kind] <= CATEGORY[target.kind]


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
    node.version = versions(node)


def written(t: Tensor, node: Node | None, kept: bool = True) -> None:
    """Count the write; if it was recorded, `node` is now the history of what was written."""
    counter = counted(t)
    if node is None:
        return
    base = t._base
    if base is None:
        known = t._requires_grad
        rebase(t, node)
        if counter.views and not known:
            t.tell_views()
        return
    if isinstance(t, Wrapper):
        slices = t.written_places()
    else:
        slices = new_object(CopySlices)
        slices.window, slices.layout = geometry(t), (base._array.shape, layout(base._array))
        if node.op is not None and node.op.saved_results:
            nodes.written_views[node] = reader_of(weakref.ref(slices))
    slices.inner = node
    slices.edges = (edge(base), *node.edges[1:])
    slices.input_nrs = None
    if base._output_nr or node.input_nrs is not None:
        slices.input_nrs = (base._output_nr, *(node.input_nrs or (0,) * len(node.edges))[1:])
    slices.sequence, slices.hooks = next_sequence(), None
    known = base._requires_grad
    rebase(base, slices)
    if counter.views and not known:
        base.tell_views()
    if not kept:
        return
    # The view's new history is made now, not when somebody asks: the node's number decides when it runs.
    if isinstance(t, Wrapper):
        refresh_view(t)
    else:
        t._requires_grad, t._output_nr = True, 0
        t._grad_fn = window_node(slices, 0, *slices.layout, slices.window)
        t._meta.seen_version = counter.version


nodes.written = written


def counted(t: Tensor) -> Counter:
    """The counter of `t`, raised by one. A tensor made in inference_mode cannot count, which is an error outside of it:
    as in PyTorch, after the write."""
    if t.is_inference() and not local.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
            "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    counter = t.counter()
    counter.version += 1
    return counter


def reader_of(slices: weakref.ref[CopySlices]) -> Callable[[], Node | None]:
    """A function that makes the node which reads the window of a CopySlices, as long as that lives."""

    def read() -> Node | None:
        found = slices()
        return None if found is None else window_node(found, 0, *found.layout, found.window)

    return read


def rebase(t: Tensor, node: Node) -> None:
    """Make `node` the history of `t`; a retained gradient moves with it."""
    old = t._grad_fn
    if t._meta is not None and t._meta.retains_grad and old is not None and old.hooks is not None:
        ref = old.hooks.retain.pop(t._output_nr, None)
        if ref is not None:
            node.all_hooks().retain[0] = ref
    t._requires_grad, t._grad_fn, t._output_nr = True, node, 0


def define_inplace(call: Callable, *names: str) -> None:
    """Attach the in-place form of an operation to Tensor: `add_`, `__iadd__`."""
    op = call.op
    others = len(op.inputs) - 1

    def inplace(self: Tensor, *args):
        inputs, params = args[:others], args[others:]
        if op.numbers:
            inputs = tuple([operand(a, self) for a in inputs])
        try:
            return apply_inplace(op, (self, *inputs), params)
        except TypeError:
            explain_operands(op, names[0], (self, *args), method=True)
            raise

    inplace.__name__, inplace.__doc__ = names[0], f"`{op.name}`, written into this tensor. Returns it."
    function(inplace, *names)


def quickly(call: Callable, general: Callable) -> Callable:
    """The in-place form `general` of the operation `call`, with the fast path tried first."""
    compute = call.op.forward

    @functools.wraps(general)
    def in_place(self, other, **options):
        if type(other) is Tensor and type(self) in plain_types and not options:
            recording = not special or (None if anomaly.on else local.recording)
            target, array, counter = self._array, other._array, self._counter
            dtype = target.dtype
            if (
                recording is not None
                and not (recording and (self._requires_grad or other._requires_grad))
                and dtype is array.dtype
                and dtype.kind == "f"
                and array.shape == target.shape
                and (counter is None or counter is not other._counter)  # they may share memory
                and (target.base is None or 0 not in target.strides)
            ):
                compute(target, array, target)
                (counter or self.counter()).version += 1
                return self
        return general(self, other, **options)

    return in_place


def in_both_forms(*names: str) -> Callable:
    """Decorator that turns `choose(input, ...)`, which returns (primitive, *its arguments), into a public function.

    The function runs the primitive. It is attached to Tensor under `names` (its own, if none is given), and under
    `<name>_` the form that writes the result into its first argument.
    """

    def decorate(choose: Callable) -> Callable:
        first = (names or (choose.__name__,))[0]

        def out_of_place(method: bool) -> Callable:
            @functools.wraps(choose)
            def run(*args, **kwargs):
                try:
                    call, *rest = choose(*args, **kwargs)
                    return call(*rest)
                except (TypeError, AttributeError):
                    explain(choose, first, args, kwargs, method=method)
                    raise

            return run

        @functools.wraps(choose)
        def in_place(self, *args, **kwargs):
            try:
                call, *rest = choose(self, *args, **kwargs)
                if rest[0] is not self:  # it had to be cast to hold the result
                    raise cast_error(rest[0]._array.dtype, self._array.dtype)
                count = len(call.op.inputs)
                return apply_inplace(call.op, tuple(rest[:count]), tuple(rest[count:]))
            except (TypeError, AttributeError):
                explain(choose, first + "_", (self, *args), kwargs, method=True)
                raise

        for name in names or (choose.__name__,):
            function(out_of_place(method=True), name)
            function(in_place, name + "_")
        found = out_of_place(method=False)
        found.in_place = in_place
        return found

    return decorate


# ---------------------------------------------------------------- overwriting


def nothing(grad):
    """Zeros: the gradient of a value that was overwritten."""
    return np.zeros(grad.shape, grad.dtype) if is_array(grad) else wrap(np.zeros_like(grad._array))


def _copy_forward(self: ndarray, src: ndarray) -> ndarray:
    if src.shape != self.shape:
        shape = broadcast_pair(self.shape, src.shape)
        if shape != self.shape:
            raise RuntimeError(
                f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(shape)}"
            )
        src = broadcast_array(src, shape)
    return src.astype(self.dtype)


def _filled(self: ndarray, value) -> ndarray:
    out = np.empty(self.shape, self.dtype)
    out[...] = value
    return out


_copy = define(
    "copy", _copy_forward, node="CopyBackwards", kind="jointly linear", broadcasts=True,
    self=lambda grad: nothing(grad),
    src=lambda grad: grad,
)  # fmt: skip
_copy.op.node_class.name = lambda self: "torch::autograd::CopyBackwards"
_fill = define(
    "fill", lambda self, value: np.full_like(self, value), kind="elementwise", node="FillBackward2",
    self=lambda grad: nothing(grad),
)  # fmt: skip
_fill_tensor = define(
    "fill", _filled, kind="jointly linear", node="FillBackward3",
    self=lambda grad: nothing(grad),
    value=lambda grad: grad.sum(),
)  # fmt: skip
_zero = define("zero", lambda self: np.zeros_like(self), kind="elementwise", self=lambda grad: nothing(grad))


@method()
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Overwrite this tensor with `src`, broadcast and cast. Returns it."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    return apply_inplace(_copy.op, (self, src))


@method()
def fill_(self: Tensor, value: float | Tensor) -> Tensor:
    """Overwrite every element with one number, or with a 0-d tensor. Returns this tensor."""
    if not isinstance(value, Tensor):
        return apply_inplace(_fill.op, (self,), (value,))
    if value._array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
        )
    return apply_inplace(_fill_tensor.op, (self, value))


@method()
def zero_(self: Tensor) -> Tensor:
    """Overwrite every element with zero. Returns this tensor."""
    return apply_inplace(_zero.op, (self,))


# ---------------------------------------------------------------- the same memory in another shape


def _reshaping(name: str, node: str, forward: Callable, **rules: Callable) -> Callable:
    """The in-place form of a view operation: the tensor itself gets another shape."""
    op = define(name, forward, node=node, **rules).op

    def run(self: Tensor, *params: object) -> Tensor:
        if local.interpreter is not None:
            return local.interpreter.reshape_in_place(op, self, params)
        check_writable(self, recording=local.grad and self._requires_grad)
        node = record(op, (self,), params, [wrap(self._array)]) if local.grad else None
        self._array = forward(self._array, *params)
        counted(self)
        if node is not None:
            rebase(self, node)
        if self._meta is not None:
            self._meta.seen_version = self._counter.version
        return self

    return run


_t_ = _reshaping("t_", "TBackward1", lambda self: self.T, self=lambda grad: grad.T)
_t_vector_ = _reshaping("t_", "TBackward1", lambda self: self.view(), self=lambda grad: grad)
_transpose_ = _reshaping(
    "transpose_", "TransposeBackward1", lambda self, dim0, dim1: self.swapaxes(dim0, dim1),
    self=lambda grad, dim0, dim1: grad.swapaxes(dim0, dim1),
)  # fmt: skip
_transpose_scalar_ = _reshaping(
    "transpose_",
    "TransposeBackward1",
    lambda self, dim0, dim1: self.view(),
    self=lambda grad, dim0, dim1: grad,
)
_squeeze_ = _reshaping(
    "squeeze_", "SqueezeBackward3", lambda self: self.squeeze(),
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze_dim_ = _reshaping(
    "squeeze_", "SqueezeBackward4", lambda self, dim: squeezed(self, (dim,)),
    self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze_dims_ = _reshaping(
    "squeeze_", "SqueezeBackward5", squeezed,
    self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes),
)  # fmt: skip
_unsqueeze_ = _reshaping(
    "unsqueeze_", "UnsqueezeBackward1", lambda self, dim: np.expand_dims(self, dim),
    self=lambda grad, dim: grad.squeeze(dim),
)  # fmt: skip


@method()
def t_(self: Tensor) -> Tensor:
    """Transpose this matrix in place. Returns it."""
    if self._array.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._array.ndim}D")
    return _t_(self) if self._array.ndim == 2 else _t_vector_(self)


@method("transpose_", "swapaxes_", "swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions of this tensor in place. Returns it."""
    n = self._array.ndim
    dim0, dim1 = check_dim(dim0, n), check_dim(dim1, n)
    return _transpose_(self, dim0, dim1) if n else _transpose_scalar_(self, dim0, dim1)


@method()
def squeeze_(self: Tensor, dim: int | tuple | None = None, *more: int) -> Tensor:
    """Take away dimensions of length 1 in place, all or those of `dim` (one or several). Returns this tensor."""
    if dim is None:
        return _squeeze_(self)
    if isinstance(dim, int) and not more:
        return _squeeze_dim_(self, check_dim(dim, self._array.ndim))
    dims = tuple(check_dim(d, self._array.ndim) for d in ((dim, *more) if more else dim))
    refuse_repeated(dims)
    return _squeeze_dims_(self, dims)


@method()
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Insert a dimension of length 1 in place. Returns this tensor."""
    return _unsqueeze_(self, check_dim(dim, self._array.ndim + 1))


__all__ = []
