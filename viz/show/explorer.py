"""Change something and see what follows: sliders and fields on the leaves of a function, edges that can be cut; graph,
values and gradients live.

    viz.explore(lambda x, w: (x * w).tanh(), x=2.0, w=3.0)

Cutting an edge has the same effect on gradients as ``detach()`` at that place: nothing is sent along it. The function runs
again, forward and backward, after each change: the one part of viz that needs the kernel while it is used. May import
ipywidgets. Makes tensors with the framework of the leaves or of the function, recognised by its attributes (``tensor`` and
``autograd``), never by name.
"""

from __future__ import annotations

import html
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import ipywidgets as widgets
import numpy as np

from ..picture.choose import check_options, pictures_of
from ..read import rules
from ..read.arguments import Fold, Tensor, public
from ..read.graph import Edge, Graph, framework, is_tensor
from ..read.names import free, target_name
from ..read.recall import prepare
from ..read.record import Recording
from ..read.source import source_of
from ..read.text import clipped, listed, one_line
from ..read.values import Value, nested, number, same, short
from ..run.trace import run
from .live import Live
from .page import frame, page, sent
from .payload import MOST_STEPS, describe, ident
from .stepper import Pane, Stepper

Number = float | Sequence["Number"]  # a number, or nested lists of numbers
WRAPPED = {"flex_flow": "row wrap", "align_items": "center"}  # the layout of a row of controls
EDITABLE = 12  # a leaf with more entries keeps its values; only its requires_grad can be changed


def _framework(f: Callable[..., Any], leaves: Mapping[str, Any]) -> ModuleType:
    """The module that makes tensors: that of a tensor among the leaves, otherwise one among the function's variables."""
    for leaf in leaves.values():
        if is_tensor(leaf):
            return sys.modules[framework(leaf)]
    known = inspect.getclosurevars(f) if inspect.isfunction(f) else None
    around = [*known.nonlocals.values(), *known.globals.values()] if known else []
    around += list(getattr(f, "__globals__", {}).values())
    modules = (m for m in around if isinstance(m, ModuleType) and callable(getattr(m, "tensor", None)))
    found = next((m for m in modules if hasattr(m, "autograd")), None)
    if found is None:
        raise TypeError(
            "viz.explore cannot tell which framework the function uses: pass a leaf as a tensor, as "
            "explore(f, x=torch.tensor(2.0)), or import the framework where the function is written."
        )
    return found


