"""What the k-nearest-neighbor estimators share: storing the training data, and finding neighbors among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.neighbors import BallTree
from sklearn.neighbors import KDTree as SklearnTree
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from pellucid.core.certificate import Certificate
from pellucid.core.checks import check_one_of, check_positive, check_whole
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.finite import check_finite
from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.neighbors.k_neighbors_proof import (
    chosen_queries,
    neighbor_claims,
    partition_claim,
    pruning_claim,
    stored_claim,
)
from pellucid.neighbors.metric import Metric, Similarity, check_keeps_zeros, check_metric, check_sparse_metric
from pellucid.neighbors.nearest_rows import build_tree, nearest_rows, tree_pays, unit_of
from pellucid.neighbors.vote_weights import WEIGHTINGS
from pellucid.numerics.kd_tree import KDTree

ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")


class KNeighbors(CertifiedEstimator):
    """Base of the classifier and the regressor; they add what becomes of the neighbors' targets."""

    effective_metric_: Any
    effective_metric_params_: dict[str, Any]
    n_samples_fit_: int
    n_features_in_: int
    _fit_X: Any  # noqa: N815  (scikit-learn's name)
    _y: Array
    _fit_method: str
    _tree: KDTree | None

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        rate: float = 1.0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.rate = rate

    def kneighbors(
        self, X: Data = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Array, Array] | Array:
        """Return distances and indices of the nearest training rows, each of shape (n_queries, n_neighbors).

        The nearest comes first; of equal distances, the lower index. Without ``X`` the training rows are the queries,
        and no row is its own neighbor.
        """
        distances, indices = self._nearest(X, n_neighbors)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X: Data = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """Return a CSR matrix of shape (n_queries, n_samples_fit) with 1, or the distance, for each neighbor."""
        check_one_of(("connectivity", "distance"), mode=mode)
        distances, indices = self._nearest(X, n_neighbors)
        values = distances if mode == "distance" else np.ones_like(distances)
        ends = np.arange(0, indices.size + 1, indices.shape[1])
        return sparse.csr_matrix((values.ravel(), indices.ravel(), ends), shape=(len(indices), self.n_samples_fit_))

    def nodes_visited(self, X: Data, n_neighbors: int | None = None) -> Array:
        """Return how many nodes of the kd-tree the search for each query looked into, of ``2^(depth + 1) - 1``.

        All others were passed over because their box is farther away than the neighbors already found.
        """
        check_is_fitted(self)
        if self._tree is None:
            raise ValueError(
                f"algorithm must be 'kd_tree' to visit nodes, got {self.algorithm!r}, which ran by brute force."
            )
        queries, k = self._check_queries(X), self._check_count(n_neighbors, self.n_samples_fit_)
        power = Metric(self.effective_metric_, self.effective_metric_params_).power
        assert power is not None  # a tree was built
        return self._tree.query(_dense(queries) * unit_of(self._fit_X, power), k, p=power)[1]

    def _check_parameters(self) -> None:
        check_whole(n_neighbors=self.n_neighbors, leaf_size=self.leaf_size)
        if self.weights is not None and not callable(self.weights):
            check_one_of(("uniform", *WEIGHTINGS), hint="Or pass a function of the distances.", weights=self.weights)
        if self.weights == "distance" and isinstance(self.metric, Similarity):
            raise ValueError("weights must not be 'distance' with a Similarity, got 'distance'. Use 'exponential'.")
        check_positive(rate=self.rate)
        check_one_of(ALGORITHMS, algorithm=self.algorithm)
        if self.p is not None and self.p != np.inf:
            check_positive(p=self.p)
        check_metric(self.metric, self.p, self.metric_params, self.algorithm)

    def _check_training(self, X: Data, y: Data, *, reset: bool) -> tuple[Any, Array]:
        """Return the rows as floats, C-ordered or CSR with its columns in order, and the targets as an array."""
        X, y = self._validated(_given_rows(X), y, reset=reset, multi_output=True, y_numeric=is_regressor(self))
        X = self._check_values(X)
        if self.metric == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X must be square with metric='precomputed', got shape {X.shape}. Pass the distances of all training "
                "rows to each other."
            )
        return X, y.toarray() if sparse.issparse(y) else y

    def _check_queries(self, X: Data) -> Any:
        return self._check_values(self._validated(X, reset=False))

    def _validated(self, *data: Data, **options: Any) -> Any:
        if self.metric == "precomputed":
            check_keeps_zeros(data[0])
        floats = (np.float64, np.float32)
        return validate_data(
            self, *data, accept_sparse="csr", dtype=floats, order="C", ensure_all_finite=self._finite(), **options
        )

    def _check_values(self, X: Any) -> Any:
        if self.metric == "precomputed":
            check_non_negative(X, f"{type(self).__name__} with metric='precomputed'")
        if self._finite() is False:
            check_finite(X, self)
        if not sparse.issparse(X) or X.has_canonical_format:
            return X
        X = X.copy()
        X.sum_duplicates()  # and puts the columns of each row in order
        return X

    def _finite(self) -> bool | str:
        """Return what validation shall look for: nothing where ``check_finite`` does it, on all threads."""
        return "allow-nan" if self.metric == "nan_euclidean" else False

    def _check_count(self, n_neighbors: int | None, available: int) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        check_whole(n_neighbors=k)
        if k > available:
            raise ValueError(
                f"n_neighbors must be at most {available}, got {k}: the model was fitted on "
                f"n_samples = {self.n_samples_fit_} rows. Ask for fewer neighbors."
            )
        return int(k)

    def _store(self, X: Any, y: Array) -> None:
        """Keep the training data, build the tree if one is wanted, and certify both."""
        metric = Metric.resolve(self.metric, self.p, self.metric_params)
        if sparse.issparse(X):
            check_sparse_metric(metric)
        self.effective_metric_, self.effective_metric_params_ = metric.name, dict(metric.params)
        self.n_samples_fit_ = X.shape[0]
        self._fit_X = X
        self._fit_method = self._choose_method(X, metric)
        self._tree = build_tree(X, metric, self.leaf_size) if self._fit_method == "kd_tree" else None
        claims = [stored_claim(self._fit_X, X, self._targets(), y)]
        if self._tree is not None:
            claims.append(partition_claim(self._tree, X, unit_of(X, metric.power)))
        self._conclude(Certificate("exact", tuple(claims)), _tree_trace(self._tree), X, self._y)

    def _choose_method(self, X: Any, metric: Metric) -> str:
        if sparse.issparse(X) or not metric.suits_a_tree or self.algorithm == "brute":
            return "brute"
        if self.algorithm == "auto" and (not tree_pays(X.shape[1], metric) or self.n_neighbors >= len(X) // 2):
            return "brute"
        return "kd_tree"

    def _targets(self) -> Array:
        """Return the stored targets as they were given."""
        raise NotImplementedError

    def _nearest(self, X: Data, n_neighbors: int | None = None) -> tuple[Array, Array]:
        check_is_fitted(self)
        own = X is None
        k = self._check_count(n_neighbors, self.n_samples_fit_ - 1 if own else self.n_samples_fit_)
        queries = self._fit_X if own else self._check_queries(X)
        return self._search(queries, k, np.arange(self.n_samples_fit_) if own else None)

    def _search(self, queries: Any, k: int, excluded: Array | None = None) -> tuple[Array, Array]:
        metric = Metric(self.effective_metric_, self.effective_metric_params_)
        with own_threads():
            return nearest_rows(self._fit_X, queries, k, metric, tree=self._tree, excluded=excluded)

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y = self._check_training(X, y, reset=False)
        metric = Metric.resolve(self.metric, self.p, self.metric_params)
        claims = [stored_claim(self._fit_X, X, self._targets(), y)]
        queries = chosen_queries(X, metric)
        claims += neighbor_claims(
            X, queries, metric, *self._search(queries, min(self.n_neighbors, self.n_samples_fit_))
        )
        if self._tree is not None:
            unit = unit_of(X, metric.power)
            claims.append(partition_claim(self._tree, X, unit))
            claims.append(pruning_claim(self._tree, queries * unit, metric))
        return Certificate("exact", tuple(claims))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        tags.target_tags.multi_output = True
        return tags


def _tree_trace(tree: KDTree | None) -> Trace:
    """Return one row per level of the tree: the widest side of a box there, nodes, and the most rows in one."""
    trace = Trace()
    for level in range(0 if tree is None else tree.depth + 1):
        assert tree is not None
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        sides, sizes = tree.upper[nodes] - tree.lower[nodes], np.diff(tree.ends[nodes])
        trace.add(iteration=level, objective=float(sides.max()), nodes=2**level, rows=int(sizes.max()))
    return trace


def _given_rows(X: Any) -> Any:
    """Return the rows that a tree or neighbors estimator of scikit-learn was made of; data are returned as they are."""
    if isinstance(X, (BallTree, SklearnTree)):
        return np.asarray(X.data)
    return X._fit_X if isinstance(X, BaseEstimator) and hasattr(X, "_fit_X") else X


def _dense(X: Any) -> Array:
    return X.toarray() if sparse.issparse(X) else X
