"""How vmap runs each operation on a whole batch: one rule by operation, and a loop for those that have none.

A rule gets `pairs`, a list of (value, bdim): bdim is 0 if dimension 0 of the value counts the examples, None if the value
is the same for all. It returns the whole batch's result, examples along dimension 0. Parameters that name dimensions or
shapes speak of one example, so they are shifted by one. Elementwise operations need no rule.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd.interpreter import TENSOR_PARAMETERS, Wrapper
from ..ops import arranging, indexing, joining, linalg, loss, reduction, sorting
from ..ops.dispatch import ABSENT
from ..ops.einsum import einsum
from ..ops.pointwise import add, mul
from ..ops.strides import window_places
from ..tensor import Tensor, wrap
from .vmap import Vmap

if TYPE_CHECKING:
    from ..ops.table import Op

Pair = tuple[Tensor, int | None]
RULES: dict[str, Callable] = {}  # by the operation's name
warned: set[str] = set()


def run_batched(level: Vmap, op: Op, pairs: Sequence[Pair], params: tuple):
    """One operation on the whole batch."""
    if op.kind == "elementwise" and len(op.outputs) == 1:
        if len(pairs) == 2 == len(op.differentiable or pairs):
            pairs = as_examples_promote(pairs)
        return op.call(*aligned(pairs), *params)
    if op.name in DYNAMIC:
        refuse_dynamic(op, pairs)
    rule = op.batch or RULES.get(op.name)
    if rule is not None:
        found = rule(level, op, pairs, params)
        if found is not NotImplemented:
            return found
    return one_by_one(level, op, pairs, params)


def as_examples_promote(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Two operands in the dtype that examples would have: a number for each example is still a number.

    PyTorch takes this care of operations on two tensors only.
    """
    (a, _), (b, _) = pairs
    if a._array.dtype is b._array.dtype:
        return pairs
    wanted = dtypes.of_numpy(dtypes.promote([(p[0]._array.dtype, 2 if logical(p) else 1) for p in pairs]))
    return [(value if value.dtype is wanted else value.to(wanted), bdim) for value, bdim in pairs]


Vmap.run_batched = run_batched
DYNAMIC = {
    "unique": "aten::_unique2",
    "masked_select": None,
}  # operations whose result's shape depends on the values


def refuse_dynamic(op: Op, pairs: Sequence[Pair]) -> None:
    """Raise PyTorch's error if the shape of the result would differ between the examples."""
    advice = "if you need this feature.\nThe shape of the result would differ between the examples."
    if op.name == "masked_select":
        if pairs[1][1] is not None:
            raise RuntimeError(
                "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for "
                "each batch this would return a differently shaped Tensor. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues " + advice
            )
        return
    raise RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"{DYNAMIC[op.name]}. Please file an issue at https://github.com/pytorch/pytorch/issues {advice}"
    )


def aligned(pairs: Sequence[Pair]) -> list[Tensor]:
    """The values with their examples' dimensions lined up from the right, so that they broadcast as the examples do."""
    present = [(v, b) for v, b in pairs if v._array is not None]
    ndim = max(v._array.ndim - (b is not None) for v, b in present)
    out = []
    for v, b in pairs:
        if v._array is None or b is None or v._array.ndim == ndim + 1:
            out.append(v)
        else:
            size, *rest = v._array.shape
            out.append(v.reshape(size, *(1,) * (ndim - len(rest)), *rest))
    return out


def one_by_one(level: Vmap, op: Op, pairs: Sequence[Pair], params: tuple):
    """The operation on each example, in a loop: right, but slow. Says so once for each operation."""
    if op.name in TENSOR_PARAMETERS and any(map(level.owns, params[0])):
        raise RuntimeError(
            "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing "
            "with a boolean mask.\nThe shape would differ between the examples: use where() or multiply by the mask instead."
        )
    if op.name not in warned:
        warned.add(op.name)
        warnings.warn(
            f"There is a performance drop because we have not yet implemented the batching rule for aten::{op.name}. It is run "
            "for each example in a loop.",
            UserWarning,
            stacklevel=2,
        )
    rows = []
    for k in range(level.size):
        examples = [v if b is None else v.select(0, k) for v, b in pairs]
        rows.append(op.call(examples, *params) if op.variadic else op.call(*examples, *params))
    if isinstance(rows[0], tuple):
        return tuple(joining.stack(list(column)) for column in zip(*rows, strict=True))
    return joining.stack(rows)


