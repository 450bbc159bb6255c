"""What the function transforms and forward mode say to bad calls: PyTorch's error, type and first line, for each of a table.

Calls that are all right although they look odd are in the table, too: they give what they give in PyTorch.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

import minigrad
from minigrad.func.pytree import flatten


def functions(t: ModuleType) -> dict[str, type]:
    """Custom functions that lack something, or have too much."""

    class NoRule(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Both(NoRule):
        generate_vmap_rule = True

        @staticmethod
        def vmap(info, in_dims, x):
            return x * 2, 0

    class Gen(NoRule):
        generate_vmap_rule = True

    class Old(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class BadVmap(NoRule):
        @staticmethod
        def vmap(info, in_dims, x):
            return x * 2

    class BadVmap2(NoRule):
        @staticmethod
        def vmap(info, in_dims, x):
            return (x * 2, x), 0

    class BadVmap3(NoRule):
        @staticmethod
        def vmap(info, in_dims, x):
            return x * 2, (0, 0)

    class BadJvp(NoRule):
        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2, tangent

    class BadJvp2(NoRule):
        @staticmethod
        def jvp(ctx, tangent):
            return tangent.sum()

    return {
        cls.__name__: cls for cls in (NoRule, Both, Gen, Old, BadVmap, BadVmap2, BadVmap3, BadJvp, BadJvp2)
    }


def escaped(t: ModuleType, f: ModuleType, transform: str) -> object:
    """A tensor from inside a transform that has ended."""
    out = []

    def leak(x):
        out.append(x * 2)
        return (x * x).sum()

    if transform == "vmap":
        f.vmap(leak)(t.ones(2, 3))
    elif transform == "jvp":
        f.jvp(leak, (t.ones(3),), (t.ones(3),))
    else:
        f.grad(leak)(t.ones(3))
    return out[0]


# ---------------------------------------------------------------- What vmap is called with

IN_DIMS = {
    "in_dims str": lambda t, f: f.vmap(lambda x: x, in_dims="a")(t.ones(3)),
    "in_dims float": lambda t, f: f.vmap(lambda x: x, in_dims=1.0)(t.ones(3)),
    "in_dims dict": lambda t, f: f.vmap(lambda x: x, in_dims={"a": 0})(t.ones(3)),
    "in_dims None": lambda t, f: f.vmap(lambda x: x, in_dims=None)(t.ones(3)),
    "in_dims (None,)": lambda t, f: f.vmap(lambda x: x, in_dims=(None,))(t.ones(3)),
    "in_dims short": lambda t, f: f.vmap(lambda x, y: x, in_dims=(0,))(t.ones(3), t.ones(3)),
    "in_dims long": lambda t, f: f.vmap(lambda x: x, in_dims=(0, 0))(t.ones(3)),
    "in_dims nested wrong": lambda t, f: f.vmap(lambda x: x["a"], in_dims=({"b": 0},))({"a": t.ones(3)}),
    "in_dims list for tuple": lambda t, f: f.vmap(lambda x, y: x + y, in_dims=[0, 0])(t.ones(3), t.ones(3)),
    "in_dims list in tuple": lambda t, f: f.vmap(lambda x: x[0], in_dims=([0, 0],))((t.ones(3), t.ones(3))),
    "in_dims tuple for list arg": lambda t, f: f.vmap(lambda x: x[0], in_dims=((0, 0),))(
        [t.ones(3), t.ones(3)]
    ),
    "in_dims (str,)": lambda t, f: f.vmap(lambda x: x, in_dims=("a",))(t.ones(3)),
    "in_dims (float,)": lambda t, f: f.vmap(lambda x: x, in_dims=(0.5,))(t.ones(3)),
    "in_dims (tuple) for tensor": lambda t, f: f.vmap(lambda x: x, in_dims=((0, 0),))(t.ones(3)),
    "in_dims range": lambda t, f: f.vmap(lambda x: x, in_dims=3)(t.ones(3)),
    "in_dims neg range": lambda t, f: f.vmap(lambda x: x, in_dims=-2)(t.ones(3)),
    "in_dims 0-d": lambda t, f: f.vmap(lambda x: x)(t.tensor(3.0)),
    "number": lambda t, f: f.vmap(lambda x: x)(3.0),
    "number 2": lambda t, f: f.vmap(lambda x, y: x * y, in_dims=(0, 0))(t.ones(3), 2.0),
    "string in": lambda t, f: f.vmap(lambda x, s: x)(t.ones(3), "a"),
    "None arg": lambda t, f: f.vmap(lambda x, y: x)(t.ones(3), None),
    "None arg None dim": lambda t, f: f.vmap(lambda x, y: x, in_dims=(0, None))(t.ones(3), None),
    "batch sizes": lambda t, f: f.vmap(lambda x, y: x + y)(t.ones(3), t.ones(4)),
    "no args": lambda t, f: f.vmap(lambda: 1)(),
    "only kwargs": lambda t, f: f.vmap(lambda x=1: x)(x=t.ones(3)),
    "empty tuple arg": lambda t, f: f.vmap(lambda x: 1)(()),
    "batch 0": lambda t, f: f.vmap(lambda x: x * 2)(t.ones(0, 3)),
}

# ---------------------------------------------------------------- What vmap is to make of the results

OUT_DIMS = {
    "out number": lambda t, f: f.vmap(lambda x: 3)(t.ones(3)),
    "out None": lambda t, f: f.vmap(lambda x: None)(t.ones(3)),
    "out tuple num": lambda t, f: f.vmap(lambda x: (x, 3))(t.ones(3)),
    "out num None dim": lambda t, f: f.vmap(lambda x: (x, 3), out_dims=(0, None))(t.ones(3)),
    "out_dims str": lambda t, f: f.vmap(lambda x: x, out_dims="a")(t.ones(3)),
    "out_dims float": lambda t, f: f.vmap(lambda x: x, out_dims=0.5)(t.ones(3)),
    "out_dims long": lambda t, f: f.vmap(lambda x: x, out_dims=(0, 0))(t.ones(3)),
    "out_dims short": lambda t, f: f.vmap(lambda x: (x, x), out_dims=(0,))(t.ones(3)),
    "out_dims (0,)": lambda t, f: f.vmap(lambda x: x, out_dims=(0,))(t.ones(3)),
    "out_dims nested": lambda t, f: f.vmap(lambda x: {"a": x}, out_dims={"b": 0})(t.ones(3)),
    "out_dims range": lambda t, f: f.vmap(lambda x: x, out_dims=1)(t.ones(3)),
    "out_dims neg": lambda t, f: f.vmap(lambda x: x, out_dims=-2)(t.ones(3)),
    "out_dims None batched": lambda t, f: f.vmap(lambda x: x, out_dims=None)(t.ones(3)),
    "out_dims None unbatched": lambda t, f: f.vmap(lambda x: t.ones(2), out_dims=None)(t.ones(3)),
    "out_dims (None,) in": lambda t, f: f.vmap(lambda x: (x, t.ones(1)), out_dims=(0, None))(t.ones(3)),
    "out_dims dict ok": lambda t, f: f.vmap(lambda x: {"a": x}, out_dims={"a": 0})(t.ones(3)),
    "out_dims list": lambda t, f: f.vmap(lambda x: [x, x], out_dims=[0, 0])(t.ones(3)),
    "out_dims tuple for list": lambda t, f: f.vmap(lambda x: [x, x], out_dims=(0, 0))(t.ones(3)),
    "randomness": lambda t, f: f.vmap(lambda x: x, randomness="all")(t.ones(3)),
    "chunk 0": lambda t, f: f.vmap(lambda x: x, chunk_size=0)(t.ones(3)),
    "chunk -1": lambda t, f: f.vmap(lambda x: x, chunk_size=-1)(t.ones(3)),
}

# ---------------------------------------------------------------- What cannot be known, or done, inside

VALUES = {
    "item": lambda t, f: f.vmap(lambda x: x * x.item())(t.ones(3)),
    "float()": lambda t, f: f.vmap(lambda x: x * float(x))(t.ones(3)),
    "int()": lambda t, f: f.vmap(lambda x: x * int(x))(t.ones(3)),
    "if": lambda t, f: f.vmap(lambda x: x if x > 0 else -x)(t.ones(3)),
    "if vec": lambda t, f: f.vmap(lambda x: x if x > 0 else -x)(t.ones(3, 2)),
    "while": lambda t, f: f.vmap(lambda x: [x for _ in range(x)])(t.ones(3).long()),
    "index by": lambda t, f: f.vmap(lambda x: [1, 2, 3][x])(t.ones(3).long()),
    "numpy": lambda t, f: f.vmap(lambda x: x.numpy())(t.ones(3)),
    "tolist": lambda t, f: f.vmap(lambda x: x.tolist())(t.ones(3)),
    "nonzero": lambda t, f: f.vmap(lambda x: x.nonzero())(t.ones(3, 2)),
    "masked_select": lambda t, f: f.vmap(lambda x: x.masked_select(x > 0))(t.ones(3, 2)),
    "mask index": lambda t, f: f.vmap(lambda x: x[x > 0])(t.ones(3, 2)),
    "mask set": lambda t, f: f.vmap(lambda x: x.clone().__setitem__(x > 0, 1.0))(t.ones(3, 2)),
    "unique": lambda t, f: f.vmap(lambda x: x.unique())(t.ones(3, 2)),
    "where1": lambda t, f: f.vmap(lambda x: t.where(x > 0)[0])(t.ones(3, 2)),
    "in": lambda t, f: f.vmap(lambda x: 1.0 in x)(t.ones(3, 2)),
    "one_hot": lambda t, f: f.vmap(lambda x: t.nn.functional.one_hot(x))(t.ones(3).long()),
    "one_hot n": lambda t, f: f.vmap(lambda x: t.nn.functional.one_hot(x, 3))(t.ones(3).long()),
    "arange": lambda t, f: f.vmap(lambda x: t.arange(x))(t.ones(3).long()),
    "zeros(x)": lambda t, f: f.vmap(lambda x: t.zeros(x))(t.ones(3).long()),
    "full": lambda t, f: f.vmap(lambda x: t.full((2,), x))(t.ones(3)),
    "tensor([x])": lambda t, f: f.vmap(lambda x: t.tensor([x, x]))(t.ones(3)),
    "as_tensor(x)": lambda t, f: f.vmap(lambda x: t.as_tensor(x))(t.ones(3)),
    "slice by": lambda t, f: f.vmap(lambda x: t.ones(3)[:x])(t.ones(3).long()),
    "backward": lambda t, f: f.vmap(lambda x: x.sum().backward())(t.ones(3, 2, requires_grad=True)),
    "requires_grad_": lambda t, f: f.vmap(lambda x: x.requires_grad_())(t.ones(3, 2)),
    "requires_grad_ jvp": lambda t, f: f.jvp(
        lambda x: x.clone().requires_grad_().sum(), (t.ones(3),), (t.ones(3),)
    ),
    "creation requires_grad": lambda t, f: f.vmap(lambda x: t.ones(3, requires_grad=True) * x)(t.ones(3)),
    "creation requires_grad jvp": lambda t, f: f.jvp(
        lambda x: t.ones(3, requires_grad=True) * x, (t.ones(3),), (t.ones(3),)
    ),
    "randn": lambda t, f: f.vmap(lambda x: x + t.randn(()))(t.ones(3)),
    "dropout": lambda t, f: f.vmap(lambda x: t.nn.functional.dropout(x))(t.ones(3)),
    "normal_": lambda t, f: f.vmap(lambda x: x.clone().normal_())(t.ones(3)),
    "captured normal_ same": lambda t, f: f.vmap(lambda x: t.zeros(2).normal_() + x, randomness="different")(
        t.ones(3)
    ),
    "vmap fn": lambda t, f: f.vmap(3)(t.ones(3)),
    "captured add_ const jvp": lambda t, f: (
        lambda z: f.jvp(lambda x: (z.add_(1), x)[1], (t.ones(3),), (t.ones(3),))
    )(t.zeros(3)),
    "captured mul_ vmap": lambda t, f: (lambda z: f.vmap(lambda x: (z.mul_(x), x.sum())[1])(t.ones(2, 3)))(
        t.zeros(3)
    ),
    "shape err vmap": lambda t, f: f.vmap(lambda x: x + t.ones(4))(t.ones(2, 3)),
    "mm err vmap": lambda t, f: f.vmap(lambda x: x @ t.ones(4, 2))(t.ones(2, 3)),
    "dim err vmap": lambda t, f: f.vmap(lambda x: x.sum(2))(t.ones(2, 3)),
    "idx err vmap": lambda t, f: f.vmap(lambda x: x[3])(t.ones(2, 3)),
    "squeeze vmap": lambda t, f: f.vmap(lambda x: x.squeeze())(t.ones(2, 1, 3)),
    "len vmap": lambda t, f: f.vmap(lambda x: x * len(x))(t.ones(2, 3)),
    "iter 0d vmap": lambda t, f: f.vmap(lambda x: sum(x))(t.ones(2)),
    "data": lambda t, f: f.vmap(lambda x: x.data * 2)(t.ones(2, 3)),
    "is_contig": lambda t, f: f.vmap(lambda x: x * float(x.is_contiguous()))(t.ones(2, 3)),
    "stride": lambda t, f: f.vmap(lambda x: x * x.stride()[0])(t.ones(2, 3, 4)),
    "np.asarray": lambda t, f: f.vmap(lambda x: np.asarray(x))(t.ones(2, 3)),
    "np.sin": lambda t, f: f.vmap(lambda x: np.sin(x))(t.ones(2, 3)),
}

# ---------------------------------------------------------------- Reverse mode

REVERSE = {
    "grad fn": lambda t, f: f.grad(3)(t.ones(3)),
    "grad nonscalar": lambda t, f: f.grad(lambda x: x * 2)(t.ones(3)),
    "grad [1]": lambda t, f: f.grad(lambda x: x.sum(0, keepdim=True))(t.ones(3)),
    "grad float out": lambda t, f: f.grad(lambda x: 2.0)(t.ones(3)),
    "grad tuple out": lambda t, f: f.grad(lambda x: (x.sum(), x))(t.ones(3)),
    "grad None out": lambda t, f: f.grad(lambda x: None)(t.ones(3)),
    "grad int in": lambda t, f: f.grad(lambda x: x.sum())(t.ones(3).long()),
    "grad number in": lambda t, f: f.grad(lambda x: x * 2)(3.0),
    "grad bool in": lambda t, f: f.grad(lambda x: x.sum())(t.ones(3) > 0),
    "grad None in": lambda t, f: f.grad(lambda x, y: x.sum(), 1)(t.ones(3), None),
    "grad list num": lambda t, f: f.grad(lambda x: x[0].sum())([t.ones(3), 2.0]),
    "grad int out": lambda t, f: f.grad(lambda x: x.sum().long())(t.ones(3)),
    "argnums range": lambda t, f: f.grad(lambda x: x.sum(), 3)(t.ones(3)),
    "argnums neg range": lambda t, f: f.grad(lambda x: x.sum(), -2)(t.ones(3)),
    "argnums neg": lambda t, f: f.grad(lambda x, y: x.sum() * y.sum(), -1)(t.ones(3), t.ones(2)),
    "argnums str": lambda t, f: f.grad(lambda x: x.sum(), "a")(t.ones(3)),
    "argnums list": lambda t, f: f.grad(lambda x: x.sum(), [0])(t.ones(3)),
    "argnums ()": lambda t, f: f.grad(lambda x: x.sum(), ())(t.ones(3)),
    "argnums dup": lambda t, f: f.grad(lambda x: x.sum(), (0, 0))(t.ones(3)),
    "argnums (str)": lambda t, f: f.grad(lambda x: x.sum(), ("a",))(t.ones(3)),
    "argnums float": lambda t, f: f.grad(lambda x: x.sum(), 0.0)(t.ones(3)),
    "argnums dup neg": lambda t, f: f.grad(lambda x: x.sum(), (0, -1))(t.ones(3)),
    "aux none": lambda t, f: f.grad(lambda x: x.sum(), has_aux=True)(t.ones(3)),
    "aux 3": lambda t, f: f.grad(lambda x: (x.sum(), 1, 2), has_aux=True)(t.ones(3)),
    "aux list": lambda t, f: f.grad(lambda x: [x.sum(), x], has_aux=True)(t.ones(3)),
    "aux nontensor": lambda t, f: f.grad(lambda x: (x.sum(), "hi"), has_aux=True)(t.ones(3)),
    "grad_and_value aux": lambda t, f: f.grad_and_value(lambda x: x.sum(), has_aux=True)(t.ones(3)),
    "no argument": lambda t, f: f.grad(lambda: t.ones(()))(),
    "vjp nonfloat": lambda t, f: f.vjp(lambda x: x * 2, t.ones(3).long()),
    "vjp number": lambda t, f: f.vjp(lambda x: x * 2, 3.0),
    "vjp out num": lambda t, f: f.vjp(lambda x: 3.0, t.ones(3)),
    "vjp out None": lambda t, f: f.vjp(lambda x: None, t.ones(3)),
    "vjp out str": lambda t, f: f.vjp(lambda x: (x, "a"), t.ones(3)),
    "vjp out ()": lambda t, f: f.vjp(lambda x: (), t.ones(3)),
    "vjp cot shape": lambda t, f: f.vjp(lambda x: x * 2, t.ones(3))[1](t.ones(2)),
    "vjp cot struct": lambda t, f: f.vjp(lambda x: (x * 2, x), t.ones(3))[1](t.ones(3)),
    "vjp cot struct2": lambda t, f: f.vjp(lambda x: x * 2, t.ones(3))[1]((t.ones(3),)),
    "vjp cot list": lambda t, f: f.vjp(lambda x: (x * 2, x), t.ones(3))[1]([t.ones(3), t.ones(3)]),
    "vjp cot dict": lambda t, f: f.vjp(lambda x: {"a": x * 2}, t.ones(3))[1]({"b": t.ones(3)}),
    "vjp cot num": lambda t, f: f.vjp(lambda x: x.sum(), t.ones(3))[1](1.0),
    "vjp cot dtype": lambda t, f: f.vjp(lambda x: x * 2, t.ones(3))[1](t.ones(3).double()),
    "vjp no primals": lambda t, f: f.vjp(lambda: t.ones(3)),
    "vjp aux": lambda t, f: f.vjp(lambda x: x, t.ones(3), has_aux=True),
    "vjp aux kind": lambda t, f: f.vjp(lambda x: (x, "a"), t.ones(3), has_aux=True),
    "vjp twice noretain": lambda t, f: (lambda v: (v(t.ones(3), retain_graph=False), v(t.ones(3))))(
        f.vjp(lambda x: x * x, t.ones(3))[1]
    ),
    "jacrev num out": lambda t, f: f.jacrev(lambda x: 3.0)(t.ones(3)),
    "jacrev tuple num": lambda t, f: f.jacrev(lambda x: (x, 3.0))(t.ones(3)),
    "jacrev int": lambda t, f: f.jacrev(lambda x: x * 2)(t.ones(3).long()),
    "jacrev int out": lambda t, f: f.jacrev(lambda x: x.long())(t.ones(3)),
    "jacrev num in": lambda t, f: f.jacrev(lambda x: x * 2)(3.0),
    "jacrev argnums": lambda t, f: f.jacrev(lambda x: x * 2, argnums=2)(t.ones(3)),
    "jacrev argnums str": lambda t, f: f.jacrev(lambda x: x * 2, argnums="a")(t.ones(3)),
    "jacrev chunk 0": lambda t, f: f.jacrev(lambda x: x * 2, chunk_size=0)(t.ones(3)),
    "jacrev chunk -": lambda t, f: f.jacrev(lambda x: x * 2, chunk_size=-2)(t.ones(3)),
    "jacrev aux": lambda t, f: f.jacrev(lambda x: x * 2, has_aux=True)(t.ones(3)),
    "jacrev None out": lambda t, f: f.jacrev(lambda x: None)(t.ones(3)),
}

# ---------------------------------------------------------------- Forward mode

FORWARD = {
    "jvp nontuple": lambda t, f: f.jvp(t.sin, t.ones(3), t.ones(3)),
    "jvp list": lambda t, f: f.jvp(t.sin, [t.ones(3)], [t.ones(3)]),
    "jvp tang nontuple": lambda t, f: f.jvp(t.sin, (t.ones(3),), t.ones(3)),
    "jvp count": lambda t, f: f.jvp(t.sin, (t.ones(3),), (t.ones(3), t.ones(3))),
    "jvp shape": lambda t, f: f.jvp(t.sin, (t.ones(3),), (t.ones(2),)),
    "jvp dtype": lambda t, f: f.jvp(t.sin, (t.ones(3),), (t.ones(3).double(),)),
    "jvp int": lambda t, f: f.jvp(lambda x: x * 2, (t.ones(3).long(),), (t.ones(3).long(),)),
    "jvp int t": lambda t, f: f.jvp(lambda x: x * 2, (t.ones(3),), (t.ones(3).long(),)),
    "jvp num": lambda t, f: f.jvp(lambda x: x * 2, (3.0,), (1.0,)),
    "jvp empty": lambda t, f: f.jvp(lambda: t.ones(3), (), ()),
    "jvp struct": lambda t, f: f.jvp(lambda x: x["a"], ({"a": t.ones(3)},), ({"b": t.ones(3)},)),
    "jvp struct list": lambda t, f: f.jvp(lambda x: x[0], ([t.ones(3)],), ((t.ones(3),),)),
    "jvp out num": lambda t, f: f.jvp(lambda x: 3.0, (t.ones(3),), (t.ones(3),)),
    "jvp out None": lambda t, f: f.jvp(lambda x: None, (t.ones(3),), (t.ones(3),)),
    "jvp aux": lambda t, f: f.jvp(lambda x: x, (t.ones(3),), (t.ones(3),), has_aux=True),
    "jvp aux3": lambda t, f: f.jvp(lambda x: (x, x, x), (t.ones(3),), (t.ones(3),), has_aux=True),
    "jvp strict": lambda t, f: f.jvp(lambda x: t.ones(3), (t.ones(3),), (t.ones(3),), strict=True),
    "jvp None tangent": lambda t, f: f.jvp(t.sin, (t.ones(3),), (None,)),
    "jacfwd num out": lambda t, f: f.jacfwd(lambda x: 3.0)(t.ones(3)),
    "jacfwd int": lambda t, f: f.jacfwd(lambda x: x * 2)(t.ones(3).long()),
    "jacfwd num in": lambda t, f: f.jacfwd(lambda x: x * 2)(3.0),
    "jacfwd argnums": lambda t, f: f.jacfwd(lambda x: x * 2, argnums=2)(t.ones(3)),
    "jacfwd aux": lambda t, f: f.jacfwd(lambda x: x * 2, has_aux=True)(t.ones(3)),
    "jacfwd rand": lambda t, f: f.jacfwd(lambda x: x * t.randn(3))(t.ones(3)),
    "jacfwd randomness": lambda t, f: f.jacfwd(lambda x: x * 2, randomness="z")(t.ones(3)),
    "jacfwd None out": lambda t, f: f.jacfwd(lambda x: None)(t.ones(3)),
    "hessian vec": lambda t, f: f.hessian(lambda x: x * 2)(t.ones(2)),
    "hessian int": lambda t, f: f.hessian(lambda x: x.sum())(t.ones(2).long()),
    "linearize shape": lambda t, f: f.linearize(t.sin, t.ones(3))[1](t.ones(2)),
    "linearize dtype": lambda t, f: f.linearize(t.sin, t.ones(3))[1](t.ones(3).double()),
    "linearize count": lambda t, f: f.linearize(t.sin, t.ones(3))[1](t.ones(3), t.ones(3)),
    "linearize int": lambda t, f: f.linearize(lambda x: x * 2, t.ones(3).long()),
    "linearize noprim": lambda t, f: f.linearize(lambda: t.ones(3)),
    "linearize struct": lambda t, f: f.linearize(lambda x: x["a"], {"a": t.ones(3)})[1]({"b": t.ones(3)}),
}

# ---------------------------------------------------------------- Custom functions, escaped tensors, modules

FUNCTIONS = {
    "Function, vmap norule": lambda t, f: f.vmap(functions(t)["NoRule"].apply)(t.ones(3)),
    "Function, vmap both": lambda t, f: f.vmap(functions(t)["Both"].apply)(t.ones(3)),
    "Function, vmap gen": lambda t, f: f.vmap(functions(t)["Gen"].apply)(t.ones(3)),
    "Function, old vmap": lambda t, f: f.vmap(functions(t)["Old"].apply)(t.ones(3)),
    "Function, old grad": lambda t, f: f.grad(lambda x: functions(t)["Old"].apply(x).sum())(t.ones(3)),
    "Function, old jvp": lambda t, f: f.jvp(functions(t)["Old"].apply, (t.ones(3),), (t.ones(3),)),
    "Function, jvp none": lambda t, f: f.jvp(functions(t)["NoRule"].apply, (t.ones(3),), (t.ones(3),)),
    "Function, badvmap": lambda t, f: f.vmap(functions(t)["BadVmap"].apply)(t.ones(3)),
    "Function, badvmap2": lambda t, f: f.vmap(functions(t)["BadVmap2"].apply)(t.ones(3)),
    "Function, badvmap3": lambda t, f: f.vmap(functions(t)["BadVmap3"].apply)(t.ones(3)),
    "Function, badjvp": lambda t, f: f.jvp(functions(t)["BadJvp"].apply, (t.ones(3),), (t.ones(3),)),
    "Function, badjvp2": lambda t, f: f.jvp(functions(t)["BadJvp2"].apply, (t.ones(3),), (t.ones(3),)),
    "escaped from vmap use": lambda t, f: escaped(t, f, "vmap") * 2,
    "escaped from vmap item": lambda t, f: escaped(t, f, "vmap").sum().item(),
    "escaped from vmap numpy": lambda t, f: escaped(t, f, "vmap").numpy(),
    "escaped from vmap inplace": lambda t, f: escaped(t, f, "vmap").add_(1),
    "escaped from jvp use": lambda t, f: escaped(t, f, "jvp") * 2,
    "escaped from jvp item": lambda t, f: escaped(t, f, "jvp").sum().item(),
    "escaped from grad use": lambda t, f: (escaped(t, f, "grad") * 2).sum().item(),
    "functional_call, nested unknown": lambda t, f: f.functional_call(
        t.nn.Sequential(t.nn.Linear(2, 2)), {"1.weight": t.ones(2)}, (t.ones(2),)
    ),
    "functional_call, strict missing": lambda t, f: f.functional_call(
        t.nn.Linear(2, 2), {"weight": t.ones(2, 2)}, (t.ones(2),), strict=True
    ),
    "functional_call, strict unexpected": lambda t, f: f.functional_call(
        t.nn.Linear(2, 2),
        {"weight": t.ones(2, 2), "bias": t.ones(2), "foo": t.ones(2)},
        (t.ones(2),),
        strict=True,
    ),
    "functional_call, dup": lambda t, f: f.functional_call(
        t.nn.Linear(2, 2), ({"weight": t.ones(2, 2)}, {"weight": t.ones(2, 2)}), (t.ones(2),)
    ),
    "functional_call, kind": lambda t, f: f.functional_call(t.nn.Linear(2, 2), 3, (t.ones(2),)),
    "functional_call, kind2": lambda t, f: f.functional_call(t.nn.Linear(2, 2), (3,), (t.ones(2),)),
    "functional_call, value": lambda t, f: f.functional_call(
        t.nn.Linear(2, 2), {"weight": 3.0}, (t.ones(2),)
    ),
    "functional_call, shape": lambda t, f: f.functional_call(
        t.nn.Linear(2, 2), {"weight": t.ones(3, 3)}, (t.ones(2),)
    ),
    "stack_module_state, empty": lambda t, f: f.stack_module_state([]),
    "stack_module_state, class": lambda t, f: f.stack_module_state([t.nn.Linear(2, 2), t.nn.ReLU()]),
    "stack_module_state, mode": lambda t, f: f.stack_module_state(
        [t.nn.Linear(2, 2), t.nn.Linear(2, 2).eval()]
    ),
    "stack_module_state, shapes": lambda t, f: f.stack_module_state([t.nn.Linear(2, 2), t.nn.Linear(3, 2)]),
    "BatchNorm, vmap": lambda t, f: f.vmap(t.nn.BatchNorm1d(2))(t.ones(3, 4, 2)),
    "BatchNorm, vmap eval": lambda t, f: f.vmap(t.nn.BatchNorm1d(2).eval())(t.ones(3, 4, 2)),
    "BatchNorm, jvp": lambda t, f: f.jvp(t.nn.BatchNorm1d(2), (t.ones(4, 2),), (t.ones(4, 2),)),
    "BatchNorm, grad": lambda t, f: f.grad(lambda x: t.nn.BatchNorm1d(2)(x).sum())(t.ones(4, 2)),
}


# ---------------------------------------------------------------- forward_ad


def inside(call: Callable) -> Callable:
    """A call of the module and its forward_ad, made at a dual level."""

    def run(t, f):
        forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
        with forward_ad.dual_level():
            return call(t, forward_ad)

    return run


def outside(call: Callable) -> Callable:
    return lambda t, f: call(t, importlib.import_module(f"{t.__name__}.autograd.forward_ad"))


def after(call: Callable) -> Callable:
    """A call of the module, its forward_ad and a dual tensor whose level has ended."""

    def run(t, f):
        forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(t.ones(3), t.ones(3)) * 2
        return call(t, forward_ad, dual)

    return run


def again(t, fw, dual):
    with fw.dual_level():
        return tuple(fw.unpack_dual(dual * 3))


DUALS = {
    "a dual of a dual": inside(lambda t, fw: fw.make_dual(fw.make_dual(t.ones(3), t.ones(3)), t.ones(3))),
    "a tangent that is a dual": inside(
        lambda t, fw: fw.make_dual(t.ones(3), fw.make_dual(t.ones(3), t.ones(3)) * 2)
    ),
    "a dual of integers": inside(lambda t, fw: fw.make_dual(t.arange(3), t.ones(3))),
    "a tangent of integers": inside(lambda t, fw: fw.make_dual(t.ones(3), t.arange(3))),
    "a tangent of another shape": inside(lambda t, fw: fw.make_dual(t.ones(3), t.ones(2))),
    "a tangent of another dtype": inside(
        lambda t, fw: tuple(fw.unpack_dual(fw.make_dual(t.ones(3), t.ones(3).double()) * 2))
    ),
    "make_dual outside": outside(lambda t, fw: fw.make_dual(t.ones(3), t.ones(3))),
    "unpack_dual outside": outside(lambda t, fw: tuple(fw.unpack_dual(t.ones(3)))),
    "a level inside a level": inside(lambda t, fw: fw.enter_dual_level()),
    "leaving a level that is not there": outside(lambda t, fw: fw.exit_dual_level()),
    "leaving another level": inside(lambda t, fw: fw.exit_dual_level(level=3)),
    "make_dual for another level": inside(lambda t, fw: fw.make_dual(t.ones(3), t.ones(3), level=3)),
    "unpack_dual for another level": inside(lambda t, fw: tuple(fw.unpack_dual(t.ones(3), level=3))),
    "a dual after its level": after(lambda t, fw, dual: dual * 2),
    "a dual after its level, unpacked": after(lambda t, fw, dual: tuple(fw.unpack_dual(dual))),
    "a dual after its level, written to": after(lambda t, fw, dual: dual.mul_(2)),
    "a dual at the next level": after(again),
}

TABLES = {"in_dims": IN_DIMS, "out_dims": OUT_DIMS, "values": VALUES, "reverse": REVERSE, "forward": FORWARD,
          "functions": FUNCTIONS, "duals": DUALS}  # fmt: skip
CALLS = [
    pytest.param(call, id=f"{table}: {name}")
    for table, calls in TABLES.items()
    for name, call in calls.items()
]


def outcome(run: Callable) -> object:
    try:
        return run()
    except Exception as error:
        return error


def first_line(error: Exception) -> str:
    """The first line of the message, without addresses, the name of the package, overloads and what follows a link."""
    line = str(error).split("\n")[0].split("<function")[0].replace("minigrad.Tensor", "torch.Tensor")
    return re.sub(r"(aten::\w+)\.\w+", r"\1", line.split("ux_limitations")[0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_a_call_gives_what_it_gives_in_torch(torch, call):
    theirs = outcome(lambda: call(torch, importlib.import_module("torch.func")))
    ours = outcome(lambda: call(minigrad, importlib.import_module("minigrad.func")))
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), theirs
        assert type(ours).__name__ == type(theirs).__name__, ours
        assert first_line(ours) == first_line(theirs)
        return
    assert not isinstance(ours, Exception), ours
    for a, b in zip(flatten(ours)[0], flatten(theirs)[0], strict=True):
        if b is None or isinstance(b, int | float):
            assert a == b
        elif not callable(b):
            assert tuple(a.shape) == tuple(b.shape)
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6)


def test_a_transform_that_fails_leaves_nothing_behind():
    f = importlib.import_module("minigrad.func")
    for call in (
        VALUES["item"],
        REVERSE["grad nonscalar"],
        FORWARD["jvp out num"],
        DUALS["a tangent of another shape"],
    ):
        with pytest.raises((RuntimeError, ValueError)):
            call(minigrad, f)
    x = minigrad.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert type(minigrad.zeros(2) + 1) is minigrad.Tensor
