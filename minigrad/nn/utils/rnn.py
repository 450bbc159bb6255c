"""Sequences of different lengths in one tensor, filled up at the end (or the beginning)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ops.joining import stack
from ...tensor import Tensor
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


def pack_padded_sequence(*args: object, **kwargs: object) -> None:
    """Not here: give recurrent layers padded sequences, and take the states at the ends with the lengths."""
    raise NotImplementedError(
        "minigrad's recurrent layers take padded tensors, not packed sequences: call the layer on the padded input and "
        "read the output at each sequence's last step, out[lengths - 1, range(batch)]"
    )


__all__ = ["pack_padded_sequence", "pad_sequence", "unpad_sequence"]
