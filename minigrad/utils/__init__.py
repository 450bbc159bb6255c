"""Data loading, checkpointing and timing."""

from ..missing import module_attributes
from . import benchmark as benchmark
from . import checkpoint as checkpoint
from . import data as data

__all__ = ["benchmark", "checkpoint", "data"]
__dir__, __getattr__ = module_attributes(__name__, __all__)
