"""KMeans: worked by hand, as repetitions, against scikit-learn, and against wrong input."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import sklearn.cluster
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.cluster import KMeans
from pellucid.cluster.kmeans.center_answers import assign_rows, score_rows
from pellucid.cluster.kmeans.kmeans_starts import (
    draw_far_rows,
    furthest_first,
    k_log_k,
    plus_plus,
    random_partition,
    random_rows,
)
from pellucid.proofs.training_data import TrainingData
from tests.proving import quiet_proof

SIX = np.array([(0, 0), (1, 2), (-1, -1), (2, 3), (-2, 1), (3, 1)], dtype=float)
seeds = pytest.mark.parametrize("seed", range(5))


def blobs(seed, n=200, p=3, k=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 4.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


# by hand


@pytest.mark.by_hand
def test_six_points_of_the_lecture():
    # from (-1, 3), (2, 0): rows 2 and 4 are tied and go to the first center; then means of 3 rows each; 64/3
    model = KMeans(2, init=[[-1, 3], [2, 0]]).fit(SIX)
    assert model.labels_.tolist() == [1, 0, 1, 0, 0, 1]
    np.testing.assert_allclose(model.cluster_centers_, [[1 / 3, 2], [2 / 3, 0]], rtol=1e-15)
    assert model.inertia_ == pytest.approx(64 / 3, rel=1e-15)
    assert model.n_iter_ == 2
    assert model.trace_["objective"].tolist() == pytest.approx([35.0, 64 / 3])
    assert model.trace_["changed"].tolist() == [6, 0]


def test_workings_are_exact_and_agree():
    work = pellucid.show_work(KMeans(2, init=[[-1, 3], [2, 0]]), SIX)
    assert str(work.answer["inertia_"]) == "64/3"
    assert [list(map(str, row)) for row in work.answer["cluster_centers_"]] == [["1/3", "2"], ["2/3", "0"]]
    drawn = pellucid.show_work(KMeans(2, random_state=0), SIX)
    model = KMeans(2, random_state=0).fit(SIX)
    assert np.array(drawn.answer["labels_"]).tolist() == model.labels_.tolist()
    assert "two nearest centers each" in str(work)


def test_workings_refuse_what_no_person_would_do():
    with pytest.raises(ValueError, match="n_clusters must be at most 4 to be worked by hand, got 5"):
        pellucid.show_work(KMeans(5), SIX)
    with pytest.raises(ValueError, match="every cluster must keep a row"):
        pellucid.show_work(KMeans(2, init=[[0, 0], [100, 100]]), SIX)


def test_one_cluster_is_the_mean():
    model = KMeans(1).fit(SIX)
    np.testing.assert_allclose(model.cluster_centers_[0], SIX.mean(axis=0))
    assert model.inertia_ == pytest.approx(float(((SIX - SIX.mean(axis=0)) ** 2).sum()))


def test_an_empty_cluster_gets_the_farthest_row():
    # nobody is nearest to 100; row 10 is the farthest from the center at 0, and alone after that
    model = KMeans(2, init=[[0.0], [100.0]]).fit([[0.0], [1.0], [10.0]])
    assert sorted(model.cluster_centers_.ravel()) == [0.5, 10.0]


def test_the_nearest_of_almost_equal_centers_is_found_by_differences():
    # products lose these digits: the square of 1e9 has an error of 100
    X = np.array([[1e9, 0.0], [1e9, 1.0]])
    centers = np.array([[1e9, 0.6], [1e9, -0.3]])
    assert assign_rows(sparse.csr_array(X), centers).tolist() == [1, 0]
    assert score_rows(sparse.csr_array(X), None, centers) == pytest.approx(0.25)


def test_one_column_is_cut_into_the_best_intervals():
    # 0 1 2 | 10 11: 2 + 1/2; k-means++ may start with two centers on the left, the answer is the same
    for seed in range(5):
        model = KMeans(2, random_state=seed).fit([[10.0], [0.0], [11.0], [1.0], [2.0]])
        assert model.cluster_centers_.ravel().tolist() == pytest.approx([1.0, 10.5])
        assert model.inertia_ == pytest.approx(2.5)
        assert model.certificate_.grade == "optimal"


def test_starts_by_hand():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [8.0, 0.0], [9.0, 0.0], [4.0, 3.0]])
    data = TrainingData(X)
    for seed in range(10):
        rng = np.random.RandomState(seed)
        drawn = furthest_first(data, 2, rng)
        far = max(X, key=lambda row, first=drawn[0]: np.sum((row - first) ** 2))
        assert np.sum((drawn[1] - drawn[0]) ** 2) == np.sum((far - drawn[0]) ** 2)
        parts = random_partition(data, 2, rng)
        assert parts.shape == (2, 2)
        assert len({tuple(row) for row in random_rows(data, 5, rng)}) == 5
    # four rows of two points: 2 log 2 = 1.4 rows are too few, so two different rows are drawn and nothing merges
    doubled = TrainingData(np.array([[0.0], [0.0], [9.0], [9.0]]))
    assert sorted(k_log_k(doubled, 2, np.random.RandomState(0)).ravel()) == [0.0, 9.0]


# properties


@seeds
@pytest.mark.parametrize("init", ["k-means++", "random", "random-partition", "furthest-first", "k-log-k"])
def test_every_start_takes_weights_as_repetitions(seed, init):
    X, counts = blobs(seed, n=50), np.random.default_rng(seed).integers(1, 4, size=50)
    many = np.random.default_rng(seed).permutation(np.repeat(X, counts, axis=0))
    weighted = KMeans(5, init=init, n_init=2, random_state=seed).fit(X, sample_weight=counts)
    repeated = KMeans(5, init=init, n_init=2, random_state=seed).fit(many)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-9)
    assert pellucid.verify(weighted, X, sample_weight=counts).holds


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("n", "p", "k"), [(3000, 3, 6), (2000, 40, 25), (6000, 2, 100), (300, 400, 5)])
def test_bounds_change_nothing_about_the_plain_method(n, p, k, make):
    # every round of the plain method, by squared differences
    X = np.round(blobs(2, n=n, p=p, k=k), 2)
    centers, labels = X[:k].copy(), None
    with pellucid.record():
        model = KMeans(k, init=centers, tol=0.0, max_iter=12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(make(X))
    for state in model.trace_.states:
        np.testing.assert_allclose(state["centers"], centers, rtol=1e-9, atol=1e-12)
        labels = np.stack([np.square(X - center).sum(axis=1) for center in centers], axis=1).argmin(axis=1)
        np.testing.assert_array_equal(state["labels"], labels)
        centers = np.array([X[labels == j].mean(axis=0) for j in range(k)])


def test_the_bits_do_not_depend_on_the_number_of_threads():
    X = blobs(0, n=9000, p=7, k=12)
    many = KMeans(12, random_state=0).fit(X)
    with threadpool_limits(1):
        one = KMeans(12, random_state=0).fit(X)
    np.testing.assert_array_equal(one.cluster_centers_, many.cluster_centers_)
    assert one.inertia_ == many.inertia_


def test_rows_that_single_precision_cannot_square_are_measured():
    X = blobs(1, n=400)
    X[7] *= 1e20
    model = KMeans(4, init=X[[0, 1, 2, 7]], tol=0.0).fit(X)
    exact = np.stack([np.square(X - center).sum(axis=1) for center in model.cluster_centers_], axis=1)
    np.testing.assert_array_equal(model.labels_, exact.argmin(axis=1))
    assert model.labels_[7] == 3


@pytest.mark.property
@seeds
def test_weights_are_repetitions(seed):
    X, counts = blobs(seed, n=60), np.random.default_rng(seed).integers(0, 4, size=60)
    start = X[counts > 0][:3]
    weighted = KMeans(3, init=start).fit(X, sample_weight=counts)
    repeated = KMeans(3, init=start).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-10)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, counts), repeated.labels_)
    assert (weighted.labels_[counts == 0] == -1).all()
    assert pellucid.verify(weighted, X, sample_weight=counts).holds


@seeds
def test_the_objective_never_rises(seed):
    trace = KMeans(6, init="random", n_init=1, random_state=seed, tol=0.0).fit(blobs(seed)).trace_
    assert (np.diff(trace["objective"]) <= 1e-12 * trace["objective"][0]).all()


@given(st.integers(0, 10**6), st.sampled_from([1e-150, 1e-3, 1.0, 1e6, 1e140]))
def test_units_do_not_matter(seed, unit):
    X = blobs(seed % 100, n=40)
    once, scaled = KMeans(3, init=X[:3]).fit(X), KMeans(3, init=unit * X[:3]).fit(unit * X)
    np.testing.assert_array_equal(once.labels_, scaled.labels_)
    np.testing.assert_allclose(scaled.cluster_centers_, unit * once.cluster_centers_, rtol=1e-9, atol=1e-12 * unit)


@seeds
def test_moving_the_data_far_away_changes_nothing(seed):
    X = np.round(blobs(seed), 3)
    near, far = KMeans(4, init=X[:4]).fit(X), KMeans(4, init=X[:4] + 2.0**20).fit(X + 2.0**20)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    assert far.certificate_.holds


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_sparse_and_single_precision_have_the_same_clusters(dtype, make):
    X = np.round(blobs(1) * 64) / 64  # the same numbers in single precision
    X[X < 0] = 0.0
    model = KMeans(4, random_state=0).fit(make(X.astype(dtype)))
    np.testing.assert_array_equal(model.labels_, KMeans(4, random_state=0).fit(X).labels_)
    assert model.cluster_centers_.dtype == dtype
    assert pellucid.verify(model, make(X.astype(dtype))).holds
    np.testing.assert_array_equal(model.predict(make(X.astype(dtype))), model.labels_)


# certificate


@pytest.mark.parametrize(
    ("how", "claim"),
    [
        ("row moved", "assignment"),
        ("label out of range", "assignment"),
        ("center moved", "centers"),
        ("huge", "attributes"),
        ("objective", "objective"),
        ("other data", "centers"),
    ],
)
def test_verify_objects_and_says_to_what(how, claim):
    X = blobs(3)
    model = KMeans(4, random_state=0).fit(X)
    if how == "row moved":
        model.labels_[0] = (model.labels_[0] + 1) % 4
    elif how == "label out of range":
        model.labels_[0] = 17
    elif how == "center moved":
        model.cluster_centers_[0] += 0.1
    elif how == "huge":
        model.cluster_centers_[0] = 1e200
    elif how == "objective":
        model.inertia_ *= 1.0 + 1e-9
    data = X + 0.5 * np.random.default_rng(0).standard_normal(X.shape) if how == "other data" else X
    assert not quiet_proof(model, data)[claim].holds


def test_a_center_without_rows_is_refused_unless_all_rows_lie_in_centers():
    X = blobs(0)
    model = KMeans(4, random_state=0).fit(X)
    far = copy.copy(model).set_params(n_clusters=5)
    far.cluster_centers_ = np.vstack([model.cluster_centers_, X.max(axis=0) + 9.0])
    far.fit_parameters_ = KMeans(5, random_state=0).fit(X).fit_parameters_
    assert [claim.name for claim in quiet_proof(far, X).failed] == ["empty clusters"]
    two = np.repeat([[0.0, 1.0], [2.0, 5.0]], 3, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters have rows"):
        model = KMeans(3, random_state=0).fit(two)
    assert pellucid.verify(model, two).holds
    empty = np.flatnonzero(np.bincount(model.labels_, minlength=3) == 0)
    model.cluster_centers_[empty] += 0.01
    assert not quiet_proof(model, two)["empty clusters"].holds


def test_a_run_cut_short_says_so():
    with pytest.warns(pellucid.UncertifiedWarning, match="centers is .* above its bound .* Raise max_iter"):
        KMeans(8, init="random", n_init=1, max_iter=1, random_state=0).fit(blobs(0))


# peer


@pytest.mark.peer
@seeds
def test_same_start_same_answer_as_scikit_learn(seed):
    X = blobs(seed)
    settings = {"n_clusters": 5, "init": X[seed : seed + 5], "tol": 0.0}
    ours, peer = KMeans(**settings).fit(X), sklearn.cluster.KMeans(**settings).fit(X)
    np.testing.assert_array_equal(ours.labels_, peer.labels_)
    assert ours.inertia_ == pytest.approx(peer.inertia_)
    assert ours.n_iter_ == peer.n_iter_
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-9)
    assert ours.score(X[:9]) == pytest.approx(peer.score(X[:9]))
    np.testing.assert_array_equal(ours.get_feature_names_out(), peer.get_feature_names_out())


@pytest.mark.parametrize("max_iter", [1, 2, 3])
@pytest.mark.parametrize("n", [200, 20_000])  # one loop for all, and bounds
def test_a_run_cut_short_ends_where_scikit_learns_does(max_iter, n):
    X = blobs(1, n=n, p=5, k=6)
    settings = {"n_clusters": 6, "init": X[:6], "tol": 0.0, "max_iter": max_iter}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, peer = KMeans(**settings).fit(X), sklearn.cluster.KMeans(**settings).fit(X)
    np.testing.assert_allclose(ours.cluster_centers_, peer.cluster_centers_)
    np.testing.assert_array_equal(ours.labels_, peer.labels_)


def test_labels_are_those_of_the_nearest_centers_also_where_a_cluster_ends_empty():
    # after one round the third center is the mean of rows 0 and 4, and both are nearer to another one
    X = np.array([[9, 1], [8, 1], [5, 0], [6, 10], [8, 9], [2, 5], [3, 0]], dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KMeans(4, init=[[1, 5], [4, 9], [11, 7], [3, 4]], max_iter=1, tol=0.0).fit(X)
    assert model.labels_.tolist() == [3, 3, 3, 1, 1, 0, 3]
    np.testing.assert_array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_distances_of_sparse_rows_are_those_of_dense_ones(make):
    X = blobs(2)
    X[np.abs(X) < 2.0] = 0.0
    model = KMeans(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(make(X)), model.transform(X), rtol=1e-12)
    exact = np.sqrt(np.square(X[:, None] - model.cluster_centers_).sum(axis=2))
    np.testing.assert_allclose(model.transform(X), exact, rtol=1e-12)


@seeds
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_drawn_starts_end_as_well_as_scikit_learns(seed, init):
    X = blobs(seed)
    ours, peer = (kind(4, init=init, n_init=10, random_state=seed).fit(X) for kind in (KMeans, sklearn.cluster.KMeans))
    assert ours.inertia_ <= 1.01 * peer.inertia_


@seeds
def test_drawn_starts_do_not_depend_on_the_order_of_the_rows(seed):
    X, counts = blobs(seed, n=50), np.random.default_rng(seed).integers(1, 4, size=50)
    many = np.random.default_rng(seed).permutation(np.repeat(X, counts, axis=0))
    for init in ("k-means++", "random"):
        weighted = KMeans(5, init=init, n_init=1, random_state=seed).fit(X, sample_weight=counts)
        repeated = KMeans(5, init=init, n_init=1, random_state=seed).fit(many)
        np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-9)


def test_a_callable_start_is_called_as_scikit_learn_does():
    def first_rows(X, n_clusters, random_state):
        return X[:n_clusters]

    X = blobs(0)
    ours, peer = (
        kind(3, init=first_rows, n_init=1, random_state=0).fit(X) for kind in (KMeans, sklearn.cluster.KMeans)
    )
    np.testing.assert_array_equal(ours.labels_, peer.labels_)


def test_far_rows_are_likelier_starts():
    data = TrainingData(np.array([[0.0], [0.1], [100.0]]))
    drawn = [plus_plus(data, 2, np.random.RandomState(seed)) for seed in range(40)]  # 0.01 against 10,000
    assert all(100.0 in centers for centers in drawn)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": 2.5}, TypeError, "n_clusters must be a whole number, got 2.5"),
        ({"n_clusters": 7}, ValueError, "n_samples must be at least n_clusters, got n_samples=6 and n_clusters=7"),
        ({"tol": -1}, ValueError, "tol must be at least 0, got -1"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, got 0"),
        ({"init": "far"}, ValueError, "init must be one of .*, got 'far'"),
        ({"n_clusters": 2, "init": [[1.0], [2.0]]}, ValueError, r"init must be finite numbers of shape \(2, 2\)"),
        ({"algorithm": "fast"}, ValueError, r"algorithm must be one of \('lloyd', 'elkan'\), got 'fast'"),
    ],
)
def test_bad_settings_get_one_sentence(settings, error, message):
    with pytest.raises(error, match=message):
        KMeans(**{"n_clusters": 2, **settings}).fit(SIX)


def test_a_row_far_away_leaves_the_chances_of_the_others_as_they_are():
    X = np.vstack([np.random.default_rng(0).standard_normal((40_000, 2)), [[1e9, 1e9]]])  # many buckets
    drawn = draw_far_rows(TrainingData(X), 6, np.random.RandomState(0))
    assert 40_000 in drawn.indices
    expected = np.bincount(drawn._bucket, weights=drawn.nearest, minlength=len(drawn._heights))
    np.testing.assert_allclose(drawn._heights, expected, rtol=1e-12)


def test_no_row_is_preferred_once_all_different_ones_are_drawn():
    X = np.repeat(np.random.default_rng(0).standard_normal((30, 3)), 2, axis=0)
    drawn = draw_far_rows(TrainingData(X), 60, np.random.RandomState(0))
    assert drawn._heights.sum() == 0.0
    assert len(set(drawn.indices[30:])) > 10


def test_repeated_rows_and_given_starts_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="only 1 of 2 clusters have rows"):
        model = KMeans(2, random_state=0).fit(np.ones((5, 2)))
    assert model.certificate_.holds
    with pytest.warns(RuntimeWarning, match="n_init should be 1 for given centers, got 3"):
        KMeans(2, init=SIX[:2], n_init=3).fit(SIX)


def test_weightless_rows_alone_are_refused():
    with pytest.raises(ValueError, match="at least one non-zero number"):
        KMeans(1).fit(SIX, sample_weight=np.zeros(6))


def test_given_centers_of_several_kinds_are_kept():
    for start in ([[-1, 3], [2, 0]], ((-1, 3), (2, 0)), np.array([[-1, 3], [2, 0]])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert KMeans(2, init=start).fit(SIX).labels_.tolist() == [1, 0, 1, 0, 0, 1]
