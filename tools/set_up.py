"""Set up .venv: `python3 tools/set_up.py [extra ...]` makes it, installs the project and the named extras.

The Makefile calls this before everything else; the environment variable VENV replaces the folder .venv. If there is nothing to
do, it is quick and quiet: a file in .venv says what was installed, from which pyproject.toml, in which
folder. Standard library only, in syntax that even Python 2.7 reads: telling people that their Python is too old is half of the
job.
"""

from __future__ import print_function

import glob
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

OLDEST = [3, 11]
OTHERS = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, os.path.expanduser(os.environ.get("VENV") or ".venv"))
VENV_PYTHON = (
    os.path.join(VENV, "Scripts", "python.exe") if os.name == "nt" else os.path.join(VENV, "bin", "python")
)
RECORD = os.path.join(VENV, "installed.json")
EARLIER = "minigrad"  # the name of the distribution until 0.2.0
LOG = "pip.log"  # in VENV: all of pip's output
# pip's own patience, five tries of 15 seconds for each package, would leave a learner without a network waiting for minutes
PATIENCE = {"PIP_RETRIES": "2", "PIP_DEFAULT_TIMEOUT": "6"}
NEWS = 10  # seconds between two progress lines where no terminal can update them in place
# at its first start JupyterLab would ask whether it may fetch news
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # the data of a stepper are saved in the notebook, so it steps without a kernel when opened again
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
CAUSES = [  # words in pip's output -> the cause, and what to do about it
    (
        r"ConnectionError|NameResolution|ConnectTimeout|ReadTimeout|timed out|unreachable|refused|reset by peer"
        r"|ProxyError|SSLError|from versions: none",
        "no package index could be reached. The first install needs the network (later runs do not): is this machine "
        "online, does it need a proxy (HTTPS_PROXY) or a package mirror (PIP_INDEX_URL)?",
    ),
    (r"No space left", "the disk is full. About 600 MB are needed."),
]


def say(text):
    print("minigrad: " + text)
    sys.stdout.flush()


