"""The smallest eigenvectors of a sparse matrix without negative eigenvalues, by way of its inverse.

The matrix, with a shift that keeps it from being singular, is factored once. The largest eigenvalues of the inverse are
far apart, so that Lanczos needs a few dozen solutions for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, qr
from scipy.sparse.linalg import splu

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.numerics.arpack_eigenvectors import leading_vectors
from pellucid.numerics.leading_eigenvectors import EigenPairs

SYMMETRIC = {"SymmetricMode": True}
"""For a sparse factor of a positive definite matrix, which needs no pivots off the diagonal."""

POLISHED = 3
"""Times that vectors are multiplied by the inverse once more, if they are not yet eigenvectors of the matrix itself."""


def smallest_eigenpairs(matrix: Any, k: int, *, shift: float, goal: float, seed: int = 0) -> EigenPairs:
    """Return the k smallest eigenvalues, rising, with their vectors; residuals aim at ``goal``."""
    n = matrix.shape[0]
    shifted = (matrix + shift * sparse.eye_array(n)).tocsc()
    inverse = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=SYMMETRIC).solve
    vectors, n_steps = leading_vectors(inverse, n, k, seed=seed)
    values, vectors, residual = on_span(matrix, vectors)
    for _ in range(POLISHED):
        if residual <= goal:
            break
        better = on_span(matrix, inverse(vectors))
        if not better[2] < residual:
            break
        values, vectors, residual = better
    trace = Trace()
    trace.add(iteration=n_steps, captured=float(values.sum()), residual=residual)
    return EigenPairs(values, vectors, n_steps, trace)


def on_span(matrix: Any, vectors: Array) -> tuple[Array, Array, float]:
    """Return the eigenpairs of a matrix on the span of some vectors, rising, and the longest residual."""
    basis = qr(vectors, mode="economic")[0]
    image = np.asarray(matrix @ basis)
    small = basis.T @ image
    values, directions = eigh((small + small.T) / 2.0)
    rest = image @ directions - (basis @ directions) * values
    return values, basis @ directions, float(np.sqrt(np.sum(rest**2, axis=0).max()))


def beside(known: Array, vectors: Array) -> Array:
    """Return what the span of some vectors has at right angles to one that it contains, one dimension less.

    Where several eigenvalues are equal to that of the known vector, any mixture of them may have been found.
    """
    toward = vectors.T @ known
    rotation = np.linalg.qr(np.column_stack([toward, np.eye(len(toward))]))[0]
    return np.asarray(vectors @ rotation[:, 1:])
