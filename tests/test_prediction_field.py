"""The field of a prediction: typed text is read, noted and answered as `predict` would, and is still there later."""

from __future__ import annotations

import pytest

import viz
from exercises import api, check, lessons, predict, store
from exercises.field import Field

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(autouse=True)
def live(tmp_path, monkeypatch):
    """A new session, in a front end that runs widgets, with a separate progress file."""
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    for kept in ("_unwritten", "_news"):
        monkeypatch.setattr(store, kept, [])
    viz.widgets(True)
    yield
    viz.widgets("auto")


def opened(key: str):
    """The box that a notebook shows for the prediction: its field, and what is below."""
    return predict(key).widget()


def say(box, text: str) -> str:
    """Type into the field; the reply as HTML."""
    field = box.children[0]
    field._handle_custom_msg({"guess": text}, [])
    return box.children[1].outputs[0]["data"]["text/html"]


def test_a_cell_without_a_guess_shows_a_field_and_without_widgets_a_card():
    bundle = predict("4.a")._repr_mimebundle_()
    assert bundle["text/plain"] == "4.a not yet predicted" and WIDGET in bundle
    viz.widgets(False)
    assert WIDGET not in predict("4.a")._repr_mimebundle_()
    assert WIDGET not in predict("4.a", 12)._repr_mimebundle_(), "a guess in code is answered by a card"


def test_what_is_typed_is_noted_and_answered_and_the_first_counts():
    box = opened("4.a")
    assert len(box.children) == 1, "no reply yet"
    assert "I have looked" in say(box, "16") and box.children[0].answered
    assert store.load()["predicted"] == {"4.a": False} and store.load()["guesses"] == {"4.a": "16"}
    assert lessons.find_question("4.a").found.split("`")[0][:20] in say(box, "12")
    assert store.load()["predicted"] == {"4.a": False}, (
        "the first counts: it was made before the answer was seen"
    )


def test_what_cannot_be_an_answer_says_what_is_asked_for_and_notes_nothing():
    box = opened("4.a")
    assert "Enter a number" in say(box, "no idea") and not box.children[0].answered
    assert not store.load()["predicted"]


def test_a_prediction_is_there_again_when_its_cell_runs_again():
    say(opened("4.a"), "16")
    again = opened("4.a")
    assert again.children[0].answered and len(again.children) == 2
    assert "<code" in again.children[1].outputs[0]["data"]["text/html"]


@pytest.mark.parametrize("key", [key for n in lessons.numbers() for key in lessons.questions(n)])
def test_each_prediction_has_an_example_of_its_kind_that_is_read(key):
    box = opened(key)
    example = box.children[0].example.partition("such as ")[2] or "True"
    assert "Not yet" not in say(box, example.partition(", or")[0].partition(" or ")[0])


def test_a_fault_of_ours_is_reported_and_not_lost(monkeypatch):
    box = opened("4.a")
    monkeypatch.setattr(api, "_reply", lambda *_: 1 / 0)
    assert "bug in the lesson" in say(box, "12")


def test_a_field_gives_nothing_away():
    for key in (key for n in lessons.numbers() for key in lessons.questions(n)):
        field = opened(key).children[0]
        assert isinstance(field, Field)
        sent = {name: getattr(field, name) for name in ("key", "asks", "example")}
        question = lessons.find_question(key)
        assert question.found not in str(sent) and question.missed not in str(sent)


def pressed(box, times: int) -> str:
    """The card of an exercise after its button has been pressed this many times, as HTML."""
    for _ in range(times):
        box.children[1].click()
    return "".join(output["data"]["text/html"] for output in box.children[0].outputs)


@pytest.mark.parametrize("answer", [..., 3], ids=["blank", "wrong"])
def test_each_hint_of_an_exercise_comes_by_a_button_and_none_before_it_is_pressed(answer, monkeypatch):
    monkeypatch.setattr(api, "_uncovered", {})
    hints = [api.paragraphs(text) for text in lessons.find_exercise("3.2").hints]
    card = check("3.2", answer)
    assert WIDGET in card._repr_mimebundle_() and "hint(" not in pressed(card.widget(), 0)
    for count in range(len(hints)):
        box = check("3.2", answer).widget()  # another run of the cell shows what was uncovered before
        shown = pressed(box, 0)
        assert box.children[1].description == f"Hint {count + 1} of {len(hints)}"
        assert [hint in shown for hint in hints] == [place < count for place in range(len(hints))]
        shown = pressed(box, 1)
        assert hints[count] in shown
    assert len(box.children) == 1 and "solution(" in shown, "after the last hint there is no button"


def test_without_widgets_the_card_says_how_to_ask_for_a_hint():
    viz.widgets(False)
    for answer in (..., 3):
        bundle = check("3.2", answer)._repr_mimebundle_()
        assert WIDGET not in bundle and "hint(" in bundle["text/html"]
    assert "hint(" not in check("3.2", lessons.find_exercise("3.2").reference[0])._repr_html_()
