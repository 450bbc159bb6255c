"""The lessons as static pages, for a class without Jupyter: every stepper on them works, predictions and typed answers get the
same reply as in a notebook (answers.py), and nothing comes from a network. The pages print completely.

    python -m tools.site [FOLDER]        writes site/index.html, one page per lesson, the glossary, the exam, the gallery, the
                                         API reference, and cards.html: the recaps as cards, to be printed

Takes the notebooks as they are saved, outputs and all (`make notebooks` runs them). Formulas become MathML. Each page has a
field to search all of them (search.py); a folder of them works on any static host, or opened from disk.
"""

from __future__ import annotations

import argparse
import base64
import html
import linecache
import os
import re
import shutil
import struct
import sys
from pathlib import Path

import nbformat
from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
DOCS = ROOT / "docs"
HERE = Path(__file__).parent
sys.path.insert(0, str(NOTEBOOKS))  # the exercises are a package there, beside the lessons that import it

import minigrad  # noqa: E402
import viz  # noqa: E402
from exercises import suite  # noqa: E402
from tools import answers, reference, search  # noqa: E402
from tools.icon import ICON  # noqa: E402
from tools.mathml import STYLE as MATH_STYLE  # noqa: E402
from tools.mathml import formulas_to_mathml  # noqa: E402
from tools.once import once  # noqa: E402

STYLE = (HERE / "site.css").read_text(encoding="utf-8")

SEARCH = f"<script>{(HERE / 'search.js').read_text(encoding='utf-8')}</script>"
# A lesson that can be run: in its own page, or in JupyterLite. Used only where the browser lessons are next to the site.
LIVE = """<div class="live"><button type="button">Run this page</button>
<a href="lite/index.html?lesson={name}">Open it in JupyterLab, in this browser</a>
<span role="status">Nothing to install.</span></div>"""
DOOR = """<p class="live"><a href="lite/index.html?lesson=00_start_here"><strong>Start lesson 0 in this browser</strong></a>
<span>Nothing to install. The first visit downloads about 12 MB.</span></p>"""
DESCRIPTION = (
    "Step through the backward pass of a PyTorch graph, node by node, and see every gradient, saved tensor and rule. "
    "Lessons lead from a slope to an autograd engine of your own."
)
# the site's future address: a preview's picture needs an absolute one
ADDRESS = os.environ.get("SITE_ADDRESS", "")
STEPPER = DOCS / "stepper-light.png"  # the preview of a link to the site
PREVIEW = """
<meta property="og:image" content="{address}stepper.png">
<meta property="og:image:width" content="{wide}">
<meta property="og:image:height" content="{tall}">
<meta property="og:image:alt" content="The stepper: a backward pass, one node at a time.">
<meta name="twitter:card" content="summary_large_image">"""
LINKS = {
    "index": "Lessons",
    "glossary": "Glossary",
    "gallery": "Gallery",
    "exam": "Exam",
    "cards": "Cards",
    "reference": "Reference",
}

CARDS = """
body { max-width: 1180px; } .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(330px, 1fr)); gap: 14px; }
.card { border: 1.5px solid var(--link); border-radius: 10px; padding: 10px 16px; break-inside: avoid; font-size: 14px;
  line-height: 1.42; } .card h2 { margin: 0 0 4px; font-size: 18px; color: var(--link); }
.card ul { margin: 6px 0; padding-left: 18px; }
.card p { margin: 6px 0 0; } .card code { font-size: 12.5px; overflow-wrap: anywhere; }
.card img { display: block; max-width: 100%;
  max-height: 150px; height: auto; object-fit: contain; margin: 6px auto; background: #fff; border-radius: 6px; }
@media print { @page { size: A4; margin: 10mm; } .cards { grid-template-columns: 1fr 1fr; gap: 5mm; }
  .card { border-color: #000; font-size: 8.5pt; line-height: 1.36; } .card h2 { color: #000; font-size: 12pt; }
  .card img { max-height: 28mm; margin: 4px auto; } .card ul { margin: 4px 0; } .card a { color: inherit; }
  h1, .lead { display: none; } }
"""

