r"""Maximum likelihood of factor analysis, on the covariance matrix alone: no step reads the rows.

All is in units of the columns' deviations, so that the correlation matrix R stands for the data. For given noise
variances :math:`\Psi` the best loadings come from the eigenvalues s and eigenvectors v of
:math:`\Psi^{-1/2}R\Psi^{-1/2}`:

.. math:: W_j = \sqrt{\max(s_j - 1, 0)}\;v_j'\Psi^{1/2},\qquad \Psi \leftarrow \mathrm{diag}(R - W'W) ,

and the likelihood never falls (Barber, Bayesian Reasoning and Machine Learning, algorithm 21.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from pellucid.core.fit import Effort, Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.decomposition.factor_analysis.factor_model import FLOOR, factor_scores, rotated
from pellucid.solvers.leading_eigenvectors import eigenpairs_at_once

NARROW = 1e-4
"""Noise variance, in parts of the column's, below which eigenvalues would lose digits that singular values keep."""

EQUAL = 1e-9
"""Scores that differ by less, in parts of the largest, count as equal when a sign is chosen."""


@dataclass(frozen=True, eq=False)
class FactorProblem:
    """Moments of the data, and the correlations on which the steps work."""

    mean: Array
    covariance: Array
    n_rows: float
    """Rows counted by their weights."""
    n_components: int

    @cached_property
    def scale(self) -> Array:
        """Deviations of the columns; 1 for those that are constant."""
        variance = np.diagonal(self.covariance)
        return np.asarray(np.sqrt(np.where(variance > 0.0, variance, 1.0)))

    @cached_property
    def correlation(self) -> Array:
        """The covariance in units of the deviations."""
        return np.asarray(self.covariance / self.scale / self.scale[:, None])

    @cached_property
    def root(self) -> Array:
        """L with L'L = R."""
        values, vectors = eigh(self.correlation, check_finite=False)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return np.where(np.diagonal(self.correlation) > 0.0, root, 0.0)  # the root of a rounding error is no error

    def best_loadings(self, noise: Array) -> tuple[Array, float]:
        """Return the best loadings for these noise variances, and the log likelihood of the rows."""
        d, k, deviation = len(noise), self.n_components, np.sqrt(noise)
        if noise.min() < NARROW:
            _, singular, right = np.linalg.svd(self.root / deviation)
            s, v = singular[:k] ** 2, right[:k]
            rest = float(np.sum(singular[np.sum(s > 1.0) :] ** 2))
        else:
            scaled = self.correlation / deviation / deviation[:, None]
            s, v = _leading(scaled, k)
            rest = float(np.trace(scaled) - s[s > 1.0].sum())
        above = s > 1.0
        terms = d * np.log(2.0 * np.pi) + 2.0 * np.log(self.scale).sum() + np.log(noise).sum()
        terms += float(np.log(s[above]).sum()) + float(above.sum()) + rest
        return np.sqrt(np.maximum(s - 1.0, 0.0))[:, None] * v * deviation, -0.5 * self.n_rows * float(terms)

    def next_noise(self, loadings: Array) -> Array:
        """Return the part of each column's variance that the loadings leave, never less than the floor."""
        return np.asarray(np.maximum(np.diagonal(self.correlation) - np.sum(loadings**2, axis=0), FLOOR))


def _leading(matrix: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues in falling order, and their vectors in rows."""
    if k == 0:
        return np.zeros(0), np.zeros((0, len(matrix)))
    pairs = eigenpairs_at_once(matrix, k)
    return pairs.values, pairs.vectors.T


def fit_factors(problem: FactorProblem, start: Array, effort: Effort) -> Fit:
    """Return loadings and noise variances when a further step gains less than the goal."""
    noise = np.maximum(start / problem.scale**2, FLOOR)
    trace, likelihoods, stopped = Trace(), list[float](), "max_iter"
    for n_iter in range(1, effort.max_iter + 1):
        loadings, likelihood = problem.best_loadings(noise)
        gain = likelihood - (likelihoods[-1] if likelihoods else -np.inf)
        likelihoods.append(likelihood)
        trace.add(iteration=n_iter, objective=-likelihood, gain=gain)
        trace.keep(components=loadings * problem.scale, noise_variance=noise * problem.scale**2)
        following = problem.next_noise(loadings)
        told_to_stop = effort.watch(loadings * problem.scale, noise * problem.scale**2)
        if gain < effort.goal and _is_settled(problem, loadings, noise, following, likelihood, effort.goal):
            stopped = "the likelihood rose by less than tol"
            break
        if told_to_stop:
            stopped = "callback"
            break
        if n_iter < effort.max_iter:
            noise = following
    attributes = {
        "components_": loadings * problem.scale,
        "noise_variance_": noise * problem.scale**2,
        "mean_": problem.mean,
        "loglike_": likelihoods,
        "n_iter_": len(likelihoods),
    }
    return Fit(attributes, trace, stopped)


def _is_settled(
    problem: FactorProblem, loadings: Array, noise: Array, following: Array, likelihood: float, goal: float
) -> bool:
    """Return whether the next step gains little as well, and columns without loadings have all their variance left."""
    is_free = ~loadings.any(axis=0)
    if np.any(np.abs(noise - following)[is_free] > 1e-12 * following[is_free]):
        return False
    return problem.best_loadings(following)[1] - likelihood <= goal


def turned(components: Array, noise: Array, rotation: str | None) -> Array:
    """Return components rotated, if asked, in falling order of the variance they explain in units of the noise."""
    if rotation is None:
        return components
    components = np.ascontiguousarray(rotated(components.T, rotation).T)
    return np.asarray(components[np.argsort(-np.sum(components**2 / noise, axis=1), kind="stable")])


def turned_and_signed(components: Array, noise: Array, mean: Array, X: SparseOrDense, rotation: str | None) -> Array:
    """Return components rotated, if asked, each with the largest of its scores above 0.

    The largest score is the first of those that are equal up to rounding, as in scikit-learn's ``svd_flip``.
    """
    components = turned(components, noise, rotation)
    scores = factor_scores(X, mean, components, noise)
    largest = np.maximum(scores.max(axis=0), -scores.min(axis=0))
    first = np.argmax(np.abs(scores) >= (1.0 - EQUAL) * largest, axis=0)
    sign = np.where(scores[first, np.arange(len(components))] < 0.0, -1.0, 1.0)
    return np.asarray(components * sign[:, None])
