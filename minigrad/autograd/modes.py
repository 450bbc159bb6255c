"""Whether operations are recorded in a thread, and which other modes are on. Imports nothing from minigrad.

The modes of a thread are one immutable record, `local.modes`. A context manager replaces it as a whole, in
one assignment, so an interrupt leaves the old modes or the new ones. Usually nothing is special: gradients
are on, with no transform and no hook on saved tensors. `special` is then empty, which operations check first.
"""

from __future__ import annotations

import threading
from threading import get_ident
from typing import NamedTuple


class Modes(NamedTuple):
    """The modes of a thread; the defaults are the usual ones."""

    grad: bool = True  # whether operations are recorded
    inference: bool = False  # whether we are inside inference_mode
    interpreter: object = None  # the innermost active transform (forward mode, vmap), see minigrad.func
    transform_depth: int = 0  # how many reverse-mode transforms (minigrad.func) are running
    saved_hooks: tuple = ()  # (pack, unpack) pairs of saved_tensors_hooks, innermost last

    @property
    def records(self) -> bool:
        """Whether operations are recorded now: never in inference mode, whatever the grad mode."""
        return self.grad and not self.inference

    def with_grad(self, grad: bool) -> Modes:
        """The same modes, with recording on or off."""
        return self if self.grad is grad else Modes(grad, *self[1:])


USUAL = Modes()


class Local(threading.local):
    """The modes of this thread: `local.modes`, each of them also as `local.grad` and so on."""

    modes = USUAL

    def __getattr__(self, name: str) -> object:
        return getattr(self.modes, name)

    def update(self, **changes: object) -> Modes:
        """Change some modes. Returns the old ones, to be restored in `modes` (followed by `settle`)."""
        before = self.modes
        self.modes = announced(before._replace(**changes))
        return before


class Anomaly:
    """Anomaly detection, which is on or off for all threads at once (see grad_mode.py)."""

    state = (False, True)  # (on, check_nan), replaced as a whole
    on = property(lambda self: self.state[0])
    check_nan = property(lambda self: self.state[1])


local = Local()
anomaly = Anomaly()
# A key for each thread in which something unusual may be on, and one more for anomaly detection.
special: set[object] = set()


def announced(modes: Modes) -> Modes:
    """These modes, which this thread is about to adopt; if they are unusual, operations will check them."""
    if modes != USUAL:
        special.add(get_ident())
    return modes


def settle() -> None:
    """After modes have been restored: operations check this thread's modes only if they are unusual."""
    (special.discard if local.modes == USUAL else special.add)(get_ident())


def is_plain() -> bool:
    """Whether operations in this thread take the ordinary path, on which the grad mode alone decides."""
    modes = local.modes
    return not (modes.inference or modes.interpreter is not None or modes.saved_hooks or anomaly.state[0])
