"""Take the README's pictures again: a backward pass as a GIF, the stepper of lesson 03 in JupyterLab, light and dark.
`make screenshot`."""

from __future__ import annotations

from pathlib import Path

import nbformat

import minigrad as torch
import viz
from tools.jupyterlab import NOTEBOOKS, Lab, chromium

LESSON = "03_one_node_at_a_time.ipynb"
CELL = "step"
STEP = 2
PICTURES = Path(__file__).resolve().parent.parent / "docs"


def diamond() -> viz.Stepper:
    """Two paths from y meet again, so the gradient of x is 12."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    z = a + b
    return viz.step(z)


def main() -> None:
    file = diamond().save(PICTURES / "backward.gif")
    print(f"{file.relative_to(PICTURES.parent)}: {file.stat().st_size // 1024} KB")
    number = [cell.id for cell in nbformat.read(NOTEBOOKS / LESSON, 4).cells].index(CELL)
    with chromium() as browser:
        for theme in ("light", "dark"):
            with Lab(theme=theme) as lab, lab.open(browser, LESSON, width=1180, scale=1.5) as lesson:
                lesson.page.keyboard.press("Control+b")  # without the list of files
                lesson.run_all()
                cell = lesson.page.locator(".jp-Notebook .jp-Cell").nth(number)
                cell.locator(".mgv[data-ready]").wait_for()
                cell.get_by_label("Ask me").uncheck()
                cell.locator(".mgv-frame").focus()
                for _ in range(STEP):
                    lesson.page.keyboard.press("ArrowRight")
                cell.locator(f'.mgv[data-step="{STEP}"]').wait_for()
                file = PICTURES / f"stepper-{theme}.png"
                cell.locator(".jp-OutputArea-output").last.screenshot(path=file)
                print(f"{file.relative_to(PICTURES.parent)}: {file.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
