"""From a model and a table to its global picture and one row: one pass from top to bottom, and one result."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from pellucid.app.bake_off.importance import Importance, importances
from pellucid.app.bake_off.tree_story import as_text
from pellucid.app.explaining.answer import BATCHES, SURE, Answer, Interaction, Waterfall, interactions_of, waterfall_of
from pellucid.app.explaining.dependence import Crossed, Dependence, crossed, dependence_of
from pellucid.app.table_model import TableModel
from pellucid.core.short_html import short_html
from pellucid.core.types import Array
from pellucid.core.watching import listening

FEWEST_ROWS = 10
"""That a picture of the whole needs."""
REPEATS = 5
MOST_SHUFFLED = 100_000
"""Rows asked about for the importances, unless the columns are very many."""
FEWEST_SHUFFLED, MOST_IMPORTANCE_ROWS = 200, 2000
N_LEADING = 6
"""Columns that are drawn, and whose pairs are looked at."""
MOST_TOLD = 3
"""Of the columns of a row, and of the pairs, in a notebook."""
Listen = Callable[[str, int, int], None]
"""Called with what is done, the steps done and the steps there are."""


@dataclass(frozen=True)
class ImportanceInterval:
    """How much worse the answers get, or how much they change, when a column is shuffled; an interval of 95 %."""

    column: str
    """Name of the column."""
    rise: float
    """By how much the share of mistakes rises, or the root mean squared error in units of the target."""
    low: float
    """Lower end of the interval; above 0, the column matters."""
    high: float
    """Upper end of the interval."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes that the column does not matter."""
        return self.low > 0.0


@dataclass(frozen=True)
class ExplainedModel:
    """What there is to say about how a model answers on the rows of a table."""

    target: str
    """Name of the column that the model predicts."""
    method: str
    """Name of the class of its last step, such as ``Ridge``."""
    label: str
    """The class whose probability is followed; empty for numbers."""
    n_classes: int
    """0 for numbers."""
    n_rows: int
    """Rows of the table."""
    n_judged: int
    """Rows with a known target, that importances were measured on; 0 where nobody knows it."""
    is_training_table: bool
    """Whether these are the very rows that the model learned from."""
    importances: tuple[ImportanceInterval, ...]
    """The largest first."""
    curves: tuple[Dependence, ...]
    """Of the leading columns."""
    without_curve: tuple[str, ...]
    """Leading columns that have none: texts."""
    interactions: tuple[Interaction, ...]
    """Of the pairs of leading columns, the largest first."""
    strongest: Crossed | None
    """The pair with the largest interaction, drawn."""
    waterfall: Waterfall
    """One row step by step: what each column adds to its answer."""
    seed: int
    """What rows, shuffles and orders of columns were drawn by."""
    seconds: float
    """How long all of it took."""

    @property
    def followed(self) -> str:
        """What curves and steps are about, in words."""
        return f"the probability of {self.label}" if self.label else "the prediction"

    def _repr_html_(self) -> str:
        way = self.waterfall
        added = ", ".join(f"{one.column} = {one.value} {one.added:+.3g}" for one in way.contributions[:MOST_TOLD])
        return short_html(
            f"How {self.method} predicts {self.target}",
            [f"Row {way.row + 1:,}: {self.followed} is {way.answer:.4g}, on average {way.mean:.4g}. Mostly {added}."],
            head=("Column", "Rise of the error" if self.n_judged else "Change of the answer", "95 % interval"),
            rows=[(one.column, f"{one.rise:.3g}", f"{one.low:.3g} to {one.high:.3g}") for one in self.importances],
            folded={
                "Columns that act together": [
                    f"{one.first} × {one.second}: {one.size:.3g} ({one.low:.3g} to {one.high:.3g})"
                    for one in self.interactions[:MOST_TOLD]
                ]
            },
        )


