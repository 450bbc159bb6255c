"""Jacobians, Hessians and products with them, of a function at a point: `autograd.functional`.

All are backward passes from the outputs `ys` to the inputs `xs`, which are fresh copies of the caller's:

    vjp         vᵀJ: one pass
    jvp         J v: two; vᵀJ is linear in v, so its derivative with respect to v is J
    vhp, hvp    vᵀH and H v, which are equal because a Hessian is symmetric: two; the gradient is differentiated again
    jacobian    one pass for each element of the outputs, with a unit vector as v
    hessian     the Jacobian of the gradient

create_graph: the results can be differentiated again. strict: raise if an output does not depend on an input.
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
OUTPUTS = "outputs of the user-provided function"

# What strict mode says of a tensor without history, by its number.
NO_GRADIENTS = (
    "Output {} of the user-provided function does not require gradients. The outputs must be computed in a differentiable "
    "manner from the input when running in strict mode."
)
CONSTANT = (
    "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode when "
    "create_graph=True."
)
LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
)


def jacobian(
    func: Differentiable, inputs: Tensors, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensors | tuple:  # fmt: skip
    """The Jacobian of `func`: for output o and input x a tensor of shape `o.shape + x.shape`.

    A single tensor for one output and one input, a tuple per input, a tuple of tuples for several outputs.
    vectorize, strategy: PyTorch's ways to be quicker are accepted; the result is the same.
    """
    with enable_grad():
        xs, ys = outputs_of(func, inputs, "jacobian", create_graph, strict)
        rows = []
        for i, y in enumerate(ys):
            vectors = np.eye(y.numel(), dtype=y._array.dtype).reshape(-1, *y.shape)
            found = [slopes_of([y], xs, [wrap(v)], create_graph, strict, f"Output {i}") for v in vectors]
            if strict and create_graph:
                require_history(found[-1], CONSTANT)
            columns = zip(*found, strict=True) if found else [()] * len(xs)
            row = [
                stacked_rows(column, (*y.shape, *x.shape), x) for column, x in zip(columns, xs, strict=True)
            ]
            rows.append(xs.like_given(row, create_graph))
        return ys.like_given(rows)


def stacked_rows(rows: Sequence[Tensor], shape: tuple, like: Tensor) -> Tensor:
    """The rows of a Jacobian as one tensor; there is none if the output is empty."""
    return Tensor._stacked(list(rows)).reshape(shape) if rows else wrap(np.zeros(shape, like._array.dtype))


def hessian(
    func: Differentiable, inputs: Tensors, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensors | tuple:  # fmt: skip
    """The Hessian of a scalar function: for inputs x and y a tensor of shape `x.shape + y.shape`."""

    def scalar(*xs: Tensor) -> Tensor:
        return scalar_only(Group(func(*xs), OUTPUTS, "hessian"), "hessian").squeeze()

    def gradient(*xs: Tensor) -> Tensors:
        found = jacobian(scalar, xs if isinstance(inputs, tuple) else xs[0], create_graph=True)
        if strict:
            require_history(Group(found, "gradients", "hessian"), LINEAR)
        return found

    return jacobian(gradient, inputs, create_graph=create_graph, strict=strict)


def vjp(
    func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), vᵀJ): one gradient per input. `v` has the outputs' shapes; it may be omitted for a scalar."""
    with enable_grad():
        xs, ys = outputs_of(func, inputs, "vjp", create_graph, strict)
        vectors = vectors_for(v, ys, "vjp", "user-provided function returns")
        found = slopes_of(ys, xs, vectors, create_graph, strict)
    return ys.like_given(ys, create_graph), xs.like_given(found, create_graph)


def jvp(
    func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), J v). `v` has the inputs' shapes; it may be omitted for a single number."""
    with enable_grad():
        xs, ys = outputs_of(func, inputs, "jvp", create_graph, strict)
        us = [zeros_like(y).requires_grad_() for y in ys]
        rows = slopes_of(ys, xs, us, True, strict)
        found = slopes_of(rows, us, vectors_for(v, xs, "jvp"), create_graph, False)
    return ys.like_given(ys, create_graph), ys.like_given(found, create_graph)


def vhp(
    func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), vᵀH) for a scalar function."""
    return hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Differentiable, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), H v) for a scalar function: the same as `vhp`, because a Hessian is symmetric."""
    return hessian_product("hvp", func, inputs, v, create_graph, strict)


def hessian_product(
    caller: str, func: Differentiable, inputs: Tensors, v: Tensors | None, create_graph: bool, strict: bool
) -> tuple[Tensor, Tensors]:
    """vᵀH is the vᵀJ of the gradient: a pass through the pass that computes it."""
    with enable_grad():
        xs, ys = outputs_of(func, inputs, caller, create_graph, strict)
        vectors = vectors_for(v, xs, caller)
        scalar_only(ys, caller)
        slopes = slopes_of(ys, xs, [None], True, strict)
        if strict:
            require_history(slopes, LINEAR)
        found = slopes_of(slopes, xs, vectors, create_graph, strict, "The jacobian")
    return ys.like_given(ys, create_graph), xs.like_given(found, create_graph)


def slopes_of(
    ys: Sequence, xs: Sequence, vectors: Sequence, create_graph: bool, strict: bool, of: str = "The output"
) -> tuple[Tensor, ...]:
    """vᵀJ, zeros for an input that nothing depends on. If `strict` that is an error, which calls the outputs `of`."""
    found = grad_of_any(ys, xs, vectors, retain_graph=True, create_graph=create_graph)
    for j, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(
                f"{of} of the user-provided function is independent of input {j}. This is not allowed in strict mode."
            )
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, xs, strict=True))


# ---------------------------------------------------------------- arguments and results


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


def outputs_of(
    func: Differentiable, inputs: Tensors, caller: str, create_graph: bool, strict: bool
) -> tuple[Group, Group]:
    """Fresh inputs that require grad, connected to the caller's if the result is to be differentiated; what comes out."""
    given = Group(inputs, "inputs", caller)
    linked = [create_graph and x.requires_grad for x in given]
    xs = [
        x.view(x.shape) if link else x.detach().requires_grad_()
        for x, link in zip(given, linked, strict=True)
    ]
    xs = Group(given.like_given(xs), "inputs", caller)
    ys = Group(func(*xs), OUTPUTS, caller)
    if strict:
        require_history(ys, NO_GRADIENTS)
    return xs, ys


def require_history(tensors: Iterable[Tensor], complaint: str) -> None:
    """Raise RuntimeError with this complaint at the first tensor without history."""
    for i, t in enumerate(tensors):
        if not t.requires_grad:
            raise RuntimeError(complaint.format(i))


def vectors_for(
    v: Tensors | None, like: Group, caller: str, source: str = "input to the user-provided function is"
):
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
