"""Mixture: worked by hand, of every kind of density, of a user's own, against scikit-learn, and against wrong input."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import sklearn.mixture

import pellucid
from pellucid.core.kinds.pages import NotSaveableError
from pellucid.mixture import GaussianMixture, Mixture
from pellucid.probability import Bernoulli, Categorical, Gaussian, Logistic, MultivariateGaussian
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(3))


def blobs(seed, n=300, p=3, k=3, apart=3.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + apart * rng.standard_normal((k, p))[rng.integers(k, size=n)]


def mixed(seed, n=200):
    rng = np.random.default_rng(seed)
    kind = rng.integers(2, size=n)
    return pd.DataFrame(
        {
            "color": np.where(rng.random(n) < np.where(kind, 0.8, 0.3), "red", "blue"),
            "size": rng.standard_normal(n) + 4.0 * kind,
            "sold": (rng.random(n) < np.where(kind, 0.9, 0.2)).astype(float),
        }
    ), kind


@dataclass(frozen=True)
class Exponential:
    """A user's own density: waiting times."""

    rate: float

    @classmethod
    def fit(cls, X, sample_weight=None, *, prior=None):
        return cls(float(1.0 / np.average(np.ravel(X), weights=sample_weight)))

    def log_prob(self, X):
        x = np.ravel(X)
        return np.where(x >= 0, np.log(self.rate) - self.rate * x, -np.inf)

    def sample(self, n, random_state=None):
        return random_state.exponential(1 / self.rate, n)

    @property
    def mean(self):
        return 1 / self.rate

    @property
    def variance(self):
        return self.rate**-2

    def entropy(self):
        return 1 - np.log(self.rate)


# by hand


@pytest.mark.by_hand
def test_one_step_of_two_coins():
    # from 3/4 and 1/4: the rows 1, 1, 0 have r = 3/4, 3/4, 1/4; the first coin gets (3/4 + 3/4) / (7/4) = 6/7
    start = [Bernoulli(0.75), Bernoulli(0.25)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Mixture(start, max_iter=1).fit([[1.0], [1.0], [0.0]])
    np.testing.assert_allclose(model.weights_, [7 / 12, 5 / 12])
    assert model.densities_[0][0].p == pytest.approx(6 / 7)
    assert model.densities_[1][0].p == pytest.approx((0.25 + 0.25) / 1.25)
    assert model.lower_bound_ == pytest.approx(np.log(0.5))  # each value has probability 1/2 to begin with


def test_one_component_is_the_fit_of_its_densities():
    frame, _ = mixed(0)
    model = Mixture(n_components=1, var_smoothing=0).fit(frame)
    color, size, sold = model.densities_[0]
    assert isinstance(color, Categorical)
    np.testing.assert_allclose(color.probabilities, [(frame.color == "blue").mean(), (frame.color == "red").mean()])
    assert size.mean == pytest.approx(frame["size"].mean())
    assert size.variance == pytest.approx(frame["size"].var(ddof=0))
    assert sold.p == pytest.approx(frame.sold.mean())


# properties


@pytest.mark.property
@seeds
def test_weights_are_repetitions(seed):
    X, counts = blobs(seed, n=60), np.random.default_rng(seed).integers(1, 4, size=60)
    start = [MultivariateGaussian(X[k], np.eye(3)) for k in range(3)]
    weighted = Mixture(start, n_components=3, max_iter=500).fit(X, sample_weight=counts)
    repeated = Mixture(start, n_components=3, max_iter=500).fit(np.repeat(X, counts, axis=0))
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-10)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-9)
    assert pellucid.verify(weighted, X, sample_weight=counts).holds


@seeds
@pytest.mark.parametrize("densities", ["auto", "gaussian", "logistic", "multivariate_gaussian", {0: "logistic"}])
def test_the_likelihood_never_falls(seed, densities):
    model = Mixture(densities, n_components=3, random_state=seed, max_iter=500).fit(blobs(seed))
    assert (np.diff(model.lower_bounds_) >= -1e-9).all()
    assert model.certificate_.holds


@seeds
def test_mixed_tables_are_told_apart(seed):
    frame, kind = mixed(seed)
    model = Mixture(random_state=0, n_init=3).fit(frame)
    found = model.predict(frame)
    assert max((found == kind).mean(), (found != kind).mean()) > 0.93
    assert pellucid.verify(model, frame).holds
    drawn, labels = model.sample(50)
    assert drawn.shape == (50, 3)
    assert set(drawn[:, 0]) <= {"red", "blue"}
    assert len(labels) == 50


