"""The base classes of optimizers and schedules: Optimizer (parameter groups, state, printing), Algorithm (a step moves one
parameter after the other) and LRScheduler."""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np
from numpy import multiply, ndarray, subtract

from ..autograd.grad_mode import enable_grad
from ..basics import check
from ..missing import SaysWhatIsMissing, guard
from ..nn import messages
from ..nn.module import zero_gradients
from ..ops.operands import constant
from ..tensor import Tensor, wrap

Direction = tuple[ndarray, float]  # and the rate for moving there


class Optimizer(SaysWhatIsMissing):
    """Base class. A subclass provides `defaults` (the options of a group and their values) and a `step`.

    params: tensors, or (name, tensor) pairs, or dicts of parameter groups ({"params": [...], "lr": ...}).
    """

    steps: int | None = None  # the number of steps so far, for the schedules; None if they are not counted

    def __init__(self, params: Iterable, defaults: dict[str, object]):
        check(not isinstance(params, Tensor), messages.NOT_PARAMETERS, params, error=TypeError)
        self.defaults = defaults
        self.state: dict[Tensor, dict] = defaultdict(dict)
        self.param_groups: list[dict] = []
        groups = list(params)
        check(groups, "optimizer got an empty parameter list", error=ValueError)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict) -> None:
        """Add parameters with their own options; the optimizer's defaults replace those not given.

        Raises TypeError for anything but a tensor, ValueError for results of operations and for parameters that are already
        in a group.
        """
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]  # of `named_parameters()`
        if names:
            check(len(names) == len(params), messages.PARAMETER_NAMES, error=ValueError)
            params, param_group["param_names"] = [p for _, p in params], names
        for p in params:
            check(isinstance(p, Tensor), messages.NOT_A_PARAMETER, type(p), error=TypeError)
            check(p.is_leaf or p.retains_grad, "can't optimize a non-leaf Tensor", error=ValueError)
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        if len(set(params)) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=3)
        if any(p in set(params) for group in self.param_groups for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Discard all gradients, or overwrite them with zeros. A later step skips None but acts on zeros."""
        for group in self.param_groups:
            zero_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        raise NotImplementedError(f"{type(self).__name__} must define step()")

    def state_dict(self) -> dict:
        """A dict {"state": {number: {...}}, "param_groups": [...]}; parameters are numbered in the order of the groups."""
        params = dict.fromkeys([p for group in self.param_groups for p in group["params"]])
        numbers = {p: number for number, p in enumerate(params)}
        groups = [dict(group) for group in self.param_groups]
        for group in groups:
            group["params"] = [numbers[p] for p in group.pop("params")]
        return {"state": {numbers[p]: values for p, values in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Restore what `state_dict` of an optimizer with the same groups returned; its tensors are copied.

        Raises ValueError if the groups differ in number or size.
        """
        saved = state_dict["param_groups"]
        check(len(saved) == len(self.param_groups), messages.GROUP_COUNT, error=ValueError)
        pairs = zip(saved, self.param_groups, strict=True)
        alike = all(len(a["params"]) == len(b["params"]) for a, b in pairs)
        check(alike, messages.GROUP_SIZE, error=ValueError)
        by_number: dict[int, Tensor] = {}
        for place, (old, group) in enumerate(zip(saved, self.param_groups, strict=True)):
            by_number.update(zip(old["params"], group["params"], strict=True))
            self.param_groups[place] = {**copy.deepcopy(old), "params": group["params"]}
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            param = by_number[number]
            self.state[param] = {name: copied_for(value, param, name) for name, value in values.items()}

    def __repr__(self) -> str:
        parts = []
        for i, group in enumerate(self.param_groups):
            lines = [f"    {k}: {group[k]}" for k in sorted(group) if k != "params"]
            parts.append("\n".join([f"Parameter Group {i}", *lines]))
        return f"{type(self).__name__} (\n" + "\n\n".join(parts) + "\n)"


class Algorithm(Optimizer):
    """An optimizer that moves the parameters one by one: `w ← w - rate·direction`, where `_move` gives both. NumPy's functions
    write into their last argument, which autograd does not see; the parameters' version counters are raised."""

    # (parameter, gradient, group, an array to compute in) → where the parameter moves
    _move: Callable[..., Direction]

    def __init__(self, params: Iterable, options: dict[str, object], order: str = ""):
        """options: the `locals()` of a constructor; order: which of them to keep, in PyTorch's order."""
        names = order.split() or [name for name in options if name not in ("self", "params", "__class__")]
        defaults = {name: options[name] for name in names}
        for name, message in messages.NOT_NEGATIVE.items():
            check(defaults.get(name, 0) >= 0, "Invalid {}: {}", message, defaults.get(name), error=ValueError)
        betas = defaults.get("betas", (0, 0))
        check(len(betas) > 1, "betas must be a tuple of two numbers, but got {}", betas, error=IndexError)
        for i, beta in enumerate(betas if "betas" in defaults else ()):
            if not isinstance(beta, float) or not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        for name in ("differentiable", "centered"):
            check(not defaults.get(name), messages.NO_OPTION, name, error=NotImplementedError)
        super().__init__(params, defaults)
        self.steps = 0
        self._work: dict[Tensor, ndarray] = {}  # for each parameter an array to compute in

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        self.steps, loss = self.steps + 1, None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            decay, decoupled = group["weight_decay"], group.get("decoupled_weight_decay")
            for p in [p for p in group["params"] if p._meta is not None and p._meta.grad is not None]:
                value, grad, work = p._array, p._meta.grad._array, self._work.get(p)
                counter = p._own_counter()
                if work is None or work.shape != value.shape or work.dtype != value.dtype:
                    work = self._work[p] = np.empty_like(value)
                if group["maximize"]:
                    grad = -grad
                if decay and decoupled:
                    multiply(value, 1 - group["lr"] * decay, out=value)
                    counter.version += 1
                elif decay:
                    grad = grad + decay * value
                direction, rate = self._move(p, grad, group, work)
                multiply(direction, constant((), work.dtype, float(rate)), work)
                subtract(value, work, value)
                counter.version += 1  # so that a backward pass that needs the old value complains
        return loss

    def _stepped(self, param: Tensor, *names: str) -> list:
        """How many steps a parameter has taken, including this one, and its arrays of these names, which start as zeros."""
        state = self.state[param]
        if "step" not in state:
            state["step"] = wrap(np.zeros((), np.float32))
            state.update((name, wrap(np.zeros_like(param._array))) for name in names)
        step = state["step"]._array.item() + 1
        state["step"]._array.fill(step)
        return [step, *[state[name]._array for name in names]]


class LRScheduler(SaysWhatIsMissing):
    """Base class. A subclass defines `get_lr()`, which returns the rates of all groups for `self.last_epoch`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        check(isinstance(optimizer, Optimizer), "{} is not an Optimizer", type(optimizer), error=TypeError)
        if last_epoch == -1:  # otherwise a schedule is resumed
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
        self.optimizer, self.last_epoch, self._step_count = optimizer, last_epoch, 0
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._steps_before = optimizer.__dict__.setdefault("_before_schedules", optimizer.steps)
        self.step()

    def get_lr(self) -> list[float]:
        """The rates for `self.last_epoch`, one per parameter group."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr()")

    def get_last_lr(self) -> list[float]:
        """The current rates."""
        return self._last_lr

    def state_dict(self) -> dict:
        """The state of the schedule, without the optimizer."""
        return {name: v for name, v in vars(self).items() if name not in ("optimizer", "_steps_before")}

    def load_state_dict(self, state_dict: dict) -> None:
        """Restore what `state_dict` of a schedule of the same kind returned."""
        vars(self).update(state_dict)

    def step(self) -> None:
        """Advance to the next epoch."""
        if self._step_count == 1 and self.optimizer.steps == self._steps_before is not None:
            warnings.warn(messages.SCHEDULE_TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = self._current

    _current = property(lambda self: [group["lr"] for group in self.optimizer.param_groups])  # rates now


def copied_for(value: object, param: Tensor, name: str) -> object:
    """A copy of what was saved for a parameter, a tensor in the parameter's dtype; the step count stays as it is."""
    if isinstance(value, Tensor):
        return wrap(np.array(value._array, value._array.dtype if name == "step" else param._array.dtype))
    return copy.deepcopy(value)


guard(Optimizer, "optim.Optimizer")
