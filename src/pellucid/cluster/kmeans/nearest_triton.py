"""Loops for cards that read rows once: to shorten them, to find their nearest centers, to measure and to sum them.

Plain torch writes a table of all distances and reads it three times, and copies rows in double precision before it
squares or sums them. Nearest centers are those of plain torch up to the error that ``rough_products_on_device`` bounds:
products of short numbers are exact, and sums in float32 err by as much anywhere. Sums of listed rows are in float64,
always in the same order.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from pellucid.core.device.triton_calls import is_on_card, run_loop

ROWS, CENTERS, COLUMNS = 128, 128, 32
"""Of a tile of products."""
WARPS, STAGES = 4, 3
AT_ONCE = 32
"""Listed rows that are added in one go."""
MOST_COLUMNS = 1024
"""Of rows that a program holds whole."""
FARTHEST = 1e38


@cache
def kernels() -> Any:
    """Return the loops, to be compiled when they are called; None where Triton is missing."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit  # type: ignore[untyped-decorator]
    def nearest(  # type: ignore[no-untyped-def]
        table, factors, starts, errors, labels, unsure, n, k,
        WIDTH: tl.constexpr, ROWS: tl.constexpr, CENTERS: tl.constexpr, COLUMNS: tl.constexpr, FARTHEST: tl.constexpr,
    ):  # fmt: skip
        rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
        best = tl.full((ROWS,), FARTHEST, tl.float32)
        second = tl.full((ROWS,), FARTHEST, tl.float32)
        winner = tl.zeros((ROWS,), tl.int32)
        for first in range(0, k, CENTERS):
            centers = first + tl.arange(0, CENTERS)
            begin = tl.load(starts + centers, mask=centers < k, other=FARTHEST)
            rough = tl.zeros((ROWS, CENTERS), tl.float32) + begin[None, :]
            for start in range(0, WIDTH, COLUMNS):  # a multiple of the tile
                columns = start + tl.arange(0, COLUMNS)
                left = tl.load(table + rows[:, None] * WIDTH + columns[None, :], mask=rows[:, None] < n, other=0.0)
                right = tl.load(
                    factors + centers[None, :] * WIDTH + columns[:, None], mask=centers[None, :] < k, other=0.0
                )
                rough = tl.dot(left, right, rough, input_precision="tf32")
            least, place = tl.min(rough, axis=1, return_indices=True)
            others = tl.min(tl.where(tl.arange(0, CENTERS)[None, :] == place[:, None], FARTHEST, rough), axis=1)
            is_better = least < best
            second = tl.minimum(tl.where(is_better, best, least), tl.minimum(second, others))
            winner = tl.where(is_better, first + place, winner)
            best = tl.where(is_better, least, best)
        inside = rows < n
        allowed = tl.load(errors + rows, mask=inside, other=0.0)
        tl.store(labels + rows, winner.to(tl.int64), mask=inside)
        tl.store(unsure + rows, (second - best <= allowed) | (second - best != second - best), mask=inside)

    @triton.jit  # type: ignore[untyped-decorator]
    def piece_sums(  # type: ignore[no-untyped-def]
        X, which, starts, stops, origin, out, d, PIECE: tl.constexpr, WIDTH: tl.constexpr, AT_ONCE: tl.constexpr
    ):
        piece = tl.program_id(0)
        start = tl.load(starts + piece)
        stop = tl.minimum(tl.load(stops + piece), start + PIECE)
        columns = tl.arange(0, WIDTH)
        middle = tl.load(origin + columns, mask=columns < d, other=0.0)
        total = tl.zeros((WIDTH,), tl.float64)
        for first in range(0, PIECE, AT_ONCE):
            places = start + first + tl.arange(0, AT_ONCE)
            inside = places < stop
            rows = tl.load(which + places, mask=inside, other=0)
            some = inside[:, None] & (columns[None, :] < d)
            values = tl.load(X + rows[:, None] * d + columns[None, :], mask=some, other=0.0).to(tl.float64)
            total += tl.sum(tl.where(some, values - middle[None, :], 0.0), axis=0)
        tl.store(out + piece.to(tl.int64) * d + columns, total, mask=columns < d)

    @triton.jit  # type: ignore[untyped-decorator]
    def shorten(  # type: ignore[no-untyped-def]
        X, origin, table, squares, lost, n, d, wide, unit, LARGEST: tl.constexpr,
        WIDTH: tl.constexpr, AT_ONCE: tl.constexpr,
    ):  # fmt: skip
        rows = tl.program_id(0).to(tl.int64) * AT_ONCE + tl.arange(0, AT_ONCE)
        columns = tl.arange(0, WIDTH)
        some = (rows < n)[:, None] & (columns < d)[None, :]
        middle = tl.load(origin + columns, mask=columns < d, other=0.0)
        values = tl.load(X + rows[:, None] * d + columns[None, :], mask=some, other=0.0).to(tl.float64)
        moved = tl.where(some, (values - middle[None, :]) * tl.load(unit), 0.0)
        bits = moved.to(tl.float32).to(tl.int32, bitcast=True)
        brief = ((bits + 0x1000) & -0x2000).to(tl.float32, bitcast=True)
        square = tl.sum(moved * moved, axis=1)
        left = moved - brief.to(tl.float64)
        is_safe = square <= LARGEST
        tl.store(
            table + rows[:, None] * wide + columns[None, :], tl.where(is_safe[:, None], brief, 0.0),
            mask=(rows < n)[:, None] & (columns < wide)[None, :],
        )  # fmt: skip
        tl.store(squares + rows, square, mask=rows < n)
        tl.store(lost + rows, tl.where(is_safe, tl.sqrt(tl.sum(left * left, axis=1)), float("inf")), mask=rows < n)

    @triton.jit  # type: ignore[untyped-decorator]
    def own_squares(X, labels, centers, out, n, d, WIDTH: tl.constexpr, AT_ONCE: tl.constexpr):  # type: ignore[no-untyped-def]
        rows = tl.program_id(0).to(tl.int64) * AT_ONCE + tl.arange(0, AT_ONCE)
        columns = tl.arange(0, WIDTH)
        some = (rows < n)[:, None] & (columns < d)[None, :]
        own = tl.load(labels + rows, mask=rows < n, other=0)
        middle = tl.load(centers + own[:, None] * d + columns[None, :], mask=some, other=0.0)
        apart = tl.load(X + rows[:, None] * d + columns[None, :], mask=some, other=0.0).to(tl.float64) - middle
        tl.store(out + rows, tl.sum(apart * apart, axis=1), mask=rows < n)

    return SimpleNamespace(nearest=nearest, piece_sums=piece_sums, shorten=shorten, own_squares=own_squares)


