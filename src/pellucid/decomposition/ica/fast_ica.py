"""FastICA: independent sources behind mixed measurements."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data, RandomState
from pellucid.decomposition.ica.fast_ica_fits import fit_sources


class FastICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Independent components: rows as mixtures of sources that know nothing of each other.

    .. math:: x = As + \bar x,\qquad s = WK(x - \bar x),\qquad
       W = \arg\min_{WW' = I}\ \sum_k h(s_k)

    :math:`K` makes the rows white; the rotation :math:`W` makes the sources least Gaussian, by a contrast or by
    entropies from spacings. Their order, sign and scale cannot be known: see :func:`match_sources`.

    Parameters
    ----------
    n_components : int or None, default=None
        Sources to find; None finds as many as directions have a spread.
    algorithm : {'parallel', 'deflation', 'spacings'}, default='parallel'
        All at once, one after the other, or the least sum of entropies estimated from spacings, pair by pair.
    whiten : {'unit-variance', 'arbitrary-variance'} or False, default='unit-variance'
        Whether sources have the variance 1, that of the rotated white rows, or the rows are white already.
    fun : {'logcosh', 'exp', 'cube'} or callable, default='logcosh'
        Contrast, or a function that returns its slope and the mean of the derivative of that over the last axis.
    fun_args : dict or None, default=None
        Keywords for it; ``alpha`` of 'logcosh' is between 1 and 2.
    max_iter : int, default=200
        Most steps.
    tol : float, default=1e-4
        Turn of a row of the rotation at which steps end, 1 less the cosine; for 'spacings' the decrease in nats.
    w_init : array-like of shape (n_components, n_components) or None, default=None
        The start; None draws normal numbers.
    whiten_solver : {'eigh', 'svd'}, default='svd'
        Nothing changes: the more exact one is used where it makes a difference.
    random_state : int, RandomState instance or None, default=None
        Seed of the start.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        From centered rows to sources.
    mixing_ : ndarray of shape (n_features, n_components)
        From sources to centered rows.
    mean_, whitening_ : ndarray of shape (n_features,), (n_components, n_features)
        :math:`\bar x` and :math:`K`, unless ``whiten`` is False.
    multi_information_ : float
        Estimate of what the sources still know of each other, in nats; computed when asked for.
    n_iter_ : int
        Steps done.
    certificate_, trace_ : Certificate, Trace
        Whiteness, the fixed point, and how often noise looks as independent; the turns along the way.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0.0, 8.0, 2000)
    >>> true = np.column_stack([np.sin(2.0 * t), np.sign(np.sin(3.0 * t))])
    >>> mixed = true @ [[1.0, 0.5], [1.0, 2.0]]
    >>> from pellucid.decomposition import match_sources
    >>> sources = FastICA(random_state=0).fit_transform(mixed)
    >>> match_sources(sources, true).correlations > 0.99
    array([ True,  True])
    """

    components_: Array
    mixing_: Array
    mean_: Array
    whitening_: Array
    multi_information_: float
    n_iter_: int

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "parallel",
        whiten: Any = "unit-variance",
        fun: Any = "logcosh",
        fun_args: dict[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        w_init: Data = None,
        whiten_solver: str = "svd",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features)."""
        data = self._check(X)
        return self._adopt(fit_sources(self, data), data)

    def fit_transform(self, X: Data, y: Data = None) -> Array:
        """Fit, and return the sources of the training rows."""
        return self.fit(X).transform(X)

    def transform(self, X: Data, copy: bool = True) -> Array:
        """Return the sources, of shape (n_samples, n_components); ``X`` is never written to, whatever ``copy`` says."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        return np.asarray((X - self.mean_ if self.whiten else X) @ self.components_.T)

    def inverse_transform(self, X: Data, copy: bool = True) -> Array:
        """Return the rows that are mixed from sources ``X`` of shape (n_samples, n_components)."""
        check_is_fitted(self)
        mixed = check_array(X, dtype=(np.float64, np.float32)) @ self.mixing_.T
        return np.asarray(mixed + self.mean_ if self.whiten else mixed)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def fastica(
    X: Data,
    n_components: int | None = None,
    *,
    return_X_mean: bool = False,
    compute_sources: bool = True,
    return_n_iter: bool = False,
    **settings: Any,
) -> list[Any]:
    """Return the whitening ``K``, the rotation ``W`` and the sources of :class:`FastICA`.

    The sources are ``W K (x - mean)``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The mixtures, rows in any order.
    n_components : int or None, default=None
        Sources to find; None finds as many as directions have a spread.
    return_X_mean : bool, default=False
        Whether to return the means of the columns as well; None takes their place if nothing was whitened.
    compute_sources : bool, default=True
        Whether to compute the sources; if not, None takes their place.
    return_n_iter : bool, default=False
        Whether to return the number of steps, too, as the last.
    **settings
        All other parameters of :class:`FastICA`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((500, 2)) @ [[1.0, 0.5], [0.2, 1.0]]
    >>> K, W, S = fastica(X, random_state=0)
    >>> np.allclose((X - X.mean(axis=0)) @ (W @ K).T, S)
    True
    """
    model = FastICA(n_components, **settings).fit(X)
    K = model.whitening_ if model.whiten else None
    W = model.components_
    if K is not None:
        wide = K.astype(np.float64)
        W = (W @ (wide / np.einsum("ij,ij->i", wide, wide)[:, None]).T).astype(K.dtype)
    found: list[Any] = [K, W, model.transform(X) if compute_sources else None]
    if return_X_mean:
        found.append(model.mean_ if model.whiten else None)
    if return_n_iter:
        found.append(model.n_iter_)
    return found
