"""Modules under vmap: a batch of examples, of parameters, or of both gives what the loop gives, in one call."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import minigrad
from minigrad import func, nn
from minigrad.func import batching
from minigrad.func.pytree import flatten

# name: (module, shape of its input, how many times the input is given)
MODULES = {
    "Linear": (lambda: nn.Linear(4, 3), (2, 4), 1),
    "Bilinear": (lambda: nn.Bilinear(4, 4, 3), (2, 4), 2),
    "Conv1d": (lambda: nn.Conv1d(2, 3, 3), (2, 2, 6), 1),
    "Conv2d": (lambda: nn.Conv2d(2, 3, 3, padding=1), (2, 2, 5, 5), 1),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(2, 3, 3), (2, 2, 4, 4), 1),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), (2, 2, 4, 4), 1),
    "AvgPool2d": (lambda: nn.AvgPool2d(2), (2, 2, 4, 4), 1),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d(2), (2, 2, 5, 5), 1),
    "LayerNorm": (lambda: nn.LayerNorm(4), (2, 4), 1),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4, track_running_stats=False), (3, 4), 1),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (2, 4, 3), 1),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(2), (2, 2, 3, 3), 1),
    "RNN": (lambda: nn.RNN(4, 3, batch_first=True), (2, 3, 4), 1),
    "GRU": (lambda: nn.GRU(4, 3, batch_first=True), (2, 3, 4), 1),
    "LSTM": (lambda: nn.LSTM(4, 3, num_layers=2, bidirectional=True), (3, 2, 4), 1),
    "LSTMCell": (lambda: nn.LSTMCell(4, 3), (2, 4), 1),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(4, 2, batch_first=True), (2, 3, 4), 3),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), (2, 3, 4), 1,
    ),
    "GELU": (nn.GELU, (2, 4), 1),
    "Softmax": (lambda: nn.Softmax(-1), (2, 4), 1),
    "PReLU": (nn.PReLU, (2, 4), 1),
    "Dropout": (lambda: nn.Dropout(0.5).eval(), (2, 4), 1),
    "Flatten": (nn.Flatten, (2, 2, 3), 1),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), (2, 2, 3, 3), 1),
    "Unfold": (lambda: nn.Unfold(2), (2, 2, 4, 4), 1),
    "CosineSimilarity": (nn.CosineSimilarity, (2, 4), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_a_batch_of_examples_or_of_models_is_one_call(name):
    make, shape, times = MODULES[name]
    minigrad.manual_seed(0)
    module = make().double()
    own = {key: p.detach() for key, p in module.named_parameters()}
    models = {key: minigrad.stack([p, p * 1.1, p * 0.9]) for key, p in own.items()}
    xs = minigrad.randn(3, *shape, dtype=minigrad.float64)

    def outputs(p, x):
        return tuple(flatten(func.functional_call(module, p, (x,) * times))[0])

    def energy(p, x):
        return sum((out**2).sum() for out in outputs(p, x))

    ways = {
        "value": outputs,
        "gradient": func.grad(energy, (0, 1)),
        "tangent": lambda p, x: func.jvp(lambda x: outputs(p, x), (x,), (x * x,))[1],
    }
    for way, f in ways.items():
        for dims in [(None, 0), (0, None), (0, 0)] if own else [(None, 0)]:
            p, x = models if dims[0] == 0 else own, xs if dims[1] == 0 else xs[0]
            batching.warned.clear()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                got = flatten(func.vmap(f, in_dims=dims)(p, x))[0]
            looped = [w for w in caught if re.search("performance drop", str(w.message))]
            assert not looped, f"{way}, in_dims={dims}: {looped[0].message}"
            rows = [
                flatten(
                    f({k: v[i] for k, v in p.items()} if dims[0] == 0 else p, x[i] if dims[1] == 0 else x)
                )[0]
                for i in range(3)
            ]
            for whole, *examples in zip(got, *rows, strict=True):
                np.testing.assert_allclose(
                    whole.detach().numpy(),
                    [e.detach().numpy() for e in examples],
                    rtol=1e-8,
                    atol=1e-10,
                    err_msg=f"{way}, in_dims={dims}",
                )
