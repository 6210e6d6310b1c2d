"""Proof of a naive Bayes model of counts: its tables are the smoothed shares of the training rows, up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON, sum_error
from pellucid.core.types import Array, Data
from pellucid.naive_bayes.partial_fits import parts_remark
from pellucid.naive_bayes.spot_check import few_columns, spot_remark


def counting_certificate(
    n_stored: int, remark: str, *, counts: float, prior: float, sums: float, conditionals: float
) -> Certificate:
    """Return the certificate of measured relative errors of sums of ``n_stored`` numbers."""
    bound = sum_error(n_stored)
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", counts, bound),
        Claim("class prior", "relative distance from the stated prior probabilities", prior, bound),
        Claim("counts", "relative distance from the sums of the rows of each class", sums, bound),
        Claim("conditionals", "relative distance from the smoothed shares of these sums", conditionals, bound),
    )
    return Certificate("exact", claims, remark)


def class_rows(y: Array, classes: Array) -> list[Array]:
    """Return the positions of the rows of each class."""
    return [np.flatnonzero(y == label) for label in classes]


def summed_by_class(X: Data, rows: Sequence[Array], weight: Array) -> Array:
    """Return the weighted sum of the rows of each class, one class after the other."""
    return np.array([np.asarray(X[some].T @ weight[some]).ravel() for some in rows], dtype=np.float64)


Pairs = Sequence[tuple[Array, Array]]
"""Stored numbers, each with what they should be."""


def prove_counting_nb(
    model: Any, rows: Sequence[Array], weight: Array, sums: Pairs, conditionals: Pairs, n_stored: int
) -> Certificate:
    """Return the certificate from pairs of stored and recomputed sums, and of stored and recomputed log shares."""
    counts = np.array([weight[some].sum() for some in rows])
    strangers = abs(float(weight.sum() - counts.sum()))
    return counting_certificate(
        n_stored,
        parts_remark(len(model.trace_)),
        counts=(float(np.abs(model.class_count_ - counts).max()) + strangers) / float(weight.sum()),
        prior=_farthest_log(model.class_log_prior_, _log_prior(model, counts)),
        sums=max(_farthest_sum(stored, found) for stored, found in sums),
        conditionals=max(_farthest_log(stored, found) for stored, found in conditionals),
    )


def spot_check_counting_nb(
    model: Any, here: Array, codes: Array, weight: Array | None, sums: Pairs, conditionals: Pairs, X: Data
) -> Certificate:
    """Return the certificate of a fit from the weights of the classes in its last part and pairs of a few columns."""
    some = few_columns(len(here))
    right = np.array([(codes == k).sum() if weight is None else weight[codes == k].sum() for k in some])
    remarks = parts_remark(len(model.trace_)), spot_remark(X.shape[1])
    return counting_certificate(
        stored_numbers(X),
        " ".join(filter(None, remarks)),
        counts=float(np.abs(here[some] - right).max()) / float(here.sum()),
        prior=_farthest_log(model.class_log_prior_, _log_prior(model, model.class_count_)),
        sums=max(_farthest_sum(stored, found) for stored, found in sums),
        conditionals=max(_farthest_log(stored, found) for stored, found in conditionals),
    )


def _log_prior(model: Any, counts: Array) -> Array:
    if model.class_prior is not None:
        prior = np.asarray(model.class_prior, dtype=np.float64)
    else:
        prior = counts / counts.sum() if model.fit_prior else np.ones(len(counts)) / len(counts)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prior))


def stored_numbers(X: Data) -> int:
    """Return how many numbers a matrix holds."""
    return int(X.nnz if sparse.issparse(X) else X.size)


def _farthest_sum(stored: Array, found: Array) -> float:
    if stored.shape != found.shape:
        return float("inf")
    size = np.where(found > 0, found, 1.0)
    return float((np.abs(stored - found) / size).max(initial=0.0))


def _farthest_log(stored: Array, found: Array) -> float:
    """Return the largest relative distance of the probabilities; a rounded logarithm costs its size in roundings."""
    if stored.shape != found.shape:
        return float("inf")
    with np.errstate(invalid="ignore"):
        gap = np.where(stored == found, 0.0, np.abs(stored - found))  # -inf and -inf agree
        allowed = np.where(np.isfinite(found), 2 * EPSILON * np.abs(found), 0.0)
    return float(np.maximum(gap - allowed, 0.0).max(initial=0.0))
