"""Pessimistic pruning, as in C4.5: what few errors on few training rows leave possible decides which branches stay."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import is_classifier

from pellucid.core.checks import check_between
from pellucid.core.types import Array
from pellucid.tree.pruning.cost_complexity import without_branches
from pellucid.tree.pruning.pruning_cuts import cut_bottom_up, single_tree, with_branches_cut


def prune_pessimistic(tree: Any, confidence: float = 0.25) -> Any:
    r"""Return a copy of a classification tree without the branches that C4.5 would call no better than a leaf.

    A leaf with :math:`E` errors among :math:`N` training rows is taken to have the error rate :math:`p` that so few
    errors leave possible: :math:`P(\text{at most } E \text{ of } N) = \text{confidence}`. From the bottom up, a node
    whose leaves together expect at least as many errors as it would as a leaf becomes one. No validation set is needed.
    (Branches are cut, not raised to their parent's place.)

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier
        It stays as it is.
    confidence : float, default=0.25
        Between 0 and 1; the smaller, the more is cut.

    Returns
    -------
    PrunedTreeClassifier
        ``trace_`` as of :func:`prune_reduced_error`, with expected errors on the training rows.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[k] for k in range(9)], [0, 0, 0, 1, 0, 0, 1, 1, 1])
    >>> tree.get_n_leaves(), prune_pessimistic(tree).get_n_leaves()
    (4, 2)
    """
    packed = single_tree(tree)
    if not is_classifier(tree):
        raise TypeError(f"tree must be a DecisionTreeClassifier, got {type(tree).__name__}. Use prune_reduced_error.")
    check_between(0.0, 1.0, confidence=confidence)
    counts = packed.weighted_n_node_samples
    expected = pessimistic_errors(counts * (1.0 - packed.value[:, 0].max(axis=1)), counts, confidence)
    is_cut, trace = cut_bottom_up(packed, expected, counts)
    pruned = without_branches(packed, is_cut)
    kept = pessimistic_errors(
        pruned.weighted_n_node_samples * (1.0 - pruned.value[:, 0].max(axis=1)),
        pruned.weighted_n_node_samples,
        confidence,
    )
    after, n = float(kept[pruned.is_leaf].sum()), int(packed.n_node_samples[0])
    return with_branches_cut(tree, pruned, trace, expected, after, n, confidence=float(confidence))


def pessimistic_errors(errors: Array, counts: Array, confidence: float) -> Array:
    r"""Return :math:`N p` with :math:`P(\text{at most } E \text{ of } N \text{ wrong} \mid p)` equal to the confidence.

    Examples
    --------
    >>> pessimistic_errors(np.array([0.0]), np.array([2.0]), 0.25)  # (1 - p)^2 = 1/4
    array([1.])
    """
    errors = np.minimum(np.round(errors, 9), counts)
    rate = stats.beta.ppf(1.0 - confidence, errors + 1.0, np.maximum(counts - errors, np.finfo(float).tiny))
    return np.asarray(counts * np.where(errors >= counts, 1.0, rate))
