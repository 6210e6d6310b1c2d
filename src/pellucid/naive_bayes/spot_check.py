"""Spot checks: a few columns counted again by other code, so that a fit measures its errors at little cost.

A fit in parts has only its last part to look at: what that added to the counts is counted again, and what the model
says is compared with the counts it has. ``verify`` counts everything, by code of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data
from pellucid.naive_bayes.counting_nb_solvers import absences, log_class_prior
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.training_data import TrainingData

FEW = 4
"""Columns that a fit counts again; ``verify`` counts all."""


@dataclass(frozen=True)
class LastPart:
    """The rows that a fit saw last, the weight of each class among them, what they added to the counts."""

    data: TrainingData
    totals: Array
    counts: Any
    number: int


def spot_check_multinomial_nb(fitted: Any, parameters: Any, part: LastPart, alpha: Array) -> Certificate:
    """Return what the fit of a MultinomialNB measures: its last counts, and shares of all counts, of a few columns."""
    some, sums = _recounted_columns(part)
    logs = word_logs(fitted.feature_count_[:, some], fitted.feature_count_.sum(axis=1), alpha[some], alpha)
    conditionals = farthest_log(fitted.feature_log_prob_[:, some], logs)
    return _spot_check(fitted, parameters, part, counts=sums, conditionals=conditionals)


def spot_check_bernoulli_nb(fitted: Any, parameters: Any, part: LastPart, alpha: Array) -> Certificate:
    """Return what the fit of a BernoulliNB measures: its last counts, and shares of all counts, of a few columns."""
    some, sums = _recounted_columns(part)
    ones, zeros = yes_and_no_logs(fitted.feature_count_[:, some], fitted.class_count_, alpha[some])
    distances = [
        farthest_log(fitted.feature_log_prob_[:, some], ones),
        farthest_log(fitted.absence_log_prob_[:, some], zeros),
    ]
    return _spot_check(fitted, parameters, part, counts=sums, conditionals=float(np.max(distances)))


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
    distance = float(np.abs(fitted.n_categories_ - sizes).max())
    return found.with_claims(Claim("categories", "distance from the number of categories of a column", distance, 0.0))


def spot_check_gaussian_nb(fitted: Any, parameters: Any, part: Any, data: TrainingData, n_parts: int) -> Certificate:
    """Return the certificate of a fit: the moments of its last part measured on a few columns, the rest from these."""
    n, p = data.X.shape
    bound, columns = 2.0 * sum_error(n), few_columns(p)
    counts, mean, variance = spot_moments(data.X, columns, data.y, data.weight, len(data.classes))
    total = np.where(fitted.class_count_ > 0, fitted.class_count_, 1.0)[:, None]
    share = fitted.class_count_ / fitted.class_count_.sum()
    gap = fitted.theta_ - fitted.theta_[0]
    overall = fitted.scatter_.sum(axis=0) / fitted.class_count_.sum() + share @ (gap - share @ gap) ** 2
    epsilon = parameters.var_smoothing * overall.max()
    lost = parameters.var_smoothing * _rounded_means(np.abs(fitted.theta_).max(axis=0), overall).max()
    kept = part.scatter[:, columns] / np.where(counts > 0, counts, 1.0)[:, None]
    right = fitted.scatter_ / total + fitted.epsilon_
    pseudo, n_classes = parameters.prior_alpha, len(fitted.class_count_)
    learned = (fitted.class_count_ + pseudo) / (fitted.class_count_.sum() + pseudo * n_classes)
    prior = learned if parameters.priors is None else np.asarray(parameters.priors, dtype=np.float64)
    spreads = max(
        _relative(kept, variance, variance + fitted.epsilon_ + _rounded_means(mean, variance) / bound),
        _relative(fitted.var_, right, right),
    )
    off = float(np.abs(part.total - counts).max()) / float(counts.sum())
    away = _relative(part.mean[:, columns], mean, np.abs(mean) + np.sqrt(variance))
    smoothing = _relative(fitted.epsilon_, epsilon, epsilon + lost / bound)
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", off, bound),
        Claim("class prior", "distance from the stated prior", float(np.abs(fitted.class_prior_ - prior).max()), bound),
        Claim("means", "distance from the class means, relative to their size and deviation", away, bound),
        Claim("variances", "relative distance from class variance plus smoothing", spreads, bound),
        Claim("smoothing", "relative distance from var_smoothing times the largest variance", smoothing, bound),
    )
    return Certificate("exact", claims, _remark(n_parts, p))


def _spot_check(fitted: Any, parameters: Any, part: LastPart, *, counts: float, conditionals: float) -> Certificate:
    data, some = part.data, few_columns(len(part.totals))
    right = np.array([np.sum(data.y == k) if data.weight is None else data.weight[data.y == k].sum() for k in some])
    totals = float(np.abs(part.totals[some] - right).max()) / float(part.totals.sum())
    prior = farthest_log(
        fitted.class_log_prior_,
        log_class_prior(fitted.class_count_, parameters),
    )
    bound = sum_error(int(data.X.nnz if sparse.issparse(data.X) else data.X.size))
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", totals, bound),
        Claim("class prior", "relative distance from the stated prior probabilities", prior, bound),
        Claim("counts", "relative distance from the sums of the rows of each class", counts, bound),
        Claim("conditionals", "relative distance from the smoothed shares of these sums", conditionals, bound),
    )
    return Certificate("exact", claims, _remark(part.number, data.X.shape[1]))


def _recounted_columns(part: LastPart) -> tuple[Array, float]:
    """Return a few columns, and how far the counts of them are from those that other code counts."""
    data, some = part.data, few_columns(part.data.X.shape[1])
    sums = spot_sums(data.X, some, data.y, data.weight, len(data.classes))
    return some, farthest_sum(part.counts[:, some], sums)


def few_columns(p: int) -> Array:
    """Return the first, the last and some columns between, of ``p``."""
    return np.unique(np.linspace(0, p - 1, FEW).round().astype(np.intp))


def spot_remark(p: int) -> str:
    """Return what a certificate must say about columns that were not counted again."""
    checked = len(few_columns(p))
    return "" if checked == p else f"Measured on {checked} of {p} columns; verify measures all."


def parts_remark(n_parts: int) -> str:
    """Return what the certificate of a fit must say about a model that saw its data in several parts."""
    return "" if n_parts == 1 else f"Fitted in {n_parts} parts: verify needs all the data seen, in one piece."


def _remark(n_parts: int, p: int) -> str:
    return " ".join(filter(None, (parts_remark(n_parts), spot_remark(p))))


def spot_sums(X: Data, columns: Array, codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the weighted sums of the rows of each class, of shape (n_classes, len(columns))."""
    taken = _taken(X, columns) if weight is None else _taken(X, columns) * weight[:, None]
    return np.stack([np.bincount(codes, weights=column, minlength=n_classes) for column in taken.T], axis=1)


