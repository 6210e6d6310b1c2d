"""Rows that a network does not learn from, so that each epoch can be scored on them."""

from __future__ import annotations

from math import ceil

import numpy as np
from sklearn.model_selection import train_test_split

from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData


def hold_out(data: TrainingData, fraction: float, random: np.random.RandomState) -> tuple[Array, Array | None]:
    """Return the places of the rows to learn from, and of those held out, if any, by class where there are enough."""
    n_rows = data.X.shape[0]
    places, n_held_out = np.arange(n_rows), ceil(fraction * n_rows)
    if not fraction:
        return places, None
    if not 2 <= n_held_out < n_rows:
        raise ValueError(
            f"validation_fraction must leave at least 2 rows to score on and 1 to learn from, got {fraction} of "
            f"{n_rows} rows. Change it, or bring more rows."
        )
    counts = np.bincount(data.y) if len(data.classes) and data.y.ndim == 1 else np.zeros(1)
    by_class = counts.min() > 1 and len(counts) <= min(n_held_out, n_rows - n_held_out)
    stratify = data.y if by_class else None
    kept, held_out = train_test_split(places, test_size=n_held_out, random_state=random, stratify=stratify)
    return kept, held_out
