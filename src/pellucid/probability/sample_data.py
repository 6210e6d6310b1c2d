"""What densities are made from: rows with weights (w repetitions, 0 is absent), and checked parameters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pellucid.core.input_rules import LARGEST, check_sample_weight
from pellucid.core.types import Array, Data


@dataclass(frozen=True, eq=False)
class SampleData:
    """Checked rows without those of weight 0; ``weight`` is None when every row counts once."""

    values: Array
    weight: Array | None

    @property
    def total(self) -> float:
        """Number of rows, repetitions counted."""
        return float(len(self.values) if self.weight is None else self.weight.sum())

    def sum(self, per_row: Array) -> Array:
        """Return the weighted sum of numbers that belong to the rows."""
        return np.asarray(per_row.sum(axis=0) if self.weight is None else self.weight @ per_row)


def scalars(X: Data) -> Array:
    """Return ``X`` as float64 of shape (n_samples,), from that shape or a single column."""
    values = _numbers(X).astype(np.float64, copy=False)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"X must have shape (n_samples,) or one column, got shape {values.shape}. For rows use a vector density."
        )
    return values


def vectors(X: Data, n_features: int | None = None) -> Array:
    """Return ``X`` of shape (n_samples, n_features); float32 stays float32, for code that reads it in blocks."""
    values = _numbers(X)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"X must have rows and columns, got shape {values.shape}. Reshape one row to (1, -1).")
    if n_features is not None and values.shape[1] != n_features:
        raise ValueError(f"X must have {n_features} columns, as the density has, got {values.shape[1]}.")
    return values


def scalar_data(X: Data, sample_weight: Data | None = None) -> SampleData:
    """Return finite numbers to fit to, with their weights."""
    data = counted(scalars(X), sample_weight)
    refuse_nonfinite(data.values)
    return data


def vector_data(X: Data, sample_weight: Data | None = None) -> SampleData:
    """Return finite rows to fit to, with their weights."""
    data = counted(vectors(X).astype(np.float64, copy=False), sample_weight)
    refuse_nonfinite(data.values)
    return data


def counted(values: Array, sample_weight: Data | None) -> SampleData:
    """Return the rows whose weight is above 0; weights that are all 0 are refused."""
    if len(values) == 0:
        raise ValueError("X must have at least one row, got 0.")
    weight = check_sample_weight(sample_weight, values)
    if weight is None:
        return SampleData(values, None)
    keep = weight > 0
    return SampleData(values, weight) if keep.all() else SampleData(values[keep], weight[keep])


def refuse_nonfinite(values: Array) -> None:
    """Refuse NaN, infinity and numbers whose squares overflow, naming the first such row."""
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(values) <= LARGEST)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        got = float(values[tuple(np.argwhere(bad)[0])])
        advice = "Change its units." if np.isfinite(got) else "Drop that row, or give it weight 0."
        raise ValueError(f"X must hold finite numbers of size at most {LARGEST:g}, got {got!r} in row {row}. {advice}")


def refuse_noncounts(values: Array, hint: str = "") -> None:
    """Refuse numbers that are negative or not whole."""
    bad = (values < 0) | (values != np.floor(values))
    if bad.any():
        raise ValueError(f"X must hold counts 0, 1, 2, ..., got {float(values[bad][0])!r}. {hint}".rstrip())


def _numbers(X: Data) -> Array:
    values = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if values.dtype in (np.float64, np.float32):
        return values
    try:
        return values.astype(np.float64, casting="same_kind" if values.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError):
        raise TypeError(f"X must hold real numbers, got {values.dtype}. For labels use Categorical.") from None


class EqualByValue:
    """Base of frozen dataclasses with array fields, declared with ``eq=False``: equal if all fields are."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(_values(self), _values(other), strict=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(np.asarray(value).tobytes() for value in _values(self))))


def set_fields(frozen: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass, in its ``__post_init__``; arrays become read-only."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(frozen, name, value)


def finite_array(name: str, values: Data, ndim: int) -> Array:
    """Return a float64 copy of a parameter, or refuse one of another dimension or with NaN or infinity."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)} and entries, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]!r}.")
    return array


def _values(frozen: Any) -> list[Any]:
    return [getattr(frozen, field.name) for field in fields(frozen)]


SUM_ERROR = 1e-9
"""How far from 1 probabilities may add up: rounding of decimals that were typed."""


def probability_vector(name: str, values: Data) -> Array:
    """Return probabilities of at least 0 that add up to 1, as float64, or refuse."""
    p = finite_array(name, values, 1)
    if p.min() < 0:
        raise ValueError(f"{name} must be at least 0, got {float(p.min())!r}.")
    if abs(p.sum() - 1) > SUM_ERROR:
        raise ValueError(f"{name} must add up to 1, got {float(p.sum())!r}. Divide by the sum.")
    return p


def counts_or_probabilities(name: str, values: Data) -> Array:
    """Return nonnegative numbers of any shape divided by their sum, or refuse."""
    table = np.asarray(values, dtype=np.float64)
    if table.size == 0 or not np.isfinite(table).all() or table.min() < 0:
        raise ValueError(f"{name} must hold finite numbers of at least 0, got {_culprit(table)}.")
    largest = table.max()
    if largest == 0:
        raise ValueError(f"{name} must hold a number above 0, got only zeros.")
    scaled = table / largest  # the sum of large counts may overflow
    return np.asarray(scaled / scaled.sum())


def _culprit(table: Array) -> str:
    if table.size == 0:
        return "an empty array"
    return repr(float(table[~(np.isfinite(table) & (table >= 0))][0]))


ASYMMETRY = 1e-10
"""Difference between mirrored entries, relative to the deviations of their columns, that rounding may leave."""

SINGULAR = 10 * np.finfo(np.float64).eps
"""A correlation matrix with an eigenvalue below this times its size is singular to rounding."""


def covariance_matrix(name: str, values: Data) -> Array:
    """Return a symmetric positive definite matrix as float64, or refuse.

    It is judged as a correlation matrix, so columns in different units do not look singular.
    """
    matrix = finite_array(name, values, 2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, got shape {matrix.shape}.")
    variance = matrix.diagonal()
    if variance.min() <= 0:
        j = int(variance.argmin())
        raise ValueError(f"{name} must have variances above 0, got {variance[j]:g} for column {j}.")
    deviation = np.sqrt(variance)
    correlation = matrix / deviation / deviation[:, None]
    if np.abs(correlation - correlation.T).max() > ASYMMETRY:
        raise ValueError(f"{name} must be symmetric, got entries that differ from their mirror image.")
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    if smallest <= SINGULAR * len(matrix):
        raise ValueError(
            f"{name} must be positive definite, got correlations with eigenvalue {smallest:.2g}: a column is a "
            "combination of others."
        )
    return np.asarray((matrix + matrix.T) / 2)
