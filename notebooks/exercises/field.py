"""Widgets, for front ends that run them: the field of a prediction, so that a learner need not edit code, and the hints below
the card of an exercise.

    box = field("3.a", asks, example, earlier, answer)
    box = with_hints(card, ["<p>...", "<p>..."], uncovered)

`answer` gets what was typed and returns the card to show below; `earlier` is the card of an earlier prediction, or None. The
drawing of the field is in field.js and field.css. Uses anywidget and ipywidgets, knows nothing of exercises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

HERE = Path(__file__)


class Field(anywidget.AnyWidget):
    """One line to type in, a button and "skip". Each message is confirmed in `heard`, so that a silent kernel is noticed."""

    _esm = HERE.with_suffix(".js")
    _css = HERE.with_suffix(".css")
    key = traitlets.Unicode().tag(sync=True)
    asks = traitlets.Unicode().tag(sync=True)  # HTML
    example = traitlets.Unicode().tag(sync=True)
    heard = traitlets.Int(0).tag(sync=True)
    answered = traitlets.Bool(False).tag(sync=True)


def field(
    key: str, asks: str, example: str, earlier: Any | None, answer: Callable[[str], Any]
) -> ipywidgets.VBox:
    """The field, and below it the reply, which the notebook renders as it does any output."""
    typed = Field(key=key, asks=asks, example=example, answered=earlier is not None)
    below = ipywidgets.Output()

    def show(card: Any) -> None:
        below.outputs = (_output(card._repr_html_(), repr(card)),)
        box.children = (typed, below)

    def hear(_: Any, content: Any, __: Any) -> None:
        card = answer(str(content.get("guess", ""))[:400])
        show(card)
        typed.answered = card.state == "noted"
        typed.heard += 1

    box = ipywidgets.VBox([typed])
    box.add_class("prediction")
    if earlier is not None:
        show(earlier)
    typed.on_msg(hear)
    return box


def with_hints(card: Any, hints: Sequence[str], uncovered: Callable[[int], int]) -> ipywidgets.VBox:
    """The card of an exercise, and below it a button for the next hint; a hint stays in the kernel until it is asked for.

    `uncovered(n)` adds n to the number of hints that have been asked for, and returns it.
    """
    shown, button = ipywidgets.Output(), ipywidgets.Button(layout=ipywidgets.Layout(width="max-content"))

    def show(_: Any = None) -> None:
        count = uncovered(0 if _ is None else 1)
        heads = [f"Hint {number} of {len(hints)}" for number in range(1, len(hints) + 1)]
        shown.outputs = (
            _output(card._repr_html_(), repr(card)),
            *(
                _output(f"<strong>{head}</strong>{hint}", head)
                for head, hint in zip(heads, hints[:count], strict=False)
            ),
        )
        button.description = heads[count] if count < len(hints) else ""
        box.children = (shown, button) if count < len(hints) else (shown,)

    box = ipywidgets.VBox()
    show()
    button.on_click(show)
    return box


def _output(page: str, line: str) -> dict[str, Any]:
    """HTML as a notebook keeps it: the front end renders it, mathematics too."""
    return {"output_type": "display_data", "data": {"text/html": page, "text/plain": line}, "metadata": {}}
