"""What the k-nearest-neighbor estimators share: storing the training data, and finding neighbors among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import sklearn.neighbors
from scipy import sparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_is_fitted, check_non_negative

from pellucid.core.arrays import is_foreign, is_on_device, on_host
from pellucid.core.checks import check_one_of, check_whole
from pellucid.core.device.device_rows import refuse_device
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.fit import Fit
from pellucid.core.input_rules import CLASSES, NUMBERS, PASSES, UNCHECKED, InputRules
from pellucid.core.scale.lazy_answers import answers_itself, with_numpy
from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, MetricLike, SparseOrDense
from pellucid.neighbors.metric import Metric, check_keeps_zeros, check_sparse_metric, unit_of
from pellucid.neighbors.nearest_rows import build_tree, nearest_rows, tree_pays
from pellucid.neighbors.rows_in_blocks import Neighbors, StoredBlocks, answer_blocks, search_blocks
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.kd_tree import KDTree


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
        metric: MetricLike = "minkowski",
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

    @answers_itself
    def kneighbors(
        self, X: Data = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Array, Array] | Array:
        """Return distances and indices of the nearest training rows, each of shape (n_queries, n_neighbors).

        The nearest comes first; of equal distances, the lower index. Without ``X`` the training rows are the queries,
        and no row is its own neighbor.
        """
        if is_on_device(X):
            from pellucid.core.device.device_fits import answer_there

            return answer_there(self, "kneighbors", X, n_neighbors, return_distance)  # type: ignore[no-any-return]
        found = (self if X is None else with_numpy(self))._nearest(X, n_neighbors)
        return (found.distances, found.indices) if return_distance else found.indices

    @answers_itself
    def kneighbors_graph(self, X: Data = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """Return a CSR matrix of shape (n_queries, n_samples_fit) with 1, or the distance, for each neighbor."""
        check_one_of(("connectivity", "distance"), mode=mode)
        found = self._nearest(X, n_neighbors)
        distances, indices = on_host(found.distances), on_host(found.indices)
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

    def _check_queries(self, X: Data) -> Any:
        if is_on_device(X):
            refuse_device(f"this answer of {type(self).__name__}")
        return rules_for_neighbors(self).check_rows(self, X)

    def _check_count(self, n_neighbors: int | None, available: int) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        check_whole(n_neighbors=k)
        if k > available:
            raise ValueError(
                f"n_neighbors must be at most {available}, got {k}: the model was fitted on "
                f"n_samples = {self.n_samples_fit_} rows. Ask for fewer neighbors."
            )
        return int(k)

    def _stored(self, data: TrainingData, **targets: Any) -> Fit:
        """Return the training data and, if one is wanted, their tree."""
        X, metric = data.X, Metric.resolve(self.metric, self.p, self.metric_params)
        if sparse.issparse(X):
            check_sparse_metric(metric)
        method = self._choose_method(X, metric)
        tree = build_tree(X, metric, self.leaf_size) if method == "kd_tree" else None
        attributes = {
            **targets,
            "effective_metric_": metric.name,
            "effective_metric_params_": dict(metric.params),
            "n_samples_fit_": X.shape[0],
            "_fit_X": X,
            "_fit_method": method,
            "_tree": tree,
        }
        return Fit(attributes, later={"trace_": partial(_tree_trace, tree)})

    def _choose_method(self, X: SparseOrDense, metric: Metric) -> str:
        if sparse.issparse(X) or not metric.suits_a_tree or self.algorithm == "brute":
            return "brute"
        if self.algorithm == "auto" and (not tree_pays(X.shape[1], metric) or self.n_neighbors >= len(X) // 2):
            return "brute"
        return "kd_tree"

    def _nearest(self, X: Data, n_neighbors: int | None = None) -> Neighbors:
        check_is_fitted(self)
        own = X is None
        if own and isinstance(self._fit_X, StoredBlocks):
            raise ValueError("X must be given to a model of rows in blocks, got None. Ask about some rows of them.")
        k = self._check_count(n_neighbors, self.n_samples_fit_ - 1 if own else self.n_samples_fit_)
        queries = self._fit_X if own else self._check_queries(X)
        return self._search(queries, k, np.arange(self.n_samples_fit_) if own else None)

    def _search(self, queries: Any, k: int, excluded: Array | None = None) -> Neighbors:
        metric = Metric(self.effective_metric_, self.effective_metric_params_)
        if is_foreign(queries):
            from pellucid.neighbors.nearest_on_device import nearest_on_device

            distances, indices = nearest_on_device(self._fit_X, queries, k, metric, own=excluded is not None)
            return Neighbors(distances, indices, self._y[indices])
        with own_threads():
            if isinstance(self._fit_X, StoredBlocks):
                return search_blocks(self, _dense(queries), k)
            distances, indices = nearest_rows(self._fit_X, queries, k, metric, tree=self._tree, excluded=excluded)
        return Neighbors(distances, indices, self._y[indices])

    def _answers_in_blocks(self, name: str, X: Any) -> Any:
        """Return lazy answers about queries in blocks, where the training rows are in blocks too; else None."""
        return answer_blocks(self, name, X) if isinstance(vars(self).get("_fit_X"), StoredBlocks) else None

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
        trace.add(iteration=level, widest=float(sides.max()), nodes=2**level, rows=int(sizes.max()))
    return trace


def _dense(X: SparseOrDense) -> Array:
    return X.toarray() if sparse.issparse(X) else X


@dataclass(frozen=True)
class KNeighborRules(InputRules):
    """Rules for rows as floats, C-ordered or CSR with its columns in order; also for precomputed distances."""

    precomputed: bool = False

    @property
    def summed_target(self) -> str:
        """What a target of rows in blocks is."""
        return CLASSES if self.target == UNCHECKED else self.target

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

    def _check_distances(self, estimator: Any, X: SparseOrDense) -> None:
        if self.precomputed:
            check_non_negative(X, f"{type(estimator).__name__} with metric='precomputed'")


def rules_for_neighbors(estimator: Any) -> KNeighborRules:
    """Return the rules for the metric of an estimator; rows in blocks are compared by sums of powers of differences."""
    name = estimator.metric
    is_sum = isinstance(name, str) and Metric.resolve(name, estimator.p, estimator.metric_params).power is not None
    return KNeighborRules(
        NUMBERS if is_regressor(estimator) else UNCHECKED,
        several_targets=True,
        sparse=("csr",),
        order="C",
        weights=False,
        missing=isinstance(estimator.metric, str) and estimator.metric == "nan_euclidean",
        precomputed=isinstance(estimator.metric, str) and estimator.metric == "precomputed",
        blocks=PASSES if is_sum else "",
        reads_again=True,
    )


def _given_rows(X: SparseOrDense) -> Any:
    """Return the rows that a tree or neighbors estimator of scikit-learn was made of; data are returned as they are."""
    if isinstance(X, (sklearn.neighbors.BallTree, sklearn.neighbors.KDTree)):
        return np.asarray(X.data)
    return X._fit_X if isinstance(X, BaseEstimator) and hasattr(X, "_fit_X") else X
