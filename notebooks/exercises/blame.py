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

TOLD = {
    "Trying to backward through the graph a second time": (
        "a backward pass came to a node that an earlier pass has been through, and what it had kept is freed. "
        "So something here was computed *before* that earlier pass. Which line made it, and should it run again in each turn?"
    ),
    "element 0 of tensors does not require grad": (
        "behind this result nothing was recorded, so there is no graph to walk. Was everything before it detached, made "
        "under `no_grad`, or was nobody asked?"
    ),
    "one of the variables needed for gradient computation has been modified": (
        "a value that the backward pass needs has been written to since it was kept. Make a new tensor, do not write "
        "into this one."
    ),
    "only one element tensors can be converted": (
        "that line wants a single Python number, and there are several in this tensor. `math` works on one number: "
        "`torch.exp` and its like work on all of them at once."
    ),
    "output array is read-only": (
        "that line writes into the array that arrived. It is not yours: the same array may have been handed to "
        "somebody else. Make a new one."
    ),
}
"""What a framework's message means here. Its own advice is for another situation and can be the very mistake."""


def learner_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost place in the learner's own code, or None if the error arose entirely in ours."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(LIBRARIES) and not frame.filename.startswith("<frozen"):
            return frame
    return None


def said(error: BaseException | None) -> str:
    """What the exception says, on one line. The learner's own exception class may fail to print: then nothing."""
    try:
        text = " ".join(str(error or "").split())
    except Exception:
        return ""
    return text if len(text) <= 300 else text[: text.rfind(" ", 0, 299)] + " …"


def in_plain_words(error: BaseException) -> str:
    """What happened and where, in a sentence or two."""
    kind = type(error).__name__
    text = said(error)
    text = next((told for begins, told in TOLD.items() if text.startswith(begins)), text)
    where = ""
    frame = learner_frame(error)
    if frame is not None:
        code = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
        where = f"Line {frame.lineno}" + (f", `{code[:100].replace('`', chr(39))}`" if code else "") + ": "
    message = f"{where}**{kind}**" + (f": {text}" if text else "")
    message += "" if message[-1] in ".!?" else "."
    if "shapes cannot be multiplied" in text:
        return f"{message} The columns of the first factor have to be as many as the rows of the second."
    if kind not in MEANING or text.startswith("minigrad does not implement"):  # that says what is the matter
        return message
    return f"{message} {MEANING[kind]}"
