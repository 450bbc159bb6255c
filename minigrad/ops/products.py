"""More products: `einsum` and others over chosen dimensions, composed of permutations and matrix products as in PyTorch;
the cross product; scaled products added to a scaled tensor."""

from __future__ import annotations

import math
import warnings

import numpy as np

from .. import dtypes
from ..basics import check, wrap_dim
from ..tensor import Tensor
from .indexing import diagonal
from .linalg import _bmm, _mm, _mv, bmm, dot, mm, mm_call
from .pointwise import mul
from .reduction import sum_dim
from .shape import expanded, movedim, permute, reshape, squeeze_all, unsafe_view, unsqueeze, view
from .signature import check_ints
from .stacking import all_given
from .table import function, op, publish

ndarray = np.ndarray

SUBSCRIPTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # PyTorch's order
NO_DIM = "Using torch.cross without specifying the dim arg is deprecated."
ELLIPSIS = "."  # stands for all dimensions without a letter

# ---------------------------------------------------------------- on arrays


def _cross(self: ndarray, other: ndarray, dim: int) -> ndarray:
    message = "linalg.cross: inputs must have the same number of dimensions."
    check(self.ndim == other.ndim, message)
    message = "linalg.cross: inputs dimension {} must have length 3. Got {} and {}"
    check(self.shape[dim] == 3 == other.shape[dim], message, dim, self.shape[dim], other.shape[dim])
    message = "expected scalar type {.word} but found {.word}"
    check(self.dtype == other.dtype, message, self.dtype, other.dtype)
    (a, b, c), (d, e, f) = (np.moveaxis(x, dim, 0) for x in np.broadcast_arrays(self, other))
    return np.moveaxis(np.stack([b * f - c * e, c * d - a * f, a * e - b * d]), 0, dim)


def _outer(vec1: ndarray, vec2: ndarray) -> ndarray:
    for number, v in enumerate((vec1, vec2), 1):
        check(v.ndim == 1, "addr: Expected 1-D argument vec{}, but got {}-D", number, v.ndim)
    return vec1[:, None] * vec2


def scaled_sum(self: ndarray, product: ndarray, beta: float, alpha: float) -> ndarray:
    """`beta * self + alpha * product`; NaN in `self` does not count where beta is 0."""
    product = product if alpha == 1 else product * dtypes.fitting(alpha, product.dtype)
    start = expanded(self, product.shape)
    return (
        product
        if beta == 0
        else product + (start if beta == 1 else start * dtypes.fitting(beta, product.dtype))
    )


def _addbmm(self: ndarray, batch1: ndarray, batch2: ndarray) -> ndarray:
    """The sum of the products of a batch. If several things are wrong, PyTorch reports the one that comes first here."""
    if batch1.ndim > 1:
        expanded(self, (batch1.shape[1], batch2.shape[wrap_dim(2, batch2.ndim)]))
    check(batch1.ndim == 3, "batch1 must be a 3D tensor")
    counts = len(batch1), len(batch2)
    check(
        counts[0] == counts[1], "batch1 and batch2 must have same number of batches, got {} and {}", *counts
    )
    sizes = *batch1.shape[1:], *batch2.shape[1:]
    check(sizes[1] == sizes[2], "Incompatible matrix sizes for bmm ({}x{} and {}x{})", *sizes)
    message = "{} and mat2 must have the same dtype, but got {.word} and {.word}"
    check(batch1.dtype == batch2.dtype, message, "mat1", batch1.dtype, batch2.dtype)
    check(batch1.dtype == self.dtype, message, "self", self.dtype, batch1.dtype)
    return _bmm(batch1, batch2).sum(0)


# ---------------------------------------------------------------- the equation


