"""What README.md says is so: its list of lessons, its commands, its code, its pictures and links."""

from __future__ import annotations

import re
from pathlib import Path

from tests.lesson_files import LESSONS, read

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def row(path: Path) -> str:
    """The line of a lesson in the README's table, from the lesson's own header."""
    header = read(path).cells[0].source
    title = re.search(r"^# (.+)$", header, re.M)[1]
    minutes = re.search(r"\*\*Minutes\.\*\* (\d+)", header)[1]
    return f"| [{title}](notebooks/{path.name}) | {minutes} |"


def test_every_lesson_is_listed_with_its_title_and_minutes():
    """If this fails, put the expected rows into README.md."""
    assert re.findall(r"^\| \[.*$", README, re.M) == [row(path) for path in LESSONS]


def test_every_make_command_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"\bmake ([a-z]+)", README))
    assert {"lessons", "test"} <= named <= targets


def test_links_and_pictures_lead_somewhere():
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", README)
    assert [link for pair in links for link in pair if link and not (ROOT / link).exists()] == []


def test_its_code_runs_on_pytorch(torch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    space: dict = {}
    exec(code, space)
    assert space["w"].grad.shape == (3, 1)
