"""The page: one file, nothing from outside, everything that a reader needs inside it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import pytest

import minigrad as mg
import viz
from viz.show.page import asset, frame, page, shared, slim
from viz.show.payload import payload


def recorded(**more) -> dict:
    x = mg.tensor([[1.0, 2.0, 3.0]])
    w = mg.tensor([[1.0], [-2.0], [3.0]], requires_grad=True)
    y = x @ w
    z = y.mean()
    return payload(z, **more)


def unpacked(html: str) -> dict:
    packed = re.search(r'id="packed">([^<]*)<', html).group(1)
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_the_page_carries_the_very_files_of_the_package():
    content = unpacked(page(recorded()))
    assert content["js"] == asset("stepper.js")
    assert content["css"] == asset("stepper.css")
    assert content["data"]["title"] == "z"


def test_the_page_forbids_itself_the_network():
    html = page(recorded())
    assert "default-src 'none'" in html
    addresses = set(re.findall(r"https?:[^\"'\s<>)]*", html))
    assert addresses == set()


def test_the_title_is_text():
    assert "<title>&lt;script&gt;</title>" in page(recorded(), title="<script>")


def test_a_page_of_thirty_nodes_stays_near_40_kilobytes():
    x = mg.tensor(0.5, requires_grad=True)
    z = x
    for _ in range(29):
        z = z.tanh()
    html = page(payload(z, view="functions"))
    assert len(unpacked(html)["data"]["steps"]) == 30
    assert len(html) < 60_000


def test_numbers_keep_what_float32_carries_and_are_not_said_twice():
    data = slim({"a": 1 / 3, "b": [float("inf"), float("-inf"), float("nan"), True, None, 3]})
    assert data == {"a": 0.3333333, "b": ["inf", "-inf", "nan", True, None, 3]}
    array = recorded()["leaves"][0]
    step = slim(recorded())["steps"][-1]["accumulate"]["after"]
    assert array["shape"] == step["shape"] == [3, 1]
    assert step["values"] == [1.0, 2.0, 3.0]
    assert "values" not in step["cells"] and "text" not in step


def test_every_array_is_sent_once():
    """A gradient goes along an edge, is received, added and stored: the same numbers, said once."""
    data = slim(recorded())
    sent = shared(data)
    written = [json.dumps(a) for a in sent["arrays"]]
    assert len(set(written)) == len(written)
    assert all(set(a) == {"shape", "dtype", "values"} for a in sent["arrays"])
    assert '"values"' not in json.dumps({k: v for k, v in sent.items() if k != "arrays"})

    def whole(x):
        if isinstance(x, list):
            return [whole(item) for item in x]
        if not isinstance(x, dict):
            return x
        if "$" in x:
            return sent["arrays"][x["$"]]
        if "shape" in x and "values" in x:
            return {k: x[k] for k in ("shape", "dtype", "values")}
        return {k: whole(v) for k, v in x.items() if k != "arrays"}

    assert whole(sent) == whole(data)
    assert len(json.dumps(sent)) < len(json.dumps(data))


def test_a_saved_page_is_the_page(tmp_path: Path):
    z = (mg.tensor([1.0, 2.0], requires_grad=True) ** 2).sum()
    stepper = viz.step(z)
    path = stepper.save(tmp_path / "z.html", title="Squares")
    html = path.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>") and "<h1>Squares</h1>" in html
    assert unpacked(html)["data"] == shared(stepper.data) | {"forward": []}  # it was not asked for


def test_another_ending_is_refused(tmp_path: Path):
    z = mg.tensor(2.0, requires_grad=True) * 3
    with pytest.raises(ValueError, match=r"\.html"):
        viz.step(z).save(tmp_path / "z.docx")


def test_the_frame_shows_a_picture_where_frames_are_stripped():
    html = frame(recorded())
    image, inside = html.split("<iframe", 1)
    svg = base64.b64decode(re.search(r"base64,([^\"]+)", image).group(1)).decode()
    assert svg.startswith("<svg") and "MeanBackward0" in svg
    assert 'srcdoc="&lt;!doctype html&gt;' in inside


def test_no_script_of_ours_ends_early():
    for name in ("stepper.js", "stepper.css"):
        assert "</script" not in asset(name).lower() and "</style" not in asset(name).lower()
