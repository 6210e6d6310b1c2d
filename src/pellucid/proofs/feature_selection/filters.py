r"""Proofs of filters: scores computed again by other code, the equations that intervals solve, each step replayed.

Correlations are computed again from standardized columns, mutual information as the divergence of the table of counts
from the product of its margins. The ends of an interval are put into the distribution they come from, which must give
back the confidence level. Of a choice by relevance and redundancy each step is taken again from the stored information;
that of many columns is looked at in a sample besides those that were chosen, what a column says of the target in all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import chndtr, ndtr, ndtri
from scipy.stats import chi2
from scipy.stats import t as student

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

ENDS = 1e-6
"""Difference of a confidence level that is accepted."""

AT_FIT = 4
"""Columns whose scores a fit computes again."""

MOST_COLUMNS, COLUMNS_AT_FIT = 50, 2
"""Columns of a choice by relevance and redundancy whose information is computed again, if they are not chosen ones."""

WORK = 100_000_000
"""Rows times tables of counts that verify makes, if that is more columns."""

LARGE_LIKELIHOOD = 1e3
"""Likelihood ratio from which its distribution counts as normal: the exact one is no longer computed safely."""

LEAST = 1e-12
"""Bits below which a redundancy counts as this, in the quotient."""

EQUAL = 1e-10
"""Values that differ by less, in parts of the larger or of 1, are equal: that much is rounding."""

PVALUES = 1e-6
"""Difference of p-values that is accepted, in parts of them: they follow from the stored scores."""


def prove_ranking(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes; a fit looks at few columns."""
    d = data.X.shape[1]
    shapes = {"scores_": (d,), "intervals_": (d, 2), "pvalues_": (d,), "ranking_": (d,), "support_": (d,)}
    if wrong := misshapen("exact", fitted, **shapes):
        return wrong
    is_information = parameters.measure == "mutual_information"
    first = np.asarray(fitted.ranking_)[:AT_FIT]  # those are looked at whatever is drawn, if they are columns
    some = drawn(d, AT_FIT if is_fitting() else d, always=first[(first >= 0) & (first < d)])
    n, level = float(data.weights.sum()), float(parameters.level)
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


def _informations(data: TrainingData, parameters: Seen) -> tuple[Array, Array, float]:
    """Return bits, degrees of freedom, and the rounding of the bits."""
    target = _target_codes(data, parameters.n_bins)
    scores, freedom = [], []
    for j in range(data.X.shape[1]):
        column = _codes(data.X[:, j], data.weights, parameters.n_bins)
        scores.append(_mutual_information(column, target, data.weights))
        freedom.append(column.max() * target.max())
    return np.array(scores), np.array(freedom, dtype=np.float64), 1e-10 + 64 * sum_error(len(data.y))


def _correlations(data: TrainingData, parameters: Seen) -> tuple[Array, Array, float]:  # noqa: ARG001
    """Return sizes of correlations, and their rounding, which an offset enlarges."""
    weight = data.weights / data.weights.sum()
    X = data.X.astype(np.float64)
    y = data.y if data.y.dtype.kind == "f" else np.unique(data.y, return_inverse=True)[1].reshape(-1)  # two labels
    y = y.astype(np.float64)
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


def prove_mrmr(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes; a fit looks at few columns."""
    d = data.X.shape[1]
    k = min(d, parameters.k)
    shapes = {"order_": (k,), "relevance_": (d,), "redundancy_": (d, k), "support_": (d,)}
    order = fitted.order_
    are_columns = len(np.unique(order)) == k and order.min(initial=0) >= 0 and order.max(initial=0) < d
    if wrong := misshapen("replayed", fitted, {"order_": are_columns}, **shapes):
        return wrong
    most = COLUMNS_AT_FIT if is_fitting() else max(MOST_COLUMNS, WORK // (len(data.y) * (k + 1)))
    looked_at = drawn(d, most, always=order[:1] if is_fitting() else order)
    said = f"largest distance of an information from the one computed again, {len(looked_at)} of {d} columns"
    said += at_most_wrong(most, d)
    apart, faults = _largest_distance(fitted, parameters, data, looked_at), _faults(fitted, parameters)
    if not is_fitting():  # a column that seems to say nothing of the target is never chosen: all of these are computed
        apart = float(np.max([apart, _largest_distance(fitted, parameters, data, np.arange(d), with_others=False)]))
    chosen = np.zeros(d, dtype=bool)
    chosen[order] = True
    return Certificate("replayed", (
        Claim("information", said, apart, 1e-10 + 64 * sum_error(len(data.y))),
        Claim("steps", f"steps of {k} that did not take the best column", float(faults), 0.0),
        Claim("choice", "columns that are not the chosen ones", float(np.sum(chosen != fitted.support_)), 0.0),
    ))  # fmt: skip


def _largest_distance(
    fitted: Seen, parameters: Seen, data: TrainingData, looked_at: Array, *, with_others: bool = True
) -> float:
    """Return the largest error of the information of some columns with the target, and with the chosen columns."""
    others = [_target_codes(data, parameters.n_bins)]
    others += [_codes(data.X[:, s], data.weights, parameters.n_bins) for s in fitted.order_] if with_others else []
    worst = [0.0]
    for j in looked_at:
        column = _codes(data.X[:, j], data.weights, parameters.n_bins)
        for other, value in zip(others, [fitted.relevance_[j], *fitted.redundancy_[j]], strict=False):
            worst.append(abs(_mutual_information(column, other, data.weights) - value))
    return float(np.max(worst))


def _faults(fitted: Seen, parameters: Seen) -> int:
    """Return how many steps did not take the first of the best columns, by what is stored."""
    taken, faults = np.zeros(len(fitted.relevance_), dtype=bool), 0
    for step, chosen in enumerate(fitted.order_):
        values = fitted.relevance_
        if step:
            shared = np.mean(fitted.redundancy_[:, :step], axis=1)
            values = values - shared if parameters.criterion == "difference" else values / np.maximum(shared, LEAST)
        left = np.where(taken, -np.inf, values)
        best = float(np.max(left))
        first = np.flatnonzero(left >= best - EQUAL * max(1.0, abs(best)))[0]
        faults += int(first != chosen)
        taken[chosen] = True
    return faults


def _codes(values: Array, weights: Array, n_bins: int) -> Array:
    """Return the place of each value among the different ones, or of many the bin that the middle of its weight is in.

    All weight stands in line from the smallest value to the largest; a middle on an edge is in the upper bin.
    """
    different, places = np.unique(values, return_inverse=True)
    places = places.reshape(-1)
    if len(different) <= n_bins:
        return places
    share = np.bincount(places, weights=weights)
    up_to = np.cumsum(share)
    bins = np.floor(n_bins * (up_to - share / 2.0) / up_to[-1] + 1e-9).clip(max=n_bins - 1)
    return np.unique(bins[places], return_inverse=True)[1].reshape(-1)


def _target_codes(data: TrainingData, n_bins: int) -> Array:
    """Return labels as their places, numbers as those of their bins."""
    most = n_bins if data.y.dtype.kind == "f" else len(data.y)
    return _codes(data.y, data.weights, most)


def _mutual_information(one: Array, other: Array, weights: Array) -> float:
    r"""Return :math:`\sum p(x, y)\log_2\frac{p(x, y)}{p(x)p(y)}` of two columns of codes, in bits."""
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), weights / weights.sum())
    margins = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.sum(table[table > 0.0] * np.log2(table[table > 0.0] / margins[table > 0.0])))


PROVES = {"SelectTop": prove_ranking, "MRMR": prove_mrmr}
