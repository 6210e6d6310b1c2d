"""MDS: a map of least stress, metric or non-metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data, MetricLike, RandomState
from pellucid.core.user_warnings import warn_user
from pellucid.core.watching import ignore
from pellucid.manifold.dissimilarities import all_distances, distances_to, is_given
from pellucid.manifold.embedding import Embedding, oriented, place_by_stress
from pellucid.manifold.stress_solvers import StressDescent, descend, descent_claim, first_places, look_at
from pellucid.neighbors.metric import Metric
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

DEPRECATED = "deprecated"


def is_metric(parameters: Any) -> bool:
    """Return whether distances themselves are wanted, not their order only; once ``metric`` said so."""
    return bool(parameters.metric if isinstance(parameters.metric, bool) else parameters.metric_mds)


def metric_name(parameters: Any) -> Any:
    """Return the metric by name or function; ``dissimilarity`` may say so as in old versions."""
    if parameters.dissimilarity != DEPRECATED:
        return parameters.dissimilarity
    return "euclidean" if isinstance(parameters.metric, bool) else parameters.metric


def metric_of(parameters: Any) -> Metric:
    """Return the metric with its keywords."""
    return Metric.resolve(metric_name(parameters), None, parameters.metric_params)


def is_normalized(parameters: Any) -> bool:
    """Return whether the stored stress is that of Kruskal, in parts of the squared distances on the map."""
    is_auto = isinstance(parameters.normalized_stress, str)
    return not is_metric(parameters) if is_auto else bool(parameters.normalized_stress)


def warn_of_old_names(parameters: Any) -> None:
    """Warn of parameters that scikit-learn drops in 1.10, and refuse two words for the same thing."""
    if parameters.dissimilarity != DEPRECATED:
        if not isinstance(parameters.metric, bool) and parameters.metric != "euclidean":
            raise ValueError(
                f"dissimilarity must be left out with metric={parameters.metric!r}, got "
                f"{parameters.dissimilarity!r}: You provided both `dissimilarity` and `metric`. Use metric only."
            )
        warn_user("The `dissimilarity` parameter is about to go. Use `metric`.", FutureWarning)
    if isinstance(parameters.metric, bool):
        warn_user(f"Use metric_mds={parameters.metric} instead of metric={parameters.metric}.", FutureWarning)


class MDS(Embedding):
    r"""Places whose distances come nearest to the wanted ones, or to their order.

    .. math:: \sigma(Z) = \sum_{i<j} (d_{ij}(Z) - \delta_{ij})^2

    Non-metric scaling puts disparities :math:`\hat d_{ij}` in the place of the dissimilarities :math:`\delta_{ij}`: the
    numbers nearest to the distances that rise as the dissimilarities do, with a mean square of 1.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    metric_mds : bool, default=True
        False keeps the order of the dissimilarities only; those of 0 are then missing.
    n_init : int, default=1
        Random starts, of which the best counts.
    init : {'random', 'classical_mds'}, default='random'
        Where the descent starts. 'classical_mds' needs no seed and fewer steps, and is what scikit-learn goes over to
        with 1.10.
    max_iter : int, default=300
        Most steps of one descent.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    eps : float, default=1e-6
        Fall of the stress, in parts of the squared distances on the map, that ends the descent.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used.
    random_state : int, RandomState instance or None, default=None
        Where random starts come from.
    dissimilarity : {'euclidean', 'precomputed'}
        The old name of ``metric``.
    metric : str or callable, default='euclidean'
        A metric that scikit-learn has a name for, a function of two rows, or 'precomputed' for given distances.
    metric_params : dict or None, default=None
        Keywords for the metric.
    normalized_stress : bool or 'auto', default='auto'
        Whether ``stress_`` is :math:`\sqrt{\sigma / \sum d^2}`; 'auto' for non-metric scaling.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, about its middle and along its main axes, the first of the largest entries of each column above 0.
    stress_ : float
        :math:`\sigma`, or its normalized root, with disparities of the last places.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        :math:`\delta`.
    n_iter_ : int
        Steps of the best descent.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows; not there if distances were given.
    certificate_, trace_ : Certificate, Trace
        Stress found again, what one more step would gain, that it never rose; stress of every step.

    Examples
    --------
    The sides 3, 4 and 5 of a triangle have a map without stress:

    >>> model = MDS(metric="precomputed", eps=1e-15).fit([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> model.stress_ < 1e-9
    True
    """

    stress_: float
    dissimilarity_matrix_: Array
    n_iter_: int
    X_fit_: Array

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric_mds: bool = True,
        n_init: int = 1,
        init: str = "random",
        max_iter: int = 300,
        verbose: int = 0,
        eps: float = 1e-6,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        dissimilarity: str = DEPRECATED,
        metric: MetricLike = "euclidean",
        metric_params: dict[str, Any] | None = None,
        normalized_stress: Any = "auto",
    ) -> None:
        self.n_components = n_components
        self.metric_mds = metric_mds
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.dissimilarity = dissimilarity
        self.metric = metric
        self.metric_params = metric_params
        self.normalized_stress = normalized_stress

    @fit_method
    def fit(self, X: Data, y: Data = None, init: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to distances; ``init`` may be the first places."""
        data = self._check(X)
        warn_of_old_names(self)
        if data.X.shape[0] == data.X.shape[1] and not is_given(metric_name(self)):
            warn_user(
                "X should have one row per sample and one column per feature: it is square. If it holds distances, use "
                "metric='precomputed'."
            )
        distances = all_distances(metric_of(self), data.X)
        watch = self._watch(
            X, y, attributes=lambda places: {"embedding_": places}, max_iter=self.max_iter * self._n_starts(init)
        )
        return self._adopt(self._map_of(data, distances, init, watch), data)

    def _map_of(self, data: TrainingData, distances: Any, init: Data, watch: Any) -> Fit:
        """Return the map of distances, which may be on a device; the rows are here."""
        best = self._best_descent(distances, init, watch)
        attributes: dict[str, Any] = {
            "embedding_": oriented(best.places),
            "stress_": self._stored_stress(best, distances),
            "dissimilarity_matrix_": distances,
            "n_iter_": best.n_iter,
        }
        if not is_given(metric_name(self)):
            attributes["X_fit_"] = data.X.copy()
        proof = card_of(type(self)).prove(Seen(**attributes), self, data)
        certificate = proof.with_claims(descent_claim(best.trace, float((distances**2).sum())))
        return Fit(attributes, best.trace, certificate=certificate)

    def _n_starts(self, init: Data) -> int:
        return 1 if init is not None or self.init == "classical_mds" else int(self.n_init)

    def _best_descent(self, distances: Any, init: Data, watch: Any) -> StressDescent:
        """Return the descent with the least stress, of several starts the first of the best."""
        n, rng = len(distances), check_random_state(self.random_state)
        wanted = (lambda _places, _step: distances) if is_metric(self) else Disparities(distances)
        best: StressDescent | None = None
        for _ in range(self._n_starts(init)):
            if init is not None:
                start = check_array(init, dtype=np.float64)
                if len(start) != n:
                    raise ValueError(f"init must have one row for each of the {n} rows, got shape {start.shape}.")
            elif self.init == "classical_mds":
                start = first_places(distances, self.n_components)
            else:
                start = rng.uniform(size=(n, self.n_components))
            found = descend(start, wanted, np.ones((1, n)), eps=float(self.eps), max_iter=self.max_iter, watch=watch)
            best = found if best is None or found.stress < best.stress else best
        assert best is not None  # there is at least one start
        return best

    def _stored_stress(self, found: StressDescent, distances: Any) -> float:
        wanted = distances if is_metric(self) else Disparities(distances)(found.places, 1)
        seen = look_at(found.places, wanted, np.ones((1, len(distances))))
        if not is_normalized(self):
            return seen.stress
        return float(np.sqrt(seen.stress / seen.spread)) if seen.spread > 0.0 else 0.0

    def transform(self, X: Data) -> Array:
        """Return the places of new rows, each of least stress with the training rows, which stay where they are."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        distances = distances_to(metric_of(self), X, getattr(self, "X_fit_", None))
        wanted = distances
        if not is_metric(self):
            wanted = Disparities(self.dissimilarity_matrix_).of(distances, self.embedding_)
        return place_by_stress(self.embedding_, distances, wanted, np.ones_like(distances))

    def input_distances(self) -> Array:
        """Return the dissimilarities that the map was made from."""
        return self.dissimilarity_matrix_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(metric_name(self))
        return tags


def smacof(
    dissimilarities: Data,
    *,
    metric: bool = True,
    n_components: int = 2,
    init: Data = None,
    n_init: int = 1,
    n_jobs: int | None = None,
    max_iter: int = 300,
    verbose: int = 0,
    eps: float = 1e-6,
    random_state: RandomState = None,
    return_n_iter: bool = False,
    normalized_stress: Any = "auto",
) -> tuple[Array, float] | tuple[Array, float, int]:
    """Return places for given dissimilarities, their stress and, if asked, the number of steps.

    It is the descent of :class:`MDS`; the places are as the last step left them, not turned.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_samples, n_samples)
        The distances wanted, symmetric.
    metric : bool, default=True
        Whether their sizes count; if not, their order does, and those of 0 are missing.
    n_components : int, default=2
        Dimensions of the map.
    init : array-like of shape (n_samples, n_components), default=None
        Places to start from; None starts at random.
    n_init : int, default=1
        Random starts, of which the best counts.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used.
    max_iter : int, default=300
        Most steps of a descent.
    verbose : int, default=0
        Nothing changes: nothing is printed.
    eps : float, default=1e-6
        Fall of the stress that ends a descent, in parts of the squared distances on the map.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    return_n_iter : bool, default=False
        Whether to return the number of steps, too.
    normalized_stress : bool or 'auto', default='auto'
        Whether the stress returned is relative to the squared distances, under a root; 'auto' for ``metric=False``.

    Examples
    --------
    >>> places, stress = smacof([[0, 3, 4], [3, 0, 5], [4, 5, 0]], eps=1e-15, random_state=0)
    >>> float(round(np.linalg.norm(places[0] - places[1]), 4)), stress < 1e-9
    (3.0, True)
    """
    if init is not None and n_init != 1:
        warn_user(f"Explicit initial positions passed: performing only one init of the MDS instead of {n_init}")
    model = MDS(
        n_components,
        metric_mds=metric,
        n_init=n_init,
        init="random",
        max_iter=max_iter,
        verbose=verbose,
        eps=eps,
        n_jobs=n_jobs,
        random_state=random_state,
        metric="precomputed",
        normalized_stress=normalized_stress,
    )
    distances = model._check(dissimilarities).X
    found = model._best_descent(distances, init, ignore)
    stress = model._stored_stress(found, distances)
    return (found.places, stress, found.n_iter) if return_n_iter else (found.places, stress)


class Disparities:
    """The order of the dissimilarities of all pairs; those of 0 are missing, and equal ones get equal disparities."""

    def __init__(self, dissimilarities: Array) -> None:
        values = squareform(dissimilarities, checks=False)
        self.n, self.is_known = len(dissimilarities), values != 0.0
        self.values, self.group, self.counts = np.unique(values[self.is_known], return_inverse=True, return_counts=True)

    def scaled(self, levels: Array) -> Array:
        """Return disparities of all pairs (n, n) from one for each different dissimilarity; their mean square is 1."""
        found = np.zeros(len(self.is_known))
        found[self.is_known] = levels[self.group]
        total = float(found @ found)
        return squareform(found * np.sqrt(len(found) / total) if total > 0.0 else found)

    def levels(self, places: Array) -> Array:
        """Return what the distances on a map say of each different dissimilarity, rising."""
        distances = pdist(places)[self.is_known]
        means = np.bincount(self.group, distances, minlength=len(self.values)) / self.counts
        return np.asarray(isotonic_regression(means, weights=self.counts).x)

    def __call__(self, places: Array, step: int) -> Array:
        """Return the disparities; before the first step they are the dissimilarities themselves."""
        return self.scaled(self.values if step == 0 else self.levels(places))

    def of(self, dissimilarities: Array, places: Array) -> Array:
        """Return disparities of other dissimilarities, between those of the map."""
        levels = self.levels(places)
        total = float(self.counts @ levels**2)
        scale = np.sqrt(len(self.is_known) / total) if total > 0.0 else 1.0
        return np.interp(dissimilarities, self.values, levels * scale)
