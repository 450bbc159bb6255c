"""`backward` and `grad`, which users call: they check the arguments, start the engine, return the results."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod

import numpy as np

from .. import dtypes, messages
from ..basics import check
from ..tensor import Tensor, wrap
from .engine import Root, execute
from .graph import retain_grad
from .modes import local
from .node import Node, gradient_node


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of `tensors`, weighted by `grad_tensors`, to the `.grad` of every leaf.

    grad_tensors: for each tensor the vector v of vᵀJ, of the tensor's shape; by default, 1 for scalars.
    retain_graph: keep the saved values for another pass (default: the value of create_graph).
    create_graph: record the pass itself, so that the gradients can be differentiated.
    inputs: fill only the `.grad` of these tensors.
    Raises RuntimeError for tensors without a graph, non-scalars without gradient, wrong shapes, freed graphs.
    """
    modes = local.modes
    if modes.transform_depth or not (modes.interpreter is None or modes.interpreter.user):
        raise RuntimeError(messages.IN_TRANSFORM)
    inputs = None if inputs is None else as_inputs(inputs, "backward")
    if create_graph:
        warnings.warn(messages.CREATES_CYCLE, stacklevel=3)
    roots = make_roots(tensors, grad_tensors, create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    for i in inputs or ():
        retain_grad(i)  # a result keeps its gradient from now on
    last = inputs and {edge_of(i)[0] for i in inputs}  # these are run, but nothing behind them
    execute(roots, retain, create_graph, None if inputs is None else {}, last)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, returned; no `.grad` is touched.

    grad_outputs: the vectors v of vᵀJ, one per output. retain_graph, create_graph: as in `backward`.
    allow_unused: an input that no output depends on gets None, not an error; with materialize_grads, zeros.
    is_grads_batched: grad_outputs and gradients have an extra first dimension: one pass for each row.
    Raises RuntimeError as `backward` does, and for unused inputs.
    """
    inputs, retain = as_inputs(inputs, "grad"), create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        rest = create_graph, only_inputs, allow_unused, False, materialize_grads
        vectors = list(zip(*as_tuple(grad_outputs), strict=True))
        rows = [grad(outputs, inputs, v, retain or v is not vectors[-1], *rest) for v in vectors]
        return tuple([None if c[0] is None else Tensor._stacked(c) for c in zip(*rows, strict=True)])
    check(not materialize_grads or allow_unused is not False, messages.MATERIALIZE, error=ValueError)
    roots = make_roots(outputs, grad_outputs, create_graph)
    places = [edge_of(i) for i in inputs]
    targets = dict.fromkeys(places)
    execute(roots, retain, create_graph, targets)
    results = [targets[place] for place in places]
    for number, result in enumerate(results):
        if result is None and materialize_grads:
            results[number] = zeros_of(inputs[number]).requires_grad_(create_graph)
        elif result is None:
            check(allow_unused, messages.UNUSED, number)
        elif not isinstance(result, Tensor):
            results[number] = wrap(np.array(result))  # it may be another tensor's gradient, or the caller's
    return tuple(results)


def grad_of_any(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Tensor | None], **options: bool
) -> Sequence[Tensor | None]:
    """`grad` for outputs some or all of which may have no history."""
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outputs, vectors = zip(*pairs, strict=True)
    return grad(outputs, inputs, vectors, allow_unused=True, **options)


def as_tuple(given) -> tuple:
    if isinstance(given, Tensor):
        return (given,)
    return () if given is None else tuple(given)


def as_inputs(given: object, caller: str) -> tuple[Tensor, ...]:
    """The tensors to differentiate with respect to, as a tuple."""
    inputs = as_tuple(given)
    check(inputs, "`inputs` argument to `{}()` cannot be empty.", caller)
    for i in inputs:
        check(isinstance(i, Tensor), messages.INPUTS_TYPE, type(i))
    return inputs


def edge_of(given: Tensor) -> tuple[Node, int]:
    """(node, output number) of a tensor to differentiate with respect to."""
    node = gradient_node(given)
    if node is None and given._requires_grad:
        return Node(), 0  # it only shares the memory of a leaf: no pass can reach it
    check(node is not None, "One of the differentiated Tensors does not require grad")
    return node, given._output_nr


def make_roots(starts: object, grads: object, create_graph: bool) -> list[Root]:
    """The nodes that a pass starts from, each with the gradient there in its dtype; 1 if omitted."""
    starts, roots, recorded = as_tuple(starts), [], create_graph or local.modes.interpreter is not None
    grads = (None,) * len(starts) if grads is None else as_tuple(grads)
    for g in grads:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    for start, g in zip(starts, grads, strict=False):  # extra gradients are ignored
        if not isinstance(start, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        node, shape, dtype = gradient_node(start), start._array.shape, start._array.dtype
        if g is None:
            if shape and node is not None and prod(shape) != 1:
                raise RuntimeError(messages.ONLY_SCALARS)
            g = np.full(shape, 1, dtype) if shape else np.array(1, dtype)  # this is quicker
            g = wrap(g) if recorded else g
        elif g._array.shape != shape:
            raise RuntimeError(messages.SHAPE.format(len(roots), g.shape, len(roots), start.shape))
        else:
            g = g if g._array.dtype == dtype else g.to(dtypes.of_numpy(dtype))
            g = g if recorded else g._array
        if node is None:
            raise RuntimeError(messages.NO_START.format(len(roots)))
        roots.append((node, start._output_nr, g))
    if len(roots) < len(starts):
        raise RuntimeError(f"got {len(starts)} tensors and {len(grads)} gradients")
    return roots


def zeros_of(t: Tensor) -> Tensor:
    """A constant zero of the shape and dtype of `t`."""
    return wrap(np.zeros(t._array.shape, t._array.dtype))


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradient of this tensor to the `.grad` of every leaf that it depends on.

    gradient: the vector v of vᵀJ, of this tensor's shape; may be omitted if the tensor has one element.
    The other arguments are those of `autograd.backward`.
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


# its name in TypeErrors
tensor_backward.__name__, tensor_backward.__qualname__ = "backward", "Tensor.backward"
