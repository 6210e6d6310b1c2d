"""Decision trees: worked by hand, as repetitions, against scikit-learn and brute force, broken on purpose."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.proofs.tree.split_scores import running_medians, weighted_median
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.decision_tree import decision_tree_solvers
from pellucid.tree.pruning.cost_complexity import pruning_path
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(4))
CLASS_CRITERIA = ("gini", "entropy", "log_loss", "gain_ratio", "error")
NUMBER_CRITERIA = ("squared_error", "absolute_error", "friedman_mse", "poisson")
SETTINGS = (
    {},
    {"max_depth": 3},
    {"max_leaf_nodes": 6},
    {"min_samples_leaf": 5},
    {"min_impurity_decrease": 0.01},
    {"min_weight_fraction_leaf": 0.05},
)


def problem(seed, n=120, p=5, classes=3, decimals=1):
    """Few different values, so that there are ties within columns, and missing ones."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).round(decimals)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(n), np.linspace(0, 1.5, classes - 1))
    return X, y


def with_missing(X, seed=0, share=0.15):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


# by hand


@pytest.mark.by_hand("DecisionTreeClassifier")
def test_a_stump_cuts_halfway_where_gini_falls_most():
    # left (2 a), right (1 a, 3 b): 2 * 0 + 4 * (1 - 1/16 - 9/16) = 3/2, less than any other cut
    model = DecisionTreeClassifier(max_depth=1).fit([[0], [1], [3], [4], [5], [6]], list("aababb")[:2] + list("babb"))
    tree = model.tree_
    assert tree.threshold[0] == 2.0
    assert tree.impurity.tolist() == [0.5, 0.0, 0.375]
    np.testing.assert_allclose(tree.value[2, 0], [0.25, 0.75])
    assert tree.n_node_samples.tolist() == [6, 2, 4]


@pytest.mark.by_hand("DecisionTreeRegressor")
def test_a_regression_stump_by_hand():
    # cut at 2.5: means 1 and 8, squared errors 2 + 2; every other cut leaves more
    model = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [0.0, 2.0, 7.0, 9.0])
    assert model.tree_.threshold[0] == 2.5
    assert model.predict([[0], [9]]).tolist() == [1.0, 8.0]
    assert model.tree_.impurity.tolist() == [13.25, 1.0, 1.0]


def test_absolute_error_takes_medians():
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit([[1], [2], [3], [9]], [0, 1, 5, 5])
    assert model.tree_.threshold[0] == 2.5
    assert model.predict([[0], [9]]).tolist() == [0.5, 5.0]
    assert model.tree_.impurity.tolist() == [2.25, 0.5, 0.0]


def test_of_equal_splits_the_lowest_column_then_the_lowest_threshold_counts():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    model = DecisionTreeClassifier(max_depth=1).fit(X, [0, 1, 0])
    assert (model.tree_.feature[0], model.tree_.threshold[0]) == (0, 0.5)


def test_missing_values_go_where_they_do_most_good():
    model = DecisionTreeClassifier().fit([[0.0], [1.0], [np.nan], [np.nan]], [0, 0, 1, 1])
    assert model.tree_.threshold[0] == np.inf
    assert model.predict([[5.0], [np.nan]]).tolist() == [0, 1]
    left = DecisionTreeClassifier().fit([[0.0], [1.0], [np.nan], [0.0]], [0, 1, 0, 0])
    assert left.tree_.missing_go_to_left[0] == 1


def test_without_missing_values_in_the_fit_they_go_with_the_larger_side():
    model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert model.predict([[np.nan]]).tolist() == [1]


def test_neighboring_floats_are_parted():
    low = 1.0
    high = np.nextafter(low, 2.0)
    model = DecisionTreeClassifier().fit([[low], [high]], [0, 1])
    assert model.tree_.threshold[0] == low
    assert model.predict([[low], [high]]).tolist() == [0, 1]


