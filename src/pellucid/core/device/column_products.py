"""Products of all columns of rows on a card, in double precision, from one reading of the rows: calls of products.cu.

Plain torch writes the rows again in double precision before it multiplies them, which takes longer than the products
do. The rows are not centered first, so this way is taken where the columns lie near 0 beside their deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.device.cuda_calls import run_cuda_loop
from pellucid.core.device.triton_calls import is_on_card
from pellucid.core.types import Array

MOST_COLUMNS = 128
"""Those of ones and of targets among them: a thread has no room for more sums."""
WORTH_COMPILING = 1 << 24
"""Numbers in a table: the products of fewer take plain torch a millisecond, and a loop is compiled for each number of
columns, once in a process, in most of a second."""
STEP = 16
"""Rows that a block of threads takes at a time."""
SHARES = 792
"""Of the rows: six for each processor of an H200, which has three at once; the same anywhere, and so the sums."""


def products_of_columns(parts: Sequence[Any]) -> Array | None:
    """Return the products of all columns, with a column of ones behind them; None where no loop can be had.

    ``parts`` are one table, or two side by side of which the second has few columns.
    """
    if len(parts) > 2 or not is_on_card(*parts) or not parts[0].is_contiguous():
        return None
    import torch

    kinds = {torch.float32: "float", torch.float64: "double"}
    X, y = parts[0], parts[-1]
    (n, p), q = X.shape, sum(part.shape[1] for part in parts[1:])
    if n * p < WORTH_COMPILING or p + 1 + q > MOST_COLUMNS or X.dtype not in kinds or y.dtype not in kinds:
        return None
    at_once = next(size for size in (16, 8, 4) if not (X.data_ptr() | p * X.element_size()) % size)
    constants = {"P": p, "Q": q, "XT": kinds[X.dtype], "YT": kinds[y.dtype], "WIDTH": at_once}
    each = max(1, -(-n // (SHARES * STEP))) * STEP
    n_shares, (strips, pairs, groups) = -(-n // each), counts_of(p + 1 + q)
    found = torch.empty((n_shares * (4 // pairs), 16 * strips, 8 * groups), dtype=torch.float64, device=X.device)
    threads = 32 * pairs * (4 // pairs)
    ran = run_cuda_loop(__package__, "products", constants, n_shares, threads, X, y, found, n, each, *y.stride())
    return put_together(on_host(found.sum(dim=0)), n, p, q) if ran else None


def counts_of(columns: int) -> tuple[int, int, int]:
    """Return how many strips of 16 columns, pairs of strips and groups of 8 there are, as products.cu counts them."""
    groups = -(-columns // 8)
    strips = -(-groups // 2)
    return strips, -(-strips // 2), groups


def put_together(sums: Array, n: int, p: int, q: int) -> Array:
    """Return the products of all columns, ones last, from those on and above the diagonal.

    ``sums`` are as products.cu leaves them: ``p`` columns of ``n`` rows, ones, ``q`` targets.
    """
    upper = np.triu(sums[: p + 1 + q, : p + 1 + q])
    upper[p, p] = n  # rows that fill up the last step count as ones beside each other, and as nothing beside others
    order = np.r_[:p, p + 1 : p + 1 + q, p]
    return np.asarray((upper + np.triu(upper, 1).T)[np.ix_(order, order)])
