"""A recorded pass as one HTML page: the same front end, no kernel, no network, opens from disk.

The program, its style and the payload are packed (deflate, base64) into one block that a few readable lines unpack, so
that a page of 30 nodes stays near 40 KB and can sit in a saved notebook. Reads the files of front/; touches no
widget.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FRONT = Path(__file__).parent / "front"
# the order in which they are joined: each uses those before it
PROGRAM = "elements numbers svg timeline answers columns painting panels asking looking room pane"
# what a page need not carry: imports between the files, indentation, comments
LEFT_OUT = re.compile(
    r'^import \{[^}]*\} from "\./\w+\.js";\n|^ +|^ *//.*\n| // [^"\x27`\n]*$|/\*[^*]*\*/\n?', re.M
)
FRAMED = 640  # pixels, the height of a frame: what a pane in it takes at most, however tall whoever holds it makes it
DIGITS = 7  # of a number in the payload: what float32 carries


@cache
def asset(name: str) -> str:
    """The front end as one text: ``stepper.js``, its files joined to one ES module, or ``stepper.css``."""
    names = [f"{part}.js" for part in PROGRAM.split()] if name == "stepper.js" else [name]
    return "\n".join(LEFT_OUT.sub("", (FRONT / file).read_text(encoding="utf-8")) for file in names)


def slim(data: Any) -> Any:
    """The payload without what the pane can work out: rounded to ``DIGITS`` digits, cells and text not said twice.

    The result is strict JSON: non-finite numbers are the strings "nan", "inf" and "-inf".
    """
    if isinstance(data, bool) or data is None or isinstance(data, (str, int)):
        return data
    if isinstance(data, float):
        return float(f"{data:.{DIGITS}g}") if math.isfinite(data) else str(data)
    if isinstance(data, Mapping):
        thin = {str(key): slim(value) for key, value in data.items()}
        if "shape" in thin and "cells" in thin and "values" in thin:
            thin.pop("text", None)
            cells = thin["cells"]
            if isinstance(cells, dict) and not cells.get("downsampled"):
                thin["cells"] = {"rows": cells["rows"], "cols": cells["cols"], "downsampled": False}
        return thin
    if isinstance(data, (list, tuple)):
        return [slim(value) for value in data]
    return slim(data.item())  # a NumPy scalar


def shared(data: Mapping[str, Any]) -> dict[str, Any]:
    """A slim payload as it is sent: every array once, in ``arrays``; {"$": 7} stands for the eighth of them.

    An array goes along edges, is added, stored and kept, so the same numbers come up many times in a pass. What follows
    from ``values`` (range, cells) is left out: the front end works it out again.
    """
    arrays: list[dict] = []
    known: dict[tuple, int] = {}

    def walk(x: Any) -> Any:
        if isinstance(x, list):
            return [walk(item) for item in x]
        if not isinstance(x, dict):
            return x
        if "shape" not in x or "cells" not in x:
            return {key: walk(value) for key, value in x.items()}
        values = x.get("values")
        key = (x["dtype"], *x["shape"], *map(repr, values)) if values is not None else (repr(x),)
        if key not in known:
            known[key] = len(arrays)
            arrays.append({k: x[k] for k in ("shape", "dtype", "values")} if values is not None else x)
        return {"$": known[key]}

    return walk(data) | {"arrays": arrays}


def picture(svg: str) -> str:
    """An SVG as a data address, for an <img>: nothing inside it can run."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def packed(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: {margin}; background: Canvas; font: 15px/1.5 system-ui, sans-serif; }}
body > * {{ max-width: 1280px; margin-inline: auto; }}
h1 {{ font-size: 19px; font-weight: 650; }}
</style>
</head>
<body>
{heading}<main id="pane"></main>
<noscript><p>This page steps through a backward pass. It needs JavaScript.</p></noscript>
<!-- stepper.js, stepper.css and the recorded pass as JSON: deflated, base64. Nothing is loaded from anywhere. -->
<script type="text/plain" id="packed">{packed}</script>
<script>
(async () => {{
  const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const {{ js, css, data, options }} = JSON.parse(await new Response(stream).text());
  globalThis.recorded = {{ data, options }};
  document.head.append(Object.assign(document.createElement("style"), {{ textContent: css }}));
  // in a frame: whoever holds it may give it the height that it needs, also before the frame is scrolled into sight
  recorded.tell = (pane) => {{
    pane?.settle();
    if (parent !== self) parent.postMessage({{ viz: document.body.offsetHeight }}, "*");
  }};
  const program = `${{js}}\\nconst pane = mount(document.getElementById("pane"), recorded.data, recorded.options);
    recorded.ready = performance.now();
    for (const wait of [0, 100, 1000]) setTimeout(() => recorded.tell(pane), wait);`;
  document.body.append(Object.assign(document.createElement("script"), {{ type: "module", textContent: program }}));
  new ResizeObserver(() => recorded.tell()).observe(document.body);
}})();
</script>
</body>
</html>
"""


def page(
    data: Mapping[str, Any],
    *,
    title: str | None = None,
    options: Mapping[str, Any] | None = None,
    bare: bool = False,
) -> str:
    """The whole page as text. ``bare`` leaves out heading and margin, for a frame inside a notebook.

    ``title`` defaults to one that names the tensor; ``options`` are the pane's (``ask``, ``step``, ...).
    """
    data = slim(data if (options or {}).get("forward") else {**data, "forward": []})
    name = html.escape(title or f"The backward pass of {data.get('title') or 'a tensor'}")
    content = {
        "js": asset("stepper.js"),
        "css": asset("stepper.css"),
        "data": shared(data),
        "options": dict(options or {}),
    }
    return PAGE.format(
        title=name,
        heading="" if bare else f"<h1>{name}</h1>\n",
        margin="0" if bare else "20px",
        packed=packed(content),
    )


def frame(data: Mapping[str, Any], *, options: Mapping[str, Any] | None = None) -> str:
    """HTML for a saved notebook: a plain picture, and over it the stepper in a sandboxed frame.

    An untrusted notebook keeps the picture and loses the frame. Where the frame is allowed it covers the picture, which
    has a fixed height for that.
    """
    tall = round(min(max(float(data["height"]), 60.0), 480.0))
    alt = html.escape(f"Graph of {data.get('title') or 'a tensor'}")
    inside = html.escape(page(data, options={**(options or {}), "framed": FRAMED}, bare=True))
    return (
        f'<img src="{picture(data["svg"])}" alt="{alt}" height="{tall}" '
        f'style="display:block;margin:0;height:{tall}px;max-width:100%;object-fit:contain">'
        f'<iframe title="{alt}, step by step" sandbox="allow-scripts" srcdoc="{inside}" width="100%" height="{FRAMED}" '
        f'style="position:relative;display:block;margin-top:-{tall}px;border:0;width:100%;height:{FRAMED}px;background:Canvas">'
        "</iframe>"
    )
