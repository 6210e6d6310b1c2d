r"""Proofs of naive Bayes models of counts: their tables are the smoothed shares of the training rows, up to rounding.

Sums of :math:`n` numbers of one sign are right up to :math:`\epsilon_n`, relatively, and so are their shares. The
weight of zeros is a difference, :math:`n_c - n_{cj}`: with weights it is wrong by :math:`\epsilon_n n_c`, which its
logarithm shows as :math:`\epsilon_n n_c / (n_c - n_{cj} + \alpha)`. That much is allowed on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.labels import rows_by_class
from pellucid.core.types import Data
from pellucid.naive_bayes.counting_nb_parameters import absences, category_sizes, pseudo_counts
from pellucid.naive_bayes.spot_check import few_columns, parts_remark, spot_remark, spot_sums, spot_tables
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class LastPart:
    """The rows that a fit saw last, the weight of each class among them, what they added to the counts."""

    data: TrainingData
    totals: Array
    counts: Any
    number: int


def prove_multinomial_nb(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of a MultinomialNB, recomputed from the data."""
    sums, alpha = _class_sums(data), _alpha(parameters, data)
    logs = word_logs(sums, sums.sum(axis=1), alpha, alpha)
    return _proof(
        fitted,
        parameters,
        data,
        counts=farthest_sum(fitted.feature_count_, sums),
        conditionals=farthest_log(fitted.feature_log_prob_, logs),
    )


def spot_check_multinomial_nb(fitted: Any, parameters: Any, part: LastPart, alpha: Array) -> Certificate:
    """Return what the fit of a MultinomialNB measures: its last counts, and shares of all counts, of a few columns."""
    some, sums = _recounted_columns(part)
    logs = word_logs(fitted.feature_count_[:, some], fitted.feature_count_.sum(axis=1), alpha[some], alpha)
    conditionals = farthest_log(fitted.feature_log_prob_[:, some], logs)
    return _spot_check(fitted, parameters, part, counts=sums, conditionals=conditionals)


