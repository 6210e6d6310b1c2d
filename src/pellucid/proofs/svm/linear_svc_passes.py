r"""Proof of a LinearSVC with the squared hinge from one pass over rows in blocks: the gap of its worst machine.

With :math:`\alpha_i = 2c_i\max(0, 1 - m_i)` loss and dual point are linear in the costs :math:`c_i`, which a row has by
its weight and its class: sums by class are made first and multiplied by what the class costs afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.classes import class_weights, codes_among, machine_costs, machine_signs
from pellucid.proofs.rounding import TINY
from pellucid.proofs.seen import Seen
from pellucid.proofs.svm.linear_machines import constant_of, gap_certificate
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class MarginSums:
    """Of each class (C), and of each machine (M) for the rows of that class."""

    weights: Array  # (C,)
    short: Array  # (C, M): what margins lack
    squares: Array  # (C, M): the squares of that
    pulls: Array  # (C, M, width): rows times what their margin lacks and their sign


def margins_of_block(block: Any, classes: Array, weights: Array, constant: float) -> MarginSums:
    """Return the sums of a block."""
    own = np.ones(block.X.shape[0]) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    (m, width), n_classes = weights.shape, len(classes)
    found = MarginSums(
        np.zeros(n_classes), np.zeros((n_classes, m)), np.zeros((n_classes, m)), np.zeros((n_classes, m, width))
    )
    for start in range(0, block.X.shape[0], ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        counts = own[part] > 0.0
        A, w = dense(block.X[part]).astype(np.float64)[counts], own[part][counts]
        if constant:
            A = np.column_stack([A, np.full(len(A), constant)])
        codes = codes_among(classes, block.y[part][counts])
        signs = machine_signs(codes, n_classes).T
        short = np.maximum(1.0 - signs * (A @ weights.T), 0.0)
        for c in np.unique(codes):
            mine = codes == c
            lacking = w[mine, None] * short[mine]
            found.weights[c] += w[mine].sum()
            found.short[c] += lacking.sum(axis=0)
            found.squares[c] += np.sum(lacking * short[mine], axis=0)
            found.pulls[c] += (lacking * signs[mine]).T @ A[mine]
    return found


def join_margins(found: Sequence[MarginSums]) -> MarginSums:
    """Return the sums over several blocks."""
    return MarginSums(*(np.sum([getattr(one, name) for one in found], axis=0) for name in MarginSums.__annotations__))


def prove_linear_svc_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate of the worst machine."""
    u, classes, constant = dense(fitted.coef_).astype(np.float64), fitted.classes_, constant_of(parameters)
    if constant and np.size(fitted.intercept_) == len(u):
        u = np.hstack([u, np.reshape(fitted.intercept_, (-1, 1)) / constant])
    n_machines = 1 if len(classes) == 2 else len(classes)
    is_whole = u.shape == (n_machines, blocks.n_features + bool(constant))
    if not is_whole or (not constant and np.any(fitted.intercept_)):
        return gap_certificate(np.inf, None, parameters)
    sums: MarginSums = blocks.reduce(margins_of_block, join_margins, classes, u, constant)
    present = np.flatnonzero(sums.weights > 0.0)
    each = TrainingData(np.empty((len(present), 0)), np.arange(len(present)), sums.weights[present], classes[present])
    by_class = np.zeros(len(classes))
    by_class[present] = class_weights(parameters.class_weight, each)
    signs = machine_signs(np.arange(len(classes)), len(classes))
    costs = np.atleast_2d(machine_costs(signs, np.full(len(classes), float(parameters.C)), by_class))  # (M, C)
    loss = np.einsum("mc,cm->m", costs, sums.squares)
    v = 2.0 * np.einsum("mc,cmj->mj", costs, sums.pulls)
    objective = 0.5 * np.sum(u**2, axis=1) + loss
    bound = 2.0 * np.einsum("mc,cm->m", costs, sums.short) - loss - 0.5 * np.sum(v**2, axis=1)
    gaps = (objective - bound) / np.maximum(objective, TINY)
    return gap_certificate(float(gaps[int(np.argmax(np.abs(gaps)))]), None, parameters)


PROVES_BLOCKS = {"LinearSVC": prove_linear_svc_in_passes}
