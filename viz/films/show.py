"""A film, or several beside each other, in a notebook and on a page: the same front end, no kernel, no network."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
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
FROM_STEPPER += "transport, upTo, withoutModel, mount: mountStepper"  # what they use of the stepper's program


@cache
def program() -> str:
    """The film's front end as one ES module; the stepper's, without questions, is inside it for frames kept whole."""
    stepper = re.sub(
        r"^export default\{.*?\};|^export ", "", pages.program("lanes", "narrow_layout"), flags=re.M
    )
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
    name = one_line(title or films[0].title or "A training run, one backward pass after the other")
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
        options = traitlets.Dict().tag(sync=True)

    return FilmPane


def bundle(films: list[Any], text: str, titles: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
    """The output in a notebook: the live widget, the page in a frame for a saved notebook, one line of text."""
    if not any(map(len, films)):
        return {"text/plain": text}
    named = zip(films, titles or [film.title or "" for film in films], strict=True)
    stills = [Still(film, label) for film, label in named if film.steps]
    shown = [(svg(still), repr(still.film), round(still.height)) for still in stills]
    inside = page(films, titles, title=None, bare=True)
    frame = pages.over(shown, text, inside, 900 if films[1:] else min(700, 300 + 48 * stills[0].many))
    return _live(films, titles, **kwargs) | {"text/html": frame, "text/plain": text}


def _live(films: list[Any], titles: list[str] | None, **kwargs: Any) -> dict[str, Any]:
    if not widgets():
        return {}
    pane: Any = _pane()(data=payload(films, titles))
    pane.layout.width = "100%"
    return dict(pane.live(**kwargs))


def save(films: list[Any], path: str | Path, title: str | None, titles: list[str] | None = None) -> Path:
    """Write a page, an animation or a picture. Raises ValueError for another ending, or a film without a frame."""
    path, form = target(path, "a film", ".html", ".gif", ".svg", ".pdf", ".png")
    if not any(map(len, films)):
        raise ValueError("this film has no frame yet: call film.backward(loss) in the training loop first")
    if form != ".html":
        labels = titles or [film.title or title or "" for film in films]
        return (save_gif if form == ".gif" else save_picture)(films, labels, path)
    return write_whole(path, page(films, titles, title=title))


class Films(Shown):
    """Films that play together; the ribbon shows each row against the top row of its own film. Made by ``viz.beside``."""

    def __init__(self, films: Sequence[Any], labels: Sequence[str] | None = None):
        wrong = next((f for f in films if not hasattr(f, "_put_beside")), None)
        if wrong is not None:
            raise TypeError(
                f"viz.beside shows films beside films, but one of these is {type(wrong).__name__}"
            )
        self.films = list(films)
        titles = [f.title or f"film {k}" for k, f in enumerate(films, 1)]
        self.labels = titles if labels is None else check_labels(labels, len(films), "beside")

    def __repr__(self) -> str:
        shown = ", ".join(self.labels)
        return f"Films({len(self.films)}: {shown if len(shown) < 80 else shown[:79] + '…'})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return bundle(self.films, repr(self), self.labels, **kwargs)

    def save(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write all of them to one page (.html), animation (.gif) or picture (.svg, .pdf, .png). ValueError for others."""
        return save(self.films, path, title or " · ".join(self.labels), self.labels)
