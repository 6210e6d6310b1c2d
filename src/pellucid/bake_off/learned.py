"""Was anything learned? Predictions on rows never seen against chance, and against always saying the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from pellucid.bake_off.measures import Answers, Measure
from pellucid.bake_off.options import RowFacts
from pellucid.bake_off.scores import MethodScore
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.model_selection import corrected_t_test
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
