"""BM3D against the machine, where the closed package that it is compared with does not run.

``python -m benchmarks restoration_bm3d`` counts the multiplications of both stages and prints which share of the
processor's own rate they reach: that of one product of matrices in float32, on the same threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from pellucid.core.threads import thread_count
from pellucid.vision.restoration import BM3D, Identity

SIDES = (256, 512, 1024)
BLOCK_TRANSFORM = 2 * 8 * 22
"""Multiplications of an 8 x 8 cosine transform by sums and differences."""


def multiplications(side: int, method: BM3D) -> float:
    """Return how many multiplications both stages take on a square image."""
    corners = len(np.union1d(np.arange(0, side - 7, method.step), [side - 8]))
    matching = 2 * corners * (2 * method.radius + 1) ** 2 * 8 * side
    stacked = 2 * method.alike + 3 * method.wiener_alike  # there and back; of image and pilot there, of one back
    haar = 2 * 64 * stacked
    laid = 2 * 64 * (method.alike + method.wiener_alike)
    return float(matching + corners**2 * (stacked * BLOCK_TRANSFORM + haar + laid))


def _least(work: Callable[[], object], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def report(console: Console, only: str) -> None:
    """Print seconds, seconds a million pixels, and the share of the machine's rate."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2048, 2048)).astype(np.float32)
    rate = 2048**3 / _least(lambda: A @ A)
    table = Table(title=f"BM3D, {thread_count()} threads; sgemm {rate / 1e9:.1f} billion multiplications a second")
    for head in ("pixels", "seconds", "a million pixels", "billion multiplications", "share of sgemm's rate"):
        table.add_column(head, justify="right")
    method = BM3D()
    for side in SIDES:
        i, j = np.mgrid[:side, :side] / side
        y = 120 + 60 * np.sign(np.sin(9 * i + 4 * j)) + 30 * np.sin(60 * i * j) + rng.normal(0.0, 25.0, (side, side))
        seconds = _least(lambda y=y: method.solve(y, Identity(), 25.0, 255.0), 4)
        work = multiplications(side, method)
        share = f"{work / seconds / rate:.1%}"
        table.add_row(f"{side}²", f"{seconds:.3f}", f"{seconds / side**2 * 1e6:.2f}", f"{work / 1e9:.2f}", share)
    if only in "bm3d":
        console.print(table)
