"""The losses that have a derivative rule of their own; `minigrad.nn.functional` checks arguments and composes the rest.

`reduction` is 0 for none, 1 for the mean, 2 for the sum, as in PyTorch's saved values.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import dtypes
from ..tensor import Tensor
from . import places
from .activation import hardtanh
from .choice import at_most, between, refuse, where
from .elementary import log, sigmoid
from .shape import broadcast_pair as common_shape
from .sums import in_single, ones
from .table import define, first_of, is_array

ndarray = np.ndarray
NONE, MEAN, SUM = 0, 1, 2


def reduced(values: ndarray, reduction: int) -> ndarray:
    """The values, their mean or their sum."""
    if reduction == NONE:
        return values
    if values.dtype.char == "e":
        return in_single(reduced, values, reduction)
    out = np.add.reduce(values, axis=None)
    return out / np.asarray(values.size, values.dtype) if reduction == MEAN else out


def spread(grad, like, reduction: int):
    """The transpose of `reduced`, not yet broadcast: the gradient that each element of `like` gets."""
    return grad / math.prod(like.shape) if reduction == MEAN else grad


def _mse_forward(self, target, reduction):
    if self.dtype.kind != "f":
        refuse(self, "biu", "mse_cpu")
    difference = self - target
    return reduced(difference * difference, reduction)


mse_loss = define(
    "mse_loss", _mse_forward,
    self=lambda grad, self, target, reduction: spread(grad, self, reduction) * 2 * (self - target),
    target=lambda grad, self, target, reduction: spread(grad, self, reduction) * -2 * (self - target),
)  # fmt: skip


def _smooth_l1_forward(self, target, reduction, beta):
    if self.dtype.kind != "f":
        refuse(self, "biu", "smooth_l1_cpu")
    d = np.abs(self - target)
    return reduced(d if not beta else _bent(d, beta) if beta == 1 else _bent(d, beta) / beta, reduction)


def _bent(d: ndarray, bend: float) -> ndarray:
    """d²/2 up to `bend`, from there on straight."""
    m = at_most(d, np.asarray(bend, d.dtype))
    return m * (d - m * np.asarray(0.5, d.dtype))


def bent_slope(d, bend: float):
    """d between -bend and bend, elsewhere the one of these that is nearer, whose derivative is 0 at the bends, too."""
    return between(d, -bend, bend) if is_array(d) else hardtanh(d, -bend, bend)


def smooth_l1_backward(grad, grad_input_mask, self, target, reduction, beta):
    """∂self = grad · clip((self - target) / beta, -1, 1), ∂target = -∂self."""
    d = self - target
    slope = bent_slope(d if beta == 1 else d / beta, 1) * spread(grad, self, reduction)
    return slope if grad_input_mask[0] else None, -slope if grad_input_mask[1] else None


smooth_l1_loss = define(
    "smooth_l1_loss", _smooth_l1_forward, node="SmoothL1LossBackward0",
    self=smooth_l1_backward, target=smooth_l1_backward,
)  # fmt: skip


def _huber_forward(self, target, reduction, delta):
    if self.dtype.kind != "f":
        refuse(self, "biu", "huber_cpu")
    return reduced(_bent(np.abs(self - target), delta), reduction)


def huber_backward(grad, grad_input_mask, self, target, reduction, delta):
    """∂self = grad · clip(self - target, -delta, delta), ∂target = -∂self."""
    slope = bent_slope(self - target, delta) * spread(grad, self, reduction)
    return slope if grad_input_mask[0] else None, -slope if grad_input_mask[1] else None


huber_loss = define("huber_loss", _huber_forward, self=huber_backward, target=huber_backward)
soft_margin_loss = define(
    "soft_margin_loss", lambda self, target, reduction: reduced(np.log1p(np.exp(-target * self)), reduction),
    self=lambda grad, self, target, reduction: spread(grad, self, reduction) * -target * sigmoid(-target * self),
    target=None,
)  # fmt: skip


# ---------------------------------------------------------------- classification


@functools.lru_cache(maxsize=128)
def _class_offsets(sizes: tuple) -> tuple[ndarray, int]:
    """(where in the flattened input the scores of each entry begin, the step from class to class)."""
    inner = math.prod(sizes[2:])
    starts = (np.arange(sizes[0]) * (sizes[1] * inner))[:, None] + np.arange(inner)
    return starts.reshape(sizes[:1] + sizes[2:]), inner


@functools.lru_cache(maxsize=64)
def _equal_shares(shape: tuple, mean: bool, dtype: str) -> tuple[ndarray, ndarray]:
    """(what each of the targets counts, with its sign, if they have no weights; how many there are)."""
    count = math.prod(shape)
    total = np.asarray(count, dtype)
    total.setflags(write=False)
    return np.full(shape, -1 / count if mean and count else -1, "f" if dtype == "e" else dtype), total


# NumPy compares with a Python number at twice the price.
_as_array = functools.lru_cache(maxsize=16)(np.asarray)


def _nll_forward(self, target, weight, reduction, ignore_index):
    """Some of the log-probabilities are picked, each is multiplied by its share, and they are added up.

    Gives the loss; the sum of the weights; the places of those in the flattened input; their shares: minus the weight,
    over the sum of all for the mean. Raises IndexError for a target that is no class.
    """
    sizes, shape, kind, kept = self.shape, target.shape, self.dtype.char, None
    if len(sizes) == 1:
        sizes, target = (1, *sizes), target.reshape(1)
    classes = sizes[1]
    strangers = places.leaves(target, classes)
    if strangers or 0 <= ignore_index < classes:
        kept = target != _as_array(ignore_index)
        if strangers and places.leaves(target[kept], classes):
            wrong = next(t for t in target[kept].flat if not 0 <= t < classes)
            raise IndexError(f"Target {wrong} is out of bounds.")
    starts, step = _class_offsets(sizes)
    at = starts + (target if step == 1 else target.astype(np.int64) * step)
    if kept is not None:
        at = at[kept]
    if weight is None:
        shares, total = _equal_shares(at.shape, reduction == MEAN, kind)
    else:
        shares = weight[target if kept is None else target[kept]]
        summed = (shares if shares.ndim == 1 else shares.ravel()).dot(ones(shares.size, kind))
        shares = shares / np.asarray(-summed) if reduction == MEAN else -shares
        total = np.asarray(summed)
    picked = self.reshape(-1)[at]
    if reduction == NONE:
        losses = np.multiply(picked, shares, dtype=self.dtype)
        if kept is not None:
            losses, found = np.zeros(kept.shape, self.dtype), losses
            losses[kept] = found
        return losses.reshape(shape), np.zeros((), self.dtype), at, shares
    if not at.size and reduction == MEAN:
        return np.asarray(np.nan, self.dtype), total, at, shares
    out = picked.dot(shares) if at.ndim == 1 else picked.ravel().dot(shares.ravel())
    return np.asarray(out, self.dtype), total, at, shares


def nll_loss_self(grad, self, target, weight, total_weight, _places, _shares, reduction, ignore_index):
    if is_array(grad):
        return _nll_spread(grad, target, np.zeros(self.shape, grad.dtype), ignore_index, _places, _shares)
    return _nll_backward(grad, target, weight, total_weight, tuple(self.shape), reduction, ignore_index)


def _nll_spread(grad, target, out, ignore_index, at, shares):
    """The transpose of `_nll_forward`: the gradient of the loss, put into `out`, zeros of the log-probabilities' shape."""
    if grad.shape != at.shape and grad.ndim:  # a gradient for each target, also for those that do not count
        grad = grad[target != ignore_index]
    out.put(at, grad * shares)
    return out


