"""Each line of viz/read/rules.txt is true: the node of PyTorch computes what the line says.

``rule_programs.txt`` has for each node a program that makes one. A rule written as code is run as it is; for a rule in words,
that file has the code for them. The numbers are compared with those of the node itself.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import on_a_short_stack
from viz.read import rules
from viz.read.graph import read, signed

PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {}
for line in (Path(__file__).parent / "rule_programs.txt").read_text(encoding="utf-8").splitlines():
    if not line.startswith("#"):
        names, program, *words = (part.strip() for part in line.split(" | "))
        PROGRAMS |= dict.fromkeys(names.split(), (program, dict(one.split(": ", 1) for one in words)))
# not made by eager code on a CPU with ordinary tensors; their rules are those of other nodes on the same line
NOT_HERE = "FusedDropout GridSampler2DCpuFallback LazyClone Lift LiftFresh ReshapeCopy Matmul ToMkldnn Linear NestedGetValues"
# node -> the function that ``call`` means, where its name differs from the node's
CALLS = {
    "Deg2Rad": "deg2rad",
    "Rad2Deg": "rad2deg",
    "LinalgCholeskyEx": "linalg.cholesky",
    "MaxPool2DWithIndices": "nn.functional.max_pool2d",
    "MaxPool3DWithIndices": "nn.functional.max_pool3d",
    "Cholesky": "cholesky",
    "Zero": "ops.aten.zero",
    "SpecialEntr": "special.entr",
    "SpecialI0E": "special.i0e",
    "SpecialI1E": "special.i1e",
    "FakeQuantizePerTensorAffineCachemask": "fake_quantize_per_tensor_affine",
}
MODES = {"Reflection": "reflect", "Replication": "replicate", "UpsampleNearestExact": "nearest-exact"}
MODES |= {
    "UpsampleLinear": "linear",
    "UpsampleTrilinear": "trilinear",
    "UpsampleNearest": "nearest",
    "UpsampleBilinear": "bilinear",
    "UpsampleBicubic": "bicubic",
    "UpsampleLanczos": "lanczos",
}


def test_every_node_of_the_table_is_tried():
    nodes = [name.partition("[")[0] for name in PROGRAMS]
    known = [rules.RULES.get(n) or rules.rule_for(n) or rules.rule_for(f"{n}Backward0") for n in nodes]
    assert all(known)

    def tried(name: str) -> bool:
        return name in nodes or any(rule.inputs is rules.RULES[name].inputs for rule in known)

    assert {n for n in rules.RULES if not tried(n)} == set(NOT_HERE.split())
    cases = {f"{n}[{case}]" for n, rule in rules.RULES.items() for case in rule.cases if tried(n)}
    # minigrad saves "unbiased"; a node that updates running statistics does not save that it is training
    assert cases - set(PROGRAMS) == {f"{n}[unbiased=False]" for n in ("Std", "Var")} | {
        "BatchNormWithUpdate[training=False]"
    }


class Words(dict):
    """The names of a program: its own variables, PyTorch's functions, and a leaf for an input that it does not make."""

    def __init__(self, torch: Any, name: str, inputs: list[str]):
        super().__init__(torch=torch, F=torch.nn.functional, inputs=inputs, name=name)
        self |= {"int": int, "range": range, "forward_name": lambda n: rules.forward_name(f"{n}Backward0")}
        mode = next((mode for start, mode in MODES.items() if name.startswith(start)), None)
        where: Any = torch
        name = name.split("[")[0]
        called = CALLS.get(name) or rules.forward_name(f"{name}Backward0")
        called = re.sub(r"^special_", "special.", called)
        for part in called.split("."):
            where = getattr(where, part, None) or getattr(torch.nn.functional, part, None)
        self["call"] = mode or where

    def __missing__(self, name: str) -> Any:
        if name not in self["inputs"]:
            if not hasattr(self["torch"], name):
                raise KeyError(name)  # a builtin of Python
            return getattr(self["torch"], name)
        self[name] = leaf(self["torch"], 3, 3)
        return self[name]


def leaf(torch: Any, *shape: int, low: float = 0.1, high: float = 0.9) -> Any:
    return (torch.rand(*shape) * (high - low) + low).requires_grad_()


