"""The inputs on which PyTorch tests its own operations, as programs for both engines.

PyTorch ships a table of its operations (`torch.testing._internal`), each with sample inputs and with inputs that must
raise. Every operation of that table that minigrad has is called on them here: as a function, as a method and in place.
It needs `torch` and `expecttest`. To see what differs:

    python -m tests.pytorch_samples add sum$ nn.functional     operations whose names begin so (or are so: $)
    python -m tests.pytorch_samples int64 10 add               other dtypes; at most 10 differences of each operation
    python -m tests.pytorch_samples twice linalg               second derivatives; `forward`: forward mode; `vmap`;
                                                               `each`: the gradients of each example of a batch
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

import minigrad
from tests.oracle import Program, differences, run

DTYPES = ("float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


class Unsuitable(Exception):
    """A sample that speaks of what one of the engines does not have: complex or sparse tensors, memory formats, `out=`."""


# A derivative that PyTorch does not have; minigrad may have it.
NOT_THERE = r"derivative for aten::\w+ is not implemented"
# Operations (and programs of them) whose numbers are free, and why. All else of them is compared.
NOT_INITIALISED = "memory that is not initialised"
FREE = {
    "empty": NOT_INITIALISED,
    "empty_like": NOT_INITIALISED,
    "empty_strided": NOT_INITIALISED,
    "new_empty": NOT_INITIALISED,
    "new_empty_strided": NOT_INITIALISED,
    "matrix_exp/float16": "PyTorch's is NaN where a power of the matrix is too large",
    "cholesky_inverse/forward": "PyTorch's forward derivative is not that of the function, which finite differences show",
}
# Results that may be chosen freely, up to what: compared is what PyTorch's own tests make of them, which depends on no choice.
CHOICES = {
    "linalg.eigh": "the signs of eigenvectors",
    "linalg.svd": "the signs of singular vectors",
    "svd": "the signs of singular vectors",
}
# Where equal elements, which integers and halves have, may be named in any order: what shows which of them is named.
# (PyTorch's own order is that of an unstable sort for more than 16 elements.)
TIES = {
    "argsort": ("y: values",),
    "kthvalue": ("y: items[1]: values",),
    "mode": ("y: items[1]: values", "grad: values", "tangents: items[0]: values", "grads: items[0]: values"),
    "sort": ("y: items[1]: values",),
    "topk": ("y: items[1]: values",),
}
# How far numbers may differ, where it is more than a few roundings, and why; after a slash for one program or dtype only.
ROUGH = {
    "nn.functional.batch_norm/float32": (1e-4, "two values of a channel: their gradients cancel"),
    "nn.functional.layer_norm/float32": (
        1e-2,
        "one value: PyTorch's product of it and the scale is 1e-5 off",
    ),
    "nn.functional.normalize/float32": (1e-2, "what is left of numbers that cancel"),
    "nn.functional.binary_cross_entropy/twice": (1e-9, "PyTorch's formula adds 1e-12 to what it divides by"),
    "nn.functional.normalize/twice": (1e-8, "what is left of numbers that cancel"),
    "cov": (1e-5, "weights in single beside rows in double precision"),
    "cov/twice": (1e-2, "the same, and numbers a thousand times as large cancel"),
    "nn.functional.cosine_similarity": (
        1e-4,
        "of single numbers the gradient is zero, and roundings are left",
    ),
    "logcumsumexp": (1e-5, "PyTorch's derivative divides by a sum that it adds 1e-13 to"),
    "mvlgamma.mvlgamma_p_1/twice": (1e-8, "PyTorch's trigamma is right to 4e-10"),
    "mvlgamma.mvlgamma_p_3/twice": (1e-8, "PyTorch's trigamma is right to 4e-10"),
    "mvlgamma.mvlgamma_p_5/twice": (1e-8, "PyTorch's trigamma is right to 4e-10"),
    "softmax": (1e-4, "gradients cancel: in single precision both engines are 1e-7 off"),
    "softmax/twice": (1e-2, "the same, twice"),
    "log_softmax/twice": (1e-4, "the same"),
}
# Modules among the arguments: what they were made with.
MODULES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "PairwiseDistance": lambda m: {"p": m.norm, "eps": m.eps, "keepdim": m.keepdim},
    "TransformerEncoderLayer": lambda m: {
        "d_model": m.linear1.in_features, "nhead": m.self_attn.num_heads, "dim_feedforward": m.linear1.out_features,
        "dropout": m.dropout.p, "activation": m.activation, "layer_norm_eps": m.norm1.eps,
        "batch_first": m.self_attn.batch_first, "norm_first": m.norm_first, "bias": m.linear1.bias is not None,
    },
}  # fmt: skip
# Functions that take the sample's input somewhere else than in the first place.
CALLS = {
    "einsum": "(*args, x)",
    "linalg.pinv.singular": "(x @ args[0].mT)",
    "nn.functional.embedding": "(*args, x, **kwargs)",
    "polygamma": "(*args, x, **kwargs)",
}


def table() -> list[Any]:
    """PyTorch's table of operations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return op_db


