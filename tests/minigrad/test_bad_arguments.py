"""No call, however wrong, fails with Python's or NumPy's own words about minigrad's internals.

Every public function and method is called with arguments of the wrong rank and type, with tensors that are empty or have no
dimensions, and with too many and too few arguments. Whatever is raised must be PyTorch's message or a sentence of minigrad's.
"""

from __future__ import annotations

import inspect
import operator
import random
import re
import warnings
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

import minigrad
import minigrad as torch
import minigrad.nn.functional  # which publishes what it declares
from minigrad.ops import table

# Words about arrays, axes, tuples and attributes that users have not written.
INTERNAL = re.compile(
    r"tuple index|list index|not enough values|too many values|inhomogeneous|could not be broadcast|cannot reshape|"
    r"\baxis\b|\baxes\b|ufunc|has no attribute|'NoneType'|not subscriptable|not iterable|not callable|unsupported operand|"
    r"\barray(s|\.|\b(?!\.copy))|_array|zero-size|cannot unpack|invalid literal|shape-mismatch|core dimension|"
    r"must be real number|division by zero|unhashable|slice indices|Cannot cast|einsum|matmul: Input|"
    r"can't multiply sequence|can only concatenate|not supported between instances|argument of type|"
    r"object cannot be interpreted|bad operand type|<lambda>|missing \d+ required positional argument: '|"
    r"\bcall\(\)|got multiple values for argument 'self'"
)
# Exceptions: PyTorch's own words.
ALLOWED = re.compile(
    r"^einsum\(\)|only one element tensors|iteration over a 0-d|not supported between instances of '.*' and 'Tensor'|"
    r"object cannot be interpreted as an integer"
)
PLACES = {"torch": table.FUNCTIONS, "Tensor": table.METHODS, "F": table.NN, "linalg": table.LINALG}
SKIPPED = re.compile(r"^(_|backward|register|retain|share|numpy|save|load|manual_seed)")
CASES = [
    (place, name)
    for place, table in PLACES.items()
    for name in sorted(table)
    if callable(table[name]) and not SKIPPED.match(name)
]


def arguments() -> dict[str, object]:
    """The arguments for calls, new each time, since some are written to."""
    return {
        "number": torch.tensor(2.0), "empty": torch.zeros(0), "rows": torch.zeros(0, 3), "vector": torch.tensor([1.0, 2.0]),
        "matrix": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True), "cube": torch.ones(2, 3, 4),
        "images": torch.ones(1, 2, 4, 4), "whole": torch.tensor([0, 1]), "mask": torch.tensor([True, False]),
        "integers": torch.tensor([[0, 9]]), "none": None, "one": 1, "minus": -1, "seven": 7, "half": 0.5, "text": "two",
        "pair": (0, 1), "triple": (1, 1, 1), "nothing": (), "list": [1, 2], "ragged": [[1], [2, 3]], "true": True,
        "dtype": torch.float64, "tensors": [torch.ones(2), torch.ones(3)], "numbers": [torch.tensor(1.0)] * 2,
        "slice": slice(1), "object": object(), "nan": float("nan"), "dictionary": {"a": 1}, "array": np.ones(2),
    }  # fmt: skip


KEYWORDS = (
    "dim",
    "keepdim",
    "p",
    "size",
    "other",
    "weight",
    "reduction",
    "padding",
    "k",
    "value",
    "min",
    "max",
    "unknown",
)


