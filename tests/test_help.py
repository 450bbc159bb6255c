"""What a learner sees: `help()`, Shift+Tab and completion. Every public function says what it does, and PyTorch has it, too."""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
import typing
from collections.abc import Callable, Iterator

import pytest

import minigrad
import viz
from minigrad.ops.table import OPS

NAMESPACES = (
    "minigrad", "minigrad.Tensor", "minigrad.autograd", "minigrad.autograd.forward_ad", "minigrad.autograd.function",
    "minigrad.autograd.functional", "minigrad.autograd.graph", "minigrad.func", "minigrad.linalg", "minigrad.nn",
    "minigrad.nn.functional", "minigrad.nn.init", "minigrad.nn.parameter", "minigrad.nn.utils", "minigrad.nn.utils.rnn",
    "minigrad.optim", "minigrad.optim.lr_scheduler", "minigrad.special", "minigrad.testing", "minigrad.utils",
    "minigrad.utils.checkpoint", "minigrad.utils.data",
)  # fmt: skip
each_namespace = pytest.mark.parametrize("namespace", NAMESPACES)

# What PyTorch has not, and why it is there all the same. (Nothing at the moment.)
OWN: dict[str, str] = {}


def found(path: str, under: object = minigrad) -> object:
    """What is at a path such as "minigrad.nn.Linear"; under torch, torch.nn.Linear."""
    thing = under
    for depth, name in enumerate(path.split(".")[1:], start=2):
        if not hasattr(thing, name):
            importlib.import_module(".".join([under.__name__, *path.split(".")[1:depth]]))
        thing = getattr(thing, name)
    return thing


def public(owner: object) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def is_described(value: object) -> bool:
    """Is it something that has a docstring of its own? A number has not."""
    return callable(value) or isinstance(value, (property, staticmethod, classmethod))


def callables(namespace: str) -> Iterator[str]:
    """The paths of all that can be called in a namespace, with the methods and properties of its classes."""
    for name in public(found(namespace)):
        thing = getattr(found(namespace), name)
        if is_described(thing):
            yield f"{namespace}.{name}"
        if (
            inspect.isclass(thing)
            and thing.__module__.startswith("minigrad")
            and thing is not minigrad.Tensor
        ):
            yield from (
                f"{namespace}.{name}.{part}"
                for part, value in vars(thing).items()
                if part[0] != "_" and is_described(value)
            )


def exceptions(namespace: str, says: Callable[[str], bool]) -> list[str]:
    """The paths in a namespace of which `says` is not true."""
    paths = list(callables(namespace))
    assert paths or namespace == "minigrad.utils"
    return [path for path in paths if not says(path)]


# ---------------------------------------------------------------- what it does


def is_told(thing: object) -> bool:
    """Does the docstring begin with a sentence: with a capital letter, a number or a formula, and with an end?"""
    line = (inspect.getdoc(thing) or "").split("\n")[0]
    return bool(re.match(r"[A-Z0-9`(\-]", line)) and line.endswith((".", ":", "?")) and len(line) > 3


@each_namespace
def test_every_docstring_begins_with_a_sentence(namespace):
    assert exceptions(namespace, lambda path: is_told(found(path))) == []


@pytest.mark.parametrize("name", viz.__all__)
def test_the_visualisers_docstrings_do_so_too(name):
    thing = getattr(viz, name)
    parts = [part for part in vars(thing) if part[0] != "_"] if inspect.isclass(thing) else []
    methods = [getattr(thing, part) for part in parts if is_described(vars(thing)[part])]
    assert [part for part in (thing, *methods) if not is_told(part)] == []


# ---------------------------------------------------------------- what there is


@each_namespace
def test_completion_offers_nothing_that_pytorch_has_not(torch, namespace):
    theirs = found(namespace, torch)
    extra = {name for name in public(found(namespace)) if not hasattr(theirs, name)}
    assert extra == {path.rpartition(".")[2] for path in OWN if path.rpartition(".")[0] == namespace}


@each_namespace
def test_what_completion_offers_is_there(namespace):
    assert [name for name in public(found(namespace)) if not hasattr(found(namespace), name)] == []


@pytest.mark.parametrize("namespace", ["minigrad.nn", "minigrad.optim", "minigrad.optim.lr_scheduler"])
def test_a_subclass_may_use_every_name_that_it_may_in_pytorch(torch, namespace):
    """What a layer, an optimizer or a schedule keeps for itself has an underscore in front."""
    extra = {
        f"{name}.{part}"
        for name in public(found(namespace))
        if inspect.isclass(ours := getattr(found(namespace), name))
        for part in vars(ours)
        if part[0] != "_" and not hasattr(getattr(found(namespace, torch), name), part)
    }
    assert extra <= {"RNN.mode", "GRU.mode", "LSTM.mode"}  # which PyTorch's have as soon as they are made


