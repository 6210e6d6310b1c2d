r"""Nodes of trees looked at again in plain NumPy, many at once, to see whether their splits were the best by the rule.

Every column that a node looked at is sorted, sums are cumulated, and each cut gets its score. The rule: of all cuts
whose score is within a tolerance of the best one, the lowest column counts, then missing values to the right before
missing values to the left, then the lowest threshold. The tolerance is 16 times the rounding
:math:`\rho = \epsilon (64 + 4 \sqrt n)` of sums of n numbers, in units of the score; two ways to sum differ by no more
than :math:`4 \rho`, so a cut is refused only if it is worse than the tolerance and that, or if an earlier one is better
than the tolerance less that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import drawn
from pellucid.proofs.tree.split_scores import CutScores, NodeScores
from pellucid.proofs.tree.tree_rows import GrowthRule, NodeTarget, drawn_columns, drawn_share
from pellucid.proofs.tree.trees import TreeArrays, sent_left

TIE = 16.0
TWO_SUMS = 4.0
"""Roundings by which the scores of two ways to sum may differ."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """The rows of b nodes side by side, and what these depend on above them."""

    X: SparseOrDense
    """The whole table, NaN for missing."""
    rows: Array
    """(b, L) places in the table; a node with fewer rows is filled up with its first one."""
    n: Array
    """Rows of each node."""
    target: NodeTarget
    """(b, L, n_outputs)."""
    weight: Array
    """(b, L)."""
    rules: GrowthRule
    min_weight: Array
    keys: Array
    """What random numbers come from."""
    lower: Array
    upper: Array
    """Bounds of values, from monotonic constraints above."""

    @classmethod
    def of(
        cls, X: SparseOrDense, target: NodeTarget, rows: Sequence[Array], weight: Sequence[Array], rules: GrowthRule,
        *, min_weight: Any = 0.0, keys: Any = 0, lower: Any = -math.inf, upper: Any = math.inf,
    ) -> Nodes:  # fmt: skip
        """Put nodes with these rows side by side; what is said once is so for all of them."""
        n = np.array([len(own) for own in rows])
        inside = np.arange(n.max()) < n[:, None]
        places, weights = np.repeat([own[:1] for own in rows], n.max(), axis=1), np.zeros(inside.shape)
        places[inside], weights[inside] = np.concatenate(rows), np.concatenate(weight)
        each = (np.broadcast_to(value, len(n)) for value in (min_weight, keys, lower, upper))
        return cls(X, places, n, target.taken(places), weights, rules, *each)

    @cached_property
    def rounding(self) -> Array:
        """Relative error of sums over the rows of each node."""
        return np.array([sum_error(k) for k in self.n.tolist()])

    @property
    def is_pure(self) -> Array:
        """Which nodes have one class, or one number, in every output."""
        values = self.target.codes if self.target.n_classes else self.target.y
        return np.asarray((values == values[:, :1]).all(axis=(1, 2)))

    def values(self, columns: Array) -> Array:
        """Return the values of columns (b, c) as (b, c, L): missing ones are infinite, and NaN where no row is."""
        if sparse.issparse(self.X):
            block = dense(self.X[self.rows.ravel()]).reshape(*self.rows.shape, -1)
            x = np.take_along_axis(block, columns[:, None, :], axis=2).transpose(0, 2, 1).astype(np.float64)
        else:
            x = self.X[self.rows[:, None, :], columns[:, :, None]].astype(np.float64)
        x[np.isnan(x)] = math.inf
        outside = np.arange(x.shape[2]) >= self.n[:, None, None]
        return np.where(outside, math.nan, x) if outside.any() else x


class NodeReplays(NamedTuple):
    """What was found in nodes, an entry for each."""

    best: Array
    """The best score; -inf without a cut."""
    low_gain: Array
    high_gain: Array
    """By how much at least, and at most, a cut as good as the best lowers the sum of impurities."""
    slack: Array
    """The tolerance of ties, and of sums, in units of the gain."""
    faults: list[str]
    """What is wrong with the stored split, in words."""
    left: Array | None = None
    """Which rows go left by the best split, if there is one node without a stored split; None for categories."""


@dataclass
class _Cuts:
    """Cuts behind each row of nodes, in the order of columns that are sorted."""

    nodes: Array
    columns: Array
    is_there: Array
    """(b, c), and which of these there are."""
    scores: CutScores
    is_cut: Array
    surely: Array
    """Which cuts are allowed, whatever the rounding, (b, c, L - 1)."""
    maybe: Array
    below: Array
    above: Array
    """The values next to the cut; ``inf`` above where missing values are parted from all others."""
    missing_left: bool
    wanted: Any = None
    """The threshold that a node draws for the column, (b, c)."""

    def __post_init__(self) -> None:
        self.top = np.where(self.maybe, self.scores.score, -math.inf).max(axis=2, initial=-math.inf)
        self.sure = self.top
        if self.surely is not self.maybe:
            self.sure = np.where(self.surely, self.scores.score, -math.inf).max(axis=2, initial=-math.inf)


def replay_nodes(
    nodes: Nodes, trees: TreeArrays | None = None, v: Any = None, most_columns: Sequence[int] | None = None
) -> NodeReplays:
    """Return what the best splits are, and whether those that trees store for their nodes ``v`` are these.

    Of the columns that a node looked at, no more than ``most_columns`` are searched: that of its split, and some drawn.
    """
    feature = np.full(len(nodes.n), -1) if trees is None else trees.feature[v]
    sums = NodeScores.of(nodes.target, nodes.weight, nodes.n, nodes.rules.criterion)
    looked_at = [_columns_looked_at(nodes, feature, most_columns, b) for b in range(len(feature))]
    with np.errstate(all="ignore"):
        numbers = list(_number_cuts(nodes, sums, looked_at))
        cuts = [*numbers, *_category_cuts(nodes, sums, looked_at)]
        tie, slack = TIE * nodes.rounding * sums.scale, TWO_SUMS * nodes.rounding * sums.scale
        sure, top = np.full((2, len(feature)), -math.inf)
        for part in cuts:
            np.maximum.at(sure, part.nodes, part.sure.max(axis=1, initial=-math.inf))
            np.maximum.at(top, part.nodes, part.top.max(axis=1, initial=-math.inf))
        low_gain, high_gain = _gains(sums, cuts, top - tie - slack, top)
        faults, left = [""] * len(feature), None
        if trees is not None:
            least, as_good = sure - tie - slack, top - tie + slack
            faults = _threshold_faults(numbers, nodes.rules, trees, v, least, as_good)
            _add_faults(faults, nodes, sums, cuts, trees, v, looked_at, least, as_good)
        elif top[0] > -math.inf:
            left = _left_of_best(nodes, cuts, top[0] - tie[0])
    unit = sums.whole if nodes.rules.criterion == "gain_ratio" else 1.0
    return NodeReplays(top, low_gain, high_gain, (tie + slack) * unit, faults, left)


def halfway(low: Any, high: Any) -> Any:
    """Return thresholds between two values each: their mean, or the lower one where no number lies between them."""
    mean = low / 2.0 + high / 2.0
    return np.where((low <= mean) & (mean < high), mean, low)


def _columns_looked_at(nodes: Nodes, feature: Array, most_columns: Sequence[int] | None, b: int) -> Array:
    """Return the columns to search: those that the node draws, on until one is not constant, or some of these."""
    rules = nodes.rules
    columns = np.arange(rules.n_features)
    if rules.max_features < len(columns):
        columns = drawn_columns(nodes.keys[b], len(columns))
        table = nodes.X[nodes.rows[b, : nodes.n[b]]]
        for count in range(rules.max_features, len(columns) + 1):  # mostly once
            x = dense(table[:, columns[:count]]).astype(np.float64)
            known = ~np.isnan(x)
            low, high = np.where(known, x, math.inf).min(axis=0), np.where(known, x, -math.inf).max(axis=0)
            if (known.any(axis=0) & (~known.all(axis=0) | (low < high))).any():
                break
        columns = np.sort(columns[:count])
    if most_columns is not None and len(columns) >= most_columns[b]:
        own = np.flatnonzero(columns == feature[b])
        columns = columns[drawn(len(columns), most_columns[b] - len(own), always=own)]
    return columns


def _number_cuts(nodes: Nodes, sums: NodeScores, looked_at: list[Array]) -> Iterator[_Cuts]:
    """Yield the cuts of columns of numbers: missing values to the right, then to the left."""
    is_number = ~nodes.rules.is_category
    numbers = looked_at if is_number.all() else [own[is_number[own]] for own in looked_at]
    counts = np.array([len(own) for own in numbers])
    if not counts.any():
        return
    is_there = np.arange(counts.max()) < counts[:, None]
    columns = np.zeros(is_there.shape, dtype=np.int64)
    columns[is_there] = np.concatenate(numbers)
    x, every = nodes.values(columns), np.arange(len(counts))
    columns[~is_there] = nodes.rules.n_features  # behind all others
    wanted = None
    if nodes.rules.random_splits:
        low, high = np.nanmin(x, axis=2), np.where(np.isfinite(x), x, -math.inf).max(axis=2)
        wanted = low + drawn_share(nodes.keys[:, None], columns, nodes.rules.n_features) * (high - low)
        wanted = np.where((low <= wanted) & (wanted < high), wanted, low)
    yield _cuts_of(nodes, sums, every, columns, x, is_there, wanted)
    is_missing = np.isinf(x)
    some = is_there & is_missing.any(axis=2)
    if some.any():
        yield _cuts_of(nodes, sums, every, columns, np.where(is_missing, -math.inf, x), some, wanted, missing_left=True)


def _cuts_of(
    nodes: Nodes, sums: NodeScores, which: Array, columns: Array, x: Array, is_there: Array, wanted: Any = None,
    *, missing_left: bool = False,
) -> _Cuts:  # fmt: skip
    """Return the cuts between different values."""
    order = np.argsort(x, axis=2)
    values = np.take_along_axis(x, order, axis=2)
    below, above = values[..., :-1], values[..., 1:]
    is_cut = (below < above) & is_there[..., None]
    if missing_left:
        is_cut &= below > -math.inf
    if wanted is not None:
        is_cut &= (below <= wanted[..., None]) & (wanted[..., None] < above)
    direction = np.append(nodes.rules.monotone, 0)[columns]
    scores = sums.of_cuts(order, with_values=bool(direction.any()))
    surely, maybe = _allowed(nodes, sums, which, scores, is_cut, np.arange(1, x.shape[2]), direction[..., None])
    return _Cuts(which, columns, is_there, scores, is_cut, surely, maybe, below, above, missing_left, wanted)


def _allowed(
    nodes: Nodes, sums: NodeScores, which: Array, scores: CutScores, is_cut: Array, at: Array, direction: Array
) -> tuple[Array, Array]:
    """Return which cuts keep to all limits, with rounding against them and with rounding for them."""
    rules, n = nodes.rules, nodes.n[which][:, None, None]
    surely = maybe = is_cut & (at >= rules.min_leaf) & (n - at >= rules.min_leaf) & (scores.score > -math.inf)
    error = TIE * nodes.rounding[which][:, None, None]
    least = nodes.min_weight[which][:, None, None]
    if least.any():
        lightest = np.minimum(scores.w_left, sums.whole[:, None, None] - scores.w_left)
        surely, maybe = maybe & (lightest >= least * (1 + error)), maybe & (lightest >= least * (1 - error))
    if rules.criterion == "poisson":
        surely = surely & scores.is_sure
    if direction.any():
        low, high, unit = scores.low, scores.high, error * sums.value_size[:, None, None]
        rise = (high - low) * direction
        lower, upper = (bound[which][:, None, None] for bound in (nodes.lower, nodes.upper))
        inside = np.minimum(np.minimum(low, high) - lower, upper - np.maximum(low, high))
        surely = surely & ((direction == 0) | ((rise > unit) & (inside > unit)))
        maybe = maybe & ((direction == 0) | ((rise >= -unit) & (inside >= -unit)))
    return surely, maybe


def _category_cuts(nodes: Nodes, sums: NodeScores, looked_at: list[Array]) -> Iterator[_Cuts]:
    """Yield the cuts of categories in the order of their mean target, for each class or target in turn."""
    if not nodes.rules.is_category.any():
        return
    for b, own in enumerate(looked_at):
        for j in own[nodes.rules.is_category[own]].tolist():
            column = _column(nodes, b, j)
            codes = np.where(np.isnan(column), np.nanmax(column, initial=-1.0) + 1.0, column)
            found, place = np.unique(codes, return_inverse=True)
            wanted = None
            if nodes.rules.random_splits:
                share = drawn_share(nodes.keys[b], j, nodes.rules.n_features)
                wanted = np.array([[float(int(share * (len(found) - 1)))]])
            for mean in sums.of_node(b).category_means(place, len(found)):
                rank = np.argsort(np.argsort(mean, kind="stable"))[place].astype(float)
                which, one = np.array([b]), np.ones((1, 1), dtype=bool)
                yield _cuts_of(nodes, sums.of_node(b), which, np.array([[j]]), rank[None, None], one, wanted)


def _column(nodes: Nodes, b: int, j: int) -> Array:
    rows = nodes.rows[b, : nodes.n[b]]
    return np.asarray(dense(nodes.X[rows][:, [j]])[:, 0], dtype=np.float64)


def _gains(sums: NodeScores, cuts: list[_Cuts], bar: Array, top: Array) -> tuple[Array, Array]:
    """Return the least and the most that a cut with a score from ``bar`` on takes from the sum of impurities."""
    low, high = bar - sums.base, top - sums.base
    if sums.criterion == "gain_ratio":
        low, high = np.full(len(top), math.inf), np.full(len(top), -math.inf)
        for part in cuts:
            own = sums if len(part.nodes) == len(top) else sums.of_node(int(part.nodes[0]))
            good = part.maybe & (part.scores.score >= bar[part.nodes][:, None, None])
            gains = part.scores.score * own.split_information(part.scores.w_left)
            np.minimum.at(low, part.nodes, np.where(good, gains, math.inf).min(axis=(1, 2), initial=math.inf))
            np.maximum.at(high, part.nodes, np.where(good, gains, -math.inf).max(axis=(1, 2), initial=-math.inf))
    return np.where(top > -math.inf, low, -1.0), np.where(top > -math.inf, high, -1.0)


def _left_of_best(nodes: Nodes, cuts: list[_Cuts], bar: float) -> Array | None:
    """Return which rows of the first node go left by the first cut, in the order of the rule, from a bar on."""
    firsts: list[tuple[int, int, int]] = []
    for turn, part in enumerate(cuts):
        firsts += [(int(part.columns[0, c]), turn, c) for c in np.flatnonzero(part.top[0] >= bar).tolist()]
    j, turn, c = min(firsts)
    if nodes.rules.is_category[j]:
        return None
    part, column = cuts[turn], _column(nodes, 0, j)
    own = np.flatnonzero(part.maybe[0, c] & (part.scores.score[0, c] >= bar))[0]
    return np.asarray(np.where(np.isnan(column), part.missing_left, column <= part.below[0, c, own]))


def _add_faults(
    faults: list[str], nodes: Nodes, sums: NodeScores, cuts: list[_Cuts], trees: TreeArrays, v: Array,
    looked_at: list[Array], least: Array, as_good: Array,
) -> None:  # fmt: skip
    """Add what is wrong with a stored split beside other columns, or as a set of categories; leaves have none."""
    feature = trees.feature[v]
    is_later = np.zeros(len(v), dtype=bool)
    for part in cuts:
        own, bar = feature[part.nodes][:, None], as_good[part.nodes][:, None]
        np.logical_or.at(is_later, part.nodes, ((part.columns < own) & (part.sure >= bar)).any(axis=1))
    for b, j in enumerate(feature.tolist()):
        if j < 0:
            faults[b] = ""
        elif len(looked_at[b]) < nodes.rules.n_features and j not in looked_at[b]:
            faults[b] = "it splits a column that the node did not look at"
        elif is_later[b]:
            faults[b] = "a lower column has a split as good"
        elif nodes.rules.is_category[j]:
            left = sent_left(_column(nodes, b, j), math.nan, trees.missing_go_to_left[v[b]], trees.set_of(v[b]))
            faults[b] = "" if _is_good_set(nodes, sums, b, j, left, float(least[b])) else "there is a better split"


def _threshold_faults(
    cuts: list[_Cuts], rules: GrowthRule, trees: TreeArrays, v: Array, least: Array, as_good: Array
) -> list[str]:
    """Return what is wrong with each threshold in its own column: a score below ``least``, or an earlier one as good.

    Cuts with missing values to the right come first.
    """
    faults, every = ["no cut of the column is at its threshold"] * len(v), np.arange(len(v))
    feature, threshold, to_left = trees.feature[v], trees.threshold[v][:, None], trees.missing_go_to_left[v] > 0
    has_missing, was_as_good = np.zeros((2, len(v)), dtype=bool)
    if len(cuts) > 1:
        has_missing = ((cuts[1].columns == feature[:, None]) & cuts[1].is_there).any(axis=1)
    for part in cuts:
        c = np.argmax(part.columns == feature[:, None], axis=1)
        below, above, score, surely = (
            array[every, c] for array in (part.below, part.above, part.scores.score, part.surely)
        )
        wanted = halfway(below, above) if part.wanted is None else part.wanted[every, c][:, None]
        is_there = (below <= threshold) & (threshold < above) if rules.in_bins else wanted == threshold
        here = part.is_cut[every, c] & np.where(np.isinf(above), threshold == math.inf, is_there)
        here &= (~has_missing | (to_left == part.missing_left))[:, None]
        own = np.argmax(here, axis=1)
        earlier = surely & (score >= as_good[:, None])
        is_earlier = was_as_good | (earlier & (np.arange(earlier.shape[1]) < own[:, None])).any(axis=1)
        for b in np.flatnonzero(here.any(axis=1)).tolist():
            faults[b] = ""
            if not part.maybe[b, c[b], own[b]]:
                faults[b] = "its split is not allowed"
            elif score[b, own[b]] < least[b]:
                faults[b] = "there is a better split"
            elif is_earlier[b]:
                faults[b] = "an earlier threshold of the column is as good"
        was_as_good = earlier.any(axis=1)
    return faults


def _is_good_set(nodes: Nodes, sums: NodeScores, b: int, j: int, left: Array, least: float) -> bool:
    """Return whether a split by categories keeps to all limits and is as good as the best."""
    n_left = int(left.sum())
    if n_left in (0, len(left)):
        return False
    own, order = sums.of_node(b), np.concatenate([np.flatnonzero(left), np.flatnonzero(~left)])
    direction = np.full((1, 1, 1), nodes.rules.monotone[j])
    scores, which = own.of_cuts(order[None, None], with_values=bool(direction.any())), np.array([b])
    every = np.ones((1, 1, len(left) - 1), dtype=bool)
    maybe = _allowed(nodes, own, which, scores, every, np.arange(1, len(left)), direction)[1]
    return bool(maybe[0, 0, n_left - 1] and scores.score[0, 0, n_left - 1] >= least)
