"""Labels as positions: the sorted classes, and for each row which of them it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from pellucid.core.types import Array, Data


def encode_labels(y: Array) -> tuple[Array, Array]:
    """Return the different labels, sorted, and the position of each row's label among them.

    Examples
    --------
    >>> encode_labels(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    """
    classes, codes = _by_table(y) if _has_narrow_range(y) else np.unique(y, return_inverse=True)
    _refuse_numbers_that_are_no_labels(classes)
    return classes, codes.reshape(-1)


def encode_known_labels(y: Array, classes: Array) -> Array:
    """Return the position of each label among the classes; refuse a label that is not there."""
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = classes[places] != y
    if unknown.any():
        raise ValueError(
            f"y must hold only the classes {classes.tolist()}, got {np.unique(y[unknown]).tolist()}. "
            "The target label(s) in y do not exist in the initial classes: name all in the first call of partial_fit."
        )
    return places


def check_classes(estimator: Any, classes: Data | None) -> Array:
    """Return the classes of a partial fit: named in its first call, and the same ever after."""
    known: Array | None = getattr(estimator, "classes_", None)
    if known is None and classes is None:
        raise ValueError(
            "classes must be given in the first call of partial_fit, got None. "
            "(classes must be passed on the first call to partial_fit.)"
        )
    if classes is None:
        assert known is not None
        return known
    named = np.unique(np.asarray(classes))
    _refuse_numbers_that_are_no_labels(named)
    if known is not None and not np.array_equal(named, known):
        raise ValueError(
            f"classes must stay {known.tolist()}, got {named.tolist()}, which "
            "is not the same as on last call to partial_fit. Fit a new estimator."
        )
    return named


def numeric_labels(y: Array, codes: Array) -> Array:
    """Return the labels if they are numbers, their positions otherwise: what a fingerprint can be taken of."""
    return y if y.dtype.kind in "biuf" else codes


def _refuse_numbers_that_are_no_labels(classes: Array) -> None:
    # the different labels show it, and they are few; twice each, lest they be taken for a target of regression
    check_classification_targets(np.repeat(classes, 2))


def _has_narrow_range(y: Array) -> bool:
    return y.dtype.kind in "iu" and len(y) > 0 and int(y.max()) - int(y.min()) <= 2 * len(y)


def _by_table(y: Array) -> tuple[Array, Array]:
    """Return the same without sorting, for whole numbers that lie close together."""
    low = y.min()
    shifted = (y - low).view(f"u{y.itemsize}").astype(np.intp)  # a difference may need the bit of the sign
    seen = np.bincount(shifted) > 0
    classes = np.flatnonzero(seen).astype(y.dtype) + low  # and wraps back here
    return classes, (np.cumsum(seen) - 1)[shifted]
