"""vmap: a function of one example becomes a function of a batch, with one NumPy call for the whole batch.

Inside, a `Batched` tensor looks like one example and holds all of them, along dimension 0 of `value`. What each
operation does to the whole batch is told by `minigrad.func.batching`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.captured import refuse_captured
from ..autograd.function import Function, refuse_old_form, run_forward
from ..autograd.interpreter import TENSOR_PARAMETERS, Interpreter, Wrapper
from ..ops.inplace import check_shape
from ..ops.shape import broadcast_pair
from ..size import check_dim
from ..tensor import Tensor, wrap
from .functions import batched_value, refuse_unclear_rule
from .pytree import broadcast_prefix, flatten, spec

if TYPE_CHECKING:
    from ..ops.table import Op


def example_of(array: np.ndarray, bdim: int | None) -> np.ndarray:
    """An array of one example's shape and dtype. It holds no example's values, so that none can be used by mistake."""
    if bdim is None:
        return array
    dtype = array.dtype
    filler = fillers.get(dtype)
    if filler is None:
        filler = fillers[dtype] = np.full(1, math.nan if dtype.kind == "f" else 0, dtype)
        filler.flags.writeable = False
    return np.ndarray(array.shape[1:], dtype, filler, 0, (0,) * (array.ndim - 1))


fillers: dict[np.dtype, np.ndarray] = {}


class Batched(Wrapper):
    """One tensor for each example: a `value` whose dimension 0 counts the examples, or the same for all (`bdim` None)."""

    __slots__ = ("extra",)

    @property
    def bdim(self) -> int | None:
        return self.extra

    shown = staticmethod(example_of)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        depth, below = 1, self.level.below
        while below is not None:
            depth, below = depth + 1, below.below
        body = repr(self.value.detach()).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={depth}, bdim={self.bdim}, value=\n    {body}\n)"

    def item(self):
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
            "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
            "internals, please file a bug report."
        )

    def __bool__(self) -> bool:
        raise RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
            "yet, please file an issue at https://github.com/pytorch/pytorch/issues .\nUse where(condition, a, b) instead."
        )

    def numpy(self, *, force: bool = False) -> np.ndarray:
        if not self.level.active:
            self._outside()
        raise RuntimeError(NO_STORAGE)

    def tolist(self) -> list:
        self.numpy()

    @property
    def data(self) -> Tensor:
        raise RuntimeError("accessing `data` under vmap transform is not allowed")

    def stride(self, dim: int | None = None):
        strides = self.value.stride() if self.bdim is None else self.value.stride()[1:]
        return strides if dim is None else strides[check_dim(dim, len(strides))]

    def is_contiguous(self) -> bool:
        expected = 1
        for n, s in zip(reversed(self._array.shape), reversed(self.stride()), strict=True):
            if n != 1 and s != expected:
                return False
            expected *= n
        return True

    def _dynamic(self, name: str) -> None:
        if self.bdim is not None:
            raise RuntimeError(
                f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over {name}. "
                "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.\nThe shape of the "
                "result would differ between the examples."
            )
        self.value._dynamic(name)

    __float__ = __int__ = __index__ = item


NO_STORAGE = (
    "Cannot access data pointer of Tensor that doesn't have storage\nInside vmap a tensor stands for one example of a batch "
    "and has no array of its own. Return it from the function that is mapped."
)


ARITHMETIC = {"sub", "mul", "div", "copy", "masked_fill", "clamp_max", "clamp_min", "maximum", "minimum",
              "logical_and", "logical_or", "logical_xor"}  # fmt: skip
NAMED_BARE = {"fill", "index_put", "index_add", "index_fill", "scatter_add", "scatter_reduce"}
# what PyTorch composes of the operation on all examples and a copy, which does not fit
COMPOSED = {"add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "copysign", "gcd", "lcm"}


def incompatible(name: str) -> RuntimeError:
    """PyTorch's error for writing a value for each example into a tensor that all examples share."""
    called = (
        "inplace arithmetic"
        if name in ARITHMETIC
        else f"{name}_"
        if name in NAMED_BARE
        else f"aten::{name.removesuffix('_')}_"
    )
    return RuntimeError(
        f"vmap: {called}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
        "elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. "
        f"Please try to use out-of-place operators instead of {called}. If said operator is being called inside the PyTorch "
        "framework, please file a bug report instead."
    )


