"""Small training runs with one fault each, and the kinds of findings that name it (see film_trainings.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import viz
from tests.film_trainings import ONLY_TORCH, Training, attention_net, blobs, classify, fit, line, mlp, regress

ILL: dict[str, tuple[Training, set[str]]] = {}
MORE_ILL: dict[str, tuple[Training, set[str]]] = {}


def ill(*kinds: str, more: bool = False, only_torch: bool = False) -> Callable[[Training], Training]:
    def add(make: Training) -> Training:
        (MORE_ILL if more else ILL)[make.__name__] = make, set(kinds)
        if only_torch:
            ONLY_TORCH.add(make.__name__)
        return make

    return add


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


# ---- more broken ones


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
