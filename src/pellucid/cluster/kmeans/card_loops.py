"""Loops for cards that read rows once: to shorten them, to find their nearest centers, to measure and to sum them.

Plain torch writes a table of all distances and reads it three times, and copies rows in double precision before it
squares or sums them. Nearest centers are those of plain torch up to the error that ``rough_products_on_device`` bounds:
products of short numbers are exact, and sums in float32 err by as much anywhere. Sums of listed rows are in float64,
always in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

from pellucid.core.device.cuda_calls import run_cuda_loop
from pellucid.core.device.triton_calls import is_on_card, run_loop, triton_for

ROWS, CENTERS, COLUMNS = 128, 128, 32
"""Of a tile of products."""
KEPT_WIDTHS = (32, 64, 96, 128)
"""Columns of rows that a warp holds."""
NAMES = 1.01 * CENTERS * 2.0**-22
"""Part of a distance that the names of two centers in the last bits of theirs can change."""
WHOLE = (64, 128)
"""Columns of rows that are read once for all centers."""
DECIDED = 64, 64, 32
"""Of a tile of products in float64."""
WARPS, STAGES = 4, 2
AT_ONCE = 32
"""Listed rows that are added in one go."""
MOST_COLUMNS = 1024
"""Of rows that a program holds whole."""
PART_SUMS = 1 << 20
"""Numbers in the sums of parts of segments, about: each is of as many rows, whatever the processors of a card."""
FARTHEST, NOTHING = 1e38, 1e-30
"""Beyond all distances; and what may be taken for 0 where numbers are compared."""

tl: Any = None
"""Triton's language, once ``triton_for`` has loaded it."""


