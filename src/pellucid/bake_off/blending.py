r"""A blend of the best few methods, where it is clearly better than the best of them.

The weights minimize the mean squared difference between the weighted mean and the truth on rows that the members had
not learned from: of numbers as they are, of classes between probabilities and the class (the Brier score). With
weights on the simplex and few members this is a small problem that is solved exactly: on the support of the solution
it is least squares under one equation, so every support is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from pellucid.bake_off.contestants import Contestant
from pellucid.bake_off.pace import Pace
from pellucid.bake_off.scores import MethodScore
from pellucid.core.types import Array
from pellucid.ensemble import BlendClassifier, BlendRegressor
from pellucid.model_selection.recipes import standard_error
from pellucid.table_model.class_scores import LEAST_PROBABILITY, probabilities
from pellucid.table_model.held_out import HeldOut
from pellucid.tables.preparation import coded
from pellucid.tables.understanding import Columns

MOST_MEMBERS = 4
LEAST_WEIGHT = 0.02
"""A member that counts less is left out."""


@dataclass(frozen=True)
class Said:
    """What members said about the rows of one split, and the truth, both with a column per class or one."""

    members: Array
    """Of shape (n_members, n_rows, n_columns)."""
    truth: Array

    def error(self, weights: Array) -> float:
        """Return the share of mistakes of the weighted mean, or its root mean squared error."""
        mean = np.tensordot(weights, self.members, axes=1)
        if self.truth.shape[1] > 1:
            return float(np.mean(mean.argmax(axis=1) != self.truth.argmax(axis=1)))
        return float(np.sqrt(np.mean((mean - self.truth) ** 2)))


def best_blend(scores: Sequence[MethodScore], columns: Columns) -> MethodScore | None:
    """Return the score of a blend if it beats the best method by more than a standard error of the difference."""
    candidates = [one for one in scores if not one.contestant.is_baseline]
    best = min(candidates, key=lambda one: one.mean, default=None)
    if best is None or len(best.errors) < 2 or best.measure is None or not best.measure.is_default:
        return None
    members = [
        one
        for one in sorted(candidates, key=lambda one: one.mean)
        if one.contestant.prepare is coded and len(one.errors) == len(best.errors) and _blends(one)
    ][:MOST_MEMBERS]
    if len(members) < 2:
        return None
    classes = best.measure.classes
    splits = [_said([one.by_split[place] for one in members], classes) for place in range(len(best.errors))]
    errors = []
    for place, split in enumerate(splits):  # weights from the other splits only: they have not seen this one
        weights = simplex_weights([other for where, other in enumerate(splits) if where != place])
        alone = np.eye(len(members))[0]
        errors.append(members[0].errors[place] + split.error(weights) - split.error(alone))
    better = best.errors - np.array(errors)
    if better.mean() <= standard_error(better):
        return None
    weights = simplex_weights(splits)
    weights = np.where(weights < LEAST_WEIGHT, 0.0, weights)
    if np.count_nonzero(weights) < 2:
        return None
    return _score_of(members, weights / weights.sum(), np.array(errors), columns)


def simplex_weights(splits: Sequence[Said]) -> Array:
    r"""Return the weights, at least 0 and summing to 1, with the least squared error over all rows.

    Examples
    --------
    >>> truth = np.array([[0.0], [2.0]])
    >>> simplex_weights([Said(np.array([truth - 1.0, truth + 3.0]), truth)])
    array([0.75, 0.25])
    """
    misses = np.concatenate([(split.members - split.truth).reshape(len(split.members), -1) for split in splits], axis=1)
    products = misses @ misses.T  # weights sum to 1: the miss of the mean is the mean of the misses
    n = len(products)
    products /= max(float(np.trace(products)) / n, float(np.finfo(float).tiny))  # or the 1 below would drown
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


def _blends(score: MethodScore) -> bool:
    made = score.contestant.make()
    return not score.is_classification or hasattr(made, "predict_proba")


def _said(parts: Sequence[HeldOut], classes: Array | None) -> Said:
    actual = parts[0].actual
    if classes is None:
        return Said(np.stack([part.said for part in parts])[:, :, None], actual[:, None])
    members = np.stack([probabilities(part.said, 1.0) for part in parts])
    return Said(members, np.asarray(actual[:, None] == classes, dtype=np.float64))


def _score_of(members: Sequence[MethodScore], weights: Array, errors: Array, columns: Columns) -> MethodScore:
    used = [(one, float(weight)) for one, weight in zip(members, weights, strict=True) if weight > 0]
    kind = BlendClassifier if members[0].is_classification else BlendRegressor
    names = ", ".join(f"{one.name} ({100 * weight:.0f} %)" for one, weight in used)

    def make() -> BlendClassifier | BlendRegressor:
        return kind([one.contestant.method(columns) for one, _ in used], [weight for _, weight in used])

    contestant = Contestant(f"blend of {len(used)} methods", f"takes the mean of {names}", make, coded)
    rows, seconds = used[0][0].pace.rows, sum(one.pace.seconds for one, _ in used)
    held_out = [
        _mean_said([one.by_split[place] for one, _ in used], weights[weights > 0]) for place in range(len(errors))
    ]
    return replace(
        used[0][0],
        contestant=contestant,
        errors=errors,
        n_coefficients=sum(one.n_coefficients for one, _ in used),
        pace=Pace(rows, seconds),
        auc=float("nan"),
        log_loss=float("nan"),
        fit_seconds=sum(one.fit_seconds for one, _ in used),
        predict_seconds=sum(one.predict_seconds for one, _ in used),
        held_out=HeldOut.joined(held_out),
        by_split=tuple(held_out),
    )


def _mean_said(parts: Sequence[HeldOut], weights: Array) -> HeldOut:
    """Return what a blend said, from what its members said: probabilities are averaged, not their logarithms."""
    if parts[0].said.ndim == 1:
        return replace(parts[0], said=np.tensordot(weights, np.stack([part.said for part in parts]), axes=1))
    chances = np.tensordot(weights, np.stack([probabilities(part.said, 1.0) for part in parts]), axes=1)
    return replace(parts[0], said=np.log(np.clip(chances, LEAST_PROBABILITY, 1.0)))
