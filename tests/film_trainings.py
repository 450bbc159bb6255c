"""Small trainings, healthy and ill, for the tests of what a film finds. Each takes a framework and returns a film.

``HEALTHY`` and ``ILL`` are what the thresholds of viz/films were set on; ``MORE_HEALTHY`` and ``MORE_ILL`` were written before
they were first run and are the check. Of an ill one it is said which kinds of findings name its illness.
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
ILL: dict[str, tuple[Training, set[str]]] = {}
MORE_ILL: dict[str, tuple[Training, set[str]]] = {}
ONLY_TORCH: set[str] = set()


def healthy(more: bool = False, only_torch: bool = False) -> Callable[[Training], Training]:
    def add(make: Training) -> Training:
        (MORE_HEALTHY if more else HEALTHY)[make.__name__] = make
        if only_torch:
            ONLY_TORCH.add(make.__name__)
        return make

    return add


def ill(*kinds: str, more: bool = False, only_torch: bool = False) -> Callable[[Training], Training]:
    def add(make: Training) -> Training:
        (MORE_ILL if more else ILL)[make.__name__] = make, set(kinds)
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
    film = film or viz.film()
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
    """A net that learns u' = -2u: the points, too, ask for gradients."""
    net, x = mlp(t, 1, 16, 16, 1, act="Tanh"), t.linspace(0, 1, 32).reshape(32, 1).requires_grad_(True)

    def loss() -> Any:
        u = net(x)
        [slope] = t.autograd.grad(u.sum(), x, create_graph=True)
        return ((slope + 2 * u) ** 2).mean() + ((net(t.zeros(1, 1)) - 1) ** 2).mean()

    return fit(t, net, loss, 80, 0.005, "Adam")


# ---- ill


def shifted(net: Any, layer: int, by: float, t: Any, units: int | None = None) -> Any:
    with t.no_grad():
        net[layer].bias[:units] -= by
    return net


@ill("dead")
def dead_relu(t: Any) -> viz.Film:
    return classify(t, shifted(mlp(t, 8, 16, 16, 4), 2, 100.0, t))


@ill("dead")
def some_dead_units(t: Any) -> viz.Film:
    return classify(t, shifted(mlp(t, 8, 16, 16, 4), 2, 100.0, t, 6))


def recurrent(t: Any, scale: float, steps: int = 20, length: int = 24) -> viz.Film:
    t.manual_seed(0)
    w, u = (scale * t.eye(8)).requires_grad_(True), (0.3 * t.randn(8, 8)).requires_grad_(True)
    film, optimizer = viz.film(), t.optim.SGD([w, u], lr=1e-3)
    x = t.randn(length, 4, 8)
    for _ in range(steps):
        h = t.zeros(4, 8)
        for each in x:
            h = each @ u + h @ w
        optimizer.zero_grad()
        film.backward((h**2).mean())
        optimizer.step()
    return film


@ill("explode", "nan", "grew")
def exploding_rnn(t: Any) -> viz.Film:
    return recurrent(t, 1.6)


@ill("explode", "nan", "grew", "large", only_torch=True)
def exploding_cell(t: Any) -> viz.Film:
    t.manual_seed(0)
    cell, x = t.nn.RNNCell(4, 8, nonlinearity="relu"), t.randn(20, 6, 4)
    with t.no_grad():
        cell.weight_hh.copy_(1.7 * t.eye(8))

    def loss() -> Any:
        h = t.zeros(6, 8)
        for each in x:
            h = cell(each, h)
        return (h**2).mean()

    return fit(t, cell, loss, 12, 1e-9)


