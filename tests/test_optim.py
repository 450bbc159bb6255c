"""Optimizers and schedules: given the same weights and data they do what PyTorch's do."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad

RNG = np.random.default_rng(3)
W1, B1, W2 = RNG.standard_normal((4, 6)), RNG.standard_normal(6), RNG.standard_normal((6, 2))
X, Y = RNG.standard_normal((8, 4)), RNG.standard_normal((8, 2))

OPTIMIZERS = {
    "SGD": ("SGD", {"lr": 0.05}),
    "SGD momentum": ("SGD", {"lr": 0.05, "momentum": 0.9}),
    "SGD dampening": ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3}),
    "SGD nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "SGD weight_decay": ("SGD", {"lr": 0.05, "weight_decay": 0.1}),
    "SGD everything": ("SGD", {"lr": 0.02, "momentum": 0.8, "weight_decay": 0.1, "nesterov": True}),
    "SGD maximize": ("SGD", {"lr": 0.0005, "momentum": 0.5, "maximize": True}),
    "Adam": ("Adam", {"lr": 0.02}),
    "Adam betas": ("Adam", {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-4}),
    "Adam amsgrad": ("Adam", {"lr": 0.02, "amsgrad": True, "betas": (0.9, 0.5)}),
    "Adam weight_decay": ("Adam", {"lr": 0.02, "weight_decay": 0.1}),
    "Adam maximize": ("Adam", {"lr": 0.001, "maximize": True}),
    "AdamW": ("AdamW", {"lr": 0.02}),
    "AdamW amsgrad": ("AdamW", {"lr": 0.02, "weight_decay": 0.3, "amsgrad": True}),
    "RMSprop": ("RMSprop", {"lr": 0.01}),
    "RMSprop momentum": ("RMSprop", {"lr": 0.005, "momentum": 0.9, "alpha": 0.9}),
    "RMSprop centered": ("RMSprop", {"lr": 0.01, "centered": True, "weight_decay": 0.1}),
    "RMSprop maximize": ("RMSprop", {"lr": 0.001, "maximize": True}),
    "Adagrad": ("Adagrad", {"lr": 0.1}),
    "Adadelta": ("Adadelta", {"lr": 1.0}),
    "Adadelta decay": ("Adadelta", {"lr": 0.7, "rho": 0.8, "weight_decay": 0.1}),
    "Adamax": ("Adamax", {"lr": 0.02}),
    "Adamax decay": ("Adamax", {"lr": 0.02, "betas": (0.8, 0.9), "weight_decay": 0.1, "maximize": True}),
    "NAdam": ("NAdam", {"lr": 0.02}),
    "NAdam decay": ("NAdam", {"lr": 0.02, "weight_decay": 0.1, "momentum_decay": 0.1}),
    "NAdam decoupled": ("NAdam", {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "RAdam": ("RAdam", {"lr": 0.02}),
    "RAdam decay": ("RAdam", {"lr": 0.02, "betas": (0.8, 0.9), "weight_decay": 0.1}),
    "RAdam decoupled": ("RAdam", {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "Rprop": ("Rprop", {"lr": 0.01, "step_sizes": (1e-6, 0.05)}),
    "Rprop etas": ("Rprop", {"lr": 0.01, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}),
    "Adagrad decay": (
        "Adagrad",
        {"lr": 0.1, "lr_decay": 0.05, "weight_decay": 0.1, "initial_accumulator_value": 0.2},
    ),
}


def parameters(torch, dtype: str = "float64") -> list:
    return [torch.tensor(a.tolist(), dtype=getattr(torch, dtype)).requires_grad_() for a in (W1, B1, W2)]


def loss_of(torch, params: list):
    w1, b1, w2 = params
    x, y = (torch.tensor(a.tolist(), dtype=w1.dtype) for a in (X, Y))
    return (((x @ w1 + b1).tanh() @ w2 - y) ** 2).mean()


def train(torch, name: str, options: dict, steps: int, dtype: str = "float64", schedule=None) -> dict:
    params = parameters(torch, dtype)
    optimizer = getattr(torch.optim, name)([params[0], params[2]], **options)
    optimizer.add_param_group({"params": params[1], "lr": options["lr"] / 2})
    scheduler = schedule and schedule(torch.optim.lr_scheduler, optimizer)
    rates = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(torch, params)
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step(*([loss.item()] if type(scheduler).__name__ == "ReduceLROnPlateau" else []))
            rates.append(scheduler.get_last_lr())
    return {
        "params": [p.detach().numpy() for p in params],
        "versions": [p._version for p in params],
        "state": optimizer.state_dict(),
        "repr": repr(optimizer),
        "rates": rates,
        "optimizer": optimizer,
    }


def assert_same_state(mine: dict, theirs: dict) -> None:
    assert mine["param_groups"] == theirs["param_groups"]
    assert mine["state"].keys() == theirs["state"].keys()
    for number, values in theirs["state"].items():
        assert mine["state"][number].keys() == values.keys()
        for key, value in values.items():
            np.testing.assert_allclose(
                np.asarray(mine["state"][number][key]), np.asarray(value), rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fifty_steps_agree_with_pytorch(torch, name):
    """Parameters, their versions, the state dict with PyTorch's keys and the printed form."""
    kind, options = OPTIMIZERS[name]
    theirs, mine = train(torch, kind, options, 50), train(minigrad, kind, options, 50)
    for a, b in zip(mine["params"], theirs["params"], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
    assert mine["versions"] == theirs["versions"]
    assert_same_state(mine["state"], theirs["state"])
    assert mine["repr"] == theirs["repr"]


# eps is large, lest a gradient of rounding errors alone (of a bias before a BatchNorm) make whole steps
RANDOM_OPTIONS = {
    "SGD": {"lr": [0.01, 0.05], "momentum": [0, 0.9], "dampening": [0, 0.2], "weight_decay": [0, 0.1],
            "maximize": [False, True]},
    "Adam": {"lr": [0.01], "betas": [(0.9, 0.999), (0.5, 0.8)], "eps": [1e-3, 1e-2], "weight_decay": [0, 0.1],
             "amsgrad": [False, True], "maximize": [False, True], "decoupled_weight_decay": [False, True]},
    "AdamW": {"lr": [0.01], "eps": [1e-3], "weight_decay": [0, 0.3], "amsgrad": [False, True], "maximize": [False, True]},
    "RMSprop": {"lr": [0.01], "eps": [1e-2], "alpha": [0.99, 0.5], "momentum": [0, 0.8], "centered": [False, True],
                "weight_decay": [0, 0.1], "maximize": [False, True]},
    "Adagrad": {"lr": [0.1], "eps": [1e-2], "lr_decay": [0, 0.1], "weight_decay": [0, 0.1],
                "initial_accumulator_value": [0, 0.5], "maximize": [False, True]},
}  # fmt: skip


def random_training(torch, kind: str, options: dict, widths: list[int], layers: list[str], seed: int) -> list:
    """A random network of modules after 50 steps in double precision: its parameters, and the loss on the way."""
    torch.manual_seed(seed)
    parts = []
    for a, b, layer in zip(widths, widths[1:], layers, strict=False):
        parts += [
            torch.nn.Linear(a, b),
            getattr(torch.nn, layer)(*[b] * (layer in ("LayerNorm", "BatchNorm1d"))),
        ]
    net = torch.nn.Sequential(*parts, torch.nn.Linear(widths[-1], 2)).double()
    x, y = torch.randn(7, widths[0]).double(), torch.randint(0, 2, (7,))
    first, *rest = net.parameters()
    optimizer = getattr(torch.optim, kind)([{"params": [first], "lr": 0.003}, {"params": rest}], **options)
    values = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        values.append(loss.item())
    return [values, *(p.detach().numpy() for p in net.parameters())]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(case=st.data())
def test_fifty_steps_of_random_networks_agree_with_pytorch(torch, case):
    """Any optimizer with any options on a network of any layers, from the same seed, with clipped gradients."""
    kind = case.draw(st.sampled_from(sorted(RANDOM_OPTIONS)))
    options = {name: case.draw(st.sampled_from(values)) for name, values in RANDOM_OPTIONS[kind].items()}
    if kind == "SGD" and options["momentum"] and not options["dampening"]:
        options["nesterov"] = case.draw(st.booleans())
    widths = case.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    kinds = st.sampled_from(["Tanh", "ReLU", "GELU", "SiLU", "LayerNorm", "BatchNorm1d", "Softplus"])
    layers = case.draw(st.lists(kinds, min_size=len(widths), max_size=len(widths)))
    seed = case.draw(st.integers(0, 99))
    theirs, mine = (random_training(t, kind, options, widths, layers, seed) for t in (torch, minigrad))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


KINDS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop"]


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_stay_float32(torch, kind):
    """fifty steps in float32 differ from PyTorch's by roundings only, and nothing becomes float64 on the way."""
    options = {"lr": 0.02}
    theirs, mine = train(torch, kind, options, 50, "float32"), train(minigrad, kind, options, 50, "float32")
    for a, b in zip(mine["params"], theirs["params"], strict=True):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    for values in mine["state"]["state"].values():
        assert {str(v.dtype) for v in values.values() if isinstance(v, minigrad.Tensor)} <= {"torch.float32"}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_goes_on_from_a_saved_state(name):
    """Loading a state dict into a new optimizer continues as if nothing had happened."""
    kind, options = OPTIMIZERS[name]
    params = parameters(minigrad)
    first = getattr(minigrad.optim, kind)(params, **options)
    others = None
    for step in range(6):
        if step == 3:
            others = [p.detach().clone().requires_grad_() for p in params]
            second = getattr(minigrad.optim, kind)(others, **{**options, "lr": 123.0})
            second.load_state_dict(copy.deepcopy(first.state_dict()))
        for optimizer, ps in ((first, params), (second, others)) if others else ((first, params),):
            optimizer.zero_grad()
            loss_of(minigrad, ps).backward()
            optimizer.step()
    for a, b in zip(params, others, strict=True):
        # NAdam keeps a product in float32, which is loaded in the parameters' type
        np.testing.assert_allclose(
            a.detach().numpy(), b.detach().numpy(), rtol=1e-9 if kind == "NAdam" else 0
        )


SCHEDULES = {
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9]),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.2, 0.9, 7),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 6, 0.001),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda e: 1 / (e + 1)),
    "LambdaLR for each group": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1.0]),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.3, total_steps=25),
    "OneCycleLR linear": lambda s, o: s.OneCycleLR(
        o, [0.3, 0.1], epochs=5, steps_per_epoch=5, anneal_strategy="linear"
    ),
    "OneCycleLR three phases": lambda s, o: s.OneCycleLR(
        o, 0.3, total_steps=30, three_phase=True, pct_start=0.4
    ),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(
        o, patience=2, factor=0.3, threshold=0.05, min_lr=[1e-3, 0]
    ),
    "ReduceLROnPlateau max": lambda s, o: s.ReduceLROnPlateau(
        o, "max", patience=1, cooldown=2, threshold_mode="abs"
    ),
}


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_give_pytorchs_rates(torch, name, kind):
    """24 epochs of every schedule, on two parameter groups."""
    options = {"lr": 0.1, "momentum": 0.9} if kind == "SGD" else {"lr": 0.1}
    theirs, mine = (train(t, kind, options, 24, schedule=SCHEDULES[name]) for t in (torch, minigrad))
    np.testing.assert_allclose(mine["rates"], theirs["rates"], rtol=1e-12)
    for a, b in zip(mine["optimizer"].param_groups, theirs["optimizer"].param_groups, strict=True):
        assert {k for k in a if k != "params"} == {k for k in b if k != "params"}
        for key in ("momentum", "betas"):
            np.testing.assert_allclose(a.get(key, 0), b.get(key, 0), rtol=1e-12)


