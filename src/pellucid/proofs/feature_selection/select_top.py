r"""Proof of a ranking: scores computed again by other code, and the equations that the intervals solve.

Correlations are computed again from standardized columns, mutual information as the divergence of the table of counts
from the product of its margins. The ends of an interval are put into the distribution they come from, which must give
back the confidence level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import chndtr, ndtr, ndtri
from scipy.stats import chi2
from scipy.stats import t as student

from pellucid.feature_selection.filters.column_codes import (
    LARGE_LIKELIHOOD,
    coded_column,
    coded_target,
    numbers_of,
)
from pellucid.probability.information import joint_counts, mutual_information
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, graded
from pellucid.proofs.training_data import TrainingData

ENDS = 1e-6
"""Difference of a confidence level that is accepted."""

AT_FIT = 4
"""Columns whose scores a fit computes again."""

PVALUES = 1e-6
"""Difference of p-values that is accepted, in parts of them: they follow from the stored scores."""


def prove_ranking(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes."""
    return prove_columns(fitted, parameters, data, most=data.X.shape[1])


def prove_columns(fitted: Any, parameters: Any, data: TrainingData, *, most: int = AT_FIT) -> Certificate:
    """Return the certificate; at a fit the scores of few columns are computed again."""
    d = data.X.shape[1]
    shapes = {"scores_": (d,), "intervals_": (d, 2), "pvalues_": (d,), "ranking_": (d,), "support_": (d,)}
    wrong = [name for name, shape in shapes.items() if getattr(fitted, name).shape != shape]
    if wrong:
        return Certificate("exact", (Claim("shape", f"not of the columns: {', '.join(wrong)}", 1.0, 0.0),))
    is_information = parameters.measure == "mutual_information"
    some, n, level = (
        drawn(d, most, always=_first(fitted.ranking_, d)),
        float(data.weights.sum()),
        float(parameters.level),
    )
    part = replace(data, X=data.X[:, some])
    scores, freedom, noise = (_informations if is_information else _correlations)(part, parameters)
    check = _information_ends if is_information else _correlation_ends
    ends, pvalues = check(fitted.scores_[some], fitted.intervals_[some], n, freedom, level)
    count = d if parameters.k == "all" else min(d, int(parameters.k))
    chosen = np.zeros(d, dtype=bool)
    in_order = np.array_equal(np.sort(fitted.ranking_), np.arange(d))
    if in_order:
        chosen[fitted.ranking_[:count]] = True
    falling = np.diff(fitted.scores_[fitted.ranking_]) if in_order else np.array([np.inf])
    return graded("exact", (
        Claim("scores", f"largest distance of a score from the one computed again, {len(some)} of {d} columns"
              + at_most_wrong(len(some), d),
              float(np.max(np.abs(fitted.scores_[some] - scores))), noise),
        Claim("intervals", "largest distance of an end of an interval from its confidence level", ends, ENDS),
        Claim("p-values", "largest distance of a p-value from the one computed again, in parts of it",
              float(np.max(np.abs(fitted.pvalues_[some] - pvalues) / np.maximum(pvalues, TINY))), PVALUES),
        Claim("order", "largest rise of a score along the ranking", float(np.max(falling, initial=0.0)), noise),
        Claim("choice", "columns that are not the first of the ranking", float(np.sum(chosen != fitted.support_)), 0.0),
    ))  # fmt: skip


def _first(ranking: Array, d: int) -> Array:
    """Return the columns that a ranking puts first, which are looked at whatever is drawn; those that are columns."""
    first = np.asarray(ranking)[:AT_FIT]
    return first[(first >= 0) & (first < d)]


def _informations(data: TrainingData, parameters: Any) -> tuple[Array, Array, float]:
    """Return bits, degrees of freedom, and the rounding of the bits."""
    target = coded_target(data.y, data.weight, parameters.n_bins)
    scores, freedom = [], []
    for j in range(data.X.shape[1]):
        column = coded_column(data.X[:, j], data.weight, parameters.n_bins)
        counts = joint_counts(column.of_rows, target.of_rows, sample_weight=data.weight)
        scores.append(mutual_information(counts))
        freedom.append((column.n_codes - 1) * (target.n_codes - 1))
    return np.array(scores), np.array(freedom, dtype=np.float64), 1e-10 + 64 * sum_error(len(data.y))


