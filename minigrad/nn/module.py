"""Module: parameters, buffers and submodules under names, and a `forward` that uses them.

Attributes that are Parameters or Modules are registered as they are assigned; everything that walks over a model
(`parameters`, `state_dict`, `train`, `to`, the printed form) follows from that.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..autograd.node import RemovableHandle
from ..tensor import Tensor
from .hooks import ModuleBackwardHooks, hook_last_node
from .parameter import Buffer, Parameter

HOOKS = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks", "_hooks_with_kwargs",
    "_hooks_always_called", "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # fmt: skip


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` found: keys that the module has and the dict has not, and the other way round."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class Module:
    """Base class of all layers and models.

    A subclass calls `super().__init__()`, assigns its parts as attributes, and defines `forward`. Calling the module
    runs `forward` and the hooks around it.
    """

    dump_patches = False
    _version = 1
    training: bool
    _hooked: bool  # has there ever been a hook around forward?
    call_super_init = False

    def __init__(self, *args: object, **kwargs: object):
        if args or kwargs:
            what = f"an unexpected keyword argument '{next(iter(kwargs))}'" if kwargs else None
            name = type(self).__name__
            raise TypeError(
                f"{name}.__init__() got {what}"
                if what
                else f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        state = self.__dict__
        state["training"], state["_hooked"], state["_is_full_backward_hook"] = True, False, None
        state["_parameters"], state["_buffers"], state["_modules"] = {}, {}, {}
        state["_non_persistent_buffers_set"] = set()
        for name in HOOKS:
            state[name] = OrderedDict()

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        for name in HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_hooked", any(self.__dict__[name] for name in HOOKS))

    def forward(self, *input: object) -> object:
        """Compute the result. Every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # ------------------------------------------------------------------ calling

    def __call__(self, *args, **kwargs):
        if self._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> object:
        """forward pre-hooks, forward, forward hooks; around them what backward hooks need."""
        called = set()
        try:
            for key, hook in list(self._forward_pre_hooks.items()):
                if key in self._hooks_with_kwargs:
                    result = hook(self, args, kwargs)
                    if result is not None:
                        if not isinstance(result, tuple) or len(result) != 2:
                            raise RuntimeError(
                                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                            )
                        args, kwargs = result
                else:
                    result = hook(self, args)
                    if result is not None:
                        args = result if isinstance(result, tuple) else (result,)
            backward, full = None, self._is_full_backward_hook is not False
            if self._backward_pre_hooks or (full and self._backward_hooks):
                hooks = self._backward_hooks.values() if full else ()
                backward = ModuleBackwardHooks(self, hooks, self._backward_pre_hooks.values())
                args = backward.wrap_inputs(args)
            result = self.forward(*args, **kwargs)
            for key, hook in list(self._forward_hooks.items()):
                called.add(key)
                result = self._run_forward_hook(key, hook, args, kwargs, result)
            if backward is not None:
                result = backward.wrap_outputs(result)
            if not full and self._backward_hooks:
                hook_last_node(self, self._backward_hooks.values(), args, result)
            return result
        except Exception:
            for key, hook in list(self._forward_hooks.items()):
                if key in self._hooks_always_called and key not in called:
                    try:
                        self._run_forward_hook(key, hook, args, kwargs, None)
                    except Exception as second:  # the first error is the one to be seen
                        warnings.warn(
                            "module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                            f"error was raised in forward: {second}",
                            UserWarning,
                            stacklevel=2,
                        )
            raise

    def _run_forward_hook(
        self, key: int, hook: Callable, args: tuple, kwargs: dict, result: object
    ) -> object:
        given = (
            hook(self, args, kwargs, result) if key in self._hooks_with_kwargs else hook(self, args, result)
        )
        return result if given is None else given

    # ------------------------------------------------------------------ hooks

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments.

        prepend: before all other hooks. with_kwargs: call `hook(module, args, kwargs)`, which returns both or None.
        """
        return self._add_hook(self._forward_pre_hooks, hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output.

        with_kwargs: call `hook(module, args, kwargs, output)`. always_call: also if an error is raised.
        """
        return self._add_hook(self._forward_hooks, hook, prepend, with_kwargs, always_call)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the outputs are there; it may return new ones."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are there.

        Both are tuples with None for what is no tensor or has no gradient. What the hook returns replaces grad_input.
        If no input requires grad it is called with grad_input of None as soon as grad_output is there, with a warning.
        """
        self._choose_backward_hooks(True)
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Old PyTorch's: `hook(module, grad_input, grad_output)` at the last node of forward, whose inputs it sees.

        Where forward makes several nodes these are not the module's inputs; use register_full_backward_hook.
        """
        self._choose_backward_hooks(False)
        return self._add_hook(self._backward_hooks, hook)

    def _choose_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of "
                "them."
            )
        self.__dict__["_is_full_backward_hook"] = full

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` collects."""
        return self._add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict` has collected; it may change it."""
        return self._add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading."""
        return self._add_hook(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may change the lists of keys in place."""
        return self._add_hook(self._load_state_dict_post_hooks, hook)

    def _add_hook(
        self,
        hooks: OrderedDict,
        hook: Callable,
        prepend: bool = False,
        with_kwargs: bool = False,
        always: bool = False,
    ) -> RemovableHandle:
        handle = RemovableHandle(hooks, self._hooks_with_kwargs, self._hooks_always_called)
        hooks[handle.id] = hook
        self.__dict__["_hooked"] = True
        if with_kwargs:
            self._hooks_with_kwargs[handle.id] = True
        if always:
            self._hooks_always_called[handle.id] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    # ------------------------------------------------------------------ attributes

    def __setattr__(self, name: str, value: object) -> None:
        state = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in state:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif name in state.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            if "_modules" not in state:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_modules")
            state["_modules"][name] = value
        elif name in state.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            state["_modules"][name] = None
        elif isinstance(value, Buffer):
            if "_buffers" not in state:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in state.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
                )
            state["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, place: str) -> None:
        """Make room for a new registration under `name`, which keeps its place in the order."""
        state = self.__dict__
        state.pop(name, None)
        for held in {"_parameters", "_buffers", "_modules"} - {place}:
            state[held].pop(name, None)
        state["_non_persistent_buffers_set"].discard(name)

    def __getattr__(self, name: str):
        state = self.__dict__
        for held in ("_parameters", "_modules", "_buffers"):
            found = state.get(held)
            if found is not None and name in found:
                return found[name]
        if name == "_hooked":  # called before super().__init__(): PyTorch misses this one first
            name = "_backward_hooks"
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for held in (self._parameters, self._buffers, self._modules):
            if name in held:
                del held[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = (*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers)
        return sorted({n for n in names if not n[0].isdigit()})

    def _check_name(self, name: str, kind: str, held: dict) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__module__}.{type(name).__name__}"
                            .replace("builtins.", ""))  # fmt: skip
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in held:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name, or note with None that there is none. `self.name = param` does the same."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained; persistent ones go into the state dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(
            name
        )

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under a name. `self.name = module` does the same."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name(name, "module", self._modules)
        self._modules[name] = module

    register_module = add_module

    def get_submodule(self, target: str) -> Module:
        """The submodule at a dotted path, such as "encoder.0"; "" is the module itself."""
        module = self
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at a dotted path, in the place of another or, unless `strict`, as a new one."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            if not hasattr(parent, name):
                raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
            if not isinstance(getattr(parent, name), Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        return self._get_tensor(target, Parameter, "is not an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path."""
        found = self._get_tensor(target, Tensor, "is not a buffer")
        path, _, name = target.rpartition(".")
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _get_tensor(self, target: str, kind: type, complaint: str):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        found = getattr(module, name)
        if not isinstance(found, kind):
            raise AttributeError(f"`{name}` {complaint}")
        return found

    # ------------------------------------------------------------------ walking over the parts

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """(dotted name, module) of this module (name "") and everything below it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and everything below it."""
        return (m for _, m in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the direct submodules."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        return (m for _, m in self.named_children())

    def _named_tensors(self, held: str, prefix: str, recurse: bool, remove_duplicate: bool):
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, t in getattr(module, held).items():
                if t is not None and id(t) not in seen:
                    if remove_duplicate:
                        seen.add(id(t))
                    yield f"{path}.{name}" if path else name, t

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter) of this module and, with `recurse`, of everything below it."""
        return self._named_tensors("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, for an optimizer."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(dotted name, buffer) of this module and, with `recurse`, of everything below it."""
        return self._named_tensors("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    # ------------------------------------------------------------------ changing all parts

    def apply(self, fn: Callable[[Module], None]) -> Module:
        """Call `fn(module)` for every submodule, then for this module. Returns self."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Module:
        """Training mode, for layers such as Dropout and BatchNorm that behave differently in it. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Module:
        """Evaluation mode: `train(False)`. It does not turn off gradients."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Train all parameters, or freeze them. Returns self."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or overwrite them with zeros."""
        zero_gradients(self.parameters(), set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        """Replace the values of all parameters, gradients and buffers by `fn` of them; the objects stay."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        with no_grad():
            for p in self._parameters.values():
                if p is None:
                    continue
                grad = p.grad
                p.data = fn(p.data)
                if grad is not None:
                    moved = fn(grad)
                    moved._requires_grad = grad._requires_grad
                    p.grad = None
                    p.grad = moved
            for name, b in self._buffers.items():
                if hasattr(b, "materialize"):  # of a lazy module
                    b.data = fn(b.data)
                elif b is not None:
                    self._buffers[name] = fn(b)
        return self

    def to(self, *args: object, **kwargs: object) -> Module:
        """Floating point parameters and buffers in another dtype, in place. Returns self.

        Takes a dtype, the device "cpu", or a tensor whose dtype is taken. Raises TypeError for integer dtypes.
        """
        wanted = kwargs.get("dtype")
        for given in (*args, kwargs.get("device"), kwargs.get("tensor")):
            if isinstance(given, dtypes.dtype):
                wanted = given
            elif isinstance(given, Tensor):
                wanted = given.dtype
            elif given is not None and not isinstance(given, bool) and str(given) != "cpu":
                raise RuntimeError(f"minigrad runs on the CPU only; there is no device {given!r}")
        if wanted is None:
            return self
        if not wanted.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted!r}"
            )
        return self._apply(lambda t: t.to(wanted) if t.is_floating_point() else t)

    def float(self) -> Module:
        """All floating point parameters and buffers as float32. Returns self."""
        return self.to(dtypes.float32)

    def double(self) -> Module:
        """All floating point parameters and buffers as float64. Returns self."""
        return self.to(dtypes.float64)

    def half(self) -> Module:
        """All floating point parameters and buffers as float16. Returns self."""
        return self.to(dtypes.float16)

    def type(self, dst_type: dtypes.dtype) -> Module:
        """All parameters and buffers as `dst_type`. Returns self."""
        return self._apply(lambda t: t.to(dst_type))

    def cuda(self, device: object = None) -> Module:
        """Raises RuntimeError: there are no other devices."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def cpu(self) -> Module:
        """Does nothing: everything is on the CPU. Returns self."""
        return self

    # ------------------------------------------------------------------ state

    def state_dict(
        self, *args: object, destination: dict | None = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Tensor]:
        """All parameters and persistent buffers by dotted name. They share memory with the module.

        Returns an OrderedDict of detached tensors, or with keep_vars of the parameters themselves.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        for name, t in self._own_state().items():
            if t is not None:
                destination[prefix + name] = t if keep_vars else t.detach()
        if self._has_extra_state():
            destination[prefix + "_extra_state"] = self.get_extra_state()
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            if hook(self, destination, prefix, metadata) is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _own_state(self) -> dict[str, Tensor | None]:
        persistent = {n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}
        return {**self._parameters, **persistent}

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not Module.get_extra_state

    def get_extra_state(self) -> object:
        """What a subclass wants to have in the state dict besides tensors."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. Override it in your module."
        )

    def set_extra_state(self, state: object) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. Override it in your module."
        )

    def load_state_dict(
        self, state_dict: Mapping, strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy the values of a state dict into this module's parameters and buffers.

        strict: the keys must be exactly this module's. assign: put the dict's tensors in place of the module's.
        Raises RuntimeError that lists all missing, unexpected and misshapen keys.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None) or {}
        self._load(OrderedDict(state_dict), "", metadata, assign, missing, unexpected, errors)
        if strict:
            for keys, word in ((unexpected, "Unexpected"), (missing, "Missing")):
                if keys:
                    quoted = ", ".join(f'"{k}"' for k in keys)
                    errors.insert(0, f"{word} key(s) in state_dict: {quoted}. ")
        if errors:
            lines = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}")
        return IncompatibleKeys(missing, unexpected)

    def _load(
        self,
        state: dict,
        prefix: str,
        metadata: Mapping,
        assign: bool,
        missing: list,
        unexpected: list,
        errors: list,
    ) -> None:
        """Load what lies under `prefix`, in this module and then in its children; collect what does not fit."""
        local = {**metadata.get(prefix[:-1], {})}
        if assign:
            local["assign_to_params_buffers"] = True
        self._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                part = {k: v for k, v in state.items() if k.startswith(below)}
                child._load(part, below, metadata, assign, missing, unexpected, errors)
        keys = IncompatibleKeys(missing, unexpected)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                    "incompatible_keys need to be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: dict,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own parameters and buffers, not those of its children; a subclass may change how.

        local_metadata: {"version": ...} of the class that saved them, and how they are to be taken over.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {name: t for name, t in self._own_state().items() if t is not None}
        for name, t in own.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, key, t, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + "_extra_state"
        if type(self).set_extra_state is not Module.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict if strict else ():
            first, _, rest = key.removeprefix(prefix).partition(".")
            known = first in self._modules if rest else first in own
            if key.startswith(prefix) and key != extra and not known:
                unexpected_keys.append(key)

    def _load_one(self, name: str, key: str, t: Tensor, given: object, assign: bool, errors: list) -> None:
        if not isinstance(given, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
                f"but received {type(given)}"
            )
            return
        if t.dim() == 0 and tuple(given.shape) == (1,):
            given = given[0]
        if given.shape != t.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in current "
                f"model is {t.shape}."
            )
            return
        try:
            if not assign:
                with no_grad():
                    t.copy_(given)
                return
            if isinstance(t, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(t.requires_grad)
                else:
                    given = Parameter(given, t.requires_grad)
            setattr(self, name, given)
        except Exception as error:  # is told together with everything else that does not fit
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {t.shape} and whose '
                f"dimensions in the checkpoint are {given.shape}, an exception occurred : {error.args}."
            )

    # ------------------------------------------------------------------ printing

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the brackets of the printed form; subclasses say it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(child))}" for name, child in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = "\n  ".join(lines + children)
        return f"{self._get_name()}(\n  {body}\n)" if body else f"{self._get_name()}()"


def indented(text: str) -> str:
    """`text` with all lines after the first moved to the right."""
    return text.replace("\n", "\n  ")


def typename(value: object) -> str:
    """How PyTorch's messages call the type of something: 'torch.FloatTensor', 'int', 'numpy.ndarray'."""
    if isinstance(value, Tensor) and type(value) is Tensor:
        return value.dtype.tensor_type
    kind = value if isinstance(value, type) else type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def zero_gradients(parameters: Iterator[Tensor], set_to_none: bool) -> None:
    """Forget gradients, or overwrite them with zeros."""
    for p in parameters:
        grad = p._meta.grad if p._meta is not None else None
        if grad is None:
            continue
        if set_to_none:
            p._meta.grad = None
        else:
            grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
            grad.zero_()


__all__ = ["Module"]
