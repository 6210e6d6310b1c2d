"""Proof of an SVC: the duality gap and the optimality conditions of each machine, recomputed from the training data.

The scores of all rows follow from the stored support vectors, in blocks, in float64. From them and the coefficients
follow primal and dual objective (``machine_measures.py``), the intercept and its range, and the margin. Probabilities:
the slopes are the best for the stored scores of held-out rows; the machines that these come from are not fitted again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.linear_classifier import class_weights, dense
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.seen import refusal
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.kernel_doubt import doubt_about
from pellucid.svm.kernel_machine.machine_claims import (
    largest_product,
    objective_error,
    proved_certificate,
    stored_claims,
    stored_fault,
)
from pellucid.svm.kernel_machine.machine_kernel import machine_gamma, machine_kernel
from pellucid.svm.kernel_machine.machine_measures import MachineMeasures
from pellucid.svm.kernel_machine.pair_rows import PairRows, svc_pairs
from pellucid.svm.kernel_machine.pairwise_layout import class_blocks, layout_row
from pellucid.svm.kernel_machine.steady_rows import SteadyRows, steady_rows
from pellucid.svm.svc.svc_probability import is_asked_for, slope_slope, smooth_targets

SLOPE_ERROR = 1e-9
"""Part of the total of the scores that the derivative of the log loss may be: slopes are exact up to rounding."""


def prove_svc(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the worst machine."""
    kernel, pairs = machine_kernel(parameters, machine_gamma(parameters, data)), svc_pairs(data, parameters)
    fault = stored_fault(fitted, parameters, data) or _fault(fitted, parameters, data, len(pairs))
    if fault:
        return refusal("support vectors", fault)
    rows, steady = data.places(fitted.support_), steady_rows(kernel, data.X)
    parts = []
    for block in class_blocks(fitted.n_support_):
        vectors = rows[block] if kernel.is_given else steady.X[rows[block]]
        parts.append(kernel.times(steady.X, vectors, dense(fitted.dual_coef_)[:, block].T.copy()))
    laid = data_layout(dense(fitted.dual_coef_), rows, data.X.shape[0])
    machines = [
        _measures(pair, laid, parts, intercept, steady)
        for pair, intercept in zip(pairs, fitted.intercept_, strict=True)
    ]
    largest = largest_product(kernel, steady.X)
    claims = (*stored_claims(machines, fitted, largest), _margin_claim(machines, fitted.margin_width_, largest))
    if is_asked_for(parameters.probability):
        claims += (_slope_claim(fitted, pairs, data),)
    return proved_certificate(machines, parameters.tol, doubt_about(kernel, data)).with_claims(*claims)


def data_layout(dual_coef: Array, rows: Array, n_rows: int) -> Array:
    """Return the coefficients of all rows, 0 for those that are no support vectors."""
    laid = np.zeros((len(dual_coef), n_rows))
    laid[:, rows] = dual_coef
    return laid


def _measures(pair: PairRows, laid: Array, parts: list[Array], intercept: float, steady: SteadyRows) -> MachineMeasures:
    (i, j), rows = pair.pair, pair.rows
    coef = np.concatenate([laid[layout_row(i, j), pair.first], laid[layout_row(j, i), pair.second]])
    products = parts[i][rows, layout_row(i, j)] + parts[j][rows, layout_row(j, i)]
    shift = steady.shift(coef, rows)
    return MachineMeasures(pair.target, pair.lower, pair.upper, 0.0, coef, products, float(intercept) + shift, shift)


def _fault(fitted: Any, parameters: Any, data: TrainingData, n_machines: int) -> str:
    """Return what is wrong with the order of the support vectors or with the weights of the classes."""
    n_classes = len(data.classes)
    if len(np.unique(data.y)) != n_classes:
        return "classes_ has labels that no row has"
    if fitted.dual_coef_.shape[0] != n_classes - 1 or len(fitted.n_support_) != n_classes:
        return "not as many classes as in the data"
    own = data.y[data.places(fitted.support_)]
    if (np.bincount(own, minlength=n_classes) != fitted.n_support_).any() or (np.diff(own) < 0).any():
        return "not sorted by class, or not as many of each as n_support_ says"
    if np.abs(fitted.class_weight_ - class_weights(parameters.class_weight, data)).max() > sum_error(len(data.y)):
        return "class_weight_ is not what the parameter means"
    sizes = {len(fitted.intercept_), len(fitted.intercept_range_), len(fitted.margin_width_), len(fitted.objective_)}
    return "" if sizes == {n_machines} else "not as many machines as pairs of classes"


def _margin_claim(machines: list[MachineMeasures], stored: Array, largest: float) -> Claim:
    return worst_claim(
        Claim(
            "margin width",
            "part by which margin_width_ differs from what the coefficients give",
            0.0 if width == machine.margin_width else abs(width / machine.margin_width - 1.0),
            objective_error(machine, largest) / machine.squared_length if machine.squared_length > 0.0 else 0.0,
        )
        for machine, width in zip(machines, stored, strict=True)
    )


def _slope_claim(fitted: Any, pairs: list[PairRows], data: TrainingData) -> Claim:
    """Return the claim that no slope has a smaller log loss on the held-out scores."""
    scores = fitted.held_out_scores_ if data.kept is None else fitted.held_out_scores_[:, data.kept]
    values = []
    for pair, slopes in zip(pairs, fitted.probability_slopes_, strict=True):
        i, j = pair.pair
        own = np.concatenate([scores[layout_row(i, j), pair.first], scores[layout_row(j, i), pair.second]])
        weight = data.weights[pair.rows]
        target = smooth_targets(pair.target > 0.0, weight)
        values += [_steepness(own, slopes, side, target, weight) for side in (0, 1)]
    return Claim(
        "probability slopes",
        "derivative of the log loss of the stored held-out scores by a slope, as a part of their total; that they "
        "are the scores of machines which have not seen the row is not proved, so probabilities are not, only classes",
        float(np.max(values)),
        SLOPE_ERROR,
    )


def _steepness(scores: Array, slopes: Array, side: int, target: Array, weight: Array) -> float:
    """Return by how much a slope misses its condition; a side without scores has the slope of the other."""
    on_side = scores > 0.0 if side else scores < 0.0
    if not on_side.any():
        other_side = scores < 0.0 if side else scores > 0.0
        return float(slopes[side] != (slopes[1 - side] if other_side.any() else 0.0))
    steep = slope_slope(slopes[side], scores[on_side], target[on_side], weight[on_side])
    if slopes[side] == 0.0:
        return max(0.0, -steep)
    return abs(steep) if slopes[side] > 0.0 else np.inf
