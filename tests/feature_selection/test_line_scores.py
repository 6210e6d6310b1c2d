"""The scores of a line that ``verify`` computes are those of scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score

from pellucid.proofs.feature_selection.feature_search import LINE_SCORES, LineScores


@pytest.mark.parametrize("scoring", LINE_SCORES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e100])
def test_scores_are_those_of_scikit_learn(scoring, intercept, size):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) + 3.0
    y, folds = X @ [1.0, -2.0, 0.0, 0.5] + rng.standard_normal(60), list(KFold(5).split(X))
    ours = LineScores(X, size * y, folds, scoring, intercept=intercept).of_set(np.array([True, False, True, True]))
    model = LinearRegression(fit_intercept=intercept)
    peer = cross_val_score(model, X[:, [0, 2, 3]], y, cv=folds, scoring=scoring or "r2")
    unit = {"neg_mean_squared_error": size**2, "neg_root_mean_squared_error": size}.get(scoring, 1.0)
    np.testing.assert_allclose(ours, unit * peer, rtol=1e-9)


def test_dependent_columns_and_constant_targets_are_left_to_the_estimator():
    x = np.arange(20.0)
    X, folds = np.column_stack([x, x + 1e-9, np.cos(np.full(20, 1.1))]), list(KFold(4).split(x))
    scores = LineScores(X, x**2, folds, None, intercept=True)
    assert scores.of_set(np.array([True, True, False])) is None
    assert scores.of_set(np.array([True, False, True])) is None
    assert scores.of_set(np.array([True, False, False])) is not None
    assert LineScores(X, np.ones(20), folds, None, intercept=True).of_set(np.array([True, False, False])) is None