def batch(*names: str) -> Callable:
    """Decorator: the function is the rule of the operations of these names."""

    def add(rule: Callable) -> Callable:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return add


def whole(level: Vmap, pair: Pair) -> Tensor:
    """The value with a batch dimension, stretched if it had none."""
    value, bdim = pair
    return value if bdim is not None else value.unsqueeze(0).expand(level.size, *value._array.shape)


def logical(pair: Pair) -> tuple:
    """One example's shape."""
    value, bdim = pair
    return value._array.shape if bdim is None else value._array.shape[1:]


@batch("constant_in")
def _constant_in(level, op, pairs, params):
    return op.call(whole(level, pairs[0]), pairs[1][0])


# ---------------------------------------------------------------- shapes and views


@batch("view", "unsafe_view", "reshape_alias")
def _view(level, op, pairs, params):
    ((value, _),) = pairs
    if op.name == "view":  # in the same memory, or an error
        return value.view(level.size, *params[0])
    return value.reshape(level.size, *params[0])


@batch("expand")
def _expand(level, op, pairs, params):
    ((value, _),) = pairs
    size, *rest = value._array.shape
    (wanted,) = params
    return value.reshape(size, *(1,) * (len(wanted) - len(rest)), *rest).expand(size, *wanted)


@batch("alias", "clone", "contiguous", "to_copy", "neg", "zero", "logical_not", "frexp", "lu_permutation")
def _same(level, op, pairs, params):
    return op.call(pairs[0][0], *params)


@batch("fill")
def _fill(level, op, pairs, params):
    if len(pairs) == 1:
        return op.call(pairs[0][0], *params)
    value = whole(level, pairs[0])
    return aligned([pairs[0], pairs[1], (value, 0)])[1].expand(value._array.shape).to(value.dtype)


@batch("t", "t_")
def _t(level, op, pairs, params):
    value = pairs[0][0]
    return value if value._array.ndim < 3 else value.transpose(1, 2)


@batch("transpose", "transpose_", "squeeze", "squeeze_", "unsqueeze", "unsqueeze_", "permute", "flip", "roll", "unbind",
       "split", "unsafe_split", "split_with_sizes", "select", "slice", "unfold", "tril", "triu", "sum", "mean",
       "nansum", "prod", "var", "std", "var_mean", "std_mean", "amax", "amin", "aminmax", "max", "min", "median",
       "nanmedian", "kthvalue", "mode", "sort", "argsort", "topk", "cumsum", "cumsum_back", "cumprod", "cummax",
       "cummin", "logcumsumexp", "softmax", "log_softmax", "logsumexp", "glu", "linalg_vector_norm", "norm", "all",
       "any", "count_nonzero", "_safe_softmax")  # fmt: skip
def _one_tensor(level, op, pairs, params):
    """Operations on one tensor whose parameters are dimensions (by their names) and plain values."""
    ((value, _),) = pairs
    ndim = value._array.ndim - 1
    names = dict(zip(op.params, params, strict=False))
    dims = [n for n in names if n in DIM_NAMES]
    if op.name == "permute":
        return op.call(value, (0, *(d + 1 for d in params[0])))
    if op.name == "roll" and not names["dims"]:
        return value.reshape(value._array.shape[0], -1).roll(names["shifts"], 1).reshape(value._array.shape)
    if not dims and op.name not in ("tril", "triu"):
        return over_all_dims(op, value, ndim)
    if not ndim and not op.name.startswith("unsqueeze"):
        return of_numbers(level, op, value, params)
    for n in dims:
        d = names[n]
        every = d is None or (isinstance(d, tuple) and not d and op.name not in ("flip", "roll", "squeeze"))
        names[n] = (
            tuple(range(1, ndim + 1)) if every else tuple(i + 1 for i in d) if isinstance(d, tuple) else d + 1
        )
    return op.call(value, *names.values())


def of_numbers(level: Vmap, op: Op, value: Tensor, params: tuple):
    """Operations along dimension 0 of a 0-d tensor, which PyTorch allows: the tensor counts as a vector of length 1."""
    names = dict(zip(op.params, params, strict=False))
    for n in names:
        if n in DIM_NAMES:
            names[n] = 1 if isinstance(names[n], int) else (1,)
    result = op.call(value.unsqueeze(1), *names.values())
    results = result if isinstance(result, tuple) else (result,)
    outs = tuple(r.reshape(level.size, *r._array.shape[2:]) for r in results)
    return outs if isinstance(result, tuple) else outs[0]


