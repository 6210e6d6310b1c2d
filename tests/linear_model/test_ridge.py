import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Ridge as PeerRidge

import pellucid
from pellucid.linear_model import (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    ridge_error_split,
    shrinkage_factors,
)
from pellucid.linear_model.least_squares.stochastic_average_kernels import average_gradient_epoch

DIRECT = ("auto", "cholesky", "svd")
ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")


def problem(seed, n=60, p=5, t=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 1.0
    targets = X @ rng.standard_normal((p, t or 1)) + 4.0 + 0.1 * rng.standard_normal((n, t or 1))
    return X, targets if t else targets[:, 0]


# by hand


@pytest.mark.by_hand
def test_one_feature_is_shrunk_by_sxx_over_sxx_plus_alpha():
    # Sxx = 2, Sxy = 4: w = 4 / (2 + 2); mean of y 3, of x 1
    model = Ridge(alpha=2.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    assert model.coef_ == pytest.approx([1.0])
    assert model.intercept_ == pytest.approx(2.0)


def test_shrinkage_factors_are_s2_over_s2_plus_alpha():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])  # s^2 = 8 and 2
    np.testing.assert_allclose(shrinkage_factors(X, 2.0), [0.8, 0.5])
    np.testing.assert_allclose(shrinkage_factors(X, 0.0), [1.0, 1.0])


def test_no_penalty_is_least_squares():
    X, y = problem(0)
    np.testing.assert_allclose(Ridge(alpha=0.0).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12)


# properties


@pytest.mark.property
@settings(max_examples=30, deadline=None)
@given(st.integers(2, 20), st.integers(1, 25), st.integers(0, 10_000), st.sampled_from([1e-3, 1.0, 100.0]))
def test_weights_are_repetitions(n, p, seed, alpha):
    rng = np.random.default_rng(seed)
    X, y, weight = rng.standard_normal((n, p)), rng.standard_normal(n), rng.integers(0, 4, n)
    weight[0] += 1
    weighted = Ridge(alpha).fit(X, y, sample_weight=weight)
    repeated = Ridge(alpha).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_primal_and_dual_form_agree(seed):
    X, y = problem(seed, n=30, p=30)
    taller, wider = Ridge(0.5).fit(X, y), Ridge(0.5).fit(np.hstack([X, np.zeros((30, 5))]), y)
    np.testing.assert_allclose(wider.coef_[:30], taller.coef_, atol=1e-10)
    assert not wider.coef_[30:].any()


@pytest.mark.parametrize("seed", range(3))
def test_scaling_data_and_penalty_together_scales_the_answer(seed):
    X, y = problem(seed)
    plain, scaled = Ridge(1.0).fit(X, y), Ridge(1e20).fit(X * 1e10, y)
    np.testing.assert_allclose(scaled.coef_ * 1e10, plain.coef_, rtol=1e-11)


def test_the_error_split_agrees_with_simulation():
    rng = np.random.default_rng(0)
    X, w, at = rng.standard_normal((20, 3)) + 2, np.array([1.0, -2.0, 0.5]), rng.standard_normal((4, 3))
    split = ridge_error_split(X, w, alpha=3.0, noise_variance=0.25, at=at)
    predictions = np.array([Ridge(3.0).fit(X, X @ w + rng.normal(0, 0.5, 20)).predict(at) for _ in range(4000)])
    bias, variance = predictions.mean(axis=0) - at @ w, predictions.var(axis=0)
    # 4000 draws: standard errors of about 2 %, so four of them leave a false alarm below 1 in 10,000
    assert np.mean(bias**2) == pytest.approx(split.bias_squared, rel=0.08)
    assert np.mean(variance) == pytest.approx(split.variance, rel=0.08)
    assert split.total == pytest.approx(split.bias_squared + split.variance + 0.25)


# peer


@pytest.mark.peer
@pytest.mark.parametrize("solver", DIRECT + ITERATIVE)
@pytest.mark.parametrize("shape", [(60, 5), (15, 30)])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_every_solver_gives_the_answer_of_scikit_learn(solver, shape, weighted, kind):
    X, Y = problem(0, *shape, t=2)
    weight = np.random.default_rng(1).integers(0, 4, len(X)).astype(float) if weighted else None
    ours = Ridge(2.0, solver=solver, tol=1e-9, max_iter=20000, random_state=0).fit(kind(X), Y, sample_weight=weight)
    peer = PeerRidge(2.0, solver="svd").fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-6)
    assert pellucid.verify(ours, kind(X), Y, sample_weight=weight).holds
    assert ours.certificate_.grade == ("exact" if ours.solver_ in DIRECT else "stationary")


