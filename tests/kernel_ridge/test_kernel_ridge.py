"""KernelRidge: by hand, properties, against scikit-learn, workings, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge as PeerKernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

import pellucid
from pellucid.kernel_ridge import KernelRidge
from pellucid.kernels import RBF, Laplacian, Polynomial
from pellucid.show import show_work
from pellucid.solvers import penalized_system

FEW = settings(max_examples=15, deadline=None)


def problem(seed=0, n=60, p=3, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)
    return X, y if targets is None else np.column_stack([y + k * X[:, 1] for k in range(targets)])


@pytest.mark.by_hand
def test_two_rows_by_hand():
    # products 1, 2; 2, 4 and alpha 1: [2 2; 2 5] a = [2, 3], so a = (4, 2) / 6
    model = KernelRidge(alpha=1.0).fit([[1.0], [2.0]], [2.0, 3.0])
    assert model.dual_coef_ == pytest.approx([2 / 3, 1 / 3])
    assert model.predict([[3.0]]) == pytest.approx([3 * (2 / 3 + 2 / 3)])
    assert model.certificate_.grade == "exact"
    # (2 - 4/3)^2 + (3 - 8/3)^2 + (4/3)^2 = 4/9 + 1/9 + 16/9
    assert model.trace_["objective"] == pytest.approx([21 / 9])


def test_one_row_by_hand():
    assert KernelRidge(alpha=3.0, kernel="rbf").fit([[7.0]], [8.0]).dual_coef_ == pytest.approx([2.0])


@pytest.mark.property
@FEW
@given(st.integers(0, 1000), st.sampled_from(["linear", "poly", "rbf", "laplacian"]), st.booleans())
def test_weights_are_repetitions(seed, kernel, several):
    X, y = problem(seed, n=25, targets=2 if several else None)
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[0] = 1
    again = np.repeat(np.arange(len(X)), weight)
    how = {"alpha": 0.3, "kernel": kernel}
    once, repeated = KernelRidge(**how).fit(X, y, sample_weight=weight), KernelRidge(**how).fit(X[again], y[again])
    np.testing.assert_allclose(once.predict(X), repeated.predict(X), rtol=1e-8, atol=1e-8)
    assert not once.dual_coef_[weight == 0].any()
    assert pellucid.verify(once, X, y, sample_weight=weight).holds


@FEW
@given(st.integers(0, 1000))
def test_a_linear_kernel_is_ridge_without_intercept(seed):
    X, y = problem(seed)
    line = Ridge(alpha=0.7, fit_intercept=False).fit(X, y)
    model = KernelRidge(alpha=0.7).fit(X, y)
    np.testing.assert_allclose(X.T @ model.dual_coef_, line.coef_, rtol=1e-9)


@pytest.mark.peer
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "polynomial"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "array", "csc"])
def test_same_answer_as_scikit_learn(kernel, form):
    X, y = problem(targets=2)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    how = {"alpha": [3.0, 9.0], "kernel": kernel, "gamma": 0.1}
    ours, peer = (kind(**how).fit(form(X), y, sample_weight=weight) for kind in (KernelRidge, PeerKernelRidge))
    np.testing.assert_allclose(ours.predict(form(X)), peer.predict(form(X)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, rtol=1e-6, atol=1e-9)
    assert pellucid.verify(ours, form(X), y, sample_weight=weight).holds


@pytest.mark.filterwarnings("ignore:Singular matrix")  # of scikit-learn, which takes indefinite for singular
@pytest.mark.parametrize("kernel", ["chi2", "additive_chi2"])
def test_kernels_of_histograms(kernel):
    X, y = problem()
    X = np.abs(X)
    ours, peer = (kind(kernel=kernel, gamma=1.0, alpha=9.0).fit(X, y) for kind in (KernelRidge, PeerKernelRidge))
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-7, atol=1e-9)
    assert KernelRidge(kernel="chi2").fit(X, y).certificate_.holds  # gamma=None is 1


def test_given_products_a_function_and_an_object_give_the_same_answer():
    X, y = problem()
    kernel = RBF(0.2)
    wanted = KernelRidge(kernel="rbf", gamma=0.2).fit(X, y)
    given_products = KernelRidge(kernel="precomputed").fit(kernel(X), y)
    np.testing.assert_allclose(given_products.predict(kernel(X[:5], X)), wanted.predict(X[:5]), rtol=1e-9)
    assert pellucid.verify(given_products, kernel(X), y).holds
    weight = np.r_[0.0, 2.0, np.ones(len(X) - 2)]
    weighted = KernelRidge(kernel="precomputed").fit(kernel(X), y, sample_weight=weight)
    again = KernelRidge(kernel=kernel).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.dual_coef_, again.dual_coef_, rtol=1e-9)
    assert pellucid.verify(weighted, kernel(X), y, sample_weight=weight).holds
    function = KernelRidge(kernel=lambda a, b, g: np.exp(-g * (a - b) @ (a - b)), kernel_params={"g": 0.2}).fit(X, y)
    np.testing.assert_allclose(function.predict(X), wanted.predict(X), rtol=1e-9)
    assert pellucid.verify(function, X, y).holds


def test_large_systems_are_solved_to_the_last_digits(monkeypatch):
    X, y = problem(n=90, targets=2)
    for kernel, alpha in ((RBF(0.05), 1e-3), (Polynomial(3, 1.0), 1.0), (Laplacian(), 1e-9), (RBF(1e-3), 1e-9)):
        wanted = KernelRidge(alpha, kernel=kernel).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr(penalized_system, "LARGE", 1)
            found = KernelRidge(alpha, kernel=kernel).fit(X, y)
        assert pellucid.verify(found, X, y).holds
        np.testing.assert_allclose(found.predict(X), wanted.predict(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-70, 1e-6, 1e6, 1e70])
@pytest.mark.parametrize("kernel", ["linear", RBF(0.5)])
def test_no_false_alarm_in_other_units(scale, kernel):
    X, y = problem()
    model = KernelRidge(kernel=kernel, alpha=scale**2 if kernel == "linear" else 1.0).fit(scale * X, y)
    assert pellucid.verify(model, scale * X, y).holds


def test_says_when_an_offset_has_eaten_the_digits():
    X, y = problem()
    equations, values = (
        pytest.warns(pellucid.UncertifiedWarning, match=words)
        for words in ("equations is .* Raise alpha", "fitted values is .* bring X nearer to 0")
    )
    with equations, values:
        KernelRidge().fit(X + 1e8, y)
    assert KernelRidge(kernel="rbf").fit(X + 1e8, y).certificate_.holds


@pytest.mark.parametrize("prepare", [lambda X: X + 1e2, lambda X: X.astype(np.float32), lambda X: np.ones_like(X)])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_no_false_alarm_with_offsets_float32_and_constants(prepare, kernel):
    X, y = problem()
    model = KernelRidge(kernel=kernel).fit(prepare(X), y)
    assert pellucid.verify(model, prepare(X), y).holds


@pytest.mark.parametrize("gamma", [0, 1e9])
def test_flat_and_narrow_kernels(gamma):
    X, y = problem()
    model = KernelRidge(kernel="rbf", gamma=gamma).fit(X, y)
    # gamma 0: all products are 1, f = sum(y) / (n + alpha); 1e9: K = I and f = y / 2
    wanted = np.full(len(y), y.sum() / (len(y) + 1)) if gamma == 0 else y / 2
    np.testing.assert_allclose(model.predict(X), wanted, rtol=1e-9)


def test_without_penalty_it_interpolates_or_says_that_it_cannot():
    X, y = problem(n=10)
    model = KernelRidge(alpha=0, kernel="rbf").fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-6)
    assert KernelRidge(alpha=0).fit(X[:2], y[:2]).certificate_.holds  # fewer rows than columns
    equations, values = (
        pytest.warns(pellucid.UncertifiedWarning, match=words)
        for words in ("equations is .* Raise", "fitted values is")
    )
    with equations, values:
        KernelRidge(alpha=0).fit(X, y)  # ten equations, three unknowns


def test_works_in_a_grid_search_with_kernel_objects():
    X, y = problem()
    search = GridSearchCV(KernelRidge(alpha=0.1), {"kernel": ["linear", RBF(0.1), 2 * RBF(0.1) + Polynomial(2)]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.5
    K = RBF(0.1)(X)
    given_products = cross_val_score(KernelRidge(0.1, kernel="precomputed"), K, y, cv=3)
    np.testing.assert_allclose(given_products, cross_val_score(KernelRidge(0.1, kernel=RBF(0.1)), X, y, cv=3))


@pytest.mark.parametrize("weighted", [False, True])
def test_verify_objects_to_broken_models(weighted):
    X, y = problem()
    weights = {"sample_weight": np.r_[np.zeros(5), np.ones(len(y) - 5)]} if weighted else {}
    model = KernelRidge(kernel="rbf", alpha=0.1).fit(X, y, **weights)
    changes = {
        "coefficient": lambda m: m.dual_coef_.__setitem__(-1, m.dual_coef_[-1] * (1 + 1e-8)),
        "other order": lambda m: setattr(m, "dual_coef_", m.dual_coef_[::-1]),
        "fewer": lambda m: setattr(m, "dual_coef_", m.dual_coef_[:-1]),
        "rows": lambda m: setattr(m, "X_fit_", m.X_fit_ + 1e-12),
        "penalty": lambda m: m.set_params(alpha=0.1 + 1e-9),
    }
    if weighted:
        changes["idle"] = lambda m: m.dual_coef_.__setitem__(0, 1e-300)
    for change in changes.values():
        broken = copy.deepcopy(model)
        change(broken)
        with pytest.warns(pellucid.UncertifiedWarning):
            assert pellucid.verify(broken, X, y, **weights).failed


def test_the_work_by_hand_is_that_of_the_program():
    X, y = [[0], [1], [2]], [1, 0, 2]
    shown = show_work(KernelRidge(alpha=2, kernel=Polynomial(2, 1)), X, y)
    assert "det A = 228" in str(shown)
    assert [str(value) for value in shown.answer["dual_coef_"]] == ["29/76", "-35/114", "37/228"]
    for model in (KernelRidge(kernel="rbf", gamma=1), KernelRidge(0.5), KernelRidge(kernel="poly", degree=2)):
        assert "largest distance" in str(show_work(model, X, y))
    with pytest.raises(ValueError, match="at most 5 rows"):
        show_work(KernelRidge(), [[float(i)] for i in range(6)], range(6))
    with pytest.raises(ValueError, match="kernel must be 'linear', 'poly' or 'rbf'"):
        show_work(KernelRidge(kernel=2 * RBF()), X, y)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"alpha": -1.0}, "alpha must be at least 0, got -1.0"),
        ({"alpha": [1.0, -1.0]}, r"alpha\[1\] must be at least 0, got -1.0"),
        ({"alpha": [1.0, 2.0]}, "alpha must be one number or one for each of the 1 targets, got 2"),
        ({"kernel": "gauss"}, "kernel must be one of .* or a function of two rows"),
        ({"kernel": 3}, "kernel must be"),
        ({"gamma": -1.0}, "gamma must be at least 0"),
        ({"kernel": "precomputed"}, r"X must be square .* got shape \(60, 3\)"),
        ({"kernel": "chi2"}, "X must have no entry below 0"),
        ({"kernel": lambda a, b: np.nan}, "kernel must return finite products, got nan"),
        ({"kernel": lambda a, b: a}, "kernel must return a number for two rows"),
        ({"kernel": lambda a, b: a[0]}, "kernel must be symmetric"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    X, y = problem()
    with pytest.raises((TypeError, ValueError), match=words):
        KernelRidge(**how).fit(X, y)


def test_refuses_products_that_overflow_and_asymmetric_ones():
    X, y = problem()
    with pytest.raises(ValueError, match="kernel must return finite products, got inf"):
        KernelRidge(kernel="poly", degree=9).fit(1e40 * X, y)
    K = X @ X.T
    K[0, 1] += 1.0
    for products in (K, sparse.csr_array(K)):
        with pytest.raises(ValueError, match=r"kernel must be symmetric.* for rows 0 and 1"):
            KernelRidge(kernel="precomputed").fit(products, y)


def test_equations_beyond_rounding_are_solved_in_least_squares():
    # K = x x' of squares from 1 to 1e24: of rank 1, and alpha is lost in rounding. The best multiple of x is left.
    x, y = np.logspace(0, 12, 7), np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0])
    with pytest.warns(pellucid.UncertifiedWarning):
        model = KernelRidge(alpha=1e-9).fit(x[:, None], y)
    wanted = x * (x @ y) / (x @ x)
    np.testing.assert_allclose(model.predict(x[:, None]), wanted, atol=1e-6 * np.abs(wanted).max())
