"""Losses as modules, each declared from its function."""

from . import functional as F
from .layers import Layer, layer


def loss(name, function) -> type[Layer]:
    """The module of a loss, a function of input and target."""
    made = layer(name, function, inputs=2)
    # PyTorch's first arguments are old flags: of a prediction that is put there it asks whether it is true
    options = {p.name: p.replace(kind=p.KEYWORD_ONLY) for p in made.__signature__.parameters.values()}
    made.__signature__ = made.__signature__.replace(parameters=options.values())
    made.__init__ = lambda self, *old, **options: any(old) or Layer.__init__(self, *old, **options)
    made.extra_repr = lambda self: ""  # PyTorch prints no options
    made.__module__ = __name__
    return made


MSELoss = loss("MSELoss", F.mse_loss)
L1Loss = loss("L1Loss", F.l1_loss)
SmoothL1Loss = loss("SmoothL1Loss", F.smooth_l1_loss)
NLLLoss = loss("NLLLoss", F.nll_loss)
CrossEntropyLoss = loss("CrossEntropyLoss", F.cross_entropy)
BCELoss = loss("BCELoss", F.binary_cross_entropy)
BCEWithLogitsLoss = loss("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits)

__all__ = [name for name in globals() if name.endswith("Loss")]
