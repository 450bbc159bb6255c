"""Anomaly mode: remember where each node was recorded, and stop the backward pass at the first NaN."""

from __future__ import annotations

import traceback
import warnings

import numpy as np

from .. import messages
from .modes import anomaly, special
from .node import Node


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


def remember_traceback(node: Node) -> None:
    """Note in `node.metadata` the call stack of the operation that is being recorded, users' frames only."""
    stack = traceback.extract_stack()
    ours = __file__.rsplit("autograd", 1)[0]
    while stack and stack[-1].filename.startswith(ours):
        stack.pop()
    node.metadata["traceback_"] = stack.format()


def warn_of(node: Node) -> None:
    """Show where the operation behind `node` was recorded."""
    lines = node.metadata.get("traceback_")
    result = messages.NO_TRACEBACK
    if lines is not None:
        result = "Traceback of forward call that caused the error:\n" + "".join(lines)
    warnings.warn(f"Error detected in {node.name()}. {result}", stacklevel=2)


def refuse_nan(node: Node, grad_inputs: tuple) -> None:
    """Raise if one of the gradients that `node` has just made, arrays or Tensors, holds a NaN."""
    for i, grad in enumerate(grad_inputs if anomaly.check_nan else ()):
        array = getattr(grad, "_array", grad)
        if array is not None and array.dtype.kind == "f" and np.isnan(array).any():
            warn_of(node)
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