def key(info: Any) -> str:
    """'add', 'norm.nuc': an operation and which form of it."""
    return info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")


def find(name: str, where: object) -> object | None:
    for part in name.split("."):
        where = getattr(where, part, None)
    return where


def forms(info: Any) -> dict[str, str]:
    """How the operation may be called under both engines: form -> expression of `x`, `args`, `kwargs`."""
    import torch

    found = {}
    if callable(find(info.name, torch)) and callable(find(info.name, minigrad)):
        call = CALLS.get(key(info)) or CALLS.get(info.name.split(".")[-1], "(x, *args, **kwargs)")
        found["function"] = f"torch.{info.name}{call}"
    if "." not in info.name and hasattr(torch.Tensor, info.name) and hasattr(minigrad.Tensor, info.name):
        if not callable(getattr(minigrad.Tensor, info.name)):
            found["method"] = f"x.{info.name}"
        else:
            found["method"] = f"x.{info.name}(*args, **kwargs)"
    in_place = getattr(info.inplace_variant, "__name__", info.name + "_")
    if "." not in info.name and hasattr(minigrad.Tensor, in_place) and info.inplace_variant:
        found["in place"] = f"x.clone().{in_place}(*args, **kwargs)"
    return found


# What is done with a call, by name. A program finds x, args and kwargs, all of their tensors that require grad as _leaves,
# _parts(y), the tensors among results, _weights(tensors), gradients or tangents for them, _mapped(f, ...), and
# _filled(leaves), which is x, args and kwargs with other leaves. `each` are the gradients of each example of a batch.
PROGRAMS = {
    "once": """
y = CALL
outs = [t for t in _parts(y) if t.requires_grad]
if outs: torch.autograd.backward(outs, _weights(outs))
""",
    "twice": """
y = CALL
outs = [t for t in _parts(y) if t.requires_grad]
grads = torch.autograd.grad(outs, _leaves, _weights(outs), create_graph=True, allow_unused=True) if outs else []
again = [g for g in grads if g is not None and g.requires_grad]
twice = torch.autograd.grad(again, _leaves, _weights(again), allow_unused=True) if again else ()
""",
    "forward": """
import torch.autograd.forward_ad as fwAD
with fwAD.dual_level():
    x, args, kwargs = _mapped(lambda t: fwAD.make_dual(t.detach(), _weights([t])[0]), (x, args, kwargs))
    y = CALL
    tangents = [fwAD.unpack_dual(t).tangent for t in _parts(y)]
    del x, args, kwargs, y
""",
    "vmap": """
def call(*leaves):
    x, args, kwargs = _filled(leaves)
    return tuple(_parts(CALL))
batch = [torch.stack([t.detach(), t.detach() * 0.5]) for t in _leaves]
y = torch.func.vmap(call)(*batch) if batch else ()
""",
    "each": """
def total(*leaves):
    x, args, kwargs = _filled(leaves)
    outs = [t for t in _parts(CALL) if t.is_floating_point()]
    return sum((t * w).sum() for t, w in zip(outs, _weights(outs)))
batch = [torch.stack([t.detach(), t.detach() * 0.5]) for t in _leaves]
y = torch.func.vmap(torch.func.grad(total, tuple(range(len(batch)))))(*batch) if batch else ()
""",
}


