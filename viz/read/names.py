"""What the caller calls its tensors: names for the outputs and leaves of a graph.

Reads the caller's local and global variables and what they hold: lists, dicts, modules, objects, the variables of closures.
Runs no property and calls no user code except ``named_parameters`` and ``named_modules``; looks at a limited number of objects.
Names given in ``names=`` win. Everything else gets a readable name that is made up here.
"""

from __future__ import annotations

import contextlib
import gc
import re
import sysconfig
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import chain, islice
from traceback import walk_stack
from types import FrameType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from . import rules
from .graph import Edge, Function, Graph, describe_output, is_module, is_tensor, own_dict, place
from .replay import infer_shapes, replay
from .text import SUBSCRIPTS, one_line
from .values import Value, dtype_name, number, shape_of

# an input that does not require grad and that no node keeps: nothing else is known about it
UNKNOWN = "constant"
SEEN = "viz.inputs"  # the key under which a node keeps the names of its inputs
FEW = 3  # a constant of up to this many numbers is named by them
MEASURED_UP_TO = 60  # nodes; in larger graphs a number that no node keeps stays unknown
LONGEST = 18  # a longer expression is not a readable name


def reachable(frame: FrameType | None, levels: int = 6) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Tensors and modules that the frame can name, wherever it holds them (``trainer.model.0.weight``): (name, tensor) pairs,
    and path -> module. Shorter paths come first, and locals before globals; at most ``LOOKED_AT`` objects."""
    if frame is None:
        return [], {}
    scopes = [frame.f_locals] if frame.f_locals is frame.f_globals else [frame.f_locals, frame.f_globals]
    held = [entry for scope in scopes for entry in list(scope.items())]
    return held_by([(name, value) for name, value in held if not OF_PYTHON.fullmatch(name)], levels)


def held_by(level: list[tuple[str, Any]], levels: int = 6) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """The tensors and modules held by some variables, which are given as (name, value) pairs."""
    tensors: list[tuple[str, Any]] = []
    modules: dict[str, Any] = {}
    seen: set[int] = set()
    for _ in range(levels):
        below: list[tuple[str, Any]] = []
        tensors += [(path, value) for path, value in level if is_tensor(value)]
        for path, value in level:
            ours = type(value).__module__.startswith(OURS)  # a recording or a stepper gives no names
            looked_at = id(value) in seen or isinstance(value, PLAIN) or is_tensor(value)
            if not looked_at and not ours and len(seen) < LOOKED_AT:
                seen.add(id(value))
                with contextlib.suppress(Exception):  # an object that is half built or closed gives no names
                    below += _inside(path, value, tensors, modules, seen)
        level = below
    return tensors, modules


def _further_out(graph: Graph, frame: FrameType, modules: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names for leaves that have none so far, from the functions that called the caller: a program may keep its model
    and pass only the loss to a function that draws it. Last come all living modules. Notes which modules
    hold them."""

    def unnamed() -> dict[int, Any]:
        return {id(f.leaf): f.leaf for f in graph.leaves if not f.outputs[0].named}

    def of_leaves(found: list[tuple[str, Any]], held: dict[str, Any]) -> list[tuple[str, Any]]:
        wanted = unnamed()
        names = [(name, tensor) for name, tensor in found if id(tensor) in wanted]
        for path, module in held.items():
            if any(name.startswith(path) for name, _ in names):
                modules.setdefault(path, module)
        return names

    outer = getattr(frame, "f_back", None)
    for caller, _ in islice(walk_stack(outer), FURTHEST) if outer is not None else ():
        # frames of Jupyter, pytest and Python hold many objects, but no model
        if unnamed() and not caller.f_code.co_filename.startswith(LIBRARIES):
            yield from of_leaves(*reachable(caller))
    if parameters := {key for key, leaf in unnamed().items() if _is_parameter(leaf)}:
        yield from of_leaves(*held_by(_alive(parameters, modules)))


def _is_parameter(x: Any) -> bool:
    """Whether a tensor was made as a parameter of some module: its class is called Parameter."""
    return any(kind.__name__ == "Parameter" for kind in type(x).__mro__)


def _alive(parameters: set[int], taken: Container[str]) -> list[tuple[str, Any]]:
    """The outermost living modules that have some of the parameters and that no variable in reach holds: those in a suspended
    generator, or in an attribute of a class. They are named after their classes."""
    everything = gc.get_objects()
    kinds = set(filter(is_module, set(map(type, everything))))
    modules = [thing for thing in everything if type(thing) in kinds]
    inside = {id(part) for module in modules for part in (own_dict(module).get("_modules") or {}).values()}
    names: dict[str, Any] = {}
    for module in (module for module in modules if id(module) not in inside):
        with contextlib.suppress(Exception):  # one that is half built
            if any(id(p) in parameters for _, p in module.named_parameters()):
                names[free(one_line(type(module).__name__), {*taken, *names})] = module
    return list(names.items())


