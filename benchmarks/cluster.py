"""A pass over blocks on many machines, on paper: a simulated cluster, held against local runs where there are some.

A pass has a task for each block, which reads it and leaves statistics, and a tree of tasks that join eight of these at
a time. The simulation knows a scheduler that hands out one task after the other, slots that work, the way of statistics
over a network, tasks that take longer than others, and workers that die and whose results are computed again. Its two
constants, seconds a block and seconds of the scheduler a task, are measured here, as time of the processor, so that
other work beside it does not count; what it says of one and two workers is printed beside what they took, which does.
"""

from __future__ import annotations

import heapq
import math
import pickle
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from pellucid.core.scale.row_blocks import JOINED, RowBlock
from pellucid.core.threads import one_thread

HEIGHT, COLUMNS = 500_000, 20
GIGABIT = 125e6
"""Bytes a second."""
LOCAL_BLOCKS = 24
EMPTY_TASKS = 2000


@dataclass(frozen=True)
class Cluster:
    """Machines that work, and what lies between them."""

    workers: int
    slots: int = 1
    """Tasks that a worker does at a time."""
    latency: float = 0.5e-3
    bandwidth: float = 10 * GIGABIT
    per_task: float = 0.5e-3
    """Seconds of the scheduler, which does one thing after the other."""
    spread: float = 0.0
    """Deviation of the logarithm of a task's time: 0.5 makes one of a hundred three times as long as most."""
    lost: tuple[float, ...] = ()
    """Seconds after which a worker dies, each another one."""


@dataclass(frozen=True)
class Pass:
    """What is to be done once over all rows."""

    blocks: int
    seconds: float
    """To read a block and to sum it."""
    size: int
    """Bytes of the statistics of a block."""
    join: float = 1e-4
    """Seconds to join two statistics."""
    joined: int = JOINED


@dataclass(frozen=True)
class Outcome:
    """How a simulated pass went."""

    seconds: float
    moved: int
    """Bytes that went from one worker to another."""
    again: int
    """Tasks that were done a second time."""


Task = tuple[int, int]
"""Height in the tree, 0 for a block, and number from the left."""


