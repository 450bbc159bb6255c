"""What a node saves for its rules: reading it, the check that nobody has written to it since, and the hooks that pack it.

A node saves its inputs as tensors and its own result as an array, or it would never die. It remembers the versions that
they had, all in one number. Imports `node`, which knows nothing of what is saved.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..tensor import Tensor, plain_types, wrap
from .grad_mode import anomaly
from .node import AccumulateGrad, Node, edge, grad_fn, no_recording

DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
    "out-of-place `.detach()` instead"
)
FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)
FIELD = 20  # a node's version is one number, with this many bits for each value that it saves
MASK = (1 << FIELD) - 1


def version_of(t: Tensor) -> int:
    counter = t._counter
    return 0 if counter is None else counter.version


def versions(node: Node) -> int:
    """The versions that the saved inputs and result of a node have now, as one number.

    It is inverted, so negative, if hooks hold some of them: these have no version, and the rules cannot read them as they are.
    """
    op, saved, found = node._op, node._kept, 0
    for i in op.saved_inputs:
        if saved[i] is not None:
            found += version_of(saved[i]) << FIELD * i
    if op.saved_results and type(saved[op.saved_results[0]]) is not Packed:
        found += node._counter.version << FIELD * op.saved_results[0]
    return ~found if Packed in map(type, saved) else found


def unpack(node: Node, recorded: bool) -> list:
    """The saved values for the rules: arrays, or Tensors if `recorded`. Raises if freed or written to since."""
    if node._kept is None:
        raise RuntimeError(FREED)
    values = list(node._kept)
    for i in node._op.saved_tensors:
        if values[i] is not None:
            values[i] = unpack_one(node, i, recorded)
    return values


def unpack_one(node: Node, i: int, recorded: bool) -> Tensor | np.ndarray:
    """The saved input or result that stands at place `i`."""
    kept, (source, number) = node._kept[i], node._op.sources[i]
    if type(kept) is Packed:
        t = kept.unpack(node)
        if t._array.dtype != kept.dtype:  # the hooks changed it; the gradient must not change with it
            t = t.to(dtypes.of_numpy(kept.dtype))
        kept = t if source == "input" else t._array
    else:
        refuse_modified(node, i)
    if not recorded:
        return kept._array if isinstance(kept, Tensor) else kept
    return kept if source == "input" else saved_result(node, kept, number)


def refuse_modified(node: Node, i: int) -> None:
    """Raise PyTorch's error if a saved tensor has been written to since it was saved."""
    kept, (source, number) = node._kept[i], node._op.sources[i]
    then = (node._version if node._version >= 0 else ~node._version) >> FIELD * i & MASK
    if source == "input":
        if version_of(kept) != then:
            raise modified_error(kept._array, grad_fn(kept), 0, version_of(kept), then)
        places = () if node._op.variadic else node._op.differentiable
        before = node._edges[places.index(number)] if number in places else None
        if before is not None and type(before) is not AccumulateGrad and kept._grad_fn is None:
            raise RuntimeError(DETACHED)
    elif i == node._op.saved_results[0] and node._counter is not None and node._counter.version != then:
        array = kept._array if isinstance(kept, Tensor) else kept
        raise modified_error(array, node, number, node._counter.version, then)


def read(node: Node, i: int) -> object:
    """What a node saves at place `i`, as users see it in `_saved_self` and its like."""
    saved = node._kept
    if saved is None:
        raise RuntimeError(FREED)
    kept, op = saved[i], type(node)._op
    if kept is None or (op is not None and i not in op.saved_tensors):
        return kept
    if op is None:
        return kept.unpack(node)
    found = unpack_one(node, i, recorded=True)
    return wrap(np.asarray(found._number)) if hasattr(found, "_number") else found


# The node of a write into a view -> a function that makes the node which reads the view's new value from the base.
written_views: weakref.WeakKeyDictionary[Node, Callable[[], Node | None]] = weakref.WeakKeyDictionary()


def saved_result(node: Node, kept: np.ndarray | Tensor, output_nr: int = 0) -> Tensor:
    """A node's own result as the tensor it was: made by `node`, with the version counter that the real one has."""
    out = wrap(kept) if isinstance(kept, np.ndarray) else kept.face()
    if output_nr >= node._output_count or out._array.dtype.kind != "f":
        return out  # an index is not differentiable
    reader = written_views.get(node)
    out._grad_fn = node if reader is None else reader()
    out._requires_grad, out._output_nr, out._counter = True, output_nr, node._counter
    return out


