"""A coloured grid of tensors: is it a leaf, does it require grad, what made it? For lesson 02; works on PyTorch's tensors too.

The words carry the meaning, and the colours repeat it: tints that are visible in a light and in a dark theme.
"""

from __future__ import annotations

import html
from typing import Any

HEAD = ("", "is_leaf", "requires_grad", "grad_fn")
TINTS = ("0, 158, 115", "230, 159, 0", "0, 114, 178")  # is a leaf, requires grad, has a grad_fn


class Grid:
    """`Grid({"a": a, "a * 2": a * 2})`: a row for each tensor, coloured where the answer is yes."""

    def __init__(self, tensors: dict[str, Any]):
        self.rows = [
            (name, t.is_leaf, t.requires_grad, t.grad_fn.name() if t.grad_fn else None)
            for name, t in tensors.items()
        ]

    def __repr__(self) -> str:
        lines = [HEAD, *((name, str(leaf), str(asks), str(behind)) for name, leaf, asks, behind in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
        return "\n".join(
            "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        cell = "padding:0.2em 0.9em;text-align:left;border:1px solid var(--jp-border-color2, rgba(128,128,128,0.4))"
        corner, *heads = HEAD
        head = f'<td style="{cell}">{html.escape(corner)}</td>'  # not a heading: it contains no word
        head += "".join(f'<th scope="col" style="{cell}">{html.escape(word)}</th>' for word in heads)
        body = ""
        for name, *answers in self.rows:
            body += f'<tr style="background:none"><th scope="row" style="{cell};font-family:monospace">{html.escape(name)}</th>'
            for answer, tint in zip(answers, TINTS, strict=True):
                shade = f";background:rgba({tint}, 0.28);font-weight:600" if answer else ""
                body += f'<td style="{cell}{shade}">{html.escape(str(answer))}</td>'
            body += "</tr>"
        return (
            '<table style="border-collapse:collapse;margin:0.4em 0;color:var(--jp-content-font-color1, currentColor)">'
            f"<tr>{head}</tr>{body}</table>"
        )
