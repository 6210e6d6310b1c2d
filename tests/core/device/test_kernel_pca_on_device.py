"""Components in the space of a kernel, of rows on a device: those found in memory, and a proof made there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import pellucid
from pellucid.core.arrays import on_host
from pellucid.decomposition import KernelPCA
from pellucid.kernels import RBF, Constant, Cosine, Linear, Polynomial
from pellucid.proofs.decomposition.kernel_pca import prove_kernel_pca
from pellucid.proofs.kernels.matrices import kernel_matrix, resolved_kernel
from pellucid.proofs.kernels.matrices_on_device import centered_there
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")


def there(array):
    return torch.as_tensor(array, device=DEVICE)


def rows(n=150, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 5)).astype(dtype)


KINDS = [
    {"n_components": 3},
    {"n_components": 4, "kernel": "rbf", "gamma": 0.3},
    {"n_components": 2, "kernel": "poly", "degree": 2, "remove_zero_eig": True},
    {"n_components": 2, "kernel": 2.0 * RBF(0.5) + Polynomial(2) * Cosine() + Constant(1.0)},
    {"n_components": 1, "kernel": "sigmoid", "gamma": 0.01},
    {},
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "options"), [*((150, kind) for kind in KINDS), (700, KINDS[1])], ids=str)
def test_the_components_are_those_in_memory(dtype, n, options):
    X, new = rows(n, dtype), rows(20, dtype, seed=1)
    here, found = KernelPCA(**options).fit(X), KernelPCA(**options).fit(there(X))
    np.testing.assert_allclose(on_host(found.eigenvalues_), here.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(on_host(found.kernel_means_), here.kernel_means_, atol=1e-12 * n)
    said, close = found.transform(there(new)), 1e-7 if dtype == np.float64 else 1e-4
    assert said.dtype == there(X).dtype
    np.testing.assert_allclose(on_host(said), here.transform(new), atol=close)
    np.testing.assert_allclose(on_host(found.fit_transform(there(X))), here.transform(X), atol=close)
    assert [claim.name for claim in found.certificate_.claims] == [claim.name for claim in here.certificate_.claims]
    assert found.certificate_.holds
    assert pellucid.verify(found, there(X)).holds


@pytest.mark.parametrize("options", KINDS[:2], ids=str)
def test_an_offset_costs_no_digits(options):
    near, far = (KernelPCA(**options).fit(there(X)) for X in (rows(), rows() + 1e6))
    np.testing.assert_allclose(on_host(far.eigenvalues_), on_host(near.eigenvalues_), rtol=1e-8)
    assert far.certificate_.holds


@pytest.mark.parametrize("load", [load_iris, load_diabetes])
def test_a_mean_that_is_rounded_is_no_alarm(load):
    X = load().data + 1e6
    found = KernelPCA().fit(there(X))
    assert found.certificate_.holds
    assert pellucid.verify(found, there(X)).holds


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("options", KINDS[1:5], ids=str)
def test_products_of_the_proof_are_those_on_the_host(monkeypatch, options, offset):
    monkeypatch.setattr("pellucid.proofs.kernels.matrices_on_device.NUMBERS_AT_ONCE", 1 << 10)
    X = rows()
    X[:75] += offset if options["kernel"] == "rbf" else 0.0  # two halves so far apart that products forget the rest
    kernel = resolved_kernel(options["kernel"], gamma=0.3, degree=2, coef0=1.0)
    products = kernel_matrix(kernel, X)
    found, means, own = centered_there(kernel, there(X))
    wanted = products - products.mean(axis=0) - products.mean(axis=1)[:, None] + products.mean()
    size = np.abs(products).max()
    for one, other in ((on_host(found.matrix), wanted), (means, products.mean(axis=0)), (own, products.diagonal())):
        np.testing.assert_allclose(one, other, atol=1e-12 * size)
    assert found.norm == pytest.approx(np.linalg.norm(wanted))
    assert found.trace == pytest.approx(np.trace(wanted))


@pytest.mark.parametrize(
    ("wrong", "changes"),
    [
        ("eigenvectors", lambda model: {"eigenvalues_": model.eigenvalues_ * (1.0 + 1e-6)}),
        ("order", lambda model: {"eigenvectors_": -model.eigenvectors_}),
        ("orthogonality", lambda model: {"eigenvectors_": 1.001 * model.eigenvectors_}),
        ("means", lambda model: {"kernel_means_": model.kernel_means_ + 1e-6}),
        ("training rows", lambda model: {"X_fit_": model.X_fit_ + 1e-6}),
        ("gamma", lambda model: {"gamma_": 0.31}),
        ("missed", lambda model: {"eigenvalues_": model.eigenvalues_[1:], "eigenvectors_": model.eigenvectors_[:, 1:]}),
    ],
)
def test_the_proof_there_objects(wrong, changes):
    model = KernelPCA(4, kernel="rbf", gamma=0.3).fit(rows())
    names = ("eigenvalues_", "eigenvectors_", "kernel_means_", "gamma_", "X_fit_")
    fitted = {name: getattr(model, name) for name in names} | changes(model)
    model.set_params(n_components=len(fitted["eigenvalues_"]))
    for X in (rows(), there(rows())):
        claims = prove_kernel_pca(Seen(**fitted), model, TrainingData(X)).claims
        assert wrong in [claim.name for claim in claims if not claim.holds]


def test_refuses_what_it_does_not_do_on_a_device():
    for options, said in (
        ({"kernel": "laplacian"}, "kernel must be linear, poly, rbf"),
        ({"kernel": "precomputed"}, "kernel must be linear, poly, rbf"),
        ({"fit_inverse_transform": True, "kernel": Linear()}, "fit_inverse_transform must be False"),
    ):
        with pytest.raises(ValueError, match=said):
            KernelPCA(**options).fit(there(rows()))
