"""Training runs of the usual kinds, with the usual mistakes, written before their findings were known. Each takes a framework.

``HEALTHY`` must have no alarm; each of ``ILL`` lists the kinds of findings that name its fault.
"""

from __future__ import annotations

import copy
from typing import Any

import viz
from tests.film_trainings import blobs, classify, fit, mlp, regress

HEALTHY: dict[str, Any] = {}
ILL: dict[str, Any] = {}


def healthy(make: Any) -> Any:
    HEALTHY[make.__name__] = make
    return make


def ill(*kinds: str) -> Any:
    return lambda make: ILL.setdefault(make.__name__, (make, set(kinds))) and make


# ---- healthy


@healthy
def loss_scaled_by_hand(t: Any) -> viz.Film:
    """As for half precision: the loss times 65,536, and each gradient divided by it, over four batches per step."""
    (x, y), model, film, scale = blobs(t, 128), mlp(t, 8, 16, 4), viz.film(), 65536.0
    optimizer = t.optim.SGD(model.parameters(), lr=0.3)
    for step in range(60):
        part = slice(step % 4 * 32, step % 4 * 32 + 32)
        film.backward(t.nn.functional.cross_entropy(model(x[part]), y[part]) * scale / 4)
        if step % 4 == 3:
            for p in model.parameters():
                p.grad /= scale
            optimizer.step()
            optimizer.zero_grad()
    return film


@healthy
def moving_average_of_the_weights(t: Any) -> viz.Film:
    (x, y), model, film = blobs(t), mlp(t, 8, 16, 4), viz.film()
    average = copy.deepcopy(model)
    for p in average.parameters():
        p.requires_grad_(False)
    optimizer = t.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(50):
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
        with t.no_grad():
            for mean, p in zip(average.parameters(), model.parameters(), strict=True):
                mean.mul_(0.9).add_(p, alpha=0.1)
            average(x)
    return film


@healthy
def warm_up_of_tied_weights(t: Any) -> viz.Film:
    """The decoder is the transpose of the encoder; the rate rises from 0 over ten steps and then falls."""
    t.manual_seed(0)
    x, film = t.randn(128, 3) @ t.randn(3, 12), viz.film()
    weight, bias = (0.3 * t.randn(4, 12)).requires_grad_(True), t.zeros(12, requires_grad=True)
    optimizer = t.optim.Adam([weight, bias], lr=1e-2)
    for step in range(80):
        optimizer.param_groups[0]["lr"] = 2e-2 * min(step / 10, 1 - (step - 10) / 100)
        loss = ((x @ weight.T @ weight + bias - x) ** 2).mean()
        optimizer.zero_grad()
        film.backward(loss)
        optimizer.step()
    return film


@healthy
def two_optimizers_in_turn(t: Any) -> viz.Film:
    """Body and head of one net, each with its own optimizer; they step alternately."""
    (x, y), body, head, film = blobs(t), mlp(t, 8, 16, 16), t.nn.Linear(16, 4), viz.film()
    optimizers = [t.optim.SGD(body.parameters(), lr=0.2), t.optim.Adam(head.parameters(), lr=1e-2)]
    for step in range(60):
        for optimizer in optimizers:
            optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(head(body(x).relu()), y))
        optimizers[step % 2].step()
    return film


