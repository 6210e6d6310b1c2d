import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, log, simplify

from pellucid.probability import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Dirichlet,
    Gaussian,
    Logistic,
    MultivariateGaussian,
    NormalInverseGamma,
    NormalInverseWishart,
    conditional_entropy,
    entropy,
    joint_entropy,
    mutual_information,
)
from pellucid.probability.bernoulli_workings import bernoulli_workings
from pellucid.probability.exact_logarithms import Bits
from pellucid.probability.gaussian_workings import gaussian_workings
from pellucid.probability.information_workings import information_workings
from pellucid.probability.workings import probability_workings
from pellucid.show import show_work

# by hand


def test_a_coin_by_hand():
    work = bernoulli_workings(Bernoulli, [1, 1, 0, 1])
    assert work.answer == {"p": Rational(3, 4)}
    text = work.text()
    assert "L(p) = p · p · (1 − p) · p = p³(1 − p)" in text
    assert "ℓ(p) = 3 log(p) + log(1 − p)" in text
    assert "3 (1 − p) = p" in text


def test_a_coin_with_a_prior_by_hand():
    work = bernoulli_workings(Bernoulli, [1, 1, 0, 1], Beta(2, 2))
    assert work.answer == {"p": Rational(2, 3)}
    # 2/3 = 4/6 * 3/4 + 2/6 * 1/2
    assert "2   4   3   2   1\n    ─ = ─ · ─ + ─ · ─\n    3   6   4   6   2" in work.text()


def test_a_coin_that_never_showed_a_one():
    work = bernoulli_workings(Bernoulli, [0, 0])
    assert work.answer == {"p": 0}
    assert "It is never 0" in work.text()
    assert bernoulli_workings(Bernoulli, [1, 1], Beta(2, 0.5)).answer == {"p": 1}


def test_a_gaussian_and_its_bias_by_hand():
    work = gaussian_workings(Gaussian, [1, 2, 6])
    assert work.answer == {"mean": 3, "variance": Rational(14, 3)}
    text = work.text()
    assert "41 = 14 + 3 · 9" in text  # squares around 0 and around the mean
    assert "a bias of −σ² / 3" in text
    assert "= ── = 7" in text  # 14 / 2, without bias


def test_a_gaussian_with_a_prior_by_hand():
    # mean (0 + 9) / 4, scatter 2 + 14 + 3/4 * 9, divisor 3 + 2 + 3
    work = gaussian_workings(Gaussian, [1, 2, 6], NormalInverseGamma(0, 1, 1, 1))
    assert work.answer == {"mean": Rational(9, 4), "variance": Rational(91, 32)}


def test_information_of_a_table_by_hand():
    work = information_workings(mutual_information, [[2, 0], [1, 1]])
    assert work.answer["joint_entropy"] == Rational(3, 2)
    assert work.answer["conditional_entropy"] == Rational(1, 2)
    assert simplify(work.answer["mutual_information"] - (Rational(3, 2) - Rational(3, 4) * log(3, 2))) == 0
    assert "log₂(3) ≈ 0.3113" in work.text()


def test_independence_is_seen_exactly():
    work = information_workings(mutual_information, [[1, 2], [3, 6]])
    assert work.answer["mutual_information"] == 0
    assert "Exactly 0: every cell is the product of its margins" in work.text()
    assert "who knows X knows Y" in information_workings(entropy, [[1, 0], [0, 2]]).text()


def test_bits_are_collected_by_primes():
    assert Bits.of_shares([Rational(1, 3)] * 3).parts == {3: 1}
    assert Bits.of_shares([Rational(1, 6)] * 6).parts == {2: 1, 3: 1}
    assert Bits.of_shares([Rational(1, 2), Rational(1, 2), Rational(0)]).is_rational


def test_each_is_found_by_its_class_an_object_or_a_function():
    coin = probability_workings(Bernoulli, [1, 1, 0, 1])
    assert coin.answer == probability_workings(Bernoulli(0.5), [1, 1, 0, 1]).answer == {"p": Rational(3, 4)}
    assert probability_workings(Bernoulli, [1, 1, 0, 1], Beta(2, 2)).answer == {"p": Rational(2, 3)}
    assert probability_workings(Gaussian, [1, 2, 6]).answer["variance"] == Rational(14, 3)
    assert probability_workings(mutual_information, [[1, 2], [3, 6]]).answer["mutual_information"] == 0


# properties


