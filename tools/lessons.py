"""Open the lessons in JupyterLab: `.venv/bin/python tools/lessons.py [PORT] [--folder my_lessons]`.

Brings the learner's copy up to date first (learners_copy.py). Then checks that the port is free: JupyterLab itself would choose
another port, and a learner who already has the lessons open would work in two servers at once. `--prepare` does everything
except opening, for a machine on which another program opens JupyterLab (Binder).
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a file, it is not in a package

from tools import learners_copy, set_up

DEFAULT_PORT = 8888
STYLE = Path(__file__).resolve().with_name("lab")  # custom.css: text of a readable width, exercises as cards


def is_free(port: int) -> bool:
    """Whether nothing listens on this port of this machine."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


def port_number(text: str) -> int:
    """The port that `text` names, if it is free; otherwise exits with advice."""
    if not text.isdecimal() or not 1024 <= int(text) <= 65535:
        sys.exit(f"minigrad: PORT must be a number from 1024 to 65535, not {text!r}: make lessons PORT=8890")
    port = int(text)
    if is_free(port):
        return port
    other = next((p for p in range(port + 1, min(port + 100, 65536)) if is_free(p)), DEFAULT_PORT)
    return sys.exit(
        f"minigrad: port {port} is in use. If the lessons are open already, go on there: "
        f"http://localhost:{port}/lab. If not, take another port: make lessons PORT={other}"
    )


def refresh(folder: Path) -> None:
    """Bring the learner's copy up to date and print its messages; exits with advice if that fails."""
    try:
        for line in learners_copy.refresh(folder):
            print(f"minigrad: {line}", flush=True)
    except OSError as error:
        sys.exit(
            f"minigrad: {folder} cannot be written ({error.strerror}); nothing that was there is lost. "
            "Choose another folder for your lessons: make lessons LESSONS=~/my_lessons"
        )


def encrypted() -> list[str]:
    """The option to encrypt the messages between server and kernel; without it each kernel warns of eavesdropping. An empty
    list if the installed libraries do not support it."""
    import zmq
    from jupyter_client import KernelManager

    able = KernelManager.class_traits().get("transport_encryption") and zmq.has("curve")
    return ["--KernelManager.transport_encryption=auto"] if able else []


def styled() -> list[str]:
    """The options with which JupyterLab loads the lessons' own style, for this server only."""
    return [
        "--LabApp.custom_css=True",
        f"--ServerApp.tornado_settings={{'static_custom_path': [{str(STYLE)!r}]}}",
    ]


def serve(folder: Path, port: int) -> int:
    """Run JupyterLab until it is stopped; its exit code."""
    token = secrets.token_hex(16)
    first = learners_copy.FIRST
    print(
        f"minigrad: opening the lessons in JupyterLab, from {folder}. If no browser opens, open\n"
        f"  http://localhost:{port}/lab/tree/{first}?token={token}\n"
        "minigrad: Ctrl+C ends it",
        flush=True,
    )
    options = [
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--log-level=ERROR",
        "--LabApp.log_level=ERROR",
        *encrypted(),
        *styled(),
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # in a container; JupyterLab refuses otherwise
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", str(folder / first), *options],
        env={**os.environ, "JUPYTER_TOKEN": token},  # not on the command line, where others may read it
    )
    # a signal that ends this process ends JupyterLab and its kernels
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    while True:
        try:
            return server.wait()
        except KeyboardInterrupt:
            pass  # Ctrl+C reached the server too, which asks for confirmation and then ends


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/lessons.py", description=__doc__.partition("\n")[0])
    parser.add_argument("port", nargs="?", default=str(DEFAULT_PORT), metavar="PORT")
    parser.add_argument(
        "--folder", type=Path, default=learners_copy.FOLDER, help="where the learner's copy is (my_lessons)"
    )
    parser.add_argument(
        "--prepare", action="store_true", help="make the copy and Jupyter's settings, open nothing"
    )
    arguments = parser.parse_args()
    folder = arguments.folder.expanduser().absolute()
    if arguments.prepare:
        refresh(folder)
        set_up.configure(sys.prefix)
        return 0
    port = port_number(arguments.port)
    refresh(folder)
    # the environment of environment.yml: nobody else's settings are there
    if os.environ.get("CONDA_DEFAULT_ENV") == "minigrad":
        set_up.configure(sys.prefix)
    return serve(folder, port)


if __name__ == "__main__":
    sys.exit(main())
