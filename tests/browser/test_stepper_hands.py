"""Using the pane by hand: boxes that open, edges with tooltips, the small map, help, links; and how little a step changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import minigrad as mg
import viz
from tests.browser.pages import Pane, displayed, opened, page_of, recorded, until
from tests.browser.test_stepper_fit import PROGRAMS, mlp
from viz.show.page import page
from viz.show.payload import payload


def net(layers: int) -> mg.Tensor:
    h = mg.ones(2, 3)
    for _ in range(layers):
        h = (h @ mg.ones(3, 3).mul(0.4).requires_grad_() + mg.zeros(3, requires_grad=True)).tanh()
    return h.sum()


def place(pane: Pane, ident: str) -> tuple[float, float]:
    box = pane.page.locator(f'[data-toggle="{ident}"]').locator("..").locator(".shape").last.bounding_box()
    return round(box["x"]), round(box["y"])


@pytest.mark.parametrize("key", [None, "Enter", " "])
def test_a_box_opens_and_closes_where_it_stands(browser: Browser, tmp_path: Path, torch, key):
    data = payload(PROGRAMS["attention"](torch), fold=True)
    with opened(browser, page(data), tmp_path, viewport={"width": 1280, "height": 800}) as pane:
        shown = displayed(pane, data)
        box = next(ident for ident, inner in shown["insides"].items() if not inner["folds"])
        members = [f for f, where in shown["folds"].items() if where == box]
        opener = pane.page.locator(f'[data-toggle="{box}"]')
        before = place(pane, box)
        expect(pane.node(members[0])).to_have_count(0)
        opener.press(key) if key else opener.locator("circle").click()
        assert opener.get_attribute("aria-expanded") == "true"
        for f in members:
            expect(pane.node(f)).to_have_count(1)
        expect(opener).to_be_focused()
        frame = pane.page.locator(f'[data-toggle="{box}"]').locator("..").locator("rect").bounding_box()
        for f in members:
            inner = pane.node(f).locator(".shape").first.bounding_box()
            assert frame["x"] <= inner["x"] and inner["x"] + inner["width"] <= frame["x"] + frame["width"]
            assert frame["y"] <= inner["y"] and inner["y"] + inner["height"] <= frame["y"] + frame["height"]
        at = next(k for k, step in enumerate(data["steps"], 1) if step["node"] == members[0])
        pane.go_to(pane.node(members[0]))
        pane.at(at)
        assert "mgv-firing" in pane.node(members[0]).get_attribute("class")
        opener.press("Enter")
        expect(pane.node(members[0])).to_have_count(0)
        assert pane.node(box).count() == 1
        assert place(pane, box) == pytest.approx(before, abs=2)


OUTLINES = """() => [...document.querySelectorAll('.mgv-svg .node .shape')].map((el) => el.getBoundingClientRect())
    .map((r) => [r.left, r.top, r.right, r.bottom])"""


def test_what_was_apart_stays_apart_when_boxes_are_open(browser: Browser, tmp_path: Path, torch):
    with opened(browser, page(payload(PROGRAMS["transformer"](torch))), tmp_path) as pane:
        for _ in range(4):
            pane.page.locator('[data-toggle][aria-expanded="false"]').nth(3).press("Enter")
        boxes = pane.page.evaluate(OUTLINES)
        assert len(boxes) > 25
        for i, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[:i]:
                apart = (
                    right <= other[0] + 1
                    or other[2] <= left + 1
                    or bottom <= other[1] + 1
                    or other[3] <= top + 1
                )
                assert apart


def test_a_click_on_an_edge_shows_what_goes_along_it(browser: Browser, tmp_path: Path):
    data = recorded("diamond")
    step = next(s for s in data["steps"] if s["outgoing"][0]["edge"])
    out, at = step["outgoing"][0], data["steps"].index(step) + 1
    with opened(browser, page(data), tmp_path) as pane:
        line = pane.page.locator(f'.mgv-svg [data-id="{out["edge"]}"] .line')
        x, y = (
            line.evaluate("""(line) => { const p = line.getPointAtLength(line.getTotalLength() * 0.3), m = line.getScreenCTM();
            return [p.x * m.a + m.e, p.y * m.d + m.f]; }""")
        )
        pane.page.mouse.click(x, y)
        pop = pane.page.get_by_role("dialog", name="Details")
        expect(pop).to_contain_text(f"not yet; sent in step {at}")
        pane.press(*["ArrowRight"] * at)
        pane.at(at)
        shown = pop.locator(".mgv-array").get_attribute("data-values")
        assert [float(x) for x in shown.strip("[]").split(",")] == pytest.approx(out["value"]["values"])
        pane.press("Escape")
        expect(pop).to_be_hidden()


def test_a_question_mark_lists_keys_and_legend(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        help_ = pane.page.get_by_role("dialog", name="Keys and legend")
        expect(help_).to_be_hidden()
        pane.press("?")
        for text in ("one step", "play, pause", "backward function", "fires in this step", "part by part"):
            expect(help_).to_contain_text(text)
        box, stage = help_.bounding_box(), pane.page.locator(".mgv-stage").bounding_box()
        assert box["x"] >= stage["x"] and box["x"] + box["width"] <= stage["x"] + stage["width"]
        pane.press("Escape")
        expect(help_).to_be_hidden()
        pane.button("More").click()
        pane.button("Keys and legend (?)").click()
        expect(help_).to_be_visible()


def test_a_page_is_linked_to_at_a_step_and_in_a_view(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        address = pane.page.url
        pane.press("ArrowRight", "ArrowRight")
        expect(pane.page).to_have_url(f"{address}#step=2")
        words = pane.page.get_by_role("group", name="View")
        other = words.locator('[aria-pressed="false"]').first.inner_text()
        words.get_by_role("button", name=other).click()
        pane.button("More").click()
        pane.button("Link").click()
        pop = pane.page.locator(".mgv-pop")
        link = pop.get_by_label("Link", exact=True).input_value()
        assert link.startswith(f"{address}#step=2&view=")
        pane.page.goto("about:blank")
        pane.page.goto(link)
        pane.page.wait_for_selector(".mgv[data-ready]")
        pane.at(2)
        assert words.locator('[aria-pressed="true"]').inner_text() == other
    cards = page(recorded("diamond", view="cards"))
    with opened(browser, cards, tmp_path) as pane:
        pane.page.goto("about:blank")
        pane.page.goto(f"{address}#step=3&view=cards")
        pane.page.wait_for_selector(".mgv[data-ready]")
        pane.at(3)
        assert pane.page.locator(".mgv").get_attribute("data-view") == "cards"


# the largest number of changes that any of the steps 1 to 40 makes in an element
TOUCHED = """async (which) => {
    const slider = document.querySelector('.mgv-slider'), counts = [];
    const seen = new MutationObserver(() => {});
    seen.observe(document.querySelector(which), { subtree: true, childList: true, attributes: true });
    for (let k = 1; k <= 40; k++) {
        slider.value = k;
        slider.dispatchEvent(new Event('input'));
        counts.push(seen.takeRecords().length);
    }
    return Math.max(...counts);
}"""


@pytest.mark.parametrize("options", [{"view": "functions", "fold": False}, {}], ids=["unfolded", "folded"])
def test_a_step_touches_what_it_changes_however_large_the_graph_is(browser: Browser, tmp_path: Path, options):
    """A step in a net ten times as large does not take ten times as long, and causes one layout per step."""
    touched, layouts = [], []
    for layers in (12, 120):
        with opened(browser, page(payload(net(layers), check=False, **options)), tmp_path) as pane:
            touched.append(pane.page.evaluate(TOUCHED, ".mgv-svg"))
            session = pane.page.context.new_cdp_session(pane.page)
            session.send("Performance.enable")

            def laid_out(session=session) -> int:
                found = session.send("Performance.getMetrics")["metrics"]
                return next(int(m["value"]) for m in found if m["name"] == "LayoutCount")

            pane.press("Home")
            pane.at(0)
            before = laid_out()
            pane.press(*["ArrowRight"] * 10)
            pane.at(10)
            layouts.append((laid_out() - before) / 10)
    assert touched[1] <= max(touched[0] + 4, 60)
    assert max(layouts) <= 3


def test_a_step_writes_no_leaf_anew_that_it_does_not_change(browser: Browser, tmp_path: Path):
    """With all leaves shown: rows move up by one, however many sizes the panels try before they fit."""
    touched = []
    for layers in (12, 120):
        with opened(browser, page(payload(net(layers), check=False)), tmp_path) as pane:
            pane.page.locator(".mgv-col-grad summary").click()
            pane.page.locator(".mgv-col-grad .mgv-rest .mgv-part").first.wait_for()  # written when it is open
            touched.append(pane.page.evaluate(TOUCHED, ".mgv-col-grad .mgv-rest"))
    assert max(touched) <= 40, touched


def test_all_leaves_on_show_follow_the_steps(browser: Browser, tmp_path: Path, torch):
    torch.manual_seed(0)
    data = payload(mlp(torch))
    with opened(browser, page(data), tmp_path) as pane:
        pane.page.locator(".mgv-col-grad summary").click()
        for k, step in enumerate(data["steps"], 1):
            pane.press("ArrowRight")
            pane.at(k)
            stored = {
                s["accumulate"]["leaf"]: s["accumulate"]["after"]["values"]
                for s in data["steps"][:k]
                if s["accumulate"]
            }
            shown = pane.grads()
            assert len(shown) == len(data["leaves"])
            for leaf, values in shown.items():
                assert values == (None if leaf not in stored else pytest.approx(stored[leaf], rel=1e-5))
            if step["accumulate"]:
                assert (
                    pane.page.locator(".mgv-changed").get_attribute("data-leaf") == step["accumulate"]["leaf"]
                )


@pytest.mark.parametrize("name", ["diamond", "mlp"])
def test_two_fingers_zoom_what_is_between_them(browser: Browser, tmp_path: Path, name: str):
    """A pinch on a touch screen: the picture grows with the distance between the fingers, and no step is taken."""
    with opened(browser, page_of(name), tmp_path, has_touch=True) as pane:
        box = pane.page.locator(".mgv-view").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        wide = "() => document.querySelector('.mgv-svg').getBoundingClientRect().width"
        before, touch = pane.page.evaluate(wide), pane.page.context.new_cdp_session(pane.page)

        def put(kind: str, *ways: int) -> None:
            points = [
                {"x": x + side * way, "y": y, "id": k} for way in ways for k, side in enumerate((-1, 1))
            ]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        put("touchStart", 40)
        for way in range(45, 81, 5):
            put("touchMove", way)
        put("touchEnd")
        until(pane.page, f"Math.abs(({wide})() / {before} - 2) < 0.3")
        pane.at(0)


@pytest.mark.parametrize("layers", [60, 590])
def test_boxes_that_hold_hundreds_open_down_to_each_node(
    browser: Browser, tmp_path: Path, torch, layers: int
):
    """300 and 3,000 nodes: a box opens to smaller boxes, down to the nodes, whose numbers are the framework's."""
    net = torch.nn.Sequential(*[m for _ in range(layers) for m in (torch.nn.Linear(4, 4), torch.nn.Tanh())])
    stepper = viz.step(net(torch.ones(2, 4)).pow(2).mean(), check=False)
    data = stepper.data
    # as saved in a notebook: for 300 nodes it has the contents of every box, for 3,000 a saved page has them
    html = page(data)
    if layers > 100:
        html = stepper.save(tmp_path / "saved.html").read_text(encoding="utf-8")
    wanted = f"{layers // 2 * 2}.weight"
    step = next(s for s in data["steps"] if s["accumulate"] and s["accumulate"]["leaf"].endswith(wanted))
    number = data["steps"].index(step) + 1
    with opened(browser, html, tmp_path) as pane:
        expect(pane.node(step["node"])).to_have_count(0)
        first = pane.page.locator("[data-toggle]").first.get_attribute("data-toggle")
        picture = next(p for p in (data, *data["pictures"]) if first in p["insides"])
        inside, folds, path = picture["insides"], picture["folds"], []
        while step["node"] in folds:  # the way down to this leaf
            path.append(folds[step["node"]])
            inside, folds = inside[path[-1]]["insides"], inside[path[-1]]["folds"]
        assert len(path) >= 2
        for box in path:
            pane.page.locator(f'[data-toggle="{box}"]').press("Enter")
            expect(pane.page.locator(f'[data-toggle="{box}"]')).to_have_attribute("aria-expanded", "true")
        node = pane.node(step["node"])
        expect(node).to_have_count(1)
        frame = pane.page.locator(f'[data-toggle="{path[-1]}"]').locator("..").locator("rect").bounding_box()
        box = node.locator(".shape").first.bounding_box()
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]
        node.dispatch_event("click")
        pane.button("Go to its step").click()
        pane.at(number)
        shown = json.loads(pane.page.locator(".mgv-changed .mgv-array").get_attribute("data-values"))
        right = dict(net.named_parameters())[wanted].grad.flatten().tolist()
        assert shown == pytest.approx(right, rel=1e-4, abs=1e-9)
        for box in reversed(path):
            pane.page.locator(f'[data-toggle="{box}"]').press("Enter")
        expect(node).to_have_count(0)
        assert pane.page.evaluate(OUTLINES) and pane.node(path[0]).count() == 1


