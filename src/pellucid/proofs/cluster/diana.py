r"""Proof of a divisive tree: every split is the one that the rules make, up to rounding.

Each split is done again from the distances of its rows. Where two rows are equal up to rounding, or one is as near to
those that left as to those that stayed, the rules leave a choice, and the proof follows the tree. Of large trees a
random sample of the splits is checked, and the widest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.cluster.agglomerative.distances import PAIR_BY_PAIR, distance_matrix
from pellucid.cluster.agglomerative.tree_cut import cut_nodes
from pellucid.cluster.agglomerative.tree_shape import TreeShape, looked_at, tree_problems
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.training_data import TrainingData

AT_FIT = 200_000
"""Distances of rows that a fit may compute again."""
TO_VERIFY = 100_000_000
WORK_PER_SPLIT = 10_000
"""What looking at one split takes beside its distances, in distances."""


def prove_diana(fitted: Any, parameters: Any, data: TrainingData, *, work: int = TO_VERIFY) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X, children, heights = data.X, np.asarray(fitted.children_), np.asarray(fitted.distances_, dtype=np.float64)
    n = X.shape[0]
    problems = tree_problems(children, heights, n, fitted.n_leaves_) + abs(n - 1 - len(children))
    statement = "splits that are missing or of what is not there, and wrong counts of rows"
    tree = Claim("tree", statement, float(problems), 0.0)
    if problems:
        return Certificate("replayed", (tree,))
    shape = TreeShape(children, n)
    falls = float(np.max(heights[:-1] - heights[1:], initial=0.0))
    order = Claim("widest first", "how much wider a cluster is than one that was split before", falls, 0.0)
    return Certificate(
        "replayed",
        (tree, order, *_splits(X, parameters.metric, shape, heights, work), *_rest(fitted, parameters, shape, heights)),
    )


def _splits(X: Array, metric: Any, shape: TreeShape, heights: Array, work: int) -> list[Claim]:
    sizes = shape.sizes[shape.n_rows :]
    checked, of = looked_at(sizes**2 + WORK_PER_SPLIT, work, "splits")
    name = PAIR_BY_PAIR.get(metric) if isinstance(metric, str) else None
    D = None if name else distance_matrix(X, metric)
    X = np.asarray(X, np.float64)
    wrong, error = 0, 0.0
    for split in checked:
        start, size, left = shape.starts[shape.n_rows + split], sizes[split], shape.children[split, 0]
        rows = shape.order[start : start + size]
        gaps = cdist(X[rows], X[rows], name) if D is None else D[np.ix_(rows, rows)]
        width = float(gaps.max())
        error = float(np.max([error, abs(heights[split] - width) / width if width > 0.0 else heights[split]]))
        is_left = np.arange(size) < shape.sizes[left]
        wrong += not (is_split(gaps, is_left) or is_split(gaps, ~is_left))
    bound = sum_error(X.shape[1])
    return [
        Claim("splits", f"{of}, those that the rules would make otherwise", float(wrong), 0.0),
        Claim("widths", f"{of}, the largest relative error of a stored width", error, bound),
    ]


def is_split(D: Array, leaves: Array) -> bool:
    """Return whether the rules can make these rows leave, where rounding may decide between equals either way."""
    n, slack = len(D), 4 * sum_error(len(D))
    means = D.sum(axis=1)
    first = means.max() - means <= slack * means.max()
    return any(_follows(D, leaves, int(row), slack) for row in np.flatnonzero(first & leaves)) if n > 1 else False


def _follows(D: Array, leaves: Array, first: int, slack: float) -> bool:
    """Return whether these rows leave once the first does: each the best to follow, nobody else better off."""
    n, gone = len(D), np.zeros(len(D), bool)
    gone[first], n_gone = True, 1
    left, rest = D[:, first].copy(), D.sum(axis=1) - D[:, first]
    while n_gone < n - 1:
        to_left, to_rest = left / n_gone, rest / (n - n_gone - 1)
        gains, loose = to_rest - to_left, slack * (to_rest + to_left)
        best = gains[~gone].max()
        if n_gone == leaves.sum():
            return bool(best <= loose[~gone].max())
        allowed = np.flatnonzero(leaves & ~gone & (gains >= best - 2 * loose) & (gains > -loose))
        if not len(allowed):
            return False
        gone[allowed[0]] = True
        n_gone += 1
        left += D[:, allowed[0]]
        rest -= D[:, allowed[0]]
    return bool(np.array_equal(gone, leaves))


def _rest(fitted: Any, parameters: Any, shape: TreeShape, heights: Array) -> list[Claim]:
    """Return the claims about labels and the coefficient."""
    right = np.empty(shape.n_rows, np.int64)
    for label, node in enumerate(cut_nodes(shape.children.tolist(), shape.n_rows, parameters.n_clusters)):
        right[shape.order[shape.starts[node] : shape.starts[node] + shape.sizes[node]]] = label
    labels = np.asarray(fitted.labels_)
    wrong = np.sum(right != labels) if labels.shape == right.shape and labels.dtype.kind == "i" else shape.n_rows
    alone = heights[shape.parents[: shape.n_rows] - shape.n_rows]
    coefficient = float(np.mean(1.0 - alone / heights[-1])) if heights[-1] > 0.0 else 0.0
    statement = "rows that are not labelled as their cluster of the tree, cut as the parameters say"
    return [
        Claim("labels", statement, float(wrong), 0.0),
        Claim(
            "coefficient",
            "distance of divisive_coefficient_ from its recomputed value",
            abs(float(fitted.divisive_coefficient_) - coefficient),
            sum_error(shape.n_rows),
        ),
    ]
