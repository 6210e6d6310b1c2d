"""TSNE: a map on which near rows stay near (neighbor embedding)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data, MetricLike, RandomState
from pellucid.core.watching import Watch
from pellucid.manifold.dissimilarities import is_given
from pellucid.manifold.embedding import Embedding, known_places, oriented
from pellucid.manifold.tsne.tsne_parameters import (
    later_rate_meant,
    metric_of,
    neighbors_meant,
    place_by_affinity,
    rate_meant,
)
from pellucid.manifold.tsne.tsne_solvers import (
    EXAGGERATED,
    FIRST_MOMENTUM,
    LATER_MOMENTUM,
    WITH_MOMENTUM,
    Forces,
    MapDescent,
    affinities_of,
    first_places,
    joint_affinities,
    neighbors_and_distances,
)
from pellucid.neighbors.nearest_rows import nearest_rows
from pellucid.proofs.certificate import Claim
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ALL_PAIRS = 2**20
"""Pairs up to which the proof of a fit sums them up itself."""
STATIONARY = 0.02
"""Bound on the gradient, in parts of the attraction: a little more than the share at which a descent ends."""
GRADIENT_SAYS = "norm of the gradient of the divergence, in parts of that of the attraction alone"
REMEDY = "Raise max_iter, or lower angle."


class TSNE(Embedding):
    r"""Places whose kernel is as near as can be to the affinities of the rows (t-SNE).

    .. math:: \min_Z \sum_{i \ne j} p_{ij}\log\frac{p_{ij}}{q_{ij}},\qquad
       p_{j|i} \propto e^{-\beta_i d_{ij}^2},\quad p_{ij} = \frac{p_{j|i} + p_{i|j}}{2n},\qquad
       q_{ij} \propto \bigl(1 + \|z_i - z_j\|^2/\nu\bigr)^{-(\nu + 1)/2}

    :math:`\beta_i` is such that row i has as many neighbors as ``perplexity`` says: the exponential of the entropy of
    its affinities. :math:`\nu` is 1, or one less than the dimensions if there are more than two. What counts on the
    map is who is near whom: the sizes of clusters and the distances between them mean little.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map; at most 3 with ``method='barnes_hut'``.
    perplexity : float, default=30.0
        Neighbors that a row has, in effect; above 0 and below the number of rows.
    early_exaggeration : float, default=12.0
        Factor of the affinities in the first 250 steps, at least 1.
    learning_rate : float or 'auto', default='auto'
        Length of steps with momentum, above 0. 'auto' is :math:`\max(n/4/e, 50)` with exaggeration e, and
        :math:`\max(n/4, 50)` after that.
    max_iter : int, default=1000
        Most steps, at least 250: 250 with exaggeration, 250 with momentum. If the gradient is then at most 2 % of
        the attraction, up to 250 more with momentum; where it is not yet 1.5 %, steps of L-BFGS until it is.
    n_iter_without_progress : int, default=300
        Steps without a lower divergence that end the descent, looked at every 50 steps.
    min_grad_norm : float, default=1e-7
        Norm of the gradient that ends the descent.
    metric : str or callable, default='euclidean'
        A metric that scikit-learn has a name for, a function of two rows, or 'precomputed' for given distances, which
        may be sparse with the nearest of each row stored.
    metric_params : dict or None, default=None
        Keywords for the metric.
    init : {'pca', 'random'} or ndarray of shape (n_samples, n_components), default='pca'
        Where the descent starts.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    random_state : int, RandomState instance or None, default=None
        Where a random start comes from; with ``init='pca'`` it matters only for axes along which no rows differ.
    method : {'barnes_hut', 'exact'}, default='barnes_hut'
        'exact' takes affinities of all pairs; else of three times as many neighbors as the perplexity.
    angle : float, default=0.5
        Coarseness of the forces, from 0 to 1: the distance of the nodes of a grid that repulsion is computed on where
        that is less work than all pairs, in two dimensions or one. 0 never takes a grid.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used, and their number changes no bit.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, in single precision as in scikit-learn, about its middle and along its main axes, the first of the
        largest entries of each column above 0.
    kl_divergence_ : float
        The divergence at these places, over all pairs.
    neighbors_, affinities_ : ndarray of shape (n_samples, n_neighbors)
        The nearest rows of each, nearest first, and :math:`p_{j|i}`.
    learning_rate_ : float
        What ``learning_rate`` meant for the steps with exaggeration.
    n_iter_ : int
        Steps made.
    X_fit_ : ndarray or sparse matrix
        The training rows, or the distances that were given.
    certificate_, trace_ : Certificate, Trace
        Neighbors and their perplexity, the divergence, and the gradient at the places, in parts of the attraction;
        divergence and gradient along the way, with the exaggeration of each step.

    Examples
    --------
    Two pairs of rows, each near the other: on the map, too, a row is nearest to its partner.

    >>> model = TSNE(perplexity=1.5).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> model.transform([[0.0], [10.0]]).shape, model.neighbors_[:, 0]
    ((2, 2), array([1, 0, 3, 2]))
    """

    kl_divergence_: float
    neighbors_: Array
    affinities_: Array
    learning_rate_: float
    n_iter_: int
    X_fit_: Any

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        early_exaggeration: float = 12.0,
        learning_rate: Any = "auto",
        max_iter: int = 1000,
        n_iter_without_progress: int = 300,
        min_grad_norm: float = 1e-7,
        metric: MetricLike = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "pca",
        verbose: int = 0,
        random_state: RandomState = None,
        method: str = "barnes_hut",
        angle: float = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to distances (n_samples, n_samples)."""
        data = self._check(X)
        n = data.X.shape[0]
        neighbors, distances = neighbors_and_distances(data.X, neighbors_meant(self, n), metric_of(self))
        affinities = affinities_of(distances, float(self.perplexity))
        forces = Forces(joint_affinities(neighbors, affinities), self.n_components, self._spacing())
        watch = self._watch(X, y, attributes=lambda places: {"embedding_": places}, max_iter=self.max_iter)
        descent = self._descent(data, forces, watch)
        places = oriented(descent.places).astype(np.float32)
        divergence, gradient = forces.measured(places.astype(np.float64))
        attributes = {
            "embedding_": places,
            "kl_divergence_": divergence,
            "neighbors_": neighbors,
            "affinities_": affinities,
            "learning_rate_": rate_meant(self, n),
            "n_iter_": descent.n_iter,
            "X_fit_": data.X.copy(),
        }
        rise = descent.largest_rise / max(abs(divergence), 1e-3)
        certificate = (
            card_of(type(self))
            .prove(Seen(**attributes), self, data)
            .with_claims(
                *([] if n * n <= ALL_PAIRS else [Claim("gradient", GRADIENT_SAYS, gradient, STATIONARY, REMEDY)]),
                Claim("descent", "largest rise of the divergence in a step of L-BFGS, in parts of it", rise, 1e-6),
            )
        )
        return self._adopt(Fit(attributes, descent.trace, descent.stopped, certificate), data)

    def _spacing(self) -> float:
        return 0.0 if self.method == "exact" else float(self.angle)

    def _descent(self, data: TrainingData, forces: Forces, watch: Watch) -> MapDescent:
        """Return the way down: with exaggeration, with momentum, and by L-BFGS."""
        start = first_places(data.X, self.init, self.n_components, check_random_state(self.random_state))
        found = MapDescent(
            forces, start, self.max_iter, float(self.min_grad_norm), int(self.n_iter_without_progress), watch
        )
        n = data.X.shape[0]
        found.with_momentum(EXAGGERATED, FIRST_MOMENTUM, rate_meant(self, n), float(self.early_exaggeration))
        found.with_momentum(WITH_MOMENTUM, LATER_MOMENTUM, later_rate_meant(self, n), 1.0)
        found.to_the_end(LATER_MOMENTUM, later_rate_meant(self, n))
        return found

    def transform(self, X: Data) -> Array:
        r"""Return the places of new rows, each drawn to its neighbors among the training rows, which stay.

        The place z of a row has the least :math:`\sum_j p_j \log(1 + \|z - z_j\|^2/\nu)`: what its affinities say,
        without repulsion. A training row gets its place.
        """
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        k = min(self.neighbors_.shape[1], self.X_fit_.shape[0])
        distances, near = nearest_rows(self.X_fit_, X, k, metric_of(self), tree=None, excluded=None)
        affinities = affinities_of(distances, float(self.perplexity))
        places = place_by_affinity(self.embedding_.astype(np.float64), near, affinities)
        if is_given(self.metric):
            new = np.flatnonzero(distances[:, 0] == 0.0)
            places[new] = self.embedding_[near[new, 0]]
        else:
            new, known = known_places(self.X_fit_, X)
            places[new] = self.embedding_[known]
        return places.astype(self.embedding_.dtype)

    def input_distances(self) -> Array:
        """Return the distances of all training rows."""
        if not is_given(self.metric):
            return metric_of(self).table(self.X_fit_, self.X_fit_)
        if sparse.issparse(self.X_fit_):
            raise ValueError("distances must be given for the quality of a map of a sparse graph, got None.")
        return np.asarray(self.X_fit_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_given(self.metric)
        tags.transformer_tags.preserves_dtype = ["float32"]  # places are, whatever the rows are
        return tags
