"""class_weight of every classifier that has it: classes without weight, and weights that are repetitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import pellucid
from pellucid.core.cards import all_cards
from tests.public_estimators import seeded

X, Y = load_iris(return_X_y=True)
weighted = [card for card in all_cards() if "class_weight" in card.parameters]
every_weighted = pytest.mark.parametrize("card", weighted, ids=lambda card: card.name)


@every_weighted
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 1.0, 2: 3.0}])
def test_a_class_of_weight_0_is_never_predicted_and_the_others_are(card, class_weight):
    weight = np.where(Y == 1, 0.0, 1.5)
    model = seeded(card.estimator(class_weight=class_weight, **card.trial.settings)).fit(X, Y, sample_weight=weight)
    assert not hasattr(model, "coef_") or np.any(model.coef_ != 0.0)
    assert np.mean(model.predict(X[Y != 1]) == Y[Y != 1]) > 0.95
    assert 1 not in model.predict(X)
    assert not pellucid.verify(model, X, Y, sample_weight=weight).failed


@pytest.mark.parametrize("card", [c for c in weighted if c.trial.repeating is not None], ids=lambda card: card.name)
def test_balanced_classes_count_weights_as_repetitions(card):
    count = np.random.default_rng(0).integers(0, 4, len(Y))
    settings = {"class_weight": "balanced", **card.trial.repeating}
    once = card.estimator(**settings).fit(X, Y, sample_weight=count.astype(float))
    repeated = card.estimator(**settings).fit(np.repeat(X, count, axis=0), np.repeat(Y, count))
    answer = "decision_function" if hasattr(once, "decision_function") else "predict_proba"
    np.testing.assert_allclose(getattr(once, answer)(X), getattr(repeated, answer)(X), atol=2e-3)
