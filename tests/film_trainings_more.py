"""More healthy training runs, written without trial runs: the check of the thresholds (see film_trainings.py)."""

from __future__ import annotations

from typing import Any

import viz
from tests.film_trainings import blobs, classify, fit, healthy, line, mlp, next_token

# ---- more healthy ones, not used for setting thresholds


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
    """A loss made of the differences between all pairs."""
    x, _ = blobs(t, 64)
    net = mlp(t, 8, 16, 1)

    def loss() -> Any:
        z = net(x)
        apart = (z - z.transpose(0, 1)) ** 2
        near = ((x.unsqueeze(1) - x.unsqueeze(0)) ** 2).sum(dim=2) < 8
        return (apart * near.float()).mean() + (1 - (z**2).mean()) ** 2

    return fit(t, net, loss, 40, 0.01, "Adam")
