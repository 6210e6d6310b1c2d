"""The modified solver equals the plain one where it may, and is positive definite where it must."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.optimize.methods.newton import REPAIRS, modified_solver

each_repair = pytest.mark.parametrize("repair", REPAIRS)


def symmetric(seed, n=5):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T


def test_a_negative_eigenvalue_is_turned_around():
    solve, repaired = modified_solver(np.diag([4.0, -2.0]), "bunch-kaufman")
    np.testing.assert_allclose(solve(np.array([4.0, 2.0])), [1.0, 1.0])
    assert repaired


def test_a_block_of_two_is_turned_around():
    # [[0, 1], [1, 0]] has eigenvalues 1 and -1: both sizes are 1
    for repair in REPAIRS:
        solve, _ = modified_solver(np.array([[0.0, 1.0], [1.0, 0.0]]), repair)
        np.testing.assert_allclose(solve(np.array([3.0, 5.0])), [3.0, 5.0])


@each_repair
@given(st.integers(0, 10**6))
def test_positive_definite_matrices_are_left_alone(repair, seed):
    A = symmetric(seed)
    A = A @ A + np.eye(5)
    b = np.arange(5.0)
    solve, repaired = modified_solver(A, repair)
    assert not repaired
    np.testing.assert_allclose(A @ solve(b), b, atol=1e-8)


@each_repair
@given(st.integers(0, 10**6))
def test_every_direction_leads_downhill(repair, seed):
    A, g = symmetric(seed), np.random.default_rng(seed + 1).standard_normal(5)
    solve, _ = modified_solver(A, repair)
    assert g @ solve(g) > 0
    inverse = np.column_stack([solve(e) for e in np.eye(5)])
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-6 * np.abs(inverse).max())


@each_repair
def test_zero_and_rank_one_have_an_answer(repair):
    for A in (np.zeros((3, 3)), np.ones((3, 3))):
        solve, repaired = modified_solver(A, repair)
        assert repaired
        assert np.isfinite(solve(np.ones(3))).all()


def test_units_of_the_variables_do_not_matter():
    # well conditioned but for the units of the variables: no repair
    units = np.array([1e-8, 1.0, 1e8])
    A = np.outer(units, units) * (np.eye(3) + 0.2)
    solve, repaired = modified_solver(A)
    assert not repaired
    np.testing.assert_allclose(units * solve(units), np.full(3, 1 / 1.6), rtol=1e-9)
