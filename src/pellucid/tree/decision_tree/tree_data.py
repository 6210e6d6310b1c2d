"""Training data of trees: rows with codes for categories, targets by output, weights with those of classes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y

from pellucid.core.input_rules import BINS, CLASSES, NUMBERS, UNCHECKED, InputRules, check_sample_weight
from pellucid.core.labels import encode_labels, known_codes, label_column
from pellucid.core.linear_classifier import class_weights
from pellucid.core.scale.block_data import look_at_columns, summed_kind
from pellucid.core.scale.row_blocks import is_in_blocks, refuse_blocks, row_blocks
from pellucid.core.scale.table_in_blocks import TableInBlocks, read_beside, refuse_without_room
from pellucid.core.types import Array, ClassWeight, Data
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class TreeTarget:
    """What a node's value is made of: class shares, or numbers."""

    codes: Array
    """int32 (n_rows, n_outputs): the class of each row; of shape (n_rows, 0) for numbers."""
    y: Array
    """float64 (n_rows, n_outputs); of shape (n_rows, 0) for classes."""
    n_classes: tuple[int, ...]
    """Classes of each output; none for numbers."""

    @property
    def n_outputs(self) -> int:
        """Columns of the target."""
        return int(self.codes.shape[1] or self.y.shape[1])

    @property
    def n_values(self) -> int:
        """Numbers that a node has for each output: shares of the classes of the output that has most, or one mean."""
        return max(self.n_classes, default=1)

    @property
    def places(self) -> Array:
        """uint32 (n_outputs, n_rows): the place of the class among all values of a node."""
        return np.ascontiguousarray((self.codes + np.arange(self.codes.shape[1]) * self.n_values).T, dtype=np.uint32)

    def taken(self, rows: Array) -> TreeTarget:
        """Return the target of some rows."""
        return TreeTarget(self.codes[rows], self.y[rows], self.n_classes)


def class_target(codes: Array, n_classes: tuple[int, ...]) -> TreeTarget:
    """Return the target of labels, given as codes, one column for each output."""
    return TreeTarget(codes.astype(np.int32).reshape(len(codes), -1), np.empty((len(codes), 0)), n_classes)


def number_target(y: Array) -> TreeTarget:
    """Return the target of numbers, one column or several."""
    columns = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
    return TreeTarget(np.empty((len(y), 0), np.int32), columns, ())


NOTHING = TreeTarget(np.empty((0, 0), np.int32), np.empty((0, 0)), ())


NOTHING_TO_LEARN = "X must have values to learn from, but contains only NaN."

STATE_BYTES = 120
"""Beside two copies of the bins of a row: its target and weight, its places, and room to sort and to part it."""


class SparseTargetError(TypeError, ValueError):
    """A target that is a sparse matrix: scikit-learn's trees call it the wrong type, its forests a wrong value."""


@dataclass(frozen=True)
class TreeData(TrainingData):
    """Checked rows; ``weight`` is the product of the row's and its class's."""

    target: TreeTarget = NOTHING
    label_sets: tuple[Array, ...] = ()
    """The sorted labels of each output."""
    categories: tuple[Array | None, ...] = ()
    """The sorted values of each column of categories, None for one of numbers; empty where there are no categories."""
    row_weight: Array = field(default_factory=lambda: np.empty(0))
    """The weights of the rows without those of their classes."""

    @property
    def is_category(self) -> Array:
        """uint8: 1 for the columns of categories."""
        if not self.categories:
            return np.zeros(self.X.shape[1], np.uint8)
        return np.array([values is not None for values in self.categories], dtype=np.uint8)

    @property
    def n_categories(self) -> Array:
        """Categories of each column, 0 for one of numbers."""
        counts = [0 if values is None else len(values) for values in self.categories]
        return np.array(counts or [0] * self.X.shape[1], dtype=np.int64)


