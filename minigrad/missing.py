"""A clear error for everything that PyTorch has and minigrad does not: names, operators, arguments, kinds of arguments.

`pytorch_names.py` holds PyTorch's names as data. They are looked up after an access or a call has failed.
A name that PyTorch lacks as well gets the same error as in PyTorch. Imports nothing from minigrad except the data.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import NamedTuple, NoReturn

from .pytorch_names import NAMES

SENTENCE = (
    "minigrad does not implement {}; PyTorch does: use `import torch` for this code. viz works with both."
)
# The places in the data that are classes: name -> place.
CLASSES = {path.split(".")[-1]: path for path in NAMES if path == "dtype" or path.split(".")[-1][0].isupper()}
# Methods called by an operator or a built-in function, with its notation.
OPERATORS = {
    "__floordiv__": "//", "__lshift__": "<<", "__rshift__": ">>", "__mod__": "%", "__matmul__": "@", "__add__": "+",
    "__mul__": "*", "__complex__": "complex()", "__reversed__": "reversed()", "__delitem__": "del",
}  # fmt: skip
OPERATORS |= {f"__r{name[2:]}": sign for name, sign in OPERATORS.items() if sign[0] in "/<>%@+*"}
# The name of a value's type in messages, and its letter in the data.
LETTERS = {"Tensor": "T", "int": "I", "float": "N", "bool": "B", "str": "S", "tuple": "L", "list": "L"}
UNKNOWN = r"unexpected keyword argument '(\w+)'"
WRONG_KIND = r"argument '(\w+)'.* must be ([\w. ]+), not (\w+)$"
TOO_MANY = r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+)"


class MissingError(AttributeError, TypeError):
    """PyTorch has this attribute, minigrad does not. Also a TypeError, which is what an unsupported operator raises."""


class Arguments(NamedTuple):
    """The arguments of one function of PyTorch: its full name, the letters of each argument, how many can be positional."""

    function: str
    kinds: dict[str, str]
    positional: int


@functools.cache
def names(path: str) -> dict[str, str]:
    """PyTorch's public names at a place ("torch", "nn.functional"), each with its arguments in the format of the data."""
    return {name: more for name, _, more in (entry.partition("(") for entry in NAMES.get(path, "").split())}


def qualified(path: str, name: str) -> str:
    """A name as users write it: torch.nn.functional.relu."""
    return f"torch.{name}" if path == "torch" else f"torch.{path}.{name}"


@functools.cache
def functions() -> dict[str, list[Arguments]]:
    """All functions and classes of PyTorch by the last part of their name."""
    results: dict[str, list[Arguments]] = {}
    for path in NAMES:
        for name, more in names(path).items():
            written = [w for w in more.removesuffix(")").split(",") if w]
            kinds = dict(w.partition(":")[::2] for w in written if w != "*")
            count = written.index("*") if "*" in written else len(written)
            results.setdefault(name, []).append(Arguments(qualified(path, name), kinds, count))
    return results


def functions_at(name: str, method: bool) -> list[Arguments]:
    """PyTorch's functions of this name that are methods of Tensor, or those that are not."""
    return [f for f in functions().get(name, []) if f.function.startswith("torch.Tensor.") == method]


def missing_error(path: str, name: str) -> MissingError | None:
    """The error for a name that PyTorch has at this place; None if it has no such name."""
    if name not in names(path):
        return None
    what = qualified(path, name)
    if name in OPERATORS:
        what = f"`{OPERATORS[name]}` for a {path.split('.')[-1]} ({what})"
    return MissingError(SENTENCE.format(what), name=name)


def argument(name: str, message: str, place: str = "") -> str | None:
    """The sentence for a TypeError about an argument that PyTorch's function of this name accepts; None if it does not accept
    it. message: the error's text, from Python or `Signature.bind`. place: where the function is (default: anywhere)."""
    unknown, wrong, many = (re.search(pattern, message) for pattern in (UNKNOWN, WRONG_KIND, TOO_MANY))
    known = functions().get(name, [])
    bound = "__init__()" in message  # Python counts the object as an argument
    if wrong and wrong[2].startswith("tuple") and wrong[3] in ("tuple", "list"):
        wrong = None  # its elements do not fit
    for function, kinds, positional in known:
        if not function.startswith(qualified(place, "") if place else "torch."):
            continue
        if unknown and unknown[1] in kinds:
            return SENTENCE.format(f"the argument `{unknown[1]}` of {function}()")
        if wrong and LETTERS.get(wrong[3], "?") in kinds.get(wrong[1], ""):
            article = "an" if wrong[3] == "int" else "a"
            return SENTENCE.format(f"{function}() with {article} {wrong[3]} as `{wrong[1]}`")
        counted_alike = function.startswith("torch.Tensor.") == (place == "Tensor")
        if many and counted_alike and int(many[1]) < int(many[2]) <= positional + bound:
            return SENTENCE.format(f"{function}() with {int(many[2]) - bound} positional arguments")
    return None


# ---------------------------------------------------------------- lookups


