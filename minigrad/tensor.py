"""Tensor: an array, and what autograd needs to know of it.

This file holds a tensor's state and the questions one can ask of it. Operations (`x + y`, `x.sum()`) are attached by
`minigrad.ops`, `backward` and the hooks by `minigrad.autograd`; this file imports neither.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable

import numpy as np

from . import dtypes
from .clock import clock
from .size import Size

ndarray = np.ndarray
new_object = object.__new__


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

    __module__ = __package__  # as users know it
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",  # the values, a NumPy array; views of a tensor share its memory
        "_born",  # without history: the clock when it was made
        "_counter",  # version counter, None until someone shares it or writes in place
        "_grad_fn",  # the node that made it; None for a leaf
        "_meta",  # AutogradMeta or None
        "_output_nr",  # which of that node's outputs it is
        "_requires_grad",
    )
    _repr_prefix = ""  # a Parameter says what it is
    __array_priority__ = 1000  # so that `ndarray * tensor` asks the tensor

    # ------------------------------------------------------------------ values

    @property
    def data(self) -> Tensor:
        """The same memory as a tensor without history and with a version of its own: autograd cannot see writes to it."""
        out = wrap(self._array)
        out._born = getattr(self if self._base is None else self._base, "_born", out._born)
        return out

    @data.setter
    def data(self, other: Tensor) -> None:
        if not isinstance(other, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(other).__name__}")
        if self._requires_grad and other._array.dtype.kind != "f":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        self._array = other._array

    shape = property(
        lambda self: tuple.__new__(Size, self._array.shape),
        read_only("shape"),
        doc="The lengths of the dimensions.",
    )

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements, such as `torch.float32`."""
        return dtypes.of_numpy(self._array.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    def is_floating_point(self) -> bool:
        """True if the elements are floating point numbers."""
        return self._array.dtype.kind == "f"

    def __hash__(self) -> int:
        return id(self)  # `==` compares elements, so identity is what makes a dictionary key

    # ------------------------------------------------------------------ autograd

    @property
    def requires_grad(self) -> bool:
        """True if gradients are to be computed for this tensor."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not isinstance(wanted, bool):
            raise RuntimeError("requires_grad must be a bool")
        if wanted and self._array.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
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
            self._tell_views()
        return self

    def _tell_views(self) -> None:
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
            self._own_meta().grad = new
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
                f"attempting to assign a gradient with dtype '{dtypes.c_name(new._array.dtype)}' to a tensor with grad_dtype "
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
        self.grad = None

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

    def _outside(self) -> Tensor:
        """What is left of a tensor when the transform that it belongs to has ended: itself, if it belongs to none."""
        return self

    def _dynamic(self, name: str) -> None:
        """Raise RuntimeError inside vmap: the shape of what the operation `name` gives would depend on the example."""

    def _in_graph(self) -> Tensor:
        """The tensor whose history is meant: itself, except for a dual number, which may only carry its value's."""
        return self

    def _own_meta(self) -> AutogradMeta:
        """This tensor's AutogradMeta, made now if there is none."""
        if self._meta is None:
            new = AutogradMeta()
            # still? During that call another thread may have had its turn, but not from here on
            if self._meta is None:
                self._meta = new
        return self._meta

    def _own_counter(self) -> Counter:
        """This tensor's version counter, made now if there is none."""
        if self._counter is None:
            new = Counter()
            if self._counter is None:
                self._counter = new
        return self._counter


class InferenceTensor(Tensor):
    """A tensor made in inference_mode. A class of its own, so that the fast path of operations need not ask."""

    __slots__ = ()


InferenceTensor.__name__ = InferenceTensor.__qualname__ = "Tensor"
InferenceTensor.__module__ = __package__
# The classes of tensors about which there is nothing unusual; nn adds Parameter.
plain_types: set[type] = {Tensor}


def wrap(array: ndarray, requires_grad: bool = False) -> Tensor:
    """A new leaf tensor around `array`, sharing its memory."""
    out = new_object(Tensor)
    out._array = array if type(array) is ndarray else np.asarray(array)
    out._requires_grad, out._output_nr, out._born = requires_grad, 0, clock.now
    out._grad_fn = out._counter = out._meta = None
    return out


def full_name(kind: type) -> str:
    """A class as PyTorch's messages call it: 'list', 'Tensor', but 'numpy.ndarray', which is compiled."""
    if kind.__module__.split(".")[0] == __package__ and kind.__name__ in ("Size", "device", "dtype"):
        return f"torch.{kind.__name__}"  # compiled there
    compiled = not kind.__flags__ & 1 << 9  # Python's own flag for classes made by a class statement
    return f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.") if compiled else kind.__name__
