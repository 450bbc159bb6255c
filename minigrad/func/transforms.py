"""grad, vjp, jvp and what is built from them: functions of functions, in any nesting.

A derivative is taken with respect to a *fresh* copy of the argument. If the argument already belongs to a graph, the copy
stays connected to it, so that an outer derivative sees through; it is a tensor of its own, so that two levels never mistake
each other's variables (no perturbation confusion).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd.engine import count_dependencies
from ..autograd.forward_ad import Forward
from ..autograd.modes import local, restore
from ..autograd.node import AccumulateGrad, gradient_node
from ..autograd.passes import grad_of_any, zeros_of
from ..tensor import AutogradMeta, Tensor, wrap
from ..words import expect
from .batching import vmap
from .interpreter import Wrapper
from .trees import flattened, structure, tree_map

Argnums = int | tuple[int, ...]


def focus(func: Callable, argnums: Argnums, args: tuple, kwargs: dict) -> tuple[Callable, tuple]:
    """`func` as a function of what stands at `argnums` alone; and that: one argument, or a tuple of several."""
    n, alone = len(args), isinstance(argnums, int)
    for i in (argnums,) if alone else argnums:
        expect(-n <= i < n, "Got argnum={}, but only {} positional inputs", i, n)

    def focused(value: Any) -> Any:
        given = list(args)
        for i, v in [(argnums, value)] if alone else zip(argnums, value, strict=True):
            given[i] = v
        return func(*given, **kwargs)

    return focused, args[argnums] if alone else tuple(args[i] for i in argnums)


def tensors_of(output: Any, wanted: str) -> list[Tensor]:
    """The tensors that a function has returned. `wanted`: PyTorch's error if there is anything else."""
    outs, _ = flattened(output)
    for out in outs:
        expect(isinstance(out, Tensor), wanted, str(type(out)))
    return outs


# ---------------------------------------------------------------- reverse mode


def fresh(x: object) -> Tensor:
    """A tensor of its own with the value of `x`, to differentiate with respect to."""
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    level = local.interpreter
    x = x if level is None else level.lift(x)
    if x._requires_grad:
        copy = x.view_as(x)  # part of the graph, but a base and a leaf as far as writing is concerned
        copy._meta = AutogradMeta()
        copy._meta.argument = True
        return copy
    return Tensor.requires_grad_(x.detach() if level is None else x.face())


def without_level(x: object) -> object:
    """A result without the history that belongs to a level which has ended."""
    if not isinstance(x, Tensor) or not x._requires_grad:
        return x
    return x.face() if isinstance(x, Wrapper) else x.detach()


def seen_outside(outs: Sequence[Tensor], copies: Sequence[Tensor]) -> bool:
    """Do the results depend on more that requires grad than on the copies, here or at a level below?"""
    for out in outs:
        while isinstance(out, Wrapper):
            out = out.value
            if out._requires_grad:
                return True
    own, roots = (
        {gradient_node(x) for x in copies},
        [(gradient_node(out), 0, None) for out in outs if out._requires_grad],
    )
    # a leaf from outside, or a copy that is connected to one
    return any((node in own) != (type(node) is AccumulateGrad) for node in count_dependencies(roots))


def pulled(func: Callable, primals: Any, wanted: str) -> tuple[Any, Callable]:
    """(output, pull): `pull` gives from a vector for each tensor of the output the gradients of the primals.

    While the function runs recording is on, and one reverse-mode transform more is running. If somebody outside can
    differentiate the result, the backward pass is recorded, too.
    """
    leaves, rebuild = flattened(primals)
    before = local.update(grad=True, transform_depth=local.transform_depth + 1)
    try:
        copies = [fresh(leaf) for leaf in leaves]
        output = func(rebuild(copies))
        outs = tensors_of(output, wanted)
    finally:
        restore(before)
    record = before.grad and (before.transform_depth > 0 or seen_outside(outs, copies))

    def pull(*vectors: Tensor | None, retain_graph: bool = True) -> Any:
        again = record or (local.transform_depth > 0 and local.grad)
        found = grad_of_any(outs, copies, vectors, create_graph=again, retain_graph=retain_graph or again)
        return rebuild(zeros_of(x) if g is None else g for g, x in zip(found, copies, strict=True))

    return output if record else tree_map(without_level, output), pull


