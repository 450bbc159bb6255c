"""The live ``grad_fn`` graph behind one or more tensors, read into nodes and edges. Changes nothing.

It uses the graph protocol and nothing else, so it is the same for every framework that follows it:

* a tensor has ``grad_fn``, ``requires_grad``, ``grad``, ``shape``, ``dtype``, ``detach()``, ``numpy()`` and ``backward()``;
  ``output_nr`` says which output of ``grad_fn`` it is (0 where it is missing);
* a node has ``name()`` and ``next_functions``, a tuple of (node or None, input_nr), one for each input; a node that adds to
  a leaf's .grad is called AccumulateGrad, has no inputs, and has ``variable``, the leaf;
* to be traced, a node also has ``register_prehook(fn(grad_outputs))`` and ``register_hook(fn(grad_inputs, grad_outputs))``,
  each returning a handle with ``remove()``;
* what a node keeps is in attributes ``_saved_<name>``; reading one that was freed raises RuntimeError.

Used where they exist: ``_sequence_nr()`` (the order in which the program ran), ``metadata`` (a dict, for ``viz.record``),
``rules`` (input name -> source text of its derivative rule), ``_input_metadata`` (shape and dtype of each output), a tensor's
``_backward_hooks``, ``_post_accumulate_grad_hooks`` and ``data_ptr()`` (used to find what ``detach()`` returned), a node's
``_hooks`` with dicts ``pre``, ``post`` and ``tensor`` (PyTorch hides its own). ``Graph.release()`` lets go of the live nodes.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .values import Value, dtype_name, item_size, scalar_text, shape_of, size_of

MOST = 200_000  # a graph with more nodes than this is refused
# PyTorch (2.13) recursively deletes a graph whose nodes Python has seen: a chain of about 40,000 of them ends the process with
# a segmentation fault when the last tensor is deleted, whatever code looked at them. So we look at no more than this.
MOST_OF_TORCH = 25_000
FREED = "a second time"  # in every framework's message when a freed saved tensor is read


@dataclass(slots=True, eq=False)
class Saved:
    """One thing that a node keeps for its backward rule: ``name`` as the rule calls it."""

    name: str
    state: str  # "kept", "freed" (already released), "modified" (in place since it was saved), "unreadable"
    value: Value | None = None  # for tensors that are not too large to copy
    text: str = ""  # for everything else, and for what cannot be read
    bytes: int = 0
    memory: tuple[int, int] | None = None  # the address and the size in bytes of the memory that holds it
    tensor: Any = None  # the live tensor until the graph is released
    label: str | None = None  # what the caller calls it
    data: tuple[int, ...] | None = None  # the shape of a variable of the caller's that does not require grad


@dataclass(slots=True, eq=False)
class Output:
    """One result of a function: a tensor of the forward pass."""

    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    name: str = ""  # the caller's, or one that we made (``named`` is False then)
    named: bool = False
    value: Value | None = None
    hooks: int = 0
    requires_grad: bool = True


@dataclass(slots=True, eq=False)
class Edge:
    """``source`` sends the gradient of its input number ``slot`` to output ``nr`` of ``target`` (None: not computed)."""

    index: int
    source: Function
    slot: int
    target: Function | None
    nr: int
    label: str | None = None  # with no target: what the caller calls this input, or the constant itself
    value: Value | None = None  # with no target: what it holds, where the node keeps it
    tensor: bool = False  # with no target: the caller has a variable for it
    # with no target: the output whose memory it shares, as the result of detach() does
    detached: tuple[Function, int] | None = None
    cut: bool = False  # nothing is sent along it, as if its input were detached here; see Graph.cut


@dataclass(slots=True, eq=False)
class Function:
    """One node of the graph. ``index`` is its position: inputs come before the functions that use them."""

    index: int
    fn: Any
    name: str
    kind: str  # "function", "accumulate", "custom", "copyslices"
    edges: list[Edge] = field(default_factory=list)
    users: list[Edge] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    leaf: Any = None  # the variable of an AccumulateGrad until the graph is released
    leaf_grad: Value | None = None  # its .grad when the graph was read
    # of a leaf: the address and the size in bytes of the memory that holds it
    memory: tuple[int, int] | None = None
    # made by a backward pass (create_graph=True); 2 if that pass went through what another one had made
    second: int = 0
    hooks: int = 0  # on the node itself
    after_hooks: int = 0  # of a leaf: called after its .grad was added to
    module: str | None = None
    # recorded calls around it: module, number, seconds
    calls: list[tuple[str, int, float]] = field(default_factory=list)
    call: int | None = None  # of a module that a recording saw run: which of its calls made this
    line: int | None = None
    other: str | None = None  # a recorded number that is not an input: the 4 in 4 - x
    freed: bool = False
    unreached: bool = False  # no gradient comes here, because of edges that were cut
    _saved: list[Saved] | None = None
    _rules: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"Function({self.index}: {self.name})"

    @property
    def saved(self) -> list[Saved]:
        """What the node keeps for its rule, read on first access."""
        if self._saved is None:
            self._saved = list(_read_saved(self.fn)) if self.fn is not None else []
            self.freed = any(s.state == "freed" for s in self._saved)
        return self._saved

    @property
    def rules(self) -> dict[str, str]:
        """The node's own rules, read on first access: input name -> source text; {} if it has none."""
        if self._rules is None:
            own = getattr(self.fn, "rules", None)
            own = own if isinstance(own, dict) and len(own) == len(self.edges) else {}
            self._rules = {str(k): str(v) for k, v in own.items()}
        return self._rules

    def output(self, nr: int) -> Output:
        while len(self.outputs) <= nr:
            self.outputs.append(Output())
        return self.outputs[nr]


