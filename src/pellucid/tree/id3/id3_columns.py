"""The columns of an ID3 tree: which are split by threshold, and the categories of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.checks import column_values
from pellucid.core.types import Array

AUTO, NEVER = "auto", "never"
MANY = 20
"""More different whole numbers than these are measurements, not categories."""


@dataclass(frozen=True)
class CodedColumns:
    """Rows as a multiway tree reads them: categories as codes, numbers as they are."""

    codes: Array
    """int32 (n_rows, n_columns): -1 for a category that is not known, and in columns of numbers."""
    values: Array
    """float64 (n_rows, n_columns): 0 in columns of categories."""
    is_numeric: Array
    """bool (n_columns)."""


def numeric_columns(wanted: Any, columns: Sequence[Array], names: Sequence[str] | None) -> Array:
    """Return for each column whether it is split by threshold.

    ``"auto"``: a column of numbers of which one is not whole, or of which there are many. ``"never"``: none. Or the
    columns named.
    """
    if isinstance(wanted, str):
        return np.array([wanted == AUTO and _is_measured(column) for column in columns])
    known = {name: j for j, name in enumerate(names or ())} | {j: j for j in range(len(columns))}
    found = np.zeros(len(columns), dtype=bool)
    for key in wanted:
        if key not in known:
            raise ValueError(f"numeric must name columns of X, got {key!r}. Columns are {list(known)}.")
        if columns[known[key]].dtype.kind == "U":
            raise ValueError(f"numeric must name columns of numbers, got {key!r}, which holds texts. Leave it out.")
        found[known[key]] = True
    return found


def coded_columns(X: Array, categories: Sequence[Array]) -> CodedColumns:
    """Return rows as codes of the categories of each column; a column without categories holds numbers."""
    is_numeric = np.array([len(known) == 0 for known in categories])
    codes, values = np.full(X.shape, -1, dtype=np.int32), np.zeros(X.shape)
    for j, known in enumerate(categories):
        column = column_values(X, j)
        if is_numeric[j]:
            if column.dtype.kind == "U":
                raise ValueError(f"X must hold numbers in column {j} as in the fit, got the text {str(column[0])!r}.")
            values[:, j] = column
        elif column.dtype.kind == known.dtype.kind:  # of texts where training had numbers none is known
            places = np.minimum(np.searchsorted(known, column), len(known) - 1)
            codes[:, j] = np.where(known[places] == column, places, -1)
    return CodedColumns(codes, values, is_numeric)


def _is_measured(column: Array) -> bool:
    """Return whether numbers are measurements, not codes: fractions, or many different ones."""
    if column.dtype.kind != "f":
        return False
    return bool(np.any(column != np.floor(column))) or len(np.unique(column)) > MANY
