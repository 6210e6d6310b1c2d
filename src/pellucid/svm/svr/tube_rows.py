"""The box of each row of a regression with a tube."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_measures import MachineMeasures
from pellucid.svm.kernel_machine.pair_rows import row_costs


def tube_costs(data: TrainingData, parameters: Any) -> Array:
    """Return what a row costs per unit beyond the tube, the bound of its coefficient on both sides."""
    return row_costs(parameters.C, data.weights)


def tube_measures(
    data: TrainingData, parameters: Any, coef: Array, products: Array, intercept: float = 0.0, shift: float = 0.0
) -> MachineMeasures:
    """Return the problem with a point of it."""
    cost = tube_costs(data, parameters)
    target = np.asarray(data.y, dtype=np.float64)
    return MachineMeasures(target, -cost, cost, float(parameters.epsilon), coef, products, intercept, shift)
