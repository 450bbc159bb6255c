"""Write the type stubs of minigrad's public interface, `minigrad/**/*.pyi`, for editors and type checkers.

Half of the interface is made when minigrad is imported: operations from their declarations, layers from a table. An editor
that only reads the source would find neither `nn.ReLU` nor `x.relu()`. The stubs are made from the signatures that `help()`
shows.

    python tools/stubs.py           write them
    python tools/stubs.py --check   exit with 1 if one is not up to date
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import minigrad  # noqa: E402

# Each module with a stub. Names that several of them share are written in the first, and imported by the others.
MODULES = [
    *(
        "minigrad",
        "minigrad.linalg",
        "minigrad.cuda",
        "minigrad.nn",
        "minigrad.nn.functional",
        "minigrad.nn.init",
    ),
    *("minigrad.nn.utils", "minigrad.nn.parameter", "minigrad.optim", "minigrad.optim.lr_scheduler"),
    *(
        "minigrad.autograd",
        "minigrad.autograd.functional",
        "minigrad.autograd.forward_ad",
        "minigrad.autograd.graph",
    ),
    *("minigrad.func", "minigrad.utils", "minigrad.utils.data", "minigrad.utils.checkpoint"),
]
HEAD = '''"""Made by tools/stubs.py from the signatures that help() shows."""

from builtins import bool as _bool, float as _float, int as _int
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

'''
# Classes of minigrad that annotations mention; under names that no method or dtype hides.
SHARED = {
    "Tensor": "_Tensor",
    "Size": "_Size",
    "dtype": "_dtype",
    "device": "_device",
    "Generator": "_Generator",
}
HIDDEN = {"float": "_float", "int": "_int", "bool": "_bool", **SHARED}
PLAIN = {"None", "str", "bytes", "object", "slice", "complex", "Any", "Hashable"}
GENERIC = {
    **dict.fromkeys(
        ("list", "type", "set", "frozenset", "Collection", "Iterable", "Iterator", "Sequence"), "Any"
    ),
    **dict.fromkeys(("dict", "Mapping", "OrderedDict"), "Any, Any"),
    "tuple": "Any, ...",
    "Callable": "..., Any",
}
DUNDERS = {"call", "new", "contains", "enter", "exit", "getitem", "init", "iter", "len", "setitem"}
DUNDERS |= {
    "bool",
    "float",
    "index",
    "int",
    "neg",
    "pos",
    "abs",
    "invert",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
}
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    DUNDERS |= {_name, f"r{_name}", f"i{_name}"}
RESULTS = {
    "bool": "_bool",
    "float": "_float",
    "index": "_int",
    "int": "_int",
    "len": "_int",
    "contains": "_bool",
}
RESULTS |= {"new": "Self", "init": "None", "setitem": "None", "exit": "None"}


class Known(ast.NodeTransformer):
    """An annotation as a stub writes it: names that the stub does not know become Any."""

    def __init__(self, classes: set[str]):
        self.classes = classes

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if name in GENERIC:
            return ast.parse(f"{name}[{GENERIC[name]}]", mode="eval").body
        if name == "ndarray":
            return ast.parse("np.ndarray[Any, Any]", mode="eval").body
        return ast.Name(HIDDEN.get(name, name if name in PLAIN | self.classes else "Any"))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not isinstance(node.value, ast.Name) or node.value.id not in GENERIC:
            return ast.Name("Any")
        return ast.Subscript(node.value, self.visit(node.slice))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self.visit_Name(ast.Name(node.attr))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return ast.Name("Any")

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(self.text(node.value), mode="eval").body if isinstance(node.value, str) else node

    def text(self, note: object) -> str:
        """The text of an annotation, which may be a string or an object."""
        if note is inspect.Parameter.empty:
            return "Any"
        text = note if isinstance(note, str) else note.__name__ if type(note) is type else str(note)
        return ast.unparse(self.visit(ast.parse(text.replace("NoneType", "None"), mode="eval").body))


class Stub:
    """The stub of one module."""

    def __init__(self, path: str, written: dict[int, tuple[str, str]]):
        self.path, self.module, self.written = path, importlib.import_module(path), written
        public = {n: getattr(self.module, n) for n in sorted(dir(self.module)) if n[0] != "_"}
        self.public = {n: value for n, value in public.items() if not isinstance(value, types.ModuleType)}
        self.submodules = [n for n, value in public.items() if f"{path}.{n}" in MODULES]
        self.known = Known({n for n, value in self.public.items() if isinstance(value, type)})

    def text(self) -> str:
        lines = [HEAD]
        lines += [f"from minigrad import {name} as {alias}" for name, alias in SHARED.items()]
        lines += [f"from . import {name} as {name}" for name in self.submodules] + [""]
        for name, value in self.public.items():
            origin = self.written.setdefault(id(value), (self.path, name))
            if origin[0] != self.path and callable(value):
                lines.append(f"from {origin[0]} import {origin[1]} as {name}")
            elif origin[1] != name and isinstance(value, type):
                lines.append(f"{name} = {origin[1]}")
            elif isinstance(value, type):
                lines += ["", self.cls(name, value)]
            elif type(value).__name__ == "dtype":
                lines.append(f"{name}: _dtype")
            else:
                lines.append(self.function(name, value) if callable(value) else f"{name}: Any")
        return "\n".join(lines) + "\n"

    def parameters(self, signature: inspect.Signature, first: str) -> str:
        """The parameters of a function; first: the name of the first one of a method, "" for a function."""
        parts, after_star, before = [first] if first else [], False, bool(first)
        given = [*signature.parameters.values()]
        for p in given[1:] if before and given and given[0].kind is not given[0].VAR_POSITIONAL else given:
            if p.kind is p.KEYWORD_ONLY and not after_star:
                parts.append("*")
            after_star = after_star or p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)
            mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            note = self.known.text(p.annotation)
            note = "Any" if mark and note == "object" else note  # so that a subclass may name its arguments
            for kind in ("_Tensor", "_int"):  # a list is as good as a tuple
                note = note.replace(f"tuple[{kind}, ...]", f"Sequence[{kind}]")
            note += " | None" * (p.default is None and not {"None", "Any", "object"} & {*note.split(" | ")})
            parts.append(f"{mark}{p.name}: {note}" + " = ..." * (p.default is not p.empty))
        return ", ".join(parts)

    def function(self, name: str, call: Callable, first: str = "", indent: str = "") -> str:
        try:
            signature = inspect.signature(call)
        except (TypeError, ValueError):
            signature = inspect.signature(lambda self, *args, **kwargs: None)
        result = RESULTS.get(name.strip("_"), "") if name.startswith("__") else ""
        result = result or self.result(call, signature)
        unlike = "  # type: ignore[override]" * (name in ("__eq__", "__ne__"))
        return f"{indent}def {name}({self.parameters(signature, first)}) -> {result}: ...{unlike}"

    def result(self, call: Callable, signature: inspect.Signature) -> str:
        """The type of the result: as annotated; for an operation Tensor, or Any if it has several results."""
        if signature.return_annotation is not signature.empty:
            return self.known.text(signature.return_annotation).replace("object", "Any")
        ops = [form.op for form in getattr(call, "forms", [call]) if hasattr(form, "op")]
        return "_Tensor" if ops and all(op.single for op in ops) else "Any"

    def cls(self, name: str, cls: type) -> str:
        """A class, with what it inherits from bases that are not public."""
        line = cls.__mro__[1:]
        public = next((b for b in line if b.__module__.startswith("minigrad") and self.name_of(b)), None)
        bases = [b for b in line if b.__module__ == "builtins" and b is not object][:1]
        base = self.name_of(public) if public else bases[0].__name__ if bases else ""
        base = {"tuple": "tuple[Any, ...]", "dict": "dict[Any, Any]"}.get(base, base)
        members, own = {}, [cls, *line[: line.index(public) if public else len(line)]]
        for one in reversed([c for c in own if c.__module__.startswith("minigrad")]):
            members |= {**inspect.get_annotations(one), **vars(one)}
        lines = [*self.members(members)]
        if "__init__" not in members and "__signature__" in vars(cls):
            lines.append(
                f"    def __init__({self.parameters(cls.__signature__.replace(), 'self')}) -> None: ..."
            )
        return f"class {name}({base}):\n".replace("()", "") + "\n".join(lines or ["    ..."])

    def name_of(self, cls: type) -> str:
        """What a class is called in this stub, "" if no stub has it."""
        path, name = self.written.get(id(cls), ("", ""))
        if not path and self.public.get(cls.__name__) is cls:
            return cls.__name__
        return name if path in ("", self.path) or self.public.get(name) is cls else SHARED.get(name, "")

    def members(self, members: dict[str, object]) -> Iterator[str]:
        for name, value in sorted(members.items()):
            kind = type(value).__name__
            if (name[0] == "_" and name.strip("_") not in DUNDERS) or kind in (
                "Missing",
                "member_descriptor",
            ):
                continue
            if isinstance(value, property):
                result = inspect.get_annotations(value.fget).get("return", inspect.Parameter.empty)
                yield f"    @property\n    def {name}(self) -> {self.known.text(result)}: ..."
                if value.fset is not None:
                    yield f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ..."
            elif isinstance(value, (staticmethod, classmethod)):
                first = "cls" if isinstance(value, classmethod) or name == "__new__" else ""
                text = self.function(name, value.__func__, first, "    ")
                yield text if name == "__new__" else f"    @{kind}\n{text}"
            elif name == "forward" and value is minigrad.nn.Module.forward:  # layers have other parameters
                yield "    forward: Callable[..., Any]"
            elif isinstance(value, types.FunctionType):
                yield self.function(name, value, "self", "    ")
            else:
                yield f"    {name}: {self.known.text(value) if isinstance(value, str) else 'Any'}"


def stubs() -> dict[Path, str]:
    """The text of each stub, by its file."""
    written: dict[int, tuple[str, str]] = {}
    texts = {}
    for path in MODULES:
        folder = ROOT.joinpath(*path.split("."))
        file = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
        texts[file] = Stub(path, written).text()
    return texts


def outdated() -> list[str]:
    """The stubs that are not what this tool writes."""
    return [
        file.relative_to(ROOT).as_posix()
        for file, text in stubs().items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]


def main() -> int:
    if "--check" in sys.argv:
        wrong = outdated()
        if wrong:
            print(f"Not up to date: {', '.join(wrong)}. Run `python tools/stubs.py`.")
        return bool(wrong)
    for file, text in stubs().items():
        file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
