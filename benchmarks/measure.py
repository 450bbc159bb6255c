"""Time things fairly: contenders take turns in one process, medians are reported, ratios are to a named peer.

    table = compare("chain of 1,000 adds", {"minigrad": f, "torch": g, "NumPy": h}, peer="torch")
    print(table)
    table["minigrad"].ratio      # 0.5: half of torch's time

Because they take turns, a change in the machine's load hits all alike; a ratio is the median over the rounds of the quotient
within one round. The garbage collector runs before each round and is off within it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

ROUNDS = 15
SAMPLE = 0.01  # a sample lasts at least this many seconds: many calls of a quick contender


@dataclass(frozen=True)
class Measured:
    """One contender. seconds: median time of one call. ratio: to the peer, or None where there is no peer."""

    seconds: float
    ratio: float | None


class Table(dict[str, Measured]):
    """What `compare` found, by name; prints as a table."""

    def __init__(self, title: str, peer: str | None, rows: Mapping[str, Measured]):
        super().__init__(rows)
        self.title, self.peer = title, peer

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        lines = [self.title]
        for name, row in self.items():
            ratio = "" if row.ratio is None else f"   {row.ratio:6.2f} × {self.peer}"
            lines.append(f"  {name:{width}}  {in_units(row.seconds):>9}{ratio}")
        return "\n".join(lines)


def in_units(seconds: float) -> str:
    """0.00123 → "1.23 ms"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def sample(run: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    """Seconds for one call, over `calls` of them."""
    started = clock()
    for _ in range(calls):
        run()
    return (clock() - started) / calls


def enough_calls(run: Callable[[], object], seconds: float, clock: Callable[[], float]) -> int:
    """How many calls make a sample long enough for the clock. Warms the contender up."""
    run()
    calls = 1
    while (took := sample(run, calls, clock) * calls) < seconds:
        calls = max(2 * calls, int(1.2 * calls * seconds / max(took, 1e-6)))
    return calls


def compare(
    title: str,
    contenders: Mapping[str, Callable[[], object]],
    peer: str | None = None,
    rounds: int = ROUNDS,
    seconds: float = SAMPLE,
    clock: Callable[[], float] = time.perf_counter,
) -> Table:
    """Call each contender (a function without arguments) in turn, `rounds` times, each time for at least `seconds`.

    clock: time.process_time, for contenders with one thread, does not count the work of other programs.
    """
    calls = {name: enough_calls(run, seconds, clock) for name, run in contenders.items()}
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    gc.freeze()  # objects that exist already are not scanned again
    try:
        for number in range(rounds):
            gc.collect()
            gc.disable()
            shift = number % len(names)  # no contender is always first
            for name in names[shift:] + names[:shift]:
                samples[name].append(sample(contenders[name], calls[name], clock))
            gc.enable()
    finally:
        gc.enable()
        gc.unfreeze()
    rows = {}
    for name, times in samples.items():
        ratio = None if peer is None else median(a / b for a, b in zip(times, samples[peer], strict=True))
        rows[name] = Measured(median(times), ratio)
    return Table(title, peer, rows)


def grid(title: str, tables: Mapping[str, Table], names: list[str]) -> str:
    """Many small tables as one: a line for each, a column for each contender, times in µs and the first's ratio."""
    width = max(map(len, tables))
    peer = next(iter(tables.values())).peer
    head = "".join(f"{name:>11}" for name in names)
    lines = [f"{title} (µs)", f"  {'':{width}}{head}   {names[0]} ÷ {peer}"]
    for label, table in tables.items():
        cells = "".join(
            f"{table[name].seconds * 1e6:11.2f}" if name in table else f"{'–':>11}" for name in names
        )
        lines.append(f"  {label:{width}}{cells}   {table[names[0]].ratio:8.2f}")
    return "\n".join(lines)
