"""The output of viz.film: findings, scenes, frames kept whole, films side by side, pages and animations."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import viz
from tests.test_viz_film import mlp, train
from tools import films as gallery
from viz.films.payload import payload
from viz.films.rows import arrange, lanes
from viz.films.scene import Arrow, Scene
from viz.films.show import page
from viz.films.stills import Still, dot, svg
from viz.picture import gif
from viz.picture.layout import painted


@pytest.fixture(scope="module")
def mg() -> Any:
    return importlib.import_module("minigrad")


def rows_of(film: viz.Film, scene: int = 0) -> list[str]:
    return [row.name for row in arrange(film._tables[scene].scene, film._tables[scene].names)]


def kinds(film: viz.Film) -> dict[str, Any]:
    return {f.kind: f for f in reversed(film.findings)}


# ---- rows


def test_a_row_is_a_layer(t):
    film = viz.film()
    train(t, film, 2)
    assert rows_of(film) == ["loss", "model.6", "model.4", "model.2", "model.0"]


def test_a_bias_that_is_added_stands_in_the_row_of_its_product(t):
    film = viz.film()
    w, b, v = (
        t.ones(2, 3, requires_grad=True),
        t.zeros(3, requires_grad=True),
        t.ones(3, 1, requires_grad=True),
    )
    film.backward(((t.ones(4, 2) @ w + b).tanh() @ v).mean())
    assert rows_of(film) == ["loss", "v", "b, w"]


def test_a_row_of_a_recurrent_net_is_a_time_step(t):
    film, (w, u) = viz.film(), (t.ones(2, 2).requires_grad_(True) for _ in range(2))
    h = t.zeros(1, 2)
    for _ in range(4):
        h = (t.ones(1, 2) @ u + h @ w).tanh()
    film.backward(h.sum(), retain_graph=None)
    assert rows_of(film) == ["loss", "t = 4", "t = 3", "t = 2", "t = 1"]
    [scene] = payload([film])["films"][0]["scenes"]
    assert [leaf["alias"] for leaf in scene["leaves"] if leaf["name"] == "w"].count(False) == 1


def test_a_branch_is_an_arrow_past_the_rows_between(t):
    t.manual_seed(0)
    w1, w2, w3 = (t.randn(3, 3).requires_grad_(True) for _ in range(3))
    h = t.randn(5, 3) @ w1
    film = viz.film()
    film.backward(((h + (h @ w2).relu() @ w3) ** 2).mean())
    [scene] = payload([film])["films"][0]["scenes"]
    assert scene["lanes"] == 1
    table = film._tables[0]
    [join] = [f for f in table.scene.joins if f in table.scene.functions and len(table.scene.into[f]) == 2]
    parts = [table.part("arrow")[0, a.index] for a in table.scene.into[join]]
    total = table.part("join")[0, table.scene.joins.index(join)]
    assert total not in parts  # the norm of the sum that arrives, not of a part
    assert total <= np.log10((10.0 ** np.array(parts)).sum()) + 1e-5


# ---- scenes


def test_another_graph_is_another_scene_and_comes_back(t):
    film, w = viz.film(), t.tensor([1.0, 2.0], requires_grad=True)
    for step in range(9):
        w.grad = None
        y = w * 2
        for _ in range(step % 3):
            y = y.tanh()
        film.backward(y.sum())
    assert len(film._tables) == 3
    assert film._scene_of == [0, 1, 2] * 3
    assert [table.at.tolist() for table in film._tables] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    assert len(payload([film])["films"][0]["scenes"]) == 3


def test_the_most_frequent_of_many_graphs_are_laid_out(mg):
    film, w = viz.film(), mg.tensor([1.0, 2.0], requires_grad=True)
    for length in [*range(30), *range(25, 30)]:
        y = w * 2
        for _ in range(length):
            y = y.tanh()
        film.backward(y.sum())
    shown = [n for n, _, _ in film._scenes()]
    assert len(film._tables) == 30 and len(shown) == 20
    assert set(range(25, 30)) <= set(shown)
    assert json.dumps(payload([film]), allow_nan=False)


def test_two_nets_of_one_shape_are_two_scenes(t):
    film, a, b = viz.film(), t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    for leaf in (a, b, a):
        film.backward((leaf * leaf).sum())
    assert [table.names for table in film._tables] == [["a"], ["b"]]
    assert film._scene_of == [0, 1, 0]


# ---- frames kept whole, pages


def test_kept_frames_open_in_the_stepper(t):
    film = viz.film(every=4, keep=[1, 4])
    model = train(t, film, 6)
    assert film.steps == [0, 1, 4] and list(film._kept_passes()) == ["1", "2"]
    assert not film.notes
    plain = viz.film()
    same = train(t, plain, 6)
    for a, b in zip(model.parameters(), same.parameters(), strict=True):
        assert a.tolist() == b.tolist()  # recording changes nothing
    assert {s["name"] for s in film._kept_passes()["1"]["steps"]} >= {"ReluBackward0", "AddmmBackward0"}


def test_a_kept_pass_that_raises_raises_what_the_user_made(t):
    film, w = viz.film(keep=[0]), t.ones(2, requires_grad=True)
    h = w * 2

    def fail(grad):
        raise KeyError("mine")

    h.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        film.backward(h.sum())
    assert w.grad is None
    z = (w * w).sum()
    z.backward()
    film.keep = frozenset([1])
    with pytest.raises(RuntimeError, match="a second time"):
        film.backward(z)
    assert w.grad.tolist() == [2.0, 2.0]


def test_the_page_is_strict_json_of_a_bounded_size(mg):
    film = viz.film()
    train(mg, film, 3, depth=12)
    table = film._tables[0]
    assert len(table.scene.edges) >= 59
    noise = np.random.default_rng(0).lognormal(-8, 6, (497, table.width))
    table.numbers.extend(noise.ravel().tolist())
    table.at.extend(range(3, 500))
    film._steps.extend(range(3, 500))
    film._losses.extend(noise[:, 0].tolist())
    film._scene_of = [0] * 500
    text = page([film], None, title="worst case")
    assert len(text) < 600_000
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert json.dumps(payload([film]), allow_nan=False)


def test_names_of_the_user_are_only_text(mg):
    film = viz.film(names={"</script><b>": (w := mg.ones(2, requires_grad=True))}, title="<i>&</i>")
    film.backward((w * w).sum())
    text = page([film], None, title=None)
    assert "<i>" not in text and "</script><b>" not in text
    assert "<b>" not in film._repr_mimebundle_()["text/html"].replace('srcdoc="', "")


def test_films_stand_beside_each_other(mg, tmp_path: Path):
    films = [viz.film(title="a"), viz.film(every=2)]
    for film in films:
        train(mg, film, 4)
    both = viz.beside(*films)
    assert repr(both) == "Films(2: a, film 2)"
    assert both._repr_mimebundle_()["text/plain"] == repr(both)
    assert both.save(tmp_path / "both.html").stat().st_size < 120_000
    assert repr(viz.beside(*films, films[0], labels=["x", "y", "z"])) == "Films(3: x, y, z)"
    with pytest.raises(ValueError, match="labels="):
        viz.beside(*films, labels=["x"])
    with pytest.raises(TypeError, match="needs either films only"):
        viz.beside(films[0], mg.ones(2))


@pytest.mark.long
def test_a_gif_has_a_frame_for_each_or_48(mg, tmp_path: Path):
    film = viz.film(title="<&>")
    train(mg, film, 70)
    path = film.save(tmp_path / "film.gif")
    with Image.open(path) as played:
        pauses = [played.seek(k) or played.info["duration"] for k in range(played.n_frames)]
    assert pauses == [120] * 47 + [2000]
    assert path.stat().st_size < 400_000
    short = viz.film(every=30)
    train(mg, short, 70)
    assert 10_000 < viz.beside(short, short, short).save(tmp_path / "both.gif").stat().st_size < 400_000


def branching(t: Any) -> viz.Film:
    """Arrows of each kind: to the next row, over functions of the same row (the recurrent part), past rows (the residual)."""
    t.manual_seed(0)
    w, u, *others = (t.randn(3, 3).requires_grad_(True) for _ in range(6))
    film = viz.film(title="branches")
    for _ in range(4):
        h = t.ones(5, 3)
        for _ in range(3):
            h = (t.ones(5, 3) @ u + h @ w).tanh()
        a, b, c, d = others
        r = h @ a
        film.backward((((r + (r @ b).relu() @ c) @ d) ** 2).mean())
    return film


def test_no_arrow_of_a_still_crosses_a_word_or_an_oval(mg):
    still = Still(branching(mg), "branches")
    marks = still.marks(3)
    kinds = [kind for kind, *_ in marks]
    assert "line" not in kinds[kinds.count("line") :]  # lines come first, below everything else
    texts_of_still = svg(still)
    assert texts_of_still.rindex("<poly") < texts_of_still.index("<text")
    ovals = [(x + w / 2, y + h / 2, w / 2, h / 2) for kind, x, y, w, h, *_ in marks if kind == "oval"]
    ways = [
        (points, tip) for kind, points, *_, tip in (m for m in marks if m[0] == "line") if tip is not None
    ]
    assert any(abs(points[0].imag - tip.imag) > 1.5 * still.pitch for points, tip in ways)  # past rows
    # over functions
    assert any(abs(points[0].imag - tip.imag) < 1 and len(points) > 2 for points, tip in ways)
    for points, tip in ways:
        for a, b in pairwise([*points, tip]):
            for q in (a + (b - a) * k / 20 for k in range(21)):
                assert all(np.hypot((q.real - x) / w, (q.imag - y) / h) > 0.9 for x, y, w, h in ovals), q


def test_ovals_of_many_rows_are_lower_than_a_row(mg):
    film, weights = viz.film(), [mg.eye(3).requires_grad_(True) for _ in range(26)]
    h = mg.ones(5, 3)
    for w in weights:
        h = h + (h @ w).tanh()
    film.backward((h * h).mean())
    still = Still(film, "deep")
    ovals = [(y, y + h) for kind, _, y, _, h, *_ in still.marks(0) if kind == "oval"]
    rows = sorted(set(ovals))
    assert len(rows) > 26 and still.pitch < 18
    assert all(low < high for (_, low), (high, _) in pairwise(rows))


def test_lanes_beside_the_table_lie_inside_one_another():
    ends = [(0, 5), (1, 3), (3, 5), (2, 3)]
    arrows = [Arrow(k, a, 0, b, 0, 0) for k, (a, b) in enumerate(ends)]
    assert lanes(Scene((), [], arrows=arrows), {k: k for k in range(6)}) == {1: 1, 2: 1, 0: 2}


def test_a_frame_of_a_gif_has_its_words_above_its_lines(mg):
    still = Still(branching(mg), "branches")
    source = dot([still], [3])
    alone = re.sub("^g -> g .*$", "", source, flags=re.M)
    both, words = (np.asarray(Image.open(io.BytesIO(painted(text, "png", 72)))) for text in (source, alone))
    assert (both != words).any()  # there are lines
    for kind, *at in still.marks(3):
        if kind == "oval":
            x, y, w, h = at[:4]
            place = np.s_[round(y + h * 0.2) : round(y + h * 0.8), round(x + w * 0.2) : round(x + w * 0.8)]
            assert (both[place] == words[place]).all()


@pytest.mark.parametrize("count", [1, 3])
def test_a_gif_is_whole_pixels(mg, tmp_path: Path, count):
    film = branching(mg)
    path = (viz.beside(*[film] * count) if count > 1 else film).save(tmp_path / "film.gif")
    with Image.open(path) as played:
        shown = np.asarray(played.convert("RGB"))
    assert all((edge == 255).all() for edge in (shown[:, 0], shown[:, -1], shown[0], shown[-1]))


def test_a_gif_shows_what_was_painted():
    """Played as in a browser, each frame is the picture it was made from, except for small differences in colour."""
    rng = np.random.default_rng(0)
    table = np.array([[255, 255, 255], [8, 8, 8], [200, 80, 0], [32, 88, 168]], np.uint8)
    pictures = [np.zeros((40, 60), np.uint8)]
    for _ in range(5):
        now = pictures[-1].copy()
        y, x = rng.integers(0, 30, 2)
        now[y : y + 10, x : x + 20] = rng.integers(0, 4, (10, 20))
        pictures.append(now)
    pictures.append(pictures[-1])  # a picture without a change

    def alone(picture: np.ndarray) -> bytes:
        Image.fromarray(table[picture]).save(painted := io.BytesIO(), "PNG")
        return painted.getvalue()

    data = gif.animation([alone(picture) for picture in pictures], [0.1] * len(pictures), ["#c85000"])
    with Image.open(io.BytesIO(data)) as played:
        assert played.n_frames == len(pictures) - 1  # the last one is shown twice as long
        for k, picture in enumerate(pictures[:-1]):
            played.seek(k)
            assert played.info["duration"] == (200 if k == len(pictures) - 2 else 100)
            shown = np.asarray(played.convert("RGB"), int)
            assert np.abs(shown - table[picture].astype(int)).max() <= 8


def test_errors_say_what_to_do(tmp_path: Path, mg):
    with pytest.raises(ValueError, match="every= must be a whole number"):
        viz.film(every=0)
    with pytest.raises(TypeError, match="names="):
        viz.film(names={"w": 3})
    with pytest.raises(ValueError, match=r"no frame yet: call film\.backward"):
        viz.film().save(tmp_path / "film.html")
    film = viz.film()
    film.backward(mg.ones(2, requires_grad=True).sum())
    with pytest.raises(ValueError, match=r"end in .html, .gif"):
        film.save("film.mp4")


def test_the_page_of_films_shows_the_programs_that_drew_them():
    assert (gallery.FOLDER / "README.md").read_text(encoding="utf-8") == gallery.readme()
    for name, (build, _) in gallery.FILMS.items():
        compile(gallery.program(build), name, "exec")
        assert (gallery.FOLDER / f"{name}-light.png").exists() and (
            gallery.FOLDER / f"{name}-dark.png"
        ).exists()
    space: dict = {}
    exec(f"import minigrad as torch\nimport viz\n{gallery.program(gallery.rnn)}", space)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("form", "begins"), [("svg", b"<svg "), ("pdf", b"%PDF-"), ("png", b"\x89PNG")])
def test_a_film_is_saved_as_a_picture(mg, tmp_path: Path, count: int, form: str, begins: bytes):
    film = viz.film(title="<three & layers>")
    train(mg, film, 12)
    path = (viz.beside(*[film] * count) if count > 1 else film).save(tmp_path / f"film.{form}")
    data = path.read_bytes()
    assert data.startswith(begins) and path.name == f"film.{form}"
    if form == "svg":
        texts_of_still = [
            x.text for x in ElementTree.fromstring(data).iter("{http://www.w3.org/2000/svg}text")
        ]
        assert (
            texts_of_still.count("model.6") == count
            and texts_of_still.count("step 11   loss " + f"{film.losses[-1]:.4g}") == count
        )
        if count == 1:
            assert "<three & layers>" in texts_of_still and texts_of_still[0].startswith("Loss ")


def test_arguments_are_checked_in_words(t, tmp_path: Path):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    for options, words in (
        ({"every": 0}, "every= must be a whole number of steps"),
        ({"every": 2.5}, "every= must be a whole number of steps"),
        ({"keep": 3}, r"keep= must be a list of steps, such as keep=\[0, 10\], got 3"),
        ({"keep": "last"}, "keep= must be a list of steps"),
        ({"keep": ["last"]}, "keep= must hold step numbers, whole and 0 or more.*'last'"),
        ({"keep": [-1]}, "keep= must hold step numbers, whole and 0 or more"),
        ({"names": [w]}, "names= must give names to tensors"),
        ({"names": {"w": 3}}, "names= must give names to tensors"),
        ({"title": 3}, "title= must be a string, got int"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            viz.film(**options)
    film = viz.film(names=[("mine", w)])
    for wrong in (None, 3.0, mlp(t), lambda: 1):
        with pytest.raises(TypeError, match=r"film\.backward needs the loss, a tensor"):
            film.backward(wrong)
    assert len(film) == film._passes == 0
    film.backward((w * w).sum())
    assert film._tables[0].names == ["mine"]
    for path, words in (
        ("film.webm", "must end in .html, .gif, .svg, .pdf or .png"),
        (3, "name of a file"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            film.save(path)
    with pytest.raises(ValueError, match="no frame yet"):
        viz.film().save(tmp_path / "film.svg")
    with pytest.raises(TypeError, match="must be 2 strings"):
        viz.beside(film, film, labels="ab")


def test_film_is_a_function_and_what_users_see_of_it_is_what_they_need(t):
    assert type(viz.film).__name__ == "function" and type(viz.film()) is viz.Film
    assert list(inspect.signature(viz.film).parameters) == ["every", "keep", "names", "title"]
    public = {name for name in dir(viz.film()) if not name.startswith("_")}
    assert public == {
        "backward",
        "every",
        "findings",
        "keep",
        "losses",
        "notes",
        "save",
        "show",
        "steps",
        "title",
    }


def test_no_layout_while_a_training_runs(t, monkeypatch: pytest.MonkeyPatch):
    """At the first NaN, or at a step to be kept, the pass is copied; it is laid out when it is shown."""
    laid: list[int] = []
    monkeypatch.setattr("viz.picture.draw.pictures_of", lambda *more: laid.append(1) or ([], {}))
    film, w = viz.film(keep=[1]), t.tensor([4.0, 1.0], requires_grad=True)
    for step in range(6):
        w.grad = None
        film.backward(((w * (0.0 if step == 3 else 1.0)).sqrt() * 2).sum())
    assert film.findings and film.notes == [] and repr(film) and laid == []