FIT = """<script>
addEventListener("message", (event) => {
  const frame = [...document.querySelectorAll("iframe")].find((f) => f.contentWindow === event.source);
  const height = Number(event.data && event.data.viz);
  const covers = frame ? -parseFloat(frame.style.marginTop) || 0 : 0;  // the picture under it
  if (frame && height > 0) frame.style.height = `${Math.max(covers, Math.min(4000, Math.ceil(height)))}px`;
});
// what can be scrolled sideways can be reached by key
const reach = () => document.querySelectorAll(".code, .output, pre, table, math, .highlight").forEach((box) => {
  if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0; else box.removeAttribute("tabindex");
});
addEventListener("resize", reach);
reach();
</script>"""

SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' 'self' file:; \
style-src 'unsafe-inline'; img-src data: 'self' file:; worker-src 'self'">
<title>{title}</title>
<meta name="description" content="{description}">
<meta property="og:title" content="{title}">
<meta property="og:description" content="{description}">
<meta property="og:type" content="website">{preview}
<link rel="icon" href="{icon}">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header class="top"><nav aria-label="Site">{links}</nav>
<form class="search" role="search"><input type="search" aria-label="Search lessons, glossary and gallery" placeholder="Search"
autocomplete="off" spellcheck="false"><div class="found" hidden><p role="status"></p><ol></ol></div></form></header>
<main id="text" data-page="{name}">
{before}
{body}
</main>
<footer>{after}</footer>
{scripts}
</body>
</html>
"""


def _code_style() -> str:
    light, dark = (HtmlFormatter(style=s).get_style_defs(".highlight") for s in ("xcode", "github-dark"))
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}"


def _output(output: nbformat.NotebookNode) -> str:
    """The output of a cell, in its richest form; text is escaped."""
    if output.output_type == "stream":
        return f"<pre>{html.escape(output.text)}</pre>"
    if output.output_type == "error":
        return f"<pre>{html.escape(f'{output.ename}: {output.evalue}')}</pre>"
    data = output.get("data", {})
    if "text/html" in data:
        return IMAGE.sub(_drawn, data["text/html"])
    return f"<pre>{html.escape(data.get('text/plain', ''))}</pre>"


# a progress bar, which a saved notebook keeps as it was before the first step
STARTED = re.compile(r".*\| 0/\d+ \[")
# a graph or a film as a picture, which knows its own size
IMAGE = re.compile(r'<img (?![^>]* (?:width|height)=)(?=[^>]*src="data:image/svg\+xml;base64,([^"]*)")')


def _drawn(image: re.Match[str]) -> str:
    """The beginning of an image, with its size."""
    wide, tall = _sides(base64.b64decode(image[1]).decode())
    return f'<img width="{wide}" height="{tall}" '


def _sides(svg: str) -> tuple[int, int]:
    """Width and height of an SVG, in whole pixels, as its viewBox has them."""
    wide, tall = re.search(r'<svg[^>]* viewBox="\S+ \S+ ([\d.]+) ([\d.]+)"', svg).groups()
    return round(float(wide)), round(float(tall))


def size_of(png: bytes) -> tuple[int, int]:
    """Width and height, from a PNG's header."""
    return struct.unpack(">II", png[16:24])


def _asked(cell: nbformat.NotebookNode) -> str:
    """The form of a prediction, an exercise or a question of the exam; "" for any other cell."""
    for tag in cell.metadata.get("tags", []):
        kind, _, key = tag.partition(":")
        if kind in ("predict", "exercise"):
            return answers.form(key, prediction=kind == "predict")
        if kind == "exam":
            return answers.exam_form(int(key))
    return ""


def title_of(notebook: nbformat.NotebookNode, fallback: str) -> str:
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    found = re.search(r"^# +(.+)$", text, re.M)
    return found[1].strip() if found else fallback


def _text(source: str) -> str:
    """A cell of text as HTML; links lead from page to page."""
    source = re.sub(r"\]\(([\w./-]+)\.ipynb(#[^)]*)?\)", r"](\1.html\2)", formulas_to_mathml(source))
    return f'<section class="text">{markdown2html(source)}</section>'


