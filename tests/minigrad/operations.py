"""The operations that minigrad implements: each has a line in differentiable.txt or not_differentiable.txt.

A line is an expression of x, y and z. Those under `# any shapes` take tensors of any shapes that broadcast together; other
headings say which shapes, and from which numbers the inputs are drawn.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

HERE = Path(__file__).parent


# What random inputs are drawn from: standard normal numbers, moved to where the function is smooth.
DOMAINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "real": lambda v: v,
    "positive": lambda v: np.abs(v) + 0.3,
    "probability": lambda v: 0.05 + 0.9 / (1 + np.exp(-v)),
    "above-one": lambda v: np.abs(v) + 1.2,
    "nonzero": lambda v: v + np.where(v < 0, -0.5, 0.5),
    "matrix": lambda v: v + 3 * np.eye(v.shape[-1]) if v.ndim > 1 and v.shape[-1] == v.shape[-2] else v,
    "definite": lambda v: v @ np.swapaxes(v, -1, -2) + np.eye(v.shape[-1]),
}


@dataclass(frozen=True)
class Operation:
    """An expression, the domain of its inputs and (None: any that broadcast together) their shapes."""

    expression: str
    domain: str
    shapes: tuple[tuple[str, tuple[int, ...] | None], ...]

    @property
    def name(self) -> str:
        known = [f"{name}{shape}" for name, shape in self.shapes if shape is not None]
        return " ".join([self.expression, *(["#", *known] if known else [])])

    @property
    def elementwise(self) -> bool:
        return self.shapes[0][1] is None

    def inputs(self, trial: int) -> dict[str, np.ndarray]:
        """Random float64 inputs, the same ones for the same trial."""
        rng = np.random.default_rng([zlib.crc32(self.expression.encode()), trial])
        shapes = _broadcastable(rng, [name for name, _ in self.shapes]) if self.elementwise else self.shapes
        move = DOMAINS[self.domain]
        return {name: np.asarray(move(rng.standard_normal(shape))) for name, shape in shapes}

    def on(self, torch: ModuleType, inputs: dict[str, object], expression: str | None = None) -> object:
        """The value of the expression under this engine."""
        scope = {"torch": torch, "F": torch.nn.functional, "inf": float("inf"), **inputs}
        return eval(self.expression if expression is None else expression, scope)


def _broadcastable(rng: np.random.Generator, names: list[str]) -> list[tuple[str, tuple[int, ...]]]:
    """Shapes that broadcast together: one of them full, the others with axes of length 1 or missing."""
    sizes = rng.choice([0, 1, 2, 3, 4], rng.integers(0, 4), p=[0.05, 0.15, 0.3, 0.3, 0.2])
    full = tuple(map(int, sizes))
    shapes = [full]
    for _ in names[1:]:
        shape = tuple(1 if rng.random() < 0.3 else n for n in full)
        shapes.append(shape[rng.integers(0, len(full) + 1) if rng.random() < 0.4 else 0 :])
    rng.shuffle(shapes)
    return list(zip(names, shapes, strict=True))


def _read(file: str) -> Iterator[Operation]:
    domain, shapes = "real", []
    for line in filter(None, map(str.strip, (HERE / file).read_text(encoding="utf-8").splitlines())):
        if line.startswith("#"):
            domain = next((word for word in DOMAINS if word in line.split()), "real")
            found = re.findall(r"\b([xyz])\(([\d, ]*)\)", line)
            shapes = [(name, tuple(int(n) for n in re.findall(r"\d+", sizes))) for name, sizes in found]
            continue
        names = shapes or [(name, None) for name in "xyz" if re.search(rf"\b{name}\b", line)]
        yield Operation(line, domain, tuple(names))


OPERATIONS = list(_read("differentiable.txt"))
CONSTANTS = list(_read("not_differentiable.txt"))
