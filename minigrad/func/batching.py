"""vmap: a function of one example becomes a function of a batch, with one NumPy call for the whole batch.

Inside, a `Batched` tensor looks like one example and holds all of them, along dimension 0 of `value`. How an operation
runs on the whole batch follows from its declaration: elementwise operands are lined up from the right; parameters that are
dimensions of one example are shifted by one, sizes get the batch in front. `batch=` covers the rest: one of the words in
WAYS, or a function that composes the operation from others, as for one example. All other operations run in a loop.
"""

from __future__ import annotations

import functools
import warnings
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes, messages
from ..autograd.function import Function, refuse_old_form, run_forward
from ..basics import check
from ..missing import SENTENCE
from ..ops.general import dispatch
from ..ops.indexing import index
from ..ops.op import Op
from ..ops.shape import cat, stack, undone
from ..tensor import Tensor, wrap
from .interpreter import Interpreter, Wrapper, at, each, results_of, tensors_in
from .trees import flattened, spread, structure

# A value, and 0 if its dimension 0 runs over the examples or None if they share it.
Pair = tuple[Tensor | None, int | None]
Dims = Any  # an int, None, or a tuple, list or dictionary of these, nested like the arguments or results
# The kinds of parameters that refer to the dimensions of one example, and how they are changed for a batch of `n`.
SHIFT = {"dims": lambda n, dims: tuple(d + 1 for d in dims)}
SHIFT |= dict.fromkeys(["dim", "front", "newdim"], lambda n, dim: dim + 1)
SHIFT |= dict.fromkeys(["size", "shape"], lambda n, size: (n, *size))
SHIFT["order"] = lambda n, dims: (0, *[d + 1 for d in dims])
DYNAMIC = {"masked_select", "nonzero", "unique"}  # operations whose result's shape depends on the values
# the batch, as passed to the `vmap` of a custom Function
VmapInfo = namedtuple("VmapInfo", "batch_size randomness")


def refused_batch(text: str) -> Callable:
    """A method of Batched that raises this error, or says that the tensor has escaped from its vmap."""

    def refuse(self: Batched, **options: bool) -> None:
        raise RuntimeError(text if self.level.active else messages.VMAP_ESCAPED)

    return refuse


class Batched(Wrapper):
    """One tensor for each example: a `value` whose dimension 0 runs over the examples, or that all share (`bdim` None)."""

    __slots__ = ()
    bdim = property(lambda self: self.extra, doc="The dimension of `value` for the examples: 0, or None.")

    @staticmethod
    def shown(array: np.ndarray, extra: int | None) -> np.ndarray:
        if extra is None:
            return array
        return array[0, ...] if len(array) else np.zeros(array.shape[1:], array.dtype)

    def __repr__(self) -> str:
        depth, level = 0, self.level
        while level is not None:
            depth, level = depth + 1, level.below
        body = repr(self.value.detach()).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={depth}, bdim={self.bdim}, value=\n    {body}\n)"

    item = __float__ = __int__ = __index__ = refused_batch(messages.VMAP_ITEM)
    __bool__ = refused_batch(messages.VMAP_IF)
    numpy = tolist = refused_batch(messages.VMAP_ARRAY)
    data = property(numpy)
    _outside = refused_batch(messages.VMAP_ESCAPED)


