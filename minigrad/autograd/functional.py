"""Jacobians, Hessians and products with them, of a function at a point: `autograd.functional`.

vjp: vᵀJ, one backward pass            jvp: J v, two backward passes (the transpose of vᵀJ in v)
jacobian: one backward pass per row    vhp: vᵀH; hvp: H v; hessian: the jacobian of the jacobian
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..tensor import Tensor, wrap
from .backward import grad
from .grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]


def jacobian(
    func: Callable[..., Tensors],
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
        single_in, xs = prepare(inputs, "jacobian", create_graph)
        single_out, ys = outputs_of(func, xs, "jacobian", strict)
        rows = []
        for i, y in enumerate(ys):
            parts: list[list[Tensor]] = [[] for _ in xs]
            for k in range(y.numel()):
                v = np.zeros(y.shape, y._array.dtype)
                v.reshape(-1)[k] = 1
                for j, g in enumerate(products(y, xs, wrap(v), create_graph, strict, i)):
                    if strict and create_graph and not g.requires_grad:
                        raise RuntimeError(
                            f"The jacobian of the user-provided function is independent of input {j}. This is not allowed in "
                            "strict mode when create_graph=True."
                        )
                    parts[j].append(g)
            rows.append(tuple(stacked(p, (*y.shape, *x.shape), y, x) for p, x in zip(parts, xs, strict=True)))
        return unpack(tuple(unpack(row, single_in, create_graph) for row in rows), single_out, create_graph)


def hessian(
    func: Callable[..., Tensor],
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
    single_in, _ = as_tensors(inputs, "inputs", "hessian")

    def scalar(*xs: Tensor) -> Tensor:
        out = func(*xs)
        as_tensors(out, "outputs of the user-provided function", "hessian")
        scalar_only(out, "hessian")
        return out.squeeze()

    def gradient(*xs: Tensor) -> Tensors:
        found = jacobian(scalar, xs[0] if single_in else xs, create_graph=True)
        require_history((found,) if single_in else found, strict)
        return found

    return jacobian(gradient, inputs, create_graph=create_graph, strict=strict)


def vjp(
    func: Callable[..., Tensors],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), vᵀJ): one gradient per input. `v` has the outputs' shapes; it may be omitted for a scalar."""
    with enable_grad():
        single_in, xs = prepare(inputs, "vjp", create_graph)
        single_out, ys = outputs_of(func, xs, "vjp", strict)
        vectors = vectors_for(v, ys, "vjp", "outputs", single_out)
        grads = filled(
            grad(ys, xs, vectors, create_graph=create_graph, allow_unused=True), xs, strict, "output"
        )
    return unpack(ys, single_out, create_graph), unpack(grads, single_in, create_graph)


def jvp(
    func: Callable[..., Tensors],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """(func(*inputs), J v). `v` has the inputs' shapes; it may be omitted for a single number.

    uᵀJ is linear in u, and its derivative with respect to u, applied to v, is J v: two backward passes.
    """
    with enable_grad():
        single_in, xs = prepare(inputs, "jvp", create_graph)
        vectors = vectors_for(v, xs, "jvp", "inputs", single_in)
        single_out, ys = outputs_of(func, xs, "jvp", strict)
        us = tuple(wrap(np.zeros_like(y._array), requires_grad=True) for y in ys)
        grads = filled(grad(ys, xs, us, create_graph=True, allow_unused=True), xs, strict, "output")
        through = [(g, w) for g, w in zip(grads, vectors, strict=True) if g.requires_grad]
        if through:
            found = grad(
                [g for g, _ in through],
                us,
                [w for _, w in through],
                create_graph=create_graph,
                allow_unused=True,
            )
        else:
            found = (None,) * len(us)
        tangents = tuple(
            wrap(np.zeros_like(u._array)) if t is None else t for t, u in zip(found, us, strict=True)
        )
    return unpack(ys, single_out, create_graph), unpack(tangents, single_out, create_graph)


def vhp(
    func: Callable[..., Tensor],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), vᵀH) for a scalar function."""
    return hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Tensor],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """(func(*inputs), H v) for a scalar function: the same as `vhp`, because a Hessian is symmetric."""
    return hessian_product("hvp", func, inputs, v, create_graph, strict)


def hessian_product(
    caller: str, func: Callable, inputs: Tensors, v: Tensors | None, create_graph: bool, strict: bool
) -> tuple[Tensor, Tensors]:
    with enable_grad():
        single_in, xs = prepare(inputs, caller, create_graph)
        vectors = vectors_for(v, xs, caller, "inputs", single_in)
        single_out, ys = outputs_of(func, xs, caller, strict)
        scalar_only(ys[0] if single_out else ys, caller)
        first = filled(grad(ys, xs, create_graph=True, allow_unused=True), xs, strict, "output")
        require_history(first, strict)
        through = [(g, w) for g, w in zip(first, vectors, strict=True) if g.requires_grad]
        found = (None,) * len(xs)
        if through:
            found = grad(
                [g for g, _ in through],
                xs,
                [w for _, w in through],
                create_graph=create_graph,
                allow_unused=True,
            )
        second = filled(found, xs, strict, "jacobian")
    return unpack(ys, True, create_graph), unpack(second, single_in, create_graph)


# ---------------------------------------------------------------- arguments and results


STRATEGIES = ("reverse-mode", "forward-mode")


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


def as_tensors(given: Tensors, name: str, caller: str) -> tuple[bool, tuple[Tensor, ...]]:
    """(is it a single tensor?, the tensors). Raises TypeError for anything but a tensor or a tuple of tensors."""
    single = not isinstance(given, tuple)
    tensors = (given,) if single else given
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            which = f"given {name} has" if single else f"value at index {i} has"
            raise TypeError(
                f"The {name} given to {caller} must be either a Tensor or a tuple of Tensors but the {which} type {type(t)}."
            )
    return single, tensors


def prepare(inputs: Tensors, caller: str, create_graph: bool) -> tuple[bool, tuple[Tensor, ...]]:
    """Fresh inputs that require grad; connected to the caller's if the result is to be differentiated."""
    single, xs = as_tensors(inputs, "inputs", caller)
    connected = tuple(
        x.view(x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in xs
    )
    return single, connected


def outputs_of(
    func: Callable, xs: Sequence[Tensor], caller: str, strict: bool
) -> tuple[bool, tuple[Tensor, ...]]:
    single, ys = as_tensors(func(*xs), "outputs of the user-provided function", caller)
    for i, y in enumerate(ys):
        if strict and not y.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )
    return single, ys


