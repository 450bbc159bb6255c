"""The learner's progress: one small JSON file beside the lessons. It never leaves the machine.

Delete the file to begin afresh. Under pytest, and while the lessons are built (MINIGRAD_PROGRESS=off),
nothing is read or written, so that a saved lesson looks the same whoever ran it. Set MINIGRAD_PROGRESS to a
path to keep it elsewhere.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_session: dict[str, Any] = {}  # what could not be written to the file


def path() -> Path | None:
    """Where progress is kept, or None when it is kept only in memory."""
    chosen = os.environ.get("MINIGRAD_PROGRESS", "")
    if chosen == "off" or (not chosen and "PYTEST_VERSION" in os.environ):
        return None
    return Path(chosen) if chosen else Path(__file__).resolve().parents[1] / ".progress.json"


def load() -> dict[str, Any]:
    """{"solved": [ids], "predicted": {id: whether it came true}}. A damaged file counts as an empty one."""
    place = path()
    data = _session
    if place is not None:
        try:
            data = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            data = _session
    solved, predicted = (
        (data.get("solved"), data.get("predicted")) if isinstance(data, dict) else (None, None)
    )
    return {
        "solved": [str(item) for item in solved] if isinstance(solved, list) else [],
        "predicted": {str(k): bool(v) for k, v in predicted.items()} if isinstance(predicted, dict) else {},
    }


def note(*, solved: str | None = None, predicted: tuple[str, bool] | None = None) -> None:
    """Add a solved exercise, or a prediction (the first counts: it was made before the answer was seen)."""
    data = load()
    if solved is not None and solved not in data["solved"]:
        data["solved"] = sorted([*data["solved"], solved])
    if predicted is not None:
        data["predicted"].setdefault(*predicted)
    place = path()
    try:
        if place is not None:
            part = place.with_name(place.name + ".part")
            part.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            part.replace(place)
            return
    except OSError:
        pass  # a read-only folder: the session remembers
    _session.update(data)
