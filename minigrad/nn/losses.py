"""Losses as modules, each declared from its function."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from . import functional as F
from .function_layers import Layer, layer

BUFFERS = ("weight", "pos_weight")  # tensors, which move and are saved with the module


def loss(name: str, function: Callable, inputs: str = "input target", without: str = "") -> type[Layer]:
    """The module of a loss, a function of these inputs. Its numeric options may be given by position, the others by name.

    In PyTorch, further positional arguments are old flags: a prediction passed there by mistake is used as a truth value.
    """
    layer_class = layer(name, function, inputs, shown="", without=without)
    given = list(inspect.signature(function).parameters.values())[len(inputs.split()) :]
    numbers = [p.name for p in given if p.kind is p.POSITIONAL_OR_KEYWORD]
    parameters = layer_class.__signature__.parameters.values()
    reordered = [p if p.name in numbers else p.replace(kind=p.KEYWORD_ONLY) for p in parameters]
    layer_class.__signature__ = layer_class.__signature__.replace(parameters=reordered)

    def __init__(self: Layer, *args: object, **options: object) -> None:
        any(args[len(numbers) :])
        Layer.__init__(self, *args[: len(numbers)], **options)
        for buffer in BUFFERS:
            if buffer in self._options:
                self.register_buffer(buffer, self.__dict__.pop(buffer))

    layer_class.__init__, layer_class.__module__ = __init__, __name__
    return layer_class


MSELoss = loss("MSELoss", F.mse_loss, without="weight")
L1Loss = loss("L1Loss", F.l1_loss, without="weight")
SmoothL1Loss = loss("SmoothL1Loss", F.smooth_l1_loss)
HuberLoss = loss("HuberLoss", F.huber_loss, without="weight")
NLLLoss = loss("NLLLoss", F.nll_loss)
CrossEntropyLoss = loss("CrossEntropyLoss", F.cross_entropy)
BCELoss = loss("BCELoss", F.binary_cross_entropy)
BCEWithLogitsLoss = loss("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits)
KLDivLoss = loss("KLDivLoss", F.kl_div)
PoissonNLLLoss = loss("PoissonNLLLoss", F.poisson_nll_loss, "log_input target")
HingeEmbeddingLoss = loss("HingeEmbeddingLoss", F.hinge_embedding_loss)
GaussianNLLLoss = loss("GaussianNLLLoss", F.gaussian_nll_loss, "input target var")
CosineEmbeddingLoss = loss("CosineEmbeddingLoss", F.cosine_embedding_loss, "input1 input2 target")
MarginRankingLoss = loss("MarginRankingLoss", F.margin_ranking_loss, "input1 input2 target")
TripletMarginLoss = loss("TripletMarginLoss", F.triplet_margin_loss, "anchor positive negative")

__all__ = [name for name in globals() if name.endswith("Loss")]
