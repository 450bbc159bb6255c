"""Recurrent layers: cells that do one step, and RNN, GRU and LSTM that walk along a sequence, in layers, both ways.

Elman 1990; GRU: Cho et al. 2014; LSTM: Hochreiter & Schmidhuber 1997, with forget gates.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from .. import dtypes
from ..ops.joining import cat, stack
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .linear import new_parameter
from .module import Module

# ---------------------------------------------------------------- one step


def rnn_step(x: Tensor, hidden: Tensor, w_hh: Tensor, b_hh: Tensor | None, activation: str) -> Tensor:
    """h' = tanh(x + h Wᵀ + b), where `x` has already been multiplied by its weight."""
    out = F.linear(hidden, w_hh, b_hh) + x
    return out.tanh() if activation == "tanh" else out.relu()


def gru_step(x: Tensor, hidden: Tensor, w_hh: Tensor, b_hh: Tensor | None) -> Tensor:
    """h' = (1 - z)·n + z·h with reset gate r, update gate z and candidate n."""
    x_r, x_z, x_n = x.chunk(3, 1)
    h_r, h_z, h_n = F.linear(hidden, w_hh, b_hh).chunk(3, 1)
    r, z = (h_r + x_r).sigmoid(), (h_z + x_z).sigmoid()
    n = (x_n + h_n * r).tanh()
    return (hidden - n) * z + n


def lstm_step(
    x: Tensor, state: tuple[Tensor, Tensor], w_hh: Tensor, b_hh: Tensor | None
) -> tuple[Tensor, Tensor]:
    """c' = f·c + i·g, h' = o·tanh(c') with gates input i, forget f, output o and candidate g."""
    hidden, cell = state
    i, f, g, o = (F.linear(hidden, w_hh, b_hh) + x).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


# ---------------------------------------------------------------- cells


class _Cell(Module):
    gates: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.gates * hidden_size
        self.weight_ih = new_parameter((rows, input_size), dtype)
        self.weight_hh = new_parameter((rows, hidden_size), dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, new_parameter((rows,), dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform in ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _start(self, input: Tensor) -> tuple[Tensor, bool]:
        """The input as a batch, and whether it was one. Raises ValueError for other dimensions than 1 or 2."""
        if input.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead"
            )
        batch = input if input.dim() == 2 else input.unsqueeze(0)
        if batch.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {batch.shape[1]} expected {self.input_size}"
            )
        return batch, input.dim() == 2

    def _zeros(self, batch: Tensor) -> Tensor:
        return wrap(np.zeros((batch.shape[0], self.hidden_size), batch._array.dtype))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else text + f", bias={self.bias}"


class RNNCell(_Cell):
    """One step of a simple recurrent layer: (N, input), (N, hidden) → (N, hidden)."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__(input_size, hidden_size, bias, device, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next hidden state; `hx` is the last one, zeros if omitted."""
        x, batched = self._start(input)
        h = self._zeros(x) if hx is None else hx if batched else hx.unsqueeze(0)
        given = F.linear(x, self.weight_ih, self.bias_ih)
        out = rnn_step(given, h, self.weight_hh, self.bias_hh, self.nonlinearity)
        return out if batched else out.squeeze(0)

    def extra_repr(self) -> str:
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else text + f", nonlinearity={self.nonlinearity}"


class GRUCell(_Cell):
    """One step of a GRU: (N, input), (N, hidden) → (N, hidden)."""

    gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next hidden state; `hx` is the last one, zeros if omitted."""
        x, batched = self._start(input)
        h = self._zeros(x) if hx is None else hx if batched else hx.unsqueeze(0)
        out = gru_step(F.linear(x, self.weight_ih, self.bias_ih), h, self.weight_hh, self.bias_hh)
        return out if batched else out.squeeze(0)


class LSTMCell(_Cell):
    """One step of an LSTM: (N, input), ((N, hidden), (N, hidden)) → hidden and cell state."""

    gates = 4

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next (hidden, cell) states; `hx` are the last ones, zeros if omitted."""
        x, batched = self._start(input)
        if hx is None:
            hx = (self._zeros(x), self._zeros(x))
        elif not batched:
            hx = tuple(t.unsqueeze(0) for t in hx)
        out = lstm_step(F.linear(x, self.weight_ih, self.bias_ih), hx, self.weight_hh, self.bias_hh)
        return out if batched else tuple(t.squeeze(0) for t in out)


# ---------------------------------------------------------------- sequences


