"""match_sources: estimated sources put in the order, sign and scale of the true ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_array

from pellucid.core.types import Array, Data


@dataclass(frozen=True)
class SourceMatch:
    """Which estimated source stands for each true one, and how well."""

    order: Array
    """Column of the estimate for each true source; -1 where there are too few."""
    signs: Array
    scales: Array
    """Factor that makes it as large as the true one, the sign left out."""
    correlations: Array
    """With the true source, between 0 and 1; 0 for one that has no match."""
    sources: Array
    """The estimate in the order, sign, scale and with the mean of the true sources."""


def match_sources(estimated: Data, true: Data) -> SourceMatch:
    """Match estimated sources, columns of a table, to true ones: independent components have no order, sign or scale.

    Of all ways to pair them, the one with the largest sum of absolute correlations is taken.

    Parameters
    ----------
    estimated : array-like of shape (n_samples, n_estimated)
        What was found, a column for each source.
    true : array-like of shape (n_samples, n_sources)
        What should be found, in the same rows; there may be more or fewer columns.

    Examples
    --------
    >>> true = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 5.0]])
    >>> match = match_sources(np.column_stack([-2.0 * true[:, 1], 3.0 * true[:, 0] + 1.0]), true)
    >>> match.order, match.signs, match.correlations.round(12)
    (array([1, 0]), array([ 1., -1.]), array([1., 1.]))
    """
    one, other = (check_array(part, dtype=np.float64) for part in (estimated, true))
    if len(one) != len(other):
        raise ValueError(f"estimated must have as many rows as true ({len(other)}), got {len(one)}.")
    centered, wanted = one - one.mean(axis=0), other - other.mean(axis=0)
    lengths, sizes = (np.sqrt(np.einsum("ij,ij->j", part, part)) for part in (centered, wanted))
    products = wanted.T @ centered
    correlations = products / np.maximum(np.outer(sizes, lengths), np.finfo(float).tiny)
    rows, columns = linear_sum_assignment(-np.abs(correlations))
    order = np.full(other.shape[1], -1)
    order[rows] = columns
    signs, scales, found = np.ones(len(order)), np.zeros(len(order)), np.zeros(len(order))
    signs[rows] = np.where(correlations[rows, columns] < 0.0, -1.0, 1.0)
    scales[rows] = sizes[rows] / np.where(lengths[columns] > 0.0, lengths[columns], np.inf)
    found[rows] = np.abs(correlations[rows, columns])
    sources = np.where(order >= 0, centered[:, order], 0.0) * (signs * scales) + other.mean(axis=0)
    return SourceMatch(order, signs, scales, found, sources)
