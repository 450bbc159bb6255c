"""What `make lessons` and `make test` say when something is missing: a sentence that says what to do."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from jupyter_client import BlockingKernelClient

from tools import lessons, set_up

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no make: the README gives the commands")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The part of a fresh clone that the setup needs."""
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE", "hatch_build.py"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("tools", "minigrad", "viz"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def make(project: Path, *words: str, **environment: str) -> tuple[int, str]:
    """Run make; return its exit code and its output."""
    done = subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=project,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
    )
    return done.returncode, done.stdout + done.stderr


def wrapper(project: Path, script: str) -> str:
    """A `python3` that does what the shell `script` says, and otherwise is this Python."""
    file = project / "python3"
    file.write_text(f'#!/bin/sh\n{script}\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def test_make_alone_lists_what_there_is(project):
    code, said = make(project)
    assert code == 0
    assert "make lessons" in said and "make test" in said and "PORT=" in said


def test_no_python_at_all(project):
    code, said = make(project, "lessons", "PYTHON=python-of-nobody")
    assert code != 0
    assert "there is no python-of-nobody on this machine. Install Python 3.11 or newer" in said


def test_a_python_that_is_too_old(project, monkeypatch):
    monkeypatch.setattr(set_up, "works", lambda python: False)
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(SystemExit) as stopped:
        set_up.find_python()
    assert "Python 3.11 or newer is needed" in stopped.value.code
    assert "is Python 3.9" in stopped.value.code
    assert "make lessons PYTHON=" in stopped.value.code


def test_a_newer_python_on_the_path_is_found_by_itself(project, monkeypatch):
    newer = wrapper(project, "")
    monkeypatch.setattr(sys, "executable", "/usr/bin/false")  # an interpreter that is too old
    monkeypatch.setenv("PATH", str(project))
    assert set_up.find_python() == newer


NEWER_SYNTAX = (  # syntax that Python 2.7 lacks
    *(
        ast.JoinedStr,
        ast.Starred,
        ast.AnnAssign,
        ast.NamedExpr,
        ast.Nonlocal,
        ast.AsyncFunctionDef,
        ast.YieldFrom,
    ),
    ast.Match,
)


def test_the_set_up_is_readable_for_an_old_python():
    """Otherwise an old Python would raise a SyntaxError instead of printing the sentence about its version."""
    tree = ast.parse((ROOT / "tools/set_up.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    # f(x, *rest) is allowed
    fine = {node.args[-1] for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args}
    newer = [node for node in ast.walk(tree) if isinstance(node, NEWER_SYNTAX) and node not in fine]
    assert [f"line {node.lineno}: {ast.unparse(node)}" for node in newer] == []
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        arguments = function.args
        assert not arguments.kwonlyargs and not arguments.posonlyargs and function.returns is None
        assert not [argument for argument in arguments.args if argument.annotation]


@pytest.mark.skipif(sys.platform != "linux", reason="looks where pyenv and Debian put it")
def test_python_2_7_gets_a_sentence():
    """Run only if Python 2.7 is installed; otherwise the test above must suffice."""
    for python in [*Path.home().glob(".pyenv/versions/2.7*/bin/python"), Path("/usr/bin/python2.7")]:
        if python.exists():
            done = subprocess.run([python, "tools/set_up.py"], cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 1 and done.stderr.count("\n") == 1
            assert "Python 3.11 or newer is needed" in done.stderr and "is Python 2.7" in done.stderr


def test_no_venv_module(project):
    python = wrapper(project, 'if [ "$2" = "import venv, ensurepip" ]; then exit 1; fi')
    done = subprocess.run(
        [sys.executable, "-c", f"from tools import set_up; set_up.make_venv({python!r})"],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "has no venv module" in done.stderr and "sudo apt install python3-venv" in done.stderr
    assert not (project / ".venv").exists()


@pytest.mark.long
def test_no_network_at_the_first_install_and_then_again_with_it(project):
    """The failed attempt leaves nothing that the next one mistakes for a finished one."""
    for _ in range(2):
        code, said = make(
            project,
            "lessons",
            PIP_NO_INDEX="1",
            PIP_FIND_LINKS="",
            PIP_EXTRA_INDEX_URL="",
            PYTHON=sys.executable,
        )
        assert code != 0
        assert "The first install needs the network" in said
        assert not (project / ".venv/installed.json").exists()


def pip_that(monkeypatch, folder: Path, *says: str, ends: int, waits: float = 0.0) -> None:
    """Put a pip in place that prints these lines and exits with the code ``ends``."""
    pip = folder / "pip"
    lines = "\n".join(f"echo '{line}'; sleep {waits}" for line in says)
    pip.write_text(f"#!/bin/sh\n{lines}\nexit {ends}\n", encoding="utf-8")
    pip.chmod(0o755)
    monkeypatch.setattr(set_up, "VENV", str(folder))
    monkeypatch.setattr(set_up, "VENV_PYTHON", str(pip))


def test_installing_says_how_far_it_is(tmp_path, monkeypatch, capsys):
    says = (
        "Installing build dependencies: started",
        "Collecting numpy>=2.3 (from see-autograd==0.2.0)",
        "  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl (16.9 MB)",
        "Collecting pillow",
        "Installing collected packages: numpy, pillow",
    )
    pip_that(monkeypatch, tmp_path, *says, ends=0, waits=0.5)
    monkeypatch.setattr(set_up, "NEWS", 0)
    set_up.install(["lessons"])
    said = capsys.readouterr().out
    assert said.startswith("minigrad: installing .[lessons] with pip; the first time")
    message = [line.partition(" s: ")[2] for line in said.splitlines()[1:]]
    assert list(dict.fromkeys(message)) == [
        "fetching what builds the project",
        "packages found: 1, fetching numpy",
        "packages found: 2, fetching pillow",
        "unpacking 2 packages",
    ]
    assert (tmp_path / "pip.log").read_text(encoding="utf-8").splitlines() == list(says)


NO_ADDRESS = (
    'NewConnectionError("Failed to establish a new connection: [Errno -2] Name or service not known")'
)


@pytest.mark.parametrize(
    ("says", "cause"),
    [
        (
            f"WARNING: Retrying (Retry(total=1)) after connection broken by {NO_ADDRESS}",
            "no package index could be reached",
        ),
        ("ReadTimeoutError: HTTPSConnectionPool: Read timed out.", "no package index could be reached"),
        (
            "ERROR: Could not find a version that satisfies numpy (from versions: none)",
            "no package index could be",
        ),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "the disk is full",
        ),
        (
            "ERROR: numpy has requirement x, which is incompatible.",
            "pip says: numpy has requirement x, which is",
        ),
        ("nothing of use", "pip ended without saying why"),
    ],
)
def test_a_failed_install_is_one_line_with_its_cause(tmp_path, monkeypatch, capsys, says, cause):
    pip_that(monkeypatch, tmp_path, "Collecting numpy", says.replace("'", ""), ends=1)
    with pytest.raises(SystemExit) as stopped:
        set_up.install([])
    said = stopped.value.code
    assert said.startswith(f"minigrad: installing failed: {cause}") and "\n" not in said
    assert "Then run the same command again. (" in said and "pip.log has pip's full output.)" in said
    assert "Collecting" not in capsys.readouterr().out


def test_a_network_that_does_not_answer_is_reported_soon():
    """pip's own patience is five tries of 15 seconds for each package."""
    tries, seconds = int(set_up.PATIENCE["PIP_RETRIES"]), int(set_up.PATIENCE["PIP_DEFAULT_TIMEOUT"])
    assert (tries + 1) * seconds <= 20


def test_a_folder_that_cannot_be_written_is_reported_with_a_way_on(tmp_path, monkeypatch):
    monkeypatch.setattr(set_up, "VENV", str(tmp_path / "deep" / ".venv"))
    set_up.check_place()
    monkeypatch.setattr(os, "access", lambda path, how: False)
    with pytest.raises(SystemExit) as stopped:
        set_up.check_place()
    said = stopped.value.code
    assert (
        f"{tmp_path} cannot be written" in said
        and "make lessons VENV=~/minigrad_venv LESSONS=~/my_lessons" in said
    )


def test_a_folder_of_somebody_s_things_is_not_cleared(tmp_path, monkeypatch):
    (tmp_path / "thesis.txt").touch()
    monkeypatch.setattr(set_up, "VENV", str(tmp_path))
    with pytest.raises(SystemExit, match="is not an environment, and not empty"):
        set_up.check_place()


@pytest.mark.long
def test_what_is_installed_is_not_installed_again(project, monkeypatch, capsys):
    installed = []
    monkeypatch.setattr(set_up, "ROOT", str(project))
    monkeypatch.setattr(set_up, "RECORD", str(project / "installed.json"))
    monkeypatch.setattr(set_up, "VENV_PYTHON", sys.executable)
    monkeypatch.setattr(set_up, "install", installed.append)

    set_up.main(["tests"])
    set_up.main(["tests"])
    set_up.main([])
    assert installed == [["tests"]]

    set_up.main(["torch"])  # another extra: the earlier ones are kept
    assert installed[1:] == [["tests", "torch"]]

    (project / "pyproject.toml").write_text("# changed", encoding="utf-8")
    set_up.main([])
    assert installed[2:] == [["tests", "torch"]]


@pytest.mark.long
def test_an_environment_that_was_moved_or_broken_is_made_again(project, monkeypatch):
    made = []
    monkeypatch.setattr(set_up, "RECORD", str(project / "installed.json"))
    monkeypatch.setattr(set_up, "install", lambda extras: None)
    monkeypatch.setattr(set_up, "make_venv", made.append)
    monkeypatch.setattr(set_up, "VENV_PYTHON", sys.executable)

    monkeypatch.setattr(set_up, "ROOT", str(project))
    set_up.main([])
    assert made == []
    monkeypatch.setattr(set_up, "ROOT", str(ROOT))  # the same .venv, in another folder now
    set_up.main([])
    assert len(made) == 1
    monkeypatch.setattr(set_up, "VENV_PYTHON", "/nowhere/python")
    set_up.main([])
    assert len(made) == 2


def test_an_environment_that_another_folder_lends_is_not_cleared(tmp_path, monkeypatch):
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    theirs.mkdir()
    (theirs / "installed.json").touch()
    mine.symlink_to(theirs)
    monkeypatch.setattr(set_up, "VENV", str(mine))
    monkeypatch.setattr(set_up.subprocess, "call", lambda command, **options: 0)
    set_up.make_venv(sys.executable)
    assert [*theirs.iterdir()] and not os.path.lexists(mine)


def test_a_port_that_is_in_use():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as stopped:
            lessons.port_number(str(port))
    said = stopped.value.code
    assert f"port {port} is in use" in said
    assert f"http://localhost:{port}/lab" in said
    other = int(said.rpartition("PORT=")[2])
    assert lessons.port_number(str(other)) == other


@pytest.mark.parametrize("port", ["", "eight", "80", "70000", "-1"])
def test_a_port_that_is_not_valid(port):
    with pytest.raises(SystemExit, match="PORT must be a number from 1024 to 65535"):
        lessons.port_number(port)


def ask(port: int, token: str, path: str, data: dict | None = None) -> dict:
    """Ask the server something."""
    body = None if data is None else json.dumps(data).encode()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/{path}",
        body,
        {"Authorization": f"token {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)


@pytest.mark.long
def test_the_lessons_open_quietly_and_what_ends_the_command_ends_jupyterlab(tmp_path):
    """With a kernel running: no warning of eavesdropping, only lessons in the list; after SIGTERM nothing is left."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    said = tmp_path / "said"
    with said.open("w", encoding="utf-8") as out:
        command = [sys.executable, "tools/lessons.py", str(port), "--folder", str(tmp_path / "mine")]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        environment |= {
            "HOME": str(tmp_path),
            "BROWSER": "true",
            "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        }
        running = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        limit = time.monotonic() + 90
        while lessons.is_free(port) and running.poll() is None and time.monotonic() < limit:
            time.sleep(0.1)
        token = said.read_text(encoding="utf-8").partition("token=")[2].split()[0]
        listed = {entry["name"] for entry in ask(port, token, "contents")["content"]}
        assert "index.ipynb" in listed and all(name.endswith(".ipynb") for name in listed)
        kernel = ask(port, token, "kernels", {"name": "python3"})["id"]
        client = BlockingKernelClient(connection_file=str(tmp_path / f"runtime/kernel-{kernel}.json"))
        client.load_connection_file()
        client.start_channels(hb=False)  # on a busy machine a slow heartbeat would look like a dead kernel
        client.kernel_info(reply=True, timeout=150)
        client.stop_channels()
        text = said.read_text(encoding="utf-8")
        assert "eavesdropping" not in text and "WARNING" not in text
        assert [line for line in text.splitlines() if not line.startswith(("minigrad: ", "  http://"))] == []
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(30)
    assert lessons.is_free(port)
