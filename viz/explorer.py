"""Change a leaf and see what follows: sliders and fields on the leaves of a function; graph, values and gradients live.

    viz.explore(lambda x, w: (x * w).tanh(), x=2.0, w=3.0)

The function runs again, forward and backward, after each change: the one part of viz that needs the kernel while it is
used. May import ipywidgets. Makes tensors with the framework of the leaves or of the function, found by what it offers
(``tensor`` and ``autograd``), never by name.
"""

from __future__ import annotations

import html
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import ipywidgets as widgets
import numpy as np

from .graph import is_tensor
from .page import frame, page, slim
from .payload import payload
from .record import Recording
from .stepper import Pane

EDITABLE = 12  # a leaf with more entries keeps its values; only its requires_grad can be changed


def _speaks(module: Any) -> bool:
    return (
        isinstance(module, ModuleType)
        and callable(getattr(module, "tensor", None))
        and hasattr(module, "autograd")
    )


def _framework(f: Callable, leaves: Mapping[str, Any]) -> ModuleType:
    """The module that makes tensors: that of a tensor among the leaves, else one that the function's own code names."""
    for leaf in leaves.values():
        if is_tensor(leaf):
            return sys.modules[type(leaf).__module__.partition(".")[0]]
    known = inspect.getclosurevars(f) if inspect.isfunction(f) else None
    around = [*known.nonlocals.values(), *known.globals.values()] if known else []
    around += list(getattr(f, "__globals__", {}).values())
    found = next((m for m in around if _speaks(m)), None)
    if found is None:
        raise TypeError(
            "viz.explore cannot tell which framework the function uses: pass a leaf as a tensor, as "
            "explore(f, x=torch.tensor(2.0)), or import the framework where the function is written."
        )
    return found


class _Leaf:
    """One leaf: its numbers, whether it requires grad, and the widgets that change both."""

    def __init__(self, name: str, value: Any, changed: Callable[[], None]):
        given = value.detach().numpy() if is_tensor(value) else value
        try:
            self.values = np.array(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"leaf {name!r} must be a number, a list of numbers or a tensor: {error}"
            ) from None
        self.name, self._changed = name, changed
        shape = "" if self.values.ndim == 0 else f" {self.values.shape}"
        self.grad = widgets.Checkbox(
            value=True,
            description=f"{name}{shape}",
            indent=False,
            tooltip=f"requires_grad of {name}",
            layout=widgets.Layout(width="auto", min_width="7em"),
        )
        self.grad.observe(lambda _: changed(), "value")
        self.fields: list[Any] = []
        if self.values.size == 1:
            self.fields = [self._slider(float(self.values.ravel()[0]))]
        elif self.values.size <= EDITABLE:
            self.fields = [self._field(i, float(x)) for i, x in enumerate(self.values.ravel())]
        note = [] if self.fields else [widgets.Label(f"{self.values.size} entries: kept as they are")]
        self.row = widgets.HBox(
            [self.grad, *self.fields, *note],
            layout=widgets.Layout(flex_flow="row wrap", align_items="center"),
        )

    def _slider(self, value: float) -> widgets.FloatSlider:
        reach = 3 * max(1.0, abs(value))
        slider = widgets.FloatSlider(
            value=value, min=value - reach, max=value + reach, step=reach / 150, readout_format=".3g"
        )
        slider.layout.width = "min(380px, 100%)"
        slider.observe(lambda change: self._set(0, change["new"]), "value")
        return slider

    def _field(self, index: int, value: float) -> widgets.FloatText:
        where = ", ".join(map(str, np.unravel_index(index, self.values.shape)))
        field = widgets.FloatText(
            value=value, step=0.1, tooltip=f"{self.name}[{where}]", layout=widgets.Layout(width="72px")
        )
        field.observe(lambda change: self._set(index, change["new"]), "value")
        return field

    def _set(self, index: int, value: float) -> None:
        self.values.reshape(-1)[index] = value
        self._changed()

    def tensor(self, framework: ModuleType) -> Any:
        return framework.tensor(self.values.tolist(), requires_grad=bool(self.grad.value))


