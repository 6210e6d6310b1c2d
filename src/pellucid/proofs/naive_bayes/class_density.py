"""Proofs of models with a density per class: prior and densities are the stated estimates, up to rounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.core.checks import column_values
from pellucid.core.labels import rows_by_class
from pellucid.probability.beta import Beta
from pellucid.probability.column_densities import guess_density, wanted_densities
from pellucid.probability.density import find_density
from pellucid.probability.dirichlet import Dirichlet
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.naive_bayes.gaussian_nb import relative_distance, rounded_means, weighted_moments
from pellucid.proofs.probability.maximum_likelihood import certify_fit
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.training_data import TrainingData


def prove_mixed_nb(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of a MixedNB, recomputed class by class and column by column."""
    rows_of, counts = _rows_and_counts(data)
    columns = [column_values(data.X, j) for j in range(data.X.shape[1])]
    numbers = [c for c, d in zip(columns, fitted.densities_, strict=True) if type(d[0]).__name__ == "Gaussian"]
    epsilon = _Smoothing(np.column_stack(numbers), data, parameters.var_smoothing) if numbers else None
    claims = [Claim("conditionals", "", 0.0, sum_error(len(data.y)))]
    for column, densities in zip(columns, fitted.densities_, strict=True):
        for rows, density in zip(rows_of, densities, strict=True):
            proof = _prove_column(density, column, rows, data.weights, parameters.alpha, epsilon)
            claims.extend(proof.claims)
    worst = worst_claim(claims)
    said = "relative distance of a density from its smoothed estimate, at worst"
    prior = (counts + parameters.prior_alpha) / (counts.sum() + parameters.prior_alpha * len(counts))
    unproved = [j for j, densities in enumerate(fitted.densities_) if not _is_ours(type(densities[0]))]
    return Certificate(
        "exact",
        (
            _count_claim(fitted, counts, len(data.y)),
            _prior_claim(fitted, prior, len(data.y)),
            Claim("conditionals", said, worst.value, worst.bound),
            _kind_claim(sum(_other_kinds(fitted, parameters, columns))),
        ),
        f"Nothing is claimed about the densities of columns {unproved}, which are the user's own." if unproved else "",
    )


