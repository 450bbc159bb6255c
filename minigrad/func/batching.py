"""How vmap runs each operation on a whole batch: one rule by operation, and a loop for those that have none.

A rule gets `pairs`, a list of (value, bdim): bdim is 0 if dimension 0 of the value counts the examples, None if the value
is the same for all. It returns the whole batch's result, examples along dimension 0. Parameters that name dimensions or
shapes speak of one example, so they are shifted by one. Elementwise operations need no rule.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..ops import indexing, joining, linalg, reduction, selecting
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..ops.table import Op
    from .vmap import Vmap

Pair = tuple[Tensor, int | None]
RULES: dict[str, Callable] = {}  # by the operation's name
warned: set[str] = set()


def run_batched(level: Vmap, op: Op, pairs: Sequence[Pair], params: tuple):
    """One operation on the whole batch."""
    if op.kind == "elementwise" and len(op.outputs) == 1:
        return op.call(*aligned(pairs), *params)
    rule = op.batch or RULES.get(op.name)
    if rule is not None:
        found = rule(level, op, pairs, params)
        if found is not NotImplemented:
            return found
    return one_by_one(level, op, pairs, params)


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


# ---------------------------------------------------------------- shapes and views


@batch("view", "unsafe_view", "reshape_alias")
def _view(level, op, pairs, params):
    ((value, _),) = pairs
    return value.reshape(level.size, *params[0])


@batch("expand")
def _expand(level, op, pairs, params):
    ((value, _),) = pairs
    size, *rest = value._array.shape
    (wanted,) = params
    return value.reshape(size, *(1,) * (len(wanted) - len(rest)), *rest).expand(size, *wanted)


@batch("alias", "clone", "contiguous", "to_copy", "neg", "zero", "fill", "logical_not")
def _same(level, op, pairs, params):
    return op.call(pairs[0][0], *params)


@batch("t")
def _t(level, op, pairs, params):
    value = pairs[0][0]
    return value if value._array.ndim < 3 else value.transpose(1, 2)


@batch("unsqueeze", "unbind", "cumsum", "cumprod", "flip")
def _first_param_is_dim(level, op, pairs, params):
    return op.call(pairs[0][0], *shifted(params[:1]), *params[1:])


@batch("transpose", "squeeze", "sum", "mean", "permute", "roll", "split", "split_with_sizes", "softmax", "log_softmax",
       "logsumexp", "select", "slice", "amax", "amin", "tril", "triu", "prod", "var", "std", "max", "min", "sort", "topk",
       "linalg_vector_norm", "median", "cummax", "cummin", "logcumsumexp", "kthvalue")  # fmt: skip
def _dims_shifted(level, op, pairs, params):
    """Operations on one tensor whose parameters are dimensions (by their names) and plain values."""
    ((value, _),) = pairs
    ndim = value._array.ndim - 1
    if op.name == "permute":
        return op.call(value, (0, *(d + 1 for d in params[0])))
    if op.name in ("tril", "triu"):
        return op.call(value, *params)
    if "dim" not in " ".join(op.params):
        return over_all_dims(op, value, ndim)
    if op.name == "squeeze" and not ndim:
        return value
    new = [
        shifted((p,))[0] if name in DIM_NAMES and p is not None else p
        for name, p in zip(op.params, params, strict=False)
    ]
    return op.call(value, *new)


DIM_NAMES = {"dim", "dim0", "dim1", "dim2", "dims", "axis"}


def shifted(dims: Sequence) -> tuple:
    return tuple(tuple(d + 1 for d in p) if isinstance(p, (tuple, list)) else p + 1 for p in dims)


def over_all_dims(op: Op, value: Tensor, ndim: int):
    """A reduction of whole examples."""
    dims = tuple(range(1, ndim + 1))
    if op.name == "squeeze":
        kept = (value._array.shape[0], *(n for n in value._array.shape[1:] if n != 1))
        return value.reshape(kept)
    if op.name in ("sum", "mean") and not ndim:
        return value.clone()
    if op.name == "sum":
        return reduction.sum(value, dims)
    if op.name == "mean":
        return reduction.mean(value, dims)
    if op.name in ("max", "min"):
        return (
            (reduction.amax if op.name == "max" else reduction.amin)(value, dims) if ndim else value.clone()
        )
    if op.name == "prod":
        return reduction.prod(value.reshape(value._array.shape[0], -1), 1)
    return NotImplemented


@batch("cat", "stack")
def _joined(level, op, pairs, params):
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


@batch("dot")
def _dot(level, op, pairs, params):
    (a, a_dim), (b, b_dim) = pairs
    if a_dim is None or b_dim is None:
        return linalg.mv(a, b) if b_dim is None else linalg.mv(b, a)
    return (a * b).sum(-1)


@batch("addmm")
def _addmm(level, op, pairs, params):
    bias, left, right = pairs
    options = dict(zip(op.params, params, strict=False))
    product = _matrices(level, linalg.mm.op, (left, right), ())
    alpha, beta = options.get("alpha", 1), options.get("beta", 1)
    product = product if alpha == 1 else product * alpha
    parts = aligned([bias, (product, 0)])
    return parts[1] + (parts[0] if beta == 1 else parts[0] * beta)


# ---------------------------------------------------------------- picking elements


@batch("index")
def _index(level, op, pairs, params):
    ((value, _),) = pairs
    (indices,) = params
    if any(isinstance(i, Tensor) and level.owns(i) for i in indices):
        return NotImplemented
    return indexing.getitem(value, (slice(None), *(slice(None) if i is None else i for i in indices)))


@batch("gather")
def _gather(level, op, pairs, params):
    value, index = (whole(level, p) for p in pairs)
    if len(logical(pairs[0])) == 0 or len(logical(pairs[1])) == 0:
        return NotImplemented
    return selecting.gather(value, params[0] + 1, index)


@batch("scatter_add")
def _scatter_add(level, op, pairs, params):
    if any(len(logical(p)) == 0 for p in pairs):
        return NotImplemented
    value, index, src = (whole(level, p) for p in pairs)
    return selecting.scatter_add(value, params[0] + 1, index, src)


@batch("index_select")
def _index_select(level, op, pairs, params):
    (value, v_dim), (index, i_dim) = pairs
    if i_dim is not None or v_dim is None:
        return NotImplemented
    return selecting.index_select(value, params[0] + 1, index)


@batch("diagonal", "diag_embed")
def _diagonal(level, op, pairs, params):
    ((value, _),) = pairs
    offset, dim1, dim2 = params
    return op.call(value, offset, dim1 + 1 if dim1 >= 0 else dim1, dim2 + 1 if dim2 >= 0 else dim2)


# ---------------------------------------------------------------- losses and networks


@batch("nll_loss")
def _nll_loss(level, op, pairs, params):
    """Per-example losses of a batch of predictions: of one prediction each, or of several with no weight."""
    options = dict(zip(op.params, params, strict=False))
    logits, target, weight = (*pairs, (None, None))[:3] if len(pairs) > 2 else (*pairs, (None, None))
    if weight[0] is not None and weight[0]._array is not None:
        return NotImplemented
    if (
        options.get("reduction") not in ("mean", "sum", "none", 0, 1, 2)
        or options.get("ignore_index", -100) != -100
    ):
        return NotImplemented
    value, index = whole(level, logits), whole(level, target)
    if len(logical(logits)) not in (1, 2):
        return NotImplemented
    picked = -selecting.gather(value, value._array.ndim - 1, index.unsqueeze(-1)).squeeze(-1)
    if picked._array.ndim == 1 or options["reduction"] in ("none", 0):
        return picked
    return picked.mean(1) if options["reduction"] in ("mean", 1) else picked.sum(1)
