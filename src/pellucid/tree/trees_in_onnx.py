"""Trees as one ``TreeEnsemble`` operator: double thresholds, missing values and sets of categories as they go here.

A leaf of the operator adds one number to one target. Where leaves hold a number for each class, the operator only says
at which node a row ends, one target for each tree, and the numbers are looked up: sums are then those of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.onnx.class_answers import labels_at
from pellucid.core.onnx.graph import DOUBLE, ML, WHOLE, Answers, NotExportableError, Value
from pellucid.core.types import Array
from pellucid.tree.packed_trees import NO_CATEGORIES, WORD, PackedTrees

LESS_OR_EQUAL, EQUAL, MEMBER = 0, 4, 6
"""Modes of nodes."""
MODE_NAMES = {LESS_OR_EQUAL: "BRANCH_LEQ", EQUAL: "BRANCH_EQ"}
TREES_SINCE = 5
"""Version of ai.onnx.ml from which trees have double answers."""
MOST_LEAVES = 1 << 24
"""Whole numbers that a float of 32 bits can count."""
SUM, AS_IT_IS = 1, 0
"""How trees are put together, and what is done to the sum."""


def classifier(model: Any, X: Value) -> Answers:
    """Return labels and the mean shares of the classes at the leaves of all trees."""
    if model.trees_.value.shape[1] > 1:
        raise NotExportableError(
            f"{type(model).__name__} must have one target to be exported, got {model.trees_.value.shape[1]}. "
            "Fit one for each."
        )
    shares = mean_values(model.trees_, coded(X, getattr(model, "categories_", None)))
    return {"label": labels_at(shares.argmax(), model.classes_), "probabilities": shares}


def regressor(model: Any, X: Value) -> Answers:
    """Return the mean of the numbers at the leaves of all trees."""
    rows = coded(X, model.categories_)
    if model.trees_.value.shape[1] > 1:
        return {"variable": mean_values(model.trees_, rows)}
    return {"variable": (summed(model.trees_, rows) / float(model.trees_.n_trees)).reshape(-1)}


def id3(model: Any, X: Value) -> Answers:
    """Return labels and shares where rows stop: at a leaf, or where training had no such category."""
    if any(known.dtype.kind == "U" for known in model.categories_):
        raise NotExportableError(
            "ID3Classifier must be fitted to numbers to be exported, got words. Encode them with OrdinalEncoder."
        )
    tree = model.tree_
    is_numeric = np.array([len(known) == 0 for known in model.categories_])
    rows = coded(X, [known if len(known) else None for known in model.categories_])
    stops = _ensemble(rows, **_branches(tree, is_numeric))
    weight = stops.cast(WHOLE).reshape(-1).entries_of(tree.value)
    return {"label": labels_at(weight.argmax(), model.classes_), "probabilities": weight / weight.sum()}


def coded(X: Value, categories: Sequence[Array | None] | None) -> Value:
    """Return rows with codes for categories, -1 for gaps and for what is not known."""
    if not categories or all(known is None for known in categories):
        return X
    graph, columns = X.graph, []
    for j, known in enumerate(categories):
        column = X.column(j)
        if known is None:
            columns.append(column)
            continue
        if known.dtype.kind not in "fiub":
            raise NotExportableError(
                f"column {j} must hold numbers to be exported, got categories in words. Encode them with "
                "OrdinalEncoder, or fit the table by 'pellucid fit'."
            )
        # a gap goes where what is not known goes, and onnxruntime 1.31 takes nan for a member of some sets
        columns.append(column.places_in(known, -1).cast(DOUBLE))
    return graph.joined(columns)


def mean_values(trees: PackedTrees, X: Value) -> Value:
    """Return the mean over trees of the numbers at each row's leaves, of shape (rows, numbers)."""
    found = end_nodes(trees, X).entries_of(trees.value.reshape(trees.n_nodes, -1))
    return found.sum(axis=1, keep=False) / float(trees.n_trees)


def end_nodes(trees: PackedTrees, X: Value) -> Value:
    """Return at which node of the pack a row ends, of shape (rows, trees)."""
    leaves = np.flatnonzero(trees.is_leaf)
    return _ensemble(X, **_nodes(trees), **_leaves(trees.tree_of_node[leaves], leaves)).cast(WHOLE)


