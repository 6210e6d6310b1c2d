r"""Proof of boosted trees, by replaying the rounds on the training rows.

From the raw predictions before a round the derivatives of the loss follow. With them every leaf must hold the shrunken
Newton step of its rows, or the shrunken quantile of their residuals, up to the error of the sums; every node must have
the rows it says; every threshold must be the lowest edge above the values on its left. A sample of nodes is searched
again for the best split (``boosting_node``). Edges, baseline and scores are computed anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.ensemble.boosting_blocks import on_bins
from pellucid.proofs.ensemble.boosting_node import NodeSums, wrong_nodes
from pellucid.proofs.ensemble.boosting_problem import (
    BY_RESIDUAL,
    GIVEN,
    MANY_ROWS,
    NO_SPLIT,
    OF_TRAINING,
    ScoresAgain,
    Setting,
    best_constant,
    category_mask,
    derivatives,
    drawn_keys,
    most_leaves,
    row_losses,
)
from pellucid.proofs.ensemble.boosting_ways import RowsByWays, rows_by_ways, ways_down
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import draws, is_fitting, most_wrong
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.tree_bins import MOST_SAMPLED, edges_again, values_of
from pellucid.proofs.tree.trees import (
    NO_THRESHOLD,
    Chosen,
    TreeArrays,
    affordable_nodes,
    chosen_nodes,
    fault_of_trees,
    leaves_of,
)

SPLITS_CHECKED = 300
"""Nodes whose best split is searched again by ``verify``."""
ROWS_AT_FIT = 5_000
"""Rows of all nodes together that a fit searches again: more would take as long as the fit."""

REFIT = "Fit the model again."


def prove_boosting(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone.

    Every round is replayed; at a fit, where a proof should cost little, the first one.
    """
    with np.errstate(all="ignore"):  # wrong numbers may overflow; their claims read inf or nan
        return _prove(fitted, parameters, data, is_whole=not is_fitting())


def _prove(fitted: Seen, parameters: Seen, data: TrainingData, *, is_whole: bool) -> Certificate:
    faults = list(structure_faults(fitted, parameters, data))
    statement = "faults in the structure of trees and attributes" + (f": {faults[0]}" if faults else "")
    structure = Claim("structure", statement, float(len(faults)), 0.0, REFIT)
    if faults:
        return Certificate("replayed", (structure,))
    setting = Setting.of(fitted, parameters, data, is_whole=is_whole)
    n_rounds = fitted.n_iter_ if is_whole else min(1, fitted.n_iter_)
    trees = TreeArrays.of(fitted.trees_).picked(range(n_rounds * setting.n_outputs))
    if setting.is_in_bins:
        trees = on_bins(trees, fitted.bin_thresholds_)
    replay = RoundsReplay(fitted, parameters, setting, trees, n_rounds)
    if is_whole and fitted.do_early_stopping_ and parameters.scoring != "loss":
        replay.scores = ScoresAgain.of(setting, fitted, parameters, len(data.classes) > 0)
    replay.run(rows_to_search=20 * len(setting.y) + 20_000 if is_whole else ROWS_AT_FIT, is_whole=is_whole)
    claims = [structure, rounds_claim(fitted, parameters), baseline_claim(fitted, setting), *replay.claims()]
    if is_whole:
        claims += [bins_claim(fitted, parameters, setting), *score_claims(fitted, parameters, setting, replay)]
    return Certificate("replayed", tuple(claims))


def structure_faults(fitted: Seen, parameters: Seen, data: TrainingData) -> Iterator[str]:
    """Yield what cannot be in a fitted model."""
    p = data.X.shape[1]
    if fault := fault_of_trees(fitted.trees_, p):
        yield fault
        return
    trees = TreeArrays.of(fitted.trees_)
    n_outputs = len(data.classes) if len(data.classes) > 2 else 1
    if fitted.n_trees_per_iteration_ != n_outputs or np.shape(fitted.baseline_) != (n_outputs,):
        yield "n_trees_per_iteration_ or baseline_ does not suit the target"
    if trees.n_trees != fitted.n_iter_ * n_outputs or fitted.n_iter_ > parameters.max_iter:
        yield "n_iter_ is not the number of rounds"
    if np.shape(fitted.random_seeds_) != (2,):
        yield "random_seeds_ are not two"
    if len(fitted.bin_thresholds_) != p:
        yield "bin_thresholds_ are not those of the features"
    leaf, by_set = trees.is_leaf, trees.category_row >= 0
    if trees.impurity.any() or trees.value[~leaf].any() or trees.value.shape[1:] != (1, 1):
        yield "only leaves have values, and no node an impurity"
    if (trees.missing_go_to_left[leaf] != 0).any() or (trees.threshold[by_set] != NO_THRESHOLD).any():
        yield "a leaf or a set of categories has a direction or threshold"
    is_categorical = category_mask(fitted, p)
    if (is_categorical[trees.feature[~leaf]] != by_set[~leaf]).any():
        yield "a categorical feature is split by a threshold, or a number by categories"
    leaves = np.bincount(trees.tree_of, weights=leaf, minlength=trees.n_trees)
    most = parameters.max_leaf_nodes or np.inf
    if leaves.max() > most or trees.depth.max(initial=0) > (parameters.max_depth or np.inf):
        yield "a tree is larger than allowed"
    yield from _stopping_faults(fitted, parameters, data)


