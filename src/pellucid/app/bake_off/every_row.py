"""Every row of a table that does not fit into memory: the method that won on a draw of them is fitted to all of them.

The preparation of the columns stays that of the draw; the method itself makes passes over blocks of prepared rows, if
it has a form for them. The rows kept aside are known by their hashes and never among these.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone, is_classifier

from pellucid.app.bake_off.comparison import failure
from pellucid.app.table_model import TableModel
from pellucid.app.tables.column_counts import NumberCounts
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.file_parts import PART_BYTES
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.survey import RowsLearned, Survey
from pellucid.app.tables.table_files import TableFiles, TablePart
from pellucid.app.tables.understanding import (
    NUMBER,
    Columns,
    Target,
    class_labels,
    has_value,
    known_spellings,
)
from pellucid.app.tables.written_numbers import read_written
from pellucid.core.budget import Budget
from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.types import Array
from pellucid.core.verification import verify
from pellucid.proofs.certificate import Certificate

PASSES_KEPT, MOST_KEPT = 8.0, 0.5
"""Passes over the files for which time is kept while methods are compared, and the most of the time left for them."""
COPIES = 8.0
"""Of a part: as read, as prepared, and on the way; while one is worked on, another may be read."""
READ = "prepared"
"""What the keys of tasks that read a part begin with."""

Step = Callable[[int, int, int], None]
"""Told which pass it is, how many parts of it are done, and of how many."""


@dataclass(frozen=True)
class PartReading:
    """From a part of a table to the rows that a method learns from, and their target."""

    learned: RowsLearned
    reader: ColumnReader
    prepare: Any
    target: str
    classes: Array | None

    def rows(self, part: TablePart) -> tuple[Array, Array]:
        """Return the prepared rows of a part that have a target the model knows, those kept aside never among them."""
        frame = part.read()
        column = frame[self.target]
        if self.learned.written:
            column = pd.Series(read_written(column, self.learned.written), column.index, name=column.name)
        used = has_value(column) & ~self.learned.is_kept_aside(part, len(frame))
        values = column[used]
        if self.classes is None:
            y = values.to_numpy(dtype=np.float64)
        else:
            y = known_spellings(class_labels(values, self.target), self.classes)
            known = np.isin(y, self.classes)
            used[used], y = known, y[known].astype(self.classes.dtype)
        if not len(y):
            return np.empty((0, self.width)), y
        rows = np.asarray(self.prepare.transform(self.reader.transform(frame[used])))
        return rows if rows.dtype == object else rows.astype(np.float64, copy=False), y  # words stay words

    @property
    def width(self) -> int:
        """Columns of prepared rows."""
        return len(self.prepare.get_feature_names_out())

    def blocks(self, files: TableFiles) -> tuple[Any, Any]:
        """Return the rows of all parts and their targets as lazy Dask arrays, with a block for each part."""
        import dask.array
        from dask.delayed import delayed

        token, shared = uuid4().hex, delayed(self, traverse=False)
        y_type = np.dtype(np.float64) if self.classes is None else self.classes.dtype
        rows, targets = [], []
        for number, part in enumerate(files.parts):
            key = f"{READ}-{number}-{token}"
            both = delayed(_rows_of, pure=False, traverse=False)(shared, part, dask_key_name=key)
            rows.append(dask.array.from_delayed(both[0], (np.nan, self.width), dtype=np.float64))
            targets.append(dask.array.from_delayed(both[1], (np.nan,), dtype=y_type))
        return dask.array.concatenate(rows), dask.array.concatenate(targets)


@dataclass(frozen=True)
class EveryRow:
    """All rows of a table of which a draw is in memory, and what is known of them."""

    survey: Survey
    seconds_per_pass: float
    room: float
    """Bytes that parts may take."""
    columns: Columns
    target: str
    coerce: bool = True

    @property
    def n_rows(self) -> int:
        """Rows with a target."""
        return self.survey.n_with_target

    @property
    def range_of_target(self) -> tuple[float, float] | None:
        """The smallest and the largest target, of numbers."""
        counts = self.survey.counts[self.target]
        return (counts.low, counts.high) if isinstance(counts, NumberCounts) else None

    def seconds_to_keep(self, budget: Budget) -> float:
        """Return the seconds to keep for the passes of the last fit."""
        return max(0.0, min(PASSES_KEPT * self.seconds_per_pass, MOST_KEPT * budget.seconds_left()))

    def why_not(self, model: TableModel, reader: ColumnReader) -> str:
        """Return why a method cannot be fitted to rows in blocks; empty if it can."""
        method = model[-1]
        if not isinstance(method, CertifiedEstimator) or not card_of(type(method)).rules_for(method).blocks:
            return "its answer depends on more of the rows than a few passes tell"
        if card_of(type(method)).rules_for(method).reads_again:
            return "it would read all of them again for each answer"
        if find_spec("dask") is None:
            return "Dask is not installed: pip install 'pellucid[scale]'"
        if sparse.issparse(model[:-1].transform(reader.transform(self.survey.sample.iloc[:1]))):
            return "its prepared columns are too many to be kept as plain numbers"
        return ""

    def fit(
        self, model: TableModel, reader: ColumnReader, target: Target, budget: Budget, seconds: float, step: Step
    ) -> tuple[TableModel, int, str]:
        """Return a model, fitted to a draw, fitted to every row, how many they were, and a sentence about it.

        Where that is not possible, or there is no time for it, the model stays as it is.
        """
        name, n_draw, n_all = type(model[-1]).__name__, len(target.values), self.n_rows
        part = f"The model learned from {n_draw:,} of {n_all:,} rows, drawn evenly from all files"
        reason = self.why_not(model, reader)
        if reason:
            return model, n_draw, f"{part}: {name} was not fitted to every row, for {reason}."
        X, y = self.blocks(model, reader, target)
        fitted = clone(model[-1])
        try:
            found, cut_by = budget.attempt(partial(self._passes, lambda: fitted.fit(X, y), step), seconds)
        except Exception as error:  # what is wrong with one row in a million must not cost the answer
            return model, n_draw, f"{part}: the fit to every row {failure(error).removesuffix('.')}."
        if found is None:
            why = {"time": "there was no time for more. Give more with --time", "interruption": "it was interrupted"}
            return model, n_draw, f"{part}: {why[cut_by]}."
        whole = copy(model)
        whole.steps = [*model.steps[:-1], (model.steps[-1][0], fitted)]
        whole.rows_learned_ = self.learned
        n_learned = n_all - len(self.survey.vault)
        return whole, n_learned, f"The model learned from every row but those kept aside: {n_learned:,} of {n_all:,}."

    def prove(self, model: TableModel, reader: ColumnReader, target: Target) -> Certificate:
        """Return what the proof of the last step finds in one more pass over every row."""
        X, y = self.blocks(model, reader, target)
        return self._passes(lambda: verify(model[-1], X, y), lambda *_: None)

    def blocks(self, model: TableModel, reader: ColumnReader, target: Target) -> tuple[Any, Any]:
        """Return the rows to learn from, prepared, and their targets, as lazy Dask arrays with a block per part."""
        classes = np.unique(target.values) if target.is_classification else None
        return PartReading(self.learned, reader, model[:-1], self.target, classes).blocks(self.survey.files)

    @property
    def learned(self) -> RowsLearned:
        """Which rows are learned from, and how their target is read."""
        return self.survey.learned if self.coerce else replace(self.survey.learned, written="")

    def _passes(self, work: Callable[[], Any], step: Step) -> Any:
        return in_passes(work, len(self.survey.files.parts), self.room, step)

    def widen(self, model: TableModel) -> TableModel:
        """Return a model that knows how far the numbers of all rows reach, not those of the draw alone."""
        for name, seen in model.seen_.numbers.items():
            counts = self.survey.counts.get(name)
            if isinstance(counts, NumberCounts) and self.columns.kinds.get(name) == NUMBER and len(seen):
                seen[0], seen[-1] = counts.low, counts.high
        return model


def in_passes(work: Callable[[], Any], n_parts: int, room: float, step: Step = lambda *_: None) -> Any:
    """Do work that makes passes over the blocks of files, as many parts at once as there is room for."""
    import dask
    from dask.callbacks import Callback

    n_done = 0

    def count(key: Any, *_: Any) -> None:
        nonlocal n_done
        if str(key).startswith(READ):
            n_done += 1
            step((n_done - 1) // n_parts + 1, (n_done - 1) % n_parts + 1, n_parts)

    at_once = int(np.clip(room / (COPIES * PART_BYTES), 1, dask.system.CPU_COUNT))
    apart = {"num_workers": at_once, "optimization.fuse.active": False}  # fused, rows and targets read a part each
    with dask.config.set(apart), Callback(posttask=count):
        return work()


def prove_on_files(model: TableModel, files: TableFiles, room: float, step: Step = lambda *_: None) -> Certificate:
    """Return what the proof of the last step of a model finds in a pass over the files that it learned from.

    The steps before it, which were fitted to rows drawn from them, are taken as they are.
    """
    learned = model.rows_learned_
    if learned is None:
        raise TableError("model must have learned from files larger than memory, got one that learned from a table.")
    classes = model.classes_ if is_classifier(model) else None
    X, y = PartReading(learned, model[0], model[1:-1], model.target_, classes).blocks(files)
    found: Certificate = in_passes(lambda: verify(model[-1], X, y), len(files.parts), room, step)
    return found


def _rows_of(reading: PartReading, part: TablePart) -> tuple[Array, Array]:
    return reading.rows(part)
