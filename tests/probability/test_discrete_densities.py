import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pellucid.probability import Bernoulli, Beta, Binomial, Categorical, Dirichlet, Multinomial

# by hand


def test_share_of_ones():
    assert Bernoulli.fit([1, 1, 0, 1]).p == 0.75
    assert Bernoulli.fit([1, 0], sample_weight=[3, 1]).p == 0.75
    assert Bernoulli.fit([True, False, True, True]).p == 0.75


def test_a_beta_prior_adds_its_exponents():
    assert Bernoulli.fit([1, 1, 0, 1], prior=Beta(2, 2)).p == pytest.approx(4 / 6)
    assert Binomial.fit([3], n_trials=4, prior=Beta(2, 2)).p == pytest.approx(4 / 6)
    assert Bernoulli.fit([1], sample_weight=[10], prior=Beta(2, 2)).p == pytest.approx(11 / 12)


def test_a_mode_at_the_boundary_is_the_boundary():
    assert Bernoulli.fit([1, 1], prior=Beta(3, 0.5)).p == 1.0
    assert Bernoulli.fit([0, 0], prior=Beta(1, 1)).p == 0.0
    assert Beta(1, 0.5).mode == 1.0
    assert Beta(0.5, 1).mode == 0.0


def test_certain_coins_never_show_the_other_side():
    for p, logs in ((0.0, [0.0, -np.inf]), (1.0, [-np.inf, 0.0])):
        assert Bernoulli(p).log_prob([0, 1]).tolist() == logs
        assert Bernoulli(p).entropy() == 0.0
        assert Binomial(3, p).log_prob([0, 1, 2, 3])[[0, -1]].tolist() == logs


def test_tiny_probabilities_keep_their_digits():
    assert Bernoulli(1e-300).log_prob([1, 0]).tolist() == [np.log(1e-300), -1e-300]
    assert Bernoulli(1e-300).entropy() == pytest.approx(1e-300 * (1 - np.log(1e-300)), rel=1e-12)
    assert Binomial(10**6, 1e-9).log_prob([0])[0] == pytest.approx(-1e-3, rel=1e-6)


def test_labels_are_sorted_and_shared():
    weather = Categorical.fit(["sun", "rain", "sun", "sun"])
    assert weather == Categorical([0.25, 0.75], ["rain", "sun"])
    assert weather.log_prob(["sun", "snow"]).tolist() == [np.log(0.75), -np.inf]
    assert weather.log_prob([1, 2]).tolist() == [-np.inf, -np.inf]
    assert Categorical([0.5, 0.5], [10, 20]).mean == 15
    assert Categorical([0.5, 0.5], [10, 20]).variance == 25
    assert np.isnan(weather.mean)


def test_a_category_that_never_occurs_has_its_place():
    fitted = Categorical.fit([0, 0], categories=[2, 0], prior=Dirichlet([2, 1]))
    np.testing.assert_allclose(fitted.probabilities, [1 / 3, 2 / 3])
    assert fitted.log_prob([2])[0] == pytest.approx(np.log(1 / 3))


def test_multinomial_covariance_pushes_counts_apart():
    np.testing.assert_allclose(Multinomial(4, [0.5, 0.5]).covariance, [[1, -1], [-1, 1]])


def test_impossible_counts_have_log_prob_minus_infinity():
    assert np.isneginf(Bernoulli(0.5).log_prob([0.5, 2, -1])).all()
    assert np.isneginf(Binomial(3, 0.5).log_prob([-1, 4, 1.5, np.inf])).all()
    assert np.isneginf(Multinomial(2, [0.5, 0.5]).log_prob([[1, 0], [3, -1], [0.5, 1.5]])).all()


# properties


@given(st.floats(0, 1))
def test_entropy_of_a_coin_is_between_0_and_log_2(p):
    assert 0 <= Bernoulli(p).entropy() <= np.log(2) * (1 + 1e-15)
    assert Binomial(1, p).entropy() == pytest.approx(Bernoulli(p).entropy(), abs=1e-14)


@given(st.integers(1, 40), st.floats(0, 1))
def test_probabilities_of_all_counts_add_up_to_1(n, p):
    assert np.exp(Binomial(n, p).log_prob(np.arange(n + 1))).sum() == pytest.approx(1, abs=1e-12)


# peer


@pytest.mark.parametrize("p", [0.0, 1e-10, 0.3, 1.0])
def test_binomial_agrees_with_scipy(p):
    k, peer = np.arange(-1, 23), stats.binom(20, p)
    np.testing.assert_allclose(Binomial(20, p).log_prob(k), peer.logpmf(k), rtol=1e-12, atol=1e-12)
    assert Binomial(20, p).entropy() == pytest.approx(float(peer.entropy()), abs=1e-12)
    assert Binomial(20, p).mean == pytest.approx(peer.mean())
    assert Binomial(20, p).variance == pytest.approx(peer.var())