def short_name(node: Node) -> str:
    """A node's name as error messages have it: MulBackward0 is Mul, MaxBackward1 is Max1."""
    # the last word: the name of a custom Function may contain it too
    name, _, number = node.name().rpartition("Backward")
    if not name or not (number.isdigit() or not number):
        return node.name()
    return name + (number if number != "0" else "")


def modified_error(
    array: np.ndarray, maker: Node | None, output_nr: int, now: int, then: int
) -> RuntimeError:
    """PyTorch's complaint about a saved tensor that was written to."""
    kind = dtypes.of_numpy(array.dtype).tensor_type
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
        "changed in there or anywhere later. Good luck!"
        if anomaly.on
        else "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    made_by = "" if maker is None else f", which is output {output_nr} of {short_name(maker)},"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(array.shape)}]{made_by} is at version {now}; expected version {then} "
        f"instead. Hint: {hint}"
    )


# ---------------------------------------------------------------- hooks


class Packed:
    """A saved tensor that a pair of saved_tensors_hooks has packed; `unpack()` gives it back, at its place in the graph.

    `keeper` is the node that saves it. Of its own result it must keep nothing that leads back to it.
    """

    __slots__ = ("dtype", "hook", "is_result", "is_unchanged", "node", "output_nr", "packed")
    _counter = _array = None  # where a saved tensor is looked at before anyone knows that it is packed

    def __init__(
        self, t: Tensor, hooks: tuple[Callable, Callable], keeper: Node, values: Tensor | None = None
    ):
        """`values`: what the hook gets, if not `t` itself."""
        node = edge(t)
        self.is_result, self.output_nr, self.dtype = node is keeper, t._output_nr, t._array.dtype
        self.node = None if self.is_result else node
        values = t if values is None else values
        before = version_of(values)
        with no_recording():
            packed, self.hook = hooks[0](values), hooks[1]
        if version_of(values) != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
                "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you "
                "need to perform in-place operations on the input to a pack hook."
            )
        self.is_unchanged = self.is_result and packed is t
        self.packed = t._array if self.is_unchanged else packed

    def unpack(self, keeper: Node) -> Tensor:
        t = self.hook(saved_result(keeper, self.packed, self.output_nr) if self.is_unchanged else self.packed)
        if not isinstance(t, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(t).__name__}"
            )
        node = keeper if self.is_result else self.node
        if node is None or type(t) not in plain_types or t._grad_fn is node:
            return t
        if type(node) is not AccumulateGrad:
            out = wrap(t._array, requires_grad=True)
            out._grad_fn, out._output_nr = node, self.output_nr
            return out
        out = wrap(t._array, requires_grad=True)
        out._own_meta().accumulator = weakref.ref(node)
        return out


class SavedTensor:
    """One of the tensors that a node saves, as `node._raw_saved_self` gives it: hooks can be put on this one alone."""

    __slots__ = ("node", "position")

    def __init__(self, node: Node, position: int):
        self.node, self.position = node, position

    def __repr__(self) -> str:
        return f"<torch._C._autograd.SavedTensor object at {id(self):#x}>"

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Keep what `pack_hook(tensor)` returns in the place of the tensor; `unpack_hook` makes a tensor of it again."""
        node, i, saved = self.node, self.position, self.node._kept
        if saved is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
                "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved variables after calling backward."
            )
        kept, op = saved[i], type(node)._op
        if kept is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if type(kept) is Packed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
                "allowed at a time."
            )
        if op is None:
            t = kept.restored(node)
        else:
            source, number = op.sources[i]
            t = kept if source == "input" else saved_result(node, kept, number)
        values = wrap(np.asarray(t._number) if hasattr(t, "_number") else t._array)
        packed = Packed(t, (pack_hook, unpack_hook), node, values)
        saved = (*saved[:i], packed, *saved[i + 1 :])
        if op is None:
            node._kept = saved
        else:  # the versions of the others stay as they were
            then = node._version if node._version >= 0 else ~node._version
            node._kept, node._version = saved, ~(then & ~(MASK << FIELD * i))

    @property
    def data(self) -> object:
        """What is kept: what the hook made of the tensor, else the tensor."""
        saved = self.node._kept
        kept = None if saved is None else saved[self.position]
        return kept.packed if type(kept) is Packed else self.unpack()

    def unpack(self) -> Tensor | None:
        """The tensor, as `_saved_...` of the node gives it."""
        return read(self.node, self.position)
