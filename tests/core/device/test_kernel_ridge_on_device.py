"""Kernel ridge regression on a device: the predictions of the fit in memory, and the same verdicts of its proof."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.core.arrays import on_host
from pellucid.kernel_ridge import KernelRidge
from pellucid.kernels import RBF, Cosine, Linear, Polynomial, Sigmoid
from pellucid.kernels.products_on_device import diagonal_there, products_there
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.1},
    "rbf": {"kernel": "rbf", "gamma": 0.3, "alpha": 0.01},
    "cosine": {"kernel": "cosine"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.001, "alpha": 500.0},
    "several": {"kernel": 2 * RBF(0.5) + Polynomial(2) * RBF(0.1) + 3},
}


def there(array):
    return None if array is None else torch.as_tensor(array, device=DEVICE)


def problem(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5)).astype(dtype)
    return X, np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]), rng.integers(0, 3, 600).astype(float)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(0.3), Polynomial(3), Cosine(), 2 * RBF(0.5) + Polynomial(2) * RBF(0.1) + 3, RBF(0.1) * Sigmoid(0.2)],
    ids=repr,
)
def test_products_of_rows_with_themselves(kernel):
    X, *_ = problem()
    X[3] = 0.0
    rows = there(X.copy())
    np.testing.assert_allclose(on_host(diagonal_there(kernel, rows)), kernel.diagonal(X), rtol=1e-13)
    np.testing.assert_array_equal(on_host(rows), X)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predictions_are_those_in_memory(name, weighted, dtype):
    X, Y, weight = problem(dtype)
    weight = weight if weighted else None
    for y in (Y, Y[:, 0]):
        here = KernelRidge(**KERNELS[name]).fit(X, y, sample_weight=weight)
        found = KernelRidge(**KERNELS[name]).fit(there(X), there(y), sample_weight=there(weight))
        tolerance = 1e-9 if dtype == np.float64 else 1e-5
        said = on_host(found.predict(there(X[:70])))
        np.testing.assert_allclose(said, here.predict(X[:70]), rtol=tolerance, atol=tolerance)
        assert said.dtype == dtype
        assert found.dual_coef_.dtype == torch.float64
        assert [claim.name for claim in found.certificate_.claims] == [c.name for c in here.certificate_.claims]
        assert found.certificate_.holds
        assert pellucid.verify(found, there(X), there(y), sample_weight=there(weight)).holds


@pytest.mark.parametrize("kernel", [RBF(0.3), Cosine(), 2 * RBF(0.5) + Polynomial(2)], ids=str)
def test_products_are_those_in_memory(kernel):
    X, _, _ = problem()
    for offset in (0.0, 1e7):  # where products alone would lose the distances
        rows = X + offset
        found = np.vstack([on_host(part) for _, part in products_there(kernel, there(rows[:90]), there(rows))])
        np.testing.assert_allclose(found, kernel(rows[:90], rows), atol=2e-12, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")
def test_a_changed_coefficient_is_noticed():
    X, Y, _ = problem()
    found = KernelRidge(kernel="rbf").fit(there(X), there(Y))
    found.dual_coef_[3, 1] += 1e-6
    assert not pellucid.verify(found, there(X), there(Y)).holds


def test_refuses_what_it_does_not_do_on_a_device():
    X, Y, _ = problem()
    with pytest.raises(ValueError, match="kernel must be linear, poly, rbf, sigmoid, cosine, or a sum or product"):
        KernelRidge(kernel="laplacian").fit(there(X), there(Y))
    with pytest.raises(ValueError, match="alpha must be large enough that K . alpha I is positive definite"):
        KernelRidge(alpha=0.0).fit(there(X), there(Y))
    with pytest.raises(ValueError, match="alpha must be one number or one for each of the 2 targets, got 3"):
        KernelRidge(alpha=[1.0, 2.0, 3.0]).fit(there(X), there(Y))
