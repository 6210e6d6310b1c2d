"""Rows in blocks as ``verify`` sees them: one more pass over them, by the code of the proofs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.input_rules import BINS, FOLD_MOMENTS, IN_TURN, MOMENTS, PASSES, VARIANCES, InputRules
from pellucid.core.scale.block_data import fold_count, is_one_target, look_at_columns, summed_kind
from pellucid.core.scale.pass_fits import blocks_for
from pellucid.core.scale.row_blocks import RowBlocks, block_heights, row_blocks
from pellucid.core.types import Array
from pellucid.proofs.blocks import (
    FoldsInOrder,
    add_blocks,
    add_roots,
    add_tallies,
    data_with,
    data_with_tally,
    nearly_dependent,
    root_block,
    sum_block,
    tally_block,
)
from pellucid.proofs.training_data import TrainingData


def data_to_prove(model: Any, rules: InputRules, X: Any, y: Any, sample_weight: Any) -> TrainingData | RowBlocks:
    """Return rows with the sums that the proofs find in all blocks; or the blocks, for a proof that makes passes."""
    if rules.blocks == PASSES:
        return blocks_for(model, rules, X, y, sample_weight, reset=False)
    if rules.blocks in (BINS, IN_TURN):  # the proof reads the blocks itself
        return rules.check(model, X, y, sample_weight, reset=False, classes=getattr(model, "classes_", None))
    kind = summed_kind(model, rules, y)
    blocks = row_blocks(X, None if kind == "rows" else y, sample_weight)
    look_at_columns(model, blocks, reset=False)
    if rules.blocks not in (MOMENTS, FOLD_MOMENTS, VARIANCES):
        tally = blocks.reduce(tally_block, add_tallies, rules.blocks, getattr(rules, "threshold", None))
        labels = getattr(model, "classes_", None)
        data = data_with_tally(tally, rules.blocks, blocks.n_features, labels, blocks.fingerprint)
        return rules.completed(model, data, labels)
    folds = None
    if rules.blocks == FOLD_MOMENTS:
        folds = FoldsInOrder(fold_count(model.cv), block_heights(X, blocks))
    found = blocks.reduce(sum_block, add_blocks, kind, folds)
    classes = model.classes_ if kind == "classes" else None
    means = nearly_dependent(found)
    roots = blocks.reduce(root_block, add_roots, kind, means, folds) if means else None
    one_target = kind == "numbers" and is_one_target(y, 1)
    data = data_with(found, kind, blocks.n_features, classes, one_target, roots, blocks.fingerprint)
    return rules.completed(model, data, classes)


def labels_out_of_order(classes: Any) -> list[Any]:
    """Return the first labels of a target whose order is not that of a fit: what a model says of each stands in it."""
    for own in classes if isinstance(classes, list) else () if classes is None else (classes,):
        if not np.array_equal(np.unique(own), own):
            return list(np.array(own)[:5].tolist())
    return []


def rows_to_prove(density: Any, X: Any, sample_weight: Any) -> tuple[Array, Array | None]:
    """Return rows and weights with the moments that the proofs find in all blocks; refuse a density that needs more."""
    name = type(density).__name__
    if name != "MultivariateGaussian":
        raise ValueError(f"X must be in memory for {name}, got a Dask collection. Take X.compute().")
    blocks = row_blocks(X, None, sample_weight)
    data = data_with(blocks.reduce(sum_block, add_blocks, "rows"), "rows", blocks.n_features, None, False)
    return np.asarray(data.X), data.weight
