"""A script's backward pass as a page, without a notebook.

    python -m viz program.py:loss -o loss.html         (or loss.gif, loss.png: one picture a step, for slides)

Runs ``program.py``, takes its variable ``loss`` (a tensor, or a function without arguments that returns one), runs backward
from it and writes a page that steps through the pass. Exit code 2 and one sentence where that cannot be.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from .read.graph import is_tensor
from .read.record import Recording
from .show.ask import MODES
from .show.stepper import Stepper, step


class CannotStep(Exception):
    """What the user asked for cannot be done, in one sentence that says what to do."""


def record(target: str, view: str | None = None, ask: str | None = None) -> Stepper:
    """Run ``file.py:name`` and step through the backward pass of what ``name`` is. Raises CannotStep."""
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise CannotStep(f"{target!r} must be FILE.py:NAME, for example train.py:loss")
    path = Path(file)
    if not path.is_file():
        raise CannotStep(f"there is no file {file}")
    sys.path.insert(0, str(path.resolve().parent))  # as `python file.py` does
    try:
        with Recording(str(path)):
            scope = runpy.run_path(str(path), run_name="__viz__")
            found = scope.get(name)
            if callable(found) and not is_tensor(found):
                found = found()
    finally:
        sys.path.pop(0)
    tensors = {key: value for key, value in scope.items() if not key.startswith("_") and is_tensor(value)}
    if found is None:
        known = ", ".join(tensors) or "none"
        raise CannotStep(f"{file} has no {name!r} that is a tensor or makes one. Its tensors: {known}")
    roots = found if isinstance(found, list | tuple) else [found]
    if len(roots) == 1:
        tensors = {name: roots[0]} | {k: v for k, v in tensors.items() if v is not roots[0]}
    return step(*roots, view=view, ask=ask, names=tensors)


def main(arguments: Sequence[str] | None = None) -> int:
    about = "Write the backward pass of a script as a page that steps."
    parser = argparse.ArgumentParser(prog="python -m viz", description=about)
    add = parser.add_argument
    add("target", metavar="FILE.py:NAME", help="the script, and the tensor or function to start from")
    add("-o", "--output", default=None, help="page (.html) or slides (.gif, .png); by default NAME.html")
    add("--view", choices=["graph", "cards", "functions"], help="by default what fits the size")
    add("--ask", choices=MODES, help="ask for a prediction before each step")
    add("--title", help="the title of the page")
    chosen = parser.parse_args(arguments)
    output = chosen.output or f"{chosen.target.rpartition(':')[2]}.html"
    try:
        written = record(chosen.target, chosen.view, chosen.ask).save(output, title=chosen.title)
    except (CannotStep, TypeError, ValueError, RuntimeError) as error:
        print(f"viz: {error}", file=sys.stderr)
        return 2
    for file in written if isinstance(written, list) else [written]:
        print(f"{file}: {file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
