"""PyTorch's own inputs for its modules and optimizers give the same under both engines; see tests/pytorch_modules.py.

Compared are printed forms, results, graphs, gradients, parameters, states, warnings and errors. Modules are compared in
training; those that differ in evaluation there, too. Of the inputs of one module MOST are taken, evenly spread.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import minigrad
from tests import pytorch_modules, pytorch_samples

MOST = 24
# Modules that PyTorch's table has no inputs for; tests/test_nn.py compares them.
UNLISTED = {
    "AlphaDropout", "ChannelShuffle", "CosineSimilarity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
    "FeatureAlphaDropout", "Flatten", "Fold", "Hardsigmoid", "Identity", "LazyBatchNorm1d", "LazyBatchNorm2d",
    "LazyBatchNorm3d", "LazyLinear", "ModuleDict", "ModuleList", "PairwiseDistance", "ParameterDict", "ParameterList",
    "PixelShuffle", "PixelUnshuffle", "RReLU", "Sequential", "TransformerDecoder", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss", "Unflatten", "Unfold", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
}  # fmt: skip


def classes(where: object, kind: type) -> list[str]:
    """The names of the classes of a kind: known without PyTorch, which takes its time to import."""
    return [
        n for n, c in vars(where).items() if isinstance(c, type) and issubclass(c, kind) and c is not kind
    ]


MODULES = [n for n in classes(minigrad.nn, minigrad.nn.Module) if n not in UNLISTED]
OPTIMIZERS = classes(minigrad.optim, minigrad.optim.Optimizer)


def differing(samples: list, compare: Callable[[object], list[str]]) -> list[str]:
    """What differs for some of the samples, each with its number."""
    found = []
    for number in range(0, len(samples), -(-len(samples) // MOST)):
        try:
            found += [f"#{number} {text}" for text in compare(samples[number])]
        except pytorch_samples.Unsuitable:
            continue
    return found


@pytest.mark.usefixtures("torch")
class TestPyTorchsInputs:
    def test_there_are_some_for_every_module_and_optimizer_below(self) -> None:
        assert set(MODULES) == set(pytorch_modules.modules())
        assert set(OPTIMIZERS) == set(pytorch_modules.optimizers())

    @pytest.mark.parametrize("name", MODULES)
    def test_a_module_does_what_pytorchs_does(self, name: str) -> None:
        info = pytorch_modules.modules()[name]
        for training in (True, False) if info.train_and_eval_differ else (True,):
            samples = list(pytorch_modules.module_samples(info, training))
            found = differing(samples, lambda s: pytorch_modules.compare_module(name, s, training))  # noqa: B023
            assert not found, "\n".join(found[:8])

    @pytest.mark.parametrize("name", OPTIMIZERS)
    def test_an_optimizer_does_what_pytorchs_does(self, name: str) -> None:
        samples = list(pytorch_modules.optimizer_samples(pytorch_modules.optimizers()[name]))
        found = differing(samples, lambda s: pytorch_modules.compare_optimizer(name, s))
        assert not found, "\n".join(found[:8])
