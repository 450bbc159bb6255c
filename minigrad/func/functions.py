"""Custom Functions under vmap: with a `vmap` of their own, or with one generated from forward and backward.

A generated rule is again a Function, at the level below: its forward, backward and jvp are those of the original, run at
the vmap's level. So whatever stands below, an outer derivative or another vmap, meets a custom Function there, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..autograd.function import Function, FunctionCtx
from ..tensor import Tensor
from .pytree import broadcast_prefix, flatten, spec

if TYPE_CHECKING:
    from .vmap import Vmap

MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a Function's `vmap` is told: the batch size and the randomness that was asked for."""

    batch_size: int
    randomness: str


def refuse_unclear_rule(cls: type[Function]) -> None:
    """Raise PyTorch's error for a Function that has no rule for vmap, or two."""
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            f"staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. "
            f"{MORE}"
        )
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap "
            f"staticmethod or set generate_vmap_rule=True. {MORE}"
        )


def batched_value(level: Vmap, cls: type[Function], args: tuple) -> object:
    """The result of a Function for the whole batch, as a tensor of `level` without history there."""
    pairs = [level.unwrap(a) if isinstance(a, Tensor) else (a, None) for a in args]
    values, dims = [v for v, _ in pairs], tuple(b for _, b in pairs)
    with level.lowered():
        if cls.generate_vmap_rule:
            rule = generated(level, cls, dims)
            result = rule.apply(*values)
            return level.wrapped(result, rule.out_dims)
        found = cls.vmap(VmapInfo(level.size, level.randomness), dims, *values)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise RuntimeError(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
                f"with the output. Got a {type(found)} instead"
            )
        result, out_dims = found
        leaves, rebuild = flatten(result)
        dims = broadcast_prefix(out_dims, result)
        if dims is None:
            raise RuntimeError(
                "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
                f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
                f"{spec(out_dims)} but output has structure {spec(result)}. {MORE}"
            )
        moved = [t if d in (None, 0) else t.movedim(d, 0) for t, d in zip(leaves, dims, strict=True)]
    return rebuild([level.wrapped(t, None if d is None else 0) for t, d in zip(moved, dims, strict=True)])


class BatchedCtx:
    """The `ctx` that forward, backward and jvp see at the vmap's level; what they save is kept at the level below."""

    def __init__(self, level: Vmap, ctx: FunctionCtx):
        self.__dict__.update(level=level, ctx=ctx)

    def __getattr__(self, name: str) -> object:
        return getattr(self.ctx, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.ctx, name, value)

    def lowered(self, tensors: Sequence[Tensor | None]) -> tuple[list, list]:
        pairs = [(None, None) if t is None else self.level.unwrap(t) for t in tensors]
        return [v for v, _ in pairs], [b for _, b in pairs]

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        values, self.ctx.saved_dims = self.lowered(tensors)
        self.ctx.save_for_backward(*values)

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        values, self.ctx.forward_dims = self.lowered(tensors)
        self.ctx.save_for_forward(*values)

    def mark_dirty(self, *tensors: Tensor) -> None:
        self.ctx.mark_dirty(*self.lowered(tensors)[0])

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        self.ctx.mark_non_differentiable(*self.lowered(tensors)[0])

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        forward = self.ctx.reads_forward and self.ctx.saved_for_forward is not None
        return self.level.wrapped(
            self.ctx.saved_tensors, self.ctx.forward_dims if forward else self.ctx.saved_dims
        )

    @property
    def saved_for_forward(self) -> tuple[Tensor | None, ...]:
        return self.level.wrapped(tuple(self.ctx.saved_for_forward), self.ctx.forward_dims)


def generated(level: Vmap, cls: type[Function], in_dims: tuple) -> type[Function]:
    """`cls` on whole batches: a Function of the level below. `out_dims` is known after its forward has run.

    Backward may run when `level` has ended, and below other transforms, so each part has a level of its own.
    """

    def mapping() -> Vmap:
        return type(level)(level.size, level.randomness)

    def as_tuple(result: object) -> tuple:
        return result if isinstance(result, tuple) else (result,)

    def stretched(t: Tensor) -> Tensor:
        return t.unsqueeze(0).expand(level.size, *t.shape)

    class Generated(Function):
        generate_vmap_rule = True
        out_dims: object = None

        @staticmethod
        def forward(*values: object) -> object:
            with mapping() as own:
                result = cls.forward(*own.wrapped(values, in_dims))
            pairs = [own.unwrap(r) if isinstance(r, Tensor) else (r, None) for r in as_tuple(result)]
            several = isinstance(result, tuple)
            Generated.out_dims = tuple(b for _, b in pairs) if several else pairs[0][1]
            return tuple(v for v, _ in pairs) if several else pairs[0][0]

        @staticmethod
        def setup_context(ctx: FunctionCtx, inputs: tuple, output: object) -> None:
            ctx.saved_dims = ctx.forward_dims = []
            with mapping() as own:
                wrapped = own.wrapped(inputs, in_dims), own.wrapped(output, Generated.out_dims)
                cls.setup_context(BatchedCtx(own, ctx), *wrapped)

        @staticmethod
        def backward(ctx: FunctionCtx, *grads: Tensor | None) -> object:
            with mapping() as own:
                rule = cls.backward if cls.backward is not Function.backward else cls.vjp
                found = rule(BatchedCtx(own, ctx), *own.wrapped(grads, as_tuple(Generated.out_dims)))
            out = []
            for g, dim in zip(as_tuple(found), in_dims, strict=False):
                value, bdim = (g, None) if g is None else own.unwrap(g)
                if g is not None and bdim is not None and dim is None:
                    value = value.sum(0)  # all examples shared it
                elif g is not None and bdim is None and dim is not None:
                    value = stretched(value)
                out.append(value)
            return (*out, *as_tuple(found)[len(in_dims) :])

        @staticmethod
        def jvp(ctx: FunctionCtx, *tangents: Tensor | None) -> object:
            with mapping() as own:
                found = cls.jvp(BatchedCtx(own, ctx), *own.wrapped(tangents, in_dims))
            out = []
            for t, dim in zip(as_tuple(found), as_tuple(Generated.out_dims), strict=False):
                value, bdim = (t, None) if t is None else own.unwrap(t)
                out.append(stretched(value) if t is not None and bdim is None and dim is not None else value)
            out += as_tuple(found)[len(out) :]
            return tuple(out) if isinstance(found, tuple) else out[0]

    Generated.__name__ = cls.__name__
    Generated.node_class.__name__ = f"Vmapped{cls.__name__}Backward"
    return Generated


__all__ = ["VmapInfo", "batched_value", "refuse_unclear_rule"]
