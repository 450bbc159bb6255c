"""The calculus of the library: every operation with its derivative, by family. Importing it attaches Tensor's methods."""

import importlib

from . import tangents, values, wrapped  # noqa: F401  (forward mode; plain values; views and writes inside transforms)
from .activation import *  # noqa: F403
from .arranging import *  # noqa: F403
from .assigning import *  # noqa: F403
from .binary import *  # noqa: F403
from .choice import *  # noqa: F403
from .comparison import *  # noqa: F403
from .conversion import *  # noqa: F403
from .decompositions import *  # noqa: F403
from .einsum import *  # noqa: F403
from .elementary import *  # noqa: F403
from .exponential import *  # noqa: F403
from .factorizations import *  # noqa: F403
from .factorizations import OLDER
from .indexing import *  # noqa: F403
from .inplace import *  # noqa: F403
from .joining import *  # noqa: F403
from .kinds import *  # noqa: F403
from .linalg import *  # noqa: F403
from .names import name_arguments, name_methods
from .norms import *  # noqa: F403
from .overwriting import *  # noqa: F403
from .pointwise import *  # noqa: F403
from .probability import *  # noqa: F403
from .reduction import *  # noqa: F403
from .reshaping import *  # noqa: F403
from .scan import *  # noqa: F403
from .scattering import *  # noqa: F403
from .selecting import *  # noqa: F403
from .shape import *  # noqa: F403
from .sorting import *  # noqa: F403
from .statistics import *  # noqa: F403
from .strides import *  # noqa: F403

families = [
    importlib.import_module(f"{__name__}.{name}")
    for name in (
        "pointwise", "binary", "elementary", "choice", "comparison", "activation", "reduction", "exponential", "sorting",
        "scan", "shape", "conversion", "joining", "indexing", "arranging", "selecting", "linalg", "einsum",
        "decompositions", "norms", "statistics", "scattering", "overwriting", "kinds", "factorizations", "probability",
        "strides", "inplace",
    )
]  # fmt: skip
__all__ = [name for family in families for name in family.__all__]
globals().update(OLDER)
__all__ += OLDER
name_arguments(globals())
name_methods(globals())
