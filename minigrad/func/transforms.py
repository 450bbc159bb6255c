"""grad, vjp, jvp and what is built from them: functions of functions, in any nesting.

A derivative is taken with respect to a *fresh* copy of the argument. If the argument already belongs to a graph, the copy
stays connected to it, so that an outer derivative can pass through. It is a separate tensor, so that two levels never confuse
their variables (no perturbation confusion).
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import messages
from ..autograd.engine import count_dependencies
from ..autograd.forward_ad import Forward
from ..autograd.modes import local, settle
from ..autograd.node import AccumulateGrad, Node, gradient_node
from ..autograd.passes import grad_of_any, zeros_of
from ..basics import check
from ..tensor import AutogradMeta, Tensor, wrap
from .batching import vmap
from .interpreter import Wrapper
from .trees import flattened, structure, tree_map

Argnums = int | tuple[int, ...]


def focus(func: Callable, argnums: Argnums, args: tuple, kwargs: dict) -> tuple[Callable, tuple]:
    """`func` as a function of only the arguments at `argnums`, and those arguments: one, or a tuple of several."""
    n, alone = len(args), isinstance(argnums, int)
    check(isinstance(argnums, (int, tuple)), messages.ARGNUMS, str(type(argnums)))
    places = (argnums,) if alone else argnums
    check(places, "argnums must be non-empty")
    for i in places:
        check(isinstance(i, int), messages.ARGNUMS, str(type(i)))
        check(-n <= i < n, "Got argnum={}, but only {} positional inputs", i, n)
    unique = len({i % n for i in places}) == len(places)
    check(unique, f"argnums elements must be unique, got {argnums}")

    def focused(value: Any) -> Any:
        given = list(args)
        for i, v in [(argnums, value)] if alone else zip(argnums, value, strict=True):
            given[i] = v
        return func(*given, **kwargs)

    return focused, args[argnums] if alone else tuple(args[i] for i in argnums)


def value_and_aux(result: Any, has_aux: bool, api: str) -> tuple[Any, Any]:
    """(output, aux) of a function that returns both; aux is None for one that returns the output alone."""
    check(not has_aux or (isinstance(result, tuple) and len(result) == 2), messages.AUX, api)
    return result if has_aux else (result, None)


def tensors_of(output: Any, api: str) -> list[Tensor]:
    """The tensors that a function has returned; there must be at least one."""
    outs = [None] if output is None else flattened(output)[0]
    check(outs and output is not None, messages.EMPTY_OUTPUT, api, outs)
    for out in outs:
        check(isinstance(out, Tensor), messages.NOT_ONLY_TENSORS, api, str(type(out)))
    return outs


# ---------------------------------------------------------------- reverse mode


def fresh(x: object) -> Tensor:
    """A separate tensor with the value of `x`, to differentiate with respect to."""
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    level = local.interpreter
    x = x if level is None else level.lift(x)
    if x._requires_grad:
        copy = x.view_as(x)  # part of the graph, but writes treat it as a base and a leaf
        copy._meta = AutogradMeta()
        copy._meta.argument = True
        return copy
    return Tensor.requires_grad_(x.detach() if level is None else x.rewrapped())


# The AccumulateGrads of copies whose function has returned: nothing outside can refer to them.
ended: weakref.WeakSet[Node] = weakref.WeakSet()


def is_alive(x: object) -> bool:
    """Whether the history of `x` at its own level leads to a variable of another transform or of the caller."""
    if not isinstance(x, Tensor) or not x._requires_grad:
        return False
    reached = count_dependencies([(gradient_node(x), 0, None)])
    return any(type(node) is AccumulateGrad and node not in ended for node in reached)


def is_seen(x: object) -> bool:
    """Whether `x` can be differentiated, at its own level or at one below."""
    return is_alive(x) or (isinstance(x, Wrapper) and (is_seen(x.value) or is_seen(x.extra)))


def only_alive(x: object) -> object:
    """A result, without its history if that leads only to variables of transforms that have ended."""
    if not isinstance(x, Tensor) or not x._requires_grad or is_alive(x):
        return x
    return x.rewrapped() if isinstance(x, Wrapper) else x.detach()


def pulled(func: Callable, primals: Any, has_aux: bool, api: str, tensors: Callable) -> tuple:
    """(output, pull, aux): `pull` takes a vector for each tensor of the output and returns the primals' gradients.

    While the function runs, recording is on, and one more reverse-mode transform is running. If code outside can differentiate
    the result, the backward pass is recorded, too. tensors(output, api): the tensors of the output.
    """
    leaves, rebuild = flattened(primals)
    copies = []
    before = local.update(grad=True, transform_depth=local.transform_depth + 1)
    try:
        copies += map(fresh, leaves)
        output, aux = value_and_aux(func(rebuild(copies)), has_aux, api)
        outs = tensors(output, api)
    finally:
        local.modes = before
        settle()
        own = [gradient_node(copy) for copy in copies]  # kept until the results have been checked
        ended.update(node for node in own if type(node) is AccumulateGrad)
    record = before.grad and any(map(is_seen, outs))

    def pull(*vectors: Tensor | None, retain_graph: bool = True) -> Any:
        again = local.grad and (record or any(map(is_seen, vectors)))
        result = grad_of_any(outs, copies, vectors, create_graph=again, retain_graph=retain_graph or again)
        pairs = zip(result, copies, strict=True)
        return rebuild(zeros_of(x) if g is None else only_alive(g) for g, x in pairs)

    return tree_map(only_alive, output), pull, tree_map(only_alive, aux)


def grad_and_value(func: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """A function that returns (gradient, value) of the scalar function `func` with respect to argument `argnums`.

    has_aux: `func` returns (value, aux), and the new function returns (gradient, (value, aux)).
    """

    def scalar(output: Any, api: str) -> list[Tensor]:
        check(isinstance(output, Tensor), messages.GRAD_OF_TENSOR, api, str(type(output)))
        check(output.ndim == 0, messages.GRAD_OF_SCALAR, api, output.ndim)
        return [output]

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        focused, primals = focus(func, argnums, args, kwargs)
        output, pull, aux = pulled(focused, primals, has_aux, "grad_and_value(f)(*args)", scalar)
        return pull(None, retain_graph=False), (output, aux) if has_aux else output

    return wrapped


def grad(func: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """A function that returns the gradient of the scalar function `func` with respect to argument `argnums`.

    Arguments and gradients may be nested tuples, lists and dictionaries of tensors. has_aux: `func` returns (value, aux), and
    the new function returns (gradient, aux). Raises RuntimeError if `func` does not return a scalar tensor.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return wrapped


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """(func(*primals), vjp_fn): `vjp_fn(v)` gives vᵀJ, a tuple with one gradient per primal.

    v has the structure of the output. has_aux: `func` returns (output, aux), and `vjp` returns (output, vjp_fn, aux).
    """
    output, pull, aux = pulled(lambda values: func(*values), primals, has_aux, "vjp(f, *primals)", tensors_of)

    def vjp_fn(cotangents: Any) -> tuple:
        given, own = structure(cotangents), structure(output)
        check(given == own, messages.COTANGENTS, given, own)
        return pull(*flattened(cotangents)[0])

    return (output, vjp_fn, aux) if has_aux else (output, vjp_fn)


