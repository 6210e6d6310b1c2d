"""MRMR: by hand, properties, against a plain version, proofs, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import pellucid
from pellucid.feature_selection import MRMR, SelectTop
from pellucid.feature_selection.filters.column_codes import coded_column
from pellucid.proofs.feature_selection import filters as mrmr
from tests.proving import quiet_proof
from tests.tampering import changes, objects

FEW = settings(max_examples=10, deadline=None)
CRITERIA = ("difference", "quotient")


def problem(seed=0, n=100, p=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(n)  # says again what the first says
    return X, np.digitize(X[:, 0] + 0.7 * X[:, 2] + 0.3 * rng.standard_normal(n), [-0.5, 0.5])


def plain(X, y, k, n_bins, criterion):
    """Return the order by a loop over all pairs."""
    codes = [coded_column(X[:, j], None, n_bins).of_rows for j in range(X.shape[1])]
    relevance = [mutual_info_score(column, y) for column in codes]
    order = [int(np.argmax(relevance))]
    while len(order) < k:
        best, top = None, -np.inf
        for j in set(range(X.shape[1])) - set(order):
            shared = np.mean([mutual_info_score(codes[j], codes[s]) for s in order])
            value = relevance[j] - shared if criterion == "difference" else relevance[j] / shared
            best, top = (j, value) if value > top else (best, top)
        order.append(best)
    return order


@pytest.mark.by_hand
def test_relevance_and_redundancy_by_hand():
    # columns 0 and 1 are equal and tell 1 bit; column 2 tells nothing, and shares nothing
    X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    model = MRMR(2).fit(X, ["a", "a", "b", "b"])
    assert model.relevance_ == pytest.approx([1.0, 1.0, 0.0], abs=1e-12)
    assert model.redundancy_[:, 0] == pytest.approx([1.0, 1.0, 0.0], abs=1e-12)
    assert model.order_.tolist() == [0, 1]  # 1 - 1 = 0 - 0: the first of equal ones


def test_it_takes_what_is_new_where_a_ranking_takes_the_same_twice():
    X, y = problem()
    assert SelectTop(2).fit(X, y).get_support(indices=True).tolist() == [0, 1]
    assert MRMR(2).fit(X, y).order_.tolist()[1] == 2


@pytest.mark.peer
@FEW
@given(st.integers(0, 1000), st.sampled_from(CRITERIA))
def test_same_order_as_a_plain_loop(seed, criterion):
    X, y = problem(seed)
    model = MRMR(4, criterion=criterion, n_bins=5).fit(X, y)
    assert model.order_.tolist() == plain(X, y, 4, 5, criterion)
    assert pellucid.verify(model, X, y).holds


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    X, y = problem(seed, n=50)
    weight = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    times = weight.astype(int)
    weighted = MRMR(3, n_bins=4).fit(X, y, sample_weight=weight)
    repeated = MRMR(3, n_bins=4).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.relevance_, repeated.relevance_, atol=1e-9)
    np.testing.assert_array_equal(weighted.order_, repeated.order_)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_verify_objects_to_every_change(criterion):
    X, y = problem()
    model = MRMR(3, criterion=criterion, n_bins=4).fit(X, y)
    for name in ("order_", "relevance_", "redundancy_", "support_"):
        for word, wrong in changes(getattr(model, name)):
            broken = copy.copy(model)
            setattr(broken, name, wrong)
            assert objects(broken, X, y), (name, word)


def test_verify_objects_to_the_same_columns_in_another_order():
    X, y = problem()
    model = MRMR(3, n_bins=4).fit(X, y)
    model.order_, model.redundancy_ = model.order_[::-1].copy(), model.redundancy_[:, ::-1].copy()
    with pytest.warns(pellucid.UncertifiedWarning, match="steps"):
        proof = pellucid.verify(model, X, y)
    assert proof["information"].holds
    assert not proof["steps"].holds


def test_many_columns_are_looked_at_in_a_sample(monkeypatch):
    monkeypatch.setattr(mrmr, "WORK", 0)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 120)), rng.integers(0, 2, 60)
    proof = pellucid.verify(MRMR(3).fit(X, y), X, y)
    assert proof.holds
    assert "of 120 columns (at most 8.8 % wrong, at 99 %)" in proof["information"].statement


def test_a_best_column_that_was_passed_over_is_noticed_among_many(monkeypatch):
    monkeypatch.setattr(mrmr, "WORK", 0)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 400)), rng.integers(0, 2, 200)
    best = int(MRMR(3).fit(X, y).order_[0])
    without = X.copy()
    without[:, best] = 0.0
    assert not quiet_proof(MRMR(3).fit(without, y), X, y)["information"].holds


def test_constant_columns_numbers_and_huge_values():
    X, y = problem()
    X[:, 5] = 1.0
    for scale in (1e-150, 1e140):
        assert MRMR(6).fit(X * scale, y).order_[-1] in (1, 5)
    numbers = X[:, 0] + X[:, 2]
    assert set(MRMR(2).fit(X, numbers).order_.tolist()) <= {0, 1, 2}


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"criterion": "sum"}, "criterion must be one of"),
        ({"n_bins": 1}, "n_bins must"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MRMR(**parameters).fit(*problem())
