"""Probabilities of an SVC: by hand, that they agree with the prediction, calibration, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_classification
from sklearn.metrics import log_loss

import pellucid
from pellucid.svm import SVC
from pellucid.svm.svc.svc_probability import (
    agreeing,
    class_probabilities,
    fit_slope,
    pair_probabilities,
    smooth_targets,
)


def test_a_slope_balances_held_out_rows():
    # two of three rows with score 1 are right: p = 2/3, so the slope is log 2
    slope = fit_slope(np.ones(3), np.array([1.0, 1.0, 0.0]), np.ones(3))
    assert slope == pytest.approx(np.log(2.0))


def test_scores_that_are_wrong_more_often_than_right_have_slope_0():
    assert fit_slope(np.ones(3), np.array([0.0, 0.0, 1.0]), np.ones(3)) == 0.0
    assert fit_slope(np.empty(0), np.empty(0), np.empty(0)) == 0.0


def test_targets_are_smoothed_as_by_platt():
    # (n + 1) / (n + 2) of 2 positive rows, 1 / (n + 2) of one negative row
    np.testing.assert_allclose(smooth_targets(np.array([True, True, False]), np.ones(3)), [0.75, 0.75, 1 / 3])


def test_a_score_of_0_says_one_half_and_both_slopes_are_used():
    p = pair_probabilities(np.array([[-1.0], [0.0], [1.0]]), np.array([[np.log(3.0), np.log(4.0)]]))
    np.testing.assert_allclose(p[:, 0], [0.25, 0.5, 0.8])


def test_pairs_that_agree_with_a_distribution_give_it_back():
    # r_ij = p_i / (p_i + p_j) for p = (1/2, 1/3, 1/6)
    p = np.array([1 / 2, 1 / 3, 1 / 6])
    pairs = [[p[i] / (p[i] + p[j]) for i, j in ((0, 1), (0, 2), (1, 2))]]
    np.testing.assert_allclose(class_probabilities(np.array(pairs), 3), [p], atol=1e-12)


def test_the_nearest_distribution_with_the_predicted_class_on_top():
    # 0.2 and 0.5 meet in their middle; 0.3 is below it
    found = agreeing(np.array([[0.2, 0.5, 0.3], [0.2, 0.5, 0.3]]), np.array([0, 1]))
    np.testing.assert_allclose(found, [[0.35, 0.35, 0.3], [0.2, 0.5, 0.3]])
    assert np.argmax(found, axis=1).tolist() == [0, 1]
    # 0.1, 0.5 and 0.4 all meet
    found = agreeing(np.array([[0.5, 0.1, 0.4]]), np.array([1]))
    np.testing.assert_allclose(found, [[1 / 3, 1 / 3, 1 / 3]])
    assert np.argmax(found) == 1


SETS = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "digits": tuple(part[:300] for part in load_digits(return_X_y=True)),
    "noise": (np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 4),
    "blobs": make_blobs(90, centers=6, cluster_std=4.0, random_state=1),
    "two": make_classification(100, 5, weights=[0.9], random_state=0),
    "few": (np.arange(7.0)[:, None], [0, 0, 0, 1, 1, 1, 2]),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("break_ties", [True, False])
def test_the_largest_probability_is_that_of_the_predicted_class(name, break_ties):
    X, y = SETS[name]
    model = SVC(probability=True, random_state=0, break_ties=break_ties).fit(X, y)
    rng = np.random.default_rng(1)
    rows = np.vstack([X, rng.uniform(X.min(), X.max(), (500, X.shape[1])), np.zeros((1, X.shape[1]))])
    p = model.predict_proba(rows)
    np.testing.assert_array_equal(model.classes_[np.argmax(p, axis=1)], model.predict(rows))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p > 0.0).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), p)
    assert pellucid.verify(model, X, y).holds


@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 6))
def test_whatever_the_scores_are(seed, n_classes):
    rng = np.random.default_rng(seed)
    n_machines = n_classes * (n_classes - 1) // 2
    scores = rng.choice([-1e300, -1.0, -1e-300, 0.0, 1e-300, 0.5, 1e300], (20, n_machines))
    p = class_probabilities(pair_probabilities(scores, rng.choice([0.0, 1.0, 1e9], (n_machines, 2))), n_classes)
    predicted = rng.integers(0, n_classes, 20)
    found = agreeing(p.copy(), predicted)
    np.testing.assert_array_equal(np.argmax(found, axis=1), predicted)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_probabilities_are_as_good_as_those_of_scikit_learn_on_new_rows():
    X, y = make_classification(1200, 8, n_informative=6, n_classes=3, class_sep=0.7, random_state=0)
    ours = SVC(probability=True, random_state=0).fit(X[:400], y[:400])
    with pytest.warns(FutureWarning, match="probability"):
        peer = svm.SVC(probability=True, random_state=0).fit(X[:400], y[:400])
    loss, theirs = (log_loss(y[400:], model.predict_proba(X[400:])) for model in (ours, peer))
    assert loss <= 1.03 * theirs


def test_the_seed_decides_the_folds():
    X, y = SETS["iris"]
    one, same, other = (SVC(probability=True, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.held_out_scores_, same.held_out_scores_)
    assert (one.held_out_scores_ != other.held_out_scores_).any()


def test_no_probabilities_unless_asked():
    X, y = SETS["iris"]
    model = SVC(probability="deprecated").fit(X, y)  # scikit-learn's default
    assert not hasattr(model, "predict_proba")
    model.probability = True
    with pytest.raises(ValueError, match="not available when fitted with probability=False"):
        model.predict_proba(X)
