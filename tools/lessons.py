"""Open JupyterLab on the first lesson: `.venv/bin/python tools/lessons.py [port]`.

Checks first that the port is free: JupyterLab by itself would go on to another port, and a learner who has
the lessons open already would work in two servers at once.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path

FIRST = Path(__file__).resolve().parent.parent / "notebooks" / "00_start_here.ipynb"
DEFAULT_PORT = 8888


def is_free(port: int) -> bool:
    """Whether nobody listens on this port of this machine."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


def port_number(text: str) -> int:
    """The port that `text` names, free to be used; exits with what to do where it is not."""
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


def main(port: int) -> int:
    """Run JupyterLab until it is stopped; its exit code."""
    token = secrets.token_hex(16)
    print(
        f"minigrad: opening {FIRST.name} in JupyterLab. If no browser opens, open\n"
        f"  http://localhost:{port}/lab/tree/{FIRST.name}?token={token}\n"
        "minigrad: Ctrl+C ends it",
        flush=True,
    )
    options = [f"--port={port}", "--ServerApp.port_retries=0", "--log-level=WARN"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # in a container; JupyterLab refuses otherwise
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", str(FIRST), *options],
        env={**os.environ, "JUPYTER_TOKEN": token},  # not on the command line, where others may read it
    )
    while True:
        try:
            return server.wait()
        except KeyboardInterrupt:
            pass  # Ctrl+C reached the server too, which asks whether it is meant and then ends


if __name__ == "__main__":
    sys.exit(main(port_number(sys.argv[1] if len(sys.argv) > 1 else str(DEFAULT_PORT))))
