"""What filters share: columns as codes (few values kept apart, many cut into bins), their data, the selector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.input_rules import CLASSES, MOMENTS, NUMBERS, UNCHECKED, InputRules, check_finite
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.proofs.training_data import TrainingData

LARGE_LIKELIHOOD = 1e3
"""Likelihood ratio from which its distribution counts as normal: the exact one is no longer computed safely."""


class Codes(NamedTuple):
    """The code of each row, and how many codes there are."""

    of_rows: Array
    n_codes: int


def coded_column(values: Array, weight: Array | None, n_bins: int) -> Codes:
    """Return codes in the order of the values: equal values have equal codes.

    With more than ``n_bins`` different values, each goes to the bin in which the middle of its weight lies when all
    weight stands in line from the smallest value to the largest. A row of weight k counts as k rows.
    """
    different, places = np.unique(values, return_inverse=True)
    places = places.reshape(-1)
    if len(different) <= n_bins:
        return Codes(places, len(different))
    share = np.bincount(places, weights=weight, minlength=len(different)).astype(np.float64)
    middle = (np.cumsum(share) - share / 2.0) / share.sum()
    bins = np.minimum((middle * n_bins + 1e-9).astype(np.int64), n_bins - 1)  # a middle on an edge is in the upper bin
    used, renumbered = np.unique(bins, return_inverse=True)
    return Codes(renumbered.reshape(-1)[places], len(used))


def coded_target(y: Array, weight: Array | None, n_bins: int) -> Codes:
    """Return labels as codes; numbers as those of their bins."""
    if y.dtype.kind == "f":
        return coded_column(y, weight, n_bins)
    labels, places = np.unique(y, return_inverse=True)
    return Codes(places.reshape(-1), len(labels))


def coded_columns(X: SparseOrDense, weight: Array | None, n_bins: int) -> list[Codes]:
    """Return the codes of every column."""
    return [coded_column(np.asarray(X[:, j]), weight, n_bins) for j in range(X.shape[1])]


def numbers_of(y: Array) -> Array:
    """Return targets as numbers; of two labels, 0 and 1."""
    if y.dtype.kind == "f":
        return y
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) > 2:
        raise ValueError(
            f"y must be floats or two labels for correlations, got {len(labels)} labels. Use mutual information."
        )
    return np.asarray(codes.reshape(-1), dtype=np.float64)


class FilterSelector(SelectorMixin, CertifiedEstimator):
    """Base of the filters."""

    support_: Array

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@dataclass(frozen=True)
class FilterInput(InputRules):
    """Floats are numbers, everything else are labels."""

    target: str = UNCHECKED

    @property
    def summed_target(self) -> str:
        """Of rows in blocks, numbers where their moments will do, and labels where categories are counted."""
        return NUMBERS if self.blocks == MOMENTS else CLASSES

    def check(self, estimator: Any, X: Data, y: Data = None, *args: Any, **options: Any) -> TrainingData:
        """Return the training data with a target of one dimension."""
        if is_in_blocks(X) and self.blocks and (np.dtype(y.dtype).kind == "f") != (self.blocks == MOMENTS):
            wanted = "floats" if self.blocks == MOMENTS else "labels"
            raise ValueError(f"y must be {wanted} for the {estimator.measure} of rows in blocks, got {y.dtype}.")
        return self.completed(estimator, super().check(estimator, X, y, *args, **options))

    def completed(self, estimator: Any, data: TrainingData, classes: Array | None = None) -> TrainingData:
        """Return the data with a target of one dimension."""
        target = column_or_1d(data.classes[data.y] if len(data.classes) else data.y, warn=True)
        if target.dtype.kind == "f":
            check_finite(target, estimator, "y")
        elif target.dtype.kind == "O":
            target = target.astype(str)
        return replace(data, y=np.asarray(target), classes=np.empty(0))