def summed(trees: PackedTrees, X: Value, n_groups: int = 1, value: Array | None = None) -> Value:
    """Return the sums of one number for each leaf; tree t adds to group ``t % n_groups``. Shape (rows, groups)."""
    leaves = np.flatnonzero(trees.is_leaf)
    weight = (trees.value[:, 0, 0] if value is None else value)[leaves]
    return _ensemble(X, **_nodes(trees), **_leaves(trees.tree_of_node[leaves] % n_groups, weight, n_groups))


def _ensemble(X: Value, **parts: Any) -> Value:
    if X.graph.ml_version < TREES_SINCE:
        return _older_ensemble(X, **parts)
    arrays = ("nodes_modes", "nodes_splits", "leaf_weights", "membership_values")
    held = {name: X.graph.tensor(part) if name in arrays else part for name, part in parts.items()}
    return X.apply("TreeEnsemble", domain=ML, aggregate_function=SUM, post_transform=AS_IT_IS, **held)


def _older_ensemble(X: Value, **parts: Any) -> Value:
    """Return the same by the operator before, whose answers are float of 32 bits: it only counts leaves.

    Nodes that split stand before leaves; every node belongs to the tree whose root leads to it.
    """
    if "membership_values" in parts or len(parts["leaf_weights"]) > MOST_LEAVES:
        raise NotExportableError(
            "trees that split by sets of categories, or have very many leaves, need ai.onnx.ml 5. Use pellucid.to_onnx."
        )
    n, roots = len(parts["nodes_modes"]), np.asarray(parts["tree_roots"])
    sides = [
        np.asarray(parts[f"nodes_{side}nodeids"]) + n * np.asarray(parts[f"nodes_{side}leafs"])
        for side in ("true", "false")
    ]
    tree = np.zeros(n + len(parts["leaf_weights"]), dtype=np.int64)
    level, of = roots, np.arange(len(roots))
    while len(level):
        tree[level] = of
        is_inner = level < n
        level, of = level[is_inner], of[is_inner]
        level, of = np.concatenate([sides[0][level], sides[1][level]]), np.tile(of, 2)
    leaves = np.arange(n, len(tree))
    lone = sides[0] == sides[1]  # a question without a choice: its leaf stands alone
    nodes = np.concatenate([np.flatnonzero(~lone), leaves])
    nodes = nodes[np.argsort(tree[nodes], kind="stable")]

    def column(of_inner: Any, of_leaf: Any) -> list[Any]:
        every = [*of_inner, *([of_leaf] * len(leaves))]
        return [every[node] for node in nodes]

    missing = parts.get("nodes_missing_value_tracks_true", [0] * n)
    counted = X.graph.apply(
        "TreeEnsembleRegressor",
        X,
        dtype=np.dtype(np.float32),
        domain=ML,
        n_targets=len(roots),
        aggregate_function="SUM",
        post_transform="NONE",
        nodes_treeids=tree[nodes].tolist(),
        nodes_nodeids=nodes.tolist(),
        nodes_modes=column([MODE_NAMES[mode] for mode in parts["nodes_modes"].tolist()], "LEAF"),
        nodes_featureids=column(parts["nodes_featureids"], 0),
        nodes_values_as_tensor=X.graph.tensor(np.array(column(parts["nodes_splits"], 0.0))),
        nodes_truenodeids=column(sides[0].tolist(), 0),
        nodes_falsenodeids=column(sides[1].tolist(), 0),
        nodes_missing_value_tracks_true=column(missing, 0),
        target_treeids=tree[leaves].tolist(),
        target_nodeids=leaves.tolist(),
        target_ids=tree[leaves].tolist(),
        target_weights_as_tensor=X.graph.tensor(np.arange(len(leaves), dtype=np.float64)),
    )[0]
    said = counted.cast(WHOLE).entries_of(parts["leaf_weights"])
    groups = parts["n_targets"]
    return said if groups == len(roots) else said.reshape(-1, len(roots) // groups, groups).sum(axis=1, keep=False)


def _leaves(target: Array, weight: Array, n_targets: int | None = None) -> dict[str, Any]:
    return {
        "leaf_targetids": target.tolist(),
        "leaf_weights": weight.astype(np.float64),
        "n_targets": int(target.max()) + 1 if n_targets is None else n_targets,
    }


def _nodes(trees: PackedTrees) -> dict[str, Any]:
    """Return what the operator says of nodes that split; a tree that is one leaf asks a question without a choice."""
    leaf = trees.is_leaf
    among = np.where(leaf, np.cumsum(leaf), np.cumsum(~leaf)) - 1
    inner, left, right = trees.child_nodes()
    lone = trees.starts[:-1][leaf[trees.starts[:-1]]]
    by_set = trees.category_row[inner] != NO_CATEGORIES
    turned = by_set & (trees.missing_go_to_left[inner] == 1)  # the others are listed, so that what is new goes left
    true, false = np.where(turned, right, left), np.where(turned, left, right)
    sets = [
        _members(trees.left_categories[row], bool(swap))
        for row, swap in zip(trees.category_row[inner][by_set], turned[by_set], strict=True)
    ]
    roots = among[trees.starts[:-1]].copy()
    roots[leaf[trees.starts[:-1]]] = len(inner) + np.arange(len(lone))
    found = {
        "tree_roots": roots,
        "nodes_featureids": np.append(trees.feature[inner], np.zeros(len(lone), dtype=np.int64)),
        "nodes_truenodeids": np.append(among[true], among[lone]),
        "nodes_trueleafs": np.append(leaf[true], np.ones(len(lone), dtype=bool)).astype(int),
        "nodes_falsenodeids": np.append(among[false], among[lone]),
        "nodes_falseleafs": np.append(leaf[false], np.ones(len(lone), dtype=bool)).astype(int),
        "nodes_missing_value_tracks_true": np.append(
            np.where(by_set, 0, trees.missing_go_to_left[inner]), np.zeros(len(lone), dtype=np.int64)
        ),
    }
    return {
        **{name: [int(one) for one in part] for name, part in found.items()},
        "nodes_modes": np.append(np.where(by_set, MEMBER, LESS_OR_EQUAL), np.zeros(len(lone))).astype(np.uint8),
        "nodes_splits": np.append(np.where(by_set, 0.0, trees.threshold[inner]), np.zeros(len(lone))),
        **({"membership_values": np.concatenate(sets)} if sets else {}),
    }


def _members(bits: Array, others: bool) -> Array:
    """Return the codes in a bit set, or those that are not, and the NaN that ends them."""
    every = np.arange(WORD * len(bits))
    inside = (bits[every // WORD] >> (every % WORD).astype(np.uint32)) & 1 == 1
    return np.append(every[inside != others].astype(np.float64), np.nan)


def _branches(tree: Any, is_numeric: Array) -> dict[str, Any]:
    """Return a tree of many branches as one of two: is it the first category, the second, ...; if none, stop here.

    Every node of the tree is a leaf of the operator, which says its number.
    """
    by_number = (tree.n_children > 0) & is_numeric[np.maximum(tree.feature, 0)]
    n_questions = np.where(by_number, 1, tree.n_children)
    n_questions[0] = max(1, n_questions[0])  # of a lone leaf without a choice
    first = np.cumsum(n_questions) - n_questions
    rows: list[tuple[int, int, float, int, int, int, int]] = []
    for node in np.flatnonzero(n_questions).tolist():
        column, child = max(int(tree.feature[node]), 0), int(tree.first_child[node])
        reach = [(int(first[k]), 0) if n_questions[k] else (k, 1) for k in range(child, child + tree.n_children[node])]
        if by_number[node]:
            rows.append((LESS_OR_EQUAL, column, float(tree.threshold[node]), *reach[0], *reach[1]))
        elif not reach:
            rows.append((LESS_OR_EQUAL, column, 0.0, node, 1, node, 1))
        for code, place in enumerate(() if by_number[node] else reach):
            after = (node, 1) if code == len(reach) - 1 else (len(rows) + 1, 0)
            rows.append((EQUAL, column, float(code), *place, *after))
    modes, columns, splits, true, true_is_leaf, false, false_is_leaf = zip(*rows, strict=True)
    return {
        "tree_roots": [0],
        "nodes_modes": np.array(modes, dtype=np.uint8),
        "nodes_featureids": columns,
        "nodes_splits": np.array(splits),
        "nodes_truenodeids": true,
        "nodes_trueleafs": true_is_leaf,
        "nodes_falsenodeids": false,
        "nodes_falseleafs": false_is_leaf,
        **_leaves(np.zeros(tree.node_count, dtype=np.int64), np.arange(tree.node_count)),
    }
