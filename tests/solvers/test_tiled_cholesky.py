"""Cholesky factors in tiles: by hand, against LAPACK, on one thread and several, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.core.threads import own_threads
from pellucid.solvers import penalized_system
from pellucid.solvers.penalized_system import factor_in_place, solve_factored


def spd(n, seed=0):
    B = np.random.default_rng(seed).standard_normal((n, n))
    return B @ B.T + np.eye(n)


def test_two_rows_by_hand():
    A = np.array([[4.0, 99.0], [2.0, 5.0]])  # the upper half is not read
    assert factor_in_place(A)
    assert (A[0, 0], A[1, 0], A[1, 1]) == (2.0, 1.0, 2.0)
    assert solve_factored(A, np.array([8.0, 9.0])).tolist() == [1.375, 1.25]  # 4 x + 2 y = 8, 2 x + 5 y = 9


@pytest.mark.parametrize("n", [1, 7, 16, 33])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_give_the_factor_of_lapack_on_any_number_of_threads(n, dtype, monkeypatch):
    monkeypatch.setattr(penalized_system, "TILE", 8)
    A = spd(n).astype(dtype)
    wanted = np.linalg.cholesky(A.astype(np.float64))
    alone, together = A.copy(), A.copy()
    assert factor_in_place(alone)
    with own_threads():
        assert factor_in_place(together)
    np.testing.assert_array_equal(alone, together)
    np.testing.assert_allclose(np.tril(alone), wanted, rtol=0, atol=1e3 * np.finfo(dtype).eps * np.abs(wanted).max())
    b = np.ones((n, 2), dtype=dtype)
    np.testing.assert_allclose(A @ solve_factored(alone, b), b, atol=1e4 * n * np.finfo(dtype).eps)


@pytest.mark.parametrize("place", [0, 5, 19])
def test_says_when_a_matrix_is_not_positive_definite(place, monkeypatch):
    monkeypatch.setattr(penalized_system, "TILE", 8)
    A = spd(20)
    A[place, place] = -1.0
    assert not factor_in_place(A)
    A = spd(20)
    A[place, place] = np.nan
    assert not factor_in_place(A)
