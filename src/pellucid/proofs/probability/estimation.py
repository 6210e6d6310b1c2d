"""Proof of an estimate: the likelihood is flat there, and curved downward in every direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim

CLOSE = 1e-6
"""Distance from the maximum in nats, a thousandth of a standard error, that is still claimed as found."""

WORST_CONDITION = 1e6
"""An information matrix with a larger condition number, its diagonal scaled to 1, does not tell parameters apart:
differences leave noise of a hundred-millionth."""

SHORTEST, LONGEST, MOST_TRIALS = 0.01, 0.3, 80
"""Steps of differences, in standard errors, and trials to find a standard error."""


def certify_estimate(loss: Callable[[Array], float], theta: Array) -> Certificate:
    """Return what the derivatives of minus the log likelihood or posterior say at these parameters."""
    gradient, hessian = derivatives(loss, np.asarray(theta, dtype=np.float64))
    return Certificate(
        "stationary",
        (
            Claim("newton decrement", "the log likelihood is about this far below its maximum, in nats",
                  decrement(gradient, hessian), CLOSE, "Start closer, or try another method."),
            Claim("identification",
                  "condition number of the information matrix, infinite if it is not positive definite",
                  condition(hessian), WORST_CONDITION,
                  "The parameters are not identified: drop one that the data do not determine, or give log_prior."),
        ),
    )  # fmt: skip


def decrement(gradient: Array, hessian: Array) -> float:
    """Return half of ``g' H^-1 g`` over the directions that are curved; infinite if one is curved the wrong way."""
    unit = np.sqrt(np.maximum(np.abs(hessian.diagonal()), np.finfo(float).tiny))
    gradient, hessian = gradient / unit, hessian / np.outer(unit, unit)
    if not (np.isfinite(hessian).all() and np.isfinite(gradient).all()):
        return np.inf
    eigenvalues, directions = np.linalg.eigh(hessian)
    curved = np.abs(eigenvalues) > np.abs(eigenvalues).max() / WORST_CONDITION
    if (eigenvalues[curved] < 0).any():
        return np.inf
    return 0.5 * float(((directions.T @ gradient)[curved] ** 2 / eigenvalues[curved]).sum())


def condition(hessian: Array) -> float:
    """Return the condition number of the Hessian with its diagonal scaled to 1."""
    diagonal = hessian.diagonal()
    if not np.isfinite(hessian).all() or diagonal.min() <= 0:
        return np.inf
    scaled = hessian / np.sqrt(np.outer(diagonal, diagonal))
    eigenvalues = np.linalg.eigvalsh(scaled)
    return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf


def derivatives(value: Callable[[Array], float], theta: Array) -> tuple[Array, Array]:
    """Return gradient and Hessian near a minimum, by central differences over a part of each standard error.

    Differences over a step and over half of it are joined so that the error of second order cancels (Richardson).
    """
    units = np.diag([_standard_error(value, theta, j) for j in range(len(theta))])
    part = float(np.clip((np.finfo(float).eps * max(1.0, abs(value(theta)))) ** (1 / 6), SHORTEST, LONGEST))
    (g_far, h_far), (g_near, h_near) = (_differences(value, theta, units * size) for size in (part, part / 2))
    return (4 * g_near - g_far) / 3, (4 * h_near - h_far) / 3


def _standard_error(value: Callable[[Array], float], theta: Array, j: int) -> float:
    """Return about how far the parameter alone may go until the log likelihood has changed by a half."""
    size, unit = max(1.0, abs(float(theta[j]))), np.eye(len(theta))[j]
    step, rise = 1e-4 * size, np.nan
    for _ in range(MOST_TRIALS):
        rise = value(theta + step * unit) + value(theta - step * unit) - 2 * value(theta)
        if not np.isfinite(rise) or rise > 1.0:
            step /= 4
        elif 0 <= rise < 1e-4 and step < 1e6 * size:
            step *= 3
        else:
            break
    return step / float(np.sqrt(rise)) if np.isfinite(rise) and rise > 0 else step


def _differences(value: Callable[[Array], float], theta: Array, moves: Array) -> tuple[Array, Array]:
    """Return first and second differences along the rows of ``moves``, each in the direction of one parameter."""
    k, steps = len(theta), moves.diagonal()
    gradient = np.array([value(theta + one) - value(theta - one) for one in moves]) / (2 * steps)
    second = np.array(
        [
            [
                value(theta + a + b) - value(theta + a - b) - value(theta - a + b) + value(theta - a - b)
                if i != j
                else 4 * (value(theta + a) - 2 * value(theta) + value(theta - a))
                for j, b in enumerate(moves)
            ]
            for i, a in enumerate(moves)
        ]
    ).reshape(k, k)
    return gradient, second / (4 * np.outer(steps, steps))
