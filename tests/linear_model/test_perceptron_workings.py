from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sympy import Rational

from pellucid.linear_model import KernelPerceptron, Perceptron
from pellucid.workings import show_work
from pellucid.workings.text_layout import width

AND = ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])


def test_two_points_by_hand():
    # the epochs are written out in test_perceptron.py; R^2 = 10, the line 2 x - 4 has margins 2 and lengths 4 + 16
    work = show_work(Perceptron(shuffle=False), [[1], [3]], ["a", "b"])
    assert work.answer == {"coef_": [[2]], "intercept_": [-4], "n_mistakes_": 10}
    text = work.text()
    assert "10 mistakes in all" in text
    assert "10 ≤ ── = 50" in text
    assert "more than rounding" not in text


def test_half_steps_without_an_intercept_by_hand():
    work = show_work(Perceptron(shuffle=False, fit_intercept=False, eta0=0.5), [[1], [-3]], ["a", "b"])
    assert work.answer == {"coef_": [[Rational(-1, 2)]], "intercept_": [0], "n_mistakes_": 1}
    assert "1 mistake in all" in work.text()


def test_and_is_learned_and_every_printer_prints_it():
    work = show_work(Perceptron(shuffle=False, tol=None, max_iter=20), *AND)
    assert "wrong" in work.text()
    assert "finds every row right" in work.text()
    for form in ("markdown", "latex", "html"):
        assert "Epoch" in work.printed(form)


def test_rows_that_cannot_be_separated_stop_by_tol_or_by_max_iter():
    X, y = [[0], [1], [2]], [0, 1, 0]
    assert "has not improved by tol" in show_work(Perceptron(shuffle=False), X, y).text()
    work = show_work(Perceptron(shuffle=False, tol=None, max_iter=3), X, y)
    assert "max_iter ends the work after 3 epochs" in work.text()
    assert "no margin to bound their number" in work.text()


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(shuffle=False, max_iter=2, tol=None),
        peer.Perceptron(shuffle=False, max_iter=2, tol=None),
        KernelPerceptron("poly", gamma=1.0, degree=2, coef0=1.0, shuffle=False, max_iter=2),
    ],
    ids=lambda model: type(model).__module__,
)
def test_the_largest_data_allowed_fit_eighty_columns(model):
    rng = np.random.default_rng(1)
    n = 7 if isinstance(model, KernelPerceptron) else 12
    names = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]
    frame = pd.DataFrame(rng.standard_normal((n, 4)).round(3), columns=names)
    work = show_work(model, frame, np.arange(n) % 2)
    assert "more than rounding" not in work.text()
    assert max(map(width, work.text().splitlines())) <= 80


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1.0, 0.25]))
def test_agrees_with_both_programs(seed, fit_intercept, eta0):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (6, 2)) / 2, np.array(["no", "yes"])[np.arange(6) % 2]
    how = {"shuffle": False, "fit_intercept": fit_intercept, "eta0": eta0, "max_iter": 12}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        work = show_work(Perceptron(**how), X, y)
        models = [kind(**how).fit(X, y) for kind in (Perceptron, peer.Perceptron)]
    assert "more than rounding" not in work.text()
    for model in models:
        np.testing.assert_allclose(model.coef_, np.array(work.answer["coef_"], float), atol=1e-12)
        np.testing.assert_allclose(model.intercept_, np.array(work.answer["intercept_"], float), atol=1e-12)
    assert models[0].n_mistakes_ == work.answer["n_mistakes_"]


def test_refuses_what_it_cannot_write_down():
    with pytest.raises(ValueError, match="shuffle must be False to show the work, got True"):
        show_work(Perceptron(), *AND)
    with pytest.raises(ValueError, match="y must have 2 classes to be worked by hand, got 3"):
        show_work(Perceptron(shuffle=False), [[0], [1], [2]], [0, 1, 2])
    with pytest.raises(ValueError, match="max_iter must be at most 40 for these 3 rows to be worked by hand"):
        show_work(Perceptron(shuffle=False, tol=None), [[0], [1], [2]], [0, 1, 0])
