"""Classifiers that learn row by row: fit in epochs or in parts, several classes, evidence."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import _check_partial_fit_first_call

from pellucid.core.certificate import Certificate, UncertifiedWarning
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.labeled_input import check_labeled_input
from pellucid.core.linear_classifier import (
    LinearClassifier,
    dense,
    known_codes,
    machine_costs,
    machine_signs,
)
from pellucid.core.partial_fit import partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.linear_input import FLOATS
from pellucid.linear_model.row_by_row.presented_rows import Presentation, present_as_given, present_by_content
from pellucid.linear_model.row_by_row.row_by_row_rule import SPARSE_INTERCEPT_RATE, Rule, make_rule
from pellucid.linear_model.row_by_row.row_by_row_solvers import Machine, Stopping, gather_rows, learn, scattered
from pellucid.linear_model.row_by_row.row_by_row_start import Start, make_start
from pellucid.linear_model.row_by_row.sgd_classifier_parameters import check_parts, check_sgd_parameters
from pellucid.linear_model.row_by_row.sgd_classifier_proof import (
    Descended,
    no_proof_of_parts,
    objective_and_gap,
    plain_rows,
    sgd_certificate,
    sum_claim,
)
from pellucid.losses.named_losses import named_loss


class RowByRowClassifier(LinearClassifier, ClassifierMixin, CertifiedEstimator):
    """What SGDClassifier and Perceptron do alike; they differ in their parameters and in what they prove."""

    loss: str
    penalty: str | None
    alpha: float
    l1_ratio: float | None
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    epsilon: float
    random_state: Any
    learning_rate: str
    eta0: float
    power_t: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    class_weight: Any
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
        check_sgd_parameters(self)
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=True)
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = dense(self.coef_) if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        self._forget_evidence()
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._check_classes()
        start = make_start(self._n_machines, X.shape[1], coef_init, intercept_init)
        self.t_ = 1.0
        shown = self._present(X, codes, weight)
        watch = self._watch(X, y, attributes=lambda found: self._lines(found, X.dtype), max_iter=self.max_iter)
        machines, trace = self._learn(X, codes, shown, start, self.max_iter, watch)
        self._store(machines, X.dtype)
        self._store_dual(machines, shown, weight, start)
        self._count_updates(sum(machine.n_updates for machine in machines), anew=True)
        self._conclude(self._evidence(X, codes, weight, shown), trace, X, y, weight)
        self._warn_of_the_limit()
        return self

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data, classes: Data | None = None, sample_weight: Data | None = None) -> Self:
        """Show more rows once, going on from what was learned; the first call must name all ``classes``."""
        check_sgd_parameters(self)
        check_parts(self)
        self._learn_part(X, y, classes, sample_weight)
        return self

    @property
    def _n_machines(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _check_labeled(
        self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool
    ) -> tuple[Any, Array, Array | None]:
        options: dict[str, Any] = {"accept_sparse": "csr", "accept_large_sparse": False, "dtype": FLOATS, "order": "C"}
        X, y, weight = check_labeled_input(self, X, y, sample_weight, reset=reset, **options)
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X, y, weight

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must hold at least 2 classes, got one class: {self.classes_.tolist()[0]!r}. "
                "(The number of classes has to be greater than one.)"
            )

    def _rule(self, X: Any) -> Rule:
        rate = SPARSE_INTERCEPT_RATE if sparse.issparse(X) else 1.0
        return make_rule(
            loss=self.loss,
            epsilon=self.epsilon,
            learning_rate=self.learning_rate,
            eta0=self.eta0,
            power_t=self.power_t,
            penalty=self.penalty,
            alpha=self.alpha,
            l1_ratio=self.l1_ratio,
            intercept_rate=rate if self.fit_intercept else 0.0,
            average=int(self.average),
        )

    def _costs(self, signs: Array, codes: Array, weight: Array) -> Array:
        """Return what each row counts in each machine."""
        by_class = np.ones(len(self.classes_))
        if self.class_weight is not None:
            y = self.classes_[codes]
            with np.errstate(divide="ignore"):  # a class without weight is no row's class
                by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=weight)
            by_class[~np.isfinite(by_class)] = 0.0
        return machine_costs(signs, weight, by_class)

    def _present(self, X: Any, codes: Array, weight: Array | None) -> Presentation:
        own = np.ones(X.shape[0]) if weight is None else weight
        return present_by_content(X, codes, own) if self.shuffle else present_as_given(own)

    def _learn(
        self, X: Any, codes: Array, shown: Presentation, start: Start, max_iter: int, watch: Watch = ignore
    ) -> tuple[list[Machine], Trace]:
        """Return the machines after at most ``max_iter`` epochs, and the trace; move ``t_`` and ``n_iter_`` on."""
        rule, signs = self._rule(X), machine_signs(codes, len(self.classes_))
        costs = self._costs(signs, codes, shown.weight)
        rows, kept = gather_rows(
            X, shown, *self._hold_out(shown.order, codes), rule, copy=self.shuffle and max_iter > 1
        )
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=len(signs))
        machines = [
            Machine(
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
        stopping = Stopping(max_iter, self.tol, self.n_iter_no_change, self.learning_rate == "adaptive")
        trace = learn(machines, rows, rule, stopping, first_step=self.t_, shuffle=self.shuffle, watch=watch)
        for machine in machines:
            machine.dual = scattered(machine.dual, kept, X.shape[0])
        self.n_iter_ = max(machine.n_iter for machine in machines)
        self.t_ += self.n_iter_ * len(shown.order)
        return machines, trace

    def _learn_part(self, X: Data, y: Data, classes: Data | None, sample_weight: Data | None) -> None:
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=not hasattr(self, "classes_"))
        _check_partial_fit_first_call(self, classes)
        self._check_classes()
        codes = known_codes(y, self.classes_)
        start = self._going_on(X.shape[1])
        machines, trace = self._learn(X, codes, self._present(X, codes, weight), start, max_iter=1)
        self._store(machines, X.dtype)
        self._count_updates(sum(machine.n_updates for machine in machines), anew=False)
        self._forget_evidence()
        earlier = [self.trace_] if hasattr(self, "trace_") else []
        self._conclude(no_proof_of_parts(), Trace.joined([*earlier, trace], renumber=True), X, y, weight)

    def _going_on(self, n_features: int) -> Start:
        """Return where the parts so far have led: the last steps and their averages, or 0."""
        if not hasattr(self, "coef_"):
            self.t_ = 1.0
            return make_start(self._n_machines, n_features)
        start = make_start(self._n_machines, n_features, dense(self.coef_), self.intercept_)
        if not (self.average and hasattr(self, "_standard_coef")):
            return start
        return Start(
            self._standard_coef.copy(),
            self._standard_intercept.copy(),
            self._average_coef.copy(),
            self._average_intercept.copy(),
            is_zero=False,
        )

    def _hold_out(self, order: Array, codes: Array) -> tuple[Array, Array]:
        """Return the rows to learn from and those held out, of the rows shown."""
        if not self.early_stopping:
            return order, order[:0]
        split = StratifiedShuffleSplit(test_size=self.validation_fraction, random_state=self.random_state)
        train, held_out = next(split.split(np.zeros((len(order), 1)), codes[order]))
        return order[np.sort(train)], order[held_out]

    def _lines(self, machines: list[Machine], dtype: Any) -> dict[str, Array]:
        """Return the weights that the model decides by: the averages, once they have begun."""
        begun = [0 < int(self.average) <= machine.n_steps for machine in machines]
        pairs = list(zip(machines, begun, strict=True))
        return {
            "coef_": np.stack([m.average if averaged else m.w for m, averaged in pairs]).astype(dtype),
            "intercept_": np.array([m.average_intercept if averaged else m.intercept for m, averaged in pairs], dtype),
        }

    def _store(self, machines: list[Machine], dtype: Any) -> None:
        for name, value in self._lines(machines, dtype).items():
            setattr(self, name, value)
        for name in ("_standard_coef", "_standard_intercept", "_average_coef", "_average_intercept"):
            self.__dict__.pop(name, None)
        if self.average:  # a later part goes on from the steps, not from their average
            self._standard_coef = np.stack([machine.w for machine in machines])
            self._standard_intercept = np.array([machine.intercept for machine in machines])
            self._average_coef = np.stack([machine.average for machine in machines])
            self._average_intercept = np.array([machine.average_intercept for machine in machines])

    def _store_dual(self, machines: list[Machine], shown: Presentation, weight: Array | None, start: Start) -> None:
        """Keep the weights as a sum over the rows; rows that were shown as one share by their weights."""
        if not start.is_zero or self.average or self.penalty in ("l1", "elasticnet"):
            return
        total = shown.weight[shown.shown_as]
        own = np.ones(len(total)) if weight is None else weight
        share = np.divide(own, total, out=np.zeros(len(total)), where=total > 0.0)
        dual = np.stack([machine.dual[shown.shown_as] * share for machine in machines])
        self.dual_coef_ = sparse.csr_array(dual)

    def _warn_of_the_limit(self) -> None:
        if self.tol is not None and self.n_iter_ == self.max_iter:
            warn_user(
                f"n_iter_ is {self.n_iter_}, all that max_iter allows. (Maximum number of iteration reached before "
                "convergence.) Raise max_iter or tol.",
                UncertifiedWarning,  # a ConvergenceWarning, as scikit-learn's is
            )

    def _problem(self, X: Any, codes: Array, weight: Array | None) -> tuple[Any, Array, Array, float]:
        """Return what is minimized: rows, signs, costs and the sum of the weights."""
        own = np.ones(X.shape[0]) if weight is None else weight
        signs = machine_signs(codes, len(self.classes_))
        return plain_rows(X), signs, self._costs(signs, codes, own), float(own.sum())

    def _seen_by_proof(self, X: Any) -> Descended:
        rule = self._rule(X)
        return Descended(
            coef=dense(self.coef_).astype(np.float64),
            intercept=self.intercept_.astype(np.float64),
            dual=getattr(self, "dual_coef_", None),
            loss=named_loss(self.loss, self.epsilon),
            l2=rule.shrink,
            l1=rule.truncate,
            fit_intercept=self.fit_intercept,
        )

    def _forget_evidence(self) -> None:
        """Remove what an earlier fit has proved, maybe with another penalty."""
        for name in ("objective_", "dual_gap_", "dual_coef_"):
            self.__dict__.pop(name, None)

    def _count_updates(self, n_updates: int, *, anew: bool) -> None:
        """Keep the number of updates of a fit, or of one more part; the perceptron calls them mistakes."""

    def _evidence(self, X: Any, codes: Array, weight: Array | None, shown: Presentation | None = None) -> Certificate:
        """Return the certificate of the fitted attributes; a new fit, which knows how rows were ``shown``, keeps it."""
        model, problem = self._seen_by_proof(X), self._problem(X, codes, weight)
        objective, gap = objective_and_gap(*problem, model)
        if shown is not None:
            self.objective_, self.dual_gap_ = objective, gap
        certificate = sgd_certificate(objective, gap, self.objective_, self.dual_gap_)
        if model.dual is None:
            return certificate
        return certificate.with_claims(sum_claim(problem[0], model, self.coef_.dtype))

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=False)
        if not (hasattr(self, "objective_") or hasattr(self, "dual_coef_")):
            return no_proof_of_parts()
        return self._evidence(X, known_codes(y, self.classes_), weight)