BATCHED = ("vmap", "each")


def converted(value: Any, module: ModuleType, halves: str = "float16") -> Any:
    """A part of a sample for the engine `module`: tensors and dtypes become its own, everything contiguous."""
    import torch

    if isinstance(value, torch.Tensor) and value.dtype is torch.float16:
        kind = type(value)
        value = value.detach().to(getattr(torch, halves)).requires_grad_(value.requires_grad)
        value = kind(value, value.requires_grad) if kind is torch.nn.Parameter else value
    if value is torch.float16:
        value = getattr(torch, halves)
    if isinstance(value, torch.Tensor):
        if (
            value.is_complex()
            or value.layout != torch.strided
            or value.dtype == torch.bfloat16
            or value.is_quantized
            or value.is_meta
            or value.dim() > 64  # more than NumPy has
        ):
            raise Unsuitable
        array = np.array(value.detach().numpy(force=True))
        if isinstance(value, torch.nn.Parameter):
            return module.nn.Parameter(module.tensor(array), value.requires_grad)
        return module.tensor(array, requires_grad=value.requires_grad)
    if isinstance(value, torch.dtype):
        if not hasattr(minigrad, str(value).split(".")[-1]):
            raise Unsuitable
        return getattr(module, str(value).split(".")[-1])
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, torch.nn.Module):
        name = type(value).__name__
        twin = getattr(module.nn, name)(**converted(MODULES[name](value), module))
        twin.load_state_dict({k: converted(v, module) for k, v in value.state_dict().items()})
        return twin
    if callable(value) and value is getattr(torch.nn.functional, getattr(value, "__name__", ""), None):
        return getattr(module.nn.functional, value.__name__)
    if isinstance(value, torch.memory_format | torch.layout | torch.Generator | complex):
        raise Unsuitable
    if isinstance(value, list | tuple):
        parts = [converted(v, module, halves) for v in value]
        return type(value)(parts) if not hasattr(value, "_fields") else type(value)(*parts)
    if isinstance(value, dict):
        return {k: converted(v, module, halves) for k, v in value.items()}
    return value


def inputs(sample: Any, module: ModuleType, halves: str = "float16") -> dict[str, Any]:
    """What a program for this sample finds. halves: the dtype of what is float16 in it."""
    if "out" in sample.kwargs:
        raise Unsuitable
    x, args, kwargs = converted((sample.input, tuple(sample.args), dict(sample.kwargs)), module, halves)
    leaves: list[Any] = []

    def mapped(f: Callable, value: Any) -> Any:
        if isinstance(value, module.Tensor):
            return f(value) if value.requires_grad else value
        if isinstance(value, list | tuple):
            return type(value)([mapped(f, v) for v in value])
        return {k: mapped(f, v) for k, v in value.items()} if isinstance(value, dict) else value

    def parts(value: Any) -> list[Any]:
        if isinstance(value, list | tuple):
            return [t for v in value for t in parts(v)]
        return [value] if isinstance(value, module.Tensor) else []

    def weights(tensors: list[Any]) -> list[Any]:
        numbers = [np.linspace(0.5, 1.5, t.numel()).reshape(t.shape) for t in tensors]
        return [module.tensor(n, dtype=t.dtype) for n, t in zip(numbers, tensors, strict=True)]

    def filled(others: Any) -> Any:
        following = iter(others)
        return mapped(lambda t: next(following), (x, args, kwargs))

    mapped(leaves.append, (x, args, kwargs))
    helpers = {"_leaves": leaves, "_parts": parts, "_weights": weights, "_mapped": mapped, "_filled": filled}
    return {"x": x, "args": args, "kwargs": kwargs, **helpers}


