#!/usr/bin/env python3
"""Execute the lessons, and the pages about them, in place and normalise what is saved; a second run changes nothing.

    python notebooks/build.py                every lesson, then the index, the glossary and the exam
    python notebooks/build.py 00 03          some
    python notebooks/build.py --check        say what would change; exit 1 if anything would (see `comparable`)
    python notebooks/build.py --text 03      print a lesson as text to edit (see lesson_text.py)
    python notebooks/build.py --from FILE    make or replace the lesson that the text FILE describes
    python notebooks/build.py --minutes      print how long each lesson takes (see minutes.py)
    python notebooks/build.py --new 19 "Through a solver"     write the three files of a new lesson (see new_lesson.py)

The .ipynb is the one source of a lesson. It may be edited in JupyterLab or as text. What is saved is what readers see before
they run anything, and what `pytest --nbval` compares: outputs without widget
state, timings or paths of this machine.
"""

from __future__ import annotations

import argparse
import copy
import difflib
import os
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import lesson_text
import minutes
import new_lesson

HERE = Path(__file__).resolve().parent
PAGES = ("glossary", "exam", "index")  # about the lessons: the index reads their headers, so it comes last
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# in saved HTML; tests/nbval.cfg has the same
MACHINES_OWN = (
    r'srcdoc="[^"]*"',
    r'base64,[^"]*(?=" alt="Film\(\d+ frames of \d{3,} steps)',
    r'width="[^"]*" height="[^"]*" style="max-width:100%;height:auto" src="[^"]*"',  # a figure (exercises/figures.py)
)
LIVE_ONLY = "application/vnd.jupyter.widget-view+json"  # without a kernel it shows as "model not found"


def lessons(names: list[str]) -> list[Path]:
    """The notebooks that `names` mean ("03", "03_one_node_at_a_time", "index", a path), or all of them."""
    pages = [HERE / f"{page}.ipynb" for page in PAGES]
    every = sorted(HERE.glob("[0-9][0-9]*_*.ipynb")) + [page for page in pages if page.exists()]
    if not names:
        return every
    found = []
    for name in names:
        stem = Path(name).stem
        matches = [
            path
            for path in every
            if path.stem == stem or path.stem.partition("_")[0].lstrip("0") == stem.lstrip("0")
        ]
        if not matches:
            sys.exit(f"No lesson is called {name!r}. There are: {', '.join(path.stem for path in every)}")
        found += matches
    return found


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Run every cell in a fresh kernel in this folder. Only a cell tagged raises-exception may raise."""
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(HERE)}},
        extra_arguments=["--log-level=ERROR"],  # no warning that the connection is not encrypted
    ).execute()
    return notebook


def normalise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove everything that depends on the machine or the moment; put the rest into a standard form."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    count = 0
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in ("tags", "jupyter") if cell.metadata.get(key)}
        cell.metadata = nbformat.from_dict(kept)
        cell.source = "\n".join(line.rstrip() for line in cell.source.rstrip().splitlines())
        cell.pop("attachments", None)
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        for output in cell.outputs:
            _normalise_output(output, count)
    ids = [cell.id for cell in notebook.cells]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        sys.exit(f"Two cells have the same id: {', '.join(twice)}")
    return notebook


def _normalise_output(output: nbformat.NotebookNode, count: int) -> None:
    if output.output_type == "execute_result":
        output.execution_count = count
    if output.output_type in ("execute_result", "display_data"):
        output.data.pop(LIVE_ONLY, None)
        output.metadata = nbformat.from_dict({})
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]  # the frames hold paths of this machine
    if output.output_type == "stream":
        output.text = re.sub(r"/\S*?ipykernel_\d+/\d+\.py:\d+", "<this cell>", output.text)


def dump(notebook: nbformat.NotebookNode) -> str:
    """The text of the file."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def comparable(text: str) -> str:
    """The text without parts that the last digit of a float or a machine's fonts may change (see `shown`)."""
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = shown(cell.outputs, cell.execution_count)
    return dump(notebook)


def shown(outputs: list[nbformat.NotebookNode], count: int) -> list[nbformat.NotebookNode]:
    """What cell `count` shows, normalised, without plots, and without the packed numbers and program of a saved
    stepper. Its picture and its repr remain, and so do those of a film of up to a hundred steps: after more, machines
    that differ in the last digit of a float differ visibly."""
    outputs = copy.deepcopy(outputs)
    for output in outputs:
        _normalise_output(output, count)
        data = output.get("data", {})
        if "text/html" in data:
            for machines in MACHINES_OWN:
                data["text/html"] = re.sub(machines, "", data["text/html"])
    return outputs


