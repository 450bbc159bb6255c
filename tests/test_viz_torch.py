"""Real PyTorch graphs: whatever layer or operation made them, they are drawn, traced and turned into a payload."""

from __future__ import annotations

import json
import warnings

import pytest

import viz
from viz.show.payload import payload


def leaf(t, *shape):
    t.manual_seed(0)
    return t.rand(*shape, requires_grad=True)


OPERATIONS = {
    "bfloat16": lambda t, f, n: (leaf(t, 3).to(t.bfloat16) * 2).sum(),
    "float16": lambda t, f, n: (leaf(t, 3).half() + 1).sum(),
    "complex": lambda t, f, n: t.view_as_real(t.view_as_complex(leaf(t, 3, 2)) * 2j).sum(),
    "no elements": lambda t, f, n: leaf(t, 0, 3).sum(),
    "nan": lambda t, f, n: (leaf(t, 2) * float("nan")).sum(),
    "infinite": lambda t, f, n: (leaf(t, 2) / 0).sum(),
    "index by tensor": lambda t, f, n: leaf(t, 4, 4)[t.tensor([0, 2])].sum(),
    "index by mask": lambda t, f, n: leaf(t, 4)[t.tensor([True, False, True, True])].sum(),
    "where": lambda t, f, n: t.where(t.tensor([True, False]), leaf(t, 2), leaf(t, 2)).sum(),
    "sort": lambda t, f, n: leaf(t, 5).sort()[0].sum(),
    "topk": lambda t, f, n: leaf(t, 5).topk(2)[0].sum(),
    "singular values": lambda t, f, n: t.linalg.svd(leaf(t, 3, 3))[1].sum(),
    "two outputs of other shapes": lambda t, f, n: sum(part.sum() for part in t.linalg.qr(leaf(t, 3, 2))),
    "zeros that nobody wrote out": lambda t, f, n: t.func.jvp(
        t.func.grad(lambda x: (x**3).sum()), (leaf(t, 3),), (t.ones(3),)
    )[1].sum(),
    "stack": lambda t, f, n: t.stack([leaf(t, 2), leaf(t, 2)]).sum(),
    "cat of many": lambda t, f, n: t.cat([leaf(t, 1) for _ in range(60)]).sum(),
    "split": lambda t, f, n: sum(part.sum() for part in leaf(t, 4).split(2)),
    "einsum": lambda t, f, n: t.einsum("ij,jk->ik", leaf(t, 2, 3), leaf(t, 3, 2)).sum(),
    "in place": lambda t, f, n: (leaf(t, 3) * 1).mul_(2).add_(1).sum(),
    "vmap": lambda t, f, n: t.func.vmap(lambda x: (x * x).sum())(leaf(t, 3, 2)).sum(),
    "checkpoint": lambda t, f, n: t.utils.checkpoint.checkpoint(
        lambda x: (x * 2).sin().sum(), leaf(t, 3), use_reentrant=False
    ),
    "embedding": lambda t, f, n: n.Embedding(5, 3)(t.tensor([1, 2, 2])).sum(),
    "convolution": lambda t, f, n: n.Conv2d(1, 2, 3)(t.rand(1, 1, 5, 5)).relu().mean(),
    "max pooling": lambda t, f, n: f.max_pool2d(leaf(t, 1, 1, 4, 4), 2).sum(),
    "batch norm": lambda t, f, n: n.BatchNorm1d(3)(leaf(t, 4, 3)).sum(),
    "layer norm": lambda t, f, n: n.LayerNorm(3)(leaf(t, 4, 3)).pow(2).sum(),
    "LSTM": lambda t, f, n: n.LSTM(3, 4)(t.rand(5, 1, 3))[0].sum(),
    "transformer": lambda t, f, n: n.TransformerEncoderLayer(8, 2, 16)(leaf(t, 3, 1, 8)).sum(),
    "cross entropy": lambda t, f, n: f.cross_entropy(leaf(t, 3, 4), t.tensor([0, 1, 2])),
    "dropout": lambda t, f, n: f.dropout(leaf(t, 10), 0.5).sum(),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("view", ["graph", "cards", "functions"])
def test_it_is_drawn_and_stepped(torch, name, view):
    import torch.utils.checkpoint

    def build():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return OPERATIONS[name](torch, torch.nn.functional, torch.nn)

    assert viz.draw(build(), view=view, saved=True).svg.endswith("</svg>")
    data = payload(build(), view=view)
    json.dumps(data, allow_nan=False)
    assert data["steps"]
    assert not [s["check"]["text"] for s in data["steps"] if s["check"] and not s["check"]["ok"]]


def test_a_pass_through_a_module_leaves_the_gradients_of_backward(torch):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    x, y = torch.rand(5, 3), torch.tensor([0, 1, 1, 0, 1])
    loss = torch.nn.functional.cross_entropy(net(x), y)
    trace = viz.trace(loss)
    got = {name: p.grad.clone() for name, p in net.named_parameters()}
    net.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    for name, p in net.named_parameters():
        assert torch.equal(p.grad, got[name])
        assert trace.leaves[f"net.{name}"].array.shape == tuple(p.shape)
