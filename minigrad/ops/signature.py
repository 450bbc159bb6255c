"""What operations and functions take: names, kinds and defaults of arguments, and PyTorch's TypeErrors for what does not fit.

A signature is written once, in a declaration such as "sum(self, dim: dims, keepdim: bool=False)". A parameter without
annotation is a Tensor; KINDS lists the others. `self` may also be called `input`, `dim` `axis` and `keepdim` `keepdims`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import NamedTuple

import numpy as np

from .. import dtypes
from ..basics import NOT_OFFERED
from ..tensor import Tensor, plain_types
from ..words import expect, full_name

REQUIRED = inspect.Parameter.empty
NUMBERS = (int, float, np.number, np.bool_)
OPTION = re.compile(r"keyword argument '(.*?)'|argument '(.*?)'.* must be (?:Number|int), not (Tensor|tuple)")


def is_number(value: object) -> bool:
    if isinstance(value, Tensor):  # of one that requires grad the gradient would be lost
        return value._array.ndim == 0 and type(value) in plain_types and not value._requires_grad
    return isinstance(value, NUMBERS)


def is_int(value: object) -> bool:
    if isinstance(value, Tensor):
        return not value.dim() and value._array.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and type(value) is not bool


def are_ints(value: object) -> bool:
    return is_int(value) or (isinstance(value, (tuple, list)) and all(map(is_int, value)))


class Kind(NamedTuple):
    """A kind of parameter. The texts are parts of written functions: {0} is the parameter, {1} the first input's array."""

    word: str  # what PyTorch's messages call it
    accepts: Callable[[object], bool]  # may this value stand there?
    unusual: str = ""  # what shows that a value is wrong or needs a closer look
    ordered: str = ""  # what it becomes before it reaches the forward function, the usual case first


INTS = "tuple of ints"
DIMS = "({0},) if type({0}) is int and 0 <= {0} < {1}.ndim else tuple(range({1}.ndim)) if {0} is None else "
DIMS += "as_dims({0}, {1}.ndim)"
NOT_INT, NOT_NUMBER = "type({0}) is not int", "type({0}) is not int and type({0}) is not float"
KINDS = {
    "": Kind("Tensor", lambda v: isinstance(v, (Tensor, np.generic))),
    "tensors": Kind("tuple of Tensors", lambda v: isinstance(v, (tuple, list))),
    "Scalar": Kind("Number", is_number, NOT_NUMBER, "{0}.item() if hasattr({0}, 'item') else {0}"),
    "int": Kind("int", is_int, NOT_INT),
    "float": Kind("float", is_number, NOT_NUMBER),
    "bool": Kind("bool", lambda v: isinstance(v, (bool, np.bool_)), "{0} is not False and {0} is not True"),
    "str": Kind("str", lambda v: isinstance(v, str)),
    "dtype": Kind("torch.dtype", lambda v: isinstance(v, (dtypes.dtype, type)), "", "dtypes.to_numpy({0})"),
    "object": Kind("object", lambda v: True),
    # a dimension, which arrives counted from the front; the place of a new one; one or several, all if none is given
    "dim": Kind("int", is_int, NOT_INT, "{0} if 0 <= {0} < {1}.ndim else wrap_dim({0}, {1}.ndim)"),
    "newdim": Kind("int", is_int, "", "wrap_dim({0}, {1}.ndim + 1)"),
    "dims": Kind(
        INTS, lambda v: v is None or are_ints(v), "type({0}) not in (int, tuple, list, NoneType)", DIMS
    ),
    "order": Kind(INTS, are_ints, "", "as_dims({0}, {1}.ndim, True)"),  # all of them
    # lengths, one by one or as a sequence; the same with one that may be -1: as many elements as the tensor has
    "size": Kind(INTS, are_ints, "", "as_size({0})"),
    "shape": Kind(INTS, are_ints, "", "as_shape({0}, {1}.size)"),
}
ALIASES = {"axis": ("dim", "dims"), "keepdims": ("keepdim",), "input": ("self",), "self": ("input",)}


