"""Drawings of large graphs: what is folded, what is refused, and how long a layout may take."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import minigrad
import viz
from viz.picture import engine, layout
from viz.picture.layout import render

from .viz_gallery import GALLERY

# -- scale ----------------------------------------------------------------------------------------------------------------


def recurrent(steps: int):
    w = minigrad.tensor([[0.5, 0.1], [0.2, 0.3]], requires_grad=True)
    b = minigrad.tensor([0.1, 0.2], requires_grad=True)
    h = minigrad.tensor([[1.0, 2.0]])
    for _ in range(steps):
        h = (h @ w + b).tanh()
    return h.sum()


def test_a_recurrent_network_of_50_steps_reads_at_a_glance():
    drawing = viz.draw(recurrent(50), fold=True)
    (fold,) = (i for i in drawing.picture.items if i.kind == "fold")
    assert fold.name == "the same 48 more times"
    assert fold.lines[1].text == "Mm, Add, Tanh each time"
    assert len(drawing.picture.items) < 25


def test_each_later_use_of_a_leaf_in_a_large_graph_is_a_node_of_its_own():
    items = viz.draw(recurrent(30), view="functions", fold=False).picture.items
    assert sum(i.kind == "leaf" for i in items) == 2
    assert sum(i.kind == "alias" for i in items) == 58


def test_modules_fold_by_the_names_of_their_parameters(torch):
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    loss = net(torch.ones(4, 2)).sum()
    drawing = viz.draw(loss, fold=True)
    assert [i.name for i in drawing.picture.items if i.kind == "fold"] == ["net.0", "net.2"]
    assert loss.grad_fn is not None


def test_nothing_to_fold_is_reported():
    tensors, names = GALLERY["diamond"](minigrad)
    [note] = viz.draw(tensors, names=names, fold=True).picture.notes
    assert note.startswith("Nothing to fold was found") and "four times in a row" in note


def test_ten_thousand_nodes_are_folded_and_reported():
    start = time.perf_counter()
    drawing = viz.draw(recurrent(3_300))
    assert len(drawing.svg) < 100_000
    assert time.perf_counter() - start < 20  # measured: 0.5 s; the limit only catches a hang
    assert "nodes are folded into" in drawing.picture.notes[0]
    assert "nodes are folded" in drawing._repr_mimebundle_()["text/html"]


@pytest.mark.long
def test_a_hundred_thousand_nodes_are_folded():
    x = minigrad.tensor(0.5, requires_grad=True)
    y = x
    for i in range(100_000):
        y = y.sin() if i % 3 else y * 0.5
    drawing = viz.draw(y)
    assert len(drawing.picture.items) < 25
    assert re.match(r"99,9\d\d of 100,001 nodes are folded", drawing.picture.notes[0])


def test_a_graph_that_could_crash_pytorch_is_refused_before_it_can(torch):
    program = (
        "import gc, torch, viz\n"
        "y = torch.tensor(0.5, requires_grad=True)\n"
        "for _ in range(60_000): y = y.sin()\n"
        "try: viz.draw(y)\n"
        "except ValueError as error: print(error)\n"
        "del y; gc.collect(); print('alive')\n"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=True
    )
    assert "more than 25,000 nodes; looking at more can crash PyTorch" in done.stdout
    assert done.stdout.endswith("alive\n")


def test_a_graph_without_repeats_is_cut_into_stretches():
    x = minigrad.tensor(0.5, requires_grad=True)
    y = x
    state = 1
    for _ in range(2_000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        y = (y.sin(), y.tanh(), y + 1, y * 2, y.cos())[state >> 16 & 3]
    drawing = viz.draw(y)
    assert len(drawing.picture.items) <= 25
    assert sum(len(i.members) for i in drawing.picture.items) > 1_900


def test_a_layout_that_takes_too_long_is_ended_and_more_is_folded():
    start = time.perf_counter()
    drawing = viz.draw(recurrent(700), view="functions", fold=False, seconds=0.02)
    assert time.perf_counter() - start < 20  # measured: 0.5 s
    assert drawing.picture.notes[0] == (
        "Graphviz could not place view='functions' with 3,501 items within 0.02 seconds, so more is folded here. "
        "seconds=20 gives it more time."
    )
    assert 0 < len(drawing.picture.items) <= 24
    with pytest.raises(layout.LayoutTooSlow, match=r"within 0\.02 seconds"):
        layout.render(_wide(4000), "json0", 0.02)
    with pytest.raises(layout.LayoutTooSlow, match=r"within 0\.02 seconds"):  # the layout is not tried again
        layout.render(_wide(4000), "json0", 0.02)
    # the next layout has a new process
    assert json.loads(layout.render("digraph { a -> b }", "json0"))["objects"]


def _wide(n: int) -> str:
    return "digraph {" + " ".join(f"{i} -> {i * i % n}" for i in range(1, n)) + "}"


def test_what_graphviz_says_is_passed_on():
    with pytest.raises(RuntimeError, match="Graphviz failed"):
        render("digraph { a -> ", "json0")
    assert json.loads(render("digraph { a -> b }", "json0"))["objects"]


def test_a_child_process_gives_the_same_layout():
    tensors, names = GALLERY["mlp"](minigrad)
    source = viz.draw(tensors, names=names).dot.source
    assert render(source, "json0") == render(source, "json0", here=True)


def test_threads_draw_one_after_the_other(monkeypatch):
    """Graphviz keeps a layout in variables of its library: two layouts at once end the process. stderr and a class of
    warnings, which all threads share, are silenced during a layout and restored afterwards."""
    inside, most = [], []

    class Graph:
        def __init__(self, string: str):
            pass

        def draw(self, **how: str) -> bytes:
            inside.append(self)
            most.append(len(inside))
            time.sleep(0.01)
            inside.remove(self)
            return b""

    monkeypatch.setattr(engine, "load", lambda: SimpleNamespace(AGraph=Graph))
    before = os.fstat(2)[:3], list(warnings.filters)
    threads = [threading.Thread(target=engine.layout, args=("digraph {}", "json0")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
    assert (os.fstat(2)[:3], list(warnings.filters)) == before
