"""Reading and writing by tensors of positions: gather and scatter, index_*, take and put, masked_*."""

from __future__ import annotations

import builtins
import warnings

import numpy as np

from .. import dtypes
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, full_name, wrap
from . import places
from .arguments import number
from .indexing import add_at
from .inplace import in_both_forms
from .shape import broadcast_pair, expand, reshape
from .table import define, is_array, method

ndarray = np.ndarray


def zeros_as(grad, shape: tuple):
    """Zeros of a shape and of the kind of `grad`: an array or a Tensor."""
    return np.zeros(shape, grad.dtype) if is_array(grad) else wrap(np.zeros(shape, grad._array.dtype))


# ---------------------------------------------------------------- masks


def _filled(self: ndarray, mask: ndarray, value) -> ndarray:
    if self.shape != mask.shape:
        self = np.broadcast_to(self, broadcast_pair(mask.shape, self.shape))
    out = np.array(self, order="C")
    if type(value) is float and out.dtype.kind == "f" and out.shape == mask.shape:
        np.putmask(out, mask, value)  # more quickly
        return out
    try:
        np.copyto(out, value, where=mask, casting="unsafe")
    except OverflowError:
        np.copyto(out, dtypes.fitting(value, out.dtype), where=mask)
    return out


def unmasked(grad, mask):
    """`grad` with zeros where `mask` holds."""
    return _masked_fill(grad, mask, 0.0)


def masked(grad, mask):
    """`grad` with zeros where `mask` does not hold."""
    return _masked_fill(grad, ~mask, 0.0)


_masked_fill = define(
    "masked_fill", _filled, kind="elementwise",
    self=lambda grad, mask: unmasked(grad, mask),
    mask=None,
)  # fmt: skip
_masked_fill_tensor = define(
    "masked_fill", _filled, kind="elementwise", node="MaskedFillBackward1",
    self=lambda grad, mask: unmasked(grad, mask),
    mask=None,
    value=lambda grad, mask: masked(grad, mask),
)  # fmt: skip


@in_both_forms()
def masked_fill(input: Tensor, mask: Tensor, value: float | Tensor) -> Tensor:
    """`value` (a number or a 0-d tensor) where `mask` holds, else `input`. The mask is broadcast."""
    _check_mask("masked_fill", mask)
    if not isinstance(value, Tensor):
        return _masked_fill, input, mask, number(value)
    if value._array.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    if value._array.dtype != input._array.dtype:
        value = value.to(input.dtype)
    return _masked_fill_tensor, input, mask, value


def _check_mask(name: str, mask: Tensor) -> None:
    if not isinstance(mask, Tensor):
        raise TypeError(f"{name}(): argument 'mask' (position 1) must be Tensor, not {full_name(type(mask))}")
    if mask._array.dtype.kind != "b":
        raise RuntimeError(
            f"{name}_ only supports boolean masks, but got mask with dtype {dtypes.c_name(mask._array.dtype)}"
            if name == "masked_fill"
            else f"{name}: expected BoolTensor for mask"
        )


def at_mask(grad, shape: tuple, mask):
    """Zeros of a shape with the elements of `grad`, in order, where `mask` holds."""
    if not is_array(grad):
        return _at_mask(grad, mask, shape)
    full = np.broadcast_shapes(shape, mask.shape)
    out = np.zeros(full, grad.dtype)
    out[mask if mask.shape == full else np.broadcast_to(mask, full)] = grad
    return out


_at_mask = define(
    "masked_select_backward", lambda self, mask, shape: at_mask(self, shape, mask), kind="linear",
    self=lambda grad, mask: _masked_select(grad, mask),
    mask=None,
)  # fmt: skip


def _selected(self: ndarray, mask: ndarray) -> ndarray:
    if self.shape != mask.shape:
        self, mask = np.broadcast_arrays(self, mask)
    return self[mask]


_masked_select = define(
    "masked_select", _selected, kind="linear", broadcasts=True,
    self=lambda grad, self, mask: at_mask(grad, self.shape, mask),
    mask=None,
)  # fmt: skip


