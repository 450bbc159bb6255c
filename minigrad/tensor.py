"""Tensor: an array, and what autograd needs to know of it.

This file holds a tensor's state and the questions one can ask of it. Operations (`x + y`, `x.sum()`) are attached by
`minigrad.ops`, `backward` and the hooks by `minigrad.autograd`; this file imports neither.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from ctypes import addressof, c_char

import numpy as np

from . import dtypes
from .device import cpu, device

ndarray = np.ndarray
new_object = object.__new__


class Size(tuple):
    """The shape of a tensor: a tuple that prints as `torch.Size([2, 3])` and knows `numel()`."""

    __slots__ = ()

    def __new__(cls, lengths=()) -> Size:
        lengths = tuple(lengths)
        for position, n in enumerate(lengths):
            if not hasattr(n, "__index__"):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {position} is '{type(n).__name__}')"
                )
        return tuple.__new__(cls, lengths)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def numel(self) -> int:
        count = 1
        for n in self:
            count *= n
        return count

    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return tuple.__new__(Size, found) if isinstance(key, slice) else found

    def __add__(self, other: tuple) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: tuple) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: int) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__


class Counter:
    """A version counter, shared by all tensors that share memory. In-place writes raise it.

    `views` lists the living views of a tensor that is not (yet) part of a graph: if an in-place operation makes the
    base require grad, they must learn of it.
    """

    __slots__ = ("prune_at", "version", "views")

    def __init__(self):
        self.version, self.views, self.prune_at = 0, None, 16

    def add_view(self, view: Tensor) -> None:
        if self.views is None:
            self.views = []
        elif len(self.views) >= self.prune_at:  # forget the dead, so that a long-lived base does not grow
            self.views = [r for r in self.views if r() is not None]
            self.prune_at = 2 * len(self.views) + 16
        self.views.append(weakref.ref(view))


class AutogradMeta:
    """What only some tensors have: a gradient, an accumulator, a base, hooks. Most tensors have none of it.

    The class attributes are the defaults; an object stores only what differs.
    """

    grad = None  # the gradient, a Tensor
    accumulator = None  # weak reference to this leaf's AccumulateGrad node
    base = None  # the tensor whose memory this one shows, if it is a view
    seen_version = 0  # the base's version when this view's grad_fn was made
    made_in = None  # "no_grad", "inference", "multi_output" or "custom": writing in place is then refused
    borrows = False  # it requires grad only because its base does: a view made under no_grad
    argument = False  # a transform differentiates with respect to it: it counts as a leaf
    retains_grad = False
    hooks = None  # hooks of a leaf; a non-leaf's are kept by its node
    post_hooks = None  # register_post_accumulate_grad_hook

    def __init__(self):
        # what is asked of a leaf in every pass; views, which are made more often, are made without
        self.grad = self.base = self.hooks = self.post_hooks = None


def read_only(name: str) -> Callable:
    """The setter of an attribute that nobody may set."""

    def refuse(self: Tensor, value: object) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse


class Tensor:
    """A multi-dimensional array with a gradient history. `minigrad.tensor(...)` makes one from Python numbers.

    Attributes: `data`, `shape`, `dtype`, `requires_grad`, `grad`, `grad_fn`, `is_leaf`.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",  # the values, a NumPy array; views of a tensor share its memory
        "_counter",  # version counter, None until someone shares it or writes in place
        "_grad_fn",  # the node that made it; None for a leaf
        "_meta",  # AutogradMeta or None
        "_output_nr",  # which of that node's outputs it is
        "_requires_grad",
    )
    _repr_prefix = ""  # a Parameter says what it is
    __array_priority__ = 1000  # so that `ndarray * tensor` asks the tensor

    def __init__(self, *data):
        """`Tensor([1, 2])`: a tensor of the default dtype with these values; `Tensor(2, 3)`: uninitialised, that shape."""
        if len(data) == 1 and not isinstance(data[0], int):
            values = data[0]._array if isinstance(data[0], Tensor) else data[0]
            array = np.array(values, dtype=dtypes.default_float())
        else:
            array = np.empty(data or (0,), dtype=dtypes.default_float())
        self._array, self._requires_grad, self._grad_fn = array, False, None
        self._output_nr, self._counter, self._meta = 0, None, None

    # ------------------------------------------------------------------ values

    @property
    def data(self) -> Tensor:
        """The same memory as a tensor without history and with a version of its own: autograd cannot see writes to it."""
        return wrap(self._array)

    @data.setter
    def data(self, other: Tensor) -> None:
        if not isinstance(other, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(other).__name__}")
        self._array = other._array

    shape = property(
        lambda self: tuple.__new__(Size, self._array.shape),
        read_only("shape"),
        doc="The lengths of the dimensions.",
    )

    def size(self, dim: int | None = None):
        """The shape, or the length of one dimension."""
        if dim is None:
            return tuple.__new__(Size, self._array.shape)
        return self._array.shape[check_dim(dim, self._array.ndim)]

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.of_numpy(self._array.dtype)

    @property
    def ndim(self) -> int:
        return self._array.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    nelement = numel

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def itemsize(self) -> int:
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def stride(self, dim: int | None = None):
        """Steps between neighbouring elements of each dimension, counted in elements."""
        strides = tuple(s // self._array.itemsize for s in self._array.strides)
        return strides if dim is None else strides[check_dim(dim, len(strides))]

    def storage_offset(self) -> int:
        """Where this view starts in its base's memory, counted in elements."""
        base = self._base
        return 0 if base is None else (address(self._array) - address(base._array)) // self._array.itemsize

    def data_ptr(self) -> int:
        """The address of the first element: equal for tensors that share memory from the start."""
        return address(self._array)

    def is_contiguous(self, memory_format: object = None) -> bool:
        """True if the elements lie in memory in row-major order without gaps."""
        return self._array.flags.c_contiguous

    def is_floating_point(self) -> bool:
        return self._array.dtype.kind == "f"

    def is_complex(self) -> bool:
        return False

    @property
    def device(self) -> device:
        return cpu

    is_cuda = False

    def item(self):
        """The value of a tensor with one element, as a Python number. Raises RuntimeError for any other size."""
        if self._array.size != 1:
            raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        return self._array.item()

    def tolist(self):
        """The values as (nested) lists of Python numbers."""
        return self._array.tolist()

    def numpy(self, *, force: bool = False) -> ndarray:
        """The values as a NumPy array that shares memory. Refused for tensors that require grad, unless `force`."""
        if self.requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        return self._array

    def __array__(self, dtype=None, copy=None) -> ndarray:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array: ndarray, context=None, return_scalar: bool = False) -> Tensor:
        """What NumPy's functions make of a tensor is a tensor again: `np.sin(x)`."""
        return wrap(array)

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self._array.ndim else self

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def __bool__(self) -> bool:
        return bool(self._one_value("Boolean value of Tensor with {} is ambiguous"))

    def __float__(self) -> float:
        if self.requires_grad:
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first.",
                UserWarning,
                stacklevel=2,
            )
        return float(self._one_value())

    def __int__(self) -> int:
        return int(self._one_value())

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in "iu":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def _one_value(self, message: str | None = None):
        size = self._array.size
        if size != 1:
            if message is None:
                raise ValueError("only one element tensors can be converted to Python scalars")
            raise RuntimeError(message.format("no values" if size == 0 else "more than one value"))
        return self.item()

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __hash__(self) -> int:
        return id(self)  # `==` compares elements, so identity is what makes a dictionary key

    def __contains__(self, element) -> bool:
        if not isinstance(element, (Tensor, bool, int, float)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        value = element._array if isinstance(element, Tensor) else element
        return bool((self._array == value).any())

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from .printing import tensor_repr  # here, because most programs print little and start-up time counts

        node = self.grad_fn
        text = tensor_repr(
            self._array,
            default_dtype=dtypes.default_float(),
            requires_grad=self._requires_grad,
            grad_fn_name=None if node is None else node.name().split("::")[-1],
        )
        return self._repr_prefix + text

    def __reduce_ex__(self, protocol: int):
        if self._grad_fn is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
                "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
                "see https://github.com/pytorch/pytorch/pull/103001"
            )
        return rebuild, (type(self), self._array, self._requires_grad, self.__dict__)

    def __deepcopy__(self, memo: dict) -> Tensor:
        if self._grad_fn is not None:
            self.__reduce_ex__(2)  # raises
        copied = rebuild(type(self), self._array.copy(), self._requires_grad, dict(self.__dict__))
        memo[id(self)] = copied
        if self._meta is not None and self._meta.grad is not None:
            copied.grad = self._meta.grad.__deepcopy__(memo)
        return copied

    # ------------------------------------------------------------------ autograd

    @property
    def requires_grad(self) -> bool:
        """True if gradients are to be computed for this tensor."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not isinstance(wanted, bool):
            raise RuntimeError("requires_grad must be a bool")
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start or stop tracking, in place. Returns self.

        Raises RuntimeError for integer tensors, for results of operations (when turning off) and for tensors made in
        inference_mode.
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                + type(requires_grad).__name__
            )
        if requires_grad:
            if self._array.dtype.kind != "f":
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            if self.is_inference():
                raise RuntimeError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
                )
        elif self._grad_fn is not None:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        self._requires_grad = requires_grad
        if self._meta is not None:
            self._meta.borrows = False
        if self._counter is not None and self._counter.views:
            self.tell_views()
        return self

    def tell_views(self) -> None:
        """The living views of a base that has come to require grad, or ceased to, follow it."""
        for ref in self._counter.views:
            view = ref()
            if view is None or view._meta.base is not self:
                continue
            if self._requires_grad:
                view._meta.borrows = view._meta.borrows or not view._requires_grad
                view._requires_grad = True
            elif view._meta.borrows and view._grad_fn is None:
                view._requires_grad = False

    @property
    def output_nr(self) -> int:
        """Which output of its `grad_fn` this tensor is."""
        return self._output_nr

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up in this tensor, or None before the first."""
        meta = self._meta
        if self._grad_fn is not None and not (
            meta is not None and (meta.retains_grad or meta.grad is not None)
        ):
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
                "by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 "
                "for more information.",
                UserWarning,
                stacklevel=2,
            )
        return None if meta is None else meta.grad

    @grad.setter
    def grad(self, new: Tensor | None) -> None:
        if new is not None:
            self._check_grad(new)
            self.meta().grad = new
        elif self._meta is not None:
            self._meta.grad = None

    def _check_grad(self, new: Tensor) -> None:
        """Raise PyTorch's error if `new` cannot be the gradient of this tensor."""
        if not isinstance(new, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(new).__name__}"
            )
        if new is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if new._array.dtype != self._array.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{dtype_word(new)}' to a tensor with grad_dtype "
                f"'{self.dtype.tensor_type.removeprefix('torch.').removesuffix('Tensor')}'. The gradient must match the "
                "tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with "
                "a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a "
                "tensor and its gradient may break downstream systems that assume they match."
            )
        if new._array.shape != self._array.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(new.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )

    @grad.deleter
    def grad(self) -> None:
        if self._meta is not None:
            self._meta.grad = None

    @property
    def retains_grad(self) -> bool:
        """True for a non-leaf on which `retain_grad()` was called."""
        return self._meta is not None and self._meta.retains_grad

    @property
    def _version(self) -> int:
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._counter is None else self._counter.version

    @property
    def _base(self) -> Tensor | None:
        return None if self._meta is None else self._meta.base

    def _is_view(self) -> bool:
        return self._base is not None

    def is_inference(self) -> bool:
        """True if this tensor was made in inference_mode and can never take part in autograd."""
        return isinstance(self, InferenceTensor)

    def is_set_to(self, tensor: Tensor) -> bool:
        """True if both show the very same memory in the same way."""
        a, b = self._array, tensor._array
        return address(a) == address(b) and a.shape == b.shape and a.strides == b.strides

    def outside(self) -> Tensor:
        """What is left of a tensor when the transform that it belongs to has ended: itself, if it belongs to none."""
        return self

    def dynamic(self, name: str) -> None:
        """Raise RuntimeError inside vmap: the shape of what the operation `name` gives would depend on the example."""

    def in_graph(self) -> Tensor:
        """The tensor whose history is meant: itself, except for a dual number, which may only carry its value's."""
        return self

    def meta(self) -> AutogradMeta:
        """This tensor's AutogradMeta, made now if there is none."""
        if self._meta is None:
            self._meta = AutogradMeta()
        return self._meta

    def counter(self) -> Counter:
        """This tensor's version counter, made now if there is none."""
        if self._counter is None:
            self._counter = Counter()
        return self._counter