def parse(equation: str, operands: list[Tensor]) -> tuple[list[str], str, int]:
    """(the letters of each operand, those of the result, how many dimensions an ellipsis represents)"""
    left, arrow, right = equation.replace(" ", "").replace("...", ELLIPSIS).partition("->")
    terms, covered = left.split(","), 0
    message = "einsum(): {} operands were provided than specified in the equation"
    check(len(operands) == len(terms), message, "more" if len(operands) > len(terms) else "fewer")
    for i, (term, x) in enumerate(zip(terms, operands, strict=True)):
        for letter in term + right:
            message = "einsum(): invalid subscript given at index {} in the equation string, subscripts must be in [a-zA-Z]"
            check(letter in SUBSCRIPTS + ELLIPSIS, message, equation.find(letter))
        named, n = len(term.replace(ELLIPSIS, "")), x._array.ndim
        message = "einsum(): the number of subscripts in the equation ({}) {} the number of dimensions ({}) for operand {}"
        dots = ELLIPSIS in term
        check(named <= n if dots else named == n, message + ("" if dots else " and no ellipsis was given"), named,
               "is more than" if dots else "does not match", n, i)  # fmt: skip
        covered = max(covered, n - named if dots else 0)
    if not arrow:  # the letters that occur once, in order
        letters = [c for c in SUBSCRIPTS if left.count(c) == 1]
        right = ELLIPSIS * (ELLIPSIS in left) + "".join(letters)
    for letter in right:
        message = "einsum(): output subscript {} appears more than once in the output"
        check(right.count(letter) == 1, message, letter)
        message = "einsum(): output subscript {} does not appear in the equation for any input operand"
        check(letter in left or letter == ELLIPSIS, message, letter)
    return terms, right, covered


def lined_up(x: Tensor, term: str, place: dict[str, int], covered: int, total: int) -> Tensor:
    """An operand with its dimensions in the order of all letters; for a letter that it lacks, one of length 1."""
    at, order, d = {}, [-1] * total, 0
    for letter in term:
        if letter == ELLIPSIS:
            # the diagonals of later repeated letters have not been taken yet
            own = x._array.ndim - d - len(term.partition(ELLIPSIS)[2])
            for k in range(own):
                order[place[ELLIPSIS] + covered - own + k], d = d, d + 1
        elif letter in at:
            first = at[letter]
            message = "einsum(): subscript {} is repeated for operand but the sizes don't match, {} != {}"
            check(x.size(first) == x.size(d), message, letter, x.size(d), x.size(first))
            x = movedim(diagonal(x, 0, first, d), -1, first)
        else:
            at[letter] = order[place[letter]] = d
            d += 1
    for k, own in enumerate(order):
        if own == -1:
            x, order[k] = unsqueeze(x, -1), x._array.ndim
    return permute(x, order)


def contracted(left: Tensor, right: Tensor, summed: list[int]) -> Tensor:
    """The product of two operands that are lined up, summed over dimensions that both have; these keep length 1."""
    if not summed:
        return mul(left, right)
    both, of_left, of_right = [], [], []
    for d, (n, m) in enumerate(zip(left.shape, right.shape, strict=True)):
        if d not in summed:
            (both if n != 1 != m else of_left if n != 1 else of_right).append(d)
    sizes, others = left.shape, right.shape
    batch, rows, inner = (math.prod([sizes[d] for d in dims]) for dims in (both, of_left, summed))
    columns = math.prod([others[d] for d in of_right])
    left = reshape(permute(left, [*both, *of_left, *summed, *of_right]), (batch, rows, inner))
    right = reshape(permute(right, [*both, *summed, *of_right, *of_left]), (batch, inner, columns))
    out = [*[sizes[d] for d in (*both, *of_left)], *[1] * len(summed), *[others[d] for d in of_right]]
    order = [*both, *of_left, *summed, *of_right]
    return permute(view(bmm(left, right), out), sorted(range(len(order)), key=order.__getitem__))