@method()
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask` holds, in a vector. Both are broadcast."""
    if mask._array.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    broadcast_pair(mask._array.shape, input._array.shape)
    return _masked_select(input, mask)


def _scattered(self: ndarray, mask: ndarray, source: ndarray) -> ndarray:
    if self.shape != mask.shape:
        self = np.broadcast_to(self, broadcast_pair(mask.shape, self.shape))
    out = np.array(self, order="C")
    mask = np.broadcast_to(mask, out.shape)
    count = int(np.count_nonzero(mask))
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out[mask] = source.reshape(-1)[:count]
    return out


def first_elements(grad, mask, sizes: tuple):
    """Where the mask holds, `grad` went to the first elements of a source of these sizes."""
    picked = masked_select(grad, mask) if not is_array(grad) else _selected(grad, mask)
    return reshape(
        index_add(
            zeros_as(grad, (builtins.max(int(np.prod(sizes)), 0),)), 0, np.arange(picked.shape[0]), picked
        ),
        sizes,
    )


_masked_scatter = define(
    "masked_scatter", _scattered, kind="jointly linear", broadcasts=True,
    self=lambda grad, mask: unmasked(grad, mask),
    mask=None,
    source=lambda grad, mask, source_sym_sizes: first_elements(grad, mask, source_sym_sizes),
)  # fmt: skip


@in_both_forms()
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of `source`, in order, where `mask` holds, else `input`."""
    if mask._array.dtype.kind != "b":
        if mask._array.dtype == np.uint8:
            warnings.warn(
                "masked_scatter_ received a mask with dtype torch.uint8, this behavior is now deprecated,please use a mask "
                "with dtype torch.bool instead.",
                stacklevel=3,
            )
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {dtypes.word(mask._array.dtype)}"
        )
    _same_dtype(input, source)
    return _masked_scatter, input, mask, source


def _same_dtype(input: Tensor, source: Tensor) -> None:
    if input._array.dtype != source._array.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{dtypes.word(input._array.dtype)} and {dtypes.word(source._array.dtype)}"
        )


@method()
def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`masked_scatter`, written into this tensor, to whose shape the mask is stretched. Returns it."""
    _same_dtype(self, source)
    own, given = self._array.shape, mask._array.shape
    if len(given) > len(own):
        raise RuntimeError(
            f"expand(CPU{dtypes.word(mask._array.dtype)}Type{{{list(given)}}}, size={list(own)}): the number of sizes provided "
            f"({len(own)}) must be greater or equal to the number of dimensions in the tensor ({len(given)})"
        )
    if given != own:
        mask = expand(mask, own)
    return masked_scatter.in_place(self, mask, source)


# ---------------------------------------------------------------- gather, scatter


def _gathered(self: ndarray, index: ndarray, dim: int, sparse_grad: bool = False) -> ndarray:
    if not self.ndim or not index.ndim or not index.size:
        return self.reshape(-1)[index.astype(np.int64)]
    return places.read(self, index, dim)


def gathered_self(grad, self, index, dim, sparse_grad):
    """The transpose: each element of `grad` is added at the place that it was taken from."""
    if not is_array(grad) or not self.ndim or not index.ndim:
        return _scatter_add(zeros_as(grad, self.shape), index, grad, dim)
    out = np.zeros(self.shape, grad.dtype)
    places.add(out, index, dim, grad)
    return out


_gather = define("gather", _gathered, kind="linear", self=gathered_self, index=None)


def part_for(src, index):
    """The part of `src` that an index speaks of, if it is smaller."""
    return src if src.shape == index.shape else src[tuple(slice(0, n) for n in index.shape)]


def of_size(grad, sizes: tuple, name: str):
    """`grad` itself. Raises PyTorch's error where `src` was larger than `index`: that has no derivative."""
    if tuple(grad.shape) != sizes:
        raise RuntimeError(
            f"Function {name}Backward0 returned an invalid gradient at index 1 - got {list(grad.shape)} but expected shape "
            f"compatible with {list(sizes)}"
        )
    return grad


def _scatter_added(self: ndarray, index: ndarray, src: ndarray, dim: int) -> ndarray:
    out = np.array(self, order="C")
    if not out.ndim:
        np.add.at(out.reshape(1), np.zeros(index.size, np.int64), src.reshape(-1)[: index.size])
        return out
    places.add(out, index, dim, part_for(src, index))
    return out


_scatter_add = define(
    "scatter_add", _scatter_added, kind="jointly linear",
    self=lambda grad: grad,
    index=None,
    src=lambda grad, index, dim, _src_sym_sizes: of_size(_gather(grad, index, dim), _src_sym_sizes, "ScatterAdd"),
)  # fmt: skip


def _scatter_forward(self: ndarray, index: ndarray, src, dim: int) -> ndarray:
    out = np.array(self, order="C")
    if out.ndim:
        places.write(out, index, dim, part_for(src, index) if isinstance(src, ndarray) else src)
    else:
        out[...] = src
    return out


_scatter = define(
    "scatter", _scatter_forward, kind="jointly linear",
    self=lambda grad, index, dim: _scatter_value(grad, index, dim, 0),
    index=None,
    src=lambda grad, index, dim, _src_sym_sizes: of_size(_gather(grad, index, dim), _src_sym_sizes, "Scatter"),
)  # fmt: skip
_scatter_value = define(
    "scatter", lambda self, index, dim, value: _scatter_forward(self, index, value, dim), node="ScatterBackward1",
    self=lambda grad, index, dim: _scatter_value(grad, index, dim, 0),
    index=None,
)  # fmt: skip


def _check_index(name: str, input: Tensor, dim: int, index: Tensor, src: Tensor | None = None) -> int:
    """PyTorch's checks for gather and scatter. Returns the dimension, counted from the front."""
    dim = check_dim(dim, input._array.ndim)
    if index._array.dtype not in (np.int64, np.int32) and index._array.size:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if src is not None and src._array.dtype != input._array.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    shape, wanted = input._array.shape, index._array.shape
    if len(wanted) != len(shape) and index._array.size and (len(wanted) or 1) != (len(shape) or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor"
        )
    same = shape == wanted and (src is None or src._array.shape == wanted)
    if not same and index._array.size:
        _check_sizes(name, shape, dim, wanted, src)
    length = shape[dim] if shape else 1
    if places.leaves(index._array, length):
        bad = next(i for i in index._array.ravel().tolist() if not 0 <= i < length)
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {length}")
    return dim


def _check_sizes(name: str, shape: tuple, dim: int, wanted: tuple, src: Tensor | None) -> None:
    """Raise PyTorch's error for an index of shape `wanted` that is larger than the tensor, or than what is written."""
    too_long = [d for d, (n, m) in enumerate(zip(shape, wanted, strict=False)) if d != dim and m > n]
    if name == "gather":
        if too_long:
            raise RuntimeError(
                f"Size does not match at dimension {too_long[0]} expected index {list(wanted)} to be no larger than self "
                f"{list(shape)} apart from dimension {dim}"
            )
        return
    if src is not None:
        given = src._array.shape
        for d, m in enumerate(wanted) if given and not too_long else ():
            if m > given[check_dim(d, len(given))]:
                too_long = [d]
                break
        if (len(given) or 1) != (len(wanted) or 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if too_long:
        source = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(
            f"Expected index {list(wanted)} to be no larger than self {list(shape)} apart from dimension {dim}{source}"
        )


@method()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Along `dim` the elements that `index` names: out[i][j] = input[index[i][j]][j] for dim 0. Shape of `index`.

    Raises RuntimeError for positions out of range and for an index that is larger than `input` elsewhere.
    """
    return _gather(input, index, _check_index("gather", input, dim, index), sparse_grad)


@in_both_forms()
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`input` with `src` added where `index` says, as often as it says."""
    return _scatter_add, input, index, *_source("scatter", input, dim, index, src)


def _source(name: str, input: Tensor, dim: int, index: Tensor, src: Tensor) -> tuple[Tensor, int]:
    """`src`, checked, and the dimension."""
    return src, _check_index(name, input, dim, index, src)


@method()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Along `dim` the elements that `indices` names, as argsort gives them; other dimensions are broadcast.

    Positions beyond the length of `dim` start again from the front, so negative ones count from the end.
    """
    if indices._array.dtype != np.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {dtypes.word(indices._array.dtype)}"
        )
    if dim is None:
        return gather(reshape(input, -1), 0, reshape(indices, -1))
    if input._array.ndim != indices._array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input._array.ndim} dimensions for input, and {indices._array.ndim} dimensions for indices"
        )
    dim = check_dim(dim, input._array.ndim)
    a, b = list(input._array.shape), list(indices._array.shape)
    a[dim] = b[dim] = 1
    common = broadcast_pair(tuple(a), tuple(b))
    full = [(*common[:dim], t._array.shape[dim], *common[dim + 1 :]) for t in (input, indices)]
    if type(indices) is Tensor and places.leaves(indices._array, input._array.shape[dim]):
        indices = wrap(np.remainder(indices._array, input._array.shape[dim]))
    return gather(expand(input, full[0]), dim, expand(indices, full[1]))


# ---------------------------------------------------------------- whole slices


def _at(dim: int, index: ndarray) -> tuple:
    """What NumPy is to be asked for; a single number is an index of length 1."""
    return (slice(None),) * dim + (index if index.ndim else index.reshape(1),)


_index_select = define(
    "index_select", lambda self, index, dim: in_rows(self[_at(dim, index)]) if self.ndim else self.copy(), kind="linear",
    self=lambda grad, self_sym_sizes, index, dim: index_add(zeros_as(grad, self_sym_sizes), dim, index, grad),
    index=None,
)  # fmt: skip


def slices_of(grad, index, dim: int, sizes: tuple):
    """The slices that `index` names; a single one may have lost its dimension."""
    found = _index_select(grad, index, dim)
    return found if found.shape == sizes else reshape(found, sizes)


def _added(self: ndarray, index: ndarray, source: ndarray, dim: int, alpha: float) -> ndarray:
    if alpha != 1:
        source = source * np.asarray(alpha).astype(source.dtype)
    if not self.ndim:
        return self + source.reshape(())
    return add_at(self.copy(), (None,) * dim + (wrap(index if index.ndim else index.reshape(1)),), source)


_index_add = define(
    "index_add", _added, kind="jointly linear",
    self=lambda grad: grad,
    index=None,
    source=lambda grad, index, dim, alpha, _source_sym_sizes: slices_of(grad, index, dim, _source_sym_sizes) * alpha,
)  # fmt: skip


def each_once(index):
    """The positions of an index, none of them twice."""
    return np.unique(index) if is_array(index) else wrap(np.unique(index._array))


def _copied(self: ndarray, index: ndarray, source: ndarray, dim: int) -> ndarray:
    out = np.array(self, order="C")
    if out.ndim:
        out[_at(dim, index)] = source
    elif index.size:
        out[...] = source.reshape(-1)[-1]
    return out


_index_copy = define(
    "index_copy", _copied, kind="jointly linear",
    self=lambda grad, index, dim: _index_fill(grad, index, dim, 0),
    index=None,
    source=lambda grad, index, dim, _source_sym_sizes: slices_of(grad, index, dim, _source_sym_sizes),
)  # fmt: skip
_index_fill = define(
    "index_fill", lambda self, index, dim, value: _copied(self, index, np.asarray(value), dim),
    self=lambda grad, index, dim: _index_fill(grad, index, dim, 0),
    index=None,
)  # fmt: skip
_index_fill_tensor = define(
    "index_fill", lambda self, index, value, dim: _copied(self, index, value, dim), node="IndexFillBackward1",
    kind="jointly linear",
    self=lambda grad, index, dim: _index_fill(grad, index, dim, 0),
    index=None,
    value=lambda grad, index, dim: _index_select(grad, each_once(index), dim).sum(),
)  # fmt: skip


def _check_vector(name: str, input: Tensor, dim: int, index: Tensor) -> int:
    """The checks that these operations share: `index` is a vector of integers. Returns the dimension from the front."""
    dim, array = check_dim(dim, input._array.ndim), index._array
    if array.ndim > 1:
        refuse_matrix(name, array)
    if array.dtype != np.int64:
        refuse_index(name, array.dtype)
    return dim


def refuse_matrix(name: str, index: ndarray) -> None:
    """Raise the error of this operation for an index that is no vector."""
    if name == "index_fill":
        raise RuntimeError("Index has to be a vector/scalar")
    if name == "index_copy":
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if name == "index_select":
        raise IndexError("index_select(): Index is supposed to be a vector")
    raise IndexError(
        f"{name}_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {dtypes.word(index.dtype)} and "
        f"size: {list(index.shape)}"
    )


def refuse_index(name: str, dtype: np.dtype) -> None:
    """Raise the error of this operation for an index that is not int64; some take int32, too."""
    if name == "index_copy":
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {dtypes.word(dtype)}")
    if name == "index_fill":
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if dtype != np.int32 and name == "index_select":
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if dtype != np.int32:
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {dtypes.word(dtype)}")


def _outside(index: Tensor, length: int) -> int | None:
    """The first position that is not one of 0, ..., length - 1."""
    if places.leaves(index._array, length):
        return next(i for i in index._array.ravel().tolist() if not 0 <= i < length)
    return None


def _length(t: Tensor, dim: int) -> int:
    return t._array.shape[dim] if t._array.ndim else 1


def _rest(t: Tensor, dim: int) -> list[int]:
    """The lengths of a tensor but for one dimension."""
    return [n for d, n in enumerate(t._array.shape) if d != dim]


def _check_added(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    dim, count, n = _check_vector(name, input, dim, index), index._array.size, source._array.ndim
    if source._array.dtype is not input._array.dtype and source._array.dtype != input._array.dtype:
        own, given = (dtypes.word(t._array.dtype) for t in (input, source))
        raise RuntimeError(f"{name}_(): self ({own}) and source ({given}) must have the same scalar type")
    if dim and dim >= n:
        raise RuntimeError(
            f"{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {n}"
        )
    if count != _length(source, dim):
        if not n:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise RuntimeError(
            f"{name}_(): Number of indices ({count}) should be equal to source.size(dim): ({source._array.shape[dim]}), for "
            f"dim: {dim}"
        )
    along = dim if n and input._array.ndim else -1
    if _rest(input, along) != _rest(source, along):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )
    bad = _outside(index, _length(input, dim))
    if bad is not None:
        raise RuntimeError(
            f"index {bad} is out of bounds for dimension {dim} with size {_length(input, dim)}"
        )
    return dim


def _check_copied(input: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    dim, count = _check_vector("index_copy", input, dim, index), index._array.size
    n, m = input._array.ndim, source._array.ndim
    if not m and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if n != m and n and m:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({m}), destination dimensionality ({n})"
        )
    if source._array.dtype != input._array.dtype:
        own, given = (dtypes.word(t._array.dtype) for t in (input, source))
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {own} and (source) {given}"
        )
    own, given = _rest(input, dim), _rest(source, dim)
    if own != given:
        own, given = (" ".join(map(str, lengths)) for lengths in (own, given))
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {own} at "
            f"dimension {dim} and source slice shape: {given} at dimension 0."
        )
    if m and count != source._array.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({source._array.shape[dim]})"
        )
    bad = _outside(index, _length(input, dim))
    if bad is not None:
        raise IndexError(
            f"index_copy_(): index {bad} is out of bounds for dimension {dim} with size {_length(input, dim)}"
        )
    return dim


@method()
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along `dim` that the vector `index` names, in its order."""
    dim = _check_vector("index_select", input, dim, index)
    if not input._array.ndim and index._array.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index._array.size} value(s)"
        )
    if places.leaves(index._array, _length(input, dim)):
        raise IndexError("index out of range in self")
    return _index_select(input, index, dim)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """`input` with the slices of `source` added at the positions `index` along `dim`, times `alpha`."""
    if not isinstance(input, Tensor):
        return _added(input, index, source, dim, alpha)
    if not isinstance(index, Tensor):
        index = wrap(index)
    return _public_index_add(input, dim, index, source, alpha=alpha)


@in_both_forms("index_add")
def _public_index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """`input` with the slices of `source` added at the positions `index` along `dim`, times `alpha`."""
    return _index_add, input, index, source, _check_added("index_add", input, dim, index, source), alpha


@in_both_forms()
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """`input` with the slices of `source` at the positions `index` along `dim`."""
    return _index_copy, input, index, source, _check_copied(input, dim, index, source)


@in_both_forms()
def index_fill(input: Tensor, dim: int, index: Tensor, value: float | Tensor) -> Tensor:
    """`input` with one value in all slices that `index` names along `dim`; negative positions count from the end."""
    dim = _check_vector("index_fill", input, dim, index)
    length = _length(input, dim)
    if places.leaves(index._array, length):
        for i in index._array.ravel().tolist():
            if not -length <= i < length:
                raise IndexError(f"index {i} is out of bounds for dimension {dim} with size {length}")
    if not isinstance(value, Tensor):
        return _index_fill, input, index, dim, value
    if value._array.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._array.ndim} dimension(s)."
        )
    return _index_fill_tensor, input, index, value, dim


# ---------------------------------------------------------------- as if one vector


def _put_forward(self: ndarray, index: ndarray, source: ndarray, accumulate: bool) -> ndarray:
    out = np.array(self, order="C")
    flat = out.reshape(-1)
    if accumulate:
        np.add.at(flat, index, source.reshape(index.shape))
    else:
        flat[index] = source.reshape(index.shape) if source.ndim else source
    return out


_take = define(
    "take", lambda self, index: self.reshape(-1)[index], kind="linear",
    self=lambda grad, self, index: _put(zeros_as(grad, self.shape), index, grad, True),
    index=None,
)  # fmt: skip
_put = define(
    "put", _put_forward, kind="jointly linear",
    self=lambda grad, index, accumulate: grad if accumulate else _put(grad, index, zeros_as(grad, ()), False),
    index=None,
    source=lambda grad, index, source: reshape(_take(grad, index), source.shape),
)  # fmt: skip


@method()
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at the positions `index` of the tensor read as one vector. Shape of `index`."""
    if index._array.dtype != np.int64:
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {dtypes.word(index._array.dtype)}"
        )
    if index._array.size and not input._array.size:
        raise IndexError("take(): tried to take from an empty tensor")
    _check_flat(input, index)
    return _take(input, index)


def _check_flat(input: Tensor, index: Tensor) -> None:
    size = input._array.size
    if places.leaves(index._array, size):
        for i in index._array.ravel().tolist():
            if not -size <= i < size:
                raise IndexError(f"out of range: tried to access index {i} on a tensor of {size} elements.")


@in_both_forms()
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`source` written (or added) at the positions `index` of the tensor read as one vector."""
    if index._array.size != source._array.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._array.size}, index.numel() = {index._array.size}"
        )
    if index._array.dtype != np.int64:
        raise RuntimeError(
            f"put_(): Expected a long tensor for index, but got {dtypes.word(index._array.dtype)}"
        )
    if source._array.dtype != input._array.dtype:
        own, given = (dtypes.word(t._array.dtype) for t in (input, source))
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {own} and source.dtype = {given}"
        )
    _check_flat(input, index)
    return _put, input, index, source, bool(accumulate)


@method()
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The positions of the elements that are not 0: one row each, or with `as_tuple` one vector for each dimension."""
    input._dynamic("aten::nonzero")
    found = np.nonzero(np.atleast_1d(input.numpy(force=True)))
    if as_tuple:
        return tuple(wrap(in_rows(i)) for i in found)
    return wrap(np.stack(found).T if input._array.ndim else np.zeros((found[0].size, 0), np.int64))


@method()
def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not 0, one row each."""
    return nonzero(input)


__all__ = [
    "argwhere", "gather", "index_add", "index_copy", "index_fill", "index_select", "masked_fill", "masked_scatter",
    "masked_select", "nonzero", "put", "scatter_add", "take", "take_along_dim",
]  # fmt: skip
