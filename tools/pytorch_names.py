"""Write minigrad/pytorch_names.py: every public name of PyTorch, and the arguments of everything callable.

    python -m tools.pytorch_names [--check]

The names are those of `dir()`, without those that a module has imported from elsewhere, and without a package's modules.
The arguments come from Python's signatures and, for compiled functions, from the type stubs and the operator schemas that
PyTorch is installed with.
A test compares the file with the PyTorch that is installed.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import pkgutil
import sys
import textwrap
import warnings
from pathlib import Path

from minigrad.missing import OPERATORS

PLACES = """torch Tensor Size Generator dtype device
autograd autograd.forward_ad autograd.function autograd.functional autograd.graph func linalg
nn nn.Module nn.Sequential nn.ModuleList nn.ModuleDict nn.ParameterList nn.ParameterDict nn.functional nn.init nn.utils
nn.parameter optim optim.Optimizer optim.lr_scheduler optim.lr_scheduler.LRScheduler
utils utils.data utils.data.DataLoader utils.data.Dataset utils.checkpoint random"""
FILE = Path(__file__).resolve().parents[1] / "minigrad" / "pytorch_names.py"
HEAD = '''"""Every public name of PyTorch {version}: data, written by `python -m tools.pytorch_names`.

By place (without `torch.`), each name, with its arguments in brackets. After a colon, the types of an argument, where PyTorch
gives them: T a Tensor, N a number, I an integer, B a bool, S a string, L several numbers or tensors, D a dtype, O anything.
What follows `*` is given by name only. `missing.py` reads this file.
"""

NAMES = {{
'''
# The words of PyTorch's annotations and schemas, and what they allow.
KINDS = {
    "T": "Tensor", "N": "Number _float float SymFloat _complex Scalar number", "I": "_int int SymInt", "B": "_bool bool",
    "S": "str", "L": "_size Sequence tuple list List", "D": "_dtype ScalarType",
}  # fmt: skip
LETTERS = {word: letter for letter, words in KINDS.items() for word in words.split()}
SILENT = {"None", "Optional", "builtins", "torch"}  # words that allow nothing on their own
Arguments = tuple[list[str], int, dict[str, str]]  # names in order, how many may be given by position, kinds


def place(path: str) -> object:
    """The module or class of PyTorch at a path, `torch.` left out."""
    found = importlib.import_module("torch")
    for part in path.split(".") if path != "torch" else ():
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def letters(annotation: str) -> str:
    """What an annotation or a schema's type allows."""
    text = (
        annotation.replace("[", " [ ")
        .replace("]", " ] ")
        .replace("|", " ")
        .replace(",", " ")
        .replace(".", " ")
    )
    text = text.replace("?", " ")
    outer, depth, found = [], 0, set()
    for word in text.split():
        depth += (word == "[") - (word == "]")
        if depth == 0 and word != "]":
            outer.append(word)
        elif word == "[" and depth == 1:
            if outer and outer[-1] not in ("Optional", "Union"):
                found.add("L")
            else:
                depth -= 1
    found |= {LETTERS.get(word, "O") for word in outer if word not in SILENT}
    return "".join(sorted(found))


def joined(forms: list[list[tuple[str, str, bool]]]) -> Arguments:
    """Several forms of one function, each with (name, kinds, by name only), as one list of arguments."""
    longest = max(forms, key=lambda form: sum(not only for _, _, only in form))
    names = [name for name, _, only in longest if not only]
    count, kinds = len(names), {}
    for form in forms:
        for name, found, _ in form:
            if name not in names:
                names.append(name)
            kinds[name] = "".join(sorted({*kinds.get(name, ""), *found}))
    return names, count, kinds


