"""Small training runs, healthy and broken, for the tests of a film's findings. Each takes a framework and returns a film.

``HEALTHY`` and ``ILL`` are those used to set the thresholds of viz/films; ``MORE_HEALTHY`` and ``MORE_ILL`` were written
without trial runs and are the check. Each broken run lists the kinds of findings that name its fault.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import viz

Training = Callable[[Any], viz.Film]
HEALTHY: dict[str, Training] = {}
MORE_HEALTHY: dict[str, Training] = {}
ONLY_TORCH: set[str] = set()


def healthy(more: bool = False, only_torch: bool = False) -> Callable[[Training], Training]:
    def add(make: Training) -> Training:
        (MORE_HEALTHY if more else HEALTHY)[make.__name__] = make
        if only_torch:
            ONLY_TORCH.add(make.__name__)
        return make

    return add


def blobs(t: Any, n: int = 96, classes: int = 4, size: int = 8) -> tuple[Any, Any]:
    """Points around as many centres as there are classes."""
    t.manual_seed(0)
    labels = t.arange(n) % classes
    return 2.0 * t.randn(classes, size)[labels] + t.randn(n, size), labels


def line(t: Any, n: int = 64) -> tuple[Any, Any]:
    """x (n, 3), y (n, 1)."""
    t.manual_seed(0)
    x = t.randn(n, 3)
    return x, (x.sum(dim=1, keepdim=True)).sin()


def mlp(t: Any, *sizes: int, act: str = "ReLU") -> Any:
    t.manual_seed(1)
    layers: list[Any] = []
    for a, b in pairwise(sizes):
        layers += [t.nn.Linear(a, b), getattr(t.nn, act)()]
    return t.nn.Sequential(*layers[:-1])


def fit(
    t: Any,
    net: Any,
    loss_of: Callable[[], Any],
    steps: int = 40,
    lr: float = 0.1,
    optimizer: str = "SGD",
    film: viz.Film | None = None,
    parameters: Any = None,
    **options: Any,
) -> viz.Film:
    """The usual loop."""
    model = net  # the variable by which the film knows its parameters
    film = viz.film() if film is None else film
    optimizer = getattr(t.optim, optimizer)(
        model.parameters() if parameters is None else parameters, lr=lr, **options
    )
    for _ in range(steps):
        loss = loss_of()
        optimizer.zero_grad()
        film.backward(loss)
        optimizer.step()
    return film


def classify(t: Any, net: Any = None, steps: int = 40, loss: Any = None, **options: Any) -> viz.Film:
    x, y = blobs(t)
    net = net or mlp(t, 8, 16, 16, 4)
    loss = loss or t.nn.functional.cross_entropy
    return fit(t, net, lambda: loss(net(x), y), steps, **options)


def regress(t: Any, net: Any = None, steps: int = 40, loss: Any = None, **options: Any) -> viz.Film:
    x, y = line(t)
    net = net or mlp(t, 3, 16, 16, 1, act="Tanh")
    loss = loss or t.nn.functional.mse_loss
    return fit(t, net, lambda: loss(net(x), y), steps, **options)


# ---- healthy


@healthy()
def mlp_sgd(t: Any) -> viz.Film:
    return classify(t)


@healthy()
def mlp_adam(t: Any) -> viz.Film:
    return classify(t, optimizer="Adam", lr=0.01)


@healthy()
def regression_sgd(t: Any) -> viz.Film:
    return regress(t, lr=0.05)


@healthy()
def cnn(t: Any) -> viz.Film:
    nn, y = t.nn, t.arange(32) % 3
    t.manual_seed(2)
    x = t.randn(32, 1, 8, 8) + 2.0 * t.randn(3, 1, 8, 8)[y]
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3),
        nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32, 3),
    )  # fmt: skip
    return fit(t, net, lambda: nn.functional.cross_entropy(net(x), y), 30, 0.01, "Adam")


@healthy()
def lstm(t: Any) -> viz.Film:
    t.manual_seed(0)
    x = t.randn(24, 12, 3)
    y = x[:, :, 0].sum(dim=1)
    cell, head = t.nn.LSTM(3, 12, batch_first=True), t.nn.Linear(12, 1)
    net = t.nn.ModuleList([cell, head])
    return fit(
        t, net, lambda: t.nn.functional.mse_loss(head(cell(x)[0][:, -1]).squeeze(1), y), 40, 0.02, "Adam"
    )


def attention_net(t: Any, vocabulary: int = 12, size: int = 16, tied: bool = False) -> Any:
    """A pre-norm transformer of two layers with one head."""
    nn = t.nn

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(size), nn.LayerNorm(size)
            self.q, self.k, self.v, self.o = (nn.Linear(size, size) for _ in range(4))
            self.up, self.down = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)

        def forward(self, x: Any) -> Any:
            h = self.ln1(x)
            scores = self.q(h) @ self.k(h).transpose(1, 2) / math.sqrt(size)
            mask = t.tril(t.ones(x.shape[1], x.shape[1])) == 0
            h = scores.masked_fill(mask, -math.inf).softmax(-1) @ self.v(h)
            x = x + self.o(h)
            return x + self.down(nn.functional.gelu(self.up(self.ln2(x))))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tok, self.pos = nn.Embedding(vocabulary, size), nn.Embedding(10, size)
            self.layers, self.ln = nn.ModuleList([Layer(), Layer()]), nn.LayerNorm(size)
            self.head = nn.Linear(size, vocabulary)
            if tied:
                with t.no_grad():
                    self.tok.weight.mul_(0.1)
                self.head.weight = self.tok.weight

        def forward(self, tokens: Any) -> Any:
            x = self.tok(tokens) + self.pos(t.arange(tokens.shape[1]))
            for layer in self.layers:
                x = layer(x)
            return self.head(self.ln(x))

    return Net()


def next_token(t: Any, tied: bool = False, steps: int = 40, **options: Any) -> viz.Film:
    t.manual_seed(0)
    tokens = (t.arange(11).reshape(1, 11) + 3 * t.arange(16).reshape(16, 1)) % 12
    model = attention_net(t, tied=tied)

    def loss() -> Any:
        return t.nn.functional.cross_entropy(model(tokens[:, :-1]).reshape(-1, 12), tokens[:, 1:].reshape(-1))

    return fit(t, model, loss, steps, **{"lr": 3e-3, "optimizer": "Adam"} | options)


@healthy()
def transformer(t: Any) -> viz.Film:
    return next_token(t)


@healthy()
def autoencoder(t: Any) -> viz.Film:
    x, _ = blobs(t)
    net = mlp(t, 8, 6, 3, 6, 8, act="Tanh")
    return fit(t, net, lambda: t.nn.functional.mse_loss(net(x), x), 40, 0.01, "Adam")


@healthy()
def variational_autoencoder(t: Any) -> viz.Film:
    x, _ = blobs(t)
    encoder, decoder = mlp(t, 8, 16, 6), mlp(t, 3, 16, 8)
    net = t.nn.ModuleList([encoder, decoder])

    def loss() -> Any:
        h = encoder(x)
        mean, log_variance = h[:, :3], h[:, 3:]
        z = mean + (log_variance / 2).exp() * t.randn(96, 3)
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(dim=1).mean()
        return ((decoder(z) - x) ** 2).sum(dim=1).mean() + divergence

    return fit(t, net, loss, 60, 0.005, "Adam")


@healthy()
def gan(t: Any) -> viz.Film:
    t.manual_seed(0)
    generator, critic = mlp(t, 2, 16, 2), mlp(t, 2, 16, 16, 1, act="LeakyReLU")
    g, d = (t.optim.Adam(net.parameters(), lr=0.003) for net in (generator, critic))
    score, film = t.nn.functional.binary_cross_entropy_with_logits, viz.film()
    for _ in range(30):
        real, noise = t.randn(64, 2) * 0.3 + 1, t.randn(64, 2)
        d.zero_grad()
        film.backward(score(critic(real), t.ones(64, 1)))
        film.backward(score(critic(generator(noise).detach()), t.zeros(64, 1)))
        d.step()
        g.zero_grad()
        film.backward(score(critic(generator(noise)), t.ones(64, 1)))
        g.step()
    return film


@healthy(only_torch=True)
def wasserstein_gan(t: Any) -> viz.Film:
    t.manual_seed(0)
    generator, critic = mlp(t, 2, 16, 2), mlp(t, 2, 16, 16, 1, act="Tanh")
    g, d = (t.optim.Adam(net.parameters(), lr=0.002, betas=(0.0, 0.9)) for net in (generator, critic))
    film = viz.film()
    for _ in range(25):
        for _ in range(2):
            real, fake = t.randn(64, 2) * 0.3 + 1, generator(t.randn(64, 2)).detach()
            between = (real + t.rand(64, 1) * (fake - real)).requires_grad_(True)
            [slope] = t.autograd.grad(critic(between).sum(), between, create_graph=True)
            penalty = ((slope.norm(dim=1) - 1) ** 2).mean()
            d.zero_grad()
            film.backward(critic(fake).mean() - critic(real).mean() + 10 * penalty)
            d.step()
        g.zero_grad()
        film.backward(-critic(generator(t.randn(64, 2))).mean())
        g.step()
    return film


@healthy()
def contrastive(t: Any) -> viz.Film:
    x, _ = blobs(t, 32)
    net = mlp(t, 8, 16, 8)

    def loss() -> Any:
        a, b = (net(x + 0.1 * t.randn(32, 8)) for _ in range(2))
        a, b = (z / (z**2).sum(dim=1, keepdim=True).sqrt() for z in (a, b))
        return t.nn.functional.cross_entropy(a @ b.transpose(0, 1) / 0.2, t.arange(32))

    return fit(t, net, loss, 40, 0.01, "Adam")


@healthy()
def meta_learning(t: Any) -> viz.Film:
    t.manual_seed(0)
    w1, b1 = (0.5 * t.randn(1, 16)).requires_grad_(True), t.zeros(16, requires_grad=True)
    w2, b2 = (0.25 * t.randn(16, 1)).requires_grad_(True), t.zeros(1, requires_grad=True)
    parameters, film = [w1, b1, w2, b2], viz.film()
    optimizer = t.optim.Adam(parameters, lr=0.01)

    def net(x: Any, w: list) -> Any:
        return (x @ w[0] + w[1]).tanh() @ w[2] + w[3]

    for step in range(30):
        total = 0.0
        for task in range(3):
            x = t.linspace(-2, 2, 16).reshape(16, 1)
            y = (x + 0.5 * task + 0.1 * (step % 3)).sin()
            slopes = t.autograd.grad(((net(x, parameters) - y) ** 2).mean(), parameters, create_graph=True)
            fast = [p - 0.1 * s for p, s in zip(parameters, slopes, strict=True)]
            total = total + ((net(x, fast) - y) ** 2).mean()
        optimizer.zero_grad()
        film.backward(total)
        optimizer.step()
    return film


@healthy()
def low_rank_adapter(t: Any) -> viz.Film:
    nn = t.nn

    class Adapted(nn.Module):
        def __init__(self, a: int, b: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(t.randn(b, a) / a**0.5, requires_grad=False)
            self.bias = nn.Parameter(t.zeros(b))
            self.A, self.B = nn.Parameter(t.randn(2, a)), nn.Parameter(t.zeros(b, 2))

        def forward(self, x: Any) -> Any:
            low = x @ self.A.transpose(0, 1) @ self.B.transpose(0, 1)
            return nn.functional.linear(x, self.weight, self.bias) + low

    t.manual_seed(0)
    return classify(t, nn.Sequential(Adapted(8, 16), nn.ReLU(), Adapted(16, 4)), lr=0.05)


@healthy()
def flow(t: Any) -> viz.Film:
    t.manual_seed(0)
    x = t.randn(128, 2) * 0.2 + t.tensor([1.0, -1.0])
    scales = t.nn.ModuleList([mlp(t, 1, 16, 2, act="Tanh") for _ in range(4)])

    def loss() -> Any:
        z, log_det = [x[:, :1], x[:, 1:]], 0.0
        for net in scales:
            h = net(z[0])
            s, b = h[:, :1].tanh(), h[:, 1:]
            z = [z[1] * s.exp() + b, z[0]]
            log_det = log_det + s.sum(dim=1)
        return ((z[0] ** 2 + z[1] ** 2).sum(dim=1) / 2 - log_det).mean() + math.log(2 * math.pi)

    return fit(t, scales, loss, 80, 0.01, "Adam")


@healthy()
def siren(t: Any) -> viz.Film:
    t.manual_seed(0)
    x = t.linspace(-1, 1, 64).reshape(64, 1)
    y = (8 * x).sin() * x
    first, second, last = t.nn.Linear(1, 24), t.nn.Linear(24, 24), t.nn.Linear(24, 1)
    with t.no_grad():
        for layer, bound in ((first, 1.0), (second, math.sqrt(6 / 24) / 10)):
            layer.weight.copy_(bound * (2 * t.rand(*layer.weight.shape) - 1))
    net = t.nn.ModuleList([first, second, last])
    return fit(
        t, net, lambda: ((last((10 * second((10 * first(x)).sin())).sin()) - y) ** 2).mean(), 60, 2e-3, "Adam"
    )


@healthy()
def gradient_accumulation(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    for step in range(48):
        part = slice(24 * (step % 4), 24 * (step % 4) + 24)
        film.backward(t.nn.functional.cross_entropy(net(x[part]), y[part]) / 4)
        if step % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    return film


@healthy()
def frozen_backbone(t: Any) -> viz.Film:
    net = mlp(t, 8, 16, 16, 4)
    for p in net[0].parameters():
        p.requires_grad_(False)
    return classify(t, net, parameters=[p for p in net.parameters() if p.requires_grad])


@healthy()
def converged(t: Any) -> viz.Film:
    """A linear fit down to the last digits."""
    t.manual_seed(0)
    x = t.randn(64, 3)
    y = x @ t.tensor([[1.0], [-2.0], [0.5]]) + 0.3
    net = t.nn.Linear(3, 1)
    return fit(t, net, lambda: t.nn.functional.mse_loss(net(x), y), 300, 0.1)


@healthy()
def logistic(t: Any) -> viz.Film:
    x, y = blobs(t, classes=2)
    w, b = t.zeros(8, requires_grad=True), t.zeros(1, requires_grad=True)
    film = viz.film()
    for _ in range(60):
        w.grad = b.grad = None
        film.backward(t.nn.functional.binary_cross_entropy_with_logits(x @ w + b, y.float()))
        with t.no_grad():
            w -= 0.1 * w.grad
            b -= 0.1 * b.grad
    return film


@healthy(only_torch=True)
def gated_recurrent(t: Any) -> viz.Film:
    t.manual_seed(0)
    x = t.randn(32, 20, 3)
    y = (x[:, :, 0].mean(dim=1) > 0).long()
    net = t.nn.ModuleDict({"cell": t.nn.GRU(3, 16, batch_first=True), "head": t.nn.Linear(16, 2)})
    return fit(
        t,
        net,
        lambda: t.nn.functional.cross_entropy(net["head"](net["cell"](x)[0][:, -1]), y),
        40,
        0.01,
        "Adam",
    )


@healthy()
def batches_of_two(t: Any) -> viz.Film:
    x, y = blobs(t)
    net = mlp(t, 8, 16, 4)

    def loss() -> Any:
        some = t.randperm(96)[:2]
        return t.nn.functional.cross_entropy(net(x[some]), y[some])

    return fit(t, net, loss, 150, 0.02)


@healthy()
def hinge_that_ends_at_zero(t: Any) -> viz.Film:
    x, y = blobs(t, classes=2)
    net, sign = mlp(t, 8, 16, 1), 2.0 * y.float().reshape(96, 1) - 1
    return fit(t, net, lambda: (1 - sign * net(x)).relu().mean(), 60, 0.02, "Adam")


@healthy()
def equation(t: Any) -> viz.Film:
    """A net that learns u' = -2u: the points require grad, too."""
    net, x = mlp(t, 1, 16, 16, 1, act="Tanh"), t.linspace(0, 1, 32).reshape(32, 1).requires_grad_(True)

    def loss() -> Any:
        u = net(x)
        [slope] = t.autograd.grad(u.sum(), x, create_graph=True)
        return ((slope + 2 * u) ** 2).mean() + ((net(t.zeros(1, 1)) - 1) ** 2).mean()

    return fit(t, net, loss, 80, 0.005, "Adam")
