"""The source text of each rule, from its declaration, for the visualiser."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable

from .op import Op, parameters_of


def rule_sources(op: Op) -> dict[str, str]:
    """The text of the rule of each differentiable input, by the input's name."""
    texts = {}
    for name, rule in op.rules.items():
        sharing = op.sharing(name)
        texts[name] = source_text(rule) + (f"[{sharing.index(name)}]" if sharing else "")
    return texts


@functools.lru_cache(maxsize=2048)
def source_text(rule: Callable) -> str:
    """The body of a rule that is a lambda; for a longer function its call, such as `sum_backward(grad, dim)`. Values saved
    under a name that begins with an underscore are left out."""
    code = rule.__code__
    if code.co_name != "<lambda>":
        return f"{rule.__name__}({', '.join(name for name in parameters_of(rule) if name[0] != '_')})"
    spans = [(p[::2], p[1::2]) for p in code.co_positions() if p[2] is not None]
    spans = [span for span in spans if span[0] != span[1]]  # empty ones belong to the lambda as a whole
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first[0], last[0] + 1)]
    lines[-1] = lines[-1][: last[1]]
    lines[0] = lines[0][first[1] :]
    return " ".join(part.decode().strip() for part in lines)
