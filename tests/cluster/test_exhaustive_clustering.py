"""exhaustive_clustering: Bell numbers, by hand, against k-means, its proof attacked, refusals that name the count."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stirling2

import pellucid
from pellucid.cluster import AgglomerativeClustering, KMeans, exhaustive_clustering
from pellucid.cluster.exhaustive import (
    bell_number,
    inertia,
    partition_count,
    partitions,
    stirling_number,
)
from pellucid.proofs.cluster.exhaustive import _drawn, certify_exhaustive

FIVE = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])

# by hand


def test_numbers_of_bell_and_stirling():
    assert [bell_number(n) for n in range(11)] == [1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975]
    assert [stirling_number(4, k) for k in range(6)] == [0, 1, 7, 6, 1, 0]
    assert all(stirling_number(n, k) == stirling2(n, k) for n, k in product(range(1, 12), range(12)))


@pytest.mark.parametrize("n", range(1, 8))
def test_every_partition_comes_once(n):
    listed = [tuple(labels) for labels in partitions(n)]
    assert len(listed) == len(set(listed)) == bell_number(n)
    assert listed == sorted(listed)
    for k in range(1, n + 1):
        assert [labels for labels in listed if max(labels) + 1 == k] == [tuple(found) for found in partitions(n, k)]


def test_five_numbers_in_two_clusters():
    # {0, 1, 2} and {8, 9}: 2 + 1/2
    found = exhaustive_clustering(FIVE, n_clusters=2)
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    assert (found.score, found.n_partitions, found.n_clusters) == (2.5, 15, 2)
    assert found.certificate.grade == "optimal"
    assert found.certificate.holds
    assert np.all(np.diff(found.trace["objective"]) < 0)


def test_of_equal_clusterings_the_first_counts():
    # 0 | 1, 2 and 0, 1 | 2 are as good
    assert exhaustive_clustering([[0.0], [1.0], [2.0]], n_clusters=2).labels.tolist() == [0, 0, 1]


def test_any_score_largest_or_least():
    def balance(_X, labels):
        return float(np.bincount(labels).min() * (labels.max() == 1))

    found = exhaustive_clustering(FIVE[:4], balance, maximize=True)
    assert found.score == 2.0
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert found.certificate.holds


def test_workings_list_all_52_clusterings_of_five_points():
    work = pellucid.show_work(exhaustive_clustering, FIVE)
    assert work.answer["n_partitions"] == 52
    assert "There are 52 clusterings" in work.text()
    assert sum(" | " in line or line.strip().startswith("1, 2, 3, 4, 5") for line in work.text().splitlines()) >= 52
    two = pellucid.show_work(exhaustive_clustering, FIVE, 2)
    assert str(two.answer["score"]) == "5/2"
    assert two.answer["labels"] == exhaustive_clustering(FIVE, n_clusters=2).labels.tolist()
    assert max(map(len, two.text().splitlines())) <= 80
    with pytest.raises(ValueError, match="at most 5 rows"):
        pellucid.show_work(exhaustive_clustering, np.ones((6, 1)))


# properties and peers


@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 100))
def test_no_method_finds_a_better_clustering(n, k, seed):
    X, k = np.random.default_rng(seed).standard_normal((n, 2)), min(k, n)
    best = exhaustive_clustering(X, n_clusters=k)
    assert best.n_partitions == partition_count(n, k)
    for model in (KMeans(k, random_state=0).fit(X), AgglomerativeClustering(k).fit(X)):
        assert best.score <= inertia(X, model.labels_) * (1 + 1e-12)


def test_the_least_diameter():
    found = exhaustive_clustering(FIVE, "diameter", n_clusters=2)
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    assert found.score == 2.0


# proof


def test_the_proof_objects_to_another_clustering_a_wrong_score_and_a_short_count():
    right, other = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])
    kept = {"n_clusters": 2}
    assert certify_exhaustive(FIVE, right, "inertia", 2.5, counted=15, **kept).holds
    assert not certify_exhaustive(FIVE, other, "inertia", inertia(FIVE, other), **kept)["no better"].holds
    assert not certify_exhaustive(FIVE, right, "inertia", 2.4, **kept)["score"].holds
    assert not certify_exhaustive(FIVE, right, "inertia", 2.5, counted=14, **kept)["counted"].holds


def test_of_many_a_sample_is_scored_again_and_says_so():
    X = np.random.default_rng(0).standard_normal((9, 2))
    found = exhaustive_clustering(X, n_clusters=3)
    assert "2,000 of 3,025 clusterings, drawn at random" in found.certificate["no better"].statement
    assert found.certificate.grade == "bounded"  # a sample proves no optimum
    again = certify_exhaustive(X, found.labels, "inertia", found.score, n_clusters=3, most_scored=3025)
    assert again.grade == "optimal"
    assert again.holds


def test_all_partitions_are_drawn_as_often():
    # 15 partitions of 4 rows, 3,000 draws: 200 each, give or take 14
    drawn = [tuple(codes) for codes in _drawn(4, None, 3000)]
    counts = [drawn.count(tuple(labels)) for labels in partitions(4)]
    assert sum(counts) == 3000
    assert 130 < min(counts) <= max(counts) < 270


# errors


def test_too_many_rows_are_refused_with_the_count():
    with pytest.raises(ValueError, match=r"got 12 rows, which can be clustered in 4,213,597 ways"):
        exhaustive_clustering(np.zeros((12, 1)))
    with pytest.raises(ValueError, match=r"can be clustered into 3 in 580,606,446 ways. Raise max_partitions"):
        exhaustive_clustering(np.zeros((20, 1)), n_clusters=3)


def test_wrong_input_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="n_clusters must be at most the number of rows, got 6 for 5 rows"):
        exhaustive_clustering(FIVE, n_clusters=6)
    with pytest.raises(ValueError, match=r"score must be one of \('inertia', 'diameter'\) or a function"):
        exhaustive_clustering(FIVE, "silhouette")
    with pytest.raises(ValueError, match="score must be a finite number for at least one clustering"):
        exhaustive_clustering(FIVE, lambda _X, _labels: np.nan)
    with pytest.raises(ValueError, match="NaN"):
        exhaustive_clustering(FIVE * np.nan)


def test_one_row_is_one_cluster():
    assert exhaustive_clustering([[3.0]]).labels.tolist() == [0]
