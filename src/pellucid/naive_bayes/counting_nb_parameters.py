"""Parameters of naive Bayes on counts as numbers for every column and class, and what they make of the counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.proofs.rounding import ROUNDING

SMALLEST_ALPHA = 1e-10
"""What a smaller alpha is raised to unless it is forced."""


def pseudo_counts(alpha: Any, force_alpha: bool, n_features: int) -> Array:
    """Return the pseudo-count of every column, of shape (n_features,)."""
    values = np.asarray(alpha, dtype=np.float64)
    if values.ndim and values.shape != (n_features,):
        raise ValueError(
            f"alpha must be a number or have {n_features} entries, got shape {values.shape}. "
            "When alpha is an array, it should contains `n_features` numbers."
        )
    if not (values >= 0).all():
        raise ValueError(
            f"alpha must be at least 0, got {float(values.min())!r}. All values in alpha must be greater than 0."
        )
    return np.broadcast_to(values if force_alpha else np.maximum(values, SMALLEST_ALPHA), (n_features,))


def warn_of_raised_alpha(estimator: Any) -> None:
    """Warn if an alpha is too small and not forced."""
    if not estimator.force_alpha and np.min(np.asarray(estimator.alpha, dtype=np.float64)) < SMALLEST_ALPHA:
        warn_user(
            f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged."
        )


def absences(class_count: Array, feature_count: Array) -> Array:
    """Return the weight of zeros of each class and column; what rounding alone may leave is none."""
    zeros = class_count[:, None] - feature_count
    return np.where(zeros > ROUNDING * class_count[:, None], zeros, 0.0)


def category_sizes(X: Array, min_categories: Any) -> Array:
    """Return the number of categories of every column, of shape (n_features,)."""
    sizes = X.max(axis=0).astype(np.int64) + 1
    if min_categories is None:
        return np.asarray(sizes)
    least = np.asarray(min_categories)
    if least.dtype.kind != "i":
        raise ValueError(
            f"min_categories must hold whole numbers, got {least.dtype}. "
            f"'min_categories' should have integral type. Got {least.dtype} instead."
        )
    if least.ndim and least.shape != sizes.shape:
        raise ValueError(
            f"min_categories must be a number or have {len(sizes)} entries, got shape {least.shape}. "
            f"'min_categories' should have shape ({len(sizes)},) when an array-like is provided. "
            f"Got {least.shape} instead."
        )
    return np.asarray(np.maximum(sizes, least))


def log_class_prior(class_count: Array, *, fit_prior: bool, class_prior: Data | None) -> Array:
    """Return the logarithm of the given prior, of the shares of the classes, or of a uniform prior."""
    n_classes = len(class_count)
    if class_prior is not None:
        given = np.asarray(class_prior, dtype=np.float64)
        if given.shape != (n_classes,):
            raise ValueError(
                f"class_prior must have {n_classes} entries, got shape {given.shape}. "
                "Number of priors must match number of classes."
            )
        if not (given >= 0).all():
            raise ValueError(f"class_prior must be at least 0, got {float(given.min())!r}.")
    else:
        given = class_count / class_count.sum() if fit_prior else np.full(n_classes, 1 / n_classes)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(given))
