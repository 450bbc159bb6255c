"""Modules that hold other modules: in order, in a list, by name."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping

from ..basics import check
from ..missing import OPERATORS, complete
from . import messages
from .module import Module


class _Numbered(Module):
    """Modules under the names "0", "1", ...: the common part of Sequential and ModuleList."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator:
        return iter(self._modules.values())

    def _key(self, index: int) -> str:
        index = operator.index(index)
        check(-len(self) <= index < len(self), "index {} is out of range", index, error=IndexError)
        return list(self._modules)[index]

    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index: int, value: Module) -> None:
        setattr(self, self._key(index), value)

    def append(self, module: Module) -> _Numbered:
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable) -> _Numbered:
        """Add several modules at the end. Returns self."""
        given = type(self), type(modules)
        check(isinstance(modules, Iterable), messages.EXTEND, *given, error=TypeError)
        for module in list(modules):
            self.append(module)
        return self


class Sequential(_Numbered):
    """Modules that are called one after the other, each with the result of the one before.

    `Sequential(a, b)` numbers them; `Sequential(OrderedDict(first=a, second=b))` names them.
    """

    def __init__(self, *args: Module | OrderedDict[str, Module]):
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: object) -> object:
        """The modules applied to `input` one after the other."""
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules that are registered, so that their parameters are found."""

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        self.extend(modules.values() if isinstance(modules, OrderedDict) else modules or ())

    def __repr__(self) -> str:
        lines, first = [], 0  # equal neighbours are printed once: (0-2): 3 x Linear(...)
        for text, run in itertools.groupby(map(repr, self)):
            count = len(list(run))
            place = f"({first}): " if count == 1 else f"({first}-{first + count - 1}): {count} x "
            lines.append((place + text).replace("\n", "\n  "))
            first += count
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{self._get_name()}()"


class ModuleDict(Module):
    """Modules by name, registered, so that their parameters are found."""

    def __init__(self, modules: Mapping[str, Module] | None = None):
        super().__init__()
        self.update({} if modules is None else modules)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules by name, or replace those with the same names."""
        check(isinstance(modules, Iterable), messages.UPDATE, type(modules), error=TypeError)
        for name, module in dict(modules).items():
            self[name] = module

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Pairs of name and module."""
        return self._modules.items()


for _cls in (Sequential, ModuleList, ModuleDict):
    complete(_cls, f"nn.{_cls.__name__}", OPERATORS)
__all__ = ["ModuleDict", "ModuleList", "Sequential"]
