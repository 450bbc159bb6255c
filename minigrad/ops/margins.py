"""Losses by margins: the score of the right class is to exceed that of every other by some margin.

`minigrad.nn.functional` checks the arguments. `reduction` is 0 for none, 1 for the mean, 2 for the sum.
"""

from __future__ import annotations

import math

import numpy as np

from ..tensor import wrap
from .choice import where
from .loss import NONE, reduced
from .table import define, is_array

ndarray = np.ndarray


def like(x, array: ndarray):
    """A constant beside `x`: the array, or a Tensor if `x` is one."""
    return array if is_array(x) else wrap(array)


def as_rows(x):
    """One row for each example; a vector is one example, a number one of one class."""
    classes = x.shape[-1] if len(x.shape) else 1
    return x.reshape((math.prod(x.shape) // classes, classes))


def upstream(grad, rows: int, reduction: int):
    """The gradient that each row's loss gets, as a column."""
    if reduction == NONE:
        return grad.reshape((-1, 1))
    return (grad / rows if reduction == 1 else grad).reshape((1, 1))


# ---------------------------------------------------------------- one right class


def _places(target: ndarray, classes: int) -> tuple[ndarray, ndarray]:
    """(the right class of each row as a mask, the others)."""
    own = target.reshape(-1, 1) == np.arange(classes)
    return own, ~own


def violations(x, target: ndarray, margin: float):
    """By how much every other class comes too near: max(0, margin - x[right] + x[other]), 0 for the right one."""
    own, others = _places(target, x.shape[-1])
    right = (x * like(x, own)).sum(-1)
    gap = x - right.reshape((-1, 1)) + margin
    return where((gap > 0) & like(x, others), gap, 0.0), own


def _multi_margin_forward(self, target, weight, p: int, margin: float, reduction: int):
    rows = as_rows(self)
    gap, _ = violations(rows, target.reshape(-1), margin)
    each = gap * gap if p == 2 else gap
    if weight is not None:
        each = each * weight[target.reshape(-1)][:, None]
    losses = (each.sum(-1) / np.asarray(rows.shape[-1], self.dtype)).reshape(self.shape[:-1])
    return reduced(losses, reduction)


def multi_margin_self(grad, self, target, weight, p, margin, reduction):
    """Every violation pulls its own score down and the right one up."""
    rows = as_rows(self)
    classes = target if is_array(target) else target._array
    gap, own = violations(rows, classes.reshape(-1), margin)
    slope = gap * 2 if p == 2 else where(gap > 0, gap * 0 + 1, 0.0)
    slope = slope * upstream(grad, rows.shape[0], reduction) / rows.shape[-1]
    if weight is not None:
        slope = slope * weight[target.reshape((-1,))].reshape((-1, 1))
    return (slope - like(slope, own) * slope.sum(-1).reshape((-1, 1))).reshape(tuple(self.shape))


multi_margin_loss = define(
    "multi_margin_loss", _multi_margin_forward, optional=("weight",),
    self=lambda grad, self, target, weight, p, margin, reduction:
        multi_margin_self(grad, self, target, weight, p, margin, reduction),
    target=None, weight=None,
)  # fmt: skip


# ---------------------------------------------------------------- several right classes


def right_classes(target: ndarray) -> tuple[ndarray, ndarray]:
    """(row, class) of every right class: those before the first -1 of each row."""
    listed = np.logical_and.accumulate(target >= 0, axis=-1)
    rows, places = np.nonzero(listed)
    return rows, target[rows, places]


def _differences(x, target: ndarray):
    """(max(0, 1 - x[right] + x[wrong]) for every right class and every class, the rows and classes of the right ones)."""
    rows, classes = right_classes(target)
    wrong = np.ones((target.shape[0], target.shape[1]), bool)
    wrong[rows, classes] = False
    at, place = like(x, rows), like(x, classes)
    gap = 1 - x[at, place].reshape((-1, 1)) + x[at]
    return where((gap > 0) & like(x, wrong[rows]), gap, 0.0), rows, classes


def _multilabel_forward(self, target, reduction):
    x, t = as_rows(self), as_rows(target)
    gap, rows, _ = _differences(x, t)
    losses = np.zeros(len(x), self.dtype)
    np.add.at(losses, rows, gap.sum(-1))
    losses /= np.asarray(x.shape[-1], self.dtype)
    return reduced(losses.reshape(self.shape[:-1]), reduction)


def multilabel_self(grad, self, target, reduction):
    """Every violation pulls the wrong class down and the right one up."""
    x = as_rows(self)
    t = target if is_array(target) else target._array
    gap, rows, classes = _differences(x, as_rows(t))
    slope = where(gap > 0, gap * 0 + 1, 0.0) / x.shape[-1]
    at_right = np.zeros((len(rows), x.shape[-1]), gap.dtype if is_array(gap) else gap._array.dtype)
    at_right[np.arange(len(rows)), classes] = 1
    pull = slope - like(slope, at_right) * slope.sum(-1).reshape((-1, 1))
    gather = np.zeros((x.shape[0], len(rows)), at_right.dtype)
    gather[rows, np.arange(len(rows))] = 1
    return (like(slope, gather) @ pull * upstream(grad, x.shape[0], reduction)).reshape(tuple(self.shape))


multilabel_margin_loss = define(
    "multilabel_margin_loss", _multilabel_forward, node="MultilabelMarginLossBackward0",
    self=lambda grad, self, target, reduction: multilabel_self(grad, self, target, reduction),
    target=None,
)  # fmt: skip
