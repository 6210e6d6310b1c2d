"""Rules for training data that are rows, or the products of all rows with each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scipy import sparse

from pellucid.core.input_rules import InputRules
from pellucid.core.types import Data
from pellucid.kernels.functions import check_symmetric, check_symmetric_entries
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class ProductRules(InputRules):
    """Rules for rows, or for the products of all rows with each other: those are square and symmetric.

    A row of weight 0 is gone, but not its column: ``data.kept`` numbers the columns of the rows that are left.
    """

    products: bool = False
    symmetric: bool = True
    """Whether given products must be; False where only what is left after centering must be."""

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        data = super().check(estimator, X, *args, **options)
        if not self.products:
            return data
        rows, columns = data.given[0].shape
        if rows != columns:
            raise ValueError(
                "X must be square if it holds the products of the rows (precomputed kernel matrix must be a square "
                f"matrix), got shape {(rows, columns)}."
            )
        if not self.symmetric:
            return data
        if sparse.issparse(data.given[0]):
            check_symmetric_entries(data.given[0])
            return data
        whole = check_symmetric(data.given[0])
        return data if whole is data.given[0] else replace(data, X=whole if data.kept is None else whole[data.kept])