def _nll_backward_forward(self, target, weight, total_weight, sizes, reduction, ignore_index):
    out = np.zeros(sizes, self.dtype)
    _, _, at, shares = _nll_forward(out, target, weight, reduction, ignore_index)
    return _nll_spread(self, target, out, ignore_index, at, shares)


_nll_backward = define(
    "nll_loss_backward", _nll_backward_forward, node="NllLossBackwardBackward0", optional=("weight",),
    self=lambda grad, target, weight, reduction, ignore_index: nll_loss(grad, target, weight, reduction, ignore_index)[0],
    target=None, weight=None, total_weight=None,
)  # fmt: skip


def nll_loss_tangent(primals, tangents, results, params):
    """The loss is linear in the log-probabilities; the total weight does not depend on them."""
    self, target, weight = primals
    call = nll_loss if self._array.ndim <= 2 else nll_loss2d
    loss = call(tangents[0], target, None if weight._array is None else weight, *params)[0]
    return loss, None, None, None


nll_loss, nll_loss2d = (
    define(
        name, _nll_forward, outputs=("result", "total_weight", "_places", "_shares"),
        constants=("total_weight", "_places", "_shares"), node=node, optional=("weight",), flat=("self",),
        jvp=nll_loss_tangent, self=nll_loss_self, target=None, weight=None,
    )
    for name, node in (("nll_loss", "NllLossBackward0"), ("nll_loss2d", "NllLoss2DBackward0"))
)  # fmt: skip
nll, nll2d = first_of(nll_loss), first_of(nll_loss2d)