def test_gain_ratio_by_hand():
    # column 0 parts all four rows' labels at 1 bit of its own; column 1 gains 0.311 bits at 0.811: 0.384 < 1
    X = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    model = DecisionTreeClassifier(criterion="gain_ratio", max_depth=1).fit(X, [0, 0, 1, 1])
    assert model.tree_.feature[0] == 0


# properties


@seeds
@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_classifiers_hold_with_missing_values_and_weights(criterion, seed):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    for settings in SETTINGS:
        model = DecisionTreeClassifier(criterion=criterion, **settings).fit(with_missing(X, seed), y, weight)
        assert pellucid.verify(model, with_missing(X, seed), y, sample_weight=weight).holds


@seeds
@pytest.mark.parametrize("criterion", NUMBER_CRITERIA)
def test_regressors_hold_with_missing_values_and_weights(criterion, seed):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    for settings in (
        {"max_features": 2},
        {"splitter": "random"},
        {"max_leaf_nodes": 5},
        {"monotonic_cst": [1, 0, -1, 0, 0]},
    ):
        model = DecisionTreeRegressor(criterion=criterion, random_state=seed, **settings)
        model.fit(with_missing(X, seed), y + 1.0, weight)
        assert pellucid.verify(model, with_missing(X, seed), y + 1.0, sample_weight=weight).holds


@pytest.mark.property("DecisionTreeClassifier", "DecisionTreeRegressor")
@seeds
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_weights_are_repetitions(kind, seed):
    X, y = problem(seed)
    count = np.random.default_rng(seed).integers(0, 3, len(y))
    once = kind().fit(X, y, sample_weight=count.astype(float))
    repeated = kind().fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_array_equal(once.tree_.feature, repeated.tree_.feature)
    np.testing.assert_array_equal(once.tree_.threshold, repeated.tree_.threshold)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_the_number_of_threads_and_the_size_of_parts_change_nothing(kind, monkeypatch):
    X, y = problem(0, n=600, decimals=3)
    monkeypatch.setattr(decision_tree_solvers, "WORTH_PARTING", 100)
    monkeypatch.setattr(decision_tree_solvers, "FEWEST", 50)
    parts = kind().fit(X, y).trees_
    with threadpool_limits(1):
        alone = kind().fit(X, y).trees_
    monkeypatch.setattr(decision_tree_solvers, "WORTH_PARTING", 1 << 60)
    whole = kind().fit(X, y).trees_
    for other in (alone, whole):
        for name in ("children_left", "feature", "threshold", "n_node_samples", "missing_go_to_left"):
            np.testing.assert_array_equal(getattr(parts, name), getattr(other, name))
        np.testing.assert_array_equal(parts.value, other.value)


@seeds
def test_sorting_in_a_node_and_keeping_orders_give_the_same_tree(seed, monkeypatch):
    X, y = problem(seed, n=300)
    kept = DecisionTreeClassifier().fit(with_missing(X), y).trees_
    monkeypatch.setattr(decision_tree_solvers, "SORTING", 0)
    sorted_anew = DecisionTreeClassifier().fit(with_missing(X), y).trees_
    for name in ("children_left", "feature", "threshold", "n_node_samples", "impurity"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(sorted_anew, name))


@seeds
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_two_classes_get_the_best_of_all_subsets_of_categories(criterion, seed):
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(0, 6, 80), rng.integers(0, 2, 80)
    model = DecisionTreeClassifier(criterion=criterion, max_depth=1, categorical_features=[0]).fit(codes[:, None], y)
    tree = model.tree_
    found = tree.weighted_n_node_samples[1:] @ tree.impurity[1:]
    best = np.inf
    for size in range(1, 6):
        for subset in itertools.combinations(range(6), size):
            left = np.isin(codes, subset)
            flag = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(left[:, None].astype(float), y).tree_
            if flag.node_count == 3:
                best = min(best, flag.weighted_n_node_samples[1:] @ flag.impurity[1:])
    assert found == pytest.approx(best)
    assert pellucid.verify(model, codes[:, None], y).holds


