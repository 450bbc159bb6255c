"""Optimizers, and schedules of their learning rates."""

from . import lr_scheduler as lr_scheduler
from .adaptive import *  # noqa: F403
from .algorithms import *  # noqa: F403
from .lbfgs import *  # noqa: F403
from .optimizer import Optimizer as Optimizer

__all__ = ["lr_scheduler"]
__all__ += [name for name, value in globals().items() if isinstance(value, type)]
__dir__ = __all__.copy  # what completion offers
