"""A film, or several side by side, in a notebook and on a page: the same front end, no kernel, no network."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from ..picture.shown import Shown, target
from ..read.arguments import check_labels
from ..read.text import one_line, write_whole
from ..show import page as pages
from ..show.live import Live, widgets
from .payload import payload
from .stills import Still, save_gif, save_picture, svg

FRONT = Path(__file__).parent / "front"
PROGRAM = "data colours table ribbon player"  # the order in which they are joined
FROM_STEPPER = "h, s, choice, download, fullWindow, item, menu, placeBeside, Playable, row, strip, toFull, "
FROM_STEPPER += "transport, upTo, withoutModel, mount: mountStepper"  # what these files use of the stepper


@cache
def program() -> str:
    """The film's front end as one ES module; the stepper's, without questions, is inside it for frames kept whole."""
    exports = r"^export default\{.*?\};|^export "
    stepper = re.sub(exports, "", pages.program("lanes", "narrow_layout"), flags=re.M)
    names = ", ".join(re.findall(r"(\w+)(?=,|$)", re.sub(r": \w+", "", FROM_STEPPER)))
    own = pages.minified([FRONT / f"{name}.js" for name in PROGRAM.split()])
    return f"const {{ {FROM_STEPPER} }} = (() => {{\n{stepper}\nreturn {{ {names} }};\n}})();\n{own}"


@cache
def style() -> str:
    return pages.minified([pages.FRONT / "stepper.css", FRONT / "film.css"])


def page(
    films: list[Any], titles: list[str] | None, *, title: str | None, bare: bool = False, **options: Any
) -> str:
    """The whole page as text. ``bare`` leaves out heading and margin, for a frame inside a notebook."""
    data = pages.text_of(payload(films, titles))
    content = {"js": program(), "css": style(), "data": data, "options": options}
    known = title or " · ".join(titles or ()) or films[0].title
    name = one_line(known or "A training run, one backward pass after the other")
    return pages.whole(html.escape(name), content, bare)


@cache
def _pane() -> type:
    """The widget class, made when first shown: recording a film needs no notebook."""
    import anywidget
    import traitlets

    class FilmPane(Live, anywidget.AnyWidget):
        """The player; all that it shows is in ``data``."""

        _esm = program()
        _css = style()
        data = traitlets.Dict().tag(sync=True)

    return FilmPane


class Played(Shown):
    """A mixin for a film, or several side by side: ``_films``, and ``_labels`` if these differ from the films' titles."""

    _films: list[Any]
    _labels: list[str] | None = None

    def _called(self, otherwise: str = "") -> list[str]:
        return self._labels or [film.title or otherwise for film in self._films]

    def _why_empty(self) -> list[str]:
        return [finding.text for film in self._films for finding in film.findings]

    def _held(self) -> ExitStack:
        """The locks of all films: other threads add no frames until they are released."""
        locks = ExitStack()
        for film in sorted(self._films, key=id):
            locks.enter_context(film._lock)
        return locks

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The output in a notebook: the live widget, the page in a frame for a saved notebook, one line of text."""
        with self._held():
            films, live = self._films, {}
            if not any(map(len, films)):
                return {"text/plain": "\n".join([repr(self), *self._why_empty()])}
            if widgets():
                pane: Any = _pane()(data=payload(films, self._labels))
                pane.layout.width = "100%"
                live = pane.live(**kwargs)
            stills = [Still(f, label) for f, label in zip(films, self._called(), strict=True) if f.steps]
            shown = [(svg(still), repr(still.film), round(still.height)) for still in stills]
            inside = page(films, self._labels, title=None, bare=True)
            tall = 900 if films[1:] else min(700, 300 + 48 * stills[0].many)
            frame = pages.over(shown, repr(self), inside, tall)
            return live | {"text/html": frame, "text/plain": repr(self)}

    def save(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write it to ``path``, whose ending says what is written; returns the path.

        .html: a page that plays from disk; .gif: the frames, animated; .svg, .pdf, .png: a picture of the last frame. Raises
        ValueError for another ending, and for a film without a frame.
        """
        path, form = target(path, "a film", ".html", ".gif", ".svg", ".pdf", ".png")
        with self._held():
            if not any(map(len, self._films)):
                why = " ".join(self._why_empty()) or "call film.backward(loss) in the training loop first"
                raise ValueError(f"this film has no frame yet: {why}")
            if form == ".html":
                return write_whole(path, page(self._films, self._labels, title=title))
            return (save_gif if form == ".gif" else save_picture)(
                self._films, self._called(title or ""), path
            )

    @staticmethod
    def _put_beside(*films: Any, labels: Sequence[str] | None = None) -> Films:
        """Films side by side, on one scale and one axis of steps; see ``viz.beside``. TypeError if one is not a film."""
        return Films(films, labels)


class Films(Played):
    """Films that play together, on one scale. Made by ``viz.beside``."""

    def __init__(self, films: Sequence[Any], labels: Sequence[str] | None = None):
        wrong = next((f for f in films if not hasattr(f, "_put_beside")), None)
        if wrong is not None:
            kind = type(wrong).__name__
            raise TypeError(f"viz.beside needs either films only or passes only, but one argument is {kind}")
        self._films = list(films)
        titles = [f.title or f"film {k}" for k, f in enumerate(films, 1)]
        self._labels = titles if labels is None else check_labels(labels, len(films), "beside")

    def __repr__(self) -> str:
        shown = ", ".join(self._called())
        return f"Films({len(self._films)}: {shown if len(shown) < 80 else shown[:79] + '…'})"