def _stopping_faults(fitted: Seen, parameters: Seen, data: TrainingData) -> Iterator[str]:
    auto = parameters.early_stopping == "auto"
    stops = data.X.shape[0] > MANY_ROWS if auto else bool(parameters.early_stopping)
    if fitted.do_early_stopping_ is not stops:
        yield "do_early_stopping_ does not follow from early_stopping"
    usual = OF_TRAINING if stops and parameters.validation_fraction is not None else NO_SPLIT
    if fitted.held_out_ != usual and not (stops and fitted.held_out_ == GIVEN):
        yield "held_out_ does not follow from the parameters"
    lengths = (fitted.n_iter_ + 1 if stops else 0, fitted.n_iter_ + 1 if fitted.held_out_ != NO_SPLIT else 0)
    if (len(fitted.train_score_), len(fitted.validation_score_)) != lengths:
        yield "there is not one score per round"


def baseline_claim(fitted: Seen, setting: Setting) -> Claim:
    """Return how far the baseline is from the constant that fits best."""
    best = best_constant(setting)
    # relative errors of the mean become absolute ones of its logarithm
    scale = np.abs(setting.y).max(initial=0.0) if setting.loss in ("squared_error", *BY_RESIDUAL) else 64.0
    error = float(np.max(np.abs(fitted.baseline_ - best)))
    statement = "distance of baseline_ from the constant of least loss"
    return Claim("baseline", statement, error, sum_error(len(setting.y)) * float(scale), REFIT)


def bins_claim(fitted: Seen, parameters: Seen, setting: Setting) -> Claim:
    """Return how many features have other edges than their values say."""
    given, weight = setting.given, setting.weight if setting.is_weighted else None
    if len(given) > MOST_SAMPLED:
        share = None if weight is None else weight / weight.sum()
        rng = np.random.RandomState(int(fitted.random_seeds_[0]))
        given, weight = given[rng.choice(len(given), MOST_SAMPLED, p=share)], None
    wrong, X = 0, values_of(given)
    for j, stored in enumerate(fitted.bin_thresholds_):
        if setting.is_categorical[j]:
            categories = (fitted.categories_ or [])[j]
            edges = np.arange(0 if categories is None else len(categories), dtype=np.float64)
        else:
            edges = edges_again(X[:, j], weight, parameters.max_bins)
        wrong += stored.shape != edges.shape or not np.allclose(stored, edges, rtol=8 * EPSILON, atol=0.0)
    return Claim("bins", "features whose bins are not those of the training rows", float(wrong), 0.0, REFIT)


