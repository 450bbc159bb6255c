"""The API reference of the site: for viz each function and class with its signature, its docstring and a live example; for
minigrad, whose interface is PyTorch's, a list of what there is.
"""

from __future__ import annotations

import html
import importlib
import inspect
import linecache
import re
from collections.abc import Iterator
from typing import Any

from nbconvert.filters import Highlight2HTML, markdown2html

import minigrad
import viz

# the setup of an example, and its last expression, whose value is shown
BEGIN = """import minigrad as torch, viz
x = torch.tensor([[1.0, 2.0, 3.0]])
w = torch.tensor([[1.0], [-2.0], [3.0]], requires_grad=True)
loss = (x @ w).tanh().mean()
"""
EXAMPLES = {
    "draw": "viz.draw(loss)",
    "step": "viz.step(loss)",
    "trace": "viz.trace(loss)[0]",
    "record": "with viz.record():\n    h = (x @ w).relu()\n    y = h.sum()\nviz.step(y, forward=True)",
    "explore": "viz.explore(lambda a, b: (a * b).tanh(), a=0.5, b=-2.0)",
    "compare": "viz.compare((x @ w).mean(), (x @ w).sum())",
    "beside": "viz.beside((x @ w).mean(), (x @ w).sum())",
    "film": (
        "film = viz.film()\noptimizer = torch.optim.SGD([w], lr=0.02)\nfor _ in range(20):\n    optimizer.zero_grad()\n"
        "    film.backward(((x @ w - 1) ** 2).mean())\n    optimizer.step()\nfilm"
    ),
    "costs": "viz.costs(loss)",
    "failure": (
        "try:\n    with viz.record():\n        h = (x @ w).tanh()\n        y = h @ x @ h\nexcept RuntimeError:\n    pass\n"
        "viz.failure()"
    ),
    "to_networkx": 'list(viz.to_networkx(loss).nodes(data="name"))',
}
ORDER = [
    "draw",
    "step",
    "record",
    "explore",
    "film",
    "compare",
    "beside",
    "costs",
    "trace",
    "failure",
    "to_networkx",
    "widgets",
]
PACKAGES = [
    "minigrad",
    "minigrad.nn",
    "minigrad.nn.functional",
    "minigrad.optim",
    "minigrad.func",
    "minigrad.autograd",
]


NAMES = (
    '<table class="names"><thead><tr><th>name</th><th>what it {}</th></tr></thead><tbody>{}</tbody></table>'
)


def body() -> str:
    """The whole page."""
    highlight = Highlight2HTML()
    parts = [
        "<h1>Reference</h1>",
        '<p class="text"><a href="#viz">viz</a> · <a href="#minigrad">minigrad</a></p>',
        '<h2 id="viz">viz</h2>',
    ]
    for name in [*ORDER, *(name for name in viz.__all__ if name not in ORDER)]:
        parts += entry(name, highlight)
    lead = (
        "<p>minigrad's interface is PyTorch's: names, arguments and results are the same. What it does not implement says so "
        "in one sentence.</p>"
    )
    parts += ['<h2 id="minigrad">minigrad</h2>', f'<section class="text">{lead}</section>']
    for package in PACKAGES:
        rows = "".join(row(*named) for named in public(package))
        parts += [f"<h3>{package}</h3>", NAMES.format("does", rows)]
    return "\n".join(parts)


def entry(name: str, highlight: Highlight2HTML) -> Iterator[str]:
    """The signature, the docstring and the example of a public name of viz."""
    thing = getattr(viz, name)
    yield f'<h3 id="viz.{name}"><code>viz.{name}</code></h3>'
    if not inspect.ismodule(thing):
        yield f'<div class="code">{highlight(signature(name, thing))}</div>'
    yield f'<section class="text">{markdown2html(as_markdown(inspect.getdoc(thing) or ""))}</section>'
    if inspect.isclass(thing):
        members = [
            (m, v) for m, v in inspect.getmembers(thing) if not m.startswith("_") and inspect.getdoc(v)
        ]
        rows = "".join(row(f"{m}{brief(v) if callable(v) else ''}", first_line(v)) for m, v in members)
        yield NAMES.format("is", rows) if rows else ""
    if name in EXAMPLES:
        yield f'<div class="code">{highlight(EXAMPLES[name])}</div><div class="output">{shown(EXAMPLES[name])}</div>'


def shown(example: str) -> str:
    """What an example's last line shows, as HTML."""
    source = BEGIN + example
    linecache.cache["<reference>"] = (len(source), None, source.splitlines(keepends=True), "<reference>")
    *lines, last = source.rsplit("\n", 1)
    space: dict[str, Any] = {}
    exec(compile(lines[0], "<reference>", "exec"), space)
    value = eval(compile("\n" * lines[0].count("\n") + "\n" + last, "<reference>", "eval"), space)
    bundle = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {}
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    return bundle.get("text/html") or f"<pre>{html.escape(repr(value))}</pre>"


def signature(name: str, thing: Any) -> str:
    """The signature with the types of the arguments; one argument per line if it is long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"viz.{name}"
    kept = [plain(p) for p in found.parameters.values() if not p.name.startswith("_")]
    text = f"viz.{name}({', '.join(kept)})"
    text = text if len(text) <= 90 else f"viz.{name}(\n    " + ",\n    ".join(kept) + ",\n)"
    back = found.return_annotation
    return text if back is found.empty or inspect.isclass(thing) else f"{text} -> {back}"


def plain(parameter: inspect.Parameter) -> str:
    """A parameter as it is written: its annotation is a string, its default is not."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    equals = " = " if kind else "="
    default = "" if parameter.default is parameter.empty else f"{equals}{parameter.default!r}"
    return f"{stars}{parameter.name}{kind}{default}"


def brief(thing: Any) -> str:
    """The arguments of a method, without types."""
    try:
        names = [
            p.name
            for p in inspect.signature(thing).parameters.values()
            if not p.name.startswith("_") and p.name != "self"
        ]
    except (TypeError, ValueError):
        return "()"
    return f"({', '.join(names)})"


def as_markdown(docstring: str) -> str:
    """A docstring as Markdown: its lines ``name: text`` become a list."""
    text = re.sub(r":\w+:`", "`", docstring.replace("``", "`"))
    text = re.sub(
        r"(?m)^(?:\* )?(\w+(?:, \w+)*): (?=\S)", lambda m: f"* `{m[1].replace(', ', '`, `')}`: ", text
    )
    return re.sub(r"(?m)^(?!\*? )(.+)\n(?=\* `)", r"\1\n\n", text)


def first_line(thing: Any) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    return as_markdown(re.split(r"(?<=\.)\s", paragraph)[0])


def row(name: str, about: str) -> str:
    text = markdown2html(about).strip().removeprefix("<p>").removesuffix("</p>")
    return f"<tr><td><code>{html.escape(name)}</code></td><td>{text}</td></tr>"


def public(package: str) -> Iterator[tuple[str, str]]:
    """The public functions and classes of a package of minigrad, each with its first sentence."""
    module = minigrad if package == "minigrad" else importlib.import_module(package)
    for name in sorted(set(getattr(module, "__all__", None) or dir(module)), key=str.lower):
        thing = getattr(module, name, None)
        ours = getattr(thing, "__module__", "") or ""
        if not name.startswith("_") and callable(thing) and ours.startswith("minigrad"):
            yield f"{name}{brief(thing) if not inspect.isclass(thing) else ''}", first_line(thing)
