"""Healthy training runs as people write them, each with its own loop, written before their findings were looked at."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F

import viz

HEALTHY: dict[str, Callable[[], viz.Film]] = {}


def healthy(make: Callable[[], viz.Film]) -> Callable[[], viz.Film]:
    HEALTHY[make.__name__] = make
    return make


def clusters(n: int = 192, classes: int = 5, size: int = 10) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.randint(classes, (n,))
    return 1.5 * torch.randn(classes, size)[y] + torch.randn(n, size), y


def bars(n: int = 96) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures of 8 x 8 with a horizontal bar, a vertical bar, or none."""
    y, x = torch.randint(3, (n,)), 0.3 * torch.randn(n, 1, 8, 8)
    for image, label in zip(x, y.tolist(), strict=True):
        if label:
            row = torch.randint(8, ()).item()
            (image[0, row] if label == 1 else image[0, :, row]).add_(1.5)
    return x, y


def mlp(out: int = 5, size: int = 10, act: type = nn.ReLU) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, 32), act(), nn.Linear(32, 32), act(), nn.Linear(32, out))


@healthy
def fine_tuning() -> viz.Film:
    """A trained body with a small rate, a new head with a larger one."""
    x, y = clusters()
    body = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
    old = nn.Linear(32, 5)
    before = torch.optim.Adam([*body.parameters(), *old.parameters()], lr=1e-2)
    for _ in range(40):
        before.zero_grad()
        F.cross_entropy(old(body(x)), y).backward()
        before.step()
    head, new = nn.Linear(32, 3), y % 3
    groups = [{"params": body.parameters(), "lr": 1e-4}, {"params": head.parameters(), "lr": 1e-2}]
    optimizer, film = torch.optim.AdamW(groups), viz.film()
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(F.cross_entropy(head(body(x)), new))
        optimizer.step()
    return film


@healthy
def gan() -> viz.Film:
    generator, critic = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2)), mlp(1, 2, nn.LeakyReLU)
    g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.99))
    d_opt = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.99))
    film, one, zero = viz.film(), torch.ones(64, 1), torch.zeros(64, 1)
    for _ in range(40):
        real, fake = torch.randn(64, 2) * 0.5 + 1, generator(torch.randn(64, 4))
        d_opt.zero_grad()
        film.backward(
            F.binary_cross_entropy_with_logits(critic(real), one)
            + F.binary_cross_entropy_with_logits(critic(fake.detach()), zero)
        )
        d_opt.step()
        g_opt.zero_grad()
        film.backward(F.binary_cross_entropy_with_logits(critic(fake), one))
        g_opt.step()
    return film


@healthy
def q_learning_with_a_target_net() -> viz.Film:
    online = mlp(3, 4)
    target = copy.deepcopy(online).requires_grad_(False)
    optimizer, film = torch.optim.Adam(online.parameters(), lr=3e-3), viz.film()
    s, s2 = torch.randn(512, 4), torch.randn(512, 4)
    a = torch.randint(3, (512,))
    reward = s[torch.arange(512), a]
    for step in range(80):
        i = torch.randint(512, (32,))
        with torch.no_grad():
            goal = reward[i] + 0.9 * target(s2[i]).max(1).values
        q = online(s[i]).gather(1, a[i, None]).squeeze(1)
        optimizer.zero_grad()
        film.backward(F.smooth_l1_loss(q, goal))
        optimizer.step()
        if step % 20 == 19:
            target.load_state_dict(online.state_dict())
    return film


@healthy
def actor_and_critic() -> viz.Film:
    """Clipped ratios, a value loss and a bonus for entropy; four passes over each rollout."""
    body, actor, critic = nn.Sequential(nn.Linear(4, 24), nn.Tanh()), nn.Linear(24, 3), nn.Linear(24, 1)
    model = nn.ModuleList([body, actor, critic])
    optimizer, film = torch.optim.Adam(model.parameters(), lr=3e-3), viz.film()
    for _ in range(12):
        s = torch.randn(64, 4)
        with torch.no_grad():
            old = torch.distributions.Categorical(logits=actor(body(s)))
            a = old.sample()
            reward = (a == s[:, :3].argmax(1)).float()
            gain = reward - critic(body(s)).squeeze(1)
        for _ in range(4):
            h = body(s)
            policy = torch.distributions.Categorical(logits=actor(h))
            ratio = (policy.log_prob(a) - old.log_prob(a)).exp()
            clipped = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
            value = F.mse_loss(critic(h).squeeze(1), reward)
            optimizer.zero_grad()
            film.backward(-clipped.mean() + 0.5 * value - 0.01 * policy.entropy().mean())
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    return film