def samples(info: Any, dtype: str) -> Iterator[Any]:
    """PyTorch's sample inputs of an operation."""
    import torch

    wanted = getattr(torch, dtype)
    if wanted in info.dtypes:
        torch.manual_seed(0)
        differentiable = info.supports_autograd and wanted.is_floating_point
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from info.sample_inputs("cpu", wanted, requires_grad=differentiable)


def error_samples(info: Any) -> Iterator[Any]:
    """Inputs that have to raise."""
    if info.error_inputs_func is not None:
        for error in info.error_inputs("cpu"):
            if hasattr(error.sample_input, "args"):
                yield error.sample_input


def programs(info: Any) -> list[str]:
    """Which of PROGRAMS PyTorch can do with this operation."""
    possible = {"once": True, "twice": info.supports_gradgrad, "forward": info.supports_forward_ad}
    possible |= dict.fromkeys(BATCHED, info.supports_autograd)
    return [name for name, able in possible.items() if able]


def compare(info: Any, form: str, sample: Any, what: str = "once") -> list[str]:
    """What differs between the engines for one call. Raises Unsuitable."""
    import torch

    given = [inputs(sample, module) for module in (torch, minigrad)]
    call, chosen = forms(info)[form], {}
    if key(info) in CHOICES:
        call, chosen = f"_chosen({call})", {"_chosen": sample.output_process_fn_grad}
        given = [g | chosen for g in given]
    source = PROGRAMS[what].strip().replace("CALL", call) + "\n"
    program = Program(f"{key(info)}/{form}/{what}", source)
    expected, got = (run(m, program, **g) for m, g in zip((torch, minigrad), given, strict=True))
    if "complex" in repr(expected) or any(
        re.search(NOT_THERE, s.get("error", "")) for s in expected["statements"]
    ):
        raise Unsuitable
    if what in BATCHED:
        if key(info) == "addbmm" and form == "in place":
            raise Unsuitable  # of an `addbmm_` that enlarges its tensor PyTorch's numbers have no meaning
        if any("error" in statement for statement in expected["statements"]):
            raise Unsuitable  # PyTorch cannot batch it
        for statement in [*expected["statements"], *got["statements"]]:
            statement.pop("warnings", None)  # of what is done one by one
    dtype = str(getattr(sample.input, "dtype", "")).split(".")[-1]
    rtol, _ = next(
        (ROUGH[k] for k in (f"{key(info)}/{what}", f"{key(info)}/{dtype}", key(info)) if k in ROUGH),
        (0.0, ""),
    )
    if rtol:
        expected = roughly(expected, rtol)
    names = {key(info), f"{key(info)}/{what}", f"{key(info)}/{dtype}"}
    told = ("values", "printed") if names & set(FREE) else ()
    if key(info) in TIES and dtype not in ("float32", "float64"):
        told = TIES[key(info)]
    found = [text for text in differences(expected, got) if not is_rounding(text)]
    if found and dtype == "float16":
        exact = run(torch, program, **inputs(sample, torch, halves="float64"), **chosen)
        told += tuple(f"{where}: values" for where in as_exact(exact, expected, got))
    return [text for text in found if not text.split("\n")[0].endswith(told)]


def numbers(transcript: Any, where: str = "") -> Iterator[tuple[str, list[float]]]:
    """All numbers of a transcript's variables, with the name under which `differences` speaks of them."""
    if isinstance(transcript, list):
        for i, part in enumerate(transcript):
            yield from numbers(part, f"{where}[{i}]")
    if isinstance(transcript, dict):
        if "rtol" in transcript:
            yield where, transcript["values"]
        for part, value in transcript.items():
            yield from numbers(value, f"{where}: {part}" if where else part)


