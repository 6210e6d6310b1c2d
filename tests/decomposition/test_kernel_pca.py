"""KernelPCA: by hand, properties, against scikit-learn, proofs, workings, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as PeerKernelPCA

import pellucid
from pellucid.decomposition import KernelPCA, kernel_pca_solvers
from pellucid.kernels import RBF, Polynomial, Sigmoid
from pellucid.proofs.matrices import eigenpairs
from pellucid.show import show_work
from pellucid.solvers import leading_eigenvectors

FEW = settings(max_examples=15, deadline=None)


def cloud(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) * np.arange(1.0, p + 1) + 2.0


@pytest.mark.by_hand
def test_three_points_by_hand():
    # centered: -1, 0, 1; products [[1, 0, -1], [0, 0, 0], [-1, 0, 1]], eigenvalue 2 with (1, 0, -1) / sqrt 2
    model = KernelPCA(1).fit([[1.0], [2.0], [3.0]])
    assert model.eigenvalues_ == pytest.approx([2.0])
    assert model.eigenvectors_[:, 0] == pytest.approx([0.5**0.5, 0.0, -(0.5**0.5)])
    assert model.kernel_means_.tolist() == [2.0, 4.0, 6.0]
    assert model.transform([[5.0]])[0] == pytest.approx([-3.0])  # three to the right of the mean
    assert KernelPCA().fit([[1.0], [2.0], [3.0]]).eigenvalues_.shape == (1,)  # zeros go


def test_two_points_of_a_gaussian_kernel_by_hand():
    # products 1 and e, centered (1 - e) / 2 times [[1, -1], [-1, 1]]: eigenvalue 1 - e
    model = KernelPCA(kernel=RBF(1.0)).fit([[0.0], [1.0]])
    assert model.eigenvalues_ == pytest.approx([1 - np.exp(-1.0)])


@FEW
@given(st.integers(0, 1000))
def test_a_linear_kernel_gives_principal_components(seed):
    X = cloud(seed)
    ours, peer = KernelPCA(3).fit_transform(X), PCA(3).fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(peer), atol=1e-8)


@pytest.mark.property
@FEW
@given(st.integers(0, 1000), st.sampled_from(["rbf", "poly", "cosine", "laplacian"]))
def test_new_rows_equal_to_old_ones_are_projected_as_these(seed, kernel):
    X = cloud(seed, n=25)
    model = KernelPCA(3, kernel=kernel, gamma=0.05)
    projected = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), projected, atol=1e-7 * np.abs(projected).max())
    np.testing.assert_allclose(projected.sum(axis=0), 0.0, atol=1e-7 * np.abs(projected).max())
    order = np.random.default_rng(seed).permutation(len(X))
    again = KernelPCA(3, kernel=kernel, gamma=0.05).fit(X[order])
    np.testing.assert_allclose(again.eigenvalues_, model.eigenvalues_, rtol=1e-9)


@pytest.mark.peer
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine"])
@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_same_answer_as_scikit_learn(kernel, solver, form, monkeypatch):
    monkeypatch.setattr(kernel_pca_solvers, "LARGE", 10)  # iterative for small data as well
    X = cloud(n=80)
    ours = KernelPCA(3, kernel=kernel, gamma=0.1, eigen_solver=solver).fit(form(X))
    peer = PeerKernelPCA(3, kernel=kernel, gamma=0.1, eigen_solver="dense").fit(form(X))
    np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.eigenvectors_, peer.eigenvectors_, atol=1e-8)
    scale = np.abs(peer.transform(form(X))).max()
    np.testing.assert_allclose(ours.transform(form(X[:9])), peer.transform(form(X[:9])), atol=1e-8 * scale)
    assert pellucid.verify(ours, form(X)).holds


def test_given_products_a_function_and_an_object_give_the_same_answer():
    X, kernel = cloud(), RBF(0.05)
    wanted = KernelPCA(4, kernel="rbf", gamma=0.05).fit(X)
    given_products = KernelPCA(4, kernel="precomputed").fit(kernel(X))
    function = KernelPCA(4, kernel=lambda a, b, g: np.exp(-g * (a - b) @ (a - b)), kernel_params={"g": 0.05}).fit(X)
    for model, new, rows in ((given_products, kernel(X[:5], X), kernel(X)), (function, X[:5], X)):
        np.testing.assert_allclose(model.transform(new), wanted.transform(X[:5]), atol=1e-9)
        assert pellucid.verify(model, rows).holds


def test_the_inverse_is_a_ridge_regression_on_the_projections():
    X = cloud()
    ours = KernelPCA(3, kernel="rbf", gamma=0.05, fit_inverse_transform=True, alpha=0.1).fit(X)
    peer = PeerKernelPCA(3, kernel="rbf", gamma=0.05, fit_inverse_transform=True, alpha=0.1).fit(X)
    Z = ours.transform(X[:7])
    np.testing.assert_allclose(ours.inverse_transform(Z), peer.inverse_transform(Z), rtol=1e-7)
    proof = pellucid.verify(ours, X)
    assert proof.holds
    assert {"equations", "projections"} <= {claim.name for claim in proof.claims}


def test_all_components_of_an_eigenvalue_that_many_share():
    X = 100.0 * np.eye(600)[:, :300] + np.arange(600.0)[:, None]  # far apart: the products of RBF are 0 and 1
    model = KernelPCA(5, kernel=RBF(1.0)).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 1.0, rtol=1e-10)
    assert pellucid.verify(model, X).holds


@pytest.mark.parametrize("fails", [False, True])
def test_finds_components_where_bisection_returns_none(fails, monkeypatch):
    X = load_digits().data[np.linspace(0, 1796, 400).astype(int)]  # all products are nearly 0: 399 eigenvalues of 1

    def eigh_of_a_part_fails(matrix, **options):
        found = eigh(matrix, **options)
        return tuple(part[..., :0] for part in found) if "subset_by_index" in options else found

    if fails:
        monkeypatch.setattr(leading_eigenvectors, "eigh", eigh_of_a_part_fails)
    model = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 1.0, rtol=1e-6)
    assert pellucid.verify(model, X).holds


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_an_offset_costs_a_linear_kernel_no_digits(offset):
    X = np.round(cloud() * 1024) / 1024 + offset  # sums and differences without rounding
    model, plain = KernelPCA().fit(X), KernelPCA().fit(X - offset)
    assert pellucid.verify(model, X).holds
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(X), plain.transform(X - offset), atol=1e-7)


def test_says_when_an_offset_has_eaten_the_digits():
    with pytest.raises(ValueError, match="X must be nearer to 0 for this kernel: rounding"):
        KernelPCA(kernel="poly").fit(cloud() + 1e9)


def test_the_inverse_of_a_column_that_is_mostly_zero_is_no_alarm():
    X = cloud(n=200)
    X[:, 3] = 0.0
    X[0, 3] = 1.0  # the fit looks at 64 rows, and this may not be one of them
    model = KernelPCA(2, kernel="rbf", gamma=0.05, fit_inverse_transform=True).fit(X)
    assert model.certificate_.holds
    assert pellucid.verify(model, X).holds


@pytest.mark.parametrize("scale", [1e100, 1e147])
def test_residuals_of_huge_rows_do_not_overflow(scale):
    model = KernelPCA().fit(cloud() * scale)
    assert pellucid.verify(model, cloud() * scale).holds


def test_gamma_may_be_as_large_as_numbers_are():
    model = KernelPCA(2, kernel="rbf", gamma=1e300).fit(cloud())
    assert pellucid.verify(model, cloud()).holds


@pytest.mark.parametrize("prepare", [lambda X: X + 1e6, lambda X: 1e-60 * X, lambda X: 1e60 * X, np.float32])
@pytest.mark.parametrize("kernel", ["linear", RBF(0.05), "cosine"])
def test_no_false_alarm_in_other_units(prepare, kernel):
    X = prepare(cloud())
    model = KernelPCA(3, kernel=kernel).fit(X)
    assert pellucid.verify(model, X).holds
    assert model.transform(X).dtype == X.dtype


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 0), ("rbf", 1e9), ("linear", None)])
def test_flat_and_narrow_kernels_constant_rows_and_one_row(kernel, gamma):
    X = cloud(n=20)
    for rows in (X, np.ones_like(X), X[:1], X[:3]):
        model = KernelPCA(2, kernel=kernel, gamma=gamma).fit(rows)
        assert pellucid.verify(model, rows).holds
        assert np.isfinite(model.transform(X)).all()
        assert KernelPCA(kernel=kernel, gamma=gamma).fit(rows).certificate_.holds


@pytest.mark.parametrize("way", ["trace", "factor", "probe"])
def test_a_missed_eigenvalue_is_noticed(way, monkeypatch):
    monkeypatch.setattr(eigenpairs, "FACTORED", 0 if way == "probe" else 2000)
    X = cloud(n=90)
    kernel = "linear" if way == "trace" else RBF(0.05)
    full = KernelPCA(4, kernel=kernel).fit(X)
    claim = pellucid.verify(full, X)["missed"]
    assert claim.holds
    assert {"trace": "trace", "factor": "Cholesky", "probe": "99 % confidence"}[way] in claim.statement
    for lost in range(3):
        broken = copy.deepcopy(full).set_params(n_components=3)
        broken.fit_parameters_ = {**full.fit_parameters_, "n_components": "3"}
        keep = [k for k in range(4) if k != lost]
        broken.eigenvalues_, broken.eigenvectors_ = full.eigenvalues_[keep], full.eigenvectors_[:, keep]
        with pytest.warns(pellucid.UncertifiedWarning):
            assert "missed" in {claim.name for claim in pellucid.verify(broken, X).failed}


def test_a_fit_that_stops_early_says_so(monkeypatch):
    monkeypatch.setattr(kernel_pca_solvers, "LARGE", 10)
    X = np.random.default_rng(0).standard_normal((300, 40))
    words = ("eigenvectors is .* Raise max_iter", "missed is")
    rough, missed = (pytest.warns(pellucid.UncertifiedWarning, match=part) for part in words)
    with rough, missed:
        KernelPCA(3, kernel="rbf", max_iter=1).fit(X)
    assert KernelPCA(3, kernel="rbf", tol=1e-3).fit(X).certificate_.holds


def test_same_bits_with_any_seed_up_to_rounding(monkeypatch):
    monkeypatch.setattr(kernel_pca_solvers, "LARGE", 10)
    X = cloud(n=120)
    models = [KernelPCA(3, kernel="rbf", random_state=seed).fit(X) for seed in (None, None, 5)]
    np.testing.assert_array_equal(models[0].eigenvectors_, models[1].eigenvectors_)
    np.testing.assert_allclose(models[0].eigenvectors_, models[2].eigenvectors_, atol=1e-8)


def test_the_model_stands_when_the_rows_are_written_to_later():
    X = cloud()
    model = KernelPCA(2, kernel="rbf").fit(X)
    wanted = model.transform(cloud()[:3])
    X[...] = 0.0
    np.testing.assert_array_equal(model.transform(cloud()[:3]), wanted)


def test_the_work_by_hand_is_that_of_the_program():
    shown = str(show_work(KernelPCA(kernel=Polynomial(2, 1)), [[0], [1], [2]]))
    assert "Center the products" in shown
    assert "Project a new row" in shown
    assert "eigenvectors_" in shown
    for model in (KernelPCA(1), KernelPCA(kernel="rbf", gamma=1)):
        assert "largest distance" in str(show_work(model, [[1, 1], [2, 2], [4, 3]]))
    with pytest.raises(ValueError, match="eigenvalues that differ"):
        show_work(KernelPCA(), [[1, 0], [-1, 0], [0, 1], [0, -1]])
    with pytest.raises(ValueError, match="rows that differ"):
        show_work(KernelPCA(), [[1], [1]])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"kernel": "gauss"}, "kernel must be"),
        ({"eigen_solver": "svd"}, "eigen_solver must be one of"),
        ({"kernel": "precomputed", "fit_inverse_transform": True}, "Cannot fit_inverse_transform with a precomputed"),
        ({"kernel": "precomputed"}, r"X must be square .* got shape \(60, 4\)"),
        ({"kernel": lambda a, b: np.nan}, "kernel must return finite products, got nan"),
        ({"kernel": lambda a, b: a[0]}, "kernel must be symmetric"),
        ({"kernel": Sigmoid(1.0, -1.0)}, "There are significant negative eigenvalues"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises((TypeError, ValueError), match=words):
        KernelPCA(**how).fit(cloud())


def test_refuses_asymmetric_products_and_sparse_inverses():
    K = RBF(0.1)(cloud())
    K[0, 1] += 0.5
    with pytest.raises(ValueError, match="kernel must be symmetric"):
        KernelPCA(kernel="precomputed").fit(K)
    with pytest.raises(NotImplementedError, match="X must be dense"):
        KernelPCA(fit_inverse_transform=True).fit(sparse.csr_array(cloud()))
