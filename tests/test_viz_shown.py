"""Shown anywhere: a browser from scripts, frames where no widgets run, a still image if neither can be shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlparse
from urllib.request import url2pathname

import nbformat
import pytest
from nbclient import NotebookClient

import minigrad as mg
import viz
from viz.show import live

LIVE = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(autouse=True)
def automatic(monkeypatch):
    monkeypatch.delenv("VIZ_WIDGETS", raising=False)
    yield
    viz.widgets("auto")


def loss() -> mg.Tensor:
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    return (w * w).sum()


SHOWN = {
    "Stepper": lambda: viz.step(loss()),
    "Drawing": lambda: viz.draw(loss()),
    "Beside": lambda: viz.beside(loss(), loss()),
    "Film": lambda: filmed(),
    "Films": lambda: viz.beside(filmed(), filmed()),
}


def filmed() -> viz.Film:
    film = viz.film()
    film.backward(loss())
    return film


@pytest.mark.parametrize("name", SHOWN)
def test_show_opens_a_page_in_the_browser(monkeypatch, name):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    path = SHOWN[name]().show()
    assert opened == [path.as_uri()]
    text = Path(url2pathname(urlparse(opened[0]).path)).read_text(encoding="utf-8")
    assert text.startswith("<svg" if name == "Drawing" else "<!doctype html>")


def test_where_no_browser_opens_the_path_is_printed(monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    path = viz.step(loss()).show()
    assert capsys.readouterr().out == f"No browser could be opened. The page is {path}\n"


def test_in_a_notebook_show_displays_it(monkeypatch):
    shown = []
    ipython = SimpleNamespace(
        get_ipython=lambda: SimpleNamespace(kernel=object()), display=SimpleNamespace(display=shown.append)
    )
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    stepper = viz.step(loss())
    assert stepper.show() is None and shown == [stepper]
    assert "show" not in repr(stepper)  # a stepper that is displayed needs no hint


@pytest.mark.parametrize(
    ("choice", "environment", "expected"),
    [
        ("auto", None, True),
        ("auto", "0", False),
        ("auto", "off", False),
        ("auto", "1", True),
        (False, "1", False),
        (True, "0", True),
    ],
)
def test_who_decides_about_widgets(monkeypatch, choice, environment, expected):
    if environment is not None:
        monkeypatch.setenv("VIZ_WIDGETS", environment)
    assert viz.widgets(choice) is expected
    assert viz.widgets() is expected  # this call only queries the setting
    assert (LIVE in viz.step(loss())._repr_mimebundle_()) is expected
    for name in SHOWN.keys() - {"Drawing"}:
        assert (LIVE in SHOWN[name]()._repr_mimebundle_()) is expected, name


def test_anything_else_is_refused_in_words():
    with pytest.raises(ValueError, match='takes True, False or "auto", not 3'):
        viz.widgets(3)


@pytest.mark.parametrize(
    ("number", "environment", "expected"),
    [
        (
            "db49a221-6df011bc99a9c990a8836cef_9528_4",
            {},
            False,
        ),  # jupyter_client: nbconvert, papermill, Quarto, MyST-NB
        (
            "db49a221-6df011bc99a9c990a8836cef_9528_4",
            {"JPY_SESSION_NAME": "lesson.ipynb"},
            True,
        ),  # a server runs this kernel
        ("db49a221-6df011bc99a9c990a8836cef_9528_4", {"SERVER_SOFTWARE": "voila/0.5"}, True),
        ("0cf2ca8f-2b38-4b1c-8b7f-1d2c2f6b1e50", {}, True),  # JupyterLab, VS Code
        ("", {}, True),
    ],
)
def test_a_tool_that_runs_a_notebook_is_known_by_the_ids_of_what_it_asks(
    monkeypatch, number, environment, expected
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shell = SimpleNamespace(kernel=object(), get_parent=lambda: {"header": {"msg_id": number}})
    monkeypatch.setattr(live, "notebook", lambda: shell)
    assert viz.widgets() is expected


def test_what_was_made_without_widgets_is_one_where_they_are_switched_on():
    viz.widgets(False)
    stepper = viz.step(loss())
    assert stepper.comm is None and stepper.pane.comm is None
    stepper.step = 2  # it can be used all the same
    assert stepper.pane.step == 2


def test_a_notebook_that_a_tool_runs_holds_frames_and_stills_and_no_widgets():
    cells = ["import minigrad, viz\nw = minigrad.ones(2, requires_grad=True)", "viz.step((w * w).sum())"]
    cells += ["viz.beside((w * w).sum(), (w + w).sum())", "viz.draw((w * w).sum())"]
    cells += ["film = viz.film()\nfilm.backward((w * w).sum())\nfilm"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in notebook.cells[1:]:
        (data,) = [output["data"] for output in cell.outputs]
        assert LIVE not in data and "<img" in data["text/html"]
        assert data["text/plain"].count("\n") == 0 and "show()" not in data["text/plain"]
    assert "srcdoc" in notebook.cells[1].outputs[0]["data"]["text/html"]
    assert "widgets" not in notebook.metadata


@pytest.mark.parametrize("name", ["Stepper", "Drawing"])
def test_there_is_a_still_for_viewers_that_show_no_html(name):
    bundle, again = (SHOWN[name]()._repr_mimebundle_() for _ in range(2))
    assert bundle["image/svg+xml"].startswith("<svg") and bundle["image/svg+xml"] == again["image/svg+xml"]


@pytest.mark.long
def test_pillow_is_only_for_gifs(tmp_path):
    program = f"""
import sys, minigrad, viz
w = minigrad.ones(2, requires_grad=True)
stepper = viz.step((w * w).sum(), ask="gradients")
viz.draw((w * w).sum()).save({str(tmp_path / "z.png")!r})
stepper.save({str(tmp_path / "z.html")!r})
stepper.save({str(tmp_path / "z.png")!r})
film = viz.film()
film.backward((w * w).sum())
film.save({str(tmp_path / "f.html")!r})
assert "PIL" not in sys.modules, "Pillow was imported"
stepper.save({str(tmp_path / "z.gif")!r})
assert "PIL" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
