"""The common part of recurrent layers: weights, checks of input and state, one step as a cell, the loop over a sequence.

A subclass provides the step (recurrent.py), how many gates it has, and how many tensors carry over from step to step.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..autograd.modes import local
from ..basics import check
from ..func.interpreter import each
from ..ops.shape import stack
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .module import Module
from .parameter import new_parameter, placed


def rewritten(x: Tensor, name: str, *others: Tensor | int) -> Tensor:
    """`x.name_(...)`; inside a transform, where a write may be refused, `x.name(...)`."""
    return getattr(x, name + "_" if local.interpreter is None else name)(*others)


def summed(x: Tensor | Callable, hidden: Tensor, w_hh: Tensor, b_hh: Tensor | None) -> Tensor:
    """x + h Wᵀ + b, with which every step begins."""
    out = F.linear(hidden, w_hh, b_hh)
    return rewritten(out, "add", x if isinstance(x, Tensor) else x())


class Recurrent(Module):
    """The part that cells and layers share: weights, their starting values, and the checks of input and state."""

    _gates: int
    _step: Callable
    _states: int  # how many tensors carry over from step to step

    def __init__(self, input_size: int, hidden_size: int, suffixes: list[str]):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = self._gates * hidden_size
        for i, suffix in enumerate(suffixes):
            columns = hidden_size if i else input_size
            self.register_parameter("weight_ih" + suffix, new_parameter(rows, columns))
            self.register_parameter("weight_hh" + suffix, new_parameter(rows, hidden_size))
            for name in ("bias_ih", "bias_hh"):
                self.register_parameter(name + suffix, new_parameter(rows))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform in ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _weights(self, suffix: str) -> list:
        return [getattr(self, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]

    def _first_states(self, input: Tensor, shape: tuple, hx: object) -> tuple:
        """The states before the first step; zeros if none are given. Raises RuntimeError for sizes that do not fit."""
        message, size = "input.size(-1) must be equal to input_size. Expected {}, got {}", input.shape[-1]
        check(size == self.input_size, message, self.input_size, size)
        if hx is None:
            return tuple(wrap(np.zeros(shape, input._array.dtype)) for _ in range(self._states))
        given = (hx,) if self._states == 1 else tuple(hx)
        for i, s in enumerate(given):
            message = f"Expected hidden{f'[{i}]' * (self._states == 2)} size {shape}, got {list(s.shape)}"
            check(tuple(s.shape) == shape, message)
        return given

    def _with_batch(self, hx: object, dim: int) -> object:
        """The states of an input without a batch dimension, with one added."""
        return hx if hx is None else each(hx if self._states == 1 else tuple(hx), lambda s: s.unsqueeze(dim))

    def extra_repr(self) -> str:
        usual = {"num_layers": 1, "batch_first": False}
        shown = (f", {n}={getattr(self, n)}" for n in usual if getattr(self, n, usual[n]) != usual[n])
        return f"{self.input_size}, {self.hidden_size}{''.join(shown)}"


class Cell(Recurrent):
    @placed
    def __init__(self, input_size: int, hidden_size: int, *, device: object = None, dtype: object = None):
        super().__init__(input_size, hidden_size, [""])

    def forward(self, input: Tensor, hx: Tensor | tuple[Tensor, Tensor] | None = None):
        """The next hidden state (for an LSTM: hidden and cell state); `hx` is the previous one, zeros if omitted."""
        message, ndim = "{}: Expected input to be 1D or 2D, got {}D instead", input.dim()
        check(ndim in (1, 2), message, self._get_name(), ndim, error=ValueError)
        if ndim == 1:
            return each(self.forward(input.unsqueeze(0), self._with_batch(hx, 0)), lambda s: s.squeeze(0))
        state = self._first_states(input, (input.shape[0], self.hidden_size), hx)
        w_ih, w_hh, b_ih, b_hh = self._weights("")
        out = self._step(lambda: F.linear(input, w_ih, b_ih), state, w_hh, b_hh)
        return out if self._states == 2 else out[0]


class Layers(Recurrent):
    @placed
    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, *, batch_first: bool = False,
        device: object = None, dtype: object = None,
    ):  # fmt: skip
        super().__init__(input_size, hidden_size, [f"_l{layer}" for layer in range(num_layers)])
        self.num_layers, self.batch_first = num_layers, batch_first

    def forward(self, input: Tensor, hx: Tensor | tuple[Tensor, Tensor] | None = None):
        """(L, N, input) → outputs (L, N, hidden) and the last states of all layers, (num_layers, N, hidden).

        batch_first: (N, L, ...) in and out. N may be left out everywhere. Raises ValueError or RuntimeError for shapes
        that do not fit.
        """
        message, ndim = "{}: Expected input to be 2D or 3D, got {}D instead", input.dim()
        check(ndim in (2, 3), message, self._get_name(), ndim, error=ValueError)
        if ndim == 2:
            dim = 0 if self.batch_first else 1
            outputs, last = self.forward(input.unsqueeze(dim), self._with_batch(hx, 1))
            return outputs.squeeze(dim), each(last, lambda s: s.squeeze(1))
        shape = self.num_layers, input.shape[0 if self.batch_first else 1], self.hidden_size
        states = self._first_states(input, shape, hx)
        inputs, ends = input.transpose(0, 1) if self.batch_first else input, []
        for layer, state in enumerate(zip(*[s.unbind(0) for s in states], strict=True)):
            (w_ih, w_hh, b_ih, b_hh), outputs = self._weights(f"_l{layer}"), []
            for x in F.linear(inputs, w_ih, b_ih).unbind(0):
                state = self._step(x, state, w_hh, b_hh)
                outputs.append(state[0])
            inputs = stack(outputs)
            ends.append(state)
        last = [stack(parts) for parts in reversed(list(zip(*ends, strict=True)))][::-1]  # PyTorch's order
        if self.batch_first:  # in place unless it is an LSTM, as in PyTorch
            inputs = inputs.transpose_(0, 1) if self._states == 1 else inputs.transpose(0, 1)
        return inputs, tuple(last) if self._states == 2 else last[0]