def spot_tables(
    X: Array, columns: Array, codes: Array, weight: Array | None, shapes: Sequence[tuple[int, int]]
) -> list[Array]:
    """Return the weight of every class and category of some columns, in tables of these shapes."""
    tables = [np.zeros(shape) for shape in shapes]
    for j, table in zip(columns, tables, strict=True):
        np.add.at(table, (codes, X[:, j]), 1.0 if weight is None else weight)
    return tables


def spot_moments(
    X: Array, columns: Array, codes: Array, weight: Array | None, n_classes: int
) -> tuple[Array, Array, Array]:
    """Return weight, mean and variance of each class, the last two of shape (n_classes, len(columns)); 0 if empty."""
    counts = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
    share = (1.0 / np.where(counts > 0, counts, 1.0))[:, None]
    every = np.arange(len(columns))
    taken = _taken(X, columns)
    guess = spot_sums(taken, every, codes, weight, n_classes) * share
    centered = taken - guess[codes]
    shift = spot_sums(centered, every, codes, weight, n_classes) * share
    square = spot_sums(centered**2, every, codes, weight, n_classes) * share
    return counts, guess + shift, np.maximum(square - shift**2, 0.0)  # as the guess is rounded


def _taken(X: Data, columns: Array) -> Array:
    taken = X[:, columns]
    return np.asarray(taken.toarray() if sparse.issparse(taken) else taken, dtype=np.float64)


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


def _log(shares: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


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


def _rounded_means(mean: Array, variance: Array) -> Array:
    """Return how far variances that are made from differences of rounded means may be off."""
    return np.asarray(4 * EPSILON * np.abs(mean) * np.sqrt(variance))


def _relative(found: Any, right: Any, size: Any) -> float:
    """Return the largest distance relative to the sizes; where a size is 0, or for NaN, it is infinite."""
    gap, size = np.broadcast_arrays(np.abs(np.subtract(found, right)), size)
    relative = np.divide(gap, size, out=np.where(gap > 0, np.inf, 0.0), where=size > 0)
    return float(np.where(np.isnan(gap) | np.isnan(relative), np.inf, relative).max(initial=0.0))
