"""Where users find the declared functions: torch.*, methods of Tensor, torch.nn.functional.*, torch.linalg.*.

Several declarations of one name are the *forms* of one function: the first that takes the arguments runs.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
import textwrap
from collections.abc import Callable

from ..missing import is_python
from .apply import call_forms
from .general import write_out
from .signature import Signature

# `minigrad/__init__.py` attaches METHODS to Tensor, all in one place.
METHODS: dict[str, object] = {}
FUNCTIONS: dict[str, Callable] = {}  # torch.*
NN: dict[str, Callable] = {}  # torch.nn.functional.*
LINALG: dict[str, Callable] = {}  # torch.linalg.*
PLACES = {"torch": FUNCTIONS, "Tensor": METHODS, "F": NN, "linalg": LINALG}


def described(call: Callable, name: str, doc: str, signature: Signature, method: bool) -> Callable:
    """Give a function its name, docstring and signature for help()."""
    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = "minigrad", about(doc, method)
    call.__signature__ = signature.in_python(method)
    call.signature = lambda: signature
    return call


def about(doc: str, method: bool) -> str:
    """A docstring with the right name of the first argument: `input`, or `self` in a method."""
    if not method or "input" not in doc:
        return doc
    return re.sub(r"`[^`]*`", lambda quoted: re.sub(r"\binput\b", "self", quoted[0]), doc)


def publish(call: Callable, name: str, at: str, aliases: str = "") -> None:
    """Let users find a function in these places (see `table.op`), under its name and the aliases."""
    for place in at.split():
        for public in (name, *aliases.split()):
            result = call.as_method() if place == "Tensor" else call
            add_form(PLACES[place], public.removeprefix("linalg_"), result)


def add_form(place: dict[str, object], name: str, call: Callable) -> None:
    """Put a function into a place; if the name exists there already, they become the forms of one function."""
    known = place.get(name)
    if known is not None:
        forms, method = [*getattr(known, "forms", [known]), call], place is METHODS
        call = call_forms(name, forms, method)
        described(call, name, doc_of_forms(name, forms, method), forms[-1].signature(), method)
        call.__signature__ = common_signature([inspect.signature(form) for form in forms])
    place[name] = call


def doc_of_forms(name: str, forms: list[Callable], method: bool) -> str:
    """The docstring of a function of several forms: what the first one does, then each form and what it is recorded as."""
    parts = [inspect.cleandoc(forms[0].__doc__).partition("\n\n")[0], "Forms:"]
    for form in forms:
        text = textwrap.indent(inspect.cleandoc(form.__doc__), " " * 8)
        parts.append(f"    {name}{form.signature().in_python(method)}\n{text}")
    return "\n\n".join(parts)


def common_signature(signatures: list[inspect.Signature]) -> inspect.Signature:
    """The signature of the form with most parameters; those that another form lacks default to None if nothing is declared."""
    listing = [s for s in signatures if any(p.kind == p.VAR_POSITIONAL for p in s.parameters.values())]
    widest = max(listing or signatures, key=lambda s: len(s.parameters))
    everywhere = set.intersection(*[set(s.parameters) for s in signatures])
    results, optional = [], False
    for name, p in widest.parameters.items():
        positional = p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        optional = optional or (positional and (name not in everywhere or p.default is not p.empty))
        kinds = {s.parameters[name].annotation for s in signatures if name in s.parameters}
        if len(kinds) > 1 and not any(isinstance(kind, str) for kind in kinds):
            p = p.replace(annotation=functools.reduce(operator.or_, sorted(kinds, key=str, reverse=True)))
        results.append(p.replace(default=None) if positional and optional and p.default is p.empty else p)
    returned = {s.return_annotation for s in signatures}
    return inspect.Signature(
        results, return_annotation=returned.pop() if len(returned) == 1 else widest.empty
    )


def function(at: str = "torch", aliases: str = "", name: str = "", kernel: str = "") -> Callable:
    """Decorator: a plain Python function of Tensor operations becomes a public one. Its annotations give the TypeErrors;
    `kernel` is the function's name in errors about a value of the wrong kind."""

    def decorate(run: Callable) -> Callable:
        public = name or run.__name__
        kind_names = {"Tensor": "", "float": "Scalar", "Type": "dtype", "Ints": "ints", "Lengths": "size"}

        @functools.cache
        def signature(method: bool) -> Signature:
            results = Signature(public, inspect.signature(run).parameters, kind_names)
            results.arrays, results.kernel = (), kernel
            return results if method else results.as_function()

        def public_function(method: bool) -> Callable:
            own = functools.partial(signature, method)
            most, stars = run.__code__.co_argcount, run.__code__.co_flags & inspect.CO_VARARGS
            listed = most and stars and own().listed

            @functools.wraps(run)
            def call(*args, **kwargs):
                given = args[most:] if listed else ()  # Python itself would accept any number of them
                alone = len(given) == 1 and isinstance(given[0], (tuple, list))
                if listed and not (given if method else alone):
                    return call_with(run, own(), own().bind(args, kwargs, method=method))
                # Python takes a bool for an int
                if bool in map(type, args) and not listed and "out" not in kwargs:
                    own().bind(args, kwargs, method=method)
                try:
                    return run(*args, **kwargs)
                except Exception as error:  # whether it was the arguments, or something inside
                    if "out" in kwargs and not method:
                        return write_out(public, call, args, kwargs)
                    if at in ("F", "") and str(error).startswith(f"{public}() missing") and is_python(public):
                        raise  # these are PyTorch's words, too
                    values = own().bind(args, kwargs, method=method)
                    if all(key in own().kinds and key != own().many for key in kwargs):
                        raise
                return call_with(run, own(), values)

            first, shown = run.__code__.co_varnames[:1], "self" if method else "input"
            if first in (("self",), ("input",)) and first != (shown,):
                results = inspect.signature(run)
                start, *others = results.parameters.values()
                call.__signature__ = results.replace(parameters=[start.replace(name=shown), *others])
            call.__name__ = call.__qualname__ = public
            call.signature, call.__doc__ = own, about(run.__doc__ or "", method)
            return call

        call = public_function(method=False)
        call.as_method = functools.partial(public_function, method=True)
        publish(call, public, at, aliases)
        return call

    return decorate


def call_with(run: Callable, signature: Signature, values: dict[str, object]) -> object:
    """Call a plain function of this signature with the values of its parameters."""
    many = values.get(signature.many, ())
    many = many if isinstance(many, (tuple, list)) else (many,)
    return run(*[values[n] for n in signature.named], *many, **{n: values[n] for n in signature.only})


def method(*names: str) -> Callable:
    """Decorator: the function becomes a method of Tensor, under its own name if none is given."""

    def attach(result: Callable) -> Callable:
        if names and not isinstance(result, property):
            result.__name__ = result.__qualname__ = names[0]
        METHODS.update(dict.fromkeys(names or [result.__name__], result))
        return result

    return attach
