"""minigrad: PyTorch's autograd, small enough to read, on NumPy.

    import minigrad as torch

runs ordinary PyTorch code: the same graph (`grad_fn`, `next_functions`), the same numbers, the same printed output, the
same errors, for all that it offers.

How `z = (x * y).sum(); z.backward()` travels:

    ops/pointwise.py     `mul` is declared here: np.multiply and a rule for each input. `x * y` calls what was written of it
    ops/template.py      by this template: compute on the arrays, wrap the result, hang a node on it that saves x and y
    autograd/node.py     the node's edges lead to those of x and y: their AccumulateGrad, as they are leaves
    ops/reduction.py     `sum`, in the same way (publish.py chooses between its two forms, with `dim` and without)
    autograd/passes.py   `backward` starts a pass with gradient 1
    autograd/engine.py   which fires SumBackward0, MulBackward0 (their rules, as declared), then node.py's AccumulateGrads

The files, in the order in which each needs only those before it:

    dtypes, basics, printing, words    element types; sizes, dimensions; how numbers are printed; PyTorch's long messages
    autograd/modes       is anything recorded?
    tensor               an array, and what autograd needs to know of it
    autograd/            node, saved, views (with all writing in place), anomaly, hooks, engine, passes: see its first page
    ops/errors, signature, publish, run, template, table    how a declaration becomes an operation
    ops/pointwise, reduction, shape, indexing, linalg, nn, images    the calculus: every derivative there is
    creation, random, mersenne    new tensors, PyTorch's stream of random numbers
    func/                functions of functions: grad, vjp, jvp, vmap and what is built from them
    autograd/            its further chapters: Function, forward mode, functional, gradcheck, more hooks
    nn/, optim/, utils/, serialization    modules, optimizers, data and checkpointing, files

Tensor's methods are attached below, all in one place.
"""

import types
import warnings

import numpy as np

from . import autograd, basics, ops
from .autograd import graph as _graph  # who looks at a graph finds its tools loaded
from .autograd import hooks as _hooks
from .autograd import node as _node
from .autograd import passes as _passes
from .autograd.modes import *  # noqa: F403
from .basics import Size, device, offers
from .creation import *  # noqa: F403
from .devices import *  # noqa: F403
from .dtypes import *  # noqa: F403
from .ops import (
    arrange,
    indexing,
    pointwise,
    products,
    publish,
    reduction,
    selection,
    shape,
    special,
    statistics,
)
from .ops import linalg as _linalg
from .ops import nn as _nn
from .random import *  # noqa: F403
from .tensor import Tensor

__version__ = "0.1.0"

# PyTorch divides by zero in silence, and so does NumPy from here on. NumPy's setting does not reach other threads; there
# at least the warnings that come from minigrad's own lines are left out.
np.seterr(all="ignore")
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")

# All that Tensor can do beside what is in tensor.py is attached here.
_methods = publish.METHODS | {
    "backward": _passes.tensor_backward,
    "grad_fn": property(_node.grad_fn, doc=_node.grad_fn.__doc__),
    "is_leaf": property(_node.is_leaf, doc=_node.is_leaf.__doc__),
    "register_hook": _hooks.register_hook,
    "register_post_accumulate_grad_hook": _hooks.register_post_accumulate_grad_hook,
    "retain_grad": _hooks.retain_grad,
    "_backward_hooks": property(_hooks.backward_hooks),
    "_post_accumulate_grad_hooks": property(_hooks.post_accumulate_grad_hooks),
    "_stacked": staticmethod(shape.stack),
}
_methods |= {name: basics.NotOffered(name) for name in basics.NotOffered.names.split()}
for _name, _method in _methods.items():
    setattr(Tensor, _name, _method)
globals().update(publish.FUNCTIONS)
linalg = types.ModuleType("minigrad.linalg", "Linear algebra: `torch.linalg`.")
linalg.__dir__, linalg.__getattr__ = offers(linalg.__name__, publish.LINALG)
vars(linalg).update(publish.LINALG)


def is_floating_point(input: Tensor) -> "bool":
    """True if the elements are floating point numbers."""
    return input.is_floating_point()


def numel(input: Tensor) -> "int":
    """The number of elements."""
    return input.numel()


def is_tensor(obj: object, /) -> "bool":
    """True if `obj` is a Tensor."""
    return isinstance(obj, Tensor)


# Not what this file needs for itself, and of the modules only those that PyTorch has.
OFFERED = {name for name in globals() if name[0] != "_" and not name.isupper() and name != "offers"}
OFFERED -= {name for name in OFFERED if isinstance(globals()[name], types.ModuleType)}
# The larger parts are loaded when they are first used: `import minigrad` stays quick.
LATER = {name: f".{name}" for name in ("func", "nn", "optim", "utils")}
LATER |= {"save": ".serialization", "load": ".serialization", "vmap": ".func"}
OFFERED |= {*LATER, "__version__", "accelerator", "autograd", "backends", "cuda", "linalg", "mps", "random"}
__dir__, __getattr__ = offers(__name__, OFFERED, LATER)
