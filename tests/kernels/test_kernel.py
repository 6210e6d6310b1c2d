"""Kernels: by hand, the diagonal, blocks, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from pellucid.kernels import GivenKernel, PolynomialKernel, RBFKernel, ShiftedKernel, kernel_from

X = np.random.default_rng(0).standard_normal((7, 3))
NAMES = ["linear", "poly", "rbf", "sigmoid", "laplacian"]


def named(name):
    return kernel_from(name, gamma=0.3, degree=2, coef0=0.5)


def test_products_by_hand():
    a, b = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])
    assert PolynomialKernel(gamma=2.0, degree=2, coef0=1.0)(a, b) == (2 * 5 + 1) ** 2
    assert RBFKernel(0.1)(a, b) == pytest.approx(np.exp(-0.5))
    assert ShiftedKernel(kernel_from("linear"), 4.0)(a, b) == 9.0


@pytest.mark.parametrize("name", [*NAMES, "function", "shifted"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_diagonal_is_that_of_the_products(name, form):
    if name == "function":
        kernel = kernel_from(lambda a, b: float(np.sum(a * b)))
    else:
        kernel = ShiftedKernel(named("poly")) if name == "shifted" else named(name)
    np.testing.assert_allclose(kernel.diagonal(form(X)), kernel(form(X), form(X)).diagonal())


def test_given_products_are_read_by_column():
    K = X @ X.T
    np.testing.assert_array_equal(GivenKernel()(K[:2], np.array([4, 0])), K[:2][:, [4, 0]])
    np.testing.assert_array_equal(kernel_from("precomputed").diagonal(K), K.diagonal())


@pytest.mark.parametrize("name", NAMES)
def test_same_products_as_scikit_learn(name):
    wanted = pairwise_kernels(X, X[:2], metric=name, filter_params=True, gamma=0.3, degree=2, coef0=0.5)
    np.testing.assert_array_equal(named(name)(X, X[:2]), wanted)
    np.testing.assert_allclose(named(name).times(X, X[:2], np.ones(2)), wanted.sum(axis=1))
