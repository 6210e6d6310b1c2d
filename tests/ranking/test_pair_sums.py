"""Sums over pairs and the ranking error: by hand, against all pairs listed, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from pellucid.ranking import ranking_error
from pellucid.ranking.pair_sums import ListablePairs, RankedPairs, ranks_within
from pellucid.ranking.pair_sums_kernels import add_row, list_pairs, listed_window_pass, window_pass

seeds = given(st.integers(0, 2**32 - 1))


def rows(seed, n=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25)) if n is None else n
    query = np.unique(rng.integers(0, 3, n), return_inverse=True)[1]
    return rng.integers(0, 4, n).astype(float), rng.integers(-3, 4, n) / 2, query, rng.integers(0, 3, n).astype(float)


# by hand


def test_one_of_three_pairs_wrong_and_one_tied_is_a_half():
    assert ranking_error([1, 2, 3], [0.0, 2.0, 0.0]) == 0.5


def test_weights_count_pairs_as_products():
    # pairs (2 over 1): right, weight 1 * 3; (3 over 1): wrong, 1 * 2; (3 over 2): wrong, 3 * 2
    assert ranking_error([1, 2, 3], [1.0, 2.0, 0.0], sample_weight=[1, 3, 2]) == pytest.approx(8 / 11)


def test_only_rows_of_the_same_query_are_compared():
    assert ranking_error([1, 2, 1, 2], [1.0, 2.0, 8.0, 9.0], qid=["a", "a", "b", "b"]) == 0.0
    assert ranking_error([1, 2, 1, 2], [1.0, 2.0, 8.0, 9.0]) == 0.25


def test_ranks_count_different_values_within_a_query():
    rank, levels = ranks_within(np.array([5.0, 3.0, 5.0, 9.0, 1.0]), np.array([0, 0, 0, 1, 1]))
    assert rank.tolist() == [1, 0, 1, 1, 0]
    assert levels.tolist() == [2, 2]


# properties


@seeds
def test_window_sums_are_those_of_all_pairs(seed):
    y, f, query, weight = rows(seed)
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((len(y), 2))
    low, high = np.sort(rng.choice([-np.inf, -1.0, 0.0, 0.3, 1.0, 2.0, np.inf], 2, replace=False))
    margin = f[:, None] - f
    pairs = (y[:, None] > y) & (query[:, None] == query) & (margin >= low) & (margin < high)
    found = RankedPairs(y, query, weight)
    for at in (found.sorted_by(f), ListablePairs(found).at(f)):
        worse, better = at.sums(V, low, high)
        np.testing.assert_allclose(worse, (pairs * weight) @ V, atol=1e-12)
        np.testing.assert_allclose(better, (pairs.T * weight) @ V, atol=1e-12)


@seeds
def test_ranking_error_is_the_share_of_listed_pairs(seed):
    y, f, query, weight = rows(seed, n=20)
    pairs = np.outer(weight, weight) * ((y[:, None] > y) & (query[:, None] == query))
    wrong = (f[:, None] < f) + 0.5 * (f[:, None] == f)
    assume(pairs.sum() > 0)
    assert ranking_error(y, f, qid=query, sample_weight=weight) == pytest.approx(np.sum(pairs * wrong) / pairs.sum())


def test_the_kernel_is_the_same_as_plain_python(monkeypatch):
    y, f, query, weight = rows(1, n=30)
    pairs = RankedPairs(y, query, weight)
    order, V = np.lexsort((f, query)), np.column_stack([np.ones(30), f])
    compiled, plain = np.zeros((30, 2)), np.zeros((30, 2))
    given_ = (order, pairs.starts, pairs.levels, f, pairs.rank, weight, V, -0.5, 1.0)
    window_pass(*given_, np.zeros((pairs.levels.max() + 1, 2)), compiled)
    monkeypatch.setitem(window_pass.py_func.__globals__, "add_row", add_row.py_func)
    window_pass.py_func(*given_, np.zeros((pairs.levels.max() + 1, 2)), plain)
    np.testing.assert_array_equal(compiled, plain)


def test_listing_is_the_same_in_plain_python():
    y, f, query, weight = rows(1, n=30)
    pairs, V = RankedPairs(y, query, weight), np.column_stack([np.ones(30), f])
    listed = ListablePairs(pairs).listed
    order, again = np.argsort(query, kind="stable"), np.zeros_like(listed)
    assert list_pairs.py_func(order, pairs.starts, pairs.rank, again) == len(listed) > 0
    np.testing.assert_array_equal(again, listed)
    worse, better = np.zeros_like(V), np.zeros_like(V)
    listed_window_pass.py_func(listed, f, weight, V, -0.5, 1.0, worse, better)
    np.testing.assert_allclose((worse, better), pairs.sorted_by(f).sums(V, -0.5, 1.0))


def test_pairs_of_large_queries_are_not_listed():
    y = np.arange(100.0)
    assert len(ListablePairs(RankedPairs(y, np.zeros(100, int), np.ones(100))).listed) == 0
    assert len(ListablePairs(RankedPairs(y, np.arange(100) // 50, np.ones(100))).listed) == 2 * 50 * 49 // 2


# peer


def test_of_two_values_it_is_one_less_the_area_under_the_curve():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    scores, weight = np.round(y + rng.standard_normal(500), 1), rng.random(500)
    area = roc_auc_score(y, scores, sample_weight=weight)
    assert ranking_error(y, scores, sample_weight=weight) == pytest.approx(1.0 - area)


# errors


def test_refuses_what_has_nothing_to_order():
    with pytest.raises(ValueError, match="y_true must have two different values in some query"):
        ranking_error([1, 2], [0.0, 1.0], qid=[1, 2])


def test_refuses_lengths_that_differ_and_scores_that_are_missing():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ranking_error([1, 2], [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="scores contains NaN"):
        ranking_error([1, 2], [0.0, np.nan])
