"""Packed trees: structure, reading, files."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.tree import export_text

from pellucid.core.kinds.pages import WritePage
from pellucid.tree import packed_trees
from pellucid.tree.packed_trees import PackedTrees, join_trees, plain_leaves, rows_of_nodes
from pellucid.tree.packed_trees_kernels import add_values, find_leaves
from pellucid.tree.tree_kinds import Trees
from pellucid.tree.tree_reading import TreeView, decision_path, feature_importances, leaves, summed_values, way_down


def packed(peer):
    """Return scikit-learn's tree as a pack of one."""
    n = peer.node_count
    return PackedTrees(
        starts=np.array([0, n]),
        children_left=peer.children_left.astype(np.int32),
        children_right=peer.children_right.astype(np.int32),
        feature=peer.feature.astype(np.int32),
        threshold=peer.threshold.copy(),
        missing_go_to_left=peer.missing_go_to_left.astype(np.uint8),
        category_row=np.full(n, -1, dtype=np.int32),
        left_categories=np.zeros((0, 1), dtype=np.uint32),
        impurity=peer.impurity.copy(),
        n_node_samples=peer.n_node_samples.astype(np.int64),
        weighted_n_node_samples=peer.weighted_n_node_samples.copy(),
        value=peer.value.copy(),
    )


@pytest.fixture(scope="module")
def forest():
    X, y = make_classification(300, 8, random_state=0)
    X[::7, 3] = np.nan
    X = X.astype(np.float32)
    peer = PeerForest(5, random_state=0).fit(X, y)
    return X, peer, join_trees([packed(tree.tree_) for tree in peer.estimators_])


def color_tree():
    """Colors 0 and 33 go left, the others right; missing ones and colors never seen go left."""
    return PackedTrees(
        starts=np.array([0, 3]),
        children_left=np.array([1, -1, -1], dtype=np.int32),
        children_right=np.array([2, -1, -1], dtype=np.int32),
        feature=np.array([0, -2, -2], dtype=np.int32),
        threshold=np.array([0.0, -2.0, -2.0]),
        missing_go_to_left=np.array([1, 0, 0], dtype=np.uint8),
        category_row=np.array([0, -1, -1], dtype=np.int32),
        left_categories=np.array([[1, 2]], dtype=np.uint32),
        impurity=np.zeros(3),
        n_node_samples=np.array([4, 2, 2]),
        weighted_n_node_samples=np.array([4.0, 2.0, 2.0]),
        value=np.array([[[0.0]], [[-1.0]], [[1.0]]]),
    )


COLORS = np.array([[0.0], [1.0], [33.0], [34.0], [63.0], [64.0], [-1.0], [np.nan]])
COLOR_LEAVES = [1, 2, 1, 2, 2, 1, 1, 1]


def test_categories_go_left_by_their_bit_and_unknown_ones_where_missing_ones_go():  # by hand
    assert leaves(color_tree(), COLORS)[:, 0].tolist() == COLOR_LEAVES
    assert plain_leaves(color_tree(), COLORS).tolist() == COLOR_LEAVES


def test_groups_take_turns():  # by hand
    # three trees, two groups: trees 0 and 2 add to the first column, tree 1 to the second; color 1 is worth 1
    trees = join_trees([color_tree()] * 3)
    assert summed_values(trees, np.array([[1.0]]), np.zeros((1, 2)), n_groups=2).tolist() == [[2.0, 1.0]]


def test_joined_trees_come_apart_again():
    trees = join_trees([color_tree(), color_tree()])
    assert trees.category_row.tolist() == [0, -1, -1, 1, -1, -1]
    second = trees.tree(1)
    assert second.fault(1) is None
    assert second.category_row.tolist() == [0, -1, -1]
    assert second.left_categories.tolist() == [[1, 2]]


def test_rows_end_in_the_same_leaves_as_in_scikit_learns_forest(forest):  # peer
    X, peer, trees = forest
    np.testing.assert_array_equal(leaves(trees, X), peer.apply(X))
    np.testing.assert_allclose(summed_values(trees, X, np.zeros((len(X), 2))) / 5, peer.predict_proba(X))
    assert (decision_path(trees, X) != peer.decision_path(X)[0]).nnz == 0
    np.testing.assert_allclose(feature_importances(trees, 8), peer.feature_importances_)


