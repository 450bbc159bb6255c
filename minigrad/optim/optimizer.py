"""Optimizer: what all optimizers share: parameter groups, state, printing. A subclass defines `step`."""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from ..messages import check
from ..missing import SaysWhatIsMissing, guard
from ..nn.module import zero_gradients
from ..tensor import Tensor, wrap


class Optimizer(SaysWhatIsMissing):
    """Base class. A subclass gives `defaults` (the options of a group and their values) and a `step`.

    params: tensors, or (name, tensor) pairs, or dicts of parameter groups ({"params": [...], "lr": ...}).
    """

    steps: int | None = None  # how many there have been, for the schedules; None if they are not counted

    def __init__(self, params: Iterable, defaults: dict[str, object]):
        text = "params argument given to the optimizer should be an iterable of Tensors or dicts, but got {.dtype.tensor_type}"
        check(not isinstance(params, Tensor), text, params, error=TypeError)
        self.defaults = defaults
        self.state: dict[Tensor, dict] = defaultdict(dict)
        self.param_groups: list[dict] = []
        groups = list(params)
        check(groups, "optimizer got an empty parameter list", error=ValueError)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict) -> None:
        """Add parameters with options of their own; options that are not given are the optimizer's.

        Raises TypeError for anything but a tensor, ValueError for results of operations and what is in a group already.
        """
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]  # of `named_parameters()`
        if names:
            message = "all optimizer params should be with/without names. Some param names are missing"
            check(len(names) == len(params), message, error=ValueError)
            params, param_group["param_names"] = [p for _, p in params], names
        message = "optimizer can only optimize Tensors, but one of the params is {}"
        for p in params:
            check(isinstance(p, Tensor), message, type(p), error=TypeError)
            check(p.is_leaf or p.retains_grad, "can't optimize a non-leaf Tensor", error=ValueError)
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        if len(set(params)) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=3)
        if any(p in set(params) for group in self.param_groups for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or overwrite them with zeros. A later step skips None but acts on zeros."""
        for group in self.param_groups:
            zero_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to make a step")

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
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(saved, self.param_groups, strict=True)):
            message = "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            raise ValueError(message)
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


def copied_for(value: object, param: Tensor, name: str) -> object:
    """A copy of what was saved for a parameter, a tensor in the parameter's dtype; the step count stays as it is."""
    if isinstance(value, Tensor):
        return wrap(np.array(value._array, value._array.dtype if name == "step" else param._array.dtype))
    return copy.deepcopy(value)


guard(Optimizer, "optim.Optimizer")
