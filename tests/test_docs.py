"""The pages in docs/ are true: their code runs and gives the numbers next to it, and their picture is up to date."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import report
from tools import architecture, readme

DOCS = Path(__file__).resolve().parent.parent / "docs"


def run(page: str) -> dict:
    """The names that the code of a page defines."""
    space: dict = {"__name__": "page"}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    for block in blocks:
        exec(compile(block, page, "exec"), space)
    return space


def test_the_operation_of_the_page_is_one_statement_and_does_what_it_says():
    code = "from tests.test_docs import run; s = run('add_an_operation.md'); print([repr(s['y']), repr(s['x'].grad)])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=DOCS.parent, capture_output=True, text=True, check=True
    )
    # in a separate process, since a declared operation cannot be removed
    result, slope = ast.literal_eval(done.stdout)
    text = (DOCS / "add_an_operation.md").read_text(encoding="utf-8")
    assert f"# {result}" in text and f"# x.grad: {slope}" in text


def test_the_engine_of_the_page_is_stepped():
    space = run("how_viz_reads_a_graph.md")
    text = (DOCS / "how_viz_reads_a_graph.md").read_text(encoding="utf-8")
    assert f"`{space['stepper']!r}`" in text
    assert [space[name].grad for name in "abc"] == [15.0, 10.0, 6.0]
    assert not any(node.before or node.after for node in (space["loss"].grad_fn, space["a"].leaf))


def test_what_the_page_about_ones_own_model_prints_is_what_is_printed(tmp_path):
    text = (DOCS / "your_own_model.md").read_text(encoding="utf-8")
    program = tmp_path / "example.py"
    program.write_text("".join(re.findall(r"```python\n(.*?)```", text, re.S)), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, check=True
    )
    for shown_block in re.findall(r"```text\n(.*?)```", text, re.S):
        first, rest = shown_block.split("\n", 1)
        assert first.removesuffix(" ...") in done.stdout and rest in done.stdout, done.stdout
    assert re.search(r"^  net\.1 \(ReLU\) +1 +0 B +131 kB", done.stdout, re.M), done.stdout


def test_the_picture_of_the_packages_is_up_to_date():
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.draw(), (
        "python -m tools.architecture"
    )


def test_every_module_is_in_a_package_of_the_picture():
    assert not [name for name in architecture.modules() if architecture.package_of(name) is None]


def test_imports_between_packages_make_no_circle():
    ways = architecture.arrows()
    while ways:
        last = {b for _, b in ways} - {a for a, _ in ways}
        assert last, sorted(ways)
        ways = {(a, b) for a, b in ways if b not in last}


def test_what_the_docs_say_is_written_by_hand_is_that_long():
    """To within 10 %; `python -m tools.readme` counts again."""
    rows = readme.COUNT.findall(readme.BY_HAND.read_text(encoding="utf-8"))
    assert len(rows) > 15
    wrong = [
        row for row, count in rows if abs(readme.lines_by_hand(row) / int(count.replace(",", "")) - 1) > 0.1
    ]
    assert not wrong, wrong


def test_no_page_speaks_of_the_architecture_as_a_house():
    pages = [
        *DOCS.glob("*.md"),
        *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ]
    pattern = r"\b(rooms?|house|walls?|floors?|doors?)\b"
    found = [
        (page.name, word)
        for page in pages
        for word in re.findall(pattern, page.read_text(encoding="utf-8"), re.I)
    ]
    assert found == []


def test_the_page_of_measurements_begins_with_what_people_wait_for():
    page = (report.FOLDER / "README.md").read_text(encoding="utf-8")
    printed = dict(re.findall(r"<summary><b>(\w+)</b>.*?```\n(.*?)```", page, re.S))
    assert report.summary(printed) in page
    assert page.index("## Limits that are not met") < page.index("## Everything")
    assert len(page.partition("\n## ")[0].splitlines()) <= 30  # one screen


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)|(?:src|srcset)=\"([^\"]+)\"", text)
    gone = [link for pair in links for link in pair if link and not (DOCS / link).exists()]
    assert gone == []


def test_commands_name_what_is_there_and_the_python_they_need():
    """This covers `.venv/bin/python -m MODULE` and `.venv/bin/python FILE`, wherever a page names one."""
    root, found = DOCS.parent, []
    pages = [
        *root.glob("*.md"),
        *DOCS.glob("*.md"),
        *root.glob("notebooks/*.md"),
        *root.glob("benchmarks/*.md"),
    ]
    for page in pages:
        for bare, what in re.findall(
            r"(\.venv/bin/)?python (-m [\w.]+|[\w/]+\.py)\b", page.read_text(encoding="utf-8")
        ):
            place = root / (what.removeprefix("-m ").replace(".", "/") if what.startswith("-m") else what)
            ours = place.exists() or place.with_suffix(".py").exists()
            if (ours and not bare and place.name != "viz" and place.name != "lessons.py") or (
                bare and not ours
            ):
                found.append(f"{page.name}: {what}")
    assert not [text for text in found if not re.search(r"-m (pytest|exercises)$", text)], found
