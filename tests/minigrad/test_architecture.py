"""The architecture of minigrad: how long it may be, which file may import which, and that nothing is defined twice."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "minigrad"
FILES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}
DATA = {"pytorch_names"}  # not read but looked up
LINES = {
    name: len(path.read_text(encoding="utf-8").splitlines()) * (name not in DATA)
    for name, path in FILES.items()
}

# ---------------------------------------------------------------- how long it may be

# What `backward` needs, in the order in which `help(minigrad)` says to read it, apart from the declarations
PATH = """tensor ops.op ops.apply autograd.node autograd.engine autograd.passes autograd.saved autograd.hooks
autograd.modes"""
# These may grow, by one statement per feature: an operation, a function, a layer and the step of a recurrent
# one, an optimizer with its rule, a schedule, a question about a tensor, a message. Code that they share is machinery.
DECLARATIONS = """ops.pointwise ops.casts ops.reduction ops.shape ops.indexing ops.linalg ops.nn ops.images
ops.special ops.selection ops.arrange ops.stacking ops.products ops.decompositions ops.statistics ops.norms
ops.activations ops.losses ops.pooling ops.normalisation
nn.functional nn.functional_activations nn.functional_images nn.functional_resizing nn.functional_losses
nn.functional_distances nn.layers nn.convolutions nn.function_layers nn.losses nn.attention nn.recurrent nn.init nn.utils
optim.algorithms optim.lr_scheduler tensor_methods messages nn.messages creation random devices"""
ROOM = 0.02  # a budget may be exceeded by this fraction, so that one change need not wait for another

BUDGETS = {  # lines, as `ruff format` leaves them
    "what backward needs": (PATH.split(), 1600),
    "machinery, which is all but the declarations": (
        [n for n in FILES if n not in DECLARATIONS.split()],
        7400,
    ),
}


@pytest.mark.parametrize("what", BUDGETS)
def test_the_budgets_are_kept(what: str) -> None:
    names, limit = BUDGETS[what]
    lines = sum(LINES[name] for name in names)
    if lines > limit * (1 + ROOM):
        longest = ", ".join(
            f"{name} {LINES[name]}" for name in sorted(names, key=LINES.get, reverse=True)[:8]
        )
        pytest.fail(
            f"{what}: grew by {lines - limit} lines to {lines} (limit {limit}, and {ROOM:.0%} of room). Take something out, "
            f"move what is a declaration to a file of declarations, or raise the limit and give the reason in the commit. "
            f"The longest: {longest}"
        )


def test_no_file_is_long() -> None:
    assert not {name: lines for name, lines in LINES.items() if lines > 400}


@pytest.mark.parametrize("name", PATH.split())
def test_the_functions_on_the_path_of_one_call_can_be_seen_at_once(name: str) -> None:
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.FunctionDef):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= 45, f"{name}: {node.name} has {lines} lines"


def test_the_lines_on_the_path_of_one_call_are_short() -> None:
    """110 wide, text too; only the tables of declarations, below `# fmt: off`, are wider."""
    for name in [*PATH.split(), "ops.pointwise", "ops.reduction"]:
        text = re.sub(r"(?s)# fmt: off.*?# fmt: on", "", FILES[name].read_text(encoding="utf-8"))
        assert not [f"{name}: {line}" for line in text.splitlines() if len(line) > 110]


def test_no_source_code_is_generated() -> None:
    """All code that runs can be read where it is: no exec, no eval, no compile, no assembled code objects."""
    found = []
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("exec", "eval", "compile", "FunctionType", "types.FunctionType", "CodeType"):
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)}")
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "__code__"
                and isinstance(node.ctx, ast.Store)
            ):
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)}")
    assert not found, "\n".join(found)


# ---------------------------------------------------------------- who may import whom

# From the bottom layer up: a file imports only files in the lines above its own, and earlier ones in its own line.
DRAWN = """
pytorch_names missing messages dtypes devices printing mersenne autograd.modes autograd.grad_mode basics
tensor_methods tensor
autograd.node autograd.saved autograd.views autograd.hooks autograd.graph
autograd.engine autograd.passes
ops.signature ops.op ops.operands ops.general ops.apply ops.inplace ops.table
ops.pointwise ops.casts ops.reduction ops.shape ops.indexing ops.linalg
ops.special ops.selection ops.arrange ops.stacking ops.products ops.decompositions ops.statistics ops.norms
ops.activations ops.nn ops.losses ops.images ops.pooling ops.normalisation
creation random
func.trees func.interpreter
autograd.function autograd.forward_ad autograd.functional autograd.numerical
func.batching func.transforms
nn.messages nn.parameter serialization
nn.init nn.hooks nn.utils nn.module
nn.functional_activations nn.functional_images nn.functional_resizing nn.functional_losses nn.functional_distances
nn.functional
nn.layers nn.convolutions nn.function_layers nn.losses nn.containers nn.attention nn.recurrence nn.recurrent
optim.optimizer optim.algorithms optim.lr_scheduler
utils.checkpoint utils.data utils.benchmark
"""
ORDER = DRAWN.split()
# Files that list a package's public names: they may import all of it. Only the next line's names are imported from them.
INTERFACES = {name for name in FILES if name.split(".")[-1] == "__init__"}


def imported(name: str) -> Iterator[str]:
    """The files of minigrad that a file imports when it runs, anywhere in it."""

    def running(node: ast.AST) -> Iterator[ast.AST]:
        yield node
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield from running(child)

    package = name.split(".")[:-1]
    for node in running(TREES[name]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    alias.name.removeprefix("minigrad.")
                    if alias.name.startswith("minigrad")
                    else f"<{alias.name}>"
                )
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield f"<{node.module}>"
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1]
            start = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{start}.{alias.name}".lstrip(".")
                yield (
                    inner if inner in FILES else start if start in FILES else f"{start}.__init__".lstrip(".")
                )


def test_it_imports_only_numpy_and_the_standard_library() -> None:
    outside = {(name, w.strip("<>").split(".")[0]) for name in FILES for w in imported(name) if w[0] == "<"}
    known = sys.stdlib_module_names | {"__future__", "numpy"}
    assert not [f"{name}: {package}" for name, package in outside if package not in known]


def test_every_file_has_its_place_in_the_order() -> None:
    assert sorted([*ORDER, *INTERFACES]) == sorted(FILES)


def test_imports_point_one_way() -> None:
    ours = {(name, other) for name in ORDER for other in imported(name) if other[0] != "<"}
    assert not [f"{n} imports {other}" for n, other in ours if other not in ORDER[: ORDER.index(n)]]


def loaded_by(statement: str) -> list[str]:
    """The modules that are in memory after `statement` in a fresh interpreter."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    return subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).split()


