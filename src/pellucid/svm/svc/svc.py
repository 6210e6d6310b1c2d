"""SVC: classes separated pair by pair, by machines of wide margin in the space of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import fit_method
from pellucid.core.linear_classifier import dense
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.svm.kernel_machine.machine_rows import class_blocks, class_pairs, join_pairs, machine_coefs
from pellucid.svm.kernel_machine.support_vector_model import SupportVectorModel, summed_vectors
from pellucid.svm.svc.svc_probability import agreeing, class_probabilities, is_asked_for, pair_probabilities
from pellucid.svm.svc.svc_solvers import PairSolver

FEW_CLASSES = 3
"""Up to which scores are one sum over all vectors, with zeros, instead of one for each class that must be set up."""


def _gives_probabilities(estimator: SVC) -> bool:
    if not is_asked_for(estimator.probability):
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class SVC(ClassifierMixin, SupportVectorModel):
    r"""Support vector machine in the space of a kernel; of several classes, one machine for each pair.

    .. math:: \min_{w,\,b}\ \tfrac12\|w\|^2 + \sum_i C_i\max(0, 1 - y_if(x_i)),\qquad
       f(x) = w'\varphi(x) + b = \sum_i\alpha_iy_i\,k(x_i, x) + b

    :math:`C_i` is C times the weights of the class and of the row. The bias b is the mean of what the free support
    vectors (:math:`0 < \alpha_i < C_i`) ask for; if there is none, the middle of the range that the others leave.

    Parameters
    ----------
    C : float, default=1.0
        Cost of violated margins, above 0; infinity is the hard margin.
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
    shrinking : bool, default=True
        Whether rows that have come to rest are set aside for a while.
    probability : bool, default=False
        Whether to fit probabilities, which takes five more fits. The class with the largest is the predicted one.
    tol : float, default=1e-3
        How far the optimality conditions may be violated; the duality gap is at most this part of the objective too,
        and never more than 1e-3 of it.
    cache_size : float, default=200
        Megabytes of products that are kept.
    class_weight : dict, 'balanced' or None, default=None
        Factors of C for each class.
    verbose : bool, default=False
        Nothing is printed, whatever it is: see ``trace_``.
    max_iter : int, default=-1
        Most steps of each machine, -1 for no limit.
    decision_function_shape : {'ovo', 'ovr'}, default='ovr'
        Whether ``decision_function`` returns the scores of all pairs or one number per class: its votes, and what the
        scores add to them, as in scikit-learn.
    break_ties : bool, default=False
        Whether ``predict`` settles equal votes by the scores, not by the order of ``classes_``.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds for probabilities.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
        The labels, sorted, and the factor of each.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors, sorted by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Those rows; empty for products.
    n_support_ : ndarray of shape (n_classes,)
        How many each class has.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes - 1, n_support)
        :math:`\alpha_iy_i` in LIBSVM's layout: a support vector of class c has one for each other class j, in row j - 1
        if j comes after c, in row j otherwise. :math:`y_i` is +1 for the first class of a pair; of two classes in all,
        for the second.
    alphas_ : ndarray of shape (n_machines, n_support)
        :math:`\alpha_i` of each machine.
    intercept_, intercept_range_ : ndarray of shape (n_machines,) and (n_machines, 2)
        :math:`b` and the least and largest b that would do as well.
    coef_ : ndarray or sparse matrix of shape (n_machines, n_features)
        :math:`w`, of a linear kernel.
    margin_width_ : ndarray of shape (n_machines,)
        :math:`2/\|w\|`.
    objective_, dual_gap_ : ndarray of shape (n_machines,)
        The primal objective, and how far it is above the dual one.
    gamma_ : float
        The factor used.
    n_iter_ : ndarray of shape (n_machines,)
        Steps of each machine.
    fit_status_, shape_fit_ : int, tuple
        0 if every machine reached its tolerance, else 1; the shape of X.
    probability_slopes_ : ndarray of shape (n_machines, 2)
        With ``probability=True``: steepness of the probability of each pair for scores below and above 0.
    held_out_scores_ : ndarray of shape (n_classes - 1, n_samples)
        With ``probability=True``: the scores that the slopes come from, by machines that have not seen the row.
    certificate_, trace_ : Certificate, Trace
        The duality gap of the worst machine; dual objective, gap and working set of each machine along the fit.

    Examples
    --------
    No line separates the corners of a square by diagonals; the products :math:`(1 + x'z)^2` do.

    >>> X, y = [[-1, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0]
    >>> model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    >>> model.alphas_.round(3), model.predict(X)
    (array([[0.125, 0.125, 0.125, 0.125]]), array([0, 1, 1, 0]))
    """

    classes_: Array
    class_weight_: Array
    intercept_range_: Array
    margin_width_: Array
    objective_: Array
    dual_gap_: Array
    n_iter_: Array
    fit_status_: int
    probability_slopes_: Array
    held_out_scores_: Array

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: ClassWeight = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or products (n_samples, n_samples), and the labels ``y``."""
        data = self._check(X, y, sample_weight).without_absent_classes()
        self._check_classes(data.classes)
        self._keep_function_rows(X)
        solver = PairSolver(data, self)
        return self._adopt(solver.fit(self._watch(X, data.given[1], attributes=solver.watched)), data)

    def _check_classes(self, classes: Array) -> None:
        if len(classes) < 2:
            raise ValueError(
                "The number of classes has to be greater than one: y must hold at least 2 classes in rows of weight "
                f"above 0, got one class: {classes.tolist()[0]!r}."
            )

    def decision_function(self, X: Data) -> Array:
        """Return the scores: one per row for two classes, else one per class or per pair of classes and row."""
        return self._shaped(self._pair_scores(X))

    def _shaped(self, scores: Array) -> Array:
        if len(self.classes_) == 2:
            return scores[:, 0]
        if self.decision_function_shape == "ovo":
            return scores
        return np.asarray(_ovr_decision_function(scores < 0.0, -scores, len(self.classes_)))

    def predict(self, X: Data) -> Array:
        """Return the label with most votes of the machines; of equal votes the first, or by scores (``break_ties``).

        A score of exactly 0 is a vote for the later class of the pair, as in LIBSVM.
        """
        check_is_fitted(self)
        self._check_tie_rule()
        return np.asarray(self.classes_[self._winners(self._pair_scores(X))])

    def _check_tie_rule(self) -> None:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError(
                "break_ties must be False when decision_function_shape is 'ovo', got True. Use 'ovr' to break ties."
            )

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Data) -> Array:
        """Return the probabilities of the classes; the predicted class has the largest."""
        scores = self._pair_scores(X)
        if not hasattr(self, "probability_slopes_"):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        pairwise = pair_probabilities(scores, self.probability_slopes_)
        return agreeing(class_probabilities(pairwise, len(self.classes_)), self._winners(scores))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithms of the probabilities."""
        return np.asarray(np.log(self.predict_proba(X)))

    @property
    def alphas_(self) -> Array:
        """The coefficients of the support vectors in each machine, of shape (n_machines, n_support), at least 0."""
        check_is_fitted(self)
        return np.abs(self._machine_coefs())

    def _pair_scores(self, X: Data) -> Array:
        """Return the score of each row in the machine of each pair, (n_rows, n_machines)."""
        rows = self._new_rows(X)
        if self._is_linear:
            return np.asarray(safe_sparse_dot(rows, self._weights().T, dense_output=True) + self.intercept_)
        if len(self.classes_) <= FEW_CLASSES:
            return self._class_parts(rows, self._machine_coefs())[0] + self.intercept_
        return np.column_stack(join_pairs(self._class_parts(rows))) + self.intercept_

    def _machine_coefs(self) -> Array:
        return machine_coefs(dense(self.dual_coef_), class_blocks(self.n_support_))

    def _winners(self, scores: Array) -> Array:
        """Return the code of the winning class of each row."""
        n_classes = len(self.classes_)
        if n_classes == 2:
            return (scores[:, 0] >= 0.0).astype(np.intp)
        if self.break_ties:
            return np.argmax(_ovr_decision_function(scores < 0.0, -scores, n_classes), axis=1)
        votes = np.zeros((len(scores), n_classes), dtype=np.intp)
        for k, (i, j) in enumerate(class_pairs(n_classes)):
            is_first = scores[:, k] > 0.0
            votes[:, i] += is_first
            votes[:, j] += ~is_first
        return np.argmax(votes, axis=1)

    def _weights(self) -> Any:
        coefs = self._machine_coefs()
        is_sparse = sparse.issparse(self.dual_coef_)
        return summed_vectors(type(self.dual_coef_)(coefs) if is_sparse else coefs, self.support_vectors_)
