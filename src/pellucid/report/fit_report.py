"""What the report of a fit says, as plain numbers and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.core.certificate import Certificate
from pellucid.core.types import Array


@dataclass(frozen=True)
class ColumnRow:
    """One column of the table, as understood."""

    name: str
    kind: str
    n_missing: int
    summary: str


@dataclass(frozen=True)
class LeaderRow:
    """One method of the leaderboard: mean error over the folds and its standard error."""

    name: str
    sentence: str
    mean: float
    standard_error: float
    n_coefficients: float
    is_chosen: bool = False
    is_baseline: bool = False


@dataclass(frozen=True)
class FitReport:
    """All that the page shows."""

    table: str
    target: str
    model_file: str
    n_rows: int
    n_training: int
    folds: int
    seed: int
    columns: Sequence[ColumnRow]
    leaderboard: Sequence[LeaderRow]
    reason: str
    error: float
    error_low: float
    error_high: float
    level: float
    r_squared: float
    actual: Array
    predicted: Array
    method: str
    intercept: float
    coefficients: Sequence[tuple[str, float]]
    certificate: Certificate
    notes: Sequence[str]