def test_a_box_that_cannot_open_in_an_export_says_where_it_does(browser: Browser, tmp_path: Path, torch):
    net = torch.nn.Sequential(*[m for _ in range(100) for m in (torch.nn.Linear(4, 4), torch.nn.Tanh())])
    stepper = viz.step(net(torch.ones(2, 4)).pow(2).mean(), check=False)
    # saved in a notebook: without the contents of all boxes
    with opened(browser, page(stepper.data), tmp_path) as pane:
        says = pane.page.locator(".mgv-tip", has_text="It opens in a live notebook and in a saved page.")
        first = pane.page.locator("[data-toggle]").first.get_attribute("data-toggle")
        drawn = next(p for p in (stepper.data, *stepper.data["pictures"]) if first in p["insides"])
        outer = next(box for box, inside in drawn["insides"].items() if inside["folds"])
        pane.node(outer).dispatch_event("pointerover")
        expect(pane.page.locator(".mgv-tip")).to_be_visible()
        expect(says).to_have_count(0)
        pane.page.locator(f'[data-toggle="{outer}"]').press("Enter")
        inner = pane.page.locator(".mgv-svg .node.fold:not(:has([data-toggle]))").first
        inner.dispatch_event("pointerover")
        expect(says).to_be_visible()


def test_no_tip_comes_where_the_page_scrolls_under_a_pointer_that_rests(browser: Browser, tmp_path: Path):
    data = recorded("diamond")
    with opened(browser, page(data), tmp_path, viewport={"width": 1100, "height": 500}) as pane:
        pane.page.add_style_tag(content="body { padding-block: 500px }")
        box = pane.node(data["steps"][0]["node"]).bounding_box()
        pane.page.mouse.move(box["x"] + box["width"] / 2, 100)
        pane.page.evaluate("(by) => scrollBy(0, by)", box["y"] + box["height"] / 2 - 100)
        until(pane.page, "document.querySelector('.mgv-svg .node:hover')")
        assert pane.page.locator(".mgv-tip:not([hidden])").count() == 0


def test_no_tip_comes_where_the_picture_moves_under_a_pointer_that_rests(browser: Browser, tmp_path: Path):
    data = payload(net(12), view="functions", fold=False)
    tip = ".mgv-tip:not([hidden])"
    with opened(browser, page(data), tmp_path, viewport={"width": 700, "height": 700}) as pane:
        pane.press("+", "+", "+", "+")
        box = pane.page.locator(".mgv-view").bounding_box()
        pane.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        met = set()
        for step in range(1, len(data["steps"]) + 1):
            pane.press("ArrowRight")
            pane.at(step)
            # Chromium reports the element now under the pointer after painting, within a tenth of a second
            pane.page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))"
            )
            assert pane.page.locator(tip).count() == 0, f"step {step}"
            met.add(pane.page.evaluate("document.querySelector('.mgv-svg .node:hover')?.dataset.id"))
        assert len(met - {None}) > 3  # the picture has moved
        pane.page.mouse.move(box["x"] + 3, box["y"] + 3)
        pane.page.locator(".mgv-svg .node.mgv-firing").hover()
        expect(pane.page.locator(tip)).to_be_visible()
