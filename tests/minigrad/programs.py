"""The programs that are written down: sessions (several statements), lines (one statement or a few), tables of facts.

* `sessions/*.txt`: under `# %% title` lines; a statement that raises under PyTorch carries `# raises`, or is `err(f, ...)`.
* `lines/*.txt`: one program per line, `;` between its statements.
* `facts/*.txt`: `program -> what PyTorch says`: names of nodes, and gradients at kinks, ties and poles.

To test a behaviour, write it into one of them; after a change to a session: `python -m tests.minigrad.record`.
"""

from __future__ import annotations

import copy
import importlib
import io
import itertools
import math
import pickle
import re
from collections import OrderedDict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.minigrad.oracle import Program, read_cells

HERE = Path(__file__).resolve().parent
SESSIONS = [cell for path in sorted((HERE / "sessions").glob("*.txt")) for cell in read_cells(path)]


def lines(folder: str) -> list[tuple[str, str]]:
    """(file, line) for each line of a folder's files that does not begin with #."""
    paths = sorted((HERE / folder).glob("*.txt"))
    found = [
        (path.stem, line.strip()) for path in paths for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [(stem, line) for stem, line in found if line and line[0] != "#"]


LINES = lines("lines")


def scope(torch: ModuleType) -> dict[str, Any]:
    """The names for sessions and lines besides `torch` and `np`.

    x (3 x 4, requires grad), y of that shape, d of float64, i of integers, b2 of booleans; sq (3 x 3, requires grad);
    z (2 x 3 x 4); v (4 numbers); nf (with infinities and NaN); positions j and a mask b for three rows; single numbers s, si,
    sb, sd; e and e2 without elements; arrays a and ai. log(...) records its arguments, err(f, ...) the outcome of a call.
    """
    random = np.random.default_rng(3)
    normal, tensor = random.standard_normal, torch.tensor
    x = tensor(normal((3, 4)), dtype=torch.float32, requires_grad=True)
    y, v, z = (tensor(normal(s), dtype=torch.float32) for s in ((3, 4), 4, (2, 3, 4)))
    found = {
        "x": x,
        "y": y,
        "v": v,
        "z": z,
        "d": tensor(normal((3, 4))),
        "i": tensor(random.integers(-5, 9, (3, 4))),
    }
    found |= {
        "b2": tensor(random.random((3, 4)) > 0.5),
        "j": tensor([0, 2, 1]),
        "b": tensor([True, False, True]),
    }
    found |= {
        "sq": tensor(normal((3, 3)), dtype=torch.float32, requires_grad=True),
        "s": tensor(1.5),
        "si": tensor(3),
    }
    found |= {
        "sb": tensor(True),
        "sd": tensor(2.5, dtype=torch.float64),
        "e": torch.empty(0),
        "e2": torch.empty(2, 0, 3),
    }
    found |= {"nf": tensor([1.0, float("inf"), float("nan"), -float("inf")])}
    return found | {"a": np.arange(6.0).reshape(2, 3), "ai": np.arange(4)} | tools(torch)


def tools(torch: ModuleType) -> dict[str, Any]:
    """The modules for sessions and lines, and log and err."""

    def of(name: str) -> ModuleType:
        return importlib.import_module(f"{torch.__name__}.{name}")

    found = {"nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim, "lrs": of("optim.lr_scheduler")}
    found |= {
        "data": of("utils.data"),
        "nu": of("nn.utils"),
        "f": of("func"),
        "fwAD": of("autograd.forward_ad"),
    }
    found |= {m.__name__: m for m in (copy, io, itertools, math, pickle)} | {"OrderedDict": OrderedDict}
    return found | {"log": lambda *values: values, "err": lambda f, *args, **kwargs: f(*args, **kwargs)}


def one_line(line: str) -> Program:
    return Program(line, line.replace("; ", "\n") + "\n")


def facts(name: str) -> list[tuple[str, str, str]]:
    """The lines `program -> expected` of a table; the lines without an arrow above one are its preamble."""
    rows, preamble = [], ""
    for _, line in [row for row in lines("facts") if row[0] == name]:
        program, arrow, expected = line.rpartition(" -> ")
        if arrow:
            rows.append((preamble, program.strip(), expected.strip()))
        else:
            preamble += line + "\n"
    return rows


def fact(table: str, preamble: str, line: str) -> Program:
    """A row as a program: its statements, the last of which becomes the variable `out`."""
    *statements, last = line.split("; ")
    return Program(f"{table}: {line}", preamble + "".join(s + "\n" for s in statements) + f"out = {last}\n")


def items(program: Program) -> set[str]:
    """The curriculum items that the title of a session names in brackets."""
    return set(re.findall(r"\b[A-D]\d\d\b", program.name.rpartition("[")[2]))
