"""Show a pass that raised: a picture of what had been computed, under the traceback in a notebook; text elsewhere.

The exception itself is passed on unchanged: nothing is added to it, and no part of it is kept.
"""

from __future__ import annotations

import contextlib
import html
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from ..picture.choose import DETAIL, fitting, pictures_of
from ..picture.draw import Drawing
from ..picture.layout import FORMATS, SECONDS
from ..picture.shown import Shown, target
from ..read import failure as reading
from ..read.arguments import public
from ..read.failure import Failure
from ..read.record import Recording
from ..read.text import clipped, write_whole


class Failed(Shown):
    """What failed, and a picture of what was computed until then. Print it for a text; ``failure`` has the same as
    data. A recorded block has one as ``recording.failure``; ``viz.failure()`` returns the one of the last pass that failed.
    """

    def __init__(self, failure: Failure):
        self.failure = failure
        failure.graph.release()

    @cached_property
    def drawing(self) -> Drawing:
        """The picture; laid out when it is first shown, so that it does not delay the exception."""
        graph = self.failure.graph
        pictures = pictures_of(graph, "functions" if len(graph) <= DETAIL else None, page=True)
        picture, places = fitting(graph, pictures, SECONDS, limited=True)
        picture.title = clipped(self.failure.title, 80)
        return Drawing(picture, graph, places)

    def __repr__(self) -> str:
        return f"Failed({clipped(self.failure.title, 80)}{self._hint()})"

    def __str__(self) -> str:
        return str(self.failure)

    def save(self, path: str | Path) -> Path:
        """Write it to ``path``: text and picture as a page (.html), or the picture, as :meth:`viz.Drawing.save` does."""
        path, form = target(path, "what failed", ".html", *FORMATS)
        if form != ".html":
            return self.drawing.save(path)
        title = html.escape(self.failure.title)
        return write_whole(path, f"<!doctype html><meta charset=utf-8><title>{title}</title>{self._html()}")

    def _html(self) -> str:
        words, drawn = html.escape(str(self.failure)), self.drawing._repr_mimebundle_()["text/html"]
        return f"<pre style='white-space:pre-wrap'>{words}</pre>{drawn}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return self.drawing._repr_mimebundle_() | {"text/plain": repr(self), "text/html": self._html()}


_last: Failed | None = None


@public
def failure() -> Failed | None:
    """The last pass that raised, in a ``viz.record()`` block or in ``viz.trace`` or ``viz.step``, as a Failed; or None.

    A notebook shows the same under the traceback. In a script or a debugger, print it, ``.show()`` it or ``.save()`` it.
    """
    return _last


def of_recording(recording: Recording, error: Exception) -> Failed:
    """What failed in a recorded block; called by the recording (`Recording.explain`)."""
    return _shown_under(Failed(reading.of_recording(recording, error)), error)


def of_pass(graph: Any, error: Exception, ran: list[Any], begun: list[Any]) -> Failed:
    """What failed in a pass that ``viz.trace`` or ``viz.step`` ran."""
    return _shown_under(Failed(reading.of_pass(graph, error, ran, begun)), error)


def _shown_under(failed: Failed, error: Exception) -> Failed:
    """Keep the failure, and show it once under the traceback if a cell ends with this exception."""
    global _last
    _last = failed
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None  # or a terminal's, where it is one line
    if shell is None:
        return failed
    number = id(error)  # the exception stays alive while the cell raises it

    def after(result: Any) -> None:
        shell.events.unregister("post_run_cell", after)
        raised = result.error_in_exec
        while raised is not None and id(raised) != number:
            raised = raised.__cause__ or raised.__context__
        if raised is not None and _last is failed:
            with contextlib.suppress(Exception):
                ipython.display.display(failed)

    shell.events.register("post_run_cell", after)
    return failed
