"""Real JupyterLab (or Notebook 7) in headless Chromium, as a learner sees it: for the browser tests and the README's picture.

    with Lab(folder, theme="light") as lab, chromium() as browser:
        with lab.open(browser, "03_one_node_at_a_time.ipynb") as lesson:
            lesson.run_all()
            lesson.page.locator(...)      # a playwright page
            lesson.complaints             # console errors, requests that left this machine

Every server has its own home folder and works on a copy of the notebooks, so this machine's settings have no effect and nothing
is changed. All cells are on the page at once (`windowingMode` none).
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Self

import nbformat
from nbformat import NotebookNode
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import TimeoutError as TimedOut

from tools.lessons import styled
from tools.set_up import EXPORT, LAB_SETTINGS

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
FLAGS = [
    "--no-sandbox",  # Chromium's sandbox does not start as root, as in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTS_WITHIN = 90  # seconds
OPENS_WITHIN = 120
ANSWERS_WITHIN = 60  # a kernel, the first time
RUNS_WITHIN = 300

# every widget that a cell has shown is on the page, and so is what an anywidget puts into its box after its program has arrived
WIDGETS_STAND = """() => {
    const outputs = window.jupyterapp.shell.currentWidget.content.widgets.flatMap((cell) => cell.model.outputs?.toJSON() ?? []);
    const due = outputs.filter((output) => output.data?.["application/vnd.jupyter.widget-view+json"]).length;
    const stand = document.querySelectorAll(".jp-OutputArea-output:has(> .lm-Widget:not(:empty))");
    return stand.length >= due && !document.querySelector(".jupyter-widgets.widget-box > .lm-Widget:empty");
}"""

# anywidget gives up on a widget, and leaves its place empty, if it has not started within two seconds by the clock, however
# busy the machine is; these tests are not about the machine's speed
NO_HURRY = "AbortSignal.timeout = ((own) => (ms) => own.call(AbortSignal, 100 * ms))(AbortSignal.timeout)"

Theme = Literal["light", "dark"]


def find_chromium() -> str | None:
    """The Chromium or Chrome of this machine; playwright's own download is not used. A Chromium without windows, tabs
    and menus is tried first: the same pages take a quarter less processor time."""
    names = (
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    )
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser. Raises RuntimeError if none is installed."""
    executable = find_chromium()
    if executable is None:
        raise RuntimeError("no chromium on this machine; on Debian and Ubuntu: sudo apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


class Lab:
    """A separate JupyterLab server, on a copy of `notebooks`, for the duration of a `with` block."""

    module = "jupyterlab"  # what python -m runs
    app = "LabApp"
    place = "lab/tree/{}?reset"  # the address that opens a notebook
    options: tuple[str, ...] = tuple(styled())
    window: Page | None = None  # a page with no notebook open, kept for the next one

    def __init__(self, notebooks: Path = NOTEBOOKS, theme: Theme = "light"):
        self.notebooks = notebooks
        self.theme = theme

    def __enter__(self) -> Self:
        self.home = Path(tempfile.mkdtemp(prefix="lab-"))
        self.folder = self.home / "notebooks"
        unwanted = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__", ".progress*")
        shutil.copytree(self.notebooks, self.folder, ignore=unwanted)
        self._write_settings()
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        server = getattr(self, "server", None)
        if server is not None:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def _write_settings(self) -> None:
        settings = {
            "apputils-extension/themes": {"adaptive-theme": True},  # light or dark, like the browser's window
            "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
            "notebook-extension/tracker": {"windowingMode": "none"},
        }
        for name, values in settings.items():
            file = self.home / "settings/@jupyterlab" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values), encoding="utf-8")
        # what `make lessons` sets up in .venv
        plugin = self.home / "settings/@jupyter-widgets/jupyterlab-manager/plugin.jupyterlab-settings"
        plugin.parent.mkdir(parents=True)
        plugin.write_text(
            json.dumps(LAB_SETTINGS["@jupyter-widgets/jupyterlab-manager:plugin"]), encoding="utf-8"
        )
        (self.home / "config").mkdir()
        (self.home / "config/jupyter_server_config.json").write_text(json.dumps(EXPORT), encoding="utf-8")

    def _start(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        environment = {
            **os.environ,
            "HOME": str(self.home),
            "IPYTHONDIR": str(self.home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(self.home / "config"),
            "JUPYTER_DATA_DIR": str(self.home / "data"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.home / "workspaces"),
        }
        with (self.home / "server.log").open("w") as out:
            self.server = subprocess.Popen(
                [
                    *(sys.executable, "-m", self.module, "--no-browser", "--allow-root", "--ip=127.0.0.1"),
                    *(f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token="),
                    f"--ServerApp.root_dir={self.folder}",
                    *self.options,
                    f"--{self.app}.expose_app_in_browser=True",  # to ask whether the kernel has started
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.url = f"http://127.0.0.1:{port}"
        limit = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < limit and self.server.poll() is None:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError(f"{self.module} did not start within {STARTS_WITHIN} s:\n{self.printed()}")

    def printed(self) -> str:
        """The last lines of the server's output."""
        return (self.home / "server.log").read_text(encoding="utf-8")[-3000:]

    @contextmanager
    def open(
        self,
        browser: Browser,
        name: str,
        theme: Theme | None = None,
        book: NotebookNode | None = None,
        width: int = 1400,
        height: int = 1000,
        scale: float = 1,
    ) -> Iterator[Lesson]:
        """Open notebook `name`, as shipped, or `book` under that name, with a separate kernel.

        It reuses the last notebook's window, as for someone who opens one lesson after the other: loading JupyterLab takes
        four times as long as running a lesson. It opens a new window after an error, while another notebook is open, or
        if the scale is not 1.

        width, height: size of the window in CSS pixels; scale: device pixels per CSS pixel, for sharp pictures.
        """
        if book is None:
            shutil.copy(self.notebooks / name, self.folder / name)
        else:
            nbformat.write(book, self.folder / name)
        # so that a picture does not depend on the moment it is taken
        look = dict(color_scheme=theme or self.theme, reduced_motion="reduce")
        page, self.window = (self.window, None) if scale == 1 else (None, None)
        if page is None:
            page = browser.new_context(device_scale_factor=scale).new_page()
            page.add_init_script(NO_HURRY)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**look)
        lesson = None
        try:
            lesson = Lesson(page, self, name)
            lesson.wear(look["color_scheme"])
            yield lesson
            if scale == 1 and lesson.left():
                self.window = page
        finally:
            if self.window is not page:
                if not page.is_closed():  # otherwise the next user of the notebook would get this kernel
                    page.evaluate("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.shutdown()")
                page.context.close()


class Notebook7(Lab):
    """The same with Jupyter Notebook 7, which shows one notebook and nothing around it."""

    module = "notebook"
    app = "JupyterNotebookApp"
    place = "notebooks/{}"
    options = ()


class Lesson:
    """A notebook open in JupyterLab.

    page: the playwright page.  complaints: every console error, uncaught exception and request to another
    machine since it was opened.
    """

    def __init__(self, page: Page, lab: Lab, name: str):
        self.page = page
        self.complaints: list[str] = []
        notebook = json.loads((lab.folder / name).read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.runnable = ["".join(cell["source"]).strip() != "" for cell in code]

        self.listeners = {
            "console": self._on_console,
            "pageerror": lambda error: self.complaints.append(f"uncaught: {error}"),
            "request": lambda request: self._on_address(request.url),
            "websocket": lambda socket: self._on_address(socket.url),
        }
        for event, listener in self.listeners.items():
            page.on(event, listener)
        self.here = lab.url.removeprefix("http://")
        if page.url.startswith(lab.url):
            page.evaluate(
                "async (path) => void await jupyterapp.commands.execute('docmanager:open', { path })", name
            )
        else:
            page.goto(f"{lab.url}/{lab.place.format(name)}", wait_until="domcontentloaded")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=OPENS_WITHIN * 1000)
        self._wait_for_kernel(lab, name)

    def _wait_for_kernel(self, lab: Lab, name: str) -> None:
        """Wait until the notebook's kernel is idle: if it is run earlier, the notebook asks which kernel to use.

        Servers that start kernels at the same moment may give two of them the same ports; the second one never answers. Then
        the notebook is opened once more, with a new kernel. RuntimeError with the server's output if that does not help.
        """
        kernel = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
        try:
            self.page.wait_for_function(f"() => {kernel}?.status === 'idle'", timeout=ANSWERS_WITHIN * 1000)
        except TimedOut:
            self.page.evaluate(
                """async () => {
                    const { sessions } = window.jupyterapp.serviceManager;
                    await sessions.refreshRunning();
                    await sessions.shutdownAll();
                }"""
            )
            self.complaints.clear()  # the same page is loaded again
            self.page.goto(f"{lab.url}/{lab.place.format(name)}", wait_until="domcontentloaded")
            self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=OPENS_WITHIN * 1000)
            try:
                self.page.wait_for_function(f"() => {kernel}?.status === 'idle'", timeout=OPENS_WITHIN * 1000)
            except TimedOut as error:
                raise RuntimeError(
                    f"{name}: no kernel has answered, and no second one:\n{lab.printed()}"
                ) from error

    def left(self) -> bool:
        """Close the notebook, unsaved, with all kernels of the server. Returns whether the window can be reused."""
        if self.page.is_closed() or not self.page.evaluate("Boolean(window.jupyterapp)"):
            return False
        empty = self.page.evaluate(
            """async () => {
                const { shell, serviceManager } = window.jupyterapp, notebook = shell.currentWidget;
                const gone = async (there) => {
                    for (let k = 0; k < 500 && await there(); k++) await new Promise((done) => setTimeout(done, 20));
                    return !await there();
                };
                await notebook.sessionContext.shutdown();
                await serviceManager.sessions.refreshRunning();
                await serviceManager.sessions.shutdownAll(); // another window may have left one
                notebook.context.model.dirty = false;
                notebook.close();
                localStorage.clear();
                return await gone(() => document.querySelector(".jp-Notebook, .jp-Dialog"))
                    // else the next notebook of this name would be given the kernel that is going
                    && await gone(async () => {
                        await serviceManager.sessions.refreshRunning();
                        return [...serviceManager.sessions.running()].length;
                    });
            }"""
        )
        for event, listener in self.listeners.items():
            self.page.remove_listener(event, listener)
        self.page.unroute_all()
        self.page.set_default_timeout(30_000)
        return empty

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"console: {message.text} ({message.location['url']})")

    def _on_address(self, url: str) -> None:
        scheme, _, rest = url.partition("://")
        if scheme in ("http", "https", "ws", "wss") and not rest.startswith(self.here):
            self.complaints.append(f"left this machine: {url}")

    def wear(self, theme: Theme) -> None:
        """Set the theme, which follows the browser window, and wait until all of JupyterLab shows it: to change it, JupyterLab
        hides itself for a frame, under a splash screen that swallows every click until it has faded."""
        self.page.emulate_media(color_scheme=theme)
        self.page.wait_for_function(
            """(light) => document.body.dataset.jpThemeLight === light && window.jupyterapp.shell.isVisible
                && !document.getElementById("jupyterlab-splash")""",
            arg=str(theme == "light").lower(),
            timeout=OPENS_WITHIN * 1000,
        )

    def menu(self, *path: str) -> None:
        """Choose from the main menu: menu("Run", "Run All Cells")."""
        for name in path:
            self.page.get_by_role("menuitem", name=name, exact=True).click()

    def run_all(self) -> None:
        """Clear all outputs, run all cells, wait for the last. AssertionError if one raised or does not end."""
        self.menu("Edit", "Clear Outputs of All Cells")
        self.menu("Run", "Run All Cells")
        state = """() => ({
            prompts: window.jupyterapp.shell.currentWidget.content.widgets.filter((cell) => cell.model.type === "code")
                .map((cell) => cell.inputArea.promptNode.textContent), // that of a folded cell is not on the page
            kernel: window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status,
        })"""
        limit = time.monotonic() + RUNS_WITHIN
        still = 0
        while True:
            now = self.page.evaluate(state)
            ran = [any(map(str.isdigit, prompt)) for prompt in now["prompts"]]
            if ran == self.runnable:
                break
            # After an intended error (raises-exception), JupyterLab removes the stars of all waiting cells, but runs them
            # anyway. So only a kernel that stays idle shows that the rest will not run.
            waits = now["kernel"] != "idle" or any("*" in prompt for prompt in now["prompts"])
            still = 0 if waits else still + 1
            assert still < 100, "a cell raised, and the rest did not run:\n" + "\n".join(self.errors())
            assert time.monotonic() < limit, f"not all cells ran within {RUNS_WITHIN} s"
            self.page.wait_for_timeout(200)
        self.page.wait_for_function(WIDGETS_STAND)

    def errors(self) -> list[str]:
        """The text of each traceback and of each output on stderr that the page shows."""
        kinds = ("error", "stderr")
        found = self.page.locator(
            ", ".join(
                f".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.{kind}']" for kind in kinds
            )
        )
        return found.all_inner_texts()
