"""What VS Code's notebook does to a widget, as far as a browser can show it: a webview with its own class names, a content
security policy with a nonce, the module loaded from a blob as anywidget does it, and no storage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages import Pane, recorded, window
from viz.show.ask import questions
from viz.show.page import asset, shared

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
WEBVIEW = """<!doctype html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-abc' blob:; \
style-src 'unsafe-inline'; img-src data:">
<style>body { background: var(--vscode-editor-background); }</style></head>
<body class="KIND" data-vscode-theme-kind="KIND" style="--vscode-editor-background: GROUND">
<div id="out"></div>
<script nonce="abc">
Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("The document is sandboxed", "SecurityError"); },
});
(async () => {
  const { js, css, state } = DATA;
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  const { default: widget } = await import(URL.createObjectURL(new Blob([js], { type: "text/javascript" })));
  const heard = {};
  const model = {
    get: (key) => state[key],
    set: (key, value) => { state[key] = value; (heard[`change:${key}`] || []).forEach((f) => f()); },
    on: (event, f) => (heard[event] ||= []).push(f),
    off: () => {}, save_changes: () => {}, send: () => {},
  };
  await widget.render({ model, el: document.getElementById("out") });
})();
</script></body></html>"""


@contextmanager
def webview(
    browser: Browser,
    kind: str,
    ground: str,
    scheme: str,
    state: dict,
    js: str = "",
    css: str = "",
    pane: str = ".mgv",
) -> Iterator[Page]:
    """The page of a widget, the stepper if none is given; `pane` appears when it is ready."""
    js, css = js or asset("stepper.js"), css or asset("stepper.css")
    data = json.dumps({"js": js, "css": css, "state": state})
    html = (
        WEBVIEW.replace("KIND", kind).replace("GROUND", ground).replace("DATA", data.replace("<", "\\u003c"))
    )
    own = ("http://webview.test/", "data:", "blob:")
    with window(browser, own, color_scheme=scheme, reduced_motion="reduce") as page:
        # a separate origin, as a webview has: localStorage exists there, but throws
        page.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html"))
        page.goto("http://webview.test/")
        page.wait_for_selector(f"{pane}[data-ready]")
        yield page


@pytest.mark.parametrize(
    ("kind", "ground", "scheme", "dark"),
    [
        ("vscode-dark", "#1e1e1e", "light", True),
        ("vscode-light", "#ffffff", "dark", False),
        ("vscode-high-contrast", "#000000", "light", True),
        ("vscode-high-contrast vscode-high-contrast-light", "#ffffff", "dark", False),
    ],
)
def test_the_pane_wears_the_editors_theme_not_the_systems(
    browser: Browser, kind: str, ground: str, scheme: str, dark: bool
):
    state = {"data": shared(recorded("mlp")), "step": 0, "options": {"controls": "steps"}}
    with webview(browser, kind, ground, scheme, state) as page:
        pane = Pane(page)
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        colour = page.evaluate("getComputedStyle(document.querySelector('.mgv-frame')).backgroundColor")
        assert (sum(json.loads(colour.replace("rgb(", "[").replace(")", "]"))) < 380) is dark
        assert page.evaluate(CONTRAST) == []


def test_just_show_me_works_where_nothing_can_be_remembered(browser: Browser):
    data = recorded("diamond")
    data["questions"] = questions(data, "gradients")
    state = {
        "data": shared(data),
        "step": 0,
        "options": {"ask": "gradients", "controls": "steps"},
        "answers": [],
    }
    with webview(browser, "vscode-dark", "#1e1e1e", "dark", state) as page:
        pane = Pane(page)
        pane.press("ArrowRight")
        pane.asks()
        pane.button("Just show me from now on").click()
        pane.at(1)
        expect(page.get_by_role("checkbox", name="Ask me")).not_to_be_checked()
        pane.press("ArrowRight")
        pane.at(2)