def require_history(gradients: Sequence[Tensor], strict: bool) -> None:
    for i, g in enumerate(gradients):
        if strict and not g.requires_grad:
            raise RuntimeError(
                f"While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} "
                "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
                "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
                "for example)."
            )


def products(
    y: Tensor, xs: Sequence[Tensor], v: Tensor, create_graph: bool, strict: bool, index: int
) -> tuple[Tensor, ...]:
    if not y.requires_grad:
        return tuple(wrap(np.zeros_like(x._array)) for x in xs)
    found = grad(y, xs, v, retain_graph=True, create_graph=create_graph, allow_unused=True)
    if strict and any(g is None for g in found):
        j = next(j for j, g in enumerate(found) if g is None)
        raise RuntimeError(
            f"Output {index} of the user-provided function is independent of input {j}. This is not allowed in strict mode."
        )
    return filled(found, xs, False, "output")


def filled(grads: Sequence[Tensor | None], xs: Sequence[Tensor], strict: bool, of: str) -> tuple[Tensor, ...]:
    """Zeros where there is no gradient."""
    for j, g in enumerate(grads):
        if g is None and strict:
            raise RuntimeError(
                f"The {of} of the user-provided function is independent of input {j}. This is not allowed in strict mode."
            )
    return tuple(wrap(np.zeros_like(x._array)) if g is None else g for g, x in zip(grads, xs, strict=True))


def vectors_for(
    v: Tensors | None, like: Sequence[Tensor], caller: str, what: str, single: bool
) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            source = (
                "user-provided function returns"
                if what == "outputs"
                else "input to the user-provided function is"
            )
            raise RuntimeError(
                f"The vector v can only be None if the {source} a single Tensor with a single element."
            )
        return (wrap(np.ones_like(like[0]._array)),)
    _, vectors = as_tensors(v, "v", caller)
    if len(vectors) != len(like):
        if single:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
    for i, (a, b) in enumerate(zip(vectors, like, strict=True)):
        if a.shape != b.shape:
            which = "v" if single else f"Entry {i} in v"
            raise RuntimeError(f"{which} has invalid size: should be {b.shape!r} but got {a.shape!r}.")
    return vectors


def scalar_only(out: Tensors, caller: str) -> None:
    if not isinstance(out, Tensor):
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if out.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element"
        )


def stacked(rows: Sequence[Tensor], shape: tuple, y: Tensor, x: Tensor) -> Tensor:
    """The rows of a Jacobian as one tensor of this shape."""
    if not rows:
        return wrap(np.zeros(shape, x._array.dtype))
    return Tensor.stack_all(rows).reshape(shape)


def unpack(results: tuple, single: bool, create_graph: bool):
    """A tuple, or its only element; without history unless the caller asked for it."""
    if not create_graph:
        results = tuple(r.detach() if isinstance(r, Tensor) else r for r in results)
    return results[0] if single else results
