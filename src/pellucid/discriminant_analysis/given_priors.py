"""Prior probabilities of the classes: the user's, or the shares in the data."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user

SUM_ERROR = 1e-5


def class_priors(priors: Data | None, counts: Array) -> Array:
    """Return the priors, which add up to 1."""
    if priors is None:
        return counts / counts.sum()
    given = np.array(priors, dtype=np.float64)  # a copy: the user may write into theirs
    if given.shape != counts.shape:
        raise ValueError(f"priors must have one entry per class ({len(counts)}), got shape {given.shape}.")
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(f"priors must be non-negative, got {given.tolist()}.")
    if abs(given.sum() - 1.0) > SUM_ERROR:
        warn_user(f"The priors do not sum to 1 but to {given.sum():g}. Renormalizing")
        given = given / given.sum()
    return given
