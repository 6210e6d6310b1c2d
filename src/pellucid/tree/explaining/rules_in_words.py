"""rules and explain_path: what a tree has learned, and why it says what it says about one row, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.types import Array, Data
from pellucid.tree.id3.id3_tree import NO_SPLIT, MultiwayTree, coded_columns
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, WORD, PackedTrees, walk_down

if TYPE_CHECKING:
    import pandas as pd


NO_ROWS = "no row of the training data is of this kind, the node above decides"


@dataclass(frozen=True)
class Rule:
    """One leaf: the conditions that lead to it, what it predicts, and the training rows behind it."""

    conditions: tuple[Condition, ...]
    prediction: Any
    """The class, or the number."""
    share: float | None
    """Of the class among the training rows; None for numbers."""
    weight: float
    """Of the training rows: their number, where each counts once."""
    leaf: int
    """The number of its node."""

    def __str__(self) -> str:
        condition = " and ".join(map(str, self.conditions)) or "always"
        sure = "" if self.share is None else f"{self.share:.1%} of "
        behind = f"{sure}{_rows(self.weight)}" if self.weight else NO_ROWS
        return f"{'if ' if self.conditions else ''}{condition}: {_told(self.prediction)} ({behind})"


@dataclass(frozen=True)
class Rules:
    """The rules of a tree, one for each leaf; ``print`` shows them, ``frame`` makes a table of them."""

    all: tuple[Rule, ...]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, place: int) -> Rule:
        return self.all[place]

    def __str__(self) -> str:
        return "\n".join(f"{number}. {rule}" for number, rule in enumerate(self.all, start=1))

    def frame(self) -> pd.DataFrame:
        """Return the rules as a data frame: condition, prediction, share, weight, leaf."""
        import pandas as pd

        found = pd.DataFrame(
            {
                "condition": [" and ".join(map(str, rule.conditions)) or "always" for rule in self.all],
                "prediction": [rule.prediction for rule in self.all],
                "share": [rule.share for rule in self.all],
                "weight": [rule.weight for rule in self.all],
                "leaf": [rule.leaf for rule in self.all],
            }
        )
        return found.drop(columns="share") if all(rule.share is None for rule in self.all) else found


@dataclass(frozen=True)
class PathExplanation:
    """Why a tree says what it says about a row: ``print`` tells it, ``steps`` are the questions on the way."""

    rule: Rule
    values: tuple[Any, ...]
    """Of the row, one for each condition of the rule."""
    steps: tuple[tuple[Condition, Any], ...]
    """Each question as it was answered, and the prediction after it."""
    before: Any
    """The share of the predicted class, or the mean, of all training rows."""
    unknown: str = ""
    """What training did not have, where the way ends before a leaf."""

    def __str__(self) -> str:
        rule, prediction = self.rule, _told(self.rule.prediction)
        pairs = zip(rule.conditions, self.values, strict=True)
        reasons = [_reason(condition, value) for condition, value in pairs] + [self.unknown] * bool(self.unknown)
        because = f", because {' and '.join(reasons)}" if reasons else ", whatever the row"
        if not rule.weight:
            return f"{prediction}{because}: {NO_ROWS}."
        if rule.share is None:
            return (
                f"{prediction}{because}: the mean of the {_rows(rule.weight)} of this kind; of all it is "
                f"{_told(self.before)}."
            )
        return (
            f"{prediction}{because}: of the {_rows(rule.weight)} of this kind {rule.share:.1%} are {prediction}, "
            f"of all {self.before:.1%}."
        )


def rules(tree: Any, feature_names: Sequence[str] | None = None) -> Rules:
    """Return the rules of a fitted tree, one for each leaf; conditions on the same column are joined.

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier, DecisionTreeRegressor, OptimalTreeClassifier or ID3Classifier
        Where missing values go is not told.
    feature_names : sequence of str, default=None
        Names of the columns; those of the data frame of the fit, or x0, x1, ...

    Examples
    --------
    >>> from pellucid.tree import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(1).fit([[20], [30], [50], [60]], ["no", "no", "yes", "yes"])
    >>> print(rules(tree, ["age"]))
    1. if age ≤ 40: no (100.0% of 2 rows)
    2. if age > 40: yes (100.0% of 2 rows)
    """
    shown = _shown(tree, feature_names)
    return Rules(tuple(_rule(tree, shown, leaf, conditions) for leaf, conditions in shown.ways()))


def explain_path(tree: Any, x: Data, feature_names: Sequence[str] | None = None) -> PathExplanation:
    """Return why a fitted tree predicts what it predicts for one row.

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier, DecisionTreeRegressor, OptimalTreeClassifier or ID3Classifier
        The tree that predicts.
    x : array-like of shape (n_features,), Series, or a table of one row
        The row.
    feature_names : sequence of str, default=None
        Names of the columns; those of the data frame of the fit, or x0, x1, ...

    Examples
    --------
    >>> from pellucid.tree import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(1).fit([[20], [30], [50], [60]], ["no", "no", "yes", "yes"])
    >>> print(explain_path(tree, [45], ["age"]))
    yes, because age > 40 (it is 45): of the 2 rows of this kind 100.0% are yes, of all 50.0%.
    """
    shown = _shown(tree, feature_names)
    row, values = _one_row(tree, x)
    nodes = _nodes_passed(tree, row)
    taken = [
        next(condition for node, condition in shown.branches[above] if node == below)
        for above, below in pairwise(nodes)
    ]
    rule = _rule(tree, shown, nodes[-1], tuple(taken))
    steps = tuple(
        (condition, _prediction(tree, shown.value[node])[0]) for condition, node in zip(taken, nodes[1:], strict=True)
    )
    before = shown.value[0].max() if rule.share is None else shown.value[0][_place(tree, rule.prediction)]
    unknown = ""
    if shown.branches[nodes[-1]]:
        asked = shown.branches[nodes[-1]][0][1]
        unknown = f"{asked.name} = {_told(values[asked.feature])}, which training did not have"
    named = tuple(values[condition.feature] for condition in rule.conditions)
    return PathExplanation(rule, named, steps, float(before), unknown)


def _shown(tree: Any, feature_names: Sequence[str] | None) -> ReadableTree:
    check_is_fitted(tree)
    n = int(tree.n_features_in_)
    known = getattr(tree, "feature_names_in_", None) if feature_names is None else feature_names
    names = [f"x{j}" for j in range(n)] if known is None else [str(name) for name in known]
    if len(names) != n:
        raise ValueError(f"feature_names must have a name for each of the {n} columns, got {len(names)}.")
    return readable_tree(tree, names)


def _rule(tree: Any, shown: ReadableTree, node: int, conditions: tuple[Condition, ...]) -> Rule:
    prediction, share = _prediction(tree, shown.value[node])
    return Rule(joined(conditions), prediction, share, float(shown.weight[node]), node)


def _prediction(tree: Any, value: Array) -> tuple[Any, float | None]:
    if not is_classifier(tree):
        return float(value[0]), None
    best = int(np.argmax(value))
    return tree.classes_[best].item() if hasattr(tree.classes_[best], "item") else tree.classes_[best], float(
        value[best]
    )


def _place(tree: Any, prediction: Any) -> int:
    return int(np.flatnonzero(tree.classes_ == prediction)[0])


def _one_row(tree: Any, x: Data) -> tuple[Any, list[Any]]:
    """Return the row as a table for the tree, and its values as they were given."""
    import pandas as pd

    if isinstance(x, pd.Series):
        x = x.to_frame().T
    if not hasattr(x, "columns"):
        x = np.asarray(x)
        x = x[None] if x.ndim == 1 else x
        names = getattr(tree, "feature_names_in_", None)
        if names is not None and x.ndim == 2 and x.shape[1] == len(names):
            x = pd.DataFrame(x, columns=names)
    if len(x) != 1:
        raise ValueError(f"x must be one row, got {len(x)}. Explain them one by one.")
    return x, list(np.asarray(x, dtype=object)[0])


def _nodes_passed(tree: Any, row: Any) -> list[int]:
    rows = card_of(type(tree)).rules_for(tree).check_rows(tree, row)
    if not isinstance(tree.tree_, MultiwayTree):
        return [0, *(int(nodes[0]) for _, nodes in walk_down(tree.trees_, rows))]
    coded, found = coded_columns(rows, tree.categories_), [0]
    stop = int(tree.tree_.stops_of(coded.codes, coded.values, coded.is_numeric)[0])
    while found[-1] != stop:
        node = found[-1]
        j = tree.tree_.feature[node]
        assert j != NO_SPLIT
        is_above = coded.values[0, j] > tree.tree_.threshold[node]
        found.append(int(tree.tree_.first_child[node] + (is_above if coded.is_numeric[j] else coded.codes[0, j])))
    return found


def _reason(condition: Condition, value: Any) -> str:
    if condition.categories is not None and len(condition.categories) == 1 and not condition.is_excluded:
        return str(condition)
    return f"{condition} (it is {_told(value)})"


def _told(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and np.isnan(value):
        return "missing"
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _rows(weight: float) -> str:
    return f"{weight:.6g} row{'' if weight == 1 else 's'}"


@dataclass(frozen=True)
class Condition:
    """``low < value <= high`` of a column of numbers, or a value that is, or is not, among some categories."""

    feature: int
    name: str
    low: float = -math.inf
    high: float = math.inf
    categories: tuple[Any, ...] | None = None
    is_excluded: bool = False

    def __str__(self) -> str:
        if self.categories is not None:
            several = ", ".join(map(str, self.categories))
            if len(self.categories) == 1:
                return f"{self.name} {'≠' if self.is_excluded else '='} {several}"
            return f"{self.name} is {'none' if self.is_excluded else 'one'} of {several}"
        if self.low == math.inf or (math.isinf(self.low) and math.isinf(self.high)):
            return f"{self.name} is {'missing' if self.low == math.inf else 'known'}"
        if math.isinf(self.low):
            return f"{self.name} ≤ {self.high:.6g}"
        if math.isinf(self.high):
            return f"{self.name} > {self.low:.6g}"
        return f"{self.low:.6g} < {self.name} ≤ {self.high:.6g}"

    def __and__(self, other: Condition) -> Condition:
        """Return both conditions on one column as one."""
        if self.categories is None or other.categories is None:
            return replace(self, low=max(self.low, other.low), high=min(self.high, other.high))
        if self.is_excluded and other.is_excluded:
            return replace(self, categories=tuple(dict.fromkeys((*self.categories, *other.categories))))
        if self.is_excluded:
            return other & self
        return replace(
            self, categories=tuple(c for c in self.categories if (c in other.categories) != other.is_excluded)
        )


def joined(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return one condition for each column, in the order in which the columns were first asked for."""
    found: dict[int, Condition] = {}
    for condition in conditions:
        earlier = found.get(condition.feature)
        found[condition.feature] = condition if earlier is None else earlier & condition
    return tuple(found.values())


