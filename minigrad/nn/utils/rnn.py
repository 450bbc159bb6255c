"""Sequences of different lengths in one tensor: filled up, or packed one step behind the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...ops.joining import cat, stack
from ...tensor import Tensor, wrap
from .. import functional as F


def pad_sequence(
    sequences: Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (L, *) of different lengths as one tensor: (longest, N, *), or with batch_first (N, longest, *).

    What is missing is padding_value, at the end, or with padding_side="left" at the beginning.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            + str(type(sequences))
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    parts = list(sequences)
    if not parts:
        raise RuntimeError("received an empty list of sequences")
    longest = max(p.shape[0] for p in parts)
    padded = []
    for p in parts:
        missing = longest - p.shape[0]
        sides = (missing, 0) if padding_side == "left" else (0, missing)
        padded.append(F.pad(p, (0, 0) * (p.dim() - 1) + sides, value=padding_value))
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False
) -> list[Tensor]:
    """The sequences of these lengths that pad_sequence put together."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [p[: int(n)] for p, n in zip(padded_sequences, lengths, strict=True)]


class PackedSequence(NamedTuple):
    """Sequences without padding: all first elements, then all second ones, ..., the longest sequence first.

    data: (Σ lengths, *). batch_sizes: how many sequences reach each step. sorted_indices, unsorted_indices: the order of the
    sequences and back, None if they were in order.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """The sequences of these lengths in a padded tensor (L, N, *), or with batch_first (N, L, *), for a recurrent layer.

    enforce_sorted: they must be ordered by length, the longest first; else they are put in that order, and back at the end.
    """
    sizes = np.array([int(n) for n in lengths], np.int64)
    if batch_first:
        input = input.transpose(0, 1)
    if len(sizes) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.shape[1]})"
        )
    if (sizes <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    order = back = None
    if enforce_sorted:
        if (np.diff(sizes) > 0).any():
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
                "not need ONNX exportability."
            )
    else:
        places = np.argsort(-sizes, kind="stable")
        sizes, order, back = sizes[places], wrap(places), wrap(np.argsort(places))
        input = input.index_select(1, order)
    if sizes[0] > input.shape[0]:
        raise RuntimeError(f"a sequence of length {sizes[0]} does not fit into {input.shape[0]} steps")
    times, examples = np.nonzero(np.arange(sizes[0])[:, None] < sizes)
    reached = (np.arange(sizes[0])[:, None] < sizes).sum(1)
    return PackedSequence(input[wrap(times), wrap(examples)], wrap(reached), order, back)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """(the sequences with padding, (L, N, *) or with batch_first (N, L, *); their lengths)."""
    reached = sequence.batch_sizes._array
    steps, count = len(reached), int(reached[0])
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    data = sequence.data
    rows = np.full(
        (steps, count), data.shape[0]
    )  # where an element stands in the data; at the end the padding
    for t, (start, n) in enumerate(zip(np.cumsum(reached) - reached, reached, strict=True)):
        rows[t, :n] = np.arange(start, start + n)
    lengths = (np.arange(len(reached))[:, None] < (reached[:, None] > np.arange(count)).sum(0)).sum(0)
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices._array
        rows, lengths = rows[:, back], lengths[back]
    filling = wrap(np.full((1, *data.shape[1:]), padding_value, data._array.dtype))
    padded = cat([data, filling])[wrap(rows.T if batch_first else rows)]
    return padded, wrap(lengths)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (L, *) of different lengths, packed."""
    lengths = [p.shape[0] for p in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))


__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence", "unpack_sequence",
    "unpad_sequence",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
