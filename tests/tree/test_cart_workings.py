"""CART by hand: thresholds with exact impurities, a regression stump, the price of a leaf; against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pellucid.tree.decision_tree.cart_workings import classifier_workings, regressor_workings

X = np.array([[1, 5], [2, 3], [3, 6], [4, 1], [5, 4], [6, 2.5]])
LETTERS = ["a", "a", "b", "a", "b", "b"]
seeds = pytest.mark.parametrize("seed", range(5))


def test_every_threshold_of_every_column_has_its_fraction():
    work = classifier_workings(DecisionTreeClassifier(), X, LETTERS)
    assert work.answer["features"] == [0, -2, 1, -2, -2]
    assert list(map(str, work.answer["thresholds"])) == ["5/2", "-2", "7/4", "-2", "-2"]
    assert list(map(str, work.answer["impurities"])) == ["1/2", "0", "3/8", "0", "0"]
    text = work.text()
    for line in (
        "3.5  2 a, 1 b       4/9  1 a, 2 b       4/9   4/9",
        "5.5  3 a, 2 b     12/25  1 b              0   2/5",
    ):
        assert line in text
    assert "2 thresholds are equally good" in text
    for printed in (work.html(), work.latex(), work.markdown()):
        assert "Weakest link 1" in printed


def test_a_regression_stump():
    # both sides of 3.5: means 6 and 17, squared errors (2/3 + 14/3) / 2 = 8/3, from 395/12
    work = regressor_workings(DecisionTreeRegressor(max_depth=1), np.arange(1, 7)[:, None], [5, 6, 7, 15, 16, 20])
    assert str(work.answer["thresholds"][0]) == "7/2"
    assert list(map(str, work.answer["impurities"])) == ["395/12", "2/3", "14/3"]
    assert list(map(str, work.answer["ccp_alphas"])) == ["0", "121/4"]


@seeds
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_same_tree_and_prices_as_scikit_learn(seed, criterion):
    rng = np.random.default_rng(seed)
    rows, labels = rng.permuted(np.arange(20.0).reshape(10, 2), axis=0), rng.integers(2, size=10)
    labels[:2] = [0, 1]
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(rows, labels)
    work = classifier_workings(tree, rows, labels)
    if any("equally good" in str(step) for step in work.steps):
        return  # scikit-learn settles ties at random
    assert work.answer["features"] == tree.tree_.feature.tolist()
    np.testing.assert_allclose([float(t) for t in work.answer["thresholds"]], tree.tree_.threshold)
    prices = tree.cost_complexity_pruning_path(rows, labels).ccp_alphas
    np.testing.assert_allclose([float(a) for a in work.answer["ccp_alphas"]], prices, atol=1e-12)
    if criterion == "gini":
        np.testing.assert_allclose([float(a) for a in work.answer["feature_importances_"]], tree.feature_importances_)


@seeds
def test_the_same_regression_tree_as_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.permuted(np.arange(16.0).reshape(8, 2), axis=0), rng.integers(50, size=8)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(rows, y)
    work = regressor_workings(tree, pd.DataFrame(rows, columns=["size", "age"]), y)
    if "equally good" not in str(work):
        assert work.answer["features"] == tree.tree_.feature.tolist()
        np.testing.assert_allclose([float(a) for a in work.answer["impurities"]], tree.tree_.impurity, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "log_loss", "splitter": "random"}, "splitter must be 'best' to be worked by hand, got 'random'"),
        ({"min_samples_leaf": 0.2}, "min_samples_leaf must be a whole number to be worked by hand, got 0.2"),
        ({"max_features": 1}, "max_features must be None to be worked by hand, got 1"),
    ],
)
def test_refuses_what_no_person_would_do(options, message):
    with pytest.raises(ValueError, match=message):
        classifier_workings(DecisionTreeClassifier(**options), X, LETTERS)


def test_refuses_many_rows():
    with pytest.raises(ValueError, match="at most 14 rows and 4 features to be worked by hand"):
        classifier_workings(DecisionTreeClassifier(), np.arange(15.0)[:, None], [0, 1, 0] * 5)