class InferenceTensor(Tensor):
    """A tensor made in inference_mode. A class of its own, so that the fast path of operations need not ask."""

    __slots__ = ()


InferenceTensor.__name__ = InferenceTensor.__qualname__ = "Tensor"
plain_types: set[type] = {
    Tensor
}  # the classes of tensors about which there is nothing unusual; nn adds Parameter


def wrap(array: ndarray, requires_grad: bool = False) -> Tensor:
    """A new leaf tensor around `array`, sharing its memory."""
    out = new_object(Tensor)
    out._array = array if type(array) is ndarray else np.asarray(array)
    out._requires_grad, out._output_nr = requires_grad, 0
    out._grad_fn = out._counter = out._meta = None
    return out


def rebuild(cls: type, array: ndarray, requires_grad: bool, attributes: dict) -> Tensor:
    """What pickle and deepcopy call to make a leaf again."""
    out = new_object(cls)
    out._array, out._requires_grad, out._grad_fn, out._output_nr = array, requires_grad, None, 0
    out._counter = out._meta = None
    out.__dict__.update(attributes)
    return out


def address(array: ndarray) -> int:
    """The address of the first element."""
    try:  # NumPy's own answer, which tells more than the address, takes three times as long
        part = array if array.flags.c_contiguous else array[(*(0,) * array.ndim, ...)]
        return addressof(c_char.from_buffer(part))
    except (TypeError, ValueError, IndexError):  # it is read-only or empty
        return array.__array_interface__["data"][0]


def full_name(kind: type) -> str:
    """A class as PyTorch's messages call it: 'list', 'Tensor', but 'numpy.ndarray', which is compiled."""
    compiled = not kind.__flags__ & 1 << 9  # Python's own flag for classes made by a class statement
    return f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.") if compiled else kind.__name__


def dtype_word(t: Tensor) -> str:
    """How PyTorch's C++ messages call a dtype: 'Float', 'Long'."""
    return {
        "float16": "c10::Half",
        "float32": "float",
        "float64": "double",
        "int64": "long int",
        "int32": "int",
        "int16": "short int",
        "int8": "signed char",
        "uint8": "unsigned char",
    }.get(t.dtype.name, t.dtype.name)


def check_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises IndexError if a tensor of `ndim` dimensions has no such dimension."""
    bound = ndim or 1  # a 0-d tensor accepts dim 0 and -1
    if not -bound <= dim < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})"
        )
    return dim + bound if dim < 0 else dim
