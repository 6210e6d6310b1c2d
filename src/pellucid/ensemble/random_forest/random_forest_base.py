"""What random forests share: samples of rows, growing, and what all trees say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.random_state import LARGEST_SEED
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.ensemble.bootstrap_samples import (
    OutOfBag,
    drawn_places,
    judged,
    n_drawn,
    room_of,
    score_interval,
    value_order,
    warn_of_few_draws,
)
from pellucid.tree.decision_tree.decision_tree import check_monotonic, label_attributes, tree_trace
from pellucid.tree.decision_tree.growth_rules import GrowthRules, growth_rules
from pellucid.tree.decision_tree.tree_data import TreeData, rules_for_trees
from pellucid.tree.packed_trees import PackedTrees, join_trees
from pellucid.tree.pruning.cost_complexity import pruned
from pellucid.tree.tree_reading import decision_path, feature_importances, leaves, summed_values

BLOCK_OF_TREES = 16
"""Trees whose leaves are found together for out-of-bag answers: one number for each row and tree."""


class RandomForest(MultiOutputMixin, CertifiedEstimator):
    """What the classifier and the regressor share: samples, growing, and what all trees say."""

    trees_: PackedTrees
    seeds_: Array
    categories_: list[Array | None]
    n_outputs_: int
    n_features_in_: int
    sample_order_: Array | None
    draw_weight_: Array | None
    classes_: Any
    n_classes_: Any

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y``, in one column or several.

        A row of weight k is drawn as if it were there k times; without samples it counts k times in every tree.
        """
        earlier = self._earlier_trees()
        data: TreeData = self._check(X, y, sample_weight)  # type: ignore[assignment]  # by the rules on the card
        check_monotonic(self, data.X.shape[1], data.target.n_outputs, data.target.n_classes)
        _warn_of_subsamples(self)
        if self.bootstrap:
            warn_of_few_draws(self.max_samples, data.X.shape[0], data.weight)
        n, n_features = data.X.shape
        rules = growth_rules(self, n, n_features, float(data.weights.sum()), data.is_category)
        bags = ForestBags.of(self, data)
        seeds = check_random_state(self.random_state).randint(LARGEST_SEED, size=self.n_estimators)
        trees = self._grown(bags, rules, seeds, earlier)
        if earlier is not None:
            seeds = np.concatenate([earlier[1], seeds[len(earlier[1]) :]])
        attributes = {
            **(label_attributes(data) if data.label_sets else {}),
            "n_outputs_": data.target.n_outputs,
            "categories_": list(data.categories),
            "sample_order_": data.given_rows(bags.order).astype(np.int32) if self.bootstrap else None,
            "draw_weight_": room_of(data.weight, bags.order) if self.bootstrap else None,
            "seeds_": seeds.astype(np.int64),
            "trees_": trees,
            **self._out_of_bag(bags, trees, seeds),
        }
        return self._adopt(Fit(attributes, later={"trace_": partial(tree_trace, trees)}), data)

    def _earlier_trees(self) -> tuple[PackedTrees, Array] | None:
        """Return the trees that a warm start keeps."""
        if not self.warm_start or "trees_" not in vars(self):
            return None
        if self.n_estimators < self.trees_.n_trees:
            raise ValueError(
                f"n_estimators must be at least {self.trees_.n_trees} for a warm start, got {self.n_estimators}. "
                f"(n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={self.trees_.n_trees} "
                "when warm_start==True.)"
            )
        if self.n_estimators == self.trees_.n_trees:
            warn_user("Warm-start fitting without increasing n_estimators does not fit new trees.", UserWarning)
        return self.trees_, self.seeds_

    def _grown(self, bags: ForestBags, rules: GrowthRules, seeds: Array, earlier: Any) -> PackedTrees:
        kept = 0 if earlier is None else earlier[0].n_trees
        packs = [] if earlier is None else [earlier[0]]
        if kept < len(seeds):
            packs.append(grow_forest(bags, rules, [int(seed) for seed in seeds[kept:]], float(self.ccp_alpha)))
        return packs[0] if len(packs) == 1 else join_trees(packs)

    def _out_of_bag(self, bags: ForestBags, trees: PackedTrees, seeds: Array) -> dict[str, Any]:
        """Return the out-of-bag attributes, if they are asked for."""
        if not self.oob_score:
            return {}
        data = bags.data
        if data.target.n_outputs > 1 and max(data.target.n_classes, default=0) > 2:
            raise ValueError(
                "oob_score must be False for several outputs of more than two classes: The type of target cannot be "
                "used to compute OOB estimates."
            )
        n, value = data.X.shape[0], trees.value
        answers, n_trees = np.zeros((n, *value.shape[1:])), np.zeros(n, dtype=np.int64)
        for first in range(0, trees.n_trees, BLOCK_OF_TREES):
            part = trees.part(first, min(first + BLOCK_OF_TREES, trees.n_trees))
            found = leaves(part, data.X)
            for t in range(part.n_trees):
                unseen = np.flatnonzero(bags.counts(int(seeds[first + t])) == 0)
                answers[unseen] += part.value[part.starts[t] + found[unseen, t]]
                n_trees[unseen] += 1
        if (n_trees == 0).any():
            warn_user(
                "Some inputs do not have OOB scores. This probably means too few trees were used to compute any "
                "reliable OOB estimates. Raise n_estimators.",
                UserWarning,
            )
        weight = None if data.weight is None else data.row_weight
        return self._named(judged(answers, n_trees, data.target, weight, self.oob_score), data)

    def _named(self, found: OutOfBag, data: TreeData) -> dict[str, Any]:
        deviation = 0.0 if np.isnan(found.deviation) else found.deviation
        return {"oob_score_": found.score, "oob_rows_": found.rows, "oob_deviation_": deviation}

    def oob_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the score on new rows like the training rows, from the out-of-bag answers.

        Wilson's interval for an accuracy; for R squared so many standard errors around it, from the influence of
        each row.
        """
        check_is_fitted(self)
        if "oob_score_" not in vars(self) or callable(self.oob_score):
            raise ValueError(
                f"oob_score must be True at the fit for an interval, got {self.oob_score!r}. Fit with oob_score=True."
            )
        is_share = isinstance(self, ClassifierMixin)
        return score_interval(self.oob_score_, self.oob_rows_, self.oob_deviation_, level, is_share)

    def __getattr__(self, name: str) -> Any:
        if name in ("estimators_", "estimators_samples_", "feature_importances_"):  # properties of a fitted forest
            check_is_fitted(self)
        return super().__getattr__(name)

    @property
    def estimators_(self) -> list[Any]:
        """The trees, each as an estimator of its own; made when asked for, from the one pack."""
        if "trees_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'estimators_': it is not fitted")
        return [self._tree(t) for t in range(self.trees_.n_trees)]

    @property
    def estimator_(self) -> Any:
        """A tree with the parameters of the trees, not fitted."""
        return self._plain_tree()

    estimator = estimator_

    @property
    def estimators_samples_(self) -> list[Array]:
        """The rows of positive weight that each tree was grown on, as often as they were drawn."""
        check_is_fitted(self)
        if self.sample_order_ is None:
            return [np.arange(self.trees_.n_node_samples[0], dtype=np.int32) for _ in self.seeds_]
        n = len(self.sample_order_)
        count = n_drawn(self.max_samples, n, self.draw_weight_)
        return [self.sample_order_[drawn_places(int(seed), n, count, self.draw_weight_)] for seed in self.seeds_]

    @property
    def feature_importances_(self) -> Array:
        """How much the splits of each column lower the impurity, averaged over trees, as parts of 1."""
        check_is_fitted(self)
        return feature_importances(self.trees_, self.n_features_in_)

    def __len__(self) -> int:
        return int(self.trees_.n_trees)

    def __getitem__(self, place: int) -> Any:
        return self._tree(range(len(self))[place])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def apply(self, X: Data) -> Array:
        """Return the leaf of each row in each tree, of shape (n_samples, n_estimators)."""
        rows = self._checked_rows(X)
        with own_threads():
            return leaves(self.trees_, rows).astype(np.int64)

    def decision_path(self, X: Data) -> tuple[sparse.csr_matrix, Array]:
        """Return which nodes of all trees each row passes, and where the nodes of each tree begin."""
        rows = self._checked_rows(X)
        with own_threads():
            return decision_path(self.trees_, rows), self.trees_.starts.copy()

    def _checked_rows(self, X: Data) -> Any:
        check_is_fitted(self)
        return rules_for_trees(self).check_rows(self, X)

    def _mean_values(self, X: Data) -> Array:
        """Return the mean over trees of each row's values, of shape (n_samples, n_outputs, n_values)."""
        rows = self._checked_rows(X)
        shape = self.trees_.value.shape[1:]
        with own_threads():
            sums = summed_values(self.trees_, rows, np.zeros((rows.shape[0], shape[0] * shape[1])))
        return (sums / self.trees_.n_trees).reshape(-1, *shape)

    def _plain_tree(self) -> Any:
        raise NotImplementedError

    def _tree(self, t: int) -> Any:
        """Return one tree as an estimator; its labels are codes of the forest's."""
        tree = clone(self._plain_tree()).set_params(random_state=int(self.seeds_[t]))
        tree.trees_, tree.seed_ = self.trees_.tree(t), tree_seed(int(self.seeds_[t]))
        tree.n_features_in_, tree.n_outputs_ = self.n_features_in_, self.n_outputs_
        tree.categories_ = self.categories_
        tree.max_features_ = growth_rules(
            self, 1, self.n_features_in_, 1.0, np.zeros(self.n_features_in_, np.uint8)
        ).max_features
        if isinstance(self, ClassifierMixin):
            tree.n_classes_ = self.n_classes_
            several = self.n_outputs_ > 1
            sets = self.classes_ if several else [self.classes_]
            codes = [np.arange(len(labels), dtype=np.float64) for labels in sets]
            tree.classes_ = codes if several else codes[0]
        return tree

    def _tree_parameters(self) -> dict[str, Any]:
        names = (
            "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
            "max_features", "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "monotonic_cst",
            "categorical_features",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def spread_answers(answers: Array, data: TreeData) -> Array:
    """Return answers of the kept rows as answers of all given ones; 0 for those of weight 0."""
    return np.ascontiguousarray(np.moveaxis(data.spread(np.moveaxis(answers, 0, -1)), -1, 0))


def _warn_of_subsamples(forest: RandomForest) -> None:
    weight = getattr(forest, "class_weight", None)
    if forest.warm_start and isinstance(weight, str):
        warn_user(
            'class_weight should be a dict with warm_start: class_weight presets "balanced" or "balanced_subsample" '
            "are not recommended for warm_start if the fitted data differs from the full dataset.",
            UserWarning,
        )


class SampleOfTree(NamedTuple):
    """What one tree is grown on."""

    rows: Array
    weight: Array
    seed: int
    min_weight: float
    """Weight that each side of a split must have."""


@dataclass(frozen=True)
class ForestBags:
    """Samples of the rows of a forest, by the seed of a tree."""

    data: TreeData
    bootstrap: bool
    n_draws: int
    by_subsample: bool
    """Whether classes are balanced anew in each sample."""
    min_weight_fraction: float

    @classmethod
    def of(cls, parameters: Any, data: TreeData) -> ForestBags:
        """Return the samples for these parameters."""
        class_weight = getattr(parameters, "class_weight", None)
        by_subsample = isinstance(class_weight, str) and class_weight == "balanced_subsample"
        n_draws = n_drawn(parameters.max_samples, data.X.shape[0], data.weight)
        return cls(data, bool(parameters.bootstrap), n_draws, by_subsample, float(parameters.min_weight_fraction_leaf))

    @cached_property
    def order(self) -> Array:
        """The rows in the order in which they lie on the line that points are drawn on."""
        target = self.data.target
        return value_order(self.data.X, target.codes if target.n_classes else target.y)

    def counts(self, seed: int) -> Array:
        """Return how often each row is in the sample of a tree; without samples, once."""
        n = self.data.X.shape[0]
        if not self.bootstrap:
            return np.ones(n, dtype=np.int64)
        places = drawn_places(seed, n, self.n_draws, room_of(self.data.weight, self.order))
        return np.bincount(self.order[places], minlength=n)

    def bag(self, seed: int) -> SampleOfTree:
        """Return the rows and weights of a tree."""
        if self.bootstrap:
            count = self.counts(seed)
            rows = np.flatnonzero(count)
            weight = count[rows].astype(np.float64)
        else:
            rows, weight = np.arange(self.data.X.shape[0]), self.data.weights
        if self.by_subsample:
            for k, n_classes in enumerate(self.data.target.n_classes):
                codes = self.data.target.codes[rows, k]
                totals = np.bincount(codes, self.counts(seed)[rows], minlength=n_classes)
                present = totals > 0
                balanced = np.where(present, totals.sum() / (present.sum() * np.where(present, totals, 1.0)), 0.0)
                weight = weight * balanced[codes]
        return SampleOfTree(rows, weight, tree_seed(seed), self.min_weight_fraction * float(weight.sum()))


def tree_seed(seed: int) -> int:
    """Return what a single tree with this ``random_state`` draws as its seed: the same tree can be grown alone."""
    return int(np.random.RandomState(seed).randint(LARGEST_SEED))


def grow_forest(bags: ForestBags, rules: GrowthRules, seeds: Sequence[int], ccp_alpha: float) -> PackedTrees:
    """Return a tree for each seed, from columns that are ranked once; which thread grows it changes nothing."""
    from pellucid.tree.decision_tree.decision_tree_solvers import grow_tree
    from pellucid.tree.decision_tree.rows_in_bins import rank_rows

    data = bags.data
    columns = rank_rows(data)

    def grow(seed: int) -> PackedTrees:
        bag = bags.bag(seed)
        own = replace(rules, min_weight=bag.min_weight)
        tree = grow_tree(columns, data.target, bag.weight, own, bag.seed, bag.rows)
        return pruned(tree, ccp_alpha) if ccp_alpha > 0 else tree

    return join_trees(run_blocks(grow, seeds))