DIM_NAMES = ("dim", "dim0", "dim1", "dim2", "dims", "dimension")


def over_all_dims(op: Op, value: Tensor, ndim: int):
    """A reduction, or a squeeze, of whole examples."""
    size, *rest = value._array.shape
    if op.name.startswith("squeeze"):
        return value.reshape(size, *(n for n in rest if n != 1))
    if op.name not in WHOLE:
        return NotImplemented
    return WHOLE[op.name](value.reshape(size, -1))


WHOLE = {
    "sum": lambda rows: reduction.sum(rows, 1),
    "mean": lambda rows: reduction.mean(rows, 1),
    "prod": lambda rows: reduction.prod(rows, 1),
    "max": lambda rows: reduction.amax(rows, 1),
    "min": lambda rows: reduction.amin(rows, 1),
    "median": sorting.row_medians,
    "nanmedian": sorting.row_nanmedians,
}


@batch("cat", "stack")
def _joined(level, op, pairs, params):
    if op.name == "cat":  # vectors of nothing count as nothing beside tensors of any shape
        pairs = [p for p in pairs if logical(p) != (0,)] or pairs
    values = [whole(level, p) for p in pairs]
    return op.call(values, params[0] + 1)


@batch("repeat")
def _repeat(level, op, pairs, params):
    ((value, _),) = pairs
    size, *rest = value._array.shape
    repeats = params[0]
    return value.reshape(size, *(1,) * (len(repeats) - len(rest)), *rest).repeat(1, *repeats)


@batch("slice_backward", "select_backward")
def _scattered_back(level, op, pairs, params):
    ((value, _),) = pairs
    sizes, key, *more = params
    return op.call(
        value, (level.size, *sizes), (slice(None), *(key if isinstance(key, tuple) else (key,))), *more
    )


# ---------------------------------------------------------------- products


@batch("mm", "bmm", "matmul")
def _matrices(level, op, pairs, params):
    (a, a_dim), (b, b_dim) = pairs
    if op.name == "mm" and a_dim is not None and b_dim is None:
        return linalg.matmul(a, b)  # the batch is more rows
    return linalg.matmul(*aligned(pairs))


@batch("mv")
def _matrix_vector(level, op, pairs, params):
    (matrix, m_dim), (vector, v_dim) = pairs
    if v_dim is None:
        return linalg.matmul(matrix, vector)
    if m_dim is None:
        return linalg.mm(vector, matrix.t())  # the vectors are rows
    return linalg.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


@batch("dot", "vdot")
def _dot(level, op, pairs, params):
    (a, a_dim), (b, b_dim) = pairs
    if a_dim is None or b_dim is None:
        return linalg.mv(a, b) if b_dim is None else linalg.mv(b, a)
    return (a * b).sum(-1)


PRODUCTS = {"addmm": linalg.mm, "addmv": linalg.mv, "baddbmm": linalg.bmm, "addbmm": linalg.bmm}


@batch("addmm", "addmv", "baddbmm", "addbmm", "addr")
def _added_product(level, op, pairs, params):
    bias, left, right = pairs
    options = dict(zip(op.params, params, strict=False))
    bdim = None if left[1] is None and right[1] is None else 0
    if op.name == "addr":
        a, b = aligned([left, right])
        product = a.unsqueeze(-1) * b.unsqueeze(-2)
    elif bdim is None:
        product = PRODUCTS[op.name](left[0], right[0])
    else:
        product = run_batched(level, PRODUCTS[op.name].op, (left, right), ())
    if op.name == "addbmm":
        product = product.sum(0 if bdim is None else 1)
    alpha, beta = options.get("alpha", 1), options.get("beta", 1)
    first, second = aligned([bias, (product if alpha == 1 else product * alpha, bdim)])
    return second + (first if beta == 1 else first * beta)


@batch("trilinear")
def _trilinear(level, op, pairs, params):
    first, (weight, bdim), last = pairs
    if bdim is None:
        result = op.call(folded(level, first), weight, folded(level, last))
        return result.reshape(level.size, -1, result._array.shape[-1])
    return einsum("zbi,zkij,zbj->zbk", *(whole(level, p) for p in pairs))


