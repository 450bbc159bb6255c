"""Writing into tensors: `x.add_(y)`, `x[i] = v`, and what that does to the graph.

An in-place operation on a result re-bases it: its grad_fn becomes the node of the operation. On a view the base's
grad_fn becomes a `CopySlices`, which hands the gradient of the written part to the operation and the rest on to the
old history; the view's own grad_fn is then made anew (`AsStridedBackward0`) when somebody asks.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd import node as nodes
from ..autograd.grad_mode import anomaly, local, special
from ..autograd.interpreter import Wrapper
from ..autograd.node import Node, edge, next_sequence
from ..tensor import Counter, Tensor, address, check_dim, new_object, plain_types, wrap
from .arguments import NUMBERS, explain, explain_operands
from .calls import written_later
from .calls_in_place import source_of_write
from .dispatch import as_tensors, forward, operand, record, scalars, versions
from .shape import broadcast_array, broadcast_pair, refuse_repeated, squeezed
from .strides import (
    in_elements,
    laid_out_as,
    layout,
    place_of,
    reach,
    read_places,
    refresh_view,
    refusal,
    span,
    window_node,
    window_places,
    write_places,
)
from .table import define, function, is_array, method

if TYPE_CHECKING:
    from .table import Op

ndarray = np.ndarray

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."


class CopySlices(Node):
    """The node of a base of which a view was written to: `inner` is the node of what was written, `place` says where."""

    __slots__ = ("inner", "place")
    frees = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def vjp(self, grad, recorded: bool) -> tuple:
        inner = self.inner
        if inner is None:
            raise RuntimeError(nodes.FREED)
        if recorded:
            rest, others = self.on_tensors(grad)
            return (None if self.edges[0] is None else rest, *others)
        shape, strides, size, stride, offset, dtype = self.place
        if grad.dtype is not dtype:
            grad = grad.astype(dtype)
        if grad.strides == strides and grad.size and grad.flags.c_contiguous:
            memory = rest = grad.copy()
        else:
            memory = np.empty(max(reach(shape, strides, dtype.itemsize), dtype.itemsize), np.uint8)
            rest = ndarray(shape, dtype, memory, 0, strides)
            rest[...] = grad
        part = ndarray(size, dtype, memory, offset, stride)
        first, *others = inner.vjp(part.copy(), False)
        if first is None:
            part[...] = 0
        elif is_stretched(part):
            refuse_stretched("copy")
        else:
            part[...] = first
        return (None if self.edges[0] is None else rest, *others)

    def on_tensors(self, grad: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        """The gradient of the base from before the write, and those of what was written."""
        if local.interpreter is not None:  # nothing is written in place, see wrapped.py
            where = self.where()
            first, *others = self.inner.vjp(read_places(grad, where), True)
            first = wrap(np.zeros((), grad._array.dtype)) if first is None else first
            return write_places(grad, first, where), others
        _, base_layout, window = in_elements(self.place)
        rest = laid_out_as(grad, base_layout)
        part = rest.as_strided(*window)
        first, *others = self.inner.vjp(part.clone(), True)
        part.zero_() if first is None else part.copy_(first)
        return rest, others

    def where(self) -> ndarray:
        """The places in the base that were written to."""
        return window_places(*in_elements(self.place))

    def release(self) -> None:
        self.inner = None


# ---------------------------------------------------------------- in-place operations


def check_writable(t: Tensor) -> None:
    """Raise PyTorch's error if `t` must not be written to by an operation that is recorded."""
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
    return 0 in array.strides and array.size > 0 and 0 in steps(array)


# What PyTorch allows on expanded tensors, and what it still allows, with a warning.
ALLOWED = {"fill", "zero", "tril", "triu"}
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
    elif name not in ALLOWED:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def overlap(target: ndarray, source: ndarray) -> bool:
    """Do both fill stretches of memory that overlap, and are not one and the same?"""
    alike = target.strides == source.strides or steps(target) == steps(source)
    if alike and target.shape == source.shape and address(target) == address(source):
        return False
    return np.may_share_memory(target, source) and is_dense(target) and is_dense(source)


def steps(array: ndarray) -> list[int]:
    """The strides of the dimensions in which there is more than one place to go to."""
    return [s for s, n in zip(array.strides, array.shape, strict=True) if n > 1]


def is_dense(array: ndarray) -> bool:
    """Do the elements fill a stretch of memory without gaps?"""
    return span(array.shape, layout(array)) == array.size


def apply_inplace(op: Op, inputs: tuple, params: tuple = ()) -> Tensor:
    """Run an operation and write the result into its first input. Returns that input."""
    return writer(op)(*inputs, *params)


