"""Where people find what is declared: torch.*, methods of Tensor, torch.nn.functional.*, torch.linalg.*, modules.

Several declarations of one name are the *forms* of one function: the first that takes the arguments runs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from .signature import Signature

# `minigrad/__init__.py` attaches METHODS to Tensor, all in one place.
METHODS: dict[str, object] = {}
FUNCTIONS: dict[str, Callable] = {}  # torch.*
NN: dict[str, Callable] = {}  # torch.nn.functional.*
LINALG: dict[str, Callable] = {}  # torch.linalg.*
MODULES: dict[str, Callable] = {}  # modules made of one function: nn.Tanh
PLACES = {"torch": FUNCTIONS, "Tensor": METHODS, "F": NN, "linalg": LINALG}


def described(call: Callable, name: str, doc: str, signature: Signature, method: bool) -> Callable:
    """Give a function that was made what help() shows: name, docstring, signature."""
    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__, call.__signature__ = "minigrad", doc, signature.in_python(method)
    call.signature = lambda: signature
    return call


def publish(call: Callable, name: str, at: str, aliases: str = "") -> None:
    """Let people find a function in these places (see `table.op`), under its name and the aliases."""
    for place in at.split():
        table = PLACES.get(place, MODULES)
        for public in (name, *aliases.split()) if table is not MODULES else (place.removeprefix("nn."),):
            found = call.as_method() if table is METHODS else call
            add_form(table, public.removeprefix("linalg_"), found)


def add_form(place: dict[str, object], name: str, call: Callable) -> None:
    """Put a function into a place; where there is one of that name already, they become the forms of one function."""
    known = place.get(name)
    if known is not None:
        call = overloaded(name, [*getattr(known, "forms", [known]), call], place is METHODS)
    place[name] = call


def overloaded(name: str, forms: list[Callable], method: bool) -> Callable:
    """One function of several forms. Which one runs depends on the types of the arguments, and is remembered."""
    chosen: dict[tuple, Callable] = {}

    def call(*args, **kwargs):
        if kwargs:
            kinds = (*map(type, args), *kwargs, *map(type, kwargs.values()))
        else:
            kinds = type(args[0]) if len(args) == 1 else (*map(type, args),)
        found = chosen.get(kinds)
        if found is None:
            found = chosen[kinds] = fitting(args, kwargs)
        return found(*args, **kwargs)

    def fitting(args: tuple, kwargs: dict) -> Callable:
        errors = []
        for form in forms:
            try:
                form.signature().bind(args, kwargs, name, method)
                return form
            except TypeError as error:
                errors.append(error)
        if name.startswith("__"):
            return forms[-1]  # of an operator, which leaves to Python what it does not know
        known = [e for e in errors if "knows it" in str(e)]  # else the last form that takes as many arguments
        raise (known or [e for e in errors if not re.search("takes|unexpected", str(e))] or errors)[-1]

    call.forms = forms
    told = "\n".join(f"    {name}{form.signature().in_python(method)}" for form in forms)
    return described(call, name, f"{forms[-1].__doc__}\n\nForms:\n{told}", forms[-1].signature(), method)


def function(at: str = "torch", aliases: str = "", name: str = "") -> Callable:
    """Decorator: a plain Python function of Tensor operations becomes a public one. Its annotations give the TypeErrors."""

    def decorate(run: Callable) -> Callable:
        public = name or run.__name__
        words = {"Tensor": "", "float": "Scalar", "Type": "dtype"}

        @functools.cache
        def signature() -> Signature:
            found = Signature(public, run, words)
            found.arrays = ()
            return found

        def made(method: bool) -> Callable:
            @functools.wraps(run)
            def call(*args, **kwargs):
                try:
                    return run(*args, **kwargs)
                except Exception:  # was it the arguments, or something inside?
                    signature().bind(args, kwargs, method=method)
                    named = {signature().own_name(key): value for key, value in kwargs.items()}
                    if named.keys() == kwargs.keys():
                        raise
                return run(*args, **named)

            call.signature = signature
            return call

        call = made(method=False)
        call.as_method = functools.partial(made, method=True)
        publish(call, public, at, aliases)
        return call

    return decorate


def method(*names: str) -> Callable:
    """Decorator: the function becomes a method of Tensor, under its own name if none is given."""

    def attach(found: Callable) -> Callable:
        METHODS.update(dict.fromkeys(names or [found.__name__], found))
        return found

    return attach
