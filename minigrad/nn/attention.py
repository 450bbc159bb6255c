"""Multi-head attention (Vaswani et al. 2017), made of the operations that PyTorch records for it."""

from __future__ import annotations

import math

from .. import dtypes
from ..basics import check
from ..ops.linalg import baddbmm, bmm
from ..tensor import Tensor
from . import functional as F
from . import init, messages
from .functional_images import Weight
from .layers import Linear
from .module import Module
from .parameter import new_parameter, placed

NOT_ALIKE = {
    ndim: f"For {name} ({ndim}-D) `query`, expected `key` and `value` to be {ndim}-D but found {{}}-D and {{}}-D tensors "
    "respectively"
    for ndim, name in ((2, "unbatched"), (3, "batched"))
}


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection; PyTorch prints it under this name."""


class MultiheadAttention(Module):
    """Attention with num_heads heads of embed_dim/num_heads features each.

    query: (L, N, E), key and value: (S, N, E) (or batch_first) → output (L, N, E) and, with need_weights, the
    attention weights (N, L, S), averaged over the heads.
    """

    @placed
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        batch_first: bool = False,
        device: object = None,
        dtype: object = None,
    ):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.batch_first = batch_first
        check(embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads", error=AssertionError)
        self.in_proj_weight = new_parameter(3 * embed_dim, embed_dim)
        self.in_proj_bias = init.zeros_(new_parameter(3 * embed_dim))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim)
        init.xavier_uniform_(self.in_proj_weight)
        init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Weight = None,
        need_weights: bool = True,
        attn_mask: Weight = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(output, weights or None). attn_mask: (L, S) or (N·heads, L, S), True for no attention, or numbers to add.

        key_padding_mask: the same for whole keys, (N, S). average_attn_weights: if False, return the weights of each head, (N,
        heads, L, S). is_causal: only a hint that attn_mask is causal. Raises AssertionError or RuntimeError for shapes that do
        not fit.
        """
        message = "query should be unbatched 2D or batched 3D tensor but received {}-D query tensor"
        ndim, others = query.dim(), (key.dim(), value.dim())
        check(ndim in (2, 3), message, ndim, error=AssertionError)
        check(others == (ndim, ndim), NOT_ALIKE[ndim], *others, error=AssertionError)
        check(not is_causal or attn_mask is not None, messages.CAUSAL_HINT)
        mask = as_numbers(attn_mask, query, "attn_mask")
        padding = as_numbers(key_padding_mask, query, "key_padding_mask")
        if ndim == 2:  # no batch dimension: add one, and remove it at the end
            query, key, value = (t.unsqueeze(1) for t in (query, key, value))
            padding = padding if padding is None else padding.unsqueeze(0)
        elif self.batch_first:
            turned = {t: t.transpose(1, 0) for t in (query, key, value)}  # equal inputs stay one tensor
            query, key, value = turned[query], turned[key], turned[value]
        (length, n, width), source = query.shape, key.shape[0]
        message = "was expecting embedding dimension of {}, but got {}"
        check(width == self.embed_dim, message, self.embed_dim, width, error=AssertionError)
        q, k, v = (self._heads(t) for t in self._project(query, key, value))
        if mask is not None:
            expected = (length, source) if mask.dim() == 2 else (n * self.num_heads, length, source)
            check(mask.shape == expected, messages.ATTENTION_MASK, mask.shape, str(expected))
            mask = mask.unsqueeze(0) if mask.dim() == 2 else mask
        if padding is not None:
            for d, expected in enumerate((n, source)):  # PyTorch's message has a typo there
                message = "Expected key_padded_mask.shape[{}] to be {}, but got {}"
                check(
                    padding.shape[d] == expected, message, d, expected, padding.shape[d], error=AssertionError
                )
            padding = padding.view(n, 1, 1, source).expand(-1, self.num_heads, -1, -1)
            padding = padding.reshape(n * self.num_heads, 1, source)
            mask = padding if mask is None else mask + padding
        q, k = q * math.sqrt(1.0 / self.head_dim), k.transpose(-2, -1)
        weights = F.softmax(bmm(q, k) if mask is None else baddbmm(mask, q, k), -1)
        out = bmm(weights, v).transpose(0, 1).reshape(length * n, width)
        out = F.linear(out, self.out_proj.weight, self.out_proj.bias).view(length, n, width)
        weights = weights.view(n, self.num_heads, length, source) if need_weights else None
        weights = weights.mean(1) if need_weights and average_attn_weights else weights
        if ndim == 2:
            return out.squeeze(1), weights if weights is None else weights.squeeze(0)
        return out.transpose(1, 0) if self.batch_first else out, weights

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """query, key and value times their weights; in one product where they are the same tensor."""
        width, weight, bias = self.embed_dim, self.in_proj_weight, self.in_proj_bias
        if query is key is value:
            return parted(F.linear(query, weight, bias), 3)
        if key is value:
            w_q, w_kv = weight.split([width, 2 * width])
            b_q, b_kv = bias.split([width, 2 * width])
            return F.linear(query, w_q, b_q), *parted(F.linear(key, w_kv, b_kv), 2)
        given = zip((query, key, value), weight.chunk(3), bias.chunk(3), strict=True)
        return tuple(F.linear(x, w, b) for x, w, b in given)

    def _heads(self, t: Tensor) -> Tensor:
        """Reshape (L, N, E) to (N·heads, L, E/heads)."""
        return t.contiguous().view(t.shape[0], t.shape[1] * self.num_heads, self.head_dim).transpose(0, 1)


def as_numbers(mask: Weight, like: Tensor, name: str) -> Weight:
    """A mask as numbers to add: minus infinity where it is True."""
    if mask is None or mask.is_floating_point():
        return mask
    message = "only bool and floating types of {} are supported"
    check(mask.dtype is dtypes.bool, message, name, error=AssertionError)
    return like.new_zeros(mask.shape).masked_fill(mask, -math.inf)


def parted(t: Tensor, parts: int) -> tuple[Tensor, ...]:
    """Split the last dimension into equal parts."""
    t = t.view(*t.shape[:-1], parts, -1)
    t = t.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(t[i] for i in range(parts))
