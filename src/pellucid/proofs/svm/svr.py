"""Proof of an SVR: its duality gap and optimality conditions, recomputed from the training data in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.linear_classifier import dense
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.seen import refusal
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.kernel_doubt import doubt_about
from pellucid.svm.kernel_machine.machine_claims import (
    largest_product,
    proved_certificate,
    stored_claims,
    stored_fault,
)
from pellucid.svm.kernel_machine.machine_kernel import machine_gamma, machine_kernel
from pellucid.svm.kernel_machine.steady_rows import steady_rows
from pellucid.svm.svr.tube_rows import tube_measures


def prove_svr(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate."""
    kernel = machine_kernel(parameters, machine_gamma(parameters, data))
    fault = stored_fault(fitted, parameters, data)
    sizes = {fitted.dual_coef_.shape[0], len(fitted.intercept_), len(fitted.intercept_range_), len(fitted.objective_)}
    fault = fault or ("" if sizes == {1} else "not those of one machine")
    if fault:
        return refusal("support vectors", fault)
    rows, stored = data.places(fitted.support_), dense(fitted.dual_coef_)[0]
    coef = np.zeros(data.X.shape[0])
    coef[rows] = stored
    steady = steady_rows(kernel, data.X)
    products = kernel.times(steady.X, rows if kernel.is_given else steady.X[rows], stored)
    shift = steady.shift(stored, rows)
    found = tube_measures(data, parameters, coef, products, float(fitted.intercept_[0]) + shift, shift)
    claims = stored_claims([found], fitted, largest_product(kernel, steady.X))
    return proved_certificate([found], parameters.tol, doubt_about(kernel, data)).with_claims(*claims)
