"""Stochastic gradient descent by hand: numbers, agreement with the programs, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peer
from sklearn.exceptions import ConvergenceWarning
from sympy import Rational

from pellucid.linear_model import SGDClassifier
from pellucid.show import show_work
from pellucid.show.text_layout import width

POINTS = [[0, 1], [1, 3], [2, 0], [4, 1]], [0, 0, 1, 1]
SHORT = {"shuffle": False, "learning_rate": "constant", "tol": None}


def test_two_steps_by_hand():
    model = SGDClassifier(alpha=0.5, eta0=0.5, max_iter=1, **SHORT)
    work = show_work(model, [[1], [3]], ["a", "b"])
    # each step shrinks w by 1 - 1/2 * 1/2 = 3/4. Row 1: f = 0, w = -1/2, b = -1/2. Row 2: f = -3/2 - 1/2 = -2, so
    # w = 3/4 * -1/2 + 1/2 * 3 = 9/8 and b = -1/2 + 1/2 = 0
    # the objective before each step: 1, and 1 + 2 + 1/4 (1/2)^2 = 49/16; on average 65/32
    objectives = [Rational(65, 32)]
    assert work.answer == {
        "coef_": [[Rational(9, 8)]],
        "intercept_": [0],
        "n_iter_": 1,
        "t_": 3,
        "objectives": objectives,
    }
    assert model.fit([[1], [3]], ["a", "b"]).trace_["objective"] == pytest.approx(65 / 32)
    assert "max_iter ends the work after 1 epoch." in work.text()


def test_a_row_that_is_beyond_its_margin_rests():
    work = show_work(SGDClassifier(penalty=None, eta0=1.0, max_iter=2, **SHORT), [[1], [-1]], ["b", "a"])
    # row 1: w = 1, b = 1; row 2: f = 0, w = 2, b = 0; then f = 2 and y f = 2: nothing moves
    assert work.answer["coef_"] == [[2]]
    assert "rests" in work.text()


def test_the_optimal_steps_by_hand():
    # alpha = 10^-4: t0 = 1000, so the first step is 1 / (10^-4 * 1000) = 10
    work = show_work(SGDClassifier(random_state=0), *POINTS)
    assert "= 1000" in work.text()
    assert "random order" in work.text()
    assert "more than rounding" not in work.text()


LOSSES = ["hinge", "perceptron", "squared_hinge", "log_loss", "squared_error"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("schedule", ["optimal", "constant", "invscaling"])
def test_agrees_with_both_programs(loss, schedule):
    rng = np.random.default_rng(len(loss))
    X, y = rng.standard_normal((6, 2)).round(2), np.array(["no", "yes"])[np.arange(6) % 2]  # no scores of exactly 0
    settings = {"loss": loss, "learning_rate": schedule, "alpha": 0.5, "eta0": 0.1, "max_iter": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in (
            SGDClassifier(random_state=3, **settings),
            SGDClassifier(shuffle=False, **settings),
            SGDClassifier(fit_intercept=False, penalty=None, random_state=1, **settings),
            peer.SGDClassifier(shuffle=False, **settings),
        ):
            assert "more than rounding" not in show_work(model, X, y).text()


def test_equal_rows_count_together():
    X, y = [[1, 0], [1, 0], [0, 1]], [0, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        work = show_work(SGDClassifier(random_state=0, max_iter=3), X, y)
    assert "counts 2 times" in " ".join(work.text().split())
    assert "more than rounding" not in work.text()


def test_the_largest_data_allowed_fit_eighty_columns_in_every_format():
    rng = np.random.default_rng(1)
    names = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]
    for p in (1, 2, 4):
        frame = pd.DataFrame(rng.standard_normal((12, p)).round(3), columns=names[:p])
        for loss in ("hinge", "log_loss"):
            work = show_work(SGDClassifier(loss, random_state=0, max_iter=3, tol=None), frame, np.arange(12) % 2)
            assert max(map(width, work.text().splitlines())) <= 80
            assert all(len(work.printed(kind)) > 1000 for kind in ("markdown", "latex", "html"))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SGDClassifier("huber"), "loss must be one of .* got 'huber'"),
        (SGDClassifier(penalty="l1"), "penalty must be 'l2' or None to show the work, got 'l1'"),
        (SGDClassifier(learning_rate="adaptive"), "learning_rate must be one of .* got 'adaptive'"),
        (SGDClassifier(average=True), "average must be False to show the work, got True"),
        (peer.SGDClassifier(), "shuffle must be False to show the work"),
        (SGDClassifier(shuffle=False, tol=None), "max_iter must be at most 60 to be worked by hand"),
    ],
)
def test_refuses_what_it_cannot_write_down(model, message):
    with pytest.raises(ValueError, match=message):
        show_work(model, *POINTS)


def test_refuses_too_many_rows_and_classes():
    with pytest.raises(ValueError, match="at most 12 rows"):
        show_work(SGDClassifier(), np.ones((13, 1)), np.arange(13) % 2)
    with pytest.raises(ValueError, match="y must have 2 classes to be worked by hand, got 3"):
        show_work(SGDClassifier(), [[1], [2], [3]], [0, 1, 2])


# batches


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss", "squared_error"])
def test_a_batch_takes_the_mean_of_the_slopes_of_its_rows(loss):
    X, y = np.array([[1.0, 2.0], [3.0, 0.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([1, 1, -1, -1])
    batches, step, alpha = [[1, 3], [2, 4], [1, 2, 3, 4]], 0.5, 0.1
    work = show_work("mini-batch descent", X, y, batches=batches, loss=loss, step_size=step, alpha=alpha)
    slope = {
        "hinge": lambda s, f: -s * (s * f <= 1),
        "squared_hinge": lambda s, f: -2 * s * np.maximum(0, 1 - s * f),
        "log_loss": lambda s, f: -s / (1 + np.exp(s * f)),
        "squared_error": lambda s, f: f - s,
    }[loss]
    w, b = np.zeros(2), 0.0
    for batch in batches:
        rows = np.array(batch) - 1
        pulls = slope(y[rows], X[rows] @ w + b)
        w, b = (1 - step * alpha) * w - step * (pulls @ X[rows]) / len(rows), b - step * pulls.mean()
    np.testing.assert_allclose(np.array(work.answer["coef_"], dtype=float), w, rtol=1e-9)
    assert float(work.answer["intercept_"]) == pytest.approx(b)


def test_batches_of_one_row_are_the_steps_of_the_program():
    X, y = [[1.0], [3.0], [-1.0], [-2.0]], [1, 1, 0, 0]
    model = SGDClassifier(
        "hinge", penalty=None, learning_rate="constant", eta0=0.5, shuffle=False, max_iter=1, tol=None
    )
    work = show_work("mini-batch descent", X, y, batches=[[1], [2], [3], [4]], step_size=0.5)
    model.fit(X, y)
    assert float(work.answer["coef_"][0]) == pytest.approx(model.coef_[0, 0])
    assert float(work.answer["intercept_"]) == pytest.approx(model.intercept_[0])


@pytest.mark.parametrize("batches", [[], [[]], [[0, 1]], [[5]], [["a"]], 3])
def test_batches_that_are_none_get_a_sentence(batches):
    with pytest.raises(ValueError, match="batches must be 1 to 8 lists of rows from 1 to 4"):
        show_work("mini-batch descent", [[1], [3], [-1], [-2]], [1, 1, 0, 0], batches=batches)
