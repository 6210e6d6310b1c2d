"""Scores of rows by machines that have not seen them, and the slopes that turn scores into probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.labels import rows_by_class
from pellucid.core.random_state import generator
from pellucid.core.types import Array
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_problem import MachineFit
from pellucid.svm.kernel_machine.pair_rows import PairRows
from pellucid.svm.kernel_machine.pairwise_layout import in_layout
from pellucid.svm.kernel_machine.pairwise_machines import fit_pairs
from pellucid.svm.svc.svc_probability import fit_slope, smooth_targets

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


def _scores(X: Any, asked: Array, used: PairRows, machine: MachineFit, kernel: Kernel) -> Array:
    support = np.flatnonzero(machine.coef)
    vectors = used.rows[support]
    others = vectors if kernel.is_given else X[vectors]
    return kernel.times(X[asked], others, machine.coef[support]) + machine.intercept