def works(python):
    """Whether this interpreter runs (it may be a dangling link or a shim) and is new enough."""
    ask = "import sys; sys.exit(list(sys.version_info) < {})".format(OLDEST)
    try:
        return subprocess.call([python, "-c", ask], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def too_old():
    return (
        "minigrad: Python {}.{} or newer is needed; {} is Python {}.{}, and no newer one was found. Install one (python.org, "
        "your package manager or conda) and name it: make lessons PYTHON=/path/to/python3.12"
    ).format(OLDEST[0], OLDEST[1], sys.executable, sys.version_info[0], sys.version_info[1])


def find_python():
    """This interpreter if it is new enough, else the newest other one on PATH."""
    for python in [sys.executable] + [path for path in map(shutil.which, OTHERS) if path]:
        if works(python):
            return python
    return sys.exit(too_old())


def recorded():
    try:
        with io.open(RECORD, encoding="utf-8") as file:
            return json.load(file)
    except (IOError, ValueError):  # nothing was installed yet, or writing the record was interrupted
        return {"folder": None, "pyproject": None, "extras": []}


def wanted(extras):
    """What the record must say: this folder (a .venv that was moved does not work), this pyproject.toml, and
    the extras asked for now and earlier."""
    with io.open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        pyproject = hashlib.sha256(file.read()).hexdigest()
    return {"folder": ROOT, "pyproject": pyproject, "extras": sorted(set(extras) | set(recorded()["extras"]))}


def record(what):
    with io.open(RECORD, "w", encoding="utf-8") as file:
        json.dump(what, file)


def check_place():
    """Exit with a sentence if the environment is not writable or belongs to another project."""
    if os.path.isdir(VENV) and os.listdir(VENV) and not os.path.exists(os.path.join(VENV, "pyvenv.cfg")):
        sys.exit(
            "minigrad: {} is not an environment, and not empty. Choose another place: make lessons VENV=...".format(
                VENV
            )
        )
    place = VENV
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    if not os.access(place, os.W_OK):
        sys.exit(
            "minigrad: {} cannot be written. Put the environment and your lessons somewhere else: "
            "make lessons VENV=~/minigrad_venv LESSONS=~/my_lessons".format(place)
        )


def make_venv(python):
    say(
        "making an environment in {} with {} (nothing is installed outside this folder)".format(
            shown(VENV), python
        )
    )
    if subprocess.call([python, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL) != 0:
        sys.exit(
            "minigrad: {} has no venv module. On Debian and Ubuntu it is a separate package: "
            "sudo apt install python3-venv. Then run the same command again.".format(python)
        )
    if os.path.islink(VENV):  # its target may be the environment of another folder, not to be cleared
        os.unlink(VENV)
    if subprocess.call([python, "-m", "venv", "--clear", VENV]) != 0:
        sys.exit("minigrad: making {} failed, see above. Is there room on the disk?".format(shown(VENV)))


def shown(path):
    """A path as a person would write it from the project's folder."""
    return os.path.relpath(path, ROOT) if path.startswith(ROOT + os.sep) else path


def install(extras):
    """pip install the project, editable, with its extras; show progress and, if it fails, one sentence with the reason."""
    what = "." + ("[" + ",".join(extras) + "]" if extras else "")
    say("installing {} with pip; the first time it downloads packages and takes a minute or two".format(what))
    pip = [
        VENV_PYTHON,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar=off",
    ]
    environment = dict(PATIENCE, **os.environ)
    log = os.path.join(VENV, LOG)
    lines = []
    running = subprocess.Popen(
        pip + ["--editable", what],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    reader = threading.Thread(target=keep, args=(running.stdout, lines, log))
    reader.start()
    try:
        follow(running, lines)
    finally:
        if running.poll() is None:  # stopped by a person or by the calling process
            running.terminate()
        reader.join()
    if running.wait() != 0:
        sys.exit(
            "minigrad: installing failed: {} Then run the same command again. ({} has pip's full output.)".format(
                cause("".join(lines)), shown(log)
            )
        )
    try_graphviz()


def remove_earlier():
    """Uninstall the project under its earlier name, which would be listed next to the present one."""
    if glob.glob(os.path.join(VENV, "[lL]ib*", "**", EARLIER + "-*.dist-info"), recursive=True):
        uninstall = [
            VENV_PYTHON,
            "-m",
            "pip",
            "uninstall",
            "--yes",
            "--quiet",
            "--disable-pip-version-check",
            EARLIER,
        ]
        subprocess.call(uninstall)


def keep(stream, lines, log):
    """Collect pip's output as it arrives, also in a file."""
    with io.open(log, "w", encoding="utf-8") as file:
        for line in io.TextIOWrapper(stream, encoding="utf-8", errors="replace"):
            lines.append(line)
            file.write(line)
            file.flush()


def follow(running, lines):
    """Show what pip is doing until it ends: in place on a terminal, otherwise a line now and then."""
    in_place, began, told = sys.stdout.isatty(), time.time(), time.time()
    while running.poll() is None:
        time.sleep(0.2)
        now = "{:.0f} s: {}".format(time.time() - began, doing(lines))
        if in_place:
            sys.stdout.write("\rminigrad: " + now[:66].ljust(66))
            sys.stdout.flush()
        elif time.time() - told >= NEWS:
            told = time.time()
            say(now)
    if in_place:
        sys.stdout.write("\r" + " " * 78 + "\r")


def doing(lines):
    """What pip is doing, judging by its output so far."""
    for line in reversed(list(lines)):
        if line.startswith("Installing collected packages:"):
            return "unpacking {} packages".format(line.count(",") + 1)
        name = re.match(r"Collecting ([\w.-]+)", line) or re.match(
            r" +(?:Downloading|Using cached) ([\w.]+)-\d", line
        )
        if name:
            found = len(set(re.findall(r"(?m)^Collecting ([\w.-]+)", "".join(lines))))
            return "packages found: {}, fetching {}".format(found, name.group(1))
        if "build dependencies" in line:
            return "fetching what builds the project"
    return "asking the package index"


def cause(said):
    """Why pip failed, as a sentence."""
    for pattern, sentence in CAUSES:
        if re.search(pattern, said):
            return sentence
    errors = re.findall(r"(?m)^ *(?:ERROR|error): *(.+?)\.?$", said)
    return "pip says: {}.".format(errors[-1]) if errors else "pip ended without saying why."


def try_graphviz():
    """Say what to install if the system lacks libraries that pygraphviz expects: everything else works without pictures."""
    said = subprocess.run(
        [VENV_PYTHON, "-c", "from viz.picture.engine import load; load()"], stderr=subprocess.PIPE
    )
    if said.returncode:
        lines = said.stderr.decode("utf-8", "replace").strip().splitlines()
        say(lines[-1].replace("ImportError: ", ""))


def configure(prefix):
    """Write Jupyter's settings into an environment, so that they apply only there."""
    for name, content in CONFIGURATION.items():
        path = os.path.join(prefix, *name.split("/"))
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        with io.open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)


def main(extras):
    goal = wanted(extras)
    usable = recorded()["folder"] in (None, ROOT) and works(VENV_PYTHON)
    if usable and recorded() == goal:
        return
    check_place()
    if not usable:
        make_venv(find_python())
    install(goal["extras"])
    remove_earlier()
    configure(VENV)
    record(goal)
    say("the environment is ready")


if __name__ == "__main__":
    if sys.version_info < (
        3,
        6,
    ):  # a newer one may be there, but this Python's library has no function to look for it
        sys.exit(too_old().replace(", and no newer one was found", ""))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("\nminigrad: stopped. The same command goes on from here.")
