"""Proof of AdaBoost: the weights of every round replayed, the trees checked on them, the theorem's bound.

The weights of a round follow from the votes of the rounds before it and the rows these got wrong. Under them each
classifier must have the error it says, and the vote that follows from it; trees are checked node by node on the weights
of their round (``tree.tree_check``). Where rounds are missing, the reason is found again. The training error is at most
the product of ``ada_boost_rules.bound_factor``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.ensemble.ada_boost.ada_boost_rules import (
    bound_factor,
    first_weights,
    is_too_bad,
    next_weights,
    scores_of,
    vote_of,
)
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.decision_tree import nodes_to_replay, replay_claim
from pellucid.tree.decision_tree.growth_rules import growth_rules
from pellucid.tree.decision_tree.split_replay import NodeQuestion, replay_node
from pellucid.tree.decision_tree.tree_check import REFIT, Bag, TreeCheck
from pellucid.tree.decision_tree.tree_data import TreeData
from pellucid.tree.decision_tree.tree_target import class_target
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.plain_walk import plain_leaves

NODES_REPLAYED = 300
"""Nodes of all trees that are searched again, about at most."""


def prove_ada_boost(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes; of other classifiers, from their answers."""
    return _prove(fitted, parameters, data, int(np.sum(fitted.estimator_errors_ < 1.0)), is_whole=True)


