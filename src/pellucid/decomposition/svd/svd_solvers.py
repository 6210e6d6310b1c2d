"""SVD: from a factorization of the matrix, or the leading vectors only."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.types import Array
from pellucid.decomposition.directions_at_fit import certificate_at_fit
from pellucid.decomposition.principal_directions import from_rows, in_ordinary_units, leading_directions
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.design import make_design


def decompose(data: TrainingData, parameters: Any, seed: int) -> Fit:
    """Return singular values and vectors of the matrix."""
    n, d = data.X.shape
    n_left, k, n_right = wanted_shape(parameters, (n, d))
    X, unit = in_ordinary_units(data.X)
    design = make_design(X, fit_intercept=False)
    if parameters.kind in ("compact", "full"):
        found = from_rows(design, whole=parameters.kind == "full")
    else:
        found = leading_directions(design, k, tol=0.0, seed=seed if parameters.kind == "randomized" else 0)
    vectors = found.vectors[:, :n_right]
    values = np.sqrt(found.squares[:k])
    if found.left is None:
        left, values = _left_side(design.times(vectors), values)
    else:
        left = found.left[:, :n_left]
    energy = float(design.sq_norms().sum())
    attributes = {
        "U_": np.ascontiguousarray(left, dtype=data.X.dtype),
        "singular_values_": (values / unit).astype(data.X.dtype),
        "components_": np.ascontiguousarray(vectors.T, dtype=data.X.dtype),
        "energy_": energy / unit / unit,
    }
    return Fit(attributes, found.trace, certificate=certificate_at_fit(found, k, design, energy, data))


def _left_side(image: Array, values: Array) -> tuple[Array, Array]:
    """Return the left vectors that belong to right ones with this image, and the singular values.

    The vectors are at right angles also where the image is 0. Lengths of the image keep digits that squares lose.
    """
    q, r = np.linalg.qr(image)
    lengths = np.where(values > 0.0, np.linalg.norm(image, axis=0), 0.0)
    return np.asarray(q * np.where(r.diagonal() < 0.0, -1.0, 1.0)), lengths


DEFAULT_TRUNCATED = 2


def wanted_shape(parameters: Any, shape: tuple[int, int]) -> tuple[int, int, int]:
    """Return how many left vectors, singular values and right vectors are wanted; refuse more than there are."""
    n, d = shape
    most = min(n, d)
    if parameters.kind == "full":
        return n, most, d
    k = parameters.n_components
    if k is None:
        k = most if parameters.kind == "compact" else min(DEFAULT_TRUNCATED, most)
    if k > most:
        raise ValueError(f"n_components must be at most {most}, the shorter side of X, got {k}. Ask for fewer.")
    return k, k, k
