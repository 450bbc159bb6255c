"""The questions of the exam, and the lessons that each of its graphs and questions is about.

A question is answered with a letter: `exam.answer(11, "b")`. Its text, with the options, is in exam.ipynb. tests/test_exam.py
checks that each reply is true, by running what the options say.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

ABOUT = {
    1: ("3",),
    2: ("4",),
    3: ("5", "6"),
    4: ("6", "8"),
    5: ("8", "11"),
    6: ("10", "12"),
    7: ("13",),
    8: ("14",),
    9: ("15",),
    10: ("17",),
    11: ("8",),
    12: ("9b",),
    13: ("10", "16"),
}
"""The lessons that graph or question `number` is about, as exam.ipynb names them."""


@dataclass(frozen=True)
class Lettered:
    """A question with options: the right letter and what it shows; for every other letter, the cause of the mistake and the reply."""

    asks: str
    right: str
    shows: str
    wrong: Mapping[str, tuple[str, str]]

    @property
    def letters(self) -> str:
        """All letters that can be an answer."""
        return "".join(sorted([self.right, *self.wrong]))


def _lettered(text: str) -> Lettered:
    """Read the question and the lines below it: a letter, `right` or the cause of that mistake, ` :: ` and the reply."""
    asks, *lines = textwrap.dedent(text).strip().split("\n")
    rows = {row[1]: (row[2], row[3]) for line in lines if (row := re.fullmatch(r"(\w) (.+?) +:: (.+)", line))}
    right = next(letter for letter, (cause, _) in rows.items() if cause == "right")
    return Lettered(asks, right, rows.pop(right)[1], rows)


QUESTIONS = {
    11: _lettered(r"""
        how to keep an encoder as it is
        a nothing recorded :: Inside the block nothing is recorded, so nothing leads back to the prompt: its `.grad` stays `None`.
        b right            :: A parameter that does not ask gets no gradient, and the encoder's own rules still send theirs on to the prompt.
        c cut too early    :: The way back ends at the cut. The prompt comes before it, and its `.grad` stays `None`.
        d still computed   :: The encoder stays as it is, but a gradient is computed for each of its weights, and adds up in `.grad`.
        e nothing recorded :: The head's rule has to keep what it reads, and refuses a tensor made in inference mode.
        """),
    12: _lettered(r"""
        what is wrong with a loop in which only the last layer learns
        a learning rate        :: Then both would move, a little. And a small rate does not turn a `.grad` into `None`.
        b not cleared          :: Then gradients would add up from step to step, and `first` would have one like any other.
        c not in the optimizer :: Then `first` would not move either, but a gradient would be computed for it: `.grad` would be a number.
        d right                :: `None` means that no gradient was computed: nothing leads back to `first`. Its result was cut off.
        e zero for None        :: A dead unit sends 0 back: `.grad` would be a tensor of zeros. `None` means that nothing was computed.
        """),
    13: _lettered(r"""
        few inputs, many outputs: which direction
        a right          :: One forward pass gives the slopes of all results with respect to one setting: a column of the Jacobian. There are three. And a tangent travels along with the values, so no step is kept for later.
        b row for column :: A backward pass gives the slopes of one result: a row of the Jacobian. There are 10,000 rows, not three.
        c summed         :: The sum of the results has three slopes. How each result depends on the settings is lost in the sum.
        d row for column :: A forward pass gives the slopes of all results with respect to one setting. There are three settings.
        e direction      :: That gives the right slopes with 3,333 times as many passes, and each of them needs what the 1,000 steps have kept.
        """),
}
