"""Pruning: by hand, properties, against scikit-learn's path, pruned trees that were changed, wrong input."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold, train_test_split

import pellucid
from pellucid.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    OptimalTreeClassifier,
    explain_path,
    prune_by_cross_validation,
    prune_pessimistic,
    prune_reduced_error,
    rules,
    shapley_values,
)
from pellucid.tree.pruning.pruned_tree import pessimistic_errors
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(4))
SIX, ZEROS = np.arange(1.0, 7.0)[:, None], [0, 0, 0, 1, 1, 0]


def noisy(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + 0.8 * rng.standard_normal(n) > 1).astype(int)


# by hand


@pytest.mark.by_hand("PrunedTreeClassifier", "PrunedTreeRegressor")
def test_a_branch_that_is_no_better_than_a_leaf_is_cut():
    # node 2 (x > 3.5) says 1 as a leaf; its branch gets row 6 wrong, the leaf none: cut. The root stays.
    tree = DecisionTreeClassifier().fit(SIX, ZEROS)
    pruned = prune_reduced_error(tree, [[1], [2], [4], [5], [6]], [0, 0, 1, 1, 1])
    assert pruned.tree_.threshold.tolist() == [3.5, -2.0, -2.0]
    frame = pruned.trace_.frame()
    assert frame["node"].tolist() == [2, 0]
    assert frame["error_of_leaf"].tolist() == [0.0, 3.0]
    assert frame["error_of_branch"].tolist() == [1.0, 0.0]
    assert frame["cut"].tolist() == [1.0, 0.0]
    assert frame["objective"].tolist() == [0.0, 0.0]
    assert tree.get_n_leaves() == 3  # it stays as it is


def test_of_equals_the_smaller_tree_is_taken():
    tree = DecisionTreeClassifier().fit(SIX, ZEROS)
    pruned = prune_reduced_error(tree, [[1], [2], [4.2], [5], [6]], [0, 0, 0, 1, 0])
    assert pruned.get_n_leaves() == 1
    work = pellucid.show_work(prune_reduced_error, tree, ([[1], [2], [4.2], [5], [6]], [0, 0, 0, 1, 0]))
    assert work.answer == {"cut": [0], "errors": 1, "n_leaves": 1}


def test_a_regression_tree_is_pruned_by_squared_errors():
    # means 0 below 2.5 and 6, 8 on the sides of 3.5; validation 7 twice: leaf 7 has no error, the branch 1 + 1
    tree = DecisionTreeRegressor().fit([[1], [2], [3], [4]], [0.0, 0.0, 6.0, 8.0])
    pruned = prune_reduced_error(tree, [[1], [3], [4]], [0.0, 7.0, 7.0])
    assert pruned.predict([[3], [4]]).tolist() == [7.0, 7.0]
    assert pruned.trace_["error_of_branch"].tolist()[0] == 2.0


def test_the_error_rate_that_few_errors_leave_possible():
    # no error among n: (1 - p)^n = 1/4; one error among 2: 1 - p^2 = 1/4
    np.testing.assert_allclose(pessimistic_errors(np.zeros(3), np.array([1.0, 2.0, 6.0]), 0.25)[:2], [0.75, 1.0])
    assert pessimistic_errors(np.zeros(1), np.array([6.0]), 0.25)[0] == pytest.approx(6 * (1 - 0.25 ** (1 / 6)))
    assert pessimistic_errors(np.ones(1), np.array([2.0]), 0.25)[0] == pytest.approx(2 * np.sqrt(0.75))
    assert pessimistic_errors(np.full(1, 3.0), np.array([3.0]), 0.25)[0] == 3.0  # all wrong


def test_the_branch_of_quinlan():
    # leaves of 6, 9 and 1 rows without errors expect 6 * 0.206 + 9 * 0.143 + 1 * 0.750 = 3.273 errors,
    # one leaf of 16 rows with 1 error 2.55 (the book interpolates, to 2.51): the branch goes
    branch = pessimistic_errors(np.zeros(3), np.array([6.0, 9.0, 1.0]), 0.25).sum()
    leaf = pessimistic_errors(np.ones(1), np.array([16.0]), 0.25)[0]
    assert branch == pytest.approx(3.273, abs=0.005)
    p = leaf / 16
    assert (1 - p) ** 16 + 16 * p * (1 - p) ** 15 == pytest.approx(0.25)
    assert leaf < branch


# properties


@seeds
def test_pruning_never_hurts_on_the_validation_rows_and_the_rest_is_proved(seed):
    X, y = noisy(seed)
    train, validation, y_train, y_validation = train_test_split(X, y, random_state=seed)
    tree = DecisionTreeClassifier(random_state=0).fit(train, y_train)
    pruned = prune_reduced_error(tree, validation, y_validation)
    assert pruned.get_n_leaves() < tree.get_n_leaves()
    assert pruned.score(validation, y_validation) >= tree.score(validation, y_validation)
    assert np.all(np.diff(pruned.trace_["objective"]) <= 1e-9)
    wrong = np.sum(pruned.predict(validation) != y_validation)
    assert pruned.trace_["objective"][-1] == pytest.approx(wrong)
    assert pruned.certificate_.holds
    proof = pellucid.verify(pruned, train, y_train)
    assert proof.holds
    assert proof["cuts"].value == 0.0
    assert "errors on the validation rows" in proof.reason


@seeds
def test_no_other_pruning_of_the_tree_makes_fewer_errors(seed):
    # the least error over all prunings, by recursion: the branch, or the leaf
    X, y = noisy(seed, n=120)
    train, validation, y_train, y_validation = train_test_split(X, y, random_state=seed)
    tree = DecisionTreeClassifier(random_state=0).fit(train, y_train)
    arrays = tree.tree_

    def least(node, rows):
        leaf = np.sum(y_validation[rows] != np.argmax(arrays.value[node, 0]))
        if arrays.children_left[node] < 0:
            return leaf
        left = validation[rows, arrays.feature[node]] <= arrays.threshold[node]
        sides = least(arrays.children_left[node], rows[left]), least(arrays.children_right[node], rows[~left])
        return min(leaf, sum(sides))

    pruned = prune_reduced_error(tree, validation, y_validation)
    assert np.sum(pruned.predict(validation) != y_validation) == least(0, np.arange(len(validation)))


@pytest.mark.property("PrunedTreeClassifier", "PrunedTreeRegressor")
@seeds
def test_weights_are_repetitions(seed):
    X, y = noisy(seed)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
    weight = np.random.default_rng(seed).integers(0, 3, 200)
    weighted = prune_reduced_error(tree, X[200:], y[200:], sample_weight=weight)
    repeated = prune_reduced_error(tree, np.repeat(X[200:], weight, axis=0), np.repeat(y[200:], weight))
    np.testing.assert_array_equal(weighted.tree_.threshold, repeated.tree_.threshold)
    assert weighted.trace_ == repeated.trace_


@seeds
def test_less_confidence_cuts_more(seed):
    X, y = noisy(seed)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    leaves = [prune_pessimistic(tree, confidence).get_n_leaves() for confidence in (0.01, 0.25, 0.75)]
    assert leaves == sorted(leaves)
    pruned = prune_pessimistic(tree)
    assert pruned.certificate_.holds
    assert pellucid.verify(pruned, X, y).holds


def test_pruned_trees_are_stored_told_and_pruned_again(tmp_path):
    X, y = noisy(0)
    table = pd.DataFrame(X, columns=list("abcd"))
    pruned = prune_pessimistic(DecisionTreeClassifier(random_state=0).fit(table, y))
    pellucid.save(pruned, tmp_path / "pruned.safetensors")
    for again in (pellucid.load(tmp_path / "pruned.safetensors"), pickle.loads(pickle.dumps(pruned))):
        np.testing.assert_array_equal(again.predict(table), pruned.predict(table))
        assert again.trace_ == pruned.trace_
        assert pellucid.verify(again, table, y).holds
    assert len(rules(pruned)) == pruned.get_n_leaves()
    assert str(explain_path(pruned, table.iloc[0])).startswith(str(pruned.predict(table)[0]))
    np.testing.assert_allclose(shapley_values(pruned, table).predictions, pruned.predict_proba(table), atol=1e-12)
    assert prune_reduced_error(pruned, table, y).get_n_leaves() <= pruned.get_n_leaves()


# peer


@pytest.mark.peer("PrunedTreeClassifier", "PrunedTreeRegressor")
@seeds
def test_the_price_chosen_is_the_best_of_scikit_learns_trees_too(seed):
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    model = prune_by_cross_validation(DecisionTreeClassifier(random_state=0), X, y, cv=KFold(4))
    frame = model.trace_.frame()
    assert model.ccp_alpha == frame["ccp_alpha"][frame["chosen"] == 1.0].item()
    assert frame["objective"].min() == frame["objective"][frame["chosen"] == 1.0].item()
    assert frame["chosen"].idxmax() == np.flatnonzero(frame["objective"] == frame["objective"].min())[-1]
    assert model.get_n_leaves() == frame["leaves"][frame["chosen"] == 1.0].item()
    assert pellucid.verify(model, X, y).holds
    errors = []
    for train, test in KFold(4).split(X):
        fold = DecisionTreeClassifier(random_state=0, ccp_alpha=model.ccp_alpha).fit(X[train], y[train])
        errors.append(1.0 - fold.score(X[test], y[test]))
    assert frame["objective"].min() == pytest.approx(np.mean(errors))


def test_one_standard_error_gives_a_tree_that_is_no_larger():
    X, y = load_diabetes(return_X_y=True)
    best = prune_by_cross_validation(DecisionTreeRegressor(random_state=0), X, y)
    smaller = prune_by_cross_validation(DecisionTreeRegressor(random_state=0), X, y, one_standard_error=True)
    assert smaller.get_n_leaves() <= best.get_n_leaves() < 50
    trace = best.trace_.frame()
    chosen = trace[trace["chosen"] == 1.0].iloc[0]
    allowed = trace[trace["objective"] <= chosen["objective"] + chosen["standard_error"]]
    assert smaller.ccp_alpha == allowed["ccp_alpha"].max()


def test_cart_shows_its_work():
    work = pellucid.show_work(DecisionTreeClassifier(), SIX, ZEROS)
    assert work.answer["features"] == [0, -2, 0, -2, -2]
    assert "Compare with the program" in str(work)
    prices = DecisionTreeClassifier().cost_complexity_pruning_path(SIX, ZEROS).ccp_alphas
    np.testing.assert_allclose([float(price) for price in work.answer["ccp_alphas"]], prices)
    stump = pellucid.show_work(DecisionTreeRegressor(max_depth=1), SIX, [5, 6, 7, 15, 16, 20])
    assert str(stump.answer["thresholds"][0]) == "7/2"


# the proof


def test_a_pruned_tree_that_was_changed_is_found():
    X, y = noisy(0)
    pruned = prune_pessimistic(DecisionTreeClassifier(random_state=0).fit(X, y))
    threshold = pruned.trees_.threshold.copy()
    inner = int(np.flatnonzero(~pruned.trees_.is_leaf)[-1])
    threshold[inner] = np.nextafter(threshold[inner], np.inf)
    broken = copy.copy(pruned)
    broken.trees_ = replace(pruned.trees_, threshold=threshold)
    assert quiet_proof(broken, X, y).failed
    value = pruned.trees_.value[:, :, ::-1].copy()
    broken.trees_ = replace(pruned.trees_, value=value)
    assert quiet_proof(broken, X, y).failed


# errors


@pytest.mark.bad_input("PrunedTreeClassifier", "PrunedTreeRegressor")
def test_refuses_what_cannot_be_pruned():
    X, y = noisy(0, n=50)
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(TypeError, match="tree must be a DecisionTreeClassifier or DecisionTreeRegressor of pellucid"):
        prune_reduced_error(sklearn.tree.DecisionTreeClassifier().fit(X, y), X, y)
    with pytest.raises(TypeError, match="got OptimalTreeClassifier"):
        prune_pessimistic(OptimalTreeClassifier().fit(X, y))
    with pytest.raises(TypeError, match="tree must be a DecisionTreeClassifier, got DecisionTreeRegressor"):
        prune_pessimistic(DecisionTreeRegressor().fit(X, y))
    with pytest.raises(ValueError, match=r"y must hold only the labels \[0, 1\] of the fit, got \[7\]"):
        prune_reduced_error(tree, X, np.full(50, 7))
    with pytest.raises(ValueError, match="y must have one value for each of the 50 rows"):
        prune_reduced_error(tree, X, y[:10])
    with pytest.raises(ValueError, match="confidence must be between 0.0 and 1.0, got 25"):
        prune_pessimistic(tree, 25)
    with pytest.raises(ValueError, match="tree must have one target, got 2"):
        prune_reduced_error(DecisionTreeClassifier().fit(X, np.column_stack([y, y])), X, y)
