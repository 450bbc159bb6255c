"""`python -m tools.architecture` draws docs/architecture.svg: the packages of the project, and which imports which.

The arrows are read from the files' own import statements, so the picture is always true. An arrow that follows from
two others is left out. Graphviz computes the positions; the picture is painted here, so that it is the same on every machine.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from viz.picture.layout import render

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"
CORE = " ".join(
    f"minigrad.autograd.{n}" for n in ("node", "saved", "views", "hooks", "graph", "engine", "passes")
)


@dataclass(frozen=True)
class Package:
    """Some modules with one purpose: ``modules`` by their dotted names; the first package that names one has it."""

    title: str
    says: str
    modules: str
    group: str


PACKAGES = [
    Package("notebooks/", "lessons and exercises", "exercises", "notebooks"),
    Package("viz/show/", "stepper, pages, questions", "viz viz.show", "viz"),
    Package("viz/films/", "a training, step by step", "viz.films", "viz"),
    Package("viz/picture/", "views, folding, SVG", "viz.picture", "viz"),
    Package("viz/run/", "one pass, recorded", "viz.run", "viz"),
    Package("viz/read/", "the live graph, names", "viz.read", "viz"),
    Package("optim/, utils/", "steps, data, checkpoints", "minigrad.optim minigrad.utils", "minigrad"),
    Package("nn/", "modules, layers, losses, files", "minigrad.nn minigrad.serialization", "minigrad"),
    Package(
        "func/, more of autograd/",
        "transforms, Function, checks",
        "minigrad.func minigrad.autograd",
        "minigrad",
    ),
    Package("creation, random", "new tensors", "minigrad.creation minigrad.random", "minigrad"),
    Package("ops/", "every derivative there is", "minigrad.ops", "minigrad"),
    Package("autograd/, the core", "the graph, and the walk", CORE, "minigrad"),
    Package(
        "tensor, modes",
        "arrays, dtypes, printing",
        "minigrad minigrad.autograd.modes minigrad.autograd.grad_mode",
        "minigrad",
    ),
]
GROUPS = {
    "notebooks": "notebooks",
    "viz": "viz: any framework's graph",
    "minigrad": "minigrad: on NumPy alone",
}
WIDTH, HEIGHT = 212, 52  # the size of a package, in points
STYLE = """
text { font-family: system-ui, "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px } .says { font-size: 12px; fill: #57606a } .name { font-size: 12px; fill: #57606a }
.package { fill: #fff; stroke: #57606a } .group { fill: #f6f8fa; stroke: #d0d7de }
.way { fill: none; stroke: #0072b2; stroke-width: 1.5 } .tip { fill: #0072b2 } .dashed { stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .says, .name { fill: #9da7b3 } .package { fill: #0d1117; stroke: #9da7b3 }
  .group { fill: #161b22; stroke: #30363d } .way { stroke: #58a6ff } .tip { fill: #58a6ff }
}
"""


def modules() -> dict[str, Path]:
    """Every module by its dotted name; a package has the name of its folder."""
    found = {}
    for start, base in (
        (ROOT / "minigrad", ROOT),
        (ROOT / "viz", ROOT),
        (ROOT / "notebooks/exercises", ROOT / "notebooks"),
    ):
        for path in sorted(start.rglob("*.py")):
            found[".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imported(program: ast.Module, package: str = "", typing: bool = False) -> Iterator[str]:
    """The full dotted name of every module, and of every name in a module, that `program` imports when it runs,
    anywhere in the file; with `typing`, also those imported only for annotations. Relative imports start from `package`."""

    def runs(node: ast.AST) -> bool:
        return typing or not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")

    waiting: list[ast.AST] = [program]
    while waiting:
        node = waiting.pop()
        waiting += [
            part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr) and runs(part)
        ]
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def package_of(name: str) -> Package | None:
    """The package of the picture that a module, or something in it, belongs to: the longest name that fits."""
    fits = [
        (len(prefix), -number, package)
        for number, package in enumerate(PACKAGES)
        for prefix in package.modules.split()
        if name == prefix or name.startswith(prefix + ".")
    ]
    return max(fits, key=lambda fit: fit[:2])[2] if fits else None


def is_facade(name: str) -> bool:
    """Whether a module only gathers the public names of its package: what it imports is not a dependency."""
    return name.split(".")[-1] in {"minigrad", "viz", "autograd", "__main__"}


@cache
def arrows() -> set[tuple[str, str]]:
    """Which imports which: package to package, or package to group where the group as a whole is meant."""
    known = modules()
    found = set()
    for name, path in known.items():
        here = package_of(name)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        program = ast.parse(path.read_text(encoding="utf-8"))
        for other in () if is_facade(name) else imported(program, package):
            is_package = other in known and known[other].name == "__init__.py"
            if is_package and other.split(".")[0] == name.split(".")[0]:
                continue  # for `from ..ops import shape`, only the imported module counts, not the package
            other = next(
                (g for g in GROUPS if other.startswith(g + ".") and not name.startswith(g + ".")), other
            )
            there = package_of(other)
            if here and other in GROUPS and other != here.group:
                found.add((here.title, other))  # the package as its users see it
            elif here and there and here != there:
                found.add((here.title, there.title))
    return found


def direct(pairs: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arrows that do not follow from others."""

    def reaches(start: str, end: str, without: tuple[str, str]) -> bool:
        seen, waiting = set(), [start]
        while waiting:
            here = waiting.pop()
            for a, b in pairs - {without}:
                if a == here and b not in seen:
                    seen.add(b)
                    waiting.append(b)
        return end in seen

    return sorted(pair for pair in pairs if not reaches(*pair, without=pair))


def draw() -> str:
    """The picture as SVG."""
    packages = {one.title: one for one in PACKAGES if any(package_of(name) == one for name in modules())}
    ways = direct(arrows())
    lines = ["digraph { compound=true rankdir=TB nodesep=0.3 ranksep=0.5"]
    for group in GROUPS:
        inside = "; ".join(f'"{t}"' for t, package in packages.items() if package.group == group)
        lines.append(f"subgraph cluster_{group} {{ margin=22 {inside} }}")
    lines += [
        f'node [shape=box fixedsize=true width={WIDTH / 72:.4f} height={HEIGHT / 72:.4f} label=""]',
        *(link(a, b) for a, b in ways),
        link("viz/read/", "minigrad", "style=dashed"),
        "}",
    ]
    # the defaults of nodes must come before the first node
    lines.insert(1, lines.pop(next(i for i, line in enumerate(lines) if line.startswith("node ["))))
    data = json.loads(render("\n".join(lines), "json0"))
    x0, y0, x1, y1 = map(float, data["bb"].split(","))
    margin = 8

    def place(text: str) -> tuple[float, float]:
        x, y = map(float, text.split(","))
        return x - x0 + margin, y1 - y + margin

    out = []
    for item in data["objects"]:
        if item["name"].startswith("cluster_"):
            left, low, right, high = map(float, item["bb"].split(","))
            x, y = place(f"{left},{high}")
            out.append(
                f'<rect class="group" x="{x:.0f}" y="{y:.0f}" width="{right - left:.0f}" height="{high - low:.0f}" rx="10"/>'
            )
            out.append(
                f'<text class="name" x="{x + 12:.0f}" y="{y + 17:.0f}">{escape(GROUPS[item["name"][8:]])}</text>'
            )
    for edge in data.get("edges", ()):
        dashed = " dashed" if edge.get("style") == "dashed" else ""
        tip, *curve = edge["pos"].split()
        points = [place(p) for p in curve]
        end = place(tip[2:])
        path = f"M{points[0][0]:.0f},{points[0][1]:.0f} C" + " ".join(
            f"{x:.0f},{y:.0f}" for x, y in points[1:]
        )
        out.append(f'<path class="way{dashed}" d="{path}"/>')
        out.append(arrowhead(points[-1], end))
    for item in data["objects"]:
        if item["name"] in packages:
            x, y = place(item["pos"])
            package = packages[item["name"]]
            out.append(
                f'<rect class="package" x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" '
                f'width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
                f'<text class="title" x="{x:.0f}" y="{y - 4:.0f}" text-anchor="middle">{escape(package.title)}</text>'
                f'<text class="says" x="{x:.0f}" y="{y + 15:.0f}" text-anchor="middle">{escape(package.says)}</text>'
            )
    width, height = x1 - x0 + 2 * margin, y1 - y0 + 2 * margin
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
    head += f' viewBox="0 0 {width:.0f} {height:.0f}"'
    alt = "The packages of the project; an arrow leads from a package to one that it imports: " + ", ".join(
        f"{a} to {b}" for a, b in ways
    )
    return (
        f'{head} role="img">\n<title>{escape(alt)}</title>\n<style>{STYLE}</style>\n'
        + "\n".join(out)
        + "\n</svg>\n"
    )


def link(tail: str, head: str, more: str = "") -> str:
    """An arrow in DOT; one that leads to a group ends at its border."""
    if head in GROUPS:
        top = next(package.title for package in PACKAGES if package.group == head)
        return f'"{tail}" -> "{top}" [lhead="cluster_{head}" {more}]'
    return f'"{tail}" -> "{head}" [{more}]'


def arrowhead(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A small triangle from the last point of a line to its tip."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    nx, ny = -dy / length * 4, dx / length * 4
    corners = [(start[0] + nx, start[1] + ny), (start[0] - nx, start[1] - ny), end]
    return '<polygon class="tip" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in corners) + '"/>'


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
