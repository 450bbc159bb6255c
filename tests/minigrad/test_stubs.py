"""The type stubs say what the interface is: they are up to date, and name what `dir()` shows."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "stubs.py"))


def test_the_stubs_are_up_to_date() -> None:
    assert not TOOL["outdated"](), "run `python tools/stubs.py`"


def test_each_public_name_is_in_its_stub() -> None:
    for file in TOOL["stubs"]():
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = {getattr(node, "name", "") for node in tree.body}
        names |= {
            a.asname or a.name for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names
        }
        names |= {
            n.id
            for node in tree.body
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        values = vars(sys.modules[module])
        public = {name for name in dir(sys.modules[module]) if name[0] != "_"}
        assert not {name for name in public - names if not isinstance(values.get(name), ModuleType)}, module


def test_the_typed_program_runs() -> None:
    runpy.run_path(str(Path(__file__).with_name("typed_program.py")))
