"""Programs about modules, optimizers and data: run under PyTorch and under minigrad, they log the same.

A program is a cell of a file in tests/corpus/nn, under a line `# %% title`. It finds torch, nn, F, optim, lrs (the
schedules), data, nu (nn.utils) and some of Python's modules, and two functions:

* log(a, b, ...) writes values down;
* err(f, *args, **kwargs) writes down what the call gives, or the type and first line of the error that it raises.

Warnings are written down at the end.
"""

from __future__ import annotations

import copy
import io
import math
import pickle
import re
import warnings
from collections import OrderedDict
from pathlib import Path
from types import ModuleType

import numpy as np

FOLDER = Path(__file__).with_name("corpus") / "nn"
RELATIVE, ABSOLUTE = 2e-4, 2e-5  # float32 after a few layers


def cells(name: str) -> dict[str, str]:
    """The programs of a file by their titles."""
    _, *parts = re.split(r"^# %% ", (FOLDER / f"{name}.txt").read_text(), flags=re.MULTILINE)
    return dict(part.split("\n", 1) for part in parts)


def plain(value: object) -> object:
    """A value as numbers, strings, lists and dicts, the same for both libraries."""
    if hasattr(value, "detach") and hasattr(value, "tolist"):
        kind, dtype = type(value).__name__, str(value.dtype)
        return {"tensor": value.tolist(), "is": [kind, dtype, list(value.shape), value.requires_grad]}
    if isinstance(value, dict):
        return {
            "keys of a " + type(value).__name__: [plain(k) for k in value],
            "values": [plain(v) for v in value.values()],
        }
    if isinstance(value, (list, tuple)):
        kind = (
            type(value).__name__
            if hasattr(value, "_fields")
            else "list"
            if isinstance(value, list)
            else "tuple"
        )
        return [kind, *map(plain, value)]
    if isinstance(value, (str, int, float, type(None))):
        return neutral(value) if isinstance(value, str) else value
    return value.__name__ if isinstance(value, type) else neutral(repr(value))


def neutral(text: str) -> str:
    """Text without what tells one library from the other."""
    text = text.replace("minigrad.", "torch.").replace("torch.tensor.Tensor", "torch.Tensor")
    text = re.sub(r"torch\.nn\.(modules\.)?\w+\.(?=[A-Z])", "torch.nn.", text)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def first_line(error: Exception) -> str:
    return neutral(str(error).replace("\\n", "\n").split("\n")[0])


def run(torch: ModuleType, program: str) -> list:
    """What a program logs under one of the libraries."""
    entries: list = []

    def log(*values: object) -> None:
        entries.append([plain(v) for v in values])

    def err(call, *args, **kwargs) -> None:
        try:
            found = ["gives", plain(call(*args, **kwargs))]
        except Exception as error:
            found = [type(error).__name__, first_line(error)]
        entries.append(found)

    names = {
        "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim, "lrs": torch.optim.lr_scheduler,
        "data": torch.utils.data, "nu": torch.nn.utils, "log": log, "err": err, "np": np, "copy": copy, "io": io,
        "pickle": pickle, "OrderedDict": OrderedDict,
    }  # fmt: skip
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(program, names)
    # some of PyTorch's are given once in a process only
    found = [
        w
        for w in caught
        if "create_graph=True" not in str(w.message) and "Triggered internally" not in str(w.message)
    ]
    entries.append([[w.category.__name__, neutral(str(w.message))[:100]] for w in found])
    return entries


def difference(expected: object, got: object, where: str = "") -> str | None:
    """Where two logs differ first; numbers may differ by roundings."""
    if isinstance(expected, float) and isinstance(got, float):
        both_nan = math.isnan(expected) and math.isnan(got)
        same = both_nan or math.isclose(expected, got, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    elif type(expected) is not type(got):
        same = False
    elif isinstance(expected, dict):
        if list(expected) != list(got):
            return f"{where}: PyTorch gives {expected}, minigrad {got}"
        return next((d for k in expected if (d := difference(expected[k], got[k], f"{where}[{k}]"))), None)
    elif isinstance(expected, list) and len(expected) == len(got):
        pairs = enumerate(zip(expected, got, strict=True))
        return next((d for i, (a, b) in pairs if (d := difference(a, b, f"{where}[{i}]"))), None)
    else:
        same = expected == got
    return None if same else f"{where}: PyTorch gives {expected}, minigrad {got}"
