r"""Probabilities of classes that agree with the prediction.

A machine's score f says :math:`1/(1 + e^{-af})`, with a slope a of its own for f above and below 0: two numbers per
machine, as in Platt's method, but 1/2 is where the machine changes its mind. The machines of all pairs are coupled by
least squares (Wu, Lin and Weng): p is the distribution with the least
:math:`\sum_{i\ne j}(r_{ji}p_i - r_{ij}p_j)^2`. Where the votes of the machines name another class than the largest p,
p is replaced by the nearest distribution in which no class is above the predicted one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from pellucid.core.labels import rows_by_class
from pellucid.core.random_state import generator
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_problem import MachineFit
from pellucid.svm.kernel_machine.machine_rows import PairRows, class_pairs, in_layout
from pellucid.svm.kernel_machine.pairwise_machines import fit_pairs

SUREST = 1e-7
"""No machine is surer than this, as in LIBSVM: its slopes come from too few rows to say more."""

HALVINGS = 200
"""Most halvings for a slope, far more than are needed."""


def is_asked_for(probability: Any) -> bool:
    """Return whether the parameter asks for probabilities; 'deprecated', scikit-learn's default, does not."""
    return not isinstance(probability, str) and bool(probability)


def pair_probabilities(scores: Array, slopes: Array) -> Array:
    """Return for each machine the probability of its positive class, of the shape of ``scores``."""
    with np.errstate(over="ignore", under="ignore"):  # as sure as can be, or as unsure
        steep = np.where(scores > 0.0, slopes[:, 1], slopes[:, 0]) * scores
    return np.clip(expit(steep), SUREST, 1.0 - SUREST)


def class_probabilities(pairwise: Array, n_classes: int) -> Array:
    """Return the coupled probabilities of the classes, (n_rows, n_classes); of two classes the second is positive."""
    if n_classes == 2:
        return np.column_stack([1.0 - pairwise[:, 0], pairwise[:, 0]])
    n = len(pairwise)
    r = np.zeros((n, n_classes, n_classes))
    for k, (i, j) in enumerate(class_pairs(n_classes)):
        r[:, i, j], r[:, j, i] = pairwise[:, k], 1.0 - pairwise[:, k]
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = np.sum(r * r, axis=1)
    system[:, :n_classes, -1] = system[:, -1, :n_classes] = 1.0
    wanted = np.zeros((n, n_classes + 1, 1))
    wanted[:, -1] = 1.0
    found = np.maximum(np.linalg.solve(system, wanted)[:, :n_classes, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def agreeing(probabilities: Array, predicted: Array) -> Array:
    """Return the nearest distributions whose largest entry is that of the predicted class, above all others."""
    for row in np.flatnonzero(np.argmax(probabilities, axis=1) != predicted):
        own = probabilities[row]
        best = predicted[row]
        others = np.flatnonzero(np.arange(len(own)) != best)
        others = others[np.argsort(-own[others], kind="stable")]
        levels = (own[best] + np.cumsum(own[others])) / np.arange(2, len(own) + 1)
        used = int(np.sum(own[others] > np.concatenate([[own[best]], levels[:-1]])))
        level = levels[used - 1] if used else own[best]
        own[others[:used]] = level
        own[best] = np.nextafter(level, 2.0)
    return probabilities


def smooth_targets(is_positive: Array, weight: Array) -> Array:
    """Return Platt's targets: not quite 1 and 0, as if each class had been seen once more on either side."""
    positive, negative = float(weight[is_positive].sum()), float(weight[~is_positive].sum())
    return np.where(is_positive, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


def slope_slope(slope: float, scores: Array, target: Array, weight: Array) -> float:
    """Return the derivative of the log loss by the slope, as a part of the scores' total."""
    size = float(weight @ np.abs(scores))
    return float((weight * scores) @ (expit(slope * scores) - target)) / size if size > 0.0 else 0.0


def fit_slope(scores: Array, target: Array, weight: Array) -> float:
    """Return the slope of at least 0 with the least log loss on scores of one sign; 0 for none.

    The derivative rises with the slope, so halving finds where it is 0, to the last bits.
    """
    unit = float(np.abs(scores).max(initial=0.0))
    if unit == 0.0 or slope_slope(0.0, scores, target, weight) >= 0.0:
        return 0.0
    low, high = 0.0, 1.0 / unit
    while slope_slope(high, scores, target, weight) < 0.0:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if slope_slope(middle, scores, target, weight) < 0.0 else (low, middle)
    return high


FOLDS = 5
"""Parts of the rows that are held out in turn, as in LIBSVM."""


def calibrate(data: TrainingData, pairs: list[PairRows], kernel: Kernel, parameters: Any) -> dict[str, Any]:
    """Return the slopes of all machines, and the scores they come from, laid out as ``dual_coef_`` with all rows."""
    folds = _folds(data, generator(parameters.random_state))
    scores = [np.zeros(len(pair.rows)) for pair in pairs]
    for fold in range(FOLDS):
        seen = [_part(pair, folds != fold) for pair in pairs]
        machines = fit_pairs(data.X, seen, kernel, parameters)
        for k, (pair, used, machine) in enumerate(zip(pairs, seen, machines, strict=True)):
            asked = folds[pair.rows] == fold
            scores[k][asked] = _scores(data.X, pair.rows[asked], used, machine, kernel)
    slopes = np.array([pair_slopes(found, pair, data.weights) for found, pair in zip(scores, pairs, strict=True)])
    laid = in_layout(scores, [(pair.first, pair.second) for pair in pairs], len(data.classes), data.X.shape[0])
    return {"probability_slopes_": slopes, "held_out_scores_": data.spread(laid)}


def pair_slopes(scores: Array, pair: PairRows, weight: Array) -> Array:
    """Return the slopes for scores below and above 0; where no row has such a score, that of the other side."""
    own = weight[pair.rows]
    target = smooth_targets(pair.target > 0.0, own)
    sides = [scores < 0.0, scores > 0.0]
    below, above = (fit_slope(scores[side], target[side], own[side]) for side in sides)
    is_empty = [not side.any() for side in sides]
    return np.array([above if is_empty[0] else below, below if is_empty[1] else above])


def _folds(data: TrainingData, random: np.random.Generator) -> Array:
    """Return which fold each row is in: of each class the same number in all folds, or nearly."""
    folds = np.empty(len(data.y), dtype=np.intp)
    start = 0
    for rows in rows_by_class(data.y, len(data.classes)):
        folds[random.permutation(rows)] = (start + np.arange(len(rows))) % FOLDS
        start += len(rows)
    return folds


def _part(pair: PairRows, is_used: Array) -> PairRows:
    used = is_used[pair.rows]
    return replace(
        pair,
        first=pair.first[is_used[pair.first]],
        second=pair.second[is_used[pair.second]],
        target=pair.target[used],
        cost=pair.cost[used],
    )


def _scores(X: SparseOrDense, asked: Array, used: PairRows, machine: MachineFit, kernel: Kernel) -> Array:
    support = np.flatnonzero(machine.coef)
    vectors = used.rows[support]
    others = vectors if kernel.is_given else X[vectors]
    return kernel.times(X[asked], others, machine.coef[support]) + machine.intercept
