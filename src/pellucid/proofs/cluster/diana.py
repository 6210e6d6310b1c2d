r"""Proof of a divisive tree: every split is the one that the rules make, up to rounding.

Each split is done again from the distances of its rows. Where two rows are equal up to rounding, or one is as near to
those that left as to those that stayed, the rules leave a choice, and the proof follows the tree. Of large trees a
random sample of the splits is checked, and the widest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.cluster.agglomerative import PAIR_BY_PAIR
from pellucid.proofs.cluster.cluster_trees import (
    TreeShape,
    all_distances,
    label_claim,
    looked_at,
    row_distances,
    tree_problems,
)
from pellucid.proofs.distances import lost_digits
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

AT_FIT = 200_000
"""Distances of rows that a fit may compute again."""
TO_VERIFY = 100_000_000
WORK_PER_SPLIT = 10_000
"""What looking at one split takes beside its distances, in distances."""


def prove_diana(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
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
        (tree, order, *_splits(X, parameters.metric, shape, heights), *_rest(fitted, parameters, shape, heights)),
    )


def _splits(X: Array, metric: Any, shape: TreeShape, heights: Array) -> list[Claim]:
    sizes = shape.sizes[shape.n_rows :]
    checked, of = looked_at(sizes**2 + WORK_PER_SPLIT, AT_FIT if is_fitting() else TO_VERIFY, "splits")
    D = None if isinstance(metric, str) and metric in PAIR_BY_PAIR else all_distances(X, metric)
    X = np.asarray(X, np.float64)
    wrong, error, lost = 0, 0.0, lost_digits(metric)
    for split in checked:
        start, size, left = shape.starts[shape.n_rows + split], sizes[split], shape.children[split, 0]
        rows = shape.order[start : start + size]
        gaps = row_distances(X[rows], X[rows], metric) if D is None else D[np.ix_(rows, rows)]
        width = float(gaps.max())
        scale = width + lost / EPSILON
        error = float(np.max([error, abs(heights[split] - width) / scale if scale > 0.0 else heights[split]]))
        is_left = np.arange(size) < shape.sizes[left]
        wrong += not _is_split(gaps, is_left, lost)
    bound = sum_error(X.shape[1])
    return [
        Claim("splits", f"{of}, those that the rules would make otherwise", float(wrong), 0.0),
        Claim("widths", f"{of}, the largest relative error of a stored width", error, bound),
    ]


def _is_split(D: Array, is_left: Array, lost: float) -> bool:
    """Return whether the rules can make one side leave, where rounding may decide between equals either way."""
    totals, slack = D.sum(axis=1), 4 * sum_error(len(D))
    firsts = np.flatnonzero(totals.max() - totals <= slack * totals.max() + len(D) * lost)
    return any(_follows(D, is_left == is_left[row], row, totals, slack, lost) for row in firsts.tolist())


def _follows(D: Array, leaves: Array, first: int, totals: Array, slack: float, lost: float) -> bool:
    """Return whether these rows leave once the first does: each the best to follow, nobody else better off."""
    n, n_leaves, gone = len(D), int(leaves.sum()), np.zeros(len(D), bool)
    gone[first], left, rest = True, D[first].copy(), totals - D[first]
    for n_gone in range(1, n - 1):
        to_left, to_rest = left / n_gone, rest / (n - n_gone - 1)
        gains, loose = np.where(gone, -np.inf, to_rest - to_left), slack * (to_rest + to_left) + 2 * lost
        best = gains.max()
        if n_gone == n_leaves:
            return bool(best <= loose[~gone].max())
        allowed = np.flatnonzero(leaves & (gains >= best - 2 * loose) & (gains > -loose))
        if not len(allowed):
            return False
        gone[allowed[0]] = True
        left += D[allowed[0]]
        rest -= D[allowed[0]]
    return bool(np.array_equal(gone, leaves))


def _rest(fitted: Seen, parameters: Seen, shape: TreeShape, heights: Array) -> list[Claim]:
    """Return the claims about labels and the coefficient."""
    alone = heights[shape.parents[: shape.n_rows] - shape.n_rows]
    coefficient = float(np.mean(1.0 - alone / heights[-1])) if heights[-1] > 0.0 else 0.0
    return [
        label_claim(fitted.labels_, shape, parameters.n_clusters),
        Claim("coefficient", "distance of divisive_coefficient_ from its recomputed value",
              abs(float(fitted.divisive_coefficient_) - coefficient), sum_error(shape.n_rows)),
    ]  # fmt: skip


PROVES = {"Diana": prove_diana}
