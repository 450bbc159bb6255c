"""Frames kept whole: the replayed pass is the pass as ``viz.step`` records it, on minigrad and PyTorch."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import numpy as np
import pytest

import viz
from tests.test_viz_film import mlp, train
from tests.viz_gallery import GALLERY
from viz.films import replay
from viz.films.payload import payload as film_payload
from viz.films.scene import walk
from viz.show.page import shared
from viz.show.payload import payload

PROGRAMS = [name for name in GALLERY if name not in ("several_roots", "double_backward", "freed")]


def numbers_of(data: dict) -> list[tuple]:
    """For each step: the node, and the arrays that it received, sent and stored."""
    arrays = data["arrays"]

    def value(x: Any) -> Any:
        return arrays[x["$"]] if isinstance(x, dict) and "$" in x else x

    return [
        (
            s["name"],
            [value(p.get("value")) for p in s["incoming"]],
            value(s.get("total")),
            [(x.get("to"), value(x.get("value")), bool(x.get("reason"))) for x in s["outgoing"]],
            [(k["name"], value(k["value"])) for k in s["saved"]],
            s.get("accumulate") and [value(s["accumulate"].get(k)) for k in ("before", "after")],
        )
        for s in data["steps"]
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_kept_frame_is_what_the_stepper_records(t: Any, name: str):
    tensor, names = GALLERY[name](t)
    true = shared(payload(tensor, names=names, check=False))
    tensor, names = GALLERY[name](t)
    film = viz.film(keep=[0], names=names)
    film.backward(tensor)
    assert film.notes == []
    assert numbers_of(film._kept_passes()["0"]) == numbers_of(true)
    sentences = [[s["sentence"] for s in data["steps"]] for data in (film._kept_passes()["0"], true)]
    if name != "hooks":  # a replayed pass does not have the user's hooks
        assert sentences[0] == sentences[1]


def test_the_last_frame_is_whole_whatever_came_after_it(t: Any):
    """After the frame, the optimizer moves the leaves, clipping writes to .grad, and zero_grad fills it with zeros."""

    def trained(last: Any) -> tuple[Any, Any, Any]:
        t.manual_seed(0)
        model, x = mlp(t), t.randn(6, 3)
        optimizer = t.optim.SGD(model.parameters(), lr=0.1)
        for k in range(4):
            loss = ((model(x) - 1) ** 2).mean()
            optimizer.zero_grad(set_to_none=k != 2)
            (last if k == 3 else film.backward)(loss)
            if k == 3:
                t.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
                optimizer.step()
                optimizer.zero_grad(set_to_none=False)
        return film

    true: list[dict] = []
    film = viz.film()
    trained(lambda loss: true.append(shared(payload(loss, check=False))))
    film = viz.film()
    trained(film.backward)
    assert list(film._kept_passes()) == ["3"]
    assert numbers_of(film._kept_passes()["3"]) == numbers_of(true[0])
    assert film.notes == []


def test_passes_between_frames_leave_the_last_frame(t: Any):
    film = viz.film(every=4)
    train(t, film, 7)
    assert list(film._kept_passes()) == ["1"] and film.steps == [0, 4]
    update = film._tables[0].part("update")
    assert np.isfinite(update).all() and (update != replay.LARGEST).all()


def test_the_first_nan_is_whole_also_where_the_backward_pass_made_it(t: Any):
    film, w = viz.film(), t.tensor([4.0, 1.0], requires_grad=True)
    for step in range(6):
        w.grad = None
        film.backward(((w * (0.0 if step == 3 else 1.0)).sqrt() * 2).sum())
        assert np.isfinite(film.losses[-1])
    assert sorted(film._kept_passes()) == ["3", "5"]
    kept = film._kept_passes()["3"]
    bad = [
        k for k, array in enumerate(kept["arrays"]) if "nan" in array["values"] or "inf" in array["values"]
    ]
    sends = ((s["name"], out["value"]["$"]) for s in kept["steps"] for out in s["outgoing"] if "value" in out)
    assert next(name for name, k in sends if k in bad) == "SqrtBackward0"
    assert json.dumps(film._kept_passes(), allow_nan=False)


def test_gradients_add_up_and_other_arguments_are_recorded(t: Any):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    film = viz.film(keep=[0, 1, 2])
    y = w * w
    film.backward(y, t.tensor([1.0, 10.0]), retain_graph=True)
    film.backward(y, gradient=t.tensor([1.0, 0.5]))
    last = numbers_of(film._kept_passes()["1"])[-1]
    assert last[0].endswith("AccumulateGrad")
    assert [a["values"] for a in (last[2], *last[-1])] == [[2.0, 2.0], [2.0, 40.0], [4.0, 42.0]]
    v = t.tensor(3.0, requires_grad=True)
    film.backward((w.sum() * v) ** 2, inputs=[v])
    assert [s[0].rpartition("::")[2] for s in numbers_of(film._kept_passes()["2"])][-1] == "AccumulateGrad"
    assert film.notes == []


def test_the_last_frame_stays_whole_where_a_later_pass_raises(t: Any):
    film, x = viz.film(), t.tensor([1.0, 2.0], requires_grad=True)
    for scale in (1.0, 3.0):
        loss = scale * (x * x).sum()
        film.backward(loss)
    with pytest.raises(RuntimeError, match="second time"):
        film.backward(loss)
    assert film.steps == [0, 1] and list(film._kept_passes()) == ["1"]


def test_what_is_too_large_to_be_held_is_not_and_says_so(t: Any, monkeypatch: pytest.MonkeyPatch):
    for limit, most, why in (
        ("LARGEST", 10, "its nodes save 615 numbers, more than 10"),
        ("MOST", 5, "its graph has more than 5 nodes"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(replay, limit, most)
            film = viz.film(keep=[1])
            train(t, film, 3)
        assert film._kept_passes() == {} and len(film) == 3
        # the last step, and the one in `keep`
        assert film.notes == [f"step {k} is not kept in full: {why}" for k in (2, 1)]
        assert film_payload([film])["films"][0]["notes"] == film.notes
    film = viz.film()
    train(t, film, 2)
    assert film_payload([film])["films"][0]["notes"] == []


def test_a_tensor_that_was_written_to_since_is_not_shown_with_its_new_numbers(t: Any):
    w, x = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([3.0, 4.0])
    film = viz.film()
    film.backward((w * x).sum())
    x.zero_()
    [step] = [s for s in film._kept_passes()["0"]["steps"] if s["name"] == "MulBackward0"]
    assert "[0, 0]" not in json.dumps(step) and "[0.0, 0.0]" not in json.dumps(step["saved"])


def test_a_rule_of_the_users_that_writes_into_its_gradient_is_shown_what_came(t: Any):
    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.mul_(2)

    def program(came: dict[str, float]) -> Any:
        w = t.tensor([1.0, -2.0], requires_grad=True)
        h = w * 3
        y = Twice.apply(h)
        for name, x in (("Twice", y), ("Mul", h)):
            x.register_hook(lambda g, name=name: came.update({name: float(g.norm())}))
        return (y + y * y).sum()

    film, came = viz.film(keep=[1]), {}
    for _ in range(2):
        film.backward(program(came))
    table = film._tables[-1]
    [f] = [f for f in table.scene.functions if table.scene.names[f].startswith("Twice")]
    columns = {"Twice": table.into(f), "Mul": table.scene.out[f][0].index}
    assert {name: 10.0 ** table.decades()[-1, k] for name, k in columns.items()} == pytest.approx(came)
    true = shared(payload(program({}), check=False))
    assert [step[:4] for step in numbers_of(film._kept_passes()["1"])] == [
        step[:4] for step in numbers_of(true)
    ]


def test_what_hooks_pack_is_not_unpacked_to_be_looked_at(torch):
    t = torch
    unpacked: list[int] = []
    w = t.tensor([1.0, 2.0], requires_grad=True)

    def unpack(x: Any) -> Any:
        unpacked.append(1)
        return x

    film = viz.film()
    with t.autograd.graph.saved_tensors_hooks(lambda x: x, unpack):
        loss = (w * w).sum()
    film.backward(loss)
    assert len(unpacked) == 2  # unpacked by the pass itself
    assert film._kept_passes() == {}
    assert film.notes == ["step 0 is not kept in full: its saved tensors are packed by hooks"]


CHAINED = {
    "clone": lambda x: x.clone(), "view": lambda x: x.view(-1), "reshape": lambda x: x.reshape(3, 2),
    "flatten": lambda x: x.flatten(), "permute": lambda x: x.permute(*reversed(range(x.dim()))),
    "transpose": lambda x: x.transpose(0, -1), "unsqueeze": lambda x: x.unsqueeze(-1), "squeeze": lambda x: x.squeeze(),
}  # fmt: skip
UNARY = ["exp", "tanh", "relu", "abs", "neg", "sum", "mean", "square"]


def leaf_behind(t: Any, chain: tuple[str, ...], unary: str) -> Any:
    x = t.linspace(0.5, 2.0, 6).reshape(2, 3).requires_grad_(True)
    for name in chain:
        x = CHAINED[name](x)
    return (getattr(x, unary)() * 2).sum()


@pytest.mark.long
@pytest.mark.parametrize("unary", UNARY)
def test_a_pass_is_replayed_whatever_re_indexes_the_leaf(t: Any, unary: str):
    """leaf -> chain of re-indexing nodes -> function of one input: what each node received and sent, with its shape."""
    tried = 0
    long = random.Random(0).sample([*product(CHAINED, repeat=3)], 40)
    for chain in [(), *product(CHAINED, repeat=1), *product(CHAINED, repeat=2), *long]:
        try:
            true = leaf_behind(t, chain, unary)
        except RuntimeError:  # .view of a tensor that is not contiguous
            continue
        seen: dict[int, tuple] = {}
        for k, node in enumerate(walk(true.grad_fn)[0]):
            if node.next_functions:
                node.register_hook(lambda sent, got, k=k, seen=seen: seen.update({k: (got, sent)}))
        true.backward()
        film = viz.film()
        for _ in range(2):  # the second frame reads less
            film.backward(leaf_behind(t, chain, unary))
        film._hold_newest()
        [played] = film._replayed.values()
        assert film.notes == [], (chain, film.notes)
        sentences = {i: sides for i, *sides in played.played}
        for k, sides in seen.items():
            for mine, ours in zip(sentences[k], sides, strict=True):
                lists = [[None if a is None else a.tolist() for a in side] for side in (mine, ours)]
                assert lists[0] == lists[1][: len(lists[0])], (chain, k)
        tried += 1
    assert tried > 60