@dataclass(slots=True, eq=False)
class Root:
    """A tensor from which the graph was read."""

    tensor: Any
    function: Function
    nr: int


class Graph:
    """Nodes in forward order, edges, and the roots; see :func:`read`."""

    def __init__(self, functions: list[Function], edges: list[Edge], roots: list[Root]):
        self.functions, self.edges, self.roots = functions, edges, roots
        self.by_fn: dict[Any, Function] = {f.fn: f for f in functions}
        self.by_leaf = {id(f.leaf): f for f in self.leaves}
        self.source: dict[str, Any] | None = None  # the lines that made it, where a recording knows them
        # of the modules that the caller can name: path -> the module (until the graph is released) and its class
        self.modules: dict[str, Any] = {}
        self.classes: dict[str, str] = {}
        self.recorded = False  # whether a recording saw the modules run

    def __len__(self) -> int:
        return len(self.functions)

    @property
    def leaves(self) -> list[Function]:
        return [f for f in self.functions if f.kind == "accumulate"]

    @property
    def title(self) -> str:
        return ", ".join(r.function.outputs[r.nr].name or "?" for r in self.roots)

    def made(self, tensor: Any) -> tuple[Any, int]:
        """(the function that made a live tensor or adds to its .grad, None if it is not in this graph; which output)."""
        f = self.by_leaf.get(id(tensor)) if tensor.grad_fn is None else self.by_fn.get(tensor.grad_fn)
        return f, int(getattr(tensor, "output_nr", 0))

    def cut(self, edges: Iterable[Edge]) -> None:
        """Mark edges as cut, and the functions that no gradient reaches then. A recorded pass stops there (trace.run)."""
        for edge in edges:
            edge.cut = True
        stack = [root.function for root in self.roots]
        reached = set(stack)
        while stack:
            for e in stack.pop().edges:
                if e.target is not None and not e.cut and e.target not in reached:
                    reached.add(e.target)
                    stack.append(e.target)
        for f in self.functions:
            f.unreached = f not in reached

    def release(self) -> None:
        """Release every live object, so that the framework can free the graph; what was read stays."""
        self.by_fn, self.by_leaf, self.modules = {}, {}, {}
        for f in self.functions:
            f.fn = f.leaf = None
            for s in f._saved or ():
                s.tensor = None
        for root in self.roots:
            root.tensor = None


def behind(nodes: Iterable[Any], enter: Callable[[Any], Any]) -> Iterator[Any]:
    """The live nodes from which ``nodes`` were made, including these, each once; nothing behind a node that ``enter``
    refuses."""
    stack, seen = list(nodes), set()
    while stack:
        fn = stack.pop()
        if fn not in seen and enter(fn):
            seen.add(fn)
            yield fn
            stack += [target for target, _ in fn.next_functions if target is not None]


