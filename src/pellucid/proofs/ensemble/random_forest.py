r"""What the random forests claim, and the proof of it from the data alone.

The sample of every tree follows from its seed, and the seeds from ``random_state`` where that is a number. The
structure of all trees is checked. Rows are sent down the trees, down all of them if rows times trees are few, else down
a random sample: counts, values, impurities and thresholds of every node are recomputed. Of these trees' nodes a random
sample is searched again. Out-of-bag answers are recomputed, of all rows or of a sample, and the score from them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.ensemble.bootstrap_samples import room_of
from pellucid.ensemble.out_of_bag import judged
from pellucid.ensemble.random_forest.forest_bags import ForestBags
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import drawn, most_wrong
from pellucid.proofs.tree.decision_tree import (
    LARGEST_SEED,
    nodes_to_replay,
    record_claim,
    replay_claim,
    structure_claim,
)
from pellucid.tree.decision_tree.growth_rules import growth_rules
from pellucid.tree.decision_tree.tree_check import REFIT, TreeCheck
from pellucid.tree.decision_tree.tree_data import TreeData
from pellucid.tree.packed_trees import join_trees
from pellucid.tree.plain_walk import plain_leaves

MOST_WALKS = 4e6
"""Rows times trees that are sent down."""
MOST_REPLAYED = 600
"""Nodes that are searched again, about at most."""


def prove_random_forest(fitted: Any, parameters: Any, data: TreeData) -> Certificate:
    """Return the certificate of a forest."""
    trees, n, n_features = fitted.trees_, data.X.shape[0], data.X.shape[1]
    bags = ForestBags.of(parameters, data)
    claims = [
        seeds_claim(fitted, parameters, bags),
        record_claim(fitted, parameters, data),
        structure_claim(trees, n_features, parameters.n_estimators),
    ]
    if not all(claim.holds for claim in claims):
        return Certificate("replayed", tuple(claims))
    rules = growth_rules(parameters, n, n_features, float(data.weights.sum()), data.is_category)
    chosen = drawn(trees.n_trees, max(1, int(MOST_WALKS // max(1, n))), always=[0, trees.n_trees - 1])
    part = trees if len(chosen) == trees.n_trees else join_trees([trees.tree(int(t)) for t in chosen])
    check = TreeCheck.of(
        part, data, [bags.bag(int(fitted.seeds_[t])) for t in chosen], rules, float(parameters.ccp_alpha)
    )
    claims += [_of_some_trees(claim, len(chosen), trees.n_trees) for claim in check.claims()]
    claims.append(replay_claim(check, nodes_to_replay(check, MOST_REPLAYED), trees.n_nodes))
    if parameters.oob_score:
        claims.append(out_of_bag_claim(fitted, parameters, bags))
    return Certificate("replayed", tuple(claims))


def seeds_claim(fitted: Any, parameters: Any, bags: ForestBags) -> Claim:
    """Claim that there is a seed for each tree, from ``random_state``, and that rows were drawn by their weights."""
    seeds = np.asarray(fitted.seeds_)
    wrong = float(seeds.shape != (parameters.n_estimators,) or seeds.dtype != np.int64)
    if wrong == 0.0 and isinstance(parameters.random_state, (int, np.integer)):
        wanted = check_random_state(parameters.random_state).randint(LARGEST_SEED, size=parameters.n_estimators)
        wrong = float(np.sum(wanted != seeds))
    room, order = None, None
    if parameters.bootstrap:
        room, order = room_of(bags.data.weight, bags.order), bags.data.given_rows(bags.order)
    wrong += not _same(room, fitted.draw_weight_)
    wrong += not _same(order, fitted.sample_order_)
    statement = "seeds that do not follow from random_state, order and weights of rows that are not those of the data"
    return Claim("seeds", statement, wrong, 0.0, REFIT)


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def out_of_bag_claim(fitted: Any, parameters: Any, bags: ForestBags) -> Claim:
    """Claim that out-of-bag answers are the means over trees that have not seen the row, and the score theirs."""
    data, trees = bags.data, fitted.trees_
    n = data.X.shape[0]
    rows = drawn(n, max(1, int(MOST_WALKS // max(1, trees.n_trees))))
    answers, n_trees = np.zeros((len(rows), *trees.value.shape[1:])), np.zeros(len(rows), dtype=np.int64)
    X = data.X[rows]
    for t, seed in enumerate(fitted.seeds_):
        unseen = np.flatnonzero(bags.counts(int(seed))[rows] == 0)
        if len(unseen):
            answers[unseen] += trees.value[trees.starts[t] + plain_leaves(trees.tree(t), X[unseen])]
            n_trees[unseen] += 1
    stored = _stored_answers(fitted, data)
    size = 1.0 if data.target.n_classes else max(float(np.abs(data.target.y).max(initial=0.0)), np.finfo(float).tiny)
    if stored is None or stored.shape != (n, *trees.value.shape[1:]):
        error = math.inf
    else:
        weight = None if data.weight is None else data.row_weight
        error = float(np.max(np.abs(stored[rows] - answers / np.maximum(n_trees, 1)[:, None, None]))) / size
        found = judged(stored, np.ones(n), data.target, weight, parameters.oob_score)
        deviation = 0.0 if math.isnan(found.deviation) else found.deviation
        said = np.array([fitted.oob_score_, fitted.oob_rows_ / n, fitted.oob_deviation_])
        right = np.array([found.score, found.rows / n, deviation])
        error = float(np.max([error, *(np.abs(said - right) / np.maximum(1.0, np.abs(right)))]))
    some = "" if len(rows) == n else f", {len(rows)} of {n} rows checked"
    statement = f"largest error of an out-of-bag answer or of the score{some}"
    return Claim("out of bag", statement, error, 64 * sum_error(trees.n_trees + n), REFIT)


def _stored_answers(fitted: Any, data: TreeData) -> Array | None:
    """Return the stored answers of the kept rows as (n_rows, n_outputs, n_values)."""
    kept = slice(None) if data.kept is None else data.kept
    if data.target.n_classes:
        stored = np.asarray(fitted.oob_decision_function_)
        if len(stored) != data.n_given:
            return None
        return stored[kept][:, None] if stored.ndim == 2 else stored[kept].transpose(0, 2, 1)
    stored = np.asarray(fitted.oob_prediction_)
    return None if len(stored) != data.n_given else stored[kept].reshape(-1, data.target.n_outputs)[:, :, None]


def _of_some_trees(claim: Claim, checked: int, n_trees: int) -> Claim:
    if checked == n_trees:
        return claim
    share = most_wrong(checked)
    says = f"{checked} of {n_trees} trees checked: at most {share:.2g} of them wrong at 99 % confidence"
    return replace(claim, statement=f"{claim.statement}; {says}")