def build(path: Path, notebook: nbformat.NotebookNode) -> str:
    """The text that `path` should have."""
    try:
        return dump(normalise(execute(notebook)))
    except CellExecutionError as error:
        told = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
        sys.exit(f"{path.name}: a cell raised. If it is meant to, tag it raises-exception.\n{told}")


def begin(number: str, title: str) -> None:
    """Write the three files of a new lesson, with the notebook executed. Nothing that exists is overwritten."""
    if not re.fullmatch(r"\d\d[a-z]?", number):
        sys.exit(f"The number of a lesson has two digits, such as 19 or 09b, not {number!r}")
    if not re.search(r"\w", title):
        sys.exit("A lesson needs a title with words in it")
    notebook, exercises, coverage = new_lesson.paths(HERE, number, title)
    taken = [*HERE.glob(f"{number}_*.ipynb"), *(path for path in (exercises, coverage) if path.exists())]
    if taken:
        sys.exit(f"There is a lesson {number} already: {', '.join(path.name for path in taken)}")
    lesson, module, table = new_lesson.texts(number, title)
    exercises.write_text(module, encoding="utf-8")
    coverage.write_text(table, encoding="utf-8")
    notebook.write_text(dump(lesson_text.read(lesson)), encoding="utf-8")
    lesson, _, _ = new_lesson.texts(number, title, round(minutes.counted(notebook)[0]))
    notebook.write_text(build(notebook, lesson_text.read(lesson)), encoding="utf-8")
    for path in (notebook, exercises, coverage):
        print(path.relative_to(HERE.parent))
    print(
        "Two places list every lesson: the sittings of `ROUTES` in notebooks/exercises/suite.py, and the questions to ask in "
        "notebooks/TEACHING.md. Then `.venv/bin/python -m tools.readme` writes the tables and the map."
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="LESSON")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something would change")
    parser.add_argument("--text", action="store_true", help="print the lessons as text")
    parser.add_argument(
        "--from", dest="source", metavar="FILE", type=Path, help="take a lesson from its text"
    )
    parser.add_argument("--minutes", action="store_true", help="print how long each lesson takes")
    parser.add_argument("--new", nargs=2, metavar=("NUMBER", "TITLE"), help="write the files of a new lesson")
    arguments = parser.parse_args()
    if arguments.minutes:
        for path in lessons(arguments.names):
            everything, core = minutes.counted(path)
            print(f"{path.stem}: {everything:.0f}; {core:.0f} without what can wait")
        return 0
    os.environ["MINIGRAD_PROGRESS"] = (
        "off"  # kernels inherit it: no learner's progress gets into a saved lesson
    )
    if arguments.new:
        begin(*arguments.new)
        return 0
    if arguments.text:
        print("\n".join(lesson_text.write(nbformat.read(path, 4)) for path in lessons(arguments.names)))
        return 0
    if arguments.source:
        path = HERE / f"{arguments.source.stem}.ipynb"
        if not re.fullmatch(r"\d\d[a-z]?_\w+", path.stem) and path.stem not in PAGES:
            sys.exit(
                "The text's file name becomes the notebook's: it must look like 03_one_node_at_a_time.lesson, "
                f"or be one of {', '.join(PAGES)}"
            )
        work = {path: lesson_text.read(arguments.source.read_text(encoding="utf-8"))}
    else:
        work = {path: nbformat.read(path, 4) for path in lessons(arguments.names)}
    changed = 0
    for path, notebook in work.items():
        began = time.perf_counter()
        text = build(path, notebook)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        same = comparable(text) == comparable(before) if arguments.check and before else text == before
        changed += not same
        word = "unchanged" if same else "would change" if arguments.check else "written"
        print(f"{path.name}: {word} ({time.perf_counter() - began:.1f} s)", flush=True)
        if arguments.check and not same:
            difference = difflib.unified_diff(
                comparable(before).splitlines(),
                comparable(text).splitlines(),
                "saved",
                "executed",
                lineterm="",
                n=1,
            )
            print("\n".join(line[:200] for line in list(difference)[:60]))
        elif not same:
            path.write_text(text, encoding="utf-8")
    return 1 if arguments.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
