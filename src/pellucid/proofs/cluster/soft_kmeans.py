r"""Proof of a soft k-means clustering: a fixed point of EM up to its tolerance, and no saddle in a random subspace.

The likelihood is computed anew by differences. After a step of EM, :math:`\sum_k s_k \mu_k = \sum_i w_i x_i` for the
sizes :math:`s_k` of that step, whatever its responsibilities were: the centers are held to that up to rounding. One
more step moves them by :math:`\frac{\beta}{2n} \sum_k s_k |\mu'_k - \mu_k|^2` nats, no more than the likelihood rises.
Near a fixed point EM multiplies a small shift by 1 plus the curvature of the likelihood, in units of complete data; a
direction of which it makes more is one of a saddle.
"""

from __future__ import annotations

import math

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.mixture.gaussian_components import (
    answer_claims,
    curvature_bound,
    largest_growth,
    never_fell_claim,
    posterior,
)
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit, sum_error
from pellucid.proofs.sampling import drawn, draws, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 2048
LIKELIHOOD_ROUNDING = 1e-11
STEP_ROUNDING = 1e-12
DIRECTIONS, STEPS, CURVED, CURVED_AT_FIT = 3, 5, 5000, 1000
STEP_SAYS = "nats by which one more step of EM moves the centers, on average over the rows"
NOT_CONVERGED = "Raise max_iter or tol."


