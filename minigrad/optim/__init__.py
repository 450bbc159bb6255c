"""Optimizers, and schedules of their learning rates."""

from ..missing import offers
from . import lr_scheduler as lr_scheduler
from .algorithms import SGD, Adam, AdamW, RMSprop
from .optimizer import Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
__dir__, __getattr__ = offers(__name__, __all__)
