"""Take the README pictures again: the stepper going through a backward pass, as a GIF; the stepper of lesson 03 in
JupyterLab, light and dark. `make screenshot`."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import Browser

import minigrad as torch
import viz
from tools.jupyterlab import NOTEBOOKS, Lab, chromium

LESSON = "03_one_node_at_a_time.ipynb"
CELL = "step"
STEP = 2
PICTURES = Path(__file__).resolve().parent.parent / "docs"


SECONDS = 2.2  # how long each step is shown
COLORS = 64


def diamond() -> viz.Stepper:
    """Two paths from y meet again, so the gradient of x is 12."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    z = a + b
    return viz.step(z)


def moving(browser: Browser, file: Path) -> None:
    """The pane going through the diamond's backward pass, each step as it looks on the screen, as a looping GIF."""
    with tempfile.TemporaryDirectory() as folder:
        address = diamond().save(Path(folder) / "diamond.html").as_uri()
        page = browser.new_page(viewport={"width": 900, "height": 700}, device_scale_factor=1.5)
        page.goto(address)
        pane = page.locator(".mgv[data-ready]")
        pane.wait_for()
        pictures, last = [], int(pane.locator("input[type=range]").first.get_attribute("max"))
        for step in range(last + 1):
            page.locator(f'.mgv[data-step="{step}"]').wait_for()
            page.wait_for_timeout(600)  # all movement has ended
            pictures.append(Image.open(io.BytesIO(pane.screenshot())).convert("RGB"))
            pane.locator(".mgv-frame").press("ArrowRight")
        page.close()
    size = max(picture.size for picture in pictures)
    palette = pictures[-1].quantize(COLORS, dither=Image.Dither.NONE)
    frames = [p.crop((0, 0, *size)).quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    times = [round(1000 * SECONDS)] * last + [round(2000 * SECONDS)]
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)


def main() -> None:
    number = [cell.id for cell in nbformat.read(NOTEBOOKS / LESSON, 4).cells].index(CELL)
    with chromium() as browser:
        moving(browser, PICTURES / "backward.gif")
        said(PICTURES / "backward.gif")
        for theme in ("light", "dark"):
            with Lab(theme=theme) as lab, lab.open(browser, LESSON, width=1180, scale=1.5) as lesson:
                lesson.page.keyboard.press("Control+b")  # hide the list of files
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
                said(file)


def said(file: Path) -> None:
    print(f"{file.relative_to(PICTURES.parent)}: {file.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
