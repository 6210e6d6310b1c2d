"""Proof of an estimate: the likelihood is flat there, and curved downward in every direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.probability.observed_information import Curvature, curvature
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim

SETTLED = 1e-18
"""A log likelihood this close to its maximum, in nats, is there: a billionth of a standard error away."""

CLOSE = 1e-6
"""Distance from the maximum in nats, a thousandth of a standard error, that is still claimed as found."""

WORST_CONDITION = 1e6
"""An information matrix with a larger condition number, its diagonal scaled to 1, does not tell parameters apart:
differences leave noise of a hundred-millionth."""


def certify_estimate(loss: Callable[[Array], float], theta: Array) -> Certificate:
    """Return what the derivatives of minus the log likelihood or posterior say at these parameters."""
    curve = curvature(loss, np.asarray(theta, dtype=np.float64))
    return Certificate(
        "stationary",
        (
            Claim(
                "newton decrement",
                "the log likelihood is about this far below its maximum, in nats",
                decrement(curve),
                CLOSE,
                "Start closer, or try another method.",
            ),
            Claim(
                "identification",
                "condition number of the information matrix, infinite if it is not positive definite",
                condition(curve.hessian),
                WORST_CONDITION,
                "The parameters are not identified: drop one that the data do not determine, or give log_prior.",
            ),
        ),
    )


def decrement(curve: Curvature) -> float:
    """Return half of ``g' H^-1 g`` over the directions that are curved; infinite if one is curved the wrong way."""
    unit = np.sqrt(np.maximum(np.abs(curve.hessian.diagonal()), np.finfo(float).tiny))
    gradient, hessian = curve.gradient / unit, curve.hessian / np.outer(unit, unit)
    if not (np.isfinite(hessian).all() and np.isfinite(gradient).all()):
        return np.inf
    eigenvalues, directions = np.linalg.eigh(hessian)
    curved = np.abs(eigenvalues) > np.abs(eigenvalues).max() / WORST_CONDITION
    if (eigenvalues[curved] < 0).any():
        return np.inf
    return 0.5 * float(((directions.T @ gradient)[curved] ** 2 / eigenvalues[curved]).sum())


def is_identified(hessian: Array) -> bool:
    """Return whether the curvature tells all parameters apart."""
    return condition(hessian) <= WORST_CONDITION


def condition(hessian: Array) -> float:
    """Return the condition number of the Hessian with its diagonal scaled to 1."""
    diagonal = hessian.diagonal()
    if not np.isfinite(hessian).all() or diagonal.min() <= 0:
        return np.inf
    scaled = hessian / np.sqrt(np.outer(diagonal, diagonal))
    eigenvalues = np.linalg.eigvalsh(scaled)
    return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf
