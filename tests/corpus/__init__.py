"""Programs whose every effect must be PyTorch's.

Each file holds short programs under `# %% title [items]` lines; a new program is tested by being written there.
`# raises` marks the lines that raise under PyTorch. `node_names.txt` and `singular_points.txt` are tables of one-line
programs. `recorded.json` is what PyTorch 2.13 does with all of them, for machines without it; after a change:

    python -m tests.corpus
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.ops import IMPORT_F
from tests.oracle import Program, read_cells

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded.json"

CELLS = [cell for path in sorted(HERE.glob("[a-z]*.py")) for cell in read_cells(path)]


def read_table(name: str) -> list[tuple[str, str, str]]:
    """The lines `program -> expected` of a table, each with the lines without an arrow as its preamble."""
    rows, preamble = [], ""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        program, arrow, expected = line.rpartition(" -> ")
        if arrow:
            needed = preamble if "F." in program else preamble.replace(IMPORT_F, "")
            rows.append((needed, program.strip(), expected.strip()))
        else:
            preamble += line + "\n"
    return rows


NODE_NAMES = read_table("node_names.txt")
SINGULAR_POINTS = read_table("singular_points.txt")


def one_line(table: str, preamble: str, program: str) -> Program:
    """A table's row as a program: its statements, the last of which becomes the variable `out`."""
    *statements, last = program.split("; ")
    return Program(f"{table}/{program}", preamble + "".join(s + "\n" for s in statements) + f"out = {last}\n")


def items(program: Program) -> set[str]:
    """The curriculum items that the title of a cell names in brackets."""
    return set(re.findall(r"\b[A-D]\d\d\b", program.name.rpartition("[")[2]))
