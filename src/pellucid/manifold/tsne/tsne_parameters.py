"""What the parameters of neighbor embedding mean, which data it takes, and where new rows go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.input_rules import InputRules
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.manifold.dissimilarities import is_given
from pellucid.neighbors.metric import Metric
from pellucid.proofs.training_data import TrainingData

SLOWEST = 50.0
"""The least learning rate that 'auto' means, as in scikit-learn."""


def metric_of(parameters: Any) -> Metric:
    """Return the metric with its keywords."""
    return Metric.resolve(parameters.metric, None, parameters.metric_params)


def neighbors_meant(parameters: Any, n_rows: int) -> int:
    """Return how many neighbors of each row have affinities: all others, or three times the perplexity."""
    few = n_rows - 1 if parameters.method == "exact" else int(3.0 * parameters.perplexity + 1.0)
    return min(n_rows - 1, few)


def rate_meant(parameters: Any, n_rows: int) -> float:
    """Return the learning rate of the steps with exaggeration."""
    if not isinstance(parameters.learning_rate, str):
        return float(parameters.learning_rate)
    return max(n_rows / float(parameters.early_exaggeration) / 4.0, SLOWEST)


def later_rate_meant(parameters: Any, n_rows: int) -> float:
    """Return the learning rate after that: 'auto' is larger by the exaggeration that is gone."""
    is_auto = isinstance(parameters.learning_rate, str)
    return max(n_rows / 4.0, SLOWEST) if is_auto else float(parameters.learning_rate)


def check_combination(parameters: Any) -> None:
    """Refuse parameters that have no meaning together."""
    if is_given(parameters.metric) and isinstance(parameters.init, str) and parameters.init == "pca":
        raise ValueError(
            "init must be 'random' or an array for given distances, got 'pca': The parameter init=\"pca\" cannot be "
            'used with metric="precomputed".'
        )
    if parameters.method == "barnes_hut" and parameters.n_components > 3:
        raise ValueError(
            f"n_components must be at most 3 with method='barnes_hut', got {parameters.n_components} ('n_components' "
            "should be inferior to 4 for the barnes_hut algorithm). Use method='exact'."
        )


@dataclass(frozen=True)
class AffinityRules(InputRules):
    """Rules for rows, or for given distances of all rows; of a sparse matrix those that it stores count."""

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        data = super().check(estimator, X, *args, **options)
        n, width = data.X.shape
        if estimator.perplexity >= n:
            raise ValueError(
                f"perplexity must be below the number of rows, got {estimator.perplexity} for {n}: perplexity "
                f"({estimator.perplexity}) must be less than n_samples ({n}). Lower it."
            )
        if not is_given(estimator.metric):
            return data
        if n != width:
            raise ValueError(
                f"X must be square for given distances (X should be a square distance matrix), got shape {(n, width)}."
            )
        if sparse.issparse(data.X) and estimator.method == "exact":
            raise TypeError(
                "X must be dense for given distances with method='exact' (TSNE with method=\"exact\" does not accept "
                "sparse precomputed distance matrix), got a sparse matrix. Use method='barnes_hut'."
            )
        self._refuse_negative(data.X)
        return data

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return new rows, or their distances to all training rows."""
        X = super().check_rows(estimator, X)
        if is_given(estimator.metric):
            self._refuse_negative(X)
        return X

    @staticmethod
    def _refuse_negative(X: SparseOrDense) -> None:
        least = (X.data if sparse.issparse(X) else X).min(initial=0.0)
        if least < 0.0:
            raise ValueError(
                "X must have no negative numbers as distances (with metric='precomputed', X should contain positive "
                f"distances; Negative values in data), got {least:g}."
            )


# Places of new rows on a map that stays as it is: each one for itself goes where its affinities draw it.
#
# .. math:: \min_z \sum_j p_j \log\bigl(1 + \|z - z_j\|^2/\nu\bigr),\qquad
# z \leftarrow \frac{\sum_j p_j s_j z_j}{\sum_j p_j s_j},\quad s_j = \frac{1}{1 + \|z - z_j\|^2/\nu},
#
# a step that never raises the sum: the logarithm lies below its tangents. It begins at the best of the neighbors'
# places, so that a row between two clusters goes to one of them, not into the empty middle.


MOST_STEPS = 100
STILL = 1e-7
"""Movement in one step, in parts of the size of the map, that ends the search."""
BLOCK_ENTRIES = 2**18


def place_by_affinity(places: Array, neighbors: Array, affinities: Array) -> Array:
    """Return the places (q, p) of rows with these neighbors and affinities (q, k) among the known places (n, p)."""
    k = neighbors.shape[1]
    found = np.empty((len(neighbors), places.shape[1]))
    size = max(float(np.ptp(places, axis=0).max(initial=0.0)), np.finfo(float).tiny)

    def work(rows: slice) -> None:
        found[rows] = _placed(places[neighbors[rows]], affinities[rows], size)

    run_blocks(work, split_evenly(len(neighbors), -(-len(neighbors) * k * k // BLOCK_ENTRIES)))
    return found


def _placed(known: Array, affinities: Array, size: float) -> Array:
    """Return the places of some rows, given those of their neighbors (q, k, p)."""
    freedom = max(known.shape[2] - 1, 1)
    square = np.sum((known[:, :, None] - known[:, None]) ** 2, axis=3)
    best = np.argmin(np.einsum("qj,qij->qi", affinities, np.log1p(square / freedom)), axis=1)
    found = known[np.arange(len(known)), best].copy()
    for _ in range(MOST_STEPS):
        pull = affinities / (1.0 + np.sum((found[:, None] - known) ** 2, axis=2) / freedom)
        following = np.einsum("qj,qjp->qp", pull, known) / pull.sum(axis=1, keepdims=True)
        moved = float(np.abs(following - found).max(initial=0.0))
        found = following
        if moved <= STILL * size:
            break
    return found
