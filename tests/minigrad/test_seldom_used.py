"""Arguments and branches that few programs use do what PyTorch's do: each was found by changing the line at random."""

from __future__ import annotations

import copy

import pytest


def test_what_is_saved_for_forward_mode_is_not_what_backward_reads(t):
    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.save_for_forward(x)
            ctx.save_for_backward(by)
            return x * by

        @staticmethod
        def backward(ctx, grad):
            (by,) = ctx.saved_tensors
            return grad * by, None

    x = t.tensor([1.0, 2.0], requires_grad=True)
    Scaled.apply(x, t.tensor(5.0)).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(("index", "fits"), [(2, True), (-3, True), (3, False), (-4, False)])
def test_the_padding_of_an_embedding_is_one_of_its_rows(t, index, fits):
    if fits:
        assert t.nn.Embedding(3, 2, padding_idx=index).padding_idx == index % 3
    else:
        with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
            t.nn.Embedding(3, 2, padding_idx=index)


def test_windows_become_the_image_again_with_the_usual_steps(t):
    f, image = t.nn.functional, t.arange(16.0).view(1, 1, 4, 4)
    assert f.fold(f.unfold(image, 2, stride=2), 4, 2, stride=2).tolist() == image.tolist()
    counted = f.fold(f.unfold(t.ones(1, 1, 3, 3), 2), 3, 2)
    assert counted.view(3, 3).tolist() == [[1, 2, 1], [2, 4, 2], [1, 2, 1]]


def test_only_a_leaf_can_be_copied_whole(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert copy.deepcopy(x).grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


def test_a_quotient_is_rounded_in_one_of_two_ways(t):
    a, b = t.tensor([7.0, -7.0]), t.tensor(2.0)
    assert t.div(a, b, rounding_mode="trunc").tolist() == [3, -3]
    assert t.div(a, b, rounding_mode="floor").tolist() == [3, -4]
    with pytest.raises(
        RuntimeError, match="rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'"
    ):
        t.div(a, b, rounding_mode="up")
