"""Truncated SVD: the directions, and the variances of the projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.types import Array
from pellucid.decomposition.directions_at_fit import certificate_at_fit
from pellucid.decomposition.projection import projected
from pellucid.numerics.design import make_design
from pellucid.numerics.principal_directions import in_ordinary_units, leading_directions
from pellucid.proofs.rounding import TINY
from pellucid.proofs.training_data import TrainingData


def find_topics(data: TrainingData, parameters: Any, seed: int) -> Fit:
    """Return the leading directions of the rows as they are."""
    n, d = data.X.shape
    k = parameters.n_components
    if k > d:
        raise ValueError(f"n_components({k}) must be <= n_features({d}). Ask for fewer components.")
    if parameters.algorithm == "arpack" and k >= min(n, d):
        raise ValueError(
            f"n_components must be below min(n_samples, n_features)={min(n, d)} for 'arpack', got {k}. Ask for fewer "
            "components."
        )
    X, unit = in_ordinary_units(data.X)
    design = make_design(X, fit_intercept=False, sample_weight=data.weight)
    total = float(design.sq_norms().sum())
    k = min(n, k)
    found = leading_directions(design, k, tol=float(parameters.tol), seed=seed)
    variances, of_all, lengths = _variances(X, data.weight, found.vectors[:, :k])
    attributes = {
        "components_": np.ascontiguousarray(found.vectors[:, :k].T, dtype=data.X.dtype),
        "singular_values_": (np.where(found.squares[:k] > 0.0, lengths, 0.0) / unit).astype(data.X.dtype),
        "explained_variance_": (variances / unit / unit).astype(data.X.dtype),
        "explained_variance_ratio_": (variances / max(of_all, TINY)).astype(data.X.dtype),
    }
    certificate = certificate_at_fit(found, k, design, total, data, float(parameters.tol))
    return Fit(attributes, found.trace, certificate=certificate)


def _variances(X: Any, weight: Array | None, vectors: Array) -> tuple[Array, float, Array]:
    """Return the variance of the projections on each direction, the sum of those of the columns, and their lengths.

    A length keeps the digits that its square, an eigenvalue, has lost beside the largest.
    """
    columns = make_design(X, fit_intercept=True, sample_weight=weight)
    n_rows, mean = columns.total_weight, columns.mean
    Z = projected(X, vectors.T, mean).astype(np.float64, copy=False)  # about the mean: an offset costs no digits
    variances = make_design(Z, fit_intercept=True, sample_weight=weight).sq_norms() / n_rows
    lengths = np.sqrt(n_rows * (variances + (mean @ vectors) ** 2))
    return variances, float(columns.sq_norms().sum()) / n_rows, lengths
