"""Undo what an answer changed for the whole process, after the answer was judged: `with as_it_was(): ...`.

The recursion limit, NumPy's error state and print options, random numbers, warnings, tracing, the working directory, the
names in builtins and minigrad, and the like belong to the learner's notebook. Nothing that an answer did to them may reach the
next cell.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import minigrad
from minigrad.random import rng


def _collecting(yes: bool) -> None:
    (gc.enable if yes else gc.disable)()


def _warn_as(filters: list) -> None:
    if warnings.filters != filters:
        warnings.filters[:] = filters
        warnings._filters_mutated()  # drops the decisions cached under the old filters


def _inference(yes: bool) -> None:
    if minigrad.is_inference_mode_enabled() != yes:
        minigrad.inference_mode(yes).__enter__()


def _go_to(folder: str | None) -> None:
    if folder is not None:
        os.chdir(folder)


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it has been removed
        return None


def _environment(kept: dict[str, str]) -> None:
    if dict(os.environ) != kept:
        os.environ.clear()
        os.environ.update(kept)


def _streams(kept: tuple[Any, Any]) -> None:
    sys.stdout, sys.stderr = kept


NAMESPACES: tuple[Any, ...] = (builtins, time, minigrad, minigrad.Tensor, minigrad.nn.functional)


def _alike(now: Mapping[str, Any], names: Mapping[str, Any]) -> bool:
    """Whether the names are the same and have the same values, or equal ones."""
    with contextlib.suppress(Exception):  # a value that cannot be compared counts as new
        return [*now] == [*names] and [*now.values()] == [*names.values()]
    return False


def _put_names(kept: list[dict[str, Any]]) -> None:
    for space, names in zip(NAMESPACES, kept, strict=True):
        now = vars(space)
        if _alike(now, names):
            continue  # the usual case, made fast since there are 1,500 names
        for name, value in names.items():
            if now.get(name) is not value:
                setattr(space, name, value)


State = tuple[Callable[[], Any], Callable[[Any], object]]
"""How it is read, and how it is set."""
LARGE: tuple[State, ...] = (  # states that take a millisecond to save
    (lambda: rng().get_state(), lambda kept: rng().set_state(kept)),
    (random.getstate, random.setstate),
    (np.random.get_state, np.random.set_state),
    (lambda: dict(os.environ), _environment),
    (_folder, _go_to),
    (lambda: signal.getsignal(signal.SIGINT), lambda kept: signal.signal(signal.SIGINT, kept)),
)
SMALL: tuple[State, ...] = (  # these may also affect the code that runs next
    (lambda: [vars(space).copy() for space in NAMESPACES], _put_names),
    (np.geterr, lambda kept: np.seterr(**kept)),
    (np.geterrcall, np.seterrcall),
    (np.get_printoptions, lambda kept: np.set_printoptions(**kept)),
    (minigrad.is_inference_mode_enabled, _inference),
    (minigrad.is_grad_enabled, minigrad.set_grad_enabled),
    (minigrad.get_default_dtype, minigrad.set_default_dtype),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.gettrace, sys.settrace),
    # cProfile's profiler is not a function, so it can only be left in place
    (sys.getprofile, lambda kept: sys.getprofile() is kept or sys.setprofile(kept)),
    (lambda: threading.excepthook, lambda kept: setattr(threading, "excepthook", kept)),
    (lambda: sys.excepthook, lambda kept: setattr(sys, "excepthook", kept)),
    (lambda: (sys.stdout, sys.stderr), _streams),
    (lambda: list(sys.path), lambda kept: sys.path.__setitem__(slice(None), kept)),
    (lambda: list(warnings.filters), _warn_as),
    (gc.isenabled, _collecting),
)


@contextmanager
def as_it_was(states: tuple[State, ...] = LARGE + SMALL) -> Iterator[None]:
    """Restore each of the states when the block is left, however it is left. Anomaly mode is off inside it."""
    kept = [(read(), put) for read, put in states]
    with minigrad.autograd.set_detect_anomaly(False):
        try:
            yield
        finally:
            for value, put in kept:
                # one that cannot be set, such as a recursion limit below the present depth, is skipped
                with contextlib.suppress(Exception):
                    put(value)
