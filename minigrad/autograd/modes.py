"""Grad modes: whether operations are recorded, and what else is unusual in a thread. Imports nothing of minigrad.

The modes of a thread are one immutable record, `local.modes`. A context manager replaces it as a whole, in one assignment,
so an interrupt leaves either the old modes or the new ones. Almost always nothing is unusual: gradients are on, and there
is no transform and no hook on saved tensors. `special` is then empty, and that is all an operation has to look at.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from copy import copy
from threading import get_ident
from typing import NamedTuple


class Modes(NamedTuple):
    """What is switched on in a thread; the defaults are the usual modes."""

    grad: bool = True  # whether operations are recorded
    inference: bool = False  # whether we are inside inference_mode
    interpreter: object = None  # the innermost active transform (forward mode, vmap), see minigrad.func
    transform_depth: int = 0  # how many reverse-mode transforms (minigrad.func) are running
    saved_hooks: tuple = ()  # (pack, unpack) pairs of saved_tensors_hooks, innermost last

    @property
    def records(self) -> bool:
        """Whether operations are recorded now: never in inference mode, whatever the grad mode."""
        return self.grad and not self.inference

    @property
    def usual(self) -> bool:
        """Whether nothing is unusual."""
        return self.grad and not (self.inference or self.interpreter is not None or self.saved_hooks)

    def with_grad(self, grad: bool) -> Modes:
        """The same modes, with recording on or off."""
        return self if self.grad is grad else Modes(grad, *self[1:])


class Local(threading.local):
    """The modes of this thread: `local.modes`, each of them also as `local.grad` and so on."""

    modes = Modes()
    backward_pass: dict | None = None  # the nodes of the backward pass that is running, for hooks that ask

    def __getattr__(self, name: str) -> object:
        return getattr(self.modes, name)

    def update(self, **changes: object) -> Modes:
        """Change some of them. Returns those before, to be put back into `modes` (and `settle` then)."""
        before = self.modes
        self.modes = announced(before._replace(**changes))
        return before


class Anomaly:
    """Anomaly detection, which is on or off for all threads at once (see anomaly.py)."""

    state = (False, True)  # (on, check_nan), replaced as a whole
    on = property(lambda self: self.state[0])
    check_nan = property(lambda self: self.state[1])


local = Local()
anomaly = Anomaly()
special: set[object] = (
    set()
)  # a key for each thread in which something unusual may be on; one more for anomaly detection


def announced(modes: Modes) -> Modes:
    """These modes, which are about to become those of this thread: if they are unusual, operations will look at them."""
    if not modes.usual:
        special.add(get_ident())
    return modes


def settle() -> None:
    """Whether operations have to look at this thread's modes, which have just been put back."""
    (special.discard if local.modes.usual else special.add)(get_ident())


def is_plain() -> bool:
    """Whether operations in this thread take the ordinary path; recorded or not, as the grad mode says."""
    modes = local.modes
    return not (modes.inference or modes.interpreter is not None or modes.saved_hooks or anomaly.state[0])


def is_grad_enabled() -> bool:
    """True if operations are recorded in this thread now."""
    return local.modes.grad


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode()`."""
    return local.modes.inference


class Context:
    """A context manager that changes the modes of this thread: to those that `inside` gives, and back.

    An interrupt finds the old modes or the new ones: before the assignment nothing has changed, and after it nothing is
    called in `__enter__`; in `__exit__` nothing that could keep it from being made.
    """

    entered = None  # (the modes before, entered before), as a manager may be entered inside itself

    def __enter__(self) -> None:
        modes = announced(self.inside())
        self.entered = local.modes, self.entered
        local.modes = modes

    def __exit__(self, *exc: object) -> None:
        modes, previous = self.entered
        try:
            modes = self.outside(modes)
        finally:
            local.modes, self.entered = modes, previous
        settle()

    def inside(self) -> Modes:
        """The modes inside the block."""
        raise NotImplementedError

    def outside(self, before: Modes) -> Modes:
        """The modes after the block: those before it, but for `set_grad_enabled`, which lasts."""
        return before.with_grad(local.modes.grad)


class Mode(Context):
    """A grad mode: a context manager that can also decorate functions. Inside, operations are recorded if `enabled`."""

    enabled = False

    def inside(self) -> Modes:
        return local.modes.with_grad(self.enabled)

    def outside(self, before: Modes) -> Modes:
        return before

    def __call__(self, function: Callable) -> Callable:
        """Use the mode as a decorator; each call runs inside it."""
        if inspect.isgeneratorfunction(function):
            raise TypeError(
                "grad modes cannot decorate a generator here; write `with torch.no_grad():` inside it"
            )

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with copy(self):  # one for each call, which may be in another thread
                return function(*args, **kwargs)

        return wrapped


class no_grad(Mode):
    """Operations inside are not recorded: results have `requires_grad=False`. Context manager and decorator."""

    def __new__(cls, function: Callable | None = None):
        return object.__new__(cls) if function is None else cls()(function)  # @no_grad without parentheses


class enable_grad(no_grad):
    """Operations inside are recorded again, also within `no_grad`. Context manager and decorator."""

    enabled = True


class set_grad_enabled(Mode):
    """Turn recording on or off: a plain call lasts until changed; `with` and decoration restore it."""

    def __init__(self, mode: bool):
        if not isinstance(mode, bool):
            message = "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not"
            raise TypeError(f"{message} {type(mode).__name__}")
        self.enabled, self.before = mode, local.modes
        local.modes = announced(self.inside())
        settle()

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.enabled})"

    def __enter__(self) -> None:
        super().__enter__()
        self.entered = self.before, self.entered[1]

    def __call__(self, function: Callable) -> Callable:
        local.modes = self.before  # as a decorator it acts in the calls, not from now on
        settle()
        return (enable_grad if self.enabled else no_grad)()(function)


class inference_mode(Mode):
    """`no_grad` and more: results can never take part in autograd later. Context manager and decorator."""

    def __new__(cls, mode=True):
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True):
        self.mode = mode

    def inside(self) -> Modes:
        return local.modes._replace(grad=not self.mode, inference=self.mode)


__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
__all__ += ["is_grad_enabled", "is_inference_mode_enabled"]
