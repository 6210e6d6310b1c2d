"""What a fit says of its logistic regression, as the solver measured it."""

from __future__ import annotations

import numpy as np

from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.rounding import ROUNDING

LARGEST_GAP = 1e-6
"""Part of the objective that the gap may be at most, whatever ``tol``."""


def gap_certificate(gap: float, objective: float, goal: float) -> Certificate:
    """Return the certificate of a model with a penalty; the gap to reach is a part of the objective, the goal.

    A gap below 0, by as much as it may be above, is an error of the lower bound.
    """
    bound = (goal + ROUNDING) * abs(objective)
    claim = gap_claim(
        "duality gap",
        "the objective is at most this far above its minimum",
        objective,
        objective - gap,
        bound,
        rounding=bound,
        remedy="Raise max_iter, standardize X, or lower C; for no penalty use C=np.inf.",
    )
    return Certificate("optimal", (claim,))


def slope_certificate(steepest: float, relative_gap: float, tol: float) -> Certificate:
    """Return the certificate of a model that a large ``tol`` let stop where the objective hardly falls."""
    claim = Claim(
        "slope",
        "largest slope of the mean objective along a weight, at most tol",
        steepest,
        tol * (1.0 + ROUNDING),
        "Raise max_iter, or standardize X.",
    )
    reason = f"tol={tol:g} asks for no more: the objective is at most {100 * relative_gap:.3g} % above its minimum."
    return Certificate("stationary", (claim,), reason)


def gradient_certificate(gradient: float, separable: bool, goal: float) -> Certificate:
    """Return the certificate of a model without a penalty."""
    return Certificate(
        "stationary",
        (
            Claim(
                "gradient",
                "largest correlation of a column with the residual",
                gradient,
                np.inf if separable else goal + ROUNDING,
                "Raise max_iter, or standardize X.",
            ),
            Claim(
                "separation",
                "1 if a hyperplane separates classes, so that the coefficients would grow for ever",
                float(separable),
                0.0,
                "The classes can be separated: no finite coefficients are best. Use a penalty (a finite C).",
            ),
        ),
    )
