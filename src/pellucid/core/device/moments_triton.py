"""Products of centered columns in double precision, from one reading of rows in single precision: a loop for cards.

Plain torch writes the rows again in double precision before it multiplies them, which takes as long as the products do.
A tile of the products is summed over a share of the rows by one program; shares are summed in a fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.device.triton_calls import is_on_card, run_loop
from pellucid.core.types import Array

TILE = 32
"""Columns of a side of a tile."""
ROWS = 32
"""That are multiplied in one go."""
WARPS, STAGES = 4, 3
SHARES = 1056
"""Of the rows, eight for each processor of an H200; the same anywhere, and so the sums."""
MOST_COLUMNS = 256
"""Beyond them each number would be read more than eight times."""


@cache
def _kernel() -> Any:
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit  # type: ignore[untyped-decorator]
    def products(  # type: ignore[no-untyped-def]
        X, y, weight, origin, lefts, rights, out, n, each, x_down, x_right, y_down, y_right,
        P: tl.constexpr, Q: tl.constexpr, HAS_WEIGHT: tl.constexpr, TILE: tl.constexpr, ROWS: tl.constexpr,
    ):  # fmt: skip
        tile, share = tl.program_id(0), tl.program_id(1).to(tl.int64)
        left = tl.load(lefts + tile) * TILE + tl.arange(0, TILE)
        right = tl.load(rights + tile) * TILE + tl.arange(0, TILE)
        left_origin = tl.load(origin + left, mask=left < P + Q, other=0.0)
        right_origin = tl.load(origin + right, mask=right < P + Q, other=0.0)
        total = tl.zeros((TILE, TILE), tl.float64)
        stop = tl.minimum((share + 1) * each, n)
        for first in range(share * each, stop, ROWS):
            rows = first + tl.arange(0, ROWS).to(tl.int64)
            inside = rows < stop
            # the column behind the last one is 1: its products are sums
            a = tl.where(left == P + Q, 1.0, 0.0).to(tl.float64)[:, None] * tl.where(inside, 1.0, 0.0)[None, :]
            b = tl.where(right == P + Q, 1.0, 0.0).to(tl.float64)[None, :] * tl.where(inside, 1.0, 0.0)[:, None]
            here, there = inside[None, :] & (left < P)[:, None], inside[:, None] & (right < P)[None, :]
            x = tl.load(X + rows[None, :] * x_down + left[:, None] * x_right, mask=here, other=0.0).to(tl.float64)
            a = tl.where(here, x - left_origin[:, None], a)
            x = tl.load(X + rows[:, None] * x_down + right[None, :] * x_right, mask=there, other=0.0).to(tl.float64)
            b = tl.where(there, x - right_origin[None, :], b)
            if Q > 0:
                here = inside[None, :] & ((left >= P) & (left < P + Q))[:, None]
                there = inside[:, None] & ((right >= P) & (right < P + Q))[None, :]
                x = tl.load(y + rows[None, :] * y_down + (left - P)[:, None] * y_right, mask=here, other=0.0)
                a = tl.where(here, x.to(tl.float64) - left_origin[:, None], a)
                x = tl.load(y + rows[:, None] * y_down + (right - P)[None, :] * y_right, mask=there, other=0.0)
                b = tl.where(there, x.to(tl.float64) - right_origin[None, :], b)
            if HAS_WEIGHT:
                a *= tl.load(weight + rows, mask=inside, other=0.0)[None, :]
            total = tl.dot(a, b, total, out_dtype=tl.float64)
        square = tl.arange(0, TILE)[:, None] * TILE + tl.arange(0, TILE)[None, :]
        tl.store(out + (share * tl.num_programs(0) + tile) * TILE * TILE + square, total)

    return products


def products_of_centered(parts: Sequence[Any], weight: Any, origin: Any) -> Array | None:
    """Return the products of the columns less the origin, with a column of ones behind them; None where it cannot.

    ``parts`` are one table or two, side by side.
    """
    if not is_on_card(*parts) or len(parts) > 2 or any(part.itemsize not in (4, 8) for part in parts):
        return None
    loop, (n, p), q = _kernel(), parts[0].shape, sum(part.shape[1] for part in parts[1:])
    sides = -(-(p + q + 1) // TILE)
    if loop is None or sides * TILE > MOST_COLUMNS:
        return None
    import torch

    X, y = parts[0], parts[-1]
    left, right = np.triu_indices(sides)
    each = max(1, -(-n // (SHARES * ROWS))) * ROWS
    n_shares = -(-n // each)
    out = torch.empty((n_shares, len(left), TILE, TILE), dtype=torch.float64, device=X.device)
    tiles = (torch.tensor(side, dtype=torch.int32, device=X.device) for side in (left, right))
    ran = run_loop(
        loop, (len(left), n_shares), X, y, X if weight is None else weight, origin, *tiles, out, n, each,
        *X.stride(), *y.stride(), P=p, Q=q, HAS_WEIGHT=weight is not None, TILE=TILE, ROWS=ROWS,
        num_warps=WARPS, num_stages=STAGES,
    )  # fmt: skip
    if not ran:
        return None
    whole = np.empty((sides * TILE, sides * TILE))
    for i, j, tile in zip(left, right, on_host(out.sum(dim=0)), strict=True):
        rows, columns = slice(i * TILE, (i + 1) * TILE), slice(j * TILE, (j + 1) * TILE)
        whole[rows, columns] = tile
        whole[columns, rows] = tile.T
    return whole[: p + q + 1, : p + q + 1]
