"""Mixture: rows drawn from one of several densities of any kind."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.checks import check_whole
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort
from pellucid.core.types import Array, Data, RandomState
from pellucid.mixture.mixture_solvers import (
    MixtureOfDensities,
    Parts,
    best_density_mixture,
    clustered_start,
    density_parts,
    log_joint,
    responsibilities,
)
from pellucid.probability.density import Density, declared_categories


class Mixture(DensityMixin, CertifiedEstimator):
    r"""A weighted sum of densities of any kind, of whole rows or column by column, fitted by the EM method.

    .. math:: f(x) = \sum_k \pi_k f_k(x) \qquad\text{or}\qquad f(x) = \sum_k \pi_k \prod_j f_{kj}(x_j)

    A step fits each density to all rows, weighted by its responsibilities :math:`\pi_k f_k(x_i) / f(x_i)`. For many
    rows and Gaussians use :class:`GaussianMixture`, which is faster.

    A density of your own is a class with the members of :class:`pellucid.probability.Density`: a class method
    ``fit(X, sample_weight)`` that returns an object, and of that ``log_prob(X)``, ``sample(n, random_state)``,
    ``mean``, ``variance`` and ``entropy()``. Its fit must raise the weighted likelihood, or EM has no reason to end. It
    sees whole rows, or its column if a dict asks for it. A model with one cannot be saved: a file holds no code.

    Parameters
    ----------
    densities : str, class, dict or list, default="auto"
        A density of :mod:`pellucid.probability` by name, or a class of your own: one of numbers or labels is taken for
        every column, one of rows for all columns together. A dict from columns, by number or name, to densities: the
        columns are independent within a component, and those not named are guessed, as ``"auto"`` does for all:
        categorical for texts, bernoulli for zeros and ones, gaussian for other numbers. A list of densities, not
        classes: one for each component, to start from, which may be of different kinds.
    n_components : int, default=2
        :math:`K`, at least 1; for a list of densities their number.
    var_smoothing : float, default=1e-9
        This part of the variance of its column is added to each variance of a Gaussian, at least 0.
    n_init : int, default=1
        Starts, from clusters of k-means, of which the best end is kept.
    max_iter : int, default=100
        Most steps of each start.
    tol : float, default=1e-4
        Rise of the mean log likelihood by a step at which to stop.
    random_state : int, RandomState instance or None, default=None
        Where starts and samples come from.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        :math:`\pi_k`.
    densities_ : list of n_components lists of densities
        One density of whole rows, or one for each column.
    by_column_ : bool
        Whether there is one for each column.
    log_likelihood_ : float
        Mean log density of the training rows.
    lower_bound_, lower_bounds_ : float, list of float
        The same before the last step, and before each.
    converged_, n_iter_ : bool, int
        Whether ``tol`` was reached, and the steps done.
    certificate_ : Certificate
        The mean and covariance of the mixture are those of the data; one more step gains no more than ``tol``; the
        likelihood does not curve upward.
    trace_ : Trace
        Minus the lower bound, its rise and how far the components moved, step by step.

    Examples
    --------
    >>> table = np.array([["red", 1.0], ["red", 2.0], ["blue", 8.0], ["blue", 9.0]], dtype=object)
    >>> model = Mixture(random_state=0).fit(table)
    >>> model.predict(table)[0] == model.predict(table)[1], model.predict(table)[0] == model.predict(table)[2]
    (np.True_, np.False_)
    >>> [type(density).__name__ for density in model.densities_[0]]
    ['Categorical', 'Gaussian']
    """

    weights_: Array
    densities_: list[list[Density]]
    by_column_: bool
    log_likelihood_: float
    lower_bound_: float
    lower_bounds_: list[float]
    converged_: bool
    n_iter_: int

    def __init__(
        self,
        densities: Any = "auto",
        *,
        n_components: int = 2,
        var_smoothing: float = 1e-9,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: RandomState = None,
    ) -> None:
        self.densities = densities
        self.n_components = n_components
        self.var_smoothing = var_smoothing
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X``, a table or an array of shape (n_samples, n_features); a row of weight k counts as k rows."""
        declared = declared_categories(X)
        data = self._check(X, y, sample_weight)
        if data.X.shape[0] < self.n_components:
            raise ValueError(
                f"n_samples must be at least n_components, got n_samples={data.X.shape[0]} and "
                f"n_components={self.n_components}. Ask for fewer components."
            )
        names = getattr(self, "feature_names_in_", None)
        listed = None if names is None else names.tolist()
        parts = density_parts(self.densities, self.n_components, data.X, listed, declared)
        rng = check_random_state(self.random_state)

        def start() -> MixtureOfDensities:
            if isinstance(self.densities, (list, tuple)):
                k = len(self.densities)
                return MixtureOfDensities(np.full(k, 1.0 / k), [[density] for density in self.densities])
            return clustered_start(data, parts, self.n_components, self.var_smoothing, rng)

        n_starts = 1 if isinstance(self.densities, (list, tuple)) else self.n_init
        watch = self._watch(X, None, attributes=lambda found: _attributes(found, parts), max_iter=self.max_iter)
        effort = Effort(self.tol, self.max_iter, watch)
        return self._adopt(best_density_mixture(data, parts, start, n_starts, self.var_smoothing, effort), data)

    def fit_predict(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Array:
        """Fit, and return the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def score_samples(self, X: Data) -> Array:
        """Return the log density of each row; ``-inf`` for one that no component can produce."""
        return self._responsibilities(self._check_new(X))[0]

    def score(self, X: Data, y: Data = None) -> float:
        """Return the mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def predict(self, X: Data) -> Array:
        """Return the most probable component of each row, the first of equal ones."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def predict_proba(self, X: Data) -> Array:
        """Return the responsibilities of shape (n_samples, n_components); for a row nobody can produce, the weights."""
        return self._responsibilities(self._check_new(X))[1]

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Return rows drawn from the mixture, sorted by component, and the component of each."""
        check_is_fitted(self)
        check_whole(n_samples=n_samples)
        rng = check_random_state(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_)
        drawn = []
        for densities, count in zip(self.densities_, counts, strict=True):
            parts = [np.asarray(density.sample(int(count), random_state=rng)) for density in densities]
            columns = [part[:, None] if part.ndim == 1 else part for part in parts]
            is_mixed = any(part.dtype.kind in "OU" for part in parts)
            drawn.append(np.hstack([one.astype(object) if is_mixed else one for one in columns]))
        return np.vstack(drawn), np.repeat(np.arange(len(counts)), counts)

    def _check_new(self, X: Data) -> Array:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=None, reset=False))

    def _responsibilities(self, X: Array) -> tuple[Array, Array]:
        values = Parts([], self.by_column_).values(X)
        return responsibilities(log_joint(self.weights_, self.densities_, values), self.weights_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _attributes(found: MixtureOfDensities, parts: Parts) -> dict[str, Any]:
    """Return what a callback needs to ask an iterate."""
    return {"weights_": found.weights, "densities_": found.densities, "by_column_": parts.by_column}
