"""What PyTorch has and minigrad lacks says so, in one sentence: names, operators, arguments, kinds of arguments.

`pytorch_names.py` holds the names as data. Whatever is asked for in vain is looked up there: what PyTorch does not know
either gets the error that it gets in PyTorch. Imports nothing of minigrad but the data.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import NamedTuple

from .pytorch_names import NAMES

SENTENCE = (
    "minigrad does not implement {}; PyTorch does: use `import torch` for this code. viz works with both."
)
# PyTorch's classes among the places of the data, by name.
CLASSES = {
    path.rpartition(".")[2]: path for path in NAMES if path == "dtype" or path.rpartition(".")[2][0].isupper()
}
# The operators that Python writes in its own way. The data have them under these names.
OPERATORS = {
    "__floordiv__": "//", "__lshift__": "<<", "__rshift__": ">>", "__mod__": "%", "__matmul__": "@", "__add__": "+",
    "__mul__": "*", "__complex__": "complex()", "__reversed__": "reversed()", "__delitem__": "del",
}  # fmt: skip
OPERATORS |= {f"__r{name[2:]}": sign for name, sign in OPERATORS.items() if sign[0] in "/<>%@+*"}
# What messages call the type of a value, and the letter that the data have for it.
LETTERS = {"Tensor": "T", "int": "I", "float": "N", "bool": "B", "str": "S", "tuple": "L", "list": "L"}
UNKNOWN = r"unexpected keyword argument '(\w+)'"
WRONG_KIND = r"argument '(\w+)'.* must be ([\w. ]+), not (\w+)$"
TOO_MANY = r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+)"


class MissingError(AttributeError, TypeError):
    """PyTorch has it, minigrad does not. A TypeError too, as Python says of an operator that there is not."""


class Arguments(NamedTuple):
    """The arguments of one function of PyTorch, and the letters of what they may be."""

    path: str
    kinds: dict[str, str]
    positional: int


@functools.cache
def names(path: str) -> dict[str, str]:
    """PyTorch's public names at a place ("torch", "nn.functional"), each with its arguments as the data have them."""
    return {name: more for name, _, more in (entry.partition("(") for entry in NAMES.get(path, "").split())}


@functools.cache
def functions() -> dict[str, list[Arguments]]:
    """All functions and classes of PyTorch by the last part of their name."""
    found: dict[str, list[Arguments]] = {}
    for path in NAMES:
        for name, more in names(path).items():
            if more:
                written = more.removesuffix(")").split(",")
                kinds = {
                    n: letters for n, _, letters in (w.partition(":") for w in written) if n.isidentifier()
                }
                whole = f"torch.{path}.{name}".replace("torch.torch.", "torch.")
                count = written.index("*") if "*" in written else len(written)
                found.setdefault(name, []).append(Arguments(whole, kinds, count))
    return found


def missing_error(path: str, name: str) -> MissingError | None:
    """The error for a name that PyTorch has at this place; None if it has not."""
    if name not in names(path):
        return None
    whole = f"torch.{path}.{name}".replace("torch.torch.", "torch.")
    what = f"`{OPERATORS[name]}` for a {path.split('.')[-1]} ({whole})" if name in OPERATORS else whole
    return MissingError(SENTENCE.format(what), name=name)


def argument(name: str, told: str, place: str = "") -> str | None:
    """The sentence for a TypeError about an argument that PyTorch's function of this name takes; None if it does not.

    told: the error's message, in Python's words or in those of `Signature.bind`. place: where the function is; anywhere if
    that is not known.
    """
    unknown, wrong, many = (re.search(pattern, told) for pattern in (UNKNOWN, WRONG_KIND, TOO_MANY))
    known = functions().get(name) or functions().get(name.removesuffix("_loss"), [])
    known = [k for k in known if k.path.startswith(f"torch.{place}".removesuffix(".torch"))]
    bound = "__init__()" in told  # Python counts the object among the arguments
    for path, kinds, positional in known:
        if unknown and unknown[1] in kinds:
            return SENTENCE.format(f"the argument `{unknown[1]}` of {path}()")
        if (
            many
            and path.startswith("torch.Tensor.") == (place == "Tensor")
            and int(many[1]) < int(many[2]) <= positional + bound
        ):
            return SENTENCE.format(f"{path}() with {int(many[2]) - bound} arguments by position")
        inside = (
            wrong and wrong[2].startswith("tuple") and wrong[3] in ("tuple", "list")
        )  # what is in it does not fit
        if wrong and not inside and LETTERS.get(wrong[3], "?") in kinds.get(wrong[1], ""):
            article = "an" if wrong[3] == "int" else "a"
            return SENTENCE.format(f"{path}() with {article} {wrong[3]} as `{wrong[1]}`")
    return None


