r"""EM for soft k-means, in units in which each cluster has the covariance 1.

The log density of a cluster is linear in the columns, :math:`\mu^\top x - |\mu|^2/2`, up to a term that all clusters
share. Where clusters are so stiff that digits would cancel there, squared differences are taken.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

import numpy as np

from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.soft_assignment import (
    COLUMNS,
    LENGTH,
    StandardRows,
    blocks_of,
    given_sums,
    parts_of,
    soft_sums,
    standard_rows,
    sums_of,
)

STIFF = 1e6
"""Mean squared length of the rows, in units of the clusters, from which on differences are taken."""
DEAD = 10 * float(np.finfo(np.float64).eps)
"""A cluster with less than so much of a row keeps its center."""


def best_soft_kmeans(
    data: TrainingData, start: Callable[[], Array], n_starts: int, parameters: Any, effort: Effort
) -> Fit:
    """Return the best of several fits, the first of equal ones."""
    center = standard_rows(data.X, data.weight).center
    rows = StandardRows(data.X, data.weight, center, np.full(data.X.shape[1], parameters.beta**-0.5))
    square = float(given_sums(rows, LENGTH, 1, lambda part: np.ones((1, part.stop - part.start)))[0, 0]) / rows.total
    found: list[Fit] = []
    for _ in range(n_starts):
        fit = _ascend(data, rows, square, (start() - center) / rows.scale, parameters, effort)
        if not found or fit.attributes["lower_bound_"] > found[0].attributes["lower_bound_"]:
            found = [fit]
    return found[0]


def _ascend(
    data: TrainingData, rows: StandardRows, square: float, means: Array, parameters: Any, effort: Effort
) -> Fit:
    k, d = means.shape
    constant = 0.5 * d * log(parameters.beta / (2 * pi)) - log(k)
    trace, bounds, moved, stopped = Trace(), list[float](), np.inf, "max_iter"
    sizes = np.zeros(k)
    for n_iter in range(1, effort.max_iter + 1):
        log_sum, sums = _careful_sums(rows, means) if square > STIFF else _fast_sums(rows, means, square)
        before, last = means, moved
        sizes = sums[:, -1]
        means = np.where(sizes[:, None] > DEAD, sums[:, :-1] / np.maximum(sizes, DEAD)[:, None], means)
        moved = 0.5 * float(sizes @ ((means - before) ** 2).sum(axis=1)) / rows.total
        bounds.append(log_sum / rows.total + constant)
        gain = bounds[-1] - bounds[-2] if len(bounds) > 1 else np.inf
        trace.add(iteration=n_iter, objective=-bounds[-1], gain=gain, moved=moved)
        centers = rows.center + rows.scale * means
        trace.keep(centers=centers)
        told_to_stop = effort.watch(centers)
        # steps that grow leave a flat place: there the gain is small, and the end is far
        if abs(gain) < effort.goal and moved <= last:
            stopped = "the lower bound rose by less than tol"
            break
        if told_to_stop:
            stopped = "callback"
            break
    logs, shares = soft_answers(data.X, centers, parameters.beta, keep=False)
    attributes = {
        "cluster_centers_": centers,
        "cluster_sizes_": sizes,
        "labels_": data.spread(shares, fill=-1),
        "n_iter_": len(bounds),
        "lower_bound_": bounds[-1],
        "lower_bounds_": bounds,
        "log_likelihood_": float(logs.mean() if data.weight is None else data.weight @ logs / data.weight.sum()),
    }
    return Fit(attributes, trace, stopped)


def _fast_sums(rows: StandardRows, means: Array, square: float) -> tuple[float, Array]:
    coefficients = np.hstack([means, -0.5 * (means**2).sum(axis=1, keepdims=True)])
    log_sum, sums = soft_sums(rows, COLUMNS, np.ascontiguousarray(coefficients))
    return log_sum - 0.5 * square * rows.total, sums


def _careful_sums(rows: StandardRows, means: Array) -> tuple[float, Array]:
    from pellucid.solvers.soft_assignment_kernels import responsibilities_pass

    def respond(block: Array, weight: Array, _rows: slice) -> tuple[Array, float]:
        scores, logs = _scores(block[:-1], means), np.empty(len(weight))
        responsibilities_pass(scores, weight, logs, np.empty(len(weight)))
        return scores, float(weight @ logs)

    return sums_of(rows, COLUMNS, len(means), respond)


def _scores(columns: Array, means: Array) -> Array:
    """Return minus half the squared distances of rows that stand in columns, of shape (K, n)."""
    return np.stack([-0.5 * ((columns - mean[:, None]) ** 2).sum(axis=0) for mean in means])


def soft_answers(X: Array, centers: Array, beta: float, *, keep: bool = True) -> tuple[Array, Array]:
    """Return the log density of each row, and its responsibilities or, not to keep them, its nearest center."""
    k, d = centers.shape
    logs = np.empty(len(X))
    answers = np.empty((len(X), k)) if keep else np.empty(len(X), dtype=np.int32)
    constant = 0.5 * d * log(beta / (2 * pi)) - log(k)

    def work(part: slice) -> None:
        for some in blocks_of(part, d + k):
            # squared differences of plain rows, and only then the stiffness: ties between centers stay ties
            scores = beta * _scores(np.ascontiguousarray(X[some].T, dtype=np.float64), centers)
            top = scores.max(axis=0)
            parts = np.exp(scores - top)
            total = parts.sum(axis=0)
            logs[some] = top + np.log(total) + constant
            answers[some] = (parts / total).T if keep else scores.argmax(axis=0)

    run_blocks(work, parts_of(len(X), d + k, X.nbytes))
    return logs, answers
