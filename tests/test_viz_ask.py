"""Predict before reveal: the questions, and that each mistake's number is the one that a wrong engine really gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import minigrad as mg
from viz.show.ask import questions
from viz.show.payload import payload


def named_diamond(at: float = 2.0) -> dict[str, mg.Tensor]:
    x = mg.tensor(at, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    c = a + b
    return {"x": x, "y": y, "a": a, "b": b, "c": c}


def diamond(at: float = 2.0) -> mg.Tensor:
    return named_diamond(at)["c"]


def asked(root: mg.Tensor, mode: str = "gradients", **more) -> dict:
    data = payload(root, check=False, names=more.pop("names", None))
    return questions(data, mode, **more)


def causes(question: dict) -> dict[float, str]:
    return {m["values"][0]: m["cause"] for m in question["mistakes"] if len(m["values"]) == 1}


def test_the_diamond_at_two_knows_what_each_wrong_engine_gives():
    last = asked(diamond())["5"]
    assert last["answer"] == {"shape": [], "values": [12.0]}
    known = causes(last)
    assert known[4.0] == "early"  # y fires with only the part from a
    assert known[8.0] == "early"  # y fires with only the part from b
    assert known[16.0] == known[20.0] == "fires twice"
    assert known[2.0] == "overwrite"


def wrong_engine(x: float, mode: str) -> float:
    """The gradient of x in the diamond, by hand in the engine's order (c, b, a, y), with one mistake."""
    parts_of_y = [2.0, 1.0]  # from b, then from a
    if mode == "overwrite":
        return parts_of_y[-1] * x  # the second half of 2x also overwrites the first
    if mode == "early":
        return parts_of_y[0] * 2 * x
    return (parts_of_y[0] + sum(parts_of_y)) * 2 * x  # fires for each part, with the sum so far


@pytest.mark.parametrize("x", [2.0, 0.5, -3.0, 7.25])
@pytest.mark.parametrize(
    ("mode", "cause"), [("early", "early"), ("twice", "fires twice"), ("overwrite", "overwrite")]
)
def test_the_numbers_follow_the_program(x: float, mode: str, cause: str):
    assert causes(asked(diamond(x))["5"])[wrong_engine(x, mode)] == cause


def test_where_paths_meet_the_total_is_asked():
    names = named_diamond()
    question = asked(names["c"], names=names)["4"]
    assert question["kind"] == "total" and "2 gradients meet at y" in question["text"]
    assert question["answer"]["values"] == [3.0]
    assert causes(question)[1.0] == "overwrite" and causes(question)[2.0] == "early"


def test_the_gradient_of_a_leaf_that_fired_before_is_recognised_and_none_that_is_still_to_be_asked():
    x, w = mg.tensor([2.0, 5.0], requires_grad=True), mg.tensor([3.0, -1.0], requires_grad=True)
    stores = [q for q in asked((x * w * 7).sum(), names={"x": x, "w": w}).values() if q["kind"] == "stores"]
    replies = [{tuple(m["values"]): m["says"] for m in question["mistakes"]} for question in stores]
    (first, second), (of_first, of_second) = replies, ((21.0, -7.0), (14.0, 35.0))
    assert second[of_first] == "That is x.grad, of another leaf." and of_second not in first
    last = list(asked((x * w).sum(), names={"x": x, "w": w}).values())[-1]
    assert {tuple(m["values"]): m["cause"] for m in last["mistakes"]}[3.0, -1.0] == "the value"  # also x.grad


def test_what_is_passed_on_is_multiplied_only_where_the_rule_multiplies():
    x = mg.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    every = asked((x.T * mg.tensor([[1.0, 2.0], [3.0, 4.0]])).sum()).values()
    turned = next(question for question in every if "PermuteBackward0" in question["text"])
    (says,) = [m["says"] for m in turned["mistakes"] if m["cause"] == "passed on"]
    assert "Multiply" not in says and "Put it into the rule first." in says


