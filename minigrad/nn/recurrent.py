"""Recurrent layers: the step of each, a cell that does one step, and layers that run along a sequence.

Elman 1990; LSTM: Hochreiter & Schmidhuber 1997, with forget gates; GRU: Cho et al. 2014.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ops.nn import unsafe_split
from ..tensor import Tensor
from . import functional as F
from .recurrence import Cell, Layers, rewritten, summed

# ---------------------------------------------------------------- one step
#
# Operations and writes in place are PyTorch's, in its order, so the graphs are too. `x` is the input already multiplied by its
# weight, or a function that does this: cells call it after the product with the hidden state.


def rnn_step(x: Tensor | Callable, state: tuple, w_hh: Tensor, b_hh: Tensor | None) -> tuple:
    """h' = tanh(x + h Wᵀ + b)"""
    return (summed(x, state[0], w_hh, b_hh).tanh(),)


def lstm_step(x: Tensor | Callable, state: tuple, w_hh: Tensor, b_hh: Tensor | None) -> tuple:
    """c' = f·c + i·g, h' = o·tanh(c') with gates input i, forget f, output o and candidate g."""
    hidden, cell = state
    i, f, g, o = unsafe_split(summed(x, hidden, w_hh, b_hh), hidden.shape[1], 1)
    i, f = rewritten(i, "sigmoid"), rewritten(f, "sigmoid")
    g, o = rewritten(g, "tanh"), rewritten(o, "sigmoid")
    cell = rewritten(f * cell, "add", i * g)
    return o * cell.tanh(), cell


def gru_step(x: Tensor | Callable, state: tuple, w_hh: Tensor, b_hh: Tensor | None) -> tuple:
    """h' = (h - n)·z + n with the gates reset r and update z, and the candidate n = tanh(x_n + r·h_n)."""
    (hidden,) = state
    x_r, x_z, x_n = unsafe_split(x if isinstance(x, Tensor) else x(), hidden.shape[1], 1)
    h_r, h_z, h_n = unsafe_split(F.linear(hidden, w_hh, b_hh), hidden.shape[1], 1)
    r = rewritten(rewritten(h_r, "add", x_r), "sigmoid")
    z = rewritten(rewritten(h_z, "add", x_z), "sigmoid")
    n = rewritten(x_n + rewritten(h_n, "mul", r), "tanh")
    return (rewritten(rewritten(hidden - n, "mul", z), "add", n),)


class LSTMCell(Cell):
    """One step of an LSTM: (N, input), ((N, hidden), (N, hidden)) → hidden and cell state."""

    _gates, _step, _states = 4, staticmethod(lstm_step), 2


class GRUCell(Cell):
    """One step of a GRU: (N, input), (N, hidden) → (N, hidden)."""

    _gates, _step, _states = 3, staticmethod(gru_step), 1


class RNNCell(Cell):
    """One step of a simple recurrent layer: (N, input), (N, hidden) → (N, hidden)."""

    _gates, _step, _states = 1, staticmethod(rnn_step), 1


class LSTM(Layers):
    """Long short-term memory layers: shapes as for RNN, but a state is a pair (hidden, cell)."""

    _gates, _step, _states = 4, staticmethod(lstm_step), 2


class GRU(Layers):
    """Layers of gated recurrent units: shapes as for RNN."""

    _gates, _step, _states = 3, staticmethod(gru_step), 1


class RNN(Layers):
    """Simple recurrent layers: `h' = tanh(W x + b + U h + c)`.

    x (L, N, input_size), or (N, L, input_size) with batch_first, gives (output, h): the hidden states of the last layer
    at all L steps, (L, N, hidden), and the last states of all layers, (num_layers, N, hidden).
    """

    _gates, _step, _states = 1, staticmethod(rnn_step), 1


__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]
