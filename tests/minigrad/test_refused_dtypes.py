"""Integers and booleans where PyTorch does not take them: the same operations refuse them, in the same words."""

from __future__ import annotations

import itertools
import re
import warnings
from types import ModuleType

import numpy as np
import pytest

import minigrad
from tests.minigrad.operations import CONSTANTS, OPERATIONS, Operation

KINDS = ("float64", "int64", "uint8", "bool")
# Where minigrad is known to differ, by a pattern of the expression: what it does, and why.
KNOWN = {
    r"binary_cross_entropy_with_logits": "float64 beside float32: minigrad's result is the wider of the two",
    r"huber_loss": "mixed kinds are promoted, where PyTorch asks whether the result can be cast back",
    r"layer_norm\(x, \(3,\), y": "of two errors, that of the input comes first",
    r"conv2d.*dilation|avg_pool|interpolate|F\.unfold": "images of integers are not computed",
    r"softmax\(0\)": "PyTorch's kernel depends on the sizes",
    r"x\.t\(\) @ x": "PyTorch's product of truth values depends on how they lie in memory",
    r"matrix_rank": "the words of the singular values",
}


def outcome(torch: ModuleType, op: Operation, arrays: dict, kinds: tuple[str, ...]) -> tuple[str, str]:
    """(the error's type, its first line), or ("", the result's dtype)."""
    tensors = {
        name: torch.tensor(
            (a if kind == "float64" else np.abs(np.round(a))).tolist(), dtype=getattr(torch, kind)
        ).reshape(a.shape)
        for (name, a), kind in zip(arrays.items(), kinds, strict=True)
    }
    try:
        return "", str(getattr(op.on(torch, tensors), "dtype", "no tensor"))
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]


def test_what_pytorch_refuses_is_refused_in_its_words(torch):
    differing = []
    for op in OPERATIONS + CONSTANTS:
        if any(re.search(pattern, op.expression) for pattern in KNOWN):
            continue
        arrays = op.inputs(1)
        mixed = itertools.product(KINDS, KINDS) if len(arrays) == 2 else [(k,) * len(arrays) for k in KINDS]
        for kinds in mixed:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs, ours = (outcome(engine, op, arrays, kinds) for engine in (torch, minigrad))
            if theirs != ours:
                differing.append(f"{op.expression} {kinds}\n    PyTorch  {theirs}\n    minigrad {ours}")
    assert not differing, f"{len(differing)}:\n" + "\n".join(differing[:12])


@pytest.mark.parametrize("pattern", KNOWN)
def test_every_known_difference_is_one_of_the_operations(pattern: str) -> None:
    assert any(re.search(pattern, op.expression) for op in OPERATIONS + CONSTANTS)
