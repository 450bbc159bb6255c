"""Operations in place: `x.add_(y)`, `x += y`, `x.exp_()`.

Each has a function written out for the ordinary case (see calls_in_place.py); what is unusual goes to `write_in_general`.
What a write does to the graph is told in history.py.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd.captured import refuse_captured
from ..autograd.grad_mode import anomaly, local, special
from ..autograd.interpreter import Wrapper
from ..autograd.node import edge, next_sequence
from ..clock import clock
from ..tensor import Tensor, plain_types, wrap
from .arguments import explain, explain_operands
from .calls import remembering, written_later
from .calls_in_place import source_of_write
from .described import described, in_place_form
from .dispatch import as_tensors, forward, record
from .history import check_writable, hang, old_value, resave_result, written
from .shape import broadcast_pair
from .storage import is_stretched, overlap, stretched_error
from .table import function

if TYPE_CHECKING:
    from .table import Op

ndarray = np.ndarray

# What PyTorch allows on expanded tensors, and what it still allows, with a warning.
ALLOWED = {"fill", "zero", "tril", "triu"}
DEPRECATED = {
    "index_put": "indices] = tensor",
    "index_fill": "mask] = scalar",
    "masked_fill": "mask] = scalar",
}


def refuse_stretched(name: str) -> None:
    """Raise PyTorch's error (or warn) that this operation writes to a tensor that shows one element several times."""
    if name in DEPRECATED:
        warnings.warn(
            f"Use of {name}_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
            f"This also applies to advanced indexing e.g. tensor[{DEPRECATED[name]}",
            UserWarning,
            stacklevel=4,
        )
    elif name not in ALLOWED:
        raise stretched_error()


def apply_inplace(op: Op, inputs: tuple, params: tuple = ()) -> Tensor:
    """Run an operation and write the result into its first input. Returns that input."""
    return writer(op)(*inputs, *params)


def write_in_general(op: Op, inputs: tuple, params: tuple = ()) -> Tensor:
    """Run an operation, whatever the mode, and write the result into its first input. Returns that input."""
    inputs = as_tensors(op, inputs)
    if clock.running:
        refuse_captured(op.name, inputs[0])
    if local.interpreter is not None:
        return local.interpreter.write(op, inputs, params)
    if any(isinstance(t, Wrapper) for t in inputs):  # from a transform that has ended
        return write_in_general(op, tuple(t._outside() for t in inputs), params)
    self, array = inputs[0], inputs[0]._array
    recording = is_recorded(op, inputs)
    if recording:
        refuse(op, inputs, params)
    elif not op.differentiable and self._requires_grad and local.records:
        check_writable(self)
    stretched = is_stretched(array)
    if stretched:
        refuse_stretched(op.name if len(inputs) == 1 or op.name != "fill" else "fill with a tensor")
    for t in inputs[1:]:
        if t._counter is not None and t._counter is self._counter:
            if recording:
                edge(t)  # a view takes its new place in the graph even if what follows is refused
            if overlap(array, t._array):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                    "memory location. Please clone() the tensor before performing the operation."
                )
    if op.kind == "elementwise":
        shapes = [t._array.shape for t in inputs if t._array is not None]
        check_shape(op, functools.reduce(broadcast_pair, shapes), array.shape)
    try:
        result = forward(op, inputs, params)
    except (NotImplementedError, RuntimeError):
        check_category(op, inputs)
        raise
    check_result(op, result, array)
    node = None
    if recording:
        sources = list(inputs)
        if "self" in op.saves:
            sources[0] = old_value(self)  # the rules need the value from before the write
        node = record(op, sources, params, [wrap(result)])
    if local.before_write is not None:
        local.before_write(self)
    if stretched:  # an element that is there several times takes the value written to it, not the old one
        changed = result != array
        array[changed] = result[changed]
    else:
        array[...] = result
    written(self, node)
    if node is not None and op.saved_results:
        resave_result(node, self)
    return self


def refuse(op: Op, inputs: Sequence[Tensor], params: tuple) -> None:
    """Raise PyTorch's error if the first input must not be written to; before that, if another is no argument at all."""
    try:
        check_writable(inputs[0])
    except RuntimeError as refused:
        try:
            forward(op, inputs, params)
        except TypeError:
            raise
        except Exception:
            raise refused from None
        raise


def is_recorded(op: Op, inputs: Sequence[Tensor]) -> bool:
    """Does writing the operation's result into its first input become part of the graph? A copy into integers does not."""
    if op.name == "copy" and inputs[0]._array.dtype.kind != "f":
        return False
    return local.records and any(inputs[i]._requires_grad for i in op.differentiable)


def check_result(op: Op, result: ndarray | np.generic, target: ndarray) -> None:
    """Raise PyTorch's error if a result is not of the shape, or not of a kind of number, to be written into `target`."""
    check_shape(op, result.shape, target.shape)
    if not can_cast(result.dtype, target.dtype):
        raise cast_error(result.dtype, target.dtype)


def check_category(op: Op, inputs: Sequence[Tensor]) -> None:
    """Raise the error that PyTorch raises first, if the operands' common dtype cannot be written into the first of them."""
    if op.kind == "elementwise" and not op.floating and len(inputs) > 1:
        wanted = dtypes.promote(
            [(t._array.dtype, 2 if t._array.ndim else 1) for t in inputs if t._array is not None]
        )
        if not can_cast(wanted, inputs[0]._array.dtype):
            raise cast_error(wanted, inputs[0]._array.dtype)


