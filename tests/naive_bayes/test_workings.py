"""The workings of the family: exact numbers, agreement with the programs, refusals, four prints."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as peer
from sympy import Rational

import pellucid
from pellucid.cluster import Diana
from pellucid.naive_bayes import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    MixedNB,
    MultinomialNB,
    show_decision,
)
from pellucid.probability import Bernoulli, Categorical, Gaussian, Logistic
from pellucid.show import show_work
from pellucid.show.notation import minus
from pellucid.show.text_layout import width
from tests.naive_bayes.samples import counts, points, seeds

WORDS = ["Beijing", "Chinese", "Japan", "Macao", "Shanghai", "Tokyo"]
DOCUMENTS = pd.DataFrame(
    [[1, 2, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]], columns=WORDS
)
LABELS = ["c", "c", "c", "j"]
QUESTION = [[0, 3, 1, 0, 0, 1]]


def documents(class_prior=None):
    return show_decision(MultinomialNB(class_prior=class_prior), DOCUMENTS, LABELS, QUESTION)


def test_the_documents_of_the_lecture_in_fractions():  # by hand
    work = documents(class_prior=[2 / 3, 1 / 3])
    assert work.answer["prior"] == [Rational(2, 3), Rational(1, 3)]
    chinese, japan, tokyo = (WORDS.index(word) for word in ("Chinese", "Japan", "Tokyo"))
    of_c, of_j = work.answer["shares"]
    assert [of_c[j] for j in (chinese, tokyo, japan)] == [Rational(3, 7), Rational(1, 14), Rational(1, 14)]
    assert [of_j[j] for j in (chinese, tokyo, japan)] == [Rational(2, 9)] * 3
    assert work.answer["predicted"] == ["c"]
    text = work.text()
    assert "0.00027" in text
    assert "0.00018" in text
    assert "33614" in text  # 2/3 (3/7)^3 / 14^2 = 9/33614


def test_the_prior_of_the_counts_is_not_smoothed_and_the_remark_says_what_smoothing_gives():
    work = documents()
    assert work.answer["prior"] == [Rational(3, 4), Rational(1, 4)]
    assert "P(c) = 4 / 6, P(j) = 2 / 6" in " ".join(work.text().replace("│", "").split())


def test_gaussian_means_and_variances_are_exact():
    work = show_decision(GaussianNB(var_smoothing=0), [[1], [2], [6], [9]], ["a", "a", "b", "b"], [[4]])
    assert work.answer["theta_"] == [[Rational(3, 2)], [Rational(15, 2)]]
    assert work.answer["var_"] == [[Rational(1, 4)], [Rational(9, 4)]]
    assert work.answer["predicted"] == ["b"]  # (5/2)^2 / (1/2) = 12.5 against (7/2)^2 / (9/2) = 2.7


def test_a_decision_with_costs_is_exact_for_coins():
    coins = {"ill": Bernoulli(0.9), "well": Bernoulli(0.2)}
    model = BayesClassifier(coins, priors=[0.1, 0.9], costs=[[0, 9], [1, 0]])
    work = show_decision(model, None, None, [[1], [0]])
    # P(ill | 1) = 0.09 / 0.27 = 1/3, so 2/3 against 3; P(ill | 0) = 0.01 / 0.73, so 72/73 against 9/73
    assert work.answer["predicted"] == ["ill", "well"]
    for number in ("27/100", "73", "decide ill", "decide well"):
        assert number in work.text()


def test_a_decision_about_real_numbers_and_labels():
    normal = BayesClassifier({0: Gaussian(2, 1), 1: Gaussian(0, 1)}, priors=[0.5, 0.5])
    assert show_decision(normal, None, None, [[0.5], [1.5]]).answer["predicted"] == [1, 0]
    dice = {0: Categorical([0.5, 0.5], [1, 2]), 1: Categorical([0.1, 0.9], [1, 2])}
    work = pellucid.show_work(BayesClassifier(dice), [[1], [2]], [0, 1])
    assert work.answer["predicted"] == [0, 1]
    assert work.answer["class_prior_"] == [Rational(1, 2)] * 2


SYMPTOMS = pd.DataFrame([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 1]], columns=["cough", "fever", "rash"])
WEATHER = pd.DataFrame([[0, 1], [0, 2], [1, 0], [2, 1], [2, 2]], columns=["sky", "wind"])
TRIPS = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain"], "temp": [20.0, 24, 15, 17], "wind": [0, 1, 1, 0]})


def test_ones_and_zeros_in_fractions():
    work = show_decision(BernoulliNB(), SYMPTOMS, ["ill", "ill", "well", "well"], [[1, 0, 0]])
    # ill: cough in 2 of 2 rows, (2 + 1) / (2 + 2); well: in none, 1 / 4
    assert work.answer["shares"] == [[Rational(3, 4), Rational(1, 2), Rational(1, 2)],
                                     [Rational(1, 4), Rational(1, 2), Rational(3, 4)]]  # fmt: skip
    # ill 1/2 * 3/4 * 1/2 * 1/2 = 3/32, well 1/2 * 1/4 * 1/2 * 1/4 = 1/64: a 0 in the last column counts against well
    text = " ".join(work.text().split())
    assert work.answer["predicted"] == ["ill"]
    assert "0.09375" in text
    assert "0.015625" in text
    assert "P(ill | row) ≈ 0.85714" in text  # 6/64 of 7/64


def test_values_above_the_threshold_are_ones():
    work = pellucid.show_work(BernoulliNB(binarize=2.5), [[2], [3], [4]], ["a", "a", "b"])
    assert work.answer["feature_count_"] == [[1], [1]]
    assert "Values above 2.5 count as 1" in work.text()
    assert "Values above" not in pellucid.show_work(BernoulliNB(), [[0], [1]], ["a", "b"]).text()


def test_categories_in_fractions():
    work = show_decision(CategoricalNB(), WEATHER, ["in", "in", "out", "out", "out"], [[2, 1]])
    # sky has 3 categories: in (2, 0, 0) and 1 each over 2 + 3; out (0, 1, 2) and 1 each over 3 + 3
    assert work.answer["shares"][0] == [
        [Rational(3, 5), Rational(1, 5), Rational(1, 5)],
        [Rational(1, 6), Rational(1, 3), Rational(1, 2)],
    ]
    # in 2/5 * 1/5 * 2/5 = 4/125, out 3/5 * 1/2 * 1/3 = 1/10
    assert work.answer["predicted"] == ["out"]
    assert "0.032" in work.text()
    assert "P(out | row) ≈ 0.75758" in " ".join(work.text().split())


def test_mixed_columns_in_fractions_and_densities():
    work = show_decision(MixedNB(prior_alpha=1), TRIPS, ["out", "out", "in", "out"], TRIPS[:1])
    assert work.answer["class_prior_"] == [Rational(2, 6), Rational(4, 6)]
    assert work.answer["columns"]["sky"] == [[Rational(2, 3), Rational(1, 3)], [Rational(2, 5), Rational(3, 5)]]


def test_a_mixed_table_at_the_defaults():
    work = pellucid.show_work(MixedNB(), TRIPS, ["out", "out", "in", "in"])
    assert work.answer["columns"]["temp"]["mean"] == [16, 22]
    # variances 1 and 4, and 1e-9 of the variance of all, (19^2 summed up) 49/4 -> 12.5 - 0.5
    overall = sum((Rational(t) - 19) ** 2 for t in (20, 24, 15, 17)) / 4
    assert work.answer["columns"]["temp"]["variance"] == [v + overall / 10**9 for v in (1, 4)]
    assert work.answer["predicted"] == ["out", "out", "in", "in"]
    assert "0.12099" in work.text()  # the density of 20: e^(-4/8) / sqrt(8 pi)


def test_a_value_that_no_class_can_produce_is_left_out():
    X, y = np.array([["sun"], ["rain"]], dtype=object), ["out", "in"]
    work = show_decision(MixedNB(), X, y, np.array([["snow"]], dtype=object))
    assert "No class can produce x₁: left out." in " ".join(work.text().split())
    assert work.answer["predicted"] == MixedNB().fit(X, y).predict([["snow"]]).tolist() == ["in"]


def test_densities_far_out_still_decide():
    X, y, far = [[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"], [[1000.0]]
    work = show_decision(MixedNB(), X, y, far)
    assert work.answer["predicted"] == MixedNB().fit(X, y).predict(far).tolist() == ["b"]


def test_a_row_that_no_class_can_produce_goes_by_the_prior():
    X, y = [[1, 0], [0, 1], [0, 1]], ["a", "b", "b"]
    for kind in (BernoulliNB, MultinomialNB):
        model = kind(alpha=0)
        assert show_decision(model, X, y, [[1, 1]]).answer["predicted"] == model.fit(X, y).predict([[1, 1]]).tolist()


@seeds
def test_workings_of_ones_categories_and_mixtures_agree_with_the_programs(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (9, 3)), rng.permutation(np.repeat([0, 1, 2], 3))
    mixed = pd.DataFrame({"a": X[:, 0].astype(str), "b": X[:, 1] % 2, "c": rng.standard_normal(9).round(2)})
    for model, rows in (
        (BernoulliNB(alpha=0.5, binarize=1), X),
        (CategoricalNB(alpha=2, min_categories=4, fit_prior=False), X),
        (MixedNB(alpha=0.5, prior_alpha=0.5), mixed),
    ):
        work = pellucid.show_work(model, rows, y)
        assert work.answer["predicted"] == model.fit(rows, y).predict(rows).tolist()
        assert "more than rounding" not in work.text()


@seeds
def test_workings_agree_with_the_programs(seed):  # properties
    X, y = counts(seed, n=9, p=3)
    work = pellucid.show_work(MultinomialNB(alpha=0.5), X, y)
    model = MultinomialNB(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(np.array(work.answer["shares"], dtype=float), np.exp(model.feature_log_prob_))
    assert work.answer["predicted"] == model.predict(X).tolist()
    X, y = np.round(points(seed, n=10, p=2)[0], 2), np.repeat([0, 1], 5)
    work = pellucid.show_work(GaussianNB(), X, y)
    model = GaussianNB().fit(X, y)
    np.testing.assert_allclose(np.array(work.answer["var_"], dtype=float), model.var_, rtol=1e-12)
    assert work.answer["predicted"] == model.predict(X).tolist()
    assert "more than rounding" not in work.text()


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_every_printer_prints_every_document(kind):
    for work in (
        documents(),
        pellucid.show_work(GaussianNB(), [[1, 2], [2, 3], [6, 5], [8, 7]], ["a", "a", "b", "b"]),
        show_decision(BayesClassifier({0: Gaussian(2, 1), 1: Gaussian(0, 1)}, priors=[0.5, 0.5]), None, None, [[1]]),
        pellucid.show_work(BernoulliNB(), SYMPTOMS, ["ill", "ill", "well", "well"]),
        pellucid.show_work(CategoricalNB(), WEATHER, ["in", "in", "out", "out", "out"]),
        pellucid.show_work(MixedNB(), TRIPS, ["out", "out", "in", "in"]),
    ):
        assert "Prior" in work.printed(kind)


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "CategoricalNB"])
def test_the_namesakes_of_scikit_learn_are_shown_too(name):  # peer
    ours, theirs = (getattr(room, name)() for room in (pellucid.naive_bayes, peer))
    assert pellucid.show_work(ours, DOCUMENTS, LABELS).answer == pellucid.show_work(theirs, DOCUMENTS, LABELS).answer


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: documents(class_prior=[1.0]), "the prior must have 2 entries"),
        (lambda: show_decision(MultinomialNB(), [[0.123456789]], ["a"], [[1]]), "X must hold counts"),
        (lambda: show_decision(MultinomialNB(alpha=[1, 2]), [[1, 2]], ["a"], [[1, 1]]), "alpha must be one number"),
        (lambda: show_decision(MultinomialNB(), [[1]], None, [[1]]), "y must be given, got None"),
        (lambda: show_decision(MultinomialNB(), [[1]], ["a", "b"], [[1]]), "one label for each of the 1 rows"),
        (lambda: show_decision(MultinomialNB(), [[1]] * 5, range(5), [[1]]), "between 1 and 4 classes"),
        (lambda: show_decision(MultinomialNB(), np.ones((145, 1)), [0] * 145, [[1]]), "at most 144 rows"),
        (lambda: show_decision(BernoulliNB(binarize=None), [[2]], ["a"], [[1]]), "X must hold 0 and 1"),
        (lambda: show_decision(BernoulliNB(), np.ones((3, 9)), [0] * 3, [[1]]), "at most 16 rows and 8 features"),
        (lambda: show_decision(CategoricalNB(), [[12]], ["a"], [[1]]), "categories from 0 to 11 to be worked by hand"),
        (lambda: show_decision(CategoricalNB(), [[1]], ["a"], [[2]]), "new must hold categories below 2 in column 0"),
        (
            lambda: show_decision(CategoricalNB(min_categories=13), [[1]], ["a"], [[1]]),
            "min_categories must be at most",
        ),
        (lambda: show_decision(MixedNB(), np.ones((13, 9)), [0] * 13, [[1]]), "at most 16 rows and 8 features"),
        (lambda: show_decision(MixedNB("logistic"), [[1.5]], ["a"], [[1]]), "densities must be Bernoulli, Categorical"),
        (lambda: show_decision(MixedNB(var_smoothing=0.0), [[1.5]], ["a"], [[1]]), "vary within every class"),
        (lambda: show_decision(GaussianNB(var_smoothing=0), [[1]], ["a"], [[1]]), "vary within every class"),
        (
            lambda: show_decision(BayesClassifier(), [[1]], [0], [[1]]),
            "y must have one label|X must have|variance of 0",
        ),
        (
            lambda: show_decision(BayesClassifier({0: Logistic(0, 1)}, priors=[1]), None, None, [[1]]),
            "Gaussian, Bernoulli or Categorical to be worked by hand, got Logistic",
        ),
        (lambda: show_decision(BayesClassifier({0: Gaussian(0, 1)}), None, None, [[1]]), "y must be given if priors"),
        (
            lambda: show_decision(BayesClassifier({0: Gaussian(0, 1)}, priors=[1]), None, None, [[1, 2]]),
            "one column and 1 to 4 rows",
        ),
    ],
)
def test_refuses_what_cannot_be_worked_by_hand(make, message):  # errors
    with pytest.raises(ValueError, match=message):
        make()


def test_refuses_other_estimators():
    with pytest.raises(TypeError, match="one that decides about new rows, got Diana"):
        show_decision(Diana(), [[1], [2]], None, [[1]])


TENNIS = [
    row.split()
    for row in (
        "sunny hot high weak no", "sunny hot high strong no", "overcast hot high weak yes", "rain mild high weak yes",
        "rain cool normal weak yes", "rain cool normal strong no", "overcast cool normal strong yes",
        "sunny mild high weak no", "sunny cool normal weak yes", "rain mild normal weak yes",
        "sunny mild normal strong yes", "overcast mild high strong yes", "overcast hot normal weak yes",
        "rain mild high strong no",
    )
]  # fmt: skip
DAYS, PLAYED = [row[:4] for row in TENNIS], [row[4] for row in TENNIS]


@pytest.mark.parametrize("kind", [CategoricalNB, MixedNB])
def test_the_table_of_the_textbook_is_worked_in_its_words(kind):
    frame = pd.DataFrame(DAYS, columns=["outlook", "temperature", "humidity", "wind"])
    for table in (DAYS, np.array(DAYS), frame):
        work = show_work(kind(), table, PLAYED, new=[["sunny", "cool", "high", "strong"]])
        assert work.answer["predicted"] == ["no"]
        assert "1372" in work.text()  # 5/14 · 4/8 · 2/8 · 5/7 · 4/7 = 25/1372
        assert "more than rounding" not in work.text()
        assert max(map(width, work.text().splitlines())) <= 80
    assert "P(outlook = sunny | no)" in work.text()
    if kind is CategoricalNB:
        assert work.answer["category_count_"][0] == [[0, 2, 3], [4, 3, 2]]
        assert "outlook: overcast 0, rain 1, sunny 2" in work.text()
        with pytest.raises(ValueError, match="column 1 must hold one of overcast, rain, sunny, got 'fog'"):
            show_work(kind(), frame, PLAYED, new=[["fog", "cool", "high", "strong"]])


def test_the_prior_is_smoothed_where_the_model_smooths_it():
    documents = [[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]]
    work = show_work(MultinomialNB(prior_alpha=1), documents, list("cccj"), new=[[3, 0, 0, 0, 1, 1]])
    assert work.answer["prior"] == [Rational(2, 3), Rational(1, 3)]
    assert work.answer["shares"][0][0] == Rational(3, 7)
    assert work.answer["shares"][1][0] == Rational(2, 9)
    assert "≈ 0.00027" in work.text()
    assert "≈ 0.00018" in work.text()


@pytest.mark.parametrize("kind", [GaussianNB, BernoulliNB, CategoricalNB, MultinomialNB, MixedNB])
def test_every_model_smooths_its_prior_alike(kind):
    X, y = [[0, 1], [1, 0], [1, 1], [0, 3]], list("cccj")
    model = kind(prior_alpha=1).fit(X, y)
    prior = model.class_prior_ if hasattr(model, "class_prior_") else np.exp(model.class_log_prior_)
    assert prior == pytest.approx([2 / 3, 1 / 3], rel=1e-15)
    assert pellucid.verify(model, X, y).holds
    work = show_work(model, X, y)
    assert "prior_alpha" in work.text()
    with pytest.raises(ValueError, match="prior_alpha must be at least 0, got -1"):
        kind(prior_alpha=-1).fit(X, y)


def test_the_boundary_of_two_classes_is_told_as_coefficients():
    rows, labels = [[1, 0], [1, 1], [0, 1]], list("aab")
    for model in (MultinomialNB(), BernoulliNB()):
        text = show_work(model, rows, labels).text()
        assert "The boundary as coefficients" in text
        fitted = model.fit(rows, labels)
        odds = np.diff(fitted.predict_log_proba([[0, 0], [1, 0]]), axis=1).ravel()
        assert minus(f"{odds[1] - odds[0]:.5g}") in text  # what the first column adds
        assert minus(f"{odds[0]:.5g}") in text  # the constant


def test_a_bayes_decision_with_densities_that_are_fitted():
    work = show_work(BayesClassifier("gaussian"), [[1], [3], [7], [9]], list("aabb"), new=[[4], [6]])
    assert work.answer["predicted"] == ["a", "b"]
    assert "Fit the densities" in work.text()
    assert "normal with mean 2 and variance 1" in work.text()
    assert "not what was found" not in work.text()