class Finder:
    """Raises the error for `import minigrad.fft` and `from minigrad.nn import Fold`: Python tries this finder last."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        parent, _, last = name.rpartition(".")
        if parent.split(".")[0] != __package__ or last in vars(sys.modules[parent]):
            return
        error = missing_error(place_of(parent), last)
        if error is not None:
            raise ModuleNotFoundError(str(error))


sys.meta_path.append(Finder)


def place_of(module: str) -> str:
    """The place in the data of one of minigrad's modules: "torch", "nn.functional"."""
    return module.partition(".")[2] or "torch"


def module_attributes(module: str, public: Iterable[str], homes: Mapping[str, str] = {}) -> tuple:
    """A module's `__dir__` and `__getattr__`: completion shows these names, and PyTorch's other names raise the error.
    homes: the names that are loaded on first use: name -> module, which may itself be the value."""

    def __getattr__(name: str) -> object:
        if name in homes:
            home = import_module(homes[name], module)
            value = guarded(getattr(home, name, home), place_of(module), name)
            return vars(import_module(module)).setdefault(name, value)  # so that it is not looked up again
        path = place_of(module)
        message = f"module '{qualified(path, name).removesuffix(f'.{name}')}' has no attribute '{name}'"
        raise missing_error(path, name) or AttributeError(message, name=name)

    if module in sys.modules:
        # so that `from ... import` uses the Finder, as for a package
        vars(sys.modules[module]).setdefault("__path__", [])
    return sorted(public).copy, __getattr__


class Missing:
    # An attribute that only PyTorch's class has. A `__getattr__` on Tensor would make every attribute access a tenth slower.

    __slots__ = ("name", "path")
    __doc__ = property(lambda self: str(missing_error(self.path, self.name)))  # shown by help()

    def __init__(self, path: str, name: str):
        self.path, self.name = path, name

    def __get__(self, owner: object, kind: type) -> object:
        if owner is None or self.name not in OPERATORS:
            raise missing_error(self.path, self.name)
        # an operator looks its method up first, and Python 3.14 treats an error there as a missing method
        return self.refuse

    def refuse(self, *args: object) -> NoReturn:
        raise missing_error(self.path, self.name)


def complete(cls: type, path: str, only: Iterable[str] | None = None) -> None:
    """Give a class an attribute that raises the error for each name of PyTorch's class that it lacks."""
    for name in names(path) if only is None else only:
        if name in names(path) and not hasattr(cls, name):
            setattr(cls, name, Missing(path, name))


class SaysWhatIsMissing:
    """Base of classes whose objects raise the error for attributes that only PyTorch's have. Not for the main path."""

    def __getattr__(self, name: str) -> object:
        message = f"'{type(self).__name__}' object has no attribute '{name}'"
        raise of_class(type(self), name) or AttributeError(message, name=name)


def of_class(cls: type, name: str) -> MissingError | None:
    """The error for an attribute that PyTorch's class of the same name, or a base of it, has; None if neither has it."""
    results = [missing_error(CLASSES[base], name) for base in ours(cls) if base in CLASSES]
    return next(filter(None, results), None)


def ours(cls: type) -> list[str]:
    """The names of a class and of those of its bases that are minigrad's."""
    return [base.__name__ for base in cls.__mro__ if base.__module__.startswith("minigrad")]


def answering(run: Callable, place: str, name: str = "") -> Callable:
    """Wrap a function: TypeErrors about arguments that PyTorch accepts get a clear message. No `name`: for `__init__`."""

    @functools.wraps(run)
    def call(*args, **kwargs):
        try:
            return run(*args, **kwargs)
        except TypeError as error:
            if name and error.__traceback__.tb_next is not None:
                raise  # it was raised inside the function
            own = name or ours(type(args[0]))[0]
            # the class that was called, not the base that defines its `__init__`
            named = re.sub(r"^(\w+\.__init__\(\) |(?=missing a |got an ))", f"{own}.__init__() ", str(error))
            sentence = argument(own, str(error), place) or (str(error) if name else named)
            if sentence == str(error):
                raise
            raise TypeError(sentence) from None

    return call


def guarded(value: object, place: str, name: str) -> object:
    """A function, wrapped in `answering` if it accepts fewer arguments than PyTorch's function of this name at this place; or a
    class with its `__init__` wrapped; anything else unchanged."""
    run = vars(value).get("__init__") if isinstance(value, type) else value
    code = getattr(run, "__code__", None)
    if name not in names(place) or code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return value
    accepted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    parameters = {w.partition(":")[0] for w in names(place)[name].removesuffix(")").split(",")}
    if parameters <= {*accepted, "*", ""}:
        return value
    if not isinstance(value, type):
        return answering(run, place, name)
    value.__init__ = answering(run, place)
    return value


def guard(where: str | type, place: str) -> None:
    """Guard the functions and classes that a class, or the module of this name, defines."""
    home = where if isinstance(where, type) else sys.modules[where]
    members = {n: v for base in reversed(getattr(home, "__mro__", (home,))) for n, v in vars(base).items()}
    for name in members.keys() & names(place).keys():
        value = members[name]
        imported = home is not where and getattr(value, "__module__", None) != where
        new = value if imported else guarded(value, place, name)
        if new is not value:
            setattr(home, name, new)
