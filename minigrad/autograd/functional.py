"""Jacobians, Hessians and products with them, of a function at a point: `autograd.functional`.

All are backward passes from the outputs `ys` to the inputs `xs`, which are fresh copies of the caller's:

    vjp         vᵀJ: one pass
    jvp         J v: two; vᵀJ is linear in v, so its derivative with respect to v is J
    vhp, hvp    vᵀH and H v, which are equal because a Hessian is symmetric: two; the gradient is differentiated again
    jacobian    one pass for each element of the outputs, with a unit vector as v
    hessian     the Jacobian of the gradient
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ..tensor import Tensor, wrap
from .backward import grad_of_any, zeros_like
from .grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = __all__.copy  # what completion offers

Tensors = Tensor | tuple[Tensor, ...]
Vectors = Tensors | None  # None stands for a 1 beside a single number
Function = Callable[..., Tensors]


def jacobian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensors | tuple:
    """The Jacobian of `func`: for output o and input x a tensor of shape `o.shape + x.shape`.

    A single tensor for one output and one input, a tuple per input, a tuple of tuples for several outputs.
    strict: raise if an output does not depend on an input. vectorize, strategy: accepted; the result is the same.
    Raises what PyTorch raises for options that do not go together.
    """
    if strategy not in STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    refuse_combination(strategy == "forward-mode", create_graph, strict, vectorize)
    with enable_grad():
        xs = fresh(inputs, "jacobian", create_graph)
        ys = outputs_of(func, xs, "jacobian", strict)
        rows = []
        for i, y in enumerate(ys):
            found = []
            for v in unit_vectors(y):
                found.append(gradients([y], xs, [v], create_graph, strict, f"Output {i}"))
                if strict and create_graph:
                    require_history(found[-1], CONSTANT)
            columns = zip(*found, strict=True) if found else [()] * len(xs)
            row = [stacked(column, y, x) for column, x in zip(columns, xs, strict=True)]
            rows.append(xs.like_given(row, create_graph))
        return ys.like_given(rows, True)


def hessian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensors | tuple:
    """The Hessian of a scalar function: for inputs x and y a tensor of shape `x.shape + y.shape`."""
    if outer_jacobian_strategy not in STRATEGIES:
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    refuse_combination(outer_jacobian_strategy == "forward-mode", create_graph, strict, vectorize)
    given = Group(inputs, "inputs", "hessian")

    def scalar(*xs: Tensor) -> Tensor:
        return scalar_only(Group(func(*xs), OUTPUTS, "hessian"), "hessian").squeeze()

    def gradient(*xs: Tensor) -> Tensors:
        found = jacobian(scalar, given.like_given(xs, True), create_graph=True)
        if strict:
            require_history((found,) if given.alone else found, LINEAR)
        return found

    return jacobian(gradient, inputs, create_graph=create_graph, strict=strict)


def vjp(
    func: Function, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), vᵀJ): one gradient per input. `v` has the outputs' shapes; it may be omitted for a scalar."""
    with enable_grad():
        xs = fresh(inputs, "vjp", create_graph)
        ys = outputs_of(func, xs, "vjp", strict)
        vectors = vectors_for(v, ys, "vjp", "user-provided function returns")
        found = gradients(ys, xs, vectors, create_graph, strict)
    return ys.like_given(ys, create_graph), xs.like_given(found, create_graph)


def jvp(
    func: Function, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), J v). `v` has the inputs' shapes; it may be omitted for a single number."""
    with enable_grad():
        xs = fresh(inputs, "jvp", create_graph)
        vectors = vectors_for(v, xs, "jvp")
        ys = outputs_of(func, xs, "jvp", strict)
        us = [zeros_like(y).requires_grad_() for y in ys]
        rows = gradients(ys, xs, us, True, strict)
        found = gradients(rows, us, vectors, create_graph, False)
    return ys.like_given(ys, create_graph), ys.like_given(found, create_graph)


def vhp(
    func: Function, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), vᵀH) for a scalar function."""
    return hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Function, inputs: Tensors, v: Vectors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), H v) for a scalar function: the same as `vhp`, because a Hessian is symmetric."""
    return hessian_product("hvp", func, inputs, v, create_graph, strict)


def hessian_product(
    caller: str, func: Function, inputs: Tensors, v: Vectors, create_graph: bool, strict: bool
) -> tuple[Tensor, Tensors]:
    """vᵀH is the vᵀJ of the gradient: a pass through the pass that computes it."""
    with enable_grad():
        xs = fresh(inputs, caller, create_graph)
        vectors = vectors_for(v, xs, caller)
        ys = outputs_of(func, xs, caller, strict)
        scalar_only(ys, caller)
        slopes = gradients(ys, xs, [None], True, strict)
        if strict:
            require_history(slopes, LINEAR)
        found = gradients(slopes, xs, vectors, create_graph, strict, "The jacobian")
    return ys.like_given(ys, create_graph), xs.like_given(found, create_graph)


