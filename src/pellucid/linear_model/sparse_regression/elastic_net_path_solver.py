"""The solutions of an elastic net for a falling sequence of penalties, each started from the one before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.linear_model.sparse_regression.elastic_net_penalty import ElasticNetPenalty
from pellucid.linear_model.sparse_regression.elastic_net_solvers import (
    Iterate,
    PassBudget,
    elastic_net_working_set,
    least_squares,
    screen_by_strong_rule,
)
from pellucid.numerics.working_gram import WorkingGram


@dataclass(frozen=True)
class Path:
    """Coefficients of shape (n_features, n_penalties), duality gaps and passes of coordinate descent."""

    coefs: Array
    gaps: Array
    n_iters: list[int]


def elastic_net_path(
    gram: WorkingGram, b: Array, penalties: list[ElasticNetPenalty], budget: PassBudget, start: Array | None = None
) -> Path:
    """Solve for each penalty in turn; the working set and its Gram matrix are kept."""
    at = Iterate.start(gram, b, start)
    coefs = np.empty((gram.design.shape[1], len(penalties)), order="F")
    gaps, n_iters = np.empty(len(penalties)), []
    previous: ElasticNetPenalty | None = None
    for i, penalty in enumerate(penalties):
        if previous is not None:
            screen_by_strong_rule(gram, at, previous, penalty)
        gaps[i], n_iter = solve_at(gram, b, penalty, at, budget)
        coefs[:, i] = at.w
        n_iters.append(n_iter)
        previous = penalty
    return Path(coefs, gaps, n_iters)


def solve_at(
    gram: WorkingGram, b: Array, penalty: ElasticNetPenalty, at: Iterate, budget: PassBudget
) -> tuple[float, int]:
    """Solve for one penalty; without a penalty and sign constraint the problem is plain least squares."""
    unpenalized = penalty.l1 == penalty.l2 == 0.0 and not penalty.positive
    gap, n_iter = (least_squares if unpenalized else elastic_net_working_set)(gram, b, penalty, at, budget)
    return gap, n_iter if budget.may_keep_start else max(1, n_iter)
