"""MiniBatchKMeans: one batch by hand, repetitions, against scikit-learn, in parts, and wrong input."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.cluster
from scipy import sparse

import pellucid
from pellucid.cluster import KMeans, MiniBatchKMeans, k_means, kmeans_plusplus
from pellucid.cluster.kmeans.minibatch_kmeans_solvers import BatchState, learn_batch
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(4))


def blobs(seed, n=600, p=3, k=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 8.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


# by hand


@pytest.mark.by_hand
def test_a_center_is_the_mean_of_all_rows_it_was_ever_given():
    # counts 3 and 1: row 4 pulls 0 to (3*0 + 4)/4 = 1, rows 10 and 12 pull 10 to (10 + 10 + 12)/3
    state = BatchState(np.array([[0.0], [10.0]]), np.array([3.0, 1.0]))
    objective = learn_batch(np.array([[4.0], [10.0], [12.0]]), None, state, 0.0, np.random.RandomState(0))
    assert objective == pytest.approx(16.0 + 0.0 + 4.0)
    assert state.centers.ravel().tolist() == pytest.approx([1.0, 32 / 3])
    assert state.counts.tolist() == [4.0, 3.0]


def test_a_center_with_too_few_rows_is_drawn_anew():
    state = BatchState(np.array([[0.0], [1e6]]), np.array([100.0, 0.0]))
    learn_batch(np.array([[1.0], [2.0], [3.0], [4.0]]), None, state, 0.01, np.random.RandomState(0))
    assert state.centers[1, 0] in (1.0, 2.0, 3.0, 4.0)
    assert state.counts[1] == state.counts[0]


# properties


@pytest.mark.property
@seeds
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_weights_are_repetitions_wherever_they_stand(seed, make):
    X, counts = np.round(blobs(seed, n=80), 3), np.random.default_rng(seed).integers(1, 4, size=80)
    many = np.random.default_rng(seed).permutation(np.repeat(X, counts, axis=0))
    settings = {"n_clusters": 4, "random_state": seed, "batch_size": 30}
    weighted = MiniBatchKMeans(**settings).fit(make(X), sample_weight=counts)
    repeated = MiniBatchKMeans(**settings).fit(make(many))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-9)
    assert pellucid.verify(weighted, make(X), sample_weight=counts).holds


def test_the_same_seed_gives_the_same_bits():
    once, again = (MiniBatchKMeans(4, random_state=3).fit(blobs(0)) for _ in range(2))
    np.testing.assert_array_equal(once.cluster_centers_, again.cluster_centers_)


# certificate


@pytest.mark.parametrize(
    ("change", "claim"), [("label", "assignment"), ("center", "objective"), ("inertia", "objective")]
)
def test_verify_objects_and_says_to_what(change, claim):
    X = blobs(1, n=80)
    model = MiniBatchKMeans(4, random_state=0).fit(X)
    assert pellucid.verify(model, X).grade == "bounded"
    if change == "label":
        model.labels_[0] = (model.labels_[0] + 1) % 4
    elif change == "center":
        model.cluster_centers_[0] += 0.01
    else:
        model.inertia_ *= 1.001
    assert not quiet_proof(model, X)[claim].holds


@seeds
@pytest.mark.parametrize("name", ["rows drawn at random", "one center moved"])
def test_centers_that_no_batches_lead_to_are_refused(seed, name):
    X = np.random.default_rng(seed).standard_normal((400, 3))
    model = MiniBatchKMeans(4, random_state=seed).fit(X)
    assert pellucid.verify(model, X).holds
    if name == "one center moved":  # by twice the spread of its rows
        model.cluster_centers_[0] += 2.0 * X[model.labels_ == 0].std(axis=0)
    else:
        model.cluster_centers_ = X[np.random.default_rng(seed).permutation(400)[:4]]
    gaps = np.square(X[:, None] - model.cluster_centers_).sum(axis=2)
    model.labels_, model.inertia_ = gaps.argmin(axis=1).astype(np.int32), float(gaps.min(axis=1).sum())
    proof = quiet_proof(model, X)
    assert [claim.name for claim in proof.failed] == ["step"]


def test_after_one_pass_nothing_is_claimed_of_the_centers():
    model = MiniBatchKMeans(4, max_iter=1, batch_size=100, random_state=0).fit(blobs(0))
    assert model.certificate_.grade == pellucid.verify(model, blobs(0)).grade == "none"


def test_without_labels_nothing_is_claimed():
    model = MiniBatchKMeans(4, compute_labels=False, random_state=0).fit(blobs(0))
    assert not hasattr(model, "labels_")
    assert model.certificate_.grade == "none"
    assert model.inertia_ > 0.0


# peer


@pytest.mark.peer
@seeds
def test_as_good_as_scikit_learns(seed):
    X = blobs(seed, n=4000)
    ours, peer = (
        kind(4, random_state=seed, n_init=3).fit(X) for kind in (MiniBatchKMeans, sklearn.cluster.MiniBatchKMeans)
    )
    best = KMeans(4, n_init=5, random_state=0).fit(X).inertia_
    assert ours.inertia_ <= 1.05 * max(peer.inertia_, best)


def test_parts_lead_to_the_same_centers_as_scikit_learns():
    X = blobs(2, n=300)
    ours, peer = (
        kind(4, init=X[:4], n_init=1, random_state=0, reassignment_ratio=0.0)
        for kind in (MiniBatchKMeans, sklearn.cluster.MiniBatchKMeans)
    )
    for start in range(0, 300, 100):
        ours.partial_fit(X[start : start + 100])
        peer.partial_fit(X[start : start + 100])
    np.testing.assert_allclose(ours.cluster_centers_, peer.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(ours.labels_, peer.labels_)
    assert ours.n_steps_ == peer.n_steps_ == 3
    assert len(ours.trace_) == 3


def test_the_functions_do_what_the_estimators_do():
    X = blobs(0)
    centers, labels, inertia, n_iter = k_means(X, 4, random_state=0, return_n_iter=True)
    model = KMeans(4, random_state=0).fit(X)
    np.testing.assert_array_equal(centers, model.cluster_centers_)
    np.testing.assert_array_equal(labels, model.labels_)
    assert (inertia, n_iter) == (model.inertia_, model.n_iter_)
    drawn, rows = kmeans_plusplus(X, 5, random_state=1, n_local_trials=1)
    np.testing.assert_array_equal(drawn, X[rows])
    weight = np.zeros(len(X))
    weight[[3, 9]] = 1.0
    assert sorted(kmeans_plusplus(X, 2, sample_weight=weight, random_state=0)[1]) == [3, 9]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_trials", [4, 9, 20, 60])
def test_any_number_of_rows_may_be_tried_for_a_center(form, n_trials):
    corners = 100.0 * np.random.default_rng(0).normal(size=(12, 3))
    X = form(np.repeat(corners, 30, axis=0) + np.random.default_rng(1).normal(size=(360, 3)))
    for seed in range(10):
        _, rows = kmeans_plusplus(X, 12, random_state=seed, n_local_trials=n_trials)
        assert sorted(rows // 30) == list(range(12))
    with pytest.raises(ValueError, match="n_local_trials must be at least 1, got 0"):
        kmeans_plusplus(X, 12, n_local_trials=0)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 700}, "n_samples must be at least n_clusters, got n_samples=600 and n_clusters=700"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"reassignment_ratio": -1}, "reassignment_ratio must be at least 0, got -1"),
        ({"init_size": 0}, "init_size must be"),
    ],
)
def test_bad_settings_get_one_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        MiniBatchKMeans(**{"n_clusters": 4, **settings}).fit(blobs(0))


def test_a_start_from_too_few_rows_is_warned_of():
    with pytest.warns(RuntimeWarning, match="init_size should be at least n_clusters, got init_size=2"):
        MiniBatchKMeans(4, init_size=2, random_state=0).fit(blobs(0))


def test_a_part_that_is_refused_leaves_the_model_as_it_was():
    model = MiniBatchKMeans(2, random_state=0).partial_fit(blobs(0, n=50))
    before = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.ones((5, 7)))
    np.testing.assert_array_equal(model.cluster_centers_, before)
