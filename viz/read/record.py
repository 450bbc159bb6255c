"""Record the forward pass while it runs: the name, the value and the source line of everything that is computed.

``with viz.record():`` follows the lines of the block (and of the functions it calls that live in the same file or notebook)
and writes what it sees into ``node.metadata``, so it lives exactly as long as the graph does. ``draw``, ``trace`` and
``step`` find it there. Uses Python's line tracing (a debugger's trace function is restored afterwards) and, until the
block ends, wraps the operators of the tensor class, for the values that no variable ever holds. Where the block raises,
``explain`` (failure.py) finds out what failed; the exception propagates unchanged.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from itertools import count
from time import perf_counter
from types import FrameType
from typing import Any

from .arguments import public
from .graph import behind, is_tensor, place, read_nodes
from .hooks import Progress
from .names import OF_PYTHON, PLAIN, give_names, held_by, reachable
from .replay import replay
from .text import one_line, plural
from .values import Value, same, scalar_text, unseen

KEY = "viz"  # the key of node.metadata
# the methods whose results may be temporaries that no variable ever holds
OPERATORS = "add radd sub rsub mul rmul truediv rtruediv pow rpow neg matmul rmatmul getitem abs"
METHODS = (
    "abs exp log sqrt sin cos tan tanh sigmoid relu softmax log_softmax sum mean prod max min amax amin var std pow clamp t "
    "transpose permute reshape view flatten squeeze unsqueeze expand mm matmul add sub mul div neg square norm logsumexp "
    "cumsum clone"
)
OPERATIONS = [f"__{name}__" for name in OPERATORS.split()] + METHODS.split()
CAN_BE_CHANGED = 1 << 9  # the flag of a class that was made by a class statement
CALLS = count()  # numbers all calls of modules, so that no two are confused, even in different recordings
NAMES_IN = 500  # at most this many tensors are looked at after each line
# the tensor classes whose operations are noted: the originals, and the recordings that listen, from several threads
WATCHED: dict[type, tuple[dict[str, Any], list[Recording]]] = {}
LOCK = threading.RLock()


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a part of a recording that runs inside the user's program: it only reads.

    An error while it reads (a half-built module, an object that raises, a tracer's tensor) leaves something unknown and is
    never raised in the program. The part ignores other threads, and what a compiler traces does not count as a run.
    """

    @functools.wraps(method)
    def look(self: Recording, *args: Any) -> None:
        if self._following and not self._compiling() and threading.get_ident() == self._thread:
            self._look_began = began = perf_counter()
            with contextlib.suppress(Exception), unseen():
                method(self, *args)
            self._looked += perf_counter() - began

    return look


