"""Optimizers, and schedules of their learning rates."""

from . import lr_scheduler as lr_scheduler
from .adaptive import *  # noqa: F403
from .algorithms import *  # noqa: F403
from .lbfgs import *  # noqa: F403
from .optimizer import Optimizer as Optimizer
