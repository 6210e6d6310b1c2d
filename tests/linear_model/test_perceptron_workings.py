from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sympy import Rational

import pellucid
from pellucid.linear_model import KernelPerceptron, Perceptron
from pellucid.show import show_work
from pellucid.show.text_layout import width

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
        KernelPerceptron(max_iter=2),
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


SHOWN_TWICE = ([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 0, 0, 1, 1])


def test_at_its_defaults_the_perceptron_shows_the_orders_that_the_program_drew():
    work = show_work(Perceptron(), *SHOWN_TWICE)
    text = work.text()
    assert "random order: the one that the program drew" in text
    assert "row 4 counts 2 times" in " ".join(text.split()) or "row 5 counts 2 times" in " ".join(text.split())
    assert "more than rounding" not in text


def test_at_its_defaults_the_kernel_perceptron_shows_its_products():
    work = show_work(KernelPerceptron(), [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    # all entries have the variance 1/4, so gamma is 1 / (2 / 4) = 2; e^-2 = 0.13533 for neighbors, and the intercept
    assert "1.13533…" in work.text()
    assert "k = e^−2‖x−z‖²" in work.text()
    assert "more than rounding" not in work.text()
    assert "≤" in work.text()  # the bound on the mistakes


def test_mistakes_of_rows_that_stand_for_several_are_weighed_in_the_bound():
    # one machine through 0: the row (1) of weight 2 is a mistake once, w = 2; then all is right.
    work = show_work(Perceptron(fit_intercept=False), [[1], [1], [-1]], ["b", "b", "a"])
    assert "∑ s" in work.text()
    assert "more than rounding" not in work.text()
    assert work.answer["n_mistakes_"] == 1


def test_a_seed_of_none_is_shown_as_it_fell():
    for model in (Perceptron(random_state=None), KernelPerceptron(random_state=None)):
        assert "more than rounding" not in show_work(model, *AND).text()
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "dual_coef_")


def test_a_fitted_model_is_worked_again_with_its_seed_or_from_its_record():
    model = Perceptron(random_state=3).fit(*AND)
    assert "more than rounding" not in show_work(model, *AND).text()
    with pellucid.record():
        recorded = Perceptron(random_state=None).fit(*AND)
    assert "more than rounding" not in show_work(recorded, *AND).text()


@pytest.mark.parametrize("seed", range(8))
def test_shuffled_epochs_agree_with_the_program(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (6, 2)) / 2, np.arange(6) % 2
    for model in (
        Perceptron(random_state=seed, max_iter=8),
        Perceptron(random_state=seed, max_iter=8, fit_intercept=False, eta0=0.5),
        KernelPerceptron(random_state=seed, max_iter=8),
        KernelPerceptron("poly", random_state=seed, max_iter=8, degree=2, coef0=1.0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert "more than rounding" not in show_work(model, X, y).text()


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
        show_work(peer.Perceptron(), *AND)
    with pytest.raises(ValueError, match="X must be dense to show the work"):
        show_work(Perceptron(), sparse.csr_array(np.array(AND[0], dtype=float)), AND[1])
    with pytest.raises(
        ValueError, match="random_state must be a whole number .* a fitted model that shuffles, got None"
    ):
        show_work(Perceptron(random_state=None).fit(*AND), *AND)
    with pytest.raises(ValueError, match="kernel must be 'linear', 'poly' or 'rbf' to show the work, got 'sigmoid'"):
        show_work(KernelPerceptron("sigmoid"), *AND)
    with pytest.raises(ValueError, match="degree must be a whole number"):
        show_work(KernelPerceptron("poly", degree=1.5), *AND)
    with pytest.raises(ValueError, match="y must have 2 classes to be worked by hand, got 3"):
        show_work(Perceptron(shuffle=False), [[0], [1], [2]], [0, 1, 2])
    with pytest.raises(ValueError, match="max_iter must be at most 40 for these 3 rows to be worked by hand"):
        show_work(Perceptron(shuffle=False, tol=None), [[0], [1], [2]], [0, 1, 0])
