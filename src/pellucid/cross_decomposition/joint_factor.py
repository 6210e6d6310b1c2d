r"""Two views of the same rows as two blocks of columns of one small matrix F, with F'F the moments of all columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

CUT = 1e6 * EPSILON
"""Singular values below this part of the largest count as 0, as in scikit-learn."""


class Whitened(NamedTuple):
    """One block of columns of F as U S V', without what counts as 0."""

    scores: Array
    """U: an orthonormal basis of all scores of the view."""
    singular: Array
    directions: Array
    """V: an orthonormal basis of the directions that matter."""

    @property
    def condition(self) -> float:
        """The largest singular value in units of the smallest that was kept."""
        return float(self.singular[0] / self.singular[-1]) if len(self.singular) else 1.0


def whitened(block: Array, cut: float) -> Whitened:
    """Return the block without directions whose singular value is below ``cut`` times the largest."""
    left, singular, right = np.linalg.svd(block, full_matrices=False)
    kept = int(np.sum(singular > cut * singular.max(initial=0.0)))
    return Whitened(left[:, :kept], singular[:kept], right[:kept].T)


def cut_for(mean: Array, scale: Array) -> float:
    """Return the part of the largest singular value that counts as 0; more where an offset has eaten digits."""
    return max(CUT, 64 * EPSILON * float(np.max(np.abs(mean) / scale, initial=0.0)))


def ridge_rows(rows: Any, alpha: float) -> Array:
    """Return rows with those added that a ridge stands for."""
    p = rows.shape[1]
    return np.vstack([rows, np.sqrt(alpha) * np.eye(p)]) if alpha > 0.0 else np.asarray(rows)