class Simulation:
    """One pass on one cluster, from event to event: a task that ends, or a worker that does."""

    def __init__(self, work: Pass, cluster: Cluster, seed: int = 0) -> None:
        self.work, self.cluster = work, cluster
        self.rng = np.random.default_rng(seed)
        self.levels = _tree(work.blocks, work.joined)
        self.place: dict[Task, int] = {}
        """Of each result that exists, the worker that holds it."""
        self.waiting = [(0, number) for number in range(work.blocks)]
        """Tasks that can be done, the highest first: (- height, number)."""
        self.running: dict[Task, int] = {}
        self.free = [worker for worker in range(cluster.workers) for _ in range(cluster.slots)]
        self.events: list[tuple[float, int, Task]] = [
            (seconds, worker, LOST) for worker, seconds in enumerate(cluster.lost)
        ]
        heapq.heapify(self.events)
        self.scheduler, self.moved, self.done = 0.0, 0, 0

    def run(self) -> Outcome:
        """Return how it went once the last join is done."""
        top = (len(self.levels) - 1, 0)
        now = 0.0
        self._hand_out(now)
        while top not in self.place:
            now, worker, task = heapq.heappop(self.events)
            if task == LOST:
                self._bury(worker)
            elif self.running.get(task) == worker:
                self._finish(task, worker)
            self._hand_out(now)
        return Outcome(now, self.moved, self.done - sum(self.levels))

    def _finish(self, task: Task, worker: int) -> None:
        del self.running[task]
        self.place[task] = worker
        self.free.append(worker)
        self.done += 1
        if task[0] + 1 < len(self.levels) and all(part in self.place for part in self._parts(self._above(task))):
            self._ask_for(self._above(task))

    def _hand_out(self, now: float) -> None:
        while self.waiting and self.free:
            height, number = heapq.heappop(self.waiting)
            task = (-height, number)
            if task in self.place or task in self.running or not all(part in self.place for part in self._parts(task)):
                continue  # asked for twice; or a part was lost, and it comes back when that is there again
            worker = self.free.pop()
            far = sum(self.place[part] != worker for part in self._parts(task))
            self.moved += far * self.work.size
            self.scheduler = max(self.scheduler, now) + self.cluster.per_task
            way = far * self.work.size / self.cluster.bandwidth + (self.cluster.latency if far else 0.0)
            own = self.work.seconds if task[0] == 0 else self.work.join * (len(self._parts(task)) - 1)
            own *= math.exp(self.cluster.spread * self.rng.standard_normal())
            self.running[task] = worker
            heapq.heappush(self.events, (self.scheduler + way + own, worker, task))

    def _parts(self, task: Task) -> list[Task]:
        height, number = task
        if height == 0:
            return []
        first = number * self.work.joined
        return [(height - 1, k) for k in range(first, min(first + self.work.joined, self.levels[height - 1]))]

    def _bury(self, dead: int) -> None:
        """Forget a worker, and put back what it was doing and what it held that is still wanted."""
        self.free = [worker for worker in self.free if worker != dead]
        lost = [task for task, worker in self.running.items() if worker == dead]
        self.done += len(lost)
        for task in lost:
            del self.running[task]
        held = [task for task, worker in self.place.items() if worker == dead]
        for task in held:
            del self.place[task]
        for task in (*lost, *(task for task in held if self._above(task) not in self.place)):
            self._ask_for(task)

    def _ask_for(self, task: Task) -> None:
        """Put a task back, or what it is made of if that is gone too."""
        if task in self.place or task in self.running:
            return
        missing = [part for part in self._parts(task) if part not in self.place]
        for part in missing:
            self._ask_for(part)
        if not missing:
            heapq.heappush(self.waiting, (-task[0], task[1]))

    def _above(self, task: Task) -> Task:
        return task[0] + 1, task[1] // self.work.joined


LOST: Task = (-1, -1)