def prove_bernoulli_nb(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of a BernoulliNB, recomputed from the data."""
    sums, totals, alpha = _class_sums(data), _class_totals(data), _alpha(parameters, data)
    ones, zeros = yes_and_no_logs(sums, totals, alpha)
    is_whole = data.weight is None and parameters.binarize is not None  # then no sum is rounded
    share = np.maximum(absences(totals, sums) + alpha, TINY) / np.maximum(totals, TINY)[:, None]
    lost = 0.0 if is_whole else sum_error(_stored_numbers(data.X)) / share
    distances = [farthest_log(fitted.feature_log_prob_, ones), farthest_log(fitted.absence_log_prob_, zeros, lost)]
    return _proof(
        fitted,
        parameters,
        data,
        counts=farthest_sum(fitted.feature_count_, sums),
        conditionals=float(np.max(distances)),
    )


def spot_check_bernoulli_nb(fitted: Any, parameters: Any, part: LastPart, alpha: Array) -> Certificate:
    """Return what the fit of a BernoulliNB measures: its last counts, and shares of all counts, of a few columns."""
    some, sums = _recounted_columns(part)
    ones, zeros = yes_and_no_logs(fitted.feature_count_[:, some], fitted.class_count_, alpha[some])
    distances = [
        farthest_log(fitted.feature_log_prob_[:, some], ones),
        farthest_log(fitted.absence_log_prob_[:, some], zeros),
    ]
    return _spot_check(fitted, parameters, part, counts=sums, conditionals=float(np.max(distances)))


def prove_categorical_nb(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of a CategoricalNB, recomputed from the data, one category after the other."""
    sizes, alpha = category_sizes(data.X, parameters.min_categories), _alpha(parameters, data)
    rows_of, weight = rows_by_class(data.y, len(data.classes)), data.weights
    tables = [
        np.array([[weight[rows][data.X[rows, j] == t].sum() for t in range(size)] for rows in rows_of])
        for j, size in enumerate(sizes.tolist())
    ]
    logs = [category_logs(table, a) for table, a in zip(tables, alpha, strict=True)]
    proof = _proof(
        fitted,
        parameters,
        data,
        counts=_worst(farthest_sum, fitted.category_count_, tables),
        conditionals=_worst(farthest_log, fitted.feature_log_prob_, logs),
    )
    return proof.with_claims(_category_claim(fitted.n_categories_, sizes))


def spot_check_categorical_nb(fitted: Any, parameters: Any, part: LastPart, alpha: Array) -> Certificate:
    """Return what the fit of a CategoricalNB measures: its last counts, and shares of all counts, of a few columns."""
    data, some = part.data, few_columns(part.data.X.shape[1])
    shapes = [part.counts[j].shape for j in some]
    counts = _worst(
        farthest_sum, [part.counts[j] for j in some], spot_tables(data.X, some, data.y, data.weight, shapes)
    )
    logs = [category_logs(fitted.category_count_[j], alpha[j]) for j in some]
    conditionals = _worst(farthest_log, [fitted.feature_log_prob_[j] for j in some], logs)
    sizes = np.array([table.shape[1] for table in fitted.feature_log_prob_])
    found = _spot_check(fitted, parameters, part, counts=counts, conditionals=conditionals)
    return found.with_claims(_category_claim(fitted.n_categories_, sizes))


def word_logs(counts: Array, totals: Array, alpha: Array, every_alpha: Array) -> Array:
    """Return the logarithms of the smoothed shares of some words, of all words ``totals`` per class."""
    return _log((counts + alpha) / np.maximum(totals[:, None] + every_alpha.sum(), TINY))


def yes_and_no_logs(counts: Array, totals: Array, alpha: Array) -> tuple[Array, Array]:
    """Return the logarithms of the smoothed shares of ones and of zeros."""
    every = np.maximum(totals[:, None] + 2 * alpha, TINY)
    return _log((counts + alpha) / every), _log((absences(totals, counts) + alpha) / every)


def category_logs(table: Array, alpha: float) -> Array:
    """Return the logarithms of the smoothed shares of each class's counts."""
    shares = table + alpha
    return _log(shares / np.maximum(shares.sum(axis=1, keepdims=True), TINY))


def _proof(fitted: Any, parameters: Any, data: TrainingData, *, counts: float, conditionals: float) -> Certificate:
    totals = _class_totals(data)
    return _certificate(
        data,
        "",
        totals=float(np.abs(fitted.class_count_ - totals).max()) / float(totals.sum()),
        prior=farthest_log(fitted.class_log_prior_, _log_prior(parameters, totals)),
        counts=counts,
        conditionals=conditionals,
    )


def _spot_check(fitted: Any, parameters: Any, part: LastPart, *, counts: float, conditionals: float) -> Certificate:
    data, some = part.data, few_columns(len(part.totals))
    right = np.array([np.sum(data.y == k) if data.weight is None else data.weight[data.y == k].sum() for k in some])
    return _certificate(
        data,
        " ".join(filter(None, (parts_remark(part.number), spot_remark(data.X.shape[1])))),
        totals=float(np.abs(part.totals[some] - right).max()) / float(part.totals.sum()),
        prior=farthest_log(fitted.class_log_prior_, _log_prior(parameters, fitted.class_count_)),
        counts=counts,
        conditionals=conditionals,
    )


def _certificate(
    data: TrainingData, remark: str, *, totals: float, prior: float, counts: float, conditionals: float
) -> Certificate:
    """Return the certificate of measured relative errors."""
    bound = sum_error(_stored_numbers(data.X))
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", totals, bound),
        Claim("class prior", "relative distance from the stated prior probabilities", prior, bound),
        Claim("counts", "relative distance from the sums of the rows of each class", counts, bound),
        Claim("conditionals", "relative distance from the smoothed shares of these sums", conditionals, bound),
    )
    return Certificate("exact", claims, remark)


def _category_claim(stored: Array, sizes: Array) -> Claim:
    distance = float(np.abs(stored - sizes).max())
    return Claim("categories", "distance from the number of categories of a column", distance, 0.0)


def _recounted_columns(part: LastPart) -> tuple[Array, float]:
    """Return a few columns, and how far the counts of them are from those that other code counts."""
    data, some = part.data, few_columns(part.data.X.shape[1])
    sums = spot_sums(data.X, some, data.y, data.weight, len(data.classes))
    return some, farthest_sum(part.counts[:, some], sums)


def _alpha(parameters: Any, data: TrainingData) -> Array:
    return pseudo_counts(parameters.alpha, parameters.force_alpha, data.X.shape[1])


def _class_totals(data: TrainingData) -> Array:
    weight = data.weights
    return np.array([weight[rows].sum() for rows in rows_by_class(data.y, len(data.classes))])


def _class_sums(data: TrainingData) -> Array:
    """Return the weighted sum of the rows of each class, one class after the other."""
    weight, rows_of = data.weights, rows_by_class(data.y, len(data.classes))
    return np.array([np.asarray(data.X[rows].T @ weight[rows]).ravel() for rows in rows_of], dtype=np.float64)


def _log_prior(parameters: Any, totals: Array) -> Array:
    if parameters.class_prior is not None:
        return _log(np.asarray(parameters.class_prior, dtype=np.float64))
    return _log(totals / totals.sum() if parameters.fit_prior else np.ones(len(totals)) / len(totals))


def _log(shares: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def _stored_numbers(X: Data) -> int:
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
