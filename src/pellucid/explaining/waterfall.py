"""One row step by step: from the mean answer to its own, each column adding its share (Shapley values)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.explaining.answer import Answer

MOST_ASKED = 30_000
"""Rows that the model is asked about."""
MOST_ROWS = 500
"""Rows that the one is compared with."""
BATCHES = 10
"""In which the rows are asked about, to show how far it is."""


@dataclass(frozen=True)
class Contribution:
    """What a column adds to the answer of a row, and the standard error of that over the rows it is compared with."""

    column: str
    value: str
    added: float
    standard_error: float


@dataclass(frozen=True)
class Waterfall:
    """The way from the mean answer to that of one row: ``mean`` and all that is added make ``answer``."""

    row: int
    """Its place in the table, from 0."""
    mean: float
    answer: float
    contributions: tuple[Contribution, ...]
    """The largest first."""
    n_rows: int
    """Rows that the row is compared with, whose mean answer the way starts from."""


def waterfall_of(answer: Answer, row: int, seed: int, listen: Callable[[], None] = lambda: None) -> Waterfall:
    """Return what each column adds to the answer of a row: its Shapley values, by sampled orders of the columns.

    The row is compared with one row after the other. The columns of the other are replaced by its own in a random
    order, then in the reverse one, and each step is put down to the column replaced. So the steps of every comparison
    add up to the difference of the two answers, and the means of the steps to the difference from the mean answer,
    whatever orders were drawn.
    """
    rng = np.random.default_rng(seed)
    names = list(answer.parts)
    d = len(names)
    n_rows = max(2, min(MOST_ROWS, len(answer.read), MOST_ASKED // (2 * (d + 1))))
    others = rng.permutation(len(answer.read))[:n_rows]
    steps = np.empty((len(others), d))
    for batch in np.array_split(np.arange(len(others)), min(BATCHES, len(others))):
        ranks = np.array([rng.permutation(d) for _ in batch])  # when each column is replaced
        steps[batch] = (
            _steps(answer, row, others[batch], ranks) + _steps(answer, row, others[batch], d - 1 - ranks)
        ) / 2.0
        listen()
    mean, own = float(answer.of(others).mean()), float(answer.of(np.array([row]))[0])
    added, errors = steps.mean(axis=0), steps.std(axis=0, ddof=1) / np.sqrt(len(others))
    contributions = [
        Contribution(names[j], answer.value(row, names[j]), float(added[j]), float(errors[j]))
        for j in np.argsort(-np.abs(added), kind="stable")
    ]
    return Waterfall(row, mean, own, tuple(contributions), len(others))


def _steps(answer: Answer, row: int, others: Array, ranks: Array) -> Array:
    """Return how the answer changes when each column is replaced, for each of the other rows: (n_rows, n_columns)."""
    d = ranks.shape[1]
    done = np.arange(d + 1)
    places = {name: np.where(ranks[:, [j]] < done, row, others[:, None]).ravel() for j, name in enumerate(answer.parts)}
    changes = np.diff(answer.of(np.repeat(others, d + 1), places).reshape(len(others), d + 1), axis=1)
    return np.take_along_axis(changes, ranks, axis=1)