@cache
def kernels() -> Any:
    """Return the loops, to be compiled when they are called; None where Triton is missing."""
    triton = triton_for(globals())
    if triton is None:
        return None

    @triton.jit  # type: ignore[untyped-decorator]
    def nearest(  # type: ignore[no-untyped-def]
        table, factors, starts, squares, lost, errors, labels, unsure, n, k,
        WIDTH: tl.constexpr, ROWS: tl.constexpr, CENTERS: tl.constexpr, COLUMNS: tl.constexpr, FARTHEST: tl.constexpr,
        NOTHING: tl.constexpr,
    ):  # fmt: skip
        rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
        inside = rows < n
        best = tl.full((ROWS,), FARTHEST, tl.float32)
        second = tl.full((ROWS,), FARTHEST, tl.float32)
        winner = tl.zeros((ROWS,), tl.int32)
        places = tl.arange(0, CENTERS)
        if WIDTH == COLUMNS:
            all_columns = tl.arange(0, COLUMNS)
            left = tl.load(table + rows[:, None] * WIDTH + all_columns[None, :], mask=inside[:, None], other=0.0)
        for first in range(0, k, CENTERS):
            centers = first + places
            begin = tl.load(starts + centers, mask=centers < k, other=FARTHEST)
            rough = tl.zeros((ROWS, CENTERS), tl.float32) + begin[None, :]
            for start in range(0, WIDTH, COLUMNS):  # a multiple of the tile
                columns = start + tl.arange(0, COLUMNS)
                if WIDTH != COLUMNS:
                    left = tl.load(table + rows[:, None] * WIDTH + columns[None, :], mask=inside[:, None], other=0.0)
                right = tl.load(
                    factors + centers[None, :] * WIDTH + columns[:, None], mask=centers[None, :] < k, other=0.0
                )
                rough = tl.dot(left, right, rough, input_precision="tf32")
            # the last bits make room for the place: one number says how near, and who
            bits = (rough.to(tl.int32, bitcast=True) & -CENTERS) | places[None, :]
            named = bits.to(tl.float32, bitcast=True)
            least = tl.min(named, axis=1)
            others = tl.min(tl.where(named == least[:, None], FARTHEST, named), axis=1)
            is_better = least < best
            second = tl.minimum(tl.where(is_better, best, least), tl.minimum(second, others))
            winner = tl.where(is_better, first + (least.to(tl.int32, bitcast=True) & (CENTERS - 1)), winner)
            best = tl.where(is_better, least, best)
        square, loss = (tl.load(squares + rows, mask=inside, other=0.0), tl.load(lost + rows, mask=inside, other=0.0))
        allowed = tl.load(errors) + tl.load(errors + 1) * tl.sqrt(square) + tl.load(errors + 2) * loss
        allowed += tl.load(errors + 3) * square + tl.load(errors + 4) * tl.maximum(tl.abs(best), tl.abs(second))
        is_sure = (second.to(tl.float64) - best.to(tl.float64) > allowed) & (tl.abs(best) > NOTHING)  # NaN is not sure
        tl.store(labels + rows, winner.to(tl.int64), mask=inside)
        tl.store(unsure + rows, ~is_sure, mask=inside)

    @triton.jit  # type: ignore[untyped-decorator]
    def decided(  # type: ignore[no-untyped-def]
        moved, factors, starts, allowed, labels, unsure, n, k,
        WIDTH: tl.constexpr, ROWS: tl.constexpr, CENTERS: tl.constexpr, COLUMNS: tl.constexpr,
    ):  # fmt: skip
        rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
        inside, places = rows < n, tl.arange(0, CENTERS)
        best = tl.full((ROWS,), float("inf"), tl.float64)
        second = tl.full((ROWS,), float("inf"), tl.float64)
        winner = tl.zeros((ROWS,), tl.int32)
        for first in range(0, k, CENTERS):
            centers = first + places
            begin = tl.load(starts + centers, mask=centers < k, other=float("inf"))
            squares = tl.zeros((ROWS, CENTERS), tl.float64) + begin[None, :]
            for start in range(0, WIDTH, COLUMNS):
                columns = start + tl.arange(0, COLUMNS)
                left = tl.load(moved + rows[:, None] * WIDTH + columns[None, :], mask=inside[:, None], other=0.0)
                right = tl.load(
                    factors + centers[None, :] * WIDTH + columns[:, None], mask=centers[None, :] < k, other=0.0
                )
                squares = tl.dot(left, right, squares, out_dtype=tl.float64)
            least, place = tl.min(squares, axis=1, return_indices=True)
            others = tl.min(tl.where(places[None, :] == place[:, None], float("inf"), squares), axis=1)
            is_better = least < best
            second = tl.minimum(tl.where(is_better, best, least), tl.minimum(second, others))
            winner = tl.where(is_better, first + place, winner)
            best = tl.where(is_better, least, best)
        is_sure = second - best > tl.load(allowed + rows, mask=inside, other=0.0)
        tl.store(labels + rows, winner.to(tl.int64), mask=inside)
        tl.store(unsure + rows, ~is_sure, mask=inside)

    @triton.jit  # type: ignore[untyped-decorator]
    def part_sums(  # type: ignore[no-untyped-def]
        X, which, ends, origin, out, d, WIDTH: tl.constexpr, AT_ONCE: tl.constexpr
    ):
        segment, part = tl.program_id(0), tl.program_id(1)
        first, last = tl.load(ends + segment), tl.load(ends + segment + 1)
        each = (last - first + tl.num_programs(1) - 1) // tl.num_programs(1)
        start, stop = first + part * each, tl.minimum(first + (part + 1) * each, last)
        columns = tl.arange(0, WIDTH)
        middle = tl.load(origin + columns, mask=columns < d, other=0.0)
        total = tl.zeros((WIDTH,), tl.float64)
        for place in range(start, stop, AT_ONCE):
            places = place + tl.arange(0, AT_ONCE)
            inside = places < stop
            rows = tl.load(which + places, mask=inside, other=0)
            some = inside[:, None] & (columns[None, :] < d)
            values = tl.load(X + rows[:, None] * d + columns[None, :], mask=some, other=0.0).to(tl.float64)
            total += tl.sum(tl.where(some, values - middle[None, :], 0.0), axis=0)
        found = out + (segment.to(tl.int64) * tl.num_programs(1) + part) * d
        tl.store(found + columns, total, mask=columns < d)

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

    return SimpleNamespace(
        nearest=nearest, decided=decided, part_sums=part_sums, shorten=shorten, own_squares=own_squares
    )


