"""The three files of a new lesson, with everything that the tests require (`python notebooks/build.py --new 19 "Title"`).

    NN_title.ipynb                  from LESSON: header, a prediction, a graph to step through, exercises, an unseen graph,
                                    what people get wrong, recap with three quick questions, PyTorch prints
    exercises/lesson_NN.py          from EXERCISES: a question and three exercises, each with three wrong answers
    ../tests/coverage/lesson_NN.toml  which cell teaches which item of the sources: none yet

The skeleton is a small lesson about y = 2x that runs and passes its own checks. Replace its content piece by piece.
"""

from __future__ import annotations

import re
from pathlib import Path

LESSON = """\
%% md header
# NUMBER. TITLE

One or two sentences: what the learner will be able to do, and why anyone would want to.

* **Objective.** Say in one sentence what the learner can do afterwards.
* **Minutes.** MINUTES.
* **Needs.** [Lesson 0](00_start_here.ipynb): how the stepper steps.
* **Skip this if** you can say what $2x$ sends back to $x$.

%% code setup
import minigrad as torch
import viz
from exercises import check, hint, predict, progress

%% md predict-a-text
## The first section

**Predict.** $y = 2x$. What does `backward()` put into `x.grad`?

%% code predict-a [predict:NUMBER.a]
predict("NUMBER.a", ...)

%% md first-step-text
What to look for in the picture, in one to three sentences.

%% code first-step
x = torch.tensor(3.0, requires_grad=True)
y = 2 * x
viz.step(y, ask="gradients")

%% md first-explain
How the prediction came out, in two to four sentences. `make lessons` folds this text in the learner's copy.

%% md exercise-NUMBER-1-text
### Exercise NUMBER.1: double
*easy · 2 min*

Say what the function returns.

%% code exercise-NUMBER-1 [exercise:NUMBER.1]
def double(x):
    return ...


check("NUMBER.1", double)

%% code hint-NUMBER-1
hint("NUMBER.1")

%% md exercise-NUMBER-2-text
### Exercise NUMBER.2: its gradient
*easy · 2 min · explain something*

What is the gradient of $2x$ with respect to $x$?

%% code exercise-NUMBER-2 [exercise:NUMBER.2]
slope = ...

check("NUMBER.2", slope)

%% code hint-NUMBER-2
hint("NUMBER.2")

%% md exercises
## Exercises

%% md exercise-NUMBER-3-text
### Exercise NUMBER.3: the way back
*medium · 3 min · change something*

Return what the node of $2x$ sends back if `upstream` arrives.

%% code exercise-NUMBER-3 [exercise:NUMBER.3]
def double_backward(upstream):
    return ...


check("NUMBER.3", double_backward)

%% code hint-NUMBER-3
hint("NUMBER.3")

%% md unseen-text
## One you have not seen

A graph that no cell above has shown. What does each node send?

%% code unseen
a = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(-2.0, requires_grad=True)
z = a * b + a

%% code unseen-step
viz.step(z, ask="gradients")

%% md wrong
## What people get wrong

**"A sentence that people believe."** What it leads to, and why it is wrong.

%% md recap
## Recap

* One line for each idea.
* Four to six of them.
* The numbers are those that the cells have printed.

**You can now** say what the objective promised.

Three quick questions; think first, then click.

<details><summary>The first question?</summary>

Its answer.

</details>
<details><summary>The second question?</summary>

Its answer.

</details>
<details><summary>The third question?</summary>

Its answer.

</details>

%% md pytorch
## PyTorch prints

```
>>> import torch
>>> x = torch.tensor(3.0, requires_grad=True)
>>> (2 * x).backward()
>>> x.grad
tensor(2.)
```

%% code progress
progress(NUMBER)

%% md next
Where to go from here: the [map of all lessons](index.ipynb).
"""

EXERCISES = '''\
"""Exercises of lesson NUMBER, TITLE."""

from __future__ import annotations

from .model import Exercise, Question
from .sheet import exercise, question


def double(x):
    return 2 * x


def double_backward(upstream):
    return 2 * upstream


QUESTIONS: list[Question] = [
    question(r"""
        NUMBER.a the gradient of 2x
        truth: 2.0
        found: Yes: $2x$ grows by 2 for each 1 of $x$.
        missed: $2x$ grows by 2 for each 1 of $x$: the gradient is 2.

        6.0 :: That is the *value* at 3. How fast does it grow?
        3.0 :: That is $x$ itself.
        1.0 :: That would be the gradient of $x$. This grows twice as fast.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        NUMBER.1 double
        solution: double
        cases: lambda: [(3.0,), (-0.5,)]
        why: Twice `x` is `2 * x`.
        shows: What the solution has shown, in a sentence.
        look: Twice the input, whatever it is.
        hint: A nudge.
        hint: Nearly everything: `2 * x`.

        x * x  :: That is the square.
        x + 2  :: That adds 2. Multiply by it.
        x      :: That is the input as it came in.
        x + x  :: right
        """),
    exercise(r"""
        NUMBER.2 its gradient
        solution:
            slope = 2  # everywhere
        why: A straight line has the same slope everywhere.
        shows: What the solution has shown, in a sentence.
        look slope: By how much does $2x$ grow for each 1 of $x$?
        hint: Compare $2x$ at 3 and at 4.

        slope = 6 :: That is the value at 3.
        slope = 1 :: That is the slope of $x$.
        slope = 0 :: A slope of 0 would mean that nothing changes.
        """),
    exercise(r"""
        NUMBER.3 the way back
        solution: double_backward
        cases: lambda: [(5.0,), (-0.5,)]
        why: The local derivative is 2, and it is multiplied by what arrives.
        shows: What the solution has shown, in a sentence.
        look: What arrives, times the local derivative.
        hint: What is the local derivative?
        hint: `2 * upstream`

        return 2      :: That is the local derivative alone. Multiply it by `upstream`.
        upstream      :: The gradient goes through unchanged. Multiply it by the local derivative.
        upstream / 2  :: You divide by the local derivative. Multiply by it.
        upstream * 2  :: right
        """),
]
'''

COVERAGE = "# Which cell of FILE teaches an item of items.toml, and what that cell says: `words` of prose, or a `text`.\n"


def file_name(number: str, title: str) -> str:
    """ "19_through_a_solver.ipynb" from "19" and "Through a solver"."""
    words = re.sub(r"\W+", "_", title.lower()).strip("_")
    return f"{number}_{words}.ipynb"


def texts(number: str, title: str, minutes: int = 0) -> tuple[str, str, str]:
    """The texts of the three files: the lesson (see lesson_text.py), its exercises, its table of coverage."""
    short = number.lstrip("0") or "0"
    lesson, exercises = (
        text.replace("NUMBER", short).replace("TITLE", title).replace("MINUTES", str(minutes))
        for text in (LESSON, EXERCISES)
    )
    if not short.isdigit():
        lesson = lesson.replace(f"progress({short})", f'progress("{short}")')
    return lesson, exercises, COVERAGE.replace("FILE", file_name(number, title))


def paths(notebooks: Path, number: str, title: str) -> tuple[Path, Path, Path]:
    """Where the three files go."""
    return (
        notebooks / file_name(number, title),
        notebooks / "exercises" / f"lesson_{number}.py",
        notebooks.parent / "tests" / "coverage" / f"lesson_{number}.toml",
    )
