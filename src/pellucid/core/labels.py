"""Labels as codes: the sorted classes, and for each row which of them it is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from pellucid.core.types import Array, Data


def encode_labels(y: Array) -> tuple[Array, Array]:
    """Return the different labels, sorted, and the position of each row's label among them.

    Examples
    --------
    >>> encode_labels(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    """
    try:
        classes, codes = _by_table(y) or np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in y.tolist()}))
        raise TypeError(
            f"y must hold labels of one kind, which have an order, got {kinds}: Unknown label type. "
            "Fill what is missing, or drop those rows."
        ) from error
    refuse_no_labels(classes)
    return classes, codes.reshape(-1)


def label_column(y: Data) -> Array:
    """Return the labels of one target in one dimension; scikit-learn's check of what already is takes 150 us."""
    return y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)


def known_codes(y: Array, classes: Array) -> Array:
    """Return the position of each label among the classes; refuse a label that is not there."""
    if (y.dtype.kind in "OSU") != (classes.dtype.kind in "OSU"):
        raise ValueError(f"y must hold labels like {classes[:3].tolist()}, got labels like {y[:3].tolist()}.")
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[codes] != y
    if unknown.any():
        raise ValueError(
            f"y must hold only the labels {classes.tolist()} of the fit, got {np.unique(y[unknown]).tolist()[:5]}."
        )
    return np.asarray(codes)


def rows_by_class(codes: Array, n_classes: int) -> tuple[Array, ...]:
    """Return the row numbers of each class, in order."""
    order = np.argsort(codes.astype(np.uint16) if n_classes < 1 << 16 else codes, kind="stable")  # short: radix sort
    ends = np.cumsum(np.bincount(codes, minlength=n_classes)).tolist()
    return tuple(order[start:end] for start, end in pairwise([0, *ends]))


def refuse_no_labels(classes: Array) -> None:
    """Refuse numbers that are no labels, such as 0.5."""
    # the different labels show it, and they are few; twice each, lest they be taken for a target of regression
    if classes.dtype.kind not in "iub":  # whole numbers are labels
        check_classification_targets(np.repeat(classes, 2))


def _by_table(y: Array) -> tuple[Array, Array] | None:
    """Return the same without sorting, for whole numbers that lie close together; None for others."""
    if y.dtype.kind not in "iu" or not len(y):
        return None
    low = y.min()
    if int(y.max()) - int(low) > 2 * len(y):
        return None
    shifted = (y - low).view(f"u{y.itemsize}").astype(np.intp)  # a difference may need the bit of the sign
    seen = np.bincount(shifted) > 0
    classes = np.flatnonzero(seen).astype(y.dtype) + low  # and wraps back here
    return classes, shifted if len(classes) == len(seen) else (np.cumsum(seen) - 1)[shifted]
