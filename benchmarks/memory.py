"""Prints the memory that a fit needs beyond X, as a fraction of X: ``python -m benchmarks.memory``."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pellucid.linear_model as ours
from benchmarks.linear_model import gaussian, lasso_problem


def peak(fit: Callable[[], Any]) -> int:
    """Return the bytes allocated at the worst moment of the fit; the first call compiles."""
    fit()
    tracemalloc.start()
    fit()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def main() -> None:
    """Fit and print."""
    warnings.simplefilter("ignore")
    for n, p in ((200_000, 100), (1_000_000, 20), (20_000, 50)):
        data = gaussian(n, p)
        close = data.X.copy()
        close[:, 1] = close[:, 0] + 1e-8 * close[:, 2] ** 2
        penalized = lasso_problem(data, 0.01)
        fits = {
            "LinearRegression": lambda X=data.X, y=data.y: ours.LinearRegression().fit(X, y),
            "LinearRegression, nearly collinear": lambda X=close, y=data.y: ours.LinearRegression().fit(X, y),
            "Ridge": lambda X=data.X, y=data.y: ours.Ridge().fit(X, y),
            "Ridge, weighted": lambda X=data.X, y=data.y: ours.Ridge().fit(X, y, sample_weight=np.ones(len(y))),
            "Lasso, 0.01 alpha_max": lambda d=penalized: ours.Lasso(d.alpha).fit(d.X, d.y),
        }
        for name, fit in fits.items():
            print(f"{n:>9,} x {p:<5} {name:<36} {peak(fit) / data.X.nbytes:6.1%}", flush=True)
    wide = gaussian(1000, 5000, 50)
    for fraction in (0.1, 0.01):
        data = lasso_problem(wide, fraction)
        used = peak(lambda d=data: ours.Lasso(d.alpha).fit(d.X, d.y)) / data.X.nbytes
        print(f"{1000:>9,} x {5000:<5} {f'Lasso, {fraction:g} alpha_max':<36} {used:6.1%}", flush=True)


if __name__ == "__main__":
    main()