def test_a_forgotten_chain_rule_is_recognised():
    x = mg.tensor(3.0, requires_grad=True)
    z = (x * 5).sin() * 7
    question = next(q for q in asked(z).values() if "SinBackward0" in q["text"])
    cos = float(mg.cos(mg.tensor(15.0)))
    known = {round(v, 4): cause for v, cause in causes(question).items()}
    assert question["answer"]["values"][0] == pytest.approx(7 * cos, rel=1e-5)
    assert known[round(cos, 4)] == "local derivative only"
    assert known[7.0] == "passed on"


def test_the_value_of_a_tensor_is_recognised_where_its_gradient_is_asked_for():
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    b = y * 5
    c = b * 2
    found = asked(c, names={"x": x, "y": y, "b": b, "c": c})
    for question in found.values():
        if question["kind"] == "sends" and question["answer"]["values"] != [20.0]:
            known = {m["values"][0]: m["says"] for m in question["mistakes"] if m["cause"] == "the value"}
            assert "That is the value of b, not a gradient" in known[20.0]
            assert "That is the value of c" in known[40.0]


def test_adding_where_the_chain_rule_multiplies_is_recognised():
    x = mg.tensor(2.0, requires_grad=True)
    u = x * 3
    y = u**2
    found = asked(y, names={"x": x, "u": u, "y": y})
    sends, stores = (q for q in found.values() if "x" in q["of"])
    assert sends["answer"]["values"] == stores["answer"]["values"] == [36.0]
    assert causes(sends)[15.0] == causes(stores)[15.0] == "added"  # 12 arrives, and 3 is the local derivative
    assert causes(sends)[3.0] == causes(stores)[3.0] == "local derivative only"


def test_a_question_names_the_node_and_the_tensor():
    names = named_diamond()
    texts = [question["text"] for question in asked(names["c"], names=names).values()]
    assert texts[1] == "MulBackward0 of b fires next. What gradient does it send to y?"
    x = mg.tensor(2.0, requires_grad=True)
    (first, *_) = asked(x * x, names={"x": x}).values()
    assert first["text"].endswith("What gradient does it send to x (input self)?")


def test_overwriting_what_was_in_grad_is_recognised():
    x = mg.tensor(2.0, requires_grad=True)
    (x * 3).backward()
    last = list(asked(x * 5).values())[-1]
    assert last["answer"]["values"] == [8.0]
    assert causes(last)[5.0] == "overwrite"


def test_shapes_transposed_summed_and_not_reduced():
    w = mg.tensor([[1.0], [2.0]], requires_grad=True)
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    z = (x @ w).sum()
    last = list(asked(z).values())[-1]
    forms = {m["cause"]: m for m in last["mistakes"]}
    assert last["answer"] == {"shape": [2, 1], "values": [9.0, 12.0]}
    assert forms["transposed"]["shape"] == [1, 2]
    assert forms["summed"]["values"] == [21.0]
    b = mg.tensor([1.0, 2.0], requires_grad=True)
    z = (mg.ones(3, 2) + b).sum()
    found = [m for q in asked(z).values() for m in q["mistakes"] if m["cause"] == "wrong shape"]
    assert found and found[0]["shape"] == [3, 2]


def test_no_mistake_has_the_right_answer_and_each_number_has_one_cause():
    for root in (diamond(), diamond(-1.5)):
        for question in asked(root).values():
            keys = [(tuple(m["shape"]), tuple(m["values"])) for m in question["mistakes"]]
            assert len(keys) == len(set(keys))
            assert (tuple(question["answer"]["shape"]), tuple(question["answer"]["values"])) not in keys


def test_nothing_is_claimed_where_a_rule_does_not_act_entry_by_entry():
    """A square matrix product keeps the shape, but dividing what leaves by what arrives is not its derivative."""
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = mg.tensor([[0.5, 1.0], [2.0, -1.0]])
    h = x @ w
    z = (h + h * 3).sum()
    last = list(asked(z).values())[-1]
    assert {m["cause"] for m in last["mistakes"]} <= {"sign", "transposed", "summed", "the value"}