@healthy
def curriculum_of_longer_sequences(t: Any) -> viz.Film:
    """A recurrent net adds numbers; every twenty steps the sequences get two numbers longer, and the loss rises with them."""
    t.manual_seed(0)
    cell, head, film = t.nn.RNNCell(1, 16), t.nn.Linear(16, 1), viz.film()
    optimizer = t.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
    for step in range(80):
        x, h = t.rand(2 + step // 20 * 2, 32, 1), t.zeros(32, 16)
        for each in x:
            h = cell(each, h)
        optimizer.zero_grad()
        film.backward(t.nn.functional.mse_loss(head(h), x.sum(0)))
        optimizer.step()
    return film


@healthy
def resumed_from_a_checkpoint(t: Any) -> viz.Film:
    """Trained, saved, loaded into a new model with a new optimizer, and trained further, in one film."""
    (x, y), film, saved = blobs(t), viz.film(), None
    for _ in range(2):
        model = mlp(t, 8, 16, 4)
        optimizer = t.optim.Adam(model.parameters(), lr=1e-2)
        if saved is not None:
            model.load_state_dict(saved[0])
            optimizer.load_state_dict(saved[1])
        for _ in range(25):
            optimizer.zero_grad()
            film.backward(t.nn.functional.cross_entropy(model(x), y))
            optimizer.step()
        saved = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
    return film


@healthy
def mixed_examples(t: Any) -> viz.Film:
    """Mixup: each input is a mean of two, and so is the loss."""
    (x, y), model, film = blobs(t, 128), mlp(t, 8, 32, 4), viz.film()
    optimizer, loss_of = t.optim.Adam(model.parameters(), lr=1e-2), t.nn.functional.cross_entropy
    for _ in range(60):
        share, other = t.rand(1).item(), t.randperm(128)
        made = model(share * x + (1 - share) * x[other])
        optimizer.zero_grad()
        film.backward(share * loss_of(made, y) + (1 - share) * loss_of(made, y[other]))
        optimizer.step()
    return film


@healthy
def examples_made_harder(t: Any) -> viz.Film:
    """Adversarial training: each input goes a step along the gradient of its loss first."""
    (x, y), model, film = blobs(t), mlp(t, 8, 32, 4), viz.film()
    optimizer, loss_of = t.optim.Adam(model.parameters(), lr=1e-2), t.nn.functional.cross_entropy
    for _ in range(60):
        near = x.clone().requires_grad_(True)
        (uphill,) = t.autograd.grad(loss_of(model(near), y), near)
        optimizer.zero_grad()
        film.backward(loss_of(model((x + 0.3 * uphill.sign()).detach()), y))
        optimizer.step()
    return film


@healthy
def quantised_weights(t: Any) -> viz.Film:
    """Straight-through: rounded weights in the forward pass, as if they were not rounded in the backward pass."""
    (x, y), model, film, linear = blobs(t), mlp(t, 8, 32, 4), viz.film(), t.nn.functional.linear
    optimizer = t.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        first, second = (w + ((w * 8).round() / 8 - w).detach() for w in (model[0].weight, model[2].weight))
        hidden = linear(x, first, model[0].bias).relu()
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(linear(hidden, second, model[2].bias), y))
        optimizer.step()
    return film


@healthy
def three_folds(t: Any) -> viz.Film:
    """Cross-validation: a new model for each fold, all in one film."""
    (x, y), film = blobs(t, 96), viz.film()
    for fold in range(3):
        inside = t.arange(96) % 3 != fold
        model = mlp(t, 8, 16, 4)
        fit(t, model, lambda m=model, i=inside: t.nn.functional.cross_entropy(m(x[i]), y[i]), 25, film=film)
    return film


@healthy
def validated_after_each_epoch(t: Any) -> viz.Film:
    """model.eval() for a pass without gradients, and model.train() after it."""
    x, y = blobs(t, 128)
    model, film = (
        t.nn.Sequential(*mlp(t, 8, 32, 32), t.nn.BatchNorm1d(32), t.nn.Dropout(0.2), t.nn.Linear(32, 4)),
        viz.film(),
    )
    optimizer = t.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(12):
        model.train()
        for k in range(4):
            optimizer.zero_grad()
            film.backward(
                t.nn.functional.cross_entropy(model(x[k * 32 : k * 32 + 32]), y[k * 32 : k * 32 + 32])
            )
            optimizer.step()
        model.eval()
        with t.no_grad():
            model(x)
    return film


@healthy
def thawed_layer_by_layer(t: Any) -> viz.Film:
    """A net whose first layers are frozen for ten steps each."""
    (x, y), model, film = blobs(t), mlp(t, 8, 16, 16, 4), viz.film()
    for p in [*model[0].parameters(), *model[2].parameters()]:
        p.requires_grad_(False)
    optimizer = t.optim.SGD(model.parameters(), lr=0.2)
    for step in range(60):
        if step in (10, 20):
            for p in model[2 if step == 10 else 0].parameters():
                p.requires_grad_(True)
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
    return film


