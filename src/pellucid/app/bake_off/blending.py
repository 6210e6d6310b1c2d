r"""A blend of the best few methods, where it is clearly better than the best of them.

The weights, at least 0 and summing to 1, come from rows that the members had not learned from. Of numbers the blend is
to have the least mean squared error: with few members that is solved exactly, as on the support of the solution it is
least squares under one equation, so every support is tried. Of classes it is to make the true ones most likely, which
is how much each part of a mixture counts: expectation and maximization in turn rise to the only maximum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.measures import Answers, FoldScore, Measure
from pellucid.app.bake_off.scores import MethodScore, Pace
from pellucid.app.table_model.class_scores import HeldOut, probabilities, scores_of_probabilities
from pellucid.app.tables.preparation import averaged, coded, from_codes, is_sparse, standardized_averages, unchanged
from pellucid.app.tables.understanding import TEXT, Columns
from pellucid.core.types import Array
from pellucid.ensemble import BlendClassifier, BlendRegressor
from pellucid.model_selection.recipes import standard_error

MOST_TRIED, MOST_MEMBERS, MOST_ALIKE = 8, 5, 2
"""Methods whose weights are sought, that a blend has in the end, and that may be of the same kind."""
LEAST_WEIGHT = 0.04
"""A member that counts less is left out."""
EVEN_ROWS = 20.0
"""So many rows more speak for equal weights: few rows would otherwise tell chance from worth."""
NOT_FROM_CODES = (unchanged, averaged, standardized_averages)
"""Preparations that need more of a table than trees see: words themselves, or very many of them."""
LEAST_GAIN, LARGE_GAIN, LIKELY = 1e-3, 0.02, 0.5
"""Parts of the loss by which a blend must be better: it has more to explain. A large one need only be likely."""
MOST_ROUNDS, SETTLED = 500, 1e-6
"""Of expectation and maximization, and the change of a weight that ends them."""


@dataclass(frozen=True)
class Said:
    """What members said about the rows of one split, and the truth."""

    members: Array
    """Numbers, or the probabilities of the true class, of shape (n_members, n_rows)."""
    truth: Array | None
    """The numbers; None for classes, of which the true one should be sure."""

    def losses(self, weights: Array) -> Array:
        """Return what each row costs the blend: the squared error, or the logarithm of the missing probability."""
        mean = weights @ self.members
        return np.asarray(-np.log(mean) if self.truth is None else np.square(mean - self.truth))


def best_blend(
    scores: Sequence[MethodScore], columns: Columns, read: pd.DataFrame, seconds: float = np.inf
) -> MethodScore | None:
    """Return the score of a blend if it is better than the best of its members, by more than a part of what chance is.

    ``read`` are rows to learn from; a fit of all members together may take that many ``seconds``.
    """
    measure = scores[0].measure if scores else None
    members = [] if measure is None else _members(scores, columns, read, seconds)
    if measure is None or len(members) < 2:
        return None
    splits = [_said([one.by_split[place] for one in members], measure) for place in range(len(members[0].errors))]
    weights = _few_weights(splits)
    used = np.flatnonzero(weights)
    if len(used) < 2:
        return None
    members = [members[place] for place in used]
    splits = [Said(split.members[used], split.truth) for split in splits]
    # of each split, what a blend says whose weights come from the other splits: it has not seen the truth there
    crossed = [best_weights(splits[:place] + splits[place + 1 :]) for place in range(len(splits))]
    score = _score_of(members, weights[used], crossed, measure, columns, read)
    return score if _is_better(score, members, splits, crossed, measure) else None


def best_weights(splits: Sequence[Said]) -> Array:
    """Return the weights that are best for the rows of some splits."""
    members = np.concatenate([split.members for split in splits], axis=1)
    if splits[0].truth is None:
        return mixture_weights(members)
    return simplex_weights(members - np.concatenate([split.truth for split in splits if split.truth is not None]))


def mixture_weights(chances: Array) -> Array:
    r"""Return how much each part of a mixture counts where ``chances`` are what they give the truth, row by row.

    Each round, a part counts as much as its mean share of the probability of a row, and of the rows that speak for
    all alike; the likelihood never falls.

    Examples
    --------
    >>> chances = np.repeat([[0.8, 0.2], [0.4, 0.6]], 1000, axis=1)
    >>> mixture_weights(chances).round(2)  # without the rows for all alike 1/4 and 3/4
    array([0.27, 0.73])
    """
    n_members, n_rows = chances.shape
    weights = np.full(n_members, 1.0 / n_members)
    for _ in range(MOST_ROUNDS):
        shares = weights * np.sum(chances / (weights @ chances), axis=1)
        better = (shares + EVEN_ROWS / n_members) / (n_rows + EVEN_ROWS)
        if np.abs(better - weights).max() < SETTLED:
            return better
        weights = better
    return weights


def simplex_weights(misses: Array) -> Array:
    r"""Return the weights with the least squared weighted sum of misses, of shape (n_members, n_rows).

    Rows that speak for equal weights have independent misses of the usual size.

    Examples
    --------
    >>> misses = np.repeat([[-1.0], [3.0]], 10_000, axis=1)
    >>> simplex_weights(misses).round(3)
    array([0.75, 0.25])
    """
    products = misses @ misses.T  # weights sum to 1: the miss of the mean is the mean of the misses
    n = len(products)
    products /= max(float(np.trace(products)) / n, float(np.finfo(float).tiny))  # or the 1 below would drown
    products += EVEN_ROWS / misses.shape[1] * np.eye(n)
    found = np.eye(n)[int(np.diag(products).argmin())]
    for size in range(2, n + 1):
        for support in combinations(range(n), size):
            some = np.array(support)
            system = np.block([[products[np.ix_(some, some)], np.ones((size, 1))], [np.ones((1, size)), np.zeros(1)]])
            solution = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0][:size]
            if (solution < 0).any():
                continue
            weights = np.zeros(n)
            weights[some] = solution / solution.sum()
            if weights @ products @ weights < found @ products @ found:
                found = weights
    return found


def _members(scores: Sequence[MethodScore], columns: Columns, read: pd.DataFrame, seconds: float) -> list[MethodScore]:
    """Return the best methods that can be blended and fitted together in time, the best first."""
    most_splits = max(len(one.errors) for one in scores)
    can_prepare = not columns.of(TEXT) and not is_sparse(columns, read)
    suited = [
        one
        for one in scores
        if not one.contestant.is_baseline
        and len(one.errors) == most_splits >= 2
        and (one.contestant.prepare is coded or (can_prepare and one.contestant.prepare not in NOT_FROM_CODES))
        and (not one.is_classification or hasattr(one.contestant.make(), "predict_proba"))
        and not one.contestant.is_users
    ]
    members: list[MethodScore] = []
    kinds: Counter[type] = Counter()
    for one in sorted(suited, key=lambda one: one.worth):
        needed, kind = one.pace.seconds_for(len(read)), type(one.contestant.make())
        if len(members) < MOST_TRIED and needed <= seconds and kinds[kind] < MOST_ALIKE:
            members.append(one)
            kinds[kind] += 1
            seconds -= needed
    return members


def _few_weights(splits: Sequence[Said]) -> Array:
    """Return the best weights of few members: the one that counts least is left out while there are too many."""
    weights = best_weights(splits)
    while True:
        used = np.flatnonzero(weights)
        least = used[weights[used].argmin()]
        if len(used) == 1 or (weights[least] >= LEAST_WEIGHT and len(used) <= MOST_MEMBERS):
            return weights
        kept = used[used != least]
        weights = np.zeros(len(weights))
        weights[kept] = best_weights([Said(split.members[kept], split.truth) for split in splits])


def _said(parts: Sequence[HeldOut], measure: Measure) -> Said:
    actual = parts[0].actual
    if measure.classes is None:
        return Said(np.stack([part.said for part in parts]), actual)
    chances = [probabilities(part.said, 1.0) for part in parts]
    codes = np.searchsorted(measure.classes, actual)
    return Said(np.stack([one[np.arange(len(codes)), codes] for one in chances]), None)


def _is_better(
    score: MethodScore,
    members: Sequence[MethodScore],
    splits: Sequence[Said],
    crossed: Sequence[Array],
    measure: Measure,
) -> bool:
    """Return whether a blend beats the best member: row by row in what its weights are for, or in a measure asked for.

    Rows tell more than splits do, but a measure such as the area under a curve is not a sum over them.
    """
    if measure.is_default:
        alone = np.eye(len(members))
        blended = np.concatenate([split.losses(weights) for split, weights in zip(splits, crossed, strict=True)])
        by_member = [np.concatenate([split.losses(one) for split in splits]) for one in alone]
        alone_best = min(by_member, key=lambda losses: float(losses.mean()))
    else:
        alone_best, blended = min(members, key=lambda one: one.mean).errors, score.errors
    better = alone_best - blended
    gain, chance = better.mean() / max(alone_best.mean(), float(np.finfo(float).tiny)), standard_error(better)
    return bool(gain > LEAST_GAIN and better.mean() > (LIKELY if gain > LARGE_GAIN else 1.0) * chance)


def _score_of(
    members: Sequence[MethodScore],
    weights: Array,
    crossed: Sequence[Array],
    measure: Measure,
    columns: Columns,
    read: pd.DataFrame,
) -> MethodScore:
    by_split = [_mean_said([one.by_split[place] for one in members], shares) for place, shares in enumerate(crossed)]
    blended = [_fold_score(said, measure) for said in by_split]
    # what was said is known of some rows of a large split: how much better the blend is there is taken from all
    first = [_fold_score(said, measure).error for said in members[0].by_split]
    errors = members[0].errors + np.array([one.error for one in blended]) - np.array(first)
    names = ", ".join(f"{one.name} ({100 * weight:.0f} %)" for one, weight in zip(members, weights, strict=True))
    contestant = Contestant(
        f"blend of {len(members)} methods",
        f"takes the mean of {names}",
        BlendRegressor if measure.classes is None else BlendClassifier,
        coded,
        adapt=_setting([one.contestant for one in members], weights, columns, read),
        is_blend=True,
    )
    return replace(
        members[0],
        contestant=contestant,
        errors=errors,
        balanced=None if measure.classes is None else np.array([one.balanced for one in blended]),
        n_coefficients=sum(one.n_coefficients for one in members),
        pace=Pace(members[0].pace.rows, sum(one.pace.seconds_for(members[0].pace.rows) for one in members)),
        auc=float(np.mean([one.auc for one in blended])),
        log_loss=float(np.mean([one.log_loss for one in blended])),
        fit_seconds=sum(one.fit_seconds for one in members),
        predict_seconds=sum(one.predict_seconds for one in members),
        held_out=HeldOut.joined(by_split),
        by_split=tuple(by_split),
    )


def _setting(
    members: Sequence[Contestant], weights: Array, columns: Columns, read: pd.DataFrame
) -> Callable[[BlendClassifier | BlendRegressor, int, float], BlendClassifier | BlendRegressor]:
    """Return what gives a blend its members, each of them a pipeline unless it sees what trees see."""

    def adapt(
        blend: BlendClassifier | BlendRegressor, _n_columns: int, spread: float
    ) -> BlendClassifier | BlendRegressor:
        made = []
        for one in members:
            method = one.method_for(columns, spread)
            steps = () if one.prepare is coded else from_codes(one.prepare, columns, read)
            made.append(Pipeline([*steps, ("method", method)]) if steps else method)
        return blend.set_params(estimators=made, weights=[float(weight) for weight in weights])

    return adapt


def _fold_score(said: HeldOut, measure: Measure) -> FoldScore:
    if measure.classes is None:
        return measure.fold_score(said.actual, Answers(said.said), said.weights)
    chances = probabilities(said.said, 1.0)
    likeliest = measure.classes[chances.argmax(axis=1)]
    return measure.fold_score(said.actual, Answers(likeliest, chances), said.weights)


def _mean_said(parts: Sequence[HeldOut], weights: Array) -> HeldOut:
    """Return what a blend said, from what its members said: probabilities are averaged, not their logarithms."""
    if parts[0].said.ndim == 1:
        return replace(parts[0], said=np.tensordot(weights, np.stack([part.said for part in parts]), axes=1))
    chances = np.tensordot(weights, np.stack([probabilities(part.said, 1.0) for part in parts]), axes=1)
    return replace(parts[0], said=scores_of_probabilities(chances))
