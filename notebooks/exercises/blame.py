"""An exception in the learner's code told plainly: which line, what Python says, what that usually means."""

from __future__ import annotations

import linecache
import sysconfig
import traceback
from importlib.util import find_spec
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
OURS = [find_spec(name) for name in ("minigrad", "viz")]
LIBRARIES = tuple(
    {HERE, *(str(Path(spec.origin).parent) for spec in OURS if spec is not None and spec.origin)}
    | {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
)

MEANING = {
    "NameError": "Python does not know that name. Is it misspelt, or defined in a cell that has not run yet?",
    "UnboundLocalError": "The name gets a value only further down in the same function.",
    "AttributeError": "The value before the dot is not what the line takes it for. Print it with its type.",
    "ZeroDivisionError": "Something is divided by zero. Which of the inputs is 0 there?",
    "IndexError": "The index points past the end. Print the length, or the shape, first.",
    "KeyError": "The dictionary has no such key. Print its keys.",
    "RecursionError": "The function calls itself and never comes to an end.",
    "SystemExit": "`exit()` and `quit()` end the whole notebook. Use `return` to leave a function.",
}


def learner_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost place in the learner's own code, or None if the error arose entirely in ours."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(LIBRARIES) and not frame.filename.startswith("<frozen"):
            return frame
    return None


def said(error: BaseException | None) -> str:
    """What the exception says, on one line. The learner's own exception class may fail to print: then nothing."""
    try:
        return " ".join(str(error or "").split())[:300]
    except Exception:
        return ""


def in_plain_words(error: BaseException) -> str:
    """What happened and where, in a sentence or two."""
    kind = type(error).__name__
    text = said(error)
    where = ""
    frame = learner_frame(error)
    if frame is not None:
        code = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
        where = f"Line {frame.lineno}" + (f", `{code[:100].replace('`', chr(39))}`" if code else "") + ": "
    message = f"{where}**{kind}**" + (f": {text}" if text else "")
    message += "" if message[-1] in ".!?" else "."
    return f"{message} {MEANING[kind]}" if kind in MEANING else message
