"""Grad modes, and the one word of state that every operation looks at. Imports nothing of minigrad.

Almost always nothing unusual is going on: gradients are on, no transform, no hook on saved tensors. `state.special` is
then 0 and an operation takes its fast path after this one test. Anything unusual, in any thread, makes it non-zero, and
operations ask the thread's own `local` what it is.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable


class Local(threading.local):
    """What is unusual in this thread."""

    grad = True  # are operations recorded?
    inference = False  # are we inside inference_mode?
    interpreter = None  # innermost active transform (forward mode, vmap), see minigrad.func
    saved_hooks = ()  # (pack, unpack) pairs of saved_tensors_hooks, innermost last
    before_write = None  # called with a tensor that is about to be written to in place
    backward_pass = None  # the nodes of the backward pass that is running, for hooks that ask
    transform_depth = 0  # how many reverse-mode transforms (minigrad.func) are running
    counted = False  # is this thread counted in state.special?
    ordinary = True  # is nothing but `grad` unusual?

    def update(self, **changes: object) -> None:
        """Change this thread's modes and keep `state.special` right."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.recount()

    def set_grad(self, enabled: bool) -> None:
        """Turn recording on or off: `update(grad=enabled)`, quickly."""
        self.grad = enabled
        self.count(not (enabled and self.ordinary))

    def recount(self) -> None:
        self.ordinary = not (self.inference or self.interpreter is not None or self.saved_hooks or anomaly.on)
        self.count(not (self.grad and self.ordinary))

    def count(self, unusual: bool) -> None:
        if unusual != self.counted:
            self.counted = unusual
            with _lock:
                state.special += 1 if unusual else -1


class State:
    """Shared by all threads: the number of threads in which something unusual is on."""

    __slots__ = ("special",)

    def __init__(self):
        self.special = 0


class Anomaly:
    """Anomaly detection, for all threads at once (see anomaly_mode.py)."""

    __slots__ = ("check_nan", "on")

    def __init__(self):
        self.on, self.check_nan = False, True


_lock = threading.Lock()
anomaly = Anomaly()
state = State()
local = Local()


def is_grad_enabled() -> bool:
    """True if operations are recorded in this thread now."""
    return local.grad


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode()`."""
    return local.inference


class _Mode:
    """A grad mode: a context manager that can also decorate functions and generators."""

    def __init__(self):
        self.previous = []  # a stack, so that one object may be entered again inside itself

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        local.set_grad(self.previous.pop())

    def clone(self) -> _Mode:
        return type(self)()

    def __call__(self, function: Callable) -> Callable:
        """Use the mode as a decorator; each call, and each resumption of a generator, runs inside it."""
        if inspect.isclass(function):
            raise TypeError(
                f"{type(self).__name__} cannot decorate a class. Decorate its methods, or use it as a context manager."
            )
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            send, argument = generator.send, None
            try:
                while True:
                    try:
                        with self.clone():
                            value = send(argument)
                    except StopIteration as stop:
                        return stop.value
                    try:  # outside: the caller runs in its own mode between two resumptions
                        argument = yield value
                        send = generator.send
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException:
                        argument = sys.exc_info()[1]
                        send = generator.throw
            finally:
                generator.close()

        return wrapped


class no_grad(_Mode):
    """Operations inside are not recorded: results have `requires_grad=False`. Context manager and decorator."""

    def __new__(cls, function: Callable | None = None):
        return super().__new__(cls) if function is None else cls()(function)  # @no_grad without parentheses

    def __enter__(self) -> None:
        self.previous.append(local.grad)
        local.set_grad(False)


class enable_grad(_Mode):
    """Operations inside are recorded again, also within `no_grad`. Context manager and decorator."""

    def __new__(cls, function: Callable | None = None):
        return super().__new__(cls) if function is None else cls()(function)

    def __enter__(self) -> None:
        self.previous.append(local.grad)
        local.set_grad(True)


class set_grad_enabled(_Mode):
    """Turn recording on or off: a plain call lasts until changed; `with` and decoration restore it."""

    def __init__(self, mode: bool):
        super().__init__()
        self.mode, self.before = bool(mode), local.grad
        local.update(grad=self.mode)

    def __call__(self, function: Callable) -> Callable:
        local.update(grad=self.before)  # as a decorator it acts in the calls, not from now on
        return super().__call__(function)

    def __enter__(self) -> None:
        self.previous.append(self.before)
        local.set_grad(self.mode)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)


class inference_mode(_Mode):
    """`no_grad` and more: results can never take part in autograd later. Context manager and decorator."""

    def __new__(cls, mode=True):
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True):
        super().__init__()
        self.mode = mode

    def __enter__(self) -> None:
        self.previous.append((local.grad, local.inference))
        local.update(grad=not self.mode, inference=self.mode)

    def __exit__(self, *exc: object) -> None:
        grad, inference = self.previous.pop()
        local.update(grad=grad, inference=inference)

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)
