"""Fits to tensors on a card against scikit-learn on the cores beside it: ``python -m benchmarks card [--only NAME]``.

Sizes are those of the table in docs/device.md times ``PELLUCID_CARD_SCALE`` (1). Scikit-learn gets the part of the rows
that a row of the table names; its time is then multiplied, by what it grows with: the rows, or a power of them. A share
of the roofline is the larger of the multiplications that the method cannot avoid over 60 TF/s (51 in float32, 64 in
float64 on tensor cores) and of the bytes over 4.3 TB/s, by the time taken: figures of an H200.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

SCALE = float(os.environ.get("PELLUCID_CARD_SCALE", "1"))
ROUNDS = int(os.environ.get("PELLUCID_ROUNDS", "5"))
FLOPS, BYTES = 60e12, 4.3e12


@dataclass(frozen=True)
class CardRow:
    """One line of the table."""

    name: str
    make: Callable[[Any], Mapping[str, Any]]
    """From a device to tensors on it."""
    ours: Callable[[Mapping[str, Any]], Any]
    """From these tensors to a fitted model, or an answer."""
    peer: Callable[[Mapping[str, Any]], Any]
    """The same by scikit-learn, from NumPy arrays."""
    worse: Callable[[Any, Any, Mapping[str, Any]], float]
    """How much worse our answer is, as a part of the peer's objective; of tensors of the peer's part of the rows."""
    flops: float = 0.0
    bytes: float = 0.0
    part: float = 1.0
    """Of the rows that the peer gets: its time is divided by it."""
    cut: str = ""
    """The tensor of which the peer gets a part, if that is not the longest."""
    power: float = 1.0
    """Of the rows, with which the peer's time grows."""
    from_host: bool = False
    """Whether it is also fitted to pinned rows of the host, sent in blocks."""


def report(console: Console, only: str) -> None:
    """Print the table."""
    import torch

    there = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    table = Table(title=f"{_name_of(there)} against scikit-learn on {cores} cores, sizes x {SCALE:g}")
    for heading in ("fit", "seconds", "scikit-learn", "times", "from the host", "times", "of the roofline", "worse by"):
        table.add_column(heading, justify="left" if heading == "fit" else "right")
    for row in all_rows():
        if only in row.name:
            cells = _measured(row, there)
            table.add_row(row.name, *cells)
            console.print(f"{row.name}: {' '.join(cells)}", highlight=False)
    console.print(table)


def all_rows() -> list[CardRow]:
    """Return the lines of the table."""
    from benchmarks import card_distances, card_factors, card_networks, card_sums

    kinds = (card_sums, card_distances, card_factors, card_networks)
    return [row for kind in kinds for row in kind.card_rows(SCALE)]


def _measured(row: CardRow, there: Any) -> tuple[str, ...]:
    data = row.make(there)
    model, seconds = _timed(lambda: row.ours(data), there)
    n = len(data[row.cut]) if row.cut else max(len(part) for part in data.values())
    count = min(n, max(100, int(row.part * n)))
    fewer = {name: part[:count] if len(part) == n else part for name, part in data.items()}
    host = {name: part.cpu().numpy() for name, part in fewer.items()}
    small = model if row.part == 1.0 else row.ours(fewer)
    start = time.perf_counter()
    other = row.peer(host)
    taken = (time.perf_counter() - start) * (n / count) ** row.power
    worse = row.worse(small, other, fewer)
    sent, ratio = "", ""
    if row.from_host:
        sent_seconds = _from_host(row, data, there)
        sent, ratio = f"{sent_seconds:.4f}", f"{taken / sent_seconds:.0f}"
    roof = max(row.flops / FLOPS, row.bytes / BYTES) / seconds
    share = f"{100 * roof:.0f} %" if row.flops or row.bytes else ""
    return f"{seconds:.4f}", f"{taken:.2f}", f"{taken / seconds:.0f}", sent, ratio, share, f"{worse:.1e}"


def _timed(work: Callable[[], Any], there: Any) -> tuple[Any, float]:
    """Return an answer and the median of the seconds it takes, once warm."""
    found, seconds = None, []
    for _ in range(ROUNDS + 1):
        _wait(there)
        start = time.perf_counter()
        found = work()
        _wait(there)
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > 30.0:
            break
    return found, statistics.median(seconds[1:] or seconds)


def _from_host(row: CardRow, data: Mapping[str, Any], there: Any) -> float:
    import pellucid

    pinned = {name: part.cpu().pin_memory() if there.type == "cuda" else part.cpu() for name, part in data.items()}

    def fitted() -> Any:
        with pellucid.on_device(there):
            return row.ours(pinned)

    return _timed(fitted, there)[1]


def _wait(there: Any) -> None:
    import torch

    if there.type == "cuda":
        torch.cuda.synchronize(there)


def _name_of(there: Any) -> str:
    import torch

    return torch.cuda.get_device_name(there) if there.type == "cuda" else "tensors on the processor"


def numbers(values: Any) -> Any:
    """Return an array of NumPy in double precision, wherever it was."""
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values, dtype=np.float64)
