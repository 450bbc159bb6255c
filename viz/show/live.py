"""Whether a stepper is shown as a live widget, or only as a frame with the same program.

A frame needs neither kernel nor network. So only the frame is sent where no front end runs widgets: tools that run a
notebook to export it (nbconvert, papermill, MyST-NB, Quarto) prefer the widget, which they would load from a network.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ..picture.shown import notebook
from ..read.arguments import public

# the message ids of jupyter_client, which these tools use: session, process, number. Those of front ends look different
_RUN_BY_PYTHON = re.compile(r"[0-9a-f]{8}-[0-9a-f]{24}_\d+_\d+")
_NO = {"0", "no", "off", "false"}
_chosen: bool | None = None


@public
def widgets(on: bool | str | None = None) -> bool:
    """Turn the live widgets of steppers and films on or off; ``widgets(False)`` leaves only frames, which step offline.

    ``True`` and ``False`` decide for this session, ``"auto"`` undoes that: then the environment variable VIZ_WIDGETS
    decides (0 or 1), or else whether a front end may run widgets. Raises ValueError for anything else.
    """
    global _chosen
    if on is not None:
        if on not in (True, False, "auto"):
            raise ValueError(f'viz.widgets takes True, False or "auto", not {on!r}')
        _chosen = None if on == "auto" else bool(on)
    if _chosen is not None:
        return _chosen
    setting = os.environ.get("VIZ_WIDGETS", "").strip().lower()
    return setting not in _NO if setting else not _run_by_a_tool()


def _run_by_a_tool() -> bool:
    """Whether the cell that runs was sent to the kernel by Python code, and not by a front end.

    False under a server that runs cells for its front ends: Jupyter (it sets JPY_SESSION_NAME) and Voilà.
    """
    parent: Any = getattr(notebook(), "get_parent", dict)() or {}
    number = str((parent.get("header") or {}).get("msg_id", ""))
    served = "JPY_SESSION_NAME" in os.environ or "voila" in os.environ.get("SERVER_SOFTWARE", "").lower()
    return bool(_RUN_BY_PYTHON.fullmatch(number)) and not served


class Live:
    """A mixin for a widget: front ends receive it only if one of them runs widgets."""

    comm: Any

    def open(self) -> None:
        if widgets():
            super().open()  # type: ignore[misc]  # of the widget

    def live(self, **kwargs: Any) -> dict[str, Any]:
        """The widget's part of the output; empty if there are no widgets."""
        bundle = super()._repr_mimebundle_(**kwargs) if widgets() and self.comm is not None else None  # type: ignore[misc]
        return (bundle[0] if isinstance(bundle, tuple) else bundle) or {}
