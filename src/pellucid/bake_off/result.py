"""Everything that a bake-off found."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from sklearn.pipeline import Pipeline

from pellucid.bake_off.comparing import Score, Untried
from pellucid.bake_off.driving import Coefficient, Importance
from pellucid.bake_off.effects import Effect
from pellucid.bake_off.judging import Judgement
from pellucid.core.certificate import Certificate
from pellucid.model_selection import ErrorCurve, Opening
from pellucid.tables.understanding import Columns, Target


@dataclass(frozen=True)
class Plan:
    """How the methods were compared."""

    recipe: str
    folds: int
    seed: int
    one_standard_error: bool


@dataclass(frozen=True, repr=False)
class BakeOff:
    """A chosen, certified model and what is known about it.

    ``model`` is a pipeline that takes tables like the one it was fitted on; it was fitted on every row.
    """

    model: Pipeline
    target: Target
    columns: Columns
    plan: Plan
    scores: tuple[Score, ...]
    """The best first."""
    untried: tuple[Untried, ...]
    chosen: Score
    reason: str
    judgement: Judgement
    n_learning: int
    vault_log: tuple[Opening, ...]
    curve: ErrorCurve | str
    """The learning curve, or why there is none."""
    importances: list[Importance] | str
    coefficients: list[Coefficient]
    intercept: float | None
    effects: list[Effect]
    """Curves of the numbers, for a method on steps; their steps are not among the coefficients."""
    notes: tuple[str, ...]
    interrupted: bool
    seconds: float

    @property
    def certificate(self) -> Certificate:
        """What the fit of the model proved about itself."""
        certificate: Certificate = self.model[-1].certificate_
        return certificate

    @property
    def baseline(self) -> Score | None:
        """The score of always saying the same."""
        return next((score for score in self.scores if score.contestant.is_baseline), None)

    def frame(self) -> pd.DataFrame:
        """Return the leaderboard, the best method first."""
        rows = [
            {
                "method": score.contestant.name,
                "error": score.mean,
                "standard_error": score.standard_error,
                "coefficients": score.n_coefficients,
                "chosen": score is self.chosen,
            }
            for score in self.scores
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"{self.chosen.contestant.name} of {len(self.scores)} methods; test {self.judgement.headline!r}"
