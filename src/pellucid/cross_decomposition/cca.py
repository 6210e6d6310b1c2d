"""CCA: what two views of the same rows have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.cross_decomposition.cca_solvers import canonical_views, solve_cca

FLOATS = (np.float64, np.float32)


class CCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RegressorMixin, MultiOutputMixin, CertifiedEstimator):
    r"""Directions of two views whose scores are most correlated, each uncorrelated with those before.

    .. math:: \max_{a, b}\ \frac{a'X'Yb}{\sqrt{a'(X'X + n\alpha I)a}\,\sqrt{b'(Y'Y + n\alpha I)b}}

    with centered columns, in units of their deviations if ``scale``, and n one less than the number of rows. Of pairs
    with equal correlations the first follows the first column of y as far as it can, then the second, and so on.

    Parameters
    ----------
    n_components : int, default=2
        Pairs of directions, at most as many as rows, columns of X and columns of y.
    scale : bool, default=True
        Whether to divide each column by its deviation.
    max_iter, tol : int, float, default=500, 1e-6
        Nothing changes: the directions come from a factorization.
    copy : bool, default=True
        Nothing changes: X and y are never written to.
    alpha : float, default=0.0
        Ridge added to the covariances of both views, in squares of the units used; 0 is plain CCA. It is needed where
        a view has about as many columns as rows, for then some direction fits anything.

    Attributes
    ----------
    x_weights_, y_weights_ : ndarray of shape (n_features, n_components), (n_targets, n_components)
        The directions made orthonormal one after the other; the largest entry of each x weight is above 0.
    x_rotations_, y_rotations_ : ndarray
        What centered and scaled rows are multiplied by to give their scores.
    x_loadings_, y_loadings_ : ndarray
        Regressions of the columns on the scores.
    correlations_ : ndarray of shape (n_components,)
        Correlations of the pairs of scores, falling; with ``alpha`` those of the penalized criterion.
    coef_, intercept_ : ndarray of shape (n_targets, n_features), (n_targets,)
        Scores of X read as scores of y, times the loadings of y, for rows less ``x_mean_``.
    x_mean_, x_scale_, y_scale_ : ndarray
        What is taken away and divided by; ``intercept_`` is the mean of y.
    single_target_ : bool
        Whether y had one dimension, so that predictions have one.
    n_iter_ : list of int
        1 for each component found.
    certificate_, trace_ : Certificate, Trace
        Residuals of every pair and that no larger correlation was missed; correlation by correlation.

    Examples
    --------
    The second column of y is twice the first column of X, plus 1.

    >>> X = [[0.0, 0.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0]]
    >>> y = [[0.1, 1.0], [0.9, 3.0], [6.2, 5.0], [11.9, 7.0]]
    >>> CCA(1).fit(X, y).correlations_.round(6)
    array([1.])
    """

    x_weights_: Array
    y_weights_: Array
    x_rotations_: Array
    y_rotations_: Array
    x_loadings_: Array
    y_loadings_: Array
    correlations_: Array
    coef_: Array
    intercept_: Array
    x_mean_: Array
    x_scale_: Array
    y_scale_: Array
    single_target_: bool
    n_iter_: list[int]

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = True,
        max_iter: int = 500,
        tol: float = 1e-6,
        copy: bool = True,
        alpha: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy
        self.alpha = alpha

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets)."""
        data = self._check(X, y, sample_weight)
        targets = data.y.reshape(len(data.y), -1).astype(np.float64, copy=False)
        most = min(data.X.shape[0], data.X.shape[1], targets.shape[1])
        if self.n_components > most:
            raise ValueError(
                f"n_components must be at most {most}, the fewest of rows, columns and targets: `n_components` upper "
                f"bound is {most}. Got {self.n_components} instead. Reduce `n_components`."
            )
        views = canonical_views(data, targets, scale=self.scale, alpha=float(self.alpha))
        found = solve_cca(views, self.n_components)
        attributes = {**found.attributes, "single_target_": data.y.ndim == 1}
        self._adopt(replace(found, attributes=attributes), data)
        if len(self.n_iter_) < self.n_components:
            warn_user(
                f"CCA: y residual is constant at iteration {len(self.n_iter_)}: X or y has no more directions, and "
                "the other components are 0. Reduce n_components."
            )
        return self

    def transform(self, X: Data, y: Data = None, copy: bool = True) -> Any:
        """Return the scores of X, of shape (n_samples, n_components), and those of y where it is given."""
        rows = self._check_new(X)
        scores = ((rows - self.x_mean_) / self.x_scale_) @ self.x_rotations_
        if y is None:
            return scores
        targets = check_array(y, input_name="y", ensure_2d=False, dtype=FLOATS)
        centered = targets.reshape(len(targets), -1) - self.intercept_
        return scores, (centered / self.y_scale_) @ self.y_rotations_

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Any:
        """Fit, and return the scores of X and of y."""
        return self.fit(X, y, **params).transform(X, y)

    def inverse_transform(self, X: Data, y: Data = None) -> Any:
        """Return rows with these scores, and targets where ``y`` holds scores of them; exact with all components."""
        check_is_fitted(self)
        X = check_array(X, input_name="X", dtype=FLOATS)
        rows = (X @ self.x_loadings_.T) * self.x_scale_ + self.x_mean_
        if y is None:
            return rows
        y = check_array(y, input_name="y", dtype=FLOATS)
        return rows, (y @ self.y_loadings_.T) * self.y_scale_ + self.intercept_

    def predict(self, X: Data, copy: bool = True) -> Array:
        """Return the targets whose scores are those of X, of shape (n_samples,) or (n_samples, n_targets)."""
        found = (self._check_new(X) - self.x_mean_) @ self.coef_.T + self.intercept_
        return np.asarray(found.ravel() if self.single_target_ else found)

    def _check_new(self, X: Data) -> Array:
        check_is_fitted(self)
        return np.asarray(card_of(type(self)).rules_for(self).check_rows(self, X))

    @property
    def _n_features_out(self) -> int:
        return int(self.x_rotations_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.target_tags.required = False
        return tags
