"""Bagging: samples, votes and means, out of bag, against scikit-learn, broken on purpose."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import sklearn.ensemble
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, make_regression
from sklearn.neighbors import KNeighborsRegressor as PeerNeighbors
from sklearn.svm import LinearSVC as PeerSVC

import pellucid
from pellucid.ensemble import BaggingClassifier, BaggingRegressor
from pellucid.linear_model import LinearRegression
from pellucid.naive_bayes import GaussianNB
from pellucid.tree import DecisionTreeRegressor
from tests.proving import quiet_proof


def problem(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)).round(1)
    return X, (X[:, 0] + X[:, 1] + 0.4 * rng.standard_normal(n) > 0).astype(int)


# by hand


@pytest.mark.by_hand("BaggingRegressor")
def test_a_bag_of_means_is_the_mean_of_the_samples_means():
    # a tree without splits says the mean of its sample; the bag says the mean of these means
    y = np.array([0.0, 1.0, 5.0, 6.0])
    model = BaggingRegressor(DecisionTreeRegressor(min_samples_split=9), 20, random_state=0).fit(
        np.arange(4.0)[:, None], y
    )
    means = [y[sample].mean() for sample in model.estimators_samples_]
    assert model.predict([[0.0]])[0] == pytest.approx(np.mean(means))


@pytest.mark.by_hand("BaggingClassifier")
def test_members_without_probabilities_vote():
    X, y = problem()
    model = BaggingClassifier(PeerSVC(), 8, random_state=0).fit(X, np.array(["no", "yes"])[y])
    votes = np.mean([member.predict(X) for member in model], axis=0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], votes)
    assert model.decision_function(X).shape == (len(X),)
    assert pellucid.verify(model, X, np.array(["no", "yes"])[y]).holds


# properties


@pytest.mark.parametrize(
    "settings",
    [
        {"oob_score": True, "n_estimators": 30},
        {"max_features": 2, "max_samples": 0.5},
        {"max_features": 3, "bootstrap_features": True},
        {"bootstrap": False, "max_samples": 60},
    ],
    ids=str,
)
def test_bags_of_our_models_hold_and_are_saved(settings, tmp_path):
    X, y = problem()
    for model in (
        BaggingClassifier(GaussianNB(), random_state=0, **settings),
        BaggingRegressor(LinearRegression(), random_state=0, **settings),
        BaggingClassifier(random_state=0, **settings),
    ):
        model.fit(X, y)
        assert pellucid.verify(model, X, y).holds
        pellucid.save(model, tmp_path / "bag.safetensors")
        again = pellucid.load(tmp_path / "bag.safetensors")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert pellucid.verify(again, X, y).holds


@pytest.mark.property("BaggingClassifier", "BaggingRegressor")
def test_weights_are_repetitions():
    X, y = problem(1)
    count = np.random.default_rng(1).integers(0, 4, len(y))
    once = BaggingClassifier(random_state=0).fit(X, y, sample_weight=count.astype(float))
    repeated = BaggingClassifier(random_state=0).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(once.predict_proba(X), repeated.predict_proba(X))


def test_out_of_bag_answers_are_those_of_members_that_have_not_seen_the_row():
    X, y = problem(2)
    model = BaggingRegressor(PeerNeighbors(3), 40, oob_score=True, random_state=0).fit(X, 1.0 * y)
    unseen = [member for member, rows in zip(model, model.estimators_samples_, strict=True) if 5 not in rows]
    assert model.oob_prediction_[5] == pytest.approx(np.mean([member.predict(X[[5]]) for member in unseen]))
    low, high = model.oob_interval()
    assert low < model.oob_score_ < high
    assert pellucid.verify(model, X, 1.0 * y).holds


def test_a_warm_start_ends_where_one_fit_does():
    X, y = problem(3)
    whole = BaggingClassifier(n_estimators=9, random_state=0).fit(X, y)
    grown = BaggingClassifier(n_estimators=4, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), grown.predict_proba(X))


# peer


@pytest.mark.peer("BaggingClassifier", "BaggingRegressor")
def test_as_good_as_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    ours = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    peer = sklearn.ensemble.BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(peer.oob_score_, abs=0.02)
    X, y = load_diabetes(return_X_y=True)
    ours = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    peer = sklearn.ensemble.BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(peer.oob_score_, abs=0.06)


# broken on purpose


def test_a_member_fitted_on_something_else_is_found():
    X, y = problem(4)
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    wrong = copy.copy(model)
    wrong.estimators_ = [model[1], *model.estimators_[1:]]
    assert [claim.name for claim in quiet_proof(wrong, X, y).failed] == ["members"]


# errors


@pytest.mark.bad_input("BaggingClassifier", "BaggingRegressor")
def test_refuses_what_has_no_meaning():
    X, y = problem()
    with pytest.raises(ValueError, match="Out of bag estimation only available if bootstrap=True"):
        BaggingClassifier(bootstrap=False, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="max_features must be at most 5, got 7"):
        BaggingClassifier(max_features=7).fit(X, y)
    with pytest.raises(ValueError, match="max_samples must be at most the 120 rows without replacement, got 300"):
        BaggingClassifier(max_samples=300, bootstrap=False).fit(X, y)


def test_metadata_reach_the_answering_method_of_members():
    class Shifted(LinearRegression):
        def predict(self, X, shift=0.0):
            return super().predict(X) + shift

    X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    with config_context(enable_metadata_routing=True):
        bag = BaggingRegressor(Shifted().set_predict_request(shift=True), random_state=0).fit(X, y)
        np.testing.assert_allclose(bag.predict(X, shift=5.0), bag.predict(X) + 5.0)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        bag.predict(X, shift=5.0)


def test_the_unit_of_weights_that_are_not_whole_does_not_matter():
    X, y = make_regression(40, 3, noise=1.0, random_state=0)
    weight = np.random.default_rng(0).random(40) + 0.25
    one, other = (BaggingRegressor(random_state=0).fit(X, y, sample_weight=unit * weight) for unit in (1.0, 1024.0))
    assert [len(rows) for rows in other.estimators_samples_] == [40] * 10
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_warns_where_a_part_of_the_weight_is_next_to_nothing():
    X, y = make_regression(40, 3, random_state=0)
    with pytest.warns(UserWarning, match=r"max_samples=1.0 .* weights is 0.5\d* results in a low number \(1\)"):
        BaggingRegressor(max_samples=1.0, random_state=0).fit(X, y, sample_weight=np.full(40, 1 / 80))
