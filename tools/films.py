"""`python -m tools.films` trains the small nets below, films them and photographs the films for docs/films (needs Chromium).

python -m tools.films          all of them, light and dark
python -m tools.films rnn      some
"""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import minigrad as torch
import viz

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "films"


def depth() -> Any:
    """Twenty layers with sigmoid, tanh, ReLU, and with ReLU and normalisation: the same net, the same data"""
    torch.manual_seed(0)
    x = torch.randn(128, 2)
    y = (x[:, 0] * x[:, 1] > 0).float()

    def train(activation, normalise, title):
        torch.manual_seed(1)
        layers, width = [], 2
        for _ in range(19):
            layers.append(torch.nn.Linear(width, 24))
            if normalise:
                layers.append(torch.nn.LayerNorm(24).requires_grad_(False))
            layers.append(activation())
            width = 24
        model = torch.nn.Sequential(*layers, torch.nn.Linear(24, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.003, momentum=0.9)
        film = viz.film(every=2, title=title)
        for _ in range(200):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            optimizer.zero_grad()
            film.backward(loss)
            optimizer.step()
        return film

    return viz.beside(
        train(torch.nn.Sigmoid, False, "sigmoid"),
        train(torch.nn.Tanh, False, "tanh"),
        train(torch.nn.ReLU, False, "ReLU"),
        train(torch.nn.ReLU, True, "ReLU, LayerNorm"),
    )


def rnn() -> Any:
    """A recurrent net whose weight shrinks what it remembers, and one whose weight blows it up"""

    def train(scale):
        torch.manual_seed(0)
        W = (scale * torch.eye(8)).requires_grad_(True)
        U = (0.3 * torch.randn(8, 8)).requires_grad_(True)
        film = viz.film(title=f"W = {scale}")
        optimizer = torch.optim.SGD([W, U], lr=1e-8)
        for _ in range(40):
            h = torch.zeros(4, 8)
            for x in torch.randn(22, 4, 8):
                h = x @ U + h @ W
            optimizer.zero_grad()
            film.backward((h**2).mean())
            optimizer.step()
        return film

    return viz.beside(train(0.5), train(1.5))


def gan() -> Any:
    """A step of a GAN: two graphs in turn, the discriminator's and the generator's"""
    torch.manual_seed(0)
    nn = torch.nn
    G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
    D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    g = torch.optim.Adam(G.parameters(), lr=0.005)
    d = torch.optim.Adam(D.parameters(), lr=0.005)
    score = nn.functional.binary_cross_entropy_with_logits
    film = viz.film(keep=[0, 1], title="GAN")
    for _ in range(60):
        real, noise = torch.randn(64, 2) * 0.3 + 1, torch.randn(64, 2)
        d.zero_grad()
        film.backward(score(D(real), torch.ones(64, 1)) + score(D(G(noise).detach()), torch.zeros(64, 1)))
        d.step()
        g.zero_grad()
        film.backward(score(D(G(noise)), torch.ones(64, 1)))
        g.step()
    return film


FILMS = {"depth": (depth, 70), "rnn": (rnn, 20), "gan": (gan, 81)}  # the frame shown in the picture


def program(build: Any) -> str:
    """The lines of a film as they would be written in a notebook."""
    lines = textwrap.dedent("\n".join(inspect.getsource(build).splitlines()[2:])).strip()
    return re.sub(r"^return ", "", lines, flags=re.M)


def readme() -> str:
    """The page that shows the films and their programs."""
    text = [
        "# Films",
        "",
        "Drawn by `python -m tools.films`: a training run, one backward pass after the other.",
        "",
    ]
    for name, (build, _) in FILMS.items():
        text += [f"## {build.__doc__}", "", f"![{build.__doc__}]({name}-light.png)", ""]
        text += ["```python", f"import minigrad as torch\nimport viz\n\n{program(build)}", "```", ""]
    return "\n".join(text)


def main(names: list[str]) -> None:
    from tools.jupyterlab import chromium

    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "README.md").write_text(readme(), encoding="utf-8")
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for name in names or FILMS:
            build, frame = FILMS[name]
            file = build().save(Path(folder) / f"{name}.html")
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": 1240, "height": 900}, device_scale_factor=1.5, color_scheme=scheme
                )
                page.goto(file.as_uri())
                page.wait_for_selector(".mgf[data-ready]")
                page.locator(".mgf .mgv-slider").fill(str(frame))
                page.evaluate("document.activeElement.blur()")
                page.locator(".mgf-frame").screenshot(path=FOLDER / f"{name}-{scheme}.png")
                page.close()
            print(
                f"{name}: {sum(p.stat().st_size for p in FOLDER.glob(f'{name}-*.png')) // 1024} KB",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
