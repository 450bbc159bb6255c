"""The arguments of the public functions: one way to read them, and an error message for each unknown one."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

from .names import overrides
from .text import one_line


class Tensor(Protocol):
    """A tensor of minigrad, of PyTorch or of any engine that follows the graph protocol (read/graph.py)."""

    @property
    def grad_fn(self) -> Any: ...
    def backward(self, *args: Any, **kwargs: Any) -> Any: ...


class Module(Protocol):
    """A module whose parameters have names."""

    def named_parameters(self) -> Iterable[tuple[str, Any]]: ...


Tensors = Tensor | Sequence[Tensor]
Seeds = Tensor | Sequence[Tensor | None] | None  # one gradient for each tensor
Names = Mapping[str, Any] | Mapping[Any, str] | Iterable[tuple[str, Any]] | Module | None
Fold = bool | int | str | type | Callable[[Any], bool] | None
F = TypeVar("F", bound=Callable[..., Any])

# its name in other programs, and its name here
ELSEWHERE = {
    "rankdir": "direction",
    "params": "names",
    **dict.fromkeys(("show_attrs", "show_saved"), "saved"),
    **dict.fromkeys(("depth", "nesting_depth", "collapse"), "fold"),
    **dict.fromkeys(("grad_outputs", "grad_tensors"), "gradient"),
    "timeout": "seconds",
    "rtol": "tolerance",
}


def public(function: F) -> F:
    """Decorate a public function: a call with wrong arguments gets a clear error; ``_frame`` is the caller's."""
    signature = inspect.signature(function)
    shown = [p for p in signature.parameters.values() if not p.name.startswith("_")]
    options = [p.name for p in shown if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in shown)

    @functools.wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        for name in given if not open_ended else ():
            if name not in signature.parameters:
                here = ELSEWHERE.get(name)
                takes = f"It takes {', '.join(options) or 'no options'}"
                advice = f"Here it is called {here}=" if here in options else takes
                raise TypeError(f"viz.{function.__name__} has no option {name}=. {advice}.")
        try:
            signature.bind(*args, **given)
        except TypeError as error:
            bare = signature.replace(parameters=[p.replace(annotation=p.empty) for p in shown])
            form = str(bare).partition(" ->")[0]
            raise TypeError(f"{error}: it is called as viz.{function.__name__}{form}.") from None
        if "_frame" in signature.parameters:
            given.setdefault("_frame", sys._getframe(1))
        return function(*args, **given)

    vars(called)["__signature__"] = signature.replace(parameters=shown)
    return cast(F, called)


def named(names: Any) -> list[tuple[str, Any]] | None:
    """``names=`` as pairs that can be read more than once. Raises TypeError, with what to pass instead."""
    return None if names is None else list(overrides(names))


def check_labels(labels: Any, n: int, verb: str) -> list[str]:
    """``labels=`` as ``n`` strings; TypeError or ValueError, with what to pass, for anything else."""
    wanted = f"labels= of viz.{verb} must be {n} strings"
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"{wanted}, such as ['mine', 'yours'], not {one_line(labels)[:40]!r}.")
    found = list(labels)
    if len(found) != n or not all(isinstance(label, str) for label in found):
        raise ValueError(f"{wanted}, one for each, but got {one_line(found)[:60]}.")
    return list(map(one_line, found))


def check_flags(**flags: Any) -> None:
    """Refuse values other than True and False (and None)."""
    for name, value in flags.items():
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"{name}= must be True or False, not {one_line(value)[:40]!r}.")
