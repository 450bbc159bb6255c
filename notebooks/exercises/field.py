"""The field of a prediction: where a front end runs widgets, a learner types there and edits no code.

    box = field("3.a", asks, example, told, answered)

`answered` gets what was typed and returns the card to show below; `told` is the card of an earlier prediction, or None. The
drawing is in field.js and field.css. Uses anywidget, knows nothing of exercises.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

HERE = Path(__file__)


class Field(anywidget.AnyWidget):
    """One line to type in, a button and "skip". What is sent comes back as `heard`, so that silence can be noticed."""

    _esm = HERE.with_suffix(".js")
    _css = HERE.with_suffix(".css")
    key = traitlets.Unicode().tag(sync=True)
    asks = traitlets.Unicode().tag(sync=True)  # HTML
    example = traitlets.Unicode().tag(sync=True)
    heard = traitlets.Int(0).tag(sync=True)
    answered = traitlets.Bool(False).tag(sync=True)


def field(
    key: str, asks: str, example: str, told: Any | None, answer: Callable[[str], Any]
) -> ipywidgets.VBox:
    """The field, and below it the reply, which the notebook renders as it does any output."""
    typed = Field(key=key, asks=asks, example=example, answered=told is not None)
    below = ipywidgets.Output()

    def show(card: Any) -> None:
        data = {"text/html": card._repr_html_(), "text/plain": repr(card)}
        below.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
        box.children = (typed, below)

    def hear(_: Any, content: Any, __: Any) -> None:
        card = answer(str(content.get("guess", ""))[:400])
        show(card)
        typed.answered = card.state == "noted"
        typed.heard += 1

    box = ipywidgets.VBox([typed])
    box.add_class("prediction")
    if told is not None:
        show(told)
    typed.on_msg(hear)
    return box