def weighted(values, weight):
    return values if weight is None else values * weight


def _bce_forward(self, target, weight, reduction):
    if target.dtype != self.dtype:
        raise RuntimeError(f"Found dtype {dtypes.word(target.dtype)} but expected {dtypes.word(self.dtype)}")
    if self.dtype.kind != "f":
        refuse(self, "biu", "binary_cross_entropy")
    if self.size and (self.min() < 0 or self.max() > 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    floor = np.asarray(-100, self.dtype)  # so that a certain and wrong answer costs 100, not infinity
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(self), floor), np.maximum(np.log1p(-self), floor)
    return reduced(weighted((target - 1) * no - target * yes, weight), reduction)


def _bce_self(grad, self, target, weight, reduction):
    scaled = weighted(spread(grad, self, reduction), weight)
    room = (1 - self) * self
    return scaled * (self - target) / (np.maximum(room, 1e-12) if is_array(room) else room.clamp(min=1e-12))


def _bce_target(grad, self, weight, reduction):
    return weighted(spread(grad, self, reduction), weight) * (log(1 - self) - log(self))


binary_cross_entropy = define(
    "binary_cross_entropy", _bce_forward, optional=("weight",),
    self=_bce_self, target=_bce_target, weight=None,
)  # fmt: skip


def softplus_of_minus(x: ndarray) -> ndarray:
    """log(1 + e⁻ˣ) = -log sigmoid(x), without overflow."""
    return np.log1p(np.exp(-np.abs(x))) - np.minimum(x, np.zeros((), x.dtype))


def _bce_logits_forward(self, target, weight, pos_weight, reduction):
    cost = softplus_of_minus(self)
    if pos_weight is not None:
        cost = cost * ((pos_weight - 1) * target + 1)
    return reduced(weighted((1 - target) * self + cost, weight), reduction)


def _bce_logits_self(grad, self, target, weight, pos_weight, reduction):
    scaled = weighted(spread(grad, self, reduction), weight)
    if pos_weight is None:
        return scaled * (sigmoid(self) - target)
    t = pos_weight * target
    return scaled * ((t + 1 - target) * sigmoid(self) - t)


def _bce_logits_target(grad, self, weight, pos_weight, reduction):
    scaled = weighted(spread(grad, self, reduction), weight)
    if pos_weight is None:
        return scaled * -self
    cost = (
        softplus_of_minus(self)
        if is_array(self)
        else where(self < 0, -self, 0.0) + log(1 + (-abs(self)).exp())
    )
    return scaled * ((pos_weight - 1) * cost - self)


binary_cross_entropy_with_logits = define(
    "binary_cross_entropy_with_logits", _bce_logits_forward, optional=("weight", "pos_weight"),
    self=_bce_logits_self, target=_bce_logits_target, weight=None, pos_weight=None,
)  # fmt: skip


def broadcast_pair(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common shape: themselves where they have it, else expanded views."""
    if a._array.shape == b._array.shape:
        return a, b
    shape = common_shape(a._array.shape, b._array.shape)
    return tuple(t if t._array.shape == shape else t.expand(shape) for t in (a, b))


__all__ = []
