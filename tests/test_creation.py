"""Making tensors, their sizes and dtypes, and the traffic with NumPy, pickle and copy: as PyTorch."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import minigrad
from tests.both import check, check_error, lines

EXPRESSIONS = lines("""
    torch.tensor([[1, 2], [3, 4]])
    torch.tensor([])
    torch.tensor([[], []])
    torch.tensor([True, 1])
    torch.tensor([True, 1.5])
    torch.tensor([1.5, 2], dtype=torch.int64)
    torch.tensor([torch.tensor(1.0), torch.tensor(2)])
    torch.tensor([torch.tensor([1.0])])
    torch.tensor(torch.ones(2))
    torch.tensor(3.5, requires_grad=True)
    torch.tensor(np.float32(2)), torch.tensor(np.float64(2)), torch.tensor([np.float64(2)]), torch.tensor(np.ones(2, np.int32))
    torch.zeros(2, 3, dtype=torch.int64), torch.zeros((2, 3)), torch.zeros(size=(2, 3)), torch.zeros([2, 1]), torch.zeros(())
    torch.ones(2, device='cpu', requires_grad=True)
    torch.full((2,), 1), torch.full((2,), True), torch.full((2,), 1.5), torch.full(size=(2,), fill_value=3)
    torch.full((2,), float('inf'), dtype=torch.float64)
    torch.arange(5), torch.arange(5.0), torch.arange(1, 2, 0.25), torch.arange(1, 6, 2)
    torch.arange(5, 1, -1), torch.arange(end=3)
    torch.arange(3.0, requires_grad=True), torch.arange(0, 3, dtype=torch.float64), torch.arange(0)
    torch.linspace(0, 1, 5), torch.linspace(0, 10, 4, dtype=torch.int64), torch.linspace(0, 1, 1), torch.linspace(0, 1, 0)
    torch.logspace(0, 2, 3), torch.logspace(0, 2, 3, base=2)
    torch.eye(2, 3), torch.eye(2)
    torch.zeros_like(torch.ones(2, dtype=torch.int64)), torch.ones_like(torch.ones(2), dtype=torch.int64)
    torch.full_like(torch.ones(2), 3), torch.full_like(torch.ones(2, dtype=torch.int64), 3.7), torch.zeros_like(x)
    torch.zeros_like(torch.ones(2), requires_grad=True)
    torch.ones(2).new_tensor([1, 2]), torch.ones(2, dtype=torch.int64).new_tensor([1.5, 2])
    torch.ones(2, dtype=torch.float64).new_zeros(2, 3), torch.ones(2).double().new_full((2,), 3)
    torch.ones(2).new_empty(2).shape
    torch.tril_indices(3, 3), torch.triu_indices(2, 3, 1)
    torch.as_tensor([1, 2.5]), torch.scalar_tensor(3), torch.as_tensor(np.ones(2)), torch.from_numpy(np.arange(3))
    torch.Tensor([1, 2]), torch.Tensor(2, 3).shape, torch.FloatTensor([1, 2]), torch.LongTensor([1, 2])
    str(torch.device('cpu')), repr(torch.ones(2).device), torch.zeros(2, device=torch.device('cpu')), torch.cuda.is_available()
    torch.Size([2, 3]) + torch.Size([1]), torch.Size([2, 3]) * 2, torch.Size([2, 3])[1:], torch.Size([2, 3]).numel()
    str((1,) + torch.Size([2])), torch.Size([2, 3]) == (2, 3), torch.ones(2, 3).size(-1), repr(torch.ones(2, 3).shape[0:1])
    torch.manual_seed(3); torch.rand(3), torch.randn(3), torch.randint(10, (5,)), torch.randperm(6), torch.randn(2, 2).double()
    torch.manual_seed(1); torch.empty(3).uniform_(-1, 1), torch.empty(3).normal_(2, 0.5), torch.empty(3).random_(5)
    torch.rand_like(x).shape, torch.randn_like(x).dtype, torch.rand(2, dtype=torch.float64).dtype
    np.asarray(x.detach()), np.array(x.detach(), dtype=np.float32), x.detach().numpy(), x.numpy(force=True)
    np.sin(x.detach()), np.add(x.detach(), np.ones((3, 4))), np.maximum(x.detach(), 0)
    x + np.float64(1), np.float64(2) * x, x < np.float64(0), x[np.array([0, 1])], x[np.int64(0)]
    np.ones(3)[torch.tensor([0, 1])]
    float(torch.ones(1)), int(torch.ones(1)), [1, 2, 3][torch.tensor(1)], list(range(torch.tensor(3))), 1 in torch.ones(2)
    f'{torch.tensor(1.5):.2f}', '%.2f' % torch.tensor(1.5), list(reversed(torch.arange(3))), len(x), torch.ones(2).tolist()
