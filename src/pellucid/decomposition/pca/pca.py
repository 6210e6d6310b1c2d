"""PCA: principal components, by whichever way is quickest and proved to be right."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_X_y
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.partial_fit import partial_fit_method
from pellucid.core.random_state import fixed_seed
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState
from pellucid.decomposition.pca.pca_solvers import add_rows, count_for_share, find_components
from pellucid.decomposition.projection import projected
from pellucid.solvers.leading_eigenvectors import elbow_of


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Principal components: the directions in which the rows spread most, and their variances.

    .. math:: C = \frac{1}{n - 1}\sum_i (x_i - \mu)(x_i - \mu)' = \sum_j \lambda_j v_jv_j',\qquad
       z_j(x) = v_j'(x - \mu)

    Parameters
    ----------
    n_components : int, float, 'mle' or None, default=None
        A number of components; a share of the variance that they must exceed; 'mle' for the number with the largest
        evidence (Minka, 2000); None for all.
    copy : bool, default=True
        Nothing changes: X is never written to.
    whiten : bool, 'pca' or 'zca', default=False
        Whether projections are divided by their deviation; True is 'pca', 'zca' turns them back into the columns.
    svd_solver : {'auto', 'full', 'covariance_eigh', 'arpack', 'randomized'}, default='auto'
        'full' factors the rows, 'covariance_eigh' their covariance matrix; the others multiply blocks of vectors until
        the residuals are small, whatever the seed.
    tol : float, default=0.0
        Residuals that suffice for 'arpack' and 'randomized', in parts of the largest variance; 0 goes down to 1e-11.
    iterated_power : int or 'auto', default='auto'
        As the next two it changes nothing: blocks are multiplied until the residuals are small.
    n_oversamples : int, default=10
        See above.
    power_iteration_normalizer : {'auto', 'QR', 'LU', 'none'}, default='auto'
        See above.
    random_state : int, RandomState instance or None, default=None
        Seed of the first block; None is 0, so that a fit gives the same bits again.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        :math:`v_j`, of length 1, the first of the largest entries above 0.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        :math:`\lambda_j`, falling, and their parts of the sum of all.
    singular_values_ : ndarray of shape (n_components,)
        Those of the centered rows, :math:`\sqrt{(n - 1)\lambda_j}`.
    mean_ : ndarray of shape (n_features,)
        :math:`\mu`.
    n_components_ : int
        Components kept.
    n_samples_ : int or float
        Rows, or the sum of their weights.
    noise_variance_ : float
        Mean of the variances that were left out.
    scatter_ : ndarray of shape (n_features, n_features)
        :math:`(n - 1)C`, from which ``partial_fit`` goes on; not there after ``fit``.
    certificate_, trace_ : Certificate, Trace
        Residuals and right angles of the directions, and a bound on variances that were missed; the sum captured.

    Examples
    --------
    The four points of the lecture: the first axis explains 97 % of the variance.

    >>> X = [[0.6, 0.4], [1.0, 1.2], [1.6, 1.3], [2.0, 2.3]]
    >>> model = PCA(n_components=1).fit(X)
    >>> model.components_.round(4), model.explained_variance_ratio_.round(2)
    (array([[0.6181, 0.7861]]), array([0.97]))
    """

    components_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    singular_values_: Array
    mean_: Array
    n_components_: int
    n_samples_: float
    noise_variance_: float
    scatter_: Array

    def __init__(
        self,
        n_components: Any = None,
        *,
        copy: bool = True,
        whiten: bool | str = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: Any = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features)."""
        data = self._check(X, None, sample_weight)
        return self._adopt(find_components(data, self, fixed_seed(self.random_state)), data)

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Go on with more rows: the components are those of all rows so far, not an approximation of them.

        It keeps the matrix ``scatter_``, of the columns by the columns, and goes on from a ``fit`` of all components.
        """
        is_first = not hasattr(self, "components_")
        data = self._check(X, None, sample_weight, reset=is_first)
        return self._adopt(add_rows(data, self, None if is_first else self), data)

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Array:
        """Fit, and return the projections of the training rows."""
        return self.fit(X, **params).transform(X)

    def transform(self, X: Data) -> Array:
        """Return :math:`z(x)`, of shape (n_samples, n_components), or (n_samples, n_features) for 'zca'."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        with own_threads():
            Z = projected(X, self.components_, self.mean_)
        if self.whiten:
            Z /= self._deviations(Z.dtype)
        return np.asarray(Z @ self.components_.astype(Z.dtype, copy=False)) if self.whiten == "zca" else Z

    def inverse_transform(self, X: Data) -> Array:
        """Return the rows with these projections."""
        check_is_fitted(self)
        X = check_array(X, dtype=(np.float64, np.float32))
        Z = X @ self.components_.T if self.whiten == "zca" else X
        return np.asarray((Z * self._deviations(Z.dtype) if self.whiten else Z) @ self.components_ + self.mean_)

    def denoise(self, X: Data) -> Array:
        """Return the rows without what the components do not hold: the nearest points in their span."""
        return self.inverse_transform(self.transform(X))

    def reconstruction_error(self, X: Data) -> Array:
        """Return the squared distance of each row from its denoised version."""
        rest = np.asarray(X, dtype=np.float64) - self.denoise(X)
        return np.asarray(np.einsum("ij,ij->i", rest, rest))

    def count_for_share(self, share: float = 0.9) -> int:
        """Return how many components hold more than this share of the variance; 0.9 is the usual rule."""
        check_is_fitted(self)
        if not 0.0 < share < 1.0:
            raise ValueError(f"share must be between 0 and 1, got {share!r}. Try 0.9.")
        held = float(self.explained_variance_ratio_.sum())
        if held < share and self.n_components_ < min(self.n_samples_, self.n_features_in_):
            raise ValueError(
                f"share must be at most what the {self.n_components_} components hold, {held:.3g}, got {share:g}. "
                "Fit more components."
            )
        return count_for_share(self.explained_variance_ratio_, share)

    def elbow(self) -> int | None:
        """Return the component at the bend of the scree plot, None where it has none: those before it are kept."""
        check_is_fitted(self)
        return elbow_of(np.arange(1, self.n_components_ + 1), self.explained_variance_.astype(np.float64))

    def get_covariance(self) -> Array:
        """Return the covariance matrix of the model: the components, and noise in all other directions."""
        check_is_fitted(self)
        V = self.components_
        more = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        return np.asarray((V.T * more) @ V + self.noise_variance_ * np.eye(V.shape[1], dtype=V.dtype))

    def get_precision(self) -> Array:
        """Return the inverse of the covariance matrix of the model."""
        check_is_fitted(self)
        V, noise = self.components_, self._positive_noise()
        variances = np.maximum(self.explained_variance_, noise)
        if len(V) == V.shape[1]:
            return np.asarray((V.T / variances) @ V)
        return np.asarray((V.T * (1.0 / variances - 1.0 / noise)) @ V + np.eye(V.shape[1], dtype=V.dtype) / noise)

    def score_samples(self, X: Data) -> Array:
        """Return the logarithm of the density of each row under the normal distribution of the model."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        noise, V = self._positive_noise(), self.components_
        variances = np.maximum(self.explained_variance_, noise).astype(np.float64)
        rows = (X.toarray() if hasattr(X, "toarray") else X) - self.mean_
        Z = rows @ V.T
        left_out = V.shape[1] - len(V)
        distance = np.einsum("ij,ij,j->i", Z, Z, 1.0 / variances)
        if left_out:
            distance = distance + (np.einsum("ij,ij->i", rows, rows) - np.einsum("ij,ij->i", Z, Z)) / noise
        log_volume = float(np.log(variances).sum()) + (left_out * np.log(noise) if left_out else 0.0)
        return np.asarray(-0.5 * (distance + log_volume + V.shape[1] * np.log(2.0 * np.pi)))

    def score(self, X: Data, y: Data = None) -> float:
        """Return the mean of ``score_samples``."""
        return float(np.mean(self.score_samples(X)))

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[self.whiten == "zca"]

    def _deviations(self, dtype: np.dtype) -> Array:
        """Return the deviations of the projections, none of them 0."""
        return np.maximum(np.sqrt(self.explained_variance_), np.finfo(self.explained_variance_.dtype).eps).astype(dtype)

    def _positive_noise(self) -> float:
        """Return the noise; refuse a model without any in directions that it does not hold."""
        if self.noise_variance_ == 0.0 and len(self.components_) < self.components_.shape[1]:
            raise ValueError(
                f"The model must have noise, or a component for each of {self.components_.shape[1]} columns, to have a "
                f"density, got {len(self.components_)} components and no noise. Fit fewer components or more rows."
            )
        return self.noise_variance_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in ("auto", "arpack", "covariance_eigh")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def pca_per_class(X: Data, y: Data, **parameters: Any) -> dict[Any, PCA]:
    """Return a PCA of the rows of each class: its own mean and its own axes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their classes.
    **parameters
        Those of :class:`PCA`.

    Examples
    --------
    >>> models = pca_per_class([[0, 0], [1, 1], [0, 5], [2, 5]], ["a", "a", "b", "b"], n_components=1)
    >>> {label: model.components_.round(3).tolist() for label, model in models.items()}
    {'a': [[0.707, 0.707]], 'b': [[1.0, 0.0]]}
    """
    labels = np.asarray(y)
    X, _ = check_X_y(X, np.zeros(len(labels)), accept_sparse="csr")
    rows = X.tocsr() if sparse.issparse(X) else X
    return {label.item(): PCA(**parameters).fit(rows[labels == label]) for label in np.unique(labels)}
