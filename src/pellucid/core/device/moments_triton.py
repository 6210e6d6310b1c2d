"""Products and sums of columns in double precision, each from one reading of rows in single precision: loops for cards.

Plain torch writes the rows again in double precision before it multiplies them, which takes longer than the products
do. Here a tile of the products is summed over a share of the rows by one program, and shares in a fixed order. The rows
are not centered first: between load and product nothing may stand, or the loop is ten times as slow. So this way is
taken where the columns lie near 0 beside their deviation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.device.triton_calls import is_on_card, run_loop
from pellucid.core.types import Array

TILE = 32
"""Columns of a side of a tile."""
ROWS = 32
"""That are multiplied in one go."""
ROWS_SUMMED = 16
"""The same for sums."""
WARPS, STAGES = 4, 3
SHARES = 1056
"""Of the rows, eight for each processor of an H200; the same anywhere, and so the sums."""
MOST_COLUMNS, MOST_TARGETS = 256, 4
"""Beyond them each number would be read more than eight times, or sums take longer than products."""


@cache
def _loops() -> Any:
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit  # type: ignore[untyped-decorator]
    def products(  # type: ignore[no-untyped-def]
        X, lefts, rights, out, n, each, P: tl.constexpr, TILE: tl.constexpr, ROWS: tl.constexpr
    ):
        tile, share = tl.program_id(0), tl.program_id(1)
        left = tl.load(lefts + tile) * TILE + tl.arange(0, TILE)
        right = tl.load(rights + tile) * TILE + tl.arange(0, TILE)
        total = tl.zeros((TILE, TILE), tl.float64)
        stop = tl.minimum((share + 1) * each, n)
        for first in range(share * each, stop, ROWS):
            rows = first + tl.arange(0, ROWS)
            lines = X + rows.to(tl.int64) * P
            a = tl.load(lines[None, :] + left[:, None], mask=(rows < stop)[None, :] & (left < P)[:, None], other=0.0)
            b = tl.load(lines[:, None] + right[None, :], mask=(rows < stop)[:, None] & (right < P)[None, :], other=0.0)
            total = tl.dot(a.to(tl.float64), b.to(tl.float64), total, out_dtype=tl.float64)
        square = tl.arange(0, TILE)[:, None] * TILE + tl.arange(0, TILE)[None, :]
        tl.store(out + (share.to(tl.int64) * tl.num_programs(0) + tile) * TILE * TILE + square, total)

    @triton.jit  # type: ignore[untyped-decorator]
    def sums(  # type: ignore[no-untyped-def]
        X, y, out, n, each, y_down, y_right, P: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr
    ):
        target, share = tl.program_id(0), tl.program_id(1)  # the first stands for ones
        columns = tl.arange(0, WIDTH)
        total = tl.zeros((ROWS, WIDTH), tl.float64)  # each thread has sums of its own until the end
        stop = tl.minimum((share + 1) * each, n)
        for first in range(share * each, stop, ROWS):
            rows = first + tl.arange(0, ROWS)
            lines, inside = X + rows.to(tl.int64) * P, rows < stop
            values = tl.load(
                lines[:, None] + columns[None, :], mask=inside[:, None] & (columns < P)[None, :], other=0.0
            )
            factor = tl.full((ROWS,), 1.0, tl.float64)
            if target > 0:
                places = y + rows.to(tl.int64) * y_down + (target - 1) * y_right
                factor = tl.load(places, mask=inside, other=0.0).to(tl.float64)
            total += values.to(tl.float64) * factor[:, None]
        found = tl.sum(total, axis=0)
        tl.store(out + (share.to(tl.int64) * tl.num_programs(0) + target) * P + columns, found, mask=columns < P)

    return SimpleNamespace(products=products, sums=sums)


def products_of_columns(parts: Sequence[Any]) -> Array | None:
    """Return the products of all columns, with a column of ones behind them; None where no loop can be had.

    ``parts`` are one table, or two side by side of which the second has few columns.
    """
    if len(parts) > 2 or not is_on_card(*parts) or not parts[0].is_contiguous():
        return None
    import torch

    X, y, loops = parts[0], parts[-1], _loops()
    (n, p), q = X.shape, sum(part.shape[1] for part in parts[1:])
    if (
        loops is None
        or p > MOST_COLUMNS
        or q > MOST_TARGETS
        or not {X.dtype, y.dtype} <= {torch.float32, torch.float64}
    ):
        return None
    tiles = _tiles_there(p, X.device)
    each = max(1, -(-n // (SHARES * ROWS))) * ROWS
    n_shares = -(-n // each)
    room = {"dtype": torch.float64, "device": X.device}
    squares = torch.empty((n_shares, tiles.shape[1], TILE, TILE), **room)
    lines = torch.empty((n_shares, 1 + q, p), **room)
    ran = run_loop(
        loops.products, (tiles.shape[1], n_shares), X, *tiles, squares, n, each, P=p, TILE=TILE, ROWS=ROWS,
        num_warps=WARPS, num_stages=STAGES,
    ) and run_loop(
        loops.sums, (1 + q, n_shares), X, y, lines, n, each, *y.stride(), P=p, WIDTH=max(16, 1 << (p - 1).bit_length()),
        ROWS=ROWS_SUMMED,
    )  # fmt: skip
    return side_by_side(squares.sum(dim=0), lines.sum(dim=0), sums_of_targets(y[:, :q]), n) if ran else None


def tiles_of(p: int) -> Array:
    """Return the tiles on and above the diagonal of so many columns, by row and by column."""
    return np.stack(np.triu_indices(-(-p // TILE)))


@cache
def _tiles_there(p: int, there: Any) -> Any:
    """Return the same as a tensor, sent there once."""
    import torch

    return torch.tensor(tiles_of(p), dtype=torch.int32, device=there)


def sums_of_targets(y: Any) -> Any:
    """Return the sums of some columns, then their products with each other line by line, in double precision.

    As sums of long products: a card multiplies matrices of so few columns on a few of its processors only.
    """
    import torch

    columns = y.to(torch.float64).unbind(dim=1)
    products = [torch.sum(left * right) for left in columns for right in columns]
    return torch.stack([*map(torch.sum, columns), *products]) if products else y.new_empty(0, dtype=torch.float64)


def side_by_side(squares: Any, lines: Any, targets: Any, n: int) -> Array:
    """Return the products of all columns from tiles of those of the rows, their sums, and what targets add.

    ``lines`` are the sums of the columns and their products with each target. All comes to the host in one piece: each
    time that the host waits for a card costs as much as a product of a thousand numbers.
    """
    import torch

    (more, p), pieces = lines.shape, (squares, lines, targets)
    found = on_host(torch.cat([piece.reshape(-1) for piece in pieces]))
    tiles, beside, own = np.split(found, np.cumsum([math.prod(piece.shape) for piece in pieces])[:-1])
    whole = np.zeros((p + more, p + more))
    for (i, j), tile in zip(tiles_of(p).T, tiles.reshape(-1, TILE, TILE), strict=True):
        block = whole[i * TILE : min((i + 1) * TILE, p), j * TILE : min((j + 1) * TILE, p)]
        block[:] = tile[: block.shape[0], : block.shape[1]]
    q, (ones, *products) = more - 1, beside.reshape(more, p)
    whole[:p, -1] = ones
    whole[:p, p:-1] = np.reshape(products, (q, p)).T
    whole[p:-1, -1], whole[p:-1, p:-1], whole[-1, -1] = own[:q], own[q:].reshape(q, q), n
    upper = np.triu(whole)
    return np.asarray(upper + np.triu(whole, 1).T)
