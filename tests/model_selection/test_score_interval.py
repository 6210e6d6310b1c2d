"""Scores with intervals: by hand, coverage, scikit-learn's functions, workings, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn import metrics
from sympy import Rational, sqrt

from pellucid import show_work
from pellucid.model_selection import SCORES, score_interval
from pellucid.model_selection.score_workings import score_workings

TRUTH, GIVEN = ["spam", "ham", "spam", "ham", "ham"], ["spam", "spam", "spam", "ham", "ham"]


def labels(seed, n=60):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, y + rng.standard_normal(n)


# by hand


def test_no_mistakes_in_ten_leave_an_error_rate_of_up_to_three_tenths():
    # Clopper and Pearson: the upper end solves (1 - p)^10 = 1/40
    found = score_interval([1] * 10, [1] * 10, "error rate")
    assert (found.score, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - (1 / 40) ** 0.1)


def test_precision_and_recall_count_their_own_rows():
    # spam is positive: 2 of 3 called are true, 2 of 2 were found
    precision, recall = (score_interval(TRUTH, GIVEN, name) for name in ("precision", "recall"))
    assert precision.score == pytest.approx(2 / 3)
    assert recall.score == 1.0
    assert recall.low == pytest.approx((1 / 40) ** 0.5)


def test_nothing_called_positive_says_so():
    found = score_interval(["a", "b"], ["a", "a"], "precision")
    assert (found.low, found.high) == (0.0, 1.0)
    assert "nothing is known" in found.method


# properties


def test_exact_intervals_cover_at_least_at_their_level():
    # of 30 rows, each right with probability 0.8: the sum of the probabilities of all counts whose interval has 0.8
    covered = 0.0
    for n_right in range(31):
        found = score_interval(np.zeros(30), (np.arange(30) >= n_right).astype(float), "accuracy", level=0.9)
        covered += binom(30, 0.8).pmf(n_right) * (found.low <= 0.8 <= found.high)
    assert 0.9 <= covered < 0.99


@pytest.mark.parametrize("name", SCORES)
def test_every_score_lies_in_its_interval_and_is_repeatable(name):
    y, score = labels(1)
    truth, given = {"labels": (y, (score > 0.5).astype(int)), "ranking": (y, score), "numbers": (score, y)}[
        SCORES[name].kind
    ]
    found, again = (score_interval(truth, given, name, method="bootstrap", n_resamples=100) for _ in range(2))
    assert found == again
    assert found.low <= found.score <= found.high
    assert found.low < found.high


def test_higher_levels_are_wider():
    y, score = labels(2)
    narrow, wide = (score_interval(y, score, "roc auc", level=level, n_resamples=500) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


# peer


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_scikit_learn(seed):
    y, score = labels(seed)
    given = (score > 0.5).astype(int)
    for name, function in {
        "accuracy": metrics.accuracy_score,
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "f1": metrics.f1_score,
    }.items():
        assert score_interval(y, given, name, n_resamples=10).score == pytest.approx(function(y, given))
    assert score_interval(y, score, "roc auc", n_resamples=10).score == pytest.approx(metrics.roc_auc_score(y, score))
    assert score_interval(score, y, "r2", n_resamples=10).score == pytest.approx(metrics.r2_score(score, y))
    assert score_interval(score, y, metrics.max_error, n_resamples=50).score == pytest.approx(
        metrics.max_error(score, y)
    )


# workings


def test_shares_of_a_confusion_matrix_by_hand():
    answer = show_work(score_interval, TRUTH, GIVEN).answer
    assert answer == {
        "accuracy": Rational(4, 5),
        "error rate": Rational(1, 5),
        "precision": Rational(2, 3),
        "recall": 1,
        "f1": Rational(4, 5),
    }


def test_sums_of_residuals_by_hand():
    # residuals 1/2, 0, -1
    answer = show_work(score_interval, [1.0, 2.0, 4.0], [1.5, 2.0, 3.0]).answer
    assert answer["rss"] == Rational(5, 4)
    assert answer["rmse"] == sqrt(15) / 6
    assert answer["mae"] == Rational(1, 2)
    assert answer["r2"] == 1 - Rational(5, 4) / Rational(14, 3)


@pytest.mark.parametrize("seed", range(3))
def test_workings_agree_with_the_program(seed):
    y, score = labels(seed, n=12)
    given = (score > 0.5).astype(int)
    answer = score_workings("accuracy", y, given).answer
    for name, value in answer.items():
        assert float(value) == pytest.approx(score_interval(y, given, name, n_resamples=5).score)


@pytest.mark.parametrize("format_", ["text", "markdown", "latex", "html"])
def test_workings_print_in_every_format(format_):
    assert "accuracy" in score_workings("accuracy", TRUTH, GIVEN).printed(format_)
    assert "MSE" in score_workings("mse", [1, 2], [2, 2]).printed(format_)


# errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0], "accuracy"), "inconsistent numbers of samples"),
        (([], [], "accuracy"), "at least one row"),
        (([0, 1], [0, 1], "luck"), "metric must be one of .* got 'luck'"),
        ((["a", "b"], ["a", "b"], "mse"), "must hold finite numbers for this score"),
        (([0.0, 1.0], [np.nan, 1.0], "mae"), "must hold finite numbers for this score"),
        (([0, 1, 2], [0, 1, 2], "recall"), "two classes for this score, got 3"),
        (([0, 0], [0.1, 0.2], "roc auc"), "two classes for roc auc, got 1"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        score_interval(*arguments)


def test_only_shares_have_exact_intervals():
    with pytest.raises(ValueError, match="method must be 'bootstrap' for f1, got 'exact'"):
        score_interval([0, 1], [0, 1], "f1", method="exact")


def test_workings_refuse_too_many_rows():
    with pytest.raises(ValueError, match="at most 20 rows, got 30 and 30"):
        score_workings("accuracy", [0] * 30, [1] * 30)
