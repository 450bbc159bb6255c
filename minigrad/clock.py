"""A clock that ticks when a transform in reverse mode begins. Tensors without history note when they are made.

Who is older than a transform was there before it: see autograd/captured.py. Imports nothing.
"""


class Clock:
    """How many such transforms have begun, and which are running, in all threads."""

    __slots__ = ("now", "running")

    def __init__(self):
        self.now, self.running = 0, set()


clock = Clock()
