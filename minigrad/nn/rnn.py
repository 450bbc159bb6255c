"""Recurrent layers: cells that do one step, and RNN, GRU and LSTM that walk along a sequence, in layers, both ways.

Elman 1990; GRU: Cho et al. 2014; LSTM: Hochreiter & Schmidhuber 1997, with forget gates.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import local
from ..ops.joining import cat, stack, unsafe_split
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .linear import new_parameter
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

# ---------------------------------------------------------------- one step
#
# In PyTorch's order and with its writing in place, so that graphs are its graphs too. `x` is the input multiplied by its
# weight already, or a function that does this: cells do it after the product with the hidden state.


def given_by(x: Tensor | Callable[[], Tensor]) -> Tensor:
    return x if isinstance(x, Tensor) else x()


def within(x: Tensor, name: str, *others: Tensor | int) -> Tensor:
    """`x.name_(...)`; inside a transform, where a write may be refused, `x.name(...)`."""
    return getattr(x, name + "_" if local.interpreter is None else name)(*others)


def rnn_step(
    x: Tensor | Callable, hidden: Tensor, w_hh: Tensor, b_hh: Tensor | None, activation: str
) -> Tensor:
    """h' = tanh(x + h Wᵀ + b)."""
    out = F.linear(hidden, w_hh, b_hh)
    out = within(out, "add", given_by(x))
    return out.tanh() if activation == "tanh" else out.relu()


def gru_step(x: Tensor | Callable, hidden: Tensor, w_hh: Tensor, b_hh: Tensor | None) -> Tensor:
    """h' = (1 - z)·n + z·h with reset gate r, update gate z and candidate n."""
    size = hidden.shape[1]
    x_r, x_z, x_n = unsafe_split(given_by(x), size, 1)
    h_r, h_z, h_n = unsafe_split(F.linear(hidden, w_hh, b_hh), size, 1)
    r = within(within(h_r, "add", x_r), "sigmoid")
    z = within(within(h_z, "add", x_z), "sigmoid")
    n = within(x_n + within(h_n, "mul", r), "tanh")
    return within(within(hidden - n, "mul", z), "add", n)


