"""SoftKMeans: worked by hand, as repetitions, against Gaussian mixtures, and against wrong input."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.mixture
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.cluster import KMeans, SoftKMeans
from pellucid.cluster.soft_kmeans_solvers import soft_answers
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(4))


def blobs(seed, n=200, p=3, k=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 4.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


# by hand


@pytest.mark.by_hand
def test_one_step_from_two_centers():
    # from -1 and 1 with beta 1: exponents of the row 1 are -2 and 0, so r_2 = 1 / (1 + e^-2); of -1 the mirror image
    share = 1 / (1 + np.exp(-2))
    model = SoftKMeans(2, init=[[-1.0], [1.0]], max_iter=1, tol=10.0).fit([[-1.0], [1.0]])
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [1 - 2 * share, 2 * share - 1])
    np.testing.assert_allclose(model.cluster_sizes_, [1, 1])
    # the density of each row at the start: (1 + e^-2) / 2 / sqrt(2 pi)
    assert model.lower_bound_ == pytest.approx(np.log((1 + np.exp(-2)) / 2) - 0.5 * np.log(2 * np.pi))


def test_stiff_clusters_are_those_of_k_means():
    X = blobs(0)
    hard, soft = KMeans(4, init=X[:4], tol=0.0).fit(X), SoftKMeans(4, init=X[:4], beta=1e9).fit(X)
    np.testing.assert_array_equal(soft.labels_, hard.labels_)
    np.testing.assert_allclose(soft.cluster_centers_, hard.cluster_centers_, atol=1e-9)
    assert pellucid.verify(soft, X).holds


def test_loose_clusters_meet_in_the_mean():
    X = blobs(1)
    model = SoftKMeans(3, beta=0.01, random_state=0, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, np.tile(X.mean(axis=0), (3, 1)), atol=1e-3)


# properties


@pytest.mark.property
@seeds
def test_weights_are_repetitions(seed):
    X, counts = blobs(seed, n=60), np.random.default_rng(seed).integers(0, 4, size=60)
    for init in ("k-means++", X[counts > 0][:3]):
        weighted = SoftKMeans(3, init=init, random_state=0).fit(X, sample_weight=counts)
        repeated = SoftKMeans(3, init=init, random_state=0).fit(np.repeat(X, counts, axis=0))
        np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-8)
        np.testing.assert_array_equal(np.repeat(weighted.labels_, counts), repeated.labels_)
        assert (weighted.labels_[counts == 0] == -1).all()
        assert pellucid.verify(weighted, X, sample_weight=counts).holds


@seeds
def test_the_likelihood_never_falls_and_shares_add_up_to_one(seed):
    X = blobs(seed)
    model = SoftKMeans(6, random_state=seed, beta=0.5).fit(X)
    assert (np.diff(model.lower_bounds_) >= -1e-12).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    assert model.score(X) == pytest.approx(model.log_likelihood_)


@pytest.mark.parametrize("unit", [1e-140, 1e-3, 1e5, 1e140])
def test_units_go_with_the_stiffness(unit):
    X = blobs(2)
    plain = SoftKMeans(3, init=X[:3]).fit(X)
    scaled = SoftKMeans(3, init=unit * X[:3], beta=unit**-2).fit(unit * X)
    np.testing.assert_allclose(scaled.cluster_centers_, unit * plain.cluster_centers_, rtol=1e-7, atol=1e-9 * unit)
    assert pellucid.verify(scaled, unit * X).holds


def test_a_large_offset_costs_no_digits():
    X = np.round(blobs(3) * 1024) / 1024
    near, far = SoftKMeans(3, init=X[:3]).fit(X), SoftKMeans(3, init=X[:3] + 2.0**27).fit(X + 2.0**27)
    np.testing.assert_allclose(far.cluster_centers_ - 2.0**27, near.cluster_centers_, atol=1e-6)
    assert pellucid.verify(far, X + 2.0**27).holds


def test_the_number_of_threads_changes_no_bit():
    X, found = blobs(0, n=20_000), []
    for limit in (1, 2):
        with threadpool_limits(limit):
            found.append(SoftKMeans(3, init=X[:3], max_iter=3, tol=10.0).fit(X).cluster_centers_)
    np.testing.assert_array_equal(*found)


def test_recording_keeps_the_centers_of_every_step():
    X = blobs(0)
    with pellucid.record():
        model = SoftKMeans(3, random_state=0).fit(X)
    assert len(model.trace_.states) == model.n_iter_
    np.testing.assert_array_equal(model.trace_.states[-1]["centers"], model.cluster_centers_)


# certificate


def test_a_saddle_is_told_from_a_maximum():
    X = np.random.default_rng(0).standard_normal((300, 2)) * [5.0, 1.0]
    with pytest.warns(pellucid.UncertifiedWarning, match="curvature is .* saddle"):
        model = SoftKMeans(2, init=np.tile(X.mean(axis=0), (2, 1))).fit(X)
    # a shift of the two centers along the longer axis grows by its variance, in units of 1 / beta
    assert model.certificate_["curvature"].value == pytest.approx(X[:, 0].var() - 1, rel=0.01)


@pytest.mark.parametrize(("name", "claim"), [("cluster_centers_", "mean"), ("cluster_sizes_", "sizes")])
def test_verify_objects_and_says_to_what(name, claim):
    X = blobs(3)
    model = SoftKMeans(4, random_state=0).fit(X)
    getattr(model, name).flat[1] *= 1.0 + 1e-8
    assert not quiet_proof(model, X)[claim].holds
    model = SoftKMeans(4, random_state=0).fit(X)
    model.labels_[5] = (model.labels_[5] + 1) % 4
    assert not quiet_proof(model, X)["assignment"].holds


def test_a_run_cut_short_says_so():
    with (
        pytest.warns(pellucid.UncertifiedWarning, match="gain is .* Raise max_iter"),
        pytest.warns(pellucid.UncertifiedWarning, match="step is .* Raise max_iter"),
    ):
        SoftKMeans(6, init="random", n_init=1, max_iter=1, random_state=0).fit(blobs(0))


# peer


@pytest.mark.peer
@seeds
def test_densities_and_shares_are_those_of_a_gaussian_mixture(seed):
    X, beta = blobs(seed), 0.7
    model = SoftKMeans(3, beta=beta, random_state=seed).fit(X)
    peer = sklearn.mixture.GaussianMixture(3, covariance_type="spherical")
    peer.weights_, peer.means_ = np.full(3, 1 / 3), model.cluster_centers_
    peer.covariances_, peer.precisions_cholesky_ = np.full(3, 1 / beta), np.full(3, beta**0.5)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X))
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    logs, nearest = soft_answers(X, model.cluster_centers_, beta, keep=False)
    np.testing.assert_array_equal(nearest, model.labels_)
    assert logs.mean() == pytest.approx(model.log_likelihood_)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": 7}, ValueError, "n_samples must be at least n_clusters, got n_samples=6"),
        ({"beta": 0}, ValueError, "beta must be above 0, got 0"),
        ({"init": "far"}, ValueError, "init must be one of .*, got 'far'"),
        ({"init": [[1.0, 2.0]]}, ValueError, r"init must be finite numbers of shape \(2, 1\)"),
        ({"tol": -1}, ValueError, "tol must be at least 0, got -1"),
    ],
)
def test_bad_settings_get_one_sentence(settings, error, message):
    with pytest.raises(error, match=message):
        SoftKMeans(**{"n_clusters": 2, **settings}).fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])


def test_equal_rows_are_one_cluster():
    model = SoftKMeans(2, random_state=0).fit(np.ones((5, 2)))
    np.testing.assert_allclose(model.cluster_centers_, 1.0)
    with pytest.raises(ValueError, match="NaN"):
        SoftKMeans(1).fit([[np.nan], [1.0]])