def test_a_schedule_goes_on_from_a_saved_state():
    """Six epochs, saved after three."""

    def make():
        optimizer = minigrad.optim.SGD(parameters(minigrad), lr=0.1)
        return optimizer, minigrad.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)

    (o1, s1), (o2, s2) = make(), make()
    for _ in range(3):
        o1.step(), s1.step()
    o2.load_state_dict(o1.state_dict())
    s2.load_state_dict(s1.state_dict())
    for _ in range(3):
        o1.step(), s1.step(), o2.step(), s2.step()
        assert s1.get_last_lr() == s2.get_last_lr()


def test_stepping_a_schedule_first_is_warned_of():
    """The first learning rate would be skipped."""
    optimizer = minigrad.optim.SGD(parameters(minigrad), lr=0.1)
    scheduler = minigrad.optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(
        UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"
    ):
        scheduler.step()
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_none_is_skipped_but_zero_steps():
    """With momentum and weight decay a zero gradient still moves the weight; a missing one does not."""
    moved = {}
    for set_to_none in (True, False):
        w = minigrad.ones(1, requires_grad=True)
        optimizer = minigrad.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.1)
        (w * 2).sum().backward()
        optimizer.step()
        before = w.item()
        optimizer.zero_grad(set_to_none=set_to_none)
        assert (w.grad is None) == set_to_none
        optimizer.step()
        moved[set_to_none] = w.item() - before
    assert moved[True] == 0.0
    assert moved[False] == pytest.approx(-0.19690, abs=1e-4)


