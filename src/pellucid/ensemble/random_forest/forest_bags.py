"""What each tree of a forest was grown on: rows and weights that follow from its seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.random_state import LARGEST_SEED
from pellucid.core.types import Array
from pellucid.ensemble.bootstrap_samples import drawn_places, n_drawn, room_of, value_order
from pellucid.tree.decision_tree.tree_data import TreeData


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
