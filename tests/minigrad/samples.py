"""The inputs on which PyTorch tests its own operations, as programs for both engines.

PyTorch ships a table of its operations (`torch.testing._internal`), each with sample inputs and with inputs that must
raise. Every operation of that table that minigrad has is called with them here: as a function, as a method and in place.
It needs `torch` and `expecttest`. To see what differs:

    python -m tests.minigrad.samples add sum$ nn.functional     operations whose names begin with this ($: the whole name)
    python -m tests.minigrad.samples int64 10 add               another dtype; at most 10 differences for each operation
    python -m tests.minigrad.samples twice linalg               second derivatives; `forward`: forward mode; `vmap`
"""

from __future__ import annotations

import itertools
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

import minigrad
from tests.minigrad.differences import CHOICES, DIFFERS, ROUGH, TIES
from tests.minigrad.oracle import Program, differences, run

DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")


class Unsuitable(Exception):
    """A sample that needs something minigrad does not have, or that PyTorch itself cannot do."""


# An engine's message when it does not have something: a derivative (PyTorch), an argument or a name (minigrad).
NOT_THERE = re.compile(r"derivative for aten::\w+ is not implemented|not implemented for|complex|sparse")
NOT_OFFERED = re.compile(
    r"unexpected keyword argument|invalid combination of arguments|\btorch has no\b|positional arguments? but|is not offered"
    r"|\b(?:minigrad|torch) does not implement"
    r"|must be (?:Number|int), not (?:Tensor|tuple)"
)
# Operations whose results are uninitialised memory.
FREE = {"empty", "empty_like", "new_empty"}
# Functions that do not take the sample's input as their first argument.
CALLS = {"nn.functional.embedding": "(*args, x, **kwargs)"}

# What is done with a call, by name. A program can use x, args and kwargs; _leaves: all their tensors that require grad;
# _parts(y): the tensors among results; _weights(tensors): gradients or tangents for them; _mapped(f, ...); and
# _filled(leaves): x, args and kwargs with other leaves.
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
}


def table() -> list[Any]:
    """The operations in PyTorch's table that minigrad has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return [info for info in op_db if forms(info) and not info.name.startswith("__")]  # those are operators


def key(info: Any) -> str:
    """'add', 'norm.fro': an operation, with its form."""
    return info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")


def find(name: str, where: object) -> object | None:
    for part in name.split("."):
        where = getattr(where, part, None)
    return where


def forms(info: Any) -> dict[str, str]:
    """How the operation may be called under both engines: form -> expression of `x`, `args`, `kwargs`."""
    import torch

    found, alone = {}, "." not in info.name
    if callable(find(info.name, torch)) and callable(find(info.name, minigrad)):
        found["function"] = f"torch.{info.name}{CALLS.get(key(info), '(x, *args, **kwargs)')}"
    if alone and hasattr(torch.Tensor, info.name) and hasattr(minigrad.Tensor, info.name):
        called = callable(getattr(minigrad.Tensor, info.name))
        found["method"] = f"x.{info.name}" + "(*args, **kwargs)" * called
    in_place = getattr(info.inplace_variant, "__name__", info.name + "_")
    if alone and hasattr(minigrad.Tensor, in_place) and info.inplace_variant:
        found["in place"] = f"x.clone().{in_place}(*args, **kwargs)"
    return found


def converted(value: Any, module: ModuleType) -> Any:
    """A part of a sample for the engine `module`: tensors and dtypes become its own, everything contiguous."""
    import torch

    if isinstance(value, torch.Tensor):
        unlike = value.is_complex() or value.layout != torch.strided or value.is_quantized or value.is_meta
        if unlike or value.dtype in (torch.bfloat16, torch.float16) or value.dim() > 64:
            raise Unsuitable
        t = module.tensor(np.array(value.detach().numpy(force=True)), requires_grad=value.requires_grad)
        return (
            module.nn.Parameter(t.detach(), value.requires_grad)
            if isinstance(value, torch.nn.Parameter)
            else t
        )
    if isinstance(value, torch.dtype):
        name = str(value).split(".")[-1]
        if not hasattr(minigrad, name) or name == "float16":
            raise Unsuitable
        return getattr(module, name)
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, torch.memory_format | torch.layout | torch.Generator | torch.nn.Module | complex):
        raise Unsuitable
    if isinstance(value, list | tuple):
        return (tuple if isinstance(value, torch.Size) else type(value))(
            [converted(v, module) for v in value]
        )
    return {k: converted(v, module) for k, v in value.items()} if isinstance(value, dict) else value


def inputs(sample: Any, module: ModuleType) -> dict[str, Any]:
    """The variables of a program for this sample."""
    if {"out", "memory_format", "layout", "pin_memory"} & set(sample.kwargs):
        raise Unsuitable
    x, args, kwargs = converted((sample.input, tuple(sample.args), dict(sample.kwargs)), module)
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
        numbers = [np.linspace(0.5, 1.5, t.numel()).reshape(tuple(t.shape)) for t in tensors]
        return [module.tensor(n, dtype=t.dtype) for n, t in zip(numbers, tensors, strict=True)]

    def filled(others: Any) -> Any:
        following = iter(others)
        return mapped(lambda t: next(following), (x, args, kwargs))

    mapped(leaves.append, (x, args, kwargs))
    helpers = {"_leaves": leaves, "_parts": parts, "_weights": weights, "_mapped": mapped, "_filled": filled}
    return {"x": x, "args": args, "kwargs": kwargs, **helpers}


def samples(info: Any, dtype: str) -> Iterator[Any]:
    """PyTorch's sample inputs of an operation; with dtype "errors" those that have to raise."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dtype == "errors":
            found = info.error_inputs_func(info, "cpu") if info.error_inputs_func is not None else ()
            yield from (e.sample_input for e in seeded(found) if hasattr(e.sample_input, "args"))
        elif (wanted := getattr(torch, dtype)) in info.dtypes:
            differentiable = info.supports_autograd and wanted.is_floating_point
            yield from seeded(info.sample_inputs_func(info, "cpu", wanted, differentiable))


