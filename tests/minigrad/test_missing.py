"""Names that only PyTorch has raise an error that says so in one sentence; a name of neither gets Python's or PyTorch's."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minigrad as torch
import minigrad.nn.functional as F
from minigrad.missing import CLASSES, OPERATORS, MissingError, argument, names
from minigrad.pytorch_names import NAMES

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = (
    r"^minigrad does not implement .*; PyTorch does: use `import torch` for this code. viz works with both.$"
)


def place(path: str) -> object:
    """The module or class of minigrad at PyTorch's path; None if it is missing itself."""
    found = torch
    for part in path.split(".") if path != "torch" else ():
        found = getattr(found, part, None)
    return found


def test_the_data_are_what_this_pytorch_has(torch):
    """If not: `python -m tools.pytorch_names` writes them anew."""
    run = subprocess.run([sys.executable, "-m", "tools.pytorch_names", "--check"], cwd=ROOT, check=False)
    assert run.returncode == 0


@pytest.mark.parametrize("path", [p for p in NAMES if p == "Tensor" or p not in CLASSES.values()])
def test_every_name_of_pytorch_is_there_or_says_so(path):
    where, silent = place(path), []
    if where is None:
        return  # the name itself raises the message
    for name in names(path):
        try:
            getattr(where, name)
        except AttributeError as error:
            silent += [] if isinstance(error, MissingError) else [f"{name}: {error}"]
    assert not silent


INSTANCES = {
    "Tensor": lambda: torch.ones(2, 2),
    "nn.Module": torch.nn.Module,
    "nn.Sequential": torch.nn.Sequential,
    "nn.ModuleList": torch.nn.ModuleList,
    "optim.Optimizer": lambda: torch.optim.SGD([torch.ones(1)], lr=0.1),
    "optim.lr_scheduler.LRScheduler": lambda: torch.optim.lr_scheduler.StepLR(
        torch.optim.SGD([torch.ones(1)], lr=0.1), 1
    ),
    "utils.data.DataLoader": lambda: torch.utils.data.DataLoader([1]),
}


def test_a_module_of_pytorch_is_not_hidden_by_a_file_of_operations() -> None:
    found = {name: vars(torch).get(name) for name in names("torch")}
    modules = {name: m.__name__ for name, m in found.items() if inspect.ismodule(m)}
    assert {"autograd", "linalg"} <= modules.keys()
    assert not {name: m for name, m in modules.items() if m not in (f"minigrad.{name}", name)}


@pytest.mark.parametrize("path", INSTANCES)
def test_objects_say_so_too_and_show_nothing_of_it(path):
    thing, silent = INSTANCES[path](), []
    for name in names(path):
        try:
            getattr(thing, name)
        except AttributeError as error:
            silent += [] if isinstance(error, MissingError) else [f"{name}: {error}"]
            assert (name in OPERATORS or name not in dir(thing)) and not hasattr(thing, name)
            assert getattr(thing, name, 5) == 5
    assert not silent
    with pytest.raises(AttributeError, match="no attribute 'nobody_has_it'") as caught:
        thing.nobody_has_it  # noqa: B018
    assert not isinstance(caught.value, MissingError)


def test_what_nobody_has_gets_the_error_that_it_gets_in_pytorch():
    for where, output in (
        (torch, "module 'torch' has no attribute 'nobody_has_it'"),
        (torch.nn.functional, "module 'torch.nn.functional' has no attribute 'nobody_has_it'"),
        (torch.ones(2), "'Tensor' object has no attribute 'nobody_has_it'"),
        (torch.nn.Linear(1, 1), "'Linear' object has no attribute 'nobody_has_it'"),
    ):
        with pytest.raises(AttributeError) as caught:
            where.nobody_has_it  # noqa: B018
        assert str(caught.value) == output


IMPORTS = [
    "from minigrad import sparse_coo_tensor", "from minigrad.linalg import ldl_factor", "from minigrad.nn import LPPool3d",
    "from minigrad.nn.functional import ctc_loss", "from minigrad.optim.lr_scheduler import CyclicLR", "import minigrad.fft",
    "from minigrad.distributions import Normal", "from minigrad.utils.tensorboard import SummaryWriter",
    "from minigrad.autograd.functional import fwAD", "from minigrad.utils.data import ChainDataset as C",
]  # fmt: skip


@pytest.mark.parametrize("line", IMPORTS)
def test_imports_say_so_too(line):
    with pytest.raises(ImportError, match=SENTENCE):
        exec(line, {})


