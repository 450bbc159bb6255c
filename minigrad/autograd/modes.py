"""Grad modes, and the one word of state that every operation looks at. Imports nothing of minigrad.

Almost always nothing unusual is going on: gradients are on, no transform, no hook on saved tensors. `special` is then
empty and an operation takes its ordinary path after this one test. A thread in which anything is unusual is in `special`,
and operations then ask the thread's own `local` what it is.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable

special: set[object] = set()  # a key for each thread in which something unusual is on


class Local(threading.local):
    """What is unusual in this thread."""

    grad = True  # are operations recorded?
    inference = False  # are we inside inference_mode?
    interpreter = None  # innermost active transform (forward mode, vmap), see minigrad.func
    saved_hooks = ()  # (pack, unpack) pairs of saved_tensors_hooks, innermost last
    backward_pass = None  # the nodes of the backward pass that is running, for hooks that ask
    transform_depth = 0  # how many reverse-mode transforms (minigrad.func) are running
    ordinary = True  # is nothing but `grad` unusual?
    recording = True  # `grad` if that is all that may be unusual, else None

    def __init__(self):
        self.key = object()
        self.grad = self.ordinary = self.recording = True
        self.inference, self.interpreter, self.saved_hooks, self.backward_pass = False, None, (), None

    def update(self, **changes: object) -> None:
        """Change this thread's modes and keep `special` right."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.ordinary = not (self.inference or self.interpreter is not None or self.saved_hooks or anomaly.on)
        set_grad(self.grad)

    @property
    def records(self) -> bool:
        """Are operations recorded now? Never in inference_mode, whatever the grad mode."""
        return self.grad and not self.inference


class Anomaly:
    """Anomaly detection, for all threads at once (see anomaly.py)."""

    __slots__ = ("check_nan", "on")

    def __init__(self):
        self.on, self.check_nan = False, True


anomaly = Anomaly()
local = Local()


def set_grad(enabled: bool) -> bool:
    """Turn recording on or off in this thread: `local.update(grad=enabled)`, quickly. Returns what it was before."""
    modes = local.__dict__  # the thread's own, looked up once
    before, modes["grad"] = modes["grad"], enabled
    if not modes["ordinary"]:
        modes["recording"] = None
    else:
        modes["recording"] = enabled
        if enabled:
            special.discard(modes["key"])
            return before
    special.add(modes["key"])
    return before


def is_grad_enabled() -> bool:
    """True if operations are recorded in this thread now."""
    return local.grad


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode()`."""
    return local.inference


class Mode:
    """A grad mode: a context manager that can also decorate functions."""

    # What to go back to: (the mode before, previous), as an object may be entered inside itself.
    previous = None

    def __exit__(self, *exc: object) -> None:
        before, self.previous = self.previous
        set_grad(before)

    def clone(self) -> Mode:
        """Another one of its kind."""
        return type(self)()

    def __call__(self, function: Callable) -> Callable:
        """Use the mode as a decorator; each call runs inside it."""
        if inspect.isgeneratorfunction(function):
            raise TypeError(
                "minigrad's grad modes decorate no generators; write `with torch.no_grad():` inside"
            )

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapped


class no_grad(Mode):
    """Operations inside are not recorded: results have `requires_grad=False`. Context manager and decorator."""

    enabled = False

    def __new__(cls, function: Callable | None = None):
        return object.__new__(cls) if function is None else cls()(function)  # @no_grad without parentheses

    def __enter__(self) -> None:
        self.previous = set_grad(self.enabled), self.previous


class enable_grad(no_grad):
    """Operations inside are recorded again, also within `no_grad`. Context manager and decorator."""

    enabled = True


class set_grad_enabled(Mode):
    """Turn recording on or off: a plain call lasts until changed; `with` and decoration restore it."""

    def __init__(self, mode: bool):
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode, self.before = mode, set_grad(mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def __call__(self, function: Callable) -> Callable:
        set_grad(self.before)  # as a decorator it acts in the calls, not from now on
        return super().__call__(function)

    def __enter__(self) -> None:
        self.previous = self.before, self.previous
        set_grad(self.mode)

    def clone(self) -> set_grad_enabled:
        """Another one with the same mode."""
        return set_grad_enabled(self.mode)


class inference_mode(Mode):
    """`no_grad` and more: results can never take part in autograd later. Context manager and decorator."""

    def __new__(cls, mode=True):
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True):
        self.mode = mode

    def __enter__(self) -> None:
        self.previous = (local.grad, local.inference), self.previous
        local.update(grad=not self.mode, inference=self.mode)

    def __exit__(self, *exc: object) -> None:
        (grad, inference), self.previous = self.previous
        local.update(grad=grad, inference=inference)

    def clone(self) -> inference_mode:
        """Another one with the same mode."""
        return inference_mode(self.mode)
