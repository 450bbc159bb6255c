"""minigrad: PyTorch's autograd, small enough to read, on NumPy.

    import minigrad as torch

runs ordinary PyTorch code: the same graph (`grad_fn`, `next_functions`), the same numbers, the same printed output,
the same errors. Start reading at `minigrad/ops/pointwise.py` (the derivatives) and `minigrad/autograd/engine.py` (the
walk); `minigrad/autograd/__init__.py` says which files are the core, and in which order they can be read.
"""

import warnings

import numpy as np

from . import autograd, linalg
from .autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .autograd.grad_mode import is_grad_enabled, is_inference_mode_enabled
from .creation import *  # noqa: F403
from .device import *  # noqa: F403
from .dtypes import (
    bool,
    double,
    dtype,
    finfo,
    float,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    iinfo,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    set_default_dtype,
    short,
    uint8,
)
from .ops import *  # noqa: F403
from .printing import set_printoptions
from .random import *  # noqa: F403
from .size import Size
from .tensor import Tensor
from .tensor import full_name as _full_name

__version__ = "0.1.0"

# PyTorch divides by zero in silence, and so does NumPy from here on. NumPy's setting does not reach other threads; there
# at least the warnings that come from minigrad's own lines are left out.
np.seterr(all="ignore")
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")


def is_tensor(obj: object, /) -> "bool":
    """True if `obj` is a Tensor."""
    return isinstance(obj, Tensor)


def _tensor_argument(caller: str, input: object) -> "Tensor":
    """`input`. Raises PyTorch's TypeError if it is no tensor."""
    if not isinstance(input, Tensor):
        found = _full_name(type(input))
        raise TypeError(f"{caller}(): argument 'input' (position 1) must be Tensor, not {found}")
    return input


def is_floating_point(input: "Tensor") -> "bool":
    """True if the elements are floating point numbers."""
    return _tensor_argument("is_floating_point", input).is_floating_point()


def numel(input: "Tensor") -> "int":
    """The number of elements."""
    return _tensor_argument("numel", input).numel()


# what is in torch as well as in torch.nn.functional
OF_NN = {
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "alpha_dropout", "avg_pool1d", "bilinear", "celu_", "channel_shuffle",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "dropout",
    "feature_alpha_dropout", "max_pool3d", "pdist", "pixel_shuffle", "pixel_unshuffle", "rrelu", "rrelu_", "selu_",
    "threshold_", "group_norm", "layer_norm", "max_pool1d", "max_pool2d", "pairwise_distance", "rms_norm",
}  # fmt: skip


LATER = {"func", "nn", "optim", "special", "testing", "utils"}  # modules
NOW = {"autograd", "linalg", "random", "return_types"}


def __dir__() -> "list[str]":
    """What PyTorch has, too, those included that are loaded when they are first used. (In other files: `__all__`.)"""
    found = {name for name, value in globals().items() if not isinstance(value, type(warnings))}
    return sorted((found - {"LATER", "NOW", "OF_NN"}) | LATER | NOW | OF_NN | {"load", "save", "vmap"})


def __getattr__(name: "str") -> "object":
    """Load the larger parts when they are first used: `import minigrad` stays quick."""
    import importlib

    if name in LATER:
        return importlib.import_module("." + name, __name__)
    if name in ("save", "load"):
        return getattr(importlib.import_module(".serialization", __name__), name)
    if name in OF_NN:
        return getattr(importlib.import_module(".nn.functional", __name__), name)
    if name == "vmap":
        return importlib.import_module(".func", __name__).vmap
    why = importlib.import_module(".absent", __name__).reason(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{why}")