class Explore(widgets.VBox):
    """The leaves of ``f`` as controls over its graph. ``set(x=1.0)`` does what a slider does; ``result``, ``grads``."""

    def __init__(self, f: Callable, leaves: Mapping[str, Any], view: str | None = "cards"):
        if not callable(f):
            raise TypeError(f"viz.explore needs a function of the leaves, but got {type(f).__name__}")
        if not leaves:
            raise TypeError("viz.explore needs at least one leaf to change: explore(f, x=2.0)")
        self.f, self.view, self._quiet = f, view, False
        self._framework = _framework(f, leaves)
        self.leaves = {name: _Leaf(name, value, self._run) for name, value in leaves.items()}
        self.message = widgets.HTML()
        self.data = self._record()
        self.pane = Pane(data=self.data, step=len(self.data["steps"]))
        self.pane.layout.width = "100%"
        super().__init__([*(leaf.row for leaf in self.leaves.values()), self.message, self.pane])

    @property
    def name(self) -> str:
        own = getattr(self.f, "__name__", type(self.f).__name__)
        return "f" if own == "<lambda>" else own

    def _record(self) -> dict:
        tensors = {name: leaf.tensor(self._framework) for name, leaf in self.leaves.items()}
        code = getattr(self.f, "__code__", None)
        recording = Recording()
        if code is not None:
            recording.start(None, code.co_filename)
        try:
            self.result = self.f(**tensors)
        finally:
            if code is not None:
                recording.stop()
        data = payload(self.result, view=self.view, names=tensors | {self.name: self.result}, verb="explore")
        self.grads = {name: None if t.grad is None else t.grad.numpy() for name, t in tensors.items()}
        return slim(data)

    def _run(self) -> None:
        """After a change: the new picture, or what went wrong in words, with the old picture left standing."""
        if self._quiet:
            return
        try:
            self.data = self._record()
        except Exception as error:  # the learner's function may raise anything: it is shown, not hidden
            text = f"{type(error).__name__}: {error}"
            self.message.value = f"<pre role='alert'>{html.escape(text)}</pre>"
            return
        self.message.value = ""
        self.pane.data = self.data

    def set(self, **values: Any) -> None:
        """Give leaves new numbers, as ``set(x=1.0, w=[1, 2])``. Raises KeyError or ValueError where that cannot be."""
        for name, value in values.items():
            if name not in self.leaves:
                raise KeyError(f"no leaf is called {name!r}; there are {', '.join(self.leaves)}")
            leaf = self.leaves[name]
            new = np.array(value, dtype=np.float64)
            if new.shape != leaf.values.shape:
                raise ValueError(f"leaf {name!r} has shape {leaf.values.shape}, the new value {new.shape}")
        self._quiet = True
        for name, value in values.items():
            leaf = self.leaves[name]
            leaf.values = np.array(value, dtype=np.float64)
            for field, x in zip(leaf.fields, leaf.values.ravel(), strict=False):
                if isinstance(field, widgets.FloatSlider):
                    field.min, field.max = min(field.min, x), max(field.max, x)
                field.value = float(x)
        self._quiet = False
        self._run()

    def __repr__(self) -> str:
        short = (f"{n}={_short(leaf.values)}" for n, leaf in self.leaves.items())
        line = f"Explore({self.name}: {', '.join(short)} → {_short(self.result.detach().numpy())})"
        return line if len(line) < 110 else line[:108] + "…"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        options = {"step": len(self.data["steps"])}
        return bundle | {"text/html": frame(self.data, options=options), "text/plain": repr(self)}

    def save(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write what is shown now as a page (.html)."""
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(
                f"cannot save as {path.suffix or 'a file without an ending'!r}: give a name that ends in .html"
            )
        path.write_text(
            page(self.data, title=title, options={"step": len(self.data["steps"])}), encoding="utf-8"
        )
        return path


def _short(values: np.ndarray) -> str:
    if values.size == 1:
        return f"{float(values.ravel()[0]):.4g}"
    return "[" + ", ".join(f"{x:.4g}" for x in values.ravel()[:4]) + (", …]" if values.size > 4 else "]")


def explore(f: Callable, *, view: str | None = "cards", **leaves: Any) -> Explore:
    """Sliders and fields on the ``leaves`` of ``f``; its graph, values and gradients follow.

    ``leaves``: numbers, lists of numbers or tensors, passed to ``f`` by name as tensors with ``requires_grad=True`` (a
    box by each name switches it off). ``f`` returns a scalar tensor. ``view``: as of ``viz.step``.
    """
    return Explore(f, leaves, view)
