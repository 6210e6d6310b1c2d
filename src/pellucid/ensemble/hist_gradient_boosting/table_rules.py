"""Tables with missing values and categories: words become codes, what is missing NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_array, check_consistent_length
from sklearn.utils.validation import (
    _check_categorical_features,
    _check_feature_names,
    _check_n_features,
    _check_y,
    validate_data,
)

from pellucid.core.input_rules import BINS, FLOATS, NUMBERS, InputRules, check_sample_weight
from pellucid.core.scale.block_data import look_at_columns, summed_kind
from pellucid.core.scale.row_blocks import row_blocks
from pellucid.core.scale.table_in_blocks import TableInBlocks, read_beside, refuse_without_room
from pellucid.core.types import Array, Data
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.bins import GROUP

STATE_BYTES = 56
"""Beside the bins of a row: its target, weight, prediction, derivatives and places."""


@dataclass(frozen=True)
class TableRules(InputRules):
    """Numbers as they are, infinite and missing ones too; categorical columns as the places of their categories.

    A fit finds the categorical columns and their categories and leaves them in ``is_categorical_`` and ``categories_``.
    """

    missing: bool = True
    blocks: str = BINS

    def _options(self, *, reset: bool) -> dict[str, Any]:
        return super()._options(reset=reset) | {"ensure_all_finite": False}

    def _validated(self, estimator: Any, X: Data, y: Data, *, reset: bool) -> tuple[Any, Any]:
        if reset:
            estimator.is_categorical_ = _check_categorical_features(X, estimator.categorical_features)
            estimator.categories_ = None
        if estimator.is_categorical_ is None:
            return super()._validated(estimator, X, y, reset=reset)
        _check_feature_names(estimator, X, reset=reset)
        _check_n_features(estimator, X, reset=reset)
        if reset:
            estimator.categories_ = find_categories(estimator, X)
        y = _check_y(y, y_numeric=self.target == NUMBERS, estimator=estimator)
        check_consistent_length(X, y)
        return encode(X, estimator.categories_), y

    def _check_blocks(
        self, estimator: Any, X: Data, y: Data, sample_weight: Data | None, *, reset: bool, classes: Array | None
    ) -> TrainingData:
        """Return rows that stay in blocks, with the target of all of them; one pass finds it, and the categories."""
        summed_kind(estimator, self, y)
        blocks = row_blocks(X, y, sample_weight)
        look_at_columns(estimator, blocks, reset=reset)
        if reset:
            few = X._meta if hasattr(X, "columns") else np.empty((0, blocks.n_features))
            estimator.is_categorical_ = _check_categorical_features(few, estimator.categorical_features)
            estimator.categories_ = None
        if estimator.is_categorical_ is None:
            beside = read_beside(blocks)
        else:
            as_read = replace(blocks, layout=replace(blocks.layout, prepare=_as_read))
            beside = read_beside(as_read, _categories_in, estimator.is_categorical_)
            if reset:
                estimator.categories_ = _joined_categories(estimator, beside.notes)
            coded = replace(blocks.layout, prepare=partial(encode, categories=estimator.categories_))
            blocks = replace(blocks, layout=coded)
        y = _check_y(beside.y, y_numeric=self.target == NUMBERS, estimator=estimator)
        table = TableInBlocks(blocks, beside.heights)
        refuse_without_room(len(table) * (GROUP * -(-table.shape[1] // GROUP) + STATE_BYTES), "bins and state of rows")
        weight = check_sample_weight(beside.weight, y)
        data = self._with_target(estimator, table, y, weight, classes, beside.name)
        return replace(data, given=(X, y, sample_weight))

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return new rows in the form of the training rows."""
        if estimator.categories_ is None:
            return validate_data(estimator, X, **self._options(reset=False))
        _check_feature_names(estimator, X, reset=False)
        _check_n_features(estimator, X, reset=False)
        return encode(X, estimator.categories_)


def find_categories(estimator: Any, X: Data) -> list[Array | None]:
    """Return the categories of each categorical column, sorted, and None of the others; refuse too many."""
    return _joined_categories(estimator, [_categories_in(X, estimator.is_categorical_)])


def _as_read(X: Data) -> Data:
    """Return a block as it is, words and all."""
    return X


def _categories_in(X: Data, is_categorical: Array) -> list[Array | None]:
    """Return the different values of each categorical column."""
    columns = (column(X, j) if own else None for j, own in enumerate(is_categorical))
    return [None if values is None else np.unique(values[~_is_missing(values)]) for values in columns]


def _joined_categories(estimator: Any, parts: Sequence[list[Array | None]]) -> list[Array | None]:
    """Return the categories of all parts of a table."""
    found: list[Array | None] = []
    for j, seen in enumerate(zip(*parts, strict=True)):
        own = [one for one in seen if one is not None]
        if not own:
            found.append(None)
            continue
        some = [one for one in own if len(one)] or own  # a part where all is missing says nothing of the kind
        categories = np.unique(np.concatenate(some))
        categories = categories.astype(str) if categories.dtype == object else categories
        if len(categories) > estimator.max_bins:
            names = getattr(estimator, "feature_names_in_", None)
            name = f"at index {j}" if names is None else repr(str(names[j]))
            raise ValueError(
                f"Categorical feature {name} is expected to have a cardinality <= {estimator.max_bins} but actually "
                f"has a cardinality of {len(categories)}. Join rare categories."
            )
        found.append(categories)
    return found


def encode(X: Data, categories: list[Array | None]) -> Array:
    """Return a table of numbers: codes of categories, NaN for missing and unknown ones."""
    coded = np.empty((_n_rows(X), len(categories)))
    numbers = [j for j, known in enumerate(categories) if known is None]
    if numbers:
        coded[:, numbers] = check_array(_safe_indexing(X, numbers, axis=1), dtype=FLOATS, ensure_all_finite=False)
    for j, known in enumerate(categories):
        if known is not None:
            coded[:, j] = codes_of(column(X, j), known)
    return coded


def column(X: Data, j: int) -> Array:
    """Return a column as an array of numbers, or of objects."""
    values = np.asarray(_safe_indexing(X, j, axis=1))
    return values.astype(object) if values.dtype.kind in "US" else values


def codes_of(values: Array, known: Array) -> Array:
    """Return the place of each value among the categories, NaN where it has none."""
    missing = _is_missing(values)
    codes = np.full(len(values), np.nan)
    if not len(known) or missing.all():
        return codes
    present = values[~missing]
    if known.dtype.kind == "U":
        from pandas import Index

        places = Index(known.astype(object)).get_indexer(present.astype(str).astype(object))
        codes[~missing] = np.where(places < 0, np.nan, places)
        return codes
    try:
        present = present.astype(known.dtype if known.dtype.kind == "b" else np.float64)
    except (TypeError, ValueError):
        return codes  # words where numbers were
    place = np.minimum(np.searchsorted(known, present), len(known) - 1)
    codes[~missing] = np.where(known[place] == present, place, np.nan)
    return codes


def _is_missing(values: Array) -> Array:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype != object:
        return np.zeros(len(values), dtype=bool)
    from pandas import isna

    return np.asarray(isna(values))


def _n_rows(X: Data) -> int:
    return int(X.shape[0] if hasattr(X, "shape") else len(X))
