import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, xlogy
from scipy.stats import gamma, norm

from pellucid import UncertifiedWarning
from pellucid.probability import Gaussian, hoeffding_interval, maximum_likelihood
from pellucid.probability.estimation import curvature
from pellucid.proofs.probability.estimation import certify_estimate


def log_normal(x, theta):
    """Log density with mean theta_0 and deviation theta_1; impossible unless the deviation is positive."""
    if theta[1] <= 0:
        return np.full(len(x), -np.inf)
    return norm.logpdf(x, theta[0], theta[1])


def log_gamma(x, theta):
    shape, rate = theta
    return xlogy(shape, rate) + (shape - 1) * np.log(x) - rate * x - gammaln(shape)


# by hand


def test_poisson_rate_and_its_standard_error():
    # rate 3 from 3 counts: information n / rate = 1, so the standard error is 1
    found = maximum_likelihood(lambda x, t: x * np.log(t[0]) - t[0], [1.0], np.array([2, 4, 3]))
    assert found.parameters == pytest.approx([3.0], rel=1e-8)
    assert found.standard_errors == pytest.approx([1.0], rel=1e-6)
    np.testing.assert_allclose(found.interval(0.95), [[3 - 1.959964, 3 + 1.959964]], rtol=1e-5)
    assert found.log_likelihood == pytest.approx(9 * np.log(3) - 9)


def test_a_log_prior_gives_the_posterior_mode():
    # normal with known variance 3 and prior N(0, 1): half way, information 3/3 + 1
    found = maximum_likelihood(
        lambda x, t: -((x - t[0]) ** 2) / 6, [0.0], np.array([1.0, 2.0, 6.0]), log_prior=lambda t: -(t[0] ** 2) / 2
    )
    assert found.parameters == pytest.approx([1.5], rel=1e-7)
    assert found.information == pytest.approx(np.array([[2.0]]), rel=1e-6)
    assert found.log_likelihood == pytest.approx(-((0.5**2 + 0.5**2 + 4.5**2) / 6))


def test_hoeffding_half_width():
    low, high = hoeffding_interval([0, 1] * 500, 0, 1, level=0.95)
    half = np.sqrt(np.log(40) / 2000)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))
    assert hoeffding_interval([0.5], 0, 1) == (0.0, 1.0)


# properties


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (1e4, 1.0), (0.0, 1e-5), (-3.0, 1e5)])
def test_normal_estimates_are_the_closed_form_in_any_units(mean, deviation):
    x = np.random.default_rng(0).normal(mean, deviation, 300)
    exact, n = Gaussian.fit(x), len(x)
    s = np.sqrt(exact.variance)
    found = maximum_likelihood(log_normal, [np.median(x), 1.3 * s], x)
    np.testing.assert_allclose(found.parameters, [exact.mean, s], atol=1e-6 * s)
    np.testing.assert_allclose(found.standard_errors, [s / np.sqrt(n), s / np.sqrt(2 * n)], rtol=1e-5)
    assert found.certificate.holds
    assert found.certificate.grade == "stationary"


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    x, weight = rng.gamma(3, 0.5, 40), rng.integers(0, 4, 40)
    weighted = maximum_likelihood(log_gamma, [1.0, 1.0], x, weight)
    repeated = maximum_likelihood(log_gamma, [1.0, 1.0], np.repeat(x, weight))
    np.testing.assert_allclose(weighted.parameters, repeated.parameters, rtol=1e-6)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-5)


def test_impossible_rows_of_weight_zero_do_not_matter():
    x = np.array([1.0, 2.0, -1.0])
    with np.errstate(invalid="ignore"):
        found = maximum_likelihood(log_gamma, [1.0, 1.0], x, [1, 1, 0])
    assert found.certificate.holds


def test_intervals_cover_at_their_level():
    rng, hits = np.random.default_rng(0), 0
    for _ in range(60):
        x = rng.gamma(3, 0.5, 400)
        low, high = maximum_likelihood(log_gamma, [2.0, 1.0], x).interval(0.9)[1]
        hits += low < 2.0 < high
    # binomial with 60 draws at 0.9: below 40 with probability under 1e-6
    assert hits >= 40


