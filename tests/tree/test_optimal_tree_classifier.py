"""OptimalTreeClassifier: by hand, against all trees there are, against greedy trees, out of time, broken, refused."""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import sklearn.tree
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_iris

import pellucid
from pellucid.data import load_breast_cancer
from pellucid.tree import DecisionTreeClassifier, OptimalTreeClassifier, greedy_gap
from pellucid.tree.optimal_tree.optimal_tree_columns import binned_columns
from pellucid.tree.optimal_tree.optimal_tree_kernels import (
    best_split,
    count_inside,
    errors_below_splits,
    leaf_cost,
    least_pair_error,
    signed_pairs,
    two_class_errors_below_splits,
    widen_extremes,
)
from pellucid.tree.optimal_tree.optimal_tree_solvers import TreeSearch
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(6))


def problem(seed, n=24, p=3, n_classes=2, n_values=5):
    rng = np.random.default_rng(seed)
    X = rng.integers(n_values, size=(n, p)).astype(float)
    return X, rng.integers(n_classes, size=n)


def least_cost(X, y, w, depth, penalty, categories=()):
    """Return the least cost of all trees, by trying all of them."""
    counts = np.array([w[y == c].sum() for c in np.unique(y)])
    best = counts.sum() - counts.max() + penalty
    if depth == 0:
        return best
    for j in range(X.shape[1]):
        for value in np.unique(X[:, j]):
            left = X[:, j] == value if j in categories else X[:, j] <= value
            if left.any() and not left.all():
                sides = [(X[part], y[part], w[part]) for part in (left, ~left)]
                best = min(best, sum(least_cost(*side, depth - 1, penalty, categories) for side in sides))
    return best


# by hand


@pytest.mark.by_hand
def test_exclusive_or_takes_two_levels():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    assert OptimalTreeClassifier(1).fit(X, y).objective_ == 0.5
    model = OptimalTreeClassifier(2).fit(X, y)
    assert (model.objective_, model.lower_bound_, model.gap_) == (0.0, 0.0, 0.0)
    assert model.predict(X).tolist() == y
    assert (model.get_depth(), model.get_n_leaves()) == (2, 4)


def test_a_leaf_must_save_its_penalty():
    # one split saves 2 of 5 errors, a second leaf costs 0.3: worth it; at 0.5 it is not
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1, 1]
    worth, not_worth = (OptimalTreeClassifier(1, leaf_penalty=cost).fit(X, y) for cost in (0.3, 0.5))
    assert (worth.get_n_leaves(), worth.objective_) == (2, pytest.approx(0.6))
    assert (not_worth.get_n_leaves(), not_worth.objective_) == (1, pytest.approx(0.9))


def test_a_category_is_split_from_all_others():
    X, y = [[0], [1], [2], [1], [0], [2]], [0, 1, 0, 1, 0, 0]
    assert OptimalTreeClassifier(1).fit(X, y).objective_ == pytest.approx(1 / 3)
    model = OptimalTreeClassifier(1, categorical_features=[0]).fit(X, y)
    assert model.objective_ == 0.0
    assert model.trees_.left_categories.tolist() == [[2]]  # the bit of category 1
    assert pellucid.verify(model, X, y).holds


def test_thresholds_lie_half_way_and_few_ones_at_even_shares():
    X = np.arange(9.0)[:, None]
    assert binned_columns(X, np.ones(9), np.array([False]), None).cuts[0].tolist() == [k + 0.5 for k in range(8)]
    # 9 rows in 3 parts: 3 rows below the first threshold, 6 below the second
    assert binned_columns(X, np.ones(9), np.array([False]), 2).cuts[0].tolist() == [2.5, 5.5]


# properties


@seeds
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalty", [0.0, 0.03])
def test_no_tree_is_better(seed, depth, n_classes, penalty):
    X, y = problem(seed, n=20, n_classes=n_classes)
    model = OptimalTreeClassifier(depth, leaf_penalty=penalty).fit(X, y)
    least = least_cost(X, y, np.ones(len(y)), depth, penalty * len(y)) / len(y)
    assert model.objective_ == pytest.approx(least, abs=1e-12)
    assert model.lower_bound_ == pytest.approx(least, abs=1e-12)
    share = np.mean(model.predict(X) != y) + penalty * model.get_n_leaves()
    assert share == pytest.approx(least, abs=1e-12)


