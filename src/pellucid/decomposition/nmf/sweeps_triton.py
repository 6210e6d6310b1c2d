"""A loop for cards that sweeps over the entries of a factor as often as it pays, all in float64.

Plain torch reads the whole factor for each part of each sweep, and lets the host ask after each whether it was the
last. Here a program keeps some columns and their slopes in its registers until they are done, as
``nmf_kernels.descend`` does in the cache: slopes are changed by what a part has moved instead of summed anew. A thread
has whole columns, so that no number leaves it but the sum that the stop is asked of.
"""

# mypy: disable-error-code="assignment, misc"

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

from pellucid.core.device.triton_calls import is_on_card, run_loop, triton_for

WIDTH = 32
"""Columns that are swept together, until a sweep moves them little: one for each thread of a warp."""
GROUP = 8
"""Parts whose steps are written out one by one: the loop over groups is short to compile."""
MOST_PARTS = 64
"""Beyond them slopes do not fit into registers."""
MOST_REGISTERS = 255
"""Of a thread: few threads with all their numbers at hand are quicker than many without."""

tl: Any = None
"""Triton's language, once ``triton_for`` has loaded it."""


@cache
def kernels() -> Any:
    """Return the loops, to be compiled when they are called; None where Triton is missing."""
    triton = triton_for(globals())
    if triton is None:
        return None

    @triton.jit(do_not_specialize=["q", "m", "most"])  # type: ignore[untyped-decorator]
    def sweeps(  # type: ignore[no-untyped-def]
        factor, slopes, table, order, q, m, most, enough,
        GROUPS: tl.constexpr, GROUP: tl.constexpr, WIDTH: tl.constexpr,
    ):  # fmt: skip
        columns = tl.program_id(0).to(tl.int64) * WIDTH + tl.arange(0, WIDTH)
        own = tl.arange(0, GROUP)
        values, gradients = (), ()  # of each group, the one whose turn it is first
        for g in tl.static_range(GROUPS):
            parts = g * GROUP + own
            rows = tl.load(order + parts, mask=parts < q, other=0)
            some = (parts < q)[:, None] & (columns < m)[None, :]
            values += (tl.load(factor + rows[:, None] * m + columns[None, :], mask=some, other=0.0),)
            gradients += (tl.load(slopes + rows[:, None] * m + columns[None, :], mask=some, other=0.0),)
        first, moved, count = tl.full((), 0.0, tl.float64), tl.full((), 1.0, tl.float64), 0
        while (count < most) & (moved > enough * first):
            sums = tl.zeros((WIDTH,), tl.float64)
            for group in range(GROUPS):
                here = values[0]
                for k in tl.static_range(GROUP):
                    line = table + (group * GROUP + k) * (GROUPS * GROUP + 2)  # products with all, curvature, inverse
                    is_own = (own == k)[:, None]  # to add -0.0 changes nothing: the compiler leaves it out
                    old = tl.sum(tl.where(is_own, here, -0.0), axis=0)
                    slope = tl.sum(tl.where(is_own, gradients[0], -0.0), axis=0)
                    new = tl.maximum(old - slope * tl.load(line + GROUPS * GROUP + 1), 0.0)
                    step = new - old
                    here = tl.where(is_own, new[None, :], here)
                    sums += tl.load(line + GROUPS * GROUP) * step * step
                    changed = ()
                    for g in tl.static_range(GROUPS):
                        weights = tl.load(line + (group + g) % GROUPS * GROUP + own)
                        changed += (gradients[g] + weights[:, None] * step[None, :],)
                    gradients = changed
                values, gradients = values[1:], gradients[1:] + gradients[:1]
                values += (here,)
            moved = tl.sum(sums)
            first = tl.where(count == 0, moved, first)
            count += 1
        for g in tl.static_range(GROUPS):
            parts = g * GROUP + own
            rows = tl.load(order + parts, mask=parts < q, other=0)
            some = (parts < q)[:, None] & (columns < m)[None, :]
            tl.store(factor + rows[:, None] * m + columns[None, :], values[g], mask=some)

    return SimpleNamespace(sweeps=sweeps)


def sweep_on_card(
    factor: Any, gram: Any, inverse: Any, right: Any, order: Sequence[int], most: int, enough: float
) -> bool:
    """Sweep over the entries of a factor (q, m) in place, as ``Sweeper`` does; False where that cannot be done.

    The curvatures on the diagonal of ``gram`` come with their inverses, which are 0 where nothing is to be moved.
    """
    import torch

    (q, m), loops = factor.shape, kernels() if is_on_card(factor) and len(factor) <= MOST_PARTS else None
    if loops is None:
        return False
    places, groups = _places(tuple(order), factor.device), -(-q // GROUP)
    table = gram.new_zeros((groups * GROUP, groups * GROUP + 2))
    table[:q, :q] = gram[places][:, places]
    table[:q, -2], table[:q, -1] = gram.diagonal()[places], inverse[places]
    slopes = torch.addmm(right, gram, factor, beta=-1.0)
    return run_loop(
        loops.sweeps, (-(-m // WIDTH),), factor, slopes, table, places, q, m, most, enough,
        GROUPS=groups, GROUP=GROUP, WIDTH=WIDTH, num_warps=1, maxnreg=MOST_REGISTERS,
    )  # fmt: skip


@lru_cache(maxsize=4)
def _places(order: tuple[int, ...], there: Any) -> Any:
    """Return an order as a tensor, the usual one sent there once."""
    import torch

    return torch.tensor(order, device=there)