def _code(cell: nbformat.NotebookNode, highlight: Highlight2HTML) -> str:
    """The code of a cell; if it is folded in JupyterLab, only its first line until a reader opens it."""
    shown = highlight(cell.source)
    if not cell.metadata.get("jupyter", {}).get("source_hidden"):
        return shown
    first, *_ = cell.source.splitlines()
    return f"<details><summary><code>{html.escape(first)}</code> …</summary>{shown}</details>"


def lesson_body(cells: list[nbformat.NotebookNode], *, code: bool = True) -> str:
    """The text and outputs of a notebook's cells, and their ``code`` unless it is left out. Raises ValueError for a
    formula that tools/mathml.py does not know."""
    highlight = Highlight2HTML()
    parts = []
    for cell in cells:
        if cell.cell_type == "markdown":
            parts.append(_text(cell.source))
        elif cell.cell_type == "code":
            asked = _asked(cell)
            # for a prediction, only the form is shown
            folded = asked and any(tag.startswith("predict:") for tag in cell.metadata.get("tags", ()))
            parts += [f'<div class="code">{_code(cell, highlight)}</div>'] if code and not folded else []
            kept = [o for o in cell.outputs if not STARTED.match(o.get("data", {}).get("text/plain", ""))]
            shown = [f'<div class="output">{_output(o)}</div>' for o in kept]
            parts += [asked] if asked else shown
    body = "\n".join(parts)
    if "<h2" not in body:  # the glossary's terms come right under its title
        body = re.sub(r"(</?h)3\b", r"\g<1>2", body)
    return body


def page_of(
    name: str,
    title: str,
    body: str,
    beside: str = "",
    *,
    style: str = "",
    live: bool = False,
    description: str = "",
) -> str:
    """A whole page of the site; ``beside``: the links to the pages before and after it; ``live``: its cells can be run."""
    body = once(body)
    # the corner of a table is not a heading
    body = re.sub(r'<th\b(?: scope="\w+")?([^>]*)></th>', r"<td\1></td>", body)
    links = "".join(
        f'<a href="{file}.html"{" aria-current=" + chr(34) + "page" + chr(34) if file == name else ""}>{word}</a>'
        for file, word in LINKS.items()
    )
    wide, tall = size_of(STEPPER.read_bytes())
    before, after = (
        f'<nav class="beside" aria-label="{where}">{beside}</nav>' if beside else ""
        for where in ("Beside this lesson", "On from here")
    )
    return SHELL.format(
        icon=ICON,
        description=html.escape(description or DESCRIPTION),
        preview=PREVIEW.format(address=ADDRESS, wide=wide, tall=tall) if ADDRESS else "",
        name=name,
        title=html.escape(title),
        style=STYLE + MATH_STYLE + answers.STYLE + _code_style() + style,
        links=links,
        before=before + (LIVE.format(name=name) if live else ""),
        after=after,
        scripts=FIT + answers.SCRIPT + SEARCH + ('<script src="live.js"></script>' if live else ""),
        body=body,
    )