@seeds
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_categories_of_a_data_frame_are_understood(splitter, seed):
    rng = np.random.default_rng(seed)
    colors = pd.Categorical(rng.choice(["red", "green", "blue", "white"], 100))
    frame = pd.DataFrame({"size": rng.standard_normal(100), "color": colors})
    y = (frame["color"].isin(["red", "white"]) ^ (frame["size"] > 1)).astype(int) + (frame["size"] < -1)
    frame.loc[3, "color"] = None
    for kind, extra in ((DecisionTreeClassifier, {}), (DecisionTreeRegressor, {"criterion": "absolute_error"})):
        model = kind(categorical_features="from_dtype", splitter=splitter, random_state=0, **extra).fit(frame, y)
        assert pellucid.verify(model, frame, y).holds
        assert model.categories_[1].tolist() == ["blue", "green", "red", "white"]
        unseen = frame.assign(color="violet")
        missing = frame.assign(color=pd.Categorical([None] * 100))
        np.testing.assert_array_equal(model.predict(unseen), model.predict(missing))


def test_several_targets_of_labels_and_of_numbers():
    X, y = problem(1)
    Y = np.column_stack([y, 2 * (X[:, 2] > 0)])
    model = DecisionTreeClassifier(max_depth=4).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert [part.shape[1] for part in model.predict_proba(X)] == [3, 2]
    assert pellucid.verify(model, X, Y).holds
    numbers = DecisionTreeRegressor(max_depth=4).fit(X, Y * 1.0)
    peer = sklearn.tree.DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, Y * 1.0)
    assert numbers.score(X, Y) == pytest.approx(peer.score(X, Y), abs=0.02)  # ties may fall another way
    assert pellucid.verify(numbers, X, Y * 1.0).holds


def test_sparse_rows_give_the_tree_of_dense_ones():
    X, y = problem(2)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense, thin = DecisionTreeClassifier().fit(X, y), DecisionTreeClassifier().fit(sparse.csc_array(X), y)
    np.testing.assert_array_equal(dense.tree_.threshold, thin.tree_.threshold)
    np.testing.assert_array_equal(thin.apply(sparse.csr_matrix(X)), dense.apply(X))
    assert pellucid.verify(thin, sparse.csc_array(X), y).holds


@seeds
def test_directions_are_kept_in_every_prediction(seed):
    X, y = problem(seed, classes=2, decimals=3)
    for model in (
        DecisionTreeClassifier(monotonic_cst=[1, -1, 0, 0, 0]),
        DecisionTreeRegressor(monotonic_cst=[1, -1, 0, 0, 0]),
    ):
        model.fit(X, y)
        assert pellucid.verify(model, X, y).holds
        steps = np.linspace(-3, 3, 40)
        for j, sign in ((0, 1), (1, -1)):
            rows = np.repeat(X[:20], len(steps), axis=0)
            rows[:, j] = np.tile(steps, 20)
            answers = model.predict_proba(rows)[:, 1] if hasattr(model, "predict_proba") else model.predict(rows)
            assert (sign * np.diff(answers.reshape(20, -1), axis=1) >= -1e-12).all()


def test_running_medians_are_those_of_every_beginning():
    rng = np.random.default_rng(0)
    values, weight = rng.integers(0, 9, 30).astype(float), rng.integers(1, 4, 30).astype(float)
    for count, (error, median) in enumerate(running_medians(values, weight), start=1):
        right = np.median(np.repeat(values[:count], weight[:count].astype(int)))
        assert median == right == weighted_median(values[:count], weight[:count])
        assert error == pytest.approx(weight[:count] @ np.abs(values[:count] - right))


# peer


@pytest.mark.peer("DecisionTreeClassifier")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_same_size_and_impurity_as_scikit_learn(criterion, settings):
    for load in (load_iris, load_breast_cancer):
        X, y = load(return_X_y=True)
        X = X.astype(np.float32)
        ours = DecisionTreeClassifier(criterion=criterion, **settings).fit(X, y)
        peer = sklearn.tree.DecisionTreeClassifier(criterion=criterion, random_state=0, **settings).fit(X, y)
        assert ours.get_n_leaves() == peer.get_n_leaves()
        assert ours.score(X, y) == pytest.approx(peer.score(X, y), abs=0.01)


