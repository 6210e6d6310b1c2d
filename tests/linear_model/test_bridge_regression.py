import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import Lasso as PeerLasso
from sklearn.linear_model import Ridge as PeerRidge

import pellucid
from pellucid.linear_model import BridgeRegression
from pellucid.linear_model.bridge_kernels import bridge_minimizer, bridge_pass, bridge_root
from pellucid.proofs.linear_model.bridge import bridge_gap, bridge_objective, coordinate_gain

POWERS = (0.3, 0.5, 0.9, 1.0, 1.01, 1.3, 2.0, 4.0)


def problem(seed, n=50, p=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 1.0
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 3.0 + 0.2 * rng.standard_normal(n)


# by hand


@pytest.mark.by_hand
def test_one_coefficient_solves_its_scalar_equation():
    # q = 1.5, a = 1, c = 3, penalty 1: w - 3 + 1.5 sqrt(w) = 0 has sqrt(w) = (-1.5 + sqrt(14.25)) / 2
    assert bridge_minimizer(1.0, 3.0, 1.0, 1.5) == pytest.approx(((-1.5 + np.sqrt(14.25)) / 2) ** 2, rel=1e-14)
    assert bridge_minimizer(2.0, -3.0, 1.0, 1.0) == pytest.approx(-1.0)
    assert bridge_minimizer(1.0, 3.0, 1.0, 2.0) == pytest.approx(1.0)  # c / (a + 2 penalty)


def test_below_one_small_pulls_are_cut_to_zero():
    # q = 1/2, a = penalty = 1: nonzero pays from c = 3/2 on, where w = 1
    assert bridge_minimizer(1.0, 1.4999, 1.0, 0.5) == 0.0
    assert bridge_minimizer(1.0, 1.5001, 1.0, 0.5) == pytest.approx(1.0, rel=1e-3)


def test_the_gap_is_the_distance_of_a_known_lower_bound():
    # b = 2, a = 1, alpha = 1, q = 2 at w = 0: objective 2, and the minimum is at w = 2/3 with value 4/3
    one = np.ones(1)
    gap = bridge_gap(2 * one, 2 * one, 2 * one, 0 * one, 1.0, 2.0, 1.0)
    assert gap == pytest.approx(2 - 4 / 3, rel=1e-5)


# properties


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 10), st.floats(-10, 10), st.floats(0.01, 10), st.sampled_from(POWERS))
def test_the_scalar_minimizer_beats_a_grid(a, c, penalty, q):
    grid = np.linspace(-1.2, 1.2, 2001) * max(abs(c) / a, 1e-3)
    values = 0.5 * a * grid**2 - c * grid + penalty * np.abs(grid) ** q
    w = bridge_minimizer(a, c, penalty, q)
    assert 0.5 * a * w**2 - c * w + penalty * abs(w) ** q <= values.min() + 1e-9 * (1 + abs(values.min()))


@pytest.mark.parametrize("q", [q for q in POWERS if q >= 1])
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_never_smaller_than_the_true_excess(q, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((20, 4)), rng.standard_normal(20)

    def objective(w):
        return bridge_objective(b - A @ w, w, 0.1, q, 20.0)

    options = {"fatol": 1e-12, "xatol": 1e-9, "maxfev": 9000}
    starts = (np.zeros(4), np.linalg.lstsq(A, b, rcond=None)[0])
    best = min(minimize(objective, start, method="Nelder-Mead", options=options).fun for start in starts)
    for _ in range(5):
        w = rng.standard_normal(4)
        residual = b - A @ w
        assert bridge_gap(b, residual, A.T @ residual, w, 0.1, q, 20.0) >= objective(w) - best - 1e-9


@pytest.mark.property
@pytest.mark.parametrize("q", POWERS)
def test_weights_are_repetitions(q):
    X, y = problem(0)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = BridgeRegression(0.05, q=q, tol=1e-10).fit(X, y, sample_weight=weight)
    repeated = BridgeRegression(0.05, q=q, tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)


@pytest.mark.parametrize("q", POWERS)
def test_the_objective_never_rises(q):
    X, y = problem(1)
    model = BridgeRegression(0.1, q=q, tol=1e-12).fit(X, y)
    assert np.all(np.diff(model.trace_["objective"]) <= 1e-12)
    assert pellucid.verify(model, X, y).holds
    assert model.certificate_.grade == ("optimal" if q >= 1 else "stationary")


def test_smaller_powers_keep_fewer_coefficients():
    X, y = problem(2)
    kept = [np.count_nonzero(BridgeRegression(0.1, q=q).fit(X, y).coef_) for q in (0.3, 1.0, 2.0)]
    assert kept[0] <= kept[1] < kept[2]


def test_warm_start_starts_where_the_last_fit_ended():
    X, y = problem(0)
    model = BridgeRegression(0.1, q=1.2, tol=1e-10, warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= first


# peer


@pytest.mark.peer
def test_power_one_is_the_lasso_and_power_two_is_ridge():
    X, y = problem(0)
    lasso, ridge = (BridgeRegression(0.1, q=q, tol=1e-13).fit(X, y) for q in (1.0, 2.0))
    np.testing.assert_allclose(lasso.coef_, PeerLasso(0.1, tol=1e-12).fit(X, y).coef_, atol=1e-7)
    np.testing.assert_allclose(ridge.coef_, PeerRidge(0.1 * 2 * len(y)).fit(X, y).coef_, atol=1e-6)


def test_sparse_data_give_the_same_answer():
    X, y = problem(0)
    X[X < 0.5] = 0.0
    dense, thin = BridgeRegression(0.1, q=1.5).fit(X, y), BridgeRegression(0.1, q=1.5).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-9)
    assert pellucid.verify(thin, sparse.csr_array(X), y).holds


@pytest.mark.parametrize("q", POWERS)
def test_kernels_agree_with_their_python(q):
    X, y = problem(3, n=12, p=3)
    gram, pull = X.T @ X, X.T @ y
    results = []
    for run in (bridge_pass, bridge_pass.py_func):
        w, gradient = np.zeros(3), pull.copy()
        results.append((run(gram, gradient, w, 0.7, q), w, gradient))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12)
    assert bridge_minimizer(1.0, 2.0, 0.3, q) == pytest.approx(bridge_minimizer.py_func(1.0, 2.0, 0.3, q))
    if q > 1:
        assert bridge_root(1.0, 2.0, 0.3, q, 0.0) == pytest.approx(bridge_root.py_func(1.0, 2.0, 0.3, q, 0.0))


def test_the_proof_for_nonconvex_powers_sees_a_better_coordinate():
    assert coordinate_gain(np.array([2.0]), np.ones(1), np.zeros(1), 1.0, 0.5, 1.0) > 0.4
    assert coordinate_gain(np.array([1.4]), np.ones(1), np.zeros(1), 1.0, 0.5, 1.0) == 0.0


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0.0}, "alpha must be above 0, got 0.0. For no penalty use LinearRegression."),
        ({"q": 0.0}, "q must be above 0"),
        ({"q": -1.0}, "q must be above 0"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_parameters_get_one_sentence(params, message):
    X, y = problem(0)
    with pytest.raises(ValueError, match=message):
        BridgeRegression(**params).fit(X, y)


def test_too_few_passes_are_not_hidden():
    X, y = problem(0)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap"):
        BridgeRegression(1e-6, q=1.5, max_iter=1, tol=1e-12).fit(X, y)
