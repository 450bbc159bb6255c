"""torch.nn.functional, function by function, against PyTorch: value, graph, first and second derivatives, errors.

A new function is tested by being listed in CASES; a new way to call one wrongly, in BAD_CALLS.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minigrad

RNG = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def probabilities(*shape: int) -> np.ndarray:
    return RNG.uniform(0.1, 0.9, shape)


def classes(count: int, *shape: int) -> np.ndarray:
    return RNG.integers(0, count, shape)


# name: (the call, the arrays it gets). Floating point arrays are differentiated; functions get (torch, F, *tensors).
IMAGE, SIGNAL, BLOCK = normal(2, 4, 6, 7), normal(2, 4, 9), normal(1, 2, 4, 5, 6)
LOGITS, TARGETS = normal(5, 4), normal(5, 4)
CASES = {
    "conv1d": (lambda t, F, x, w, b: F.conv1d(x, w, b), SIGNAL, normal(3, 4, 3), normal(3)),
    "conv1d stride padding dilation": (
        lambda t, F, x, w: F.conv1d(x, w, stride=2, padding=3, dilation=2),
        SIGNAL,
        normal(3, 4, 3),
    ),
    "conv1d same": (lambda t, F, x, w: F.conv1d(x, w, padding="same"), SIGNAL, normal(3, 4, 4)),
    "conv1d valid": (lambda t, F, x, w: F.conv1d(x, w, padding="valid"), SIGNAL, normal(3, 4, 4)),
    "conv2d": (lambda t, F, x, w, b: F.conv2d(x, w, b), IMAGE, normal(3, 4, 3, 2), normal(3)),
    "conv2d unbatched": (lambda t, F, x, w: F.conv2d(x, w), IMAGE[0], normal(3, 4, 3, 2)),
    "conv2d groups": (
        lambda t, F, x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(0, 2), dilation=(1, 2), groups=2),
        IMAGE,
        normal(6, 2, 3, 2),
        normal(6),
    ),
    "conv2d depthwise": (lambda t, F, x, w: F.conv2d(x, w, padding=1, groups=4), IMAGE, normal(8, 1, 3, 3)),
    "conv2d whole strides": (lambda t, F, x, w: F.conv2d(x, w, stride=3), IMAGE, normal(2, 4, 2, 2)),
    "conv3d": (lambda t, F, x, w: F.conv3d(x, w, padding=1), normal(1, 2, 3, 4, 3), normal(2, 2, 2, 3, 2)),
    "conv_transpose1d": (
        lambda t, F, x, w, b: F.conv_transpose1d(x, w, b, stride=2, padding=1, output_padding=1),
        SIGNAL,
        normal(4, 3, 3),
        normal(3),
    ),
    "conv_transpose2d": (
        lambda t, F, x, w: F.conv_transpose2d(x, w, stride=2, groups=2, dilation=2),
        IMAGE,
        normal(4, 3, 2, 3),
    ),
    "max_pool1d": (lambda t, F, x: F.max_pool1d(x, 2), SIGNAL),
    "max_pool2d": (lambda t, F, x: F.max_pool2d(x, 2), IMAGE),
    "max_pool2d overlapping": (lambda t, F, x: F.max_pool2d(x, (3, 2), stride=1, padding=1), IMAGE),
    "max_pool2d dilation": (lambda t, F, x: F.max_pool2d(x, 2, dilation=2, stride=3), IMAGE),
    "max_pool2d ceil": (lambda t, F, x: F.max_pool2d(x, 3, stride=2, ceil_mode=True), IMAGE),
    "max_pool2d indices": (lambda t, F, x: F.max_pool2d(x, 3, return_indices=True)[1] * 1.0, IMAGE),
    "max_pool2d ties": (lambda t, F, x: F.max_pool2d(x, 2), np.ones((1, 1, 4, 4))),
    "max_pool2d unbatched": (lambda t, F, x: F.max_pool2d(x, 2), IMAGE[0]),
    "avg_pool1d": (lambda t, F, x: F.avg_pool1d(x, 3, stride=2, padding=1), SIGNAL),
    "avg_pool2d": (lambda t, F, x: F.avg_pool2d(x, 2), IMAGE),
    "avg_pool2d padding": (lambda t, F, x: F.avg_pool2d(x, (3, 2), stride=2, padding=1), IMAGE),
    "avg_pool2d without padding": (
        lambda t, F, x: F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False, ceil_mode=True),
        IMAGE,
    ),
    "avg_pool2d ceil": (lambda t, F, x: F.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True), IMAGE),
    "avg_pool2d divisor": (lambda t, F, x: F.avg_pool2d(x, 2, divisor_override=3), IMAGE),
    "adaptive_avg_pool1d": (lambda t, F, x: F.adaptive_avg_pool1d(x, 4), SIGNAL),
    "adaptive_avg_pool2d": (lambda t, F, x: F.adaptive_avg_pool2d(x, (4, 3)), IMAGE),
    "adaptive_avg_pool2d 1": (lambda t, F, x: F.adaptive_avg_pool2d(x, 1), IMAGE),
    "adaptive_avg_pool2d None": (lambda t, F, x: F.adaptive_avg_pool2d(x, (None, 2)), IMAGE),
    "max_pool3d": (lambda t, F, x: F.max_pool3d(x, 2, 1, 1, dilation=(1, 2, 1)), BLOCK),
    "max_pool3d indices": (
        lambda t, F, x: F.max_pool3d(x, 2, ceil_mode=True, return_indices=True)[1] * 1.0,
        BLOCK,
    ),
    "avg_pool3d": (lambda t, F, x: F.avg_pool3d(x, 2, 1, 1), BLOCK),
    "avg_pool3d without padding": (
        lambda t, F, x: F.avg_pool3d(x, (2, 3, 2), 2, 1, ceil_mode=True, count_include_pad=False),
        BLOCK,
    ),
    "adaptive_avg_pool3d": (lambda t, F, x: F.adaptive_avg_pool3d(x, (2, None, 3)), BLOCK),
    "adaptive_max_pool1d": (lambda t, F, x: F.adaptive_max_pool1d(x, 4), SIGNAL),
    "adaptive_max_pool2d": (lambda t, F, x: F.adaptive_max_pool2d(x, (4, None)), IMAGE),
    "adaptive_max_pool2d indices": (lambda t, F, x: F.adaptive_max_pool2d(x, 3, True)[1] * 1.0, IMAGE),
    "adaptive_max_pool3d": (lambda t, F, x: F.adaptive_max_pool3d(x, (2, 1, 3)), BLOCK),
    "lp_pool1d": (lambda t, F, x: F.lp_pool1d(x, 2, 3), SIGNAL),
    "lp_pool2d": (lambda t, F, x: F.lp_pool2d(x.abs(), 1.5, (2, 3), stride=1), IMAGE),
    "local_response_norm": (lambda t, F, x: F.local_response_norm(x, 3, alpha=0.1, beta=0.5, k=2.0), SIGNAL),
    "local_response_norm of images": (lambda t, F, x: F.local_response_norm(x, 2, alpha=0.1), IMAGE),
    "interpolate nearest": (lambda t, F, x: F.interpolate(x, 5), SIGNAL),
    "interpolate nearest 2d": (lambda t, F, x: F.interpolate(x, scale_factor=(1.7, 0.6)), IMAGE),
    "interpolate nearest 3d": (lambda t, F, x: F.interpolate(x, scale_factor=2), BLOCK),
    "interpolate nearest-exact": (lambda t, F, x: F.interpolate(x, (4, 9), mode="nearest-exact"), IMAGE),
    "interpolate linear": (lambda t, F, x: F.interpolate(x, scale_factor=1.6, mode="linear"), SIGNAL),
    "interpolate linear down": (
        lambda t, F, x: F.interpolate(x, 4, mode="linear", align_corners=True),
        SIGNAL,
    ),
    "interpolate bilinear": (lambda t, F, x: F.interpolate(x, scale_factor=1.5, mode="bilinear"), IMAGE),
    "interpolate bilinear recomputed": (
        lambda t, F, x: F.interpolate(x, scale_factor=1.3, mode="bilinear", recompute_scale_factor=True),
        IMAGE,
    ),
    "interpolate bilinear corners": (
        lambda t, F, x: F.interpolate(x, (1, 11), mode="bilinear", align_corners=True),
        IMAGE,
    ),
    "interpolate trilinear": (lambda t, F, x: F.interpolate(x, (5, 2, 7), mode="trilinear"), BLOCK),
    "interpolate bicubic": (lambda t, F, x: F.interpolate(x, (9, 4), mode="bicubic"), IMAGE),
    "interpolate bicubic corners": (
        lambda t, F, x: F.interpolate(x, (9, 4), mode="bicubic", align_corners=True),
        IMAGE,
    ),
    "interpolate area": (lambda t, F, x: F.interpolate(x, (4, 3), mode="area"), IMAGE),
    "unfold": (lambda t, F, x: F.unfold(x, (3, 2), dilation=(1, 2), padding=(2, 1), stride=2), IMAGE),
    "unfold unbatched": (lambda t, F, x: F.unfold(x, 2), IMAGE[0]),
    "fold": (lambda t, F, x: F.fold(x, (4, 5), (2, 3), padding=1), normal(2, 12, 25)),
    "fold dilation": (lambda t, F, x: F.fold(x, 5, 2, dilation=2, stride=2), normal(8, 4)),
    "pixel_shuffle": (lambda t, F, x: F.pixel_shuffle(x, 2), normal(2, 8, 3, 2)),
    "pixel_unshuffle": (lambda t, F, x: F.pixel_unshuffle(x, 2), normal(3, 4, 6)),
    "conv_transpose3d": (
        lambda t, F, x, w, b: F.conv_transpose3d(x, w, b, stride=2, output_padding=1),
        BLOCK,
        normal(2, 3, 2, 2, 2),
        normal(3),
    ),
    "pad": (lambda t, F, x: F.pad(x, (1, 2)), SIGNAL),
    "pad two dimensions": (lambda t, F, x: F.pad(x, (1, 2, 0, 3), value=2.5), IMAGE),
    "pad negative": (lambda t, F, x: F.pad(x, (-1, 2, 1, -2)), IMAGE),
    "pad reflect": (lambda t, F, x: F.pad(x, (2, 1), mode="reflect"), SIGNAL),
    "pad reflect 2d": (lambda t, F, x: F.pad(x, (2, 1, 3, 5), mode="reflect"), IMAGE),
    "pad replicate": (lambda t, F, x: F.pad(x, (2, 1, 3, 5), mode="replicate"), IMAGE),
    "embedding": (lambda t, F, w, i: F.embedding(i, w), normal(6, 3), classes(6, 4, 2)),
    "embedding padding_idx": (
        lambda t, F, w, i: F.embedding(i, w, padding_idx=-5),
        normal(6, 3),
        classes(3, 9),
    ),
    "embedding by frequency": (
        lambda t, F, w, i: F.embedding(i, w, scale_grad_by_freq=True),
        normal(6, 3),
        classes(3, 9),
    ),
    "one_hot": (lambda t, F, i: F.one_hot(i), classes(5, 2, 3)),
    "one_hot with a number": (lambda t, F, i: F.one_hot(i, 7), classes(5, 2, 3)),
    "layer_norm": (lambda t, F, x, w, b: F.layer_norm(x, (7,), w, b), IMAGE, normal(7), normal(7)),
    "layer_norm plain": (lambda t, F, x: F.layer_norm(x, (4, 9), eps=0.1), SIGNAL),
    "layer_norm without bias": (lambda t, F, x, w: F.layer_norm(x, (9,), w), SIGNAL, normal(9)),
    "batch_norm": (
        lambda t, F, x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        IMAGE,
        normal(4),
        normal(4),
    ),
    "batch_norm plain": (lambda t, F, x: F.batch_norm(x, None, None, training=True, eps=0.3), LOGITS),
    "batch_norm evaluation": (
        lambda t, F, x, w, b: F.batch_norm(x, t.full((4,), 0.3).double(), t.full((4,), 1.7).double(), w, b),
        IMAGE,
        normal(4),
        normal(4),
    ),
    "group_norm": (lambda t, F, x, w, b: F.group_norm(x, 2, w, b), IMAGE, normal(4), normal(4)),
    "group_norm plain": (lambda t, F, x: F.group_norm(x, 4), SIGNAL),
    "instance_norm": (lambda t, F, x: F.instance_norm(x), IMAGE),
    "rms_norm": (lambda t, F, x, w: F.rms_norm(x, (9,), w, eps=1e-5), SIGNAL, normal(9)),
    "normalize": (lambda t, F, x: F.normalize(x), LOGITS),
    "normalize p": (lambda t, F, x: F.normalize(x, p=3.0, dim=0), LOGITS),
    "cosine_similarity": (lambda t, F, a, b: F.cosine_similarity(a, b), LOGITS, TARGETS),
    "pairwise_distance": (lambda t, F, a, b: F.pairwise_distance(a, b), LOGITS, TARGETS),
    "mse_loss": (lambda t, F, x, y: F.mse_loss(x, y), LOGITS, TARGETS),
    "mse_loss none": (lambda t, F, x, y: F.mse_loss(x, y, reduction="none"), LOGITS, TARGETS),
    "mse_loss sum": (lambda t, F, x, y: F.mse_loss(x, y, reduction="sum"), LOGITS, TARGETS),
    "mse_loss broadcast": (lambda t, F, x, y: F.mse_loss(x, y), LOGITS, TARGETS[:, :1]),
    "mse_loss weight": (
        lambda t, F, x, y, w: F.mse_loss(x, y, weight=w),
        LOGITS,
        TARGETS,
        probabilities(5, 4),
    ),
    "l1_loss": (lambda t, F, x, y: F.l1_loss(x, y), LOGITS, TARGETS),
    "l1_loss sum": (lambda t, F, x, y: F.l1_loss(x, y, reduction="sum"), LOGITS, TARGETS),
    "smooth_l1_loss": (lambda t, F, x, y: F.smooth_l1_loss(x, y), LOGITS, TARGETS),
    "smooth_l1_loss beta": (
        lambda t, F, x, y: F.smooth_l1_loss(x, y, beta=0.4, reduction="none"),
        LOGITS,
        TARGETS,
    ),
    "smooth_l1_loss beta 0": (lambda t, F, x, y: F.smooth_l1_loss(x, y, beta=0.0), LOGITS, TARGETS),
    "huber_loss": (lambda t, F, x, y: F.huber_loss(x, y, delta=0.7), LOGITS, TARGETS),
    "nll_loss": (lambda t, F, x, y: F.nll_loss(x, y), LOGITS, classes(4, 5)),
    "nll_loss one example": (lambda t, F, x, y: F.nll_loss(x, y), LOGITS[0], classes(4)),
    "nll_loss weight": (
        lambda t, F, x, y: F.nll_loss(x, y, t.tensor([1.0, 2, 0.5, 3]).double()),
        LOGITS,
        classes(4, 5),
    ),
    "nll_loss images": (lambda t, F, x, y: F.nll_loss(x, y, reduction="sum"), IMAGE, classes(4, 2, 6, 7)),
    "nll_loss signals": (lambda t, F, x, y: F.nll_loss(x, y), SIGNAL, classes(4, 2, 9)),
    "cross_entropy": (lambda t, F, x, y: F.cross_entropy(x, y), LOGITS, classes(4, 5)),
    "cross_entropy none": (lambda t, F, x, y: F.cross_entropy(x, y, reduction="none"), LOGITS, classes(4, 5)),
    "cross_entropy sum": (lambda t, F, x, y: F.cross_entropy(x, y, reduction="sum"), LOGITS, classes(4, 5)),
    "cross_entropy one example": (lambda t, F, x, y: F.cross_entropy(x, y), LOGITS[0], classes(4)),
    "cross_entropy ignore_index": (
        lambda t, F, x, y: F.cross_entropy(x, y, ignore_index=1),
        LOGITS,
        np.array([1, 0, 2, 1, 3]),
    ),
    "cross_entropy weight, ignore_index, smoothing": (
        lambda t, F, x, y: F.cross_entropy(
            x, y, t.tensor([1.0, 2, 0.5, 3]).double(), ignore_index=1, label_smoothing=0.2
        ),
        LOGITS,
        np.array([1, 0, 2, 1, 3]),
    ),
    "cross_entropy smoothing": (
        lambda t, F, x, y: F.cross_entropy(x, y, label_smoothing=0.1),
        LOGITS,
        classes(4, 5),
    ),
    "cross_entropy smoothing none": (
        lambda t, F, x, y: F.cross_entropy(x, y, label_smoothing=0.1, reduction="none"),
        LOGITS,
        classes(4, 5),
    ),
    "cross_entropy images": (lambda t, F, x, y: F.cross_entropy(x, y), IMAGE, classes(4, 2, 6, 7)),
    "cross_entropy signals": (
        lambda t, F, x, y: F.cross_entropy(x, y, reduction="none"),
        SIGNAL,
        classes(4, 2, 9),
    ),
    "cross_entropy probabilities": (lambda t, F, x, y: F.cross_entropy(x, y), LOGITS, probabilities(5, 4)),
    "cross_entropy probabilities, weight, smoothing": (
        lambda t, F, x, y, w: F.cross_entropy(x, y, w.detach(), label_smoothing=0.3, reduction="sum"),
        LOGITS,
        probabilities(5, 4),
        probabilities(4),
    ),
    "cross_entropy probabilities none": (
        lambda t, F, x, y: F.cross_entropy(x, y, reduction="none"),
        IMAGE,
        probabilities(*IMAGE.shape),
    ),
    "binary_cross_entropy": (
        lambda t, F, x, y: F.binary_cross_entropy(x, y),
        probabilities(5, 4),
        probabilities(5, 4),
    ),
    "binary_cross_entropy weight": (
        lambda t, F, x, y, w: F.binary_cross_entropy(x, y, w.detach(), reduction="sum"),
        probabilities(5, 4),
        probabilities(5, 4),
        probabilities(4),
    ),
    "binary_cross_entropy_with_logits": (
        lambda t, F, x, y: F.binary_cross_entropy_with_logits(x, y),
        LOGITS,
        probabilities(5, 4),
    ),
    "binary_cross_entropy_with_logits weights": (
        lambda t, F, x, y, w, p: F.binary_cross_entropy_with_logits(
            x, y, w.detach(), pos_weight=p.detach(), reduction="none"
        ),
        LOGITS,
        probabilities(5, 4),
        probabilities(5, 1),
        probabilities(4),
    ),
    "kl_div": (lambda t, F, x, y: F.kl_div(x, y), LOGITS, probabilities(5, 4)),
    "kl_div batchmean": (
        lambda t, F, x, y: F.kl_div(x, y, reduction="batchmean"),
        LOGITS,
        probabilities(5, 4),
    ),
    "kl_div log_target": (
        lambda t, F, x, y: F.kl_div(x, y, reduction="sum", log_target=True),
        LOGITS,
        TARGETS,
    ),
    "soft_margin_loss": (lambda t, F, x, y: F.soft_margin_loss(x, y * 2 - 1), LOGITS, classes(2, 5, 4)),
    "hinge_embedding_loss": (
        lambda t, F, x, y: F.hinge_embedding_loss(x, y * 2 - 1),
        LOGITS,
        classes(2, 5, 4),
    ),
    "margin_ranking_loss": (
        lambda t, F, a, b, y: F.margin_ranking_loss(a, b, y * 2 - 1, margin=0.3),
        normal(9),
        normal(9),
        classes(2, 9),
    ),
    "cosine_embedding_loss": (
        lambda t, F, a, b, y: F.cosine_embedding_loss(a, b, y * 2 - 1, margin=-0.5),
        LOGITS,
        TARGETS,
        classes(2, 5),
    ),
    "triplet_margin_loss": (
        lambda t, F, a, b, c: F.triplet_margin_loss(a, b, c),
        LOGITS,
        TARGETS,
        normal(5, 4),
    ),
    "poisson_nll_loss": (
        lambda t, F, x, y: F.poisson_nll_loss(x, y.detach() + 1),
        LOGITS,
        probabilities(5, 4),
    ),
    "gaussian_nll_loss": (
        lambda t, F, x, y, v: F.gaussian_nll_loss(x, y, v),
        LOGITS,
        TARGETS,
        probabilities(5, 4),
    ),
    "scaled_dot_product_attention": (
        lambda t, F, q, k, v: F.scaled_dot_product_attention(q, k, v),
        normal(3, 4),
        normal(5, 4),
        normal(5, 2),
    ),
    "scaled_dot_product_attention batches": (
        lambda t, F, q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3),
        normal(2, 2, 3, 4),
        normal(2, 2, 5, 4),
        normal(2, 2, 5, 2),
    ),
    "scaled_dot_product_attention causal": (
        lambda t, F, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        normal(4, 3),
        normal(4, 3),
        normal(4, 3),
    ),
    "scaled_dot_product_attention mask": (
        lambda t, F, q, k, v, m: F.scaled_dot_product_attention(q, k, v, m > 0),
        normal(4, 3),
        normal(4, 3),
        normal(4, 3),
        np.array([[1, 1, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1], [0, 0, 1, 0]]),
    ),
    "linear": (lambda t, F, x, w, b: F.linear(x, w, b), LOGITS, normal(3, 4), normal(3)),
    "linear without bias": (lambda t, F, x, w: F.linear(x, w), LOGITS, normal(3, 4)),
    "linear vector": (lambda t, F, x, w, b: F.linear(x, w, b), normal(4), normal(3, 4), normal(3)),
    "linear batches": (lambda t, F, x, w, b: F.linear(x, w, b), normal(2, 3, 4), normal(3, 4), normal(3)),
    "bilinear": (
        lambda t, F, x, y, w, b: F.bilinear(x, y, w, b),
        normal(5, 3),
        normal(5, 2),
        normal(4, 3, 2),
        normal(4),
    ),
}
# the graphs that cannot be PyTorch's: it has one fused kernel for them, or says "divided by a number" in another node
OWN_GRAPH = {
    "bilinear",
    "scaled_dot_product_attention batches",
    "scaled_dot_product_attention causal",
}


def tensors(torch, arrays: tuple) -> list:
    """Floating point arrays as leaves that require grad, integers as they are."""
    return [torch.tensor(a.tolist(), dtype=torch.float64).requires_grad_() if a.dtype.kind == "f" else torch.tensor(a.tolist())
            for a in arrays]  # fmt: skip


def array_of(t) -> np.ndarray:
    return (t + 0.0).numpy()  # PyTorch has tensors of zeros without memory


# What PyTorch's C++ calls otherwise than its Python: operations with a number, which have one edge less there.
ONE_NAME = {
    "MulBackward1": "MulBackward0",
    "DivBackward1": "DivBackward0",
    "SubBackward1": "SubBackward0",
    "RsubBackward1": "SubBackward0",
    "AddBackward1": "AddBackward0",
    "NormBackward1": "LinalgVectorNormBackward0",
    "SafeSoftmaxBackward0": "SoftmaxBackward0",
}


def graph(node, depth: int = 9) -> str:
    """The names of the nodes behind `node`, as nested text."""
    if node is None:
        return "None"
    name = node.name().removeprefix("torch::autograd::")
    name = ONE_NAME.get(name, name)
    edges = [graph(n, depth - 1) for n, _ in node.next_functions] if depth else []
    if name in ONE_NAME.values():
        edges = [e for e in edges if e != "None"]
    return f"{name}({', '.join(edges)})" if edges else name


def run(torch, function, arrays: tuple) -> dict:
    """Everything that is compared, of one call with one of the two libraries."""
    inputs = tensors(torch, arrays)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = function(torch, torch.nn.functional, *inputs)
    found = {
        "value": out.detach().numpy(),
        "dtype": str(out.dtype),
        "warnings": [str(w.message).partition(" (Triggered")[0] for w in caught],
        "graph": graph(out.grad_fn),
    }
    leaves = [t for t in inputs if t.requires_grad]
    if not leaves or not out.requires_grad:
        return found
    weights = torch.tensor(
        np.cos(np.arange(out.numel())).reshape(tuple(out.shape)).tolist(), dtype=torch.float64
    )
    loss = (out * weights).sum()
    first = torch.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
    found["gradients"] = [None if g is None else array_of(g.detach()) for g in first]
    again = sum((g * torch.sin(g + i) + g).sum() for i, g in enumerate(first) if g is not None)
    if again.requires_grad:
        second = torch.autograd.grad(again, leaves, allow_unused=True, materialize_grads=True)
        found["second"] = [array_of(g) for g in second]
    return found


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_pytorch_computes(torch, name):
    """The same value, graph, first and second derivative for every entry of the table."""
    function, *arrays = CASES[name]
    expected, got = run(torch, function, tuple(arrays)), run(minigrad, function, tuple(arrays))
    np.testing.assert_allclose(got["value"], expected["value"], rtol=1e-9, atol=1e-10)
    assert got["dtype"] == expected["dtype"]
    assert got["warnings"] == expected["warnings"]
    if name not in OWN_GRAPH:
        assert got["graph"] == expected["graph"]
    compare(got.get("gradients", []), expected.get("gradients", []))
    zeros = [np.zeros_like(g) for g in expected.get("gradients", ()) if g is not None]
    compare(got.get("second", zeros), expected.get("second", zeros))


def compare(mine: list, theirs: list) -> None:
    """The same gradients, and None in the same places."""
    assert [g is None for g in mine] == [g is None for g in theirs]
    for a, b in zip(mine, theirs, strict=True):
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
