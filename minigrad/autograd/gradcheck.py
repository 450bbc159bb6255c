"""gradcheck: is a derivative right? Compares it with finite differences, entry by entry, and says which entry differs.

The numerical Jacobian is (f(x + ε e) − f(x − ε e)) / 2ε for each element of each input; the analytical one is built
row by row with one-hot vectors v in vᵀJ. Do this in double: in float32 the difference has only three right digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ..tensor import Tensor, wrap
from .backward import grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A derivative is wrong."""


def gradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[object],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Check the gradients of `func` with respect to those `inputs` that require grad. Returns True if they are right.

    Entries pass if |analytical − numerical| ≤ atol + rtol · |numerical|. `fast_mode` checks one random combination of
    the entries, uᵀJv, in the place of all of them. `check_forward_ad` checks the Jacobian-vector products as well.
    Raises GradcheckError (or returns False without `raise_exception`), ValueError if there is nothing to check.
    """
    arguments = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    try:
        check_inputs(arguments)
        outputs = differentiable_outputs(func, arguments)
        if check_backward_ad:
            check_jacobians(func, arguments, outputs, eps, atol, rtol, nondet_tol, fast_mode)
            if check_undefined_grad:
                check_undefined(func, arguments, outputs)
            if check_grad_dtypes:
                check_dtypes(func, arguments)
            if check_batched_grad:
                check_batched(func, arguments)
        if check_forward_ad:
            check_forward(func, arguments, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[object],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Check the gradients of the gradients of `func`: `gradcheck` of its backward pass."""
    arguments = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    outputs = differentiable_outputs(func, arguments)
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        vectors = tuple(
            wrap(rng.standard_normal(o.shape).astype(o._array.dtype), requires_grad=True) for o in outputs
        )
    else:
        vectors = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    count = len(vectors)

    def backward_of(*args: object) -> tuple[Tensor, ...]:
        own = args[:-count]
        wanted = tuple(a for a in own if isinstance(a, Tensor) and a.requires_grad)
        results = differentiable_outputs(func, own)
        return grad(
            results, wanted, args[-count:], create_graph=True, allow_unused=True, materialize_grads=True
        )

    return gradcheck(
        backward_of,
        (*arguments, *vectors),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )


# ---------------------------------------------------------------- preparation


def tracked(arguments: Sequence[object]) -> list[tuple[int, Tensor]]:
    """(position, tensor) of the arguments whose gradients are checked."""
    return [(i, a) for i, a in enumerate(arguments) if isinstance(a, Tensor) and a.requires_grad]


def check_inputs(arguments: Sequence[object]) -> None:
    found = tracked(arguments)
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i, t in found:
        if t._array.dtype != np.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if any(s == 0 and n > 1 for s, n in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to "
                "be able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                "passing it to gradcheck."
            )
        if not t.is_leaf:
            t.retain_grad()


def as_outputs(result: object) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)


def differentiable_outputs(func: Callable, arguments: Sequence[object]) -> tuple[Tensor, ...]:
    return tuple(o for o in as_outputs(func(*arguments)) if isinstance(o, Tensor) and o.requires_grad)


# ---------------------------------------------------------------- Jacobians: (elements of the input, elements of the output)


def numerical_jacobians(
    func: Callable, arguments: Sequence[object], x: Tensor, eps: float
) -> list[np.ndarray]:
    """One matrix per output: central differences, one element of `x` after the other."""
    columns: list[list[np.ndarray]] = []
    array = x._array
    for index in np.ndindex(array.shape):
        kept = array[index].copy()
        ends = []
        for sign in (1, -1):
            array[index] = kept + sign * eps
            ends.append([o._array.copy() for o in as_outputs(func(*arguments)) if isinstance(o, Tensor)])
            array[index] = kept
        columns.append([(hi - lo).reshape(-1) / (2 * eps) for hi, lo in zip(*ends, strict=True)])
    count = len(columns[0]) if columns else 0
    return [np.array([c[k] for c in columns]) for k in range(count)]


def analytical_jacobian(output: Tensor, x: Tensor, nondet_tol: float) -> np.ndarray:
    """One row of Jᵀ per element of `x`, made from one backward pass per element of `output`."""
    jacobian = np.zeros((x.numel(), output.numel()), x._array.dtype)
    for repeat in range(2):
        for k in range(output.numel()):
            v = np.zeros(output.shape, output._array.dtype)
            v.reshape(-1)[k] = 1
            (g,) = grad(output, x, wrap(v), retain_graph=True, allow_unused=True)
            column = np.zeros(x.numel(), x._array.dtype) if g is None else g._array.reshape(-1)
            if repeat and np.abs(column - jacobian[:, k]).max(initial=0) > nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                    "different values, although analytical gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {nondet_tol}."
                )
            jacobian[:, k] = column
    return jacobian


