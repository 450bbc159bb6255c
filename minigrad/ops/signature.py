"""What operations and functions take: names, kinds and defaults of arguments, and PyTorch's TypeErrors for what does not fit.

A signature is written once, in a declaration such as "sum(self, dim: dims, keepdim: bool=False)". A parameter without
annotation is a Tensor; KINDS lists the others. `self` may also be called `input`, `dim` `axis` and `keepdim` `keepdims`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

import numpy as np

from .. import dtypes
from ..tensor import Tensor, full_name, plain_types
from .errors import told_missing

REQUIRED = inspect.Parameter.empty
NUMBERS = (int, float, np.number, np.bool_)


def is_number(value: object) -> bool:
    if isinstance(value, Tensor):
        return (
            value._array.ndim == 0 and type(value) in plain_types and not value._requires_grad
        )  # it would be lost
    return isinstance(value, NUMBERS)


def is_int(value: object) -> bool:
    if isinstance(value, Tensor):
        return not value.dim() and value._array.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and type(value) is not bool


def are_ints(value: object) -> bool:
    return is_int(value) or (isinstance(value, (tuple, list)) and all(map(are_ints, value)))


# The kinds of parameters: what PyTorch's messages call them, and whether a value is one.
INTS = ("tuple of ints", are_ints)
KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "": ("Tensor", lambda v: isinstance(v, (Tensor, np.ndarray, np.generic))),
    "tensors": ("tuple of Tensors", lambda v: isinstance(v, (tuple, list))),
    "Scalar": ("Number", is_number),
    "int": ("int", is_int),
    "float": ("float", is_number),
    "bool": ("bool", lambda v: isinstance(v, (bool, np.bool_))),
    "str": ("str", lambda v: isinstance(v, str)),
    "dtype": ("torch.dtype", lambda v: isinstance(v, (dtypes.dtype, type))),
    "object": ("object", lambda v: True),
    "dim": ("int", is_int),  # a dimension, which arrives counted from the front
    "newdim": ("int", is_int),  # the place of a new one
    "dims": ("tuple of ints", lambda v: v is None or are_ints(v)),  # one or several, all if none is given
    "size": INTS,  # lengths, one by one or as a sequence
    "shape": INTS,  # the same, of which one may be -1: as many elements as the tensor has
}
ALIASES = {"axis": ("dim", "dims"), "keepdims": ("keepdim",), "input": ("self",), "self": ("input",)}


class Argument:
    """One parameter: its name, kind and default; is it keyword-only, does it take what is left (`*size`)?"""

    __slots__ = ("default", "keyword_only", "kind", "many", "name")

    def __init__(
        self, name: str, kind: str, default: object = REQUIRED, keyword_only: bool = False, many: bool = False
    ):
        self.name, self.kind, self.default = name, kind, default
        self.keyword_only, self.many = keyword_only, many

    @property
    def shown(self) -> str:
        """Its name in PyTorch's messages."""
        return "input" if self.name == "self" else self.name


