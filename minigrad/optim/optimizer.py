"""Optimizer: what all optimizers share: parameter groups, state, hooks, printing.

A subclass defines `step`; hooks around it, and the schedules' question whether there has been one, are seen to here.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from ..autograd.captured import refuse_captured
from ..autograd.node import RemovableHandle, add_hook
from ..clock import clock
from ..nn.module import typename, zero_gradients
from ..tensor import Tensor, wrap


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
HOOKS = (
    "_step_pre_hooks", "_step_post_hooks", "_state_dict_pre_hooks", "_state_dict_post_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


def with_hooks(step: Callable) -> Callable:
    """`step` with the optimizer's hooks before and after it."""

    @functools.wraps(step)
    def hooked(*args, **kwargs):
        self = args[0]
        self._opt_called = True
        if clock.running:
            for group in self.param_groups:
                for p in group["params"]:
                    refuse_captured("add", p)
        if not self._step_pre_hooks and not self._step_post_hooks:
            return step(*args, **kwargs)
        for hook in self._step_pre_hooks.values():
            result = hook(self, args, kwargs)
            if result is not None:
                if not isinstance(result, tuple) or len(result) != 2:
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
        out = step(*args, **kwargs)
        for hook in self._step_post_hooks.values():
            hook(self, args, kwargs)
        return out

    return hooked


class Optimizer:
    """Base class. A subclass gives `defaults` (the options of a group and their values) and a `step`.

    params: tensors, or dicts of parameter groups ({"params": [...], "lr": ...}), or (name, tensor) pairs.
    """

    # options that files of older versions lack, with what they meant then
    _added_later: tuple[tuple[str, object], ...] = ()

    def __init_subclass__(cls, **options: object):
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = with_hooks(cls.__dict__["step"])

    def __init__(self, params: Iterable, defaults: dict[str, object]):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + params.dtype.tensor_type
            )
        self.defaults = defaults
        self.state: dict[Tensor, dict] = defaultdict(dict)
        self.param_groups: list[dict] = []
        self._prepare()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _prepare(self) -> None:
        """What does not belong to the state that is saved."""
        self._opt_called = False  # has there been a step? The schedules want to know
        for name in HOOKS:
            setattr(self, name, OrderedDict())

    def add_param_group(self, param_group: dict) -> None:
        """Add parameters with options of their own; options that are not given are the optimizer's.

        Raises TypeError for what is no tensor, ValueError for results of operations, for parameters that are in a group
        already, and where some have names and others have not.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will "
                "change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        params = param_group["params"] = [p[1] if isinstance(p, tuple) else p for p in params]
        if names:
            if len(names) != len(params):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            param_group["param_names"] = names
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(p)}"
                )
            if not p.is_leaf and not p.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        self._check_unique(param_group)
        self.param_groups.append(param_group)

    def _check_unique(self, new: dict) -> None:
        own = set(new["params"])
        if len(own) != len(new["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                UserWarning,
                stacklevel=4,
            )
        named = "param_names" in new
        for group in self.param_groups:
            if named != ("param_names" in group):
                which = "with names" if named else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{which} to the optimizer"
                )
        if any(p in own for group in self.param_groups for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or overwrite them with zeros. A later step skips None but acts on zeros."""
        for group in self.param_groups:
            zero_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update every parameter that has a gradient. closure: computes the loss and its gradients first."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to make a step")

    # ------------------------------------------------------------------ hooks

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return new (args, kwargs)."""
        return add_hook(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return add_hook(self._step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict` collects."""
        return self._add(self._state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict` has collected; it may return another one."""
        return self._add(self._state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; it may return another one."""
        return self._add(self._load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return self._add(self._load_state_dict_post_hooks, hook, prepend)

    def _add(self, hooks: OrderedDict, hook: Callable, prepend: bool) -> RemovableHandle:
        handle = add_hook(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    # ------------------------------------------------------------------ state

    def state_dict(self) -> dict:
        """A dict {"state": {number: {...}}, "param_groups": [...]}; parameters are numbered in the order of the groups."""
        for hook in self._state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[Tensor, int] = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(p, len(numbers))
        groups = [{**{k: v for k, v in group.items() if k != "params"},
                   "params": [numbers[p] for p in group["params"]]} for group in self.param_groups]  # fmt: skip
        state = {numbers[k] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        found = {"state": state, "param_groups": groups}
        for hook in self._state_dict_post_hooks.values():
            result = hook(self, found)
            found = found if result is None else result
        return found

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` of an optimizer with the same groups gave; its tensors are copied.

        Raises ValueError if the groups differ in number or size.
        """
        state_dict = dict(state_dict)
        for hook in self._load_state_dict_pre_hooks.values():
            result = hook(self, state_dict)
            state_dict = state_dict if result is None else result
        saved = [dict(g) for g in state_dict["param_groups"]]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(saved, self.param_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number, groups = {}, []
        for old, group in zip(saved, self.param_groups, strict=True):
            by_number.update(zip(old.pop("params"), group["params"], strict=True))
            names = {"param_names": group["param_names"]} if "param_names" in group else {}
            groups.append({"params": group["params"], **names, **copy.deepcopy(old)})
        state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            param = by_number.get(number)
            state[number if param is None else param] = (
                copy.deepcopy(values) if param is None else restored(values, param)
            )
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self) -> dict:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        if "_step_pre_hooks" not in self.__dict__:
            self._prepare()
        for group in self.param_groups:
            for name, value in self._added_later:
                group.setdefault(name, value)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            if i:
                lines.append("")
            lines.append(f"Parameter Group {i}")
            lines += [f"    {k}: {group[k]}" for k in sorted(group) if k != "params"]
        return "\n".join([*lines, ")"])


def restored(value: object, param: Tensor, name: str | None = None) -> object:
    """A copy of what was saved for a parameter, its tensors in the parameter's dtype, but the count of steps as it is."""
    if isinstance(value, Tensor):
        as_it_is = name == "step" or not param.is_floating_point()
        return wrap(np.array(value._array, value._array.dtype if as_it_is else param._array.dtype))
    if name == "step" and isinstance(value, (int, float)):
        return wrap(np.array(value, np.float32))
    if isinstance(value, dict):
        return {k: restored(v, param, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(restored(v, param) for v in value)
    return copy.deepcopy(value)
