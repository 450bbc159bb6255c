"""A frame that is kept whole: the pass is played again and recorded as ``viz.step`` records it, to be stepped through."""

from __future__ import annotations

from typing import Any

from ..picture.draw import pictures_of
from ..read.recall import prepare
from ..run.trace import run
from ..show.page import shared
from ..show.payload import describe
from .again import Again, Tensor


def whole(again: Again, options: dict[str, Any]) -> dict[str, Any]:
    """The stepper's payload of the pass that ``again`` stands for; ``options`` are those of that backward."""
    graph, plain = prepare(again, "film", again.names, None)
    graph.classes = again.about.classes
    pictures = pictures_of(graph, None)
    known = {key: options[key] for key in ("retain_graph", "create_graph") if key in options}
    given = None if options.get("gradient") is None else Tensor(again.seed)
    return shared(describe(run(graph, plain, given, verb="film", **known), *pictures))