def jacrev(
    func: Callable, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable:
    """A function that returns the Jacobian of `func`, by one batched backward pass with a row per output element.

    has_aux: `func` returns (output, aux), and the new function returns (Jacobian, aux). chunk_size: rows per pass.
    """
    check(chunk_size is None or chunk_size > 0, messages.JACREV_CHUNK, error=ValueError)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        focused, primals = focus(func, argnums, args, kwargs)
        output, vjp_fn, *aux = vjp(focused, primals, has_aux=has_aux)
        outs, rebuild_out = flattened(output)
        for out in outs:
            check(out.is_floating_point(), messages.JACREV_DTYPE, out.dtype)
        rows_of = vmap(vjp_fn, chunk_size=chunk_size)
        leaves, rebuild = flattened(rows_of(rebuild_out(unit_vectors(outs)))[0])
        rows = zip(*[leaf.split([out.numel() for out in outs]) for leaf in leaves], strict=True)
        pairs = zip(outs, rows, strict=True)
        result = rebuild_out(rebuild(p.reshape(o.shape + p.shape[1:]) for p in row) for o, row in pairs)
        return (result, *aux) if has_aux else result

    return wrapped


def unit_vectors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each tensor a batch of one-hot tensors; together they cover every element of every tensor."""
    count, start, batches = sum(t.numel() for t in tensors), 0, []
    for t in tensors:
        units = np.eye(count, t.numel(), -start, t._array.dtype)
        batches.append(wrap(units.reshape(count, *t.shape)))
        start += t.numel()
    return batches


# ---------------------------------------------------------------- forward mode


def jvp(func: Callable, primals: tuple, tangents: tuple, *, has_aux: bool = False) -> tuple:
    """(func(*primals), J t): the derivative along `tangents`, computed together with the value.

    has_aux: `func` returns (output, aux), and `jvp` returns (output, J t, aux).
    """
    api = "jvp(f, primals, tangents)"
    check(isinstance(primals, tuple), messages.PRIMALS, api)
    check(structure(primals) == structure(tangents), messages.TANGENTS, api)
    (values, rebuild), (directions, _) = flattened(primals), flattened(tangents)
    check(values, f"{api}: Expected primals to contain at least one Tensor.")
    for t in (*values, *directions):
        check(isinstance(t, Tensor), f"{api}: Expected primals to only contain Tensors, got {type(t)}")
    with Forward() as level:
        duals = [level.dual(p, t) for p, t in zip(values, directions, strict=True)]
        output, aux = value_and_aux(func(*rebuild(duals)), has_aux, api)
        tensors_of(output, api)
        value, aux = (tree_map(lambda t: level.unwrap(t)[0], tree) for tree in (output, aux))
        moved = tree_map(level.tangent_of, output)
    return (value, moved, aux) if has_aux else (value, moved)


def jacfwd(
    func: Callable, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable:
    """A function that returns the Jacobian of `func`, by one batched forward pass with a column per input element.

    has_aux: `func` returns (output, aux), and the new function returns (Jacobian, aux). randomness: as in `vmap`.
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        focused, primals = focus(func, argnums, args, kwargs)
        leaves, rebuild = flattened(primals)

        def push(*directions: Tensor) -> tuple:
            return jvp(focused, (primals,), (rebuild(directions),), has_aux=has_aux)[1:]

        # aux is the same for all directions, or one of them represents all
        moved, *aux = vmap(push, randomness=randomness)(*unit_vectors(leaves))
        outs, rebuild_out = flattened(moved)
        columns = [out.movedim(0, -1).split([leaf.numel() for leaf in leaves], -1) for out in outs]
        rows = [zip(row, leaves, strict=True) for row in columns]
        result = rebuild_out(rebuild(c.reshape(c.shape[:-1] + x.shape) for c, x in row) for row in rows)
        return (result, tree_map(lambda t: t[0], aux[0])) if has_aux else result

    return wrapped


def hessian(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that returns the Hessian of the scalar function `func`: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)
