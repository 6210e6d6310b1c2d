"""Sample weights of a loss that is a weighted mean."""

from __future__ import annotations

from pellucid.core.types import Array


def relative_weights(weight: Array | None) -> Array | None:
    """Return the weights scaled to mean 1: only their ratios matter, as the loss is a weighted mean."""
    if weight is None:
        return None
    total = weight.sum()
    if total == 0.0:
        raise ValueError("sample_weight must be above 0 for a row of each training fold, got all 0. Shuffle the folds.")
    return weight * (len(weight) / total)
