"""One EM step of components whose log density is linear in features, in one pass over rows on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pellucid.core.types import Array

NUMBERS_AT_ONCE = 1 << 25
"""Features, or deviations of all components, that are made in one go: a quarter of a gigabyte."""


def sums_there(
    rows: Any, features: Any, n_components: int, respond: Callable[[Any, Any, slice], tuple[Any, Any]]
) -> tuple[float, Array]:
    """Do what ``soft_assignment.sums_of`` does for rows in memory; features stand in rows of shape (n, width) here."""
    import torch

    d = rows.X.shape[1]
    width = features.width(d)
    log_sum = torch.zeros((), dtype=torch.float64, device=rows.X.device)
    sums = torch.zeros((n_components, width), dtype=torch.float64, device=rows.X.device)
    for some, moved, weight in standard_blocks(rows, width):
        block = torch.cat([_before_columns(features, moved), moved, torch.ones_like(moved[:, :1])], dim=1)
        shares, logs = respond(block, weight, some)
        log_sum += logs
        if n_components:
            sums += shares @ block
    return float(log_sum), sums.cpu().numpy()


def standard_blocks(rows: Any, width: int) -> Iterator[tuple[slice, Any, Any]]:
    """Yield places, standardized rows and weights of blocks that have so many numbers a row."""
    import torch

    center, scale = (torch.as_tensor(part, device=rows.X.device) for part in (rows.center, rows.scale))
    height = max(1, NUMBERS_AT_ONCE // width)
    for start in range(0, len(rows.X), height):
        some = slice(start, min(start + height, len(rows.X)))
        moved = (rows.X[some].to(torch.float64) - center) / scale
        weight = torch.ones_like(moved[:, 0]) if rows.weight is None else rows.weight[some]
        yield some, moved, weight


def responsibilities(scores: Any, weight: Any) -> tuple[Any, Any]:
    """Return shares times weights from log joint densities of shape (K, n), and the weighted sum of log densities."""
    logs = scores.logsumexp(dim=0)
    return (scores - logs).exp_() * weight, weight @ logs


def _before_columns(features: Any, moved: Any) -> Any:
    """Return the features that stand before the columns: products of two, squares, their sum, or none."""
    import torch

    d = moved.shape[1]
    if features.count(d) == 0:
        return moved[:, :0]
    if features.is_products:
        a, b = torch.triu_indices(d, d, device=moved.device)
        return moved[:, a] * moved[:, b]
    squares = moved * moved
    return squares.sum(dim=1, keepdim=True) if features.is_length else squares
