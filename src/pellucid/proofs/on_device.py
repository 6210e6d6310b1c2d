"""Sums that proofs make of rows on a device, by their own code: a fit to such rows is proved where they are.

The library of the arrays is the one they came from, so that nothing is imported here.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.blocks import BlockSums, PivotSums

NUMBERS_AT_ONCE = 1 << 25


def sum_rows(block: Any, kind: str) -> BlockSums:
    """Return the sums of a block of rows about its first row."""
    if kind != "rows":
        raise ValueError(f"kind must be 'rows' on a device, got {kind!r}.")
    X, weight = _counted(block)
    torch = sys.modules[type(X).__module__.partition(".")[0]]
    pivot, (n, p) = X[0].to(torch.float64), X.shape
    first, second, total = 0.0, 0.0, 0.0
    for start in range(0, n, max(1, NUMBERS_AT_ONCE // p)):
        deviations = X[start : start + max(1, NUMBERS_AT_ONCE // p)].to(torch.float64) - pivot
        own = None if weight is None else weight[start : start + len(deviations), None]
        weighted = deviations if own is None else deviations * own
        first, second = first + weighted.sum(0), second + deviations.T.matmul(weighted)
        total += float(len(deviations) if own is None else own.sum())
    return BlockSums({None: PivotSums(_here(pivot), total, _here(first), _here(second))})


def ends_of_rows(block: Any, mean: Array, back: Array) -> Array:
    """Return the largest and the least score of each factor."""
    X, _ = _counted(block)
    torch = sys.modules[type(X).__module__.partition(".")[0]]
    turn, origin = (torch.as_tensor(part, device=X.device) for part in (back, mean))
    high, low = [], []
    for start in range(0, len(X), max(1, NUMBERS_AT_ONCE // X.shape[1])):
        rows = X[start : start + max(1, NUMBERS_AT_ONCE // X.shape[1])].to(torch.float64)
        scores = (rows - origin).matmul(turn)
        high.append(scores.amax(0))
        low.append(scores.amin(0))
    return np.array([_here(torch.stack(high).amax(0)), _here(torch.stack(low).amin(0))])


def _counted(block: Any) -> tuple[Any, Any]:
    """Return the rows of weight above 0, and their weights."""
    if block.weight is None:
        return block.X, None
    counts = block.weight > 0
    return block.X[counts], block.weight[counts].double()


def _here(part: Any) -> Array:
    return np.asarray(part.cpu().numpy())
