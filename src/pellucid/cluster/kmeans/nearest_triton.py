"""Two loops over rows that read them once, for cards: the nearest of many centers, and sums of rows that are listed.

Plain torch writes a table of all distances and reads it three times, and copies rows before it sums them. Nearest
centers are those of plain torch up to the error that ``rough_products_on_device`` bounds: products of short numbers are
exact, and sums in float32 err by as much anywhere. Sums of listed rows are in float64, always in the same order.
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

    return SimpleNamespace(nearest=nearest, piece_sums=piece_sums)


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
    if loop is None:
        return False
    d = X.shape[1]
    return run_loop(
        loop, (len(starts),), X, which, starts, stops, origin, out, d,
        PIECE=piece, WIDTH=max(16, 1 << (d - 1).bit_length()), AT_ONCE=AT_ONCE,
    )  # fmt: skip
