"""Ranks of one column by a radix sort of the bits of its numbers."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean_and_kept

DIGIT = np.uint64(11)
MASK = np.uint64(2047)
SIGN = np.uint64(0x8000000000000000)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
U63 = np.uint64(63)


@lean_and_kept
def rank_column(column, bits, keys, others, order, spare, counts, ranks, values):
    """Write rows in order, ranks and sorted different values of a column; return how many values. O(rows).

    NaN has the rank after all values. ``bits`` is the column as uint64; ``keys``, ``others``, ``spare`` and ``counts``
    (6, 2048) are room to work in.
    """
    n = len(column)
    for digit in range(6):
        for value in range(2048):
            counts[digit, value] = 0
    for i in range(n):
        x = column[i]
        if x == 0.0:
            key = SIGN  # 0 and -0 are one value
        elif np.isnan(x):
            key = ALL
        else:
            key = bits[i] ^ (ALL if bits[i] >> U63 else SIGN)
        keys[i] = key
        order[i] = i
        for digit in range(6):
            counts[digit, key >> (DIGIT * np.uint64(digit)) & MASK] += 1
    source, target, rows, other_rows = keys, others, order, spare
    n_moves = 0
    for digit in range(6):
        shift = DIGIT * np.uint64(digit)
        count = counts[digit]
        if count[source[0] >> shift & MASK] == n:  # the same digit everywhere
            continue
        place = 0
        for value in range(2048):
            size = count[value]
            count[value] = place
            place += size
        for p in range(n):
            at = source[p] >> shift & MASK
            target[count[at]] = source[p]
            other_rows[count[at]] = rows[p]
            count[at] += 1
        source, target, rows, other_rows = target, source, other_rows, rows
        n_moves += 1
    if n_moves % 2:
        for p in range(n):
            order[p] = rows[p]
    rank = -1
    for p in range(n):
        if p == 0 or source[p] != source[p - 1]:
            rank += 1
            values[rank] = column[order[p]]
        ranks[order[p]] = rank
    if source[n - 1] == ALL:
        return rank
    return rank + 1
