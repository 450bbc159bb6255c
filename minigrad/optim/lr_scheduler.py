"""Schedules: how the learning rate of an optimizer changes from epoch to epoch.

Call `scheduler.step()` after `optimizer.step()`. The rates are computed from the current ones, as in PyTorch, so that
several schedules can work on one optimizer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from ..missing import guard, module_attributes
from .optimizer import LRScheduler, Optimizer

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR", "StepLR"]
__dir__, __getattr__ = module_attributes(__name__, __all__)


class LambdaLR(LRScheduler):
    """Multiply the initial rates by a function of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float], last_epoch: int = -1):
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [lr * self.lr_lambda(self.last_epoch) for lr in self.base_lrs]


class StepLR(LRScheduler):
    """Multiply the rate by gamma every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return [lr * self.gamma for lr in self._current] if due else self._current


class MultiStepLR(LRScheduler):
    """Multiply the rate by gamma at each epoch in `milestones`, once for each time the epoch is listed."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self._current]


class ExponentialLR(StepLR):
    """Multiply the rate by gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        super().__init__(optimizer, 1, gamma, last_epoch)


class CosineAnnealingLR(LRScheduler):
    """Lower the rate to eta_min along half a cosine wave of T_max epochs, then raise it again (Loshchilov & Hutter 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        epoch, low, period = self.last_epoch, self.eta_min, self.T_max
        if self._step_count == 1:  # the step that the constructor makes
            return self._current
        if (epoch - 1 - period) % (2 * period) == 0:
            rise = (1 - math.cos(math.pi / period)) / 2
            return [lr + (base - low) * rise for base, lr in zip(self.base_lrs, self._current, strict=True)]
        ratio = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
        return [ratio * (lr - low) + low for lr in self._current]


guard(__name__, "optim.lr_scheduler")
