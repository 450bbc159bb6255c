"""Models of many kinds at first sight: the boxes that their authors would draw, without a recording."""

from __future__ import annotations

import pytest

import viz
from tests.first_sight_models import (
    cell,
    characters,
    chosen_experts,
    classifier,
    critic,
    energies,
    experts,
    flow_with_determinants,
    frozen_llama,
    hypernetwork,
    lagrangian,
    lora,
    normalised,
    one_inner_step,
    padded,
    physics,
    pooled,
    siren,
    sparse_experts,
    splines,
    temporal,
    triplet,
)
from tests.test_viz_modules import titles

LOSS = ["cross_entropy"]


SEEN = {
    hypernetwork: [
        "body",
        "weight",
        "ViewBackward0",
        "bias",
        "TBackward0",
        "AddmmBackward0",
        "MseLossBackward0",
    ],
    energies: ["conv, call 1", "SiluBackward0", "ViewBackward0", "fc, call 1"]
    + ["conv, call 2", "SiluBackward0", "ViewBackward0", "fc, call 2", "SubBackward0", "MeanBackward0"],
    siren: ["net.0", "Sine ×2", "net.3", "PowBackward0", "MeanBackward0"],
    lora: ["net.0", "GeluBackward0", "net.2", "GeluBackward0", "net.4", *LOSS],
    experts: ["inp", "Mixture ×2", "head", *LOSS],
    frozen_llama: ["tok", "Layer ×4", "norm", "out", *LOSS],
    classifier: ["emb", "TransposeBackward0", "gru", "SelectBackward0", "fc", *LOSS],
    cell: ["GRUCell ×20", "fc", *LOSS],
    temporal: ["net.0", "Block ×3", "MeanBackward0"],
    triplet: ["Sequential ×3", "StackBackward0", "MeanBackward0"],
    characters: ["embed, cell, out ×8", "StackBackward0", *LOSS],
    pooled: ["stem", "down1", "down2", "head", *LOSS],
    padded: ["net.0", "Residual ×3", "net.4", *LOSS],
    splines: ["net.0", "net.1", "net.2", "MseLossBackward0"],
    normalised: ["left", "normalize", "right", "normalize", "PermuteBackward0", "MmBackward0", *LOSS],
    one_inner_step: ["net, call 1", "∂ net", "net, call 2", "MseLossBackward0"],
    critic: ["netD, call 1", "BinaryCrossEntropyWithLogitsBackward0", "netD, call 2"]
    + ["BinaryCrossEntropyWithLogitsBackward0", "AddBackward0"],
}


@pytest.mark.parametrize("model", SEEN)
def test_it_is_drawn_as_on_a_whiteboard(torch, model):
    torch.manual_seed(0)
    assert titles(model(torch).picture) == SEEN[model]


def test_a_layer_holds_the_determinant_that_it_computes_from_its_parameters(torch):
    torch.manual_seed(0)
    picture = flow_with_determinants(torch).picture
    seen = [name for name in titles(picture) if name != "AddBackward0"]
    assert seen[:3] == ["layers.0", "layers.1", "layers.2"]
    assert not {"AbsBackward0", "LogBackward0"} & {*seen}


def test_a_module_of_two_results_is_one_box(torch):
    torch.manual_seed(0)
    picture = sparse_experts(torch).picture
    assert {"inp", "a", "b", "head"} <= {item.name for item in picture.items if item.kind == "fold"}


def test_a_box_has_the_name_of_a_result_only_where_all_of_it_leads_there(torch):
    """PPO: the probabilities, from which the entropy is computed, come in the middle of the sum of the two losses."""
    torch.manual_seed(0)
    nn = torch.nn
    actor, critic = (nn.Sequential(nn.Linear(8, 9), nn.Tanh(), nn.Linear(9, n)) for n in (4, 1))
    states, old, gain, goal = torch.randn(16, 8), *torch.randn(3, 16)
    chances = torch.distributions.Categorical(logits=actor(states))
    ratio = (chances.log_prob(torch.arange(16) % 4) - old).exp()
    policy = torch.max(-gain * ratio, -gain * ratio.clamp(0.8, 1.2)).mean()
    value = 0.5 * (critic(states).squeeze(-1) - goal).pow(2).mean()
    picture = viz.draw(policy + 0.5 * value - 0.01 * chances.entropy().mean()).picture
    named = [
        item for item in picture.items if item.kind == "fold" and item.name in ("ratio", "policy", "value")
    ]
    assert len(named) == 3
    assert "chances.probs" not in [item.name for item in picture.items if item.kind == "fold"]


def test_derivatives_are_boxes_of_their_own(torch):
    torch.manual_seed(0)
    drawing = physics(torch)
    assert {"u_t", "u_x", "u_xx"} <= set(titles(drawing.picture))
    assert not [i for i in drawing.picture.items if i.kind == "leaf" and (i.name or "").startswith("net")]


def test_derivatives_of_two_rows_are_two_passes_of_one_depth(torch):
    torch.manual_seed(0)
    boxes = [item.name for item in lagrangian(torch).picture.items if item.kind == "fold"]
    assert boxes == ["net", "first[0]", "∂² net ×2"]


def test_rows_of_functions_without_a_name_do_not_open_a_module(torch):
    """Functions that choose between experts and add up their results say less than the module's name."""
    torch.manual_seed(0)
    picture = chosen_experts(torch).picture
    assert [item.name for item in picture.items if item.kind == "fold"] == [
        "embed",
        "moe",
        "norm",
        "head",
        *LOSS,
    ]


def test_a_graph_keeps_its_names_when_a_pass_has_freed_it(t):
    x, w = t.tensor([[1.0, 2.0]]), t.tensor([[3.0], [4.0]], requires_grad=True)
    loss = ((x @ w) * 5).mean()
    viz.step(loss)
    words = {item.name for item in viz.draw(loss).picture.items}
    assert {"x", "x @ w", "* 5"} <= words


def test_the_data_of_the_caller_is_drawn_beside_the_model_and_gets_no_gradient(torch):
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    state, action = torch.randn(5, 4), torch.randint(0, 2, (5, 1))
    chosen = net(state).gather(1, action)
    picture = viz.draw((chosen**2).mean(), fold=1).picture
    words = [[line.text for line in item.lines] for item in picture.items if item.kind == "input"]
    assert words == [["state", "(5, 4)"], ["action", "(5, 1)"]]
    ways = {(link.tail.name, link.head.lines[0].text) for link in picture.links if link.kind == "forward"}
    assert ways == {("state", "net.0"), ("action", "gather")}
    assert [item.lines[0].text for item in picture.items if item.kind == "function"] == [
        "relu",
        "gather",
        "** 2",
        "mean",
    ]
