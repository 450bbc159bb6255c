"""The data sent to the page: complete, consistent, plain JSON, made quickly."""

from __future__ import annotations

import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest

import minigrad
from viz.picture import engine, layout
from viz.read.values import Value
from viz.show.payload import payload

from .viz_gallery import GALLERY


def of(t, name, **options):
    tensors, names = GALLERY[name](t)
    return payload(tensors, names=names, **options)


@pytest.mark.parametrize("view", ["graph", "cards", "functions"])
@pytest.mark.parametrize("name", [n for n in GALLERY if n != "freed"])
def test_every_reference_leads_somewhere(t, name, view):
    data = json.loads(json.dumps(of(t, name, view=view), allow_nan=False))
    nodes, edges, steps = data["nodes"], data["edges"], data["steps"]
    in_svg = {e.get("id") for e in ET.fromstring(data["svg"]).iter() if e.get("id")}
    assert in_svg == set(nodes) | set(edges)
    for edge in edges.values():
        assert edge["from"] in nodes and edge["to"] in nodes
    for i, step in enumerate(steps):
        assert nodes[step["node"]]["step"] == i
        assert {p["from"] for p in step["incoming"]} <= set(nodes) | {None}
        assert {s["edge"] for s in step["outgoing"]} <= set(edges) | {None}
        assert all(s["edge"] in edges for s in step["outgoing"] if s["value"])
        assert set(step["ready"]) | {w["node"] for w in step["waiting"]} | set(step["freed"]) <= set(nodes)
        assert len(step["rules"]) == len(step["outgoing"])
        assert step["sentence"].startswith(f"Step {i + 1} of {len(steps)}. ")
    assert {leaf["node"] for leaf in data["leaves"]} <= set(nodes)
    assert not steps[-1]["ready"] and not steps[-1]["waiting"]


@pytest.mark.parametrize("view", ["graph", "cards"])
def test_everything_lies_inside_the_picture(view):
    data = of(minigrad, "mlp", view=view)
    boxes = [n["at"] for n in data["nodes"].values()]
    boxes += [b for n in data["nodes"].values() for b in n.get("box", {}).values()]
    boxes += [e["label_box"] for e in data["edges"].values() if "label_box" in e]
    for x, y, w, h in boxes:
        assert x >= 0 and y >= 0 and x + w <= data["width"] and y + h <= data["height"]


def test_the_stepper_has_what_one_step_shows(t):
    data = of(t, "source_example")
    mean, mm, accumulate = data["steps"]
    assert data["start"]["seed"]["values"] == [1.0]
    assert [s["name"] for s in data["steps"]] == ["MeanBackward0", "MmBackward0", "AccumulateGrad"]
    assert mean["total"]["values"] == [1.0]
    assert mm["rules"][1]["math"] == "∂z/∂w = xᵀ · ∂z/∂y"
    assert [o["reason"] for o in mm["outgoing"]] == ["not computed: x does not require grad", None]
    assert mm["outgoing"][1]["value"]["values"] == [1.0, 2.0, 3.0]
    assert mm["check"]["ok"]
    assert mm["freed"] == [mm["node"]]
    assert accumulate["accumulate"]["before"] is None
    assert accumulate["accumulate"]["after"]["shape"] == [3, 1]


def test_the_badge_of_one_number_shows_the_gradient_itself(t):
    data = of(t, "diamond")
    (step,) = (s for s in data["steps"] if s["tensor"] == "b")
    assert step["check"]["text"].startswith("by nudging self: measured 2, rule 2")


def test_source_lines_come_from_the_callers_own_text(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = (y + 1).sum()
    data = payload(z)
    lines = data["source"]["lines"]
    tangents = {step["tensor"]: lines[step["line"]] for step in data["steps"] if step["line"] is not None}
    assert tangents["z"] == tangents["y + constant"] == "z = (y + 1).sum()"
    assert tangents["y"] == "y = x * 3"
    assert tangents["x"] == "x = t.tensor([1.0, 2.0], requires_grad=True)"


def test_no_line_is_claimed_where_it_is_not_certain(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    h = x * 3
    h = h.exp()
    z = h.sum()
    data = payload(z)
    (step,) = (s for s in data["steps"] if s["name"] == "MulBackward0")
    assert step["line"] is None


def test_a_loss_of_shape_1_starts_with_1_unless_a_gradient_is_given():
    x = minigrad.tensor([2.0], requires_grad=True)
    y = x * x
    assert "starts with ∂y/∂y = 1 and" in payload(y)["start"]["sentence"]
    y = x * x
    given = payload(y, gradient=minigrad.tensor([3.0]))
    assert "starts with the gradient that was given" in given["start"]["sentence"] and given["of"] == "L"
    p, q = x.sum(), (x * 2).sum()
    assert "starts with a gradient of 1 for each of p, q" in payload(p, q)["start"]["sentence"]


def test_numbers_that_json_does_not_have_are_words():
    json.dumps(data := Value.of(np.array([[1.0, np.nan], [np.inf, -np.inf]])).json, allow_nan=False)
    assert data["values"] == [1.0, "nan", "inf", "-inf"]
    assert (data["min"], data["max"], data["nonfinite"]) == (1.0, 1.0, 3)


def test_a_large_array_is_sent_as_at_most_8_by_8_cells_and_hides_nothing_large():
    array = np.zeros((40, 30))
    array[17, 23] = -99.0
    data = Value.of(array).json
    assert "values" not in data
    assert data["cells"]["rows"] == data["cells"]["cols"] == 8
    assert data["cells"]["downsampled"]
    assert min(data["cells"]["values"]) == -99.0
    assert data["text"] == "tensor((40, 30), from -99 to 0, float64)"


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (7,), (2, 3, 4), (65,), (3, 65)])
def test_arrays_of_every_shape_have_cells(shape):
    data = Value.of(np.ones(shape)).json
    assert data["shape"] == list(shape)
    sent = data["cells"]["values"] if "values" in data["cells"] else data["values"]  # never twice
    assert ("values" in data["cells"]) == (data["cells"]["downsampled"] or "values" not in data)
    assert len(sent) == data["cells"]["rows"] * data["cells"]["cols"]