def test_completion_offers_the_parts_that_are_loaded_later():
    assert {"nn", "optim", "func", "vmap", "save", "load", "conv2d"} <= set(dir(minigrad))


# ---------------------------------------------------------------- what it is called with


@each_namespace
def test_the_types_of_arguments_and_results_are_told(namespace):
    def says(path: str) -> bool:
        if not inspect.isroutine(found(path)):
            return True
        signature = inspect.signature(found(path))
        untold = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
        return untold in ([], ["self"], ["cls"]) and signature.return_annotation is not signature.empty

    assert exceptions(namespace, says) == []


@each_namespace
def test_the_types_are_names_that_there_are(namespace):
    functions = [
        thing
        for name in public(found(namespace))
        if inspect.isfunction(thing := getattr(found(namespace), name))
    ]
    assert all(typing.get_type_hints(function) for function in functions)


# ---------------------------------------------------------------- functions that are written out for an operation

WRITTEN_OUT = {
    name: op
    for op in OPS
    if op.doc and not op.params and callable(getattr(minigrad, name := op.call.__name__, None))
}
each_operation = pytest.mark.parametrize("op", WRITTEN_OUT.values(), ids=list(WRITTEN_OUT))


def test_what_an_operation_does_is_said_once_for_all_its_forms():
    assert inspect.getdoc(minigrad.exp) == (
        "`exp(input)`: e to the power of each element.\n\n"
        "Integers become floating point. Recorded as ExpBackward0; `.op` of this function shows its derivative."
    )
    assert minigrad.Tensor.exp.__doc__ == minigrad.exp.__doc__
    assert inspect.getdoc(minigrad.exp_) == (
        "In place: `exp(self)`: e to the power of each element.\n\n"
        "Written into this tensor, which keeps its shape and dtype and is returned."
    )
    assert minigrad.absolute.__doc__ == minigrad.Tensor.absolute.__doc__ == minigrad.abs.__doc__
    assert minigrad.Tensor.__and__.__doc__ == minigrad.bitwise_and.__doc__
    assert str(inspect.signature(minigrad.maximum)) == "(input: 'Tensor', other: 'Tensor') -> 'Tensor'"
    assert str(inspect.signature(minigrad.exp_)) == "(self: 'Tensor') -> 'Tensor'"


def test_the_derivative_is_shown_where_the_docstring_says():
    assert repr(minigrad.exp.op) == "<op exp: self: grad * result>"


FLOAT, INTEGER, BOOL = minigrad.float32, minigrad.int64, minigrad.bool


def example(op, dtype: minigrad.dtype) -> list[minigrad.Tensor]:
    """Tensors that it can be called with, if it takes the dtype."""
    shape = {"mm": (2, 2), "mv": (2, 2), "bmm": (1, 2, 2)}.get(op.name, (2,))
    value = 0.5 if dtype is FLOAT else 1
    return [minigrad.full((2,) if name == "vec" else shape, value, dtype=dtype) for name in op.inputs]


@each_operation
def test_it_is_recorded_as_it_says(op):
    said = re.search(r"Recorded as (\w+);", op.call.__doc__)
    assert bool(said) != ("The result never requires grad." in op.call.__doc__)
    if said:
        result = op.call(*(t.requires_grad_() for t in example(op, FLOAT)))
        assert type(result.grad_fn).__name__ == said[1]
    elif "floating point" not in op.doc:
        assert not op.call(*(t.requires_grad_() for t in example(op, FLOAT))).requires_grad


@each_operation
@pytest.mark.parametrize("words", ["integers", "bools", "floating point"])
def test_it_refuses_what_it_says(op, words):
    inputs = example(op, {"integers": INTEGER, "bools": BOOL, "floating point": FLOAT}[words])
    claim = re.search(r"Raises (\w+) for ([^.]*)", op.doc)
    if claim and words in claim[2]:
        with pytest.raises(getattr(builtins, claim[1])):
            op.call(*inputs)
    elif words != "bools":  # which are refused, or not, one by one
        result = op.call(*inputs)
        assert result.is_floating_point() or "Integers become floating point." not in op.call.__doc__


# ---------------------------------------------------------------- corners and ties

