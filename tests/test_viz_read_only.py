"""viz.record only reads: the program gives the same result, or the same exception, as without it. viz.draw needs no numbers."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
import viz
from tests import recorded_programs


def outcome(program: Callable, t: Any) -> Any:
    try:
        return plain(program(t))
    except Exception as error:  # whatever the program raises is compared
        return type(error).__name__, str(error).split("\n")[0]


def plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if not hasattr(value, "detach"):
        return value
    value = value.detach()
    value = value.float() if "bfloat16" in str(value.dtype) else value
    return str(value.dtype), value.numpy().tolist()


CASES = [(name, "minigrad") for name in recorded_programs.BOTH.split()]
CASES += [(name, "torch") for name in recorded_programs.PROGRAMS]


@pytest.mark.parametrize(("name", "framework"), CASES)
def test_a_recording_changes_nothing(request, name, framework):
    program = recorded_programs.PROGRAMS[name]
    t = request.getfixturevalue("torch") if framework == "torch" else minigrad
    before = {n: t.Tensor.__dict__.get(n) for n in ("__mul__", "sin", "sum", "__matmul__")}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        alone = outcome(program, t)
    known = {str(w.message) for w in warned}
    with warnings.catch_warnings(record=True) as warned, viz.record():
        warnings.simplefilter("always")
        recorded = outcome(program, t)
    assert recorded == alone
    assert {str(w.message) for w in warned} <= known
    assert {n: t.Tensor.__dict__.get(n) for n in before} == before  # the recording leaves nothing behind


def test_an_exception_leaves_the_block_as_it_would(request):
    t = minigrad
    with pytest.raises(ZeroDivisionError, match="by zero") as text, viz.record():
        x = t.tensor(2.0, requires_grad=True)
        y = x * x
        _ = 1 // 0
    assert text.value.__context__ is None and text.value.__cause__ is None
    assert y.grad_fn.metadata  # what was seen before it is remembered


@pytest.mark.parametrize("kind", ["meta", "sparse", "fake", "half", "bfloat16", "complex"])
def test_draw_needs_no_numbers(torch, kind):
    t = torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() if kind == "fake" else contextlib.nullcontext():
        more = {"meta": {"device": "meta"}, "half": {"dtype": t.float16}, "bfloat16": {"dtype": t.bfloat16}}
        more["complex"] = {"dtype": t.complex64}
        w = t.ones(3, 2, requires_grad=True, **more.get(kind, {}))
        s = t.ones(3, 3, **more.get(kind, {}))
        s = s.to_sparse() if kind == "sparse" else s
        y = s @ w
        loss = y.abs().sum()
    for view in ("graph", "cards", "functions"):
        picture = viz.draw(loss, view=view, names={"w": w, "y": y, "s": s, "loss": loss})
        assert "w" in picture.svg and "(3, 2)" in picture.svg


@pytest.mark.parametrize("kind", ["meta", "fake"])
def test_step_says_in_a_sentence_why_it_cannot_show_a_number(torch, kind):
    t = torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() if kind == "fake" else contextlib.nullcontext():
        w = t.ones(3, requires_grad=True, **({"device": "meta"} if kind == "meta" else {}))
        loss = (w * 2).sum()
        with pytest.raises(TypeError, match=r"viz\.step shows numbers, but w .* has none\. .*viz\.draw"):
            viz.step(loss, names={"w": w})
        assert w.grad is None


def test_a_sparse_gradient_is_walked_through_as_the_dense_one_that_it_stands_for(torch):
    t = torch
    e = t.nn.Embedding(4, 2, sparse=True)
    loss = e(t.tensor([1, 2, 1])).sum()
    stepper = viz.step(loss)
    (leaf,) = (s["accumulate"] for s in stepper.data["steps"] if s["accumulate"])
    np.testing.assert_allclose(leaf["after"]["values"], e.weight.grad.to_dense().numpy().ravel())