@seeds
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_tree_is_better_with_weights_and_categories(seed, n_classes):
    X, y = problem(seed, n_classes=n_classes, n_values=4)
    w = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    model = OptimalTreeClassifier(3, categorical_features=[1]).fit(X, y, sample_weight=w)
    least = least_cost(X, y, w, 3, 0.0, categories=(1,)) / w.sum()
    assert model.objective_ == pytest.approx(least, abs=1e-12)
    assert pellucid.verify(model, X, y, sample_weight=w).holds


@seeds
def test_no_tree_of_depth_four_is_better(seed):
    X, y = problem(seed, n=30, p=2, n_values=6)
    model = OptimalTreeClassifier(4).fit(X, y)
    assert model.objective_ == pytest.approx(least_cost(X, y, np.ones(len(y)), 4, 0.0) / len(y), abs=1e-12)
    assert pellucid.verify(model, X, y).grade == "optimal"


@seeds
@pytest.mark.parametrize("n_classes", [2, 3])
def test_splits_searched_one_by_one_give_the_same_as_pairs_counted(seed, n_classes, monkeypatch):
    X, y = problem(seed, n=60, n_values=12, n_classes=n_classes)
    counted = OptimalTreeClassifier(3).fit(X, y)
    monkeypatch.setattr("pellucid.tree.optimal_tree.optimal_tree_solvers.MOST_PAIRS", 0)
    monkeypatch.setattr("pellucid.proofs.tree.optimal_tree.MOST_SPLITS", 0)
    searched = OptimalTreeClassifier(3).fit(X, y)
    assert searched.objective_ == counted.objective_
    assert pellucid.verify(searched, X, y).grade == "optimal"


@pytest.mark.property
@seeds
def test_weights_are_repetitions(seed):
    X, y = problem(seed, n=40, n_values=30)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
    options = {"max_depth": 3, "max_thresholds": 4, "leaf_penalty": 0.01}
    weighted = OptimalTreeClassifier(**options).fit(X, y, sample_weight=weight)
    repeated = OptimalTreeClassifier(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-14)
    np.testing.assert_array_equal(weighted.trees_.threshold, repeated.trees_.threshold)


def test_depth_never_hurts():
    X, y = problem(0, n=80, p=4)
    errors = [OptimalTreeClassifier(depth).fit(X, y).objective_ for depth in range(5)]
    assert errors == sorted(errors, reverse=True)


# peer


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_greedy_trees_are_no_better_on_real_tables(depth):
    table = load_breast_cancer()
    for X, y in ((table.drop(columns="diagnosis"), table["diagnosis"]), load_iris(return_X_y=True)):
        best = OptimalTreeClassifier(depth, max_thresholds=None if depth < 3 else 64).fit(X, y)
        greedy = sklearn.tree.DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        assert best.lower_bound_ == best.objective_ <= 1.0 - greedy.score(X, y) + 1e-12


def test_breast_cancer_at_depth_two():
    # 22 errors of 569 over all thresholds, found by counting all pairs of splits too; a greedy tree makes 33
    table = load_breast_cancer()
    X, y = table.drop(columns="diagnosis"), table["diagnosis"]
    greedy = sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    found = greedy_gap(greedy, X, y, max_thresholds=None)
    assert (found.error, found.best_error) == (pytest.approx(33 / 569), pytest.approx(22 / 569))
    assert found.is_proved
    assert str(found).startswith("Of depth 2, the best tree is proved to make 3.87% errors on the training rows")


def test_our_greedy_trees_have_a_gap_too():
    X, y = problem(3, n=100, p=4, n_values=9)
    found = greedy_gap(DecisionTreeClassifier(max_depth=2).fit(X, y), X, y, max_thresholds=None)
    assert found.is_proved
    assert found.error >= found.best_error == OptimalTreeClassifier(2, max_thresholds=None).fit(X, y).objective_


