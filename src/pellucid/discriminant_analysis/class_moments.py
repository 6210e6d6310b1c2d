"""Moments of the classes: means and scatter in blocks, covariances and priors as the user wants them, and scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user

BLOCK = 1 << 16
"""Numbers of a block of rows."""


def class_masses(rows_of: tuple[Array, ...], weight: Array | None) -> Array:
    """Return how many rows each class has, or what they weigh."""
    return np.array([len(rows) if weight is None else float(weight[rows].sum()) for rows in rows_of])


def class_moments(X: Array, rows_of: tuple[Array, ...], weight: Array | None = None) -> tuple[Array, list[Array]]:
    r"""Return the mean of each class, of shape (n_classes, n_features), and its :math:`\sum (x - \bar x)(x - \bar x)'`.

    Each row is read once: deviations are taken from the mean of the class's first rows. It is so near the mean of all
    that correcting for it afterwards costs no digits.
    """
    height = max(1, BLOCK // X.shape[1])
    means, scatters = [], []
    for rows, mass in zip(rows_of, class_masses(rows_of, weight), strict=True):
        near = X[rows[:height]].mean(axis=0, dtype=np.float64)
        total, scatter = _sums_around(X, rows, near, weight)
        shift = total / mass
        means.append(near + shift)
        scatters.append(scatter - mass * np.outer(shift, shift))
    return np.stack(means), scatters


def class_scatter(X: Array, rows: Array, mean: Array, weight: Array | None = None) -> Array:
    r"""Return :math:`\sum (x - \bar x)(x - \bar x)'` over some rows, without a centered copy of all of them."""
    return _sums_around(X, rows, mean, weight)[1]


def _sums_around(X: Array, rows: Array, center: Array, weight: Array | None) -> tuple[Array, Array]:
    """Return the sum of the deviations of some rows from a center, and of their outer products."""
    height, p = max(1, BLOCK // X.shape[1]), X.shape[1]

    def work(part: slice) -> tuple[Array, Array]:
        total, scatter, product = np.zeros(p), np.zeros((p, p)), np.empty((p, p))
        buffer = np.empty((min(height, part.stop - part.start), p), X.dtype)
        for start in range(part.start, part.stop, height):
            these = rows[start : min(start + height, part.stop)]
            taken = np.take(X, these, axis=0, out=buffer[: len(these)], mode="clip")  # other modes copy once more
            block = taken.astype(np.float64, copy=False)
            block -= center
            weighted = block if weight is None else block * weight[these, None]
            total += weighted.sum(axis=0)
            scatter += np.matmul(weighted.T, block, out=product)
        return total, scatter

    totals, scatters = zip(*run_blocks(work, shares(len(rows), len(rows) * p * p)), strict=True)
    return np.sum(totals, axis=0), np.sum(scatters, axis=0)


def centered_triangle(X: Array, rows_of: tuple[Array, ...], means: Array, weight: Array | None = None) -> Array:
    """Return the triangular factor R with ``R'R`` the pooled scatter, by QR of blocks: no digit is lost to squares."""
    height = max(X.shape[1], BLOCK // X.shape[1])
    triangle: Array = np.zeros((0, X.shape[1]))
    for rows, mean in zip(rows_of, means, strict=True):
        for start in range(0, len(rows), height):
            these = rows[start : start + height]
            block = X[these].astype(np.float64, copy=False) - mean
            if weight is not None:
                block *= np.sqrt(weight[these, None])
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
    return triangle


def check_covariance_parameters(estimator: Any) -> None:
    """Refuse combinations of solver, shrinkage and covariance estimator that have no meaning."""
    shrinkage, given = estimator.shrinkage, estimator.covariance_estimator
    if estimator.solver == "svd" and shrinkage is not None:
        raise NotImplementedError(
            f"shrinkage must be None with solver='svd', got {shrinkage!r}: shrinkage not supported there. "
            "Use solver='eigen'."
        )
    if estimator.solver == "svd" and given is not None:
        raise ValueError(
            f"covariance_estimator must be None with solver='svd', got {given!r}: covariance estimator is not "
            "supported there. Use solver='eigen'."
        )
    if given is not None and shrinkage is not None and shrinkage != 0:
        raise ValueError("covariance_estimator and shrinkage must not both be given, got both. Leave one out.")


def covariance(X: Array, rows: Array, mass: float, scatter: Array, shrinkage: Any, estimator: Any) -> Array:
    """Return the covariance of some rows, whose scatter around their mean is given, divided by their mass."""
    from sklearn.covariance import ledoit_wolf, shrunk_covariance

    if estimator is not None:
        fitted = clone(estimator, safe=False)  # any object with fit and covariance_ will do, whatever its fit returns
        fitted.fit(X[rows])
        if not hasattr(fitted, "covariance_"):
            raise ValueError(
                f"covariance_estimator must have covariance_ after fit, got {type(fitted).__name__}, which does not "
                "have a covariance_ attribute."
            )
        return np.asarray(fitted.covariance_, dtype=np.float64)
    if shrinkage == "auto":
        scaler = StandardScaler()
        shrunken = ledoit_wolf(scaler.fit_transform(X[rows].astype(np.float64)))[0]
        return np.asarray(shrunken * np.outer(scaler.scale_, scaler.scale_))
    plain = scatter / mass
    return plain if shrinkage is None else np.asarray(shrunk_covariance(plain, shrinkage))


SUM_ERROR = 1e-5


def class_priors(priors: Data | None, counts: Array) -> Array:
    """Return the priors, which add up to 1."""
    if priors is None:
        return counts / counts.sum()
    given = np.array(priors, dtype=np.float64)  # a copy: the user may write into theirs
    if given.shape != counts.shape:
        raise ValueError(f"priors must have one entry per class ({len(counts)}), got shape {given.shape}.")
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(f"priors must be non-negative, got {given.tolist()}.")
    if abs(given.sum() - 1.0) > SUM_ERROR:
        warn_user(f"The priors do not sum to 1 but to {given.sum():g}. Renormalizing")
        given = given / given.sum()
    return given


class DiscriminantScores(ABC):
    """Predicts from one score per class, the log posterior up to a constant of the row."""

    classes_: Array

    @abstractmethod
    def _class_scores(self, X: Data) -> Array:
        """Return the scores, of shape (n_samples, n_classes)."""

    def decision_function(self, X: Data) -> Array:
        """Return the log odds of the second class if there are two, else the scores of all classes."""
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Data) -> Array:
        """Return the label of the largest score; of tied scores, the first in ``classes_``."""
        best = np.argmax(self._class_scores(X), axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Data) -> Array:
        """Return the log posterior of each class."""
        return np.asarray(log_softmax(self._class_scores(X), axis=1))

    def predict_proba(self, X: Data) -> Array:
        """Return the posterior of each class."""
        return np.exp(self.predict_log_proba(X))
