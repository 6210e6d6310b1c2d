"""Random forests: samples by hand, weights as repetitions, out of bag, against scikit-learn, broken on purpose."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.ensemble import RandomForestClassifier, RandomForestRegressor
from pellucid.ensemble.bootstrap_samples import drawn_places, n_drawn, score_interval, value_order
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(3))
KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])


def problem(seed, n=150, p=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).round(1)
    return X, np.digitize(X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n), [-0.7, 0.7])


# by hand


@pytest.mark.by_hand("RandomForestClassifier", "RandomForestRegressor")
def test_points_on_a_line_hit_rows_by_their_room():
    room = np.array([2.0, 1.0, 3.0])  # the line: place 0 twice, place 1 once, place 2 three times
    points = np.random.RandomState(5).randint(0, 6, 8)
    np.testing.assert_array_equal(drawn_places(5, 3, 8, room), np.array([0, 0, 1, 2, 2, 2])[points])


def test_numbers_of_draws():
    assert n_drawn(None, 10, None) == 10
    assert n_drawn(0.5, 10, None) == 5
    assert n_drawn(7, 10, None) == 7
    assert n_drawn(None, 10, np.full(10, 3.0)) == 30
    assert n_drawn(None, 10, np.full(10, 0.1)) == n_drawn(None, 10, np.full(10, 3.5)) == 10


def test_the_order_of_values_is_that_of_sparse_rows_too_and_equal_rows_are_neighbors():
    X, y = problem(0)
    X = np.vstack([X, X[:20]])
    y = np.concatenate([y, y[:20]])
    order = value_order(X, y)
    np.testing.assert_array_equal(value_order(sparse.csr_array(X), y), order)
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    assert (np.abs(place[:20] - place[-20:]) >= 1).all()
    moved = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(X[moved][value_order(X[moved], y[moved])], X[order])


def test_the_interval_of_an_accuracy_is_wilsons():
    low, high = score_interval(0.9, 100, 0.3, 0.95, True)
    assert (low, high) == pytest.approx((0.8256, 0.9448), abs=1e-4)


# properties


@seeds
@KINDS
def test_forests_hold_weighted_sampled_and_out_of_bag(kind, seed):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.1, np.nan, X)
    for settings in (
        {"oob_score": True},
        {"max_samples": 0.5, "max_depth": 3},
        {"bootstrap": False, "max_features": 2},
    ):
        model = kind(30, random_state=seed, **settings).fit(X, y, sample_weight=weight)
        assert pellucid.verify(model, X, y, sample_weight=weight).holds


@pytest.mark.property("RandomForestClassifier", "RandomForestRegressor")
@KINDS
def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter(kind):
    X, y = problem(1)
    count = np.random.default_rng(1).integers(0, 4, len(y))
    once = kind(10, random_state=0).fit(X, y, sample_weight=count.astype(float))
    moved = np.random.default_rng(2).permutation(int(count.sum()))
    repeated = kind(10, random_state=0).fit(np.repeat(X, count, axis=0)[moved], np.repeat(y, count)[moved])
    np.testing.assert_allclose(once.predict(X), repeated.predict(X))


@KINDS
def test_the_number_of_threads_changes_nothing(kind):
    X, y = problem(2, n=400)
    both = kind(8, random_state=0).fit(X, y)
    with threadpool_limits(1):
        alone = kind(8, random_state=0).fit(X, y)
    np.testing.assert_array_equal(both.trees_.threshold, alone.trees_.threshold)
    np.testing.assert_array_equal(both.trees_.value, alone.trees_.value)


@KINDS
def test_a_warm_start_ends_where_one_fit_does(kind):
    X, y = problem(3)
    whole = kind(12, random_state=0).fit(X, y)
    grown = kind(5, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(whole.trees_.threshold, grown.trees_.threshold)
    assert pellucid.verify(grown, X, y).holds
    with pytest.warns(UserWarning, match="does not fit new trees"):
        grown.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators must be at least 12 for a warm start, got 3"):
        grown.set_params(n_estimators=3).fit(X, y)


def test_the_forest_is_the_mean_of_its_trees():
    X, y = problem(4)
    model = RandomForestClassifier(7, random_state=0).fit(X, y)
    assert len(model) == len(model.estimators_) == len(model.estimators_samples_) == 7
    np.testing.assert_allclose(model.predict_proba(X), np.mean([tree.predict_proba(X) for tree in model], axis=0))
    importance = np.mean([tree.feature_importances_ for tree in model], axis=0)
    np.testing.assert_allclose(model.feature_importances_, importance / importance.sum())
    assert model.apply(X).shape == (len(X), 7)
    paths, starts = model.decision_path(X)
    assert paths.shape[1] == starts[-1]
    assert model[0].trees_.n_node_samples[0] == len(np.unique(model.estimators_samples_[0]))


def test_a_tree_of_the_forest_can_be_grown_alone():
    X, y = problem(5)
    model = RandomForestClassifier(4, random_state=0).fit(X, y)
    for tree, sample in zip(model, model.estimators_samples_, strict=True):
        weight = np.bincount(sample, minlength=len(y)).astype(float)
        alone = copy.copy(tree).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(alone.trees_.threshold, tree.trees_.threshold)


def test_out_of_bag_answers_are_those_of_trees_that_have_not_seen_the_row():
    X, y = problem(5)
    model = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    samples = model.estimators_samples_
    for row in (0, 17):
        unseen = [tree for tree, sample in zip(model, samples, strict=True) if row not in sample]
        assert model.oob_prediction_[row] == pytest.approx(np.mean([tree.predict(X[[row]]) for tree in unseen]))
    low, high = model.oob_interval(0.9)
    assert low < model.oob_score_ < high


def test_several_targets():
    X, y = problem(6)
    Y = np.column_stack([y, X[:, 2] > 0]).astype(int)
    model = RandomForestClassifier(20, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert pellucid.verify(model, X, Y).holds
    numbers = RandomForestRegressor(40, random_state=0, oob_score=True).fit(X, Y * 1.0)
    assert numbers.oob_prediction_.shape == Y.shape
    assert pellucid.verify(numbers, X, Y * 1.0).holds


# peer


@pytest.mark.peer("RandomForestClassifier", "RandomForestRegressor")
def test_as_good_as_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    ours = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    peer = sklearn.ensemble.RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(peer.oob_score_, abs=0.015)
    assert ours.oob_interval()[0] < peer.oob_score_ < ours.oob_interval()[1]
    X, y = load_diabetes(return_X_y=True)
    ours = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    peer = sklearn.ensemble.RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(peer.oob_score_, abs=0.05)


# broken on purpose


def test_two_trees_exchanged_another_seed_and_another_tree_are_found():
    X, y = problem(7)
    model = RandomForestClassifier(6, random_state=np.random.RandomState(0)).fit(X, y)
    exchanged = copy.copy(model)
    exchanged.seeds_ = model.seeds_[::-1].copy()
    assert "counts" in {claim.name for claim in quiet_proof(exchanged, X, y).failed}
    other = copy.copy(model)
    other.trees_ = RandomForestClassifier(6, random_state=1).fit(X, y).trees_
    assert quiet_proof(other, X, y).failed
    nudged = copy.copy(model)
    nudged.trees_ = replace(model.trees_, value=model.trees_.value * 1.0001)
    assert "values" in {claim.name for claim in quiet_proof(nudged, X, y).failed}


def test_a_node_that_looked_at_another_column_is_found():
    X, y = problem(8)
    model = RandomForestClassifier(5, max_features=1, max_depth=1, random_state=1).fit(X, y)
    forged = copy.copy(model)
    forged.trees_ = RandomForestClassifier(5, max_features=None, max_depth=1, random_state=1).fit(X, y).trees_
    assert {claim.name for claim in quiet_proof(forged, X, y).failed} == {"splits"}


# errors


@pytest.mark.bad_input("RandomForestClassifier", "RandomForestRegressor")
def test_refuses_what_has_no_meaning():
    X, y = problem(0)
    with pytest.raises(ValueError, match="oob_score must be False with bootstrap=False"):
        RandomForestClassifier(bootstrap=False, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="max_samples must be None with bootstrap=False, got 3"):
        RandomForestClassifier(bootstrap=False, max_samples=3).fit(X, y)
    with pytest.raises(ValueError, match="oob_score must be True at the fit for an interval"):
        RandomForestClassifier(2, random_state=0).fit(X, y).oob_interval()
