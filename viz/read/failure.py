"""What failed in a pass that raised: the operation, its operands, and the lines that made them.

Found from the traceback, from the source text at the place of the error, and from what a recording has seen; no
part of the program is run again. What cannot be known for certain is left out.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from .graph import FREED, Edge, Function, Graph, Output, Root, framework, is_tensor, read, read_nodes
from .modules import know
from .names import give_names
from .raised import Entry, Place, may_be_tensor, operands_of, operation_of, resolved, traceback_of
from .recall import recall
from .record import KEY, Recording, sequence
from .rules import base_name
from .text import clipped, one_line, plural, shape_text, table
from .values import Value, dtype_name, shape_of

SHOWN = 12  # at most this many operands are listed
SAVED = "It had saved"
MODIFIED = re.compile(r"modified by an inplace operation: .*, which is output \d+ of (\w+?),")
OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep


@dataclass(slots=True)
class Operand:
    """An operand of the failed operation: its text, its name, and the line that made it."""

    text: str
    name: str | None = None
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    value: Value | None = None
    made: Place | None = None
    state: str = ""  # of a saved tensor that cannot be read

    @property
    def about(self) -> str:
        """Shape and dtype, and what explains a bad index or a NaN: the range, and how many values are not finite."""
        parts = [shape_text(self.shape), self.dtype, self.state]
        if self.value is not None and self.value.array.size:
            low, high = self.value.range
            if self.value.array.dtype.kind in "iu":
                parts.append(f"from {low} to {high}" if low != high else f"all {low}")
            elif self.value.nonfinite:
                parts.append(f"{self.value.nonfinite:,} of {self.value.array.size:,} not finite")
        return ", ".join(part for part in parts if part)


@dataclass(eq=False)
class Failure:
    """An operation, a line or a backward node that raised. ``print(failure)`` describes it; ``graph`` is what had been
    computed by then, and ``failed`` the node in it that failed: in a forward pass the last one, with its operands."""

    error: str
    operation: str
    graph: Graph
    place: Place | None = None  # the line that failed; of a backward node the line that made it
    more: list[tuple[str, Place]] = field(default_factory=list)  # events on other lines
    module: str | None = None
    operands: list[Operand] = field(default_factory=list)
    given: str = "It was given"  # what the operands are
    failed: Function | None = None
    ran: int = 0  # operations or nodes
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        inside = f" in {self.module}" if self.module else ""
        where = f" on {self.place}" if self.place else ""
        if self.given == SAVED:  # a backward node: this line made it, but is not what failed
            return one_line(f"{self.operation}{inside}{f', made{where},' if where else ''} failed")
        return one_line(f"{self.operation} failed{inside}{where}")

    def __str__(self) -> str:
        lines = [self.error, f"{self.title}{':' if self.place and self.place.code else ''}"]
        lines += [f"    {self.place.code}"] if self.place and self.place.code else []
        lines += [f"    {what} on {place}: {place.code}" for what, place in self.more]
        rows = []
        for o in self.operands[:SHOWN]:
            what = o.text if o.name in (None, o.text) else f"{o.text} = {o.name}"
            rows.append((what, o.about, _made(o.made, self.place)))
        if rows:
            lines += [f"{self.given}:", *(f"    {line}" for line in table(rows, most=60))]
        return "\n".join([*lines, *self.notes])


def _made(place: Place | None, failed: Place | None) -> str:
    if place is None:
        return ""
    return "made on this line" if place == failed else f"made on {place}: {place.code}"


# -- a recorded block that raised -----------------------------------------------------------------------------------------


def of_recording(recording: Recording, error: Exception) -> Failure:
    """What failed in a recorded block: an operation of the forward pass, or a node of a backward pass."""
    entries = traceback_of(error, recording._frame)
    packages = {*map(framework, recording._watched), *sys.stdlib_module_names}
    own = [e for e in entries if e.package not in packages and not e.place.file.startswith(OURS)]
    if not own:
        own = entries[:1]
    raised, args, progress = recording._raised
    args = list(args) if raised in (error, error.__cause__) else []
    if args and progress is not None and args[0].grad_fn is not None:
        graph = _named(read(args[:1]), own)
        return _changed(of_pass(graph, error, progress.ran, progress.begun, entries), error, recording)
    return _of_forward(recording, error, entries, own, args)


def _named(graph: Graph, own: list[Entry]) -> Graph:
    give_names(graph, own[0].frame, None, recall)
    know(graph)
    return graph


def message_of(error: BaseException) -> str:
    """An exception in one line: its class, and the first line of its message."""
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return one_line(f"{type(error).__name__}: {first}" if first else type(error).__name__)


def _of_forward(
    recording: Recording, error: Exception, entries: list[Entry], own: list[Entry], args: list
) -> Failure:
    here = own[-1]
    rest = entries[entries.index(here) :]
    forward = (e for e in reversed(rest[1:]) if e.frame.f_code.co_name == "forward")
    layer = next((e for e in forward if e.module is not None), None)
    module = next((e.module for e in reversed([*own, *rest]) if e.module is not None), None)
    node, text = here.written()
    if layer is not None:  # a layer of the framework: what it was called with, and what it holds
        operation = type(layer.module).__name__
        found = _of_layer(layer, recording._modules.get(id(layer.module), ("", ""))[1])
    else:
        operation = operation_of(node, here.frame)
        parts = operands_of(node, here.frame)
        found = [(" ".join(ast.unparse(part).split()), part, resolved(part, here.frame)) for part in parts]
        found = _with_temporaries(found, args, recording, here.frame)
        differentiated = [t for _, t in found if is_tensor(t) and t.grad_fn is not None]
        # the framework's function, which takes the loss first
        if operation in ("grad", "backward") and differentiated:
            graph = _named(read(differentiated[:1]), own)
            # where an unobserved pass failed: what the node saved had been changed or freed
            state = "modified" if MODIFIED.search(str(error)) else "freed" if FREED in str(error) else ""
            begun = [f.fn for f in reversed(graph.functions) if any(s.state == state for s in f.saved)][:1]
            return _changed(of_pass(graph, error, None, begun, rest[1:]), error, recording)
    for _, thing in found:
        if here.frame.f_globals is recording._globals and is_tensor(thing) and thing.grad_fn is not None:
            recording._note(thing, None, here.place.file, here.line)
    recording._fill_in()
    around = [e.frame for e in [*own[1:], *([layer] if layer is not None else [])]]
    held = [t for frame in around for t in frame.f_locals.values() if is_tensor(t)]
    made = [getattr(t, "grad_fn", None) for _, t in found] + [t.grad_fn for t in held]
    made += [thing.fn for _, thing in found if isinstance(thing, _Result)]
    made += [*recording._made_by, *recording._seen]
    made += [fn for fn, _ in recording._values] if layer is None else []  # in a layer they are internal
    graph = _named(read_nodes([fn for fn in dict.fromkeys(made) if fn is not None]), own)
    failure = Failure(message_of(error), operation, graph, here.place)
    if own[0].place != here.place:
        failure.more.append(("called", own[0].place))
    label = type(module).__name__ if module is not None else None
    if label != (path := recording._modules.get(id(module), (None, label))[1]):
        label = f"{path} ({label})"
    if layer is not None and label is not None:
        failure.operation = label
    else:
        failure.module = label
    failure.operands = [_operand(name, thing, graph) for name, thing in found]
    failure.given = "The line names" if isinstance(node, ast.Raise | ast.Assert) else failure.given
    failure.ran = sum(bool(f.edges) for f in graph.functions)
    before = f"{plural(failure.ran, 'operation')} had" if failure.ran else "Nothing had"
    failure.notes = [f"{before} run before it.", *_first_nan(graph)]
    _add_failed(failure, operation, text or here.place.code, found)
    return failure


@dataclass(slots=True)
class _Result:
    """A result that no variable holds, but whose function is known."""

    fn: Any
    nr: int


def _of_layer(layer: Entry, path: str) -> list[tuple[str, Any]]:
    code, held = layer.frame.f_code, layer.frame.f_locals
    given = [(name, held.get(name)) for name in code.co_varnames[1 : code.co_argcount]]
    own = [(f"{path}.{name}" if path else name, tensor) for name, tensor in layer.module._parameters.items()]
    return [(name, tensor) for name, tensor in given + own if is_tensor(tensor)]


def _with_temporaries(
    found: list[tuple[str, ast.AST, Any]], args: list, recording: Recording, frame: FrameType
) -> list[tuple[str, Any]]:
    """The tensors among the operands. A tensor that no variable holds is known if it was seen going
    into the operator itself, or was returned by a call on this very line; otherwise it is None."""
    known = [thing for _, _, thing in found]
    unnamed = [a for a in args if is_tensor(a) and not any(a is thing for thing in known)]
    fresh = [(fn, nr) for fn, nr in recording._values if fn not in recording._seen]
    used = {target for fn, _ in fresh for target, _ in fn.next_functions}
    ends = sorted(((fn, nr) for fn, nr in fresh if fn not in used), key=lambda at: sequence(at[0]))
    unknown = ((i, part) for i, (_, part, thing) in enumerate(found) if thing is None)
    open_ends = [i for i, part in unknown if may_be_tensor(part, frame)]
    results = [_Result(*at) for at in ends] if len(ends) == len(open_ends) else [None] * len(open_ends)
    for i, result in zip(open_ends, results, strict=True):
        known[i] = unnamed.pop(0) if unnamed else result
    kept = ((name, thing) for (name, _, _), thing in zip(found, known, strict=True))
    return [(name, thing) for i, (name, thing) in enumerate(kept) if is_tensor(thing) or i in open_ends]


def _operand(text: str, thing: Any, graph: Graph) -> Operand:
    if thing is None:
        return Operand(text, state="shape not known")
    if isinstance(thing, _Result):
        f = graph.by_fn[thing.fn]
        out = f.output(thing.nr)
        dtype = out.dtype or (out.value and out.value.dtype)
        return Operand(text, out.name, out.shape, dtype, out.value, _place_of(f))
    f, nr = graph.made(thing)
    name = f.output(nr).name if f is not None else None
    return Operand(text, name, shape_of(thing), dtype_name(thing), Value.small(thing), _place_of(f))


def _place_of(f: Function | None) -> Place | None:
    made = getattr(f.fn, "metadata", {}).get(KEY) if f is not None else None
    return Place(made["file"], made["line"]) if made else None


def _first_nan(graph: Graph) -> list[str]:
    """Where the first number that is not finite came from, among the known values."""
    for f in graph.functions:
        before = [e.target.output(e.nr).value for e in f.edges if e.target is not None]
        bad = next((o for o in f.outputs if o.value is not None and o.value.nonfinite), None)
        if bad is not None and f.edges and not any(v is None or v.nonfinite for v in before):
            place = _place_of(f)
            where = f", on {place}: {place.code}" if place else ""
            shown = f"{bad.name} ({bad.value.short(40)}){where}"
            return [f"The first result with numbers that are not finite is {shown}"]
    return []


def _add_failed(failure: Failure, operation: str, text: str, found: list[tuple[str, Any]]) -> None:
    """The failed operation as the last function of the graph, with an edge to each tensor that went into it."""
    graph = failure.graph
    failed = failure.failed = Function(0, None, f"{operation} failed", "failed")
    failed.outputs = [Output(name=clipped(text, 60), named=True)]
    for name, thing in found:
        f, nr = (graph.by_fn[thing.fn], thing.nr) if isinstance(thing, _Result) else (None, 0)
        if is_tensor(thing):
            f, nr = graph.made(thing)
            if f is None and thing.requires_grad and thing.grad_fn is None:
                f = _leaf(graph, thing, name)
        edge = Edge(len(graph.edges), failed, len(failed.edges), f, nr)
        if f is None:
            edge.label, edge.value, edge.tensor = name, Value.small(thing) if is_tensor(thing) else None, True
        else:
            f.users.append(edge)
        failed.edges.append(edge)
        graph.edges.append(edge)
    failed._rules = {f"input {i}": "" for i in range(len(failed.edges))}
    failed.index = len(graph.functions)
    graph.functions.append(failed)
    graph.roots = [Root(None, f, 0) for f in graph.functions if not f.users]


def _leaf(graph: Graph, tensor: Any, name: str) -> Function:
    """A leaf that nothing has been computed from yet."""
    f = Function(len(graph.functions), None, "AccumulateGrad", "accumulate", leaf=tensor)
    f.outputs = [Output(shape_of(tensor), dtype_name(tensor), name, True, Value.small(tensor))]
    graph.functions.append(f)
    graph.by_leaf[id(tensor)] = f
    return f


# -- a backward pass that raised ------------------------------------------------------------------------------------------


def of_pass(
    graph: Graph,
    error: BaseException,
    ran: Iterable[Any] | None,
    begun: Iterable[Any],
    entries: list[Entry] | None = None,
) -> Failure:
    """What failed in a backward pass of a graph that was read: ``ran`` (None: not known) and ``begun`` are live nodes,
    ``entries`` the traceback (by default that of ``error``)."""
    entries = traceback_of(error, None) if entries is None else entries
    done = [graph.by_fn[fn] for fn in ran or () if fn in graph.by_fn]
    failed = next((graph.by_fn[fn] for fn in reversed(list(begun)) if fn in graph.by_fn), None)
    inside = _called_by_the_pass(entries)
    held = inside[0].frame.f_locals.values() if inside else ()
    hook = bool(inside) and (failed is None or not any(v is failed.fn for v in held))
    if failed is None and inside and ran is not None:
        failed = _next(graph, set(done))  # a hook on a tensor: it runs before the node does
    name = f"{failed.name} of {failed.outputs[0].name}" if failed is not None else "The backward pass"
    failure = Failure(message_of(error), f"A hook on {name}" if hook and failed else name, graph, given=SAVED)
    failure.failed, failure.ran = failed, len(done)
    failure.more += [("raised", inside[-1].place)] if inside else []
    if failed is not None:
        failed.kind = "failed" if failed.kind != "accumulate" else failed.kind
        failure.place, failure.module = _place_of(failed), failed.module
        for s in failed.saved:
            shape, dtype, state = (s.value.shape, s.value.dtype, "") if s.value else (None, None, s.text)
            failure.operands.append(Operand(s.name, s.label, shape, dtype, s.value, state=state))
    if ran is None:
        failure.notes = ["It is not known how far the pass had got."]
        return failure
    for f in graph.functions:
        f.unreached = f not in done and f is not failed
    last = ", ".join(clipped(f"{f.name} of {f.outputs[0].name}", 40) for f in done[-3:])
    before = f": {'…, ' * (len(done) > 3)}{last}" if done else ""
    failure.notes = [f"{len(done)} of {plural(len(graph), 'node')} had run before it{before}."]
    return failure


def _changed(failure: Failure, error: Exception, recording: Recording) -> Failure:
    """Add the line that changed a saved tensor in place, if the recording has seen only one that may have done it."""
    match, failed = MODIFIED.search(str(error)), failure.failed
    if match is None or failed is None or not any(s.state == "modified" for s in failed.saved):
        return failure
    inputs, after = {e.target.fn for e in failed.edges if e.target is not None}, sequence(failed.fn)
    named = (fn for fn in recording._seen if base_name(fn.name()) == match[1] and sequence(fn) > after)
    found = [fn for fn in named if any(target in inputs for target, _ in fn.next_functions)]
    if len(found) == 1:
        made = recording._seen[found[0]]
        failure.more.append(("changed in place", Place(made["file"], made["line"])))
    return failure


def _called_by_the_pass(entries: list[Entry]) -> list[Entry]:
    """The program's own code that the engine ran: a hook, or the rule of a custom Function."""
    last = max((i for i, e in enumerate(entries) if e.place.file.startswith(OURS)), default=-1)
    packages = {framework(t) for e in entries for t in e.frame.f_locals.values() if is_tensor(t)}
    return [e for e in entries[last + 1 :] if e.package not in {*packages, *sys.stdlib_module_names}]


def _next(graph: Graph, done: set[Function]) -> Function | None:
    """The node that an engine takes next: of those that are ready, AccumulateGrad first, then the newest."""
    roots = {r.function for r in graph.roots}
    left = (f for f in graph.functions if f not in done and (f.users or f in roots))
    ready = [f for f in left if all(e.source in done for e in f.users)]
    return max(ready, key=lambda f: (f.kind == "accumulate", sequence(f.fn)), default=None)
