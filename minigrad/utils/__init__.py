"""Data loading, checkpointing and timing."""

from . import benchmark as benchmark
from . import checkpoint as checkpoint
from . import data as data

__all__ = ["benchmark", "checkpoint", "data"]
