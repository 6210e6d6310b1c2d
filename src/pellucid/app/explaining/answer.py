"""Answer: the one number of a row that is followed, and what it would be with columns of other rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from pellucid.app.bake_off.explanation import shown_value, without_reader
from pellucid.app.table_model import TableModel
from pellucid.app.tables.understanding import FLAG
from pellucid.core.types import Array

MOST_AT_ONCE = 10_000
"""Rows asked about together: kernels and neighbors need memory for each."""
NO_YES = ("no", "yes")
NONE_TAKEN: Mapping[str, Array] = {}


@dataclass(frozen=True)
class Answer:
    """The prediction of a number, or the probability of one class, for rows put together from those of a table.

    Every question of this room is one of these: the columns of a row stay, but some are as in another row. So only
    values that occur are asked about, and the parts of a date move together.
    """

    model: TableModel
    """Of tables that are read already."""
    read: pd.DataFrame
    parts: Mapping[str, Sequence[str]]
    """The columns of ``read`` that stand for each of the table."""
    kinds: Mapping[str, str]
    """How each column of the table is read."""
    label: int | None
    """The place of the class among the classes; None for numbers."""

    @classmethod
    def about(cls, model: TableModel, frame: pd.DataFrame, row: int) -> Answer:
        """Return what is followed: of two classes the second, of more the likeliest of the row shown."""
        reader, inner = model[0], without_reader(model)
        read = reader.transform(frame).reset_index(drop=True)
        label = None
        if is_classifier(model):
            n_classes = len(model.classes_)
            label = 1 if n_classes == 2 else int(np.argmax(inner.predict_proba(read.iloc[[row]])[0]))
        return cls(inner, read, {name: reader.names_of(name) for name in reader.kinds}, reader.kinds, label)

    def of(self, rows: Array, taken: Mapping[str, Array] = NONE_TAKEN) -> Array:
        """Return the answer for rows by their places; ``taken`` names columns and the places they are taken from."""
        found = [
            self._ask({part: self.read[part].array.take(places[start : start + MOST_AT_ONCE])
                       for name, parts in self.parts.items() for part in parts
                       for places in [taken.get(name, rows)]})
            for start in range(0, len(rows), MOST_AT_ONCE)
        ]  # fmt: skip
        return np.concatenate(found) if found else np.empty(0)

    def value(self, row: int, name: str) -> str:
        """Return what a row has in a column, in words."""
        if self.kinds[name] == FLAG and not np.isnan(self.read[name].iloc[row]):
            return NO_YES[int(self.read[name].iloc[row])]
        return shown_value(self.read.iloc[row], self.parts[name])

    def _ask(self, columns: dict[str, object]) -> Array:
        frame = pd.DataFrame(columns)
        said = self.model.predict(frame) if self.label is None else self.model.predict_proba(frame)[:, self.label]
        return np.asarray(said, dtype=np.float64)


MOST_PAIRS = 500
"""Pairs of rows drawn."""
SURE = 1.96
"""Standard errors on each side of an interval of 95 %."""


@dataclass(frozen=True)
class Interaction:
    """How far the change by two columns typically is from the sum of the changes by each, with an interval."""

    first: str
    """Name of one column."""
    second: str
    """Name of the other."""
    size: float
    """Root mean square of the distance from the sum, in the unit of the answer; 0 if they act apart."""
    low: float
    """Lower end of the interval of 95 %, at least 0."""
    high: float
    """Upper end of the interval."""


def interactions_of(
    answer: Answer, names: Sequence[str], seed: int, listen: Callable[[], None] = lambda: None
) -> list[Interaction]:
    r"""Return the interaction of every pair of columns, the largest first.

    Two rows x and z are drawn, and column j, column k or both are taken over from z into x. If j and k act apart,

    .. math:: D_{jk} = f(x) - f(x_j \leftarrow z_j) - f(x_k \leftarrow z_k) + f(x_{jk} \leftarrow z_{jk})

    is 0 for all rows; the root of its mean square is the size (a quarter of its square is the total interaction index
    of Fruth, Roustant and Kuhnt, 2014). The interval comes from the standard error of the mean square over the pairs.
    """
    n_rows = len(answer.read)
    order = np.random.default_rng(seed).permutation(n_rows)
    rows, others = order[:MOST_PAIRS], np.roll(order, 1)[:MOST_PAIRS]  # no row is paired with itself
    usual = answer.of(rows)
    alone = {}
    for name in names:
        alone[name] = answer.of(rows, {name: others})
        listen()
    found = []
    for first, second in combinations(names, 2):
        both = answer.of(rows, {first: others, second: others})
        found.append(_sized(first, second, usual - alone[first] - alone[second] + both))
        listen()
    return sorted(found, key=lambda one: -one.size)


def _sized(first: str, second: str, differences: Array) -> Interaction:
    squares = np.square(differences)
    mean, apart = float(squares.mean()), squares - squares.mean()
    # each pair of rows shares one with the next
    variance = float(np.mean(apart**2) + max(0.0, 2.0 * np.mean(apart[1:] * apart[:-1])))
    room = SURE * np.sqrt(variance / (len(squares) - 1))
    ends = np.sqrt(np.maximum([mean - room, mean + room], 0.0))
    return Interaction(first, second, float(np.sqrt(mean)), float(ends[0]), float(ends[1]))


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
    """Name of the column."""
    value: str
    """What the row has there, in words."""
    added: float
    """Its Shapley value, in the unit of the answer; below 0 if it lowers the answer."""
    standard_error: float
    """Standard error of what is added."""


@dataclass(frozen=True)
class Waterfall:
    """The way from the mean answer to that of one row."""

    row: int
    """Its place in the table, from 0."""
    mean: float
    """Mean answer over the rows that the row is compared with."""
    answer: float
    """The answer for the row: the mean and all that is added."""
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
