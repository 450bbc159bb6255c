"""Functions of several forms: which one runs depends on the arguments of this call alone, not on earlier calls."""

from __future__ import annotations

import itertools
import random
import warnings
from types import ModuleType

import pytest

import minigrad
from minigrad.ops.apply import call_forms
from minigrad.ops.table import FUNCTIONS

NAMES = sorted(n for n, call in FUNCTIONS.items() if hasattr(call, "forms") and n[-1] != "_")
# Arguments for any position: as text, so that both libraries make their own.
VALUES = [
    *(
        "T.ones(2,3)",
        "T.ones(2,3,requires_grad=True)",
        "T.tensor(1.5)",
        "T.tensor(1)",
        "T.tensor(1.5,requires_grad=True)",
    ),
    *("T.tensor(True)", "T.ones(2,3)>0", "T.tensor([0,1])", "1", "0", "-1", "1.5", "True", "None"),
    *("(0,1)", "(0,)", "[1]", "(1.5,)", "()", "'floor'"),
]
BEFORE = {  # arguments that a function needs before the one that its forms differ in
    "scatter": ["T.ones(2,3)", "0", "T.tensor([[0,1,0]])"],
    "index_fill": ["T.ones(2,3)", "1", "T.tensor([0,1])"],
    "addmm": ["T.ones(2,2)", "T.ones(2,3)", "T.ones(3,2)"],
    "baddbmm": ["T.ones(2,2,2)", "T.ones(2,2,3)", "T.ones(2,3,2)"],
    "lerp": ["T.ones(2,3)", "T.zeros(2,3)"],
    "masked_fill": ["T.ones(2,3,requires_grad=True)", "T.ones(2,3)>0"],
}
KEYWORDS = [
    *(
        "dim",
        "keepdim",
        "other",
        "value",
        "min",
        "max",
        "correction",
        "unbiased",
        "alpha",
        "beta",
        "decimals",
    ),
    *("exponent", "rounding_mode", "as_tuple"),
]


def calls(name: str, count: int) -> list[tuple[list[str], dict[str, str]]]:
    """Random arguments; the first one is mostly a matrix."""
    chance = random.Random(name)
    found = []
    for _ in range(count):
        args = BEFORE.get(name) or [chance.choice([*VALUES[:2], chance.choice(VALUES)])]
        args = args + [chance.choice(VALUES) for _ in range(chance.choice([0, 1, 1, 1, 2, 2, 3]))]
        chosen = chance.sample(KEYWORDS, chance.choice([0, 0, 0, 1]))
        found.append((args, {key: chance.choice(VALUES) for key in chosen}))
    return found


def outcome(T: ModuleType, run: object, args: list[str], kwargs: dict[str, str]) -> object:
    """What a call gives: names of nodes and values, or the error it raises."""
    values = [eval(text, {"T": T}) for text in args]
    named = {key: eval(text, {"T": T}) for key, text in kwargs.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = run(*values, **named)
    except Exception as error:
        return type(error).__name__, str(error)
    results = [found] if isinstance(found, T.Tensor) else found
    return [
        f"{getattr(r.grad_fn, 'name', str)()} {r.dtype} {(r.detach().double().numpy().round(4) + 0.0).tolist()}"
        for r in results
    ]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_form_depends_on_the_arguments_of_this_call_alone(name: str) -> None:
    forms, given = FUNCTIONS[name].forms, calls(name, 200)
    alone = [outcome(minigrad, call_forms(name, forms, False), *call) for call in given]
    run, order = call_forms(name, forms, False), [*range(len(given))]
    random.Random(name).shuffle(order)
    for number in order:
        assert outcome(minigrad, run, *given[number]) == alone[number], given[number]


@pytest.mark.parametrize("name", NAMES)
def test_the_form_is_the_one_that_pytorch_takes(torch: ModuleType, name: str) -> None:
    """Wherever both libraries give a result, it is the same, recorded as the same node."""
    given, unlike, both = calls(name, 200), [], 0
    for args, kwargs in given:
        ours, theirs = (outcome(T, getattr(T, name), args, kwargs) for T in (minigrad, torch))
        if isinstance(ours, list) and isinstance(theirs, list):
            both += 1
            if str(ours) != str(theirs):
                unlike.append(f"{name}({', '.join([*args, *itertools.starmap('{}={}'.format, kwargs.items())])}): {ours}, "
                              f"PyTorch: {theirs}")  # fmt: skip
    assert both > 3 and not unlike, "\n".join(unlike)


@pytest.mark.parametrize(
    "call", ["torch.pow(x, 'a')", "torch.max(x, 'a')", "x.sum('a')", "torch.clamp(x, 'a')"]
)
def test_the_error_of_a_call_is_shown_alone(call: str) -> None:
    """The traceback does not begin with the error of a form that was tried before."""
    with pytest.raises(TypeError, match="invalid combination") as caught_error:
        eval(call, {"torch": minigrad, "x": minigrad.ones(2, 3)})
    assert caught_error.value.__context__ is None or caught_error.value.__suppress_context__