class Vmap(Interpreter):
    """The interpreter of vmap."""

    wrapper = Batched

    def __init__(self, size: int, randomness: str = "error"):
        self.size, self.randomness = size, randomness
        self.drawn = False  # whether an array has just been drawn, with separate numbers for each example

    # ------------------------------------------------------------ operations

    def compute(self, op: Op, values: tuple, extras: tuple, params: tuple) -> tuple[object, Sequence | None]:
        if 0 not in extras and not any(self.unwrap(t)[1] == 0 for t in tensors_in(params)):
            return dispatch(op, values, self.lower(params)), None
        result = self.batched(op, list(zip(values, extras, strict=True)), params)
        return result, (0,) * len(results_of(result))

    def batched(self, op: Op, pairs: list[Pair], params: tuple) -> object:
        """One operation on the whole batch, by operations of the level below."""
        first = Vmap.composed if callable(op.batch) else WAYS.get(op.batch or op.kind, Vmap.shifted)
        for way in (first, Vmap.shifted, Vmap.one_by_one):
            result = way(self, op, pairs, params)
            if result is not NotImplemented:
                return result

    def composed(self, op: Op, pairs: list[Pair], params: tuple) -> object:
        """Compose the operation from others, as for one example."""
        examples = [None if v is None else Batched.of(self, v, d) for v, d in pairs]
        result = at(self, op.batch, *((examples,) if op.variadic else examples), *params)
        return result if result is NotImplemented else each(result, lambda r: self.whole(self.unwrap(r)))

    def shifted(self, op: Op, pairs: list[Pair], params: tuple) -> object:
        """Change parameters that refer to one example's dimensions and sizes so that they refer to the batch's."""
        kinds = [op.signature.kinds[name] for name in op.params]
        if SHIFT.keys().isdisjoint(kinds) or ("dim", None) in zip(kinds, params, strict=True):
            return NotImplemented
        values = [self.whole(p) for p in pairs]
        number = values[0]._array.ndim == 1 and not {"dim", "dims", "front"}.isdisjoint(kinds)
        if number:  # dimension 0 of a number is allowed, since it counts as a vector of length 1
            values = [v if v is None else v.unsqueeze(1) for v in values]
            params = [p or (0,) if kind == "dims" else p for kind, p in zip(kinds, params, strict=True)]
        new = [SHIFT[k](self.size, p) if k in SHIFT else p for k, p in zip(kinds, params, strict=True)]
        result = dispatch(op, values, tuple(new))
        return each(result, lambda r: r.reshape(self.size, *r.shape[2:])) if number else result

    def one_by_one(self, op: Op, pairs: list[Pair], params: tuple) -> object:
        """The operation on each example, in a loop: correct but slow, so it warns."""
        dynamic = op.name in DYNAMIC or any(map(self.owns, tensors_in(params)))
        check(not dynamic, messages.VMAP_DYNAMIC, op.name)
        rows = []
        for k in range(self.size):
            result = dispatch(op, [v if d is None else v.select(0, k) for v, d in pairs], params)
            rows.append(results_of(result))
        warnings.warn(messages.VMAP_SLOW.format(op.name), stacklevel=2)
        outs = tuple(stack(list(column)) for column in zip(*rows, strict=True))
        return outs if isinstance(result, tuple) else outs[0]

    def whole(self, pair: Pair) -> Tensor | None:
        """The value with a batch dimension, expanded if it had none."""
        value, bdim = pair
        shared = value is not None and bdim is None
        return value.unsqueeze(0).expand(self.size, *value.shape) if shared else value

    def placed(self, name: str, out: object, out_dim: int | None) -> object:
        """One result without its wrapper, with the examples along `out_dim`; if that is None, the value that they share."""
        if out_dim is None:
            value, bdim = self.unwrap(out)
            check(bdim is None, messages.VMAP_OUT_NONE, name, error=ValueError)
            return value
        check(isinstance(out, Tensor), messages.VMAP_OUT, name, str(type(out)), error=ValueError)
        rows = self.whole(self.unwrap(out))
        return rows.movedim(0, out_dim) if out_dim else rows

    # ------------------------------------------------------------ writing, making tensors, custom Functions

    def admit(self, op: Op, target: Tensor, values: list) -> None:
        shared = self.unwrap(target)[1] is None and any(self.unwrap(v)[1] is not None for v in values)
        check(not shared, messages.VMAP_SHARED, op.name)

    def store(self, target: Batched, new: Tensor) -> None:
        target.value.copy_(self.unwrap(new)[0])

    def created(self, t: Tensor, like: Tensor | None) -> Tensor:
        drawn, self.drawn = self.drawn, False
        if drawn:
            return Batched.of(self, super().created(t, like), 0)
        if self.unwrap(like)[1] is None:
            return super().created(t, like)
        batch = wrap(np.array(np.broadcast_to(t._array, (self.size, *t._array.shape))), t._requires_grad)
        return Batched.of(self, super().created(batch, like), 0)

    def source(self, generator: object) -> object:
        check(self.randomness != "error", messages.VMAP_RANDOM)
        below = super().source(generator)
        return below if self.randomness == "same" else ForEach(self, below)

    def process_function(self, cls: type[Function], args: tuple) -> object:
        refuse_old_form(cls)
        values, in_dims = zip(*map(self.unwrap, args), strict=True) if args else ((), ())
        if 0 not in in_dims:
            return at(self.below, cls.apply, *values)
        rule = "`generate_vmap_rule` of a Function"
        check(not cls.generate_vmap_rule, SENTENCE, rule, error=NotImplementedError)
        check(cls.vmap is not Function.vmap, messages.VMAP_FUNCTION, cls.__name__)
        result, out_dims = at(self.below, cls.vmap, VmapInfo(self.size, self.randomness), in_dims, *values)
        outs, rebuild = flattened(result)
        places = zip(outs, spread(out_dims, result), strict=True)
        results = rebuild(out if d is None else Batched.of(self, out.movedim(d, 0), 0) for out, d in places)
        return run_forward(cls, args, (results,))[0]