@dataclass(frozen=True)
class ReadableTree:
    """A tree as its answers are told: the branches of each node with their conditions, and what each node says."""

    branches: tuple[tuple[tuple[int, Condition], ...], ...]
    value: Array
    """(n_nodes, n_values): shares of the classes, or one number."""
    weight: Array
    """Of the training rows of each node."""

    def ways(self) -> list[tuple[int, tuple[Condition, ...]]]:
        """Return every leaf with the conditions on the way to it, in the order of the branches."""
        found, waiting = [], [(0, tuple[Condition, ...]())]
        while waiting:
            node, before = waiting.pop()
            if not self.branches[node]:
                found.append((node, before))
            waiting += [(child, (*before, condition)) for child, condition in reversed(self.branches[node])]
        return found


def readable_tree(model: Any, names: Sequence[str]) -> ReadableTree:
    """Return the tree of a fitted model, with names for its columns."""
    multiway = getattr(model, "tree_", None)
    if isinstance(multiway, MultiwayTree):
        branches = tuple(
            _multiway_branches(multiway, node, model.categories_, names) for node in range(len(multiway.feature))
        )
        total = multiway.value.sum(axis=1, keepdims=True)
        return ReadableTree(branches, multiway.value / total, multiway.weight)
    trees = getattr(model, "trees_", None)
    if not isinstance(trees, PackedTrees) or trees.n_trees != 1 or trees.value.shape[1] != 1:
        raise TypeError(
            f"tree must be one decision tree of pellucid with one target, got {type(model).__name__}. "
            "For forests and boosting see shapley_values."
        )
    known = getattr(model, "categories_", None) or [None] * len(names)
    branches = tuple(_binary_branches(trees, node, known, names) for node in range(trees.n_nodes))
    return ReadableTree(branches, trees.value[:, 0], trees.weighted_n_node_samples)


