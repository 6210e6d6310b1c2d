"""The first row of a fitted network by hand is what the program answers, for ours and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import neural_network as peer

from pellucid import neural_network as ours
from pellucid import show_work

X = np.array([[1, 2], [2, 1], [3, -1], [4, 2], [5, 0]])
FEW = {"hidden_layer_sizes": (3,), "solver": "lbfgs", "tol": 0.1, "random_state": 0}
LABELS = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize("library", [ours, peer])
@pytest.mark.parametrize("y", [[0, 1, 1, 0, 1], ["b", "a", "c", "a", "b"], LABELS])
def test_probabilities_of_the_first_row(library, y):
    model = library.MLPClassifier(**FEW).fit(X, y)
    work = show_work(model, X, y)
    answer = np.array(work.answer["first_output"], float)
    np.testing.assert_allclose(answer, np.ravel(model.predict_proba(X[:1]))[-len(answer) :], rtol=1e-12)
    assert "more than rounding" not in work.text()


@pytest.mark.parametrize("library", [ours, peer])
@pytest.mark.parametrize("y", [[1, 3, 2, 5, 4], [[1, 2], [2, 3], [1, 1], [2, 2], [0, 1]]])
def test_numbers_of_the_first_row(library, y):
    model = library.MLPRegressor(**FEW, activation="tanh").fit(X, y)
    work = show_work(model, X, y)
    np.testing.assert_allclose(np.array(work.answer["first_output"], float), np.ravel(model.predict(X[:1])), rtol=1e-12)


def test_gradients_are_those_of_training_on_the_first_row_alone():
    y = np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    model = ours.MLPRegressor(**FEW).fit(X, y)
    work = show_work(model, X, y)
    hidden = np.maximum(X[0] @ model.coefs_[0] + model.intercepts_[0], 0)
    error = hidden @ model.coefs_[1] + model.intercepts_[1] - y[0]
    np.testing.assert_allclose(np.array(work.answer["coef_gradients"][1], float), np.outer(hidden, error), rtol=1e-12)
    back = (model.coefs_[1] @ error) * (hidden > 0)
    np.testing.assert_allclose(np.array(work.answer["coef_gradients"][0], float), np.outer(X[0], back), rtol=1e-12)


def test_single_precision_and_counts_are_shown_too():
    model = ours.MLPRegressor(**FEW, loss="poisson")
    assert "more than rounding" not in show_work(model, X.astype(np.float32), [1, 0, 2, 3, 4]).text()


def test_other_weights_than_the_program_answers_with_are_pointed_out():
    class Stubborn(ours.MLPRegressor):
        def predict(self, X):
            return super().predict(X) + 0.001

    model = Stubborn(**FEW).fit(X, [1, 3, 2, 5, 4])
    assert "more than rounding" in show_work(model, X, [1, 3, 2, 5, 4]).text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden_layer_sizes": 5}, "at most two layers of 4 units to show the work, got 5"),
        ({"hidden_layer_sizes": (2, 2, 2)}, "at most two layers of 4 units"),
        ({"activation": "maxout"}, "activation must be one of .* to show the work, got 'maxout'"),
    ],
)
def test_what_is_not_written_down_is_refused_before_it_is_fitted(options, message):
    model = ours.MLPRegressor(**FEW | options)
    with pytest.raises(ValueError, match=message):
        show_work(model, X, [1, 3, 2, 5, 4])
    with pytest.raises(ValueError, match="at most 12 rows"):
        show_work(model, np.ones((13, 2)), np.ones(13))