def test_sparse_rows_end_where_dense_ones_do(forest):
    X, _, trees = forest
    rows = sparse.csr_array(np.nan_to_num(X))
    np.testing.assert_array_equal(leaves(trees, rows), leaves(trees, rows.toarray()))
    np.testing.assert_array_equal(plain_leaves(trees, rows), leaves(trees, rows)[:, 0])


@pytest.mark.parametrize("rows_at_once", [7, 10_000])
def test_plain_walk_finds_the_same_leaves_and_rows(forest, rows_at_once, monkeypatch):
    monkeypatch.setattr(packed_trees, "ROWS_AT_ONCE", rows_at_once)
    X, _, trees = forest
    for t, tree in enumerate(trees):
        np.testing.assert_array_equal(plain_leaves(tree, X), leaves(trees, X)[:, t])
        passed = decision_path(tree, X).tocsc()
        for node, rows in enumerate(rows_of_nodes(tree, X)):
            np.testing.assert_array_equal(rows, np.sort(passed.indices[passed.indptr[node] : passed.indptr[node + 1]]))


def test_view_reads_as_scikit_learns_tree(forest):  # peer
    X, peer, trees = forest
    theirs = peer.estimators_[2].tree_
    ours = TreeView(trees.tree(2), 8, 2)
    for name in ("node_count", "max_depth", "n_leaves", "n_outputs", "max_n_classes"):
        assert getattr(ours, name) == getattr(theirs, name)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.compute_node_depths(), theirs.compute_node_depths())
    np.testing.assert_allclose(ours.compute_feature_importances(), theirs.compute_feature_importances())

    class Stand(type(peer.estimators_[2])):
        tree_ = ours

    stand = Stand()
    stand.classes_, stand.n_classes_, stand.n_outputs_, stand.n_features_in_ = np.array([0.0, 1.0]), 2, 1, 8
    assert export_text(stand) == export_text(peer.estimators_[2])


def test_kernels_do_the_same_as_plain_python():
    trees = color_tree()
    for find in (find_leaves, find_leaves.py_func):
        found = np.empty((8, 1), dtype=np.int32)
        find(COLORS, *way_down(trees, 1), found)
        assert found[:, 0].tolist() == COLOR_LEAVES
    for add in (add_values, add_values.py_func):
        total = np.zeros((8, 1))
        add(COLORS, *way_down(trees, 1), trees.value[:, 0], np.zeros(1, dtype=np.int64), total)
        assert total[:, 0].tolist() == [-1.0 if leaf == 1 else 1.0 for leaf in COLOR_LEAVES]


FAULTS = {
    "circle": {"children_left": [0, -1, -1]},
    "outside": {"children_right": [3, -1, -1]},
    "one child": {"children_right": [-1, -1, -1]},
    "same child twice": {"children_right": [1, -1, -1]},
    "column": {"feature": [5, -2, -2]},
    "leaf with a split": {"feature": [0, 0, -2]},
    "categories": {"category_row": [1, -1, -1]},
    "categories of a leaf": {"category_row": [0, 0, -1]},
    "direction": {"missing_go_to_left": [2, 0, 0]},
    "threshold": {"threshold": [np.nan, -2.0, -2.0]},
    "impurity": {"impurity": [np.nan, 0.0, 0.0]},
    "starts": {"starts": [0, 2]},
    "no nodes": {"starts": [0, 0, 3]},
    "count": {"n_node_samples": [-1, 2, 2]},
    "length": {"threshold": [0.0, -2.0]},
}


@pytest.mark.parametrize("change", FAULTS.values(), ids=FAULTS)
def test_faults_of_the_structure_are_found(change):
    tree = color_tree()
    assert tree.fault(1) is None
    wrong = {name: np.array(part, dtype=getattr(tree, name).dtype) for name, part in change.items()}
    assert replace(tree, **wrong).fault(1) is not None
    assert not Trees().fits(replace(tree, **wrong)) or "feature" in change
    assert Trees().fits(tree)


@pytest.mark.parametrize("name", ["circle", "outside", "column", "categories"])
def test_damaged_trees_end_in_an_error(name):
    tree = color_tree()
    wrong = {part: np.array(value, dtype=getattr(tree, part).dtype) for part, value in FAULTS[name].items()}
    with pytest.raises(ValueError, match="trees must lead every row to a leaf"):
        leaves(replace(tree, **wrong), COLORS)


def test_wrong_dtype_is_not_written():
    tree = replace(color_tree(), feature=np.array([0, -2, -2]))
    assert not Trees().fits(tree)
    assert Trees().write(color_tree(), WritePage(), "trees_")["trees"].keys() == set(vars(tree))