def is_tensor(x: Any) -> bool:
    """Whether ``x`` follows the tensor half of the protocol (looked up without running a property)."""
    kind = type(x)
    if hasattr(kind, "grad_fn"):
        return hasattr(kind, "requires_grad")
    own = own_dict(x)
    return "grad_fn" in own and "requires_grad" in own


def is_module(kind: type) -> bool:
    """Whether this is a class of modules: objects with named parameters and parts."""
    return all(callable(getattr(kind, name, None)) for name in ("named_parameters", "named_modules"))


def own_dict(x: Any) -> Mapping[str, Any]:
    """The attributes that an object itself has, without asking it: no ``__getattr__`` and no property runs."""
    try:
        own = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return own if isinstance(own, dict) else {}


def framework(tensor: Any) -> str:
    """The package of a tensor, or of a class of tensors; for a user's subclass, that of the framework's class."""
    kind = tensor if isinstance(tensor, type) else type(tensor)
    kinds = (base for base in reversed(kind.__mro__) if hasattr(base, "backward"))
    return next(kinds, kind).__module__.partition(".")[0]


def place(tensor: Any) -> tuple[Any, ...] | None:
    """Where in memory the numbers of a tensor are, and their shape: ``detach()`` changes neither. None if unknown."""
    if hasattr(tensor, "fake_mode"):  # PyTorch would warn
        return None
    with contextlib.suppress(Exception):  # a tracer's tensor, a sparse one
        where = int(tensor.data_ptr())
        return (where, tuple(tensor.shape)) if where else None
    return None


def _which_entry(entries: Mapping[str, Any]) -> str:
    """Which tensor of a model's dict to pass: its loss, or the first that has a graph."""
    graphs = [key for key, t in entries.items() if is_tensor(t) and t.grad_fn is not None]
    if not graphs:
        return "None of its values is a tensor that has a graph."
    key = "loss" if "loss" in graphs else graphs[0]
    more = "" if key == "loss" else ", or a scalar computed from it"
    return f"Name the entry to start from: output[{key!r}]{more}."


def as_tensors(what: Any, verb: str) -> list[Any]:
    """``what`` (a tensor, several, or one list of them) as a list, or an error that says what to pass instead."""
    tensors = [what] if is_tensor(what) or not isinstance(what, list | tuple) else list(what)
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = list(tensors[0])
    if not tensors:
        raise ValueError(f"viz.{verb} got no tensor. Pass at least one that has a grad_fn, such as a loss.")
    for t in tensors:
        if not is_tensor(t):
            name = isinstance(t, str) and t is tensors[0]
            instead = "Pass the tensor itself, not its name." if name else _instead(t, verb)
            raise TypeError(
                f"viz.{verb} needs a tensor (or a list of tensors), but got {type(t).__name__}. {instead}"
            )
        if t.grad_fn is None:
            if t.requires_grad:
                why = (
                    "it is a leaf that requires grad, and nothing has been computed from it. "
                    "Compute something first, for example z = (w * 2).sum(), and pass z"
                )
            else:
                why = (
                    "it does not require grad. Create at least one of the inputs with requires_grad=True, and check that "
                    "the computation does not run under no_grad() or after detach()"
                )
            raise ValueError(f"viz.{verb} needs a tensor with a graph, but grad_fn is None here: {why}.")
    return tensors


def _instead(x: Any, verb: str) -> str:
    """What to pass instead of ``x``, which is not a tensor."""
    if is_module(type(x)):
        return "A module has no graph until it is called: pass what it returns, such as loss."
    if callable(x):
        return "A function has no graph until it is called: pass its result."
    if isinstance(x, str):
        return f"Options are given by name: viz.{verb}(z, view={x[:20]!r})."
    if isinstance(x, Mapping):
        return _which_entry(x)
    if type(x).__module__.startswith(f"{__name__.partition('.')[0]}."):
        return "Pass the tensor itself, not what viz made from it."
    own = vars(x) if hasattr(x, "__dict__") else {}
    held = next((key for key, value in own.items() if is_tensor(value)), None)
    if held:
        return f"Name the tensor in it: output.{held}."
    return "Pass the tensor that the forward pass returned, before .numpy(), .item() or float()."


