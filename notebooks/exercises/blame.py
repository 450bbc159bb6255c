"""An exception in the learner's code, in plain words: which line, what Python says, and what that usually means."""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
import traceback
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from .replies import REPLIES, say

OURS = {__file__, *(spec.origin for name in ("minigrad", "viz") if (spec := find_spec(name)) and spec.origin)}
LIBRARIES = tuple(
    folder + os.sep
    for folder in {str(Path(file).parent) for file in OURS}
    | {str(Path(file).resolve().parent) for file in OURS}
    | {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
)
"""The folders of code that is not the learner's."""

TOLD = {
    "Trying to backward through the graph a second time": "second backward",
    "element 0 of tensors does not require grad": "no graph",
    "one of the variables needed for gradient computation has been modified": "changed in place",
    "only one element tensors can be converted": "one element",
    "only integer tensors of a single element can be converted": "one element",
    "only length-1 arrays can be converted": "one element",
    "only 0-dimensional arrays can be converted": "one element",
    "Boolean value of Tensor with more than one value is ambiguous": "truth value",
    "The truth value of an array with more than one element is ambiguous": "truth value",
    "output array is read-only": "read-only",
    "assignment destination is read-only": "read-only",
}
"""How a framework's message begins, and the reply that says what it means here. Its own advice is for another situation
and can be the very mistake."""

MEANS = (
    (r"shapes cannot be multiplied", "matmul"),
    (r"'NoneType' object has no attribute '(\w+)'", "attribute of None"),
    (
        r"unsupported operand .*'NoneType'|'NoneType' object is not|argument 'other'.* not NoneType",
        "None among operands",
    ),
    (
        r"'(?:builtin_)?(?:method|function)(?:_or_method)?'|must be Tensor, not (?:builtin_)?(?:method|function)",
        "not called",
    ),
    (r"'Tensor' object has no attribute 'zero_grad'", "zero_grad of a tensor"),
    (r"'(?:float|int)' object has no attribute '(\w+)'", "attribute of a number"),
    (r"'ndarray' object has no attribute '(\w+)'", "attribute of an array"),
    (r"unsupported operand .*'(list|tuple|dict|str|generator|zip|map|set)'", "other operands"),
    (r"'(?:float|int|Tensor|tuple|list)' object is not callable", "not callable"),
    (r"positional argument|unexpected keyword|takes .*argument", "other arguments"),
    (r"to unpack \(expected \d+, got 0\)", "unpack nothing"),
    (r"to unpack", "unpack"),
    (r"must be Tensor, not tuple|'tuple' object has no attribute", "tuple"),
    (r"list\.remove\(x\)", "not in list"),
    (
        r"must match the (?:existing )?size|could not be broadcast|is not expandable|number of sizes provided",
        "broadcast",
    ),
    (r"is invalid for input of size|cannot reshape array", "reshape"),
    (r"a leaf Variable that requires grad", "leaf in place"),
    (r"implicitly created only for scalar outputs", "not a scalar"),
    (r"cannot be converted to Scalar|only integer tensors|must be real number, not Tensor", "one element"),
)
"""What is in a message, and the reply that is added to it: it says where to look."""


def learner_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost place in the learner's own code, or None if the error arose entirely in ours.

    Any number of library frames may follow it, from files or from functions made at run time.
    """
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if _of_learner(frame)]
    if not frames:
        return None
    return traceback.StackSummary.extract(frames[-1:])[0]


def _of_learner(frame: FrameType) -> bool:
    """Whether a frame runs code of a notebook's cell, or of a file that is not a library's."""
    file = frame.f_code.co_filename
    if file.startswith(("<ipython", "<stdin")):
        return True
    if file.startswith("<"):  # generated: a cell of some kernels, or a library's own
        return frame.f_globals.get("__name__") == "__main__"
    return not file.startswith(LIBRARIES)


def place_in(frame: FrameType | None) -> str:
    """ "Line 3, `y = x @ w`: " for the learner's innermost frame on the way to `frame`; "" if there is none."""
    while frame is not None and not _of_learner(frame):
        frame = frame.f_back
    return "" if frame is None else _place(frame.f_code.co_filename, frame.f_lineno)


def _place(file: str, line: int, code: str = "") -> str:
    code = (code or linecache.getline(file, line)).strip()
    return f"Line {line}" + (f", `{code[:100].replace('`', chr(39))}`" if code else "") + ": "


def message_of(error: BaseException | None) -> str:
    """What the exception says, on one line. Empty if the learner's own exception class fails to print."""
    try:
        text = " ".join(str(error or "").split())
    except Exception:
        return ""
    return text if len(text) <= 300 else text[: text.rfind(" ", 0, 299)] + " …"


def place_of(error: BaseException) -> str:
    """ "Line 3, `y = x @ w`: ", or "" if no line of the learner's code is known."""
    frame = learner_frame(error)
    return "" if frame is None else _place(frame.filename, frame.lineno or 0, frame.line or "")


def in_plain_words(error: BaseException) -> str:
    """What happened and where, in a sentence or two."""
    text = message_of(error)
    text = next((say(key) for begins, key in TOLD.items() if text.startswith(begins)), text)
    message = f"{place_of(error)}**{type(error).__name__}**" + (f": {text}" if text else "")
    message += "" if message[-1] in ".!?" else "."
    more = meaning(error)
    return message if not more or more in message else f"{message} {more[0].upper()}{more[1:]}"


def meaning(error: BaseException) -> str:
    """What an exception usually means, in a sentence or two; "" if its own message is clear, or if nothing is known."""
    kind, text = type(error).__name__, message_of(error)
    if key := next((key for begins, key in TOLD.items() if text.startswith(begins)), ""):
        return say(key)
    if text.startswith("minigrad does not implement"):
        return ""
    for pattern, key in MEANS:
        if found := re.search(pattern, text):
            return say(key, what=(found.groups() or ("",))[0])
    return say(kind) if kind in REPLIES else ""
