"""ElasticNet: one feature by hand, agreement with lasso and ridge at the ends, certificates, scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet as PeerElasticNet

import pellucid
from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet, Lasso
from pellucid.proofs.linear_model import elastic_net
from tests.proving import quiet_proof

seeds = settings(max_examples=20, deadline=None)
seed = st.integers(0, 10_000)


def problem(seed, n=60, p=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal(p)
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 4.0 + 0.1 * rng.standard_normal(n)


def objective(model, X, y):
    w = model.coef_
    penalty = model.l1_ratio * np.abs(w).sum() + 0.5 * (1 - model.l1_ratio) * w @ w
    return 0.5 * np.mean((y - model.predict(X)) ** 2) + model.alpha * penalty


@pytest.mark.by_hand
def test_one_feature_is_thresholded_and_shrunk():
    # centered: X'X/n = X'y/n = 2/3; w = (2/3 - 1/4) / (2/3 + 1/4) = 5/11
    model = ElasticNet(alpha=0.5, l1_ratio=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert model.coef_ == pytest.approx([5 / 11])


def test_ridge_end_solves_the_ridge_equations():
    X, y = problem(0)
    model = ElasticNet(alpha=0.3, l1_ratio=0.0).fit(X, y)
    A = X - X.mean(axis=0)
    w = np.linalg.solve(A.T @ A + 60 * 0.3 * np.eye(20), A.T @ (y - y.mean()))
    np.testing.assert_allclose(model.coef_, w, atol=1e-10)
    assert pellucid.verify(model, X, y).holds


def test_lasso_end_is_the_lasso():
    X, y = problem(1)
    np.testing.assert_array_equal(ElasticNet(alpha=0.1, l1_ratio=1.0).fit(X, y).coef_, Lasso(alpha=0.1).fit(X, y).coef_)


def test_duplicate_columns_share_their_effect():
    X, y = problem(2, p=3)
    coef = ElasticNet(alpha=0.1).fit(np.column_stack([X, X[:, 0]]), y).coef_
    assert coef[0] == pytest.approx(coef[3], rel=1e-6)


@seeds
@given(seed, st.sampled_from([0.0, 0.05, 0.5, 0.95]), st.booleans(), st.booleans())
def test_every_mix_is_certified_and_verified(seed, l1_ratio, positive, fit_intercept):
    X, y = problem(seed, 30, 50)
    model = ElasticNet(alpha=0.05, l1_ratio=l1_ratio, positive=positive, fit_intercept=fit_intercept).fit(X, y)
    certificate = pellucid.verify(model, X, y)
    assert certificate.holds
    assert certificate["duality gap"].value == pytest.approx(model.dual_gap_, abs=1e-6 * y.var())
    assert not positive or model.coef_.min() >= 0


@seeds
@given(seed, st.sampled_from([0.0, 0.3, 0.8]))
def test_gap_is_never_below_the_true_suboptimality(seed, l1_ratio):
    X, y = problem(seed)
    best = ElasticNet(alpha=0.1, l1_ratio=l1_ratio, tol=1e-12).fit(X, y)
    lowest = objective(best, X, y)
    rng = np.random.default_rng(seed)
    best.coef_ = best.coef_ + rng.standard_normal(20) * 10.0 ** rng.integers(-6, 1)
    assert quiet_proof(best, X, y)["duality gap"].value >= (objective(best, X, y) - lowest) * (1 - 1e-9) - 1e-14


@pytest.mark.property
@seeds
@given(seed)
def test_weights_are_repetitions(seed):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    weighted = ElasticNet(alpha=0.05).fit(X, y, sample_weight=weight)
    repeated = ElasticNet(alpha=0.05).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)


def test_verify_objects_to_a_coefficient_below_zero():
    X, y = problem(3)
    model = ElasticNet(alpha=0.05, positive=True).fit(X, y)
    model.coef_[np.argmin(model.coef_)] = -1e-9
    assert quiet_proof(model, X, y)["duality gap"].value == np.inf


def test_sparse_coef_has_one_row_per_target():
    X, y = problem(4)
    model = ElasticNet(alpha=0.5).fit(X, y)
    assert model.sparse_coef_.shape == (1, 20)
    np.testing.assert_array_equal(model.sparse_coef_.toarray()[0], model.coef_)


@pytest.mark.peer
@seeds
@given(seed, st.sampled_from([0.01, 0.1, 0.7]), st.booleans(), st.booleans())
def test_same_answer_as_scikit_learn(seed, l1_ratio, positive, weighted):
    X, y = problem(seed, 40, 30)
    weight = np.random.default_rng(seed).random(40) if weighted else None
    parameters = {"alpha": 0.1, "l1_ratio": l1_ratio, "positive": positive, "tol": 1e-12}
    ours = ElasticNet(**parameters).fit(X, y, sample_weight=weight)
    peer = PeerElasticNet(**parameters | {"tol": 1e-7}, max_iter=100_000).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)
    assert ours.intercept_ == pytest.approx(peer.intercept_, abs=1e-2)


def test_same_parameters_as_scikit_learn():
    assert ElasticNet().get_params() == PeerElasticNet().get_params()


@pytest.mark.bad_input
def test_refuses_a_mix_outside_its_range():
    X, y = problem(5)
    with pytest.raises(ValueError, match=r"l1_ratio must be between 0 and 1, got 1\.5"):
        ElasticNet(l1_ratio=1.5).fit(X, y)


def test_a_dual_value_above_the_objective_is_an_error_not_a_gap_of_zero(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(40)
    model = ElasticNet(alpha=0.1).fit(X, y)
    monkeypatch.setattr(elastic_net, "_gap", lambda *_: -0.01)
    assert not quiet_proof(model, X, y).holds
