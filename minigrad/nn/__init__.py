"""Building blocks of networks: modules, parameters, layers, losses, initialisation."""

from . import functional, init
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .linear import *  # noqa: F403
from .module import Module
from .normalization import *  # noqa: F403
from .parameter import Buffer, Parameter
