"""SVR: by hand, properties, against scikit-learn, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_diabetes, make_regression

import pellucid
from pellucid.kernels import RBF
from pellucid.svm import SVR
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(4))


def data(n=80, p=4, seed=0):
    X, y = make_regression(n, p, noise=5.0, random_state=seed)
    return X, y / y.std()


def objectives(model, K, y, cost):
    """The primal and the dual objective, written out."""
    beta = np.zeros(len(y))
    beta[model.support_] = np.asarray(model.dual_coef_)[0]
    f = K @ beta + model.intercept_[0]
    length = beta @ K @ beta
    loss = cost @ np.maximum(0.0, np.abs(y - f) - model.epsilon)
    return 0.5 * length + loss, y @ beta - model.epsilon * np.abs(beta).sum() - 0.5 * length


# by hand


@pytest.mark.by_hand
def test_two_points_are_joined_by_the_flattest_line_in_the_tube():
    # from (0, 1/2) to (2, 3/2): w = 1/2, and |w|^2 = w * 2 beta gives beta = 1/4
    model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[0.0], [2.0]], [0.0, 2.0])
    np.testing.assert_allclose(model.coef_, [[0.5]])
    np.testing.assert_allclose(model.intercept_, [0.5])
    np.testing.assert_allclose(model.dual_coef_, [[-0.25, 0.25]])
    np.testing.assert_allclose(model.predict([[1.0]]), [1.0])


def test_targets_within_the_tube_need_no_support_and_leave_a_range():
    model = SVR(epsilon=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 0.5, 1.0])
    assert model.support_.size == 0
    assert model.dual_coef_.shape == (1, 0)
    np.testing.assert_allclose(model.intercept_range_, [[0.0, 1.0]])
    np.testing.assert_allclose(model.predict([[7.0]]), [0.5])
    assert model.certificate_.holds


def test_a_cost_at_its_bound_bounds_the_weight():
    # beta = C = 0.1 on both sides: w = 0.1 * 2
    model = SVR(kernel="linear", C=0.1, epsilon=0.0).fit([[0.0], [2.0]], [0.0, 2.0])
    np.testing.assert_allclose(model.coef_, [[0.2]])
    np.testing.assert_allclose(model.intercept_range_, [[0.0, 1.6]])
    np.testing.assert_allclose(model.intercept_, [0.8])


def test_an_infinite_cost_allows_no_error_beyond_the_tube():
    # f(0) <= 1/2 and f(2) >= 5/2 need a slope of at least 1; x + 1/2 is 9/2 at 4, which is just allowed
    model = SVR(kernel="linear", C=float("inf"), epsilon=0.5).fit([[0.0], [2.0], [4.0]], [0.0, 3.0, 4.0])
    np.testing.assert_allclose(model.coef_, [[1.0]], atol=1e-3)
    np.testing.assert_allclose(model.intercept_, [0.5], atol=1e-3)
    assert model.certificate_.holds


# properties


@pytest.mark.property
@seeds
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_weights_are_repetitions(seed, kernel):
    X, y = data(40, seed=seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weighted = SVR(kernel=kernel, gamma=0.3).fit(X, y, sample_weight=weight)
    repeated = SVR(kernel=kernel, gamma=0.3).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)


@seeds
def test_the_gap_bounds_how_far_the_objective_is_above_its_minimum(seed):
    X, y = data(60, seed=seed)
    K, cost = RBF(0.3)(X), np.full(len(y), 2.0)
    rough, precise = (SVR(C=2.0, gamma=0.3, tol=tol).fit(X, y) for tol in (1e-1, 1e-8))
    primal, dual = objectives(rough, K, y, cost)
    least = objectives(precise, K, y, cost)[0]
    assert dual <= least * (1 + 1e-9)
    assert primal - least <= rough.dual_gap_[0] + 1e-9
    assert rough.dual_gap_[0] == pytest.approx(primal - dual, abs=1e-9)
    assert rough.dual_gap_[0] <= 1e-3 * primal


@seeds
def test_errors_within_the_tube_have_no_coefficient_and_larger_ones_the_cost(seed):
    X, y = data(seed=seed)
    model = SVR(C=0.5, epsilon=0.2, tol=1e-8).fit(X, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    error = y - model.predict(X)
    assert (beta[np.abs(error) < 0.2 - 1e-6] == 0.0).all()
    np.testing.assert_allclose(beta[error > 0.2 + 1e-6], 0.5)
    np.testing.assert_allclose(beta[error < -0.2 - 1e-6], -0.5)


def test_kernels_named_given_computed_and_sparse_agree():
    X, y = data()
    kinds = [
        (SVR(gamma=0.2, tol=1e-8), X),
        (SVR(kernel=RBF(0.2), tol=1e-8), X),
        (SVR(kernel=lambda A, B: RBF(0.2)(A, B), tol=1e-8), X),
        (SVR(kernel="precomputed", tol=1e-8), RBF(0.2)(X)),
        (SVR(gamma=0.2, tol=1e-8), sparse.csr_array(X)),
    ]
    answers = [model.fit(rows, y).predict(rows) for model, rows in kinds]
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], atol=1e-6)
    assert all(pellucid.verify(model, rows, y).holds for model, rows in kinds)


def test_an_offset_of_the_rows_moves_the_intercept_only():
    X, y = data()
    near, far = (SVR(kernel="linear", tol=1e-6).fit(rows, y) for rows in (X, X + 1e7))
    np.testing.assert_allclose(far.predict(X + 1e7), near.predict(X), atol=1e-5)
    assert pellucid.verify(far, X + 1e7, y).holds


@pytest.mark.parametrize("name", ["dual_coef_", "intercept_", "intercept_range_", "objective_"])
def test_verify_objects_to_a_nudge(name):
    X, y = data()
    model = SVR().fit(X, y)
    broken = copy.copy(model)
    setattr(broken, name, getattr(model, name) * (1 + 1e-6))
    assert quiet_proof(broken, X, y).failed


def test_stopping_early_is_said():
    X, y = data()
    with pytest.warns(pellucid.UncertifiedWarning) as said:
        model = SVR(max_iter=3).fit(X, y)
    assert any("duality gap is" in str(warning.message) for warning in said)
    assert model.fit_status_ == 1
    assert type(model.n_iter_) is int


# against scikit-learn


@pytest.mark.peer
@seeds
@pytest.mark.parametrize("kind", [{}, {"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}, {"C": 30.0}])
def test_same_predictions_as_scikit_learn(seed, kind):
    X, y = data(seed=seed)
    ours, peer = (kind_of(tol=1e-8, **kind).fit(X, y) for kind_of in (SVR, svm.SVR))
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-5)


def test_dual_objective_is_no_worse_than_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    K, cost = RBF(10.0)(X), np.full(len(y), 100.0)
    ours, peer = (kind(C=100.0, gamma=10.0).fit(X, y) for kind in (SVR, svm.SVR))
    assert objectives(ours, K, y, cost)[1] >= objectives(peer, K, y, cost)[1] * (1 - 2e-4)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"C": -1.0}, "C must be above 0, got -1.0"),
        ({"epsilon": -0.1}, "epsilon must be at least 0, got -0.1"),
        ({"tol": 0.0}, "tol must be above 0, got 0.0"),
    ],
)
def test_refuses_parameters_in_a_sentence(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        SVR(**wrong).fit(*data())


def test_refuses_an_infinite_cost_where_no_function_is_within_the_tube():
    with pytest.raises(ValueError, match="C must be finite where no function stays within epsilon of all targets"):
        SVR(kernel="linear", C=float("inf")).fit([[0.0], [0.0], [1.0]], [0.0, 1.0, 1.0])


def test_refuses_a_function_that_forgets_the_training_rows():
    X, y = data()
    model = SVR(kernel=lambda A, B: A @ B.T).fit(X, y)
    model.kernel = lambda A, B: A
    with pytest.raises(ValueError, match=r"kernel must return a matrix of shape \(3, 80\)"):
        model.predict(X[:3])


def test_a_cubic_of_few_rows_whose_products_have_rank_4_is_solved_at_once():
    # products up to 26**3, boxes of 100: rounded to float32 they are not those of any machine, and pairs hardly move
    random = np.random.RandomState(42)
    X = np.sort(5 * random.rand(40, 1), axis=0)
    y = np.sin(X).ravel()
    y[::5] += 3 * (0.5 - random.rand(8))
    model = SVR(kernel="poly", C=100, degree=3, gamma="auto", coef0=1, epsilon=0.1).fit(X, y)
    assert model.certificate_.holds
    assert len(model.trace_.frame()) < 20


def test_products_too_rough_for_a_leap_are_computed_again(monkeypatch):
    monkeypatch.setattr("pellucid.svm.kernel_machine.machine_solver.FEW_ROWS", 0)
    random = np.random.RandomState(42)
    X = np.sort(5 * random.rand(40, 1), axis=0)
    y = np.sin(X).ravel()
    y[::5] += 3 * (0.5 - random.rand(8))
    model = SVR(kernel="poly", C=100, degree=3, gamma="auto", coef0=1, epsilon=0.1).fit(X, y)
    assert model.certificate_.holds
    assert len(model.trace_.frame()) < 100
