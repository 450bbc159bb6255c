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

def clip_grad_norm_(parameters: _Tensor | Iterable[_Tensor], max_norm: _float, norm_type: _float = ...) -> _Tensor: ...
def clip_grad_value_(parameters: _Tensor | Iterable[_Tensor], clip_value: _float) -> None: ...
