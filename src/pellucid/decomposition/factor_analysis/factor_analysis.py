"""FactorAnalysis: few common factors and a noise of its own for each column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort
from pellucid.core.types import Array, Data, RandomState
from pellucid.decomposition.factor_analysis.factor_analysis_solvers import (
    FactorProblem,
    fit_factors,
    turned_and_signed,
)
from pellucid.decomposition.factor_analysis.factor_model import factor_scores, log_determinant, precision
from pellucid.solvers.presented_rows import row_scatter, without_constants


class FactorAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Few common factors, and a noise of its own for each column, by maximum likelihood.

    .. math:: x = W'z + \mu + \varepsilon,\qquad z \sim N(0, I),\quad \varepsilon \sim N(0, \mathrm{diag}(\psi))

    Every step works on the covariance matrix, so its cost does not grow with the rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Factors, at most as many as columns, which None means.
    tol : float, default=0.01
        The fit ends when the log likelihood of all rows rises by less.
    copy : bool, default=True
        Nothing changes: X is never written to.
    max_iter : int, default=1000
        Most steps.
    noise_variance_init : array-like of shape (n_features,) or None, default=None
        Noise variances to start from, above 0; None is 1 for each column.
    svd_method : {'randomized', 'lapack'}, default='randomized'
        Nothing changes: eigenvectors are computed to full precision.
    iterated_power : int, default=3
        Nothing changes: no step here is a power of a random matrix.
    rotation : {'varimax', 'quartimax'} or None, default=None
        Rotation after the fit: it changes neither likelihood nor covariance, only how factors read.
    random_state : int, RandomState instance or None, default=0
        Nothing changes: nothing is random.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W: the factors in falling order of the variance they explain in units of the noise, each with the largest
        score of the training rows above 0.
    noise_variance_ : ndarray of shape (n_features,)
        :math:`\psi`, at least 1e-12 of the variance of the column.
    mean_ : ndarray of shape (n_features,)
        :math:`\mu`.
    loglike_ : list of float
        Log likelihood of all rows at each iteration.
    n_iter_ : int
        Iterations.
    certificate_, trace_ : Certificate, Trace
        Equations of the loadings, gain of another step, the likelihood computed again; likelihood along the way.

    Examples
    --------
    One factor moves two columns; the third is noise.

    >>> X = [[1.0, 1.1, 0.3], [2.0, 1.9, -0.3], [3.0, 3.1, -0.3], [4.0, 4.9, 0.3]]
    >>> model = FactorAnalysis(1).fit(X)
    >>> model.components_.round(2)
    array([[1.11, 1.42, 0.03]])
    """

    components_: Array
    noise_variance_: Array
    mean_: Array
    loglike_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-2,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: Any = None,
        svd_method: str = "randomized",
        iterated_power: int = 3,
        rotation: str | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features); a row of weight k counts as k rows."""
        data = self._check(X, None, sample_weight)
        n, d = data.X.shape
        k = d if self.n_components is None else min(d, self.n_components)
        start = start_of_noise(self.noise_variance_init, d)
        mass = float(n) if data.weight is None else float(data.weight.sum())
        mean, scatter = row_scatter(data.X, weight=data.weight)
        covariance = without_constants(scatter, mean, mass) / mass
        problem = FactorProblem(mean, covariance, mass, k)

        def attributes(loadings: Array, noise: Array) -> dict[str, Any]:
            turned = turned_and_signed(loadings, noise, mean, data.X, self.rotation)
            return {"components_": turned, "noise_variance_": noise, "mean_": mean}

        watch = self._watch(X, None, attributes=attributes, max_iter=self.max_iter)
        found = fit_factors(problem, start, Effort(self.tol, self.max_iter, watch))
        final = {**found.attributes, **attributes(found.attributes["components_"], found.attributes["noise_variance_"])}
        return self._adopt(replace(found, attributes=final), data)

    def transform(self, X: Data) -> Array:
        r"""Return the expected factors :math:`E[z \mid x]`, of shape (n_samples, n_components)."""
        return factor_scores(self._check_new(X), self.mean_, self.components_, self.noise_variance_)

    def get_covariance(self) -> Array:
        """Return the covariance of the model, of shape (n_features, n_features)."""
        check_is_fitted(self)
        return np.asarray(self.components_.T @ self.components_ + np.diag(self.noise_variance_))

    def get_precision(self) -> Array:
        """Return the inverse of the covariance of the model, of shape (n_features, n_features)."""
        check_is_fitted(self)
        return precision(self.components_, self.noise_variance_)

    def score_samples(self, X: Data) -> Array:
        """Return the log density of each row, of shape (n_samples,)."""
        X = self._check_new(X)
        rows = X - self.mean_
        factors = factor_scores(X, self.mean_, self.components_, self.noise_variance_)
        left = (rows - factors @ self.components_) / np.sqrt(self.noise_variance_)
        distance = np.sum(left**2, axis=1) + np.sum(factors**2, axis=1)
        constant = X.shape[1] * np.log(2.0 * np.pi) + log_determinant(self.components_, self.noise_variance_)
        return np.asarray(-0.5 * (distance + constant))

    def score(self, X: Data, y: Data = None) -> float:
        """Return the mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def _check_new(self, X: Data) -> Array:
        check_is_fitted(self)
        return np.asarray(card_of(type(self)).rules_for(self).check_rows(self, X))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def start_of_noise(given: Any, d: int) -> Array:
    """Return the noise variances to start from."""
    if given is None:
        return np.ones(d)
    start = np.asarray(given, dtype=np.float64)
    if start.shape != (d,) or not np.all((start > 0.0) & np.isfinite(start)):
        raise ValueError(
            f"noise_variance_init must be {d} numbers above 0, one for each column, got shape {start.shape}. "
            "Leave it out to start from 1."
        )
    return start
