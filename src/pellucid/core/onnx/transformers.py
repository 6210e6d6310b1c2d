"""Scikit-learn's transformers that our own pipelines use, as ONNX operators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from pellucid.core.onnx.answers import Rows, joined_columns, transformed
from pellucid.core.onnx.graph import DOUBLE, WORDS, Answers, NotExportableError, Value

MOST_MONOMIALS = 10_000


def standard_scaler(step: Any, X: Rows) -> Answers:
    """Return numbers about their means, in units of their deviations."""
    rows = joined_columns(X)
    rows = rows - step.mean_ if step.with_mean else rows
    return {"variable": rows / step.scale_ if step.with_std else rows}


def simple_imputer(step: Any, X: Rows) -> Answers:
    """Return numbers with gaps filled, and where they were if that is asked for; words with a word for gaps."""
    rows = joined_columns(X)
    if rows.dtype == WORDS:
        return {"variable": rows.equals("").where(np.array([step.statistics_], dtype=object), rows)}
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        raise NotExportableError(f"SimpleImputer must fill nan to be exported, got {step.missing_values!r}.")
    values = step.statistics_.astype(np.float64)
    kept = np.arange(len(values)) if step.keep_empty_features else np.flatnonzero(~np.isnan(values))
    chosen = rows if len(kept) == len(values) else rows.columns(kept)
    parts = [chosen.is_nan().where(np.nan_to_num(values[kept])[None], chosen)]
    if step.indicator_ is not None and len(step.indicator_.features_):
        parts.append(rows.columns(step.indicator_.features_).is_nan().cast(DOUBLE))
    return {"variable": rows.graph.joined(parts)}


def one_hot_encoder(step: Any, X: Rows) -> Answers:
    """Return a column of zeros and ones for each category; one that was never seen has none."""
    if step.drop is not None or step.min_frequency is not None or step.max_categories is not None:
        raise NotExportableError("OneHotEncoder must keep every category to be exported. Leave drop and limits out.")
    rows = joined_columns(X)
    parts = [rows.column(j).places_in(known, -1).equals(np.arange(len(known))) for j, known in _known(step)]
    return {"variable": rows.graph.joined([part.cast(DOUBLE) for part in parts])}


def ordinal_encoder(step: Any, X: Rows) -> Answers:
    """Return the place of each category; what was never seen has the value for it, or none, and so has a gap."""
    if step.min_frequency is not None or step.max_categories is not None:
        raise NotExportableError("OrdinalEncoder must keep every category to be exported. Leave the limits out.")
    rows, parts = joined_columns(X), []
    unknown = np.nan if step.unknown_value is None else float(step.unknown_value)
    for j, known in _known(step):
        column, is_gap = rows.column(j), known != known  # of numbers nan; words have none
        place = column.places_in(known[~is_gap], -1).cast(DOUBLE)
        place = (place < 0.0).where(unknown, place)
        parts.append(column.is_nan().where(float(step.encoded_missing_value), place) if is_gap.any() else place)
    return {"variable": rows.graph.joined(parts)}


def _known(step: Any) -> list[tuple[int, Any]]:
    for known in step.categories_:
        if known.dtype.kind == "O" and not all(isinstance(one, str) for one in known):
            raise NotExportableError(f"{type(step).__name__} must have words or numbers to be exported, without gaps.")
    return list(enumerate(step.categories_))


def function_transformer(step: Any, X: Rows) -> Answers:
    """Return rows as they are, which is what a column transformer makes of columns that pass through."""
    if step.func is not None:
        raise NotExportableError("FunctionTransformer must have no function to be exported. Apply it before.")
    return {"variable": X}  # type: ignore[dict-item]  # a table


def polynomial_features(step: Any, X: Rows) -> Answers:
    """Return the monomials."""
    if step.n_output_features_ > MOST_MONOMIALS:
        raise NotExportableError(
            f"PolynomialFeatures must make at most {MOST_MONOMIALS:,} columns to be exported, got "
            f"{step.n_output_features_:,}: each has operators of its own. Lower the degree."
        )
    rows = joined_columns(X)
    return {"variable": rows.graph.joined([monomial(rows, powers) for powers in step.powers_])}


def monomial(X: Value, powers: Any) -> Value:
    """Return the product of powers of columns, of shape (rows, 1)."""
    factors = [X.column(int(j)) ** float(powers[j]) for j in np.flatnonzero(powers)]
    return reduce(Value.__mul__, factors) if factors else X.column(0) * 0.0 + 1.0


def column_transformer(step: Any, X: Rows) -> Answers:
    """Return what the branches make of their columns, side by side."""
    parts, factors = [], step.transformer_weights or {}
    for name, branch, columns in step.transformers_:
        if branch == "drop" or not _n_columns(columns):
            continue
        part = joined_columns(transformed(branch, _chosen(X, columns, step)))
        parts.append(part * float(factors[name]) if name in factors else part)
    if len({part.dtype for part in parts}) == 1:
        return {"variable": parts[0].graph.joined(parts)}
    sizes = [_n_columns(columns) for _, branch, columns in step.transformers_ if branch != "drop"]
    columns_of = [part.column(j) for part, size in zip(parts, sizes, strict=True) for j in range(size)]
    return {"variable": {str(j): column for j, column in enumerate(columns_of)}}  # type: ignore[dict-item]  # a table


def _n_columns(columns: Any) -> int:
    return 1 if isinstance(columns, (str, int)) else len(columns) if not isinstance(columns, slice) else 1


def _chosen(X: Rows, columns: Any, step: Any) -> Rows:
    listed = [columns] if isinstance(columns, (str, int)) else columns
    if isinstance(X, Mapping):
        return {name: X[name] for name in np.asarray(list(X), dtype=object)[_places(listed, list(X))]}
    return X.columns(_places(listed, list(getattr(step, "feature_names_in_", range(step.n_features_in_)))))


def _places(columns: Any, names: list[Any]) -> Any:
    """Return the places of columns that are given by name, place, mask or slice."""
    if not isinstance(columns, slice) and any(isinstance(one, str) for one in columns):
        return [names.index(one) for one in columns]
    return np.arange(len(names))[columns]


GRAPHS = {
    "StandardScaler": standard_scaler,
    "SimpleImputer": simple_imputer,
    "OneHotEncoder": one_hot_encoder,
    "OrdinalEncoder": ordinal_encoder,
    "PolynomialFeatures": polynomial_features,
    "ColumnTransformer": column_transformer,
    "FunctionTransformer": function_transformer,
}
"""By the name of the class."""
