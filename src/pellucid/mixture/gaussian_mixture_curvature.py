r"""Whether a fixed point of EM is a maximum of the likelihood or a saddle, seen in a random subspace.

Near a fixed point EM multiplies a small shift by :math:`J = I + C^{-1}H`, with the information :math:`C` of complete
data and the curvature :math:`H` of the likelihood. So a direction of which EM makes more is one in which the likelihood
curves upward: a saddle. A random subspace, to which the step has been applied a few times, holds the directions of
which EM makes most; the largest eigenvalue there, less 1, is the curvature in units of :math:`C`.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.mixture.gaussian_components import (
    GaussianComponents,
    coordinates,
    inverse_factors,
    next_components,
    step_sums,
)
from pellucid.proofs.sampling import draws

SHIFT = 1e-4
"""Size of the shifts: small enough for the second order, large enough for the digits."""
ALIVE = 1e-9
"""Components of less weight are left where they are."""
SMALLEST = 1e-9
"""The least tol that counts: rounding alone leaves this much."""


def largest_curvature(
    X: Array, weight: Array, model: GaussianComponents, floor: Array, *, n_directions: int, n_steps: int
) -> float:
    """Return the largest curvature of the likelihood in a subspace, in units of the complete information."""
    k, d = model.means.shape
    if k == 1:  # the likelihood of one Gaussian has one maximum, and EM goes there at once
        return -1.0
    zero = coordinates(next_components(model, step_sums(X, weight, model), floor), model)
    drawn = np.zeros((len(zero), n_directions))
    alive = model.weights > ALIVE
    is_place = np.concatenate([alive, *(np.arange(len(zero) // k - 1) < d * one for one in alive)])
    drawn[is_place] = draws().standard_normal((int(is_place.sum()), n_directions))  # weights and means; spreads follow
    growth = np.zeros((1, 1))
    for _ in range(n_steps):
        basis, _ = np.linalg.qr(drawn)
        shifted = (_shifted(model, SHIFT * direction) for direction in basis.T)
        ends = (next_components(one, step_sums(X, weight, one), floor) for one in shifted)
        drawn = np.column_stack([coordinates(end, model) - zero for end in ends]) / SHIFT
        growth = basis.T @ drawn
    return float(np.max(np.linalg.eigvals(growth).real)) - 1.0


def curvature_bound(tol: float, n_rows: int, n_all: int) -> float:
    r"""Return the curvature that a fit which stopped at a gain of ``tol`` may have.

    At a distance :math:`e` from the maximum, third derivatives of order 1 change the curvature by :math:`e`, and a step
    gains about :math:`e^3` where the curvature is only that; so :math:`e` is the third root of the gain, taken five
    times for derivatives that are larger. What is seen of a sample of the rows differs by the root of their number.
    """
    return 5.0 * float(max(tol, SMALLEST) ** (1 / 3)) + (0.0 if n_rows == n_all else 6.0 / float(np.sqrt(n_rows)))


def _shifted(model: GaussianComponents, shift: Array) -> GaussianComponents:
    """Return the components at these coordinates around the model: see ``coordinates``."""
    k, d = model.means.shape
    share = np.sqrt(np.maximum(model.weights, ALIVE))
    weights = model.weights * np.exp(shift[:k] / share)
    rows = shift[k:].reshape(k, -1) / share[:, None]
    moves, grown = rows[:, :d], rows[:, d:] / np.sqrt(0.5)
    if model.has_matrices:
        lower = np.linalg.cholesky(model.covariances)
        means = model.means + np.einsum("kij,kj->ki", lower, moves)
        inner = grown.reshape(k, d, d)
        covariances = model.covariances + lower @ ((inner + inner.transpose(0, 2, 1)) / 2) @ lower.transpose(0, 2, 1)
    else:
        means = model.means + moves / model.factors
        covariances = model.covariances + grown / model.factors**2
    return GaussianComponents(model.kind, weights / weights.sum(), means, covariances, inverse_factors(covariances))
