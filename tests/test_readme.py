"""README.md is true: its list of lessons, its commands, its code, its pictures and links."""

from __future__ import annotations

import re
from pathlib import Path

from tests.lesson_files import LESSONS
from tools.readme import with_lessons

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_lesson_is_listed_with_its_title_and_minutes():
    """`python -m tools.readme` corrects the table, and so does `make notebooks`."""
    assert with_lessons(README) == README
    assert all(path.name in README for path in LESSONS)


def test_every_make_command_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.M))
    assert {"lessons", "test"} <= named <= targets


def test_links_and_pictures_lead_somewhere():
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", README)
    here = [link for pair in links for link in pair if link and not link.startswith("https://")]
    assert [link for link in here if not (ROOT / link).exists()] == []


def test_its_code_runs_on_pytorch(torch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    space: dict = {}
    exec(code, space)
    assert space["w"].grad.shape == (3, 1)
