"""Was anything learned? Predictions on rows never seen against chance, and against always saying the same."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from pellucid.app.bake_off.measures import Answers, Measure, answers_of
from pellucid.app.bake_off.options import RowFacts
from pellucid.app.bake_off.scores import MethodScore
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.model_selection import ErrorCurve, corrected_t_test
from pellucid.model_selection.error_curves import size_curve
from pellucid.model_selection.vault import Split
from pellucid.proofs.sampling import in_percent

N_SHUFFLES = 1999
MOST_ROWS = 5000
LEVEL, SURE = 0.05, 0.01
"""A chance below the second is believed by itself, one below the first if the comparison says the same."""
FEWEST_ROWS = 20
"""Kept aside, without which a fit no better than chance proves nothing."""
NOTHING, UNCONFIRMED, LITTLE, LEARNED = "nothing", "unconfirmed", "little", "learned"


@dataclass(frozen=True)
class Learned:
    """Whether predictions go with the truth on the rows kept aside, and whether they beat the baseline there."""

    state: str
    p_value: float
    """Of the rows kept aside: as good a fit by chance. They were not used to choose, so nothing has to be corrected."""
    p_comparison: float
    """Of the comparison: the chosen method against the baseline, times the number of methods it was chosen from."""
    error: float
    baseline_error: float
    """Of always saying the mean, or the most frequent class, on the rows kept aside."""
    test: str
    """What was done to find the p-value."""

    @property
    def sentence(self) -> str:
        """What to make of it."""
        chance = f"p = {self.p_value:.2g}" if self.p_value > 1 / N_SHUFFLES else f"p < {1.01 / N_SHUFFLES:.1g}"
        if self.state == NOTHING:
            return (
                f"Nothing was learned: on the rows kept aside the predictions fit the truth no better than chance "
                f"({chance}, {self.test}). Do not use this model; look for columns that tell about the target."
            )
        if self.state == UNCONFIRMED:
            return (
                "It is not sure that anything was learned: on the rows kept aside, chance alone fits as well in "
                f"{in_percent(self.p_value)} of all cases ({self.test}), and the comparison of the methods "
                f"{'speaks for it' if self.p_comparison < LEVEL else 'is no proof either'}. More rows would tell."
            )
        if self.state == LITTLE:
            return (
                f"Something was learned, but too little to act on: the predictions go with the truth ({chance}, "
                f"{self.test}), yet they are no better than always saying the same."
            )
        return f"Something was learned: the predictions go with the truth on rows never seen ({chance}, {self.test})."


def has_learned(
    actual: Array,
    answers: Answers,
    baseline: Answers,
    measure: Measure,
    facts: RowFacts,
    chosen: MethodScore,
    scores: Sequence[MethodScore],
    threshold: float | None = None,
) -> Learned:
    """Return whether a chosen method learned anything, from its answers and the baseline's on the rows kept aside."""
    rows = some_rows(len(actual), MOST_ROWS)
    p_value, test = _by_chance(actual[rows], answers.of(rows), measure, facts.of(rows))
    p_comparison = _by_comparison(chosen, scores)
    error = measure.error(actual, answers, facts.weights, threshold)
    baseline_error = measure.error(actual, baseline, facts.weights)
    if p_value >= LEVEL and p_comparison >= LEVEL:
        state = NOTHING if len(actual) >= FEWEST_ROWS else UNCONFIRMED
    elif p_value >= LEVEL or (p_value >= SURE and p_comparison >= LEVEL):
        state = UNCONFIRMED
    else:
        state = LEARNED if error < baseline_error else LITTLE
    return Learned(state, p_value, p_comparison, error, baseline_error, test)


def baseline_answers(y_learning: Array, weights: Array | None, measure: Measure, n_rows: int) -> Answers:
    """Return what always saying the mean, or the most frequent class, says about some rows."""
    if measure.classes is None:
        return Answers(np.full(n_rows, np.average(y_learning, weights=weights)))
    codes = np.searchsorted(measure.classes, y_learning)
    shares = np.bincount(codes, weights=weights, minlength=len(measure.classes)).astype(np.float64)
    shares /= shares.sum()
    label = measure.classes[int(shares.argmax())]
    return Answers(np.full(n_rows, label, dtype=measure.classes.dtype), np.tile(shares, (n_rows, 1)))


def _by_comparison(chosen: MethodScore, scores: Sequence[MethodScore]) -> float:
    """Return the chance of such a lead over the baseline on the splits, corrected for the choice among methods."""
    baseline = next((score for score in scores if score.contestant.is_baseline), None)
    if baseline is None or len(chosen.errors) < 2 or len(baseline.errors) != len(chosen.errors):
        return 1.0
    n_methods = sum(not score.contestant.is_baseline for score in scores)
    found = corrected_t_test(chosen.errors, baseline.errors, share=1 / (len(chosen.errors) - 1))
    one_sided = found.p_value / 2 if found.difference < 0 else 1.0
    return min(1.0, n_methods * one_sided)


