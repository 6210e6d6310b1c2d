"""What the parameters of boosting mean: seeds, held-out rows and sets of features."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.types import Array, RandomState

MANY_ROWS = 10_000
"""Rows above which ``early_stopping='auto'`` stops early, and the most that a scorer is asked about."""

KEY_ROWS = 1024
"""Nodes with keys of their own; of more nodes, some share them."""

NO_SPLIT, OF_TRAINING, GIVEN = "none", "split", "given"
"""Where the rows that early stopping looks at come from."""


def most_leaves(n: int, min_samples_leaf: int, max_leaf_nodes: int | None, max_depth: int | None) -> int:
    """Return how many leaves a tree on so many rows can have."""
    most = max(1, n // min_samples_leaf)
    if max_leaf_nodes is not None:
        most = min(most, max_leaf_nodes)
    return most if max_depth is None or max_depth > 30 else min(most, 1 << max_depth)


def draw_keys(rng: np.random.Generator, max_features: float, n_leaves: int, p: int) -> Array:
    """Draw the keys of a tree: a split looks at the share ``max_features`` of the features, those of lowest keys."""
    return np.empty((0, p)) if max_features == 1.0 else rng.random((min(KEY_ROWS, 2 * n_leaves + 1), p))


def draw_seeds(random_state: RandomState) -> Array:
    """Return the seeds of a fit: for the rows held out and sampled, and for the features of a split."""
    rng = check_random_state(random_state)
    return np.array([rng.randint(np.iinfo(np.uint32).max, dtype="u8") for _ in range(2)], dtype=np.int64)


def part_rows(y: Array, share: Any, seed: int, *, is_stratified: bool) -> tuple[Array, Array]:
    """Return the numbers of the rows to train on and of those held out."""
    from sklearn.model_selection import train_test_split

    numbers = np.arange(len(y))
    kept, held = train_test_split(numbers, test_size=share, stratify=y if is_stratified else None, random_state=seed)
    return kept, held


def interaction_sets(given: Any, p: int) -> Array:
    """Return which features each set has, bool (n_sets, p); features of no set form one more. None: no sets."""
    if given is None:
        return np.zeros((0, p), dtype=bool)
    if isinstance(given, str):
        groups: Any = [[j] for j in range(p)] if given == "no_interactions" else combinations(range(p), 2)
    else:
        groups = given
    try:
        sets = [set(group) for group in groups]
    except TypeError:
        raise ValueError(f"Interaction constraints must be a sequence of tuples or lists, got: {given!r}.") from None
    for group in sets:
        if not all(isinstance(j, Integral) and 0 <= int(j) < p for j in group):
            raise ValueError(
                f"Interaction constraints must consist of integer indices in [0, n_features - 1] = [0, {p - 1}], "
                f"specifying the position of features, got invalid indices: {group!r}"
            )
    rest = set(range(p)).difference(*sets)
    sets += [rest] if rest else []
    return np.array([[j in group for j in range(p)] for group in sets], dtype=bool).reshape(len(sets), p)
