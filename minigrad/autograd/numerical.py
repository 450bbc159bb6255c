"""gradcheck: is a derivative right? Compares it with finite differences, entry by entry, and says which entry differs.

Both Jacobians are computed whole: the numerical one by moving one element of an input after the other,
(f(x + ε) − f(x − ε)) / 2ε, the analytical one by a backward pass for each element of an output, with a unit vector as v.
Do this in double: in float32 the difference has only three right digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ..missing import guard, offers
from ..tensor import Tensor, wrap
from ..words import expect
from .passes import grad, zeros_of

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
__dir__, __getattr__ = offers(__name__, __all__)
Func = Callable[..., Tensor | Sequence[Tensor]]


class GradcheckError(RuntimeError):
    """A derivative is wrong."""


def gradcheck(
    func: Func,
    inputs: Tensor | Sequence[object],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Check the gradients of `func` with respect to those `inputs` that require grad. Returns True if they are right.

    Entries pass if |analytical − numerical| ≤ atol + rtol · |numerical|. fast_mode: only one number for each input and
    output is compared, uᵀJv with random u and v.
    Raises GradcheckError (or returns False without `raise_exception`), ValueError if there is nothing to check.
    """
    arguments = as_sequence(inputs)
    told = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
    expect(differentiable(arguments), told, error=ValueError)
    for i in differentiable(arguments):
        if arguments[i]._array.dtype != np.float64:
            told = f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will"
            more = "likely fail if all the inputs are not of double precision floating point or complex. "
            warnings.warn(f"{told} {more}", stacklevel=2)
    if fast_mode:
        func, arguments = projected(func, arguments)
    try:
        check(func, arguments, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func: Func, inputs: Tensor | Sequence[object], **options: object) -> bool:
    """Check the gradients of the gradients of `func`: `gradcheck`, whose options it takes, of its backward pass."""
    arguments, rng = as_sequence(inputs), np.random.default_rng(0)
    outputs, count = as_sequence(func(*arguments)), len(arguments)
    like = [outputs[k]._array for k in differentiable(outputs)]
    vectors = [wrap(rng.standard_normal(a.shape).astype(a.dtype), requires_grad=True) for a in like]

    def backward_of(*args: object) -> tuple[Tensor, ...]:
        results = as_sequence(func(*args[:count]))
        roots = [results[k] for k in differentiable(outputs)]
        wanted = [args[i] for i in differentiable(arguments)]
        return grad(roots, wanted, args[count:], create_graph=True, materialize_grads=True)

    return gradcheck(backward_of, (*arguments, *vectors), **options)


def as_sequence(given: object) -> tuple:
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def differentiable(values: Sequence[object]) -> list[int]:
    """The positions of the tensors that require grad."""
    return [i for i, a in enumerate(values) if isinstance(a, Tensor) and a.requires_grad]


def projected(func: Callable, arguments: tuple) -> tuple[Callable, tuple[Tensor, ...]]:
    """A function of one number for each input, which moves it in a random direction; it gives one for each output, a random
    combination of its elements. And the numbers at which to check it."""

    def unit(t: Tensor, *seed: int) -> Tensor:
        v = np.random.default_rng(seed).standard_normal(t.shape)
        return wrap(np.asarray(v / np.linalg.norm(v), t._array.dtype))

    def number(*steps: Tensor) -> tuple:
        moved = list(arguments)
        for i, step in zip(differentiable(arguments), steps, strict=True):
            moved[i] = arguments[i].detach() + step * unit(arguments[i], 0, i)
        results = as_sequence(func(*moved))
        floating = [isinstance(r, Tensor) and r.is_floating_point() for r in results]
        return tuple((r * unit(r, 1, k)).sum() if floating[k] else r for k, r in enumerate(results))

    zeros = [np.zeros((), arguments[i]._array.dtype) for i in differentiable(arguments)]
    return number, tuple(wrap(zero, requires_grad=True) for zero in zeros)


def check(func: Callable, arguments: tuple, eps: float, atol: float, rtol: float) -> None:
    """Raise GradcheckError if a gradient of the function at these arguments is wrong."""
    inputs, outputs = [arguments[i] for i in differentiable(arguments)], as_sequence(func(*arguments))
    chosen = differentiable(outputs)
    constants = [k for k, o in enumerate(outputs) if isinstance(o, Tensor) and o.is_floating_point()]

    def values() -> list[np.ndarray]:
        results = as_sequence(func(*arguments))
        return [results[k]._array.copy() for k in chosen or constants]

    for j, x in enumerate(inputs):
        for i, numerical in enumerate(numerical_jacobians(values, x, eps)):
            if not chosen and numerical.any():
                raise GradcheckError("Numerical gradient for function expected to be zero")
            analytical = analytical_of(outputs[chosen[i]], x) if chosen and numerical.size else numerical
            if not np.allclose(analytical, numerical, rtol=rtol, atol=atol):
                told = f"numerical:{wrap(numerical)!r}\nanalytical:{wrap(analytical)!r}\n"
                raise GradcheckError(f"Jacobian mismatch for output {i} with respect to input {j},\n{told}")
    roots = [outputs[k] for k in chosen]
    silence = grad(roots, inputs, [zeros_of(o) for o in roots], materialize_grads=True) if roots else ()
    silent = not any(g._array.any() for g in silence)
    expect(silent, "backward not multiplied by grad_output", error=GradcheckError)


def numerical_jacobians(values: Callable[[], list[np.ndarray]], x: Tensor, eps: float) -> list[np.ndarray]:
    """For each of the function's values a matrix with a row for each element of `x`, by finite differences."""
    rows = []
    for place in np.ndindex(x.shape):
        kept, ends = x._array[place], []
        try:
            for moved in (kept + eps, kept - eps):
                x._array[place] = moved
                ends.append(values())
        finally:
            x._array[place] = kept
        rows.append([(after - before).reshape(-1) / (2 * eps) for after, before in zip(*ends, strict=True)])
    return [np.stack(column) for column in zip(*rows, strict=True)]


def analytical_of(output: Tensor, x: Tensor) -> np.ndarray:
    """The same matrix by backward passes: a column for each element of `output`."""
    units = wrap(np.eye(output.numel(), dtype=output._array.dtype).reshape(-1, *output.shape))
    (rows,) = grad(output, x, units, retain_graph=True, is_grads_batched=True, materialize_grads=True)
    return rows._array.reshape(output.numel(), -1).T


guard(__name__, "autograd")
