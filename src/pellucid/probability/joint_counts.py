"""joint_counts: columns of labels -> the table of how often each combination occurs."""

from __future__ import annotations

from math import prod

import numpy as np

from pellucid.core.input_rules import check_sample_weight
from pellucid.core.types import Array, Data

MOST_CELLS = 10_000_000


def joint_counts(*columns: Data, sample_weight: Data | None = None) -> Array:
    """Return a table with one axis per column and one index per label, labels sorted.

    Parameters
    ----------
    *columns : array-like of shape (n_samples,)
        Labels of any kind that can be sorted.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row stands there.

    Examples
    --------
    >>> joint_counts(["a", "a", "b"], [0, 1, 1])
    array([[1., 1.],
           [0., 1.]])
    """
    if not columns:
        raise ValueError("columns must be given, got none. Pass one array of labels per axis.")
    labels = [np.asarray(column) for column in columns]
    if any(column.ndim != 1 for column in labels) or len({len(column) for column in labels}) > 1:
        raise ValueError(
            f"columns must have one dimension and equal lengths, got shapes {[column.shape for column in labels]}. "
            "Pass the columns of a table as separate arguments."
        )
    if len(labels[0]) == 0:
        raise ValueError("columns must have at least one row, got 0.")
    weight = check_sample_weight(sample_weight, labels[0])
    if weight is not None:
        labels = [column[weight > 0] for column in labels]  # a label that never counts gets no index
        weight = weight[weight > 0]
    found = [np.unique(column, return_inverse=True) for column in labels]
    shape = tuple(len(names) for names, _ in found)
    if prod(shape) > MOST_CELLS:
        raise ValueError(f"columns must have at most {MOST_CELLS} combinations of labels, got {prod(shape)}.")
    cells = np.ravel_multi_index([inverse for _, inverse in found], shape)
    return np.bincount(cells, weights=weight, minlength=prod(shape)).astype(np.float64).reshape(shape)
