"""The index for the site's search (search.js): the text of every page, heading by heading.

It is a file of JavaScript beside the pages, since a page that is opened from a folder may load a script but cannot read a file.
"""

from __future__ import annotations

import html
import json
import re

HEADING = re.compile(r'<h[1-4] id="(?P<anchor>[^"]*)">(?P<heading>.*?)</h[1-4]>', re.S)
# elements that are not text: replies to answers, pictures, the sign after a heading
LEFT_OUT = re.compile(
    r'<(form|iframe|style|script|svg|annotation)\b.*?</\1>|<a class="anchor-link".*?</a>|<img[^>]*>', re.S
)
WITHIN = re.compile(r"</?(?:span|code|a|em|strong|b|i|kbd)\b[^>]*>")  # tags that do not separate words
LONGEST = 4000  # at most this many characters are kept under one heading

Entry = tuple[str, str, str, str, str]  # page, its title, anchor, heading, text


def text_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", WITHIN.sub("", LEFT_OUT.sub(" ", markup)))).split())


def entries(page: str, title: str, body: str) -> list[Entry]:
    """The text under each heading of a page, and before the first."""
    marks = list(HEADING.finditer(body))
    starts = [("", "", 0), *((m["anchor"], text_of(m["heading"]), m.end()) for m in marks)]
    ends = [*(m.start() for m in marks), len(body)]
    found = [
        (page, title, html.unescape(anchor), heading, text_of(body[start:end])[:LONGEST])
        for (anchor, heading, start), end in zip(starts, ends, strict=True)
    ]
    return [entry for entry in found if entry[3] or entry[4]]


def index(found: list[Entry]) -> str:
    """The file: one statement."""
    rows = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in found)
    return f"globalThis.SEARCH = [\n{rows}\n];\n"
