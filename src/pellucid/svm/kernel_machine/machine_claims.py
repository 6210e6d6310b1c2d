"""What a fit says of its kernel machines: their gap, conditions and boxes, as the solver measured them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import ROUNDING
from pellucid.svm.kernel_machine.machine_measures import MachineMeasures

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
