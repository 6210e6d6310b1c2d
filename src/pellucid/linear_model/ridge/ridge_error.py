r"""The expected error of ridge regression when the truth is known, and what the penalty does to each direction.

For :math:`y = Xw + b + \varepsilon` with :math:`\mathrm{Var}(\varepsilon) = \sigma^2`, :math:`H = A'A + \alpha I`:

.. math::
    \text{bias}^2(x) = \bigl(\alpha\, (x - \bar x)'H^{-1}w\bigr)^2, \qquad
    \text{variance}(x) = \sigma^2\Bigl(\tfrac1m + (x - \bar x)'H^{-1}A'AH^{-1}(x - \bar x)\Bigr), \qquad
    \text{noise} = \sigma^2 .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd, svdvals
from sklearn.utils import check_array

from pellucid.core.checks import check_nonnegative
from pellucid.core.types import Array, Data


@dataclass(frozen=True)
class ErrorSplit:
    """Expected squared error of a prediction, averaged over the points asked for."""

    bias_squared: float
    variance: float
    noise: float

    @property
    def total(self) -> float:
        """The sum of the three parts."""
        return self.bias_squared + self.variance + self.noise


def ridge_error_split(
    X: Data,
    coef: Data,
    *,
    alpha: float,
    noise_variance: float,
    at: Data | None = None,
    fit_intercept: bool = True,
) -> ErrorSplit:
    """Return the split of the expected error of ridge regression, if the truth is known.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows trained on.
    coef : array-like of shape (n_features,)
        The true coefficients.
    alpha : float
        Penalty, at least 0.
    noise_variance : float
        Variance of the noise of each target, at least 0.
    at : array-like of shape (n_points, n_features), default=None
        The rows predicted; None predicts those of ``X``.
    fit_intercept : bool, default=True
        Whether the model has an intercept.

    Examples
    --------
    >>> split = ridge_error_split([[-1.0], [1.0]], [2.0], alpha=2.0, noise_variance=1.0)
    >>> round(split.bias_squared, 12), split.variance  # half of w is lost: 1; 1/2 + 2/16
    (1.0, 0.625)
    """
    check_nonnegative(alpha=alpha, noise_variance=noise_variance)
    X = check_array(X, dtype=np.float64)
    points = X if at is None else check_array(at, dtype=np.float64)
    w = np.asarray(coef, dtype=np.float64).ravel()
    if len(w) != X.shape[1] or points.shape[1] != X.shape[1]:
        raise ValueError(
            f"coef and at must have {X.shape[1]} features as X, got {len(w)} and {points.shape[1]}. Align the columns."
        )
    mean = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    _, s, right = svd(X - mean, full_matrices=True)
    squares = np.zeros(X.shape[1])
    squares[: len(s)] = s**2
    kept = np.where(squares + alpha > 0, squares / np.where(squares + alpha > 0, squares + alpha, 1.0), 0.0)
    centered = (points - mean) @ right.T
    bias = centered @ ((1.0 - kept) * (right @ w))
    spread = np.where(squares > 0, kept**2 / np.where(squares > 0, squares, 1.0), 0.0)
    variance = noise_variance * (centered**2 @ spread + (1.0 / len(X) if fit_intercept else 0.0))
    return ErrorSplit(float(np.mean(bias**2)), float(np.mean(variance)), float(noise_variance))


def shrinkage_factors(X: Data, alpha: float, *, fit_intercept: bool = True) -> Array:
    """Return ``s^2 / (s^2 + alpha)``, what ridge keeps of least squares along each principal direction of ``X``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    alpha : float
        Penalty, at least 0.
    fit_intercept : bool, default=True
        Whether the columns are centered first, as in a model with an intercept.

    Examples
    --------
    >>> shrinkage_factors([[-1.0], [1.0]], alpha=2.0)
    array([0.5])
    """
    check_nonnegative(alpha=alpha)
    X = check_array(X, dtype=np.float64)
    squares = svdvals(X - X.mean(axis=0) if fit_intercept else X) ** 2
    return np.where(squares + alpha > 0, squares / np.where(squares + alpha > 0, squares + alpha, 1.0), 0.0)
