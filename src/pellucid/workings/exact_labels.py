"""Labels of a few rows, for workings of classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Data

MAX_CLASSES = 4


def read_labels(y: Data, n: int) -> list[Any]:
    """Return one label for each of ``n`` rows, or refuse."""
    if y is None:
        raise ValueError("y must be given, got None. Pass the class of every row as the third argument.")
    labels = np.asarray(y)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (n,):
        raise ValueError(f"y must have one label for each of the {n} rows of X, got shape {labels.shape}.")
    return list(labels.tolist())


def sorted_classes(labels: list[Any], least: int = 2) -> list[Any]:
    """Return the classes in order, or refuse if there are too few or too many to work by hand."""
    classes = list(np.unique(labels).tolist())
    if not least <= len(classes) <= MAX_CLASSES:
        raise ValueError(
            f"y must have between {least} and {MAX_CLASSES} classes to be worked by hand, got {len(classes)}. "
            "Show the work on some of the classes."
        )
    return classes
