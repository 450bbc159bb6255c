"""What is the same for every tensor here: real numbers, dense, on the CPU. Code that asks, or conjugates, runs.

PyTorch has tensors of complex numbers, sparse ones and other devices, and so functions that tell them apart.
"""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..autograd.captured import refuse_captured
from ..autograd.grad_mode import local
from ..tensor import Tensor, full_name
from .arguments import NUMBERS
from .assigning import _fill, _fill_tensor
from .choice import zeros_like
from .dispatch import of_number
from .inplace import define_inplace
from .shape import _alias, transpose, wanted_shape, warn_of_scalar
from .table import define, function, method

ndarray = np.ndarray


class layout:
    """How elements are stored: `strided`, always."""

    def __repr__(self) -> str:
        return "torch.strided"


strided = layout()
newaxis = None

# ---------------------------------------------------------------- questions

NO = (
    "is_sparse", "is_quantized", "is_meta", "is_nested", "is_mps", "is_xpu", "is_sparse_csr", "is_mkldnn", "is_vulkan",
    "is_xla", "is_ipu", "is_mtia", "is_maia",
)  # fmt: skip
for _name in NO:
    setattr(Tensor, _name, property(lambda self: False, doc="False for every tensor here."))
Tensor.is_cpu = property(lambda self: True, doc="True: everything is on the CPU.")
Tensor.layout = property(lambda self: strided, doc="How the elements are stored: `torch.strided`, always.")
Tensor.name = property(lambda self: None, doc="None: tensors have no names here.")
Tensor.grad_dtype = property(
    lambda self: self.dtype if self.is_leaf else None,
    doc="The dtype that `.grad` must have: the leaf's own. None for results of operations.",
)


@method()
def get_device(self: Tensor) -> int:
    """-1: the number of the device of a tensor on the CPU."""
    return -1


@method()
def is_complex(input: Tensor) -> bool:
    """False: there are no complex numbers here."""
    return False


@method("is_conj", "is_neg", "is_pinned", "is_shared", "is_distributed")
def _no(self: Tensor) -> bool:
    """False for every tensor here."""
    return False


@method()
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input._array.dtype.kind in "if"


@method()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape."""
    return input._array.shape == other._array.shape


@method()
def dense_dim(self: Tensor) -> int:
    """The number of dimensions: all are dense."""
    return self._array.ndim


@method()
def sparse_dim(self: Tensor) -> int:
    """0: no dimension is sparse."""
    return 0


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


def is_storage(obj: object) -> bool:
    """False: there are no storage objects here."""
    return False


def typename(obj: object) -> str:
    """The name of a tensor's type, such as 'torch.FloatTensor', or of another object's class with its module."""
    if isinstance(obj, Tensor):
        return obj.type()
    cls = obj if isinstance(obj, type) else type(obj)
    module = cls.__module__
    return cls.__qualname__ if module in ("builtins", "__builtin__") else f"{module}.{cls.__qualname__}"


def result_type(
    tensor1: Tensor | float | None = None, tensor2: Tensor | float | None = None, **names: Tensor | float
) -> dtypes.dtype:
    """The dtype of a sum of the two; a Python number counts for less than a tensor.

    Where one is a number they may be named `tensor` and `other`, `scalar` and `tensor` or `scalar1` and `scalar2`.
    """
    given = [t for t in (tensor1, tensor2, *names.values()) if t is not None]
    if len(given) != 2 or not all(isinstance(t, (Tensor, *NUMBERS)) for t in given):
        kinds = ", ".join(full_name(type(t)) for t in given)
        raise TypeError(
            f"result_type() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
            " * (Tensor tensor, Number other)\n * (Number scalar, Tensor tensor)\n * (Tensor tensor, Tensor other)\n"
            " * (Number scalar1, Number scalar2)"
        )
    parts = [
        (t._array.dtype, 2 if t._array.ndim else 1) if isinstance(t, Tensor) else (of_number(t), 0)
        for t in given
    ]
    return dtypes.of_numpy(dtypes.promote(parts))


def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Whether a result of the first dtype may be written into a tensor of the second: not from a higher category."""
    for place, (name, given) in enumerate((("from_", from_), ("to", to)), 1):
        if not isinstance(given, dtypes.dtype):
            found = full_name(type(given))
            raise TypeError(
                f"can_cast(): argument '{name}' (position {place}) must be torch.dtype, not {found}"
            )
    rank = {"bool": 0, "int": 1, "float": 2}
    return rank[from_.category] <= rank[to.category]


# ---------------------------------------------------------------- conjugates and parts of real numbers


