"""Pictures outside of notebooks: a file in a temporary folder, opened in the browser."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any, cast


def notebook() -> Any:
    """The shell of a notebook's kernel; None in a script, a terminal or a debugger."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if hasattr(shell, "kernel") else None


def target(path: Any, what: str, *endings: str) -> tuple[Path, str]:
    """``path`` and its ending, if it is one of ``endings``. Raises TypeError or ValueError, with advice."""
    if not isinstance(path, str | Path):
        raise TypeError(f"save needs the name of a file, such as 'z{endings[0]}', not {type(path).__name__}.")
    path = Path(path)
    ending = {".htm": ".html"}.get(path.suffix.lower(), path.suffix.lower())
    if ending not in endings:
        *others, last = endings
        known = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"Cannot save {what} as {path.name!r}. The name must end in {known}.")
    return path, ending


class Shown:
    """A mixin for objects that can be saved as a file that a browser shows; adds ``.show()``."""

    _saved_as = "html"

    def show(self) -> Path | None:
        """Open it in the browser, from a script, a REPL or a debugger: a file in a temporary folder, whose path is returned.
        Where no browser opens, the path is printed. In a notebook it is displayed like a cell's result, and None returned.
        """
        if notebook() is not None:
            sys.modules["IPython"].display.display(self)
            return None
        name = f"{type(self).__name__.lower()}.{self._saved_as}"
        path: Path = cast(Any, self).save(Path(tempfile.mkdtemp(prefix="viz-"), name))
        if not webbrowser.open(path.as_uri()):
            print(f"No browser could be opened. The page is {path}")
        return path

    def _hint(self) -> str:
        """The end of a repr that is shown alone."""
        return "" if notebook() is not None else "; .show() opens it"
