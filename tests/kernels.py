"""Kernels for the lessons without a second's start each: forked from a process that has imported other people's packages.

    python tests/kernels.py              that process: forks a kernel for each command that comes through standard input

`install()` lets jupyter_client, and so nbval and nbclient, start Python kernels this way from now on. What is imported
once is what takes long and is not under test; minigrad, viz, the exercises, ipywidgets (which looks for its kernel when it
is imported) and matplotlib.pyplot are imported by each kernel itself. Without os.fork and os.pidfd_open, which is not on
Linux, kernels start as they always do.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import types
from functools import cache
from typing import Any

from jupyter_client.launcher import launch_kernel
from jupyter_client.provisioning import local_provisioner

ONCE = [
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "numpy",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.projections",
    "matplotlib.style",
    "matplotlib.widgets",
    "PIL.Image",
    "graphviz",
    "psygnal",
    "pygraphviz",
    "tqdm",
]


def serve() -> None:
    """Fork a kernel for each command; returns in the kernels, each in its folder, with its streams and environment."""
    asked = socket.socket(fileno=os.dup(0))
    own = {  # what ipykernel, whose kernels end with this process, and matplotlib read when they are imported
        "JPY_PARENT_PID": str(os.getpid()),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    os.environ.update(own)
    for module in ONCE:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, forget)
    while True:
        message, streams, *_ = socket.recv_fds(asked, 1 << 20, 3)
        if not message:
            os._exit(0)
        if not os.fork():
            break
        for stream in streams:
            os.close(stream)
    os.setsid()
    command = json.loads(message)
    os.chdir(command["cwd"])
    os.environ.clear()
    os.environ.update(command["env"] | own)
    sys.argv = command["argv"]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    asked.sendall(str(os.getpid()).encode())  # it has a process group of its own by now, to which signals go
    asked.close()


def forget(*_: object) -> None:
    """Kernels that have ended are waited for by nobody else."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


class Forked:
    """A kernel that is no child of this process: as much of `subprocess.Popen` as jupyter_client uses."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid, self._ends = pid, os.pidfd_open(pid)
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int | None:
        """0 once it has ended; how, is not known."""
        if self.returncode is None and select.select([self._ends], [], [], timeout)[0]:
            self.returncode = 0
            os.close(self._ends)
        return self.returncode

    def poll(self) -> int | None:
        return self.wait(0)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


@cache
def server() -> socket.socket:
    """The way to this process's own server, which starts with the first kernel."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # a message stays in one piece
    process = subprocess.Popen([sys.executable, __file__], stdin=there)
    there.close()

    @atexit.register
    def end() -> None:
        here.close()
        process.wait()

    return here


def launch(cmd: list[str], **how: Any) -> Any:
    """What `jupyter_client.launcher.launch_kernel` does, which takes the same."""
    if cmd[0] != sys.executable or "ipykernel_launcher" not in cmd:
        return launch_kernel(cmd, **how)
    with open(os.devnull, "r+b") as null:
        streams = [how.get("stdin") or null, how.get("stdout") or 1, how.get("stderr") or 2]
        command = {"argv": cmd[cmd.index("ipykernel_launcher") :], "cwd": str(how.get("cwd") or os.getcwd())}
        command["env"] = dict(how.get("env") or os.environ)
        numbers = [stream if isinstance(stream, int) else stream.fileno() for stream in streams]
        socket.send_fds(server(), [json.dumps(command).encode()], numbers)
    return Forked(int(server().recv(100)))


def install() -> None:
    """Let `launch` start kernels."""
    if hasattr(os, "fork") and hasattr(os, "pidfd_open"):
        local_provisioner.launch_kernel = launch


if __name__ == "__main__":
    serve()
    del sys.path[0]  # of this file; as `python -m ipykernel_launcher` does with its ""
    sys.modules["__main__"] = types.ModuleType("__main__")
    importlib.import_module("ipykernel.kernelapp").launch_new_instance()