def lstm_step(
    x: Tensor | Callable,
    state: tuple[Tensor, Tensor],
    w_hh: Tensor,
    b_hh: Tensor | None,
    w_hr: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """c' = f·c + i·g, h' = o·tanh(c') (· w_hrᵀ) with gates input i, forget f, output o and candidate g."""
    hidden, cell = state
    gates = F.linear(hidden, w_hh, b_hh)
    gates = within(gates, "add", given_by(x))
    i, f, g, o = unsafe_split(gates, gates.shape[1] // 4, 1)
    i, f = within(i, "sigmoid"), within(f, "sigmoid")
    g, o = within(g, "tanh"), within(o, "sigmoid")
    cell = within(f * cell, "add", i * g)
    hidden = o * cell.tanh()
    return hidden if w_hr is None else hidden @ w_hr.t(), cell


# ---------------------------------------------------------------- cells


class RNNCellBase(Module):
    _gates: int

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
        rows = self._gates * hidden_size
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

    def _state(self, given: Tensor | None, batch: Tensor, batched: bool, number: int, name: str) -> Tensor:
        """A state as a batch, zeros if None. Raises ValueError or RuntimeError if its shape does not fit."""
        if given is None:
            return wrap(np.zeros((batch.shape[0], self.hidden_size), batch._array.dtype))
        if given.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {given.dim()}D instead"
            )
        given = given if batched else given.unsqueeze(0)
        if given.shape[0] != batch.shape[0]:
            raise RuntimeError(
                f"Input batch size {batch.shape[0]} doesn't match hidden{number} batch size {given.shape[0]}"
            )
        if given.shape[1] != self.hidden_size:
            raise RuntimeError(
                f"hidden{number} has inconsistent hidden_size: got {given.shape[1]}, expected {self.hidden_size}"
            )
        return given

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias is True else text + f", bias={self.bias}"


class RNNCell(RNNCellBase):
    """One step of a simple recurrent layer: (N, input), (N, hidden) → (N, hidden)."""

    _gates = 1

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
        h = self._state(hx, x, batched, 0, "hidden")
        out = rnn_step(
            lambda: F.linear(x, self.weight_ih, self.bias_ih),
            h,
            self.weight_hh,
            self.bias_hh,
            self.nonlinearity,
        )
        return out if batched else out.squeeze(0)

    def extra_repr(self) -> str:
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else text + f", nonlinearity={self.nonlinearity}"


class GRUCell(RNNCellBase):
    """One step of a GRU: (N, input), (N, hidden) → (N, hidden)."""

    _gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next hidden state; `hx` is the last one, zeros if omitted."""
        x, batched = self._start(input)
        h = self._state(hx, x, batched, 0, "hidden")
        out = gru_step(F.linear(x, self.weight_ih, self.bias_ih), h, self.weight_hh, self.bias_hh)
        return out if batched else out.squeeze(0)


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (N, input), ((N, hidden), (N, hidden)) → hidden and cell state."""

    _gates = 4

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next (hidden, cell) states; `hx` are the last ones, zeros if omitted."""
        x, batched = self._start(input)
        h, c = (None, None) if hx is None else hx
        hx = self._state(h, x, batched, 0, "hx[0]"), self._state(c, x, batched, 1, "hx[1]")
        out = lstm_step(lambda: F.linear(x, self.weight_ih, self.bias_ih), hx, self.weight_hh, self.bias_hh)
        return out if batched else tuple(t.squeeze(0) for t in out)


# ---------------------------------------------------------------- sequences


class RNNBase(Module):
    """What RNN, GRU and LSTM share: weights per layer and direction, and the walk along the sequence."""

    mode: str
    _gates: int
    _states = 1  # how many tensors carry over from step to step

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_options(dropout)
        widths = [input_size] + [self._width * self._directions] * (num_layers - 1)
        rows = self._gates * hidden_size
        for layer, width in enumerate(widths):
            for suffix in self._suffixes(layer):
                shapes = {"weight_ih": (rows, width), "weight_hh": (rows, self._width)}
                if bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, new_parameter(shape, dtype))
        self.reset_parameters()

    def _check_options(self, dropout: float) -> None:
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if self.dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                f"greater than 1, but got dropout={self.dropout} and num_layers={self.num_layers}",
                UserWarning,
                stacklevel=4,
            )
        kinds = {"bias": bool, "batch_first": bool, "input_size": int, "hidden_size": int, "num_layers": int}
        for name, kind in kinds.items():
            given = getattr(self, name)
            if not isinstance(given, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(given).__name__}")
            if kind is int and given <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _width(self) -> int:
        """How many features an output has in one direction."""
        return self.proj_size or self.hidden_size

    def _suffixes(self, layer: int) -> list[str]:
        """The endings of the parameter names of one layer, one per direction."""
        return [f"_l{layer}", f"_l{layer}_reverse"][: self._directions]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters in one list for each layer and direction."""
        suffixes = [s for layer in range(self.num_layers) for s in self._suffixes(layer)]
        return [
            [p for name, p in self._parameters.items() if name.split("_", 2)[-1] == s[1:]] for s in suffixes
        ]

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform in ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: parameters need no special layout in memory here."""

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None, suffix: str) -> tuple:
        raise NotImplementedError

    def _walk(self, inputs: Tensor, state: tuple, suffix: str, reverse: bool) -> tuple[Tensor, tuple]:
        """One layer in one direction over (L, N, features): the hidden states (L, N, hidden) and the last state."""
        b_ih, b_hh = (getattr(self, n + suffix) if self.bias else None for n in ("bias_ih", "bias_hh"))
        w_hh = getattr(self, "weight_hh" + suffix)
        steps = F.linear(inputs, getattr(self, "weight_ih" + suffix), b_ih).unbind(0)
        outputs = []
        for x in reversed(steps) if reverse else steps:
            state = self._step(x, state, w_hh, b_hh, suffix)
            outputs.append(state[0])
        return stack(outputs[::-1] if reverse else outputs), state

    def _walk_packed(
        self, data: Tensor, sizes: list[int], state: tuple, suffix: str, reverse: bool
    ) -> tuple[Tensor, tuple]:
        """As `_walk`, over packed sequences: so many of them, `sizes`, reach each step."""
        b_ih, b_hh = (getattr(self, n + suffix) if self.bias else None for n in ("bias_ih", "bias_hh"))
        w_hh = getattr(self, "weight_hh" + suffix)
        steps = F.linear(data, getattr(self, "weight_ih" + suffix), b_ih).split(sizes)
        outputs, ended = [], []
        now = tuple(s[: sizes[-1]] for s in state) if reverse else state
        for x in reversed(steps) if reverse else steps:
            n, before = x.shape[0], now[0].shape[0]
            if n > before:  # backwards: more sequences have begun to end
                now = tuple(cat([s, start[before:n]]) for s, start in zip(now, state, strict=True))
            elif n < before:
                ended.append(tuple(s[n:] for s in now))
                now = tuple(s[:n] for s in now)
            now = self._step(x, now, w_hh, b_hh, suffix)
            outputs.append(now[0])
        ends = tuple(cat(parts) for parts in zip(now, *reversed(ended), strict=True)) if ended else now
        return cat(outputs[::-1] if reverse else outputs), ends

    def _layers(self, inputs: Tensor, states: tuple, walk: Callable) -> tuple[Tensor, tuple]:
        """All layers in all directions: the outputs of the last, and the last states of all."""
        last, states = [], tuple(s.unbind(0) for s in states)
        for layer in range(self.num_layers):
            outputs = []
            for d, suffix in enumerate(self._suffixes(layer)):
                start = tuple(s[layer * self._directions + d] for s in states)
                out, end = walk(inputs, start, suffix, d == 1)
                outputs.append(out)
                last.append(end)
            inputs = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                inputs = F.dropout(inputs, self.dropout, self.training)
        ends = [stack(parts) for parts in reversed(list(zip(*last, strict=True)))]  # PyTorch's order
        return inputs, tuple(reversed(ends))

    def _forward_packed(self, packed: PackedSequence, hx) -> tuple[PackedSequence, object]:
        data, sizes = packed.data, packed.batch_sizes.tolist()
        self._check_input(data.unsqueeze(1))
        given = None if hx is None else (hx,) if self._states == 1 else tuple(hx)
        self._check_states(given, True)
        if given is not None and packed.sorted_indices is not None:
            given = tuple(s.index_select(1, packed.sorted_indices) for s in given)
        states = self._first_states(data, sizes[0], given, True)
        out, ends = self._layers(
            data, states, lambda x, start, suffix, back: self._walk_packed(x, sizes, start, suffix, back)
        )
        if packed.unsorted_indices is not None:
            ends = tuple(s.index_select(1, packed.unsorted_indices) for s in ends)
        return packed._replace(data=out), ends if self._states > 1 else ends[0]

    def forward(self, input: Tensor, hx: Tensor | tuple[Tensor, Tensor] | None = None):
        """(L, N, input) → outputs (L, N, hidden·directions) and last states (layers·directions, N, hidden).

        A PackedSequence gives a PackedSequence and the states at the end of each sequence.

        batch_first: (N, L, ...) in and out. Without the batch dimension everything has one dimension less.
        Raises ValueError or RuntimeError for shapes and dtypes that do not fit.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        self._check_input(input)
        given = None if hx is None else (hx,) if self._states == 1 else tuple(hx)
        batched = input.dim() == 3
        self._check_states(given, batched)
        batch_dim = 0 if self.batch_first else 1
        inputs = input if batched else input.unsqueeze(batch_dim)
        states = self._first_states(inputs, inputs.shape[batch_dim], given, batched)
        if self.batch_first:
            inputs = inputs.transpose(0, 1)
        if not inputs.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        inputs, ends = self._layers(inputs, states, self._walk)
        if self.batch_first:  # in place unless it is an LSTM, as in PyTorch
            inputs = within(inputs, "transpose", 0, 1) if self._states == 1 else inputs.transpose(0, 1)
        if not batched:
            inputs, ends = inputs.squeeze(batch_dim), tuple(e.squeeze(1) for e in ends)
        return inputs, ends if self._states > 1 else ends[0]

    def _check_input(self, input: Tensor) -> None:
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{type(self).__name__}: expected a Tensor (sequence, batch, feature) or a PackedSequence, but got "
                + type(input).__name__
            )
        if input.dim() not in (2, 3):
            word = "D tensor instead" if self.mode.startswith("RNN") else "D instead"
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}{word}")
        wanted = self.weight_ih_l0.dtype
        if input.dtype is not wanted:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({wanted}). Convert input: "
                f"input.to({wanted}), or convert model: model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def _check_states(self, given: tuple | None, batched: bool) -> None:
        if given is None:
            return
        if len(given) != self._states:
            raise RuntimeError(f"{type(self).__name__}: expected hx to be a pair (h_0, c_0)")
        dim = 3 if batched else 2
        if any(s.dim() != dim for s in given):
            which = f"For {'batched 3' if batched else 'unbatched 2'}-D input,"
            if self._states > 1:
                found = ", ".join(f"{s.dim()}-D" for s in given)
                raise RuntimeError(f"{which} hx and cx should also be {dim}-D but got ({found}) tensors")
            raise RuntimeError(f"{which} hx should also be {dim}-D but got {given[0].dim()}-D tensor")

    def _first_states(self, inputs: Tensor, count: int, given: tuple | None, batched: bool) -> tuple:
        """The states before the first step, (layers·directions, N, features); zeros if none are given."""
        lead = (self.num_layers * self._directions, count)
        shapes = [(*lead, self._width), (*lead, self.hidden_size)][: self._states]
        if given is None:
            return tuple(wrap(np.zeros(shape, inputs._array.dtype)) for shape in shapes)
        if not batched:
            given = tuple(s.unsqueeze(1) for s in given)
        for i, (s, shape) in enumerate(zip(given, shapes, strict=True)):
            if tuple(s.shape) != shape:
                name = f"hidden[{i}]" if self._states > 1 else "hidden"
                raise RuntimeError(f"Expected {name} size {shape}, got {list(s.shape)}")
        return given

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
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


