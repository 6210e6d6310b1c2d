"""choose_clusters: how many clusters there are, by four criteria and the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from pellucid.cluster.choosing.criteria import (
    agreement,
    best_gap,
    dispersion,
    even_rows,
    labels_of,
    largest,
    spherical_bic,
)
from pellucid.cluster.choosing.recommendation import ClusterChoice, reason_for, recommend
from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.silhouette import silhouette_score
from pellucid.core.random_state import generator, some_rows
from pellucid.core.types import Array, Data, RandomState
from pellucid.solvers.leading_eigenvectors import elbow_of

COUNTS = ("n_clusters", "n_components")
"""Parameters that say how many clusters there are."""


def choose_clusters(
    X: Data,
    estimator: Any = None,
    k: Iterable[int] = range(1, 11),
    *,
    n_references: int = 10,
    n_bootstraps: int = 10,
    most_rows: int = 5000,
    random_state: RandomState = 0,
    listen: Callable[[int, int], None] | None = None,
) -> ClusterChoice:
    """Return what every number of clusters is worth, and one recommendation.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, in units that can be compared: standardize columns that are not.
    estimator : clusterer or mixture, default=None
        With a parameter ``n_clusters`` or ``n_components``; None is ``KMeans(n_init=5)``.
    k : iterable of int, default=range(1, 11)
        Numbers of clusters to try, each at least 1.
    n_references : int, default=10
        Sets of evenly spread rows for the gap statistic; 0 leaves it out.
    n_bootstraps : int, default=10
        Times that the rows are drawn again to see whether the clusters come back; 0 leaves it out.
    most_rows : int, default=5000
        Rows that silhouettes, gap statistic and bootstrap look at; of more rows so many are drawn.
    random_state : int, Generator, RandomState instance or None, default=0
        Seed of all that is drawn.
    listen : callable, default=None
        Called with the number of fits done and the number of all fits, after each.

    Examples
    --------
    >>> choice = choose_clusters([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1], [9.2]], k=range(1, 6))
    >>> choice.k, choice.votes["silhouette"]
    (3, 3)
    """
    X, ks = _checked(X, k, most_rows)
    estimator = KMeans(n_init=5) if estimator is None else estimator
    name = _count_parameter(estimator)
    work = _Work(estimator, name, generator(random_state), _n_fits(ks, n_references, n_bootstraps), listen)
    rows = some_rows(len(X), most_rows)
    some = X[rows]
    models = [work.fit(X, int(k)) for k in ks]
    labels = [labels_of(model, X) for model in models]
    spreads = np.array([dispersion(X, found) for found in labels])
    silhouettes = np.array([_silhouette(X, found, most_rows) for found in labels])
    bics = np.array([_bic(*parts) for parts in zip(models, labels, spreads, [X] * len(ks), strict=True)])
    gaps, gap_errors = _gaps(work, some, ks, n_references)
    stable, stable_errors = _stability(work, some, ks, n_bootstraps)
    votes = {
        "elbow": elbow_of(ks, spreads),
        "silhouette": largest(ks, silhouettes),
        "gap": best_gap(ks, gaps, gap_errors),
        "bic": largest(ks, -bics),
    }
    chosen = recommend(ks, votes, silhouettes)
    place = int(np.flatnonzero(ks == chosen)[0])
    return ClusterChoice(
        k=chosen,
        reason=reason_for(chosen, ks, votes, silhouettes, stable, stable_errors),
        votes=votes,
        ks=ks,
        dispersion=spreads,
        silhouette=silhouettes,
        gap=gaps,
        gap_error=gap_errors,
        bic=bics,
        stability=stable,
        stability_error=stable_errors,
        model=models[place],
        labels=labels[place],
    )


class _Work:
    """Fits clones of the estimator, each with its own seed, and counts them."""

    def __init__(
        self, estimator: Any, name: str, rng: np.random.Generator, total: int, listen: Callable[[int, int], None] | None
    ) -> None:
        self.estimator, self.name, self.rng = estimator, name, rng
        self.done, self.total, self.listen = 0, total, listen
        self.is_seeded = estimator.get_params(deep=False).get("random_state", 0) is None

    def fit(self, X: Array, k: int, seed: int | None = None) -> Any:
        seed = int(self.rng.integers(2**31 - 1)) if seed is None else seed
        settings = {self.name: k} | ({"random_state": seed} if self.is_seeded else {})
        model = clone(self.estimator).set_params(**settings).fit(X)
        self.done += 1
        if self.listen is not None:
            self.listen(self.done, self.total)
        return model


def _n_fits(ks: Array, n_references: int, n_bootstraps: int) -> int:
    """Return how many fits there will be: gap and bootstrap, if asked for, fit the rows themselves once more."""
    for_gap, for_bootstrap = (count + 1 if count else 0 for count in (n_references, n_bootstraps))
    return len(ks) * (1 + for_gap) + int(np.sum(ks > 1)) * for_bootstrap


def _checked(X: Data, k: Iterable[int], most_rows: int) -> tuple[Array, Array]:
    X = check_array(X, dtype=np.float64, ensure_min_samples=2)
    ks = np.array(sorted({int(value) for value in k}))
    if not len(ks) or ks[0] < 1:
        raise ValueError(f"k must be numbers of clusters of at least 1, got {ks.tolist()}. Use k=range(1, 11).")
    if ks[-1] > min(len(X), most_rows):
        raise ValueError(
            f"k must be at most the number of rows, got {ks[-1]} for {min(len(X), most_rows)} rows. Try fewer clusters."
        )
    return X, ks


def _count_parameter(estimator: Any) -> str:
    known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for name in COUNTS:
        if name in known:
            return name
    raise TypeError(
        f"estimator must have a parameter n_clusters or n_components, got {type(estimator).__name__}. "
        "Use KMeans, for example."
    )


def _silhouette(X: Array, labels: Array, most_rows: int) -> float:
    rows = some_rows(len(X), most_rows)
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return math.nan
    return silhouette_score(X[rows], labels[rows])


def _bic(model: Any, labels: Array, spread: float, X: Array) -> float:
    return float(model.bic(X)) if hasattr(model, "bic") else spherical_bic(X, labels, spread)


def _gaps(work: _Work, X: Array, ks: Array, n_references: int) -> tuple[Array, Array]:
    """Return the gap of each K with its standard error; the rows are fitted again, as they may be some of many."""
    if n_references == 0:
        return np.full(len(ks), math.nan), np.full(len(ks), math.nan)
    own = np.array([_log_spread(work, X, int(k)) for k in ks])
    logs = np.empty((n_references, len(ks)))
    for row in logs:
        spread_evenly = even_rows(X, work.rng)
        row[:] = [_log_spread(work, spread_evenly, int(k)) for k in ks]
    with np.errstate(invalid="ignore"):
        return logs.mean(axis=0) - own, logs.std(axis=0) * math.sqrt(1.0 + 1.0 / n_references)


def _log_spread(work: _Work, X: Array, k: int) -> float:
    spread = dispersion(X, labels_of(work.fit(X, k), X))
    return math.log(spread) if spread > 0.0 else -math.inf


def _stability(work: _Work, X: Array, ks: Array, n_bootstraps: int) -> tuple[Array, Array]:
    """Return the mean agreement of each K with its standard error; one cluster always agrees and says nothing."""
    means, errors = np.full(len(ks), math.nan), np.full(len(ks), math.nan)
    for i, k in enumerate(ks):
        if n_bootstraps == 0 or k == 1:
            continue
        labels = labels_of(work.fit(X, int(k)), X)
        fit = partial(_fit_again, work, int(k))
        found = [agreement(fit, X, labels, work.rng) for _ in range(n_bootstraps)]
        means[i] = np.mean(found)
        errors[i] = np.std(found, ddof=1) / math.sqrt(n_bootstraps) if n_bootstraps > 1 else math.nan
    return means, errors


def _fit_again(work: _Work, k: int, rows: Array, seed: int) -> Any:
    return work.fit(rows, k, seed)