OF_PYTHON = re.compile(r"__\w+__|_+\d*|_i+\d*|_[iod]h|In|Out")  # Python's and IPython's own variables
LIBRARIES = "<frozen ", *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
FURTHEST = 12  # functions that called each other
OURS = f"{__name__.partition('.')[0]}."
LOOKED_AT, ENTRIES = 3_000, 200  # objects, entries of one container
PLAIN = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, np.ndarray, np.generic)


def _inside(path: str, value: Any, tensors: list, modules: dict, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """What an object holds, by name. A module's parameters and submodules are noted at once."""
    kind = type(value)
    if isinstance(value, dict):
        yield from ((f"{path}[{key!r}]", item) for key, item in [*dict.items(value)][:ENTRIES])
    elif isinstance(value, list | tuple):
        fields = getattr(kind, "_fields", None) if isinstance(value, tuple) else None
        for i, item in enumerate(value[:ENTRIES]):
            yield f"{path}.{fields[i]}" if fields else f"{path}[{i}]", item
    elif isinstance(value, FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
            with contextlib.suppress(ValueError):  # not filled yet
                yield name, cell.cell_contents
    elif isinstance(value, MethodType):
        yield f"{path}.__self__", value.__self__
    elif is_module(kind):
        start = "" if path == "self" else path
        tensors += [(f"{start}.{key}".strip("."), item) for key, item in value.named_parameters()]
        for key, module in value.named_modules():
            where = one_line(f"{start}.{key}".strip("."))
            modules.setdefault(where, module)
            seen.add(id(module))
            own = ((name, item) for name, item in vars(module).items() if not name.startswith("_"))
            yield from ((f"{where}.{name}".strip("."), item) for name, item in own)
    else:
        entries = list(own_dict(value).items())[:ENTRIES]
        yield from ((f"{path}.{key}", item) for key, item in entries if isinstance(key, str))
        for base in kind.__mro__:
            for name, slot in vars(base).items():
                if isinstance(slot, MemberDescriptorType) and not name.startswith("__"):
                    with contextlib.suppress(AttributeError):  # not filled yet
                        yield f"{path}.{name}", slot.__get__(value)


def overrides(names: Any) -> Iterator[tuple[str, Any]]:
    """``names=`` as (name, tensor) pairs: from a dict, {"w": tensor} or {tensor: "w"}, from pairs such as those that
    ``model.named_parameters()`` gives, or from a module. Raises TypeError, with what to pass, for anything else."""
    if names is None:
        return
    if callable(getattr(type(names), "named_parameters", None)):
        names = names.named_parameters()
    pairs = list(names.items()) if isinstance(names, Mapping) else names
    if isinstance(pairs, str) or is_tensor(pairs) or not isinstance(pairs, Iterable):
        raise TypeError(f"{NAMES_ARE}, not {type(names).__name__}.")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"{NAMES_ARE}, but one entry is {type(pair).__name__}.")
        key, value = pair
        if isinstance(key, str) and is_tensor(value):
            yield key, value
        elif is_tensor(key) and isinstance(value, str):
            yield value, key
        else:
            raise TypeError(f"{NAMES_ARE}, but one entry is {type(key).__name__}: {type(value).__name__}.")


NAMES_ARE = 'names= must give names to tensors: {"w": w}, model.named_parameters(), or a module'


def give_names(
    graph: Graph, frame: FrameType | None = None, names: Any = None, recall: Callable | None = None
) -> dict[int, str]:
    """Name every output and leaf of ``graph``; note the values of those that are still alive.

    ``recall`` may add what a recording knows, before we make up names ourselves. Returns the names of tensors that do not
    require grad, by id of the (living) tensor.
    """
    plain: dict[int, str] = {}
    found, graph.modules = reachable(frame)
    places: dict[tuple | None, Any] = {place(f.leaf): (f, 0) for f in graph.leaves}
    further_out = _further_out(graph, frame, graph.modules) if frame is not None else ()
    for name, tensor in chain(overrides(names), found, further_out):
        name = one_line(name) or "?"
        f, nr = graph.made(tensor)
        if f is None:
            if not tensor.requires_grad:
                plain.setdefault(id(tensor), name)
            else:
                places.setdefault(place(tensor), name)  # of another graph
            continue
        out = f.output(nr)
        places.setdefault(place(tensor), (f, nr))
        if not out.named:
            out.name, out.named = name, True
        if out.value is None:
            _keep(out, tensor)
    graph.classes = {path: one_line(type(module).__name__) for path, module in graph.modules.items()}
    for root in graph.roots:
        _keep(root.function.output(root.nr), root.tensor)
    for f in graph.leaves:
        _keep(f.outputs[0], f.leaf)
        grad = getattr(f.leaf, "grad", None)
        f.leaf_grad = Value.seen(grad) if grad is not None else None
    _name_layers(graph)
    if recall is not None:
        recall(graph)
    _values_from_saved(graph, plain, places)
    _label_constants(graph, places)
    infer_shapes(graph)
    _added_numbers(graph)
    _name_the_rest(graph)
    for e in graph.edges:
        if e.detached is not None and e.label is None:
            e.label, e.tensor = f"{e.detached[0].output(e.detached[1]).name}.detach()", True
    for f in graph.functions:
        for s in (f._saved or ()) if f.edges else ():
            s.label = s.label or _label(s, f)
    return plain


# functions that a layer runs, and what they are called where the module itself is gone
LAYERS = {"Addmm": "linear", "Mm": "linear", "Convolution": "conv", "NativeBatchNorm": "batch_norm"}
LAYERS |= {"NativeLayerNorm": "layer_norm", "NativeGroupNorm": "group_norm", "Embedding": "embedding"}


def _name_layers(graph: Graph) -> None:
    """Names for the parameters of deleted modules, by the function that reads them: ``linear 2.weight``."""
    layers: Counter[str] = Counter()
    for f in (f for f in graph.functions if rules.base_name(f.name) in LAYERS):
        inputs = [(e.target, name) for e, name in zip(f.edges, rules.input_names(f), strict=True) if e.target]
        inputs = [(t.edges[0].target if rules.base_name(t.name) == "T" else t, name) for t, name in inputs]
        own = [(t, name) for t, name in inputs if t and _is_parameter(t.leaf)]
        called = LAYERS[rules.base_name(f.name)]
        if not own or any(t.outputs[0].named for t, _ in own):
            continue
        layers[called] += 1
        for t, name in own:
            role = "bias" if name in ("self", "bias") else "weight"
            t.outputs[0].name, t.outputs[0].named = f"{called} {layers[called]}.{role}", True


def _keep(out: Any, tensor: Any) -> None:
    describe_output(out, tensor)
    if out.value is None:
        out.value = Value.small(tensor)


def _values_from_saved(graph: Graph, plain: dict[int, str], places: dict) -> None:
    """A temporary that no variable holds may be alive as another node's saved tensor: then its value and place are known."""
    if len(graph) > 2_000:
        return
    for f in graph.functions:
        for s in f.saved:
            if s.tensor is None:
                continue
            s.label = plain.get(id(s.tensor))
            s.data = shape_of(s.tensor) if s.label else None
            made_by, nr = graph.made(s.tensor)
            if made_by is not None:
                out = made_by.output(nr)
                places.setdefault(place(s.tensor), (made_by, nr))
                if out.value is None:
                    out.value = s.value
                    out.shape, out.dtype = shape_of(s.tensor), dtype_name(s.tensor)


def _label_constants(graph: Graph, places: dict) -> None:
    """Inputs that do not require grad: their name or their number, if the node keeps them, and the tensor that they
    share memory with: two live tensors in one place, one with a graph and one without, are ``h`` and ``h.detach()``."""
    for f in graph.functions:
        if f._saved is None:
            continue
        kept = {s.name: s for s in f._saved}
        seen = getattr(f.fn, "metadata", {})  # read earlier, before a pass freed it
        for name, edge in zip(rules.input_names(f), f.edges, strict=True):
            s = kept.get(name)
            if s is not None and s.state == "freed" and edge.slot in seen.get(SEEN, ()):
                edge.label, edge.value, edge.tensor = seen[SEEN][edge.slot]
                continue
            if edge.target is None and s is not None:
                if s.tensor is not None and (at := place(s.tensor)) is not None:
                    cut_off(edge, places.get(at))
                label = s.label or edge.label or constant(s)
                edge.label, edge.value, edge.tensor = label, s.value, (s.label or edge.label) is not None
                if s.state == "kept":
                    seen.setdefault(SEEN, {})[edge.slot] = edge.label, edge.value, edge.tensor


def cut_off(edge: Edge, at: tuple[Function, int] | str | None) -> None:
    """Note that an input is what ``detach()`` returned for the earlier output ``at``, or for a tensor with that name."""
    name = at
    if isinstance(at, tuple):
        made_by, nr = at
        if made_by.index >= edge.source.index:
            return
        out = made_by.output(nr)
        edge.detached, name = at, out.name if out.named else None
    if name and edge.label is None:
        edge.label, edge.tensor = f"{name}.detach()", True


def _label(saved: Any, f: Function) -> str | None:
    """The name of the tensor that a saved value is: an input of the node, or its result."""
    if saved.name == "result":
        return f.outputs[0].name
    for name, edge in zip(rules.input_names(f), f.edges, strict=True):
        if name == saved.name and edge.target is not None:
            return edge.target.output(edge.nr).name
    return None


def operand_names(f: Function) -> dict[str, str]:
    """Input name -> what that input is called here; constants that the node keeps are written out."""
    words: dict[str, str] = {}
    kept = {s.name: s for s in f._saved or ()}
    for name, edge in zip(rules.input_names(f), f.edges, strict=True):
        if edge.target is not None:
            words[name] = edge.target.output(edge.nr).name or "…"
        else:
            words[name] = edge.label or UNKNOWN
    for name, s in kept.items():
        if name not in words and name != "result" and s.state == "kept":
            words[name] = s.text or s.label or name
    rule = rules.rule_for(f.name)
    if rule is not None and "{other}" in rule.form:
        words.setdefault("other", f.other or UNKNOWN)
    return words


def target_name(edge: Edge) -> str:
    """The name of the tensor to which this edge brings a gradient."""
    return "?" if edge.target is None else edge.target.output(edge.nr).name or "?"


def constant(saved: Any) -> str | None:
    """A saved tensor without a name: its numbers if they are few, such as the 2 of ``x * 2``; "mask" for True and
    False, or for 0 and a number above 1, as in a Dropout; "0s and 1s"."""
    if saved.value is None:
        return saved.text or None if saved.state == "kept" else None
    array = saved.value.array
    if array.size <= FEW:
        text = saved.value.short()
        return f"({text})" if array.dtype.kind == "c" and not array.ndim else text
    kinds = np.unique(array).tolist() if array.dtype.kind in "bf" else []
    if kinds == [0, 1] and array.dtype.kind == "f":
        return "0s and 1s"
    return "mask" if len(kinds) == 2 and not kinds[0] and kinds[1] >= 1 else None


def _added_numbers(graph: Graph) -> None:
    """The number that was added or subtracted, which no node keeps: the difference between the result and the input."""
    sums = [f for f in graph.functions if rules.base_name(f.name) in ("Add", "Sub", "Rsub") and not f.other]
    given = {f: [e for e in f.edges if e.target is not None] for f in sums}
    plain = {f: [e for e in f.edges if e.target is None] for f in sums}
    unknown = {f: [e for e in plain[f] if e.label is None and e.value is None] for f in sums}
    wanted = [f for f in sums if len(given[f]) == 1 and len(unknown[f]) == len(f.edges) - 1]
    values = replay(graph.functions) if wanted and len(graph) <= MEASURED_UP_TO else {}
    for f in wanted:
        base, e = rules.base_name(f.name), given[f][0]
        x, y = values.get((e.target, e.nr)), values.get((f, 0))
        if x is None or y is None or x.shape != y.shape or rules.numbers_of(f).get("alpha", "1") != "1":
            continue
        minus = base == "Rsub" or (base == "Sub" and unknown[f][0].slot == 0)  # number - x
        other = y + x if minus else x - y if base == "Sub" else y - x
        text = number(other.flat[0]) if other.size else "nan"
        if np.allclose(other, float(text), rtol=1e-6, atol=1e-6 * abs(y).max(initial=0)):
            f.other = text
            for e in unknown[f]:
                e.label = text


def _name_the_rest(graph: Graph) -> None:
    """Readable names for temporaries: a short expression, (a + b)₂ for the second equal one; otherwise t1, t2, ..."""
    taken = {o.name for f in graph.functions for o in f.outputs if o.named}
    count, leaf_count, times = 0, 0, Counter()
    for f in graph.functions:
        for nr, out in enumerate(f.outputs):
            if out.named:
                continue
            if f.kind == "accumulate":
                out.name = free(f"leaf {(leaf_count := leaf_count + 1)}", taken)
                continue
            text = rules.expression(f, operand_names(f)) if len(graph) <= 2_000 else ""
            if len(f.outputs) > 1 and text:
                text = f"{text}[{nr}]"
            times[text] += 1
            if times[text] > 1 and text:
                text = rules.operand(text) + str(times[text]).translate(SUBSCRIPTS)
            if not text or len(text) > LONGEST or text in taken or ("…" in text and len(text) > 10):
                text = free(f"t{(count := count + 1)}", taken)
            out.name = text
            taken.add(text)


def free(name: str, taken: Container[str]) -> str:
    """``name``, with enough primes to differ from the names that are taken."""
    while name in taken:
        name += "′"
    return name
