"""The modes that users switch: no_grad, enable_grad, set_grad_enabled, inference_mode; and anomaly detection, which remembers
where each node was recorded, and stops the backward pass at the first NaN."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from copy import copy

import numpy as np

from .. import messages
from .modes import Modes, announced, anomaly, local, settle, special

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
__all__ += ["is_grad_enabled", "is_inference_mode_enabled"]


def is_grad_enabled() -> bool:
    """True if operations are recorded in this thread now."""
    return local.modes.grad


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode()`."""
    return local.modes.inference


class Context:
    """A context manager that sets the modes of this thread to those that `inside` returns, and restores the old ones.

    An interrupt finds the old modes or the new ones, never a mixture: each change is one assignment. `__enter__` calls
    nothing after that assignment, and nothing in `__exit__` can prevent it.
    """

    entered = None  # (the modes before, entered before), as a manager may be entered inside itself
    inside: Callable[[], Modes]  # gives the modes inside the block

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

    def outside(self, before: Modes) -> Modes:
        """The modes after the block: those before it, but a plain call of `set_grad_enabled` inside lasts."""
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
            raise TypeError(messages.DECORATED_GENERATOR)

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
    """Turn recording on or off: a plain call lasts until the next one; `with` and decoration restore what was on."""

    def __init__(self, mode: bool):
        if not isinstance(mode, bool):
            raise TypeError(messages.SET_GRAD_ENABLED.format(type(mode).__name__))
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


# ---------------------------------------------------------------- anomaly detection


class set_detect_anomaly:
    """Turn anomaly detection on or off: a plain call lasts until the next one, `with` restores what was on before.

    While it is on, every operation remembers its call stack, and a backward pass that makes a NaN (not Inf) raises
    RuntimeError and warns with the stack of the operation responsible. Much slower: for debugging only.
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self.before = anomaly.state
        switch(bool(mode), check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        anomaly.state = self.before  # first: no call may come before it
        switch(*self.before)


class detect_anomaly(set_detect_anomaly):
    """`with detect_anomaly():` looks for NaNs in the backward passes inside (see `set_detect_anomaly`)."""

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan
        warnings.warn(messages.ANOMALY_ON, stacklevel=2)

    def __enter__(self) -> None:
        self.before = anomaly.state
        switch(True, self.check_nan)


def switch(on: bool, check_nan: bool) -> None:
    """Turn anomaly detection on or off, in all threads at once."""
    if on:
        special.add(anomaly)
    anomaly.state = on, check_nan
    if not on:
        special.discard(anomaly)


def remember_traceback(node: object) -> None:
    """Note in `node.metadata` the call stack of the operation that is being recorded, users' frames only."""
    import traceback  # here, so that `import minigrad` does not load it

    stack = traceback.extract_stack()
    ours = __file__.rsplit("autograd", 1)[0]
    while stack and stack[-1].filename.startswith(ours):
        stack.pop()
    node.metadata["traceback_"] = stack.format()


def warn_of(node: object) -> None:
    """Show where the operation behind `node` was recorded."""
    lines = node.metadata.get("traceback_")
    result = messages.NO_TRACEBACK
    if lines is not None:
        result = "Traceback of forward call that caused the error:\n" + "".join(lines)
    warnings.warn(f"Error detected in {node.name()}. {result}", stacklevel=2)


def refuse_nan(node: object, grad_inputs: tuple) -> None:
    """Raise if one of the gradients that `node` has just made, arrays or Tensors, holds a NaN."""
    for i, grad in enumerate(grad_inputs if anomaly.check_nan else ()):
        array = getattr(grad, "_array", grad)
        if array is not None and array.dtype.kind == "f" and np.isnan(array).any():
            warn_of(node)
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
