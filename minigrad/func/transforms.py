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

from ..autograd.backward import grad_of_any, zeros_like
from ..autograd.captured import Reverse
from ..autograd.forward_ad import Forward
from ..autograd.grad_mode import local
from ..autograd.interpreter import innermost
from ..autograd.node import AccumulateGrad, edge
from ..clock import clock
from ..tensor import AutogradMeta, Tensor, wrap
from .pytree import flatten, picture, spec, tensors_in, tree_map
from .vmap import vmap

argnums_t = int | tuple[int, ...]


# ---------------------------------------------------------------- levels of reverse mode


class Level(Reverse):
    """One reverse-mode transform that is running: recording is on, and outer ones are counted."""

    def __enter__(self) -> Level:
        super().__enter__()
        self.outer_grad, self.depth = local.grad, local.transform_depth
        local.transform_depth = self.depth + 1
        local.update(grad=True)
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        local.transform_depth = self.depth
        local.update(grad=self.outer_grad)

    def seen_outside(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> bool:
        """Can somebody outside differentiate the result? Then the backward pass is recorded, too."""
        if not self.outer_grad:
            return False
        if self.depth or any(innermost(out).requires_grad for out in outputs if innermost(out) is not out):
            return True
        own = {edge(x._in_graph()) for x in inputs}
        stack = [n for n in (edge(out._in_graph()) for out in outputs) if n is not None]
        seen = set(stack)
        while stack:
            node = stack.pop()
            if node in own:
                if type(node) is not AccumulateGrad:
                    return True  # the copy is connected to an argument that is part of a graph
                continue
            if type(node) is AccumulateGrad:
                return True  # a tensor from outside that requires grad
            for parent in node._edges:
                if parent is not None and parent not in seen:
                    seen.add(parent)
                    stack.append(parent)
        return False


def fresh(x: Tensor) -> Tensor:
    """A tensor of its own with the value of `x`, to differentiate with respect to."""
    level = local.interpreter
    if level is not None:
        x = level.lift(x)
    if x._requires_grad:
        copy = x.view_as(x)  # part of the graph, but a base and a leaf as far as writing is concerned
        copy._meta = AutogradMeta()
        copy._meta.argument = True
        return copy
    copy = x.face() if level is not None else x.detach()
    if copy._array.dtype.kind != "f":
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    copy._requires_grad, copy._born = True, clock.now
    return copy


def cut(x: Any) -> Any:
    """A result without the history that belongs to a level which has ended."""
    if not isinstance(x, Tensor) or not x._requires_grad:
        return x
    return x.face() if hasattr(x, "level") else x.detach()


def check_argnums(argnums: argnums_t, args: tuple) -> tuple[int, ...]:
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    if not chosen:
        raise RuntimeError("argnums must be non-empty")
    for i in chosen:
        if not isinstance(i, int):
            raise RuntimeError(f"argnum must be int, got: {type(i)}")
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs")
    chosen = tuple(i % len(args) for i in chosen)
    if len(set(chosen)) != len(chosen):
        raise RuntimeError(f"argnums elements must be unique, got {chosen}")
    return chosen


def fresh_arguments(args: tuple, chosen: tuple[int, ...]) -> tuple[tuple, list[Tensor]]:
    """The arguments with fresh copies of those at `chosen`; and the copies, flat."""
    args, copies = list(args), []
    for i in chosen:
        leaves, rebuild = flatten(args[i])
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        new = [fresh(leaf) for leaf in leaves]
        copies += new
        args[i] = rebuild(new)
    return tuple(args), copies


def others(args: tuple, kwargs: dict, chosen: tuple[int, ...]) -> list[Tensor]:
    """The tensors among the arguments that are not differentiated with respect to."""
    return tensors_in(([a for i, a in enumerate(args) if i not in chosen], kwargs))


def without_aux(api: str, output: Any, has_aux: bool) -> tuple[Any, Any]:
    """(output, aux) of what a function has returned; aux is None if it returns none."""
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True"
            + ("" if isinstance(output, tuple) else f"\nIt returned {type(output)}.")
        )
    for leaf in flatten(output[1])[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return output


def flat_output(api: str, output: Any) -> tuple[list[Tensor], Callable]:
    """The tensors that a function has returned, and how to put them together again."""
    outs, rebuild = flatten(output)
    if not outs or outs == [None]:
        raise RuntimeError(
            f"{api}: Expected f to be a function that has non-empty output (got output = {outs})"
        )
    for out in outs:
        if not isinstance(out, Tensor):
            raise RuntimeError(
                f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(out)}"
            )
    return outs, rebuild


