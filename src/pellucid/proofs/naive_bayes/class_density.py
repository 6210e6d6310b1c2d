r"""Proofs of Bayes models with a density per class: prior and densities are the stated estimates, up to rounding.

Means are stored rounded, by :math:`\epsilon|\mu|`. The variance of all rows and the variances of a fit in parts are
made from differences of means, which are at most some deviations, so they may be wrong by some
:math:`\epsilon|\mu|\sigma`: that much is allowed on top of the rounding of sums. Both sizes are those of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, column_values
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.naive_bayes.counting_nb import rows_by_class
from pellucid.proofs.probability.densities import asked_kinds, guessed_kind, kind_of
from pellucid.proofs.probability.maximum_likelihood import certify_fit
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 4096


def prove_gaussian_nb(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the fitted attributes, recomputed class by class in two passes."""
    X, weight, n = data.X, data.weights, data.X.shape[0]
    total, bound = float(weight.sum()), 2.0 * sum_error(n)  # of the stored sums and of these
    rows_of = rows_by_class(data)
    counts = np.array([weight[rows].sum() for rows in rows_of])
    center, overall = weighted_moments(X, np.arange(n), weight)
    epsilon = parameters.var_smoothing * overall.max()
    lost = parameters.var_smoothing * rounded_means(np.abs(center) + np.sqrt(overall), overall).max()
    mean, variance = (np.array(part) for part in zip(*(weighted_moments(X, r, weight) for r in rows_of), strict=True))
    size = variance + epsilon + (rounded_means(mean, variance) + lost) / bound
    kept = fitted.scatter_ / np.maximum(counts, TINY)[:, None]  # what a later part would go on from
    off = float(np.abs(fitted.class_count_ - counts).max()) / total
    stated = (counts + parameters.prior_alpha) / (total + parameters.prior_alpha * len(counts))
    if parameters.priors is not None:
        stated = np.asarray(parameters.priors, dtype=np.float64)
    prior = float(np.abs(fitted.class_prior_ - stated).max())
    means = relative_distance(fitted.theta_, mean, np.abs(mean) + np.sqrt(variance))
    spreads = max(relative_distance(fitted.var_, variance + epsilon, size), relative_distance(kept, variance, size))
    smoothing = relative_distance(fitted.epsilon_, epsilon, epsilon + lost / bound)
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", off, bound),
        Claim("class prior", "distance from the stated prior", prior, bound),
        Claim("means", "distance from the class means, relative to their size and deviation", means, bound),
        Claim("variances", "relative distance from class variance plus smoothing", spreads, bound),
        Claim("smoothing", "relative distance from var_smoothing times the largest variance", smoothing, bound),
    )
    return Certificate("exact", claims)


