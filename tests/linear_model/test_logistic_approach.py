"""The approach: one pass per step, with the equations of a part of the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from pellucid.core.fit import Effort
from pellucid.core.trace import Trace
from pellucid.linear_model.logistic.logistic_hessian import factored_equations, full_gradient
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem
from pellucid.linear_model.logistic.logistic_solvers import (
    approach_points,
    can_approach,
    follow,
    newton_points,
    one_pass,
)
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import ElasticNetPenalty


def problem(n=20_000, p=6, fit_intercept=True, l2=1.0, l1=0.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + 0.5
    labels = (X @ rng.standard_normal(p) + rng.logistic(size=n) > 0.4).astype(int)
    weight = rng.integers(1, 4, n) * 1.0
    return LogisticProblem(X, labels, np.arange(2), weight, ElasticNetPenalty(l1, l2), fit_intercept)


def minimum(task):
    start = task.point(np.zeros((task.design.shape[1], 1)), np.zeros(1))
    return follow(task, newton_points(task, start, 1e-14), Effort(1e-14, 50), Trace())[0]


def approached(task, W, b, equations):
    """Return the point that the approach ends at, its intercept at its best, with the steps done and the trace."""
    trace = Trace()
    near, n_iter, _ = follow(task, approach_points(task, W, b, equations), Effort(1e-10, 50), trace)
    return task.point_at(near.W, near.Z, task.best_intercept(near.Z, near.b)), n_iter, trace


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_pass_gives_the_point_and_its_gradient(fit_intercept):
    task = problem(fit_intercept=fit_intercept)
    W, b = np.linspace(-1, 1, 6)[:, None], np.array([0.3 * fit_intercept])
    point = one_pass(task, W, b)
    gradient = full_gradient(task, point)
    A = task.X - task.design.mean
    p = 1.0 / (1.0 + np.exp(-(A @ W + b)[:, 0]))
    residual = task.weight * (p - task.labels)
    np.testing.assert_allclose(gradient[:-1, 0], A.T @ residual + W[:, 0])
    assert gradient[-1, 0] == pytest.approx(residual.sum() if fit_intercept else 0.0)
    loss = -task.weight @ np.log(np.where(task.labels == 1, p, 1.0 - p))
    assert point.objective == pytest.approx(loss + 0.5 * np.sum(W**2))
    assert np.isnan(point.gap)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_equations_of_a_part_lead_to_the_minimum_of_all_rows(fit_intercept):
    task = problem(fit_intercept=fit_intercept)
    part = task.every(16)
    near = minimum(part)
    start = near.intercept + task.design.mean @ near.W if fit_intercept else np.zeros(1)
    point, n_iter, trace = approached(task, near.W, start, factored_equations(part, near))
    assert point.gap <= 1.1e-10 * point.objective
    np.testing.assert_allclose(point.W, minimum(task).W, atol=1e-6)
    assert n_iter <= 8
    assert np.isnan(trace["gap"]).all()


def test_what_was_seen_of_all_rows_corrects_the_equations():
    task = problem()
    part = task.every(64)
    near = minimum(part)
    equations = factored_equations(part, near)
    start = near.intercept + task.design.mean @ near.W
    _, n_iter, _ = approached(task, near.W, start, equations)
    point, plain = one_pass(task, near.W, start), 0
    while point.distance > 1e-10:
        step = equations.solve(full_gradient(task, point))
        point, plain = one_pass(task, point.W + step[:-1], point.b + step[-1]), plain + 1
    assert n_iter < plain


def test_equations_of_another_problem_are_given_up():
    task = problem()
    wrong = problem(l2=1e6)
    equations = factored_equations(wrong, minimum(wrong))
    point, n_iter, _ = approached(task, np.zeros((6, 1)), np.zeros(1), equations)
    assert n_iter < 50
    assert point.gap > 1e-10 * point.objective


def test_only_dense_rows_of_two_classes_with_an_l2_penalty_are_approached():
    task = problem(n=5000)
    assert can_approach(task)
    assert not can_approach(problem(n=5000, l1=1.0))
    assert not can_approach(problem(n=5000, l2=0.0))
    assert not can_approach(replace(task, X=sparse.csr_array(task.X)))
    assert not can_approach(replace(task, classes=np.arange(3)))


def test_an_intercept_on_a_plateau_without_curvature_does_no_harm():
    task = problem(n=600)
    assert np.isfinite(task.best_intercept(np.ones((600, 1)), np.array([800.0])).loss)
