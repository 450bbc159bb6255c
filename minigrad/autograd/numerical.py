"""gradcheck: is a derivative right? Compares it with finite differences, entry by entry, and says which entry differs.

Both Jacobians are made of products with unit vectors: the numerical one column by column, J u ≈ (f(x + ε u) − f(x − ε u)) / 2ε,
the analytical one row by row, vᵀJ. `fast_mode` takes one random u and one random v and compares the number vᵀJ u.
Do this in double: in float32 the difference has only three right digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..tensor import Tensor, wrap
from .function import Function
from .passes import grad, zeros_like

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
__dir__ = __all__.copy  # what completion offers

NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
FAST = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode. See: "
    "https://github.com/pytorch/pytorch/issues/53876 for more background about fast mode."
)


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
    fast_mode: bool = False,
) -> bool:
    """Check the gradients of `func` with respect to those `inputs` that require grad. Returns True if they are right.

    Entries pass if |analytical − numerical| ≤ atol + rtol · |numerical|. `fast_mode` checks one random combination of
    the entries, vᵀJ u, in the place of all of them.
    Raises GradcheckError (or returns False without `raise_exception`), ValueError if there is nothing to check.
    """
    arguments = as_sequence(inputs)
    refuse_unsuitable(arguments)
    try:
        check = Check(func, arguments, eps, atol, rtol)
        if not check.chosen:
            check.constant()
            return True
        check.backward(fast_mode)
        check.silence()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[object],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    **options: object,
) -> bool:
    """Check the gradients of the gradients of `func`: `gradcheck`, whose options it takes, of its backward pass."""
    check = Check(func, as_sequence(inputs))
    if grad_outputs is None:
        vectors = tuple(check.random(o).requires_grad_() for o in check.outputs())
    else:
        vectors = as_sequence(grad_outputs)

    def backward_of(*args: object) -> tuple[Tensor, ...]:
        own, given = args[: len(check.arguments)], args[len(check.arguments) :]
        wanted = [own[i] for i in check.positions]
        return grad(check.outputs(own), wanted, given, create_graph=True, materialize_grads=True)

    return gradcheck(backward_of, (*check.arguments, *vectors), **options)


def as_sequence(given: object) -> tuple:
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def refuse_unsuitable(arguments: tuple) -> None:
    """Raise, or warn, if differences with respect to these arguments make no sense."""
    positions = differentiable(arguments)
    if not positions:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i in positions:
        t = arguments[i]
        if t._array.dtype != np.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if any(s == 0 and n > 1 for s, n in zip(t._array.strides, t.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to "
                "be able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                "passing it to gradcheck."
            )


class Check:
    """A function at its arguments: its Jacobians there, by differences and by autograd, and how they are compared."""

    def __init__(
        self, func: Callable, arguments: tuple, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3
    ):
        self.func, self.arguments, self.eps, self.atol, self.rtol = func, arguments, eps, atol, rtol
        self.positions = differentiable(arguments)
        self.inputs = [arguments[i] for i in self.positions]
        results = as_sequence(func(*arguments))
        self.chosen = [k for k, o in enumerate(results) if o.requires_grad]
        self.floating = [k for k, o in enumerate(results) if isinstance(o, Tensor) and o.is_floating_point()]
        self.rng = np.random.default_rng(0)

    def outputs(self, arguments: Sequence[object] | None = None) -> list[Tensor]:
        """The differentiable results of the function, computed anew."""
        results = as_sequence(self.func(*(self.arguments if arguments is None else arguments)))
        return [results[k] for k in self.chosen]

    def random(self, like: Tensor) -> Tensor:
        return wrap(self.rng.standard_normal(like.shape).astype(like._array.dtype))

    def difference(self, x: Tensor, u: Tensor) -> list[np.ndarray]:
        """J u of each output: (f(x + ε u) − f(x − ε u)) / 2ε."""
        kept, ends = x._array.copy(), []
        try:
            for step in (self.eps, -self.eps):
                x._array[...] = kept + step * u._array
                ends.append([o._array.copy() for o in self.outputs()])
        finally:
            x._array[...] = kept
        return [(after - before) / (2 * self.eps) for after, before in zip(*ends, strict=True)]

    def pulled(self, output: Tensor, x: Tensor, v: Tensor) -> np.ndarray:
        """vᵀJ, by a backward pass, which must give the same twice."""
        options = {"retain_graph": True, "materialize_grads": True}
        first, again = (grad(output, x, v, **options)[0]._array for _ in range(2))
        if np.abs(first - again).max(initial=0) > 0:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                "different values, although analytical gradient matches numerical gradient."
                "The tolerance for nondeterminism was 0.0."
            )
        return first

    def backward(self, fast: bool) -> None:
        """Differences against backward passes: vᵀJ u for one random u and v, or for all unit vectors."""
        vectors = (lambda t: [self.random(t)]) if fast else units
        outputs = self.outputs()
        for j, x in enumerate(self.inputs):
            us = vectors(x)
            columns = [self.difference(x, u) for u in us]
            for i, output in enumerate(outputs):
                vs = vectors(output)
                if us and vs:
                    numerical = matrix_of(c[i] for c in columns) @ matrix_of(v._array for v in vs).T
                    pulled = matrix_of(self.pulled(output, x, v) for v in vs)
                    analytical = matrix_of(u._array for u in us) @ pulled.T
                    self.compare(i, j, numerical, analytical, FAST if fast else "")

    def compare(self, i: int, j: int, numerical: np.ndarray, analytical: np.ndarray, note: str) -> None:
        if not np.allclose(analytical, numerical, rtol=self.rtol, atol=self.atol):
            raise GradcheckError(
                f"Jacobian mismatch for output {i} with respect to input {j},\n"
                f"numerical:{wrap(numerical)!r}\nanalytical:{wrap(analytical)!r}\n{note}"
            )

    def constant(self) -> None:
        """A function without differentiable results must not depend on its arguments."""
        self.chosen = self.floating
        if any(d.any() for x in self.inputs for u in units(x) for d in self.difference(x, u)):
            raise GradcheckError("Numerical gradient for function expected to be zero")

    def silence(self) -> None:
        """Gradients of zeros must give zeros, and so must gradients that never arrive, of all outputs or of one."""
        every = range(len(self.chosen))
        alone = [[k] for k in every if len(every) > 1]
        for absent in ([], every, *alone):
            outputs = [Undefined.apply(o) if k in absent else o for k, o in enumerate(self.outputs())]
            vectors = [zeros_like(o) for o in outputs]
            try:
                found = grad(outputs, self.inputs, vectors, materialize_grads=True)
            except RuntimeError as error:
                if not absent:
                    raise
                told = f"Expected backward function to handle undefined output grads. {NOTES}"
                raise GradcheckError(told) from error
            if any(g._array.any() for g in found):
                undefined = "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                raise GradcheckError(
                    undefined + NOTES if absent else "backward not multiplied by grad_output"
                )


class Undefined(Function):
    """The identity, through which no gradient goes back."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx, grad: Tensor) -> None:
        return None


def differentiable(values: Sequence[object]) -> list[int]:
    """The positions of the tensors that require grad."""
    return [i for i, a in enumerate(values) if isinstance(a, Tensor) and a.requires_grad]


def units(like: Tensor) -> list[Tensor]:
    """The unit vectors of a tensor's space, in its shape and dtype."""
    return [wrap(row.reshape(like.shape)) for row in np.eye(like.numel(), dtype=like._array.dtype)]


def matrix_of(arrays: Iterable[np.ndarray]) -> np.ndarray:
    """A matrix with one row for each array."""
    return np.stack([a.reshape(-1) for a in arrays])
