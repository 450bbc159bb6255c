"""Optimizers, and schedules of their learning rates."""

from ..basics import not_offered
from . import lr_scheduler as lr_scheduler
from .algorithms import SGD, Adam, AdamW, RMSprop
from .optimizer import Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
__dir__ = __all__.copy  # what completion offers
__getattr__ = not_offered("optim.")