@healthy
def input_trained_by_a_fixed_net(t: Any) -> viz.Film:
    """Only the input is moved; the parameters of the net get gradients that are not used."""
    net, x, film = mlp(t, 8, 16, 4), t.zeros(1, 8, requires_grad=True), viz.film()
    target, optimizer = net(t.randn(1, 8)).detach(), t.optim.Adam([x], lr=0.05)
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(((net(x) - target) ** 2).sum())
        optimizer.step()
    return film


@healthy
def two_tasks_in_turn(t: Any) -> viz.Film:
    """One body, two heads, one optimizer for all; each step trains one head."""
    (x, y), body, film = blobs(t), mlp(t, 8, 16, 16), viz.film()
    kind, size = t.nn.Linear(16, 4), t.nn.Linear(16, 1)
    optimizer = t.optim.Adam([*body.parameters(), *kind.parameters(), *size.parameters()], lr=1e-2)
    for step in range(60):
        hidden = body(x).relu()
        of_kind, of_size = (
            t.nn.functional.cross_entropy(kind(hidden), y),
            ((size(hidden) - x[:, :1]) ** 2).mean(),
        )
        optimizer.zero_grad()
        film.backward(of_kind if step % 2 else of_size)
        optimizer.step()
    return film


@healthy
def critic_with_a_pass_of_its_own(t: Any) -> viz.Film:
    """Two nets, one optimizer; only one of the two losses is filmed."""
    (x, y), actor, critic, film = blobs(t), mlp(t, 8, 16, 4), mlp(t, 8, 16, 1), viz.film()
    optimizer = t.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(actor(x), y))
        ((critic(x) - x[:, :1]) ** 2).mean().backward()
        optimizer.step()
    return film


@healthy
def critic_with_a_gradient_penalty(t: Any) -> viz.Film:
    """As in WGAN-GP: between its kinks the critic is linear, so the penalty has no gradient for the examples in between."""
    make, critic, film = mlp(t, 4, 16, 2), mlp(t, 2, 16, 1), viz.film()
    first, second = (t.optim.Adam(net.parameters(), lr=3e-3) for net in (make, critic))
    for step in range(60):
        real, fake, share = t.randn(32, 2) * 0.3 + 1.0, make(t.randn(32, 4)), t.rand(32, 1)
        between = (share * real + (1 - share) * fake.detach()).requires_grad_(True)
        [slope] = t.autograd.grad(critic(between).sum(), between, create_graph=True)
        penalty = (((slope**2).sum(1) + 1e-12).sqrt() - 1).square().mean()
        second.zero_grad()
        film.backward(critic(fake.detach()).mean() - critic(real).mean() + 10 * penalty)
        second.step()
        if step % 3 == 0:
            first.zero_grad()
            film.backward(-critic(make(t.randn(32, 4))).mean())
            first.step()
    return film


@healthy
def rate_that_fades_once_it_has_learned(t: Any) -> viz.Film:
    (x, y), model, film = blobs(t), mlp(t, 8, 16, 16, 4), viz.film()
    optimizer = t.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    schedule = t.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.7)
    for _ in range(80):
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
        schedule.step()
    return film


# ---- ill


@ill("missing")
def loss_made_of_a_number(t: Any) -> viz.Film:
    """The mean over batches is taken of numbers and made a tensor again, so that it has no graph."""
    (x, y), model, film = blobs(t), mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(25):
        optimizer.zero_grad()
        losses = [t.nn.functional.cross_entropy(model(x[k::2]), y[k::2]).item() for k in (0, 1)]
        film.backward(t.tensor(sum(losses) / 2, requires_grad=True))
        optimizer.step()
    return film


@ill("missing")
def hidden_layer_through_numpy(t: Any) -> viz.Film:
    (x, y), body, head, film = blobs(t), mlp(t, 8, 16, 16), t.nn.Linear(16, 4), viz.film()
    optimizer = t.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    for _ in range(25):
        hidden = t.tensor(body(x).detach().numpy())
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(head(hidden.relu()), y))
        optimizer.step()
    return film