@batch("dist")
def _dist(level, op, pairs, params):
    a, b = aligned(pairs)
    return (a - b).reshape(level.size, -1).norm(params[0], 1)


@batch("cdist", "euclidean_dist", "pdist")
def _cdist(level, op, pairs, params):
    return op.call(*aligned([(whole(level, p), 0) for p in pairs]), *params)


@batch("linalg_cross")
def _cross(level, op, pairs, params):
    (dim,) = params
    return op.call(*aligned([(whole(level, p), 0) for p in pairs]), dim + 1 if dim >= 0 else dim)


# ---------------------------------------------------------------- picking and placing elements


def shared_indices(level: Vmap, indices: tuple) -> bool:
    """Do all examples use the same indices, and would the batch dimension stay in front?"""
    places = [i for i, index in enumerate(indices) if index is not None]
    together = places == list(range(places[0], places[-1] + 1)) if places else True
    return together and not any(isinstance(i, Tensor) and level.owns(i) for i in indices)


def indices_for_each(level: Vmap, indices: tuple) -> tuple[tuple, int, int] | None:
    """For index tensors that differ between the examples, or are not next to each other: the same for the whole batch,
    where the example's number comes first; how many dimensions the selection has; how many of the value stand before
    it. None if there are masks, whose length may differ."""
    tensors = [i for i in indices if i is not None]
    pairs = [level.unwrap(i) for i in tensors]
    if any(v._array.dtype.kind == "b" for v, _ in pairs):
        return None
    ndim = max(len(logical(p)) for p in pairs)
    number = wrap(np.arange(level.size).reshape(-1, *(1,) * ndim))
    lined_up = iter(aligned([*pairs, (number, 0)]))
    places = [n for n, i in enumerate(indices) if i is not None]
    adjacent = places == list(range(places[0], places[-1] + 1))
    return (
        (number, *(None if i is None else next(lined_up) for i in indices)),
        ndim,
        places[0] if adjacent else 0,
    )


def selection_last(ndim: int, lead: int, total: int) -> tuple:
    """NumPy puts a selection of `ndim` dimensions directly after the examples; this is where PyTorch has it: after `lead`
    dimensions more."""
    return (0, *range(1 + ndim, 1 + ndim + lead), *range(1, 1 + ndim), *range(1 + ndim + lead, total))


@batch("index")
def _index(level, op, pairs, params):
    (indices,) = params
    if shared_indices(level, indices):
        return op.call(pairs[0][0], (None, *indices))
    found = indices_for_each(level, indices)
    if found is None:
        return NotImplemented
    whole_indices, ndim, lead = found
    result = op.call(whole(level, pairs[0]), whole_indices)
    return result.permute(selection_last(ndim, lead, result._array.ndim)) if lead else result


@batch("index_put")
def _index_put(level, op, pairs, params):
    indices, accumulate = params
    value = whole(level, pairs[0])
    if shared_indices(level, indices):
        selected = value._array.ndim
        masks = [i._array for i in indices if i is not None and i._array.dtype.kind == "b"]
        numbers = [i._array for i in indices if i is not None and i._array.dtype.kind != "b"]
        selected -= sum(m.ndim for m in masks) + len(numbers)
        selected += max([i.ndim for i in numbers] + [1] * bool(masks), default=0)
        source = whole(level, pairs[1])
        lead = (level.size, *(1,) * (selected - source._array.ndim))
        source = source.reshape(*lead, *source._array.shape[1:])
        return op.call(value, source, (None, *indices), accumulate)
    found = indices_for_each(level, indices)
    if found is None:
        return NotImplemented
    whole_indices, ndim, lead = found
    read = indexing._index(value, whole_indices)
    order = selection_last(ndim, lead, read._array.ndim)
    source = aligned([pairs[1], (read, 0)])[0]
    source = source.expand(tuple(read._array.shape[d] for d in order))
    back = tuple(order.index(d) for d in range(len(order)))
    return op.call(value, source.permute(back), whole_indices, accumulate)


