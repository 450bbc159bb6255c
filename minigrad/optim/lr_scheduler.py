"""Schedules: how the learning rate of an optimizer changes from epoch to epoch.

Call `scheduler.step()` after `optimizer.step()`. The rates are computed from the current ones, as in PyTorch, so that
several schedules can work on one optimizer.
"""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence

from ..tensor import Tensor
from .optimizer import Optimizer

HOW_TO = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in "
    "the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch "
    f"skipping the first value of the learning rate schedule. {HOW_TO}"
)
OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure to "
    f"call `optimizer.step()` before `lr_scheduler.step()`. {HOW_TO}"
)
NO_EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available."
)


def copied(value: float | Tensor) -> float | Tensor:
    return value.clone() if isinstance(value, Tensor) else value


def for_groups(name: str, optimizer: Optimizer, value: float | Sequence[float]) -> list[float]:
    """One value for each parameter group. Raises ValueError for a list of another length."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has "
            f"{count}."
        )
    return list(value)


class LRScheduler:
    """Base class. A subclass gives the rates of all groups for `self.last_epoch` in `get_lr()`."""

    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\n"
                    "A fresh run starts with last_epoch=-1; to resume one, load the optimizer's state first."
                )
        self.optimizer = optimizer
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        if not optimizer.__dict__.get("_has_schedule"):  # steps count from the first schedule on
            optimizer._has_schedule, optimizer._opt_called = True, False
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count, self._is_initial = 0, True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rates for `self.last_epoch`, one per parameter group."""
        raise NotImplementedError(f"{type(self).__name__} does not say how the learning rate changes")

    def get_last_lr(self) -> list[float]:
        """The rates that are in use now."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or (old PyTorch) to this one."""
        if self._step_count == 1:
            if "step" in self.optimizer.__dict__:
                warnings.warn(OVERRIDDEN, UserWarning, stacklevel=2)
            elif not self.optimizer._opt_called:
                warnings.warn(TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(NO_EPOCH, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        self._get_lr_called_within_step = False
        self._set_rates(rates)

    def _set_rates(self, rates: Sequence[float]) -> None:
        for group, lr in zip(self._groups, rates, strict=True):
            set_rate(group, lr)
        self._last_lr = self._current

    def _warn_if_asked_from_outside(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    @property
    def _groups(self) -> list[dict]:
        """The optimizer's parameter groups."""
        return self.optimizer.param_groups

    @property
    def _current(self) -> list[float]:
        """The rates as they stand in the optimizer."""
        return [copied(group["lr"]) for group in self._groups]

    def state_dict(self) -> dict:
        """Everything but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)


def set_rate(group: dict, value: float) -> None:
    """Set the learning rate of a group; a tensor keeps its place."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(float(value))
    else:
        group["lr"] = value


class _FromFunctions(LRScheduler):
    """Schedules that call a function of the epoch; one function, or one per parameter group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence, last_epoch: int = -1
    ):
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict:
        """Everything but the optimizer; of the functions the attributes, where they are objects that have some."""
        functions = [None if isinstance(f, types.FunctionType) else dict(vars(f)) for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": functions}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if attributes is not None:
                f.__dict__.update(attributes)


class LambdaLR(_FromFunctions):
    """The initial rate times a function of the epoch; one function, or one per parameter group."""

    def get_lr(self) -> list[float]:
        """The initial rates times λ(epoch)."""
        self._warn_if_asked_from_outside()
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(_FromFunctions):
    """The current rate times a function of the epoch; one function, or one per parameter group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence, last_epoch: int = -1
    ):
        for f in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            if not callable(f):
                raise TypeError(f"lr_lambda should be a function, but got {type(f).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates times λ(epoch)."""
        self._warn_if_asked_from_outside()
        if self._is_initial:
            return self._current
        return [lr * f(self.last_epoch) for lr, f in zip(self._current, self.lr_lambdas, strict=True)]


class StepLR(LRScheduler):
    """The rate times gamma every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times gamma at the right epochs."""
        self._warn_if_asked_from_outside()
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return [lr * self.gamma for lr in self._current] if due else self._current

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times gamma at each of the epochs in `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1
    ):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times gamma as often as the epoch is a milestone."""
        self._warn_if_asked_from_outside()
        times = self.milestones.get(self.last_epoch, 0)
        return [lr * self.gamma**times for lr in self._current] if times else self._current

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times gamma after every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates times gamma."""
        self._warn_if_asked_from_outside()
        return self._current if self._is_initial else [lr * self.gamma for lr in self._current]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


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
        self._warn_if_asked_from_outside()
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self._current]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current
        step = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * step
        return [lr * (1.0 + step / before) for lr in self._current]

    def _get_closed_form_lr(self) -> list[float]:
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * part
        return [base * factor for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rate times `factor` for the first total_iters epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ):
        if not 0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates; times factor at first, divided by it at the end."""
        self._warn_if_asked_from_outside()
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self._current]
        if self.last_epoch != self.total_iters:
            return self._current
        return [lr * (1.0 / self.factor) for lr in self._current]

    def _get_closed_form_lr(self) -> list[float]:
        factor = 1.0 if self.last_epoch >= self.total_iters else self.factor
        return [base * factor for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The rate down to 0 in total_iters epochs, as (1 - epoch/total_iters)^power."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, one step further."""
        self._warn_if_asked_from_outside()
        epoch, total = self.last_epoch, self.total_iters
        if self._is_initial or epoch > total:
            return self._current
        factor = ((1.0 - epoch / total) / (1.0 - (epoch - 1) / total)) ** self.power
        return [lr * factor for lr in self._current]

    def _get_closed_form_lr(self) -> list[float]:
        factor = (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power
        return [base * factor for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """The rate down to eta_min along half a cosine wave of T_max epochs, then up again (Loshchilov & Hutter 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, one step along the wave."""
        self._warn_if_asked_from_outside()
        epoch, low, period = self.last_epoch, self.eta_min, self.T_max
        if self._is_initial:
            return self._current
        if self._step_count == 1 and epoch > 0:
            return [
                low + (base - low) * (1 + math.cos(epoch * math.pi / period)) / 2 for base in self.base_lrs
            ]
        if (epoch - 1 - period) % (2 * period) == 0:
            rise = (1 - math.cos(math.pi / period)) / 2
            return [lr + (base - low) * rise for base, lr in zip(self.base_lrs, self._current, strict=True)]
        ratio = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
        return [ratio * (lr - low) + low for lr in self._current]

    def _get_closed_form_lr(self) -> list[float]:
        part = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate down to eta_min along half a cosine wave of T_0 epochs, then from the start, each time T_mult times as long.

    `step(epoch)` takes fractions of epochs as well. Loshchilov & Hutter 2017.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates T_cur epochs after the last restart, of T_i until the next."""
        self._warn_if_asked_from_outside()
        part = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to this one."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:  # after n restarts T_0·(1 + T_mult + T_mult² + ...) epochs have gone
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        self._set_rates(self.get_lr())
        self._get_lr_called_within_step = False


class SequentialLR(LRScheduler):
    """Several schedules one after the other: the next begins at each of the epochs in `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ):
        check_together(self, schedulers, optimizer, "expects at least one scheduler, but got no scheduler.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in self._groups:  # their beginnings are undone; the first of them begins again
            set_rate(group, group["initial_lr"])
        undo_beginning(self)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        which = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[which]
        if which > 0 and self._milestones[which - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict:
        """Everything but the optimizer, with the states of the schedules."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class ChainedScheduler(SequentialLR):
    """Several schedules at once: each works on what the one before has left."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None):
        nothing = "expects at least one scheduler to be chained, but got no scheduler."
        optimizer = optimizer or (schedulers[0].optimizer if schedulers else None)
        check_together(self, schedulers, optimizer, nothing)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = self._current

    def step(self) -> None:
        """Go on to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._current


def check_together(
    owner: LRScheduler, schedulers: Sequence, optimizer: Optimizer | None, nothing: str
) -> None:
    """Raise ValueError or TypeError unless these schedules can work together on one optimizer."""
    name = type(owner).__name__
    if len(schedulers) < 1:
        raise ValueError(f"{name} {nothing}")
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be specified when "
                f"calling `step`, but got one at index {i} in the given schedulers sequence."
            )
        if optimizer is not scheduler.optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler {type(scheduler).__name__} "
                f"at index {i} has {scheduler.optimizer}, which is different from {type(optimizer).__name__}."
            )


def undo_beginning(scheduler: LRScheduler) -> None:
    """Take back the step that a schedule, and those in it, made when they were made."""
    if hasattr(scheduler, "_schedulers"):
        for inner in scheduler._schedulers:
            undo_beginning(inner)
    else:
        scheduler.last_epoch -= 1


class CyclicLR(LRScheduler):
    """The rate up and down between base_lr and max_lr in straight lines; momentum the other way (Smith 2017).

    Call step() after every batch. step_size_up, step_size_down: batches on the way. mode: "triangular", "triangular2" (each
    cycle half as high) or "exp_range" (heights times gamma^batch); or scale_fn, a function of the cycle or of the batch
    (scale_mode="iterations") for the heights.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        base_lrs = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_rate(group, lr)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        own = {"triangular": "cycle", "triangular2": "cycle", "exp_range": "iterations"}
        self.scale_mode = scale_mode if scale_fn is not None else own[mode]
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            check_momentum(optimizer)
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = for_groups("base_momentum", optimizer, base_momentum)
            self.max_momentums = for_groups("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                momentums = zip(self.base_momentums, self.max_momentums, optimizer.param_groups, strict=True)
                for low, high, group in momentums:
                    set_momentum(group, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """How high the cycle, or the batch, with this number goes."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[float]:
        """The rates of this step; sets the momentum too."""
        self._warn_if_asked_from_outside()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momentums = zip(self._groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in momentums:
                set_momentum(group, high - (high - low) * height * scale)
        bounds = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height * scale for low, high in bounds]

    def state_dict(self) -> dict:
        """Everything but the optimizer; of scale_fn its attributes, if it is an object that has some."""
        state, f = super().state_dict(), self._scale_fn_custom
        plain = f is None or isinstance(f, types.FunctionType)
        return {**state, "_scale_fn_custom": None if plain else dict(vars(f))}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])


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
        self.total_steps, self._anneal_func_type, self.cycle_momentum = (
            total_steps,
            anneal_strategy,
            cycle_momentum,
        )
        up = float(pct_start * total_steps) - 1
        middle = [(2 * up, "max_lr", "initial_lr", "base_momentum", "max_momentum")] if three_phase else []
        last = ("initial_lr", "min_lr", "max_momentum", "max_momentum")
        if not three_phase:
            last = ("max_lr", "min_lr", "base_momentum", "max_momentum")
        names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
        self._schedule_phases = [
            dict(zip(names, phase, strict=True))
            for phase in [
                (up, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                *middle,
                (total_steps - 1, *last),
            ]
        ]
        highest = for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            check_momentum(optimizer)
            self.use_beta1 = "betas" in optimizer.defaults
            if last_epoch == -1:
                lows = for_groups("base_momentum", optimizer, base_momentum)
                highs = for_groups("max_momentum", optimizer, max_momentum)
                for low, high, group in zip(lows, highs, optimizer.param_groups, strict=True):
                    group["base_momentum"], group["max_momentum"] = low, high
                    set_momentum(group, high)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of this step; sets the momentum too."""
        self._warn_if_asked_from_outside()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        phases = self._schedule_phases
        earlier = [p["end_step"] for p in phases[:-1] if step > p["end_step"]]
        start = earlier[-1] if earlier else 0.0
        phase = phases[len(earlier)]
        part = (step - start) / (phase["end_step"] - start)
        if self.cycle_momentum:
            for group in self._groups:
                low, high = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, self._anneal(low, high, part))
        return [self._anneal(g[phase["start_lr"]], g[phase["end_lr"]], part) for g in self._groups]

    def _anneal(self, start: float, end: float, part: float) -> float:
        """The value after `part` (0..1) of the way from start to end."""
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def check_momentum(optimizer: Optimizer) -> None:
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")


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
        count, several = len(optimizer.param_groups), isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = (
            threshold,
            threshold_mode,
            cooldown,
            eps,
        )
        self.last_epoch, self._last_lr = 0, self._current
        self._reset()

    def _reset(self) -> None:
        """Forget the measures so far."""
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """True while it waits after a reduction."""
        return self.cooldown_counter > 0

    def step(self, metrics: float, epoch: int | None = None) -> None:
        """Go on to the next epoch, after which the measure was `metrics`."""
        current = float(metrics)
        if epoch is not None:
            warnings.warn(NO_EPOCH, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._current

    def _reduce(self) -> None:
        if len(self._groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(self._groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group being added "
                    "to the optimizer. Please modify the `min_lrs` field to match the length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(self._groups)
        for group, lowest in zip(self._groups, self.min_lrs, strict=True):
            new = max(group["lr"] * self.factor, lowest)
            if group["lr"] - new > self.eps:
                set_rate(group, new)

    def _is_better(self, a: float, best: float) -> bool:
        """Is `a` better than `best` by more than the threshold?"""
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            return a < best * (1 - self.threshold) if sign == 1 else a > best * (1 + self.threshold)
        return sign * a < sign * best - self.threshold


__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
