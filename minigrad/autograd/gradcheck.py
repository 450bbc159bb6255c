"""gradcheck: is a derivative right? Compares it with finite differences, entry by entry, and says which entry differs.

Both Jacobians are made of products with unit vectors: the numerical one column by column, J u ≈ (f(x + ε u) − f(x − ε u)) / 2ε,
the analytical one row by row, vᵀJ. `fast_mode` takes one random u and one random v and compares the number vᵀJ u.
Do this in double: in float32 the difference has only three right digits.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..tensor import Tensor, wrap
from . import forward_ad
from .backward import grad, zeros_like
from .function import Function
from .functional import unit_vectors

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
__dir__ = __all__.copy  # what completion offers

Arguments = Tensor | Sequence[object]


class GradcheckError(RuntimeError):
    """A derivative is wrong."""


def gradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Arguments,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of `func` with respect to those `inputs` that require grad. Returns True if they are right.

    Entries pass if |analytical − numerical| ≤ atol + rtol · |numerical|. `fast_mode` checks one random combination of
    the entries, vᵀJ u, in the place of all of them. `check_forward_ad` checks the Jacobian-vector products as well, the
    `batched` checks that vmap gives for several vectors what each gives alone. `masked` is of sparse tensors: accepted.
    Raises GradcheckError (or returns False without `raise_exception`), ValueError if there is nothing to check.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    arguments = as_tuple(inputs)
    refuse_unsuitable(arguments)
    try:
        check = Check(func, arguments, eps, atol, rtol)
        if not check.chosen:
            check.constant()
            return True
        if check_backward_ad:
            check.backward(nondet_tol, fast_mode)
        if check_forward_ad:
            check.forward()
        if check_batched_forward_grad:
            check.batched_forward()
        if check_backward_ad and check_batched_grad:
            check.batched()
        if check_backward_ad:
            check.multiplied()
        if check_backward_ad and check_undefined_grad:
            check.undefined()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Arguments,
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
    masked: bool = False,
) -> bool:
    """Check the gradients of the gradients of `func`: `gradcheck` of its backward pass."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    check = Check(func, as_tuple(inputs))
    if grad_outputs is None:
        vectors = tuple(check.random(o).requires_grad_() for o in check.outputs())
    else:
        vectors = as_tuple(grad_outputs)

    def backward_of(*args: object) -> tuple[Tensor, ...]:
        own, given = args[: len(check.arguments)], args[len(check.arguments) :]
        wanted = [own[i].requires_grad_() for i in check.positions]  # a dual number of such an input does not
        return grad(
            check.outputs(own), wanted, given, create_graph=True, allow_unused=True, materialize_grads=True
        )

    return gradcheck(
        backward_of, (*check.arguments, *vectors), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )  # fmt: skip


