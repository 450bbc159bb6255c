"""Parameter: a leaf tensor that a Module knows as its own. Buffer: one that it keeps but does not train."""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..clock import clock
from ..memory import deeply_copied
from ..tensor import Tensor, new_object, plain_types, wrap


class Parameter(Tensor):
    """A tensor that is to be trained: assigned to a Module, it appears in `parameters()` and in the state dict.

    data: a tensor, whose memory is shared; history is left behind. requires_grad: True unless said otherwise, also
    inside `no_grad`. Raises RuntimeError for integers that are to require grad.
    """

    __slots__ = ()
    _repr_prefix = "Parameter containing:\n"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = wrap(np.empty(0, dtypes.default_float()))
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter() takes a Tensor, but got {type(data).__name__}. Make one first: torch.tensor(...)"
            )
        if requires_grad and data.is_inference():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        if requires_grad and data._array.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        out = new_object(cls)
        out._array, out._requires_grad, out._grad_fn, out._output_nr = (
            data._array,
            bool(requires_grad),
            None,
            0,
        )
        out._counter = out._meta = None
        out._born = clock.now
        return out

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True):
        pass  # __new__ has done everything

    def __reduce_ex__(self, protocol: int):
        return rebuild, (type(self), self._array, self._requires_grad, self.__dict__)  # hooks stay behind

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:  # the gradient stays behind
            array = deeply_copied(self._array, memo)
            memo[id(self)] = rebuild(type(self), array, self._requires_grad, self.__dict__)
        return memo[id(self)]


def rebuild(cls: type, array: np.ndarray, requires_grad: bool, attributes: dict) -> Parameter:
    """What pickle and deepcopy call to make a parameter again."""
    out = cls(wrap(array), requires_grad)
    out.__dict__.update(attributes)
    return out


plain_types.add(Parameter)  # operations treat it as they treat a Tensor


class _Uninitialized:
    """A tensor whose shape is not known yet."""

    __slots__ = ()
    _known: type

    def materialize(self, shape: tuple[int, ...]) -> None:
        """Take a shape, with values that are still arbitrary; from now on it is an ordinary one."""
        kind = dtypes.to_numpy(self.dtype)
        self.__class__ = self._known
        self._array = np.empty(shape, kind)

    def _refuse(self) -> None:
        raise ValueError(
            "Attempted to use an uninitialized parameter. This error happens when you are using a `LazyModule` or explicitly "
            "manipulating `torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call `forward` with a "
            "dummy batch to initialize the parameters before calling torch functions"
        )

    # whatever computes with it wants its array, of which there is only the type
    _array = property(_refuse, lambda self, array: Tensor._array.__set__(self, array))

    @property
    def dtype(self) -> dtypes.dtype:
        """The type that its values will have."""
        return dtypes.of_numpy(Tensor._array.__get__(self).dtype)

    @property
    def shape(self) -> None:
        """Raises RuntimeError: there is none."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
            "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
            "parameters before accessing their attributes."
        )

    @property
    def data(self) -> Tensor:
        """An empty tensor of the type that the values will have; setting it sets the type."""
        return wrap(Tensor._array.__get__(self))

    @data.setter
    def data(self, new: Tensor) -> None:
        Tensor._array.__set__(self, new._array)

    def detach(self) -> Tensor:
        """Itself: there is nothing yet to be detached."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialized, Parameter):
    """The parameter of a lazy layer before its first input."""

    __slots__ = ()
    _known = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: object = None, dtype: dtypes.dtype | None = None
    ) -> UninitializedParameter:
        kind = dtypes.default_float() if dtype is None else dtypes.to_numpy(dtype)
        return super().__new__(cls, wrap(np.empty(0, kind)), requires_grad)

    def __init__(self, *args: object, **kwargs: object):
        pass  # __new__ has done everything

    def __deepcopy__(self, memo: dict) -> UninitializedParameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self._requires_grad, dtype=self.dtype)
        return memo[id(self)]


class UninitializedBuffer(_Uninitialized, Tensor):
    """The buffer of a lazy layer before its first input."""

    __slots__ = ()
    _known = Tensor

    def __new__(cls, device: object = None, dtype: dtypes.dtype | None = None) -> UninitializedBuffer:
        kind = dtypes.default_float() if dtype is None else dtypes.to_numpy(dtype)
        out = new_object(cls)
        out._array, out._requires_grad, out._grad_fn, out._output_nr = np.empty(0, kind), False, None, 0
        out._counter = out._meta = None
        out._born = clock.now
        return out

    def __init__(self, *args: object, **kwargs: object):
        pass  # __new__ has done everything


class _BufferType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """A tensor that a Module keeps, moves and saves with itself, but does not train. It is a plain Tensor, marked."""

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:
        if not (data is None or isinstance(data, Tensor)):
            raise TypeError(
                f"Buffer() takes a Tensor, but got {type(data).__name__}. Make one first: torch.tensor(...)"
            )
        out = wrap(np.empty(0, dtypes.default_float()) if data is None else data._array)
        out._requires_grad = False if data is None else data._requires_grad
        out.persistent, out._is_buffer = persistent, True
        return out


__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__dir__ = __all__.copy  # what completion offers
