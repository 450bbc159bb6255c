"""Recurrent layers: cells that do one step, and RNN and LSTM that walk along a sequence, in layers.

Elman 1990; LSTM: Hochreiter & Schmidhuber 1997, with forget gates.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..autograd.modes import local
from ..ops.nn import unsafe_split
from ..ops.shape import stack
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .module import Module
from .parameter import new_parameter

# ---------------------------------------------------------------- one step
#
# In PyTorch's order and with its writing in place, so that graphs are its graphs too. `x` is the input multiplied by its
# weight already, or a function that does this: cells do it after the product with the hidden state.


def rewritten(x: Tensor, name: str, *others: Tensor | int) -> Tensor:
    """`x.name_(...)`; inside a transform, where a write may be refused, `x.name(...)`."""
    return getattr(x, name + "_" if local.interpreter is None else name)(*others)


def summed(x: Tensor | Callable, hidden: Tensor, w_hh: Tensor, b_hh: Tensor | None) -> Tensor:
    """x + h Wᵀ + b, on which every step begins."""
    out = F.linear(hidden, w_hh, b_hh)
    return rewritten(out, "add", x if isinstance(x, Tensor) else x())


def rnn_step(x: Tensor | Callable, state: tuple, w_hh: Tensor, b_hh: Tensor | None, kind: str) -> tuple:
    """h' = tanh(x + h Wᵀ + b), or relu."""
    return (getattr(summed(x, state[0], w_hh, b_hh), kind)(),)


def lstm_step(x: Tensor | Callable, state: tuple, w_hh: Tensor, b_hh: Tensor | None, kind: str) -> tuple:
    """c' = f·c + i·g, h' = o·tanh(c') with gates input i, forget f, output o and candidate g."""
    hidden, cell = state
    i, f, g, o = unsafe_split(summed(x, hidden, w_hh, b_hh), hidden.shape[1], 1)
    i, f = rewritten(i, "sigmoid"), rewritten(f, "sigmoid")
    g, o = rewritten(g, "tanh"), rewritten(o, "sigmoid")
    cell = rewritten(f * cell, "add", i * g)
    return o * cell.tanh(), cell


def known(nonlinearity: str) -> str:
    """The nonlinearity if there is such a one."""
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
    return nonlinearity


