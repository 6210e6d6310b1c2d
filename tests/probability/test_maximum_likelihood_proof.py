from dataclasses import replace

import numpy as np
import pytest

from pellucid.probability import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gaussian,
    Logistic,
    MultivariateGaussian,
    certify_fit,
)
from tests.probability.samples_of import DENSITIES, PRIORS, fit

with_prior = pytest.mark.parametrize(("name", "prior"), [*((n, None) for n in DENSITIES), *PRIORS.items()])
FIELDS = {
    "bernoulli": ["p"],
    "binomial": ["p"],
    "categorical": ["probabilities"],
    "multinomial": ["probabilities"],
    "gaussian": ["mean", "variance"],
    "full": ["mean", "covariance"],
    "diagonal": ["mean", "covariance"],
    "spherical": ["mean", "covariance"],
    "logistic": ["location", "scale"],
}


def nudged(density, field, by):
    """Return the density with one parameter a little off, still a valid one."""
    value = np.array(getattr(density, field), dtype=float)
    if field == "probabilities":
        value[0] += by
        value[1] -= by
    elif field in ("mean", "location"):
        value = value + by
    else:
        value = value * (1 + by)
    return replace(density, **{field: float(value) if value.ndim == 0 and field != "covariance" else value})


# by hand


def test_the_score_of_a_coin_by_hand():
    # counts 3 and 1, p = 0.7: 3 - 4 * 0.7 = 0.2, relative to the 4 tosses
    assert certify_fit(Bernoulli(0.7), [1, 1, 0, 1])["score"].value == pytest.approx(0.05)


def test_the_score_of_a_gaussian_by_hand():
    # numbers 0 and 2: mean 1 and variance 1. At variance 2 the spread is half of what it should be
    certificate = certify_fit(Gaussian(1, 2), [0, 2])
    assert certificate["mean score"].value == 0
    assert certificate["spread score"].value == pytest.approx(0.5)


def test_a_boundary_needs_data_that_push_there():
    assert certify_fit(Bernoulli(0.0), [0, 0]).holds
    assert certify_fit(Bernoulli(1.0), [1, 1], prior=Beta(3, 0.5)).holds
    assert not certify_fit(Bernoulli(0.0), [0, 1]).holds
    assert not certify_fit(Categorical([0, 1]), [0, 1]).holds
    assert certify_fit(Categorical([0, 1]), [1, 1], prior=Dirichlet([1, 2])).holds


def test_rows_that_cannot_occur_break_the_certificate():
    assert certify_fit(Bernoulli(0.5), [0, 1, 2])["support"].value == 1
    assert certify_fit(Categorical([0.5, 0.5], ["a", "b"]), ["a", "b", "c"], [1, 1, 3])["support"].value == 3


def test_the_gap_of_a_logistic_bounds_what_can_be_gained():
    x = np.random.default_rng(0).logistic(1, 2, 200)
    best = Logistic.fit(x)
    for factor in (1.001, 1.1, 2.0):
        other = Logistic(best.location + 0.1, best.scale * factor)
        lost = (best.log_prob(x) - other.log_prob(x)).mean()
        gap = certify_fit(other, x)["gap"].value
        assert lost <= gap <= 4 * lost


def test_nothing_is_claimed_about_other_classes():
    class Gaussian:  # the same name, but not ours
        mean = variance = 1.0

    certificate = certify_fit(Gaussian(), [0, 2])
    assert certificate.grade == "none"
    assert "not known here" in certificate.reason


# properties


@with_prior
@pytest.mark.parametrize("by", [1e-6, -1e-6, 1e-3])
def test_a_nudged_parameter_breaks_the_certificate(name, prior, by):
    X = DENSITIES[name].sample(200, 5)
    fitted = fit(name, X, prior=prior)
    for field in FIELDS[name]:
        assert not certify_fit(nudged(fitted, field, by), X, prior=prior).holds


@with_prior
def test_other_data_or_another_prior_break_the_certificate(name, prior):
    X = DENSITIES[name].sample(200, 5)
    fitted = fit(name, X, prior=prior)
    assert not certify_fit(fitted, X[:-1], prior=prior).holds
    if prior is not None:
        assert not certify_fit(fitted, X).holds


def test_a_shrunken_mean_is_certified_with_its_prior():
    X, prior = np.array([1.0, 2.0, 6.0]), Gaussian(0, 1)
    fitted = Gaussian.fit(X, prior=prior, variance=3.0)
    assert certify_fit(fitted, X, prior=prior).holds
    assert not certify_fit(replace(fitted, mean=1.50001), X, prior=prior).holds


@pytest.mark.parametrize("mean", [0.0, 1e8, 1e12])
def test_rounding_of_large_means_is_no_failure(mean):
    X = mean + np.random.default_rng(0).standard_normal((1000, 2))
    assert certify_fit(MultivariateGaussian.fit(X), X).holds
    assert certify_fit(Gaussian.fit(X[:, 0]), X[:, 0]).holds
    assert certify_fit(Logistic.fit(X[:, 0]), X[:, 0]).holds


# errors


def test_refuses_a_prior_that_does_not_belong():
    with pytest.raises(TypeError, match="prior must be the conjugate prior that the density was fitted with, got Beta"):
        certify_fit(Gaussian(0, 1), [0, 2], prior=Beta(1, 1))
    with pytest.raises(TypeError, match="prior must be None for Logistic"):
        certify_fit(Logistic(0, 1), [0, 2], prior=Beta(1, 1))
