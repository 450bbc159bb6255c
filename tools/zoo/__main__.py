"""Every model of the zoo in child processes, each with a time limit; writes docs/zoo.md.

python -m tools.zoo                    all of them, one after the other: half an hour
python -m tools.zoo causal/gpt2 lora   some, without writing anything
python -m tools.zoo --list             their names
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "zoo.md"
SECONDS, TOGETHER = (
    300,
    12,
)  # seconds for one model; models per process, since starting one takes longer than most models


def run(names: list[str]) -> Iterator[dict[str, Any]]:
    """The facts about each model, from processes that take a few of them one after the other; slow models are stopped."""
    todo = list(names)
    while todo:
        for found in _facts(todo[:TOGETHER]):
            todo.remove(found["name"])
            yield found


def _facts(names: list[str]) -> Iterator[dict[str, Any]]:
    """The results of one process for some models, up to the first that ends it."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tools.zoo.check", *names]
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        for name in names:
            watch = threading.Timer(SECONDS, child.kill)
            watch.start()
            line = child.stdout.readline()
            watch.cancel()
            if line:
                yield json.loads(line)
                continue
            late = child.wait() == -signal.SIGKILL
            errors.seek(0)
            last = (errors.read().strip().splitlines() or ["no word"])[-1]
            yield {
                "name": name,
                "wrong": [f"ended after {SECONDS} seconds" if late else f"the process ended: {last}"],
            }
            return
        child.wait()


def page(found: list[dict[str, Any]]) -> str:
    """docs/zoo.md."""
    import torch
    import transformers

    right = sum(not one["wrong"] for one in found)
    head = [
        "# The zoo: models that were not written for viz",
        "",
        f"`make zoo` builds {len(found)} models, runs each through `draw`, `trace`, `record`, `step`, a saved page, `film` and "
        "`costs`, and compares every gradient of every node with what PyTorch's own hooks saw, bit for bit. Architectures come "
        "from `transformers` in tiny random configurations (no weights are fetched), losses from "
        "[`tools/zoo/losses.py`](../tools/zoo/losses.py).",
        "",
        f"Last run: PyTorch {torch.__version__.partition('+')[0]}, transformers {transformers.__version__}: **{right} of "
        f"{len(found)} right in every respect.** Seconds are processor time in Python, "
        "without Graphviz, which may take two more. The picture is that of `viz.draw(loss)`: boxes, and its size in points.",
        "",
    ]
    body = []
    groups = [("Losses", [one for one in found if "/" not in one["name"]])]
    groups += [("Architectures of transformers", [one for one in found if "/" in one["name"]])]
    for title, some in groups:
        body += [
            f"## {title}",
            "",
            "| model | nodes | draw, s | step, s | page, kB | kept, kB | boxes | picture | |",
        ]
        body += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
        body += [_row(one) for one in some]
        body.append("")
    return "\n".join(head + body)


def _row(one: dict[str, Any]) -> str:
    name = one["name"].partition("/")[2] or one["name"].replace("_", " ")
    seconds = [f"{one[key]:.2f}" if key in one else "" for key in ("draw", "step")]
    size = f"{one['wide']:,} × {one['high']:,}" if "wide" in one else ""
    numbers = [f"{one[key]:,}" if key in one else "" for key in ("page kB", "kept kB", "boxes")]
    told = "right" if not one["wrong"] else "; ".join(one["wrong"]).replace("|", "\\|")
    return f"| {name} | {one.get('nodes', '')} | {' | '.join([*seconds, *numbers, size, told])} |"


def main(arguments: list[str]) -> int:
    from tools.zoo.losses import LOSSES
    from tools.zoo.transformers_models import names

    every = [make.__name__ for make in LOSSES] + names()
    if arguments == ["--list"]:
        print("\n".join(every))
        return 0
    unknown = sorted(set(arguments) - set(every))
    if unknown:
        print(f"There is no {unknown[0]} in the zoo; --list names what there is.", file=sys.stderr)
        return 2
    found = []
    for one in run(arguments or every):
        found.append(one)
        print(json.dumps(one), flush=True)
    wrong = [one["name"] for one in found if one["wrong"]]
    if not arguments:
        PAGE.write_text(page(found), encoding="utf-8")
    print(
        f"{len(found) - len(wrong)} of {len(found)} right" + (f"; not: {', '.join(wrong)}" if wrong else "")
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
