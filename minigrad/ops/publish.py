"""Where people find what is declared: torch.*, methods of Tensor, torch.nn.functional.*, torch.linalg.*.

Several declarations of one name are the *forms* of one function: the first that takes the arguments runs.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable

from .signature import Signature

# `minigrad/__init__.py` attaches METHODS to Tensor, all in one place.
METHODS: dict[str, object] = {}
FUNCTIONS: dict[str, Callable] = {}  # torch.*
NN: dict[str, Callable] = {}  # torch.nn.functional.*
LINALG: dict[str, Callable] = {}  # torch.linalg.*
PLACES = {"torch": FUNCTIONS, "Tensor": METHODS, "F": NN, "linalg": LINALG}


def described(call: Callable, name: str, doc: str, signature: Signature, method: bool) -> Callable:
    """Give a function that was made what help() shows: name, docstring, signature."""
    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__, call.__signature__ = "minigrad", about(doc, method), signature.in_python(method)
    call.signature = lambda: signature
    return call


def about(doc: str, method: bool) -> str:
    """A docstring that speaks of the first argument by the name that it has here: `input`, or `self` in a method."""
    return re.sub(r"`[^`]*`", lambda quoted: re.sub(r"\binput\b", "self", quoted[0]), doc) if method else doc


def publish(call: Callable, name: str, at: str, aliases: str = "") -> None:
    """Let people find a function in these places (see `table.op`), under its name and the aliases."""
    for place in at.split():
        for public in (name, *aliases.split()):
            found = call.as_method() if place == "Tensor" else call
            add_form(PLACES[place], public.removeprefix("linalg_"), found)


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
    shown = [form.signature().in_python(method) for form in forms]
    texts = [textwrap.indent(inspect.cleandoc(about(form.__doc__, method)), "    ") for form in forms]
    told = "\n\n".join([f"{name}{s}\n{text}" for s, text in zip(shown, texts, strict=True)])
    described(call, name, f"One of these, by its arguments:\n\n{told}", forms[-1].signature(), method)
    call.__signature__ = joint(shown)
    return call


def joint(signatures: list[inspect.Signature]) -> inspect.Signature:
    """One signature for several forms: all their parameters in order; those that not every form has may be left out."""
    found: dict[str, inspect.Parameter] = {}
    for signature in signatures:
        for name, p in signature.parameters.items():
            found.setdefault(name, p)
            if p.default is not p.empty:
                found[name] = found[name].replace(default=p.default)
    rare = [n for n in found if not all(n in s.parameters for s in signatures)]
    found |= {n: found[n].replace(default=None) for n in rare if found[n].default is found[n].empty and found[n].kind < 4
              and found[n].kind is not inspect.Parameter.VAR_POSITIONAL}  # fmt: skip
    optional = False
    for name, p in found.items():  # what follows an optional one must be optional
        if p.kind is p.POSITIONAL_OR_KEYWORD:
            found[name] = p.replace(default=None) if optional and p.default is p.empty else p
            optional = optional or found[name].default is not p.empty
    return inspect.Signature(sorted(found.values(), key=lambda p: p.kind))


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

            first, shown = run.__code__.co_varnames[:1], "self" if method else "input"
            if first in (("self",), ("input",)) and first != (shown,):
                found = inspect.signature(run)
                parameters = [p.replace(name=shown if (n,) == first else n) for n, p in found.parameters.items()]
                call.__signature__ = found.replace(parameters=parameters)
            call.signature, call.__doc__ = signature, about(run.__doc__ or "", method)
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