class Vmap(Interpreter):
    """The interpreter of vmap."""

    wrapper = Batched

    def __init__(self, size: int, randomness: str):
        self.size, self.randomness = size, randomness

    def compute(self, op: Op, values: list[Tensor], extras: list, params: tuple, owned: bool) -> tuple:
        batched = extras.count(None) != len(extras)
        if not batched and op.name in TENSOR_PARAMETERS:
            batched = any(map(self.owns, params[0]))
        if batched:
            result = self.run_batched(op, list(zip(values, extras, strict=True)), params)
        else:
            result = op.call(values, *params) if op.variadic else op.call(*values, *params)
        if not owned and not batched:
            return result, None
        return result, (0 if batched else None,) * (len(result) if isinstance(result, tuple) else 1)

    def run_batched(self, op: Op, pairs: list, params: tuple):
        """Do one operation on the whole batch, at the level below. Set by `minigrad.func.batching`."""
        raise NotImplementedError

    def store(self, target: Batched, new: Tensor) -> None:
        value, bdim = self.unwrap(new)
        if bdim is not None and target.bdim is None:
            raise incompatible("copy")
        with self.lowered():
            target.value.copy_(value)

    def created(self, t: Tensor, like: Tensor | None) -> Tensor:
        value, bdim = (like, None) if like is None else self.unwrap(like)
        if bdim is None:
            return self.created_below(t, value)
        each = wrap(np.array(np.broadcast_to(t._array, (self.size, *t._array.shape))), t._requires_grad)
        return Batched.of(self, self.created_below(each, value), 0)

    def refuse_random_write(self, t: Tensor) -> None:
        if self.randomness == "different" and self.unwrap(t)[1] is None:
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
                "randomness. If this is necessary for your usage, please file an issue with functorch.\nMake the tensor with a "
                "`_like` function or new_* from one that differs between the examples."
            )

    def refuse_write(self, op: Op, target: Tensor, values: Sequence[Tensor]) -> None:
        if not values:
            return
        if op.name not in COMPOSED:
            raise incompatible(op.name)
        with self.lowered():
            refuse_captured(op.name, target)
        shape = functools.reduce(broadcast_pair, [v._array.shape for v in values], target._array.shape)
        check_shape(op, (self.size, *shape), target._array.shape)

    def random(self, draw: Callable, args: tuple, kwargs: dict) -> Tensor:
        """A random tensor inside the function that is mapped."""
        if self.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
                "randomness flags on vmap or perform the randomness operation out of vmap"
            )
        with self.lowered():
            if self.randomness == "same":
                return draw(*args, **kwargs)
            return Batched.of(self, Tensor._stack_all([draw(*args, **kwargs) for _ in range(self.size)]), 0)

    def wrapped(self, tree: object, dims: object) -> object:
        """Tensors of the level below as tensors of this one; `dims` like `tree`, a tuple or one."""
        if isinstance(tree, tuple):
            return tuple([self.wrapped(t, d) for t, d in zip(tree, dims, strict=True)])
        return tree if dims is None or not isinstance(tree, Tensor) else Batched.of(self, tree, 0)

    def process_function(self, cls: type[Function], args: tuple) -> object:
        refuse_old_form(cls)
        refuse_unclear_rule(cls)
        if not any(isinstance(a, Tensor) and self.owns(a) for a in args):
            with self.lowered():
                return cls.apply(*args)
        return run_forward(cls, args, lambda: batched_value(self, cls, args))[0]