def _first_picture(notebook: nbformat.NotebookNode) -> str:
    """The first graph that a lesson draws or steps, as an image; "" if there is none."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            image = re.search(r"<img [^>]*>", output.get("data", {}).get("text/html", ""))
            if re.search(r"viz\.(draw|step)\(", cell.source) and image:
                # on paper nothing can be opened
                name, source = (re.search(rf'{of}="[^"]*"', image[0])[0] for of in ("alt", "src"))
                return IMAGE.sub(_drawn, f"<img {name} {source}>")
    return ""


def cards_body(books: dict[str, nbformat.NotebookNode], every: tuple[suite.Lesson, ...]) -> str:
    """The recap of each lesson as a card, with the first graph that it draws or steps: a page to print."""
    cards = []
    for lesson in every:
        picture = _first_picture(books[lesson.file.removesuffix(".ipynb")])
        text = _text(lesson.recap)
        cards.append(
            f'<article class="card"><h2>{lesson.number}. {html.escape(lesson.title)}</h2>{picture}{text}</article>'
        )
    lead = '<p class="lead">One card per lesson, made of its recap. Print this page, cut, and put it up.</p>'
    return f'<h1>Recap cards</h1>{lead}<div class="cards">{"".join(cards)}</div>'


def gallery_body(folder: Path) -> str:
    """The gallery and the films of docs/ as one page; their pictures are copied into ``folder``."""
    parts = []
    for part in ("gallery", "films"):
        source = DOCS / part
        (folder / part).mkdir(parents=True, exist_ok=True)
        for file in (*source.glob("*.svg"), *source.glob("*.png")):
            shutil.copyfile(file, folder / part / file.name)
        text = (source / "README.md").read_text(encoding="utf-8")
        text = re.sub(r"^Drawn by [^:\n]*\n", "", text, flags=re.M)
        text = text if part == "gallery" else text.replace("# ", "## ", 1)
        pictures = {m[2]: _sized(source / m[2], m[1]) for m in re.finditer(r"!\[([^\]]*)\]\((\S+)\)", text)}
        page = _text(re.sub(r"!\[[^\]]*\]\((\S+)\)", r"PICTURE:\1:", text))
        parts.append(re.sub(r"PICTURE:(\S+?):", lambda m, known=pictures: known[m[1]], page))
    return "\n".join(parts)


def _sized(file: Path, name: str) -> str:
    """A picture of docs/ as an image with its size and its name, and its dark version if there is one."""
    if file.suffix == ".svg":
        wide, tall = _sides(file.read_text(encoding="utf-8"))
    else:
        wide, tall = size_of(file.read_bytes())
    where = f"{file.parent.name}/{file.name}"
    image = f'<img src="{where}" alt="{html.escape(name)}" width="{wide}" height="{tall}">'
    if not file.stem.endswith("-light"):
        return image
    dark = where.replace("-light", "-dark")
    return f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">{image}</picture>'


SHELF = {
    "gallery/paths.svg": "Paths that meet: gradients add up",
    "gallery/modules.svg": "The layers of a model",
    "gallery/double.svg": "A gradient of a gradient",
    "films/depth-light.png": "A film of a training: why deep sigmoid nets do not learn",
}


def shelf() -> str:
    """Four pictures of the gallery, each a link to it."""
    pictures = "".join(
        f'<li><a href="gallery.html">{_sized(DOCS / file, "")}{html.escape(title)}</a></li>'
        for file, title in SHELF.items()
    )
    return f'<ul class="shelf">{pictures}</ul>'


HERO = """x = torch.tensor(2.0, requires_grad=True)
y = x * x
a = y + 1
b = y * 2
z = a + b
"""


# The first stepper plays once, unless the reader's system asks for no motion; whatever a reader does comes first
PLAY_ONCE = """<script>
(() => {
  const still = matchMedia("(prefers-reduced-motion: reduce)"); // asked late: a new frame may not know it yet
  let touched = false;
  const touch = () => { touched = true; };
  for (const event of ["pointerdown", "keydown", "wheel"]) addEventListener(event, touch, { capture: true, once: true });
  const look = setInterval(() => {
    const play = document.querySelector("[data-action=play]");
    if (!play && !touched) return;
    clearInterval(look);
    setTimeout(() => touched || still.matches || play.click(), 900);
  }, 200);
})();
</script>
"""


def hero() -> str:
    """The stepper of the first page: two paths that meet."""
    linecache.cache["<page>"] = (
        len(HERO),
        None,
        HERO.splitlines(keepends=True),
        "<page>",
    )  # the stepper shows its source
    names: dict = {"torch": minigrad}
    exec(compile(HERO, "<page>", "exec"), names)
    stepper = viz.step(names["z"], names={name: names[name] for name in "xyabz"})
    shown = stepper._repr_mimebundle_()["text/html"]
    end = html.escape("</body>")
    assert shown.count(end) == 1
    shown = shown.replace(end, html.escape(PLAY_ONCE) + end)
    return (
        f'<figure class="hero">{shown}<figcaption>A backward pass, node by node. Press ▶ to play it, or click in it and step '
        "with ← and →. The boxes are live: click one to see its rule.</figcaption></figure>"
    )


def front_body(
    notebook: nbformat.NotebookNode | None, every: tuple[suite.Lesson, ...], live: bool = False
) -> str:
    """The first page: a pass to step through, the contents of index.ipynb, pictures; for notebooks without an index, the list
    of lessons. ``live``: it leads to the lessons that run in a browser."""
    if notebook is None:
        table = _text("# Lessons\n\n" + suite.table(every))
        return re.sub(r'href="(\w+)\.ipynb"', r'href="\1.html"', table)
    first, *rest = [c for c in notebook.cells if not c.id.startswith(("progress", "in-jupyter"))]
    page = lesson_body([first]) + (DOOR if live else "") + hero() + lesson_body(rest, code=False)
    page = page.replace("<code>site/cards.html</code>", '<a href="cards.html">cards.html</a>')
    page = re.sub(r'href="(\w+)\.ipynb"', r'href="\1.html"', page)
    return page.replace(
        '<section class="text"><h2 id="What-each',
        f'{_text("## What you will see")}{shelf()}<section class="text"><h2 id="What-each',
    )


def with_browser_lessons(folder: Path, lite: Path = ROOT / "lite") -> bool:
    """Put the output of `make lite`, if any, next to the pages, with scripts that make them live. True if there is any."""
    if (lite / "live.json").is_file():
        shutil.rmtree(folder / "lite", ignore_errors=True)
        shutil.copytree(lite, folder / "lite")
        for name in ("live.js", "live-worker.js"):
            shutil.copyfile(HERE / name, folder / name)
    return (folder / "lite" / "live.json").is_file()


def build(folder: Path, notebooks: Path = NOTEBOOKS, lite: Path = ROOT / "lite") -> list[Path]:
    """Write all pages into ``folder``; returns them, the index first."""
    files = sorted(notebooks.glob("*.ipynb"))
    if not files:
        raise SystemExit(f"there are no notebooks in {notebooks}")
    folder.mkdir(parents=True, exist_ok=True)
    live = with_browser_lessons(folder, lite)
    books = {file.stem: nbformat.read(file, 4) for file in files}
    every = suite.lessons(notebooks)
    bodies = {"index": front_body(books.pop("index", None), every, live)}
    bodies |= {name: lesson_body(book.cells) for name, book in books.items()}
    bodies |= {"gallery": gallery_body(folder), "cards": cards_body(books, every)}
    bodies["reference"] = reference.body()
    titles = {name: title_of(book, name) for name, book in books.items()}
    titles |= {"index": "See automatic differentiation work", "gallery": "Gallery", "cards": "Recap cards"}
    titles["reference"] = "Reference"
    names = [lesson.file.removesuffix(".ipynb") for lesson in every]
    beside = {}
    for before, name, after in zip(["", *names], names, [*names[1:], ""], strict=False):
        arrows = [
            (n, sign.format(html.escape(titles.get(n, ""))))
            for n, sign in ((before, "← {}"), (after, "{} →"))
        ]
        beside[name] = "".join(
            f'<a href="{n}.html">{words}</a>' if n else "<span></span>" for n, words in arrows
        )
    about = {lesson.file.removesuffix(".ipynb"): lesson.objective.replace("`", "") for lesson in every}
    shutil.copyfile(STEPPER, folder / "stepper.png")
    written = []
    for name, body in bodies.items():
        style = CARDS if name == "cards" else ""
        written.append(folder / f"{name}.html")
        written[-1].write_text(
            page_of(
                name,
                titles[name],
                body,
                beside.get(name, ""),
                style=style,
                live=live and name in beside,
                description=about.get(name, ""),
            ),
            encoding="utf-8",
        )
    found = [
        entry
        for name in bodies
        if name != "cards"
        for entry in search.entries(name, titles[name], bodies[name])
    ]
    (folder / "search-index.js").write_text(search.index(found), encoding="utf-8")
    return written


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.site",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=ROOT / "site")
    folder = parser.parse_args().folder
    pages = build(folder)
    print(f"{len(pages)} pages in {folder}: open {pages[0]}")


if __name__ == "__main__":
    main()
