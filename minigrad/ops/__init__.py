"""The calculus of the library: every operation with its derivative, by family. Importing it attaches Tensor's methods."""

import importlib

from .activation import *  # noqa: F403
from .arranging import *  # noqa: F403
from .choice import *  # noqa: F403
from .comparison import *  # noqa: F403
from .conversion import *  # noqa: F403
from .decompositions import *  # noqa: F403
from .einsum import *  # noqa: F403
from .elementary import *  # noqa: F403
from .exponential import *  # noqa: F403
from .indexing import *  # noqa: F403
from .inplace import Tensor, define_inplace
from .joining import *  # noqa: F403
from .linalg import *  # noqa: F403
from .norms import *  # noqa: F403
from .pointwise import *  # noqa: F403
from .reduction import *  # noqa: F403
from .scan import *  # noqa: F403
from .selecting import *  # noqa: F403
from .shape import *  # noqa: F403
from .sorting import *  # noqa: F403
from .strides import *  # noqa: F403
from .table import Op

families = [
    importlib.import_module(f"{__name__}.{name}")
    for name in (
        "pointwise", "elementary", "choice", "comparison", "activation", "reduction", "exponential", "sorting", "scan",
        "shape", "conversion", "joining", "indexing", "arranging", "selecting", "linalg", "einsum",
        "decompositions", "norms", "strides", "inplace",
    )
]  # fmt: skip
__all__ = [name for family in families for name in family.__all__]
for _family in families:  # in-place forms: x.add_(y), x += y, x.exp_(), ...
    for _call in list(vars(_family).values()):
        _op = getattr(_call, "op", None)
        if (
            isinstance(_op, Op)
            and _op.kind == "elementwise"
            and _op.inputs[0] == "self"
            and not _op.params
            and not hasattr(Tensor, _op.name + "_")
        ):
            define_inplace(_call, _op.name + "_")
