import mpmath
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeCV as PeerRidgeCV

import pellucid
from pellucid.linear_model import Ridge, RidgeCV
from pellucid.proofs.linear_model.ridge_cv import _directions, _left_out_errors
from tests.proving import quiet_proof

ALPHAS = np.logspace(-6, 4, 11)


def problem(seed, n=40, p=6, t=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2.0
    Y = X[:, :3] @ rng.standard_normal((3, t or 1)) + 2.0 * rng.standard_normal((n, t or 1))
    return X, Y if t else Y[:, 0]


# by hand: the definition


@pytest.mark.by_hand
@pytest.mark.parametrize("shape", [(12, 3), (8, 20)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_errors_are_those_of_leaving_out_each_row_in_turn(shape, fit_intercept):
    X, y = problem(0, *shape)
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    model = RidgeCV([0.3], store_cv_results=True, fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    for i in range(len(y)):
        kept = np.delete(np.arange(len(y)), i)
        other = Ridge(0.3, fit_intercept=fit_intercept).fit(X[kept], y[kept], sample_weight=weight[kept])
        error = y[i] - other.predict(X[[i]])[0]
        assert model.cv_results_[i, 0] == pytest.approx(weight[i] * error**2, rel=1e-9)


def test_trace_lists_every_penalty():
    X, y = problem(0)
    model = RidgeCV(ALPHAS).fit(X, y)
    np.testing.assert_allclose(model.trace_["alpha"], ALPHAS)
    assert model.trace_["objective"].min() == pytest.approx(-model.best_score_)


# peer


@pytest.mark.peer
@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"scoring": "neg_mean_absolute_error"},
        {"scoring": "r2", "store_cv_results": True},
        {"alpha_per_target": True},
        {"alpha_per_target": True, "scoring": "r2"},
        {"fit_intercept": False, "store_cv_results": True},
        {"gcv_mode": "eigen"},
    ],
    ids=str,
)
def test_same_choice_as_scikit_learn(shape, kind, weighted, params):
    X, Y = problem(0, *shape, t=2)
    weight = np.random.default_rng(1).random(len(X)) + 0.1 if weighted else None
    ours = RidgeCV(np.logspace(-2, 3, 9), **params).fit(kind(X), Y, sample_weight=weight)
    peer = PeerRidgeCV(np.logspace(-2, 3, 9), **params).fit(kind(X), Y, sample_weight=weight)
    np.testing.assert_allclose(ours.alpha_, peer.alpha_)
    np.testing.assert_allclose(ours.best_score_, peer.best_score_, rtol=1e-6)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-6, atol=1e-9)
    if "store_cv_results" in params:
        np.testing.assert_allclose(ours.cv_results_, peer.cv_results_, rtol=1e-5, atol=1e-9)
    assert pellucid.verify(ours, kind(X), Y, sample_weight=weight).holds


def test_other_cross_validation_is_a_grid_search():
    X, y = problem(0)
    ours, peer = (kind(ALPHAS, cv=4).fit(X, y) for kind in (RidgeCV, PeerRidgeCV))
    assert ours.alpha_ == peer.alpha_
    assert ours.best_score_ == pytest.approx(peer.best_score_)


def test_a_penalty_that_is_not_the_best_does_not_verify():
    X, y = problem(0)
    model = RidgeCV(ALPHAS).fit(X, y)
    worse = ALPHAS[0] if model.alpha_ != ALPHAS[0] else ALPHAS[-1]
    refit = Ridge(worse).fit(X, y)
    model.alpha_, model.coef_, model.intercept_ = worse, refit.coef_, refit.intercept_
    assert not quiet_proof(model, X, y)["penalty"].holds


@pytest.mark.parametrize(
    "settings",
    [{"cv": 3}, {"cv": 3, "scoring": "neg_mean_absolute_error"}, {"scoring": "r2", "store_cv_results": True}],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_is_done_again_by_the_proof(settings, weighted):
    X, y = problem(0)
    weight = {"sample_weight": np.random.default_rng(1).uniform(0.5, 2.0, len(y))} if weighted else {}
    model = RidgeCV(ALPHAS, **settings).fit(X, y, **weight)
    assert pellucid.verify(model, X, y, **weight)["penalty"].holds
    worse = ALPHAS[0] if model.alpha_ != ALPHAS[0] else ALPHAS[-1]
    refit = Ridge(worse).fit(X, y, **weight)
    model.alpha_, model.coef_, model.intercept_ = worse, refit.coef_, refit.intercept_
    assert not quiet_proof(model, X, y, **weight)["penalty"].holds


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alphas": [1.0, 0.0]}, r"alphas\[1\] must be above 0, got 0.0"),
        ({"alphas": []}, "alphas must hold at least one value"),
        ({"cv": 3, "store_cv_results": True}, "store_cv_results must be False when cv is given"),
        ({"cv": 3, "alpha_per_target": True}, "alpha_per_target must be False when cv is given"),
        ({"gcv_mode": "qr"}, "gcv_mode must be one of"),
    ],
)
def test_bad_parameters_get_one_sentence(params, message):
    X, y = problem(0)
    with pytest.raises(ValueError, match=message):
        RidgeCV(**params).fit(X, y)


