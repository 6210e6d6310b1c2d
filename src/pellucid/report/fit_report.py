"""What the report of a fit says, as plain numbers and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.bake_off.driving import Coefficient, Importance
from pellucid.bake_off.effects import Effect
from pellucid.bake_off.judging import Judgement
from pellucid.core.certificate import Certificate
from pellucid.model_selection import ErrorCurve, Opening


@dataclass(frozen=True)
class ColumnRow:
    """One column of the table, as understood."""

    name: str
    kind: str
    n_missing: int
    summary: str


@dataclass(frozen=True)
class LeaderRow:
    """One method of the leaderboard: mean error over the splits, its standard error, and the balanced accuracy."""

    name: str
    sentence: str
    mean: float
    standard_error: float
    n_coefficients: float
    balanced: float | None = None
    is_chosen: bool = False
    is_baseline: bool = False


@dataclass(frozen=True)
class FitReport:
    """All that the page shows."""

    table: str
    target: str
    task: str
    task_reason: str
    model_file: str
    n_rows: int
    n_learning: int
    recipe: str
    seed: int
    seconds: float
    interrupted: bool
    columns: Sequence[ColumnRow]
    leaderboard: Sequence[LeaderRow]
    untried: Sequence[tuple[str, str]]
    reason: str
    method: str
    judgement: Judgement
    curve: ErrorCurve | str
    importances: Sequence[Importance] | str
    coefficients: Sequence[Coefficient]
    intercept: float | None
    effects: Sequence[Effect]
    certificate: Certificate
    vault_log: Sequence[Opening]
    notes: Sequence[str]

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.task == "classification"