class ForEach:
    """A source of random numbers that draws for each example of a batch."""

    def __init__(self, level: Vmap, below: object):
        self.level, self.below = level, below

    def __getattr__(self, name: str) -> Callable:
        """The method of the source below: called once for a shape with the examples in front, or once per example."""
        draw = getattr(self.below, name)

        def for_each(*args: object) -> np.ndarray:
            self.level.drawn = True
            if not any(isinstance(a, tuple) for a in args):
                return np.stack([draw(*args) for _ in range(self.level.size)])
            return draw(*[(self.level.size, *a) if isinstance(a, tuple) else a for a in args])

        return for_each


# ---------------------------------------------------------------- ways to run an operation on a whole batch


def aligned(pairs: Sequence[Pair]) -> list[Tensor | None]:
    """The values with their examples' dimensions lined up from the right, so that they broadcast as the examples do."""
    ndim = max(v._array.ndim - (d is not None) for v, d in pairs if v is not None)
    return [v if v is None or d is None else in_front(v, ndim) for v, d in pairs]


def in_front(value: Tensor, ndim: int) -> Tensor:
    """A batch whose examples are given dimensions of length 1 in front, up to `ndim`."""
    size, *rest = value._array.shape
    return value if len(rest) >= ndim else value.reshape(size, *(1,) * (ndim - len(rest)), *rest)


def by_element(level: Vmap, op: Op, pairs: list[Pair], params: tuple) -> object:
    """Promote two operands as their examples would be: a number for each example is still a number."""
    if len(pairs) == 2 == len(op.differentiable or pairs) and pairs[0][0].dtype is not pairs[1][0].dtype:
        parts = [(v._array.dtype, 2 if v._array.ndim > (d is not None) else 1) for v, d in pairs]
        wanted = dtypes.of_numpy(dtypes.promote(parts))
        pairs = [(v.to(wanted), d) for v, d in pairs]
    return dispatch(op, aligned(pairs), params)


def products(level: Vmap, op: Op, pairs: list[Pair], params: tuple) -> Tensor:
    """Products of matrices and vectors: vectors as matrices, then matmul, which broadcasts."""
    (a, a_dim), (b, b_dim) = pairs
    row, column = a._array.ndim == 1 + (a_dim == 0), b._array.ndim == 1 + (b_dim == 0)
    a, b = aligned([(a.unsqueeze(-2) if row else a, a_dim), (b.unsqueeze(-1) if column else b, b_dim)])
    if a.shape[-1] != b.shape[-2]:
        return NotImplemented  # so that the operation itself raises the error
    out = a.matmul(b)
    out = out.squeeze(-1) if column else out
    return out.squeeze(-1 if column else -2) if row else out


def folded_batch(level: Vmap, op: Op, pairs: list[Pair], params: tuple) -> object:
    """The batch folded into dimension 0 of the first input: more images for one kernel."""
    (value, bdim), *others = pairs
    if bdim is None or any(d is not None for _, d in others):
        return NotImplemented
    result = dispatch(op, [value.reshape(-1, *value.shape[2:]), *[v for v, _ in others]], params)
    return each(result, lambda r: r.reshape(level.size, -1, *r.shape[1:]))


