"""viz.film: every number against the framework's own hooks, on minigrad and PyTorch by the same code."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest

import viz
from viz.films import pass_hooks
from viz.films.frame_table import FrameTable
from viz.films.norms import NONE, alive, length_of

FRAMEWORKS = ["minigrad", "torch"]


def mlp(t: Any, act: str = "ReLU", depth: int = 4, width: int = 5) -> Any:
    layers, inputs = [], 3
    for i in range(depth):
        layers.append(t.nn.Linear(inputs, 1 if i == depth - 1 else width))
        inputs = width
        if i < depth - 1:
            layers.append(getattr(t.nn, act)())
    return t.nn.Sequential(*layers)


def train(t: Any, film: viz.Film, steps: int, act: str = "ReLU", lr: float = 0.1, **more: Any) -> Any:
    t.manual_seed(0)
    model = mlp(t, act, **more)
    x = t.randn(16, 3)
    y = x.sum(dim=1, keepdim=True)
    optimizer = t.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        loss = t.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        film.backward(loss)
        optimizer.step()
    return model


def norm(tensor: Any) -> float:
    return float(np.linalg.norm(np.asarray(tensor.detach().numpy(), np.float64)))


def arrows(film: viz.Film, scene: int = 0) -> dict[tuple[int, int], np.ndarray]:
    """(position of the function, slot) -> norms, one per frame."""
    table = film._tables[scene]
    norms = 10.0 ** table.part("arrow").astype(np.float64)
    return {(a.source, a.slot): norms[:, a.index] for a in table.scene.arrows}


def test_every_arrow_has_the_norm_that_a_hook_of_ones_own_sees(t):
    film = viz.film()
    t.manual_seed(3)
    w, b, v = (
        t.randn(4, 3, requires_grad=True),
        t.randn(3, requires_grad=True),
        t.randn(3, 1, requires_grad=True),
    )
    x = t.randn(8, 4)
    for _ in range(3):
        h = (x @ w + b).relu()
        loss = ((h @ v) ** 2).mean() + (h * h).sum()
        seen, nodes, at = {}, [loss.grad_fn], {loss.grad_fn: 0}
        for k, node in enumerate(nodes):
            for target, _ in node.next_functions:
                if target is not None and target not in at:
                    at[target] = len(nodes)
                    nodes.append(target)
            if node.next_functions:

                def hook(sent, received, k=k, seen=seen):
                    for slot, g in enumerate(sent):
                        if g is not None:
                            seen.setdefault((k, slot), []).append(norm(g))

                node.register_hook(hook)
        w.grad = b.grad = v.grad = None
        film.backward(loss)
        frame = len(film) - 1
        for where, values in arrows(film).items():
            assert values[frame] == pytest.approx(seen[where][0], rel=1e-5)
        for name, leaf in (("w", w), ("b", b), ("v", v)):
            k = film._tables[0].names.index(name)
            assert 10 ** film._tables[0].part("grad")[frame, k] == pytest.approx(norm(leaf.grad), rel=1e-5)
            assert 10 ** film._tables[0].part("value")[frame, k] == pytest.approx(norm(leaf), rel=1e-5)
        with t.no_grad():
            for leaf in (w, b, v):
                leaf -= 0.001 * leaf.grad
    assert len(arrows(film)) >= 8
    assert not film.notes


def later_hooked(t: Any, film: viz.Film | None, kind: str) -> list[dict[tuple[int, int], float]]:
    """Six steps of a net; from the fourth on the user attaches a hook of this kind. Recorded by a film, or by our own hooks."""
    t.manual_seed(0)
    w = [t.randn(3, 3, requires_grad=True) for _ in range(4)]
    x, by_hooks = t.randn(8, 3), []
    for step in range(6):
        h, results = x, []
        for k, each in enumerate(w):
            h = h @ each
            results.append(h)
            h = h.relu() if k < 3 else h
        loss = (h**2).mean()
        for each in w:
            each.grad = None
        if step >= 3 and kind == "result":
            results[1].register_hook(lambda g: g * 3)
        if step == 3 and kind == "leaf":
            w[1].register_hook(lambda g: g * 3)
        if step >= 3 and kind == "function":
            results[2].grad_fn.register_prehook(lambda grads: (grads[0] * 3,))
        if step >= 3 and kind == "accumulator":
            results[2].grad_fn.next_functions[1][0].register_prehook(lambda grads: (grads[0] * 3,))
        nodes, seen = [loss.grad_fn], {}
        for k, node in enumerate(nodes):
            nodes += [n for n, _ in node.next_functions if n is not None and n not in nodes]

            def hook(sent: tuple, _: tuple, k: int = k, seen: dict = seen) -> None:
                seen.update({(k, i): norm(g) for i, g in enumerate(sent) if g is not None})

            if film is None and node.next_functions:
                node.register_hook(hook)
        loss.backward() if film is None else film.backward(loss)
        by_hooks.append(seen)
        with t.no_grad():
            for each in w:
                each -= 0.1 * each.grad
    return by_hooks


@pytest.mark.parametrize("kind", ["none", "result", "leaf", "function", "accumulator"])
def test_a_hook_that_comes_later_is_noticed(t, kind):
    """A film does not measure the same thing twice, as long as no hook is added."""
    film = viz.film(keep=[2, 4])
    later_hooked(t, film, kind)
    by_hooks = later_hooked(t, None, kind)
    for where, values in arrows(film).items():
        assert values.tolist() == pytest.approx([seen[where] for seen in by_hooks], rel=1e-5)
    assert len(film._tables) == 1 and len(arrows(film)) == len(by_hooks[0]) and not film.notes


@pytest.mark.parametrize("kind", ["hook", "rule"])
def test_what_is_written_into_a_gradient_later_is_not_what_was_sent(t, kind):
    class Spoils(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.mul_(3)

    film, w = viz.film(), t.tensor([1.0, -2.0], requires_grad=True)
    h = w * 2
    if kind == "hook":
        h.register_hook(lambda g: (g.mul_(3), None)[1])
    loss = ((Spoils.apply(h) if kind == "rule" else h) ** 2).sum()
    for _ in range(4):
        w.grad = None
        film.backward(loss, retain_graph=True)
        assert w.grad.tolist() == [24.0, -48.0]
    nodes = film._tables[0].scene.names
    sent = next(values for (f, _), values in arrows(film).items() if nodes[f].startswith("Pow"))
    assert sent.tolist() == pytest.approx([80**0.5] * 4, rel=1e-5) and not film.notes


@pytest.mark.parametrize(
    "shape",
    [(5, 3), (16, 3), (16, 8), (2, 4, 3), (2, 3, 4, 4), (8, 3, 2, 2), (6,), (0, 3), (4096, 3), (2056, 2)],
)
def test_zeros_are_counted_for_each_of_several_gradients(shape):
    rng = np.random.default_rng(0)
    several = [np.maximum(rng.standard_normal((*shape, 3)), 0).astype(np.float32)[..., k] for k in range(3)]
    several[1].T[-1:] = 0.0
    several[2][...] = 1.0  # a byte counts up to 255
    for a, (share, units) in zip(several, alive(several), strict=True):
        assert share == pytest.approx(1 - np.count_nonzero(a) / max(a.size, 1) if a.size else 0.0)
        axes = tuple(i for i in range(a.ndim) if i != (1 if a.ndim == 4 else a.ndim - 1))
        assert units == (a.any(axis=axes).tobytes() if a.ndim > 1 and a.size else b"")


def test_the_update_is_what_the_optimizer_moved(t):
    film = viz.film(every=2)
    t.manual_seed(0)
    w = t.randn(3, 2, requires_grad=True)
    moved = []
    for _ in range(5):
        before = np.array(w.detach().numpy())
        w.grad = None
        film.backward((w**2).sum())
        with t.no_grad():
            w -= 0.01 * w.grad
        moved.append(norm(w - t.tensor(before)) / np.linalg.norm(before))
    update = film._tables[0].part("update")[:, 0]
    assert film.steps == [0, 2, 4]
    np.testing.assert_allclose(10 ** update[:2], [moved[0], moved[2]], rtol=1e-4)
    assert update[2] == NONE  # the next pass has not begun: not known, and not zero


def test_a_share_of_zeros_is_the_frameworks_own(t):
    film = viz.film()
    x = t.tensor([[-1.0, 2.0], [-3.0, 4.0], [5.0, -6.0]], requires_grad=True)
    for _ in range(3):  # the first frame reads everything; the others read the gradient from .grad
        x.grad = None
        film.backward(x.relu().sum())
    assert film._tables[0].part("zero").tolist() == [[0.5]] * 3


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_backward_does_what_backward_does(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = t.tensor([3.0, 4.0], requires_grad=True)
    film = viz.film()
    z = x * x * y
    film.backward(z, t.ones(2), retain_graph=True)
    film.backward(z, gradient=2 * t.ones(2), inputs=[x])
    assert x.grad.tolist() == [18.0, 48.0]
    assert y.grad.tolist() == [1.0, 4.0]
    with pytest.raises(RuntimeError, match="second time"):
        film.backward(z, t.ones(2))
    x.grad = None
    film.backward((x**3).sum(), create_graph=True)
    assert x.grad.requires_grad
    film.backward(x.grad.sum())
    assert len(film.steps) == 4
    not_wanted = film._tables[0].names.index("y")
    assert film._tables[0].part("grad")[1, not_wanted] != NONE  # y.grad exists, from the first pass
    with pytest.raises(RuntimeError, match="scalar"):
        film.backward(x * x)


def test_hooks_of_ones_own_are_called_and_see_the_same(t):
    called, film = [], viz.film()
    w = t.tensor([1.0, -2.0], requires_grad=True)
    h = w * 3
    h.register_hook(lambda g: called.append(g.tolist()))
    w.register_hook(lambda g: g * 10)
    film.backward((h * h).sum())
    assert called == [[6.0, -12.0]]
    assert w.grad.tolist() == [180.0, -360.0]
    table = film._tables[0]
    assert 10 ** table.part("grad")[0, 0] == pytest.approx(norm(w.grad))
    last = next(a for a in table.scene.arrows if a.leaf == 0)
    assert 10 ** table.part("arrow")[0, last.index] == pytest.approx(norm(w.grad) / 10)  # before the hook


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-25, 1e30])
def test_a_frame_is_right_where_squares_leave_float32(t, scale):
    film, w = viz.film(), t.tensor([3.0, 4.0], requires_grad=True)
    for _ in range(2):  # the second reads less
        w.grad = None
        film.backward(((w * 2) * scale).sum())
    assert w.grad.tolist() == pytest.approx([2 * scale] * 2) and not film.notes
    for (source, _), values in arrows(film).items():
        true = scale if film._tables[0].scene.names[source] == "MulBackward0" else 1.0
        times = 2 if film._tables[0].scene.edges[-1][0] == source else 1
        assert values.tolist() == pytest.approx([true * times * 2**0.5] * 2, rel=1e-5)
    assert 10 ** film._tables[0].part("grad").astype(float)[1, 0] == pytest.approx(8**0.5 * scale, rel=1e-5)


@pytest.mark.parametrize("raised", [KeyError, KeyboardInterrupt])
def test_hooks_are_gone_whatever_happens(t, monkeypatch, raised):
    film = viz.film()
    w = t.tensor([1.0], requires_grad=True)

    def fail(grad):
        raise raised("mine")

    h = w * 2
    h.register_hook(fail)
    loss = (h * h).sum()
    calls = []
    with pytest.raises(raised, match="mine"):
        film.backward(loss, retain_graph=True)
    assert len(film) == 0
    looked = pass_hooks.PassHooks.look

    def counted(self, *more):
        calls.append(1)
        return looked(self, *more)

    monkeypatch.setattr(pass_hooks.PassHooks, "look", counted)
    other = (w * w).sum()
    film.backward(other, retain_graph=True)
    assert calls
    calls.clear()
    other.backward()
    with pytest.raises(raised, match="mine"):
        loss.backward()
    assert not calls


def test_what_cannot_be_looked_at_is_noted_and_the_pass_runs(t, monkeypatch):
    film = viz.film()
    w = t.tensor([1.0, 2.0], requires_grad=True)
    monkeypatch.setattr(pass_hooks, "length_of", lambda a: 1 / 0)
    film.backward((w * w).sum())
    assert w.grad.tolist() == [2.0, 4.0]
    assert film.notes == ["step 0: some numbers could not be read: division by zero"]


def test_threads_do_not_mix(t):
    film, failed = viz.film(), []

    def work(k):
        try:
            w = t.full((4,), float(k + 1), requires_grad=True)
            for _ in range(20):
                w.grad = None
                film.backward((w * w).sum())
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and not film.notes
    assert len(film) == film._passes == 80
    norms = np.concatenate([10 ** table.part("grad")[:, 0] for table in film._tables])
    assert sorted(np.unique(norms.round(3)).tolist()) == [4.0, 8.0, 12.0, 16.0]


def test_it_is_shown_while_other_threads_train(t, tmp_path):
    """Each picture shows one moment: no frame is added while it is being drawn."""
    film, over = viz.film(), threading.Event()

    def work():
        while not over.is_set():
            w = t.ones(2, 2, requires_grad=True)
            film.backward((w @ w).sum())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        while len(film) < 10:
            time.sleep(0.001)
        for _ in range(5):
            assert "text/html" in film._repr_mimebundle_()
            assert film.save(tmp_path / "a.svg").stat().st_size
            assert not any(f.alarm for f in film.findings if f.kind == "nan")
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert not film.notes


def test_each_thread_measures_the_movement_of_its_own_leaves(t):
    """Another thread's leaves may be in the middle of a pass: reading their ``.grad`` then crashes PyTorch."""
    film = viz.film()

    def work(k):
        w = t.full((4,), 1.0, requires_grad=True)
        for _ in range(50):
            w.grad = None
            film.backward((w * w).sum())
            w.detach()[:] = w.detach() * (1 + k / 10)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not film.notes
    moved = np.concatenate([table.part("update")[:, 0] for table in film._tables])
    shares = Counter(round(x, 3) for x in (10.0 ** moved[moved < NONE]).tolist())
    assert shares == {0.0: 49, 0.1: 49, 0.2: 49, 0.3: 49}


