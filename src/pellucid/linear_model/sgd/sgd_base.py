"""Classifiers that learn row by row: fit in epochs or in parts, several classes, evidence."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.linear_classifier import LinearClassifier, class_weights, dense, machine_costs, machine_signs
from pellucid.core.partial_fit import check_classes, partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.core.user_warnings import UncertifiedWarning, warn_user
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.sgd.sgd_problem import descent_rule, objective_and_gap
from pellucid.linear_model.sgd.sgd_solvers import EpochStopping, LearningMachine, gather_rows, learn, scattered
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.presented_rows import Presentation, present_as_given, present_by_content

NO_PROOF_OF_PARTS = Certificate(
    "none", (), "Learned by partial_fit: the rows of earlier parts are gone, and with them the proof."
)

STEPS_AND_AVERAGES = ("_standard_coef", "_standard_intercept", "_average_coef", "_average_intercept")


class SGDBase(LinearClassifier, ClassifierMixin, CertifiedEstimator):
    """What SGDClassifier and Perceptron do alike; they differ in their parameters and in what they prove."""

    _counts_mistakes = False
    loss: str
    penalty: str | None
    alpha: float
    l1_ratio: float | None
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    epsilon: float
    random_state: RandomState
    learning_rate: str
    eta0: float
    power_t: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    class_weight: ClassWeight
    warm_start: bool
    average: bool | int

    n_iter_: int
    t_: float
    objective_: Array
    dual_gap_: Array
    dual_coef_: Any

    @fit_method
    def fit(
        self,
        X: Data,
        y: Data,
        coef_init: Data | None = None,
        intercept_init: Data | None = None,
        sample_weight: Data | None = None,
    ) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``, from given weights if there are any."""
        data = self._check(X, y, sample_weight)
        _check_several(data.classes)
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = dense(self.coef_) if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        start = make_start(_machine_count(data), data.X.shape[1], coef_init, intercept_init)
        shown = self._present(data)
        watch = self._watch(
            data.X,
            data.given[1],
            attributes=lambda found: {"classes_": data.classes, **self._lines(found, data.X.dtype)},
            max_iter=self.max_iter,
        )
        machines, trace = self._learn(data, shown, start, self.max_iter, 1.0, watch)
        attributes = self._attributes(machines, data, shown, first_step=1.0, mistakes_before=0)
        attributes |= self._dual(machines, data, shown, start)
        if not self._has_mistake_bound(attributes):
            attributes["objective_"], attributes["dual_gap_"] = objective_and_gap(
                SimpleNamespace(**attributes), self, data
            )
        self._adopt(Fit(attributes, trace), data)
        self._warn_of_the_limit()
        return self

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, classes: Data | None = None, sample_weight: Data | None = None) -> Self:
        """Show more rows once, going on from what was learned; the first call must name all ``classes``."""
        _check_parts(self)
        known = check_classes(self, classes)
        data = self._check(X, y, sample_weight, reset=not hasattr(self, "classes_"), classes=known)
        _check_several(data.classes)
        start, first_step = self._going_on(_machine_count(data), data.X.shape[1])
        shown = self._present(data)
        machines, trace = self._learn(data, shown, start, 1, first_step)
        before = getattr(self, "n_mistakes_", 0)
        attributes = self._attributes(machines, data, shown, first_step=first_step, mistakes_before=before)
        earlier = [self.trace_] if hasattr(self, "trace_") else []
        joined = Trace.joined([*earlier, trace], renumber=True)
        return self._adopt(Fit(attributes, joined, certificate=NO_PROOF_OF_PARTS), data)

    def _present(self, data: TrainingData) -> Presentation:
        return present_by_content(data.X, data.y, data.weights) if self.shuffle else present_as_given(data.weights)

    def _learn(
        self,
        data: TrainingData,
        shown: Presentation,
        start: LineStart,
        max_iter: int,
        first_step: float,
        watch: Watch = ignore,
    ) -> tuple[list[LearningMachine], Trace]:
        """Return the machines after at most ``max_iter`` epochs, and the trace."""
        rule, signs = descent_rule(self, data.X), machine_signs(data.y, len(data.classes))
        costs = np.atleast_2d(machine_costs(signs, shown.weight, class_weights(self.class_weight, data)))
        rows, kept = gather_rows(
            data.X, shown, *self._hold_out(shown.order, data.y), rule, copy=self.shuffle and max_iter > 1
        )
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=len(signs))
        machines = [
            LearningMachine(
                y=signs[k, kept],
                cost=costs[k, kept],
                w=start.coef[k],
                intercept=float(start.intercept[k]),
                average=start.average_coef[k],
                average_intercept=float(start.average_intercept[k]),
                seed=int(seeds[k]),
            )
            for k in range(len(signs))
        ]
        stopping = EpochStopping(max_iter, self.tol, self.n_iter_no_change, self.learning_rate == "adaptive")
        trace = learn(machines, rows, rule, stopping, first_step=first_step, shuffle=self.shuffle, watch=watch)
        for machine in machines:
            machine.dual = scattered(machine.dual, kept, data.X.shape[0])
        for state in trace.states:
            state["order"] = data.given_rows(kept[state["order"]])
        return machines, trace

    def _going_on(self, n_machines: int, n_features: int) -> tuple[LineStart, float]:
        """Return where the parts so far have led, the last steps and their averages or 0, and the next step."""
        if not hasattr(self, "coef_"):
            return make_start(n_machines, n_features), 1.0
        start = make_start(n_machines, n_features, dense(self.coef_), self.intercept_)
        if not (self.average and hasattr(self, "_standard_coef")):
            return start, self.t_
        return LineStart(
            self._standard_coef.copy(),
            self._standard_intercept.copy(),
            self._average_coef.copy(),
            self._average_intercept.copy(),
            is_zero=False,
        ), self.t_

    def _hold_out(self, order: Array, codes: Array) -> tuple[Array, Array]:
        """Return the rows to learn from and those held out, of the rows shown."""
        from sklearn.model_selection import StratifiedShuffleSplit

        if not self.early_stopping:
            return order, order[:0]
        split = StratifiedShuffleSplit(test_size=self.validation_fraction, random_state=self.random_state)
        train, held_out = next(split.split(np.zeros((len(order), 1)), codes[order]))
        return order[np.sort(train)], order[held_out]

    def _lines(self, machines: list[LearningMachine], dtype: np.dtype) -> dict[str, Array]:
        """Return the weights that the model decides by: the averages, once they have begun."""
        begun = [0 < int(self.average) <= machine.n_steps for machine in machines]
        pairs = list(zip(machines, begun, strict=True))
        return {
            "coef_": np.stack([m.average if averaged else m.w for m, averaged in pairs]).astype(dtype),
            "intercept_": np.array([m.average_intercept if averaged else m.intercept for m, averaged in pairs], dtype),
        }

    def _attributes(
        self,
        machines: list[LearningMachine],
        data: TrainingData,
        shown: Presentation,
        *,
        first_step: float,
        mistakes_before: int,
    ) -> dict[str, Any]:
        """Return what every fit stores; the perceptron calls updates mistakes, and counts them."""
        n_iter = max(machine.n_iter for machine in machines)
        attributes = {
            "classes_": data.classes,
            **self._lines(machines, data.X.dtype),
            "n_iter_": n_iter,
            "t_": first_step + n_iter * len(shown.order),
        }
        for name in STEPS_AND_AVERAGES:
            self.__dict__.pop(name, None)
        if self.average:  # a later part goes on from the steps, not from their average
            attributes["_standard_coef"] = np.stack([machine.w for machine in machines])
            attributes["_standard_intercept"] = np.array([machine.intercept for machine in machines])
            attributes["_average_coef"] = np.stack([machine.average for machine in machines])
            attributes["_average_intercept"] = np.array([machine.average_intercept for machine in machines])
        if self._counts_mistakes:
            attributes["n_mistakes_"] = mistakes_before + sum(machine.n_updates for machine in machines)
        return attributes

    def _dual(
        self, machines: list[LearningMachine], data: TrainingData, shown: Presentation, start: LineStart
    ) -> dict[str, Any]:
        """Return the weights as a sum over the rows; rows that were shown as one share by their weights."""
        if not start.is_zero or self.average or self.penalty in ("l1", "elasticnet"):
            return {}
        share = data.weights / shown.weight[shown.shown_as]
        dual = np.stack([machine.dual[shown.shown_as] * share for machine in machines])
        return {"dual_coef_": sparse.csr_array(data.spread(dual))}

    def _has_mistake_bound(self, attributes: dict[str, Any]) -> bool:
        """Return whether the mistakes of the fit have a bound, so that no objective needs one."""
        return self._counts_mistakes and self.penalty is None and "dual_coef_" in attributes

    def _warn_of_the_limit(self) -> None:
        if self.tol is not None and self.n_iter_ == self.max_iter:
            warn_user(
                f"n_iter_ is {self.n_iter_}, all that max_iter allows. (Maximum number of iteration reached before "
                "convergence.) Raise max_iter or tol.",
                UncertifiedWarning,  # a ConvergenceWarning, as scikit-learn's is
            )


