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


class CosineAnnealingLR(LRScheduler):
    def __init__(self, optimizer: Any, T_max: _int, eta_min: _float = ..., last_epoch: _int = ...) -> None: ...
    def get_lr(self) -> list[_float]: ...

class LRScheduler:
    def __init__(self, optimizer: Any, last_epoch: _int = ...) -> None: ...
    def get_last_lr(self) -> list[_float]: ...
    def get_lr(self) -> list[_float]: ...
    def step(self) -> None: ...

class LambdaLR(LRScheduler):
    def __init__(self, optimizer: Any, lr_lambda: Callable[[_int], _float], last_epoch: _int = ...) -> None: ...
    def get_lr(self) -> list[_float]: ...

class StepLR(LRScheduler):
    def __init__(self, optimizer: Any, step_size: _int, gamma: _float = ..., last_epoch: _int = ...) -> None: ...
    def get_lr(self) -> list[_float]: ...