def spot_check(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return what a fit claims at little cost: rounds replayed from the votes it saw, no tree looked at."""
    return _prove(fitted, parameters, data, len(fitted.member_votes), is_whole=False)


def _prove(fitted: Any, parameters: Any, data: TrainingData, n_rounds: int, *, is_whole: bool) -> Certificate:
    structure = structure_claim(fitted, parameters, data, n_rounds)
    if not structure.holds:
        return Certificate("bounded", (structure,))
    trees = getattr(fitted, "trees_", None)
    votes = fitted.member_votes if not is_whole or trees is None else _tree_votes(trees, data.X)
    n_classes = max(len(data.classes), 2)
    weight, weights, errors = first_weights(data.weights), [], []
    for codes, vote in zip(votes, fitted.estimator_weights_, strict=False):
        is_wrong = codes != data.y
        weights.append(weight)
        errors.append(float(weight[is_wrong].sum() / weight.sum()))
        weight = next_weights(weight, is_wrong, float(vote))
    claims = [structure, *round_claims(fitted, parameters, errors, len(data.y), n_classes)]
    claims.append(ending_claim(fitted, parameters, data, errors[-1], weight))
    claims.append(bound_claim(fitted, data, votes, errors, n_classes))
    if is_whole and trees is not None:
        claims += tree_claims(fitted, parameters, data, trees, weights)
    return Certificate("bounded", tuple(claims))


def structure_claim(fitted: Any, parameters: Any, data: TrainingData, n_rounds: int) -> Claim:
    """Claim that there is one classifier per round done, and nothing said about the others."""
    stored, errors, trees = fitted.estimator_weights_, fitted.estimator_errors_, getattr(fitted, "trees_", None)
    size = (parameters.n_estimators,)
    fault = ""
    if stored.shape != size or errors.shape != size or not 0 < n_rounds <= size[0]:
        fault = "weights and errors are not one per round"
    elif (stored[n_rounds:] != 0.0).any() or (errors[n_rounds:] != 1.0).any():
        fault = "rounds that were not done have votes"
    elif int(fitted.n_classes_) != len(data.classes):
        fault = "n_classes_ is not the number of classes"
    elif trees is not None:
        fault = trees.fault(data.X.shape[1]) or ("" if trees.n_trees == n_rounds else "there is not one tree per round")
    statement = "faults in the record of the rounds" + (f": {fault}" if fault else "")
    return Claim("structure", statement, float(bool(fault)), 0.0, REFIT)


def round_claims(fitted: Any, parameters: Any, errors: list[float], n: int, n_classes: int) -> list[Claim]:
    """Claim that errors are those under the replayed weights, and votes what follows from them."""
    allowed = 16 * sum_error(n) * (1 + len(errors))  # weights carry the rounding of all rounds before
    stored = fitted.estimator_errors_[: len(errors)]
    error = float(np.max(np.abs(stored - np.array(errors))))
    wrong = 0
    for t, (e, vote) in enumerate(zip(stored, fitted.estimator_weights_, strict=False)):
        right = vote_of(float(e), n_classes, parameters.learning_rate)
        wrong += not math.isclose(vote, right, rel_tol=1e-12, abs_tol=1e-13)
        wrong += is_too_bad(float(e), n_classes) or (e <= 0.0 and t + 1 < len(stored))
    return [
        Claim("errors", f"largest distance of {len(errors)} errors from replayed ones", error, allowed, REFIT),
        Claim("votes", "rounds whose vote does not follow from their error", float(wrong), 0.0, REFIT),
    ]


def ending_claim(fitted: Any, parameters: Any, data: TrainingData, last_error: float, weight: Array) -> Claim:
    """Claim that all rounds were done, or why they ended: no error, no better than guessing, weights too large.

    A tree is no better than guessing only if all classes weigh the same in each of its leaves. Then they do so in all
    rows, and no split of these gains anything: both are looked at, under the weights that a further round would have.
    Of another classifier, one more is fitted to these weights.
    """
    done, n_classes = int(np.sum(fitted.estimator_errors_ < 1.0)), max(len(data.classes), 2)
    missing, why = parameters.n_estimators - done, f"{done} of {parameters.n_estimators} rounds done"
    trees = getattr(fitted, "trees_", None)
    if missing and last_error <= 0.0:
        missing, why = 0, f"{why}, the last without an error"
    elif missing and not np.isfinite(weight).all():
        missing, why = 0, f"{why}, then weights were too large"
    elif missing and trees is None:
        is_over = fitted.next_error is not None and is_too_bad(fitted.next_error, n_classes)
        missing, why = (0, f"{why}, one more is no better than guessing") if is_over else (missing, why)
    elif missing and _gain_of_one_more(parameters.estimator or STUMP, data, weight) <= 0.0:
        missing, why = 0, f"{why}, then no split is better than guessing"
    return Claim("rounds", f"rounds missing: {why}", float(missing), 0.0, REFIT)


def _gain_of_one_more(base: Any, data: TrainingData, weight: Array) -> float:
    """Return how far classes are from weighing the same, or what the best split of all rows gains, beyond rounding."""
    shares = np.bincount(data.y, weight, minlength=len(data.classes)) / weight.sum()
    rounding = 64 * sum_error(len(weight))
    unequal = float(np.max(np.abs(shares - 1.0 / len(shares)))) - rounding
    n, p = data.X.shape
    rules = growth_rules(base, n, p, 1.0, np.zeros(p, dtype=np.uint8))
    if unequal > 0.0 or rules.random_splits or rules.max_features < p:  # which might have missed the best split
        return unequal
    X = np.asarray(data.X.toarray() if sparse.issparse(data.X) else data.X, dtype=np.float64)
    target = class_target(data.y[:, np.newaxis], (len(data.classes),))
    found = replay_node(NodeQuestion(X, target, weight, replace(rules, criterion="gini")), None)
    return found.low_gain - found.slack - max(rules.min_impurity_decrease * float(weight.sum()), rounding)


def bound_claim(fitted: Any, data: TrainingData, votes: Array, errors: list[float], n_classes: int) -> Claim:
    """Claim that the training error is at most the product of the rounds' factors."""
    weights = fitted.estimator_weights_[: len(errors)]
    answer = scores_of(votes, weights, n_classes).argmax(axis=1)
    share = float(data.weights[answer != data.y].sum() / data.weights.sum())
    bound = math.exp(math.fsum(math.log(bound_factor(e, float(vote))) for e, vote in zip(errors, weights, strict=True)))
    is_usual = n_classes == 2 and all(
        math.isclose(vote, vote_of(e, 2, 1.0), rel_tol=1e-6) for e, vote in zip(errors, weights, strict=True)
    )
    theorem = "the product of 2 sqrt(e (1 - e))" if is_usual else "the product of (1 - e) exp(-a/2) + e exp(a/2)"
    slack = 1.0 + 64 * sum_error(len(data.y)) * (1 + len(errors))
    return Claim("training error", f"share of training rows that are wrong, at most {theorem}", share, bound * slack)


def tree_claims(
    fitted: Any, parameters: Any, data: TrainingData, trees: PackedTrees, weights: list[Array]
) -> list[Claim]:
    """Check the trees of all rounds on the weights of their rounds."""
    base = parameters.estimator or STUMP
    n, p = data.X.shape
    rules = growth_rules(base, n, p, 1.0, np.zeros(p, dtype=np.uint8))
    target = class_target(data.y[:, np.newaxis], (len(data.classes),))
    rows = TreeData(data.X, data.y, data.weight, target=target, label_sets=(data.classes,))
    seeds = np.asarray(fitted.seeds_)
    share = float(base.min_weight_fraction_leaf)
    bags = [
        Bag(np.arange(n), weight, int(seed), share * float(weight.sum()))
        for weight, seed in zip(weights, seeds, strict=True)
    ]
    check = TreeCheck.of(trees, rows, bags, rules)
    return [*check.claims(), replay_claim(check, nodes_to_replay(check, NODES_REPLAYED), trees.n_nodes)]


class _Stump:
    """The parameters of the default classifier: a tree of one split."""

    criterion, splitter, max_depth = "gini", "best", 1
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf = 2, 1, 0.0
    max_features, max_leaf_nodes, min_impurity_decrease, monotonic_cst = None, None, 0.0, None


STUMP = _Stump()


def _tree_votes(trees: PackedTrees, X: Any) -> Array:
    return np.stack([tree.value[plain_leaves(tree, X), 0].argmax(axis=1) for tree in trees])