# ---------------------------------------------------------------- the transform


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """`func` of one example as a function of a batch.

    in_dims: which dimension of each argument counts the examples; None for arguments that all examples share. One
        number for all, or a structure like the arguments. out_dims: where that dimension goes in the results.
    randomness: "error" refuses random functions inside, "same" gives all examples the same numbers, "different" not.
    chunk_size: work through the batch in pieces of this size.
    Raises ValueError for in_dims that do not fit, RuntimeError for values that Python has to know (`.item()`, `if`).
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        for dim in flatten(out_dims)[0]:
            if not (dim is None or isinstance(dim, int)):
                raise ValueError(
                    f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection "
                    "of ints representing where in the outputs the vmapped dimension should appear."
                )
        leaves, dims, rebuild = check_in_dims(func, in_dims, args)
        size = batch_size_of(leaves, dims)
        if chunk_size is not None and chunk_size < size:
            return in_chunks(func, leaves, dims, rebuild, out_dims, randomness, kwargs, size, chunk_size)
        return run(func, leaves, dims, rebuild, out_dims, randomness, kwargs, size)

    return batched


def name_of(func: Callable) -> str:
    return getattr(func, "__name__", repr(func))


def check_in_dims(func: Callable, in_dims: Any, args: tuple) -> tuple[list, list, Callable]:
    """The arguments' leaves with the batch dimension of each."""
    call = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    leaves, rebuild = flatten(args)
    dims = broadcast_prefix(in_dims, args)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has structure {spec(in_dims)} but "
            f"inputs has structure {spec(args)}."
        )
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{call}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} so "
                f"expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
        dims[i] = dim % leaf.dim()
    return leaves, dims, rebuild


def batch_size_of(leaves: list, dims: list) -> int:
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(s != sizes[0] for s in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    return sizes[0]


def run(func, leaves, dims, rebuild, out_dims, randomness, kwargs, size) -> Any:
    """Wrap the arguments, call the function, unwrap the results."""
    moved = [t if d in (None, 0) else t.movedim(d, 0) for t, d in zip(leaves, dims, strict=True)]
    with Vmap(size, randomness) as level:
        wrapped = [t if d is None else Batched.of(level, t, 0) for t, d in zip(moved, dims, strict=True)]
        result = func(*rebuild(wrapped), **kwargs)
    outs, rebuild_out = flatten(result)
    wanted = broadcast_prefix(like_result(out_dims, result), result)
    if wanted is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {spec(out_dims)} but outputs has structure {spec(result)}."
        )
    return rebuild_out(
        [placed(func, level, out, dim, size, out_dims) for out, dim in zip(outs, wanted, strict=True)]
    )


def like_result(out_dims: Any, result: Any) -> Any:
    """out_dims as given, except that (0,) may stand for 0 if there is one result."""
    return (
        out_dims[0]
        if isinstance(out_dims, tuple) and isinstance(result, Tensor) and len(out_dims) == 1
        else out_dims
    )


def placed(func: Callable, level: Vmap, out: object, dim: int | None, size: int, out_dims: Any) -> Tensor:
    """One result without its wrapper, the examples counted by dimension `dim`."""
    if dim is None and not isinstance(out, Tensor):
        return out
    if not isinstance(out, Tensor):
        raise ValueError(
            f"vmap({name_of(func)}, ...): `{name_of(func)}` must only return Tensors, got type {type(out)}. Did you mean to "
            "set out_dims= to None for output?"
        )
    value, bdim = level.unwrap(out)
    if dim is None:
        if bdim is not None:
            raise ValueError(
                f"vmap({name_of(func)}, ...): `{name_of(func)}` can not return a BatchedTensor when out_dim is None"
            )
        return value
    if bdim is None:
        value = value.unsqueeze(0).expand(size, *value.shape)
    ndim = value.dim()
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
        )
    return value if dim % ndim == 0 else value.movedim(0, dim)


def in_chunks(func, leaves, dims, rebuild, out_dims, randomness, kwargs, size, chunk_size) -> Any:
    """The batch in pieces, one after the other; the results joined."""
    from ..ops.joining import cat

    pieces, rebuild_out = [], None
    for start in range(0, size, chunk_size):
        length = min(chunk_size, size - start)
        part = [t if d is None else t.narrow(d, start, length) for t, d in zip(leaves, dims, strict=True)]
        outs, rebuild_out = flatten(run(func, part, dims, rebuild, out_dims, randomness, kwargs, length))
        pieces.append(outs)
    joined = rebuild_out(pieces[0])
    wanted = broadcast_prefix(out_dims, joined) or [0] * len(pieces[0])
    return rebuild_out(
        [
            parts[0] if dim is None else cat(list(parts), dim)
            for parts, dim in zip(zip(*pieces, strict=True), wanted, strict=True)
        ]
    )


__all__ = ["Batched", "Vmap", "vmap"]
