"""vmap: a function that is mapped over a batch: which dimensions of its arguments and results count the examples."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..messages import check
from ..ops.shape import cat
from ..tensor import Tensor
from .batching import Batched, Vmap
from .trees import flattened, spread, structure

Dims = Any  # an int, None, or a tuple, list or dictionary of them that is nested as what it speaks of


def vmap(
    func: Callable,
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """`func` of one example as a function of a batch.

    in_dims: which dimension counts the examples, None in arguments that all examples share: one for all, or nested as the
        arguments are. out_dims: the same for the results.
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
        text = f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
        check(args, text + "function with no inputs. The latter is unsupported.", error=ValueError)
        text = f"vmap({name}, {in_dims=}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
        text += f"matching the structure of inputs, got: {type(in_dims)}."
        check(isinstance(in_dims, (int, tuple)), "{}", text, error=ValueError)
        dims = fitting(in_dims, args, "in_dims", "inputs")
        leaves, rebuild = flattened(args)
        leaves = [turned(d, leaf) for d, leaf in zip(dims, leaves, strict=True)]
        sizes = [leaf.shape[0] for d, leaf in zip(dims, leaves, strict=True) if d is not None]
        check(sizes, "vmap: Expected at least one Tensor to vmap over", error=ValueError)
        text = "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped dimension"
        check(len(set(sizes)) == 1, text, sizes, error=ValueError)

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
        """The dimension for each leaf. Raises PyTorch's error if they are nested otherwise than the leaves are."""
        alone = isinstance(tree, Tensor) and isinstance(dims, tuple) and len(dims) == 1
        results = list(dims) if alone and which == "out_dims" else spread(dims, tree)
        call = f"in_dims={dims}, ..." if which == "in_dims" else f"..., out_dims={dims}"
        message = f"vmap({name}, {call})(<inputs>): {which} is not compatible with the structure of `{what}`."
        message += f" {which} has structure {structure(dims)} but {what} has structure {structure(tree)}."
        if results is None or {*map(type, results)} - {int, type(None)}:
            raise ValueError(message)
        return results

    def turned(dim: int | None, t: object) -> object:
        """An input whose dimension 0 counts the examples. Raises PyTorch's errors for any other input."""
        if dim is None:
            return t
        got = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for"
        if not isinstance(t, Tensor):
            message = f"an input but the input is of type {type(t)}. We cannot vmap over non-Tensor arguments, please use None"
            raise ValueError(f"{got} {message} as the respective in_dim")
        if not -t.ndim <= dim < t.ndim:
            message = f"some input, but that input is a Tensor of dimensionality {t.ndim} so expected in_dim to satisfy"
            raise ValueError(f"{got} {message} -{t.ndim} <= in_dim < {t.ndim}.")
        return t.movedim(dim, 0) if dim else t

    return batched
