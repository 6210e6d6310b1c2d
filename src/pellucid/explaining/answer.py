"""Answer: the one number of a row that is followed, and what it would be with columns of other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from pellucid.bake_off.explanation import without_reader
from pellucid.bake_off.linear_story import shown_value
from pellucid.core.types import Array
from pellucid.table_model import TableModel
from pellucid.tables.understanding import FLAG

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
