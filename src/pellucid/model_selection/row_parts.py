"""Parts of the rows that keep groups whole, or the future apart from the past."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from pellucid.core.types import Array, Data

Split = tuple[Array, Array]
"""Positions of the rows to learn from and of those to validate with."""


def group_folds(groups: Data, y: Data, n_splits: int, *, by_class: bool, random_state: Any = 0) -> list[Split]:
    """Return folds that share no group, of about equal size, the classes spread over them where that is asked for."""
    groups = np.asarray(groups)
    n_groups = len(np.unique(groups))
    if n_groups < n_splits:
        raise ValueError(f"groups must be at least {n_splits} different ones for as many parts, got {n_groups}.")
    kind = StratifiedGroupKFold if by_class else GroupKFold
    folds = kind(n_splits, shuffle=True, random_state=random_state)
    return list(folds.split(np.zeros(len(groups)), y, groups))


def forward_folds(order: Data, n_splits: int) -> list[Split]:
    """Return splits that learn from all rows before a moment and validate on the next part; none looks back.

    The rows are cut into one part more than there are splits; rows of the same moment stay in one part.

    Examples
    --------
    >>> for learn, validate in forward_folds([2020, 2021, 2021, 2022, 2023, 2024], 2):
    ...     print(learn, validate)
    [0] [1 2 3]
    [0 1 2 3] [4 5]
    """
    moments = np.unique(np.asarray(order), return_inverse=True)[1]
    in_time = np.sort(moments)
    starts = (np.arange(1, n_splits + 1) * len(moments)) // (n_splits + 1)
    cuts = [*np.unique(in_time[starts]), in_time[-1] + 1]
    pairs = [(start, stop) for start, stop in pairwise(cuts) if start > 0]
    if not pairs:
        raise ValueError(f"order must have moments enough for {n_splits + 1} parts, got {in_time[-1] + 1}.")
    return [
        (np.flatnonzero(moments < start), np.flatnonzero((moments >= start) & (moments < stop)))
        for start, stop in pairs
    ]


def latest_apart(order: Data, share: float) -> Split:
    """Return the rows before the latest part and that part, about a share of all; no moment is in both.

    Examples
    --------
    >>> latest_apart([3, 1, 2, 3, 1], 0.2)
    (array([1, 2, 4]), array([0, 3]))
    """
    moments = np.unique(np.asarray(order), return_inverse=True)[1]
    n_late = max(1, round(share * len(moments)))
    start = max(1, np.sort(moments)[-n_late])
    late = moments >= start
    if not late.any():
        raise ValueError("order must have two moments or more, got one.")
    return np.flatnonzero(~late), np.flatnonzero(late)
