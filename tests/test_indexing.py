"""Indexing of every kind: PyTorch's values, graphs, derivatives and errors. (Assignment: test_views_inplace.py.)"""

from __future__ import annotations

import pytest

from tests.both import (
    check,
    check_derivatives,
    check_error,
    check_saved_names,
    differentiable,
    evaluate,
    lines,
)

EXPRESSIONS = lines("""
    x[0]
    x[-1]
    x[:,1:3]
    x[::2]
    x[...]
    x[:]
    x[None]
    x[()]
    x[0,1]
    x[0,...,1]
    x[idx]
    x[[0,2]]
    x[:,idx]
    x[:,[0,1]]
    x[idx,1]
    x[idx,idx]
    x[mask]
    x[m2]
    x[mask,1]
    x[None,idx]
    x[1:,idx]
    x[True]
    x[torch.tensor(1)]
    x[torch.tensor(True)]
    x[idx,None]
    b3[:,idx,1:]
    b3[0,:,idx]
    x[x>0]
    x[range(2)]
    x[(0,1),]
    x[torch.tensor([[0, 1], [2, 0]])]
    x[torch.tensor([[0, 1], [2, 0]]), torch.tensor([3, 1])]
    b3[:, idx, None]
    b3[idx[:1], :, [0, 1]]
    b3[..., m2[0]]
    b3[:, m2]
    b3[None, :, mask, 1]
    x[-1:, [-1, 0]]
    x[1:2][0][[0]]
    x[[True, False, True]]
    x[np.array([0, 2])]
    x[np.int64(1)]
    x[[0, 2], 1:3]
    x[False]
    x[0:0]
    x[:, :, None]
    b3[1, ..., idx]
    b3[idx[:1], 1, idx]
    x[torch.tensor([], dtype=torch.long)]
    x[[]]
    x.index_put((mask,), s)
""")
ERRORS = lines("""
    x[4]
    x[0, 4]
    x[0, 0, 0]
    x[1.0]
    x[::-1]
    x[::0]
    s[0]
    s[0:1]
    x[torch.tensor([4])]
    x[torch.tensor([-5])]
    x[torch.tensor([1.0])]
    x[torch.tensor([True, False])]
    x[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]
    x[0, [4]]
    x[:, [4]]
    x[idx, idx, idx]
    a = x * 1; a[4] = 1
    a = x * 1; a[0:2] = torch.ones(3).double()
    a = x * 1; a[0] = torch.ones(2, 2).double()
    a = x * 1; a[[0, 1]] = torch.ones(3).double()
    a = x * 1; a[0] = 'a'
    a = x * 1; a[0] = [1, 2]
    a = x * 1; a[0] = None
    a = x * 1; a[torch.tensor([1.0])] = 2
    a = x * 1; a[[0]] = torch.tensor([1])
    a = x * 1; a[torch.tensor([0, 0])] = torch.ones(3, 4).double()
    a = x * 1; a[::-1] = 1
    [i for i in s]
""")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_value_and_graph_are_torchs(torch, expression):
    check(torch, f"out = {expression}")


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_are_torchs(torch, expression, order):
    if differentiable(torch, evaluate(torch, expression)[0]):
        check_derivatives(torch, expression, order)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_saved_values_have_torchs_names(torch, expression):
    check_saved_names(torch, expression)


@pytest.mark.parametrize("expression", ERRORS)
def test_error_is_torchs(torch, expression):
    check_error(torch, expression)