def written(torch: Any, words: Words) -> None:
    """Define the helpers that the programs use: functions of linear algebra and of layers."""
    words |= {
        "better": lambda a, b, name: a > b if name == "Maximum" else a < b,
        "leaf": lambda *shape, **ends: leaf(torch, *shape, **ends),
        "cleaf": lambda *n: torch.complex(torch.rand(n) - 0.5, torch.rand(n) - 0.5).requires_grad_(),
        "conj": lambda x: torch.as_tensor(x).conj(),
        "spd": lambda: (lambda a: a @ a.T + 3 * torch.eye(3))(torch.rand(3, 3)).requires_grad_(),
        "log": lambda x: torch.as_tensor(x).log(),
        "sqrt": lambda x: torch.as_tensor(x).sqrt(),
        "sym": lambda a: (a + a.mT) / 2,
        "cdf": lambda x: (1 + torch.erf(x / 2**0.5)) / 2,
        "pdf": lambda x: torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5,
        "phi": lambda a: a.tril() - a.diagonal().diag() / 2,
        "mirrored": lambda a: a.tril() + a.tril(-1).T,
        "dS": lambda p, g, v: p * (g @ v.mT - (g @ v.mT * p).sum(-1, keepdim=True)),
        "sd": lambda x, dim: (x.var(dim, correction=0, keepdim=True) + 1e-5).sqrt(),
        "slope": lambda f, x, v: (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6,
        "transposed": lambda f, x, g: units(torch, lambda u: (f(u) * g).sum(), x),
        "slopes": lambda f, x, g: units(
            torch, lambda u: ((f(x + 1e-6 * u) - f(x - 1e-6 * u)) * g).sum() / 2e-6, x
        ),
    }
    words["sum"] = lambda x, *dim: torch.sum(x, *dim) if hasattr(x, "dim") else torch.stack(list(x)).sum(0)
    words["again"] = lambda f, x: torch.autograd.grad((f(x) ** 2).sum(), x, create_graph=True)[0]
    words["gates"] = lambda: gates(torch, words)
    words["standard"] = lambda x, dim: (x - x.mean(dim, keepdim=True)) / words["sd"](x, dim)
    words["centred"] = lambda g, n, dim: g - g.mean(dim, keepdim=True) - n * (g * n).mean(dim, keepdim=True)


def units(torch: Any, f: Any, x: Any) -> Any:
    """``f`` of each unit vector, in the shape of ``x``."""
    with torch.no_grad():
        return torch.stack([f(u.reshape(x.shape)) for u in torch.eye(x.numel())]).reshape(x.shape)


def gates(torch: Any, w: Words) -> tuple[list, list, Any]:
    """An LSTM by hand: the gradients at each step's gates, the states before each step, the first cell state's gradient."""
    h, c, steps = w["hx"][0], w["cx"][0], []
    for x in w["input"]:
        a = x @ w["weight_ih"].T + h @ w["weight_hh"].T + w["bias_ih"] + w["bias_hh"]
        i, f, g, o = (part.tanh() if k == 2 else part.sigmoid() for k, part in enumerate(a.chunk(4, 1)))
        steps.append((h, c, i, f, g, o, c := f * c + i * g))
        h = o * c.tanh()
    dh, dc, found = 0, 0, []
    for (_, before, i, f, g, o, c), given in reversed(list(zip(steps, w["grad"], strict=True))):
        dh = dh + given
        dc = dc + dh * o * (1 - c.tanh() ** 2)
        slopes = (
            dc * g * i * (1 - i),
            dc * before * f * (1 - f),
            dc * i * (1 - g * g),
            dh * c.tanh() * o * (1 - o),
        )
        found.insert(0, torch.cat(slopes, 1))
        dh, dc = found[0] @ w["weight_hh"], dc * f
    return found, [step[0] for step in steps], dc[None]


@pytest.fixture
def doubles(torch):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield torch
    torch.set_default_dtype(before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_rule_says_is_what_the_node_computes(doubles, name):
    torch, (program, code_in_words) = doubles, PROGRAMS[name]
    name = name.split("[")[0]
    rule = rules.RULES.get(name) or rules.rule_for(name) or rules.rule_for(f"{name}Backward0")
    words = Words(torch, name, list(rule.inputs))
    written(torch, words)
    *statements, last = program.split("; ")
    for statement in statements:
        exec(statement, words)
    for given in rule.inputs:
        if (
            hasattr(words.get(given), "is_floating_point")
            and words[given].is_floating_point()
            and words[given].is_leaf
        ):
            words[given].requires_grad_()
    result = eval(last, words)
    functions = read([result]).functions
    f = next(f for f in reversed(functions) if name in (f.name, rules.base_name(f.name)))
    assert f.saved is not None  # reads them: a rule may depend on a number that the node keeps
    grads = [
        torch.rand(m.shape, dtype=m.dtype) if m.dtype.is_floating_point or m.dtype.is_complex else None
        for m in f.fn._input_metadata
    ]
    if "as" in code_in_words:  # the program says how to make them sparse
        grads = [eval(code_in_words["as"], words | {"grad": g}) for g in grads]
    if "of" in code_in_words:  # only this output gets a gradient
        grads = [g if i == int(code_in_words["of"]) else None for i, g in enumerate(grads)]
    if not callable(f.fn):  # a custom Function
        f.fn = lambda g, *_: torch.autograd.grad(result, [words[n] for n in rule.inputs], g) + (None,)
    sent = f.fn(*grads)
    saved = {n.removeprefix("_saved_"): getattr(f.fn, n) for n in dir(f.fn) if n.startswith("_saved_")}
    known = {n: v if hasattr(v, "shape") else signed(v) for n, v in saved.items()}
    words |= {n: v for n, v in known.items() if n not in words}
    words |= {"grad": grads[int(code_in_words.get("of", 0))], "result": result, "k": 0} | {
        f"g{i}": g for i, g in enumerate(grads)
    }
    told_by = zip(f.edges, rules.input_names(f), rules.code_of(f), strict=True)
    for (edge, given, code), right in zip(told_by, sent if isinstance(sent, tuple) else (sent,), strict=True):
        if edge.target is None:
            continue
        words["k"] = edge.slot
        key = given if given in rule.inputs else "*"
        code = code_in_words.get(key) or re.sub(
            r", (\w+|a and b.*) = .*", "", code
        )  # without the definitions after the formula, such as s = ...
        with torch.no_grad():
            claimed = eval(code, words)
        if right is None or claimed is None:  # one of the two sends nothing
            assert not torch.count_nonzero(
                torch.zeros(1) if right is claimed else right if claimed is None else claimed
            )
            continue
        claimed, right = (x.to_dense() if x.layout != torch.strided else x for x in (claimed, right))
        right = right.sum_to_size(edge.target.outputs[edge.nr].shape)  # as the engine does in a pass
        text = f"{given}: {code} is {claimed}, the node says {right}"
        torch.testing.assert_close(claimed, right, rtol=1e-4, atol=1e-7, check_dtype=False, msg=text)


def without_mathematics(torch: Any, made: Any) -> set[str]:
    """The nodes behind these results for which some input's gradient is given by no rule."""
    flat = importlib.import_module("torch.utils._pytree").tree_leaves
    ends = [r for r in flat(made) if isinstance(r, torch.Tensor) and r.grad_fn is not None]
    code_in_words = (
        (f, zip(f.edges, rules.math_of(f, {}), strict=True)) for f in (read(ends).functions if ends else ())
    )
    return {f.name for f, maths in code_in_words for e, math in maths if e.target is not None and not math}


@pytest.mark.filterwarnings("ignore")
@on_a_short_stack
def test_no_layer_makes_a_node_without_mathematics(torch):
    """All modules in PyTorch's own test table, each with its first three inputs, in training mode."""
    layers = importlib.import_module("torch.testing._internal.common_modules").module_db
    more = {"device": "cpu", "dtype": torch.float32, "requires_grad": True, "training": True}
    tried, without = 0, set()
    for layer in layers:
        for given in layer.module_inputs_func(layer, **more)[:3]:
            # a module that this machine or dtype does not support
            with contextlib.suppress(NotImplementedError, RuntimeError):
                made = layer.module_cls(*given.constructor_input.args, **given.constructor_input.kwargs)
                without |= without_mathematics(
                    torch, made(*given.forward_input.args, **given.forward_input.kwargs)
                )
                tried += 1
    assert without == set()
    assert tried > 150


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
@on_a_short_stack
def test_no_function_makes_a_node_without_mathematics(torch, part):
    """All functions in PyTorch's own test table, real and complex, each with its first input; second derivatives of the real
    ones, too."""
    every = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    flat, tried, without = importlib.import_module("torch.utils._pytree").tree_leaves, 0, set()
    for op in every[part::8]:
        for dtype in {torch.float64, torch.complex128} & op.supported_dtypes("cpu"):
            if not op.supports_autograd:
                continue
            for given in islice(op.sample_inputs("cpu", dtype, requires_grad=True), 1):
                # skip what this machine does not support, and what has no second derivative
                with contextlib.suppress(NotImplementedError, RuntimeError, IndexError):
                    made = op(given.input, *given.args, **given.kwargs)
                    without |= without_mathematics(torch, made)
                    tried += 1
                    every_one = flat([given.input, given.args, given.kwargs])
                    inputs = [t for t in every_one if isinstance(t, torch.Tensor) and t.requires_grad]
                    ends = [r for r in flat(made) if isinstance(r, torch.Tensor) and r.grad_fn is not None]
                    if not ends or dtype.is_complex or not op.supports_gradgrad:
                        continue
                    total, more = sum((r.abs() ** 2).sum() for r in ends), {"allow_unused": True}
                    without |= without_mathematics(
                        torch, torch.autograd.grad(total, inputs, create_graph=True, **more)
                    )
    assert without <= {"NotImplemented"}  # PyTorch itself has no rule for these
    assert tried > 50
