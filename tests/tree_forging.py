"""Forged models made of trees or of members: what somebody would change who knows how they are built.

Counts, values and impurities are kept right wherever that is easy, so that what is left to notice is the change itself.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.tree.packed_trees import PackedTrees, join_trees, rows_of_nodes
from pellucid.tree.pruning.cost_complexity import without_branches

Forged = Iterator[tuple[str, str, Any]]
"""The kind of change, what was changed, and the changed model."""

MEMBERS = ("estimators_", "members_")


def forged_trees(model: Any, X: Any, rng: np.random.Generator) -> Forged:
    """Yield forged copies of a model that holds trees, or members, and nothing for any other."""
    if isinstance(getattr(model, "trees_", None), PackedTrees):
        yield from _dropped_trees(model)
        for kind, word, trees in forged_packs(model.trees_, X, rng):
            yield kind, word, _with(model, trees_=trees)
    name = next((name for name in MEMBERS if isinstance(vars(model).get(name), list)), None)
    if name is not None:
        yield from _forged_members(model, name, X, rng)


def forged_packs(trees: PackedTrees, X: Any, rng: np.random.Generator) -> Iterator[tuple[str, str, PackedTrees]]:
    """Yield packs with one tree changed: the last one, as rounds after it would notice more, and one drawn."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X)
    for t in sorted({trees.n_trees - 1, int(rng.integers(trees.n_trees))}):
        for kind, word, tree in _forged_tree(trees.tree(t), X, rng):
            yield kind, f"tree {t}: {word}", _in_place_of(trees, t, tree)


def _forged_tree(tree: PackedTrees, X: Array, rng: np.random.Generator) -> Iterator[tuple[str, str, PackedTrees]]:
    inner = np.flatnonzero(~tree.is_leaf)
    if not len(inner):
        return
    heavy = inner[inner > 0]
    if len(heavy):
        v = int(heavy[np.argmax(tree.n_node_samples[heavy])])
        yield "leaf in place of a branch", f"node {v}", _as_leaf(tree, v)
        v = int(rng.choice(heavy))
        yield "leaf in place of a branch", f"node {v}", _as_leaf(tree, v)
    for v in sorted({0, int(rng.choice(inner))}):
        moved = _moved_threshold(tree, v, X, rng)
        if moved is not None:
            yield "threshold moved within its gap", f"node {v}", moved
    leaves = np.flatnonzero(tree.is_leaf)
    v = int(leaves[np.argmin(tree.n_node_samples[leaves])])
    value = tree.value.copy()
    value[v] = np.roll(value[v], 1, axis=1) if value.shape[2] > 1 else 1.1 * value[v] + 0.1
    yield "leaf that few rows reach", f"node {v}", replace(tree, value=value)
    left, right = tree.children_left.copy(), tree.children_right.copy()
    left[0], right[0] = tree.children_right[0], tree.children_left[0]
    yield "children exchanged", "at the root", replace(tree, children_left=left, children_right=right)


def _as_leaf(tree: PackedTrees, v: int) -> PackedTrees:
    """Return the tree with a leaf in place of a branch; what boosting keeps at leaves alone is the mean of theirs."""
    is_cut = tree.is_leaf.copy()
    is_cut[v] = True
    if not tree.value[v].any() and not tree.impurity.any():
        below = [u for u in range(v, tree.n_nodes) if tree.is_leaf[u] and _is_above(tree, v, u)]
        value = tree.value.copy()
        value[v] = np.average(tree.value[below], axis=0, weights=np.maximum(tree.n_node_samples[below], 1))
        tree = replace(tree, value=value)
    return without_branches(tree, is_cut)


def _is_above(tree: PackedTrees, v: int, u: int) -> bool:
    parents = tree.parents()
    while u > v:
        u = int(parents[u])
    return u == v


def _moved_threshold(tree: PackedTrees, v: int, X: Array, rng: np.random.Generator) -> PackedTrees | None:
    """Return the tree with a threshold elsewhere between the same two values."""
    rows = rows_of_nodes(tree, X)[v]
    x = X[rows, tree.feature[v]]
    x = x[~np.isnan(x)]
    low, high = x[x <= tree.threshold[v]], x[x > tree.threshold[v]]
    if tree.category_row[v] >= 0 or not len(low) or not len(high):
        return None
    gap = high.min() - low.max()
    place = low.max() + rng.uniform(0.05, 0.95) * gap
    if abs(place - tree.threshold[v]) < 0.02 * gap or not low.max() <= place < high.min():
        place = low.max() + 0.25 * gap
    threshold = tree.threshold.copy()
    threshold[v] = place
    return replace(tree, threshold=threshold)


def _in_place_of(trees: PackedTrees, t: int, tree: PackedTrees) -> PackedTrees:
    return join_trees([tree if k == t else trees.tree(k) for k in range(trees.n_trees)])


def _dropped_trees(model: Any) -> Forged:
    """Yield the model without some of its last trees, all counts of them set right."""
    k = getattr(model, "n_trees_per_iteration_", 1)
    n_rounds = model.trees_.n_trees // k
    for kept in sorted({1, n_rounds // 2, n_rounds - 1} - {0, n_rounds}):
        forged = _with(model, trees_=join_trees([model.trees_.part(0, kept * k)]))
        for name in ("seeds_",):
            if getattr(model, name, None) is not None:
                setattr(forged, name, getattr(model, name)[:kept])
        if hasattr(model, "n_iter_"):
            forged.n_iter_ = kept
            for name in ("train_score_", "validation_score_"):
                setattr(forged, name, getattr(model, name)[: kept + 1])
        if hasattr(model, "estimator_weights_"):
            weights, errors = model.estimator_weights_.copy(), model.estimator_errors_.copy()
            weights[kept:], errors[kept:] = 0.0, 1.0
            forged.estimator_weights_, forged.estimator_errors_ = weights, errors
        yield "parts dropped", f"{kept} of {n_rounds} kept", forged


def _forged_members(model: Any, name: str, X: Any, rng: np.random.Generator) -> Forged:
    members = getattr(model, name)
    names = ("seeds_", "estimators_features_", "weights_")
    beside = [part for part in names if vars(model).get(part) is not None]
    if len(members) > 1:
        forged = _with(model, **{name: members[:-1]}, **{part: getattr(model, part)[:-1] for part in beside})
        if "weights_" in beside:
            forged.weights_ = forged.weights_ / forged.weights_.sum()
        if hasattr(model, "estimator_weights_"):
            weights, errors = model.estimator_weights_.copy(), model.estimator_errors_.copy()
            weights[len(members) - 1 :], errors[len(members) - 1 :] = 0.0, 1.0
            forged.estimator_weights_, forged.estimator_errors_ = weights, errors
        yield "parts dropped", f"the last of {len(members)} members", forged
        yield "members permuted", "first and last", _with(model, **{name: [members[-1], *members[1:-1], members[0]]})
    place = int(rng.integers(len(members)))
    columns = getattr(model, "estimators_features_", None)
    seen = X if columns is None else X[:, columns[place]]
    for kind, word, member in forged_trees(members[place], seen, rng):
        others = [member if k == place else one for k, one in enumerate(members)]
        yield kind, f"member {place}: {word}", _with(model, **{name: others})


def _with(model: Any, **attributes: Any) -> Any:
    forged = copy.copy(model)
    for name, value in attributes.items():
        setattr(forged, name, value)
    return forged