def gradients(
    ys: Sequence[Tensor],
    xs: Sequence[Tensor],
    vectors: Sequence[Tensor | None],
    create_graph: bool,
    strict: bool,
    of: str = "The output",
) -> tuple[Tensor, ...]:
    """vᵀJ, zeros for an input that nothing depends on. If `strict` that is an error, which calls the outputs `of`."""
    found = grad_of_any(ys, xs, vectors, retain_graph=True, create_graph=create_graph)
    for j, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(
                f"{of} of the user-provided function is independent of input {j}. This is not allowed in strict mode."
            )
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, xs, strict=True))


def unit_vectors(like: Tensor) -> Iterator[Tensor]:
    """For each element of `like` a tensor of its shape: one there, zero elsewhere."""
    for k in range(like.numel()):
        v = zeros_like(like)
        v._array.reshape(-1)[k] = 1
        yield v


def stacked(rows: Sequence[Tensor], y: Tensor, x: Tensor) -> Tensor:
    """The rows of the Jacobian of `y` with respect to `x` as one tensor."""
    shape = (*y.shape, *x.shape)
    return Tensor._stack_all(rows).reshape(shape) if rows else wrap(np.zeros(shape, x._array.dtype))


# ---------------------------------------------------------------- arguments and results


STRATEGIES = ("reverse-mode", "forward-mode")
OUTPUTS = "outputs of the user-provided function"

# what strict mode says of a tensor without history, by its number
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


def refuse_combination(forward: bool, create_graph: bool, strict: bool, vectorize: bool) -> None:
    """Raise PyTorch's errors for options that do not go together."""
    name = "torch.autograd.functional.jacobian"
    if forward and create_graph:
        raise NotImplementedError(
            f'{name}: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.'
        )
    if forward and strict:
        raise RuntimeError(
            f'{name}: `strict=True` and `strategy="forward-mode"` are not supported together (yet). Please either set '
            '`strict=False` or `strategy="reverse-mode"`.'
        )
    if forward and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
        )
    if vectorize and strict:
        raise RuntimeError(
            f"{name}: `strict=True` and `vectorized=True` are not supported together. Please either set `strict=False` or "
            "`vectorize=False`."
        )


class Group(tuple):
    """Tensors as a tuple that remembers whether one was given alone. Raises TypeError for anything but tensors."""

    alone: bool

    def __new__(cls, given: Tensors, name: str, caller: str) -> Group:
        alone = not isinstance(given, tuple)
        group = super().__new__(cls, (given,) if alone else given)
        group.alone = alone
        for i, t in enumerate(group):
            if not isinstance(t, Tensor):
                which = f"given {name}" if alone else f"value at index {i}"
                raise TypeError(
                    f"The {name} given to {caller} must be either a Tensor or a tuple of Tensors but the {which} has type "
                    f"{type(t)}."
                )
        return group

    def like_given(self, results: Iterable, create_graph: bool):
        """A tuple, or its only element if one was given alone; without history unless the caller asked for it."""
        results = tuple(results if create_graph else [r.detach() for r in results])
        return results[0] if self.alone else results


def fresh(inputs: Tensors, caller: str, create_graph: bool) -> Group:
    """Fresh inputs that require grad; connected to the caller's if the result is to be differentiated."""
    xs = Group(inputs, "inputs", caller)
    copies = [
        x.view(x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in xs
    ]
    return Group(xs.like_given(copies, True), "inputs", caller)


def outputs_of(func: Function, xs: Group, caller: str, strict: bool) -> Group:
    """The function's outputs, which in strict mode must all depend on something that requires grad."""
    ys = Group(func(*xs), OUTPUTS, caller)
    if strict:
        require_history(ys, NO_GRADIENTS)
    return ys


def require_history(tensors: Iterable[Tensor], complaint: str) -> None:
    """Raise RuntimeError with this complaint at the first tensor without history."""
    for i, t in enumerate(tensors):
        if not t.requires_grad:
            raise RuntimeError(complaint.format(i))


def vectors_for(
    v: Vectors, like: Group, caller: str, source: str = "input to the user-provided function is"
) -> Group:
    """The vectors of a product, of the shapes of `like`; ones in the place of None if that is a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {source} a single Tensor with a single element."
            )
        return Group(wrap(np.ones_like(like[0]._array)), "v", caller)
    vectors = Group(v, "v", caller)
    if len(vectors) != len(like):
        if like.alone:
            raise RuntimeError("The given v should contain a single Tensor.")
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