@ill("nan")
def log_of_zero(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    for step in range(20):
        p = net(x * (400.0 if step == 12 else 1.0)).softmax(dim=1)
        optimizer.zero_grad()
        film.backward(-(t.nn.functional.one_hot(y, 4) * p.log()).sum(dim=1).mean())
        optimizer.step()
    return film


@ill("missing")
def detached(t: Any) -> viz.Film:
    x, y = blobs(t)
    body, head = mlp(t, 8, 16, 16), t.nn.Linear(16, 4)
    net = t.nn.ModuleList([body, head])
    return fit(t, net, lambda: t.nn.functional.cross_entropy(head(body(x).relu().detach()), y), 40)


@ill("large", "grew", "rising", "nan")
def learning_rate_too_high(t: Any) -> viz.Film:
    return classify(t, lr=60.0)


@ill("large", "grew", "rising", "nan")
def learning_rate_diverges(t: Any) -> viz.Film:
    return regress(t, t.nn.Linear(3, 1), lr=1.6)


@ill("vanish")
def vanishing_sigmoid(t: Any) -> viz.Film:
    return classify(t, mlp(t, 8, *[12] * 12, 4, act="Sigmoid"))


@ill("vanish")
def vanishing_tanh(t: Any) -> viz.Film:
    net = mlp(t, 8, *[12] * 12, 4, act="Tanh")
    with t.no_grad():
        for p in net.parameters():
            p *= 0.3
    return classify(t, net)


@ill("zero", "alike")
def zeros_everywhere(t: Any) -> viz.Film:
    net = mlp(t, 8, 16, 16, 4)
    with t.no_grad():
        for p in net.parameters():
            p.zero_()
    return classify(t, net)


@ill("explode", "start", "large", "grew", "nan")
def exploding_initialisation(t: Any) -> viz.Film:
    net = mlp(t, 8, *[16] * 8, 4)
    with t.no_grad():
        for p in net.parameters():
            p *= 8.0
    return classify(t, net, lr=1e-3)


@ill("missing")
def unused_parameter(t: Any) -> viz.Film:
    nn = t.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.c = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 4)

        def forward(self, x: Any) -> Any:
            return self.c(self.a(x).relu())

    return classify(t, Net())


@ill("nan")
def root_of_zero(t: Any) -> viz.Film:
    x, y = line(t)
    net = mlp(t, 3, 16, 16)
    with t.no_grad():
        net[2].bias.fill_(-50.0)
    return fit(t, net, lambda: ((net(x).relu() ** 2).sum(dim=1).sqrt() - y.squeeze(1)).abs().mean(), 10)


@ill("nan")
def overflow(t: Any) -> viz.Film:
    w, film = t.tensor([80.0], requires_grad=True), viz.film()
    optimizer = t.optim.SGD([w], lr=1.0)
    for _ in range(12):
        optimizer.zero_grad()
        film.backward((w.exp().log() * -2.5).sum())
        optimizer.step()
    return film


@ill("start", "saturated", "large")
def saturated_softmax(t: Any) -> viz.Film:
    net = mlp(t, 8, 16, 4)
    with t.no_grad():
        net[2].weight *= 300.0
    return classify(t, net, lr=1e-3)


@ill("small")
def learning_rate_too_low(t: Any) -> viz.Film:
    return classify(t, lr=1e-7)


@ill("alike")
def constant_initialisation(t: Any) -> viz.Film:
    net = mlp(t, 8, 16, 16, 4)
    with t.no_grad():
        for layer in net[::2]:
            layer.weight.fill_(0.1)
            layer.bias.fill_(0.0)
    return classify(t, net)


@ill("frozen")
def frozen_layer(t: Any) -> viz.Film:
    net = mlp(t, 8, 16, 16, 4)
    for p in net[2].parameters():
        p.requires_grad_(False)
    return classify(t, net, parameters=[p for p in net.parameters() if p.requires_grad])


@ill("unstepped")
def not_in_the_optimizer(t: Any) -> viz.Film:
    net = mlp(t, 8, 16, 16, 4)
    return classify(t, net, parameters=[*net[0].parameters(), *net[4].parameters()])


@ill("accumulate")
def forgotten_zero_grad(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(40):
        film.backward(t.nn.functional.cross_entropy(net(x), y))
        optimizer.step()
    return film


@ill("eval")
def batch_norm_in_eval(t: Any) -> viz.Film:
    nn = t.nn
    t.manual_seed(1)
    net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
    net.eval()
    return classify(t, net)


@ill("sign", "runaway")
def wrong_sign(t: Any) -> viz.Film:
    return classify(t, loss=lambda z, y: -t.nn.functional.cross_entropy(z, y))


@ill("double")
def softmax_twice(t: Any) -> viz.Film:
    return classify(t, loss=lambda z, y: t.nn.functional.cross_entropy(z.softmax(dim=1), y))


@ill("broadcast")
def targets_broadcast(t: Any) -> viz.Film:
    return regress(t, loss=lambda z, y: ((z - y.squeeze(1)) ** 2).mean())


@ill("classes", "flat")
def labels_in_the_wrong_layout(t: Any) -> viz.Film:
    t.manual_seed(0)
    x = t.randn(16, 6, 8)
    y = (x.sum(dim=2) > 0).long()
    net = mlp(t, 8, 16, 3)

    def loss() -> Any:
        z = net(x).transpose(1, 2)  # (16, 3, 6)
        return t.nn.functional.cross_entropy(z.reshape(-1, 3), y.reshape(-1))

    return fit(t, net, loss, 40)


# ---- more healthy ones, which nothing was set on


@healthy(more=True)
def tied_language_model(t: Any) -> viz.Film:
    return next_token(t, tied=True, optimizer="AdamW", lr=3e-3)


@healthy(more=True)
def residual_net(t: Any) -> viz.Film:
    nn = t.nn

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)
            self.norm = nn.BatchNorm1d(16)
            with t.no_grad():
                self.b.weight.zero_()

        def forward(self, x: Any) -> Any:
            return x + self.b(self.norm(self.a(x)).relu())

    t.manual_seed(0)
    return classify(
        t, nn.Sequential(nn.Linear(8, 16), *[Residual() for _ in range(4)], nn.Linear(16, 4)), lr=0.05
    )


