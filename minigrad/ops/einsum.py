"""`einsum`: sums of products written with index letters, done as PyTorch does them, by permutations and `bmm`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..tensor import Tensor
from .arranging import diagonal
from .linalg import bmm
from .pointwise import mul
from .shape import _permute, _unsqueeze, inverse_order, reshape, view

ELLIPSIS = "..."


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


def _dimensions(operand: Tensor, letters: list[str], position: int) -> list[str]:
    """A letter for each dimension of an operand; those of the ellipsis are called "...0", "...1", counted from the right."""
    n = operand._array.ndim
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


def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """The sum of products over the index letters that the output does not name: "ij,jk->ik" is a matrix product.

    A letter that an operand names twice stands for its diagonal; "..." for further dimensions, which are broadcast.
    Raises RuntimeError for equations that do not fit the operands.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise RuntimeError("einsum(): must provide at least one operand")
    text = equation.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(operands):
        raise RuntimeError(
            f"einsum(): {'fewer' if len(operands) < len(parts) else 'more'} operands were provided than specified in the "
            "equation"
        )
    terms = [
        _dimensions(t, _letters(p, i, text), i) for i, (t, p) in enumerate(zip(operands, parts, strict=True))
    ]
    widest = max(sum(letter.startswith(ELLIPSIS) for letter in term) for term in terms)
    order, out_count = _order(terms, output if arrow else None, widest)

    sizes: dict[str, int] = {}
    prepared = []
    for i, (operand, term) in enumerate(zip(operands, terms, strict=True)):
        operand, term = _on_diagonals(operand, list(term), i)
        for letter, n in zip(term, operand._array.shape, strict=True):
            seen = sizes.get(letter, 1)
            if n not in (1, seen) and seen != 1:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {n} for operand {i} which does not broadcast with previously "
                    f"seen size {seen}"
                )
            sizes[letter] = max(seen, n) if n and seen else 0
        prepared.append(_aligned(operand, term, order))

    # In how many operands does a dimension still matter? It is summed as soon as that is one product.
    counts = [sum(t._array.shape[d] != 1 for t in prepared) for d in range(len(order))]
    result = prepared[0]
    for operand in prepared[1:]:
        result = _contracted(result, operand, counts, out_count)
    if len(order) == out_count:
        return result
    if len(prepared) > 1:
        return view(result, result._array.shape[:out_count])
    return result.sum(tuple(range(out_count, len(order))))


def _contracted(left: Tensor, right: Tensor, counts: list[int], out_count: int) -> Tensor:
    """The product of two operands, summed over the dimensions that no later operand has."""
    summed, alone = [], ([], [])
    for d in range(out_count, len(counts)):
        wide = left._array.shape[d] != 1, right._array.shape[d] != 1
        if all(wide):
            counts[d] -= 1
            if counts[d] == 1:
                summed.append(d)
                counts[d] = 0
        elif counts[d] == 1 and any(wide):
            alone[wide.index(True)].append(d)
            counts[d] = 0
    if alone[0]:
        left = left.sum(tuple(alone[0]), keepdim=True)
    if alone[1]:
        right = right.sum(tuple(alone[1]), keepdim=True)
    return _sum_of_product(left, right, summed) if summed else mul(left, right)


def _on_diagonals(operand: Tensor, term: list[str], position: int) -> tuple[Tensor, list[str]]:
    """Every letter once: dimensions that share a letter become their diagonal."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            n, m = operand._array.shape[first], operand._array.shape[second]
            if n != m:
                raise RuntimeError(
                    f"einsum(): subscript {letter} is repeated for operand {position} but the sizes don't match, {m} != {n}"
                )
            operand = diagonal(operand, 0, first, second)
            term = [c for d, c in enumerate(term) if d not in (first, second)] + [letter]
            order = [*range(first), len(term) - 1, *range(first, len(term) - 1)]
            operand, term = _permute(operand, tuple(order)), [term[d] for d in order]
    return operand, term


def _aligned(operand: Tensor, term: list[str], order: list[str]) -> Tensor:
    """The operand with one dimension for each letter of `order`, of length 1 for those that it does not name."""
    term = list(term)
    for letter in order:
        if letter not in term:
            operand = _unsqueeze(operand, operand._array.ndim)
            term.append(letter)
    return _permute(operand, tuple(term.index(letter) for letter in order))


def _sum_of_product(left: Tensor, right: Tensor, summed: list[int]) -> Tensor:
    """Σ left · right over some dimensions, which stay with length 1, by one `bmm`: (b, rows, sum) @ (b, sum, columns)."""
    n, both, rows, columns = left._array.ndim, [], [], []
    left_shape, right_shape = left._array.shape, right._array.shape
    for d in range(n):
        if d not in summed:
            wide_left, wide_right = left_shape[d] != 1, right_shape[d] != 1
            (both if wide_left and wide_right else rows if wide_left else columns).append(d)
    batch, total, height, width = (
        math.prod(shape[d] for d in dims)
        for shape, dims in (
            (left_shape, both),
            (left_shape, summed),
            (left_shape, rows),
            (right_shape, columns),
        )
    )
    a = reshape(_permute(left, (*both, *rows, *summed, *columns)), (batch, height, total))
    b = reshape(_permute(right, (*both, *summed, *columns, *rows)), (batch, total, width))
    places = (*both, *rows, *summed, *columns)
    sizes = tuple(
        1 if d in summed else max(left_shape[d], right_shape[d]) if left_shape[d] and right_shape[d] else 0
        for d in places
    )
    return _permute(view(bmm(a, b), sizes), inverse_order(places))


__all__ = ["einsum"]
