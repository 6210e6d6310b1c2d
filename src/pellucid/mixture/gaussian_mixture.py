"""GaussianMixture: rows drawn from one of several Gaussians."""

from __future__ import annotations

from math import log
from typing import Any, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.arrays import on_host
from pellucid.core.checks import check_whole
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort, Fit
from pellucid.core.input_rules import FLOATS
from pellucid.core.scale.lazy_answers import answers_itself
from pellucid.core.scale.row_blocks import RowBlocks
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_user
from pellucid.mixture.covariance_kinds import KINDS, Components
from pellucid.mixture.gaussian_mixture_solvers import best_mixture, for_blocks, log_densities, mixture_rows
from pellucid.mixture.gaussian_mixture_starts import check_given, start_components
from pellucid.proofs.training_data import TrainingData


class GaussianMixture(DensityMixin, CertifiedEstimator):
    r"""A density that is a weighted sum of Gaussians, fitted by the EM method.

    .. math:: f(x) = \sum_k \pi_k\, N(x;\, \mu_k, \Sigma_k), \qquad
              r_{ik} = \frac{\pi_k N(x_i; \mu_k, \Sigma_k)}{f(x_i)}

    A step takes the responsibilities :math:`r_{ik}` of the present components, then the weights, means and covariances
    of the rows so shared out. The likelihood never falls; where it ends depends on the start.

    Parameters
    ----------
    n_components : int, default=1
        :math:`K`, at least 1.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        A matrix for each component, one for all, a variance for each component and column, or one for each component.
    tol : float, default=1e-3
        Rise of the mean log likelihood by a step at which to stop; a step longer than the one before is not the last.
    reg_covar : float, default=1e-6
        Added to the variances, so that none is 0; or ``2**-33`` of the variance of the column, if that is more. A
        component that collapses onto few rows is warned of; with ``reg_covar=0`` it is an error.
    max_iter : int, default=100
        Most steps of each start; 0 leaves the start as it is.
    n_init : int, default=1
        Starts, of which the one with the largest lower bound is kept.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='kmeans'
        The start: clusters of k-means, rows drawn far from each other, random responsibilities, or random rows.
    weights_init : array-like of shape (n_components,), default=None
        Weights to start from.
    means_init : array-like of shape (n_components, n_features), default=None
        Means to start from.
    precisions_init : array-like, default=None
        Inverse covariances to start from, in the shape of ``covariances_``.
    random_state : int, RandomState instance or None, default=None
        Where starts and samples come from.
    warm_start : bool, default=False
        Whether a further fit goes on from the last.
    verbose, verbose_interval : int, default=0, 10
        Nothing is printed, whatever it is: see ``trace_``.

    Attributes
    ----------
    weights_, means_ : ndarray of shape (n_components,), (n_components, n_features)
        :math:`\pi_k` and :math:`\mu_k`.
    covariances_, precisions_, precisions_cholesky_ : ndarray
        :math:`\Sigma_k`, :math:`\Sigma_k^{-1} = U_k U_k^\top` and the upper triangular :math:`U_k`; of shape
        (n_components, n_features, n_features), (n_features, n_features), (n_components, n_features) or
        (n_components,), by the covariance type.
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
    >>> model = GaussianMixture(2, random_state=0).fit([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]])
    >>> np.sort(model.means_.ravel()).round(3), model.weights_
    (array([ 2., 12.]), array([0.5, 0.5]))
    """

    weights_: Array
    means_: Array
    covariances_: Array
    precisions_: Array
    precisions_cholesky_: Array
    log_likelihood_: float
    lower_bound_: float
    lower_bounds_: list[float]
    converged_: bool
    n_iter_: int

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: RandomState = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features); a row of weight k counts as k rows."""
        data = self._check(X, y, sample_weight)
        watch = self._watch(X, None, attributes=self._attributes_of, max_iter=self.max_iter)
        return self._adopt(self._mixture(data, watch), data)

    def _mixture(self, data: Any, watch: Any) -> Fit:
        """Return the best of all starts, for rows in memory or on a device."""
        n, d = data.X.shape
        earlier, before = self._earlier()
        self._check_count(n)
        given = check_given(self, d)
        problem = mixture_rows(data, self.covariance_type, self.reg_covar)
        rng = check_random_state(self.random_state)
        self._check_earlier(earlier, d)

        def start() -> Components:
            if earlier is not None:
                return problem.standardized(earlier)
            return start_components(data, problem, self, given, rng)

        n_starts = self.n_init if earlier is None else 1
        return best_mixture(data, problem, start, n_starts, Effort(self.tol, self.max_iter, watch), before)

    def _adopt(self, found: Fit, data: TrainingData | RowBlocks) -> Self:
        super()._adopt(found, data)
        if "collapsed" in self.certificate_.reason:
            warn_user(f"GaussianMixture: {self.certificate_.reason}", ConvergenceWarning)
        return self

    def fit_predict(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Array:
        """Fit, and return the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def score_samples(self, X: Data) -> Array:
        """Return the log density of each row."""
        X = self._check_new(X)
        with own_threads():
            return log_densities(KINDS[self.covariance_type], self._components(), X)

    def score(self, X: Data, y: Data = None) -> float:
        """Return the mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def predict(self, X: Data) -> Array:
        """Return the most probable component of each row, the first of equal ones."""
        X = self._check_new(X)
        labels = np.empty(len(X), dtype=np.int64)

        def respond(some: slice, joint: Array) -> None:
            labels[some] = joint.argmax(axis=0)

        with own_threads():
            for_blocks(KINDS[self.covariance_type], self._components(), X, respond)
        return labels

    def predict_proba(self, X: Data) -> Array:
        """Return the responsibilities of shape (n_samples, n_components): the probability of each component."""
        return self._responsibilities(self._check_new(X))

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Return rows drawn from the mixture, sorted by component, and the component of each."""
        check_is_fitted(self)
        check_whole(n_samples=n_samples, hint="(Invalid value for 'n_samples'.) Draw one row at least.")
        rng = check_random_state(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_)
        drawn = []
        for k, (mean, count) in enumerate(zip(self.means_, counts, strict=True)):
            spread = self.covariances_ if self.covariance_type == "tied" else self.covariances_[k]
            if self.covariance_type in ("full", "tied"):
                drawn.append(rng.multivariate_normal(mean, spread, int(count)))
            else:
                drawn.append(mean + rng.standard_normal(size=(count, len(mean))) * np.sqrt(spread))
        return np.vstack(drawn), np.repeat(np.arange(len(counts)), counts)

    @answers_itself
    def bic(self, X: Data) -> float:
        """Return the Bayesian information criterion for the rows: the smaller, the better."""
        return -2.0 * self.score(X) * len(X) + self._n_parameters() * log(len(X))

    @answers_itself
    def aic(self, X: Data) -> float:
        """Return Akaike's information criterion for the rows: the smaller, the better."""
        return -2.0 * self.score(X) * len(X) + 2.0 * self._n_parameters()

    def _earlier(self) -> tuple[Components | None, float]:
        """Return the components to go on from, if there are any, and their lower bound."""
        if self.warm_start and hasattr(self, "converged_"):
            return Components(*map(on_host, vars(self._components()).values())), self.lower_bound_
        return None, -np.inf

    def _check_earlier(self, earlier: Components | None, n_features: int) -> None:
        if earlier is not None and earlier.means.shape != (self.n_components, n_features):
            raise ValueError("X must have the columns of the last fit with warm_start=True, and n_components as many.")

    def _check_count(self, n_rows: int) -> None:
        if n_rows < self.n_components:
            raise ValueError(
                f"n_samples must be at least n_components, got n_components = {self.n_components}, n_samples = "
                f"{n_rows}. Expected n_samples >= n_components: ask for fewer components."
            )

    @staticmethod
    def _attributes_of(found: Components) -> dict[str, Any]:
        """Return what a callback needs to ask an iterate."""
        return {
            "weights_": found.weights,
            "means_": found.means,
            "covariances_": found.covariances,
            "precisions_cholesky_": found.factors,
        }

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        matrix = d * (d + 1) // 2
        spreads = {"full": k * matrix, "tied": matrix, "diag": k * d, "spherical": k}[self.covariance_type]
        return int(spreads + k * d + k - 1)

    def _components(self) -> Components:
        return Components(self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)

    def _check_new(self, X: Data) -> Array:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=FLOATS, reset=False))

    def _responsibilities(self, X: Array) -> Array:
        shares = np.empty((len(X), len(self.weights_)), dtype=X.dtype)

        def respond(some: slice, joint: Array) -> None:
            parts = np.exp(joint - joint.max(axis=0))
            shares[some] = (parts / parts.sum(axis=0)).T

        with own_threads():
            for_blocks(KINDS[self.covariance_type], self._components(), X, respond)
        return shares