@healthy(more=True)
def q_learning(t: Any) -> viz.Film:
    """A chain of states; the target net is a copy that is renewed now and then."""
    t.manual_seed(0)
    online, target, film = mlp(t, 6, 16, 2), mlp(t, 6, 16, 2), viz.film()
    optimizer, states = t.optim.Adam(online.parameters(), lr=0.01), t.eye(6)
    for step in range(60):
        if step % 10 == 0:
            target.load_state_dict(online.state_dict())
        at = t.randint(0, 6, (32,))
        action = t.randint(0, 2, (32,))
        after = (at + 2 * action - 1).clamp(0, 5)
        with t.no_grad():
            aim = (after == 5).float() + 0.9 * target(states[after]).max(dim=1).values
        value = online(states[at]).gather(1, action.reshape(32, 1)).squeeze(1)
        optimizer.zero_grad()
        film.backward(t.nn.functional.smooth_l1_loss(value, aim))
        optimizer.step()
    return film


@healthy(more=True)
def policy_gradient(t: Any) -> viz.Film:
    t.manual_seed(0)
    net, film = mlp(t, 4, 16, 3, act="Tanh"), viz.film()
    optimizer, x = t.optim.Adam(net.parameters(), lr=0.01), t.eye(4)
    best = t.tensor([0, 1, 2, 1])
    for _ in range(60):
        logits = net(x.repeat(8, 1) if hasattr(x, "repeat") and t.__name__ == "torch" else t.cat([x] * 8))
        with t.no_grad():
            noise = -(-(t.rand(32, 3) + 1e-6).log()).log()
            action = (logits + noise).argmax(dim=1)
            reward = (action == t.cat([best] * 8)).float()
        chosen = logits.log_softmax(dim=1).gather(1, action.reshape(32, 1)).squeeze(1)
        optimizer.zero_grad()
        film.backward(-(chosen * (reward - reward.mean())).mean())
        optimizer.step()
    return film


@healthy(more=True)
def two_tasks(t: Any) -> viz.Film:
    x, y = blobs(t)
    body, head, other = mlp(t, 8, 16, 16), t.nn.Linear(16, 4), t.nn.Linear(16, 1)
    net = t.nn.ModuleList([body, head, other])

    def loss() -> Any:
        h = body(x).relu()
        return t.nn.functional.cross_entropy(head(h), y) + 0.1 * ((other(h) - x[:, :1]) ** 2).mean()

    return fit(t, net, loss, 40, 0.01, "Adam")


@healthy(more=True)
def warm_up_and_clipping(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 16, 4), viz.film()
    optimizer = t.optim.Adam(net.parameters(), lr=0.0)
    for step in range(60):
        optimizer.param_groups[0]["lr"] = 0.01 * min(1.0, step / 10)
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(net(x), y))
        t.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
    return film


@healthy(more=True)
def recurrent_characters(t: Any) -> viz.Film:
    t.manual_seed(0)
    tokens = (t.arange(11).reshape(1, 11) + 3 * t.arange(8).reshape(8, 1)) % 12
    embed, cell, head = t.nn.Embedding(12, 12), t.nn.RNN(12, 24, batch_first=True), t.nn.Linear(24, 12)
    net = t.nn.ModuleList([embed, cell, head])

    def loss() -> Any:
        z = head(cell(embed(tokens[:, :-1]))[0])
        return t.nn.functional.cross_entropy(z.reshape(-1, 12), tokens[:, 1:].reshape(-1))

    return fit(t, net, loss, 50, 0.003, "RMSprop")


@healthy(more=True)
def multi_label(t: Any) -> viz.Film:
    x, _ = blobs(t)
    y = (x[:, :3] > 0).float()
    net = mlp(t, 8, 16, 3)
    loss = t.nn.functional.binary_cross_entropy
    return fit(t, net, lambda: loss(net(x).sigmoid(), y), 60, 0.5, momentum=0.9)


