"""Proof of a MixedNB model: prior and densities are the stated smoothed estimates, up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON, sum_error
from pellucid.core.types import Array
from pellucid.naive_bayes.gaussian_nb_proof import relative_distance, weighted_moments
from pellucid.probability import Beta, Dirichlet, certify_fit

TINY = float(np.finfo(np.float64).tiny)


def mixed_certificate(n: int, *, counts: float, prior: float, conditionals: Claim, unproved: list[int]) -> Certificate:
    """Return the certificate of measured relative errors."""
    bound = sum_error(n)
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", counts, bound),
        Claim("class prior", "distance from the stated prior", prior, bound),
        conditionals,
    )
    said = (
        f"Nothing is claimed about the densities of columns {unproved}, which are the user's own." if unproved else ""
    )
    return Certificate("exact", claims, said)


def conditionals_claim(value: float, bound: float) -> Claim:
    """Return the claim about the densities of all columns and classes: that of the worst."""
    return Claim("conditionals", "relative distance of a density from its smoothed estimate, at worst", value, bound)


def is_ours(density: Any) -> bool:
    """Return whether a density is one of ours, whose estimate has a proof."""
    return type(density).__module__.startswith("pellucid.")


def prove_mixed_nb(model: Any, columns: Sequence[Array], y: Array, weight: Array | None) -> Certificate:
    """Return the certificate of the fitted attributes, recomputed class by class and column by column."""
    weight = np.ones(len(y)) if weight is None else weight
    rows = [np.flatnonzero((y == label) & (weight > 0)) for label in model.classes_]
    counts = np.array([weight[some].sum() for some in rows])
    shares = (counts + model.prior_alpha) / (counts.sum() + model.prior_alpha * len(counts))
    epsilon = model.var_smoothing * _largest_variance(model, columns, weight)
    worst = conditionals_claim(0.0, sum_error(len(y)))
    for column, densities in zip(columns, model.densities_, strict=True):
        for some, density in zip(rows, densities, strict=True):
            claims = _claims(density, column[some], weight[some], model.alpha, epsilon)
            worst = max([worst, *(conditionals_claim(c.value, c.bound) for c in claims)], key=_excess)
    return mixed_certificate(
        len(y),
        counts=(float(np.abs(model.class_count_ - counts).max()) + abs(float(weight.sum() - counts.sum())))
        / float(weight.sum()),
        prior=float(np.abs(model.class_prior_ - shares).max()),
        conditionals=worst,
        unproved=[j for j, densities in enumerate(model.densities_) if not is_ours(densities[0])],
    )


def _claims(density: Any, values: Array, weight: Array, alpha: float, epsilon: float) -> Sequence[Claim]:
    if type(density).__name__ == "Gaussian":
        return _gaussian_claims(density, values, weight, epsilon)
    prior: Any = None
    if alpha > 0 and type(density).__name__ == "Bernoulli":
        prior = Beta(1 + alpha, 1 + alpha)
    if alpha > 0 and type(density).__name__ == "Categorical":
        prior = Dirichlet(np.full(len(density.categories), 1 + alpha))
    return certify_fit(density, values, weight, prior).claims


def _gaussian_claims(density: Any, values: Array, weight: Array, epsilon: float) -> Sequence[Claim]:
    mean, variance = weighted_moments(values[:, None], np.arange(len(values)), weight)
    wanted = np.maximum(variance + epsilon, TINY)
    bound = 2 * sum_error(len(values))  # of the stored sums and of these
    rounded = 4 * EPSILON * float(np.abs(mean[0]) / np.sqrt(wanted[0]))  # of the class means, which make up epsilon
    return (
        Claim("mean", "", relative_distance(np.array([density.mean]), mean, np.abs(mean) + np.sqrt(wanted)), bound),
        Claim("variance", "", relative_distance(np.array([density.variance]), wanted, wanted), bound + rounded),
    )


def _largest_variance(model: Any, columns: Sequence[Array], weight: Array) -> float:
    """Return the largest variance among the Gaussian columns, over all rows."""
    variances = [
        float(weighted_moments(column[:, None], np.arange(len(column)), weight)[1][0])
        for column, densities in zip(columns, model.densities_, strict=True)
        if type(densities[0]).__name__ == "Gaussian"
    ]
    return max(variances, default=0.0)


def _excess(claim: Claim) -> float:
    """Return how far a claim is from holding: the value in units of the bound."""
    if np.isnan(claim.value):
        return float("inf")
    return claim.value / claim.bound if claim.bound > 0 else (float("inf") if claim.value > 0 else 0.0)
