"""Made by tools/stubs.py from the signatures that help() shows."""

from builtins import bool as _bool, float as _float, int as _int
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np


from minigrad import Tensor as _Tensor
from minigrad import Size as _Size
from minigrad import dtype as _dtype
from minigrad import device as _device
from minigrad import Generator as _Generator
from . import forward_ad as forward_ad
from . import functional as functional
from . import graph as graph


class Function:
    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any: ...
    generate_vmap_rule: Any
    @classmethod
    def gradients(cls) -> Callable[..., Any]: ...
    @staticmethod
    def jvp(*args: Any, **kwargs: Any) -> Any: ...
    node_class: Any
    old_form: Any
    @staticmethod
    def setup_context(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def vjp(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def vmap(*args: Any, **kwargs: Any) -> Any: ...
def backward(tensors: _Tensor | Sequence[_Tensor], grad_tensors: _Tensor | Sequence[_Tensor | None] | None = ..., retain_graph: _bool | None = ..., create_graph: _bool = ..., inputs: _Tensor | Sequence[_Tensor] | None = ...) -> None: ...

class detect_anomaly(set_detect_anomaly):
    def __enter__(self) -> None: ...
    def __init__(self, check_nan: _bool = ...) -> None: ...
from minigrad import enable_grad as enable_grad
def grad(outputs: _Tensor | Sequence[_Tensor], inputs: _Tensor | Sequence[_Tensor], grad_outputs: _Tensor | Sequence[_Tensor | None] | None = ..., retain_graph: _bool | None = ..., create_graph: _bool = ..., only_inputs: _bool = ..., allow_unused: _bool | None = ..., is_grads_batched: _bool = ..., materialize_grads: _bool = ...) -> tuple[_Tensor | None, ...]: ...
def gradcheck(func: Any, inputs: _Tensor | Sequence[object], *, eps: _float = ..., atol: _float = ..., rtol: _float = ..., raise_exception: _bool = ..., nondet_tol: _float = ..., check_undefined_grad: _bool = ..., check_grad_dtypes: _bool = ..., check_batched_grad: _bool = ..., check_batched_forward_grad: _bool = ..., check_forward_ad: _bool = ..., check_backward_ad: _bool = ..., fast_mode: _bool = ..., masked: _bool | None = ...) -> _bool: ...
def gradgradcheck(func: Any, inputs: _Tensor | Sequence[object], **options: Any) -> _bool: ...
from minigrad import inference_mode as inference_mode
from minigrad import no_grad as no_grad

class set_detect_anomaly:
    def __enter__(self) -> None: ...
    def __exit__(self, *exc: Any) -> None: ...
    def __init__(self, mode: _bool, check_nan: _bool = ...) -> None: ...
from minigrad import set_grad_enabled as set_grad_enabled
