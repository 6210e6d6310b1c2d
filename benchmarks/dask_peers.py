"""Fits to Dask arrays beside dask-ml's, and beside the same fits in memory.

10^6 rows of 20 columns in blocks of 125,000, on threads; ``PELLUCID_ROWS`` sets their number. dask-ml's logistic
regression runs by L-BFGS, its fastest way here. "in memory" is our own fit to the same rows as one array.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.harness import OURS, Row
from pellucid.cluster import KMeans
from pellucid.decomposition import PCA
from pellucid.linear_model import LinearRegression, LogisticRegression
from pellucid.naive_bayes import GaussianNB

ROWS, COLUMNS, HEIGHT, CLUSTERS = int(float(os.environ.get("PELLUCID_ROWS", "1e6"))), 20, 125_000, 20


class Data:
    """Rows in memory and in blocks, with a target of numbers, labels of two and of five classes."""

    def __init__(self) -> None:
        import dask.array as da

        rng = np.random.default_rng(0)
        middles = 2.0 * rng.standard_normal((CLUSTERS, COLUMNS))
        self.X = middles[rng.integers(0, CLUSTERS, ROWS)] + rng.standard_normal((ROWS, COLUMNS))
        score = self.X @ (rng.standard_normal((COLUMNS, 5)) / 4.0) + rng.gumbel(size=(ROWS, 5))
        self.number = score[:, 0]
        self.two = (score[:, 1] > score[:, 2]).astype(int)
        self.five = score.argmax(axis=1)
        self.blocks = {
            name: da.from_array(values, chunks=(HEIGHT, *values.shape[1:])) for name, values in vars(self).items()
        }


def rows() -> list[Row]:
    """Return a row for each method; the objective is what it minimizes."""
    if find_spec("dask") is None:
        return []
    ours: dict[str, tuple[Callable[[], Any], str, Callable[[Data, Any], float]]] = {
        "LinearRegression": (LinearRegression, "number", _squares),
        "LogisticRegression, two classes": (LogisticRegression, "two", _entropy_of("two")),
        "LogisticRegression, five classes": (LogisticRegression, "five", _entropy_of("five")),
        f"KMeans, {CLUSTERS} clusters": (lambda: KMeans(CLUSTERS, random_state=0), "", _inertia),
        "PCA, 5 components": (lambda: PCA(5), "", lambda _, m: -float(np.sum(m.explained_variance_))),
        "GaussianNB": (GaussianNB, "five", _entropy_of("five")),
    }
    theirs = _of_dask_ml() if find_spec("dask_ml") else {}
    found = []
    for name, (make, target, objective) in ours.items():
        on_blocks, in_memory = _fit(make, target, blocks=True), _fit(make, target, blocks=False)
        if name in theirs:
            peers = {OURS: on_blocks, "dask-ml": _fit(theirs[name], target, blocks=True)}
            found.append(Row(f"{name}, dask-ml", Data, peers, objective, rounds=3))
        found.append(Row(f"{name}, in memory", Data, {OURS: on_blocks, "in memory": in_memory}, objective, rounds=3))
    return found


def _of_dask_ml() -> dict[str, Callable[[], Any]]:
    from dask_ml import cluster, decomposition, linear_model, naive_bayes

    return {
        "LinearRegression": lambda: linear_model.LinearRegression(solver="lbfgs", C=1e12),
        "LogisticRegression, two classes": lambda: linear_model.LogisticRegression(solver="lbfgs"),
        f"KMeans, {CLUSTERS} clusters": lambda: cluster.KMeans(CLUSTERS, random_state=0),
        "PCA, 5 components": lambda: decomposition.PCA(5, svd_solver="full"),
        "GaussianNB": naive_bayes.GaussianNB,
    }


def _fit(make: Callable[[], Any], target: str, *, blocks: bool) -> Callable[[Data], Any]:
    def fit(data: Data) -> Any:
        values = data.blocks if blocks else vars(data)
        return make().fit(*(values[name] for name in ("X", target) if name))

    return fit


def _squares(data: Data, model: Any) -> float:
    return float(np.mean((data.number - data.X @ np.ravel(model.coef_) - model.intercept_) ** 2))


def _inertia(data: Data, model: Any) -> float:
    """Return the sum of squared distances to the nearest center: dask-ml's own number is another one."""
    nearest = cdist(data.X[::10], np.asarray(model.cluster_centers_), "sqeuclidean").min(axis=1)
    return float(nearest.sum())


def _entropy_of(target: str) -> Callable[[Data, Any], float]:
    """Return the cross entropy of a target, with the penalty where there are coefficients."""

    def entropy(data: Data, model: Any) -> float:
        labels = vars(data)[target]
        chance = np.asarray(model.predict_proba(data.X))[np.arange(len(labels)), labels]
        penalty = 0.5 * float(np.sum(np.square(model.coef_))) if hasattr(model, "coef_") else 0.0
        return -float(np.sum(np.log(np.maximum(chance, 1e-300)))) + penalty

    return entropy
