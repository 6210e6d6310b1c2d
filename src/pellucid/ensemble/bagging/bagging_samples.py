"""What each member of a bag is fitted on: rows, weights and columns that follow from its seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.ensemble.bootstrap_samples import drawn_places, n_drawn, room_of, value_order
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class BagSamples:
    """Samples of rows and columns, by the seed of a member."""

    data: TrainingData
    bootstrap: bool
    bootstrap_features: bool
    n_draws: int
    n_columns: int

    @classmethod
    def of(cls, parameters: Any, data: TrainingData) -> BagSamples:
        """Return the samples for these parameters; refuse more columns, or rows without replacement, than there are."""
        n, d = data.X.shape
        amount = parameters.max_features
        n_columns = int(amount) if isinstance(amount, Integral) else max(1, int(amount * d))
        if n_columns > d:
            raise ValueError(f"max_features must be at most {d}, got {amount}: max_features must be <= n_features.")
        n_draws = n_drawn(parameters.max_samples, n, data.weight)
        if not parameters.bootstrap and parameters.max_samples is None:
            n_draws = n
        if not parameters.bootstrap and n_draws > n:
            raise ValueError(
                f"max_samples must be at most the {n} rows without replacement, got {parameters.max_samples}. "
                f"(Effective max_samples={n_draws} must be <= n_samples={n} to be able to sample without replacement.)"
            )
        return cls(data, bool(parameters.bootstrap), bool(parameters.bootstrap_features), n_draws, n_columns)

    @cached_property
    def order(self) -> Array:
        """The rows in an order that depends on their values alone, as they come where these are no numbers."""
        X, y = self.data.X, np.asarray(self.data.y)
        values = X.data if sparse.issparse(X) else X
        if values.dtype.kind not in "biuf":
            return np.arange(X.shape[0], dtype=np.int32)
        return value_order(X, y)

    def places(self, seed: int) -> Array:
        """Return the places, in the order of rows, that a member's sample is made of."""
        n = self.data.X.shape[0]
        if self.bootstrap:
            return drawn_places(seed, n, self.n_draws, room_of(self.data.weight, self.order))
        return np.random.RandomState(seed).permutation(n)[: self.n_draws]

    def counts(self, seed: int) -> Array:
        """Return how often each row is in the sample of a member."""
        return np.bincount(self.order[self.places(seed)], minlength=self.data.X.shape[0])

    def weights(self, seed: int) -> Array:
        """Return the weight of each row for a member: how often it was drawn, or its own if nothing is drawn twice."""
        count = self.counts(seed).astype(np.float64)
        return count if self.bootstrap else count * self.data.weights

    def columns(self, seed: int) -> Array:
        """Return the columns of a member."""
        d = self.data.X.shape[1]
        rng = np.random.RandomState([seed, 1])
        if self.bootstrap_features:
            return rng.randint(0, d, self.n_columns)
        return np.arange(d) if self.n_columns == d else np.sort(rng.permutation(d)[: self.n_columns])
