"""How the machine of an SVR is solved and becomes its attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_measures import MachineMeasures, evidence
from pellucid.svm.kernel_machine.machine_problem import MachineProblem
from pellucid.svm.kernel_machine.machine_rows import merged_rows, row_costs, steady_rows
from pellucid.svm.kernel_machine.machine_solver import solve_machine
from pellucid.svm.kernel_machine.pairwise_machines import small_problem
from pellucid.svm.kernel_machine.support_vector_model import (
    as_it_is,
    has_products,
    machine_gamma,
    machine_kernel,
    measured_attributes,
    support_attributes,
)


class TubeSolver:
    """Solves the machine on rows without repetitions, and tells of all rows."""

    def __init__(self, data: TrainingData, parameters: Any, moved: Callable[[Any], Any] = as_it_is) -> None:
        self.data, self.parameters, self.moved = data, parameters, moved
        self.has_products = has_products(parameters.kernel)
        self.merged = merged_rows(data, is_given=self.has_products)
        self.gamma = machine_gamma(parameters, self.merged.data)
        self.kernel = machine_kernel(parameters, self.gamma)
        self.rows = steady_rows(self.kernel, self.merged.data.X)

    def fit(self, watch: Watch) -> Fit:
        """Return the fit."""
        parameters, rows = self.parameters, self.merged.data
        cost, target = tube_costs(rows, parameters), np.asarray(rows.y, dtype=np.float64)
        machine = solve_machine(
            small_problem(
                MachineProblem(self.kernel, self.moved(self.rows.X), target, -cost, cost, float(parameters.epsilon))
            ),
            tol=parameters.tol,
            max_iter=parameters.max_iter,
            cache_size=parameters.cache_size,
            shrinking=parameters.shrinking,
            watch=watch,
        )
        gradient = machine.gradient[self.merged.place]
        shift, coef = self.rows.shift(machine.coef, np.arange(len(target))), self._split(machine.coef)
        found = tube_measures(self.data, parameters, coef, gradient, shift)
        attributes = {
            **self._attributes(found.coef, found.intercept - shift),
            **measured_attributes([found]),
            "n_iter_": int(machine.n_iter),
            "fit_status_": int(not machine.converged),
        }
        claims = evidence([found], parameters, self.kernel, self.data, converged=machine.converged)
        return Fit(attributes, machine.trace, **claims)

    def watched(self, coef: Array, intercept: float) -> dict[str, Any]:
        """Return the fitted attributes that predictions need, from what the solver has so far."""
        return self._attributes(self._split(coef), intercept - self.rows.shift(coef, np.arange(len(coef))))

    def _attributes(self, coef: Array, intercept: float) -> dict[str, Any]:
        used = np.flatnonzero(coef)
        return {
            "gamma_": self.gamma,
            **support_attributes(self.data, used, coef[None, used], has_products=self.has_products),
            "n_support_": np.array([len(used)], dtype=np.int32),
            "intercept_": np.array([intercept], dtype=np.float64),
        }

    def _split(self, coef: Array) -> Array:
        """Return the coefficients of all rows, repetitions included."""
        one, own = tube_costs(self.merged.data, self.parameters), tube_costs(self.data, self.parameters)
        place = self.merged.place
        return self.merged.split(coef[place], -one[place], one[place], slice(None), -own, own)


def tube_costs(data: TrainingData, parameters: Any) -> Array:
    """Return what a row costs per unit beyond the tube, the bound of its coefficient on both sides."""
    return row_costs(parameters.C, data.weights)


def tube_measures(data: TrainingData, parameters: Any, coef: Array, gradient: Array, shift: float) -> MachineMeasures:
    """Return the problem with a point of it."""
    cost = tube_costs(data, parameters)
    target = np.asarray(data.y, dtype=np.float64)
    return MachineMeasures(target, -cost, cost, float(parameters.epsilon), coef, gradient, shift)
