"""The nearest of many centers in one reading of the rows: products, their least and the next in registers of a card.

Plain torch writes the table of all distances and reads it three times. The numbers are the same up to the error that
``rough_products_on_device`` bounds: products of short numbers are exact, and sums in float32 err by as much anywhere.
"""

from __future__ import annotations

from functools import cache
from typing import Any

ROWS, CENTERS, COLUMNS = 128, 128, 32
"""Of a tile."""
WARPS, STAGES = 4, 3
FARTHEST = 1e38


@cache
def kernel() -> Any:
    """Return the compiled loop; None where Triton is missing."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit  # type: ignore[untyped-decorator]
    def nearest(  # type: ignore[no-untyped-def]
        table, factors, errors, labels, unsure, n, k,
        WIDTH: tl.constexpr, ROWS: tl.constexpr, CENTERS: tl.constexpr, COLUMNS: tl.constexpr, FARTHEST: tl.constexpr,
    ):  # fmt: skip
        rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
        best = tl.full((ROWS,), FARTHEST, tl.float32)
        second = tl.full((ROWS,), FARTHEST, tl.float32)
        winner = tl.zeros((ROWS,), tl.int32)
        for first in range(0, k, CENTERS):
            centers = first + tl.arange(0, CENTERS)
            rough = tl.zeros((ROWS, CENTERS), tl.float32)
            for start in range(0, WIDTH, COLUMNS):  # a multiple of the tile
                columns = start + tl.arange(0, COLUMNS)
                left = tl.load(table + rows[:, None] * WIDTH + columns[None, :], mask=rows[:, None] < n, other=0.0)
                right = tl.load(
                    factors + centers[None, :] * WIDTH + columns[:, None], mask=centers[None, :] < k, other=0.0
                )
                rough = tl.dot(left, right, rough, input_precision="tf32")
            rough = tl.where(centers[None, :] < k, rough, FARTHEST)
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

    return nearest


def write_nearest(table: Any, factors: Any, errors: Any, labels: Any, unsure: Any) -> bool:
    """Write the nearest centers and which rows have another one within their error; False where that cannot be done."""
    import torch

    loop = kernel() if table.device.type == "cuda" else None
    if loop is None or table.shape[1] % COLUMNS:
        return False
    (n, width), k = table.shape, len(factors)
    with torch.cuda.device(table.device):
        loop[(-(-n // ROWS),)](
            table, factors, errors, labels, unsure, n, k,
            WIDTH=width, ROWS=ROWS, CENTERS=CENTERS, COLUMNS=COLUMNS, FARTHEST=FARTHEST, num_warps=WARPS,
            num_stages=STAGES,
        )  # fmt: skip
    return True
