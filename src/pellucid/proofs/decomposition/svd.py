r"""Proofs of singular value decompositions, whole or truncated: vectors, values, squares and variances.

The right vectors are leading eigenvectors of :math:`A'A` with the values :math:`\sigma_j^2`, as ``directions`` proves
them. The left ones then have no choice: :math:`Av_j = \sigma_ju_j`, at right angles. By Eckart and Young what the first
q leave out, :math:`\sum_{j > q} \sigma_j^2`, is the least that a matrix of rank q can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.decomposition.directions import (
    ClaimedDirections,
    GramOfRows,
    direction_claims,
    singular_values_claim,
)
from pellucid.proofs.matrices.eigenpairs import FACTORED
from pellucid.proofs.rounding import TINY, rounding_unit
from pellucid.proofs.sampling import graded
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

DEFAULT_TRUNCATED = 2

LEFT = 1e-10
"""Length of what is left of an image, in parts of the largest singular value."""


def prove_svd(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the matrix."""
    n, d = data.X.shape
    is_full = parameters.kind == "full"
    k = min(n, d) if is_full or parameters.n_components is None else parameters.n_components
    if parameters.n_components is None and parameters.kind not in ("full", "compact"):
        k = min(DEFAULT_TRUNCATED, n, d)
    n_left, n_right = (n, d) if is_full else (k, k)
    if wrong := misshapen("exact", fitted, U_=(n, n_left), singular_values_=(k,), components_=(n_right, d)):
        return wrong
    rows = GramOfRows.of(data, is_centered=False)
    values = fitted.singular_values_.astype(np.float64) * rows.unit
    V = fitted.components_.T.astype(np.float64)
    squares = np.concatenate([values**2, np.zeros(n_right - k)])
    found = ClaimedDirections(squares, V, data.dtype)
    return graded(
        "exact",
        (
            *direction_claims(rows, found, is_factored=d <= FACTORED),
            singular_values_claim(fitted, rows, V[:, :k]),
            *_left_claims(rows, fitted.U_.astype(np.float64), values, V, is_whole=k == min(n, d)),
            Claim("energy", "distance of energy_ from the sum of all squares, in parts of it",
                  abs(fitted.energy_ * rows.unit * rows.unit - rows.trace) / max(rows.trace, TINY),
                  found.noise + rows.subnormal_loss(rows.trace)),
        ),
    )  # fmt: skip


def _left_claims(rows: GramOfRows, U: Array, values: Array, V: Array, *, is_whole: bool) -> list[Claim]:
    """Return the claims about the left vectors: A v = s u, at right angles.

    Vectors found without the others are as right as their squares are: a small value counts for less.
    """
    unit = rounding_unit(rows.data.dtype)
    level = max(float(values.max(initial=0.0)), np.sqrt(rows.least_norm))
    image = np.asarray((rows.data.X * rows.unit) @ V[:, : len(values)], dtype=np.float64)
    rest = np.linalg.norm(image - U[:, : len(values)] * values, axis=0) / level
    if not is_whole:
        rest = rest * (values / level)
    return [
        Claim("left vectors", "longest residual of A v - s u, in parts of the largest singular value",
              float(rest.max(initial=0.0)), max(LEFT, 4 * unit)),
        Claim("left angles", "largest product of two left vectors, or distance of one from length 1",
              largest(U.T @ U - np.eye(U.shape[1])), max(1e-9, 2 * unit)),
    ]  # fmt: skip


def prove_truncated_svd(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the rows."""
    n, d = data.X.shape
    k = min(parameters.n_components, n)
    one_each = dict.fromkeys(("singular_values_", "explained_variance_", "explained_variance_ratio_"), (k,))
    if wrong := misshapen("exact", fitted, components_=(k, d), **one_each):
        return wrong
    rows = GramOfRows.of(data, is_centered=False)
    V = fitted.components_.T.astype(np.float64)
    squares = (fitted.singular_values_.astype(np.float64) * rows.unit) ** 2
    found = ClaimedDirections(squares, V, data.dtype, float(parameters.tol))
    return graded(
        "exact",
        (
            *direction_claims(rows, found, is_factored=d <= FACTORED),
            singular_values_claim(fitted, rows, V),
            _variance_claim(fitted, data, V, found.noise),
        ),
    )


def _variance_claim(fitted: Seen, data: TrainingData, V: Any, noise: float) -> Claim:
    """Return the claim that the variances are those of the projections."""
    centered = GramOfRows.of(data, is_centered=True)
    n_rows = float(data.weights.sum())
    variances = np.einsum("ij,ij->j", V, centered.times(V)) / n_rows
    of_all = max(centered.trace / n_rows, TINY)
    apart = max(
        np.abs(fitted.explained_variance_ * centered.unit * centered.unit - variances).max(initial=0.0) / of_all,
        np.abs(fitted.explained_variance_ratio_ - variances / of_all).max(initial=0.0),
    )
    return Claim("variances",
                 "largest distance of a variance from that of the projections, in parts of that of all columns",
                 float(apart), noise + centered.subnormal_loss(of_all))  # fmt: skip


PROVES = {"SVD": prove_svd, "TruncatedSVD": prove_truncated_svd}