def as_exact(exact: dict[str, Any], expected: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
    """Where two results in half precision are both off, ours no more than a little farther than PyTorch's.

    Neither is right there, as roundings of numbers that cancel are left.
    """
    true, theirs, ours = (dict(numbers(t["variables"])) for t in (exact, expected, got))
    for where in true.keys() & theirs.keys() & ours.keys():
        a, b, c = (np.asarray(found[where], float) for found in (true, theirs, ours))
        if a.shape == b.shape == c.shape and np.isfinite([a, c]).all():
            off = np.abs(b - a).max(initial=0) if np.isfinite(b).all() else math.inf
            if np.abs(c - a).max(initial=0) <= 2 * off:
                yield where


def roughly(transcript: Any, rtol: float) -> Any:
    """A transcript whose numbers may differ by at least `rtol`."""
    if isinstance(transcript, list):
        return [roughly(part, rtol) for part in transcript]
    if not isinstance(transcript, dict):
        return transcript
    return {k: max(v, rtol) if k == "rtol" else roughly(v, rtol) for k, v in transcript.items()}


def is_rounding(difference: str) -> bool:
    """Are two tensors printed differently only because of a last digit, as 50. and 50.0000 in double precision?"""
    where, *texts = re.split(r"\n +(?:expected|got): +", difference)
    if not where.endswith("printed"):
        return False
    theirs, ours = (re.sub(r"[-\d.e+\s]+", " ", text) for text in texts)
    return theirs == ours


def shown(value: Any) -> str:
    """A sample in one line."""
    import torch

    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).split('.')[-1]}{list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}={shown(v)}" for k, v in value.items()) + "}"
    return repr(value)


class Report:
    """Counts comparisons, prints the first differences of each name and at the end what was counted."""

    def __init__(self, most: int):
        self.most, self.told, self.counts = most, 0, Counter()

    def compared(self, title: str, compare: Callable[[], list[str]], lines: int) -> None:
        """Count one comparison; if something differs print the title and the first `lines` differences."""
        try:
            different = compare()
        except Unsuitable:
            self.counts["unsuitable"] += 1
            return
        except Exception as error:
            different = [f"the harness: {type(error).__name__}: {error}"]
        self.counts["different" if different else "same"] += 1
        self.told += bool(different)
        if different and self.told <= self.most:
            print(f"\n== {title}")
            for line in different[:lines]:
                print("   ", line)

    def ended(self, name: str) -> None:
        """All comparisons of one name are done."""
        if self.told:
            print(f"-- {name}: {self.told} differences")
            self.counts["names that differ"] += 1
        self.told = 0
        sys.stdout.flush()


def asked_for(words: list[str], name: str, whole: str) -> bool:
    """Is it asked for on the command line? Its `name` begins with one of the words, or a word is its `whole` name and $."""
    return not words or any(whole == w[:-1] if w.endswith("$") else name.startswith(w) for w in words)


def main(words: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    dtypes = [w for w in words if w in DTYPES] or DTYPES[:1]
    report = Report(next((int(w) for w in words if w.isdigit()), 3))
    what = next((w for w in words if w in PROGRAMS), "once")
    words = [w for w in words if w not in DTYPES and w not in PROGRAMS and not w.isdigit()]
    for info in table():
        ways = forms(info)
        if not (ways and asked_for(words, key(info), info.name) and what in programs(info)):
            continue
        for kind in (*dtypes, *["errors"] * (what == "once")):
            every = error_samples(info) if kind == "errors" else samples(info, kind)
            for (number, sample), form in itertools.product(enumerate(every), ways):
                given = ", ".join(map(shown, (sample.input, sample.args, sample.kwargs)))
                title = f"{key(info)} {kind} #{number} as {ways[form]}: {given}"
                report.compared(title, functools.partial(compare, info, form, sample, what), lines=3)
        report.ended(key(info))
    print(dict(report.counts))


if __name__ == "__main__":
    main(sys.argv[1:])
