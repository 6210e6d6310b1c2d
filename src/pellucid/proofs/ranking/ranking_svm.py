r"""Proof of a ranking machine: its duality gap, recomputed from the data in float64 by NumPy alone.

Any :math:`\alpha_{ij} \ge 0` bounds the least objective from below by
:math:`\sum\alpha_{ij} - \sum\alpha_{ij}^2/(4c_{ij}) - \tfrac12\|v\|^2` with :math:`c_{ij} = Cs_is_j` and
:math:`v = \sum\alpha_{ij}(x_i - x_j)`. The middle term is that of the squared hinge; the plain hinge has
:math:`\alpha_{ij} \le c_{ij}` instead. The point follows from the weights: :math:`2c_{ij}\max(0, 1 - m_{ij})`, and for
the hinge :math:`c_{ij}\min(1, \max(0, 1 - m_{ij})/\delta)` with the margins of ``smoothed_coef_`` and the
``smoothing_`` :math:`\delta`. Any such weights will do, as long as they are finite numbers.

Only sums over pairs are needed. They are taken in halves: every row of the upper half of the ranks with every row of
the lower half, by sorting; then the pairs within each half in the same way, until so few are left that their pairs
can be listed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import TINY
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

PAIR_SUM_ERROR = 1e-10
"""Relative error that sums over pairs may have: they are differences of sums over rows."""

FEW = 100
"""Rows whose pairs are listed."""


def _certificate(relative_gap: float, tol: float) -> Certificate:
    """Return the certificate for a duality gap."""
    bound, said = tol + PAIR_SUM_ERROR, "part of the objective by which it is above its minimum, at most"
    return Certificate(
        "optimal", (Claim("duality gap", said, relative_gap, bound, "Raise max_iter, or standardize X."),)
    )


def prove_ranking(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the weights; the queries are those that the model was fitted with."""
    query, weight = _queries(fitted.qid_, data), data.weights
    hinge = parameters.loss == "hinge"
    if query is None or not _are_weights(fitted.coef_, data) or (hinge and not _is_witness(fitted, data)):
        return _certificate(np.nan, parameters.tol)
    X = sparse.csr_array(data.X) if sparse.issparse(data.X) else _centered(data.X, query)
    y = np.asarray(data.y, dtype=np.float64)
    short = _Short.of(y, np.asarray(X @ fitted.coef_), query, weight)
    if hinge:
        smooth = _Short.of(y, np.asarray(X @ fitted.smoothed_coef_), query, weight, float(fitted.smoothing_))
        loss, slopes, bound = short.total, smooth.slopes, smooth.total
    else:
        slopes, loss = 2.0 * short.slopes, short.squares
        bound = 2.0 * short.total - loss
    v = parameters.C * np.asarray(X.T @ slopes)
    objective = 0.5 * float(fitted.coef_ @ fitted.coef_) + parameters.C * loss
    gap = objective - parameters.C * bound + 0.5 * float(v @ v)
    # no gap is below 0: one that is, by more than rounding, comes of a width that drowns in it, and proves nothing
    return _certificate(float(np.abs(gap) / np.maximum(objective, TINY)), parameters.tol)


def _queries(qid: Array, data: TrainingData) -> Array | None:
    """Return the queries of the rows that count, numbered from 0; None if these are no such numbers."""
    if qid.shape != (data.n_given,) or qid.dtype.kind not in "iu" or qid.min() < 0 or qid.max() >= len(qid):
        return None
    return qid if data.kept is None else qid[data.kept]


def _are_weights(w: Array, data: TrainingData) -> bool:
    return w.shape == (data.X.shape[1],) and bool(np.isfinite(w).all())


def _is_witness(fitted: Seen, data: TrainingData) -> bool:
    """Return whether the model tells a dual point: weights, and a width above 0."""
    smoothed, width = getattr(fitted, "smoothed_coef_", None), getattr(fitted, "smoothing_", np.nan)
    return smoothed is not None and _are_weights(smoothed, data) and bool(np.isfinite(width)) and width > 0.0


def _centered(X: Array, query: Array) -> Array:
    """Return the rows less the mean of their query: differences stay, and large offsets cannot drown them."""
    total = np.zeros((query.max(initial=0) + 1, X.shape[1]))
    np.add.at(total, query, X)
    return np.asarray(X - (total / np.maximum(np.bincount(query), 1)[:, None])[query])


@dataclass
class _Short:
    """Sums over the pairs whose margin is short of 1: by row, and of the first and second power.

    With a ``width`` a pair adds the part of it that it lacks, at most 1: what it lacks to 1, less what it lacks to
    1 - width, over the width.
    """

    lacks: Array  # (n,): of the pairs in which the row is better
    excess: Array  # (n,): of those in which it is worse
    width: float
    squares: float = 0.0

    @classmethod
    def of(cls, y: Array, f: Array, query: Array, weight: Array, width: float = np.inf) -> _Short:
        sums = cls(np.zeros(len(y)), np.zeros(len(y)), width)
        order = np.lexsort((y, query))
        for rows in np.split(order, np.cumsum(np.bincount(query))[:-1]):
            sums.add_pairs_within(rows, y, f, weight)
        return sums

    @property
    def slopes(self) -> Array:
        """Minus the derivatives of the loss by the scores."""
        return self.lacks - self.excess

    @property
    def total(self) -> float:
        return float(self.lacks.sum())

    def add_pairs_within(self, rows: Array, y: Array, f: Array, weight: Array) -> None:
        """Add the pairs among rows that are sorted by ``y``: each half with the other, then within the halves."""
        waiting = [rows]
        while waiting:
            rows = waiting.pop()
            cut = _cut(y[rows])
            if cut and len(rows) <= FEW:
                self.add_listed_pairs(rows, y, f, weight)
            elif cut and self.width == np.inf:
                self.add_pairs_between(rows[cut:], rows[:cut], f, weight, 1.0, 1.0)
            elif cut:
                self.add_pairs_between(rows[cut:], rows[:cut], f, weight, 1.0, 1.0 / self.width)
                self.add_pairs_between(rows[cut:], rows[:cut], f, weight, 1.0 - self.width, -1.0 / self.width)
            if cut and len(rows) > FEW:
                waiting += [rows[:cut], rows[cut:]]

    def add_listed_pairs(self, rows: Array, y: Array, f: Array, weight: Array) -> None:
        lack = np.maximum(1.0 - f[rows][:, None] + f[rows], 0.0) * (y[rows][:, None] > y[rows])
        lack = lack if self.width == np.inf else np.minimum(lack / self.width, 1.0)
        both = lack * np.outer(weight[rows], weight[rows])
        self.lacks[rows] += both.sum(axis=1)
        self.excess[rows] += both.sum(axis=0)
        self.squares += float(np.sum(both * lack))

    def add_pairs_between(
        self, better: Array, worse: Array, f: Array, weight: Array, target: float, factor: float
    ) -> None:
        """Add what the margins of all pairs lack to the target, times the factor."""
        better, worse = better[np.argsort(f[better])], worse[np.argsort(f[worse])]
        middle = float(np.mean(f[worse]))
        up, down, heavy, light = f[better] - middle, f[worse] - middle, weight[better], weight[worse]
        before = np.searchsorted(down, up - target, side="right")  # the worse rows from here on are too near
        count, linear, square = (_sums_from(light * down**power, before) for power in range(3))
        goal = target - up
        self.lacks[better] += factor * heavy * (goal * count + linear)
        self.squares += factor * float(heavy @ (goal**2 * count + 2.0 * goal * linear + square))
        until = np.searchsorted(up, down + target, side="left")  # the better rows up to here are too near
        count, linear = (_sums_until(heavy * up**power, until) for power in range(2))
        self.excess[worse] += factor * light * ((target + down) * count - linear)


def _cut(values: Array) -> int:
    """Return a place that splits sorted values between two different ones, about in half; 0 if all are equal."""
    middle = values[len(values) // 2]
    low, high = np.searchsorted(values, middle, "left"), np.searchsorted(values, middle, "right")
    return int(low) if low > 0 else int(high % len(values))


def _sums_from(terms: Array, start: Array) -> Array:
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)[start]


def _sums_until(terms: Array, stop: Array) -> Array:
    return np.append(0.0, np.cumsum(terms))[stop]


PROVES = {"RankingSVM": prove_ranking}
