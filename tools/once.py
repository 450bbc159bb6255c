"""Put the program of steppers and films into a page once: each frame of a saved notebook carries it, and the exam has ten.

    once(body)      the HTML of a page's body, in which the frames ask the page for their program

A frame's page unpacks itself with `viz/show/front/inflate.js`, and so does this one, when a frame first asks for its program.
"""

from __future__ import annotations

import html
import json
import re
import zlib

import numpy as np

from viz.show.page import DIGITS_85, asset, packed, text_of

FRAME = re.compile(r'(<iframe class="viz-live"[^>]* srcdoc=")([^"]*)(")')
PACKED = re.compile(r'(<script type="text/plain" id="packed">)([^<]*)(</script>)')
# how a page unpacks itself, and how it does so if its program comes from outside
WHOLE = re.compile(r"const \{ js, css, data, options \} = (.+);")
PARTED = r"""const { data, options } = \1;
  const { js, css } = await new Promise((done) => {
    addEventListener("message", (event) => { if (event.data?.js) done(event.data); });
    parent.postMessage({ program: @number@ }, "*");
  });"""
GIVES = """<script>
@inflate@{
  const unpacked = new Map();
  const read = async (text) => JSON.parse(await new Response(inflate(text)).text());
  addEventListener("message", async ({ data, source }) => {
    const program = document.getElementById(`program-${data && data.program}`);
    if (!program) return;
    if (!unpacked.has(program)) unpacked.set(program, read(program.textContent));
    source.postMessage(await unpacked.get(program), "*");
  });
}
</script>"""


def once(body: str) -> str:
    """The body with each program that two or more frames carry sent only once, before them. Other frames stay as they are."""
    frames = [_read(html.unescape(found[2])) for found in FRAME.finditer(body)]
    texts = [text_of({"js": frame["js"], "css": frame["css"]}) if frame else "" for frame in frames]
    shared = [text for text in dict.fromkeys(texts) if text and texts.count(text) > 1]
    if not shared:
        return body
    scripts = [
        f'<script type="text/plain" id="program-{number}">{packed("", text)}</script>'
        for number, text in enumerate(shared)
    ]

    gives = GIVES.replace("@inflate@", asset("inflate.js"))
    each = iter(zip(frames, texts, strict=True))

    def smaller(found: re.Match) -> str:
        frame, text = next(each)
        if text not in shared:
            return found[0]
        page = html.unescape(found[2])
        rest = packed("", text_of({"options": frame["options"], "data": frame["data"]}))
        page = PACKED.sub(lambda part: part[1] + rest + part[3], page, count=1)
        page = WHOLE.sub(PARTED.replace("@number@", str(shared.index(text))), page, count=1)
        return found[1] + html.escape(page) + found[3]

    return "\n".join([*scripts, gives, FRAME.sub(smaller, body)])


def _read(page: str) -> dict | None:
    """The packed contents of a frame's page; None for a page that unpacks itself differently."""
    found = PACKED.search(page)
    if found is None or not WHOLE.search(page):
        return None
    digits = np.frombuffer(found[2].encode("ascii"), np.uint8)
    value = np.zeros(256, np.int64)
    value[list(DIGITS_85.encode())] = np.arange(85)
    spare = -len(digits) % 5
    words = np.append(value[digits], np.full(spare, 84)).reshape(-1, 5) @ 85 ** np.arange(4, -1, -1)
    data = words.astype(">u4").tobytes()[: len(digits) * 4 // 5]
    return json.loads(zlib.decompress(data))
