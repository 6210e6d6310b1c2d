"""The confusion matrix of a report: a whole one for few classes, the frequent mistakes for many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import confusion_matrix

from pellucid.core.types import Array

MOST_CLASSES = 10
"""A matrix of more classes than this is no longer read."""
MOST_MISTAKES = 12
MOST_LISTED = 40


@dataclass(frozen=True)
class Cell:
    """Rows of one class that were called another, and their share of that class."""

    count: int
    share: float
    is_right: bool


@dataclass(frozen=True)
class ClassRow:
    """How one class fares: its rows, the share of them found, the share of its calls that are right."""

    label: str
    n_rows: int
    found: float
    right_calls: float


@dataclass(frozen=True)
class Confusion:
    """Classes, cells by true and called class (none if there are too many), and the most frequent mistakes."""

    labels: list[str]
    cells: list[list[Cell]]
    classes: list[ClassRow]
    mistakes: list[tuple[str, str, int]]


def confusion_of(actual: Array, predicted: Array, classes: Array) -> Confusion:
    """Return the confusion of predictions on the test rows."""
    counts = confusion_matrix(actual, predicted, labels=classes)
    labels = [str(label) for label in classes]
    rows, calls = counts.sum(axis=1), counts.sum(axis=0)
    shares = counts / np.maximum(rows, 1)[:, None]
    cells = [
        [Cell(int(counts[i, j]), float(shares[i, j]), i == j) for j in range(len(labels))] for i in range(len(labels))
    ]
    listed = [
        ClassRow(labels[i], int(rows[i]), float(shares[i, i]), float(counts[i, i] / max(calls[i], 1)))
        for i in np.argsort(-rows, kind="stable")[:MOST_LISTED]
    ]
    off = np.where(np.eye(len(labels), dtype=bool), 0, counts)
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_MISTAKES]
    places = [divmod(int(place), len(labels)) for place in order]
    mistakes = [(labels[i], labels[j], int(off[i, j])) for i, j in places if off[i, j]]
    return Confusion(labels, cells if len(labels) <= MOST_CLASSES else [], listed, mistakes)
