"""Exponentials of squared distances: as NumPy's, at both precisions, and at the ends of their range."""

import math

import numpy as np
import pytest

from pellucid.solvers.soft_assignment_kernels import double_exponentials, single_exponentials

KERNELS = [(single_exponentials, np.float32, 3e-6), (double_exponentials, np.float64, 1e-14)]


def gaussian(kernel, dtype, X, gamma):
    X = np.asarray(X, dtype=dtype)
    lengths = np.einsum("ij,ij->i", X, X)
    products = X @ X.T
    kernel(products, lengths, lengths, dtype(gamma / math.log(2.0)), np.empty(len(X), dtype=dtype))
    return products


@pytest.mark.parametrize(("kernel", "dtype", "error"), KERNELS)
@pytest.mark.parametrize("gamma", [0.0, 1e-3, 0.1, 2.0])
def test_exponentials_are_numpys(kernel, dtype, error, gamma):  # peer
    X = np.random.default_rng(0).standard_normal((37, 5)).astype(np.float32)
    distances = ((X[:, None].astype(float) - X[None]) ** 2).sum(axis=2)
    found = gaussian(kernel, dtype, X, gamma)
    np.testing.assert_allclose(found, np.exp(-gamma * distances), atol=error * (1 + gamma * distances.max()))


@pytest.mark.parametrize(("kernel", "dtype", "error"), KERNELS)
def test_far_rows_have_nothing_in_common_and_equal_ones_all(kernel, dtype, error):  # by hand
    found = gaussian(kernel, dtype, [[0.0], [100.0], [100.0]], 1.0)
    np.testing.assert_allclose(found, [[1, 0, 0], [0, 1, 1], [0, 1, 1]], atol=error)


@pytest.mark.parametrize(("kernel", "dtype", "error"), KERNELS)
def test_compiled_loop_does_what_its_python_does(kernel, dtype, error):
    X = np.random.default_rng(1).standard_normal((6, 3))
    np.testing.assert_allclose(
        gaussian(kernel, dtype, X, 0.3), gaussian(kernel.py_func, dtype, X, 0.3), rtol=4 * np.finfo(dtype).eps
    )
