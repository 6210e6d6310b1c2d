"""The kernels of the proofs are those of the fits, though no line of code is shared."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF

from pellucid import kernels
from pellucid.proofs.kernels.matrices import (
    gamma_value,
    kernel_diagonal,
    kernel_matrix,
    kernel_times,
    resolved_kernel,
    row_blocks,
)

ROW, OTHER = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])

BY_HAND = {
    "linear": 5.0,  # 3 + 2
    "poly": 121.0,  # (2 * 5 + 1)^2
    "sigmoid": np.tanh(11.0),
    "rbf": np.exp(-10.0),  # 2 (4 + 1)
    "laplacian": np.exp(-6.0),  # 2 (2 + 1)
    "cosine": 5.0 / np.sqrt(50.0),
    "additive_chi2": -(4.0 / 4.0 + 1.0 / 3.0),
    "chi2": np.exp(-2.0 * (4.0 / 4.0 + 1.0 / 3.0)),
}


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_products_by_hand(name):
    kernel = resolved_kernel(name, gamma=2.0, degree=2, coef0=1.0)
    np.testing.assert_allclose(kernel_matrix(kernel, ROW, OTHER), [[BY_HAND[name]]])


EACH = [
    kernels.Linear(),
    kernels.Polynomial(3, 1.0, 0.5),
    kernels.Polynomial(2.5, 1.0, 0.5),
    kernels.Polynomial(0),
    kernels.Polynomial(7, 0.3),
    kernels.RBF(0.7),
    kernels.RBF(1e6),
    kernels.Sigmoid(0.3, -1.0),
    kernels.Cosine(),
    kernels.Laplacian(0.4),
    kernels.Chi2(0.6),
    kernels.AdditiveChi2(),
    2.0 * kernels.RBF(0.5) + kernels.Polynomial(2, 1.0) * kernels.RBF(1.0) + 3.0,
    kernels.RowFunction(lambda x, z, a: a * float(np.sum(x * z)), (("a", 2.0),)),
    kernels.MatrixFunction(lambda X, Z: X @ Z.T),
]


@pytest.mark.parametrize("kernel", EACH, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_the_same_products_as_in_a_fit(kernel, offset):
    rng = np.random.default_rng(0)
    X, Z = offset + rng.random((40, 6)), offset + rng.random((30, 6))
    Z[3] = X[2]
    proof, size = resolved_kernel(kernel), np.abs(kernel(X, Z)).max()
    assert proof.positive == kernel.positive
    np.testing.assert_allclose(kernel_matrix(proof, X, Z), kernel(X, Z), rtol=0, atol=2e-12 * size)
    np.testing.assert_allclose(kernel_diagonal(proof, X), kernel.diagonal(X), rtol=0, atol=2e-12 * size)
    coef = rng.standard_normal((30, 2))
    np.testing.assert_allclose(kernel_times(proof, X, Z, coef), kernel(X, Z) @ coef, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("kernel", EACH[:10], ids=lambda kernel: type(kernel).__name__)
def test_sparse_rows_have_the_products_of_dense_ones(kernel):
    rng = np.random.default_rng(1)
    X = sparse.random_array((20, 9), density=0.3, rng=rng, format="csr") + 0.0
    Z = sparse.csr_array(np.vstack([X.toarray()[:3], rng.random((4, 9))]))
    proof = resolved_kernel(kernel)
    np.testing.assert_allclose(
        kernel_matrix(proof, X, Z), kernel_matrix(proof, X.toarray(), Z.toarray()), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("gamma", ["scale", "auto", None, 0.3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_gamma_is_the_number_of_the_fit(gamma, form):
    rng = np.random.default_rng(2)
    X, weight = form(rng.random((40, 6))), rng.random(40)
    assert gamma_value(gamma, X, weight) == pytest.approx(kernels.gamma_from(gamma, X, weight), rel=1e-13)


def test_given_products_are_taken_by_column():
    K = np.arange(9.0).reshape(3, 3)
    kernel = resolved_kernel(2.0 * kernels.GivenKernel() + 1.0)
    assert kernel.is_given
    np.testing.assert_array_equal(kernel_matrix(kernel, K[1:], np.array([2, 0])), [[11.0, 7.0], [17.0, 13.0]])
    np.testing.assert_array_equal(kernel_diagonal(kernel, K[1:], np.array([1, 2])), [9.0, 17.0])


def test_kernels_of_gaussian_processes_take_matrices():
    X = np.random.default_rng(3).random((5, 2))
    np.testing.assert_allclose(kernel_matrix(resolved_kernel(RBF(2.0)), X), RBF(2.0)(X))


def test_blocks_cover_all_rows_and_have_one_at_least():
    assert list(row_blocks(5, 10, most=20)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(row_blocks(2, 10, most=3)) == [slice(0, 1), slice(1, 2)]


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="kernel must be one of"):
        resolved_kernel("gauss")
