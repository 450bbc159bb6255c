"""Hooks of ours on the user's nodes: they go whatever happens, also where Ctrl+C comes at the worst moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def hanging(do: Callable[[list[Any]], T]) -> T:
    """``do(handles)``, which hangs hooks and puts their handles into the list: all have gone when this returns or raises."""
    handles: list[Any] = []
    try:
        try:
            return do(handles)
        finally:
            let_go(handles)
    except BaseException:
        let_go(handles)  # it came on the way into the first
        raise


def let_go(handles: list[Any]) -> None:
    """Remove hooks. An exception raised meanwhile is raised again after the last one is removed."""
    try:
        while handles:
            handles[-1].remove()
            handles.pop()
    except BaseException as error:
        if handles and isinstance(error, Exception):
            handles.pop()  # it cannot be taken away
        let_go(handles)
        raise
