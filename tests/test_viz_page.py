"""The page: a single file with everything that a reader needs, and nothing loaded from outside."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import pytest

import minigrad as mg
import viz
from viz.picture.dot import COLOURS
from viz.show.page import (
    _KEPT,
    _LEFT_OUT,
    DIGITS_85,
    FRONT,
    PROGRAM,
    asset,
    frame,
    minified,
    page,
    program,
    shared,
)
from viz.show.payload import payload


def recorded(**more) -> dict:
    x = mg.tensor([[1.0, 2.0, 3.0]])
    w = mg.tensor([[1.0], [-2.0], [3.0]], requires_grad=True)
    y = x @ w
    z = y.mean()
    return payload(z, **more)


def unpacked(html: str) -> dict:
    packed = re.search(r'id="packed">([^<]*)<', html).group(1)
    # each digit becomes the one with the same value in Python's alphabet
    pythons = str.maketrans(DIGITS_85, base64._b85alphabet.decode())
    return json.loads(zlib.decompress(base64.b85decode(packed.translate(pythons))))


def test_the_page_carries_the_very_files_of_the_package():
    content = unpacked(page(recorded()))
    assert content["js"] == program("lanes") and "judge(" not in content["js"]
    asking = unpacked(page(recorded(), options={"ask": "value"}))["js"]
    assert asking == program("lanes", "typed", "answers", "questions") and "judge(" in asking
    whole = asset("stepper.js")  # as sent for a widget, which has a kernel
    assert "offerCuts(" in whole and "offerCuts(" not in asking.replace("offerCuts?.(", "")
    assert content["css"] == program(ending="css") and "mgv-both" not in content["css"]
    assert asset("stepper.css") == program("beside", "questions", ending="css")
    assert content["data"]["title"] == "z"


def test_the_page_forbids_itself_the_network():
    html = page(recorded())
    assert "default-src 'none'" in html
    addresses = set(re.findall(r"https?:[^\"'\s<>)]*", html))
    assert addresses == set()


def test_the_title_is_text():
    assert "<title>&lt;script&gt;</title>" in page(recorded(), title="<script>")


def test_a_page_of_thirty_nodes_stays_small():
    x = mg.tensor(0.5, requires_grad=True)
    z = x
    for _ in range(29):
        z = z.tanh()
    html = page(payload(z, view="functions"))
    assert len(unpacked(html)["data"]["steps"]) == 30
    assert len(html) < 60_700
    torch_like = mg.nn.Sequential(*[m for _ in range(5) for m in (mg.nn.Linear(4, 4), mg.nn.Tanh())])
    # with the values, shapes and modules of a real net
    data = payload(torch_like(mg.randn(2, 4)).pow(2).mean())
    assert len(data["steps"]) >= 27 and len(page(data)) < 67_300


def test_what_a_page_need_not_carry_is_blanks_and_last_semicolons():
    """All strings, templates, regular expressions and words of the program are there as they were written."""
    for name in PROGRAM.split():
        text = (FRONT / f"{name}.js").read_text(encoding="utf-8")
        short, whole = minified([FRONT / f"{name}.js"]), _LEFT_OUT.sub("", text)
        bare = [re.sub(r"\s|;\s*(?=\})", "", re.sub(_KEPT, "", t)) for t in (whole, short)]
        assert bare[0] == bare[1] and re.findall(_KEPT, short) == re.findall(_KEPT, whole), name
        assert not re.search(r"^//", short, re.M), f"a comment of {name} is sent"


def whole(sent: dict) -> dict:
    """The data sent, with each shared array put back in its places."""

    def put(x):
        if isinstance(x, list):
            return [put(item) for item in x]
        if not isinstance(x, dict):
            return x
        return sent["arrays"][x["$"]] if "$" in x else {k: put(v) for k, v in x.items() if k != "arrays"}

    return put(sent)


def test_numbers_keep_what_float32_carries_and_are_not_sent_twice():
    more = {"a": 1 / 3, "b": [float("inf"), float("-inf"), float("nan"), True, None, 3]}
    sent = shared(recorded() | {"more": more})
    assert sent["more"] == {"a": 0.3333333, "b": ["inf", "-inf", "nan", True, None, 3]}
    step = whole(sent)["steps"][-1]["accumulate"]["after"]
    assert step == {"shape": [3, 1], "dtype": "float32", "values": [1.0, 2.0, 3.0]}


def test_every_array_is_sent_once():
    """A gradient goes along an edge, is received, added and stored: the same numbers, sent once."""
    data = recorded()
    sent = shared(data)
    written = [json.dumps(a) for a in sent["arrays"]]
    assert len(set(written)) == len(written)
    assert all(set(a) == {"shape", "dtype", "values"} for a in sent["arrays"])
    assert '"values"' not in json.dumps({k: v for k, v in sent.items() if k != "arrays"})
    for step, whole_step in zip(data["steps"], whole(sent)["steps"], strict=True):
        for given, got in zip(step["outgoing"], whole_step["outgoing"], strict=True):
            assert got.get("edge") == given["edge"]
            assert (given["value"] or {}).get("values") == got.get("value", {}).get("values")
    assert len(json.dumps(sent)) < len(json.dumps(data))


class Residual(mg.nn.Module):
    """A block as in a transformer, with a skip connection."""

    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = mg.nn.LayerNorm(4), mg.nn.Linear(4, 8), mg.nn.Linear(8, 4)

    def forward(self, x):
        return x + self.down(mg.nn.functional.gelu(self.up(self.norm(x))))


@pytest.mark.long
def test_a_page_of_3_000_nodes_stays_below_800_kilobytes():
    """The page of a large net whose numbers all differ, program included."""
    mg.manual_seed(0)
    net = mg.nn.Sequential(*[Residual() for _ in range(226)])
    data = payload(net(mg.randn(2, 4)).pow(2).mean(), check=False)
    assert len(data["steps"]) == 2940
    assert len(page(data)) < 800_000
    # every number is there, including those that the rules read, which the pass frees only after they are recorded
    kept = [item["value"] for one in data["steps"] for item in one["saved"]]
    assert len(kept) > 2_500 and not [value for value in kept if "earlier" in value.get("text", "")]


def test_a_long_net_is_a_column_and_its_page_stays_small():
    """Its transposed weights are beside the main path; no layer is further to the side than the one before it."""
    layers = [m for _ in range(100) for m in (mg.nn.Linear(4, 4), mg.nn.Tanh())]
    data = payload(mg.nn.Sequential(*layers)(mg.randn(2, 4)).pow(2).mean(), check=False, fold=False)
    pictures = [data, *data["pictures"]]
    assert len(data["steps"]) == 502 and [len(one["nodes"]) for one in pictures] == [502]
    assert data["width"] < 600


def test_a_saved_page_is_the_page(tmp_path: Path):
    z = (mg.tensor([1.0, 2.0], requires_grad=True) ** 2).sum()
    stepper = viz.step(z)
    path = stepper.save(tmp_path / "z.html", title="Squares")
    html = path.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>") and "<h1>Squares</h1>" in html
    assert unpacked(html)["data"] == shared(stepper.data) == json.loads(stepper.pane.data)
    assert shared(stepper.data)["forward"] == []  # no forward steps were asked for


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


@pytest.mark.parametrize("kind", ["function", "accumulate", "leaf", "fold", "second", "custom", "tensor"])
def test_a_drawing_and_the_pane_have_one_palette(kind):
    """Fill and line of a kind of node, light and dark: in dot.py for drawings and slides, in stepper.css for the pane."""
    name = {"accumulate": "acc", "function": "fn", "tensor": "box"}.get(kind, kind)
    css = (FRONT / "stepper.css").read_text(encoding="utf-8")
    found = [
        re.search(rf"--{one}: light-dark\((#\w+), (#\w+)\)", css).groups() for one in (name, f"{name}-line")
    ]
    (fill, dark_fill), (line, dark_line) = found
    assert COLOURS[kind] == (fill, line, dark_fill, dark_line)


def test_no_script_of_ours_ends_early():
    for name in ("stepper.js", "stepper.css"):
        assert "</script" not in asset(name).lower() and "</style" not in asset(name).lower()


def test_no_two_files_of_the_front_end_declare_the_same_name():
    """They are joined into one program, in which a name can be declared once."""
    declared = r"^(?:export )?(?:const|let|class|function|async function) ([\w$]+)"
    names = [n for file in FRONT.glob("*.js") for n in re.findall(declared, file.read_text("utf-8"), re.M)]
    assert sorted(names) == sorted(set(names))
