"""LogisticRegression: probabilities of classes from a linear model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight

from pellucid.core.certificate import Certificate
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.labeled_input import check_labeled_input
from pellucid.core.linear_classifier import LinearClassifier, dense
from pellucid.core.types import Array, Data
from pellucid.linear_model.linear_input import FLOATS, SPARSE_FORMATS
from pellucid.linear_model.logistic.logistic_newton import Descent, distance
from pellucid.linear_model.logistic.logistic_parameters import (
    check_logistic_parameters,
    has_penalized_intercept,
    regularization,
)
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem, Point
from pellucid.linear_model.logistic.logistic_proof import (
    LARGEST_GAP,
    FittedLogistic,
    free_certificate,
    penalized_certificate,
    prove_logistic,
)
from pellucid.linear_model.logistic.logistic_solvers import solve_logistic
from pellucid.linear_model.sparse_regression.elastic_net_penalty import ElasticNetPenalty


class LogisticRegression(LinearClassifier, ClassifierMixin, CertifiedEstimator):
    r"""Classification by probabilities whose logarithms are linear, up to a constant.

    .. math:: \min_{W,\,b}\ C\sum_i s_i\,(-\log p_{y_i}(x_i)) + \rho\|W\|_1 + \tfrac{1 - \rho}{2}\|W\|_2^2,\qquad
        p_k(x) \propto e^{w_k'x + b_k}

    Two classes need one ``w``, for the second: :math:`p = 1 / (1 + e^{-(w'x + b)})`. An increase of a feature by 1
    multiplies the odds by :math:`e^{w_j}`.

    Parameters
    ----------
    penalty : {'deprecated', 'l1', 'l2', 'elasticnet', None}, default='deprecated'
        As in scikit-learn, and deprecated as there: use ``l1_ratio`` and ``C``.
    C : float, default=1.0
        Weight of the loss, above 0; ``np.inf`` means no penalty.
    l1_ratio : float, default=0.0
        :math:`\rho`, from 0 (l2) to 1 (l1). Above 0 needs the solver 'saga', or 'liblinear' if 1, as in scikit-learn.
    dual : bool, default=False
        Kept for compatibility; only 'liblinear' takes True, and nothing changes.
    tol : float, default=1e-4
        Duality gap to reach, as a part of the objective; more than 1e-6 counts as 1e-6.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`, which is not penalized; if not, it is 0.
    intercept_scaling : float, default=1
        Only for 'liblinear', whose intercept is penalized: the value of the constant column it is a weight of.
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class, times the weight of the row.
    random_state : int, RandomState instance or None, default=None
        Kept for compatibility: no method here is random.
    solver : {'lbfgs', 'liblinear', 'newton-cg', 'newton-cholesky', 'sag', 'saga'}, default='lbfgs'
        The minimum is the same for all but 'liblinear' (see ``intercept_scaling``), so what runs is the method that
        suits the data; ``solver_`` names it. Penalties that scikit-learn's solver cannot take are refused.
    max_iter : int, default=100
        Most Newton steps.
    verbose : int, default=0
        Kept for compatibility: see ``trace_``.
    warm_start : bool, default=False
        Whether to start from ``coef_`` and ``intercept_`` of the last fit.
    n_jobs : None
        Kept for compatibility; deprecated in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_, intercept_ : ndarray of shape (1 or n_classes, n_features), ndarray of shape (1 or n_classes,)
        :math:`W` and :math:`b`; two classes need one row.
    n_iter_ : ndarray of shape (1,)
        Newton steps done, those on parts of the rows included.
    solver_ : {'newton-cholesky', 'newton-cg', 'proximal-newton'}
        The method that ran.
    dual_gap_ : float
        How far, at most, the objective is above its minimum; infinite without a penalty.
    certificate_ : Certificate
        The duality gap; without a penalty the gradient, and whether the classes can be separated.
    trace_ : Trace
        Objective, gap and number of rows used, along the fit.

    Examples
    --------
    Without features that tell, the odds are those of the labels, here 3 to 1:

    >>> model = LogisticRegression().fit([[0.0], [0.0], [0.0], [0.0]], ["no", "yes", "yes", "yes"])
    >>> model.predict_proba([[0.0]]).round(6)
    array([[0.25, 0.75]])
    """

    classes_: Array
    coef_: Any
    intercept_: Array
    n_iter_: Array
    solver_: str
    dual_gap_: float

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``; a row of weight k counts as k rows."""
        check_logistic_parameters(self)
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=True)
        W, b = self._start(X.shape[1])
        self.classes_, labels = np.unique(y, return_inverse=True)
        loss_weight = self._loss_weight(labels, weight, len(y))
        self._check_classes(labels, loss_weight)
        problem = self._problem(X, labels, loss_weight)
        if W is None or W.shape != (problem.design.shape[1], problem.n_columns):
            W, b = np.zeros((problem.design.shape[1], problem.n_columns)), None
        watch = self._watch(X, y, attributes=lambda W, b: self._attributes(W, b, X.dtype), max_iter=self.max_iter + 1)
        how = Descent(goal=min(self.tol, LARGEST_GAP), max_iter=self.max_iter, watch=watch)
        at, self.solver_ = solve_logistic(problem, W, b, how)
        for name, value in self._attributes(at.W, problem.intercept(at), X.dtype).items():
            setattr(self, name, value)
        self.n_iter_ = np.array([how.n_iter], dtype=np.int32)
        certificate = self._claim(problem, at, how, X.dtype)
        self._conclude(certificate, how.trace, X, y, weight)
        return self

    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class, of shape (n_samples, n_classes)."""
        logits = self.decision_function(X)
        if logits.ndim == 1:
            return np.column_stack([expit(-logits), expit(logits)])
        return np.asarray(softmax(logits, axis=1))

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of the probability of each class; it does not underflow."""
        logits = self.decision_function(X)
        if logits.ndim == 1:
            return np.column_stack([log_expit(-logits), log_expit(logits)])
        return np.asarray(log_softmax(logits, axis=1))

    def _check_labeled(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Array, Array, Array | None]:
        return check_labeled_input(self, X, y, sample_weight, reset=reset, accept_sparse=SPARSE_FORMATS, dtype=FLOATS)

    def _check_classes(self, labels: Array, weight: Array) -> None:
        present = np.bincount(labels, weights=weight, minlength=len(self.classes_)) > 0.0
        if present.sum() < 2:
            only = (self.classes_[present] if present.any() else self.classes_).tolist()
            raise ValueError(f"y must hold at least 2 classes of positive weight, got one class: {only[0]!r}.")
        if self.solver == "liblinear" and len(self.classes_) > 2:
            raise ValueError(
                f"solver must not be 'liblinear' for more than 2 classes, got {len(self.classes_)} classes. Use "
                "another, or OneVsRestClassifier(LogisticRegression(solver='liblinear'))."
            )

    def _loss_weight(self, labels: Array, weight: Array | None, n: int) -> Array:
        """Return what the loss of each row is multiplied with: its weight, its class's weight and ``C``."""
        total = np.ones(n) if weight is None else weight
        if self.class_weight is not None:
            y = self.classes_[labels]
            total = (
                total
                * compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=weight)[labels]
            )
        return total * regularization(self).loss_weight

    def _problem(self, X: Array, labels: Array, loss_weight: Array) -> LogisticProblem:
        meant, constant = regularization(self), has_penalized_intercept(self)
        return LogisticProblem(
            _with_constant(X, self.intercept_scaling) if constant else X,
            labels,
            len(self.classes_),
            loss_weight,
            ElasticNetPenalty(meant.l1, meant.l2),
            fit_intercept=self.fit_intercept and not constant,
        )

    def _start(self, n_features: int) -> tuple[Array | None, Array | None]:
        """Return coefficients and intercept of the last fit, if asked for."""
        if not (self.warm_start and hasattr(self, "coef_")) or self.coef_.shape[1] != n_features:
            return None, None
        W, b = dense(self.coef_).T.astype(np.float64), self.intercept_.astype(np.float64)
        if has_penalized_intercept(self):
            return np.vstack([W, b / self.intercept_scaling]), np.zeros_like(b)
        return W, b if self.fit_intercept else np.zeros_like(b)

    def _attributes(self, W: Array, b: Array, dtype: Any) -> dict[str, Array]:
        if has_penalized_intercept(self):
            W, b = W[:-1], self.intercept_scaling * W[-1]
        return {"coef_": np.ascontiguousarray(W.T, dtype=dtype), "intercept_": b.astype(dtype)}

    def _claim(self, problem: LogisticProblem, at: Point, how: Descent, dtype: Any) -> Certificate:
        """Return the certificate of the fitted attributes, which may have been rounded, and set ``dual_gap_``."""
        if dtype == np.float32:
            at = problem.rounded(at, dtype)
        self.dual_gap_ = at.gap
        if not problem.is_penalized:
            return free_certificate(distance(problem, at), how.separable, self.tol)
        return penalized_certificate(at.gap, at.objective, self.tol, 0.0, problem.total_weight)

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=False)
        labels = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        if np.any(self.classes_[labels] != y):
            raise ValueError(f"y must hold only the labels {self.classes_.tolist()} of the fit. Verify on its data.")
        coef, intercept, meant = dense(self.coef_), self.intercept_, regularization(self)
        constant = has_penalized_intercept(self)
        if constant:
            X, coef = (
                _with_constant(X, self.intercept_scaling),
                np.hstack([coef, intercept[:, None] / self.intercept_scaling]),
            )
        model = FittedLogistic(
            coef=coef,
            intercept=np.zeros_like(intercept) if constant else intercept,
            dual_gap=self.dual_gap_,
            l1=meant.l1,
            l2=meant.l2,
            fit_intercept=self.fit_intercept and not constant,
            tol=self.tol,
        )
        return prove_logistic(X, labels, self._loss_weight(labels, weight, len(y)), model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags


def _with_constant(X: Any, value: float) -> Any:
    """Return ``X`` with one more column of this value."""
    column = np.full((X.shape[0], 1), value, dtype=X.dtype)
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])
