r"""Proof of an optimal tree: its cost, recomputed, and that no tree over the same splits costs less than the bound.

Trees of depth two are compared by exhaustive counting: with :math:`A` the matrix of which row lies inside which split,
:math:`A^\top \mathrm{diag}(w_c) A` holds the weight of class :math:`c` inside every pair of splits, and from it come
the errors of all four leaves. Above depth two the thresholds of a column are gone through by halves. A side that gains
rows costs no less: what the left side costs at a lower threshold and the right side at a higher one bounds the cost of
all thresholds between them. Where all this takes too much work, trees with upper splits drawn at random are compared
instead, and the certificate says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import sum_error
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array
from pellucid.tree.optimal_tree_columns import BinnedColumns, binned_columns, category_mask
from pellucid.tree.packed_trees import NO_CATEGORIES, WORD, PackedTrees
from pellucid.tree.plain_walk import rows_of_nodes

MOST_WORK = 1e11
"""Multiplications that ``verify`` spends on the lower bound."""
MOST_SPLITS = 2000
"""Splits of all columns together up to which pairs of them are counted."""
DRAWN_AT_FIT = 8
DRAWN = 1000
"""Trees with upper splits drawn at random that a fit, and ``verify`` where it cannot do all, compares."""


class TooMuchWorkError(Exception):
    """The proof of the lower bound would take too long."""


def prove_optimal_tree(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    names = getattr(fitted, "feature_names_in_", None)
    is_category = category_mask(parameters.categorical_features, data.X, None if names is None else names.tolist())
    columns = binned_columns(data.X, data.weights, is_category, parameters.max_thresholds)
    claims, bound = _claims_of_the_tree(fitted, parameters, data, columns)
    if claims[0].value > 0:
        return Certificate("optimal", claims)
    search = _Search(columns, data, len(data.classes), parameters.leaf_penalty * float(data.weights.sum()))
    goal = fitted.lower_bound_ * search.total - bound * search.total
    try:
        shortfall = goal - search.lower_bound(np.arange(len(data.y)), parameters.max_depth, goal)
    except TooMuchWorkError:
        return Certificate("exact", (*claims, _sampled_claim(search, parameters.max_depth, goal, DRAWN)), TOO_LARGE)
    statement = "by how much, at most, a tree may cost less than lower_bound_, as all splits were gone through"
    return Certificate("optimal", (*claims, Claim("lower bound", statement, max(shortfall, 0.0), 0.0)))


TOO_LARGE = (
    "The tree was recomputed. That no tree is better was checked on a sample only: the whole proof takes too long. "
    "A smaller max_depth or max_thresholds can be proved whole."
)


def spot_check_optimal_tree(
    found: Mapping[str, Any], parameters: Any, data: TrainingData, columns: BinnedColumns
) -> Certificate:
    """Return what a fit measures: its tree recomputed, and a few trees drawn at random compared with its bound."""
    claims, bound = _claims_of_the_tree(SimpleNamespace(**found), parameters, data, columns)
    search = _Search(columns, data, len(data.classes), parameters.leaf_penalty * float(data.weights.sum()))
    goal = (found["lower_bound_"] - bound) * search.total
    return Certificate("optimal", (*claims, _sampled_claim(search, parameters.max_depth, goal, DRAWN_AT_FIT)))


def _claims_of_the_tree(
    fitted: Any, parameters: Any, data: TrainingData, columns: BinnedColumns
) -> tuple[tuple[Claim, ...], float]:
    """Return the claims about the stored tree and its cost, and how far rounding may move a cost, as a share."""
    bound = 16 * sum_error(len(data.y))
    tree = fitted.trees_
    fault = _fault(tree, parameters, data, columns)
    if fault:
        return (Claim("structure", f"whether it is a tree over these splits: {fault}", 1.0, 0.0),), bound
    errors, distance = _recounted(tree, data)
    objective = errors + parameters.leaf_penalty * float(tree.is_leaf.sum())
    distances = [abs(fitted.objective_ - objective), max(fitted.lower_bound_ - fitted.objective_, 0.0)]
    remedy = "Raise time_limit, or lower max_depth or max_thresholds."
    return (
        Claim("structure", "whether it is no tree over these splits", 0.0, 0.0),
        Claim("counts", "distance of the stored counts and shares from those of the rows", distance, bound),
        Claim("objective", "distance of objective_ from its recomputed value", float(np.max(distances)), bound),
        Claim("gap", "objective_ less lower_bound_", fitted.objective_ - fitted.lower_bound_, bound, remedy),
    ), bound


def _fault(tree: Any, parameters: Any, data: TrainingData, columns: BinnedColumns) -> str:
    """Return in words what is wrong with the stored tree, nothing if it is one that the search may return."""
    if type(tree) is not PackedTrees:
        return "it is none"
    fault = tree.fault(data.X.shape[1])
    if fault or tree.n_trees != 1:
        return fault or "there are several"
    if tree.value.shape[1:] != (1, len(data.classes)) or not np.isfinite(tree.value).all():
        return "its values are not shares of the classes"
    if int(tree.depths().max()) > parameters.max_depth or tree.missing_go_to_left.any():
        return "it is too deep, or sends missing values to the left"
    for node in np.flatnonzero(~tree.is_leaf):
        if not _is_candidate(tree, int(node), columns):
            return "a split is none of the candidates"
    return ""


def _is_candidate(tree: PackedTrees, node: int, columns: BinnedColumns) -> bool:
    cuts, row = columns.cuts[tree.feature[node]], tree.category_row[node]
    if (row == NO_CATEGORIES) == columns.is_category[tree.feature[node]]:
        return False
    if row == NO_CATEGORIES:
        return bool(np.isin(tree.threshold[node], cuts))
    bits = [
        WORD * word + bit for word, of in enumerate(tree.left_categories[row]) for bit in range(WORD) if of >> bit & 1
    ]
    return len(bits) == 1 and bits[0] in cuts


def _recounted(tree: PackedTrees, data: TrainingData) -> tuple[float, float]:
    """Return the share of errors of the tree, and how far what it stores is from what the rows say."""
    weight, distances, errors = data.weights, [0.0], 0.0
    total = weight.sum()
    for node, rows in enumerate(rows_of_nodes(tree, data.X)):
        counts = np.array([weight[rows][data.y[rows] == c].sum() for c in range(len(data.classes))])
        if counts.sum() == 0:
            return np.inf, np.inf
        share = counts / counts.sum()
        distances += [
            float(np.abs(tree.value[node, 0] - share).max()),
            abs(float(tree.weighted_n_node_samples[node] - counts.sum())) / total,
            abs(float(tree.impurity[node] - (1.0 - share.max()))),
            abs(float(tree.n_node_samples[node] - len(rows))),
        ]
        if tree.is_leaf[node]:
            errors += float(counts.sum() - counts[np.argmax(tree.value[node, 0])])
    return errors / float(total), float(np.max(distances))


def _sampled_claim(search: _Search, depth: int, goal: float, n_drawn: int) -> Claim:
    rng = np.random.default_rng(len(search.y))
    rows = np.arange(len(search.y))
    cheaper = sum(search.cost_of_drawn(rows, depth, rng) < goal for _ in range(n_drawn))
    statement = (
        f"of {n_drawn:,} trees, upper splits drawn at random and the last ones the best, those that cost less than "
        "lower_bound_"
    )
    return Claim("lower bound", statement, float(cheaper), 0.0)


@dataclass
class _Search:
    """Least costs of trees on some rows, by counting."""

    columns: BinnedColumns
    data: TrainingData
    n_classes: int
    penalty: float
    work: float = 0.0

    def __post_init__(self) -> None:
        self.y, self.weight = self.data.y, self.data.weights
        self.total = float(self.weight.sum())
        self.n_splits = int(self.columns.starts[-1])
        bins = np.concatenate([[0], np.cumsum(self.columns.n_bins)])
        self.places = self.columns.codes + bins[:-1]
        self.bins = bins
        self.inside = self._all_inside() if self.n_splits <= MOST_SPLITS else None

    def _all_inside(self) -> Array:
        """Return which row lies inside which split, as zeros and ones."""
        every = np.arange(len(self.y))
        sizes = np.diff(self.columns.starts).tolist()
        parts = [self.columns.inside(every, j, t) for j, size in enumerate(sizes) for t in range(size)]
        return np.array(parts, dtype=np.float64).reshape(self.n_splits, len(self.y)).T

    def leaf(self, rows: Array) -> float:
        """Return the cost of a leaf."""
        counts = np.bincount(self.y[rows], self.weight[rows], self.n_classes)
        return float(counts.sum() - counts.max()) + self.penalty

    def one(self, rows: Array) -> float:
        """Return the least cost of at most one split: all columns counted at once, then summed along their bins."""
        self._spend(len(rows) * self.places.shape[1])
        keys = self.places[rows] * self.n_classes + self.y[rows, None]
        weights = np.broadcast_to(self.weight[rows, None], keys.shape)
        table = np.bincount(keys.ravel(), weights.ravel(), self.bins[-1] * self.n_classes).reshape(-1, self.n_classes)
        best, whole = self.leaf(rows), np.bincount(self.y[rows], self.weight[rows], self.n_classes)
        for j, is_category in enumerate(self.columns.is_category):
            of = table[self.bins[j] : self.bins[j + 1]]
            inside = of if is_category else np.cumsum(of, axis=0)[:-1]
            if len(inside):
                errors = whole.sum() - inside.max(axis=1) - (whole - inside).max(axis=1)
                best = min(best, float(errors.min()) + 2 * self.penalty)
        return best

    def two(self, rows: Array) -> float:
        """Return the least cost of a tree of depth two, from the weights of the classes inside all pairs of splits."""
        assert self.inside is not None
        self._spend(len(rows) * self.n_splits**2 * self.n_classes)
        inside, n_classes = self.inside[rows], self.n_classes
        weighted = [inside * (self.weight[rows] * (self.y[rows] == c))[:, None] for c in range(n_classes)]
        pairs = [of.T @ inside for of in weighted]
        single = [of.sum(axis=0) for of in weighted]
        whole = [float((self.weight[rows] * (self.y[rows] == c)).sum()) for c in range(n_classes)]
        both = np.maximum.reduce(pairs)
        first = np.maximum.reduce([single[c][:, None] - pairs[c] for c in range(n_classes)])
        second = np.maximum.reduce([single[c][None, :] - pairs[c] for c in range(n_classes)])
        neither = np.maximum.reduce(
            [whole[c] - single[c][:, None] - single[c][None, :] + pairs[c] for c in range(n_classes)]
        )
        count = sum(single)
        left = _with_leaf(count, (both + first).max(axis=1), np.maximum.reduce(single), self.penalty)
        outside = [whole[c] - single[c] for c in range(n_classes)]
        right = _with_leaf(sum(outside), (second + neither).max(axis=1), np.maximum.reduce(outside), self.penalty)
        return min(self.leaf(rows), float((left + right).min()))

    def lower_bound(self, rows: Array, depth: int, goal: float) -> float:
        """Return the least cost of a tree of this depth, or something between the goal and it."""
        leaf = self.leaf(rows)
        if depth == 0 or leaf <= self.penalty or self.penalty >= goal:
            return leaf if depth == 0 else self.penalty
        if depth == 1:
            return self.one(rows)
        if depth == 2 and self.inside is not None:
            return self.two(rows)
        least = min(leaf, goal)
        for j, is_category in enumerate(self.columns.is_category):
            used = np.unique(self.columns.codes[rows, j])
            if is_category:
                for cut in used.tolist():
                    least = min(least, self._split_bound(rows, j, cut, depth, goal))
            elif len(used) > 1:
                least = min(least, self._column_bound(rows, j, used[:-1], depth, goal))
        return least

    def _split_bound(self, rows: Array, j: int, cut: int, depth: int, goal: float) -> float:
        inside = self.columns.inside(rows, j, cut)
        if inside.all():
            return np.inf
        left = self.lower_bound(rows[inside], depth - 1, goal - self.penalty)
        if left + self.penalty >= goal:
            return left + self.penalty
        return left + self.lower_bound(rows[~inside], depth - 1, goal - left)

    def _column_bound(self, rows: Array, j: int, cuts: Array, depth: int, goal: float) -> float:
        """Return a lower bound over all thresholds of a column, their range halved until no part may reach the goal."""
        least, waiting = np.inf, [(0, len(cuts), self.penalty, self.penalty)]
        while waiting:
            start, stop, below, above = waiting.pop()  # what the left side costs before, the right side after
            if start >= stop:
                continue
            if below + above >= goal:
                least = min(least, below + above)
                continue
            middle = (start + stop) // 2
            inside = self.columns.inside(rows, j, int(cuts[middle]))
            left = self.lower_bound(rows[inside], depth - 1, goal - self.penalty)
            right = self.lower_bound(rows[~inside], depth - 1, goal - self.penalty)
            least = min(least, left + right)
            waiting += [(start, middle, below, max(right, above)), (middle + 1, stop, max(left, below), above)]
        return least

    def cost_of_drawn(self, rows: Array, depth: int, rng: np.random.Generator) -> float:
        """Return the least cost of the trees whose upper splits are drawn at random."""
        if depth == 0:
            return self.leaf(rows)
        if depth == 1:
            return self.one(rows)
        j = int(rng.integers(len(self.columns.cuts)))
        if len(self.columns.cuts[j]) == 0:
            return self.leaf(rows)
        inside = self.columns.inside(rows, j, int(rng.integers(len(self.columns.cuts[j]))))
        if inside.all() or not inside.any():
            return self.cost_of_drawn(rows, depth - 1, rng)
        return self.cost_of_drawn(rows[inside], depth - 1, rng) + self.cost_of_drawn(rows[~inside], depth - 1, rng)

    def _spend(self, work: float) -> None:
        self.work += work
        if self.work > MOST_WORK:
            raise TooMuchWorkError


def _with_leaf(count: Any, right_of_two: Array, right_of_one: Array, penalty: float) -> Array:
    """Return the cost of a side: one more split or a leaf, whichever is less; infinity where there are no rows."""
    cost = np.minimum(count - right_of_two + 2 * penalty, count - right_of_one + penalty)
    return np.where(count > 0, cost, np.inf)
