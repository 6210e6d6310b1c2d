"""Loops for cards that draw rows as centers without asking the host: each reads what it needs once.

Plain torch reads and writes all distances again for every column, and asks the host where a draw falls. Here a thread
keeps those of its own rows to all candidates until they are whole; sums over rows are made of blocks, always in the
same order. Rows stand in the order of the draws, column by column, ``whole`` with those that fill the last part.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from pellucid.core.device.triton_calls import is_on_card, run_loop, triton_for

PART = 1024
"""Rows whose chances are summed in one go, and among which a draw is found; rows come in multiples of it."""
ROWS, WARPS = 256, 4
"""Of a program that measures: two rows for each thread, so that a number of a candidate is read once for both."""
COLUMNS = 4
"""That are on their way at the same time."""

tl: Any = None
"""Triton's language, once ``triton_for`` has loaded it."""


@cache
def kernels() -> Any:
    """Return the loops, to be compiled when they are called; None where Triton is missing."""
    triton = triton_for(globals())
    if triton is None:
        return None

    @triton.jit(do_not_specialize=["n"])  # type: ignore[untyped-decorator]
    def find(  # type: ignore[no-untyped-def]
        shares, heights, nearest, weight, places, n, n_parts, KIND: tl.constexpr, PART: tl.constexpr
    ):
        steps = tl.arange(0, PART)
        totals, last = tl.zeros((PART,), tl.float64), -1
        for first in range(0, n_parts, PART):
            numbers = first + steps
            own = tl.load(heights + KIND * n_parts + numbers, mask=numbers < n_parts, other=0.0)
            totals += own
            last = tl.maximum(last, tl.max(tl.where(own > 0.0, numbers, -1), axis=0))
        total = tl.sum(totals, axis=0)
        all_alike = last < 0  # fewer different rows than centers: one comes twice
        last = tl.where(all_alike, n_parts - 1, last)
        target = tl.load(shares + tl.program_id(0)) * tl.where(all_alike, n.to(tl.float64), total)
        # the first part whose end lies past the target, and where it begins; at the latest the last one with a chance
        part, before = last + 1, tl.sum(tl.zeros((PART,), tl.float64), axis=0)
        begin = before
        for first in range(0, n_parts, PART):
            numbers = first + steps
            own = tl.load(heights + KIND * n_parts + numbers, mask=numbers < n_parts, other=0.0)
            counts = tl.minimum(tl.maximum(n - numbers.to(tl.int64) * PART, 0), PART).to(tl.float64)
            own = tl.where(all_alike, counts, own)
            reached = before + tl.cumsum(own, axis=0)
            is_past = (own > 0.0) & ((reached > target) | (numbers == last))
            found = tl.min(tl.where(is_past, numbers, last + 1), axis=0)
            is_first = (part > last) & (found <= last)
            begin = tl.where(is_first, tl.sum(tl.where(numbers == found, reached - own, 0.0), axis=0), begin)
            part = tl.where(is_first, found, part)
            before += tl.sum(own, axis=0)
        rows = part.to(tl.int64) * PART + steps  # and the same among its rows
        now, own = tl.load(nearest + rows), tl.load(weight + rows)
        chances = now * own if KIND == 0 else tl.where(now > 0.0, own, 0.0)
        chances = tl.where(all_alike, tl.where(rows < n, 1.0, 0.0), chances)
        last = tl.max(tl.where(chances > 0.0, steps, 0), axis=0)
        is_past = (chances > 0.0) & ((tl.cumsum(chances, axis=0) > target - begin) | (steps == last))
        found = tl.min(tl.where(is_past, steps, last), axis=0)
        tl.store(places + tl.program_id(0), part.to(tl.int64) * PART + found)

    @triton.jit  # type: ignore[untyped-decorator]
    def measure(  # type: ignore[no-untyped-def]
        columns, centers, nearest, weight, squares, gains, whole, d,
        TRIALS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    ):  # fmt: skip
        rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
        trials = tl.arange(0, TRIALS)[None, :]
        found = tl.zeros((ROWS, TRIALS), tl.float64)
        for _ in tl.range(0, d, loop_unroll_factor=COLUMNS):
            apart = tl.load(columns + rows).to(tl.float64) - tl.load(centers + trials)
            found += apart * apart
            columns += whole
            centers += TRIALS
        now = tl.load(nearest + rows)
        taken = tl.where(found < now, now - found, 0.0) * tl.load(weight + rows)
        tl.store(squares + trials.to(tl.int64) * whole + rows, found)
        tl.store(gains + tl.program_id(0) * TRIALS + tl.arange(0, TRIALS), tl.sum(taken, axis=0))

    @triton.jit(do_not_specialize=["number"])  # type: ignore[untyped-decorator]
    def take(  # type: ignore[no-untyped-def]
        gains, places, drawn, number, squares, nearest, weight, heights, whole, n_parts,
        TRIALS: tl.constexpr, PART: tl.constexpr,
    ):  # fmt: skip
        best = tl.argmax(tl.load(gains + tl.arange(0, TRIALS)), axis=0)  # of equal ones the first
        part = tl.program_id(0)
        tl.store(drawn + number, tl.load(places + best), mask=part == 0)
        rows = part.to(tl.int64) * PART + tl.arange(0, PART)
        now, own = tl.load(nearest + rows), tl.load(weight + rows)
        now = tl.minimum(now, tl.load(squares + best.to(tl.int64) * whole + rows))
        tl.store(nearest + rows, now)
        tl.store(heights + part, tl.sum(now * own, axis=0))
        tl.store(heights + n_parts + part, tl.sum(tl.where(now > 0.0, own, 0.0), axis=0))

    return SimpleNamespace(find=find, measure=measure, take=take)


def _run(name: str, programs: int, *given: Any, **constants: Any) -> bool:
    loops = kernels() if is_on_card(given[0]) else None
    return loops is not None and run_loop(getattr(loops, name), (programs,), *given, **constants)


def write_places(shares: Any, heights: Any, kind: int, nearest: Any, weight: Any, n: int, places: Any) -> bool:
    """Write where shares of the sum of the chances of one kind are reached; False where that cannot be done."""
    return _run(
        "find", len(shares), shares, heights, nearest, weight, places, n, heights.shape[1], KIND=kind, PART=PART
    )


def write_squares(columns: Any, centers: Any, nearest: Any, weight: Any, squares: Any, gains: Any) -> bool:
    """Write the squared distances of all rows to some centers and, for each block of rows, what each takes off."""
    return _run(
        "measure", len(gains), columns, centers, nearest, weight, squares, gains, columns.shape[1], len(columns),
        TRIALS=centers.shape[1], ROWS=ROWS, COLUMNS=COLUMNS, num_warps=WARPS,
    )  # fmt: skip


def write_best(
    gains: Any, places: Any, drawn: Any, number: int, squares: Any, nearest: Any, weight: Any, heights: Any
) -> bool:
    """Make the best of some candidates a center: write its place, the distances to the nearest, and their sums."""
    return _run(
        "take", heights.shape[1], gains, places, drawn, number, squares, nearest, weight, heights, len(nearest),
        heights.shape[1], TRIALS=len(gains), PART=PART,
    )  # fmt: skip
