from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model as peer
from sympy import Matrix, Rational, zeros

from pellucid.linear_model import ElasticNet, Lasso, LassoCV
from pellucid.linear_model.sparse_regression.elastic_net_exact_workings import ElasticNetProblem
from pellucid.show import show_work

seeds = st.integers(0, 10**6)


def small_table(seed, rows=6, columns=4):
    return np.random.default_rng(seed).integers(-5, 6, (rows, columns)) / 2


def exact_problem(seed, **penalties):
    table = Matrix(small_table(seed).astype(int).tolist())
    return ElasticNetProblem(table[:, :3], table[:, 3], **penalties)


def test_one_feature_is_soft_thresholding():
    # centered: a = rho = 2/3, so w = (2/3 - 1/2) / (2/3) = 1/4
    work = show_work(Lasso(alpha=0.5), [[0], [1], [2]], [0, 1, 2])
    assert work.answer["coef_"] == [Rational(1, 4)]
    assert work.answer["gap"] == 0


def test_the_three_cases_of_the_threshold():
    problem = ElasticNetProblem(Matrix([[1]]), Matrix([1]), Rational(1, 2), Rational(0))
    assert [problem.soft_threshold(Rational(rho)) for rho in (2, -2)] == [Rational(3, 2), Rational(-3, 2)]
    assert [problem.soft_threshold(rho) for rho in (Rational(1, 2), Rational(-1, 2), Rational(0))] == [0, 0, 0]


def test_an_orthonormal_design_is_thresholded_not_scaled():
    # X'X / n = I, and X'y / n = (3, 1): with alpha = 2 that is (1, 0), not (3, 1) / (1 + 2)
    X, y = [[1, 1], [1, -1], [-1, 1], [-1, -1]], [4, 2, -2, -4]
    assert show_work(Lasso(alpha=2, fit_intercept=False), X, y).answer["coef_"] == [1, 0]


def test_elastic_net_by_hand():
    # centered: (X'X / 4 + I / 8) w = X'y / 4 - 1/8, that is [[11/8, 1/2], [1/2, 11/8]] w = (5/4, 5/4)
    work = show_work(ElasticNet(alpha=0.25, tol=1e-10), [[1, 0], [2, 1], [3, -1], [4, 2]], [1, 3, 2, 5])
    assert work.answer["coef_"] == [Rational(2, 3), Rational(2, 3)]
    assert work.answer["first_sweep"] == [Rational(10, 11), Rational(70, 121)]


def test_a_large_penalty_gives_zero_and_a_small_one_warns_of_nothing():
    assert show_work(Lasso(alpha=100), [[0], [1], [2]], [0, 1, 2]).answer["coef_"] == [0]


def test_nonnegative_coefficients_stay_so():
    X, y = [[1, 0], [0, 1], [2, 1]], [1, -5, 0]
    work = show_work(Lasso(alpha=0.1, positive=True, tol=1e-10), X, y)
    assert min(work.answer["coef_"]) == 0
    assert "must not be negative" in work.text()
    assert "more than rounding" not in work.text()


def test_a_minimum_that_is_not_unique_is_called_so():
    work = show_work(Lasso(alpha=0.1), [[0, 0], [1, 1], [2, 2]], [0, 1, 2])
    assert "other coefficients reach the same minimum" in work.markdown()
    assert "coef_" not in work.answer
    assert work.answer["gap"] == 0


def test_says_where_lecture_notes_go_wrong():
    text = show_work(Lasso(alpha=0.5), [[0], [1], [2]], [0, 1, 2]).text()
    assert "in both or in neither" in text
    assert "That is ridge" in text


@settings(max_examples=30, deadline=None)
@given(
    seeds,
    st.sampled_from([Rational(1, 10), Rational(1)]),
    st.sampled_from([Rational(0), Rational(1, 3)]),
    st.booleans(),
)
def test_the_gap_bounds_the_distance_to_the_minimum(seed, l1, l2, positive):
    problem = exact_problem(seed, l1=l1, l2=l2, positive=positive)
    w = problem.minimum(zeros(3, 1))
    assert problem.gap(w) == 0
    iterate, _ = problem.sweep(zeros(3, 1))
    assert problem.objective(iterate) - problem.objective(w) <= problem.gap(iterate)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_no_sweep_raises_the_objective(seed):
    problem = exact_problem(seed, l1=Rational(1, 4), l2=Rational(1, 5))
    w = zeros(3, 1)
    for _ in range(3):
        lower, _ = problem.sweep(w)
        assert problem.objective(lower) <= problem.objective(w)
        w = lower


@settings(max_examples=20, deadline=None)
@given(seeds, st.sampled_from([0.1, 0.5]), st.booleans(), st.booleans())
def test_agrees_with_both_programs(seed, alpha, fit_intercept, positive):
    table = small_table(seed)
    X, y = table[:, :-1], table[:, -1]
    options = {"alpha": alpha, "l1_ratio": 0.5, "fit_intercept": fit_intercept, "positive": positive, "tol": 1e-12}
    exact = show_work(ElasticNet(**options), X, y).answer
    for kind in (ElasticNet, peer.ElasticNet):
        model = kind(**options, max_iter=100_000).fit(X, y)
        np.testing.assert_allclose(model.coef_, np.array(exact["coef_"], float), atol=1e-5)


def test_refuses_penalties_without_a_threshold():
    with pytest.raises(ValueError, match=r"alpha and l1_ratio must be above 0 .*Use LinearRegression"):
        show_work(peer.ElasticNet(alpha=1.0, l1_ratio=0), [[1], [2]], [1, 2])


# the penalty chosen by parts left out


def test_lasso_cv_fits_every_part_left_out_and_chooses():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [6.0]]), np.array([1.0, 1.0, 3.0, 2.0, 5.0, 6.0])
    work = show_work(LassoCV(alphas=[0.1, 1, 0.5], cv=3), X, y, new=[[5]])
    assert work.answer["alphas_"] == [1, Rational(1, 2), Rational(1, 10)]
    assert work.answer["mse_path_"][0] == [Rational(2873, 1225), Rational(9001, 8281), Rational(229, 16)]
    errors = [
        np.mean((y[part] - Lasso(1.0).fit(np.delete(X, part, 0), np.delete(y, part)).predict(X[part])) ** 2)
        for part in ([0, 1], [2, 3], [4, 5])
    ]
    np.testing.assert_allclose(np.array(work.answer["mse_path_"][0], dtype=float), errors, rtol=1e-6)
    assert work.answer["coef_"] == [Rational(153, 175)]
    assert work.answer["predicted"] == [Rational(126, 25)]
    assert "more than rounding" not in work.text()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alphas": 100}, "alphas must be a list to be worked by hand"),
        ({"alphas": [0.0, 1.0]}, "alphas must be 1 to 4 numbers above 0"),
        ({"alphas": [1.0], "cv": 5}, "cv must make at most 4 parts"),
    ],
)
def test_lasso_cv_refuses_what_is_too_long_for_a_board(settings, words):
    with pytest.raises(ValueError, match=words):
        show_work(LassoCV(**settings), [[0], [1], [2], [3], [5]], [0, 1, 1, 3, 4])
