"""Labels and probabilities from scores, as ONNX operators."""

from __future__ import annotations

import numpy as np

from pellucid.core.onnx.graph import BOOL, WHOLE, Answers, NotExportableError, Value
from pellucid.core.types import Array


def labels_at(codes: Value, classes: Array) -> Value:
    """Return the labels in these places, as a graph can give them: words, whole numbers, numbers, or yes and no."""
    known = np.asarray(classes)
    if known.dtype == object and not all(isinstance(label, str) for label in known):
        raise NotExportableError(
            f"labels must be words or numbers to stand in a graph, got {known.tolist()[:3]}. Fit to their names."
        )
    return codes.entries_of(known)


def winning_label(scores: Value, classes: Array) -> Value:
    """Return the label of the largest score; of one column, for two classes, the second where it is above 0."""
    if len(classes) > 2:
        return labels_at(scores.argmax(), classes)
    return labels_at((scores > 0.0).cast(WHOLE).reshape(-1), classes)


def over_their_sum(own: Value, is_one: bool) -> Value:
    """Return the probabilities of classes that were asked for one by one; where all are 0, all classes are alike.

    One column is the probability of the second of two classes.
    """
    if is_one:
        return own.graph.joined([1.0 - own, own])
    shares = own.sum().equals(0.0).where(1.0, own)
    return shares / shares.sum()


def from_log_scores(scores: Value, classes: Array, log_prior: Array | None = None) -> Answers:
    """Return labels and probabilities from log probabilities up to a number for a row.

    A row that no class can produce, all of its scores being minus infinity, has the probabilities of the prior.
    """
    if log_prior is not None:
        impossible = scores.max().apply("IsInf", dtype=BOOL)
        scores = impossible.where(np.asarray(log_prior)[None, :], scores)
    return {"label": labels_at(scores.argmax(), classes), "probabilities": scores.softmax()}
