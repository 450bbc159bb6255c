"""`python -m tools.gallery` draws docs/gallery: one picture for each kind of graph, and the page that shows them.

The programs are those that the golden tests draw (tests/viz_gallery.py), run on minigrad. Same programs, same bytes.
"""

from __future__ import annotations

import inspect
import linecache
import re
import textwrap
from pathlib import Path

import minigrad
import viz
from tests.viz_gallery import GALLERY

FOLDER = Path(__file__).parent.parent / "docs" / "gallery"
# file name: (title, program in the gallery, options of viz.draw)
PICTURES: dict[str, tuple[str, str, dict]] = {
    "lanes": ("Two lanes: values flow to the right, their gradients come back", "source_example", {}),
    "graph": ("Tensors and functions: the two rails of a backward pass", "source_example", {"view": "graph"}),
    "cards": ("Cards: value and gradient side by side", "source_example", {"view": "cards"}),
    "functions": ("Functions only, for larger graphs", "mlp", {"view": "functions", "direction": "TB"}),
    "paths": ("Paths that meet: gradients add up", "diamond", {}),
    "saved": ("What each function keeps for its rule", "source_example", {"saved": True}),
    "freed": ("After the backward pass: freed", "freed", {"saved": True}),
    "outputs": ("A function with several outputs", "several_outputs", {}),
    "roots": ("Several roots", "several_roots", {}),
    "in_place": ("Written in place: CopySlices", "in_place_slice", {}),
    "custom": ("A custom Function", "custom_function", {}),
    "hooks": ("Hooks sit where they are called: on a gradient, and after an accumulation", "hooks", {}),
    "no_grad": ("A no-grad island: no gradient is computed", "no_grad_island", {}),
    "double": ("create_graph=True: the backward pass has a graph of its own", "double_backward", {}),
    "modules": ("The layers of a model", "modules", {"view": "functions", "direction": "TB"}),
    "recurrent": ("An RNN of 50 steps, folded", "recurrent", {"fold": True, "direction": "TB"}),
}


def modules(t):
    """A model of two layers."""
    t.manual_seed(0)
    model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2))
    loss = (model(t.ones(5, 3)) ** 2).mean()
    return loss, {"loss": loss} | {f"model.{name}": p for name, p in model.named_parameters()}


def recurrent(t):
    """Fifty equal time steps."""
    w = t.tensor([[0.5, 0.1], [0.2, 0.3]], requires_grad=True)
    b = t.tensor([0.1, 0.2], requires_grad=True)
    h = t.tensor([[1.0, 2.0]])
    for _ in range(50):
        h = (h @ w + b).tanh()
    loss = h.sum()
    return loss, {"w": w, "b": b, "loss": loss}


OWN = {"modules": modules, "recurrent": recurrent}


def program(build) -> str:
    """The lines of a gallery program as they would be written in a notebook."""
    lines = inspect.getsource(build).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("def ")) + 1
    body = [line for line in lines[start:] if not line.startswith(("    return ", '    """'))]
    return re.sub(r"\bt\.", "torch.", textwrap.dedent("\n".join(body))).strip()


def drawn(code: str, name: str) -> viz.Drawing:
    """The result of a program's last line: exactly the displayed lines are run, and viz can read them."""
    text = re.sub(r"\n(.*)$", r"\ndrawing = \1", code)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), scope)
    return scope["drawing"]


def build_pages(folder: Path = FOLDER) -> None:
    """Draw everything into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    page = [
        "# Gallery",
        "",
        "Drawn by `make gallery`. Every picture is what `viz.draw` gives for the lines above it.",
        "",
    ]
    for file, (title, name, options) in PICTURES.items():
        build = OWN.get(name) or GALLERY[name]
        tensors, names = build(minigrad)
        roots = tensors if isinstance(tensors, list) else [tensors]
        called = [k for r in roots for k, v in names.items() if v is r]
        shown = f"[{', '.join(called)}]" if len(called) > 1 else called[0]
        words = "".join(f", {k}={v!r}" for k, v in options.items())
        code = f"import minigrad as torch\nimport viz\n{program(build)}\nviz.draw({shown}{words})"
        drawing = drawn(code, f"<{file}>")
        drawing.save(folder / f"{file}.svg")
        page += [f"## {title}", "", "```python", code, "```", "", f"![{title}]({file}.svg)", ""]
        print(f"{file}.svg  {drawing!r}")
    (folder / "README.md").write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    build_pages()
