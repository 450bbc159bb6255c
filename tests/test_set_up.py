"""What `make lessons` and `make test` say when something is missing: a sentence that tells what to do."""

from __future__ import annotations

import ast
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tools import lessons, set_up

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no make: the README gives the commands")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """As much of a fresh clone as setting up needs."""
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("tools", "minigrad", "viz"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def make(project: Path, *words: str, **environment: str) -> tuple[int, str]:
    """Run make; its exit code and all that it said."""
    done = subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=project,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
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
    monkeypatch.setattr(sys, "executable", "/usr/bin/false")  # an interpreter that does not do
    monkeypatch.setenv("PATH", str(project))
    assert set_up.find_python() == newer


def test_the_set_up_is_readable_for_an_old_python():
    """Else the sentence about the version would be a SyntaxError."""
    ast.parse((ROOT / "tools/set_up.py").read_text(encoding="utf-8"), feature_version=(3, 6))


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


def test_no_network_at_the_first_install_and_then_again_with_it(project):
    """The broken attempt leaves nothing that the next one takes for ready."""
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

    set_up.main(["torch"])  # another extra: with those that were there
    assert installed[1:] == [["tests", "torch"]]

    (project / "pyproject.toml").write_text("# changed", encoding="utf-8")
    set_up.main([])
    assert installed[2:] == [["tests", "torch"]]


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
def test_a_port_that_is_none(port):
    with pytest.raises(SystemExit, match="PORT must be a number from 1024 to 65535"):
        lessons.port_number(port)
