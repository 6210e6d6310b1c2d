"""Trees, forests and boosting in onnxruntime: thresholds, gaps and sets of categories, where converters go wrong."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from pellucid.export import NotExportableError
from pellucid.export.measuring import difference, run
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.onnx_export import MOST, with_threshold_neighbors

seeds = pytest.mark.parametrize("seed", range(3))


def said(model, X):
    return run(pellucid.to_onnx(model), {"X": np.asarray(X, dtype=np.float64)})


def assert_same(model, X):
    found = difference(pellucid.to_onnx(model), model, X)
    assert found.n_labels == 0
    assert found.largest <= MOST


def test_a_threshold_parts_neighboring_doubles():  # by hand
    low = 0.1
    high = np.nextafter(low, 1.0)
    model = DecisionTreeRegressor().fit([[low], [high]], [0.0, 1.0])  # half way is the lower one
    np.testing.assert_array_equal(said(model, [[low], [high]])["variable"], [0.0, 1.0])


def test_a_tree_that_is_one_leaf_says_the_mean():
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    np.testing.assert_array_equal(said(model, [[0.0], [9.0]])["variable"], [3.0, 3.0])


def test_gaps_go_where_the_model_sends_them():
    X = np.array([[0.0], [1.0], [2.0], [np.nan], [np.nan]])
    left = DecisionTreeClassifier().fit(X, [0, 1, 1, 0, 0])
    right = DecisionTreeClassifier().fit(X, [1, 0, 0, 0, 0])
    for model in (left, right):
        np.testing.assert_array_equal(said(model, X)["label"], model.predict(X))


@seeds
@pytest.mark.parametrize("kind", [DecisionTreeRegressor, HistGradientBoostingRegressor])
@pytest.mark.parametrize("n_categories", [3, 40, 200])
def test_sets_of_categories_gaps_and_new_ones_go_as_in_the_model(seed, kind, n_categories):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, n_categories, 600), rng.standard_normal(600)])
    y = rng.standard_normal(n_categories)[X[:, 0].astype(int)] + X[:, 1]
    X[rng.random(X.shape) < 0.1] = np.nan
    model = kind(categorical_features=[0], random_state=0).fit(X, y)
    rows = X[rng.integers(0, 600, 10_000)]
    rows[rng.random(len(rows)) < 0.1, 0] = 999.0
    rows[:3, 0] = [-1.0, 1e300, 0.5]
    assert_same(model, with_threshold_neighbors(model, rows))


@seeds
def test_boosting_of_several_classes_with_words_for_labels(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])]
    model = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    assert_same(model, with_threshold_neighbors(model, rng.standard_normal((10_000, 3))))


@pytest.mark.parametrize("n_classes", [2, 3])
@seeds
def test_adaboost_of_trees_and_of_other_classifiers(seed, n_classes):
    from pellucid.naive_bayes import GaussianNB

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.5, 1.5][: n_classes - 1])
    for member in (None, GaussianNB()):
        model = AdaBoostClassifier(member, n_estimators=15, random_state=0).fit(X, y)
        assert_same(model, with_threshold_neighbors(model, rng.standard_normal((10_000, 3))))


@seeds
def test_rows_that_float_of_32_bits_cannot_tell_apart_are_told_apart(seed):
    rng = np.random.default_rng(seed)
    X = 1e8 + rng.integers(0, 50, (300, 2))
    y = (X[:, 0] > X[:, 1]).astype(int)
    assert len(np.unique(X.astype(np.float32))) < 10
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    assert (said(model, X)["label"] == y).mean() > 0.99
    assert_same(model, with_threshold_neighbors(model, X))


def test_refuses_categories_in_words_and_several_targets_of_classes():
    import pandas as pd

    table = pd.DataFrame({"city": pd.Categorical(["Bern", "Basel", "Bern"]), "size": [1.0, 2.0, 3.0]})
    model = DecisionTreeRegressor(categorical_features=["city"]).fit(table, [0.0, 1.0, 0.0])
    with pytest.raises(NotExportableError, match="column 0 must hold numbers .* OrdinalEncoder"):
        pellucid.to_onnx(model)
    several = DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    with pytest.raises(NotExportableError, match="DecisionTreeClassifier must have one target to be exported, got 2"):
        pellucid.to_onnx(several)
