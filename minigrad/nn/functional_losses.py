"""Distances and losses as functions; `minigrad.nn.functional` offers them. Signatures and errors are PyTorch's.

All losses take reduction="none" (one value per example), "mean" or "sum", and size_average and reduce of old PyTorch.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..ops import loss as losses
from ..ops import margins, xlogy
from ..ops.activation import log_softmax, logsigmoid
from ..ops.conversion import clone
from ..ops.dispatch import operand
from ..ops.exponential import log_softmax_along
from ..ops.loss import broadcast_pair
from ..ops.norms import inner_norm, pdist, vector_norm
from ..ops.pointwise import add_number, div_number, mul_number, sub_number
from ..ops.reduction import _sum, _sum_dim
from ..ops.selecting import _masked_fill
from ..tensor import Tensor, wrap

# ---------------------------------------------------------------- distances


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between x1 and x2 along `dim`; norms are at least eps."""
    if x1._array.dtype.kind != "f" or x2._array.dtype.kind != "f":
        dtype = dtypes.promote([(x._array.dtype, 2 if x._array.ndim else 1) for x in (x1, x2)])
        if dtype.kind != "f":
            raise RuntimeError(
                f"expected common dtype to be floating point, yet common dtype is {dtypes.word(dtype)}"
            )
        x1, x2 = (x if x._array.dtype.kind == "f" else x.to(dtypes.of_numpy(dtype)) for x in (x1, x2))
    shape = losses.common_shape(x1._array.shape, x2._array.shape)
    x2, x1 = (t if t._array.shape == shape else t.expand(shape) for t in (x2, x1))  # in PyTorch's order
    lengths = _length(x1, dim, eps), _length(x2, dim, eps)
    second = x2 / lengths[1]
    return (x1 / lengths[0] * second).sum(dim)


def _length(x: Tensor, dim: int, eps: float) -> Tensor:
    """The norm along `dim`, at least eps."""
    length = clone(vector_norm(x, 2, dim, True))
    if type(length) is Tensor:  # written where autograd does not see it
        np.maximum(length._array, eps, out=length._array)
    else:
        with no_grad():
            length.clamp_min_(eps)
    return length


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    difference = add_number(x1 - x2, eps)
    return inner_norm(difference, p, (difference._array.ndim - 1,), keepdim)


# ---------------------------------------------------------------- losses

REDUCTIONS = {"none": losses.NONE, "mean": losses.MEAN, "sum": losses.SUM}


def legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """What two arguments of old PyTorch mean as a reduction, with its warning."""
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        UserWarning,
        stacklevel=4,
    )
    return reduction


