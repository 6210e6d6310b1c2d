"""Proof of a choice by relevance and redundancy: information computed again from tables, each step replayed.

Of many columns, a sample is looked at besides those that were chosen; what a column says of the target, of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.feature_selection.filters.column_codes import coded_column, coded_target
from pellucid.feature_selection.filters.mrmr_criterion import criterion_values
from pellucid.feature_selection.search.set_choice import best_of
from pellucid.probability.information import joint_counts, mutual_information
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn
from pellucid.proofs.training_data import TrainingData

MOST_COLUMNS = 50
AT_FIT = 2
"""Columns whose information a fit computes again."""
WORK = 100_000_000
"""Rows times tables of counts that verify makes, if that is more columns."""


def prove_mrmr(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes."""
    return prove_choice(fitted, parameters, data, most=MOST_COLUMNS)


def prove_choice(fitted: Any, parameters: Any, data: TrainingData, *, most: int = AT_FIT) -> Certificate:
    """Return the certificate; at a fit the information of few columns is computed again."""
    d = data.X.shape[1]
    k = min(d, parameters.k)
    shapes = {"order_": (k,), "relevance_": (d,), "redundancy_": (d, k), "support_": (d,)}
    wrong = [name for name, shape in shapes.items() if getattr(fitted, name).shape != shape]
    order = fitted.order_
    if wrong or len(np.unique(order)) < k or order.min(initial=0) < 0 or order.max(initial=0) >= d:
        return Certificate("replayed", (Claim("shape", f"not of {k} of the columns: {', '.join(wrong)}", 1.0, 0.0),))
    most = max(most, WORK // (len(data.y) * (k + 1))) if most > AT_FIT else most
    looked_at = drawn(d, most, always=order if most > AT_FIT else order[:1])
    said = f"largest distance of an information from the one computed again, {len(looked_at)} of {d} columns"
    said += at_most_wrong(most, d)
    apart, faults = _largest_distance(fitted, parameters, data, looked_at), _faults(fitted, parameters)
    if most > AT_FIT:  # a column that seems to say nothing of the target is never chosen: all of these are computed
        apart = float(np.max([apart, _largest_distance(fitted, parameters, data, np.arange(d), with_others=False)]))
    chosen = np.zeros(d, dtype=bool)
    chosen[order] = True
    return Certificate("replayed", (
        Claim("information", said, apart, 1e-10 + 64 * sum_error(len(data.y))),
        Claim("steps", f"steps of {k} that did not take the best column", float(faults), 0.0),
        Claim("choice", "columns that are not the chosen ones", float(np.sum(chosen != fitted.support_)), 0.0),
    ))  # fmt: skip


def _largest_distance(
    fitted: Any, parameters: Any, data: TrainingData, looked_at: Array, *, with_others: bool = True
) -> float:
    """Return the largest error of the information of some columns with the target, and with the chosen columns."""
    others = [coded_target(data.y, data.weight, parameters.n_bins).of_rows]
    others += [_codes(data, parameters, int(s)) for s in fitted.order_] if with_others else []
    worst = [0.0]
    for j in looked_at:
        column, stored = _codes(data, parameters, int(j)), [fitted.relevance_[j], *fitted.redundancy_[j]]
        for other, value in zip(others, stored, strict=False):
            found = mutual_information(joint_counts(column, other, sample_weight=data.weight))
            worst.append(abs(found - value))
    return float(np.max(worst))


def _codes(data: TrainingData, parameters: Any, column: int) -> Array:
    return coded_column(data.X[:, column], data.weight, parameters.n_bins).of_rows


def _faults(fitted: Any, parameters: Any) -> int:
    """Return how many steps did not take the first of the best columns, by what is stored."""
    taken, faults = np.zeros(len(fitted.relevance_), dtype=bool), 0
    for step, chosen in enumerate(fitted.order_):
        values = criterion_values(fitted.relevance_, fitted.redundancy_[:, :step], parameters.criterion)
        faults += int(best_of(np.where(taken, -np.inf, values)) != chosen)
        taken[chosen] = True
    return faults
