"""What a lesson's kernel does in a browser before its first cell."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import wasm_graphviz

DRIVE = Path("/drive")  # the browser's storage, as JupyterLite mounts it


async def start() -> None:
    """Start Graphviz, and keep the learner's progress beside the lessons: in the browser, where it can be downloaded."""
    os.environ["MINIGRAD_PROGRESS"] = str((DRIVE if DRIVE.is_dir() else Path.home()) / "progress.json")
    threading.Thread.start, threading.Thread.join = _start, _join
    await wasm_graphviz.load()


NO_THREADS = "A browser has no threads, so what this thread would do is left out. Run the cell on a computer to see it."
_start_thread, _join_thread = threading.Thread.start, threading.Thread.join


def _start(thread: threading.Thread) -> None:
    """Say that there are no threads if a lesson starts one; a library's own thread class raises as usual."""
    if type(thread) is threading.Thread:
        print(NO_THREADS)
    else:
        _start_thread(thread)


def _join(thread: threading.Thread, timeout: float | None = None) -> None:
    if type(thread) is not threading.Thread:
        _join_thread(thread, timeout)
