import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from pellucid.solvers import dense_design
from pellucid.solvers.design import make_design
from pellucid.solvers.target import center_target

LAYOUTS = {
    "rows": lambda X: np.ascontiguousarray(X),
    "columns": lambda X: np.asfortranarray(X),
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "float32": lambda X: X.astype(np.float32),
    "csr": lambda X: sparse.csr_array(X),
    "csc matrix": lambda X: sparse.csc_matrix(X),
}


def written_out(X, sample_weight, fit_intercept):
    X = X.toarray() if sparse.issparse(X) else X.astype(np.float64)
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    mean = np.average(X, axis=0, weights=weight) if fit_intercept else np.zeros(X.shape[1])
    return np.sqrt(weight)[:, None] * (X - mean)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_products_agree_with_the_matrix_written_out(layout, fit_intercept, weighted, offset, monkeypatch):
    monkeypatch.setattr(dense_design, "BLOCK_BYTES", 1 << 10)  # several blocks
    monkeypatch.setattr(dense_design, "FEWEST_ROWS", 7)
    rng = np.random.default_rng(0)
    X = LAYOUTS[layout](rng.standard_normal((101, 12)) + offset)
    weight = rng.random(101) if weighted else None
    design, A = make_design(X, fit_intercept=fit_intercept, sample_weight=weight), written_out(X, weight, fit_intercept)
    w, W, r = rng.standard_normal(12), rng.standard_normal((12, 2)), rng.standard_normal((101, 2))
    some, others = np.array([3, 1, 7]), np.array([2, 4])
    near = {"rtol": 1e-9, "atol": 1e-9 * (1 + offset) ** 2}
    np.testing.assert_allclose(design.times(w), A @ w, **near)
    np.testing.assert_allclose(design.times(W), A @ W, **near)
    np.testing.assert_allclose(design.transposed_times(r), A.T @ r, **near)
    np.testing.assert_allclose(design.transposed_times(r[:, 0]), A.T @ r[:, 0], **near)
    np.testing.assert_allclose(design.gram(), A.T @ A, **near)
    np.testing.assert_allclose(design.gram(some), A[:, some].T @ A[:, some], **near)
    np.testing.assert_allclose(design.gram(some, others), A[:, some].T @ A[:, others], **near)
    np.testing.assert_allclose(design.row_gram(), A @ A.T, **near)
    np.testing.assert_allclose(design.columns(some), A[:, some], **near)
    np.testing.assert_allclose(design.sq_norms(), np.sum(A**2, axis=0), **near)
    blocks = np.vstack([block.copy() for _, block in design.row_blocks(rows_at_least=3)])
    np.testing.assert_allclose(blocks, A, **near)


def test_wide_gram_matrices_agree_too():
    X = np.random.default_rng(0).standard_normal((50, dense_design.WIDE + 3))
    A = X - X.mean(axis=0)
    design = make_design(X, fit_intercept=True)
    np.testing.assert_allclose(design.gram(), A.T @ A, atol=1e-10)
    np.testing.assert_allclose(design.gram(np.arange(514), np.array([1, 2])), A[:, :514].T @ A[:, [1, 2]], atol=1e-10)


def test_a_far_mean_costs_no_digits():
    rng = np.random.default_rng(0)
    inner = np.round(rng.standard_normal((200, 3)) * 2**10) / 2**10  # exact after adding 2^27
    near, far = (make_design(inner + shift, fit_intercept=True) for shift in (0.0, 2.0**27))
    r = rng.standard_normal(200)
    r -= r.mean()  # as residuals are
    np.testing.assert_allclose(far.transposed_times(r), near.transposed_times(r), rtol=1e-11)
    np.testing.assert_allclose(far.gram(), near.gram(), rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 10_000))
def test_weights_are_repetitions(n, p, seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.standard_normal((n, p)), rng.integers(0, 4, n)
    if not weight.any():
        weight[0] = 1
    weighted = make_design(X, fit_intercept=True, sample_weight=weight.astype(float))
    repeated = make_design(np.repeat(X, weight, axis=0), fit_intercept=True)
    np.testing.assert_allclose(weighted.gram(), repeated.gram(), atol=1e-12)
    np.testing.assert_allclose(weighted.mean, repeated.mean, atol=1e-13)


def test_the_data_are_not_copied_or_changed():
    X = np.random.default_rng(0).standard_normal((100, 4))
    before = X.copy()
    design = make_design(X, fit_intercept=True)
    design.gram()
    design.times(np.ones(4))
    assert design.X is X
    np.testing.assert_array_equal(X, before)


def test_unsorted_sparse_columns_are_understood_and_left_as_they_are():
    X = sparse.csc_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(3, 2))
    weight = np.array([1.0, 4.0, 9.0])
    design = make_design(X, fit_intercept=False, sample_weight=weight)
    design.X.sort_indices()
    np.testing.assert_allclose(design.gram(), (X.T @ sparse.diags_array(weight) @ X).toarray())
    assert X.indices.tolist() == [2, 0, 1]


@pytest.mark.parametrize("p", [1, 2, 3, 7, 16, 17, 33])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_few_columns_are_those_of_numpy(p, order):
    """Rows laid side by side for BLAS, with some left over, give the same sums."""
    X = np.asarray(np.random.default_rng(p).standard_normal((8_191, p)), order=order)
    gram = make_design(X, fit_intercept=True).gram()
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose(gram, centered.T @ centered, rtol=1e-12, atol=1e-9)


def test_an_outlier_of_hardly_a_weight_in_front_costs_the_mean_of_a_target_no_digits():
    y = np.concatenate([[1e10], np.random.default_rng(0).random(50)])
    weight = np.concatenate([[1e-30], np.ones(50)])
    b, mean = center_target(y, weight, fit_intercept=True)
    assert mean == pytest.approx(y[1:].mean(), rel=1e-15)
    np.testing.assert_allclose(b[1:], y[1:] - y[1:].mean(), rtol=1e-12)
