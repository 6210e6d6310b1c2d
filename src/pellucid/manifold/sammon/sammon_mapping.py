"""SammonMapping: a map of least weighted stress, in which short distances count more."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data, MetricLike, RandomState
from pellucid.manifold.dissimilarities import all_distances, distances_to, is_given
from pellucid.manifold.embedding import Embedding, oriented, place_by_stress
from pellucid.manifold.stress_solvers import descend, descent_claim, first_places, look_at
from pellucid.neighbors.metric import Metric
from pellucid.proofs.seen import Seen


class SammonMapping(Embedding):
    r"""Places whose distances come nearest to the wanted ones, where short ones count more.

    .. math:: E(Z) = \frac{1}{\sum_{i<j}\delta_{ij}} \sum_{i<j} \frac{(d_{ij}(Z) - \delta_{ij})^2}{\delta_{ij}}
       \quad\text{('inverse')},\qquad
       E(Z) = \frac{2}{n(n-1)} \sum_{i<j} \Bigl(\frac{d_{ij}(Z) - \delta_{ij}}{\delta_{ij}}\Bigr)^2
       \quad\text{('inverse\_square')}

    Every step goes to the minimum of a parabola that touches the stress from above, and so never raises it; Sammon's
    own step divides slopes by curvatures and may. Pairs at distance 0 do not count.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    weighting : {'inverse', 'inverse_square'}, default='inverse'
        Sammon's weights, one over the distance, or those of the relative error.
    metric : str or callable, default='euclidean'
        A metric that scikit-learn has a name for, a function of two rows, or 'precomputed' for given distances.
    metric_params : dict or None, default=None
        Keywords for the metric.
    init : {'classical_mds', 'random'}, default='classical_mds'
        Where the descent starts.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-6
        Fall of the stress, in parts of the weighted squared distances, that ends the descent.
    random_state : int, RandomState instance or None, default=None
        Where a random start comes from.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, about its middle and along its main axes, the first of the largest entries of each column above 0.
    stress_ : float
        :math:`E`.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        :math:`\delta`.
    n_iter_ : int
        Steps made.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows; not there if distances were given.
    certificate_, trace_ : Certificate, Trace
        Stress found again, what one more step would gain, that it never rose; stress of every step.

    Examples
    --------
    Three points, each 1 from the others, on a line: one of the distances comes out twice as long as another.

    >>> model = SammonMapping(1, metric="precomputed", tol=1e-12).fit([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> round(model.stress_, 4)
    0.1111
    """

    stress_: float
    dissimilarity_matrix_: Array
    n_iter_: int
    X_fit_: Array

    def __init__(
        self,
        n_components: int = 2,
        *,
        weighting: str = "inverse",
        metric: MetricLike = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: str = "classical_mds",
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.weighting = weighting
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to distances (n_samples, n_samples)."""
        data = self._check(X)
        distances = all_distances(Metric.resolve(self.metric, None, self.metric_params), data.X)
        weights = weights_for(distances, self.weighting)
        watch = self._watch(X, y, attributes=lambda places: {"embedding_": places}, max_iter=self.max_iter)
        if self.init == "random":
            start = check_random_state(self.random_state).uniform(size=(len(distances), self.n_components))
            start = start * float(distances.max(initial=0.0))
        else:
            start = first_places(distances, self.n_components)
        found = descend(
            start, lambda _places, _step: distances, weights, eps=float(self.tol), max_iter=self.max_iter, watch=watch
        )
        places = oriented(found.places)
        stress = look_at(places, distances, weights).stress / normalizer(distances)
        attributes: dict[str, Any] = {
            "embedding_": places,
            "stress_": stress,
            "dissimilarity_matrix_": distances,
            "n_iter_": found.n_iter,
        }
        if not is_given(self.metric):
            attributes["X_fit_"] = data.X.copy()
        proof = card_of(type(self)).prove(Seen(**attributes), self, data)
        certificate = proof.with_claims(descent_claim(found.trace, normalizer(distances)))
        return self._adopt(Fit(attributes, found.trace, certificate=certificate), data)

    def transform(self, X: Data) -> Array:
        """Return the places of new rows, each of least stress with the training rows, which stay where they are."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        metric = Metric.resolve(self.metric, None, self.metric_params)
        distances = distances_to(metric, X, getattr(self, "X_fit_", None))
        power = 1 if self.weighting == "inverse" else 2
        size = max(float(distances.max(initial=0.0)), np.finfo(float).tiny)
        weights = (np.where(distances > 0.0, distances, size) / size) ** -power
        return place_by_stress(self.embedding_, distances, distances, weights)

    def input_distances(self) -> Array:
        """Return the distances that the map was made from."""
        return self.dissimilarity_matrix_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.metric)
        return tags


# The two weightings that Sammon's stress is known with.
#
# 'inverse'
# :math:`w = 1/\delta`, divided by the sum of all distances: Sammon's own (1969);
# 'inverse_square'
# :math:`w = 1/\delta^2`, divided by the number of pairs: the mean squared relative error.


WEIGHTINGS = ("inverse", "inverse_square")


def mean_distance(distances: Array) -> float:
    """Return the mean of the distances of pairs that are apart; 1 if there are none."""
    n_apart = int(np.sum(distances > 0.0))
    return float(distances.sum()) / n_apart if n_apart else 1.0


def weights_for(distances: Array, weighting: str) -> Array:
    """Return the weight of each pair, with distances in units of their mean, so that nothing overflows.

    Pairs at distance 0 have none, as nothing can be divided by it.
    """
    power = 1 if weighting == "inverse" else 2
    is_apart = distances > 0.0
    mean = mean_distance(distances)
    return np.where(is_apart, (np.where(is_apart, distances, mean) / mean) ** -power, 0.0)


def normalizer(distances: Array) -> float:
    """Return what the sum with these weights is divided by: it is the same for both weightings."""
    return max(int(np.sum(distances > 0.0)) / 2.0 * mean_distance(distances) ** 2, np.finfo(float).tiny)
