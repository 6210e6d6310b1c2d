"""Leading eigenvectors by blocks of Lanczos: known spectra, shared eigenvalues, few rows, and the loop it runs on."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.solvers import leading_eigenvectors
from pellucid.solvers.leading_eigenvectors import eigenpairs_at_once, leading_eigenpairs
from pellucid.solvers.product_kernels import times_four
from tests.plain_kernels import in_python


def with_spectrum(values, seed=0):
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    return (Q * values) @ Q.T


SPECTRA = {
    "slow decay": 1.0 / np.sqrt(np.arange(1, 301)),
    "fast decay": 0.5 ** np.arange(300),
    "twelve equal": np.r_[np.full(12, 5.0), np.linspace(1.0, 0.0, 188)],
    "identity": np.ones(150),
    "low rank": np.r_[4.0, 3.0, np.zeros(148)],
    "zero": np.zeros(120),
    "large negative ones": np.r_[np.linspace(3.0, 0.0, 100), np.full(100, -50.0)],
}


@pytest.mark.parametrize("room", [60, 300])
@pytest.mark.parametrize("name", SPECTRA)
def test_finds_the_largest_eigenvalues_and_their_vectors(name, room, monkeypatch):
    monkeypatch.setattr(leading_eigenvectors, "ROOM", room)
    A = with_spectrum(SPECTRA[name])
    found = leading_eigenpairs(lambda B: A @ B, len(A), 15, goal=1e-11)
    size = max(np.abs(SPECTRA[name]).max(), 1e-300)
    np.testing.assert_allclose(found.values, np.sort(SPECTRA[name])[::-1][:15], atol=1e-9 * size)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(15), atol=1e-10)
    assert np.abs(A @ found.vectors - found.vectors * found.values).max() <= 1e-9 * size
    assert found.trace["iteration"][-1] == found.n_steps


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_of_few_rows_all_are_found(n):
    A = with_spectrum(np.arange(1.0, n + 1))
    np.testing.assert_allclose(leading_eigenpairs(lambda B: A @ B, n, n, goal=1e-12).values, np.arange(n, 0, -1.0))


def test_stops_when_told_and_shows_what_is_left():
    A = with_spectrum(SPECTRA["slow decay"])
    found = leading_eigenpairs(lambda B: A @ B, 300, 5, goal=1e-12, most_steps=3)
    assert found.n_steps == 3
    assert found.trace["residual"][-1] > 1e-6


@pytest.mark.parametrize("m", [1, 3, 4, 9])
def test_the_loop_is_the_product(m):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((m, 7)), rng.standard_normal((4, 7))
    for loop in (times_four, in_python(times_four)):
        out = np.empty((m, 4))
        loop(A, B, out)
        np.testing.assert_allclose(out, A @ B.T, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("k", [1, 8, 15, 40, 100])  # by bisection, from all values, from all vectors
@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("name", SPECTRA)
def test_a_factorization_finds_them_whatever_their_number(name, size, k):
    values = np.sort(SPECTRA[name][:100])[::-1]
    A = size * with_spectrum(values)
    found = eigenpairs_at_once((A + A.T) / 2.0, k)
    np.testing.assert_allclose(found.values / size, values[:k], atol=1e-12 * max(np.abs(values).max(), 1e-300))
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-12)
    rest = A / size @ found.vectors - found.vectors * (found.values / size)
    assert np.abs(rest).max() <= 1e-12 * max(np.abs(values).max(), 1e-300)


@pytest.mark.parametrize("n", [2, 3, 5, 17, 33, 160])
def test_all_values_lead_to_the_vectors_of_the_last(n):
    A = with_spectrum(np.linspace(1.0, 2.0, n))
    k = max(1, n // 8)
    values, vectors = leading_eigenvectors._by_all_values((A + A.T) / 2.0, k)
    np.testing.assert_allclose(values, np.linspace(1.0, 2.0, n)[n - k :], rtol=1e-13)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-13)


def test_a_form_that_falls_into_blocks_is_left_to_the_other_way():
    assert leading_eigenvectors._by_all_values(np.eye(40), 5) is None
    assert leading_eigenvectors._by_all_values(np.full((40, 40), np.nan), 5) is None
    assert leading_eigenvectors._by_all_values(1e80 * with_spectrum(np.linspace(1.0, 2.0, 40)), 5) is None


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_one_eigenvalue_may_be_far_above_all_others(size):
    # the span soon holds all that its images show: random vectors must not be measured in their units
    values = np.full(60, 1e-14)
    values[:3] = 1.0, 1e-12, 1e-13
    found = leading_eigenvectors.leading_eigenpairs(lambda block: size * values[:, None] * block, 60, 2, goal=1e-11)
    assert found.values[0] == pytest.approx(size)
