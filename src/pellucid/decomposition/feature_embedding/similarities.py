"""Similarities of rows: given ones, cosines, or correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array

GIVEN = "precomputed"
SIMILARITIES = ("cosine", "correlation", GIVEN)


def unit_rows(X: Array, similarity: str) -> Array:
    """Return rows of length 1, about their mean for correlations; rows of zeros stay."""
    rows = np.asarray(X, dtype=np.float64)
    size = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    rows = rows / np.where(size > 0.0, size, 1.0)
    if similarity == "correlation":
        rows = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    is_flat = length <= 1e-13 * np.sqrt(X.shape[1])
    return np.asarray(np.where(is_flat, 0.0, rows / np.where(is_flat, 1.0, length)))


def similarities_of(X: Array, similarity: Any) -> Array:
    """Return the similarities of all rows, float64."""
    if similarity == GIVEN:
        return np.asarray(X, dtype=np.float64)
    rows = unit_rows(X, similarity)
    return np.asarray(rows @ rows.T)


def similarities_to(new: Array, X: Any, similarity: Any) -> Array:
    """Return the similarities of new rows to the known ones; given ones are those."""
    if similarity == GIVEN:
        return np.asarray(new, dtype=np.float64)
    return np.asarray(unit_rows(new, similarity) @ unit_rows(X, similarity).T)
