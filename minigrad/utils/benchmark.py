"""Measure how long a statement takes: `torch.utils.benchmark.Timer`."""

from __future__ import annotations

import timeit

from ..missing import module_attributes

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
__all__ = ["Measurement", "Timer"]
__dir__, __getattr__ = module_attributes(__name__, __all__)


class Measurement:
    """The seconds that `number_per_run` runs of a statement took."""

    def __init__(self, number_per_run: int, raw_times: list[float], stmt: str):
        self.number_per_run, self.raw_times, self.stmt = number_per_run, raw_times, stmt

    times = property(lambda self: [t / self.number_per_run for t in self.raw_times], doc="Seconds of a run.")
    mean = median = property(lambda self: self.times[0], doc="Seconds of a run.")

    def __repr__(self) -> str:
        size, unit = next((s, u) for s, u in UNITS if self.median >= s or u == "ns")
        name = f"<torch.utils.benchmark.utils.common.Measurement object at {id(self):#x}>"
        runs = f"  1 measurement, {self.number_per_run} runs , 1 thread"
        return f"{name}\n{self.stmt}\n  {self.median / size:.2f} {unit}\n{runs}"


class Timer:
    """Times a statement, which runs after `setup`.

    stmt, setup: Python code; globals: the names that the code can use; label, sub_label, description: for your own use.
    """

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", globals: dict | None = None, *, label: str | None = None,
        sub_label: str | None = None, description: str | None = None, num_threads: int = 1,
    ):  # fmt: skip
        self.stmt, self.label, self.sub_label, self.description = stmt, label, sub_label, description
        self.timer = timeit.Timer(stmt, setup, globals=globals)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement `number` times, after a warm-up."""
        self.timer.timeit(max(number // 100, 2))
        return Measurement(number, [self.timer.timeit(number)], self.stmt)

    def blocked_autorange(self, *, min_run_time: float = 0.2) -> Measurement:
        """Run the statement as many times as fit into `min_run_time` seconds."""
        number, seconds = self.timer.autorange()
        return self.timeit(max(int(number * min_run_time / seconds), 1))
