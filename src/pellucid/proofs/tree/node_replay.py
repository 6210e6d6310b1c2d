r"""One node of a tree looked at again in plain NumPy, to see whether its split was the best under the stated rule.

Every column the node looked at is sorted, sums are cumulated, and each cut gets its score. The rule: of all cuts whose
score is within a tolerance of the best one, the lowest column counts, then the lowest threshold, missing values to the
right before missing values to the left. The tolerance is 16 times the rounding :math:`\rho = \epsilon (64 + 4 \sqrt n)`
of sums of n numbers, in units of the score; two ways to sum differ by no more than :math:`4 \rho`, so a cut is refused
only if it is worse than the tolerance and that, or if an earlier one is better than the tolerance less that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import drawn
from pellucid.proofs.tree.split_scores import NodeScores
from pellucid.proofs.tree.tree_rows import GrowthRule, NodeTarget, drawn_columns, drawn_share
from pellucid.proofs.tree.trees import sent_left

TIE = 16.0
TWO_SUMS = 4.0
"""Roundings by which the scores of two ways to sum may differ."""


@dataclass(frozen=True)
class StoredSplit:
    """How a node sends its rows on."""

    feature: int
    threshold: float
    missing_left: bool
    left_categories: Array | None = None
    """uint32 words of the bit set, for a column of categories."""


@dataclass(frozen=True)
class NodeQuestion:
    """The rows of a node, and what it depends on above it."""

    X: Array
    """float64 (n_rows, n_columns), NaN for missing."""
    target: NodeTarget
    weight: Array
    rules: GrowthRule
    key: Any = None
    """What its random numbers come from."""
    lower: float = -math.inf
    upper: float = math.inf
    """Bounds of its value, from monotonic constraints above it."""
    most_columns: int | None = None
    """Columns that are looked at, at most: that of the stored split, and others drawn from those that the node looked
    at; None for all."""


@dataclass
class Cuts:
    """All cuts of a column, in the order of the rule."""

    score: Array
    surely: Array
    """Which cuts are allowed, whatever the rounding."""
    maybe: Array
    below: Array
    above: Array
    """The values next to the cut; ``inf`` above where missing values are parted from all others."""
    missing_left: Array
    n_left: Array
    w_left: Array
    threshold: float = math.nan
    """Of a random split."""


@dataclass(frozen=True)
class NodeReplay:
    """What was found in a node."""

    best: float
    """The best score; -inf without a cut."""
    low_gain: float
    high_gain: float
    """By how much at least, and at most, a cut as good as the best lowers the sum of impurities."""
    slack: float
    """The tolerance of ties, and of sums, in units of the gain."""
    fault: str = ""
    """What is wrong with the stored split, in words."""
    left: Array | None = None
    """Which rows the best split sends to the left, of a node without a stored one; None also for sets of categories."""


def replay_node(question: NodeQuestion, stored: StoredSplit | None) -> NodeReplay:
    """Return what the best split is, and whether the stored one is it."""
    scores = NodeScores.of(question.target, question.weight, question.rules.criterion)
    columns = columns_looked_at(question)
    own = () if stored is None else np.flatnonzero(columns == stored.feature)
    if question.most_columns is not None:
        columns = columns[drawn(len(columns), question.most_columns - len(own), always=own)]
    cuts = {int(j): _cuts(question, scores, int(j)) for j in sorted(columns)}
    rounding = sum_error(len(question.X)) * scores.scale
    tie, slack = TIE * rounding, TWO_SUMS * rounding
    sure = max((_top(found.score[found.surely]) for found in cuts.values()), default=-math.inf)
    top = max((_top(found.score[found.maybe]) for found in cuts.values()), default=-math.inf)
    low_gain, high_gain = scores.gains_of_best(cuts.values(), top - tie - slack, top)
    fault = ""
    if stored is not None:
        fault = _fault(question, scores, cuts, stored, sure, top, tie, slack)
    left = _left_of_best(question, cuts, top - tie) if stored is None and top > -math.inf else None
    return NodeReplay(top, low_gain, high_gain, (tie + slack) * scores.gain_unit, fault, left)


def _left_of_best(question: NodeQuestion, cuts: dict[int, Cuts], bar: float) -> Array | None:
    """Return which rows go left by the first cut, in the order of the rule, whose score is no lower than a bar."""
    for j, found in cuts.items():
        good = np.flatnonzero(found.maybe & (found.score >= bar))
        if len(good):
            if question.rules.is_category[j]:
                return None
            column, own = question.X[:, j], good[0]
            return np.asarray(np.where(np.isnan(column), found.missing_left[own], column <= found.below[own]))
    return None


def columns_looked_at(question: NodeQuestion) -> Array:
    """Return the columns that the node draws: so many as ``max_features``, and on until one is not constant."""
    rules = question.rules
    if rules.max_features >= rules.n_features:
        return np.arange(rules.n_features)
    order = drawn_columns(question.key, rules.n_features)
    for count in range(rules.max_features, rules.n_features + 1):
        if any(_varies(question.X[:, j]) for j in order[:count]):
            return order[:count]
    return order


def halfway(low: Any, high: Any) -> Any:
    """Return thresholds between two values each: their mean, or the lower one where no number lies between them."""
    mean = low / 2.0 + high / 2.0
    return np.where((low <= mean) & (mean < high), mean, low)


def _varies(column: Array) -> bool:
    missing = np.isnan(column)
    known = column[~missing]
    return bool(len(known) and (missing.any() or known.min() < known.max()))


def _top(scores: Array) -> float:
    return float(scores.max(initial=-math.inf))


def _cuts(question: NodeQuestion, scores: NodeScores, j: int) -> Cuts:
    column = question.X[:, j]
    if question.rules.is_category[j]:
        return _category_cuts(question, scores, j)
    missing = np.isnan(column)
    order = np.argsort(column, kind="stable")  # missing values come last
    parts = [_line(question, scores, j, column, order, 0)]
    n_missing = int(missing.sum())
    if 0 < n_missing < len(column):
        first = np.concatenate([order[len(column) - n_missing :], order[: len(column) - n_missing]])
        parts.append(_line(question, scores, j, column, first, n_missing))
    cuts = _joined(parts)
    return _random_cut(question, j, column, cuts) if question.rules.random_splits and len(cuts.score) else cuts


def _line(question: NodeQuestion, scores: NodeScores, j: int, column: Array, order: Array, n_first: int) -> Cuts:
    """Return the cuts between different values of rows in order, of which the first may be missing ones."""
    values = column[order]
    different = values[1:] != values[:-1]
    different &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
    at = np.flatnonzero(different) + 1
    at = at[at > n_first]
    score, w_left, low_side, high_side = scores.of_cuts(order, at)
    surely, maybe = _allowed(question, scores, j, at, w_left, score, low_side, high_side)
    above = np.where(np.isnan(values[at]), math.inf, values[at]) if len(at) else np.empty(0)
    left = np.full(len(at), n_first > 0)
    return Cuts(score, surely, maybe, values[at - 1] if len(at) else np.empty(0), above, left, at, w_left)


def _allowed(
    question: NodeQuestion, scores: NodeScores, j: int, at: Array, w_left: Array, score: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """Return which cuts keep to all limits, with rounding against them and with rounding for them."""
    rules, n = question.rules, len(question.X)
    fits = (at >= rules.min_leaf) & (n - at >= rules.min_leaf) & (score > -math.inf)
    error = sum_error(n) * TIE
    lightest = np.minimum(w_left, scores.whole - w_left)
    surely = fits & (lightest >= rules.min_weight * (1 + error) if rules.min_weight > 0 else True)
    maybe = fits & (lightest >= rules.min_weight * (1 - error))
    if rules.criterion == "poisson":
        surely = surely & scores.surely_positive
    direction = int(rules.monotone[j])
    if direction:
        unit = error * scores.value_size
        rise = (high - low) * direction
        inside = np.minimum(np.minimum(low, high) - question.lower, question.upper - np.maximum(low, high))
        surely &= (rise > unit) & (inside > unit)
        maybe &= (rise >= -unit) & (inside >= -unit)
    return surely, maybe


def _random_cut(question: NodeQuestion, j: int, column: Array, cuts: Cuts) -> Cuts:
    """Keep the cuts at the threshold that the node draws for the column."""
    low, high = np.nanmin(column), np.nanmax(column)
    threshold = low + float(drawn_share(question.key, j, question.rules.n_features)) * (high - low)
    if not low <= threshold < high:
        threshold = low
    here = (cuts.below <= threshold) & (threshold < cuts.above)
    kept = Cuts(
        **{name: getattr(cuts, name)[here] for name in ("score", "surely", "maybe", "below", "above")},
        **{name: getattr(cuts, name)[here] for name in ("missing_left", "n_left", "w_left")},
    )
    kept.threshold = float(threshold)
    return kept


def _category_cuts(question: NodeQuestion, scores: NodeScores, j: int) -> Cuts:
    """Return the cuts of the categories in the order of their mean target, for each class or target in turn."""
    column = question.X[:, j]
    codes = np.where(np.isnan(column), np.nanmax(column, initial=-1.0) + 1.0, column)
    found, place = np.unique(codes, return_inverse=True)
    if len(found) < 2:
        return _joined([])
    parts = []
    for mean in scores.category_means(place, len(found)):
        order = np.argsort(mean, kind="stable")
        rank = np.empty(len(found), dtype=np.int64)
        rank[order] = np.arange(len(found))
        part = _line(question, scores, j, rank[place].astype(float), np.argsort(rank[place], kind="stable"), 0)
        if question.rules.random_splits:
            cut = int(drawn_share(question.key, j, question.rules.n_features) * (len(found) - 1))
            for mask in (part.surely, part.maybe):
                mask &= part.below == cut
        parts.append(part)
    return _joined(parts)


def _joined(parts: list[Cuts]) -> Cuts:
    names = ("score", "surely", "maybe", "below", "above", "missing_left", "n_left", "w_left")
    kinds: tuple[Any, ...] = (float, bool, bool, float, float, bool, np.int64, float)
    if not parts:
        empty: dict[str, Any] = {name: np.empty(0, dtype=kind) for name, kind in zip(names, kinds, strict=True)}
        return Cuts(**empty)
    whole: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Cuts(**whole)


def _fault(
    question: NodeQuestion,
    scores: NodeScores,
    cuts: dict[int, Cuts],
    stored: StoredSplit,
    sure: float,
    top: float,
    tie: float,
    slack: float,
) -> str:
    """Return what is wrong with a stored split, or nothing."""
    j = stored.feature
    if j not in cuts:
        return "it splits a column that the node did not look at"
    found = cuts[j]
    for column, others in cuts.items():
        if column < j and (others.surely & (others.score >= top - tie + slack)).any():
            return "a lower column has a split as good"
    if question.rules.is_category[j]:
        left = sent_left(question.X[:, j], stored.threshold, stored.missing_left, stored.left_categories)
        score, low, high = scores.of_sides(left)
        at, w_left = np.array([int(left.sum())]), np.array([float(question.weight[left].sum())])
        allowed = _allowed(question, scores, j, at, w_left, np.array([score]), np.array([low]), np.array([high]))[1]
        return "" if allowed[0] and score >= sure - tie - slack else "there is a better split"
    own = _own_cut(question, found, stored)
    if own is None:
        return "no cut of the column is at its threshold"
    if not found.maybe[own]:
        return "its split is not allowed"
    if found.score[own] < sure - tie - slack:
        return "there is a better split"
    if (found.surely[:own] & (found.score[:own] >= top - tie + slack)).any():
        return "an earlier threshold of the column is as good"
    return ""


def _own_cut(question: NodeQuestion, found: Cuts, stored: StoredSplit) -> int | None:
    """Return which cut the stored threshold is: halfway between two values, or where a random one was drawn."""
    has_missing = bool(np.isnan(question.X[:, stored.feature]).any())
    for own in range(len(found.score)):
        if has_missing and bool(found.missing_left[own]) != stored.missing_left:
            continue
        if not found.below[own] <= stored.threshold < found.above[own] and found.above[own] != stored.threshold:
            continue
        wanted = found.threshold
        if math.isinf(found.above[own]):
            wanted = math.inf
        elif not question.rules.random_splits:
            wanted = halfway(found.below[own], found.above[own])
        if wanted == stored.threshold:
            return own
    return None
