"""`einsum`: sums of products written with index letters, done as PyTorch does them, by permutations and `bmm`."""

from __future__ import annotations

import functools
import math
import string
from collections.abc import Sequence
from typing import NamedTuple

from ..tensor import Tensor
from .arranging import diagonal
from .linalg import bmm
from .pointwise import mul
from .shape import _permute, _unsqueeze, inverse_order, reshape_to, view

ELLIPSIS = "..."

LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _letters(term: str, position: int, equation: str) -> list[str]:
    """The subscripts of one operand: letters, and perhaps one "..."."""
    found, i = [], 0
    while i < len(term):
        if term[i] == ".":
            if term[i : i + 3] != ELLIPSIS:
                raise RuntimeError(
                    f"einsum(): found '.' for operand {position} that is not part of any ellipsis"
                )
            if ELLIPSIS in found:
                raise RuntimeError(
                    f"einsum(): found '.' for operand {position} for which an ellipsis was already found"
                )
            found.append(ELLIPSIS)
            i += 3
            continue
        if not (term[i].isascii() and term[i].isalpha()):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {equation.index(term[i])} in the equation string, subscripts "
                "must be in [a-zA-Z]"
            )
        found.append(term[i])
        i += 1
    return found


def _dimensions(n: int, letters: list[str], position: int) -> list[str]:
    """A letter for each of n dimensions; those of the ellipsis are called "...0", "...1", counted from the right."""
    named = len(letters) - letters.count(ELLIPSIS)
    if ELLIPSIS not in letters and named != n:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions ({n}) "
            f"for operand {position} and no ellipsis was given"
        )
    if named > n:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions ({n}) for "
            f"operand {position}"
        )
    hidden = [f"{ELLIPSIS}{k}" for k in reversed(range(n - named))]
    out: list[str] = []
    for letter in letters:
        out.extend(hidden if letter == ELLIPSIS else [letter])
    return out


def _order(terms: list[list[str]], output: str | None, widest: int) -> tuple[list[str], int]:
    """All subscripts, those of the output first, and how many those are."""
    hidden = [f"{ELLIPSIS}{k}" for k in reversed(range(widest))]
    count: dict[str, int] = {}
    for term in terms:
        for letter in term:
            if not letter.startswith(ELLIPSIS):
                count[letter] = count.get(letter, 0) + 1
    if output is None:
        order = hidden + sorted(letter for letter, n in count.items() if n == 1)
    else:
        order = []
        for letter in _letters(output, -1, output):
            if letter != ELLIPSIS and letter not in count:
                raise RuntimeError(
                    f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
                )
            if letter in order:
                raise RuntimeError(
                    f"einsum(): output subscript {letter} appears more than once in the output"
                )
            order.extend(hidden if letter == ELLIPSIS else [letter])
    rest = [h for h in hidden if h not in order] + sorted(c for c in count if c not in order)
    return order + rest, len(order)


def spelled_out(given: tuple) -> tuple[str, tuple[Tensor, ...]]:
    """einsum(x, [0, 1], y, [1, 2], [0, 2]) as its equation "AB,BC->AC" and the operands."""

    def letters(numbers: Sequence) -> str:
        for n in numbers:
            if n is not Ellipsis and not 0 <= n < 52:
                raise RuntimeError(f"einsum(): not within the valid range [0, 52): {n}")
        return "".join("..." if n is Ellipsis else LETTERS[n] for n in numbers)

    count = len(given) // 2
    equation = ",".join(letters(numbers) for numbers in given[1 : 2 * count : 2])
    return equation + ("->" + letters(given[-1]) if len(given) % 2 else ""), given[: 2 * count : 2]


def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """The sum of products over the index letters that the output does not name: "ij,jk->ik" is a matrix product.

    A letter that an operand names twice stands for its diagonal; "..." for further dimensions, which are broadcast.
    Raises RuntimeError for equations that do not fit the operands.
    """
    if isinstance(equation, Tensor):
        equation, operands = spelled_out((equation, *operands))
    elif len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts "
            "list"
        )
    for i, t in enumerate(operands):
        if not isinstance(t, Tensor):
            raise TypeError(f"einsum(): operand {i} must be Tensor, not {type(t).__name__}")
    plan = _plan(equation, *[t._array.shape for t in operands])
    prepared = []
    for t, preparation in zip(operands, plan.preparations, strict=True):
        for first, second, order in preparation.diagonals:
            t = _permute(diagonal(t, 0, first, second), order)
        for dim in preparation.new_dims:
            t = _unsqueeze(t, dim)
        prepared.append(_permute(t, preparation.order))
    result = prepared[0]
    for right, step in zip(prepared[1:], plan.steps, strict=True):
        result = _contracted(result, right, step)
    if plan.shape is not None:
        return view(result, plan.shape)
    return result.sum(plan.summed) if plan.summed else result


def _contracted(left: Tensor, right: Tensor, step: Contraction) -> Tensor:
    """The product of two operands, summed over the dimensions that no later operand has, which stay with length 1."""
    if step.left_alone:
        left = left.sum(step.left_alone, keepdim=True)
    if step.right_alone:
        right = right.sum(step.right_alone, keepdim=True)
    if step.product is None:
        return mul(left, right)
    (left_order, left_shape), (right_order, right_shape), sizes, back = step.product
    product = bmm(
        reshape_to(_permute(left, left_order), left_shape),
        reshape_to(_permute(right, right_order), right_shape),
    )
    return _permute(reshape_to(product, sizes), back)


# ---------------------------------------------------------------- plans: what an equation means for operands of these shapes


class Preparation(NamedTuple):
    """How an operand gets one dimension for each letter: of length 1 for those that it does not name."""

    diagonals: list[
        tuple[int, int, tuple]
    ]  # pairs of dimensions that share a letter; how to order the rest after that
    new_dims: range
    order: tuple


