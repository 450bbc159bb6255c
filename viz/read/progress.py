"""How far a backward pass came: the nodes whose rules have run, and the one that had begun. For passes that raise."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from .graph import behind
from .hooks import hanging
from .values import unseen

T = TypeVar("T")
MOST = 5_000  # nodes; a larger graph is not followed


class Progress:
    """``ran``: live nodes in the order in which they have run. ``begun``: those whose rule was called and has not returned."""

    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.begun: list[Any] = []

    def follow(self, tensors: Iterable[Any], run: Callable[[], T]) -> T:
        """``run()``, a backward pass from ``tensors``, with two hooks on each node until it is over."""

        def following(handles: list[Any]) -> T:
            # nodes without hooks, a tensor without a graph: then it is not known how far the pass came
            with contextlib.suppress(Exception), unseen():
                nodes = list(islice(behind([t.grad_fn for t in tensors], lambda fn: True), MOST + 1))
                for fn in nodes if len(nodes) <= MOST else ():
                    handles.append(fn.register_prehook(lambda grads, fn=fn: self.begun.append(fn)))
                    handles.append(fn.register_hook(lambda sent, received, fn=fn: self._end(fn)))
            return run()

        return hanging(following)

    def _end(self, fn: Any) -> None:
        self.begun.remove(fn)
        self.ran.append(fn)
