"""Tensor: an array, and what autograd needs to know about it.

This file has a tensor's state. Questions about its values are in tensor_methods.py. Operations (`x + y`,
`x.sum()`), `backward` and hooks come from the packages above, and are attached in `minigrad/__init__.py`.
"""

from __future__ import annotations

import copy
import warnings
import weakref

import numpy as np

from . import dtypes, messages
from .basics import check
from .tensor_methods import Size, TensorBase

ndarray = np.ndarray
new_object = object.__new__


class Counter:
    """A version counter, shared by all tensors that share memory. In-place writes increment it.

    `views` lists the living views of a tensor that is not (yet) part of a graph: if an in-place operation
    makes the base require grad, they must follow. `detached` is 1 after `detach_()`: saved tensors notice it.
    """

    __slots__ = ("detached", "prune_at", "version", "views")

    def __init__(self):
        self.version, self.detached, self.views, self.prune_at = 0, 0, None, 16

    def add_view(self, view: Tensor) -> None:
        if self.views is None:
            self.views = []
        elif len(self.views) >= self.prune_at:  # drop dead references, or a long-lived base would grow
            self.views = [r for r in self.views if r() is not None]
            self.prune_at = 2 * len(self.views) + 16
        self.views.append(weakref.ref(view))


class AutogradMeta:
    """Attributes that only some tensors have: a gradient, an accumulator, a base, hooks. Most tensors have
    none of them. The class attributes are the defaults; an object stores only what differs."""

    grad = None  # the gradient, a Tensor
    accumulator = None  # weak reference to this leaf's AccumulateGrad node
    base = None  # the tensor whose memory this one shows, if it is a view
    seen_version = 0  # the base's version when this view's grad_fn was made
    creation_meta = None  # "no_grad", "inference", "multi_output", "custom": writing in place is refused
    borrows = False  # it requires grad only because its base does: a view made under no_grad
    argument = False  # a transform differentiates with respect to it: it counts as a leaf
    retains_grad = False
    hooks = None  # hooks of a leaf; a non-leaf's are kept by its node
    post_hooks = None  # register_post_accumulate_grad_hook


