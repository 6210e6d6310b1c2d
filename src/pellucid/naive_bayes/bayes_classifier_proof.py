"""Proof of a BayesClassifier: its prior and its fitted densities are the stated estimates, up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON, sum_error
from pellucid.core.types import Array
from pellucid.naive_bayes.gaussian_nb_proof import TINY, weighted_moments
from pellucid.probability import certify_fit


def prove_bayes_classifier(
    model: Any, X: Array, y: Array, weight: Array | None, *, densities_given: bool
) -> Certificate:
    """Return the certificate of the fitted attributes, recomputed from the data."""
    weight = np.ones(len(y)) if weight is None else weight
    rows = [(y == label) & (weight > 0) for label in model.classes_]
    counts = np.array([weight[some].sum() for some in rows])
    strangers = abs(float(weight.sum() - counts.sum()))
    claims = [
        Claim(
            "class counts",
            "relative distance from the weights of the classes",
            (float(np.abs(model.class_count_ - counts).max()) + strangers) / float(weight.sum()),
            sum_error(len(y)),
        ),
        prior_claim(model, counts, len(y)),
    ]
    if densities_given:
        return Certificate("exact", tuple(claims), "The densities were given: nothing is claimed about them.")
    epsilon = model.var_smoothing * float(weighted_moments(X, np.arange(len(X)), weight)[1].max())
    proofs = [_prove_density(d, X[some], weight[some], epsilon) for d, some in zip(model.densities_, rows, strict=True)]
    if any(proof.grade == "none" for proof in proofs):
        return Certificate("exact", tuple(claims), "Nothing is claimed about the densities, which are the user's own.")
    return Certificate("exact", (*claims, *_worst_claims(proofs)))


def prior_claim(model: Any, counts: Array, n: int) -> Claim:
    """Return the claim about the prior: as it was given, or the shares of the classes."""
    stated = counts / counts.sum() if model.priors is None else np.asarray(model.priors, dtype=np.float64)
    distance = float(np.abs(model.class_prior_ - stated).max())
    return Claim("class prior", "distance from the stated prior", distance, sum_error(n))


def _prove_density(density: Any, X: Array, weight: Array, epsilon: float) -> Certificate:
    """Return the certificate of one density; the Gaussian ones are smoothed, so their score does not vanish."""
    if type(density).__name__ not in ("Gaussian", "MultivariateGaussian"):
        return certify_fit(density, X, weight)
    mean, _ = weighted_moments(X, np.arange(len(X)), weight)
    centered = X - mean
    covariance = (centered * weight[:, None]).T @ centered / weight.sum() + epsilon * np.eye(X.shape[1])
    stored = np.asarray(getattr(density, "covariance", density.variance), dtype=np.float64).reshape(covariance.shape)
    deviation = np.sqrt(np.maximum(covariance.diagonal(), TINY))
    bound = sum_error(X.size)
    rounded = 4 * EPSILON * float((np.abs(mean) / deviation).max())  # of the means, seen in the covariance
    means = float((np.abs(density.mean - mean) / (np.abs(mean) + deviation)).max())
    spreads = float((np.abs(stored - covariance) / np.outer(deviation, deviation)).max())
    return Certificate(
        "exact",
        (
            Claim("means", "distance from the class means, relative to their size and deviation", means, bound),
            Claim("covariances", "distance from the class covariances, in deviations", spreads, bound + rounded**2),
        ),
    )


def _worst_claims(proofs: Sequence[Certificate]) -> list[Claim]:
    """Return of each claim that the densities make the one that is nearest to failing."""
    by_name: dict[str, list[Claim]] = {}
    for proof in proofs:
        for claim in proof.claims:
            by_name.setdefault(claim.name, []).append(claim)
    return [max(claims, key=_excess) for claims in by_name.values()]


def _excess(claim: Claim) -> float:
    """Return how far a claim is from holding."""
    return float("inf") if np.isnan(claim.value) else claim.value - claim.bound