def read(tensors: list[Any]) -> Graph:
    """The graph that leads to ``tensors``, through ``next_functions``; errors are those of :func:`read_nodes`."""
    most = MOST_OF_TORCH if framework(tensors[0]) == "torch" else MOST
    graph = read_nodes([t.grad_fn for t in tensors], most)
    graph.roots = [Root(t, *graph.made(t)) for t in tensors]
    for root in graph.roots:
        describe_output(root.function.output(root.nr), root.tensor)
    return graph


def read_nodes(nodes: list[Any], most: int = MOST_OF_TORCH) -> Graph:
    """The graph behind live nodes, without roots.

    Iterative, each node once, inputs before their users, in the order in which the program ran: the same program gives
    the same positions. Raises ValueError for a cycle, a broken node, or more than ``most`` nodes.
    """
    functions: dict[Any, Function] = {}
    # next_functions of each node: a framework may rebuild them at each access
    inputs: dict[Any, tuple[Any, ...]] = {}
    stack = [(fn, False) for fn in reversed(nodes)]
    while stack:
        fn, has_inputs = stack.pop()
        if has_inputs:
            functions[fn] = Function(len(functions), fn, *_name_and_kind(fn, bool(inputs[fn])))
        elif fn not in inputs:
            if len(inputs) >= most:
                why = "; looking at more can crash PyTorch when the graph is deleted" if most < MOST else ""
                advice = "Draw a part: one layer, fewer time steps, or a smaller input."
                raise ValueError(f"This graph has more than {most:,} nodes{why}. {advice}")
            if not hasattr(fn, "next_functions"):
                needs = "A node needs name() and next_functions: a tuple of (node or None, input_nr), one for each input."
                raise ValueError(f"A node of this graph, {type(fn).__name__}, has no next_functions. {needs}")
            inputs[fn] = tuple(fn.next_functions)
            stack.append((fn, True))
            stack += [(target, False) for target, _ in reversed(inputs[fn]) if target is not None]
        elif fn not in functions:
            raise ValueError(
                f"This graph has a cycle: {_name(fn)} is reached from itself through next_functions. "
                "A backward pass would never end. Check the code that sets next_functions."
            )
    edges: list[Edge] = []
    order = _program_order(functions, inputs)
    for f in order:
        for slot, (target, nr) in enumerate(inputs[f.fn]):
            edge = Edge(len(edges), f, slot, functions.get(target), int(nr))
            edges.append(edge)
            f.edges.append(edge)
            if edge.target is not None:
                edge.target.users.append(edge)
                edge.target.output(edge.nr)
        _describe(f)
    return Graph(order, edges, [])


def _program_order(functions: dict[Any, Function], inputs: dict[Any, tuple[Any, ...]]) -> list[Function]:
    """``functions`` as the program made them, each leaf before its first use, if the nodes have sequence numbers;
    otherwise unchanged. Inputs are checked to come first."""
    order = list(functions.values())
    try:
        number = {f: int(f.fn._sequence_nr()) for f in order if f.kind != "accumulate"}
    except AttributeError:
        return order
    placed: dict[Function, None] = {}
    for f in sorted(number, key=number.__getitem__):  # stable: equal numbers keep their order
        made_by = [functions[target] for target, _ in inputs[f.fn] if target is not None]
        if any(g in number and g not in placed for g in made_by):
            return order
        placed |= dict.fromkeys([*made_by, f])  # a function that already has a position keeps it
    for i, f in enumerate(placed):
        f.index = i
    return list(placed)


def describe_output(output: Output, tensor: Any) -> None:
    """Note shape, dtype and hooks of ``tensor``, the live result that ``output`` represents."""
    output.shape, output.dtype = shape_of(tensor), dtype_name(tensor)
    output.hooks = len(getattr(tensor, "_backward_hooks", None) or ())