@functools.cache  # many operations are alike
def compiled(text: str) -> CodeType:
    """The code of the function that `text` defines."""
    module = compile(text, "<minigrad.ops>", "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))


def declared(text: str) -> Signature:
    """The signature that a declaration gives: it is written as Python writes one."""
    name, found = text.partition("(")[0], {}
    exec(compile(f"def {text}: 0", "<declaration>", "exec", annotations.compiler_flag), found)
    return Signature(name, found[name], {})


class Signature:
    """The parameters of an operation or a function; its annotations, which `words` may translate, are the kinds."""

    numbers = False  # may a Python number stand for any tensor but the first?
    arrays = (np.ndarray,)  # may arrays stand for all tensors? In operations, which rules call

    def __init__(self, name: str, function: Callable, words: dict[str, str]):
        self.name, self.named, self.only, self.many = name, [], [], ""
        self.kinds, self.defaults, self.parameters = {}, {}, inspect.signature(function).parameters
        for n, p in self.parameters.items():
            kind, how = "" if p.annotation is REQUIRED else p.annotation.removesuffix(" | None"), p.kind
            kind, self.defaults[n] = words.get(kind, kind), p.default
            if how is p.VAR_POSITIONAL:
                self.many, self.defaults[n] = n, ()
                kind = "size" if kind == "int" else kind if KINDS.get(kind, ("",))[0] == INTS else "object"
            else:
                (self.only if how is p.KEYWORD_ONLY else self.named).append(n)
            self.kinds[n] = kind if kind in KINDS else "object"

    @property
    def heads(self) -> str:
        """The parameters of a function that takes whatever it is given; `more` and `others` are too many."""
        return ", ".join([*self.named, "*" + (self.many or "more"), *self.only, "**others"])

    def with_defaults(self, function: FunctionType) -> FunctionType:
        """Give a function with these heads the defaults."""
        function.__defaults__ = tuple([self.defaults[n] for n in self.named])
        function.__kwdefaults__ = (function.__kwdefaults__ or {}) | {n: self.defaults[n] for n in self.only}
        return function

    @functools.cached_property
    def locals_of(self) -> Callable[..., dict]:
        """A function with these heads that gives the values by name."""
        return self.with_defaults(FunctionType(compiled(f"def call({self.heads}): return locals()"), {}))

    def bind(self, args: tuple, kwargs: dict, name: str = "", method: bool = False) -> dict[str, object]:
        """The values of the parameters by name. Raises TypeError in PyTorch's words if they do not fit.

        method: the first argument is the tensor whose method was called, and is not counted.
        """
        try:
            return self.by_name(args, kwargs, method)
        except TypeError as error:
            told, name = str(error).removeprefix("call() "), name or self.name
            colon = ":" * told.startswith("argument")
            raise TypeError(f"{name}(){colon} {told}{left_out(name, told)}") from None

    def by_name(self, args: tuple, kwargs: dict, method: bool) -> dict[str, object]:
        """What `bind` gives; its errors do not name the function."""
        values, unknown = self.locals_of(*args, **kwargs), []
        if values.pop("more", ()):
            least, most, n = sum(self.defaults[n] is REQUIRED for n in self.named), len(self.named), len(args)
            count = most - method if least == most else f"from {least - method} to {most - method}"
            told = f"takes {count} positional argument{'s' * (count != 1)} but {n - method}"
            raise TypeError(f"{told} {'was' if n - method == 1 else 'were'} given")
        for key, value in values.pop("others").items():
            own = self.own_name(key)
            if own in values and values[own] is self.defaults[own]:
                values[own] = value
            else:  # told last: PyTorch looks at the kinds of the others first
                told = "multiple values for" if own == key and key in values else "an unexpected keyword"
                unknown.append(f"got {told} argument '{key}'")
        for place, (n, kind) in enumerate(self.kinds.items()):
            alone = n == self.many and len(values[n]) == 1  # it may be a sequence
            value = values[n][0] if alone else values[n]
            if value is self.defaults[n] or KINDS[kind].accepts(value):
                continue
            # a rule computes on arrays; beside a Tensor they are none
            arrays = () if any(isinstance(v, Tensor) for v in values.values()) else self.arrays
            if kind or not isinstance(value, arrays + NUMBERS * bool(self.numbers and place)):
                position = f" (position {place + 1 - method})" * (place < len(args) and n not in kwargs)
                found = full_name(Tensor if hasattr(value, "level") else type(value))
                raise TypeError(f"argument '{shown(n)}'{position} must be {KINDS[kind].word}, not {found}")
        needed = [n for n, k in self.kinds.items() if n != self.many or k != "object"]
        missing = [f'"{shown(n)}"' for n in needed if values[n] is (() if n == self.many else REQUIRED)]
        if missing:  # the plural is PyTorch's own
            told = f"missing {len(missing)} required positional argument{'s' * (len(missing) == 1)}"
            raise TypeError(f"{told}: {', '.join(missing)}")
        expect(not unknown, "{}", *unknown, error=TypeError)
        return values

    def own_name(self, key: str) -> str:
        """What the parameter is called here that was given by one of its other names."""
        return next((n for n in ALIASES.get(key, ()) if n in self.kinds), key)

    def in_python(self, method: bool) -> inspect.Signature:
        """As help() shows it."""
        found = []
        for (n, kind), p in zip(self.kinds.items(), self.parameters.values(), strict=True):
            note = KINDS[kind].word + (" | float" if self.numbers and kind == "" and found else "")
            found.append(p.replace(name=n if method else shown(n), annotation=note))
        return inspect.Signature(found)


def left_out(name: str, told: str) -> str:
    """What is added to an error about an argument, or a kind of argument, that PyTorch may know."""
    found = OPTION.search(told)
    option = found and (found[1] or f"{found[2]}={found[3]}")
    return f"\nIf PyTorch knows it: {NOT_OFFERED.format(f'{name}({option})')}" if option else ""


def offering(run: Callable) -> Callable:
    """A plain function, or the `__init__` of a class, whose errors have that addition."""

    @functools.wraps(run)
    def call(*args, **kwargs):
        try:
            return run(*args, **kwargs)
        except TypeError as error:
            name = type(args[0]).__name__ if run.__name__ == "__init__" else run.__name__
            error.args = (str(error) + left_out(name, str(error)),)
            raise

    return call


def shown(name: str) -> str:
    """A parameter's name in PyTorch's messages."""
    return "input" if name == "self" else name
