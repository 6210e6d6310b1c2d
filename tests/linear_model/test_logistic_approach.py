"""The approach: one pass per step, with the equations of a part of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pellucid.linear_model.logistic.logistic_approach import approach, can_approach, pass_over
from pellucid.linear_model.logistic.logistic_hessian import factor_hessian
from pellucid.linear_model.logistic.logistic_newton import Descent, newton
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem
from pellucid.linear_model.sparse_regression.elastic_net_penalty import ElasticNetPenalty


def problem(n=20_000, p=6, fit_intercept=True, l2=1.0, l1=0.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + 0.5
    labels = (X @ rng.standard_normal(p) + rng.logistic(size=n) > 0.4).astype(int)
    return LogisticProblem(X, labels, 2, rng.integers(1, 4, n) * 1.0, ElasticNetPenalty(l1, l2), fit_intercept)


def minimum(task):
    at = task.point(np.zeros((task.design.shape[1], 1)), np.zeros(1))
    return newton(task, at, Descent(goal=1e-14, max_iter=50), factor_hessian)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_pass_gives_the_point_and_its_gradient(fit_intercept):
    task = problem(fit_intercept=fit_intercept)
    W, b = np.linspace(-1, 1, 6)[:, None], np.array([0.3 * fit_intercept])
    at, slope = pass_over(task, W, b)
    A = task.X - task.design.mean
    p = 1.0 / (1.0 + np.exp(-(A @ W + b)[:, 0]))
    residual = task.weight * (p - task.labels)
    np.testing.assert_allclose(slope[:-1, 0], A.T @ residual + W[:, 0])
    assert slope[-1, 0] == pytest.approx(residual.sum() if fit_intercept else 0.0)
    loss = -task.weight @ np.log(np.where(task.labels == 1, p, 1.0 - p))
    assert at.objective == pytest.approx(loss + 0.5 * np.sum(W**2))
    assert np.isnan(at.gap)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_equations_of_a_part_lead_to_the_minimum_of_all_rows(fit_intercept):
    task = problem(fit_intercept=fit_intercept)
    part = task.every(16)
    near = minimum(part)
    how = Descent(goal=1e-10, max_iter=50)
    start = part.intercept(near) + task.design.mean @ near.W if fit_intercept else np.zeros(1)
    at = approach(task, near.W, start, how, factor_hessian(part, near, 0.0))
    assert at.gap <= 1.1e-10 * at.objective
    np.testing.assert_allclose(at.W, minimum(task).W, atol=1e-6)
    assert how.n_iter <= 8
    assert np.isnan(how.trace["gap"]).all()


def test_what_was_seen_of_all_rows_corrects_the_equations():
    task = problem()
    part = task.every(64)
    near = minimum(part)
    equations = factor_hessian(part, near, 0.0)
    how = Descent(goal=1e-10, max_iter=50)
    start = part.intercept(near) + task.design.mean @ near.W
    approach(task, near.W, start, how, equations)
    at, plain = pass_over(task, near.W, start), 0
    while at.estimated_gap(1.0) > 1e-10 * at.at.objective:
        step = equations.step_from(at.slope)
        at, plain = pass_over(task, at.at.W + step[:-1], at.at.b + step[-1]), plain + 1
    assert how.n_iter < plain


def test_equations_of_another_problem_are_given_up():
    task = problem()
    wrong = problem(l2=1e6)
    equations = factor_hessian(wrong, minimum(wrong), 0.0)
    how = Descent(goal=1e-10, max_iter=50)
    at = approach(task, np.zeros((6, 1)), np.zeros(1), how, equations)
    assert how.n_iter < 50
    assert at.gap > 1e-10 * at.objective


def test_only_dense_rows_of_two_classes_with_an_l2_penalty_are_approached():
    task = problem(n=5000)
    assert can_approach(task)
    assert not can_approach(problem(n=5000, l1=1.0))
    assert not can_approach(problem(n=5000, l2=0.0))
    assert not can_approach(
        LogisticProblem(sparse.csr_array(task.X), task.labels, 2, task.weight, task.penalty, fit_intercept=True)
    )
    assert not can_approach(LogisticProblem(task.X, task.labels, 3, task.weight, task.penalty, fit_intercept=True))


def test_an_intercept_on_a_plateau_without_curvature_does_no_harm():
    task = problem(n=600)
    assert np.isfinite(task.settle(np.ones((600, 1)), np.array([800.0])).loss)
