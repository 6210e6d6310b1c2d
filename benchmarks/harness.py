"""Runs ours and every peer on the same data, in alternating rounds, in one process, on the same threads.

A row prepares its data once. Each contender is a function from the data to a result; ``objective`` turns a result into
the number that is minimized, so that nobody wins by stopping early. What counts is the ratio
``best peer time / our time``, with the median over rounds as time: the machine is noisy, the ratio less so.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

OURS = "pellucid"
PAUSE = 0.05
"""Seconds before each timed run: the threads of BLAS and OpenMP spin on for a while and would slow whoever is next."""

SLOW = 4.0
"""Seconds above which a contender runs no more than twice."""


@dataclass(frozen=True)
class Row:
    """One problem with its contenders; ``objective`` is smaller for a better answer."""

    name: str
    prepare: Callable[[], Any]
    contenders: dict[str, Callable[[Any], Any]]
    objective: Callable[[Any, Any], float]
    rounds: int = 7
    slack: float = 1e-6
    """How much larger than the best peer's, relatively, our objective may be: rounding, not a worse answer."""
    machine: Callable[[Any], Any] | None = None
    """Work no fit can do without, such as one ``dsyrk`` of the data: our time is printed as a multiple of it."""
    repeats: int = 1
    """Calls in one timed run, for what takes less than the clock can tell."""


@dataclass
class Outcome:
    """What a row measured."""

    name: str
    times: dict[str, list[float]] = field(default_factory=dict)
    objectives: dict[str, float] = field(default_factory=dict)
    slack: float = 1e-6
    machine_times: list[float] = field(default_factory=list)

    def median(self, contender: str) -> float:
        """Median time in seconds."""
        return statistics.median(self.times[contender])

    @property
    def best_peer(self) -> str:
        """The fastest of the others whose answer is as good as ours or better; failing that, the fastest."""
        peers = [name for name in self.times if name != OURS]
        enough = self.objectives[OURS] + self.slack * abs(self.objectives[OURS])
        return min([name for name in peers if self.objectives[name] <= enough] or peers, key=self.median)

    @property
    def ratio(self) -> float:
        """Best peer's time over ours: above 1 we are faster."""
        return self.median(self.best_peer) / self.median(OURS)

    @property
    def share(self) -> float | None:
        """Our time over that of the machine's own work; the least of each, as both only ever wait for others."""
        return min(self.times[OURS]) / min(self.machine_times) if self.machine_times else None

    @property
    def is_fair(self) -> bool:
        """Whether our answer is no worse than that of any peer."""
        best = min(self.objectives.values())
        return self.objectives[OURS] <= best + self.slack * abs(best)


def run(row: Row) -> Outcome:
    """Time every contender of the row; the first, untimed round compiles and warms up."""
    data = row.prepare()
    outcome = Outcome(row.name, slack=row.slack)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, contender in row.contenders.items():
            outcome.objectives[name] = float(row.objective(data, contender(data)))
            outcome.times[name] = []
        for number in range(row.rounds):
            for name, contender in row.contenders.items():
                if number >= 2 and outcome.median(name) > SLOW:
                    continue
                outcome.times[name].append(_timed(contender, data, row.repeats))
            if row.machine is not None:
                outcome.machine_times.append(_timed(row.machine, data, row.repeats))
    return outcome


def _timed(work: Callable[[Any], Any], data: Any, repeats: int) -> float:
    """Return the seconds that one call takes."""
    time.sleep(PAUSE)
    start = time.perf_counter()
    for _ in range(repeats):
        work(data)
    return (time.perf_counter() - start) / repeats


def run_all(rows: Iterable[Row], report: Callable[[Outcome], None]) -> list[Outcome]:
    """Run the rows in turn, reporting each as it is done."""
    outcomes = []
    for row in rows:
        outcome = run(row)
        report(outcome)
        outcomes.append(outcome)
    return outcomes


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean."""
    return statistics.geometric_mean(ratios)