@method("conj", "resolve_conj", "resolve_neg", "conj_physical", "share_memory_", "pin_memory")
def conj(input: Tensor) -> Tensor:
    """The tensor itself: its numbers are real."""
    return input


resolve_conj = resolve_neg = conj_physical = real = conj
_conjugated = define(
    "conj_physical", lambda self: self.copy(), kind="linear", node="ConjPhysicalBackward1",
    doc="The tensor as it is: its numbers are real.",
    self=lambda grad: grad,
)  # fmt: skip
define_inplace(_conjugated, "conj_physical_")


def imag(input: Tensor) -> Tensor:
    """Refused: there are no complex numbers here."""
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


@property
def mH(self: Tensor) -> Tensor:
    """The last two dimensions exchanged (and conjugated, which changes nothing here)."""
    if not self._array.ndim:
        warn_of_scalar("mH", "Consider using x.conj().")
        return self
    if self._array.ndim < 2:
        raise RuntimeError(
            f"tensor.mH is only supported on matrices or batches of matrices. Got {self._array.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


Tensor.real, Tensor.imag, Tensor.mH = property(conj), property(imag), mH


def _turn(x: ndarray) -> ndarray:
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(math.pi), x.dtype.type(0)))


angle = define(
    "angle", _turn, kind="elementwise", floating=True,
    doc="0 where an element is not negative, pi where it is, NaN at NaN: the angle of a number in the "
    "complex plane. Its derivative is 0.",
    self=lambda grad: zeros_like(grad),
)  # fmt: skip
function(angle, "angle")

# ---------------------------------------------------------------- taken apart and put together by hand


@method()
def as_subclass(self: Tensor, cls: type) -> Tensor:
    """The same memory and history as an instance of a subclass of Tensor."""
    out = _alias(self)
    out.__class__ = cls
    return out


@method()
def new(self: Tensor, *data: object) -> Tensor:
    """A tensor of this dtype: of a shape given as numbers (not filled), or of the data given."""
    if data and isinstance(data[0], Tensor):
        return _alias(data[0])
    if data and isinstance(data[0], (list, ndarray)):
        return self.new_tensor(data[0])
    return self.new_empty(wanted_shape(data) if data else (0,))


@method()
def resize_(self: Tensor, *sizes: int) -> Tensor:
    """Another shape in place; elements are kept as far as they go, new ones are not filled. Returns this tensor.

    Raises RuntimeError for tensors that require grad, and for views.
    """
    shape = wanted_shape(sizes)
    refuse_captured("resize", self)
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if self._is_view() or local.interpreter is not None:
        raise RuntimeError(
            "resize_: a view, or a tensor inside a transform, cannot be resized; clone() it first"
        )
    count = math.prod(shape)
    memory = self._array.reshape(-1)
    if count > memory.size:
        memory = np.concatenate([memory, np.empty(count - memory.size, memory.dtype)])
    self._array = memory[:count].reshape(shape)
    self._own_counter().version += 1
    return self


@method()
def resize_as_(self: Tensor, the_template: Tensor) -> Tensor:
    """The shape of another tensor in place; see `resize_`."""
    return resize_(self, the_template._array.shape)


def fill(input: Tensor, value: float | Tensor) -> Tensor:
    """A tensor like `input` with every element `value`."""
    if not isinstance(value, Tensor):
        return _fill_out(input, value)
    if value._array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
        )
    return _fill_tensor_out(input, value)


_fill_out = define(
    "fill", _fill.op.forward, kind="elementwise", node="FillBackward0", self=lambda grad: zeros_like(grad)
)
_fill_tensor_out = define(
    "fill", _fill_tensor.op.forward, kind="jointly linear", node="FillBackward1",
    self=lambda grad: zeros_like(grad),
    value=lambda grad: grad.sum(),
)  # fmt: skip


def unravel_index(indices: Tensor, shape: int | tuple) -> tuple[Tensor, ...]:
    """The coordinates, one tensor for each dimension, of places counted through a tensor of this shape."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if indices._array.dtype.kind not in "iu":
        raise ValueError(
            f"expected 'indices' to be integer dtype, but got {dtypes.of_numpy(indices._array.dtype)!r}"
        )
    found, indices = [], indices.long()
    for d, n in enumerate(shape):
        behind = math.prod(shape[d + 1 :])
        found.append((indices // behind) % n)
    return tuple(found)


__all__ = [
    "angle", "can_cast", "conj", "conj_physical", "fill", "imag", "is_complex", "is_inference", "is_same_size", "is_signed",
    "is_storage", "layout", "newaxis", "real", "resolve_conj", "resolve_neg", "result_type", "strided", "typename",
    "unravel_index",
]  # fmt: skip
