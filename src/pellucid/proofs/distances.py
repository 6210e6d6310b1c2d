"""Distances of rows in every metric that has a name, by their formulas, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.rounding import EPSILON, TINY

GIVEN = "precomputed"

POWERS = {
    **dict.fromkeys(("euclidean", "l2", "sqeuclidean"), 2.0),
    **dict.fromkeys(("manhattan", "cityblock", "l1"), 1.0),
    **dict.fromkeys(("chebyshev", "infinity"), math.inf),
}
"""The p of Minkowski metrics with a name of their own."""

SCIPY_NAMES = {
    "l2": "euclidean",
    "manhattan": "cityblock",
    "l1": "cityblock",
    "infinity": "chebyshev",
    "p": "minkowski",
    "matching": "hamming",
}
"""Other words for SciPy's metrics."""

BLOCK_ROWS = 1024


def is_given(metric: Any) -> bool:
    """Return whether the rows hold distances instead of features."""
    return isinstance(metric, str) and metric == GIVEN


def named_metric(metric: Any, p: float | None, metric_params: Mapping[str, Any] | None) -> tuple[Any, dict[str, Any]]:
    """Return a metric's name, or its function, and its other parameters; Minkowski's of 1, 2, infinity by short names.

    Examples
    --------
    >>> named_metric("minkowski", 1, None), named_metric("minkowski", 3, None)
    (('manhattan', {}), ('minkowski', {'p': 3, 'w': None}))
    """
    params = dict(metric_params or {})
    if isinstance(metric, str) and metric == "minkowski":
        power, weights = params.pop("p", p), params.pop("w", None)
        power = 2.0 if power is None else power
        short = {1.0: "manhattan", 2.0: "euclidean", math.inf: "chebyshev"}.get(power)
        if weights is not None or short is None:
            return metric, {**params, "p": power, "w": weights}
        return short, params
    return metric, params


def lost_digits(metric: Any) -> float:
    """Return by how much a distance may be wrong whatever its size: a cosine that is taken from 1 loses its digits."""
    return 16 * EPSILON if isinstance(metric, str) and metric in ("cosine", "correlation") else 0.0


def power_of(metric: Any, params: Mapping[str, Any]) -> float | None:
    r"""Return the p of :math:`(\sum_j |x_j - z_j|^p)^{1/p}`, or None for a metric that is not of this form."""
    if not isinstance(metric, str) or any(params[name] is not None for name in params if name != "p"):
        return None
    if metric in ("minkowski", "p"):
        return float(params.get("p") or 2.0)
    return None if "p" in params else POWERS.get(metric)


def distances(
    X: SparseOrDense, Y: Any, metric: Any, p: float | None = None, metric_params: Mapping[str, Any] | None = None
) -> Array:
    """Return the distance of each row of X to each of Y, of shape (len(X), len(Y)); rows may be sparse.

    A function is asked for every pair. Given distances are returned as they are: those that a sparse matrix does not
    store are infinite. Without parameters, seuclidean and mahalanobis take the variances of the rows of Y.

    Examples
    --------
    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]), "euclidean")
    array([[5., 1.]])
    """
    name, params = named_metric(metric, p, metric_params)
    if is_given(name):
        return _given(X)
    if hasattr(name, "pairwise"):  # an object that stands for a metric
        return np.asarray(name.pairwise(*(np.ascontiguousarray(dense(A), dtype=np.float64) for A in (X, Y))))
    if callable(name):
        rows, others = ([A[[i]] if sparse.issparse(A) else A[i] for i in range(A.shape[0])] for A in (X, Y))
        return np.array([[name(x, y, **params) for y in others] for x in rows], np.float64).reshape(len(rows), -1)
    formula, params = _formula(name, params, Y)
    x = np.asarray(dense(X), dtype=np.float64)
    blocks = [
        formula(x, np.asarray(dense(Y[start : start + BLOCK_ROWS]), dtype=np.float64), **params)
        for start in range(0, Y.shape[0], BLOCK_ROWS)
    ]
    return np.hstack(blocks) if blocks else np.empty((len(x), 0))


def distances_from(X: SparseOrDense, row: int) -> Array:
    """Return the Euclidean distances of a row to all, from differences: an offset of the rows then costs no digits."""
    one, found = dense(X[[row]]).astype(np.float64), []
    for start in range(0, X.shape[0], BLOCK_ROWS):
        apart = dense(X[start : start + BLOCK_ROWS]) - one
        size = max(float(np.abs(apart).max()), TINY)
        found.append(size * np.linalg.norm(apart / size, axis=1))
    return np.concatenate(found)