def as_tuple(given: object) -> tuple:
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
        if any(s == 0 and n > 1 for s, n in zip(t.stride(), t.shape, strict=True)):
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
        results = as_tuple(func(*arguments))
        self.chosen = [k for k, o in enumerate(results) if o.requires_grad]
        self.floating = [k for k, o in enumerate(results) if isinstance(o, Tensor) and o.is_floating_point()]
        self.rng = np.random.default_rng(0)

    def outputs(self, arguments: Sequence[object] | None = None) -> list[Tensor]:
        """The differentiable results of the function, computed anew."""
        results = as_tuple(self.func(*(self.arguments if arguments is None else arguments)))
        return [results[k] for k in self.chosen]

    def random(self, like: Tensor) -> Tensor:
        return wrap(self.rng.standard_normal(like.shape).astype(like._array.dtype))

    # ------------------------------------------------------------ products with the Jacobian

    def difference(self, x: Tensor, u: Tensor) -> list[np.ndarray]:
        """J u of each output: (f(x + ε u) − f(x − ε u)) / 2ε."""
        kept, ends = x._array.copy(), []
        for step in (self.eps, -self.eps):
            x._array[...] = kept + step * u._array
            ends.append([o._array.copy() for o in self.outputs()])
            x._array[...] = kept
        return [(after - before) / (2 * self.eps) for after, before in zip(*ends, strict=True)]

    def jvp(self, position: int, u: Tensor) -> list[Tensor]:
        """J u of each output, by forward mode."""
        arguments = list(self.arguments)
        with forward_ad.dual_level():
            arguments[position] = forward_ad.make_dual(arguments[position].detach(), u)
            pairs = [forward_ad.unpack_dual(o) for o in self.outputs(arguments)]
            return [zeros_like(p) if t is None else t.detach() for p, t in pairs]

    def pulled(self, output: Tensor, x: Tensor, v: Tensor, nondet_tol: float) -> np.ndarray:
        """vᵀJ, by a backward pass, which must give the same twice."""
        options = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
        first, again = (grad(output, x, v, **options)[0] for _ in range(2))
        if np.abs(first._array - again._array).max(initial=0) > nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                "different values, although analytical gradient matches numerical gradient."
                f"The tolerance for nondeterminism was {nondet_tol}."
            )
        return first._array

    # ------------------------------------------------------------ the checks

    def backward(self, nondet_tol: float, fast: bool) -> None:
        """Differences against backward passes: vᵀJ u for one random u and v, or for all unit vectors."""
        vectors = (lambda t: [self.random(t)]) if fast else (lambda t: list(unit_vectors(t)))
        outputs = self.outputs()
        for j, x in enumerate(self.inputs):
            us = vectors(x)
            columns = [self.difference(x, u) for u in us]
            for i, output in enumerate(outputs):
                vs = vectors(output)
                if us and vs:
                    numerical = rows(c[i] for c in columns) @ rows(v._array for v in vs).T
                    pulled = rows(self.pulled(output, x, v, nondet_tol) for v in vs)
                    self.compare(
                        i, j, numerical, rows(u._array for u in us) @ pulled.T, note=FAST if fast else ""
                    )

    def forward(self) -> None:
        """Differences against forward mode."""
        for j, (position, x) in enumerate(zip(self.positions, self.inputs, strict=True)):
            us = list(unit_vectors(x))
            pairs = [(self.difference(x, u), [t._array for t in self.jvp(position, u)]) for u in us]
            for i in range(len(self.chosen) if us else 0):
                numerical, analytical = (rows(pair[k][i] for pair in pairs) for k in range(2))
                self.compare(i, j, numerical, analytical, mode="computed with forward mode ")

    def compare(self, i: int, j: int, numerical, analytical, *, mode: str = "", note: str = "") -> None:
        if not np.allclose(analytical, numerical, rtol=self.rtol, atol=self.atol):
            raise GradcheckError(
                f"Jacobian {mode}mismatch for output {i} with respect to input {j},\n"
                f"numerical:{wrap(numerical)!r}\nanalytical:{wrap(analytical)!r}\n{note}"
            )

    def constant(self) -> None:
        """A function without differentiable results must not depend on its arguments."""
        self.chosen = self.floating
        if any(d.any() for x in self.inputs for u in unit_vectors(x) for d in self.difference(x, u)):
            raise GradcheckError("Numerical gradient for function expected to be zero")

    def batched(self) -> None:
        """Gradients for a stack of vectors must equal those for each vector."""
        options = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
        for output in self.outputs():
            vs = [self.random(output) for _ in range(2)]
            together = grad(output, self.inputs, Tensor._stack_all(vs), is_grads_batched=True, **options)
            single = zip(*(grad(output, self.inputs, v, **options) for v in vs), strict=True)
            for stack, each in zip(together, single, strict=True):
                if not np.allclose(stack._array, [g._array for g in each]):
                    raise GradcheckError(
                        "While testing batched gradients: the batched and the single gradients differ."
                    )

    def batched_forward(self) -> None:
        """Forward mode's products with a stack of vectors must equal those with each vector."""
        vmap = importlib.import_module("minigrad.func").vmap  # it stands above this package
        for position, x in zip(self.positions, self.inputs, strict=True):
            us = [self.random(x) for _ in range(2)]
            together = vmap(lambda u, position=position: tuple(self.jvp(position, u)))(Tensor._stack_all(us))
            for stack, *each in zip(together, *(self.jvp(position, u) for u in us), strict=True):
                if not np.allclose(stack._array, [t._array for t in each]):
                    raise GradcheckError(
                        "While testing batched forward gradients: the batched and the single gradients differ."
                    )

    def multiplied(self) -> None:
        """Gradients of zeros must give zeros."""
        if any(g._array.any() for g in zeros_back(self.outputs(), self.inputs)):
            raise GradcheckError("backward not multiplied by grad_output")

    def undefined(self) -> None:
        """A backward must cope with gradients that never arrive: of all outputs, or of one of several."""
        several = range(len(self.chosen)) if len(self.chosen) > 1 else ()
        for missing in (range(len(self.chosen)), *([k] for k in several)):
            outputs = [Undefined.apply(o) if k in missing else o for k, o in enumerate(self.outputs())]
            try:
                found = zeros_back(outputs, self.inputs)
            except RuntimeError as error:
                raise GradcheckError(
                    f"Expected backward function to handle undefined output grads. {UNDEFINED}"
                ) from error
            if any(g._array.any() for g in found):
                raise GradcheckError(
                    f"Expected all input grads to be undefined or zero when all output grads are undefined or zero. {UNDEFINED}"
                )


UNDEFINED = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
FAST = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode. See: "
    "https://github.com/pytorch/pytorch/issues/53876 for more background about fast mode."
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


def rows(arrays: Iterable[np.ndarray]) -> np.ndarray:
    """A matrix with one row for each array."""
    return np.stack([a.reshape(-1) for a in arrays])


def zeros_back(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What a backward pass that starts with zeros gives."""
    return grad(outputs, inputs, [zeros_like(o) for o in outputs], materialize_grads=True)
