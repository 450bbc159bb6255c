"""What a call with arguments of the wrong kind is told: PyTorch's words, worked out when the call has failed.

A call that succeeds pays nothing for it. The annotations of a function say which kinds it takes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..tensor import Tensor, full_name

if TYPE_CHECKING:
    from .table import Op

# Functions that PyTorch has in several forms: its message then lists all of them.
SEVERAL = """
    addmm all any arange argsort baddbmm bernoulli bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor bmm  bucketize clamp clamp_max clamp_min clip copysign count_nonzero cumulative_trapezoid div divide
    dsplit eq eye fill float_power floor_divide fmod ge gradient greater greater_equal gt histogram hsplit index_fill
    isin le lerp less  less_equal linspace logspace lt masked_fill max mean median min mm moveaxis movedim multiply
    nanmedian nanquantile narrow ne not_equal pow prod quantile rand randint randint_like randn random remainder
    repeat_interleave result_type rsub scatter  searchsorted special_xlog1py sort squeeze std std_mean
    subtract sum tensor_split to trapezoid trapz true_divide var var_mean view vsplit  where xlogy
"""
OVERLOADED = frozenset(SEVERAL.split())
# Functions with a second form that PyTorch no longer shows.
SCALED = {
    "add": "Tensor other, *, Number alpha = 1",
    "addbmm": "Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1",
    "addcdiv": "Tensor tensor1, Tensor tensor2, *, Number value = 1",
    "addcmul": "Tensor tensor1, Tensor tensor2, *, Number value = 1",
    "addmv": "Tensor mat, Tensor vec, *, Number beta = 1, Number alpha = 1",
    "addr": "Tensor vec1, Tensor vec2, *, Number beta = 1, Number alpha = 1",
    "sub": "Tensor other, *, Number alpha = 1",
}
# Functions of which at most one form takes as many arguments as were given: it alone is then spoken of.
BY_COUNT = frozenset(
    {*SCALED, "addmm", "baddbmm", "bmm", "div", "divide", "eye", "mm", "multiply", "subtract"}
)
# Functions of `linalg` whose first argument is called A in PyTorch too, and not input.
OF_A = frozenset(
    f"linalg_{name}" for name in ("det", "inv", "lu", "lu_factor", "qr", "slogdet", "solve", "svd", "svdvals")
)
NUMBERS = (int, float, np.number, np.bool_)
KINDS: dict[str, Callable[[object], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "float": lambda v: isinstance(v, NUMBERS) or (isinstance(v, Tensor) and not v.dim()),
    "int": lambda v: hasattr(v, "__index__") and not (isinstance(v, Tensor) and (v.dim() or v.is_floating_point())),
    "bool": lambda v: isinstance(v, (bool, int, np.bool_)),
    "str": lambda v: isinstance(v, str),
    "None": lambda v: v is None,
    "tuple": lambda v: isinstance(v, (tuple, list)) and all(hasattr(d, "__index__") for d in v),
    "Sequence[int]": lambda v: isinstance(v, (tuple, list)) and all(hasattr(d, "__index__") for d in v),
}  # fmt: skip


def number(value: object) -> object:
    """`value`, which stands where a tensor or a number may. Raises TypeError if NumPy alone would make a number of it."""
    if dtypes.is_complex(value):
        raise dtypes.no_complex()
    if isinstance(value, (*NUMBERS, np.generic, np.ndarray)):
        return value
    raise TypeError(f"a number is wanted, not {full_name(type(value))}")


def explain(function: Callable, name: str, args: tuple, kwargs: dict, *, method: bool = False) -> None:
    """Raise PyTorch's TypeError if the arguments of a call that has failed were of the wrong kind; else return."""
    signature = inspect.signature(function)
    base = name.removesuffix("_")
    unbound = None
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        if base in OVERLOADED or base in SCALED:
            raise no_form(signature, name, args, kwargs, method) from None
        unbound = TypeError(f"{name}() {reworded(str(error), signature, args, kwargs)}")
        if not str(error).startswith("missing"):
            raise unbound from None
        given = signature.bind_partial(*args, **kwargs).arguments
    parameters = signature.parameters
    for i, (parameter, value) in enumerate(given.items()):
        wanted = str(parameters[parameter].annotation).split(" | ")
        known = all(kind in KINDS for kind in wanted) and parameters[parameter].kind not in (
            inspect._VAR_POSITIONAL,
            inspect._VAR_KEYWORD,
        )
        if not known or any(KINDS[kind](value) for kind in wanted):
            continue
        if base in OVERLOADED - BY_COUNT:
            raise no_form(signature, name, args, kwargs, method) from None
        place = "" if i >= len(args) else f" (position {i if method else i + 1})"
        shown = "input" if i == 0 and "Tensor" in wanted and name not in OF_A else parameter
        raise TypeError(
            f"{name}(): argument '{shown}'{place} must be {word(wanted)}, not {full_name(type(value))}"
        ) from None
    if unbound is not None:
        raise unbound from None
    takes = [p for p in parameters.values() if "Tensor" in str(p.annotation).split(" | ")]
    if takes and not any(
        isinstance(v, Tensor) for v in given.values()
    ):  # each may be a number, but not all of them
        raise no_form(signature, name, args, kwargs, method) from None


