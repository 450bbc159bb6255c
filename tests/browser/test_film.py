"""The film on a page: its numbers against the framework's own hooks, keys, clicks, narrow windows, the stepper inside."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

import viz
from tests.browser.pages import opened, until
from viz.films.findings import norm_text
from viz.films.show import page

# every text that is painted, by canvas: the last frame's are those since the last clearRect
PAINTED = r"""
globalThis.painted = [];
const own = CanvasRenderingContext2D.prototype, { fillText, clearRect } = own;
globalThis.sizes = {};
own.fillText = function (text, ...more) {
    const size = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
    globalThis.painted.push(text);
    globalThis.sizes[text] = Math.min(globalThis.sizes[text] ?? size, size);
    return fillText.call(this, text, ...more);
};
own.clearRect = function (...more) { globalThis.painted.length = 0; return clearRect.call(this, ...more); };
"""

# every arrow that is painted, with its width and colour: a line, and right after it its tip, a path of three points. A browser
# that is slow to report sizes must not delay the legend
ARROWS = """
globalThis.ResizeObserver = class { observe() {} disconnect() {} };
globalThis.arrows = [];
const pen = CanvasRenderingContext2D.prototype, last = {};
for (const name of ["beginPath", "moveTo", "lineTo", "stroke", "fill", "clearRect"]) {
    const before = pen[name];
    pen[name] = function (...more) {
        if (name === "clearRect") globalThis.arrows.length = 0;
        if (name === "beginPath") last.way = "";
        if (name === "moveTo" || name === "lineTo") last.way += name[0];
        if (name === "stroke") last.line = { width: this.lineWidth, colour: this.strokeStyle };
        if (name === "fill" && last.way === "mll" && last.line) globalThis.arrows.push(last.line);
        if (name === "fill") last.line = null;
        return before.apply(this, more);
    };
}
"""
# the legend: the decade of each width, and the colours of changes, in a canvas's notation
LEGEND = """() => {
    const [widths, changes] = document.querySelectorAll(".mgf-key svg");
    const c = document.createElement("canvas").getContext("2d");
    return {
        said: widths.getAttribute("aria-label"),
        decades: [...widths.querySelectorAll("text")].map((x) => x.textContent),
        widths: [...widths.querySelectorAll("rect")].map((x) => Number(x.getAttribute("height"))),
        colours: [...changes.querySelectorAll("rect")].map((x) => (c.fillStyle = x.getAttribute("fill"), c.fillStyle)),
    };
}"""


def two(tensor: Any) -> str:
    """The norm of a tensor as the page writes it."""
    return norm_text(np.float32(np.log10(np.linalg.norm(np.asarray(tensor.detach().numpy(), np.float64)))))


def trained(t: Any, steps: int = 6, **options: Any) -> tuple[viz.Film, list[dict[str, str]]]:
    """A film, and for each step what our own hooks saw: what each row receives, and the numbers of the leaves."""
    t.manual_seed(0)
    layers = [t.nn.Linear(3, 5), t.nn.Linear(5, 5), t.nn.Linear(5, 1)]
    named = {f"l{i}.{k}": p for i, layer in enumerate(layers) for k, p in layer.named_parameters()}
    x = t.randn(16, 3)
    film, seen = viz.film(names=named, title="three layers", **options), []
    for _ in range(steps):
        now: dict[str, str] = {}
        h = x
        for i, layer in enumerate(layers):
            h = layer(h)
            if i < 2:
                h = h.relu()
            h.register_hook(lambda g, i=i, now=now: now.__setitem__(f"l{i}", two(g)))
        for p in named.values():
            p.grad = None
        for name, p in named.items():
            now[f"{name} value"] = two(p)
        film.backward(((h - x.sum(dim=1, keepdim=True)) ** 2).mean())
        for name, p in named.items():
            now[f"{name} grad"] = two(p.grad)
        seen.append(now)
        with t.no_grad():
            for p in named.values():
                p -= 0.05 * p.grad
    return film, seen


@pytest.mark.parametrize("framework", ["minigrad", "torch"])
def test_every_number_is_the_frameworks_own(
    browser: Browser, tmp_path: Path, framework: str, request: pytest.FixtureRequest
):
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module(framework)
    film, seen = trained(t)
    text = page([film], None, title=None, at=0).replace("<script>", f"<script>{PAINTED}</script><script>", 1)
    with opened(browser, text, tmp_path, viewport={"width": 1280, "height": 900}) as pane:
        for step, now in enumerate(seen):
            told = pane.page.locator(f'.mgf[data-told="{step}"]')
            told.wait_for()
            rows = {
                row.locator("th").inner_text(): row.locator("td").all_inner_texts()
                for row in pane.page.locator(".mgf-sr tr").all()
            }
            painted = pane.page.evaluate("[...painted]")
            assert list(rows) == ["l2", "l1", "l0"]
            for name, parts in rows.items():
                assert parts[0].split("receives ")[1].split(",")[0].split(";")[0] == now[name]
                assert now[name] in painted
                for leaf in ("weight", "bias"):
                    [text] = [part for part in parts if part.startswith(f"{name}.{leaf} ")]
                    value, grad = now[f"{name}.{leaf} value"], now[f"{name}.{leaf} grad"]
                    assert f"‖value‖ {value}, ‖grad‖ {grad}, " in text
                    assert value in painted and grad in painted
            pane.press("ArrowRight")


def sent(loss: Any, seen: dict[tuple[int, int], float]) -> None:
    """Register our own hooks on every function behind ``loss``: they note the decade of what it sends to each of its inputs."""
    nodes = [loss.grad_fn]
    for k, node in enumerate(nodes):
        nodes += [n for n, _ in node.next_functions if n is not None and n not in nodes]
        # the film folds these two into an arrow
        if "Accumulate" not in node.name() and not node.name().startswith("TBackward"):

            def hook(inputs: tuple, outputs: tuple, k: int = k) -> None:
                for slot, g in enumerate(inputs):
                    if g is not None:
                        numbers = np.asarray(g.detach().numpy(), np.float64)
                        seen[k, slot] = float(np.log10(np.linalg.norm(numbers)))

            node.register_hook(hook)


@pytest.mark.parametrize("framework", ["minigrad", "torch"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_width_and_colour_of_every_arrow_are_those_of_its_norm_in_the_legend(
    browser: Browser, tmp_path: Path, framework: str, theme: str, request: pytest.FixtureRequest
):
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module(framework)
    t.manual_seed(0)
    layers = [t.nn.Linear(3, 5), t.nn.Linear(5, 5), t.nn.Linear(5, 1)]
    leaves = [p for layer in layers for p in layer.parameters()]
    film, frames, used = viz.film(), [], set()
    for _ in range(4):
        h = x = t.randn(16, 3)
        for layer in layers:
            h = layer(h.relu() if h is not x else h)
        loss = ((h - x.sum(dim=1, keepdim=True)) ** 2).mean()
        for p in leaves:
            p.grad = None
        frames.append({})
        sent(loss, frames[-1])
        film.backward(loss)
        with t.no_grad():
            for p in leaves:
                p -= 0.4 * p.grad
    text = page([film], None, title=None, at=0).replace("<script>", f"<script>{ARROWS}</script><script>", 1)
    size = {"width": 1280, "height": 900}
    with opened(browser, text, tmp_path, viewport=size, color_scheme=theme) as pane:
        legend = pane.page.evaluate(LEGEND)
        low, high = (float(x) for x in re.findall(r"1e(-?\d+)", legend["said"]))
        decades = [float(x.removeprefix("1e")) for x in legend["decades"]]
        slope, first = np.polyfit(decades, legend["widths"], 1)
        assert slope > 0 and np.allclose(np.polyval([slope, first], decades), legend["widths"])
        for step, now in enumerate(frames):
            pane.page.locator(f'.mgf[data-told="{step}"]').wait_for()
            expected: dict[str, list[float]] = {}
            for where, decade in now.items():
                change = decade - frames[step - 1][where] if step else 0.0
                grade = int(np.digitize(change, np.log10([1 / 2, 0.909, 1.1, 2])))
                wide = first + slope * min(max(decade, low), high)
                expected.setdefault(legend["colours"][grade], []).append(wide)
            painted: dict[str, list[float]] = {}
            for arrow in pane.page.evaluate("arrows"):
                painted.setdefault(arrow["colour"], []).append(arrow["width"])
            [cursor] = painted.keys() - set(legend["colours"])  # the cursor of the loss: it has a tip, too
            assert len(painted.pop(cursor)) == 1
            assert {c: len(w) for c, w in painted.items()} == {c: len(w) for c, w in expected.items()}
            used |= painted.keys()
            for colour, widths in painted.items():
                assert sorted(widths) == pytest.approx(sorted(expected[colour]), abs=0.02)
            pane.press("ArrowRight")
    assert len(set(legend["colours"])) == 5 and len(used) >= 3 and len(frames[0]) >= 13


@pytest.fixture
def film() -> viz.Film:
    return trained(importlib.import_module("minigrad"), 12, keep=[3])[0]


def test_keys_slider_and_clicks_move_through_the_training(browser: Browser, tmp_path: Path, film: viz.Film):
    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        pane.at(11)  # nothing is wrong, so the film opens at its end
        pane.press("Home")
        pane.at(0)
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        pane.press("End")
        pane.at(11)
        pane.press("PageUp")
        pane.at(1)
        pane.button("Back one frame").click()
        pane.at(0)
        pane.page.get_by_role("slider", name="Training step").fill("7")
        pane.at(7)
        pane.press("ArrowDown", "ArrowDown")
        expect(pane.page.locator(".mgf-row b")).to_have_text("l1")
        canvas = pane.page.locator(".mgf-view canvas").last
        canvas.hover()  # waits until it has its size
        box = canvas.bounding_box()
        canvas.click(position={"x": box["width"] - 16, "y": 100})  # the ribbon's last cell of the first layer
        pane.at(11)
        expect(pane.page.locator(".mgf-row b")).to_have_text("l0")
        pane.press("Home")
        pane.button("More").click()
        pane.page.get_by_role("group", name="Frames per second").get_by_role("button", name="30").click()
        pane.press("Escape")
        pane.press("Space")
        pane.at(11)
        expect(pane.button("Play")).to_be_visible()


def test_a_frame_that_was_kept_opens_in_the_stepper(browser: Browser, tmp_path: Path, film: viz.Film):
    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        inside = pane.button("Step inside ◆")
        looks = "e => { const s = getComputedStyle(e); return [s.borderTopStyle, Number(s.opacity)]; }"
        assert inside.evaluate(looks) == ["solid", 1]
        pane.press("Home")
        expect(inside).to_be_disabled()
        assert inside.evaluate(looks) == ["dashed", 0.65]
        pane.press("ArrowRight", "ArrowRight", "ArrowRight")
        pane.at(3)
        inside.click()
        stepper = pane.page.locator(".mgf-inner .mgv")
        expect(stepper).to_have_attribute("data-step", "0")
        pane.page.keyboard.press("ArrowRight")
        expect(stepper).to_have_attribute("data-step", "1")
        expect(pane.page.locator(".mgf")).to_have_attribute("data-step", "3")  # the film stands still
        pane.button("Close").click()
        expect(stepper).to_have_count(0)


def test_by_keys_alone_a_frame_is_opened_and_left_and_help_is_shown(
    browser: Browser, tmp_path: Path, film: viz.Film
):
    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        keys, stepper = pane.page.keyboard, pane.page.locator(".mgf-inner .mgv")
        pane.press("Home", "ArrowRight", "ArrowRight", "ArrowRight", "Enter")
        expect(stepper).to_have_attribute("data-step", "0")
        keys.press("?")
        expect(stepper.locator(".mgv-help")).to_be_visible()
        keys.press("Escape")
        expect(stepper.locator(".mgv-help")).to_be_hidden()
        keys.press("Escape")
        expect(stepper).to_have_count(0)
        expect(pane.page.locator(".mgf-frame")).to_be_focused()
        keys.press("?")
        expect(pane.page.get_by_text("R scale, enter steps inside")).to_be_visible()
        keys.press("Escape")
        expect(pane.page.get_by_text("R scale, enter steps inside")).to_be_hidden()


def test_a_finding_is_a_button_to_its_step(browser: Browser, tmp_path: Path):
    t = importlib.import_module("minigrad")
    w, made = t.tensor([4.0, 1.0], requires_grad=True), viz.film()
    for step in range(6):
        w.grad = None
        made.backward(((w * (0.0 if step == 3 else 1.0)).sqrt() * 2).tanh().sum())
    with opened(browser, page([made], None, title=None), tmp_path) as pane:
        pane.at(3)  # the film opens where the first alarm begins
        pane.press("End")
        finding = pane.page.locator(".mgf-headline .mgf-alarm", has_text="SqrtBackward0")
        expect(finding).to_contain_text("at step 3")
        finding.click()
        pane.at(3)


@pytest.mark.parametrize("width", [1280, 900, 480])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_window_in_both_themes(
    browser: Browser, tmp_path: Path, film: viz.Film, width: int, scheme: str
):
    window = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with opened(browser, page([film, film], ["a", "b"], title=None), tmp_path, **window) as pane:
        assert pane.page.evaluate("document.documentElement.scrollWidth") <= width
        pane.press("End", "r")
        pane.at(11)
        for canvas in pane.page.locator(".mgf-view canvas").all():
            assert canvas.bounding_box()["width"] <= width


def test_it_is_painted_anew_when_the_theme_around_it_changes(
    browser: Browser, tmp_path: Path, film: viz.Film
):
    text = page([film], None, title=None).replace("<script>", f"<script>{PAINTED}</script><script>", 1)
    with opened(browser, text, tmp_path) as pane:
        for light in ("false", "true"):
            pane.page.evaluate(
                "(light) => { sizes = {}; document.body.dataset.jpThemeLight = light; }", light
            )
            until(pane.page, "'LOSS' in sizes")


@pytest.mark.parametrize("width", [1286, 704])
def test_a_film_of_many_rows_is_in_sight_with_its_controls_and_legend(
    browser: Browser, tmp_path: Path, width: int
):
    """In the space that JupyterLab leaves a cell in windows of 1366 and 900 px; the toolbar takes one line of it."""
    t = importlib.import_module("minigrad")
    net, made = t.nn.Sequential(*[t.nn.Linear(2, 2) for _ in range(20)]), viz.film(keep=[1])
    for _ in range(3):
        made.backward(net(t.ones(1, 2)).sum())
    window = {"viewport": {"width": width, "height": 647}}
    text = page([made], None, title=None).replace("<script>", f"<script>{PAINTED}</script><script>", 1)
    with opened(browser, text, tmp_path, **window) as pane:
        bar, key, frame = (
            pane.page.locator(f".{n}").bounding_box() for n in ("mgv-bar", "mgf-key", "mgf-frame")
        )
        assert 647 >= frame["y"] + frame["height"] >= key["y"] + key["height"]
        assert bar["height"] <= 46
        [caption] = [text for text in pane.page.evaluate("painted") if "flows up" in text]
        assert caption.endswith(("loss", "folded", "down"))  # complete, or without the parts that do not fit
        small = [text for text, size in pane.page.evaluate("sizes").items() if size < 11]
        assert all(re.fullmatch(r"-?[\d.]+(e-?\d+)?|[▲▼]", text) for text in small)  # ticks of an axis
        assert min(pane.page.evaluate("Object.values(sizes)")) >= 10


@pytest.mark.parametrize("width", [480, 360])
def test_what_is_found_is_read_whole_in_a_narrow_window(browser: Browser, tmp_path: Path, width: int):
    t = importlib.import_module("minigrad")
    t.manual_seed(0)
    net, made = t.nn.Sequential(*[t.nn.Linear(2, 2) for _ in range(20)]), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=3.0)
    for _ in range(3):
        optimizer.zero_grad()
        made.backward(3 * net(t.ones(1, 2)).sum())
        optimizer.step()
    window = {"viewport": {"width": width, "height": 700}}
    with opened(browser, page([made], None, title=None), tmp_path, **window) as pane:
        words = pane.page.locator(".mgf-findings")
        assert words.locator(".mgf-finding").count() >= 2
        assert words.locator(".mgf-headline").evaluate("(el) => el.scrollWidth - el.clientWidth") <= 0
        assert words.evaluate("(el) => el.scrollHeight - el.clientHeight") <= 0


def test_a_frame_changes_within_a_sixtieth_of_a_second(browser: Browser, tmp_path: Path, film: viz.Film):
    from benchmarks.bench_film import WALK

    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        session = pane.page.context.new_cdp_session(pane.page)
        # the page's own time, whatever else runs here
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def worked() -> float:
            metrics = session.send("Performance.getMetrics")["metrics"]
            return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

        before = worked()
        frames = len(pane.page.evaluate(WALK))
        assert 0 < (worked() - before) / frames <= 0.016


MARKED = """
globalThis.marks = { zero: 0, none: 0, nan: 0 };
const own = CanvasRenderingContext2D.prototype, { fillRect, clip } = own;
own.fillRect = function (x, y, w, h) {
  if (w === h && w <= 2) marks.zero += 1;
  else if (h === 1) marks.none += 1;
  return fillRect.call(this, x, y, w, h);
};
own.clip = function (...more) { marks.nan += 1; return clip.call(this, ...more); };
"""


@pytest.mark.parametrize("kind", ["fine", "zero", "nan", "none"])
def test_zero_nan_and_not_computed_are_marks_and_not_only_colours(
    browser: Browser, tmp_path: Path, kind: str
):
    """One of twelve frames is special: its cell is a dot, hatched or a rule, and no other cell is."""
    t = importlib.import_module("minigrad")
    w, v, film = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True), viz.film()
    for step in range(12):
        w.grad = v.grad = None
        at = {"zero": 0.0, "nan": float("nan")}.get(kind, 2.0) if step == 5 else 2.0
        film.backward(((w * 3).tanh() * v * at).sum(), inputs=[v] if (kind, step) == ("none", 5) else None)
    assert len(film._tables) == 1
    text = page([film], None, title=None).replace("<script>", f"<script>{MARKED}</script><script>", 1)
    with opened(browser, text, tmp_path) as pane:
        seen = {name for name, count in pane.page.evaluate("marks").items() if count}
    assert seen == ({kind} - {"fine"})


def test_rows_that_hardly_differ_each_have_a_scale_and_show_their_change(browser: Browser, tmp_path: Path):
    """Both fall to a third, which would not be visible on a common scale of decades."""
    t = importlib.import_module("minigrad")
    w, v, made = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True), viz.film()
    for step in range(12):
        w.grad = v.grad = None
        made.backward(((w * 3).tanh() * v).sum() * 0.9**step)
    text = page([made], None, title=None)
    with opened(browser, text, tmp_path, viewport={"width": 1280, "height": 700}) as pane:
        modes = pane.page.get_by_role("group", name="Scale of the ribbon")
        expect(modes.get_by_role("button", name="each row")).to_have_attribute("aria-pressed", "true")
        pane.page.locator('.mgf[data-told="0"]').wait_for()
        told = pane.page.locator(".mgf-sr td", has_text="first → last").all_inner_texts()
        assert told == ["first → last 1.4 → 0.44, falls to 31 %"] * 2
        modes.get_by_role("button", name="all rows").click()
        expect(pane.page.locator(".mgf-key svg").last).to_have_attribute("aria-label", re.compile(r"from 1e"))
        pane.press("r")
        expect(modes.get_by_role("button", name="each row")).to_have_attribute("aria-pressed", "true")
        assert pane.page.locator("select").count() == 0