@dataclass(frozen=True)
class TreeRules(InputRules):
    """Rules for rows of numbers and categories, where NaN means missing, and for one target or several."""

    several_targets: bool = True
    sparse: tuple[str, ...] = ("csr",)
    missing: bool = True
    class_weight: ClassWeight = None
    categorical_features: Any = None
    nonnegative: bool = False
    """Whether the target must be at least 0, and not all 0."""

    def check(
        self, estimator: Any, X: Data, y: Data = None, *args: Any, classes: Array | None = None, **options: Any
    ) -> TreeData:
        """Return the training data, with what the model knows of labels and categories if it is not fitted anew."""
        if sparse.issparse(y):
            raise SparseTargetError("y must be dense, got sparse: sparse multilabel-indicator for y is not supported.")
        if is_in_blocks(X) and not self.blocks:
            refuse_blocks(estimator)
        known = None if options.get("reset", True) else estimator
        categories: tuple[Array | None, ...] = ()
        columns = chosen_columns(X, self.categorical_features)
        if columns.any():
            categories = category_values(X, columns)
            X = with_codes(X, categories if known is None else tuple(known.categories_))
        data = super().check(estimator, X, y, *args, **options)
        if known is None and isinstance(data.X, np.ndarray) and np.isnan(data.X).all():
            raise ValueError(NOTHING_TO_LEARN)
        found = TreeData(
            data.X, data.y, data.weight, kept=data.kept, given=data.given, name=data.name, categories=categories,
            row_weight=data.weights,
        )  # fmt: skip
        return self._with_labels(found, known) if self.target == UNCHECKED else self._with_numbers(found)

    @property
    def summed_target(self) -> str:
        """What a target of rows in blocks is."""
        return CLASSES if self.target == UNCHECKED else self.target

    def _check_blocks(
        self, estimator: Any, X: Data, y: Data, sample_weight: Data | None, *, reset: bool, classes: Array | None
    ) -> TrainingData:
        """Return rows that stay in blocks, with the target and weights of all of them, which one pass finds."""
        summed_kind(estimator, self, y)
        blocks = row_blocks(X, y, sample_weight)
        look_at_columns(estimator, blocks, reset=reset)
        beside = read_beside(blocks, kinds_of_values)
        with_rows = [number for number, height in enumerate(beside.heights) if height]
        for number, (is_infinite, _) in zip(with_rows, beside.notes, strict=True):
            if is_infinite:
                raise ValueError(f"X must be finite or NaN, got infinity in block {number}. Drop such rows.")
        if not any(has_numbers for _, has_numbers in beside.notes):
            raise ValueError(NOTHING_TO_LEARN)
        table = TableInBlocks(blocks, beside.heights)
        refuse_without_room(len(table) * (2.0 * blocks.n_features + STATE_BYTES), "bins and state of rows")
        y = _check_y(beside.y, multi_output=True, y_numeric=self.target == NUMBERS, estimator=estimator)
        weight = check_sample_weight(beside.weight, y)
        data = self._with_target(estimator, table, y, weight, classes, beside.name)
        return replace(data, given=(table, y, weight))

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return new rows in the form of the training rows."""
        known = getattr(estimator, "categories_", None)
        if known:
            X = with_codes(X, tuple(known))
        return super().check_rows(estimator, X)

    def _with_numbers(self, data: TreeData) -> TreeData:
        target = number_target(data.y)
        if self.nonnegative and (target.y.min() < 0 or target.y.sum() <= 0):
            raise ValueError(
                f"y must be at least 0 and not all 0 for the criterion 'poisson', got a least value of "
                f"{target.y.min():g}. (Some value(s) of y are negative, or the Sum of y is not positive.)"
            )
        return replace(data, target=target)

    def _with_labels(self, data: TreeData, known: Any) -> TreeData:
        given = np.asarray(data.given[1])
        if given.dtype.kind not in "iub":  # whole numbers are labels
            check_classification_targets(given)
        given = given if given.ndim == 2 and given.shape[1] > 1 else label_column(given)[:, None]
        labels = [None] * given.shape[1]
        if known is not None:
            labels = list(known.classes_) if isinstance(known.classes_, (list, tuple)) else [known.classes_]
            if len(labels) != given.shape[1]:
                raise ValueError(f"y must have {len(labels)} columns as in the fit, got {given.shape[1]}.")
        kept = slice(None) if data.kept is None else data.kept
        sets, codes = [], []
        for column, classes in zip(given.T, labels, strict=True):
            found, code = encode_labels(column) if classes is None else (classes, None)
            sets.append(found)
            codes.append(code[kept] if code is not None else known_codes(column[kept], found))
        target = class_target(np.column_stack(codes), tuple(len(found) for found in sets))
        data = replace(data, target=target, label_sets=tuple(sets), y=data.y)
        return data if self.class_weight is None else self._with_class_weights(data)

    def _with_class_weights(self, data: TreeData) -> TreeData:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample":
            return data
        if len(data.label_sets) == 1:
            codes = data.target.codes[:, 0]
            single = TrainingData(data.X, codes, data.weight, data.label_sets[0])
            by_row = class_weights(self.class_weight, single)[codes]
        else:
            by_row = compute_sample_weight(self.class_weight, np.asarray(data.y))
        weight = by_row * data.weights
        if weight.all():
            return replace(data, weight=weight)
        kept = np.flatnonzero(weight)
        return replace(
            data, X=data.X[kept], y=data.y[kept], weight=weight[kept], row_weight=data.row_weight[kept],
            kept=data.given_rows(kept), target=data.target.taken(kept),
        )  # fmt: skip


def rules_for_trees(estimator: Any) -> TreeRules:
    """Return the rules for an estimator made of trees."""
    return TreeRules(
        UNCHECKED if isinstance(estimator, ClassifierMixin) else NUMBERS,
        class_weight=getattr(estimator, "class_weight", None),
        categorical_features=estimator.categorical_features,
        nonnegative=estimator.criterion == "poisson",
    )


def rules_for_blocks(estimator: Any) -> TreeRules:
    """Return the same for one that takes rows in blocks too, as their bins, with these parameters."""
    rules = rules_for_trees(estimator)
    needs_values = estimator.criterion == "absolute_error" or getattr(estimator, "splitter", "best") == "random"
    again = any(getattr(estimator, name, False) for name in ("warm_start", "oob_score"))
    if needs_values or again or estimator.categorical_features is not None:
        return rules
    return replace(rules, blocks=BINS)


def kinds_of_values(rows: Array) -> tuple[bool, bool]:
    """Return whether some of the values are infinite, and whether some are not missing."""
    return bool(np.isinf(rows).any()), not bool(np.isnan(rows).all())


UNKNOWN = -1.0
"""The code of a category that the fit has not seen; it goes where missing values go."""


def chosen_columns(X: Data, categorical_features: Any) -> Array:
    """Return which columns hold categories: none, those that a data frame calls so, or those named or marked."""
    if categorical_features is None:
        return np.zeros(1, dtype=bool)
    names = list(X.columns) if hasattr(X, "columns") else None
    n_columns = len(names) if names is not None else np.shape(X)[1]
    chosen = np.zeros(n_columns, dtype=bool)
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            dtypes = list(X.dtypes) if names is not None else []
            return np.array([_is_category(dtype) for dtype in dtypes] or chosen)
        categorical_features = [categorical_features]
    wanted = np.asarray(categorical_features)
    if wanted.dtype == bool:
        if wanted.shape != (n_columns,):
            raise ValueError(f"categorical_features must mark each of the {n_columns} columns, got {wanted.shape}.")
        return wanted
    for entry in wanted.ravel().tolist():
        if isinstance(entry, str) and names is not None and entry in names:
            chosen[names.index(entry)] = True
        elif isinstance(entry, (int, np.integer)) and 0 <= entry < n_columns:
            chosen[entry] = True
        else:
            raise ValueError(
                f"categorical_features must be numbers from 0 to {n_columns - 1} or names of columns, got {entry!r}."
            )
    if sparse.issparse(X) and chosen.any():
        raise ValueError("categorical_features must be None for sparse X. Give a dense array.")
    return chosen


def category_values(X: Data, columns: Array) -> tuple[Array | None, ...]:
    """Return the sorted values of the columns of categories, None for the others."""
    return tuple(_sorted_values(_column(X, j)) if chosen else None for j, chosen in enumerate(columns))


def with_codes(X: Data, categories: tuple[Array | None, ...]) -> Any:
    """Return the table with codes for categories, as numbers: NaN stays missing, what is not known is -1."""
    names = list(X.columns) if hasattr(X, "columns") else None
    if names is None:
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(categories):
            return X  # the check of the rows says what is wrong
    elif len(names) != len(categories):
        return X
    table = np.column_stack([_codes(_column(X, j), values) for j, values in enumerate(categories)])
    return table if names is None else pd.DataFrame(table, columns=names)


def _is_category(dtype: np.dtype) -> bool:
    return "categ" in str(dtype).lower() or "enum" in str(dtype).lower()


def _column(X: Data, j: int) -> Array:
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, j])
    return np.asarray(X[:, j] if not hasattr(X, "columns") else X[X.columns[j]])


def _sorted_values(column: Array) -> Array:
    known = column[~pd.isna(column)]
    if known.dtype == object:
        if all(isinstance(value, str) for value in known):
            return np.array(sorted(set(known)), dtype=object)
        known = known.astype(np.float64)
    return np.unique(known)


def _codes(column: Array, values: Array | None) -> Array:
    if values is None:
        return column.astype(np.float64)
    missing = pd.isna(column)
    texts = values.dtype.kind in "OSU"
    codes = np.full(len(column), np.nan)
    if texts:
        place = {value: code for code, value in enumerate(values.tolist())}
        codes[~missing] = [place.get(value, UNKNOWN) for value in column[~missing].tolist()]
        return codes
    known = column[~missing].astype(values.dtype if values.dtype.kind == "f" else np.float64)
    at = np.minimum(np.searchsorted(values, known), len(values) - 1)
    codes[~missing] = np.where(values[at] == known, at, UNKNOWN)
    return codes
