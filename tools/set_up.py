"""Set up .venv: `python3 tools/set_up.py [extra ...]` makes it, installs the project and the named extras.

The Makefile calls this before everything it does. Where nothing is to be done it is quick and quiet: a file
in .venv says what was installed, from which pyproject.toml, in which folder. Standard library only, in syntax
that Python 3.6 reads: telling a person that their Python is too old is half of the work.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys

OLDEST = [3, 11]
OTHERS = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, *(["Scripts", "python.exe"] if os.name == "nt" else ["bin", "python"]))
RECORD = os.path.join(VENV, "installed.json")
# JupyterLab would ask at its first start whether it may fetch news
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # what a stepper holds is saved in the notebook: opened again, it steps without a kernel
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
}
# A page exported from a notebook with saved widgets would ask the network for the widget manager and stay blank without
# it; the HTML beside each widget needs nothing.
EXPORT = {
    "NbConvertBase": {
        "display_data_priority": [
            "text/html",
            "application/vnd.jupyter.widget-view+json",
            "application/javascript",
            "text/markdown",
            "image/svg+xml",
            "text/latex",
            "image/png",
            "image/jpeg",
            "text/plain",
        ]
    }
}
CONFIGURATION = {
    "share/jupyter/lab/settings/overrides.json": LAB_SETTINGS,
    "etc/jupyter/jupyter_nbconvert_config.json": EXPORT,  # jupyter nbconvert
    "etc/jupyter/jupyter_server_config.json": EXPORT,  # JupyterLab's menu "Save and Export Notebook As"
}


def say(text):
    print("minigrad: " + text, flush=True)


def works(python):
    """Whether this interpreter runs (it may be a dangling link or a shim) and is new enough."""
    ask = f"import sys; sys.exit(list(sys.version_info) < {OLDEST})"
    try:
        return subprocess.call([python, "-c", ask], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def find_python():
    """This interpreter if it is new enough, else the newest other one on PATH."""
    found = [sys.executable, *filter(None, map(shutil.which, OTHERS))]
    for python in found:
        if works(python):
            return python
    return sys.exit(
        f"minigrad: Python {OLDEST[0]}.{OLDEST[1]} or newer is needed; {sys.executable} is Python "
        f"{sys.version_info[0]}.{sys.version_info[1]}, and no newer one was found. Install one (python.org, "
        "your package manager or conda) and name it: make lessons PYTHON=/path/to/python3.12"
    )


def recorded():
    try:
        with open(RECORD, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:  # nothing was installed yet
        return {"folder": None, "pyproject": None, "extras": []}


def wanted(extras):
    """What the record must say: this folder (a .venv that was moved does not work), this pyproject.toml, and
    the extras of now and of before."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        pyproject = hashlib.sha256(file.read()).hexdigest()
    return {"folder": ROOT, "pyproject": pyproject, "extras": sorted({*extras, *recorded()["extras"]})}


def make_venv(python):
    say(f"making an environment in .venv with {python} (nothing is installed outside this folder)")
    if subprocess.call([python, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL) != 0:
        sys.exit(
            f"minigrad: {python} has no venv module. On Debian and Ubuntu it is a package of its own: "
            "sudo apt install python3-venv. Then run the same command again."
        )
    if os.path.islink(VENV):  # what it leads to may be the environment of another folder, not to be cleared
        os.unlink(VENV)
    if subprocess.call([python, "-m", "venv", "--clear", VENV]) != 0:
        sys.exit(
            "minigrad: making .venv failed, see above. Is this folder writable, is there room on the disk?"
        )


def install(extras):
    """pip install the project, editable, with its extras."""
    what = "." + ("[" + ",".join(extras) + "]" if extras else "")
    say(f"installing {what} with pip; the first time it downloads packages and takes a minute or two")
    pip = [VENV_PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--editable", what]
    if subprocess.call(pip, cwd=ROOT) != 0:
        sys.exit(
            "minigrad: installing failed; pip's own words stand above. The first install needs the network "
            "(later runs do not): is this machine online, does it need a proxy (HTTPS_PROXY) or a package "
            "mirror (PIP_INDEX_URL)? Then run the same command again."
        )


def configure():
    """Write Jupyter's settings into .venv, where they hold for this project alone."""
    for name, content in CONFIGURATION.items():
        path = os.path.join(VENV, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)


def main(extras):
    goal = wanted(extras)
    usable = recorded()["folder"] in (None, ROOT) and works(VENV_PYTHON)
    if usable and recorded() == goal:
        return
    if not usable:
        make_venv(find_python())
    install(goal["extras"])
    configure()
    with open(RECORD, "w", encoding="utf-8") as file:
        json.dump(goal, file)
    say("the environment is ready")


if __name__ == "__main__":
    main(sys.argv[1:])
