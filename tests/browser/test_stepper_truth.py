"""Every number that the pane shows, at every step, against the framework's own hooks: folded and not, minigrad and PyTorch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

import minigrad
from tests.browser.pages import displayed, inside_of, opened
from tests.hook_oracle import seen_by_hooks
from viz.run.explain import LISTED_NUMBERS
from viz.show.page import page
from viz.show.payload import payload


def residual(t: Any) -> tuple[Any, dict]:
    """A residual net of 20 blocks, which a fold turns into boxes."""

    class Block(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.up, self.down = t.nn.LayerNorm(3), t.nn.Linear(3, 4), t.nn.Linear(4, 3)

        def forward(self, x):
            return x + self.down(t.nn.functional.gelu(self.up(self.norm(x))))

    t.manual_seed(0)
    net = t.nn.Sequential(*(Block() for _ in range(20)))
    return net(t.randn(2, 3)).pow(2).mean(), dict(net.named_parameters())


def recurrent(t: Any) -> tuple[Any, dict]:
    """An unrolled RNN: three leaves, each used at every step."""
    t.manual_seed(1)
    w, u = (t.randn(2, 2).requires_grad_(True) for _ in range(2))
    b, h = t.zeros(2, requires_grad=True), t.zeros(1, 2)
    for x in t.randn(12, 1, 2):
        h = (x @ w + h @ u + b).tanh()
    return h.sum(), {"w": w, "u": u, "b": b}


def tied(t: Any) -> tuple[Any, dict]:
    """One matrix both looks up words and scores them."""
    t.manual_seed(2)
    table = t.nn.Embedding(4, 3)
    h = table(t.tensor([1, 3, 1]))
    scores = h.tanh() @ table.weight.t()
    return t.nn.functional.cross_entropy(scores, t.tensor([0, 2, 1])), {"table.weight": table.weight}


def two_ends(t: Any) -> tuple[Any, dict]:
    """Two results of one pass, each with a given gradient, with a shared part."""
    t.manual_seed(3)
    w, b = t.randn(3, 2).requires_grad_(True), t.randn(2).requires_grad_(True)
    h = (t.randn(4, 3) @ w + b).sigmoid()
    return [h * h, h.sum(0)], {"w": w, "b": b}


def several(t: Any) -> tuple[Any, dict]:
    """A function with several outputs, of which one is not used and one twice."""
    x = t.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]], requires_grad=True)
    a, _, c = x.unbind(0)
    return (a * c + c).sum() * x.mean(), {"x": x}


PROGRAMS: dict[str, tuple[Callable, dict]] = {
    "residual, folded by module": (residual, {"fold": True}),
    "residual, folded, boxes open": (residual, {"fold": True}),
    "residual, folded": (residual, {"fold": True}),
    "residual": (residual, {"fold": False, "view": "functions"}),
    "rnn, folded": (recurrent, {"fold": True}),
    "rnn": (recurrent, {"fold": False, "view": "functions"}),
    "tied embedding": (tied, {"view": "graph"}),
    "two ends": (two_ends, {"view": "graph"}),
    "two ends, functions": (two_ends, {"view": "functions"}),
    "several outputs": (several, {"view": "graph"}),
    "several outputs, cards": (several, {"view": "cards"}),
}


READ = """async () => {
    const array = (el) => el.matches('.mgv-none') ? null : { values: el.dataset.values ? JSON.parse(el.dataset.values) : null,
        shape: JSON.parse(el.dataset.shape || 'null'),
        text: [...el.querySelectorAll(".mgv-caption > span")].map((e) => e.textContent).join("\\n")
            || `\\n${el.querySelector('svg')?.getAttribute('aria-label').split('from').at(-1)}` };
    const term = (within, role) => within?.querySelector(`.mgv-term[data-role=${role}] :is(.mgv-array, .mgv-none)`);
    const read = (el) => ({ who: '', array: el ? array(el) : null, not: null });
    const flow = document.querySelector('.mgv-flow');
    const sends = () => { // in the order of the edges
        const out = [];
        for (const line of flow.querySelectorAll('.mgv-line-of'))
            for (const i of line.dataset.outs.split(',')) out[i] = read(term(line, 'sent'));
        for (const el of flow.querySelectorAll('[data-out]'))
            out[el.dataset.out] = { who: '', array: null, not: el.innerText };
        return out;
    };
    const receives = () => rows('receives').map((row) => /below/.test(row.note)
        ? { ...row, array: read(term(flow, 'arrives')).array } : row);
    const stores = () => { // before, what arrives, after: the same array where there was none before
        const [before, arrives, after] = ['before', 'arrives', 'after'].map((role) => term(flow, role));
        return [before, arrives, after ?? arrives].map(read);
    };
    const rows = (title) => [...document.querySelectorAll(`.mgv-col-${title} .mgv-part`)].map((row) => {
        const shown = row.querySelector('.mgv-array, .mgv-none'), not = row.querySelector('.mgv-not');
        const who = row.querySelector('.mgv-subject')?.innerText;
        const note = row.querySelector('.mgv-note')?.innerText;
        return { who, array: shown ? array(shown) : null, not: not?.innerText ?? null, note };
    });
    const slider = document.querySelector('.mgv-slider'), steps = [];
    for (let k = 1; k <= Number(slider.max); k++) {
        slider.value = k;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        // of many leaves those that changed last stand there; all of them in every eighth step and in the last
        const more = document.querySelector('.mgv-col-grad details');
        const whole = !more || k % 8 === 0 || k === Number(slider.max);
        const unfold = async (open) => {
            if (more && whole) { more.open = open; await new Promise((done) => setTimeout(done, 0)); }
        };
        await unfold(true);
        const now = document.querySelector('.mgv-svg .mgv-firing');
        const tipOf = (node) => {
            node.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, clientX: 5, clientY: 5 }));
            const parts = [...document.querySelectorAll('.mgv-tip .mgv-part')];
            const row = parts.find((row) => row.firstChild.innerText === 'grad');
            return { text: document.querySelector('.mgv-tip').innerText,
                grad: row ? array(row.querySelector('.mgv-array')) : null };
        };
        const all = whole && (k % 32 === 0 || k === Number(slider.max) || slider.max < 60);
        const hovered = all ? [...document.querySelectorAll('.mgv-svg g.node[data-id]')] : [now];
        const tips = hovered.map((node) => [node.dataset.id, tipOf(node)]);
        const { grad: tip } = tips.find(([id]) => id === now.dataset.id)[1];
        steps.push({ sentence: document.querySelector('.mgv-sentence').innerText,
            receives: receives().length ? receives() : [read(term(flow, 'arrives'))], sends: sends(), stores: stores(),
            marked: [...document.querySelectorAll('.mgv-changed')].map((e) => e.dataset.leaf),
            grads: [...document.querySelectorAll('[data-leaf]')].map((row) => [row.dataset.leaf,
                array(row.querySelector('.mgv-array, .mgv-none'))]),
            now: now.dataset.id, tip, tips,
            arrows: [...document.querySelectorAll('.mgv-svg .edge .mgv-label')].map((label) => [label.parentNode.dataset.id,
                label.parentNode.classList.contains('mgv-active'), label.dataset.sent]),
            short: [...document.querySelectorAll('.mgv-svg .edge.mgv-active .line')]
                .filter((line) => line.getTotalLength() < 24).map((line) => line.parentNode.dataset.id), whole });
        await unfold(false);
    }
    return JSON.stringify(steps); // 3 MB, which playwright would take apart number by number
}"""


def insides(drawn: dict) -> list[dict]:
    """The contents of the boxes of a picture, and of the boxes in them."""
    return [one for inside in drawn["insides"].values() for one in (inside, *insides(inside))]


def numbers(text: str) -> list[float]:
    return [float(x.replace("−", "-")) for x in re.findall(r"[-−]?\d+(?:\.\d+)?(?:e[-−]?\d+)?", text)]


def same(shown: dict | None, true: np.ndarray | None, where: str) -> None:
    """One array of the pane: all of its numbers, or its shape and range."""
    if true is None or shown is None:
        assert (shown is None) is (true is None), where
        return
    assert shown["shape"] == list(true.shape), where
    if shown["values"] is not None:
        np.testing.assert_allclose(shown["values"], true.ravel(), rtol=2e-6, atol=1e-9, err_msg=where)
    else:
        np.testing.assert_allclose(
            numbers(shown["text"].split("\n")[1])[:2], [true.min(), true.max()], rtol=2e-3, err_msg=where
        )


def same_text(text: str, true: np.ndarray, where: str) -> None:
    """What is written on an arrow: one number, or the shape with the numbers or the range."""
    found = numbers(text)
    if true.size == 1:
        wanted = [float(true.ravel()[0]), *true.shape]
    elif true.size <= 16:
        wanted = [*true.shape, *true.ravel()]
    else:
        wanted = [*true.shape, true.min(), true.max()]
    np.testing.assert_allclose(found, wanted, rtol=6e-3, atol=1e-12, err_msg=where)


@pytest.mark.parametrize("framework", ["minigrad", "torch"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_number_is_the_frameworks_own(browser: Browser, tmp_path: Path, request, name, framework):
    t = request.getfixturevalue("torch") if framework == "torch" else minigrad
    program, options = PROGRAMS[name]
    result, leaves = program(t)
    results = result if isinstance(result, list) else [result]
    given = [0.5 * k * t.ones(tuple(r.shape)) for k, r in enumerate(results, 1)] if len(results) > 1 else None
    true = seen_by_hooks(result, leaves, given)
    result, leaves = program(t)
    results = result if isinstance(result, list) else [result]
    data = payload(*results, gradient=given, names=leaves, check=False, **options)
    assert [step["name"] for step in data["steps"]] == [f.name.rsplit("::")[-1] for f in true]
    assert bool(data["folds"]) is ("folded" in name)
    with opened(browser, page(data), tmp_path) as pane:
        shown = displayed(pane, data)
        folds = dict(shown["folds"])
        for _ in range(4 if "open" in name else 0):
            opener = pane.page.locator('[data-toggle][aria-expanded="false"]').first
            box = opener.get_attribute("data-toggle")
            opener.press("Enter")
            folds = {node: where for node, where in folds.items() if where != box}
            folds |= inside_of(shown, box)["folds"]
        walked = json.loads(pane.page.evaluate(READ))
    nodes = [*data["nodes"].items(), *(n for inside in insides(data) for n in inside["nodes"].items())]
    drawn = {
        ident: (n["function"], n["kind"], n["name"], n["output"]) for ident, n in nodes if not n["members"]
    }
    last: dict[str, np.ndarray] = {}  # what went along each edge, newest last
    # what each node receives, output by output; shown once all parts have arrived, which is when the node is ready
    arrives = {step["node"]: fired.receives for step, fired in zip(data["steps"], true, strict=True)}
    got: dict[str, list] = {}
    for k, (step, fired, said) in enumerate(zip(data["steps"], true, walked, strict=True), 1):
        where = f"step {k}, {fired.name} of {step['tensor']}"
        assert said["sentence"].startswith(f"Step {k} of {len(true)}. "), where
        assert said["now"] == folds.get(step["node"], step["node"]), where
        received = [r for r in fired.receives if r is not None]
        # what arrives: the parts and, if several meet or there are several outputs, the sum of each
        totals = [row["array"] for row in said["receives"] if "total" in row["who"]]
        if len(fired.receives) > 1:
            for row, array in zip(totals, fired.receives, strict=True):
                same(row, array, where)
        else:
            same(totals[0] if totals else said["receives"][0]["array"], received[0], where)
            parts = [row["array"]["values"] for row in said["receives"] if "total" not in row["who"]]
            if len(totals) == 1 and None not in parts:
                np.testing.assert_allclose(np.sum(parts, axis=0), received[0].ravel(), rtol=1e-5, atol=1e-8)
        got |= {node: arrives[node] for node in (step["node"], *step["ready"])}
        for row, array in zip(said["sends"], fired.sends, strict=False):
            if row["not"] is None:
                same(row["array"], array, where)
        # .grad of every leaf, in the panel and where it is stored
        grads = dict(said["grads"])
        assert len(said["grads"]) == len(grads), where
        assert set(grads) <= set(fired.grads), where
        assert len(grads) == len(fired.grads) or not said["whole"], where
        for leaf, shown in grads.items():
            same(shown, fired.grads[leaf], f"{where}, {leaf}.grad")
        if step["accumulate"]:
            assert said["marked"] == [step["accumulate"]["leaf"]], where
            same(said["stores"][2]["array"], fired.grads[step["accumulate"]["leaf"]], where)
            same(said["stores"][1]["array"], received[0], where)
        else:
            assert said["marked"] == [], where
        # the tooltip of the active box, if it is a single node
        if said["tip"] is not None:
            wanted = fired.grads[step["accumulate"]["leaf"]] if step["accumulate"] else received[0]
            same(said["tip"], wanted, f"{where}, tip")
        # the tooltips of boxes with one node: the gradient of a tensor, .grad of a leaf, nothing before it has arrived
        for ident, tip in said["tips"]:
            f, kind, name, output = drawn.get(ident, (None,) * 4)
            assert ".grad is" not in tip["text"]
            if kind in ("leaf", "accumulate"):
                same(tip["grad"], fired.grads[name], f"{where}, tip of {name}")
            elif kind in ("function", "tensor"):
                arrays = [a for a in got.get(f, ()) if a is not None]
                wanted = got[f][output] if kind == "tensor" and f in got else next(iter(arrays), None)
                same(tip["grad"], wanted, f"{where}, tip of {name}")
        # the arrows: what goes along them now, and what went before
        now: dict[str, list] = {}
        for out, array in zip(step["outgoing"], fired.sends, strict=False):
            if out["edge"] and out["value"] is not None:
                last[out["edge"]] = array
                now.setdefault(data["lines"].get(out["edge"], out["edge"]), []).append(array)
        told = numbers(said["sentence"])
        stored = fired.grads[step["accumulate"]["leaf"]] if step["accumulate"] else None
        # every number, or the smallest and the largest; for several large arrays only the shape
        for array in received if stored is None else [stored]:
            if len(received) > 1 and array.size > LISTED_NUMBERS:
                continue
            wanted = [array.ravel().tolist(), [float(array.min()), float(array.max())]]
            near = [all(any(abs(n - x) <= 1e-3 * abs(x) for n in told) for x in one) for one in wanted]
            assert any(near), f"{where}: {said['sentence']}"
        for line, hot, text in said["arrows"]:
            if hot and line in now:
                if len(now[line]) == 1:
                    same_text(text, now[line][0], f"{where}, arrow {line}")
                else:
                    assert text.count(";") == len(now[line]) - 1
            elif not hot:
                assert line not in data["lines"].values(), f"{where}: {line} stands for several edges"
                same_text(text, last[line], f"{where}, arrow {line}")
        # an arrow shorter than the height of a number has no room for one: the panels show it
        hot = {line for line, is_hot, _ in said["arrows"] if is_hot} | set(said["short"])
        assert {line for line in now if line in data["edges"]} <= hot, where