@pytest.mark.peer("DecisionTreeRegressor")
@pytest.mark.parametrize("settings", [*SETTINGS, {"ccp_alpha": 5.0}], ids=str)
@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_same_regression_as_scikit_learn(criterion, settings):
    X, y = load_diabetes(return_X_y=True)
    ours = DecisionTreeRegressor(criterion=criterion, **settings).fit(X, y)
    peer = sklearn.tree.DecisionTreeRegressor(criterion=criterion, random_state=0, **settings).fit(X, y)
    assert ours.get_n_leaves() == peer.get_n_leaves()
    assert ours.score(X, y) == pytest.approx(peer.score(X, y), abs=0.01)
    np.testing.assert_allclose(ours.tree_.impurity[0], peer.tree_.impurity[0], rtol=1e-9)


def test_pruning_path_is_that_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    ours = DecisionTreeClassifier(max_depth=4).cost_complexity_pruning_path(X, y)
    peer = sklearn.tree.DecisionTreeClassifier(max_depth=4, random_state=0).cost_complexity_pruning_path(X, y)
    assert ours.impurities[0] == pytest.approx(peer.impurities[0])
    assert ours.impurities[-1] == pytest.approx(peer.impurities[-1])
    assert (np.diff(ours.ccp_alphas) >= -1e-15).all()
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    np.testing.assert_array_equal(pruning_path(model.trees_)[0], ours.ccp_alphas)


def test_tools_of_scikit_learn_read_the_tree():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert "petal" in sklearn.tree.export_text(model, feature_names=["a", "b", "petal", "d"])
    assert "digraph" in sklearn.tree.export_graphviz(model)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    paths = model.decision_path(X)
    np.testing.assert_array_equal(
        np.asarray(paths.sum(axis=1)).ravel() - 1, model.tree_.compute_node_depths()[model.apply(X)] - 1
    )


# broken on purpose


def broken(model, **parts):
    copied = copy.copy(model)
    copied.trees_ = replace(model.trees_, **parts)
    return copied


def test_a_threshold_moved_within_its_gap_is_found():
    X, y = problem(0)
    model = DecisionTreeClassifier().fit(X, y)
    threshold = model.trees_.threshold.copy()
    threshold[0] += 1e-9
    assert {claim.name for claim in quiet_proof(broken(model, threshold=threshold), X, y).failed} == {
        "thresholds",
        "splits",
    }


def test_a_tree_that_asks_another_column_is_found():
    X, y = problem(0, p=3)
    second = DecisionTreeClassifier(max_depth=2).fit(X[:, [2, 1, 0]], y)
    wrong = broken(second, feature=np.where(second.trees_.feature >= 0, 2 - second.trees_.feature, -2).astype(np.int32))
    assert quiet_proof(wrong, X[:, [2, 1, 0]][:, ::-1], y).holds
    worse = DecisionTreeClassifier(max_depth=1).fit(X[:, [2]], y)
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    feature = np.where(worse.trees_.feature >= 0, 2, -2).astype(np.int32)
    forged = copy.copy(model)
    forged.trees_ = replace(worse.trees_, feature=feature)
    assert {claim.name for claim in quiet_proof(forged, X, y).failed} == {"splits"}


def test_a_leaf_that_should_have_been_split_is_found():
    X, y = problem(0)
    model = DecisionTreeClassifier().fit(X, y)
    forged = copy.copy(model)
    forged.trees_ = DecisionTreeClassifier(max_depth=3).fit(X, y).trees_
    assert [claim.name for claim in quiet_proof(forged, X, y).failed] == ["splits"]


