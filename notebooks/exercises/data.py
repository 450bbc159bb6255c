"""The data of the lessons, wherever a lesson is opened: a learner's copy has no folder `data` next to it.

from exercises.data import load_digits
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "data"


def load_digits() -> dict[str, np.ndarray]:
    """Handwritten digits: "images" (n, 8, 8), uint8, from 0 (paper) to 16 (ink), and "labels" (n,), uint8."""
    with np.load(FOLDER / "digits.npz") as file:
        return {name: file[name] for name in file}
