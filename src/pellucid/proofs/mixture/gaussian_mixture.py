r"""Proof of a Gaussian mixture: a fixed point of EM up to its tolerance, and what every step leaves exactly right.

After a step of EM, whatever its responsibilities were, as long as they add up to 1 for each row,

.. math:: \sum_k \pi_k \mu_k = \bar x, \qquad
          \sum_k \pi_k (\Sigma_k + \mu_k \mu_k^\top) = \tfrac1n \sum_i x_i x_i^\top + \Phi,

with the floor :math:`\Phi` that keeps covariances from being singular: the mean and the covariance of the mixture are
those of the data, up to rounding. (Of a diagonal covariance only the diagonal, of a spherical one only the trace.) The
likelihood of the stored parameters is computed anew, one more step is made, and the curvature of the likelihood is
looked at. A step of EM goes no further, in nats of divergence, than the likelihood rises; hence its bound is ``tol``.

With ``reg_covar`` above 0 the likelihood may fall by what the floor costs: at most half of the sum of floor over
variance, which for K components of the data's own shape is as said in ``fall_bound``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.mixture.gaussian_components import (
    ROWS_AT_ONCE,
    GaussianComponents,
    answer_claims,
    curvature_bound,
    divergence,
    largest_curvature,
    never_fell_claim,
    next_components,
    posterior,
    step_sums,
    written_out,
)
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit, sum_error
from pellucid.proofs.sampling import drawn, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

FLOOR = 2.0**-33
"""Where ``reg_covar`` is above 0, no variance falls below this part of the variance of its column."""
STEP_ROUNDING = 1e-9
"""What rounding alone may move, in nats: digits that cancel in a divergence."""
LIKELIHOOD_ROUNDING = 1e-10
"""Relative rounding of a log likelihood, whose terms are lengths of rows in narrow components."""
CONDITION = 1e10
"""Covariances with a larger condition are not inverted well enough to be certified."""
CURVED, CURVED_AT_FIT = 20_000, 1000
"""Rows of which the curvature is taken by verify and at a fit."""
DIRECTIONS, FEW_DIRECTIONS = (3, 5), (2, 3)
"""Directions of the subspace and steps of EM applied to it; few at a fit, where the look should cost little."""
NOT_CONVERGED = (
    "Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, or "
    "check for degenerate data."
)


def variance_floor(reg_covar: float, variances: Array) -> Array:
    """Return what is added to the variance of each column: ``reg_covar``, or a little of its variance if that is more.

    Nothing is added where ``reg_covar`` is 0: then a component that collapses is an error.
    """
    return np.maximum(reg_covar, FLOOR * variances) if reg_covar > 0.0 else np.zeros(len(variances))


def stored_components(fitted: Seen, parameters: Seen, d: int) -> GaussianComponents | Certificate:
    """Return the components of a model of ``d`` columns, or the certificate that says what about them cannot be."""
    k, kind = parameters.n_components, parameters.covariance_type
    shape: Any = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    spreads = dict.fromkeys(("covariances_", "precisions_cholesky_", "precisions_"), shape)
    if wrong := misshapen("stationary", fitted, weights_=(k,), means_=(k, d), **spreads):
        return wrong
    model = written_out(kind, fitted.weights_, fitted.means_, fitted.covariances_, fitted.precisions_cholesky_)
    wrong = misshapen("stationary", fitted, {"covariances_ or precisions_cholesky_": model.is_possible})
    return wrong or model


def prove_gaussian_mixture(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    model = stored_components(fitted, parameters, data.X.shape[1])
    if isinstance(model, Certificate):
        return model
    weight = data.weights
    about = _moments_of_data(data.X, weight, model.has_matrices and not is_fitting())
    floor = variance_floor(parameters.reg_covar, about.variances)
    moments = moment_claims(model, about, floor, parameters)
    if is_fitting():  # one more step goes no further than the gain says, and costs as much as several steps of the fit
        if parameters.max_iter == 0:
            return Certificate("none", (moments[0],), ONLY_THE_START)
        claims = (*moments, *rise_claims(fitted, fitted.log_likelihood_, parameters, about, floor))
        curvature = _curvature_of(model, data, about, floor, parameters.tol)
        return Certificate("stationary", (*claims, curvature), collapse_report(model, about, floor))
    found = step_sums(data.X, weight, model)

    def shares_of(rows: Array) -> Array:
        return posterior(model.log_joint(model.deviations(data.X[rows].astype(np.float64))))[1]

    own = (
        inverse_claim(fitted, model, about, floor),
        likelihood_claim(fitted.log_likelihood_, found.log_likelihood, about, len(model.weights)),
        *answer_claims(fitted, shares_of, len(data.X), 1e-8 + 8.0 * rounding_unit(data.X.dtype)),
    )
    if parameters.max_iter == 0:
        return Certificate("none", (moments[0], *own), ONLY_THE_START)
    step = divergence(next_components(model, found, floor), model)
    return Certificate(
        "stationary",
        (
            *moments,
            *own[:2],
            *rise_claims(fitted, found.log_likelihood, parameters, about, floor),
            Claim("step", STEP_SAYS, step, parameters.tol + STEP_ROUNDING, NOT_CONVERGED),
            _curvature_of(model, data, about, floor, parameters.tol),
            *own[2:],
        ),
        collapse_report(model, about, floor),
    )


ONLY_THE_START = "max_iter=0 asks for the start of the search alone: nothing is claimed about the likelihood."

STEP_SAYS = "nats by which one more step of EM moves the components, on average over the rows"


class MixtureData:
    """Mean and covariance of the data, or variances alone, and how far the rows reach."""

    def __init__(self, n: int, mean: Array, spread: Array, reach: Any = 0.0) -> None:
        self.n, self.mean, self.spread = n, mean, spread
        self.variances = np.diagonal(spread) if spread.ndim == 2 else spread
        self.deviations = np.sqrt(self.variances)
        self.reach = np.maximum(reach, self.deviations)

    @property
    def log_size(self) -> float:
        """The size of a log density of these data, of which rounding is a part."""
        logs = np.abs(np.log(np.maximum(self.deviations, TINY)))
        return float(np.sum(1.0 + logs)) + 1.0


def _moments_of_data(X: Array, weight: Array, has_matrices: bool) -> MixtureData:
    """Return the moments about the mean, in blocks."""
    total, d = float(weight.sum()), X.shape[1]
    center, reach = np.asarray(X[0], dtype=np.float64), np.zeros(d)
    spread = np.zeros((d, d) if has_matrices else d)
    for number in range(2):  # the mean, then the spread about it
        shift = np.zeros(d)
        for start in range(0, len(X), ROWS_AT_ONCE):
            rows = np.subtract(X[start : start + ROWS_AT_ONCE], center, dtype=np.float64)
            counts = weight[start : start + ROWS_AT_ONCE]
            shift += counts @ rows
            if number:
                spread += (rows.T * counts) @ rows if has_matrices else counts @ np.square(rows)
                reach = np.max([reach, rows.max(axis=0), -rows.min(axis=0)], axis=0)
        center = center + shift / total
    return MixtureData(len(X), center, spread / total, reach)


def moment_claims(model: GaussianComponents, about: MixtureData, floor: Array, parameters: Seen) -> list[Claim]:
    """Return the claims that weights, mean and covariance of the mixture are those of a step of EM."""
    bound = 8.0 * sum_error(about.n)
    weights = model.weights
    total = float(abs(weights.sum() - 1.0)) if (weights >= 0.0).all() else math.inf
    away = model.means - about.mean
    size = about.reach + np.abs(about.mean) + TINY
    mean = float(np.max(np.abs(weights @ away) / size))
    # stored means are rounded, which shows in products with deviations; what that is worth in units of the bound
    lost = 4 * EPSILON * np.abs(about.mean) / bound
    if model.has_matrices and about.spread.ndim == 2:
        seen = np.einsum("k,kij->ij", weights, model.covariances) + (away * weights[:, None]).T @ away
        wanted, room = about.spread + np.diag(floor), np.outer(about.reach, about.reach) + np.diag(floor)
        room = room + np.outer(about.reach, lost) + np.outer(lost, about.reach)
    else:
        own = np.diagonal(model.covariances, axis1=1, axis2=2) if model.has_matrices else model.covariances
        seen = weights @ (own + away**2)
        wanted, room = about.variances + floor, about.reach**2 + floor + 2 * about.reach * lost
    if parameters.covariance_type == "spherical":
        seen, wanted, room = (np.atleast_1d(np.mean(one)) for one in (seen, wanted, room))
    spread = float(np.max(np.abs(seen - wanted) / (room + TINY)))
    remedy = "Let max_iter be at least 1."
    return [
        Claim("weights", "how far from 1 the weights add up", total, bound, remedy),
        Claim("mean", "distance of the mixture's mean from that of the data, in their sizes", mean, bound, remedy),
        Claim("covariance", "distance of the mixture's covariance from that of the data", spread, bound, remedy),
    ]


def inverse_claim(fitted: Seen, model: GaussianComponents, about: MixtureData, floor: Array) -> Claim:
    """Return the claim that factors belong to the covariances, and precisions to the factors."""
    d, factors = len(about.mean), model.factors
    if model.has_matrices:
        inner = factors.transpose(0, 2, 1) @ model.covariances @ factors
        turned = np.max(np.abs(inner - np.eye(d)))
        products = factors @ factors.transpose(0, 2, 1)
        sizes = np.sqrt(np.einsum("kii->ki", products))
        sizes = sizes[:, :, None] * sizes[:, None, :]
        product = np.max(np.abs(fitted.precisions_ - products) / sizes)
        is_factor = not np.tril(factors, -1).any() and (np.diagonal(factors, axis1=1, axis2=2) > 0.0).all()
    else:
        precisions = fitted.precisions_[:, None] if fitted.precisions_.ndim == 1 else fitted.precisions_
        turned = np.max(np.abs(factors**2 * model.covariances - 1.0))
        product = np.max(np.abs(precisions / factors**2 - 1.0))
        is_factor = (factors > 0.0).all()
    narrow = float(np.max((about.variances + floor) / np.maximum(floor, TINY)))
    said, remedy = "distance of covariances times precisions from 1", "Raise reg_covar, or drop columns."
    bound = 16.0 * EPSILON * d * (min(d * narrow, CONDITION) if model.has_matrices else 1.0)
    value = float(turned) if is_factor else math.inf
    return worst_claim(
        (Claim("precisions", said, value, bound, remedy), Claim("precisions", said, float(product), 16.0 * EPSILON * d))
    )


def likelihood_claim(stored: float, found: float, about: MixtureData, k: int) -> Claim:
    """Return the claim that the stored likelihood is that of the stored parameters."""
    said = "distance of the stored mean log likelihood from that of the stored parameters"
    return Claim("likelihood", said, abs(stored - found), likelihood_bound(about, k))


def likelihood_bound(about: MixtureData, k: int) -> float:
    """Return the rounding that a mean log likelihood of these data may have."""
    return LIKELIHOOD_ROUNDING * (about.log_size + math.log(k))


def rise_claims(fitted: Seen, now: float, parameters: Seen, about: MixtureData, floor: Array) -> tuple[Claim, Claim]:
    """Return the claims that the last step gained no more than ``tol``, and that no step lost more than the floor."""
    gain, fall = now - fitted.lower_bound_, fall_bound(parameters, about, floor)
    bound = parameters.tol + likelihood_bound(about, parameters.n_components)
    value = gain if gain >= 0.0 else -gain * bound / fall  # a fall in units of what it may be
    return (
        Claim("gain", "rise of the mean log likelihood by the last step", float(value), bound, NOT_CONVERGED),
        never_fell_claim(fitted, fall, "Lower reg_covar, or scale X."),
    )


def fall_bound(parameters: Seen, about: MixtureData, floor: Array) -> float:
    """Return by how much a step may lower the mean log likelihood: rounding, and what the floor costs."""
    rounding = likelihood_bound(about, parameters.n_components)
    varied = about.variances > floor
    cost = 0.5 * parameters.n_components**2 * float(np.sum(floor[varied] / about.variances[varied]))
    return rounding + (parameters.tol + cost if parameters.reg_covar > 0.0 else 0.0)


def _curvature_of(model: GaussianComponents, data: TrainingData, about: MixtureData, floor: Array, tol: float) -> Claim:
    some = drawn(len(data.X), CURVED_AT_FIT if is_fitting() else CURVED)
    counts = np.ones(len(some)) if data.weight is None else data.weight[some]
    return curvature_claim(model, data.X[some], counts, about, floor, tol)


def curvature_claim(
    model: GaussianComponents, some: Array, counts: Array, about: MixtureData, floor: Array, tol: float
) -> Claim:
    """Return the claim that the likelihood does not curve upward, from some of the rows."""
    n = about.n
    directions, steps = FEW_DIRECTIONS if is_fitting() else DIRECTIONS
    rows = np.subtract(some, about.mean, dtype=np.float64)  # small shifts would drown in a large offset
    centered = replace(model, means=model.means - about.mean)
    value = largest_curvature(rows, counts, centered, floor, n_directions=directions, n_steps=steps)
    sample = "" if len(some) == n else f", from {len(some):,} of {n:,} rows"
    said = f"largest curvature of the likelihood in a random subspace, 0 or less at a maximum{sample}"
    remedy = "The fit may have ended at a saddle, or far from a maximum: try another start, or a smaller tol."
    return Claim("curvature", said, value, curvature_bound(tol, len(some), n), remedy)


def collapse_report(model: GaussianComponents, about: MixtureData, floor: Array) -> str:
    """Return a sentence about components that have collapsed onto the floor, if there are any."""
    own = np.diagonal(model.covariances, axis1=1, axis2=2) if model.has_matrices else model.covariances
    collapsed = int(np.sum(((own < 1.5 * floor) & (about.variances > 100.0 * floor)).any(axis=1)))
    if not collapsed:
        return ""
    return (
        f"{collapsed} of {len(own)} components have collapsed onto few rows: the variance of a column is what "
        "reg_covar adds, not what the rows have. Ask for fewer components, or raise reg_covar."
    )


PROVES = {"GaussianMixture": prove_gaussian_mixture}
