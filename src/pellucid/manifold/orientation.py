"""One of all the turned and mirrored maps of the same stress: along its main axes, about its middle."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from pellucid.core.types import Array
from pellucid.numerics.leading_eigenvectors import signed


def oriented(places: Array) -> Array:
    """Return the places about their mean, turned so that columns are at right angles and spread less and less.

    The first of the largest entries of each column is above 0.
    """
    centered = places - places.mean(axis=0)
    centered -= centered.mean(axis=0)
    left, roots, _ = svd(centered, full_matrices=False, check_finite=False)
    found = np.zeros_like(centered)
    found[:, : len(roots)] = signed(left * roots)
    return np.ascontiguousarray(found)