@healthy(more=True)
def mini_batches(t: Any) -> viz.Film:
    x, y = blobs(t)
    net = mlp(t, 8, 32, 4)

    def loss() -> Any:
        some = t.randperm(96)[:16]
        return t.nn.functional.cross_entropy(net(x[some]), y[some])

    return fit(t, net, loss, 80, 0.05, momentum=0.9, film=viz.film(every=2))


@healthy(more=True)
def matrix_factors(t: Any) -> viz.Film:
    t.manual_seed(0)
    ratings = t.randn(10, 2) @ t.randn(2, 12)
    users, items = t.nn.Embedding(10, 3), t.nn.Embedding(12, 3)
    net = t.nn.ModuleList([users, items])

    def loss() -> Any:
        who, what = t.randint(0, 10, (64,)), t.randint(0, 12, (64,))
        return (((users(who) * items(what)).sum(dim=1) - ratings[who, what]) ** 2).mean()

    return fit(t, net, loss, 100, 0.02, "Adam", weight_decay=1e-4)


@healthy(more=True)
def mixture_density(t: Any) -> viz.Film:
    x, y = line(t)
    net = mlp(t, 3, 24, 9, act="Tanh")

    def loss() -> Any:
        h = net(x)
        weight, mean, log_scale = h[:, :3].log_softmax(dim=1), h[:, 3:6], h[:, 6:]
        each = weight - log_scale - 0.5 * ((y - mean) / log_scale.exp()) ** 2
        return -each.logsumexp(dim=1).mean()

    return fit(t, net, loss, 80, 0.005, "Adam")


@healthy(more=True)
def distillation(t: Any) -> viz.Film:
    x, y = blobs(t)
    teacher, student = mlp(t, 8, 32, 4), mlp(t, 8, 12, 4)
    for p in teacher.parameters():
        p.requires_grad_(False)

    def loss() -> Any:
        aim = (teacher(x) / 2).softmax(dim=1)
        soft = -(aim * (student(x) / 2).log_softmax(dim=1)).sum(dim=1).mean()
        return soft + t.nn.functional.cross_entropy(student(x), y)

    return fit(t, student, loss, 40, 0.01, "Adam")


@healthy(more=True)
def clusters(t: Any) -> viz.Film:
    """Differences of all pairs are what this loss is made of."""
    x, _ = blobs(t, 64)
    net = mlp(t, 8, 16, 1)

    def loss() -> Any:
        z = net(x)
        apart = (z - z.transpose(0, 1)) ** 2
        near = ((x.unsqueeze(1) - x.unsqueeze(0)) ** 2).sum(dim=2) < 8
        return (apart * near.float()).mean() + (1 - (z**2).mean()) ** 2

    return fit(t, net, loss, 40, 0.01, "Adam")


# ---- more ill ones


@ill("unstepped", more=True)
def optimizer_made_before_the_head(t: Any) -> viz.Film:
    x, y = blobs(t)
    net = mlp(t, 8, 16, 16, 4)
    optimizer = t.optim.Adam(net.parameters(), lr=0.01)
    net[4] = t.nn.Linear(16, 4)
    film = viz.film()
    for _ in range(30):
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(net(x), y))
        optimizer.step()
    return film


@ill("unstepped", more=True)
def no_step_at_all(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 4), viz.film()
    for _ in range(30):
        net.zero_grad()
        film.backward(t.nn.functional.cross_entropy(net(x), y))
    return film


@ill("accumulate", more=True)
def forgotten_zero_grad_with_adam_and_gaps(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 4), viz.film(every=5)
    optimizer = t.optim.Adam(net.parameters(), lr=0.01)
    for step in range(60):
        film.backward(t.nn.functional.cross_entropy(net(x[step % 3 :: 3]), y[step % 3 :: 3]))
        optimizer.step()
    return film


@ill("broadcast", more=True)
def targets_broadcast_in_l1(t: Any) -> viz.Film:
    return regress(t, loss=lambda z, y: t.nn.functional.l1_loss(z.squeeze(1), y))


@ill("broadcast", more=True)
def probabilities_broadcast(t: Any) -> viz.Film:
    x, y = blobs(t, 40, classes=2)
    net, y = mlp(t, 8, 16, 1), y.float()

    def loss() -> Any:
        p = net(x).sigmoid()
        return -(y * p.log() + (1 - y) * (1 - p).log()).mean()

    return fit(t, net, loss)


@ill("double", more=True)
def sigmoid_before_logits(t: Any) -> viz.Film:
    x, y = blobs(t, classes=2)
    net = mlp(t, 8, 16, 1)
    loss = t.nn.functional.binary_cross_entropy_with_logits
    return fit(t, net, lambda: loss(net(x).sigmoid().squeeze(1), y.float()))


