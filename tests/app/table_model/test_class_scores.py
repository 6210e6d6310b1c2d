"""Probabilities from scores: as bold as rows held out allow, and in the same order as before."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from pellucid.app.table_model.class_scores import best_inverse_temperature, class_scores, probabilities
from pellucid.svm import LinearSVC


@pytest.mark.parametrize("factor", [0.4, 1.0, 3.0])
def test_the_factor_that_was_put_on_the_scores_is_found(factor):
    rng = np.random.default_rng(0)
    true = rng.normal(size=(20_000, 3)) * 2
    codes = (softmax(true, axis=1).cumsum(axis=1) < rng.uniform(size=(20_000, 1))).sum(axis=1)
    assert best_inverse_temperature(true * factor, codes) == pytest.approx(1 / factor, rel=0.05)


def test_no_other_factor_makes_the_rows_more_likely():
    rng = np.random.default_rng(1)
    scores, codes = rng.normal(size=(500, 4)), rng.integers(4, size=500)
    best = best_inverse_temperature(scores, codes)

    def loss(factor):
        return 0.5 * np.log(factor) ** 2 - log_softmax(factor * scores, axis=1)[np.arange(500), codes].sum()

    assert all(loss(best) <= loss(best * change) + 1e-9 for change in (0.9, 0.99, 1.01, 1.1))


def test_few_rows_that_are_all_right_do_not_make_it_certain():
    scores = np.array([[0.0, 1.0]] * 3)
    assert 1.0 < best_inverse_temperature(scores, np.ones(3, dtype=int)) < 5.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_method_without_probabilities_gets_them_in_the_order_of_its_decisions(n_classes):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=200), np.linspace(-0.5, 0.5, n_classes - 1))
    method = LinearSVC().fit(X, y)
    chances = probabilities(class_scores(method, X), 0.7)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances.argmax(axis=1), method.predict(X))