def _by_chance(actual: Array, answers: Answers, measure: Measure, facts: RowFacts) -> tuple[float, str]:
    """Return how often chance fits as well, and how that was found: rows of a group, or next in time, are not many."""
    rng = np.random.default_rng(0)
    given, truth = _agreement(actual, answers, measure)
    if facts.groups is not None:
        sums = np.bincount(facts.groups, weights=_agreement_by_row(given, truth))
        sums = sums[np.isin(np.arange(len(sums)), facts.groups)]
        signs = rng.choice([-1.0, 1.0], (N_SHUFFLES, len(sums)))
        return _share(signs @ sums, float(sums.sum())), "flipping the sign of whole groups"
    own = _fit_of(given, truth)
    if facts.order is not None:
        in_time = np.argsort(facts.order, kind="stable")
        given, truth = given[in_time], truth[in_time]
        shifts = rng.permutation(np.arange(1, len(truth)))[:N_SHUFFLES]
        return _share([_fit_of(given, np.roll(truth, shift)) for shift in shifts], own), "shifting the target in time"
    shuffled = [_fit_of(given, rng.permutation(truth)) for _ in range(N_SHUFFLES)]
    return _share(shuffled, own), "shuffling the target among these rows"


def _agreement(actual: Array, answers: Answers, measure: Measure) -> tuple[Array, Array]:
    """Return what is compared: ranks of numbers, ranks of the second of two classes, or chances of every class."""
    if measure.classes is None:
        return rankdata(answers.predicted), rankdata(actual)
    codes = np.searchsorted(measure.classes, actual)
    if len(measure.classes) == 2:
        ranking = answers.ranking if answers.probabilities is None else answers.probabilities[:, 1]
        if ranking is not None:
            return rankdata(ranking), codes.astype(np.float64)
    if answers.probabilities is not None:
        return answers.probabilities, codes
    return np.eye(len(measure.classes))[np.searchsorted(measure.classes, answers.predicted)], codes


def _fit_of(given: Array, truth: Array) -> float:
    return float(given @ truth) if given.ndim == 1 else float(given[np.arange(len(truth)), truth].sum())


def _agreement_by_row(given: Array, truth: Array) -> Array:
    """Return what each row adds to the agreement of predictions and truth, both taken from their means."""
    if given.ndim == 1:
        return np.asarray((given - given.mean()) * (truth - truth.mean()))
    is_class = np.eye(given.shape[1])[truth]
    return np.asarray(((given - given.mean(axis=0)) * (is_class - is_class.mean(axis=0))).sum(axis=1))


def _share(by_chance: Sequence[float] | Array, own: float) -> float:
    """Return the share of chance results that are as large; the own one counts as one of them."""
    found = np.asarray(by_chance)
    tolerance = 1e-9 * max(1.0, abs(own))
    return float((1 + np.sum(found >= own - tolerance)) / (1 + len(found)))


SIZES = (0.1, 0.25, 0.5, 1.0)
MUCH_LARGER = 3.0
"""A method with this many times the coefficients or questions of another follows the data more closely."""


def draw_curve(
    pipeline: Any,
    X: pd.DataFrame,
    y: Array,
    splits: Sequence[Split],
    measure: Measure,
    facts: RowFacts,
    *,
    seed: int,
) -> ErrorCurve:
    """Return training and validation error of a pipeline for growing training sets, drawn at random from each split."""
    from sklearn.base import clone

    n_rows = min(len(train) for train, _ in splits)
    counts = sorted({max(2, round(size * n_rows)) for size in SIZES})
    errors = np.empty((2, len(counts), len(splits)))
    baseline = np.empty(len(splits))

    def error_on(model: Any, rows: Array) -> float:
        return measure.error(y[rows], answers_of(model, X.iloc[rows], measure.classes), facts.of(rows).weights)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, (train, validation) in enumerate(splits):
            drawn = np.random.default_rng(seed).permutation(train)
            for i, count in enumerate(counts):
                rows = np.sort(drawn[:count])
                model = fit_weighted(clone(pipeline), X.iloc[rows], y[rows], facts.of(rows).weights)
                errors[:, i, k] = error_on(model, rows), error_on(model, validation)
            usual = baseline_answers(y[train], facts.of(train).weights, measure, len(validation))
            baseline[k] = measure.error(y[validation], usual, facts.of(validation).weights)
    return size_curve(counts, errors[0], errors[1], baseline)


def fit_weighted(pipeline: Any, X: pd.DataFrame, y: Array, weights: Array | None) -> Any:
    """Return the pipeline fitted, its method with weights if there are any; the preparation counts all rows alike."""
    return pipeline.fit(X, y) if weights is None else pipeline.fit(X, y, method__sample_weight=weights)


def more_flexible(curve: ErrorCurve | str, chosen: MethodScore, scores: Sequence[MethodScore]) -> str:
    """Return what the other methods say about a method that underfits; nothing if it does not."""
    if isinstance(curve, str) or not curve.verdict.startswith("underfits"):
        return ""
    others = [score for score in scores if not score.contestant.is_baseline and score is not chosen]
    best = min(others, key=lambda score: score.mean, default=None)
    if best is not None and best.mean < chosen.mean:
        return (
            f"{best.name[:1].upper()}{best.name[1:]} makes a smaller error: the simpler method was chosen because "
            "you asked for it."
        )
    larger = [score.name for score in others if score.n_coefficients > MUCH_LARGER * max(chosen.n_coefficients, 1.0)]
    if not larger:
        return "No method that could follow the data more closely was compared, so a more flexible one may do better."
    named = " and ".join(larger[:2])
    if "would help" in curve.verdict:
        return f"Methods that can follow the data more closely ({named}) did no better; with more rows they may."
    return (
        f"Methods that can follow the data more closely did no better ({named}), so it is rather the columns that say "
        "no more than the method that is too simple."
    )
