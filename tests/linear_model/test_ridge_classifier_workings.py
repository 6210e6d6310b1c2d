from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier as PeerRidgeClassifier
from sympy import Rational

from pellucid.linear_model import RidgeClassifier
from pellucid.show import show_work


def test_two_classes_by_hand():
    # centered x = (-2, -1, 1, 2), y = (-1, -1, 1, 1): w = 6 / (10 + 1/10), b = -3 w
    work = show_work(RidgeClassifier(alpha=0.1), [[1], [2], [4], [5]], [0, 0, 1, 1])
    assert work.answer["coef_"] == [[Rational(60, 101)]]
    assert work.answer["intercept_"] == [Rational(-180, 101)]
    assert "4 of 4 rows are on the diagonal" in work.text()


def test_a_mistake_stands_beside_the_diagonal():
    work = show_work(RidgeClassifier(alpha=1), [[1], [2], [3], [4], [5]], ["a", "b", "a", "b", "b"])
    assert "wrong" in work.text()
    assert work.answer["predicted"] == ["a", "a", "b", "b", "b"]


def test_a_zero_score_goes_to_the_first_class():
    work = show_work(RidgeClassifier(alpha=1), [[-1], [0], [1], [0]], ["a", "a", "b", "b"])
    assert work.answer["predicted"] == ["a", "a", "b", "a"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0]), st.integers(2, 4), st.booleans())
def test_agrees_with_both_programs(seed, alpha, n_classes, fit_intercept):
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (9, 3)) / 2
    y = np.array(["ant", "bee", "cat", "dog"])[np.arange(9) % n_classes]
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    work = show_work(RidgeClassifier(**options), X, y)
    exact = work.answer
    assert "more than rounding" not in work.text()
    for kind in (RidgeClassifier, PeerRidgeClassifier):
        model = kind(**options).fit(X, y)
        np.testing.assert_allclose(model.coef_.ravel(), np.array(exact["coef_"], float).ravel(), atol=1e-9)
        np.testing.assert_allclose(model.intercept_, np.array(exact["intercept_"], float), atol=1e-9)


def test_refuses_one_class_too_many_classes_and_class_weights():
    with pytest.raises(ValueError, match="y must have between 2 and 4 classes to be worked by hand, got 1"):
        show_work(RidgeClassifier(), [[1], [2]], [0, 0])
    with pytest.raises(ValueError, match="got 5"):
        show_work(RidgeClassifier(), np.eye(5)[:, :4], range(5))
    with pytest.raises(ValueError, match="class_weight must be None"):
        show_work(RidgeClassifier(class_weight="balanced"), [[1], [2]], [0, 1])
    with pytest.raises(ValueError, match="y must have one label for each of the 2 rows of X"):
        show_work(RidgeClassifier(), [[1], [2]], [0, 1, 0])
