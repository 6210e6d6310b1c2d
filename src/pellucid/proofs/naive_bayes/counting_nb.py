r"""Proofs of naive Bayes models of counts: their tables are the smoothed shares of the training rows, up to rounding.

Sums of :math:`n` numbers of one sign are right up to :math:`\epsilon_n`, relatively, and so are their shares. The
weight of zeros is a difference, :math:`n_c - n_{cj}`: with weights it is wrong by :math:`\epsilon_n n_c`, which its
logarithm shows as :math:`\epsilon_n n_c / (n_c - n_{cj} + \alpha)`. That much is allowed on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, ROUNDING, TINY, sum_error
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

SMALLEST_ALPHA = 1e-10
"""What a smaller alpha is raised to unless it is forced."""


def prove_multinomial_nb(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of a MultinomialNB, recomputed from the data."""
    sums, alpha = _class_sums(data), _alpha(parameters, data)
    logs = _log((sums + alpha) / np.maximum(sums.sum(axis=1, keepdims=True) + alpha.sum(), TINY))
    counts = farthest_sum(fitted.feature_count_, sums)
    return _certificate(fitted, parameters, data, counts, farthest_log(fitted.feature_log_prob_, logs))


def prove_bernoulli_nb(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of a BernoulliNB, recomputed from the data."""
    sums, totals, alpha = _class_sums(data), _class_totals(data)[:, None], _alpha(parameters, data)
    zeros, every = totals - sums, np.maximum(totals + 2 * alpha, TINY)
    zeros = np.where(zeros > ROUNDING * totals, zeros, 0.0)  # what rounding alone may leave is none
    is_whole = data.weight is None and parameters.binarize is not None  # then no sum is rounded
    lost = 0.0 if is_whole else sum_error(_stored_numbers(data.X)) * totals / np.maximum(zeros + alpha, TINY)
    distances = [
        farthest_log(fitted.feature_log_prob_, _log((sums + alpha) / every)),
        farthest_log(fitted.absence_log_prob_, _log((zeros + alpha) / every), lost),
    ]
    counts = farthest_sum(fitted.feature_count_, sums)
    return _certificate(fitted, parameters, data, counts, float(np.max(distances)))


def prove_categorical_nb(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of a CategoricalNB, recomputed from the data, one category after the other."""
    sizes, alpha = data.X.max(axis=0).astype(np.int64) + 1, _alpha(parameters, data)
    if parameters.min_categories is not None:
        sizes = np.maximum(sizes, parameters.min_categories)
    rows_of, weight = rows_by_class(data), data.weights
    tables = [
        np.array([[weight[rows][data.X[rows, j] == t].sum() for t in range(size)] for rows in rows_of])
        for j, size in enumerate(sizes.tolist())
    ]
    shares = [table + a for table, a in zip(tables, alpha, strict=True)]
    logs = [_log(share / np.maximum(share.sum(axis=1, keepdims=True), TINY)) for share in shares]
    counts = _worst(farthest_sum, fitted.category_count_, tables)
    proof = _certificate(fitted, parameters, data, counts, _worst(farthest_log, fitted.feature_log_prob_, logs))
    distance = float(np.abs(fitted.n_categories_ - sizes).max())
    return proof.with_claims(Claim("categories", "distance from the number of categories of a column", distance, 0.0))


def _certificate(fitted: Seen, parameters: Seen, data: TrainingData, counts: float, conditionals: float) -> Certificate:
    """Return the certificate of measured relative errors, those of the class counts and the prior among them."""
    totals, bound = _class_totals(data), sum_error(_stored_numbers(data.X))
    pseudo, n_classes = parameters.prior_alpha, len(totals)
    prior = (totals + pseudo) / (totals.sum() + pseudo * n_classes)
    if not parameters.fit_prior:
        prior = np.ones(n_classes) / n_classes
    if parameters.class_prior is not None:
        prior = np.asarray(parameters.class_prior, dtype=np.float64)
    off = float(np.abs(fitted.class_count_ - totals).max()) / float(totals.sum())
    prior_off = farthest_log(fitted.class_log_prior_, _log(prior))
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", off, bound),
        Claim("class prior", "relative distance from the stated prior probabilities", prior_off, bound),
        Claim("counts", "relative distance from the sums of the rows of each class", counts, bound),
        Claim("conditionals", "relative distance from the smoothed shares of these sums", conditionals, bound),
    )
    return Certificate("exact", claims)


def rows_by_class(data: TrainingData) -> list[Array]:
    """Return the row numbers of each class, in order."""
    ends = np.cumsum(np.bincount(data.y, minlength=len(data.classes)))
    return np.split(np.argsort(data.y, kind="stable"), ends[:-1])


def _alpha(parameters: Seen, data: TrainingData) -> Array:
    """Return the pseudo-count of every column; one that is not forced is no smaller than a least one."""
    values = np.asarray(parameters.alpha, dtype=np.float64)
    return np.broadcast_to(values if parameters.force_alpha else np.maximum(values, SMALLEST_ALPHA), data.X.shape[1])


def _class_totals(data: TrainingData) -> Array:
    return np.array([data.weights[rows].sum() for rows in rows_by_class(data)])


def _class_sums(data: TrainingData) -> Array:
    """Return the weighted sum of the rows of each class, one class after the other."""
    parts = [np.asarray(data.X[rows].T @ data.weights[rows]).ravel() for rows in rows_by_class(data)]
    return np.array(parts, dtype=np.float64)


def _log(shares: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def _stored_numbers(X: SparseOrDense) -> int:
    """Return how many numbers a matrix holds."""
    return int(X.nnz if sparse.issparse(X) else X.size)


def _worst(distance: Any, stored: Sequence[Array], found: Sequence[Array]) -> float:
    if len(stored) != len(found):
        return float("inf")
    return float(np.max([distance(one, other) for one, other in zip(stored, found, strict=True)]))


def farthest_sum(stored: Array, found: Array) -> float:
    """Return the largest relative distance; NaN if there is one."""
    if stored.shape != found.shape:
        return float("inf")
    size = np.where(found > 0, found, 1.0)
    return float((np.abs(stored - found) / size).max(initial=0.0))


def farthest_log(stored: Array, found: Array, lost: float | Array = 0.0) -> float:
    """Return the largest relative distance of probabilities, beyond what is lost; NaN if there is one.

    A rounded logarithm costs its size in roundings.
    """
    if stored.shape != found.shape:
        return float("inf")
    with np.errstate(invalid="ignore"):
        gap = np.where(stored == found, 0.0, np.abs(stored - found))  # -inf and -inf agree
        allowed = np.where(np.isfinite(found), 2 * EPSILON * np.abs(found) + lost, 0.0)
    return float(np.maximum(gap - allowed, 0.0).max(initial=0.0))


def _yes_or_no(parameters: Seen, data: TrainingData) -> TrainingData:
    """Return the data with 1 for what is above the threshold, and else 0."""
    return data if parameters.binarize is None else replace(data, X=(parameters.binarize < data.X).astype(np.float64))


PROVES = {
    "BernoulliNB": prove_bernoulli_nb,
    "CategoricalNB": prove_categorical_nb,
    "MultinomialNB": prove_multinomial_nb,
}
SEES = {"BernoulliNB": _yes_or_no}