# ---------------------------------------------------------------- where it is asked for


def offers(module: str, public: Iterable[str], homes: Mapping[str, str] = {}) -> tuple[Callable, Callable]:
    """A module's `__dir__` and `__getattr__`: completion shows these names, and what PyTorch has beside them says so.

    homes: where to find what is loaded when it is first used: name → module, which may be what is asked for itself.
    """

    def __getattr__(name: str) -> object:
        if name in homes:
            home = import_module(homes[name], module)
            return vars(import_module(module)).setdefault(name, getattr(home, name, home))  # not asked again
        path = module.removeprefix("minigrad.").replace("minigrad", "torch")
        whole = f"torch.{path}".removesuffix(".torch")
        raise missing_error(path, name) or AttributeError(
            f"module '{whole}' has no attribute '{name}'", name=name
        )

    return sorted(public).copy, __getattr__


class Missing:
    # An attribute that a class has in PyTorch alone; a `__getattr__` of Tensor would slow down all others by a tenth.

    __slots__ = ("name", "path")
    __doc__ = property(lambda self: str(missing_error(self.path, self.name)))  # what help() shows

    def __init__(self, path: str, name: str):
        self.path, self.name = path, name

    def __get__(self, owner: object, kind: type) -> object:
        raise missing_error(self.path, self.name)


def complete(cls: type, path: str, only: Iterable[str] | None = None) -> None:
    """Give a class an attribute that says so for each name of PyTorch's class that it lacks."""
    for name in names(path) if only is None else only:
        if name in names(path) and not hasattr(cls, name):
            setattr(cls, name, Missing(path, name))


class SaysWhatIsMissing:
    """A class whose objects say so of what PyTorch's have beside theirs. For what is not on the path of every operation."""

    def __getattr__(self, name: str) -> object:
        told = f"'{type(self).__name__}' object has no attribute '{name}'"
        raise of_class(type(self), name) or AttributeError(told, name=name)


def of_class(cls: type, name: str) -> MissingError | None:
    """The error for an attribute that one of PyTorch's classes of the same name, of this or a base class, has."""
    ours = [
        CLASSES[c.__name__]
        for c in cls.__mro__
        if c.__name__ in CLASSES and c.__module__.startswith("minigrad")
    ]
    return next(filter(None, (missing_error(path, name) for path in ours)), None)


def answering(run: Callable, place: str, name: str = "") -> Callable:
    """A function whose TypeErrors about arguments that PyTorch takes are the sentence. Without a name it is an `__init__`."""

    @functools.wraps(run)
    def call(*args, **kwargs):
        try:
            return run(*args, **kwargs)
        except TypeError as error:
            if name and error.__traceback__.tb_next is not None:
                raise  # from inside of the function
            told = str(error).replace(
                "too many positional arguments", f"takes 0 positional arguments but {len(args) - 1}"
            )
            ours = [c.__name__ for c in type(args[0]).__mro__ if c.__module__.startswith("minigrad")]
            sentence = argument(name or ours[0], told, place)
            if sentence is None:
                raise
            raise TypeError(sentence) from None

    return call


def guard(where: str | type, place: str) -> None:
    """Let the functions of a module, or of a class, answer so that take fewer arguments than PyTorch's at this place."""
    module = isinstance(where, str)
    space = vars(sys.modules[where]) if module else dict(inspect.getmembers_static(where))
    for name, value in list(space.items()):
        run = vars(value).get("__init__") if isinstance(value, type) else value
        code = getattr(run, "__code__", None)
        if name not in names(place) or code is None or code.co_flags & 8:  # 8: it takes any keyword
            continue
        if module and value.__module__ != where:
            continue
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        wanted = {w.partition(":")[0] for w in names(place)[name].removesuffix(")").split(",")}
        if wanted <= {*taken, "*", ""}:
            continue
        if isinstance(value, type):
            value.__init__ = answering(run, place)
        elif module:
            space[name] = answering(run, place, name)
        else:
            setattr(where, name, answering(run, place, name))
