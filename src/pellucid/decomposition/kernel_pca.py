"""KernelPCA: principal components in the space of a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.core.array_api import array_namespace
from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.random_state import fixed_seed
from pellucid.core.types import Array, Data, RandomState
from pellucid.decomposition.kernel_pca_solvers import (
    CenteredProducts,
    centered_times,
    components_kernel,
    find_components,
    learn_inverse,
)
from pellucid.kernels.choice import gamma_from, is_given


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Principal components in the space of a kernel.

    .. math:: \bar K = HKH,\quad H = I - \tfrac1n 11',\qquad \bar K v_j = \lambda_j v_j,\qquad
       z_j(x) = \frac{1}{\sqrt{\lambda_j}}\sum_i v_{ij}\,\bar k(x_i, x)

    :math:`\bar k` is the product of two rows when the mean of the training rows is taken away in that space.

    Parameters
    ----------
    n_components : int or None, default=None
        Components to find; None finds all with an eigenvalue above 0.
    kernel : str, Kernel or callable, default='linear'
        'linear', 'poly', 'rbf', 'sigmoid', 'cosine', 'laplacian', 'precomputed', an object of :mod:`pellucid.kernels`
        or a function of two rows.
    gamma : float or None, default=None
        Factor of the named kernels that have one; None is one over the number of columns.
    degree, coef0 : float, default=3, 1
        Power and constant of the named kernels that have them.
    kernel_params : dict or None, default=None
        Keywords for a function.
    alpha : float, default=1.0
        Penalty of the ridge regression that learns the inverse transform.
    fit_inverse_transform : bool, default=False
        Whether to learn it.
    eigen_solver : {'auto', 'dense', 'arpack', 'randomized'}, default='auto'
        'dense' factors the whole matrix; the others find a few components of many rows by blocks of Lanczos.
    tol : float, default=0
        Residuals that suffice, in parts of the largest eigenvalue; 0 goes down to 1e-12.
    max_iter : int or None, default=None
        Most blocks multiplied; None sets no limit.
    iterated_power : int or 'auto', default='auto'
        Nothing changes: blocks are multiplied until the residuals are small.
    remove_zero_eig : bool, default=False
        Whether components with eigenvalue 0 go, as they do for ``n_components=None``.
    random_state : int, RandomState instance or None, default=None
        Seed of the first block; None is 0, so that a fit gives the same bits again.
    copy_X : bool, default=True
        Whether to keep a copy of X, so that the model stands when X is written to later.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, falling.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        :math:`v`, of length 1, the first of the largest entries above 0.
    kernel_means_ : ndarray of shape (n_samples,)
        Mean product of each training row with all of them, for the centering of new rows.
    gamma_ : float
        The factor used.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        The training rows, or given products.
    X_transformed_fit_, dual_coef_ : ndarray
        Projections of the training rows, and the ridge regression of the rows on them, for the inverse transform.
    certificate_, trace_ : Certificate, Trace
        Residuals of the eigenvectors and a bound on eigenvalues that were missed; sum of eigenvalues along the way.

    Examples
    --------
    Three points on a line, centered: -1, 0, 1.

    >>> model = KernelPCA(n_components=1).fit([[1.0], [2.0], [3.0]])
    >>> model.eigenvalues_.round(12), model.transform([[5.0]]).round(12)
    (array([2.]), array([[-3.]]))
    """

    eigenvalues_: Array
    eigenvectors_: Array
    kernel_means_: Array
    gamma_: float
    X_fit_: Any
    X_transformed_fit_: Array
    dual_coef_: Array

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: Any = "auto",
        remove_zero_eig: bool = False,
        random_state: RandomState = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or given products (n_samples, n_samples)."""
        data = self._check(X)
        if self.fit_inverse_transform and sparse.issparse(data.X):
            raise NotImplementedError("X must be dense to learn the inverse transform, got a sparse matrix.")
        gamma = gamma_from(self.gamma, data.X)
        kernel = components_kernel(self, gamma)
        products = CenteredProducts.of(kernel, data.X)
        found = find_components(products, self, fixed_seed(self.random_state))
        attributes = {**found.attributes, "gamma_": gamma, "X_fit_": data.X.copy() if self.copy_X else data.X}
        if self.fit_inverse_transform:
            projected = attributes["eigenvectors_"] * np.sqrt(attributes["eigenvalues_"])
            dual = learn_inverse(kernel, projected, data.X, float(self.alpha))
            attributes |= {"X_transformed_fit_": projected, "dual_coef_": dual}
        return self._adopt(replace(found, attributes=attributes), data)

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Array:
        """Fit, and return the projections of the training rows, which need no products."""
        self.fit(X, **params)
        found = self.eigenvectors_ * self.eigenvalues_**0.5
        return array_namespace(found).astype(found, self.X_fit_.dtype, copy=False)

    def transform(self, X: Data) -> Array:
        """Return :math:`z(x)`, of shape (n_samples, n_components); given products are those with all training rows."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        root = np.sqrt(self.eigenvalues_)
        scaled = self.eigenvectors_ / np.where(root > 0.0, root, np.inf)
        others = np.arange(X.shape[1]) if is_given(self.kernel) else self.X_fit_
        kernel = components_kernel(self, self.gamma_)
        return centered_times(kernel, X, others, scaled, self.kernel_means_).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Data) -> Array:
        """Return rows whose projections are about ``X`` of shape (n_samples, n_components), by ridge regression."""
        check_is_fitted(self)
        if not hasattr(self, "dual_coef_"):
            raise NotFittedError(
                "fit_inverse_transform must be True before fitting for an inverse transform, got False."
            )
        X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32))
        kernel = components_kernel(self, self.gamma_)
        return kernel.times(X, self.X_transformed_fit_, self.dual_coef_).astype(self.X_fit_.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = is_given(self.kernel)
        return tags