def test_multinomial_agrees_with_scipy():
    ours, peer = Multinomial(6, [0.2, 0.5, 0.3]), stats.multinomial(6, [0.2, 0.5, 0.3])
    X = ours.sample(50, 0)
    np.testing.assert_allclose(ours.log_prob(X), peer.logpmf(X), rtol=1e-12)
    assert ours.entropy() == pytest.approx(float(peer.entropy()), rel=1e-12)
    np.testing.assert_allclose(ours.covariance, peer.cov())


def test_bernoulli_agrees_with_scipy():
    np.testing.assert_allclose(Bernoulli(0.3).log_prob([0, 1]), stats.bernoulli(0.3).logpmf([0, 1]))
    assert Bernoulli(0.3).entropy() == pytest.approx(float(stats.bernoulli(0.3).entropy()))


@pytest.mark.parametrize(("a", "b"), [(2, 3), (1, 1), (0.5, 0.7), (40, 0.1)])
def test_beta_agrees_with_scipy(a, b):
    p, peer = np.array([-0.1, 1e-3, 0.5, 0.999, 1.1]), stats.beta(a, b)
    np.testing.assert_allclose(Beta(a, b).log_prob(p), peer.logpdf(p), rtol=1e-10)
    assert Beta(a, b).entropy() == pytest.approx(float(peer.entropy()), abs=1e-10)
    assert (Beta(a, b).mean, Beta(a, b).variance) == pytest.approx(peer.stats())


def test_dirichlet_agrees_with_scipy():
    alpha = [0.7, 2.0, 3.0]
    ours, peer = Dirichlet(alpha), stats.dirichlet(alpha)
    P = ours.sample(20, 0)
    np.testing.assert_allclose(ours.log_prob(P), [peer.logpdf(p) for p in P], rtol=1e-10)
    assert ours.entropy() == pytest.approx(float(peer.entropy()))
    np.testing.assert_allclose(ours.variance, peer.var())
    assert np.isneginf(ours.log_prob([[0.5, 0.6, 0.1], [-0.1, 0.5, 0.6]])).all()


# errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(1.5), "p must be between 0 and 1, got 1.5"),
        (lambda: Bernoulli(np.nan), "p must be between 0 and 1, got nan"),
        (lambda: Binomial(0, 0.5), "n_trials must be at least 1, got 0"),
        (lambda: Categorical([0.5, 0.6]), "probabilities must add up to 1, got 1.1"),
        (lambda: Categorical([1.5, -0.5]), "probabilities must be at least 0, got -0.5"),
        (lambda: Categorical([0.5, 0.5], ["a", "a"]), "categories must be 2 different labels"),
        (lambda: Multinomial(3, [np.nan, 1.0]), "probabilities must be finite"),
        (lambda: Beta(0, 1), "alpha must be above 0, got 0"),
        (lambda: Dirichlet([1, 0]), "concentration must be above 0, got 0"),
        (lambda: Bernoulli.fit([0, 2]), "X must hold 0 and 1, got 2.0. For counts of ones use Binomial"),
        (lambda: Beta(1, 1).mode, "alpha or beta must be above 1.*uniform"),
        (lambda: Beta(0.5, 0.5).mode, "alpha or beta must be above 1.*infinite at both ends"),
        (lambda: Dirichlet([1, 1]).mode, "concentration must be at least 1, and above 1 somewhere"),
        (lambda: Categorical.fit([0, 0], prior=Dirichlet([1, 0.5]), categories=[0, 1]), "at least 1, and above 1"),
        (lambda: Categorical.fit([0, 0, 1], prior=Dirichlet([1, 1, 1])), "prior must have one concentration per"),
        (lambda: Categorical.fit(["a"], categories=["b"]), "X must hold only the categories"),
        (lambda: Categorical.fit([1.0, np.nan]), "X must hold labels, got nan"),
        (lambda: Binomial.fit([5], n_trials=4), "X must hold counts of at most n_trials=4, got 5"),
        (lambda: Binomial.fit([1.5], n_trials=4), "X must hold counts 0, 1, 2, ..., got 1.5"),
        (lambda: Multinomial.fit([[1, 1], [1, 2]]), "rows of X must add up to one number of draws.*from 2 to 3"),
        (lambda: Binomial(10**8, 0.5).entropy(), "n_trials must be below 10000000 for an exact entropy"),
        (lambda: Multinomial(10**7, [0.5, 0.5]).entropy(), "n_trials must be at most 1000000"),
        (lambda: Multinomial(2, [0.5, 0.5]).log_prob([[1, 1, 0]]), "X must have 2 columns"),
        (lambda: Bernoulli(0.5).log_prob([[1, 0]]), "X must have shape"),
    ],
)
def test_refuses_with_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_refuses_what_has_no_number():
    with pytest.raises(TypeError, match="n_trials must be a whole number, got None. Say how many"):
        Binomial.fit([1])
    with pytest.raises(TypeError, match="X must hold real numbers.*Categorical"):
        Bernoulli.fit(["a"])
    with pytest.raises(TypeError, match="X must hold real numbers, got complex128"):
        Bernoulli.fit([1j])
    with pytest.raises(TypeError, match="X must hold labels of one kind"):
        Categorical.fit(np.array(["a", 1], dtype=object))
