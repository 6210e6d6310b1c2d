import numpy as np
import pytest

from pellucid.solvers import dense_design
from pellucid.solvers.design import make_design
from pellucid.solvers.row_pass_kernels import residual_pass, transposed_pass


def problem(n=23, p=5):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, p)), rng.standard_normal(p), rng.standard_normal(n)


def test_passes_agree_with_their_python_and_with_blas():
    X, w, b = problem()
    results = []
    for run in (residual_pass, residual_pass.py_func):
        residual, pull = np.empty(23), np.ones(5)
        run(X, w, 0.5, b, residual, pull)
        results.append((residual, pull))
    for residual, pull in results:
        np.testing.assert_allclose(residual, b - (X @ w - 0.5), rtol=1e-13)
        np.testing.assert_allclose(pull, 1.0 + X.T @ residual, rtol=1e-12)
    for run in (transposed_pass, transposed_pass.py_func):
        pull, sums = np.ones(5), np.ones(5)
        run(X, b, pull, sums)
        np.testing.assert_allclose(pull, 1.0 + X.T @ b, rtol=1e-12)
        np.testing.assert_allclose(sums, 1.0 + X.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_designs_agree_with_the_matrix_written_out(targets, weighted, order, monkeypatch):
    monkeypatch.setattr(dense_design, "SMALL", 0)  # take the routes of large data
    rng = np.random.default_rng(1)
    X = np.array(rng.standard_normal((500, 7)) + 3.0, order=order)
    weight = rng.random(500) if weighted else None
    shape = () if targets is None else (targets,)
    y, w = rng.standard_normal((500, *shape)), rng.standard_normal((7, *shape))
    design = make_design(X, fit_intercept=True, sample_weight=weight)
    root = np.ones(500) if weight is None else np.sqrt(weight)
    A = root[:, None] * (X - np.average(X, axis=0, weights=weight))
    b, _ = design.center(y)
    residual, correlations = design.residual_and_correlations(b, w)
    np.testing.assert_allclose(residual, b - A @ w, atol=1e-12)
    np.testing.assert_allclose(correlations, A.T @ (b - A @ w), atol=1e-10)
    gram, pull = design.normal_equations(b)
    np.testing.assert_allclose(gram, A.T @ A, atol=1e-10)
    np.testing.assert_allclose(pull, A.T @ b, atol=1e-10)
    np.testing.assert_allclose(design.transposed_times(b), A.T @ b, atol=1e-10)
    np.testing.assert_allclose(design.times(w), A @ w, atol=1e-12)


def test_the_normal_equations_find_the_means_on_the_way(monkeypatch):
    monkeypatch.setattr(dense_design, "SMALL", 0)
    X = np.random.default_rng(2).standard_normal((500, 7)) + 3.0
    design = make_design(X, fit_intercept=True)
    monkeypatch.setattr(design, "_column_means", lambda: pytest.fail("a second pass over the data"))
    design.normal_equations(np.zeros((500, 1)))
    np.testing.assert_allclose(design.mean, X.mean(axis=0), rtol=1e-14)


def test_a_mean_that_a_sample_does_not_show_to_be_far_is_still_centered_first(monkeypatch):
    monkeypatch.setattr(dense_design, "SMALL", 0)
    X = np.full((640, 1), 1e6) + np.random.default_rng(3).standard_normal((640, 1))
    X[::20] = np.linspace(-1e6, 1e6, 32)[:, None]  # the rows that are looked at
    X[:: 640 // 32] *= 1e-3
    X[1::2] += 1e9
    X[::2] += 1e9 * (np.arange(320) % 10 > 0)[:, None]
    design = make_design(X, fit_intercept=True)
    A = X - X.mean(axis=0)
    gram, _ = design.normal_equations(np.zeros((640, 1)))
    np.testing.assert_allclose(gram, A.T @ A, rtol=1e-12)
