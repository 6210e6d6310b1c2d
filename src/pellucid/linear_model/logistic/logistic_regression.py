"""LogisticRegression: probabilities of classes from a linear model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort
from pellucid.core.linear_classifier import LinearClassifier, dense
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.linear_model.logistic.logistic_objective import LARGEST_GAP
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem
from pellucid.linear_model.logistic.logistic_solvers import solve_logistic


class LogisticRegression(LinearClassifier, ClassifierMixin, CertifiedEstimator):
    r"""Classification by probabilities whose logarithms are linear, up to a constant.

    .. math:: \min_{W,\,b}\ C\sum_i s_i\,(-\log p_{y_i}(x_i)) + \rho\|W\|_1 + \tfrac{1 - \rho}{2}\|W\|_2^2,\qquad
        p_k(x) \propto e^{w_k'x + b_k}

    Two classes need one ``w``, for the second: :math:`p = 1 / (1 + e^{-(w'x + b)})`. An increase of a feature by 1
    multiplies the odds by :math:`e^{w_j}`.

    Parameters
    ----------
    penalty : {'deprecated', 'l1', 'l2', 'elasticnet', None}, default='deprecated'
        The old way to choose the penalty, which still works: use ``l1_ratio`` and ``C``.
    C : float, default=1.0
        Weight of the loss, above 0; ``np.inf`` means no penalty.
    l1_ratio : float, default=0.0
        :math:`\rho`, from 0 (l2) to 1 (l1). Above 0 needs the solver 'saga', or 'liblinear' if 1, as in scikit-learn.
    dual : bool, default=False
        Only 'liblinear' takes True; nothing changes.
    tol : float, default=1e-4
        Duality gap to reach, as a part of the objective; more than 1e-6 counts as 1e-6. Above the default it asks, as
        in scikit-learn, for a rough answer: the fit also stops where no slope of the mean objective is larger, and the
        certificate says how far from the minimum that may be.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`, which is not penalized; if not, it is 0.
    intercept_scaling : float, default=1
        Only for 'liblinear', whose intercept is penalized: the value of the constant column it is a weight of.
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class, times the weight of the row.
    random_state : int, RandomState instance or None, default=None
        Nothing changes: no method here is random.
    solver : {'lbfgs', 'liblinear', 'newton-cg', 'newton-cholesky', 'sag', 'saga'}, default='lbfgs'
        The minimum is the same for all but 'liblinear' (see ``intercept_scaling``), so what runs is the method that
        suits the data; ``solver_`` names it. Penalties that scikit-learn's solver cannot take are refused.
    max_iter : int, default=100
        Most Newton steps.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    warm_start : bool, default=False
        Whether to start from ``coef_`` and ``intercept_`` of the last fit.
    n_jobs : None
        Nothing changes: all threads are used; deprecated in scikit-learn.

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
        class_weight: ClassWeight = None,
        random_state: RandomState = None,
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

    @property
    def _iteration_name(self) -> str:
        """What callbacks hear an iteration called: as by scikit-learn."""
        return "lbfgs-iter" if self.solver == "lbfgs" else "iteration"

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``; a row of weight k counts as k rows."""
        data = self._check(X, y, sample_weight)
        problem = LogisticProblem.of(self, data)
        watch = self._watch(*data.given[:2], attributes=problem.attributes, max_iter=self.max_iter + 1)
        effort = Effort(min(self.tol, LARGEST_GAP), self.max_iter, watch)
        last = (dense(self.coef_), self.intercept_) if self.warm_start and hasattr(self, "coef_") else None
        return self._adopt(solve_logistic(problem, effort, last), data)

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags
