"""What naive Bayes answers, as ONNX operators: joint log probabilities, labels, probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.core.onnx.class_answers import from_log_scores, labels_at
from pellucid.core.onnx.graph import DOUBLE, WHOLE, Answers, Value
from pellucid.core.types import Array
from pellucid.naive_bayes.gaussian_nb_solvers import SMALLEST_VARIANCE
from pellucid.probability.densities_in_onnx import log_density


def gaussian(model: Any, X: Value) -> Answers:
    """Return the answers of normal classes with independent columns."""
    with np.errstate(divide="ignore"):
        prior = np.log(model.class_prior_)
    spread = np.maximum(model.var_.astype(np.float64), SMALLEST_VARIANCE)
    offset = prior - 0.5 * np.log(2 * np.pi * spread).sum(axis=1)
    z = (X.reshape(-1, 1, model.n_features_in_) - model.theta_[None]) * (1.0 / np.sqrt(2 * spread))[None]
    return from_log_scores(offset[None, :] - (z * z).sum(axis=2, keep=False), model.classes_, prior)


def multinomial(model: Any, X: Value) -> Answers:
    """Return the answers of classes that draw words."""
    scores = X @ _finite(model.feature_log_prob_).T + model.class_log_prior_
    return _counted(model, scores, [(X, model.feature_log_prob_)])


def bernoulli(model: Any, X: Value) -> Answers:
    """Return the answers of classes that toss a coin for every column."""
    ones = X if model.binarize is None else (float(model.binarize) < X).cast(DOUBLE)
    one, zero = _finite(model.feature_log_prob_), _finite(model.absence_log_prob_)
    scores = ones @ (one - zero).T + (model.class_log_prior_ + zero.sum(axis=1))
    return _counted(model, scores, [(ones, model.feature_log_prob_), (1.0 - ones, model.absence_log_prob_)])


def categorical(model: Any, X: Value) -> Answers:
    """Return the answers of classes that draw a category for every column."""
    scores: Any = model.class_log_prior_[None, :]
    for j, table in enumerate(model.feature_log_prob_):
        codes = X.column(j).cast(WHOLE).reshape(-1)  # of other numbers the fraction is cut off
        scores = codes.entries_of(np.ascontiguousarray(table.T)) + scores
    return from_log_scores(scores, model.classes_, model.class_log_prior_)


def _counted(model: Any, scores: Value, parts: list[tuple[Value, Array]]) -> Answers:
    """Return answers from scores; a row with something that a class never has cannot be of that class."""
    for rows, logs in parts:
        never = np.isneginf(logs)
        if never.any():
            clashes = rows @ never.astype(np.float64).T > 0.0
            scores = clashes.where(-np.inf, scores)
    return from_log_scores(scores, model.classes_, model.class_log_prior_)


def _finite(logs: Array) -> Array:
    return np.where(np.isneginf(logs), 0.0, logs)


def mixed(model: Any, X: Value | Mapping[str, Value]) -> Answers:
    """Return the answers of classes whose columns each have a density of their own, of numbers or of words."""
    scores: Any = np.log(model.class_prior_)[None, :]
    columns = [X.column(j) for j in range(model.n_features_in_)] if isinstance(X, Value) else list(X.values())
    for column, densities in zip(columns, model.densities_, strict=True):
        logs = column.graph.joined([log_density(density, column) for density in densities])
        logs = logs.max().equals(-np.inf).where(0.0, logs)  # no class can produce it
        scores = logs + scores
    return from_log_scores(scores, model.classes_, np.log(model.class_prior_))


def bayes(model: Any, X: Value) -> Answers:
    """Return the answers of Bayes' rule with any densities, by the least expected cost if there are costs."""
    with np.errstate(divide="ignore"):
        prior = np.log(model.class_prior_)
    scores = X.graph.joined([log_density(density, X) for density in model.densities_]) + prior[None, :]
    found = from_log_scores(scores, model.classes_, prior)
    if model.costs is None:
        return found
    best = (found["probabilities"] @ model.costs_).argmin()
    return {**found, "label": labels_at(best, model.classes_)}
