"""Signatures: names, kinds and defaults of arguments, and PyTorch's TypeErrors for those that do not fit.

A signature is written once, in a declaration such as "sum(self, dim: dims, keepdim: bool=False)". A parameter without
annotation is a Tensor; KINDS lists the others. `input` is accepted for `self`, `axis` for `dim`, `keepdims` for `keepdim`.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from operator import index
from typing import NamedTuple

import numpy as np

from .. import dtypes, messages
from ..basics import check, full_name, wrap_dim
from ..missing import argument
from ..tensor import Tensor, plain_types

REQUIRED = Parameter.empty
INT = frozenset({int})
NUMBERS = (int, float, np.number, np.bool_)

# ---------------------------------------------------------------- kinds of parameters


def is_number(value: object) -> bool:
    if isinstance(value, Tensor):  # the gradient of one that requires grad would be lost
        return value._array.ndim == 0 and type(value) in plain_types and not value._requires_grad
    return isinstance(value, NUMBERS)


def plain_number(value: object) -> bool | int | float:
    """Turn a NumPy number, or a tensor with one element, into a Python number."""
    return value.item() if hasattr(value, "item") else value


def is_int(value: object) -> bool:
    if isinstance(value, Tensor):
        return not value.dim() and value._array.dtype.kind in "iub"
    return isinstance(value, (int, np.integer)) and type(value) is not bool


def are_ints(value: object) -> bool:
    several = isinstance(value, (tuple, list)) and all(map(is_int, value[:1]))  # the others may be bools
    return is_int(value) or (several and all(is_int(n) or isinstance(n, bool) for n in value))


def check_ints(value: object, argument: str, alone: bool = True) -> None:
    """Raise PyTorch's TypeError for a value that should be ints, or, with `alone`, a single int. The first element is checked
    more strictly than the others. argument: what to call it, as in "roll(): argument 'dims' (position 3)"."""
    if alone and is_int(value):
        return
    many = isinstance(value, (tuple, list))
    check(many, "{} must be tuple of ints, not {}", argument, type(value), error=TypeError)
    first = map(type, value[:1])
    check(not value or is_int(value[0]), messages.FIRST_INT, argument, *first, error=TypeError)
    name = argument.partition(" (position")[0]
    for place, n in enumerate(value, 1):
        check(is_int(n) or isinstance(n, bool), messages.OTHER_INT, name, place, type(n), error=TypeError)


def as_dims(dims: object, ndim: int, order: bool = False) -> tuple[int, ...]:
    """One or several dimensions, counted from the front; all of them for None and (). order: all must be named."""
    size = () if dims is None else as_size(dims, alone=not order)
    check(not order or len(size) == ndim, messages.ORDER, ndim, len(size))
    result = tuple([d if 0 <= d < ndim else wrap_dim(d, ndim) for d in size])
    once = len({*result}) == len(result)
    check(once or not order, "permute(): duplicate dims are not allowed.")
    for i, d in enumerate(() if once else result):
        check(d not in result[:i], "dim {} appears multiple times in the list of dims", d)
    return result[:ndim] or tuple(range(ndim))  # a 0-d tensor takes dim 0


def unpacked(values: object) -> object:
    """The only element of `values` if that is a sequence, else `values`: lengths and dimensions may be given either way."""
    alone = isinstance(values, (tuple, list)) and len(values) == 1 and isinstance(values[0], (tuple, list))
    return values[0] if alone else values


def as_size(size: object, alone: bool = True) -> tuple[int, ...]:
    """Lengths given one by one or as one sequence, or, with `alone`, a single one. TypeError for anything else."""
    if type(size) is tuple and INT.issuperset(map(type, size)):
        return size
    listed = type(size) is tuple or isinstance(size, (tuple, list))
    size = unpacked(size) if listed else (size,)
    if not (listed or alone) or (size and not is_int(size[0])):  # the others may be bools, as in PyTorch
        raise TypeError
    return tuple(map(index, size))


def as_shape(size: object, numel: int) -> tuple[int, ...]:
    """A shape for `numel` elements, in which one length may be -1. RuntimeError in PyTorch's words if that does not fit."""
    size = as_size(size, alone=False)
    if not size or min(size) >= 0:
        return size
    known = -math.prod(size)
    if size.count(-1) != 1 or known <= 0 or numel % known:
        for place, n in enumerate(size):
            check(n >= -1, "invalid shape dimension {} at index {} of shape {}", n, place, size)
        check(size.count(-1) == 1, "only one dimension can be inferred")
        check(known or numel, messages.AMBIGUOUS, numel, size)
        raise RuntimeError(f"shape '{[*size]}' is invalid for input of size {numel}")
    free = size.index(-1)
    return (*size[:free], numel // known, *size[free + 1 :])


def as_given(value: object, array: object) -> object:
    return value


class Kind(NamedTuple):
    """A kind of parameter."""

    word: str  # its name in PyTorch's messages
    accepts: Callable[[object], bool]  # whether a value is accepted
    # what `forward` gets, from a value and the array of the first input; must raise for a value that is not accepted
    prepare: Callable[[object, np.ndarray], object] = as_given


def checked(
    accepts: Callable[[object], bool], *usual: type, convert: Callable | None = None
) -> Callable[[object, object], object]:
    """A `Kind.prepare` that checks whether the value is accepted. usual: types whose values are always accepted and unchanged;
    others go through `convert`."""

    def prepare(value: object, array: object) -> object:
        if type(value) in usual:
            return value
        if not accepts(value):
            raise TypeError
        return value if convert is None else convert(value)

    return prepare


as_int = checked(is_int, int, convert=index)


def as_dim(value: object, array: np.ndarray) -> int:
    """A dimension, counted from the front."""
    if type(value) is int and -array.ndim <= value < array.ndim:
        return value % array.ndim
    return wrap_dim(as_int(value, array), array.ndim)


def as_some_dims(value: object, array: np.ndarray) -> tuple[int, ...]:
    """Dimensions, counted from the front; all if None is given."""
    if type(value) is int and -array.ndim <= value < array.ndim:
        return (value % array.ndim,)
    if unpacked(value) is not value:
        raise TypeError
    return as_dims(value, array.ndim)


def of_types(word: str, *types: type) -> Kind:
    """A kind whose values are of these types and are used unchanged."""
    accepts = lambda value: isinstance(value, types)  # noqa: E731
    return Kind(word, accepts, checked(accepts, types[0]))


INTS = "tuple of ints"
KINDS = {
    "": Kind("Tensor", lambda v: isinstance(v, (Tensor, np.generic))),
    "tensors": Kind("tuple of Tensors", lambda v: isinstance(v, (tuple, list))),
    "Scalar": Kind("Number", is_number, checked(is_number, float, int, convert=plain_number)),
    "int": Kind("int", is_int, as_int),
    "float": Kind("float", is_number, checked(is_number, float, int)),
    "bool": of_types("bool", bool, np.bool_),
    "str": of_types("str", str),
    "dtype": of_types("torch.dtype", dtypes.dtype, type)._replace(prepare=lambda v, a: dtypes.to_numpy(v)),
    "object": Kind("object", lambda v: True),
    # a dimension; one already counted from the front; the position of a new dimension; some dimensions; all of them
    "dim": Kind("int", is_int, as_dim),
    "front": Kind("int", is_int),
    "newdim": Kind("int", is_int, lambda v, a: wrap_dim(as_int(v, a), a.ndim + 1)),
    "dims": Kind(INTS, lambda v: v is None or are_ints(v), as_some_dims),
    "order": Kind(INTS, are_ints, lambda v, a: as_dims(v, a.ndim, True)),
    "ints": Kind(INTS, are_ints, lambda v, a: as_size(v)),
    # lengths, one by one or as a sequence; the same for the tensor's own elements, where one length may be -1
    "size": Kind(INTS, are_ints, lambda v, a: as_size(v, alone=False)),
    "parts": Kind(INTS, are_ints, lambda v, a: as_size(v, alone=False)),  # lengths of parts
    "shape": Kind(INTS, are_ints, lambda v, a: as_shape(v, a.size)),
}
LISTED = ("order", "size", "parts", "shape")  # a single int is not one of these
COUNTED = ("dim", "newdim", "dims", "order", "shape")  # their preparation depends on the tensor
IN_PYTHON = {  # a kind, by PyTorch's word for it, as an annotation
    "Tensor": Tensor, "tuple of Tensors": tuple[Tensor, ...], "Number": float, "int": int, "float": float, "bool": bool,
    "str": str, "torch.dtype": dtypes.dtype, "object": object, INTS: int | tuple[int, ...],
}  # fmt: skip
# other names that PyTorch accepts for a parameter, and the names that the parameter may have here
ALIASES = {"axis": ("dim", "dims"), "keepdims": ("keepdim",), "input": ("self", "A"), "self": ("input",)}
ALIASES |= {"axis0": ("dim0",), "axis1": ("dim1",), "split_size": ("split_size_or_sections",)}
ALIASES |= dict.fromkeys(("sections", "indices"), ("indices_or_sections",))

# ---------------------------------------------------------------- signatures


# One parameter of a declaration: the star, the name, the annotation, the default.
PARAMETER = re.compile(r"(\*?)(\w*)(?:: *([\w| ]+))?(?:=(\([^)]*\)|[^,]+))?(?:, *|$)")
literal = functools.cache(ast.literal_eval)


@functools.lru_cache(maxsize=None, typed=True)
def parameter(name: str, kind: object, default: object, annotation: object) -> Parameter:
    """A parameter; most of them are shared by many operations, such as `self`."""
    return Parameter(name, kind, default=default, annotation=annotation)


def declared(text: str) -> Signature:
    """The signature that a declaration describes, in Python's syntax."""
    name, _, rest = text.removesuffix(")").partition("(")
    parameters, kind, parts = {}, Parameter.POSITIONAL_OR_KEYWORD, [*PARAMETER.finditer(rest)]
    if "".join([part[0] for part in parts]) != rest:
        raise TypeError(f"op({text!r}): this is not how Python writes a signature")
    for star, n, annotation, default in [part.groups("") for part in parts]:
        if n:
            own = Parameter.VAR_POSITIONAL if star else kind
            value = literal(default) if default else REQUIRED
            parameters[n] = parameter(n, own, value, annotation.strip() or REQUIRED)
        if star:
            kind = Parameter.KEYWORD_ONLY
    return Signature(name, parameters, {})


class Signature:
    """The parameters of an operation or a function; its annotations, which `kind_names` may translate, are the kinds."""

    numbers = False  # whether a Python number may replace any tensor but the first
    number_first = False  # whether a number may replace the first as well, if another is a tensor
    kernel = ""  # the name used in errors about a value of the wrong kind, if it is a different one
    arrays = (np.ndarray,)  # what else may replace a tensor: arrays, in operations, since rules use these

    def __init__(self, name: str, parameters: Mapping[str, Parameter], kind_names: dict[str, str]):
        self.name, self.named, self.only, self.many = name, [], [], ""
        self.listed = ""  # the parameter whose ints may be given one by one, in a method
        self.kinds, self.defaults, self.parameters = {}, {}, parameters
        for n, p in parameters.items():
            kind = "" if p.annotation is REQUIRED else p.annotation.removesuffix(" | None")
            kind, self.defaults[n] = kind_names.get(kind, kind), p.default
            if p.kind is Parameter.VAR_POSITIONAL:
                kind = "size" if kind == "int" else kind if KINDS.get(kind, ("",))[0] == INTS else "object"
                self.many, self.listed = n, n if kind != "object" else ""
                self.defaults[n] = REQUIRED if self.listed else ()
            else:
                (self.only if p.kind is Parameter.KEYWORD_ONLY else self.named).append(n)
            self.kinds[n] = kind if kind in KINDS else "object"
        self.names, self.rest = list(self.kinds), tuple(self.defaults.values())
        self.most = len(self.named)  # how many may be given by position, apart from `many`
        self.least = self.rest.count(REQUIRED)  # how many must be given

    def as_function(self) -> Signature:
        """The signature of a function, from that of the method: ints that may be listed are one argument, a sequence."""
        if not self.listed:
            return self
        result = copy.copy(self)
        result.named, result.many, result.most = [*self.named, self.listed], "", self.most + 1
        return result

    def ordering(self, names: Sequence[str]) -> tuple[Callable[[Sequence, np.ndarray], Sequence], bool]:
        """A function that prepares the values of these parameters, the last of which may be left out, for `forward`: dimensions
        counted from the front, sizes as tuples. Its arguments are the values and the array of the first input. It raises if
        a value does not fit. Also returns whether there is anything to prepare."""
        count, defaults = len(names), tuple([self.defaults[n] for n in names])
        steps = [self.preparation(n) for n in names]
        first = steps[0] if steps else as_given
        # whether the defaults after the first are ready as they are
        ready = all(self.kinds[n] not in COUNTED for n in names[1:])

        def order(values: Sequence, array: np.ndarray) -> Sequence:
            if ready and len(values) == 1:  # `x.sum(1)`
                return (first(values[0], array), *defaults[1:])
            if len(values) < count:
                values = (*values, *defaults[len(values) :])
            return [prepare(v, array) for prepare, v in zip(steps, values)]  # noqa: B905 - one for each

        pairs = zip(steps, defaults, strict=True)
        return order, any(s is not as_given or d is not REQUIRED for s, d in pairs)

    def preparation(self, name: str) -> Callable[[object, np.ndarray], object]:
        """The function that checks and prepares a value of this parameter, in one step."""
        prepare = KINDS[self.kinds[name]].prepare
        if name == self.listed and self.kinds[name] == "dims":  # () means none of them
            return lambda value, array: as_dims(value, array.ndim) if as_size(value, alone=False) else ()
        if prepare is as_given or self.defaults[name] is not None or self.kinds[name] == "dims":
            return prepare  # None for `dims` means all of them
        return lambda value, array: None if value is None else prepare(value, array)

    def placed(
        self, args: tuple, kwargs: dict, method: bool = False, unknown: list[str] | None = None
    ) -> list[object]:
        """The values of all parameters in their order, unchecked. Raises PyTorch's TypeError if there are too many.
        unknown: collects what is wrong with arguments that have no parameter, if PyTorch would check the others first."""
        count, most = len(args), self.most
        values = [*args, *self.rest[count:]]
        if count > most:
            if not self.many:
                raise TypeError(self.too_many(most, count, method))
            values, count = [*args[:most], args[most:], *self.rest[most + 1 :]], most + 1
        for name, value in kwargs.items():
            own = next((n for n in (name, *ALIASES.get(name, ())) if n in self.kinds), name)
            position = self.names.index(own) if own in self.kinds else -1
            twice = 0 <= position < count and name == own
            check(not twice, "got multiple values for argument '{}'", name, error=TypeError)
            if position >= count:
                values[position] = value
                continue
            message = f"got an unexpected keyword argument '{name}'"
            check(unknown is not None, message, error=TypeError)
            unknown.append(message)
        return values

    def bind(self, args: tuple, kwargs: dict, name: str = "", method: bool = False) -> dict[str, object]:
        """The values of the parameters by name. Raises TypeError in PyTorch's words if they do not fit. method: the first
        argument is the tensor whose method was called, and is not counted."""
        try:
            unknown: list[str] = []
            values = dict(zip(self.names, self.placed(args, kwargs, method, unknown), strict=True))
            self.check_kinds(values, len(args), kwargs, method)
            check(not unknown, "{}", *unknown, error=TypeError)  # last: PyTorch checks the others first
            return values
        except TypeError as error:
            message, name = str(error), name or self.name
            colon = ":" * message.startswith("argument")  # a value of the wrong kind
            usual = f"{(colon and self.kernel) or name}(){colon} {message}"
            raise TypeError(argument(name, message, "Tensor" * method) or usual) from None

    def depends_on_values(self, args: tuple, kwargs: dict) -> bool:
        """Whether the values of the arguments, and not their types alone, decide if they fit: a 0-d tensor may be a number, a
        sequence may hold ints."""
        try:
            values = self.placed(args, kwargs)
        except TypeError:
            return False
        return not any(v is REQUIRED for v in values) and any(
            isinstance(v, (tuple, list, Tensor) if KINDS[kind].word == INTS else Tensor)
            for value, (n, kind) in zip(values, self.kinds.items(), strict=True)
            for v in (value if n == self.many and n not in kwargs else (value,))  # given one by one
            if kind not in ("", "object")
        )

    def check_kinds(self, values: dict[str, object], count: int, kwargs: dict, method: bool) -> None:
        """Raise TypeError if a value is not of its parameter's kind, or missing."""
        for place, (n, kind) in enumerate(self.kinds.items()):
            several = n == self.many and n not in kwargs and type(values[n]) is tuple  # given one by one
            alone = several and len(values[n]) == 1
            value = values[n][0] if alone else values[n]  # it may be a sequence
            one = not several and (n == self.listed or kind in LISTED) and is_int(value)
            if value is self.defaults[n] or (KINDS[kind].accepts(value) and not one):
                continue
            # a rule computes on arrays; mixed with Tensors, they are not allowed
            beside = any(isinstance(v, Tensor) for v in values.values())
            allowed = () if beside else self.arrays
            if self.numbers and (place or (self.number_first and beside)):
                allowed += NUMBERS
            if kind or not isinstance(value, allowed):
                position = f" (position {place + 1 - method})" * (place < count and n not in kwargs)
                if KINDS[kind].word == INTS and isinstance(value, (tuple, list)):
                    if n == self.many and not alone and not is_int(value[0]):
                        raise TypeError(self.too_many(place + 1, count, method))
                    check_ints(value, f"argument '{shown(n)}'{position}")
                result = full_name(Tensor if hasattr(value, "level") else type(value))
                raise TypeError(f"argument '{shown(n)}'{position} must be {KINDS[kind].word}, not {result}")
        missing = [f'"{shown(n)}"' for n, value in values.items() if value is REQUIRED]
        if missing:  # the plural is PyTorch's own
            message = f"missing {len(missing)} required positional argument{'s' * (len(missing) == 1)}"
            raise TypeError(f"{message}: {', '.join(missing)}")

    def too_many(self, most: int, given: int, method: bool) -> str:
        """PyTorch's message for too many positional arguments."""
        least, most = self.least - method, most - method
        count = most if self.many or least == most else f"from {least} to {most}"
        message = f"takes {count} positional argument{'s' * (count != 1)} but {given - method}"
        return f"{message} {'was' if given - method == 1 else 'were'} given"

    @functools.cache  # noqa: B019 - signatures are never freed
    def in_python(self, method: bool) -> inspect.Signature:
        """The signature as help() shows it."""
        results = []
        for (n, kind), p in zip(self.kinds.items(), self.parameters.values(), strict=True):
            note = IN_PYTHON[KINDS[kind].word]
            note = note | float if self.numbers and kind == "" and results else note
            kind = p.POSITIONAL_OR_KEYWORD if n in self.named else p.kind
            results.append(parameter(n if method else shown(n), kind, p.default, note))
        return inspect.Signature(results)


def shown(name: str) -> str:
    """A parameter's name in PyTorch's messages."""
    return "input" if name == "self" else name