@settings(max_examples=30)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=20), st.sampled_from([None, (2, 3), (1.5, 1), (4, 0.5)]))
def test_the_exact_coin_agrees_with_the_fit(tosses, parameters):
    prior = None if parameters is None else Beta(*parameters)
    exact = bernoulli_workings(Bernoulli, tosses, prior).answer["p"]
    assert Bernoulli.fit(tosses, prior=prior).p == pytest.approx(float(exact), abs=1e-14)


@settings(max_examples=30)
@given(st.lists(st.integers(-20, 20), min_size=2, max_size=8, unique=True), st.booleans())
def test_the_exact_gaussian_agrees_with_the_fit(halves, with_prior):
    x, prior = np.array(halves) / 2, NormalInverseGamma(1.0, 2.0, 0.5, 3.0) if with_prior else None
    exact, fitted = gaussian_workings(Gaussian, x, prior).answer, Gaussian.fit(x, prior=prior)
    assert fitted.mean == pytest.approx(float(exact["mean"]), abs=1e-12)
    assert fitted.variance == pytest.approx(float(exact["variance"]), rel=1e-12)


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=4))
def test_exact_information_agrees_with_the_floats(rows):
    table = np.array(rows)
    if table.sum() == 0:
        return
    answer = information_workings(mutual_information, table).answer
    for name, measure in (
        ("joint_entropy", joint_entropy),
        ("conditional_entropy", conditional_entropy),
        ("mutual_information", mutual_information),
    ):
        assert measure(table) == pytest.approx(float(answer[name]), abs=1e-12)
    assert entropy(table.sum(axis=1)) == pytest.approx(float(answer["entropy_x"]), abs=1e-12)


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_every_printer_prints_every_document(kind):
    for work in (
        bernoulli_workings(Bernoulli, [1, 0, 1], Beta(2, 3)),
        bernoulli_workings(Bernoulli, [1] * 20),
        gaussian_workings(Gaussian, [0.5, 1.25, 3], NormalInverseGamma(0, 1, 1, 1)),
        information_workings(entropy, [[0.5, 0.25], [0.125, 0.125]]),
    ):
        assert len(work.printed(kind)) > 500


# errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bernoulli_workings(Bernoulli, [0] * 41), "X must have 1 to 40 tosses to be worked by hand, got 41"),
        (lambda: bernoulli_workings(Bernoulli, [0, 2]), "X must hold 0 and 1, got 2"),
        (lambda: gaussian_workings(Gaussian, [1, 1]), "X must hold two different values at least, got only 1"),
        (lambda: gaussian_workings(Gaussian, np.arange(13)), "X must be a list of 1 to 12 numbers"),
        (lambda: gaussian_workings(Gaussian, np.ones((2, 2))), "X must be a list of 1 to 12 numbers"),
        (lambda: information_workings(entropy, [[1] * 6]), "X must be a table of at most 5 rows and 5 columns"),
        (lambda: information_workings(entropy, [[0, 0]]), "X must hold counts or probabilities"),
    ],
)
def test_refuses_with_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: probability_workings(Beta, [1, 2]), "what must be Bernoulli, .*Gaussian.*got Beta"),
        (lambda: probability_workings(entropy, [[1, 2]], Beta(1, 1)), "prior must be None for entropy, got Beta"),
        (lambda: probability_workings(Gaussian, [1, 2], Beta(1, 1)), "prior must be a NormalInverseGamma.*got Beta"),
        (lambda: probability_workings(Bernoulli, [1, 0], "flat"), "prior must be a Beta.*got str"),
    ],
)
def test_refuses_what_has_no_workings(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def said(work):
    return " ".join(work.text().split())


def test_counts_of_successes_by_hand():
    # 1 + 2 + 3 = 6 successes in 3 * 4 = 12 tosses, in 4 * 6 * 4 orders
    work = show_work(Binomial(4, 0.9), [1, 2, 3])
    assert work.answer == {"p": Rational(1, 2)}
    assert "L(p) = C p⁶ (1 − p)⁶" in work.text()
    assert "ℓ(p) = 6 log(p) + 6 log(1 − p) + c" in work.text()
    # a Beta(3, 1) prior adds 2 successes: 8 of 14
    assert show_work(Binomial(4, 0.5), [1, 2, 3], Beta(3, 1)).answer == {"p": Rational(4, 7)}


def test_shares_of_labels_by_hand():
    work = show_work(Categorical, ["sun", "rain", "sun", "sun"])
    assert work.answer == {"probabilities": [Rational(1, 4), Rational(3, 4)]}
    assert "L = p₁ p₂³" in work.text()
    assert "λ = ∑ nⱼ = 4" in said(work)
    # a Dirichlet(2, 2) prior counts each label once more: 2 and 4 of 6
    with_prior = show_work(Categorical, ["sun", "rain", "sun", "sun"], Dirichlet([2, 2]))
    assert with_prior.answer == {"probabilities": [Rational(1, 3), Rational(2, 3)]}


def test_a_label_that_did_not_come_up_has_its_place():
    work = show_work(Categorical([0.2, 0.3, 0.5], ["a", "b", "c"]), ["a", "c"])
    assert work.answer == {"probabilities": [Rational(1, 2), 0, Rational(1, 2)]}
    assert "as if it never could" in said(work)


ROWS = [[0, 0], [2, 1], [4, 5]]


def test_a_gaussian_of_two_columns_by_hand():
    work = show_work(MultivariateGaussian, ROWS)
    # mean (2, 2); deviations (-2, -2), (0, -1), (2, 3): squares 8 and 14, products 4 + 0 + 6 = 10, over 3
    assert work.answer["mean"] == [2, 2]
    assert work.answer["covariance"] == [[Rational(8, 3), Rational(10, 3)], [Rational(10, 3), Rational(14, 3)]]
    assert "25" in work.text()  # squared correlation 100 / (8 * 14) = 25/28
    assert "|Σ̂| = ─" in work.text()


def test_a_gaussian_with_one_variance_or_one_for_each_column():
    assert show_work(MultivariateGaussian([0, 0], 1.0), ROWS).answer["covariance"] == Rational(22, 6)
    each = show_work(MultivariateGaussian([0, 0], [1.0, 2.0]), ROWS)
    assert each.answer["covariance"] == [Rational(8, 3), Rational(14, 3)]
    assert "more than rounding" not in each.text()


def test_a_gaussian_of_two_columns_with_a_prior_by_hand():
    prior = NormalInverseWishart([0, 0], 1, 2, [[6, 0], [0, 6]])
    work = show_work(MultivariateGaussian, ROWS, prior)
    # mean 3 * 2 / 4; (6 + 8 + 3/4 * 4) / (2 + 3 + 2 + 2) = 17/9, (10 + 3) / 9, (6 + 14 + 3) / 9
    assert work.answer["mean"] == [Rational(3, 2)] * 2
    assert work.answer["covariance"] == [[Rational(17, 9), Rational(13, 9)], [Rational(13, 9), Rational(23, 9)]]


@pytest.mark.parametrize("seed", range(4))
def test_densities_agree_with_their_fits(seed):
    rng = np.random.default_rng(seed)
    for what, X, prior in (
        (Binomial(5, 0.5), rng.integers(0, 6, 8), Beta(1.5, 2.5)),
        (Categorical, rng.choice(["a", "b", "c"], 20), None),
        (Categorical(np.ones(3) / 3, list("abc")), rng.choice(["a", "b"], 9), Dirichlet([1.5, 2, 3])),
        (MultivariateGaussian, rng.standard_normal((9, 3)).round(2), None),
        (
            MultivariateGaussian,
            rng.standard_normal((3, 4)).round(2),
            NormalInverseWishart(np.zeros(4), 2, 5, np.eye(4)),
        ),
    ):
        work = show_work(what, X, prior)
        assert "Compare with the program" in work.text()
        assert "more than rounding" not in work.text()
        for kind in ("markdown", "latex", "html"):
            assert len(work.printed(kind)) > 1000


@pytest.mark.parametrize(
    ("what", "X", "prior", "message"),
    [
        (Binomial, [1], None, "Binomial must come with its number of tosses.*Binomial"),
        (Binomial(50, 0.5), [1], None, "n_trials must be at most 40 to be worked by hand, got 50"),
        (Binomial(4, 0.5), [1] * 13, None, "X must have 1 to 12 counts"),
        (Binomial(4, 0.5), [5], None, "whole numbers from 0 to n_trials=4, got 5"),
        (Categorical, ["a"] * 41, None, "X must have 1 to 40 draws"),
        (Categorical, list("abcdefghi"), None, "at most 8 different labels"),
        (Categorical([0.5, 0.5], ["a", "b"]), ["c"], None, "X must hold only the categories"),
        (Categorical, ["a", "b"], Dirichlet([1, 1, 1]), "one concentration per category"),
        (Categorical([0.5, 0.5], ["a", "b"]), ["a"], Dirichlet([0.5, 0.5]), "posterior with one mode"),
        (MultivariateGaussian, np.ones((13, 2)), None, "at most 12 rows"),
        (MultivariateGaussian, [[1, 2], [2, 4], [3, 6]], None, "vary in every direction"),
        (MultivariateGaussian, ROWS, NormalInverseWishart([0], 1, 1, [[1]]), "prior must have dimension 2"),
        (
            MultivariateGaussian([0, 0], 1.0),
            ROWS,
            NormalInverseWishart([0, 0], 1, 2, [[1, 0], [0, 1]]),
            "prior must be None to show the work of a spherical covariance",
        ),
    ],
)
def test_densities_refuse_what_cannot_be_worked_by_hand(what, X, prior, message):
    with pytest.raises(ValueError, match=message):
        show_work(what, X, prior)


def test_the_entropy_of_one_distribution():
    from pellucid.probability import entropy

    work = show_work(entropy, [2, 1, 1])
    assert work.answer["entropy"] == Rational(3, 2)  # 1/2 · 1 + 2 · 1/4 · 2
    assert float(work.answer["entropy"]) == pytest.approx(entropy([2, 1, 1]))


def test_the_divergence_goes_both_ways_and_may_have_no_end():
    from pellucid.probability import kl_divergence

    work = show_work(kl_divergence, [1 / 2, 1 / 2], [1 / 4, 3 / 4])
    assert float(work.answer["kl"]) == pytest.approx(kl_divergence([1 / 2, 1 / 2], [1 / 4, 3 / 4]))
    assert float(work.answer["back"]) == pytest.approx(kl_divergence([1 / 4, 3 / 4], [1 / 2, 1 / 2]))
    assert show_work(kl_divergence, [1, 1], [1, 0]).answer["kl"] is None
    with pytest.raises(ValueError, match="q must have as many values as p"):
        show_work(kl_divergence, [1, 1], [1, 1, 1])


def test_three_variables_of_which_two_fix_the_third_share_one_bit():
    from pellucid.probability import multi_information

    exclusive_or = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    assert show_work(multi_information, exclusive_or).answer["multi_information"] == 1  # 1 + 1 + 1 - 2
    assert multi_information(exclusive_or) == pytest.approx(1)


def test_capacity_and_rate_are_those_of_the_program():
    from pellucid.probability import channel_capacity, rate_distortion

    z_channel = [[1, 0], [0.5, 0.5]]
    work = show_work(channel_capacity, z_channel)
    assert float(work.answer["capacity"]) == pytest.approx(0.3219280949, abs=1e-9)  # log2(5) - 2
    assert float(work.answer["capacity"]) == pytest.approx(channel_capacity(z_channel).capacity, abs=1e-8)
    assert float(work.answer["input_distribution"][0]) == pytest.approx(0.6, abs=1e-9)
    source, costs = [0.7, 0.3], [[0, 1], [2, 0]]
    rate, found = show_work(rate_distortion, source, costs, slope=3), rate_distortion(source, costs, slope=3)
    assert float(rate.answer["rate"]) == pytest.approx(found.rate, abs=1e-7)
    assert float(rate.answer["distortion"]) == pytest.approx(found.distortion, abs=1e-7)
    with pytest.raises(ValueError, match="rows that add up to 1, got 0.8 in row 2"):
        show_work(channel_capacity, [[1, 0], [0.5, 0.3]])


def test_counted_draws_and_the_logistic_density():
    from pellucid.probability import Dirichlet, Multinomial

    counts = [[2, 1, 1], [0, 3, 1]]
    assert show_work(Multinomial, counts).answer["probabilities"] == [
        Rational(1, 4),
        Rational(1, 2),
        Rational(1, 4),
    ]
    with_prior = show_work(Multinomial, counts, Dirichlet([2, 2, 2]))
    assert with_prior.answer["probabilities"][1] == Rational(5, 11)
    assert "more than rounding" not in with_prior.text()
    assert "= 12" in with_prior.text()  # 4! / (2! 1! 1!)
    work = show_work(Logistic, [0, 1, 2, 4, 9])
    assert "more than rounding" not in work.text()
    assert "The cdf at the numbers" in work.text()
    with pytest.raises(ValueError, match="rows add up to one number of draws"):
        show_work(Multinomial, [[1, 2], [1, 1]])
