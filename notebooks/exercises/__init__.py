"""What a lesson imports: `check`, `hint`, `solution`, `predict` and `progress`.

    from exercises import check, hint, predict, solution, progress

Each returns an object that a notebook shows as a card and a terminal as one line. None of them raises,
whatever it is given. The exercises themselves are in `lesson_00.py`, `lesson_01.py`, ..., one module per
lesson. Importing the package also sets how figures are shown (figures.py).
"""

from . import figures
from .api import check, hint, predict, progress, solution

__all__ = ["check", "hint", "predict", "progress", "solution"]

figures.install()
