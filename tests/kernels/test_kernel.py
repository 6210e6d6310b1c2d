"""Kernels: by hand, algebra, precision, tiles, against scikit-learn, functions, refusals."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from pellucid.core.threads import own_threads
from pellucid.kernels import (
    RBF,
    AdditiveChi2,
    Chi2,
    Constant,
    Cosine,
    GivenKernel,
    Laplacian,
    Linear,
    MatrixFunction,
    Polynomial,
    Product,
    RowFunction,
    Scaled,
    Sigmoid,
    Sum,
    gamma_from,
    kernel_from,
    product_blocks,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((7, 3))
NAMES = ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine"]
COMBINED = [2 * RBF(0.5) + Polynomial(3, 1.0), RBF(0.1) * Linear() * 3, Laplacian(0.2) + 1.5, Sigmoid() ** 2]
PLAIN = [
    Linear(),
    Polynomial(3, 0.5, 2.0),
    Polynomial(0),
    Polynomial(7),
    RBF(0.3),
    Laplacian(0.3),
    Sigmoid(0.2, 0.1),
    Cosine(),
]
forms = pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=["dense", "array", "matrix"]
)


def named(name):
    return kernel_from(name, gamma=0.3, degree=2, coef0=0.5)


def test_products_by_hand():
    a, b = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])
    assert Polynomial(gamma=2.0, degree=2, coef0=1.0)(a, b) == (2 * 5 + 1) ** 2
    assert RBF(0.1)(a, b) == pytest.approx(np.exp(-0.5))
    assert RBF(sigma=2.0)(a, b) == pytest.approx(np.exp(-5 / 8))  # (1 - 3)^2 + (2 - 1)^2 = 5, over 2 * 4
    assert Laplacian(0.5)(a, b) == pytest.approx(np.exp(-1.5))
    assert Cosine()(a, b) == pytest.approx(5 / np.sqrt(50))
    assert (Linear() + 4.0)(a, b) == 9.0
    assert (2 * Linear() * Polynomial(2) + 1)(a, b) == 2 * 5 * 25 + 1
    assert AdditiveChi2()(a, b) == pytest.approx(-(4 / 4 + 1 / 3))
    assert Chi2(0.5)(a, b) == pytest.approx(np.exp(-0.5 * (4 / 4 + 1 / 3)))


@pytest.mark.parametrize("kernel", [*PLAIN, *COMBINED], ids=repr)
@forms
def test_the_diagonal_is_that_of_the_products(kernel, form):
    np.testing.assert_allclose(kernel.diagonal(form(X)), kernel(form(X), form(X)).diagonal(), rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(form(X)), kernel(form(X)).diagonal(), rtol=1e-13)


@pytest.mark.parametrize("kernel", [*PLAIN, *COMBINED], ids=repr)
@forms
def test_tiles_threads_and_products_times_numbers_agree(kernel, form, monkeypatch):
    Z, coef = RNG.standard_normal((9, 3)), RNG.standard_normal((9, 2))
    whole = kernel(form(X), form(Z))
    monkeypatch.setattr(product_blocks, "HEIGHT", 2)
    monkeypatch.setattr(product_blocks, "WIDTH", 4)
    np.testing.assert_allclose(kernel(form(X), form(Z)), whole, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.times(form(X), form(Z), coef), whole @ coef, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(kernel.times(form(X), form(Z), coef[:, 0]), whole @ coef[:, 0], rtol=1e-11, atol=1e-13)
    products = kernel(form(X))
    np.testing.assert_array_equal(products, products.T)
    below = np.tril(kernel.lower(form(X), np.empty((7, 7))))
    np.testing.assert_allclose(below, np.tril(kernel(form(X), form(X))), rtol=1e-12, atol=1e-14)
    with own_threads():
        np.testing.assert_array_equal(kernel(form(X)), products)


@pytest.mark.parametrize("kernel", [*PLAIN, *COMBINED, Constant(2.0), GivenKernel(), Chi2(0.4)], ids=repr)
def test_a_kernel_is_a_value(kernel):
    for again in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel)), eval(repr(kernel))):
        assert again == kernel
        assert hash(again) == hash(kernel)
        assert repr(again) == repr(kernel)
    with pytest.raises(AttributeError):
        kernel.gamma = 3.0


def test_equal_kernels_are_equal_and_others_are_not():
    assert RBF(sigma=1.0) == RBF(0.5) == RBF(gamma=np.float64(0.5))
    assert hash(Polynomial(3)) == hash(Polynomial(3.0))
    assert 2 * (3 * RBF()) == 6 * RBF()
    assert 1 * RBF() == RBF() == RBF() + 0
    assert (RBF() + Linear()) + 1 == RBF() + (Linear() + 1)
    assert sum([RBF(), Linear()]) == RBF() + Linear()
    assert (2 * RBF()) * (3 * Linear()) == 6 * (RBF() * Linear())
    assert RBF(0.5) not in (Laplacian(0.5), Chi2(0.5), RBF(0.6), 2 * RBF(0.5), RBF(0.5) + 1)
    assert len({RBF(0.5), RBF(sigma=1.0), Laplacian(0.5)}) == 2


def test_which_kernels_are_known_to_be_inner_products():
    assert all(k.positive for k in (Linear(), RBF(), Laplacian(), Polynomial(3, 1.0), Chi2(), 2 * RBF() * Linear() + 1))
    assert not any(
        k.positive for k in (Sigmoid(), Polynomial(3, -1.0), Polynomial(1.5), AdditiveChi2(), RBF() + Sigmoid())
    )


def exact_rbf(x, z, gamma):
    square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x.tolist(), z.tolist(), strict=True))
    return np.exp(-gamma * float(square))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from([1e-6, 1.0, 1e5, 1e9]), st.sampled_from([0.0, 1.0, 1e4, 1e8]), st.booleans()
)
def test_gaussian_products_keep_their_digits_whatever_the_offset_and_the_width(seed, gamma, offset, as_sparse):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((6, 4)) * (1.0 if gamma <= 1 else 3.0 / np.sqrt(gamma)) + offset
    rows = np.vstack([rows, rows[:2], rng.standard_normal((2, 4)) + offset])
    K = RBF(gamma)(sparse.csr_array(rows) if as_sparse else rows)
    wanted = [[exact_rbf(x, z, gamma) for z in rows] for x in rows]
    np.testing.assert_allclose(K, wanted, atol=2e-12, rtol=0)


def test_given_products_are_read_by_column():
    K = X @ X.T
    np.testing.assert_array_equal(GivenKernel()(K[:2], np.array([4, 0])), K[:2][:, [4, 0]])
    np.testing.assert_array_equal(kernel_from("precomputed").diagonal(K), K.diagonal())
    np.testing.assert_array_equal((GivenKernel() + 1)(K, np.array([4, 0])), K[:, [4, 0]] + 1)
    np.testing.assert_array_equal((2 * GivenKernel())(K), 2 * K)


@pytest.mark.parametrize("name", NAMES)
def test_same_products_as_scikit_learn(name):
    wanted = pairwise_kernels(X, X[:2], metric=name, filter_params=True, gamma=0.3, degree=2, coef0=0.5)
    np.testing.assert_allclose(named(name)(X, X[:2]), wanted, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(named(name).times(X, X[:2], np.ones(2)), wanted.sum(axis=1))


def test_functions_of_rows_and_of_matrices_are_kernels():
    by_rows = kernel_from(lambda a, b, power=1: float(a @ b) ** power, params={"power": 2})
    by_matrices = kernel_from(lambda A, B: (A @ B.T) ** 2, of_matrices=True)
    for kernel in (by_rows, by_matrices, by_rows + 0.0):
        np.testing.assert_allclose(kernel(X), Polynomial(2)(X))
        np.testing.assert_allclose(kernel(X, X[:2]), Polynomial(2)(X, X[:2]))
        np.testing.assert_allclose(kernel.diagonal(X), Polynomial(2).diagonal(X))
        np.testing.assert_allclose(kernel.times(X, X, X), Polynomial(2)(X) @ X)
    assert by_rows(X[:2].tolist(), X[:1].tolist()).shape == (2, 1)
    np.testing.assert_allclose((2 * by_rows + by_matrices)(X), 3 * Polynomial(2)(X))
    np.testing.assert_allclose(RowFunction(lambda a, b: (a @ b.T).toarray()[0, 0])(sparse.csr_array(X)), X @ X.T)


def test_gamma_is_a_number_or_means_one():
    assert gamma_from("auto", X) == gamma_from(None, X) == 1 / 3
    assert gamma_from("scale", X) == pytest.approx(1 / (3 * X.var()))
    assert gamma_from("scale", sparse.csr_array(X)) == pytest.approx(1 / (3 * X.var()))
    assert gamma_from("scale", np.ones((3, 2))) == 1.0
    assert gamma_from(0, X) == 0.0


def test_products_times_numbers_never_stand_in_memory_all_at_once():
    rows = np.random.default_rng(0).standard_normal((4000, 5))
    tracemalloc.start()
    try:
        (2 * RBF(0.1) + Polynomial(2)).times(rows, rows, np.ones(len(rows)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e7  # all of them would take 1.3e8 bytes


def test_an_object_is_itself_and_not_a_function():
    kernel = 2 * RBF(0.5) + Polynomial(3)
    assert kernel_from(kernel, gamma=7.0, of_matrices=True) is kernel


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(-1.0), "gamma must be at least 0, got -1.0"),
        (lambda: RBF(np.nan), "gamma must be at least 0, got nan"),
        (lambda: RBF("scale"), "gamma must be a number at least 0, got 'scale'"),
        (lambda: RBF(1.0, sigma=1.0), "gamma must be left out if sigma is given"),
        (lambda: RBF(sigma=0.0), "sigma must be above 0, got 0.0"),
        (lambda: Polynomial(-1), "degree must be at least 0, got -1"),
        (lambda: Polynomial(2, np.inf), "coef0 must be finite, got inf"),
        (lambda: Sigmoid(1.0, "1"), "coef0 must be a number, got '1'"),
        (lambda: -1 * RBF(), "factor must be above 0, got -1. A kernel times a number below 0"),
        (lambda: -1 * (2 * RBF()), "factor must be above 0, got -1. A kernel times a number below 0"),
        (lambda: 0 * RBF(), "factor must be above 0, got 0"),
        (lambda: RBF() + -1, "value must be at least 0, got -1"),
        (lambda: RBF() + np.nan, "value must be at least 0, got nan"),
        (lambda: RBF() ** 0, "power of a kernel must be a whole number"),
        (lambda: Sum((RBF(),)), "Sum must have at least 2 kernels, got 1"),
        (lambda: Product((RBF(), 2)), "kernel must be a kernel of pellucid.kernels, got 2"),
        (lambda: Scaled(2.0, "rbf"), "kernel must be a kernel of pellucid.kernels, got 'rbf'"),
        (lambda: kernel_from("gauss"), "kernel must be one of .* got 'gauss'"),
        (lambda: Linear()(X, X[:, :2]), "Z must have 3 columns as X has, got 2"),
        (lambda: Linear()([1.0, 2.0]), "X must have two dimensions"),
        (lambda: Polynomial(1.5)(X), "degree must be a whole number where"),
        (lambda: Chi2()(X), "X must have no entry below 0"),
        (lambda: Chi2()(sparse.csr_array(np.abs(X))), "X must be dense"),
        (lambda: MatrixFunction(lambda A, B: A)(X), r"matrix of shape \(7, 7\) for 7 and 7 rows, got shape \(7, 3\)"),
        (lambda: MatrixFunction(lambda A, B: A @ B.T * np.nan)(X), "kernel must return finite products, got nan"),
        (lambda: MatrixFunction(lambda A, B: np.tril(A @ B.T))(X), "kernel must be symmetric"),
        (lambda: RowFunction(lambda a, b: a)(X), r"a number for two rows, got an array of shape \(3,\)"),
        (lambda: RowFunction(lambda a, b: np.inf)(X), "kernel must return finite products, got inf"),
        (lambda: RowFunction(lambda a, b: a[0])(X), "kernel must be symmetric"),
    ],
)  # fmt: skip
def test_refusals(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_what_is_no_kernel_does_not_add_or_multiply():
    with pytest.raises(TypeError, match="unsupported operand"):
        RBF() + "rbf"
    with pytest.raises(TypeError):
        [1] * RBF()