inf, nan = float("inf"), float("nan")
# of one variable: what is said, and the derivative there
CORNERS = [
    ("minigrad.abs", "Its derivative is the sign, 0 at 0.", 0.0, 0.0),
    ("minigrad.floor", "Its derivative is 0 everywhere.", 1.0, 0.0),
    ("minigrad.sign", "Its derivative is 0 everywhere.", 0.0, 0.0),
    ("minigrad.angle", "Its derivative is 0.", -1.0, 0.0),
    ("minigrad.relu", "Its derivative at 0 is 0.", 0.0, 0.0),
    ("minigrad.sqrt", "Its derivative at 0 is inf", 0.0, inf),
    ("minigrad.rsqrt", "inf at 0, where the derivative is -inf", 0.0, -inf),
    ("minigrad.log", "-inf at 0, where the derivative is inf", 0.0, inf),
    ("minigrad.sinc", "1 at 0, where the derivative is 0.", 0.0, 0.0),
    ("minigrad.asin", "at -1 and 1 the derivative is inf.", -1.0, inf),
    ("minigrad.acos", "at -1 and 1 the derivative is -inf.", 1.0, -inf),
    ("minigrad.acosh", "at 1 the derivative is inf.", 1.0, inf),
    ("minigrad.special.entr", "At 0 the derivative is inf.", 0.0, inf),
    ("minigrad.nn.functional.relu6", "Its derivative at 0 and at 6 is 0.", 6.0, 0.0),
    ("minigrad.nn.functional.leaky_relu", "Its derivative at 0 is negative_slope.", 0.0, 0.01),
    ("minigrad.nn.functional.elu", "Its derivative at 0 is alpha.", 0.0, 1.0),
    ("minigrad.nn.functional.celu", "Its derivative at 0 is 1.", 0.0, 1.0),
    ("minigrad.nn.functional.hardsigmoid", "Its derivative at both corners is 0.", 3.0, 0.0),
    ("minigrad.nn.functional.hardswish", "Its derivative at -3 is 0, at 3 it is 1.", 3.0, 1.0),
    ("minigrad.nn.functional.hardtanh", "at the bounds the derivative is 0", 1.0, 0.0),
    ("minigrad.nn.functional.softshrink", "at the corners the derivative is 0.", 0.5, 0.0),
    (
        "minigrad.nn.functional.hardshrink",
        "[-lambd, lambd] replaced by 0; there the derivative is 0.",
        0.5,
        0.0,
    ),
]
# of several: what is said, a call, and the gradients
TIES = [
    ("minigrad.maximum", "Equal ones share the gradient, half to each.", minigrad.maximum, (1.0, 1.0), (0.5, 0.5)),
    ("minigrad.fmax", "Of equal ones, `input` gets the gradient.", minigrad.fmax, (1.0, 1.0), (1.0, 0.0)),
    ("minigrad.atan2", "At the origin the derivatives are 0.", minigrad.atan2, (0.0, 0.0), (0.0, 0.0)),
    ("minigrad.hypot", "At the origin the derivatives are NaN.", minigrad.hypot, (0.0, 0.0), (nan, nan)),
    ("minigrad.pow", "At 0 ** 0 both derivatives are 0.", minigrad.pow, (0.0, 0.0), (0.0, 0.0)),
    ("minigrad.copysign", "Where `input` is 0 the derivative is 0.", minigrad.copysign, (0.0, 1.0), (0.0, 0.0)),
    ("minigrad.clamp_min", "At the bound the derivative is 1.", minigrad.clamp_min, (1.0, 1.0), (1.0, 0.0)),
    ("minigrad.norm", "where all elements are 0 is 0.", lambda x, y: minigrad.stack([x, y]).norm(), (0.0, 0.0), (0.0, 0.0)),
]  # fmt: skip


@pytest.mark.parametrize("path, words, place, slope", CORNERS, ids=[path for path, *_ in CORNERS])
def test_the_derivative_at_a_corner_is_the_one_that_is_told(path, words, place, slope):
    assert words in inspect.getdoc(found(path))
    x = minigrad.tensor(place, requires_grad=True)
    found(path)(x).backward()
    assert x.grad.item() == pytest.approx(slope)


@pytest.mark.parametrize("path, words, call, places, slopes", TIES, ids=[path for path, *_ in TIES])
def test_the_gradients_at_a_tie_are_those_that_are_told(path, words, call, places, slopes):
    assert words in inspect.getdoc(found(path))
    inputs = [minigrad.tensor(place, requires_grad=True) for place in places]
    call(*inputs).backward()
    assert [x.grad.item() for x in inputs] == pytest.approx(slopes, nan_ok=True)
