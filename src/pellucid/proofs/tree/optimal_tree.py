r"""Proof of an optimal tree: its cost, recomputed, and that no tree over the same splits costs less than the bound.

Trees of depth two are compared by exhaustive counting: with :math:`A` the matrix of which row lies inside which split,
:math:`A^\top \mathrm{diag}(w_c) A` holds the weight of class :math:`c` inside every pair of splits, and from it come
the errors of all four leaves. Above depth two the thresholds of a column are gone through, those first that may cost
least. A side that gains rows costs no less, and one that loses rows costs less by at most their weight: so what is
found for one threshold bounds all others. Where all this takes too much work, trees with upper splits drawn at random
are compared instead, and the certificate says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import draws, is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.trees import NO_CATEGORIES, WORD, TreeArrays, fault_of_trees, places_at

MOST_WORK, WORK_AT_FIT = 5e11, 1e8
"""Multiplications that ``verify``, and that a fit, spends on the lower bound."""
MOST_SPLITS = 2000
"""Splits of all columns together up to which pairs of them are counted."""
DRAWN_AT_FIT = 8
DRAWN = 1000
"""Trees with upper splits drawn at random that a fit, and ``verify`` where it cannot do all, compares."""


class TooMuchWorkError(Exception):
    """The proof of the lower bound would take too long."""


def prove_optimal_tree(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    names = getattr(fitted, "feature_names_in_", None)
    columns = split_columns(data, parameters, None if names is None else names.tolist())
    claims, bound = _claims_of_the_tree(fitted, parameters, data, columns)
    if claims[0].value > 0:
        return Certificate("optimal", claims)
    price, most_work = parameters.leaf_penalty * float(data.weights.sum()), WORK_AT_FIT if is_fitting() else MOST_WORK
    search = _SplitSearch(columns, data, len(data.classes), price, most_work=most_work)
    goal = fitted.lower_bound_ * search.total - bound * search.total
    try:
        shortfall = goal - search.lower_bound(np.arange(len(data.y)), parameters.max_depth, goal)
    except TooMuchWorkError:
        n_drawn, reason = (DRAWN_AT_FIT, AT_VERIFY) if is_fitting() else (DRAWN, TOO_LARGE)
        return Certificate("bounded", (*claims, _sampled_claim(search, parameters.max_depth, goal, n_drawn)), reason)
    return Certificate("optimal", (*claims, _whole_claim(shortfall)))


@dataclass(frozen=True)
class SplitColumns:
    """Of each column the splits that a tree may use: after each of its thresholds, or one category against the others.

    ``codes`` say for each row and column which bin between the thresholds, or which category, it is in.
    """

    codes: Array
    cuts: tuple[Array, ...]
    is_category: Array

    @property
    def n_bins(self) -> list[int]:
        """Bins, or categories, of each column."""
        return [len(cuts) + (not of) for cuts, of in zip(self.cuts, self.is_category, strict=True)]

    def inside(self, rows: Array, j: int, split: int) -> Array:
        """Return which of the rows go left: up to the threshold, or of the category."""
        return np.asarray(self.codes[rows, j] == split if self.is_category[j] else self.codes[rows, j] <= split)


def split_columns(data: TrainingData, parameters: Seen, names: list[str] | None) -> SplitColumns:
    """Return the splits that follow from data and parameters.

    Thresholds lie half way between neighboring values. If there are more than ``max_thresholds`` in a column, those
    next to evenly spaced shares of the weight are taken.
    """
    X, weight, most = np.asarray(data.X, dtype=np.float64), data.weights, parameters.max_thresholds
    named = {} if parameters.categorical_features is None else set(parameters.categorical_features)
    is_category = np.array([j in named or bool(names and names[j] in named) for j in range(X.shape[1])])
    cuts = []
    for column, of in zip(X.T, is_category, strict=True):
        order = np.argsort(column, kind="stable")
        last = np.append(np.flatnonzero(np.diff(column[order])), len(order) - 1)  # of each value
        values = column[order[last]]
        half = values[:-1] + np.diff(values) / 2
        half = np.where(half < values[1:], half, values[:-1])  # rounding must not lift it to the next value
        if not of and most is not None and len(half) > most:
            below = np.cumsum(weight[order])[last]
            near = np.searchsorted(below[:-1], below[-1] * np.arange(1, most + 1) / (most + 1) * (1.0 - 1e-12))
            half = half[np.unique(np.minimum(near, len(half) - 1))]
        cuts.append(values if of else half)
    codes = [np.searchsorted(own, column) for own, column in zip(cuts, X.T, strict=True)]
    return SplitColumns(np.column_stack(codes).astype(np.int32), tuple(cuts), is_category)


def _whole_claim(shortfall: float) -> Claim:
    statement = "by how much, at most, a tree may cost less than lower_bound_, as all splits were gone through"
    return Claim("lower bound", statement, max(shortfall, 0.0), 0.0)


AT_VERIFY = "lower_bound_ is what the search found; it was compared with a few trees. verify goes through all of them."
TOO_LARGE = (
    "The tree was recomputed. That no tree is better was checked on a sample only: the whole proof takes too long. "
    "A smaller max_depth or max_thresholds can be proved whole."
)


def _claims_of_the_tree(
    fitted: Seen, parameters: Seen, data: TrainingData, columns: SplitColumns
) -> tuple[tuple[Claim, ...], float]:
    """Return the claims about the stored tree and its cost, and how far rounding may move a cost, as a share."""
    bound = 16 * sum_error(len(data.y))
    tree = fitted.trees_
    fault = _fault(tree, parameters, data, columns)
    if fault:
        return (Claim("structure", f"whether it is a tree over these splits: {fault}", 1.0, 0.0),), bound
    tree = TreeArrays.of(tree)
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


def _fault(tree: Any, parameters: Seen, data: TrainingData, columns: SplitColumns) -> str:
    """Return in words what is wrong with the stored tree, nothing if it is one that the search may return."""
    fault = fault_of_trees(tree, data.X.shape[1])
    if fault or len(tree.starts) != 2:
        return fault or "there are several"
    tree = TreeArrays.of(tree)
    if tree.value.shape[1:] != (1, len(data.classes)) or not np.isfinite(tree.value).all():
        return "its values are not shares of the classes"
    if int(tree.depth.max()) > parameters.max_depth or tree.missing_go_to_left.any():
        return "it is too deep, or sends missing values to the left"
    for node in np.flatnonzero(~tree.is_leaf):
        if not _is_candidate(tree, int(node), columns):
            return "a split is none of the candidates"
    return ""


def _is_candidate(tree: TreeArrays, node: int, columns: SplitColumns) -> bool:
    cuts, row = columns.cuts[tree.feature[node]], tree.category_row[node]
    if (row == NO_CATEGORIES) == columns.is_category[tree.feature[node]]:
        return False
    if row == NO_CATEGORIES:
        return bool(np.isin(tree.threshold[node], cuts))
    bits = [
        WORD * word + bit for word, of in enumerate(tree.left_categories[row]) for bit in range(WORD) if of >> bit & 1
    ]
    return len(bits) == 1 and bits[0] in cuts


def _recounted(tree: TreeArrays, data: TrainingData) -> tuple[float, float]:
    """Return the share of errors of the tree, and how far what it stores is from what the rows say."""
    weight, distances, errors = data.weights, [0.0], 0.0
    total = weight.sum()
    every = np.arange(len(data.y))
    for node, rows in enumerate(places_at(tree, data.X, every, 0 * every, np.arange(tree.n_nodes))):
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


def _sampled_claim(search: _SplitSearch, depth: int, goal: float, n_drawn: int) -> Claim:
    rng = draws()
    search.work = -np.inf  # a sample is no longer limited
    rows = np.arange(len(search.y))
    cheaper = sum(search.cost_of_drawn(rows, depth, rng) < goal for _ in range(n_drawn))
    statement = (
        f"of {n_drawn:,} trees, upper splits drawn at random and the last ones the best, those that cost less than "
        "lower_bound_"
    )
    return Claim("lower bound", statement, float(cheaper), 0.0)


@dataclass
class _SplitSearch:
    """Least costs of trees on some rows, by counting."""

    columns: SplitColumns
    data: TrainingData
    n_classes: int
    penalty: float
    work: float = 0.0
    most_work: float = MOST_WORK

    def __post_init__(self) -> None:
        self.y, self.weight = self.data.y, self.data.weights
        self.total = float(self.weight.sum())
        self.n_splits = sum(map(len, self.columns.cuts))
        bins = np.concatenate([[0], np.cumsum(self.columns.n_bins)])
        self.places = self.columns.codes + bins[:-1]
        self.bins = bins

    @cached_property
    def inside(self) -> Array:
        """Which row lies inside which split, as zeros and ones."""
        every = np.arange(len(self.y))
        parts = [self.columns.inside(every, j, t) for j, cuts in enumerate(self.columns.cuts) for t in range(len(cuts))]
        is_exact = self.total < 2**24 and np.array_equal(self.weight, np.floor(self.weight))
        dtype = np.float32 if is_exact else np.float64  # sums of whole numbers are exact in both
        return np.ascontiguousarray(np.array(parts, dtype=dtype).reshape(self.n_splits, len(self.y)).T)

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
        self._spend(len(rows) * self.n_splits**2 * self.n_classes)
        inside = self.inside[rows]
        weights = [self.weight[rows] * (self.y[rows] == c) for c in range(self.n_classes)]
        most, beside = np.full((2, self.n_splits, self.n_splits), 0.0, dtype=inside.dtype)
        most_out, beside_out = np.full((2, self.n_splits, self.n_splits), 0.0, dtype=inside.dtype)
        single = [weight.astype(inside.dtype) @ inside for weight in weights]
        for weight, of in zip(weights, single, strict=True):
            pairs = (inside * weight.astype(inside.dtype)[:, None]).T @ inside
            np.maximum(most, pairs, out=most)
            np.maximum(beside, of[:, None] - pairs, out=beside)
            pairs = of - pairs
            np.maximum(most_out, pairs, out=most_out)
            np.maximum(beside_out, (weight.sum() - of).astype(inside.dtype)[:, None] - pairs, out=beside_out)
        most += beside
        most_out += beside_out
        outside = [weight.sum() - of for weight, of in zip(weights, single, strict=True)]
        left = _with_leaf(sum(single), most.max(axis=1), np.maximum.reduce(single), self.penalty)
        right = _with_leaf(sum(outside), most_out.max(axis=1), np.maximum.reduce(outside), self.penalty)
        return min(self.leaf(rows), float((left + right).min()))

    def lower_bound(self, rows: Array, depth: int, goal: float) -> float:
        """Return the least cost of a tree of this depth, or something between the goal and it."""
        leaf = self.leaf(rows)
        if depth == 0 or leaf <= self.penalty or self.penalty >= goal:
            return leaf if depth == 0 else self.penalty
        if depth == 1:
            return self.one(rows)
        if depth == 2 and self.n_splits <= MOST_SPLITS:
            return self.two(rows)
        whole = self.lower_bound(rows, depth - 1, goal)  # bounds each side of that depth, less the rows it lacks
        least = min(leaf, whole, goal)
        for j in range(len(self.columns.cuts)):
            least = min(least, self._column_bound(rows, j, depth, goal, whole))
        return least

    def _column_bound(self, rows: Array, j: int, depth: int, goal: float, whole: float) -> float:
        """Return a lower bound of all trees that split this column first: the goal, or what a split may cost less.

        ``left`` and ``right`` hold what is known of the sides of each split; what is found for one bounds the others.
        """
        used, places = np.unique(self.columns.codes[rows, j], return_inverse=True)
        is_category = bool(self.columns.is_category[j])
        counted = np.bincount(places, self.weight[rows])
        below = counted if is_category else np.cumsum(counted)[:-1]
        if len(used) < 2:
            return goal
        left = np.maximum(self.penalty, whole - (counted.sum() - below))
        right = np.maximum(self.penalty, whole - below)
        while True:
            total = left + right
            tied = np.flatnonzero(total <= total.min())
            t = int(tied[len(tied) // 2])
            if total[t] >= goal:
                return goal
            inside = self.columns.inside(rows, j, int(used[t]))
            left[t] = max(left[t], self.lower_bound(rows[inside], depth - 1, goal - right[t]))
            if left[t] + right[t] < goal:
                right[t] = max(right[t], self.lower_bound(rows[~inside], depth - 1, goal - left[t]))
            if left[t] + right[t] < goal:
                return float(left[t] + right[t])
            if not is_category:
                left[t:] = np.maximum(left[t:], left[t])
                left[:t] = np.maximum(left[:t], left[t] - (below[t] - below[:t]))
                right[:t] = np.maximum(right[:t], right[t])
                right[t:] = np.maximum(right[t:], right[t] - (below[t:] - below[t]))

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
        if self.work > self.most_work:
            raise TooMuchWorkError


def _with_leaf(count: Any, right_of_two: Array, right_of_one: Array, penalty: float) -> Array:
    """Return the cost of a side: one more split or a leaf, whichever is less; infinity where there are no rows."""
    count, two, one = (np.asarray(part, dtype=np.float64) for part in (count, right_of_two, right_of_one))
    return np.where(count > 0, np.minimum(count - two + 2 * penalty, count - one + penalty), np.inf)


PROVES = {"OptimalTreeClassifier": prove_optimal_tree}
