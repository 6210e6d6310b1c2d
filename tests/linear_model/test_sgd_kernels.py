"""The kernels of learning row by row, compiled and as plain Python, against the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pellucid.linear_model.sgd import sgd_kernels as kernels
from pellucid.linear_model.sgd.sgd_problem import make_rule
from pellucid.losses.loss_kernels import loss_and_slope
from pellucid.losses.named_losses import LOSS_NUMBERS, named_loss

forms = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
losses = pytest.mark.parametrize("loss", LOSS_NUMBERS)
SCORES = np.array([-3.0, -1.0, -0.95, -0.2, 0.0, 0.3, 0.92, 1.0, 1.07, 2.5])


def chosen(kernel, compiled):
    return kernel if compiled else kernel.py_func


def rows(seed=0, n=30, p=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
    return X, np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0), rng.random(n) + 0.5


def after_epochs(X, y, cost, rule, *, compiled=True, n_epochs=2):
    """Return weights, dual, average and state after epochs in the order given."""
    n, p = X.shape
    w, paid, average, dual, state = (np.zeros(p), np.zeros(p), np.zeros(p), np.zeros(n), np.zeros(kernels.STATE_SIZE))
    state[[kernels.SCALE, kernels.AVERAGE_SIZE, kernels.STEP]] = 1.0
    state[kernels.ETA] = rule.eta0
    sq_norms = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.sum(X**2, axis=1)
    arrays = (np.arange(n), y, np.ones(n), cost, sq_norms, w, paid, average, dual, state, rule)
    for _ in range(n_epochs):
        if sparse.issparse(X):
            chosen(kernels.sparse_epoch, compiled)(X.data, X.indices, X.indptr, *arrays)
        else:
            chosen(kernels.dense_epoch, compiled)(X, *arrays)
    kernels.rescale(w, average, dual, state)
    return w, dual, average, state


@forms
@losses
def test_losses_and_slopes_are_those_of_numpy(compiled, loss):
    rule, wanted = make_rule(loss=loss, epsilon=0.05), named_loss(loss, 0.05)
    for y in (1.0, -1.0):
        found = [chosen(loss_and_slope, compiled)(rule.loss, rule.width, y, score) for score in SCORES]
        np.testing.assert_allclose([value for value, _ in found], wanted.of(y, SCORES), atol=1e-14)
        np.testing.assert_allclose([slope for _, slope in found], wanted.score_slope(y, SCORES), atol=1e-14)


@losses
def test_slopes_are_derivatives(loss):
    wanted, step = named_loss(loss, 0.05), 1e-6
    away = SCORES + 0.013  # from the kinks
    for y in (1.0, -1.0):
        difference = (wanted.of(y, away + step) - wanted.of(y, away - step)) / (2 * step)
        np.testing.assert_allclose(wanted.score_slope(y, away), difference, atol=1e-6)


@losses
def test_conjugates_are_suprema(loss):
    wanted, grid = named_loss(loss, 0.05), np.linspace(-60.0, 60.0, 240_001)
    for y in (1.0, -1.0):
        slopes = wanted.score_slopes_within(y, -y * np.array([0.02, 0.04, 0.3, 0.7, 0.99]))
        supremum = [np.max(g * grid - wanted.of(y, grid)) for g in slopes]
        np.testing.assert_allclose(wanted.score_conjugate(y, slopes), supremum, atol=1e-3)


@forms
@pytest.mark.parametrize("penalty", [None, "l2", "l1", "elasticnet"])
@pytest.mark.parametrize("average", [0, 7])
def test_sparse_rows_give_what_dense_rows_give(compiled, penalty, average):
    X, y, cost = rows()
    full = np.where(X == 0.0, 1e-300, X)  # an l1 penalty is taken where a row has entries
    rule = make_rule(loss="hinge", eta0=0.1, penalty=penalty, alpha=0.05, l1_ratio=0.4, average=average)
    found = after_epochs(sparse.csr_array(full), y, cost, rule, compiled=compiled)
    for one, other in zip(found, after_epochs(full, y, cost, rule), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


@pytest.mark.parametrize("penalty", [None, "l2"])
def test_the_dual_gives_the_weights(penalty):
    X, y, cost = rows()
    w, dual, _, _ = after_epochs(X, y, cost, make_rule(loss="log_loss", eta0=0.3, penalty=penalty, alpha=0.1))
    np.testing.assert_allclose(X.T @ dual, w, atol=1e-13)


@pytest.mark.parametrize("penalty", [None, "l2", "l1"])
def test_the_average_is_that_of_the_iterates(penalty):
    X, y, cost = rows()
    how = {"loss": "squared_hinge", "eta0": 0.05, "penalty": penalty, "alpha": 0.3}
    iterates = [after_epochs(X[:k], y[:k], cost[:k], make_rule(**how), n_epochs=1)[0] for k in range(5, len(X) + 1)]
    _, _, average, _ = after_epochs(X, y, cost, make_rule(**how, average=5), n_epochs=1)
    np.testing.assert_allclose(average, np.mean(iterates, axis=0), atol=1e-12)


def test_strong_shrinking_rescales_without_a_trace():
    X, y, cost = rows()
    rule = make_rule(loss="hinge", eta0=1.0, penalty="l2", alpha=0.999)  # a factor of 0.001 at each step
    w, dual, _, state = after_epochs(X, y, cost, rule)
    v = np.zeros(4)
    b = objective = 0.0
    for _ in range(2):
        for i in range(len(X)):
            objective += max(0.0, 1.0 - y[i] * (X[i] @ v + b)) + 0.999 / 2 * v @ v
            is_short = y[i] * (X[i] @ v + b) <= 1.0
            v = 0.001 * v + is_short * cost[i] * y[i] * X[i]
            b += is_short * cost[i] * y[i]
    np.testing.assert_allclose(w, v, atol=1e-12)
    np.testing.assert_allclose(X.T @ dual, v, atol=1e-12)
    assert state[kernels.INTERCEPT] == pytest.approx(b)
    assert state[kernels.OBJECTIVE] == pytest.approx(objective)


def test_the_objective_is_summed_before_each_step():
    # hinge, eta 1/2: losses 1 at w=0; then w=1, b=1/2 at x=2 gives 1 - 5/2 -> 0; the penalty of w=1 is alpha/2
    X, y = np.array([[2.0], [2.0]]), np.array([1.0, 1.0])
    _, _, _, state = after_epochs(
        X, y, np.ones(2), make_rule(loss="hinge", eta0=0.5, penalty="l2", alpha=0.2), n_epochs=1
    )
    assert state[kernels.OBJECTIVE] == pytest.approx(1.0 + 0.1 * 1.0)