@batch(
    "gather",
    "scatter_add",
    "scatter",
    "scatter_reduce",
    "index_add",
    "index_select",
    "index_copy",
    "index_fill",
)
def _along_one_dim(level, op, pairs, params):
    if not logical(pairs[0]):
        return NotImplemented
    named = dict(zip(op.params, params, strict=False))
    dim = named["dim"]
    named["dim"] = dim + 1
    (index, index_dim), value = pairs[1], whole(level, pairs[0])
    if not op.name.startswith("index_"):
        others = [whole(level, p) for p in pairs[2:]]
        if any(not logical(p) for p in pairs):
            return NotImplemented
        return op.call(value, whole(level, pairs[1]), *others, *named.values())
    others = [aligned([p, (value, 0)])[0] for p in pairs[2:]]
    if index_dim is None:  # one list of indices for all examples
        others = [
            whole(level, p) if op.name != "index_fill" else o for p, o in zip(pairs[2:], others, strict=True)
        ]
        return op.call(value, index, *others, *named.values())
    count = index._array.shape[1] if index._array.ndim > 1 else 1
    index = index.reshape(level.size, *(count if d == dim else 1 for d in range(value._array.ndim - 1)))
    shape = (level.size, *(count if d == dim else n for d, n in enumerate(value._array.shape[1:])))
    index = index.expand(shape)
    if op.name == "index_select":
        return value.gather(dim + 1, index)
    if op.name == "index_add":
        source = whole(level, pairs[2]).expand(shape)
        return value.scatter_add(dim + 1, index, source if named["alpha"] == 1 else source * named["alpha"])
    if op.name == "index_copy":
        return value.scatter(dim + 1, index, whole(level, pairs[2]).expand(shape))
    if others:
        return value.scatter(dim + 1, index, others[0].to(value.dtype).expand(shape))
    return value.scatter(dim + 1, index, named["value"])


def flat_index(index: Tensor, numel: int) -> Tensor:
    """Positions in a vector of `numel` elements, counted from the front."""
    return index.where(index >= 0, index + numel)


@batch("take")
def _take(level, op, pairs, params):
    value, index = whole(level, pairs[0]), flat_index(whole(level, pairs[1]), math.prod(logical(pairs[0])))
    return value.reshape(level.size, -1).gather(1, index.reshape(level.size, -1)).reshape(index._array.shape)


@batch("put")
def _put(level, op, pairs, params):
    (accumulate,) = params
    value, index = whole(level, pairs[0]), flat_index(whole(level, pairs[1]), math.prod(logical(pairs[0])))
    flat, index = value.reshape(level.size, -1), index.reshape(level.size, -1)
    source = whole(level, pairs[2]).reshape(level.size, -1).expand(index._array.shape)
    put = flat.scatter_add if accumulate else flat.scatter
    return put(1, index, source).reshape(value._array.shape)


@batch("select_scatter", "slice_scatter")
def _part_written(level, op, pairs, params):
    dim, *rest = params
    return op.call(*(whole(level, p) for p in pairs), dim + 1, *rest)


@batch("unfold_backward")
def _unfold_backward(level, op, pairs, params):
    ((value, _),) = pairs
    sizes, dim, *rest = params
    return op.call(value, (level.size, *sizes), dim + 1, *rest)


@batch("rot90")
def _rot90(level, op, pairs, params):
    k, dims = params
    return op.call(pairs[0][0], k, tuple(d + 1 if d >= 0 else d for d in dims))


@batch("as_strided")
def _as_strided(level, op, pairs, params):
    ((value, _),) = pairs
    size, stride, _, start, layout = params
    places = window_places(value._array.shape[1:], layout, (size, stride, start))
    rows = value.reshape(level.size, -1)
    return rows[:, wrap(places.reshape(-1))].reshape(level.size, *size)


@batch("copy")
def _copy(level, op, pairs, params):
    value = whole(level, pairs[0])
    return op.call(value, aligned([pairs[0], pairs[1], (value, 0)])[1])


def places_for_each(level: Vmap, places: np.ndarray, numel: int) -> np.ndarray:
    """Places in one example as places in the batch."""
    return places + (np.arange(level.size) * numel).reshape(-1, *(1,) * places.ndim)


@batch("read_places")
def _read_places(level, op, pairs, params):
    (places,) = params
    return op.call(pairs[0][0], places_for_each(level, places, math.prod(logical(pairs[0]))))


@batch("add_places")
def _add_places(level, op, pairs, params):
    shape, places = params
    return op.call(pairs[0][0], (level.size, *shape), places_for_each(level, places, math.prod(shape)))


@batch("write_places")
def _write_places(level, op, pairs, params):
    (places,) = params
    value, (source, bdim) = whole(level, pairs[0]), pairs[1]
    if bdim is not None:  # its dimensions stand for the last ones of the places
        source = source.reshape(
            level.size, *(1,) * (places.ndim - source._array.ndim + 1), *source._array.shape[1:]
        )
    return op.call(value, source, places_for_each(level, places, math.prod(logical(pairs[0]))))