def test_a_category_that_nobody_saw_has_density_zero_and_the_prior():
    frame, _ = mixed(0)
    model = Mixture(random_state=0).fit(frame)
    new = frame[:1].assign(color="green")
    assert np.isneginf(model.score_samples(new))
    np.testing.assert_allclose(model.predict_proba(new)[0], model.weights_)


def test_components_may_be_of_different_kinds():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 300), rng.logistic(12, 1, 300)])[:, None]
    model = Mixture([Gaussian(1, 1), Logistic(10, 1)], tol=1e-8).fit(X)
    normal, logistic = (densities[0] for densities in model.densities_)
    assert isinstance(logistic, Logistic)
    assert normal.mean == pytest.approx(0, abs=0.2)
    assert logistic.location == pytest.approx(12, abs=0.2)
    assert pellucid.verify(model, X).holds


# a user's own density


def test_a_users_own_density_is_fitted_verified_and_not_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.exponential(1, 500), rng.exponential(20, 500)])[:, None]
    model = Mixture([Exponential(2.0), Exponential(0.1)], max_iter=1000).fit(X)
    assert model.densities_[0][0].mean == pytest.approx(1, rel=0.3)
    assert model.densities_[1][0].mean == pytest.approx(20, rel=0.2)
    proof = pellucid.verify(model, X)
    assert proof.holds
    assert "user's own density" in proof.reason
    with pytest.raises(NotSaveableError, match="densities"):
        pellucid.save(model, tmp_path / "model.safetensors")
    by_class = Mixture({0: Exponential}, random_state=0, max_iter=1000, tol=1e-3).fit(X)
    assert sorted(d[0].mean for d in by_class.densities_)[1] > 10


# certificate


def test_verify_objects_to_other_kinds_and_other_numbers():
    X = blobs(0)
    model = Mixture("gaussian", random_state=0).fit(X)
    model.densities_[0][1] = Gaussian(model.densities_[0][1].mean, 1.001 * model.densities_[0][1].variance)
    assert not quiet_proof(model, X)["likelihood"].holds
    model.densities_[0][1] = Logistic(0.0, 1.0)
    assert not quiet_proof(model, X)["densities"].holds


def test_a_run_cut_short_says_so():
    with (
        pytest.warns(pellucid.UncertifiedWarning, match="gain is .* Raise max_iter"),
        pytest.warns(pellucid.UncertifiedWarning, match="score is .* Raise max_iter"),
    ):
        Mixture("gaussian", max_iter=2, tol=1e-9, random_state=0).fit(blobs(0, apart=1.0))


# peer


@pytest.mark.peer
@seeds
def test_same_start_same_answer_as_gaussian_mixtures(seed):
    X = blobs(seed)
    start = [MultivariateGaussian(X[k], np.eye(3)) for k in range(3)]
    ours = Mixture(start, n_components=3, tol=1e-9, max_iter=2000, var_smoothing=0.0).fit(X)
    given = {"weights_init": np.full(3, 1 / 3), "means_init": X[:3], "precisions_init": np.tile(np.eye(3), (3, 1, 1))}
    for kind in (GaussianMixture, sklearn.mixture.GaussianMixture):
        other = kind(3, **given, tol=1e-9, max_iter=2000, reg_covar=0.0).fit(X)
        assert ours.log_likelihood_ == pytest.approx(other.score(X), rel=1e-7)
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-3)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1, got 0"),
        ({"n_components": 9}, ValueError, "n_samples must be at least n_components, got n_samples=5"),
        ({"densities": "normal"}, ValueError, "density must be one of .*, got 'normal'"),
        ({"densities": {7: "gaussian"}}, ValueError, "densities must name columns of X, got 7"),
        ({"densities": [Gaussian, Gaussian]}, TypeError, "densities must be densities to start from"),
        ({"densities": [Gaussian(0, 1)]}, ValueError, "n_components must be the number of given densities, 1, got 2"),
        ({"tol": -1}, ValueError, "tol must be at least 0, got -1"),
        ({"densities": int}, TypeError, "density must have log_prob.* got int without"),
    ],
)
def test_bad_settings_get_one_sentence(settings, error, message):
    with pytest.raises(error, match=message):
        Mixture(**settings).fit([[1.0], [2.0], [4.0], [7.0], [8.0]])


def test_bad_data_get_one_sentence():
    with pytest.raises(ValueError, match="NaN"):
        Mixture().fit([[1.0], [np.nan], [2.0]])
    with pytest.raises(ValueError, match="n_components must leave each component rows"):
        Mixture("bernoulli").fit([[1.0], [2.0], [0.0], [1.0]])
    with pytest.raises(ValueError, match="at least one non-zero number"):
        Mixture().fit([[1.0], [2.0], [3.0]], sample_weight=[0, 0, 0])