def selected(level: Vmap, op: Op, pairs: list[Pair], params: tuple) -> object:
    """Advanced indexing, reading and writing: one more index tensor, the example's number, joins the others."""
    indices, *more = params
    given = [(i, *level.unwrap(t)) for i, t in enumerate(indices) if t is not None]
    first, value = given[0][0], level.whole(pairs[0])
    if any(t._array.dtype.kind == "b" for _, t, _ in given):
        return NotImplemented
    n = max(t._array.ndim - (d is not None) for _, t, d in given)
    number = wrap(np.arange(level.size).reshape(-1, *(1,) * n))
    tensors = iter(aligned([*[p[1:] for p in given], (number, 0)]))
    new = (number, *[t if t is None else next(tensors) for t in indices])
    read = index(value, new)
    # NumPy puts the selection right after the examples; PyTorch, where the indices were, if adjacent
    lead = first if given[-1][0] - first + 1 == len(given) else 0
    order = [0, *range(1 + n, 1 + n + lead), *range(1, 1 + n), *range(1 + n + lead, read.ndim)]
    if len(pairs) == 1:
        return read.permute(order)
    source = in_front(level.whole(pairs[1]), read.ndim - 1).expand([read.shape[d] for d in order])
    return dispatch(op, [value, source.permute(undone(order))], (new, *more))


WAYS: dict[str | None, Callable] = {
    "elementwise": by_element,
    "rows": lambda level, op, pairs, more: dispatch(op, aligned([(level.whole(p), 0) for p in pairs]), more),
    "expand": lambda level, op, pairs, params: dispatch(
        op, [in_front(pairs[0][0], len(params[0]))], ((level.size, *params[0]),)
    ),
    # inputs with unrelated shapes
    "apart": lambda level, op, pairs, more: dispatch(
        op, [level.whole(pairs[0]), *[v for v, _ in pairs[1:]]], more
    ),
    "matmul": products,
    "fold": folded_batch,
    "index": selected,
}


# ---------------------------------------------------------------- what users call


def vmap(
    func: Callable, in_dims: Dims = 0, out_dims: Dims = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable:  # fmt: skip
    """Turn `func` of one example into a function of a batch.

    in_dims: the dimension that runs over the examples, None if all examples share the argument; one value for all arguments,
        or nested like them. out_dims: the same for the results.
    randomness: "error" refuses random numbers, "same" draws them once for all examples, "different" for each example.
    chunk_size: how many examples are computed at a time, to save memory.
    Raises ValueError for dimensions that do not fit, RuntimeError where Python needs a value (`.item()`, `if`).
    """
    name = getattr(func, "__name__", repr(func))
    check(chunk_size is None or chunk_size > 0, messages.VMAP_CHUNK, chunk_size, error=ValueError)
    check(randomness in ("error", "different", "same"), messages.VMAP_RANDOMNESS, randomness)

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
        """The dimension for each leaf. Raises PyTorch's error if `dims` is not nested like `tree`."""
        alone = isinstance(tree, Tensor) and isinstance(dims, tuple) and len(dims) == 1
        results = list(dims) if alone and which == "out_dims" else spread(dims, tree)
        call = f"in_dims={dims}, ..." if which == "in_dims" else f"..., out_dims={dims}"
        fits = results is not None and {int, type(None)}.issuperset(map(type, results))
        shown = name, call, which, what, structure(dims), structure(tree)
        check(fits, messages.VMAP_STRUCTURE, *shown, error=ValueError)
        return results

    def turned(dim: int | None, t: object) -> object:
        """An input with the examples along dimension 0. Raises PyTorch's errors if it has no dimension `dim`."""
        if dim is None:
            return t
        got = name, str(in_dims), dim
        check(isinstance(t, Tensor), messages.VMAP_NOT_TENSOR, *got, str(type(t)), error=ValueError)
        check(-t.ndim <= dim < t.ndim, messages.VMAP_IN_DIM, *got, t.ndim, error=ValueError)
        return t.movedim(dim, 0) if dim else t

    return batched