def test_zero_grad_in_place_keeps_the_gradient_tensor():
    """set_to_none=False overwrites: who holds the gradient sees zeros."""
    w = minigrad.ones(2, requires_grad=True)
    (w * w).sum().backward()
    grad = w.grad
    minigrad.optim.SGD([w], lr=0.1).zero_grad(set_to_none=False)
    assert w.grad is grad and grad.tolist() == [0.0, 0.0]


def test_a_step_is_seen_by_a_graph_that_needs_the_old_weights():
    """backward after step: the version of the weight has changed."""
    w = minigrad.ones(2, requires_grad=True)
    loss = (w * w).sum()
    w.grad = minigrad.ones(2)
    minigrad.optim.SGD([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_closure_gives_the_loss():
    """step(closure) evaluates with recording, also inside no_grad, and returns the loss."""
    w = minigrad.full((1,), 3.0, requires_grad=True)
    optimizer = minigrad.optim.SGD([w], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with minigrad.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert w.item() == pytest.approx(2.4)


def test_step_hooks_run_around_the_step():
    """Pre-hook, then the update, then the post-hook; removable."""
    w = minigrad.ones(1, requires_grad=True)
    w.grad = minigrad.ones(1)
    optimizer = minigrad.optim.SGD([w], lr=0.5)
    seen = []
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", w.item())))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(("post", w.item())))
    optimizer.step()
    before.remove()
    optimizer.step()
    assert seen == [("pre", 1.0), ("post", 0.5), ("post", 0.0)]


BAD_CALLS = {
    "empty": lambda t, o: o.SGD([], lr=0.1),
    "a tensor": lambda t, o: o.SGD(t.ones(2, requires_grad=True), lr=0.1),
    "a number": lambda t, o: o.SGD([3.0], lr=0.1),
    "a result": lambda t, o: o.SGD([t.ones(2, requires_grad=True) * 2], lr=0.1),
    "a set": lambda t, o: o.SGD([{"params": {t.ones(1)}}], lr=0.1),
    "negative lr": lambda t, o: o.SGD([t.ones(1)], lr=-1),
    "negative momentum": lambda t, o: o.SGD([t.ones(1)], lr=1, momentum=-1),
    "nesterov alone": lambda t, o: o.SGD([t.ones(1)], lr=1, nesterov=True),
    "beta": lambda t, o: o.Adam([t.ones(1)], betas=(1.0, 0.9)),
    "eps": lambda t, o: o.Adam([t.ones(1)], eps=-1.0),
    "alpha": lambda t, o: o.RMSprop([t.ones(1)], alpha=-1.0),
    "rho": lambda t, o: o.Adadelta([t.ones(1)], rho=1.5),
    "momentum_decay": lambda t, o: o.NAdam([t.ones(1)], momentum_decay=-1.0),
    "etas": lambda t, o: o.Rprop([t.ones(1)], etas=(1.1, 1.2)),
    "RAdam beta": lambda t, o: o.RAdam([t.ones(1)], betas=(0.9, 1.0)),
    "twice": lambda t, o: (lambda w: o.SGD([{"params": [w]}, {"params": [w]}], lr=0.1))(t.ones(1)),
    "other groups": lambda t, o: o.SGD([t.ones(1)]).load_state_dict({"state": {}, "param_groups": []}),
    "other sizes": lambda t, o: o.SGD([t.ones(1)]).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}
    ),
    "schedule of nothing": lambda t, o: o.lr_scheduler.StepLR(None, 3),
    "resuming nothing": lambda t, o: o.lr_scheduler.StepLR(o.SGD([t.ones(1)]), 3, last_epoch=2),
    "number of lambdas": lambda t, o: o.lr_scheduler.LambdaLR(o.SGD([t.ones(1)]), [abs, abs]),
    "one cycle of what length": lambda t, o: o.lr_scheduler.OneCycleLR(o.SGD([t.ones(1)]), 0.1),
    "one cycle without momentum": lambda t, o: o.lr_scheduler.OneCycleLR(o.Adagrad([t.ones(1)]), 0.1, 10),
    "one cycle too far": lambda t, o: [
        s.step() for s in [o.lr_scheduler.OneCycleLR(o.SGD([t.ones(1)]), 0.1, 3)] * 9
    ],
    "factor": lambda t, o: o.lr_scheduler.ReduceLROnPlateau(o.SGD([t.ones(1)]), factor=1.0),
    "mode": lambda t, o: o.lr_scheduler.ReduceLROnPlateau(o.SGD([t.ones(1)]), mode="middle"),
}


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_calls_get_pytorchs_error(torch, name):
    """Type and first line of the message."""
    errors = []
    for t in (torch, minigrad):
        with pytest.raises(Exception) as caught:
            BAD_CALLS[name](t, t.optim)
        errors.append(
            (
                type(caught.value).__name__,
                str(caught.value).split("\n")[0].replace("\\n", "\n").split("\n")[0],
            )
        )
    assert errors[1] == errors[0]
