"""NMF: a nonnegative matrix as a product of two."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.input_rules import FLOATS
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_user
from pellucid.decomposition.nmf.nmf_fits import check_nonnegative, check_start, fit_factors, weights_for


class NMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Nonnegative factors: rows as sums of parts, of which nothing is ever taken away.

    .. math:: \min_{W, H \ge 0}\ D(X, WH) + \alpha_W d\,\big(\rho\|W\|_1 + \tfrac{1 - \rho}2\|W\|_F^2\big)
              + \alpha_H n\,\big(\rho\|H\|_1 + \tfrac{1 - \rho}2\|H\|_F^2\big)

    NaN in a dense ``X`` is a missing entry: it does not count. The answer is a local minimum.

    Parameters
    ----------
    n_components : int, 'auto' or None, default='auto'
        :math:`q`, the parts; 'auto' is that of a given start, and the number of columns without one, as None is.
    init : {'random', 'nndsvd', 'nndsvda', 'nndsvdar', 'custom'} or None, default=None
        The start: random, from singular vectors (with zeros, with the mean in their place, with small random numbers),
        or given to ``fit``. None is 'nndsvda', or 'random' where there are more parts than rows or columns.
    solver : {'cd', 'mu'}, default='cd'
        Coordinate descent, for the squared error; or multiplicative steps, for every divergence.
    beta_loss : float or {'frobenius', 'kullback-leibler', 'itakura-saito'}, default='frobenius'
        The divergence :math:`D`: 2, 1, 0, or any other beta.
    tol : float, default=1e-4
        For 'cd' the square root of what single entries can still gain, in parts of :math:`\|X\|^2/2`; for 'mu' the
        decrease of the error over ten steps, in parts of the first error.
    max_iter : int, default=200
        Most rounds.
    random_state : int, RandomState instance or None, default=None
        Seed of random starts and of ``shuffle``.
    alpha_W, alpha_H : float, float or 'same', default=0.0, 'same'
        Penalties, at least 0.
    l1_ratio : float, default=0.0
        :math:`\rho`, between 0 and 1.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    shuffle : bool, default=False
        Whether coordinate descent takes the parts in random order.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        :math:`H`.
    weights_ : ndarray of shape (n_samples, n_components)
        :math:`W`, what ``fit_transform`` returns; not there after a fit to rows in blocks.
    n_components_ : int
        :math:`q`.
    reconstruction_err_ : float
        :math:`\sqrt{2D(X, WH)}`, which is :math:`\|X - WH\|_F` for the squared error.
    n_iter_ : int
        Rounds done.
    certificate_, trace_ : Certificate, Trace
        What another step could gain, and the least error of any matrix of this rank; the objective along the way.

    Examples
    --------
    Twice the first row is the second: one part is enough.

    >>> model = NMF(1).fit([[1.0, 2.0], [2.0, 4.0]])
    >>> W, H = model.weights_, model.components_
    >>> (W @ H).round(6), W.ravel().round(6)[1] / W.ravel().round(6)[0]
    (array([[1., 2.],
           [2., 4.]]), np.float64(2.0))
    """

    components_: Array
    weights_: Array
    n_components_: int
    reconstruction_err_: float
    n_iter_: int

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        init: str | None = None,
        solver: str = "cd",
        beta_loss: Any = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: RandomState = None,
        alpha_W: float = 0.0,
        alpha_H: Any = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle

    @fit_method
    def fit(self, X: Data, y: Data = None, W: Data = None, H: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features); ``W`` and ``H`` are the start of ``init='custom'``."""
        data = self._check(X)
        check_nonnegative(data.X)
        watch = self._watch(X, None, attributes=self._iterate, max_iter=self.max_iter)
        return self._adopt(fit_factors(self, data, W, H, watch), data)

    def fit_transform(self, X: Data, y: Data = None, W: Data = None, H: Data = None) -> Array:
        """Fit, and return :math:`W`, of shape (n_samples, n_components)."""
        return self.fit(X).transform(X) if is_in_blocks(X) else self.fit(X, W=W, H=H).weights_

    def transform(self, X: Data) -> Array:
        """Return the best :math:`W` for rows and the parts that were learned, of shape (n_samples, n_components)."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        check_nonnegative(X)
        with own_threads():
            return weights_for(self, X, self.components_)[0]

    def inverse_transform(self, X: Data) -> Array:
        """Return :math:`WH` for ``X`` of shape (n_samples, n_components), which is :math:`W`."""
        check_is_fitted(self)
        return X @ self.components_

    def _iterate(self, H: Array) -> dict[str, Any]:
        return {"components_": H, "n_components_": len(H)}

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def non_negative_factorization(
    X: Data,
    W: Data = None,
    H: Data = None,
    n_components: Any = "auto",
    *,
    init: str | None = None,
    update_H: bool = True,
    **settings: Any,
) -> tuple[Array, Array, int]:
    """Return ``W``, ``H`` and the number of rounds of :class:`NMF`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Numbers of at least 0; NaN in a dense one is a missing entry.
    W : array-like of shape (n_samples, n_components), default=None
        Where the weights start with ``init='custom'``; otherwise it is not used.
    H : array-like of shape (n_components, n_features), default=None
        Where the parts start with ``init='custom'``, or, for ``update_H=False``, the parts.
    n_components : int, 'auto' or None, default='auto'
        Number of parts; 'auto' goes by ``W`` and ``H``, None and 'auto' without these take one for each column.
    init : {'random', 'nndsvd', 'nndsvda', 'nndsvdar', 'custom'} or None, default=None
        The start: random, from singular vectors, or given; None chooses by the shape.
    update_H : bool, default=True
        Whether to fit the parts as well; if not, the given ``H`` stays as it is.
    **settings
        All other parameters of :class:`NMF`.

    Examples
    --------
    >>> W, H, _ = non_negative_factorization([[1.0, 2.0], [2.0, 4.0]], H=[[1.0, 2.0]], update_H=False)
    >>> W.round(6)
    array([[1.],
           [2.]])
    """
    model = NMF(n_components, init=init, **settings)
    if update_H:
        model.fit(X, W=W, H=H)
        return model.weights_, model.components_, model.n_iter_
    if W is not None:
        warn_user("When update_H=False, the provided initial W is not used.", RuntimeWarning)
    card_of(NMF).check_parameters(model)
    X = validate_data(model, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite="allow-nan")
    check_nonnegative(X)
    H = check_start(H, (n_components, X.shape[1]), "H", X.dtype, may_be_zero=True)
    with own_threads():
        weights, n_iter = weights_for(model, X, H)
    return weights, H.astype(X.dtype), n_iter