def test_a_split_against_a_limit_and_out_of_turn_is_found():
    X, y = problem(0)
    shallow, leaves = DecisionTreeClassifier(max_depth=2).fit(X, y), DecisionTreeClassifier(max_leaf_nodes=5).fit(X, y)
    shallow.trees_ = DecisionTreeClassifier(max_depth=3).fit(X, y).trees_
    assert "limits" in {claim.name for claim in quiet_proof(shallow, X, y).failed}
    leaves.trees_ = DecisionTreeClassifier(max_leaf_nodes=8).fit(X, y).trees_
    assert "limits" in {claim.name for claim in quiet_proof(leaves, X, y).failed}


def test_another_seed_is_found():
    X, y = problem(0)
    model = DecisionTreeClassifier(max_features=1, random_state=np.random.RandomState(0)).fit(X, y)
    model.seed_ += 1
    assert "splits" in {claim.name for claim in quiet_proof(model, X, y).failed}


def test_a_large_tree_is_sampled_and_the_claim_says_so():
    X, y = problem(0, n=1500, p=2, decimals=6)
    model = DecisionTreeRegressor().fit(X, y + X[:, 0])
    proof = pellucid.verify(model, X, y + X[:, 0])
    assert re.search(
        r"of 6\d\d replayed, of 2999: at most 0.0\d+ of the rows pass a wrong one", proof["splits"].statement
    )


def test_what_a_fit_claims_is_measured_on_what_it_stores(monkeypatch):
    X, y = problem(0)
    grow = decision_tree_solvers.grow_tree

    def grown_wrong(*arguments):
        tree = grow(*arguments)
        inner = ~tree.is_leaf
        tree.threshold[inner] = tree.threshold[inner] + 0.25
        return tree

    assert "in the column of its split" in DecisionTreeClassifier().fit(X, y).certificate_["splits"].statement
    monkeypatch.setattr(decision_tree_solvers, "grow_tree", grown_wrong)
    with pytest.warns(UncertifiedWarning, match="splits is 1"):
        assert not DecisionTreeClassifier().fit(X, y).certificate_.holds


def test_the_trace_is_made_when_somebody_asks_and_travels_with_the_model():
    X, y = problem(0)
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert "trace_" not in vars(model)
    copied = pickle.loads(pickle.dumps(model))
    assert model.trace_ == copied.trace_
    assert model.trace_["leaves"].tolist() == [0.0, 2.0]
    assert model.trace_ is model.trace_


def test_the_mean_answer_with_a_column_of_categories_set():
    # four rows of each color: red 1, green 2, blue 9 on average; the other column moves it by 0 or 4
    X = pd.DataFrame({"color": ["red", "green", "blue"] * 4, "size": [0.0] * 6 + [1.0] * 6})
    y = np.array([1.0, 2.0, 9.0] * 4) + 4.0 * X["size"].to_numpy()
    model = DecisionTreeRegressor(categorical_features=["color"]).fit(X, y)
    grid = np.array([["blue"], ["green"], ["red"], [np.nan]], dtype=object)
    assert model._compute_partial_dependence_recursion(grid, np.array([0]))[0, :3] == pytest.approx([11.0, 4.0, 3.0])
    assert model._compute_partial_dependence_recursion(np.array([[0.0], [1.0]]), np.array([1])) == pytest.approx(
        np.array([[4.0, 8.0]])
    )


# errors


@pytest.mark.bad_input("DecisionTreeClassifier", "DecisionTreeRegressor")
def test_refuses_what_it_cannot_learn_from():
    X, y = problem(0)
    with pytest.raises(ValueError, match="X must have values to learn from, but contains only NaN"):
        DecisionTreeClassifier().fit(np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match="y must be at least 0 and not all 0 for the criterion 'poisson'"):
        DecisionTreeRegressor(criterion="poisson").fit(X, -1.0 * y - 1)
    with pytest.raises(ValueError, match="min_samples_split must be a whole number of at least 2 or a part"):
        DecisionTreeClassifier(min_samples_split=1).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst has shape 2 but the input data X has 5 features"):
        DecisionTreeClassifier(monotonic_cst=[0, 1]).fit(X, y)
    with pytest.raises(ValueError, match="categorical_features must be numbers from 0 to 4"):
        DecisionTreeClassifier(categorical_features=[7]).fit(X, y)