@batch("trace")
def _trace(level, op, pairs, params):
    return arranging.diagonal(pairs[0][0], 0, 1, 2).sum(-1)


@batch("diagonal", "diagonal_copy", "diag_embed", "diagonal_scatter")
def _diagonal(level, op, pairs, params):
    offset, dim1, dim2 = params
    values = [whole(level, p) for p in pairs]
    return op.call(*values, offset, dim1 + 1 if dim1 >= 0 else dim1, dim2 + 1 if dim2 >= 0 else dim2)


# ---------------------------------------------------------------- linear algebra: NumPy batches by itself


@batch("linalg_inv_ex", "linalg_det", "linalg_slogdet", "linalg_cholesky_ex", "linalg_qr", "linalg_eigh", "linalg_svd",
       "linalg_pinv", "linalg_lu_factor_ex", "linalg_lu", "linalg_eig", "cholesky", "cholesky_inverse",
       "cholesky_solve", "linalg_matrix_exp", "linalg_solve_triangular")  # fmt: skip
def _stack_of_matrices(level, op, pairs, params):
    if len(pairs) == 2 and len(logical(pairs[1])) < 2:
        return NotImplemented
    return op.call(*aligned([(whole(level, p), 0) for p in pairs]), *params)


@batch("linalg_lu_solve", "lu_unpack")
def _with_pivots(level, op, pairs, params):
    matrices = [p for i, p in enumerate(pairs) if i != 1]  # the row exchanges have a dimension less
    if len({len(logical(p)) for p in matrices}) > 1:
        return NotImplemented
    return op.call(*(whole(level, p) for p in pairs), *params)


@batch("linalg_solve_ex")
def _solve(level, op, pairs, params):
    a, b = (whole(level, p) for p in pairs)
    one, other = map(logical, pairs)
    if len(other) == 1 or (len(one) == len(other) + 1 and one[:-1] == other):  # b holds vectors
        return op.call(*aligned([(a, 0), (b.unsqueeze(-1), 0)]), True).squeeze(-1)
    return op.call(*aligned([(a, 0), (b, 0)]), *params)


# ---------------------------------------------------------------- losses


@batch("mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy",
       "binary_cross_entropy_with_logits")  # fmt: skip
def _loss(level, op, pairs, params):
    """The loss of each element, reduced within each example."""
    reduction_kind, *rest = params
    each = op.call(*aligned(pairs), loss.NONE, *rest)
    return reduced(each.reshape(level.size, -1), reduction_kind) if reduction_kind != loss.NONE else each


def reduced(each: Tensor, kind: int) -> Tensor:
    return each if kind == loss.NONE else each.mean(1) if kind == loss.MEAN else each.sum(1)


def class_weights(level: Vmap, target: Tensor, weight: Pair, ignore_index: int, like: Tensor) -> Tensor:
    """How much each target of the batch counts: its class's weight, 0 if it is to be ignored."""
    counts = (target != ignore_index).to(like.dtype)
    value, bdim = weight
    if value._array is None:
        return counts
    safe = target.masked_fill(target == ignore_index, 0)
    if bdim is None:
        return counts * value[safe]
    return counts * value.gather(1, safe.reshape(level.size, -1)).reshape(target._array.shape)


@batch("nll_loss", "nll_loss2d")
def _nll_loss(level, op, pairs, params):
    kind, ignore_index = params
    logs, target = whole(level, pairs[0]), whole(level, pairs[1])
    if len(logical(pairs[0])) > 2:  # images: the classes last
        logs = logs.movedim(2, -1)
    each, _, *unread = loss.nll_loss(
        logs.reshape(-1, logs._array.shape[-1]), target.reshape(-1), None, loss.NONE, ignore_index
    )
    if pairs[2][0]._array is None and not isinstance(target, Wrapper):  # quickly: it has no derivative
        counted = target._array.reshape(level.size, -1) != ignore_index
        total = wrap(np.add.reduce(counted, axis=1, dtype=logs._array.dtype))
        each = each.reshape(target._array.shape)
    else:
        weights = class_weights(level, target, pairs[2], ignore_index, logs)
        each = each.reshape(target._array.shape)
        each = each if pairs[2][0]._array is None else each * weights
        total = weights.reshape(level.size, -1).sum(1)
    if kind == loss.NONE:
        return each, total, *unread
    summed = each.reshape(level.size, -1).sum(1) if each.numel() > level.size else each.reshape(level.size)
    return (summed / total if kind == loss.MEAN else summed), total, *unread


