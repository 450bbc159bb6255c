"""Schedules: how the learning rate of an optimizer changes from epoch to epoch.

Call `scheduler.step()` after `optimizer.step()`. The rates are computed from the current ones, as in PyTorch, so that
several schedules can work on one optimizer.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Sequence

from .optimizer import Optimizer

TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in "
    "the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch "
    "skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


class LRScheduler:
    """Base class. A subclass gives the rates of all groups for `self.last_epoch` in `get_lr()`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\n"
                    "A fresh run starts with last_epoch=-1; to resume one, load the optimizer's state first."
                )
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._step_count, self._is_initial = 0, True
        self._advance()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rates for `self.last_epoch`, one per parameter group."""
        raise NotImplementedError(f"{type(self).__name__} does not say how the learning rate changes")

    def get_last_lr(self) -> list[float]:
        """The rates that are in use now."""
        return self._last_lr

    def step(self) -> None:
        """Go on to the next epoch."""
        known = type(self.optimizer).step is Optimizer.step  # else the step is the user's own, and not seen
        if self._step_count == 1 and known and not self.optimizer._opt_called:
            warnings.warn(TOO_EARLY, UserWarning, stacklevel=2)
        self._advance()

    def _advance(self) -> None:
        self._step_count += 1
        self.last_epoch += 1
        for group, lr in zip(self.groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = self.current

    @property
    def groups(self) -> list[dict]:
        return self.optimizer.param_groups

    @property
    def current(self) -> list[float]:
        """The rates as they stand in the optimizer."""
        return [group["lr"] for group in self.groups]

    def state_dict(self) -> dict:
        """Everything but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch; one function, or one per parameter group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence, last_epoch: int = -1
    ):
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """initial · λ(epoch)."""
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict:
        """Everything but the optimizer and the functions."""
        return {k: v for k, v in super().state_dict().items() if k != "lr_lambdas"}


class StepLR(LRScheduler):
    """The rate times gamma every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times gamma at the right epochs."""
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return [lr * self.gamma for lr in self.current] if due else self.current


class MultiStepLR(LRScheduler):
    """The rate times gamma at each of the epochs in `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1
    ):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times gamma as often as the epoch is a milestone."""
        times = self.milestones.get(self.last_epoch, 0)
        return [lr * self.gamma**times for lr in self.current] if times else self.current


class ExponentialLR(LRScheduler):
    """The rate times gamma after every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates times gamma."""
        return self.current if self._is_initial else [lr * self.gamma for lr in self.current]


class LinearLR(LRScheduler):
    """The rate from start_factor to end_factor of the initial one in total_iters equal steps: a warm-up."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ):
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, one step further."""
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self.current]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.current
        step = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * step
        return [lr * (1.0 + step / before) for lr in self.current]


class CosineAnnealingLR(LRScheduler):
    """The rate down to eta_min along half a cosine wave of T_max epochs, then up again (Loshchilov & Hutter 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, one step along the wave."""
        epoch, low, period = self.last_epoch, self.eta_min, self.T_max
        if self._is_initial and epoch == 0:
            return self.current
        if self._step_count == 1 and epoch > 0:
            return [
                low + (base - low) * (1 + math.cos(epoch * math.pi / period)) / 2 for base in self.base_lrs
            ]
        if (epoch - 1 - period) % (2 * period) == 0:
            rise = (1 - math.cos(math.pi / period)) / 2
            return [lr + (base - low) * rise for base, lr in zip(self.base_lrs, self.current, strict=True)]
        ratio = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
        return [ratio * (lr - low) + low for lr in self.current]


class OneCycleLR(LRScheduler):
    """One rise to max_lr and one long fall below the start; momentum goes the other way (Smith & Topin 2018).

    Call step() after every batch: total_steps of them, or epochs · steps_per_epoch.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for name, value in (
            ("total_steps", total_steps),
            ("epochs", epochs),
            ("steps_per_epoch", steps_per_epoch),
        ):
            if value is not None and (value <= 0 or not isinstance(value, int)):
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
            total_steps = epochs * steps_per_epoch
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self.total_steps, self.anneal_strategy, self.cycle_momentum = (
            total_steps,
            anneal_strategy,
            cycle_momentum,
        )
        up = float(pct_start * total_steps) - 1
        middle = [(2 * up, "max_lr", "initial_lr", "base_momentum", "max_momentum")] if three_phase else []
        last = ("initial_lr", "min_lr", "max_momentum", "max_momentum")
        if not three_phase:
            last = ("max_lr", "min_lr", "base_momentum", "max_momentum")
        # (last step, rate from, rate to, momentum from, momentum to)
        self.phases = [
            (up, "initial_lr", "max_lr", "max_momentum", "base_momentum"), *middle, (total_steps - 1, *last)
        ]  # fmt: skip
        highest = (
            list(max_lr) if isinstance(max_lr, (list, tuple)) else [max_lr] * len(optimizer.param_groups)
        )
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
                group["lr"] = group["initial_lr"]
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                )
            for group in optimizer.param_groups:
                group["base_momentum"], group["max_momentum"] = base_momentum, max_momentum
                set_momentum(group, max_momentum)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this step; sets the momentum too."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        earlier = [p[0] for p in self.phases[:-1] if step > p[0]]
        start = earlier[-1] if earlier else 0.0
        end, low, high, momentum_from, momentum_to = self.phases[len(earlier)]
        part = (step - start) / (end - start)
        if self.cycle_momentum:
            for group in self.groups:
                set_momentum(group, self.anneal(group[momentum_from], group[momentum_to], part))
        return [self.anneal(group[low], group[high], part) for group in self.groups]

    def anneal(self, start: float, end: float, part: float) -> float:
        """The value after `part` (0..1) of the way from start to end."""
        if self.anneal_strategy == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def set_momentum(group: dict, value: float) -> None:
    """Set the momentum of a parameter group, which Adam calls its first beta."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a measure, given to `step(measure)`, has not become better for `patience` epochs.

    mode: "min" if smaller is better, or "max". threshold: how much better counts, relative ("rel") or absolute ("abs").
    cooldown: epochs to wait after a reduction. min_lr: the rate goes no lower. eps: smaller reductions are not made.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        count = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = (
            threshold,
            threshold_mode,
            cooldown,
            eps,
        )
        self.last_epoch, self._last_lr = 0, self.current
        self._reset()

    def _reset(self) -> None:
        """Forget the measures so far."""
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def step(self, metrics: float) -> None:
        """Go on to the next epoch, after which the measure was `metrics`."""
        current = float(metrics)
        self.last_epoch += 1
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, lowest in zip(self.groups, self.min_lrs, strict=True):
                new = max(group["lr"] * self.factor, lowest)
                if group["lr"] - new > self.eps:
                    group["lr"] = new
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.current

    def is_better(self, a: float, best: float) -> bool:
        """Is `a` better than `best` by more than the threshold?"""
        sign = 1 if self.mode == "min" else -1
        if math.isinf(best):
            return sign * a < sign * best
        if self.threshold_mode == "rel":
            return a < best * (1 - self.threshold) if sign == 1 else a > best * (1 + self.threshold)
        return sign * a < sign * best - self.threshold


__all__ = [
    "CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "OneCycleLR",
    "ReduceLROnPlateau", "StepLR",
]  # fmt: skip