def test_what_is_there_can_be_imported_as_in_pytorch():
    from minigrad.linalg import det
    from minigrad.nn.functional import relu

    assert det is torch.linalg.det and relu is F.relu


def test_what_nobody_has_cannot_be_imported_as_ever():
    for line in (
        "from minigrad.nn import nobody",
        "import minigrad.nobody",
        "from minigrad.nn.init import nobody",
    ):
        with pytest.raises(ImportError) as caught:
            exec(line, {})
        assert "implement" not in str(caught.value)


def test_operators_say_so_as_type_errors():
    x = torch.ones(2)
    tried = {
        "__lshift__": lambda: x << 1, "__rlshift__": lambda: 1 << x, "__rshift__": lambda: x >> 1,
        "__floordiv__": lambda: x // 2, "__complex__": lambda: complex(x), "__reversed__": lambda: reversed(x),
    }  # fmt: skip
    for name in [name for name in tried if not hasattr(torch.Tensor, name)]:
        with pytest.raises(TypeError, match=SENTENCE):
            tried[name]()
    if not hasattr(torch.nn.Sequential, "__add__"):
        with pytest.raises(TypeError, match=SENTENCE):
            torch.nn.Sequential() + torch.nn.Sequential()
    if not hasattr(torch.nn.ModuleList, "__delitem__"):
        with pytest.raises(TypeError, match=SENTENCE):
            del torch.nn.ModuleList([torch.nn.Tanh()])[0]


def test_a_name_of_ones_own_comes_first():
    x, model = torch.ones(2), torch.nn.Linear(2, 2)
    missing = next(n for n in names("Tensor") if not hasattr(torch.Tensor, n))
    setattr(x, missing, 7)
    assert getattr(x, missing) == 7
    model.half = torch.nn.Linear(2, 2)
    assert isinstance(model.half, torch.nn.Linear) and "half.weight" in model.state_dict()

    class Own(torch.nn.Module):
        def cuda(self):
            return "mine"

    assert Own().cuda() == "mine"


def test_protocols_are_not_disturbed():
    x = torch.ones(2)
    for thing in (x, torch.nn.Linear(2, 1), torch.optim.Adam([torch.ones(1, requires_grad=True)])):
        copy.copy(thing), copy.deepcopy(thing), repr(thing)
        for probe in (
            "_repr_html_",
            "_ipython_display_",
            "_ipython_canary_method_should_not_exist_",
            "__wrapped__",
        ):
            assert not hasattr(thing, probe)
        assert pickle.loads(pickle.dumps(thing)) is not None
    assert np.asarray(x).tolist() == [1.0, 1.0]
    assert not hasattr(x, "__array_interface__") and not hasattr(x, "__cuda_array_interface__")


def test_help_of_what_is_missing_is_the_sentence():
    missing = [n for n in names("Tensor") if not hasattr(torch.Tensor, n) and n not in OPERATORS]
    shown = [line.strip(" |") for line in pydoc.plain(pydoc.render_doc(torch.Tensor)).splitlines()]
    following = dict(itertools.pairwise(shown))
    assert not [n for n in missing if f"does not implement torch.Tensor.{n};" not in following.get(n, "")]


# ---------------------------------------------------------------- arguments

REFUSED = {
    "a plain function's": lambda x: torch.nn.init.normal_(x, generator=None),
    "a layer's": lambda x: torch.nn.RNN(2, 3, proj_size=3),
    "a made layer's": lambda x: torch.nn.L1Loss(size_average=True),
    "a loss's": lambda x: torch.nn.MSELoss(reduce=True),
    "a loader's": lambda x: torch.utils.data.DataLoader([1], batch_sampler=None),
    "a module's method": lambda x: torch.nn.Linear(1, 1).load_state_dict({}, assign=True),
    "a tensor's method": lambda x: x.is_contiguous(memory_format=1),
    "torch.func's": lambda x: torch.func.functional_call(torch.nn.Tanh(), {}, (x,), tie_weights=False),
    "an operation's": lambda x: torch.clone(x, memory_format=1),
    "a factory's": lambda x: torch.zeros(2, layout=None),
}  # fmt: skip


@pytest.mark.parametrize("whose", REFUSED)
def test_an_argument_that_pytorch_takes_is_refused_in_the_sentence(whose):
    with pytest.raises(TypeError, match=SENTENCE):
        REFUSED[whose](torch.ones(1, 1, 4, 4))