def calls(place: str, name: str, count: int) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Arguments by their names in `arguments`, in order and by keyword."""
    chance, words = random.Random(zlib.crc32(f"{place}.{name}".encode())), list(arguments())
    tensors = words[:10] + ["tensors", "numbers"]
    for _ in range(count):
        first = [chance.choice(tensors[:10] if place == "Tensor" else tensors)]
        more = chance.choices(words, k=chance.choice([0, 0, 1, 1, 1, 2, 2, 3, 4]))
        named = {chance.choice(KEYWORDS): chance.choice(words)} if chance.random() < 0.25 else {}
        yield first + more, named


@pytest.mark.parametrize(("place", "name"), CASES, ids=[f"{place}.{name}" for place, name in CASES])
def test_what_is_wrong_is_reported_in_words_about_the_call(place: str, name: str) -> None:
    run, wrong = PLACES[place][name], []
    for given, named in calls(place, name, 60):
        values = arguments()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run(*[values[g] for g in given], **{n: values[v] for n, v in named.items()})
        except Exception as error:
            text = str(error).split("\n")[0]
            internal = (
                INTERNAL.search(text)
                or not text
                or isinstance(error, KeyError | UnboundLocalError | AttributeError)
            )
            own = place == "F" and text.startswith(
                f"{name}() missing"
            )  # as in PyTorch, where it is written in Python
            if internal and not own and not ALLOWED.search(text):
                shown = ", ".join([*given, *[f"{n}={v}" for n, v in named.items()]])
                wrong.append(f"{name}({shown}): {type(error).__name__}: {text}")
    assert not wrong, "\n".join(wrong[:8])


# Calls of functions that have several forms, none of which takes the arguments.
COMBINATIONS = """x.pow('a')|x.sum(dim='a')|x.sum(1.5)|x.mean('a')|x.sum(foo=2)|x.mean(0, 1, 2, 3)|x.prod('a')
x.clamp(min='a')|x.clamp(1, 'a')|x.masked_fill(x > 0, 'a')|x.remainder('a')|x.fmod('a')|x.sum(keepdim=1)|x.mean(keepdim=True)
torch.max(x, 'a')|torch.max(x, 1.5, 2)|torch.pow(x, 'a')|torch.std(x, 'a')|torch.lerp(x, x, 'a')|torch.where(1, 'a')
x.permute([True, 0])|x.permute(True, 0)|torch.permute(x, 1, 0)|x.permute(dims=1)|torch.reshape(x, 3, 2)|torch.reshape(x, 6)
x.reshape([True, 6])|x.expand(size=3)|x.flip()|torch.flip(x, 0)|torch.flip(x, 0, 1)|x.tile()|torch.tile(x, 2, 2)|x.sum_to_size()
torch.broadcast_to(x, 2, 3)|x.repeat(True, 1)|torch.roll(x, [True, 1], [0, 1])|torch.unflatten(x, 0, 2)
x.unflatten(0, [True, 2])|x.view()|x.view('a')|x.view(2.0, 3)|x.view([2.0, 3])|x.view(None)|x.view(shape=(3, 2))|x.view(True, 6)
torch.arange(start=1)|torch.arange(step=1)|torch.arange()|torch.arange('a')|torch.arange(3, step=2)
x.roll((0, 1))|x.roll((1, 2), None)|torch.roll(x, shifts=[1, 2])|x.roll(())"""


@pytest.mark.parametrize("call", re.split(r"\||\n", COMBINATIONS))
def test_arguments_that_no_form_takes_are_refused_in_pytorchs_words(torch, call: str) -> None:
    messages = []
    for engine in (torch, minigrad):
        with pytest.raises((TypeError, RuntimeError)) as caught:
            eval(call, {"torch": engine, "x": engine.ones(2, 3)})
        messages.append((caught.type, str(caught.value).split("\n")[0]))
    assert messages[0] == messages[1]


def test_one_beta_is_refused_before_the_first_step() -> None:
    with pytest.raises(IndexError, match=r"betas must be a tuple of two numbers, but got"):
        torch.optim.Adam([torch.ones(1)], betas=(0.9,))


def test_dimensions_are_moved_one_to_one_or_several_to_several(torch) -> None:
    for engine in (torch, minigrad):
        for given in (((0,), 1), (0, [1])):
            with pytest.raises(TypeError, match="movedim"):
                engine.ones(2, 3).movedim(*given)


# Sizes of parts, what a bool means, which of two errors comes first, layers with too many arguments.
MENDED = """m.split(-1)|m.split([-1, 5])|m.split([1, 2, 3])|m.split(0)|torch.split_with_sizes(m, -1)
m.split_with_sizes(-1, dim=5)|torch.combinations(v, True)|m.flatten(False)|m.chunk(True)
v.diff(True)|m.unflatten(True, (2, 1))|m.reshape(4, True)
torch.addbmm(b, c, c)|torch.addbmm(b, c, c[:2].mT)|torch.addbmm(torch.ones(7, 7), c, c)|torch.addbmm(m, m, c)
torch.take_along_dim(m, v)|torch.take_along_dim(m, v[:0])|torch.take_along_dim(m, v[:0], 1)|torch.gather(m, 0, v[:0])
torch.nn.ReLU(True, 3)|torch.nn.Tanh(3)|torch.nn.Softmax(1, 2)|torch.nn.Linear(1, 2, 3, 4, 5, 6, 7)|torch.nn.ModuleDict(3)
torch.nn.Conv2d(1, 2, 3, 1, 0, 1, 1, True, 'zeros', None, None, 5)|torch.nn.MaxPool2d(2, 2, 0, 1, True)|m.permute(0, 0)
m.view(3, -1)|m.view(-1, -1)|m.view(-2, 1)|torch.ones(0).view(0, -1)|m.sum((0, 0))|m.copy_(m, non_blocking=True)
torch.meshgrid(v, v, indexing='ab')|m.expand(2)|m.expand(3, 2)
m.copy_('a')|m.copy_(None)|m.copy_(other=m)|torch.addcmul(m, m, m, 2)|m.addcdiv_(m, m, 2)|m.aminmax(0, True)"""


@pytest.mark.parametrize("call", re.split(r"\||\n", MENDED))
def test_a_call_has_the_result_or_the_error_that_it_has_in_pytorch(torch, call: str) -> None:
    results = []
    for library in (torch, minigrad):
        names = {"torch": library, "m": library.ones(2, 2), "v": library.arange(3.0), "b": library.ones(2, 3)}
        try:
            results.append(repr(eval(call, names | {"c": library.ones(4, 2, 3)})))
        except Exception as error:
            results.append(f"{type(error).__name__}: {error}")
    assert results[1] == results[0]


def test_a_function_that_is_python_in_pytorch_names_what_is_missing_as_python_does(torch) -> None:
    """Functions for which PyTorch's message is Python's `f() missing 1 ...`: minigrad's is the same."""
    messages = {}
    for library in (torch, minigrad):
        for name in [n for n in minigrad.nn.functional.__all__ if hasattr(torch.nn.functional, n)]:
            try:
                getattr(library.nn.functional, name)(library.ones(2, 2))
            except Exception as error:
                messages.setdefault(name, []).append(str(error))
    missing = {name: both for name, both in messages.items() if both[0].startswith(f"{name}() missing 1")}
    assert len(missing) > 20
    assert not {name: both for name, both in missing.items() if len({*both}) > 1}