def check_jacobians(func, arguments, outputs, eps, atol, rtol, nondet_tol, fast_mode) -> None:
    rng = np.random.default_rng(0)
    for j, (_, x) in enumerate(tracked(arguments)):
        if fast_mode:
            check_one_combination(func, arguments, outputs, j, x, eps, atol, rtol, rng)
            continue
        all_outputs = [o for o in as_outputs(func(*arguments)) if isinstance(o, Tensor)]
        numerical = [
            n
            for n, o in zip(numerical_jacobians(func, arguments, x, eps), all_outputs, strict=True)
            if o.requires_grad
        ]
        for i, output in enumerate(outputs):
            analytical = analytical_jacobian(output, x, nondet_tol)
            if not close(analytical, numerical[i], rtol, atol):
                raise GradcheckError(mismatch(i, j, numerical[i], analytical))


def check_one_combination(func, arguments, outputs, j, x, eps, atol, rtol, rng) -> None:
    """uᵀJv for random u and v: one difference and one backward pass."""
    u = rng.standard_normal(x.shape)
    u /= np.linalg.norm(u)
    for i, output in enumerate(outputs):
        v = rng.standard_normal(output.shape)
        (g,) = grad(output, x, wrap(v.astype(output._array.dtype)), retain_graph=True, allow_unused=True)
        analytical = 0.0 if g is None else (g._array * u).sum()
        kept, ends = x._array.copy(), []
        for sign in (1, -1):
            x._array[...] = kept + sign * eps * u
            ends.append(differentiable_outputs(func, arguments)[i]._array.copy())
            x._array[...] = kept
        numerical = ((ends[0] - ends[1]) / (2 * eps) * v).sum()
        if not close(analytical, numerical, rtol, atol):
            raise GradcheckError(
                mismatch(i, j, numerical, analytical)
                + "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode. See: "
                "https://github.com/pytorch/pytorch/issues/53876 for more background about fast mode."
            )


def close(analytical, numerical, rtol: float, atol: float) -> bool:
    return bool(np.allclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True))


def mismatch(output: int, input: int, numerical, analytical) -> str:
    return (
        f"Jacobian mismatch for output {output} with respect to input {input},\n"
        f"numerical:{wrap(np.asarray(numerical))!r}\nanalytical:{wrap(np.asarray(analytical))!r}\n"
    )


# ---------------------------------------------------------------- further checks


def check_undefined(func: Callable, arguments: Sequence[object], outputs: Sequence[Tensor]) -> None:
    """A backward must cope with gradients that never arrive."""
    inputs = [t for _, t in tracked(arguments)]
    for i, output in enumerate(outputs):
        zeros = wrap(np.zeros(output.shape, output._array.dtype))
        for g in grad(output, inputs, zeros, retain_graph=True, allow_unused=True):
            if g is not None and not (g._array == 0).all() and np.isfinite(output._array).all():
                raise GradcheckError(
                    f"Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please "
                    f"look at 'Notes about undefined output gradients' (output {i})."
                )


def check_dtypes(func: Callable, arguments: Sequence[object]) -> None:
    for i, x in tracked(arguments):
        for output in differentiable_outputs(func, arguments):
            (g,) = grad(output, x, output.ones_like_self(), retain_graph=True, allow_unused=True)
            if g is not None and g.dtype != x.dtype:
                raise GradcheckError(
                    f"Gradient of input {i} has dtype {g.dtype}, but the input has {x.dtype}"
                )


def check_batched(func: Callable, arguments: Sequence[object]) -> None:
    """Gradients for a stack of vectors must equal those for each vector."""
    rng = np.random.default_rng(0)
    inputs = [t for _, t in tracked(arguments)]
    for output in differentiable_outputs(func, arguments):
        stack = rng.standard_normal((4, *output.shape)).astype(output._array.dtype)
        together = grad(
            output, inputs, wrap(stack), is_grads_batched=True, retain_graph=True, allow_unused=True
        )
        for k in range(4):
            single = grad(output, inputs, wrap(stack[k]), retain_graph=True, allow_unused=True)
            for a, b in zip(together, single, strict=True):
                if (a is None) != (b is None) or (a is not None and not np.allclose(a._array[k], b._array)):
                    raise GradcheckError(
                        "While testing batched gradients: the batched and the single gradients differ."
                    )


def check_forward(func: Callable, arguments: Sequence[object], eps: float, atol: float, rtol: float) -> None:
    """Jacobian-vector products of forward mode against differences."""
    from . import forward_ad

    for j, (position, x) in enumerate(tracked(arguments)):
        numerical = numerical_jacobians(func, arguments, x, eps)
        for e in range(x.numel()):
            direction = np.zeros(x.shape, x._array.dtype)
            direction.reshape(-1)[e] = 1
            with forward_ad.dual_level():
                duals = [
                    forward_ad.make_dual(a.detach(), wrap(direction)) if i == position else a
                    for i, a in enumerate(arguments)
                ]
                for i, out in enumerate(as_outputs(func(*duals))):
                    tangent = forward_ad.unpack_dual(out).tangent
                    column = np.zeros(out.numel()) if tangent is None else tangent.detach()._array.reshape(-1)
                    if not close(column, numerical[i][e], rtol, atol):
                        raise GradcheckError(
                            mismatch(i, j, numerical[i][e], column) + "(computed with forward mode AD)"
                        )