""")
ERRORS = lines("""
    torch.tensor([[1, 2], [3]])
    torch.tensor([1, 'a'])
    torch.tensor('a')
    torch.tensor(None)
    torch.tensor([1, 2], requires_grad=True)
    torch.tensor([torch.tensor([1.0, 2.0])])
    torch.zeros(-1)
    torch.zeros(2.5)
    torch.zeros(2, 'a')
    torch.zeros(2, requires_grad=True, dtype=torch.int64)
    torch.full(2, 1.0)
    torch.arange(5, 1)
    torch.arange(1, 5, 0)
    torch.arange(1, 5, -1)
    torch.arange(3, requires_grad=True)
    torch.linspace(0, 1, -1)
    torch.eye(-1)
    torch.from_numpy([1])
    torch.from_numpy(np.arange(3)[::-1])
    torch.as_tensor('a')
    torch.tensor(3).requires_grad_()
    torch.Size([2.5])
    x.size(5)
    x.numpy()
    np.asarray(x)
    np.sin(x)
    x.item()
    float(x)
    bool(x)
    len(s)
    [1, 2][torch.tensor(1.0)]
    f'{x:.2f}'
    torch.randint(5, 5, (2,))
""")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_made_as_in_torch(torch, expression):
    *before, last = expression.split("; ")
    check(torch, "; ".join([*before, f"out = {last}"]))


@pytest.mark.parametrize("expression", ERRORS)
def test_error_is_torchs(torch, expression):
    check_error(torch, expression)


def test_arrays_are_shared_and_tensors_copied():
    array = np.zeros(3)
    shared, copied = minigrad.from_numpy(array), minigrad.tensor(array)
    array[0] = 5
    assert shared.tolist() == [5, 0, 0] and copied.tolist() == [0, 0, 0]
    shared[1] = 7
    assert array.tolist() == [5, 7, 0]
    assert minigrad.as_tensor(shared) is shared


@pytest.mark.parametrize("through", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_leaves_can_be_copied_and_pickled(through):
    leaf = minigrad.tensor([1.0, 2.0], requires_grad=True)
    again = through(leaf)
    assert again is not leaf and again.requires_grad and again.is_leaf and again.tolist() == [1, 2]
    with minigrad.no_grad():
        again.add_(1)
    assert leaf.tolist() == [1, 2]


def test_copies_share_what_was_shared():
    leaf = minigrad.ones(2, requires_grad=True)
    first, second = copy.deepcopy([leaf, leaf])
    assert first is second


def test_results_cannot_be_deep_copied():
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(minigrad.ones(2, requires_grad=True) * 2)


def test_the_module_has_no_gpu():
    with pytest.raises(RuntimeError, match="CPU only"):
        minigrad.zeros(2, device="cuda")


@pytest.mark.parametrize(
    "name", ["complex64", "sparse_coo_tensor", "bfloat16", "compile", "autocast", "quantize_per_tensor"]
)
def test_what_is_not_there_says_why(name):
    with pytest.raises(AttributeError, match=f"module 'minigrad' has no attribute '{name}': the"):
        getattr(minigrad, name)
    with pytest.raises(AttributeError, match=r"module 'minigrad' has no attribute 'zerros'$"):
        minigrad.zerros  # noqa: B018


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize(
    "question", ["repr(s)", "s.tolist()", "s[1]", "s.dtype", "s.size()", "s.nbytes()", "len(s.untyped())"]
)
def test_the_storage_of_a_view_is_that_of_its_base_as_numbers(torch, question):
    found = [repr(eval(question, {"s": m.arange(6.0).view(2, 3).T[1:].storage()})) for m in (torch, minigrad)]
    assert found[0] == found[1]
