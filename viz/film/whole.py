"""A frame that is kept whole: the pass is recorded as ``viz.step`` records it, to be stepped through inside the film."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from ..picture.draw import pictures_of
from ..read.recall import prepare
from ..run.trace import run
from ..show.page import shared
from ..show.payload import describe

MOST = 600  # nodes; nobody walks through more inside a film


class Whole:
    """One pass that is about to run. ``data`` is the stepper's payload once it has. Raises ValueError for a large graph."""

    def __init__(self, loss: Any, names: Mapping | None, frame: FrameType):
        self.graph, self.plain = prepare(loss, "film", names, frame)
        if len(self.graph) > MOST:
            raise ValueError(f"a pass of {len(self.graph):,} nodes is not kept whole; the most is {MOST}")
        self.pictures = pictures_of(self.graph, None)
        self.data: dict | None = None
        self._trace: Any = None

    def backward(self, loss: Any, options: dict[str, Any], began: Callable[[], bool]) -> None:
        """The pass. What cannot be recorded runs as it would without us; ``began`` says whether a node has fired."""
        try:
            self._trace = run(self.graph, self.plain, verb="film", **options)
        except Exception:
            if began():  # the user's own error
                raise
            loss.backward(**options)

    def describe(self) -> dict | None:
        """The payload of what was recorded."""
        if self._trace is None:
            return None
        data = describe(self._trace, *self.pictures)
        return shared(data)
