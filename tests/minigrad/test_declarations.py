"""One declaration makes an operation, the displayed rule is the rule that runs, and a missing feature says so."""

from __future__ import annotations

import importlib
import inspect
import re
import types

import numpy as np
import pytest

import minigrad
import minigrad as torch
import viz
from minigrad.ops import table
from minigrad.ops.table import OPS, op, source_text
from tests.minigrad.operations import CONSTANTS, OPERATIONS
from tests.minigrad.programs import HERE

# ---------------------------------------------------------------- one declaration


TABLES = tuple(table.PLACES.values())


@pytest.fixture
def cubed():
    """An operation that is declared here, in one statement, and removed afterwards."""
    before = [dict(place) for place in TABLES]
    yield op("cubed(self, scale: float=1.0)", lambda x, scale: scale * x**3, at="torch Tensor F", kind="elementwise",
             doc="The third power of each element, times `scale`.",
             self=lambda grad, self, scale: grad * 3 * scale * self**2)  # fmt: skip
    for place, kept in zip(TABLES, before, strict=True):
        place.clear()
        place.update(kept)
    OPS.pop()


def test_a_declaration_makes_function_method_in_place_form_and_help(cubed):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = table.METHODS["cubed"](x, scale=2.0)
    assert y.tolist() == [2.0, 16.0] and repr(y).endswith("dtype=torch.float64, grad_fn=<CubedBackward0>)")
    assert (y.grad_fn._saved_scale, y.grad_fn.name()) == (2.0, "CubedBackward0")
    written = table.METHODS["cubed_"](x * 1)
    assert written.tolist() == [1.0, 8.0] and written._version == 1
    assert table.FUNCTIONS["cubed"] is cubed and "cubed" in table.NN
    assert "third power" in cubed.__doc__ and list(inspect.signature(cubed).parameters) == ["input", "scale"]


def test_and_its_errors_speak_as_pytorchs_do(cubed):
    with pytest.raises(TypeError, match=r"cubed\(\): argument 'scale' \(position 2\) must be float, not str"):
        cubed(torch.ones(1), "a")
    with pytest.raises(
        TypeError, match=r"cubed\(\): argument 'input' \(position 1\) must be Tensor, not list"
    ):
        cubed([1.0])
    with pytest.raises(TypeError, match=r"cubed\(\) got an unexpected keyword argument 'power'"):
        cubed(torch.ones(1), power=2)


def test_and_its_derivatives_of_every_kind(cubed):
    x = torch.tensor([[0.5, -1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(cubed, x)
    assert torch.autograd.gradgradcheck(cubed, x)
    (forward,) = torch.func.jvp(cubed, (x.detach(),), (x.detach(),))[1]
    np.testing.assert_allclose(forward.numpy(), 3 * x.detach().numpy()[0] ** 3)
    slope = torch.func.vmap(torch.func.grad(lambda row: cubed(row).sum()))(x.detach())
    np.testing.assert_allclose(slope.numpy(), 3 * x.detach().numpy() ** 2)


# ---------------------------------------------------------------- what is shown is what runs

REPLACED = {
    "exp": (lambda x: x.exp(), lambda grad, result: grad * 7.0 * result, "grad * 7.0 * result"),
    "sin": (lambda x: x.sin(), lambda grad, self: grad * 5.0, "grad * 5.0"),
}


@pytest.fixture
def replaced(request):
    """The rule of an operation with the code of another one."""
    rule = next(o for o in OPS if o.name == request.param).rules["self"]
    before, rule.__code__ = rule.__code__, REPLACED[request.param][1].__code__
    source_text.cache_clear()
    yield request.param
    rule.__code__ = before
    source_text.cache_clear()


@pytest.mark.parametrize("replaced", REPLACED, indirect=True)
def test_a_rule_that_is_replaced_changes_the_pass_and_what_is_shown(replaced):
    """Every kind of pass calls the very function in the declaration, and its text is shown."""
    call, rule, text = REPLACED[replaced]
    x, ones = torch.tensor([[0.5, 1.0], [2.0, 3.0]], requires_grad=True), torch.ones(2, 2)
    y = call(x)
    expected = rule(ones, y.detach()).tolist()
    y.sum().backward()
    (recorded,) = torch.autograd.grad(call(x).sum(), x, create_graph=True)
    pushed = torch.func.jvp(call, (x.detach(),), (ones,))[1]
    assert x.grad.tolist() == recorded.tolist() == pushed.tolist() == expected
    assert y.grad_fn.rules == {"self": text}
    assert [sent.code for step in viz.trace(call(x).sum()).steps for sent in step.sent].count(text) == 1


# ---------------------------------------------------------------- what is implemented


def test_every_operation_that_is_implemented_is_in_a_list():
    """A new declaration needs a line in differentiable.txt (or a session, or a line of programs). Aliases need none."""
    listed = " ".join(o.expression for o in OPERATIONS + CONSTANTS)
    listed += " ".join(path.read_text(encoding="utf-8") for path in HERE.glob("*/*.txt"))
    words, missing = set(re.findall(r"\w+", listed)), set()
    for place in table.PLACES.values():
        for name, call in place.items():
            forms = [call, *getattr(call, "forms", [])]
            names = {
                name,
                *(getattr(f, "__name__", name) for f in forms),
                *(f.op.name for f in forms if hasattr(f, "op")),
            }
            if not name.startswith("_") and not (names | {n.removesuffix("_") for n in names}) & words:
                missing.add(name)
    assert not missing


NAMESPACES = (
    "", "Tensor", "autograd", "autograd.forward_ad", "autograd.function", "autograd.functional", "autograd.graph", "func",
    "linalg", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "utils.checkpoint", "utils.data",
)  # fmt: skip


def place(namespace: str, root: types.ModuleType) -> object:
    where = root
    for part in filter(None, namespace.split(".")):
        where = getattr(where, part, None) or importlib.import_module(f"{where.__name__}.{part}")
    return where


def public(namespace: str) -> dict[str, object]:
    """The names that completion shows in this namespace."""
    where = place(namespace, minigrad)
    return {name: getattr(where, name) for name in dir(where) if name[0] != "_" and hasattr(where, name)}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_public_name_says_what_it_does(namespace):
    found = public(namespace)
    assert found
    untold = [name for name, value in found.items() if callable(value) and not inspect.getdoc(value)]
    assert not untold


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_public_name_is_pytorchs(torch, namespace):
    where = place(namespace, torch)
    assert not [name for name in public(namespace) if not hasattr(where, name)]