def _loop(name: str, table: Any) -> Any:
    found = kernels() if is_on_card(table) and table.is_contiguous() else None
    return getattr(found, name, None)


def write_nearest(table: Any, factors: Any, starts: Any, errors: Any, labels: Any, unsure: Any) -> bool:
    """Write the nearest centers and which rows have another one within their error; False where that cannot be done."""
    loop = _loop("nearest", table)
    if loop is None or table.shape[1] % COLUMNS:
        return False
    (n, width), k = table.shape, len(factors)
    return run_loop(
        loop, (-(-n // ROWS),), table, factors, starts, errors, labels, unsure, n, k,
        WIDTH=width, ROWS=ROWS, CENTERS=CENTERS, COLUMNS=COLUMNS, FARTHEST=FARTHEST, num_warps=WARPS, num_stages=STAGES,
    )  # fmt: skip


def write_piece_sums(X: Any, which: Any, starts: Any, stops: Any, origin: Any, out: Any, piece: int) -> bool:
    """Write the sums of listed rows less an origin, of each piece of the list; False where that cannot be done."""
    loop = _loop("piece_sums", X)
    return loop is not None and run_loop(
        loop, (len(starts),), X, which, starts, stops, origin, out, X.shape[1],
        PIECE=piece, WIDTH=_width(X.shape[1]), AT_ONCE=AT_ONCE,
    )  # fmt: skip


def write_short(X: Any, origin: Any, unit: float, table: Any, squares: Any, lost: Any, largest: float) -> bool:
    """Write rows as ``ShortRows`` has them, those whose square is too large as 0; False where that cannot be done."""
    loop = _loop("shorten", X) if table.shape[1] <= MOST_COLUMNS else None
    return loop is not None and run_loop(
        loop, (-(-len(X) // AT_ONCE),), X, origin, table, squares, lost, *X.shape, table.shape[1],
        origin.new_tensor([unit]), LARGEST=largest, WIDTH=_width(table.shape[1]), AT_ONCE=AT_ONCE,
    )  # fmt: skip


def write_own_squares(X: Any, labels: Any, centers: Any, out: Any) -> bool:
    """Write the squared distances of rows to their own centers; False where that cannot be done."""
    loop = _loop("own_squares", X) if X.shape[1] <= MOST_COLUMNS and labels.is_contiguous() else None
    return loop is not None and run_loop(
        loop, (-(-len(X) // AT_ONCE),), X, labels, centers, out, *X.shape, WIDTH=_width(X.shape[1]), AT_ONCE=AT_ONCE
    )


def _width(d: int) -> int:
    return max(16, 1 << (d - 1).bit_length())
