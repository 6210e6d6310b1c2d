"""Bounds that no clustering beats: never above the best of all clusterings, and met by it where clusters lie apart."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from scipy import sparse

import pellucid
from pellucid.cluster import KMeans
from pellucid.cluster.kmeans.center_answers import scatter_bound
from pellucid.cluster.kmeans.kmeans_solvers import best_line_centers
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.cluster.kmeans import with_gap
from pellucid.proofs.cluster.kmeans_bounds import line_bound, semidefinite_bound, spectral_bound
from pellucid.proofs.training_data import TrainingData

seeds = pytest.mark.parametrize("seed", range(8))


def objective(X, weight, labels, k):
    total = 0.0
    for t in range(k):
        own = np.asarray(labels) == t
        if own.any():
            mean = weight[own] @ X[own] / weight[own].sum()
            total += float(weight[own] @ np.square(X[own] - mean).sum(axis=1))
    return total


def least(X, weight, k):
    return min(objective(X, weight, labels, k) for labels in itertools.product(range(k), repeat=len(X)))


# by hand


def test_two_points_apart():
    # K = 1: the scatter of 0 and 2 about 1 is 2, and there is nothing to take off; K = 2 leaves nothing
    X, weight = np.array([[0.0], [2.0]]), np.ones(2)
    assert spectral_bound(X, weight, 1) == pytest.approx(2.0)
    assert spectral_bound(X, weight, 2) == 0.0
    assert line_bound(X, weight, 1) == pytest.approx(2.0)


def test_spectral_bound_of_a_rectangle():
    # rows (+-2, +-1): scatter 16 along the first axis, 4 along the second; cutting the long way leaves 4
    X = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]])
    assert spectral_bound(X, np.ones(4), 2) == pytest.approx(4.0)
    model = KMeans(2, init=X[[0, 2]]).fit(X)
    assert model.inertia_ == 4.0
    assert model.certificate_.grade == "optimal"
    assert pellucid.verify(model, X).grade == "optimal"


# properties


@seeds
@pytest.mark.parametrize("k", [2, 3])
def test_bounds_are_never_above_the_best_of_all_clusterings(seed, k):
    rng = np.random.default_rng(seed)
    X, weight = rng.standard_normal((7, 2)), rng.integers(1, 4, size=7).astype(float)
    best = least(X, weight, k)
    assert spectral_bound(X, weight, k) <= best
    for labels in (rng.permutation(np.arange(7) % k), np.argsort(X[:, 0]).argsort() * k // 7):
        bound = semidefinite_bound(X, weight, labels, k)
        assert bound <= best
        repeated = np.repeat(np.arange(7), weight.astype(int))
        again = semidefinite_bound(X[repeated], np.ones(len(repeated)), labels[repeated], k)
        assert again <= best * (1 + 1e-9)


@seeds
def test_a_dual_point_that_is_any_numbers_is_still_a_bound(seed):
    # what the proof stands on: whatever alpha and N >= 0 are, no clustering has a larger product
    rng = np.random.default_rng(seed)
    X, k = rng.standard_normal((6, 2)), 2
    X -= X.mean(axis=0)
    N, alpha = rng.random((6, 6)), rng.standard_normal(6)
    N = N + N.T
    matrix = X @ X.T + N - 0.5 * (np.add.outer(alpha, alpha))
    largest = np.linalg.eigvalsh(matrix)[-k:].sum() + alpha.sum()
    assert np.sum(X**2) - largest <= least(X, np.ones(6), k) + 1e-12


@seeds
@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_column_is_solved_twice_with_the_same_answer(seed, k):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(0, 9, size=(7, 1)).astype(float), rng.integers(1, 4, size=7).astype(float)
    best = least(X, weight, k)
    assert line_bound(X, weight, k) == pytest.approx(best, abs=1e-9)
    found = best_line_centers(TrainingData(X, weight=weight), k)
    if found is not None:
        centers, value = found
        assert value == pytest.approx(best, abs=1e-9)
        assert weight @ np.square(X - centers.ravel()).min(axis=1) == pytest.approx(best, abs=1e-9)


def test_long_columns_agree_too():
    X = np.random.default_rng(0).standard_normal((5000, 1)) ** 3
    for k in (2, 7):
        centers, value = best_line_centers(TrainingData(X), k)
        assert line_bound(X, np.ones(5000), k) == pytest.approx(value, rel=1e-9)
        assert np.square(X - centers.ravel()).min(axis=1).sum() == pytest.approx(value, rel=1e-9)


@seeds
def test_clusters_far_apart_are_proved_best(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 4)) + 9.0 * np.eye(4)[rng.integers(4, size=120)]
    for make in (np.asarray, sparse.csr_array):
        model = KMeans(4, n_init=5, random_state=0).fit(make(X))
        proof = pellucid.verify(model, make(X))
        assert proof.grade == "optimal"
        assert proof["gap"].value <= 1e-9


def test_a_bad_clustering_is_not_proved_best():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 2)) + np.array([[0.0, 0.0], [20.0, 0.0], [40.0, 0.0]])[np.arange(90) % 3]
    start = np.array([[0.0, -1.0], [0.0, 1.0], [30.0, 0.0]])  # two centers share a blob, one has two
    model = KMeans(3, init=start).fit(X)
    proof = pellucid.verify(model, X)
    assert proof.holds
    assert proof.grade == "stationary"
    saved = float(re.search(r"could save at most (.*) % of the objective", proof.reason).group(1))
    best = KMeans(3, n_init=10, random_state=0).fit(X).inertia_
    assert 50.0 < 100.0 * (1.0 - best / model.inertia_) <= saved


@pytest.mark.parametrize("offset", [1e2, 1e4])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_no_bound_of_single_precision_rows_is_above_the_objective(offset, make):
    # the sum of 100,000 numbers near 10,000 has lost its unit in float32: scatter about such a mean is too large
    X = make((np.random.default_rng(0).standard_normal((100_000, 3)) + offset).astype(np.float32))
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    scatter = np.square(rows - rows.mean(axis=0)).sum()
    ones = np.ones(len(rows))
    for bound in (spectral_bound(X, ones, 1), scatter_bound(X, None, 1), scatter_bound(X, ones, 1)):
        assert scatter * (1.0 - 1e-9) <= bound <= scatter


def test_a_lower_bound_above_the_objective_is_an_error_of_one_of_them():
    found = with_gap(Certificate("stationary", ()), 1.0, 1.01)
    assert not found["gap"].holds
    assert "is above the objective" in found["gap"].statement
    assert with_gap(Certificate("stationary", ()), 1.0, 1.0).grade == "optimal"
