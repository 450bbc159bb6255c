"""Module: parameters, buffers and submodules under names, and a `forward` that uses them.

Attributes that are Parameters or Modules are registered as they are assigned; everything that walks over a model
(`parameters`, `state_dict`, `train`, `to`, the printed form) follows from that.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..basics import check
from ..missing import answering, guard, of_class
from ..tensor import Tensor
from . import messages
from .hooks import Hooked
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", "missing_keys unexpected_keys")):
    """The result of `load_state_dict`: keys that only the module has, and keys that only the dict has."""

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"


class Module(Hooked):
    """Base class of all layers and models.

    A subclass calls `super().__init__()`, assigns its parts as attributes, and defines `forward`. Calling the module
    runs `forward` and the hooks around it.
    """

    training: bool

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith(__package__) and "__init__" in vars(cls):
            cls.__init__ = answering(cls.__init__, "nn")

    def __init__(self):
        state = self.__dict__
        state["training"], state["_non_persistent_buffers_set"] = True, set()
        state["_parameters"], state["_buffers"], state["_modules"] = {}, {}, {}
        super().__init__()

    def forward(self, *input: object) -> object:
        """Compute the result. Every subclass defines it."""
        raise NotImplementedError(messages.NO_FORWARD.format(self._get_name()))

    def __setattr__(self, name: str, value: object) -> None:
        for held, (kind, _, what, expected) in PARTS.items():
            parts, fits = self.__dict__.get(held), isinstance(value, kind)
            if (fits and held != "_buffers") or (parts is not None and name in parts):
                check(parts is not None, messages.NOT_BEGUN, what, error=AttributeError)
                if value is not None and not fits:
                    raise TypeError(f"cannot assign '{typename(value)}' as {expected} expected)".format(name))
                if name not in parts:
                    self._forget(name)
                parts[name] = value
                return
        object.__setattr__(self, name, value)

    def _forget(self, name: str) -> None:
        for held in (self.__dict__, self._parameters, self._modules, self._buffers):
            held.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name: str):
        state = self.__dict__
        for held in ("_parameters", "_modules", "_buffers"):
            result = state.get(held)
            if result is not None and name in result:
                return result[name]
        if name == "_hooked":  # called before super().__init__(): PyTorch reports this attribute first
            name = "_backward_hooks"
        message = f"'{type(self).__name__}' object has no attribute '{name}'"
        raise of_class(type(self), name) or AttributeError(message)

    def __delattr__(self, name: str) -> None:
        if not any(name in held for held in (self._parameters, self._buffers, self._modules)):
            object.__delattr__(self, name)
        self._forget(name)

    def __dir__(self) -> list[str]:
        names = (*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers)
        return sorted({n for n in names if not n[0].isdigit()})

    def _register(self, held: str, name: str, value: object) -> None:
        kind, what, _, _ = PARTS[held]
        check(held in self.__dict__, messages.NOT_BEGUN, what, error=AttributeError)
        check(isinstance(name, str), "{} name should be a string. Got {}", what, type(name), error=TypeError)
        message = '{} name can\'t contain "."' + (", got: {}" if kind is Module else "")
        check("." not in name, message, what, name, error=KeyError)
        fresh = name in self.__dict__[held] or not hasattr(self, name)
        check(fresh, "attribute '{}' already exists", name, error=KeyError)
        if value is not None and not isinstance(value, kind):
            given, expected = typename(value), "torch.nn.Parameter" if kind is Parameter else "torch Tensor"
            message = "{} is not a Module subclass" if kind is Module else messages.WRONG_PART
            raise TypeError(message.format(given, what, name, expected))
        self.__dict__[held][name] = value

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name, or None for one that the module does not have. `self.name = param` does the same."""
        self._register("_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained; persistent ones go into the state dict."""
        self._register("_buffers", name, tensor)
        self._non_persistent_buffers_set.discard(name)
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under a name. `self.name = module` does the same."""
        self._register("_modules", name, module)

    def get_submodule(self, target: str) -> Module:
        """The module with a dotted name, such as "layers.0"; this module for ""."""
        module = self
        for name in filter(None, target.split(".")):
            own = module._get_name()
            check(hasattr(module, name), messages.NO_ATTRIBUTE, own, name, error=AttributeError)
            module = getattr(module, name)
            check(isinstance(module, Module), "`{}` is not an nn.Module", name, error=AttributeError)
        return module

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """(dotted name, module) for this module (name "") and all below it, each once unless `remove_duplicate` is False."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and everything below it."""
        return (m for _, m in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the direct submodules."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        return (m for _, m in self.named_children())

    def _named_tensors(self, held: str, prefix: str, recurse: bool, once: bool) -> Iterator[tuple]:
        seen = set()
        for path, module in self.named_modules(None, prefix, once) if recurse else [(prefix, self)]:
            for name, t in getattr(module, held).items():
                if t is not None and id(t) not in seen:
                    if once:
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

    def apply(self, fn: Callable[[Module], None]) -> Module:
        """Call `fn(module)` for every submodule, then for this module. Returns self."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Module:
        """Switch to training mode, for layers such as Dropout and BatchNorm that behave differently in it. Returns self."""
        check(isinstance(mode, bool), "training mode is expected to be boolean", error=ValueError)
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Module:
        """Switch to evaluation mode: `train(False)`. It does not turn off gradients."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set whether all parameters require grad. Returns self."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Discard the gradients of all parameters, or overwrite them with zeros."""
        zero_gradients(self.parameters(), set_to_none)

    def to(self, *args: object, **kwargs: object) -> Module:
        """Convert floating point parameters and buffers to another dtype, in place. Returns self.

        Takes a dtype, the device "cpu", or a tensor whose dtype is used. Raises TypeError for integer dtypes.
        """
        for module in self.modules():
            for name, t in (*module._parameters.items(), *module._buffers.items()):
                if t is None or not t.is_floating_point():
                    continue
                new, grad = t.detach().to(*args, **kwargs), t.grad
                check(new.is_floating_point(), messages.MODULE_TO, new.dtype, error=TypeError)
                if new.dtype is t.dtype:
                    continue
                if name in module._buffers:
                    module._buffers[name] = new
                else:
                    t.grad, t.data = None, new
                    t.grad = None if grad is None else grad.detach().to(new.dtype)
        return self

    def cpu(self) -> Module:
        """The module itself: it is on the CPU."""
        return self

    def float(self) -> Module:
        """Convert all floating point parameters and buffers to float32. Returns self."""
        return self.to(dtypes.float32)

    def double(self) -> Module:
        """Convert all floating point parameters and buffers to float64. Returns self."""
        return self.to(dtypes.float64)

    def state_dict(self, *, keep_vars: bool = False) -> OrderedDict[str, Tensor]:
        """All parameters and persistent buffers by dotted name. They share memory with the module.

        Returns an OrderedDict of detached tensors or, with keep_vars, of the parameters themselves.
        """
        result = OrderedDict()
        for path, module in self.named_modules(remove_duplicate=False):
            for name, t in {**module._parameters, **module._buffers}.items():
                if t is not None and name not in module._non_persistent_buffers_set:
                    result[f"{path}.{name}" if path else name] = t if keep_vars else t.detach()
        return result

    def load_state_dict(self, state_dict: Mapping, strict: bool = True) -> _IncompatibleKeys:
        """Copy the values of a state dict into this module's parameters and buffers.

        strict: the keys must be exactly this module's. Raises a RuntimeError that lists all keys that are missing, unexpected
        or have the wrong shape.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own, errors = self.state_dict(keep_vars=True), []
        missing, unexpected = [k for k in own if k not in state_dict], [k for k in state_dict if k not in own]
        for key in [k for k in own if k in state_dict]:
            t, given = own[key], state_dict[key]
            if not isinstance(given, Tensor):
                errors.append(messages.STATE_TYPE.format(key, type(given)))
            elif given.shape != t.shape and not (t.dim() == 0 and given.shape == (1,)):  # as in old files
                errors.append(messages.STATE_SIZE.format(key, given.shape, t.shape))
            else:
                with no_grad():
                    t.copy_(given.reshape(t.shape))
        for keys, word in ((unexpected, "Unexpected"), (missing, "Missing")) if strict else ():
            if keys:
                quoted = ", ".join(f'"{k}"' for k in keys)
                errors.insert(0, f"{word} key(s) in state_dict: {quoted}. ")
        if errors:
            lines = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}")
        return _IncompatibleKeys(missing, unexpected)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """The text in the parentheses of the printed form; subclasses override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = "\n  ".join(lines + children)
        return f"{self._get_name()}(\n  {body}\n)" if body else f"{self._get_name()}()"


# The kinds of parts, in the order in which they are checked: class, and name in messages.
PARTS = {
    "_parameters": (Parameter, "parameter", "parameters", "parameter '{}' (torch.nn.Parameter or None"),
    "_modules": (Module, "module", "module", "child module '{}' (torch.nn.Module or None"),
    "_buffers": (Tensor, "buffer", "buffer", "buffer '{}' (torch.nn.Buffer, torch.Tensor or None"),
}


def typename(value: object) -> str:
    """The name of something's type in PyTorch's messages: 'torch.FloatTensor', 'int', 'numpy.ndarray'."""
    kind = type(value)
    name = value.dtype.tensor_type if kind is Tensor else f"{kind.__module__}.{kind.__qualname__}"
    return name.removeprefix("builtins.")


def zero_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Discard gradients, or overwrite them with zeros."""
    for p in parameters:
        grad = p._meta.grad if p._meta is not None else None
        if grad is None:
            continue
        if set_to_none:
            p._meta.grad = None
        else:
            grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
            grad.zero_()


guard(Module, "nn.Module")