@batch("nll_loss_backward")
def _nll_loss_backward(level, op, pairs, params):
    sizes, kind, ignore_index = params
    upstream, target, total = (whole(level, pairs[i]) for i in (0, 1, 3))
    if kind != loss.NONE:
        upstream = upstream / total if kind == loss.MEAN else upstream
        if target._array.ndim > 1:
            lined_up = upstream.reshape(level.size, *(1,) * (target._array.ndim - 1))
            upstream = lined_up.expand(target._array.shape)
    if pairs[2][0]._array is not None:
        upstream = upstream * class_weights(level, target, pairs[2], ignore_index, upstream)
    classes = sizes[1] if len(sizes) > 2 else sizes[-1]
    rows = op.call(
        upstream.reshape(-1),
        target.reshape(-1),
        None,
        total,
        (target.numel(), classes),
        loss.NONE,
        ignore_index,
    )
    rows = rows.reshape(*target._array.shape, classes)
    return rows.movedim(-1, 2) if len(sizes) > 2 else rows.reshape(level.size, *sizes)


# ---------------------------------------------------------------- networks: the batch of examples is more images


def folded(level: Vmap, pair: Pair) -> Tensor:
    """(examples, images, ...) as (examples · images, ...)."""
    value = whole(level, pair)
    return value.reshape(-1, *value._array.shape[2:])


@batch("avg_pool2d", "adaptive_avg_pool2d")
def _pooled(level, op, pairs, params):
    if len(logical(pairs[0])) < 3:
        return NotImplemented
    result = op.call(folded(level, pairs[0]), *params)
    return result.reshape(level.size, -1, *result._array.shape[1:])


@batch("avg_pool2d_backward", "avg_pool3d_backward", "adaptive_avg_pool2d_backward", "max_pool_backward")
def _unpooled(level, op, pairs, params):
    sizes, *rest = params
    return op.call(*(whole(level, p) for p in pairs), (level.size, *sizes), *rest)


def as_channels(value: Tensor) -> Tensor:
    """(examples, images, channels, ...) as (images, examples · channels, ...)."""
    turned = value.movedim(0, 1)
    return turned.reshape(turned._array.shape[0], -1, *turned._array.shape[3:])


