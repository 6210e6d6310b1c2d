"""The loops of the l1 family, compiled and as plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.linear_model import coordinate_descent_kernels as descent
from pellucid.linear_model.coordinate_descent_kernels import elastic_net_gap, gather_block, gram_descent, soft_threshold
from pellucid.linear_model.least_angle.lars_kernels import arrivals_within, next_arrival
from pellucid.linear_model.least_angle.lars_solvers import GrowingCholesky, Scout
from pellucid.linear_model.least_angle.packed_cholesky_kernels import delete_packed_column

seeds = settings(max_examples=15, deadline=None)
seed = st.integers(0, 10_000)


@pytest.fixture
def plain_python(monkeypatch):
    """Run kernels that call others without the compiler."""
    for name in ("soft_threshold", "elastic_net_gap", "_gap_of_shrunk_residual", "_gap_of_residual"):
        monkeypatch.setattr(descent, name, getattr(descent, name).py_func)


def small_gram(seed, n=12, k=5):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((n, k)), rng.standard_normal(n)
    return A, b, A.T @ A


@pytest.mark.parametrize(
    ("z", "positive", "expected"), [(3.0, False, 1.0), (-3.0, False, -1.0), (1.5, False, 0.0), (-3.0, True, 0.0)]
)
def test_soft_threshold_moves_towards_zero(z, positive, expected):
    assert soft_threshold(z, 2.0, positive) == soft_threshold.py_func(z, 2.0, positive) == expected


@pytest.mark.parametrize(("l2", "positive"), [(0.0, False), (0.0, True), (0.7, False), (0.7, True)])
def test_compiled_and_plain_descent_agree(plain_python, l2, positive):
    A, b, G = small_gram(0)
    answers = []
    for kernel in (gram_descent, gram_descent.py_func):
        w, g = np.zeros(5), A.T @ b
        passes, gap, sq_residual = kernel(G, g, w, np.arange(5), 1.0, l2, positive, b @ b, 1e-12, 50, 500)
        np.testing.assert_allclose(g, A.T @ (b - A @ w), atol=1e-12)
        assert sq_residual == pytest.approx(np.sum((b - A @ w) ** 2))
        assert gap <= 1e-12 or passes == 500
        answers.append((w, passes))
    np.testing.assert_allclose(answers[0][0], answers[1][0], atol=1e-14)
    assert answers[0][1] == answers[1][1]


@seeds
@given(seed, st.sampled_from([0.0, 0.3]), st.booleans())
def test_gap_is_primal_less_dual(seed, l2, positive):
    A, b, _ = small_gram(seed)
    rng = np.random.default_rng(seed)
    w = np.where(rng.random(5) < 0.5, 0.0, rng.standard_normal(5))
    w = np.abs(w) if positive else w
    r = b - A @ w
    c = A.T @ r

    def dual(theta, tail):
        slopes = A.T @ theta + np.sqrt(l2) * tail
        assert (slopes if positive else np.abs(slopes)).max() <= 1.0 + 1e-12
        return 0.5 * b @ b - 0.5 * np.sum((b - theta) ** 2) - 0.5 * tail @ tail

    slopes = c - l2 * w
    shrink = min(1.0, 1.0 / max((slopes if positive else np.abs(slopes)).max(), 1e-300))
    primal = 0.5 * r @ r + np.abs(w).sum() + 0.5 * l2 * w @ w
    expected = primal - dual(shrink * r, -shrink * np.sqrt(l2) * w)
    gap = elastic_net_gap(c, w, r @ r, 1.0, l2, positive)
    assert gap >= -1e-12
    if l2 == 0.0:
        assert gap == pytest.approx(expected, abs=1e-10)
    else:
        excess = np.maximum((c if positive else np.abs(c)) - 1.0, 0.0)
        other = np.abs(w).sum() + 0.5 * l2 * w @ w + excess @ excess / (2 * l2) - w @ c
        assert gap == pytest.approx(min(expected, other), abs=1e-10)


@seeds
@given(seed)
def test_gathered_block_is_the_indexed_matrix(seed):
    _, _, G = small_gram(seed)
    for kernel in (gather_block, gather_block.py_func):
        block = np.empty((3, 3))
        kernel(G, np.array([0, 2, 3]), block)
        np.testing.assert_array_equal(block, G[np.ix_([0, 2, 3], [0, 2, 3])])


@seeds
@given(seed, st.integers(0, 4))
def test_deleted_column_leaves_the_factor_of_the_others(seed, i):
    _, _, G = small_gram(seed)
    packed = [np.concatenate([R[: j + 1, j] for j in range(5)]) for R in [np.linalg.cholesky(G).T] * 2]
    delete_packed_column(packed[0], 5, i)
    delete_packed_column.py_func(packed[1], 5, i)
    rest = np.delete(np.arange(5), i)
    R = np.zeros((4, 4))
    for j in range(4):
        R[: j + 1, j] = packed[0][j * (j + 1) // 2 : (j + 1) * (j + 2) // 2]
    np.testing.assert_allclose(R.T @ R, G[np.ix_(rest, rest)], atol=1e-10)
    np.testing.assert_allclose(packed[0][:10], packed[1][:10])


def test_growing_factor_solves_and_refuses_dependent_columns():
    _, _, G = small_gram(1)
    factor = GrowingCholesky(6)
    for k in range(5):
        assert factor.append(G[k, :k], G[k, k], 1e-12)
    assert not factor.append(G[0], G[0, 0], 1e-12)
    np.testing.assert_allclose(factor.solve(np.ones(5)), np.linalg.solve(G, np.ones(5)))
    factor.delete(2)
    rest = [0, 1, 3, 4]
    np.testing.assert_allclose(factor.solve(np.ones(4)), np.linalg.solve(G[np.ix_(rest, rest)], np.ones(4)))


def test_the_next_arrival_agrees_with_its_python_and_with_its_definition():
    rng = np.random.default_rng(0)
    for positive in (True, False):
        c, speeds, idle = rng.uniform(-0.9, 0.9, 30), rng.uniform(-1.5, 1.5, 30), rng.random(30) > 0.3
        length, column = next_arrival(c, speeds, idle, 1.0, positive, 1e-10)
        assert (length, column) == next_arrival.py_func(c, speeds, idle, 1.0, positive, 1e-10)
        later = c - length * speeds  # at the arrival the winner reaches the level and no idle column is above it
        reached = later[idle] if positive else np.abs(later[idle])
        assert idle[column]
        assert reached.max() == pytest.approx(1.0 - length)
    assert next_arrival(c, speeds, np.zeros(30, dtype=bool), 1.0, False, 1e-10) == (np.inf, -1)


def test_arrivals_within_reach_are_those_whose_arrival_is_near():
    rng = np.random.default_rng(1)
    for positive in (True, False):
        c, speeds, idle = rng.uniform(-0.9, 0.9, 40), rng.uniform(-1.5, 1.5, 40), rng.random(40) > 0.3
        found = arrivals_within(c, speeds, idle, 1.0, positive, 1e-10, 0.4)
        np.testing.assert_array_equal(found, arrivals_within.py_func(c, speeds, idle, 1.0, positive, 1e-10, 0.4))
        for j in range(40):
            alone = np.arange(40) == j
            length, _ = next_arrival(c, speeds, idle & alone, 1.0, positive, 1e-10)
            assert (j in found) == (length <= 0.4)


def test_the_scout_agrees_with_double_precision_throughout():
    rng = np.random.default_rng(2)
    A = np.asfortranarray(rng.standard_normal((30, 50)) * 10.0 ** rng.integers(-80, 80, 50))
    image = 1e60 * rng.standard_normal(30)
    scout = Scout(A)
    np.testing.assert_allclose(scout.speeds(image), A.T @ image, atol=1e-5 * scout.norms.max() * np.linalg.norm(image))
    relative = (scout.speeds(image) - A.T @ image) / (scout.norms * np.linalg.norm(image))
    assert np.abs(relative).max() < 1e-6
    assert not scout.speeds(np.zeros(30)).any()
