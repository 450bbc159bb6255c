"""What a learner sees: `help()`, Shift+Tab and completion. Every public function says what it does, and PyTorch has it, too."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator

import pytest

import minigrad
import viz

NAMESPACES = (
    "minigrad", "minigrad.Tensor", "minigrad.autograd", "minigrad.autograd.forward_ad", "minigrad.autograd.function",
    "minigrad.autograd.functional", "minigrad.autograd.graph", "minigrad.func", "minigrad.linalg", "minigrad.nn",
    "minigrad.nn.functional", "minigrad.nn.init", "minigrad.nn.parameter", "minigrad.nn.utils", "minigrad.nn.utils.rnn",
    "minigrad.optim", "minigrad.optim.lr_scheduler", "minigrad.special", "minigrad.testing", "minigrad.utils",
    "minigrad.utils.checkpoint", "minigrad.utils.data",
)  # fmt: skip

# What PyTorch has not, and why it is there all the same.
OWN: dict[str, str] = {}


def found(path: str, under: object = minigrad) -> object:
    """minigrad.nn.Linear, or torch's with `under=torch`."""
    thing = under
    for depth, name in enumerate(path.split(".")[1:], start=2):
        if not hasattr(thing, name):
            importlib.import_module(".".join([under.__name__, *path.split(".")[1:depth]]))
        thing = getattr(thing, name)
    return thing


def public(owner: object) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def callables() -> Iterator[str]:
    """The paths of everything public that can be called, and of the methods and properties that public classes define."""
    for path in NAMESPACES:
        for name in public(found(path)):
            thing = getattr(found(path), name)
            if inspect.ismodule(thing) or not (callable(thing) or path == "minigrad.Tensor"):
                continue
            yield f"{path}.{name}"
            if (
                inspect.isclass(thing)
                and thing.__module__.startswith("minigrad")
                and thing is not minigrad.Tensor
            ):
                for part in vars(thing):
                    if not part.startswith("_") and is_documentable(vars(thing)[part]):
                        yield f"{path}.{name}.{part}"


def is_documentable(value: object) -> bool:
    return callable(value) or isinstance(value, (property, staticmethod, classmethod))


CALLABLES = list(dict.fromkeys(callables()))


def first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0]


def is_a_sentence(line: str) -> bool:
    """It starts with a capital letter, a number or code, and ends like a sentence (or leads to the lines that follow)."""
    return bool(re.match(r"[A-Z0-9`(\-|]", line)) and line.endswith((".", ":", "?")) and len(line) > 3


@pytest.mark.parametrize("path", CALLABLES)
def test_the_docstring_begins_with_a_sentence(path):
    line = first_line(found(path))
    assert is_a_sentence(line), f"{path} is told about so: {line!r}"


@pytest.mark.parametrize("path", [f"viz.{name}" for name in viz.__all__])
def test_the_visualisers_docstrings_do_so_too(path):
    assert is_a_sentence(first_line(getattr(viz, path.split(".")[1])))


@pytest.mark.parametrize("path", NAMESPACES)
def test_completion_offers_nothing_that_pytorch_has_not(torch, path):
    theirs = found(path, torch)
    extra = {name for name in public(found(path)) if not hasattr(theirs, name)}
    assert extra == {name.rsplit(".", 1)[1] for name in OWN if name.rsplit(".", 1)[0] == path}


@pytest.mark.parametrize("path", NAMESPACES)
def test_what_completion_offers_is_there(path):
    assert all(hasattr(found(path), name) for name in public(found(path)))
