"""How the machines of an SVC are solved and become its attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.linear_classifier import class_weights
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_measures import MachineMeasures, evidence
from pellucid.svm.kernel_machine.machine_problem import MachineFit
from pellucid.svm.kernel_machine.machine_rows import in_layout, merged_rows, steady_rows, svc_pairs
from pellucid.svm.kernel_machine.pairwise_machines import fit_pairs
from pellucid.svm.kernel_machine.support_vector_model import (
    as_it_is,
    has_products,
    machine_gamma,
    machine_kernel,
    measured_attributes,
    support_attributes,
)
from pellucid.svm.svc.svc_probability import calibrate, is_asked_for


class PairSolver:
    """Solves the machines of all pairs of classes on rows without repetitions, and tells of all rows."""

    def __init__(self, data: TrainingData, parameters: Any, moved: Callable[[Any], Any] = as_it_is) -> None:
        self.data, self.parameters, self.moved = data, parameters, moved
        self.has_products = has_products(parameters.kernel)
        self.merged = merged_rows(data, is_given=self.has_products)
        self.gamma = machine_gamma(parameters, self.merged.data)
        self.kernel = machine_kernel(parameters, self.gamma)
        self.rows = steady_rows(self.kernel, self.merged.data.X)
        self.pairs = svc_pairs(data, parameters)
        self.solved = self.pairs if self.merged.is_whole else svc_pairs(self.merged.data, parameters)

    def fit(self, watch: Watch) -> Fit:
        """Return the fit, with probabilities if asked."""
        machines = fit_pairs(self.moved(self.rows.X), self.solved, self.kernel, self.parameters, watch)
        measures = [self._measures(k, machine) for k, machine in enumerate(machines)]
        attributes = {
            **self._attributes([one.coef for one in measures], [one.intercept - one.shift for one in measures]),
            **measured_attributes(measures),
            "class_weight_": class_weights(self.parameters.class_weight, self.data),
            "margin_width_": np.array([machine.margin_width for machine in measures]),
            "n_iter_": np.array([machine.n_iter for machine in machines], dtype=np.int32),
            "fit_status_": int(not all(machine.converged for machine in machines)),
        }
        if is_asked_for(self.parameters.probability):
            rows = steady_rows(self.kernel, self.data.X).X
            attributes |= calibrate(replace(self.data, X=rows), self.pairs, self.kernel, self.parameters)
        claims = evidence(measures, self.parameters, self.kernel, self.data, converged=not attributes["fit_status_"])
        traces = {"trace_": partial(Trace.joined, [machine.trace for machine in machines], numbered="machine")}
        return Fit(attributes, **claims | {"later": claims.get("later", {}) | traces})

    def watched(self, coefs: list[Array], intercepts: list[float]) -> dict[str, Any]:
        """Return the fitted attributes that predictions need, from what the solvers have so far."""
        shifts = [self.rows.shift(coef, pair.rows) for coef, pair in zip(coefs, self.solved, strict=True)]
        split = [self._split(k, coef) for k, coef in enumerate(coefs)]
        return self._attributes(split, [b - shift for b, shift in zip(intercepts, shifts, strict=True)])

    def _attributes(self, coefs: list[Array], intercepts: list[float]) -> dict[str, Any]:
        """Return the support vectors of all machines in LIBSVM's layout, sorted by class, and the intercepts."""
        data, n_classes = self.data, len(self.data.classes)
        laid = in_layout(coefs, [(pair.first, pair.second) for pair in self.pairs], n_classes, len(data.y))
        used = np.flatnonzero(laid.any(axis=0))
        used = used[np.argsort(data.y[used], kind="stable")]
        return {
            "classes_": data.classes,
            "gamma_": self.gamma,
            **support_attributes(data, used, laid[:, used], has_products=self.has_products),
            "n_support_": np.bincount(data.y[used], minlength=n_classes).astype(np.int32),
            "intercept_": np.array(intercepts, dtype=np.float64),
        }

    def _split(self, k: int, coef: Array, stands: Any = None) -> Array:
        """Return the coefficients of a machine for all its rows, repetitions included."""
        solved, pair = self.solved[k], self.pairs[k]
        stands = self._stands_for(k) if stands is None else stands
        lower, upper = solved.lower[stands], solved.upper[stands]
        return self.merged.split(coef[stands], lower, upper, pair.rows, pair.lower, pair.upper)

    def _stands_for(self, k: int) -> Any:
        """Return which of the rows that a machine was solved on stands for each of all its rows."""
        if self.merged.is_whole:
            return slice(None)
        place = np.empty(len(self.merged.data.y), dtype=np.intp)
        place[self.solved[k].rows] = np.arange(len(self.solved[k].rows))
        return place[self.merged.place[self.pairs[k].rows]]

    def _measures(self, k: int, machine: MachineFit) -> MachineMeasures:
        """Return what the solver's last gradient, computed in float64, says about its answer."""
        pair, stands = self.pairs[k], self._stands_for(k)
        coef, gradient = self._split(k, machine.coef, stands), machine.gradient[stands]
        shift = self.rows.shift(machine.coef, self.solved[k].rows)
        return MachineMeasures(pair.target, pair.lower, pair.upper, 0.0, coef, gradient, shift)
