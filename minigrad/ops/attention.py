"""Attention as one operation: softmax(query·keyᵀ·scale + mask)·value for a batch of heads, as PyTorch fuses it on a CPU."""

from __future__ import annotations

import math

import numpy as np

from .nn import total
from .sums import in_single, is_half
from .table import define, first_of

ndarray = np.ndarray


def by_groups(query, *others):
    """All of them with heads in groups: several heads of the query may share one head of key and value."""
    groups = query.shape[1] // others[0].shape[1]
    if groups == 1:
        return query, *others
    batch, heads = others[0].shape[:2]
    shared = tuple(x.reshape((batch, heads, 1, *x.shape[2:])) for x in others)
    return query.reshape((batch, heads, groups, *query.shape[2:])), *shared


def _mask_by_groups(mask: ndarray, scores: ndarray) -> ndarray:
    if mask.ndim == 2 or scores.ndim == 4:
        return mask
    heads = (1, 1) if mask.shape[1] == 1 else scores.shape[1:3]
    return mask.reshape(mask.shape[0], *heads, *mask.shape[2:])


def _forward(query, key, value, attn_mask, dropout_p, is_causal, scale):
    if is_half(query):
        return in_single(_forward, query, key, value, attn_mask, dropout_p, is_causal, scale)
    q, k, v = by_groups(query, key, value)
    scores = q @ k.swapaxes(-1, -2)
    scores *= scale_of(query, scale)
    if is_causal:
        attn_mask = np.tri(*scores.shape[-2:], dtype=bool)
    if attn_mask is not None:
        mask = _mask_by_groups(attn_mask, scores)
        scores = np.where(mask, scores, -np.inf) if mask.dtype.kind == "b" else scores + mask
    top = scores.max(-1, keepdims=True)
    np.maximum(top, np.finfo(top.dtype).min, out=top)  # a query that may look at nothing
    weights = np.exp(scores - top, dtype=query.dtype)
    sums = weights.sum(-1, keepdims=True)
    weights /= np.maximum(sums, np.finfo(sums.dtype).tiny)
    with np.errstate(divide="ignore"):
        logsumexp = top + np.log(sums)
    heads = query.shape[:-1]
    out = (weights @ v).reshape(query.shape)
    if not query.flags.c_contiguous:  # the result lies in memory as the query does
        out, found = np.empty_like(query), out
        out[...] = found
    return out, logsumexp.reshape(heads), weights


def scale_of(query, scale: float | None) -> float:
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


def attention_backward(grads, grad_input_mask, query, key, value, _weights, scale):
    """The gradients of query, key and value. Of the weights w = softmax(s): ∂s = w·(∂w - Σ w·∂w)."""
    if is_half(query):
        return in_single(
            lambda *of: attention_backward(of[:3], grad_input_mask, *of[3:]),
            *grads, query, key, value, _weights, scale,
        )  # fmt: skip
    grad, grad_sums, grad_weights = grads
    q, k, v = by_groups(query, key, value)
    slope = grad_weights
    if grad is not None:
        grad = grad.reshape((*_weights.shape[:-1], grad.shape[-1]))
        from_value = grad @ v.swapaxes(-1, -2)
        slope = from_value if slope is None else slope + from_value
    if slope is not None:
        pull = slope * _weights
        slope = pull - _weights * total(pull, (len(pull.shape) - 1,))
    if grad_sums is not None:
        part = _weights * grad_sums.reshape((*_weights.shape[:-1], 1))
        slope = part if slope is None else slope + part
    slope = slope * scale_of(query, scale)
    for_query, for_key, for_value = grad_input_mask
    return (
        (slope @ k).reshape(query.shape) if for_query else None,
        _shared(slope.swapaxes(-1, -2) @ q, key) if for_key else None,
        _shared(_weights.swapaxes(-1, -2) @ grad, value) if for_value and grad is not None else None,
    )


def _shared(grad, like):
    """The gradient of what several heads share."""
    return (total(grad, (2,)) if len(grad.shape) > 4 else grad).reshape(like.shape)


_fused = define(
    "_scaled_dot_product_flash_attention_for_cpu", _forward, node="ScaledDotProductFlashAttentionForCpuBackward0",
    outputs=("output", "logsumexp", "_weights"), optional=("attn_mask",),
    query=attention_backward, key=attention_backward, value=attention_backward, attn_mask=None,
)  # fmt: skip
fused_attention = first_of(_fused)

__all__ = []
