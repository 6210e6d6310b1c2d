r"""Claims about eigenvectors that were found: they are some, at right angles to each other, in order and with one sign.

A residual :math:`\|Cv - \lambda v\|` puts an eigenvalue of a symmetric matrix within that distance of :math:`\lambda`
(Weyl). That none was missed is another claim, of ``missed_eigenvalues``.
"""

from __future__ import annotations

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.matrices.missed_eigenvalues import SymmetricMatrix
from pellucid.proofs.rounding import TINY, sum_error


def eigenpair_claims(
    matrix: SymmetricMatrix, values: Array, vectors: Array, *, level: float, noise: float, remedy: str = ""
) -> list[Claim]:
    """Return the claims of residuals, in parts of ``level``, and of right angles; both may be off by ``noise``."""
    with np.errstate(over="ignore", invalid="ignore"):
        rest = (matrix.times(vectors) - vectors * values) / level
        residual = float(np.max(np.sqrt(np.sum(rest**2, axis=0)), initial=0.0))
        product = vectors.T @ vectors - np.eye(len(values))
    return [
        Claim(
            "eigenvectors",
            "longest residual of an eigenvector, in parts of the largest eigenvalue",
            residual,
            noise,
            remedy,
        ),
        Claim(
            "orthogonality",
            "largest product of two eigenvectors, or distance of one from length 1",
            float(np.max(np.abs(product), initial=0.0)),
            max(1e-9, sum_error(len(vectors)), noise),
        ),
    ]


def turned_claim(products: Array, values: Array, *, level: float, rounding: float, stored: float = 0.0) -> Claim:
    r"""Return the claim that no two vectors are turned into each other, from their products :math:`V'CV`.

    A residual in parts of the largest eigenvalue says nothing of vectors of small ones. Their products must vanish up
    to the ``rounding`` of the matrix, in parts of ``level``; vectors that are ``stored`` with a relative error u add
    :math:`u(\lambda_i + \lambda_j)`. Only vectors whose eigenvalues are equal up to that may be turned.
    """
    sizes = np.abs(values)
    allowed = (rounding + stored**2) * level + stored * (sizes[:, None] + sizes)
    with np.errstate(over="ignore", invalid="ignore"):
        beside = np.abs(products - np.diag(np.diagonal(products))) / np.maximum(allowed, TINY)
    statement = "largest product of two vectors by way of the matrix, in units of its rounding: above 1 if turned"
    return Claim("turned", statement, float(np.max(beside, initial=0.0)), 1.0)


def wrong_signs(vectors: Array, nearly: float = 1e-9) -> int:
    """Return how many vectors have a first of their largest entries that is not above 0; equal up to ``nearly``."""
    size = np.abs(vectors)
    is_largest = size >= (1.0 - nearly) * size.max(axis=0, initial=0.0)  # nowhere, where an entry is NaN
    largest = np.where(is_largest, vectors, -np.inf)
    if nearly > 1e-9:  # rounding may have changed which is the first: one of them must be above 0
        return int(np.sum(~(largest.max(axis=0, initial=-np.inf) > 0.0)))
    first = largest[np.argmax(is_largest, axis=0), np.arange(vectors.shape[1])]
    return int(np.sum(~(first > 0.0)))
