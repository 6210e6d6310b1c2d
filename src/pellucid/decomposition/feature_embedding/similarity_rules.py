"""Rules for a matrix of similarities of all things with each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.input_rules import InputRules
from pellucid.core.types import Data
from pellucid.kernels.functions import check_symmetric
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class SimilarityRules(InputRules):
    """Similarities are square and symmetric; with ``given=False`` the rows are vectors, whose products they are."""

    given: bool = True

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        data = super().check(estimator, X, *args, **options)
        if not self.given:
            return data
        rows, columns = data.X.shape
        if rows != columns:
            raise ValueError(
                f"X must be square if it holds similarities, got shape {(rows, columns)}. Use similarity='cosine' or "
                "'correlation' for rows."
            )
        dense = data.X.toarray() if sparse.issparse(data.X) else data.X
        return replace(data, X=check_symmetric(np.array(dense, dtype=np.float64)))