def from_channels(level: Vmap, value: Tensor) -> Tensor:
    """Back again."""
    images, channels, *rest = value._array.shape
    return value.reshape(images, level.size, channels // level.size, *rest).movedim(1, 0)


@batch("convolution", "convolution_input", "convolution_weight")
def _convolved(level, op, pairs, params):
    """With one kernel for all, the examples are more images; with a kernel for each, more groups of channels."""
    *rest, groups = params
    if op.name != "convolution_weight" and all(b is None for _, b in pairs[1:]):
        result = op.call(folded(level, pairs[0]), *(v for v, _ in pairs[1:]), *params)
        return result.reshape(level.size, -1, *result._array.shape[1:])
    first = as_channels(whole(level, pairs[0]))
    if op.name == "convolution_weight":
        result = op.call(first, as_channels(whole(level, pairs[1])), *rest, groups * level.size)
        return result.reshape(level.size, -1, *result._array.shape[1:])
    others = [v if v._array is None else folded(level, (v, b)) for v, b in pairs[1:]]
    return from_channels(level, op.call(first, *others, *rest, groups * level.size))


@batch("native_batch_norm")
def _batch_norm(level, op, pairs, params):
    """The examples are more channels, each with statistics of its own."""
    others = [v if v._array is None else whole(level, (v, b)).reshape(-1) for v, b in pairs[1:]]
    out, *statistics = op.call(as_channels(whole(level, pairs[0])), *others, *params)
    return from_channels(level, out), *(s.reshape(level.size, s.numel() // level.size) for s in statistics)


@batch("native_layer_norm")
def _layer_norm(level, op, pairs, params):
    others = pairs[1:]
    if all(b is None for _, b in others):
        return op.call(whole(level, pairs[0]), *(v for v, _ in others), *params)
    out, *statistics = op.call(whole(level, pairs[0]), ABSENT, ABSENT, *params)
    for (v, b), combine in zip(others, (mul, add), strict=True):  # a scale and a shift for each example
        if v._array is not None:
            out = combine(*aligned([(out, 0), (v, b)]))
    return out, *statistics


def rows_for_each(level: Vmap, indices: Pair, rows: int) -> Tensor:
    """Numbers of rows of one example's table as numbers of rows of all tables, one below the other."""
    indices = whole(level, indices)
    return indices + wrap(np.arange(level.size) * rows).reshape(-1, *(1,) * (indices._array.ndim - 1))


@batch("embedding", "embedding_transposed")
def _embedding(level, op, pairs, params):
    (table, table_dim), indices = pairs
    padding_idx, by_frequency = params
    if table_dim is None:
        return (
            NotImplemented if by_frequency and indices[1] is not None else op.call(table, indices[0], *params)
        )
    numbers = rows_for_each(level, indices, table._array.shape[1])
    found = op.call(table.reshape(-1, table._array.shape[-1]), numbers, -1, by_frequency)
    if padding_idx < 0:
        return found
    padding = (whole(level, indices) == padding_idx).unsqueeze(-1)
    return (
        found.masked_fill(padding, 0)
        if op.name == "embedding_transposed"
        else found.detach().where(padding, found)
    )


@batch("embedding_backward")
def _embedding_backward(level, op, pairs, params):
    rows, padding_idx, by_frequency = params
    upstream = whole(level, pairs[0])
    numbers = rows_for_each(level, pairs[1], rows)
    out = op.call(upstream, numbers, level.size * rows, -1, by_frequency)
    out = out.reshape(level.size, rows, upstream._array.shape[-1])
    if padding_idx < 0:
        return out
    return out.masked_fill(wrap(np.arange(rows) == padding_idx).reshape(1, -1, 1), 0)


# ---------------------------------------------------------------- places of elements


@batch("argmax", "argmin")
def _place(level, op, pairs, params):
    ((value, _),) = pairs
    dim, keepdim = params
    if dim is not None:
        return op.call(value, dim + 1, keepdim)
    ndim = value._array.ndim - 1
    found = op.call(value.reshape(level.size, -1), 1, False)
    return found.reshape(level.size, *(1,) * ndim) if keepdim else found


RESAMPLED = [f"upsample_{kind}" for kind in ("nearest1d", "nearest2d", "nearest3d", "nearestexact1d", "nearestexact2d",
             "nearestexact3d", "linear1d", "bilinear2d", "trilinear3d", "bicubic2d")]  # fmt: skip


@batch("constant_pad_nd", "max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d",
       "max_pool_pick", "pixel_shuffle", "pixel_unshuffle", "col2im", "avg_pool3d", "adaptive_avg_pool3d",
       "adaptive_avg_pool3d_backward", *RESAMPLED, *(f"{name}_backward" for name in RESAMPLED))  # fmt: skip
def _last_dimensions(level, op, pairs, params):
    """What speaks of the last dimensions only; all before them are more examples."""
    return op.call(*(whole(level, p) for p in pairs), *params)


@batch("im2col", "channel_shuffle")
def _images(level, op, pairs, params):
    if op.name == "im2col" and len(logical(pairs[0])) == 3:
        return op.call(pairs[0][0], *params)
    result = op.call(folded(level, pairs[0]), *params)
    return result.reshape(level.size, -1, *result._array.shape[1:])


@batch("native_group_norm")
def _group_norm(level, op, pairs, params):
    shared = all(b is None for _, b in pairs[1:])
    given = [v if shared else ABSENT for v, _ in pairs[1:]]
    outs = op.call(folded(level, pairs[0]), *given, *params)
    out, *statistics = [r.reshape(level.size, -1, *r._array.shape[1:]) for r in outs]
    if not shared:  # a scale and a shift for each example
        for (v, b), combine in zip(pairs[1:], (mul, add), strict=True):
            if v._array is not None:
                lead = (1, 1) if b is None else (level.size, 1)
                out = combine(out, v.reshape(*lead, v._array.shape[-1], *(1,) * (out._array.ndim - 3)))
    return out, *statistics


@batch("diagonal_backward")
def _diagonal_backward(level, op, pairs, params):
    ((value, _),) = pairs
    sizes, offset, dim1, dim2 = params
    return op.call(value, (level.size, *sizes), offset, dim1 + 1, dim2 + 1)
