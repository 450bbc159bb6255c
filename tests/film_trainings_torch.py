"""Training runs written for a check of viz.film in November 2026, before its findings were known: PyTorch only.

A healthy one must have no alarm. A broken one lists the kinds of findings that name what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

import viz

Loss = Callable[[], torch.Tensor]


def net(act: type = nn.ReLU, out: int = 3) -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 24), act(), nn.Linear(24, 24), act(), nn.Linear(24, out))


def blobs(n: int = 128, classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.arange(n) % classes
    return 2 * torch.randn(classes, 6)[y] + 0.7 * torch.randn(n, 6), y


def adam(*modules: nn.Module, lr: float = 1e-2) -> torch.optim.Optimizer:
    return torch.optim.Adam([p for module in modules for p in module.parameters()], lr=lr)


def train(loss: Loss, optimizer: Any, steps: int = 40, film: Any = None, zero: bool = True) -> viz.Film:
    film = viz.film() if film is None else film
    for _ in range(steps):
        if zero:
            optimizer.zero_grad()
        film.backward(loss())
        optimizer.step()
    return film


def classifier(model: nn.Module, optimizer: Any = None, **how: Any) -> viz.Film:
    x, y = blobs()
    return train(lambda: F.cross_entropy(model(x), y), optimizer or adam(model), **how)


def label_smoothing() -> viz.Film:
    (x, y), model = blobs(), net()
    return train(lambda: F.cross_entropy(model(x), y, label_smoothing=0.1), adam(model))


def huber() -> viz.Film:
    x = torch.randn(200, 6)
    y, model = (x @ torch.randn(6, 1)).sin(), net(nn.Tanh, 1)
    return train(lambda: F.huber_loss(model(x), y), adam(model), 60)


def binary_logits() -> viz.Film:
    (x, y), model = blobs(classes=2), net(out=1)
    return train(lambda: F.binary_cross_entropy_with_logits(model(x)[:, 0], y.float()), adam(model))


def mini_batches() -> viz.Film:
    (x, y), model = blobs(512), net()

    def loss() -> torch.Tensor:
        i = torch.randint(512, (16,))
        return F.cross_entropy(model(x[i]), y[i])

    return train(loss, adam(model), 80)


def accumulation_by_four() -> viz.Film:
    (x, y), model = blobs(256), net()
    optimizer, film = adam(model), viz.film()
    for i in range(60):
        j = torch.randint(256, (32,))
        film.backward(F.cross_entropy(model(x[j]), y[j]) / 4)
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    return film


def gru() -> viz.Film:
    rnn, head, x = nn.GRU(3, 16, batch_first=True), nn.Linear(16, 2), torch.randn(64, 10, 3)
    y = (x.sum((1, 2)) > 0).long()
    return train(lambda: F.cross_entropy(head(rnn(x)[0][:, -1]), y), adam(rnn, head), 50)


def convolution() -> viz.Film:
    x = torch.randn(64, 1, 10, 10)
    y = (x[:, :, :5].mean((1, 2, 3)) > x[:, :, 5:].mean((1, 2, 3))).long()
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 2))
    return train(lambda: F.cross_entropy(model(x), y), adam(model))


def frozen_backbone() -> viz.Film:
    (x, y), backbone, head = blobs(), nn.Sequential(nn.Linear(6, 32), nn.ReLU()), nn.Linear(32, 3)
    backbone.requires_grad_(False)
    return train(lambda: F.cross_entropy(head(backbone(x)), y), adam(head))


def variational() -> viz.Film:
    """The net can learn only the mean of the noise: the loss falls by a tenth and stays there."""
    x, encode, decode = torch.rand(64, 12), nn.Linear(12, 8), nn.Linear(4, 12)

    def loss() -> torch.Tensor:
        m, s = encode(x).chunk(2, 1)
        z = m + torch.randn_like(m) * (s / 2).exp()
        kl = 0.5 * (m * m + s.exp() - 1 - s).sum(1).mean()
        return 12 * F.binary_cross_entropy_with_logits(decode(z), x) + kl

    return train(loss, adam(encode, decode), 60)


def loss_below_zero() -> viz.Film:
    x, model = torch.randn(200, 3), nn.Linear(3, 2)
    y = 0.01 * x @ torch.randn(3)

    def loss() -> torch.Tensor:
        m, s = model(x).unbind(1)
        return (s + (y - m) ** 2 * (-2 * s).exp() / 2).mean()

    return train(loss, adam(model, lr=3e-2), 80)


def policy_gradient() -> viz.Film:
    model = nn.Linear(4, 2)

    def loss() -> torch.Tensor:
        s = torch.randn(64, 4)
        policy = torch.distributions.Categorical(logits=model(s))
        a = policy.sample()
        return -(policy.log_prob(a) * ((a == (s[:, 0] > 0).long()).float() - 0.5)).mean()

    return train(loss, adam(model), 80)


def contrastive() -> viz.Film:
    x, model = torch.randn(32, 6), net(out=8)

    def loss() -> torch.Tensor:
        a, b = (F.normalize(model(x + 0.1 * torch.randn_like(x)), dim=1) for _ in range(2))
        return F.cross_entropy(a @ b.T / 0.2, torch.arange(32))

    return train(loss, adam(model), 50)


def encoder_layer() -> viz.Film:
    layer, head = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True), nn.Linear(16, 3)
    x, y = torch.randn(32, 5, 16), torch.arange(32) % 3
    return train(lambda: F.cross_entropy(head(layer(x).mean(1)), y), adam(layer, head, lr=3e-3))


def factorisation() -> viz.Film:
    target = torch.randn(20, 3) @ torch.randn(3, 15)
    a, b = nn.Parameter(0.3 * torch.randn(20, 3)), nn.Parameter(0.3 * torch.randn(3, 15))
    return train(lambda: ((a @ b - target) ** 2).mean(), torch.optim.Adam([a, b], lr=0.05), 80)


def embedding_bag() -> viz.Film:
    bag, head, ids = nn.EmbeddingBag(50, 8), nn.Linear(8, 2), torch.randint(50, (64, 6))
    y = (ids.float().mean(1) > 25).long()
    return train(lambda: F.cross_entropy(head(bag(ids)), y), adam(bag, head, lr=2e-2), 50)


def converged() -> viz.Film:
    x, model = torch.randn(50, 2), nn.Linear(2, 1)
    y = x @ torch.tensor([[1.0], [-2.0]])
    return train(lambda: F.mse_loss(model(x), y), torch.optim.SGD(model.parameters(), lr=0.3), 100)


def clipped() -> viz.Film:
    (x, y), model = blobs(), net(nn.Tanh)
    optimizer, film = adam(model), viz.film()
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(F.cross_entropy(model(x), y))
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    return film


def adversary() -> viz.Film:
    g, d = net(nn.LeakyReLU, 2), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))

    def loss() -> torch.Tensor:
        real, fake = torch.randn(64, 2) + 2, g(torch.randn(64, 6)).detach()
        true, false = torch.ones(64, 1), torch.zeros(64, 1)
        bce = F.binary_cross_entropy_with_logits
        return bce(d(real), true) + bce(d(fake), false)

    return train(loss, adam(d, lr=1e-3), 30)


HEALTHY: dict[str, Callable[[], viz.Film]] = {
    f.__name__: f
    for f in (label_smoothing, huber, binary_logits, mini_batches, accumulation_by_four, gru, convolution)
    + (frozen_backbone, variational, loss_below_zero, policy_gradient, contrastive, encoder_layer)
    + (factorisation, embedding_bag, converged, clipped, adversary)
} | {
    "adamw": lambda: classifier(m := net(), torch.optim.AdamW(m.parameters(), lr=1e-2, weight_decay=0.1)),
    "momentum": lambda: classifier(m := net(), torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)),
    "dropout": lambda: classifier(
        nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
    ),
    "batch norm": lambda: classifier(
        nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
    ),
}

# ---- ill


def another_zero_grad() -> viz.Film:
    (x, y), model, other = blobs(), net(), adam(net())
    optimizer, film = adam(model), viz.film()
    for _ in range(30):
        other.zero_grad()
        film.backward(F.cross_entropy(model(x), y))
        optimizer.step()
    return film


def no_step() -> viz.Film:
    (x, y), model, film = blobs(), net(), viz.film()
    for _ in range(40):
        model.zero_grad()
        film.backward(F.cross_entropy(model(x), y))
    return film


def middle_frozen() -> viz.Film:
    model = net()
    model[2].requires_grad_(False)
    return classifier(model)


def targets_without_axis() -> viz.Film:
    x, model = torch.randn(40, 6), net(out=1)
    return train(lambda: F.mse_loss(model(x), x.sum(1)), adam(model))


def by_hand_without_axis() -> viz.Film:
    x, model = torch.randn(40, 3), nn.Linear(3, 1)
    return train(lambda: ((model(x) - x.sum(1)) ** 2).mean(), adam(model))


def sigmoid_twice() -> viz.Film:
    (x, y), model = blobs(classes=2), nn.Sequential(*net(out=1), nn.Sigmoid())
    return train(lambda: F.binary_cross_entropy_with_logits(model(x)[:, 0], y.float()), adam(model))


def probabilities() -> viz.Film:
    (x, y), model = blobs(), nn.Sequential(*net(), nn.Softmax(1))
    return train(lambda: F.nll_loss(model(x), y), adam(model))


def minus_the_loss() -> viz.Film:
    (x, y), model = blobs(), net()
    return train(lambda: -F.cross_entropy(model(x), y), torch.optim.SGD(model.parameters(), lr=0.02))


def uphill() -> viz.Film:
    x, model, film = torch.randn(64, 3), nn.Linear(3, 1), viz.film()
    y = x @ torch.randn(3, 1)
    for _ in range(20):
        model.zero_grad()
        film.backward(F.mse_loss(model(x), y))
        with torch.no_grad():
            for p in model.parameters():
                p += 0.02 * p.grad
    return film


def with_sgd(lr: float, model: nn.Module | None = None, **how: Any) -> viz.Film:
    model = model or net()
    return classifier(model, torch.optim.SGD(model.parameters(), lr=lr), **how)


def filled(make: Callable[[torch.Tensor], Any]) -> nn.Module:
    model = net()
    for p in model.parameters():
        make(p)
    return model


def detached() -> viz.Film:
    (x, y), model = blobs(), net()
    return train(lambda: F.cross_entropy(model[2:](model[:2](x).detach()), y), adam(model))


def log_of_zero() -> viz.Film:
    x, model = torch.randn(30, 3), nn.Linear(3, 1)
    return train(lambda: -torch.log(torch.relu(model(x))).mean(), adam(model))


def root_of_zero() -> viz.Film:
    w, x = nn.Parameter(torch.zeros(3)), torch.randn(20, 3)
    loss = lambda: torch.sqrt((w**2).sum()) + ((x @ w - 1) ** 2).mean()  # noqa: E731
    return train(loss, torch.optim.SGD([w], lr=0.1), 10)


def dead_layer() -> viz.Film:
    model = net()
    nn.init.constant_(model[2].bias, -60.0)
    return with_sgd(0.1, model)


def sigmoids() -> nn.Module:
    layers = [m for k in range(14) for m in (nn.Linear(6 if k == 0 else 12, 12), nn.Sigmoid())]
    return nn.Sequential(*layers, nn.Linear(12, 3))


ILL: dict[str, tuple[Callable[[], viz.Film], set[str]]] = {
    "head not in optimizer": (lambda: classifier(m := net(), adam(m[:4])), {"unstepped"}),
    "no step": (no_step, {"unstepped"}),
    "no zero_grad": (lambda: with_sgd(0.05, zero=False), {"accumulate"}),
    "another zero_grad": (another_zero_grad, {"accumulate"}),
    "middle frozen": (middle_frozen, {"frozen"}),
    "batch norm in eval": (
        lambda: classifier(nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.Linear(32, 3)).eval()),
        {"eval"},
    ),
    "targets (40,) against (40, 1)": (targets_without_axis, {"broadcast"}),
    "the same by hand": (by_hand_without_axis, {"broadcast"}),
    "softmax before cross-entropy": (lambda: classifier(nn.Sequential(*net(), nn.Softmax(1))), {"double"}),
    "sigmoid before BCE with logits": (sigmoid_twice, {"double"}),
    "probabilities to nll_loss": (probabilities, {"nll"}),
    "minus the loss": (minus_the_loss, {"sign"}),
    "uphill": (uphill, {"sign"}),
    "learning rate 50": (lambda: with_sgd(50.0), {"large", "nan", "rising"}),
    "learning rate 1e-9": (lambda: with_sgd(1e-9), {"small"}),
    "14 sigmoids": (lambda: with_sgd(0.1, sigmoids(), steps=20), {"vanish"}),
    "all zero": (lambda: classifier(filled(nn.init.zeros_)), {"zero", "alike"}),
    "detached": (detached, {"missing"}),
    "log of 0": (log_of_zero, {"nan"}),
    "root of 0": (root_of_zero, {"nan"}),
    "a dead layer": (dead_layer, {"dead"}),
    "a huge start": (
        lambda: classifier(filled(lambda p: nn.init.normal_(p, std=10.0))),
        {"start", "explode"},
    ),
    "a constant start": (lambda: with_sgd(0.1, filled(lambda p: nn.init.constant_(p, 0.1))), {"alike"}),
}
