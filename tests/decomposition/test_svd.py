"""SVD: by hand, the theorem of Eckart and Young, all kinds, proofs, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import svdvals

import pellucid
from pellucid.decomposition import SVD

FEW = settings(max_examples=15, deadline=None)
EXAMPLE = [[1.0, 2.0, 1.0], [2.0, 3.0, 1.0]]


def matrix(seed=0, shape=(12, 7)):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1.0


@pytest.mark.by_hand
def test_the_example_of_the_lecture():
    # A A' = [[6, 9], [9, 14]]: t^2 - 20 t + 3 = 0, t = 10 +- sqrt 97; the error of rank 1 is the smaller root's root
    model = SVD().fit(EXAMPLE)
    assert model.singular_values_**2 == pytest.approx([10 + 97**0.5, 10 - 97**0.5], rel=1e-14)
    assert model.approximation_error(1) == pytest.approx(0.38877, abs=5e-6)
    assert model.approximation_error(1, "spectral") == pytest.approx((10 - 97**0.5) ** 0.5)
    assert model.approximation_error(2) == model.approximation_error(2, "spectral") == 0.0
    assert model.energy_ == 20.0
    assert np.linalg.matrix_rank(model.approximate(1)) == 1
    np.testing.assert_allclose(model.approximate(2), EXAMPLE)
    assert model.stored_numbers(1) == 6
    assert model.compression_ratio(1) == 1.0


@pytest.mark.peer
@pytest.mark.parametrize("shape", [(12, 7), (7, 12), (5, 5)])
@pytest.mark.parametrize("kind", ["compact", "full", "truncated", "randomized"])
def test_every_kind_decomposes(kind, shape):
    X = matrix(1, shape)
    model = SVD(kind, None if kind in ("compact", "full") else 3).fit(X)
    values = svdvals(X)
    np.testing.assert_allclose(model.singular_values_, values[: len(model.singular_values_)], rtol=1e-10)
    assert model.U_.shape == ((shape[0],) * 2 if kind == "full" else (shape[0], len(model.singular_values_)))
    assert model.components_.shape[0] == (shape[1] if kind == "full" else len(model.singular_values_))
    np.testing.assert_allclose(model.U_.T @ model.U_, np.eye(model.U_.shape[1]), atol=1e-12)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(len(model.components_)), atol=1e-12)
    if kind in ("compact", "full"):
        np.testing.assert_allclose(model.approximate(min(shape)), X, atol=1e-12)
    for q in range(len(model.singular_values_) + 1):
        assert model.approximation_error(q) == pytest.approx(np.linalg.norm(X - model.approximate(q)), abs=1e-9)
    assert pellucid.verify(model, X).holds


@FEW
@given(st.integers(0, 1000))
def test_no_other_matrix_of_that_rank_is_nearer(seed):
    X, rng = matrix(seed), np.random.default_rng(seed)
    model = SVD().fit(X)
    other = model.approximate(2) + 1e-2 * model.U_[:, :2] @ rng.standard_normal((2, 7))
    assert np.linalg.norm(X - other) >= model.approximation_error(2)


@pytest.mark.property
@pytest.mark.parametrize("unit", [1e-160, 1e-40, 1e120])
@pytest.mark.parametrize("kind", ["compact", "truncated"])
def test_units_do_not_matter(kind, unit):
    X = matrix(2)
    plain, scaled = SVD(kind).fit(X), SVD(kind).fit(X * unit)
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=1e-9)
    np.testing.assert_allclose(scaled.singular_values_ / unit, plain.singular_values_, rtol=1e-9)
    assert pellucid.verify(scaled, X * unit).holds


def test_sparse_matrices_stay_sparse():
    X = sparse.random_array((200, 150), density=0.05, rng=np.random.default_rng(0), format="csr")
    model = SVD("truncated", 5).fit(X)
    np.testing.assert_allclose(model.singular_values_, svdvals(X.toarray())[:5], rtol=1e-9)
    assert pellucid.verify(model, X).holds
    with pytest.raises(TypeError, match="[Ss]parse"):
        SVD().fit(X)


@pytest.mark.parametrize("X", [np.zeros((4, 3)), np.ones((4, 3)), np.array([[2.0]])])
@pytest.mark.parametrize("kind", ["compact", "full"])
def test_matrices_of_low_rank(kind, X):
    model = SVD(kind).fit(X)
    assert int(np.sum(model.singular_values_ > 1e-12)) == np.linalg.matrix_rank(X)
    assert pellucid.verify(model, X).holds


@pytest.mark.parametrize("name", ["U_", "components_"])
def test_verify_sees_a_turned_side(name):
    X = matrix()
    model = SVD().fit(X)
    c, s = np.cos(1e-3), np.sin(1e-3)
    turned = getattr(model, name).copy()
    two = turned[:, :2] if name == "U_" else turned[:2].T
    two[...] = two @ np.array([[c, -s], [s, c]])
    setattr(model, name, turned)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X).holds


def test_verify_sees_that_a_side_is_not_whole():
    X = matrix()
    model = SVD("full").fit(X)
    model.U_ = model.U_.copy()
    model.U_[:, -1] = model.U_[:, 0]
    with pytest.warns(pellucid.UncertifiedWarning, match="left angles"):
        pellucid.verify(model, X)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SVD("compact", 8).fit(matrix()), "n_components must be at most 7"),
        (lambda: SVD("full", 3).fit(matrix()), "must be None for kind='full'"),
        (lambda: SVD("thin").fit(matrix()), "kind must be"),
        (lambda: SVD().fit(matrix()).approximate(8), "rank must be a whole number between 0 and 7"),
        (lambda: SVD().fit(matrix()).approximation_error(1, "nuclear"), "norm must be"),
        (lambda: SVD("truncated", 2).fit(matrix()).approximation_error(2, "spectral"), "Fit more components"),
        (lambda: SVD().fit([[np.inf, 1.0]]), "infinity"),
    ],
)
def test_refuses_with_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