def explain_model(
    model: TableModel,
    frame: pd.DataFrame,
    *,
    truth: tuple[Array, Array] | None = None,
    row: int = 0,
    seed: int = 0,
    listen: Listen | None = None,
) -> ExplainedModel:
    """Return which columns matter to a model, how, which act together, and one row step by step.

    Parameters
    ----------
    model : TableModel
        What ``pellucid fit`` saved.
    frame : DataFrame of at least 10 rows
        Rows with the columns that the model knows.
    truth : pair of ndarrays, optional
        Which rows have a known target, and their targets. Without it a column matters as far as predictions change.
    row : int, default=0
        Place of the row that is shown step by step, from 0.
    seed : int, default=0
        The same seed gives the same answer.
    listen : callable, default=None
        Called with what is done, the number of steps done and of all; None shows a bar in a notebook.
    """
    if len(frame) < FEWEST_ROWS:
        raise ValueError(f"table must have at least {FEWEST_ROWS} rows to explain a model with, got {len(frame)}.")
    if not 0 <= row < len(frame):
        raise ValueError(f"row must be one of the {len(frame):,} of the table, got {row + 1:,}.")
    start = time.monotonic()
    with warnings.catch_warnings(), listening(listen) as hear:
        warnings.simplefilter("ignore")  # what the model warns of was said when it was fitted
        answer = Answer.about(model, frame, row)
        steps = _Steps(len(answer.parts), hear)
        ranked = _importances(answer, truth, is_classifier(model), seed, steps)
        leading = [one.column for one in ranked[:N_LEADING] if one.rise > 0.0]
        curves = []
        for name in leading:
            curves.append(dependence_of(answer, name, seed))
            steps.one_more("curves")
        pairs = interactions_of(answer, leading, seed, steps.of("interactions"))
        strongest = None
        if pairs and pairs[0].size > 0.0:
            strongest = crossed(answer, (pairs[0].first, pairs[0].second), seed)
        steps_of_row = waterfall_of(answer, row, seed, steps.of(f"row {row + 1:,}"))
    return ExplainedModel(
        target=str(model.target_),
        method=type(model[-1]).__name__,
        label="" if answer.label is None else as_text(model.classes_[answer.label]),
        n_classes=0 if answer.label is None else len(model.classes_),
        n_rows=len(frame),
        n_judged=0 if truth is None else len(truth[1]),
        is_training_table=truth is not None
        and model[0].data_fingerprint_ == model[0].fingerprint_of(frame[truth[0]], truth[1]),
        importances=tuple(ranked),
        curves=tuple(one for one in curves if one is not None),
        without_curve=tuple(name for name, one in zip(leading, curves, strict=True) if one is None),
        interactions=tuple(pairs),
        strongest=strongest,
        waterfall=steps_of_row,
        seed=seed,
        seconds=time.monotonic() - start,
    )


class _Steps:
    """Counts what is done of what there is to do."""

    def __init__(self, n_columns: int, listen: Listen) -> None:
        n_leading = min(N_LEADING, n_columns)
        self.total = n_columns + 2 * n_leading + n_leading * (n_leading - 1) // 2 + BATCHES
        self.done, self.listen = 0, listen

    def one_more(self, what: str) -> None:
        self.done = min(self.done + 1, self.total)
        self.listen(what, self.done, self.total)

    def of(self, what: str) -> Callable[[], None]:
        return lambda: self.one_more(what)


def _importances(
    answer: Answer, truth: tuple[Array, Array] | None, is_classification: bool, seed: int, steps: _Steps
) -> list[ImportanceInterval]:
    """Return how much errors rise when a column is shuffled; without a truth, how far answers are from themselves."""
    read, actual = answer.read, None
    if truth is not None:
        read, actual = read[np.asarray(truth[0], dtype=bool)], truth[1]
    most = int(np.clip(MOST_SHUFFLED // (REPEATS * len(answer.parts)), FEWEST_SHUFFLED, MOST_IMPORTANCE_ROWS))
    if actual is None:
        actual = np.asarray(answer.model.predict(read))
    found = importances(
        answer.model,
        read,
        actual,
        answer.parts,
        is_classification=is_classification,
        seed=seed,
        most_rows=most,
        repeats=REPEATS,
        listen=steps.of("importances"),
    )
    return [_with_interval(one) for one in found]


def _with_interval(found: Importance) -> ImportanceInterval:
    room = SURE * found.standard_error
    return ImportanceInterval(found.column, found.rise, found.rise - room, found.rise + room)
