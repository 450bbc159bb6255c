"""LRScheduler: what all schedules share. A subclass says the rates of an epoch in `get_lr`."""

from __future__ import annotations

import warnings

from .. import messages
from ..checks import check
from ..missing import SaysWhatIsMissing
from .optimizer import Optimizer


class LRScheduler(SaysWhatIsMissing):
    """Base class. A subclass gives the rates of all groups for `self.last_epoch` in `get_lr()`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        check(isinstance(optimizer, Optimizer), "{} is not an Optimizer", type(optimizer), error=TypeError)
        if last_epoch == -1:  # else a schedule is resumed
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
        self.optimizer, self.last_epoch, self._step_count = optimizer, last_epoch, 0
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._steps_before = optimizer.__dict__.setdefault("_before_schedules", optimizer.steps)
        self.step()

    def get_lr(self) -> list[float]:
        """The rates for `self.last_epoch`, one per parameter group."""
        raise NotImplementedError(f"{type(self).__name__} does not say how the learning rate changes")

    def get_last_lr(self) -> list[float]:
        """The rates that are in use now."""
        return self._last_lr

    def state_dict(self) -> dict:
        """All that the schedule knows, without the optimizer."""
        return {name: v for name, v in vars(self).items() if name not in ("optimizer", "_steps_before")}

    def load_state_dict(self, state_dict: dict) -> None:
        """Restore what `state_dict` of a schedule of the same kind returned."""
        vars(self).update(state_dict)

    def step(self) -> None:
        """Go on to the next epoch."""
        if self._step_count == 1 and self.optimizer.steps == self._steps_before is not None:
            warnings.warn(messages.SCHEDULE_TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = self._current

    _current = property(lambda self: [group["lr"] for group in self.optimizer.param_groups])  # rates now
