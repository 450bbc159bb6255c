"""Graphviz itself: it takes DOT and returns positions or a picture.

On a computer it runs inside ``pygraphviz``, whose wheel carries it; in a browser it is Graphviz compiled to WebAssembly, in the
module ``wasm_graphviz`` of the browser lessons. Both give the same positions, because we set all sizes and labels ourselves.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from types import ModuleType

IN_BROWSER = sys.platform == "emscripten"
ALONE = threading.Lock()  # Graphviz's library has global variables; stderr and warnings are shared
NOT_LOADED = (
    "Graphviz cannot be loaded: {}. On Linux without a desktop, three libraries may be missing; on Debian and Ubuntu: "
    "apt-get install libglib2.0-0 libxrender1 libxext6"
)
NOT_HERE = "A browser cannot write a {} file. Save a drawing as .svg, a stepper or a film as .html, or run this on a computer."


def layout(source: str, form: str, prog: str = "dot") -> bytes:
    """The output of Graphviz for ``source`` in the format ``form``. RuntimeError for a format that a browser cannot write."""
    if IN_BROWSER:
        return wasm(form).layout(source, form, prog).encode()
    # ignore warnings about fonts and label sizes: the geometry does not depend on them
    with ALONE, warnings.catch_warnings(action="ignore", category=RuntimeWarning), quiet_c_level():
        return load().AGraph(string=source).draw(format="png" if form == "gif" else form, prog=prog)


def wasm(form: str) -> ModuleType:
    """Graphviz in WebAssembly, if it can write this format; its ``layout_within`` raises TimeoutError when time runs out."""
    if form in ("png", "pdf", "gif"):  # what this build cannot write
        raise RuntimeError(NOT_HERE.format(form.upper()))
    return importlib.import_module("wasm_graphviz")


def load() -> ModuleType:
    """The module pygraphviz. Raises ImportError, with advice, if the system lacks something that it needs."""
    try:
        import pygraphviz
    except ImportError as error:
        raise ImportError(NOT_LOADED.format(error)) from error
    return pygraphviz


@contextlib.contextmanager
def quiet_c_level() -> Iterator[None]:
    """Discard what C libraries write to stderr: fontconfig prints warnings about the machine's font settings there."""
    before = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        try:
            os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)
