"""Optimizers, and schedules of their learning rates."""

from ..missing import module_attributes
from . import lr_scheduler as lr_scheduler
from .algorithms import SGD, Adagrad, Adam, AdamW, RMSprop
from .optimizer import Optimizer

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
__dir__, __getattr__ = module_attributes(__name__, __all__)
