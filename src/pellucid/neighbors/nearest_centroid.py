"""NearestCentroid: the class whose mean, or median, is nearest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.threads import own_threads, run_blocks, shares
from pellucid.core.types import Array, Data
from pellucid.neighbors.nearest_centroid_solvers import find_centroids, nearest_centers

BLOCK = 1 << 16
"""Numbers of rows that are scored at once: they stay in the cache while every class is tried."""


def _is_euclidean(model: Any) -> bool:
    return bool(model.metric == "euclidean")


class NearestCentroid(ClassifierMixin, CertifiedEstimator):
    r"""Classification by the nearest centroid, the mean of the rows of a class.

    .. math:: \hat{y}(x) = \arg\min_k d(x, \mu_k), \qquad
        \delta_k(x) = -\sum_j \frac{(x_j - \mu_{kj})^2}{s_j^2} + 2\log\pi_k

    With ``metric="manhattan"`` the centroids are medians. Equal priors leave the decision to the distance :math:`d`;
    others leave it to the scores :math:`\delta_k`, as in scikit-learn. Of ties the first in ``classes_`` wins.

    Parameters
    ----------
    metric : {'euclidean', 'manhattan'}, default='euclidean'
        The distance.
    shrink_threshold : float or None, default=None
        By how much the deviations of the centroids from the mean of all rows shrink towards 0, above 0.
    priors : {'uniform', 'empirical'} or array-like of shape (n_classes,), default='uniform'
        :math:`\pi_k`: equal, the shares of the classes, or given.

    Attributes
    ----------
    centroids_ : ndarray of shape (n_classes, n_features)
        :math:`\mu_k`, shrunken if asked for.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        :math:`\pi_k`.
    within_class_std_dev_ : ndarray of shape (n_features,)
        :math:`s_j`, the deviation of rows from the centroid of their class; 0 where none deviates.
    deviations_ : ndarray of shape (n_classes, n_features)
        How far each centroid is from the mean of all rows, in units of what chance would give it (Tibshirani,
        Hastie, Narasimhan and Chu, 2002), shrunken if asked for; infinite where rows of a class do not differ at all.
    certificate_, trace_
        All of these are found again from the rows, up to rounding; no iterations.

    Examples
    --------
    >>> model = NearestCentroid().fit([[0.0], [2.0], [6.0], [10.0]], ["low", "low", "high", "high"])
    >>> model.centroids_.ravel(), model.within_class_std_dev_  # s^2 = (1 + 1 + 4 + 4) / (4 - 2)
    (array([8., 1.]), array([2.23606798]))
    >>> model.predict([[4.4], [4.6]])
    array(['low', 'high'], dtype='<U4')
    """

    classes_: Array
    centroids_: Array
    class_prior_: Array
    within_class_std_dev_: Array
    deviations_: Array

    def __init__(
        self, metric: str = "euclidean", *, shrink_threshold: float | None = None, priors: Any = "uniform"
    ) -> None:
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    @fit_method
    def fit(self, X: Data, y: Data) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        data = self._check(X, y)
        return self._adopt(find_centroids(data, self.metric, self.shrink_threshold, self.priors), data)

    def predict(self, X: Data) -> Array:
        """Return the label of the nearest centroid, or of the largest score where priors differ."""
        rows = self._rows(X)
        if not np.allclose(self.class_prior_, 1.0 / len(self.classes_)):
            return self.classes_[np.argmax(self._scores(rows), axis=1)]
        with own_threads():
            return self.classes_[nearest_centers(rows, self.centroids_, self.metric)]

    @available_if(_is_euclidean)
    def decision_function(self, X: Data) -> Array:
        r"""Return :math:`\delta_k` of every class; of two, the second less the first."""
        scores = self._scores(self._rows(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @available_if(_is_euclidean)
    def predict_proba(self, X: Data) -> Array:
        r"""Return the shares of :math:`\exp\delta_k`, of shape (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    @available_if(_is_euclidean)
    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of ``predict_proba``."""
        return np.asarray(log_softmax(self._scores(self._rows(X)), axis=1))

    def _rows(self, X: Data) -> Any:
        check_is_fitted(self)
        return card_of(type(self)).rules_for(self).check_rows(self, X)

    def _scores(self, X: Any) -> Array:
        """Return the scores of every row and class."""
        unit = np.where(self.within_class_std_dev_ > 0.0, self.within_class_std_dev_, 1.0)
        scores, height = np.empty((X.shape[0], len(self.classes_))), max(1, BLOCK // X.shape[1])
        with np.errstate(divide="ignore"):  # a prior of 0 rules its class out
            offsets = 2.0 * np.log(self.class_prior_)

        def work(part: slice) -> None:
            for start in range(part.start, part.stop, height):
                rows = slice(start, min(start + height, part.stop))
                block = X[rows].toarray() if sparse.issparse(X) else X[rows]
                for k, center in enumerate(self.centroids_):
                    away = (block - center) / unit
                    if self.metric == "manhattan":
                        scores[rows, k] = offsets[k] - np.abs(away).sum(axis=1) ** 2
                    else:
                        scores[rows, k] = offsets[k] - np.einsum("ij,ij->i", away, away)

        with own_threads():
            run_blocks(work, shares(X.shape[0], X.shape[0] * X.shape[1] * len(offsets)))
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