@dataclass
class RoundsReplay:
    """The rounds done again: what was found on the way."""

    fitted: Seen
    parameters: Seen
    setting: Setting
    trees: TreeArrays
    n_rounds: int
    worst_leaf: float = 0.0
    wrong_nodes: int = 0
    n_nodes: int = 0
    worst_split: float = 0.0
    n_splits: int = 0
    n_ways: int = 0
    """Rows all of whose nodes, in a tree each, were searched; 0 if all nodes of all trees were."""
    losses: list[float] = field(default_factory=list)
    held_out_losses: list[float] = field(default_factory=list)
    scores: ScoresAgain | None = None
    """Where the fit was stopped by other scores than the loss."""

    def run(self, rows_to_search: int, *, is_whole: bool) -> None:
        """Replay the rounds; search so many rows for the best splits of sampled nodes."""
        setting, trees = self.setting, self.trees
        raw = np.repeat(self.fitted.baseline_[:, np.newaxis], len(setting.y), axis=1)
        held = None
        if is_whole and setting.held_out is not None:
            held = np.repeat(self.fitted.baseline_[:, np.newaxis], len(setting.held_out[1]), axis=1)
        keys = np.random.default_rng(int(self.fitted.random_seeds_[1]))
        chosen = self.choose_nodes(trees, rows_to_search, is_whole=is_whole)
        sampled, self.n_ways = chosen.nodes, chosen.n_ways
        if not isinstance(setting.X, np.ndarray):  # in blocks: one pass for all that will be asked of them
            ways = rows_by_ways(setting.X, trees, sampled)
            setting = self.setting = replace(setting, X=ways, has_missing=ways.has_missing)
        self.note_losses(raw, held)
        for t in range(self.n_rounds):
            before = raw.copy() if setting.n_outputs > 1 else raw  # one tree is looked at before it is added
            for k in range(setting.n_outputs):
                number = t * setting.n_outputs + k
                start = int(trees.starts[number])
                wanted = sampled[(sampled >= start) & (sampled < trees.starts[number + 1])] - start
                tree = trees.picked([number])
                self.replay_tree(tree, before, raw, k, keys, wanted)
                if held is not None and setting.held_out is not None:
                    held[k] += tree.value[leaves_of(tree, setting.held_out[0]), 0, 0]
            self.note_losses(raw, held)

    def note_losses(self, raw: Array, held: Array | None) -> None:
        """Write down the mean losses at these predictions."""
        s = self.setting
        if self.scores is not None:
            self.scores.note(raw, held)
        self.losses.append(float(np.average(row_losses(s, s.y, raw), weights=s.weight)))
        if held is not None and s.held_out is not None:
            _, y, weight = s.held_out
            self.held_out_losses.append(float(np.average(row_losses(s, y, held), weights=weight)))

    def replay_tree(
        self, tree: TreeArrays, before: Array, raw: Array, k: int, keys: np.random.Generator, wanted: Array
    ) -> None:
        """Check the tree of output ``k`` against the predictions before its round, and add its values to ``raw``."""
        s, parameters = self.setting, self.parameters
        ways = s.X.ways[k] if isinstance(s.X, RowsByWays) else ways_down(tree, s.X)
        leaf, wrong = ways.leaf, wrong_nodes(tree, ways, s)
        first, second = derivatives(s, before, k)
        sums = NodeSums(tree, leaf, first, second, s, parameters)
        largest = float(np.abs(before).max(initial=0.0))
        self.worst_leaf = float(np.max([self.worst_leaf, sums.leaf_error(before[k], leaf, largest)]))
        self.wrong_nodes += int(wrong.sum()) + sums.out_of_turn(largest)
        self.n_nodes += tree.n_nodes
        n_leaves = most_leaves(len(s.y), parameters)
        drawn = drawn_keys(keys, parameters.max_features, n_leaves, s.X.shape[1])
        is_full, worth = int(tree.is_leaf.sum()) >= n_leaves, 0.0
        for node in wanted:
            if tree.is_leaf[node]:
                worth = sums.least_gain_after(int(node), largest) if is_full else 0.0
                if tree.depth[node] == parameters.max_depth or worth == math.inf:
                    continue
            features = allowed_features(tree, int(node), s.sets, drawn, parameters.max_features)
            found = sums.shortfall(int(node), features, worth)
            if found is not None:
                self.worst_split, self.n_splits = float(np.max([self.worst_split, found])), self.n_splits + 1
        raw[k] += tree.value[leaf, 0, 0]

    def choose_nodes(self, trees: TreeArrays, most_rows: int, *, is_whole: bool) -> Chosen:
        """Return the nodes whose best split is searched again, that have about so many rows together at most."""
        may_split = ~trees.is_leaf | (trees.n_node_samples >= 2 * self.parameters.min_samples_leaf)
        cost = np.where(may_split, trees.n_node_samples, 0)
        if not is_whole:
            return affordable_nodes(cost, SPLITS_CHECKED, most_rows)

        def starts(count: int) -> tuple[Array, Array]:
            return draws().integers(trees.n_trees, size=count), draws().integers(len(self.setting.y), size=count)

        return chosen_nodes(trees, cost, trees.n_node_samples, starts, self.setting.X, SPLITS_CHECKED, most_rows)

    def claims(self) -> list[Claim]:
        """Return what the replay found."""
        rounds = f"{self.n_rounds:,} of {self.fitted.n_iter_:,} rounds"
        splits = f"largest shortfall of {self.n_splits:,} splits behind the best of all bins, in units of rounding"
        if self.n_ways:
            share = most_wrong(self.n_ways)
            splits += f"; at most {share:.1%} of the rows pass a wrong one in a tree, with 99 % confidence"
        rose = int(np.sum(np.diff(self.losses) > 1e-9 * np.abs(self.losses[:-1])))
        size = abs(self.losses[0])
        statement = f"rise of the training loss over {rounds}, as a part of the first; it rose in {rose} of them"
        fall = (self.losses[-1] - self.losses[0]) / size if size > 0 else self.losses[-1] - self.losses[0]
        leaves = f"largest error of a leaf's value in {rounds}, in units of its rounding"
        nodes = f"of {self.n_nodes:,} nodes, those with other rows, another threshold, or split before a better one"
        return [
            Claim("leaves", leaves, self.worst_leaf, 1.0, REFIT),
            Claim("nodes", nodes, float(self.wrong_nodes), 0.0, REFIT),
            Claim("splits", splits, self.worst_split, 1.0, REFIT),
            Claim("descent", statement, fall, 1e-9, "Lower learning_rate."),
        ]


