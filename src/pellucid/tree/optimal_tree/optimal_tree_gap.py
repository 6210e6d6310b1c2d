"""greedy_gap: how far a tree is from the best one of its depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Data
from pellucid.tree.optimal_tree.optimal_tree_classifier import OptimalTreeClassifier

DEEPEST = 4


@dataclass(frozen=True)
class TreeGap:
    """Training errors of a tree and of the best tree of its depth, as shares of the rows."""

    depth: int
    error: float
    best_error: float
    """Of the best tree found."""
    lower_bound: float
    """No tree of this depth over the thresholds searched has a lower error."""

    @property
    def gap(self) -> float:
        """How many more errors the tree makes than the best found."""
        return self.error - self.best_error

    @property
    def is_proved(self) -> bool:
        """Whether no better tree than the best found exists."""
        return self.best_error <= self.lower_bound

    def __str__(self) -> str:
        best = "is proved to make" if self.is_proved else "found in time makes"
        return (
            f"Of depth {self.depth}, the best tree {best} {self.best_error:.2%} errors on the training rows; this one "
            f"makes {self.error:.2%}, {self.gap:.2%} more."
        )


def greedy_gap(
    tree: Any,
    X: Data,
    y: Data,
    *,
    sample_weight: Data | None = None,
    max_thresholds: int | None = 32,
    time_limit: float | None = 60.0,
) -> TreeGap:
    """Return how far a fitted tree is from the best tree of its depth, on its training rows.

    Parameters
    ----------
    tree : fitted tree classifier
        One of depth 4 at most, of ours or of scikit-learn.
    X, y, sample_weight
        The rows it was fitted to.
    max_thresholds, time_limit
        As in :class:`OptimalTreeClassifier`, which searches for the best.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1, 0]
    >>> print(greedy_gap(DecisionTreeClassifier(max_depth=1).fit(X, y), X, y))
    Of depth 1, the best tree is proved to make 40.00% errors on the training rows; this one makes 40.00%, 0.00% more.
    """
    check_is_fitted(tree)
    depth = int(tree.get_depth())
    if depth > DEEPEST:
        raise ValueError(
            f"tree must have a depth of at most {DEEPEST}, got {depth}. A search through all trees of that depth takes "
            "too long: prune it first."
        )
    error = 1.0 - float(tree.score(X, y, sample_weight))
    search = OptimalTreeClassifier(depth, max_thresholds=max_thresholds, time_limit=time_limit)
    best = search.fit(X, y, sample_weight)
    # the tree may split where the search did not look, and then be the better one
    return TreeGap(depth, error, *(float(np.minimum(error, found)) for found in (best.objective_, best.lower_bound_)))
