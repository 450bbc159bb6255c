"""Our hooks on the user's nodes: they are removed whatever happens, even if Ctrl+C comes at the worst moment. `Progress` uses
two per node to follow how far a backward pass gets before it raises."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from .graph import behind
from .values import unseen

T = TypeVar("T")
MOST = 5_000  # nodes; a larger graph is not followed


def own(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook that ignores the passes of the program's other threads: they may share leaves with this one. An engine's own
    threads, one for each device, are not among the program's."""
    thread = threading.get_ident()

    def called(*grads: Any) -> Any:
        others = (t.ident for t in threading.enumerate() if not isinstance(t, threading._DummyThread))
        return hook(*grads) if (now := threading.get_ident()) == thread or now not in others else None

    return called


def hanging(do: Callable[[list[Any]], T]) -> T:
    """Call ``do(handles)``, which registers hooks and lists their handles: all are removed at the end or on an error."""
    handles: list[Any] = []
    try:
        try:
            return do(handles)
        finally:
            let_go(handles)
    except BaseException:
        let_go(handles)  # an interrupt came before the first call had begun
        raise


def let_go(handles: list[Any]) -> None:
    """Remove hooks. An exception raised by one is raised again after all hooks have been removed."""
    try:
        while handles:
            handles[-1].remove()
            handles.pop()
    except BaseException as error:
        if handles and isinstance(error, Exception):
            handles.pop()  # it cannot be removed
        let_go(handles)
        raise


class Progress:
    """``ran``: live nodes in the order in which they have run. ``begun``: those whose rule was called and has not returned."""

    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.begun: list[Any] = []

    def follow(self, tensors: Iterable[Any], run: Callable[[], T]) -> T:
        """``run()``, a backward pass from ``tensors``, with two hooks on each node until it ends."""

        def following(handles: list[Any]) -> T:
            # nodes without hooks, a tensor without a graph: how far the pass got is unknown then
            with contextlib.suppress(Exception), unseen():
                nodes = list(islice(behind([t.grad_fn for t in tensors], lambda fn: True), MOST + 1))
                for fn in nodes if len(nodes) <= MOST else ():
                    handles.append(fn.register_prehook(own(lambda grads, fn=fn: self.begun.append(fn))))
                    handles.append(fn.register_hook(own(lambda sent, received, fn=fn: self._end(fn))))
            return run()

        return hanging(following)

    def _end(self, fn: Any) -> None:
        self.begun.remove(fn)
        self.ran.append(fn)