@pytest.mark.parametrize(
    "values", [[1e-25] * 4, [1e30] * 4, [3e-23, 4e-23], [1e-45, 0.0], [], [0.0, 0.0], [3e38] * 3]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms_are_right_for_every_magnitude(values, dtype):
    a = np.array(values, dtype)
    true = float(np.sqrt((a.astype(np.longdouble) ** 2).sum()))
    assert length_of(a) == pytest.approx(true, rel=1e-6, abs=0)


def test_a_norm_says_which_is_not_finite():
    assert np.isnan(length_of(np.array([1.0, np.nan, np.inf], np.float32)))
    assert length_of(np.array([1.0, -np.inf], np.float32)) == np.inf
    assert length_of(np.array([3 + 4j, 0], np.complex64)) == pytest.approx(5)


def test_a_film_is_one_deterministic_line(t):
    film = viz.film(every=5)
    assert repr(film) == "Film(0 frames of 0 steps)"
    train(t, film, 21)
    assert repr(film).startswith("Film(5 frames of 21 steps, loss ")
    assert len(repr(film)) < 110
    bundle = film._repr_mimebundle_()
    assert bundle["text/plain"] == repr(film)
    assert "srcdoc" in bundle["text/html"] and len(bundle["text/html"]) < 150_000
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_both_frameworks_give_the_same_film(torch):
    import minigrad

    a, b = viz.film(), viz.film()
    train(minigrad, a, 6)
    train(torch, b, 6)
    assert repr(a) == repr(b)
    assert [str(f) for f in a.findings] == [str(f) for f in b.findings]
    np.testing.assert_allclose(a._tables[0].decades()[:3], b._tables[0].decades()[:3], atol=2e-4)


def test_ten_thousand_frames_of_fifty_edges_stay_under_ten_megabytes():
    import minigrad as t

    film = viz.film()
    train(t, film, 1, depth=10)
    table: FrameTable = film._tables[0]
    edges = len(table.scene.edges)
    bytes_a_frame = table.width * table.numbers.itemsize / edges * 50
    assert bytes_a_frame * 10_000 < 10e6
    # apart from that, a frame adds only its number, step and loss
    assert len(table.numbers) == table.width