@pytest.mark.peer
def test_tree_has_the_surface_of_scikit_learns():
    X, y = problem(0)
    model = OptimalTreeClassifier(2).fit(X, y)
    assert model.tree_.node_count == 2 * model.get_n_leaves() - 1
    assert model.tree_.apply(X).tolist() == model.apply(X).tolist()
    assert model.tree_.n_classes.tolist() == [2]


# kernels


def kernel_problem(seed, n_classes):
    X, y = problem(seed, n=30, n_classes=n_classes)
    columns = binned_columns(X, np.ones(30), np.array([False, True, False]), None)
    n_bins = columns.n_bins
    rows = np.arange(0, 30, 2, dtype=np.int32)
    given = (columns.codes, rows, y.astype(np.int32), np.ones(30), n_bins, columns.is_category, n_classes)
    return (*given, int(n_bins.max())), columns.starts


@seeds
def test_counting_signed_weights_gives_the_same_as_counting_classes(seed):
    given, starts = kernel_problem(seed, 2)
    found = []
    for kernel in (errors_below_splits, two_class_errors_below_splits):
        left, right = np.empty(starts[-1]), np.empty(starts[-1])
        kernel(*given, starts, 0.3, left, right)
        found.append((left, right))
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernels_do_the_same_as_plain_python(n_classes, monkeypatch):
    given, starts = kernel_problem(1, n_classes)
    kernels = "pellucid.tree.optimal_tree.optimal_tree_kernels"
    tried = [errors_below_splits, *([two_class_errors_below_splits] if n_classes == 2 else [])]
    compiled, plain = [], []
    for kernel in tried:
        left, right = np.empty(starts[-1]), np.empty(starts[-1])
        kernel(*given, starts, 0.1, left, right)
        compiled += [left, right]
    split = best_split(*given)
    codes, rows, is_category = given[0], given[1], given[5]
    counts, plain_counts = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1], dtype=np.int64)
    count_inside(codes, rows, is_category, starts, counts)
    count_inside.py_func(codes, rows, is_category, starts, plain_counts)
    np.testing.assert_array_equal(counts, plain_counts)
    for inner in (leaf_cost, least_pair_error, signed_pairs, widen_extremes):
        monkeypatch.setattr(f"{kernels}.{inner.py_func.__name__}", inner.py_func)
    for kernel in tried:
        left, right = np.empty(starts[-1]), np.empty(starts[-1])
        kernel.py_func(*given, starts, 0.1, left, right)
        plain += [left, right]
    np.testing.assert_array_equal(compiled, plain)
    assert best_split.py_func(*given) == split


# certificate and proof


def test_the_gap_is_measured_where_the_time_ends_first():
    X, y = problem(0, n=200, p=6, n_values=30)
    with pytest.warns(pellucid.UncertifiedWarning, match="gap is .* Raise time_limit"):
        model = OptimalTreeClassifier(3, time_limit=1e-9).fit(X, y)
    best = OptimalTreeClassifier(3).fit(X, y)
    assert 0.0 <= model.lower_bound_ <= best.objective_ <= model.objective_
    assert model.gap_ == model.certificate_["gap"].value > 0.0
    assert [claim.name for claim in quiet_proof(model, X, y).failed] == ["gap"]  # bound and tree are right