def check_shape(op: Op, shape: tuple, wanted: tuple) -> None:
    """Raise PyTorch's error if a result does not have the shape of what it is to be written into."""
    if shape == wanted:
        return
    size = list(wanted)
    if op.name in ("addmm", "addmv", "baddbmm"):
        raise RuntimeError(
            f"Bad in-place call: input tensor size {size} and output tensor size {list(shape)} should match"
        )
    if op.name == "addr" and len(size) != 2:
        raise RuntimeError(f"2D tensor expected, got {len(size)}D tensor for input")
    if op.name == "addr":
        raise RuntimeError(f"size mismatch, input: {size}, v1: [{shape[0]}], v2: [{shape[1]}]")
    raise RuntimeError(f"output with shape {size} doesn't match the broadcast shape {list(shape)}")


def cast_error(source: np.dtype, target: np.dtype) -> RuntimeError:
    return RuntimeError(
        f"result type {dtypes.word(source)} can't be cast to the desired output type {dtypes.word(target)}"
    )


CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2}


def can_cast(source: np.dtype, target: np.dtype) -> bool:
    """May a result of this type be written into a tensor of that type? Not from a higher category into a lower."""
    return source is target or CATEGORY[source.kind] <= CATEGORY[target.kind]


# ---------------------------------------------------------------- the functions that do it


@functools.cache
def writer(op: Op, general: Callable | None = None, *, options: bool = False) -> Callable:
    """The function that runs an operation in place: its tensors first, then the parameters of its forward function.

    general: what does all that is unusual, if not `write_in_general`. options: whether the function takes keywords.
    """
    count = len(op.inputs)

    name = op.name.removesuffix("_") + "_"

    def unusual(*args):
        try:
            return write_in_general(op, args[:count], args[count:])
        except TypeError:
            explain_operands(op, name, args, method=True)
            raise

    if op.variadic or op.optional or len(op.outputs) != 1:
        return unusual
    compute = "into" if op.into is not None else "ufunc" if type(op.forward) is np.ufunc else "forward"
    scope = remembering({
        "__name__": __name__, "anomaly": anomaly, "check_result": functools.partial(check_result, op),
        "check_writable": check_writable, "edge": edge, "forward": op.forward, "general": general or unusual, "hang": hang,
        "into": op.into, "is_stretched": is_stretched, "local": local, "next_sequence": next_sequence, "Node": op.node_class,
        "old_value": old_value, "overlap": overlap, "plain_types": plain_types, "running": clock.running,
        "special": special, "Tensor": Tensor,
    }, op)  # fmt: skip
    names = ("self", *op.inputs[1:], *op.params)
    signature = f"{', '.join(names[:count])}{', *params' * bool(op.params)}{', **options' * options}"
    source = functools.partial(source_of_write, op, compute, options=options)
    return described(written_later("in_place", signature, scope, source, names), op, in_place=True)


def as_operator(run: Callable) -> Callable:
    """A method that writes in place as an operator, `x += y`, which leaves all but tensors and numbers to Python."""

    def operator(self, other):
        if isinstance(other, complex):
            raise dtypes.no_complex()
        return run(self, other) if isinstance(other, (Tensor, int, float, np.generic)) else NotImplemented

    operator.__doc__ = run.__doc__
    return operator


def define_inplace(call: Callable, *names: str) -> None:
    """Attach the in-place form of an operation to Tensor: `exp_`."""
    function(writer(call.op), *names)


def in_both_forms(*names: str, usual: Callable | None = None) -> Callable:
    """Decorator that turns `choose(input, ...)`, which returns (primitive, *its arguments), into a public function.

    The function runs the primitive. It is attached to Tensor under `names` (its own, if none is given), and under
    `<name>_` the form that writes the result into its first argument. usual: the primitive where only tensors are given.
    """

    def decorate(choose: Callable) -> Callable:
        first = (names or (choose.__name__,))[0]

        def out_of_place(method: bool) -> Callable:
            @functools.wraps(choose)
            def run(*args, **kwargs):
                try:
                    call, *rest = choose(*args, **kwargs)
                    return call(*rest)
                except (TypeError, AttributeError, ValueError):
                    explain(choose, first, args, kwargs, method=method)
                    raise

            return run

        def in_place(self, *args, **kwargs):
            try:
                call, *rest = choose(self, *args, **kwargs)
                if rest[0] is not self:  # it had to be cast to hold the result
                    raise cast_error(rest[0]._array.dtype, self._array.dtype)
                return writer(call.op)(*rest)
            except (TypeError, AttributeError, ValueError):
                explain(choose, first + "_", (self, *args), kwargs, method=True)
                raise

        if usual is not None:
            in_place = writer(usual.op, in_place, options=True)
        in_place = functools.update_wrapper(in_place, choose)
        in_place.__name__ = in_place.__qualname__ = first + "_"
        in_place.__doc__ = in_place_form(choose.__doc__)
        for name in names or (choose.__name__,):
            function(out_of_place(method=True), name)
            function(in_place, name + "_")
        found = out_of_place(method=False)
        found.in_place = in_place
        return found

    return decorate


__all__ = []
