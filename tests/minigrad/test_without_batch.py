"""Recurrent layers, cells and attention take an input without a batch, as in PyTorch: the same values, gradients and nodes."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad

LAYERS = [(name, first) for name in ("RNN", "GRU", "LSTM", "MultiheadAttention") for first in (False, True)]
LAYERS += [(name, False) for name in ("RNNCell", "GRUCell", "LSTMCell")]


def flat(result: object) -> list:
    """The tensors of a result, which may be nested tuples with None."""
    if isinstance(result, tuple):
        return [t for part in result for t in flat(part)]
    return [] if result is None else [result]


def outcome(T, name: str, batch_first: bool) -> tuple[list, list, str]:
    """Results, gradients, and the node of the first result."""
    T.manual_seed(3)
    if name == "MultiheadAttention":
        layer, x, k = T.nn.MultiheadAttention(4, 2, batch_first=batch_first), T.randn(3, 4), T.randn(5, 4)
        x.requires_grad_()
        padding = T.tensor([True, False, False, False, False])
        results = flat((layer(x, k, k, key_padding_mask=padding), layer(x, x, x, need_weights=False)))
        results += flat(layer(x, k, k * 2, average_attn_weights=False))
    else:
        cell = name.endswith("Cell")
        options = {} if cell else {"num_layers": 2, "batch_first": batch_first}
        layer, x = getattr(T.nn, name)(2, 3, **options), T.randn(*([2] if cell else [5, 2]))
        x.requires_grad_()
        state = T.randn(*([3] if cell else [2, 3]))
        results = flat((layer(x), layer(x, (state, state) if "LSTM" in name else state)))
    sum((t * t).sum() for t in results).backward()
    arrays = [t.detach().numpy() for t in results]
    return arrays, [t.grad.numpy() for t in (x, *layer.parameters())], results[0].grad_fn.name()


@pytest.mark.parametrize(("name", "batch_first"), LAYERS)
def test_an_input_without_a_batch(torch, name: str, batch_first: bool) -> None:
    ours, expected = (outcome(T, name, batch_first) for T in (minigrad, torch))
    assert ours[2] == expected[2]
    for mine, theirs in zip((*ours[0], *ours[1]), (*expected[0], *expected[1]), strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda T: T.nn.LSTM(2, 3)(T.ones(4)),
        lambda T: T.nn.GRU(2, 3)(T.ones(1, 1, 4, 2)),
        lambda T: T.nn.LSTMCell(2, 3)(T.ones(4, 2, 2)),
        lambda T: T.nn.MultiheadAttention(4, 2)(*[T.ones(4)] * 3),
        lambda T: T.nn.MultiheadAttention(4, 2)(T.ones(3, 4), T.ones(1, 3, 4), T.ones(3, 4)),
        lambda T: T.nn.MultiheadAttention(4, 2)(T.ones(3, 1, 4), T.ones(3, 4), T.ones(3, 4)),
        lambda T: T.ones(2, 2).amax(((0, 1),)),
        lambda T: T.combinations(T.arange(4.0), 2, 3),
    ],
)
def test_wrong_dimensions_have_pytorchs_words(torch, call) -> None:
    errors = []
    for T in (torch, minigrad):
        with pytest.raises(Exception) as caught:
            call(T)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def test_several_dimensions_as_one_sequence_only(torch) -> None:
    for T in (torch, minigrad):
        x = T.ones(2, 1, 1)
        assert x.squeeze((2, True)).shape == (2,) and x.flip((0, 1)).shape == (2, 1, 1)
        for name in ("sum", "mean"):
            with pytest.raises(TypeError):
                getattr(x, name)(((0, 1),))
