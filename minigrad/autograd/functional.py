"""Jacobians, Hessians and products with them, of a function at a point: `autograd.functional`.

All are backward passes from the outputs `ys` to the inputs `xs`, which are fresh copies of the caller's:

    vjp         vᵀJ: one pass
    jvp         J v: two; uᵀJ is linear in u, so its derivative with respect to u, weighted by v, is J v
    vhp, hvp    vᵀH and H v, which are equal because a Hessian is symmetric: two; the gradient is differentiated again
    jacobian    one pass for each element of the outputs, with a unit vector as v
    hessian     the Jacobian of the gradient

create_graph: the results can be differentiated again. An input that an output does not depend on gets zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .. import messages
from ..basics import check
from ..missing import guard, module_attributes
from ..tensor import Tensor, wrap
from .grad_mode import enable_grad
from .passes import grad_of_any, zeros_of

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__, __getattr__ = module_attributes(__name__, __all__)
Tensors = Tensor | tuple[Tensor, ...]
Vectors = Tensors | None  # None means 1 if the function returns a single number
Map = Callable[..., Tensors]


def jacobian(func: Map, inputs: Tensors, create_graph: bool = False) -> Tensors | tuple:
    """The Jacobian of `func`: for output o and input x a tensor of shape `o.shape + x.shape`.

    A single tensor, or a tuple over the outputs or the inputs if they are a tuple; if both are, a tuple of tuples.
    """
    with enable_grad():
        xs, ys = point("jacobian", func, inputs, create_graph)
        blocks = []
        for y in ys:
            units = np.eye(y.numel(), dtype=y._array.dtype).reshape(y.numel(), *y.shape)
            rows = [slopes([y], xs, [wrap(unit)], create_graph) for unit in units]
            columns = zip(*rows, strict=True) if rows else [(x.flatten()[:0],) for x in xs]
            pairs = zip(columns, xs, strict=True)
            row = [Tensor._stacked(list(c)).reshape(y.shape + x.shape) for c, x in pairs]
            blocks.append(xs.like_given(row, create_graph))
        return ys.like_given(blocks)


def hessian(func: Map, inputs: Tensors, create_graph: bool = False) -> Tensors | tuple:
    """The Hessian of a scalar function: for inputs x and y a tensor of shape `x.shape + y.shape`."""

    def slope(*xs: Tensor) -> Tensors:
        xs = Group(xs if isinstance(inputs, tuple) else xs[0], "inputs", "hessian")
        return xs.like_given(gradient(Group(func(*xs), OUTPUTS, "hessian"), xs)[0])

    return jacobian(slope, inputs, create_graph)


def vjp(func: Map, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), vᵀJ): one gradient per input. `v` has the outputs' shapes; it may be omitted for a scalar."""
    return product("vjp", func, inputs, v, create_graph, lambda ys, xs: (ys, xs))


def jvp(func: Map, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), J v). `v` has the inputs' shapes; it may be omitted if the input is a single number."""

    def pulled(ys: Group, xs: Group) -> tuple:
        us = [zeros_of(y).requires_grad_() for y in ys]
        return slopes(ys, xs, us), us

    return product("jvp", func, inputs, v, create_graph, pulled)


def vhp(func: Map, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), vᵀH) for a scalar function."""
    return product("vhp", func, inputs, v, create_graph, gradient)


def hvp(func: Map, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), H v) for a scalar function: the same as `vhp`, because a Hessian is symmetric."""
    return product("hvp", func, inputs, v, create_graph, gradient)


def product(caller: str, func: Map, inputs: Tensors, v: Vectors, create_graph: bool, pair: Callable) -> tuple:
    """vᵀ times the derivative of some tensors with respect to others. `pair(ys, xs)` gives both at this point."""
    with enable_grad():
        xs, ys = point(caller, func, inputs, create_graph)
        tops, bottoms = pair(ys, xs)
        result = slopes(tops, bottoms, vectors_for(v, tops, caller), create_graph)
    return ys.like_given(ys, create_graph), (ys if caller == "jvp" else xs).like_given(result, create_graph)


def gradient(ys: Group, xs: Group) -> tuple:
    """The gradient of a scalar function, and the inputs that it is taken with respect to."""
    check(ys.alone, messages.NOT_ONE_TENSOR, ys.caller)
    check(ys[0].numel() == 1, messages.NOT_ONE_ELEMENT, ys.caller)
    return slopes(ys, xs), xs


def slopes(ys: Sequence, xs: Sequence, vectors: Sequence = (None,), create_graph: bool = True) -> tuple:
    """vᵀJ, zeros for an input that nothing depends on."""
    result = grad_of_any(ys, xs, vectors, retain_graph=True, create_graph=create_graph)
    return tuple(zeros_of(x) if g is None else g for g, x in zip(result, xs, strict=True))


# ---------------------------------------------------------------- arguments and results

OUTPUTS = "outputs of the user-provided function"


class Group(tuple):
    """Tensors as a tuple that remembers whether a single tensor was given. Raises TypeError for anything but tensors."""

    def __new__(cls, given: Tensors, name: str, caller: str) -> Group:
        group = super().__new__(cls, given if isinstance(given, tuple) else (given,))
        group.alone, group.caller = not isinstance(given, tuple), caller
        for i, t in enumerate(group):
            which = f"given {name}" if group.alone else f"value at index {i}"
            shown = name, caller, which, str(type(t))
            check(isinstance(t, Tensor), messages.NOT_TENSORS, *shown, error=TypeError)
        return group

    def like_given(self, results: Iterable, with_history: bool = True) -> Tensors:
        """A tuple, or its only element if a single tensor was given."""
        results = tuple(results if with_history else [r.detach() for r in results])
        return results[0] if self.alone else results


def point(caller: str, func: Map, inputs: Tensors, create_graph: bool) -> tuple[Group, Group]:
    """Fresh inputs that require grad, connected to the caller's if `create_graph`, and what the function returns."""
    xs = Group(inputs, "inputs", caller)
    fresh = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in xs]
    xs = Group(xs.like_given(fresh), "inputs", caller)
    return xs, Group(func(*xs), OUTPUTS, caller)


def vectors_for(v: Vectors, like: Sequence[Tensor], caller: str) -> Group:
    """The vectors of a product, in the shapes of `like`; ones instead of None for a single number."""
    if v is None and len(like) == 1 and like[0].numel() == 1:
        v = wrap(np.ones_like(like[0]._array))
    whose = "user-provided function returns" if caller == "vjp" else "input to the user-provided function is"
    check(v is not None, messages.NO_VECTOR, whose)
    vectors = Group(v, "v", caller)
    for i, (a, b) in enumerate(zip(vectors, like, strict=True)):
        which = "v" if vectors.alone else f"Entry {i} in v"
        check(a.shape == b.shape, "{} has invalid size: should be {} but got {}.", which, b.shape, a.shape)
    return vectors


guard(__name__, "autograd.functional")
