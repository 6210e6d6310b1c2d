r"""Gaussian components: what a step of EM finds in the data, by differences, and whether it stands at a maximum.

Covariances are matrices or, where they are diagonal, vectors; one that is shared or is a single number is written out
for every component.

Near a fixed point EM multiplies a small shift by :math:`J = I + C^{-1}H`, with the information :math:`C` of complete
data and the curvature :math:`H` of the likelihood. So a direction of which EM makes more is one in which the likelihood
curves upward: a saddle. A random subspace, to which the step has been applied a few times, holds the directions of
which EM makes most; the largest eigenvalue there, less 1, is the curvature in units of :math:`C`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, pi

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import TINY
from pellucid.proofs.sampling import draws
from pellucid.proofs.seen import Seen

ROWS_AT_ONCE = 4096
SHIFT = 1e-4
"""Size of the shifts: small enough for the second order, large enough for the digits."""
ALIVE = 1e-9
"""Components of less weight are left where they are."""
SMALLEST = 1e-9
"""The least tol that counts: rounding alone leaves this much."""


@dataclass(frozen=True, eq=False)
class GaussianComponents:
    """Weights (K,), means (K, d) and, written out, covariances (K, d, d) or (K, d) and factors of their inverses."""

    kind: str
    weights: Array
    means: Array
    covariances: Array
    factors: Array

    @property
    def has_matrices(self) -> bool:
        """Whether the covariances are matrices."""
        return self.covariances.ndim == 3

    @property
    def is_possible(self) -> bool:
        """Whether covariances are positive definite and factors have a positive diagonal, as all fits leave them."""
        scales = np.diagonal(self.factors, axis1=1, axis2=2) if self.has_matrices else self.factors
        return bool((scales > 0.0).all() and np.isfinite(inverse_factors(self.covariances)).all())

    def standardized(self, deviations: Array) -> Array:
        """Return deviations (K, n, d) in units of each component's own."""
        return deviations @ self.factors if self.has_matrices else deviations * self.factors[:, None]

    def deviations(self, rows: Array) -> Array:
        """Return rows about each of the means, of shape (K, n, d)."""
        return np.asarray(rows - self.means[:, None])

    def log_joint(self, deviations: Array) -> Array:
        """Return the log joint density of each row and component, of shape (n, K)."""
        z, d = self.standardized(deviations), deviations.shape[2]
        scales = np.diagonal(self.factors, axis1=1, axis2=2) if self.has_matrices else self.factors
        peaks = np.log(np.maximum(self.weights, TINY)) + np.log(scales).sum(axis=1) - 0.5 * d * log(2 * pi)
        return np.asarray((peaks[:, None] - 0.5 * np.einsum("kij,kij->ki", z, z)).T)


@dataclass(frozen=True, eq=False)
class StepSums:
    """Of one pass: the mean log likelihood, and of each component the weight of its rows, their mean, their spread."""

    log_likelihood: float
    totals: Array
    means: Array
    spreads: Array


def written_out(kind: str, weights: Array, means: Array, covariances: Array, factors: Array) -> GaussianComponents:
    """Return components with a covariance and a factor each, whatever the kind of covariance."""
    (k, d) = means.shape
    if kind == "tied":
        covariances, factors = (np.broadcast_to(one, (k, d, d)) for one in (covariances, factors))
    if kind == "spherical":
        covariances, factors = (np.repeat(one[:, None], d, axis=1) for one in (covariances, factors))
    return GaussianComponents(kind, weights, means, covariances, factors)


def posterior(joint: Array) -> tuple[Array, Array]:
    """Return the log density of each row, and its responsibilities."""
    top = joint.max(axis=1, keepdims=True)
    parts = np.exp(joint - top)
    total = parts.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], parts / total


def step_sums(X: Array, weight: Array, model: GaussianComponents) -> StepSums:
    """Return what one step of EM finds, in one pass over the rows."""
    return found_in_step(model, float(weight.sum()), *plain_sums(X, weight, model))