@ill("nll", "double", "runaway", more=True)
def nll_of_logits(t: Any) -> viz.Film:
    return classify(t, loss=t.nn.functional.nll_loss)


@ill("sign", "rising", "grew", more=True)
def uphill(t: Any) -> viz.Film:
    x, y = line(t)
    net, film = mlp(t, 3, 16, 1, act="Tanh"), viz.film()
    for _ in range(25):
        net.zero_grad()
        film.backward(t.nn.functional.mse_loss(net(x), y))
        with t.no_grad():
            for p in net.parameters():
                p += 0.01 * p.grad
    return film


@ill("eval", more=True)
def eval_after_validation(t: Any) -> viz.Film:
    nn = t.nn
    x, y = blobs(t)
    t.manual_seed(1)
    net, film = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 4)), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    for step in range(40):
        if step == 20:
            net.eval()
        optimizer.zero_grad()
        film.backward(nn.functional.cross_entropy(net(x), y))
        optimizer.step()
    return film


@ill("frozen", more=True)
def frozen_embedding(t: Any) -> viz.Film:
    t.manual_seed(0)
    tokens = t.randint(0, 12, (32, 5))
    y = (tokens.sum(dim=1) % 2).float()
    embed, head = t.nn.Embedding(12, 8), mlp(t, 40, 16, 1)
    embed.weight.requires_grad_(False)
    net = t.nn.ModuleList([embed, head])
    loss = t.nn.functional.binary_cross_entropy_with_logits
    return fit(
        t, net, lambda: loss(head(embed(tokens).flatten(1)).squeeze(1), y), parameters=head.parameters()
    )


@ill("flat", more=True)
def labels_shuffled_anew(t: Any) -> viz.Film:
    x, y = blobs(t)
    net = mlp(t, 8, 16, 4)
    return fit(t, net, lambda: t.nn.functional.cross_entropy(net(x), y[t.randperm(96)]), 90, 0.02)


@ill("nan", more=True)
def zero_over_zero(t: Any) -> viz.Film:
    x, y = line(t)
    net, film = mlp(t, 3, 16, 1, act="Tanh"), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.05)
    for step in range(20):
        w = y * (0.0 if step == 9 else 1.0)
        optimizer.zero_grad()
        film.backward(((net(x) - y) ** 2 * w.abs()).sum() / w.abs().sum())
        optimizer.step()
    return film


@ill("dead", "large", "nan", "grew", "rising", more=True)
def killed_by_one_step(t: Any) -> viz.Film:
    x, y = line(t)
    net, film = mlp(t, 3, 16, 16, 1), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.05)
    for step in range(40):
        optimizer.param_groups[0]["lr"] = 50.0 if step == 8 else 0.05
        optimizer.zero_grad()
        film.backward(t.nn.functional.mse_loss(net(x), y))
        optimizer.step()
    return film


@ill("saturated", "vanish", more=True)
def saturated_attention(t: Any) -> viz.Film:
    t.manual_seed(0)
    tokens = (t.arange(11).reshape(1, 11) + 3 * t.arange(16).reshape(16, 1)) % 12
    model = attention_net(t)
    with t.no_grad():
        for layer in model.layers:
            layer.q.weight *= 60.0
            layer.k.weight *= 60.0

    def loss() -> Any:
        return t.nn.functional.cross_entropy(model(tokens[:, :-1]).reshape(-1, 12), tokens[:, 1:].reshape(-1))

    return fit(t, model, loss, 20, 1e-4)


@ill("small", more=True)
def clipped_to_nothing(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(30):
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(net(x), y))
        t.nn.utils.clip_grad_norm_(net.parameters(), 1e-6)
        optimizer.step()
    return film


@ill("double", more=True)
def sigmoid_of_a_column(t: Any) -> viz.Film:
    x, y = blobs(t, classes=2)
    net = mlp(t, 8, 16, 1)
    loss = t.nn.functional.binary_cross_entropy_with_logits
    return fit(t, net, lambda: loss(net(x).sigmoid()[:, 0], y.float()))


@ill("unstepped", more=True)
def zero_grad_before_step(t: Any) -> viz.Film:
    x, y = blobs(t)
    net, film = mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(30):
        film.backward(t.nn.functional.cross_entropy(net(x), y))
        optimizer.zero_grad()
        optimizer.step()
    return film


@ill("dead", "zero", more=True)
def relu_at_the_end(t: Any) -> viz.Film:
    x, y = line(t)
    net = mlp(t, 3, 16, 1)
    return fit(t, net, lambda: t.nn.functional.mse_loss(net(x).relu(), -y.abs() - 1))
