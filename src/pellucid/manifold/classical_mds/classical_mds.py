"""ClassicalMDS: a map from distances, in closed form."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data, MetricLike
from pellucid.manifold.dissimilarities import all_distances, distances_to, is_given
from pellucid.manifold.embedding import Embedding
from pellucid.manifold.scalar_products import ScalarProducts, coordinates, main_axes, main_axes_of_rows, place_of
from pellucid.neighbors.metric import Metric
from pellucid.proofs.training_data import TrainingData


class ClassicalMDS(Embedding):
    r"""Places in few dimensions whose scalar products come nearest to those that belong to the distances.

    .. math:: B = -\tfrac12 HD^{(2)}H,\quad H = I - \tfrac1n 11',\qquad
       \min_Z \|B - ZZ'\|_F:\quad Z = V_k\Lambda_k^{1/2}

    :math:`D^{(2)}` are the squared distances, :math:`V_k, \Lambda_k` the largest eigenvalues of :math:`B` with their
    vectors. For Euclidean distances these are the principal components.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map, at most the number of rows.
    metric : str or callable, default='euclidean'
        A metric that scikit-learn has a name for, a function of two rows, or 'precomputed' for given distances.
    metric_params : dict or None, default=None
        Keywords for the metric.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, the first of the largest entries of each column above 0.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\Lambda_k`, falling; 0 for a dimension that the distances have no use for, whose column is 0.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        The distances; for Euclidean ones of rows computed when asked for.
    squared_means_ : ndarray of shape (n_samples,)
        Mean squared distance of each training row, for the places of new ones.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows; not there if distances were given.
    certificate_, trace_ : Certificate, Trace
        Residuals of the eigenvectors, that none was missed, the share of eigenvalues below 0; sum of eigenvalues.

    Examples
    --------
    Three towns on a road, 2 and 1 apart: their places about the mean.

    >>> model = ClassicalMDS(1, metric="precomputed").fit([[0, 2, 3], [2, 0, 1], [3, 1, 0]])
    >>> model.embedding_.ravel().round(3), model.transform([[1, 1, 2]]).round(3)
    (array([ 1.667, -0.333, -1.333]), array([[0.667]]))
    """

    eigenvalues_: Array
    dissimilarity_matrix_: Array
    squared_means_: Array
    X_fit_: Array

    def __init__(
        self, n_components: int = 2, *, metric: MetricLike = "euclidean", metric_params: dict[str, Any] | None = None
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to distances (n_samples, n_samples)."""
        data = self._check(X)
        check_components(self.n_components, data.X.shape[0])
        metric = Metric.resolve(self.metric, None, self.metric_params)
        solve = _fit_rows if metric.name == "euclidean" and not metric.params else _fit_distances
        return self._adopt(solve(self, metric, data), data)

    def transform(self, X: Data) -> Array:
        """Return the places of new rows, or of rows with given distances to all training rows."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        metric = Metric.resolve(self.metric, None, self.metric_params)
        distances = distances_to(metric, X, getattr(self, "X_fit_", None))
        return place_of(distances, self.embedding_, self.eigenvalues_, self.squared_means_)

    def input_distances(self) -> Array:
        """Return the distances that the map was made from."""
        return self.dissimilarity_matrix_

    def negative_share(self) -> float:
        """Return the share of all eigenvalues, by size, that are below 0: 0 for distances of points in some space."""
        check_is_fitted(self)
        values = np.linalg.eigvalsh(ScalarProducts.of(self.dissimilarity_matrix_).matrix)
        return float(-values[values < 0.0].sum() / max(np.abs(values).sum(), np.finfo(float).tiny))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.metric)
        return tags


def check_components(n_components: int, n_rows: int) -> None:
    """Refuse more dimensions than rows."""
    if n_components > n_rows:
        raise ValueError(
            f"n_components must be at most the number of rows, got {n_components} for n_samples={n_rows}. "
            "Ask for fewer dimensions."
        )


def _fit_rows(parameters: Any, metric: Metric, data: TrainingData) -> Fit:
    """Return the fit to Euclidean distances of rows, which need not be computed."""
    found, means, unit = main_axes_of_rows(data.X, parameters.n_components)
    values, places = coordinates(found, unit)
    attributes = {
        "embedding_": places,
        "eigenvalues_": values,
        "squared_means_": means / unit / unit,
        "X_fit_": data.X.copy(),
    }
    later = {"dissimilarity_matrix_": partial(all_distances, metric, attributes["X_fit_"])}
    return Fit(attributes, found.trace, later=later, reached=False)


def _fit_distances(parameters: Any, metric: Metric, data: TrainingData) -> Fit:
    """Return the fit to given distances, or to those of another metric."""
    distances = all_distances(metric, data.X)
    products = ScalarProducts.of(distances)
    found = main_axes(products.matrix, parameters.n_components)
    values, places = coordinates(found, products.unit)
    attributes = {
        "embedding_": places,
        "eigenvalues_": values,
        "dissimilarity_matrix_": distances,
        "squared_means_": products.means / products.unit / products.unit,
    }
    if not is_given(parameters.metric):
        attributes["X_fit_"] = data.X.copy()
    return Fit(attributes, found.trace, reached=False)
