"""Shown outside of notebooks: a page in a temporary file, opened in the browser."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

from ..read.text import write_whole


class Shown:
    """Something that is a page: ``.show()`` opens it."""

    def page(self) -> str:
        """The whole page as HTML."""
        raise NotImplementedError

    def show(self) -> Path:
        """Write the page into a temporary file, open it in the browser, and return its path: from a script, a REPL or a
        debugger. Where no browser can be opened, the path is printed, too."""
        path = write_whole(Path(tempfile.mkdtemp(prefix="viz-"), "page.html"), self.page())
        if not webbrowser.open(path.as_uri()):
            print(f"No browser could be opened. The page is {path}")
        return path