class _Recurrent(Module):
    """What cells and layers share: the kind of step, weights and their starting values."""

    _gates: int
    _step: Callable
    _states: int  # how many tensors carry over from step to step
    nonlinearity = "tanh"

    def _new_weights(self, width: int, suffix: str, dtype: dtypes.dtype | None) -> None:
        rows = self._gates * self.hidden_size
        self.register_parameter("weight_ih" + suffix, new_parameter((rows, width), dtype))
        self.register_parameter("weight_hh" + suffix, new_parameter((rows, self.hidden_size), dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name + suffix, new_parameter((rows,), dtype) if self.bias else None)

    def _weights(self, suffix: str) -> list:
        return [getattr(self, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform in ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        shown = (f", {n}={getattr(self, n)}" for n, usual in self._usual.items() if getattr(self, n) != usual)
        return f"{self.input_size}, {self.hidden_size}{''.join(shown)}"


class _Cell(_Recurrent):
    _usual = {"bias": True, "nonlinearity": "tanh"}  # noqa: RUF012  the printed form leaves it out

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, dtype: dtypes.dtype | None = None
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self._new_weights(input_size, "", dtype)
        self.reset_parameters()

    def forward(self, input: Tensor, hx: Tensor | tuple[Tensor, Tensor] | None = None):
        """The next hidden state (of an LSTM: hidden and cell state); `hx` is the last one, zeros if omitted."""
        x = input if input.dim() == 2 else input.unsqueeze(0)
        if x.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {x.shape[1]} expected {self.input_size}"
            )
        state = (hx,) if self._states == 1 else hx
        if hx is None:
            state = (wrap(np.zeros((x.shape[0], self.hidden_size), x._array.dtype)),) * self._states
        elif input.dim() == 1:
            state = [s.unsqueeze(0) for s in state]
        w_ih, w_hh, b_ih, b_hh = self._weights("")
        out = self._step(lambda: F.linear(x, w_ih, b_ih), state, w_hh, b_hh, self.nonlinearity)
        out = out if input.dim() == 2 else tuple(t.squeeze(0) for t in out)
        return out if self._states == 2 else out[0]


class LSTMCell(_Cell):
    """One step of an LSTM: (N, input), ((N, hidden), (N, hidden)) → hidden and cell state."""

    _gates, _step, _states = 4, staticmethod(lstm_step), 2


class RNNCell(_Cell):
    """One step of a simple recurrent layer: (N, input), (N, hidden) → (N, hidden)."""

    _gates, _step, _states = 1, staticmethod(rnn_step), 1

    def __init__(self, input_size: int, hidden_size: int, bias=True, nonlinearity="tanh", **options):
        super().__init__(input_size, hidden_size, bias, **options)
        self.nonlinearity = known(nonlinearity)


class _Layers(_Recurrent):
    _usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}  # noqa: RUF012

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        for layer in range(num_layers):
            self._new_weights(hidden_size if layer else input_size, f"_l{layer}", dtype)
        self.reset_parameters()

    def forward(self, input: Tensor, hx: Tensor | tuple[Tensor, Tensor] | None = None):
        """(L, N, input) → outputs (L, N, hidden) and the last states of all layers, (num_layers, N, hidden).

        batch_first: (N, L, ...) in and out. Without the batch dimension everything has one dimension less.
        Raises ValueError or RuntimeError for shapes that do not fit.
        """
        self._check_input(input)
        batched, batch_dim = input.dim() == 3, 0 if self.batch_first else 1
        inputs = input if batched else input.unsqueeze(batch_dim)
        states = self._first_states(inputs, inputs.shape[batch_dim], hx, batched)
        inputs = inputs.transpose(0, 1) if self.batch_first else inputs
        ends = []
        for layer, state in enumerate(zip(*[s.unbind(0) for s in states], strict=True)):
            inputs, end = self._walk(inputs, state, f"_l{layer}")
            ends.append(end)
            if self.dropout and layer < self.num_layers - 1:
                inputs = F.dropout(inputs, self.dropout, self.training)
        last = [stack(parts) for parts in reversed(list(zip(*ends, strict=True)))][::-1]  # PyTorch's order
        if self.batch_first:  # in place unless it is an LSTM, as in PyTorch
            inputs = rewritten(inputs, "transpose", 0, 1) if self._states == 1 else inputs.transpose(0, 1)
        if not batched:
            inputs, last = inputs.squeeze(batch_dim), [end.squeeze(1) for end in last]
        return inputs, tuple(last) if self._states == 2 else last[0]

    def _walk(self, inputs: Tensor, state: tuple, suffix: str) -> tuple[Tensor, tuple]:
        """One layer over (L, N, features): the hidden states (L, N, hidden) and the last state."""
        (w_ih, w_hh, b_ih, b_hh), outputs = self._weights(suffix), []
        for x in F.linear(inputs, w_ih, b_ih).unbind(0):
            state = self._step(x, state, w_hh, b_hh, self.nonlinearity)
            outputs.append(state[0])
        return stack(outputs), state

    def _check_input(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            found = f"{input.dim()}D{' tensor' * (self._states == 1)}"
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {found} instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def _first_states(self, inputs: Tensor, count: int, hx: object, batched: bool) -> tuple:
        """The states before the first step, (num_layers, N, hidden); zeros if none are given."""
        shape = (self.num_layers, count, self.hidden_size)
        if hx is None:
            return tuple(wrap(np.zeros(shape, inputs._array.dtype)) for _ in range(self._states))
        given = (hx,) if self._states == 1 else tuple(hx)
        given = given if batched else tuple(s.unsqueeze(1) for s in given)
        for i, s in enumerate(given):
            if tuple(s.shape) != shape:
                name = f"hidden[{i}]" if self._states == 2 else "hidden"
                raise RuntimeError(f"Expected {name} size {shape}, got {list(s.shape)}")
        return given


class LSTM(_Layers):
    """Long short-term memory layers: shapes as for RNN, but a state is a pair (hidden, cell)."""

    _gates, _step, _states = 4, staticmethod(lstm_step), 2


class RNN(_Layers):
    """Simple recurrent layers: `h' = tanh(W x + b + U h + c)`, or relu (nonlinearity="relu").

    x (L, N, input_size), or (N, L, input_size) with batch_first, gives (output, h): the hidden states of the last layer
    at all L steps, (L, N, hidden), and the last states of all layers, (num_layers, N, hidden).
    """

    _gates, _step, _states = 1, staticmethod(rnn_step), 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers=1, nonlinearity="tanh", *args, **options
    ):
        super().__init__(input_size, hidden_size, num_layers, *args, **options)
        self.nonlinearity = known(nonlinearity)


__all__ = ["LSTM", "RNN", "LSTMCell", "RNNCell"]