def prove_mixed_nb(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of a MixedNB, recomputed class by class and column by column."""
    rows_of, counts = _rows_and_counts(data)
    columns = [column_values(data.X, j) for j in range(data.X.shape[1])]
    numbers = [c for c, d in zip(columns, fitted.densities_, strict=True) if type(d[0]).__name__ == "Gaussian"]
    epsilon = Smoothing.of(np.column_stack(numbers), data, parameters.var_smoothing) if numbers else None
    claims = [Claim("conditionals", "", 0.0, sum_error(len(data.y)))]
    for column, densities in zip(columns, fitted.densities_, strict=True):
        for rows, density in zip(rows_of, densities, strict=True):
            proof = column_certificate(density, column, rows, data.weights, parameters.alpha, epsilon)
            claims.extend(proof.claims)
    return mixed_certificate(fitted, parameters, claims, counts, len(data.y), data.X)


def mixed_certificate(
    fitted: Seen, parameters: Seen, claims: Sequence[Claim], counts: Array, n: int, table: Array
) -> Certificate:
    """Return the certificate from the claims about densities; ``table`` shows of what kind the columns are."""
    worst = worst_claim(claims)
    said = "relative distance of a density from its smoothed estimate, at worst"
    prior = (counts + parameters.prior_alpha) / (counts.sum() + parameters.prior_alpha * len(counts))
    unproved = [j for j, densities in enumerate(fitted.densities_) if not _is_ours(densities[0])]
    proved = (
        *_count_claims(fitted, counts, prior, n),
        Claim("conditionals", said, worst.value, worst.bound),
        _kind_claim(sum(_other_kinds(fitted, parameters, table))),
    )
    reason = f"Nothing is claimed about the densities of columns {unproved}, which are the user's own."
    return Certificate("exact", proved, reason if unproved else "")


def prove_bayes_classifier(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of a BayesClassifier; without rows, that everything is as it was given."""
    rows_of, counts = _rows_and_counts(data)
    n = 0 if data.X is None else len(data.y)
    prior = counts / counts.sum() if parameters.priors is None else np.asarray(parameters.priors, dtype=np.float64)
    costs = 1.0 - np.eye(len(counts)) if parameters.costs is None else np.asarray(parameters.costs, dtype=np.float64)
    claims = (
        *_count_claims(fitted, counts, prior, n),
        Claim("costs", "distance from the stated costs", float(np.abs(fitted.costs_ - costs).max()), 0.0),
        _kind_claim(_other_densities(fitted, parameters, data)),
    )
    if not isinstance(parameters.densities, str | type):
        what = "Prior and densities" if data.X is None else "The densities"
        return Certificate("exact", claims, f"{what} were given: nothing is claimed about how they suit the data.")
    epsilon = Smoothing.of(data.X, data, parameters.var_smoothing)
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


class Smoothing:
    """What is added to the variances of Gaussian columns, and how far it may be off."""

    def __init__(self, center: Array, variance: Array, var_smoothing: float) -> None:
        self.value = var_smoothing * float(variance.max())
        self.lost = var_smoothing * float(rounded_means(np.abs(center) + np.sqrt(variance), variance).max())

    @classmethod
    def of(cls, X: Array, data: TrainingData, var_smoothing: float) -> Smoothing:
        """Return that of columns with all rows."""
        return cls(*weighted_moments(X, np.arange(len(X)), data.weights), var_smoothing)


def _rows_and_counts(data: TrainingData) -> tuple[Sequence[Array], Array]:
    """Return the rows of each class and their weight."""
    if data.X is None:
        return (), np.zeros(len(data.classes))
    rows_of, weight = rows_by_class(data), data.weights
    return rows_of, np.array([weight[rows].sum() for rows in rows_of])


def _count_claims(fitted: Seen, counts: Array, prior: Array, n: int) -> tuple[Claim, Claim]:
    off = float(np.abs(fitted.class_count_ - counts).max()) / max(float(counts.sum()), TINY)
    prior_off = float(np.abs(fitted.class_prior_ - prior).max())
    return (
        Claim("class counts", "relative distance from the weights of the classes", off, sum_error(n)),
        Claim("class prior", "distance from the stated prior", prior_off, sum_error(n)),
    )


def _kind_claim(n_others: int) -> Claim:
    return Claim("densities", "number of densities that are not those asked for", float(n_others), 0.0)


def _other_kinds(fitted: Seen, parameters: Seen, X: Array) -> Iterator[bool]:
    """Yield for each density whether it is of another kind than was asked for, or than suits its column.

    A data frame may have called a column categorical, which is no longer seen; what the fit of a user's own class
    makes is its own.
    """
    names = getattr(fitted, "feature_names_in_", None)
    asked = asked_kinds(parameters.densities, X, None if names is None else names.tolist())
    for j, (kind, densities) in enumerate(zip(asked, fitted.densities_, strict=True)):
        may_be = (guessed_kind(column_values(X, j)), "Categorical") if kind is None else (kind,)
        yield from (isinstance(may_be[0], str) and kind_of(density) not in may_be for density in densities)


def _other_densities(fitted: Seen, parameters: Seen, data: TrainingData) -> int:
    """Return how many densities of a BayesClassifier are not the given ones, or of another kind than asked for."""
    wanted, found = parameters.densities, fitted.densities_
    if len(found) != len(data.classes) or not np.array_equal(fitted.classes_, data.classes):
        return len(data.classes)
    if isinstance(wanted, str | type):
        kind = kind_of(wanted)
        return sum(isinstance(kind, str) and kind_of(density) != kind for density in found)
    given = [wanted[label] for label in sorted(wanted)] if isinstance(wanted, Mapping) else wanted
    return sum(_is_ours(a) and not _are_equal(a, b) for a, b in zip(given, found, strict=True))


def _are_equal(one: Any, other: Any) -> bool:
    """Return whether two densities are of one kind and have the same parameters."""
    if kind_of(one) != kind_of(other) or not is_dataclass(one):
        return False
    return all(np.array_equal(getattr(one, part.name), getattr(other, part.name)) for part in fields(one))


def _is_ours(density: Any) -> bool:
    """Return whether a density is one of ours, whose estimate has a proof."""
    return isinstance(kind_of(density), str)


def column_certificate(
    density: Any, column: Array, rows: Array, weight: Array, alpha: float, epsilon: Smoothing | None
) -> Certificate:
    """Return the certificate of the density of one column in one class; ``alpha`` is a prior on shares."""
    prior: Any = None
    if type(density).__name__ == "Categorical":
        labels = np.unique(column)
        if not np.array_equal(density.categories, labels):
            return Certificate("exact", (Claim("categories", "whether these are the labels of the column", np.inf, 0),))
        prior = SimpleNamespace(concentration=np.full(len(labels), 1 + alpha)) if alpha > 0 else None
    if type(density).__name__ == "Bernoulli":
        prior = SimpleNamespace(alpha=1 + alpha, beta=1 + alpha) if alpha > 0 else None
    return _prove_density(density, column[rows, None], weight[rows], prior, epsilon)


def _prove_density(density: Any, X: Array, weight: Array, prior: Any, epsilon: Smoothing | None) -> Certificate:
    """Return the certificate of one density; the Gaussian ones are smoothed, so their score does not vanish."""
    if epsilon is None or type(density).__name__ not in ("Gaussian", "MultivariateGaussian"):
        return certify_fit(density, X, weight, prior)
    mean, _ = weighted_moments(X, np.arange(len(X)), weight)
    centered = X - mean
    covariance = (centered * weight[:, None]).T @ centered / weight.sum()
    lost = float(rounded_means(mean, covariance.diagonal())[0]) if len(mean) == 1 else 0.0  # of a fit to rows in blocks
    return spread_certificate(density, mean, covariance, np.abs(centered).max(axis=0), X.size, epsilon, lost)


def spread_certificate(
    density: Any, mean: Array, covariance: Array, reach: Array, n: int, epsilon: Smoothing, lost: float = 0.0
) -> Certificate:
    """Return the certificate of a Gaussian of ``n`` numbers that lie at most ``reach`` from their mean.

    ``lost`` of the variance is what sums that were made in parts may be wrong by.
    """
    covariance = covariance + epsilon.value * np.eye(len(mean))
    np.fill_diagonal(covariance, np.maximum(covariance.diagonal(), TINY))
    own = density.covariance if hasattr(density, "covariance") else density.variance
    stored = np.asarray(own, dtype=np.float64).reshape(covariance.shape)
    deviation, bound = np.sqrt(covariance.diagonal()), 2 * sum_error(n)  # of the stored sums and of these
    rounded = 4 * EPSILON * np.abs(mean)  # of the means, seen in the covariance
    widest = np.maximum(reach, deviation)  # sums about a row that is far out lose this much
    size = np.outer(widest, widest) + (np.outer(rounded, rounded) + epsilon.lost + lost) / bound
    means = relative_distance(np.atleast_1d(density.mean), mean, np.abs(mean) + deviation)
    spreads = relative_distance(stored, covariance, size)
    claims = (
        Claim("means", "distance from the class means, relative to their size and deviation", means, bound),
        Claim("covariances", "distance from the class covariances, in largest deviations", spreads, bound),
    )
    return Certificate("exact", claims)


def rounded_means(mean: Array, variance: Array) -> Array:
    """Return how far variances that are made from differences of rounded means may be off."""
    return np.asarray(4 * EPSILON * np.abs(mean) * np.sqrt(variance))


def weighted_moments(X: Array, rows: Array, weight: Array) -> tuple[Array, Array]:
    """Return the weighted mean and variance of some rows; 0 if they weigh nothing."""
    total = float(weight[rows].sum())
    if total == 0:
        return np.zeros(X.shape[1]), np.zeros(X.shape[1])
    guess = sum(w @ block for block, w in _blocks(X, rows, weight)) / total
    shift, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for block, w in _blocks(X, rows, weight):
        centered = block - guess
        shift += w @ centered
        square += w @ centered**2
    # the guess is rounded: what that adds to mean and scatter is taken off again
    return guess + shift / total, np.maximum(square / total - (shift / total) ** 2, 0.0)


def _blocks(X: Array, rows: Array, weight: Array) -> Iterator[tuple[Array, Array]]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        yield X[some].astype(np.float64), weight[some]


def relative_distance(found: Any, right: Any, size: Any) -> float:
    """Return the largest distance relative to the sizes; where a size is 0, or for NaN, it is infinite."""
    gap, size = np.broadcast_arrays(np.abs(np.subtract(found, right)), size)
    relative = np.divide(gap, size, out=np.where(gap > 0, np.inf, 0.0), where=size > 0)
    return float(np.where(np.isnan(gap) | np.isnan(relative), np.inf, relative).max(initial=0.0))


PROVES = {"BayesClassifier": prove_bayes_classifier, "GaussianNB": prove_gaussian_nb, "MixedNB": prove_mixed_nb}
