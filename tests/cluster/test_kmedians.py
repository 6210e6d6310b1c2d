"""KMedians: worked by hand, as repetitions, against SciPy's distances, its proof broken, and against wrong input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid.cluster import KMedians
from pellucid.cluster.kmedians_solvers import middle_values
from tests.proving import quiet_proof

FIVE = np.array([[0.0], [1.0], [2.0], [8.0], [90.0]])
SIX = np.array([(0, 0), (1, 2), (-1, -1), (2, 3), (-2, 1), (3, 1)], dtype=float)
seeds = pytest.mark.parametrize("seed", range(4))


def blobs(seed, n=120, p=3, k=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 4.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


# by hand


@pytest.mark.by_hand
def test_five_numbers():
    # 8 and 90 are nearest to 9: medians 1 and (8 + 90) / 2 = 49; then 8 is nearer to 1: medians 3/2 and 90, and
    # E = 3/2 + 1/2 + 1/2 + 13/2
    model = KMedians(2, init=[[0.0], [9.0]]).fit(FIVE)
    assert model.cluster_centers_.ravel().tolist() == [1.5, 90.0]
    assert model.labels_.tolist() == [0, 0, 0, 0, 1]
    assert model.trace_["objective"].tolist() == [85.0, 50.0, 9.0]
    assert model.predict([[45.0], [46.0]]).tolist() == [0, 1]
    assert model.transform([[3.0]]).tolist() == [[1.5, 87.0]]
    assert model.score([[3.0]]) == -1.5


def test_a_far_row_does_not_pull_the_median():
    assert KMedians(1).fit(FIVE).cluster_centers_.tolist() == [[2.0]]


def test_of_centers_at_the_same_distance_the_first_counts():
    model = KMedians(2, init=[[0.0], [2.0]], max_iter=1)
    with pytest.warns(pellucid.UncertifiedWarning, match="medians is .*Raise max_iter"):
        model.fit([[0.0], [1.0], [2.0], [3.0]])
    assert model.labels_.tolist() == [0, 0, 1, 1]


def test_an_empty_cluster_gets_the_farthest_row():
    model = KMedians(2, init=[[0.0], [1000.0]]).fit([[0.0], [1.0], [10.0]])
    assert sorted(model.cluster_centers_.ravel()) == [0.5, 10.0]


def test_fewer_different_rows_than_clusters_are_told():
    with pytest.warns(ConvergenceWarning, match="only 1 of 2 clusters have rows"):
        KMedians(2, init=[[1.0], [2.0]]).fit(np.ones((4, 1)))


def test_middle_values_of_weighted_numbers():
    low, high = middle_values(np.array([[3.0], [1.0], [2.0], [9.0]]), np.array([1.0, 2.0, 1.0, 0.5]))
    assert (low.item(), high.item()) == (2.0, 2.0)
    low, high = middle_values(np.array([[3.0], [1.0]]), np.array([0.1, 0.1]))
    assert (low.item(), high.item()) == (1.0, 3.0)


def test_workings_are_exact_and_agree():
    work = pellucid.show_work(KMedians(2, init=[[-1, 3], [2, 0]]), SIX)
    assert "in the middle" in work.text()
    assert "more than rounding" not in work.text()
    drawn = pellucid.show_work(KMedians(2, random_state=0), SIX)
    assert drawn.answer["labels_"] == KMedians(2, random_state=0).fit(SIX).labels_.tolist()
    with pytest.raises(ValueError, match="n_clusters must be at most 4 to be worked by hand, got 5"):
        pellucid.show_work(KMedians(5), SIX)


def test_workings_fit_eighty_columns():
    X = np.random.default_rng(1).standard_normal((12, 4)).round(3)
    text = pellucid.show_work(KMedians(4, random_state=0), X).text()
    assert max(map(len, text.splitlines())) <= 80


# properties


@seeds
def test_the_objective_never_rises_and_the_end_is_a_fixed_point(seed):
    X = blobs(seed)
    model = KMedians(4, random_state=seed).fit(X)
    assert np.all(np.diff(model.trace_["objective"]) <= 1e-9)
    gaps = cdist(X, model.cluster_centers_, "cityblock")
    np.testing.assert_array_equal(gaps.argmin(axis=1), model.labels_)
    for k in range(4):
        np.testing.assert_allclose(np.median(X[model.labels_ == k], axis=0), model.cluster_centers_[k], rtol=1e-14)


@pytest.mark.property
@seeds
def test_a_weight_is_a_number_of_repetitions(seed):
    X, start = blobs(seed), blobs(seed)[:4]
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weighted = KMedians(4, init=start).fit(X, sample_weight=weight)
    repeated = KMedians(4, init=start).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-14)
    assert np.all(weighted.labels_[weight == 0] == -1)
    assert pellucid.verify(weighted, X, sample_weight=weight).holds


@given(st.integers(1, 4), st.integers(4, 25), st.integers(0, 500))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_small_whole_numbers_are_certified(k, n, seed):
    X = np.random.default_rng(seed).integers(0, 4, (n, 2)).astype(float)
    model = KMedians(k, random_state=seed).fit(X)
    if len(np.unique(X, axis=0)) >= k:
        assert pellucid.verify(model, X).holds


@pytest.mark.peer
@seeds
def test_the_path_is_that_of_a_plain_loop(seed):
    X = blobs(seed)
    centers, labels = X[:4], None
    model = KMedians(4, init=centers).fit(X)
    while labels is None or (labels != cdist(X, centers, "cityblock").argmin(axis=1)).any():
        labels = cdist(X, centers, "cityblock").argmin(axis=1)
        centers = np.array([np.median(X[labels == k], axis=0) for k in range(4)])
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, centers)


def test_float32_rows_keep_their_kind_and_their_proof():
    X = blobs(1).astype(np.float32)
    model = KMedians(4, random_state=0).fit(X)
    assert model.cluster_centers_.dtype == np.float32
    assert pellucid.verify(model, X).holds


# proof


def test_verify_objects_to_means_in_the_place_of_medians():
    X = blobs(2)
    model = KMedians(4, random_state=0).fit(X)
    broken = copy.copy(model)
    broken.cluster_centers_ = np.array([X[model.labels_ == k].mean(axis=0) for k in range(4)])
    assert not quiet_proof(broken, X)["medians"].holds


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"n_clusters": 6}, FIVE, "n_samples must be at least n_clusters, got n_samples=5 and n_clusters=6"),
        ({"n_clusters": 0}, FIVE, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": 1}, FIVE * np.nan, "NaN"),
        (
            {"n_clusters": 2, "init": [[0.0]]},
            FIVE,
            r"init must be finite numbers of shape \(2, 1\), got shape",
        ),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(settings, X, message):
    with pytest.raises(ValueError, match=message):
        KMedians(**settings).fit(X)
