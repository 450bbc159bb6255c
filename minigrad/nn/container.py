"""Modules that hold other modules or parameters: in order, in a list, in a dictionary."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping

from ..tensor import Tensor
from .module import Module, indented, typename
from .parameter import Parameter


def checked_index(index: int, length: int) -> int:
    """`index` counted from the front. Raises IndexError if there are not so many."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


class Sequential(Module):
    """Modules that are called one after the other, each with the result of the one before.

    `Sequential(a, b)` numbers them; `Sequential(OrderedDict(first=a, second=b))` names them.
    """

    def __init__(self, *args: Module | OrderedDict[str, Module]):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: object) -> object:
        """The modules applied to `input` in turn."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _key(self, index: int) -> str:
        return list(self._modules)[checked_index(index, len(self))]

    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, name)
        renumber(self)

    def append(self, module: Module) -> Sequential:
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Add a module before position `index`. Returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index if index >= 0 else index + len(self), module)
        self._modules.clear()
        return self.extend(modules)

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Add several modules at the end. Returns self."""
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(other)

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*list(self) * times)  # the same modules again and again

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Sequential:
        return self.extend(list(self * times)[len(self) :])


def pairs_of(given: Mapping | Iterable, who: str) -> Iterable[tuple[str, object]]:
    """The (key, value) pairs of a mapping or of an iterable of pairs. Raises TypeError or ValueError for other things."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{who}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        return given.items()
    return itertools.starmap(
        checked_pair, ((who.replace("sD", "D"), i, pair) for i, pair in enumerate(given))
    )


def checked_pair(who: str, place: int, pair: object) -> object:
    """`pair` if it is one."""
    if not isinstance(pair, Iterable):
        raise TypeError(
            f"{who} update sequence element #{place} should be Iterable; is {type(pair).__name__}"
        )
    if len(pair) != 2:
        raise ValueError(f"{who} update sequence element #{place} has length {len(pair)}; 2 is required")
    return pair


def renumber(holder: Module) -> None:
    """Number the submodules again, from 0."""
    modules = [m for _, m in holder._modules.items()]
    holder._modules.clear()
    holder._modules.update((str(i), m) for i, m in enumerate(modules))


class ModuleList(Module):
    """A list of modules that are registered, so that their parameters are found."""

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[str(checked_index(index, len(self)))]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, str(checked_index(index, len(self))), module)

    def __delitem__(self, index: int | slice) -> None:
        where = range(len(self))[index] if isinstance(index, slice) else [checked_index(index, len(self))]
        for i in where:
            delattr(self, str(i))
        renumber(self)

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add several modules at the end. Returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    __iadd__ = extend

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Add a module before position `index`."""
        if not (module is None or isinstance(module, Module)):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        modules = list(self)
        modules.insert(index, module)
        self._modules.clear()
        self.extend(modules)

    def pop(self, key: int) -> Module:
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module

    def __repr__(self) -> str:
        modules = [repr(m) for m in self]
        if not modules:
            return f"{self._get_name()}()"
        runs: list[list] = []  # equal neighbours are printed once: (0-2): 3 x Linear(...)
        for i, text in enumerate(modules):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [
            f"({a}): {indented(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {indented(text)}"
            for a, b, text in runs
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules that are registered under its keys."""

    def __init__(self, modules: Mapping[str, Module] | None = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """The keys, in the order in which they were added."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """(key, module) of each."""
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take a module out and return it."""
        return self._modules.pop(key)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules from a dictionary or from (key, module) pairs."""
        for key, module in pairs_of(modules, "ModuleDict"):
            self[key] = module


def as_parameter(value: object) -> object:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def parameter_line(name: str, value: object, kind: object) -> str:
    if isinstance(value, Tensor):
        return f"  ({name}): Parameter containing: [{kind} of size {'x'.join(map(str, value.shape))}]"
    return f"  ({name}): Object of type: {type(value).__name__}"


class ParameterList(Module):
    """A list of parameters that are registered; tensors that are put in become parameters."""

    def __init__(self, values: Iterable[object] | None = None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[object]:
        return iter(self[i] for i in range(self._size))

    def __getitem__(self, index: int | slice):
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(self._size)[index]])
        return getattr(self, str(checked_index(index, self._size)))

    def __setitem__(self, index: int, value: object) -> None:
        setattr(self, str(checked_index(index, self._size)), as_parameter(value))

    def append(self, value: object) -> ParameterList:
        """Add a value at the end. Returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[object]) -> ParameterList:
        """Add several values at the end. Returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def __call__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(parameter_line(str(i), p, getattr(p, "dtype", None)) for i, p in enumerate(self))


def checked_key(key: str) -> str:
    """`key` if it is a string, as every name of a parameter must be."""
    if not isinstance(key, str):
        raise TypeError(
            f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}'). "
            "Open an issue on github if you need non-string keys."
        )
    return key


class ParameterDict(Module):
    """A dictionary of parameters that are registered under its keys; tensors that are put in become parameters."""

    def __init__(self, parameters: Mapping[str, object] | Iterable[tuple[str, object]] | None = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str):
        return getattr(self, checked_key(key))

    def __setitem__(self, key: str, value: object) -> None:
        setattr(self, checked_key(key), as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """The keys, in the order in which they were added."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, object]]:
        """(key, value) of each."""
        return ((k, self[k]) for k in self._keys)

    def values(self) -> Iterable[object]:
        """The values."""
        return (self[k] for k in self._keys)

    def get(self, key: str, default: object = None) -> object:
        """The value of a key, or `default`."""
        return self[key] if key in self._keys else default

    def pop(self, key: str) -> object:
        """Take a value out and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, object]:
        """Take the last (key, value) out and return it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def setdefault(self, key: str, default: object = None) -> object:
        """The value of a key, which is added with the value `default` if it is not there."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(list(self.items()))

    def fromkeys(self, keys: Iterable[str], default: object = None) -> ParameterDict:
        """Another dictionary, with one value for all of these keys."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Mapping[str, object] | Iterable[tuple[str, object]]) -> None:
        """Add values from a dictionary or from (key, value) pairs. The keys of a plain dict come in alphabetical order."""
        pairs = pairs_of(parameters, "ParametersDict")
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs)
        for key, value in pairs:
            self[key] = value

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def __call__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError("ParameterDict should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(
            parameter_line(k, p, typename(p.detach()) if isinstance(p, Tensor) else None)
            for k, p in self.items()
        )


__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
