"""The elastic net on a working set: invariants of every kind of step, small and large supports."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.linear_model.sparse_regression import elastic_net_subproblem
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import (
    ElasticNetPenalty,
    Subproblem,
    solve_subproblem,
)

seeds = settings(max_examples=25, deadline=None)


def subproblem(seed, penalty, n=40, k=25):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, k)) + 2.0 * rng.standard_normal((n, 1))  # correlated: descent alone is slow
    b = A @ rng.standard_normal(k) + rng.standard_normal(n)
    return A, b, Subproblem(A.T @ A, A.T @ b, np.zeros(k), float(b @ b), penalty)


@pytest.fixture(params=[0, 256], ids=["large support", "small support"], scope="module")
def support_limit(request):
    patch = pytest.MonkeyPatch()
    patch.setattr(elastic_net_subproblem, "SMALL_SUPPORT", request.param)
    yield request.param
    patch.undo()


@seeds
@given(seed=st.integers(0, 10_000), l2=st.sampled_from([0.0, 0.5]), positive=st.booleans())
def test_correlations_and_residual_stay_those_of_the_coefficients(support_limit, seed, l2, positive):
    A, b, problem = subproblem(seed, ElasticNetPenalty(1.0, l2, positive))
    solve_subproblem(problem, 1e-8 * float(b @ b), 1e-14 * float(b @ b), 5000, None)
    residual = b - A @ problem.w
    np.testing.assert_allclose(problem.g, A.T @ residual, atol=1e-8)
    assert problem.sq_residual == pytest.approx(float(residual @ residual), rel=1e-8)
    assert problem.gap <= 1e-8 * float(b @ b)
    assert not positive or problem.w.min() >= 0.0


def test_extrapolation_needs_fewer_passes(monkeypatch):
    monkeypatch.setattr(elastic_net_subproblem, "SMALL_SUPPORT", 0)
    penalty = ElasticNetPenalty(0.01, 0.0)
    accelerated = solve_subproblem(subproblem(1, penalty)[2], 1e-6, 1e-12, 100_000, None)
    monkeypatch.setattr(elastic_net_subproblem, "_extrapolate", lambda *arguments: None)
    assert accelerated < solve_subproblem(subproblem(1, penalty)[2], 1e-6, 1e-12, 100_000, None)


def test_extrapolated_point_is_better_and_consistent():
    A, b, problem = subproblem(2, ElasticNetPenalty(0.01, 0.0))
    problem.descend(np.arange(25), 0.0, 100, 20)
    iterates, correlations = [problem.w.copy()], [problem.g.copy()]
    for _ in range(5):
        problem.descend(np.arange(25), 0.0, 2, 1)
        iterates.append(problem.w.copy())
        correlations.append(problem.g.copy())
    before = 0.5 * problem.sq_residual + problem.penalty.at(problem.w)
    elastic_net_subproblem._extrapolate(problem, np.array(iterates), np.array(correlations))
    residual = b - A @ problem.w
    assert not np.array_equal(problem.w, iterates[-1])
    assert problem.sq_residual == pytest.approx(float(residual @ residual), rel=1e-9)
    np.testing.assert_allclose(problem.g, A.T @ residual, atol=1e-8)
    assert 0.5 * problem.sq_residual + problem.penalty.at(problem.w) < before