@ill("unstepped")
def model_copied_after_the_optimizer_was_made(t: Any) -> viz.Film:
    (x, y), model, film = blobs(t), mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.Adam(model.parameters(), lr=1e-2)
    model = copy.deepcopy(model)
    for _ in range(25):
        model.zero_grad()
        film.backward(t.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
    return film


@ill("nan")
def divided_by_a_deviation_of_zero(t: Any) -> viz.Film:
    """One column of the data is constant: (x - mean) / std is 0 / 0."""
    (x, y), model = blobs(t), mlp(t, 8, 16, 4)
    x[:, 3] = 1.5
    x = (x - x.mean(0)) / x.std(0)
    return fit(t, model, lambda: t.nn.functional.cross_entropy(model(x), y), 25)


@ill("large", "nan", "rising", "grew", "dead")
def rate_a_thousand_times_too_large(t: Any) -> viz.Film:
    return classify(t, lr=100.0)


@ill("large", "nan", "rising", "grew")
def sum_over_a_large_batch(t: Any) -> viz.Film:
    return regress(t, loss=lambda z, y: ((z - y) ** 2).sum(), lr=0.1)


@ill("eval")
def never_back_in_training_mode(t: Any) -> viz.Film:
    """A model is loaded and tried in eval mode, and then trained further without train()."""
    (x, y), t_nn = blobs(t), t.nn
    model = t_nn.Sequential(
        t_nn.Linear(8, 16), t_nn.BatchNorm1d(16), t_nn.ReLU(), t_nn.Dropout(), t_nn.Linear(16, 4)
    )
    with t.no_grad():
        model.eval()(x)
    return fit(t, model, lambda: t_nn.functional.cross_entropy(model(x), y))


@ill("shrinks", "flat", "vanish", "alike", "small", "rising")
def weight_decay_of_ten(t: Any) -> viz.Film:
    return classify(t, lr=0.05, weight_decay=10.0)


@ill("missing")
def classes_chosen_before_the_loss(t: Any) -> viz.Film:
    """argmax is piecewise constant, so the parameters of the model get no gradient, only `scale` does."""
    (x, y), model, scale, film = blobs(t), mlp(t, 8, 16, 4), t.ones(1, requires_grad=True), viz.film()
    optimizer = t.optim.SGD([*model.parameters(), scale], lr=0.01)
    for _ in range(25):
        optimizer.zero_grad()
        film.backward(((model(x).argmax(1) * scale - y) ** 2).mean())
        optimizer.step()
    return film


@ill("small", "flat")
def rate_divided_by_ten_at_every_step(t: Any) -> viz.Film:
    """A schedule meant for epochs is stepped for every batch."""
    (x, y), model, film = blobs(t), mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.SGD(model.parameters(), lr=0.1)
    schedule = t.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
        schedule.step()
    return film


@ill("flat")
def new_model_at_every_step(t: Any) -> viz.Film:
    """The model and its optimizer are made inside the loop."""
    (x, y), film = blobs(t), viz.film()
    for step in range(30):
        model = mlp(t, 8, 16, 4)
        t.manual_seed(step)
        optimizer = t.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
    return film


@ill("flat")
def labels_shifted_by_one_example(t: Any) -> viz.Film:
    """Fresh data for each step, whose labels belong to the example before."""
    t.manual_seed(0)
    centres, model = 2 * t.randn(4, 8), mlp(t, 8, 16, 4)

    def loss() -> Any:
        y = t.randint(0, 4, (256,))
        x = centres[y] + t.randn(256, 8)
        return t.nn.functional.cross_entropy(model(x), t.roll(y, 1))

    return fit(t, model, loss, 60)


@ill("large")
def layer_initialised_in_the_loop(t: Any) -> viz.Film:
    """The layer loses what it has learned after every step; the loss goes up and down."""
    (x, y), model, film = blobs(t), mlp(t, 8, 16, 4), viz.film()
    optimizer = t.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(40):
        optimizer.zero_grad()
        film.backward(t.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
        with t.no_grad():
            model[0].weight.copy_(t.randn(16, 8))
    return film
