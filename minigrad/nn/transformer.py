"""The transformer of Vaswani et al. 2017: layers of attention and two linear maps, stacks of them, and both stacks.

What is computed is what PyTorch computes in training. In evaluation it has a second, faster way to the same numbers.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .attention import MultiheadAttention, additive
from .container import ModuleList
from .linear import Linear
from .module import Module
from .normalization import Dropout, LayerNorm


def activation_named(activation: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The function of that name, "relu" or "gelu"; a function is returned as it is."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def causal_mask(size: int, device: object = None, dtype: dtypes.dtype | None = None) -> Tensor:
    """(size, size): -∞ above the diagonal, where the key comes after the query, else 0."""
    kind = dtypes.default_float() if dtype is None else dtypes.to_numpy(dtype)
    return wrap(np.triu(np.full((size, size), -np.inf, kind), 1))


def is_causal_mask(mask: Tensor | None, hint: bool | None) -> bool:
    """Does the mask hide just what comes later? The hint is believed."""
    if hint is not None or mask is None:
        return bool(hint)
    size = mask.shape[-2]
    if tuple(mask.shape) != (size, size):
        return False
    with np.errstate(invalid="ignore"):
        wanted = np.triu(np.full((size, size), -np.inf), 1).astype(mask._array.dtype)
    return bool((mask._array == wanted).all())


class _Layer(Module):
    """What layers of the encoder and of the decoder share: self-attention and the two linear maps behind it."""

    _norms = 2  # how many parts are normalised and added to what they get

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        attention = {"dropout": dropout, "bias": bias, "batch_first": batch_first, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        if self._norms == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        self.norm_first = norm_first
        for i in range(1, self._norms + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype))
        for i in range(1, self._norms + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = activation_named(activation)

    def _attended(self, x: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool) -> Tensor:
        options = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
        return self.dropout1(self.self_attn(x, x, x, need_weights=False, **options)[0])

    def _fed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention, then two linear maps, each added to what it gets and normalised (before it with norm_first).

    (S, N, d_model), or (N, S, d_model) with batch_first, or (S, d_model).
    """

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """`src` after this layer. Masks as for MultiheadAttention."""
        padding = additive(src_key_padding_mask, "src_key_padding_mask", src.dtype, src_mask, "src_mask")
        masks = additive(src_mask, "src_mask", src.dtype), padding, is_causal
        if self.norm_first:
            x = src + self._attended(self.norm1(src), *masks)
            return x + self.dropout2(self._fed_forward(self.norm2(x)))
        x = self.norm1(src + self._attended(src, *masks))
        return self.norm2(x + self.dropout2(self._fed_forward(x)))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to `memory` (what the encoder made), then two linear maps; see TransformerEncoderLayer."""

    _norms = 3

    def _looked_up(self, x: Tensor, memory: Tensor, mask, padding, is_causal: bool) -> Tensor:
        options = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
        return self.dropout2(self.multihead_attn(x, memory, memory, need_weights=False, **options)[0])

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`tgt` after this layer. Masks as for MultiheadAttention."""
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        others = memory, memory_mask, memory_key_padding_mask, memory_is_causal
        x = tgt
        if self.norm_first:
            x = x + self._attended(self.norm1(x), *own)
            x = x + self._looked_up(self.norm2(x), *others)
            return x + self.dropout3(self._fed_forward(self.norm3(x)))
        x = self.norm1(x + self._attended(x, *own))
        x = self.norm2(x + self._looked_up(x, *others))
        return self.norm3(x + self.dropout3(self._fed_forward(x)))


def copies(layer: Module, count: int) -> ModuleList:
    """Copies of a layer, each with parameters of its own that start with the same values."""
    return ModuleList(copy.deepcopy(layer) for _ in range(count))


def nested_refused(layer: Module) -> str:
    """Why PyTorch would not use nested tensors for an encoder of such layers; "" if it would. It warns of that."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        "norm_first was True": layer.norm_first,
        "self_attn.batch_first was not True(use batch_first for better inference performance)": not attention.batch_first,
        "self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        "self_attn was passed bias=False": attention.in_proj_bias is None,
        "activation_relu_or_gelu was not True": layer.activation not in (F.relu, F.gelu),
        "norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        "self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((f"encoder_layer.{reason}" for reason, holds in reasons.items() if holds), "")


class TransformerEncoder(Module):
    """A stack of num_layers copies of an encoder layer, one behind the other; then `norm`, if there is one.

    enable_nested_tensor and mask_check choose among PyTorch's implementations and change nothing here.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ):
        super().__init__()
        self.layers, self.num_layers, self.norm = copies(encoder_layer, num_layers), num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        reason = nested_refused(encoder_layer) if enable_nested_tensor else ""
        self.use_nested_tensor = enable_nested_tensor and not reason
        if reason:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}",
                UserWarning,
                stacklevel=2,
            )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """`src` after all layers. is_causal: None looks at the mask itself."""
        padding = additive(src_key_padding_mask, "src_key_padding_mask", src.dtype, mask, "mask")
        mask = additive(mask, "mask", src.dtype)
        is_causal = is_causal_mask(mask, is_causal)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """A stack of num_layers copies of a decoder layer, one behind the other; then `norm`, if there is one."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None):
        super().__init__()
        self.layers, self.num_layers, self.norm = copies(decoder_layer, num_layers), num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`tgt` after all layers, each of which looks at `memory`."""
        tgt_is_causal = is_causal_mask(tgt_mask, tgt_is_causal)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """Encoder and decoder: (S, N, E) and (T, N, E) → (T, N, E), or with batch_first (N, S, E) and (N, T, E)."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        layer = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        )  # fmt: skip
        last = {"eps": layer_norm_eps, "bias": bias, "dtype": dtype}
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*layer), num_encoder_layers, LayerNorm(d_model, **last)
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*layer), num_decoder_layers, LayerNorm(d_model, **last)
        )
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    generate_square_subsequent_mask = staticmethod(causal_mask)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`tgt`, decoded with what the encoder makes of `src`. Raises RuntimeError for sizes that do not fit."""
        which = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[which] != tgt.shape[which]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )


__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip
