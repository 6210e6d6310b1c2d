"""AdaBoost: each round fits a classifier to rows whose weights grew where earlier ones were wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.core.fit import Fit
from pellucid.core.labels import known_codes
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.user_warnings import warn_user
from pellucid.ensemble.ada_boost.ada_boost_rules import bound_factor, first_weights, is_too_bad, next_weights, vote_of
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.decision_tree.growth_rules import GrowthRules
from pellucid.tree.decision_tree.tree_data import class_target
from pellucid.tree.packed_trees import PackedTrees, join_trees

Learner = Callable[[Array], tuple[Any, Array]]
"""From the weights of the rows to a fitted classifier and its predictions for them, as codes."""


@dataclass(frozen=True)
class Rounds:
    """What the rounds left: classifiers with errors and votes, and what they did."""

    members: list[Any]
    errors: list[float]
    votes: list[float]
    trace: Trace
    stopped: str
    next_error: float | None = None
    """Of the classifier that was no better than guessing, and ended the rounds."""


def run_rounds(data: TrainingData, learn: Learner, n_rounds: int, learning_rate: float) -> Rounds:
    """Run the rounds until one has no error, is no better than guessing, or all are done."""
    n_classes = max(len(data.classes), 2)
    found, bound = Rounds([], [], [], Trace(), "n_estimators"), 1.0
    weight = first_weights(data.weights)
    for t in range(1, n_rounds + 1):
        member, codes = learn(weight)
        is_wrong = codes != data.y
        error = float(weight[is_wrong].sum() / weight.sum())
        if is_too_bad(error, n_classes):
            if not found.members:
                raise ValueError(
                    "estimator must be better than guessing on the training rows, got an error of "
                    f"{error:.3g} in the first round. (BaseClassifier in AdaBoostClassifier ensemble is worse than "
                    "random, ensemble can not be fit.)"
                )
            stopped = "a round no better than guessing"
            return Rounds(found.members, found.errors, found.votes, found.trace, stopped, error)
        vote = vote_of(error, n_classes, learning_rate)
        found.members.append(member)
        found.errors.append(max(error, 0.0))
        found.votes.append(vote)
        bound *= bound_factor(error, min(vote, 1400.0))
        found.trace.add(iteration=t, objective=bound, error=error, vote=vote)
        found.trace.keep(sample_weight=weight)
        if error <= 0.0:
            return Rounds(found.members, found.errors, found.votes, found.trace, "no error")
        if t < n_rounds:
            weight = next_weights(weight, is_wrong, vote)
            if not np.isfinite(weight).all():
                warn_user(
                    f"Sample weights have reached infinite values, at iteration {t - 1}, causing overflow. "
                    "Iterations stopped. Try lowering the learning rate."
                )
                return Rounds(found.members, found.errors, found.votes, found.trace, "weights too large")
    return found


def tree_learner(data: TrainingData, rules: GrowthRules, seeds: np.random.RandomState, largest_seed: int) -> Learner:
    """Return the learner of our own trees: columns are ranked once, and every round grows on the ranks."""
    from pellucid.tree.decision_tree.decision_tree_solvers import grow_tree, rank_columns
    from pellucid.tree.tree_reading import leaves

    ranks = rank_columns(data.X, np.zeros(data.X.shape[1], dtype=np.int64))
    target = class_target(data.y[:, np.newaxis], (len(data.classes),))

    def learn(weight: Array) -> tuple[PackedTrees, Array]:
        seed = int(seeds.randint(largest_seed))
        tree = grow_tree(ranks, target, weight, rules, seed)
        return tree, tree.value[leaves(tree, data.X)[:, 0], 0].argmax(axis=1)

    return learn


def any_learner(data: TrainingData, base: Any, set_seed: Callable[[Any], None]) -> Learner:
    """Return the learner that fits copies of any classifier with weights."""
    labels = data.classes[data.y]

    def learn(weight: Array) -> tuple[Any, Array]:
        member = clone(base)
        set_seed(member)
        member.fit(data.X, labels, sample_weight=weight)
        return member, known_codes(np.asarray(member.predict(data.X)), data.classes)

    return learn


def as_fit(found: Rounds, n_rounds: int, attributes: dict[str, Any]) -> Fit:
    """Return the fit; rounds that were not done have an error of 1 and no vote, as in scikit-learn."""
    rest = n_rounds - len(found.errors)
    known = {
        "estimator_weights_": np.array([*found.votes, *[0.0] * rest]),
        "estimator_errors_": np.array([*found.errors, *[1.0] * rest]),
        **attributes,
    }
    return Fit(known, found.trace, found.stopped)


def packed(members: list[PackedTrees]) -> PackedTrees:
    """Return the trees of all rounds as one pack."""
    return join_trees(members)