@healthy
def vae_with_annealed_kl() -> viz.Film:
    x, _ = bars(64)
    x = (x > 0.6).float()
    encode = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 8))
    decode = nn.Sequential(
        nn.Linear(4, 128), nn.ReLU(), nn.Unflatten(1, (8, 4, 4)), nn.ConvTranspose2d(8, 1, 2, 2)
    )
    optimizer, film = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=5e-3), viz.film()
    for step in range(60):
        mean, spread = encode(x).chunk(2, 1)
        z = mean + (0.5 * spread).exp() * torch.randn_like(mean)
        seen = F.binary_cross_entropy_with_logits(decode(z), x, reduction="sum") / len(x)
        kl = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1).mean()
        optimizer.zero_grad()
        film.backward(seen + min(1, step / 40) * kl)
        optimizer.step()
    return film


@healthy
def views_of_one_picture() -> viz.Film:
    """Two views of each picture attract each other, all others repel (NT-Xent)."""
    x, _ = bars(32)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
    optimizer, film = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), viz.film()
    for _ in range(50):
        both = torch.cat([x + 0.1 * torch.randn_like(x) for _ in range(2)])
        z = F.normalize(net(both), dim=1)
        alike = (z @ z.T / 0.3).masked_fill(torch.eye(64, dtype=torch.bool), -math.inf)
        optimizer.zero_grad()
        film.backward(F.cross_entropy(alike, torch.arange(64).roll(32)))
        optimizer.step()
    return film


@healthy
def triplets() -> viz.Film:
    x, y = clusters(classes=4)
    net, film = mlp(8), viz.film()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(60):
        anchor = torch.randint(192, (48,))
        near = torch.stack(
            [torch.nonzero(y == y[i])[torch.randint((y == y[i]).sum(), ())][0] for i in anchor]
        )
        far = torch.stack([torch.nonzero(y != y[i])[torch.randint((y != y[i]).sum(), ())][0] for i in anchor])
        optimizer.zero_grad()
        film.backward(F.triplet_margin_loss(net(x[anchor]), net(x[near]), net(x[far])))
        optimizer.step()
    return film


@healthy
def weighted_tasks() -> viz.Film:
    """A class, a number and a mask from one body, weighted by what the net has learned of their noise."""
    x, y = clusters()
    body, heads = (
        nn.Sequential(nn.Linear(10, 48), nn.GELU()),
        nn.ModuleList([nn.Linear(48, k) for k in (5, 1, 4)]),
    )
    noise = nn.Parameter(torch.zeros(3))
    size, mask = x.norm(dim=1), (x[:, :4] > 0).float()
    optimizer = torch.optim.AdamW([*body.parameters(), *heads.parameters(), noise], lr=5e-3)
    film = viz.film(every=2)
    for _ in range(120):
        h = body(x)
        label, number, seen = (head(h) for head in heads)
        each = torch.stack([
            F.cross_entropy(label, y), F.mse_loss(number[:, 0], size), F.binary_cross_entropy_with_logits(seen, mask),
        ])  # fmt: skip
        optimizer.zero_grad()
        film.backward(((-noise).exp() * each + noise).sum())
        optimizer.step()
    return film


@healthy
def transformer_with_warm_up() -> viz.Film:
    """Next letter; the rate rises for twenty steps from 0 and then falls along a cosine."""
    text = torch.randint(9, (24, 13)).sort(dim=1).values
    embed, place = nn.Embedding(9, 24), nn.Parameter(0.02 * torch.randn(12, 24))
    layer = nn.TransformerEncoderLayer(24, 3, 48, dropout=0.1, batch_first=True, norm_first=True)
    head = nn.Linear(24, 9, bias=False)
    head.weight = embed.weight
    parameters = [*embed.parameters(), place, *layer.parameters()]
    optimizer, film = torch.optim.AdamW(parameters, lr=1e-2, weight_decay=0.1), viz.film()
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda k: k / 20 if k < 20 else 0.5 + 0.5 * math.cos(math.pi * (k - 20) / 60)
    )
    mask = nn.Transformer.generate_square_subsequent_mask(12)
    for _ in range(80):
        h = layer(embed(text[:, :-1]) + place, src_mask=mask, is_causal=True)
        optimizer.zero_grad()
        film.backward(F.cross_entropy(head(h).flatten(0, 1), text[:, 1:].flatten()))
        optimizer.step()
        rate.step()
    return film


