"""KernelRidgeCV: kernel ridge regression whose penalty predicts left-out rows best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.kernel_ridge.kernel_ridge import KernelPredictor
from pellucid.kernel_ridge.kernel_ridge_solvers import Directions, mean_squares
from pellucid.kernels.choice import pairwise_kernel
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import TINY

TIE = 1e-6
"""Relative difference of two mean squared errors below which they count as equal."""

SAME_SCORE = 1e-9
"""Relative difference of two scores that rounding may make: of such penalties the first is taken."""


class KernelRidgeCV(KernelPredictor):
    r"""Kernel ridge regression with the penalty that predicts left-out rows best.

    .. math:: \hat\alpha = \arg\min_\alpha \frac1n\sum_i \Bigl(\frac{a_i}{(C_\alpha^{-1})_{ii}}\Bigr)^2,
       \qquad C_\alpha = K + \alpha I,\quad a = C_\alpha^{-1}y

    One eigendecomposition serves all penalties. A row of weight s stands there s times, and one of them is left out.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Penalties to try, above 0.
    kernel : str, Kernel or callable, default='linear'
        A name of scikit-learn's ('linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'cosine', 'chi2', 'additive_chi2',
        'precomputed'), an object of :mod:`pellucid.kernels` such as ``2 * RBF(0.5) + Polynomial(3)``, or a function of
        two rows that returns a number.
    gamma : float or None, default=None
        Factor of the named kernels that have one; None is one over the number of columns, 1 for 'chi2'.
    degree : float, default=3
        Power of 'poly'.
    coef0 : float, default=1
        Constant of 'poly' and 'sigmoid'.
    kernel_params : dict or None, default=None
        Keywords for a function.
    store_cv_results : bool, default=False
        Whether to keep ``cv_results_``.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty; of equals the first.
    best_score_ : float
        Minus its mean squared error on left-out rows.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared errors on left-out rows, 0 for rows of weight 0.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        :math:`a`; 0 for rows of weight 0.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        The training rows, or given products.
    certificate_, trace_ : Certificate, Trace
        How well the equations hold, and that no other penalty is better; one row per penalty.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.1, 2.9]
    >>> KernelRidgeCV(alphas=[0.01, 100.0]).fit(X, y).alpha_
    0.01
    """

    alpha_: float
    best_score_: float
    cv_results_: Array

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.store_cv_results = store_cv_results

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets)."""
        data = self._check(X, y, sample_weight)
        kernel = pairwise_kernel(self, data.X.shape[1])
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64)).ravel()
        directions, trace = Directions.of(kernel, data), Trace()
        kept: list[Array] = []
        scores = np.empty(len(alphas))
        for k, alpha in enumerate(alphas.tolist()):
            directions.check(alpha)
            errors = directions.left_out_errors(alpha)
            scores[k] = mean_squares(errors, data.weights)
            trace.add(iteration=k + 1, objective=scores[k], alpha=alpha)
            kept += [np.square(errors)] if self.store_cv_results else []
        best = int(np.argmax(scores <= scores.min() * (1.0 + SAME_SCORE)))
        shape = np.shape(data.y)[1:]
        dual = directions.dual(float(alphas[best]))
        attributes = {
            "alpha_": float(alphas[best]),
            "best_score_": -float(scores[best]),
            "dual_coef_": data.spread(dual.T).T.reshape((data.n_given, *shape)),
            "X_fit_": data.given[0],
        }
        if self.store_cv_results:
            squares = np.stack(kept, axis=-1)  # (rows, targets, alphas)
            every = np.moveaxis(data.spread(np.moveaxis(squares, 0, -1)), -1, 0)
            attributes["cv_results_"] = every if shape else every[:, 0]
        self._adopt(Fit(attributes, trace, reached=False), data)
        excess = float(scores[best] - scores.min()) / max(float(scores.min()), TINY)
        statement = "left-out error of alpha_ above the least of all alphas, relative"
        self.certificate_ = self.certificate_.with_claims(Claim("penalty", statement, excess, TIE))
        return self


@dataclass(frozen=True)
class KernelRidgePath:
    """Kernel ridge regression along a grid of penalties."""

    alphas: Array
    """The penalties, in the order given."""
    dual_coef: Array
    """Of shape (n_alphas, n_samples) or (n_alphas, n_samples, n_targets)."""
    left_out_errors: Array
    """Of the same shape: what the fit to all other rows misses of each target."""
    scores: Array
    """Their mean squares, one per penalty."""


def kernel_ridge_path(
    X: Data, y: Data, alphas: Data, *, sample_weight: Data | None = None, **kernel: Any
) -> KernelRidgePath:
    """Return coefficients and errors of left-out rows for each penalty, from one eigendecomposition.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their targets.
    alphas : array-like of shape (n_alphas,)
        Penalties, above 0, in any order.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row stands there; None is once.
    **kernel
        The parameters of :class:`KernelRidge` that choose the kernel: ``kernel='rbf', gamma=0.5``.

    Examples
    --------
    Two rows with the products 1, 0, 4: left out, a row is predicted as 0.

    >>> kernel_ridge_path([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0], [1.0, 3.0]).left_out_errors
    array([[1., 2.],
           [1., 2.]])
    """
    model = KernelRidgeCV(alphas, **kernel)
    data = model._check(X, y, sample_weight)
    alphas = np.atleast_1d(np.asarray(alphas, dtype=np.float64)).ravel()
    directions = Directions.of(pairwise_kernel(model, data.X.shape[1]), data)
    for alpha in alphas.tolist():
        directions.check(alpha)
    errors = [directions.left_out_errors(alpha) for alpha in alphas.tolist()]
    shape = (len(alphas), data.n_given, *np.shape(data.y)[1:])

    def whole(values: list[Array]) -> Array:
        return np.stack([data.spread(part.T).T for part in values]).reshape(shape)

    return KernelRidgePath(
        alphas=alphas,
        dual_coef=whole([directions.dual(alpha) for alpha in alphas.tolist()]),
        left_out_errors=whole(errors),
        scores=np.array([mean_squares(part, data.weights) for part in errors]),
    )
