"""Reductions, sorting and running operations beyond the list in ops.py: overloads, ties, NaN, empty tensors, bad calls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import minigrad
from tests import oracle
from tests.oracle import Program, case, run
from tests.test_ops import pull_back
from tests.test_ops_pointwise import READ_SAVED, lines

PREAMBLE = """
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 5.0]], requires_grad=True)
i = torch.tensor([[1, 2, 3], [3, 2, 2]]); b = torch.tensor([True, False]); e = torch.zeros(0, 3)
n = torch.tensor([1.0, float("nan"), 3.0, float("nan")], requires_grad=True)
s = torch.tensor(2.0, requires_grad=True)
z = torch.tensor([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]], requires_grad=True)
"""


def same_in_both(torch, key: str, source: str) -> None:
    program = Program(key, PREAMBLE + source)
    transcripts = [run(module, program, backward=pull_back(module)) for module in (torch, minigrad)]
    oracle.assert_same(program, *transcripts)


CALLS = lines(
    """
    x.sum(()); x.sum(dim=None); x.sum(dim=None, keepdim=True); x.sum(0, dtype=torch.float64); i.sum(); b.sum()
    x.mean(()); i.mean(dtype=torch.float32); i.prod(); b.prod(); x.prod(dtype=torch.float64)
    z.prod(); z.prod(0); z.prod(1, keepdim=True); z.cumprod(0); z.cumprod(1)
    x.var(True); x.var(False); x.var(0, False); x.var((0, 1), correction=0); x.std(0, correction=0.5)
    x.var(0, unbiased=True, keepdim=True); torch.var_mean(x); torch.std_mean(x, (0, 1), keepdim=True)
    torch.var_mean(x, 0)[0]; torch.std_mean(x, 1)[1]
    x.max(0); x.max(1, True); x.min(dim=1, keepdim=True); x.max(x * 2); torch.max(x, other=x + 1); b.min(0)
    x.amax((0, 1)); x.amax(1, keepdim=True); x.amin(()); i.amax(); b.amax()
    torch.aminmax(x); torch.aminmax(x, dim=1, keepdim=True); x.aminmax().max
    x.argmax(); x.argmax(1, keepdim=True); x.argmax(keepdim=True); i.argmin(0)
    x.median(); x.median(1); x.median(1, keepdim=True); x.kthvalue(2); x.kthvalue(2, 0, True)
    x.mode(); x.mode(0); i.mode(1)
    x.sort(0, True); x.sort(dim=1, descending=True, stable=True); i.sort(); x.argsort(descending=True); x.msort()
    x.topk(2, 1, False); x.topk(2, 0); x.topk(0)
    n.median(); n.median(0); n.nanmedian(); n.nanmedian(0); n.max(); n.max(0); n.amax(); n.argmax(); n.sort()
    n.sort(descending=True); n.cummax(0); n.cummin(0); n.topk(3); n.kthvalue(3); n.nansum(); n.nanmean(); n.sum()
    torch.tensor([2.0, 2.0, 1.0, 3.0, 3.0], requires_grad=True).cummax(0); i.cumsum(1); b.cumsum(0); i.cumprod(0)
    x.cumsum(0, dtype=torch.float64); x.logcumsumexp(1)
    s.sum(0); s.mean(0); s.prod(0); s.max(0); s.sort(); s.topk(1); s.median(0); s.kthvalue(1); s.cummax(0)
    s.amax(0); s.cumsum(-1); s.cumprod(0); s.softmax(0); s.log_softmax(-1); s.logsumexp(0); s.argmax(0); s.mode()
    e.sum(); e.sum(0); e.mean(); e.prod(); e.median(); e.all(); e.any(); e.max(1); e.amax(1); e.argmax(1)
    e.sort(0); e.cumsum(0); e.logsumexp(0); e.softmax(0); e.std(0)
    torch.unique(i); torch.unique(i, return_inverse=True, return_counts=True); torch.unique(i, dim=0)
    x.count_nonzero(); z.count_nonzero(0); z.count_nonzero((0, 1)); z.all(1); z.any((0, 1)); i.any(1, keepdim=True)
    torch.tensor([1, 2], dtype=torch.uint8).all()
    x.logsumexp((0, 1), True); i.logsumexp(0); torch.full((2,), -float("inf")).logsumexp(0)
    x.diff(); x.diff(2); x.diff(prepend=x[:, :1]); b.diff()
