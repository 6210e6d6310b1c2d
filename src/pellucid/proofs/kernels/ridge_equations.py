r"""Proof that the equations of a penalized problem in the space of a kernel hold, up to what rounding explains.

With :math:`A = K + \alpha S^{-1}` the residual :math:`r = y - Aa` is computed from the training rows, tile by tile. A
factorization in the same arithmetic leaves (Higham, Accuracy and Stability, 10.1)

.. math:: |r_i| \le c\,\epsilon\,\Bigl(\sqrt{A_{ii}}\sum_j \sqrt{A_{jj}}\,|a_j| + |y_i|\Bigr),

so the claim is about :math:`|r_i|` in these units: a solves a system that differs from the given one by such a share.
For a kernel that is no inner product the largest product stands in the place of the diagonal.

What such a share means for the fitted values :math:`Ka` is a second claim: they are off by :math:`KA^{-1}r`, at most
:math:`\sqrt{s_{\max}/s_{\min}}\,\|r\|`. As :math:`\|a\| \le \|y\|\,s_{\max}/\alpha`, rounding explains a part of
:math:`\epsilon\,(1 + \mathrm{tr}(K)\,s_{\max}/\alpha)` of the targets; more than ``USEFUL`` is never accepted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.kernels.matrices import kernel_diagonal, kernel_matrix, resolved_kernel, row_blocks
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import in_percent, most_wrong
from pellucid.proofs.training_data import TrainingData

PRODUCT_ERROR = 1e-12
"""Error that a product may have, in parts of the largest."""

USEFUL = 1e-3
"""Part of the targets by which fitted values may be off, at most, however ill-conditioned the equations are."""


def equation_claims(kernel: Any, alpha: Any, data: TrainingData, a: Array, rows: Array) -> tuple[Claim, Claim]:
    """Return the claims about the dual coefficients ``a`` of shape (n, targets), from the equations of some rows."""
    kernel, y = resolved_kernel(kernel), np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
    ridge = np.atleast_1d(np.asarray(alpha, dtype=np.float64)) / data.weights[:, None]  # (n, 1 or targets)
    residual, largest = equation_errors(kernel, data, a, y, ridge, rows)
    size = kernel_diagonal(kernel, data.X) if kernel.positive else np.full(len(a), largest)
    unit = np.sqrt(np.maximum(size, 0.0)[:, None] + ridge)
    with np.errstate(over="ignore", invalid="ignore"):  # of a broken model
        scale = unit[rows] * np.sum(unit * np.abs(a), axis=0) + np.abs(y[rows])
        value = float(np.max(np.abs(residual) / np.maximum(scale, TINY), initial=0.0))
    n = data.X.shape[0]
    seen = "all" if len(rows) == n else f"{len(rows)} of {n:,}"
    rest = "" if len(rows) == n else f"; at 99 % confidence at most {in_percent(most_wrong(len(rows)))} are worse"
    equations = Claim("equations",
                      f"largest part by which K a + alpha a / weight differs from y, {seen} looked at{rest}", value,
                      PRODUCT_ERROR + 8 * sum_error(n),
                      "Raise alpha: the equations have no solution that rounding leaves intact.")  # fmt: skip
    return equations, _fitted_values_claim(residual, y, ridge, size, data.weights)


def _fitted_values_claim(residual: Array, y: Array, ridge: Array, size: Array, weight: Array) -> Claim:
    with np.errstate(over="ignore", invalid="ignore"):
        # mean squares: the rows looked at may miss all targets of a column that is 0 for most
        lost = np.sqrt(np.mean(np.square(residual), axis=0)) / np.maximum(np.sqrt(np.mean(np.square(y), axis=0)), TINY)
    spread = float(np.sqrt(weight.max() / weight.min()))
    condition = 1.0 + float(np.sum(size)) / max(float(ridge.min()), TINY)
    return Claim("fitted values", "part of the targets by which rounding moved the fitted values, at most",
                 spread * float(np.max(lost, initial=0.0)),
                 spread * min(USEFUL, 64 * sum_error(len(weight)) * condition),
                 "Raise alpha, or bring X nearer to 0 and to size 1.")  # fmt: skip


def equation_errors(
    kernel: Any, data: TrainingData, a: Array, y: Array, ridge: Array, rows: Array
) -> tuple[Array, float]:
    """Return the residuals of the chosen equations, and the largest product seen."""
    others = (np.arange(data.n_given) if data.kept is None else data.kept) if kernel.is_given else data.X
    residuals, largest = [], 0.0
    for part in row_blocks(len(rows), len(a)):
        products = kernel_matrix(kernel, data.X[rows[part]], others)
        with np.errstate(over="ignore", invalid="ignore"):
            residuals.append(y[rows[part]] - products @ a - (ridge * a)[rows[part]])
        largest = float(np.maximum(largest, np.abs(products).max(initial=0.0)))
    return np.concatenate(residuals), largest


def rows_claim(stored: Any, given: Any) -> Claim:
    """Return the claim that the rows kept for new ones are those of the data."""
    wrong = rows_that_differ(stored, given)
    return Claim("training rows", "rows of X_fit_ that are not those of the data", wrong, 0.0)


def rows_that_differ(stored: Any, given: Any) -> float:
    """Return how many of the stored rows are not those that were given."""
    if stored.shape != given.shape or sparse.issparse(stored) != sparse.issparse(given):
        return float(max(1, given.shape[0]))
    apart = stored != given
    return float(np.sum(np.asarray(apart.sum(axis=1)).ravel() > 0))