class Tensor(TensorBase):
    """A multi-dimensional array with a history for gradients. `minigrad.tensor(...)` makes one from numbers.

    Attributes: `data`, `shape`, `dtype`, `requires_grad`, `grad`, `grad_fn`, `is_leaf`.
    """

    __module__ = __package__  # as users know it
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",  # the values, a NumPy array; views of a tensor share its memory
        "_counter",  # version counter, None until another tensor shares it or an in-place write happens
        "_grad_fn",  # the node that made it; None for a leaf
        "_meta",  # AutogradMeta or None
        "_output_nr",  # which of that node's outputs it is
        "_requires_grad",
    )
    _repr_prefix = ""  # a Parameter says what it is
    __array_priority__ = 1000  # so that `ndarray * tensor` calls the tensor's operator

    def __new__(cls, *data: object) -> Tensor:
        """A float32 tensor with given numbers (`Tensor([1, 2])`) or of a given size (`Tensor(2, 3)`)."""
        if all(hasattr(n, "__index__") for n in data) or isinstance(data[0], Size):
            size = data[0] if data and isinstance(data[0], Size) else data or (0,)
            return rebuilt(cls, np.empty(size, dtypes.default_float()), False, {})
        fits = len(data) == 1 and hasattr(data[0], "__len__")
        check(fits, "new(): data must be a sequence (got {})", type(data[0]).__name__, error=TypeError)
        return rebuilt(cls, np.array(data[0], dtypes.default_float()), False, {})

    # ------------------------------------------------------------------ its memory

    @property
    def data(self) -> Tensor:
        """The same memory without history, with its own version counter: autograd ignores writes to it."""
        return wrap(self._array)

    @data.setter
    def data(self, other: Tensor) -> None:
        check(isinstance(other, Tensor), messages.DATA_TYPE, type(other).__name__, error=TypeError)
        check(other._array.dtype.kind == "f" or not self._requires_grad, messages.DATA_DTYPE)
        self._array = other._array

    def __array_wrap__(self, array: ndarray, context: object = None, return_scalar: bool = False) -> Tensor:
        return wrap(array)  # NumPy's functions of a tensor return a tensor: `np.sin(x)`

    def __hash__(self) -> int:
        return id(self)  # `==` compares elements, so dictionaries tell tensors apart by identity

    def __reduce_ex__(self, protocol: int) -> tuple:
        kind = Tensor if self.is_inference() else type(self)
        return rebuilt, (kind, self._array, self._requires_grad, self.__dict__)

    def __deepcopy__(self, memo: dict) -> Tensor:
        check(self._grad_fn is None, messages.DEEPCOPY)
        kind = Tensor if self.is_inference() else type(self)
        copied = rebuilt(kind, copy.deepcopy(self._array, memo), self._requires_grad, self.__dict__)
        if self._meta is not None:
            copied.grad = copy.deepcopy(self._meta.grad, memo)
        return copied

    # ------------------------------------------------------------------ autograd

    @property
    def requires_grad(self) -> bool:
        """True if gradients are computed for this tensor."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        check(isinstance(value, bool), "requires_grad must be a bool")
        check(not value or self._array.dtype.kind == "f", messages.FLAG_SET_DTYPE)
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether operations on this tensor are recorded, in place. Returns self.

        Raises RuntimeError for integers and inference tensors, and for False on the result of an operation.
        """
        check(isinstance(requires_grad, bool), messages.FLAG_TYPE, type(requires_grad), error=TypeError)
        if requires_grad:
            check(self._array.dtype.kind == "f", messages.FLAG_DTYPE)
            check(not self.is_inference(), messages.INFERENCE_FLAG)
        check(requires_grad or self._grad_fn is None, messages.FLAG_OF_RESULT)
        self._requires_grad = requires_grad
        if self._meta is not None:
            self._meta.borrows = False
        if self._counter is not None and self._counter.views:
            self._notify_views()
        return self

    def detach(self) -> Tensor:
        """The same memory without history: no gradient flows through it; writes to either show in both."""
        out = wrap(self._array)
        out._counter = self._own_counter()
        if self.is_inference():
            out.__class__ = InferenceTensor
        return out

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up in this tensor, or None before the first."""
        meta = self._meta
        if self._grad_fn is not None and (meta is None or not (meta.retains_grad or meta.grad is not None)):
            warnings.warn(messages.NOT_A_LEAF, UserWarning, stacklevel=2)
        return None if meta is None else meta.grad

    @grad.setter
    def grad(self, new: Tensor | None) -> None:
        if new is None:
            if self._meta is not None:
                self._meta.grad = None
            return
        check(isinstance(new, Tensor), messages.GRAD_TYPE, type(new).__name__, error=TypeError)
        check(new is not self, "can't assign Variable as its own grad")
        check(new.dtype is self.dtype, messages.GRAD_DTYPE, new.dtype.c_name, self.dtype.word)
        check(new._array.shape == self._array.shape, messages.GRAD_SIZE, new._array.shape, self._array.shape)
        self._own_meta().grad = new

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    retains_grad = property(lambda self: bool(self._meta and self._meta.retains_grad), doc="`retain_grad()`")
    _base = property(lambda self: None if self._meta is None else self._meta.base)

    @property
    def _version(self) -> int:
        check(not self.is_inference(), "Inference tensors do not track version counter.")
        return 0 if self._counter is None else self._counter.version

    def is_inference(self) -> bool:
        """True if this tensor was made in inference_mode and can never take part in autograd."""
        return isinstance(self, InferenceTensor)

    def _outside(self) -> Tensor:
        """The tensor without the wrapper of a transform that has ended; itself if it has no such wrapper."""
        return self

    def _own_meta(self) -> AutogradMeta:
        """This tensor's AutogradMeta, made now if there is none."""
        if self._meta is None:
            new = AutogradMeta()
            self._meta = self._meta or new  # another thread may have run during that call
        return self._meta

    def _own_counter(self) -> Counter:
        """This tensor's version counter, made now if there is none."""
        if self._counter is None:
            node, new = self._grad_fn, Counter()
            if node is not None and node._read_output == self._output_nr:
                new = node._result_counter = node._result_counter or new
            self._counter = self._counter or new
        return self._counter


# What is made in inference_mode: a separate class, so that the ordinary path need not check for it.
InferenceTensor = type("Tensor", (Tensor,), {"__module__": __package__, "__slots__": ()})
# The classes of tensors about which there is nothing unusual; nn adds Parameter.
plain_types: set[type] = {Tensor}


def wrap(array: ndarray, requires_grad: bool = False) -> Tensor:
    """A new leaf tensor around `array`, sharing its memory."""
    out = new_object(Tensor)
    out._array = array if type(array) is ndarray else np.asarray(array)
    out._requires_grad, out._output_nr = requires_grad, 0
    out._grad_fn = out._counter = out._meta = None
    return out


def rebuilt(cls: type, array: ndarray, requires_grad: bool, attributes: dict) -> Tensor:
    """Make a leaf again, for pickle and deepcopy."""
    out = wrap(array, requires_grad)
    out.__class__ = cls
    out.__dict__.update(attributes)
    return out