def test_each_target_may_have_its_penalty():
    X, Y = problem(0, t=3)
    ours, peer = (kind(alpha=[0.1, 10.0, 0.1]).fit(X, Y) for kind in (Ridge, PeerRidge))
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-10)
    assert pellucid.verify(ours, X, Y).holds


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_nonnegative_fit_as_scikit_learn(fit_intercept):
    X, Y = problem(0, t=2)
    ours = Ridge(2.0, positive=True, fit_intercept=fit_intercept).fit(X, Y)
    peer = PeerRidge(2.0, positive=True, fit_intercept=fit_intercept, tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
    assert np.all(ours.coef_ >= 0)
    assert pellucid.verify(ours, X, Y).holds


def test_tiny_penalty_on_collinear_columns_keeps_its_digits():
    X, y = problem(0)
    X[:, 4] = X[:, 3] + 1e-9 * X[:, 4]
    direct = Ridge(1e-10).fit(X, y)
    A, b = X - X.mean(axis=0), y - y.mean()
    stacked = np.vstack([A, 1e-5 * np.eye(5)])
    best = np.linalg.lstsq(stacked, np.concatenate([b, np.zeros(5)]), rcond=None)[0]
    np.testing.assert_allclose(direct.predict(X), y.mean() + A @ best, rtol=1e-9)
    assert direct.certificate_.holds


def test_the_kernel_agrees_with_its_python():
    rng = np.random.default_rng(0)
    X, b, order = rng.standard_normal((6, 2)), rng.standard_normal(6), np.array([0, 3, 3, 1, 5])
    for unbiased in (True, False):
        states = []
        for run in (average_gradient_epoch, average_gradient_epoch.py_func):
            w, errors, gradient, seen = np.zeros(2), np.zeros(6), np.zeros(2), np.zeros(6, dtype=bool)
            run(X, X.mean(axis=0), np.ones(6), b, order, w, errors, gradient, seen, 0.1, 0.05, unbiased)
            states.append((w, errors, gradient, seen))
        for compiled, plain in zip(*states, strict=True):
            np.testing.assert_allclose(compiled, plain, rtol=1e-14)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"alpha": -1.0}, ValueError, "alpha must be at least 0, got -1.0"),
        ({"alpha": "1"}, TypeError, "alpha must be a number"),
        ({"alpha": [1.0, 2.0]}, ValueError, "one value per target"),
        ({"solver": "qr"}, ValueError, "solver must be one of"),
        ({"solver": "lbfgs"}, ValueError, "unless positive=True"),
        ({"solver": "svd", "positive": True}, ValueError, "'auto' or 'lbfgs' when positive=True"),
        ({"tol": -1}, ValueError, "tol must be at least 0"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
    ],
)
def test_bad_parameters_get_one_sentence(params, error, message):
    X, y = problem(0)
    with pytest.raises(error, match=message):
        Ridge(**params).fit(X, y)


def test_too_few_iterations_are_not_hidden():
    X, y = problem(0)
    with pytest.warns(pellucid.UncertifiedWarning, match=r"Ridge: normal equations is .* Raise max_iter"):
        Ridge(solver="sparse_cg", max_iter=1, tol=1e-10).fit(X, y)


@pytest.mark.parametrize("kind", [Ridge, RidgeCV, RidgeClassifier])
@pytest.mark.parametrize("alpha", [1.0, 1e-6])
def test_columns_of_very_different_size_are_certified(kind, alpha):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [1e6, 1e-6, 1.0, 1.0]
    y = X @ [1e-6, 1e6, 1.0, 2.0] + rng.standard_normal(60)
    y = (y > 0).astype(int) if kind is RidgeClassifier else y
    model = kind(alphas=[alpha]).fit(X, y) if kind is RidgeCV else kind(alpha=alpha).fit(X, y)
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds
