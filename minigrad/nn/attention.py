"""Multi-head attention (Vaswani et al. 2017)."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .linear import Linear, new_parameter
from .module import Module


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection; PyTorch prints it by this name."""


class MultiheadAttention(Module):
    """Attention in num_heads heads of embed_dim/num_heads features each.

    query: (L, N, E), key: (S, N, kdim), value: (S, N, vdim) (or batch_first; or without N) → output (L, N, E) and, with
    need_weights, the attention weights (N, L, S), averaged over the heads.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError("minigrad's MultiheadAttention has no add_bias_kv and add_zero_attn")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.batch_first = dropout, batch_first
        self._same_dims = self.kdim == embed_dim and self.vdim == embed_dim
        separate = ("q_proj_weight", embed_dim), ("k_proj_weight", self.kdim), ("v_proj_weight", self.vdim)
        together = new_parameter((3 * embed_dim, embed_dim), dtype) if self._same_dims else None
        if together is not None:
            self.in_proj_weight = together
        for name, width in separate:
            self.register_parameter(
                name, None if self._same_dims else new_parameter((embed_dim, width), dtype)
            )
        if together is None:
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", new_parameter((3 * embed_dim,), dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        if self._same_dims:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(output, weights or None). Boolean masks are True where attention is not allowed; others are added.

        key_padding_mask: (N, S). attn_mask: (L, S) or (N·heads, L, S).
        """
        if query.dim() not in (2, 3):
            raise AssertionError(
                f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
            )
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        batched = query.dim() == 3
        if query.shape[-1] != self.embed_dim:
            raise AssertionError(
                f"was expecting embedding dimension of {self.embed_dim}, but got {query.shape[-1]}"
            )
        if not batched:
            query, key, value = (t.unsqueeze(1) for t in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = (t.transpose(0, 1) for t in (query, key, value))
        length, n, _ = query.shape
        source = key.shape[0]
        mask = self._mask(key_padding_mask, attn_mask, n, length, source, query._array.dtype)
        q, k, v = (self._heads(t) for t in self._project(query, key, value))
        scores = (q * math.sqrt(1.0 / self.head_dim)) @ k.transpose(-2, -1)
        weights = F.softmax(scores if mask is None else scores + mask, -1)
        weights = F.dropout(weights, self.dropout, self.training)
        out = (weights @ v).permute(2, 0, 1, 3).reshape(length, n, self.embed_dim)
        out = self.out_proj(out)
        shown = None
        if need_weights:
            shown = weights.mean(1) if average_attn_weights else weights
            shown = shown if batched else shown.squeeze(0)
        if not batched:
            out = out.squeeze(1)
        elif self.batch_first:
            out = out.transpose(0, 1)
        return out, shown

    def _heads(self, t: Tensor) -> Tensor:
        """(L, N, E) as (N, heads, L, E/heads)."""
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, self.head_dim).permute(1, 2, 0, 3)

    def _mask(self, padding, mask, n: int, length: int, source: int, dtype: np.dtype) -> Tensor | None:
        """Both masks as numbers to be added to the scores (N, heads, L, S)."""
        total = None
        if padding is not None:
            total = additive(padding, dtype).view(n, 1, 1, source)
        if mask is not None:
            allowed = [(length, source), (n * self.num_heads, length, source)]
            if tuple(mask.shape) not in allowed:
                raise RuntimeError(
                    f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {allowed[mask.dim() == 3]}."
                )
            shape = (1, 1, length, source) if mask.dim() == 2 else (n, self.num_heads, length, source)
            mask = additive(mask, dtype).view(*shape)
            total = mask if total is None else total + mask
        return total


def additive(mask: Tensor, dtype: np.dtype) -> Tensor:
    """A boolean mask as -∞ where it is True; other masks as they are."""
    if mask._array.dtype.kind != "b":
        return mask
    return wrap(np.where(mask._array, np.asarray(-np.inf, dtype), np.asarray(0, dtype)))


__all__ = ["MultiheadAttention"]
