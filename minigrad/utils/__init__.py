"""Data loading and checkpointing."""

from . import checkpoint as checkpoint
from . import data as data

__all__ = ["checkpoint", "data"]