def like_arguments(values: Sequence, args: tuple, argnums: argnums_t, chosen: tuple[int, ...]) -> Any:
    """Flat gradients in the structure of the arguments they belong to."""
    out, start = [], 0
    for i in chosen:
        leaves, rebuild = flatten(args[i])
        out.append(rebuild(list(values[start : start + len(leaves)])))
        start += len(leaves)
    return out[0] if isinstance(argnums, int) else tuple(out)


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence, record: bool, retain: bool
) -> tuple[Tensor, ...]:
    """vᵀJ, with zeros for what does not depend on an input."""
    found = grad_of_any(outputs, inputs, vectors, create_graph=record, retain_graph=retain or record)
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True))


# ---------------------------------------------------------------- reverse mode


def grad_and_value(func: Callable, argnums: argnums_t = 0, has_aux: bool = False) -> Callable:
    """A function that returns (gradient, value) of the scalar function `func` with respect to argument `argnums`.

    With `has_aux`, `func` returns (value, aux) and the result is (gradient, (value, aux)).
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen = check_argnums(argnums, args)
        with Level(lambda: others(args, kwargs, chosen)) as level:
            inner, copies = fresh_arguments(args, chosen)
            output, aux = without_aux("grad_and_value(f)(*args)", func(*inner, **kwargs), has_aux)
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
                )
            if output.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            record = level.seen_outside([output], copies)
            found = gradients([output], copies, [None], record, False)
        if not record:
            output, aux = cut(output), tree_map(cut, aux)
        result = like_arguments(found, args, argnums, chosen)
        return (result, (output, aux)) if has_aux else (result, output)

    return wrapped


def grad(func: Callable, argnums: argnums_t = 0, has_aux: bool = False) -> Callable:
    """A function that returns the gradient of the scalar function `func` with respect to argument `argnums`.

    Arguments and gradients may be nested tuples, lists and dictionaries of tensors. With `has_aux`, `func` returns
    (value, aux) and the result is (gradient, aux). Raises RuntimeError if `func` does not return a scalar tensor.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapped


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """(func(*primals), vjp_fn): `vjp_fn(v)` gives vᵀJ, a tuple with one gradient per primal.

    v has the structure of the output.
    """
    return vjp_beside(func, primals, tuple, has_aux)


def vjp_beside(
    func: Callable, primals: tuple, inputs: Callable[[], Sequence[Tensor]], has_aux: bool
) -> tuple:
    """`vjp` of a function that has further inputs."""
    with Level(inputs) as level:
        inner, copies = fresh_arguments(primals, tuple(range(len(primals))))
        output, aux = without_aux("vjp(f, *primals)", func(*inner), has_aux)
        outs, rebuild = flat_output("vjp(f, *primals)", output)
        for out in outs:
            if not out.is_floating_point():
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{out.dtype}"
                )
        record = level.seen_outside(outs, copies)

    structure = spec(output)

    def vjp_fn(
        cotangents: Any, *more: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        given = (cotangents, *more) if more else cotangents
        vectors, _ = flatten(given)
        if spec(given) != structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {picture(given)}, primal output: {picture(rebuild(outs))}"
            )
        again = record or (local.transform_depth > 0 and local.grad) or bool(create_graph)
        found = gradients(outs, copies, vectors, again, retain_graph)
        return like_arguments(found, primals, tuple(range(len(primals))), tuple(range(len(primals))))

    shown = output if record else rebuild([cut(o) for o in outs])
    return (shown, vjp_fn, aux if record else tree_map(cut, aux)) if has_aux else (shown, vjp_fn)