def _correlations(data: TrainingData, parameters: Any) -> tuple[Array, Array, float]:  # noqa: ARG001
    """Return sizes of correlations, and their rounding, which an offset enlarges."""
    weight = data.weights / data.weights.sum()
    y, X = numbers_of(data.y).astype(np.float64), data.X.astype(np.float64)
    scores, offset = np.zeros(X.shape[1]), 0.0
    y = (y - y[0]) - weight @ (y - y[0])
    for j in range(X.shape[1]):
        x = X[:, j] - X[0, j]
        x = x - weight @ x
        size = np.abs(x).max()
        if size <= 8 * EPSILON * np.abs(X[:, j]).max() or not y.any():
            continue
        offset = max(offset, float(np.abs(X[:, j]).max() / size))
        x, z = x / size, y / np.abs(y).max()
        scores[j] = abs(weight @ (x * z)) / np.sqrt((weight @ x**2) * (weight @ z**2))
    return np.minimum(scores, 1.0), np.zeros(0), 1e-10 + 64 * sum_error(len(y)) + 64 * EPSILON * offset


def _information_ends(scores: Array, intervals: Array, n: float, freedom: Array, level: float) -> tuple[float, Array]:
    """Return the worst error of a confidence level, and the p-values."""
    unit = 2.0 * n * np.log(2.0)
    likelihood, worst = unit * scores, [0.0]
    for g, df, ends in zip(likelihood, freedom, unit * intervals, strict=True):
        if df == 0:
            worst.append(float(np.max(np.abs(ends))))
            continue
        for end, share in zip(ends, (0.5 + level / 2.0, 0.5 - level / 2.0), strict=True):
            below = _share_below(g, df, end) if end >= 0.0 else np.nan
            # an end at 0 says that even then less than the share lies below
            worst.append(max(below - share, 0.0) if end == 0.0 else abs(below - share))
    found = np.where(freedom > 0, chi2.sf(likelihood, np.maximum(freedom, 1.0)), 1.0)
    return float(np.max(worst)), found


def _share_below(g: float, df: float, offset: float) -> float:
    if g > LARGE_LIKELIHOOD:
        return float(ndtr((g - df - offset) / np.sqrt(2.0 * df + 4.0 * offset)))
    return float(chndtr(g, df, offset) if offset > 0.0 else chi2.cdf(g, df))


def _correlation_ends(
    r: Array,
    intervals: Array,
    n: float,
    freedom: Array,  # noqa: ARG001  (the signature of both)
    level: float,
) -> tuple[float, Array]:
    """Return the same for correlations."""
    low, high = intervals[:, 0], intervals[:, 1]
    if n <= 3.0:
        return float(np.max(np.abs(low) + np.abs(high - 1.0))), np.asarray(_two_sided(r, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = [np.sqrt(n - 3.0) * (np.arctanh(end) - np.arctanh(r)) for end in (low, high)]
    below, above = (np.where(r >= 1.0, (1.0 + side * level) / 2.0, ndtr(q)) for q, side in zip(z, (-1, 1), strict=True))
    below, above = (
        np.where(_is_as_near_as_can_be(end, r, n, share), share, found)
        for end, share, found in ((low, (1.0 - level) / 2.0, below), (high, (1.0 + level) / 2.0, above))
    )
    wrong_one = np.where(r >= 1.0, np.abs(low - 1.0) + np.abs(high - 1.0), 0.0)
    # a low end at 0 is cut off: the true one is below
    at_zero = np.maximum((1.0 - level) / 2.0 - below, 0.0)
    low_error = np.where(low == 0.0, at_zero, np.abs(below - (1.0 - level) / 2.0))
    worst = [np.max(low_error), np.max(np.abs(above - (1.0 + level) / 2.0)), np.max(wrong_one)]
    return float(np.max(worst)), np.asarray(_two_sided(r, n))


def _is_as_near_as_can_be(ends: Array, r: Array, n: float, share: float) -> Array:
    """Return which ends are the right ones up to their last digits: near 1 these hold less than a confidence level."""
    with np.errstate(divide="ignore"):
        right = np.tanh(np.arctanh(r) + ndtri(share) / np.sqrt(n - 3.0))
    return np.abs(ends - right) <= 8 * EPSILON


def _two_sided(r: Array, n: float) -> Array:
    if n <= 2.0:
        return np.ones(len(r))
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * student.sf(r * np.sqrt((n - 2.0) / np.maximum(1.0 - r**2, 0.0)), n - 2.0))
