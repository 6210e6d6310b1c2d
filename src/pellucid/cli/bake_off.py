"""The bake-off: compare methods by cross-validation, choose one, judge it once on rows it never saw."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import bootstrap
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import Pipeline

from pellucid.cli.contestants import Contestant, build, contestants_for
from pellucid.cli.errors import CommandError
from pellucid.cli.tables import Columns
from pellucid.core.types import Array

TEST_SHARE = 0.2
FEWEST_ROWS = 10
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Score:
    """A method's errors in cross-validation."""

    contestant: Contestant
    errors: Array
    n_coefficients: float

    @property
    def mean(self) -> float:
        """Mean over the folds of the root mean squared error."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean."""
        return float(self.errors.std(ddof=1) / np.sqrt(len(self.errors)))


@dataclass(frozen=True)
class Estimate:
    """The error on the test rows, with its interval."""

    error: float
    low: float
    high: float
    r_squared: float
    actual: Array
    predicted: Array


@dataclass(frozen=True)
class BakeOff:
    """Everything a bake-off found."""

    scores: list[Score]
    chosen: Score
    estimate: Estimate
    model: Pipeline
    n_training: int
    warnings: tuple[str, ...]


def bake_off(
    X: pd.DataFrame,
    y: Array,
    columns: Columns,
    *,
    folds: int,
    seed: int,
    one_standard_error: bool,
    advance: Callable[[str], None],
) -> BakeOff:
    """Compare, choose, estimate on rows held out from the start, and refit the chosen method on every row."""
    if len(y) < max(FEWEST_ROWS, 2 * folds):
        raise CommandError(f"table must have at least {max(FEWEST_ROWS, 2 * folds)} rows, got {len(y)}. Add rows.")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = [
            _cross_validate(one, columns, X_train, y_train, KFold(folds, shuffle=True, random_state=seed), advance)
            for one in contestants_for(columns)
        ]
        chosen = choose(scores, one_standard_error=one_standard_error)
        judged = build(chosen.contestant, columns).fit(X_train, y_train)
        estimate = judge(y_test, judged.predict(X_test), y_train.mean(), seed)
        model = build(chosen.contestant, columns).fit(X, y)
    said = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return BakeOff(sorted(scores, key=lambda score: score.mean), chosen, estimate, model, len(y_train), said)


def choose(scores: list[Score], *, one_standard_error: bool) -> Score:
    """Return the method with the least error, or the simplest within one standard error of it; never the baseline."""
    candidates = [score for score in scores if not score.contestant.is_baseline]
    best = min(candidates, key=lambda score: score.mean)
    if not one_standard_error:
        return best
    limit = best.mean + best.standard_error
    return min((s for s in candidates if s.mean <= limit), key=lambda s: (s.n_coefficients, s.mean))


def judge(actual: Array, predicted: Array, training_mean: float, seed: int) -> Estimate:
    """Return the root mean squared error with a bootstrap interval, and how much of the variation is explained."""
    squares = (actual - predicted) ** 2
    interval = bootstrap(
        (squares,),
        lambda values, axis: np.sqrt(values.mean(axis=axis)),
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    total = float(np.sum((actual - training_mean) ** 2))
    r_squared = 1.0 - float(squares.sum()) / total if total > 0 else float("nan")
    error = float(np.sqrt(squares.mean()))
    return Estimate(error, float(interval.low), float(interval.high), r_squared, actual, predicted)


def _cross_validate(
    contestant: Contestant, columns: Columns, X: pd.DataFrame, y: Array, splitter: KFold, advance: Callable[[str], None]
) -> Score:
    errors, sizes = [], []
    for inside, outside in splitter.split(X):
        advance(contestant.name)
        model = build(contestant, columns).fit(X.iloc[inside], y[inside])
        errors.append(np.sqrt(np.mean((y[outside] - model.predict(X.iloc[outside])) ** 2)))
        sizes.append(np.count_nonzero(getattr(model[-1], "coef_", 0)))
    return Score(contestant, np.array(errors), float(np.mean(sizes)))
