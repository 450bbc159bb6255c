"""The lessons as static pages, for a class without Jupyter: every stepper on them steps, predictions and typed answers get
the reply that they get in a notebook (answers.py), nothing comes from a network. They print whole.

    python -m tools.site [FOLDER]        writes site/index.html, one page a lesson, the glossary, the exam, and cards.html:
                                         the recaps as cards, to be printed for the wall

Takes the notebooks as they are saved, outputs and all (`make notebooks` runs them). Formulas become MathML.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import nbformat
from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))  # the exercises are a package there, beside the lessons that import it

from exercises import suite  # noqa: E402
from tools import answers  # noqa: E402
from tools.mathml import STYLE as MATH_STYLE  # noqa: E402
from tools.mathml import formulas_to_mathml  # noqa: E402

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --mute: #57606a; --ground: #fff; --raised: #f6f8fa;
  --rule: #d8dee4; --link: #0b62a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --mute: #a3adb8; --ground: #111418; --raised: #1a1f26; --rule: #303840; --link: #58b0ec; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 20px 80px; max-width: 1080px; color: var(--ink); background: var(--ground);
  font: 17px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.text { max-width: 46em; } .text > :first-child { margin-top: 0.6em; }
h1 { font-size: 30px; line-height: 1.2; } h2 { font-size: 22px; margin-top: 1.8em; } h3 { font-size: 18px; margin-top: 1.5em; }
a { color: var(--link); } nav { display: flex; justify-content: space-between; gap: 16px; color: var(--mute); font-size: 15px; }
pre, code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: 14px; }
.code { margin: 14px 0 0; padding: 10px 14px; background: var(--raised); border: 1px solid var(--rule);
  border-radius: 7px; overflow-x: auto; }
.code pre { margin: 0; line-height: 1.5; } .code .highlight { background: none; }
.output { margin: 6px 0 0; padding: 2px 14px; overflow-x: auto; } .output > pre { margin: 4px 0; line-height: 1.45; }
.output img { max-width: 100%; background: #fff; border-radius: 6px; }
table { border-collapse: collapse; } td, th { padding: 4px 10px; border: 1px solid var(--rule); text-align: left; }
.text table { display: block; width: max-content; }
.text pre, .text table, math[display="block"] { max-width: 100%; overflow-x: auto; overflow-y: hidden; }
.output table { max-width: 100%; } .output svg { display: block; }
math[display="block"] { margin: 14px 0; font-size: 1.1em; } math { font-size: 1.06em; }
.anchor-link { display: none; }
blockquote { margin: 0; padding-left: 14px; border-left: 3px solid var(--rule); color: var(--mute); }
"""

CARDS = """
body { max-width: 1180px; } .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(330px, 1fr)); gap: 14px; }
.card { border: 1.5px solid var(--link); border-radius: 10px; padding: 10px 16px; break-inside: avoid; font-size: 14px;
  line-height: 1.42; } .card h2 { margin: 0 0 4px; font-size: 18px; color: var(--link); }
.card ul { margin: 6px 0; padding-left: 18px; }
.card p { margin: 6px 0 0; } .card code { font-size: 12.5px; overflow-wrap: anywhere; }
.card img { display: block; max-width: 100%;
  max-height: 150px; margin: 6px auto; background: #fff; border-radius: 6px; }
@media print { @page { size: A4; margin: 10mm; } .cards { display: block; columns: 2; column-gap: 8mm; }
  .card { margin: 0 0 6mm; border-color: #000; font-size: 9.5pt; } .card h2 { color: #000; } h1, .lead { display: none; } }
"""

FIT = """<script>
addEventListener("message", (event) => {
  const frame = [...document.querySelectorAll("iframe")].find((f) => f.contentWindow === event.source);
  const height = Number(event.data && event.data.viz);
  if (frame && height > 0) frame.style.height = `${Math.min(4000, Math.ceil(height))}px`;
});
</script>"""

SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{nav}
{body}
{nav}
{fit}
</body>
</html>
"""


def _code_style() -> str:
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return f"{HtmlFormatter(style='xcode').get_style_defs('.highlight')}\n@media (prefers-color-scheme: dark) {{ {dark} }}"


def _output(output: nbformat.NotebookNode) -> str:
    """What a cell showed, richest form first; text is escaped."""
    if output.output_type == "stream":
        return f"<pre>{html.escape(output.text)}</pre>"
    if output.output_type == "error":
        return f"<pre>{html.escape(f'{output.ename}: {output.evalue}')}</pre>"
    data = output.get("data", {})
    if "text/html" in data:
        return data["text/html"]
    for form in ("image/png", "image/jpeg"):
        if form in data:
            return f'<img src="data:{form};base64,{data[form].strip()}" alt="">'
    return f"<pre>{html.escape(data.get('text/plain', ''))}</pre>"


def _asked(cell: nbformat.NotebookNode) -> str:
    """The form of a prediction or an exercise; "" for any other cell."""
    for tag in cell.metadata.get("tags", []):
        kind, _, key = tag.partition(":")
        if kind in ("predict", "exercise"):
            return answers.form(key, prediction=kind == "predict")
    return ""


def title_of(notebook: nbformat.NotebookNode, fallback: str) -> str:
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    found = re.search(r"^# +(.+)$", text, re.M)
    return found[1].strip() if found else fallback


def _text(source: str) -> str:
    """A cell of text as HTML; links lead from page to page."""
    source = re.sub(r"\]\(([\w./-]+)\.ipynb(#[^)]*)?\)", r"](\1.html\2)", formulas_to_mathml(source))
    return f'<section class="text">{markdown2html(source)}</section>'


def lesson_page(notebook: nbformat.NotebookNode, name: str, nav: str = "", *, code: bool = True) -> str:
    """One notebook as one page; without its ``code`` only what it says and shows. Raises ValueError for a formula that
    tools/mathml.py does not know."""
    highlight = Highlight2HTML()
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(_text(cell.source))
        elif cell.cell_type == "code":
            asked = _asked(cell)
            parts += [f'<div class="code">{highlight(cell.source)}</div>'] if code else []
            parts += [asked] if asked else [f'<div class="output">{_output(o)}</div>' for o in cell.outputs]
    return _page(title_of(notebook, name), "\n".join(parts), nav)


def _page(title: str, body: str, nav: str = "", *, style: str = "") -> str:
    return SHELL.format(
        title=html.escape(title),
        style=STYLE + MATH_STYLE + answers.STYLE + _code_style() + style,
        nav=nav,
        fit=FIT + answers.SCRIPT,
        body=body,
    )


def _first_picture(notebook: nbformat.NotebookNode) -> str:
    """The first graph that a lesson draws, as an image; "" if it draws none."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown = output.get("data", {}).get("text/html", "")
            if "viz.draw(" in cell.source and shown.startswith("<img"):
                return shown
    return ""


def cards_page(books: dict[str, nbformat.NotebookNode], every: tuple[suite.Lesson, ...]) -> str:
    """The recap of each lesson as a card, with the first graph that it draws: a page to print."""
    cards = []
    for lesson in every:
        picture = _first_picture(books[lesson.file.removesuffix(".ipynb")])
        text = _text(lesson.recap)
        cards.append(
            f'<article class="card"><h2>{lesson.number}. {html.escape(lesson.title)}</h2>{picture}{text}</article>'
        )
    lead = '<p class="lead">One card a lesson, made of its recap. Print this page, cut, and put it up.</p>'
    body = f'<h1>Recap cards</h1>{lead}<div class="cards">{"".join(cards)}</div>'
    return _page(
        "Recap cards",
        body,
        '<nav><span></span><a href="index.html">All lessons</a><span></span></nav>',
        style=CARDS,
    )


def build(folder: Path, notebooks: Path = NOTEBOOKS) -> list[Path]:
    """Write all pages into ``folder``; returns them, the index first."""
    files = sorted(notebooks.glob("*.ipynb"))
    if not files:
        raise SystemExit(f"there are no notebooks in {notebooks}")
    folder.mkdir(parents=True, exist_ok=True)
    books = {file.stem: nbformat.read(file, 4) for file in files}
    front = books.pop("index", None)
    every = suite.lessons(notebooks)
    pages = {"index": _front(front, every), "cards": cards_page(books, every)}
    names = [lesson.file.removesuffix(".ipynb") for lesson in every]
    for name, book in books.items():
        i = names.index(name) if name in names else None
        before = names[i - 1] if i else None
        after = names[i + 1] if i is not None and i + 1 < len(names) else None
        beside = [
            f'<a href="{n}.html">{sign.format(html.escape(title_of(books[n], n)))}</a>'
            if n
            else "<span></span>"
            for n, sign in ((before, "← {}"), (after, "{} →"))
        ]
        pages[name] = lesson_page(
            book, name, f'<nav>{beside[0]}<a href="index.html">All lessons</a>{beside[1]}</nav>'
        )
    written = []
    for name, page in pages.items():
        written.append(folder / f"{name}.html")
        written[-1].write_text(page, encoding="utf-8")
    return written


def _front(notebook: nbformat.NotebookNode | None, every: tuple[suite.Lesson, ...]) -> str:
    """The first page: what index.ipynb says and shows; of notebooks without one, the list of lessons."""
    if notebook is None:
        return _page("Lessons", suite.table_html(every, "{stem}.html"))
    notebook = nbformat.from_dict(notebook)
    notebook.cells = [cell for cell in notebook.cells if not cell.id.startswith(("progress", "in-jupyter"))]
    page = lesson_page(notebook, "Lessons", code=False)
    page = page.replace("<code>site/cards.html</code>", '<a href="cards.html">cards.html</a>')
    return re.sub(r'href="(\w+)\.ipynb"', r'href="\1.html"', page)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    pages = build(folder)
    print(f"{len(pages)} pages in {folder}: open {pages[0]}")


if __name__ == "__main__":
    main()
