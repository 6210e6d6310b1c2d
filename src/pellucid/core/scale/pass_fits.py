"""Fits that iterate over rows in blocks: a pass for each step, by the function that the method's card names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pellucid.core.cards import card_of
from pellucid.core.input_rules import NO_TARGET, PASSES, InputRules
from pellucid.core.scale.block_data import as_one_target, check_count, look_at_columns, summed_kind
from pellucid.core.scale.row_blocks import RowBlocks, row_blocks
from pellucid.core.threads import one_thread
from pellucid.core.watching import Watch, ignore, make_watch


def takes_passes(estimator: Any) -> bool:
    """Return whether the method, with these parameters, goes over rows in blocks again and again."""
    return card_of(type(estimator)).rules_for(estimator).blocks == PASSES


def fit_by_passes(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fit an estimator to rows in blocks."""
    card = card_of(type(estimator))
    card.check_parameters(estimator)
    rules = card.rules_for(estimator)
    blocks = blocks_for(estimator, rules, X, y, sample_weight, reset=True)
    watch: Watch = ignore
    if "n_iter_" in card.attributes:
        watch = make_watch(estimator, X, y, attributes=dict, max_iter=getattr(estimator, "max_iter", None))
    module, function = card.passes.split(":")
    solve = getattr(import_module(module), function)
    with one_thread():  # sums of the rows kept in memory must not depend on how many threads there are here
        found = solve(estimator, blocks, watch)
    check_count(rules, blocks.n_rows)
    return estimator._adopt(found, blocks)


def blocks_for(estimator: Any, rules: InputRules, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> RowBlocks:
    """Return the blocks of rows with what the method takes beside them, their columns looked at."""
    if sample_weight is not None and not rules.weights:
        name = type(estimator).__name__
        raise ValueError(f"sample_weight must be None for {name}, got weights. Repeat the rows.")
    if rules.target != NO_TARGET:
        summed_kind(estimator, rules, y)
    target = None if rules.target == NO_TARGET else as_one_target(rules, y)
    blocks = row_blocks(X, target, sample_weight, with_words=rules.dtypes is None)
    look_at_columns(estimator, blocks, reset=reset)
    return blocks
