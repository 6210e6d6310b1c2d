"""Several classes from machines for two, and scikit-learn's meta-estimators around our classifiers."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.linear_model import LogisticRegression
from pellucid.naive_bayes import GaussianNB
from pellucid.neighbors import KNeighborsClassifier
from pellucid.svm import LinearSVC

CLASSIFIERS = [
    (LogisticRegression(), sklearn.linear_model.LogisticRegression(tol=1e-10, max_iter=10_000)),
    (LinearSVC(), sklearn.svm.LinearSVC(tol=1e-8, max_iter=100_000)),
    (LinearDiscriminantAnalysis(), sklearn.discriminant_analysis.LinearDiscriminantAnalysis()),
    (GaussianNB(), sklearn.naive_bayes.GaussianNB()),
    (KNeighborsClassifier(), sklearn.neighbors.KNeighborsClassifier()),
]
NAMES = [type(ours).__name__ for ours, _ in CLASSIFIERS]
WRAPPERS = [
    OneVsRestClassifier(GaussianNB()),
    OneVsOneClassifier(GaussianNB()),
    OutputCodeClassifier(GaussianNB(), code_size=3, random_state=0),
]
every_pair = pytest.mark.parametrize(("ours", "peer"), CLASSIFIERS, ids=NAMES)
LINEAR = [LogisticRegression(), LinearSVC(), LinearDiscriminantAnalysis()]


@cache
def flowers():
    X, number = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X, np.array(["setosa", "versicolor", "virginica"])[number]


def quiet_fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peers warn of their own limits
        return model.fit(X, y)


# by hand


def test_three_corners_are_told_apart_by_three_machines_for_two():
    X = [[0.0, 1.0], [1.0, -1.0], [-1.0, -1.0]] * 2
    y = ["top", "right", "left"] * 2
    for wrapper in (OneVsRestClassifier, OneVsOneClassifier):
        model = wrapper(LinearSVC(C=10.0)).fit(X, y)
        assert len(model.estimators_) == 3
        assert model.predict([[0.0, 5.0], [5.0, -5.0], [-5.0, -5.0]]).tolist() == ["top", "right", "left"]


# properties


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_the_largest_linear_discriminant_decides(model):
    X, y = flowers()
    fitted = clone(model).fit(X, y)
    scores = X @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(fitted.decision_function(X), scores, atol=1e-10)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[scores.argmax(axis=1)])


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_of_two_classes_the_sign_of_the_discriminant_decides(model):
    X, y = make_blobs(40, centers=2, random_state=0)
    fitted = clone(model).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), (X @ fitted.coef_[0] + fitted.intercept_ > 0).astype(int))


def test_one_against_the_rest_is_what_linear_svc_does_itself():
    X, y = flowers()
    itself, wrapped = LinearSVC().fit(X, y), OneVsRestClassifier(LinearSVC()).fit(X, y)
    np.testing.assert_allclose(
        itself.coef_, np.vstack([machine.coef_ for machine in wrapped.estimators_]), atol=1e-6
    )  # fmt: skip


# peer


@every_pair
@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda wrapper: type(wrapper).__name__)
def test_wrapped_classifiers_agree_with_wrapped_peers(ours, peer, wrapper):
    X, y = flowers()
    predictions = [
        quiet_fit(clone(wrapper).set_params(estimator=estimator), X, y).predict(X) for estimator in (ours, peer)
    ]
    assert np.mean(predictions[0] == predictions[1]) > 0.98  # rows on a boundary may fall on either side


@every_pair
def test_cross_validated_predictions_agree_in_a_pipeline(ours, peer):
    X, y = flowers()
    ours, peer = (cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=3) for model in (ours, peer))
    assert np.mean(ours == peer) > 0.98


@every_pair
def test_calibrated_probabilities_agree(ours, peer):
    X, y = flowers()
    probabilities = [quiet_fit(CalibratedClassifierCV(model, cv=3), X, y).predict_proba(X) for model in (ours, peer)]
    np.testing.assert_allclose(probabilities[0], probabilities[1], atol=5e-3)


@every_pair
def test_bags_agree(ours, peer):
    X, y = flowers()
    bags = [quiet_fit(BaggingClassifier(model, n_estimators=3, random_state=0), X, y) for model in (ours, peer)]
    assert np.mean(bags[0].predict(X) == bags[1].predict(X)) > 0.98


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_votes_agree(voting):
    X, y = flowers()
    models = [
        VotingClassifier([(NAMES[k], CLASSIFIERS[k][side]) for k in (0, 2, 3)], voting=voting).fit(X, y)
        for side in (0, 1)
    ]
    assert np.mean(models[0].predict(X) == models[1].predict(X)) > 0.98


def test_stacks_agree():
    X, y = flowers()
    models = [
        quiet_fit(
            StackingClassifier(
                [(NAMES[k], CLASSIFIERS[k][side]) for k in (1, 3, 4)], final_estimator=CLASSIFIERS[0][side], cv=3
            ),
            X,
            y,
        )
        for side in (0, 1)
    ]
    assert np.mean(models[0].predict(X) == models[1].predict(X)) > 0.98


@pytest.mark.parametrize(
    ("ours", "peer", "grid"),
    [
        (*CLASSIFIERS[0], {"C": [0.01, 1.0]}),
        (*CLASSIFIERS[1], {"C": [0.001, 1.0]}),
        (*CLASSIFIERS[4], {"n_neighbors": [1, 9]}),
    ],
    ids=[NAMES[0], NAMES[1], NAMES[4]],
)
def test_grid_searches_choose_the_same(ours, peer, grid):
    X, y = flowers()
    searches = [quiet_fit(GridSearchCV(model, grid, cv=3), X, y) for model in (ours, peer)]
    assert searches[0].best_params_ == searches[1].best_params_
    np.testing.assert_allclose(
        searches[0].cv_results_["mean_test_score"], searches[1].cv_results_["mean_test_score"], atol=0.01
    )  # fmt: skip


def test_weights_pass_through_a_vote():
    X, y = flowers()
    twice = np.r_[0:150, 0:50]
    vote = VotingClassifier([("logistic", LogisticRegression()), ("svc", LinearSVC()), ("bayes", GaussianNB())])
    repeated, weighted = clone(vote).fit(X[twice], y[twice]), clone(vote).fit(X, y, sample_weight=np.bincount(twice))
    np.testing.assert_array_equal(repeated.predict(X), weighted.predict(X))