def stub(file: str, cls: str = "") -> dict[str, list[list[tuple[str, str, bool]]]]:
    """The forms of each function in one of PyTorch's type stubs."""
    path = Path(importlib.import_module("torch").__file__).parent / "_C" / file
    body, found = ast.parse(path.read_text(encoding="utf-8")).body, {}
    if cls:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == cls).body
    for node in body:
        if isinstance(node, ast.FunctionDef):
            form = [
                (a.arg, letters(ast.unparse(a.annotation)) if a.annotation else "", only)
                for only, group in (
                    (False, [*node.args.posonlyargs, *node.args.args]),
                    (True, node.args.kwonlyargs),
                )
                for a in group
            ]
            many = node.args.vararg
            if many is not None:
                form.append((many.arg, "L", False))
            found.setdefault(node.name, []).append([a for a in form if a[0] != "self"])
    return found


def schemas(name: str) -> list[list[tuple[str, str, bool]]]:
    """The forms of an operator, `aten::` left out."""
    found = sys.modules["torch"]._C._jit_get_schemas_for_operator(f"aten::{name}")
    return [
        [
            (
                "input" if a.name == "self" else a.name,
                letters(str(a.type).replace("number", "Number")),
                a.kwarg_only,
            )
            for a in schema.arguments
        ]
        for schema in found
    ]


def signature(value: object) -> list[list[tuple[str, str, bool]]]:
    """The form of a function or class that is written in Python; none if it has no signature."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (ValueError, TypeError):
        return []
    many = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    known = [p for p in parameters if p.kind not in many and p.name != "self" and p.name[0] != "_"]
    if not known and inspect.isclass(value) and len(value.__mro__) > 2:
        return signature(value.__mro__[1])  # nn.RNN passes on its arguments
    return [[(p.name, "", p.kind is p.KEYWORD_ONLY) for p in known]]


def collect() -> dict[str, str]:
    """All names by place, as the file has them."""
    warnings.simplefilter("ignore")
    stubs = {
        "torch": stub("_VariableFunctions.pyi"),
        "Tensor": stub("__init__.pyi", "TensorBase"),
        "nn.functional": stub("_VariableFunctions.pyi") | stub("_nn.pyi"),
    }
    found = {}
    for path in PLACES.split():
        where, entries = place(path), []
        operators = OPERATORS if isinstance(where, type) else ()
        parts = [part.name for part in pkgutil.iter_modules(getattr(where, "__path__", None) or [])]
        for name in sorted(n for n in {*dir(where), *parts} if n[0] != "_" or n in operators):
            value = getattr(where, name, None)
            home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
            if isinstance(home, str) and home.split(".")[0] != "torch":
                continue
            entries.append(name + arguments(path, name, value, stubs.get(path, {})))
        found[path] = " ".join(entries)
    return found


def arguments(path: str, name: str, value: object, known: dict) -> str:
    """The arguments in parentheses; nothing for names that cannot be called, or if the arguments are not documented."""
    if not callable(value) or name in OPERATORS:
        return ""
    forms = [] if inspect.isfunction(value) or inspect.isclass(value) else known.get(name, [])
    forms = forms or signature(value)
    if not forms and not inspect.isclass(value):
        forms = schemas(("linalg_" if path == "linalg" else "") + name)
    if not forms:
        return ""
    names, count, kinds = joined(forms)
    written = [n + (f":{kinds[n]}" if kinds[n] else "") for n in names]
    if count < len(names):
        written.insert(count, "*")
    return f"({','.join(written)})"


def text() -> str:
    """The text that the file should have."""
    torch = importlib.import_module("torch")
    parts = [HEAD.format(version=torch.__version__.split("+")[0])]
    for path, names in collect().items():
        lines = textwrap.fill(names, 118, break_long_words=False, break_on_hyphens=False)
        parts.append(f'    "{path}": """\n{lines}\n""",\n')
    return "".join([*parts, "}\n"])


def main() -> int:
    reader = argparse.ArgumentParser(prog="python -m tools.pytorch_names")
    reader.add_argument("--check", action="store_true", help="only say whether the file is as PyTorch has it")
    if reader.parse_args().check:
        return 0 if FILE.read_text(encoding="utf-8") == text() else 1
    FILE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