def test_importing_minigrad_loads_numpy_and_nothing_else() -> None:
    packages = {name.split(".")[0] for name in loaded_by("import numpy, minigrad")} - sys.stdlib_module_names
    assert packages <= {"numpy", "minigrad"} | {
        name.split(".")[0] for name in loaded_by("import numpy, numpy.random")
    }


def test_the_modes_and_the_larger_parts_are_loaded_when_they_are_used() -> None:
    lean = set(loaded_by("import minigrad"))
    later = ("nn", "optim", "utils", "autograd.numerical", "autograd.functional")
    assert not lean & {f"minigrad.{name}" for name in later}


# ---------------------------------------------------------------- each thing is said in one place


def top_level(name: str) -> Iterator[tuple[str, ast.stmt]]:
    """The functions and classes that a file defines, and its constants."""
    for node in TREES[name].body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            yield from ((part.id, node) for part in names if isinstance(part.ctx, ast.Store))


# Names that two files define, and why they do not mean two things.
SAME = {
    "__all__": "what a module offers",
    "added": "the sum of elements, as an operation, and of the gradients that arrive at a node",
    "__dir__": "what completion offers",
    "__getattr__": "what is loaded when it is first used, or not offered",
    "HOMES": "where to find what is loaded when it is first used",
    "ndarray": "np.ndarray, quicker to look up",
    "grad": "torch.autograd.grad and torch.func.grad",
    **dict.fromkeys(
        ("relu", "leaky_relu", "silu", "gelu", "softmax", "log_softmax"), "an operation, and it with options"
    ),
    "unfold": "Tensor.unfold and torch.nn.functional.unfold",
    **dict.fromkeys(("normal_", "uniform_"), "of Tensor and of torch.nn.init"),
    "hessian": "of torch.autograd.functional and of torch.func",
    "jvp": "the same",
    "vjp": "the same",
}


def test_no_name_has_two_meanings() -> None:
    places = defaultdict(set)
    for name in FILES:
        for defined, _ in top_level(name):
            places[defined].add(name)
    assert not {n: sorted(w) for n, w in places.items() if len(w) > 1 and n not in SAME and n != "_"}


def test_a_module_does_not_take_the_place_of_a_function() -> None:
    """`import minigrad.autograd.x` must not put a module where PyTorch has the function `torch.autograd.x`."""
    taken = []
    for name in ORDER:
        package, _, stem = name.rpartition(".")
        path = ".".join(filter(None, ["minigrad", package]))
        if callable(getattr(importlib.import_module(path), stem, None)):
            code = f"import {path}.{stem}; import minigrad; assert callable({path}.{stem})"
            if subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode:
                taken.append(name)
    assert not taken


@pytest.mark.parametrize(
    "first", ["import {}.gradcheck", "from {}.gradcheck import GradcheckError", "import {}.numerical"]
)
def test_gradcheck_is_a_function_and_a_path_whichever_is_used_first(first: str) -> None:
    code = f"""
import minigrad
{first.format("minigrad.autograd")}
x = minigrad.ones(2, dtype=minigrad.float64, requires_grad=True)
assert minigrad.autograd.gradcheck(minigrad.sin, x)
from minigrad.autograd.gradcheck import gradcheck, GradcheckError
assert gradcheck is minigrad.autograd.gradcheck and issubclass(GradcheckError, RuntimeError)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_nothing_is_bound_late() -> None:
    """No file sets an attribute of something that another file defines, or imports a module by a computed name; Tensor's
    methods are attached in minigrad/__init__.py."""
    found = []
    for name, tree in TREES.items():
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
        foreign = {alias.asname or alias.name for node in imports for alias in node.names}
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in [t for part in targets for t in ast.walk(part) if isinstance(t, ast.Attribute)]:
                if isinstance(target.value, ast.Name) and target.value.id in foreign:
                    found.append(f"{name}:{node.lineno}: {ast.unparse(target)}")
        for node in ast.walk(tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.endswith(("import_module", "__import__")) and name not in {"missing", *INTERFACES}:
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)}")
            if called == "setattr" and ast.unparse(node.args[0]) == "Tensor" and name != "__init__":
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)}")
    assert not found, "\n".join(found)


def test_no_exception_is_swallowed() -> None:
    handlers = [(n, h) for n in TREES for h in ast.walk(TREES[n]) if isinstance(h, ast.ExceptHandler)]
    silent = [(n, h) for n, h in handlers if h.type is None or all(isinstance(s, ast.Pass) for s in h.body)]
    assert not [f"{name}:{handler.lineno}" for name, handler in silent]
