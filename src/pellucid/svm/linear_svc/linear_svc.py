"""LinearSVC: classes separated by hyperplanes of wide margin."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, compute_class_weight

from pellucid.core.certificate import Certificate
from pellucid.core.checks import check_one_of, check_positive, check_whole, is_number
from pellucid.core.effort import Effort
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.labeled_input import check_labeled_input
from pellucid.core.linear_classifier import LinearClassifier, dense
from pellucid.core.types import Array, Data
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.crammer_singer.crammer_singer import CrammerSinger
from pellucid.svm.crammer_singer.crammer_singer_proof import prove_together
from pellucid.svm.crammer_singer.crammer_singer_solver import solve_together
from pellucid.svm.linear_svc.linear_svc_proof import LARGEST_GAP, FittedMachines, certificate_of, prove_machines
from pellucid.svm.linear_svc.linear_svc_solvers import choose_solver, joined_trace, solve_machines
from pellucid.svm.linear_svc.margin_problem import MarginFit

DUALS = {("l2", "hinge"): (True,), ("l2", "squared_hinge"): (True, False), ("l1", "squared_hinge"): (False,)}
"""Penalty and loss -> the values of ``dual`` that LIBLINEAR has a solver for; 'auto' always finds one."""


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
        Accepted and checked for compatibility; the method follows from loss, penalty and shape.
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
        Accepted for compatibility; see ``trace_``.
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
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
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
        _check_parameters(self)
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=True)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least 2 classes, got one class: {self.classes_.tolist()[0]!r}.")
        if self.multi_class == "crammer_singer":
            return self._fit_together(X, y, weight)
        signs, cost = self._machines(y, weight)
        rows = AugmentedRows(X, self._constant)
        machines = solve_machines(
            rows,
            signs,
            cost,
            choose_solver(self.loss, self.penalty, rows, self._seed()),
            goal=min(self.tol, LARGEST_GAP),
            max_iter=self.max_iter,
            watch=self._watch(X, y, attributes=self._attributes),
        )
        self._store(machines, signs)
        relative_gap = max(machine.gap / abs(machine.objective) for machine in machines)
        certificate = certificate_of(relative_gap, 0.0 if self.loss == "hinge" else None, self.tol)
        self._conclude(certificate, joined_trace(machines), X, y, weight)
        return self

    def _fit_together(self, X: Any, y: Array, weight: Array | None) -> Self:
        """Fit one machine for all classes."""
        labels, cost = self._together(y, weight)
        problem = CrammerSinger(AugmentedRows(X, self._constant), labels, cost, np.zeros((len(y), len(self.classes_))))
        watch = self._watch(X, y, attributes=lambda w: self._attributes(self._differences(w)))
        found = solve_together(problem, Effort(min(self.tol, LARGEST_GAP), self.max_iter, watch), self._seed())
        for name, value in self._attributes(self._differences(found.w)).items():
            setattr(self, name, value)
        dual = found.loss.pull
        self.dual_coef_ = np.ascontiguousarray(dual.T[1:] if len(self.classes_) == 2 else dual.T)
        self.n_iter_ = found.n_iter
        certificate = certificate_of(found.gap / max(found.objective, np.finfo(float).tiny), 0.0, self.tol)
        self._conclude(certificate, found.trace, X, y, weight)
        return self

    @property
    def _constant(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _check_labeled(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Any, Array, Array | None]:
        return check_labeled_input(
            self, X, y, sample_weight, reset=reset, accept_sparse="csr", dtype=np.float64, order="C"
        )

    def _machines(self, y: Array, weight: Array | None) -> tuple[Array, Array]:
        """Return the sign and the cost of each row in each machine, of shape (n_machines, n_samples)."""
        by_class = self._class_weights(y, weight)
        total = self.C * (np.ones(len(y)) if weight is None else weight)
        if len(self.classes_) == 2:
            own = (y == self.classes_[1])[None]
            factor = np.where(own, by_class[1], by_class[0])
        else:
            own = y == self.classes_[:, None]
            factor = np.where(own, by_class[:, None], 1.0)
        return np.where(own, 1.0, -1.0), np.where(total > 0.0, factor * total, 0.0)

    def _class_weights(self, y: Array, weight: Array | None) -> Array:
        with np.errstate(divide="ignore"):  # a class without weight is no row's class
            by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=weight)
        return np.where(np.isfinite(by_class), by_class, 0.0)

    def _together(self, y: Array, weight: Array | None) -> tuple[Array, Array]:
        """Return the number of each row's class, and its cost."""
        labels = np.searchsorted(self.classes_, y)
        total = self.C * (np.ones(len(y)) if weight is None else weight)
        return labels, np.where(total > 0.0, self._class_weights(y, weight)[labels] * total, 0.0)

    def _differences(self, w: Array) -> Array:
        """Return the weights of each class; two classes need the difference of theirs only."""
        U = w.reshape(len(self.classes_), -1)
        return U[1:] - U[:1] if len(U) == 2 else U

    def _attributes(self, U: Array) -> dict[str, Any]:
        if not self.fit_intercept:
            return {"coef_": U.copy(), "intercept_": 0.0}
        return {"coef_": np.ascontiguousarray(U[:, :-1]), "intercept_": self._constant * U[:, -1]}

    def _store(self, machines: list[MarginFit], signs: Array) -> None:
        for name, value in self._attributes(np.stack([machine.u for machine in machines])).items():
            setattr(self, name, value)
        if hasattr(self, "dual_coef_"):
            del self.dual_coef_  # of an earlier fit, maybe with another loss
        duals = [machine.alpha for machine in machines if machine.alpha is not None]
        if duals:
            self.dual_coef_ = np.stack(duals) * signs
        self.n_iter_ = max(machine.n_iter for machine in machines)

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=False)
        u, dual = dense(self.coef_), getattr(self, "dual_coef_", None)
        if self.fit_intercept:
            u = np.hstack([u, np.reshape(self.intercept_, (-1, 1)) / self._constant])
        if self.multi_class == "crammer_singer":
            if len(u) == 1:  # the weights of two classes add up to 0
                u, dual = np.vstack([-0.5 * u, 0.5 * u]), None if dual is None else np.vstack([-dual, dual])
            model = FittedMachines(u, dual, "hinge", "l2", self._constant, self.tol)
            return prove_together(X, *self._together(y, weight), model)
        model = FittedMachines(u, dual, self.loss, self.penalty, self._constant, self.tol)
        return prove_machines(X, *self._machines(y, weight), model)


