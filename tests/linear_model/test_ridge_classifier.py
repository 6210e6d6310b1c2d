import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeClassifier as PeerClassifier

import pellucid
from pellucid.linear_model import Ridge, RidgeClassifier


def problem(seed, classes=3, n=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.array(["ant", "bee", "cat", "dog"])[
        np.digitize(X[:, 0] + 0.3 * X[:, 1], np.linspace(-1, 1, classes - 1))
    ]


@pytest.mark.by_hand
def test_two_classes_are_a_regression_on_minus_and_plus_one():  # by hand
    X, y = [[0.0], [1.0], [4.0], [5.0]], ["no", "no", "yes", "yes"]
    model, line = RidgeClassifier(alpha=1.0).fit(X, y), Ridge(alpha=1.0).fit(X, [-1.0, -1.0, 1.0, 1.0])
    np.testing.assert_allclose(model.coef_, line.coef_)
    np.testing.assert_allclose(model.decision_function(X), line.predict(X))
    assert list(model.predict([[2.4], [2.6]])) == ["no", "yes"]


def test_tied_scores_go_to_the_first_class():  # by hand
    model = RidgeClassifier().fit([[1.0], [2.0], [3.0]], ["b", "a", "c"])
    model.coef_, model.intercept_ = np.zeros((3, 1)), np.zeros(3)
    assert list(model.predict([[0.0]])) == ["a"]


@pytest.mark.property
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repetitions(seed):  # property
    X, y = problem(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    weighted = RidgeClassifier().fit(X, y, sample_weight=weight)
    repeated = RidgeClassifier().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-12)


@pytest.mark.peer
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_same_answer_as_scikit_learn(classes, kind, class_weight):  # peer
    X, y = problem(0, classes)
    ours = RidgeClassifier(0.5, class_weight=class_weight).fit(kind(X), y)
    peer = PeerClassifier(0.5, class_weight=class_weight).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.decision_function(kind(X)), peer.decision_function(X), atol=1e-10)
    np.testing.assert_array_equal(ours.predict(kind(X)), peer.predict(X))
    assert pellucid.verify(ours, kind(X), y).holds


def test_several_labels_per_row_as_scikit_learn():  # peer
    X, _ = problem(0)
    Y = (X[:, :3] > 0).astype(int)
    ours, peer = RidgeClassifier().fit(X, Y), PeerClassifier().fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    assert pellucid.verify(ours, X, Y).holds


def test_changed_labels_are_noticed_by_the_proof():
    X, y = problem(0)
    model = RidgeClassifier().fit(X, y)
    changed = y.copy()
    changed[0] = "cat" if y[0] != "cat" else "ant"
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, changed).holds


@pytest.mark.bad_input
def test_refuses_numbers_that_are_no_classes():  # error
    X, _ = problem(0)
    with pytest.raises(ValueError, match="Unknown label type"):
        RidgeClassifier().fit(X, X[:, 0])
