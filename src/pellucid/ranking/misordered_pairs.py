"""ranking_error: the share of pairs that are in the wrong order."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_array

from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight
from pellucid.ranking.pair_sums import Pairs
from pellucid.ranking.query_ids import query_numbers


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
    ordered, ones = Pairs(y, query_numbers(qid, len(y)), weight).sorted_by(places), np.ones((len(y), 1))
    all_pairs, wrong, wrong_or_tied = (
        float(weight @ ordered.worse(ones, -np.inf, high)[:, 0]) for high in (np.inf, 0.0, 0.5)
    )
    if all_pairs == 0.0:
        raise ValueError("y_true must have two different values in some query, got none. There is nothing to order.")
    return 0.5 * (wrong + wrong_or_tied) / all_pairs


def _numbers(values: Data, name: str) -> Array:
    numbers = check_array(column_or_1d(values), ensure_2d=False, dtype=np.float64, input_name=name)
    return np.asarray(numbers)
