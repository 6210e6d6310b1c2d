"""LinearSVC: classes separated by hyperplanes of wide margin."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClassifierMixin

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.linear_classifier import LinearClassifier
from pellucid.core.random_state import drawn_seed
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.svm.linear_svc.crammer_singer_solver import fit_together
from pellucid.svm.linear_svc.linear_svc_solvers import fit_machines


class LinearSVC(LinearClassifier, ClassifierMixin, CertifiedEstimator):
    r"""Linear support vector machine; of several classes, one machine per class against the rest.

    .. math:: \min_{w,\,b}\ \tfrac12\|w\|_2^2 + \tfrac12(b/s)^2 + C\sum_i c_i\,\ell(t_i(w'x_i + b)),\qquad
       \ell(m) = \max(0, 1 - m)^2

    The intercept is penalized as the weight of one more, constant feature :math:`s`, as in LIBLINEAR.

    Parameters
    ----------
    penalty : {'l1', 'l2'}, default='l2'
        With 'l1' the norms are :math:`\|w\|_1 + |b/s|`, and many weights are 0.
    loss : {'hinge', 'squared_hinge'}, default='squared_hinge'
        Whether :math:`\max(0, 1 - m)` is squared.
    dual : 'auto' or bool, default='auto'
        Checked, but it changes nothing: the method follows from loss, penalty and shape.
    tol : float, default=1e-4
        Duality gap to reach, as a part of the objective; never more than 1e-6 is accepted.
    C : float, default=1.0
        Cost of violated margins, above 0.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        One machine per class against the rest, or one for all classes, whose own score should exceed every other by 1:
        then the loss is :math:`\max_k([k \ne y_i] + (w_k - w_{y_i})'x_i)`, and ``penalty``, ``loss`` and ``dual`` are
        not used.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    intercept_scaling : float, default=1
        :math:`s`: the larger, the less :math:`b` is penalized.
    class_weight : dict, 'balanced' or None, default=None
        :math:`c_i` of each class. As in LIBLINEAR, of more than two classes it weighs only the machine's own class.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows where they are visited one by one: for the hinge of many rows and columns, and
        for one machine for all classes.
    max_iter : int, default=1000
        Most iterations per machine.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights :math:`w`; two classes need one machine.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        :math:`b`; the number 0.0 without an intercept.
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        Only for the hinge and for one machine for all classes: :math:`t_i\alpha_i`, not 0 for the support vectors.
    n_iter_ : int
        Most iterations that a machine took.
    certificate_, trace_ : Certificate, Trace
        The duality gap of the worst machine; objective and gap of each machine along the fit.

    Examples
    --------
    Two points at distance 2 without an intercept: the margin is 1 on both sides for w = 1.

    >>> LinearSVC(loss="hinge", C=10.0, fit_intercept=False).fit([[-1.0], [1.0]], ["a", "b"]).coef_.round(6)
    array([[1.]])
    """

    classes_: Array
    coef_: Any
    intercept_: Any
    dual_coef_: Array
    n_iter_: int

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        verbose: int = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``; a row of weight k counts as k rows."""
        data = self._check(X, y, sample_weight)
        if len(data.classes) < 2:
            raise ValueError(f"y must hold at least 2 classes, got one class: {data.classes.tolist()[0]!r}.")
        solve = fit_together if self.multi_class == "crammer_singer" else fit_machines
        labels = {"classes_": data.classes}
        watch = self._watch(data.X, data.given[1], attributes=lambda weights: labels | weights)
        seed = drawn_seed(self.random_state)
        return self._adopt(solve(data, self, watch, seed), data)
