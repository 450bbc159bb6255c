"""Read a tensor's graph, name it, and add what was recorded of its forward pass: every part of viz starts here."""

from __future__ import annotations

import linecache
from types import FrameType
from typing import Any

from .derivative import mark
from .graph import Graph, as_tensors, read
from .modules import know
from .names import cut_off, give_names
from .record import KEY, sequence
from .source import excerpt
from .text import SUBSCRIPTS


def prepare(
    tensors: Any, verb: str, names: Any, frame: FrameType | None, forward: Any = None
) -> tuple[Graph, dict]:
    """Read and name the graph of ``tensors``, with what ``viz.record`` knows about it, the modules that made it, and the
    functions that backward passes made (``forward``: as in ``viz.draw``)."""
    graph = read(as_tensors(tensors, verb))
    plain = give_names(graph, frame, names, recall)
    mark(graph, frame, forward)
    know(graph)
    return graph, plain


def recall(graph: Graph) -> None:
    """Apply what was recorded about ``graph``: names and values if the caller's variables gave none, lines and source."""
    lines: dict[Any, tuple[str, int]] = {}
    taken = {o.name for f in graph.functions for o in f.outputs if o.named}
    numbered = {sequence(f.fn): f for f in graph.functions if f.edges}
    for f in graph.functions:
        metadata = getattr(f.fn, "metadata", {})
        made = metadata.get(KEY)
        if not made:
            continue
        lines[f] = (made["file"], made["line"])
        f.module, f.call = made.get("module", (None, None))
        f.calls = made.get("calls", [])
        if len(f.edges) == 1 and made.get("other"):  # not an input of the node: the 4 in 4 - x
            f.other = made["other"][0]
        unknown = [e for e in f.edges if e.target is None and e.label is None]
        if len(unknown) == 1 and len(f.edges) == 2 and made.get("other"):
            unknown[0].label, unknown[0].value, unknown[0].tensor = made["other"]
            number, nr = made["detached"] or (None, 0)
            if number in numbered:
                cut_off(unknown[0], (numbered[number], nr))
            elif number is not None and not unknown[0].tensor:  # it belongs to another graph
                unknown[0].label, unknown[0].tensor = "(…).detach()", True
        for nr, entry in made["outputs"].items():
            out = f.output(nr)
            if entry["value"] is not None and out.value is None:
                out.value = entry["value"]
                out.shape, out.dtype = entry["value"].shape, entry["value"].dtype
            if entry["name"] and not out.named:
                number = str(entry["count"]).translate(SUBSCRIPTS) if entry["name"] in taken else ""
                out.name, out.named = entry["name"] + number, True
                taken.add(out.name)
    if not lines:
        return
    files = [file for file, _ in lines.values()]
    main = max(dict.fromkeys(files), key=files.count)
    numbers = [line for file, line in lines.values() if file == main]
    text = linecache.getlines(main)
    first, last = min(numbers), max(numbers)
    if not text or last - first > 400:
        return
    for f, (file, line) in lines.items():
        f.line = line - first if file == main else None
    graph.source = excerpt(text[first - 1 : last], first, main)
