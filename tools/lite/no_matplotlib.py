"""A replacement for matplotlib on a site without it: whatever is plotted, `show` says once that there are no figures."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

MISSING = "This site has no matplotlib, so its figures are left out. Everything else runs as on a computer."


class Nothing:
    """Accepts any use that a lesson makes of a figure or its axes, and draws nothing."""

    def __call__(self, *values: Any, **options: Any) -> Nothing:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.subplots if name == "subplots" else self

    def __repr__(self) -> str:
        return "(no figure)"

    def __getitem__(self, key: Any) -> Nothing:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def subplots(self, rows: int = 1, columns: int = 1, **options: Any) -> Any:
        """Axes in the shape in which a figure gives them."""
        rows, columns = options.get("nrows", rows), options.get("ncols", columns)
        axes = np.full((rows, columns), None, dtype=object)
        for place in np.ndindex(rows, columns):
            axes[place] = Nothing()
        axes = axes.squeeze()
        return axes if axes.ndim else axes.item()


class _Module(ModuleType):
    """A module with every name except one that would identify it as a tensor framework."""

    __path__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("tensor", "Tensor"):
            raise AttributeError(name)
        return Nothing()


class _Modules(MetaPathFinder, Loader):
    """Finds every module of matplotlib."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.startswith("matplotlib.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "matplotlib.figure":
            module.Figure = type("Figure", (), {})
        elif module.__name__ == "matplotlib.pyplot":
            module.show, module.subplots = _show, _subplots


_said: list[str] = []


def _show(*values: Any, **options: Any) -> None:
    if not _said:
        _said.append(MISSING)
        print(MISSING)


def _subplots(rows: int = 1, columns: int = 1, **options: Any) -> tuple[Nothing, Any]:
    return Nothing(), Nothing().subplots(rows, columns, **options)


sys.meta_path.append(_Modules())
for _name in ("matplotlib_inline", "matplotlib_inline.backend_inline"):  # they show figures in a notebook
    sys.modules[_name] = _Module(_name)
sys.modules[__name__].__class__ = _Module
__version__, __version_info__, rcParams = "0", (0, 0), Nothing()
