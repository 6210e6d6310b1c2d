"""The data of a fit: rows that count, with their weights. A weight of w means w repetitions; weight 0 means absent."""

from __future__ import annotations

from dataclasses import dataclass

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
