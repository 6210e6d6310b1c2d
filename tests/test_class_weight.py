"""class_weight of every classifier that has it: classes without weight, and weights that are repetitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import pellucid
from pellucid.core.cards import all_cards

X, Y = load_iris(return_X_y=True)
STOCHASTIC = {"Perceptron", "SGDClassifier", "RandomForestClassifier", "MLPClassifier", "NetworkClassifier"}
"""Other rows are presented, drawn, or put into a batch together."""
LIMITS = {"HistGradientBoostingClassifier": {"min_samples_leaf": 1}}
"""Settings without limits on the number of rows, which repeated rows meet sooner."""
LONG_ENOUGH = {
    "MLPClassifier": {"tol": 0.01, "learning_rate_init": 0.05, "random_state": 0},
    "NetworkClassifier": {"epochs": 40, "learning_rate": 0.02, "random_state": 0},
}
"""Settings with which networks have learned these few rows when they stop."""
weighted = [card for card in all_cards() if "class_weight" in card.parameters]
every_weighted = pytest.mark.parametrize("card", weighted, ids=lambda card: card.name)


@every_weighted
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 1.0, 2: 3.0}])
def test_a_class_of_weight_0_is_never_predicted_and_the_others_are(card, class_weight):
    weight = np.where(Y == 1, 0.0, 1.5)
    model = card.estimator(class_weight=class_weight, **LONG_ENOUGH.get(card.name, {})).fit(X, Y, sample_weight=weight)
    assert not hasattr(model, "coef_") or np.any(model.coef_ != 0.0)
    assert np.mean(model.predict(X[Y != 1]) == Y[Y != 1]) > 0.95
    assert 1 not in model.predict(X)
    assert not pellucid.verify(model, X, Y, sample_weight=weight).failed


@every_weighted
def test_balanced_classes_count_weights_as_repetitions(card):
    if card.name in STOCHASTIC:
        return
    count = np.random.default_rng(0).integers(0, 4, len(Y))
    settings = {"class_weight": "balanced", **LIMITS.get(card.name, {})}
    once = card.estimator(**settings).fit(X, Y, sample_weight=count.astype(float))
    repeated = card.estimator(**settings).fit(np.repeat(X, count, axis=0), np.repeat(Y, count))
    answer = "decision_function" if hasattr(once, "decision_function") else "predict_proba"
    np.testing.assert_allclose(getattr(once, answer)(X), getattr(repeated, answer)(X), atol=2e-3)