class _Leaf:
    """One leaf: its numbers, whether it requires grad, and the widgets that change both."""

    def __init__(self, name: str, value: Any, changed: Callable[[str], None]):
        given = value.detach().numpy() if is_tensor(value) else value
        self.name, self._changed = name, changed
        self.values = self.numbers(given)
        shape = "" if self.values.ndim == 0 else f" {self.values.shape}"
        look = {"width": "auto", "min_width": "7em"}
        self.grad = widgets.Checkbox(value=True, description=f"{name}{shape}", indent=False, layout=look)
        self.grad.tooltip = f"requires_grad of {name}"
        self.grad.observe(lambda _: changed(f"requires_grad of {name}"), "value")
        self.fields: list[Any] = []
        if self.values.size == 1:
            self.fields = [self._slider(float(self.values.ravel()[0]))]
        elif self.values.size <= EDITABLE:
            self.fields = [self._field(i, float(x)) for i, x in enumerate(self.values.ravel())]
        note = [] if self.fields else [widgets.Label(f"{self.values.size} entries: kept as they are")]
        self.row = widgets.HBox([self.grad, *self.fields, *note], layout=dict(WRAPPED))

    def numbers(self, given: Any) -> np.ndarray:
        """What was given for this leaf, as numbers. Raises TypeError for anything else."""
        try:
            if given is None:
                raise TypeError("it is None")
            return np.array(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            wanted = "a number, a list of numbers or a tensor"
            raise TypeError(f"leaf {self.name!r} must be {wanted}: {error}") from None

    def _slider(self, value: float) -> widgets.FloatSlider:
        reach = 3 * max(1.0, abs(value))
        ends = {"min": value - reach, "max": value + reach, "step": reach / 150}
        slider = widgets.FloatSlider(value=value, readout_format=".3g", **ends)
        slider.layout.width = "min(380px, 100%)"
        slider.observe(lambda change: self._set(0, change["new"]), "value")
        return slider

    def _field(self, index: int, value: float) -> widgets.FloatText:
        where = ", ".join(map(str, np.unravel_index(index, self.values.shape)))
        field = widgets.FloatText(value=value, step=0.1, layout={"width": "72px"})
        field.tooltip = f"{self.name}[{where}]"
        field.observe(lambda change: self._set(index, change["new"]), "value")
        return field

    def _set(self, index: int, value: float) -> None:
        self.values.reshape(-1)[index] = value
        self._changed(self.name)

    def show(self, values: np.ndarray) -> None:
        """Take new numbers, and set the slider or the fields to them."""
        self.values = np.array(values, dtype=np.float64)
        for control, x in zip(self.fields, self.values.ravel(), strict=False):
            if isinstance(control, widgets.FloatSlider):
                control.min, control.max = min(control.min, x), max(control.max, x)
            control.value = float(x)

    def tensor(self, maker: ModuleType) -> Any:
        return maker.tensor(self.values.tolist(), requires_grad=bool(self.grad.value))


@dataclass(slots=True)
class _State:
    """Everything that can be changed, and its results: undo restores a state, and comparing two of them describes a change."""

    values: dict[str, np.ndarray]
    grad: dict[str, bool]
    cut: list[str]
    result: Value | None = None
    grads: dict[str, Value | None] = field(default_factory=dict)
    reached: dict[str, bool] = field(default_factory=dict)  # by the name of a function's result


def _labelled(graph: Graph) -> dict[str, Edge]:
    """Every edge along which a gradient flows, by its label: ``c → b``, or ``y → x (self)`` where x is used twice."""
    ends = [(e, e.target) for e in graph.edges if e.target is not None]
    plain = [f"{e.source.outputs[0].name} → {target.output(e.nr).name}" for e, target in ends]
    often = Counter(plain)
    found: dict[str, Edge] = {}
    for (e, _), label in zip(ends, plain, strict=True):
        if often[label] > 1:
            label += f" ({rules.input_names(e.source)[e.slot]})"
        found[free(label, found)] = e  # the results of two functions may have the same name
    return found


class Explore(Live, widgets.VBox):
    """The leaves of ``f`` as controls over its graph. ``set(x=1.0)`` does what a slider does; ``cut("y → x")`` cuts an edge
    (``edges`` lists them), ``join()`` joins all of them again, ``undo()`` takes back the last change. ``result`` and ``grads``
    hold the numbers."""

    def __init__(self, f: Callable[..., Any], leaves: Mapping[str, Any], **picture: Any):
        if not callable(f):
            raise TypeError(f"viz.explore needs a function, as in explore(f, x=2.0), not {type(f).__name__}")
        if not leaves:
            raise TypeError("viz.explore needs at least one leaf to change: explore(f, x=2.0)")
        self.f, self._picture, self._quiet = f, picture, False
        self._framework = _framework(f, leaves)
        self.leaves = {name: _Leaf(name, value, self._run) for name, value in leaves.items()}
        self._cut: list[str] = []
        self._past: list[_State] = []
        self._last = ""  # what was changed last: dragging a slider counts as one change
        hint = "Move a slider, or click an edge to cut it: the effect is described here."
        self.message = widgets.HTML(_said(hint), layout={"flex": "1", "width": "auto"})
        self.data, self._now = self._record()
        self.pane = Pane(data=sent(self.data), step=len(self.data["steps"]), options={"cut": True})
        self.pane.layout.width = "100%"
        self.pane.on_msg(lambda _, content, buffers: self._clicked(content))
        tip = "Undo the last change"
        self.back = widgets.Button(description="Undo", layout={"width": "auto"}, disabled=True, tooltip=tip)
        self.back.on_click(lambda _: self.undo())
        beside = widgets.HBox([self.back, self.message], layout={"align_items": "center"})
        super().__init__([*(x.row for x in self.leaves.values()), beside, self.pane])

    @property
    def name(self) -> str:
        own = getattr(self.f, "__name__", type(self.f).__name__)
        return "f" if own == "<lambda>" else own

    # -- running the function, forward and backward

    def _record(self) -> tuple[dict[str, Any], _State]:
        tensors = {name: leaf.tensor(self._framework) for name, leaf in self.leaves.items()}
        code = getattr(self.f, "__code__", None)
        with Recording(code.co_filename) if code is not None else nullcontext():
            self.result = self.f(**tensors)
        here = sys._getframe()
        graph, plain = prepare(self.result, "explore", tensors | {self.name: self.result}, here)
        if len(graph) > MOST_STEPS:
            raise ValueError(f"This graph has {len(graph):,} nodes; the limit is {MOST_STEPS:,}.")
        edges = _labelled(graph)
        graph.cut(edges[label] for label in self._cut if label in edges)
        source = graph.source or source_of(graph, here)
        view, more = self._picture.get("view"), {k: v for k, v in self._picture.items() if k != "view"}
        free = view is None and more.get("fold") is None
        views = ("cards", "functions") if free or view == "cards" else (view,)
        trace = run(graph, plain, check=True, verb="explore")
        data = describe(trace, *(p for v in views for p in pictures_of(graph, v, **more)), source=source)
        data["edge names"] = {ident(e): label for label, e in edges.items()}
        self.edges, self._ends = list(edges), {label: target_name(e) for label, e in edges.items()}
        self.grads = {name: None if t.grad is None else t.grad.numpy() for name, t in tensors.items()}
        state = self._state()
        state.result = Value.of(self.result)
        state.grads = {name: None if t.grad is None else Value.of(t.grad) for name, t in tensors.items()}
        state.reached = {f.outputs[0].name: not f.unreached for f in graph.functions}
        return data, state

    def _state(self) -> _State:
        values = {name: leaf.values.copy() for name, leaf in self.leaves.items()}
        return _State(values, {name: leaf.grad.value for name, leaf in self.leaves.items()}, list(self._cut))

    def _run(self, what: str) -> None:
        """After a change, show the new picture and what is different; or say what went wrong, and keep the old picture."""
        if self._quiet:
            return
        if what != self._last:
            self._past.append(self._now)
        self._last = what
        self._show()

    def _show(self) -> None:
        # while a slider is dragged, changes are relative to the state at the press
        before = self._past[-1] if self._past and self._last else self._now
        self.back.disabled = not self._past
        try:
            self.data, self._now = self._record()
        except Exception as error:  # the learner's function may raise anything: it is shown, not hidden
            self.message.value = _said(f"{type(error).__name__}: {error}", "alert")
            now = self._state()  # for undo; the next change is compared with the last state that worked
            self._now = replace(before, values=now.values, grad=now.grad, cut=now.cut)
            return
        self.message.value = _said(self.changes(before, self._now))
        self.pane.data = sent(self.data)

    # -- what is different

    def changes(self, a: _State, b: _State) -> str:
        """The difference between two states, in sentences: what was changed, and its effects."""
        moved = [n for n, x in b.values.items() if not np.array_equal(a.values[n], x)]
        lines = [f"{n} was {_short(a.values[n])} and is now {_short(b.values[n])}." for n in moved]
        for name, on in b.grad.items():
            if on != a.grad[name]:
                lines.append(f"{name} {'now requires' if on else 'no longer requires'} grad.")
        for label in b.cut:
            if label not in self.edges:
                lines.append(f"The edge {label} that was cut is not in this graph.")
            elif label not in a.cut:
                what = self._ends[label]
                lines.append(f"{label} is cut: nothing is sent along it, as if {what} were detached there.")
        lines += [f"{label} is reconnected." for label in a.cut if label not in b.cut]
        if not same(a.result, b.result) and a.result is not None and b.result is not None:
            lines.append(f"The result was {_short(a.result.array)} and is now {_short(b.result.array)}.")
        for n, grad in b.grads.items():
            if not same(a.grads.get(n), grad):
                lines.append(f".grad of {n} was {short(a.grads.get(n), 48)} and is now {short(grad, 48)}.")
        both = [n for n in b.reached if n in a.reached and a.reached[n] != b.reached[n]]
        lost, found = ([n for n in both if b.reached[n] is now] for now in (False, True))
        news = {"No gradient reaches {} any more.": lost, "A gradient reaches {} again.": found}
        lines += [text.format(listed(names, len(names))) for text, names in news.items() if names]
        return " ".join(lines) if lines else "Nothing changed."

    # -- changes from Python, equivalent to those made with the controls

    def set(self, **values: Any) -> None:
        """Give leaves new numbers: ``set(x=1.0, w=[1, 2])``. Raises KeyError or ValueError if that is impossible."""
        for name, value in values.items():
            if name not in self.leaves:
                raise KeyError(f"no leaf is called {name!r}; the leaves are {', '.join(self.leaves)}")
            leaf = self.leaves[name]
            new = leaf.numbers(value)
            if new.shape != leaf.values.shape:
                raise ValueError(f"leaf {name!r} has shape {leaf.values.shape}, the new value {new.shape}")
        self._quiet = True
        for name, value in values.items():
            self.leaves[name].show(value)
        self._quiet = False
        self._last = ""
        self._run("set")

    def cut(self, *edges: str) -> None:
        """Cut edges, named as in ``edges``: no gradient is sent along them. Raises KeyError for other names."""
        for edge in edges:
            if edge not in self.edges:
                raise KeyError(f"no edge is called {edge!r}; the edges are {', '.join(self.edges)}")
        self._set_cut([*self._cut, *(e for e in dict.fromkeys(edges) if e not in self._cut)])

    def join(self, *edges: str) -> None:
        """Join edges that were cut; all of them if none is named. Raises KeyError for one that is not cut."""
        for edge in edges:
            if edge not in self._cut:
                raise KeyError(f"the edge {edge!r} is not cut; cut edges: {', '.join(self._cut) or 'none'}")
        self._set_cut([e for e in self._cut if edges and e not in edges])

    def undo(self) -> None:
        """Undo the last change; do nothing if there is none."""
        if not self._past:
            return
        state = self._past.pop()
        self._quiet = True
        for name, leaf in self.leaves.items():
            leaf.show(state.values[name])
            leaf.grad.value = state.grad[name]
        self._cut, self._quiet, self._last = list(state.cut), False, ""
        self._show()

    def _set_cut(self, cut: list[str]) -> None:
        self._cut, self._last = cut, ""
        self._run("cut")

    def _clicked(self, content: Any) -> None:
        """Handle an edge that was chosen, a press on a slider (which begins a change), or a request for a page."""
        edge, asked = (content.get("edge"), content) if isinstance(content, dict) else (None, {})
        if asked.get("press"):
            self._last = ""
        if asked.get("page"):
            self.pane.send({"page": page(self.data, options={"step": len(self.data["steps"])})})
        if edge in self.edges:
            (self.join if edge in self._cut else self.cut)(edge)

    def __repr__(self) -> str:
        short = (f"{n}={_short(leaf.values)}" for n, leaf in self.leaves.items())
        result = _short(self.result.detach().numpy())
        return clipped(one_line(f"Explore({self.name}: {', '.join(short)} → {result})"), 109)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = frame(self.data, options={"step": len(self.data["steps"])})
        return self.live(**kwargs) | {"text/html": shown, "text/plain": repr(self)}

    def save(self, path: str | Path, *, title: str | None = None) -> Path | list[Path]:
        """Write the current pass to a file, as the ``save`` of a stepper does."""
        return Stepper(self.data, options={"step": len(self.data["steps"])}).save(path, title=title)


def _said(text: str, role: str = "status") -> str:
    """A sentence above the pane, with room for two lines from the start, so that a longer one does not move the pane."""
    look = "margin:4px 6px;height:2.8em;line-height:1.4;overflow:auto;white-space:pre-line"
    return f"<p role='{role}' style='{look}'>{html.escape(text)}</p>"


def _short(values: np.ndarray) -> str:
    if values.size == 1:
        return number(values.item())
    first = nested(values.ravel()[:4].tolist())
    return f"{first[:-1]}, …]" if values.size > 4 else first


@public
def explore(
    f: Callable[..., Tensor],
    leaves: Mapping[str, Any] | None = None,
    /,
    *,
    view: str | None = None,
    direction: str | None = None,
    fold: Fold = None,
    **values: Number | Tensor,
) -> Explore:
    """Sliders and fields on the leaves of ``f``; its graph, values and gradients follow.

    * values: the arguments of ``f`` by name (``x=2.0``), numbers, lists of numbers or tensors; ``f`` is called with tensors
      that have ``requires_grad=True`` (a checkbox switches it off). leaves: the same as a dict, also for names such as "view".
    * view, direction, fold: as in ``viz.draw``; the default is cards, or only the functions if cards do not fit.

    ``f`` must return a scalar tensor. An edge can be cut: click it in the picture, or choose it in the toolbar's menu. Changes
    are described in words.
    """
    check_options(view, direction, fold)
    if leaves is not None and not isinstance(leaves, Mapping):
        got = type(leaves).__name__
        raise TypeError(f"viz.explore takes leaves by name, as in explore(f, x=2.0), not {got}.")
    return Explore(f, {**(leaves or {}), **values}, view=view, direction=direction, fold=fold)
