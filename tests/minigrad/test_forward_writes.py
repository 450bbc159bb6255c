"""Writes in place under forward mode: views and bases, duals and constants, made up at random.

After each program every tensor has the value and the tangent that it has under PyTorch, or minigrad has refused a write with a
message. A tensor from outside forward mode cannot take a tangent; a view must not lose one silently.
"""

from __future__ import annotations

import importlib
import random
from types import ModuleType

import pytest

import minigrad
from minigrad.autograd import forward_ad

BASES = [
    "torch.ones(3, 2)", "torch.arange(6.0).view(3, 2)", "torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])", "p.clone()",
    "fw.make_dual(torch.ones(3, 2), torch.arange(6.0).view(3, 2))", "torch.zeros(3, 2, requires_grad=True) * 1",
]  # fmt: skip
VIEWS = [
    "{0}[:2]", "{0}[1]", "{0}.view(-1)", "{0}.t()", "{0}[:, 1:]", "{0}.unbind(0)[1]", "{0}.diagonal()", "{0}[None]",
    "{0}.view(6)[1:4]", "{0}.detach()", "{0}.expand(3, 2)", "{0}.transpose(0, 1)", "{0}.view_as({0})", "{0}.data",
]  # fmt: skip
# Not `b.mul_(b)`, whose tangent PyTorch counts once too often.
WRITES = [
    "{0}.copy_({1})", "{0}.mul_({1})", "{0}.add_({1})", "{0}.zero_()", "{0}.exp_()", "{0}[0] = {1}", "{0}.fill_(2.0)",
    "{0}[...] = {1}", "{0} += {1}", "{0}.mul_(2)", "{0}.masked_fill_({0} > 1, 0.5)",
]  # fmt: skip


def write(seed: int) -> tuple[list[str], list[str], list[str]]:
    """The lines before forward mode is on, and those inside it; the names of all tensors."""
    chance = random.Random(seed)
    base = chance.choice(BASES)
    inside = base.startswith("fw.") or chance.random() < 0.6
    before, body = ([], [f"b = {base}"]) if inside else ([f"b = {base}"], [])
    names = ["b"]
    for k in range(chance.randint(1, 4)):
        line = f"v{k} = {chance.choice(VIEWS).format(chance.choice(names))}"
        (body if inside or chance.random() < 0.5 else before).append(line)
        names.append(f"v{k}")
        if chance.random() < 0.7:
            given = chance.choice(["d", "s", "d.exp()", "p"])
            body.append(chance.choice(WRITES).format(chance.choice(names), given))
    body.append(chance.choice(WRITES).format(chance.choice(names), chance.choice(["d", "s", "d * 2"])))
    return before, body, [*names, "p"]


def outcome(engine: ModuleType, seed: int) -> tuple[list[str], dict]:
    """The lines that were refused, and value and tangent of every tensor."""
    before, body, names = write(seed)
    forward, refused, found = importlib.import_module(f"{engine.__name__}.autograd.forward_ad"), [], {}
    space = {"torch": engine, "fw": forward, "p": engine.full((3, 2), 0.5)}

    def run(line: str) -> None:
        try:
            exec(line, space)
        except (RuntimeError, IndexError, NameError):
            refused.append(line)

    for line in before:
        run(line)
    with forward.dual_level():
        space |= {
            "d": forward.make_dual(engine.full((1,), 2.0), engine.full((1,), 3.0)),
            "s": engine.tensor(4.0),
        }
        for line in body:
            run(line)
        for name in filter(space.__contains__, names):
            try:
                value, tangent = forward.unpack_dual(space[name])
            except RuntimeError:  # one of several views of a base that was written to
                continue
            tangent = engine.zeros_like(value) if tangent is None else tangent
            found[name] = [*value.detach().reshape(-1).tolist(), *tangent.detach().reshape(-1).tolist()]
    return refused, found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 800, 200))
def test_no_tangent_is_lost(torch, first: int) -> None:
    compared = 0
    for seed in range(first, first + 200):
        (their_refused, theirs), (refused, ours) = outcome(torch, seed), outcome(minigrad, seed)
        alike = refused == their_refused
        compared += alike
        if alike and any(
            ours[name] != pytest.approx(theirs[name], rel=1e-5) for name in theirs.keys() & ours.keys()
        ):
            pytest.fail(f"program {seed}: {write(seed)}\nPyTorch  {theirs}\nminigrad {ours}", pytrace=False)
        assert alike or set(their_refused) <= set(refused), f"program {seed}: PyTorch refuses {their_refused}"
    assert compared > 100


def test_a_view_has_the_tangent_that_is_written_into_its_base():
    with forward_ad.dual_level():
        base = minigrad.zeros(4)
        view = base[:2]
        base.copy_(forward_ad.make_dual(minigrad.ones(4), minigrad.arange(4.0)))
        assert forward_ad.unpack_dual(view).tangent.tolist() == [0.0, 1.0]
        view.mul_(2)
        assert forward_ad.unpack_dual(base).tangent.tolist() == [0.0, 2.0, 2.0, 3.0]


def test_a_tensor_from_outside_takes_no_tangent_and_says_so():
    outside = minigrad.zeros(4)
    view = outside[:2]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(minigrad.ones(2), minigrad.ones(2))
        with pytest.raises(RuntimeError, match="made outside of forward mode"):
            view.copy_(dual)
    assert outside.tolist() == [0.0] * 4
