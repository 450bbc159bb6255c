"""What learners and teachers write with `exercises`, for a type checker, including wrong calls that it must refuse.

`make lint` runs `mypy --strict` on it. Each `type: ignore` names the error that is expected on its line.
"""

from __future__ import annotations

from pathlib import Path

import minigrad as torch
from exercises import check, hint, predict, progress, solution
from exercises.cards import Card
from exercises.classroom import report
from exercises.exam import Exam, Report
from viz.show.stepper import Stepper


def learn() -> list[str]:
    cards: list[Card] = [check("3.1", 4.0), check("3.1"), hint("3.1"), solution("3.1")]
    cards += [predict("3.a"), predict("3.a", "12"), progress(), progress(3), progress("9b", save="me.json")]
    return [f"{card.state}: {card.line}" for card in cards]


def sit() -> Report:
    exam = Exam()
    loss = (torch.ones(2, requires_grad=True) * 2).sum()
    stepper: Stepper = exam.step(1, loss, ask="order", again=True)
    card: Card = exam.answer(11, "b")
    path: Path = exam.save("exam.html")
    print(stepper.last, card.text, path)
    return exam.report()


def teach(folder: Path) -> str:
    return report(folder, names=True)


def wrong() -> None:
    check(3.1, 4.0)  # type: ignore[arg-type]
    hint(exercise=3)  # type: ignore[arg-type]
    solution("3.1", "3.2")  # type: ignore[call-arg]
    progress(3.5)  # type: ignore[arg-type]
    progress(save=True)  # type: ignore[arg-type]
    print(predict("3.a").stat)  # type: ignore[attr-defined]
    Exam().step("1", torch.ones(1))  # type: ignore[arg-type]
    Exam().answer()  # type: ignore[call-arg]
    report("folder")  # type: ignore[arg-type]
