"""The calculus of the library: every operation with its derivative, by family. Importing it attaches Tensor's methods."""

from . import arranging, conversion, indexing, inplace, joining, linalg, pointwise, reduction, selecting, shape, strides
from .arranging import *  # noqa: F403
from .conversion import *  # noqa: F403
from .indexing import *  # noqa: F403
from .inplace import *  # noqa: F403
from .joining import *  # noqa: F403
from .linalg import *  # noqa: F403
from .pointwise import *  # noqa: F403
from .reduction import *  # noqa: F403
from .selecting import *  # noqa: F403
from .shape import *  # noqa: F403
from .strides import *  # noqa: F403
from .table import Op

families = (pointwise, reduction, shape, conversion, joining, indexing, arranging, selecting, linalg, strides, inplace)
__all__ = [name for family in families for name in family.__all__]
for _family in families:  # in-place forms: x.add_(y), x += y, x.exp_(), ...
    for _call in list(vars(_family).values()):
        _op = getattr(_call, "op", None)
        if isinstance(_op, Op) and _op.kind == "elementwise" and _op.inputs[0] == "self" and not (
            _op.params or hasattr(inplace.Tensor, _op.name + "_")
        ):
            inplace.define_inplace(_call, _op.name + "_")
for _symbol, _name in {
    "__iadd__": "add_",
    "__isub__": "sub_",
    "__imul__": "mul_",
    "__itruediv__": "div_",
}.items():
    setattr(inplace.Tensor, _symbol, getattr(inplace.Tensor, _name))
inplace.Tensor.stack_all = staticmethod(joining.stack)  # for minigrad.autograd, which knows no operation