def test_the_inputs_of_a_layer_have_pytorchs_names(torch) -> None:
    """So they can be given by name, and one too many or too few is refused in Python's words, as in PyTorch."""

    def inputs(layer: type) -> list[str]:
        return list(inspect.signature(layer.forward).parameters)

    layers = {n: v for n, v in vars(minigrad.nn).items() if isinstance(v, type) and hasattr(v, "forward")}
    both = {n: (inputs(layer), inputs(getattr(torch.nn, n))) for n, layer in layers.items()}
    assert len(both) > 80
    assert not {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def test_constructors_have_no_arguments_that_pytorchs_lack_and_the_same_defaults(torch) -> None:
    wrong = []
    for place in ("nn", "optim", "optim.lr_scheduler", "utils.data"):
        ours, theirs = operator.attrgetter(place)(minigrad), operator.attrgetter(place)(torch)
        for name in [n for n in dir(ours) if isinstance(getattr(ours, n), type) and n in dir(theirs)]:
            own, other = (inspect.signature(getattr(library, name)).parameters for library in (ours, theirs))
            if "args" not in other:  # a class whose signature PyTorch does not show
                wrong += [(name, n) for n, p in own.items() if p.kind is not p.VAR_KEYWORD and
                          (n not in other or p.default != other[n].default)]  # fmt: skip
    assert not wrong


LAYERS = """MSELoss()(input=x, target=x)|MSELoss()(x, target=x + 1)|MSELoss()(x)|MSELoss()(x, x, x)|MSELoss()(x, x, "mean")
ReLU()(input=x)|ReLU()(x, True)|Softmax(1)(x, 0)|Tanh()()|Flatten()(x, 0)|PoissonNLLLoss()(log_input=x, target=x)
TripletMarginLoss()(anchor=x, positive=x, negative=x + 1)|CrossEntropyLoss(x[0])(x, target=x)|CrossEntropyLoss()(x, x, x)
GaussianNLLLoss()(x, x + 1, var=x)|MarginRankingLoss()(x, x)|CosineSimilarity()(x1=x, x2=x + 1)|RMSNorm(2)(x=x)
MultiheadAttention(2, 1)(x[None], x[None], x[None], x > 0, attn_mask=x.int())|MultiheadAttention(2, 1)(*[x[None]] * 3, x.int())
KLDivLoss()(target=x, inputs=x)|Linear(2, 2)(x, x)|Upsample(scale_factor=2)(input=x[None, None])"""


@pytest.mark.parametrize("call", re.split(r"\||\n", LAYERS))
def test_a_layer_takes_its_inputs_as_in_pytorch(torch, call: str) -> None:
    found = []
    for library in (torch, minigrad):
        library.manual_seed(0)
        try:
            found.append(repr(eval(f"nn.{call}", {"nn": library.nn, "x": library.rand(2, 2) + 0.1})))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    assert found[1] == found[0]


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("mask", [None, "bool", "float"])
@pytest.mark.parametrize("padding", [None, "bool", "float"])
def test_attention_takes_masks_of_both_kinds(
    torch, padding: str | None, mask: str | None, batch_first: bool
) -> None:
    for average in (False, True):
        found = []
        for library in (torch, minigrad):
            library.manual_seed(0)
            attention = library.nn.MultiheadAttention(4, 2, batch_first=batch_first)
            x = library.randn(*((2, 3) if batch_first else (3, 2)), 4, requires_grad=True)
            later = library.ones(3, 3).triu(1) > 0
            masks = {None: None, "bool": later, "float": later * -0.5}
            unused = library.tensor([[False, True, False], [False, False, True]])
            paddings = {None: None, "bool": unused, "float": unused * -0.25}
            given = {"attn_mask": masks[mask], "average_attn_weights": average}
            out, weights = attention(x, x, x, paddings[padding], **given)
            (out.square().sum() + weights.square().sum()).backward()
            found.append([t.detach().numpy() for t in (out, weights, x.grad, attention.in_proj_weight.grad)])
        for ours, theirs in zip(*reversed(found), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)
