"""Building blocks of networks: modules, parameters, layers, losses, initialisation."""

from ..missing import module_attributes
from . import functional as functional
from . import init as init
from . import parameter as parameter
from . import utils as utils
from .attention import MultiheadAttention as MultiheadAttention
from .containers import *  # noqa: F403
from .convolutions import *  # noqa: F403
from .function_layers import *  # noqa: F403
from .layers import *  # noqa: F403
from .losses import *  # noqa: F403
from .module import Module as Module
from .parameter import Parameter as Parameter
from .recurrent import *  # noqa: F403

__all__ = ["functional", "init", "parameter", "utils"]
__all__ += [name for name, value in globals().items() if isinstance(value, type)]
__dir__, __getattr__ = module_attributes(__name__, __all__)
