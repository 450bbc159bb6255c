"""The picture: golden DOT of the gallery on both frameworks, geometry that needs no fonts, hostile text, formats, scale.

`VIZ_GOLDEN=write pytest tests/test_viz_dot.py -k golden` writes the golden files anew; read the difference before committing.
"""

from __future__ import annotations

import base64
import importlib
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import minigrad
import viz
from viz.picture import layout
from viz.picture.layout import least_length
from viz.read.text import fit, one_line, width

from .geometry import faults
from .viz_gallery import GALLERY

GOLDEN = Path(__file__).parent / "golden" / "viz"
SVG = "{http://www.w3.org/2000/svg}"


def structure(drawing) -> str:
    """The DOT without tooltips: they quote the rule as the framework writes it."""
    return re.sub(r' tooltip="(?:[^"\\]|\\.)*"', "", drawing.dot.source)


@pytest.mark.parametrize("framework", ["torch", "minigrad"])
@pytest.mark.parametrize("name", GALLERY)
def test_golden_dot(request, framework, name):
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module("minigrad")
    tensors, names = GALLERY[name](t)
    got = structure(
        viz.draw(
            tensors,
            view="graph",
            direction="TB" if name == "mlp" else None,
            names=names,
            forward=names.get("y") if name == "double_backward" else None,
        )
    )
    own, common = GOLDEN / f"{name}.{framework}.dot", GOLDEN / f"{name}.dot"
    if os.environ.get("VIZ_GOLDEN") == "write":
        if framework == "torch":
            common.write_text(got, encoding="utf-8")
        elif got != common.read_text(encoding="utf-8"):
            own.write_text(got, encoding="utf-8")
    expected = own if own.exists() else common
    assert got == expected.read_text(encoding="utf-8"), f"see {expected.name}"


@pytest.mark.parametrize("view", viz.picture.views.VIEWS)
@pytest.mark.parametrize("name", GALLERY)
def test_no_picture_is_narrower_than_the_least_that_is_reported_of_it(name, view):
    tensors, names = GALLERY[name](minigrad)
    drawing = viz.draw(tensors, view=view, names=names, direction="LR")
    assert 0 < least_length(drawing.picture) < drawing.places.width


def test_the_language_of_shapes():
    tensors, names = GALLERY["source_example"](minigrad)
    nodes = viz.draw(tensors, view="graph", names=names).dot.source
    nodes = re.sub(r"<[^<>]*>", "\n", nodes.replace("\n", " NEXT "))  # the text of the labels, line by line
    assert re.search(r"shape=cylinder [^N]*\bw\s+\(3, 1\)\s+requires_grad=True\s", nodes)
    assert re.search(r"shape=cylinder [^N]*\bx\s+\(1, 3\)\s+requires_grad=False\s", nodes)
    assert re.search(r"shape=diamond [^N]*\sAccumulateGrad\s", nodes)
    assert re.search(r"shape=ellipse [^N]*\sMmBackward0\s", nodes)
    assert re.search(r"shape=box [^N]*\sy\s+\(1, 1\)\s", nodes)
    assert re.search(r"->.*class=\"edge forward\".*style=dashed", nodes)
    assert re.search(r"->.*class=\"edge not_computed\".*arrowtail=tee", nodes)


def layout_in(environment: dict[str, str]) -> str:
    program = (
        "import minigrad, viz\n"
        "from tests.viz_gallery import GALLERY\n"
        "for view in ('graph', 'cards', 'functions'):\n"
        "    for name in ('source_example', 'diamond', 'mlp'):\n"
        "        tensors, names = GALLERY[name](minigrad)\n"
        "        print(viz.draw(tensors, view=view, names=names).svg)\n"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, **environment},
        check=True,
    )
    return done.stdout


def test_the_geometry_does_not_depend_on_fonts(tmp_path):
    empty = tmp_path / "fonts.conf"
    empty.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>',
        encoding="utf-8",
    )
    without = layout_in({"FONTCONFIG_FILE": str(empty), "XDG_CACHE_HOME": str(tmp_path)})
    assert "<svg" in without
    assert without == layout_in({})


