"""The losses of nn.functional: for numbers, for probabilities and for classes.

reduction: "mean", "sum" or "none", which keeps one loss for each element or example.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..basics import check
from ..ops import losses, nn
from ..ops.pointwise import log
from ..ops.shape import common_shape
from ..ops.special import add_number, div_number, mul_number, xlogy
from ..ops.table import function
from ..tensor import Tensor
from .functional_activations import in_functional
from .functional_images import Weight

REDUCTIONS = {"none": losses.NONE, "mean": losses.MEAN, "sum": losses.SUM}
INDICES = np.dtype(np.int64).char + np.dtype(np.uint8).char  # the dtypes of classes


def number_of(reduction: str) -> int:
    check(reduction in REDUCTIONS, "{} is not a valid value for reduction", reduction, error=ValueError)
    return REDUCTIONS[reduction]


def _pair(input: Tensor, target: Tensor, cast: bool = True) -> tuple[Tensor, Tensor]:
    """input and target, broadcast (with PyTorch's warning) and, with `cast`, converted to one dtype."""
    if input.shape != target.shape:
        message = f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will"
        more = "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        warnings.warn(f"{message} {more}", stacklevel=4)
        shape = common_shape(input.shape, target.shape)
        input, target = (t if t.shape == shape else t.expand(shape) for t in (input, target))
    if not cast:
        return input, target
    common = dtypes.of_numpy(dtypes.promote([(t._array.dtype, 2) for t in (input, target)]))
    return input.to(common), target.to(common)


# ---------------------------------------------------------------- of numbers


def _weighted(squares: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Errors times their weights, reduced; the mean is a weighted mean."""
    check(weight.shape == squares.shape, "Inputs and weight must have the same size.", error=ValueError)
    if reduction == "none":
        return squares * weight
    total = (squares * weight).sum()
    return total if reduction == "sum" else total / weight.sum()


@in_functional
def mse_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """`(input - target)²`, or its mean or sum. weight: one for each element."""
    (input, target), kind = _pair(input, target, weight is None), number_of(reduction)
    return (
        losses.squared_error(input, target, kind)
        if weight is None
        else _weighted((input - target) ** 2, weight, reduction)
    )


@in_functional
def l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """`|input - target|`, or its mean or sum. Where both are equal, the derivative is 0. weight: one for each element."""
    (input, target), kind = _pair(input, target, cast=False), number_of(reduction)
    error = (input - target).abs()
    return losses.reduced(error, kind) if weight is None else _weighted(error, weight, reduction)


@in_functional
def smooth_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """`d²/(2·beta)` where `d = |input - target| < beta`, else `d - beta/2`."""
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    input, target = _pair(input, target)
    return losses.smooth_l1(input, target, number_of(reduction), beta)


@in_functional
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """`d²/2` where `d = |input - target| < delta`, else `delta·(d - delta/2)`. weight: one for each element."""
    (input, target), kind = _pair(input, target), number_of(reduction)
    check(delta > 0, "huber_loss does not support non-positive values for delta.")
    if weight is None:
        return losses.huber(input, target, kind, delta)
    return _weighted(losses.huber(input, target, losses.NONE, delta), weight, reduction)


@in_functional
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """`exp(input) - target·input`, the negative log-likelihood of counts; with log_input=False, `input` is the rate itself."""
    kind = number_of(reduction)
    # computed first, as in PyTorch's graph
    product = target * (input if log_input else log(add_number(input, eps)))
    loss = (input.exp() if log_input else input) - product
    if full:  # Stirling's approximation of log(target!)
        half = mul_number(mul_number(target, 2 * math.pi).log(), 0.5)
        stirling = target * target.log() - target + half
        loss += stirling.masked_fill(target <= 1, 0)
    return losses.reduced(loss, kind)


@in_functional
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: object, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """`(log var + (input - target)²/var)/2`, the negative log-likelihood of a normal distribution; `var` is at least `eps`."""
    kind = number_of(reduction)
    message = "gaussian_nll_loss(): argument 'var' must be Tensor or float, not {}"
    check(isinstance(var, (Tensor, int, float)), message, type(var), error=TypeError)
    var = var if isinstance(var, Tensor) else (input * 0 + var).detach()
    if var.shape != input.shape and input.shape[:-1] == var.shape:
        var = var.unsqueeze(-1)
    check(bool((var._array >= 0).all()), "var has negative entry/entries", error=ValueError)
    var = var.clone()
    with no_grad():
        var.clamp_min_(eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return losses.reduced(loss, kind)


# ---------------------------------------------------------------- of probabilities


@in_functional
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """`-(t·log input + (1 - t)·log(1 - input))` for probabilities, t the target; logarithms are at least -100.

    Raises RuntimeError for an input outside of 0..1.

    weight: one for each element, broadcast.
    """
    text = "Using a target size ({}) that is different to the input size ({}) is deprecated. Please ensure they have the same "
    check(input.shape == target.shape, text + "size.", target.shape, input.shape, error=ValueError)
    kind = number_of(reduction)
    weight = (
        weight
        if weight is None or weight.shape == input.shape
        else weight.expand(common_shape(weight.shape, input.shape))
    )
    return losses.bce(input, target, weight, kind)


@in_functional
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(input), computed without overflow. pos_weight: the weight of the 1s in `target`."""
    message = "Target size ({}) must be the same as input size ({})"
    check(input.shape == target.shape, message, target.shape, input.shape, error=ValueError)
    message = "result type {.word} can't be cast to the desired output type {.word}"
    floating = target.is_floating_point() or not input.is_floating_point()
    check(floating, message, input.dtype, target.dtype)
    return losses.bce_logits(input, target, weight, pos_weight, number_of(reduction))


@in_functional
def kl_div(input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """`target·(log target - input)` of log-probabilities `input` and probabilities `target` (log_target: also logarithms).

    reduction: also "batchmean", the sum divided by the length of dimension 0, which is the mathematical definition.
    """
    if reduction == "mean":
        text = "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only "
        text += "by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as "
        warnings.warn(text + "'batchmean' in the next major release.", stacklevel=3)
    floating = input.is_floating_point() and (target.is_floating_point() or not log_target)
    check(floating, "kl_div: Integral inputs not supported.")
    kind = losses.SUM if reduction == "batchmean" else number_of(reduction)
    product = target - input if log_target else target * input  # computed first, as in PyTorch
    loss = target.exp() * product if log_target else xlogy(target, target) - product
    result = losses.reduced(loss, kind)
    return result / input.size(0) if reduction == "batchmean" and input.dim() else result


# ---------------------------------------------------------------- of classes


@in_functional
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of the target class. input: (N, C), (C,) or (N, C, *); target: int64 (N,), () or (N, *).

    weight: one for each class; the mean is weighted. ignore_index: targets equal to it are ignored.
    Raises IndexError for classes that do not exist.
    """
    x, t, kind = input._array, target._array, number_of(reduction)
    check(x.ndim > 0, "Expected 1 or more dimensions (got {})", x.ndim, error=ValueError)
    if x.ndim == 1 == t.ndim:
        message = "For 1D input, 1D target must have size 1, but got target size: {}"
        check(t.size == 1, message, t.size, error=ValueError)
        target = target.reshape(())
        t = target._array
    message = "weight tensor should be defined either for all {} classes or no classes but got weight tensor of shape: {}"
    classes = x.shape[min(1, x.ndim - 1)]
    check(
        weight is None or weight._array.shape == (classes,),
        message,
        classes,
        weight is not None and weight._array.shape,
    )
    message = "expected target dtype to be Long or Byte, but got {.word}"
    expected = x.shape[:-1] if x.ndim < 3 else (x.shape[0], *x.shape[2:])
    if t.shape != expected:
        n, m = x.shape[0], t.shape[0] if t.ndim else 0
        batch = "Expected input batch_size ({}) to match target batch_size ({})."
        check(n == m or x.ndim == 1, batch, n, m, error=ValueError)
        check(x.ndim > 2, "0D or 1D target tensor expected, multi-target not supported")
        check(t.ndim == x.ndim - 1, "only batches of spatial targets supported (3D tensors) but got targets of dimension: {}",
               t.ndim)  # fmt: skip
        check(False, "size mismatch (got input: {}, target: {})", x.shape, t.shape)
    check(t.dtype.char in INDICES, message, t.dtype)
    if x.ndim < 3:
        return losses.nll(input, target, weight, kind, ignore_index)[0]
    planes = input if x.ndim == 4 else input.reshape((*x.shape[:2], 1, -1))
    flat = target if x.ndim == 4 else target.reshape((t.shape[0], 1, -1))
    result = losses.nll2d(planes, flat, weight, kind, ignore_index)[0]
    return result.reshape(t.shape) if kind == losses.NONE and x.ndim != 4 else result


@function(at="F", kernel="cross_entropy_loss")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of log_softmax(input). input: logits, (N, C), (C,) or (N, C, *); target: classes, int64 (N,), () or (N, *).

    A target in the shape of `input` holds a probability for each class. label_smoothing: the fraction of each target that
    is spread evenly over the classes. The other options are those of nll_loss.
    """
    check(input._array.ndim > 0, "cross_entropy: input must have at least one dimension", error=ValueError)
    dim = min(1, input._array.ndim - 1)
    message = "label_smoothing must be between 0.0 and 1.0. Got: {:g}"
    check(0.0 <= label_smoothing <= 1.0, message, label_smoothing)
    if input._array.shape == target._array.shape:
        return _of_probabilities(input, target, weight, reduction, label_smoothing, dim)
    logs = nn.log_softmax(input, dim)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return loss
    # part of the loss is replaced by the mean over all classes; the nodes, and their order, are PyTorch's
    ignored = target == ignore_index
    if weight is None:
        smooth = (-logs.sum(dim)).masked_fill(ignored, 0.0)
    else:
        shape = [-1 if d == dim else 1 for d in range(logs.dim())]
        smooth = (-(logs * weight.view(shape)).sum(dim)).masked_fill(ignored, 0.0)
    if reduction != "none":
        smooth = smooth.sum()
    if reduction == "mean":
        counted = (
            (~ignored).sum()
            if weight is None
            else weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0).sum()
        )
        smooth = smooth / counted
    smooth = mul_number(smooth, label_smoothing / logs.shape[dim])  # computed first, as in PyTorch
    return mul_number(loss, 1 - label_smoothing) + smooth


def _of_probabilities(
    input: Tensor, target: Tensor, weight: Weight, reduction: str, label_smoothing: float, dim: int
) -> Tensor:
    """Cross entropy where the target is a probability for each class."""
    message = "Expected floating point type for target with class probabilities, got {.word}"
    check(target._array.dtype.kind == "f", message, target._array.dtype)
    kind, logs, classes = number_of(reduction), nn.log_softmax(input, dim), input._array.shape[dim]
    if label_smoothing:
        target = add_number(mul_number(target, 1 - label_smoothing), label_smoothing / classes)
    product = logs * target
    if weight is not None:
        product = product * weight.view([-1 if d == dim else 1 for d in range(logs.dim())])
    if kind == losses.NONE:
        return -product.sum(dim)
    total = -product.sum()
    return total if kind == losses.SUM else div_number(total, input._array.size // classes)
