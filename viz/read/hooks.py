"""Our hooks on the user's nodes: they are removed whatever happens, even if Ctrl+C comes at the worst moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def hanging(do: Callable[[list[Any]], T]) -> T:
    """Call ``do(handles)``, which registers hooks and lists their handles: all are removed at the end or on an error."""
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
    """Remove hooks. An exception that is raised meanwhile is raised again after the last one has been removed."""
    try:
        while handles:
            handles[-1].remove()
            handles.pop()
    except BaseException as error:
        if handles and isinstance(error, Exception):
            handles.pop()  # it cannot be taken away
        let_go(handles)
        raise