def write_in_general(op: Op, inputs: tuple, params: tuple = ()) -> Tensor:
    """Run an operation, whatever the mode, and write the result into its first input. Returns that input."""
    inputs = as_tensors(op, inputs)
    if local.interpreter is not None:
        return local.interpreter.write(op, inputs, params)
    if any(isinstance(t, Wrapper) for t in inputs):  # from a transform that has ended
        return write_in_general(op, tuple(t.outside() for t in inputs), params)
    self, array = inputs[0], inputs[0]._array
    recording = is_recorded(op, inputs)
    if recording:
        check_writable(self)
    stretched = is_stretched(array)
    if stretched:
        refuse_stretched("fill with a tensor" if op is _fill_tensor.op else op.name)
    for t in inputs[1:]:
        if t._counter is not None and t._counter is self._counter:
            if recording:
                edge(t)  # a view takes its new place in the graph even if what follows is refused
            if overlap(array, t._array):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                    "memory location. Please clone() the tensor before performing the operation."
                )
    if op.kind == "elementwise":
        shapes = [t._array.shape for t in inputs if t._array is not None]
        check_shape(op, functools.reduce(broadcast_pair, shapes), array.shape)
    result = forward(op, inputs, params)
    check_result(op, result, array)
    node = None
    if recording:
        sources = list(inputs)
        if "self" in op.saves:
            sources[0] = old_value(self)  # the rules need the value from before the write
        node = record(op, sources, params, [wrap(result)])
    if local.before_write is not None:
        local.before_write(self)
    if stretched:  # an element that is there several times takes the value written to it, not the old one
        changed = result != array
        array[changed] = result[changed]
    else:
        array[...] = result
    written(self, node)
    if node is not None and op.saved_results:
        resave_result(node, self)
    return self


def is_recorded(op: Op, inputs: Sequence[Tensor]) -> bool:
    """Does writing the operation's result into its first input become part of the graph? A copy into integers does not."""
    if op.name == "copy" and inputs[0]._array.dtype.kind != "f":
        return False
    return local.grad and any(inputs[i]._requires_grad for i in op.differentiable)


def check_result(op: Op, result: ndarray | np.generic, target: ndarray) -> None:
    """Raise PyTorch's error if a result is not of the shape, or not of a kind of number, to be written into `target`."""
    check_shape(op, result.shape, target.shape)
    if not can_cast(result.dtype, target.dtype):
        raise cast_error(result.dtype, target.dtype)


def check_shape(op: Op, shape: tuple, wanted: tuple) -> None:
    """Raise PyTorch's error if a result does not have the shape of what it is to be written into."""
    if shape == wanted:
        return
    size = list(wanted)
    if op.name in ("addmm", "addmv", "baddbmm"):
        raise RuntimeError(
            f"Bad in-place call: input tensor size {size} and output tensor size {list(shape)} should match"
        )
    if op.name == "addr" and len(size) != 2:
        raise RuntimeError(f"2D tensor expected, got {len(size)}D tensor for input")
    if op.name == "addr":
        raise RuntimeError(f"size mismatch, input: {size}, v1: [{shape[0]}], v2: [{shape[1]}]")
    raise RuntimeError(f"output with shape {size} doesn't match the broadcast shape {list(shape)}")


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


def written(t: Tensor, node: Node | None) -> None:
    """Count the write; if it was recorded, `node` is now the history of what was written."""
    counted(t)
    if node is not None:
        hang(t, node)


def hang(t: Tensor, node: Node) -> None:
    """`node` is the history of what was just written into `t`."""
    base, counter = t._base, t._counter
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
        slices.place = place_of(t)
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
    # The view's new history is made now, not when somebody asks: the node's number decides when it runs.
    if isinstance(t, Wrapper):
        refresh_view(t)
    else:
        t._requires_grad, t._output_nr = True, 0
        t._grad_fn = window_node(slices, 0, slices.place)
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
        return None if found is None else window_node(found, 0, found.place)

    return read


def rebase(t: Tensor, node: Node) -> None:
    """Make `node` the history of `t`; a retained gradient moves with it."""
    old = t._grad_fn
    if t._meta is not None and t._meta.retains_grad and old is not None and old.hooks is not None:
        ref = old.hooks.retain.pop(t._output_nr, None)
        if ref is not None:
            node.all_hooks().retain[0] = ref
    t._requires_grad, t._grad_fn, t._output_nr = True, node, 0


# ---------------------------------------------------------------- the functions that do it


