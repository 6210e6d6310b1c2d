"""The rows that neighbors are looked for among, and those they are looked for: vectors, or a table of distances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.neighbors import BallTree, KDTree
from sklearn.utils.validation import check_non_negative

from pellucid.core.input_rules import NUMBERS, UNCHECKED, InputRules
from pellucid.core.types import Data
from pellucid.neighbors.metric import check_keeps_zeros
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class NeighborRules(InputRules):
    """Rules for rows as floats, C-ordered or CSR with its columns in order; also for precomputed distances."""

    precomputed: bool = False

    def check(self, estimator: Any, X: Data, y: Data = None, *args: Any, **options: Any) -> TrainingData:
        """Return the training data; a tree or neighbors estimator of scikit-learn stands for its rows."""
        X = _given_rows(X)
        if self.precomputed:
            check_keeps_zeros(X)
        data = super().check(estimator, X, y, *args, **options)
        if self.precomputed and data.X.shape[0] != data.X.shape[1]:
            raise ValueError(
                f"X must be square with metric='precomputed', got shape {data.X.shape}. Pass the distances of all "
                "training rows to each other."
            )
        y = data.y.toarray() if sparse.issparse(data.y) else data.y
        self._check_distances(estimator, data.X)
        return replace(data, y=y, given=(data.X, y, None))

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return queries, in the form of the training rows."""
        if self.precomputed:
            check_keeps_zeros(X)
        X = super().check_rows(estimator, X)
        self._check_distances(estimator, X)
        return X

    def _check_distances(self, estimator: Any, X: Any) -> None:
        if self.precomputed:
            check_non_negative(X, f"{type(estimator).__name__} with metric='precomputed'")


def rules_for_neighbors(estimator: Any) -> NeighborRules:
    """Return the rules for the metric of an estimator."""
    return NeighborRules(
        NUMBERS if is_regressor(estimator) else UNCHECKED,
        several_targets=True,
        sparse=("csr",),
        order="C",
        weights=False,
        missing=isinstance(estimator.metric, str) and estimator.metric == "nan_euclidean",
        precomputed=isinstance(estimator.metric, str) and estimator.metric == "precomputed",
    )


def _given_rows(X: Any) -> Any:
    """Return the rows that a tree or neighbors estimator of scikit-learn was made of; data are returned as they are."""
    if isinstance(X, (BallTree, KDTree)):
        return np.asarray(X.data)
    return X._fit_X if isinstance(X, BaseEstimator) and hasattr(X, "_fit_X") else X
