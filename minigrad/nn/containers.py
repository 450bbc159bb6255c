"""Modules that hold other modules: in order, in a list."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from ..missing import OPERATORS, complete
from .module import Module, moved_right


class _Numbered(Module):
    """Modules under the names "0", "1", ...: what Sequential and ModuleList share."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _key(self, index: int) -> str:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def append(self, module: Module) -> _Numbered:
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> _Numbered:
        """Add several modules at the end. Returns self."""
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
        """The modules applied to `input` in turn."""
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules that are registered, so that their parameters are found."""

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        self.extend(modules.values() if isinstance(modules, OrderedDict) else modules or ())

    def __repr__(self) -> str:
        runs: list[list] = []  # equal neighbours are printed once: (0-2): 3 x Linear(...)
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [
            f"({a}): {moved_right(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {moved_right(text)}"
            for a, b, text in runs
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{self._get_name()}()"


for _cls in (Sequential, ModuleList):
    complete(_cls, f"nn.{_cls.__name__}", OPERATORS)
__all__ = ["ModuleList", "Sequential"]
