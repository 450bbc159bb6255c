"""What `help()` shows of a function that is written out for an operation: its name, docstring and annotations.

The rule table says in one line what an operation computes (`define(..., doc=)`). The rest is known: what is broadcast or
cast, the node that is recorded, and where the rule of its derivative can be read. Nothing here runs or imports anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .table import Op


def described(call: Callable, op: Op, *, in_place: bool = False, first: bool = False) -> Callable:
    """Give a function that runs `op` what help() shows. Returns it. Operations without `doc` are internal.

    in_place: it writes into its first tensor. first: it hands out only the first of several results.
    """
    name = op.name.removeprefix("special_").removesuffix("_") + "_" * in_place
    call.__name__ = call.__qualname__ = name
    call.op = op
    if op.doc is None:
        return call
    own = "self" if in_place else "input"
    if in_place:
        call.__doc__ = in_place_form(re.sub(r"\binput\b", own, op.doc))
    else:
        call.__doc__ = f"{op.doc}\n\n{' '.join(facts(op))}"
    number = "Tensor"
    if op.numbers and op.kind == "elementwise":
        number += " | int" if op.name.startswith("bitwise") else " | float"
    names = (own if op.inputs[0] == "self" else op.inputs[0], *op.inputs[1:])
    call.__annotations__ = dict.fromkeys(names, number) | {names[0]: "Tensor", "return": "Tensor"}
    if len(op.outputs) > 1 and not first:
        call.__annotations__["return"] = "tuple[Tensor, ...]"
    return call


def in_place_form(doc: str) -> str:
    """The docstring of a function for the form of it that writes into its first argument, a method."""
    return f"In place: {doc.rstrip()}\n\n    Written into this tensor, which keeps its shape and dtype and is returned."


def facts(op: Op) -> list[str]:
    """What is true of an operation by the way it is defined."""
    told = []
    if op.kind == "elementwise" and len(op.inputs) > 1:
        told += ["Shapes are broadcast, dtypes promoted."]
    if op.floating:
        told += ["Integers become floating point."]
    if not op.differentiable:
        told += ["The result never requires grad."]
    elif op.node_class.__name__ != "NotImplemented":
        told += [f"Recorded as {op.node_class.__name__}; `.op` of this function shows its derivative."]
    return told


__all__ = ["described", "in_place_form"]
