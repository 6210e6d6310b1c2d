r"""What the random forests claim, and the proof of it from the data alone.

The sample of every tree follows from its seed, and the seeds from ``random_state`` where that is a number. The
structure of all trees is checked. Rows are sent down the trees, down all of them if rows times trees are few, else down
a random sample: counts, values, impurities and thresholds of every node are recomputed. Of these trees' nodes a random
sample is searched again. Out-of-bag answers are recomputed, of all rows or of a sample, and the score from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.ensemble.samples import judged, n_drawn, times_drawn, value_order
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import drawn, is_fitting, most_wrong
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.decision_tree import nodes_to_replay, record_claim, replay_claim, spot_claim, structure_claim
from pellucid.proofs.tree.tree_check import REFIT, Bag, TreeCheck
from pellucid.proofs.tree.tree_rows import LARGEST_SEED, TreeRows, drawn_seed, growth_rule, tree_rows
from pellucid.proofs.tree.trees import TreeArrays, leaves_of

MOST_WALKS = 4e6
"""Rows times trees that are sent down."""
MOST_REPLAYED = 600
"""Nodes that are searched again, about at most."""


@dataclass(frozen=True, eq=False)
class ForestSamples:
    """The sample of each tree, by its seed."""

    rows: TreeRows
    parameters: Seen

    @property
    def weight(self) -> Array | None:
        """The weights of rows; None where all are alike."""
        return self.rows.weight if self.rows.has_weights else None

    @cached_property
    def order(self) -> Array:
        """The rows in the order in which points are drawn on them."""
        target, bins = self.rows.target, self.rows.bins
        return value_order(self.rows.X if bins is None else bins.table, target.codes if target.n_classes else target.y)

    def counts(self, seed: int) -> Array:
        """Return how often each row is in the sample of a tree."""
        n = len(self.rows.weight)
        if not self.parameters.bootstrap:
            return np.ones(n, dtype=np.int64)
        return times_drawn(seed, self.order, n_drawn(self.parameters.max_samples, n, self.weight), self.weight)

    def bag(self, seed: int) -> Bag:
        """Return the rows and weights that a tree was grown on, classes balanced in it if that is asked for."""
        counts, target = self.counts(seed), self.rows.target
        rows = np.flatnonzero(counts)
        weight = counts[rows].astype(np.float64) if self.parameters.bootstrap else self.rows.weight
        class_weight = getattr(self.parameters, "class_weight", None)
        if isinstance(class_weight, str) and class_weight == "balanced_subsample":
            for codes in target.codes[rows].T:
                totals = np.bincount(codes, counts[rows])
                weight = weight * totals.sum() / (np.sum(totals > 0) * totals[codes])
        share = float(self.parameters.min_weight_fraction_leaf)
        return Bag(rows, weight, drawn_seed(seed), share * float(weight.sum()))


def prove_random_forest(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of a forest."""
    rows = tree_rows(fitted, parameters, data)
    samples, n = ForestSamples(rows, parameters), len(rows.weight)
    structure = structure_claim(fitted.trees_, data.X.shape[1], parameters.n_estimators)
    rule = growth_rule(parameters, n, float(rows.weight.sum()), rows.is_category)
    price = float(parameters.ccp_alpha)
    if is_fitting() and structure.holds:
        first, n_nodes = TreeArrays.of(fitted.trees_).picked([0]), len(fitted.trees_.feature)
        bags, walks = [samples.bag(int(fitted.seeds_[0]))], bool(rule.monotone.any())
        check = TreeCheck.of(first, rows, bags, rule, price, walks=walks)
        return Certificate("replayed", (structure, spot_claim(check, n_nodes)))
    claims = [seeds_claim(fitted, parameters, samples), record_claim(fitted, parameters, rows, data), structure]
    if not all(claim.holds for claim in claims):
        return Certificate("replayed", tuple(claims))
    trees = TreeArrays.of(fitted.trees_)
    chosen = drawn(trees.n_trees, max(1, int(MOST_WALKS // max(1, n))), always=[0, trees.n_trees - 1])
    bags = [samples.bag(int(fitted.seeds_[t])) for t in chosen]
    check = TreeCheck.of(trees.picked(chosen), rows, bags, rule, price)
    claims += [_of_some_trees(claim, len(chosen), trees.n_trees) for claim in check.claims()]
    claims.append(replay_claim(check, nodes_to_replay(check, MOST_REPLAYED), trees.n_nodes))
    if parameters.oob_score:
        claims.append(out_of_bag_claim(fitted, parameters, samples, trees))
    return Certificate("replayed", tuple(claims))


def seeds_claim(fitted: Seen, parameters: Seen, samples: ForestSamples) -> Claim:
    """Claim that there is a seed for each tree, from ``random_state``, and that rows were drawn by their weights."""
    seeds = np.asarray(fitted.seeds_)
    wrong = float(seeds.shape != (parameters.n_estimators,) or seeds.dtype != np.int64)
    if wrong == 0.0 and isinstance(parameters.random_state, (int, np.integer)):
        wanted = np.random.RandomState(parameters.random_state).randint(LARGEST_SEED, size=parameters.n_estimators)
        wrong = float(np.sum(wanted != seeds))
    room, order = None, None
    if parameters.bootstrap:
        room = None if samples.weight is None else samples.weight[samples.order]
        order = samples.order if samples.rows.kept is None else samples.rows.kept[samples.order]
    wrong += not _same(room, fitted.draw_weight_)
    wrong += not _same(order, fitted.sample_order_)
    statement = "seeds that do not follow from random_state, order and weights of rows that are not those of the data"
    return Claim("seeds", statement, wrong, 0.0, REFIT)


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def out_of_bag_claim(fitted: Seen, parameters: Seen, samples: ForestSamples, trees: TreeArrays) -> Claim:
    """Claim that out-of-bag answers are the means over trees that have not seen the row, and the score theirs."""
    data, n = samples.rows, len(samples.rows.weight)
    rows = drawn(n, max(1, int(MOST_WALKS // max(1, trees.n_trees))))
    answers, n_trees = np.zeros((len(rows), *trees.value.shape[1:])), np.zeros(len(rows), dtype=np.int64)
    X = data.X[rows]
    for t, seed in enumerate(fitted.seeds_):
        unseen = np.flatnonzero(samples.counts(int(seed))[rows] == 0)
        if len(unseen):
            answers[unseen] += trees.value[leaves_of(trees, X[unseen], t)]
            n_trees[unseen] += 1
    stored = _stored_answers(fitted, data)
    size = 1.0 if data.target.n_classes else max(float(np.abs(data.target.y).max(initial=0.0)), TINY)
    if stored is None or stored.shape != (n, *trees.value.shape[1:]):
        error = math.inf
    else:
        weight = data.row_weight if data.has_weights else None
        error = float(np.max(np.abs(stored[rows] - answers / np.maximum(n_trees, 1)[:, None, None]))) / size
        found = judged(stored, data.target, weight, parameters.oob_score)
        deviation = 0.0 if math.isnan(found.deviation) else found.deviation
        said = np.array([fitted.oob_score_, fitted.oob_rows_ / n, fitted.oob_deviation_])
        right = np.array([found.score, found.rows / n, deviation])
        error = float(np.max([error, *(np.abs(said - right) / np.maximum(1.0, np.abs(right)))]))
    some = "" if len(rows) == n else f", {len(rows)} of {n} rows checked"
    statement = f"largest error of an out-of-bag answer or of the score{some}"
    return Claim("out of bag", statement, error, 64 * sum_error(trees.n_trees + n), REFIT)


def _stored_answers(fitted: Seen, data: TreeRows) -> Array | None:
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


PROVES = {"RandomForestClassifier": prove_random_forest, "RandomForestRegressor": prove_random_forest}