def _check_parameters(estimator: Any) -> None:
    """Refuse what scikit-learn refuses."""
    check_one_of(("l1", "l2"), penalty=estimator.penalty)
    check_one_of(("hinge", "squared_hinge"), loss=estimator.loss)
    check_one_of(("auto", True, False), dual=estimator.dual)
    check_positive(tol=estimator.tol, C=estimator.C)
    check_one_of(("ovr", "crammer_singer"), multi_class=estimator.multi_class)
    check_one_of((True, False), fit_intercept=estimator.fit_intercept)
    check_positive(intercept_scaling=estimator.intercept_scaling, hint="For no intercept use fit_intercept=False.")
    check_whole(low=0, max_iter=estimator.max_iter)
    if not isinstance(estimator.class_weight, dict):
        check_one_of(("balanced", None), class_weight=estimator.class_weight)
    if not (isinstance(estimator.verbose, bool) or (is_number(estimator.verbose) and estimator.verbose >= 0)):
        raise ValueError(f"verbose must be at least 0, got {estimator.verbose!r}. It prints nothing; see trace_.")
    _check_combination(estimator)


def _check_combination(estimator: Any) -> None:
    if estimator.multi_class == "crammer_singer":  # which has a penalty and a loss of its own
        return
    solved = DUALS.get((estimator.penalty, estimator.loss))
    if solved is None:
        raise ValueError(
            f"penalty must be 'l2' for loss='hinge', got {estimator.penalty!r}. Use loss='squared_hinge' for an l1 "
            "penalty."
        )
    if estimator.dual != "auto" and estimator.dual not in solved:
        raise ValueError(
            f"dual must be {solved[0]} or 'auto' for penalty={estimator.penalty!r} and loss={estimator.loss!r}, "
            f"got {estimator.dual!r}. Use 'auto'."
        )
