"""Data loading and checkpointing."""

from ..missing import offers
from . import checkpoint as checkpoint
from . import data as data

__all__ = ["checkpoint", "data"]
__dir__, __getattr__ = offers(__name__, __all__)
