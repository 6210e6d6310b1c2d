"""KNeighborsClassifier: the class that most of the nearest training rows have."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from pellucid.core.estimator import fit_method
from pellucid.core.labels import encode_labels, label_column
from pellucid.core.types import Array, Data
from pellucid.neighbors.k_neighbors import KNeighbors
from pellucid.neighbors.metric import vote_weights
from pellucid.neighbors.rows_in_blocks import Neighbors


class KNeighborsClassifier(ClassifierMixin, KNeighbors):
    r"""Classification by a vote of the k nearest training rows.

    .. math:: \hat{y}(q) = \arg\max_c \sum_{i \in N_k(q)} v(d(q, x_i))\, [y_i = c]

    Of equal distances the lower row number is nearer; of equal votes the class that comes first in ``classes_`` wins.

    Parameters
    ----------
    n_neighbors : int, default=5
        k, at least 1.
    weights : {'uniform', 'distance', 'exponential'}, callable or None, default='uniform'
        v: 1, 1/d, exp(-rate d), or a function that maps distances of shape (n_queries, k) to weights.
    algorithm : {'auto', 'ball_tree', 'kd_tree', 'brute'}, default='auto'
        'auto' takes a kd-tree for up to 8 features, 15 if p is not 2. 'ball_tree' is answered by a kd-tree, or by brute
        force where the metric is no norm.
    leaf_size : int, default=30
        Most rows in a leaf of the tree.
    p : float, default=2
        Power of the Minkowski metric, above 0 and possibly infinite.
    metric : str, callable or :class:`Similarity`, default='minkowski'
        A name in ``sklearn.neighbors.VALID_METRICS``, 'precomputed', or a function of two rows.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        For compatibility; searches use all threads (see ``OMP_NUM_THREADS``).
    rate : float, default=1.0
        Of ``weights='exponential'``, above 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them for several outputs
        The labels, sorted.
    effective_metric_, effective_metric_params_ : str or callable, dict
        The metric as it is used: 'minkowski' with p = 2 is 'euclidean'.
    n_samples_fit_ : int
        Training rows.
    outputs_2d_ : bool
        Whether ``y`` had several columns.
    certificate_, trace_
        That data and tree are whole (``verify`` also rechecks neighbors by brute force); a row per level of the tree.

    Examples
    --------
    >>> model = KNeighborsClassifier(3).fit([[0.0], [1.0], [2.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.predict_proba([[0.4]])  # rows 0, 1 and 2 vote: high, low, low
    array([[0.33333333, 0.66666667]])
    >>> str(model.predict([[0.4]])[0])
    'low'
    """

    classes_: Any
    outputs_2d_: bool

    @fit_method
    def fit(self, X: Data, y: Data) -> Self:
        """Store ``X`` of shape (n_samples, n_features) and the labels ``y``, in one column or several."""
        data = self._check(X, y)
        y = data.y
        if y.dtype.kind not in "iub":  # whole numbers are labels, and seeing it so takes longer than the fit
            check_classification_targets(y)
        several = y.ndim == 2 and y.shape[1] > 1
        found = [encode_labels(column) for column in (y.T if several else [label_column(y)])]
        codes = np.column_stack([code for _, code in found]).astype(np.int64)
        targets = {
            "classes_": [classes for classes, _ in found] if several else found[0][0],
            "outputs_2d_": several,
            "_y": codes if several else codes[:, 0],
        }
        return self._adopt(self._stored(data, **targets), data)

    def predict(self, X: Data) -> Array:
        """Return the labels with most votes, of shape (n_queries,) or (n_queries, n_outputs).

        With ``X=None`` each training row is labeled by the others.
        """
        return self._predict_of(self._nearest(X))

    def _predict_of(self, found: Neighbors) -> Array:
        votes = self._votes(found)
        winners = [classes[sums.argmax(axis=1)] for classes, sums in zip(self._label_sets(), votes, strict=True)]
        return np.column_stack(winners) if self.outputs_2d_ else winners[0]

    def predict_proba(self, X: Data) -> Array | list[Array]:
        """Return each class's share of the votes, of shape (n_queries, n_classes), in a list for several outputs."""
        return self._predict_proba_of(self._nearest(X))

    def _predict_proba_of(self, found: Neighbors) -> Array | list[Array]:
        shares = [votes / votes.sum(axis=1, keepdims=True) for votes in self._votes(found)]
        return shares if self.outputs_2d_ else shares[0]

    def score(self, X: Data, y: Data, sample_weight: Data | None = None) -> float:
        """Return the share of rows predicted right; with ``X=None``, by leaving out one training row at a time."""
        return float(super().score(X, y, sample_weight))

    def _votes(self, found: Neighbors) -> list[Array]:
        """Return the sum of the neighbors' weights for each query and class, one array per output."""
        weights = vote_weights(found.distances, self.weights, self.rate)
        weights = np.ones_like(found.distances) if weights is None else weights
        votes = []
        for output, classes in enumerate(self._label_sets()):
            n, k = len(found.indices), len(classes)
            codes = found.targets if found.targets.ndim == 2 else found.targets[:, :, output]
            places = codes + np.arange(0, n * k, k)[:, None]
            votes.append(np.bincount(places.ravel(), weights.ravel(), minlength=n * k).reshape(n, k))
        return votes

    def _label_sets(self) -> list[Array]:
        return self.classes_ if self.outputs_2d_ else [self.classes_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
