"""BM3D against the machine, and on x86 against the closed package of the same name.

``python -m benchmarks restoration_bm3d --only machine`` counts the multiplications of both stages and prints which
share of the processor's own rate they reach: that of one product of matrices in float32, on the same threads.
``PELLUCID_IMAGES=FOLDER python -m benchmarks restoration_bm3d --only peer``, where FOLDER holds bsd68, denoises equal
noisy images by ours and by the package, in turn. ``PELLUCID_EVERY=4`` takes every fourth. Run it on two processors
(``OMP_NUM_THREADS=2 taskset -c 0,1``): the package has no option for threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from pellucid.core.threads import thread_count
from pellucid.vision.restoration import BM3D, Identity, psnr

SIDES = (256, 512, 1024)
SIGMAS = (15, 25, 50)
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
    """Print both tables, or the one asked for."""
    for name, table in {"machine": against_the_machine, "peer": against_the_package}.items():
        if only in name:
            console.print(table(console))


def against_the_machine(_: Console) -> Table:
    """Return seconds, seconds a million pixels, and the share of the machine's rate."""
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
    return table


def against_the_package(console: Console) -> Table | str:
    """Return mean PSNRs and median seconds of ours and of the package ``bm3d``, on the same noise, in turn."""
    from PIL import Image

    folder, every = os.environ.get("PELLUCID_IMAGES", ""), int(os.environ.get("PELLUCID_EVERY", "1"))
    files = sorted((Path(folder) / "bsd68").glob("*.png"))[::every] if folder else []
    if not files or find_spec("bm3d") is None:
        return "PELLUCID_IMAGES must be a folder with bsd68, and bm3d installed, to compare with the package."
    import bm3d

    contenders: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
        "ours": lambda y, sigma: BM3D().solve(y, Identity(), sigma, 255.0).image,
        "bm3d": lambda y, sigma: bm3d.bm3d(y, sigma),
    }
    title = f"BM3D, {len(files)} images of BSD68, {thread_count()} threads of ours, {_processors()} processors"
    table = Table(title=title)
    for head in ("sigma", *(f"{name}, {what}" for name in contenders for what in ("dB", "s")), "dB above", "time"):
        table.add_column(head, justify="right")
    for sigma in SIGMAS:
        decibels, seconds = ({name: list[float]() for name in contenders} for _ in range(2))
        for number, file in enumerate(files):
            clean = np.asarray(Image.open(file)).astype(np.float64)
            y = clean + np.random.default_rng(number).normal(0.0, sigma, clean.shape)
            for name, denoise in contenders.items():
                start = time.perf_counter()
                found = denoise(y, float(sigma))
                seconds[name].append(time.perf_counter() - start)
                decibels[name].append(psnr(clean, found, peak=255.0))
        mean, median = ({name: f(v) for name, v in of.items()} for f, of in ((np.mean, decibels), (np.median, seconds)))
        cells = [f"{value:.3f}" for name in contenders for value in (mean[name], median[name])]
        ratio = f"{median['ours'] / median['bm3d']:.2f} of theirs"
        table.add_row(str(sigma), *cells, f"{mean['ours'] - mean['bm3d']:+.3f}", ratio)
        console.print(sigma, *cells)
    return table


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
