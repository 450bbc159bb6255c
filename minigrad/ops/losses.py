"""Losses, each recorded as a single node: for numbers, for probabilities, for classes.

Forward functions and rules that vmap also uses (`batch=`) are written for arrays and Tensors alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..basics import check
from .activations import logsigmoid
from .pointwise import abs, clamp_min, log, log1p, sgn, sigmoid, where, within
from .reduction import added, average, leaves, rows
from .table import is_array, op

ndarray = np.ndarray
NONE, MEAN, SUM = 0, 1, 2  # the `reduction` of a loss, as in PyTorch's saved values
EPS = 1e-12

# ---------------------------------------------------------------- on arrays, and parts of rules


def reduced(values, reduction: int):
    """The values, their mean or their sum; of an array or a Tensor."""
    if is_array(values):  # direct, since an operation's first call is slow
        return values if reduction == NONE else (average if reduction == MEAN else added)(values)
    return values if reduction == NONE else values.mean() if reduction == MEAN else values.sum()


def share(grad, like, reduction: int):
    """The transpose of `reduced`, not yet broadcast: the gradient that each element of `like` gets."""
    return grad / math.prod(like.shape) if reduction == MEAN else grad


def _mse(self, target, reduction):
    difference = self - target
    return reduced(difference * difference, reduction)


def _smooth_l1(self, target, reduction, beta):
    d = abs(self - target)
    return reduced(where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction)


def limited(x, bound: float):
    """`x` between -bound and bound; constant at the bounds themselves, as in PyTorch."""
    return where(abs(x) < bound, x, bound * sgn(x))


def smooth_l1_backward(grad, grad_input_mask, self, target, reduction, beta):
    """∂self = grad · clip((self - target) / beta, -1, 1), ∂target = -∂self."""
    slope = limited((self - target) / beta, 1.0) * share(grad, self, reduction)
    return slope if grad_input_mask[0] else None, -slope if grad_input_mask[1] else None


def _huber(self, target, reduction, delta):
    d = abs(self - target)
    return reduced(where(d < delta, d * d * 0.5, (d - 0.5 * delta) * delta), reduction)


def huber_backward(grad, grad_input_mask, self, target, reduction, delta):
    """∂self = grad · clip(self - target, -delta, delta), ∂target = -∂self."""
    slope = limited(self - target, delta) * share(grad, self, reduction)
    return slope if grad_input_mask[0] else None, -slope if grad_input_mask[1] else None


def weighted(values, weight):
    return values if weight is None else values * weight


def _bce(self, target, weight, reduction):
    if is_array(self):
        message = "Found dtype {0.word} but expected {1.word}"
        check(target.dtype == self.dtype, message, target.dtype, self.dtype)
        dtypes.require("f", "binary_cross_entropy", self.dtype)
        check(within(self, 0, 1).all(), "all elements of input should be between 0 and 1")
    # logarithms are at least -100, so that a certain but wrong answer costs 100, not infinity
    yes, no = clamp_min(log(self), -100.0), clamp_min(log1p(-self), -100.0)
    return reduced(weighted((target - 1) * no - target * yes, weight), reduction)


def _bce_slope(grad, self, target, weight, reduction):
    slope = share(grad, self, reduction) * (self - target) / clamp_min((1 - self) * self, EPS)
    return weighted(slope, weight)


def bce_curvature(grad, grad_output, self, target, weight, reduction):
    """The derivative of the slope with respect to x: (x² - 2 x t + t) / (x (1 - x))², with 1e-12 added to x and 1 - x below."""
    bend = (self * self - 2 * self * target + target) / (
        (self + EPS) * (self + EPS) * (1 - self + EPS) * (1 - self + EPS)
    )
    return weighted(bend, weight) * (grad * share(grad_output, self, reduction))


def _bce_logits(self, target, weight, pos_weight, reduction):
    """(1 - t) x - (1 + (p - 1) t) log(sigmoid(x)), where p is the weight of the positive examples."""
    more = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    return reduced(weighted((1 - target) * self - logsigmoid(self) * more, weight), reduction)


def bce_logits_slope(grad, self, target, weight, pos_weight, reduction):
    if pos_weight is None:
        slope = sigmoid(self) - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * sigmoid(self) - positive
    return weighted(slope, weight) * share(grad, self, reduction)


def bce_logits_by_target(grad, self, weight, pos_weight, reduction):
    slope = -self if pos_weight is None else logsigmoid(-self) - pos_weight * logsigmoid(self)
    return weighted(slope, weight) * share(grad, self, reduction)


def _nll(self, target, weight, reduction, ignore_index):
    """(the losses or their mean or sum; the sum of the weights). The classes are in the last dimension."""
    counted, everything = target != ignore_index, None
    if not counted.all():
        target, everything = np.where(counted, target, 0), False
    if leaves(target, self.shape[-1]):
        bad = next(t for t in target.flat if not 0 <= t < self.shape[-1])
        raise IndexError(f"Target {bad} is out of bounds.")
    picked = self.take(rows(self.shape) + target)
    if everything is None and weight is None:
        total = np.array(picked.size if reduction != NONE else 0, self.dtype)
        return (-picked if reduction == NONE else 0 - reduced(picked, reduction)), total
    own = counted.astype(self.dtype) if weight is None else weight.take(target) * counted
    losses = np.where(counted, -picked * own, 0).astype(self.dtype)
    if reduction == NONE:
        return losses, np.zeros((), self.dtype)
    total = own.sum()
    return (losses.sum() / total if reduction == MEAN else losses.sum()), total


def _nll_spread(self, target, weight, total_weight, sizes, reduction, ignore_index):
    counted, out = target != ignore_index, np.zeros(sizes, self.dtype)
    each = -(self / total_weight if reduction == MEAN else self)
    if weight is not None or not counted.all():
        target = np.where(counted, target, 0)
        each = each * (counted.astype(self.dtype) if weight is None else weight.take(target) * counted)
    out.reshape(-1)[rows(sizes) + target] = each
    return out


def nll_of_one(self, target, weight, reduction, ignore_index):
    """`nll_loss` in terms of other operations, as vmap runs it."""
    counted = target != ignore_index
    named = where(counted, target, 0)
    own = counted.to(self.dtype) if weight is None else weight[named] * counted
    losses = where(counted, -self.gather(-1, named[..., None])[..., 0] * own, 0.0)
    total = own.sum()
    return (losses.sum() / total if reduction == MEAN else reduced(losses, reduction)), total


def nll_spread_of_one(self, target, weight, total_weight, sizes, reduction, ignore_index):
    """`nll_loss_backward` in terms of other operations, as vmap runs it."""
    counted = target != ignore_index
    own = counted.to(self.dtype) if weight is None else weight[where(counted, target, 0)] * counted
    each = -(self / total_weight if reduction == MEAN else self) * own
    return where(target[..., None] == np.arange(sizes[-1]), each[..., None], 0.0)


def classes_last(run: Callable) -> Callable:
    """A function of (N, C, ...) from one that has the classes, C, in the last dimension."""
    return lambda self, *more: run(np.moveaxis(self, 1, -1), *more)


def _nll_spread_in_planes(self, target, weight, total_weight, sizes, reduction, ignore_index):
    n, classes, *plane = sizes
    result = _nll_spread(self, target, weight, total_weight, (n, *plane, classes), reduction, ignore_index)
    return np.ascontiguousarray(np.moveaxis(result, -1, 1))


# fmt: off
# ---------------------------------------------------------------- of numbers

squared_error = op("mse_loss(self, target, reduction: int)", _mse, at="", takes="f", kernel="mse_cpu", batch=_mse,
    self=lambda grad, self, target, reduction: share(grad, self, reduction) * 2 * (self - target),
    target=lambda grad, self, target, reduction: share(grad, self, reduction) * -2 * (self - target))
smooth_l1 = op("smooth_l1_loss(self, target, reduction: int, beta: float)", _smooth_l1, at="", batch=_smooth_l1, takes="f",
    kernel="smooth_l1_cpu",
    node="SmoothL1LossBackward0", self=smooth_l1_backward, target=smooth_l1_backward)
huber = op("huber_loss(self, target, reduction: int, delta: float)", _huber, at="", batch=_huber, takes="f",
           kernel="huber_cpu", self=huber_backward, target=huber_backward)

# ---------------------------------------------------------------- of probabilities

bce = op("binary_cross_entropy(self, target, weight=None, reduction: int=1)", _bce, at="", batch=_bce,
    self=lambda grad, self, target, weight, reduction: bce_slope(grad, self, target, weight, reduction),
    target=lambda grad, self, weight, reduction:
        weighted(share(grad, self, reduction) * (log(1 - self) - log(self)), weight))
bce_slope = op("binary_cross_entropy_backward(grad_output, self, target, weight=None, reduction: int=1)", _bce_slope, at="",
    node="BinaryCrossEntropyBackwardBackward0", batch=_bce_slope, broadcasts=True,
    grad_output=lambda grad, self, target, weight, reduction: bce_slope(grad, self, target, weight, reduction),
    self=lambda grad, grad_output, self, target, weight, reduction:
        bce_curvature(grad, grad_output, self, target, weight, reduction),
    target=lambda grad, grad_output, self, weight, reduction:
        weighted(grad * share(grad_output, self, reduction) * -1 / clamp_min((1 - self) * self, EPS), weight))
bce_logits = op("binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction: int=1)", _bce_logits,
    at="", batch=_bce_logits, self=lambda grad, self, target, weight, pos_weight, reduction:
        bce_logits_slope(grad, self, target, weight, pos_weight, reduction),
    target=lambda grad, self, weight, pos_weight, reduction: bce_logits_by_target(grad, self, weight, pos_weight, reduction))

# ---------------------------------------------------------------- of classes

OF_CLASSES = "reduction: int=1, ignore_index: int=-100)"
nll = op("nll_loss(self, target, weight=None, " + OF_CLASSES, _nll, at="", outputs=("result", "total_weight"), takes="f",
    kernel="nll_loss_out_frame",
    constants=("total_weight",), zero_slope=("self",), kind="linear", batch=nll_of_one,
    self=lambda grad, self, target, weight, total_weight, reduction, ignore_index:
        nll_loss_backward(grad, target, weight, total_weight, tuple(self.shape), reduction, ignore_index))
nll_loss_backward = op("nll_loss_backward(self, target, weight=None, total_weight=None, sizes: object=(), " + OF_CLASSES,
    _nll_spread, at="", kind="linear", node="NllLossBackwardBackward0", batch=nll_spread_of_one,
    self=lambda grad, target, weight, reduction, ignore_index:
        nll(grad, target, weight, reduction, ignore_index)[0])
nll2d = op("nll_loss2d(self, target, weight=None, " + OF_CLASSES, classes_last(_nll), at="", outputs=("result", "total_weight"),
    constants=("total_weight",), zero_slope=("self",), kind="linear",
    batch=lambda self, *more: nll_of_one(self.movedim(1, -1), *more),
    self=lambda grad, self, target, weight, total_weight, reduction, ignore_index:
        nll_loss2d_backward(grad, target, weight, total_weight, tuple(self.shape), reduction, ignore_index))
nll_loss2d_backward = op("nll_loss2d_backward(self, target, weight=None, total_weight=None, sizes: object=(), " + OF_CLASSES,
    _nll_spread_in_planes, at="", kind="linear", node="NllLoss2DBackwardBackward0", batch=lambda self, target, weight, total,
        sizes, *more: nll_spread_of_one(self, target, weight, total, (sizes[1],), *more).movedim(-1, 1),
    self=lambda grad, target, weight, reduction, ignore_index: nll2d(grad, target, weight, reduction, ignore_index)[0])
# fmt: on
