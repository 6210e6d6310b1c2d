"""Boosted trees: worked by hand, properties, scikit-learn's, errors, and the proof broken on purpose."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression

import pellucid
from pellucid.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.tree import bins
from tests.proving import quiet_proof

ONE = {"max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "max_leaf_nodes": 2}


def regression(seed=0, n=400, p=6):
    X, y = make_regression(n, p, noise=5.0, random_state=seed)
    return X, y


def with_gaps(X, seed=0, share=0.1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


# by hand


@pytest.mark.by_hand("HistGradientBoostingRegressor")
def test_one_round_of_squared_error_is_the_mean_of_the_residuals():
    # mean 3.5; the best cut of the residuals -3.5, -3.5, 2.5, 4.5 is in the middle: -3.5 and 3.5
    model = HistGradientBoostingRegressor(**ONE).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 6.0, 8.0])
    assert model.baseline_ == pytest.approx([3.5])
    assert model.trees_.threshold[0] == 1.5
    assert model.trees_.value.ravel() == pytest.approx([0.0, -3.5, 3.5])


@pytest.mark.by_hand("HistGradientBoostingClassifier")
def test_one_round_of_log_loss_is_a_newton_step():
    # p = 1/2 everywhere: gradients +-1/2, hessians 1/4; left -(1/2 + 1/2) / (1/4 + 1/4) = -2
    model = HistGradientBoostingClassifier(**ONE).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.decision_function([[0.0], [3.0]]) == pytest.approx([-2.0, 2.0])


def test_regularization_is_added_to_the_curvature():
    # residuals -1 and 1, hessian 2 per leaf: 2 / (2 + 2) = 1/2
    model = HistGradientBoostingRegressor(**ONE, l2_regularization=2.0).fit([[0], [0], [1], [1]], [0.0, 0, 2, 2])
    assert model.predict([[0], [1]]) == pytest.approx([0.5, 1.5])


def test_absolute_error_takes_medians():
    X, y = [[0.0]] * 3 + [[1.0]] * 3, [0.0, 1.0, 100.0, 200.0, 207.0, 300.0]
    model = HistGradientBoostingRegressor("absolute_error", **ONE).fit(X, y)
    assert model.predict([[0.0], [1.0]]) == pytest.approx([1.0, 207.0])


def test_missing_values_go_where_they_gain_most():
    X, y = [[0.0], [1.0], [np.nan], [np.nan]], [0.0, 6.0, 6.0, 6.0]
    model = HistGradientBoostingRegressor(**ONE).fit(X, y)
    assert model.predict([[0.0], [1.0], [np.nan]]) == pytest.approx([0.0, 6.0, 6.0])
    parted = HistGradientBoostingRegressor(**ONE).fit([[0.0], [1.0], [np.nan]], [0.0, 0.0, 9.0])
    assert parted.trees_.threshold[0] == np.inf
    assert parted.predict([[5.0], [np.inf], [np.nan]]) == pytest.approx([0.0, 0.0, 9.0])


def test_missing_later_only_goes_where_most_rows_went():
    model = HistGradientBoostingRegressor(**ONE).fit([[0.0], [1.0], [2.0]], [0.0, 9.0, 9.0])
    assert model.predict([[np.nan]]) == pytest.approx([9.0])


def test_of_equal_columns_the_first_and_of_equal_cuts_the_lowest_is_taken():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    model = HistGradientBoostingRegressor(**ONE).fit(np.stack([-x, x, x], axis=1), [1.0, -1.0, -1.0, 1.0])
    assert (model.trees_.feature[0], model.trees_.threshold[0]) == (0, -2.5)


# properties


@pytest.mark.property("HistGradientBoostingRegressor")
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repetitions(seed):
    X, y = regression(seed, 80, 3)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    settings = {"min_samples_leaf": 1, "max_depth": 3, "max_iter": 5, "max_bins": 20}
    weighted = HistGradientBoostingRegressor(**settings).fit(X, y, times)
    repeated = HistGradientBoostingRegressor(**settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


@pytest.mark.property("HistGradientBoostingClassifier")
def test_threads_do_not_change_a_bit(monkeypatch):
    X, y = make_classification(9000, 12, n_informative=6, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=5, early_stopping=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = clone(model).fit(X, y)
    monkeypatch.delenv("OMP_NUM_THREADS")
    together = clone(model).fit(X, y)
    assert alone.trees_.value.tobytes() == together.trees_.value.tobytes()
    assert alone.trees_.threshold.tobytes() == together.trees_.threshold.tobytes()


def test_giving_up_histograms_changes_nothing(monkeypatch):
    from pellucid.ensemble.hist_gradient_boosting import tree_growing

    X, y = regression(1, 3000)
    rich = HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    monkeypatch.setattr(tree_growing, "FEW_ROWS", 0)
    poor = HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    assert rich.trees_.value.tobytes() == poor.trees_.value.tobytes()


@pytest.mark.parametrize("scale", [1e-150, 1e140])
def test_units_of_the_target_only_scale_the_answer(scale):
    X, y = regression()
    once, other = (HistGradientBoostingRegressor(max_iter=10).fit(X, s * y) for s in (1.0, scale))
    np.testing.assert_allclose(other.predict(X) / scale, once.predict(X), rtol=1e-6, atol=1e-6)
    assert not quiet_proof(other, X, scale * y).failed


def test_monotonic_constraints_hold():
    X, y = regression(2, 500, 3)
    model = HistGradientBoostingRegressor(monotonic_cst=[1, -1, 0]).fit(X, y)
    grid = np.linspace(-3, 3, 50)
    for column, sign in ((0, 1), (1, -1)):
        for row in X[:20]:
            rows = np.tile(row, (len(grid), 1))
            rows[:, column] = grid
            assert (sign * np.diff(model.predict(rows)) >= 0).all()


def test_features_of_different_sets_never_share_a_path():
    X, y = regression(3, 500, 4)
    trees = HistGradientBoostingRegressor(interaction_cst=[[0, 1], [2]], max_iter=10).fit(X, y).trees_
    parents = trees.parents()
    for leaf in np.flatnonzero(trees.is_leaf):
        path, node = set(), parents[leaf]
        while node >= 0:
            path.add(int(trees.feature[node]))
            node = parents[node]
        assert any(path <= allowed for allowed in ({0, 1}, {2}, {3}))


def test_stages_end_in_the_prediction():
    X, y = load_iris(return_X_y=True)
    model = HistGradientBoostingClassifier(max_iter=7).fit(X, y)
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, model.predict_proba(X), rtol=1e-12)
    assert len(list(model.staged_predict(X))) == len(list(model.staged_decision_function(X))) == 7


def test_warm_start_goes_on_as_if_never_interrupted():
    X, y = regression()
    whole = HistGradientBoostingRegressor(max_iter=8, random_state=0).fit(X, y)
    parts = HistGradientBoostingRegressor(max_iter=3, random_state=0, warm_start=True).fit(X, y)
    parts.set_params(max_iter=8).fit(X, y)
    assert len(parts.trace_) == parts.n_iter_ == 8
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-12)
    assert not quiet_proof(parts, X, y).failed


def test_kernels_as_plain_python():
    from pellucid.ensemble.hist_gradient_boosting.split_kernels import count_rows, round_rows
    from pellucid.tree.bins_kernels import bin_columns

    rows, pairs = np.array([2, 0], dtype=np.uint32), np.zeros(4, dtype=np.int64)
    round_rows.py_func(rows, np.array([0.5, 9.0, -0.25]), np.array([1.0, 9.0, 0.5]), 4.0, 2.0, 8, pairs, 0, 2, 0)
    assert pairs.tolist() == [-1, (1 << 8) + 1, 2, (2 << 8) + 1]
    histograms = np.zeros(4 * 512, dtype=np.int64)
    words = np.array([0x03020100, 0, 0x00020104], dtype=np.uint32)
    with np.errstate(over="ignore"):
        count_rows.py_func(words, rows, 0, 2, pairs, histograms)
    assert histograms[2 * 4] == -1
    assert histograms[512 + 2] == 1
    assert histograms[512 + 3] == (3 << 8) + 2
    edges, found = np.full((1, 256), np.inf), np.zeros(4, dtype=np.uint32)
    edges[0, :2] = 0.5, 1.5
    block, marked = np.array([[0.5], [0.6], [9.0], [np.nan]]), np.zeros(1, dtype=bool)
    bin_columns.py_func(block, edges, np.zeros(1, dtype=bool), found, marked)
    assert found.tolist() == [0, 1, 2, 255]
    assert marked.all()


def test_edges_of_sampled_rows_need_no_copy_of_all_columns(monkeypatch):
    monkeypatch.setattr(bins, "MOST_SAMPLED", 20_000)
    X = np.random.default_rng(0).normal(size=(25_000, 40))
    tracemalloc.start()
    bins.find_edges(X, None, 255, [None] * 40, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.25 * 20_000 * 40 * 8


def test_many_rows_and_few_walk_down_to_the_same_leaves():
    X, y = regression(0, 601)
    X = with_gaps(X)
    X[:, 2] = np.random.default_rng(0).integers(0, 5, len(X))
    model = HistGradientBoostingRegressor(max_iter=15, categorical_features=[2]).fit(X, y + 20 * (X[:, 2] % 2))
    by_row = np.concatenate([model.predict(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_array_equal(model.predict(X), by_row)


# peer

SETTINGS = [
    {},
    {"l2_regularization": 3.0},
    {"max_depth": 3},
    {"max_leaf_nodes": None},
    {"interaction_cst": [[0, 1], [2, 3, 4]]},
]


@pytest.mark.peer("HistGradientBoostingRegressor")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_same_answers_as_scikit_learn(settings, weighted, gaps):
    X, y = regression(0, 500)
    X = with_gaps(X) if gaps else X
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    kinds = HistGradientBoostingRegressor, peer.HistGradientBoostingRegressor
    ours, theirs = (kind(max_bins=16, max_iter=20, **settings).fit(X, y, weight) for kind in kinds)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4, atol=1e-3 * np.abs(y).max())
    assert np.mean(np.abs(ours.predict(X) - theirs.predict(X)) < 1e-6 * np.abs(y).max()) > 0.9


def test_monotonic_trees_are_as_good_as_scikit_learn():
    # scikit-learn splits nodes at their bounds again where rounding makes up a gain of 1e-12: not the same trees
    X, y = regression(0, 500)
    kinds = HistGradientBoostingRegressor, peer.HistGradientBoostingRegressor
    ours, theirs = (kind(monotonic_cst=[1, -1, 0, 0, 0, 1]).fit(X, y).score(X, y) for kind in kinds)
    assert ours == pytest.approx(theirs, abs=0.01)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "absolute_error"])
def test_other_losses_are_as_good_as_scikit_learn(loss):
    X, y = regression(0, 600)
    y = np.exp(y / 200)
    kinds = HistGradientBoostingRegressor, peer.HistGradientBoostingRegressor
    ours, theirs = (kind(loss=loss, max_iter=30).fit(X, y).score(X, y) for kind in kinds)
    assert ours == pytest.approx(theirs, abs=0.01)


@pytest.mark.peer("HistGradientBoostingClassifier")
def test_classes_as_scikit_learn():
    X, y = make_classification(800, 8, n_informative=6, n_classes=3, random_state=0)
    kinds = HistGradientBoostingClassifier, peer.HistGradientBoostingClassifier
    ours, theirs = (kind(max_bins=16, max_iter=20).fit(X, y).predict_proba(X) for kind in kinds)
    assert np.mean(np.abs(ours - theirs) < 1e-5) > 0.98


def test_categories_of_a_data_frame_as_scikit_learn():
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "green", "blue", "none"], 400)
    y = np.where(words == "red", 3.0, np.where(words == "blue", -2.0, 0.0)) + 0.1 * rng.standard_normal(400)
    frame = pd.DataFrame({"color": pd.Categorical(np.where(words == "none", None, words)), "x": rng.normal(size=400)})
    kinds = HistGradientBoostingRegressor, peer.HistGradientBoostingRegressor
    ours, theirs = (kind(max_iter=20, max_bins=16).fit(frame, y) for kind in kinds)
    assert (ours.trees_.category_row >= 0).any()
    np.testing.assert_allclose(ours.predict(frame), theirs.predict(frame), atol=1e-6)
    assert not quiet_proof(ours, frame, y).failed
    unseen = frame.assign(color=pd.Categorical(["pink"] * 400))
    missing = frame.assign(color=pd.Categorical([None] * 400))
    np.testing.assert_array_equal(ours.predict(unseen), ours.predict(missing))


# the proof


@pytest.fixture(scope="module")
def boosted():
    X, y = make_classification(600, 6, n_informative=4, random_state=0)
    return HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(X, y), X, y


def broken(model, **changes):
    other = clone(model)
    vars(other).update(vars(model))
    other.trees_ = replace(model.trees_, **changes)
    return other


def test_every_leaf_is_looked_at(boosted):
    model, X, y = boosted
    for leaf in np.flatnonzero(model.trees_.is_leaf)[::17]:
        value = model.trees_.value.copy()
        value[leaf] *= 1.0001
        assert quiet_proof(broken(model, value=value), X, y).failed


def test_every_threshold_and_feature_is_looked_at(boosted):
    model, X, y = boosted
    trees = model.trees_
    for node in np.flatnonzero(~trees.is_leaf)[::13]:
        edges = model.bin_thresholds_[trees.feature[node]]
        place = np.flatnonzero(edges == trees.threshold[node])[0]
        threshold, feature = trees.threshold.copy(), trees.feature.copy()
        threshold[node] = edges[place + 1 if place + 1 < len(edges) else place - 1]
        feature[node] = (feature[node] + 1) % 6
        assert quiet_proof(broken(model, threshold=threshold), X, y).failed
        assert quiet_proof(broken(model, feature=feature), X, y).failed


def test_a_worse_split_that_is_otherwise_consistent_is_found():
    X, y = make_regression(300, 3, n_informative=1, random_state=0)
    useful = int(np.argmax(np.abs(np.corrcoef(X.T, y)[-1, :3])))
    rest = [j for j in range(3) if j != useful]
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2)
    part = clone(model).fit(X[:, rest], y)
    whole = clone(model).fit(X, y)
    feature = np.where(part.trees_.is_leaf, -2, np.array(rest)[part.trees_.feature]).astype(np.int32)
    whole.trees_ = replace(part.trees_, feature=feature)  # the best split by one of the others
    assert [claim.name for claim in quiet_proof(whole, X, y).failed] == ["splits"]


def test_verify_says_how_many_splits_it_searched(boosted):
    model, X, y = boosted
    statement = pellucid.verify(model, X, y)["splits"].statement
    assert re.search(r"shortfall of \d+ splits", statement)
    assert "99 % confidence" not in statement  # there are few enough to search all of them
    many = HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(X, y)
    assert "99 % confidence" in pellucid.verify(many, X, y)["splits"].statement
    assert model.certificate_.grade == "replayed"


def test_a_rate_that_makes_the_loss_rise_is_said():
    X, y = regression(0, 200, 3)
    with pytest.warns(pellucid.UncertifiedWarning, match="Lower learning_rate"):
        HistGradientBoostingRegressor(learning_rate=3.0, max_iter=5).fit(X, y)


# the workings

BY_HAND = {"max_iter": 1, "min_samples_leaf": 1, "max_leaf_nodes": 3, "learning_rate": 0.5}
X_BY_HAND = [[1, 2], [2, 1], [3, 5], [4, 4], [6, 3]]


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (HistGradientBoostingRegressor(**BY_HAND), [1, 2, 6, 7, 4]),
        (HistGradientBoostingRegressor(**BY_HAND, l2_regularization=0.5), [1, 2, 6, 7, 4]),
        (HistGradientBoostingClassifier(**BY_HAND), ["n", "n", "y", "y", "n"]),
        (HistGradientBoostingClassifier(**BY_HAND), [0, 1, 2, 0, 1]),
        (HistGradientBoostingRegressor(max_iter=1), [1, 2, 6, 7, 4]),
    ],
    ids=["numbers", "with a penalty", "two classes", "three classes", "too few rows to split"],
)
def test_the_round_by_hand_is_that_of_the_program(model, y):
    work = pellucid.show_work(model, X_BY_HAND, y)
    model = clone(model).fit(X_BY_HAND, y)
    stored = model.trees_.value[model.trees_.is_leaf].ravel()
    np.testing.assert_allclose([float(value) for value in work.answer["values"]], stored, atol=1e-12)
    assert "Newton step" in work.text()
    for format_ in ("markdown", "latex", "html"):
        assert work.printed(format_)


def test_workings_refuse_what_has_no_fractions():
    with pytest.raises(ValueError, match="loss must be 'squared_error' to be worked by hand, got 'poisson'"):
        pellucid.show_work(HistGradientBoostingRegressor("poisson"), X_BY_HAND, [1, 2, 6, 7, 4])


# errors


@pytest.mark.bad_input("HistGradientBoostingRegressor")
def test_refuses_targets_outside_the_range_of_the_loss():
    X, y = [[0.0], [1.0]], [0.0, -1.0]
    with pytest.raises(ValueError, match="loss='gamma' requires strictly positive y"):
        HistGradientBoostingRegressor("gamma").fit(X, y)
    with pytest.raises(ValueError, match="loss='poisson' requires non-negative y"):
        HistGradientBoostingRegressor("poisson").fit(X, y)


@pytest.mark.bad_input("HistGradientBoostingClassifier")
def test_refuses_what_it_cannot_do():
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 2, 0, 1, 2]
    with pytest.raises(ValueError, match="not supported for multiclass"):
        HistGradientBoostingClassifier(monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(ValueError, match="Categorical features cannot have monotonic constraints"):
        HistGradientBoostingRegressor(monotonic_cst=[1, 0], categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match=r"integer indices in \[0, n_features - 1\] = \[0, 1\]"):
        HistGradientBoostingRegressor(interaction_cst=[[0, 7]]).fit(X, y)
    with pytest.raises(ValueError, match="cardinality <= 3 but actually has a cardinality of 6"):
        HistGradientBoostingRegressor(max_bins=3, categorical_features=[0]).fit(X, y)


def test_a_tree_whose_splits_stand_in_another_order_is_found():
    X, y = regression(0, 400)
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=8).fit(X, y)
    trees = model.trees_
    left, right = trees.children_left.copy(), trees.children_right.copy()
    inner = np.flatnonzero(left >= 0)
    inner = inner[np.argsort(left[inner])]
    assert not quiet_proof(model, X, y).failed
    said = model.predict(X)
    # two neighboring splits of nodes that were both open: as if they had been made in the other order
    first, second = next((a, b) for a, b in pairwise(inner) if b < left[a])
    swap = np.arange(trees.n_nodes)
    swap[[left[first], right[first], left[second], right[second]]] = (
        left[second], right[second], left[first], right[first],
    )  # fmt: skip
    renamed = {
        name: getattr(trees, name)[swap]
        for name in (
            "feature",
            "threshold",
            "missing_go_to_left",
            "category_row",
            "impurity",
            "n_node_samples",
            "weighted_n_node_samples",
            "value",
        )
    }
    children = [np.where(side >= 0, swap[side], side)[swap].astype(np.int32) for side in (left, right)]
    model.trees_ = replace(trees, children_left=children[0], children_right=children[1], **renamed)
    np.testing.assert_array_equal(model.predict(X), said)
    assert [claim.name for claim in quiet_proof(model, X, y).failed] == ["nodes"]


def test_missing_values_go_left_alone_where_the_answer_must_rise():
    rng = np.random.default_rng(0)
    for _ in range(2):  # the second set has nodes where that is the best split
        X = rng.standard_normal((600, 5)).round(1)
        X[rng.random(X.shape) < 0.05] = np.nan
        y = np.nansum(X[:, :2], axis=1) + rng.standard_normal(600)
        rng.random(600)
    model = HistGradientBoostingRegressor(max_iter=12, random_state=0, monotonic_cst=[1, -1, 0, 0, 0]).fit(X, y)
    assert not quiet_proof(model, X, y).failed