def refuse_projection(options: dict) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Simple recurrent layers: `h' = tanh(W x + b + U h + c)`, or relu (nonlinearity="relu").

    x (L, N, input_size), or (N, L, input_size) with batch_first, gives (output, h): the hidden states of the last layer
    at all L steps, (L, N, hidden·directions), and the last states of all layers, (num_layers·directions, N, hidden).
    """

    _gates = 1

    @property
    def mode(self) -> str:
        """PyTorch's name of the kind of layer."""
        return f"RNN_{self.nonlinearity.upper()}"

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
        **others: object,
    ):
        refuse_projection(others)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            dtype=dtype,
            **others,
        )
        self.nonlinearity = nonlinearity

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None, suffix: str) -> tuple:
        return (rnn_step(x, state[0], w_hh, b_hh, self.nonlinearity),)


class GRU(RNNBase):
    """Gated recurrent layers: `h' = (1 - z)·n + z·h` with an update gate z and a candidate n (Cho et al. 2014).

    Shapes as for RNN.
    """

    mode, _gates = "GRU", 3

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
        **others: object,
    ):
        refuse_projection(others)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            dtype=dtype,
            **others,
        )

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None, suffix: str) -> tuple:
        return (gru_step(x, state[0], w_hh, b_hh),)


class LSTM(RNNBase):
    """Long short-term memory layers: shapes as for RNN, but a state is a pair (hidden, cell).

    proj_size: so many features of the hidden state are left, after one more matrix (Sak et al. 2014); the cell keeps all.
    """

    mode, _gates, _states = "LSTM", 4, 2

    def _step(self, x: Tensor, state: tuple, w_hh: Tensor, b_hh: Tensor | None, suffix: str) -> tuple:
        w_hr = getattr(self, "weight_hr" + suffix) if self.proj_size else None
        return lstm_step(x, state, w_hh, b_hh, w_hr)


__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]