def _noting(name: str, method: Callable[..., Any], recordings: list[Recording]) -> Callable[..., Any]:
    """Wrap a method of a tensor class: note what it returns or raises and, for ``backward``, how far the pass got."""

    @functools.wraps(method)
    def noting(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # an IPython debugger opens in the program
        progress = Progress() if name == "backward" else None
        try:
            run = functools.partial(method, *args, **kwargs)
            made = run() if progress is None else progress.follow(args[:1], run)
        except Exception as error:
            for recording in tuple(recordings):
                recording._raised = error, args, progress
            raise
        for recording in tuple(recordings):
            recording._made(made, args)
        return made

    return noting


class Recording:
    """The object that ``viz.record()`` gives to ``as``: how many operations and lines it saw, in the block or in ``filename``.

    ``failure`` says what failed if the block has raised, as ``explain`` returned it; otherwise None.
    """

    # (recording, exception) -> what failed: set by viz/show, which can make pictures
    explain: Callable[[Recording, Exception], Any] | None = None

    def __init__(self, filename: str | None = None) -> None:
        self.operations, self.lines, self._filename = 0, 0, filename
        self.failure: Any = None
        # the exception, the arguments of the operation that raised it, and how far a backward pass got
        self._raised: tuple[Exception | None, tuple[Any, ...], Progress | None] = None, (), None
        self._following, self._thread = False, threading.get_ident()
        # a frame's parameters: the tensors that it was called with
        self._given: dict[FrameType, dict[str, int]] = {}
        self._seen: dict[Any, dict[str, Any]] = {}
        self._counts: dict[str, int] = {}
        self._leaves: dict[int, tuple[Any, Value | None]] = {}
        self._before: Any = None
        self._frame: FrameType | None = None
        self._at: dict[FrameType, int] = {}
        self._values: dict[tuple[Any, int], Value | None] = {}
        self._places: dict[Any, tuple[Any, int]] = {}  # memory address -> the tensor whose numbers are there
        self._others: dict[Any, Any] = {}  # function with two operands -> the operand that needs no gradient
        self._plain: dict[int, str] = {}  # names of tensors that need no gradient
        self._watched: set[type] = set()
        self._looked_into: set[int] = set()  # objects already searched for modules
        # modules whose calls are watched, kept alive, and their names
        self._modules: dict[int, tuple[Any, str]] = {}
        self._handles: list[Any] = []  # of the hooks on these modules
        self._looked = self._look_began = 0.0  # seconds spent reading so far; when the newest read began
        # calls that have begun: the module, the newest node before it, when, and the seconds spent reading until then
        self._running: list[tuple[Any, int, float, float]] = []
        self._made_by: dict[Any, tuple[str, int | None]] = {}  # function -> module and its call
        # function -> the calls of modules that it was made in, innermost first: module, number, seconds
        self._calls: dict[Any, list[tuple[str, int, float]]] = {}

    def __repr__(self) -> str:
        return f"Recording({plural(self.operations, 'operation')} on {plural(self.lines, 'line')})"

    def __enter__(self) -> Recording:
        try:
            self.start(sys._getframe(1) if self._filename is None else None)
        except BaseException:  # Ctrl+C before there is anything to undo
            self._leave()
            raise
        return self

    def __deepcopy__(self, memo: dict[str, Any]) -> Recording:
        return self  # hooks are copied along with a module: they still belong to this recording

    def __reduce__(self) -> tuple[Any, ...]:
        return Recording, ()

    _compiling: Callable[[], bool] = staticmethod(bool)  # False where nothing compiles

    def start(self, frame: FrameType | None) -> None:
        """Follow the program from now on: the lines of ``frame`` or, if there is none, those of ``filename``."""
        self._before = (sys.gettrace(), frame.f_trace if frame is not None else None)
        self._following = True
        compiler = getattr(sys.modules.get("torch"), "compiler", None)
        self._compiling = getattr(compiler, "is_compiling", self._compiling)
        self._frame = frame
        self._globals = frame.f_globals if frame is not None else None
        if frame is not None:
            self._look_around(frame)
            frame.f_trace = self._trace
            self._at[frame] = frame.f_lineno
        sys.settrace(self._trace)

    @guarded
    def _look_around(self, frame: FrameType) -> None:
        for _, tensor in reachable(frame, 2)[0]:  # what existed before does not belong to this recording
            for fn in self._new(tensor):
                getattr(fn, "metadata", {})[KEY] = None
            self._watch(type(tensor))
        self._watch_modules(frame)

    def stop(self, kind: type | None = None, error: BaseException | None = None, *trace: object) -> None:
        """Look at the last line, fill in the temporaries' values, and stop following. An exception propagates unchanged."""
        try:
            sys.settrace(self._before[0])
            if self._frame is not None:
                self._after_line(self._frame)
            if isinstance(error, Exception) and self.explain is not None:
                self._explain(error)
            self._fill_in()
            self._leave()
        except BaseException:  # Ctrl+C, perhaps in the middle of `_leave`
            self._leave()
            raise
        finally:
            operations, lines = len(self._seen), {(m["file"], m["line"]) for m in self._seen.values()}
            failure = self.failure
            vars(self).update(vars(Recording()))  # keep no reference to the program
            self.operations, self.lines, self.failure = operations, len(lines), failure

    __exit__ = stop

    @guarded
    def _explain(self, error: Exception) -> None:
        self.failure = Recording.explain and Recording.explain(self, error)

    def _leave(self) -> None:
        """Restore everything that was replaced. Safe to call twice, and again after an interrupt."""
        with contextlib.suppress(RuntimeError):  # Ctrl+C may have come between the lock and its block
            while True:
                LOCK.release()
        if self._before is not None:
            sys.settrace(self._before[0])
            if self._frame is not None:
                self._frame.f_trace = self._before[1]
        self._following = False
        self._unwatch()
        for handle in self._handles:
            handle.remove()

    # -- the results of operations

    def _watch(self, kind: type) -> None:
        """Until the block ends, note what the operations of this tensor class return.

        Each is replaced in the class that has it and, last, in the lowest class that can be changed: a subclass with its own
        ``__rmul__``, such as Parameter, would be asked before the left operand. No ``__getitem__`` is given to a
        class: it would look like a sequence from then on, and PyTorch would read ``torch.tensor([x[0], x[1]])`` differently.
        """
        if kind in self._watched:
            return
        changeable = (c for c in kind.__mro__ if c.__flags__ & CAN_BE_CHANGED and hasattr(c, "backward"))
        owners = list(changeable) or [kind]
        for owner in set(owners) - self._watched:
            self._watched.add(owner)
            given = vars(owner).keys() | (set(OPERATIONS) - {"__getitem__"} if owner is owners[-1] else set())
            with LOCK:
                own, recordings = WATCHED.setdefault(owner, ({}, []))
                recordings.append(self)
                for name in (*OPERATIONS, "backward") if len(recordings) == 1 else ():
                    method = getattr(owner, name, None)
                    if name in given and callable(method):
                        own[name] = vars(owner).get(name)
                        setattr(owner, name, _noting(name, method, recordings))

    @guarded
    def _made(self, made: Any, args: tuple[Any, ...]) -> None:
        if not is_tensor(made) or made.grad_fn is None:
            return
        at = made.grad_fn, int(getattr(made, "output_nr", 0))
        if len(args) > 1:
            plain = [a for a in args[:2] if not is_tensor(a) or not a.requires_grad]
            if len(plain) == 1 and (is_tensor(plain[0]) or isinstance(plain[0], int | float)):
                now = Value.small(plain[0]) if is_tensor(plain[0]) else None
                self._others[made.grad_fn] = (plain[0], now)
        self._values[at] = Value.small(made)
        self._places[place(made)] = at

    def _unwatch(self) -> None:
        with LOCK:
            for kind in self._watched:
                own, recordings = WATCHED.get(kind, ({}, []))
                recordings[:] = [r for r in recordings if r is not self]
                for name, method in own.items() if not recordings else ():
                    if method is not None:
                        setattr(kind, name, method)
                    elif name in vars(kind):  # inherited: nothing to restore
                        delattr(kind, name)
                if not recordings:
                    WATCHED.pop(kind, None)
        self._watched = set()

    # -- the calls of modules

    def _watch_modules(self, frame: FrameType) -> None:
        """For the modules that the frame's variables hold, at any depth, note what each of their calls makes. Each object is
        searched once."""
        held = [*frame.f_locals.items(), *frame.f_globals.items()]
        new = [(n, v) for n, v in held if id(v) not in self._looked_into and not isinstance(v, PLAIN)]
        self._looked_into |= {id(v) for _, v in new}
        new = [(n, v) for n, v in new if not is_tensor(v) and not OF_PYTHON.fullmatch(n)]
        for path, module in held_by(new)[1].items() if new else ():
            self._watch_module(path, module)

    @guarded
    def _watch_module(self, name: str, held: Any) -> None:
        kind = type(held)
        if not all(callable(getattr(kind, n, None)) for n in ("named_modules", "register_forward_hook")):
            return
        for path, module in held.named_modules():
            if id(module) in self._modules:
                continue
            label = one_line(".".join(t for t in (name, path) if t) or kind.__name__)
            leaf = next(iter(module.children()), None) is None
            self._modules[id(module)] = module, label
            self._handles.append(module.register_forward_pre_hook(self._begins))
            ended = functools.partial(Recording._ended, self, label, leaf)
            self._handles.append(module.register_forward_hook(ended))

    @guarded
    def _begins(self, module: Any, args: tuple[Any, ...]) -> None:
        newest = max((sequence(t.grad_fn) for t in _tensors(args)), default=-1)
        self._running.append((module, newest, now := perf_counter(), self._looked + now - self._look_began))

    @guarded
    def _ended(self, label: str, leaf: bool, module: Any, args: tuple[Any, ...], output: Any) -> None:
        """Attribute the new functions behind the outputs to the module. Inner modules end first and keep what they made."""
        now = perf_counter()
        while self._running:
            began, newest, since, looked = self._running.pop()
            if began is module:  # calls inside it ended with an exception
                break
        else:
            return
        before = {t.grad_fn for t in _tensors(args)}
        number = next(CALLS)
        call, ran = number if leaf else None, (label, number, now - since - (self._looked - looked))
        inside = (t.grad_fn for t in _tensors([output]))
        for fn in behind(inside, lambda fn: fn not in before and fn.next_functions and sequence(fn) > newest):
            self._made_by.setdefault(fn, (label, call))
            self._calls.setdefault(fn, []).append(ran)

    # -- following the program

    def _trace(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        """What Python calls for each line. Ctrl+C in here ends the recording along with the tracing: after the block's last
        line nothing else would end it."""
        try:
            return self._call(frame) if event == "call" else self._local(frame, event, arg)
        except BaseException:
            self._leave()
            raise

    def _call(self, frame: FrameType) -> Callable[..., Any] | None:
        mine = frame.f_globals is self._globals if self._globals is not None else False
        if self._filename is not None and frame.f_code.co_filename == self._filename:
            mine, self._globals = True, frame.f_globals
        if not mine:
            return None
        self._at[frame] = frame.f_lineno
        self._given[frame] = {}
        self._take_given(frame)
        return self._trace

    @guarded
    def _take_given(self, frame: FrameType) -> None:
        """The values of a function's parameters as it is called, and the members of those that are lists or dicts."""
        code, here = frame.f_code, frame.f_locals
        stars = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]:
            if is_tensor(given := here.get(name)) or isinstance(given, list | tuple | dict):
                self._given[frame] |= {called: id(t) for called, t in held_by([(name, given)], 2)[0]}

    def _local(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        if event in ("line", "return"):
            self._after_line(frame, arg if event == "return" else None)
            self._at[frame] = frame.f_lineno
            if event == "return":
                self._at.pop(frame, None)
                self._given.pop(frame, None)
        return self._trace

    @guarded
    def _after_line(self, frame: FrameType, returned: Any = None) -> None:
        """Note that the line that ``frame`` was on has run: everything new was made there."""
        line = self._at.get(frame)
        if line is None:
            return
        self._watch_modules(frame)
        found = reachable(frame, 2)[0][:NAMES_IN]
        for called, tensor in found:
            self._watch(type(tensor))
            # a parameter's name, in a function or those inside it, is not a name for the caller's tensor
            given = any(names.get(called) == id(tensor) for names in self._given.values())
            name = None if given else called
            if tensor.grad_fn is not None:
                self._note(tensor, name, frame.f_code.co_filename, line)
            elif tensor.requires_grad and id(tensor) not in self._leaves:
                self._leaves[id(tensor)] = (tensor, Value.seen(tensor))
            elif not tensor.requires_grad and name is not None:
                self._plain.setdefault(id(tensor), name)
        if is_tensor(returned) and returned.grad_fn is not None:
            self._note(returned, None, frame.f_code.co_filename, line)

    def _note(self, tensor: Any, name: str | None, file: str, line: int) -> None:
        for fn in self._new(tensor):
            getattr(fn, "metadata", {})[KEY] = self._seen[fn] = {"file": file, "line": line, "outputs": {}}
        made = self._seen.get(tensor.grad_fn)
        nr = int(getattr(tensor, "output_nr", 0))
        if made is not None and name is not None and nr not in made["outputs"]:
            self._counts[name] = count = self._counts.get(name, 0) + 1
            made["outputs"][nr] = {"value": Value.small(tensor), "name": name, "count": count}

    def _new(self, tensor: Any) -> list[Any]:
        """Functions behind ``tensor`` that no recording has seen, inputs first."""

        def new(fn: Any) -> bool:
            return fn not in self._seen and KEY not in getattr(fn, "metadata", ()) and bool(fn.next_functions)

        return list(behind([tensor.grad_fn] if tensor.grad_fn is not None else [], new))[::-1]

    @guarded
    def _fill_in(self) -> None:
        """Values of temporaries that no variable held: kept by a node, or recomputed from known values."""
        for fn in self._seen.keys() & self._made_by.keys():
            self._seen[fn] |= {"module": self._made_by[fn], "calls": self._calls[fn]}
        for fn in self._seen.keys() & self._others.keys():
            other = self._others[fn]
            self._seen[fn] |= {"other": self._described(*other), "detached": self._cut_from(*other)}
        if len(self._seen) > 2_000:
            return
        graph = read_nodes(list(self._seen))
        give_names(graph, None)
        for f in graph.leaves:
            if id(f.leaf) in self._leaves:
                f.outputs[0].value = self._leaves[id(f.leaf)][1]
        entries: dict[tuple[Any, int], tuple[dict[str, Any], str]] = {}
        for f in (f for f in graph.functions if f.fn in self._seen):
            for nr, out in enumerate(f.outputs):
                nothing = {"name": None, "count": 0, "value": None}
                entry = self._seen[f.fn]["outputs"].setdefault(nr, nothing)
                out.value = entry["value"] = entry["value"] or self._values.get((f.fn, nr)) or out.value
                entries[f, nr] = entry, out.dtype or "float32"
        for at, again in replay(graph.functions).items():
            entry, dtype = entries.get(at, ({"value": again}, ""))
            if entry["value"] is None:
                plain = dtype if dtype in ("float64", "float16") else "float32"  # NumPy has no bfloat16
                entry["value"] = Value(again.astype(plain), dtype)

    def _cut_from(self, other: Any, value: Value | None) -> tuple[int, int] | None:
        """The tensor that ``other`` was detached from, if its numbers are unchanged: (number of the function, output)."""
        at = self._places.get(place(other)) if value is not None else None
        return (sequence(at[0]), at[1]) if at is not None and same(self._values[at], value) else None

    def _described(self, other: Any, value: Value | None) -> tuple[str | None, Value | None, bool]:
        """(label, value, whether it is a named tensor) of an operand that needs no gradient."""
        if not is_tensor(other):
            return scalar_text(other), None, False
        name = self._plain.get(id(other))
        if name is None and value is not None and not value.shape:
            return value.short(), value, False
        return name, value, name is not None


def _tensors(values: Any) -> list[Any]:
    """The tensors with a graph among the arguments or results of a call, one level into lists and dicts."""
    out = []
    for value in values:
        inner = value.values() if isinstance(value, dict) else value
        inner = inner if isinstance(value, dict | list | tuple) else [value]
        out += [t for t in inner if is_tensor(t) and t.grad_fn is not None]
    return out


def sequence(fn: Any) -> int:
    number = getattr(fn, "_sequence_nr", None)
    return int(number()) if number is not None else 0


@public
def record() -> Recording:
    """Record the forward pass of a ``with`` block: values, names and source lines of every temporary.

        with viz.record():
            h = (x @ w + b).tanh()
            loss = (h * h).mean()
        viz.step(loss)          # shows the lines, and the values of x @ w and x @ w + b as well

    Works in a notebook cell, a function or a script; functions called from the block are followed if they live in the same
    file or notebook. What was recorded belongs to the graph and is deleted with it.
    """
    return Recording()
