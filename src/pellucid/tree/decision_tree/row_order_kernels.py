"""The rows of a node in the order of a column, and rows parted between two children."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_inlined

FEW = 40
"""Rows that are sorted by insertion."""


@lean
def sort_rows(rows, start, stop, rank, sorting, order):
    """Write the rows ``rows[start:stop]`` to ``order`` in the order of their rank. O(rows) for each byte of the ranks.

    ``sorting``, int64 (3, at least 256 and the rows), is room to work in. Rows of one rank keep their order.
    """
    keys, other, counts = sorting[0], sorting[1], sorting[2]
    n = stop - start
    lowest = highest = np.int64(rank[rows[start]])
    for p in range(n):
        r = np.int64(rank[rows[start + p]])
        lowest, highest = min(lowest, r), max(highest, r)
        keys[p] = r << 32 | np.int64(rows[start + p])
    if n <= FEW:
        for p in range(1, n):
            key, q = keys[p], p - 1
            while q >= 0 and keys[q] > key:
                keys[q + 1] = keys[q]
                q -= 1
            keys[q + 1] = key
    else:
        shift, rest = 32, highest - lowest
        low = lowest << 32
        while rest > 0:
            for digit in range(256):
                counts[digit] = 0
            for p in range(n):
                counts[((keys[p] - low) >> shift) & 255] += 1
            place = 0
            for digit in range(256):
                count = counts[digit]
                counts[digit] = place
                place += count
            for p in range(n):
                digit = ((keys[p] - low) >> shift) & 255
                other[counts[digit]] = keys[p]
                counts[digit] += 1
            keys, other = other, keys
            rest >>= 8
            shift += 8
    for p in range(n):
        order[p] = keys[p] & 0xFFFFFFFF


@lean_inlined
def part_rows(order, start, stop, goes_left, spare):
    """Put the rows that go left before the others, all in the order they had. O(rows)."""
    first, others = start, 0
    for p in range(start, stop):
        i = order[p]
        order[first] = i
        spare[others] = i
        left = goes_left[i]
        first += left
        others += 1 - left
    for p in range(others):
        order[first + p] = spare[p]