""".replace(";", "\n")
)


@pytest.mark.parametrize("call", [case(f"reduction/{c}", c) for c in CALLS])
def test_value_gradient_and_graph_are_torchs(torch, call):
    same_in_both(torch, call, f"out = {call}\nbackward(out)\nout\n")


SAVED = lines(
    """
    x.sum(); x.sum(0); x.mean(); x.mean(0); x.prod(); x.prod(0); x.var(); x.var(0); x.std((0, 1), correction=0)
    torch.var_mean(x, 0)[0]; torch.std_mean(x)[1]; x.amax(); x.amin(0); x.max(); x.max(0)[0]; x.median()
    x.min(0, keepdim=True)[0]; torch.aminmax(x)[0]; x.median(0)[0]; x.kthvalue(2, 1)[0]; x.cumsum(0)
    x.cumprod(1); x.cummax(0)[0]; x.logcumsumexp(0); x.sort(1)[0]; x.topk(2, 1)[0]; x.nansum(0)
    x.softmax(1); x.log_softmax(1); x.logsumexp(1)
""".replace(";", "\n")
)


@pytest.mark.parametrize("expression", [case(f"saved/{e}", e) for e in SAVED])
def test_a_node_saves_what_torchs_saves(torch, expression):
    same_in_both(torch, expression, READ_SAVED.replace("EXPRESSION", expression))


BAD_CALLS = lines("""
    x.sum(2)
    x.sum((0, 0))
    torch.sum([1, 2])
    i.mean()
    b.mean()
    x.prod((0, 1))
    i.var()
    i.std()
    x.var(dim=0, correction=5)
    torch.tensor([1.0]).std()
    e.max()
    e.max(0)
    e.amax()
    e.amin(0)
    e.argmax()
    b.argmax()
    x.max(2)
    torch.max(x, 2.0)
    x.aminmax(dim=(0, 1))
    x.kthvalue(4)
    x.topk(4)
    x.cumsum(2)
    x.sort(2)
    x.softmax(2)
    i.softmax(0)
    i.log_softmax(1)
    i.logcumsumexp(1)
    torch.unique(x).sum().backward()
""")


@pytest.mark.parametrize("call", [case(f"bad/{c}", c) for c in BAD_CALLS])
def test_a_bad_call_gets_torchs_error(torch, call):
    same_in_both(torch, call, f"{call}\n")


# ------------------------------------------------------------------------------------------------------- properties
few_values = arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(1, 40)),
    elements=st.sampled_from([0.0, 1, 2, 3, np.nan]),
)


@given(few_values, st.booleans())
@settings(max_examples=60)
def test_sorting_keeps_equal_elements_in_their_order(values, descending):
    """With ties and NaN too, though NumPy's fast argsort does not."""
    ordered, index = minigrad.sort(minigrad.tensor(values), 1, descending)
    found = index.numpy()
    np.testing.assert_array_equal(np.take_along_axis(values, found, 1), ordered.numpy())
    keys = np.where(np.isnan(values), 9, values) * (-1 if descending else 1)
    np.testing.assert_array_equal(found, np.argsort(keys, axis=1, kind="stable"))


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 3), st.integers(1, 6)),
        elements=st.sampled_from([0.0, 1, -2, 0.5]),
    )
)
@settings(max_examples=60)
def test_the_gradient_of_a_product_needs_no_division(values):
    """With any number of zeros: the derivative by one factor is the product of the others."""
    x = minigrad.tensor(values, requires_grad=True)
    x.prod(1).sum().backward()
    others = [[np.prod(np.delete(row, k)) for k in range(len(row))] for row in values]
    np.testing.assert_allclose(x.grad.numpy(), others, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "call",
    [
        "z.prod()",
        "z.prod(0)",
        "z.cumprod(1)",
        "x.logcumsumexp(1)",
        "x.cummax(1)[0]",
        "x.std()",
        "x.sort()[0]",
    ],
)
def test_second_derivatives_where_the_formula_branches(torch, call):
    def gradients(module):
        names = {
            "torch": module,
            "x": [[1.0, 2.0, 3.0], [4.0, 5.0, 5.5]],
            "z": [[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]],
        }
        t = names[call[0]] = module.tensor(names[call[0]], dtype=module.float64, requires_grad=True)
        (first,) = module.autograd.grad(eval(call, names).pow(3).sum(), t, create_graph=True)
        first.sin().sum().backward()
        return first.detach().numpy(), t.grad.numpy()

    for expected, got in zip(gradients(torch), gradients(minigrad), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_results_with_several_parts_have_names():
    found = minigrad.tensor([[1.0, 3.0], [4.0, 2.0]]).max(1)
    values, indices = found
    assert found.values is values and found[1] is indices
    assert repr(found) == "torch.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([1, 0]))"
    assert type(found) is minigrad.return_types.max


def test_a_broadcast_gradient_is_not_written_to():
    """The gradient of a sum is one number seen many times; adding up gradients must not write into it."""
    x = minigrad.ones(3, requires_grad=True)
    y = x * 1
    (y.sum() + y.sum() + (y * y).sum()).backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]