def jacrev(
    func: Callable,
    argnums: argnums_t = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable:
    """A function that returns the Jacobian of `func`, by one batched backward pass with a row per output element."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen = check_argnums(argnums, args)

        def of_chosen(*values: Any) -> Any:
            full = list(args)
            for i, v in zip(chosen, values, strict=True):
                full[i] = v
            return func(*full, **kwargs)

        primals = tuple(args[i] for i in chosen)
        output, vjp_fn, *aux = vjp_beside(of_chosen, primals, lambda: others(args, kwargs, chosen), has_aux)
        outs, rebuild = flatten(output)
        basis = unit_vectors(outs)
        found = vmap(lambda *vs: vjp_fn(rebuild(list(vs))), chunk_size=chunk_size)(*basis)
        rows = [flatten(f) for f in found]
        per_output, start = [], 0
        for out in outs:
            stop = start + out.numel()
            per_arg = tuple(
                rebuild_in([leaf[start:stop].reshape(*out.shape, *leaf.shape[1:]) for leaf in leaves])
                for leaves, rebuild_in in rows
            )
            per_output.append(per_arg[0] if isinstance(argnums, int) else per_arg)
            start = stop
        result = rebuild(per_output)
        return (result, aux[0]) if has_aux else result

    return wrapped


def unit_vectors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each tensor a batch of one-hot tensors; together they run through all elements of all of them."""
    total, start, out = sum(t.numel() for t in tensors), 0, []
    for t in tensors:
        block = np.zeros((total, t.numel()), t._array.dtype)
        block[start : start + t.numel()] = np.eye(t.numel(), dtype=t._array.dtype)
        out.append(wrap(block.reshape(total, *t._array.shape)))
        start += t.numel()
    return out


# ---------------------------------------------------------------- forward mode


def jvp(
    func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False
) -> tuple:
    """(func(*primals), J t): the derivative along `tangents`, computed beside the value."""
    api = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{api}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    if spec(primals) != spec(tangents):
        raise RuntimeError(
            f"{api}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
            f"tensors, tangents also must be. Got primals with structure {spec(primals)} and tangents with structure "
            f"{spec(tangents)}"
        )
    (values, rebuild), (directions, _) = flatten(primals), flatten(tangents)
    for name, given in (("primals", values), ("tangents", directions)):
        if not given:
            raise RuntimeError(f"{api}: Expected {name} to contain at least one Tensor.")
        for t in given:
            if not isinstance(t, Tensor):
                raise RuntimeError(f"{api}: Expected {name} to only contain Tensors, got {type(t)}")
    with Forward() as level:
        duals = [level.dual(p, t) for p, t in zip(values, directions, strict=True)]
        output, aux = without_aux(api, func(*rebuild(duals)), has_aux)
    outs, rebuild_out = flat_output(api, output)
    pairs = [level.unwrap(o) for o in outs]
    if strict and any(t is None for _, t in pairs):
        raise RuntimeError(
            f"{api[:-1]}, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True."
        )
    result = rebuild_out([p for p, _ in pairs])
    derivative = rebuild_out([zeros_like(p) if t is None else t for p, t in pairs])
    if has_aux:
        return result, derivative, tree_map(lambda a: level.unwrap(a)[0] if isinstance(a, Tensor) else a, aux)
    return result, derivative


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """(func(*primals), jvp_fn): `jvp_fn(*tangents)` gives J t, any number of times, running `func` only once.

    uᵀJ is recorded as a function of u; being linear, its derivative with respect to u along t is J t.
    """
    for leaf in flatten(primals)[0]:
        if isinstance(leaf, Tensor) and not leaf.is_floating_point():
            raise ValueError(f"Expected primal to be floating point or complex, but got: {leaf.dtype}")
    with Level() as level:
        inner, copies = fresh_arguments(primals, tuple(range(len(primals))))
        outs, rebuild = flat_output("linearize(f, *primals)", func(*inner))
        record = level.seen_outside(outs, copies)
        us = [fresh(zeros_like(o)) for o in outs]
        rows = gradients(outs, copies, us, True, True)

    def jvp_fn(*tangents: Any) -> Any:
        directions, _ = flatten(tangents)
        if spec(tangents) != spec(primals):
            raise RuntimeError(
                f"Expected the tangents {spec(tangents)} to have the same argspec as the primals {spec(primals)}"
            )
        for i, (d, c) in enumerate(zip(directions, copies, strict=True)):
            for what, given, wanted in (("shape", d.shape, c.shape), ("dtype", d.dtype, c.dtype)):
                if given != wanted:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {given} in flattened pytree doesn't match the {what} {wanted} of the "
                        "corresponding primal."
                    )
        pairs = [(r, d) for r, d in zip(rows, directions, strict=True) if r.requires_grad]
        again = local.grad and (
            record or local.transform_depth > 0 or any(d.requires_grad for d in directions)
        )
        found = gradients([r for r, _ in pairs], us, [d for _, d in pairs], again, True)
        return rebuild(list(found))

    return rebuild(outs if record else [cut(o) for o in outs]), jvp_fn


def jacfwd(
    func: Callable, argnums: argnums_t = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable:
    """A function that returns the Jacobian of `func`, by one batched forward pass with a column per input element."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen = check_argnums(argnums, args)
        own = tuple(args[i] for i in chosen)
        leaves, rebuild = flatten(own)

        def of_chosen(*values: Any) -> Any:
            full = list(args)
            for i, v in zip(chosen, values, strict=True):
                full[i] = v
            return func(*full, **kwargs)

        def push(*directions: Tensor) -> Any:
            return jvp(of_chosen, own, rebuild(list(directions)), has_aux=has_aux)[1:]

        pushed = vmap(push, randomness=randomness)(*unit_vectors(leaves))
        outs, rebuild_out = flatten(pushed[0])
        results = []
        for out in outs:
            parts, start = [], 0
            for leaf in leaves:
                stop = start + leaf.numel()
                columns = out[start:stop].movedim(0, -1)
                parts.append(columns.reshape(*out.shape[1:], *leaf.shape))
                start = stop
            per_arg = rebuild(parts)
            results.append(per_arg[0] if isinstance(argnums, int) else per_arg)
        result = rebuild_out(results)
        if has_aux:
            return result, tree_map(lambda a: a[0] if isinstance(a, Tensor) else a, pushed[1])
        return result

    return wrapped


def hessian(func: Callable, argnums: argnums_t = 0) -> Callable:
    """A function that returns the Hessian of the scalar function `func`: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)


__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]
