"""One program, two engines: run it under PyTorch and under minigrad and say what differs.

A program is a few lines of PyTorch code. It is run as a session at the prompt: statement by statement, and a statement
that raises does not end it. Each run leaves a transcript, plain data that JSON can hold:

* for every statement: what it printed, its warnings, the error it raised (type and first line), the value of a bare
  expression, and the order in which the nodes of the graph ran, as seen by public node hooks;
* for every variable at the end: value, dtype, shape, `requires_grad`, `is_leaf`, version, `.grad`, printed form;
* the graph behind all of them: each node's name and edges, so that sharing of nodes is compared too.

`differences(expected, got)` compares two transcripts. Nothing here knows which engine it runs.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import io
import linecache
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_NODES = 3000
# A tensor with more elements than this is kept as its first few and two sums.
MAX_VALUES = 40
# The relative difference allowed between two correct engines: a few roundings of the type.
RELATIVE = {"float16": 5e-3, "float32": 3e-5, "float64": 1e-10}
EPS = {rtol: float(np.finfo(dtype).eps) for dtype, rtol in RELATIVE.items()}


@dataclass(frozen=True)
class Program:
    """Some lines of code; `name` is its key in the recorded transcripts."""

    name: str
    source: str
    file: str = "<program>"
    line: int = 1

    @property
    def differentiates_twice(self) -> bool:
        """Whether a graph of a backward pass is built. The operations in its formulas may differ between engines."""
        return "create_graph" in self.source

    @property
    def raising(self) -> set[int]:
        """The first lines (from 1) of the statements that have a line marked `# raises`."""
        marked = {i for i, line in enumerate(self.source.splitlines(), 1) if line.endswith("# raises")}
        spans = ((s.lineno, range(s.lineno, s.end_lineno + 1)) for s in ast.parse(self.source).body)
        return {first for first, span in spans if not marked.isdisjoint(span)}

    def __post_init__(self) -> None:
        lines = self.source.splitlines(keepends=True)
        if self.file.startswith("<"):  # a file shows its own lines in tracebacks
            linecache.cache[self.file] = (len(self.source), None, lines, self.file)


def read_cells(path: Path) -> list[Program]:
    """The programs of a corpus file: cells under `# %% title` lines."""
    cells: list[Program] = []
    title, start, body = "", 0, []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), "# %%"], 1):
        if not line.startswith("# %%"):
            body.append(line)
            continue
        if title:
            source = "\n".join(body).rstrip() + "\n"
            cells.append(Program(f"{path.stem}/{title}", source, os.path.relpath(path, ROOT), start))
        title, start, body = line[4:].strip(), number + 1, []
    repeated = {cell.name for cell in cells if sum(cell.name == other.name for other in cells) > 1}
    assert not repeated, f"{path}: titles used twice: {sorted(repeated)}"
    return cells


# -------------------------------------------------------------------------------------------------- running a program
def run(torch: ModuleType, program: Program, **inputs: object) -> dict[str, Any]:
    """Run `program` with the module `torch` under that name and return its transcript."""
    reset(torch)
    scope = names(torch) | inputs
    given = set(scope)
    statements = [_run_statement(torch, scope, statement, program) for statement in _statements(program)]
    graph = _Graph(scope)
    variables = {
        name: _describe(torch, value, graph)
        for name, value in list(scope.items())
        if (name not in given or name in inputs) and not name.startswith("_")
    }
    variables = {name: kept for name, kept in variables.items() if kept is not None}
    transcript = {
        "statements": [kept for kept in statements if len(kept) > 1],
        "variables": variables,
        "nodes": graph.nodes,
        "grad enabled": torch.is_grad_enabled(),
    }
    reset(torch)
    return _without_graphs(transcript) if program.differentiates_twice else transcript


# kept, since a program runs under one engine and then under the other
@functools.lru_cache(maxsize=8)
def _statements(program: Program) -> list[ast.stmt]:
    tree = ast.parse(program.source)
    if program.line > 1:
        ast.increment_lineno(tree, program.line - 1)
    return tree.body


@functools.lru_cache(maxsize=512)
def _compiled(statement: ast.stmt, file: str) -> CodeType:
    if isinstance(statement, ast.Expr):
        return compile(ast.Expression(statement.value), file, "eval", dont_inherit=True)
    return compile(ast.Module([statement], []), file, "exec", dont_inherit=True)


def _without_graphs(transcript: Any) -> Any:
    if isinstance(transcript, dict):
        left_out = ("order", "grad_fn", "version") + (() if "statements" in transcript else ("nodes",))
        kept = {k: _without_graphs(v) for k, v in transcript.items() if k not in left_out}
        return {**kept, "nodes": []} if "statements" in transcript else kept
    if isinstance(transcript, list):
        return [_without_graphs(item) for item in transcript]
    return re.sub(r"grad_fn=<\w+>", "grad_fn=<>", transcript) if isinstance(transcript, str) else transcript


def names(torch: ModuleType) -> dict[str, Any]:
    """What a program can name at its start: `torch` is the engine, even where the program imports from it."""
    special = {**vars(builtins), "__import__": _importer(torch)}
    return {"torch": torch, "np": np, "__name__": "program", "__builtins__": special}


def reset(torch: ModuleType) -> None:
    """Reset all state, so that no program affects the next."""
    torch.set_grad_enabled(True)
    # torch.manual_seed also notes, for each kind of device, the whole call stack: a third of the time of all programs
    getattr(torch, "default_generator", torch).manual_seed(0)
    torch.set_default_dtype(torch.float32)
    if hasattr(torch, "set_warn_always"):  # else PyTorch gives some warnings only once per process
        torch.set_warn_always(True)
    if torch.is_anomaly_enabled() if hasattr(torch, "is_anomaly_enabled") else False:
        torch.autograd.set_detect_anomaly(False)


def _importer(torch: ModuleType) -> Callable[..., Any]:
    """`import torch.nn as nn` inside a program imports from the engine that it runs under."""

    def import_(name: str, globals=None, locals=None, fromlist=(), level=0) -> Any:
        if level == 0 and (name == "torch" or name.startswith("torch.")):
            module = importlib.import_module(torch.__name__ + name[len("torch") :])
            return module if fromlist else torch
        return builtins.__import__(name, globals, locals, fromlist, level)

    return import_


def _run_statement(
    torch: ModuleType, scope: dict[str, Any], statement: ast.stmt, program: Program
) -> dict[str, Any]:
    record: dict[str, Any] = {"line": statement.lineno - program.line + 1}
    printed, value = io.StringIO(), None
    order, handles = _watch_order(torch, scope) if _differentiates(statement) else ([], [])
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(printed):
        warnings.simplefilter("always")
        # "always" overrides minigrad's own filter, so NumPy's warnings about 1 / 0 are ignored again here
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")
        try:
            value = eval(_compiled(statement, program.file), scope)  # None after a statement
        except Exception as error:
            record["error"] = f"{type(error).__name__.lstrip('_')}: {_clean(_first_line(error))}"
    for handle in handles:
        handle.remove()
    if value is not None:
        graph = _Graph(scope)
        record["value"] = _describe(torch, value, graph)
        if graph.nodes:
            record["nodes"] = graph.nodes
    if printed.getvalue():
        record["printed"] = _clean(printed.getvalue())
    record["warnings"] = [
        f"{w.category.__name__}: {_clean(_first_line(w.message))}"
        for w in caught
        if not issubclass(w.category, DeprecationWarning)  # torch.jit's, on some imports
    ]
    if not record["warnings"]:
        del record["warnings"]
    if order:
        record["order"] = order
    return record


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [""])[0]


def _clean(text: str) -> str:
    """Remove what differs from run to run: addresses, the engine's own name, positions in PyTorch's C++ sources."""
    text = re.sub(r" ?\(Triggered internally at .*?\)\.?$", "", text)
    # addresses of web pages
    text = re.sub(r"[,.] ?[Ss]ee (?:https?://)?[\w.]+/\S+(?: for more \w+)?\.?", "", text)
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    return text.replace("minigrad", "torch")


@functools.lru_cache(maxsize=512)
def _differentiates(statement: ast.stmt) -> bool:
    """Whether the statement itself (not a function that it defines) calls something named backward or grad."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return False
    calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Attribute) and called.attr in ("backward", "grad") for called in calls)


