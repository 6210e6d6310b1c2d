"""Claims about kernel machines: those that a fit and a proof share, and those of a proof alone.

A product of two rows is computed up to ``PRODUCT_ERROR`` of the largest product of a row with itself, so a score, a sum
of products times coefficients, up to that times the total of the coefficients. Nothing that is stored may differ by
more from what follows from the coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.linear_classifier import dense
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.rounding import ROUNDING, sum_error
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_kernel import has_products, machine_gamma
from pellucid.svm.kernel_machine.machine_measures import MachineMeasures

LARGEST_GAP = 1e-3
"""Part of the objective that the gap may be at most, whatever ``tol``."""

PRODUCT_ERROR = 4e-11
"""Part of the largest product of a row with itself by which two computations of a product may differ."""

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


def stored_claims(machines: Sequence[MachineMeasures], fitted: Any, largest: float) -> tuple[Claim, ...]:
    """Return the claims that intercepts, their ranges, objectives and gaps are those of the stored coefficients.

    ``largest`` is the largest product of a row with itself.
    """
    intercepts = np.atleast_1d(fitted.intercept_)
    return (
        worst_claim(
            Claim(
                "intercept",
                "distance from the mean of what the free support vectors ask for, or from the middle of its range",
                _distance(
                    np.array([intercept, *interval]) + machine.shift,
                    [machine.wanted_intercept, *machine.intercept_range],
                ),
                score_error(machine, largest) + ROUNDING * abs(machine.shift),
            )
            for machine, intercept, interval in zip(machines, intercepts, fitted.intercept_range_, strict=True)
        ),
        _reported(machines, "objective", fitted.objective_, largest),
        _reported(machines, "gap", fitted.dual_gap_, largest),
    )


def _reported(machines: Sequence[MachineMeasures], name: str, stored: Sequence[float], largest: float) -> Claim:
    return worst_claim(
        Claim(
            f"reported {name}",
            f"distance of the {name} stored for a machine from what its coefficients give",
            _distance([value], [getattr(machine, name)]),
            objective_error(machine, largest),
        )
        for machine, value in zip(machines, stored, strict=True)
    )


def score_error(machine: MachineMeasures, largest: float) -> float:
    """Return how far two computations of a score may differ."""
    size = float(np.abs(machine.coef).sum()) * largest + float(np.abs(machine.target).max(initial=0.0))
    return PRODUCT_ERROR * size


def objective_error(machine: MachineMeasures, largest: float) -> float:
    """Return how far two computations of the objective may differ: an error of each score, times what it costs."""
    bounds = np.where(np.isfinite(machine.upper), machine.upper, np.abs(machine.coef))
    cost = float(np.maximum(bounds, np.abs(machine.coef)).sum())
    return 2.0 * cost * score_error(machine, largest)


def _distance(stored: Any, wanted: Any) -> float:
    """Return the largest difference; none between equal infinities, and NaN stays NaN."""
    one, other = np.asarray(stored, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    return float(np.max(np.where(one == other, 0.0, np.abs(one - other))))


def largest_product(kernel: Kernel, X: Any) -> float:
    """Return the largest product of a training row with itself."""
    return float(np.max(np.abs(kernel.diagonal(X)), initial=0.0))


def stored_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the support vectors as rows of the data; empty if nothing is."""
    support, given = fitted.support_, data.given[0]
    if tuple(fitted.shape_fit_) != tuple(given.shape):
        return "shape_fit_ is not the shape of the data"
    gamma = machine_gamma(parameters, data)
    if not abs(fitted.gamma_ - gamma) <= sum_error(given.size) * gamma:
        return "gamma_ is not what the parameter means"
    if fitted.dual_coef_.shape[1] != len(support) or fitted.n_support_.sum() != len(support):
        return "not as many as there are coefficients"
    if (support < 0).any() or (support >= data.n_given).any() or len(np.unique(support)) != len(support):
        return "not rows of the data, each once"
    rows = data.places(support)
    if len(rows) != len(support):
        return "one of them has weight 0"
    if has_products(parameters.kernel):
        return "" if fitted.support_vectors_.size == 0 else "there should be none for products"
    stored = fitted.support_vectors_
    if stored.shape != (len(support), data.X.shape[1]) or sparse.issparse(stored) != sparse.issparse(data.X):
        return "not rows of the data"
    return "" if (dense(stored) == dense(data.X[rows])).all() else "not the rows of the data that support_ names"