def plain_sums(X: Array, weight: Array, model: GaussianComponents) -> tuple[float, Array, Array, Array]:
    """Return sums over rows: their log densities, and for each component weights, deviations and products of these."""
    log_sum, totals = 0.0, np.zeros(len(model.weights))
    shifts, spreads = np.zeros(model.means.shape), np.zeros(model.covariances.shape)
    height = max(1, ROWS_AT_ONCE // len(totals))
    for start in range(0, len(X), height):
        rows, counts = np.asarray(X[start : start + height], float), weight[start : start + height]
        deviations = model.deviations(rows)
        logs, shares = posterior(model.log_joint(deviations))
        log_sum += float(counts @ logs)
        own = np.ascontiguousarray(shares.T) * counts  # (K, n)
        totals += own.sum(axis=1)
        shifts += (own[:, None] @ deviations)[:, 0]
        if model.has_matrices:
            spreads += (deviations.transpose(0, 2, 1) * own[:, None]) @ deviations
        else:
            spreads += (own[:, None] @ np.square(deviations))[:, 0]
    return log_sum, totals, shifts, spreads


def found_in_step(
    model: GaussianComponents, total: float, log_sum: float, totals: Array, shifts: Array, spreads: Array
) -> StepSums:
    """Return what the sums over all rows, of this total weight, say."""
    divisor = np.where(totals > 0.0, totals, 1.0)
    shift = shifts / divisor[:, None]
    spreads = spreads / divisor.reshape(-1, *[1] * (spreads.ndim - 1))
    spreads -= shift[:, :, None] * shift[:, None, :] if model.has_matrices else shift**2
    return StepSums(log_sum / total, totals, model.means + shift, spreads)


def next_components(model: GaussianComponents, found: StepSums, floor: Array) -> GaussianComponents:
    """Return the components after the step; covariances are restricted to their kind, and the floor is added."""
    shares = found.totals / found.totals.sum()
    spreads = found.spreads
    if model.kind == "tied":
        spreads = np.broadcast_to(np.einsum("k,kij->ij", shares, spreads), spreads.shape)
    if model.kind == "spherical":
        spreads = np.repeat(spreads.mean(axis=1, keepdims=True), spreads.shape[1], axis=1)
        floor = np.full(len(floor), floor.mean())
    covariances = spreads + (np.diag(floor) if model.has_matrices else floor)
    return GaussianComponents(model.kind, shares, found.means, covariances, inverse_factors(covariances))


def inverse_factors(covariances: Array) -> Array:
    """Return upper triangular U with U U' the inverses, or deviations turned over; NaN where there are none."""
    if covariances.ndim == 2:
        return np.asarray(1.0 / np.sqrt(covariances))
    try:
        return np.linalg.inv(np.linalg.cholesky(covariances)).transpose(0, 2, 1)
    except np.linalg.LinAlgError:
        return np.full(covariances.shape, np.nan)


def _seen_from(old: GaussianComponents, means: Array, covariances: Array) -> tuple[Array, Array]:
    r"""Return :math:`U_k^\top\mu_k` and :math:`U_k^\top\Sigma_kU_k`, or the same of deviations."""
    places = old.standardized(means[:, None])[:, 0]
    if old.has_matrices:
        return places, old.factors.transpose(0, 2, 1) @ covariances @ old.factors
    return places, covariances * old.factors**2


def divergence(new: GaussianComponents, old: GaussianComponents) -> float:
    """Return the mean over the new weights of the divergence of the new from the old components, in nats."""
    moves, inner = _seen_from(old, new.means - old.means, new.covariances)
    if new.has_matrices:
        spreads = np.trace(inner, axis1=1, axis2=2) - inner.shape[1] - np.linalg.slogdet(inner)[1]
    else:
        spreads = np.sum(inner - 1.0 - np.log(inner), axis=1)
    logs = np.log(np.maximum(new.weights, TINY) / np.maximum(old.weights, TINY))
    nats = new.weights * (logs + 0.5 * spreads + 0.5 * np.sum(moves**2, axis=1))
    return float(nats[new.weights != 0.0].sum())


def coordinates(model: GaussianComponents, at: GaussianComponents) -> Array:
    r"""Return components as coordinates around others, in which their divergence is half a squared length.

    They are :math:`\sqrt{\pi_k} \log \pi'_k/\pi_k`, :math:`\sqrt{\pi_k} U_k^\top(\mu'_k - \mu_k)` and
    :math:`\sqrt{\pi_k / 2}\, U_k^\top(\Sigma'_k - \Sigma_k)U_k`; what components share counts once for each of them.
    """
    share = np.sqrt(at.weights)
    logs = np.log(np.maximum(model.weights, TINY)) - np.log(np.maximum(at.weights, TINY))
    moves, grown = _seen_from(at, model.means - at.means, model.covariances - at.covariances)
    each = np.hstack([moves, np.sqrt(0.5) * grown.reshape(len(share), -1)])
    return np.concatenate([share * logs, (share[:, None] * each).ravel()])


def largest_curvature(
    X: Array, weight: Array, model: GaussianComponents, floor: Array, *, n_directions: int, n_steps: int
) -> float:
    """Return the largest curvature of the likelihood in a subspace, in units of the complete information."""
    k, d = model.means.shape
    if k == 1:  # the likelihood of one Gaussian has one maximum, and EM goes there at once
        return -1.0
    zero = coordinates(next_components(model, step_sums(X, weight, model), floor), model)
    if not np.isfinite(zero).all():  # no step leads anywhere
        return inf
    drawn = np.zeros((len(zero), n_directions))
    alive = model.weights > ALIVE
    is_place = np.concatenate([alive, *(np.arange(len(zero) // k - 1) < d * one for one in alive)])
    drawn[is_place] = draws().standard_normal((int(is_place.sum()), n_directions))  # weights and means; spreads follow

    def step(shift: Array) -> Array:
        shifted = _shifted(model, shift)
        return coordinates(next_components(shifted, step_sums(X, weight, shifted), floor), model) - zero

    return largest_growth(step, drawn, n_steps)


def largest_growth(step: Callable[[Array], Array], drawn: Array, n_steps: int) -> float:
    """Return by how much a step makes a small shift larger, at most, in the subspace that it turns these columns to."""
    growth = np.zeros((1, 1))
    for _ in range(n_steps):
        basis, _ = np.linalg.qr(drawn)
        drawn = np.column_stack([step(SHIFT * direction) for direction in basis.T]) / SHIFT
        growth = basis.T @ drawn
    return float(np.max(np.linalg.eigvals(growth).real)) - 1.0


def never_fell_claim(fitted: Seen, bound: float, remedy: str = "") -> Claim:
    """Return the claim about the stored bounds of the likelihood, of which the last is ``lower_bound_``."""
    bounds = np.asarray(fitted.lower_bounds_, dtype=np.float64)
    agree = len(bounds) == fitted.n_iter_ and (len(bounds) == 0 or bounds[-1] == fitted.lower_bound_)
    fall = float(np.max(-np.diff(bounds), initial=0.0)) if agree else inf
    return Claim("never fell", "largest fall of the likelihood from one step to the next", fall, bound, remedy)


def answer_claims(fitted: Seen, shares_of: Callable[[Array], Array], n: int, bound: float) -> list[Claim]:
    """Return the claim about what the model says of some rows; none where only its numbers are there to ask."""
    if not hasattr(fitted, "responsibilities"):
        return []
    said, wanted = np.asarray(fitted.responsibilities, dtype=np.float64), shares_of(fitted.asked)
    off = [np.abs(said - wanted), np.abs(said.sum(axis=1) - 1.0)] if said.shape == wanted.shape else [np.array(inf)]
    statement = f"their distance from those of the parameters, on {len(fitted.asked):,} of {n:,} rows"
    return [Claim("responsibilities", statement, float(np.max([part.max() for part in off])), bound)]


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
