"""What KMeans and MiniBatchKMeans do alike: a start, and answers from centers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.cluster.kmeans.center_answers import assign_rows, center_distances, score_rows
from pellucid.cluster.kmeans.kmeans_starts import STARTS
from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.input_rules import FLOATS, check_sample_weight
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.proofs.training_data import TrainingData


class CenteredClusters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, CertifiedEstimator):
    """Clusters around means: rows belong to their nearest center."""

    _starts_of_random_kinds: ClassVar[int] = 10
    """Starts that ``n_init='auto'`` makes of those that are drawn without a look at distances."""

    n_clusters: int
    init: Any
    n_init: Any
    cluster_centers_: Array
    labels_: Array
    inertia_: float

    def _check_rows(self, X: Data, y: Data, sample_weight: Data | None, **options: Any) -> TrainingData:
        data = self._check(X, y, sample_weight, **options)
        self._check_count(data.X.shape[0])
        return data

    def _check_count(self, n_rows: int) -> None:
        if n_rows < self.n_clusters:
            raise ValueError(
                f"n_samples must be at least n_clusters, got n_samples={n_rows} and "
                f"n_clusters={self.n_clusters}. (n_samples={n_rows} should be >= n_clusters="
                f"{self.n_clusters}.) Ask for fewer clusters."
            )

    def fit_predict(self, X: Data, y: Data = None, **options: Any) -> Any:
        """Fit, and return the cluster of each row; of rows in blocks, a lazy collection."""
        self.fit(X, y, **options)  # type: ignore[attr-defined]  # both estimators have it
        return self.predict(X) if is_in_blocks(X) else self.labels_

    def predict(self, X: Data) -> Array:
        """Return the nearest center of each row; of equally near ones the first."""
        X = self._check_new(X)
        with own_threads():
            return assign_rows(X, self.cluster_centers_)

    def transform(self, X: Data) -> Array:
        """Return the distance of each row to each center, of shape (n_samples, n_clusters)."""
        X = self._check_new(X)
        with own_threads():
            return center_distances(X, self.cluster_centers_).astype(X.dtype, copy=False)

    def score(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> float:
        """Return minus the objective of the rows: the larger, the nearer they are to their centers."""
        X = self._check_new(X)
        weight = check_sample_weight(sample_weight, X)
        with own_threads():
            return -score_rows(X, weight, self.cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def _check_new(self, X: Data) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, order="C", reset=False)

    def _start_count(self) -> int:
        if hasattr(self.init, "__array__") or isinstance(self.init, (list, tuple)):
            if self.n_init not in ("auto", 1):
                warn_user(
                    f"n_init should be 1 for given centers, got {self.n_init}. (Explicit initial center position "
                    "passed: performing only one init.) One start is made.",
                    RuntimeWarning,
                )
            return 1
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init == "k-means++" else self._starts_of_random_kinds
        return int(self.n_init)

    def _start(self, data: TrainingData, rng: np.random.RandomState) -> Array:
        if isinstance(self.init, str):
            return STARTS[self.init](data, self.n_clusters, rng)
        given = self.init(data.X, self.n_clusters, random_state=rng) if callable(self.init) else self.init
        return self._given_centers(given, data.X.shape[1])

    def _given_centers(self, given: Any, n_features: int) -> Array:
        centers = np.array(on_host(given) if is_foreign(given) else given, dtype=np.float64)
        if centers.shape != (self.n_clusters, n_features) or not np.isfinite(centers).all():
            which = "number of clusters" if len(centers) != self.n_clusters else "number of features of the data"
            raise ValueError(
                f"init must be finite numbers of shape ({self.n_clusters}, {n_features}), got shape "
                f"{centers.shape}. (The shape of the initial centers {centers.shape} does not match the {which}.)"
            )
        return centers

    def _warn_of_empty_clusters(self, used: int | None = None) -> None:
        used = len(np.unique(self.labels_[self.labels_ >= 0])) if used is None else used
        if used < self.n_clusters:
            warn_user(
                f"n_clusters should be at most the number of different rows: only {used} of {self.n_clusters} clusters "
                f"have rows. (Number of distinct clusters ({used}) found smaller than n_clusters ({self.n_clusters}). "
                "Possibly due to duplicate points in X.) Ask for fewer clusters.",
                ConvergenceWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
