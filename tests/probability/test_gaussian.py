import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pellucid.probability import (
    Gaussian,
    Logistic,
    MultivariateGaussian,
    NormalInverseGamma,
    NormalInverseWishart,
    certify_fit,
)


def rows(seed, n=50, p=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + rng.standard_normal(p)


# by hand


def test_variance_is_divided_by_n():
    assert Gaussian.fit([1, 2, 6]) == Gaussian(3.0, 14 / 3)
    assert Gaussian.fit([[1], [2], [6]]) == Gaussian(3.0, 14 / 3)


def test_the_fitted_variance_is_too_small_by_one_nth():
    assert Gaussian(0, 4).fitted_variance_bias(10) == -0.4
    density = MultivariateGaussian([0, 0], [[2, 1], [1, 2]])
    np.testing.assert_allclose(density.fitted_covariance_bias(4), [[-0.5, -0.25], [-0.25, -0.5]])


def test_a_gaussian_prior_shrinks_the_mean_when_the_variance_is_known():
    # the mean of 3 numbers of variance 3 is as good as the prior: half way between 0 and 3
    assert Gaussian.fit([1, 2, 6], prior=Gaussian(0, 1), variance=3.0) == Gaussian(1.5, 3.0)


def test_normal_inverse_gamma_mode_by_hand():
    # kappa 1 at 0, one number 2: mean 1, scale 1 + 1/2 * 1/2 * 4 = 2, shape 3/2, mode 2 / 3
    fitted = Gaussian.fit([2.0], prior=NormalInverseGamma(0, 1, 1, 1))
    assert (fitted.mean, fitted.variance) == pytest.approx((1.0, 2 / 3))


def test_one_row_and_a_prior_make_a_covariance():
    # scale 6 I + 1/2 (2, 0)(2, 0)', degrees 2 + 1, divided by 3 + 2 + 2
    fitted = MultivariateGaussian.fit([[2.0, 0.0]], prior=NormalInverseWishart([0, 0], 1, 2, [[6, 0], [0, 6]]))
    np.testing.assert_allclose(fitted.mean, [1, 0])
    np.testing.assert_allclose(fitted.covariance, [[8 / 7, 0], [0, 6 / 7]])


def test_kinds_of_covariance_by_hand():
    X = [[0, 0], [2, 0], [0, 4], [2, 4]]
    assert MultivariateGaussian.fit(X, kind="diagonal") == MultivariateGaussian([1, 2], [1.0, 4.0])
    assert MultivariateGaussian.fit(X, kind="spherical") == MultivariateGaussian([1, 2], 2.5)
    np.testing.assert_array_equal(MultivariateGaussian([1, 2], 2.5).full_covariance, [[2.5, 0], [0, 2.5]])


def test_far_tails_are_exact():
    assert Gaussian(0, 1).log_prob([1e8])[0] == pytest.approx(-0.5e16, rel=1e-15)
    assert Gaussian(0, 1e-300).log_prob([1e-142])[0] == pytest.approx(-0.5e16, rel=1e-12)
    assert Gaussian(0, 1).log_prob([np.inf, -np.inf, 1e200]).tolist() == [-np.inf] * 3
    vector = MultivariateGaussian([0, 0], [[2, 1], [1, 2]])
    assert vector.log_prob([[1e8, 0.0]])[0] == pytest.approx(-0.5 * 2 / 3 * 1e16, rel=1e-12)
    assert vector.log_prob([[np.inf, np.inf], [0, -np.inf], [1e300, 0]]).tolist() == [-np.inf] * 3
    assert Logistic(0, 1).log_prob([1e5, -1e5]).tolist() == [-1e5, -1e5]
    assert Logistic(0, 1).log_prob([np.inf])[0] == -np.inf


# properties


def test_a_large_mean_costs_no_digits():
    z = np.random.default_rng(0).integers(-8, 9, (5000, 3)) / 8.0  # exact in binary, also next to 1e8
    near, far = (MultivariateGaussian.fit(z + shift) for shift in (0.0, 1e8))
    np.testing.assert_allclose(far.covariance, near.covariance, rtol=1e-12, atol=1e-12)
    assert Gaussian.fit(z[:, 0] + 1e8).variance == pytest.approx(Gaussian.fit(z[:, 0]).variance, rel=1e-12)
    assert Logistic.fit(z[:, 0] + 1e8).scale == pytest.approx(Logistic.fit(z[:, 0]).scale, rel=1e-9)


def test_neighboring_numbers_have_a_variance():
    x = 1e8 + np.array([0.0, 1.0, 1.0, 0.0]) * 2.0**-20
    assert Gaussian.fit(x).variance == 2.0**-42
    assert MultivariateGaussian.fit(np.c_[x, [0, 0, 1, 1]]).covariance[0, 0] == pytest.approx(2.0**-42, rel=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(1e-60, 1e60), st.floats(-5, 5))
def test_fits_follow_a_change_of_units(seed, unit, shift):
    x = np.random.default_rng(seed).standard_normal(20)
    for kind, location, scale in (
        (Gaussian, "mean", lambda d: np.sqrt(d.variance)),
        (Logistic, "location", lambda d: d.scale),
    ):
        plain, moved = kind.fit(x), kind.fit(unit * (x + shift))
        assert scale(moved) == pytest.approx(unit * scale(plain), rel=1e-8)
        assert getattr(moved, location) / unit == pytest.approx(getattr(plain, location) + shift, abs=1e-8)


@pytest.mark.parametrize("n", [2, 255, 256, 1000, 70_001])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_blocks_of_any_size_give_the_covariance(n, layout):
    X = np.asarray(rows(n, n, 1 if n == 2 else 4), order=layout)
    fitted = MultivariateGaussian.fit(X)
    np.testing.assert_allclose(fitted.mean, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        fitted.covariance, np.cov(X, rowvar=False, bias=True).reshape(X.shape[1], -1), rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(MultivariateGaussian.fit(X, kind="diagonal").covariance, X.var(axis=0), rtol=1e-11)


@pytest.mark.parametrize("n", [100, 30_000])
def test_weighted_blocks_give_the_weighted_covariance(n):
    X, weight = rows(0, n), np.random.default_rng(1).random(n)
    wanted = np.cov(X, rowvar=False, aweights=weight, ddof=0)
    np.testing.assert_allclose(MultivariateGaussian.fit(X, weight).covariance, wanted, rtol=1e-11)
    np.testing.assert_allclose(MultivariateGaussian.fit(X, weight, kind="diagonal").covariance, wanted.diagonal())
    assert Gaussian.fit(X[:, 0], weight).variance == pytest.approx(wanted[0, 0], rel=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_a_posterior_mode_beats_its_neighbors(seed):
    rng = np.random.default_rng(seed)
    X, prior = rows(seed, 8, 2), NormalInverseWishart([0, 0], 2.0, 4.0, [[2.0, 0.5], [0.5, 1.0]])
    best = MultivariateGaussian.fit(X, prior=prior)

    def log_posterior(mean, covariance):
        return MultivariateGaussian(mean, covariance).log_prob(X).sum() + prior.log_prob(mean, covariance)

    top = log_posterior(best.mean, best.covariance)
    for _ in range(20):
        nudge = 0.01 * rng.standard_normal((2, 2))
        assert log_posterior(best.mean + 0.01 * rng.standard_normal(2), best.covariance + nudge + nudge.T) < top


@pytest.mark.parametrize("kind", ["diagonal", "spherical"])
def test_a_gamma_posterior_mode_beats_its_neighbors(kind):
    rng = np.random.default_rng(1)
    X, prior = rows(1, 8, 2), NormalInverseGamma(0.5, 2.0, 2.0, 1.5)
    best = MultivariateGaussian.fit(X, prior=prior, kind=kind)

    def log_posterior(mean, variance):
        value = MultivariateGaussian(mean, variance).log_prob(X).sum()
        if kind == "diagonal":
            return value + prior.log_prob(mean, variance).sum()
        # one variance: its density once, and the normal density of each mean given it
        normal = [Gaussian(prior.location, variance / prior.pseudo_count).log_prob([m])[0] for m in mean]
        return value + stats.invgamma(prior.shape, scale=prior.scale).logpdf(variance) + sum(normal)

    top = log_posterior(best.mean, best.covariance)
    for _ in range(20):
        moved = best.covariance * np.exp(0.01 * rng.standard_normal(best.covariance.shape))
        assert log_posterior(best.mean + 0.01 * rng.standard_normal(2), moved) < top


# peer


@pytest.mark.parametrize("seed", range(3))
def test_multivariate_gaussian_agrees_with_scipy(seed):
    X = rows(seed, 300, 5)
    fitted = MultivariateGaussian.fit(X)
    peer = stats.multivariate_normal(fitted.mean, fitted.covariance)
    np.testing.assert_allclose(fitted.log_prob(X), peer.logpdf(X), rtol=1e-10)
    assert fitted.entropy() == pytest.approx(float(peer.entropy()))
    for kind in ("diagonal", "spherical"):
        fitted = MultivariateGaussian.fit(X, kind=kind)
        peer = stats.multivariate_normal(fitted.mean, fitted.full_covariance)
        np.testing.assert_allclose(fitted.log_prob(X), peer.logpdf(X), rtol=1e-10)
        assert fitted.entropy() == pytest.approx(float(peer.entropy()))


def test_gaussian_and_logistic_agree_with_scipy():
    x = np.random.default_rng(0).logistic(3, 2, 400)
    gaussian, logistic = Gaussian.fit(x), Logistic.fit(x)
    assert (gaussian.mean, np.sqrt(gaussian.variance)) == pytest.approx(stats.norm.fit(x))
    np.testing.assert_allclose(gaussian.log_prob(x), stats.norm(gaussian.mean, np.sqrt(gaussian.variance)).logpdf(x))
    assert (logistic.location, logistic.scale) == pytest.approx(stats.logistic.fit(x), rel=1e-4)
    peer = stats.logistic(logistic.location, logistic.scale)
    np.testing.assert_allclose(logistic.log_prob(x), peer.logpdf(x))
    assert logistic.entropy() == pytest.approx(float(peer.entropy()))
    assert (logistic.mean, logistic.variance) == pytest.approx(peer.stats())
    assert logistic.log_prob(x).sum() >= stats.logistic(*stats.logistic.fit(x)).logpdf(x).sum()


def test_priors_agree_with_scipy():
    prior = NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
    wanted = stats.invgamma(3.0, scale=4.0).logpdf(1.7) + stats.norm(1.0, np.sqrt(1.7 / 2)).logpdf(0.3)
    assert prior.log_prob([0.3], [1.7])[0] == pytest.approx(wanted)
    assert np.isneginf(prior.log_prob([0.3], [-1.0])[0])
    scale, sigma, mean = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([[1.0, -0.2], [-0.2, 2.0]]), np.array([0.5, 1.0])
    wishart = NormalInverseWishart([0, 0], 3.0, 4.5, scale)
    wanted = stats.invwishart(4.5, scale).logpdf(sigma) + stats.multivariate_normal([0, 0], sigma / 3).logpdf(mean)
    assert wishart.log_prob(mean, sigma) == pytest.approx(wanted)


def test_samples_of_priors_have_their_means():
    means, variances = NormalInverseGamma(1.0, 2.0, 6.0, 4.0).sample(40_000, 0)
    # variance of an inverse gamma: (4/5)^2 / 4; six standard errors
    assert abs(variances.mean() - 0.8) < 6 * 0.4 / 200
    assert abs(means.mean() - 1.0) < 6 * np.sqrt(0.4) / 200
    centers, covariances = NormalInverseWishart([1.0, 2.0], 2.0, 12.0, np.eye(2)).sample(20_000, 0)
    assert np.abs(covariances.mean(axis=0) - np.eye(2) / 9).max() < 0.01
    assert np.abs(centers.mean(axis=0) - [1, 2]).max() < 6 * np.sqrt(1 / 18 / 20_000)


# errors


@pytest.mark.parametrize("X", [[5.0], [0.1, 0.1, 0.1], [1e8] * 7])
def test_refuses_equal_values_and_names_the_remedy(X):
    with pytest.raises(ValueError, match="variance must be above 0, got 0: all values of X equal.*NormalInverseGamma"):
        Gaussian.fit(X)
    with pytest.raises(ValueError, match="scale must be above 0, got 0: all values of X equal"):
        Logistic.fit(X)
    assert Gaussian.fit(X, prior=NormalInverseGamma(0, 1, 1, 1)).variance > 0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.eye(3), "covariance must be positive definite.*combination of others.*NormalInverseWishart"),
        (np.c_[np.arange(9.0), np.arange(9.0)], "covariance must be positive definite"),
        (np.c_[np.arange(9.0), np.full(9, 0.1)], "variances above 0, got 0 for column 1.*kind='diagonal'"),
        ([[1.0, 2.0]], "variances above 0, got 0 for column 0"),
        ([1.0, 2.0], "X must have rows and columns, got shape"),
        ([[1e200, 0.0], [0.0, 1.0]], "at most 1e.151, got 1e.200 in row 0. Change its units"),
    ],
)
def test_refuses_singular_data_with_a_remedy(X, message):
    with pytest.raises(ValueError, match=message):
        MultivariateGaussian.fit(X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0, 0), "variance must be above 0, got 0"),
        (lambda: Gaussian(np.inf, 1), "mean must be a finite number"),
        (lambda: Logistic(0, -1), "scale must be above 0, got -1"),
        (lambda: MultivariateGaussian([0, 0], [[1, 2], [2, 1]]), "covariance must be positive definite"),
        (lambda: MultivariateGaussian([0, 0], [[1, 0.5], [0.2, 1]]), "covariance must be symmetric"),
        (lambda: MultivariateGaussian([0, 0], [[1, 0, 0], [0, 1, 0]]), "covariance must be square"),
        (lambda: MultivariateGaussian([0, 0], [1, 0]), "covariance must be above 0, got 0"),
        (lambda: MultivariateGaussian([0, 0], [1, 1, 1]), "covariance must have 2 rows"),
        (lambda: MultivariateGaussian.fit([[1, 2]], kind="tied"), "kind must be one of"),
        (lambda: MultivariateGaussian.fit([[1, 1], [2, 1]], kind="diagonal"), "column 1 of X is constant"),
        (lambda: Gaussian.fit([1, 2], variance=1.0), "prior must be a Gaussian and variance known, both or neither"),
        (lambda: Gaussian.fit([1, 2], prior=Gaussian(0, 1)), "prior must be a Gaussian and variance known"),
        (lambda: NormalInverseWishart([0, 0], 1, 1, np.eye(2)), "degrees must be above 1"),
        (lambda: NormalInverseWishart([0, 0], 1, 3, np.eye(3)), "scale must have 2 rows"),
        (lambda: NormalInverseGamma(0, 0, 1, 1), "pseudo_count must be above 0"),
    ],
)
def test_refuses_with_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_columns_in_very_different_units_are_not_singular():
    X = rows(0) * [1e-12, 1.0, 1e12]
    assert certify_fit(MultivariateGaussian.fit(X), X).holds
