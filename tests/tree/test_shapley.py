"""Shapley values: by hand, against all subsets, against the package shap, and wrong input."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.tree

import pellucid.tree.explaining.shapley_kernels as kernels
from pellucid.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor, OptimalTreeClassifier, shapley_values
from pellucid.tree.explaining.shapley import _expected_values, _outputs, _summed
from pellucid.tree.packed_trees import join_trees
from pellucid.tree.tree_reading import way_down
from tests.tree.test_packed_trees import packed as packed_tree

seeds = pytest.mark.parametrize("seed", range(4))


def packed(model):
    """Return a fitted tree of scikit-learn as a pack."""
    return packed_tree(model.tree_)


def known_only(tree, x, S, node=0):
    """Return what a tree says about a row of which only the columns S are known."""
    if tree.children_left[node] < 0:
        return tree.value[node, 0]
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    if tree.feature[node] in S:
        return known_only(tree, x, S, left if x[tree.feature[node]] <= tree.threshold[node] else right)
    cover = tree.weighted_n_node_samples
    sides = [cover[child] / cover[node] * known_only(tree, x, S, child) for child in (left, right)]
    return sides[0] + sides[1]


def over_all_subsets(tree, x):
    p = len(x)
    found = np.zeros((p, tree.value.shape[2]))
    for j in range(p):
        others = [k for k in range(p) if k != j]
        for size in range(p):
            for S in combinations(others, size):
                weight = math.factorial(size) * math.factorial(p - 1 - size) / math.factorial(p)
                found[j] += weight * (known_only(tree, x, {*S, j}) - known_only(tree, x, set(S)))
    return found


def problem(seed, n=60, p=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).astype(np.float32).astype(np.float64)
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * rng.standard_normal(n)


# by hand


def test_of_two_columns_that_act_together_each_gets_half():
    # f = 1 only if both are 1: from 1/4, either column alone lifts it to 1/2, both to 1: (1/4 + 1/2) / 2 each
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    model = OptimalTreeClassifier(2).fit(X, [0, 0, 0, 1])
    found = shapley_values(model, X)
    assert found.expected.tolist() == [0.75, 0.25]
    np.testing.assert_allclose(found.values[3, :, 1], [0.375, 0.375])
    np.testing.assert_allclose(found.values[:, :, 0], -found.values[:, :, 1])
    np.testing.assert_allclose(found.predictions, model.predict_proba(X))
    assert found.frame(1).columns.tolist() == ["x0", "x1"]


def test_a_column_that_no_node_asks_for_adds_nothing():
    X, y = problem(0)
    tree = packed(sklearn.tree.DecisionTreeRegressor(max_depth=3, random_state=0).fit(X[:, :3], y))
    values = _summed(tree, X, tree.value.reshape(-1, 1), np.zeros(1, dtype=np.int64), 1)
    assert np.all(values[:, 3:] == 0.0)


def test_categories_are_explained_too():
    X, y = [[0], [1], [2], [1], [0], [2]], [0, 1, 0, 1, 0, 0]
    model = OptimalTreeClassifier(1, categorical_features=[0]).fit(X, y)
    np.testing.assert_allclose(shapley_values(model, X).predictions, model.predict_proba(X))


# properties


@seeds
@pytest.mark.parametrize("depth", [1, 2, 4, 7])
def test_the_same_as_the_sum_over_all_subsets(seed, depth):
    X, y = problem(seed)
    tree = packed(sklearn.tree.DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y))
    values = _summed(tree, X[:8], tree.value.reshape(-1, 1), np.zeros(1, dtype=np.int64), 1)
    np.testing.assert_allclose(values, [over_all_subsets(tree, x) for x in X[:8]], atol=1e-12)


@seeds
def test_the_sum_is_the_prediction_less_the_expectation(seed):
    X, y = problem(seed, n=400, p=12)
    models = [sklearn.tree.DecisionTreeRegressor(random_state=k).fit(X, y + k) for k in range(3)]
    trees = join_trees([packed(model) for model in models])
    value, groups = trees.value.reshape(-1, 1), np.zeros(3, dtype=np.int64)
    total = _summed(trees, X, value, groups, 1).sum(axis=1)[:, 0] + _expected_values(trees, value, groups, 1)
    np.testing.assert_allclose(total, sum(model.predict(X) for model in models), atol=1e-10)


def test_trees_without_a_baseline_are_averaged():
    X, y = problem(0)
    trees = [packed(sklearn.tree.DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y * k)) for k in (1, 2, 3)]
    pack = join_trees(trees)
    value, groups, start = _outputs(SimpleNamespace(trees_=pack), pack)
    alone = [_summed(tree, X, tree.value.reshape(-1, 1), np.zeros(1, dtype=np.int64), 1) for tree in trees]
    np.testing.assert_allclose(_summed(pack, X, value, groups, 1), np.mean(alone, axis=0), atol=1e-13)
    assert start.tolist() == [0.0]


def test_trees_that_take_turns_at_the_outputs_are_kept_apart():
    X, y = problem(0)
    trees = [
        packed(sklearn.tree.DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y * k)) for k in (1, 2, 3, 4)
    ]
    pack = join_trees(trees)
    both = _summed(pack, X, pack.value.reshape(-1, 1), np.arange(4) % 2, 2)
    for k in range(2):
        part = join_trees(trees[k::2])
        alone = _summed(part, X, part.value.reshape(-1, 1), np.zeros(2, dtype=np.int64), 1)
        np.testing.assert_allclose(both[:, :, k], alone[:, :, 0], atol=1e-13)


@seeds
@pytest.mark.parametrize("kind", [HistGradientBoostingRegressor, DecisionTreeRegressor])
def test_numbers_of_our_estimators_are_explained(seed, kind):
    X, y = problem(seed, n=300)
    X[::7, 1] = np.nan
    model = kind().fit(X, y)
    found = shapley_values(model, X)
    assert found.values.shape == X.shape
    np.testing.assert_allclose(found.predictions, model.predict(X), atol=1e-10)


def test_forests_are_explained_as_means_of_trees():
    X, y = problem(0, n=300)
    numbers = RandomForestRegressor(10, random_state=0).fit(X, y)
    np.testing.assert_allclose(shapley_values(numbers, X).predictions, numbers.predict(X), atol=1e-10)
    classes = RandomForestClassifier(10, random_state=0).fit(X, np.digitize(y, [0.0, 1.0]))
    found = shapley_values(classes, X)
    np.testing.assert_allclose(found.predictions, classes.predict_proba(X), atol=1e-10)
    np.testing.assert_allclose(found.values.sum(axis=2), 0.0, atol=1e-12)  # shares always add up to 1
    assert found.outputs == (0, 1, 2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_raw_scores_of_boosting_are_explained(n_classes):
    X, y = problem(0, n=300)
    model = HistGradientBoostingClassifier(max_iter=10).fit(X, np.digitize(y, [0.0, 1.0][: n_classes - 1]))
    found = shapley_values(model, X)
    assert found.values.shape == ((300, 5) if n_classes == 2 else (300, 5, 3))
    np.testing.assert_allclose(found.predictions, model.decision_function(X), atol=1e-10)


def test_categories_of_a_data_frame_are_explained():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": pd.Categorical(rng.choice(["a", "b", "c"], 200)), "age": rng.standard_normal(200)})
    y = (X["town"] == "b") ^ (X["age"] > 0)
    for model in (
        DecisionTreeClassifier(categorical_features="from_dtype"),
        HistGradientBoostingClassifier(max_iter=5),
    ):
        found = shapley_values(model.fit(X, y), X)
        said = model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)
        np.testing.assert_allclose(found.predictions, said, atol=1e-10)
        assert found.frame(*found.outputs[:1]).columns.tolist() == ["town", "age"]


# peer


@seeds
def test_the_same_as_the_package_shap(seed):
    shap = pytest.importorskip("shap", reason="shap is a peer that only the extra `bench` installs")
    X, y = problem(seed, n=200, p=8)
    model = sklearn.tree.DecisionTreeRegressor(max_depth=9, random_state=0).fit(X, y)
    theirs = shap.TreeExplainer(model).shap_values(X[:50])
    tree = packed(model)
    ours = _summed(tree, X[:50], tree.value.reshape(-1, 1), np.zeros(1, dtype=np.int64), 1)
    np.testing.assert_allclose(ours[:, :, 0], theirs, atol=1e-9)


# kernel


def test_the_kernel_does_the_same_as_plain_python(monkeypatch):
    X, y = problem(0, n=20)
    tree = packed(sklearn.tree.DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y))
    given = (
        X[:3],
        *way_down(tree, 5),
        tree.weighted_n_node_samples,
        tree.value.reshape(-1, 1),
        np.zeros(1, np.int64),
        3,
    )
    compiled, plain = np.zeros((3, 5, 1)), np.zeros((3, 5, 1))
    kernels.add_shapley_values(*given, compiled)
    run = kernels.add_shapley_values.py_func
    for name in ("weighted_sum", "add_leaf", "turns_left", "columns_on_path", "is_in_left_set"):
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    run(*given, plain)
    np.testing.assert_allclose(compiled, plain, atol=1e-15)


# errors


def test_refuses_models_without_trees_and_unknown_classes():
    X, y = problem(0)
    with pytest.raises(
        TypeError, match="model must be a tree, a forest or gradient boosting of pellucid, got Decision"
    ):
        shapley_values(sklearn.tree.DecisionTreeRegressor().fit(X, y), X)
    model = OptimalTreeClassifier(1).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"output must be one of \[False, True\], got 2"):
        shapley_values(model, X).frame(2)