def test_text_fits_what_was_measured_for_it():
    assert width("w", 10) < width("W", 10) < width("W", 10, bold=True)
    assert width(fit("a" * 500, 100, 12), 12) <= 100
    assert fit("short", 100, 12) == "short"
    assert one_line("a\nb\x00c\ud800d") == "a b c\ufffdd"


HOSTILE = [
    'say "hello"',
    "<script>alert(1)</script>",
    "two\nlines\r\nand\ttab",
    "back\\slash \\N \\G \\l",
    "]]> & &amp; <![CDATA[",
    "{record|<port>}",
    "'; drop table --",
    "x" * 10_000,
    "\u202eright to left",
    "\x00\x1b[31m",
    "",
    "日本語の名前",
    "__proto__",
    "x" + "[0]" * 3_000,
]


@pytest.mark.parametrize("view", viz.picture.views.VIEWS)
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_draw_safely(name, view, tmp_path):
    w = minigrad.tensor([1.0, -2.0], requires_grad=True)
    z = (w * w).sum()
    drawing = viz.draw(z, view=view, names={name: w, "z" + name: z})
    root = ET.fromstring(drawing.svg)  # well-formed
    assert {e.tag for e in root.iter()} <= {
        SVG + t for t in ("svg", "style", "rect", "g", "path", "text", "title", "ellipse")
    }
    assert not [k for e in root.iter() for k in e.attrib if k.startswith("on") or "href" in k]
    assert len(drawing.svg) < 40_000
    assert len(repr(drawing)) < 110
    assert "\n" not in repr(drawing)
    assert drawing.save(tmp_path / "z.png").stat().st_size > 1000  # Graphviz reads the DOT as well
    html = drawing._repr_mimebundle_()["text/html"]
    assert "<script" not in html


def test_a_hostile_name_is_shown_as_it_is():
    w = minigrad.tensor([1.0, 2.0], requires_grad=True)
    drawing = viz.draw((w * 2).sum(), names={"<b>&w": w})
    texts = [e.text for e in ET.fromstring(drawing.svg).iter(SVG + "text")]
    assert "<b>&w" in texts


@pytest.mark.parametrize("form", ["svg", "png", "pdf", "dot"])
def test_save_writes_the_format_of_the_name(form, tmp_path):
    tensors, names = GALLERY["diamond"](minigrad)
    path = viz.draw(tensors, names=names).save(tmp_path / f"c.{form}")
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "dot": b"digraph"}
    assert path.read_bytes().startswith(starts[form])


def test_save_refuses_what_it_cannot_write(tmp_path):
    tensors, names = GALLERY["diamond"](minigrad)
    with pytest.raises(ValueError, match=r"must end in \.svg, \.png, \.pdf or \.dot"):
        viz.draw(tensors, names=names).save(tmp_path / "c.jpg")


def test_a_notebook_gets_an_image_that_survives_and_one_line_of_text():
    tensors, names = GALLERY["diamond"](minigrad)
    drawing = viz.draw(tensors, names=names)
    bundle = drawing._repr_mimebundle_()
    assert bundle["text/plain"] == "Drawing(c: 5 nodes, 8 edges, lanes view)"
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', bundle["text/html"])[1]
    assert base64.b64decode(data).decode() == drawing.svg
    assert 'alt="Graph of c: 4 functions, 1 leaf"' in bundle["text/html"]


def test_ids_in_the_svg_are_those_of_the_dot():
    tensors, names = GALLERY["mlp"](minigrad)
    drawing = viz.draw(tensors, view="cards", names=names)
    root = ET.fromstring(drawing.svg)
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    assert set(ids) == {i.id for i in drawing.picture.items} | {link.id for link in drawing.picture.links}


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize(
    "name", ["source_example", "diamond", "mlp", "several_roots", "in_place_slice", "double_backward"]
)
def test_the_forward_rail_is_always_on_the_same_side(name, direction):
    tensors, names = GALLERY[name](minigrad)
    drawing = viz.draw(tensors, view="graph", names=names, direction=direction)
    axis = 1 if direction == "LR" else 0
    places = drawing.places.items
    first = [places[a.id][axis] < places[b.id][axis] for a, *_, b in drawing.picture.same_rank]
    assert sum(first) > len(first) / 2
    for x, y in places.values():
        assert x >= 0 and y >= 0


