"""TruncatedSVD: the leading singular vectors of rows as they are; of counts of words, latent semantic indexing."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.random_state import fixed_seed
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.decomposition.directions_at_fit import certificate_at_fit
from pellucid.decomposition.principal_directions import in_ordinary_units, leading_directions
from pellucid.decomposition.projection import Projecting, projected
from pellucid.proofs.rounding import TINY
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.design import make_design


class TruncatedSVD(Projecting):
    r"""The leading singular vectors of rows that are not centered, so that sparse rows stay sparse.

    .. math:: X \approx U\Sigma V',\qquad z(x) = V'x

    Of counts of words in texts this is latent semantic indexing: words that occur together share a direction.

    Parameters
    ----------
    n_components : int, default=2
        PrincipalDirections to find.
    algorithm : {'arpack', 'randomized'}, default='randomized'
        Nothing changes: both multiply blocks of vectors until the residuals are small; 'arpack' refuses to find
        all directions.
    n_iter, n_oversamples, power_iteration_normalizer : default=5, 10, 'auto'
        Nothing changes: as many blocks are multiplied as it takes.
    random_state : int, RandomState instance or None, default=None
        Seed of the first block; None is 0, so that a fit gives the same bits again.
    tol : float, default=0.0
        Residuals that suffice, in parts of the largest squared singular value; 0 goes down to 1e-11.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        :math:`V'`, the first of the largest entries of each row above 0.
    singular_values_ : ndarray of shape (n_components,)
        :math:`\Sigma`, falling.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of the projections of the training rows, and its part of that of all columns.
    certificate_, trace_ : Certificate, Trace
        Residuals and right angles of the directions, and a bound on singular values that were missed; the sum captured.

    Examples
    --------
    >>> model = TruncatedSVD(n_components=1).fit([[3.0, 0.0], [0.0, 1.0]])
    >>> model.singular_values_.round(6), model.components_.round(6) + 0.0
    (array([3.]), array([[1., 0.]]))
    """

    singular_values_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: RandomState = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features)."""
        data = self._check(X, None, sample_weight)
        return self._adopt(find_topics(data, self, fixed_seed(self.random_state)), data)

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Array:
        """Fit, and return the projections of the training rows."""
        return self.fit(X, **params).transform(X)


def find_topics(data: TrainingData, parameters: Any, seed: int) -> Fit:
    """Return the leading directions of the rows as they are."""
    n, d = data.X.shape
    k = parameters.n_components
    if k > d:
        raise ValueError(f"n_components({k}) must be <= n_features({d}). Ask for fewer components.")
    if parameters.algorithm == "arpack" and k >= min(n, d):
        raise ValueError(
            f"n_components must be below min(n_samples, n_features)={min(n, d)} for 'arpack', got {k}. Ask for fewer "
            "components."
        )
    X, unit = in_ordinary_units(data.X)
    design = make_design(X, fit_intercept=False, sample_weight=data.weight)
    total = float(design.sq_norms().sum())
    k = min(n, k)
    found = leading_directions(design, k, tol=float(parameters.tol), seed=seed)
    variances, of_all, lengths = _variances(X, data.weight, found.vectors[:, :k])
    attributes = {
        "components_": np.ascontiguousarray(found.vectors[:, :k].T, dtype=data.dtype),
        "singular_values_": (np.where(found.squares[:k] > 0.0, lengths, 0.0) / unit).astype(data.dtype),
        "explained_variance_": (variances / unit / unit).astype(data.dtype),
        "explained_variance_ratio_": (variances / max(of_all, TINY)).astype(data.dtype),
    }
    certificate = certificate_at_fit(found, k, design, total, data, float(parameters.tol))
    return Fit(attributes, found.trace, certificate=certificate)


def _variances(X: SparseOrDense, weight: Array | None, vectors: Array) -> tuple[Array, float, Array]:
    """Return the variance of the projections on each direction, the sum of those of the columns, and their lengths.

    A length keeps the digits that its square, an eigenvalue, has lost beside the largest.
    """
    columns = make_design(X, fit_intercept=True, sample_weight=weight)
    n_rows, mean = columns.total_weight, columns.mean
    Z = projected(X, vectors.T, mean).astype(np.float64, copy=False)  # about the mean: an offset costs no digits
    variances = make_design(Z, fit_intercept=True, sample_weight=weight).sq_norms() / n_rows
    lengths = np.sqrt(n_rows * (variances + (mean @ vectors) ** 2))
    return variances, float(columns.sq_norms().sum()) / n_rows, lengths
