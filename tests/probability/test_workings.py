import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, log, simplify

from pellucid.probability import (
    Bernoulli,
    Beta,
    Gaussian,
    Logistic,
    NormalInverseGamma,
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
        (lambda: probability_workings(Logistic, [1, 2]), "what must be Bernoulli, Gaussian.*got Logistic"),
        (lambda: probability_workings(entropy, [[1, 2]], Beta(1, 1)), "prior must be None for entropy, got Beta"),
        (lambda: probability_workings(Gaussian, [1, 2], Beta(1, 1)), "prior must be a NormalInverseGamma.*got Beta"),
        (lambda: probability_workings(Bernoulli, [1, 0], "flat"), "prior must be a Beta.*got str"),
    ],
)
def test_refuses_what_has_no_workings(call, message):
    with pytest.raises(TypeError, match=message):
        call()