@functools.cache
def writer(
    op: Op, general: Callable | None = None, *, into: Callable | None = None, options: bool = False
) -> Callable:
    """The function that runs an operation in place: its tensors first, then the parameters of its forward function.

    general: what does all that is unusual, if not `write_in_general`. into: computes on arrays and writes into the first,
    which saves a copy; it may raise before it has written anything. options: whether the function takes keywords.
    """
    count = len(op.inputs)

    name = op.name.removesuffix("_") + "_"

    def unusual(*args):
        try:
            return write_in_general(op, args[:count], args[count:])
        except TypeError:
            explain_operands(op, name, args, method=True)
            raise

    if op.variadic or op.optional or len(op.outputs) != 1:
        return unusual
    compute = "into" if into is not None else "ufunc" if type(op.forward) is np.ufunc else "forward"
    scope = {
        "__name__": __name__, "anomaly": anomaly, "check_result": functools.partial(check_result, op),
        "check_writable": check_writable, "edge": edge, "forward": op.forward, "general": general or unusual, "hang": hang,
        "into": into, "is_stretched": is_stretched, "local": local, "next_sequence": next_sequence, "Node": op.node_class,
        "old_value": old_value, "operand": operand, "overlap": overlap, "scalars": scalars,
        "plain_types": plain_types, "special": special, "Tensor": Tensor,
    }  # fmt: skip
    names = ("self", *op.inputs[1:], *op.params)
    signature = f"{', '.join(names[:count])}{', *params' * bool(op.params)}{', **options' * options}"
    source = functools.partial(source_of_write, op, compute, options=options)
    in_place = written_later("in_place", signature, scope, source, names)
    in_place.__name__ = in_place.__qualname__ = name
    in_place.__doc__, in_place.op = f"`{op.name}`, written into this tensor. Returns it.", op
    return in_place


def define_inplace(call: Callable, *names: str) -> None:
    """Attach the in-place form of an operation to Tensor: `exp_`."""
    function(writer(call.op), *names)


def in_both_forms(*names: str, usual: Callable | None = None) -> Callable:
    """Decorator that turns `choose(input, ...)`, which returns (primitive, *its arguments), into a public function.

    The function runs the primitive. It is attached to Tensor under `names` (its own, if none is given), and under
    `<name>_` the form that writes the result into its first argument. usual: the primitive where only tensors are given.
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

        def in_place(self, *args, **kwargs):
            try:
                call, *rest = choose(self, *args, **kwargs)
                if rest[0] is not self:  # it had to be cast to hold the result
                    raise cast_error(rest[0]._array.dtype, self._array.dtype)
                return writer(call.op)(*rest)
            except (TypeError, AttributeError):
                explain(choose, first + "_", (self, *args), kwargs, method=True)
                raise

        if usual is not None:
            in_place = writer(usual.op, in_place, options=True)
        in_place = functools.update_wrapper(in_place, choose)
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
        check_shape(_copy.op, broadcast_pair(self.shape, src.shape), self.shape)
        src = broadcast_array(src, self.shape)
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
    "fill", lambda self, value: np.full_like(self, dtypes.fitting(value, self.dtype)), kind="elementwise", node="FillBackward2",
    self=lambda grad: nothing(grad),
)  # fmt: skip
_fill_tensor = define(
    "fill", _filled, kind="jointly linear", node="FillBackward3",
    self=lambda grad: nothing(grad),
    value=lambda grad: grad.sum(),
)  # fmt: skip
_zero = define(
    "zero", lambda self: np.zeros(self.shape, self.dtype), kind="elementwise", self=lambda grad: nothing(grad)
)


def _copy_into(self: ndarray, src: ndarray) -> None:
    if src.ndim > self.ndim:
        raise ValueError("NumPy would drop leading dimensions of length 1")
    self[...] = src


def _fill_into(self: ndarray, value: float) -> None:
    fits = self.dtype.kind == "f" and -6e4 < value < 6e4  # what every dtype holds needs no closer look
    self.fill(value if fits else dtypes.fitting(value, self.dtype))


overwrite = writer(_copy.op, into=_copy_into)
fill_with = writer(_fill_tensor.op, into=_copy_into)
_fill_ = writer(_fill.op, into=_fill_into)


@method()
def copy_(self: Tensor, other: Tensor, non_blocking: bool = False) -> Tensor:
    """Overwrite this tensor with `other`, broadcast and cast. Returns it."""
    if isinstance(other, NUMBERS):
        other = wrap(np.asarray(other))
    return overwrite(self, other)


@method()
def fill_(self: Tensor, value: float | Tensor) -> Tensor:
    """Overwrite every element with one number, or with a 0-d tensor. Returns this tensor."""
    if isinstance(value, NUMBERS):
        return _fill_(self, value)
    if isinstance(value, Tensor) and value._array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
        )
    return fill_with(self, value)


function(writer(_zero.op, into=lambda self: self.fill(0)), "zero_")

# ---------------------------------------------------------------- the same memory in another shape


def _reshaping(name: str, node: str, forward: Callable, **rules: Callable) -> Callable:
    """The in-place form of a view operation: the tensor itself gets another shape."""
    op = define(name, forward, node=node, **rules).op

    def run(self: Tensor, *params: object) -> Tensor:
        if local.interpreter is not None:
            return local.interpreter.reshape_in_place(op, self, params)
        if local.grad and self._requires_grad:
            check_writable(self)
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