def prove_bayes_classifier(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of a BayesClassifier; without rows, that everything is as it was given."""
    rows_of, counts = _rows_and_counts(data)
    n = 0 if data.X is None else len(data.y)
    prior = counts / counts.sum() if parameters.priors is None else np.asarray(parameters.priors, dtype=np.float64)
    costs = 1.0 - np.eye(len(counts)) if parameters.costs is None else np.asarray(parameters.costs, dtype=np.float64)
    claims = (
        _count_claim(fitted, counts, n),
        _prior_claim(fitted, prior, n),
        Claim("costs", "distance from the stated costs", float(np.abs(fitted.costs_ - costs).max()), 0.0),
        _kind_claim(_other_densities(fitted, parameters, data)),
    )
    if not isinstance(parameters.densities, str | type):
        what = "Prior and densities" if data.X is None else "The densities"
        return Certificate("exact", claims, f"{what} were given: nothing is claimed about how they suit the data.")
    epsilon = _Smoothing(data.X, data, parameters.var_smoothing)
    weight = data.weights
    proofs = [
        _prove_density(density, data.X[rows], weight[rows], None, epsilon)
        for density, rows in zip(fitted.densities_, rows_of, strict=True)
    ]
    if any(proof.grade == "none" for proof in proofs):
        return Certificate("exact", claims, "Nothing is claimed about the densities, which are the user's own.")
    names = dict.fromkeys(claim.name for proof in proofs for claim in proof.claims)
    worst = (worst_claim(c for proof in proofs for c in proof.claims if c.name == name) for name in names)
    return Certificate("exact", (*claims, *worst))


class _Smoothing:
    """What is added to the variances of Gaussian columns, and how far it may be off."""

    def __init__(self, X: Array, data: TrainingData, var_smoothing: float) -> None:
        center, variance = weighted_moments(X, np.arange(len(X)), data.weights)
        self.value = var_smoothing * float(variance.max())
        self.lost = var_smoothing * float(rounded_means(np.abs(center) + np.sqrt(variance), variance).max())


def _rows_and_counts(data: TrainingData) -> tuple[Sequence[Array], Array]:
    """Return the rows of each class and their weight."""
    if data.X is None:
        return (), np.zeros(len(data.classes))
    rows_of, weight = rows_by_class(data.y, len(data.classes)), data.weights
    return rows_of, np.array([weight[rows].sum() for rows in rows_of])


def _count_claim(fitted: Any, counts: Array, n: int) -> Claim:
    distance = float(np.abs(fitted.class_count_ - counts).max()) / max(float(counts.sum()), TINY)
    return Claim("class counts", "relative distance from the weights of the classes", distance, sum_error(n))


def _prior_claim(fitted: Any, prior: Array, n: int) -> Claim:
    distance = float(np.abs(fitted.class_prior_ - prior).max())
    return Claim("class prior", "distance from the stated prior", distance, sum_error(n))


def _kind_claim(n_others: int) -> Claim:
    return Claim("densities", "number of densities that are not those asked for", float(n_others), 0.0)


def _other_kinds(fitted: Any, parameters: Any, columns: Sequence[Array]) -> Iterator[bool]:
    """Yield for each density whether it is of another kind than was asked for, or than suits its column."""
    names = getattr(fitted, "feature_names_in_", None)
    wanted = wanted_densities(parameters.densities, len(columns), None if names is None else names.tolist())
    for column, entry, densities in zip(columns, wanted, fitted.densities_, strict=True):
        # what a data frame called categorical is no longer seen
        allowed = (guess_density(column), "categorical") if entry is None else (entry,)
        yield from (not _is_one_of(density, allowed) for density in densities)


def _other_densities(fitted: Any, parameters: Any, data: TrainingData) -> int:
    """Return how many densities of a BayesClassifier are not the given ones, or of another kind than asked for."""
    wanted, found = parameters.densities, fitted.densities_
    if len(found) != len(data.classes) or not np.array_equal(fitted.classes_, data.classes):
        return len(data.classes)
    if isinstance(wanted, str | type):
        return sum(not _is_one_of(density, (wanted,)) for density in found)
    given = [wanted[label] for label in sorted(wanted)] if isinstance(wanted, Mapping) else wanted
    return sum(_is_ours(type(a)) and a != b for a, b in zip(given, found, strict=True))


def _is_one_of(density: Any, wanted: Sequence[str | type]) -> bool:
    """Return whether a density is of a kind that is asked for; what the fit of a user's own class makes is its own."""
    kinds = tuple(map(find_density, wanted))
    return isinstance(density, kinds) or not all(map(_is_ours, kinds))


def _is_ours(kind: type) -> bool:
    """Return whether a class of densities is one of ours, whose estimate has a proof."""
    return kind.__module__.startswith("pellucid.")


def _prove_column(
    density: Any, column: Array, rows: Array, weight: Array, alpha: float, epsilon: _Smoothing | None
) -> Certificate:
    """Return the certificate of the density of one column in one class; ``alpha`` is a prior on shares."""
    prior: Any = None
    if type(density).__name__ == "Categorical":
        labels = np.unique(column)
        if not np.array_equal(density.categories, labels):
            return Certificate("exact", (Claim("categories", "whether these are the labels of the column", np.inf, 0),))
        prior = Dirichlet(np.full(len(labels), 1 + alpha)) if alpha > 0 else None
    if type(density).__name__ == "Bernoulli":
        prior = Beta(1 + alpha, 1 + alpha) if alpha > 0 else None
    return _prove_density(density, column[rows, None], weight[rows], prior, epsilon)


def _prove_density(density: Any, X: Array, weight: Array, prior: Any, epsilon: _Smoothing | None) -> Certificate:
    """Return the certificate of one density; the Gaussian ones are smoothed, so their score does not vanish."""
    if epsilon is None or type(density).__name__ not in ("Gaussian", "MultivariateGaussian"):
        return certify_fit(density, X, weight, prior)
    mean, _ = weighted_moments(X, np.arange(len(X)), weight)
    centered = X - mean
    covariance = (centered * weight[:, None]).T @ centered / weight.sum() + epsilon.value * np.eye(X.shape[1])
    np.fill_diagonal(covariance, np.maximum(covariance.diagonal(), TINY))
    stored = np.asarray(getattr(density, "covariance", density.variance), dtype=np.float64).reshape(covariance.shape)
    deviation, bound = np.sqrt(covariance.diagonal()), 2 * sum_error(X.size)  # of the stored sums and of these
    rounded = 4 * EPSILON * np.abs(mean)  # of the means, seen in the covariance
    widest = np.maximum(np.abs(centered).max(axis=0), deviation)  # sums about a row that is far out lose this much
    size = np.outer(widest, widest) + (np.outer(rounded, rounded) + epsilon.lost) / bound
    means = relative_distance(np.atleast_1d(density.mean), mean, np.abs(mean) + deviation)
    spreads = relative_distance(stored, covariance, size)
    return Certificate(
        "exact",
        (
            Claim("means", "distance from the class means, relative to their size and deviation", means, bound),
            Claim("covariances", "distance from the class covariances, in largest deviations", spreads, bound),
        ),
    )