@pytest.mark.parametrize("shape", [(20, 20), (21, 20), (20, 30)])
def test_a_fit_through_every_row_still_has_left_out_errors(shape):
    X, y = problem(0, *shape)
    model = RidgeCV([1e-16, 1e-3], store_cv_results=True).fit(X, y)
    assert np.isfinite(model.cv_results_).all()
    kept = np.delete(np.arange(shape[0]), 0)
    error = y[0] - Ridge(1e-3).fit(X[kept], y[kept]).predict(X[[0]])[0]
    assert model.cv_results_[0, 1] == pytest.approx(error**2, rel=1e-6)
    assert pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("shape", [(20, 20), (21, 20), (20, 30), (22, 20), (30, 3)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_tiny_penalties_are_compared_whatever_the_rounding(shape, fit_intercept):
    for seed in range(20):
        X, y = problem(seed, *shape)
        model = RidgeCV([1e-16, 1e-3], fit_intercept=fit_intercept).fit(X, y)
        assert pellucid.verify(model, X, y)["penalty"].holds
        mixed = np.random.default_rng(seed).permutation(len(y))  # every order of a sum rounds in its own way
        assert pellucid.verify(model, X[mixed], y[mixed])["penalty"].holds


@pytest.mark.property
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("alpha", [1e-20, 1e-16, 1e-12, 1e-9])
def test_a_row_with_a_column_to_itself_has_a_left_out_error(alpha, kind):
    for seed in range(10):
        X, Y = problem(seed, 30, 3, t=2)
        X = np.column_stack([X, np.eye(30)[:, seed]])  # without the row, the column says nothing: its weight is 0
        weight = np.random.default_rng(seed).random(30) + 0.5
        model = RidgeCV([alpha, 1.0], store_cv_results=True).fit(kind(X), Y, sample_weight=weight)
        kept = np.delete(np.arange(30), seed)
        other = Ridge(alpha).fit(X[kept, :3], Y[kept], sample_weight=weight[kept])
        error = Y[seed] - other.predict(X[[seed], :3])[0]
        np.testing.assert_allclose(model.cv_results_[seed, :, 0], weight[seed] * error**2, rtol=1e-5)
        assert pellucid.verify(model, kind(X), Y, sample_weight=weight).holds


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_after_one_with_a_column_to_itself_have_left_out_errors_too(kind):
    X, y = problem(0, 3000, 60)  # several blocks of rows
    X[:, 0] = np.arange(3000) == 7
    model = RidgeCV([1e-9, 1e-6, 1.0], store_cv_results=True).fit(kind(X), y)
    for row, place in ((7, 0), (2999, 1)):
        kept = np.delete(np.arange(3000), row)
        error = y[row] - Ridge(model.alphas[place]).fit(X[kept], y[kept]).predict(X[[row]])[0]
        assert model.cv_results_[row, place] == pytest.approx(error**2, rel=1e-6)


def exact_left_out_errors(X, y, alpha):
    # of the rows' form: with K = A A' + alpha I at a right angle to the ones, error i is (K^-1 b)_i / (K^-1)_ii
    n = len(y)
    with mpmath.workdps(60):
        centering = mpmath.eye(n) - mpmath.ones(n) / n
        A, b = centering * mpmath.matrix(X.tolist()), centering * mpmath.matrix(y.tolist())
        inverse = (A * A.T + mpmath.mpf(alpha) * centering + mpmath.ones(n) / n) ** -1 - mpmath.ones(n) / n
        pulled = inverse * b
        return np.array([float(pulled[i] / inverse[i, i]) for i in range(n)])


@pytest.mark.parametrize("special", [None, "a column to itself", "equal rows"])
@pytest.mark.parametrize("shape", [(12, 12), (12, 20), (14, 12), (16, 3)])
@pytest.mark.parametrize("alpha", [1e-16, 1e-12, 1e-6, 1.0])
def test_what_rounding_allows_includes_the_exact_left_out_error(shape, special, alpha):
    X, y = problem(0, *shape)
    if special == "a column to itself":
        X = np.column_stack([X, np.eye(len(X))[:, 0]])
    if special == "equal rows":
        X[1] = X[0]
    n = len(y)
    parts = _directions(X - X.mean(axis=0), np.ones((n, 1)))
    b, share = (y - y.mean())[:, None], np.full(n, 1.0 / n)
    _, *bounds = _left_out_errors(*parts, b, share, alpha, np.zeros(b.shape[1]))
    least, most = (np.mean(bound**2, axis=0) for bound in bounds)
    exact = np.mean(exact_left_out_errors(X, y, alpha) ** 2)
    assert least[0] <= exact <= most[0]
    if special is None or alpha >= 1.0:  # nothing cancels: hardly any doubt
        assert most[0] - least[0] <= 1e-6 * exact


@pytest.mark.parametrize("settings", [{}, {"cv": 3}, {"fit_intercept": False}])
@pytest.mark.parametrize("value", [0.0, 3.0, 1e6 + 0.1])
def test_a_constant_target_is_certified(value, settings):
    X = np.random.default_rng(0).standard_normal((60, 4))
    model = RidgeCV(**settings).fit(X, np.full(60, value))
    assert model.certificate_.holds
    assert pellucid.verify(model, X, np.full(60, value)).holds
