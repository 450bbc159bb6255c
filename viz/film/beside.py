"""Several films beside each other, on one scale and one axis of training steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .show import bundle, save


class Films:
    """Films that play together; the ribbon shows each row against the top row of its own film. Made by ``viz.beside``."""

    def __init__(self, films: Sequence[Any], labels: Sequence[str] | None = None):
        wrong = next((f for f in films if not hasattr(f, "put_beside")), None)
        if wrong is not None:
            raise TypeError(f"viz.beside puts films beside films, but one of these is {type(wrong).__name__}")
        if labels is not None and len(labels) != len(films):
            raise ValueError(f"labels= must name each of the {len(films)} films, got {len(labels)}")
        self.films = list(films)
        self.labels = (
            [str(x) for x in labels] if labels else [f.title or f"film {k}" for k, f in enumerate(films, 1)]
        )

    def __repr__(self) -> str:
        shown = ", ".join(self.labels)
        return f"Films({len(self.films)}: {shown if len(shown) < 80 else shown[:79] + '…'})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return bundle(self.films, repr(self), self.labels, **kwargs)

    def save(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write all of them to one page (.html) or animation (.gif). ValueError for others."""
        return save(self.films, path, title or " · ".join(self.labels), self.labels)
