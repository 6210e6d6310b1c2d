r"""Proof of AdaBoost: the weights of every round replayed, the trees checked on them, the theorem's bound.

The weights of a round follow from the votes of the rounds before it and the rows these got wrong. Under them each
classifier must have the error it says, and the vote that follows from it; trees are checked node by node on the weights
of their round (``tree.tree_check``). Where rounds are missing, the reason is found again. A row that the weighted vote
gets wrong has at most half of the votes for its class, so the training error is at most
:math:`\prod_t ((1 - e_t)\, e^{-\alpha_t / 2} + e_t\, e^{\alpha_t / 2})`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.decision_tree import nodes_to_replay, replay_claim
from pellucid.proofs.tree.node_replay import Nodes, replay_nodes
from pellucid.proofs.tree.tree_check import REFIT, Bag, TreeCheck
from pellucid.proofs.tree.tree_rows import TreeRows, class_target, growth_rule
from pellucid.proofs.tree.trees import TreeArrays, fault_of_trees, leaves_of

NODES_REPLAYED = 300
"""Nodes of all trees that are searched again, about at most."""


def prove_ada_boost(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate: the weights of every round follow from the votes of the rounds before.

    Votes of trees are those of the rows that are sent down; others are asked for. A fit asks for all, and looks at no
    tree.
    """
    n_rounds = int(np.sum(fitted.estimator_errors_ < 1.0))
    structure = structure_claim(fitted, parameters, data, n_rounds)
    if not structure.holds:
        return Certificate("bounded", (structure,))
    trees = None if is_fitting() or fitted.trees_ is None else TreeArrays.of(fitted.trees_)
    votes = fitted.member_votes if trees is None else _tree_votes(trees, data.X)
    n_classes = max(len(data.classes), 2)
    weight, weights, errors = _in_units(data.weights), [], []
    for codes, vote in zip(votes, fitted.estimator_weights_, strict=False):
        is_wrong = codes != data.y
        weights.append(weight)
        errors.append(float(weight[is_wrong].sum() / weight.sum()))
        weight = _in_units(np.where(is_wrong, weight * (np.exp(vote) if vote < 700.0 else math.inf), weight))
    claims = [structure, *round_claims(fitted, parameters, errors, len(data.y), n_classes)]
    claims.append(ending_claim(fitted, parameters, data, errors[-1], weight))
    claims.append(bound_claim(fitted, data, votes, errors, n_classes))
    if trees is not None:
        claims += tree_claims(fitted, parameters, data, trees, weights)
    return Certificate("bounded", tuple(claims))


def structure_claim(fitted: Seen, parameters: Seen, data: TrainingData, n_rounds: int) -> Claim:
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
        fault = fault_of_trees(trees, data.X.shape[1])
        fault = fault or ("" if len(trees.starts) == n_rounds + 1 else "there is not one tree per round")
    statement = "faults in the record of the rounds" + (f": {fault}" if fault else "")
    return Claim("structure", statement, float(bool(fault)), 0.0, REFIT)


def round_claims(fitted: Seen, parameters: Seen, errors: list[float], n: int, n_classes: int) -> list[Claim]:
    """Claim that errors are those under the replayed weights, and votes what follows from them."""
    allowed = 16 * sum_error(n) * (1 + len(errors))  # weights carry the rounding of all rounds before
    stored = fitted.estimator_errors_[: len(errors)]
    error = float(np.max(np.abs(stored - np.array(errors))))
    wrong = 0
    for t, (e, vote) in enumerate(zip(stored, fitted.estimator_weights_, strict=False)):
        right = _vote(float(e), n_classes, parameters.learning_rate)
        wrong += not math.isclose(vote, right, rel_tol=1e-12, abs_tol=1e-13)
        wrong += e >= 1.0 - 1.0 / n_classes or (e <= 0.0 and t + 1 < len(stored))
    return [
        Claim("errors", f"largest distance of {len(errors)} errors from replayed ones", error, allowed, REFIT),
        Claim("votes", "rounds whose vote does not follow from their error", float(wrong), 0.0, REFIT),
    ]


