"""minigrad: PyTorch's autograd, small enough to read, on NumPy.

    import minigrad as torch

runs ordinary PyTorch code: the same graph (`grad_fn`, `next_functions`), the same numbers, the same printed output, the
same errors, as far as it implements PyTorch.

**The path of one call.** `z = (x * y).sum(); z.backward()` goes through these files, in this order (a test follows it):

    ops/apply.py          `x * y` is `call` of `call_two`: compute on the arrays, wrap the result ...
    tensor.py             ... in a Tensor: an array, and where it comes from
    autograd/node.py      and attach a node, whose edges lead to the AccumulateGrads of x and y; it saves x and y
    ops/reduction.py      `sum`, in the same way
    autograd/passes.py    `backward` starts a pass with gradient 1
    autograd/engine.py    the walk: it fires SumBackward0, then MulBackward0, whose `vjp` (ops/apply.py again) ...
    autograd/saved.py     ... opens what the node saved
    ops/pointwise.py      ... and calls the rules of `mul`, as they are declared; AccumulateGrad adds to `.grad`

**What to read, in this order**, to learn how backward works; each file can be read without those after it:

    1  tensor.py              an array, and where it comes from
    2  ops/pointwise.py       operations are declared: a forward function, and a rule for each input
    3  ops/op.py              what a declaration says: `Op`
    4  ops/apply.py           compute, wrap, attach a node; and its backward: read what was saved, call the rules
    5  autograd/node.py       Node, next_functions, AccumulateGrad
    6  autograd/engine.py     the walk
    7  autograd/passes.py     backward and grad
    8  autograd/saved.py      saved tensors and their versions
    9  autograd/hooks.py, modes.py    users' hooks in a pass; whether anything is recorded
    10 ops/inplace.py, autograd/views.py    the hard part: views and writes
    11 ops/general.py, signature.py, operands.py, table.py    arguments, unusual calls and errors, how a
                              declaration becomes functions: skip these at first
    12 func/                  functions of functions: grad, vjp, jvp, vmap and what is built from them

Besides these: autograd/ has further modules (its docstring lists them); creation, random and mersenne make tensors; nn/,
optim/, utils/ and serialization are what training needs; dtypes, devices, printing and tensor_methods describe tensors;
basics raises errors (messages has their long texts); missing says what only PyTorch has (pytorch_names lists it).

Tensor's methods are attached below, all in one place.
"""

import sys
import types
import warnings

import numpy as np

from . import autograd, missing, ops
from .autograd import graph as _graph
from .autograd import node as _node
from .autograd import passes as _passes
from .autograd import views as _views
from .autograd.grad_mode import *  # noqa: F403
from .creation import *  # noqa: F403
from .devices import *  # noqa: F403
from .dtypes import *  # noqa: F403
from .ops import (
    activations,
    arrange,
    casts,
    indexing,
    norms,
    pointwise,
    products,
    reduction,
    selection,
    shape,
    stacking,
    statistics,
    table,
)
from .ops import linalg as _linalg
from .ops import nn as _nn
from .ops import special as _special
from .random import *  # noqa: F403
from .tensor import Tensor
from .tensor_methods import Size

__version__ = "0.2.0"

# PyTorch divides by zero silently, and so does NumPy from here on. NumPy's setting does not reach other threads; there, at
# least the warnings from minigrad's own lines are suppressed.
np.seterr(all="ignore")
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")

# Tensor's operations and methods beyond those in tensor.py are attached here.
_methods = table.METHODS | {
    "backward": _passes.tensor_backward,
    "grad_fn": property(_node.grad_fn, doc=_node.grad_fn.__doc__),
    "is_leaf": property(_node.is_leaf, doc=_node.is_leaf.__doc__),
    "register_hook": _graph.register_hook,
    "register_post_accumulate_grad_hook": _graph.register_post_accumulate_grad_hook,
    "retain_grad": _graph.retain_grad,
    "detach_": _views.detach_,
    "_notify_views": _views.notify_views,
    "_backward_hooks": property(_graph.backward_hooks),
    "_post_accumulate_grad_hooks": property(lambda t: t._meta and t._meta.post_hooks),
    "_stacked": staticmethod(shape.stack),
}
for _name, _method in _methods.items():
    setattr(Tensor, _name, _method)
for _name in ("Tensor", "dtype", "Generator"):
    missing.complete(globals()[_name], _name)
missing.guard(Tensor, "Tensor")
globals().update(table.FUNCTIONS)
linalg = sys.modules[f"{__name__}.linalg"] = types.ModuleType(f"{__name__}.linalg", "`torch.linalg`.")
linalg.__dir__, linalg.__getattr__ = missing.module_attributes(linalg.__name__, table.LINALG)
vars(linalg).update(table.LINALG)

# Names that only this file uses are not public, nor are modules that PyTorch does not have.
PUBLIC = {name for name in globals() if name[0] != "_" and not name.isupper()}
PUBLIC -= {name for name in PUBLIC if isinstance(globals()[name], types.ModuleType)}
# The larger parts are loaded when they are first used: `import minigrad` stays quick.
LAZY = {name: f".{name}" for name in ("func", "nn", "optim", "utils")}
LAZY |= {"cosine_similarity": ".nn.functional", "pairwise_distance": ".nn.functional"}
LAZY |= {"save": ".serialization", "load": ".serialization", "vmap": ".func"}
PUBLIC |= {*LAZY, "__version__", "accelerator", "autograd", "backends", "cuda", "linalg", "mps", "random"}
__dir__, __getattr__ = missing.module_attributes(__name__, PUBLIC, LAZY)