def _watch_order(torch: ModuleType, scope: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Hook every node that a variable leads to; the list fills as they run, one `name#position` each."""
    graph, order = _Graph(scope), []
    for value in list(scope.values()):
        for tensor in _tensors(torch, value):
            with suppress(RuntimeError):  # a view that an in-place write made invalid cannot be read
                graph.add(tensor.grad_fn)

    def watch(node: Any, label: str) -> Any:
        return node.register_prehook(lambda grads: order.append(label))

    return order, [watch(node, f"{node.name()}#{i}") for i, node in enumerate(graph.found)]


def _tensors(torch: ModuleType, value: object) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(torch, item)
    elif isinstance(value, dict):
        yield from _tensors(torch, list(value.values()))


# ------------------------------------------------------------------------------------------- what a transcript keeps
class _Graph:
    """Nodes numbered in the order in which they are met, so that equal numbers mean equal places in equal graphs."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.names = {id(value): name for name, value in scope.items()}
        self.numbers: dict[int, int] = {}
        self.found: list[Any] = []  # kept alive, or an id could be used twice
        self.nodes: list[str] = []

    def add(self, root: Any) -> int | None:
        """Put `root` and everything behind it into `nodes`, and return its number; None for no node."""
        if root is None:
            return None
        number = self._number(root)
        while len(self.nodes) < len(self.found) <= MAX_NODES:
            self.nodes.append(self._text(self.found[len(self.nodes)]))
        return number

    def _number(self, node: Any) -> int:
        number = self.numbers.setdefault(id(node), len(self.found))
        if number == len(self.found):
            self.found.append(node)
        return number

    def _text(self, node: Any) -> str:
        """`MulBackward0 -> 3.0 None`: name, then each edge as node.input_nr."""
        edges = [f"{self._number(to)}.{nr}" if to is not None else "None" for to, nr in node.next_functions]
        name = node.name()
        if name.endswith("AccumulateGrad"):
            variable = node.variable
            name += f"({self.names.get(id(variable), tuple(variable.shape))})"
        if type(node).__name__ != node.name().split("::")[-1]:
            name += f" <{type(node).__name__}>"
        return f"{name} -> {' '.join(edges)}"


def _describe(torch: ModuleType, value: object, graph: _Graph) -> Any:
    """Plain data for a value; None for what programs merely use (functions, classes, modules)."""
    if isinstance(value, type):
        return None
    if isinstance(value, torch.Tensor):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reading .grad of a non-leaf warns
            try:
                return _describe_tensor(torch, value, graph)
            except RuntimeError as error:  # a tensor that can no longer be read; that is compared, too
                return {"is": f"{type(error).__name__}: {_clean(_first_line(error))}"}
    if value is None or isinstance(value, bool | int | str):
        return {"is": f"{type(value).__name__} {_clean(str(value))}"}
    if isinstance(value, float):
        return {"is": "float", "values": [value], "rtol": RELATIVE["float32"]}
    if isinstance(value, torch.dtype):
        return {"is": f"dtype {value!r}"}
    if isinstance(value, np.ndarray | np.generic):
        return {"is": f"ndarray {value.dtype} {value.shape}", **_values(np.asarray(value))}
    if isinstance(value, list | tuple):
        return {
            "is": type(value).__name__.lstrip("_"),
            "items": [_describe(torch, item, graph) for item in value],
        }
    if isinstance(value, dict):
        items = [[str(key), _describe(torch, item, graph)] for key, item in value.items()]
        return {"is": "dict", "items": items}
    if hasattr(value, "next_functions") and hasattr(value, "name"):
        return {"is": f"node {graph.add(value)}"}
    if hasattr(value, "named_parameters"):
        parameters = dict(value.named_parameters())
        return {"is": _clean(repr(value)), "parameters": _describe(torch, parameters, graph)}
    return None


def _describe_tensor(torch: ModuleType, tensor: Any, graph: _Graph) -> dict[str, Any]:
    kind = f"{type(tensor).__name__} {str(tensor.dtype).split('.')[-1]} {tuple(tensor.shape)}"
    kind += " requires_grad" * tensor.requires_grad + " leaf" * tensor.is_leaf
    kept = {"is": kind, **_values(_numbers(tensor))}
    if tensor.numel() <= MAX_VALUES:
        kept["printed"] = _clean(repr(tensor))
    if tensor.grad_fn is not None:
        kept["grad_fn"] = f"{graph.add(tensor.grad_fn)}.{tensor.output_nr}"
    if tensor.grad is not None:
        kept["grad"] = _describe_tensor(torch, tensor.grad, graph)
    # the engines may differ in how often they write to a leaf or a gradient themselves
    if not tensor.is_leaf and not tensor.is_inference() and tensor._version:
        kept["version"] = tensor._version
    return kept


def _numbers(tensor: Any) -> np.ndarray:
    # force: without it, numpy() refuses PyTorch's gradient of `sgn`, a tensor of zeros without memory
    return np.asarray(tensor.detach().numpy(force=True))


def _values(array: np.ndarray) -> dict[str, Any]:
    """The numbers themselves, and the tolerance for equality."""
    kind = array.dtype.name
    flat = array.ravel()
    if flat.size > MAX_VALUES:
        with np.errstate(all="ignore"):
            double = flat.astype(np.float64)
            mixed = double * np.cos(np.arange(flat.size))
            flat = np.array([*double[: MAX_VALUES // 2], double.sum(), mixed.sum()])
    digits = {"float16": ".5g", "float32": ".9g"}.get(kind, ".13g")
    numbers = [float(format(v, digits)) if isinstance(v, float) else v for v in flat.tolist()]
    return {"values": numbers, "rtol": RELATIVE[kind]} if kind in RELATIVE else {"values": numbers}


# ----------------------------------------------------------------------------------------------- comparing transcripts
def differences(expected: dict[str, Any], got: dict[str, Any], noise: bool = False) -> list[str]:
    """What differs, one sentence each, in the order in which it appears. `expected` may come from JSON.

    noise: numbers may differ by a few roundings of the largest number that occurs, as sums that cancel do.
    """
    found: list[str] = []
    if noise:
        expected = with_noise(expected, largest(expected))
    theirs, ours = ({s["line"]: s for s in t["statements"]} for t in (expected, got))
    for line in sorted({*theirs, *ours}):
        a, b = theirs.get(line, {}), ours.get(line, {})
        for part in ("error", "warnings", "printed", "value", "nodes", "order"):
            found += _differ(f"line {line}: {part}", a.get(part), b.get(part))
    for name in dict.fromkeys([*expected["variables"], *got["variables"]]):
        found += _differ(name, expected["variables"].get(name), got["variables"].get(name))
    found += _differ("graph", expected["nodes"], got["nodes"])
    return found + _differ("is_grad_enabled() at the end", expected["grad enabled"], got["grad enabled"])


def _differ(where: str, a: Any, b: Any) -> list[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        found = []
        for part in dict.fromkeys([*a, *b]):
            if part == "values" and part in a and part in b and len(a[part]) == len(b[part]):
                if not close(a[part], b[part], a.get("rtol"), a.get("noise", 0.0)):
                    found.append(_sentence(f"{where}: values", a[part], b[part]))
            elif part == "printed" and "values" in a and "values" in b:  # a tensor
                found += _differ_printed(f"{where}: {part}", a, b)
            elif part not in ("rtol", "noise"):
                found += _differ(where if part == "is" else f"{where}: {part}", a.get(part), b.get(part))
        return found
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = enumerate(zip(a, b, strict=True))
        return [text for i, (x, y) in pairs for text in _differ(f"{where}[{i}]", x, y)]
    if isinstance(a, str) and isinstance(b, str) and _same_text(a, b):
        return []
    return [] if a == b else [_sentence(where, a, b)]


def _differ_printed(where: str, a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Equal tensors print equally; nearly equal ones have the same suffixes, as in `grad_fn=<AddBackward0>`."""
    if "printed" not in a:  # recorded transcripts leave it out
        return []
    x, y = a["printed"], b.get("printed", "nothing")
    if repr(a["values"]) != repr(b["values"]):
        x, y = (" ".join(re.findall(r"\w+=\S+", text)) for text in (x, y))
    same = x == y or (
        _same_text(x, y) and _all_decimals(x) == _all_decimals(y)
    )  # 0.06875 may print as 0.0687
    return [] if same else [_sentence(where, x, y)]


def _sentence(where: str, a: object, b: object) -> str:
    return f"{where}\n      expected: {a}\n      got:      {b}"


def largest(transcript: Any) -> float:
    """The largest finite magnitude in a transcript."""
    if isinstance(transcript, list):
        return max(map(largest, transcript), default=0.0)
    if not isinstance(transcript, dict):
        return 0.0
    own = [abs(v) for v in transcript["values"] if math.isfinite(v)] if "rtol" in transcript else []
    return max([*own, *map(largest, transcript.values())], default=0.0)


def with_noise(transcript: Any, size: float) -> Any:
    """The transcript, with `noise` added to each tensor: a few roundings, in its dtype, of a number of this size.

    Where such numbers cancel, the result may be 0 in one engine and a rounding error in the other.
    """
    if isinstance(transcript, list):
        return [with_noise(part, size) for part in transcript]
    if not isinstance(transcript, dict):
        return transcript
    kept = {k: with_noise(v, size) for k, v in transcript.items()}
    return kept | {"noise": 8 * EPS[transcript["rtol"]] * size} if "rtol" in transcript else kept


def close(a: list[Any], b: list[Any], rtol: float | None, noise: float = 0.0) -> bool:
    """Equal, or (with `rtol`) nearly: measured against the largest finite number expected.

    Numbers that are all below 0.003 are measured against 0.003. Differences below `noise` are ignored.
    """
    if rtol is None:
        return a == b
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    scale = float(np.abs(x[np.isfinite(x)]).max(initial=0.0))
    return bool(np.allclose(y, x, rtol=rtol, atol=max(rtol * max(scale, 3e-3), noise), equal_nan=True))


_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.\d*(?:e[-+]?\d+)?")


def _same_text(a: str, b: str) -> bool:
    """Equal, except for the last printed digit of decimal fractions."""
    if a == b:
        return True
    if "".join(_NUMBER.sub("#", a).split()) != "".join(_NUMBER.sub("#", b).split()):
        return False
    pairs = zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    return all(math.isclose(float(x), float(y), abs_tol=1.1 * 10 ** -_decimals(x)) for x, y in pairs)


def _all_decimals(text: str) -> list[float]:
    return [_decimals(number) for number in _NUMBER.findall(text)]


def _decimals(number: str) -> float:
    mantissa, _, exponent = number.partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def report(program: Program, found: list[str], limit: int = 12) -> str:
    """The failure message: the program with its line numbers, a mark at the lines that differ, and what differs."""
    marked = {int(m[1]) for text in found if (m := re.match(r"line (\d+):", text))}
    lines = [f"{program.name} ({program.file}:{program.line}) differs:"]
    for number, line in enumerate(program.source.splitlines(), 1):
        lines.append(f"  {'>' if number in marked else ' '} {number:4} | {line}")
    lines += [f"    {text}" for text in found[:limit]]
    if len(found) > limit:
        lines.append(f"    and {len(found) - limit} more")
    return "\n".join(lines)


def assert_same(program: Program, expected: dict[str, Any], got: dict[str, Any], noise: bool = False) -> None:
    found = differences(expected, got, noise)
    if found:
        pytest.fail(report(program, found), pytrace=False)


def without_printed_tensors(transcript: Any) -> Any:
    """The transcript as it is recorded: tensors without their printed form, which follows from the numbers."""
    if isinstance(transcript, dict):
        left_out = () if "line" in transcript else ("printed",)
        return {k: without_printed_tensors(v) for k, v in transcript.items() if k not in left_out}
    if isinstance(transcript, list):
        return [without_printed_tensors(item) for item in transcript]
    return transcript