@pytest.mark.parametrize(("depth", "p", "n_values"), [(3, 3, 12), (4, 5, 2)])
def test_the_bounds_hold_wherever_the_time_ends(depth, p, n_values, monkeypatch):
    monkeypatch.setattr("pellucid.tree.optimal_tree.optimal_tree_solvers.MOST_PAIRS", 0)
    X, y = problem(0, n=60, p=p, n_values=n_values)
    looks = [0, math.inf]  # at the clock so far, and how many before the time is over

    def is_over(_search):
        looks[0] += 1
        return looks[0] > looks[1]

    monkeypatch.setattr(TreeSearch, "is_over", is_over)
    best = OptimalTreeClassifier(depth).fit(X, y)
    total = looks[0]
    assert best.gap_ == 0.0
    for last in (*range(0, total, max(1, total // 20)), *range(total - 10, total)):
        looks[:] = 0, last
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
            model = OptimalTreeClassifier(depth).fit(X, y)
        assert model.lower_bound_ <= best.objective_ <= model.objective_


def test_the_lower_bound_rises_to_the_objective_along_the_trace():
    X, y = problem(1, n=200, p=6, n_values=30)
    model = OptimalTreeClassifier(3).fit(X, y)
    assert np.all(np.diff(model.trace_["objective"]) <= 0.0)
    assert np.all(model.trace_["lower_bound"] <= model.objective_ + 1e-12)


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("most_splits", [0, 2000])  # one by one, or pairs of them counted
def test_the_proof_finds_a_bound_that_is_too_high_and_a_tree_that_is_not_the_best(depth, most_splits, monkeypatch):
    monkeypatch.setattr("pellucid.proofs.tree.optimal_tree.MOST_SPLITS", most_splits)
    X, y = problem(2, n=60)
    model, shallow = OptimalTreeClassifier(depth).fit(X, y), OptimalTreeClassifier(depth - 1).fit(X, y)
    assert shallow.objective_ > model.objective_
    broken = copy.copy(model)
    broken.trees_, broken.objective_, broken.lower_bound_ = shallow.trees_, shallow.objective_, shallow.objective_
    assert [claim.name for claim in quiet_proof(broken, X, y).failed] == ["lower bound"]


def test_the_proof_finds_a_split_that_is_no_candidate():
    X, y = problem(2, n=60)
    model = OptimalTreeClassifier(1).fit(X, y)
    threshold = model.trees_.threshold.copy()
    threshold[0] += 0.25  # the same rows on both sides
    model.trees_ = replace(model.trees_, threshold=threshold)
    assert "none of the candidates" in str(quiet_proof(model, X, y))


def test_a_proof_that_takes_too_long_is_a_sample_and_says_so(monkeypatch):
    monkeypatch.setattr("pellucid.proofs.tree.optimal_tree.MOST_WORK", 1.0)
    monkeypatch.setattr("pellucid.proofs.tree.optimal_tree.DRAWN", 50)
    X, y = problem(2, n=60)
    model = OptimalTreeClassifier(3).fit(X, y)
    proof = pellucid.verify(model, X, y)
    assert (proof.grade, proof.holds) == ("bounded", True)
    assert "on a sample only" in proof.reason
    shallow = OptimalTreeClassifier(1).fit(X, y)
    model.trees_, model.objective_, model.lower_bound_ = shallow.trees_, shallow.objective_, shallow.objective_
    assert [claim.name for claim in quiet_proof(model, X, y).failed] == ["lower bound"]


def test_callbacks_see_the_best_tree_so_far():
    X, y = problem(0, n=100, n_values=20)
    monitor = ScoringMonitor(scoring="accuracy")
    model = OptimalTreeClassifier(3).set_callbacks(monitor).fit(X, y)
    scores = [row["accuracy"] for row in monitor.get_logs().data]
    assert max(scores) == pytest.approx(1.0 - model.objective_)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": 5}, "max_depth must be at most 4, got 5. A deeper tree is out of reach"),
        ({"leaf_penalty": -0.1}, "leaf_penalty must be at least 0, got -0.1"),
        ({"max_thresholds": 0}, "max_thresholds must be at least 1, got 0"),
        ({"time_limit": 0}, "time_limit must be above 0, got 0"),
        ({"categorical_features": [7]}, "categorical_features must name columns of X, got 7"),
        ({"categorical_features": [0]}, "X must hold whole numbers from 0 to 1023 in the categorical column 0"),
    ],
)
def test_refuses_wrong_parameters(options, message):
    X, y = problem(0)
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**options).fit(X - 0.5, y)


def test_the_gap_of_a_deep_tree_is_refused():
    X, y = problem(0, n=100)
    deep = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="tree must have a depth of at most 4, got"):
        greedy_gap(deep, X, y)
