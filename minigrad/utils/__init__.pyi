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
from . import checkpoint as checkpoint
from . import data as data