def test_nan_is_not_hidden_by_downsampling():
    array = np.ones((40, 40))
    array[3, 3] = np.nan
    assert "nan" in Value.of(array).json["cells"]["values"]


def test_a_folded_picture_still_has_every_step(t):
    w = t.tensor([[0.5, 0.1], [0.2, 0.3]], requires_grad=True)
    h = t.tensor([[1.0, 2.0]])
    for _ in range(10):
        h = (h @ w).tanh()
    data = payload(h.sum(), fold=True)
    (fold,) = (n for n, v in data["nodes"].items() if v["kind"] == "fold")
    assert data["nodes"][fold]["members"] == 16  # two functions per repeat; not the first and last repeat
    assert set(data["folds"].values()) == {fold}
    assert sum(step["node"] in data["folds"] for step in data["steps"]) == 16
    # a step belongs to its own node
    assert len(data["steps"]) == len({step["node"] for step in data["steps"]}) == 22
    assert set(data["hidden"]) == set(data["folds"])
    assert set(data["lines"].values()) <= set(data["edges"])


def test_true_folds_modules_and_where_there_are_none_what_repeats(t):
    """1 equals True, but as a fold it is a depth; it was once mistaken for True."""
    for steps in (2, 10):
        x = t.tensor(0.5, requires_grad=True)
        y = x
        for _ in range(steps):
            y = (y * x).tanh()
        got = payload(y, fold=True)
        assert {picture["fold"] for picture in (got, *got["pictures"])} == {"repeat"}
    net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Tanh(), t.nn.Linear(2, 1))
    loss = net(t.ones(1, 2)).sum()
    for fold in (True, 1):
        boxes = [
            n["name"]
            for n in payload(loss, fold=fold, retain_graph=True)["nodes"].values()
            if n["kind"] == "fold"
        ]
        assert boxes == ["net.0", "net.2"]


def test_a_pass_that_nobody_could_walk_through_is_refused_with_what_to_do():
    x = minigrad.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(3_001):
        y = y + 1
    with pytest.raises(
        ValueError, match=r"3,002 nodes; viz\.step walks through at most 3,000\. Take fewer time steps"
    ):
        payload(y)
    assert x.grad is None


def test_nothing_of_this_machine_or_run_is_in_the_payload():
    text = json.dumps(of(minigrad, "mlp"))
    assert not re.search(r"0x[0-9a-f]{6,}", text)
    assert text == json.dumps(of(minigrad, "mlp"))


def test_thirty_nodes_take_less_than_a_tenth_of_a_second():
    """The time is scaled to a processor that formats 100,000 numbers in 40 ms, since both tasks take longer on a busy one."""

    def time_of(work: Callable[[], object]) -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    def numbers() -> None:
        written = {}
        for number in range(100_000):
            written[str(number % 1000)] = f"{number:.1f}"

    def once() -> float:
        h = minigrad.tensor([[0.5, -0.25, 1.0]], requires_grad=True)
        w = minigrad.tensor(np.eye(3).tolist(), requires_grad=True)
        for _ in range(14):
            h = (h @ w).tanh()
        z = h.sum()
        beside = time_of(numbers)
        return time_of(lambda: payload(z)) / (beside + time_of(numbers)) * 2 * 0.04

    once()
    assert any(once() < 0.1 for _ in range(9))


def test_what_must_be_too_wide_is_not_laid_out_and_every_form_once(monkeypatch):
    laid, graphviz = [], engine.layout
    monkeypatch.setattr(
        engine, "layout", lambda source, *more: laid.append(source) or graphviz(source, *more)
    )
    layout.laid_out.cache_clear()

    def chain(times: int) -> dict:
        y = minigrad.tensor(0.5, requires_grad=True)
        for _ in range(times):
            y = y.tanh()
        return payload(y)

    data = chain(29)
    assert {drawn["view"] for drawn in (data, *data["pictures"])} == {"functions"}
    wide = [source for source in laid if "rankdir=LR" in source]
    # only the folded form is laid out left to right
    assert laid and len(laid) == len(set(laid)) and all(source.count("shape=") < 20 for source in wide)
    before = len(laid)
    chain(29)
    assert len(laid) == before


@pytest.mark.parametrize("count", [2, 4, 5])
def test_four_parts_of_a_total_that_a_hook_changed_are_listed(t, count):
    x = t.tensor(1.0, requires_grad=True)
    y = x * 1
    y.register_hook(lambda grad: grad * 0)
    z = sum(y * k for k in range(1, count + 1))
    (wrong,) = (step["wrong"] for step in payload(z, check=False)["steps"] if step["wrong"])
    listed = (
        wrong.partition(" were sent")[0].partition(", ")[2].replace(" and ", ", ").rstrip(",").split(", ")
    )
    order = [f"{k}" for k in range(count, 0, -1)]
    assert listed == (order if count <= 4 else [*order[:4], "…"]), wrong
