"""Multi-head attention (Vaswani et al. 2017), as the operations that PyTorch records for it."""

from __future__ import annotations

import math
import warnings

import numpy as np

from .. import dtypes
from ..creation import zeros
from ..ops import baddbmm, bmm
from ..ops.joining import cat
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
    need_weights, the attention weights (N, L, S), averaged over the heads. add_bias_kv: a trained key and value more for
    every example; add_zero_attn: one more of zeros.
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
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        together = self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        widths = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        shapes = {name: None if together else (embed_dim, width) for name, width in widths.items()}
        whole = {"in_proj_weight": (3 * embed_dim, embed_dim) if together else None}
        shapes = {**whole, **shapes} if together else {**shapes, **whole}
        shapes["in_proj_bias"] = (3 * embed_dim,) if bias else None
        for name, shape in shapes.items():
            self.register_parameter(name, None if shape is None else new_parameter(shape, dtype))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k, self.bias_v = (new_parameter((1, 1, embed_dim), dtype) for _ in range(2))
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

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

        key_padding_mask: (N, S). attn_mask: (L, S) or (N·heads, L, S). is_causal: attn_mask hides what comes later; it
        must be given all the same. Raises AssertionError or RuntimeError for shapes that do not fit.
        """
        dtype = query.dtype
        padding = additive(key_padding_mask, "key_padding_mask", dtype, attn_mask, "attn_mask")
        mask = additive(attn_mask, "attn_mask", dtype)
        batched = query.dim() == 3
        if self.batch_first and batched:
            query, key, value = turned(query, key, value)
        self._check_dims(query, key, value, padding, mask)
        if not batched:
            query, key, value = (t.unsqueeze(1) for t in (query, key, value))
            padding = None if padding is None else padding.unsqueeze(0)
        length, n, width = query.shape
        if is_causal and mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask."
            )
        if is_causal and padding is None and not need_weights:
            mask = None  # scaled_dot_product_attention makes it
        else:
            is_causal = False
        self._check_lengths(width, key, value)
        q, k, v = self._project(query, key, value)
        mask = self._checked_mask(mask, n, length, key.shape[0])
        if self.bias_k is not None:
            k, v = cat([k, self.bias_k.repeat(1, n, 1)]), cat([v, self.bias_v.repeat(1, n, 1)])
            mask, padding = one_more(mask), one_more(padding)
        q, k, v = (self._heads(t) for t in (q, k, v))
        if self.add_zero_attn:
            nothing = zeros(n * self.num_heads, 1, self.head_dim, dtype=k.dtype)
            k, v = cat([k, nothing], 1), cat([v, nothing], 1)
            mask, padding = one_more(mask), one_more(padding)
        source = k.shape[1]
        if padding is not None:
            mask = self._with_padding(mask, padding, n, source)
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            out, weights = self._attend(q, k, v, mask, dropout)
            out = out.transpose(0, 1)
        else:
            q, k, v = (t.view(n, self.num_heads, -1, self.head_dim) for t in (q, k, v))
            if mask is not None:
                each = mask.shape[0] == 1
                mask = mask.unsqueeze(0) if each else mask.view(n, self.num_heads, -1, source)
            out = F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)
            out = out.permute(2, 0, 1, 3)
        out = F.linear(out.reshape(n * length, width), self.out_proj.weight, self.out_proj.bias)
        out = out.view(length, n, out.shape[1])
        if weights is not None:
            weights = weights.view(n, self.num_heads, length, source)
            weights = weights.mean(1) if average_attn_weights else weights
        if not batched:
            return out.squeeze(1), None if weights is None else weights.squeeze(0)
        return out.transpose(1, 0) if self.batch_first else out, weights

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """query, key and value times their weights; in one product where they are the same tensor."""
        width, bias = self.embed_dim, self.in_proj_bias
        if not self._qkv_same_embed_dim:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        elif key is value and query is key:
            return parted(F.linear(query, self.in_proj_weight, bias), 3)
        elif key is value:
            w_q, w_kv = self.in_proj_weight.split([width, 2 * width])
            b_q, b_kv = (None, None) if bias is None else bias.split([width, 2 * width])
            return F.linear(query, w_q, b_q), *parted(F.linear(key, w_kv, b_kv), 2)
        else:
            weights = self.in_proj_weight.chunk(3)
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))

    def _heads(self, t: Tensor) -> Tensor:
        """(L, N, E) as (N·heads, L, E/heads)."""
        return t.contiguous().view(t.shape[0], t.shape[1] * self.num_heads, self.head_dim).transpose(0, 1)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float) -> tuple:
        """What each head sees, (N·heads, L, E/heads), and its weights."""
        q, k = q * math.sqrt(1.0 / self.head_dim), k.transpose(-2, -1)
        weights = F.softmax(bmm(q, k) if mask is None else baddbmm(mask, q, k), -1)
        if dropout > 0.0:
            weights = F.dropout(weights, dropout)
        return bmm(weights, v), weights

    def _with_padding(self, mask: Tensor | None, padding: Tensor, n: int, source: int) -> Tensor:
        """Both masks as one, (N·heads, 1 or L, S)."""
        for i, wanted in enumerate((n, source)):
            if padding.shape[i] != wanted:
                raise AssertionError(
                    f"Expected key_padded_mask.shape[{i}] to be {wanted}, but got {padding.shape[i]}"
                )
        padding = padding.view(n, 1, 1, source).expand(-1, self.num_heads, -1, -1)
        padding = padding.reshape(n * self.num_heads, 1, source)
        return padding if mask is None else mask + padding

    def _check_dims(self, query: Tensor, key: Tensor, value: Tensor, padding, mask) -> None:
        dim = query.dim()
        if dim not in (2, 3):
            raise AssertionError(
                f"query should be unbatched 2D or batched 3D tensor but received {dim}-D query tensor"
            )
        which = f"For {'batched' if dim == 3 else 'unbatched'} ({dim}-D) `query`, expected"
        if key.dim() != dim or value.dim() != dim:
            raise AssertionError(
                f"{which} `key` and `value` to be {dim}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
            )
        if padding is not None and padding.dim() != dim - 1:
            raise AssertionError(
                f"{which} `key_padding_mask` to be `None` or {dim - 1}-D but found {padding.dim()}-D tensor instead"
            )
        if mask is not None and mask.dim() not in (2, 3):
            raise AssertionError(
                f"{which} `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead"
            )
        if mask is not None and dim == 2 and mask.dim() == 3:
            wanted = (self.num_heads, query.shape[0], key.shape[0])
            if tuple(mask.shape) != wanted:
                raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {mask.shape}")

    def _check_lengths(self, width: int, key: Tensor, value: Tensor) -> None:
        if width != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got {width}")
        if self._qkv_same_embed_dim and key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )

    def _checked_mask(self, mask: Tensor | None, n: int, length: int, source: int) -> Tensor | None:
        """The mask with three dimensions."""
        if mask is None:
            return None
        single = mask.dim() == 2
        wanted = (length, source) if single else (n * self.num_heads, length, source)
        if tuple(mask.shape) != wanted:
            raise RuntimeError(
                f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}."
            )
        return mask.unsqueeze(0) if single else mask


def turned(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(N, L, E) as (L, N, E); what was one tensor is one again."""
    if key is not value:
        return query.transpose(1, 0), key.transpose(1, 0), value.transpose(1, 0)
    first = query.transpose(1, 0)
    second = first if query is key else key.transpose(1, 0)
    return first, second, second


def parted(t: Tensor, parts: int) -> tuple[Tensor, ...]:
    """The last dimension in equal parts."""
    t = t.unflatten(-1, (parts, t.shape[-1] // parts))
    t = t.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(t[i] for i in range(parts))


def one_more(mask: Tensor | None) -> Tensor | None:
    """A mask that lets one more key be seen."""
    return None if mask is None else F.pad(mask, (0, 1))


def additive(
    mask: Tensor | None, name: str, dtype: dtypes.dtype, other: Tensor | None = None, other_name: str = ""
) -> Tensor | None:
    """A boolean mask as -∞ where it is True; others as they are. Warns if `other` is a mask of another kind."""
    if mask is None:
        return None
    if mask.dtype is not dtypes.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and other.dtype is not mask.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            UserWarning,
            stacklevel=3,
        )
    if mask.is_floating_point():
        return mask
    kind = dtypes.to_numpy(dtype)
    return wrap(np.where(mask._array, np.asarray(-np.inf, kind), np.asarray(0, kind)))


__all__ = ["MultiheadAttention"]