class Signature:
    """The parameters of an operation or a function."""

    def __init__(self, name: str, parameters: Iterable[Argument]):
        self.name, self.parameters = name, tuple(parameters)
        self.names = tuple(p.name for p in self.parameters)
        self.kinds = {p.name: p.kind for p in self.parameters}
        self.defaults = {p.name: p.default for p in self.parameters}
        self.positional = [p for p in self.parameters if not p.keyword_only]
        self.first_number = False  # may a number stand for the first tensor?
        self.numbers = False  # and for the others?

    @classmethod
    def parse(cls, text: str) -> Signature:
        """From the text of a declaration."""
        name, _, rest = text.partition("(")
        parameters, keyword_only = [], False
        for part in split_at_commas(rest.rstrip()[:-1]):
            head, equals, default = part.partition("=")
            head, _, kind = (s.strip() for s in head.partition(":"))
            if head == "*":
                keyword_only = True
                continue
            many = head[0] == "*"
            value = () if many else eval(default, {}) if equals else REQUIRED
            parameters.append(Argument(head.lstrip("*"), kind, value, keyword_only, many))
        return cls(name.strip(), parameters)

    @classmethod
    def of(cls, function: Callable, name: str) -> Signature:
        """From a Python function's parameters and annotations."""
        found = []
        for p in inspect.signature(function).parameters.values():
            kind = "object" if p.annotation is p.empty else str(p.annotation).removesuffix(" | None")
            kind = {"Tensor": "", "float": "Scalar"}.get(kind, kind if kind in KINDS else "object")
            many = p.kind is p.VAR_POSITIONAL
            found.append(Argument(p.name, kind, () if many else p.default, p.kind is p.KEYWORD_ONLY, many))
        return cls(name, found)

    def bind(self, args: tuple, kwargs: dict, name: str = "", method: bool = False) -> list:
        """The values of all parameters, in order. Raises TypeError in PyTorch's words if they do not fit.

        method: the first argument is the tensor whose method was called, and is not counted.
        """
        name = name or self.name
        try:
            values = self.by_name(args, kwargs)
            for place, p in enumerate(self.parameters):
                value = values.get(p.name, p.default)
                if (
                    p.name in values
                    and not (value is None and p.default is None)
                    and not self.takes(place, p, value)
                ):
                    position = f" (position {place + 1 - method})" * (
                        place < len(args) and p.name not in kwargs
                    )
                    wanted, found = KINDS[p.kind][0], full_name(type(value))
                    raise TypeError(f"argument '{p.shown}'{position} must be {wanted}, not {found}")
            given = {**self.defaults, **values}
            missing = [
                p.shown
                for p in self.parameters
                if given[p.name] is (() if p.many and p.kind != "int" else REQUIRED)
            ]
            if missing:
                raise TypeError(f"missing {told_missing(missing)}")
        except TypeError as error:
            colon = ":" if str(error).startswith("argument") else ""
            raise TypeError(f"{name}(){colon} {error}") from None
        return [values.get(p.name, p.default) for p in self.parameters]

    def by_name(self, args: tuple, kwargs: dict) -> dict[str, object]:
        """The arguments by the names of the parameters; TypeError for those that there is no parameter for."""
        values, many = {}, bool(self.positional) and self.positional[-1].many
        for place, (p, value) in enumerate(zip(self.positional, args, strict=False)):
            values[p.name] = args[place:] if p.many else value
        if len(args) > len(self.positional) and not many:
            least, most = sum(p.default is REQUIRED for p in self.positional), len(self.positional)
            count = f"{most}" if least == most else f"from {least} to {most}"
            raise TypeError(
                f"takes {count} positional argument{'s' * (most != 1)} but {len(args)} were given"
            )
        for key, value in kwargs.items():
            known = (
                key if key in self.kinds else next((k for k in ALIASES.get(key, ()) if k in self.kinds), None)
            )
            if known is None:
                raise TypeError(f"got an unexpected keyword argument '{key}'")
            if known in values and values[known] is not self.defaults[known]:
                raise TypeError(f"got multiple values for argument '{key}'")
            values[known] = value
        return {n: v for n, v in values.items() if v is not REQUIRED}

    def takes(self, place: int, p: Argument, value: object) -> bool:
        """Is this value of the kind that the parameter takes?"""
        if p.many and p.kind not in ("size", "shape", "dims"):
            return True
        if KINDS[p.kind][1](value):
            return True
        return p.kind == "" and isinstance(value, NUMBERS) and (self.numbers if place else self.first_number)

    def in_python(self, method: bool) -> inspect.Signature:
        """As help() shows it."""
        kind, found = inspect.Parameter, []
        for p in self.parameters:
            how = kind.KEYWORD_ONLY if p.keyword_only else kind.POSITIONAL_OR_KEYWORD
            default, how = (REQUIRED, kind.VAR_POSITIONAL) if p.many else (p.default, how)
            note = KINDS[p.kind][0] + " | float" * (p.kind == "" and self.numbers and bool(found))
            found.append(kind(p.name if method else p.shown, how, default=default, annotation=note))
        return inspect.Signature(found)


def split_at_commas(text: str) -> list[str]:
    """The parts of a parameter list; commas in brackets and quotes do not count."""
    parts, depth, start, quoted = [], 0, 0, False
    for place, c in enumerate(text):
        quoted ^= c in "'\""
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth and not quoted:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()] if text.strip() else []
