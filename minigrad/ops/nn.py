"""Operations of neural networks on rows: softmax, attention, lookups in a table.

They are public in `minigrad.nn.functional`. Forward functions and rules that vmap also
uses (`batch=`) are written for arrays and Tensors alike.
"""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..basics import check
from ..tensor import wrap
from .operands import constant
from .pointwise import exp, where
from .reduction import add_at, leaves, logsumexp, rows, sum_dim
from .shape import split_equally
from .table import is_array, op

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def sums(x, dim: int):
    """The sums over a dimension, which is kept, of an array or a Tensor."""
    if type(x) is ndarray and dim == x.ndim - 1:  # a product with ones takes a fraction of the time
        return x.dot(constant((x.shape[dim], 1), x.dtype.char))
    return sum_dim(x, (dim,), True) if len(x.shape) else x


def shifted(x: ndarray, dim: int, name: str) -> tuple[ndarray, ndarray, ndarray]:
    """(y, exp(y), the sums of exp(y) along `dim`); y is x minus the maximum of each row, or x itself if all are near 0."""
    x = x if x.flags.c_contiguous else np.ascontiguousarray(x)  # the result is contiguous, too, as in PyTorch
    if x.dtype.kind != "f":
        dtypes.require("f", f"{name}{'_lastdim' * (dim == x.ndim - 1)}_kernel_impl", x.dtype)
    if not x.size or (x.item(x.argmin()) > -3 and x.item(x.argmax()) < 3):  # not with a NaN
        y = x
    elif dim == x.ndim - 1 and x.flags.c_contiguous:  # finding the argmax takes a fifth of the time
        y = x - x.take(x.argmax(dim) + rows(x.shape))[..., None]
    else:
        y = x - np.maximum.reduce(x, axis=dim if x.ndim else None, keepdims=True)
    e = np.exp(y)
    return y, e, sums(e, dim)


def _softmax(self: ndarray, dim: int) -> ndarray:
    _, e, summed = shifted(self, dim, "softmax")
    e /= summed
    return e


def _log_softmax(self: ndarray, dim: int) -> ndarray:
    y, _, summed = shifted(self, dim, "log_softmax")
    return y - np.log(summed)


def _safe_softmax(self: ndarray, dim: int) -> ndarray:
    result = _softmax(self, dim)
    return np.where(np.isneginf(self).all(dim, keepdims=True), 0, result).astype(self.dtype)


def softmax_backward(grad, result, dim):
    weighted = grad * result
    return weighted - result * sums(weighted, dim)


def _lookup(weight, indices):
    check(not leaves(indices, weight.shape[0]), "index out of range in self", error=IndexError)
    return weight.take(indices, 0)


def _lookup_back(self, indices, rows, padding_idx):
    """The transpose of `lookup`: gradients of the same row are added up; the padding row gets none."""
    places = indices[..., None] * self.shape[-1] + np.arange(self.shape[-1])
    out = add_at(np.zeros((rows, self.shape[-1]), self.dtype), places, self)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def looked_up(grad, indices, padding_idx):
    """`lookup` of a gradient, 0 for the padding."""
    rows = lookup(grad, indices, padding_idx)
    return where((indices == padding_idx)[..., None], 0.0, rows) if padding_idx >= 0 else rows


def attention_scores(query, key, attn_mask, is_causal, scale):
    """The products of queries and keys, scaled; -inf where a mask or causality keeps a query from seeing a key."""
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        seen = np.tri(*scores.shape[-2:], dtype=np.bool_)
        attn_mask = seen if is_array(scores) else wrap(seen)
    if attn_mask is None:
        return scores
    return (
        where(attn_mask, scores, -math.inf) if as_array(attn_mask).dtype.kind == "b" else scores + attn_mask
    )


def as_array(x):
    return x if is_array(x) else x._array


def _attention(query, key, value, attn_mask, is_causal, scale):
    """(the values weighted by the softmax of the scores, the logarithms of the softmax's divisors)"""
    scores = attention_scores(query, key, attn_mask, is_causal, scale)
    return softmax(scores, -1) @ value, logsumexp(scores, -1)


def attention_backward(grad, grad_input_mask, query, key, value, attn_mask, is_causal, scale):
    """P: weights, S: scores. ∂V = Pᵀ G, ∂S = P (G Vᵀ - the sum of P G Vᵀ along rows), ∂Q = scale ∂S K, ∂K = scale ∂Sᵀ Q."""
    grad = grad[0] if isinstance(grad, (list, tuple)) else grad
    weights = softmax(attention_scores(query, key, attn_mask, is_causal, scale), -1)
    of_scores = softmax_backward(grad @ value.mT, weights, weights.ndim - 1)
    of_scores = of_scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    grads = of_scores @ key, of_scores.mT @ query, weights.mT @ grad
    return tuple([g if needed else None for g, needed in zip(grads, grad_input_mask, strict=True)])


# fmt: off
# ---------------------------------------------------------------- softmax

softmax = op("softmax(self, dim: dim)", _softmax, at="torch Tensor", self=softmax_backward,
    doc="`exp(input)` divided by its sum over the dimension `dim`: positive numbers that add up to 1.")
log_softmax = op("log_softmax(self, dim: dim)", _log_softmax, at="torch Tensor",
    jvp=lambda inputs, tangents, results, params: tangents[0] - sums(exp(results[0]) * tangents[0], *params),
    doc="`log(softmax(input))`, computed without overflow.",
    self=lambda grad, result, dim: grad - exp(result) * sums(grad, dim))

# ---------------------------------------------------------------- attention

safe_softmax = op("safe_softmax(self, dim: dim)", _safe_softmax, at="", node="SafeSoftmaxBackward0",
    self=softmax_backward)

attention = op("scaled_dot_product_flash_attention_for_cpu(query, key, value, attn_mask=None, is_causal: bool=False, "
    "scale: Scalar=None)", _attention, at="", outputs=("output", "logsumexp"), constants=("logsumexp",), batch=_attention,
    **dict.fromkeys(("query", "key", "value"), attention_backward))

# ---------------------------------------------------------------- looking up

lookup = op("embedding(weight, indices, padding_idx: int=-1)", lambda weight, indices, padding_idx: _lookup(weight, indices),
    at="", kind="linear", batch=lambda weight, indices, padding_idx: weight[indices],
    weight=lambda grad, weight_sym_sizes, indices, padding_idx: lookup_back(grad, indices, weight_sym_sizes[0], padding_idx))
lookup_back = op("embedding_backward(self, indices, rows: int, padding_idx: int)", _lookup_back, at="", kind="linear",
    node="EmbeddingDenseBackwardBackward0", self=lambda grad, indices, padding_idx: looked_up(grad, indices, padding_idx))
# For gates that are overwritten. The parts are not views: after a write to one, the whole must not be used again.
unsafe_split = op("unsafe_split(self, split_size: int, dim: dim)", split_equally.op.forward, kind="linear", outputs=(),
    at="", **split_equally.op.rules)
# fmt: on