def _tree(blocks: int, joined: int) -> list[int]:
    levels = [blocks]
    while levels[-1] > 1:
        levels.append(-(-levels[-1] // joined))
    return levels


def simulated(work: Pass, cluster: Cluster, draws: int = 3) -> Outcome:
    """Return the median of some draws."""
    found = sorted((Simulation(work, cluster, seed).run() for seed in range(draws)), key=lambda one: one.seconds)
    return found[draws // 2]


def report(console: Console, only: str) -> None:  # noqa: ARG001  (all benchmarks take it)
    """Print the constants, the simulation beside local runs, and what it says of clusters that are not here."""
    per_task, each, size, local = _measured()
    console.print(
        f"Measured here: {1e3 * each:.0f} ms a block of {HEIGHT:,} x {COLUMNS} float32, {1e3 * per_task:.2f} ms of the "
        f"scheduler a task, {size:,} bytes of statistics a block (LinearRegression)."
    )
    table = Table("workers", "measured, s", "simulated, s", title=f"one pass over {LOCAL_BLOCKS} blocks")
    for workers, seconds in local.items():
        said = simulated(Pass(LOCAL_BLOCKS, each, size), Cluster(workers, per_task=per_task))
        table.add_row(str(workers), f"{seconds:.2f}", f"{said.seconds:.2f}")
    console.print(table)
    console.print(_methods(per_task))
    console.print(_growth(each, per_task, size))
    console.print(_sizes(each, per_task, size))
    console.print(_trees(each, per_task))
    console.print(_troubles(each, per_task, size))


def _methods(per_task: float) -> Table:
    """Return what each method costs in all: its passes, their time and statistics, and both on many machines."""
    made = time.process_time()
    block = RowBlock(0, _made_block(0), np.arange(HEIGHT) % 2)
    made = time.process_time() - made
    table = Table(
        "method", "passes", "ms a block and pass", "kB a block and pass", "10^8 rows, 2 slots, s",
        "10^10 rows, 100 machines, s", "moved, MB", title="all passes of a fit; 16 slots a machine, 10 gigabit",
    )  # fmt: skip
    for name, works in _works(block).items():
        passes = [_timed(partial(work, block, *given)) for work, given in works]
        seconds, size = (float(np.mean(some)) for some in zip(*passes, strict=True))
        here, there = (
            [
                simulated(Pass(blocks, made + own, bytes_sent), replace(machines, per_task=per_task), draws=1)
                for own, bytes_sent in passes
            ]
            for blocks, machines in ((200, Cluster(2)), (20_000, Cluster(100, 16, spread=0.3)))
        )
        table.add_row(
            name, str(len(works)), f"{1e3 * (made + seconds):.0f}", f"{size / 1e3:.1f}",
            f"{sum(one.seconds for one in here):.0f}", f"{sum(one.seconds for one in there):.0f}",
            f"{sum(one.moved for one in there) / 1e6:.0f}",
        )  # fmt: skip
    return table


Work = tuple[Callable[..., Any], tuple[Any, ...]]
"""What a pass does with a block, and what it is given beside it."""


def _works(block: RowBlock) -> dict[str, list[Work]]:
    """Return the passes of each method, as many as its fits to the tables of ``benchmarks.scale`` make."""
    from pellucid.cluster.kmeans.kmeans_passes import cluster_block
    from pellucid.core.scale.first_look import look_at_block
    from pellucid.core.scale.moments import summarize_block
    from pellucid.linear_model.logistic.logistic_passes import PassTask, logistic_block

    task = PassTask(np.arange(2), np.ones(2), np.zeros(COLUMNS), 1.0, np.append(np.ones(COLUMNS), 0.0))
    with_hessian, without = ((task, np.full((COLUMNS + 1, 1), 0.1), asked) for asked in (True, False))
    clusters = ([block.X[:20].astype(np.float64)], np.zeros(COLUMNS))
    return {
        "LinearRegression, PCA, GaussianNB": [(summarize_block, ("rows",))],
        "LogisticRegression, two classes": [
            (look_at_block, ("classes", 2)), (logistic_block, with_hessian), *2 * [(logistic_block, without)],
        ],
        "KMeans, 20 clusters": [(look_at_block, ("rows", 2)), *3 * [(cluster_block, clusters)]],
    }  # fmt: skip


def _timed(work: Callable[[], Any]) -> tuple[float, int]:
    """Return the seconds of some work, the best of a few, and the bytes of what it leaves."""
    seconds = []
    for _ in range(4):
        start = time.process_time()
        with one_thread():
            found = work()
        seconds.append(time.process_time() - start)
    return min(seconds), len(pickle.dumps(found))


def _growth(each: float, per_task: float, size: int) -> Table:
    """Return one pass over many rows on many machines of 16 slots."""
    table = Table(
        "rows", "machines", "one pass, s", "of ideal", "moved, MB", title="16 slots a machine, 10 gigabit, spread 0.3"
    )
    for rows in (1e8, 1e9, 1e10):
        for machines in (1, 10, 100):
            blocks = int(rows / HEIGHT)
            work = Pass(blocks, each, size)
            said = simulated(work, Cluster(machines, 16, per_task=per_task, spread=0.3))
            ideal = blocks * each * math.exp(0.045) / (16 * machines)
            table.add_row(
                f"{rows:.0e}",
                str(machines),
                f"{said.seconds:.1f}",
                f"{ideal / said.seconds:.2f}",
                f"{said.moved / 1e6:.1f}",
            )
    return table


def _sizes(each: float, per_task: float, size: int) -> Table:
    """Return how long a pass takes by the size of its blocks."""
    table = Table("rows a block", "MB", "tasks", "s", title="one pass over 10^10 rows, 100 machines of 16 slots")
    for height in (100_000, 500_000, 2_000_000, 5_000_000, 20_000_000):
        work = Pass(10**10 // height, each * height / HEIGHT, size)
        said = simulated(work, Cluster(100, 16, per_task=per_task, spread=0.3), draws=1)
        megabytes = height * COLUMNS * 4 // 10**6
        table.add_row(f"{height:,}", str(megabytes), f"{sum(_tree(work.blocks, JOINED)):,}", f"{said.seconds:.1f}")
    return table


def _trees(each: float, per_task: float) -> Table:
    """Return how long a pass takes by the number of statistics that are joined at once, and their size."""
    table = Table(
        "columns",
        "bytes",
        *(f"by {joined}" for joined in (2, 8, 32, 2000)),
        title="joined at once: 2,000 blocks, 10 machines, s",
    )
    for columns in (20, 200, 2000):
        size = 8 * columns * (columns + 1)
        seconds = each * columns / COLUMNS
        cells = []
        for joined in (2, 8, 32, 2000):
            work = Pass(2000, seconds, size, join=size / 4e9, joined=joined)
            cells.append(f"{simulated(work, Cluster(10, 16, per_task=per_task)).seconds:.1f}")
        table.add_row(str(columns), f"{size:,}", *cells)
    return table


def _troubles(each: float, per_task: float, size: int) -> Table:
    """Return what slow tasks and lost workers cost."""
    table = Table("10^10 rows, 100 machines of 16 slots", "s", "done again", title="what goes wrong")
    work, quiet = Pass(20_000, each, size), Cluster(100, 16, per_task=per_task)
    end = simulated(work, quiet).seconds
    for name, cluster in {
        "nothing": quiet,
        "slow tasks, spread 0.5": replace(quiet, spread=0.5),
        "slow tasks, spread 1": replace(quiet, spread=1.0),
        "one worker dies half way": replace(quiet, lost=(end / 2,)),
        "ten die half way": replace(quiet, lost=(end / 2,) * 10),
        "1 gigabit, 5 ms away": replace(quiet, bandwidth=GIGABIT, latency=5e-3),
    }.items():
        said = simulated(work, cluster)
        table.add_row(name, f"{said.seconds:.1f}", str(said.again))
    return table


def _measured() -> tuple[float, float, int, dict[int, float]]:
    """Return seconds of the scheduler a task, seconds and bytes of a block, and of a pass by the number of workers."""
    from dask.base import compute
    from dask.delayed import delayed
    from distributed import Client, LocalCluster

    passes: dict[int, float] = {}
    per_task = each = 0.0
    size = 0
    for workers in (1, 2):
        options: dict[str, Any] = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster):
            blocks = [delayed(_made_block)(number, pure=False) for number in range(LOCAL_BLOCKS)]
            _seconds_of_pass(blocks)  # imports and compiles
            passes[workers] = statistics.median(_seconds_of_pass(blocks) for _ in range(3))
            if workers == 1:
                start = time.process_time()  # the scheduler runs here, and does nothing but count
                compute(*(delayed(_nothing)(k) for k in range(EMPTY_TASKS)))
                per_task = (time.process_time() - start) / EMPTY_TASKS
                timed = compute(*(delayed(_timed_block)(k) for k in range(6)))
                each = statistics.median(seconds for seconds, _ in timed)
                size = timed[0][1]
    return per_task, each, size, passes


def _seconds_of_pass(blocks: Sequence[Any]) -> float:
    from pellucid.core.scale.moments import join_summaries, summarize_block
    from pellucid.core.scale.row_blocks import Layout, RowBlocks

    start = time.perf_counter()
    RowBlocks(blocks, [None] * len(blocks), [None] * len(blocks), Layout(COLUMNS)).reduce(
        summarize_block, join_summaries, "rows"
    )
    return time.perf_counter() - start


def _made_block(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal((HEIGHT, COLUMNS), dtype=np.float32)


def _timed_block(number: int) -> tuple[float, int]:
    from pellucid.core.scale.moments import summarize_block

    start = time.process_time()
    block = RowBlock(number, _made_block(number))
    with one_thread():
        found = summarize_block(block, "rows")
    return time.process_time() - start, len(pickle.dumps(found))


def _nothing(number: int) -> int:
    return number