def _machine_count(data: TrainingData) -> int:
    return 1 if len(data.classes) == 2 else len(data.classes)


def _check_several(classes: Array) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least 2 classes, got one class: {classes.tolist()[0]!r}. "
            "(The number of classes has to be greater than one.)"
        )


def _check_parts(estimator: Any) -> None:
    """Refuse what cannot be done with data that come in parts."""
    if estimator.early_stopping:
        raise ValueError(
            "early_stopping must be False with partial_fit, got True. Hold rows out yourself, or call fit."
        )
    if estimator.class_weight == "balanced":
        raise ValueError(
            "class_weight must not be 'balanced' with partial_fit, got 'balanced': one part does not know the shares "
            "of the classes (class_weight 'balanced' is not supported for partial_fit). Pass a dict."
        )


@dataclass(frozen=True)
class LineStart:
    """Weights of shape (n_machines, n_features) and intercepts, and their averages so far."""

    coef: Array
    intercept: Array
    average_coef: Array
    average_intercept: Array
    is_zero: bool


def make_start(n_machines: int, n_features: int, coef: Data | None = None, intercept: Data | None = None) -> LineStart:
    """Return copies of the given weights, or 0; with averages of 0. Two classes take weights of any one row's shape."""
    w = np.zeros((n_machines, n_features)) if coef is None else np.array(coef, dtype=np.float64)
    b = np.zeros(n_machines) if intercept is None else np.array(intercept, dtype=np.float64)
    if n_machines == 1:
        w, b = w.reshape(1, -1), b.reshape(-1)
    if w.shape != (n_machines, n_features):
        raise ValueError(f"coef_init must have shape {(n_machines, n_features)}, got {np.asarray(coef).shape}.")
    if b.shape != (n_machines,):
        raise ValueError(f"intercept_init must have shape {(n_machines,)}, got {np.asarray(intercept).shape}.")
    return LineStart(w, b, np.zeros_like(w), np.zeros_like(b), is_zero=not w.any() and not b.any())
