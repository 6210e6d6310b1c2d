r"""Sums over pairs of rows in the same query, without listing the pairs.

A pair :math:`(i, j)` has :math:`y_i > y_j` and the margin :math:`m_{ij} = f_i - f_j`. Sorted by score, the rows whose
margins with :math:`i` lie in a window are neighbors, and a tree of sums by rank of :math:`y` leaves out those that are
not below it: :math:`O(n\log n)` for what has :math:`O(n^2)` terms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_array

from pellucid.core.input_rules import check_sample_weight
from pellucid.core.threads import run_blocks
from pellucid.core.types import Array, Data
from pellucid.ranking.pair_sums_kernels import list_pairs, listed_window_pass, window_pass


class RankedPairs:
    """Rows with their queries (numbered from 0), ranks of ``y`` within the query, and weights."""

    def __init__(self, y: Array, query: Array, weight: Array) -> None:
        self.query, self.weight = query, weight
        self.starts = np.append(0, np.cumsum(np.bincount(query)))
        self.rank, self.levels = ranks_within(y, query)
        self.rank_from_top = self.levels[query] - 1 - self.rank

    def sorted_by(self, f: Array) -> SortedRows:
        """Return the rows in the order of their scores."""
        order = np.argsort(f, kind="stable") if len(self.levels) == 1 else np.lexsort((f, self.query))
        return SortedRows(self, f, order, self.starts)


@dataclass(frozen=True)
class SortedRows:
    """Rows, or some of them, in the order of query and score; query q is ``order[starts[q]:starts[q + 1]]``."""

    pairs: RankedPairs
    f: Array
    order: Array
    starts: Array

    def only(self, chosen: Array) -> SortedRows:
        """Return some of the rows, chosen by a mask."""
        counts = np.bincount(self.pairs.query[chosen], minlength=len(self.pairs.levels))
        return SortedRows(self.pairs, self.f, self.order[chosen[self.order]], np.append(0, np.cumsum(counts)))

    def sums(self, V: Array, low: float, high: float) -> tuple[Array, Array]:
        """Return the weighted sums of ``V`` over the worse and the better rows of each with margins in a window."""
        worse, better = run_blocks(lambda side: side(V, low, high), (self.worse, self.better))
        return worse, better

    def worse(self, V: Array, low: float, high: float) -> Array:
        """Return the sums over the rows of lower rank with ``low <= f_i - f_j < high``."""
        pairs = self.pairs
        return self._pass(self.order, self.starts, pairs.levels, self.f, pairs.rank, V, low, high)

    def better(self, V: Array, low: float, high: float) -> Array:
        """Return the sums over the rows of higher rank with ``low <= f_k - f_i < high``: the same, upside down."""
        pairs, starts = self.pairs, len(self.order) - self.starts[::-1]
        return self._pass(self.order[::-1], starts, pairs.levels[::-1], -self.f, pairs.rank_from_top, V, low, high)

    def _pass(
        self, order: Array, starts: Array, levels: Array, f: Array, rank: Array, V: Array, low: float, high: float
    ) -> Array:
        out = np.zeros_like(V)
        tree = np.empty((levels.max(initial=0) + 1, V.shape[1]))
        window_pass(order, starts, levels, f, rank, self.pairs.weight, V, low, high, tree, out)
        return out


def ranks_within(y: Array, query: Array) -> tuple[Array, Array]:
    """Return the rank of each ``y`` among the different values of its query, from 0, and how many there are."""
    order = np.lexsort((y, query))
    is_new = np.append(True, (np.diff(y[order]) != 0) | (np.diff(query[order]) != 0))
    number = np.cumsum(is_new) - 1  # of the value, counted through all queries
    first = number[np.searchsorted(query[order], np.arange(query.max(initial=0) + 1))]
    rank = np.empty(len(y), dtype=np.int64)
    rank[order] = number - first[query[order]]
    return rank, np.diff(np.append(first, number[-1] + 1))


MOST_ROWS_EACH = 64
"""Mean size of the query of a row up to which the pairs are listed."""

NO_PAIRS = np.empty((0, 2), dtype=np.uint32)


class ListablePairs:
    """Pairs that are listed if there are few of them, and otherwise found by sorting."""

    def __init__(self, pairs: RankedPairs) -> None:
        self.pairs = pairs
        order, sizes = np.argsort(pairs.query, kind="stable"), np.diff(pairs.starts)
        self.is_listed = int(np.sum(sizes**2)) <= MOST_ROWS_EACH * len(order)
        self.listed = NO_PAIRS
        if self.is_listed:
            self.listed = np.empty((list_pairs(order, pairs.starts, pairs.rank, NO_PAIRS), 2), dtype=np.uint32)
            list_pairs(order, pairs.starts, pairs.rank, self.listed)

    def at(self, f: Array) -> ListedRows | SortedRows:
        """Return the rows at these scores."""
        return ListedRows(self.pairs, f, self.listed) if self.is_listed else self.pairs.sorted_by(f)


@dataclass(frozen=True)
class ListedRows:
    """Rows and their scores, with the numbers of the better and the worse row of each pair."""

    pairs: RankedPairs
    f: Array
    listed: Array  # (n_pairs, 2)

    def only(self, _chosen: Array) -> ListedRows:
        """Return all rows: leaving some out would cost more than it saves."""
        return self

    def sums(self, V: Array, low: float, high: float) -> tuple[Array, Array]:
        """Return the weighted sums of ``V`` over the worse and the better rows of each with margins in a window."""
        worse, better = np.zeros_like(V), np.zeros_like(V)
        listed_window_pass(self.listed, self.f, self.pairs.weight, V, low, high, worse, better)
        return worse, better


def query_numbers(qid: Data | None, n: int) -> Array:
    """Return the queries of ``n`` rows numbered from 0; without ids all rows are of one query."""
    if qid is None:
        return np.zeros(n, dtype=np.int64)
    ids = column_or_1d(qid)
    if len(ids) != n:
        raise ValueError(f"qid must have one id for each of the {n} rows of X, got {len(ids)}.")
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise ValueError("qid must hold an id for every row, got NaN. Drop those rows.")
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def ranking_error(y_true: Data, scores: Data, *, qid: Data | None = None, sample_weight: Data | None = None) -> float:
    r"""Return the share of pairs in the wrong order; tied scores count half. :math:`O(n\log n)`.

    .. math:: \frac{\sum_{y_i > y_j} s_i s_j\,([f_i < f_j] + \tfrac12[f_i = f_j])}{\sum_{y_i > y_j} s_i s_j}

    For two values of :math:`y` it is one minus the area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Numbers: larger is better.
    scores : array-like of shape (n_samples,)
        What should be in the same order.
    qid : array-like of shape (n_samples,), default=None
        Only rows with the same id are compared; None compares all.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight k counts as k rows.

    Examples
    --------
    Of the three pairs, one is in the wrong order and one is tied.

    >>> ranking_error([1, 2, 3], [0.0, 2.0, 0.0])
    0.5
    """
    y = _numbers(y_true, "y_true")
    f = _numbers(scores, "scores")
    check_consistent_length(y, f)
    weight = check_sample_weight(sample_weight, y[:, None])
    weight = np.ones(len(y)) if weight is None else weight
    places = np.unique(f, return_inverse=True)[1].astype(np.float64)  # whole numbers: equal scores stay equal
    ordered, ones = RankedPairs(y, query_numbers(qid, len(y)), weight).sorted_by(places), np.ones((len(y), 1))
    all_pairs, wrong, wrong_or_tied = (
        float(weight @ ordered.worse(ones, -np.inf, high)[:, 0]) for high in (np.inf, 0.0, 0.5)
    )
    if all_pairs == 0.0:
        raise ValueError("y_true must have two different values in some query, got none. There is nothing to order.")
    return 0.5 * (wrong + wrong_or_tied) / all_pairs


def _numbers(values: Data, name: str) -> Array:
    numbers = check_array(column_or_1d(values), ensure_2d=False, dtype=np.float64, input_name=name)
    return np.asarray(numbers)
