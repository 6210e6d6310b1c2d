from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sympy import Rational

from pellucid.linear_model import LinearRegression
from pellucid.show import show_work

small_tables = st.integers(0, 10**6).map(lambda seed: np.random.default_rng(seed).integers(-5, 6, (7, 4)) / 2)


def test_one_feature_by_hand():
    # means 3 and 29/8, Sxx = 10, Sxy = 17/2
    work = show_work(LinearRegression(), [[1], [2], [4], [5]], [2, 3, 3.5, 6])
    assert work.answer == {"coef_": [Rational(17, 20)], "intercept_": Rational(43, 40)}
    for written in ("S_xx = 10 and", "S_xy = 17/2", "RSS = 117/80", "578"):
        assert written in work.text()


def test_through_the_origin_by_hand():
    # sum xy / sum x^2 = 9 / 5
    work = show_work(LinearRegression(fit_intercept=False), [[1], [2]], [1, 4])
    assert work.answer == {"coef_": [Rational(9, 5)], "intercept_": 0}


def test_two_features_by_hand():
    # X'X = [[10, -6], [-6, 5]], X'y = [17/2, -21/4], determinant 14
    work = show_work(LinearRegression(), [[1, 7], [2, 8], [4, 6], [5, 5]], [2, 3, 3.5, 6])
    assert work.answer == {"coef_": [Rational(11, 14), Rational(-3, 28)], "intercept_": Rational(55, 28)}
    assert "⎡10  −6⎤" in work.text()


def test_dependent_columns_get_the_shortest_solution_and_are_told():
    work = show_work(LinearRegression(), [[1, 2], [2, 4], [3, 6]], [1, 2, 4])
    assert work.answer["coef_"] == [Rational(3, 10), Rational(3, 5)]
    assert "singular" in work.text()
    assert "more than rounding" not in work.text()


def test_a_constant_feature_gets_zero():
    work = show_work(LinearRegression(), [[2], [2], [2]], [1, 2, 6])
    assert work.answer == {"coef_": [0], "intercept_": 3}


def test_a_constant_target_has_no_r_squared():
    assert "is not defined" in show_work(LinearRegression(), [[1], [2]], [3, 3]).text()


@settings(max_examples=25, deadline=None)
@given(small_tables, st.booleans())
def test_agrees_with_both_programs(table, fit_intercept):
    X, y = table[:, :-1], table[:, -1]
    exact = show_work(LinearRegression(fit_intercept=fit_intercept), X, y).answer
    for kind in (LinearRegression, PeerLinearRegression):
        model = kind(fit_intercept=fit_intercept).fit(X, y)
        np.testing.assert_allclose(model.coef_, np.array(exact["coef_"], float), atol=1e-9)
        assert model.intercept_ == pytest.approx(float(exact["intercept_"]), abs=1e-9)


def test_refuses_nonnegative_least_squares():
    with pytest.raises(ValueError, match="positive must be False to show the work, got True"):
        show_work(LinearRegression(positive=True), [[1], [2]], [1, 2])
