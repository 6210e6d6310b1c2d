"""LassoCV and ElasticNetCV: choice by hand, certificate, weights, scikit-learn, bad input."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import ElasticNetCV as PeerElasticNetCV
from sklearn.linear_model import LassoCV as PeerLassoCV
from sklearn.model_selection import KFold

import pellucid
from pellucid import UncertifiedWarning
from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet, Lasso
from pellucid.linear_model.sparse_regression.elastic_net_cv import ElasticNetCV, LassoCV

seeds = settings(max_examples=8, deadline=None)
seed = st.integers(0, 10_000)


def problem(seed, n=60, p=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal(p)
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 4.0 + rng.standard_normal(n)


@pytest.mark.by_hand("ElasticNetCV", "LassoCV")
@pytest.mark.parametrize("kind", [LassoCV, partial(ElasticNetCV, l1_ratio=1.0)])
def test_errors_of_two_folds_by_hand(kind):
    # Two samples per fold on the line y = x; trained on two neighbors the slope is 1 - 4 alpha, so the fold two away
    # is missed by (2 -+ 1/2) 4 alpha.
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    model = kind(alphas=[0.1], cv=2).fit(X, y)
    expected = np.mean([(1.5 * 0.4) ** 2, (2.5 * 0.4) ** 2])
    np.testing.assert_allclose(model.mse_path_, [expected, expected])


def test_chosen_penalty_is_refitted_to_all_data():
    X, y = problem(0)
    model = LassoCV(alphas=20).fit(X, y)
    np.testing.assert_allclose(model.coef_, Lasso(alpha=model.alpha_).fit(X, y).coef_)
    assert model.alpha_ == model.alphas_[np.argmin(model.mse_path_.mean(axis=1))]


def test_of_equal_errors_the_largest_penalty_counts():
    model = LassoCV(alphas=[1.0, 2.0, 3.0], cv=2).fit([[0.0], [1.0], [0.0], [1.0]], [5.0, 5.0, 5.0, 5.0])
    assert model.alpha_ == 3.0


def test_certificate_covers_fit_folds_and_choice():
    X, y = problem(1)
    model = ElasticNetCV(l1_ratio=[0.3, 0.9], alphas=10).fit(X, y)
    assert {claim.name for claim in model.certificate_.claims} >= {"duality gap", "intercept", "selection", "folds"}
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("attribute", ["coef_", "intercept_", "alpha_", "mse_path_"])
def test_verify_objects_to_a_nudged_model(attribute):
    X, y = problem(2)
    model = LassoCV(alphas=10).fit(X, y)
    value = getattr(model, attribute)
    if attribute == "mse_path_":
        value = value.copy()
        value[(np.argmin(value.mean(axis=1)) + 1) % 10] = 0.0
    setattr(model, attribute, value if attribute == "mse_path_" else value * 1.001)
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


@pytest.mark.property("ElasticNetCV", "LassoCV")
@seeds
@given(seed)
def test_weights_are_repetitions_within_folds(seed):
    X, y = problem(seed, 30, 8)
    weight = np.random.default_rng(seed).integers(1, 4, 30)
    groups = np.arange(30) % 3
    again = np.repeat(groups, weight)
    weighted = LassoCV(
        alphas=10, tol=1e-9, cv=[(np.flatnonzero(groups != k), np.flatnonzero(groups == k)) for k in range(3)]
    )
    repeated = LassoCV(
        alphas=10, tol=1e-9, cv=[(np.flatnonzero(again != k), np.flatnonzero(again == k)) for k in range(3)]
    )
    weighted.fit(X, y, sample_weight=weight)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.mse_path_, repeated.mse_path_, rtol=1e-4)
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)


def test_sparse_features_give_the_same_errors():
    X, y = problem(3)
    X[np.abs(X) < 1] = 0.0
    dense, thin = LassoCV(alphas=10, tol=1e-8).fit(X, y), LassoCV(alphas=10, tol=1e-8).fit(sparse.csc_array(X), y)
    np.testing.assert_allclose(thin.mse_path_, dense.mse_path_, rtol=1e-4)
    assert pellucid.verify(thin, sparse.csc_array(X), y).holds


@pytest.mark.peer("LassoCV")
@seeds
@given(seed, st.booleans(), st.booleans())
def test_same_errors_as_scikit_learn(seed, positive, weighted):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).random(60) if weighted else None
    parameters = {"alphas": 12, "tol": 1e-8, "positive": positive, "cv": KFold(3, shuffle=True, random_state=0)}
    ours = LassoCV(**parameters).fit(X, y, sample_weight=weight)
    peer = PeerLassoCV(**parameters, max_iter=100_000).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-3)
    assert ours.alpha_ == pytest.approx(peer.alpha_)


@pytest.mark.peer("ElasticNetCV")
def test_same_shapes_as_scikit_learn_for_several_mixes():
    X, y = problem(4)
    ours, peer = (kind(l1_ratio=[0.2, 0.7], alphas=6, tol=1e-7).fit(X, y) for kind in (ElasticNetCV, PeerElasticNetCV))
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-2)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_)
    assert (ours.alpha_, ours.l1_ratio_) == pytest.approx((peer.alpha_, peer.l1_ratio_))


def test_given_penalties_need_no_grid():
    X, y = problem(5)
    model = ElasticNetCV(l1_ratio=[0.0, 1.0], alphas=[0.1, 1.0]).fit(X, y)
    np.testing.assert_array_equal(model.alphas_, [1.0, 0.1])
    single = ElasticNet(alpha=model.alpha_, l1_ratio=model.l1_ratio_).fit(X, y)
    np.testing.assert_allclose(model.coef_, single.coef_)


@pytest.mark.parametrize(("ours", "peer"), [(LassoCV, PeerLassoCV), (ElasticNetCV, PeerElasticNetCV)])
def test_same_parameters_as_scikit_learn(ours, peer):
    assert ours().get_params() == peer().get_params()


@pytest.mark.bad_input("ElasticNetCV", "LassoCV")
def test_refuses_several_targets():
    X, y = problem(6)
    with pytest.raises(ValueError, match=r"y must be of shape \(n_samples,\), got \(60, 2\)"):
        LassoCV().fit(X, np.column_stack([y, y]))


def test_refuses_a_fold_without_weight():
    X, y = problem(7)
    weight = np.zeros(60)
    weight[:5] = 1.0
    with pytest.raises(ValueError, match="sample_weight must be above 0 for a row of each training fold"):
        LassoCV(cv=[(np.arange(30, 60), np.arange(30))]).fit(X, y, sample_weight=weight)


def test_refuses_metadata_without_routing():
    X, y = problem(8)
    with pytest.raises(ValueError, match="groups"):
        LassoCV().fit(X, y, groups=np.zeros(60))


def test_a_progress_bar_moves_with_every_fold():
    class Count:
        def __init__(self):
            self.steps = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.steps += context.task_name == "iteration"

    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    count = Count()
    LassoCV(cv=4).set_callbacks(count).fit(X, X[:, 0] + rng.standard_normal(40))
    assert count.steps == 6  # four folds, the final fit, and the empty task that ends every iterative fit
