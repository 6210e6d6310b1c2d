from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge as PeerRidge
from sympy import Rational

from pellucid.linear_model import LinearRegression, Ridge
from pellucid.show import show_work

small_tables = st.integers(0, 10**6).map(lambda seed: np.random.default_rng(seed).integers(-5, 6, (6, 4)) / 2)


def test_one_feature_is_shrunk_by_hand():
    # Sxx = 10, Sxy = 17/2: w = (17/2) / (10 + 1/2), a factor 20/21 of least squares
    work = show_work(Ridge(alpha=0.5), [[1], [2], [4], [5]], [2, 3, 3.5, 6])
    assert work.answer == {"coef_": [Rational(17, 21)], "intercept_": Rational(67, 56)}
    assert "20\n    ──────── = ──\n    S_xx + α   21" in work.text()


def test_two_features_by_hand():
    # [[12, -6], [-6, 7]] w = [17/2, -21/4]; eigenvalues of X'X are 14 and 1
    work = show_work(Ridge(alpha=2), [[1, 7], [2, 8], [4, 6], [5, 5]], [2, 3, 3.5, 6])
    assert work.answer["coef_"] == [Rational(7, 12), Rational(-1, 4)]
    assert "14            7/8  0.8750" in work.text()


def test_no_penalty_is_least_squares():
    X, y = [[1, 0], [2, 1], [3, 5]], [1, 2, 4]
    assert show_work(Ridge(alpha=0), X, y).answer == show_work(LinearRegression(), X, y).answer


def test_dependent_columns_are_no_trouble():
    # X'X = [[2, 4], [4, 8]], so w is (1, 2) times 3 / (10 + 1)
    work = show_work(Ridge(alpha=1), [[1, 2], [2, 4], [3, 6]], [1, 2, 4])
    assert work.answer["coef_"] == [Rational(3, 11), Rational(6, 11)]


@settings(max_examples=25, deadline=None)
@given(small_tables, st.sampled_from([0.1, 1.0, 2.5]), st.booleans())
def test_agrees_with_both_programs(table, alpha, fit_intercept):
    X, y = table[:, :-1], table[:, -1]
    exact = show_work(Ridge(alpha=alpha, fit_intercept=fit_intercept), X, y).answer
    for kind in (Ridge, PeerRidge):
        model = kind(alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
        np.testing.assert_allclose(model.coef_, np.array(exact["coef_"], float), atol=1e-9)
        assert model.intercept_ == pytest.approx(float(exact["intercept_"]), abs=1e-9)


def test_refuses_one_penalty_per_target():
    with pytest.raises(TypeError, match="alpha must be a number at least 0"):
        show_work(Ridge(alpha=[1.0]), [[1], [2]], [1, 2])


def test_ridge_cv_leaves_rows_out_without_a_second_fit():
    from pellucid.linear_model import Ridge, RidgeCV

    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0, 4.0])
    work = show_work(RidgeCV(), X, y)
    assert work.answer["scores"][1] == Rational(2045, 2601)
    errors = []
    for i in range(4):  # with a second fit it is the same
        others = [j for j in range(4) if j != i]
        errors.append((y[i] - Ridge(alpha=1).fit(X[others], y[others]).predict(X[[i]])[0]) ** 2)
    assert float(work.answer["scores"][1]) == pytest.approx(np.mean(errors))
    assert "more than rounding" not in work.text()
    assert work.answer["alpha_"] == Rational(1, 10)
    with pytest.raises(ValueError, match="cv must be None to show the work"):
        show_work(RidgeCV(cv=2), X, y)