def with_plain_numbers(function: Callable, args: tuple, kwargs: dict) -> inspect.BoundArguments | None:
    """The arguments of a call that has failed, with Python's numbers for NumPy's and for 0-d tensors where a parameter
    takes numbers alone; None if there were none."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return None
    changed = False
    for parameter, value in bound.arguments.items():
        wanted = str(bound.signature.parameters[parameter].annotation).split(" | ")
        if "Tensor" in wanted or not PLAIN.intersection(wanted):
            continue
        found = plain(value, whole="float" not in wanted)
        if found is not value:
            bound.arguments[parameter], changed = found, True
    return bound if changed else None


PLAIN = {"int", "float", "tuple", "Sequence[int]"}


def plain(value: object, whole: bool) -> object:
    """A number as Python's own, numbers in a tuple or list too; anything else as it is."""
    if isinstance(value, (tuple, list)):
        found = [plain(v, whole) for v in value]
        same = all(a is b for a, b in zip(found, value, strict=True))
        return value if same else type(value)(found)
    if isinstance(value, np.generic) or (
        isinstance(value, Tensor) and not value.dim() and not value.requires_grad
    ):
        number = value.item()
        return value if whole and not isinstance(number, int) else number
    return value


def takes_number(op: Op, position: int) -> bool:
    """May a Python number stand for this input of an operation?"""
    return op.numbers is True or (op.numbers == "others" and position > 0)


def explain_operands(op: Op, name: str, inputs: tuple, *, method: bool = False) -> None:
    """Raise PyTorch's TypeError if one of an operation's inputs is no tensor, nor a number beside one; else return."""
    beside_tensor = any(isinstance(t, Tensor) for t in inputs)
    for position, (given, parameter) in enumerate(zip(inputs, op.inputs, strict=False)):
        absent = given is None and parameter in op.optional
        number = beside_tensor and takes_number(op, position) and isinstance(given, NUMBERS)
        if absent or number or isinstance(given, (Tensor, np.generic, np.ndarray)):
            continue
        if name.removesuffix("_") in OVERLOADED - BY_COUNT:
            kinds = ", ".join(full_name(type(t)) for t in inputs[method:])
            forms = ", ".join(op.inputs[method:])
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:\n * ({forms})"
            )
        shown = "input" if parameter == "self" else parameter
        raise TypeError(
            f"{name}(): argument '{shown}' (position {position + 1 - method}) must be Tensor, not {full_name(type(given))}"
        )
    missing = op.inputs[len(inputs) :]
    if missing:
        raise TypeError(f"{name}() missing {told_missing(missing)}")
    count = len(op.inputs) + len(op.params) - method
    if len(inputs) - method > count:
        raise TypeError(
            f"{name}() takes {count} positional argument{'' if count == 1 else 's'} but {len(inputs) - method} were given"
        )


def word(kinds: list[str]) -> str:
    """How PyTorch calls what a parameter takes."""
    if "tuple" in kinds or "Sequence[int]" in kinds:
        return "tuple of ints"
    return {"float": "Number"}.get(kinds[0], kinds[0])


def reworded(message: str, signature: inspect.Signature, args: tuple, kwargs: dict) -> str:
    """What `Signature.bind` says, as PyTorch says it: which arguments are missing, or that there are too many."""
    if message.startswith("missing"):
        required = [
            p for i, p in enumerate(signature.parameters.values()) if i >= len(args) and p.name not in kwargs
        ]
        missing = [p.name for p in required if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
        return f"missing {told_missing(missing)}"
    if message.startswith("too many"):
        positional = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        least, most = len([p for p in positional if p.default is p.empty]), len(positional)
        count = str(most) if least == most else f"from {least} to {most}"
        return f"takes {count} positional argument{'' if most == 1 else 's'} but {len(args)} were given"
    return message


def told_missing(names: Sequence[str]) -> str:
    """Which arguments are missing. The plural is PyTorch's own."""
    plural = "s" if len(names) == 1 else ""
    return f"{len(names)} required positional argument{plural}: " + ", ".join(f'"{n}"' for n in names)


def no_form(signature: inspect.Signature, name: str, args: tuple, kwargs: dict, method: bool) -> TypeError:
    """The arguments fit no form of the function."""
    kinds = ", ".join(full_name(type(a)) for a in args[method:])
    named = "".join(f"{key}={full_name(type(value))}, " for key, value in kwargs.items())
    found = f"{kinds}, {named}".removesuffix(", ") if kinds else named
    form = SCALED.get(name.removesuffix("_"))
    if form is None:
        parameters = list(signature.parameters.values())[method:]
        shown = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
        expected = "one of:\n * " + shown.replace("'", "")
    else:
        out = "" if name[-1] == "_" else ", Tensor out = None"
        expected = f"({form})" if method else f"(Tensor input, {form}{out})"
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({found}), but expected {expected}"
    )