def _multiway_branches(
    tree: MultiwayTree, node: int, categories: Sequence[Array], names: Sequence[str]
) -> tuple[tuple[int, Condition], ...]:
    j, first = int(tree.feature[node]), int(tree.first_child[node])
    if j == NO_SPLIT:
        return ()
    if len(categories[j]) == 0:
        cut = float(tree.threshold[node])
        return (first, Condition(j, names[j], high=cut)), (first + 1, Condition(j, names[j], low=cut))
    values = [_plain(value) for value in categories[j]]
    return tuple((first + t, Condition(j, names[j], categories=(value,))) for t, value in enumerate(values))


def _binary_branches(
    tree: PackedTrees, node: int, known: Sequence[Array | None], names: Sequence[str]
) -> tuple[tuple[int, Condition], ...]:
    left, right, j = int(tree.children_left[node]), int(tree.children_right[node]), int(tree.feature[node])
    if left == LEAF:
        return ()
    row = tree.category_row[node]
    if row == NO_CATEGORIES:
        cut = float(tree.threshold[node])
        return (left, Condition(j, names[j], high=cut)), (right, Condition(j, names[j], low=cut))
    codes = [
        w * WORD + b for w, word in enumerate(tree.left_categories[row].tolist()) for b in range(WORD) if word >> b & 1
    ]
    values = known[j]
    if values is None:
        inside = Condition(j, names[j], categories=tuple(codes))
        return (left, inside), (right, replace(inside, is_excluded=True))
    sides = [tuple(_plain(v) for c, v in enumerate(values) if (c in codes) == is_left) for is_left in (True, False)]
    return (left, Condition(j, names[j], categories=sides[0])), (right, Condition(j, names[j], categories=sides[1]))


def _plain(value: Any) -> Any:
    """Return a category as a user would write it: 3.0 is 3."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
