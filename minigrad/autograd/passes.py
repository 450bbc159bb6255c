"""`backward` and `grad`: what users call. They check the arguments, start the engine and hand out the results."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..tensor import Tensor, wrap
from ..words import BATCHED_SHAPE, CREATES_CYCLE, IN_TRANSFORM, MATERIALIZE, SHAPE, UNUSED
from .engine import Root, execute
from .hooks import retain_grad
from .modes import local, special
from .node import Node, edge


class GradientEdge(NamedTuple):
    """A place in the graph at which to differentiate: output `output_nr` of `node`."""

    node: Node
    output_nr: int
    ownership_token: object = None  # PyTorch keeps nodes alive with it; here a node lives as long as the edge


def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | None = None,
) -> None:
    """Add to the `.grad` of every leaf the gradient of `tensors`, weighted by `grad_tensors`.

    grad_tensors: for each tensor the vector v of the product vᵀJ, of the tensor's shape; 1 for scalars if omitted.
    retain_graph: keep the saved values for another pass (default: the value of create_graph).
    create_graph: record the pass itself, so that the gradients can be differentiated.
    inputs: fill only the `.grad` of these tensors.
    Raises RuntimeError for tensors without a graph, non-scalars without gradient, wrong shapes, freed graphs.
    """
    if local.transform_depth or not (local.interpreter is None or local.interpreter.user):
        raise RuntimeError(IN_TRANSFORM)
    tensors = as_tuple(tensors)
    if inputs is not None:
        inputs = as_inputs(inputs, "backward")
    if create_graph:
        warnings.warn(CREATES_CYCLE, stacklevel=3)
    roots = make_roots(tensors, grad_tensors, local.gradients_are_tensors(create_graph))
    retain = create_graph if retain_graph is None else retain_graph
    targets, last = None, set()
    if inputs is not None:
        targets = {}
        for i in inputs:
            if isinstance(i, Tensor):
                retain_grad(i)  # a result keeps its gradient from now on
            last.add(edge_of(i)[0])  # this node is run, nothing behind it
    execute(roots, retain_graph=retain, create_graph=create_graph, targets=targets, last=last)


def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, returned; no `.grad` is touched.

    grad_outputs: the vectors v of vᵀJ, one per output; with is_grads_batched a stack of them along a new first dim.
    allow_unused: give None for an input that the outputs do not depend on, in place of an error.
    materialize_grads: give zeros for such an input.
    Raises RuntimeError as `backward` does, and for unused inputs.
    """
    outputs, inputs = as_tuple(outputs), as_inputs(inputs, "grad")
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(MATERIALIZE)
        allow_unused = True
    retain = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = batched_gradients(outputs, inputs, grad_outputs, retain, create_graph, allow_unused)
    else:
        found = gradients(outputs, inputs, grad_outputs, retain, create_graph, allow_unused)
    if materialize_grads:
        for n, i in enumerate(inputs):
            if found[n] is None:
                if not isinstance(i, Tensor):
                    raise RuntimeError(
                        "materialize_grads cannot be used when the given input is a GradientEdge"
                    )
                found[n] = zeros_like(i).requires_grad_(create_graph)
    return tuple(found)


def gradients(
    outputs: tuple,
    inputs: tuple,
    vectors: object,
    retain: bool,
    create_graph: bool,
    allow_unused: bool | None,
) -> list[Tensor | None]:
    """vᵀJ for each input, None for one that the outputs do not depend on (which is an error unless allowed)."""
    roots = make_roots(outputs, vectors, local.gradients_are_tensors(create_graph))
    places = [edge_of(i) for i in inputs]
    targets = dict.fromkeys(places)
    execute(roots, retain_graph=retain, create_graph=create_graph, targets=targets)
    results = []
    for number, place in enumerate(places):
        found = targets[place]
        if found is None and not allow_unused:
            raise RuntimeError(UNUSED.format(number))
        if found is not None and not isinstance(found, Tensor):
            found = wrap(np.array(found))  # a copy: it may be another tensor's gradient, or the caller's
        results.append(found)
    return results


def batched_gradients(
    outputs: tuple,
    inputs: tuple,
    vectors: object,
    retain: bool,
    create_graph: bool,
    allow_unused: bool | None,
) -> list[Tensor | None]:
    """`gradients` for many vectors, which the first dimension of `vectors` counts: a pass for each, stacked."""
    vectors = tuple(g for _, g in completed(outputs, vectors, batched=True))
    count = vectors[0]._array.shape[0]
    rows = []
    for n in range(count):
        kept = retain or n < count - 1
        row = tuple(v[n] for v in vectors)
        rows.append(gradients(outputs, inputs, row, kept, create_graph, allow_unused))
    return [None if column[0] is None else Tensor._stacked(column) for column in zip(*rows, strict=True)]


