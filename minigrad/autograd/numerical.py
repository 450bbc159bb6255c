"""gradcheck: compare a derivative with finite differences, entry by entry, and say which entry differs.

Both Jacobians are computed in full: the numerical one by moving the elements of an input one at a time,
(f(x + ε) − f(x − ε)) / 2ε, the analytical one by a backward pass for each element of an output, with a unit vector as v.
Use double precision: in float32, only three digits of the difference are correct.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from .. import messages
from ..basics import check
from ..missing import module_attributes
from ..tensor import Tensor, wrap
from .forward_ad import dual_level, make_dual, unpack_dual
from .passes import grad, zeros_of

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
__dir__, __getattr__ = module_attributes(__name__, __all__)
Func = Callable[..., Tensor | Sequence[Tensor]]


class GradcheckError(RuntimeError):
    """A derivative is wrong."""


def gradcheck(
    func: Func, inputs: Tensor | Sequence[object], *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:  # fmt: skip
    """Check the gradients of `func` with respect to those `inputs` that require grad. Returns True if they are right.

    Entries pass if |analytical − numerical| ≤ atol + rtol · |numerical|. check_forward_ad: also check the tangents of forward
    mode; check_backward_ad: check the gradients. The other options change nothing: every entry is compared.
    Raises GradcheckError (or returns False without `raise_exception`), ValueError if there is nothing to check.
    """
    arguments = as_sequence(inputs)
    check(differentiable(arguments), messages.NOTHING_TO_CHECK, error=ValueError)
    for i in differentiable(arguments):
        if arguments[i]._array.dtype != np.float64:
            warnings.warn(messages.NOT_DOUBLE.format(i), stacklevel=2)
    check(check_forward_ad or check_backward_ad, messages.NO_MODE, error=AssertionError)
    try:
        check_derivatives(func, arguments, (eps, atol, rtol), check_forward_ad, check_backward_ad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func: Func, inputs: Tensor | Sequence[object], **options: object) -> bool:
    """Check second derivatives of `func`: run `gradcheck`, with these options, on the backward pass of `func`."""
    arguments, rng = as_sequence(inputs), np.random.default_rng(0)
    outputs, count = as_sequence(func(*arguments)), len(arguments)
    like = [outputs[k]._array for k in differentiable(outputs)]
    vectors = [wrap(rng.standard_normal(a.shape).astype(a.dtype), requires_grad=True) for a in like]

    def backward_of(*args: object) -> tuple[Tensor, ...]:
        results = as_sequence(func(*args[:count]))
        roots = [results[k] for k in differentiable(outputs)]
        tensors = [args[i] for i in differentiable(arguments)]
        return grad(roots, tensors, args[count:], create_graph=True, materialize_grads=True)

    return gradcheck(backward_of, (*arguments, *vectors), **options)


def as_sequence(given: object) -> tuple:
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def differentiable(values: Sequence[object]) -> list[int]:
    """The positions of the tensors that require grad."""
    return [i for i, a in enumerate(values) if isinstance(a, Tensor) and a.requires_grad]


def check_derivatives(func: Callable, arguments: tuple, bounds: tuple, forward: bool, backward: bool) -> None:
    """Raise GradcheckError if a derivative of the function at these arguments is wrong. bounds: eps, atol, rtol."""
    (eps, atol, rtol), outputs = bounds, as_sequence(func(*arguments))
    chosen = differentiable(outputs)
    constants = [k for k, o in enumerate(outputs) if isinstance(o, Tensor) and o.is_floating_point()]

    def values() -> list[np.ndarray]:
        results = as_sequence(func(*arguments))
        return [results[k]._array.copy() for k in chosen or constants]

    def compare(mode: str, i: int, j: int, analytical: np.ndarray, numerical: np.ndarray) -> None:
        if not np.allclose(analytical, numerical, rtol=rtol, atol=atol):
            both = wrap(numerical), wrap(analytical)
            raise GradcheckError(messages.JACOBIAN_MISMATCH.format(mode, i, j, *both))

    inputs = [arguments[k] for k in differentiable(arguments)]
    for j, x in enumerate(inputs):
        result = numerical_jacobians(values, x, eps)
        for i, numerical in enumerate(result):
            check(chosen or not numerical.any(), messages.NOT_ZERO, error=GradcheckError)
            if backward and chosen and numerical.size:
                compare("", i, j, analytical_of(outputs[chosen[i]], x), numerical)
        if forward and chosen:
            moved = tangents_of(func, arguments, differentiable(arguments)[j], chosen)
            for i, pair in enumerate(zip(moved, result, strict=True)):
                compare("computed with forward mode ", i, j, *pair)
    roots = [outputs[k] for k in chosen]
    if roots and backward:
        silence = grad(roots, inputs, [zeros_of(o) for o in roots], materialize_grads=True)
        silent = not any(g._array.any() for g in silence)
        check(silent, "backward not multiplied by grad_output", error=GradcheckError)


def numerical_jacobians(values: Callable[[], list[np.ndarray]], x: Tensor, eps: float) -> list[np.ndarray]:
    """One matrix per result of the function, with a row for each element of `x`, by finite differences."""
    rows = []
    for place in np.ndindex(x.shape):
        original, ends = x._array[place], []
        try:
            for moved in (original + eps, original - eps):
                x._array[place] = moved
                ends.append(values())
        finally:
            x._array[place] = original
        rows.append([(after - before).reshape(-1) / (2 * eps) for after, before in zip(*ends, strict=True)])
    return [np.stack(column) for column in zip(*rows, strict=True)]


def tangents_of(func: Callable, arguments: tuple, place: int, chosen: list[int]) -> list[np.ndarray]:
    """The same matrices by forward mode: a row for each element of the argument at position `place`."""
    x, rows = arguments[place].detach(), []
    for unit in np.eye(x.numel(), dtype=x._array.dtype):
        with dual_level():
            given = [a.detach() if isinstance(a, Tensor) else a for a in arguments]
            given[place] = make_dual(x, wrap(unit.reshape(x.shape)))
            results = [unpack_dual(as_sequence(func(*given))[k]) for k in chosen]
            moved = [zeros_of(r.primal) if r.tangent is None else r.tangent for r in results]
            rows.append([t.detach()._array.reshape(-1) for t in moved])
    return [np.stack(column) for column in zip(*rows, strict=True)]


def analytical_of(output: Tensor, x: Tensor) -> np.ndarray:
    """The same matrix by backward passes: a column for each element of `output`."""
    units = wrap(np.eye(output.numel(), dtype=output._array.dtype).reshape(-1, *output.shape))
    (rows,) = grad(output, x, units, retain_graph=True, is_grads_batched=True, materialize_grads=True)
    return rows._array.reshape(output.numel(), -1).T
