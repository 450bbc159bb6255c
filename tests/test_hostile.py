"""Bad luck and bad intentions: files that attack, a full disk, Ctrl+C at any moment, a leaf in thousands of threads.

A clear error, nothing lost, nothing executed, nothing left behind.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import minigrad as torch
import viz
from exercises import store
from viz.show.payload import payload

ROOT = Path(__file__).resolve().parent.parent


# ---------------------------------------------------------------- files


def npz(**arrays: np.ndarray) -> bytes:
    kept = io.BytesIO()
    np.savez(kept, **arrays)
    return kept.getvalue()


def described(structure: object, **arrays: np.ndarray) -> bytes:
    """A file as `save` writes it, with any description."""
    text = structure if isinstance(structure, str) else json.dumps(structure)
    return npz(structure=np.frombuffer(text.encode(), np.uint8), **arrays)


class Attack:
    def __reduce__(self):
        return (exec, ("import os; os.environ['ATTACKED'] = 'yes'",))


def bomb() -> bytes:
    """A zip whose parts are a thousand times larger than the file."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("structure.npy", npz(x=np.zeros(1_000_000)))
    return kept.getvalue()


ONE = np.ones(2, np.float32)
FILES = {
    "empty": b"",
    "no zip": b"hello",
    "a pickle": pickle.dumps(Attack()),
    "a pickle inside": npz(structure=np.array([Attack()], dtype=object)),
    "cut off": described({"tensors": [], "object": 1})[:-20],
    "a bomb": bomb(),
    "no description": npz(tensor_0=ONE),
    "no JSON": described("{"),
    "nested 100,000 deep": described("[" * 100_000 + "]" * 100_000),
    "a tensor that is not there": described({"tensors": [["tensor_7", False, False]], "object": 1}),
    "a number that is not there": described({"tensors": [], "object": {"kind": "tensor", "number": 3}}),
    "a number from the end": described(
        {"tensors": [["t", False, False]], "object": {"kind": "tensor", "number": -1}}, t=ONE
    ),
    "a kind of its own": described({"tensors": [], "object": {"kind": "os.system", "items": ["true"]}}),
    "a list as a key": described(
        {"tensors": [], "object": {"kind": "dict", "items": [[{"kind": "list", "items": []}, 1]]}}
    ),
    "an array of strings": described({"tensors": [["t", False, False]], "object": 1}, t=np.array(["a"])),
    "gradients of whole numbers": described({"tensors": [["t", False, True]], "object": 1}, t=np.arange(3)),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_none_of_ours_is_refused_and_not_executed(name, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(FILES[name])
    with pytest.raises(RuntimeError, match=r"was not written by minigrad\.save\(\), or is damaged"):
        torch.load(path)
    assert "ATTACKED" not in os.environ


def test_any_damage_to_a_file_is_noticed_or_harmless(tmp_path):
    """A flipped bit anywhere gives the same object, or the expected error."""
    kept = io.BytesIO()
    torch.save({"w": torch.arange(4.0), "n": [1, "two"]}, kept)
    whole, chance = kept.getvalue(), random.Random(0)
    refused = 0
    for _ in range(200):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            found = torch.load(io.BytesIO(bytes(data)))
        except RuntimeError as error:
            assert "damaged" in str(error)
            refused += 1
        else:
            assert found["n"] == [1, "two"] and found["w"].tolist() == [0, 1, 2, 3]
    assert refused > 100


WRITERS = {  # what to prepare while there is space, and what writes the file
    "save": ("", "minigrad.save({'w': minigrad.zeros(20_000)}, path)", ".npz"),
    "picture": ("drawing = viz.draw(loss); drawing.svg", "drawing.save(path)", ".svg"),
    "page": ("stepper = viz.step(loss)", "stepper.save(path)", ".html"),
    "report": (
        f"import sys; sys.path.insert(0, {str(ROOT / 'notebooks')!r}); from exercises.exam import Report, Result",
        "Report([Result(k, 5, 3, 1, 1, ('early',)) for k in range(40)]).save(path)",
        ".html",
    ),
    "film": ("film = viz.film(); film.backward(loss)", "film.save(path)", ".html"),
}


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_whole(name, tmp_path):
    """No file may be longer than 2,000 bytes, which looks like a full disk to the writer."""
    ready, write, suffix = WRITERS[name]
    path = tmp_path / f"kept{suffix}"
    path.write_text("what was there before", encoding="utf-8")
    code = f"""
import resource, signal, pathlib, minigrad, viz
x = minigrad.ones(40, 40, requires_grad=True)
loss = (x * 2).tanh().exp().sin().sum()
{ready}
path = pathlib.Path({str(path)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
{write}
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True)
    assert "OSError" in done.stderr.splitlines()[-1], done.stderr
    assert path.read_bytes() == b"what was there before"
    assert list(tmp_path.iterdir()) == [path]


def test_progress_that_cannot_be_written_is_remembered_while_the_session_lasts(tmp_path, monkeypatch):
    """The folder is read-only, or the disk is full: old and new progress both count."""
    place = tmp_path / "progress.json"
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(place))
    monkeypatch.setattr(store, "_unwritten", [])
    store.note(solved="0.1")
    place.with_name("progress.json.part").mkdir()  # now nothing can be written there
    store.note(solved="0.2")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        store.note(solved="0.3")
    assert not place.with_name("progress.json.lock").exists()
    assert store.load()["solved"] == ["0.1", "0.2", "0.3"]
    place.with_name("progress.json.part").rmdir()
    store.note(solved="0.4")
    monkeypatch.setattr(store, "_unwritten", [])  # the next session
    assert store.load()["solved"] == ["0.1", "0.2", "0.3", "0.4"]


# ---------------------------------------------------------------- Ctrl+C


@contextmanager
def interrupted(after: float) -> Iterator[None]:
    """Ctrl+C after this many seconds."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def chain(length: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(length):
        y = y * 1.0
    return x, y.sum()


def hooks_left(loss: torch.Tensor) -> int:
    """The number of hooks on the nodes of a graph."""
    seen, waiting, count = set(), [loss.grad_fn], 0
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            count += (
                sum(len(hooks or ()) for hooks in (node._hooks.pre, node._hooks.post)) if node._hooks else 0
            )
            waiting += [below for below, _ in node.next_functions]
    return count


def recorded(loss: torch.Tensor) -> None:
    x, _ = chain(1)
    with viz.record():
        for _ in range(100):
            x = x * 1.0


def filmed(loss: torch.Tensor) -> None:
    viz.film().backward(loss)


JOBS: dict[str, Callable[[torch.Tensor], object]] = {
    "backward": lambda loss: loss.backward(),
    "step": viz.step,
    "record": recorded,
    "film": filmed,
}
NODES = {"backward": 5_000, "step": 100, "record": 1, "film": 300}  # "record" makes its own graph


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer that interrupts")
@pytest.mark.parametrize("name", JOBS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_moment_leaves_nothing_behind(name):
    methods = dict(vars(torch.Tensor))
    chance, stopped = random.Random(0), 0
    _, loss = chain(NODES[name])
    started = time.perf_counter()
    JOBS[name](loss)
    took = time.perf_counter() - started  # the first run is the slowest, so some later ones end in time
    for _ in range(25):
        _, loss = chain(NODES[name])
        try:
            with interrupted(chance.uniform(0.02, 0.8) * took):
                JOBS[name](loss)
        except KeyboardInterrupt:
            stopped += 1
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        # Python may raise it between the return of a call and the assignment of its result: one handle may be lost
        assert hooks_left(loss) <= 1
        assert dict(vars(torch.Tensor)) == methods
        x, loss = chain(5)  # the next pass is not disturbed
        loss.backward()
        assert x.grad.tolist() == [1, 1, 1]
    assert stopped


# a generator that is being closed cannot be interrupted: Python says so, and goes on
@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["step", "film"])
def test_ctrl_c_at_every_line_leaves_no_hook_behind(name):
    """One interrupt at each call and each line of the files that attach hooks, instead of at random moments."""
    hanging = ("read/hooks.py", "run/trace.py", "films/pass_hooks.py", "films/film.py")
    files = {str(Path(viz.__file__).parent / name) for name in hanging}
    _, loss = chain(1)
    JOBS[name](loss)  # load what is imported on first use
    at, stopped = 0, True
    while stopped:
        at, stopped, left = at + 1, False, at

        def tracing(frame: FrameType, event: str, arg: object):
            nonlocal left, stopped
            if frame.f_code.co_filename not in files:
                return None
            left -= event in ("call", "line")
            if left < 0 and not stopped:
                stopped = True
                raise KeyboardInterrupt
            return tracing

        _, loss = chain(1)
        before = sys.gettrace()
        try:
            sys.settrace(tracing)
            JOBS[name](loss)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        assert not hooks_left(loss), f"after {at} lines"
    assert at > 50


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_after_any_line_leaves_no_recording_behind(monkeypatch):
    """This includes the last line, after which Python has left the block but not yet called the recording's `__exit__`."""
    methods, before, recording = dict(vars(torch.Tensor)), sys.gettrace(), type(viz.record())
    looks, at, stopped = recording._after_line, 0, True
    while stopped:
        at, stopped, left = at + 1, False, at

        def striking(self: object, *args: object) -> None:
            nonlocal left, stopped
            left -= 1
            if left < 0 and not stopped:
                stopped = True
                raise KeyboardInterrupt
            looks(self, *args)

        monkeypatch.setattr(recording, "_after_line", striking)
        x = torch.ones(3, requires_grad=True)
        try:
            with viz.record():
                y = x * 1.0
                y.sum()
        except KeyboardInterrupt:
            assert stopped
        assert (dict(vars(torch.Tensor)), sys.gettrace()) == (methods, before), f"at line {at}"
    assert at > 4


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_every_call_leaves_no_recording_behind():
    """A recording traces lines itself, so here each function that it calls, and each return, is interrupted."""
    methods, before = dict(vars(torch.Tensor)), sys.gettrace()
    recording = type(viz.record()).start.__code__.co_filename
    at, stopped = 0, True
    while stopped:
        at, stopped, left = at + 1, False, at

        def profiling(frame: FrameType, event: str, arg: object):
            nonlocal left, stopped
            if frame.f_code.co_filename != recording:
                return
            if event != "return" and not (event == "call" and frame.f_code.co_name in ("__enter__", "stop")):
                left -= 1
                if left < 0 and not stopped:
                    stopped = True
                    raise KeyboardInterrupt

        net = torch.nn.Linear(1, 1)
        try:
            sys.setprofile(profiling)
            exec("with viz.record():\n    y = net(x)", {"viz": viz, "net": net, "x": torch.ones(1)})
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        assert sys.gettrace() is before and dict(vars(torch.Tensor)) == methods, f"after {at} calls"
        left = len(net._forward_hooks) + len(net._forward_pre_hooks)
        assert left <= 1  # a handle may be lost between its return and its assignment
    assert at > 500
    other = threading.Thread(target=recorded, args=(None,), daemon=True)
    other.start()
    other.join(20)
    assert not other.is_alive(), "recordings wait for a lock that nobody lets go"


# ---------------------------------------------------------------- threads


@pytest.mark.long
def test_one_leaf_in_ten_thousand_threads():
    x = torch.zeros(2, requires_grad=True)
    for _ in range(100):
        threads = [threading.Thread(target=lambda: (x * 3.0).sum().backward()) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert x.grad.tolist() == [30_000, 30_000]


# ---------------------------------------------------------------- numbers and words


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e308, -0.0, 5e-324])
def test_any_number_is_drawn_and_stepped(value, tmp_path):
    x = torch.tensor([value, 1.0], dtype=torch.float64, requires_grad=True)
    loss = (x * value).sum()
    viz.draw(loss, view="cards").save(tmp_path / "picture.svg")
    page = viz.step(loss).save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "NaN" not in page.split("<script")[0]  # JSON has no such number; the data writes it as text


def test_a_name_of_ten_thousand_letters_does_not_make_the_picture_wide(tmp_path):
    x = torch.tensor(1.0, requires_grad=True)
    drawing = viz.draw(x * 2, names={"x" * 10_000: x})
    assert len(drawing.svg) < 60_000
    width = float(drawing.svg.split('width="')[1].split('"')[0].rstrip("pt"))
    assert width < 1_000


def test_labels_and_titles_stay_on_one_line_whatever_is_in_them(tmp_path):
    bad = "\ud800 \u202e\x1b[31m\x00\n"
    one, other = (torch.tensor(2.0, requires_grad=True) * 3 for _ in range(2))
    film = viz.film(title=bad)
    film.backward(torch.tensor(1.0, requires_grad=True) * 2)
    beside = viz.beside(one, other, labels=(bad, "b"))
    several = viz.beside(film, film, labels=(bad, "b"))
    explored = viz.explore(lambda **leaves: sum(leaves.values()), {bad: 1.0, "b": 2.0})
    for shown in (beside.comparison, beside, film, several, explored):
        assert repr(shown).isprintable(), repr(shown)
    assert all(line.isprintable() for line in str(beside.comparison).splitlines())
    for shown, options in (
        (beside, {}),
        (viz.step(torch.tensor(1.0, requires_grad=True) * 2), {"title": bad}),
        (film, {"title": bad}),
    ):
        text = shown.save(tmp_path / "page.html", **options).read_text(encoding="utf-8")
        assert not {"\u202e", "\x1b", "\x00"} & {*text.split("<script")[0]}


@pytest.mark.parametrize("recording", [True, False])
def test_names_of_modules_and_classes_stay_on_one_line_whatever_is_in_them(recording, tmp_path):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module("first\ud800\u202e\n", torch.nn.Linear(2, 2))
            self.add_module("last\ud800\u202e\n", torch.nn.Linear(2, 2))

        def forward(self, x):
            for module in self.children():
                x = module(x).tanh()
            return x.sum()

    Net.__name__ = Net.__qualname__ = "Net \u202e\x1b[31m\n"
    net, x = Net(), torch.ones(1, 2)
    with viz.record() if recording else nullcontext():
        loss = net(x)
    data = payload(loss, retain_graph=True, fold=True)
    boxes = [inner["nodes"][ident] for inner in (data, *data["pictures"]) for ident in inner["insides"]]
    assert boxes and all((box["name"] or "").isprintable() and box["label"].isprintable() for box in boxes)
    assert all(note.isprintable() for note in data["notes"])
    assert all(line.isprintable() for line in str(viz.costs(loss)).splitlines())
    viz.step(loss).save(tmp_path / "page.html")
