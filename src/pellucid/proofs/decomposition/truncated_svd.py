"""Proof of truncated SVD: directions, singular values and variances, from the data alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.decomposition.directions import (
    ClaimedDirections,
    GramOfRows,
    direction_claims,
    singular_values_claim,
)
from pellucid.proofs.matrices.missed_eigenvalues import FACTORED
from pellucid.proofs.rounding import TINY
from pellucid.proofs.sampling import graded
from pellucid.proofs.training_data import TrainingData


def prove_truncated_svd(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the rows."""
    n, d = data.X.shape
    k = min(parameters.n_components, n)
    one_each = (fitted.singular_values_, fitted.explained_variance_, fitted.explained_variance_ratio_)
    if fitted.components_.shape != (k, d) or any(values.shape != (k,) for values in one_each):
        return Certificate("exact", (Claim("shape", f"not {k} components of {d} columns", 1.0, 0.0),))
    rows = GramOfRows.of(data, is_centered=False)
    V = fitted.components_.T.astype(np.float64)
    squares = (fitted.singular_values_.astype(np.float64) * rows.unit) ** 2
    found = ClaimedDirections(squares, V, data.X.dtype, float(parameters.tol))
    is_factored = d <= FACTORED
    return graded(
        "exact",
        (
            *direction_claims(rows, found, is_factored=is_factored),
            singular_values_claim(fitted, rows, V),
            _variance_claim(fitted, data, V, found.noise),
        ),
    )


def _variance_claim(fitted: Any, data: TrainingData, V: Any, noise: float) -> Claim:
    """Return the claim that the variances are those of the projections."""
    centered = GramOfRows.of(data, is_centered=True)
    n_rows = float(data.weights.sum())
    variances = np.einsum("ij,ij->j", V, centered.times(V)) / n_rows
    of_all = max(centered.trace / n_rows, TINY)
    apart = max(
        np.abs(fitted.explained_variance_ * centered.unit * centered.unit - variances).max(initial=0.0) / of_all,
        np.abs(fitted.explained_variance_ratio_ - variances / of_all).max(initial=0.0),
    )
    return Claim(
        "variances",
        "largest distance of a variance from that of the projections, in parts of that of all columns",
        float(apart),
        noise + centered.subnormal_loss(of_all),
    )
