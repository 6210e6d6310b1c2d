"""SequentialFeatureSelector: against scikit-learn, its own evidence, workings, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SequentialFeatureSelector as PeerSelector
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import pellucid
from pellucid.feature_selection import FloatingSelector, SequentialFeatureSelector
from pellucid.linear_model import LinearRegression
from pellucid.show import show_work
from tests.proving import quiet_proof
from tests.tampering import objects


@pytest.mark.by_hand
def test_the_column_that_is_the_target_comes_first():
    # least squares on column 1 misses nothing; on column 0, which is even, it misses all of an odd target
    X = np.array([[4.0, -2.0, 1.0], [1.0, -1.0, 1.0], [0.0, 0.0, -1.0], [1.0, 1.0, 1.0], [4.0, 2.0, -1.0]] * 2)
    model = SequentialFeatureSelector(LinearRegression(), n_features_to_select=1, cv=2).fit(X, X[:, 1])
    assert model.get_support().tolist() == [False, True, False]


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("settings", [{}, {"n_features_to_select": 4}, {"n_features_to_select": 0.3}, {"tol": 1e-3}])
@pytest.mark.parametrize("model", [LinearRegression(), PeerLinearRegression(fit_intercept=False), Ridge(0.01)])
def test_same_columns_as_scikit_learn(direction, settings, model):
    X, y = load_diabetes(return_X_y=True)
    ours = SequentialFeatureSelector(model, direction=direction, cv=3, **settings).fit(X, y)
    peer = PeerSelector(model, direction=direction, cv=3, **settings).fit(X, y)
    np.testing.assert_array_equal(ours.support_, peer.support_)
    assert ours.n_features_to_select_ == peer.n_features_to_select_
    assert ours.certificate_.holds


@pytest.mark.peer
def test_same_columns_as_scikit_learn_for_labels():
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(3)
    ours, peer = (kind(model, n_features_to_select=3).fit(X, y) for kind in (SequentialFeatureSelector, PeerSelector))
    np.testing.assert_array_equal(ours.support_, peer.support_)
    np.testing.assert_array_equal(ours.transform(X), peer.transform(X))
    assert pellucid.verify(ours, X, y).holds


@pytest.mark.property
def test_it_is_the_plain_case_of_the_floating_search():
    X, y = load_diabetes(return_X_y=True)
    plain = SequentialFeatureSelector(n_features_to_select=4).fit(X, y)
    forward = FloatingSelector(direction="forward", n_features_to_select=4).fit(X, y)
    np.testing.assert_array_equal(plain.visited_, forward.visited_)
    np.testing.assert_array_equal(plain.fold_scores_, forward.fold_scores_)
    assert plain.search_table().equals(forward.search_table())


def test_verify_objects_when_the_search_went_on_too_long():
    X, y = load_diabetes(return_X_y=True)
    model = SequentialFeatureSelector(tol=1e-2).fit(X, y)
    longer = SequentialFeatureSelector(tol=1e-6).fit(X, y)
    for name in ("support_", "n_features_to_select_", "visited_", "fold_scores_", "path_", "n_iter_"):
        setattr(model, name, getattr(longer, name))
    assert objects(model, X, y)


def test_a_last_step_past_the_best_column_is_noticed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40))
    y = X[:, :3] @ [3.0, 2.0, 1.0] + rng.standard_normal(80)
    model = SequentialFeatureSelector(LinearRegression(), n_features_to_select=3, cv=3).fit(X, y)
    last = model.path_[-1]
    rivals = np.flatnonzero((model.visited_ != model.visited_[model.path_[-2]]).sum(axis=1) == 1)
    means = model.fold_scores_.mean(axis=1)
    second = max(
        (rival for rival in rivals if rival != last and model.visited_[rival].sum() == 3), key=means.__getitem__
    )
    model.fold_scores_[last] = means[second] - 0.01  # the best set seems to have lost
    model.path_[-1], model.support_ = second, model.visited_[second]
    proof = quiet_proof(model, X, y)
    assert proof["steps"].holds
    assert not proof["scores"].holds


def test_workings_agree_with_the_program():
    X = np.array([[1, 2, 0], [2, 1, 1], [3, -1, 1], [4, 2, 0], [5, 0, 2], [6, 1, 1]])
    y = np.array([1.5, 3, 2, 5, 4, 6])
    for direction in ("forward", "backward"):
        model = SequentialFeatureSelector(
            PeerLinearRegression(), direction=direction, n_features_to_select=1, cv=3, scoring="neg_mean_squared_error"
        )
        assert "more than rounding" not in show_work(model, X, y).text()
    peer = PeerSelector(PeerLinearRegression(), n_features_to_select=1, cv=2)
    assert show_work(peer, X, y).answer["support_"] == peer.fit(X, y).support_.tolist()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_features_to_select": 10}, "n_features_to_select must be < n_features, 10, got 10"),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be"),
        ({"tol": -1.0}, "tol must be strictly positive when doing forward selection"),
        ({"direction": "floating"}, "direction must be one of"),
        ({"cv": "five"}, "`cv` as an integer"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SequentialFeatureSelector(**settings).fit(*load_diabetes(return_X_y=True))
