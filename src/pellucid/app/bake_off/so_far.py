"""The best model so far, handed over while the comparison goes on: whatever ends the process, there is an answer.

A method that was fitted to a split, or to the rows of a heat, is a model already: it costs nothing but the writing. It
has learned from fewer rows than the last one will, and is judged by the rows that the comparison held out; the rows
kept aside stay locked away.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pandas as pd

from pellucid.app.bake_off.comparison import FAILED, FittedMethod, Stage, failure
from pellucid.app.bake_off.measures import Measure
from pellucid.app.bake_off.result import Plan
from pellucid.app.bake_off.scores import MethodScore, why
from pellucid.app.bake_off.vaulted_table import VaultedTable
from pellucid.app.table_model import TableModel
from pellucid.app.tables.reading import notes_of
from pellucid.app.tables.understanding import Columns, Target
from pellucid.core.budget import Budget
from pellucid.core.watching import Show

SHARE = 0.04
"""Of the time so far that keeping models may have taken when one more is kept; the first one is kept in any case."""


@dataclass(frozen=True, repr=False)
class SoFar:
    """The best model of a bake-off that has not ended, and what is known about it without the rows kept aside."""

    model: TableModel
    table: pd.DataFrame
    """As it was given, all rows and columns."""
    target: Target
    columns: Columns
    plan: Plan
    measure: Measure
    chosen: MethodScore
    scores: tuple[MethodScore, ...]
    """Of the methods compared on as many rows and splits as the chosen one, the best first."""
    tried: tuple[str, ...]
    """Names of all methods that were tried until now."""
    n_rows: int
    n_learning: int
    n_fitted: int
    """Rows with a target, those of them to compare and choose with, and those that the model learned from."""
    seconds: float
    """Since the bake-off began."""
    when: datetime
    is_final_fit: bool = False
    """Whether the comparison has ended, and only the rows kept aside and the report are to come."""
    learned_from: str = ""
    """Of a table in files, the rows that the last model learned from: there is none yet."""

    @property
    def reason(self) -> str:
        """Why this method is the best so far, in a sentence."""
        return why(self.chosen, self.scores)

    @property
    def done_to_data(self) -> list[str]:
        """How the table was read, in sentences, as far as that was unusual."""
        return [*notes_of(self.table), *self.target.notes, *self.columns.notes()]

    @property
    def sentence(self) -> str:
        """What must be known before anything else: that there is more to come."""
        when = f"{self.when:%Y-%m-%d %H:%M:%S} UTC, {self.seconds:.1f} seconds after the start"
        if self.is_final_fit:
            ended = "The comparison had ended, but the report had not been written yet"
            return f"{ended} ({when}): the rows kept aside have not been looked at, and nothing was verified."
        names = "; ".join(self.tried)
        return (
            f"The comparison had not ended when this was written ({when}): this is the best of the methods tried until "
            f"then ({names}), fitted to {self.n_fitted:,} of {self.n_rows:,} rows."
        )

    def __repr__(self) -> str:
        return f"{self.chosen.name}, the best so far of {len(self.tried)} methods"


@dataclass
class BestSoFar:
    """Holds the best method so far, and hands it over as a model: at once, then as often as the time allows.

    Parameters
    ----------
    table : VaultedTable
    frame : DataFrame
        The table as it was given.
    plan : Plan
    budget : Budget
    build : callable
        Makes the model of a score and what was fitted.
    keep : callable
        What takes the model, such as one who writes it to a file. If it fails, the bake-off goes on.
    """

    table: VaultedTable
    frame: pd.DataFrame
    plan: Plan
    budget: Budget
    build: Callable[[MethodScore, FittedMethod], TableModel]
    keep: Callable[[SoFar], None] | None
    trouble: str = ""
    """How the last attempt to keep a model failed."""
    _best: MethodScore | None = None
    _fitted: FittedMethod | None = None
    """Of the best, until it is kept."""
    _scores: dict[tuple[int, int], list[MethodScore]] = field(default_factory=dict)
    """By the rows learned from and the splits: only those of one entry were compared on the same rows."""
    _start: float = field(default_factory=lambda: time.monotonic())
    _seconds: float = 0.0
    """Spent with keeping."""
    _last: float = 0.0
    """The same of the last model."""

    def offer(self, score: MethodScore, fitted: FittedMethod) -> None:
        """Take a method fitted to some of the rows to learn from, and keep it if it is the best so far."""
        self._scores.setdefault(_evidence(score), []).append(score)
        if score.held_out is None or score.contestant.is_baseline or self.keep is None:
            return
        if self._best is None or _is_better(score, self._best):
            rows = self.table.vault.learning_rows[fitted.rows]
            self._best, self._fitted = score, replace(fitted, rows=rows)
        if self._fitted is not None and self._seconds <= SHARE * (time.monotonic() - self._start):
            self._keep_best(is_final_fit=False)

    def offer_final(self, score: MethodScore, fitted: FittedMethod) -> None:
        """Take the chosen method fitted for good, whose rows are places in the table, and keep it if that is quick."""
        if self.keep is None or score.held_out is None:
            return
        if self._seconds + self._last <= SHARE * self.budget.seconds:
            self._best, self._fitted = score, fitted
            self._keep_best(is_final_fit=True)

    def cautions(self) -> list[str]:
        """Return that the best so far could not be kept, if it was so."""
        if not self.trouble:
            return []
        return [f"The best model so far could not be kept on the way ({self.trouble}); the fit went on without."]

    def _keep_best(self, *, is_final_fit: bool) -> None:
        best, fitted = self._best, self._fitted
        assert self.keep is not None  # asked before
        assert best is not None
        assert fitted is not None
        start = time.monotonic()
        try:
            self.keep(self._so_far(best, fitted, is_final_fit=is_final_fit))
            self.trouble = ""
        except Exception as error:  # a full disk, for instance: the answer itself is still to come
            self.trouble = failure(error).removeprefix(FAILED).removesuffix(".")
        self._fitted = None
        self._last = time.monotonic() - start
        self._seconds += self._last

    def _so_far(self, best: MethodScore, fitted: FittedMethod, *, is_final_fit: bool) -> SoFar:
        compared = self._scores.get(_evidence(best), [])
        others = [score for score in compared if score.name != best.name]
        return SoFar(
            model=self.build(best, fitted),
            table=self.frame,
            target=self.table.target,
            columns=self.table.columns,
            plan=self.plan,
            measure=self.table.measure,
            chosen=best,
            scores=tuple(sorted([best, *others], key=lambda score: score.mean)),
            tried=tuple(dict.fromkeys(score.name for scores in self._scores.values() for score in scores)),
            n_rows=len(self.table.X),
            n_learning=len(self.table.vault.learning_rows),
            n_fitted=len(fitted.rows),
            seconds=time.monotonic() - self._start,
            when=datetime.now(UTC),
            is_final_fit=is_final_fit,
        )


def _evidence(score: MethodScore) -> tuple[int, int]:
    return score.pace.rows, len(score.errors)


def _is_better(score: MethodScore, best: MethodScore) -> bool:
    """Return whether a method makes smaller errors, or is the same one, tried on more."""
    return score.mean < best.mean or (score.name == best.name and _evidence(score) > _evidence(best))


def stages_shown(show: Show) -> Callable[[Stage], None]:
    """Return a listener that shows every stage on a bar."""

    def listen(stage: Stage) -> None:
        show(stage.method, stage.done, stage.total, best_so_far(stage), time_left(stage.seconds_left))

    return listen


def best_so_far(stage: Stage) -> str:
    """Return the best method and its score in a few words."""
    if stage.interrupted:
        return "interrupted: finishing with the best so far, Ctrl-C again to abort"
    if stage.best is None:
        return ""
    error, measure = stage.best.mean, stage.best.measure
    if measure is not None and not measure.is_default:
        score = f"{measure.title} {measure.shown(error):.4g}"
    else:
        score = f"{100 * (1 - error):.1f} % right" if stage.best.is_classification else f"error {error:.4g}"
    return f"best: {stage.best.name}, {score}"


def time_left(seconds: float) -> str:
    """Return the time left as minutes and seconds.

    Examples
    --------
    >>> time_left(95.4)
    '1:35 left'
    """
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02d} left"
