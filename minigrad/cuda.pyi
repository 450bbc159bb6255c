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

def device_count() -> _int: ...
def is_available() -> _bool: ...
def is_initialized() -> _bool: ...
def manual_seed(seed: _int) -> None: ...
def manual_seed_all(seed: _int) -> None: ...
