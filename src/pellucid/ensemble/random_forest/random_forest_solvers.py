"""Growing a forest: the ranks of the columns are found once, then every tree is a task for one thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pellucid.core.threads import run_blocks
from pellucid.ensemble.random_forest.forest_bags import ForestBags
from pellucid.tree.decision_tree.column_ranks import rank_columns
from pellucid.tree.decision_tree.decision_tree_solvers import grow_tree
from pellucid.tree.decision_tree.growth_rules import GrowthRules
from pellucid.tree.packed_trees import PackedTrees, join_trees
from pellucid.tree.pruning.cost_complexity import pruned


def grow_forest(bags: ForestBags, rules: GrowthRules, seeds: Sequence[int], ccp_alpha: float) -> PackedTrees:
    """Return a tree for each seed; which thread grows it changes nothing."""
    data = bags.data
    columns = rank_columns(data.X, data.n_categories)

    def grow(seed: int) -> PackedTrees:
        bag = bags.bag(seed)
        own = replace(rules, min_weight=bag.min_weight)
        tree = grow_tree(columns, data.target, bag.weight, own, bag.seed, bag.rows)
        return pruned(tree, ccp_alpha) if ccp_alpha > 0 else tree

    return join_trees(run_blocks(grow, seeds))
