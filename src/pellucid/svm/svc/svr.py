"""SVR: a function in the space of a kernel that passes within a tube of the targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot

from pellucid.core.estimator import fit_method
from pellucid.core.types import Array, Data
from pellucid.svm.kernel_machine.support_vector_model import SupportVectorModel
from pellucid.svm.svc.svr_solvers import TubeSolver


class SVR(RegressorMixin, SupportVectorModel):
    r"""Support vector regression in the space of a kernel: errors up to epsilon cost nothing.

    .. math:: \min_{w,\,b}\ \tfrac12\|w\|^2 + \sum_i C_i\max(0, |y_i - f(x_i)| - \varepsilon),\qquad
       f(x) = w'\varphi(x) + b = \sum_i\beta_i\,k(x_i, x) + b

    :math:`C_i` is C times the weight of the row. The bias b is the mean of what the free support vectors
    (:math:`0 < |\beta_i| < C_i`) ask for; if there is none, the middle of the range that the others leave.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'}, kernel or callable, default='rbf'
        :math:`k`: a name, an object of :mod:`pellucid.kernels`, which has its own parameters, or a function of two
        matrices that returns the products of their rows. With 'precomputed' X holds the products.
    degree : int, default=3
        Power of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Factor of the kernels that have one, at least 0; 'scale' is one over the number of columns times the variance
        of all entries, 'auto' one over the number of columns.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    tol : float, default=1e-3
        How far the optimality conditions may be violated; the duality gap is at most this part of the objective too,
        and never more than 1e-3 of it.
    C : float, default=1.0
        Cost of errors beyond the tube, above 0; infinity allows none.
    epsilon : float, default=0.1
        Half the height of the tube, at least 0.
    shrinking : bool, default=True
        Whether rows that have come to rest are set aside for a while.
    cache_size : float, default=200
        Megabytes of products that are kept.
    verbose : bool, default=False
        Nothing is printed, whatever it is: see ``trace_``.
    max_iter : int, default=-1
        Most steps, -1 for no limit.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Those rows; empty for products.
    n_support_ : ndarray of shape (1,)
        How many there are.
    dual_coef_ : ndarray or sparse matrix of shape (1, n_support)
        :math:`\beta_i = \alpha_i - \alpha_i^*`, above 0 for targets above the tube.
    intercept_, intercept_range_ : ndarray of shape (1,) and (1, 2)
        :math:`b` and the least and largest b that would do as well.
    coef_ : ndarray or sparse matrix of shape (1, n_features)
        :math:`w`, of a linear kernel.
    objective_, dual_gap_ : ndarray of shape (1,)
        The primal objective, and how far it is above the dual one.
    gamma_ : float
        The factor used.
    n_iter_ : int
        Steps done.
    fit_status_, shape_fit_ : int, tuple
        0 if the tolerance was reached, else 1; the shape of X.
    certificate_, trace_ : Certificate, Trace
        The duality gap; dual objective, gap and working set along the fit.

    Examples
    --------
    The flattest line within 1/2 of both points.

    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[0.0], [2.0]], [0.0, 2.0])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[0.5]]), array([0.5]))
    """

    intercept_range_: Array
    objective_: Array
    dual_gap_: Array
    n_iter_: int
    fit_status_: int

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or products (n_samples, n_samples), and the numbers ``y``."""
        data = self._check(X, y, sample_weight)
        self._keep_function_rows(X)
        solver = TubeSolver(data, self)
        return self._adopt(solver.fit(self._watch(X, data.given[1], attributes=solver.watched)), data)

    def predict(self, X: Data) -> Array:
        """Return :math:`f(x)`, of shape (n_samples,)."""
        rows = self._new_rows(X)
        if self._is_linear:
            scores = safe_sparse_dot(rows, self._weights().T, dense_output=True)
        else:
            (scores,) = self._class_parts(rows)
        return np.asarray(scores[:, 0] + self.intercept_)
