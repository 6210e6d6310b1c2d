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

ROWS = int(float(os.environ.get("PELLUCID_ROWS", "1e7")))
LIMIT = os.environ.get("PELLUCID_LIMIT", "1GB")
COLUMNS, HEIGHT, ROUNDS = 20, min(500_000, ROWS // 8), 3
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
        score = 0.1 * X @ np.arange(COLUMNS, dtype=np.float32)
        noise = rng.standard_normal(len(X), dtype=np.float32)
        frame = pd.DataFrame(X, columns=NAMES).assign(y=score + noise, label=(score + noise > 18).astype(np.int8))
        frame.to_parquet(file, compression=None)


def report(console: Console, only: str) -> None:
    """Print the time of each fit as a multiple of a pass, and the largest memory of a worker."""
    from distributed import Client, LocalCluster

    folder = Path(os.environ.get("PELLUCID_SCALE") or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    make_files(folder)
    table = Table(title=f"{ROWS:,} x {COLUMNS} float32 in Parquet, 2 workers of {LIMIT}")
    for heading in ("fit", "seconds", "of a pass"):
        table.add_column(heading, justify="left" if heading == "fit" else "right")
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT}
    with LocalCluster(**options, dashboard_address=None) as cluster, Client(cluster) as client:
        if only == "boosting":
            boosting_in_blocks.report(console, client, folder, NAMES)
            return
        jobs = {name: job for name, job in _jobs(folder).items() if only in name or name == PASS}
        times: dict[str, list[float]] = {name: [] for name in jobs}
        for _ in range(ROUNDS):
            for name, job in jobs.items():
                start = time.perf_counter()
                job()
                times[name].append(time.perf_counter() - start)
        peaks = client.run(_peak)
    for name, seconds in times.items():
        ratio = statistics.median(s / p for s, p in zip(seconds, times[PASS], strict=True))
        table.add_row(name, f"{statistics.median(seconds):.2f}", f"{ratio:.2f}")
    console.print(table)
    console.print(f"largest memory of a worker: {max(peaks.values()) / 1e6:,.0f} MB")


PASS = "one pass: the sum of every column"


def _jobs(folder: Path) -> dict[str, Callable[[], Any]]:
    import dask.dataframe as dd

    from pellucid.decomposition import PCA
    from pellucid.linear_model import Lasso, LassoCV, LinearRegression
    from pellucid.naive_bayes import GaussianNB

    table = dd.read_parquet(folder)
    X, y, label = table[NAMES], table["y"], table["label"]
    return {
        PASS: lambda: table.sum().compute(),
        "LinearRegression": lambda: LinearRegression().fit(X, y),
        "Lasso": lambda: Lasso(alpha=0.01).fit(X, y),
        "LassoCV, 100 penalties, 5 folds": lambda: LassoCV(alphas=100).fit(X, y),
        "PCA": lambda: PCA(5).fit(X),
        "GaussianNB": lambda: GaussianNB().fit(X, label),
    }


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
