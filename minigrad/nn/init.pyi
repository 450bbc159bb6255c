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

def kaiming_uniform_(tensor: _Tensor, a: _float = ...) -> _Tensor: ...
def normal_(tensor: _Tensor, mean: _float = ..., std: _float = ...) -> _Tensor: ...
def ones_(tensor: _Tensor) -> _Tensor: ...
def uniform_(tensor: _Tensor, a: _float = ..., b: _float = ...) -> _Tensor: ...
def xavier_uniform_(tensor: _Tensor, gain: _float = ...) -> _Tensor: ...
def zeros_(tensor: _Tensor) -> _Tensor: ...
