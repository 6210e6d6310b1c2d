from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn import linear_model as peer
from sympy import Matrix, Rational

from pellucid import linear_model
from pellucid.linear_model import Lars, LassoLars
from pellucid.linear_model.least_angle.lars_workings import lars_path
from pellucid.linear_model.sparse_regression.elastic_net_exact_workings import ElasticNetProblem
from pellucid.show import show_work

HOURS = [[1, 7], [2, 8], [4, 6], [5, 5]]
MARKS = [2, 3, 3.5, 6]
LEAVER = [[1, 2, 0], [2, 1, 1], [3, -1, 5], [4, 2, 1], [5, 0, 2]]
PATHS = {"Lars": {}, "LassoLars": {"alpha": 0.05}}
seeds = st.integers(0, 10**6)


def test_two_features_by_hand():
    # c = (17/2, -21/4); x_2 catches up after (17/2 - 21/4) / (1 - 3/5) = 65/8; then on to least squares
    answer = show_work(Lars(), HOURS, MARKS).answer
    assert answer["alphas_"] == [Rational(17, 8), Rational(3, 32), 0]
    assert answer["coef_path_"] == [[0, Rational(13, 16), Rational(11, 14)], [0, 0, Rational(-3, 28)]]


def test_fewer_features_end_the_path_where_the_next_would_join():
    answer = show_work(Lars(n_nonzero_coefs=1), HOURS, MARKS).answer
    assert answer["coef_"] == [Rational(13, 16), 0]


def test_a_coefficient_that_returns_to_zero_leaves_the_lasso_path():
    work = show_work(LassoLars(alpha=0.05), LEAVER, [1, 3, 2, 5, 4])
    assert "x₃ leaves" in work.text()
    assert work.answer["coef_"] == [Rational(1099, 1180), Rational(123, 236), 0]
    assert "leaves" not in show_work(Lars(), LEAVER, [1, 3, 2, 5, 4]).text()


def test_a_penalty_above_every_correlation_keeps_all_at_zero():
    work = show_work(LassoLars(alpha=3), HOURS, MARKS)
    assert work.answer["coef_"] == [0, 0]
    assert "no feature is strong enough" in work.text()


def test_dependent_columns_do_not_join_twice():
    X = Matrix([[1, 2, 1], [2, 4, -1], [3, 6, 0]])
    segments = lars_path(X, Matrix([1, 2, 4]), lasso=False, stop=Rational(0), most=3)
    assert X.T * (Matrix([1, 2, 4]) - X * segments[-1].end) == Matrix([0, 0, 0])


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_every_breakpoint_is_a_lasso_solution(seed):
    table = Matrix(np.random.default_rng(seed).integers(-5, 6, (6, 4)).tolist())
    X, y = table[:, :3], table[:, 3]
    for segment in lars_path(X, y, lasso=True, stop=Rational(0), most=4):
        problem = ElasticNetProblem(X, y, segment.next_level / 6, Rational(0))
        assert problem.is_minimum(segment.end)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_the_largest_correlation_is_shared_by_all_active_features(seed):
    table = Matrix(np.random.default_rng(seed).integers(-5, 6, (6, 4)).tolist())
    X, y = table[:, :3], table[:, 3]
    for segment in lars_path(X, y, lasso=False, stop=Rational(0), most=3):
        after = X.T * (y - X * segment.end)
        assert all(abs(after[j]) == segment.next_level for j in segment.active)
        assert max(map(abs, after)) == segment.next_level


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from([Lars(), LassoLars(alpha=0.1)]))
@example(180, LassoLars(alpha=0.1))  # a feature joins with others and would turn at once
def test_ties_lead_to_the_exact_answer_too(seed, model):
    table = np.random.default_rng(seed).integers(-2, 3, (8, 5))  # small integers: features often join together
    X, y = table[:, :-1], table[:, -1]
    assume(np.linalg.matrix_rank(X - X.mean(axis=0)) == 4)
    exact = show_work(model, X, y).answer["coef_"]
    np.testing.assert_allclose(model.fit(X, y).coef_, np.array(exact, float), atol=1e-8)


@settings(max_examples=20, deadline=None)
@given(seeds, st.sampled_from([(room, name) for room in (linear_model, peer) for name in PATHS]))
def test_both_programs_find_the_same_path(seed, kind):
    room, name = kind
    model = getattr(room, name)(**PATHS[name])
    table = np.random.default_rng(seed).standard_normal((7, 4)).round(2)  # two decimals: ties are unlikely
    X, y = table[:, :-1], table[:, -1]
    assume(np.linalg.matrix_rank(X) == 3)
    exact, found = show_work(model, X, y).answer, model.fit(X, y)
    for attribute in ("coef_", "alphas_", "coef_path_"):
        np.testing.assert_allclose(getattr(found, attribute), np.array(exact[attribute], float), atol=1e-8)


def test_refuses_nonnegative_paths():
    with pytest.raises(ValueError, match="positive must be False to show the work, got True"):
        show_work(LassoLars(positive=True), HOURS, MARKS)
