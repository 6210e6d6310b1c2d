"""Squared hinge loss with an l2 penalty, many sparse rows and columns: passes of dual descent find where to start.

A pass costs less than one product of the conjugate gradients in a Newton step, and a few of them spare most steps.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.linear_svc.hinge_dual_descent_kernels import dual_descent_pass
from pellucid.svm.linear_svc.margin_problem import MarginProblem

MOST_PASSES, NEAR = 50, 1e-3
"""Most passes over the rows, and how far from the margins they want the rows may be in the last."""


def squared_hinge_start(problem: MarginProblem, rng: np.random.RandomState) -> Array:
    """Return weights near those of the least objective."""
    rows, alpha, u = problem.rows, np.zeros(problem.rows.n), np.zeros(problem.rows.width)
    ridge = 0.5 / problem.cost
    parts = (*unsigned_parts(rows.X), rows.constant, problem.signs, ridge, np.full(rows.n, np.inf))
    squares, n_active, highest, lowest = rows.sq_lengths() + ridge, rows.n, np.inf, -np.inf
    order = np.arange(rows.n)
    for _ in range(MOST_PASSES):
        order[:n_active] = rng.permutation(order[:n_active])
        n_active, highest, lowest = dual_descent_pass(*parts, squares, alpha, u, order, n_active, highest, lowest)
        if highest - lowest <= NEAR:
            break
    return u
