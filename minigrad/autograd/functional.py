"""Jacobians, Hessians and products with them, of a function at a point: `autograd.functional`.

All are backward passes from the outputs `ys` to the inputs `xs`, which are fresh copies of the caller's:

    vjp         vᵀJ: one pass
    jvp         J v: two; vᵀJ is linear in v, so its derivative with respect to v is J
    vhp, hvp    vᵀH and H v, which are equal because a Hessian is symmetric: two; the gradient is differentiated again
    jacobian    one pass for each element of the outputs, with a unit vector as v
    hessian     the Jacobian of the gradient

create_graph: the results can be differentiated again. An input that an output does not depend on has zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..tensor import Tensor, wrap
from .modes import enable_grad
from .passes import grad_of_any, zeros_like

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = __all__.copy  # what completion offers
Tensors = Tensor | tuple[Tensor, ...]
Vectors = Tensors | None  # None stands for a 1 beside a single number
Differentiable = Callable[..., Tensors]


def jacobian(func: Differentiable, inputs: Tensors, create_graph: bool = False) -> Tensors | tuple:
    """The Jacobian of `func`: for output o and input x a tensor of shape `o.shape + x.shape`.

    A single tensor for one output and one input, a tuple per input, a tuple of tuples for several outputs.
    """
    with enable_grad():
        xs, ys = outputs_of(func, inputs, "jacobian", create_graph)
        rows = []
        for y in ys:
            units = np.eye(y.numel(), dtype=y._array.dtype).reshape(-1, *y.shape)
            found = [slopes_of([y], xs, [wrap(unit)], create_graph) for unit in units]
            row = [
                Tensor._stacked([g[i] for g in found]).reshape(*y.shape, *x.shape) for i, x in enumerate(xs)
            ]
            rows.append(xs.like_given(row, create_graph))
        return ys.like_given(rows)


def hessian(func: Differentiable, inputs: Tensors, create_graph: bool = False) -> Tensors | tuple:
    """The Hessian of a scalar function: for inputs x and y a tensor of shape `x.shape + y.shape`."""

    def scalar(*xs: Tensor) -> Tensor:
        return scalar_only(Group(func(*xs), OUTPUTS, "hessian"), "hessian").squeeze()

    def gradient(*xs: Tensor) -> Tensors:
        return jacobian(scalar, xs if isinstance(inputs, tuple) else xs[0], create_graph=True)

    return jacobian(gradient, inputs, create_graph=create_graph)


def vjp(func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), vᵀJ): one gradient per input. `v` has the outputs' shapes; it may be omitted for a scalar."""
    with enable_grad():
        xs, ys = outputs_of(func, inputs, "vjp", create_graph)
        vectors = vectors_for(v, ys, "vjp", "user-provided function returns")
        found = slopes_of(ys, xs, vectors, create_graph)
    return ys.like_given(ys, create_graph), xs.like_given(found, create_graph)


def jvp(func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), J v). `v` has the inputs' shapes; it may be omitted for a single number."""
    with enable_grad():
        xs, ys = outputs_of(func, inputs, "jvp", create_graph)
        us = [zeros_like(y).requires_grad_() for y in ys]
        rows = slopes_of(ys, xs, us, True)
        found = slopes_of(rows, us, vectors_for(v, xs, "jvp"), create_graph)
    return ys.like_given(ys, create_graph), ys.like_given(found, create_graph)


def vhp(func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), vᵀH) for a scalar function."""
    return hessian_product("vhp", func, inputs, v, create_graph)


def hvp(func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False) -> tuple:
    """(func(*inputs), H v) for a scalar function: the same as `vhp`, because a Hessian is symmetric."""
    return hessian_product("hvp", func, inputs, v, create_graph)


def hessian_product(
    caller: str, func: Differentiable, inputs: Tensors, v: Vectors, create_graph: bool
) -> tuple:
    """vᵀH is the vᵀJ of the gradient: a pass through the pass that computes it."""
    with enable_grad():
        xs, ys = outputs_of(func, inputs, caller, create_graph)
        vectors = vectors_for(v, xs, caller)
        scalar_only(ys, caller)
        slopes = slopes_of(ys, xs, [None], True)
        found = slopes_of(slopes, xs, vectors, create_graph)
    return ys.like_given(ys, create_graph), xs.like_given(found, create_graph)


def slopes_of(ys: Sequence, xs: Sequence, vectors: Sequence, create_graph: bool) -> tuple[Tensor, ...]:
    """vᵀJ, zeros for an input that nothing depends on."""
    found = grad_of_any(ys, xs, vectors, retain_graph=True, create_graph=create_graph)
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, xs, strict=True))


# ---------------------------------------------------------------- arguments and results

OUTPUTS = "outputs of the user-provided function"


class Group(tuple):
    """Tensors as a tuple that remembers whether one was given alone. Raises TypeError for anything but tensors."""

    alone: bool

    def __new__(cls, given: Tensors, name: str, caller: str) -> Group:
        group = super().__new__(cls, given if isinstance(given, tuple) else (given,))
        group.alone = not isinstance(given, tuple)
        for i, t in enumerate(group):
            if not isinstance(t, Tensor):
                which = f"given {name}" if group.alone else f"value at index {i}"
                raise TypeError(
                    f"The {name} given to {caller} must be either a Tensor or a tuple of Tensors but the {which} has type "
                    f"{type(t)}."
                )
        return group

    def like_given(self, results: Iterable, with_history: bool = True) -> Tensors:
        """A tuple, or its only element if one was given alone."""
        results = tuple(results if with_history else [r.detach() for r in results])
        return results[0] if self.alone else results


def outputs_of(func: Differentiable, inputs: Tensors, caller: str, create_graph: bool) -> tuple[Group, Group]:
    """Fresh inputs that require grad, connected to the caller's if the result is to be differentiated; what comes out."""
    given = Group(inputs, "inputs", caller)
    fresh = [
        x.view(x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given
    ]
    xs = Group(given.like_given(fresh), "inputs", caller)
    return xs, Group(func(*xs), OUTPUTS, caller)


def vectors_for(v: Vectors, like: Group, caller: str, source: str = "input to the user-provided function is"):
    """The vectors of a product, of the shapes of `like`; ones in the place of None if that is a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {source} a single Tensor with a single element."
            )
        v = wrap(np.ones_like(like[0]._array))
    vectors = Group(v, "v", caller)
    if len(vectors) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
    for i, (a, b) in enumerate(zip(vectors, like, strict=True)):
        if a.shape != b.shape:
            which = "v" if like.alone else f"Entry {i} in v"
            raise RuntimeError(f"{which} has invalid size: should be {b.shape!r} but got {a.shape!r}.")
    return vectors


def scalar_only(out: Group, caller: str) -> Tensor:
    """The output of a function that must give a single number. Raises RuntimeError if it does not."""
    if not out.alone:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if out[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element"
        )
    return out[0]