@healthy
def strong_weight_decay() -> viz.Film:
    x, y = clusters()
    net, film = mlp(), viz.film()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=0.02, nesterov=True)
    for _ in range(80):
        optimizer.zero_grad()
        film.backward(F.cross_entropy(net(x), y))
        optimizer.step()
    return film


@healthy
def tied_autoencoder() -> viz.Film:
    x, _ = bars(96)
    x = x.flatten(1)
    w, a, b = (
        nn.Parameter(0.1 * torch.randn(16, 64)),
        nn.Parameter(torch.zeros(16)),
        nn.Parameter(torch.zeros(64)),
    )
    optimizer, film = torch.optim.Adam([w, a, b], lr=1e-2), viz.film()
    for _ in range(80):
        code = torch.sigmoid(F.linear(x, w, a))
        optimizer.zero_grad()
        film.backward(F.mse_loss(F.linear(code, w.T, b), x) + 1e-3 * code.abs().mean())
        optimizer.step()
    return film


class LowRank(nn.Module):
    def __init__(self, inner: nn.Linear, rank: int = 2):
        super().__init__()
        self.inner = inner.requires_grad_(False)
        self.down = nn.Linear(inner.in_features, rank, bias=False)
        self.up = nn.Linear(rank, inner.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + self.up(self.down(x))


@healthy
def adapted_attention() -> viz.Film:
    q, k, v = (LowRank(nn.Linear(16, 16)) for _ in range(3))
    head, x = nn.Linear(16, 2), torch.randn(48, 6, 16)
    y = (x[:, 0, 0] > 0).long()
    model = nn.ModuleDict({"q": q, "k": k, "v": v, "head": head})
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    film = viz.film()
    for _ in range(40):
        h = F.scaled_dot_product_attention(q(x), k(x), v(x)).mean(1)
        optimizer.zero_grad()
        film.backward(F.cross_entropy(head(h), y))
        optimizer.step()
    return film


@healthy
def dropout_and_batches_of_four() -> viz.Film:
    x, y = clusters()
    net = nn.Sequential(nn.Dropout(0.2), nn.Linear(10, 48), nn.ReLU(), nn.Dropout(0.5), nn.Linear(48, 5))
    optimizer, film = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9), viz.film(every=5)
    for step in range(300):
        i = torch.arange(4 * step, 4 * step + 4) % 192
        optimizer.zero_grad()
        film.backward(F.cross_entropy(net(x[i]), y[i]))
        optimizer.step()
    return film


@healthy
def one_example_at_a_time() -> viz.Film:
    """Noisy numbers: the loss of a step says next to nothing, but the mean of many falls."""
    true, model, film = torch.tensor([2.0, -1.0, 0.5]), nn.Linear(3, 1), viz.film()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for _ in range(200):
        x = torch.randn(1, 3)
        optimizer.zero_grad()
        film.backward(F.mse_loss(model(x), (x @ true + 0.5 * torch.randn(1))[:, None]))
        optimizer.step()
    return film


@healthy
def student_of_a_moving_average() -> viz.Film:
    """Predict the output of a slow copy of the model for another view (BYOL)."""
    x, _ = bars(48)
    student = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
    predictor = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.AdamW([*student.parameters(), *predictor.parameters()], lr=3e-3)
    film = viz.film()
    for _ in range(60):
        a, b = (x + 0.2 * torch.randn_like(x) for _ in range(2))
        optimizer.zero_grad()
        film.backward(2 - 2 * F.cosine_similarity(predictor(student(a)), teacher(b).detach()).mean())
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(teacher.parameters(), student.parameters(), strict=True):
                slow.lerp_(fast, 0.05)
    return film
