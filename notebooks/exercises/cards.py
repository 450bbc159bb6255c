"""How an answer is shown: a card in HTML in the colours of JupyterLab's theme, and one line of plain text.

The HTML has no script, needs no kernel and no style sheet, and survives in a saved notebook. States are shown
by words, and by colour in addition. What comes from a learner is escaped here and nowhere else.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import viz

ACCENT = {
    "not yet": "var(--jp-border-color1, #9e9e9e)",
    "try again": "var(--jp-warn-color1, #d55e00)",
    "your code raised": "var(--jp-error-color1, #c62828)",
    "correct": "var(--jp-success-color1, #2e7d32)",
    "noted": "var(--jp-brand-color1, #0072b2)",
}
TEXT = "color:var(--jp-content-font-color1, currentColor)"
QUIET = "color:var(--jp-content-font-color2, currentColor)"
MONO = "font-family:var(--jp-code-font-family, monospace);font-size:0.95em"
SHADE = "background:var(--jp-layout-color2, rgba(128,128,128,0.14))"
MARKED = re.compile(r"(`[^`]+`|\$[^$]+\$)")
EDITOR = (
    f"{MONO};{TEXT};background:var(--jp-cell-editor-background, rgba(128,128,128,0.1));"
    "border:1px solid var(--jp-cell-editor-border-color, rgba(128,128,128,0.4))"
)
LINE = 108  # characters per line of text/plain


@dataclass(frozen=True)
class Card:
    """What `check`, `hint`, `solution`, `predict` and `progress` return.

    `state` is one word or two ("correct", "try again", ...), `line` the short form, `text` the whole message. `widget` makes
    the widget that replaces the HTML where a front end runs widgets.
    """

    state: str
    line: str
    text: str
    body: str  # HTML
    widget: Callable[[], Any] | None = None

    def __repr__(self) -> str:
        line = plain_text(self.line)
        return line if len(line) <= LINE else line[: LINE - 1].rstrip() + "…"

    def __str__(self) -> str:
        return plain_text(self.text)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if self.widget is None or not viz.widgets():
            return shown
        bundle = self.widget()._repr_mimebundle_(**kwargs)
        return (bundle[0] if isinstance(bundle, tuple) else bundle or {}) | shown

    def _repr_html_(self) -> str:
        accent = ACCENT.get(self.state, ACCENT["noted"])
        return (
            f'<div role="status" style="border-left:4px solid {accent};padding:0.35em 0.9em;margin:0.3em 0;'
            f'max-width:52em;line-height:1.5;{TEXT}">{self.body}</div>'
        )


def heading(state: str, title: str) -> str:
    """The first line of a card: the state in bold, then what it is about."""
    about = f'<span style="{QUIET}">{inline(title)}</span>'
    return f"<div><strong>{html.escape(state.capitalize())}</strong> {about}</div>"


def paragraphs(text: str) -> str:
    """Text with blank lines between paragraphs -> HTML."""
    blocks = [block for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    return "".join(f'<p style="margin:0.3em 0">{inline(" ".join(block.split()))}</p>' for block in blocks)


def inline(text: str) -> str:
    """`code`, **bold**, *stress* and $mathematics$ -> HTML; everything else is escaped."""
    out = []
    for part in MARKED.split(text):
        if len(part) > 2 and part[0] == part[-1] == "`":
            out.append(f'<code style="{MONO};{SHADE};padding:0 0.25em">{html.escape(part[1:-1])}</code>')
        elif len(part) > 2 and part[0] == part[-1] == "$":
            out.append(html.escape(part))
        else:
            part = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", html.escape(part))
            out.append(re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", part))
    return "".join(out)


def plain_text(text: str) -> str:
    """The same text without its marks; mathematics stays as it was typed."""
    out = []
    for part in MARKED.split(text):
        if len(part) > 2 and part[0] == part[-1] and part[0] in "`$":
            out.append(part[1:-1])
        else:
            out.append(re.sub(r"(?<![\w*])(\*{1,2})([^*\s][^*]*)\1(?![\w*])", r"\2", part))
    return "".join(out)


def fold(summary: str, body: str) -> str:
    """A section that the reader opens, by mouse or key: native HTML that needs no kernel and no script."""
    return (
        f'<details style="margin:0.25em 0"><summary style="cursor:pointer">{inline(summary)}</summary>'
        f'<div style="padding-left:1.1em">{body}</div></details>'
    )


def markdown_table(rows: Iterable[Mapping[str, object]]) -> str:
    """A Markdown table from rows of {heading: cell}."""
    rows = list(rows)
    head = [*rows[0]] if rows else []
    lines: list[Iterable[object]] = [head, ["---"] * len(head), *(row.values() for row in rows)]
    escaped = ((str(cell).replace("|", "\\|") for cell in line) for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)


def code_block(source: str) -> str:
    """Python in the colours of the reader's own editor."""
    from pygments.lexers import PythonLexer
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    colours = (
        (Comment, "comment", "#408080"),
        (Keyword, "keyword", "#008000"),
        (String, "string", "#ba2121"),
        (Number, "number", "#008000"),
        (Operator.Word, "keyword", "#008000"),
        (Operator, "operator", "#aa22ff"),
        (Name.Function, "def", "#0000ff"),
        (Name.Class, "def", "#0000ff"),
    )
    spans = []
    for kind, value in PythonLexer(stripnl=False).get_tokens(source):
        colour = next(
            (
                f"var(--jp-mirror-editor-{name}-color, {spare})"
                for token, name, spare in colours
                if kind in token
            ),
            "",
        )
        text = html.escape(value)
        spans.append(f'<span style="color:{colour}">{text}</span>' if colour and value.strip() else text)
    body = "".join(spans).rstrip("\n")
    return f'<pre style="{EDITOR};padding:0.5em 0.8em;margin:0.4em 0;white-space:pre;overflow-x:auto">{body}</pre>'