def known_of(question: dict) -> dict[tuple, str]:
    return {tuple(map(str, m["values"])): m["cause"] for m in question["mistakes"]}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_finite_is_asked_for_like_any_number():
    x = mg.tensor([4.0, 0.0], requires_grad=True)
    last = list(asked(mg.where(x > 0, x.sqrt(), 0.0).sum()).values())[-1]
    assert last["kind"] == "stores" and last["answer"] == {"shape": [2], "values": [0.25, "nan"]}
    assert known_of(last)[("0.25", "0.0")] == known_of(last)[("0.25", "inf")] == "not finite"
    x = mg.tensor(0.0, requires_grad=True)
    last = list(asked(x.sqrt() * -1).values())[-1]
    assert last["answer"]["values"] == ["-inf"]
    assert known_of(last)[("0.0",)] == known_of(last)[("nan",)] == "not finite"
    assert known_of(last)[("inf",)] == "sign"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_good_part_that_meets_a_bad_one_is_not_the_total():
    x = mg.tensor(0.0, requires_grad=True)
    root = (x * 1).sqrt()
    last = list(asked(root * root + x).values())[-1]
    assert last["answer"]["values"] == ["nan"]
    assert known_of(last)[("1.0",)] in ("early", "overwrite") and ("nan",) not in known_of(last)


def test_what_comes_out_without_a_hook_is_recognised():
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x
    y.register_hook(lambda grad: grad * 10)
    found = asked(y * 5 + y)
    assert found["3"]["answer"]["values"] == [60.0] and causes(found["3"])[6.0] == "before the hook"
    assert found["4"]["answer"]["values"] == [360.0] and causes(found["4"])[36.0] == "before the hook"
    assert {"averaged", "overwrite"} & set(causes(found["4"]).values()) == set(), (
        "what the hook would make of it"
    )


def test_large_gradients_are_asked_for_by_their_shape():
    w = mg.ones(4, 5, requires_grad=True)
    z = (mg.ones(3, 4) @ w).sum()
    question = list(asked(z).values())[-1]
    assert question["kind"] == "shape"
    assert {"shape": [4, 5]} in question["choices"]
    assert all(c["says"] for c in question["choices"] if c["shape"] != [4, 5])


def test_the_order_question_knows_who_may_fire_and_what_firing_early_would_give():
    names = named_diamond()
    found = asked(names["c"], "order", names=names)
    assert [len(q["ready"]) for q in found.values()] == [1, 2, 1, 1, 1]
    (says,) = found["3"]["early"].values()
    assert "y has 1 of 2 parts and must wait for a" in says
    assert "x.grad would be 8 instead of 12" in says


def test_the_first_steps_can_be_given_as_a_worked_example():
    assert list(asked(diamond(), given=3)) == ["4", "5"]


def test_steps_beside_the_way_from_a_merge_to_a_leaf_change_nothing_in_its_answers():
    alone = asked(diamond())["5"]
    w = mg.tensor(1.0, requires_grad=True)
    beside = w * 5  # made first, so its steps come after the merge, and w.grad is stored last
    made = named_diamond()
    found = asked(made["c"] + beside, names=made | {"w": w, "beside": beside})
    (x,) = (q for q in found.values() if q["answer"] == alone["answer"])
    for cause in ("early", "fires twice", "overwrite"):
        due = [m["values"] for m in alone["mistakes"] if m["cause"] == cause]
        assert due == [m["values"] for m in x["mistakes"] if m["cause"] == cause] != []


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: asked(diamond(), "numbers"), "'gradients', 'order'"),
        (lambda: asked(diamond(), given=-1), "0 or more"),
    ],
)
def test_bad_arguments_are_named(call: Callable, says: str):
    with pytest.raises(ValueError, match=says):
        call()
