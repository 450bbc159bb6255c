"""How the cause of an unlisted wrong answer is found: by one small change, by a relation, by side effects."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from exercises import lessons, relations, repair
from exercises.judge import as_answers, judge
from exercises.model import Complaint
from exercises.relations import Tried
from exercises.side_effects import GRAD, VALUES, Watch, counted_passes, unchanged


def holds(works, answer):
    try:
        return works(answer)
    except Exception:
        return False


def first_that(answer, works):
    return next((change.hint for change in repair.changes(answer) if holds(works, change.answer)), None)


def added(a, b):
    return a * b + 1


def turned(a, b):
    return b - a


def one_line_too_deep(numbers):
    total = 0
    for number in numbers:
        total = total + number
        return total


class Doubled:
    def twice(self, a):
        return a * 3


@pytest.mark.parametrize(
    "answer, right, message",
    [
        (added, lambda f: f(2, 3) == 6 and f(4, 5) == 20, "Look at `a * b + 1`: `1` does not belong there."),
        (turned, lambda f: f(5, 3) == 2 and f(7, 1) == 6, "the two sides are in the wrong order"),
        (one_line_too_deep, lambda f: f([1, 2, 3]) == 6, "Look at `return total`: it is inside a block"),
        (Doubled, lambda c: c().twice(4) == 8, "Look at `a * 3`: is 3 the right number?"),
    ],
)
def test_the_one_small_change_after_which_it_would_be_right_says_where_to_look(answer, right, message):
    assert message in first_that(answer, right)


def test_a_class_is_unchanged_after_its_methods_have_been_changed():
    assert first_that(Doubled, lambda c: False) is None
    assert Doubled().twice(4) == 12


def test_two_changes_are_tried_in_a_very_short_function():
    def wrong(a, b):
        return a / b

    found = next(c for c in repair.pairs(wrong) if holds(lambda f: f(3, 4) == 24 and f(1, 5) == 10, c.answer))
    assert "that is not the operation that belongs there" in found.hint


@pytest.mark.parametrize("answer", [print, 3, None, lambda a: a + 1, exec("def f(a): return a") or 5])
def test_what_has_no_source_is_left_alone(answer):
    assert list(repair.changes(answer)) == []


def tries(*pairs, **given):
    found = []
    for number, (got, due) in enumerate(pairs):
        inputs = {name: np.asarray(values[number], float) for name, values in given.items()}
        found.append(Tried(np.asarray(got, float), np.asarray(due, float), inputs))
    return found


@pytest.mark.parametrize(
    "tried, message",
    [
        (tries((-2, 2), (3, -3)), "the sign is not"),
        (tries((2, 2), (3, -3)), "lost their sign"),
        (tries((0, 2), (0, -3)), "It is 0 each time"),
        (tries((5, 2), (5, -3), (5, 4)), "The same number comes out each time, 5"),
        (tries((6, 3), (-20, -5), x=[2, 4]), "multiplied by `x` once too often"),
        (tries((3, 6), (5, 20), x=[2, 4]), "The factor `x` is missing"),
        (tries((6, 2), (9, 3)), "3 times what it should be"),
        (tries((3, 2), (4, 3)), "too large by the same number, 1"),
        (tries(([3, 1], [1, 3]), ([5, 2], [2, 5])), "opposite order"),
        (tries((2, 2.4), (5, 4.6)), "rounded to whole numbers"),
        (
            tries(
                ([1, 2, 2], [1, 3, 9]),
            ),
            "Whatever should be larger comes out as 2",
        ),
        (tries(([1, 4, 3, 6], [1, 4, -2, -5]), x=[[1, 2, -1, -2]]), "right where `x` is positive"),
        (tries((3, 3), (7, 9), (8, 8), decay=[0, 0.5, 0]), "as long as `decay` is 0"),
        (tries((1.5, 2), (4, 7)), ""),
        (tries((2, 2), (7, 7)), ""),
    ],
)
def test_a_relation_counts_that_holds_each_time(tried, message):
    answer_text = relations.relation_in(tried)
    assert message in answer_text if message else answer_text == ""


def test_a_watch_says_what_a_call_has_changed_besides():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
    things = [1.0, 2.0]
    for change, message in (
        (lambda: (x * x).sum().backward(), "leaves a gradient in `x.grad`"),
        (lambda: x.requires_grad_(False), "`x` itself no longer asks"),
        (lambda: x.data.mul_(2), "changes its input `x` in place"),
        (lambda: model.eval(), "`model` is left in eval mode"),
        (lambda: model[0].register_forward_hook(print), "leaves a hook on `model.0`"),
        (lambda: model[0]._forward_hooks.clear(), "removes hooks from `model.0`"),
        (things.pop, "changes the list `things`"),
        (lambda: None, ""),
    ):
        watch = Watch(x=x, model=model, things=things)
        change()
        assert message in watch.first_change() if message else watch.first_change() == ""


def test_what_the_exercise_asks_for_is_no_side_effect():
    w = torch.tensor(2.0, requires_grad=True)
    with unchanged({"w": {GRAD, VALUES}}, w=w):
        (w * w).backward()
        w.data -= 0.1
    with pytest.raises(Complaint, match="leaves a gradient"), unchanged(w=w):
        (w * w).backward()


def test_backward_passes_are_counted():
    x = torch.tensor(2.0, requires_grad=True)
    with counted_passes() as passes:
        (x * x).backward()
        torch.autograd.grad(x * x, x)
    assert len(passes) == 2


@pytest.mark.parametrize("side", [1, -1])
def test_a_limit_is_named_where_a_right_number_lies_on_it_too(side):
    due = side * np.array([0.5, 1.0, 2.0, 3.0])
    assert "comes out as" in relations.relation_in([Tried(side * np.minimum(side * due, 1.0), due)])


@pytest.mark.parametrize("gap, more", [(0.5, "too large"), (-0.5, "too small")])
def test_a_constant_gap_is_reported_with_its_direction(gap, more):
    due = np.array([0.5, 1.0, -2.0, 3.0])
    assert f"{more} by the same number, 0.5" in relations.relation_in([Tried(due + gap, due)])


TOGETHER = (
    ("12.4", "+ to_y * torch.sin(angle) => ", "to_y * r => to_y ;; to_x * r => to_x"),
    ("12b.3", "abs(x) => x", "torch.sign(x) => (x > 0).to(x.dtype)"),
)


@pytest.mark.parametrize(("key", "one", "other"), TOGETHER)
def test_two_listed_mistakes_made_at_once_get_both_replies(key, one, other, monkeypatch):
    monkeypatch.setattr("exercises.judge.SEARCH", (0.0, 60.0))
    exercise = lessons.find_exercise(key)
    message = [
        judge(exercise, as_answers(exercise, exercise.answer(change))).cause for change in (one, other)
    ]
    both = judge(exercise, as_answers(exercise, exercise.answer(f"{one}\n{other}"))).cause
    assert both.startswith("Two things are wrong.") and all(reply in both for reply in message)


def test_the_wrong_method_of_a_class_is_reported(monkeypatch):
    monkeypatch.setattr("exercises.judge.SEARCH", (0.0, 0.0))
    exercise = lessons.find_exercise("12.1")
    wrong = exercise.answer("alpha * torch.relu(x) => 5 + torch.relu(x) / (2 + alpha * alpha)")
    assert judge(exercise, (wrong,)).cause == "The mistake is in `forward`. Everything else is right."
    wrong = exercise.answer("alpha * torch.relu(x) => torch.relu(x) / (2 + alpha) ;; (x > 0) => (x < 0)")
    cause = judge(exercise, (wrong,)).cause
    assert "One is in `forward`" in cause and "pass `upstream` on where `x` is *positive*" in cause


def test_what_a_class_prints_is_printed_no_more_often_than_by_a_right_one(monkeypatch, capsys):
    monkeypatch.setattr("exercises.judge.SEARCH", (0.0, 0.0))
    exercise, printed = lessons.find_exercise("12.1"), []
    prints = "alpha * torch.relu(x) => (print('run'), alpha * torch.relu(x))[1]"
    for change in (prints, f"{prints} ;; (x > 0) => ((x > -50) * 3.3)"):
        verdict = judge(exercise, (exercise.answer(change),))
        printed.append(capsys.readouterr().out.count("run"))
    assert verdict.cause == "The mistake is in `backward`. Everything else is right."
    assert printed[0] == printed[1] > 0


def test_the_order_in_which_blocks_run_is_reported():
    exercise = lessons.find_exercise("10.5")
    cause = judge(exercise, (exercise.answer("blocks[1](blocks[0](t)) => blocks[0](blocks[1](t))"),)).cause
    assert "[1, 0, 2, 3]" in cause
