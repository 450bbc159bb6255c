"""Optimizer: what all optimizers share: parameter groups, state, hooks, printing.

Steps are written in NumPy and change the parameters' memory in place, unseen by autograd but counted in their versions.
"""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from ..autograd.grad_mode import enable_grad
from ..autograd.node import RemovableHandle, add_hook
from ..nn.module import zero_gradients
from ..tensor import Tensor, wrap


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base class. A subclass gives `defaults` and updates one parameter in `update(param, grad, group, state)`.

    params: tensors, or dicts of parameter groups ({"params": [...], "lr": ...}), or (name, tensor) pairs.
    """

    def __init__(self, params: Iterable, defaults: dict[str, object]):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + params.dtype.tensor_type
            )
        self.defaults = defaults
        self.state: dict[Tensor, dict] = defaultdict(dict)
        self.param_groups: list[dict] = []
        self._opt_called = False  # has there been a step? The schedules want to know
        self._step_pre_hooks, self._step_post_hooks = OrderedDict(), OrderedDict()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict) -> None:
        """Add parameters with options of their own; options that are not given are the optimizer's."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will "
                "change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        named = bool(params) and isinstance(params[0], tuple)
        group = dict(param_group)
        if named:
            group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        group["params"] = params
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is " + type(p).__name__
                )
            if not p.is_leaf and not p.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            group.setdefault(name, default)
        if len({id(p) for p in params}) != len(params):
            raise ValueError("optimizer contains a parameter group with duplicate parameters")
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or overwrite them with zeros. A later step skips None but acts on zeros."""
        for group in self.param_groups:
            zero_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        for hook in self._step_pre_hooks.values():
            hook(self, (closure,) if closure is not None else (), {})
        loss, self._opt_called = None, True
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self.step_group(group)
        for hook in self._step_post_hooks.values():
            hook(self, (closure,) if closure is not None else (), {})
        return loss

    def step_group(self, group: dict) -> None:
        """Update the parameters of one group."""
        update, states, sign = self.update, self.state, group["maximize"]
        for p in group["params"]:
            meta = p._meta
            if meta is None or meta.grad is None:
                continue
            grad = meta.grad._array
            update(p, -grad if sign else grad, group, states[p])

    def update(self, param: Tensor, grad: np.ndarray, group: dict, state: dict) -> None:
        """One step of one parameter: change `param._array` in place and count its version."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to update a parameter")

    # ------------------------------------------------------------------ hooks, state, printing

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        return add_hook(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return add_hook(self._step_post_hooks, hook)

    def state_dict(self) -> dict:
        """{"state": {number: {...}}, "param_groups": [...]}; parameters are numbered in the order of the groups."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            groups.append({**{k: v for k, v in group.items() if k != "params"},
                           "params": [numbers[id(p)] for p in group["params"]]})  # fmt: skip
        state = {numbers[id(p)]: public(s) for p, s in self.state.items() if id(p) in numbers and public(s)}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` of an optimizer with the same groups gave. Raises ValueError if they differ."""
        saved = [dict(g) for g in state_dict["param_groups"]]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(saved, self.param_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number = {}
        for old, group in zip(saved, self.param_groups, strict=True):
            by_number.update(zip(old.pop("params"), group["params"], strict=True))
            group.update(copy.deepcopy(old))
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            param = by_number[number]
            self.state[param] = {name: restored(name, value, param) for name, value in values.items()}

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            if i:
                lines.append("")
            lines.append(f"Parameter Group {i}")
            lines += [f"    {k}: {group[k]}" for k in sorted(group) if k not in ("params", "param_names")]
        return "\n".join([*lines, ")"])


def public(state: dict) -> dict:
    """The state of one parameter without what is only a workspace."""
    return {k: v for k, v in state.items() if not k.startswith("_")}


def restored(name: str, value: object, param: Tensor) -> object:
    """A copy of a loaded value of a state, in the parameter's dtype (the step count as it is)."""
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    dtype = value._array.dtype if name == "step" else param._array.dtype
    return wrap(np.array(value._array, dtype))


def check_range(ok: bool, what: str, value: object) -> None:
    if not ok:
        raise ValueError(f"Invalid {what}: {value}")


def refuse_differentiable(differentiable: bool) -> None:
    if differentiable:
        raise NotImplementedError(
            "differentiable=True is not supported: optimizer steps are not recorded. Write the update with tensor operations "
            "and autograd.grad(..., create_graph=True) instead."
        )


def like(param: Tensor, value: float = 0.0) -> Tensor:
    """A tensor in the shape of a parameter, for its state."""
    return wrap(np.full(param._array.shape, value, param._array.dtype))


def workspace(state: dict, param: Tensor) -> np.ndarray:
    """An array to compute in, kept from step to step."""
    work = state.get("_work")
    if work is None:
        work = state["_work"] = np.empty_like(param._array)
    return work


def written(param: Tensor, times: int = 1) -> None:
    """Count writes to a parameter, so that a backward pass that needs its old value complains."""
    param.counter().version += times
