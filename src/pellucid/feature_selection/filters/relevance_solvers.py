r"""What columns say about a target: correlation or mutual information, each with an interval and a p-value.

Correlation: :math:`\operatorname{artanh} r` is normal with deviation :math:`1/\sqrt{n - 3}` (Fisher).
Mutual information of codes: :math:`G = 2n I` in nats has a :math:`\chi^2` distribution with
:math:`(a - 1)(b - 1)` degrees of freedom, not central by :math:`2n` times the true information (Kullback); the ends of
the interval are the informations at which G would be at the edge of the usual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chndtrinc, ndtri, stdtr, xlogy

from pellucid.core.input_rules import mean_about_first
from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array
from pellucid.feature_selection.filters.column_codes import LARGE_LIKELIHOOD, Codes

BITS = float(np.log(2.0))


class Relevance(NamedTuple):
    """Scores of the columns, their intervals of shape (n_columns, 2), and p-values of no relation at all."""

    scores: Array
    intervals: Array
    pvalues: Array


def correlations(X: Array, y: Array, weight: Array | None, level: float) -> Relevance:
    """Return the sizes of the correlations with a target of numbers; 0 for constant columns."""
    weights = np.ones(len(X)) if weight is None else weight
    n = float(weights.sum())
    target = _unit(y.astype(np.float64)[:, None], weights)[:, 0]

    def work(part: slice) -> Array:
        return np.asarray(target @ _unit(X[:, part].astype(np.float64), weights))

    r = np.concatenate(run_blocks(work, shares(X.shape[1], X.size)))
    r = np.clip(r, -1.0, 1.0)
    size = np.abs(r)
    pvalues = np.ones(len(r))
    if n > 2.0:
        with np.errstate(divide="ignore"):
            pvalues = 2.0 * stdtr(n - 2.0, -size * np.sqrt((n - 2.0) / (1.0 - size**2)))
    if n > 3.0:
        with np.errstate(divide="ignore"):
            middle = np.arctanh(size)
        wide = float(ndtri(0.5 + level / 2.0)) / np.sqrt(n - 3.0)
        ends = np.tanh(middle[:, None] + np.array([-wide, wide]))
    else:  # so few rows say nothing
        ends = np.tile([0.0, 1.0], (len(r), 1))
    ends[:, 0] = np.maximum(ends[:, 0], 0.0)
    return Relevance(size, ends, pvalues)


def _unit(columns: Array, weights: Array) -> Array:
    """Return centered columns, times the roots of the weights, of length 1; 0 where a column is constant."""
    centered = (columns - mean_about_first(columns, weights)) * np.sqrt(weights)[:, None]
    size = np.abs(centered).max(axis=0)
    lost = 8 * np.finfo(np.float64).eps * np.abs(columns).max(axis=0)
    centered = np.where(size > lost, centered / np.where(size > 0.0, size, 1.0), 0.0)
    length = np.sqrt(np.sum(centered**2, axis=0))
    return np.asarray(centered / np.where(length > 0.0, length, 1.0))


def informations(columns: list[Codes], target: Codes, weight: Array | None) -> Array:
    """Return the mutual information of each column with the target, in bits."""

    def work(part: slice) -> list[float]:
        return [_information(_counts(column, target, weight)) for column in columns[part]]

    parts = run_blocks(work, shares(len(columns), len(columns) * len(target.of_rows)))
    return np.array([value for part in parts for value in part])


def information_relevance(columns: list[Codes], target: Codes, weight: Array | None, level: float) -> Relevance:
    """Return mutual information in bits, with intervals and p-values from its likelihood ratio."""
    scores = informations(columns, target, weight)
    n = float(len(target.of_rows) if weight is None else weight.sum())
    freedom = np.array([(column.n_codes - 1) * (target.n_codes - 1) for column in columns], dtype=np.float64)
    likelihood = 2.0 * n * BITS * scores
    tail = (1.0 - level) / 2.0
    ends = np.column_stack([_offset(likelihood, freedom, 1.0 - tail), _offset(likelihood, freedom, tail)])
    pvalues = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1.0), likelihood), 1.0)
    return Relevance(scores, ends / (2.0 * n * BITS), pvalues)


def _offset(likelihood: Array, freedom: Array, share: float) -> Array:
    """Return how far from central the distribution is of which this share lies below; 0 if even the central one's."""
    df = np.maximum(freedom, 1.0)
    found = np.zeros(len(df))
    is_above = (freedom > 0) & (chdtrc(df, likelihood) < 1.0 - share)
    is_large = is_above & (likelihood > LARGE_LIKELIHOOD)
    is_small = is_above & ~is_large
    found[is_small] = chndtrinc(likelihood[is_small], df[is_small], share)
    z = float(ndtri(share))  # normal, with mean df + offset and variance 2 df + 4 offset, the square of u
    u = 2.0 * (np.sqrt(z**2 + likelihood[is_large] - df[is_large] / 2.0) - z)
    found[is_large] = (u**2 - 2.0 * df[is_large]) / 4.0
    return np.maximum(found, 0.0)


def _counts(column: Codes, target: Codes, weight: Array | None) -> Array:
    cells = column.of_rows * target.n_codes + target.of_rows
    counts = np.bincount(cells, weights=weight, minlength=column.n_codes * target.n_codes)
    return counts.astype(np.float64).reshape(column.n_codes, target.n_codes)


def _information(counts: Array) -> float:
    """Return H(X) + H(Y) - H(X, Y) in bits, from sums of n log n; rounding below 0 is 0."""
    n = counts.sum()
    parts = (counts.sum(axis=1), counts.sum(axis=0), counts.ravel())
    of_x, of_y, of_both = (float(np.log(n) - xlogy(part, part).sum() / n) for part in parts)
    return max(of_x + of_y - of_both, 0.0) / BITS


def best_first(scores: Array) -> Array:
    """Return the columns in falling order of their scores; equal to 12 decimals, the first column first."""
    return np.argsort(-np.round(scores, 12), kind="stable")
