"""Proof of the singular value decomposition: both sides, their values, and the sum of all squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.decomposition.svd.svd_shape import wanted_shape
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.decomposition.directions import (
    ClaimedDirections,
    GramOfRows,
    direction_claims,
    singular_values_claim,
)
from pellucid.proofs.matrices.missed_eigenvalues import FACTORED
from pellucid.proofs.rounding import TINY, rounding_unit
from pellucid.proofs.sampling import graded
from pellucid.proofs.training_data import TrainingData

LEFT = 1e-10
"""Length of what is left of an image, in parts of the largest singular value."""


def prove_svd(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the matrix."""
    n, d = data.X.shape
    n_left, k, n_right = wanted_shape(parameters, (n, d))
    shapes = fitted.U_.shape, fitted.singular_values_.shape, fitted.components_.shape
    if shapes != ((n, n_left), (k,), (n_right, d)):
        return Certificate("exact", (Claim("shape", f"not {n_left}, {k} and {n_right} vectors", 1.0, 0.0),))
    rows = GramOfRows.of(data, is_centered=False)
    values = fitted.singular_values_.astype(np.float64) * rows.unit
    V = fitted.components_.T.astype(np.float64)
    squares = np.concatenate([values**2, np.zeros(n_right - k)])
    found = ClaimedDirections(squares, V, data.X.dtype)
    return graded(
        "exact",
        (
            *direction_claims(rows, found, is_factored=d <= FACTORED),
            singular_values_claim(fitted, rows, V[:, :k]),
            *_left_claims(rows, fitted.U_.astype(np.float64), values, V, is_whole=k == min(n, d)),
            Claim(
                "energy",
                "distance of energy_ from the sum of all squares, in parts of it",
                abs(fitted.energy_ * rows.unit * rows.unit - rows.trace) / max(rows.trace, TINY),
                found.noise + rows.subnormal_loss(rows.trace),
            ),
        ),
    )


def _left_claims(rows: GramOfRows, U: Array, values: Array, V: Array, *, is_whole: bool) -> list[Claim]:
    """Return the claims about the left vectors: A v = s u, at right angles.

    Vectors found without the others are as right as their squares are: a small value counts for less.
    """
    unit = rounding_unit(rows.data.X.dtype)
    largest = max(float(values.max(initial=0.0)), np.sqrt(rows.least_norm))
    image = np.asarray((rows.data.X * rows.unit) @ V[:, : len(values)], dtype=np.float64)
    rest = np.linalg.norm(image - U[:, : len(values)] * values, axis=0) / largest
    if not is_whole:
        rest = rest * (values / largest)
    return [
        Claim(
            "left vectors",
            "longest residual of A v - s u, in parts of the largest singular value",
            float(rest.max(initial=0.0)),
            max(LEFT, 4 * unit),
        ),
        Claim(
            "left angles",
            "largest product of two left vectors, or distance of one from length 1",
            float(np.abs(U.T @ U - np.eye(U.shape[1])).max(initial=0.0)),
            max(1e-9, 2 * unit),
        ),
    ]
