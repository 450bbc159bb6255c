"""A script's backward pass as a page, without a notebook.

    python -m viz program.py:loss -o loss.html         (or loss.gif, loss.png: one picture per step, for slides)
    python -m viz program.py:loss --show -- --lr 0.1   (opens the page; arguments after -- go to the script)

Runs ``program.py``, takes its variable ``loss`` (a tensor, or a function without arguments that returns one), runs backward
from it and writes a page that steps through the pass. If that is impossible, prints one sentence and exits with code 2. If the
script itself raises, prints its traceback and the operation that failed, and exits with code 1.
"""

from __future__ import annotations

import argparse
import inspect
import runpy
import sys
import traceback
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from .picture.views import VIEWS
from .read.failure import message_of
from .read.graph import is_module, is_tensor
from .read.record import Recording
from .show.ask import MODES
from .show.failed import failure
from .show.stepper import Stepper, step


class CannotStep(Exception):
    """What the user asked for cannot be done, in one sentence that says what to do."""


class Raised(Exception):
    """The script raised an exception, which is ``__cause__``."""


def record(
    target: str, view: str | None = None, ask: str | None = None, arguments: Sequence[str] = ()
) -> Stepper:
    """Run ``file.py:name`` with ``arguments`` and step through the backward pass of the tensor ``name``.

    Raises CannotStep, or Raised if the script raises.
    """
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise CannotStep(f"{target!r} must be FILE.py:NAME, for example train.py:loss")
    path = Path(file)
    if not path.is_file():
        raise CannotStep(f"{file} is a folder, not a script" if path.is_dir() else f"there is no file {file}")
    before, sys.argv = sys.argv, [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))  # as `python file.py` does
    try:
        with Recording(str(path)):
            scope = runpy.run_path(str(path), run_name="__viz__")
            found = scope.get(name)
            if callable(found) and not is_tensor(found) and not _needs_arguments(found):
                found = found()
    except Exception as error:
        raise Raised from error
    finally:
        sys.path.pop(0)
        sys.argv = before
    if callable(found) and not is_tensor(found):
        wanted = "a tensor such as the loss, or a function without arguments that returns it"
        raise CannotStep(f"{name!r} of {file} takes arguments. Name {wanted}")
    tensors = {key: value for key, value in scope.items() if not key.startswith("_") and is_tensor(value)}
    if found is None:
        known = ", ".join(tensors) or "none"
        raise CannotStep(f"{file} has no {name!r} that is a tensor or makes one. Its tensors: {known}")
    roots = found if isinstance(found, list | tuple) else [found]
    if len(roots) == 1:
        tensors = {name: roots[0]} | {k: v for k, v in tensors.items() if v is not roots[0]}
    # called from a frame with the script's variables, so that tensors get their names
    given = {"step": step, "given": {"view": view, "ask": ask, "names": tensors}, "roots": roots}
    return cast(Stepper, eval("step(*roots, **given)", scope, given))


def _needs_arguments(function: Callable[..., Any]) -> bool:
    called = getattr(function, "forward", function) if is_module(type(function)) else function
    given = [p for p in inspect.signature(called).parameters.values() if p.default is p.empty]
    return any(p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in given)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m viz",
        description="Write the backward pass of a script as a page that you can step through.",
        usage="%(prog)s [options] FILE.py:NAME [-- the script's arguments]",
    )
    add = parser.add_argument
    add("target", metavar="FILE.py:NAME", help="the script, and the tensor or function to start from")
    add("-o", "--output", default=None, help="page (.html) or slides (.gif, .png); by default NAME.html")
    add("--view", choices=VIEWS, help="by default chosen by the size of the graph")
    add("--ask", choices=MODES, help="ask for a prediction before each step")
    add("--title", help="the title of the page")
    add("--show", action="store_true", help="open it in the browser")
    given = list(sys.argv[1:] if arguments is None else arguments)
    own = given[given.index("--") + 1 :] if "--" in given else []
    chosen = parser.parse_args(given[: len(given) - len(own) - ("--" in given)])
    output = chosen.output or f"{chosen.target.rpartition(':')[2]}.html"
    try:
        written = record(chosen.target, chosen.view, chosen.ask, own).save(output, title=chosen.title)
    except Raised as error:
        return _tell(error.__cause__ or error, chosen.show)
    except (CannotStep, TypeError, ValueError, RuntimeError) as error:
        print(f"viz: {error}", file=sys.stderr)
        return 2
    files = written if isinstance(written, list) else [written]
    for file in files:
        print(f"{file}: {file.stat().st_size / 1000:.0f} kB")
    if chosen.show:
        webbrowser.open(files[0].resolve().as_uri())
    return 0


def _tell(error: BaseException, show: bool) -> int:
    """Print the traceback, starting at the script's own first entry, and what failed in the script."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in (__name__, "runpy"):
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace or error.__traceback__)
    failed = failure()
    if failed is not None and failed.failure.error == message_of(error):
        words = str(failed).partition("\n")[2]
        print(f"\nviz: {words}", file=sys.stderr)
        if show:
            failed.show()
    return 1


if __name__ == "__main__":
    sys.exit(main())
