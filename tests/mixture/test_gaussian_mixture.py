"""GaussianMixture: worked by hand, as repetitions, against scikit-learn, and against wrong input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.mixture
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.mixture import GaussianMixture
from pellucid.mixture.covariance_kinds import KINDS
from pellucid.mixture.gaussian_mixture_solvers import NARROW, em_step, mixture_rows
from pellucid.mixture.gaussian_mixture_starts import row_noise
from tests.proving import quiet_proof

SIX = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]])
TYPES = ("full", "tied", "diag", "spherical")
seeds = pytest.mark.parametrize("seed", range(3))
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def blobs(seed, n=300, p=3, k=3, apart=3.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + apart * rng.standard_normal((k, p))[rng.integers(k, size=n)]


def start(X, covariance_type, k=3):
    """Return the same start for everybody: the first rows, equal weights, the precision 1."""
    d = X.shape[1]
    one = {"full": np.tile(np.eye(d), (k, 1, 1)), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    return {
        "covariance_type": covariance_type,
        "weights_init": np.full(k, 1 / k),
        "means_init": X[:k],
        "precisions_init": one[covariance_type],
    }


# by hand


@pytest.mark.by_hand
def test_two_clusters_far_apart_are_two_gaussians():
    # means 2 and 12; variances ((-1)^2 + 0 + 1) / 3 = 2/3, and reg_covar on top
    model = GaussianMixture(2, reg_covar=1e-6, tol=1e-9, random_state=0).fit(SIX)
    order = np.argsort(model.means_.ravel())
    np.testing.assert_allclose(model.means_.ravel()[order], [2, 12], rtol=1e-9)
    np.testing.assert_allclose(model.covariances_.ravel(), [2 / 3 + 1e-6] * 2, rtol=1e-9)
    np.testing.assert_allclose(model.weights_, [0.5, 0.5])
    # log f at its own mean: log(1/2) - log(2 pi 2/3) / 2, less (0 + 1/2 + 1/2) / (3 * 2/3) on average
    assert model.log_likelihood_ == pytest.approx(np.log(0.5) - 0.5 * np.log(2 * np.pi * 2 / 3) - 0.5, abs=1e-5)
    assert model.certificate_.holds


def test_one_component_is_the_mean_and_covariance_in_two_steps():
    X = blobs(0)
    model = GaussianMixture(reg_covar=0).fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, bias=True))
    assert model.n_iter_ == 2
    assert model.converged_


def test_workings_agree_with_the_fit_to_all_digits():
    X = [[1], [2], [3], [7], [9]]
    given = {"weights_init": [0.5, 0.5], "means_init": [[1], [9]], "precisions_init": [[[1]], [[1]]], "reg_covar": 0}
    work = pellucid.show_work(GaussianMixture(2, **given), X)
    model = GaussianMixture(2, **given).fit(X)
    for name in ("weights_", "means_", "covariances_"):
        found = np.array(work.answer[name], dtype=float).ravel()
        np.testing.assert_allclose(found, getattr(model, name).ravel(), rtol=1e-12)
    assert float(work.answer["lower_bound_"]) == pytest.approx(model.lower_bound_, rel=1e-13)
    assert "2.52613e−15…" in work.text()  # exp(-32) / 2 / sqrt(2 pi)
    for covariance_type in TYPES:
        work = pellucid.show_work(GaussianMixture(2, covariance_type=covariance_type, random_state=0), X)
        assert "more than rounding" not in work.text()
        assert max(map(len, work.text().splitlines())) <= 80


def test_workings_refuse_what_no_person_would_do():
    with pytest.raises(ValueError, match="n_components must be 1 to 3 to be worked by hand, got 4"):
        pellucid.show_work(GaussianMixture(4), SIX)
    with pytest.raises(ValueError, match="at most 10 rows and 2 features"):
        pellucid.show_work(GaussianMixture(2), blobs(0, n=11))


@every_type
@pytest.mark.parametrize("k", [1, 2, 3])
def test_workings_of_two_columns_and_up_to_three_components(covariance_type, k):
    X = [[0, 0], [1, 2], [-1, -1], [2, 3], [-2, 1], [3, 1]]
    model = GaussianMixture(k, covariance_type=covariance_type, random_state=0, reg_covar=0.1)
    work = pellucid.show_work(model, X, new=[[1, 1], [-3, 0]])
    assert "more than rounding" not in work.text()
    assert work.answer["predicted"] == model.fit(X).predict([[1, 1], [-3, 0]]).tolist()
    assert max(map(len, work.text().splitlines())) <= 80


# properties


@pytest.mark.property
@every_type
@seeds
def test_weights_are_repetitions(seed, covariance_type):
    X, counts = blobs(seed, n=80), np.random.default_rng(seed).integers(0, 4, size=80)
    many = np.repeat(X, counts, axis=0)
    for init in ("kmeans", "random"):
        settings = {"covariance_type": covariance_type, "init_params": init, "random_state": seed, "max_iter": 3}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weighted = GaussianMixture(3, **settings).fit(X, sample_weight=counts)
            repeated = GaussianMixture(3, **settings).fit(np.random.default_rng(0).permutation(many))
        np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-8)
        np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, atol=1e-8)
        assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_)


@every_type
@seeds
def test_the_likelihood_never_falls(seed, covariance_type):
    model = GaussianMixture(3, covariance_type=covariance_type, reg_covar=0, tol=1e-8, max_iter=2000, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = model.fit(blobs(seed)).trace_
    assert (np.diff(trace["objective"]) <= 1e-12).all()
    np.testing.assert_array_equal(-trace["objective"], model.lower_bounds_)


@every_type
@pytest.mark.parametrize("unit", [1e-150, 1e-3, 1e6, 1e140])
def test_units_do_not_matter(covariance_type, unit):
    X = blobs(1)
    given = start(X, covariance_type)
    plain = GaussianMixture(3, **given, reg_covar=0).fit(X)
    given |= {"means_init": unit * given["means_init"], "precisions_init": given["precisions_init"] / unit / unit}
    scaled = GaussianMixture(3, **given, reg_covar=0).fit(unit * X)
    np.testing.assert_allclose(scaled.means_, unit * plain.means_, rtol=1e-9, atol=1e-9 * unit)
    np.testing.assert_allclose(scaled.covariances_, unit * unit * plain.covariances_, rtol=1e-8, atol=1e-9 * unit**2)
    np.testing.assert_allclose(scaled.predict_proba(unit * X), plain.predict_proba(X), atol=1e-9)
    assert pellucid.verify(scaled, unit * X).holds


@every_type
def test_a_large_offset_costs_no_digits(covariance_type):
    X = np.round(blobs(2) * 1024) / 1024  # so that adding 2^27 is exact
    near = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    far = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X + 2.0**27)
    np.testing.assert_allclose(far.means_ - 2.0**27, near.means_, atol=1e-6)
    np.testing.assert_allclose(far.covariances_, near.covariances_, atol=1e-6)
    assert far.log_likelihood_ == pytest.approx(near.log_likelihood_, abs=1e-6)
    assert pellucid.verify(far, X + 2.0**27).holds


@every_type
def test_the_fast_and_the_careful_pass_agree(covariance_type, monkeypatch):
    from pellucid.proofs.training_data import TrainingData

    X, weight = blobs(3, n=500), np.random.default_rng(3).uniform(0.5, 2.0, 500)
    data = TrainingData(X, weight=weight, given=(X, None, weight))
    model = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X, sample_weight=weight)
    problem = mixture_rows(data, covariance_type, 1e-6)
    found = problem.standardized(model._components())
    fast = em_step(problem, found)
    monkeypatch.setattr("pellucid.mixture.gaussian_mixture_solvers.NARROW", 0.0)
    careful = em_step(problem, found)
    assert NARROW > 0.0
    assert fast[0] == pytest.approx(careful[0], rel=1e-12)
    for name in ("weights", "means", "covariances", "factors"):
        np.testing.assert_allclose(getattr(fast[1], name), getattr(careful[1], name), rtol=1e-9, atol=1e-12)


@every_type
def test_factors_and_covariances_belong_together(covariance_type):
    model = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(blobs(4))
    kind = KINDS[covariance_type]
    np.testing.assert_allclose(kind.factors(model.covariances_), model.precisions_cholesky_, rtol=1e-9, atol=1e-12)
    again = kind.covariances_of_factors(kind.factors_of_precisions(model.precisions_))
    np.testing.assert_allclose(again, model.covariances_, rtol=1e-9, atol=1e-12)


@every_type
def test_the_number_of_threads_changes_no_bit(covariance_type):
    X = blobs(5, n=20_000)
    models = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            models.append(GaussianMixture(3, **start(X, covariance_type), max_iter=3, tol=1.0).fit(X))
    for name in ("weights_", "means_", "covariances_", "lower_bounds_"):
        np.testing.assert_array_equal(getattr(models[0], name), getattr(models[1], name))


def test_a_component_without_rows_stays_where_it_is():
    X = blobs(0, k=1)
    far = {"weights_init": [0.5, 0.5], "means_init": [[0.0] * 3, [1e4] * 3], "precisions_init": np.ones((2, 3))}
    model = GaussianMixture(2, covariance_type="diag", **far).fit(X)
    np.testing.assert_allclose(model.means_[1], 1e4)
    np.testing.assert_allclose(model.covariances_[1], 1.0)
    assert model.weights_[1] < 1e-300


def test_equal_rows_have_equal_noise_whatever_stands_around_them():
    X = blobs(0, n=6)
    noise = row_noise(np.vstack([X, X[::-1]]), 4, 7)
    np.testing.assert_array_equal(noise[:, :6], noise[:, :5:-1])
    many = row_noise(np.random.default_rng(0).random((20_000, 2)), 3, 0)
    np.testing.assert_allclose(many.mean(axis=1), 0.5, atol=0.01)
    assert np.abs(np.corrcoef(many) - np.eye(3)).max() < 0.03


def test_recording_keeps_means_and_covariances_of_every_step():
    with pellucid.record():
        model = GaussianMixture(2, random_state=0).fit(SIX)
    assert len(model.trace_.states) == model.n_iter_
    np.testing.assert_array_equal(model.trace_.states[-1]["means"], model.means_)
    np.testing.assert_array_equal(model.trace_.states[-1]["covariances"], model.covariances_)


# certificate


def test_a_saddle_is_told_from_a_maximum():
    # two equal components stay equal for ever, though the rows are longer than wide
    X = np.random.default_rng(0).standard_normal((300, 2)) * [5.0, 1.0]
    same = {"weights_init": [0.5, 0.5], "means_init": [X.mean(axis=0)] * 2, "precisions_init": [1.0, 1.0]}
    with pytest.warns(pellucid.UncertifiedWarning, match="curvature is .* may have ended at a saddle"):
        saddle = GaussianMixture(2, covariance_type="spherical", **same).fit(X)
    assert saddle.converged_
    # along the longer axis a shift of the means grows by its variance over the mean variance: 25 / 13
    assert saddle.certificate_["curvature"].value > 25 / 13 - 1 - 0.1
    other = GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X)
    assert other.log_likelihood_ > saddle.log_likelihood_


@pytest.mark.parametrize(
    ("name", "claim"),
    [("means_", "mean"), ("weights_", "weights"), ("covariances_", "covariance"), ("precisions_", "precisions")],
)
@every_type
def test_verify_objects_and_says_to_what(name, claim, covariance_type):
    X = blobs(3)
    model = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    value = getattr(model, name).copy()
    value.flat[0] *= 1.0 + 1e-8
    setattr(model, name, value)
    assert not quiet_proof(model, X)[claim].holds


def test_verify_sees_components_that_changed_places_in_one_attribute():
    X = blobs(3)
    model = GaussianMixture(3, covariance_type="diag", random_state=0).fit(X)
    model.covariances_, model.precisions_ = model.covariances_[::-1], model.precisions_[::-1]
    model.precisions_cholesky_ = model.precisions_cholesky_[::-1]
    assert not quiet_proof(model, X)["likelihood"].holds


def test_a_run_cut_short_says_so():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GaussianMixture(5, max_iter=1, random_state=0).fit(blobs(0))
    said = [str(one.message) for one in caught if one.category is pellucid.UncertifiedWarning]
    assert any("gain is" in one and "did not converge" in one for one in said)


def test_collapsed_components_are_reported():
    X = np.vstack([np.zeros((20, 2)), blobs(0, p=2)])
    given = {"weights_init": [1 / 3] * 3, "means_init": [[0, 0], [3, 3], [-3, -3]]}
    given["precisions_init"] = [np.eye(2) * 1e4, np.eye(2), np.eye(2)]
    with pytest.warns(ConvergenceWarning, match="1 of 3 components have collapsed"):
        model = GaussianMixture(3, **given, max_iter=1000).fit(X)
    assert "collapsed" in pellucid.verify(model, X).reason
    with pytest.raises(ValueError, match="ill-defined empirical covariance"):
        GaussianMixture(2, reg_covar=0, random_state=0).fit(np.repeat(SIX[[0, 5]], 5, axis=0))


# peer


@pytest.mark.peer
@every_type
@seeds
def test_same_start_same_steps_as_scikit_learn(seed, covariance_type):
    X = blobs(seed)
    settings = {**start(X, covariance_type), "tol": 1e-6, "max_iter": 1000}
    ours, peer = GaussianMixture(3, **settings).fit(X), sklearn.mixture.GaussianMixture(3, **settings).fit(X)
    assert ours.n_iter_ == peer.n_iter_
    np.testing.assert_allclose(ours.lower_bounds_, peer.lower_bounds_, rtol=1e-9)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    assert ours.bic(X) == pytest.approx(peer.bic(X))
    assert ours.aic(X) == pytest.approx(peer.aic(X))
    ours.random_state = peer.random_state = 0
    for one, two in zip(ours.sample(20), peer.sample(20), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6)


@every_type
@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_drawn_starts_end_as_well_as_scikit_learns(init, covariance_type):
    X = blobs(0)
    settings = {"covariance_type": covariance_type, "init_params": init, "n_init": 5, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, peer = (kind(3, **settings).fit(X) for kind in (GaussianMixture, sklearn.mixture.GaussianMixture))
    assert ours.lower_bound_ >= peer.lower_bound_ - 0.1


def test_a_flat_start_is_left_where_scikit_learn_stops():
    # two almost equal components: the likelihood hardly rises at first, as they move apart by a factor in each step
    X = np.random.default_rng(0).standard_normal((300, 2)) * [5.0, 1.0]
    means = X.mean(axis=0) + np.array([[1e-3, 0.0], [-1e-3, 0.0]])
    given = {"covariance_type": "spherical", "weights_init": [0.5, 0.5], "means_init": means}
    given["precisions_init"] = [2 / X.var(axis=0).sum()] * 2
    ours, peer = (kind(2, **given).fit(X) for kind in (GaussianMixture, sklearn.mixture.GaussianMixture))
    assert peer.converged_
    assert ours.lower_bound_ > peer.lower_bound_ + 0.1
    assert ours.certificate_.holds


def test_a_warm_start_goes_on():
    X = blobs(1, apart=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = GaussianMixture(3, random_state=0, max_iter=6, tol=0).fit(X)
        parts = GaussianMixture(3, random_state=0, max_iter=3, tol=0, warm_start=True).fit(X).fit(X)
    np.testing.assert_allclose(parts.means_, whole.means_, atol=1e-9)
    assert parts.lower_bound_ == pytest.approx(whole.lower_bound_, rel=1e-12)
    with pytest.raises(ValueError, match="X must have the columns of the last fit"):
        parts.fit(X[:, :2])


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1, got 0"),
        ({"n_components": 7}, ValueError, "n_samples must be at least n_components, got n_components = 7, n_samples"),
        ({"covariance_type": "round"}, ValueError, "covariance_type must be one of .*, got 'round'"),
        ({"tol": -1}, ValueError, "tol must be at least 0, got -1"),
        ({"reg_covar": -1}, ValueError, "reg_covar must be at least 0, got -1"),
        ({"init_params": "far"}, ValueError, "init_params must be one of .*, got 'far'"),
        ({"weights_init": [0.5, 0.6]}, ValueError, "weights_init must add up to 1, got 1.1"),
        ({"weights_init": [-0.5, 1.5]}, ValueError, "weights_init must be between 0 and 1, got -0.5"),
        ({"weights_init": [1.0]}, ValueError, r"weights_init must be finite numbers of shape \(2,\)"),
        ({"means_init": [[1.0], [np.nan]]}, ValueError, r"means_init must be finite numbers of shape \(2, 1\)"),
        ({"precisions_init": [[[1.0]], [[-1.0]]]}, ValueError, "precisions_init must be symmetric and positive"),
        ({"covariance_type": "diag", "precisions_init": [[1.0], [0.0]]}, ValueError, "must be above 0, got 0"),
    ],
)
def test_bad_settings_get_one_sentence(settings, error, message):
    with pytest.raises(error, match=message):
        GaussianMixture(**{"n_components": 2, **settings}).fit(SIX)


def test_bad_data_get_one_sentence():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        GaussianMixture().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="NaN"):
        GaussianMixture(2).fit([[1.0], [np.nan], [2.0]])
    with pytest.raises(ValueError, match="at least one non-zero number"):
        GaussianMixture(2).fit(SIX, sample_weight=np.zeros(6))
    with pytest.raises(ValueError, match="n_samples must be at least 1, got 0"):
        GaussianMixture(2, random_state=0).fit(SIX).sample(0)


def test_fewer_different_rows_than_components_are_a_mixture_all_the_same():
    X = np.repeat(blobs(0)[:3], 20, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianMixture(5, random_state=0).fit(X)
    assert np.isfinite(model.log_likelihood_)
    assert pellucid.verify(model, X).holds