def seeded(found: Iterable[Any]) -> Iterator[Any]:
    """Each sample as PyTorch's own tests get it, but without their search of the call stack for the running test."""
    import torch

    found = iter(found)
    while True:
        torch.default_generator.manual_seed(1234)
        random.seed(1234)
        np.random.seed(1234)
        try:
            yield next(found)
        except StopIteration:
            return


def programs(info: Any) -> list[str]:
    """Which of PROGRAMS PyTorch can do with this operation."""
    possible = {"once": True, "twice": info.supports_gradgrad, "forward": info.supports_forward_ad}
    possible |= {"vmap": info.supports_autograd}
    return [name for name, able in possible.items() if able]


def errors(transcript: dict[str, Any]) -> str:
    return " ".join(s.get("error", "") for s in transcript["statements"])


def compare(info: Any, form: str, sample: Any, what: str = "once", must_raise: bool = False) -> list[str]:
    """What differs between the engines for one call. Raises Unsuitable."""
    import torch

    given = [inputs(sample, module) for module in (torch, minigrad)]
    call = forms(info)[form]
    if key(info) in CHOICES:
        call = f"_chosen({call})"
        given = [g | {"_chosen": sample.output_process_fn_grad} for g in given]
    program = Program(f"{key(info)}/{form}/{what}", PROGRAMS[what].strip().replace("CALL", call) + "\n")
    expected, got = (run(m, program, **g) for m, g in zip((torch, minigrad), given, strict=True))
    theirs, ours = errors(expected), errors(got)
    if must_raise:  # their wording is tested by sessions/errors.txt
        return unknown(info, sample, [] if ours or not theirs else [f"is not refused, in PyTorch: {theirs}"])
    if (
        NOT_THERE.search(theirs)
        or "complex" in repr(expected)
        or (NOT_OFFERED.search(ours) and not NOT_OFFERED.search(theirs))
    ):
        raise Unsuitable
    if what == "vmap":
        if theirs:
            raise Unsuitable  # PyTorch cannot batch it
        for statement in [*expected["statements"], *got["statements"]]:
            statement.pop("warnings", None)  # the warning for operations run one by one
    dtype = str(getattr(sample.input, "dtype", "")).split(".")[-1]
    known = (f"{key(info)}/{what}", f"{key(info)}/{dtype}", key(info))
    rtol = next((ROUGH[k][0] for k in known if k in ROUGH), 0.0)
    ignored = ("values", "printed") if key(info) in FREE else ()
    if dtype not in ("float32", "float64"):
        ignored += TIES.get(key(info), ())
    found = [text for text in differences(roughly(expected, rtol), got) if not is_rounding(text)]
    return unknown(info, sample, [t for t in found if not t.split("\n")[0].endswith(ignored or ("\0",))])


def unknown(info: Any, sample: Any, found: list[str]) -> list[str]:
    """The differences, except those listed in DIFFERS."""
    sign, _ = DIFFERS.get(key(info), ("(?!)", ""))
    return [] if re.search(sign, "\n".join([shown(sample.args), shown(sample.kwargs), *found])) else found


def roughly(transcript: Any, rtol: float) -> Any:
    """A transcript whose numbers may differ by at least `rtol`."""
    if isinstance(transcript, list):
        return [roughly(part, rtol) for part in transcript]
    if not isinstance(transcript, dict):
        return transcript
    return {k: max(v, rtol) if k == "rtol" else roughly(v, rtol) for k, v in transcript.items()}


def is_rounding(difference: str) -> bool:
    """Whether two tensors print differently only because of a last digit, such as 50. and 50.0000 in double precision."""
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


def checked(
    infos: list[Any], what: str, dtype: str, most: int, counts: Counter[str] | None = None
) -> Iterator[str]:
    """The differences, one line per call; if there are more than `most` samples, that many are taken, evenly spaced."""
    counts = Counter() if counts is None else counts
    for info in infos:
        every = list(samples(info, dtype)) if what in programs(info) else []
        for (form, call), sample in itertools.product(
            forms(info).items(), every[:: -(-len(every) // most) or 1]
        ):
            try:
                different = compare(info, form, sample, what, must_raise=dtype == "errors")
            except Unsuitable:
                counts["unsuitable"] += 1
                continue
            counts["compared"] += 1
            if different:
                given = ", ".join(map(shown, (sample.input, sample.args, sample.kwargs)))
                yield f"{key(info)} {dtype} as {call}: {given}\n    {different[0]}"


def main(words: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    dtype = next((w for w in words if w in (*DTYPES, "errors")), DTYPES[0])
    most = next((int(w) for w in words if w.isdigit()), 1000)
    what = next((w for w in words if w in PROGRAMS), "once")
    words = [w for w in words if w not in (*DTYPES, *PROGRAMS, "errors") and not w.isdigit()]
    counts: Counter[str] = Counter()
    infos = [
        i
        for i in table()
        if not words or any(i.name == w[:-1] if w[-1] == "$" else i.name.startswith(w) for w in words)
    ]
    for text in checked(infos, what, dtype, most, counts):
        counts["different"] += 1
        print(text)
    print(dict(counts))


if __name__ == "__main__":
    main(sys.argv[1:])
