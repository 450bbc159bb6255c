"""Broken training runs as people write them, written before their findings were looked at, with the kinds of findings that name
what is wrong: PyTorch only."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F

import viz
from tests.film_trainings_people import bars, clusters, mlp

ILL: dict[str, tuple[Callable[[], viz.Film], set[str]]] = {}


def ill(*kinds: str) -> Callable[[Callable[[], viz.Film]], Callable[[], viz.Film]]:
    def add(make: Callable[[], viz.Film]) -> Callable[[], viz.Film]:
        ILL[make.__name__] = make, {*kinds}
        return make

    return add


@ill("axis")
def softmax_over_the_batch() -> viz.Film:
    x, y = clusters()
    net, film = mlp(), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(F.nll_loss(F.log_softmax(net(x), dim=0), y))
        optimizer.step()
    return film


@ill("axis")
def attention_over_the_queries() -> viz.Film:
    x = torch.randn(48, 6, 16)
    y = (x[:, 0, 0] > 0).long()
    q, k, v, head = (nn.Linear(16, n) for n in (16, 16, 16, 2))
    model, film = nn.ModuleList([q, k, v, head]), viz.film()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(30):
        weights = torch.softmax(q(x) @ k(x).transpose(1, 2) / 4, dim=1)
        optimizer.zero_grad()
        film.backward(F.cross_entropy(head((weights @ v(x)).mean(1)), y))
        optimizer.step()
    return film


@ill("missing")
def loss_of_the_hidden_layer() -> viz.Film:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(10, 5), nn.Linear(5, 5)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            h = self.first(x)
            return h, self.second(F.relu(h))

    (x, y), net, film = clusters(), Net(), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(30):
        logits, _ = net(x)
        optimizer.zero_grad()
        film.backward(F.cross_entropy(logits, y))
        optimizer.step()
    return film


@ill("missing")
def branch_through_data() -> viz.Film:
    (x, y), film = clusters(), viz.film()
    left, right, head = nn.Linear(10, 16), nn.Linear(10, 16), nn.Linear(32, 5)
    model = nn.ModuleDict({"left": left, "right": right, "head": head})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        h = torch.cat([left(x).relu(), right(x).data.relu()], 1)
        optimizer.zero_grad()
        film.backward(F.cross_entropy(head(h), y))
        optimizer.step()
    return film


def adam_with(lr: float) -> viz.Film:
    (x, y), net, film = clusters(), mlp(), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(F.cross_entropy(net(x), y))
        optimizer.step()
    return film


@ill("large", "rising", "grew", "dead", "start")
def adam_far_too_fast() -> viz.Film:
    return adam_with(3.0)


@ill("small", "flat")
def adam_far_too_slow() -> viz.Film:
    return adam_with(1e-8)


@ill("accumulate")
def zero_grad_once_per_epoch() -> viz.Film:
    (x, y), net, film = clusters(), mlp(), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(8):
        optimizer.zero_grad()
        for i in torch.randperm(192).split(32):
            film.backward(F.cross_entropy(net(x[i]), y[i]))
            optimizer.step()
    return film


@ill("frozen")
def never_thawed() -> viz.Film:
    """The body should be frozen for the first five steps only."""
    (x, y), film = bars(), viz.film()
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 3)
    )
    for p in net[0].parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(30):
        if step == 5:
            net[0].requires_grad = True  # sets an attribute of the module, which changes nothing
        optimizer.zero_grad()
        film.backward(F.cross_entropy(net(x), y))
        optimizer.step()
    return film


@ill("eval")
def still_in_eval_mode() -> viz.Film:
    (x, y), film = bars(), viz.film()
    net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(4):
        for i in torch.randperm(96).split(16):
            optimizer.zero_grad()
            film.backward(F.cross_entropy(net(x[i]), y[i]))
            optimizer.step()
        if epoch == 0:
            net.eval()
            with torch.no_grad():
                net(x).argmax(1)
    return film


@ill("sign")
def likelihood_without_its_minus() -> viz.Film:
    (x, y), net, film = clusters(), mlp(), viz.film()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(30):
        optimizer.zero_grad()
        film.backward(F.log_softmax(net(x), 1)[torch.arange(192), y].mean())
        optimizer.step()
    return film


@ill("broadcast")
def targets_as_a_row() -> viz.Film:
    x, net, film = torch.randn(64, 10), mlp(1, act=nn.Tanh), viz.film()
    y = x[:, 0] * x[:, 1]
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(F.smooth_l1_loss(net(x), y[None]))
        optimizer.step()
    return film


@ill("flat")
def inputs_shuffled_without_labels() -> viz.Film:
    (x, y), net, film = clusters(), mlp(), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(20):
        x = x[torch.randperm(192)]
        for i in torch.arange(192).split(48):
            optimizer.zero_grad()
            film.backward(F.cross_entropy(net(x[i]), y[i]))
            optimizer.step()
    return film


@ill("dead")
def dead_convolution() -> viz.Film:
    (x, y), film = bars(), viz.film()
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 3)
    )
    nn.init.constant_(net[0].bias, -8.0)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(30):
        optimizer.zero_grad()
        film.backward(F.cross_entropy(net(x), y))
        optimizer.step()
    return film


@ill("explode", "nan", "grew")
def exploding_linear_rnn() -> viz.Film:
    x, film = torch.randn(32, 40, 4), viz.film()
    y = x[:, 0, 0]
    w, u, out = (
        nn.Parameter(0.5 * torch.randn(24, 24)),
        nn.Parameter(0.3 * torch.randn(4, 24)),
        nn.Linear(24, 1),
    )
    optimizer = torch.optim.SGD([w, u, *out.parameters()], lr=1e-3)
    for _ in range(20):
        h = torch.zeros(32, 24)
        for t in range(40):
            h = F.relu(h @ w + x[:, t] @ u)
        optimizer.zero_grad()
        film.backward(F.mse_loss(out(h).squeeze(1), y))
        optimizer.step()
    return film


@ill("large", "explode", "rising", "nan", "grew", "start")
def summed_where_it_should_be_averaged() -> viz.Film:
    x, net, film = torch.randn(192, 10), mlp(1), viz.film()
    y = x.sum(1, keepdim=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(30):
        optimizer.zero_grad()
        film.backward(F.mse_loss(net(x), y, reduction="sum"))
        optimizer.step()
    return film


@ill("double")
def probabilities_from_the_model() -> viz.Film:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = mlp()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.body(x).softmax(dim=-1)

    (x, y), net, film = clusters(), Net(), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(30):
        optimizer.zero_grad()
        film.backward(nn.CrossEntropyLoss()(net(x), y))
        optimizer.step()
    return film


@ill("unstepped")
def optimizer_of_another_model() -> viz.Film:
    (x, y), net, film = clusters(), mlp(), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    net = copy.deepcopy(net)
    for _ in range(30):
        net.zero_grad()
        film.backward(F.cross_entropy(net(x), y))
        optimizer.step()
    return film


@ill("unstepped")
def gain_of_zero_that_no_optimizer_has() -> viz.Film:
    (x, y), net, film = clusters(), mlp(), viz.film()
    branch, gain = nn.Linear(10, 5), nn.Parameter(torch.zeros(5))
    optimizer = torch.optim.Adam([*net.parameters(), *branch.parameters()], lr=3e-3)
    for _ in range(30):
        optimizer.zero_grad()
        gain.grad = None
        film.backward(F.cross_entropy(net(x) + gain * branch(x), y))
        optimizer.step()
    return film
