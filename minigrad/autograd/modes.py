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
from copy import copy
from types import SimpleNamespace

special: set[object] = set()  # a key for each thread in which something unusual is on
anomaly = SimpleNamespace(on=False, check_nan=True)  # for all threads at once (see anomaly.py)


class Local(threading.local):
    """What is unusual in this thread. Each thread that asks gets values of its own."""

    def __init__(self):
        self.key = object()
        self.grad = True  # are operations recorded?
        self.inference = False  # are we inside inference_mode?
        self.interpreter = None  # innermost active transform (forward mode, vmap), see minigrad.func
        self.transform_depth = 0  # how many reverse-mode transforms (minigrad.func) are running
        self.saved_hooks = ()  # (pack, unpack) pairs of saved_tensors_hooks, innermost last
        self.backward_pass = None  # the nodes of the backward pass that is running, for hooks that ask
        self.ordinary = True  # is nothing but `grad` unusual?
        self.recording = True  # `grad` if that is all that may be unusual, else None
        self.records = True  # are operations recorded now? Never in inference_mode, whatever the grad mode

    def update(self, **changes: object) -> None:
        """Change this thread's modes and keep `special` right."""
        self.__dict__.update(changes)
        self.ordinary = not (self.inference or self.interpreter is not None or self.saved_hooks or anomaly.on)
        set_grad(self.grad)


local = Local()


def set_grad(enabled: bool) -> bool:
    """Turn recording on or off in this thread: `local.update(grad=enabled)`, quickly. Returns what it was before."""
    modes = local.__dict__  # the thread's own, looked up once
    before, modes["grad"], modes["records"] = modes["grad"], enabled, enabled and not modes["inference"]
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
    """A grad mode: a context manager that can also decorate functions. Inside, operations are recorded if `enabled`."""

    enabled = False
    previous = None  # what to go back to: (the mode before, previous), as one may be entered inside itself

    def __enter__(self) -> None:
        self.previous = set_grad(self.enabled), self.previous

    def __exit__(self, *exc: object) -> None:
        before, self.previous = self.previous
        set_grad(before)

    def __call__(self, function: Callable) -> Callable:
        """Use the mode as a decorator; each call runs inside it."""
        if inspect.isgeneratorfunction(function):
            raise TypeError("grad modes decorate no generators here; write `with torch.no_grad():` inside")

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
            told = "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not"
            raise TypeError(f"{told} {type(mode).__name__}")
        self.enabled, self.before = mode, set_grad(mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.enabled})"

    def __enter__(self) -> None:
        super().__enter__()
        self.previous = self.before, self.previous[1]

    def __call__(self, function: Callable) -> Callable:
        set_grad(self.before)  # as a decorator it acts in the calls, not from now on
        return (enable_grad if self.enabled else no_grad)()(function)


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


__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
__all__ += ["is_grad_enabled", "is_inference_mode_enabled"]