def grad_and_value(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that returns (gradient, value) of the scalar function `func` with respect to argument `argnums`."""
    wanted = "grad_and_value(f)(*args): Expected f(*args) to return a"

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        focused, primals = focus(func, argnums, args, kwargs)
        output, pull = pulled(focused, primals, f"{wanted} Tensor, got {{}}")
        expect(isinstance(output, Tensor), f"{wanted} Tensor, got {type(output)}")
        told = f"{wanted} scalar Tensor, got tensor with {output.ndim} dims. "
        expect(output.ndim == 0, told + "Maybe you wanted to use the vjp or jacrev APIs instead?")
        return pull(None, retain_graph=False), output

    return wrapped


def grad(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that returns the gradient of the scalar function `func` with respect to argument `argnums`.

    Arguments and gradients may be nested tuples, lists and dictionaries of tensors. Raises RuntimeError if `func` does not
    return a scalar tensor.
    """
    both = grad_and_value(func, argnums)
    return functools.wraps(func)(lambda *args, **kwargs: both(*args, **kwargs)[0])


def vjp(func: Callable, *primals: Any) -> tuple:
    """(func(*primals), vjp_fn): `vjp_fn(v)` gives vᵀJ, a tuple with one gradient per primal.

    v has the structure of the output.
    """
    wanted = "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {}"
    output, pull = pulled(lambda values: func(*values), primals, wanted)

    def vjp_fn(cotangents: Any) -> tuple:
        given, own = structure(cotangents), structure(output)
        told = "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
        expect(given == own, told + "cotangents: {}, primal output: {}", given, own)
        return pull(*flattened(cotangents)[0])

    return output, vjp_fn


def jacrev(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that returns the Jacobian of `func`, by one batched backward pass with a row per output element."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        focused, primals = focus(func, argnums, args, kwargs)
        output, vjp_fn = vjp(focused, primals)
        outs, rebuild_out = flattened(output)
        leaves, rebuild = flattened(vmap(vjp_fn)(rebuild_out(unit_vectors(outs)))[0])
        rows = zip(*[leaf.split([out.numel() for out in outs]) for leaf in leaves], strict=True)
        pairs = zip(outs, rows, strict=True)
        return rebuild_out(rebuild(p.reshape(o.shape + p.shape[1:]) for p in row) for o, row in pairs)

    return wrapped


def unit_vectors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each tensor a batch of one-hot tensors; together they run through all elements of all of them."""
    sizes = [t.numel() for t in tensors]
    units = np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1], axis=1)
    return [wrap(b.reshape(-1, *t.shape).astype(t._array.dtype)) for b, t in zip(units, tensors, strict=True)]


# ---------------------------------------------------------------- forward mode


def jvp(func: Callable, primals: tuple, tangents: tuple) -> tuple:
    """(func(*primals), J t): the derivative along `tangents`, computed beside the value."""
    api = "jvp(f, primals, tangents)"
    told = f"{api}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
    expect(isinstance(primals, tuple), told)
    told = f"{api}: Expected primals and tangents to have the same python structure."
    expect(structure(primals) == structure(tangents), told)
    (values, rebuild), (directions, _) = flattened(primals), flattened(tangents)
    tensors_of([*values, *directions], f"{api}: Expected primals to only contain Tensors, got {{}}")
    wanted = f"{api}: expected f(*primals) to return only tensors, got unsupported type {{}}"
    with Forward() as level:
        duals = [level.dual(p, t) for p, t in zip(values, directions, strict=True)]
        output = func(*rebuild(duals))
        tensors_of(output, wanted)
        return tree_map(lambda t: level.unwrap(t)[0], output), tree_map(level.tangent_of, output)


def jacfwd(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that returns the Jacobian of `func`, by one batched forward pass with a column per input element."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        focused, primals = focus(func, argnums, args, kwargs)
        leaves, rebuild = flattened(primals)
        push = vmap(lambda *directions: jvp(focused, (primals,), (rebuild(directions),))[1])
        outs, rebuild_out = flattened(push(*unit_vectors(leaves)))
        columns = [out.movedim(0, -1).split([leaf.numel() for leaf in leaves], -1) for out in outs]
        rows = [zip(row, leaves, strict=True) for row in columns]
        return rebuild_out(rebuild(c.reshape(c.shape[:-1] + x.shape) for c, x in row) for row in rows)

    return wrapped


def hessian(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that returns the Hessian of the scalar function `func`: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)
