"""Rows in blocks as the training data of a fit: one pass over them, or two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from pellucid.core.input_rules import (
    CLASSES,
    FOLD_MOMENTS,
    MOMENTS,
    NO_TARGET,
    NUMBERS,
    PASSES,
    UNCHECKED,
    VARIANCES,
    InputRules,
    all_finite,
    check_sample_weight,
)
from pellucid.core.labels import encode_labels
from pellucid.core.scale.counted_rows import counted_rows
from pellucid.core.scale.equivalent_rows import equivalent_rows
from pellucid.core.scale.moments import Folds
from pellucid.core.scale.row_blocks import RowBlocks, block_heights, known_heights, refuse_blocks, row_blocks
from pellucid.core.scale.table_in_blocks import TableInBlocks, read_beside
from pellucid.core.user_warnings import warn_user
from pellucid.proofs.training_data import TrainingData

KINDS = {NO_TARGET: "rows", NUMBERS: "numbers", CLASSES: "classes"}
"""What a method's target is -> whose moments are summed."""


MOST_KEPT = 1 << 24
"""Numbers in the moments of all blocks, up to which each block's are kept until it is known where folds end."""


def summarized(estimator: Any, rules: InputRules, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """Return rows with the moments of all blocks, as training data of a fit; refuse a method that needs every row."""
    if rules.blocks == PASSES:  # but not by its method fit
        refuse_blocks(estimator)
    kind, y = summed_kind(estimator, rules, y), as_one_target(rules, y)
    blocks = row_blocks(X, None if kind == "rows" else y, sample_weight)
    look_at_columns(estimator, blocks, reset=True)
    folds = None
    if rules.blocks == FOLD_MOMENTS:
        are_kept = len(blocks) * (blocks.n_features + 1) ** 2 <= MOST_KEPT
        folds = Folds(fold_count(estimator.cv), (known_heights if are_kept else block_heights)(X, blocks))
    if rules.blocks in (MOMENTS, FOLD_MOMENTS, VARIANCES):
        found = equivalent_rows(blocks, "columns" if rules.blocks == VARIANCES else kind, folds)
    else:
        found = counted_rows(blocks, rules.blocks, getattr(rules, "threshold", None))
    check_count(rules, blocks.n_rows)
    if folds and blocks.n_rows < folds.n_folds:
        raise ValueError(f"cv must be at most the number of rows, got {folds.n_folds} for n_samples={blocks.n_rows}.")
    name, weight, kind_of_float = blocks.fingerprint, found.weight, blocks.stored_in
    rows, target = np.ascontiguousarray(found.rows[:, : blocks.n_features]), found.rows[:, blocks.n_features :]
    if kind == "classes":
        classes, codes = encode_labels(found.labels)
        return TrainingData(
            rows, codes, weight, classes, given=(rows, found.labels, weight), name=name, stored_in=kind_of_float
        )
    numbers = None
    if kind == "numbers":
        numbers = target[:, 0] if is_one_target(y, target.shape[1]) else np.ascontiguousarray(target)
    own = found.labels if folds else None
    return TrainingData(
        rows, numbers, weight, given=(rows, numbers, weight), name=name, folds=own, known=found.known,
        stored_in=kind_of_float,
    )  # fmt: skip


def numbers_like(blocks: RowBlocks) -> TrainingData:
    """Return rows with the moments of all, for a method that makes more passes; their targets are numbers."""
    found, p = equivalent_rows(blocks, "numbers"), blocks.n_features
    rows, target = np.ascontiguousarray(found.rows[:, :p]), np.ascontiguousarray(found.rows[:, p:])
    y = target[:, 0] if is_one_target(blocks.given[1], target.shape[1]) else target
    given, name = (rows, y, found.weight), blocks.fingerprint
    return TrainingData(rows, y, found.weight, given=given, name=name, stored_in=blocks.stored_in)


def rows_in_turn(
    estimator: Any, rules: InputRules, X: Any, y: Any, sample_weight: Any, *, reset: bool, classes: Any
) -> TrainingData:
    """Return rows that stay in blocks, with the targets and weights of all of them; refuse rows that are not finite."""
    summed_kind(estimator, rules, y)
    blocks = row_blocks(X, y, sample_weight)
    look_at_columns(estimator, blocks, reset=reset)
    beside = read_beside(blocks, all_finite)
    with_rows = [number for number, height in enumerate(beside.heights) if height]
    wrong = [number for number, is_finite in zip(with_rows, beside.notes, strict=True) if not is_finite]
    if wrong:
        raise ValueError(
            f"X must be finite: Input contains NaN, infinity or values whose squares are, in block {wrong[0]}. Drop "
            "such rows, or fill them."
        )
    check_count(rules, len(beside.y))
    data = rules._with_target(
        estimator,
        TableInBlocks(blocks, beside.heights),
        beside.y,
        check_sample_weight(beside.weight, beside.y),
        classes,
        beside.name,
    )
    return replace(data, given=(X, beside.y, sample_weight))


def check_count(rules: InputRules, n_rows: int) -> None:
    """Refuse fewer rows than the method needs."""
    if n_rows < rules.fewest_rows:
        raise ValueError(
            f"X must have at least {rules.fewest_rows} rows, got n_samples={n_rows}: "
            f"a minimum of {rules.fewest_rows} is required."
        )


def fold_count(cv: Any) -> int:
    """Return how many folds of rows in order a method cross-validates by; refuse other ways to split."""
    from sklearn.model_selection import KFold

    plain = isinstance(cv, KFold) and not cv.shuffle
    if cv is None or plain or (type(cv) is int and cv > 1):
        return 5 if cv is None else int(cv.n_splits if plain else cv)
    raise ValueError(f"cv must be a number of folds of at least 2 for rows in blocks, got {cv!r}.")


def summed_kind(estimator: Any, rules: InputRules, y: Any) -> str:
    """Return whose moments a method needs; refuse one that needs every row."""
    name = type(estimator).__name__
    if not rules.blocks:
        refuse_blocks(estimator)
    kind = KINDS[rules.summed_target]
    if kind != "rows" and y is None:
        raise ValueError(f"y must be given for {name}, which requires y to be passed, but the target y is None.")
    return kind


def as_one_target(rules: InputRules, y: Any) -> Any:
    """Return a target of one column as a vector, with scikit-learn's warning; refuse several where one is taken."""
    n_dimensions = getattr(y, "ndim", 1)
    if rules.several_targets or rules.target == NO_TARGET or not isinstance(n_dimensions, int) or n_dimensions < 2:
        return y
    if tuple(y.shape[1:]) == (1,):
        warn_user(
            "A column-vector y was passed when a 1d array was expected. Pass y.ravel(), of shape (n_samples,).",
            DataConversionWarning,
        )
        return y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]
    if rules.target == UNCHECKED:
        return y
    raise ValueError(
        f"y must be one column, got {y.shape[1:]} for each row: y should be a 1d array. Fit a model to each."
    )


def is_one_target(y: Any, n_targets: int) -> bool:
    """Return whether a target is one column by its own shape, a list of numbers or a series."""
    return n_targets == 1 and getattr(y, "ndim", 1) == 1


def look_at_columns(estimator: Any, blocks: RowBlocks, *, reset: bool) -> None:
    """Set how many columns there are and their names, or refuse others than those of the fit."""
    if not reset:
        known = getattr(estimator, "feature_names_in_", None)
        if blocks.n_features != estimator.n_features_in_:
            raise ValueError(
                f"X must have the {estimator.n_features_in_} columns of the fit, got {blocks.n_features}: "
                f"X has {blocks.n_features} features, but {type(estimator).__name__} is expecting another number."
            )
        if known is not None and blocks.names is not None and tuple(known) != blocks.names:
            raise ValueError(f"X must have the columns {list(known)}, got {list(blocks.names)}. Put them in order.")
        return
    estimator.n_features_in_ = blocks.n_features
    vars(estimator).pop("feature_names_in_", None)
    if blocks.names is not None:
        estimator.feature_names_in_ = np.array(blocks.names, dtype=object)