def grad_of_any(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Tensor | None], **options: bool
) -> Sequence[Tensor | None]:
    """`grad` for outputs of which some, or all, may have no history."""
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outputs, vectors = zip(*pairs, strict=True)
    return grad(outputs, inputs, vectors, allow_unused=True, **options)


def as_tuple(given) -> tuple:
    if isinstance(given, (Tensor, GradientEdge)):
        return (given,)
    return () if given is None else tuple(given)


def as_inputs(given: object, caller: str) -> tuple[Tensor | GradientEdge, ...]:
    """What to differentiate with respect to, as a tuple."""
    inputs = as_tuple(given)
    if not inputs:
        raise RuntimeError(f"`inputs` argument to `{caller}()` cannot be empty.")
    for i in inputs:
        if not isinstance(i, (Tensor, GradientEdge)):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(i).__name__}")
    return inputs


def edge_of(given: Tensor | GradientEdge) -> tuple[Node, int]:
    """(node, output number) of something to differentiate with respect to."""
    if isinstance(given, GradientEdge):
        return given.node, given.output_nr
    given = given._in_graph()
    node = edge(given)
    if node is None and given._requires_grad:
        return Node(), 0  # it only shows the memory of a leaf: no pass can reach it
    if node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return node, given._output_nr


def make_roots(starts: tuple, grads: object, recorded: bool) -> list[Root]:
    """Where a pass starts: checks the tensors (or edges) and the gradients there, and completes the latter."""
    roots = []
    for start, g in completed(starts, grads):
        node, output_nr = start[:2] if isinstance(start, GradientEdge) else (edge(start), start._output_nr)
        if node is None:
            raise RuntimeError(
                f"element {len(roots)} of tensors does not require grad and does not have a grad_fn"
            )
        roots.append((node, output_nr, g if recorded else g._array))
    return roots


def completed(
    starts: tuple, grads: object, batched: bool = False
) -> Iterator[tuple[Tensor | GradientEdge, Tensor]]:
    """Each tensor (or edge) that a pass starts from, with the gradient there: of its shape and dtype, 1 if omitted.

    batched: the gradients have a dimension more, the first, which is not looked at.
    """
    grads = (None,) * len(starts) if grads is None else as_tuple(grads)
    for g in grads:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if len(grads) != len(starts):
        raise RuntimeError(f"got {len(starts)} tensors and {len(grads)} gradients")
    for i, (start, g) in enumerate(zip(starts, grads, strict=True)):
        if isinstance(start, Tensor):
            start = start._in_graph()
        elif not isinstance(start, GradientEdge):
            raise AssertionError("Expected output to be a torch.Tensor")
        shape = getattr(start, "shape", None)  # unknown for an edge that was not taken from a tensor
        if g is None:
            if shape is None or (start.requires_grad and shape.numel() != 1):
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            g = wrap(np.ones(shape, start.dtype.numpy))
        elif shape is not None and batched and g.shape[1:] != shape:
            raise RuntimeError(BATCHED_SHAPE.format(i, g.shape[1:], shape))
        elif shape is not None and not batched and g.shape != shape:
            raise RuntimeError(SHAPE.format(i, g.shape, i, shape))
        elif shape is not None and g.dtype is not start.dtype:
            g = g.to(start.dtype)
        yield start, g


def zeros_like(t: Tensor) -> Tensor:
    """A constant zero of the shape and dtype of `t`."""
    return wrap(np.zeros(t._array.shape, t._array.dtype))


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add to the `.grad` of every leaf that this tensor depends on the gradient of this tensor.

    gradient: the vector v of vᵀJ, of this tensor's shape; may be omitted if the tensor has one element.
    The other arguments are those of `autograd.backward`.
    """
    array = self._array
    usual = inputs is None and not create_graph and not special and not local.transform_depth
    if usual and gradient is None and array.size == 1:
        node = edge(self)
        if node is not None:
            start = np.empty(array.shape, array.dtype)  # with fill: np.ones takes three times as long
            start.fill(1)
            execute([(node, self._output_nr, start)], retain_graph=bool(retain_graph), create_graph=False)
            return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


# as TypeErrors call it
tensor_backward.__name__, tensor_backward.__qualname__ = "backward", "Tensor.backward"
