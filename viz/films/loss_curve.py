"""How the loss of a training run develops: whether it falls, rises, is flat or runs away, apart from its noise."""

from __future__ import annotations

import math

import numpy as np

LEARNS = 0.8  # a net learns if its loss is below this fraction of the loss at the start
FEW, MANY = 8, 20  # how many frames a loss needs before it has a trend, and before it is called flat
FLAT, HARDLY = 0.01, 0.05  # fractions of the loss: a flat loss changes, and has fallen, by less than these
GUESS = 0.1  # a classifier only guesses if its loss ends within this fraction of that of equal probabilities
RISES = 0.05  # a loss counts as rising if it rises by more than this fraction
JUMP, WITHIN = 1.5, 5  # a jump: by this factor, within this number of frames


class LossCurve:
    """The known losses of some frames, in their order. ``start`` and ``end`` are means of the first and last few.

    ``at``: the numbers of the frames in the film. ``alone``: whether it is the only loss; if several losses compete, as in a
    GAN, none of them needs to fall.
    """

    def __init__(self, losses: list[float | None], at: list[int], alone: bool = True):
        self.at, self.alone = at, alone
        self.place = {frame: i for i, frame in enumerate(at)}
        self.values = np.array([math.nan if x is None else x for x in losses], float)
        self.known = self.values[np.isfinite(self.values)]
        few = max(1, min(5, len(self.known) // 10))
        ends = self.known[:few], self.known[-few:]
        self.start, self.end = (float(x.mean()) if x.size else math.nan for x in ends)

    @property
    def learns(self) -> bool:
        """Whether the loss has fallen by a fifth of what it was, and by more than its noise, or whether it need not fall."""
        fall = self.start - self.end
        return not self.alone or bool(fall > max((1 - LEARNS) * abs(self.start), 2 * self._noise()))

    def _noise(self) -> float:
        """The standard deviation of a loss about the trend, estimated from neighbouring losses."""
        return float(np.std(np.diff(self.known)) / math.sqrt(2)) if len(self.known) > 2 else 0.0

    def rises_after(self, frame: int) -> bool:
        """Whether the median loss of the next few frames is 1.5 times as large, and larger than ever before; or a loss of this
        or of those frames is not finite."""
        i = self.place.get(frame, 0)
        here, later = self.values[i], self.values[i + 1 : i + 1 + WITHIN]
        if not np.isfinite(here):
            return True
        before = float(np.nanmax(self.values[: i + 1]))
        with np.errstate(invalid="ignore"):
            worse = later.size and np.median(later) > max(before, here + (JUMP - 1) * abs(here))
        return bool(worse or not np.isfinite(later).all())

    def trend(self, guess: float | None = None) -> str | None:
        """ "runaway", "rising", "flat", or None: the last third of the frames compared with the first.

        ``guess``: for a classifier, the loss that equal probabilities would give.
        """
        v, n = self.known, len(self.known)
        if n < FEW or not self.alone:
            return None
        if self.end < 0 and abs(self.end) > 30 * max(1.0, abs(self.start)):
            return "runaway"
        third = n // 3
        first, last = float(v[:third].mean()), float(v[-third:].mean())
        scale, error = max(abs(first), abs(last)), self._noise() * math.sqrt(2 / third)
        change = last - first
        # a loss below 0 has no natural scale
        if self.start > 0 and change > max(RISES * scale, 3 * error) and self.end > self.start:
            return "rising"
        if n < MANY or 2 * error > 3 * FLAT * scale or self.learns:
            return None
        middle, fell = float(v[third:-third].mean()), self.start - self.end
        hardly = GUESS if guess and abs(self.end - guess) < GUESS * guess else HARDLY
        stays = abs(last - middle) < FLAT * scale and fell < hardly * abs(self.start)
        return "flat" if stays or abs(change) < FLAT * scale else None


def loss_text(x: float) -> str:
    """A loss to three digits."""
    if x == 0 or 1e-3 <= abs(x) < 1e5:
        return f"{x:.3g}"
    return f"{x:.1e}".replace("e-0", "e-").replace("e+0", "e")