def test_an_argument_that_nobody_takes_gets_the_ordinary_error():
    x = torch.ones(2)
    for call in (
        lambda: F.dropout(x, nobody=1), lambda: torch.nn.Linear(1, 1, nobody=1), lambda: x.exp(nobody=1),
        lambda: torch.optim.SGD([x], nobody=1), lambda: torch.func.grad(torch.sum, nobody=1), lambda: x.size(nobody=1),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="unexpected keyword argument 'nobody'"):
            call()


def test_a_form_that_pytorch_knows_is_refused_in_the_sentence_and_any_other_is_not():
    assert "torch.clamp() with a Tensor as `min`" in argument(
        "clamp", "argument 'min' (position 1) must be Number, not Tensor"
    )
    assert argument("add", "argument 'other' (position 1) must be Tensor, not str") is None
    assert argument("sum", "argument 'dim' (position 1) must be tuple of ints, not tuple") is None
    with pytest.raises(TypeError, match="must be Tensor, not str"):
        torch.add(torch.ones(2), "one")


def test_an_error_from_inside_a_function_stays_as_it_is():
    def inner(x):
        raise TypeError("inner() got an unexpected keyword argument 'generator'")

    with pytest.raises(TypeError, match=r"^inner\(\) got an unexpected"):
        torch.func.grad(inner)(torch.ones(2))


def test_the_names_of_classes_are_not_mixed_up():
    """A user's class of the same name has nothing to do with PyTorch's."""
    assert {"Module", "Tensor", "Optimizer"} <= CLASSES.keys()
    Optimizer = type("Optimizer", (), {})
    with pytest.raises(AttributeError) as caught:
        Optimizer().profile_hook_step  # noqa: B018
    assert not isinstance(caught.value, MissingError)


# Where the order in the data differs, and why a call still means the same.
OTHER_ORDER = {
    **dict.fromkeys(
        ("RNN", "LSTM", "GRU"), "the data have the arguments of their base, which begin with a mode"
    ),
    **dict.fromkeys(
        ("softmax", "log_softmax", "softmin"), "the data leave out `_stacklevel`, which PyTorch has too"
    ),
    **dict.fromkeys(
        ("addmm", "addmv", "addr", "addbmm", "baddbmm"), "the data have the form of old, factors first"
    ),
    "norm": "`out` comes before `dtype`; a tensor there is no dtype",
    "backward": "`grad_variables` comes before `inputs`; it is given by nobody since PyTorch 0.4",
}


@pytest.mark.parametrize("path", ["nn", "nn.functional", "torch", "Tensor", "linalg", "optim", "optim.lr_scheduler",
                                  "utils.data", "nn.init", "nn.utils", "autograd", "nn.Module"])  # fmt: skip
def test_arguments_are_taken_at_the_positions_that_they_have_in_pytorch(path):
    """An argument at the wrong position would silently be taken for another one."""
    home, found, compared = place(path), [], 0
    for name, more in names(path).items():
        call = getattr(home, name, None)
        if not callable(call) or not more or name in OTHER_ORDER:
            continue
        try:
            parameters = [*inspect.signature(call).parameters.values()][isinstance(home, type) :]
        except ValueError:  # Python's own, such as int
            continue
        ours = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        theirs = [
            written.partition(":")[0] for written in more.removesuffix(")").partition("*")[0].split(",")
        ]
        compared += 1
        found += [f"{name}: {a} at {i}" for i, a in enumerate(ours) if a in theirs and theirs.index(a) != i]
    assert compared and not found


@pytest.mark.parametrize(
    "call",
    [
        "torch.det(input=m)", "torch.inverse(input=m)", "torch.matrix_power(input=m, n=2)", "torch.linalg.det(A=m)",
        "torch.swapaxes(m, axis0=0, axis1=1)", "m.swapaxes(axis0=0, axis1=1)", "torch.tensor_split(m, sections=2)[0]",
        "torch.tensor_split(m, indices=(1,))[0]", "torch.hsplit(m, sections=2)[0]", "m.split(split_size=1)[0]",
    ],
)  # fmt: skip
def test_arguments_have_the_names_that_they_have_in_pytorch(call):
    by_position = re.sub(r"\w+=", "", call)
    found, expected = (eval(text, {"torch": torch, "m": torch.eye(2) * 3}) for text in (call, by_position))
    assert torch.equal(found, expected)
