"""Fits to files larger than memory, on two local workers, as multiples of one pass over the files by Dask alone.

The table is made once, as Parquet, in the folder ``PELLUCID_SCALE`` (a temporary one otherwise) of ``PELLUCID_ROWS``
rows (10^7) of 20 columns in float32; each worker may take ``PELLUCID_LIMIT`` (1GB) of memory.
``--only boosting`` compares boosted trees with the Dask interfaces of XGBoost and LightGBM.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import boosting_in_blocks
from pellucid.core.scale.row_blocks import RowBlocks

ROWS = int(float(os.environ.get("PELLUCID_ROWS", "1e7")))
LIMIT = os.environ.get("PELLUCID_LIMIT", "1GB")
COLUMNS, HEIGHT = 20, min(500_000, ROWS // 8)
ROUNDS = int(os.environ.get("PELLUCID_ROUNDS", "3"))
NAMES = [f"x{j}" for j in range(COLUMNS)]


def make_files(folder: Path) -> None:
    """Write the table, a file for every block, unless it is there."""
    import pandas as pd

    for number, start in enumerate(range(0, ROWS, HEIGHT)):
        file = folder / f"part-{number:04}.parquet"
        if file.exists():
            continue
        rng = np.random.default_rng(number)
        X = rng.standard_normal((min(HEIGHT, ROWS - start), COLUMNS), dtype=np.float32)
        X += np.arange(COLUMNS, dtype=np.float32)
        score = 0.1 * X @ np.arange(COLUMNS, dtype=np.float32)  # of mean 247
        noise = rng.standard_normal(len(X), dtype=np.float32)
        frame = pd.DataFrame(X, columns=NAMES).assign(y=score + noise, label=(score + noise > 247).astype(np.int8))
        frame.to_parquet(file, compression=None)


def report(console: Console, only: str) -> None:
    """Print the time of each fit as a multiple of a pass, its passes, how it grows, and the largest memory of a worker.

    ``--only boosting`` prints boosted trees beside the Dask interfaces of other libraries, ``--only growth`` the growth
    alone.
    """
    from distributed import Client, LocalCluster

    folder = Path(os.environ.get("PELLUCID_SCALE") or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    make_files(folder)
    files = sorted(map(str, folder.glob("*.parquet")))[: -(-ROWS // HEIGHT)]
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT}
    with LocalCluster(**options, dashboard_address=":0") as cluster, Client(cluster) as client:
        if only == "boosting":
            boosting_in_blocks.report(console, client, files, NAMES)
            return
        if only != "growth":
            console.print(_multiples(files, only))
        if only in ("", "growth"):
            console.print(_growth(files, client))
        peaks = client.run(_peak)
    console.print(f"largest memory of a worker: {max(peaks.values()) / 1e6:,.0f} MB")


def _multiples(files: list[str], only: str) -> Table:
    """Return the time of each fit as a multiple of a pass by Dask alone, in turns."""
    table = Table(title=f"{ROWS:,} x {COLUMNS} float32 in Parquet, 2 workers of {LIMIT}")
    for heading in ("fit", "seconds", "passes", "of a pass", "of a pass, each"):
        table.add_column(heading, justify="left" if heading == "fit" else "right")
    jobs = {name: job for name, job in _jobs(files).items() if only in name or name == PASS}
    times: dict[str, list[float]] = {name: [] for name in jobs}
    passes: dict[str, int] = {}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            start = time.perf_counter()
            passes[name] = _passes_of(job)
            times[name].append(time.perf_counter() - start)
    for name, seconds in times.items():
        ratio = statistics.median(s / p for s, p in zip(seconds, times[PASS], strict=True))
        each = ratio / max(1, passes[name])
        table.add_row(name, f"{statistics.median(seconds):.2f}", str(passes[name]), f"{ratio:.2f}", f"{each:.2f}")
    return table


def _growth(files: list[str], client: Any) -> Table:
    """Return seconds and memory of one fit to a hundredth, a tenth and all of the files."""
    table = Table(
        "rows", "seconds", "seconds for 10^6 rows", "largest memory of a worker, MB", title="LinearRegression"
    )
    for part in (100, 10, 1):
        few = files[: max(1, len(files) // part)]
        start = time.perf_counter()
        _jobs(few)["LinearRegression"]()
        seconds, rows = time.perf_counter() - start, min(ROWS, len(few) * HEIGHT)
        peak = max(client.run(_peak).values()) / 1e6
        table.add_row(f"{rows:,}", f"{seconds:.2f}", f"{1e6 * seconds / rows:.3f}", f"{peak:,.0f}")
    return table


PASS = "one pass: the sum of every column"


def _jobs(files: list[str]) -> dict[str, Callable[[], Any]]:
    import dask.dataframe as dd

    from pellucid.cluster import KMeans
    from pellucid.decomposition import PCA
    from pellucid.linear_model import Lasso, LassoCV, LinearRegression, LogisticRegression
    from pellucid.naive_bayes import GaussianNB

    table = dd.read_parquet(files)
    X, y, label = table[NAMES], table["y"], table["label"]
    return {
        PASS: lambda: table.sum().compute(),
        "LinearRegression": lambda: LinearRegression().fit(X, y),
        "Lasso": lambda: Lasso(alpha=0.01).fit(X, y),
        "LassoCV, 100 penalties, 5 folds": lambda: LassoCV(alphas=100).fit(X, y),
        "PCA": lambda: PCA(5).fit(X),
        "GaussianNB": lambda: GaussianNB().fit(X, label),
        "LogisticRegression": lambda: LogisticRegression().fit(X, label),
        "KMeans, 20 clusters, 10 rounds": lambda: KMeans(20, max_iter=10, random_state=0).fit(X),
    }


def _passes_of(job: Callable[[], Any]) -> int:
    """Return how many passes over the blocks a job makes; 0 for one that makes none of ours."""
    count = 0
    reduce = RowBlocks.reduce

    def counted(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        return reduce(*arguments)

    RowBlocks.reduce = counted  # type: ignore[method-assign]
    try:
        job()
    finally:
        RowBlocks.reduce = reduce  # type: ignore[method-assign]
    return count


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