def test_differences_find_a_known_hessian():
    A = np.array([[4.0, 1.0], [1.0, 9.0]])
    curve = curvature(lambda t: 0.5 * (t - 1) @ A @ (t - 1) + np.exp(t[0] - 1), np.array([1.0, 1.0]))
    np.testing.assert_allclose(curve.gradient, [1.0, 0.0], atol=1e-8)
    np.testing.assert_allclose(curve.hessian, A + np.diag([1.0, 0.0]), rtol=1e-7)


def test_a_point_beside_the_maximum_is_not_certified():
    x = np.random.default_rng(0).normal(2, 1, 100)
    loss = lambda t: -log_normal(x, t).sum()  # noqa: E731  (two names for one line)
    best = maximum_likelihood(log_normal, [1.0, 1.0], x).parameters
    assert certify_estimate(loss, best).holds
    # one hundredth of a standard error: 0.01^2 / 2 nats
    off = certify_estimate(loss, best + [0.01 * best[1] / 10, 0])
    assert off["newton decrement"].value == pytest.approx(5e-5, rel=1e-2)
    assert not off.holds


@given(st.lists(st.floats(-2, 3), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_hoeffding_contains_the_sample_mean_and_grows_with_the_level(values, level):
    low, high = hoeffding_interval(values, -2, 3, level)
    wider = hoeffding_interval(values, -2, 3, (1 + level) / 2)
    assert wider[0] <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= wider[1]


def test_a_least_likely_point_is_not_certified():
    # minus the loss is largest nowhere near: the loss curves downward at 0
    certificate = certify_estimate(lambda t: -float(t @ t), np.zeros(2))
    assert certificate["identification"].value == np.inf
    assert certificate["newton decrement"].value == np.inf
    saddle = certify_estimate(lambda t: float(t[0] ** 2 - t[1] ** 2), np.zeros(2))
    assert saddle["identification"].value == np.inf


# peer


def test_gamma_estimates_agree_with_scipy():
    x = np.random.default_rng(3).gamma(3, 0.5, 500)
    shape, _, scale = gamma.fit(x, floc=0)
    found = maximum_likelihood(log_gamma, [1.0, 1.0], x)
    np.testing.assert_allclose(found.parameters, [shape, 1 / scale], rtol=1e-5)


# errors


def test_says_that_parameters_are_not_identified():
    x = np.random.default_rng(0).normal(size=50)
    with pytest.warns(UncertifiedWarning, match="identification is .*not identified: drop one"):
        found = maximum_likelihood(lambda x, t: -((x - t[0] - t[1]) ** 2) / 2, [0.0, 0.0], x)
    assert np.isnan(found.standard_errors).all()
    assert not found.certificate["identification"].holds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((log_normal, [0.0, -1.0], np.ones(3)), "x0 must have a finite log likelihood, got -inf at"),
        ((lambda x, t: 0.0, [0.0], np.ones(3)), "log_density must return one number per observation"),
        ((log_normal, [[0.0]], np.ones(3)), "x0 must have 1 dimension"),
        ((log_normal, [0.0, np.nan], np.ones(3)), "x0 must be finite"),
        ((log_normal, [0.0, 1.0], np.ones(3), [0, 0, 0]), "at least one non-zero number"),
    ],
)
def test_refuses_a_bad_start_with_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        maximum_likelihood(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], 1, 0), "low and high must be finite numbers, low below high"),
        (([2.0], 0, 1), "values must be between low=0 and high=1, got 2.0"),
        (([0.5], 0, 1, 95), "level must be above 0 and below 1, got 95. Give 0.95 for 95 %"),
        (([], 0, 1), "X must have at least one row"),
    ],
)
def test_hoeffding_refuses_with_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        hoeffding_interval(*arguments)
