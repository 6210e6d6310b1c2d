"""Columns of categories as codes: which columns they are, what values they have, and tables with the codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from pellucid.core.types import Array, Data

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


def _is_category(dtype: Any) -> bool:
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
