import numpy as np
import pytest
from scipy.linalg import pinv

from pellucid.linear_model.least_squares.normal_factor import cholesky_factor, spectral_factor, triangular_factor
from pellucid.solvers.design import make_design

NO_NOISE = np.zeros(4)


def tall(seed=0, n=50, p=4):
    return np.random.default_rng(seed).standard_normal((n, p))


def test_cholesky_solves_the_normal_equations():
    A = tall()
    factor = cholesky_factor(A.T @ A, NO_NOISE)
    g = np.ones((4, 2))
    np.testing.assert_allclose(A.T @ A @ factor.solve(g), g, atol=1e-12)
    np.testing.assert_allclose(factor.inverse(), np.linalg.inv(A.T @ A), atol=1e-14)
    assert factor.rank == 4


def test_cholesky_does_not_care_about_units():
    A = tall()
    scale = np.array([1e-100, 1e100, 1.0, 1e10])
    plain, scaled = cholesky_factor(A.T @ A, NO_NOISE), cholesky_factor((A * scale).T @ (A * scale), NO_NOISE)
    assert scaled.condition == pytest.approx(plain.condition)


def test_cholesky_refuses_what_it_would_get_wrong():
    A = tall()
    A[:, 3] = A[:, 2] + 1e-7 * A[:, 1]
    assert cholesky_factor(A.T @ A, NO_NOISE) is None
    assert cholesky_factor(2.0 - np.eye(4), NO_NOISE) is None  # not a Gram matrix at all


def test_zero_columns_are_left_out():
    A = tall()
    A[:, 1] = 0.0
    factor = cholesky_factor(A.T @ A, NO_NOISE)
    np.testing.assert_allclose(factor.inverse(), pinv(A.T @ A), atol=1e-12)
    assert factor.rank == 3


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_spectral_factor_is_the_pseudo_inverse(alpha):
    A = tall()
    A[:, 3] = A[:, 0] + A[:, 1]
    triangle = np.linalg.qr(A)[1]
    factor = spectral_factor(triangle, NO_NOISE, alpha)
    expected = pinv(A.T @ A) if alpha == 0 else np.linalg.inv(A.T @ A + alpha * np.eye(4))
    np.testing.assert_allclose(factor.inverse(), expected, atol=1e-12)
    g = A.T @ A @ np.ones((4, 1))  # in the row space, as every gradient is
    np.testing.assert_allclose(factor.solve(g), expected @ g, atol=1e-12)
    assert factor.rank == (3 if alpha == 0 else 4)


@pytest.mark.parametrize("seed", range(5))
def test_zero_columns_beside_dependent_ones_do_not_hide_the_least_norm(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((30, 9)) * [1.0, 0.0, 3.0, 0.0, 1.0, 1.0, 0.0, 5.0, 1.0]
    A[:, 5] = 2.0 * A[:, 0] - A[:, 2]
    triangle, g = np.linalg.qr(A, mode="r"), A.T @ rng.standard_normal((30, 2))
    factor = spectral_factor(np.asarray(triangle), np.zeros(9))
    assert factor.rank == 5
    np.testing.assert_allclose(factor.solve(g), np.linalg.pinv(A.T @ A, rcond=1e-10) @ g, atol=1e-12)


def test_qr_by_blocks_is_qr(monkeypatch):
    monkeypatch.setattr("pellucid.solvers.dense_design.BLOCK_BYTES", 256)
    A, b = tall(n=57), np.arange(57.0)[:, None]
    design = make_design(A, fit_intercept=False)
    triangle, q = triangular_factor(design, b)
    np.testing.assert_allclose(triangle.T @ triangle, A.T @ A, atol=1e-12)
    np.testing.assert_allclose(triangle.T @ q, A.T @ b, atol=1e-11)
    assert triangle.shape == (4, 4)
