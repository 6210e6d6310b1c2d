"""Centroids of classes, dense and sparse, and their shrinking towards the mean of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import csc_median_axis_0

from pellucid.core.fit import Fit
from pellucid.core.labels import rows_by_class
from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array
from pellucid.core.user_warnings import warn_user
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_rows import nearest_rows
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

BLOCK = 1 << 16
"""Numbers gathered at once, which stay in the cache; a fit of fewer wakes no threads."""


def find_centroids(data: TrainingData, metric: str, shrink_threshold: float | None, priors: Any) -> Fit:
    """Return the centroids, how far rows are from them, and how far they are from the mean of all rows."""
    n, n_classes = data.X.shape[0], len(data.classes)
    if n_classes < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {n_classes} class. Add another.")
    rows_of = rows_by_class(data.y, n_classes)
    counts = np.array([len(rows) for rows in rows_of])
    prior = _prior(priors, counts)
    moments = _sparse_moments if sparse.issparse(data.X) else _dense_moments
    centers, means, scatters = moments(data, rows_of, counts[:, None], metric)
    scatter = scatters.sum(axis=0)
    if not scatter.any() and (centers == centers[0]).all():
        raise ValueError("All features have zero variance. Division by zero. Add a column whose values differ.")
    spread = np.sqrt(scatter / max(n - n_classes, 1))  # with a row per class nothing is left to estimate it from
    center = means[0] + counts @ (means - means[0]) / n
    unit = np.sqrt(1.0 / counts - 1.0 / n)[:, None] * (spread + np.median(spread))  # (18.4) of Hastie et al., 2009
    away = centers - center
    deviations = np.divide(away, unit, out=np.where(away == 0.0, 0.0, np.copysign(np.inf, away)), where=unit > 0.0)
    if shrink_threshold is not None:
        deviations = np.copysign(np.maximum(np.abs(deviations) - shrink_threshold, 0.0), deviations)
        # without any spread no centroid is there by chance, and none moves
        centers = np.where(unit > 0.0, center + unit * np.where(unit > 0.0, deviations, 0.0), centers)
    return Fit(
        {
            "classes_": data.classes,
            "class_prior_": prior,
            "centroids_": centers,
            "within_class_std_dev_": spread,
            "deviations_": deviations,
        }
    )


def _prior(priors: Any, counts: Array) -> Array:
    """Return the prior of each class; given ones are divided by their sum."""
    if isinstance(priors, str):
        return np.full(len(counts), 1.0 / len(counts)) if priors == "uniform" else counts / counts.sum()
    given = np.array(priors, dtype=np.float64)  # a copy: the user may write into theirs
    if given.shape != counts.shape:
        raise ValueError(f"priors must have one entry per class ({len(counts)}), got shape {given.shape}.")
    if not (given >= 0.0).all() or not given.any():
        raise ValueError(f"priors must be non-negative, and one above 0, got {given.tolist()}.")
    if not np.isclose(given.sum(), 1.0):
        warn_user(f"The priors do not sum to 1. Normalizing such that it sums to one. (They sum to {given.sum():g}.)")
        given = given / given.sum()
    return given


def _dense_moments(
    data: TrainingData, rows_of: tuple[Array, ...], counts: Array, metric: str
) -> tuple[Array, Array, Array]:
    """Return centers, means and scatters of the classes.

    A sum of rows far from 0 has lost digits; those of the mean are in the sum of what is left after it is taken off.
    """
    X = data.X
    means = _class_sums(X, rows_of, lambda _, rows: X[rows].sum(axis=0, dtype=np.float64)) / counts
    centers = means if metric == "euclidean" else np.array([_median(X, rows) for rows in rows_of])

    def sums(k: int, rows: Array) -> Array:
        away = X[rows].astype(np.float64, copy=False)  # gathered, so that it is ours to change
        away -= centers[k]
        return np.array([away.sum(axis=0), np.einsum("ij,ij->j", away, away)])

    shift, squares = np.moveaxis(_class_sums(X, rows_of, sums, (2, X.shape[1])), 1, 0)
    if metric == "manhattan":
        return centers, means, squares
    means = centers + shift / counts
    return means, means, np.maximum(squares - shift**2 / counts, 0.0)


def _class_sums(
    X: Array, rows_of: tuple[Array, ...], work: Callable[[int, Array], Array], shape: tuple[int, ...] = ()
) -> Array:
    """Return for each class the sum of what some of its rows give."""
    parts, totals = _parts(X, rows_of), np.zeros((len(rows_of), *(shape or X.shape[1:])))
    sums = [work(*part) for part in parts] if X.size <= BLOCK else run_blocks(lambda part: work(*part), parts)
    for (k, _), found in zip(parts, sums, strict=True):
        totals[k] += found
    return totals


def _parts(X: Array, rows_of: tuple[Array, ...]) -> list[tuple[int, Array]]:
    height = max(1, BLOCK // X.shape[1])
    return [(k, rows[i : i + height]) for k, rows in enumerate(rows_of) for i in range(0, len(rows), height)]


def _median(X: Any, rows: Array) -> Array:
    """Return the median of each column over some rows."""
    if sparse.issparse(X):
        return np.asarray(csc_median_axis_0(sparse.csc_matrix(X[rows])))
    columns = np.array(X[rows].T, dtype=np.float64, order="C")
    parts = shares(len(columns), columns.size)
    return np.concatenate(run_blocks(lambda part: np.median(columns[part], axis=1, overwrite_input=True), parts))


def _sparse_moments(
    data: TrainingData, rows_of: tuple[Array, ...], counts: Array, metric: str
) -> tuple[Array, Array, Array]:
    """Return the same for sparse rows: stored entries one by one, and all zeros of a class and column together."""
    X, n, n_classes = data.X, len(data.y), len(rows_of)
    members = sparse.csr_array((np.ones(n), (data.y, np.arange(n))), shape=(n_classes, n))
    means = (members @ X.astype(np.float64)).toarray() / counts
    centers = means if metric == "euclidean" else np.array([_median(X, rows) for rows in rows_of])
    rows, columns = sparse.coo_array(X).coords
    places, away = data.y[rows] * X.shape[1] + columns, X.data - centers[data.y[rows], columns]
    stored, squares = (np.bincount(places, weight, centers.size).reshape(centers.shape) for weight in (None, away**2))
    return centers, means, squares + (counts - stored) * centers**2


def nearest_centers(X: Any, centers: Array, metric: str) -> Array:
    """Return which center is nearest to each row, the first of equally near ones."""
    if metric == "manhattan" or sparse.issparse(X):
        rows = sparse.csr_array(centers) if sparse.issparse(X) else centers
        return nearest_rows(rows, X, 1, Metric(metric), tree=None, excluded=None)[1][:, 0]
    nearest, height = np.empty(len(X), dtype=np.intp), max(1, BLOCK // X.shape[1])
    squares = np.einsum("ij,ij->i", centers, centers)

    def work(part: slice) -> None:
        for start in range(part.start, part.stop, height):
            rows = slice(start, min(start + height, part.stop))
            block = X[rows]
            rough = squares - 2.0 * (block @ centers.T)  # the square of the row itself decides nothing
            best = nearest[rows] = np.argmin(rough, axis=1)
            least = np.take_along_axis(rough, best[:, None], axis=1)
            np.put_along_axis(rough, best[:, None], np.inf, axis=1)
            size = np.einsum("ij,ij->i", block, block) + squares.max()
            close = np.flatnonzero(rough.min(axis=1) - least[:, 0] <= 8.0 * (X.shape[1] + 8) * EPSILON * size)
            if len(close):  # rounding might decide: measured from differences instead
                exact = [((block[close] - center) ** 2).sum(axis=1) for center in centers]
                nearest[rows.start + close] = np.argmin(exact, axis=0)

    run_blocks(work, shares(len(X), X.size))
    return nearest