def allowed_features(tree: TreeArrays, node: int, sets: Array, keys: Array, share: float) -> Array:
    """Return the features that may split a node: of the sets with all features above it, those of lowest keys."""
    p = keys.shape[1]
    allowed = np.arange(p)
    if len(sets):
        above = node
        is_open = np.ones(len(sets), dtype=bool)
        while above > 0:
            above = int(tree.parent[above])
            is_open &= sets[:, tree.feature[above]]
        allowed = np.flatnonzero(sets[is_open].any(axis=0))
    if len(keys):
        kept = max(1, math.ceil(share * len(allowed)))
        own = keys[node % len(keys), allowed]
        allowed = np.sort(allowed[np.argsort(own, kind="stable")[:kept]])
    return allowed


def rounds_claim(fitted: Seen, parameters: Seen) -> Claim:
    """Claim that all rounds were done, or that the scores stopped to rise."""
    missing = parameters.max_iter - fitted.n_iter_
    why = f"{fitted.n_iter_:,} of {parameters.max_iter:,} rounds done"
    if missing and fitted.do_early_stopping_ and _is_over(_stopping_scores(fitted), parameters):
        missing, why = 0, f"{why}, as the scores no longer rose"
    if fitted.held_out_ == GIVEN:
        why += "; the rows given to fit for its scores are not here to look at"
    remedy = f"{REFIT} Nothing but scores that no longer rise should end it early; a callback did, or rounds are gone."
    return Claim("rounds", f"rounds missing: {why}", float(missing), 0.0, remedy)


def score_claims(fitted: Seen, parameters: Seen, setting: Setting, replay: RoundsReplay) -> Iterator[Claim]:
    """Yield how far stored scores are from recomputed ones, and whether the fit stopped in time."""
    if not fitted.do_early_stopping_:
        return
    if replay.scores is None:
        again = [-np.array(replay.losses), -np.array(replay.held_out_losses)]
    else:
        again = [np.array(replay.scores.train), np.array(replay.scores.held_out)]
    error = scale = 0.0
    for stored, right in zip((fitted.train_score_, fitted.validation_score_), again, strict=True):
        if len(right) == len(stored):
            error = float(np.max([error, *np.abs(stored - right)]))
            scale = float(np.max([scale, *np.abs(right)]))
    bound = 1e3 * sum_error(len(setting.y)) * max(scale, TINY)
    yield Claim("scores", "largest error of a stored score", error, bound, REFIT)
    scores = _stopping_scores(fitted)
    early = [t for t in range(parameters.n_iter_no_change, len(scores) - 1) if _is_over(scores[: t + 1], parameters)]
    yield Claim("stopping", "rounds after which the fit should have stopped", float(len(early)), 0.0, REFIT)


def _stopping_scores(fitted: Seen) -> Array:
    return np.asarray(fitted.validation_score_ if len(fitted.validation_score_) else fitted.train_score_)


def _is_over(scores: Array, parameters: Seen) -> bool:
    if len(scores) <= parameters.n_iter_no_change:
        return False
    recent, reference = scores[-parameters.n_iter_no_change :], scores[-parameters.n_iter_no_change - 1]
    return not (recent > reference + parameters.tol).any()


PROVES = {"HistGradientBoostingClassifier": prove_boosting, "HistGradientBoostingRegressor": prove_boosting}
