r"""What a fit says of its kernel machines: objective, gap, conditions, and whether the kernel is an inner product.

With :math:`r_i = t_i - f(x_i)` and the excess over the tube as loss, the primal objective exceeds the dual one by

.. math:: P - D = \sum_i\bigl(u_i\max(0, r_i - \varepsilon) - l_i\max(0, -r_i - \varepsilon) - \beta_ir_i
          + \varepsilon|\beta_i|\bigr),

if :math:`\sum\beta_i = 0`. Every term is at least 0 inside the box, so nothing cancels and the sum is precise. Where a
box is infinite (a hard margin) the loss is a constraint instead: its excess counts among the conditions, and the gap is
that of the problem whose constraints are loosened by that excess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.mercer import check_mercer
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import ROUNDING, sum_error
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_kernels import measured


@dataclass(frozen=True)
class MachineMeasures:
    """The problem of one machine as numbers, the point stored for it, and what follows."""

    target: Array
    lower: Array
    upper: Array
    tube: float
    coef: Array
    gradient: Array
    r""":math:`K\beta - t`."""
    shift: float = 0.0
    """By how much the stored intercept is less, as the rows were moved; see ``steady_rows.py``."""

    @cached_property
    def _measured(self) -> tuple[float, ...]:
        found: tuple[float, ...] = measured(self.coef, self.gradient, self.target, self.lower, self.upper, self.tube)
        return found

    @property
    def intercept_range(self) -> tuple[float, ...]:
        """The intercepts that the conditions allow: one, their mean, if some coefficients are free."""
        return self._measured[:2]

    @property
    def intercept(self) -> float:
        """The one that the rule asks for."""
        return self._measured[2]

    @property
    def squared_length(self) -> float:
        r""":math:`\|w\|^2 = \beta'K\beta`."""
        return self._measured[4]

    @property
    def objective(self) -> float:
        """The primal objective."""
        return 0.5 * self.squared_length + self._measured[5]

    @property
    def gap(self) -> float:
        """How far the primal objective is above the dual one; see the head of this file."""
        return self._measured[6]

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the objective; 0 if both are."""
        return 0.0 if self.gap == 0.0 else self.gap / abs(self.objective) if self.objective else np.inf

    @property
    def violation(self) -> float:
        """By how much the residual of a row is not what its coefficient asks for, at most."""
        residual = -self.gradient - self.intercept
        up, down = residual - self.tube, -residual - self.tube  # how far it is above the tube, and below
        loose = np.maximum(np.where(np.isinf(self.upper), up, 0.0), np.where(np.isinf(self.lower), down, 0.0))
        if self.tube:  # a coefficient of the other sign is at the other side of the tube
            up, down = np.where(self.coef >= 0.0, up, -down), np.where(self.coef > 0.0, -up, down)
        wrong = np.maximum(np.where(self.coef < self.upper, up, 0.0), np.where(self.coef > self.lower, down, 0.0))
        return float(np.max(np.maximum(wrong, loose), initial=0.0))

    @property
    def infeasibility(self) -> float:
        """How far the coefficients leave their boxes, or their sum 0, as a part of their total."""
        total = float(np.abs(self.coef).sum())
        if total == 0.0:
            return 0.0
        outside = np.maximum(np.maximum(self.coef - self.upper, self.lower - self.coef), 0.0)
        return float(np.maximum(np.max(outside), abs(self.coef.sum())) / total)

    @property
    def margin_width(self) -> float:
        r"""The distance :math:`2/\|w\|` of the lines of scores -1 and +1 in the space of the kernel."""
        return 2.0 / float(np.sqrt(self.squared_length)) if self.squared_length > 0.0 else np.inf


LARGEST_GAP = 1e-3
"""Part of the objective that the gap may be at most, whatever ``tol``."""

REMEDY = "Raise max_iter or cache_size, or standardize X."


def machine_certificate(gap: float, violation: float, infeasibility: float, tol: float, doubt: str) -> Certificate:
    """Return the certificate of the worst machine.

    ``doubt`` says why the kernel is not known to be an inner product; empty if it is. Without one, the conditions hold
    at the minimum and perhaps elsewhere, and a gap means nothing.
    """
    conditions = Claim(
        "optimality conditions",
        "by how much the score of a row is not what its coefficient asks for, at most",
        violation,
        tol * (1.0 + ROUNDING),
        REMEDY,
    )
    feasible = Claim(
        "dual feasibility",
        "part of all coefficients by which one leaves its box or their sum leaves 0",
        infeasibility,
        ROUNDING,
    )
    if doubt:
        return Certificate("stationary", (conditions, feasible), doubt)
    relative = Claim(
        "duality gap",
        "part of its objective by which the worst machine is above its minimum, at most",
        gap,
        min(tol, LARGEST_GAP) + ROUNDING,
        REMEDY,
    )
    return Certificate("optimal", (relative, conditions, feasible))


def proved_certificate(machines: Sequence[MachineMeasures], tol: float, doubt: str) -> Certificate:
    """Return the certificate of measured machines."""
    return machine_certificate(
        float(np.max([machine.relative_gap for machine in machines])),
        float(np.max([machine.violation for machine in machines])),
        float(np.max([machine.infeasibility for machine in machines])),
        tol,
        doubt,
    )


MOST_KEPT = 1 << 12
"""Training rows up to which the measures are kept until somebody asks for the certificate."""


def evidence(
    machines: Sequence[MachineMeasures], parameters: Any, kernel: Kernel, data: TrainingData, *, converged: bool
) -> dict[str, Any]:
    """Return what a ``Fit`` says of measured machines: the certificate, or how to make it when somebody asks."""
    if converged and kernel.positive and len(data.y) <= MOST_KEPT:
        return {"later": {"certificate_": partial(proved_certificate, machines, parameters.tol, "")}}
    return {"certificate": proved_certificate(machines, parameters.tol, doubt_about(kernel, data))}


MOST_ROWS = 1000
"""Training rows up to which a kernel is shown to be an inner product on them, which takes as long as a small fit."""

TRIED = 60
"""Rows among which a witness is looked for."""


def doubt_about(kernel: Kernel, data: TrainingData) -> str:
    """Return why the kernel is not known to be an inner product, with a witness if one is found; empty if it is known.

    On few rows a Cholesky factor of the products shows that no combination of them has negative energy, up to a shift
    of the diagonal that is rounding.
    """
    n = data.X.shape[0]
    if kernel.positive or (n <= MOST_ROWS and _is_positive(_products(kernel, data.X, np.arange(n)))):
        return ""
    tried = some_rows(n, TRIED)
    part = data.X[np.ix_(tried, tried)] if kernel.is_given else data.X[tried]
    found = check_mercer(kernel, part)
    if found.holds:
        return f"The kernel is not known to be an inner product on these {n} rows, so there may be better machines."
    rows = data.given_rows(tried[found.rows]).tolist()
    numbers = ", ".join(f"{value:g}" for value in found.vector)
    return (
        f"The kernel is no inner product, so there may be better machines: the rows {rows} times ({numbers}) have the "
        f"squared length {found.energy:.3g}."
    )


def _products(kernel: Kernel, X: SparseOrDense, rows: Any) -> Any:
    return kernel(X, rows) if kernel.is_given else kernel(X)


def _is_positive(products: Any) -> bool:
    n = len(products)
    shift = n * sum_error(n) * float(np.abs(np.diagonal(products)).max(initial=0.0))
    try:
        cholesky(products + shift * np.eye(n), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