def _loop(name: str, table: Any) -> Any:
    found = kernels() if is_on_card(table) and table.is_contiguous() else None
    return getattr(found, name, None)


def write_nearest(table: Any, factors: Any, starts: Any, row_sizes: Sequence[Any], labels: Any, unsure: Any) -> bool:
    """Write the nearest centers and which rows have another one within their error; False where that cannot be done.

    ``row_sizes`` are squared lengths of the rows, what they lost, and what of each adds to the error (``ErrorTerms``).
    """
    if _write_nearest_of_few(table, factors, starts, row_sizes, labels, unsure):
        return True
    loop = _loop("nearest", table)
    if loop is None or table.shape[1] % COLUMNS:
        return False
    (n, width), k = table.shape, len(factors)
    return run_loop(
        loop, (-(-n // ROWS),), table, factors, starts, *row_sizes, labels, unsure, n, k,
        WIDTH=width, ROWS=ROWS, CENTERS=CENTERS, COLUMNS=width if width in WHOLE else COLUMNS, FARTHEST=FARTHEST,
        NOTHING=NOTHING, num_warps=WARPS, num_stages=STAGES,
    )  # fmt: skip


def _write_nearest_of_few(
    table: Any, factors: Any, starts: Any, row_sizes: Sequence[Any], labels: Any, unsure: Any
) -> bool:
    """The same by a loop that reads centers once; False also where there are too many numbers in them."""
    if not is_on_card(table) or table.shape[1] not in KEPT_WIDTHS:
        return False
    import torch

    (n, width), k = table.shape, len(factors)
    groups = -(-k // 8)
    shared = 4 * 8 * groups * (width + 17)
    card = torch.cuda.get_device_properties(table.device)
    names = 1 << (2 * groups - 1).bit_length()
    if shared > getattr(card, "shared_memory_per_block_optin", 0) or names > CENTERS:
        return False
    return run_cuda_loop(
        __package__, "nearest_rows", {"WIDTH": width}, 2 * card.multi_processor_count, 256, table, factors, starts,
        *row_sizes, labels, unsure, n, k, names, shared=shared,
    )  # fmt: skip


def write_decided(moved: Any, factors: Any, starts: Any, allowed: Any, labels: Any, unsure: Any) -> bool:
    """Write the same of rows in float64, whose distances may differ by so much; False where that cannot be done."""
    loop = _loop("decided", moved)
    if loop is None or moved.shape[1] % DECIDED[2]:
        return False
    rows, centers, columns = DECIDED
    return run_loop(
        loop, (-(-len(moved) // rows),), moved, factors, starts, allowed, labels, unsure, *map(len, (moved, factors)),
        WIDTH=moved.shape[1], ROWS=rows, CENTERS=centers, COLUMNS=columns, num_warps=WARPS, num_stages=STAGES,
    )  # fmt: skip


def sums_of_segments(X: Any, which: Any, ends: Any, origin: Any) -> Any:
    """Return the sums of listed rows less an origin, of each segment of the list; None where that cannot be done."""
    loop, d, k = _loop("part_sums", X), X.shape[1], len(ends) - 1
    if loop is None or d > MOST_COLUMNS:
        return None
    import torch

    parts = min(1024, max(16, PART_SUMS // (k * d)))
    found = torch.empty((k, parts, d), dtype=torch.float64, device=X.device)
    ran = run_loop(loop, (k, parts), X, which, ends, origin, found, d, WIDTH=_width(d), AT_ONCE=AT_ONCE)
    return found.sum(dim=1) if ran else None


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
