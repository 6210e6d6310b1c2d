"""How time and memory of a fit grow with rows, columns and clusters, as a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.memory import peak

Sizes = Iterable[tuple[int, int, int]]


def print_growth(
    console: Console, title: str, sizes: Sizes, prepare: Callable[..., Any], fit: Callable[[Any], Any]
) -> None:
    """Print seconds and memory beyond X of a fit for each size: rows, columns, clusters."""
    table = Table(title=title)
    for heading in ("rows", "columns", "K", "seconds", "memory beyond X"):
        table.add_column(heading, justify="right")
    for n, d, k in sizes:
        data = prepare(n, d, k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            share = peak(lambda data=data: fit(data)) / data.X.nbytes
            start = time.perf_counter()
            fit(data)
        table.add_row(f"{n:,}", str(d), str(k), f"{time.perf_counter() - start:.3f}", f"{share:.1%}")
    console.print(table)
