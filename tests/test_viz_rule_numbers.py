"""Each line of viz/read/rules.txt is true: what it says a node of PyTorch computes is what that node computes.

``rule_programs.txt`` has for each node a program that makes one. A rule that is written as code is run as it stands; for one
that is told in words that file says in code what they mean. The numbers are compared with those of the node itself.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from viz.read import rules
from viz.read.graph import _signed, read

PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {}
for line in (Path(__file__).parent / "rule_programs.txt").read_text(encoding="utf-8").splitlines():
    if not line.startswith("#"):
        names, program, *words = (part.strip() for part in line.split(" | "))
        PROGRAMS |= dict.fromkeys(names.split(), (program, dict(one.split(": ", 1) for one in words)))
# what ``call`` is where it is not the function of the node's name
CALLS = {
    "Deg2Rad": "deg2rad",
    "Rad2Deg": "rad2deg",
    "LinalgCholeskyEx": "linalg.cholesky",
    "MaxPool2DWithIndices": "nn.functional.max_pool2d",
    "MaxPool3DWithIndices": "nn.functional.max_pool3d",
    "Cholesky": "cholesky",
    "Zero": "ops.aten.zero",
    "SpecialEntr": "special.entr",
}
MODES = {"Reflection": "reflect", "Replication": "replicate", "UpsampleNearestExact": "nearest-exact"}
MODES |= {
    "UpsampleLinear": "linear",
    "UpsampleTrilinear": "trilinear",
    "UpsampleNearest": "nearest",
    "UpsampleBilinear": "bilinear",
    "UpsampleBicubic": "bicubic",
}


def test_every_node_of_the_table_is_tried():
    tried = {id(rules.rule_for(f"{name}Backward0") or rules.rule_for(name)): name for name in PROGRAMS}
    assert all(rules.RULES.get(name) or rules.rule_for(name) for name in PROGRAMS)
    assert [n for n, rule in rules.RULES.items() if n not in PROGRAMS and id(rule) not in tried] == []


class Words(dict):
    """The names of a program: its own variables, PyTorch's functions, and a leaf for an input that it does not make."""

    def __init__(self, torch: Any, name: str, inputs: list[str]):
        super().__init__(torch=torch, F=torch.nn.functional, inputs=inputs, int=int, name=name)
        mode = next((mode for start, mode in MODES.items() if name.startswith(start)), None)
        where: Any = torch
        called = CALLS.get(name) or rules.forward_name(f"{name}Backward0")
        for part in called.split("."):
            where = getattr(where, part, None) or getattr(torch.nn.functional, part, None)
        self["call"] = mode or where

    def __missing__(self, name: str) -> Any:
        if name not in self["inputs"]:
            if not hasattr(self["torch"], name):
                raise KeyError(name)  # one of Python's own
            return getattr(self["torch"], name)
        self[name] = leaf(self["torch"], 3, 3)
        return self[name]


def leaf(torch: Any, *shape: int, low: float = 0.1, high: float = 0.9) -> Any:
    return (torch.rand(*shape) * (high - low) + low).requires_grad_()


def written(torch: Any, words: Words) -> None:
    """Words of linear algebra and of layers, as functions."""
    words |= {
        "better": lambda a, b, name: a > b if name == "Maximum" else a < b,
        "leaf": lambda *shape, **ends: leaf(torch, *shape, **ends),
        "cleaf": lambda n: torch.complex(torch.rand(n) - 0.5, torch.rand(n) - 0.5).requires_grad_(),
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
    """``f`` of each unit vector in the space of ``x``."""
    with torch.no_grad():
        return torch.stack([f(u.reshape(x.shape)) for u in torch.eye(x.numel())]).reshape(x.shape)


def gates(torch: Any, w: Words) -> tuple[list, list, Any]:
    """Of an LSTM, by hand: the gradient at the gates of each step, the state before it, the gradient of the first cell."""
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
    torch, (program, told) = doubles, PROGRAMS[name]
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
    grads = [
        torch.rand(m.shape, dtype=m.dtype) if m.dtype.is_floating_point or m.dtype.is_complex else None
        for m in f.fn._input_metadata
    ]
    if "of" in told:  # the gradient of this output alone
        grads = [g if i == int(told["of"]) else None for i, g in enumerate(grads)]
    sent = f.fn(*grads)
    saved = {n.removeprefix("_saved_"): getattr(f.fn, n) for n in dir(f.fn) if n.startswith("_saved_")}
    known = {n: v if hasattr(v, "shape") else _signed(v) for n, v in saved.items()}
    words |= {n: v for n, v in known.items() if n not in words}
    words |= {"grad": grads[int(told.get("of", 0))], "result": result, "k": 0} | {
        f"g{i}": g for i, g in enumerate(grads)
    }
    for edge, given, right in zip(
        f.edges, rules.input_names(f), sent if isinstance(sent, tuple) else (sent,), strict=True
    ):
        if edge.target is None:
            continue
        words["k"] = edge.slot
        key = given if given in rule.inputs else "*"
        code = told.get(key) or re.sub(
            r", (\w+|a and b.*) = .*", "", rule.inputs[key][0]
        )  # s = ... is a statement there
        with torch.no_grad():
            claimed = eval(code, words)
        right = right.to_dense() if right.layout != torch.strided else right
        right = right.sum_to_size(edge.target.outputs[edge.nr].shape)  # the engine does, where a node has not
        said = f"{given}: {code} is {claimed}, the node says {right}"
        torch.testing.assert_close(claimed, right, rtol=1e-4, atol=1e-7, check_dtype=False, msg=said)


@pytest.mark.filterwarnings("ignore")
def test_no_layer_makes_a_node_without_mathematics(torch):
    """All modules that PyTorch tests itself with, each with its own first inputs, in training."""
    layers = importlib.import_module("torch.testing._internal.common_modules").module_db
    flat = importlib.import_module("torch.utils._pytree").tree_leaves
    more = {"device": "cpu", "dtype": torch.float32, "requires_grad": True, "training": True}
    tried, without = 0, set()
    for layer in layers:
        for given in layer.module_inputs_func(layer, **more)[:3]:
            with contextlib.suppress(
                NotImplementedError, RuntimeError
            ):  # what this machine or this dtype has not
                made = layer.module_cls(*given.constructor_input.args, **given.constructor_input.kwargs)
                results = flat(made(*given.forward_input.args, **given.forward_input.kwargs))
                ends = [r for r in results if isinstance(r, torch.Tensor) and r.grad_fn is not None]
                functions = read(ends).functions if ends else ()
                tried += bool(functions)
                for f in functions:
                    told = zip(f.edges, rules.math_of(f, {}), strict=True)
                    without |= {f.name for e, math in told if e.target is not None and not math}
    assert without == set()
    assert tried > 150
