"""A page of viz open in the browser, with the queries that tests make.

    with opened(browser, page(data)) as pane:
        pane.press("ArrowRight")
        pane.at(1)

Tests wait for what they expect: a browser handles a key or a click in its own time. Once the expected step is shown,
everything else that belongs to it is there too, since a step is shown all at once.

Leaving the block fails the test if the page complained: console error, uncaught exception, any request at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

import minigrad
import viz.show.page
from tests.viz_gallery import GALLERY
from viz.show.payload import payload


def recorded(name: str = "diamond", framework: Any = minigrad, **more: Any) -> dict:
    """The payload of a program of the gallery."""
    result, names = GALLERY[name](framework)
    roots = result if isinstance(result, list) else [result]
    return payload(*roots, names=names, **more)


class Pane:
    """The stepper on a page: its picture, its panels, its keys."""

    def __init__(self, page: Page):
        self.page = page
        self.frame = page.locator(".mgv-frame")

    @property
    def step(self) -> int:
        return int(self.page.locator(".mgv").get_attribute("data-step"))

    def at(self, step: int) -> None:
        """Wait until the pane shows this step."""
        expect(self.page.locator(".mgv")).to_have_attribute("data-step", str(step))

    def asks(self) -> None:
        """Wait until the pane asks a question."""
        expect(self.page.locator(".mgv-ask")).to_be_visible()

    def says(self, text: str) -> None:
        """Wait until the sentence contains this text."""
        expect(self.page.locator(".mgv-sentence")).to_contain_text(text)

    @property
    def sentence(self) -> str:
        return self.page.locator(".mgv-sentence").inner_text()

    def press(self, *keys: str) -> None:
        self.frame.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def more(self, group: str, name: str) -> None:
        """Choose an entry of the menu: more("Overlay", "Saved memory")."""
        self.button("More").click()
        words = self.page.get_by_role("group", name=group, exact=True)
        words.get_by_role("button", name=name, exact=True).click()
        self.page.keyboard.press("Escape")

    def go_to(self, node: Locator) -> None:
        """Select a box of the picture, and go to its step."""
        node.click()
        self.page.get_by_role("dialog", name="Details").get_by_role("button", name="Go to its step").click()

    def node(self, ident: str) -> Locator:
        return self.page.locator(f'.mgv-svg [data-id="{ident}"]')

    def column(self, title: str) -> Locator:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.page.locator(".mgv-col", has=heading)

    def grads(self) -> dict[str, Any]:
        """`.grad` of every leaf as the page shows it: a flat list of numbers, or None."""
        shown = {}
        for row in self.page.locator("[data-leaf]").all():
            array = row.locator(".mgv-array")
            values = json.loads(array.get_attribute("data-values")) if array.count() else None
            shown[row.get_attribute("data-leaf")] = values
        return shown


# the width of an image itself, which may still be loading
WIDTH = "async (image) => { await image.decode(); return image.naturalWidth; }"

IDLE: dict[Browser, Page] = {}  # the window that the last test left open
LOOKS = {"color_scheme": "light", "forced_colors": "none", "reduced_motion": "no-preference"}
EMPTY = """() => { for (const kept of ["localStorage", "sessionStorage"]) try { window[kept].clear(); } catch {} }"""


def until(page: Page, condition: str) -> None:
    """Wait until a JavaScript expression holds, also in a page whose policy forbids evaluating text
    (`wait_for_function` fails there, unless the expression holds when it is first asked)."""
    asked = f"""async () => {{
        for (let k = 0; !({condition}); k++) {{
            if (k === 1500) throw new Error("this never held: " + {json.dumps(condition)});
            await new Promise((done) => setTimeout(done, 20));
        }}
    }}"""
    page.evaluate(asked)


def pointed(target: Locator, aim: Callable[[], None]) -> Locator:
    """Call `aim`, which moves the pointer, until the target is under the pointer; return the target. Elements may
    still be moving: just after a page has scrolled, Chromium may send a link's event to the wrong place, a stepper in a frame,
    which has its own process."""
    for _ in range(100):
        aim()
        if target.evaluate("(it) => it.matches(':hover')"):
            return target
    raise AssertionError(f"something lies over {target}")


@contextmanager
def window(
    browser: Browser,
    allowed: tuple[str, ...] = ("file:", "data:", "about:", "blob:"),
    loud: tuple[str, ...] = ("error",),
    **asked: Any,
) -> Iterator[Page]:
    """A window for a page that must not complain: its console, an uncaught exception, a dialog, and a request for an
    address that does not begin with one of `allowed` fail the test when the block is left.

    It is the window of the last test, emptied, as for someone who reads one page after the other: a new window costs three
    times as much as opening a page in it. A new one is opened after an error, next to another window, and if more
    than its size and theme is requested.
    """
    size = asked.pop("viewport", {"width": 1100, "height": 900})
    looks = {name: asked.pop(name, usual) for name, usual in LOOKS.items()}
    page = None if asked else IDLE.pop(browser, None)
    if page is None:
        page = browser.new_context(**asked).new_page()
    complaints: list[str] = []
    listeners = {
        "console": lambda m: complaints.append(m.text) if m.type in loud else None,
        "pageerror": lambda error: complaints.append(str(error)),
        "dialog": lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        "request": lambda r: None if r.url.startswith(allowed) else complaints.append(r.url),
    }
    try:
        page.set_viewport_size(size)
        page.emulate_media(media="null", **looks)
        for event, listener in listeners.items():
            page.on(event, listener)
        yield page
        assert not complaints, "the page complained:\n" + "\n".join(complaints)
        if not asked and browser not in IDLE:
            for event, listener in listeners.items():
                page.remove_listener(event, listener)
            page.unroute_all()
            page.set_default_timeout(30_000)
            page.evaluate(EMPTY)
            page.mouse.move(-1, -1)
            IDLE[browser] = page
    finally:
        if IDLE.get(browser) is not page:
            page.context.close()


@contextmanager
def opened(browser: Browser, html: str, tmp: Path, **asked: Any) -> Iterator[Pane]:
    """The page, opened from disk as a reader would do it."""
    file = tmp / "page.html"
    file.write_text(html, encoding="utf-8")
    asked = {"reduced_motion": "reduce"} | asked
    with window(browser, (file.as_uri(), "data:", "blob:"), ("error", "warning"), **asked) as page:
        page.goto(file.as_uri())
        page.wait_for_selector(".mgv[data-ready]")
        yield Pane(page)


def page_of(name: str = "diamond", *, options: dict | None = None, **more: Any) -> str:
    """The page of a program of the gallery."""
    return viz.show.page.page(recorded(name, **more), options=options)


def displayed(pane: Pane, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The picture of a payload that the pane shows: the one with the boxes that can be opened."""
    boxes = pane.page.locator(".mgv-svg [data-toggle]").evaluate_all(
        "(all) => all.map((el) => el.dataset.toggle)"
    )
    return next(p for p in (data, *data["pictures"]) if not boxes or boxes[0] in p["insides"])


def inside_of(picture: Mapping[str, Any], box: str) -> Mapping[str, Any] | None:
    """The inside of a box of a picture, or of a box inside it."""
    for ident, inner in picture["insides"].items():
        if found := inner if ident == box else inside_of(inner, box):
            return found
    return None