def _given(X: SparseOrDense) -> Array:
    """Return given distances as an array."""
    if not sparse.issparse(X):
        return np.array(X, dtype=np.float64)
    found, stored = np.full(X.shape, np.inf), X.tocoo()
    found[stored.row, stored.col] = stored.data
    return found


def _formula(name: str, params: Mapping[str, Any], Y: Any) -> tuple[Callable[..., Array], dict[str, Any]]:
    """Return the function of two blocks of rows, and its keywords."""
    if name in FORMULAS:
        return FORMULAS[name], dict(params)
    if name in TRUTHS:
        return lambda x, y: _of_truths(TRUTHS[name], x, y), {}
    keywords = {key: value for key, value in params.items() if value is not None}
    if name == "seuclidean":
        keywords.setdefault("V", np.var(dense(Y), axis=0, ddof=1))
    elif name == "mahalanobis":
        covariance = keywords.pop("V", None)
        if "VI" not in keywords:
            keywords["VI"] = np.linalg.inv(np.cov(dense(Y), rowvar=False) if covariance is None else covariance)
    return lambda x, y, **given: cdist(x, y, SCIPY_NAMES.get(name, name), **given), keywords


def _cosine(x: Array, y: Array) -> Array:
    """Return one less the cosine of the angle; 1 for a row of zeros."""
    for measure in (lambda rows: np.abs(rows).max(axis=1, initial=0.0), lambda rows: np.linalg.norm(rows, axis=1)):
        x, y = (rows / np.where(size > 0, size, 1.0)[:, None] for rows, size in ((x, measure(x)), (y, measure(y))))
    return np.clip(1.0 - x @ y.T, 0.0, 2.0)


def _bray_curtis(x: Array, y: Array) -> Array:
    """Return the sum of differences in parts of the sum of sizes: of numbers below 0 SciPy's takes another sum."""
    total = np.abs(x).sum(axis=1)[:, None] + np.abs(y).sum(axis=1)
    return np.where(total > 0, cdist(x, y, "cityblock") / np.where(total > 0, total, 1.0), 0.0)


def _haversine(x: Array, y: Array) -> Array:
    """Return the angle between points on a sphere, given by latitude and longitude in radians."""
    north, east = ((x[:, j, None] - y[:, j]) / 2.0 for j in range(2))
    chord = np.sin(north) ** 2 + np.cos(x[:, 0, None]) * np.cos(y[:, 0]) * np.sin(east) ** 2
    return 2.0 * np.arcsin(np.sqrt(chord))


def _nan_euclidean(x: Array, y: Array) -> Array:
    """Return the distance over features that both rows have, scaled up to all; NaN where there is none."""
    total, count = np.zeros((2, len(x), len(y)))
    for j in range(x.shape[1]):
        squared = (x[:, j, None] - y[:, j]) ** 2
        count += ~np.isnan(squared)
        total += np.nan_to_num(squared)
    return np.sqrt(np.where(count > 0, total / np.maximum(count, 1) * x.shape[1], np.nan))


def _of_truths(formula: Callable[..., Array], x: Array, y: Array) -> Array:
    """Return a distance of truths, which is a function of how many are so in both, in one only, and of all."""
    a, b = (x != 0).astype(np.float64), (y != 0).astype(np.float64)
    both = a @ b.T
    first, second = a.sum(axis=1)[:, None] - both, b.sum(axis=1) - both
    with np.errstate(invalid="ignore"):
        return formula(both, first, second, float(x.shape[1]))


def _zero_if_none(part: Array, whole: Array) -> Array:
    return np.where(part > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


FORMULAS: dict[str, Callable[..., Array]] = {
    "cosine": _cosine,
    "braycurtis": _bray_curtis,
    "haversine": _haversine,
    "nan_euclidean": _nan_euclidean,
}

TRUTHS: dict[str, Callable[..., Array]] = {
    "jaccard": lambda tt, tf, ft, _: _zero_if_none(tf + ft, tt + tf + ft),
    "dice": lambda tt, tf, ft, _: (tf + ft) / (2.0 * tt + tf + ft),
    "rogerstanimoto": lambda _, tf, ft, d: 2.0 * (tf + ft) / (d + tf + ft),
    "sokalmichener": lambda _, tf, ft, d: 2.0 * (tf + ft) / (d + tf + ft),
    "russellrao": lambda tt, _tf, _ft, d: (d - tt) / d,
    "sokalsneath": lambda tt, tf, ft, _: (tf + ft) / (0.5 * tt + tf + ft),
    "yule": lambda tt, tf, ft, d: _zero_if_none(2.0 * tf * ft, tt * (d - tt - tf - ft) + tf * ft),
}
"""Distances of rows of truths, from how many are true in both, in the first only, in the second only, and features."""
