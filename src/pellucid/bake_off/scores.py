"""Scores of methods, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.bake_off.contestants import Contestant
from pellucid.bake_off.measures import Measure
from pellucid.bake_off.pace import Pace
from pellucid.core.types import Array
from pellucid.model_selection.recipes import chosen_by, standard_error
from pellucid.table_model.held_out import HeldOut


@dataclass(frozen=True)
class MethodScore:
    """A method's validation errors: the share of mistakes, or the root mean squared error, of each split."""

    contestant: Contestant
    errors: Array
    balanced: Array | None
    """The mean over the classes of the share of their rows that is found; None for regression."""
    n_coefficients: float
    pace: Pace
    spread_of_rows: float
    """The standard error of the error of a single split."""
    is_from_heat: bool = False
    """Whether it was compared on part of the rows only."""
    measure: Measure | None = None
    """What the errors are."""
    auc: float = float("nan")
    log_loss: float = float("nan")
    """Means over the splits, where the method has them."""
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    """Of one split, on average, the preparation of the columns aside."""
    n_predicted: int = 0
    """Rows of one split, on average, that these predictions were for."""
    held_out: HeldOut | None = None
    """What it said about rows that it had not learned from, of all splits."""
    by_split: tuple[HeldOut, ...] = ()
    """The same, split by split."""

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.contestant.name

    @property
    def is_classification(self) -> bool:
        """Whether the errors are shares of mistakes."""
        return self.balanced is not None

    @property
    def mean(self) -> float:
        """Mean over the splits."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean: over the splits, or over the rows if there is one split."""
        return standard_error(self.errors) if len(self.errors) > 1 else self.spread_of_rows


def best_of(scores: Sequence[MethodScore]) -> MethodScore | None:
    """Return the method with the least error, the baseline aside."""
    return min((score for score in scores if not score.contestant.is_baseline), key=lambda s: s.mean, default=None)


def choose(scores: Sequence[MethodScore], *, one_standard_error: bool) -> MethodScore:
    """Return the method with the least error, or the simplest within one standard error of it; never the baseline.

    A method with fewer coefficients is simpler; one without any, such as neighbors, is the least simple.
    """
    candidates = [score for score in scores if not score.contestant.is_baseline]
    if not one_standard_error:
        return min(candidates, key=lambda score: score.mean)
    simplest_first = sorted(candidates, key=lambda score: (score.n_coefficients or float("inf"), score.mean))
    names = {score.name: score for score in simplest_first}
    return names[chosen_by({name: score.errors for name, score in names.items()}, "one standard error")]


def why(chosen: MethodScore, scores: Sequence[MethodScore]) -> str:
    """Return the sentence that says why the method was chosen."""
    best = choose(scores, one_standard_error=False)
    name = best.name[:1].upper() + best.name[1:]
    if chosen is best:
        return f"{name} made the smallest error on rows it had not seen, so it was chosen."
    return (
        f"{name} made the smallest error; {chosen.name} is within one standard error of it with fewer coefficients, "
        "so it was chosen."
    )
