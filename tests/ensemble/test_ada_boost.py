"""AdaBoost: worked by hand, properties, scikit-learn's, errors, and the proof broken on purpose."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import sklearn.ensemble as peer
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import pellucid
import pellucid.naive_bayes
from pellucid.ensemble import AdaBoostClassifier
from pellucid.tree import DecisionTreeClassifier
from tests.proving import quiet_proof

# by hand: one row of class 1 among four; the first stump cuts before or behind it and gets one row wrong
X_HAND, Y_HAND = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 0]


@pytest.mark.by_hand("AdaBoostClassifier")
def test_three_rounds_by_hand():
    # round 1: cut at 0.5 or 1.5 with one error, e = 1/4, odds 3; weights 1/6 each and 1/2 for the wrong row
    # round 2: e = 1/6, odds 5; round 3: e = 1/5
    with pellucid.record():
        model = AdaBoostClassifier(n_estimators=3).fit(X_HAND, Y_HAND)
    assert model.estimator_errors_ == pytest.approx([1 / 4, 1 / 6, 1 / 5])
    assert model.estimator_weights_ == pytest.approx([math.log(3), math.log(5), math.log(4)])
    weights = [state["sample_weight"] for state in model.trace_.states]
    assert weights[0] == pytest.approx([1 / 4] * 4)
    assert sorted(weights[1]) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert sorted(weights[2]) == pytest.approx([1 / 10, 1 / 10, 3 / 10, 1 / 2])
    assert model.score(X_HAND, Y_HAND) == 1.0


def test_bound_by_hand():
    # 2 sqrt(1/4 3/4) 2 sqrt(1/6 5/6) 2 sqrt(1/5 4/5)
    model = AdaBoostClassifier(n_estimators=3).fit(X_HAND, Y_HAND)
    bound = 8 * math.sqrt(3 / 16 * 5 / 36 * 4 / 25)
    assert pellucid.verify(model, X_HAND, Y_HAND)["training error"].bound == pytest.approx(bound)
    assert model.trace_["objective"][-1] == pytest.approx(bound)


def test_a_flawless_classifier_ends_the_rounds():
    model = AdaBoostClassifier().fit([[0.0], [1.0]], ["a", "b"])
    assert len(model.estimators_) == 1
    assert model.estimator_weights_[:2] == pytest.approx([1.0, 0.0])


# properties


@pytest.mark.property("AdaBoostClassifier")
def test_weights_are_repetitions():
    X, y = make_classification(80, 4, random_state=1)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = AdaBoostClassifier(n_estimators=10).fit(X, y, times)
    repeated = AdaBoostClassifier(n_estimators=10).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rate", [0.3, 1.0, 1.5])
def test_the_training_error_is_below_its_bound(seed, rate):
    X, y = make_classification(200, 6, n_informative=4, n_classes=2 + seed % 2, random_state=seed)
    model = AdaBoostClassifier(n_estimators=20, learning_rate=rate).fit(X, y)
    claim = pellucid.verify(model, X, y)["training error"]
    assert claim.value == pytest.approx(1.0 - model.score(X, y))
    assert claim.holds


def test_sums_of_weights_are_exact():
    X, y = make_classification(500, 5, random_state=0)
    with pellucid.record():
        model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    for state in model.trace_.states:
        weight = state["sample_weight"]
        assert weight.sum() == weight[::-1].sum() == math.fsum(weight)


def test_estimators_are_the_trees_of_the_rounds():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5).fit(X, y)
    votes = np.stack([tree.predict(X) for tree in model.estimators_])
    np.testing.assert_array_equal(votes, model.classes_[model.member_votes(X)])
    assert len(model) == 5
    assert model[0].get_depth() == 2
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_sparse_rows_as_dense_ones():
    X, y = make_classification(100, 5, random_state=0)
    X[X < 0.5] = 0.0
    dense, thin = (AdaBoostClassifier(n_estimators=5).fit(rows, y) for rows in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.decision_function(X), thin.decision_function(sparse.csr_array(X)))


# peer


@pytest.mark.peer("AdaBoostClassifier")
@pytest.mark.parametrize("base", [None, LogisticRegression(), GaussianNB()], ids=str)
@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_answers_as_scikit_learn(base, rate, n_classes):
    X, y = make_classification(300, 6, n_informative=4, n_classes=n_classes, random_state=0)
    kinds = AdaBoostClassifier, peer.AdaBoostClassifier
    ours, theirs = (kind(base, n_estimators=15, learning_rate=rate, random_state=0).fit(X, y) for kind in kinds)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, atol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    stages = zip(ours.staged_decision_function(X), theirs.staged_decision_function(X), strict=True)
    for one, other in stages:
        np.testing.assert_allclose(one, other, atol=1e-8)


# the proof


@pytest.fixture(scope="module")
def boosted():
    X, y = make_classification(200, 4, random_state=0)
    return AdaBoostClassifier(n_estimators=12).fit(X, y), X, y


def test_a_stump_moved_in_any_round_is_found(boosted):
    model, X, y = boosted
    for root in model.trees_.starts[:-1]:
        other = copy.copy(model)
        threshold = model.trees_.threshold.copy()
        threshold[root] += 1e-6
        other.trees_ = replace(model.trees_, threshold=threshold)
        assert quiet_proof(other, X, y).failed


def test_votes_and_errors_are_looked_at(boosted):
    model, X, y = boosted
    for name in ("estimator_weights_", "estimator_errors_"):
        for t in range(12):
            other = copy.copy(model)
            values = getattr(model, name).copy()
            values[t] *= 1.0 + 1e-6
            setattr(other, name, values)
            assert quiet_proof(other, X, y).failed


def test_other_classifiers_are_asked_for_their_votes():
    X, y = make_classification(150, 4, random_state=0)
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=5).fit(X, y)
    assert pellucid.verify(model, X, y).holds
    model.members_ = model.members_[::-1]
    assert quiet_proof(model, X, y).failed


# the workings


def test_three_rounds_in_fractions():
    X, y = [[1], [2], [3], [4], [5], [6]], ["a", "a", "b", "a", "b", "b"]
    work = pellucid.show_work(AdaBoostClassifier(n_estimators=3), X, y)
    assert [str(e) for e in work.answer["estimator_errors_"]] == ["1/6", "1/10", "2/9"]
    assert [str(w) for w in work.answer["weights"][2]] == ["1/18", "1/18", "1/2", "5/18", "1/18", "1/18"]
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    np.testing.assert_allclose([float(a) for a in work.answer["estimator_weights_"]], model.estimator_weights_)
    assert "0 ≤ 0.3718" in work.text()


def test_workings_end_with_a_flawless_stump_and_refuse_the_rest():
    work = pellucid.show_work(AdaBoostClassifier(n_estimators=3), [[0], [1]], [0, 1])
    assert "no error" in work.text()
    with pytest.raises(ValueError, match="learning_rate must be 1 for weights that are fractions"):
        pellucid.show_work(AdaBoostClassifier(n_estimators=3, learning_rate=0.5), [[0], [1]], [0, 1])


# errors


@pytest.mark.bad_input("AdaBoostClassifier")
def test_refuses_classifiers_without_weights_or_better_than_nothing():
    X, y = make_classification(50, 4, random_state=0)
    with pytest.raises(ValueError, match="KNeighborsClassifier doesn't support sample_weight"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="better than guessing on the training rows"):
        AdaBoostClassifier().fit([[0.0], [0.0]], [0, 1])


def test_rounds_of_another_classifier_are_saved_with_it(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(pellucid.naive_bayes.GaussianNB(), n_estimators=3, random_state=0).fit(X, y)
    pellucid.save(model, tmp_path / "rounds.safetensors")
    again = pellucid.load(tmp_path / "rounds.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert pellucid.verify(again, X, y).holds