def _reduction(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """The number of a reduction."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    found = REDUCTIONS.get(reduction)
    if found is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


def _reduced(values: Tensor, reduction: str | int) -> Tensor:
    """The values, their mean or their sum, by the name or the number of the reduction."""
    kind = _reduction(reduction) if isinstance(reduction, str) else reduction
    return values if kind == losses.NONE else values.mean() if kind == losses.MEAN else values.sum()


def _pair(input: Tensor, target: Tensor, in_one_dtype: bool = True) -> tuple[Tensor, Tensor]:
    """input and target, broadcast (with PyTorch's warning) and in one dtype."""
    if target.size() == input.size() and target._array.dtype == input._array.dtype:
        return input, target
    if input._array.shape != target._array.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            UserWarning,
            stacklevel=3,
        )
        input, target = broadcast_pair(input, target)
    if in_one_dtype and input._array.dtype != target._array.dtype:
        wanted = dtypes.promote_types(input.dtype, target.dtype)
        input, target = input.to(wanted), target.to(wanted)
    return input, target


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """`(input - target)²`, and its mean or sum. reduction: "none", "mean" or "sum"."""
    input, target = _pair(input, target)
    if weight is not None:
        return _weighted((input - target) ** 2, weight, reduction)
    return losses.mse_loss(input, target, _reduction(reduction, size_average, reduce))


def _weighted(values: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """A weighted loss: the mean is that of weighted values over the sum of weights."""
    if values.shape != weight.shape:
        raise ValueError("Inputs and weights must have the same size.")
    values = values * weight
    return values.sum() / weight.sum() if reduction == "mean" else _reduced(values, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """`|input - target|`, and its mean or sum. Where both are equal the derivative is 0."""
    input, target = _pair(input, target, in_one_dtype=False)
    values = (input - target).abs()
    if weight is not None:
        return _weighted(values, weight, reduction)
    kind = _reduction(reduction, size_average, reduce)
    return values if kind == losses.NONE else values.mean() if kind == losses.MEAN else values.sum()


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """`d²/(2·beta)` where `d = |input - target| < beta`, else `d - beta/2`."""
    input, target = _pair(input, target)
    if beta == 0.0:
        return l1_loss(input, target, size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return losses.smooth_l1_loss(input, target, _reduction(reduction, size_average, reduce), beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """`d²/2` where `d = |input - target| ≤ delta`, else `delta·(d - delta/2)`."""
    input, target = _pair(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        return _weighted(losses.huber_loss(input, target, losses.NONE, delta), weight, reduction)
    return losses.huber_loss(input, target, _reduction(reduction), delta)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of the target class. input: (N, C, *) or (C,); target: int64 (N, *) or ().

    weight: of each class, (C,); the mean is then weighted too. Targets equal to ignore_index do not count.
    Raises IndexError for classes that do not exist.
    """
    return _nll(input, target, weight, ignore_index, _reduction(reduction, size_average, reduce))


INDICES = np.dtype(np.int64).char + np.dtype(np.uint8).char  # the dtypes of classes


def _nll(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int) -> Tensor:
    x, t = input._array, target._array
    if not (
        x.ndim == 2 and t.ndim == 1 and x.shape[0] == t.shape[0] and t.dtype.char in INDICES
        and (weight is None or weight._array.shape == x.shape[1:])
    ):  # fmt: skip
        _check_nll(x, t, weight)
    if x.ndim <= 2:
        return losses.nll(input, target, weight, reduction, ignore_index)
    if x.ndim == 4:
        return losses.nll2d(input, target, weight, reduction, ignore_index)
    n = x.shape[0]  # other numbers of dimensions: all into one, as PyTorch does
    flat = input.contiguous().view(n, x.shape[1], 1, -1)
    out = losses.nll2d(flat, target.contiguous().view(n, 1, -1), weight, reduction, ignore_index)
    return out.view(*t.shape) if reduction == losses.NONE else out


def _check_nll(x: np.ndarray, t: np.ndarray, weight: Tensor | None) -> None:
    """Raise PyTorch's error for log-probabilities, classes and class weights that do not go together."""
    if x.ndim < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {x.ndim})")
    if x.ndim != 1 and x.shape[0] != (t.shape[0] if t.ndim else 1):
        raise ValueError(
            f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({t.shape[0] if t.ndim else 0})."
        )
    if t.dtype.char not in INDICES:
        found = dtypes.of_numpy(t.dtype).tensor_type.removeprefix("torch.").removesuffix("Tensor")
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {found}")
    classes = x.shape[1] if x.ndim > 1 else x.shape[0]
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    if x.ndim <= 2:
        if t.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if t.ndim != x.ndim - 1:
            raise RuntimeError(f"size mismatch (got input: {list(x.shape)}, target: {list(t.shape)})")
    elif t.shape != x.shape[:1] + x.shape[2:]:
        if t.ndim != x.ndim - 1 and x.ndim == 4:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {t.ndim}"
            )
        raise RuntimeError(
            f"Expected target size {list(x.shape[:1] + x.shape[2:])}, got {list(t.shape)}"
            if x.ndim != 4
            else f"size mismatch (got input: {list(x.shape)} , target: {list(t.shape)}"
        )


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of log_softmax(input). input: logits, (N, C, *) or (C,).

    target: classes, int64 (N, *), or probabilities of the input's shape and a floating point type.
    label_smoothing: in 0..1, how much of each target is spread evenly over the classes.
    """
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        name, place, wrong = ("target", 2, target) if isinstance(input, Tensor) else ("self", 1, input)
        raise TypeError(
            f"cross_entropy_loss(): argument '{name}' (position {place}) must be Tensor, not {type(wrong).__name__}"
        )
    x, t = input._array, target._array
    kind = REDUCTIONS.get(reduction) if size_average is None and reduce is None else None
    if (
        x.ndim == 2 and t.ndim == 1 and x.shape[0] == t.shape[0] and x.dtype.kind == "f" and t.dtype.char in INDICES
        and (weight is None or weight._array.shape == x.shape[1:]) and kind is not None and not label_smoothing
    ):  # fmt: skip
        return losses.nll(log_softmax_along(input, 1), target, weight, kind, ignore_index)  # as nearly always
    if kind is None:
        kind = _reduction(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    class_dim = 0 if x.ndim == 1 else 1
    if x.shape == t.shape:
        return _probability_loss(input, target, weight, ignore_index, kind, label_smoothing, class_dim)
    logs = (log_softmax_along if x.ndim and x.dtype.kind == "f" else log_softmax)(input, class_dim)
    loss = _nll(logs, target, weight, ignore_index, kind)
    if not label_smoothing:
        return loss
    return _smoothed(loss, logs, target, weight, ignore_index, kind, label_smoothing, class_dim)


def _smoothed(
    loss, logs, target, weight, ignore_index: int, kind: int, label_smoothing: float, class_dim: int
) -> Tensor:
    """A part of the loss replaced by the mean over all classes. The nodes, and their order, are PyTorch's."""
    weighted = logs if weight is None else logs * per_class(weight, logs, class_dim)
    ignored = target == ignore_index
    smooth = _masked_fill(-_sum_dim(weighted, (class_dim,), False), ignored, 0.0)
    if kind != losses.NONE:
        smooth = _sum(smooth)
    if kind == losses.MEAN:
        smooth = smooth / _counted(target, ignored, weight)
    # this product first, as in PyTorch: the order of backward shows it
    smooth = mul_number(smooth, label_smoothing / logs._array.shape[class_dim])
    return mul_number(loss, 1 - label_smoothing) + smooth


def _counted(target: Tensor, ignored: Tensor, weight: Tensor | None) -> Tensor | int:
    """How many targets count, or the sum of their classes' weights."""
    if weight is not None:
        return weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0).sum()
    if type(ignored) is Tensor:
        return ignored._array.size - int(np.count_nonzero(ignored._array))
    return (~ignored).sum()


def per_class(weight: Tensor, like: Tensor, class_dim: int) -> Tensor:
    """Class weights, shaped to be broadcast along the class dimension."""
    return weight.view(*(-1 if i == class_dim else 1 for i in range(like.dim())))


def _probability_loss(input, target, weight, ignore_index, kind, label_smoothing, class_dim) -> Tensor:
    if target._array.dtype.kind != "f":
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            + target.dtype.tensor_type.removeprefix("torch.").removesuffix("Tensor")
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    classes = input.shape[class_dim]
    logs = log_softmax(input, class_dim)
    if label_smoothing > 0.0:
        target = add_number(mul_number(target, 1 - label_smoothing), label_smoothing / classes)
    values = logs * target
    if weight is not None:
        values = values * per_class(weight, values, class_dim)
    if kind == losses.NONE:
        return -values.sum(class_dim)
    total = -values.sum()
    return div_number(total, input.numel() // classes) if kind == losses.MEAN else total


def _check_same_size(input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
            "ensure they have the same size."
        )


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`-(t·log x + (1 - t)·log(1 - x))` for probabilities x; logarithms are at least -100. Raises RuntimeError outside 0..1."""
    kind = _reduction(reduction, size_average, reduce)
    _check_same_size(input, target)
    return losses.binary_cross_entropy(input, target, weight, kind)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(input), computed without overflow. pos_weight: weight of the ones, broadcast."""
    kind = _reduction(reduction, size_average, reduce)
    if input.shape != target.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return losses.binary_cross_entropy_with_logits(input, target, weight, pos_weight, kind)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """`target·(log target - input)` for log-probabilities `input`; with log_target the target is given as logarithms.

    reduction: "batchmean" is the divergence (sum over the first length), "mean" divides by all elements.
    """
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only "
            "by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as "
            "'batchmean' in the next major release.",
            UserWarning,
            stacklevel=2,
        )
    per_batch = reduction == "batchmean"
    kind = losses.SUM if per_batch else _reduction(reduction, size_average, reduce)
    if input._array.dtype.kind != "f" or target._array.dtype.kind != "f":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:  # the second factor first, as PyTorch does: the order of backward shows it
        difference = target - input
        values = target.exp() * difference
    else:
        crossed = target * input
        values = xlogy(target, target) - crossed
    out = _reduced(values, kind)
    return out / input.shape[0] if per_batch and input.dim() else out


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + e^(-target·input))`, target ±1."""
    if target._array.dtype.kind != "f":
        target = target.to(input.dtype)
    return losses.soft_margin_loss(input, target, _reduction(reduction, size_average, reduce))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`input` where target is 1, max(0, margin - input) where it is -1."""
    kind = _reduction(reduction, size_average, reduce)
    zero = wrap(np.zeros((), input._array.dtype))
    far = minus(margin, input).clamp_min_(0).where(target != 1, zero)
    return _reduced(far + input.where(target != -1, zero), kind)


def minus(number: float, x: Tensor) -> Tensor:
    """number - x with the node that it has inside PyTorch's functions, where the number is a tensor."""
    return operand(number, x) - x


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, -target·(input1 - input2) + margin)`: input1 is to be larger where target is 1."""
    kind = _reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    difference = input1 - input2
    return _reduced(add_number(-target * difference, margin).clamp_min_(0), kind)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    kind = _reduction(reduction, size_average, reduce)
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != target.dim() + 1 or input2.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    eps, product = 1e-12, (input1 * input2).sum(-1)
    squares = [add_number((t * t).sum(-1), eps) for t in (input1, input2)]
    cos = product / (squares[0] * squares[1]).sqrt_()
    zero = wrap(np.zeros((), input1._array.dtype))
    near, far = minus(1, cos), sub_number(cos, margin).clamp_min_(0)
    near, far = near.where(target == 1, zero), far.where(target == -1, zero)
    return _reduced(near + far, kind)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, |anchor - positive| - |anchor - negative| + margin)`."""
    kind = _reduction(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = [t.dim() for t in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
            "{}D, positive {}D, and negative {}D inputs".format(*dims)
        )
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return _reduced((add_number(near, margin) - far).clamp_min(0), kind)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` for a distance d, the Euclidean if None."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    dims = [t.dim() for t in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
            "{}D, positive {}D, and negative {}D inputs".format(*dims)
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`Σ max(0, margin - input[target] + input[i])ᵖ / C` over the other classes i. input: (N, C) or (C,); p 1 or 2."""
    kind = _reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    shape = input._array.shape
    _check_classes(shape)
    rows, classes = shape[0] if len(shape) == 2 else 1, shape[-1] if shape else 1
    if target._array.size != rows or target._array.ndim > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{rows}], but got {list(target.shape)}. Input has shape {list(shape)}."
        )
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    _check_is_long(target)
    if type(target) is Tensor and ((target._array < 0) | (target._array >= classes)).any():
        raise RuntimeError("target out of range")
    return margins.multi_margin_loss(input, target.reshape(shape[:-1]), weight, p, float(margin), kind)


def _check_classes(shape: tuple) -> None:
    """Refuse what is no batch of scores, (N, C), no scores of one example, (C,), and no number."""
    if len(shape) > 2 or 0 in shape[-1:]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )


def _check_is_long(target: Tensor) -> None:
    if target._array.dtype != np.int64:
        found = target.dtype.tensor_type.removeprefix("torch.").removesuffix("Tensor")
        raise RuntimeError(f"expected scalar type Long but found {found}")


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`Σ max(0, 1 - x[right] + x[wrong]) / C` over all pairs, for each row x of (N, C) or for (C,).

    target: in the shape of `input`, the right classes of each row, as many as there are before the first -1.
    """
    kind = _reduction(reduction, size_average, reduce)
    shape, given = input._array.shape, target._array.shape
    _check_classes(shape)
    fits = given == shape if len(shape) == 2 else len(given) < 2 and math.prod(given) == math.prod(shape)
    classes = shape[-1] if shape else 1
    if not fits:
        raise RuntimeError(f"inconsistent target size: {list(given)} for input of size: {list(shape)}")
    _check_is_long(target)
    if type(target) is Tensor and ((target._array < -1) | (target._array >= classes)).any():
        raise RuntimeError("argument #2 'target' is out of range")
    return margins.multilabel_margin_loss(input, target, kind)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross-entropy of sigmoid(input) for each label, the mean over the labels (the last dimension)."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    values = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        values = values * weight
    if input.dim() == 0:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    values = values.sum(-1) / input.shape[-1]
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    return _reduced(values, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`e^input - target·input`; with log_input=False, `input - target·log(input + eps)`. full: with Stirling's term."""
    kind = _reduction(reduction, size_average, reduce)
    if log_input:
        crossed = target * input
        values = input.exp() - crossed
    else:
        values = input - target * add_number(input, eps).log()
    if full:  # the last term first, as PyTorch does: the order of backward shows it
        root = mul_number(mul_number(target, 2 * math.pi).log(), 0.5)
        stirling = target * target.log() - target + root
        values += stirling.masked_fill(target <= 1, 0)
    return _reduced(values, kind)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """`½(log var + (input - target)²/var)`, the variance at least eps. full: with ½ log 2π."""
    if not isinstance(var, Tensor):
        var = wrap(np.full(input._array.shape, var, input._array.dtype))
    if (var._array < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if var.shape == input.shape[:-1]:
            var = var.unsqueeze(-1)
        elif not (
            var.dim() == input.dim()
            and sum(b for a, b in zip(input.shape, var.shape, strict=True) if a != b) == 1
        ):
            raise ValueError("var is of incorrect size")
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    values = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        values += 0.5 * math.log(2 * math.pi)
    return _reduced(values, reduction)


__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "pairwise_distance",
    "pdist",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]