def test_cards_overlap_nowhere():
    tensors, names = GALLERY["mlp"](minigrad)
    drawing = viz.draw(tensors, view="cards", names=names)
    boxes = [(*drawing.places.items[i.id], i.width, i.height) for i in drawing.picture.items]
    for n, (x, y, w, h) in enumerate(boxes):
        for a, b, c, d in boxes[:n]:
            assert x >= a + c or a >= x + w or y >= b + d or b >= y + h


def your_own_function(t):
    """Lesson 12: an arrow once passed under a label, where Graphviz has a choice."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    class Reverse(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return -grad

    s = t.tensor(3.0, requires_grad=True)
    p = Square.apply(s)
    q = Reverse.apply(p)
    r = p + q * 2
    return r, {"s": s, "p": p, "q": q, "r": r}


def nan_hunt(t):
    """Lesson 14: an arrow once had a kink."""
    s = t.tensor(3.0, requires_grad=True)
    u = s * 3
    v = u.sqrt()
    r = u + v * v
    return r, {"s": s, "u": u, "v": v, "r": r}


def weighed(t):
    """A dashed arrow and a label in one place, in both orders."""
    w = t.tensor(3.0, requires_grad=True)
    h = w * 0.5
    r = w * h
    return r, {"w": w, "h": h, "r": r}


def called_again(t):
    """Three calls of a module, whose weights belong to none of them: arrows went through the captions of narrow frames."""
    net = t.nn.Sequential(t.nn.Linear(4, 6), t.nn.Tanh(), t.nn.Linear(6, 3))
    a, b, c = (net(t.ones(3, 4)) for _ in range(3))
    loss = ((a - b).pow(2).sum(1) - (a - c).pow(2).sum(1) + 1).relu().mean()
    return loss, {"loss": loss} | {f"net.{name}": leaf for name, leaf in net.named_parameters()}


DRAWN = GALLERY | {f.__name__: f for f in (your_own_function, nan_hunt, weighed, called_again)}


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("name", DRAWN)
def test_no_arrow_passes_under_a_label_or_over_a_caption_has_a_kink_or_is_far_from_its_word(name, direction):
    tensors, names = DRAWN[name](minigrad)
    found = {
        view: faults(viz.draw(tensors, view=view, names=names, direction=direction).svg)
        for view in ("graph", "cards", "functions")
    }
    assert not any(found.values()), {how: problems for how, problems in found.items() if problems}


@pytest.mark.parametrize("name", ["called_again", "source_example"])
def test_the_background_of_a_label_matches_what_is_behind_it(name):
    """In a module's frame it has the frame's colour, light and dark; elsewhere that of the page."""
    tensors, names = DRAWN[name](minigrad)
    svg = ET.fromstring(viz.draw(tensors, view="functions", names=names).svg)
    groups = list(svg.iter(f"{SVG}g"))

    def box(rect):
        return [float(rect.get(key)) for key in ("x", "y", "width", "height")]

    frames = [group[0] for group in groups if group.get("class") == "cluster"]
    labels = [group for group in groups if group.get("class", "").split()[:1] == ["label"]]
    grounds = set()
    for x, y, w, h, label in ((*box(label[0]), label) for label in labels):
        q, r = x + w / 2, y + h / 2
        around = [f for f in frames for a, b, c, d in [box(f)] if a < q < a + c and b < r < b + d]
        grounds.add(bool(around))
        assert label[0].get("fill") == (around[0].get("fill") if around else "#ffffff")
        assert ("framed" in label.get("class")) == bool(around)
    assert grounds == ({True, False} if frames else {False})
    dark = svg.findtext(f"{SVG}style")
    fills = [
        re.search(how + r"(?:,[^{]*)?\{fill:(#\w+)", dark)[1]
        for how in (r"\.cluster>\.shape", r"\.framed\)>rect")
    ]
    assert fills[0] == fills[1]


@pytest.mark.parametrize(("view", "written"), [(None, True), ("cards", True), ("graph", False)])
def test_values_are_written_in_lanes_and_cards(view, written):
    tensors, names = GALLERY["diamond"](minigrad)
    assert (">13<" in viz.draw(tensors, view=view, names=names).svg) == written


def test_what_a_function_keeps_is_drawn_on_request():
    tensors, names = GALLERY["source_example"](minigrad)
    drawing = viz.draw(tensors, names=names, saved=True)
    (note,) = (i for i in drawing.picture.items if i.kind == "saved")
    assert [line.text for line in note.lines] == ["self = x", "(1, 3)"]
    (link,) = (a for a in drawing.picture.links if a.kind == "saved")
    assert link.tail.function.name == "MmBackward0"


def test_a_freed_function_is_hollow_and_what_it_kept_is_marked():
    tensors, names = GALLERY["freed"](minigrad)
    drawing = viz.draw(tensors, names=names, saved=True)
    assert [i.name for i in drawing.picture.items if "freed" in i.classes and i.kind == "function"] == [
        "y",
        "z",
    ]
    assert {i.lines[-1].text for i in drawing.picture.items if i.kind == "saved"} == {"freed"}


def test_a_hook_is_a_mark_on_its_edge():
    tensors, names = GALLERY["hooks"](minigrad)
    root = ET.fromstring(viz.draw(tensors, view="graph", names=names).svg)
    edges = [e.get("class") for e in root.iter(SVG + "g") if e.find(f"{SVG}path[@class='hook']") is not None]
    assert sorted(edges) == ["edge backward hooked", "edge store hooked"]


def test_the_graph_of_a_backward_pass_has_a_second_colour_family():
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x**3
    (g,) = minigrad.autograd.grad(y, x, create_graph=True)
    by_itself = viz.draw([y, g]).graph  # the call with create_graph=True is in these lines
    by_forward = viz.draw(g, forward=y).graph
    for graph in (by_itself, by_forward):
        assert {f.name for f in graph.functions if f.second} == {
            "MulBackward0",
            "PowBackward0",
        }  # as in PyTorch
    assert not any(f.second for f in viz.draw(y).graph.functions)


def test_a_stepper_of_a_gradient_takes_the_forward_pass_as_a_drawing_is():
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x * x
    grads = minigrad.autograd.grad(y, x, create_graph=True)
    stepper = viz.step(grads[0], forward=y)
    assert str(stepper.data).count("second") and stepper.options == {}
    assert not str(viz.step(x * x, forward=True).data).count("second")


@pytest.mark.filterwarnings("ignore:Using backward")
def test_after_a_traced_pass_with_create_graph_the_gradient_is_of_the_second_family():
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x**3
    viz.trace(y, create_graph=True)
    functions = viz.draw(x.grad).graph.functions
    assert all(f.second for f in functions if f.edges)


@pytest.mark.parametrize("here", [True, False])
def test_where_the_system_lacks_a_library_it_says_what_to_install(here, monkeypatch, tmp_path):
    """pygraphviz includes Graphviz itself, but not the libraries that every Linux desktop has."""
    broken = "raise ImportError('libgobject-2.0.so.0: cannot open shared object file')"
    (tmp_path / "pygraphviz.py").write_text(broken, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # for the child process
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "pygraphviz", raising=False)
    with pytest.raises(ImportError, match=r"libgobject.*three libraries.*apt-get install"):
        layout.render("digraph { a -> b }", "svg", here=here)


@pytest.mark.parametrize("direction", [None, "LR", "TB"])
def test_saved_tensors_are_drawn_on_request(direction):
    """This holds even if the picture is wider than a page: no other view shows them."""
    x = minigrad.ones(2, 4, requires_grad=True)
    y = x
    for _ in range(6):
        y = (y.tanh() * y).sigmoid()
    drawing = viz.draw(y.sum(), saved=True, direction=direction)
    assert drawing.picture.view == "graph" and any(item.kind == "saved" for item in drawing.picture.items)
