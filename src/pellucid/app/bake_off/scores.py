"""Scores of methods, and the choice among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.measures import Measure
from pellucid.app.table_model.calibration import TEMPERATURE, calibrated, log_losses
from pellucid.app.table_model.class_scores import HeldOut
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.model_selection.recipes import chosen_by, standard_error

FLATTERY = 1.01
"""The best of many methods owes about so much of its lead to chance; a blend, which is not picked, does not."""
MOST_ROWS = 5000
"""Rows held out that a temperature is found from, where methods are ranked by it."""


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

    @cached_property
    def calibrated_log_loss(self) -> float:
        """The log loss on rows held out, as it is with the best temperature; infinite where nothing is known."""
        if self.held_out is None or self.measure is None or self.measure.classes is None:
            return math.inf
        rows = some_rows(len(self.held_out.actual), MOST_ROWS)
        codes = np.searchsorted(self.measure.classes, self.held_out.actual[rows])
        said = self.held_out.said[rows]
        return float(np.mean(log_losses(calibrated(TEMPERATURE, said, codes), said, codes)))

    @property
    def worth(self) -> float:
        """What methods of a table are ranked by where shares of mistakes are too coarse: less is better."""
        return self.calibrated_log_loss if self.is_by_mistakes else self.mean

    @property
    def is_by_mistakes(self) -> bool:
        """Whether the errors are shares of mistakes, and the probabilities behind them are known."""
        return self.measure is not None and self.measure.is_share and self.held_out is not None

    def is_as_good_as(self, best: MethodScore) -> bool:
        """Return whether it makes as few mistakes as the best, up to a standard error of the difference, row by row."""
        if self.held_out is None or best.held_out is None or len(self.held_out.actual) != len(best.held_out.actual):
            return self.mean <= best.mean
        more = self._mistakes() - best._mistakes()
        return bool(more.mean() <= standard_error(more))

    def _mistakes(self) -> Array:
        assert self.held_out is not None  # asked for before
        assert self.measure is not None
        assert self.measure.classes is not None
        called = self.measure.classes[self.held_out.said.argmax(axis=1)]
        return np.asarray(called != self.held_out.actual, dtype=np.float64)


def best_of(scores: Sequence[MethodScore]) -> MethodScore | None:
    """Return the method with the least error, the baseline aside."""
    return min((score for score in scores if not score.contestant.is_baseline), key=lambda s: s.mean, default=None)


def choose(scores: Sequence[MethodScore], *, one_standard_error: bool) -> MethodScore:
    """Return the method with the least error, or the simplest within one standard error of it; never the baseline.

    A share of mistakes is coarse: of methods that make as few of them, up to chance, the one whose probabilities fit
    best is chosen. A method with fewer coefficients is simpler; one without any, as neighbors, is the least simple.
    """
    candidates = [score for score in scores if not score.contestant.is_baseline]
    if not one_standard_error:
        best = min(candidates, key=lambda score: score.mean)
        tied = [score for score in candidates if score.is_by_mistakes and score.is_as_good_as(best)]
        if best.is_by_mistakes and tied:
            best = min(tied, key=lambda score: score.worth)
        blend = next((score for score in tied if score.contestant.is_blend), best)
        return blend if blend.worth <= FLATTERY * best.worth else best
    simplest_first = sorted(candidates, key=lambda score: (score.n_coefficients or float("inf"), score.mean))
    names = {score.name: score for score in simplest_first}
    return names[chosen_by({name: score.errors for name, score in names.items()}, "one standard error")]


def why(chosen: MethodScore, scores: Sequence[MethodScore]) -> str:
    """Return the sentence that says why the method was chosen."""
    best = best_of(scores)
    assert best is not None  # one was chosen
    name = best.name[:1].upper() + best.name[1:]
    if chosen is best:
        return f"{name} made the smallest error on rows it had not seen, so it was chosen."
    if chosen is choose(scores, one_standard_error=False):
        because = "does not owe that to being picked" if chosen.contestant.is_blend else "its probabilities fit better"
        return (
            f"{name} made the smallest error on rows it had not seen; {chosen.name} does as well, up to chance, and "
            f"{because}, so it was chosen."
        )
    return (
        f"{name} made the smallest error; {chosen.name} is within one standard error of it with fewer coefficients, "
        "so it was chosen."
    )


@dataclass(frozen=True)
class Pace:
    """Seconds that a fit took, with preparation and predictions, by its training rows: a constant plus a power.

    A method of rounds, such as boosting, takes as much longer as it has more of them.
    """

    rows: int
    seconds: float
    power: float = 1.0
    constant: float = 0.0
    rounds: int = 1

    def seconds_for(self, n_rows: float, rounds: int | None = None) -> float:
        """Return what a fit to that many rows will take, with as many rounds as before or so many."""
        of_rows = self.constant + (self.seconds - self.constant) * (n_rows / self.rows) ** self.power
        return of_rows * (rounds or self.rounds) / self.rounds

    def rows_within(self, seconds: float, rounds: int | None = None) -> int:
        """Return the most rows that a fit ends with in this time."""
        seconds = seconds * self.rounds / (rounds or self.rounds)
        share = (seconds - self.constant) / max(self.seconds - self.constant, 1e-9)
        return int(self.rows * share ** (1.0 / self.power)) if share > 0 else 0

    def after(self, earlier: Pace | None) -> Pace:
        """Return the pace through this point and an earlier one of fewer rows.

        A first fit that took longer than a larger one has compiled something, and says nothing.
        """
        before = None if earlier is None else earlier.seconds * self.rounds / earlier.rounds
        if earlier is None or before is None or earlier.rows >= self.rows or before >= self.seconds:
            return self
        growth = (self.rows / earlier.rows) ** self.power
        constant = max(0.0, (growth * before - self.seconds) / (growth - 1.0))
        return Pace(self.rows, self.seconds, self.power, constant, self.rounds)
