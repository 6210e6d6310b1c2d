import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.probability import Density, certify_fit, find_density
from pellucid.probability.density import DENSITIES as NAMES
from tests.probability.samples_of import DENSITIES, PRIORS, fit, parameters

each = pytest.mark.parametrize("name", DENSITIES)
with_prior = pytest.mark.parametrize(("name", "prior"), [*((n, None) for n in DENSITIES), *PRIORS.items()])


class Exponential:
    """A user's own density: exponential waiting times."""

    def __init__(self, rate):
        self.rate = rate

    mean = property(lambda self: 1 / self.rate)
    variance = property(lambda self: self.rate**-2)

    @classmethod
    def fit(cls, X, sample_weight=None, *, prior=None):
        return cls(1 / np.average(X, weights=sample_weight))

    def log_prob(self, X):
        return np.log(self.rate) - self.rate * np.asarray(X)

    def sample(self, n, random_state=None):
        return np.random.default_rng(random_state).exponential(1 / self.rate, n)

    def entropy(self):
        return 1 - np.log(self.rate)


# by hand


@pytest.mark.parametrize("name", NAMES)
def test_every_name_finds_a_complete_density(name):
    assert find_density(find_density(name)) is find_density(name)


def test_a_users_own_class_is_a_density():
    assert find_density(Exponential) is Exponential
    assert isinstance(Exponential(1.0), Density)


@each
def test_every_density_satisfies_the_protocol(name):
    assert isinstance(DENSITIES[name], Density)


# properties


@with_prior
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_weights_are_repetitions(name, prior, seed):
    rng = np.random.default_rng(seed)
    X, weight = DENSITIES[name].sample(12, rng), rng.integers(1, 4, 12)
    order = rng.permutation(int(weight.sum()))
    weighted = fit(name, X, weight, prior)
    repeated = fit(name, np.repeat(X, weight, axis=0)[order], prior=prior)
    np.testing.assert_allclose(parameters(weighted), parameters(repeated), rtol=1e-9, atol=1e-12)


@with_prior
def test_rows_of_weight_zero_change_no_bit(name, prior):
    rng = np.random.default_rng(3)
    X, weight = DENSITIES[name].sample(30, rng), np.r_[rng.random(20) + 0.1, np.zeros(10)]
    if X.dtype.kind == "f":
        X[25] = np.nan
    assert fit(name, X, weight, prior) == fit(name, X[:20], weight[:20], prior)


@with_prior
@pytest.mark.parametrize("n", [5, 40, 3000])
def test_every_fit_is_certified(name, prior, n):
    X = DENSITIES[name].sample(n, n)
    weight = np.random.default_rng(n).random(n)
    for w in (None, weight):
        certificate = certify_fit(fit(name, X, w, prior), X, w, prior)
        assert certificate.holds, certificate
        assert certificate.grade in ("exact", "optimal")


@each
def test_draws_have_the_stated_moments_and_entropy(name):
    density, rng = DENSITIES[name], np.random.default_rng(0)
    X = density.sample(200_000, rng)
    # minus the mean log density estimates the entropy; 6 standard errors: false alarm below 1e-8
    surprise = -density.log_prob(X)
    assert abs(surprise.mean() - density.entropy()) < 6 * surprise.std() / np.sqrt(len(X)) + 1e-12
    if X.dtype.kind in "iuf":
        error = np.sqrt(np.atleast_1d(density.variance) / len(X))
        assert np.all(np.abs(X.mean(axis=0) - density.mean) < 6 * error)
        spread = ((X - density.mean) ** 2).std(axis=0) / np.sqrt(len(X))
        assert np.all(np.abs(X.var(axis=0) - density.variance) < 6 * np.atleast_1d(spread) + 1e-3)


@each
def test_same_seed_same_bits(name):
    first, second = DENSITIES[name].sample(50, 7), DENSITIES[name].sample(50, np.random.default_rng(7))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, DENSITIES[name].sample(50, 8))
    assert len(DENSITIES[name].sample(0)) == 0
    DENSITIES[name].sample(3, np.random.RandomState(0))


@each
def test_equal_parameters_make_equal_densities(name):
    density = DENSITIES[name]
    again = pickle.loads(pickle.dumps(density))
    assert again == density
    assert hash(again) == hash(density)
    assert density != fit(name, density.sample(20, 0))
    with pytest.raises(AttributeError):
        density.mean = density.mean


@each
def test_a_missing_value_has_no_log_prob(name):
    X = DENSITIES[name].sample(3, 0)
    if X.dtype.kind in "iuf":
        X = X.astype(float)
        X[1] = np.nan
        assert np.array_equal(np.isnan(DENSITIES[name].log_prob(X)), [False, True, False])


@pytest.mark.parametrize("name", ["gaussian", "full", "diagonal", "spherical", "logistic", "binomial"])
def test_single_precision_is_read_as_double(name):
    X = DENSITIES[name].sample(500, 1).astype(np.float32)
    double = fit(name, X.astype(np.float64))
    np.testing.assert_allclose(parameters(fit(name, X)), parameters(double), rtol=1e-12)
    assert double.log_prob(X).dtype == np.float64
    np.testing.assert_allclose(double.log_prob(X), double.log_prob(X.astype(np.float64)), rtol=1e-12)


# errors


@each
def test_refuses_data_that_say_nothing(name):
    X = DENSITIES[name].sample(4, 0)
    with pytest.raises(ValueError, match="X must have at least one row, got 0"):
        fit(name, X[:0])
    with pytest.raises(ValueError, match="at least one non-zero number"):
        fit(name, X, np.zeros(4))
    with pytest.raises(ValueError, match="sample_weight must be at least 0"):
        fit(name, X, [1, -1, 1, 1])
    with pytest.raises(ValueError):
        fit(name, X, [1, 1])


@each
def test_refuses_nan_and_names_the_row(name):
    X = DENSITIES[name].sample(4, 0)
    if X.dtype.kind in "iuf":
        X = X.astype(float)
        X[2] = np.nan
        with pytest.raises(ValueError, match="X must hold finite numbers.*got nan in row 2"):
            fit(name, X)


@each
def test_refuses_a_prior_of_another_kind(name):
    with pytest.raises(TypeError, match="prior .*must be"):
        fit(name, DENSITIES[name].sample(5, 0), prior="flat")


@each
def test_refuses_a_negative_number_of_draws_and_a_strange_seed(name):
    with pytest.raises(ValueError, match="n must be at least 0, got -1"):
        DENSITIES[name].sample(-1)
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        DENSITIES[name].sample(1, "seed")


def test_names_what_a_users_class_lacks():
    class Half:
        log_prob = sample = fit = staticmethod(lambda: None)
        mean = 0

    with pytest.raises(TypeError, match="got Half without entropy and variance"):
        find_density(Half)
    with pytest.raises(ValueError, match="density must be one of .*'gaussian'.*got 'normal'"):
        find_density("normal")
    with pytest.raises(TypeError, match="density must be a name or a class"):
        find_density(Exponential(1.0))
