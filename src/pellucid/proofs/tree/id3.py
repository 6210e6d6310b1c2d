r"""Proof of an ID3 tree: each node was split as the rule says, by scores recomputed in another form.

A node of class weights :math:`c_1, \dots, c_K`, together :math:`W`, has the entropy
:math:`\log_2 W - \frac{1}{W} \sum_k c_k \log_2 c_k`. Sums are right up to ``sum_error``, and an impurity up to a few
times that. Of splits whose scores differ by no more the first is the best; a node is wrong only where no rounding
explains its split.

Of a tree that rows held back have pruned, every split must get more of them right than a leaf in its place. A leaf that
could be split must get as many right as the branches would: the next split where splits are refused as the tree grows,
or all of the tree that the rule grows below it where it is cut afterwards. That tree is grown again here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from pellucid.proofs.arrays import Array, column_values
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import drawn, is_fitting, most_wrong
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

NO_SPLIT, NO_CHILD = -2, -1
"""Feature and threshold of a leaf, and its first child."""
MANY = 20
"""More different whole numbers than these are measurements, not categories."""
AT_FIT = 16
"""Nodes that a fit replays."""
AT_VERIFY = 2000
"""Nodes that ``verify`` replays; of a larger tree about that many, on the ways of rows drawn at random."""
ALWAYS_LEVELS = 1
"""Questions above the nodes that are always replayed."""
ROUNDINGS = 8.0
"""Roundings of a score in units of those of a sum."""


def prove_id3(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    fault = _tree_fault(fitted.tree_, data.X.shape[1], len(data.classes)) or _category_fault(fitted, parameters, data)
    if fault:
        structure = Claim("structure", f"whether it is a tree over these columns: {fault}", 1.0, 0.0)
        return Certificate("replayed", (structure,))
    rows = _answers(data.X, fitted.categories_)
    most = AT_FIT if is_fitting() else AT_VERIFY
    return _replay(fitted.tree_, rows, fitted.categories_, parameters, data, most)


def _replay(
    tree: Any, rows: list[Array], categories: Sequence[Array], parameters: Seen, data: TrainingData, most: int
) -> Certificate:
    n_nodes, weight, searched = len(tree.feature), data.weights, 0
    held = _held_rows(parameters, data)
    kept = _kept_branches(tree, rows, data.y, weight, held)
    n_ways = max(1, most // (1 + _max_depth(tree)))
    is_asked = np.zeros(len(data.y), dtype=bool)
    is_asked[drawn(len(data.y), n_ways)] = True
    wrong, farthest, faults = 0, 0.0, 0
    for node in _nodes_with_rows(tree, rows, data.y, weight, held):
        farthest = float(np.max([farthest, _distance(tree, node)]))
        faults += int(_is_misshapen(tree, node, categories))
        if _must_end(node, parameters):
            wrong += int(tree.feature[node.number] != NO_SPLIT)
        elif n_nodes <= most or node.depth <= ALWAYS_LEVELS or is_asked[node.rows].any():
            searched += 1
            splits = _all_splits(node, rows, categories, parameters, data.y, weight)
            if parameters.pruning is None or tree.feature[node.number] != NO_SPLIT:
                is_wrong = not _is_as_the_rule_says(tree, node, splits, parameters)
            else:
                is_wrong = _would_pay(node, splits, rows, categories, parameters, data.y, weight)
            wrong += int(is_wrong or not kept[node.number])
    remark = (
        f"{searched:,} of {n_nodes:,} nodes were searched again, all on the way of {n_ways:,} drawn row(s) among "
        f"them: if none is wrong, at most {most_wrong(n_ways):.2%} of the rows pass a wrong one, at 99 % confidence."
    )
    bound = sum_error(len(data.y))
    claims: tuple[Claim, ...] = (
        Claim("structure", "nodes that ask again for a column of categories, or lack a branch", float(faults), 0.0),
        Claim("class weights", "distance from the weight of the rows, in that of the node", farthest, bound),
        Claim("splits", f"nodes not split as the rule says, {searched:,} of them searched again", float(wrong), 0.0),
    )
    if parameters.pruning is not None:
        unpaid = float(np.sum(~kept))
        claims += (Claim("pruning", "splits that get no more of the validation rows right than a leaf", unpaid, 0.0),)
    return Certificate("replayed", claims, "" if n_nodes <= most else remark)


@dataclass(frozen=True)
class _ReplayedNode:
    """A node with its rows, the questions before it and the columns of categories that they used."""

    number: int
    rows: Array
    depth: int
    used: frozenset[int]
    value: Array
    """The weight of each class in it; where there is none, in its parent."""
    held: Array
    """Rows held back for pruning that come to it."""


def _nodes_with_rows(tree: Any, rows: list[Array], y: Array, weight: Array, held: Array) -> Iterator[_ReplayedNode]:
    """Yield the nodes in order, with the training rows that come to them."""
    waiting = {0: _root(y, weight, held, tree.value.shape[1])}
    for number in range(len(tree.feature)):
        node = waiting.pop(number)
        yield node
        if tree.feature[number] != NO_SPLIT:
            split = int(tree.feature[number]), float(tree.threshold[number])
            first = int(tree.first_child[number])
            children = _parts(node, *split, int(tree.n_children[number]), rows, y, weight, first)
            waiting |= {child.number: child for child in children}


def _root(y: Array, weight: Array, held: Array, n_classes: int) -> _ReplayedNode:
    own = np.setdiff1d(np.arange(len(y)), held)
    return _ReplayedNode(0, own, 0, frozenset(), _class_weights(y[own], weight[own], n_classes), held)


def _parts(
    node: _ReplayedNode, j: int, threshold: float, n: int, rows: list[Array], y: Array, weight: Array, first: int = 0
) -> list[_ReplayedNode]:
    """Return the nodes that a split makes of one, numbered from the first."""
    is_numeric = rows[j].dtype.kind == "f"
    own, held = (
        (rows[j][some] > threshold).astype(int) if is_numeric else rows[j][some] for some in (node.rows, node.held)
    )
    used = node.used if is_numeric else node.used | {j}
    found = []
    for t in range(n):
        part = node.rows[own == t]
        value = _class_weights(y[part], weight[part], len(node.value)) if len(part) else node.value
        found.append(_ReplayedNode(first + t, part, node.depth + 1, used, value, node.held[held == t]))
    return found


def _held_rows(parameters: Seen, data: TrainingData) -> Array:
    """Return the rows that were held back: those named, or the last ones of a share."""
    if parameters.pruning is None:
        return np.empty(0, dtype=np.intp)
    n = data.n_given
    if np.ndim(parameters.validation):
        return data.places(np.unique(np.asarray(parameters.validation, dtype=np.intp)))
    return data.places(np.arange(n - max(1, round(parameters.validation * n)), n))


def _right(node: _ReplayedNode, y: Array, weight: Array) -> float:
    """Return the weight of the held rows that a node gets right as a leaf; of tied classes the first counts."""
    said = int(np.flatnonzero(node.value == node.value.max())[0])
    return float(weight[node.held][y[node.held] == said].sum())


def _slack(weight: Array, held: Array) -> float:
    """Return by how much two sums of the weights of held rows may differ and be equal."""
    return 8.0 * sum_error(len(held)) * float(weight[held].sum())


def _kept_branches(tree: Any, rows: list[Array], y: Array, weight: Array, held: Array) -> Array:
    """Return of each node whether it is a leaf, or its branch gets more of the held rows right than a leaf would."""
    n, is_right = len(tree.feature), np.ones(len(tree.feature), dtype=bool)
    if len(held) == 0:
        return is_right
    as_leaf = np.array([_right(node, y, weight) for node in _nodes_with_rows(tree, rows, y, weight, held)])
    branch = as_leaf.copy()
    for v in range(n - 1, -1, -1):
        if tree.feature[v] != NO_SPLIT:
            branch[v] = branch[tree.first_child[v] : tree.first_child[v] + tree.n_children[v]].sum()
            is_right[v] = branch[v] > as_leaf[v]
    return is_right


def _would_pay(
    node: _ReplayedNode,
    found: _Splits,
    rows: list[Array],
    categories: Sequence[Array],
    parameters: Seen,
    y: Array,
    weight: Array,
) -> bool:
    """Return whether a leaf should have been split: the rule has a split, and more held rows come out right."""
    best = _first_best(found, parameters)
    if best is None:
        return False
    children = _parts(node, *best, len(categories[best[0]]) or 2, rows, y, weight)
    if parameters.pruning == "pre":
        right = sum(_right(child, y, weight) for child in children)
    else:
        right = sum(_best_right(child, rows, categories, parameters, y, weight) for child in children)
    return bool(right > _right(node, y, weight) + _slack(weight, node.held))


def _first_best(found: _Splits, parameters: Seen) -> tuple[int, float] | None:
    """Return column and threshold of the split that the rule takes."""
    if len(found.score) == 0:
        return None
    place = int(np.argmax(found.score + found.doubt / 2 >= np.max(found.score - found.doubt / 2)))
    is_enough = found.score[place] + found.doubt[place] >= parameters.min_gain
    return (int(found.column[place]), float(found.threshold[place])) if is_enough else None


def _best_right(
    node: _ReplayedNode, rows: list[Array], categories: Sequence[Array], parameters: Seen, y: Array, weight: Array
) -> float:
    """Return the weight of held rows that the tree grown below a node gets right, its branches cut where that is best.

    A branch is cut unless it gets more right, so what is left has the larger of both numbers.
    """
    as_leaf = _right(node, y, weight)
    if len(node.held) == 0 or _must_end(node, parameters):
        return as_leaf
    best = _first_best(_all_splits(node, rows, categories, parameters, y, weight), parameters)
    if best is None:
        return as_leaf
    children = _parts(node, *best, len(categories[best[0]]) or 2, rows, y, weight)
    return max(as_leaf, sum(_best_right(child, rows, categories, parameters, y, weight) for child in children))


def _class_weights(y: Array, weight: Array, n_classes: int) -> Array:
    return np.array([weight[y == k].sum() for k in range(n_classes)])


def _distance(tree: Any, node: _ReplayedNode) -> float:
    total = node.value.sum()
    weight = total if len(node.rows) else 0.0
    distances = [*np.abs(tree.value[node.number] - node.value), abs(tree.weight[node.number] - weight)]
    return float(np.max(distances) / total)


def _is_misshapen(tree: Any, node: _ReplayedNode, categories: Sequence[Array]) -> bool:
    """Return whether a node asks again for a column of categories, or has not one branch for each answer."""
    j = int(tree.feature[node.number])
    return j != NO_SPLIT and (j in node.used or tree.n_children[node.number] != (len(categories[j]) or 2))


def _is_as_the_rule_says(tree: Any, node: _ReplayedNode, found: _Splits, parameters: Seen) -> bool:
    """Return whether a node is split where it must be, and by the first of the best candidates."""
    j = int(tree.feature[node.number])
    if j == NO_SPLIT:
        return len(found.score) == 0 or float(np.max(found.score - 2 * found.doubt)) < parameters.min_gain
    own = np.flatnonzero((found.column == j) & (found.threshold == tree.threshold[node.number]))
    if len(own) == 0:
        return False
    mine = own[0]
    highest = found.score[mine] + 2 * found.doubt[mine]
    is_best = highest >= parameters.min_gain and highest >= np.max(found.score - 2 * found.doubt)
    earlier = found.score[:mine] + found.doubt[:mine] / 2
    return bool(is_best and not np.any(earlier >= np.max(found.score - found.doubt / 2)))


def _must_end(node: _ReplayedNode, parameters: Seen) -> bool:
    is_deep = parameters.max_depth is not None and node.depth >= parameters.max_depth
    is_small = parameters.min_samples_split > 2 and not _reaches(node.value.sum(), parameters.min_samples_split)
    return len(node.rows) == 0 or int(np.sum(node.value > 0)) < 2 or is_deep or is_small


@dataclass(frozen=True)
class _Splits:
    """Splits with their scores, and what rounding may have changed of these."""

    column: Array
    threshold: Array
    score: Array
    doubt: Array


def _all_splits(
    node: _ReplayedNode, rows: list[Array], categories: Sequence[Array], parameters: Seen, y: Array, weight: Array
) -> _Splits:
    """Return every split that the rule may choose from, in the order in which it prefers equals."""
    labels, counted, n_classes = y[node.rows], weight[node.rows], len(node.value)
    parts = [(np.empty(0, dtype=int), np.empty(0), np.empty(0), np.empty(0))]
    for j, known in enumerate(categories):
        if j in node.used:
            continue
        if len(known):
            codes = rows[j][node.rows]
            members = [codes == t for t in range(len(known))]
            tables = np.array([[_class_weights(labels[own], counted[own], n_classes) for own in members]])
            thresholds = np.array([float(NO_SPLIT)])
        else:
            thresholds, tables = _cuts(rows[j][node.rows], labels, counted, node.value)
        allowed = _have_enough(tables, parameters)
        score, doubt = _scores(tables[allowed], node, parameters)
        parts.append((np.full(len(score), j), thresholds[allowed], score, doubt))
    return _Splits(*map(np.concatenate, zip(*parts, strict=True)))


def _cuts(values: Array, labels: Array, weight: Array, value: Array) -> tuple[Array, Array]:
    """Return all thresholds half way between different values, and the class weights on both sides of each."""
    different = np.unique(values)
    halves = (different[1:] - different[:-1]) / 2 + different[:-1]
    halves = np.where(halves < different[1:], halves, different[:-1])
    below = np.zeros((len(halves), len(value)))
    for k in range(len(value)):
        order = np.argsort(values[labels == k], kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(weight[labels == k][order])])
        below[:, k] = sums[np.searchsorted(values[labels == k][order], halves, side="right")]
    return halves, np.stack([below, np.maximum(value - below, 0.0)], axis=1)


def _have_enough(tables: Array, parameters: Seen) -> Array:
    """Return whether at least two branches of each split hold rows, and enough of them."""
    branches = tables.sum(axis=2)
    is_large = branches > 0
    if parameters.min_samples_leaf > 1:
        is_large &= _reaches(branches, parameters.min_samples_leaf)
    return np.asarray(is_large.sum(axis=1) >= 2)


def _scores(tables: Array, node: _ReplayedNode, parameters: Seen) -> tuple[Array, Array]:
    """Return how much each split lowers the impurity, and by how much rounding may have changed that."""
    impurity, branches = IMPURITIES[parameters.criterion], tables.sum(axis=2)
    gain = impurity(node.value) - (branches * impurity(tables)).sum(axis=1) / node.value.sum()
    doubt = ROUNDINGS * sum_error(len(node.rows)) * (1.0 + np.log2(len(node.value)))
    split = _entropy(branches) if parameters.criterion == "gain_ratio" else np.ones(len(gain))
    return gain / split, doubt / split


def _reaches(weight: Any, least: float) -> Any:
    return weight >= least * (1.0 - 1e-9)


def _entropy(weights: Array) -> Array:
    total = np.maximum(weights.sum(axis=-1), TINY)
    return np.asarray((np.log(total) - xlogy(weights, weights).sum(axis=-1) / total) / np.log(2.0))


def _gini(weights: Array) -> Array:
    """Return the share of ordered pairs of rows that are of different classes."""
    total = np.maximum(weights.sum(axis=-1), TINY)
    return np.asarray(np.sum(weights * (total[..., None] - weights), axis=-1) / total / total)


def _error(weights: Array) -> Array:
    total = weights.sum(axis=-1)
    return np.asarray((total - weights.max(axis=-1)) / np.maximum(total, TINY))


IMPURITIES = {"gain": _entropy, "gain_ratio": _entropy, "gini": _gini, "error": _error}


def _answers(X: Array, categories: Sequence[Array]) -> list[Array]:
    """Return of each column the numbers, or where each value stands among the categories."""
    columns = [column_values(X, j) for j in range(X.shape[1])]
    return [np.searchsorted(known, x) if len(known) else x for x, known in zip(columns, categories, strict=True)]


def _max_depth(tree: Any) -> int:
    depth = np.zeros(len(tree.feature), dtype=np.int64)
    for v in np.flatnonzero(tree.feature != NO_SPLIT):
        depth[tree.first_child[v] : tree.first_child[v] + tree.n_children[v]] = depth[v] + 1
    return int(depth.max())


def _tree_fault(tree: Any, n_features: int, n_classes: int) -> str:
    """Return in words what makes the arrays no tree; nothing if they are one.

    Where the children of each node that splits follow those of the one before, behind their parent, and the last is
    the last node, every node is reached once.
    """
    n, whole = len(tree.feature), (tree.feature, tree.first_child, tree.n_children)
    numbers = (tree.threshold, tree.weight, tree.value.ravel())
    if n == 0 or any(part.shape != (n,) for part in (*whole, *numbers[:2])) or tree.value.shape != (n, n_classes):
        return "its arrays have different lengths"
    if not all(np.isfinite(part).all() for part in numbers) or min(part.min() for part in numbers[1:]) < 0:
        return "a weight is negative or not finite"
    leaf = tree.feature == NO_SPLIT
    if np.any(~leaf & ((tree.feature < 0) | (tree.feature >= n_features))):
        return "a node asks for a column that is not there"
    if np.any((tree.first_child == NO_CHILD) != leaf) or np.any((tree.n_children == 0) != leaf):
        return "a leaf has children, or a split has none"
    if np.any(tree.threshold[leaf] != NO_SPLIT) or np.any(tree.n_children < 0) or np.any(tree.n_children > n):
        return "a leaf has a threshold, or a node has more children than there are nodes"
    ends = 1 + np.cumsum(tree.n_children[~leaf], dtype=np.int64)
    if np.any(tree.first_child[~leaf] != np.concatenate([[1], ends])[:-1]) or np.append(1, ends)[-1] != n:
        return "children do not follow the children of the node before, or a node is not reached"
    return "a child stands before its parent" if np.any(tree.first_child[~leaf] <= np.flatnonzero(~leaf)) else ""


def _is_numeric(wanted: Any, column: Array, names: tuple[Any, ...]) -> bool:
    """Return whether a column, by number or name, is split by threshold: as is said, or where numbers are measured."""
    if isinstance(wanted, str):
        is_measured = column.dtype.kind == "f" and (np.any(column % 1.0 != 0.0) or len(np.unique(column)) > MANY)
        return bool(wanted == "auto" and is_measured)
    return any(name in wanted for name in names)


def _category_fault(fitted: Seen, parameters: Seen, data: TrainingData) -> str:
    """Return in words what is wrong with the stored categories; nothing if they are those of the columns."""
    if len(fitted.categories_) != data.X.shape[1]:
        return "there are categories for another number of columns"
    columns = [column_values(data.X, j) for j in range(data.X.shape[1])]
    names = getattr(fitted, "feature_names_in_", None)
    for j, (column, known) in enumerate(zip(columns, fitted.categories_, strict=True)):
        called = (j,) if names is None else (j, names[j])
        right = np.empty(0) if _is_numeric(parameters.numeric, column, called) else np.unique(column)
        if known.dtype.kind != right.dtype.kind or not np.array_equal(known, right):
            return "the categories are not those of the columns"
    return ""


PROVES = {"ID3Classifier": prove_id3}
