"""docs/gallery is up to date with `make gallery`: same programs, same bytes, and every program runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.gallery import FOLDER, PICTURES, build_pages


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("gallery")
    build_pages(folder)
    return folder


@pytest.mark.parametrize("name", [*(f"{name}.svg" for name in PICTURES), "README.md"])
def test_the_committed_gallery_is_current(drawn: Path, name: str):
    assert (drawn / name).read_bytes() == (FOLDER / name).read_bytes(), (
        "run `make gallery` and commit docs/gallery"
    )


def test_there_is_nothing_else_in_the_gallery(drawn: Path):
    assert {p.name for p in FOLDER.iterdir()} == {p.name for p in drawn.iterdir()}


def test_every_program_runs_as_it_is_printed(drawn: Path):
    programs = re.findall(r"```python\n(.*?)```", (drawn / "README.md").read_text(encoding="utf-8"), re.S)
    assert len(programs) == len(PICTURES)
    for program in programs:
        exec(compile(program, "<gallery>", "exec"), {})