def _describe(f: Function) -> None:
    metadata = getattr(f.fn, "_input_metadata", None) or ()  # an optional part of the protocol
    for nr, m in enumerate(metadata):
        out = f.output(nr)
        out.shape, out.dtype = shape_of(m), dtype_name(m)
    f.output(0)
    own = getattr(f.fn, "_hooks", None)
    f.hooks = sum(len(getattr(own, kind, None) or ()) for kind in ("pre", "post"))
    for nr, hooks in (getattr(own, "tensor", None) or {}).items():
        f.output(nr).hooks = len(hooks)
    if f.kind == "accumulate":
        f.leaf = f.fn.variable
        f.memory = memory_of(f.leaf)
        describe_output(f.outputs[0], f.leaf)
        f.after_hooks = len(getattr(f.leaf, "_post_accumulate_grad_hooks", None) or ())


def _name(fn: Any) -> str:
    name = getattr(fn, "name", None)
    return str(name() if callable(name) else type(fn).__name__).rsplit("::", 1)[-1]


def _name_and_kind(fn: Any, has_inputs: bool) -> tuple[str, str]:
    name = _name(fn)
    if name == "AccumulateGrad" or (not has_inputs and hasattr(fn, "variable")):
        return name, "accumulate"
    if name == "CopySlices":
        return name, "copyslices"
    return name, "function" if re.search(r"Backward\d+$", name) or name == "CopyBackwards" else "custom"


def _read_saved(fn: Any) -> Iterator[Saved]:
    """What ``fn`` keeps for its rule: its ``_saved_*`` attributes, and ``saved_tensors`` of a custom Function."""
    for attribute in sorted(a for a in dir(fn) if a.startswith("_saved_")):
        name = attribute.removeprefix("_saved_")
        if "_sym_" in name:  # sizes, strides and counts: bookkeeping, not part of what the rule teaches
            continue
        yield from _try(fn, attribute, name)
    if any(hasattr(type(fn), a) for a in ("saved_tensors", "save_for_backward")):
        try:
            tensors = fn.saved_tensors
        except Exception as error:
            yield Saved("saved_tensors", *_why(error))
        else:
            yield from (_kept(f"saved_tensors[{i}]", t) for i, t in enumerate(tensors) if is_tensor(t))


def _try(fn: Any, attribute: str, name: str) -> Iterator[Saved]:
    try:
        value = getattr(fn, attribute)
    except Exception as error:  # freed, changed in place, or whatever a custom engine raises
        yield Saved(name, *_why(error))
        return
    several = isinstance(value, list | tuple)
    if is_tensor(value):
        yield _kept(name, value)
    elif several and any(map(is_tensor, value)):
        yield from (_kept(f"{name}[{i}]", t) for i, t in enumerate(value) if is_tensor(t))
    elif isinstance(value, np.ndarray | np.generic):  # an engine may keep plain arrays
        yield Saved(name, "kept", Value.of(value))
    elif value is not None:
        value = type(value)(map(signed, value)) if several else signed(value)
        yield Saved(name, "kept", text=scalar_text(value))


def signed(value: Any) -> Any:
    """A saved number as the program gave it: PyTorch shows -1 as unsigned, and None (the end of x[1:]) as the largest int64."""
    if not isinstance(value, int) or value < 2**63 - 1:
        return value
    return None if value == 2**63 - 1 else value - 2**64


def _kept(name: str, tensor: Any) -> Saved:
    shape, dtype = shape_of(tensor), dtype_name(tensor)
    value = Value.small(tensor)
    text = "" if value is not None else f"{shape}, {dtype}"
    return Saved(name, "kept", value, text, size_of(shape) * item_size(dtype), memory_of(tensor), tensor)


def memory_of(tensor: Any) -> tuple[int, int] | None:
    """Where the memory that holds a tensor begins, and its size in bytes: for a view, all of its base's. None if unknown."""
    if hasattr(tensor, "fake_mode"):  # PyTorch would warn
        return None
    with contextlib.suppress(Exception):  # a sparse tensor, a tracer's
        if hasattr(tensor, "untyped_storage"):
            return tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()
        array = tensor.detach().numpy()
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array.ctypes.data, array.nbytes
    return None


def _why(error: Exception) -> tuple[str, None, str]:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    if FREED in first:
        return "freed", None, "freed by an earlier backward pass"
    if "modified by an inplace operation" in first:
        return "modified", None, "changed in place after it was saved"
    return "unreadable", None, first