class Contraction(NamedTuple):
    """How two operands are multiplied. product: for one `bmm`, (order, shape) of each, the sizes after it, the order."""

    left_alone: tuple  # dimensions that only this operand has: they are summed first
    right_alone: tuple
    product: tuple | None


class Plan(NamedTuple):
    preparations: list[Preparation]
    steps: list[Contraction]
    shape: tuple | None  # how the result of several operands is seen at the end
    summed: tuple  # over what a single operand is summed


@functools.lru_cache(maxsize=256)
def _plan(equation: str, *shapes: tuple) -> Plan:
    """What to do for an equation and operands of these shapes. Raises RuntimeError where they do not fit."""
    text = equation.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(shapes):
        raise RuntimeError(
            f"einsum(): {'fewer' if len(shapes) < len(parts) else 'more'} operands were provided than specified in the "
            "equation"
        )
    terms = [
        _dimensions(len(shape), _letters(p, i, text), i)
        for i, (shape, p) in enumerate(zip(shapes, parts, strict=True))
    ]
    widest = max(sum(letter.startswith(ELLIPSIS) for letter in term) for term in terms)
    order, out_count = _order(terms, output if arrow else None, widest)

    sizes: dict[str, int] = {}
    preparations, aligned = [], []
    for i, (shape, term) in enumerate(zip(shapes, terms, strict=True)):
        diagonals, term, shape = _on_diagonals(list(term), shape, i)
        for letter, n in zip(term, shape, strict=True):
            seen = sizes.get(letter, 1)
            if n not in (1, seen) and seen != 1 and letter.startswith(ELLIPSIS):
                dim = term.index(letter)
                raise RuntimeError(
                    f"einsum(): dimension {dim} covered by ellipsis in operand {i}has size {n} which does not broadcast with "
                    f"previously seen ellipsis with size {seen} for the respective dimension"
                )
            if n not in (1, seen) and seen != 1:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {n} for operand {i} which does not broadcast with previously "
                    f"seen size {seen}"
                )
            sizes[letter] = max(seen, n) if n and seen else 0
        new_dims = range(len(term), len(order))
        term += [letter for letter in order if letter not in term]
        places = tuple(term.index(letter) for letter in order)
        preparations.append(Preparation(diagonals, new_dims, places))
        aligned.append(tuple((shape + (1,) * len(new_dims))[p] for p in places))

    # In how many operands does a dimension still matter? It is summed as soon as that is one product.
    counts = [sum(shape[d] != 1 for shape in aligned) for d in range(len(order))]
    result, steps = aligned[0], []
    for shape in aligned[1:]:
        step, result = _contraction(result, shape, counts, out_count)
        steps.append(step)
    rest = tuple(range(out_count, len(order)))
    if len(shapes) > 1:
        return Plan(preparations, steps, result[:out_count] if rest else None, ())
    return Plan(preparations, steps, None, rest)


def _on_diagonals(term: list[str], shape: tuple, position: int) -> tuple[list, list[str], tuple]:
    """Every letter once: dimensions that share a letter become their diagonal. What to do, letters and shape after it."""
    found = []
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            n, m = shape[first], shape[second]
            if n != m:
                raise RuntimeError(
                    f"einsum(): subscript {letter} is repeated for operand {position} but the sizes don't match, {m} != {n}"
                )
            rest = [d for d in range(len(term)) if d not in (first, second)]
            term, shape = [*(term[d] for d in rest), letter], (*(shape[d] for d in rest), n)
            order = (*range(first), len(term) - 1, *range(first, len(term) - 1))
            term, shape = [term[d] for d in order], tuple(shape[d] for d in order)
            found.append((first, second, order))
    return found, term, shape


def _contraction(left: tuple, right: tuple, counts: list[int], out_count: int) -> tuple[Contraction, tuple]:
    """How to multiply operands of these shapes, and the shape of their product. `counts` is brought up to date."""
    summed, alone = [], ([], [])
    for d in range(out_count, len(counts)):
        wide = left[d] != 1, right[d] != 1
        if all(wide):
            counts[d] -= 1
            if counts[d] == 1:
                summed.append(d)
                counts[d] = 0
        elif counts[d] == 1 and any(wide):
            alone[wide.index(True)].append(d)
            counts[d] = 0
    left = tuple(1 if d in alone[0] else n for d, n in enumerate(left))
    right = tuple(1 if d in alone[1] else n for d, n in enumerate(right))
    shape = tuple(
        1 if d in summed else max(n, m) if n and m else 0
        for d, (n, m) in enumerate(zip(left, right, strict=True))
    )
    product = _as_one_product(left, right, summed, shape) if summed else None
    return Contraction(tuple(alone[0]), tuple(alone[1]), product), shape


def _as_one_product(left: tuple, right: tuple, summed: list[int], shape: tuple) -> tuple:
    """Σ left · right over some dimensions, which stay with length 1, by one `bmm`: (b, rows, sum) @ (b, sum, columns)."""
    both, rows, columns = [], [], []
    for d in range(len(shape)):
        if d not in summed:
            (both if left[d] != 1 and right[d] != 1 else rows if left[d] != 1 else columns).append(d)
    batch, total, height, width = (
        math.prod(sizes[d] for d in dims)
        for sizes, dims in ((left, both), (left, summed), (left, rows), (right, columns))
    )
    places = (*both, *rows, *summed, *columns)
    return (
        (places, (batch, height, total)),
        ((*both, *summed, *columns, *rows), (batch, total, width)),
        tuple(shape[d] for d in places),
        inverse_order(places),
    )


__all__ = ["einsum"]
