"""Silhouettes: by hand, properties, against scikit-learn, bad input."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sklearn.metrics as peer
from scipy import sparse
from threadpoolctl import threadpool_limits

import pellucid.cluster.silhouette as silhouette
from pellucid.cluster import silhouette_samples, silhouette_score
from pellucid.cluster.silhouette_kernels import add_distances

seeds = pytest.mark.parametrize("seed", range(3))


def problem(seed, n=700, d=4, k=5):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((k, d))[labels], labels


def by_definition(X, labels):
    """Return silhouettes from all differences, one row after the other."""
    found = []
    for i in range(len(X)):
        distances = np.sqrt(np.square(X - X[i]).sum(axis=1))
        mine = labels == labels[i]
        a = distances[mine].sum() / max(mine.sum() - 1, 1)
        b = min(distances[labels == other].mean() for other in set(labels) - {labels[i]})
        found.append((b - a) / max(a, b) if mine.sum() > 1 and max(a, b) > 0 else 0.0)
    return np.array(found)


# by hand


def test_five_points_on_a_line():
    # row 0: a = (1 + 2) / 2, b = (8 + 10) / 2; row 1: a = 1, b = 8; row 2: a = 3/2, b = 7; row 3: a = 2, b = 7;
    # row 4: a = 2, b = 9
    found = silhouette_samples([[0.0], [1.0], [2.0], [8.0], [10.0]], ["a", "a", "a", "b", "b"])
    expected = [Fraction(15, 18), Fraction(7, 8), Fraction(11, 14), Fraction(5, 7), Fraction(7, 9)]
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-14)


def test_a_row_alone_has_silhouette_zero():
    assert silhouette_samples([[0.0], [1.0], [9.0]], [0, 0, 1])[2] == 0.0


def test_rows_that_are_all_the_same_have_silhouette_zero():
    assert not silhouette_samples(np.ones((4, 2)), [0, 0, 1, 1]).any()


# properties


@seeds
def test_the_same_as_the_definition(seed):
    X, labels = problem(seed, n=60)
    np.testing.assert_allclose(silhouette_samples(X, labels), by_definition(X, labels), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-160, 1e-3, 1e150])
def test_silhouettes_have_no_unit(scale):
    X, labels = problem(0, n=200)
    np.testing.assert_allclose(silhouette_samples(scale * X, labels), silhouette_samples(X, labels), atol=1e-12)


def test_an_offset_costs_the_digits_it_takes_from_the_rows_only():
    X, labels = problem(0, n=200)
    far = X + 1e8
    np.testing.assert_allclose(silhouette_samples(far, labels), by_definition(far, labels), rtol=1e-9, atol=1e-12)


def test_tight_clusters_far_apart_keep_their_digits():
    X, labels = problem(0, n=300)
    X = 1e-7 * X + 1e3 * labels[:, None]
    np.testing.assert_allclose(silhouette_samples(X, labels), by_definition(X, labels), rtol=1e-8, atol=1e-12)


def test_the_number_of_threads_and_of_blocks_does_not_matter(monkeypatch):
    X, labels = problem(1, n=2000)
    found = silhouette_samples(X, labels)
    with threadpool_limits(1):
        np.testing.assert_array_equal(silhouette_samples(X, labels), found)
    monkeypatch.setattr(silhouette, "MOST_SUMS", 0)
    np.testing.assert_allclose(silhouette_samples(X, labels), found, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_every_two_blocks_meet_once_and_none_twice_in_a_round(n):
    rounds = silhouette.rounds_of_pairs(n)
    assert sorted(tuple(sorted(pair)) for pairs in rounds for pair in pairs) == list(combinations(range(n), 2))
    assert all(len({block for pair in pairs for block in pair}) == 2 * len(pairs) for pairs in rounds)


def test_the_loop_is_what_python_would_do():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((3, 2)), rng.standard_normal((4, 2))
    B[1] = A[0]
    squares = (np.square(part).sum(axis=1) for part in (A, B))
    codes, ends, ended = np.array([0, 0, 1]), np.array([1, 4]), np.array([0, 1])
    given = [A @ (-2.0 * B.T), A, B, *squares, 1e-6, codes, ends, ended]
    results = []
    for loop in (add_distances, add_distances.py_func):
        sums = np.zeros((2, 3)), np.zeros((2, 4))
        loop(given[0].copy(), *given[1:], *sums)
        results.append(np.concatenate(sums, axis=1))
    np.testing.assert_allclose(*results, rtol=1e-13)
    distances = np.sqrt(np.square(A[:, None] - B).sum(axis=2))
    np.testing.assert_allclose(results[0][0, :3], distances[:, 0], rtol=1e-12)


# against scikit-learn


@seeds
def test_the_same_as_scikit_learn(seed):
    X, labels = problem(seed)
    ours = silhouette_samples(X, labels)
    np.testing.assert_allclose(ours, peer.silhouette_samples(X, labels), rtol=1e-10, atol=1e-13)
    assert silhouette_score(X, labels) == pytest.approx(peer.silhouette_score(X, labels), rel=1e-12)
    assert silhouette_samples(X.astype(np.float32), labels).dtype == np.float32


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "seuclidean", lambda a, b: float(np.abs(a - b).max())])
def test_other_metrics_are_those_of_scikit_learn(metric):
    X, labels = problem(0, n=80)
    expected = peer.silhouette_samples(X, labels, metric=metric)
    np.testing.assert_allclose(silhouette_samples(X, labels, metric=metric), expected, rtol=1e-10)


def test_given_distances_and_sparse_rows():
    X, labels = problem(0, n=80)
    expected, table = silhouette_samples(X, labels), peer.pairwise_distances(X)
    for given in (table, sparse.csr_array(table)):
        np.testing.assert_allclose(silhouette_samples(given, labels, metric="precomputed"), expected, atol=1e-12)
    np.testing.assert_allclose(silhouette_samples(sparse.csr_array(X), labels), expected, atol=1e-12)


def test_a_sample_is_drawn_as_in_scikit_learn():
    X, labels = problem(0, n=200)
    settings = {"sample_size": 50, "random_state": 3}
    table = peer.pairwise_distances(X)
    assert silhouette_score(X, labels, **settings) == pytest.approx(peer.silhouette_score(X, labels, **settings))
    expected = peer.silhouette_score(table, labels, metric="precomputed", **settings)
    assert silhouette_score(table, labels, metric="precomputed", **settings) == pytest.approx(expected)


# errors


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_refuses_one_cluster_and_a_cluster_per_row(labels):
    with pytest.raises(ValueError, match="labels must name from 2 to n_samples - 1 clusters, got [13] for 3 rows"):
        silhouette_samples([[0.0], [1.0], [2.0]], labels)


def test_refuses_distances_of_rows_to_themselves():
    with pytest.raises(ValueError, match="X must have 0 on the diagonal, got 2"):
        silhouette_score(np.full((3, 3), 2.0), [0, 0, 1], metric="precomputed")


def test_refuses_nan():
    with pytest.raises(ValueError, match="NaN"):
        silhouette_samples([[0.0], [np.nan], [2.0]], [0, 0, 1])
