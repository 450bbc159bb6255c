"""By which names arguments may be given: PyTorch's own, and NumPy's `axis` and `keepdims`, which PyTorch understands too.

It touches the finished public functions only. What is called often loses no time: the functions that calls.py writes
have PyTorch's names already, others are wrapped, and inside the library the unwrapped ones are used.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FunctionType

from ..autograd.grad_mode import local
from ..clock import clock
from ..tensor import Tensor, read_only
from .arguments import explain, explain_operands, with_plain_numbers
from .calls import argument_names, make_call
from .described import described
from .dispatch import apply
from .history import check_writable

OTHERS = {
    "axis": "dim", "keepdims": "keepdim", "split_size": "split_size_or_sections", "sections": "indices_or_sections",
    "indices": "indices_or_sections",
}  # fmt: skip
# What is called so often that even a wrapper would be felt, and checks its arguments itself.
HOT = {
    "add", "clone", "contiguous", "detach", "div", "expand", "flatten", "matmul", "mean", "mul", "ones", "permute",
    "pow", "relu", "reshape", "size", "square", "squeeze", "sub", "sum", "t", "tensor", "transpose", "unsqueeze", "view",
    "where", "zeros",
}  # fmt: skip
# In place, these look at their tensor and arguments before it matters whether the tensor may be written to.
LOOK_FIRST = {"apply_", "detach_", "fill_diagonal_", "float_power_", "map_", "resize_", "resize_as_", "set_"}
FIRST = {"A", "x", "tensor", "elements"}  # what a first argument is called that is also known as `input`


def name_arguments(public: dict[str, object], prefix: str = "") -> None:
    """Let the functions of a namespace take their arguments by all their names.

    prefix: what comes before a function's name where PyTorch tells of a wrong argument.
    """
    for name, value in public.items():
        if is_operation(value):
            public[name] = named(value, prefix + name)
    for name, found in public.items():
        if is_operation(found) and not is_where_it_says(found):
            own = found.__name__ if public.get(found.__name__) is found else name  # other names are aliases
            found.__module__, found.__qualname__ = public["__name__"], own


def name_methods(public: dict[str, object]) -> None:
    """The same for Tensor's methods that are operations. Those that are among the functions `public` are the same."""
    for name, attribute in list(vars(Tensor).items()):
        if isinstance(attribute, property) and attribute.fset is None:
            setattr(Tensor, name, attribute.setter(read_only(name)))
    known = {getattr(f, "__wrapped__", f): f for f in public.values() if is_operation(f)}
    methods = {name: f for name, f in vars(Tensor).items() if is_operation(f) and name[0] != "_"}
    for name, method in methods.items():
        op = getattr(methods.get(name[:-1]), "op", None) if name.endswith("_") else None
        if op is not None and not hasattr(method, "__wrapped__"):
            own = ("self", *op.inputs[1:], *op.params)
            if method.__code__.co_argcount < len(own):
                setattr(Tensor, name, by_position(method, own))
        elif len(getattr(getattr(method, "op", None), "inputs", ())) > 1 and name[-1] != "_":
            setattr(Tensor, name, method_form(method))
        else:
            found = known.get(method)
            if found is None or getattr(found, "explains", False):
                found = named(method, name, method=True)
            setattr(Tensor, name, found)


def method_form(call: Callable) -> Callable:
    """An operation's function as a method, which does not count `self` where it tells which argument was wrong."""
    op = call.op

    def general(*args):
        count = len(op.inputs)
        try:
            return apply(op, args[:count], args[count:])
        except TypeError:
            explain_operands(op, op.name, args, method=True)
            raise

    return described(make_call(op, otherwise=general), op)


def is_where_it_says(function: Callable) -> bool:
    """Would pickle find the function, and a reader?"""
    return getattr(sys.modules.get(function.__module__), function.__qualname__, None) is function


def is_operation(value: object) -> bool:
    """Is it a function of minigrad.ops? (Those that calls.py writes belong to no module.)"""
    return isinstance(value, FunctionType) and (value.__module__ or __package__).startswith(__package__)


def named(function: Callable, name: str, method: bool = False) -> Callable:
    """`function`, or one like it, that takes its arguments by PyTorch's names and by NumPy's."""
    code, op, wrapped = function.__code__, getattr(function, "op", None), hasattr(function, "__wrapped__")
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if op is not None and not op.variadic and not wrapped:
        names = argument_names(op)
        return by_position(function, names) if len(own) < len(names) else function
    if wrapped:
        own = tuple(inspect.signature(function).parameters)
    others = {other: name for other, name in OTHERS.items() if name in own and other not in own}
    if own and own[0] in FIRST:
        others["input"] = own[0]
    if not others and (name in HOT or name[0] == "_"):
        return function
    return by_name(function, others, name, method)


def by_position(function: Callable, names: tuple[str, ...]) -> Callable:
    """`function`, which takes arguments by position, with `names` for them."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if kwargs:
            args += in_order(function.__name__, names[len(args) :], kwargs)
        return function(*args)

    return call


def in_order(caller: str, names: tuple[str, ...], given: dict[str, object]) -> tuple:
    """The values of named arguments in the order of `names`. Raises TypeError if one is not among these or missing."""
    unknown = [name for name in given if name not in names]
    if unknown:
        raise TypeError(f"{caller}() got an unexpected keyword argument '{unknown[0]}'")
    wanted = names[: 1 + max(names.index(name) for name in given)]
    missing = [name for name in wanted if name not in given]
    if missing:
        raise TypeError(f"{caller}() missing 1 required positional argument: '{missing[0]}'")
    return tuple(given[name] for name in wanted)


def by_name(function: Callable, others: dict[str, str], name: str, method: bool) -> Callable:
    """`function` with `others` as further names of its arguments. Wrong ones are explained in PyTorch's words."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if kwargs and others:
            kwargs = {others.get(key, key): value for key, value in kwargs.items()}
        try:
            return function(*args, **kwargs)
        except (TypeError, AttributeError, ValueError):
            plain = with_plain_numbers(function, args, kwargs)
            if plain is not None:
                return function(*plain.args, **plain.kwargs)
            explain(function, name, args, kwargs, method=method)
            raise
        except (RuntimeError, IndexError) as error:
            if not (method and name[-1] == "_"):
                raise
            explain(function, name, args, kwargs, method=True)
            raise (error if name in LOOK_FIRST else first_of(error, args, kwargs)) from None

    call.explains = True
    return call


def first_of(error: Exception, args: tuple, kwargs: dict) -> Exception:
    """What PyTorch complains of first, of a call in place that has failed: that the tensor must not be written to."""
    given = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
    usual = local.records and local.interpreter is None and not clock.running  # a transform complains before
    if usual and any(t._requires_grad for t in given):
        try:
            check_writable(args[0])
        except RuntimeError as refused:
            return refused
    return error