class _Recurrent(Module):
    """What RNN, GRU and LSTM share: weights per layer and direction, and the walk along the sequence."""

    gates: int
    states = 1  # how many tensors carry over from step to step

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        if not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
                UserWarning,
                stacklevel=2,
            )
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = (
            bias,
            batch_first,
            dropout,
            bidirectional,
        )
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                width = input_size if layer == 0 else hidden_size * (2 if bidirectional else 1)
                rows = self.gates * hidden_size
                setattr(self, "weight_ih" + suffix, new_parameter((rows, width), dtype))
                setattr(self, "weight_hh" + suffix, new_parameter((rows, hidden_size), dtype))
                if bias:
                    setattr(self, "bias_ih" + suffix, new_parameter((rows,), dtype))
                    setattr(self, "bias_hh" + suffix, new_parameter((rows,), dtype))
        self.reset_parameters()

    def _suffixes(self, layer: int) -> list[str]:
        """The endings of the parameter names of one layer, one per direction."""
        return [f"_l{layer}", f"_l{layer}_reverse"][: 2 if self.bidirectional else 1]

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform in ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: parameters need no special layout in memory here."""

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None) -> tuple:
        raise NotImplementedError

    def _walk(self, inputs: Tensor, state: tuple, suffix: str, reverse: bool) -> tuple[Tensor, tuple]:
        """One layer in one direction over (L, N, features): the hidden states (L, N, hidden) and the last state."""
        b_ih, b_hh = (getattr(self, n + suffix) if self.bias else None for n in ("bias_ih", "bias_hh"))
        w_hh = getattr(self, "weight_hh" + suffix)
        steps = F.linear(inputs, getattr(self, "weight_ih" + suffix), b_ih).unbind(0)
        outputs = []
        for x in reversed(steps) if reverse else steps:
            state = self._step(x, state, w_hh, b_hh)
            outputs.append(state[0])
        return stack(outputs[::-1] if reverse else outputs), state

    def forward(self, input: Tensor, hx: Tensor | tuple[Tensor, Tensor] | None = None):
        """(L, N, input) → outputs (L, N, hidden·directions) and last states (layers·directions, N, hidden).

        batch_first: (N, L, ...) in and out. Without the batch dimension everything has one dimension less.
        """
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        batched = input.dim() == 3
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )
        inputs = input if batched else input.unsqueeze(1)
        if batched and self.batch_first:
            inputs = inputs.transpose(0, 1)
        states = self._first_states(inputs, hx, batched)
        directions = 2 if self.bidirectional else 1
        last = []
        for layer in range(self.num_layers):
            outputs = []
            for d, suffix in enumerate(self._suffixes(layer)):
                start = tuple(s[layer * directions + d] for s in states)
                out, end = self._walk(inputs, start, suffix, d == 1)
                outputs.append(out)
                last.append(end)
            inputs = outputs[0] if directions == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                inputs = F.dropout(inputs, self.dropout, self.training)
        ends = tuple(stack(parts) for parts in zip(*last, strict=True))
        if batched:
            output = inputs.transpose(0, 1) if self.batch_first else inputs
        else:
            output, ends = inputs.squeeze(1), tuple(e.squeeze(1) for e in ends)
        return output, ends if self.states > 1 else ends[0]

    def _first_states(self, inputs: Tensor, hx, batched: bool) -> tuple:
        shape = (self.num_layers * (2 if self.bidirectional else 1), inputs.shape[1], self.hidden_size)
        if hx is None:
            return (wrap(np.zeros(shape, inputs._array.dtype)),) * self.states
        given = (hx,) if self.states == 1 else tuple(hx)
        if not batched:
            given = tuple(s.unsqueeze(1) for s in given)
        for name, s in zip(
            ("hidden[0]", "hidden[1]") if self.states > 1 else ("hidden",), given, strict=True
        ):
            if tuple(s.shape) != shape:
                raise RuntimeError(f"Expected {name} size {shape}, got {list(s.shape)}")
        return given

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(_Recurrent):
    """Simple recurrent layers: h' = tanh(W x + b + U h + c), or relu."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        )
        self.nonlinearity = nonlinearity

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None) -> tuple:
        return (rnn_step(x, state[0], w_hh, b_hh, self.nonlinearity),)


class GRU(_Recurrent):
    """Gated recurrent layers."""

    gates = 3

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None) -> tuple:
        return (gru_step(x, state[0], w_hh, b_hh),)


class LSTM(_Recurrent):
    """Long short-term memory layers; the states are pairs (hidden, cell)."""

    gates, states = 4, 2

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None) -> tuple:
        return lstm_step(x, state, w_hh, b_hh)


__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]