def prove_soft_kmeans(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    centers, weight, beta = fitted.cluster_centers_, data.weights, float(parameters.beta)
    k, n = parameters.n_clusters, data.X.shape[0]
    shapes = {"cluster_centers_": (k, data.X.shape[1]), "cluster_sizes_": (k,), "labels_": (data.n_given,)}
    if wrong := misshapen("stationary", fitted, **shapes):
        return wrong
    counted = data.given_rows(np.arange(n))
    labels, without = fitted.labels_[counted], np.delete(fitted.labels_, counted)
    log_sum, sizes, moves, strays = _one_step(data.X, weight, centers, beta, labels)
    strays += int(np.sum(without != -1))
    found = log_sum / float(weight.sum())
    spread = _Spread(data.X, weight, beta)
    step = 0.5 * beta * float(sizes @ (moves**2).sum(axis=1)) / float(weight.sum())
    stored = abs(fitted.log_likelihood_ - found)

    def shares_of(rows: Array) -> Array:
        return posterior(-0.5 * beta * _squares(data.X[rows], centers))[1]

    return Certificate(
        "stationary",
        (
            *_shared_claims(fitted, found, parameters, spread),
            Claim(
                "assignment", "rows whose label is not their nearest center", strays + float(np.sum(without != -1)), 0.0
            ),
            Claim("likelihood", "distance of the stored likelihood from that of the centers", stored, spread.rounding),
            Claim("step", STEP_SAYS, step, parameters.tol + STEP_ROUNDING, NOT_CONVERGED),
            _curvature_claim(data, centers, beta, parameters.tol, CURVED_AT_FIT if is_fitting() else CURVED),
            *answer_claims(fitted, shares_of, n, 1e-8 + 8 * rounding_unit(data.X.dtype)),
        ),
    )


class _Spread:
    """Mean and reach of the data, and the rounding that a log likelihood of them may have."""

    def __init__(self, X: Array, weight: Array, beta: float) -> None:
        origin, total = np.asarray(X[0], dtype=np.float64), float(weight.sum())
        shift, reach = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for start in range(0, len(X), ROWS_AT_ONCE):
            rows = np.subtract(X[start : start + ROWS_AT_ONCE], origin, dtype=np.float64)
            shift += weight[start : start + ROWS_AT_ONCE] @ rows
            reach = np.maximum(reach, np.abs(rows).max(axis=0))
        self.n, self.total, self.mean, self.reach = len(X), total, origin + shift / total, reach + TINY
        stiff = beta * float(np.sum(self.reach**2))
        lost = beta * float(np.sum(self.reach * np.abs(self.mean))) * EPSILON  # as centers are stored rounded
        self.rounding = LIKELIHOOD_ROUNDING * (1.0 + X.shape[1] * (1.0 + abs(math.log(beta)))) + 64 * (
            EPSILON * stiff + lost
        )


def _shared_claims(fitted: Seen, found: float, parameters: Seen, spread: _Spread) -> list[Claim]:
    sizes, centers = fitted.cluster_sizes_, fitted.cluster_centers_
    bound = 8.0 * sum_error(spread.n)
    total = abs(float(sizes.sum()) / spread.total - 1.0) if (sizes >= 0.0).all() else math.inf
    away = np.abs(sizes @ (centers - spread.mean)) / spread.total
    center = float(np.max(away / (spread.reach + np.abs(spread.mean))))
    gain = abs(found - fitted.lower_bound_)
    return [
        Claim("sizes", "relative distance of the sum of the sizes from the number of rows", total, bound),
        Claim("mean", "distance of the mean of the centers, by size, from that of the data", center, bound),
        Claim("gain", "rise of the likelihood by the last step", gain, parameters.tol + spread.rounding, NOT_CONVERGED),
        never_fell_claim(fitted, spread.rounding),
    ]


def _squares(rows: Array, centers: Array) -> Array:
    """Return the squared distances of rows to centers, from differences."""
    return np.stack([np.square(rows.astype(np.float64) - center).sum(axis=1) for center in centers], axis=1)


def _one_step(X: Array, weight: Array, centers: Array, beta: float, labels: Array) -> tuple[float, Array, Array, int]:
    """Return the sum of log densities, the sizes, how far a step moves the centers, and rows with wrong labels."""
    constant = 0.5 * X.shape[1] * math.log(beta / (2 * math.pi)) - math.log(len(centers))
    log_sum, strays, sizes, shifts = 0.0, 0, np.zeros(len(centers)), np.zeros(centers.shape)
    for start in range(0, len(X), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        rows, counts = np.asarray(X[some], dtype=np.float64), weight[some]
        squares = _squares(rows, centers)
        logs, shares = posterior(-0.5 * beta * squares)
        log_sum += float(counts @ (logs + constant))
        shares *= counts[:, None]
        sizes += shares.sum(axis=0)
        own = labels[some]
        inside = (own >= 0) & (own < len(centers))
        mine = squares[np.arange(len(rows)), np.where(inside, own, 0)]
        strays += int(np.sum(~inside | ~(mine <= squares.min(axis=1) * (1.0 + 4 * EPSILON * X.shape[1]))))
        for k, center in enumerate(centers):
            shifts[k] += shares[:, k] @ (rows - center)
    return log_sum, sizes, shifts / np.maximum(sizes, TINY)[:, None], strays


def _curvature_claim(data: TrainingData, centers: Array, beta: float, tol: float, most: int) -> Claim:
    """Return the claim that EM makes no shift of the centers larger, in a random subspace of shifts."""
    n, weight = data.X.shape[0], data.weights
    some = drawn(n, most)
    rows, counts, nowhere = np.asarray(data.X[some], dtype=np.float64), weight[some], np.zeros(len(some), np.int32)
    _, sizes, zero, _ = _one_step(rows, counts, centers, beta, nowhere)
    metric = np.sqrt(beta * np.maximum(sizes, 1e-9) / sizes.sum())[:, None]  # lengths in nats

    def step(shift: Array) -> Array:
        moved = shift.reshape(centers.shape) / metric
        return ((moved + _one_step(rows, counts, centers + moved, beta, nowhere)[2] - zero) * metric).ravel()

    value = largest_growth(step, draws().standard_normal((centers.size, min(DIRECTIONS, centers.size))), STEPS)
    sample = "" if len(some) == n else f", from {len(some):,} of {n:,} rows"
    said = f"largest curvature of the likelihood in a random subspace, 0 or less at a maximum{sample}"
    return Claim("curvature", said, value, curvature_bound(tol, len(some), n),
                 "The fit may have ended at a saddle: try another start.")  # fmt: skip


PROVES = {"SoftKMeans": prove_soft_kmeans}