@function("torch")
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Products of the operands' elements, summed: "ij,jk->ik" is the product of two matrices, "ii" the trace.

    Each letter is a dimension; those not to the right of the arrow are summed. Without an arrow the result has the letters
    that occur once. `...` represents all dimensions that are not named. Raises RuntimeError where the equation does not fit.
    """
    operands = list(all_given(operands))
    check(len(operands) > 0, "einsum(): must provide at least one operand", error=ValueError)
    terms, result, covered = parse(equation, operands)
    place, total = {}, 0
    for letter in [*result, *[c for c in ELLIPSIS + SUBSCRIPTS if c in "".join(terms) and c not in result]]:
        place[letter], total = total, total + (covered if letter == ELLIPSIS else 1)
    count = sum(covered if c == ELLIPSIS else 1 for c in result)
    operands = [lined_up(x, term, place, covered, total) for x, term in zip(operands, terms, strict=True)]
    for d in range(total):
        sizes = {x.shape[d] for x in operands} - {1}
        message = "einsum(): subscript {} has size {} for operand {} which does not broadcast with previously seen size {}"
        letter = next(c for c in reversed(place) if place[c] <= d)
        check(len(sizes) < 2, message, letter, operands[-1].shape[d], len(operands) - 1, operands[0].shape[d])
    counts = [sum(x.shape[d] != 1 for x in operands) for d in range(total)]
    first, *rest = operands
    for x in rest:
        summed, alone = [], ([], [])
        for d in range(count, total):
            have = first.shape[d] != 1, x.shape[d] != 1
            if all(have):
                counts[d] -= 1
                if counts[d] == 1:
                    summed.append(d)
                    counts[d] = 0
            elif counts[d] == 1 and any(have):
                alone[have[1]].append(d)
                counts[d] = 0
        first, x = (sum_dim(y, dims, True) if dims else y for y, dims in zip((first, x), alone, strict=True))
        first = contracted(first, x, summed)
    if total == count:
        return first
    if rest:
        return view(first, first.shape[:count])
    return sum_dim(first, tuple(range(count, total)))


# fmt: off
# ---------------------------------------------------------------- declarations

crossed = op("linalg_cross(self, other, *, dim: dim=-1)", _cross, kind="linear", broadcasts=True, at="linalg", takes="fiu",
    kernel="cross",
    doc="The cross product of vectors of length 3 along `dim`.", self=lambda grad, other, dim: crossed(other, grad, dim=dim),
    other=lambda grad, self, dim: crossed(grad, self, dim=dim))
vdot = op("vdot(self, other)", dot.op.forward, kind="linear", batch="matmul",
          doc="The product of two vectors of equal length.", self=lambda grad, other: grad * other,
          other=lambda grad, self: grad * self)
FACTORS = "*, beta: Scalar=1, alpha: Scalar=1)"
addmm_scaled = op("addmm(self, mat1, mat2, " + FACTORS, lambda self, mat1, mat2, beta, alpha:
        scaled_sum(self, _mm(mat1, mat2, "mat1"), beta, alpha), broadcasts=True,
    batch=lambda self, mat1, mat2, beta, alpha: self * beta + mat1 @ mat2 * alpha,
    doc="`beta * input + alpha * mat1 @ mat2`; `input` is broadcast.", self=lambda grad, beta: grad * beta,
    mat1=lambda grad, mat2, alpha: mm(grad, mat2.T) * alpha, mat2=lambda grad, mat1, alpha: mm(mat1.T, grad) * alpha)
baddbmm_scaled = op("baddbmm(self, batch1, batch2, " + FACTORS, lambda self, batch1, batch2, beta, alpha:
        scaled_sum(self, _bmm(batch1, batch2), beta, alpha), broadcasts=True,
    batch=lambda self, batch1, batch2, beta, alpha: self * beta + batch1 @ batch2 * alpha,
    doc="`beta * input + alpha * batch1 @ batch2`; `input` is broadcast.", self=lambda grad, beta: grad * beta,
    batch1=lambda grad, batch2, alpha: grad @ batch2.mT * alpha, batch2=lambda grad, batch1, alpha: batch1.mT @ grad * alpha)
addmv = op("addmv(self, mat, vec, " + FACTORS, lambda self, mat, vec, beta, alpha:
        scaled_sum(self, _mv(mat, vec), beta, alpha), broadcasts=True,
    batch=lambda self, mat, vec, beta, alpha: self * beta + mat @ vec * alpha,
    doc="`beta * input + alpha * mat @ vec`; `input` is broadcast.", self=lambda grad, beta: grad * beta,
    mat=lambda grad, vec, alpha: grad[:, None] * vec * alpha, vec=lambda grad, mat, alpha: mat.T @ grad * alpha)
addr = op("addr(self, vec1, vec2, " + FACTORS, lambda self, vec1, vec2, beta, alpha:
        scaled_sum(self, _outer(vec1, vec2), beta, alpha), broadcasts=True,
    batch=lambda self, vec1, vec2, beta, alpha: self * beta + vec1[:, None] * vec2 * alpha,
    doc="`beta * input + alpha * outer(vec1, vec2)`; `input` is broadcast.", self=lambda grad, beta: grad * beta,
    vec1=lambda grad, vec2, alpha: grad @ vec2 * alpha, vec2=lambda grad, vec1, alpha: grad.T @ vec1 * alpha)
addbmm = op("addbmm(self, batch1, batch2, " + FACTORS, lambda self, batch1, batch2, beta, alpha:
        scaled_sum(self, _addbmm(self, batch1, batch2), beta, alpha), broadcasts=True,
    batch=lambda self, batch1, batch2, beta, alpha: self * beta + (batch1 @ batch2).sum(0) * alpha,
    doc="`beta * input + alpha * (batch1 @ batch2).sum(0)`; `input` is broadcast.", self=lambda grad, beta: grad * beta,
    batch1=lambda grad, batch2, alpha: grad @ batch2.mT * alpha, batch2=lambda grad, batch1, alpha: batch1.mT @ grad * alpha)
# fmt: on

# ---------------------------------------------------------------- over given dimensions


@function("torch")
def tensordot(a: Tensor, b: Tensor, dims: object = 2) -> Tensor:
    """Products of the elements of two tensors, summed over pairs of dimensions.

    dims: a number n, for the last n of `a` and the first n of `b`, or two lists.
    """
    message = "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but "
    message += "got dims={}"
    check(isinstance(dims, (tuple, list, int, Tensor)), message, dims)
    dims = dims.tolist() if isinstance(dims, Tensor) else dims
    if isinstance(dims, int):
        check(dims >= 0, "tensordot expects dims >= 0, but got dims={}", dims)
        most = min(a._array.ndim, b._array.ndim)
        check(dims <= most, "tensordot expects dims < ndim_a or ndim_b, but got dims={}", dims)
        dims = list(range(-dims, 0)), list(range(dims))
    check(len(dims) == 2, message, dims, error=ValueError)
    for place, which, given in ((3, "self", dims[0]), (4, "other", dims[1])):
        check_ints(given, f"tensordot(): argument 'dims_{which}' (position {place})", alone=False)
    check(a._array.dtype == b._array.dtype, "both inputs should have same dtype")
    left, right = ([wrap_dim(d, x._array.ndim) for d in ds] for x, ds in zip((a, b), dims, strict=True))
    check(len(left) == len(right), "both dimension lists should have same length")
    for d, e, *shown in zip(left, right, *dims, strict=True):
        message = "contracted dimensions need to match, but first has size {} in dim {} and second has size {} in dim {}"
        fits = a.size(d) == b.size(e) or 1 in (a.size(d), b.size(e))
        check(fits, message, a.size(d), shown[0], b.size(e), shown[1])
        if a.size(d) != b.size(e):  # a length of 1 is broadcast
            a, b = (sum_dim(x, k, True) if x.size(k) != 1 else x for x, k in ((a, d), (b, e)))
    for dim in (*left, *right):
        repeated = max(left.count(dim), right.count(dim)) > 1
        check(not repeated, "dim {} appears multiple times in the list of dims", dim)
    own_a, own_b = ([d for d in range(x._array.ndim) if d not in ds] for x, ds in ((a, left), (b, right)))
    inner, sizes = (
        math.prod([a.size(d) for d in left]),
        [*[a.size(d) for d in own_a], *[b.size(d) for d in own_b]],
    )
    rows, columns = math.prod([a.size(d) for d in own_a]), math.prod([b.size(d) for d in own_b])
    orders, shapes = ([*own_a, *left], [*right, *own_b]), ((rows, inner), (inner, columns))
    if rows == columns == 1:
        flat = [x._array.transpose(order).flags.c_contiguous for x, order in zip((a, b), orders, strict=True)]
        parts = [permute(x, order) for x, order in zip((a, b), orders, strict=True)]
        for place, x in ((1, parts[1]), (0, parts[0])):  # in this order, as PyTorch's graph shows
            if not all(flat):
                parts[place] = squeeze_all(x)
            elif x._array.ndim != 1:
                parts[place] = reshape(x, (inner,))
        return view(dot(*parts) if all(flat) else mul(*parts).sum(), sizes)
    triples = zip((a, b), orders, shapes, strict=True)
    return view(mm_call(*[reshape(permute(x, order), shape) for x, order, shape in triples]), sizes)


@function("torch Tensor")
def inner(self: Tensor, other: Tensor) -> Tensor:
    """Products of the elements along the last dimensions, summed; if one tensor is a number, the plain product."""
    if not other._array.ndim or not self._array.ndim:
        return mul(self, other)
    message = "inner() the last dimension must match on both input tensors but got shapes {} and {}"
    check(self.size(-1) == other.size(-1), message, tuple(self.shape), tuple(other.shape))
    return tensordot(self, other, ([-1], [-1]))


@function("torch Tensor")
def kron(self: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of `input` times all of `other`, as blocks."""
    n = max(self._array.ndim, other._array.ndim)
    a, b = ([1] * (n - x._array.ndim) + list(x.shape) for x in (self, other))
    first = unsafe_view(self, [k for m in a for k in (m, 1)])
    second = unsafe_view(other, [k for m in b for k in (1, m)])
    return unsafe_view(mul(first, second), [m * k for m, k in zip(a, b, strict=True)])