def ending_claim(fitted: Seen, parameters: Seen, data: TrainingData, last_error: float, weight: Array) -> Claim:
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
        is_over = fitted.next_error is not None and fitted.next_error >= 1.0 - 1.0 / n_classes
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
    rules = growth_rule(base, n, 1.0, np.zeros(p, dtype=bool))
    if unequal > 0.0 or rules.random_splits or rules.max_features < p:  # which might have missed the best split
        return unequal
    target = class_target(data.y, len(data.classes))
    nodes = Nodes.of(
        data.X, target, [np.arange(n)], [weight], replace(rules, criterion="gini"), min_weight=rules.min_weight
    )
    found = replay_nodes(nodes)
    gain = float(found.low_gain[0] - found.slack[0])
    return gain - max(rules.min_impurity_decrease * float(weight.sum()), rounding)


def bound_claim(fitted: Seen, data: TrainingData, votes: Array, errors: list[float], n_classes: int) -> Claim:
    """Claim that the training error is at most the product of the rounds' factors."""
    weights = fitted.estimator_weights_[: len(errors)]
    scores = np.zeros((len(data.y), n_classes))
    for codes, vote in zip(votes, weights, strict=True):
        scores[np.arange(len(codes)), codes] += vote  # what a class loses to the others is the same for all of them
    answer = scores.argmax(axis=1)
    share = float(data.weights[answer != data.y].sum() / data.weights.sum())
    factors = [(1.0 - e) * math.exp(-a / 2.0) + e * math.exp(a / 2.0) for e, a in zip(errors, weights, strict=True)]
    bound = math.exp(math.fsum(map(math.log, factors)))
    is_usual = n_classes == 2 and all(
        math.isclose(vote, _vote(e, 2, 1.0), rel_tol=1e-6) for e, vote in zip(errors, weights, strict=True)
    )
    theorem = "the product of 2 sqrt(e (1 - e))" if is_usual else "the product of (1 - e) exp(-a/2) + e exp(a/2)"
    slack = 1.0 + 64 * sum_error(len(data.y)) * (1 + len(errors))
    return Claim("training error", f"share of training rows that are wrong, at most {theorem}", share, bound * slack)


def tree_claims(
    fitted: Seen, parameters: Seen, data: TrainingData, trees: TreeArrays, weights: list[Array]
) -> list[Claim]:
    """Check the trees of all rounds on the weights of their rounds."""
    base = parameters.estimator or STUMP
    n, p = data.X.shape
    rules = growth_rule(base, n, 1.0, np.zeros(p, dtype=bool))
    rows = TreeRows(data.X, class_target(data.y, len(data.classes)), data.weights, data.weights, True)
    seeds = np.asarray(fitted.seeds_)
    share = float(base.min_weight_fraction_leaf)
    bags = [
        Bag(np.arange(n), weight, int(seed), share * float(weight.sum()))
        for weight, seed in zip(weights, seeds, strict=True)
    ]
    check = TreeCheck.of(trees, rows, bags, rules)
    return [*check.claims(), replay_claim(check, nodes_to_replay(check, NODES_REPLAYED), trees.n_nodes)]


STUMP = Seen(
    criterion="gini",
    splitter="best",
    max_depth=1,
    min_samples_split=2,
    min_samples_leaf=1,
    min_weight_fraction_leaf=0.0,
    max_features=None,
    max_leaf_nodes=None,
    min_impurity_decrease=0.0,
    monotonic_cst=None,
)
"""The parameters of the default classifier: a tree of one split."""


def _tree_votes(trees: TreeArrays, X: SparseOrDense) -> Array:
    return np.stack([trees.value[leaves_of(trees, X, t), 0].argmax(axis=1) for t in range(trees.n_trees)])


def _in_units(weight: Array) -> Array:
    """Return weights as whole multiples of the smallest one that is kept, at least 1 of it: sums of them are exact."""
    return np.maximum(np.round(weight / weight.sum() / EPSILON), 1.0) * EPSILON


def _vote(error: float, n_classes: int, learning_rate: float) -> float:
    """Return the vote of a classifier with this error; one without an error ends the rounds with a vote of 1."""
    return learning_rate * (math.log1p(-error) - math.log(error) + math.log(n_classes - 1)) if error > 0.0 else 1.0


PROVES = {"AdaBoostClassifier": prove_ada_boost}
