"""vmap: a function that is mapped over a batch: which dimensions of its arguments and results count the examples."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import messages
from ..checks import check
from ..ops.shape import cat
from ..tensor import Tensor
from .batching import Batched, Vmap
from .trees import flattened, spread, structure

Dims = Any  # an int, None, or a tuple, list or dictionary of these, nested like the argument or result


def vmap(
    func: Callable,
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """Turn `func` of one example into a function of a batch.

    in_dims: the dimension that counts the examples, None for arguments that all examples share: one for all arguments, or
        nested like them. out_dims: the same for the results.
    randomness: "error" refuses random numbers, "same" draws them once for all examples, "different" for each.
    chunk_size: how many examples are computed at a time, to save memory.
    Raises ValueError for dimensions that do not fit, RuntimeError for values that Python has to know (`.item()`, `if`).
    """
    name = getattr(func, "__name__", repr(func))
    message = "vmap: chunk_size should be None or greater than 0. (got {})"
    check(chunk_size is None or chunk_size > 0, message, chunk_size, error=ValueError)
    message = "Only allowed values for randomness are 'error', 'different', or 'same'. Got {}"
    check(randomness in ("error", "different", "same"), message, randomness)

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        check(args, messages.VMAP_NO_INPUTS, name, error=ValueError)
        given = name, repr(in_dims), str(type(in_dims))
        check(isinstance(in_dims, (int, tuple)), messages.VMAP_IN_DIMS, *given, error=ValueError)
        dims = fitting(in_dims, args, "in_dims", "inputs")
        leaves, rebuild = flattened(args)
        leaves = [turned(d, leaf) for d, leaf in zip(dims, leaves, strict=True)]
        sizes = [leaf.shape[0] for d, leaf in zip(dims, leaves, strict=True) if d is not None]
        check(sizes, "vmap: Expected at least one Tensor to vmap over", error=ValueError)
        check(len(set(sizes)) == 1, messages.VMAP_SIZES, sizes, error=ValueError)

        def run(start: int, count: int) -> Any:
            with Vmap(count, randomness) as level:
                inside = []
                for d, leaf in zip(dims, leaves, strict=True):
                    part = leaf if d is None or count == sizes[0] else leaf.narrow(0, start, count)
                    inside.append(leaf if d is None else Batched.of(level, part, 0))
                result = func(*rebuild(inside), **kwargs)
            places = fitting(out_dims, result, "out_dims", "outputs")
            outs, rebuild_out = flattened(result)
            return places, [level.placed(name, *p) for p in zip(outs, places, strict=True)], rebuild_out

        step = chunk_size or sizes[0] or 1
        parts = [run(start, min(step, sizes[0] - start)) for start in range(0, max(sizes[0], 1), step)]
        places, first, rebuild_out = parts[0]
        if len(parts) == 1:
            return rebuild_out(first)
        columns = zip(places, zip(*[outs for _, outs, _ in parts], strict=True), strict=True)
        return rebuild_out(c[0] if d is None else cat(list(c), d) for d, c in columns)

    def fitting(dims: Dims, tree: Any, which: str, what: str) -> list:
        """The dimension for each leaf. Raises PyTorch's error if they are not nested like the leaves."""
        alone = isinstance(tree, Tensor) and isinstance(dims, tuple) and len(dims) == 1
        results = list(dims) if alone and which == "out_dims" else spread(dims, tree)
        call = f"in_dims={dims}, ..." if which == "in_dims" else f"..., out_dims={dims}"
        fits = results is not None and {int, type(None)}.issuperset(map(type, results))
        shown = name, call, which, what, structure(dims), structure(tree)
        check(fits, messages.VMAP_STRUCTURE, *shown, error=ValueError)
        return results

    def turned(dim: int | None, t: object) -> object:
        """An input whose dimension 0 counts the examples. Raises PyTorch's errors for any other input."""
        if dim is None:
            return t
        got = name, str(in_dims), dim
        check(isinstance(t, Tensor), messages.VMAP_NOT_TENSOR, *got, str(type(t)), error=ValueError)
        check(-t.ndim <= dim < t.ndim, messages.VMAP_IN_DIM, *got, t.ndim, error=ValueError)
        return t.movedim(dim, 0) if dim else t

    return batched