@function("linalg", name="vecdot")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of the products along a dimension."""
    return vdot(x, y) if x._array.ndim == 1 == y._array.ndim else sum_dim(mul(x, y), dim)


@function("linalg")
def multi_dot(*matrices: Tensor) -> Tensor:
    """The product of several matrices, computed in the order that takes the fewest multiplications."""
    tensors = list(all_given(matrices))
    check(len(tensors) >= 2, "multi_dot(): expected at least 2 tensors but got {}", len(tensors))
    for place, x in enumerate(tensors):
        end = place in (0, len(tensors) - 1)
        message = "multi_dot(): tensor {} must be {} but got {}D"
        check(
            x._array.ndim == 2 or (end and x._array.ndim == 1),
            message,
            place,
            "1D or 2D" if end else "2D",
            x._array.ndim,
        )
    row, column = tensors[0]._array.ndim == 1, tensors[-1]._array.ndim == 1
    tensors[0] = unsqueeze(tensors[0], 0) if row else tensors[0]
    tensors[-1] = unsqueeze(tensors[-1], -1) if column else tensors[-1]
    sizes = [*[x.size(0) for x in tensors], tensors[-1].size(1)]
    best: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(tensors))}
    for length in range(1, len(tensors)):
        for i in range(len(tensors) - length):
            j = i + length
            costs = [
                best[i, k][0] + best[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            ]
            k = (
                len(costs) - 1 - costs[::-1].index(min(costs))
                if len(tensors) == 3
                else costs.index(min(costs))
            )
            best[i, j] = min(costs), i + k

    def multiplied(i: int, j: int) -> Tensor:
        if i == j:
            return tensors[i]
        right = multiplied(best[i, j][1] + 1, j)  # computed first, as in PyTorch's graph
        return mm_call(multiplied(i, best[i, j][1]), right)

    return view(multiplied(0, len(tensors) - 1), sizes[row:1] + sizes[len(sizes) - 1 + column :])


publish(multi_dot, "chain_matmul", "torch")


@function("torch Tensor")
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross product of vectors of length 3 along `dim`, by default the first dimension of that length."""
    if dim is None:
        warnings.warn(NO_DIM, stacklevel=3)
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        check(dim is not None, "no dimension of size 3 in input")
    return crossed(input, other, dim=dim)
